"""A rule's page for the editor: Markdown for hovers, and a file for links."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from cutile_lint import __version__
from cutile_lint.engine.registry import find_rule
from cutile_lint.engine.rule_docs import RuleDoc, load_doc
from cutile_lint.errors import UserError
from cutile_lint.reports.rules import sections
from cutile_lint.server.documents import uri_of

_FIX = {"safe": "has a safe fix", "unsafe": "has an unsafe fix", "manual": "is fixed by hand"}


@lru_cache(maxsize=256)
def page(code: str) -> str:
    """A rule's page as Markdown; "" for one that is not ours or cannot be read."""
    info = find_rule(code)
    if info is None:
        return ""
    try:
        return markdown(load_doc(info))
    except (UserError, OSError):
        return ""


def markdown(doc: RuleDoc) -> str:
    info = doc.info
    parts = [f"# {info.code} {info.name}", info.summary, f"*{info.level.value}; {_FIX[info.fix]}*"]
    parts += [f"## {heading}\n{text}" for heading, text in sections(doc).items()]
    return "\n\n".join(parts) + "\n"


def page_uri(code: str, name: str, docs_url: str) -> str:
    """Where a rule's page is: under the configured address, else in a file; "" when there is neither."""
    if docs_url:
        return docs_url.replace("{code}", code).replace("{name}", name)
    return _page_file(code)


@lru_cache(maxsize=256)
def _page_file(code: str) -> str:
    """The URI of a rule's page in the user's cache folder, written when it is not there."""
    text = page(code)
    if not text:
        return ""
    path = _folder() / f"{code}.md"
    try:
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            draft = path.with_name(f".{code}.{os.getpid()}")
            draft.write_text(text, encoding="utf-8")
            os.replace(draft, path)
    except OSError:
        return ""
    return uri_of(path)


def _folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    root = Path(base) if base and os.path.isabs(base) else Path.home() / ".cache"
    return root / "cutile-lint" / "rules" / __version__
