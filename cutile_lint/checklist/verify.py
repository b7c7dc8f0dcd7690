"""The verifiers by name (:data:`cutile_lint.checklist.items.ITEMS`)."""

from cutile_lint.checklist.artifacts import artifact, op_tests, pipeline, registration
from cutile_lint.checklist.device import (
    accumulators,
    divisibility,
    entry_pattern,
    grid_cap,
    ir_strides,
    latencies,
    math,
    tma,
)
from cutile_lint.checklist.options import grid_apart, option_guards, option_parity, search_space
from cutile_lint.checklist.reports import (
    build_reports,
    correctness_report,
    investigation,
    performance_report,
    profile,
)
from cutile_lint.checklist.transposing import transpose_flags, transposes
from cutile_lint.checklist.wrapper import accepts_grad, autotune_key, canary, detached, launch_count, timed_region

__all__ = [
    "accepts_grad",
    "accumulators",
    "artifact",
    "autotune_key",
    "build_reports",
    "canary",
    "correctness_report",
    "detached",
    "divisibility",
    "entry_pattern",
    "grid_apart",
    "grid_cap",
    "investigation",
    "ir_strides",
    "latencies",
    "launch_count",
    "math",
    "op_tests",
    "option_guards",
    "option_parity",
    "performance_report",
    "pipeline",
    "profile",
    "registration",
    "search_space",
    "timed_region",
    "tma",
    "transpose_flags",
    "transposes",
]
