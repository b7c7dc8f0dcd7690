"""Applying fixes: chosen, applied together, verified, formatted, repeated until nothing is left to do, then written."""

from cutile_lint.fixes.loop import Fight, FixResult, Undone, fix_loop
from cutile_lint.fixes.scope import Scope
from cutile_lint.fixes.write import write_changes

__all__ = ["Fight", "FixResult", "Scope", "Undone", "fix_loop", "write_changes"]
