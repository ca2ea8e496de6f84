"""Via spans as a lattice: lamination cycles counted by hand, spans that cross, and what a laser makes."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from drc_rules.analysis.via.build_up import build_up, describe
from fixtures.miniboard import MiniBoard, write
from stackup_lib.board.board import Board
from stackup_lib.kicad import read_board
from stackup_lib.vias.build_ups import build_ups
from stackup_lib.vias.via_spans import Layers, cross, cycles_of_spans, impossible, lasered, locked_in, spans

EIGHT = "F.Cu 0.035\n" + "".join(f"prepreg 0.2\nIn{k}.Cu 0.0175\n" for k in range(1, 7)) + "prepreg 0.2\nB.Cu 0.035\n"
NAMES = ("F.Cu", "In1.Cu", "In2.Cu", "In3.Cu", "In4.Cu", "In5.Cu", "In6.Cu", "B.Cu")


def board_with(folder: Path, *vias: tuple[str, int, int, float]) -> Board:
    """Eight layers of 0.2 mm each with vias of a kind, from a layer to a layer (counted from 1), of a diameter."""
    rows = [
        {
            "net": "GND",
            "at_mm": [5 + 2 * k, 10],
            "kind": kind,
            "span": [NAMES[top - 1], NAMES[bottom - 1]],
            "drill_mm": drill,
            "size_mm": drill + 0.2,
        }
        for k, (kind, top, bottom, drill) in enumerate(vias)
    ]
    mini = MiniBoard.model_validate({"size_mm": (60, 40), "stackup": EIGHT, "vias": rows})
    return read_board(write(mini, folder, "board"))


def layers(*pairs: Layers) -> set[Layers]:
    """Spans as an engineer counts them, from L1."""
    return {(top - 1, bottom - 1) for top, bottom in pairs}


@pytest.mark.parametrize(
    ("count", "drilled", "blind", "expected"),
    [
        pytest.param(2, [], [], 1, id="two layers"),
        pytest.param(8, [], [], 1, id="through vias: all cores and prepregs at once"),
        pytest.param(8, [], [(1, 2), (7, 8)], 2, id="1-N-1: the core, then the outer layers"),
        pytest.param(8, [(2, 7)], [(1, 2), (7, 8)], 2, id="1-N-1 with buried vias in its core"),
        pytest.param(8, [(3, 6)], [(1, 2), (2, 3), (6, 7), (7, 8)], 3, id="2-N-2 with a buried core"),
        pytest.param(10, [(4, 7)], [(1, 2), (2, 3), (3, 4), (7, 8), (8, 9), (9, 10)], 4, id="3-N-3 with a buried core"),
        pytest.param(8, [(1, 4), (5, 8)], [], 2, id="two packages of four, then the whole"),
        pytest.param(8, [(1, 4), (5, 8)], [(1, 2), (7, 8)], 2, id="the same, with microvias from outside"),
        pytest.param(16, [(1, 8), (9, 16), (1, 4), (13, 16)], [], 3, id="four in eight in sixteen"),
        pytest.param(8, [(3, 4)], [], 1, id="a buried via in one core: drilled before the only press"),
        pytest.param(8, [(2, 7), (3, 6)], [], 3, id="buried inside buried"),
        pytest.param(8, [(3, 6)], [(1, 3), (6, 8)], 2, id="skip vias reach the buried core in one step"),
        pytest.param(6, [], [(1, 2), (2, 3), (4, 5), (5, 6)], 2, id="2+2+2: its core is one laminate"),
        pytest.param(6, [], [(1, 2), (2, 3)], 2, id="the other side is pressed along"),
        pytest.param(6, [], [(1, 2), (2, 3), (3, 4), (4, 5), (5, 6)], 2, id="any-layer 6: N/2 - 1 on a core"),
        pytest.param(10, [], [(k, k + 1) for k in range(1, 10)], 4, id="any-layer 10"),
        pytest.param(12, [(4, 8)], [], 2, id="L4 to L8 first, of 12"),
        pytest.param(8, [(1, 6), (3, 8)], [], None, id="L1-L6 with L3-L8"),
        pytest.param(8, [(1, 4), (4, 8)], [], None, id="one layer in two packages"),
        pytest.param(8, [(1, 4), (5, 8)], [(4, 5)], None, id="a microvia between two packages"),
    ],
)
def test_presses_agree_with_those_worked_out_by_hand(
    count: int, drilled: list[Layers], blind: list[Layers], expected: int | None
) -> None:
    """Fabs count one press per package and per build-up; any-layer boards of N layers N/2 - 1 build-ups."""
    assert cycles_of_spans(count, layers(*drilled), layers(*blind)) == expected


def test_spans_cross_exactly_when_their_sets_of_layers_overlap_without_containment() -> None:
    """Against sets of layers, all pairs of eight layers."""
    every = list(combinations(range(8), 2))
    for one, other in combinations(every, 2):
        a, b = set(range(one[0], one[1] + 1)), set(range(other[0], other[1] + 1))
        assert cross(one, other) is cross(other, one) is bool(a & b and not a <= b and not b <= a)


def test_a_blind_hole_is_locked_in_only_where_both_faces_are_hidden() -> None:
    """L4 to L5 between L1-L4 and L5-L8; with only one of these the other face is open."""
    assert locked_in((3, 4), layers((1, 4), (5, 8))) == ((0, 3), (4, 7))
    assert locked_in((3, 4), layers((1, 4))) is None
    assert locked_in((0, 1), layers((2, 7))) is None


def test_wide_blind_vias_are_drilled_and_fine_ones_lasered(tmp_path: Path) -> None:
    """A blind via of 0.3 mm to the next layer, one of 0.2 mm over three layers, and a "microvia" over five."""
    vias = [("blind", 1, 2, 0.3), ("blind", 1, 3, 0.2), ("micro", 1, 6, 0.2)]
    vias += [("blind", 1, 2, 0.15), ("micro", 1, 3, 0.15)]
    board = board_with(tmp_path, *vias)

    deep = (board.vias.end_layer - board.vias.start_layer).tolist()
    made = zip(deep, board.vias.drill_mm.tolist(), lasered(board).tolist(), strict=True)
    assert sorted(made) == [(1, 0.15, True), (1, 0.3, False), (2, 0.15, True), (2, 0.2, False), (5, 0.2, False)]
    assert [(s.layers, s.is_laser, s.count) for s in spans(board)] == [
        ((0, 1), False, 1),
        ((0, 1), True, 1),
        ((0, 2), False, 1),
        ((0, 2), True, 1),
        ((0, 5), False, 1),
    ]


def test_a_board_of_wide_blind_vias_is_no_hdi_board(tmp_path: Path) -> None:
    """0.3 mm from L1 to L2 is a drilled core, not 1-N-1."""
    wide, fine = board_with(tmp_path / "a", ("blind", 1, 2, 0.3)), board_with(tmp_path / "b", ("blind", 1, 2, 0.1))

    assert (build_ups(wide).name, build_up(wide).hdi_class) == ("through vias", "blind or buried vias, no microvias")
    assert build_up(wide).blind_or_buried == 1
    assert build_ups(fine).name == "1-N-1"


def test_the_head_of_a_report_says_that_spans_cross(tmp_path: Path) -> None:
    """No number of lamination cycles is reported."""
    board = board_with(tmp_path, ("blind", 1, 6, 0.2), ("blind", 3, 8, 0.2))

    assert describe(build_up(board), 2) == (
        "blind or buried vias, no microvias, crossing spans: no sequence of laminations makes them"
    )
    assert [(a.layers, b.layers) for a, b in impossible(spans(board))] == [((0, 5), (2, 7))]


def test_packages_of_a_sub_laminated_board_are_counted_as_presses(tmp_path: Path) -> None:
    """L1 to L4 and L5 to L8, then the whole."""
    board = board_with(tmp_path, ("blind", 1, 4, 0.2), ("blind", 5, 8, 0.2), ("through", 1, 8, 0.3))

    assert describe(build_up(board), 3) == "blind or buried vias, no microvias, at least 2 lamination cycles"
