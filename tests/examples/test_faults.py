"""The list of planted faults fits the faulty tree, and the faulty tree is broken in no other way."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest
import tree_sitter
import tree_sitter_rust

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FAULTY = EXAMPLES / "faulty"
FAULTS = tomllib.loads((FAULTY / "FAULTS.toml").read_text(encoding="utf-8"))["fault"]
RUST = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault['code']}-{Path(fault['file']).name}")
def test_places_are_unambiguous(fault: dict) -> None:
    for place in [fault, *fault.get("also", [])]:
        source = (FAULTY / place["file"]).read_text(encoding="utf-8")
        assert source.count(place["text"]) == 1, place
    assert fault["fix"] in ("safe", "unsafe", "manual")


def test_every_headline_rule_is_planted() -> None:
    timed = {"CTL101", "CTL102", "CTL103", "CTL104", "CTL105", "CTL106", "CTL107", "CTL110"}
    options = {"CTL201", "CTL202", "CTL203", "CTL204", "CTL206", "CTL207", "CTL209"}
    autograd = {"CTL301", "CTL302", "CTL303"}
    transpose = {"CTL401", "CTL402", "CTL403"}
    assert {fault["code"] for fault in FAULTS} >= timed | options | autograd | transpose


@pytest.mark.parametrize("tree", ["clean", "faulty"])
def test_every_file_parses(tree: str) -> None:
    for path in (EXAMPLES / tree).rglob("*.py"):
        ast.parse(path.read_bytes(), filename=str(path))
    for path in (EXAMPLES / tree).rglob("*.rs"):
        assert not RUST.parse(path.read_bytes()).root_node.has_error, path
