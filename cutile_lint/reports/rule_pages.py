"""Rules' documentation as Markdown: one page per rule and an index by group, for ``docs/rules``.

``python -m cutile_lint.reports.rule_pages docs/rules`` writes them; ``--check`` only says which of them differ.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from cutile_lint.engine.registry import RuleInfo, builtin_rules
from cutile_lint.engine.rule_docs import RuleDoc, load_doc
from cutile_lint.regex import regex
from cutile_lint.reports.rules import sections, toml

#: group (a folder of rules) -> what its rules are about; one that is not here goes by its own name
GROUPS = {
    "timed_region": "Timed region and per-call path",
    "compile_options": "Compile options",
    "autograd": "Autograd contract",
    "transpose": "Who transposes",
    "boundary": "FFI boundary",
    "kernel": "Kernel",
    "ir": "Generated Tile IR",
    "tests": "Tests and surfaces",
    "layout": "Layout of the project",
    "linter": "The linter itself",
}
_FIXES = {
    "safe": "safe (`--fix`)",
    "unsafe": "unsafe (`--fix --unsafe-fixes`)",
    "manual": "by hand",
}
_LEAD = "<!-- Made from {source} by `python -m cutile_lint.reports.rule_pages docs/rules`: change that file, not this one. -->"
_FENCE = regex(r"\s*(```|~~~)")
_ITEM = regex(r"\s*([-*]|\d+\.) ")
#: a code span, a link, or a rule's code outside of both
_CODE = regex(r"(`+[^`]*`+|\[[^\]]*\]\([^)]*\))|\b([A-Z]{2,}\d{3})\b")


def pages(rules: Iterable[RuleInfo]) -> dict[str, str]:
    """File name -> text: ``CTL101.md`` for each rule, and ``index.md``. Raises RuleFileError for a broken YAML file."""
    rules = list(rules)
    known = {info.code for info in rules}
    made = {f"{info.code}.md": rule_page(load_doc(info), known) for info in rules}
    return {"index.md": index_page(rules)} | made


def rule_page(doc: RuleDoc, known: Iterable[str] = ()) -> str:
    """A rule's page. Codes of ``known`` rules in its texts become links."""
    info = doc.info
    known = set(known) - {info.code}
    facts = {
        "level": info.level.value,
        "fix": _FIXES[info.fix],
        "layer": info.layer,
        "needs": ", ".join(info.needs),
        "group": f"[{_group(info)}](index.md#{_anchor(_group(info))})",
    }
    lines = [
        _LEAD.format(source=f"rules/{info.module.replace('.', '/')}.yaml"),
        f"# {info.code} {info.name}",
        _linked(_sentence(info.summary), known),
        " · ".join(f"**{name}:** {value}" for name, value in facts.items() if value),
    ]
    for heading, text in sections(doc).items():
        lines += [f"## {heading}", _linked(_spaced(text), known)]
    lines += [
        "## Configuration",
        f'Leave it out with `ignore = ["{info.code}"]` ([configuration](../configuration.md)), or in one place with '
        f"`cutile-lint: ignore[{info.code}]` in a comment ([suppressions](../suppressions.md)).",
    ]
    return "\n\n".join(lines) + "\n"


def index_page(rules: Iterable[RuleInfo]) -> str:
    """All rules in one table per group, groups and rules by code."""
    groups: dict[str, list[RuleInfo]] = {}
    for info in sorted(rules, key=lambda info: info.code):
        groups.setdefault(_group(info), []).append(info)
    lines = [
        _LEAD.format(source="rules/"),
        "# Rules",
        "All rules are on by default; `select` and `ignore` take a code, the beginning of codes (`CTL1`) or a name. "
        "`cutile-lint rule CTL101` shows a rule's page in the terminal.",
    ]
    for title, members in groups.items():
        rows = ["| rule | name | level | fix | what |", "|---|---|---|---|---|"]
        for info in members:
            cells = (f"[{info.code}]({info.code}.md)", info.name, info.level.value, info.fix, info.summary.replace("|", "\\|"))
            rows.append(f"| {' | '.join(cells)} |")
        lines += [f"## {title}", "\n".join(rows)]
    options = [(info, option) for members in groups.values() for info in members for option in info.options]
    if options:
        rows = ["| rule | option | takes | default | what |", "|---|---|---|---|---|"]
        for info, option in options:
            cells = (
                f"[{info.code}]({info.code}.md)",
                f"`{option.name}`",
                option.takes,
                f"`{toml(option.default)}`",
                option.description,
            )
            rows.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
        told = "Some rules have options, set in [`rules`](../configuration.md#options-of-rules) of the configuration."
        lines += ["## Options", told, "\n".join(rows)]
    return "\n\n".join(lines) + "\n"


def differences(folder: Path, wanted: Mapping[str, str]) -> list[str]:
    """Names of pages in ``folder`` that are missing, differ, or belong to no rule; sorted."""
    there = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    return sorted(name for name in there.keys() | wanted.keys() if there.get(name) != wanted.get(name))


def write(folder: Path, wanted: Mapping[str, str]) -> list[str]:
    """Make ``folder`` hold just these pages; returns the names that changed."""
    folder.mkdir(parents=True, exist_ok=True)
    changed = differences(folder, wanted)
    for name in changed:
        if name in wanted:
            folder.joinpath(name).write_text(wanted[name], encoding="utf-8", newline="\n")
        else:
            folder.joinpath(name).unlink()
    return changed


def _group(info: RuleInfo) -> str:
    folder = info.module.split(".")[0]
    return GROUPS.get(folder, folder.replace("_", " ").capitalize())


def _anchor(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def _sentence(summary: str) -> str:
    """The summary as a sentence: it begins with a capital unless a name in backticks does, and ends with a full stop."""
    return summary[:1].upper() + summary[1:] + "."


def _spaced(text: str) -> str:
    """A blank line before each list and code block, which Markdown's stricter readers need."""
    lines: list[str] = []
    in_code = False
    for line in text.split("\n"):
        fence = bool(_FENCE.match(line))
        opens = (fence and not in_code) or (not in_code and bool(_ITEM.match(line)))
        if opens and lines and lines[-1].strip() and not _in_list(lines):
            lines.append("")
        in_code ^= fence
        lines.append(line)
    return "\n".join(lines)


def _in_list(lines: Sequence[str]) -> bool:
    """Whether the paragraph that ``lines`` ends with is an item of a list."""
    for line in reversed(lines):
        if not line.strip():
            return False
        if _ITEM.match(line):
            return True
    return False


def _linked(text: str, known: Iterable[str]) -> str:
    """``text`` with links for the codes of known rules outside of code."""

    def link(found: re.Match[str]) -> str:
        code = found[2]
        return f"[{code}]({code}.md)" if code in known else found[0]

    in_code, lines = False, []
    for line in text.split("\n"):
        fence = bool(_FENCE.match(line))
        in_code ^= fence
        lines.append(line if in_code or fence else _CODE.sub(link, line))
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 1 if ``--check`` finds a page that differs."""
    parser = argparse.ArgumentParser(prog="python -m cutile_lint.reports.rule_pages", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a page differs")
    options = parser.parse_args(arguments)
    wanted = pages(builtin_rules())
    changed = differences(options.folder, wanted) if options.check else write(options.folder, wanted)
    for name in changed:
        print(f"{options.folder / name}: {'differs' if options.check else 'written' if name in wanted else 'removed'}")
    return int(options.check and bool(changed))


if __name__ == "__main__":
    sys.exit(main())
