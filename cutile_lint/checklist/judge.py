"""From findings and verification to a verdict for each item."""

from __future__ import annotations

from collections.abc import Container, Iterable

from cutile_lint.checklist import verify
from cutile_lint.checklist.context import Context
from cutile_lint.checklist.items import ITEMS, Item
from cutile_lint.checklist.verdict import Absent, Evidence, Failed, OpChecklist, Open, Shown, Status, Verdict
from cutile_lint.findings import Finding, Level
from cutile_lint.unit import KernelUnit


def judge(
    unit: KernelUnit,
    findings: Iterable[Finding],
    suppressed: Iterable[Finding] = (),
    errors: Iterable[str] = (),
    known: Container[str] | None = None,
) -> OpChecklist:
    """The checklist of one op. ``findings``, ``suppressed``: what the rules of the table say about it, selection aside.

    ``known``: the codes of rules that there are; the others of the table are not built in yet and say nothing.
    """
    context = Context(unit, list(findings), known)
    silenced, failures = list(suppressed), list(errors)
    verdicts = [_verdict(item, context, silenced, failures) for item in ITEMS]
    return OpChecklist(unit.name, unit.layout.wrapper, verdicts, failures)


def _verdict(item: Item, context: Context, silenced: list[Finding], errors: list[str]) -> Verdict:
    failed: list[Evidence] = [_told(one) for one in context.findings if one.code in item.rules and one.level is not Level.INFO]
    notes: list[Evidence] = [_told(one) for one in context.findings if one.code in item.rules and one.level is Level.INFO]
    found: list[Evidence] = []
    for name in item.verifiers:
        found += list(dict.fromkeys(getattr(verify, name)(context)))
    failed += [one for one in found if isinstance(one, Failed)]
    if failed:
        return Verdict(item, Status.FAIL, failed)
    doubts: list[Evidence] = [one for one in found if isinstance(one, Open)]
    doubts += [Open(f"suppressed: {one.message}", one.place, code=one.code) for one in silenced if one.code in item.rules]
    doubts += [Open(error) for error in errors if any(code in error for code in item.rules)]
    shown: list[Evidence] = [one for one in found if isinstance(one, Shown)]
    if doubts:
        return Verdict(item, Status.UNVERIFIED, doubts + shown + notes)
    if shown:
        return Verdict(item, Status.PASS, shown + notes)
    absent: list[Evidence] = [one for one in found if isinstance(one, Absent)]
    if absent:
        return Verdict(item, Status.NOT_APPLICABLE, absent + notes)
    return Verdict(item, Status.UNVERIFIED, [Open("nothing was found that shows it"), *notes])


def _told(finding: Finding) -> Evidence:
    return Failed(finding.message, finding.place, code=finding.code)
