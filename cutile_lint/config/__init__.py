"""Configuration: found, read strictly, and laid over by the command line."""

from cutile_lint.config.load import Configurations, load_file
from cutile_lint.config.settings import RUNTIME_NAMES, Settings

__all__ = ["RUNTIME_NAMES", "Configurations", "Settings", "load_file"]
