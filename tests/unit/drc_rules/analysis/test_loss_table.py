"""The loss table: what a link loses where, what it may lose, and what its length really needs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from drc_rules.engine.check import check_board
from drc_rules.facts.declared import Overrides
from drc_rules.report.link_rows import LinkLossRow
from drc_rules.report.model import Report
from drc_rules.report.verdicts import Verdict
from drc_rules.requirements.clauses import Clause
from tests.support.mini import mini_file
from tests.support.stackups import FOUR_LAYERS


def checked(
    folder: Path,
    interface: str,
    *,
    length_mm: float = 100.0,
    declared: str = 'foil = "VLP"',
    net: str = "/TX0_P",
    profile: str | None = None,
    **keys: Any,
) -> Report:
    """Check a board with one trace on its surface; `interface` are lines of its `[[interface]]`, none without."""
    row = f'[[interface]]\nnets = ["{net}"]\n{interface}\n' if interface else ""
    config = f"[declared]\n{declared}\n{row}"
    small = {"number": "1", "net": net, "size_mm": [0.2, 0.2]}
    board: dict[str, Any] = {
        "size_mm": (length_mm + 30, 40),
        "planes": {"In1.Cu": "GND", "In2.Cu": "GND"},
        "stackup": FOUR_LAYERS,
        "config": config,
        "tracks": [{"net": net, "layer": "F.Cu", "width_mm": 0.2, "path_mm": [[5, 10], [5 + length_mm, 10]]}],
        "parts": [
            {"reference": "U1", "at_mm": [5, 10], "pads": [small]},
            {"reference": "J1", "at_mm": [5 + length_mm, 10], "pads": [small]},
        ],
    }
    path = mini_file(folder, board | keys)
    return check_board(path, overrides=Overrides(profile=profile))


def only(report: Report) -> LinkLossRow:
    assert not report.crashes
    (row,) = report.losses
    return row


def share(report: Report, kind: str = "board.loss.share") -> Verdict:
    return next(v.verdict for v in report.verdicts if v.clause.id == kind)


def test_a_link_that_fits_is_told_with_all_that_it_loses(tmp_path: Path) -> None:
    """The parts add up to the total, and the margin is what the share leaves of it."""
    report = checked(tmp_path, 'is = "pcie5"\nboard_loss_db = 6\npackage_loss_db = 1.5')
    row = only(report)

    assert share(report) is Verdict.PASSED
    assert row.total_db and row.total_db.nominal and row.margin_db
    parts = (row.dielectric_db, row.copper_db, row.roughness_db, row.holes_db)
    assert sum(part for part in parts if part is not None) == pytest.approx(row.total_db.nominal)
    assert row.margin_db.nominal == pytest.approx(6 - 1.5 - row.total_db.nominal)
    assert row.total_db.high is not None
    assert row.margin_db.low == pytest.approx(6 - 1.5 - row.total_db.high)
    assert [(a.part, a.db.nominal, a.is_assumed) for a in row.allowances] == [("package", 1.5, False)]
    assert (row.role, row.share_source) == ("declared", "as declared")
    assert [layer.layer for layer in row.layers] == ["F.Cu"]
    assert row.layers[0].length_mm == pytest.approx(100.0)


def test_a_board_routed_to_the_longest_legal_length_loses_its_share(tmp_path: Path) -> None:
    """Drawn again at the length that the table names, the link has a margin of nothing."""
    interface = 'is = "pcie5"\nboard_loss_db = 5'
    longest = only(checked(tmp_path / "a", interface)).layers[0].longest_mm
    assert longest is not None

    row = only(checked(tmp_path / "b", interface, length_mm=longest))
    assert row.margin_db and row.margin_db.nominal == pytest.approx(0.0, abs=0.002)
    assert row.layers[0].longest_mm == pytest.approx(longest, rel=1e-3)


def test_a_board_of_the_df_that_is_named_loses_its_share(tmp_path: Path) -> None:
    """Declared for the plies next to the line, the Df that the table names leaves a margin of nothing."""

    def of(df: float) -> str:
        rows = (f'[declared.dielectric."dielectric {k}"]\ndf = {df:.6f}\nat_ghz = 16' for k in (1, 2, 3))
        return "\n".join(['foil = "VLP"', *rows])

    interface = 'is = "pcie5"\nboard_loss_db = 5'
    first = only(checked(tmp_path / "a", interface, declared=of(0.004)))
    assert first.df and first.df.needed
    assert first.df.now == pytest.approx(0.004)

    row = only(checked(tmp_path / "b", interface, declared=of(first.df.needed)))
    assert row.margin_db and row.margin_db.nominal == pytest.approx(0.0, abs=0.001)
    assert row.df and row.df.needed == pytest.approx(first.df.needed, rel=1e-3)


@pytest.mark.parametrize(("share_db", "foil"), [(20.0, "STD"), (0.5, "")])
def test_the_roughest_foil_is_any_where_the_share_is_ample_and_none_where_smooth_copper_is_too_much(
    tmp_path: Path, share_db: float, foil: str
) -> None:
    """Dielectric and smooth copper alone lose more than 0.5 dB over 100 mm."""
    assert only(checked(tmp_path, f'is = "pcie5"\nboard_loss_db = {share_db}')).foil_needed == foil


def test_declaring_the_foil_that_is_named_closes_the_link_and_the_next_rougher_does_not(tmp_path: Path) -> None:
    """A share between the highest losses of LP and of RTF foil: nominal ones would promise too much."""
    losses = {}
    for foil in ("STD", "RTF", "LP", "VLP"):
        row = only(checked(tmp_path / foil, 'is = "pcie5"\nboard_loss_db = 9', declared=f'foil = "{foil}"'))
        assert row.total_db and row.total_db.nominal
        assert row.total_db.high
        losses[foil] = row.total_db.high
    assert losses["STD"] > losses["RTF"] > losses["LP"] > losses["VLP"]

    between = (losses["LP"] + losses["RTF"]) / 2
    assert only(checked(tmp_path / "x", f'is = "pcie5"\nboard_loss_db = {between:.4f}')).foil_needed == "LP"


def test_the_df_that_is_needed_stands_beside_the_one_that_is_asked_at_its_frequency(tmp_path: Path) -> None:
    """The row of NVLink 4 requires 0.003, which is compared at 10 GHz."""
    interface = 'is = "nvlink4"\nboard_loss_db = 9'
    report = checked(tmp_path, interface, profile="training")
    row = only(report)
    (clause,) = (v.clause for v in report.verdicts if v.clause.kind == "laminate_df")

    assert isinstance(clause, Clause)
    assert row.df
    assert (row.df.at_ghz, row.df.asked, row.df.clause) == (10.0, 0.003, clause.id)
    assert row.df.needed and row.df.needed > row.df.now


def test_a_link_without_a_published_share_is_told_and_the_share_is_asked_for(tmp_path: Path) -> None:
    """Physics gives the loss; the clause is not verifiable and names the key that would decide it."""
    report = checked(tmp_path, 'is = "nvlink4"')
    row = only(report)

    assert share(report, "board.loss.share_assumed") is Verdict.NOT_VERIFIABLE
    assert share(report) is Verdict.NOT_APPLICABLE
    assert row.total_db and row.share_db is None and row.margin_db is None and row.df is None
    assert "none is published" in row.problem
    assert "board_loss_db" in row.cure
    assert any('board_loss_db = "?"' in line for line in report.proofs)


def test_what_is_asked_for_keeps_what_is_declared(tmp_path: Path) -> None:
    """A pasted table stands in place of the one that is there: role and allowances must be in it."""
    row = only(checked(tmp_path, 'is = "pcie6"\nrole = "system"\npackage_loss_db = 2'))

    for line in ('role = "system"', "package_loss_db = 2.0", 'nets = ["/TX0_P"]', 'board_loss_db = "?"'):
        assert line in row.cure


def test_a_link_whose_board_is_not_known_is_told_without_a_share(tmp_path: Path) -> None:
    """PCIe Gen5 has two shares, and it is not stated which board this is."""
    report = checked(tmp_path, 'is = "pcie5"')
    row = only(report)

    assert share(report) is Verdict.NOT_VERIFIABLE
    assert row.total_db and row.share_db is None
    assert "role of this board" in row.problem


def test_a_link_whose_loss_is_not_known_says_why(tmp_path: Path) -> None:
    """No catalogue knows the laminate."""
    stackup = FOUR_LAYERS.replace("R-5670(N) 1078", "Unobtainium").replace("R-5775(N)", "Unobtainium")
    row = only(checked(tmp_path, 'is = "pcie5"\nrole = "system"', stackup=stackup))

    assert row.total_db is None
    assert "is not known" in row.problem
    assert row.cure


@pytest.mark.parametrize("interface", ["", 'is = "ddr5"', 'is = "usb2"'], ids=["none", "memory", "slow"])
def test_without_a_fast_serial_link_there_is_no_table(tmp_path: Path, interface: str) -> None:
    """Nothing is printed for memories, slow links, and boards without any."""
    assert checked(tmp_path, interface).losses == ()


def test_a_profile_that_brings_an_interface_asks_for_its_share_although_nets_are_only_named(tmp_path: Path) -> None:
    """By their names the nets are NVLink; the B200 baseboard says which. Without a workload nothing is required."""
    pads = [
        {"number": str(k), "net": net, "at_mm": [0, 0.3 * k], "size_mm": [0.2, 0.2]}
        for k, net in enumerate(("/NVLINK0_TX0_P", "/NVLINK0_TX0_N"))
    ]
    parts = [{"reference": "U1", "at_mm": [5, 10], "pads": pads}, {"reference": "J1", "at_mm": [45, 10], "pads": pads}]
    tracks = [
        {"net": pad["net"], "layer": "F.Cu", "width_mm": 0.15, "path_mm": [[5, 10 + 0.3 * k], [45, 10 + 0.3 * k]]}
        for k, pad in enumerate(pads)
    ]
    asked = checked(tmp_path / "a", "", profile="training-b200", parts=parts, tracks=tracks)
    quiet = checked(tmp_path / "b", "", parts=parts, tracks=tracks)

    assert share(asked, "board.loss.share_assumed") is Verdict.NOT_VERIFIABLE
    assert [row.inferred for row in asked.losses] == [True]
    assert share(quiet, "board.loss.share_assumed") is Verdict.NOT_APPLICABLE
    assert quiet.losses == ()


@pytest.mark.parametrize(
    ("share_db", "remedy"), [(0.5, "none"), (1.2, "pins"), (20.0, "")], ids=["lines alone", "the pin", "it closes"]
)
def test_a_link_above_its_share_is_told_which_change_of_its_holes_is_enough(
    tmp_path: Path, share_db: float, remedy: str
) -> None:
    """60 mm lose 0.9 dB at 8 GHz; the stub of a pin through the board as much again."""
    pin = {"number": "1", "net": "/TX0_P", "kind": "through", "size_mm": [1.4, 1.4], "drill_mm": 0.9}
    smd = {"number": "1", "net": "/TX0_P", "size_mm": [0.2, 0.2]}
    parts = [
        {"reference": "U1", "at_mm": [5, 10], "pads": [smd]},
        {"reference": "J1", "at_mm": [65, 10], "pads": [pin]},
    ]
    row = only(checked(tmp_path, f'is = "pcie4"\nboard_loss_db = {share_db}', length_mm=60.0, parts=parts))
    assert row.hole_remedy == remedy
