"""Time and memory of generated trees: linear in the number of ops?

    python benchmarks/scale.py [--sizes 50,500,2000] [--jobs 2] [--rounds 1]

The start-up (a tree of no ops) is subtracted. Prints seconds per op and the ratio to the smallest tree.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.generate import generate
from benchmarks.measure import Command, measure, ours

MEMORY_BUDGET = 400
SLACK = 1.1


def scale(sizes: list[int], jobs: int, rounds: int) -> list[dict[str, float]]:
    """One row per size: ops, files, wall and processor seconds without start-up, megabytes."""
    with tempfile.TemporaryDirectory(prefix="cutile-lint-scale-") as folder:
        commands = []
        files = {}
        for size in [1, *sizes]:
            tree = Path(folder, str(size))
            files[size] = generate(tree, size)
            commands.append(Command(f"{size} ops", ours("--no-cache", "-j", str(jobs), "--statistics", "."), tree))
        commands[0].run(record=False)
        measure(commands, rounds)
    start = commands[0]
    return [
        {
            "ops": size,
            "files": files[size],
            "wall": command.median("wall") - start.median("wall"),
            "cpu": command.median("cpu") - start.median("cpu"),
            "memory": command.memory,
        }
        for size, command in zip(sizes, commands[1:], strict=True)
    ]


def table(rows: list[dict[str, float]]) -> str:
    first = rows[0]
    lines = ["   ops   files    wall s     cpu s  cpu ms/op  to first  peak MB"]
    for row in rows:
        per = row["cpu"] / (row["ops"] - 1)
        ratio = per / (first["cpu"] / (first["ops"] - 1))
        lines.append(
            f"{row['ops']:6d} {row['files']:7d} {row['wall']:9.2f} {row['cpu']:9.2f} {per * 1000:10.1f} {ratio:9.2f} {row['memory']:8.0f}"
        )
    last = rows[-1]
    ratio = (last["cpu"] / (last["ops"] - 1)) / (first["cpu"] / (first["ops"] - 1))
    lines.append(f"linear: {'met' if ratio <= SLACK else 'MISSED'} ({ratio:.2f}, at most {SLACK})")
    lines.append(
        f"memory: {'met' if last['memory'] <= MEMORY_BUDGET else 'MISSED'} ({last['memory']:.0f} MB, at most {MEMORY_BUDGET})"
    )
    return "\n".join(lines)


def main() -> None:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--sizes", default="50,500,2000")
    made.add_argument("--jobs", type=int, default=2)
    made.add_argument("--rounds", type=int, default=1)
    made.add_argument("--json", type=Path)
    options = made.parse_args()
    rows = scale([int(size) for size in options.sizes.split(",")], options.jobs, options.rounds)
    print(table(rows))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
