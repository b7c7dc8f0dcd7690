"""Names and texts of a hostile tree in every report: no cursor moves, no page or command comes of them."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from tests.security.hostile import FORMATS, Tree, make_tree
from tests.security.test_nothing_outside import faulty

NAMES = (
    b"a\nb.py",
    b"\x1b[2J\x1b]0;owned\x07.py",
    b"::error file=x,line=1::owned.py",
    b"##[group]x.py",
    b"\xe2\x80\xaegnp.py",
    b"\xff\xfe.py",
    b"<script>alert(1)<script>.py",
    b"`x` <img src=x onerror=alert(1)>.py",
    b"%0A::stop-commands::x.py",
    b"a b'\"&;$(touch owned).py",
    b"-rf.py",
)
MARKUP = "<img src=x onerror=alert(1)>`` <script>`x`&amp;\\u001b[2J]]>\\n::error::owned"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """The op's wrapper under every name, each copy an op of its own, whose name is markup. Later formats come from the cache."""
    made = make_tree(tmp_path_factory.mktemp("hostile"))
    faulty(made)
    wrapper = made.wrapper
    text = wrapper.read_bytes()
    name = re.search(rb"register_impl\(\s*[\"'](\w+)", text)
    assert name is not None
    for number, file_name in enumerate(NAMES):
        op = (f"op{number}" + MARKUP).encode()
        copy = text.replace(b'register_impl("' + name[1], b'register_impl("' + op)
        with open(os.path.join(os.fsencode(wrapper.parent), file_name), "wb") as file:
            file.write(copy)
    return made


@pytest.mark.parametrize("output_format", FORMATS)
def test_findings(tree: Tree, output_format: str) -> None:
    done = tree.run("--output-format", output_format, ".")
    assert done.returncode == 1 and b"Traceback" not in done.stderr, done.stderr.decode()
    harmless(done.stdout)
    harmless(done.stderr)
    text = done.stdout.decode()
    if output_format in ("json", "sarif", "gitlab"):
        json.loads(text)
    elif output_format == "json-lines":
        assert [json.loads(line) for line in text.splitlines()]
    elif output_format == "github":
        assert all(re.match(r"::(error|warning|notice) title=CTL\d+ [a-z0-9-]+,file=", line) for line in text.splitlines())
        assert all("::" not in line.split("::", 2)[1] for line in text.splitlines())
    elif output_format == "markdown":
        outside_code = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
        assert "<img" not in outside_code and "<script" not in outside_code
    else:
        assert not [line for line in text.splitlines() if line.lstrip().startswith(("::", "##["))]


@pytest.mark.parametrize(
    "command", [["flow"], ["checklist"], ["config", "."], ["--statistics"], ["--diff"], ["baseline"], ["add-ignore"]]
)
def test_other_commands(tree: Tree, command: list[str]) -> None:
    done = tree.run(*command)
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    harmless(done.stdout)
    harmless(done.stderr)


@pytest.mark.parametrize("to_file", [False, True])
def test_the_page_of_a_flow(tree: Tree, to_file: bool, tmp_path: Path) -> None:
    for output_format in ("html", "json", "markdown"):
        target = tmp_path / f"flow.{output_format}"
        done = tree.run("flow", "--output-format", output_format, *(["--output-file", str(target)] if to_file else []), ".")
        assert b"Traceback" not in done.stderr, done.stderr.decode()
        text = target.read_bytes() if to_file else done.stdout
        harmless(text)
        if output_format == "json":
            assert json.loads(text)
        elif output_format == "html":
            assert b"<img" not in text and b"<script" not in text and b"onerror=alert" in text


def harmless(text: bytes) -> None:
    """Nothing that a terminal acts on; lines are ours."""
    assert not re.search(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]", text)
    text.decode()
