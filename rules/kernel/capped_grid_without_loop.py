"""CTL614: a capped launch grid for an entry that handles one tile per program."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding, Related
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.device.grid_caps import capped_grids


def check(unit: KernelUnit) -> Iterator[Finding]:
    for found in capped_grids(unit):
        launch = found.launch
        related = (
            [Related(launch.entry.place, f"`{launch.entry_name}` has no grid-stride loop")] if launch.entry is not None else []
        )
        yield Finding(
            found.place,
            f"the grid of `{launch.entry_name}` is capped, but each program handles one tile only: the tiles beyond stay unwritten",
            help="launch one program per tile, or loop over the tiles in steps of `get_num_tile_blocks()`",
            related=(*related, Related(launch.place, "launched here")),
            statement=found.statement,
            symbol=launch.entry_name,
        )
