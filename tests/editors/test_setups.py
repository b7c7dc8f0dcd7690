"""The setups that the pages describe, as far as they can be looked at without the editor."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from cutile_lint.config.load import OWN_NAME, PROJECT_NAME
from cutile_lint.server.settings import read_settings
from cutile_lint.sources.discovery import NAMES

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "editors"


def helix() -> dict[str, Any]:
    block = re.search(r"^```toml\n(.*?)^```$", (PAGES / "helix.md").read_text(), re.MULTILINE | re.DOTALL)
    assert block
    return tomllib.loads(block[1])


@pytest.mark.parametrize("file", ["docs/editors/pycharm.md", "editors/vscode/src/settings.ts", "editors/neovim/cutile-lint.lua"])
def test_the_server_is_told_of_all_files_that_it_reads(file: str) -> None:
    text = (ROOT / file).read_text()
    assert [name for name in (*NAMES, OWN_NAME, PROJECT_NAME) if name not in text] == []


def test_helix_tells_the_server_of_all_languages_that_it_reads() -> None:
    told = {one["name"] for one in helix()["language"] if "cutile-lint" in one["language-servers"]}
    assert told == {"python", "rust", "toml", "json"}


def test_what_helix_sends_has_no_mistakes() -> None:
    config = helix()["language-server"]["cutile-lint"]["config"]
    for sent in (config, {"settings": config}):
        assert read_settings(sent).mistakes == ()


def test_helix_toggles_what_it_has() -> None:
    page = (PAGES / "helix.md").read_text()
    toggled = re.findall(r"`:toggle ([\w.-]+)`", page)
    assert toggled and all(f"`editor.{key} = " in page for key in toggled)
