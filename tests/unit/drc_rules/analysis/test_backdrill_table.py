"""The fab's table of depth groups: what is one group, and in which order they stand."""

from __future__ import annotations

from pathlib import Path

from drc_rules.analysis.via.backdrill_table import backdrill_table
from drc_rules.facts.context import Context
from tests.support.mini import mini_context
from tests.support.stackups import SIX_LAYERS

BELOW, ABOVE = "B.Cu", "F.Cu"


def context(folder: Path, *holes: tuple[str, str, str, str, float], config: str = "") -> Context:
    """A board of 1.24 mm with a via for each (first layer, second layer, drilled from, must cut, size of the drill)."""
    tracks, vias = [], []
    for k, (first, second, start, must_cut, size_mm) in enumerate(holes):
        net, y = f"/N{k}", 3.0 + 3 * k
        tracks += [
            {"net": net, "layer": first, "path_mm": [[5, y], [20, y]]},
            {"net": net, "layer": second, "path_mm": [[20, y], [50, y]]},
        ]
        drill = {"size_mm": size_mm, "from": start, "must_cut": must_cut}
        vias.append({"net": net, "at_mm": [20, y], "backdrill": drill})
    board = {"size_mm": (60, 40), "stackup": SIX_LAYERS, "tracks": tracks, "vias": vias}
    return mini_context(folder, board, config)


def test_groups_stand_from_the_front_on_and_the_deepest_of_a_side_last(tmp_path: Path) -> None:
    """One drill from above; from below to In4, to In3 and to In2, each a layer short of the signal."""
    ctx = context(
        tmp_path,
        (ABOVE, "In1.Cu", BELOW, "In2.Cu", 0.5),
        (ABOVE, "In3.Cu", BELOW, "In4.Cu", 0.5),
        ("In2.Cu", BELOW, ABOVE, "In1.Cu", 0.5),
        (ABOVE, "In2.Cu", BELOW, "In3.Cu", 0.5),
    )

    rows = [(row.start, row.must_cut, row.must_not_cut, row.nets) for row in backdrill_table(ctx).rows]

    assert rows == [
        ("F.Cu", "In1.Cu", "In2.Cu", ("/N2",)),
        ("B.Cu", "In4.Cu", "In3.Cu", ("/N1",)),
        ("B.Cu", "In3.Cu", "In2.Cu", ("/N3",)),
        ("B.Cu", "In2.Cu", "In1.Cu", ("/N0",)),
    ]


def test_holes_are_one_group_only_with_the_same_drill_and_the_same_layer_to_spare(tmp_path: Path) -> None:
    """Two alike, one with a wider drill, one whose signal lies a layer higher: three groups."""
    ctx = context(
        tmp_path,
        (ABOVE, "In2.Cu", BELOW, "In3.Cu", 0.5),
        (ABOVE, "In2.Cu", BELOW, "In3.Cu", 0.6),
        (ABOVE, "In1.Cu", BELOW, "In3.Cu", 0.5),
        (ABOVE, "In2.Cu", BELOW, "In3.Cu", 0.5),
    )

    rows = [(row.must_not_cut, row.drill_mm, row.holes, row.nets) for row in backdrill_table(ctx).rows]

    assert rows == [
        ("In1.Cu", 0.5, 1, ("/N2",)),
        ("In2.Cu", 0.5, 2, ("/N0", "/N3")),
        ("In2.Cu", 0.6, 1, ("/N1",)),
    ]


def test_the_deepest_drill_has_no_layer_below_the_one_it_must_cut(tmp_path: Path) -> None:
    """A drill from below through F.Cu: as deep as the board, with nothing to spare, and no stub left of it."""
    (row,) = backdrill_table(context(tmp_path, (ABOVE, "In1.Cu", BELOW, ABOVE, 0.5))).rows

    assert (row.start, row.must_cut, row.holes) == ("B.Cu", "F.Cu", 1)
    assert (round(row.depth_mm.low, 6), round(row.depth_mm.high, 6)) == (1.24, 1.24)
    assert row.residual_mm.high == 0.0


def test_a_drill_is_proposed_for_a_via_that_joins_layers_and_not_for_one_that_joins_nothing(tmp_path: Path) -> None:
    """Of two vias on one net the second has tracks on the front alone: it is to be deleted."""
    net = "/PCIE_TX0_P"
    tracks = [
        {"net": net, "layer": ABOVE, "path_mm": [[5, 10], [20, 10]]},
        {"net": net, "layer": "In2.Cu", "path_mm": [[20, 10], [50, 10]]},
        {"net": net, "layer": ABOVE, "path_mm": [[5, 10], [5, 20]]},
    ]
    vias = [{"net": net, "at_mm": at} for at in ([20, 10], [5, 20])]
    board = {"size_mm": (60, 40), "stackup": SIX_LAYERS, "tracks": tracks, "vias": vias}
    ctx = mini_context(tmp_path, board, '[[interface]]\nis = "pcie5"\nnets = ["/PCIE_*"]\n')

    rows = [
        (row.start, row.must_cut, row.must_not_cut, row.holes, row.is_proposed) for row in backdrill_table(ctx).rows
    ]

    assert rows == [("B.Cu", "In3.Cu", "In2.Cu", 1, True)]
