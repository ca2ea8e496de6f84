"""Records behave as frozen dataclasses do."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import pytest

from stackup_lib.core.record import FEW, record, workpiece


@record
class Segment:
    """A piece of a line."""

    net: str
    ends_mm: tuple[float, float] = (0.0, 1.0)
    note: str = field(default="", compare=False, repr=False)

    @cached_property
    def length_mm(self) -> float:
        """From end to end."""
        return self.ends_mm[1] - self.ends_mm[0]


@record
class Column:
    """One array."""

    values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]


@record
class Named:
    """With methods of its own."""

    name: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and self.name.lower() == other.name.lower()

    def __hash__(self) -> int:
        return hash(self.name.lower())

    def __repr__(self) -> str:
        return f"<{self.name}>"


@dataclass(frozen=True)
class Usual:
    """What a record stands for."""

    net: str
    ends_mm: tuple[float, float] = (0.0, 1.0)


def test_equal_by_its_compared_fields_and_class() -> None:
    """As dataclasses are."""
    assert Segment("GND", (0.0, 2.0), note="a") == Segment("GND", (0.0, 2.0), note="b")
    assert Segment("GND") != Segment("VCC")
    usual: object = Usual("GND")
    assert Segment("GND") != usual
    assert {Segment("GND"), Segment("GND", note="b"), Segment("VCC")} == {Segment("VCC"), Segment("GND")}


def test_shown_as_a_dataclass_is() -> None:
    """Without what is not to be shown."""
    assert repr(Segment("GND", note="a")) == repr(Usual("GND")).replace("Usual", "Segment")


def test_changed_copied_pickled() -> None:
    """The standard library takes it for a dataclass, and nothing computed from the fields goes into a changed copy."""
    one = Segment("GND", (1.0, 4.0))

    assert one.length_mm == 3.0
    assert replace(one, ends_mm=(1.0, 2.0)).length_mm == 1.0
    assert pickle.loads(pickle.dumps(one)) == one  # noqa: S301 - its own
    assert [part.name for part in fields(Segment)] == ["net", "ends_mm", "note"]


@record
class Base:
    """What another record extends; none is ever made of it."""

    name: str = field(default_factory=lambda: "base")


@record
class Extended(Base):
    """The first field is inherited."""

    count: int = 2


def test_fields_are_found_before_the_first_one_is_made() -> None:
    """Of a class, of one that extends it, and of an instance that no `__init__` has made, as pickle's are."""
    unmade = Segment.__new__(Segment)
    unmade.__dict__.update(net="GND", ends_mm=(1.0, 2.0), note="a")

    assert [each.name for each in fields(Extended)] == ["name", "count"]
    assert [each.name for each in fields(Base)] == ["name"]
    assert (Extended().name, Extended("own", count=3).count) == ("base", 3)
    assert unmade == Segment("GND", (1.0, 2.0)) and hash(unmade) == hash(Segment("GND", (1.0, 2.0)))
    assert Base.__new__(Base) != Extended()


def test_a_single_array_is_compared_as_in_a_tuple() -> None:
    """Equal where it is the same array; no array of answers comes out."""
    values = np.array([1.0, 2.0])

    assert Column(values) == Column(values)
    with pytest.raises(ValueError, match="ambiguous"):
        assert Column(values) == Column(values.copy())


def test_own_methods_stay() -> None:
    """A class that defines one keeps it."""
    assert Named("A") == Named("a")
    assert len({Named("A"), Named("a")}) == 1
    assert repr(Named("A")) == "<A>"


@workpiece
class Tally:
    """What is counted."""

    name: str
    counts: dict[str, int] = field(default_factory=dict)
    total: int = 0

    def __post_init__(self) -> None:
        self.is_new = True


def test_a_workpiece_changes_and_is_equal_to_itself_alone() -> None:
    one, other = Tally("vias"), Tally("vias")
    one.total += 1
    one.counts["through"] = 1
    assert (one.total, one.is_new, other.total, other.counts) == (1, True, 0, {})
    assert one != other and len({one, other}) == 2
    assert repr(other) == "Tally(name='vias', counts={}, total=0)"
    assert [each.name for each in fields(one)] == ["name", "counts", "total"]


def test_the_first_and_the_hundredth_are_made_alike() -> None:
    """Whether the fields are set one by one or by an `__init__` that was written."""

    @workpiece
    class Counted(Tally):
        """A class of which none was made yet."""

        unit: str = "mm"

    made = [Counted("vias", unit="um") for _ in range(FEW + 2)]

    assert {str(vars(one)) for one in made} == {
        "{'name': 'vias', 'counts': {}, 'total': 0, 'unit': 'um', 'is_new': True}"
    }
    assert len({id(one.counts) for one in made}) == len(made)


@pytest.mark.parametrize("given", [{}, {"net": "GND", "width_mm": 1.0}])
def test_a_wrong_call_is_refused_as_python_does(given: dict[str, object]) -> None:
    """A field is lacking, or no such one is there; in the first call of the class and later."""

    @record
    class Lone:
        """A class of which none was made yet."""

        net: str

    with pytest.raises(TypeError, match=r"Lone.__init__\(\)"):
        Lone(**given)  # type: ignore[arg-type]
    assert Lone("GND").net == "GND"
    with pytest.raises(TypeError, match=r"Lone.__init__\(\)"):
        Lone("GND", net="VCC")  # type: ignore[misc]


class _Asked(type):
    """A class that works its annotations out when they are asked for, as every class of Python 3.14 does."""

    @property
    def __annotations__(cls) -> dict[str, object]:  # type: ignore[override]
        return {"net": str, "width_mm": float}


def test_annotations_that_are_worked_out_when_asked_for_are_fields() -> None:
    """Python 3.14, which KiCad brings, has none in the class itself."""
    lazy: Any = _Asked("Lazy", (), {"width_mm": 0.1})
    assert "__annotations__" not in vars(lazy)

    made = record(lazy)("GND")

    assert vars(made) == {"net": "GND", "width_mm": 0.1}
