"""A Rust file as a :class:`Module`.

How Rust is read into ``frontends.syntax``, where that leaves a choice:

- The tail of a function that returns something, and of a closure, is ``Return(implicit=True)``: of a :class:`Cond`,
  :class:`MatchExpr` or :class:`Block` when it is control flow. In a function without ``->`` a tail is a statement like
  any other (:class:`If`, :class:`Match`, :class:`ExprStmt`).
- An arm's value is ``Result``; where the ``match`` itself is a statement, control flow in its arms stays statements.
- ``{ value }`` is the value; ``unsafe { … }`` always keeps its :class:`Block` (in value position the value is
  ``Block.value``). Loops, assignments and jumps in value position stand in a :class:`Block` or :class:`Jump`. A
  labelled loop stands in a labelled :class:`Block`.
- ``let`` has its name (or a tuple of names) as target, and ``pattern`` when it is more than a name; a pattern with
  constructors has no target. Struct fields and enum variants are declaring assignments; ``type A = B`` too (annotation
  "type").
- Generics directly before a call's parentheses are in ``Call.generics``, any others stay in the path's text
  (``Name.head`` drops them).
- A macro's body and arguments are parsed again in place; tokens that are no Rust by themselves are
  ``Opaque("tokens")``, types ``Opaque("type")``, what doesn't parse ``Opaque("error")``: their text is the source's at
  their span. A link of a method chain in two repetitions at once is ``Opaque("repetition")``. Only errors of the file itself are
  faults: in a macro's body, what looks wrong may be right after expansion.
"""

from __future__ import annotations

from cutile_lint.frontends import syntax
from cutile_lint.frontends.rust import arguments, control, expressions, flow, items, macros, patterns  # noqa: F401  (they register handlers)
from cutile_lint.frontends.rust.lexer import bracket_depth
from cutile_lint.frontends.rust.reader import Reader, TooDeep, TooSlow, start_clock, tree
from cutile_lint.frontends.rust.statements import read_all
from cutile_lint.sources import Source
from cutile_lint.sources.limits import too_long_words, too_many_marks

MAX_BYTES = 2_000_000
#: brackets open at once; real code stays below 40
MAX_BRACKETS = 200
#: nodes of the file's tree; 200 KB of dense code have 90 thousand
MAX_NODES = 400_000


def parse(source: Source) -> syntax.Module:
    """Read a file. Never raises for its content: beyond a limit the module says so in ``refused``."""
    module = syntax.Module(source, "rust", [])
    data = source.data
    if len(data) > MAX_BYTES:
        module.refused = f"larger than {MAX_BYTES // 1_000_000} MB"
        return module
    if told := too_many_marks(data) or too_long_words(data):
        module.refused = told
        return module
    if bracket_depth(data) > MAX_BRACKETS:
        module.refused = f"more than {MAX_BRACKETS} brackets open at once"
        return module
    start_clock()
    try:
        root = tree(data)
    except TooSlow:
        module.refused = "the parser gave up"
        return module
    if root.descendant_count > MAX_NODES:
        module.refused = f"more than {MAX_NODES} syntax nodes"
        return module
    if root.has_error:
        from cutile_lint.frontends.rust.faults import faults

        module.faults = faults(source, root)
    try:
        module.body = read_all(Reader(data, data), root.named_children)
    except (TooDeep, TooSlow, RecursionError):
        module.body = []
        module.refused = "nested too deeply"
    return module
