"""What ``--fix`` did: fixed by file, and each fix that was not kept with its reason."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

from cutile_lint.findings import Finding
from cutile_lint.fixes import FixResult
from cutile_lint.reports.summary import plural
from cutile_lint.reports.text import clean
from cutile_lint.reports.view import View


def fix_report(result: FixResult, view: View, would: bool = False) -> str:
    """Lines for people; empty when there was nothing to fix. ``would``: nothing was written."""
    lines = []
    here = f"`{str(view.cwd).rstrip(os.sep)}{os.sep}"
    if result.applied:
        counts: dict[Path, Counter[str]] = {}
        for finding in result.applied:
            counts.setdefault(finding.path, Counter())[f"{finding.code} {finding.name}".strip()] += 1
        changed = plural(len(result.changed), "file")
        lines.append(f"{'Would fix' if would else 'Fixed'} {plural(len(result.applied), 'finding')} in {changed}:")
        for path, codes in sorted(counts.items()):
            listed = ", ".join(f"{count} x {code}" if count > 1 else code for code, count in sorted(codes.items()))
            lines.append(f"  {view.path(path)}: {clean(listed)}")
    for word, items in (("undone", result.undone), ("withheld", result.withheld)):
        lines += [f"{word}: {_where(item.finding, view)}: {clean(item.reason.replace(here, '`'))}" for item in items]
    for fight in result.fights:
        paths = ", ".join(map(view.path, fight.paths))
        who = (
            f"rules {', '.join(fight.codes)} undo each other"
            if len(fight.codes) > 1
            else f"rule {fight.codes[0]} finds its own fix"
        )
        lines.append(f"undone: {who} in {paths}; please report this")
    return "".join(f"{line}\n" for line in lines)


def _where(finding: Finding, view: View) -> str:
    row, column = finding.place.start
    return f"{view.path(finding.path)}:{row}:{column}: fix of {finding.code}"
