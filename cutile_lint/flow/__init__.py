"""The way of every value of an op from the wrapper to the kernel: a map that people and programs can read."""

from cutile_lint.flow.build import op_map
from cutile_lint.flow.model import ExportMap, Given, Hop, Mark, OpMap, OptionWay, SlotRow, Target, Variant

__all__ = ["ExportMap", "Given", "Hop", "Mark", "OpMap", "OptionWay", "SlotRow", "Target", "Variant", "op_map"]
