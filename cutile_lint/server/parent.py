"""The client's process: when it is gone and somebody else holds its end of the pipe, nothing but this tells."""

from __future__ import annotations

import asyncio
import os

from cutile_lint.sources.files import is_alive

#: seconds between two looks
_PAUSE = 3.0


async def gone(process: int | None) -> None:
    """Return once the process is; never where that cannot be told: on Windows, and for one that cannot be seen from here
    (a client outside of the server's container)."""
    if process is None or process <= 0 or os.name != "posix" or not is_alive(process):
        await asyncio.get_running_loop().create_future()
    else:
        while is_alive(process):
            await asyncio.sleep(_PAUSE)
