"""The same inputs in every run: what a run finds is the change's doing. ``HYPOTHESIS_PROFILE=search`` looks for new ones."""

import os
from importlib.util import find_spec

if find_spec("hypothesis") is not None:  # tests/execution runs without it
    from hypothesis import settings

    settings.register_profile("repeatable", derandomize=True, deadline=None)
    settings.register_profile("search", deadline=None)
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))
