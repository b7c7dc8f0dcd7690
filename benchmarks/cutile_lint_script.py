"""What the console script ``cutile-lint`` consists of."""

from cutile_lint.cli.main import run

if __name__ == "__main__":
    run()
