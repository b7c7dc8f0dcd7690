"""The command as a user runs it, and pages in headless Chromium."""

from __future__ import annotations

import html
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
_FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --hide-scrollbars --enable-logging=stderr"
).split()
#: What the measured copy of a page tells the page around it.
_MEASURE = """<script>
window.addEventListener("load", () => {
  const width = document.documentElement.clientWidth;
  const shown = selector => [...document.querySelectorAll(selector)].filter(one => one.getClientRects().length).length;
  const wide = [...document.querySelectorAll("body *")].filter(one => {
    const box = one.getBoundingClientRect();
    return !one.closest("svg") && box.width && (box.right > width + 1 || box.left < -1);
  });
  parent.postMessage({ [innerWidth]: {
    width, scroll: document.documentElement.scrollWidth, nodes: shown(".node"), lines: shown(".lines path"), cards: shown(".card"),
    wide: wide.map(one => one.tagName + "." + one.className + ": " + one.textContent.slice(0, 40)),
    ground: getComputedStyle(document.body).backgroundColor, ink: getComputedStyle(document.body).color,
  } }, "*");
});
</script>"""
#: Pages in frames of given widths (a window is never narrower than 500), the measurements as text.
_FRAMES = """<!DOCTYPE html><meta charset="utf-8"><link rel="icon" href="data:,"><pre id="measured"></pre><script>
const all = {};
addEventListener("message", event => {
  Object.assign(all, event.data);
  document.getElementById("measured").textContent = JSON.stringify(all);
});
</script>"""


@dataclass
class Done:
    status: int
    out: str
    err: str


@pytest.fixture
def command() -> Callable[..., Done]:
    """``command("flow", "gemm", columns=80)`` in the checkout's root."""

    def run(*arguments: str, columns: int = 80, cwd: Path = ROOT) -> Done:
        environment = {**os.environ, "COLUMNS": str(columns), "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
        for name in ("NO_COLOR", "FORCE_COLOR"):
            environment.pop(name, None)
        done = subprocess.run(
            [sys.executable, "-m", "cutile_lint.cli.main", *arguments],
            cwd=cwd,
            env=environment,
            capture_output=True,
            encoding="utf-8",
        )
        return Done(done.returncode, done.stdout, done.stderr)

    return run


@dataclass
class Pages:
    """``console``: what the page as written says there; ``measured``: by width, in a copy with a script."""

    console: list[str]
    measured: dict[int, dict[str, Any]]


@pytest.fixture(scope="session")
def browse() -> Callable[..., Pages]:
    """``browse(page, 1280, 390, dark=True)`` opens a page at some widths in headless Chromium."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.fail("Chromium is missing: `apt-get install chromium` (.ci/run does it)")

    def run(page: Path, dark: bool) -> tuple[str, str]:
        """(document, log); through files, because helper processes of the browser may keep a pipe open."""
        scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            waiting = ["--window-size=1400,1000", "--virtual-time-budget=3000", "--dump-dom"]
            command = [browser, *_FLAGS, scheme, f"--user-data-dir={profile}/data", *waiting, page.as_uri()]
            out, log = Path(profile, "out"), Path(profile, "log")
            with out.open("wb") as dom, log.open("wb") as said:
                subprocess.run(command, stdin=subprocess.DEVNULL, stdout=dom, stderr=said, timeout=90, check=True)
            return out.read_text(encoding="utf-8"), log.read_text(encoding="utf-8", errors="replace")

    def open_page(page: Path, *widths: int, dark: bool = False) -> Pages:
        text = page.read_text(encoding="utf-8")
        start = text.index('<meta http-equiv="Content-Security-Policy"')
        text = text[:start] + text[text.index(">", start) + 1 :]
        copy, around = page.with_name(f"measured-{page.name}"), page.with_name(f"around-{page.name}")
        copy.write_text(text.replace("</head>", f"{_MEASURE}</head>"), encoding="utf-8")
        frames = [
            f'<iframe src="{one.name}" style="border:0;width:{width}px;height:900px"></iframe>'
            for width in widths
            for one in (page, copy)
        ]
        around.write_text(_FRAMES + "".join(frames), encoding="utf-8")
        dom, log = run(around, dark)
        start = dom.index('id="measured">') + len('id="measured">')
        found = json.loads(html.unescape(dom[start : dom.index("</pre>", start)]) or "{}")
        return Pages([line for line in log.splitlines() if "CONSOLE" in line], {int(width): one for width, one in found.items()})

    return open_page
