"""``cutile-lint new-rule``: the two files of a rule, with cases that fail until they are written."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from cutile_lint.cli.common import command_parser
from cutile_lint.engine.registry import all_rules
from cutile_lint.engine.rule_index import LAYERS
from cutile_lint.errors import UserError
from cutile_lint.reports.view import View

_YAML = """\
code: {code}
name: {name}
level: warning
fix: manual
layer: {layer}
summary: One line that says what is wrong, without a full stop
what: |
  Reports … (what exactly, and how far it is followed).
why: |
  What it costs or breaks.
example: |
  ```python
  …
  ```
fix_safety: |
  Manual: why there is no fix.
leaves_alone:
  - what looks alike and is right
{options}{pattern}valid:
  - name: clean-op
    base: row_scale
  - name: looks-alike
    base: row_scale
    only: true
    edits:
      # [old text, new text]: something that looks like the fault and is none
      row_scale.py:
        - ["TODO: a text of the base", "TODO: what to make of it"]
invalid:
  - name: plain
    base: row_scale
    edits:
      # put the fault in; the tree of the base is in `rules/bases/row_scale` of cutile-lint
      row_scale.py:
        - ["        y = torch.empty_like(x)\\n", "        y = torch.empty_like(x)\\n        TODO_fault()\\n"]
    findings:
      - at: TODO_fault()
        message: "what the message says, or a part of it"
"""

_OPTIONS = """\
# what users may set in `[tool.cutile-lint.rules.{code}]`; the check is then `check(unit, options)`
# options:
#   most: {type: integer, default: 16, minimum: 1, description: how many of them are accepted}
"""

_PATTERN = {
    "python": """\
pattern:
  # dotted names as the op's run sees them (aliases are followed), `*` for any, `.name` for a method
  call: [todo.name_of_the_call]
  place: timed-region  # or per-call, anywhere
  message: "`{call}` does … in the timed region"
  help: what to do
""",
    "rust": """\
pattern:
  # a tree-sitter query; the node that is captured as @finding is the place
  rust: |
    (macro_invocation macro: (identifier) @name (#eq? @name "todo")) @finding
  message: "`{text}` does …"
  help: what to do
""",
}

_CODE = '''\
"""{code}: say in one line what it finds."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding
from cutile_lint.unit import KernelUnit


def check(unit: KernelUnit) -> Iterator[Finding]:
    # Ask the model; look at no file. For example, every call of something outside the project that an op's run comes to:
    for run in unit.runs:
        for event in run.trace.events:
            if event.kind == "call" and event.name == "todo.name_of_the_call":
                yield Finding(
                    event.place,
                    f"`{{event.name}}` does …",
                    help="what to do",
                    statement=event.statement,
                    symbol=event.stop.frame.name,
                )
'''


def parser() -> argparse.ArgumentParser:
    made = command_parser("new-rule", "Write the files of a new rule, with cases that fail until they are written.")
    add = made.add_argument
    add("name", metavar="NAME", help="such as fill-in-kernel-fn")
    add("--code", metavar="CODE", help="such as ACME101 (default: the next free OWN code)")
    add("--folder", type=Path, default=Path("rules"), metavar="DIR", help="the folder of rules (default: rules)")
    add("--group", default="own", metavar="GROUP", help="the folder in it (default: own)")
    add("--layer", choices=LAYERS, default="wrapper", metavar="LAYER", help=f"of the finding: {', '.join(LAYERS)}")
    add("--pattern", choices=sorted(_PATTERN), metavar="LANGUAGE", help="a rule without code: python or rust")
    return made


def main(arguments: Sequence[str]) -> int:
    options = parser().parse_args(arguments)
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", options.name):
        raise UserError(f"`{options.name}` is no name of a rule: small letters, digits and single dashes are expected")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", options.group):
        raise UserError(f"`{options.group}` is no name of a group: small letters, digits and underscores are expected")
    rules, errors = all_rules([options.folder.absolute()] if options.folder.is_dir() else [])
    if errors:
        raise UserError("; ".join(errors))
    taken = {info.code for info in rules}
    code = options.code or next(f"OWN{number}" for number in range(101, 1000) if f"OWN{number}" not in taken)
    if not re.fullmatch(r"[A-Z]{2,8}[0-9]{3,4}", code):
        raise UserError(f"`{code}` is no code: two to eight capital letters and three or four digits are expected")
    for key in (code, options.name):
        if any(key in (info.code, info.name) for info in rules):
            raise UserError(f"a rule `{key}` is there already")
    layer = "export" if options.pattern == "rust" and options.layer == "wrapper" else options.layer
    stem = options.folder / options.group / options.name.replace("-", "_")
    texts = {stem.with_suffix(".yaml"): _yaml(code, options.name, layer, options.pattern)}
    if options.pattern is None:
        texts[stem.with_suffix(".py")] = _CODE.format(code=code)
    _write(texts)
    view = View()
    for path in texts:
        print(f"{view.path(path.absolute())}")
    print(f"Next: write the cases and the rule, and run `cutile-lint test-rules {view.path(options.folder.absolute())}`.")
    return 0


def _yaml(code: str, name: str, layer: str, pattern: str | None) -> str:
    text = (
        _YAML.replace("{options}", "" if pattern else _OPTIONS)
        .replace("{code}", code)
        .replace("{name}", name)
        .replace("{layer}", layer)
    )
    return text.replace("{pattern}", _PATTERN[pattern] if pattern else "")


def _write(texts: dict[Path, str]) -> None:
    for path in texts:
        if path.exists():
            raise UserError(f"{path}: is there already")
    try:
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise UserError(f"{error.filename}: cannot be written: {error.strerror or error}") from None
