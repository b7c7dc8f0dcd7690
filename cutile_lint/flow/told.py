"""Values in a few words: what an argument stands for, and where it comes from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from cutile_lint.sources import Place
from cutile_lint.unit.flows.configs import Config
from cutile_lint.unit.launches import described_tensor
from cutile_lint.unit.linking.program import Program
from cutile_lint.unit.machine.paths import contradictory
from cutile_lint.unit.machine.values import Choice, Condition, Known, Literal, Term, Value, alternatives, subterms

#: Values of a config that are listed; more are counted.
LISTED = 6


class Told(NamedTuple):
    text: str
    source: str
    kind: str


def one_line(text: str) -> str:
    return " ".join(text.split())


def told(value: Value, program: Program, configs: Iterable[Config]) -> Told:
    """What a value is, in words; ``configs``: those of the tuner call around it."""
    tensor = described_tensor(value, program)
    if tensor is not None:
        return _tensor(tensor)
    found = list(dict.fromkeys(_plain(leaf, list(configs)) for _, leaf in alternatives(value)))
    # a helper that turns None into the sentinel: the config's value is what is told
    real = [one for one in found if one.kind != "constant"] or found
    if len(real) == 1:
        return real[0]
    text = " or ".join(one.text for one in real[:3]) + (" or …" if len(real) > 3 else "")
    kinds = {one.kind for one in real}
    return Told(text, "", kinds.pop() if len(kinds) == 1 and "constant" in kinds else "computed")


def value_is_listed(text: str, kind: str) -> bool:
    """The words tell more than that a config's field is read."""
    return kind != "config" or ": " in text


def _plain(value: Value, configs: list[Config]) -> Told:
    while isinstance(value, Term) and value.op in ("call", "convert") and value.name in ("int", "float", "bool") and value.args:
        inner = value.args[0]
        if isinstance(inner, Choice):
            parts = dict.fromkeys(_plain(leaf, configs) for _, leaf in alternatives(inner))
            return next(iter(parts)) if len(parts) == 1 else Told("computed", "", "computed")
        value = inner
    if isinstance(value, Known):
        return Told(repr(value.value), repr(value.value), "constant")
    if isinstance(value, Term) and value.op == "field":
        name = f"cfg.{value.name}"
        given = [item for config in configs if (item := config.fields.get(value.name)) is not None]
        known = list(dict.fromkeys(item.value for item in given if isinstance(item, Known)))
        listed = ", ".join(str(item) for item in known[:LISTED]) + (", …" if len(known) > LISTED else "")
        return Told(f"{name}: {listed}" if listed else name, name, "config")
    if isinstance(value, Term) and value.op == "input":
        return Told(value.name, value.name, "input")
    names = list(dict.fromkeys(part.name for part in subterms(value) if isinstance(part, Term) and part.op == "input"))
    return Told(f"from {', '.join(names[:3])}" if names else "computed", "", "computed")


def _tensor(value: Value) -> Told:
    found = list(dict.fromkeys(_one_tensor(leaf) for _, leaf in alternatives(value)))
    if len(found) == 1:
        return found[0]
    sources = {one.source for one in found}
    text = " or ".join(one.text for one in found[:2]) + (" or …" if len(found) > 2 else "")
    return Told(text, sources.pop() if len(sources) == 1 else "", found[0].kind)


def _one_tensor(value: Value) -> Told:
    done: list[str] = []
    while isinstance(value, Term) and value.op in ("method", "attr") and value.args:
        done.append(f".{value.name}")
        inner = value.args[0]
        value = alternatives(inner)[0][1] if isinstance(inner, Choice) else inner
    chain = "".join(dict.fromkeys(reversed(done)))
    if isinstance(value, Term) and value.op == "input":
        made = next((name for name in done if name.startswith(".new_")), "")
        if made:
            return Told(f"{value.name}{made}", f"{value.name}{made}", "new")
        return Told(f"{value.name}{chain}", value.name, "input")
    if isinstance(value, Term) and value.op == "call" and value.name:
        return Told(value.name, value.name, "new")
    return Told("tensor", "", "computed")


def condition(path: Condition, common: set[object]) -> str:
    """The tests of a path that are not ``common`` to all, as the source says them."""
    parts = []
    for literal in path:
        if literal.key() in common or contradictory((literal,)):
            continue
        text = _test(literal)
        if text and text not in parts:
            parts.append(text)
    return " and ".join(parts)


def _test(literal: Literal) -> str:
    """The test as the source says it. A path keeps `a != b` as `a == b` that does not hold; the place's text is the original."""
    place: Place | None = literal.test.place
    if place is None:
        return ""
    text = one_line(place.text)
    operator = literal.test.name if isinstance(literal.test, Term) and literal.test.op == "compare" else ""
    holds = literal.holds is not (operator == "==" and "!=" in text)
    if holds:
        return text
    for sign, opposite in (("==", "!="), ("!=", "==")):
        if text.count(sign) == 1:
            return text.replace(sign, opposite)
    return f"not {text}" if text.isidentifier() else f"not ({text})"
