"""What a comparison with a fab's values comes to: accepted, different, or open."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.engine.check import prepare
from drc_rules.fab_exchange.answer.stackup_text import FabRow, FabStackup
from drc_rules.fab_exchange.comparison.compare import Compared, CompareOutcome, LayerMatch, Matched, match_stackups
from drc_rules.fab_exchange.comparison.judged import WidthJudged, layer_index
from drc_rules.facts.declared import Overrides
from drc_rules.settings.config import parse_config
from stackup_lib.board.board import LayerKind
from stackup_lib.core.errors import ConfigError
from stackup_lib.kicad import read_board
from tests.support.mini import mini_board, mini_file

FOUR = """
F.Cu 0.035
prepreg 0.2 "370HR 2116" dk=4.0 df=0.02
In1.Cu 0.0175
core 1.0 "370HR" dk=4.2
In2.Cu 0.0175
prepreg 0.2
B.Cu 0.035
"""


def width(**figures: float | None) -> WidthJudged:
    return WidthJudged.model_validate({"line": 3, "layer": "F.Cu", "width_mm": 0.2, "gap_mm": None, **figures})


@pytest.mark.parametrize(
    ("solved_ohm", "outcome"),
    [(50.0, "accept"), (51.5, "accept"), (48.5, "accept"), (51.51, "differs"), (48.49, "differs")],
)
def test_a_fabs_impedance_is_ours_within_what_the_model_does_not_know(solved_ohm: float, outcome: str) -> None:
    """50 ohm stated, known to 3 %: 48.5 to 51.5 ohm agree."""
    found = width(stated_ohm=50.0, solved_ohm=solved_ohm, model_pct=3.0 + 1e-9)

    assert found.outcome.value == outcome


@pytest.mark.parametrize("unknown", ["stated_ohm", "solved_ohm", "model_pct"])
def test_without_one_of_the_figures_nothing_can_be_told(unknown: str) -> None:
    """Neither agreement nor difference."""
    figures: dict[str, float | None] = {"stated_ohm": 50.0, "solved_ohm": 50.0, "model_pct": 3.0, unknown: None}

    assert width(**figures).outcome is CompareOutcome.OPEN


@pytest.mark.parametrize(
    ("figures", "outcome"),
    [
        ((), CompareOutcome.OPEN),
        ((CompareOutcome.ACCEPT, CompareOutcome.ACCEPT), CompareOutcome.ACCEPT),
        ((CompareOutcome.ACCEPT, CompareOutcome.OPEN), CompareOutcome.OPEN),
        ((CompareOutcome.OPEN, CompareOutcome.DIFFERS, CompareOutcome.ACCEPT), CompareOutcome.DIFFERS),
    ],
)
def test_a_row_is_as_bad_as_the_worst_of_its_figures(
    figures: tuple[CompareOutcome, ...], outcome: CompareOutcome
) -> None:
    """What differs outweighs what is open; a row of which the table says nothing is open."""
    compared = tuple(Compared(what="Dk", board="4.0", fab="4.0", outcome=one) for one in figures)

    assert LayerMatch(layer="dielectric 1", lines=(2,), figures=compared).outcome is outcome


# --- row by row ---


def fab_rows(**changes: dict[str, object]) -> list[FabRow]:
    """The fab's table of the board below; `changes` by the row's name."""
    rows: list[dict[str, object]] = [
        {"name": "top", "kind": "copper", "thickness_mm": 0.035},
        {"name": "pp1", "kind": "prepreg", "thickness_mm": 0.2, "material": "370HR 2116", "dk": 4.0, "df": 0.02},
        {"name": "l2", "kind": "copper", "thickness_mm": 0.0175},
        {"name": "core", "kind": "core", "thickness_mm": 1.0, "material": "370HR", "dk": 4.2},
        {"name": "l3", "kind": "copper", "thickness_mm": 0.0175},
        {"name": "pp2", "kind": "prepreg", "thickness_mm": 0.2},
        {"name": "bottom", "kind": "copper", "thickness_mm": 0.035},
    ]
    return [
        FabRow.model_validate({"line": k, **row, **changes.get(str(row["name"]), {})})
        for k, row in enumerate(rows, start=2)
    ]


def matched(folder: Path, rows: list[FabRow], settings: str = "") -> Matched:
    path = mini_file(folder, {"stackup": FOUR})
    ctx = prepare(read_board(path), parse_config(settings), Overrides())[0]
    return match_stackups(ctx, FabStackup(rows=tuple(rows)), path.read_bytes(), "fab.csv")


def said(found: Matched, row: int) -> dict[str, str]:
    """What is said of each value of a row."""
    return {one.what: one.outcome.value for one in found.layers[row].figures}


def built(found: Matched, row: int) -> tuple[LayerKind, float | None, float | None, str | None]:
    """The row as the fab would build it: kind, thickness, Dk and material of its first sheet."""
    assert found.board.stackup is not None
    one = [layer for layer in found.board.stackup.layers if layer.kind is LayerKind.COPPER or layer.is_dielectric][row]
    return one.kind, one.plies[0].thickness_mm, one.plies[0].dk, one.plies[0].material


def test_a_table_that_says_the_same_is_accepted_and_builds_the_same_board(tmp_path: Path) -> None:
    """What neither states of the last prepreg is not compared, and nothing is changed."""
    found = matched(tmp_path, fab_rows())

    assert [layer.outcome for layer in found.layers] == [CompareOutcome.ACCEPT] * 7
    assert said(found, 1) == {
        "thickness": "accept",
        "type": "accept",
        "material": "accept",
        "Dk": "accept",
        "Df": "accept",
    }
    assert said(found, 5) == {"thickness": "accept", "type": "accept"}
    assert built(found, 1) == (LayerKind.PREPREG, 0.2, 4.0, "370HR 2116")


def test_what_the_fab_builds_otherwise_is_told_and_built_so(tmp_path: Path) -> None:
    """A Dk of 3.8, a core where the board has a prepreg, another thickness; a Df without a stated frequency."""
    found = matched(
        tmp_path,
        fab_rows(pp1={"dk": 3.8, "df": 0.018}, core={"thickness_mm": 0.9}, pp2={"kind": "core"}),
    )

    assert said(found, 1) == {
        "thickness": "accept",
        "type": "accept",
        "material": "accept",
        "Dk": "differs",
        "Df": "differs",
    }
    assert [one.remark for one in found.layers[1].figures if one.what == "Df"] == ["neither states its frequency"]
    assert built(found, 1)[:3] == (LayerKind.PREPREG, 0.2, 3.8)
    assert (said(found, 3)["thickness"], built(found, 3)[1]) == ("differs", 0.9)
    assert (said(found, 5)["type"], built(found, 5)[0]) == ("differs", LayerKind.CORE)


def test_what_only_the_fab_states_can_not_be_compared(tmp_path: Path) -> None:
    """Material and Dk of the last prepreg, of which the board says nothing; a Df that only the fab knows is not."""
    found = matched(tmp_path, fab_rows(pp2={"material": "IT-180A", "dk": 4.1, "df": 0.016}))

    last = {one.what: (one.outcome.value, one.board, one.remark) for one in found.layers[5].figures}
    assert last["material"] == ("cannot tell", "not stated", "the board names none")
    assert last["Dk"] == ("cannot tell", "not stated", "the board states none")
    assert "Df" not in last


def test_a_dk_differs_from_half_of_the_last_digit_on(tmp_path: Path) -> None:
    """4.005 against 4.0 is what a fab prints as 4.0; 4.006 is not. A thickness, from half of its own last digit on."""
    for dk, dk_says, thickness_mm, thickness_says in (
        (4.0049, "accept", 0.2049, "accept"),
        (4.006, "differs", 0.206, "differs"),
    ):
        change: dict[str, object] = {"dk": dk, "thickness_mm": thickness_mm, "rounding_mm": 0.005}
        found = said(matched(tmp_path / str(dk), fab_rows(pp1=change)), 1)

        assert (found["Dk"], found["thickness"]) == (dk_says, thickness_says)


AT_1_GHZ = """
[declared.dielectric."dielectric 1"]
dk_at_ghz = 1
df = 0.02
at_ghz = 1
"""


@pytest.mark.parametrize(
    ("settings", "dk", "at_ghz", "says"),
    [
        ("", 4.0, 10.0, ("accept", "")),
        ("", 3.8, 10.0, ("differs", "the table's is at 10 GHz, the board states no frequency")),
        (AT_1_GHZ, 4.0, 1.0, ("accept", "at 1 GHz")),
        (AT_1_GHZ, 4.0, 10.0, ("differs", "at 10 GHz")),
        (AT_1_GHZ, 3.88, 10.0, ("accept", "at 10 GHz")),
        (AT_1_GHZ, 4.0, None, ("accept", "")),
    ],
)
def test_a_dk_is_held_against_the_boards_at_the_same_frequency(
    tmp_path: Path, settings: str, dk: float, at_ghz: float | None, says: tuple[str, str]
) -> None:
    """A Dk of 4.0 at 1 GHz with a Df of 0.02 is 3.88 at 10 GHz (Svensson and Djordjevic)."""
    found = matched(tmp_path, fab_rows(pp1={"dk": dk, "dk_at_ghz": at_ghz}), settings)

    (said_of_dk,) = [one for one in found.layers[1].figures if one.what == "Dk"]
    assert (said_of_dk.outcome.value, said_of_dk.remark) == says


def test_sheets_of_one_dielectric_are_taken_together(tmp_path: Path) -> None:
    """Two sheets of 0.1 mm are the board's 0.2 mm; Dk 3.0 and 6.0 in series are 4.0."""
    rows = fab_rows()
    sheets = [
        rows[1].model_copy(update={"thickness_mm": 0.1, "dk": dk, "line": line}) for dk, line in ((3.0, 3), (6.0, 4))
    ]
    found = matched(tmp_path, [rows[0], *sheets, *rows[2:]])

    assert (said(found, 1)["thickness"], said(found, 1)["Dk"]) == ("accept", "accept")
    assert found.layers[1].lines == (3, 4)
    half_said = [sheets[0], sheets[1].model_copy(update={"dk": None})]
    assert "Dk" not in said(matched(tmp_path / "half", [rows[0], *half_said, *rows[2:]]), 1)


@pytest.mark.parametrize("left_out", [2, 3])
def test_a_row_that_the_table_lacks_is_a_finding(tmp_path: Path, left_out: int) -> None:
    """A copper row too few, or two without a dielectric between them; the others keep their places."""
    rows = fab_rows()

    found = matched(tmp_path, [*rows[:left_out], *rows[left_out + 1 :]])

    assert said(found, left_out) == {"row": "differs"}
    assert all("row" not in said(found, k) for k in range(7) if k != left_out)


def test_a_table_that_is_cut_short_is_matched_by_its_names(tmp_path: Path) -> None:
    """Both inner layers are alike; thickness alone would have the last row be either of them."""
    named = {"top": "F.Cu", "l2": "In1.Cu", "l3": "In2.Cu", "bottom": "B.Cu"}
    changes: dict[str, dict[str, object]] = {old: {"name": new} for old, new in named.items()}
    rows = fab_rows(**changes)

    found = matched(tmp_path, rows[:3])

    assert "matched by the layers' names" in " ".join(found.notes)
    assert "row" not in said(found, 2)
    assert all(said(found, k) == {"row": "differs"} for k in range(3, 7))


def test_a_copper_row_that_the_board_lacks_is_a_finding(tmp_path: Path) -> None:
    """It stands last, by its name in the table."""
    rows = fab_rows()
    more = [rows[5], FabRow(line=9, name="L5", kind="copper", thickness_mm=0.018)]

    found = matched(tmp_path, [*rows, *more])

    assert (found.layers[-1].layer, said(found, -1)) == ("L5 of the table", {"row": "differs"})


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("Top", 0),
        ("bottom", 3),
        ("BOT", 3),
        ("F.Cu", 0),
        ("in2.cu", 2),
        ("L3", 2),
        ("Layer 02", 1),
        ("4", 3),
        ("2 (GND)", 1),
    ],
)
def test_fabs_call_layers_by_number_or_place(tmp_path: Path, name: str, index: int) -> None:
    """Counted from 1 at the top; KiCad's own names hold too."""
    board = mini_board(tmp_path, {"stackup": FOUR})

    assert layer_index(board, name, "fab.csv, line 9") == index
    for wrong in ("L5", "0", "GND"):
        with pytest.raises(ConfigError, match="no copper layer"):
            layer_index(board, wrong, "fab.csv, line 9")
