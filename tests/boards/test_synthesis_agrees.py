"""A suggestion's impedances and losses are those that a check of the finished board finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.analysis.lines.solved_lines import LineKey, Lines
from drc_rules.engine.check import prepare
from drc_rules.facts.context import Context
from drc_rules.facts.declared import Overrides
from drc_rules.settings.config import parse_config
from stackup_lib.field_solver.solver import solve
from stackup_lib.kicad import read_board
from stackup_lib.kicad.write.new_board import empty_board
from stackup_lib.materials import FoilGrade
from stackup_lib.synthesis import CandidateStackup, Goals, LaidOut, LineGoal, suggest, to_planned
from stackup_lib.synthesis.arrange import orders
from stackup_lib.synthesis.fill.closest import closest
from stackup_lib.transmission_lines.width_request import Target

LINES = (
    LineGoal(name="pair", target=Target(ohm=85, kind="differential"), nyquist_ghz=16),
    LineGoal(name="trace", target=Target(ohm=50), nyquist_ghz=8, where="outer"),
)


def as_board(candidate: CandidateStackup, folder: Path) -> Context:
    """The candidate written as an empty KiCad board, read again, its foils declared."""
    path = folder / "board.kicad_pcb"
    path.write_bytes(empty_board(to_planned(candidate)))
    foils = [f'[declared.copper."{c.name}"]\nfoil = "{c.foil}"\n' for c in candidate.copper if c.foil]
    return prepare(read_board(path), parse_config("".join(foils)), Overrides())[0]


@pytest.mark.parametrize(
    ("laminates", "foil"),
    [(("Megtron 6",), FoilGrade.HVLP), (("I-Tera MT40", "370HR"), FoilGrade.RTF), (("Megtron 7(N)",), None)],
)
def test_a_check_of_the_built_board_finds_the_same_numbers(
    laminates: tuple[str, ...], foil: FoilGrade | None, tmp_path: Path
) -> None:
    """Impedance agrees within 0.3 %, and each end and the middle of the loss within 1 %, on inner and outer layers."""
    goals = Goals(
        layer_count=12,
        fast_layers=4,
        other_signal_layers=2,
        thickness_mm=1.6,
        laminates=laminates,
        foil=foil,
        lines=LINES,
    )
    best = suggest(goals).ranked[0]
    lines = Lines(as_board(best.candidate, tmp_path))
    copper = [c.name for c in best.candidate.copper]
    planes = [k for k, c in enumerate(best.candidate.copper) if c.use in ("ground", "power")]
    assert len(best.lines) == 6
    for line in best.lines:
        index = copper.index(line.layer)
        adjacent = (
            max((k for k in planes if k < index), default=None),
            min((k for k in planes if k > index), default=None),
        )
        goal = next(g for g in LINES if g.name == line.goal)
        there = lines.solved(index, line.width_mm, line.gap_mm, adjacent)
        assert there.impedance_ohm == pytest.approx(line.impedance_ohm.nominal, rel=3e-3)
        loss = lines.loss(LineKey(index, line.width_mm, line.gap_mm, adjacent), goal.nyquist_ghz or 0.0).total_db_per_mm
        assert line.loss_db_per_inch is not None
        for here, checked in zip(
            (line.loss_db_per_inch.low, line.loss_db_per_inch.nominal, line.loss_db_per_inch.high),
            (loss.low, loss.nominal, loss.high),
            strict=True,
        ):
            assert checked * 25.4 == pytest.approx(here, rel=1e-2), line


@pytest.mark.parametrize("layers", ["OGSSPO", "OSGGSO", "OPSSSSGO", "OO"])
def test_lines_whose_planes_lie_beyond_signal_layers_are_those_of_the_check(layers: str, tmp_path: Path) -> None:
    """What lies between a line and its plane is all of it, copper of other signal layers too."""
    kept = LaidOut(layers=layers, copper_oz=(None,) * len(layers))
    goals = Goals(laid_out=kept, layer_count=len(layers), thickness_mm=1.6)
    candidate = closest(orders(goals)[0], "370HR", goals)[0]
    lines = Lines(as_board(candidate, tmp_path))
    planes = [k for k, kind in enumerate(layers) if kind in "GP" or layers == "OO"]
    carry = [k for k, kind in enumerate(layers) if kind in "OS"]
    assert carry
    for index in carry:
        above = max((k for k in planes if k < index), default=None)
        below = min((k for k in planes if k > index), default=None)
        here = solve(candidate.site(index).section(0.15, 0.2)).z_diff_ohm
        assert lines.solved(index, 0.15, 0.2, (above, below)).impedance_ohm == pytest.approx(here, rel=3e-3), index
