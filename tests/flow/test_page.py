"""The page of ``cutile-lint flow`` in a real browser, at the widths of a desktop, a tablet and a phone."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import subprocess
    import sys

    page = tmp_path_factory.mktemp("page") / "flow.html"
    root = Path(__file__).parents[2]
    command = [
        sys.executable,
        "-m",
        "cutile_lint.cli.main",
        "flow",
        "examples/faulty",
        "--output-format",
        "html",
        "--output-file",
        str(page),
    ]
    done = subprocess.run(command, cwd=root, capture_output=True, encoding="utf-8")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return page


WIDTHS = (1280, 768, 390)


@pytest.fixture(scope="module")
def light(faulty: Path, browse: Callable):
    return browse(faulty, *WIDTHS)


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_overflows_and_the_console_is_silent(light, width: int) -> None:
    assert light.console == []
    found = light.measured[width]
    assert found["scroll"] <= found["width"] <= width
    assert found["wide"] == []
    if width == 1280:
        assert found["nodes"] > 100 and found["lines"] > 100 and found["cards"] == 0
    else:
        assert found["nodes"] == 0 and found["cards"] > 50


def test_light_and_dark(faulty: Path, light, browse: Callable) -> None:
    dark = browse(faulty, 390, dark=True)
    assert dark.console == []

    def luminance(color: str) -> float:
        red, green, blue = (int(part) / 255 for part in re.findall(r"\d+", color)[:3])
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    assert luminance(light.measured[390]["ground"]) > 0.9 > 0.3 > luminance(light.measured[390]["ink"])
    assert luminance(dark.measured[390]["ground"]) < 0.1 < 0.7 < luminance(dark.measured[390]["ink"])


def test_the_page_needs_nothing_else(faulty: Path) -> None:
    text = faulty.read_text(encoding="utf-8")
    assert not re.search(r"https?://|<script|<link rel=\"stylesheet|@import|url\(", text)
    assert "default-src 'none'" in text


def test_code_is_escaped(tmp_path: Path, command: Callable, browse: Callable) -> None:
    import shutil

    root = Path(__file__).parents[2]
    shutil.copytree(root / "examples/clean/skill/scale_residual", tmp_path / "op")
    wrapper = tmp_path / "op" / "wrapper.py"
    text = wrapper.read_text(encoding="utf-8")
    assert "float(alpha)," in text
    evil = 'float({"<img src=x onerror=alert(1)>": alpha, "&lt;/style>": 1}["<img src=x onerror=alert(1)>"]),'
    wrapper.write_text(text.replace("float(alpha),", evil), encoding="utf-8")
    page = tmp_path / "flow.html"
    done = command("flow", str(tmp_path / "op"), "--output-format", "html", "--output-file", str(page))
    assert (done.status, done.err) == (0, "")
    html = page.read_text(encoding="utf-8")
    assert "<img" not in html
    assert "&lt;img src=x onerror=alert(1)&gt;" in html
    opened = browse(page, 390)
    assert opened.console == []
    assert opened.measured[390]["wide"] == []
