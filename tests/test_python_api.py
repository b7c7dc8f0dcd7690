"""``cutile_lint.check``, as a program uses it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import cutile_lint
from cutile_lint.errors import CheckFailed, UserError
from cutile_lint.findings import Level

ROOT = Path(__file__).parents[1]


@pytest.fixture
def op(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    made = Path(shutil.copytree(ROOT / "rules" / "bases" / "row_scale", tmp_path / "ops"))
    wrapper = made / "row_scale.py"
    wrapper.write_text(wrapper.read_text().replace("y = torch.empty_like(x)\n", "y = torch.zeros_like(x)\n"))
    return made


def test_it_gives_the_findings_of_the_command_line(op: Path) -> None:
    (finding,) = cutile_lint.check([op])
    assert (finding.code, finding.name, finding.level, finding.path) == (
        "CTL101",
        "fill-in-kernel-fn",
        Level.ERROR,
        op / "row_scale.py",
    )
    assert finding.place.text == "torch.zeros_like(x)" and finding.fix is not None
    assert [item.code for item in cutile_lint.check([str(op / "row_scale_kernel" / "ffi.rs")])] == ["CTL101"]
    assert cutile_lint.check([op], ignore=["CTL1"]) == cutile_lint.check([op], select=["CTL3"]) == []
    assert not (op / ".cutile_lint_cache").exists()


def test_configuration_and_texts_count(op: Path) -> None:
    (op / "cutile-lint.toml").write_text('[severity]\nCTL101 = "info"\n')
    assert [item.level for item in cutile_lint.check([op])] == [Level.INFO]
    (op / "other.toml").write_text('ignore = ["CTL101"]\n')
    assert cutile_lint.check([op], config=op / "other.toml") == []
    assert [item.code for item in cutile_lint.check([op], config=op / "other.toml", select=["CTL101"])] == ["CTL101"]
    wrapper = op / "row_scale.py"
    mended = wrapper.read_text().replace("zeros_like", "empty_like")
    assert cutile_lint.check([op], texts={wrapper: mended}) == []
    wrapper.unlink()
    assert cutile_lint.check([wrapper], texts={wrapper: mended.encode()}) == []


def test_what_is_wrong_is_raised(op: Path) -> None:
    for arguments in (([op / "gone.py"], {}), ([op], {"select": ["NOPE9"]}), ([op], {"ignore": ["a b"]}), (str(op), {})):
        with pytest.raises(UserError):
            cutile_lint.check(arguments[0], **arguments[1])
    rules = op / "rules" / "own"
    rules.mkdir(parents=True)
    (rules / "own.yaml").write_text("{code: OWN101, name: own-rule, level: error, fix: manual, layer: wrapper, summary: Own}\n")
    (rules / "own.py").write_text("def check(unit):\n    raise ValueError('no')\n")
    (op / "cutile-lint.toml").write_text('rule-paths = ["rules"]\n')
    with pytest.raises(CheckFailed, match="rule OWN101 failed on `row_scale`: ValueError: no") as failed:
        cutile_lint.check([op], trust_project_rules=True)
    assert [item.code for item in failed.value.findings] == ["CTL101"]


def test_importing_the_package_costs_nothing() -> None:
    code = "import sys; before = set(sys.modules); import cutile_lint; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=30)
    assert set(done.stdout.split()) <= {"cutile_lint", "__future__"}
