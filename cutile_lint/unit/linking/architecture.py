"""The GPU that configs are meant for: ``target-arch``, a comment such as "for sm100", and tests of the device's capability."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cutile_lint.regex import regex
from cutile_lint.sources import Place, Span
from cutile_lint.unit.flows.fold import Folder
from cutile_lint.unit.machine.values import Condition, Items, Known, Term, Value, subterms

_COMMENT = regex(rb"#[^\n\r#]*")
_IN_COMMENT = regex(rb"\bsm[_ ]?(\d{2,3})[af]?(?![\d+])", re.IGNORECASE)
_ARCH = regex(r"(?:sm|compute)?[_ ]?(\d{2,3})[af]?", re.IGNORECASE)
_CAPABILITY = frozenset(["get_device_capability", "get_compute_capability", "get_capability", "device_capability"])
_PROPERTIES = frozenset(["get_device_properties"])

#: (major, minor) of a compute capability
Arch = tuple[int, int]


def parse_arch(text: str | None) -> Arch | None:
    """``sm_100``, ``sm100``, ``100`` → (10, 0); None for other texts."""
    match = _ARCH.fullmatch(text.strip()) if text else None
    return _split(match.group(1)) if match else None


def _split(digits: str) -> Arch:
    return int(digits[:-1]), int(digits[-1])


def commented_arch(place: Place, span: Span) -> Arch | None:
    """The one architecture that the comments in a span of a Python file name; None for none or several."""
    place.source.tells(_all_commented)  # who looks at a function knows where it ends
    comments = _COMMENT.finditer(place.source.raw, span.start, span.end)
    found = {_split(match[1].decode()) for match in (_IN_COMMENT.search(comment[0]) for comment in comments) if match}
    return found.pop() if len(found) == 1 else None


def _all_commented(data: bytes) -> list[bytes]:
    return [comment for comment in _COMMENT.findall(data) if _IN_COMMENT.search(comment)]


class ArchFolder:
    """Evaluates conditions for one architecture."""

    def __init__(self, arch: Arch) -> None:
        self.arch = arch
        self._folder = Folder(self._lookup)

    def holds(self, path: Condition) -> bool | None:
        return self._folder.holds(path)

    def _lookup(self, term: Term) -> Value | None:
        if _is_capability(term):
            return Items("tuple", [Known(part) for part in self.arch])
        if term.op == "index" and len(term.args) == 2 and _is_capability(term.args[0]) and isinstance(term.args[1], Known):
            index = term.args[1].value
            return Known(self.arch[index]) if index in (0, 1) else None  # type: ignore[index]
        if term.op == "attr" and term.args and isinstance(term.args[0], Term):
            if term.args[0].name.rsplit(".", 1)[-1] in _PROPERTIES and term.name in ("major", "minor"):
                return Known(self.arch[0 if term.name == "major" else 1])
        return None


def _is_capability(value: Value) -> bool:
    return isinstance(value, Term) and value.op in ("call", "method") and value.name.rsplit(".", 1)[-1] in _CAPABILITY


def device_tests(condition: Condition) -> bool:
    """A test of the condition asks for the device's capability."""
    return any(
        _is_capability(part) or (isinstance(part, Term) and part.name.rsplit(".", 1)[-1] in _PROPERTIES)
        for literal in condition
        for part in subterms(literal.test)
    )


def label(condition: Condition) -> str:
    """The condition as its source says it: ``capability[0] == 10 and not (…)``."""
    return " and ".join(dict.fromkeys(_labels(condition)))


def _labels(condition: Iterable) -> Iterable[str]:
    for literal in condition:
        text = literal.test.place.text if literal.test.place is not None else ""
        if text and "\n" not in text:
            yield text if literal.holds else f"not ({text})"


def text_condition_fits(condition: str, arch: Arch) -> bool | None:
    """Whether a label of ``analysis.json`` ("sm_100", "sm_120 and persistent") fits an architecture; None when it names none."""
    named = {_split(digits) for digits in re.findall(r"(?i)\bsm_?(\d{2,3})[af]?\b", condition)}
    return arch in named if named else None


def by_target(value: Value, arch: Arch | None) -> Value:
    """``ct.ByTarget(sm_80=2, default=4)`` for an architecture; without one only where all targets have one value."""
    if not (isinstance(value, Term) and value.op == "call" and value.name.rsplit(".", 1)[-1] == "ByTarget"):
        return value
    targets = {parse_arch(name): one for name, one in value.keywords.items() if name != "default"}
    default = value.keywords.get("default", value.args[0] if value.args else Known(None))
    if arch is not None:
        return targets.get(arch, default)
    one = {option.key() for option in (*targets.values(), default)}
    return default if len(one) == 1 else value
