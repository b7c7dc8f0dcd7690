from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cutile_lint.frontends import syntax as s
from cutile_lint.frontends.python import comments, parse, rewrite
from cutile_lint.frontends.python.layout import block_of, statements
from cutile_lint.frontends.python.rewrite import Rewrite
from tests.frontends.python.corpus import STATEMENTS
from tests.frontends.python.spans import dump, source

ROOT = Path(__file__).parents[3]


def applied(module: s.Module, change: Rewrite) -> str:
    data, last = module.source.data, 0
    for edit in change.edits:
        assert last <= edit.start <= edit.end
        last = edit.end
    for edit in reversed(change.edits):
        data = data[: edit.start] + edit.content.encode() + data[edit.end :]
    return data.decode()


def first_call(module: s.Module) -> s.Call:
    return next(node for node in module.walk() if isinstance(node, s.Call))


def statement(module: s.Module, text: str) -> s.Stmt:
    return next(item for item in statements(module.body) if module.source.slice(item.span).startswith(text))


def changed(text: str, operation: Callable[[s.Module], Rewrite | None]) -> tuple[str, bool] | None:
    module = parse(source(text))
    change = operation(module)
    if change is None:
        return None
    after = applied(module, change)
    assert not parse(source(after)).faults
    return after, change.drops_comment


# ── expressions and arguments ──────────────────────────────────────────────


@pytest.mark.parametrize(
    ("before", "text", "after"),
    [
        ("x = zeros(1)", "empty(1)", "x = empty(1)"),
        ("x = zeros(1).t()", "a + b", "x = (a + b).t()"),
        ("x = zeros(1) * 2", "a + b", "x = (a + b) * 2"),
        ("f(zeros(1))", "a + b", "f(a + b)"),
        ("x = -zeros(1)", "a.b[c]", "x = -a.b[c]"),
        ("é = zeros('é')\r\n", "empty('ü')", "é = empty('ü')\r\n"),
        ("x = not zeros(1)", "(a, b)", "x = not (a, b)"),
    ],
)
def test_replace_expression(before: str, text: str, after: str) -> None:
    def zeros(module: s.Module) -> s.Call:
        return next(n for n in module.walk() if isinstance(n, s.Call) and isinstance(n.func, s.Name) and n.func.id == "zeros")

    assert changed(before, lambda module: rewrite.replace_expression(module, zeros(module), text)) == (after, False)


def test_replacing_tells_of_a_comment_inside() -> None:
    text = "x = f(\n  1,  # why\n)\n"
    assert changed(text, lambda module: rewrite.replace_expression(module, first_call(module), "g()")) == ("x = g()\n", True)


def test_keyword_and_argument_replacement() -> None:
    def rename(module: s.Module) -> Rewrite | None:
        return rewrite.rename_keyword(module, first_call(module).args[1], "other")

    assert changed("f(1, größe = (2))", rename) == ("f(1, other = (2))", False)
    assert changed("f(1, 2)", rename) is None
    assert changed("f(1, **kw)", rename) is None
    replaced = changed("f(1, *a)", lambda module: rewrite.replace_argument(module, first_call(module).args[1], "k=3"))
    assert replaced == ("f(1, k=3)", False)


@pytest.mark.parametrize(
    ("before", "index", "after", "drops"),
    [
        ("f(a)", 0, "f()", False),
        ("f(a,)", 0, "f()", False),
        ("f(x for x in y)", 0, "f()", False),
        ("f(a, b, c)", 0, "f(b, c)", False),
        ("f(a, b, c)", 1, "f(a, c)", False),
        ("f(a, b, c)", 2, "f(a, b)", False),
        ("f(a, b, c,)", 2, "f(a, b,)", False),
        ("f((a), ((b)), *(c))", 1, "f((a), *(c))", False),
        ("f(g(1, 2), k=(1, 2), **z)", 1, "f(g(1, 2), **z)", False),
        ("f(\n    a,\n    b,\n)\n", 0, "f(\n    b,\n)\n", False),
        ("f(\n    a,\n    b,\n)\n", 1, "f(\n    a,\n)\n", False),
        ("f(\n    a,\n    b\n)\n", 1, "f(\n    a\n)\n", False),
        ("f(\n\ta,  # A\n\t# up\n\tb=1,  # B\n\tc=1\n)\n", 1, "f(\n\ta,  # A\n\tc=1\n)\n", True),
        ("f(\n    a,  # A\n    b,\n)\n", 1, "f(\n    a,  # A\n)\n", False),
        ("f(\n    a,  # A\n    b\n)\n", 1, "f(\n    a  # A\n)\n", False),
        ("f(a,  # A\n  b)", 1, "f(a  # A\n  )", False),
        ("f(a,  # A\n  b)", 0, "f(b)", True),
        ("f(a, b,  # B, too\n  c)", 1, "f(a,  # B, too\n  c)", False),
        ("f(a,\n  b='''x,\ny''',\n  c=1)", 1, "f(a,\n  c=1)", False),
        ("f(a, # é, ü\r\n  b, c)\r\n", 1, "f(a, # é, ü\r\n  c)\r\n", False),
    ],
)
def test_drop_argument(before: str, index: int, after: str, drops: bool) -> None:
    def drop(module: s.Module) -> Rewrite | None:
        return rewrite.drop_argument(module, first_call(module), first_call(module).args[index])

    assert changed(before, drop) == (after, drops)


@pytest.mark.parametrize(
    ("before", "keyword", "positional"),
    [
        ("f()", "f(k=9)", "f(9)"),
        ("f(a)", "f(a, k=9)", "f(a, 9)"),
        ("f(a,)", "f(a, k=9,)", "f(a, 9,)"),
        ("f(a, b=1)", "f(a, b=1, k=9)", "f(a, 9, b=1)"),
        ("f((a), **z)", "f((a), **z, k=9)", "f((a), 9, **z)"),
        ("f(x for x in y)", "f((x for x in y), k=9)", "f((x for x in y), 9)"),
        ("f(\n    a,\n    b=1,\n)", "f(\n    a,\n    b=1,\n    k=9,\n)", "f(\n    a,\n    9,\n    b=1,\n)"),
        ("f(\n\ta  # A\n)", "f(\n\ta,  # A\n\tk=9\n)", "f(\n\ta,  # A\n\t9\n)"),
        ("f(\n    a,\n    # up\n    b=1)", "f(\n    a,\n    # up\n    b=1,\n    k=9)", "f(\n    a,\n    9,\n    # up\n    b=1)"),
        ("f(\r\n  a,\r\n)", "f(\r\n  a,\r\n  k=9,\r\n)", "f(\r\n  a,\r\n  9,\r\n)"),
        ("f(  # none\n)", "f(k=9  # none\n)", "f(9  # none\n)"),
    ],
)
def test_add_argument(before: str, keyword: str, positional: str) -> None:
    assert changed(before, lambda module: rewrite.add_argument(module, first_call(module), "9", "k")) == (keyword, False)
    assert changed(before, lambda module: rewrite.add_argument(module, first_call(module), "9")) == (positional, False)


# ── statements ─────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("before", "after", "drops"),
    [
        ("a\nX()\nb\n", "a\nb\n", False),
        ("a\r\nX()\r\nb\r\n", "a\r\nb\r\n", False),
        ("a\rX()\rb\r", "a\rb\r", False),
        ("\ufeffX()\nb\n", "\ufeffb\n", False),
        ("\ufeffX()", "\ufeff", False),
        ("a\nX()", "a", False),
        ("a\r\nX()", "a", False),
        ("a\nX()\n", "a\n", False),
        ("a\nX(\n 1,  # in\n)  # tail\nb\n", "a\nb\n", True),
        ("a\n\n# mine\n# too\nX()\nb\n", "a\n\nb\n", True),
        ("# licence\nX()\nb\n", "# licence\nb\n", False),
        ("a\n# not mine\n\nX()\nb\n", "a\n# not mine\n\nb\n", False),
        ('a = """\n# text"""\nX()\nb\n', 'a = """\n# text"""\nb\n', False),
        ("if a:\n  # theirs\n    X()\n    b\n", "if a:\n  # theirs\n    b\n", False),
        ("a; X(); b\n", "a; b\n", False),
        ("X(); b  # tail\n", "b  # tail\n", False),
        ("a; X()  # tail\n", "a  # tail\n", False),
        ("a;  X();\n", "a;\n", False),
        ("a; \\\n  X()\nb\n", "a\nb\n", False),
        ("if a: X()\n", "if a: pass\n", False),
        ("if a: X(); b\n", "if a: b\n", False),
        ("def f():\n\t# mine\n\tX()  # tail\n", "def f():\n\t# mine\n\tpass  # tail\n", False),
        ("try: X()\nfinally: b\n", "try: pass\nfinally: b\n", False),
        ("match a:\n  case 1:\n    X()\n", "match a:\n  case 1:\n    pass\n", False),
        ("a\nX()\n\fb\n", "a\n\fb\n", False),
    ],
)
def test_delete_statement(before: str, after: str, drops: bool) -> None:
    assert changed(before, lambda module: rewrite.delete_statement(module, statement(module, "X"))) == (after, drops)


def test_a_definition_goes_with_its_decorators() -> None:
    text = "a\n@x\ndef f():\n    b\n    # last\n    c\nd\n"
    assert changed(text, lambda module: rewrite.delete_statement(module, module.body[1])) == ("a\nd\n", True)


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("a\nX()\nb\n", "a\nN\n  M\nX()\nb\n", "a\nX()\nN\n  M\nb\n"),
        ("\ufeffX()\r\n", "\ufeffN\r\n  M\r\nX()\r\n", "\ufeffX()\r\nN\r\n  M\r\n"),
        ("X()", "N\n  M\nX()", "X()\nN\n  M"),
        (
            "if a:\n\t# mine\n\tX(\n1)  # tail\n\t# next\n",
            "if a:\n\tN\n\t  M\n\t# mine\n\tX(\n1)  # tail\n\t# next\n",
            "if a:\n\t# mine\n\tX(\n1)  # tail\n\tN\n\t  M\n\t# next\n",
        ),
        ("X(); b\n", "N\n  M\nX(); b\n", None),
        ("a; X()\n", None, None),
        ("a; \\\n  X()\n", None, None),
        ("if a: X()\n", None, None),
        ("if a: \\\n  X()\n", None, None),
    ],
)
def test_insert(text: str, before: str | None, after: str | None) -> None:
    lines = ["N", "  M"]
    # `M` is no statement there; only where the lines go is asked
    for wanted, operation in ((before, rewrite.insert_before), (after, rewrite.insert_after)):
        module = parse(source(text))
        change = operation(module, statement(module, "X"), lines)
        assert (applied(module, change) if change else None) == wanted


def test_lines_go_before_decorators_and_never_before_an_elif() -> None:
    text = "if a:\n  pass\nelif b:\n  @x\n  def f(): pass\n"

    def before_definition(module: s.Module) -> Rewrite | None:
        return rewrite.insert_before(module, statement(module, "@x"), ["n = 1"])

    assert changed(text, before_definition) == ("if a:\n  pass\nelif b:\n  n = 1\n  @x\n  def f(): pass\n", False)
    for operation in (rewrite.delete_statement, lambda m, n: rewrite.insert_before(m, n, ["x"])):
        assert changed(text, lambda module, operation=operation: operation(module, statement(module, "elif"))) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f():\n    a\n", "def f():\n    n = 1\n    a\n"),
        (
            'def f():\n    """doc\n    more"""  # tail\n\n    a\n',
            'def f():\n    """doc\n    more"""  # tail\n    n = 1\n\n    a\n',
        ),
        ('def f():\r\n\t"doc"', 'def f():\r\n\t"doc"\r\n\tn = 1'),
        ("def f(): a\n", None),
        ('def f(): "doc"\n', None),
    ],
)
def test_insert_at_start(before: str, after: str | None) -> None:
    found = changed(before, lambda module: rewrite.insert_at_start(module, next(module.functions()), ["n = 1"]))
    assert found == (None if after is None else (after, False))


HOIST = '''\
def wrapper(a):
    # the kernel
    def kernel_fn(cfg):
        """Doc."""
        # made once
        # is enough
        X = torch.zeros(
            (1,
             2),  # shape
            name="""é
        kept""",
        )  # tail
        return launch(X)
    return tune(kernel_fn)
'''
HOISTED = '''\
def wrapper(a):
    # made once
    # is enough
    X = torch.zeros(
        (1,
         2),  # shape
        name="""é
        kept""",
    )  # tail
    # the kernel
    def kernel_fn(cfg):
        """Doc."""
        return launch(X)
    return tune(kernel_fn)
'''


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_a_hoist_takes_comments_along_and_keeps_strings(newline: str, bom: str) -> None:
    def hoist(module: s.Module) -> Rewrite | None:
        return rewrite.move_before(module, statement(module, "X"), statement(module, "def kernel_fn"))

    assert changed(bom + HOIST.replace("\n", newline), hoist) == (bom + HOISTED.replace("\n", newline), False)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("T\nif a:\n\t\tX()\n\t\tb\n", "X()\nT\nif a:\n\t\tb\n"),
        ("if c:\n\tT\n\tif a:\n\t\t\tX()\n", "if c:\n\tX()\n\tT\n\tif a:\n\t\t\tpass\n"),
        ("T\nif a:\n  # mine\n  X()  # tail\n", "# mine\nX()  # tail\nT\nif a:\n  pass\n"),
        ("T\nif a: X()  # theirs\n", "X()\nT\nif a: pass  # theirs\n"),
        ("T\nif a:\n  b; X(); c  # theirs\n", "X()\nT\nif a:\n  b; c  # theirs\n"),
        ("T\nif a:\n  b\n  X()", "X()\nT\nif a:\n  b"),
        ("T\nmatch a:\n  case 1:\n    X()\n    b\n", "X()\nT\nmatch a:\n  case 1:\n    b\n"),
        ("T\ntry: a\nexcept B: b\nelse:\n  X()\n  c\nfinally: d\n", "X()\nT\ntry: a\nexcept B: b\nelse:\n  c\nfinally: d\n"),
        ("T\nif a: pass\nelif b:\n  lambda: 1\n  X()\n", "X()\nT\nif a: pass\nelif b:\n  lambda: 1\n"),
        ("if a: T\nX()\n", None),
        ("a; T\nX()\n", None),
        ("T\nif X:\n  b\n", None),
    ],
)
def test_move_before(before: str, after: str | None) -> None:
    def move(module: s.Module) -> Rewrite | None:
        moved = statement(module, "if X" if "if X" in before else "X")
        return rewrite.move_before(module, moved, statement(module, "T"))

    assert changed(before, move) == (None if after is None else (after, False))


# ── all over a file ────────────────────────────────────────────────────────

VARIANTS = [STATEMENTS, STATEMENTS.replace("\n", "\r\n"), "\ufeff" + STATEMENTS.rstrip()]


@pytest.mark.parametrize("text", VARIANTS, ids=["lf", "crlf", "bom"])
def test_every_argument_can_be_dropped(text: str) -> None:
    module = parse(source(text))
    known = len(comments(module.source))
    for call in [node for node in module.walk() if isinstance(node, s.Call)]:
        for index, argument in enumerate(list(call.args)):
            change = rewrite.drop_argument(module, call, argument)
            assert change is not None
            after = parse(source(applied(module, change)))
            del call.args[index]
            assert not after.faults and dump(after.body) == dump(module.body), module.source.slice(call.span)
            call.args.insert(index, argument)
            assert change.drops_comment == (len(comments(after.source)) < known)


@pytest.mark.parametrize("text", VARIANTS, ids=["lf", "crlf", "bom"])
def test_lines_can_go_around_every_statement(text: str) -> None:
    module = parse(source(text))
    for item in statements(module.body):
        block = block_of(module, item)
        assert block is not None
        for operation, place in ((rewrite.insert_before, block.index), (rewrite.insert_after, block.index + 1)):
            change = operation(module, item, ["marker"])
            if change is None or (isinstance(item, s.ExprStmt) and isinstance(item.value, s.Const)):
                continue  # before a docstring it would be none any more
            after = parse(source(applied(module, change)))
            block.body.insert(place, s.ExprStmt(item.span, s.Name(item.span, "marker")))
            assert not after.faults and dump(after.body) == dump(module.body)
            del block.body[place]


def test_libcst_is_loaded_by_a_hoist_only() -> None:
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from cutile_lint.frontends.python import comments, parse, rewrite\n"
        "from cutile_lint.sources import Source\n"
        "module = parse(Source(Path('/virtual/a.py'), b'a\\nif b:\\n  c\\n'))\n"
        "rewrite.delete_statement(module, module.body[0])\n"
        "assert 'libcst' not in sys.modules\n"
        "rewrite.move_before(module, module.body[1].body[0], module.body[0])\n"
        "assert 'libcst' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)
