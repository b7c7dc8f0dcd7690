"""CTL108: the autotune key lacks a value that changes the launched work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cutile_lint.findings import Finding, Related
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.linking.where import function_of, statement_of
from cutile_lint.unit.timed.key_fixes import add_names, lacks, name_of, written
from cutile_lint.unit.timed.unstable_keys import key_place


def check(unit: KernelUnit, options: Mapping[str, Any]) -> Iterator[Finding]:
    for lack in lacks(unit, options["ignore-names"]):
        place, event = key_place(lack.tuning), lack.tuning.event
        missing = list(lack.missing.values())
        names = [name_of(atom, need, lack, unit.program) for atom, need in missing]
        shown = [f"`{written(atom, need, lack, unit.program)}`" for atom, need in missing]
        known = [name for name in names if name is not None]
        verb = "becomes" if missing[0][1].role in ("generic", "size") else "decides"
        tail = f", which {verb} {missing[0][1].what}" if len(missing) == 1 else ""
        yield Finding(
            place,
            f"the autotune key lacks {_listed(shown)}{tail}",
            help="add it to `key`: calls that differ in it share one tuned config otherwise",
            related=tuple(
                Related(need.place, f"{text} {'becomes' if need.role in ('generic', 'size') else 'decides'} {need.what}")
                for text, (_, need) in zip(shown, missing, strict=True)
            ),
            fix=add_names(lack, list(dict.fromkeys(known)), unit.program) if len(known) == len(names) else None,
            statement=statement_of(event, place) or event.statement,
            symbol=function_of(event, place),
        )


def _listed(names: list[str]) -> str:
    names = list(dict.fromkeys(names))
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
