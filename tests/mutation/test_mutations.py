"""Rewrites that keep what a file does keep what the rules say about it: every fault is found, and nothing else.

A sample that is the same in every run; `python -m tests.mutation.table --all` looks at every source under every rewrite.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Iterator

import pytest

from tests.summary import MUTANTS

from .judge import REWRITES, Mutant, mutate
from .sources import OF_THE_LINTER, RULES, Source, sources

CODES = [info.code for info in RULES if info.code not in OF_THE_LINTER]
BASES = ("row_scale", "gemm", "batched")


def _shuffled(items: Iterable[str], seed: str) -> list[str]:
    return sorted(items, key=lambda item: zlib.crc32(f"{seed} {item}".encode()))


def mutants(chosen: list[Source], number: int, seed: str) -> Iterator[Mutant]:
    """So many mutants of some sources, each of another source as far as there are enough."""
    by_id = {source.id: source for source in chosen}
    rewrites = _shuffled(REWRITES, seed)
    made = 0
    for round_ in range(3):
        for index, name in enumerate(_shuffled(by_id, seed)):
            for rewrite in _shuffled(rewrites, f"{name} {round_} {index}")[:6]:
                mutant = mutate(by_id[name], rewrite)
                if mutant is not None:
                    yield mutant
                    made += 1
                    break
            if made == number:
                return


#: puts what was tried into the table that `.ci/run` prints
Record = Callable[[str, object], None]


def _tried(record_property: Record, rule: str, mutants: list[Mutant], clean: bool) -> None:
    counted = {
        "rule": rule,
        "planted": sum(mutant.planted.total() for mutant in mutants),
        "missed": sum(mutant.lost.total() for mutant in mutants),
        "clean": len(mutants) if clean else 0,
        "alarms": sum(mutant.new.total() for mutant in mutants),
    }
    record_property(MUTANTS, json.dumps(counted))


def _told(mutant: Mutant) -> str:
    files = {path: text for path, text in mutant.tree.items() if text != mutant.source.tree.get(path)}
    changed = "\n".join(f"── {path}\n{text}" for path, text in files.items())
    return f"{mutant.id}: lost {dict(mutant.lost)}, new {list(mutant.texts)}\n{changed}"


@pytest.mark.parametrize("code", CODES)
def test_faults_are_found_behind_rewrites(code: str, record_property: Record) -> None:
    faulty = [source for source in sources() if source.planted == code]
    made = list(mutants(faulty, 1 + zlib.crc32(code.encode()) % 2, code))
    _tried(record_property, code, made, clean=False)
    problems = [_told(mutant) for mutant in made if mutant.lost or mutant.new]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("code", CODES)
def test_clean_code_stays_clean(code: str, record_property: Record) -> None:
    clean = [source for source in sources() if source.planted is None and source.about == code]
    made = list(mutants(clean, 1, code))
    _tried(record_property, code, made, clean=True)
    problems = [_told(mutant) for mutant in made if mutant.new or mutant.lost]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("rewrite", REWRITES)
def test_a_base_stays_clean(rewrite: str) -> None:
    name = BASES[zlib.crc32(rewrite.encode()) % len(BASES)]
    source = next(source for source in sources() if source.id == f"base-{name}")
    mutant = mutate(source, rewrite)
    assert mutant is None or not mutant.new, _told(mutant)


@pytest.mark.parametrize(
    ("source", "rewrite"),
    [
        ("faulty-tilegym", "py-partial"),
        ("CTL802-invalid-xfail-in-the-test", "py-from-import"),
        ("CTL802-invalid-skip-without-reason", "py-from-import"),
    ],
)
def test_what_fell_out_of_a_larger_run_once(source: str, rewrite: str) -> None:
    mutant = mutate(next(one for one in sources() if one.id == source), rewrite)
    assert mutant is not None
    assert not mutant.lost and not mutant.new, mutant.texts
