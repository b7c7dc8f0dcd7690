"""Errors that are the user's to mend: told in one line on standard error, exit status 2, never a traceback."""

from __future__ import annotations


class UserError(Exception):
    """A wrong option, configuration, path or plugin. The text names the thing and what is wrong with it."""
