"""Declared high-power components on the board, and their thermal pads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from drc_rules.analysis.thermal.pad_holes import PadHole, declared_state, holes_in_pad
from drc_rules.analysis.thermal.pad_shapes import inside_pad, pad_areas_mm2, pad_polygon, pad_shape, without_inner
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location
from drc_rules.requirements.clauses import Clause
from drc_rules.settings import FILE_NAME
from drc_rules.settings.config_thermal import HotPart
from stackup_lib.board.board import Board, Ints, PadKind
from stackup_lib.board.layer_roles import is_ground
from stackup_lib.board.references import ReferenceKind, reference_kind
from stackup_lib.core.arrays import distinct, median
from stackup_lib.core.errors import did_you_mean
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import record
from stackup_lib.nets.two_pin_parts import is_left_out

EXPOSED_RATIO = 2.5
"""A pad this much larger than the part's usual one is a thermal pad: 2.5 for the tab of a SOT-223, 15 for a QFN."""

EXPOSED_MM2 = 1.0
"""A smaller pad leads no heat worth the name."""

NEAR_MM = 1.5
"""Vias this close to a pad conduct its heat as well, if worse."""

SUPPLY_PADS = 4
"""A part without thermal pad loses heat through the nets on at least this many of its pads: ground, supplies."""

CANDIDATES = 2
PLACES_SHOWN = 20


@record
class Pad:
    """A thermal pad with its holes; one that lies in two pads belongs to the larger.

    Attributes:
        size_mm: of the rectangle around it.
        is_rectangle: False for a custom pad that does not nearly fill that.
    """

    row: int
    number: str
    net: int
    area_mm2: float
    size_mm: tuple[float, float]
    is_rectangle: bool
    holes: tuple[PadHole, ...]


@record
class NetPads:
    """The thermal pads that a part has on one net; those without a net count as one, too.

    Attributes:
        area_mm2: of all of them, what they share once.
    """

    net: int
    pads: tuple[Pad, ...]
    area_mm2: float
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

    @cached_property
    def by_net(self) -> tuple[NetPads, ...]:
        """Its pads, net by net in the order of the pads."""
        nets = dict.fromkeys(pad.net for pad in self.pads)
        return tuple(_of_net(self.board, net, [pad for pad in self.pads if pad.net == net]) for net in nets)

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


def holes_near(board: Board, pads: Sequence[Pad], reach_mm: float) -> int:
    """Count the vias of their net within reach of the edges of some pads, those inside among them."""
    vias = board.vias
    near = np.zeros(len(vias), dtype=bool)
    for pad in pads:
        near |= inside_pad(board, pad.row, vias.x_mm, vias.y_mm, reach_mm) & (vias.net == pad.net)
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
        if reference_kind(reference) is not ReferenceKind.CHIP or is_left_out(board, footprint):
            continue
        rows = np.flatnonzero(pads.footprint == footprint)
        as_drawn = (pads.x_mm[rows] + 1j * pads.y_mm[rows]) * np.exp(1j * np.radians(parts.rotation_deg[footprint]))
        sizes.append((-round(float(np.ptp(as_drawn.real) * np.ptp(as_drawn.imag)), 3), reference))
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
    pads = _pads(board, declared, thermal, layer)
    return HotPartOnBoard(board, declared, reference, footprint, layer, is_exposed, pads)


def _thermal_pads(board: Board, declared: HotPart, footprint: int, layer: int) -> tuple[Ints, bool]:
    """Return the rows of a part's thermal pads, and whether they are such; else those of its ground and supplies."""
    pads = board.pads
    on_layer = (pads.layers & np.uint64(1 << layer)) != 0
    rows = np.flatnonzero((pads.footprint == footprint) & on_layer & (pads.kind != PadKind.NON_PLATED))
    if declared.pads:
        named = rows[np.isin(pads.number[rows], declared.pads) & (pads.kind[rows] != PadKind.THROUGH)]
        if not len(named):
            known = did_you_mean(declared.pads[0], {str(number) for number in pads.number[rows]})
            raise MissingFact(
                f"the thermal pads {', '.join(declared.pads)}", f"correct pads under [[hot_part]]; {known}"
            )
        return without_inner(board, named, 0.0), True
    rows = without_inner(board, rows[pads.kind[rows] != PadKind.THROUGH], EXPOSED_MM2)
    if len(rows) > 1:
        area = pad_areas_mm2(board, rows)
        large = (area >= EXPOSED_RATIO * median(area)) & (area >= EXPOSED_MM2)
        with_net = large & (pads.net[rows] > 0)
        if np.any(large):  # one without a net leads heat as well, next to others it holds the part
            return rows[with_net if np.any(with_net) else large], True
    nets, counts = np.unique(pads.net[rows], return_counts=True)
    supplies = nets[(counts >= SUPPLY_PADS) & (nets > 0)]
    grounds = [net for net in nets.tolist() if is_ground(board.nets[net])]
    return rows[np.isin(pads.net[rows], np.concatenate((supplies, grounds)))], False


def _pads(board: Board, declared: HotPart, rows: Ints, layer: int) -> tuple[Pad, ...]:
    """Return a part's pads in their order; each hole belongs to the largest that it is in."""
    made: dict[int, Pad] = {}
    taken: set[tuple[float, float]] = set()
    for row in rows[np.argsort(-pad_areas_mm2(board, rows), kind="stable")].tolist():
        shape = pad_shape(board, row)
        found = holes_in_pad(board, declared, row, layer, shape)
        made[row] = Pad(
            row=row,
            number=str(board.pads.number[row]),
            net=int(board.pads.net[row]),
            area_mm2=shape.area_mm2,
            size_mm=shape.size_mm,
            is_rectangle=shape.is_rectangle,
            holes=tuple(hole for hole in found if (hole.x_mm, hole.y_mm) not in taken),
        )
        taken.update((hole.x_mm, hole.y_mm) for hole in found)
    return tuple(made[row] for row in rows.tolist())


def _of_net(board: Board, net: int, pads: Sequence[Pad]) -> NetPads:
    area = sum(pad.area_mm2 for pad in pads)
    if len(pads) > 1:
        import shapely  # noqa: PLC0415 - heavy, and only parts with several thermal pads on a net need it

        area = float(shapely.union_all([pad_polygon(board, pad.row) for pad in pads]).area)
    return NetPads(net, tuple(pads), area, tuple(hole for pad in pads for hole in pad.holes))


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
            said = declared_state(part.declared, part.reference, what)
            against = 0 if said is None else int(np.sum(stated[rows] == int(not said.value)))
            if said is not None and against:
                yes, no = ("", "not ") if said.value else ("not ", "")
                differ = f"{against} of them {'is' if against == 1 else 'are'} {no}{what}"
                where = f"{FILE_NAME}, [[hot_part]] of {part.reference}: its vias are {yes}{what}"
                yield f"{where}, in the board file {differ}: {FILE_NAME} counts"
