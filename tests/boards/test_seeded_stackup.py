"""One row of a KiCad demo board's stackup is broken at a time: exactly the clauses turn that rest on it.

The CM5 carrier: six layers, PCIe and HDMI outside. Its rows name a glass style or "FR4"; here each names a laminate, so
that every line, and every loss, is judged before anything is broken.
"""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from stackup_lib.board.board import LayerKind
from stackup_lib.kicad import read_board
from tests.support.seeded import Case, Seed, State, turned, undecided

pytestmark = [pytest.mark.demo, pytest.mark.usefixtures("sections_solved_once")]

SETTINGS = """
profile = "edge"
[declared]
impedance_tolerance_pct = 5
foil = "RTF"
[[interface]]
is = "pcie3"
role = "system"
board_loss_db = 8
nets = ["/CM5/PCIE_PI.?X_?"]
[[interface]]
is = "hdmi2.0"
nets = ["/CM5/HDMI*.D?_?", "/CM5/HDMI*.CK_?", "/CM5/HDMI1_D?_?", "/CM5/HDMI1_CK_?"]
"""
ROWS = {f"dielectric {row}": ("370HR 2116", 4.2) if row % 2 else ("370HR", 4.3) for row in range(1, 6)}

LINES = "board.impedance.routed", "board.impedance.intended", "board.crosstalk.pairs"
LOSS = "board.loss.share"
OUTER_TRACK = "board.fab.outer_track", "board.fab.outer_track_advanced", "board.fab.outer_track_standard"
SPACE = "board.fab.space", "board.fab.space_advanced", "board.fab.space_standard"


def of_kind(case: Case, kind: LayerKind, *rows: str) -> Case:
    """Call some rows core or prepreg."""
    return case.with_stackup(
        lambda s: s.model_copy(
            update={
                "layers": tuple(
                    layer.model_copy(update={"kind": kind, "type_text": kind.value}) if layer.name in rows else layer
                    for layer in s.layers
                )
            }
        )
    )


def signals_in_place_of_ground(case: Case) -> Case:
    """Route on In1 what is on In2, and take the ground of In1 away."""
    tracks, layers = case.board.tracks, case.board.layer_index
    moved = case.with_tracks(tracks.layer == layers["In2.Cu"], layer=layers["In1.Cu"])
    return moved.without_copper("In1.Cu")


SEEDS = {
    "Dk 44.5 in place of 4.45": Seed(
        "STK012: under every line of F.Cu; whether it fits the laminate is not asked of a number that cannot be",
        lambda c: c.with_ply("dielectric 1", dk=44.5),
        {"board.dk.possible": "failed", **undecided("board.dk.plausible", *LINES, LOSS)},
    ),
    "Dk 44.5 in the middle of the board": Seed(
        "STK012: no line is next to it, but the vias of the links go through",
        lambda c: c.with_ply("dielectric 3", dk=44.5),
        {"board.dk.possible": "failed", **undecided("board.dk.plausible", LOSS)},
    ),
    "no Dk": Seed(
        "the sheet of the laminate that the row names has it",
        lambda c: c.with_ply("dielectric 1", dk=None),
        {},
    ),
    "Df 0.2 in place of 0.02": Seed(
        "STK013: loss alone rests on it",
        lambda c: c.with_ply("dielectric 1", df=0.2),
        {"board.df.possible": "failed", **undecided(LOSS)},
    ),
    "Df 0.2 in the middle of the board": Seed(
        "STK013: no line is next to it, and what vias lose, by reflection, rests on Dk alone",
        lambda c: c.with_ply("dielectric 3", df=0.2),
        {"board.df.possible": "failed"},
    ),
    "Df 0.03, that of the lossiest FR4": Seed(
        "no laminate's sheet says less than that it may be; the budget of 8 dB is met with it",
        lambda c: c.with_ply("dielectric 1", df=0.03),
        {},
    ),
    "mask of 0.1 mm": Seed(
        "STK014: the lines of F.Cu are under it; 0.09 mm more than the board's thickness allows",
        lambda c: c.with_ply("F.Mask", thickness_mm=0.1),
        {"board.mask.thickness": "failed", "board.stackup.thickness": "failed", **undecided(*LINES, LOSS)},
    ),
    "mask of 0.03 mm": Seed(
        "as thick as fabs print it; 1 % of impedance",
        lambda c: c.with_ply("F.Mask", thickness_mm=0.03),
        {},
    ),
    "one sheet of prepreg of 0.45 mm": Seed(
        "STK015: what rests on the row is open; it is unlike its mirror, and the sum unlike the board",
        lambda c: c.with_ply("dielectric 1", thickness_mm=0.45),
        {
            "board.prepreg.sheet": "failed",
            "board.stackup.symmetry": "failed",
            "board.stackup.thickness": "failed",
            **undecided("board.prepreg.construction", *LINES, LOSS),
        },
    ),
    "a core called prepreg": Seed(
        "STK015: 0.5 mm is no sheet; the vias of the links go through it, and no line is next to it",
        lambda c: of_kind(c, LayerKind.PREPREG, "dielectric 2"),
        {"board.prepreg.sheet": "failed", **undecided(LOSS)},
    ),
    "a prepreg called core": Seed(
        "STK016: core on core on core in the middle of the board, where no line is",
        lambda c: of_kind(c, LayerKind.CORE, "dielectric 3"),
        {"board.stackup.can_be_pressed": "failed", **undecided(LOSS)},
    ),
    "the prepreg under F.Cu called core": Seed(
        "STK016: the lines of F.Cu rest on it",
        lambda c: of_kind(c, LayerKind.CORE, "dielectric 1"),
        {"board.stackup.can_be_pressed": "failed", **undecided(*LINES, LOSS)},
    ),
    "both cores called prepreg": Seed(
        "STK016: then no row is what it says, and none is held to what prepregs are",
        lambda c: of_kind(c, LayerKind.PREPREG, "dielectric 2", "dielectric 4"),
        {
            "board.stackup.can_be_pressed": "failed",
            "board.prepreg.sheet": "not applicable",
            "board.prepreg.sold": "not applicable",
            **undecided("board.prepreg.construction", *LINES, LOSS),
        },
    ),
    "a ground plane of 25 um": Seed(
        "STK017: half an ounce or one? Least space goes by weight; its mirror has 15.2 um; no line is as thick",
        lambda c: c.with_ply("In1.Cu", thickness_mm=0.025),
        {"board.copper.foil_weight": "failed", "board.stackup.symmetry": "failed", **undecided(*SPACE)},
    ),
    "a ground plane of one ounce": Seed(
        "a foil that there is, unlike its mirror",
        lambda c: c.with_ply("In1.Cu", thickness_mm=0.035),
        {"board.stackup.symmetry": "failed"},
    ),
    "outer copper of 25 um": Seed(
        "it is plated, and may have any thickness; unlike its mirror, and lines of 100 ohm stay within 10 %",
        lambda c: c.with_ply("F.Cu", thickness_mm=0.025),
        {"board.stackup.symmetry": "failed"},
    ),
    "outer copper of 1.4 um": Seed(
        "STK017: 1.4 mil entered as 0.0014 mm; the lines of F.Cu rest on it, and least space goes by weight",
        lambda c: c.with_ply("F.Cu", thickness_mm=0.0014),
        {
            "board.copper.foil_weight": "failed",
            "board.stackup.symmetry": "failed",
            **undecided(*LINES, LOSS, *SPACE),
        },
    ),
    "outer copper of 0.35 mm": Seed(
        "ten times an ounce: its spaces and tracks are too narrow, and traces of 0.13 mm would have no top",
        lambda c: c.with_ply("F.Cu", thickness_mm=0.35),
        {
            **dict.fromkeys((*SPACE, *OUTER_TRACK, "board.stackup.symmetry", "board.stackup.thickness"), "failed"),
            **undecided(*LINES, LOSS),
        },
    ),
    "mask of 0.4 um": Seed(
        "STK014: 0.4 mil entered as mm and converted once more",
        lambda c: c.with_ply("F.Mask", thickness_mm=0.0004),
        {"board.mask.thickness": "failed", **undecided(*LINES, LOSS)},
    ),
    "prepreg of 4 um": Seed(
        "STK018: no room for its glass; nor for the roughness of the copper, so that loss has no number",
        lambda c: c.with_ply("dielectric 1", thickness_mm=0.0039),
        {
            "board.prepreg.construction": "failed",
            **dict.fromkeys(("board.fab.dielectric_standard", "board.fab.dielectric_advanced"), "failed"),
            **dict.fromkeys(("board.impedance.routed", "board.impedance.intended"), "failed"),
            **dict.fromkeys(("board.stackup.symmetry", "board.stackup.thickness"), "failed"),
            **undecided(LOSS),
        },
    ),
    "2116 of 0.05 mm": Seed(
        "STK018: 40 um of it would be glass, 81 %; thin for standard fabs, and too near for the widths",
        lambda c: c.with_ply("dielectric 1", thickness_mm=0.05),
        {
            **dict.fromkeys(("board.prepreg.construction", "board.fab.dielectric_standard"), "failed"),
            **dict.fromkeys(("board.impedance.routed", "board.impedance.intended"), "failed"),
            "board.stackup.symmetry": "failed",
        },
    ),
    "7628 of 0.0994 mm": Seed(
        "STK018: 79 um of glass; the row's Dk is stated, so that impedances stay",
        lambda c: c.with_ply("dielectric 1", material="370HR 7628"),
        {"board.prepreg.construction": "failed"},
    ),
    "1080 of 0.0994 mm": Seed(
        "one rich sheet, or two",
        lambda c: c.with_ply("dielectric 1", material="370HR 1080"),
        {},
    ),
    "signals on In1 in place of ground": Seed(
        "STK011: PCIe and HDMI on F.Cu pass over up to 6.6 mm of tracks, with no plane nearer than In2",
        signals_in_place_of_ground,
        {
            "board.planes.between_signals": "failed",
            **dict.fromkeys((*LINES, "board.return_path.gap"), "failed"),
            "board.copper.balance": "failed",
        },
    ),
    "In1 empty in place of ground": Seed(
        "as bad for the lines, but there is nothing that they pass over",
        lambda c: c.without_copper("In1.Cu"),
        {
            **dict.fromkeys((*LINES, "board.return_path.gap"), "failed"),
            "board.copper.balance": "failed",
        },
    ),
}


@functools.cache
def cm5(demos: Path) -> tuple[Case, dict[str, State]]:
    case = Case(read_board(demos / "cm5_minima" / "CM5_MINIMA_3.kicad_pcb"), SETTINGS)
    for row, (material, dk) in ROWS.items():
        case = case.with_ply(row, material=material, dk=dk)
    return case, case.states()


def test_the_stackup_that_is_broken_is_sound(demo_boards: Path) -> None:
    """The ground on which the seeds fall: what they turn had passed."""
    states = cm5(demo_boards)[1]

    turning = {clause for seed in SEEDS.values() for clause in seed.turns}
    assert {states[clause][0] for clause in turning} == {"passed"}


@pytest.mark.parametrize("name", SEEDS)
def test_a_broken_row_turns_what_rests_on_it(name: str, demo_boards: Path) -> None:
    """No more and no less."""
    seed = SEEDS[name]
    case, before = cm5(demo_boards)

    assert turned(before, seed.edit(case).states()) == seed.turns, seed.why
