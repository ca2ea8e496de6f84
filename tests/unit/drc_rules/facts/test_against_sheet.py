"""A Df or Dk that is not the named laminate's is told and not counted; what sheets leave open is quiet."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from drc_rules.engine.check import check_board, prepare
from drc_rules.facts.declared import Overrides
from drc_rules.facts.dielectric.against_sheet import LEAST_DF_SHARE
from drc_rules.settings.config import parse_config
from stackup_lib.materials import catalogue
from tests.support.mini import mini_board

BOARD = """
size_mm = [40, 30]
stackup = \"\"\"
F.Cu 0.035
prepreg 0.1 "{material}" {stated}
In1.Cu 0.0175
core 1.2 "370HR" dk=4.0 df=0.02
In2.Cu 0.0175
prepreg 0.1 "{material}" {stated}
B.Cu 0.035
\"\"\"
"""
DECLARED = '[declared.dielectric."dielectric 1"]\n'


def notes(folder: Path, material: str, stated: str = "", declared: str = "") -> list[str]:
    """What the report notes of the Df of a board whose outer prepregs are of this material."""
    (folder / "b").mkdir(exist_ok=True)
    board = mini_board(folder / "b", tomllib.loads(BOARD.format(material=material, stated=stated)))
    assert board.path is not None
    report = check_board(board.path, config=parse_config(DECLARED + declared if declared else ""))
    return [note for note in report.notes if "Df" in note]


@pytest.mark.parametrize(
    ("material", "stated", "declared", "said"),
    [
        (
            "Megtron 6",
            "dk=3.4 df=0.0004",
            "",
            "dielectric 1 (Megtron 6) and 1 other row: Df 0.0004, in the board file, is not that of Megtron 6, "
            "0.002 to 0.004: loss follows the data sheets of Megtron 6",
        ),
        (
            "370HR 1080",
            "",
            "df = 0.001\nat_ghz = 16\n",
            "dielectric 1 (370HR 1080): Df 0.001 at 16 GHz, in stackwright.toml, is not that of 370HR, 0.021 to 0.033: "
            "loss is not judged",
        ),
        (
            "FR4",
            "",
            "df = 0.004\nat_ghz = 10\n",
            "dielectric 1 (FR4): Df 0.004 at 10 GHz, in stackwright.toml, is not that of FR4, 0.0075 to 0.02: "
            "loss is not judged",
        ),
    ],
    ids=["a slip of ten in the file", "another laminate's", "no FR-4's"],
)
def test_a_df_that_is_better_than_its_laminate_is_told(
    material: str, stated: str, declared: str, said: str, tmp_path: Path
) -> None:
    assert notes(tmp_path, material, stated, declared) == [said]


@pytest.mark.parametrize(
    ("material", "stated", "declared"),
    [
        ("Megtron 6", "df=0.002", ""),
        ("370HR", "df=0.016", ""),
        ("370HR", "", "df = 0.016\nat_ghz = 10\n"),
        ("RO4350B", "df=0.0031", ""),
        ("Tachyon 100G", "df=0.0013", ""),
        ("FR4", "df=0.0091", ""),
        ("FR4", "", "df = 0.009\nat_ghz = 10\n"),
        ("SuperLam 9", "df=0.0005", "df = 0.0005\nat_ghz = 10\n"),
        ("Tachyon 100G X9", "df=0.0005", ""),
        ("370HR", "df=0.2", ""),
        ("370HR", "df=0", ""),
    ],
    ids=[
        "its value at 1 GHz",
        "the file's, at 1 GHz",
        "a quarter below the sheets",
        "at 2.5 GHz",
        "its best construction",
        "a mid-loss laminate called FR4",
        "the same declared",
        "no such laminate",
        "a name that is not understood",
        "worse",
        "not set",
    ],
)
def test_what_data_sheets_leave_open_is_quiet(material: str, stated: str, declared: str, tmp_path: Path) -> None:
    assert notes(tmp_path, material, stated, declared) == []


def test_no_class_follows_from_a_df_that_no_laminate_has(tmp_path: Path) -> None:
    """0.0001 made any laminate one of super-ultra-low loss."""
    board = mini_board(tmp_path, tomllib.loads(BOARD.format(material="370HR", stated="")))
    declared = parse_config(DECLARED + "df = 0.0001\nat_ghz = 10\n")

    ply = prepare(board, declared, Overrides())[0].plies[0]

    assert not ply.loss_class.known and not ply.df.at(10).known


def test_the_share_leaves_room_for_every_tabulated_construction() -> None:
    """The lowest of a laminate's table at 10 GHz over its typical value: none is below the share that is allowed."""
    tabulated = [one for one in catalogue().laminates if any(row.points for row in one.constructions)]
    shares = {
        one.family: spread.low / typical
        for one in tabulated
        if (spread := one.df_range_at(10).value) and (typical := one.df_at(10).value)
    }

    assert len(shares) >= 12
    assert min(shares.values()) == pytest.approx(0.62, abs=0.005) and min(shares.values()) > LEAST_DF_SHARE


@pytest.mark.parametrize(
    ("material", "stated", "declared", "dk"),
    [
        ("FR4", "dk=4.3", 'material = "R-5775(N)"\n', "sheet"),
        ("FR4", "dk=3.4", 'material = "R-5775(N)"\n', 3.4),
        ("FR4", "dk=4.3", 'material = "SuperLam 9"\n', 4.3),
        ("FR4", "dk=4.3", 'material = "R-5775(N)"\ndk = 3.3\n', 3.3),
        ("R-5775(N)", "dk=4.3", "", None),
        ("FR4", "dk=3.4", "", 3.4),
    ],
    ids=["left over", "may be the product's", "nobody knows it", "declared", "of two one is wrong", "no product"],
)
def test_a_dk_counts_where_it_may_be_the_named_products(
    material: str, stated: str, declared: str, dk: float | str | None, tmp_path: Path
) -> None:
    """Left over from the file's material, it gives way to the data sheet of the one that the settings name."""
    board = mini_board(tmp_path, tomllib.loads(BOARD.format(material=material, stated=stated)))
    ply = prepare(board, parse_config(DECLARED + declared if declared else ""), Overrides())[0].plies[0]

    found = ply.dk.at(10.0).value

    assert found == (ply.dk.catalogue_at(10.0).value if dk == "sheet" else dk)
    assert dk != "sheet" or (found is not None and 3.0 < found < 3.6)
