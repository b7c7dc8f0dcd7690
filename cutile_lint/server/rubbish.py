"""When cycles are collected: not while somebody waits for findings."""

from __future__ import annotations

import gc

#: objects left behind, beyond which it is done in any case: those of some thirty checks of an op, or of thousands that found nothing new
_MOST = 200_000
#: every so often everything is looked through, not only what is new
_WHOLE = 16


class Rubbish:
    """What checks leave behind, where the collector does not run by itself."""

    def __init__(self) -> None:
        #: checks since the last time
        self.checks = 0
        self._times = 0
        self._settled = False

    def more(self) -> None:
        self.checks += 1
        if not gc.isenabled() and gc.get_count()[0] >= _MOST:
            self.checks = 0
            gc.collect(1)  # somebody waits: only what is new

    def settle(self) -> None:
        """What is there after the first analysis stays, and is not gone over while somebody waits."""
        if not self._settled and not gc.isenabled():
            gc.freeze()
        self._settled = True

    def clear(self) -> None:
        """To be called while nobody waits."""
        self.checks = 0
        if gc.isenabled():
            return
        if self._times == 0:
            gc.unfreeze()  # what the first analysis left behind goes as well
        gc.collect() if self._times % _WHOLE == 0 else gc.collect(1)
        if self._times == 0:
            gc.freeze()  # the program itself
        self._times += 1
