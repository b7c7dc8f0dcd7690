"""The JSON schema of the configuration with the options of rules in it.

``python -m cutile_lint.engine.option_schema`` writes those of the rules that cutile-lint ships into ``config/schema.json``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cutile_lint import config
from cutile_lint.engine.registry import RuleInfo, builtin_rules
from cutile_lint.engine.rule_options import RuleOption

FILE = Path(config.__file__).with_name("schema.json")


def schema(rules: Iterable[RuleInfo]) -> dict[str, Any]:
    """The schema for these rules; of others it says nothing."""
    made: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    tables: dict[str, Any] = {}
    for info in rules:
        options = {option.name: _option(option) for option in info.options}
        if options:
            table = {"description": info.summary, "type": "object", "additionalProperties": False, "properties": options}
            tables |= {info.code: table, info.name: {"$ref": f"#/properties/rules/properties/{info.code}"}}
    made["properties"]["rules"]["properties"] = tables
    return made


def _option(option: RuleOption) -> dict[str, Any]:
    told: dict[str, Any] = {"description": option.description}
    if option.type == "strings":
        items: dict[str, Any] = {"enum": list(option.choices)} if option.choices else {"type": "string"}
        return told | {"type": "array", "items": items, "default": list(option.default)}
    told |= {"enum": list(option.choices)} if option.choices else {"type": option.type}
    if option.minimum is not None:
        told["minimum"] = option.minimum
    return told | {"default": option.default}


def main() -> int:
    FILE.write_text(json.dumps(schema(builtin_rules()), indent=2, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
