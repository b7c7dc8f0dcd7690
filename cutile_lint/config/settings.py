"""The effective settings of a file or unit, and the questions asked of them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from cutile_lint.findings import Level
from cutile_lint.records import dataclass, field
from cutile_lint.sources.discovery import SKIPPED_FOLDERS
from cutile_lint.sources.files import leads_out
from cutile_lint.sources.ignore import Patterns

#: what the project may call by another name: role -> the names TileGym uses. Configured names are added to these.
RUNTIME_NAMES: dict[str, tuple[str, ...]] = {
    "autotune-launch": ("autotune_launch",),
    "bind-kernel-function-cffi": ("bind_kernel_function_cffi",),
    "make-tensor-desc": ("make_tensor_desc",),
    "check-rc": ("check_rc",),
    "register-impl": ("register_impl",),
    "get-num-sm": ("get_num_sm",),
    "next-power-of-2": ("next_power_of_2",),
}
OUTPUT_FORMATS = ("full", "concise", "json", "json-lines", "sarif", "github", "gitlab", "markdown")


@dataclass(frozen=True)
class Settings:
    """Everything that configuration and command line decide; the defaults are those of a project without any.

    Selectors are a code (``CTL101``), the start of one (``CTL1``), a rule's name, or ``ALL``.
    Patterns are those of ``.gitignore``, relative to ``root``.
    ``target_arch`` is spelled ``sm_100``; ``target_version`` is the cutile version, ``0.2.0``.
    """

    #: folder of the configuration file; without one the current folder
    root: Path = field(default_factory=Path.cwd)
    #: the configuration file; None without one
    file: Path | None = None
    #: the file was found beside what is checked: nothing is written outside its folder because it says so
    discovered: bool = False
    select: tuple[str, ...] = ("ALL",)
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, Level] = field(default_factory=dict)
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: rule (code or name) -> option -> value as it is written; ``engine.rule_options`` knows which there are
    rules: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    #: None: the folders that are skipped by default
    exclude: tuple[str, ...] | None = None
    extend_exclude: tuple[str, ...] = ()
    target_arch: str | None = None
    target_version: str | None = None
    runtime_names: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: dict(RUNTIME_NAMES))
    #: folders of rules that may be loaded
    rule_paths: tuple[Path, ...] = ()
    #: folders of rules named in a discovered project file: their code runs only when the user says so
    untrusted_rule_paths: tuple[Path, ...] = ()
    #: findings that do not fail a run
    baseline: Path | None = None
    cache_dir: Path | None = None
    min_level: Level = Level.WARNING
    output_format: str = "full"
    #: where a rule's page is, with ``{code}`` and ``{name}``
    docs_url: str | None = None
    #: key -> the file that gave it its value; keys with their default are not in it. Options of rules: ``rules.CTL208.ignore-fields``
    origins: Mapping[str, Path] = field(default_factory=dict, compare=False)

    def names(self, role: str) -> tuple[str, ...]:
        """Names under which the project calls a function of the runtime (a key of :data:`RUNTIME_NAMES`)."""
        return self.runtime_names[role]

    def selects(self, code: str, name: str = "") -> bool:
        """Whether a rule is on: the longest selector that fits decides; at equal length ``ignore`` does."""
        chosen = _fit(self.select + self.extend_select, code, name)
        return chosen > -1 and chosen > _fit(self.ignore, code, name)

    def ignored_in_file(self, path: Path, code: str, name: str = "") -> bool:
        """Whether ``per-file-ignores`` turns a rule off in a file."""
        if not self.per_file_ignores:
            return False
        relative = self.relative(str(path))
        return any(patterns.covers(relative) and _fit(codes, code, name) > -1 for patterns, codes in self._per_file)

    def level_of(self, code: str, name: str, default: Level) -> Level:
        """A rule's level under ``severity``; the longest selector that fits decides."""
        best = max(self.severity, key=lambda selector: _fit((selector,), code, name), default=None)
        return self.severity[best] if best is not None and _fit((best,), code, name) > -1 else default

    def url_of(self, code: str, name: str) -> str:
        """The address of a rule's page; "" without ``docs-url``."""
        return self.docs_url.replace("{code}", code).replace("{name}", name) if self.docs_url else ""

    def leads_out(self, path: Path) -> bool:
        """Whether a path of this configuration may not be written: of a file that was found, what leads out of its folder."""
        return self.discovered and leads_out(path, self.root)

    def excludes(self, path: str, is_dir: bool = False) -> bool:
        """Whether ``exclude`` or ``extend-exclude`` covers an absolute path or a folder above it."""
        return bool(self._excludes) and self._excludes.covers(self.relative(path), is_dir)

    @property
    def skipped_folders(self) -> frozenset[str]:
        return SKIPPED_FOLDERS if self.exclude is None else frozenset()

    def relative(self, path: str) -> str:
        """``path`` below ``root`` with slashes; one outside keeps its whole way, so that only unanchored patterns fit it."""
        root = str(self.root).rstrip(os.sep) + os.sep
        relative = path[len(root) :] if path.startswith(root) else os.path.splitdrive(path)[1].lstrip(os.sep)
        return relative.replace(os.sep, "/")

    @cached_property
    def _excludes(self) -> Patterns:
        return Patterns((self.exclude or ()) + self.extend_exclude)

    @cached_property
    def _per_file(self) -> list[tuple[Patterns, tuple[str, ...]]]:
        return [(Patterns((pattern,)), codes) for pattern, codes in self.per_file_ignores.items()]


def _fit(selectors: tuple[str, ...], code: str, name: str) -> int:
    """Length of the longest selector that fits a rule; 0 for ``ALL``; -1 when none does."""
    best = -1
    for selector in selectors:
        if selector == "ALL":
            best = max(best, 0)
        elif selector == name:
            best = max(best, len(code))
        elif code.startswith(selector):
            best = max(best, len(selector))
    return best
