"""The documentation of the checklist, from its table: ``python -m cutile_lint.checklist.table > docs/checklist.md``."""

from __future__ import annotations

from cutile_lint.checklist.items import ITEMS, SECTIONS, Item

_HEAD = """\
# The pre-submit checklist

`cutile-lint checklist [OP|PATH ...]` goes through the checklist of a port, item by item. Each item is one of

- **pass**: shown, with the places and the values seen there;
- **fail**: a rule has a finding, or what lies beside the source speaks against it;
- **unverified**: it could not be told, with the reason (a file that is not there, code that could not be followed, a suppressed finding);
- **not applicable**: the item has nothing to say about this op, with the reason.

Silence of the rules alone never passes an item. The exit status is 1 for a failed item, with `--require-verified` also for an unverified one.

```
cutile-lint checklist gemm                                 # an op by name, below the current folder
cutile-lint checklist src/tilegym/ops/cutile_rs            # all ops of a folder
cutile-lint checklist gemm --output-format markdown        # to paste into a report; json for programs
```

Beside the sources it reads the built library (as an ELF file; nothing is loaded), `generated/*.mlir`, the reference, the op's tests, and the
first lines of `reports/*.md`. Findings of level info don't fail an item; they keep it from passing where they are about it.

<!-- made by `python -m cutile_lint.checklist.table`: edit cutile_lint/checklist/items.py -->
"""


def document() -> str:
    """The page: for each section its items, the rules that stand for them, and what a pass is shown by."""
    lines = [_HEAD]
    for section in SECTIONS:
        lines += [f"## {section}", "", "| item | rules | what a pass is shown by |", "| --- | --- | --- |"]
        lines += [_row(item) for item in ITEMS if item.section == section]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _row(item: Item) -> str:
    rules = ", ".join(f"[{code}](rules/{code}.md)" for code in item.rules) or "–"
    return f"| {item.title} (`{item.key}`) | {rules} | {item.how} |"


if __name__ == "__main__":
    import sys

    sys.stdout.write(document())
