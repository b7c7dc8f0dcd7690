"""The checklist as a table: item -> rules that stand for it -> how it is verified.

``verifiers`` are names of functions in :mod:`cutile_lint.checklist.verify`. A rule's finding fails the item; silence of the rules passes it
only together with what the verifiers show.
"""

from __future__ import annotations

from cutile_lint.records import dataclass

MANDATORY = "Mandatory pre-submit checklist"
#: Sections of the performance checklist, in its order.
SECTIONS = (
    MANDATORY,
    "Correctness before perf",
    "CompileOptions parity",
    "Launch count",
    "TMA and strides",
    "Accumulator type",
    "Persistent kernels",
    "Autotune search space",
    "Wrapper autograd perf trap",
    "Transpose ownership",
    "Math hot spots",
    "Profiling command",
    "Perf result interpretation",
    "Agent F handoff",
    "B-only reminder",
)


@dataclass(frozen=True, slots=True)
class Item:
    """``how``: what is looked at for a pass, one sentence for the documentation."""

    key: str
    section: str
    title: str
    rules: tuple[str, ...]
    verifiers: tuple[str, ...]
    how: str


def _item(key: str, section: str, title: str, rules: str, verifiers: str, how: str) -> Item:
    return Item(key, section, title, tuple(rules.split()), tuple(verifiers.split()), how)


ITEMS = (
    _item(
        "cargo-artifact",
        MANDATORY,
        "cargo artifact exists and exports the symbol",
        "CTL501 CTL504 CTL514 CTL515 CTL902",
        "artifact",
        "the ELF library in `target/release` defines the symbol (read, not loaded) and is newer than the crate's sources by file times",
    ),
    _item(
        "pipeline",
        MANDATORY,
        "pipeline compiled",
        "CTL706",
        "pipeline",
        "generated IR holds each launched entry and is newer than the kernel by file times",
    ),
    _item(
        "entry-pattern",
        MANDATORY,
        "entry pattern matches the reference IR",
        "CTL512 CTL603 CTL604 CTL615",
        "entry_pattern",
        "the loads and stores of each entry go through views or pointers as the reference's kernel does",
    ),
    _item(
        "wrapper-import",
        MANDATORY,
        "wrapper import works",
        "CTL504 CTL514",
        "registration",
        "`register_impl` names the backend, the package imports the wrapper, the crate root includes the export",
    ),
    _item(
        "canary",
        MANDATORY,
        "fixed-config canary stays outside of timed hot paths",
        "CTL104 CTL105 CTL110",
        "canary",
        "each launch of the tuned symbols is in the timed region, excludes the tuner on its path, or runs once only",
    ),
    _item(
        "autograd",
        MANDATORY,
        "autograd contract: forward only, inputs are detached",
        "CTL301 CTL302 CTL303 CTL304 CTL305",
        "detached",
        "each tensor input is detached on every path to its launch, and no path raises because it requires grad",
    ),
    _item(
        "double-transpose",
        MANDATORY,
        "no double transpose",
        "CTL401 CTL402 CTL403 CTL704",
        "transposes",
        "the owners of each axis exchange, in wrapper, export and kernel, are counted per tensor",
    ),
    _item(
        "persistent-latency",
        MANDATORY,
        "persistent TMA latency is None, or the reference's",
        "CTL601 CTL620",
        "latencies",
        "the latency argument of each view load and store inside of a persistent loop",
    ),
    _item(
        "autotune-lambda",
        MANDATORY,
        "autotune lambda is clean",
        "CTL101 CTL102 CTL103 CTL106 CTL107 CTL111 CTL113",
        "timed_region",
        "PyTorch's work in the timed region, place by place: allocations of uninitialised memory only",
    ),
    _item(
        "tma-state",
        MANDATORY,
        "TMA state matches the reference",
        "CTL602 CTL703",
        "tma",
        "the TMA argument of each view load and store is `tma::Enabled`, or the reference refuses TMA there",
    ),
    _item(
        "compile-options",
        MANDATORY,
        "CompileOptions parity, both directions",
        "CTL201 CTL202 CTL203 CTL204 CTL205 CTL206 CTL207 CTL208 CTL209 CTL705",
        "option_parity",
        "the values that reach each setter in each variant, against the reference's configs",
    ),
    _item(
        "tests",
        SECTIONS[1],
        "tests select cutile-rs and pass",
        "CTL801 CTL802",
        "op_tests correctness_report",
        "the op's test file names the backend; `reports/correctness.md` begins with a verdict",
    ),
    _item(
        "option-guards",
        SECTIONS[2],
        "setters are guarded: the sentinel reaches none",
        "CTL202 CTL203 CTL204 CTL209",
        "option_guards",
        "each setter call of the export with a caller's value, tried with the sentinels",
    ),
    _item(
        "grid-apart",
        SECTIONS[2],
        "grid sizing is separate from compile options",
        "CTL206",
        "grid_apart",
        "where the value in each compile option slot comes from",
    ),
    _item(
        "launch-count",
        SECTIONS[3],
        "one launch per trial, no work beside it per call",
        "CTL104 CTL105 CTL106 CTL110 CTL111 CTL114",
        "launch_count",
        "the launches of the timed region, and PyTorch's work on the per-call path",
    ),
    _item(
        "strides",
        SECTIONS[4],
        "stride metadata has the rank and ends in 1",
        "CTL701",
        "ir_strides",
        "the strides of each tensor view in the generated IR",
    ),
    _item(
        "divisibility",
        SECTIONS[4],
        "divisibility is asserted on pointers only",
        "CTL611",
        "divisibility",
        "what each `assume_div_by` of the kernels is about",
    ),
    _item(
        "accumulator",
        SECTIONS[5],
        "products and sums accumulate in f32",
        "CTL605 CTL621 CTL702",
        "accumulators",
        "the declared type of the accumulator of each `mmaf` and sum; `mmaf` in the generated IR",
    ),
    _item(
        "persistent-grid",
        SECTIONS[6],
        "grid capping matches the body",
        "CTL601 CTL607 CTL614",
        "grid_cap",
        "entries with a grid-stride loop, and grids that the SM count goes into",
    ),
    _item(
        "search-space",
        SECTIONS[7],
        "the search space is the reference's",
        "CTL112 CTL208",
        "search_space",
        "the wrapper's configs against the reference's",
    ),
    _item(
        "autotune-key",
        SECTIONS[7],
        "the cache key tells launches apart",
        "CTL108 CTL109",
        "autotune_key",
        "the elements of the key against what the launch depends on",
    ),
    _item(
        "grad-inputs",
        SECTIONS[8],
        "inputs that require grad are accepted",
        "CTL301 CTL302",
        "accepts_grad",
        "the raises, asserts and error returns of the op's runs",
    ),
    _item(
        "transpose-owner",
        SECTIONS[9],
        "one layer owns each transpose",
        "CTL401 CTL402 CTL403 CTL704",
        "transposes transpose_flags",
        "the owner of each exchange, and where transpose flags of the op go",
    ),
    _item(
        "math",
        SECTIONS[10],
        "math as in the reference",
        "CTL606 CTL607 CTL617 CTL622",
        "math",
        "the kernels are followed to their end; modes are compared with reference IR",
    ),
    _item(
        "profile",
        SECTIONS[11],
        "a profile confirms the launched kernel",
        "",
        "profile",
        "a report in `reports/` that names a launched entry",
    ),
    _item(
        "perf-result",
        SECTIONS[12],
        "the measured result is accepted",
        "",
        "performance_report",
        "the verdict at the head of `reports/performance.md`",
    ),
    _item(
        "investigation",
        SECTIONS[13],
        "an investigation is answered",
        "",
        "investigation",
        "`reports/perf_investigation_*.md`, when the performance verdict asks for one",
    ),
    _item(
        "build-log",
        SECTIONS[14],
        "build evidence is left for the next step",
        "",
        "build_reports",
        "`reports/build_log.md` and `agent_b.md` and their first lines",
    ),
)
