"""What is mutated: the cases of all rules, their bases, and the examples. A source is a tree of files and how it is checked."""

from __future__ import annotations

import functools
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cutile_lint.engine.cases import Tree, load_base, load_cases
from cutile_lint.engine.registry import builtin_rules
from cutile_lint.engine.rule_docs import load_doc
from cutile_lint.findings import Finding
from cutile_lint.fixes.case_runner import MemoryRunner

RULES = builtin_rules()
#: about the linter itself: the texts that they are about are no part of an op
OF_THE_LINTER = {"CTL900", "CTL901", "CTL903"}
ROOT = Path(__file__).resolve().parents[2]
RUNNER = MemoryRunner()
Span = tuple[str, int, int]


@dataclass(frozen=True)
class Source:
    """``planted``: the rule whose faults the tree has; of a clean tree none. ``about``: the rule that it was written for."""

    id: str
    tree: Tree = field(hash=False, compare=False)
    planted: str | None = None
    about: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict, hash=False, compare=False)
    paths: Sequence[str] = (".",)


@functools.lru_cache(maxsize=1)
def sources() -> list[Source]:
    found = []
    for info in RULES:
        if info.code in OF_THE_LINTER:
            continue
        for case in load_cases(load_doc(info)):
            planted = None if case.valid else info.code
            found.append(Source(case.id, case.tree, planted, info.code, case.options, tuple(case.paths)))
    found += [Source(f"base-{name}", load_base(name)) for name in ("row_scale", "gemm", "batched")]
    for kind in ("clean", "faulty"):
        for name in ("skill", "tilegym"):
            found.append(Source(f"{kind}-{name}", _read(ROOT / "examples" / kind / name), "all" if kind == "faulty" else None))
    return found


def _read(folder: Path) -> Tree:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes().decode() for path in files}


def findings_of(source: Source, tree: Tree) -> list[Finding]:
    """All findings of all rules. Raises AssertionError if a rule fails."""
    result = RUNNER.check(tree, RULES, source.options, source.paths)
    assert not result.errors, "\n".join(result.errors)
    return result.findings


@functools.lru_cache(maxsize=64)
def before(source: Source) -> tuple[Counter[str], tuple[tuple[str, Span], ...]]:
    """The codes of a source's findings, and where they are."""
    found = findings_of(source, source.tree)
    places = [(item.code, _span(item)) for item in found]
    return Counter(item.code for item in found), tuple(dict.fromkeys(places))


def _span(finding: Finding) -> Span:
    place = finding.place
    return place.path.relative_to(RUNNER.root).as_posix(), place.span.start, place.span.end


def fraction(items: Iterable[Any], share: float, seed: str = "") -> list[Any]:
    """A share of the items, the same in every run."""
    return [item for item in items if zlib.crc32(f"{seed}{item}".encode()) < share * 2**32]
