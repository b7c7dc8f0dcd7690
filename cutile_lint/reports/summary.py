"""The line below the findings, and the table of ``--statistics``."""

from __future__ import annotations

from collections import Counter

from cutile_lint.findings import Applicability, Finding, Level


def summary(findings: list[Finding], fixed: int = 0, undone: int = 0, fixing: bool = False, known: int = 0) -> str:
    """``Found 3 errors, 1 warning (2 fixable with --fix).``, or that all is well.

    ``fixing``: --fix was given; ``known``: findings that a baseline passes over.
    """
    levels = Counter(finding.level for finding in findings)
    counted = [plural(levels[level], _NOUNS[level]) for level in (Level.ERROR, Level.WARNING, Level.INFO) if levels[level]]
    text = ", ".join(counted)
    if fixed:
        text = f"Fixed {plural(fixed, 'finding')}" + (f"; {text} left" if text else "; none left")
    elif not text:
        return f"All checks passed ({known} known from the baseline)." if known else "All checks passed."
    else:
        text = f"Found {text}"
    notes = [] if fixing else _fixable(findings)
    if known:
        notes.append(f"{known} known from the baseline")
    if undone:
        notes.append(f"{undone} undone")
    return text + (f" ({', '.join(notes)})." if notes else ".")


def _fixable(findings: list[Finding]) -> list[str]:
    kinds = Counter(finding.fix.applicability for finding in findings if finding.fix)
    safe, unsafe = kinds[Applicability.SAFE], kinds[Applicability.UNSAFE]
    notes = [f"{safe} fixable with --fix"] if safe else []
    return [*notes, f"{unsafe}{' more' if safe else ' fixable'} with --unsafe-fixes"] if unsafe else notes


_NOUNS = {Level.ERROR: "error", Level.WARNING: "warning", Level.INFO: "info"}


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 or noun == "info" else f"{count} {noun}s"


def statistics(findings: list[Finding]) -> str:
    """One line per rule, the most frequent first: count, code, whether it can be fixed, name."""
    counts = Counter((finding.code, finding.name) for finding in findings)
    fixable = {finding.code for finding in findings if finding.fix}
    wide = len(str(max(counts.values(), default=0)))
    rows = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return "".join(f"{count:>{wide}}  {code}  [{'*' if code in fixable else ' '}] {name}\n" for (code, name), count in rows)
