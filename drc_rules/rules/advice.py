"""Text that several rules share: commands that run as printed, sources of targets, files next to a board."""

from __future__ import annotations

import shlex
from contextlib import suppress

from drc_rules.analysis.lines.routed import NearFill, References
from drc_rules.analysis.lines.sites import references_of
from drc_rules.analysis.targets.controlled import NetTarget
from drc_rules.facts.context import Context
from drc_rules.requirements.clauses import Source
from drc_rules.requirements.documents import cite
from stackup_lib.board.board import Board
from stackup_lib.core.facts import MissingFact

NO_FILE = "BOARD.kicad_pcb"
"""Stands for the path of a board that is no file."""

NET_CLASSES_IN_PROJECT = 20200000
"""Boards of this format version and later keep their net classes in the project file."""


def lacks_project(board: Board) -> bool:
    """Tell whether net classes belong into a `.kicad_pro` that is not there; KiCad 5 and older keep them themselves."""
    return board.path is not None and board.project.path is None and board.format_version >= NET_CLASSES_IN_PROJECT


def command(name: str, board: Board, *options: str) -> str:
    """Return a command on a board as a shell takes it."""
    path = NO_FILE if board.path is None else str(board.path)
    return shlex.join(["stackwright", name, path, *options])


def width_command(
    ctx: Context,
    target: NetTarget,
    index: int,
    references: References | None,
    *,
    gap_mm: float | None = None,
    near_fill: NearFill | None = None,
) -> str:
    """Return the command that gives the width for a target on a layer, between the planes that are meant.

    The planes are named where they are not the usual ones of the layer. A gap is kept, and so is copper next to the
    line where it is on both sides at one distance.
    """
    names = [layer.name for layer in ctx.board.copper_layers]
    kind = "--target-diff" if target.kind == "differential" else "--target-se"
    usual: References | None = None
    with suppress(MissingFact), ctx.aside():
        usual = references_of(ctx, index)
    planes = [names[plane] for plane in references or () if plane is not None] if references != usual else []
    named = ["--reference", ",".join(planes)] if planes else []
    kept = ["--gap", f"{gap_mm:g}"] if gap_mm is not None else []
    if near_fill is not None and near_fill.is_even:
        kept += ["--coplanar-gap", f"{near_fill.near_mm:g}"]
    return command("impedance", ctx.board, "--layer", names[index], kind, f"{target.ohm:g}", *kept, *named)


def source_of(target: NetTarget) -> str:
    """Return where a target stands: the document of its own interface, else the class, rule or setting that asks."""
    if not target.document or target.any_of:
        return target.source
    return f"{target.source.partition(', ')[0]}: {cite(Source(document=target.document))}"
