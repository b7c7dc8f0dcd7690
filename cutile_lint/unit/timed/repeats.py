"""Launches whose work is done again or never looked at, on one path of a call."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.sources import Place
from cutile_lint.unit.device.effects import given_tensor
from cutile_lint.unit.flows.once import seldom
from cutile_lint.unit.flows.uses import Uses
from cutile_lint.unit.launches import Launch
from cutile_lint.unit.machine.paths import contradictory
from cutile_lint.unit.machine.trace import Stop, Tuning
from cutile_lint.unit.machine.values import Choice, Items, Record, Term, Value, alternatives, subterms
from cutile_lint.unit.model import KernelUnit
from cutile_lint.unit.runs import Run

_FRESH = frozenset(["empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "zeros", "zeros_like", "new_zeros"])


@dataclass(frozen=True, slots=True)
class Wasted:
    """A launch whose work is lost: ``other`` launches the same symbol; ``place`` and ``stop`` are where the two ways part.

    ``why``: "overwritten" by the other, "unused", "repeated" (by a loop), "done" (by the tuner). ``known``: by what the kernels are
    seen to do, not by the arguments alone.
    """

    run: Run
    launch: Launch
    other: Launch
    place: Place
    stop: Stop
    why: str
    known: bool


# ── repeated in a trial ──


def repeated_in_trial(unit: KernelUnit) -> Iterator[Wasted]:
    """Launches of a timed region that another launch of the same symbol makes useless, or that a loop repeats as they are."""
    for run in unit.runs:
        timed = [launch for launch in run.launches if launch.timed]
        if not timed:
            continue
        judge = _Judge(unit, run)
        seen: set[object] = set()
        for at, first in enumerate(timed):
            found = judge.in_loop(first)
            for second in timed[at + 1 :]:
                if found is not None:
                    break
                if second.symbol == first.symbol and second.timed == first.timed and judge.both_run(first, second):
                    found = judge.pair(first, second)
            if found is not None and not seldom(run, found.launch.event) and not seldom(run, found.other.event):
                key = (found.place.source.path, found.place.span)
                if key not in seen:
                    seen.add(key)
                    yield found


# ── before and after the tuner ──


def canaries(unit: KernelUnit) -> Iterator[Wasted]:
    """Launches on every call of a symbol that the tuner then launches too, whose results nobody reads."""
    for run in unit.runs:
        judge: _Judge | None = None
        seen: set[object] = set()
        for tuning in run.tunings:
            timed = [launch for launch in run.launches if launch.timed == tuning.number]
            symbols = {launch.symbol for launch in timed}
            for launch in run.launches:
                if launch.timed or launch.symbol not in symbols or launch.order > tuning.event.order:
                    continue
                if contradictory(launch.path, tuning.event.path) or seldom(run, launch.event):
                    continue
                judge = judge or _Judge(unit, run)
                other = next(one for one in timed if one.symbol == launch.symbol)
                stop, place = parting(launch, tuning.event.stack)
                answer = judge.lost(launch, other)
                key = (place.source.path, place.span)
                if answer is not None and key not in seen and not judge.depends_on(tuning.event.path, launch):
                    seen.add(key)
                    yield Wasted(run, launch, other, place, stop, *answer)


def relaunches(unit: KernelUnit) -> Iterator[tuple[Wasted, Tuning]]:
    """Launches of the tuned symbol after the tuner that compute what its output already is."""
    for run in unit.runs:
        seen: set[object] = set()
        for tuning in run.tunings:
            timed = [launch for launch in run.launches if launch.timed == tuning.number]
            for launch in run.launches:
                if launch.timed or launch.order < tuning.event.order or contradictory(launch.path, tuning.event.path):
                    continue
                other = next((one for one in timed if one.symbol == launch.symbol and _same_inputs(unit, run, one, launch)), None)
                if other is None or seldom(run, launch.event) or _after_an_error(launch):
                    continue
                stop, place = parting(launch, tuning.event.stack)
                key = (place.source.path, place.span)
                if key not in seen:
                    seen.add(key)
                    yield Wasted(run, launch, other, place, stop, "done", unit.effects.read_slots(launch) is not None), tuning


def _after_an_error(launch: Launch) -> bool:
    """It stands in a handler: what it is done again for has failed."""
    return any(literal.holds and isinstance(literal.test, Term) and literal.test.op == "raised" for literal in launch.path)


def _same_inputs(unit: KernelUnit, run: Run, tuned: Launch, launch: Launch) -> bool:
    """Both launches read the same tensors, and the later one does not read what the tuner made."""
    first, second = tuned.arguments.positional, launch.arguments.positional
    if len(first) != len(second):
        return False
    reads = unit.effects.read_slots(launch)
    compared = 0
    for slot, (one, other) in enumerate(zip(first, second, strict=True)):
        mine, theirs = given_tensor(one, run.program), given_tensor(other, run.program)
        if mine is None or theirs is None:
            continue
        if reads is not None and slot not in reads:
            continue
        if is_fresh(run, mine) and is_fresh(run, theirs):
            continue
        if _content(mine).key() != _content(theirs).key():
            return False
        compared += 1
    accumulating = reads is not None and any(unit.buffer_use(launch, slot).accumulates for slot in reads)
    return compared > 0 and (not accumulating or bool(reads and all(_fresh_or_read(unit, run, launch, slot) for slot in reads)))


def _content(tensor: Value) -> Value:
    """A tensor without the copies that were made of it."""
    while isinstance(tensor, Term) and tensor.op == "method" and tensor.name in ("clone", "contiguous", "detach") and tensor.args:
        tensor = tensor.args[0]
    if isinstance(tensor, Choice):
        found = {one.key(): one for one in (_content(inner) for _, inner in alternatives(tensor))}
        return next(iter(found.values())) if len(found) == 1 else tensor
    return tensor


def _fresh_or_read(unit: KernelUnit, run: Run, launch: Launch, slot: int) -> bool:
    """A slot that is only read, or whose buffer was made for the launch."""
    given = given_tensor(launch.arguments.positional[slot], run.program)
    return not unit.buffer_use(launch, slot).writes or (given is not None and is_fresh(run, given))


def is_fresh(run: Run, tensor: Value) -> bool:
    """The tensor is a new allocation of this run."""
    roots = run.tensors.roots(tensor)
    return bool(roots) and all(
        isinstance(root, Term) and root.op in ("call", "method") and root.name.rsplit(".", 1)[-1] in _FRESH for root in roots
    )


# ── judging ──


def work_is_lost(unit: KernelUnit, run: Run, launch: Launch, other: Launch) -> bool:
    """Nothing that the launch writes is read before ``other`` overwrites it, or at all."""
    return _Judge(unit, run).lost(launch, other) is not None


class _Judge:
    """Decides for launches of one run whether their work is lost."""

    def __init__(self, unit: KernelUnit, run: Run) -> None:
        self.unit = unit
        self.run = run
        self.uses = Uses(run)

    def both_run(self, first: Launch, second: Launch) -> bool:
        return not contradictory(first.path, second.path) and not self.depends_on(second.path, first)

    def depends_on(self, path, launch: Launch) -> bool:
        """The path is taken because of what the launch returned (a fallback after an error code)."""
        result = launch.event.value
        if result is None:
            return False
        key = result.key()
        return any(term.key() == key for literal in path for term in subterms(literal.test) if isinstance(term, Term))

    def pair(self, first: Launch, second: Launch) -> Wasted | None:
        """The launch of two on one path whose work is lost."""
        answer = self.lost(first, second)
        if answer is not None:
            stop, place = parting(first, second.event.stack)
            if parting(second, first.event.stack)[1] == place:
                return Wasted(self.run, first, second, place, stop, "repeated", answer[1])
            return Wasted(self.run, first, second, place, stop, *answer)
        answer = self.lost(second, first)
        if answer is not None:
            stop, place = parting(second, first.event.stack)
            return Wasted(self.run, second, first, place, stop, *answer)
        return None

    def lost(self, launch: Launch, other: Launch) -> tuple[str, bool] | None:
        """(why, known by the kernels) when nothing that ``launch`` writes is read before ``other`` overwrites it, or at all."""
        written = self.unit.effects.written_slots(launch)
        if written is None:
            return self._lost_by_arguments(launch, other)
        why = "unused"
        for slot in written:
            tensor = given_tensor(launch.arguments.positional[slot], self.run.program)
            if tensor is None:
                return None
            if self._overwritten(tensor, launch, other):
                why = "overwritten"
            elif not self._never_read(tensor, launch, launch.order):
                return None
        return (why, True) if written else None

    def _overwritten(self, tensor: Value, launch: Launch, other: Launch) -> bool:
        if other.order < launch.order:
            return False
        slots = [
            slot
            for slot, value in enumerate(other.arguments.positional)
            if (given := given_tensor(value, self.run.program)) is not None and given.key() == tensor.key()
        ]
        use = self.unit.tensor_use(other, tensor)
        if not slots or use is None or use.reads is not False or not use.writes:
            return False
        if not (use.stores_all or _same_arguments(launch, other)):
            return False
        if any(True for _ in self.uses.events(tensor, launch.order, other.order)):
            return False
        return all(
            not launch.order < one.order < other.order or self.unit.tensor_use(one, tensor).reads is False  # type: ignore[union-attr]
            for one in self.uses.other_launches(tensor, launch, other)
        )

    def _never_read(self, tensor: Value, launch: Launch, start: int) -> bool:
        if not self.run.tensors.roots(tensor) or not all(is_fresh(self.run, root) for root in self.run.tensors.roots(tensor)):
            return False
        if self.uses.returned(tensor) or any(True for _ in self.uses.events(tensor, start)):
            return False
        return all(
            one.order < start or self.unit.tensor_use(one, tensor).reads is False  # type: ignore[union-attr]
            for one in self.uses.other_launches(tensor, launch)
        )

    def _lost_by_arguments(self, launch: Launch, other: Launch) -> tuple[str, bool] | None:
        """Without the kernel: the same arguments once more, or new buffers that nobody reads (only they can be the outputs)."""
        if _same_arguments(launch, other):
            given = [given_tensor(value, self.run.program) for value in launch.arguments.positional]
            between = any(
                True
                for tensor in given
                if tensor is not None and is_fresh(self.run, tensor)
                for _ in self.uses.events(tensor, launch.order, other.order)
            )
            return None if between or other.order < launch.order else ("overwritten", False)
        mine = [given_tensor(value, self.run.program) for value in launch.arguments.positional]
        theirs = [given_tensor(value, self.run.program) for value in other.arguments.positional]
        outputs = 0
        for tensor, same in zip(mine, theirs, strict=False):
            if tensor is None:
                continue
            if same is not None and tensor.key() == same.key() and not is_fresh(self.run, tensor):
                continue
            if not is_fresh(self.run, tensor) or not self._never_read_by_arguments(tensor, launch):
                return None
            outputs += 1
        return ("unused", False) if outputs and len(mine) == len(theirs) else None

    def _never_read_by_arguments(self, tensor: Value, launch: Launch) -> bool:
        if self.uses.returned(tensor) or any(True for _ in self.uses.events(tensor, launch.order)):
            return False
        return not any(one.order > launch.order for one in self.uses.other_launches(tensor, launch))

    def in_loop(self, launch: Launch) -> Wasted | None:
        """A launch in a loop that gives it the same arguments each time, its buffers used by nothing else in the loop."""
        around = [stop.frame.function for stop in launch.event.stack if stop.frame.function is not None]
        loops = [loop for loop in launch.event.loops if isinstance(loop, syntax.For) or _counts(loop, around)]
        if not loops or len(loops) != len(launch.event.loops):
            return None
        loop = loops[-1]
        if any(isinstance(node, (syntax.Break, syntax.Return, syntax.Raise)) for node in _walk(loop)):
            return None
        if any(_varies(value) for value in launch.arguments.positional):
            return None
        written = self.unit.effects.written_slots(launch)
        if written is None:
            return None
        for slot in written:
            tensor = given_tensor(launch.arguments.positional[slot], self.run.program)
            if tensor is None or self.unit.buffer_use(launch, slot).reads is not False:
                return None
            inside = [one for one in self.uses.other_launches(tensor, launch) if loop in one.event.loops]
            inside_events = [event for event in self.uses.events(tensor, -1) if loop in event.loops]
            if inside or inside_events:
                return None
        if not written:
            return None
        stack = launch.event.stack
        at = next((position for position in range(len(stack) - 1, -1, -1) if _holds(stack[position], loop)), len(stack) - 1)
        stop = launch.event.stack[at]
        after = launch.event.stack[at + 1] if at + 1 < len(launch.event.stack) else None
        place = after.frame.call if after is not None and after.frame.call is not None else launch.place
        return Wasted(self.run, launch, launch, place, stop, "repeated", True)


def _counts(loop: syntax.Node, around: list[syntax.Function]) -> bool:
    """``i = 0`` … ``while i < 2: …; i += 1``: a loop that surely has more rounds than one, all alike."""
    if not isinstance(loop, syntax.While):
        return False
    test = loop.test
    counter, bound = (test.left, test.right) if isinstance(test, syntax.Compare) else (test, syntax.Const(test.span, 0))
    owner = next((function for function in reversed(around) if any(node is loop for node in _walk(function))), None)
    if owner is None or not isinstance(counter, syntax.Name):
        return False
    mentions = [node for node in _walk(owner) if isinstance(node, syntax.Name) and node.id == counter.id]
    writes = [node for node in _walk(owner) if isinstance(node, syntax.Assign) and _target(node) in mentions]
    others = [node for node in _walk(loop) if isinstance(node, syntax.Assign) and node not in writes]
    if len(mentions) != 3 or len(writes) != 2 or others:
        return False  # what the rounds hand on may make them differ
    first, step = sorted(writes, key=lambda node: node.span.start)
    start, by, end = _number(first.value), _number(step.value), _number(bound)
    if first.op or step.op not in ("+", "-") or step not in loop.body or start is None or by is None or end is None:
        return False
    op = test.op if isinstance(test, syntax.Compare) else "!="
    return all(_holds_for(op, one, end) for one in (start, start + by if step.op == "+" else start - by))


def _target(node: syntax.Assign) -> syntax.Expr | None:
    return node.targets[0] if len(node.targets) == 1 else None


def _number(node: syntax.Expr | None) -> int | None:
    return node.value if isinstance(node, syntax.Const) and type(node.value) is int else None


def _holds_for(op: str, left: int, right: int) -> bool:
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right, "!=": left != right}.get(op, False)


def _varies(value: Value) -> bool:
    """The value may differ between the rounds of a loop (a trial's config does not)."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, Term):
            if item.op in ("element", "unknown", "payload"):
                return True
            stack += () if item.op == "config" else (*item.args, *item.keywords.values())
        elif isinstance(item, Choice):
            stack += [inner for _, inner in item.alternatives]
        elif isinstance(item, (Items, Record)):
            stack += item.items if isinstance(item, Items) else item.fields.values()
    return False


def _same_arguments(first: Launch, second: Launch) -> bool:
    one, other = first.arguments.positional, second.arguments.positional
    return len(one) == len(other) and all(left.key() == right.key() for left, right in zip(one, other, strict=True))


def parting(launch: Launch, other: tuple[Stop, ...]) -> tuple[Stop, Place]:
    """Where the way to a launch leaves another way: the innermost frame of both, and the launch's call in it."""
    stack = launch.event.stack
    at = 0
    while at + 1 < len(stack) and at + 1 < len(other) and stack[at + 1].frame is other[at + 1].frame:
        at += 1
    inner = stack[at + 1].frame.call if at + 1 < len(stack) else launch.place
    return stack[at], inner if inner is not None else launch.place


def _holds(stop: Stop, loop: syntax.Node) -> bool:
    function = stop.frame.function
    return function is not None and any(node is loop for node in _walk(function))


def _walk(node: syntax.Node) -> Iterator[syntax.Node]:
    stack = [node]
    while stack:
        item = stack.pop()
        yield item
        stack.extend(item.children())
