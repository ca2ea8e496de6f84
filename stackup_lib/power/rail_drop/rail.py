"""IR drop of one net of a board: from the pads that feed it to the pads that draw current, through all its copper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from stackup_lib.board.board import Board, PadKind
from stackup_lib.board.layer_masks import layers_of
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import workpiece
from stackup_lib.power.copper import barrel_resistance_ohm, octagon_radius_mm, sheet_resistance_ohm
from stackup_lib.power.rail_drop.cool_ends import TrackHole, TrackPad
from stackup_lib.power.rail_drop.flow import Step, Ways
from stackup_lib.power.rail_drop.joined import need_joined
from stackup_lib.power.rail_drop.loose_tracks import loose_tracks
from stackup_lib.power.rail_drop.mesh import MeshFailed
from stackup_lib.power.rail_drop.net_copper import RailNotSolvedError, contact_areas, net_copper, pad_area
from stackup_lib.power.rail_drop.peak import resolved_peak
from stackup_lib.power.rail_drop.rail_models import (
    DENSITY_RADIUS_MM,
    BoardCopper,
    DensityPeak,
    HoleCurrent,
    LayerFlow,
    Load,
    LoadDrop,
    RailDrop,
    RouteStep,
    Terminal,
    TrackCurrent,
)
from stackup_lib.power.rail_drop.sheets import (
    Barrel,
    Contact,
    CopperSheet,
    NotJoined,
    Precision,
    SheetNetwork,
    SheetSolution,
    solve_sheets,
)
from stackup_lib.vias.plated_holes import PlatedHole, copper_heights_mm, plated_holes

if TYPE_CHECKING:
    from shapely import Geometry, Polygon

__all__ = ["BoardCopper", "Load", "RailDrop", "RailPlan", "Terminal", "copper_of", "solve_rail"]


def copper_of(board: Board, plating_mm: float, temperature_c: float = 20.0) -> BoardCopper:
    """Return a board's copper as its stackup states it.

    Raises:
        MissingFact: the file states no stackup, a row of copper or dielectric without a thickness, or copper on copper.
    """
    how = "enter the stackup in KiCad's Board Setup > Physical Stackup"
    if board.stackup is None or len(board.stackup.copper) != board.layer_count:
        raise MissingFact("stackup", how)
    for row in (*board.stackup.copper, *board.stackup.dielectrics):
        if not row.thickness_mm or row.thickness_mm < 0:
            raise MissingFact(f"thickness of {row.name}", how)
    heights = copper_heights_mm(board.stackup)
    if not heights:
        raise MissingFact("the dielectric between every two copper layers", how)
    return BoardCopper(
        thickness_mm=tuple(row.thickness_mm or 0.0 for row in board.stackup.copper),
        height_mm=heights,
        plating_mm=plating_mm,
        temperature_c=temperature_c,
    )


def solve_rail(
    board: Board,
    net: str,
    copper: BoardCopper,
    source: Terminal,
    loads: Sequence[Load],
    *,
    precision: Precision | None = None,
) -> RailDrop:
    """Return drops, losses, hole currents and the densest current of a rail under stated loads.

    Args:
        board: the board, with its fills as they are stored.
        net: name of the rail.
        copper: thicknesses and temperature.
        source: where the rail is fed.
        loads: what draws from it, at least one with a current.
        precision: when to stop refining; see `Precision`.

    Raises:
        RailNotJoinedError: copper leads from no source to a load, or from a source to no load; see `need_joined`.
        RailNotSolvedError: no such net, a pad of another net, missing or stale fills, single pads that are apart.
    """
    number = _checked(board, net, source, loads)
    plan = RailPlan.of(board, number, copper, [source, *loads])
    need_joined(board, number, source, loads)
    network = SheetNetwork(
        sheets=plan.sheets,
        contacts=plan.contacts,
        barrels=plan.barrels,
        source=0,
        loads=[(1 + i, load.current_a) for i, load in enumerate(loads)],
    )
    try:
        solution = solve_sheets(network, precision)
    except NotJoined as apart:
        names = ", ".join(loads[i].name for i in apart.loads)
        raise RailNotSolvedError(
            str(board.path or "the board"),
            f"copper joins {source.name} to {names} by bridges that are too narrow to be resolved",
            "widen them",
        ) from apart
    except MeshFailed as failed:
        raise _not_meshed(board, net, failed) from failed
    return _result(board, copper, loads, plan, solution, partial(_peak, board, net, copper, plan, network, solution))


def _not_meshed(board: Board, net: str, failed: MeshFailed) -> RailNotSolvedError:
    what = f"the copper of {net} cannot be divided into triangles ({failed})"
    return RailNotSolvedError(str(board.path or "the board"), what, "refill the zones, or report the board")


def _peak(  # noqa: PLR0917 - what the solution was made of
    board: Board, net: str, copper: BoardCopper, plan: RailPlan, network: SheetNetwork, solution: SheetSolution
) -> DensityPeak:
    try:
        peak = resolved_peak(network, solution, DENSITY_RADIUS_MM)
    except MeshFailed as failed:
        raise _not_meshed(board, net, failed) from failed
    layer = plan.layers[peak.sheet]
    return DensityPeak(
        layer=board.copper_layers[layer].name,
        x_mm=peak.x_mm,
        y_mm=peak.y_mm,
        a_per_mm=peak.a_per_mm,
        a_per_mm2=peak.a_per_mm.times(1 / copper.thickness_mm[layer]),
    )


def _checked(board: Board, net: str, source: Terminal, loads: Sequence[Load]) -> int:
    where = str(board.path or "the board")
    if net not in board.net_index or not net:
        raise RailNotSolvedError(where, f"no net {net}", "name a net of the board")
    number = board.net_index[net]
    for terminal in (source, *loads):
        if not terminal.pads or any(board.pads.net[pad] != number for pad in terminal.pads):
            raise RailNotSolvedError(
                where, f"{terminal.name} has a pad that is not on {net}, or none", "name pads of the rail"
            )
    if not any(load.current_a > 0 for load in loads) or any(load.current_a < 0 for load in loads):
        raise RailNotSolvedError(
            where, f"the loads of {net} draw no current, or a negative one", "state their currents"
        )
    return number


@workpiece
class RailPlan:
    """A rail as a network: nodes 0 .. terminals-1 are the terminals, the others contacts of holes."""

    net: int
    layers: list[int]
    sheets: list[CopperSheet]
    contacts: list[Contact] = field(default_factory=list)
    barrels: list[Barrel] = field(default_factory=list)
    barrel_of: list[tuple[PlatedHole, int, int]] = field(default_factory=list)
    name_of: dict[int, str] = field(default_factory=dict)
    node_of_pad: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, board: Board, net: int, copper: BoardCopper, terminals: Sequence[Terminal]) -> RailPlan:
        """Return the network of a net; raises `RailNotSolvedError` where its fills are missing or stale."""
        areas = net_copper(board, net)
        plan = cls(
            net=net,
            layers=list(areas),
            sheets=[
                CopperSheet(area, sheet_resistance_ohm(copper.thickness_mm[layer], copper.temperature_c))
                for layer, area in areas.items()
            ],
        )
        node_of_pad = {pad: i for i, terminal in enumerate(terminals) for pad in terminal.pads}
        plan.node_of_pad = node_of_pad
        plan.name_of = {i: terminal.name for i, terminal in enumerate(terminals)}
        for pad, node in node_of_pad.items():
            for layer, area in contact_areas(board, pad):
                plan._touch(layer, area, node)
        fed = {(float(board.pads.x_mm[pad]), float(board.pads.y_mm[pad])) for pad in node_of_pad}
        slots = _slots_mm(board, net)
        node = len(terminals)
        for hole in plated_holes(board, np.array([net])):
            at = hole.x_mm, hole.y_mm
            if hole.is_via:
                node = plan._add_hole(hole, copper, node)
            elif at not in fed:
                node = plan._add_hole(replace(hole, drill_mm=slots.get(at, hole.drill_mm)), copper, node)
        return plan

    def _touch(self, layer: int, area: Geometry, node: int) -> bool:
        """Put a contact on a layer where its copper is; tell whether there is any."""
        if layer not in self.layers:
            return False
        sheet = self.layers.index(layer)
        if not self.sheets[sheet].area.intersects(area):
            return False
        self.contacts.append(Contact(sheet, area, node))
        return True

    def _add_hole(self, hole: PlatedHole, copper: BoardCopper, node: int) -> int:
        """Add a hole's contacts and the barrels between them; return the next free node."""
        area = _octagon(hole, copper.plating_mm)
        below: int | None = None
        for layer in range(hole.top, hole.bottom + 1):
            if _is_cut(hole, layer):
                below = None
            elif self._touch(layer, area, node):
                self.name_of[node] = f"{'via' if hole.is_via else 'plated pad'} {hole.uuid}".strip()
                if below is not None:
                    length_mm = copper.height_mm[layer] - copper.height_mm[below]
                    ohm = barrel_resistance_ohm(hole.drill_mm, copper.plating_mm, length_mm, copper.temperature_c)
                    self.barrels.append(Barrel(node - 1, node, ohm))
                    self.barrel_of.append((hole, below, layer))
                below = layer
                node += 1
        return node


def _slots_mm(board: Board, net: int) -> dict[tuple[float, float], float]:
    """Widths of the slotted pads of a net by place: a slot conducts no worse than the round hole of its width."""
    pads = board.pads
    return {
        (float(pads.x_mm[k]), float(pads.y_mm[k])): float(np.fmin(pads.drill_x_mm[k], pads.drill_y_mm[k]))
        for k in np.flatnonzero((pads.net == net) & (pads.kind == PadKind.THROUGH)).tolist()
    }


def _is_cut(hole: PlatedHole, layer: int) -> bool:
    """A backdrill takes the barrel from its start to the layer that it must cut."""
    return any(
        min(drill.start, drill.must_cut) <= layer <= max(drill.start, drill.must_cut) for drill in hole.backdrills
    )


def _octagon(hole: PlatedHole, plating_mm: float) -> Polygon:
    """The drilled hole, barrel included, as a contact; flat sides lie along the axes."""
    import shapely  # noqa: PLC0415 - heavy, and only a board with declared rails needs it

    radius = octagon_radius_mm(hole.drill_mm / 2 + plating_mm)
    turn = (np.arange(8) + 0.5) * np.pi / 4
    return shapely.Polygon(np.column_stack([hole.x_mm + radius * np.cos(turn), hole.y_mm + radius * np.sin(turn)]))


def _result(  # noqa: PLR0917 - what the solution was made of
    board: Board,
    copper: BoardCopper,
    loads: Sequence[Load],
    plan: RailPlan,
    solution: SheetSolution,
    find_peak: Callable[[], DensityPeak],
) -> RailDrop:
    names = [layer.name for layer in board.copper_layers]
    ways = Ways(solution)
    return RailDrop(
        net=board.nets[int(board.pads.net[loads[0].pads[0]])],
        loads=tuple(
            LoadDrop(
                name=load.name,
                current_a=load.current_a,
                drop_v=drop,
                route=_route(ways.to(1 + i), plan, solution, names),
                layer_v={names[layer]: volts for layer, volts in zip(plan.layers, parts[:-1], strict=True)},
                barrel_v=parts[-1],
            )
            for i, (load, drop, parts) in enumerate(
                zip(loads, solution.drops_v, solution.parts_v.tolist(), strict=True)
            )
        ),
        power_w=solution.power_w,
        layer_power_w={names[layer]: w for layer, w in zip(plan.layers, solution.sheet_power_w, strict=True)},
        barrel_power_w=solution.barrel_power_w,
        holes=_holes(plan, solution, names),
        tracks=_tracks(board, copper, loads, plan, solution, names),
        points=solution.points,
        passes=solution.passes,
        find_peak=find_peak,
        find_flow=partial(_flow, plan, solution, names),
    )


def _flow(plan: RailPlan, solution: SheetSolution, names: list[str]) -> dict[str, LayerFlow]:
    form = solution.assembly
    return {
        names[layer]: LayerFlow(form.corners_mm[mine], solution.density_a_per_mm[mine])
        for sheet, layer in enumerate(plan.layers)
        if (mine := form.sheet_of == sheet).any()
    }


def _route(way: Sequence[Step], plan: RailPlan, solution: SheetSolution, names: list[str]) -> tuple[RouteStep, ...]:
    """Holes by which the way from a load to the source changes layer, each with the layer that leads on to the load."""
    name_of: dict[int, str] = {}
    for own, name in plan.name_of.items():
        name_of.setdefault(int(solution.node_of[own]), name)
    found: list[RouteStep] = []
    layer = ""
    for step in way:
        if step.node < 0:
            layer = names[plan.layers[step.sheet]]
            continue
        name = name_of.get(step.node, "")
        if found and found[-1].name == name:
            found.pop()
        found.append(RouteStep(name=name, layer=layer, drop_v=step.volts))
    pairs = pairwise(found[1:])
    return (found[0], *(step for step, before in pairs if step.layer != before.layer), *found[1:][-1:])


def _tracks(  # noqa: PLR0917 - what the solution was made of
    board: Board,
    copper: BoardCopper,
    loads: Sequence[Load],
    plan: RailPlan,
    solution: SheetSolution,
    names: list[str],
) -> tuple[TrackCurrent, ...]:
    """The tracks outside the fills; none carries more than all loads together."""
    rows, net, most_a = board.tracks, plan.net, sum(load.current_a for load in loads)
    holes, pads = _track_holes(plan, copper, solution), _track_pads(board, plan)
    return tuple(
        TrackCurrent(
            uuid=str(rows.uuid[track.row]),
            layer=names[int(rows.layer[track.row])],
            x_mm=float(rows.start_x_mm[track.row] + rows.end_x_mm[track.row]) / 2,
            y_mm=float(rows.start_y_mm[track.row] + rows.end_y_mm[track.row]) / 2,
            width_mm=float(rows.width_mm[track.row]),
            thickness_mm=copper.thickness_mm[int(rows.layer[track.row])],
            current_a=min(track.current_a, most_a),
            run_v=track.volts,
            bound_divisor=track.divisor,
        )
        for track in loose_tracks(board, net, plan.layers, holes, pads, solution)
    )


def _track_holes(plan: RailPlan, copper: BoardCopper, solution: SheetSolution) -> tuple[TrackHole, ...]:
    """The holes of the plan, each once, with the drops at the ends of their barrels."""
    layers: dict[PlatedHole, set[int]] = {}
    volts: dict[PlatedHole, list[float]] = {}
    for (hole, upper, lower), barrel in zip(plan.barrel_of, plan.barrels, strict=True):
        layers.setdefault(hole, set()).update((upper, lower))
        ends = solution.volts[solution.node_of[[barrel.first, barrel.second]]]
        volts.setdefault(hole, []).extend(ends.tolist())
    return tuple(
        TrackHole(
            hole.x_mm,
            hole.y_mm,
            hole.drill_mm / 2 + copper.plating_mm,
            tuple(sorted(on)),
            min(volts[hole]),
            max(volts[hole]),
        )
        for hole, on in layers.items()
    )


def _track_pads(board: Board, plan: RailPlan) -> tuple[TrackPad, ...]:
    """All pads of the net: node 0 feeds, the other terminals draw."""
    rows, pads = board.pads, np.flatnonzero((board.pads.net == plan.net) & (board.pads.kind != PadKind.NON_PLATED))
    return tuple(
        TrackPad(
            pad_area(board, pad),
            tuple(layers_of(int(rows.layers[pad]))),
            feeds=plan.node_of_pad.get(pad) == 0,
            draws=plan.node_of_pad.get(pad, 0) > 0,
        )
        for pad in pads.tolist()
    )


def _holes(plan: RailPlan, solution: SheetSolution, names: list[str]) -> tuple[HoleCurrent, ...]:
    """The largest current of each hole's barrels."""
    largest: dict[tuple[float, float], HoleCurrent] = {}
    for (hole, upper, lower), current in zip(plan.barrel_of, solution.barrel_current_a.tolist(), strict=True):
        found = HoleCurrent(
            uuid=hole.uuid,
            x_mm=hole.x_mm,
            y_mm=hole.y_mm,
            is_via=hole.is_via,
            current_a=abs(current),
            from_layer=names[upper if current >= 0 else lower],
            to_layer=names[lower if current >= 0 else upper],
        )
        key = hole.x_mm, hole.y_mm
        if key not in largest or largest[key].current_a < found.current_a:
            largest[key] = found
    return tuple(sorted(largest.values(), key=lambda h: (-h.current_a, h.x_mm, h.y_mm)))
