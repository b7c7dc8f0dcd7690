"""Configuration is found by nearness, read strictly, and explained when wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutile_lint.config import Configurations, Settings
from cutile_lint.errors import UserError
from cutile_lint.findings import Level


def _config(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_the_nearest_file_that_speaks_of_us_wins_without_merging(tmp_path: Path) -> None:
    _config(tmp_path / "pyproject.toml", '[tool.cutile-lint]\nignore = ["CTL1"]\ntarget-arch = "sm100"\n')
    _config(tmp_path / "a" / "pyproject.toml", '[project]\nname = "x"\ndependencies = ["cutile-lint"]\n')
    _config(tmp_path / "b" / "cutile-lint.toml", 'select = ["CTL2"]\n')
    found = Configurations()
    outer, inner = found.for_file(tmp_path / "a" / "m.py"), found.for_file(tmp_path / "b" / "c" / "m.py")
    assert outer.ignore == ("CTL1",) and outer.target_arch == "sm_100" and outer.root == tmp_path
    assert inner.select == ("CTL2",) and inner.ignore == () and inner.file == tmp_path / "b" / "cutile-lint.toml"
    assert tmp_path / "a" / "cutile-lint.toml" in found.workspace.misses


def test_extend_is_explicit_and_own_keys_win(tmp_path: Path) -> None:
    _config(tmp_path / "base" / "shared.toml", 'ignore = ["CTL1"]\nmin-level = "error"\ncache-dir = "cache"\n')
    _config(tmp_path / "cutile-lint.toml", 'extend = "base/shared.toml"\nignore = ["CTL3"]\n')
    settings = Configurations().for_file(tmp_path / "m.py")
    assert settings.ignore == ("CTL3",) and settings.min_level is Level.ERROR
    assert settings.cache_dir == tmp_path / "base" / "cache"
    _config(tmp_path / "base" / "shared.toml", 'extend = "../cutile-lint.toml"\n')
    with pytest.raises(UserError, match="circle"):
        Configurations().for_file(tmp_path / "m.py")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('ingore = ["CTL1"]', "unknown key `ingore`; did you mean `ignore`?"),
        ('target_arch = "sm_90"', "unknown key `target_arch`; did you mean `target-arch`?"),
        ('select = "CTL1"', "key `select` takes a list of strings, not `'CTL1'`"),
        ('select = ["CTL 1"]', "key `select` holds `CTL 1`, which is no rule code"),
        ("ignore = [1]", "key `ignore` takes a list of strings"),
        ('[severity]\nCTL101 = "fatal"', "key `severity` entry `CTL101` takes `info`, `warning` or `error`, not `'fatal'`"),
        ('[runtime-names]\ncheck_rc = ["ok"]', "key `runtime-names` has an unknown entry `check_rc`; did you mean `check-rc`?"),
        ('[per-file-ignores]\n"a.py" = "CTL1"', "key `per-file-ignores` entry `a.py` takes a list of strings"),
        ('target-arch = "hopper"', "key `target-arch` takes a GPU architecture such as `sm_100`"),
        ("target-version = 0.2", "key `target-version` takes a cutile version such as `0.2.0`, not `0.2`"),
        ('output-format = "jsn"', "did you mean `json`?"),
        ("select = [", "not valid TOML"),
        ("extend = 3", "key `extend` takes the path"),
        ('extend = "none.toml"', "key `extend` names `none.toml`, which is not there"),
    ],
)
def test_errors_name_file_and_key(tmp_path: Path, text: str, told: str) -> None:
    file = _config(tmp_path / "cutile-lint.toml", text + "\n")
    with pytest.raises(UserError) as error:
        Configurations().for_file(tmp_path / "m.py")
    assert str(error.value).startswith(f"{file}: ")
    assert told in str(error.value)


def test_given_configuration_replaces_the_search(tmp_path: Path) -> None:
    _config(tmp_path / "cutile-lint.toml", 'ignore = ["CTL1"]\n')
    given = _config(tmp_path / "other" / "ci.toml", 'rule-paths = ["rules"]\n')
    assert Configurations(config=given).for_file(tmp_path / "m.py").rule_paths == (tmp_path / "other" / "rules",)
    with pytest.raises(UserError, match="no such file"):
        Configurations(config=tmp_path / "gone.toml")
    _config(tmp_path / "x" / "pyproject.toml", "[tool.other]\n")
    with pytest.raises(UserError, match="no table"):
        Configurations(config=tmp_path / "x" / "pyproject.toml")


def test_rule_folders_of_a_discovered_file_are_not_trusted(tmp_path: Path) -> None:
    _config(tmp_path / "cutile-lint.toml", 'rule-paths = ["rules"]\n')
    found = Configurations().for_file(tmp_path / "m.py")
    assert found.rule_paths == () and found.untrusted_rule_paths == (tmp_path / "rules",)
    assert Configurations(trust_rules=True).for_file(tmp_path / "m.py").rule_paths == (tmp_path / "rules",)


def test_the_longest_selector_decides_and_ignore_wins_a_draw() -> None:
    settings = Settings(select=("CTL1", "CTL201"), ignore=("CTL10", "CTL201"), extend_select=("fill-in-kernel-fn",))
    assert (
        settings.selects("CTL110")
        and not settings.selects("CTL102")
        and not settings.selects("CTL201")
        and not settings.selects("CTL301")
    )
    assert settings.selects("CTL101", "fill-in-kernel-fn")
    assert Settings().selects("CTL999")


def test_per_file_ignores_severity_and_excludes(tmp_path: Path) -> None:
    settings = Settings(
        root=tmp_path,
        per_file_ignores={"tests/**": ("CTL1",), "gen.py": ("ALL",)},
        severity={"CTL1": Level.INFO, "CTL101": Level.WARNING},
        extend_exclude=("old/", "/top.py"),
    )
    assert settings.ignored_in_file(tmp_path / "tests" / "a" / "t.py", "CTL101")
    assert not settings.ignored_in_file(tmp_path / "tests" / "t.py", "CTL201")
    assert settings.ignored_in_file(tmp_path / "deep" / "gen.py", "CTL201")
    assert settings.level_of("CTL101", "", Level.ERROR) is Level.WARNING
    assert settings.level_of("CTL102", "", Level.ERROR) is Level.INFO
    assert settings.level_of("CTL201", "", Level.ERROR) is Level.ERROR
    assert settings.excludes(str(tmp_path / "x" / "old" / "a.py")) and settings.excludes(str(tmp_path / "top.py"))
    assert not settings.excludes(str(tmp_path / "x" / "top.py"))
    assert not settings.excludes("/elsewhere/top.py")


def test_configured_runtime_names_are_added(tmp_path: Path) -> None:
    _config(tmp_path / "cutile-lint.toml", '[runtime-names]\nautotune-launch = ["tune"]\n')
    settings = Configurations().for_file(tmp_path / "m.py")
    assert settings.names("autotune-launch") == ("autotune_launch", "tune")
    assert settings.names("check-rc") == ("check_rc",)


def test_without_configuration_the_defaults_hold(tmp_path: Path) -> None:
    settings = Configurations().for_file(tmp_path / "m.py")
    assert settings.file is None and settings.selects("CTL101") and settings.min_level is Level.WARNING
