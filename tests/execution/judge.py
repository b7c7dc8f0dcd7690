"""What each rule should say about a wrapper, counted from calls of its ops; nothing here knows how the rules come to their verdicts.

An *ordinary* trial is any but the first of its config, in a second call of the op: what happens once (guards, caches) is over by then.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.execution.drives import Drive, drives
from tests.execution.trace import Event, Site, Trial
from tests.execution.world import Outcome, World, same

REPEATS = 2


@dataclass(slots=True)
class Ran:
    """The ordinary call of an op with one drive."""

    op: str
    drive: Drive
    outcome: Outcome

    @property
    def ordinary(self) -> list[Event]:
        """Events of the ordinary trials."""
        return [event for event in self.outcome.events if event.trial is not None and event.trial.repetition != 0]

    @property
    def per_call(self) -> list[Event]:
        return [event for event in self.outcome.events if event.trial is None]


@dataclass(slots=True)
class Counted:
    """What a rule should report: places, or names of inputs. ``idle``: the places where nothing was copied in any call.

    ``problems``: what is counted and has no place.
    """

    sites: set[Site] = field(default_factory=set)
    idle: set[Site] = field(default_factory=set)
    inputs: set[str] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)


def run_all(world: World, **chosen: Any) -> list[Ran]:
    """Each op with each drive (``chosen`` as in :func:`drives`): a call that pays for what happens once, then the ordinary one."""
    found = []
    for op, function in world.ops.items():
        for drive in drives(op, function, **chosen):
            world.call(op, drive, 0)
            found.append(Ran(op, drive, world.call(op, drive, REPEATS)))
    return found


# ── the timed region ──


def _written_and_read(ran: Ran, event: Event) -> bool:
    """A launch of the trial reads what is in the memory and writes it: without the fill or copy it would go on from the last trial."""
    memory = {*event.made, *event.storages[:1]} if event.name.endswith("_") else set(event.made)
    return any(
        launch.trial == event.trial and memory & set(launch.detail["written"]) & set(launch.detail["read"])
        for launch in ran.outcome.launches
    )


def _work(*kinds: str) -> Callable[[World, list[Ran], list[Site]], Counted]:
    def count(world: World, runs: list[Ran], said: list[Site]) -> Counted:
        found = Counted()
        busy = set()
        for ran in runs:
            for event in ran.ordinary:
                if event.kind in kinds and event.site is not None:
                    if event.kind in ("fill", "copy") and _written_and_read(ran, event):
                        continue
                    found.sites.add(event.site)
                    if event.kind != "noop":
                        busy.add(event.site)
        found.idle = found.sites - busy
        return found

    return count


# ── launches ──


def _skippable(world: World, ran: Ran, chosen: list[Event]) -> bool:
    """The op gives the same without these launches."""
    numbers = {_number(ran.outcome, event) for event in chosen}
    counter = iter(range(len(ran.outcome.launches) + 1))
    again = world.call(ran.op, ran.drive, REPEATS, skip=lambda event: next(counter) in numbers)
    return again.gives_the_same_as(ran.outcome)


def _number(outcome: Outcome, event: Event) -> int:
    return next(at for at, one in enumerate(outcome.launches) if one is event)


def _at(event: Event, site: Site) -> bool:
    return any(site == one or (site.meets(one) and one == event.site) for one in event.sites)


def _lost(world: World, ran: Ran, groups: list[list[Event]], said: list[Site]) -> tuple[set[Site], set[Site]]:
    """Where launches stand that can be left out, and where all stand.

    ``groups``: launches of one symbol that happen in one trial, or before one call of the tuner. A launch that a finding points at is
    tried first: of two equal ones either may be called the superfluous one.
    """

    def name(event: Event) -> Site:
        return next((site for site in said if _at(event, site)), event.sites[-2] if len(event.sites) > 1 else event.sites[-1])

    group = groups[-1]
    ordered = sorted(range(len(group)), key=lambda at: (not any(_at(group[at], site) for site in said), at))
    gone: list[Event] = []
    lost = set()
    for at in ordered:
        every = [one[at] for one in groups if len(one) == len(group)]
        last = len(lost) + 1 == len(group) and group[at].trial is not None  # one launch of a trial stays
        if not last and _skippable(world, ran, [*gone, *every]):
            gone += every
            lost.add(name(group[at]))
    return lost, {name(event) for event in group}


def _lost_in_all(world: World, runs: list[Ran], groups: Callable[[Ran], list[list[Event]]], said: list[Site]) -> Counted:
    """Places of launches that can be left out in every call that comes there."""
    lost: dict[Site, bool] = {}
    for ran in runs:
        if ran.drive.is_usual and (found := groups(ran)):
            gone, every = _lost(world, ran, found, said)
            for site in every:
                lost[site] = lost.get(site, True) and site in gone
    return Counted(sites={site for site, always in lost.items() if always})


def _repeated(world: World, runs: list[Ran], said: list[Site]) -> Counted:
    def groups(ran: Ran) -> list[list[Event]]:
        trials: dict[object, list[Event]] = defaultdict(list)
        for event in ran.outcome.launches:
            if event.trial is not None and event.trial.repetition != 0:
                trials[event.trial, event.name].append(event)
        return [group for group in trials.values() if len(group) > 1]

    return _lost_in_all(world, runs, groups, said)


def _canaries(world: World, runs: list[Ran], said: list[Site]) -> Counted:
    def groups(ran: Ran) -> list[list[Event]]:
        launches = ran.outcome.launches
        first = next((at for at, event in enumerate(launches) if event.trial is not None), 0)
        tuned = {event.name for event in launches if event.trial is not None}
        before = [event for event in launches[:first] if event.name in tuned]
        return [before] if before else []

    return _lost_in_all(world, runs, groups, said)


def _relaunched(world: World, runs: list[Ran], said: list[Site]) -> Counted:
    """Launches after the tuner that read the same values and give the same as the tuner's last one."""
    found = Counted()
    for ran in runs:
        timed = {event.trial is not None for event in ran.outcome.launches}
        if not ran.drive.is_usual or timed != {True, False}:
            continue
        last: dict[str, Event] = {}
        for event in world.call(ran.op, ran.drive, REPEATS, keep=True).launches:
            if event.trial is not None:
                last[event.name] = event
            elif (tuned := last.get(event.name)) is not None and all(
                same(event.detail[key], tuned.detail[key]) for key in ("before", "after")
            ):
                found.sites.add(next((site for site in said if _at(event, site)), event.site))  # type: ignore[arg-type]
    return found


# ── allocations, copies per call, carried state ──


def _allocations(world: World, runs: list[Ran], said: list[Site]) -> Counted:
    """Memory taken before the tuner's trials, of a size that they take too, that in no call a launch gets, anything is computed from or
    anybody returns."""
    used: dict[Site, bool] = {}
    for ran in runs:
        events = ran.outcome.events
        first = next((at for at, event in enumerate(events) if event.trial is not None), len(events))
        sizes = {event.detail["bytes"] for event in ran.ordinary if event.kind in ("alloc", "fill")}
        for at, event in enumerate(events[:first]):
            if event.kind not in ("alloc", "fill") or event.site is None or not event.made or ran.outcome.error is not None:
                continue
            memory = event.made[0]
            read = any(memory in later.storages and later.name not in ("empty_like", "new_empty") for later in events[at + 1 :])
            other = bool(sizes) and event.detail["bytes"] not in sizes
            used[event.site] = used.get(event.site, False) or read or other or memory in ran.outcome.returned
    return Counted(sites={site for site, one in used.items() if not one})


def _copies(world: World, runs: list[Ran], said: list[Site]) -> Counted:
    """Copies on every ordinary call, of tensors that lie well, into memory of the call which nothing writes to afterwards."""
    usual = [ran for ran in runs if ran.drive.is_usual and not ran.drive.strided and ran.outcome.error is None]
    timed = {event.site for ran in runs for event in ran.outcome.events if event.trial is not None}
    per_run = [{site for site in _lasting_copies(ran.outcome.events) if site not in timed} for ran in usual]
    return Counted(sites=set.intersection(*per_run) if per_run else set())


def _lasting_copies(events: list[Event]) -> Iterator[Site]:
    taken: set[int] = set()
    for at, event in enumerate(events):
        if event.kind == "alloc":
            taken.update(event.made)
        if event.trial is not None or event.kind != "copy" or event.site is None:
            continue
        memory = set(event.storages[:1] if event.name == "copy_" else event.made)
        if event.name == "copy_" and not (memory <= taken and _is_clone(event)):
            continue
        written = any(
            memory & set(later.detail.get("written", ())) or (later.name.endswith("_") and memory & set(later.storages[:1]))
            for later in events[at + 1 :]
        )
        if not written:
            yield event.site


def _is_clone(event: Event) -> bool:
    """A ``copy_`` that fills new memory with the same values in the same type: no padding, no conversion."""
    target, source = event.detail["tensors"][:2]
    return target.dtype == source.dtype and event.detail["bytes"] == target.untyped_storage().nbytes()


def _carried(world: World, runs: list[Ran], said: list[Site]) -> Counted:
    """The op's values change with the number of trials; the buffers that a launch adds to and that no trial has made."""
    found = Counted()
    for ran in runs:
        if not ran.drive.is_usual or world.call(ran.op, ran.drive, REPEATS + 2).gives_the_same_as(ran.outcome):
            continue
        for launch in ran.outcome.launches:
            for memory in launch.detail["accumulated"]:
                made = [event for event in ran.outcome.events if memory in event.made]
                if launch.trial is not None and not any(event.trial is not None for event in made):
                    sites = {event.site for event in made if event.site is not None} or {launch.site}
                    found.sites |= sites  # type: ignore[arg-type]
    return found


# ── autograd ──


def plain_run(runs: list[Ran], ran: Ran) -> Ran | None:
    return next(
        (one for one in runs if one.op == ran.op and one.drive.name == "plain" and one.drive.parameters == ran.drive.parameters),
        None,
    )


def is_error(outcome: Outcome) -> bool:
    """It raised, or gave what stands for "not supported"."""
    value = outcome.value
    return outcome.error is not None or value is None or value is NotImplemented or (isinstance(value, int) and value <= 0)


def _refused(world: World, runs: list[Ran], said: list[Site]) -> Counted:
    """Places where a call fails because of inputs that require grad: without that it works."""
    found = Counted()
    for ran in runs:
        if ran.drive.grad and is_error(ran.outcome):
            plain = plain_run(runs, ran)
            if plain is not None and not is_error(plain.outcome):
                sites = ran.outcome.error_sites
                if sites:
                    found.sites.add(next((site for site in said if any(site.meets(one) for one in sites)), sites[-1]))
                else:
                    found.problems.append(f"`{ran.op}` returns an error for {ran.drive.name}")
    return found


def _attached(world: World, runs: list[Ran], said: list[Site]) -> Counted:
    """Inputs that a launch gets as part of an autograd graph."""
    found = Counted()
    for ran in runs:
        if len(ran.drive.grad) == 1 and any(any(event.detail["grad"].values()) for event in ran.outcome.launches):
            found.inputs |= set(ran.drive.grad)
    return found


COUNTS: dict[str, Callable[[World, list[Ran], list[Site]], Counted]] = {
    "CTL101": _work("fill"),
    "CTL102": _work("copy", "noop"),
    "CTL103": _work("compute"),
    "CTL104": _repeated,
    "CTL105": _canaries,
    "CTL106": _allocations,
    "CTL107": _work("sync"),
    "CTL110": _relaunched,
    "CTL111": _copies,
    "CTL113": _carried,
    "CTL301": _refused,
    "CTL302": _attached,
}


def last_trials(runs: Iterable[Ran]) -> Iterator[tuple[str, str, Counter[str]]]:
    """Op, drive, and how often each kind of work happens in the trial that gives the output; one item for each call of the tuner."""
    for ran in runs:
        trials: dict[Trial, Counter[str]] = defaultdict(Counter)
        for event in ran.ordinary:
            if event.trial is not None and event.trial.repetition == -1:
                trials[event.trial][event.kind] += 1
        for counts in trials.values():
            yield ran.op, ran.drive.name, counts
