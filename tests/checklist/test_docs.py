"""The page about the checklist is what its table says."""

from __future__ import annotations

from pathlib import Path

from cutile_lint.checklist.table import document


def test_the_page_is_up_to_date() -> None:
    page = Path(__file__).parents[2] / "docs" / "checklist.md"
    assert page.read_text(encoding="utf-8") == document(), "run `python -m cutile_lint.checklist.table > docs/checklist.md`"
