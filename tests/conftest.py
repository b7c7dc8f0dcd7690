"""The same inputs in every run: what a run finds is the change's doing. ``HYPOTHESIS_PROFILE=search`` looks for new ones."""

import os
from importlib.util import find_spec

if find_spec("hypothesis") is not None:  # tests/execution runs without it
    from hypothesis import settings

    settings.register_profile("repeatable", derandomize=True, deadline=None)
    settings.register_profile("search", deadline=None)
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


def pytest_terminal_summary(terminalreporter):
    """``CUTILE_LINT_TABLES=1``: what was tried and what came of it, in tables (``.ci/run``)."""
    if os.environ.get("CUTILE_LINT_TABLES"):
        from tests.summary import tables

        reports = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, ())]
        for title, text in tables(reports).items():
            terminalreporter.section(title)
            terminalreporter.write_line(text)
