"""``python -m cutile_lint``: the same as ``cutile-lint``."""

import sys

from cutile_lint.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
