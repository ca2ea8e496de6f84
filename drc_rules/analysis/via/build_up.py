"""How a board is built up outward, HDI class, lamination cycles, and the pitch of its BGAs."""

from functools import cache
from pathlib import Path

import numpy as np

from drc_rules.report.link_rows import BgaPitch, BuildUp
from drc_rules.requirements.data_files import read_model
from stackup_lib.board.board import Board
from stackup_lib.core.frozen import Frozen
from stackup_lib.vias.build_ups import BuildUps, any_inside, bgas, build_ups, microvias

FILE = Path(__file__).parent / "build_up.toml"

ROUNDING_MM = 0.005
"""A pitch in inches counts as the nearest metric one."""

SHOWN = 4
"""BGAs named in one line."""


class _Usual(Frozen):
    pitch_mm: float
    per_side: int


class _File(Frozen):
    source: str
    usual: tuple[_Usual, ...]


@cache
def _file() -> _File:
    return read_model(FILE, _File)


def usual_build_ups(pitch_mm: float) -> tuple[int, str]:
    """Return the microvia layers per side that a pitch usually takes, 0 where no value is known, and the source."""
    rows = sorted(_file().usual, key=lambda row: row.pitch_mm)
    found = next((row.per_side for row in rows if pitch_mm <= row.pitch_mm + ROUNDING_MM), 0)
    return found, _file().source


def class_name(per_side: int) -> str:
    """`2-N-2`; empty for none."""
    return f"{per_side}-N-{per_side}" if per_side else ""


def build_up(board: Board) -> BuildUp:
    """Return HDI class, lamination cycles and stacks as the vias need them, and the board's BGAs, the finest first."""
    built = build_ups(board)
    rows, vias = microvias(board), board.vias
    x, y = vias.x_mm[rows], vias.y_mm[rows]
    parts = [
        BgaPitch(
            reference=str(board.footprints.reference[bga.footprint]),
            balls=bga.balls,
            pitch_mm=bga.pitch_mm,
            has_microvias=any_inside(x, y, bga.box_mm),
            usual_class=class_name(usual_build_ups(bga.pitch_mm)[0]),
        )
        for bga in bgas(board)
    ]
    mechanical = _mechanical(board)
    return BuildUp(
        hdi_class=_class(built, mechanical),
        presses_at_least=built.lamination_cycles or 0,
        microvia_levels=built.stacks[0].levels if built.stacks else 1 if len(rows) else 0,
        blind_or_buried=mechanical,
        bgas=tuple(sorted(parts, key=lambda part: (part.pitch_mm, part.reference))),
    )


def _mechanical(board: Board) -> int:
    """Vias that end inside the board and are no microvias."""
    vias, last = board.vias, board.layer_count - 1
    inside = (vias.start_layer > 0) | (vias.end_layer < last)
    inside[microvias(board)] = False
    return int(np.sum(inside))


def _class(built: BuildUps, mechanical: int) -> str:
    if not built.per_side and mechanical:
        return "blind or buried vias, no microvias"
    return built.name


def describe(built: BuildUp, vias: int) -> str:
    """Return one line: class, lamination cycles, stacks, and the BGAs with what their pitch usually takes."""
    text = built.hdi_class if vias else "no vias"
    if not built.presses_at_least:
        text += ", crossing spans: no sequence of laminations makes them"
    if built.presses_at_least > 1:
        text += f", at least {built.presses_at_least} lamination cycles"
    if built.microvia_levels > 1:
        text += f", microvias stacked {built.microvia_levels} high"
    if not built.bgas:
        return text
    shown = [_bga(bga) for bga in built.bgas[:SHOWN]]
    more = len(built.bgas) - len(shown)
    return f"{text}; BGA pitch: {', '.join(shown)}{f' and {more} wider' if more else ''}"


def _bga(bga: BgaPitch) -> str:
    usual = f" ({bga.usual_class} is usual{'' if bga.has_microvias else ', no microvia among its balls'})"
    return f"{bga.reference} {bga.pitch_mm:g} mm" + (usual if bga.usual_class else "")
