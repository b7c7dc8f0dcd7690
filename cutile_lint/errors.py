"""Errors that are the user's to mend: told in one line on standard error, exit status 2, never a traceback."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class UserError(Exception):
    """A wrong option, configuration, path or plugin. The text names the thing and what is wrong with it."""


class CheckFailed(UserError):
    """A rule or plugin failed; ``findings`` are those of the others, ``errors`` one line for each failure."""

    def __init__(self, findings: list[Any], errors: list[str]) -> None:
        super().__init__("; ".join(errors))
        self.findings = findings
        self.errors = errors
