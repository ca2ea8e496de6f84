"""What a corrected IPC-2581 says of the board: rows, controlled geometries, backdrills."""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.impedance.board_targets import ordered_targets
from drc_rules.analysis.lines.routed import RoutedLine
from drc_rules.facts.context import Context
from drc_rules.release.board_side import BoardSide, board_side, declared_tolerance_pct
from stackup_lib.board.stackup import LayerKind
from stackup_lib.core.errors import StackwrightError
from stackup_lib.fab_files.ipc2581_write import BackdrillSpec, ImpedanceSpec, corrected_ipc2581
from stackup_lib.vias.plated_holes import copper_faces_mm

SAME_HEIGHT = 0.01
"""Heights that differ by less than 1 % make a symmetric stripline; impedance differs by less than is solved."""


def corrected_file(ctx: Context, content: bytes, place: str) -> bytes:
    """Return KiCad's IPC-2581 C with what the board states and the export leaves out or has wrong.

    Raises:
        StackwrightError: the board states no stackup of its own, or the file is not of this board.
    """
    side = board_side(ctx)
    if not side.can_be_written:
        step = "in KiCad, File > Board Setup > Physical Stackup: enter the fab's stackup"
        raise StackwrightError(str(ctx.board.path), "states no stackup of its own, so there is none to write", step)
    sheets = [(sheet.kind, sheet.ply) for sheet in side.sheets]
    return corrected_ipc2581(content, place, sheets, tuple(_impedances(ctx, side)), tuple(_backdrills(side)))


def _impedances(ctx: Context, side: BoardSide) -> Iterator[ImpedanceSpec]:
    for target in ordered_targets(ctx):
        lengths: dict[int, dict[tuple[float, float | None], float]] = {}
        lines: dict[tuple[int, float, float | None], RoutedLine] = {}
        for line in target.routed:
            if target.traces(line.gap_mm) > 1:
                continue  # a trace of a pair that runs alone has no impedance of the pair
            by_layer = lengths.setdefault(line.layer, {})
            key = line.width_mm, line.gap_mm
            by_layer[key] = by_layer.get(key, 0.0) + line.length_mm
            usual = lines.get((line.layer, *key))
            if usual is None or line.length_mm > usual.length_mm:
                lines[line.layer, *key] = line
        for layer in sorted(lengths):
            width, gap = max(lengths[layer], key=lengths[layer].__getitem__)
            line = lines[layer, width, gap]
            references = tuple(k for k in line.references if k is not None)
            yield ImpedanceSpec(
                layer=layer,
                ohm=target.target.ohm,
                tolerance_pct=declared_tolerance_pct(ctx, target),
                width_mm=width,
                gap_mm=gap if target.target.kind == "differential" else None,
                references=references,
                structure=_structure(side, layer, references),
                title=target.title,
            )


def _structure(side: BoardSide, layer: int, references: tuple[int, ...]) -> str:
    last = len(side.names) - 1
    if layer in (0, last):
        if not references:
            return "OTHER"
        masks = [sheet for sheet in side.sheets if sheet.kind is LayerKind.MASK]
        wanted = 0 if layer == 0 else last + 1
        is_covered = any(sheet.gap == wanted for sheet in masks)
        return "MICROSTRIP_MASK_COVERED" if is_covered else "MICROSTRIP_NO_MASK "  # the schema's own blank
    if len(references) < 2:
        return "MICROSTRIP_EMBEDDED" if references else "STRIPLINE_PLANE_LESS"
    faces = copper_faces_mm(side.stackup) if side.stackup else ()
    if not faces:
        return "STRIPLINE_ASYMMETRIC"
    above, below = min(references), max(references)
    up, down = faces[layer][0] - faces[above][1], faces[below][0] - faces[layer][1]
    return "STRIPLINE_SYMMETRIC" if abs(up - down) <= SAME_HEIGHT * max(up, down) else "STRIPLINE_ASYMMETRIC"


def _backdrills(side: BoardSide) -> Iterator[BackdrillSpec]:
    for (start, cut), sizes in side.backdrills.items():
        kept = cut - 1 if start else cut + 1
        if 0 <= kept < len(side.names) and len(sizes) == 1:
            yield BackdrillSpec(start, cut, kept, next(iter(sizes)))
