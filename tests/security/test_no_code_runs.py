"""Nothing of the checked tree is imported or run, whatever the command; plugins run when the user's own words name them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.security.hostile import PROGRAM, RULE, Tree, booby_trap, make_tree
from tests.server.client import Client

#: as a user types it; and the ways that put the current folder on the path of modules
WAYS = {
    "script": (str(PROGRAM),),
    "module": (sys.executable, "-m", "cutile_lint.cli.main"),
    "package": (sys.executable, "-m", "cutile_lint"),
}
COMMANDS = (["."], ["--fix", "."], ["checklist", "."], ["flow", "."], ["config"], ["rule", "CTL101"], ["baseline"], ["clean"])


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    made = make_tree(tmp_path)
    booby_trap(made)
    return made


@pytest.mark.parametrize("way", WAYS)
def test_no_command_runs_anything_of_the_tree(tree: Tree, way: str) -> None:
    for command in COMMANDS if way == "script" else COMMANDS[1:4]:
        done = tree.run(*command, command=WAYS[way])
        assert b"Traceback" not in done.stderr, done.stderr.decode()
        assert done.returncode in (0, 1), (command, done.stderr.decode())
        assert not tree.trace.exists(), (command, tree.trace.read_text())
    assert b"rule-paths` is not loaded" in tree.run(".", command=WAYS[way]).stderr


def test_an_editor_that_opens_the_tree_runs_nothing_of_it(tree: Tree) -> None:
    client = Client(tree.root)
    try:
        client.start()
        client.diagnostics(client.open(tree.wrapper), 1)
        for uri in (
            "untitled:Untitled-1",
            "file:///proc/self/mem/a.py",
            (tree.root / "..").as_uri() + "/%0a%1b[2J.py",
            "file://host/share/x.py",
        ):
            document = {"uri": uri, "languageId": "python", "version": 1, "text": "import cutile_rs\n"}
            client.notify("textDocument/didOpen", {"textDocument": document})
        client.request(
            "textDocument/hover", {"textDocument": {"uri": tree.wrapper.as_uri()}, "position": {"line": 3, "character": 3}}
        )
        assert client.stop() == 0
        assert not any("Traceback" in line for line in client.errors), client.errors
    finally:
        client.kill()
    assert not tree.trace.exists()


def test_rules_that_the_user_names_are_run(tree: Tree) -> None:
    done = tree.run("--trust-project-rules", "--no-cache", ".")
    assert tree.trace.exists(), done.stderr.decode()


def test_tags_of_yaml_make_nothing(tree: Tree) -> None:
    """Even in a rule file that the user trusts: it is data."""
    (tree.root / "rules/own/mine.py").write_text("def check(unit):\n    return []\n")
    tagged = RULE.replace("what: mine", f"what: !!python/object/apply:os.system ['touch {tree.trace}']")
    (tree.root / "rules/own/mine.yaml").write_text(tagged)
    (tree.root / "pyproject.toml").write_text('[tool.cutile-lint]\nrule-paths = ["rules"]\n')
    for command in (["--trust-project-rules", "--no-cache", "."], ["rule", "OWN001"], ["test-rules", "rules"]):
        done = tree.run(*command)
        assert b"Traceback" not in done.stderr, done.stderr.decode()
        assert not tree.trace.exists()
        assert done.returncode == 2 and b"mine.yaml" in done.stderr, (command, done.stderr.decode())
