"""Our ``dataclass`` makes what the standard one makes."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import pytest

from cutile_lint import records

OPTIONS = [
    {"frozen": frozen, "slots": slots, "eq": eq} for frozen in (False, True) for slots in (False, True) for eq in (False, True)
]


def make(kind: Any, options: dict[str, bool]) -> Any:
    """A class with every kind of field that is used, made by one of the two."""

    class Example:
        first: int
        second: str = "two"
        third: list[int] = kind.field(default_factory=list)
        fourth: int = kind.field(default=4, compare=False)
        fifth: int = kind.field(init=False, default=5)

        def doubled(self) -> int:
            return 2 * self.first

    return kind.dataclass(**options)(Example)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_it_behaves_like_the_standard_one(options: dict[str, bool]) -> None:
    ours, theirs = make(records, options), make(dataclasses, options)
    arguments: list[tuple[tuple[Any, ...], dict[str, Any]]] = [((1,), {}), ((1, "x"), {"third": [3]}), ((2,), {"fourth": 9})]
    for values, named in arguments:
        one, other = ours(*values, **named), theirs(*values, **named)
        assert repr(one) == repr(other)
        assert one.doubled() == other.doubled()
        assert (one == ours(*values, **named)) == (other == theirs(*values, **named))
        assert (ours(1, fourth=7) == ours(1)) == (theirs(1, fourth=7) == theirs(1))
        assert dataclasses.asdict(one) == dataclasses.asdict(other)
        assert (
            repr(dataclasses.replace(one, first=8))
            == repr(records.replace(one, first=8))
            == repr(dataclasses.replace(other, first=8))
        )
    assert (one == object()) is (other == object()) is False
    assert ours(1).third is not ours(1).third
    assert [item.name for item in dataclasses.fields(ours)] == [item.name for item in dataclasses.fields(theirs)]
    assert ours.__match_args__ == theirs.__match_args__
    assert (ours.__hash__ is None) == (theirs.__hash__ is None)
    assert hasattr(ours(1), "__dict__") == hasattr(theirs(1), "__dict__")
    for call in (lambda made: made(), lambda made: made(1, 2, 3, 4, 5), lambda made: made(1, other=2)):
        for made in (ours, theirs):
            with pytest.raises(TypeError):
                call(made)
    for made in (ours, theirs):
        item = made(1)
        if options["frozen"]:
            with pytest.raises(dataclasses.FrozenInstanceError):
                item.first = 2
            with pytest.raises(dataclasses.FrozenInstanceError):
                del item.first
        else:
            item.first = 2
            assert item.first == 2


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_first_instances_are_like_the_later_ones(options: dict[str, bool]) -> None:
    """The constructor is generated after a few."""
    ours = make(records, options)
    shown = set()
    for _ in range(20):
        shown.add((repr(ours(1, third=[3])), repr(ours(first=1)), repr(ours(1, "x", [], 9))))
    assert len(shown) == 1
    for call in ((), (1, 2, 3, 4, 5), (1, 2, 3, 4, 5, 6)):
        with pytest.raises(TypeError):
            make(records, options)(*call)
    for named in ({"first": 1, "other": 2}, {"first": 1, "fifth": 2}, {"second": 2}):
        with pytest.raises(TypeError):
            make(records, options)(**named)
    with pytest.raises(TypeError):
        make(records, options)(1, first=1)


@records.dataclass(frozen=True, slots=True)
class Base:
    first: int
    second: tuple[int, ...] = ()


@records.dataclass(frozen=True, slots=True)
class Derived(Base):
    third: str = "three"


@records.dataclass(slots=True)
class After:
    first: int
    second: int = records.field(init=False)

    def __post_init__(self) -> None:
        self.second = self.first + 1


@dataclasses.dataclass(frozen=True)
class Standard(Base):
    fourth: int = 4


def test_inheritance_hash_and_pickle() -> None:
    one = Derived(1, (2,))
    assert one == Derived(1, (2,)) and hash(one) == hash(Derived(1, (2,))) and one != Base(1, (2,))  # type: ignore[comparison-overlap]
    assert pickle.loads(pickle.dumps(one)) == one
    assert Derived.__slots__ == ("third",)  # type: ignore[attr-defined]
    assert repr(Derived(1)) == "Derived(first=1, second=(), third='three')"
    assert After(1).second == 2
    assert Standard(1).fourth == 4 and Standard(1, (), 5) == Standard(1, (), 5)


def test_what_a_class_defines_itself_is_kept() -> None:
    @records.dataclass(frozen=True, slots=True)
    class Own:
        value: int

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 7

        def __repr__(self) -> str:
            return "own"

    assert Own(1) == Own(2) and hash(Own(1)) == 7 and repr(Own(1)) == "own"


def test_a_pattern_takes_it_apart() -> None:
    match Derived(1, (2,), "x"):
        case Derived(first, (second,), third):
            assert (first, second, third) == (1, 2, "x")
        case _:
            raise AssertionError
