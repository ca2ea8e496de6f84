"""The plated holes in a thermal pad: where they are, how deep their barrel goes, whether they are filled and capped."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.analysis.thermal.pad_shapes import PadShape, in_pad, inside_pad
from drc_rules.settings import FILE_NAME
from drc_rules.settings.config_thermal import HotPart
from stackup_lib.board.board import Board, Drilling, PadKind, ViaKind
from stackup_lib.core.facts import Confidence, Fact, Origin, unknown
from stackup_lib.core.record import record
from stackup_lib.vias.plated_holes import backdrills_of, is_within


@record
class PadHole:
    """A plated hole in a thermal pad.

    Attributes:
        along_mm, across_mm: from the middle of the pad, along its width and its height.
        bottom: farthest copper layer that its barrel still reaches; that of the part where the barrel is drilled out
            from there.
        filled, capped: as the board file or the declaration says.
        is_laser: a microvia.
    """

    x_mm: float
    y_mm: float
    along_mm: float
    across_mm: float
    drill_mm: float
    bottom: int
    net: int
    uuid: str
    filled: Fact[bool]
    capped: Fact[bool]
    is_laser: bool


def holes_in_pad(board: Board, declared: HotPart, row: int, layer: int, shape: PadShape) -> tuple[PadHole, ...]:
    """Return the vias and plated holes of its net in a pad, each place once.

    Args:
        board: whose pad it is.
        declared: of its part.
        row: of the pad.
        layer: outer copper layer that it is on.
        shape: of the pad.
    """
    found = (*_via_holes(board, declared, row, layer, shape), *_pad_holes(board, declared, row, shape))
    return tuple({(hole.x_mm, hole.y_mm): hole for hole in found}.values())


def _end_of_barrel(drilling: Drilling, index: int, layer: int, end: int, drill_mm: float) -> int:
    """Return the layer up to which backdrills leave the barrel of a hole, from the part's layer on."""
    away = 1 if end > layer else -1
    left = end
    for drill in backdrills_of(drilling, index):
        if is_within(drill, drill_mm):
            continue
        if drill.start == layer:
            return layer
        left = min(left, drill.must_cut - away, key=lambda k: abs(k - layer))
    return left


def _via_holes(board: Board, declared: HotPart, row: int, layer: int, shape: PadShape) -> Iterator[PadHole]:
    vias, reference = board.vias, _reference(board, row)
    reaches = (vias.start_layer <= layer) & (vias.end_layer >= layer) & (vias.net == board.pads.net[row])
    along, across = in_pad(board, row, vias.x_mm, vias.y_mm)
    for index in np.flatnonzero(reaches & inside_pad(board, row, vias.x_mm, vias.y_mm)).tolist():
        end = int(vias.end_layer[index] if layer == 0 else vias.start_layer[index])
        yield PadHole(
            x_mm=float(vias.x_mm[index]),
            y_mm=float(vias.y_mm[index]),
            along_mm=float(along[index]) - shape.middle_mm[0],
            across_mm=float(across[index]) - shape.middle_mm[1],
            drill_mm=float(vias.drill_mm[index]),
            bottom=_end_of_barrel(vias.drilling, index, layer, end, float(vias.drill_mm[index])),
            net=int(vias.net[index]),
            uuid=str(vias.uuid[index]),
            filled=declared_state(declared, reference, "filled")
            or _of_file(board, reference, "filled", int(vias.filled[index])),
            capped=declared_state(declared, reference, "capped")
            or _of_file(board, reference, "capped", int(vias.capped[index])),
            is_laser=int(vias.kind[index]) == ViaKind.MICRO,
        )


def _pad_holes(board: Board, declared: HotPart, row: int, shape: PadShape) -> Iterator[PadHole]:
    """The plated holes that a footprint, its own or another, has in its thermal pad; KiCad stores no fill for them."""
    pads, reference = board.pads, _reference(board, row)
    mine = (pads.kind == PadKind.THROUGH) & (pads.net == pads.net[row]) & (pads.drill_x_mm > 0)
    layer, end = 0, board.layer_count - 1
    if board.footprints.back[pads.footprint[row]]:
        layer, end = end, layer
    along, across = in_pad(board, row, pads.x_mm, pads.y_mm)
    for index in np.flatnonzero(mine & inside_pad(board, row, pads.x_mm, pads.y_mm)).tolist():
        yield PadHole(
            x_mm=float(pads.x_mm[index]),
            y_mm=float(pads.y_mm[index]),
            along_mm=float(along[index]) - shape.middle_mm[0],
            across_mm=float(across[index]) - shape.middle_mm[1],
            drill_mm=float(pads.drill_x_mm[index]),
            bottom=_end_of_barrel(pads.drilling, index, layer, end, float(pads.drill_x_mm[index])),
            net=int(pads.net[index]),
            uuid=str(pads.uuid[index]),
            filled=declared_state(declared, reference, "filled") or _not_declared(reference, in_footprint=True),
            capped=declared_state(declared, reference, "capped") or _not_declared(reference, in_footprint=True),
            is_laser=False,
        )


def _reference(board: Board, row: int) -> str:
    return str(board.footprints.reference[board.pads.footprint[row]])


def declared_state(declared: HotPart, reference: str, what: str) -> Fact[bool] | None:
    """Return what the settings say of fill or cap of a part's vias, None where they say nothing."""
    said = declared.via_capped if what == "capped" else None
    if what == "filled" and declared.via_fill is not None:
        said = declared.via_fill != "none"
    if said is None:
        return None
    source = f"{FILE_NAME}, hot_part of {reference}"
    return Fact[bool](name=f"vias {what}", value=said, origin=Origin.DECLARED, source=source)


def _of_file(board: Board, reference: str, what: str, stated: int) -> Fact[bool]:
    """Return what the file says of one via's fill or cap: the via's own word, else the board's default."""
    default = board.ipc4761.get({"filled": "filling", "capped": "capping"}[what])
    if stated >= 0:
        return Fact[bool](name=f"via {what}", value=stated == 1, origin=Origin.FILE, source="the via")
    if default is not None:
        source, sure = "board setup, IPC-4761 defaults", Confidence.MEDIUM
        return Fact[bool](name=f"via {what}", value=default, origin=Origin.FILE, source=source, confidence=sure)
    return _not_declared(reference, in_footprint=False)


def _not_declared(reference: str, *, in_footprint: bool) -> Fact[bool]:
    whose = "the holes that footprints have" if in_footprint else "the vias"
    how = 'via_fill = "?"  # none, resin, conductive epoxy or copper\nvia_capped = "?"  # true or false'
    kicad = "" if in_footprint else "\n# or, in KiCad 10, in the properties of the vias"
    title = f"whether {whose} in the thermal pad of {reference} are filled and capped"
    return unknown(title, f"{how}\n# under the [[hot_part]] of {reference}{kicad}")
