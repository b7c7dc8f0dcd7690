"""A real editing session against the server: `python -m benchmarks.lsp.run [--ops N]`.

Types a line into the largest example wrapper character by character, as an editor sends it, and measures from the keystroke to the
published diagnostics of that version; the same texts through the session alone give the server's own work. Then opens a
workspace of N copies of an op and measures from `initialized` to the first diagnostics, and how long requests wait meanwhile.
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "server")]

from client import Client, position  # noqa: E402

WRAPPER = "tilegym/src/tilegym/ops/cutile_rs/gemm.py"
#: typed one after the other, each whole line parses at its end
LINES = ("    scale = 1.0\n", "    del scale\n")


def texts(text: str) -> list[str]:
    """The states of the text while the lines are typed at the start of a function's body, each on a line of its own.

    The line is opened first, as an editor does: typed in front of other code nearly every state would be a syntax error, which
    costs nothing, and the numbers would say nothing about the analysis.
    """
    lines = text.split("\n")
    row = next(at for at, line in enumerate(lines) if line.startswith("def "))
    while not lines[row].rstrip().endswith(":"):
        row += 1
    offset = sum(len(line) + 1 for line in lines[: row + 1])
    if lines[row + 1].lstrip().startswith('"""'):
        offset = text.index('"""', text.index('"""', offset) + 3) + 4
    typed = "".join(LINES)
    return [text[:offset] + typed[:count] + "\n" + text[offset:] for count in range(len(typed))]


def parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def told(what: str, seconds: list[float]) -> None:
    if not seconds:
        print(f"{what}: none")
        return
    ordered = sorted(seconds)
    p95 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    print(f"{what}: median {statistics.median(ordered) * 1e3:.0f} ms, p95 {p95 * 1e3:.0f} ms, n {len(ordered)}")


def session_work(root: Path) -> None:
    """The analysis alone, in this process."""
    from cutile_lint.server.session import Session
    from cutile_lint.server.settings import ClientSettings
    from cutile_lint.sources import Source
    from cutile_lint.unit.linking import program

    parsed: list[Path] = []
    parse = program.parse

    def counted(source: Source) -> object:
        parsed.append(source.path)
        return parse(source)

    program.parse = counted  # type: ignore[assignment]
    session = Session()
    session.set_client(ClientSettings(scope="open"), [root])
    wrapper = root / WRAPPER
    analysed, others, most = [], [], 0
    for at, text in enumerate([wrapper.read_text(), *texts(wrapper.read_text())]):
        source = Source(wrapper, text.encode())
        parsed.clear()
        checks = 0
        start = time.perf_counter()
        session.update({wrapper: source})
        while (key := session.next()) is not None:
            session.check(key)
            checks += 1
        if at:
            (analysed if checks else others).append(time.perf_counter() - start)
            most = max(most, len(parsed))
            assert bool(checks) == parses(text), "a text that parses is analysed, and only such a one"
    program.parse = parse
    told("server work, keystrokes that are analysed", analysed)
    told("server work, keystrokes that leave a syntax error", others)
    told("server work, all keystrokes", analysed + others)
    print(f"files parsed per keystroke: at most {most}")


def protocol(root: Path) -> None:
    """From the keystroke to the published diagnostics, with the protocol."""
    client = Client(root)
    try:
        client.start(options={"scope": "open"})
        wrapper = root / WRAPPER
        uri = client.open(wrapper)
        client.diagnostics(uri, 1)
        before = wrapper.read_text()
        analysed, others = [], []
        for text in texts(before):
            at = next(index for index, (old, new) in enumerate(zip(before + "\0", text + "\0", strict=False)) if old != new)
            head = before[:at]
            place = position(head.count("\n"), len(head.rsplit("\n", 1)[-1]))
            start = time.perf_counter()
            version = client.change(
                uri, {"range": {"start": place, "end": place}, "text": text[at : at + len(text) - len(before)]}
            )
            client.diagnostics(uri, version)
            (analysed if parses(text) else others).append(time.perf_counter() - start)
            before = text
        told("keystroke to diagnostics, analysed", analysed)
        told("keystroke to diagnostics, syntax error", others)
        told("keystroke to diagnostics, all", analysed + others)
    finally:
        client.kill()


def workspace(count: int) -> None:
    """A workspace of many ops is opened."""
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
            print(f"workspace of {count} ops: first diagnostics after {time.perf_counter() - start:.2f} s")
            uri = client.open(root / "ops" / f"op{count // 2}" / "wrapper.py")
            start = time.perf_counter()
            client.diagnostics(uri, 1)
            print(f"an opened op in the middle of it: {time.perf_counter() - start:.2f} s")
            seconds = []
            for _ in range(40):
                start = time.perf_counter()
                client.request("textDocument/hover", {"textDocument": {"uri": uri}, "position": position(0, 0)})
                seconds.append(time.perf_counter() - start)
            told("requests meanwhile", seconds)
        finally:
            client.kill()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--ops", type=int, default=500)
    count = options.parse_args().ops
    os.environ["PYTHONPATH"] = str(ROOT)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "clean"
        shutil.copytree(ROOT / "examples" / "clean", root)
        (root / ".git").mkdir()
        session_work(root)
        protocol(root)
    workspace(count)


if __name__ == "__main__":
    main()
