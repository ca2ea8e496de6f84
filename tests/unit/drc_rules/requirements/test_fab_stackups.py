"""Named stackups of fabs: complete, dated, sane unless listed as misfits, and read by no other module."""

from __future__ import annotations

import csv
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from dev.fab_stackup_misfits import misfits_of
from drc_rules.requirements.fabs.presets import presets
from drc_rules.requirements.fabs.stackups.load import FOLDER, editions, find, named_stackups, read_edition, stackups_of
from drc_rules.requirements.fabs.stackups.model import NamedStackup
from stackup_lib.core.errors import ConfigError

ROOT = Path(__file__).parents[4]
CARD = ROOT / "fixtures" / "boards" / "edge_jetson_carrier_fit" / "edge_jetson_carrier_fit.kicad_pcb"


def test_every_fab_is_dated_and_sourced() -> None:
    """A list without a date or a source is hearsay; a process that is named exists."""
    assert len(editions()) >= 7
    for edition in editions():
        assert len(edition.source) > 20
        assert edition.licence
        assert edition.process == "" or edition.process in presets()
    assert len(stackups_of("jlcpcb", superseded=False)) == 577


def test_no_two_stackups_are_ordered_alike() -> None:
    """Name, layers, thickness and copper tell every stackup of an edition apart."""
    keys = [(one.edition.fab, one.edition.date, one.order) for one in named_stackups()]
    assert len(set(keys)) == len(keys)


def test_what_does_not_fit_is_listed_with_a_reason() -> None:
    """Sums against the thickness, symmetry, values that lack: what the data show is what the lists say, no more."""
    found = {
        (one.edition.fab, one.edition.date, what, one.order) for one in named_stackups() for what in misfits_of(one)
    }
    listed = {
        (edition.fab, edition.date, misfit.what, order)
        for edition in editions()
        for misfit in edition.misfit
        for order in misfit.orders
    }
    assert found == listed
    assert 0 < len(found) < 0.05 * len(named_stackups())
    assert all(misfit.reason for edition in editions() for misfit in edition.misfit)


def test_rows_alternate_and_carry_what_a_solver_needs() -> None:
    """Copper outside, dielectric between any two copper layers, plausible values."""
    for one in named_stackups():
        assert one.rows[0].kind == one.rows[-1].kind == "copper"
        assert len(one.gaps) == one.copper_layers - 1
        assert all(one.gaps)
        for row in one.rows:
            assert row.thickness_mm is None or 0.01 <= row.thickness_mm <= 2.0
            assert row.dk is None or 3.0 <= row.dk <= 5.0
            assert row.df is None or 0.003 <= row.df <= 0.025


def test_a_known_stackup_reads_as_the_fab_states_it() -> None:
    """Rows of JLC04161H-7628 of 2025-05-09, in any case of the name."""
    (one,) = find("jlc04161h-7628", named_stackups())
    assert [row.thickness_mm for row in one.rows] == [0.035, 0.2104, 0.0152, 1.065, 0.0152, 0.2104, 0.035]
    assert one.rows[1].material == "NP-155F 7628 RC49%"
    assert (one.rows[1].dk, one.rows[3].dk) == (4.4, 4.43)
    assert one.order == "JLC04161H-7628 4L 1.6 mm 1/0.5 oz"


def test_a_name_that_no_fab_has_is_answered_with_the_nearest() -> None:
    """A slip of the pen gets the name that was meant; so does a fab."""
    with pytest.raises(ConfigError, match="JLC04161H-7628"):
        find("JLC04161H-7629", named_stackups())
    with pytest.raises(ConfigError, match="jlcpcb"):
        stackups_of("jlcpbc")


def _flat(stackups: tuple[NamedStackup, ...], path: Path) -> None:
    """Write stackups as the CSV that the update takes: one sheet a line."""
    columns = ("kind", "thickness_mm", "weight_oz", "manufacturer", "laminate", "construction")
    numbers = ("resin_content_pct", "dk", "df", "tg_c")
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        order = ("template", "copper_layers", "board_thickness_mm", "outer_oz", "inner_oz")
        table.writerow((*order, "row", *columns, *numbers))
        for one in stackups:
            ordered = (one.name, one.copper_layers, one.thickness_mm, one.outer_oz, one.inner_oz)
            for number, row in enumerate(one.rows, start=1):
                table.writerow((*ordered, number, *(getattr(row, name) for name in (*columns, *numbers))))


def test_the_update_makes_the_same_stackups_from_rows(tmp_path: Path) -> None:
    """What was read, written as rows, comes back as it was; a CSV without a column is refused by its name."""
    spec = importlib.util.spec_from_file_location("fab_stackups", ROOT / "plugin" / "dev" / "fab_stackups.py")
    assert spec is not None
    assert spec.loader is not None
    update = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(update)
    known = read_edition(FOLDER / "jlcpcb_2020-03-27")
    _flat(known, tmp_path / "rows.csv")
    folder = tmp_path / "jlcpcb_2020-03-27"
    folder.mkdir()
    assert update.main(tmp_path / "rows.csv", folder) == 2  # no fab.toml yet
    (folder / "fab.toml").write_bytes((FOLDER / "jlcpcb_2020-03-27" / "fab.toml").read_bytes())
    assert update.main(tmp_path / "rows.csv", folder) == 0
    assert sorted(read_edition(folder), key=lambda one: one.order) == sorted(known, key=lambda one: one.order)
    (tmp_path / "rows.csv").write_text("template,kind\nA,copper\n")
    assert update.main(tmp_path / "rows.csv", folder) == 2


@pytest.mark.slow
def test_a_check_reads_no_stackup_of_a_fab() -> None:
    """The lists are for the commands about fabs alone."""
    code = (
        "import sys; from drc_rules.engine.check import check_board; from pathlib import Path;"
        f"check_board(Path({str(CARD)!r}));"
        "print([name for name in sys.modules if 'fabs.stackups' in name])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={"PYTHONPATH": "plugin:."},
    )
    assert done.stdout.strip() == "[]"
