"""Declared high-power components on the board: their thermal pads, and the plated holes in them with fill and cap."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from drc_rules.facts.context import Context
from drc_rules.report.model import Location
from drc_rules.requirements.clauses import Clause
from drc_rules.settings import FILE_NAME
from drc_rules.settings.config_thermal import HotPart
from stackup_lib.board.board import Board, Floats, Ints, PadKind, ViaKind
from stackup_lib.board.layer_roles import is_ground
from stackup_lib.core.arrays import distinct, median
from stackup_lib.core.errors import did_you_mean
from stackup_lib.core.facts import Confidence, Fact, MissingFact, Origin, unknown
from stackup_lib.core.record import record
from stackup_lib.nets.two_pin_parts import is_left_out, letters_of

EXPOSED_RATIO = 2.5
"""A pad this much larger than the part's usual one is a thermal pad: 2.5 for the tab of a SOT-223, 15 for a QFN."""

EXPOSED_MM2 = 1.0
"""A smaller pad leads no heat worth the name."""

SUPPLY_PADS = 4
"""A part without thermal pad loses heat through the nets on at least this many of its pads: ground, supplies."""

CANDIDATE_LETTERS = frozenset({"U", "IC", "GPU", "CPU", "ASIC", "FPGA", "SOC"})
CANDIDATES = 2
PLACES_SHOWN = 20


@record
class PadHole:
    """A plated hole in a thermal pad.

    Attributes:
        along_mm, across_mm: from the middle of the pad, along its width and its height.
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


@record
class Pad:
    """A thermal pad with its holes."""

    row: int
    number: str
    net: int
    area_mm2: float
    size_mm: tuple[float, float]
    holes: tuple[PadHole, ...]


@record
class HotPartOnBoard:
    """One declared high-power component.

    Attributes:
        layer: outer copper layer that it sits on.
        is_exposed: it has thermal pads; else `pads` are those of its ground and supplies, as under a BGA.
    """

    board: Board
    declared: HotPart
    reference: str
    footprint: int
    layer: int
    is_exposed: bool
    pads: tuple[Pad, ...]

    @cached_property
    def holes(self) -> tuple[PadHole, ...]:
        """The holes in all of its pads, each once."""
        return tuple({(hole.x_mm, hole.y_mm): hole for pad in self.pads for hole in pad.holes}.values())

    def place(self) -> Location:
        """The part itself."""
        parts = self.board.footprints
        return Location(
            layer=self.board.copper_layers[self.layer].name,
            uuid=str(parts.uuid[self.footprint]),
            x_mm=float(parts.x_mm[self.footprint]),
            y_mm=float(parts.y_mm[self.footprint]),
        )


def hot_parts(ctx: Context) -> tuple[HotPartOnBoard, ...]:
    """Return the declared high-power components of a board, empty where none is declared.

    Raises:
        MissingFact: a declared reference is not on the board or not fitted, or names several parts.
    """
    found = []
    for declared in ctx.declarations.config.hot_part:
        if not declared.is_open:
            found += [_on_board(ctx.board, declared, ref) for ref in declared.refs]
    return tuple(found)


def required_hot_parts(ctx: Context, _clause: Clause) -> tuple[HotPartOnBoard, ...]:
    """Return the declared high-power components; raises `MissingFact` where none is stated, with likely ones."""
    if not any(not declared.is_open for declared in ctx.declarations.config.hot_part):
        raise MissingFact("the high-power components", _lines(ctx.board))
    return hot_parts(ctx)


def hot_parts_of_power(ctx: Context, clause: Clause) -> tuple[HotPartOnBoard, ...]:
    """Return the declared high-power components above the clause's power; raises `MissingFact` where none is declared.

    A part of unknown power leaves the clause open.
    """
    least = clause.limit.min or 0.0
    return tuple(part for part in required_hot_parts(ctx, clause) if need_power_w(part) >= least)


def holes_near(part: HotPartOnBoard, reach_mm: float) -> int:
    """Count the vias of the net within reach of the edges of a part's thermal pads, those inside among them."""
    vias = part.board.vias
    near = np.zeros(len(vias), dtype=bool)
    for pad in part.pads:
        near |= inside_pad(part.board, pad.row, vias.x_mm, vias.y_mm, reach_mm) & (vias.net == pad.net)
    return int(np.sum(near))


def need_power_w(part: HotPartOnBoard) -> float:
    """Return what a part gives off; raises `MissingFact` where it is not declared."""
    if part.declared.power_w is None:
        raise MissingFact(f"power of {part.reference}", give(part, 'power_w = "?"  # TDP'))
    return part.declared.power_w


def give(part: HotPartOnBoard, line: str) -> str:
    """Return the line to add to a part's table."""
    return f"{line}\n# under the [[hot_part]] of {part.reference}"


def _lines(board: Board) -> str:
    """Return the table to fill in, with the largest integrated circuits of the board."""
    parts = candidates(board)
    largest = f"e.g. {', '.join(parts)}, the largest on this board; " if parts else ""
    cooling = 'cooling = "?"  # cold plate, immersion, heatsink, air, board'
    return f'[[hot_part]]\nrefs = ["?"]  # {largest}[] if no part of the board is hot\npower_w = "?"  # TDP\n{cooling}'


def candidates(board: Board) -> tuple[str, ...]:
    """Return the references of the integrated circuits with the largest land pattern, the largest first."""
    pads, parts = board.pads, board.footprints
    sizes: list[tuple[float, str]] = []
    for footprint in distinct(pads.footprint).tolist():
        reference = str(parts.reference[footprint])
        if letters_of(reference) not in CANDIDATE_LETTERS or is_left_out(board, footprint):
            continue
        rows = np.flatnonzero(pads.footprint == footprint)
        width, height = float(np.ptp(pads.x_mm[rows])), float(np.ptp(pads.y_mm[rows]))
        sizes.append((-width * height, reference))
    return tuple(reference for size, reference in sorted(sizes)[:CANDIDATES] if size < 0)


def _on_board(board: Board, declared: HotPart, reference: str) -> HotPartOnBoard:
    parts = board.footprints
    rows = np.flatnonzero(parts.reference == reference)
    if len(rows) != 1:
        what = "is on the board more than once" if len(rows) else "is not on the board"
        cure = did_you_mean(reference, {str(ref) for ref in parts.reference if ref})
        raise MissingFact(f"component {reference}, which {what}", f"correct refs under [[hot_part]]; {cure}")
    footprint = int(rows[0])
    if is_left_out(board, footprint):
        cure = f"remove it from refs under [[hot_part]], or clear DNP of {reference} in KiCad"
        raise MissingFact(f"component {reference}, which is not fitted (DNP)", cure)
    layer = board.layer_count - 1 if parts.back[footprint] else 0
    thermal, is_exposed = _thermal_pads(board, declared, footprint, layer)
    pads = tuple(_pad(board, declared, row, layer) for row in thermal.tolist())
    return HotPartOnBoard(board, declared, reference, footprint, layer, is_exposed, pads)


def _thermal_pads(board: Board, declared: HotPart, footprint: int, layer: int) -> tuple[Ints, bool]:
    """Return the rows of a part's thermal pads, and whether they are such; else those of its ground and supplies."""
    pads = board.pads
    on_layer = (pads.layers & np.uint64(1 << layer)) != 0
    rows = np.flatnonzero((pads.footprint == footprint) & on_layer & (pads.kind != PadKind.NON_PLATED))
    area = pads.size_x_mm[rows] * pads.size_y_mm[rows]
    if declared.pads:
        named = rows[np.isin(pads.number[rows], declared.pads) & (pads.kind[rows] != PadKind.THROUGH)]
        if not len(named):
            known = did_you_mean(declared.pads[0], {str(number) for number in pads.number[rows]})
            raise MissingFact(
                f"the thermal pads {', '.join(declared.pads)}", f"correct pads under [[hot_part]]; {known}"
            )
        return named, True
    flat = pads.kind[rows] != PadKind.THROUGH
    rows, area = rows[flat], area[flat]
    if len(rows) > 1:
        large = (area >= EXPOSED_RATIO * median(area)) & (area >= EXPOSED_MM2) & (pads.net[rows] > 0)
        if np.any(large):
            return rows[large], True
    nets, counts = np.unique(pads.net[rows], return_counts=True)
    supplies = nets[(counts >= SUPPLY_PADS) & (nets > 0)]
    grounds = [net for net in nets.tolist() if is_ground(board.nets[net])]
    return rows[np.isin(pads.net[rows], np.concatenate((supplies, grounds)))], False


def _pad(board: Board, declared: HotPart, row: int, layer: int) -> Pad:
    pads = board.pads
    size = float(pads.size_x_mm[row]), float(pads.size_y_mm[row])
    return Pad(
        row=row,
        number=str(pads.number[row]),
        net=int(pads.net[row]),
        area_mm2=size[0] * size[1],
        size_mm=size,
        holes=(*_via_holes(board, declared, row, layer), *_pad_holes(board, declared, row)),
    )


def inside_pad(board: Board, row: int, x_mm: Floats, y_mm: Floats, beyond_mm: float = 0.0) -> NDArray[np.bool_]:
    """Tell which points lie in a pad's rectangle, or so far beyond, whatever its shape: corners hold no holes."""
    along, across = _in_pad(board, row, x_mm, y_mm)
    inside = np.abs(along) <= board.pads.size_x_mm[row] / 2 + beyond_mm
    inside &= np.abs(across) <= board.pads.size_y_mm[row] / 2 + beyond_mm
    return np.asarray(inside)


def _in_pad(board: Board, row: int, x_mm: Floats, y_mm: Floats) -> tuple[Floats, Floats]:
    """Return points from the middle of a pad, along its width and its height."""
    pads = board.pads
    angle = np.radians(pads.rotation_deg[row])
    dx, dy = x_mm - pads.x_mm[row], y_mm - pads.y_mm[row]
    return dx * np.cos(angle) - dy * np.sin(angle), dx * np.sin(angle) + dy * np.cos(angle)


def _via_holes(board: Board, declared: HotPart, row: int, layer: int) -> Iterator[PadHole]:
    vias, reference = board.vias, _reference(board, row)
    reaches = (vias.start_layer <= layer) & (vias.end_layer >= layer) & (vias.net == board.pads.net[row])
    along, across = _in_pad(board, row, vias.x_mm, vias.y_mm)
    for index in np.flatnonzero(reaches & inside_pad(board, row, vias.x_mm, vias.y_mm)).tolist():
        yield PadHole(
            x_mm=float(vias.x_mm[index]),
            y_mm=float(vias.y_mm[index]),
            along_mm=float(along[index]),
            across_mm=float(across[index]),
            drill_mm=float(vias.drill_mm[index]),
            bottom=int(vias.end_layer[index] if layer == 0 else vias.start_layer[index]),
            net=int(vias.net[index]),
            uuid=str(vias.uuid[index]),
            filled=_is(declared, reference, "filled") or _of_file(board, reference, "filled", int(vias.filled[index])),
            capped=_is(declared, reference, "capped") or _of_file(board, reference, "capped", int(vias.capped[index])),
            is_laser=int(vias.kind[index]) == ViaKind.MICRO,
        )


def _pad_holes(board: Board, declared: HotPart, row: int) -> Iterator[PadHole]:
    """The plated holes that a footprint, its own or another, has in its thermal pad; KiCad stores no fill for them."""
    pads, reference = board.pads, _reference(board, row)
    mine = (pads.kind == PadKind.THROUGH) & (pads.net == pads.net[row]) & (pads.drill_x_mm > 0)
    is_back = bool(board.footprints.back[pads.footprint[row]])
    along, across = _in_pad(board, row, pads.x_mm, pads.y_mm)
    for index in np.flatnonzero(mine & inside_pad(board, row, pads.x_mm, pads.y_mm)).tolist():
        yield PadHole(
            x_mm=float(pads.x_mm[index]),
            y_mm=float(pads.y_mm[index]),
            along_mm=float(along[index]),
            across_mm=float(across[index]),
            drill_mm=float(pads.drill_x_mm[index]),
            bottom=0 if is_back else board.layer_count - 1,
            net=int(pads.net[index]),
            uuid=str(pads.uuid[index]),
            filled=_is(declared, reference, "filled") or _not_declared(reference, in_footprint=True),
            capped=_is(declared, reference, "capped") or _not_declared(reference, in_footprint=True),
            is_laser=False,
        )


def _reference(board: Board, row: int) -> str:
    return str(board.footprints.reference[board.pads.footprint[row]])


def _is(declared: HotPart, reference: str, what: str) -> Fact[bool] | None:
    """Return what the settings say of fill or cap of a part's vias, None where they say nothing."""
    said = declared.via_capped if what == "capped" else None
    if what == "filled" and declared.via_fill is not None:
        said = declared.via_fill != "none"
    if said is None:
        return None
    source = f"{FILE_NAME}, hot_part of {reference}"
    return Fact[bool](name=f"vias {what}", value=said, origin=Origin.DECLARED, source=source)


def fill_notes(ctx: Context) -> Iterator[str]:
    """Say where the settings and the vias in the board file disagree on fill and cap: the settings count."""
    try:
        parts = hot_parts(ctx)
    except MissingFact:
        return
    vias = ctx.board.vias
    for part in parts:
        mine = {hole.uuid for hole in part.holes if hole.uuid}
        rows = [row for row, uuid in enumerate(vias.uuid.tolist()) if uuid in mine]
        for what, stated in (("filled", vias.filled), ("capped", vias.capped)):
            said = _is(part.declared, part.reference, what)
            against = 0 if said is None else int(np.sum(stated[rows] == int(not said.value)))
            if said is not None and against:
                yes, no = ("", "not ") if said.value else ("not ", "")
                differ = f"{against} of them {'is' if against == 1 else 'are'} {no}{what}"
                where = f"{FILE_NAME}, [[hot_part]] of {part.reference}: its vias are {yes}{what}"
                yield f"{where}, in the board file {differ}: {FILE_NAME} counts"


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
