"""What is ordered of a board: its size, its thickness for its layers, glass and flatness, and what holds it together.

vme-wren is a VME board of 6U, on IS400 with open glass. The CM5 carrier, its stackup not entered yet, is six layers in
1.53 mm. The Tiny Tapeout board names two laminates of Panasonic's, one of them for its prepregs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from drc_rules.rules.rule import all_rules
from stackup_lib.kicad import read_board
from tests.support.seeded import Case, State, turned, undecided

pytestmark = pytest.mark.demo

WREN, TAPEOUT, CARRIER = "vme-wren/vme-wren", "tiny_tapeout/tinytapeout-demo", "cm5_minima/CM5_MINIMA_3"
RULES = tuple(rule for rule in all_rules() if rule.family == "fabrication")
KINDS = {kind for rule in RULES for kind in rule.kinds}

VME = """form = "vme-6u"
[[interface]]
is = "pcie3"
nets = ["/PCIE.PE*", "/pcie_connector/PCIE_PE*_AC_*"]
[[interface]]
is = "eth10g-kr"
nets = ["/SFP?.RX_*", "/SFP?.TX_*", "/SFP?/SFP_?D_C_*"]
"""
FLAT = """profile = "edge"
[fab]
local_bow_um = 100
[fab.max_local_bow_um]
U6 = 120
"""


@dataclass(frozen=True)
class Seed:
    """A defect: why exactly these clauses turn, board and settings, how it is made, and what they turn to."""

    why: str
    board: str
    settings: str
    edit: Callable[[Case], Case]
    turns: dict[str, str]


def stretched(case: Case, by_mm: float) -> Case:
    """Draw the outline taller, about its own middle."""
    outline = case.board.outline
    low, high = float(outline.y_mm.min()), float(outline.y_mm.max())
    y_mm = low - by_mm / 2 + (outline.y_mm - low) * (1 + by_mm / (high - low))
    return case.with_board(outline=replace(outline, y_mm=y_mm))


def made_of(case: Case, material: str, *rows: str, **more: float) -> Case:
    """Make rows of the stackup of a laminate."""
    for row in rows:
        case = case.with_ply(row, material=material, **more)
    return case


def on_glass(case: Case, style: str) -> Case:
    """Weave all dielectrics of one style of glass, or of one without a name."""
    return made_of(case, f"IS400 {style}".rstrip(), *(f"dielectric {row}" for row in range(1, 12)))


def no_stackup(case: Case, thickness_mm: float) -> Case:
    """Forget the stackup; the board states its thickness."""
    return case.with_board(stackup=None, thickness_mm=thickness_mm)


def ordered(case: Case, more: str) -> Case:
    """Add to the settings."""
    return replace(case, config=case.config + more)


ADVANCED, STANDARD = (f"board.fab.average_dielectric_{tier}" for tier in ("advanced", "standard"))
SIZE, WEAVE, BOW, SOLD = "form.size.vme-6u", "board.weave.skew", "board.fabrication.local_bow", "board.prepreg.sold"
HOTTER = {"edge.tg.preferred": "failed +0 -4"}
PREPREGS = "dielectric 1", "dielectric 3"
DECLARED = "".join(f'[declared.dielectric."{row}"]\nmaterial = "RO4350B"\ndk = 3.66\n' for row in PREPREGS)

SEEDS = {
    "0.6 mm taller than 6U": Seed(
        "233.93 mm and its own 0.11 more than 233.35: half a millimetre is usual",
        WREN,
        VME,
        lambda c: stretched(c, 0.45),
        {SIZE: "failed"},
    ),
    "0.4 mm taller than 6U": Seed(
        "within half a millimetre: harmless",
        WREN,
        VME,
        lambda c: stretched(c, 0.3),
        {},
    ),
    "SFP runs at 25 Gb/s": Seed(
        "67 mm along the weave are up to 13.4 ps, and a quarter of the unit interval is 9.7; at 10 Gb/s it was 24",
        WREN,
        VME,
        lambda c: c.declared("eth10g-kr", "eth25g"),
        {WEAVE: "failed"},
    ),
    "SFP runs at 25 Gb/s over spread glass": Seed(
        "no open squares of resin: harmless",
        WREN,
        VME,
        lambda c: on_glass(c.declared("eth10g-kr", "eth25g"), "1078"),
        {},
    ),
    "SFP runs at 25 Gb/s, and the fab is told to use spread glass": Seed(
        "the same by the order: harmless",
        WREN,
        VME,
        lambda c: ordered(c.declared("eth10g-kr", "eth25g"), "[fab]\nspread_glass = true\n"),
        {},
    ),
    "SFP runs at 25 Gb/s over glass without a name": Seed(
        "it may be open",
        WREN,
        VME,
        lambda c: on_glass(c.declared("eth10g-kr", "eth25g"), ""),
        undecided(WEAVE),
    ),
    "PCI Express runs at Gen5": Seed(
        "38 mm along the weave are 7.6 ps, just below the quarter of 31.25: harmless",
        WREN,
        VME,
        lambda c: c.declared("pcie3", "pcie5"),
        {},
    ),
    "six layers in 0.85 mm": Seed(
        "two ounces on each leave 0.086 mm between them on average: harmless",
        CARRIER,
        "",
        lambda c: no_stackup(c, 0.85),
        {},
    ),
    "six layers in 0.6 mm": Seed(
        "0.094 mm with the thinnest copper, 0.036 with two ounces",
        CARRIER,
        "",
        lambda c: no_stackup(c, 0.6),
        undecided(ADVANCED, STANDARD),
    ),
    "six layers in 0.4 mm": Seed(
        "0.054 mm at best: too thin for standard fabs with any copper, for advanced ones with more of it",
        CARRIER,
        "",
        lambda c: no_stackup(c, 0.4),
        {STANDARD: "failed", ADVANCED: "not verifiable"},
    ),
    "six layers in 0.3 mm": Seed(
        "0.034 mm at best",
        CARRIER,
        "",
        lambda c: no_stackup(c, 0.3),
        {STANDARD: "failed", ADVANCED: "failed"},
    ),
    "the order allows 150 um of bow under U6": Seed(
        "its assembly guide allows 120",
        TAPEOUT,
        FLAT,
        lambda c: c.declared("local_bow_um = 100", "local_bow_um = 150"),
        {BOW: "failed"},
    ),
    "the order allows 120 um": Seed(
        "just what the guide does: harmless",
        TAPEOUT,
        FLAT,
        lambda c: c.declared("local_bow_um = 100", "local_bow_um = 120"),
        {},
    ),
    "the guide of U6 allows 80 um": Seed(
        "the other side of the same comparison",
        TAPEOUT,
        FLAT,
        lambda c: c.declared("U6 = 120", "U6 = 80"),
        {BOW: "failed"},
    ),
    "the package is misspelt": Seed(
        "what is allowed under a part that is not there says nothing of U6",
        TAPEOUT,
        FLAT,
        lambda c: c.declared("U6 = 120", "U66 = 120"),
        undecided(BOW),
    ),
    "the order says nothing of bow under packages": Seed(
        "nothing to compare with",
        TAPEOUT,
        FLAT,
        lambda c: c.declared("local_bow_um = 100\n", ""),
        undecided(BOW),
    ),
    "prepregs of RO4350B": Seed(
        "Rogers sells it as laminate only; its Tg is high, where that of the four sheets was a little low",
        TAPEOUT,
        FLAT,
        lambda c: made_of(c, "RO4350B", *PREPREGS, dk=3.66),
        {SOLD: "failed", **HOTTER},
    ),
    "prepregs that are declared as RO4350B": Seed(
        "the settings say the same",
        TAPEOUT,
        FLAT,
        lambda c: ordered(c, DECLARED),
        {SOLD: "failed", **HOTTER},
    ),
    "prepregs of RO4450F": Seed(
        "the bondply that Rogers sells for it: harmless, and of as high a Tg",
        TAPEOUT,
        FLAT,
        lambda c: made_of(c, "RO4450F", *PREPREGS, dk=3.52),
        HOTTER,
    ),
    "a core of RO4350B": Seed(
        "a hybrid as they are built, with one sheet less of a Tg that is a little low: harmless",
        TAPEOUT,
        FLAT,
        lambda c: made_of(c, "RO4350B", "dielectric 2", dk=3.66),
        {"edge.tg.preferred": "failed +0 -1"},
    ),
}


def states(case: Case, board: str) -> dict[str, State]:
    """Judge every clause; of the larger boards those on fabrication alone."""
    if board == TAPEOUT:
        return case.states()
    return case.states_of_clauses(lambda clause: clause.kind in KINDS, RULES)


@functools.cache
def sound(demos: Path, board: str, settings: str) -> tuple[Case, dict[str, State]]:
    case = Case(read_board(demos / f"{board}.kicad_pcb"), settings)
    case = no_stackup(case, 1.53) if board == CARRIER else case
    return case, states(case, board)


def test_the_boards_pass_what_the_seeds_break(demo_boards: Path) -> None:
    """The ground on which the seeds fall."""
    wren, carrier, tapeout = (sound(demo_boards, *one)[1] for one in ((WREN, VME), (CARRIER, ""), (TAPEOUT, FLAT)))

    assert {wren[SIZE][0], wren[WEAVE][0], carrier[ADVANCED][0], carrier[STANDARD][0]} == {"passed"}
    assert {tapeout[BOW][0], tapeout[SOLD][0]} == {"passed"}


@pytest.mark.parametrize("name", SEEDS)
def test_a_defect_of_the_order_turns_what_rests_on_it(name: str, demo_boards: Path) -> None:
    """No more and no less."""
    seed = SEEDS[name]
    case, before = sound(demo_boards, seed.board, seed.settings)

    assert turned(before, states(seed.edit(case), seed.board)) == seed.turns, seed.why
