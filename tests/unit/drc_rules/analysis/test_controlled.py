"""Which pieces of a line with a target count: what is a breakout, what lies over a hole, what of a pair runs apart."""

from __future__ import annotations

import pytest

from drc_rules.analysis.lines.routed import RoutedLine
from drc_rules.analysis.targets.controlled import ControlledLine, NetTarget, counted

TARGET = NetTarget(title="PCIe Gen5", ohm=85.0, kind="differential", lumped_mm=1.0)
PLANES = (None, 1)
HOLE = (None, None)


def single(
    length_mm: float,
    *,
    references: tuple[int | None, int | None] = PLANES,
    layer: int = 0,
    run_mm: float | None = None,
) -> ControlledLine:
    """A single line of one net."""
    return ControlledLine(
        TARGET,
        RoutedLine(
            layer=layer,
            width_mm=0.15,
            gap_mm=None,
            is_pair=False,
            references=references,
            length_mm=length_mm,
            longest_mm=length_mm,
            nets=(1,),
            net_lengths_mm=(length_mm,),
            net_runs_mm=(length_mm if run_mm is None else run_mm,),
        ),
    )


def trace(first_mm: float, second_mm: float, gap_mm: float | None, layer: int = 0) -> ControlledLine:
    """A pair's piece, coupled where it has a gap, with its length on either net."""
    return ControlledLine(
        TARGET,
        RoutedLine(
            layer=layer,
            width_mm=0.15,
            gap_mm=gap_mm,
            is_pair=True,
            references=PLANES,
            length_mm=first_mm + second_mm,
            longest_mm=max(first_mm, second_mm),
            nets=(1, 2),
            net_lengths_mm=(first_mm, second_mm),
            net_runs_mm=(first_mm, second_mm),
        ),
    )


@pytest.mark.parametrize(("length_mm", "counts"), [(0.9, False), (1.0, False), (1.01, True)])
def test_a_run_counts_from_a_breakout_on(length_mm: float, counts: bool) -> None:
    """1 mm, the lumped length of the target, is ignored, and no more."""
    usual = single(50.0)

    assert list(counted((usual, single(length_mm)))) == [usual, *([single(length_mm)] if counts else [])]


@pytest.mark.parametrize(("length_mm", "counts"), [(2.0, False), (9.9, False), (10.1, True)])
def test_short_runs_count_only_where_they_are_most_of_a_layer(length_mm: float, counts: bool) -> None:
    """Runs of 0.8 mm next to 10 mm in one piece: they do not add up until nothing else is as long."""
    usual, short = single(10.0), single(length_mm, run_mm=0.8)

    assert list(counted((usual, short))) == [usual, *([short] if counts else [])]


@pytest.mark.parametrize(("over_hole_mm", "counts"), [(5.0, False), (9.9, False), (10.1, True), (30.0, True)])
def test_a_piece_over_a_hole_counts_only_where_most_of_its_layers_routing_is_so(
    over_hole_mm: float, counts: bool
) -> None:
    """10 mm run over a plane on the same layer; 100 mm on another layer do not matter."""
    solid, elsewhere = single(10.0), single(100.0, layer=2)
    over_hole = single(over_hole_mm, references=HOLE)

    assert list(counted((solid, elsewhere, over_hole))) == [solid, elsewhere, *([over_hole] if counts else [])]


@pytest.mark.parametrize(("apart_mm", "counts"), [((4.0, 4.0), False), ((10.0, 9.0), False), ((4.0, 11.0), True)])
def test_traces_that_run_apart_count_only_where_most_of_a_net_does(apart_mm: tuple[float, float], counts: bool) -> None:
    """10 mm of either trace are coupled: 11 mm apart are most of a trace, 10 mm are not; other layers do not matter."""
    coupled, elsewhere = trace(10.0, 10.0, 0.2), trace(50.0, 50.0, 0.2, layer=2)
    apart = trace(*apart_mm, None)

    assert list(counted((coupled, elsewhere, apart))) == [coupled, elsewhere, *([apart] if counts else [])]


def test_a_pair_that_never_runs_together_counts_once_it_is_longer_than_its_breakouts() -> None:
    """All of 1.9 mm is most of it, but nothing else than breakouts; all of 2.1 mm counts."""
    short, long = trace(1.9, 1.9, None), trace(2.1, 2.1, None)

    assert list(counted((short,))) == []
    assert list(counted((long,))) == [long]
