"""Autotune keys: what a key must tell apart and what it lacks. The tuner keeps configs under the kernel's name and the key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.records import dataclass, field
from cutile_lint.sources import Place
from cutile_lint.unit.flows.determined import Determined, atoms, bare, canonical, leaves
from cutile_lint.unit.launches import Launch, described_tensor
from cutile_lint.unit.machine.trace import Tuning
from cutile_lint.unit.machine.value_objects import opened
from cutile_lint.unit.machine.values import (
    Choice,
    Closure,
    Condition,
    Entries,
    Items,
    Known,
    Partial,
    Record,
    Term,
    Value,
    alternatives,
    subterms,
)
from cutile_lint.unit.runs import Run
from cutile_lint.unit.timed.calls import Calls
from cutile_lint.unit.timed.key_dtypes import KeyDtypes
from cutile_lint.unit.timed.tensors import tensor_test

if TYPE_CHECKING:
    from cutile_lint.unit.boundary.slots import Boundary
    from cutile_lint.unit.model import KernelUnit


@dataclass(slots=True, eq=False)
class Need:
    """A value that tells launches apart. ``role``: "generic", "variant", "configs", "size", "dtype"; ``what`` it becomes.

    ``path``: of the launch; ``exact``: whenever it differs, so does the launched work.
    """

    value: Value
    role: str
    what: str
    place: Place
    path: Condition = ()
    exact: bool = False


@dataclass(slots=True, eq=False)
class Lack:
    """An incomplete key: the atoms it lacks, each with what they are needed for."""

    run: Run
    tuning: Tuning
    key: Value
    missing: dict[object, tuple[Value, Need]] = field(default_factory=dict)


def lacking(unit: KernelUnit) -> Iterator[Lack]:
    """The keys that lack something, for tuner calls whose key is known."""
    for run in unit.runs:
        for tuning in run.tunings:
            key = key_of(run, tuning)
            name = _settled(run, tuning.kernel_name) if tuning.kernel_name is not None else Known("unknown")
            if key is None or not is_readable(key) or not is_readable(name):
                continue
            path = tuning.event.path
            given = Determined([*leaves(key), *_whole(key), name], path, unit.program)
            lack = Lack(run, tuning, key)
            needed = list(needs(unit, run, tuning))
            calls = Calls(run, tuning, (key, name), unit.program)
            dtypes = KeyDtypes(given, [*leaves(key), *_whole(key), name], path)
            for need in needed:
                for atom in _missing(given, need, path, calls, dtypes, needed):
                    lack.missing.setdefault(canonical(atom), (atom, need))
            if lack.missing:
                yield lack


def key_of(run: Run, tuning: Tuning) -> Value | None:
    """The key as it tells calls apart: its objects opened, and without what only stands for values that are no tensors, or are some."""
    return opened(_settled(run, tuning.key)) if tuning.key is not None else None


def _settled(run: Run, value: Value) -> Value:
    """The value without the alternatives and items that tests of its tensors rule out."""
    if isinstance(value, Choice):
        kept = [(left, _settled(run, one)) for path, one in value.alternatives if (left := _left(run, path)) is not None]
        return kept[0][1] if len(kept) == 1 and not kept[0][0] else Choice(kept or value.alternatives, value.place, value.trail)
    if isinstance(value, Items) and value.kind in ("tuple", "list"):
        lefts = [_left(run, condition) for condition in value.conditions]
        items = [_settled(run, item) for item in value.items]
        if lefts != value.conditions or any(new is not old for new, old in zip(items, value.items, strict=True)):
            rest = [(item, left) for item, left in zip(items, lefts, strict=True) if left is not None]
            made = Items(value.kind, [item for item, _ in rest], value.place, [left for _, left in rest], value.born)
            made.open = value.open
            return made
    return value


def _left(run: Run, path: Condition) -> Condition | None:
    """What is open of a path; None when it is not taken."""
    answers = [run.tensors.says(literal) for literal in path]
    return None if False in answers else tuple([one for one, answer in zip(path, answers, strict=True) if answer is None])


def _whole(key: Value) -> list[Value]:
    """What tells more than its leaves: nested tuples, and which of several keys it is."""
    items = [item for _, one in alternatives(key) if isinstance(one, Items) for item in one.items]
    return [*items, key] if isinstance(key, Choice) else items


def is_readable(key: Value) -> bool:
    """Every element is a value that was followed to its end."""
    for path, one in alternatives(key):
        if any(tensor_test(literal.test) is not None for literal in path):
            return False
        if isinstance(one, Items):
            if one.open or any(one.conditions) or not all(is_readable(item) for item in one.items):
                return False
        elif _is_length(bare(one)):
            continue
        elif any(_is_closed(part) for part in subterms(one)):
            return False
        elif isinstance(bare(one), Term) and bare(one).op == "call" and bare(one).serial and not _is_plain(bare(one)):  # type: ignore[attr-defined]
            return False
    return True


def _is_length(value: Value) -> bool:
    """The length of lists that are known: a number, whatever they hold."""
    if not (isinstance(value, Term) and value.op == "call" and value.name == "len" and value.args):
        return False
    return all(isinstance(one, Items) and not one.open and not any(one.conditions) for _, one in alternatives(value.args[0]))


def _is_closed(value: Value) -> bool:
    """What is not known, or an object that is not compared by what it holds."""
    if isinstance(value, Term):
        return value.op in ("unknown", "payload", "raised")
    return isinstance(value, (Closure, Entries, Partial, Record))


def _is_plain(value: Term) -> bool:
    return (
        value.name in ("id", "hash")
        or value.name.startswith(("torch.", "tilegym."))
        or value.name.rsplit(".", 1)[-1] == "next_power_of_2"
    )


# ── needs ──────────────────────────────────────────────────────────────────


def needs(unit: KernelUnit, run: Run, tuning: Tuning) -> Iterator[Need]:
    """What the key must tell apart, the strictest needs first."""
    launches = [launch for launch in run.launches if launch.timed == tuning.number]
    boundaries = {boundary.symbol: boundary for boundary in unit.boundary}
    tensors: list[tuple[Value, Place]] = []
    dispatched = False
    for launch in launches:
        boundary = boundaries.get(launch.symbol)
        if boundary is None or not boundary.is_aligned(launch):
            continue
        dispatched = dispatched or _dispatches(boundary)
        choosers = _choosers(boundary)
        for slot in boundary.slots:
            value, place = launch.arguments.positional[slot.index], launch.argument_place(slot.index)
            roles = slot.roles()
            if slot.is_descriptor:
                tensor = described_tensor(value, unit.program)
                if tensor is not None:
                    tensors.append((tensor, place))
            elif slot.option is not None or roles & {"device", "stream"}:
                continue
            elif "generic" in roles:
                name = next(use.name or slot.name for use in slot.uses if use.role == "generic")
                yield Need(value, "generic", f"the const generic `{name}`", place, launch.path, True)
            elif "condition" in roles and slot.name in choosers:
                yield Need(value, "variant", f"`{slot.name}`, which chooses the kernel", place, launch.path, True)
            elif slot.type in ("i32", "i64", "u32", "u64", "usize", "isize") and roles:
                yield Need(value, "size", f"`{slot.name}`", place, launch.path, "grid" in roles)
    yield from _path_needs(tuning, launches)
    yield from _config_needs(tuning)
    inputs = {root.name: (root, place) for tensor, place in tensors for root in _origins(tensor)}
    for root, place in list(inputs.values())[:1]:
        if dispatched:
            yield Need(Term("attr", "dtype", (root,)), "dtype", "the element type", place)
        yield Need(Term("attr", "shape", (root,)), "shape", "the grid", place)
    for size in _sizes_read(run, tuning, set(inputs)):
        yield Need(size, "size", "the launched work", inputs[size.args[0].args[0].name][1])  # type: ignore[attr-defined]


def _origins(tensor: Value) -> Iterator[Term]:
    """The parameters that a tensor is a view or a copy of."""
    for _, one in alternatives(tensor):
        while isinstance(one, Term) and one.op in ("method", "attr") and one.args:
            inner = one.args[0]
            if isinstance(inner, Choice):
                yield from _origins(inner)
            one = inner
        if isinstance(one, Term) and one.op == "input":
            yield one


def _sizes_read(run: Run, tuning: Tuning, names: set[str]) -> Iterator[Term]:
    """Sizes of the launched inputs that the wrapper hands on (to a shape, a launch) or finds equal to another; one of equal ones."""
    handed: dict[object, Term] = {}
    for event in run.trace.events:
        work = event.target is not None or event.name.startswith("torch.")
        if event.kind == "call" and work and event.arguments is not None and event.timed in (0, tuning.number):
            for value in event.arguments.positional:
                handed.update({part.key(): part for part in subterms(value) if _is_size_of(part, names)})  # type: ignore[misc]
    yield from handed.values()
    for literal in tuning.event.path:
        test = literal.test
        if literal.holds and isinstance(test, Term) and test.op == "compare" and test.name == "==":
            first, second = (bare(arg) for arg in test.args)
            if (
                _is_size_of(first, names)
                and _is_size_of(second, names)
                and first.key() not in handed
                and second.key() not in handed
            ):
                yield first  # type: ignore[misc]


def _is_size_of(value: Value, names: set[str]) -> bool:
    if not (isinstance(value, Term) and value.op == "index" and isinstance(value.args[1], Known)):
        return False
    base = value.args[0]
    tensor = base.args[0] if isinstance(base, Term) and base.op == "attr" and base.name == "shape" else None
    return isinstance(tensor, Term) and tensor.op == "input" and tensor.name in names


def _choosers(boundary: Boundary) -> set[str]:
    """Parameters of the export that decide which kernel is launched (a test that all launches pass decides nothing)."""
    paths = [{literal.key(): literal for literal in launch.path} for launch in boundary.kernel_launches]
    common = set.intersection(*(set(path) for path in paths)) if paths else set()
    return {
        part.name
        for path in paths
        for key, literal in path.items()
        if key not in common
        for part in subterms(literal.test)
        if isinstance(part, Term) and part.op == "input"
    }


def _dispatches(boundary: Boundary) -> bool:
    """The export chooses the element type of an entry at run time."""
    for launch in boundary.kernel_launches:
        generics = launch.entry.generics if launch.entry is not None else []
        given = launch.generics.items if launch.generics is not None else []
        if any(one.kind == "type" and not isinstance(value, Known) for one, value in zip(generics, given, strict=False)):
            return True
    return False


def _path_needs(tuning: Tuning, launches: list[Launch]) -> Iterator[Need]:
    """Branches of the timed region that choose between launches."""
    before = {literal.key() for literal in tuning.event.path}
    for launch in launches:
        for literal in launch.path:
            if literal.key() not in before and _is_branch(literal.test):
                place = literal.test.place or launch.place
                yield Need(literal.test, "variant", f"which launch of `{launch.symbol}` runs", place, exact=True)


def _config_needs(tuning: Tuning) -> Iterator[Need]:
    """Conditions and values that the list of configs depends on."""
    before = {literal.key() for literal in tuning.event.path}
    paths: list[Condition] = []
    for path, value in alternatives(tuning.configs) if tuning.configs is not None else ():
        paths.append(path)
        if isinstance(value, Items):
            paths += value.conditions
            for item in value.items:
                for part in subterms(item):
                    if isinstance(part, (Term, Choice)) and part is not item:
                        yield Need(part, "configs", "the list of configs", part.place or tuning.event.place)
    for path in paths:
        for literal in path:
            if literal.key() not in before:
                yield Need(literal.test, "configs", "the list of configs", literal.test.place or tuning.event.place, exact=True)


def _is_branch(test: Value) -> bool:
    return not any(isinstance(part, Term) and part.op in ("unknown", "field", "config") for part in subterms(test))


# ── what is absent ─────────────────────────────────────────────────────────


def _missing(
    given: Determined, need: Need, path: Condition, calls: Calls, dtypes: KeyDtypes, needed: list[Need]
) -> Iterator[Value]:
    """The atoms that the key lacks for a need. Where it says something about them, two calls that share a key decide."""
    found = list(_absent(given, need, path, dtypes))
    if need.exact and given.answer(need.value) is not True and all(map(given.mentions, found)):
        others = [other.value for other in needed if other.role == "variant" and other.exact]
        shared = calls.share_a_key(need.value, need.path, [] if need.role in ("variant", "configs") else others)
        if shared and need.role == "size" and calls.rounds:
            return
        if shared:
            found = [atom for atom in atoms(need.value) if given.answer(atom) is not True]
        elif shared is False:
            return
    yield from found


def _absent(given: Determined, need: Need, path: Condition, dtypes: KeyDtypes) -> Iterator[Value]:
    """The atoms of a need that the key neither holds nor settles."""
    if need.role == "shape":
        if not given.has_sizes:
            yield need.value
        return
    if need.role == "dtype":
        if given.answer(need.value) is False and not _one_dtype(need.value, path):
            if not given.mentions_dtype() or dtypes.share_a_key(need.value):
                yield need.value
        return
    if any(isinstance(part, Term) and part.op in ("unknown", "element", "payload") for part in subterms(need.value)):
        return
    lenient = need.role == "size"
    answer = given.answer(need.value)
    if answer is True or (answer is None and not lenient):
        return
    for atom in atoms(need.value):
        if given.answer(atom) is not False:
            continue
        if (lenient or need.role in ("variant", "configs")) and given.mentions(atom):
            continue
        if lenient and isinstance(atom, Term) and atom.op == "input":
            continue  # a runtime number
        if (
            isinstance(atom, Term)
            and atom.op == "attr"
            and atom.name == "dtype"
            and (_one_dtype(atom, path) or (given.mentions_dtype() and not dtypes.share_a_key(atom, need.value)))
        ):
            continue
        yield atom


def _one_dtype(value: Value, path: Condition) -> bool:
    """The path allows one dtype of the tensor only."""
    key = canonical(value)
    for literal in path:
        test = literal.test
        if not literal.holds or not isinstance(test, Term) or test.op != "compare" or canonical(test.args[0]) != key:
            continue
        other = test.args[1]
        if test.name in ("==", "is") and isinstance(other, Term) and other.op == "external":
            return True
        if test.name == "in" and isinstance(other, Items) and len(other.items) == 1:
            return True
    return False
