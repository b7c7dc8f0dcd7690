"""How cases of the rules are executed: their kernels, the flags that they are about, and which cannot be executed."""

from __future__ import annotations

import functools
from typing import Any

import torch

from cutile_lint.engine.cases import Case, load_cases
from cutile_lint.engine.rule_docs import load_doc
from tests.execution.agreement import RULES, Setting, Verdict, judge_case
from tests.execution.judge import COUNTS
from tests.execution.kernels import KERNELS, row_scale_that

_ACCUMULATES = row_scale_that(accumulates=True)
_SKIPS_ROWS = row_scale_that(skips_first_row=True)

_TUNER = "from types import SimpleNamespace\n\n\n"
#: modules of nobody that cases import: tuners that the linter does not know
_BESIDE = {
    "somewhere/tuning.py": _TUNER
    + "def search(kernel_fn, configs, **_):\n    return SimpleNamespace(output=[kernel_fn(config) for config in configs][-1])\n",
    "ourtuner.py": _TUNER
    + "def search(kernel_fn, configs, **_):\n    return SimpleNamespace(output=[kernel_fn(config) for config in configs][-1])\n\n\n"
    + "def best_of(kernel_fn, configs):\n    return [(kernel_fn(config), config) for config in configs][-1][1]\n",
}

#: flags that a case is about: one more call gets them
_MORE: dict[str, dict[str, Any]] = {
    "CTL104-invalid-a-loop-with-an-unknown-count": {"repeat": 2},
    "CTL106-valid-scratch-that-reaches-a-launch": {"kernel_configs": {}},
}
#: arguments without which the op of a case fails
_ALWAYS: dict[str, dict[str, Any]] = {
    "CTL106-valid-handed-to-a-hook": {"hook": lambda tensor: tensor.add_(0)},
    "CTL110-valid-another-scale": {"second": torch.linspace(1, 2, 64)},
}

#: cases that look at single elements
_SMALL = {"CTL107-invalid-conditional-default-and-with"}

#: cases that want another verdict than the counts would give
BY_DESIGN = {
    "CTL102-invalid-of-another-dtype-for-all-that-is-known": "the run's tensors have one dtype; nothing says that others' have",
    "CTL302-invalid-detached-in-place-on-one-path": "the run's tensor takes the path that detaches it; smaller ones do not",
    "CTL104-valid-read-by-pytorch-in-between": "the second launch stores what is there already; the rule asks only whether the first is read",
    "CTL104-valid-loop-whose-rounds-differ": "the second launch has another grid, which stores the same here; the rule asks for the same arguments",
    "CTL105-valid-cache-of-the-tuner": "each counted call begins with an empty cache",
    "CTL105-invalid-found-in-the-cache-of-the-tuner": "each counted call begins with an empty cache",
    "CTL105-invalid-generator-that-is-run-through": "the run's stack has the loop that asks the generator, not the call that made it",
    "CTL111-valid-to-another-type": "the conversion is counted; it stays, so it is not one forth and back",
    "CTL111-invalid-to-another-type-and-back": "the run's tensors are of that type already; others are copied twice",
    "CTL111-valid-the-reference-does-it-too": "the copy is counted; the reference's wrapper makes it as well, so the port does not differ",
}


@functools.cache
def all_cases() -> list[Case]:
    """Every case of the rules that execution can judge."""
    return [case for code in COUNTS for case in load_cases(load_doc(RULES[code]))]


def setting(case: Case) -> Setting:
    """Which kernel the case's ``kernel.rs`` is, as its text says; the flags it needs."""
    kernel = str((case.data.get("edits") or {}).get("row_scale_kernel/kernel.rs", ""))
    kernels = KERNELS
    if "y_read" in kernel:
        kernels = _ACCUMULATES
    elif "if row > 0i32" in kernel:
        kernels = _SKIPS_ROWS
    elif kernel:
        raise AssertionError(f"{case.id}: what does its kernel compute?")
    return Setting(kernels, more=_MORE.get(case.id, {}), always=_ALWAYS.get(case.id, {}), beside=_BESIDE, small=case.id in _SMALL)


def verdict_on(case: Case) -> Verdict:
    """The case judged. A by-design verdict that the counts agree with after all is a disagreement: its entry here is out of date."""
    verdict = judge_case(case, setting(case))
    if case.id in BY_DESIGN:
        if verdict.disagree:
            verdict.by_design = BY_DESIGN[case.id]
        else:
            verdict.disagree.append("the counts agree with the case: it needs no entry in BY_DESIGN")
    return verdict
