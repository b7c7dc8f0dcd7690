"""A real editing session against the server: `python -m benchmarks.lsp.run [--ops N] [--by cpu] [--write docs/performance]`.

Types lines into the largest example wrapper (four ops in one file) character by character, as an editor sends them, and measures from
the keystroke to the published diagnostics of that version; the same texts through the session alone give the server's own work.
Machines differ: the budgets are those of a machine on which `import libcst` takes 162 ms, so both are told in terms of this import.
Then opens a workspace of N copies of an op and measures from `initialized` to the first diagnostics, and how long requests
wait meanwhile. `--by cpu` measures the server's own work in processor time, for a machine with other work.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "server")]

from client import Client, position  # noqa: E402

WRAPPER = "tilegym/src/tilegym/ops/cutile_rs/gemm.py"
EXPORT = "tilegym/src/tilegym/ops/cutile_rs/gemm_kernel/ffi.rs"
KERNEL = "tilegym/src/tilegym/ops/cutile_rs/gemm_kernel/kernel.rs"
#: what is typed -> the file, the function at whose start, and the line
SCENARIOS = {
    "a comment in an op": (WRAPPER, "gemm_rows", "    # rows are independent"),
    "a line in a function of no op": (WRAPPER, "explain_gemm", "    m = int(m)"),
    "a line without effect in a helper of all ops": (WRAPPER, "_check_extent", "    scale = 1.0"),
    "a statement in an op": (WRAPPER, "grouped_gemm", "    alpha = float(alpha)"),
    "a statement in a helper of all four ops": (WRAPPER, "_check_extent", "    m = int(m)"),
    "a comment in the export": (EXPORT, "cutile_gemm", "    // the caller owns the tensors"),
    "a statement in the export": (EXPORT, "cutile_gemm", "    let tiles = 1;"),
    "a comment in a kernel": (KERNEL, "persistent_gemm_kernel", "        // one tile at a time"),
}
#: seconds; `import libcst` took so long where the budgets for a keystroke were set
LIBCST = 0.162
KEYSTROKE, WORK, FIRST = 0.060, 0.025, 2.0


def texts(text: str, function: str, line: str) -> list[str]:
    """The states of the text while a line is typed at the start of a function's body, in Python or in Rust.

    The line is opened first, as an editor does: typed in front of other code nearly every state would be a syntax error, which
    costs nothing, and the numbers would say nothing about the analysis.
    """
    if (rust := text.find(f"fn {function}")) != -1:
        offset = text.index("{\n", rust) + 2
    else:
        found = next(node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == function)
        first = found.body[1] if ast.get_docstring(found) is not None else found.body[0]
        offset = sum(len(row) + 1 for row in text.split("\n")[: first.lineno - 1])
    return [text[:offset] + line[:count] + "\n" + text[offset:] for count in range(len(line) + 1)]


def parses(path: Path, text: str) -> bool:
    from cutile_lint.sources import Source
    from cutile_lint.unit.linking import program

    return not program.parse(Source(path, text.encode())).faults


class Results:
    """Everything measured, told as it comes."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.numbers: dict[str, dict[str, float]] = {}
        self.budgets: list[tuple[str, float, float]] = []
        self.libcst = LIBCST

    def tell(self, line: str) -> None:
        print(line, flush=True)
        self.lines.append(line)

    def series(self, what: str, seconds: list[float], budget: float | None = None) -> None:
        """``budget``: seconds for the p95 where `import libcst` takes :data:`LIBCST`."""
        ordered = sorted(seconds)
        p95 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
        median = statistics.median(ordered)
        self.numbers[what] = {"median_ms": median * 1e3, "p95_ms": p95 * 1e3, "max_ms": ordered[-1] * 1e3, "n": len(ordered)}
        self.tell(f"  {what:<52} {median * 1e3:7.0f} {p95 * 1e3:7.0f} {ordered[-1] * 1e3:7.0f} {len(ordered):5}")
        if budget is not None:
            self.budgets.append((f"{what}, p95 by import libcst", p95 / self.libcst, budget / LIBCST))

    def single(self, what: str, value: float, budget: float | None = None) -> None:
        self.numbers[what] = {"value": value}
        self.tell(f"  {what:<52} {value:7.2f}")
        if budget is not None:
            self.budgets.append((what, value, budget))

    def judge(self) -> None:
        self.tell("budgets")
        for what, value, budget in self.budgets:
            self.tell(f"  {'met   ' if value <= budget else 'MISSED'} {what}: {value:.3g} (at most {budget:.3g})")


def import_of_libcst() -> float:
    """How fast this machine is."""
    code = "import time; start = time.perf_counter(); import libcst; print(time.perf_counter() - start)"
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True) for _ in range(5)]
    return min(float(run.stdout) for run in runs)


def session_work(root: Path, results: Results, clock: Callable[[], float]) -> None:
    """The analysis alone, in this process."""
    import gc

    from cutile_lint.frontends.syntax import Module
    from cutile_lint.server.session import Session
    from cutile_lint.server.settings import ClientSettings
    from cutile_lint.sources import OpenSource, Source
    from cutile_lint.unit.linking import program

    parsed: list[Path] = []
    parse = program.parse

    def counted(source: Source, *before: Module | None) -> object:
        parsed.append(source.path)
        return parse(source, *before)

    program.parse = counted  # type: ignore[assignment]
    session = Session()
    session.set_client(ClientSettings(scope="open"), [root])
    opened = {path: OpenSource(path, path.read_bytes()) for path in (root / file for file in (WRAPPER, EXPORT, KERNEL))}

    def keystroke(path: Path, text: str) -> float:
        parsed.clear()
        start = clock()
        opened[path] = OpenSource(path, text.encode())
        session.update(dict(opened))
        while (key := session.next()) is not None:
            session.check(key)
        return clock() - start

    results.tell(f"{'the session alone':<52}    median     p95     max     n   (ms)")
    keystroke(root / WRAPPER, (root / WRAPPER).read_text())
    every: list[float] = []
    parsing: list[float] = []
    most = 0
    gc.disable()  # as in the server, which collects when the user pauses
    for what, (file, function, line) in SCENARIOS.items():
        path, seconds = root / file, []
        before = path.read_text()
        for text in texts(before, function, line):
            spent = keystroke(path, text)
            most = max(most, len(parsed))
            every.append(spent)
            if parses(path, text):
                seconds.append(spent)
            gc.collect(1)
        keystroke(path, before)
        results.series(what, seconds)
        parsing += seconds
    gc.enable()
    results.series("server work, keystrokes that parse", parsing)
    results.series("server work, all keystrokes", every, WORK)
    results.single("files parsed per keystroke, at most", most, 1)
    program.parse = parse


def protocol(root: Path, results: Results) -> None:
    """From the keystroke to the published diagnostics, with the protocol."""
    client = Client(root)
    results.tell(f"{'keystroke to published diagnostics (protocol)':<52}    median     p95     max     n   (ms)")
    try:
        client.start(options={"scope": "open"})
        uris = {file: client.open(root / file) for file in (WRAPPER, EXPORT, KERNEL)}
        for uri in uris.values():
            client.diagnostics(uri, 1)
        shown = {file: (root / file).read_text() for file in uris}

        def keystroke(file: str, text: str) -> float:
            before, uri = shown[file], uris[file]
            if text == before:
                return 0.0
            pairs = zip(before + "\0", text + "\0", strict=False)
            at = next(index for index, (old, new) in enumerate(pairs) if old != new)
            tail = 0
            while tail < min(len(before), len(text)) - at and before[-1 - tail] == text[-1 - tail]:
                tail += 1
            start_place, end_place = (_position(before, offset) for offset in (at, len(before) - tail))
            start = time.perf_counter()
            change = {"range": {"start": start_place, "end": end_place}, "text": text[at : len(text) - tail]}
            client.diagnostics(uri, client.change(uri, change))
            shown[file] = text
            return time.perf_counter() - start

        every: list[float] = []
        parsing: list[float] = []
        for what, (file, function, line) in SCENARIOS.items():
            first = shown[file]
            states = [(text, parses(root / file, text)) for text in texts(first, function, line)]
            spent = [(keystroke(file, text), good) for text, good in states]
            keystroke(file, first)
            results.series(f"{what}, published", [seconds for seconds, good in spent if seconds and good])
            parsing += [seconds for seconds, good in spent if seconds and good]
            every += [seconds for seconds, _ in spent if seconds]
        results.series("keystrokes that parse, published", parsing)
        results.series("all keystrokes, published", every, KEYSTROKE)
    finally:
        client.kill()


def _position(text: str, offset: int) -> dict[str, int]:
    head = text[:offset]
    return position(head.count("\n"), len(head.rsplit("\n", 1)[-1]))


def workspace(count: int, results: Results) -> None:
    """A workspace of many ops is opened."""
    results.tell(f"a workspace of {count} ops")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / ".git").mkdir()
        for number in range(count):
            target = root / "ops" / f"op{number}"
            shutil.copytree(ROOT / "examples" / "faulty" / "skill" / "scale_residual", target)
            for path in target.iterdir():
                path.write_text(path.read_text().replace("scale_residual", f"scale_residual_{number}"))
        client = Client(root)
        try:
            client.start()
            start = time.perf_counter()
            client.wait_for("textDocument/publishDiagnostics")
            results.single("first diagnostics after `initialized` (s)", time.perf_counter() - start, FIRST)
            uri = client.open(root / "ops" / f"op{count // 2}" / "wrapper.py")
            start = time.perf_counter()
            client.diagnostics(uri, 1)
            results.single("an opened op in the middle of it (s)", time.perf_counter() - start)
            results.series("requests meanwhile", list(_requests(client, uri)))
        finally:
            client.kill()


def _requests(client: Client, uri: str) -> Iterator[float]:
    for _ in range(40):
        start = time.perf_counter()
        client.request("textDocument/hover", {"textDocument": {"uri": uri}, "position": position(0, 0)})
        yield time.perf_counter() - start


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--ops", type=int, default=500)
    options.add_argument("--by", choices=("wall", "cpu"), default="wall")
    options.add_argument("--write", type=Path)
    given = options.parse_args()
    os.environ["PYTHONPATH"] = str(ROOT)
    results = Results()
    results.tell(f"Python {platform.python_version()}, {os.cpu_count()} processors; server work by {given.by} time")
    results.libcst = import_of_libcst()
    results.single("import libcst (s), the least of five processes", results.libcst)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "clean"
        shutil.copytree(ROOT / "examples" / "clean", root)
        (root / ".git").mkdir()
        session_work(root, results, time.process_time if given.by == "cpu" else time.perf_counter)
        protocol(root, results)
    workspace(given.ops, results)
    results.judge()
    if given.write is not None:
        given.write.mkdir(parents=True, exist_ok=True)
        (given.write / "lsp.txt").write_text("\n".join(results.lines) + "\n")
        budgets = [
            {"what": what, "value": value, "budget": budget, "met": value <= budget} for what, value, budget in results.budgets
        ]
        (given.write / "lsp.json").write_text(json.dumps({"numbers": results.numbers, "budgets": budgets}, indent=1) + "\n")


if __name__ == "__main__":
    main()
