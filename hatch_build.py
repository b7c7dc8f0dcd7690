"""Build hook: ships ``rules/`` inside the wheel as ``cutile_lint/_rules``, with its index compiled from the YAML files.

An editable install gets neither: ``cutile_lint/_rules/__init__.py`` of the checkout points at ``rules/`` itself.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class RulesHook(BuildHookInterface):
    _scratch: str | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel" or version != "standard":
            return
        rules = Path(self.root, "rules")
        self._scratch = tempfile.mkdtemp(prefix="cutile-lint-build-")
        index = Path(self._scratch, "_rules_index.json")
        index.write_text(json.dumps(self._index(rules)), encoding="utf-8")
        build_data["force_include"][str(rules)] = "cutile_lint/_rules"
        build_data["force_include"][str(index)] = "cutile_lint/_rules_index.json"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)

    def _index(self, rules: Path) -> dict[str, Any]:
        sys.path.insert(0, self.root)
        try:
            from cutile_lint.engine.rule_index import build_index
        finally:
            sys.path.remove(self.root)
        return build_index(rules, frozen=True)
