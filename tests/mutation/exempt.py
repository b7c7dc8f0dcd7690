"""Rewrites that change what a rule is about, or take away what it has to go by: there they are not planted."""

from __future__ import annotations

from .python_places import EXPRESSIONS
from .sources import OF_THE_LINTER

AT_A_PLACE = {f"py-{name}" for name in EXPRESSIONS}
#: rewrite → {code: why}
_OTHER_FILE = "the rule is about what the export calls in its file"
EXEMPT: dict[str, dict[str, str]] = {
    "rs-macro-of-shared-file": {"CTL507": _OTHER_FILE, "CTL509": _OTHER_FILE},
    "rs-imported-macro": {"CTL507": _OTHER_FILE, "CTL509": _OTHER_FILE},
    "rs-export-body-in-a-guard": {
        "CTL505": "the macro has attributes of its own",
        "CTL509": "the guard catches the panic",
        "CTL902": "the macro has attributes of its own",
    },
    "rs-rename-locals": {
        "CTL511": "a value's name is what says which generic it is meant for",
        "CTL608": "the configuration names the parameters whose type is meant",
    },
    "py-walrus": {"CTL510": "the new name keeps the tensor alive"},
    "py-default-argument": {"CTL510": "the default keeps the tensor alive"},
    "py-first-local": {"CTL510": "the new name keeps the tensor alive"},
}
#: the fault is words in a table or text, which are read, not run; a call in their place is not known
WRITTEN_OUT = {"CTL513", "CTL520"}


def is_exempt(rewrite: str, code: str) -> bool:
    """Whether the rewrite may change what the rule says."""
    if code in WRITTEN_OUT and rewrite in AT_A_PLACE:
        return True
    return code in OF_THE_LINTER or code in EXEMPT.get(rewrite, {})
