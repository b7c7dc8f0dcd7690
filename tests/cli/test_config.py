"""``cutile-lint config``: what holds for a path, and why."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

Lint = Callable[..., "Result"]  # noqa: F821 - conftest's


def test_it_shows_values_and_where_they_come_from(lint: Lint) -> None:
    Path("base.toml").write_text('min-level = "error"\nignore = ["DEMO1"]\n')
    Path("sub").mkdir()
    Path("sub/cutile-lint.toml").write_text('extend = "../base.toml"\nexclude = ["gen/"]\n[severity]\nDEMO201 = "info"\n')
    Path("sub/gen").mkdir()
    lines = lint("config", "sub", "--select", "DEMO2").out.splitlines()
    assert lines[0] == "# settings of sub: from sub/cutile-lint.toml"
    assert 'min-level = "error"  # base.toml' in lines
    assert 'select = ["DEMO2"]  # command line' in lines
    assert "ignore = []  # command line" in lines
    assert 'severity = { "DEMO201" = "info" }  # sub/cutile-lint.toml' in lines
    assert 'output-format = "full"  # default' in lines and "# target-arch is not set" in lines
    assert "# it is excluded" in lint("config", "sub/gen").out
    assert lint("config").out.startswith("# settings of .: no configuration file\n")
    told = json.loads(lint("config", "sub", "--output-format", "json").out)
    assert told["settings"]["ignore"] == {"value": ["DEMO1"], "origin": str(Path("base.toml").absolute())}


def test_what_it_shows_can_be_used_as_configuration(lint: Lint) -> None:
    Path("cutile-lint.toml").write_text('[per-file-ignores]\n"a \\"b.py" = ["DEMO1"]\n[runtime-names]\ncheck-rc = ["é"]\n')
    first = lint("config").out
    Path("cutile-lint.toml").write_text(first)
    assert [line.split("  #")[0] for line in lint("config").out.splitlines()] == [
        line.split("  #")[0] for line in first.splitlines()
    ]


def test_schema_errors_and_paths(lint: Lint) -> None:
    assert json.loads(lint("config", "--schema").out)["additionalProperties"] is False
    assert lint("config", "gone.py").status == 2
    Path("cutile-lint.toml").write_text("selekt = []\n")
    result = lint("config")
    assert result.status == 2 and "unknown key `selekt`; did you mean `select`?" in result.err
