"""What changed between the cutile versions that kernels are written against: 0.2.0, 0.3.0, 0.3.1.

Read from the sources at the tags v0.2.0 and v0.3.0 (``cutile/src/_core.rs``, ``cutile-compiler/src/hints.rs``,
``cutile-macro``) and the changelogs. The rules ask; nothing here reads files.
"""

from __future__ import annotations

import re

from cutile_lint.records import dataclass
from cutile_lint.regex import regex

_VERSION = regex(r"v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Version:
    """A semantic version; missing parts are 0. A pre-release stands before its release; pre-releases compare as text."""

    major: int = 0
    minor: int = 0
    patch: int = 0
    pre: str = ""

    @classmethod
    def parse(cls, text: str) -> Version | None:
        found = _VERSION.fullmatch(text.strip())
        if found is None:
            return None
        major, minor, patch, pre = found.groups()
        return cls(int(major), int(minor or 0), int(patch or 0), pre or "")

    def _key(self) -> tuple[int, int, int, bool, str]:
        return (self.major, self.minor, self.patch, not self.pre, self.pre)

    def __lt__(self, other: Version) -> bool:
        return self._key() < other._key()

    def __le__(self, other: Version) -> bool:
        return self._key() <= other._key()

    def __gt__(self, other: Version) -> bool:
        return self._key() > other._key()

    def __ge__(self, other: Version) -> bool:
        return self._key() >= other._key()

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}" + (f"-{self.pre}" if self.pre else "")


V0_2_0 = Version(0, 2, 0)
V0_3_0 = Version(0, 3, 0)
V0_3_1 = Version(0, 3, 1)
#: all that the table knows, oldest first; a target that nobody names is the oldest
KNOWN = (V0_2_0, V0_3_0, V0_3_1)
OLDEST = KNOWN[0]


@dataclass(frozen=True, slots=True)
class Change:
    """Something that exists from ``since`` on (None: always) until ``until`` (excluded; None: still)."""

    name: str
    since: Version | None
    note: str
    until: Version | None = None

    def holds(self, version: Version) -> bool:
        return (self.since is None or version >= self.since) and (self.until is None or version < self.until)


CHANGES = {
    change.name: change
    for change in (
        Change("bare-entry", V0_3_0, "`#[cutile::entry]` without parentheses is an entry; before, silently a plain function"),
        Change("deny-in-kernel-checks", V0_3_0, "the entry key `deny_in_kernel_checks`"),
        Change("borrow-raw-parts", V0_3_0, "`Tensor::borrow_raw_parts`, `Tensor::from_foreign`, `borrow_with_owner`"),
        Change("load-pipelined", V0_3_0, "the partition method `load_pipelined::<LATENCY>(index)`"),
        Change("partition-prefix", V0_3_0, "`partition_prefix`: a grid that covers a prefix of the output's blocks"),
        Change("store-unchecked", V0_3_0, "`PartitionMut::store` is checked, `store_unchecked` is the escape"),
        Change("num-worker-warps", V0_3_0, "the compile option `num_worker_warps_per_cta`"),
        Change(
            "qualified-constants", V0_3_0, "scientific literals and `f32::…` constants in device code (shipped kernels use them)"
        ),
        Change("tile-valued-if", V0_3_0, "`if` expressions whose value is a tile (shipped kernels use them)"),
        Change("one-sided-if", V0_3_0, "an `if` carries tiles that only one of its branches assigns"),
        Change("const-shape-macro", None, "`const_shape!`", until=V0_3_1),
        Change("shape-macro", V0_3_1, "`shape!` in place of `const_shape!`"),
        Change(
            "debug-options", V0_3_1, "compile options for debugging: `opt_level`, `device_debug`, `lineinfo`, `sanitize_memcheck`"
        ),
    )
}

_COMPILE_OPTIONS = (
    ("occupancy", V0_2_0),
    ("num_cta_in_cga", V0_2_0),
    ("max_divisibility", V0_2_0),
    ("num_worker_warps_per_cta", V0_3_0),
    ("opt_level", V0_3_1),
    ("device_debug", V0_3_1),
    ("lineinfo", V0_3_1),
    ("sanitize_memcheck", V0_3_1),
)
_ENTRY_KEYS = (
    ("print_ir", V0_2_0),
    ("dump_mlir_dir", V0_2_0),
    ("unchecked_accesses", V0_2_0),
    ("preconditions", V0_2_0),
    ("optimization_hints", V0_2_0),
    ("deny_in_kernel_checks", V0_3_0),
)
_BORROWING = (
    ("borrow_raw", V0_2_0),
    ("borrow_raw_parts", V0_3_0),
    ("from_foreign", V0_3_0),
    ("borrow_with_owner", V0_3_0),
)


@dataclass(frozen=True, slots=True)
class MemoryOp:
    """A load or store of the device language. Positions count arguments from 0; None: it has no such argument.

    ``latency_form``: "option" (``Some(3)``/``None``), "type" (``Latency::<3>``, 0 is none), "generic" (``load_pipelined::<3>``).
    """

    name: str
    kind: str
    through: str
    latency: int | None
    tma: int | None
    latency_form: str
    since: Version = V0_2_0


MEMORY_OPS = {
    op.name: op
    for op in (
        MemoryOp("load_view_tko", "load", "view", 4, 5, "option"),
        MemoryOp("load_view_tko_mut", "load", "view", 4, 5, "option"),
        MemoryOp("load_view_tko_bounded", "load", "view", 4, 5, "option"),
        MemoryOp("store_view_tko_mut", "store", "view", 5, 6, "option"),
        MemoryOp("store_view_tko_mapped_mut", "store", "view", 5, 6, "option"),
        MemoryOp("store_view_tko_bounded", "store", "view", 5, 6, "option", V0_3_0),
        MemoryOp("load_ptr_tko", "load", "pointer", 6, None, "type"),
        MemoryOp("store_ptr_tko", "store", "pointer", 6, None, "type"),
        MemoryOp("load_pipelined", "load", "view", None, None, "generic", V0_3_0),
    )
}


def supports(feature: str, version: Version) -> bool:
    """Whether a version has a change of :data:`CHANGES`; KeyError for a name that is none."""
    return CHANGES[feature].holds(version)


def memory_op(name: str, version: Version) -> MemoryOp | None:
    """The load or store of that name, if the version has it. ``name`` may be a path (``core::load_view_tko``)."""
    found = MEMORY_OPS.get(name.rsplit("::", 1)[-1])
    return found if found is not None and version >= found.since else None


def latency_position(name: str, version: Version) -> int | None:
    """Argument position (from 0) of the latency; None when the op has none there, or the version has no such op."""
    found = memory_op(name, version)
    return found.latency if found is not None else None


def tma_position(name: str, version: Version) -> int | None:
    """Argument position (from 0) of the TMA mode; None for pointer ops."""
    found = memory_op(name, version)
    return found.tma if found is not None else None


def compile_options(version: Version) -> tuple[str, ...]:
    """The setters of ``CompileOptions``."""
    return tuple(name for name, since in _COMPILE_OPTIONS if version >= since)


def entry_keys(version: Version) -> tuple[str, ...]:
    """The keys of ``#[cutile::entry(...)]``."""
    return tuple(name for name, since in _ENTRY_KEYS if version >= since)


def borrowing_functions(version: Version) -> tuple[str, ...]:
    """Host functions that wrap memory or handles without taking ownership (``from_raw_parts`` takes it, in every version)."""
    return tuple(name for name, since in _BORROWING if version >= since)


def accepts_bare_entry(version: Version) -> bool:
    return supports("bare-entry", version)


def accepts_scientific_literals(version: Version) -> bool:
    """Whether constants in device code may be written other than as plain decimals. The kernels that 0.3.0 ships are written so; for
    0.2.0 the conversion rules report failures."""
    return supports("qualified-constants", version)


def shape_macro(version: Version) -> str:
    """The macro for constant shapes, with its ``!``."""
    return "shape!" if supports("shape-macro", version) else "const_shape!"
