"""Rules without code: the ``pattern`` of a rule's YAML file as a check.

For Rust a tree-sitter query; for Python calls that the op's run comes to, by name and by where they happen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cutile_lint.engine.rule_index import RuleFileError, read_yaml
from cutile_lint.findings import Finding
from cutile_lint.records import dataclass
from cutile_lint.sources import Place, Span

if TYPE_CHECKING:
    from cutile_lint.unit import KernelUnit
    from cutile_lint.unit.machine.trace import Event

PLACES = ("timed-region", "per-call", "anywhere")
#: the capture that is the finding's place
PLACE = "finding"
_KEYS = {"rust", "call", "place", "message", "help"}
#: longer texts are cut in messages
_QUOTED = 60


@dataclass(frozen=True, slots=True)
class Pattern:
    """``rust``: a query, or ``calls``: dotted names (``torch.compile``, ``torch.*``) and methods (``.item``).

    ``option`` names the option of the rule that holds the calls.
    """

    message: str
    help: str = ""
    rust: str = ""
    calls: tuple[str, ...] = ()
    place: str = "anywhere"
    option: str = ""

    def check(self, unit: KernelUnit, options: Mapping[str, Any] | None = None) -> Iterator[Finding]:
        if self.rust:
            return self._in_rust(unit)
        return self._in_python(unit, options[self.option] if self.option and options else self.calls)

    def _in_rust(self, unit: KernelUnit) -> Iterator[Finding]:
        from cutile_lint.frontends.rust.query import captures

        for module in unit.rust_modules:
            for match in captures(module.source, self.rust):
                texts = {name: _one_line(module.source.slice(span)) for name, span in match.items()}
                yield self._finding(Place(module.source, match[PLACE]), texts)

    def _in_python(self, unit: KernelUnit, calls: Sequence[str]) -> Iterator[Finding]:
        seen: set[tuple[Path, Span]] = set()
        for run in unit.runs:
            for event in run.trace.events:
                key = (event.place.path, event.place.span)
                if key in seen or not self._wants(event, calls):
                    continue
                seen.add(key)
                finding = self._finding(event.place, {"call": event.name})
                finding.statement = event.statement
                finding.symbol = event.stop.frame.name
                yield finding

    def _wants(self, event: Event, calls: Sequence[str]) -> bool:
        if event.kind != "call" or (self.place != "anywhere" and (event.timed > 0) != (self.place == "timed-region")):
            return False
        name = f".{event.name}" if event.target is not None and "." not in event.name else event.name
        return any(fnmatchcase(name, call) for call in calls)

    def _finding(self, place: Place, texts: dict[str, str]) -> Finding:
        texts = {"text": _one_line(place.text), **texts}
        return Finding(place, _filled(self.message, texts), help=_filled(self.help, texts))


def load_pattern(path: Path) -> Pattern:
    """The pattern of a rule's YAML file. Raises :class:`RuleFileError` naming file and key."""
    data = read_yaml(path)
    return read_pattern(data.get("pattern"), path, data.get("options") or {})


def read_pattern(data: Any, path: Path, options: Mapping[str, Any]) -> Pattern:
    """The value of ``pattern``, checked; ``options``: those that the rule declares. Raises RuleFileError naming file and key."""

    def wrong(text: str) -> RuleFileError:
        return RuleFileError(f"{path}: `pattern` {text}")

    if not isinstance(data, dict):
        raise wrong("must be a mapping")
    unknown = sorted(str(key) for key in data.keys() - _KEYS)
    if unknown:
        raise wrong(f"has an unknown key `{unknown[0]}`")
    if ("rust" in data) == ("call" in data):
        raise wrong("must have either `rust` (a tree-sitter query) or `call` (names of calls)")
    option = _option(data.get("call"), options, wrong)
    calls = [] if option else [data["call"]] if isinstance(data.get("call"), str) else data.get("call", [])
    for key in ("rust", "message", "help"):
        if not isinstance(data.get(key, ""), str):
            raise wrong(f"key `{key}` must be a text")
    if not data.get("message"):
        raise wrong("needs a `message`")
    if not isinstance(calls, list) or not all(isinstance(call, str) and call for call in calls):
        raise wrong("key `call` must be a name, a list of names, or `option: NAME`")
    if data.get("place", "anywhere") not in PLACES or ("place" in data and "rust" in data):
        raise wrong(f"key `place` goes with `call` and is one of {', '.join(PLACES)}")
    if "rust" in data:
        _check_query(data["rust"], wrong)
    return Pattern(
        data["message"], data.get("help", ""), data.get("rust", ""), tuple(calls), data.get("place", "anywhere"), option
    )


def _option(call: Any, options: Mapping[str, Any], wrong: Callable[[str], RuleFileError]) -> str:
    """The option that holds the calls; "" for none. Other options would have no effect, and are refused."""
    given = call.get("option") if isinstance(call, dict) and len(call) == 1 else None
    option = given if isinstance(given, str) else None
    idle = [name for name in options if name != option]
    if idle:
        raise wrong(
            f"makes nothing of the option `{idle[0]}`: a rule without code has one at most, for `call: {{option: {idle[0]}}}`"
        )
    if option is not None and (option not in options or options[option]["type"] != "strings"):
        raise wrong(f"key `call` names the option `{option}`, which is not declared with the type strings")
    return option or ""


def _check_query(query: str, wrong: Any) -> None:
    from cutile_lint.frontends.rust.query import BadQuery, compiled

    if f"@{PLACE}" not in query:
        raise wrong(f"key `rust` captures no node as `@{PLACE}`")
    try:
        compiled(query)
    except BadQuery as error:
        raise wrong(f"key `rust` is no query for Rust: {error}") from None


def _one_line(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _QUOTED else text[: _QUOTED - 1] + "…"


def _filled(text: str, texts: dict[str, str]) -> str:
    """``{name}`` replaced; unknown names stay."""
    for name, value in texts.items():
        text = text.replace(f"{{{name}}}", value.replace("`", "'"))
    return text
