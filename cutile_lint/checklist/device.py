"""What the device kernels and the generated IR show."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.checklist.context import Context
from cutile_lint.checklist.verdict import Absent, Evidence, Open, Shown
from cutile_lint.frontends import syntax
from cutile_lint.frontends.ir.facts import LOW_PRECISION
from cutile_lint.sources import Place
from cutile_lint.unit.device.accumulators import half_accumulators
from cutile_lint.unit.device.given_latencies import given_latencies
from cutile_lint.unit.device.grid_caps import capped_grids, strides_over_grid
from cutile_lint.unit.device.kernel import SUMS, Access, Kernel, disabled_tma, loop_head, scalar_origin
from cutile_lint.unit.machine.trace import Event
from cutile_lint.unit.machine.values import Known, Term, Value, alternatives

_WORDS = {"view": "tensor views (TMA)", "pointer": "raw pointers"}


def _kernels(context: Context) -> list[Kernel]:
    """The kernels that are launched."""
    launched = {id(entry) for entry in context.entries}
    return [kernel for kernel in context.unit.kernels if id(kernel.entry) in launched]


# ── access pattern ─────────────────────────────────────────────────────────


def entry_pattern(context: Context) -> Iterator[Evidence]:
    yield from context.kernel_gaps
    for kernel in _kernels(context):
        name = kernel.entry.name
        own = {access.op.through for access in kernel.accesses}
        told = " and ".join(_WORDS[word] for word in sorted(own, reverse=True) if word in _WORDS)
        evidence = context.unit.entry_reference(kernel.entry)
        patterns, known = evidence.patterns() if evidence is not None else (frozenset(), [])
        if not own:
            yield Open(f"`{name}` has no load or store that is understood", kernel.entry.place)
        elif not patterns:
            yield Open(f"`{name}` goes through {told}; there is no reference to compare it with", kernel.entry.place)
        elif own <= patterns and (len(patterns) == 1 or own == patterns or "view" in own):
            yield Shown(f"`{name}` goes through {told}, as its reference does", kernel.entry.place)
            yield Shown(f"the reference of `{name}`: `{known[0].variant.kernel or known[0].variant.name}`", known[0].place)
        else:
            yield Open(f"`{name}` goes through {told}, its reference not only", kernel.entry.place)


# ── latency and TMA ────────────────────────────────────────────────────────


def latencies(context: Context) -> Iterator[Evidence]:
    """The latency of each view access in a persistent loop; one that equals the reference's passes."""
    yield from context.kernel_gaps
    loops = 0
    for kernel in _kernels(context):
        for access in kernel.accesses:
            loop = kernel.persistent_loop(access.event)
            if loop is None:
                continue
            loops += 1
            if access.op.through == "view":
                yield from _latency(context, kernel, access)
    if not loops and not context.kernel_gaps:
        yield Absent("no launched kernel has a persistent loop")


def _latency(context: Context, kernel: Kernel, access: Access) -> Iterator[Evidence]:
    place = access.latency_place or access.event.place
    given = sorted({number for number, _ in given_latencies(context.unit, kernel, access)})
    wanted: set[int | None] = set()
    if context.unit.reference is not None:
        wanted = {one.value for one in context.unit.reference.latencies(access.op.kind)}
    if given and set(given) <= wanted:
        yield Shown(f"`{access.op.name}`: latency {given[0]}, the reference's", place)
    elif given:
        yield Open(f"`{access.op.name}`: latency {', '.join(map(str, given))}", place)
    elif access.latency_place is None or _is_none(access.latency) or "::<0>" in access.latency_place.text.replace(" ", ""):
        told = "None" if access.latency_place is not None else "no such argument"
        yield Shown(f"`{access.op.name}`: latency {told}", place)
    else:
        yield Open(f"`{access.op.name}`: the latency `{access.latency_place.text}` could not be followed", place)


def _is_none(value: Value | None) -> bool:
    found = [one for _, one in alternatives(value)] if value is not None else []
    return bool(found) and all(
        (isinstance(one, Term) and one.op == "external" and one.name.rsplit("::", 1)[-1] == "None")
        or (isinstance(one, Known) and one.value is None)
        for one in found
    )


def tma(context: Context) -> Iterator[Evidence]:
    yield from context.kernel_gaps
    views = 0
    for kernel in _kernels(context):
        evidence = context.unit.entry_reference(kernel.entry)
        for access in kernel.accesses:
            if access.op.through != "view":
                continue
            views += 1
            place = access.tma_place or access.event.place
            if disabled_tma(access) is not None:
                if evidence is not None and evidence.refuses_tma(access.op.kind):
                    yield Shown(f"`{access.op.name}`: without TMA, as in the reference", place)
                else:
                    yield Open(f"`{access.op.name}`: `tma::Disabled`", place)
            elif _is_enabled(access.tma):
                yield Shown(f"`{access.op.name}`: `tma::Enabled`", place)
            elif access.op.tma is None or access.tma_place is None:
                yield Shown(f"`{access.op.name}`: TMA is not refused", place)
            else:
                yield Open(f"`{access.op.name}`: the TMA mode `{access.tma_place.text}` could not be followed", place)
    if not views and not context.kernel_gaps:
        yield Absent("no launched kernel goes through views")


def _is_enabled(value: Value | None) -> bool:
    found = [one for _, one in alternatives(value)] if value is not None else []
    return bool(found) and all(isinstance(one, Term) and one.name.rsplit("::", 1)[-1] == "Enabled" for one in found)


# ── types and assumptions ──────────────────────────────────────────────────


def accumulators(context: Context) -> Iterator[Evidence]:
    yield from context.kernel_gaps
    found = 0
    for kernel in _kernels(context):
        half = {one.event.place for one in half_accumulators(context.unit, kernel)}
        for event in kernel.calls:
            at = _accumulator_position(event)
            if at is None:
                continue
            found += 1
            name = event.name.rsplit("::", 1)[-1]
            type_ = kernel.element_type(_operand(event, at))
            if event.place in half:
                yield Open(f"`{name}` may accumulate in half precision", event.place)
            elif type_ is None:
                yield Open(f"the type that `{name}` accumulates in is not declared", event.place)
            else:
                yield Shown(f"`{name}` accumulates in `{type_}`", event.place)
    for path, module in context.generated:
        for entry in module.entries if module is not None else ():
            for one in entry.mmas:
                found += 1
                element = one.accumulator.element if one.accumulator is not None else None
                place = Place(module.source, one.span)  # type: ignore[union-attr]
                if element is None:
                    yield Open("the accumulator of an `mmaf` in the IR is not known", place, path)
                elif element not in LOW_PRECISION:
                    yield Shown(f"`{one.op.name}` in the generated IR accumulates in `{element}`", place)
    if not found and not context.kernel_gaps:
        yield Absent("no product or sum in the launched kernels")


def _accumulator_position(event: Event) -> int | None:
    name = event.name.rsplit("::", 1)[-1]
    return 2 if name == "mmaf" else 0 if name in SUMS else None


def _operand(event: Event, at: int) -> syntax.Expr | None:
    node = event.node
    if not isinstance(node, syntax.Call):
        return None
    args = [arg.value for arg in node.args]
    if isinstance(node.func, syntax.Attr):
        args.insert(0, node.func.base)
    return args[at] if at < len(args) else None


def divisibility(context: Context) -> Iterator[Evidence]:
    yield from context.kernel_gaps
    found = 0
    for kernel in _kernels(context):
        for event in kernel.calls:
            if event.name.rsplit("::", 1)[-1] != "assume_div_by" or event.arguments is None or not event.arguments.positional:
                continue
            found += 1
            origin = scalar_origin(event.arguments.positional[0], kernel.entry)
            if origin == "pointer":
                yield Shown("`assume_div_by` of a pointer", event.place)
            else:
                yield Open("what `assume_div_by` is about could not be followed", event.place)
    if not found and not context.kernel_gaps:
        entries = [kernel.entry for kernel in _kernels(context)]
        yield from (Shown(f"no `assume_div_by` in `{entry.name}`", entry.place) for entry in entries)


def ir_strides(context: Context) -> Iterator[Evidence]:
    if not context.generated:
        yield Open("there is no `generated/*.mlir`")
    for path, module in context.generated:
        if module is None or module.faults or module.refused:
            yield Open("the generated IR could not be read", path=path)
            continue
        for entry in module.entries:
            for view in entry.tensor_views:
                place, strides = Place(module.source, view.span), view.type_strides or view.strides
                told = f"strides {_list(strides)} of rank {len(view.shape)}"
                if len(strides) == len(view.shape) and strides and strides[-1] == 1:
                    yield Shown(told, place)
                else:
                    yield Open(told, place)


def _list(items) -> str:
    return "[" + ", ".join("?" if item is None else str(item) for item in items) + "]"


# ── grids, math ────────────────────────────────────────────────────────────


def grid_cap(context: Context) -> Iterator[Evidence]:
    yield from context.export_gaps
    yield from context.kernel_gaps
    capped = {one.launch.entry_name: one for one in capped_grids(context.unit)}
    for kernel in _kernels(context):
        name = kernel.entry.name
        if strides_over_grid(kernel):
            loops = {id(loop): loop for event in kernel.run.trace.events for loop in event.loops}
            loop = next((one for one in loops.values() if kernel.is_persistent(one)), None)
            place = loop_head(kernel.entry.source, loop) if loop is not None else kernel.entry.place
            yield Shown(f"`{name}` strides over the grid", place)
        elif name in capped:
            yield Open(f"the grid of `{name}` is capped, and it has no grid-stride loop", capped[name].place)
        elif context.wrapper_gaps:
            yield from context.wrapper_gaps
        else:
            yield Shown(f"`{name}` has no grid-stride loop, and the SM count does not go into its grid", kernel.entry.place)


def math(context: Context) -> Iterator[Evidence]:
    yield from context.kernel_gaps
    missing = [code for code in ("CTL617", "CTL622") if context.known is not None and code not in context.known]
    yield from (Open(f"the rule {code} is not there to read the math") for code in missing)
    for kernel in _kernels(context):
        evidence = context.unit.entry_reference(kernel.entry)
        irs = evidence.irs if evidence is not None else []
        if irs:
            yield Shown(f"the math of `{kernel.entry.name}` was read, and the reference's IR", irs[0].place)
        else:
            yield Open(f"no reference IR to compare the math modes of `{kernel.entry.name}` with", kernel.entry.place)
