"""The table of the performance page, measured side by side in one run.

    python benchmarks/run.py [--tilegym FOLDER] [--rounds 5] [--write docs/performance]

Peers go into a virtual environment of their own, ``benchmarks/.venv``. Without ``--tilegym`` the examples and a generated tree
stand in for the real one. ``--write`` keeps the table, the numbers and a picture there.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import venv
from dataclasses import dataclass
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.generate import generate, ten_faults
from benchmarks.measure import ROOT, Command, measure, ours

PEERS = ["ruff", "fixit", "flake8", "ast-grep-cli"]
VENV = ROOT / "benchmarks" / ".venv"
FIXIT_RULE = "fixit.rules.use_fstring:UseFstring"
AST_GREP_RULES = """\
id: fill
language: python
rule: {pattern: torch.zeros($$$)}
---
id: setter
language: rust
rule: {pattern: $X.num_cta_in_cga($Y)}
"""


@dataclass(frozen=True)
class Budget:
    """``ours`` takes at most ``factor`` times what ``base`` takes."""

    table: str
    ours: str
    base: str
    factor: float


BUDGETS = [
    Budget("one op", "cutile-lint, cold", "Fixit, one rule", 0.5),
    Budget("one op", "cutile-lint, cold", "python -c 'import libcst'", 1.5),
    Budget("one op", "cutile-lint, nothing changed", "python -c pass", 4),
    Budget("whole tree", "cutile-lint, cold", "Fixit, one rule", 0.03),
    Budget("whole tree", "cutile-lint, cold", "ruff, cold", 6),
    Budget("whole tree", "cutile-lint, nothing changed", "python -c pass", 4),
    Budget("ten faults", "cutile-lint --fix", "cutile-lint, cold", 3),
]


def peers() -> dict[str, str]:
    """Install the peers where they are not; their versions."""
    python = VENV / "bin" / "python"
    if not python.exists():
        venv.create(VENV, with_pip=True)
    if not (VENV / "bin" / "fixit").exists():
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PEERS], check=True)
    listed = json.loads(subprocess.check_output([python, "-m", "pip", "list", "--format", "json"], stderr=subprocess.DEVNULL))
    return {item["name"]: item["version"] for item in listed if item["name"] in (*PEERS, "libcst")}


def commands(target: Path, cache: Path, rust: list[Path]) -> list[Command]:
    """What is measured on one op (a wrapper) or on a tree; ``rust``: files that ast-grep reads besides."""
    bin_ = VENV / "bin"
    return [
        Command("python -c pass", [sys.executable, "-c", "pass"]),
        Command("python -c 'import libcst'", [sys.executable, "-c", "import libcst"]),
        Command("cutile-lint, cold", ours("--no-cache", target)),
        Command("cutile-lint, cold, one process", ours("--no-cache", "-j1", target)),
        Command("cutile-lint, nothing changed", ours("--cache-dir", cache, target)),
        Command("ruff, cold", [bin_ / "ruff", "check", "--no-cache", "--isolated", target]),
        Command("ast-grep, one rule per language", [bin_ / "ast-grep", "scan", "--inline-rules", AST_GREP_RULES, target, *rust]),
        Command("flake8", [bin_ / "flake8", "--isolated", target]),
        Command("Fixit, one rule", [bin_ / "fixit", "--quiet", "--rules", FIXIT_RULE, "lint", target]),
    ]


def fixing(folder: Path, rounds: int) -> list[Command]:
    """An op with ten faults, checked and mended; it is made anew before each."""
    print(f"ten faults: {folder}", file=sys.stderr)
    faulty = partial(ten_faults, folder)
    listed = [
        Command("python -c pass", [sys.executable, "-c", "pass"]),
        Command("cutile-lint, cold", ours("--no-cache", folder), before=faulty),
        Command("cutile-lint --fix", ours("--no-cache", "--fix", folder), before=faulty),
    ]
    for command in listed:
        command.run(record=False)
    measure(listed, rounds)
    return listed


def examine(name: str, target: Path, rust: list[Path], rounds: int, scratch: Path) -> list[Command]:
    print(f"{name}: {target}", file=sys.stderr)
    listed = commands(target, scratch / f"cache-{name.replace(' ', '-')}", rust)
    warm = listed[4]
    for command in listed[:4]:
        command.run(record=False)
    for _ in range(2):  # the answer is kept, then its stamps are old enough to be sure
        warm.run(record=False)
        time.sleep(2.2)
    warm.run(record=False)
    measure(listed, rounds)
    return listed


def text_of(tables: dict[str, list[Command]], versions: dict[str, str], by: str) -> str:
    lines = [
        f"Python {platform.python_version()}, {os.cpu_count()} processors; " + ", ".join(f"{k} {v}" for k, v in versions.items())
    ]
    for name, listed in tables.items():
        base = listed[0].median(by)
        lines += ["", f"{name:34} {'wall ms':>9} {'cpu ms':>9} {'x pass':>7} {'MB':>6}"]
        for item in listed:
            wall, cpu = item.median("wall") * 1000, item.median("cpu") * 1000
            lines.append(f"  {item.name:32} {wall:9.0f} {cpu:9.0f} {item.median(by) / base:7.1f} {item.memory:6.0f}")
    lines += ["", f"budgets (by {by} time)"]
    for budget, ratio in verdicts(tables, by):
        verdict = "met" if ratio <= budget.factor else "MISSED"
        lines.append(f"  {verdict:7}{budget.table}: {budget.ours} is {ratio:.3g} x {budget.base} (at most {budget.factor:g})")
    return "\n".join(lines) + "\n"


def verdicts(tables: dict[str, list[Command]], by: str) -> list[tuple[Budget, float]]:
    found = []
    for budget in BUDGETS:
        if budget.table not in tables:
            continue
        times = {item.name: item.median(by) for item in tables[budget.table]}
        found.append((budget, times[budget.ours] / times[budget.base]))
    return found


def picture(tables: dict[str, list[Command]], by: str) -> str:
    """Bars on a logarithmic scale, as SVG."""
    from math import log10

    rows: list[str] = []
    y = 20
    for name, listed in tables.items():
        rows.append(f'<text x="10" y="{y}" font-weight="bold">{name}</text>')
        for item in listed:
            y += 22
            value = item.median(by) * 1000
            width = max(2.0, (log10(max(value, 1.0))) * 100)
            colour = "#2a7" if item.name.startswith("cutile-lint") else "#999"
            rows.append(f'<text x="210" y="{y}" text-anchor="end">{item.name.replace("&", "&amp;")}</text>')
            rows.append(f'<rect x="220" y="{y - 12}" width="{width:.0f}" height="15" fill="{colour}"/>')
            rows.append(f'<text x="{226 + width:.0f}" y="{y}">{value:.0f} ms</text>')
        y += 36
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="780" height="{y}" font-family="sans-serif" font-size="12">'
    return head + f'<rect width="780" height="{y}" fill="white"/>' + "".join(rows) + "</svg>\n"


def main() -> None:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--tilegym", type=Path, help="a checkout of TileGym")
    made.add_argument("--op", type=Path, help="the wrapper to check alone (default: the one of bmm)")
    made.add_argument("--only", choices=("one op", "whole tree", "ten faults"), help="one of the tables")
    made.add_argument("--rounds", type=int, default=5)
    made.add_argument("--by", choices=("wall", "cpu"), default="wall", help="what ratios are made of; cpu on a busy machine")
    made.add_argument("--write", type=Path, metavar="FOLDER")
    options = made.parse_args()
    versions = peers()
    with tempfile.TemporaryDirectory(prefix="cutile-lint-bench-") as folder:
        scratch = Path(folder)
        tree = options.tilegym
        if tree is None:
            tree = scratch / "tree"
            generate(tree, 100)
        wrapper = options.op or next(iter(sorted(tree.rglob("ops/cutile_rs/bmm.py"))), None) or next(tree.rglob("*_0000.py"))
        rust = sorted((wrapper.parent / f"{wrapper.stem}_kernel").glob("*.rs"))
        tables = {}
        if options.only in (None, "one op"):
            tables["one op"] = examine("one op", wrapper.resolve(), rust, options.rounds, scratch)
        if options.only in (None, "whole tree"):
            tables["whole tree"] = examine("whole tree", tree.resolve(), [], max(1, options.rounds // 2), scratch)
        if options.only in (None, "ten faults"):
            tables["ten faults"] = fixing(scratch / "ten-faults", options.rounds)
    text = text_of(tables, versions, options.by)
    print(text)
    if options.write:
        options.write.mkdir(parents=True, exist_ok=True)
        (options.write / "benchmark.txt").write_text(text)
        (options.write / "benchmark.svg").write_text(picture(tables, options.by))
        numbers = {
            name: {item.name: {"wall": item.wall, "cpu": item.cpu, "megabytes": item.memory} for item in listed}
            for name, listed in tables.items()
        }
        result = {"versions": versions, "python": platform.python_version(), "tables": numbers}
        (options.write / "benchmark.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
