"""``markdown``: for a comment on a change or a job summary."""

from __future__ import annotations

import re

from cutile_lint.findings import Finding
from cutile_lint.reports.summary import summary
from cutile_lint.reports.text import clean
from cutile_lint.reports.view import View


def render(findings: list[Finding], view: View) -> str:
    lines = [f"**cutile-lint:** {summary(findings)}", ""]
    path = None
    for finding in findings:
        if finding.path != path:
            lines += ["", f"### {_code(clean(view.relative(finding.path)))}", ""]
            path = finding.path
        lines += _item(finding, view)
    return "\n".join(re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip().split("\n")) + "\n"


def _item(finding: Finding, view: View) -> list[str]:
    row, column = finding.place.start
    code = f"[{finding.code}]({finding.url})" if re.fullmatch(r"https?://[^\s()<>]+", finding.url) else finding.code
    lines = [f"- **{finding.level.value}** {code} {_text(finding.name)} at {row}:{column}: {_text(finding.message)}"]
    for number, related in enumerate(finding.related, 1):
        where = _code(f"{clean(view.relative(related.place.path))}:{related.place.start[0]}")
        lines.append(f"  {number}. {where} {_text(related.message)}")
    if finding.help:
        lines += ["", f"  {_text(finding.help)}"]
    return lines


def _code(text: str) -> str:
    """A code span that the text cannot leave."""
    ticks = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def _text(text: str) -> str:
    """Running text: code spans stay, everything else that Markdown or HTML would act on is escaped."""
    parts = re.split(r"(`[^`]+`)", " ".join(clean(line) for line in text.split("\n")))
    return "".join(part if index % 2 else _escaped(part) for index, part in enumerate(parts))


def _escaped(text: str) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\*_\[\]|~@#])", r"\\\1", text).replace("`", "&#96;")
