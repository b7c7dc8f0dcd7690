"""Rewrites that change what a rule is about, or take away what it has to go by: there they are not planted."""

from __future__ import annotations

#: rewrite → {code: why}
EXEMPT: dict[str, dict[str, str]] = {}
#: codes that are about how a file is written, not about what it does
OF_THE_TEXT = {"CTL900", "CTL901", "CTL903"}


def is_exempt(rewrite: str, code: str) -> bool:
    return code in OF_THE_TEXT or code in EXEMPT.get(rewrite, {})
