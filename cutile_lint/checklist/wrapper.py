"""What the wrapper's runs show: the timed region, launches, the key, the autograd contract."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.checklist.context import Context
from cutile_lint.checklist.verdict import Absent, Evidence, Open, Shown
from cutile_lint.sources import Place
from cutile_lint.unit.autograd.inputs import parameter, refusals, undetached
from cutile_lint.unit.flows.conditions import possible
from cutile_lint.unit.flows.once import seldom
from cutile_lint.unit.launches import Launch, described_tensor
from cutile_lint.unit.machine.paths import contradictory
from cutile_lint.unit.machine.trace import Tuning
from cutile_lint.unit.machine.values import Term, Value, alternatives, subterms
from cutile_lint.unit.runs import Run
from cutile_lint.unit.timed.key_fixes import lacks
from cutile_lint.unit.timed.keys import is_readable
from cutile_lint.unit.timed.percall import for_empty_tensors, reference_does
from cutile_lint.unit.timed.region import use_in_trial
from cutile_lint.unit.timed.unstable_keys import element_places, key_place, unstable

_NOT_TUNED = "nothing is tuned: there is no timed region"


def one_line(place: Place, limit: int = 60) -> str:
    text = " ".join(place.text.split())
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _tuned(context: Context) -> list[tuple[Run, Tuning]]:
    return [(run, tuning) for run in context.unit.runs for tuning in run.tunings]


# ── the timed region ───────────────────────────────────────────────────────


def timed_region(context: Context) -> Iterator[Evidence]:
    """PyTorch's work in each trial, place by place; what is neither an allocation nor a view must be shown to be needed."""
    yield from context.wrapper_gaps
    if not _tuned(context):
        yield Absent(_NOT_TUNED)
        return
    found = context.unit.timed_work
    for item in found:
        text = one_line(item.place)
        if item.kind == "alloc":
            yield Shown(f"allocates uninitialised memory: `{text}`", item.place)
        elif item.kind == "view":
            yield Shown(f"a view: `{text}`", item.place)
        elif item.kind == "fill" and _is_accumulated(context, item):
            yield Shown(f"the kernel accumulates into it: `{text}`", item.place)
        elif item.kind == "copy" and _is_mutated(context, item):
            yield Shown(f"protects an input that the kernel writes: `{text}`", item.place)
        else:
            yield Open(f"`{text}` runs in each trial, and whether it has to is not known", item.place)
    for run, tuning in _tuned(context):
        launches = [launch for launch in run.launches if launch.timed == tuning.number]
        if not launches:
            yield Open("no launch was seen in the timed region", tuning.event.place)
        elif not found:
            yield Shown(f"nothing but the launch of `{launches[0].symbol}`", launches[0].place)


def _is_accumulated(context: Context, item) -> bool:
    uses = [use for one in item.occurrences for _, use in use_in_trial(context.unit, one, one.work.result)]
    return bool(uses) and all(use.accumulates or use.reads for use in uses)


def _is_mutated(context: Context, item) -> bool:
    uses = [use for one in item.occurrences for _, use in use_in_trial(context.unit, one, one.work.result)]
    return bool(uses) and any(use.writes for use in uses)


# ── launches ───────────────────────────────────────────────────────────────


def canary(context: Context) -> Iterator[Evidence]:
    """Every launch of a tuned symbol outside of the timed region, and why it is none of the hot path."""
    yield from context.wrapper_gaps
    pairs = _tuned(context)
    if not pairs:
        yield Absent(_NOT_TUNED)
        return
    for run, tuning in pairs:
        timed = [launch for launch in run.launches if launch.timed == tuning.number]
        for launch in _by_place(timed):
            yield Shown(f"`{launch.symbol}` is launched in the timed region", launch.place)
        symbols = {launch.symbol for launch in timed}
        for launch in run.launches:
            if launch.timed or launch.symbol not in symbols:
                continue
            if contradictory(launch.path, tuning.event.path) or possible(launch.path, tuning.event.path) is False:
                yield Shown("launched with a fixed config on a path without the tuner", _outermost(launch))
            elif seldom(run, launch.event):
                yield Shown("launched before the search once only", _outermost(launch))
            else:
                yield Open("a launch beside the tuned ones on the same path", _outermost(launch))


def _outermost(launch: Launch) -> Place:
    """Where the op's own function starts the way to a launch."""
    return next((stop.frame.call for stop in launch.event.stack if stop.frame.call is not None), launch.place)


def _by_place(launches: list[Launch]) -> list[Launch]:
    return list({launch.place: launch for launch in launches}.values())


def launch_count(context: Context) -> Iterator[Evidence]:
    yield from context.wrapper_gaps
    for run, tuning in _tuned(context):
        timed = [launch for launch in run.launches if launch.timed == tuning.number]
        yield from _per_trial(timed)
    if context.unit.runs and not _tuned(context):
        for run in context.unit.runs:
            yield from _per_trial(run.launches)
    for item in context.unit.call_work:
        text = one_line(item.event.place)
        if item.seldom or for_empty_tensors(item.event):
            yield Shown(f"not on an ordinary call: `{text}`", item.event.place)
        elif item.verb in ("contiguous", "reshape"):
            yield Shown(f"copies only what is not contiguous: `{text}`", item.event.place)
        elif reference_does(context.unit, item):
            yield Shown(f"the reference does it too: `{text}`", item.event.place)
        else:
            yield Open(f"`{text}` runs on each call beside the launch", item.event.place)


def _per_trial(launches: list[Launch]) -> Iterator[Evidence]:
    for at, launch in enumerate(launches):
        again = [other for other in launches[:at] if other.symbol == launch.symbol and not contradictory(other.path, launch.path)]
        if again:
            yield Open(f"`{launch.symbol}` is launched again on one path", _outermost(launch))
        elif launch.event.loops:
            yield Shown(f"`{launch.symbol}` is launched in a loop", launch.place)
        else:
            yield Shown(f"one launch of `{launch.symbol}`", launch.place)


# ── the key ────────────────────────────────────────────────────────────────


def autotune_key(context: Context) -> Iterator[Evidence]:
    yield from context.wrapper_gaps
    yield from context.export_gaps
    if not _tuned(context):
        yield Absent(_NOT_TUNED)
        return
    for _, tuning in _tuned(context):
        place = key_place(tuning)
        if tuning.key is None:
            yield Open("the tuner gets no key", tuning.event.place)
        elif not is_readable(tuning.key):
            yield Open(f"the key `{one_line(place)}` could not be followed to its end", place)
        else:
            names = [one_line(one, 24) for one in element_places(context.unit, tuning.key) if one is not None]
            told = ", ".join(f"`{name}`" for name in names) if names else f"`{one_line(place)}`"
            yield Shown(f"key: {told}", place)
    for lack in lacks(context.unit, context.options("CTL108")["ignore-names"]):
        yield Open("the key lacks something that changes the launch", key_place(lack.tuning))
    for found in unstable(context.unit):
        yield Open(f"{found.name} {found.reason}", found.place)


# ── autograd ───────────────────────────────────────────────────────────────


def detached(context: Context) -> Iterator[Evidence]:
    """Each tensor input that reaches a launch, and where it is detached."""
    yield from context.wrapper_gaps
    for run in context.unit.runs:
        left = list(undetached(run))
        for found in left:
            param = parameter(run, found.input)
            name = param.name if param is not None else found.input.name
            yield Open(f"`{name}` reaches the launch with its graph on some path", found.launch.place)
        kept = {found.input.name for found in left}
        for name, place in _inputs(run).items():
            if name in kept:
                continue
            if place is not None:
                yield Shown(f"`{name}` is detached", place)
            else:
                yield Shown(
                    f"`{name}` does not reach the launch with a graph",
                    Place(run.source, run.function.name_span or run.function.span),
                )


def _inputs(run: Run) -> dict[str, Place | None]:
    """Tensor inputs that reach a launch, each with the place of a ``detach`` on its way."""
    found: dict[str, Place | None] = {}
    for launch in run.launches:
        for argument in launch.arguments.positional:
            tensor = described_tensor(argument, run.program)
            for _, one in alternatives(tensor) if tensor is not None else ():
                for name in _roots(one):
                    found.setdefault(name, None)
                for part in subterms(one):
                    if isinstance(part, Term) and part.op == "method" and part.name in ("detach", "detach_"):
                        for name in _roots(part):
                            found[name] = found.get(name) or part.place
    return found


def _roots(value: Value) -> list[str]:
    """The input that a tensor is a view or a copy of; sizes of others do not count."""
    names: list[str] = []
    stack = [value]
    while stack:
        one = stack.pop()
        if isinstance(one, Term) and one.op == "input":
            names.append(one.name)
        elif isinstance(one, Term) and one.op == "method" and one.args and not one.name.startswith("new_"):
            stack += [inner for _, inner in alternatives(one.args[0])]
        elif isinstance(one, Term) and one.op == "attr" and one.name in ("data", "mT", "T", "H", "mH"):
            stack += [inner for _, inner in alternatives(one.args[0])]
        elif isinstance(one, Term) and one.op in ("index", "element") and one.args:
            stack += [inner for _, inner in alternatives(one.args[0])]
    return names


def accepts_grad(context: Context) -> Iterator[Evidence]:
    yield from context.wrapper_gaps
    for run in context.unit.runs:
        refused = list(refusals(run))
        for found in refused:
            yield Open("fails for inputs that require grad", found.place)
        raised = [event for event in run.trace.events if event.kind in ("raise", "assert")]
        if not refused:
            place = Place(run.source, run.function.name_span or run.function.span)
            yield Shown(f"none of {len(raised)} raises and asserts is about `requires_grad`", place)
