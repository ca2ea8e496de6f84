"""Impedance along the route: what is weighted, ignored and distinguished, on hand-made mini-boards."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.engine.check import check_board
from drc_rules.report.link_rows import LinkImpedance
from drc_rules.report.model import Report
from tests.support.mini import mini_file
from tests.support.small_boards.routed_pair import CONFIG, STACKUP

NETS = ["/PCIE_TX0_P", "/PCIE_TX0_N"]


def checked(folder: Path, **changes: object) -> Report:
    """Check a board of 80 mm with ground under the front."""
    board = {
        "size_mm": [80, 40],
        "planes": {"In1.Cu": "GND"},
        "stackup": STACKUP,
        "config": CONFIG,
    }
    return check_board(mini_file(folder, {**board, **changes}))


def pair(start_mm: float, end_mm: float, width_mm: float, gap_mm: float = 0.15) -> dict[str, object]:
    return {
        "nets": NETS,
        "layer": "F.Cu",
        "path_mm": [[start_mm, 10], [end_mm, 10]],
        "width_mm": width_mm,
        "gap_mm": gap_mm,
    }


def only(report: Report) -> LinkImpedance:
    (row,) = report.impedances
    return row


def test_the_mean_of_two_widths_is_weighted_by_their_lengths(tmp_path: Path) -> None:
    """30 mm and 10 mm: the mean lies a quarter of the way to the narrow one."""
    wide = only(checked(tmp_path / "a", pairs=[pair(5, 35, 0.174)]))
    narrow = only(checked(tmp_path / "b", pairs=[pair(5, 15, 0.1)]))
    both = only(checked(tmp_path / "c", pairs=[pair(5, 35, 0.174), pair(35, 45, 0.1)]))

    assert wide.mean_ohm and narrow.mean_ohm and both.mean_ohm
    assert wide.mean_ohm.nominal == pytest.approx(85, abs=0.5)  # 0.174/0.15 is what 85 ohm takes
    expected = 0.75 * wide.mean_ohm.nominal + 0.25 * narrow.mean_ohm.nominal
    assert both.mean_ohm.nominal == pytest.approx(expected, rel=1e-6)
    assert both.mean_ohm.low < both.mean_ohm.nominal < both.mean_ohm.high
    assert both.length_mm == pytest.approx(40)


def test_the_worst_section_is_the_one_farthest_from_the_target(tmp_path: Path) -> None:
    """10 mm of 0.1 mm among 30 mm that are right."""
    row = only(checked(tmp_path, pairs=[pair(5, 35, 0.174), pair(35, 45, 0.1)]))

    assert row.worst is not None
    assert (row.worst.layer, row.worst.width_mm, row.worst.gap_mm) == ("F.Cu", 0.1, 0.15)
    assert row.worst.length_mm == pytest.approx(10)
    assert row.off_pct == pytest.approx(100 * (row.worst.impedance_ohm / 85 - 1))
    assert row.off_pct > 10


@pytest.mark.parametrize(("neck_mm", "forgiven_mm"), [(0.99, 0.99), (1.1, 0.0)])
def test_a_neck_counts_from_a_breakout_on(tmp_path: Path, neck_mm: float, forgiven_mm: float) -> None:
    """At 16 GHz a tenth of a wavelength is 0.94 mm, so a run of 1 mm is ignored."""
    row = only(checked(tmp_path, pairs=[pair(5, 35, 0.174), pair(35, 35 + neck_mm, 0.08)]))

    assert row.forgiven_up_to_mm == pytest.approx(1.0)
    assert row.forgiven_mm == pytest.approx(forgiven_mm, abs=1e-6)
    assert row.worst is not None
    assert (row.worst.width_mm == 0.08) == (forgiven_mm == 0.0)


@pytest.mark.parametrize(("apart", "counts"), [(True, False), (False, True)])
def test_short_pieces_do_not_add_up(tmp_path: Path, apart: bool, counts: bool) -> None:
    """Six necks of 0.9 mm among 40 mm are six lumped steps; end to end they are one of 5.4 mm."""
    starts = [5 + (6 if apart else 0.9) * k for k in range(6)]
    wide = [(x + 0.9, x + 6) for x in starts] if apart else [(10.4, 41.0)]
    pieces = [pair(x, x + 0.9, 0.08) for x in starts] + [pair(x, end, 0.174) for x, end in wide]
    row = only(checked(tmp_path, pairs=pieces))

    assert row.length_mm == pytest.approx(36)
    assert row.worst is not None and (row.worst.width_mm == 0.08) is counts
    assert row.forgiven_mm == pytest.approx(0.0 if counts else 5.4)


def _bumped(bumps: int, flat_mm: float) -> list[dict[str, object]]:
    """A pair whose P steps 0.25 mm outward and back again, as KiCad evens out skew."""
    path, x = [[5.0, 10.0]], 20.0
    for _ in range(bumps):
        path += [[x, 10.0], [x + 0.25, 9.75], [x + 0.25 + flat_mm, 9.75], [x + 0.5 + flat_mm, 10.0]]
        x += 2 * flat_mm + 0.5
    p, n = {"net": NETS[0], "path_mm": [*path, [60.0, 10.0]]}, {"net": NETS[1], "path_mm": [[5, 10.324], [60, 10.324]]}
    return [{**one, "layer": "F.Cu", "width_mm": 0.174} for one in (p, n)]


@pytest.mark.parametrize(("bumps", "flat_mm", "worst_gap_mm"), [(4, 0.6, 0.15), (8, 0.6, 0.15), (2, 6.0, 0.4)])
def test_bumps_that_even_out_a_pair_are_lumped_one_by_one(
    tmp_path: Path, bumps: int, flat_mm: float, worst_gap_mm: float
) -> None:
    """0.6 mm at a gap of 0.4 mm are 0.06 wavelengths at 16 GHz, however many bumps; 6 mm are a line of their own."""
    row = only(checked(tmp_path, tracks=_bumped(bumps, flat_mm)))

    assert row.worst is not None and row.worst.gap_mm == pytest.approx(worst_gap_mm)
    assert row.gap_max_mm == pytest.approx(worst_gap_mm)


def test_what_runs_apart_and_which_gaps_are_used_is_told(tmp_path: Path) -> None:
    """5 mm apart; 0.15 and 0.25 mm of gap in one width."""
    apart = [
        {"net": NETS[0], "layer": "F.Cu", "width_mm": 0.174, "path_mm": [[60, 5], [65, 5]]},
        {"net": NETS[1], "layer": "F.Cu", "width_mm": 0.174, "path_mm": [[60, 25], [65, 25]]},
    ]
    row = only(checked(tmp_path, pairs=[pair(5, 35, 0.174), pair(35, 55, 0.174, 0.25)], tracks=apart))

    assert row.uncoupled_mm == pytest.approx(5)
    assert (row.gap_min_mm, row.gap_max_mm) == pytest.approx((0.15, 0.25))


def test_without_a_dk_there_is_a_row_that_says_what_is_missing(tmp_path: Path) -> None:
    """No number is made up, and the length is still reported."""
    unknown = (
        STACKUP.replace(" dk=4.0 df=0.02", "").replace("370HR 2116", "Unobtainium").replace("370HR", "Unobtainium")
    )
    row = only(checked(tmp_path, stackup=unknown, pairs=[pair(5, 35, 0.174)]))

    assert row.mean_ohm is None
    assert row.worst is None
    assert "Dk" in row.problem
    assert row.cure
    assert row.length_mm == pytest.approx(30)


def test_a_link_without_copper_under_it_has_no_impedance(tmp_path: Path) -> None:
    """All of it is over holes."""
    row = only(checked(tmp_path, planes={}, pairs=[pair(5, 35, 0.174)]))

    assert row.mean_ohm is None
    assert row.over_holes_mm == pytest.approx(30)


def test_both_sides_of_a_coupling_capacitor_are_one_link(tmp_path: Path) -> None:
    """Two nets of each trace, 20 mm and 15 mm: one row of 35 mm."""
    caps = [
        {
            "reference": f"C{k + 1}",
            "at_mm": [25.2, 10 + side],
            "pads": [
                {"number": "1", "net": f"/PCIE_TX0_{pol}", "at_mm": [-0.2, 0], "size_mm": [0.2, 0.2]},
                {"number": "2", "net": f"/PCIE_TX0_C_{pol}", "at_mm": [0.2, 0], "size_mm": [0.2, 0.2]},
            ],
        }
        for k, (pol, side) in enumerate((("P", -0.162), ("N", 0.162)))
    ]
    ends = [
        {"reference": "U1", "at_mm": [5, 10], "pads": _pads("/PCIE_TX0_{}")},
        {"reference": "U2", "at_mm": [40.4, 10], "pads": _pads("/PCIE_TX0_C_{}")},
    ]
    second = {**pair(25.4, 40.4, 0.174), "nets": ["/PCIE_TX0_C_P", "/PCIE_TX0_C_N"]}
    row = only(checked(tmp_path, pairs=[pair(5, 25, 0.174), second], parts=[*caps, *ends]))

    assert set(row.nets) == {"/PCIE_TX0_P", "/PCIE_TX0_N", "/PCIE_TX0_C_P", "/PCIE_TX0_C_N"}
    assert row.length_mm == pytest.approx(35, abs=1.0)  # what lies under pads does not count


def test_of_one_target_the_farthest_off_stands_first_and_what_is_not_known_last(tmp_path: Path) -> None:
    """Wider is lower: 0.4 mm are farther below 50 ohm than 0.22 and 0.18 mm, over a plane 0.1 mm away.

    A line over a laminate of unknown Dk has no impedance.
    """
    config = '[[impedance]]\nohm = 50\nkind = "single"\nnets = ["/S*"]\n'
    widths = {"/S1": 0.18, "/S2": 0.4, "/S3": 0.22}
    tracks = [
        {"net": net, "layer": "F.Cu", "width_mm": width, "path_mm": [[5, 5 + 5 * k], [65, 5 + 5 * k]]}
        for k, (net, width) in enumerate(widths.items())
    ]
    tracks.append({"net": "/S0", "layer": "B.Cu", "width_mm": 0.2, "path_mm": [[5, 30], [65, 30]]})
    front, back = STACKUP.split("In2.Cu")
    back = back.replace(' "370HR 2116" dk=4.0 df=0.02', ' "Unobtainium"')
    planes = {"In1.Cu": "GND", "In2.Cu": "GND"}

    rows = checked(tmp_path, config=config, tracks=tracks, planes=planes, stackup=f"{front}In2.Cu{back}").impedances

    off = {row.name: abs(row.off_pct) for row in rows[:-1]}
    assert off["/S2"] > 20 > max(off["/S1"], off["/S3"])
    assert [row.name for row in rows][:: len(rows) - 1] == ["/S2", "/S0"]
    assert list(off.values()) == sorted(off.values(), reverse=True)
    assert (rows[-1].mean_ohm, "Dk" in rows[-1].problem) == (None, True)


def _pads(name: str) -> list[dict[str, object]]:
    return [
        {"number": str(k + 1), "net": name.format(pol), "at_mm": [0, side], "size_mm": [0.2, 0.2]}
        for k, (pol, side) in enumerate((("P", -0.162), ("N", 0.162)))
    ]
