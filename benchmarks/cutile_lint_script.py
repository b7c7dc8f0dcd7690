"""What the console script ``cutile-lint`` consists of."""

import sys

from cutile_lint.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
