"""Regular expressions that are compiled when they are first used: a check of one op knows a hundred and fifty and uses half of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from re import compile as regex
else:
    import re

    class _Late:
        """What ``re.compile`` would give; the methods of the compiled pattern take their places here at the first call of one."""

        def __init__(self, pattern, flags):
            self.pattern = pattern
            self._flags = flags

        def __getattr__(self, name):
            if name.startswith("__"):
                raise AttributeError(name)
            compiled = re.compile(self.pattern, self._flags)
            for method in ("match", "fullmatch", "search", "finditer", "findall", "sub", "subn", "split"):
                setattr(self, method, getattr(compiled, method))
            return getattr(compiled, name)

    def regex(pattern, flags=0):
        """As ``re.compile``, for a constant of a module."""
        return _Late(pattern, flags)
