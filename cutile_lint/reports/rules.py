"""Rules' documentation as plain text for a terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from cutile_lint.engine.registry import RuleInfo
from cutile_lint.engine.rule_docs import RuleDoc
from cutile_lint.reports.text import wrap
from cutile_lint.reports.view import View

_FIXES = {"safe": "--fix", "unsafe": "--fix --unsafe-fixes", "manual": "by hand"}


def listing(rules: Iterable[RuleInfo], view: View) -> str:
    """One paragraph per rule: code, name, level, kind of fix and summary."""
    lines = []
    for info in rules:
        head = f"{info.code} {info.name} ({info.level.value}, fix: {info.fix})"
        lines += [view.style("bold", head), *wrap(info.summary, view.width, "    ", "    ")]
    return "".join(f"{line}\n" for line in lines)


def page(doc: RuleDoc, view: View) -> str:
    """A rule's page. Markdown code blocks and lists keep their lines; paragraphs are wrapped."""
    info = doc.info
    title = f"{info.code} {info.name}"
    facts = f"level: {info.level.value}; fix: {_FIXES[info.fix]}; layer: {info.layer}"
    lines = [
        view.style("bold", title),
        *wrap(info.summary, view.width),
        "",
        facts + (f"; needs: {', '.join(info.needs)}" if info.needs else ""),
    ]
    for heading, text in sections(doc).items():
        lines += ["", view.style("bold", heading), *body(text, view)]
    return "".join(f"{line}\n" for line in lines)


def sections(doc: RuleDoc) -> dict[str, str]:
    """Heading -> Markdown, in the order of a page; what a rule does not say is left out."""
    said = {
        "What it does": doc.what,
        "Why is this bad?": doc.why,
        "Cost": doc.cost,
        "Example": doc.example,
        "Use instead": doc.use_instead,
        "What it leaves alone": "\n".join(f"- {item}" for item in doc.leaves_alone),
        "Fix safety": doc.fix_safety,
        "Options": options(doc.info),
        "Checklist": "\n".join(f"- {item}" for item in doc.checklist),
    }
    return {heading: text for heading, text in said.items() if text}


def options(info: RuleInfo) -> str:
    """A rule's options as Markdown: what each takes, and how it is written in ``cutile-lint.toml`` (with its default)."""
    if not info.options:
        return ""
    told = "\n".join(f"- `{one.name}` ({one.takes}): {one.description}" for one in info.options)
    lines = "\n".join(f"{one.name} = {toml(one.default)}" for one in info.options)
    return f"{told}\n\nWith their defaults, in `pyproject.toml`:\n\n```toml\n[tool.cutile-lint.rules.{info.code}]\n{lines}\n```"


def toml(value: Any) -> str:
    """A text, number or list of texts as TOML."""
    if isinstance(value, float):
        return f"{value:g}"
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)


def body(markdown: str, view: View) -> list[str]:
    """Markdown as lines: code blocks indented and as they are, list items hanging, paragraphs wrapped."""
    lines: list[str] = []
    paragraph: list[str] = []
    in_code = False

    def flush() -> None:
        if paragraph:
            text = " ".join(paragraph)
            item = re.match(r"(?:[-*]|\d+\.) ", text)
            hang = "  " + " " * (item.end() if item else 0)
            lines.extend(wrap(text, view.width, "  ", hang))
            paragraph.clear()

    for line in markdown.split("\n"):
        if line.lstrip().startswith("```"):
            flush()
            in_code = not in_code
        elif in_code:
            lines.append(f"    {line}".rstrip())
        elif not line.strip():
            flush()
            if lines and lines[-1]:
                lines.append("")
        else:
            if re.match(r"\s*(?:[-*]|\d+\.) ", line):
                flush()
            paragraph.append(line.strip())
    flush()
    return lines
