"""One fact at a time of a small KiCad demo board is broken, for rules that the large boards' seeds do not reach.

The Tiny Tapeout board: four layers, 104.5 x 81 mm, a laminate that its stackup names, GND on all four layers.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from stackup_lib.kicad import read_board
from tests.support.seeded import Case, SeedUnder, State, turned

pytestmark = pytest.mark.demo

EDGE = 'profile = "edge"\n'
CARD = EDGE + 'form = "pcie-card"\n'
TRAINING = 'profile = "training"\n'


def with_settings(case: Case, more: str) -> Case:
    """Add to the settings."""
    return replace(case, config=case.config + more)


def with_rings(case: Case, size_mm: float, ring_mm: float) -> Case:
    """Give vias of a size, which no net class sets, another ring."""
    vias = case.board.vias
    chosen = np.isclose(vias.size_mm, size_mm)
    assert np.any(chosen)
    size = np.where(chosen, vias.drill_mm + 2 * ring_mm, vias.size_mm)
    pads = np.where(chosen[:, None] & ~np.isnan(vias.pad_size_mm), size[:, None], vias.pad_size_mm)
    return case.with_board(vias=replace(vias, size_mm=size, pad_size_mm=pads))


def scaled(case: Case, factor: float) -> Case:
    """Draw the outline larger or smaller, about its own middle."""
    outline = case.board.outline
    x_mm, y_mm = (
        middle + factor * (values - middle)
        for values in (outline.x_mm, outline.y_mm)
        for middle in [(values.min() + values.max()) / 2]
    )
    return case.with_board(outline=replace(outline, x_mm=x_mm, y_mm=y_mm))


EDGE_TIERS = ("board.fab.edge", "board.fab.edge_advanced", "board.fab.edge_standard")
REST_ON_FILLS = (
    "board.copper.balance",
    *(f"board.fab.{what}{tier}" for what in ("hole_to_copper", "space") for tier in ("", "_advanced", "_standard")),
    "board.impedance.coupling",
)

SEEDS = {
    "half as large again": SeedUnder(
        "157 mm and more are unusual at the edge",
        EDGE,
        lambda c: scaled(c, 1.5),
        {"edge.board_size": "failed"},
    ),
    "drawn at three tenths": SeedUnder(
        "31 mm, where 50 are usual; the outline now runs through copper, tracks included, and fills are out of date",
        EDGE,
        lambda c: scaled(c, 0.3),
        {
            "edge.board_size": "failed",
            **dict.fromkeys((*EDGE_TIERS, "board.copper.no_severed_tracks", "board.fills.up_to_date"), "failed"),
            **dict.fromkeys(REST_ON_FILLS, "not verifiable"),
        },
    ),
    "a core that softens at 110 C": SeedUnder(
        "the least Tg; the preferred one had failed for its row already",
        EDGE,
        lambda c: with_settings(c, '[declared.dielectric."dielectric 2"]\ntg_c = 110\n'),
        {"edge.tg.min": "failed"},
    ),
    "a core of twice the thickness": SeedUnder(
        "a card's thickness, and the sum against the board's own",
        CARD,
        lambda c: c.with_ply("dielectric 2", thickness_mm=2.26),
        {"form.thickness.pcie-card": "failed", "board.stackup.thickness": "failed"},
    ),
    "one inner layer without its plane": SeedUnder(
        "its mirror is full",
        EDGE,
        lambda c: c.without_copper("In2.Cu"),
        {"board.copper.balance": "failed"},
    ),
    "vias of 0.7 mm with rings of 0.1 mm": SeedUnder(
        "0.05 mm around the drill, less than layers may lie off by, and less than Board Setup's own 0.15 mm",
        TRAINING + "[fab]\nregistration_mm = 0.075\n",
        lambda c: with_rings(c, 0.7, 0.1),
        {"training.registration": "failed", "board.setup.minimums": "failed"},
    ),
}


@functools.cache
def tapeout(demos: Path, settings: str) -> tuple[Case, dict[str, State]]:
    case = Case(read_board(demos / "tiny_tapeout" / "tinytapeout-demo.kicad_pcb"), settings)
    return case, case.states()


@pytest.mark.parametrize("name", SEEDS)
def test_a_defect_of_the_board_turns_the_clauses_that_rest_on_it(name: str, demo_boards: Path) -> None:
    """Exactly those: a fact turns nothing that does not rest on it."""
    seed = SEEDS[name]
    case, before = tapeout(demo_boards, seed.settings)
    assert turned(before, seed.edit(case).states()) == seed.turns, seed.why
