"""Python of our own with what is awkward to place or to rewrite."""

STATEMENTS = '''\
# -*- coding: utf-8 -*-
"""Docstring with # and "quotes"."""
from __future__ import annotations

import os.path, sys as system
from . import sibling as other, größe
from ..up.deep import (
    one,  # first
    two as zwei,
)

TABLE = {"a": 1, **other.rows, "é" "ß": [1, *rest, 2.5e-3, 0x1F, 3j]}
text = "one " \\
    'two' if False else r"\\d" ("x")
x: int = 3; y: list[int]; z = w = None
(a), b.c, d[0] = (1), 2, 3
matrix @= (m @ n) - -k ** ~j // 2 % 3 << 1 >> 2 | 4 & 5 ^ 6


@decorator
@ other.decorate(  # why
    "@", flag=True)
async \\
    def größe_von(first, /, second: int=1, *args: tuple, third, fourth: "str"=("é"), **kw) -> dict[str, int]:
    """Inner docstring."""
    global TABLE
    async with open(first) as f, (lock): pass
    async for (i) in (stream):
        await (yield i)
    else:
        del first, second
    return [j async for j in aiter() if j if not j is None]


class Kernel(Base[int], metaclass=Meta):
\tdef method(self):
\t\tnonlocal_free = lambda *a, k=1, **kw: (yield)
\t\tdef inner():
\t\t\tnonlocal nonlocal_free
\t\t\tyield from (self).größe . ñame [ 1 : 2 , :: 3 ] ( 1 )
\t\treturn (inner  # ) a comment (
\t\t\t)(1, *a, k=2, **kw), self.f(v for v in w)


fits = ((0) <= ((n)) < (1 << 48) != (2  # )
))
if 0 < a <= b != c is not d not in e: pass
elif not (a and b or c): x = 1; y = 2;
else:
    while True:
        if (n := len(a)) > 10: break
        continue
    else: ...
try:
    raise ValueError(f"é {a!r:>{width}} {b=} {{c}} {d['#']:#x}" "tail") from None
except (A, B) as error:
    assert error, "message"
except C: raise
else: pass
finally:
    f"""
    ü {first(
        1, 2)} and {second:{third}.{fourth}} {lambda_ or (lambda v: v)!s}
    """
match point, other:
    case (0, [1, *rest]) | {"k": -1, **more} if rest: pass
    case Point(x=0, y=y) as p: pass
    case Color.RED | None | "a" "b": pass
    case _: pass
\f
values = {k: v for k, v in pairs if k for q in v}, {s for s in t}, a[b, c:][...], (), (1,)
'''
