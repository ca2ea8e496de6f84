"""The via stubs of high-speed nets, in groups of one class, use, drill and shape."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from drc_rules.analysis.fabrication.fab_holes import need_drills
from drc_rules.analysis.via.antipads import Openings, opening_mm, openings
from drc_rules.analysis.via.stub_removal import doubt_of_drill
from drc_rules.facts.context import DECLARE_STACKUP, FILL_ZONES, Context
from drc_rules.facts.net_interfaces import NetRole
from drc_rules.report.findings import Location
from drc_rules.report.numbers import UNIT_MM
from drc_rules.requirements.fabs.holes import drilled_one_mm
from drc_rules.requirements.interfaces import Interface, families, family, interface
from drc_rules.requirements.interfaces.names import complements, normalise
from stackup_lib.core.arrays import distinct, median
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.interval import Interval
from stackup_lib.core.record import record
from stackup_lib.vias.plated_holes import (
    Backdrill,
    PlatedHole,
    Stub,
    copper_heights_mm,
    drill_from,
    plated_holes,
    residual_mm,
    stubs,
)
from stackup_lib.vias.stub_resonance import ViaShape, stub_resonance_ghz

PAIR_REACH_MM, PAIR_REACH_BARRELS = 2.0, 3.0
"""Vias of a pair further apart than this, in mm and in diameters, carry their return currents elsewhere: the pins of a
PCIe slot are 2.24 mm apart."""

PLACES_SHOWN = 50
"""Places listed with one finding."""

_Row = tuple[PlatedHole, Stub | None, float | None, int]
"""A hole, its stub, the distance to the other via of its pair, and its number among the fast holes."""


@record
class StubGroup:
    """Stubs of the plated holes of one net class that are used, drilled and shaped alike.

    Attributes:
        family: id of the interface family.
        choices: the generation; all of the family with a Nyquist frequency, slowest first, where it is not stated.
        net_class: name of the nets' class.
        stubs: one per hole, all from the same layer to the same side; empty for holes without any.
        holes: all of them.
        drill: what takes the stubs away in part, None for nothing.
        partner_mm: distance to the other via of the pair, None where there is none.
        opening_mm: diameter of the openings in the planes along the stub; smallest, median and widest.
    """

    family: str
    choices: tuple[Interface, ...]
    net_class: str
    holes: tuple[PlatedHole, ...]
    stubs: tuple[Stub, ...]
    drill: Backdrill | None
    partner_mm: float | None
    opening_mm: Interval

    @property
    def nets(self) -> tuple[int, ...]:
        """Nets concerned."""
        return tuple(sorted({hole.net for hole in self.holes}))

    @property
    def shape(self) -> ViaShape:
        """The holes as physics sees them."""
        hole = self.holes[0]
        barrel = drilled_one_mm(hole.drill_mm, hole.pad_mm)
        pad = max(hole.pad_mm, barrel)
        is_end_left = self.drill is None
        complement = self.partner_mm if self.partner_mm and self.partner_mm > barrel else None
        return ViaShape(
            barrel_mm=barrel,
            antipad_mm=self.opening_mm.nominal,
            pad_mm=pad if hole.keeps_unused else None,
            end_pad_mm=pad if is_end_left else None,
            partner_mm=complement,
        )

    def with_opening(self, diameter_mm: float) -> StubGroup:
        """Return the group as if all openings were that wide."""
        return replace(self, opening_mm=Interval.exact(diameter_mm))

    def at_layer(self, layer: int) -> StubGroup:
        """Return the group as if the signal left on another layer, without drills."""
        moved = tuple(replace(stub, first=layer) for stub in self.stubs)
        return replace(self, stubs=moved, drill=None)


@record
class StubValues:
    """Lengths and resonance of a group's stubs, and the laminate's Dk along them."""

    length_mm: Interval
    resonance_ghz: Interval
    dk: Interval


def fast_holes(ctx: Context) -> tuple[PlatedHole, ...]:
    """Return vias and plated pads on the nets of every high-speed family, whether or not their generation is known."""
    fast = [ctx.nets_of(of.id) for of in families() if of.fast]
    nets = distinct(np.concatenate([*fast, np.zeros(0, dtype=np.int64)]))
    return plated_holes(ctx.board, nets)


def grouped_stubs(ctx: Context) -> tuple[StubGroup, ...]:
    """Return the holes of every high-speed net in groups, those without a stub among them."""
    return tuple(_grouped(ctx))


def groups_of(ctx: Context, interface_id: str) -> tuple[StubGroup, ...]:
    """Return the groups of one interface whose generation is known."""
    return tuple(g for g in ctx.get(grouped_stubs) if len(g.choices) == 1 and g.choices[0].id == interface_id)


def _grouped(ctx: Context) -> Iterator[StubGroup]:
    heights = _index_heights(ctx)
    partners = _complement_distances(ctx, ctx.get(fast_holes))
    roles: dict[tuple[object, ...], NetRole] = {}
    groups: dict[tuple[object, ...], list[_Row]] = {}
    around = openings(ctx, ctx.get(fast_holes))
    for row, (hole, complement) in enumerate(zip(ctx.get(fast_holes), partners, strict=True)):
        role = ctx.assignment.role_of(hole.net)
        if role is None:
            continue
        class_name = _class_of(ctx, hole.net)
        is_declared = ctx.assignment.is_declared(hole.net)
        common = (role.family, role.interface, class_name, is_declared, hole.drill_mm, hole.pad_mm, hole.keeps_unused)
        for stub in stubs((hole,), heights) or (None,):
            drill = _drill_of(ctx, hole, stub)
            where = (stub.first, stub.side) if stub else (bool(hole.used), hole.is_unsure)
            cut = (drill.start, drill.must_cut) if drill else ()
            key: tuple[object, ...] = (*common, stub is not None, where, cut, hole.is_unsure, hole.joins_nothing)
            groups.setdefault(key, []).append((hole, stub, complement, row))
            roles.setdefault(key, role)
    for key in sorted(groups, key=repr):
        yield _group(ctx, roles[key], groups[key], around)


def _drill_of(ctx: Context, hole: PlatedHole, stub: Stub | None) -> Backdrill | None:
    """Return the backdrill that takes a stub away, None for none."""
    if stub is None:
        return None
    return drill_from(stub.side, hole.backdrills, ctx.declarations.backdrills_of(hole.net), hole.drill_mm)


def _group(ctx: Context, role: NetRole, rows: list[_Row], around: Openings) -> StubGroup:
    hole, stub, _, _ = rows[0]
    known = [distance for _, _, distance, _ in rows if distance is not None]
    first, last = sorted((stub.first, stub.side)) if stub else (hole.top, hole.bottom)
    read = around.of([row for *_, row in rows], range(first, last + 1))
    return StubGroup(
        family=role.family,
        choices=_generations(role.family, role.interface),
        net_class=_class_of(ctx, hole.net),
        holes=tuple(hole for hole, *_ in rows),
        stubs=tuple(stub for _, stub, *_ in rows if stub),
        drill=_drill_of(ctx, hole, stub),
        partner_mm=round(median(known), 3) if 2 * len(known) > len(rows) else None,
        opening_mm=opening_mm(ctx, hole, read.tolist()),
    )


def _generations(family_id: str, interface_id: str | None) -> tuple[Interface, ...]:
    return family(family_id).by_rate if interface_id is None else (interface(interface_id),)


def _index_heights(ctx: Context) -> tuple[float, ...]:
    """Heights by which layers are distinguished: the stackup's, else one millimetre each, for grouping only."""
    stackup = ctx.board.stackup
    count = ctx.board.layer_count
    heights = copper_heights_mm(stackup) if stackup else ()
    is_whole = len(heights) == count and all(b > a for a, b in pairwise(heights))
    return heights if is_whole else tuple(float(i) for i in range(count))


def _class_of(ctx: Context, net: int) -> str:
    named = ctx.board.project.net_classes_of.get(ctx.board.nets[net], ())
    return named[0] if named else "Default"


def _complement_distances(ctx: Context, holes: tuple[PlatedHole, ...]) -> list[float | None]:
    """Distance from each hole to the nearest one of the other net of its pair."""
    rows: dict[int, list[int]] = {}
    for row, hole in enumerate(holes):
        rows.setdefault(hole.net, []).append(row)
    complement_of = _complements(ctx, list(rows))
    at = np.array([(hole.x_mm, hole.y_mm) for hole in holes]).reshape(-1, 2)
    found: list[float | None] = [None] * len(holes)
    for net, mine in rows.items():
        complement_net = complement_of.get(net)
        if complement_net is None:
            continue
        gaps = np.min(np.hypot(*(at[mine][:, None] - at[rows[complement_net]][None]).transpose(2, 0, 1)), axis=1)
        for row, gap in zip(mine, gaps.tolist(), strict=True):
            barrel = drilled_one_mm(holes[row].drill_mm, holes[row].pad_mm)
            found[row] = gap if gap <= max(PAIR_REACH_MM, PAIR_REACH_BARRELS * barrel) + UNIT_MM else None
    return found


def _complements(ctx: Context, nets: list[int]) -> dict[int, int]:
    """Net -> the other one of its pair: of its own sheet, else the only one of that name."""
    by_name: dict[str, list[int]] = {}
    for net in nets:
        by_name.setdefault(normalise(ctx.board.nets[net]), []).append(net)
    found: dict[int, int] = {}
    for net in nets:
        name = ctx.board.nets[net]
        others = [other for m in complements(normalise(name)) for other in by_name.get(m, ()) if other != net]
        of_sheet = [other for other in others if ctx.board.nets[other].rpartition("/")[0] == name.rpartition("/")[0]]
        if len(chosen := of_sheet or others) == 1 or of_sheet:
            found[net] = chosen[0]
    return found


def stub_values(ctx: Context, group: StubGroup) -> StubValues:
    """Return residual length and resonance of a group's stubs.

    Raises:
        MissingFact: stackup, thickness or Dk is not known, or which layers use the holes.
    """
    length = length_of(ctx, group)
    need_drills((hole.drill_mm for hole in group.holes), f"the vias of {ctx.board.nets[group.holes[0].net]}")
    dk = _dk_along(ctx, group.stubs[0], group.choices[-1].nyquist_ghz or 1.0)
    narrow, usual, wide = (stub_resonance_ghz(one.shape, dk, length) for one in openings_of(group))
    resonance = Interval(low=min(narrow.low, usual.low), nominal=usual.nominal, high=max(wide.high, usual.high))
    return StubValues(length, resonance, dk)


def doubtful_drill(ctx: Context, group: StubGroup) -> MissingFact | None:
    """Return what is doubtful about the drills of a group, None where all surely take the plating away."""
    if group.drill is None:
        return None
    drills = ((stub.hole, _drill_of(ctx, stub.hole, stub)) for stub in group.stubs)
    doubts = (doubt_of_drill(ctx, hole, drill) for hole, drill in drills)
    return next((doubt for doubt in doubts if doubt is not None), None)


def openings_of(group: StubGroup) -> tuple[StubGroup, StubGroup, StubGroup]:
    """Return a group with the smallest, the median and the widest of its openings everywhere."""
    of = group.opening_mm
    return group.with_opening(of.low), group, group.with_opening(of.high)


def length_of(ctx: Context, group: StubGroup) -> Interval:
    """Return the residual length of a group's stubs in mm; raises `MissingFact` like `stub_values`."""
    need_layers(ctx, group)
    stub, heights = group.stubs[0], ctx.copper_heights_mm()
    exact = Stub(stub.hole, stub.side, stub.first, abs(heights[stub.side] - heights[stub.first]))
    return residual_mm(exact, group.drill, ctx.copper_faces_mm())


def need_layers(ctx: Context, group: StubGroup) -> None:
    """Raise `MissingFact` where it is not known which layers use the holes."""
    missing = unknown_use(ctx, group.holes[0])
    if missing:
        raise missing


def unknown_use(ctx: Context, hole: PlatedHole) -> MissingFact | None:
    """Return what is missing where it is not known which layers use a hole, None where it is."""
    name = ctx.board.nets[hole.net] or "no net"
    where = f"which layers use the hole of {name} at {hole.x_mm:g}, {hole.y_mm:g} mm"
    if hole.is_unsure:
        return MissingFact(where, FILL_ZONES)
    return None if hole.used else MissingFact(where, "route it, or delete the via")


def _dk_along(ctx: Context, stub: Stub, frequency_ghz: float) -> Interval:
    """Dk along a stub: lowest, mean by thickness, and highest of its plies."""
    first, last = sorted((stub.first, stub.side))
    plies = [ply for ply in ctx.known_plies() if first <= ply.above and ply.below <= last]
    rows = [(ctx.need(ply.dk.at(frequency_ghz)), ctx.need(ply.thickness)) for ply in plies]
    if not rows:
        raise MissingFact("the dielectrics along the stub", DECLARE_STACKUP)
    total = sum(thickness for _, thickness in rows)
    mean = sum(dk * thickness for dk, thickness in rows) / total
    values = [dk for dk, _ in rows]
    return Interval(low=min(*values, mean), nominal=mean, high=max(*values, mean))


def span_of(ctx: Context, group: StubGroup) -> str:
    """`from In2.Cu to B.Cu`."""
    names = [layer.name for layer in ctx.board.copper_layers]
    return f"from {names[group.stubs[0].first]} to {names[group.stubs[0].side]}"


def describe_nets(ctx: Context, group: StubGroup) -> str:
    """The class and how many nets and holes of it: one name where there is only one net."""
    nets, holes = len(group.nets), len(group.holes)
    name = ctx.board.nets[group.nets[0]] if nets == 1 else f"{group.net_class}, {nets} nets"
    return name if holes == 1 else f"{name}, {holes} holes"


def places_of(ctx: Context, group: StubGroup) -> tuple[Location, ...]:
    """Where the holes are, the first of many."""
    names = [layer.name for layer in ctx.board.copper_layers]
    layer = names[group.stubs[0].side] if group.stubs else None
    return tuple(
        Location(layer=layer, net=ctx.board.nets[h.net], uuid=h.uuid or None, x_mm=h.x_mm, y_mm=h.y_mm)
        for h in group.holes[:PLACES_SHOWN]
    )


def ids_of(ctx: Context, group: StubGroup) -> tuple[str, ...]:
    """What makes the key of a finding about a group: class, span, drill and shape, not the single vias."""
    names = [layer.name for layer in ctx.board.copper_layers]
    stub, hole = group.stubs[0], group.holes[0]
    drill = f"drilled to {names[group.drill.must_cut]}" if group.drill else "not drilled"
    shape = f"{hole.drill_mm:g}/{hole.pad_mm:g}/{'all' if hole.keeps_unused else 'used'} pads"
    kind = "declared" if ctx.assignment.is_declared(hole.net) else "inferred"
    family_id = group.choices[0].id if len(group.choices) == 1 else group.family
    idle = ("joins nothing",) if hole.joins_nothing else ()
    return (f"{family_id} {group.net_class} {kind}", names[stub.first], f"to {names[stub.side]}", drill, shape, *idle)


def is_inferred(ctx: Context, group: StubGroup) -> bool:
    """True when it is not declared what the nets are."""
    return not ctx.assignment.is_declared(group.holes[0].net)
