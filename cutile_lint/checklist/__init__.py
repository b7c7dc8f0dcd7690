"""The pre-submit checklist of a port, item by item, with evidence. The items are a table (:mod:`cutile_lint.checklist.items`)."""

from cutile_lint.checklist.items import ITEMS, SECTIONS, Item
from cutile_lint.checklist.judge import judge
from cutile_lint.checklist.verdict import Absent, Failed, OpChecklist, Open, Shown, Status, Verdict

__all__ = ["ITEMS", "SECTIONS", "Absent", "Failed", "Item", "OpChecklist", "Open", "Shown", "Status", "Verdict", "judge"]
