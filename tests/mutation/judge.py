"""One rewrite of one source, judged: the same codes as before, or which are lost and which are new."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass

import tree_sitter
import tree_sitter_rust

from cutile_lint.engine.cases import Tree

from .data import DATA
from .exempt import is_exempt
from .python import PYTHON, Rewrite
from .rust import RUST
from .sources import Source, before, findings_of

RUST_PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))
REWRITES: dict[str, Rewrite] = {**PYTHON, **RUST, **DATA}


@dataclass(frozen=True)
class Mutant:
    source: Source
    rewrite: str
    tree: Tree
    #: rules whose faults are meant to be found; each with its number of findings
    planted: Counter[str]
    lost: Counter[str]
    new: Counter[str]
    texts: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return f"{self.source.id} × {self.rewrite}"


def mutate(source: Source, rewrite: str) -> Mutant | None:
    """None if the rewrite does not apply. Raises AssertionError if its result does not parse."""
    codes, places = before(source)
    wanted = [place for code, place in places if source.planted in (code, "all")]
    tree = REWRITES[rewrite](source.tree, wanted)
    if tree is None or tree == source.tree:
        return None
    broken = broken_files(source.tree, tree)
    assert not broken, f"{source.id} × {rewrite}: {broken}"
    found = findings_of(source, tree)
    after = Counter(item.code for item in found)
    lost, new = (Counter({c: n for c, n in side.items() if not is_exempt(rewrite, c)}) for side in (codes - after, after - codes))
    planted = codes if source.planted == "all" else Counter({source.planted: codes[source.planted]} if source.planted else {})
    planted = Counter({code: number for code, number in planted.items() if not is_exempt(rewrite, code)})
    texts = tuple(
        f"{item.code} {item.place.path.name}:{item.place.start[0]} {item.message}" for item in found if item.code in new
    )
    return Mutant(source, rewrite, tree, planted, lost, new, texts)


def broken_files(old: Tree, new: Tree) -> list[str]:
    """Files that a rewrite changed and broke."""
    found = []
    for path, text in new.items():
        if text == old.get(path):
            continue
        if path.endswith(".py"):
            try:
                ast.parse(text)
            except SyntaxError as error:
                found.append(f"{path}: {error}")
        elif path.endswith(".rs"):
            tree = RUST_PARSER.parse(text.encode())
            if tree.root_node.has_error and not RUST_PARSER.parse(old.get(path, "").encode()).root_node.has_error:
                found.append(f"{path}: the Rust grammar does not take it")
    return found
