"""The unit model: an op's layers linked, its callable, exports and kernels run symbolically, and the answers that rules ask for."""

from cutile_lint.unit.linking.loading import Plan, load
from cutile_lint.unit.model import KernelUnit

__all__ = ["KernelUnit", "Plan", "load"]
