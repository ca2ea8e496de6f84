"""Cached results of the field solver: the same to the last bit, and of the same arguments and solver only."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from stackup_lib.core import result_cache
from stackup_lib.core.result_cache import DIGEST_BYTES, cached_result, using_cache
from stackup_lib.field_solver import perturbation, solver
from stackup_lib.field_solver.perturbation import perturb
from stackup_lib.field_solver.sections import GeometryError, Layer, Mask, Section, Strip
from stackup_lib.field_solver.solver import LADDER, impedance_once, solve_once

LINE = Section(layers=(Layer(thickness_mm=0.2, er=4.0),), strips=(Strip(
    base_width_mm=0.3, top_width_mm=0.28, thickness_mm=0.035, bottom_mm=0.2, centre_mm=0.0),),
    mask=Mask(er=3.5, on_laminate_mm=0.03, on_trace_mm=0.015),
)  # fmt: skip
PAIR = Section(
    layers=(Layer(thickness_mm=0.1, er=3.3), Layer(thickness_mm=0.12, er=3.6)),
    strips=tuple(
        Strip(base_width_mm=0.1, top_width_mm=0.09, thickness_mm=0.015, bottom_mm=0.1, centre_mm=x)
        for x in (-0.12, 0.12)
    ),
    plane_above=True,
)
UNEQUAL = PAIR.model_copy(
    update={"strips": (PAIR.strips[0], PAIR.strips[1].model_copy(update={"base_width_mm": 0.14}))}
)
QUESTIONS: tuple[Callable[[], object], ...] = (
    lambda: solve_once(LINE, LADDER[1]).numbers(),
    lambda: solve_once(PAIR, LADDER[1]).numbers(),
    lambda: solve_once(UNEQUAL, LADDER[1]).numbers(),
    lambda: impedance_once(LINE, LADDER[0]),
    lambda: impedance_once(PAIR, LADDER[0]),
    lambda: perturb(LINE, "single").numbers(),
    lambda: perturb(PAIR, "odd").numbers(),
    lambda: perturb(PAIR, "even", 1e-2).numbers(),
)


class Memory:
    """A cache in memory."""

    def __init__(self) -> None:
        self.entries: dict[bytes, bytes] = {}

    def get(self, key: bytes) -> bytes | None:
        """Return an entry."""
        return self.entries.get(key)

    def put(self, key: bytes, answer: bytes) -> None:
        """Add an entry."""
        self.entries[key] = answer


@pytest.fixture
def memory() -> Iterator[Memory]:
    """A cache that is empty."""
    place = Memory()
    with using_cache(place):
        yield place


@pytest.fixture
def no_solver(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Call it to make whatever is solved from there on an error."""

    def refused(*_: object) -> None:
        raise AssertionError("solved")

    def refuse() -> None:
        for module in (solver, perturbation):
            monkeypatch.setattr(module, "assemble", refused)

    return refuse


def same(first: object, second: object) -> bool:
    """Tell whether two answers are equal to the last bit, NaN and the sign of zero included."""
    return repr(first) == repr(second)


@pytest.mark.parametrize("ask", QUESTIONS)
def test_a_result_comes_back_to_the_last_bit(
    ask: Callable[[], object], memory: Memory, no_solver: Callable[[], None]
) -> None:
    """Without the solver, which would refuse."""
    with using_cache(None):
        alone = ask()
    first = ask()
    assert memory.entries
    no_solver()
    assert same(ask(), first)
    assert same(first, alone)


def test_a_solution_comes_back_whole(memory: Memory) -> None:
    """Of a pair its odd mode's return current as well; of unequal traces there is none."""
    for section, has_modes in ((PAIR, True), (UNEQUAL, False), (LINE, False)):
        first, again = solve_once(section, LADDER[0]), solve_once(section, LADDER[0])
        assert again is not first
        assert again.relative_capacitance.shape == first.relative_capacitance.shape
        assert again.shares == first.shares
        assert again.odd_shares == first.odd_shares
        assert (again.odd_shares is not None) == has_modes
        assert isinstance(again.unknowns, int)
        assert again.impedance_ohm == first.impedance_ohm
        assert math.isnan(again.error_estimate)
    assert len(memory.entries) == 3


def test_without_a_cache_nothing_is_cached(no_solver: Callable[[], None]) -> None:
    """Each question is solved."""
    with using_cache(Memory()):
        impedance_once(LINE, LADDER[0])
    no_solver()
    with pytest.raises(AssertionError, match="solved"):
        impedance_once(LINE, LADDER[0])


def test_every_number_of_the_arguments_counts(memory: Memory) -> None:
    """One unit in the last place of any length or permittivity, a plane, a mask, a mode, a rung or a tolerance."""

    def up(value: float) -> float:
        return math.nextafter(value, math.inf)

    strip, layer, mask = LINE.strips[0], LINE.layers[0], LINE.mask
    assert mask
    changes: list[dict[str, object]] = [{}, {"mask": None}, {"coplanar_gap_mm": 0.3}]
    changes.append({"mask": mask.model_copy(update={"side_mm": 0.02})})
    for name in ("base_width_mm", "top_width_mm", "thickness_mm", "bottom_mm", "centre_mm"):
        changes.append({"strips": (strip.model_copy(update={name: up(getattr(strip, name))}),)})
    for name in ("thickness_mm", "er"):
        changes.append({"layers": (layer.model_copy(update={name: up(getattr(layer, name))}),)})
    for name in ("er", "on_laminate_mm", "on_trace_mm"):
        changes.append({"mask": mask.model_copy(update={name: up(getattr(mask, name))})})
    for change in changes:
        impedance_once(LINE.model_copy(update=change), LADDER[0])
    assert len(memory.entries) == len(changes)
    impedance_once(LINE, LADDER[1])
    solve_once(LINE, LADDER[1])
    perturb(PAIR, "odd", 1e-2)
    perturb(PAIR, "even", 1e-2)
    perturb(PAIR, "even", up(1e-2))
    assert len(memory.entries) == len(changes) + 5


def test_a_damaged_entry_is_ignored(memory: Memory) -> None:
    """Each single byte turned, the end cut off, nothing, and the entry of another key."""
    expected = impedance_once(LINE, LADDER[0])
    ((key, good),) = memory.entries.items()
    impedance_once(PAIR, LADDER[0])
    (other,) = (answer for one, answer in memory.entries.items() if one != key)
    turned = [bytes(byte ^ 1 if k == at else byte for k, byte in enumerate(good)) for at in range(len(good))]
    for bad in (*turned, good[:-1], good[:DIGEST_BYTES], b"", good + b"\0" * 8, other):
        memory.entries[key] = bad
        assert impedance_once(LINE, LADDER[0]) == expected
        assert memory.entries[key] == good


def test_an_error_is_raised_each_time(memory: Memory) -> None:
    """Errors are not cached."""
    for _ in range(2):
        with pytest.raises(GeometryError, match="mode"):
            perturb(LINE, "odd")
    assert not memory.entries


def test_results_of_another_solver_are_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any change of the text of its modules, one more of them, or another NumPy."""
    source = Path(solver.__file__).parent
    digests = []
    for name, change in (("same", b""), ("changed", b"\n"), ("more", b"")):
        folder = tmp_path / name
        shutil.copytree(source, folder, ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "kernels.py").write_bytes((folder / "kernels.py").read_bytes() + change)
        if name == "more":
            (folder / "new.py").write_bytes(b"")
        digests.append(result_cache._digest_of(folder))
    assert digests[0] == result_cache._digest_of(source)
    monkeypatch.setattr(np, "__version__", "0.0")
    digests.append(result_cache._digest_of.__wrapped__(source))
    assert len({*digests}) == 4


def test_without_the_source_of_the_solver_nothing_is_cached(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a program that was packed into one file: the version of a result would be unknown."""
    monkeypatch.setattr(result_cache, "_digest_of", lambda _: None)
    asked: list[float] = []

    @cached_result(lambda answer: (answer,), lambda numbers: numbers[0])
    def doubled(value: float) -> float:
        asked.append(value)
        return 2 * value

    assert doubled(2.0) == doubled(2.0) == 4.0
    assert asked == [2.0, 2.0]
    assert not memory.entries
