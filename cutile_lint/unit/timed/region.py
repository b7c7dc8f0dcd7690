"""The timed region: PyTorch's device work in it, place by place, and the way that leads there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.findings import Related
from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass, field
from cutile_lint.sources import Place
from cutile_lint.unit.flows.once import seldom
from cutile_lint.unit.launches import Launch
from cutile_lint.unit.machine.trace import Frame, Stop, Tuning
from cutile_lint.unit.machine.values import Term, Value
from cutile_lint.unit.runs import Run
from cutile_lint.unit.timed.tensors import Work

if TYPE_CHECKING:
    from cutile_lint.unit.device.effects import BufferUse
    from cutile_lint.unit.model import KernelUnit

#: Kinds of work that take time on the device: only of these it matters whether they run in every trial.
_COSTLY = frozenset(["fill", "copy", "compute", "sync"])
#: Longer source texts are not quoted in a message.
_QUOTED = 48


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One time that a run comes to a place: the work that it does there, and the tuner call whose trials it is part of (None: of none)."""

    run: Run
    tuning: Tuning | None
    work: Work

    @property
    def inside(self) -> tuple[Stop, ...]:
        """The stops from ``kernel_fn`` on, innermost last."""
        return self.work.event.stack[len(self.tuning.event.stack) :] if self.tuning is not None else ()

    def launches(self) -> Iterator[Launch]:
        """The launches of the same trial (or of the run outside of all trials)."""
        return (launch for launch in self.run.launches if launch.timed == self.work.event.timed)


@dataclass(slots=True, eq=False)
class TimedWork:
    """Device work at one place of the timed region, with every occurrence in the unit's runs."""

    kind: str
    place: Place
    occurrences: list[Occurrence] = field(default_factory=list)

    @property
    def first(self) -> Occurrence:
        return self.occurrences[0]

    @property
    def work(self) -> Work:
        return self.first.work

    @property
    def statement(self) -> Place | None:
        return self.work.event.statement

    @property
    def symbol(self) -> str:
        """The name of the function around the place."""
        names = [stop.frame.name for stop in self.work.event.stack if stop.frame.name]
        return names[-1] if names else ""

    @property
    def call(self) -> syntax.Call | None:
        node = self.work.event.node
        return node if isinstance(node, syntax.Call) else None

    @property
    def in_handler(self) -> bool:
        """It runs in an ``except`` clause."""
        path = self.work.event.path
        return any(literal.holds and isinstance(literal.test, Term) and literal.test.op == "raised" for literal in path)

    # ── in words ──

    @property
    def told(self) -> str:
        """The work as the source says it, in backticks; what an alias stands for behind it."""
        name, call = self.work.name, self.call
        if call is None:
            return f"`{name}`"
        source = self.place.source
        text = _one_line(source, call.func)
        if self.work.kind == "sync" and not name.startswith((".", "torch.")):
            return f"`{name.removesuffix('()')}`"
        if name.startswith("."):
            shown = text if text.endswith(name.removesuffix("()")) and len(text) < _QUOTED else name.removesuffix("()")
            return f"`{shown}`" if call.args else f"`{shown}()`"
        last = name.rsplit(".", 1)[1]
        if text.rsplit(".", 1)[-1] == last and len(text) < _QUOTED:
            return f"`{text}`"
        return f"`{text}` (`{name}`)" if len(text) < _QUOTED else f"`{name}`"

    @property
    def where(self) -> str:
        """The timed region in words, and the helpers on the way into it."""
        frames = [stop.frame for stop in self.first.inside]
        kernel_fn = frames[0].name if frames else ""
        region = f"the timed region of `{kernel_fn}`" if kernel_fn else "the timed region"
        helpers = [frame.name for frame in frames[1:] if frame.name and frame.name != kernel_fn]
        return f"{region}, in `{helpers[-1]}`" if helpers else region

    def related(self, unit: KernelUnit) -> tuple[Related, ...]:
        """The tuner's call, ``kernel_fn``, the calls on the way, and the launch that gets the tensor."""
        first = self.first
        found = (
            [Related(first.tuning.event.place, "`autotune_launch` times each trial from here")]
            if first.tuning is not None
            else []
        )
        for at, stop in enumerate(first.inside):
            if at == 0:
                if (place := _definition(stop.frame)) is not None:
                    found.append(
                        Related(place, f"`{stop.frame.name}` is the timed callable" if stop.frame.name else "the timed callable")
                    )
            elif stop.frame.call is not None:
                found.append(
                    Related(stop.frame.call, f"`{stop.frame.name}` is called here" if stop.frame.name else "called here")
                )
        if self.work.result is not None:
            for launch in first.launches():
                if launch.order > self.work.event.order and unit.effects.slots_of(launch, self.work.result):
                    found.append(Related(launch.place, f"the launch of `{launch.symbol}` gets the tensor"))
                    break
        unique = {(item.place.source.path, item.place.span): item for item in found if item.place != self.place}
        return tuple(unique.values())


def _one_line(source, node: syntax.Node) -> str:
    return " ".join(Place(source, node.span).text.split())


def _definition(frame: Frame) -> Place | None:
    function = frame.function
    if function is None:
        return None
    return Place(frame.source, function.name_span or function.span)


def timed_work(unit: KernelUnit) -> list[TimedWork]:
    """PyTorch's work on the device in the unit's timed regions, one item for each place and kind, in source order.

    What an ordinary trial does not do is left out: work behind once-only guards and switches that are off, on paths that raise.
    """
    found: dict[object, TimedWork] = {}
    for run in unit.runs:
        tunings = {tuning.number: tuning for tuning in run.tunings}
        if not tunings:
            continue
        for work in run.tensors.works(timed=True):
            if work.kind in _COSTLY and seldom(run, work.event):
                continue
            place = work.event.place
            key = (work.kind, place.source.path, place.span)
            item = found.setdefault(key, TimedWork(work.kind, place))
            item.occurrences.append(Occurrence(run, tunings[work.event.timed], work))
    return sorted(found.values(), key=lambda item: (str(item.place.source.path), item.place.span.start, item.place.span.end))


def use_in_trial(unit: KernelUnit, occurrence: Occurrence, tensor: Value | None) -> list[tuple[Launch, BufferUse]]:
    """The launches of the trial that get the tensor, each with what it does to it."""
    if tensor is None:
        return []
    return [(launch, use) for launch in occurrence.launches() if (use := unit.tensor_use(launch, tensor)) is not None]
