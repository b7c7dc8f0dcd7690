"""Values of an option that only other devices get than those that the op is written for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutile_lint.unit.linking.architecture import Arch, ArchFolder, device_tests
from cutile_lint.unit.linking.target import target_arch
from cutile_lint.unit.machine.values import Condition
from cutile_lint.unit.options.option_names import CLUSTER

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit

#: What an op may be written for when it does not say. There are clusters from 9.0 on.
_WITH_CLUSTERS: tuple[Arch, ...] = ((9, 0), (10, 0), (12, 0))
_ALL: tuple[Arch, ...] = ((8, 0), *_WITH_CLUSTERS)


def is_for_other_devices(unit: KernelUnit, option: str, path: Condition, condition: Condition) -> bool:
    """A device that takes ``path`` and has the option need not meet ``condition``, which asks for the device's capability."""
    if not device_tests(condition):
        return False
    target = target_arch(unit)
    known = (target,) if target is not None else _WITH_CLUSTERS if option == CLUSTER else _ALL
    folders = [folder for folder in map(ArchFolder, known) if folder.holds(path) is not False]
    return any(folder.holds(condition) is False for folder in folders)
