"""The board in six lines of facts, for the head of every report."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from itertools import groupby

import numpy as np

from drc_rules.analysis.fabrication.fab_holes import NO_DIAMETER_MM
from drc_rules.analysis.via.build_up import build_up, describe
from drc_rules.analysis.via.hole_groups import groups_of, smallest_through_drill_mm
from drc_rules.facts.context import Context
from drc_rules.report.model import BoardFacts
from drc_rules.report.process_rows import ProcessView
from stackup_lib.board.board import ViaKind
from stackup_lib.board.default_stackup import is_grown_default
from stackup_lib.board.layer_roles import LayerRole
from stackup_lib.core.words import count
from stackup_lib.vias.plated_holes import copper_faces_mm

_LETTER = {
    LayerRole.SIGNAL: "S",
    LayerRole.GROUND: "G",
    LayerRole.POWER: "P",
    LayerRole.MIXED: "X",
    LayerRole.EMPTY: "-",
}


def board_facts(ctx: Context, sha256: str) -> BoardFacts:
    """Collect the facts that open a report."""
    board = ctx.board
    stackup = board.stackup
    thickness = stackup.thickness_mm if stackup and not ctx.is_default_stackup else board.thickness_mm
    materials = tuple(dict.fromkeys(ply.stated for ply in ctx.plies if ply.stated))
    copper = _copper(ctx)
    order = " ".join(_LETTER[use.role] for use in ctx.uses)
    empty = ", - empty" if any(use.role is LayerRole.EMPTY for use in ctx.uses) else ""
    size = board.outline.size_mm
    built = build_up(board)
    lines = (
        f"{count(board.layer_count, 'copper layer')}, {_thickness(thickness)}, {_size(size)}",
        f"stackup: {_stackup(ctx)}",
        f"layers:  {order}  (S signal, G ground, P power, X both{empty}; from filled copper and tracks)",
        f"copper:  {copper}",
        f"vias:    {_vias(ctx, _through_mm(ctx, thickness))}",
        f"hdi:     {describe(built, len(board.vias))}",
    )
    return BoardFacts(
        path=board.path.as_posix() if board.path else "",
        sha256=sha256,
        kicad=f"{board.generator} {board.format_version}",
        copper_layers=board.layer_count,
        thickness_mm=thickness,
        size_mm=size,
        stackup=_stackup(ctx),
        materials=materials,
        copper=copper,
        tracks=len(board.tracks),
        vias=len(board.vias),
        nets=max(len(board.nets) - 1, 0),
        lines=lines,
        build_up=built,
    )


def with_process(facts: BoardFacts, process: ProcessView | None) -> BoardFacts:
    """Return the facts with a line on the process that the impedances rest on, where there is any."""
    if process is None:
        return facts
    return facts.model_copy(update={"lines": (*facts.lines, f"process: {process.line}")})


def _stackup(ctx: Context) -> str:
    if ctx.board.stackup is None:
        return "none in the file"
    if ctx.is_default_stackup:
        return "KiCad's untouched default: it declares nothing"
    named = Counter(ply.match.laminate.family for ply in ctx.plies if ply.match and ply.match.laminate)
    nameless = dict.fromkeys(ply.stated for ply in ctx.plies if not (ply.match and ply.match.laminate))
    parts = [f"{family} ({count} {'dielectric' if count == 1 else 'dielectrics'})" for family, count in named.items()]
    return ", ".join([*parts, *(f'"{text}"' if text else "no material" for text in nameless)]) or "no dielectrics"


def _copper(ctx: Context) -> str:
    """Copper thicknesses top to bottom, runs of equal ones shortened."""
    stackup = ctx.board.stackup
    if stackup is None or ctx.is_default_stackup:
        return "not declared"
    sizes = [f"{row.thickness_mm * 1000:g}" if row.thickness_mm else "?" for row in stackup.copper]
    return " / ".join(_runs(sizes)) + " um, top to bottom"


def _runs(words: Iterable[str]) -> list[str]:
    counted = [(word, len(list(group))) for word, group in groupby(words)]
    return [word if count == 1 else f"{count}x{word}" for word, count in counted]


def _through_mm(ctx: Context, thickness_mm: float | None) -> float | None:
    """Return how long a through hole is: over the copper, as VIA004 counts; without a stackup as thick as the board.

    None where that thickness is but KiCad's default, grown with every layer that was added.
    """
    if is_grown_default(ctx.board):
        return None
    faces = copper_faces_mm(ctx.board.stackup) if ctx.board.stackup and not ctx.is_default_stackup else ()
    return faces[-1][1] - faces[0][0] if len(faces) == ctx.board.layer_count and len(faces) else thickness_mm


def _vias(ctx: Context, through_mm: float | None) -> str:
    vias = ctx.board.vias
    if not len(vias):
        return "none"
    is_through = (vias.start_layer == 0) & (vias.end_layer == ctx.board.layer_count - 1)  # whatever the file calls it
    kinds = Counter(
        (ViaKind.THROUGH if through else ViaKind(kind)).name.lower()
        for kind, through in zip(vias.kind.tolist(), is_through.tolist(), strict=True)
    )
    sizes = Counter(zip(vias.size_mm.tolist(), vias.drill_mm.tolist(), strict=True)).most_common(3)
    shown = ", ".join(f"{count} of {size:g}/{_drill(drill)} mm" for (size, drill), count in sizes)
    drilled = int(np.sum(vias.drilling.backdrill_start >= 0))
    drill_mm = smallest_through_drill_mm(ctx.get(groups_of))
    ratio = ""
    if through_mm and drill_mm:
        ratio = f"; {through_mm / drill_mm:.1f}:1 at the smallest drill, {drill_mm:g} mm"
    by_kind = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    return f"{by_kind} ({shown}{ratio}); {drilled or 'none'} backdrilled"


def _drill(diameter_mm: float) -> str:
    """Return a diameter as the file has it, also where it is a placeholder: 0.00001, not 1e-05; `?` where none is."""
    if math.isnan(diameter_mm):
        return "?"
    return f"{diameter_mm:g}" if diameter_mm >= NO_DIAMETER_MM else f"{diameter_mm:.6f}".rstrip("0").rstrip(".")


def _thickness(value: float | None) -> str:
    return "thickness not stated" if value is None else f"{value:.3f} mm thick"


def _size(size: tuple[float, float] | None) -> str:
    return "no outline" if size is None else f"{size[0]:.1f} x {size[1]:.1f} mm"
