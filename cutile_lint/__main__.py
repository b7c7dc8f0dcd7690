"""``python -m cutile_lint``: the same as ``python -m cutile_lint.cli.main``, which first takes the current folder off the path of modules."""

from runpy import run_module

run_module("cutile_lint.cli.main", run_name="__main__")
