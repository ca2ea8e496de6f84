"""The high-speed nets of a board and the planes that carry their return current, looked up once for all rules.

A plane counts for a net on a layer where most of its length there has that plane as the nearest copper on that side;
for a net that has copper on neither side, the nearest layers that are planes do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from drc_rules.analysis.lines.solved_lines import Lines
from drc_rules.analysis.nets.address_nets import read_address_net
from drc_rules.analysis.nets.memory_data import is_memory_data
from drc_rules.report.numbers import UNIT_MM
from drc_rules.requirements.interfaces import Interface, family, interface
from stackup_lib.board.board import Ints
from stackup_lib.copper.coupling import pieces_of
from stackup_lib.copper.parallel_pairs import ParallelPairs, side_by_side
from stackup_lib.copper.stale_fills import REFILL
from stackup_lib.core.arrays import alike_rows, distinct
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.light import LIGHT_MM_GHZ
from stackup_lib.nets.diff_pairs import NO_PAIR
from stackup_lib.return_path.plane_gaps import Gap, ReturnPath, plane_height_mm, plane_share

if TYPE_CHECKING:
    from drc_rules.analysis.lines.sites import BoardSite
    from drc_rules.facts.context import Context
    from stackup_lib.transmission_lines.pair_crosstalk import PairCoupling
from drc_rules.facts.guesses import generation_of
from stackup_lib.core.record import entity, record

REAL_SHARE = 0.1
"""A plane with less of the return current does not count: without it the line's impedance, which goes with
1/(1 - share), rises by no more than the 10 % by which it may be off anyway."""

LUMPED_SHARE = 0.1
"""What is shorter than this share of a wavelength at Nyquist is lumped: it spoils the edge no more than a pad does."""


USUAL_DK = 4.0
"""Dk where none is known; a wavelength goes with its square root."""

PLACES_SHOWN = 20


@record
class HighSpeedGroup:
    """The nets that were assigned to one interface in the same way.

    Attributes:
        family: id of the family.
        choices: the generation; where it is not stated, all of the family with a Nyquist frequency, slowest first.
        declared: the user has stated what they are.
        nets: ascending.
        part: of a memory's nets that are no data, `address`.
    """

    family: str
    choices: tuple[Interface, ...]
    declared: bool
    nets: tuple[int, ...]
    part: str = ""

    @property
    def title(self) -> str:
        """`PCIe Gen5`, or the family's title where the generation is open; `DDR4-3200 address`."""
        title = self.choices[0].title if len(self.choices) == 1 else family(self.family).title
        return f"{title} {self.part}".rstrip()

    @property
    def id(self) -> str:
        """For the keys of findings."""
        word = self.choices[0].id if len(self.choices) == 1 else self.family
        return f"{word} {self.part} {'declared' if self.declared else 'inferred'}".replace("  ", " ")

    @property
    def nyquist_ghz(self) -> tuple[float, float]:
        """Of the slowest and of the fastest generation that it may be.

        The address of a memory changes once in a clock, at half the rate of its data or less.
        """
        share = 0.5 if self.part else 1.0
        slowest, fastest = (one.nyquist_ghz or 1.0 for one in (self.choices[0], self.choices[-1]))
        return share * slowest, share * fastest

    @property
    def lumped_mm(self) -> tuple[float, float]:
        """What is lumped at these frequencies."""
        slowest, fastest = self.nyquist_ghz
        return lumped_mm(slowest), lumped_mm(fastest)


@entity
class Referenced:
    """Tracks of a group on one layer that have the same planes.

    Attributes:
        layer: copper layer.
        rows: indices into `Board.tracks`.
        nets: of those tracks, ascending.
        above, below: layers of the planes, None on a side where most of the length has no copper.
    """

    group: HighSpeedGroup
    layer: int
    rows: Ints
    nets: tuple[int, ...]
    above: int | None
    below: int | None

    @property
    def planes(self) -> tuple[int, ...]:
        """Those there are."""
        return tuple(plane for plane in (self.above, self.below) if plane is not None)


def lumped_mm(frequency_ghz: float, dk: float = USUAL_DK) -> float:
    """Return the length that is lumped at a frequency, in a dielectric of this Dk."""
    return LUMPED_SHARE * LIGHT_MM_GHZ / (frequency_ghz * float(np.sqrt(dk)))


@record
class ReturnPaths:
    """The high-speed nets of one board and their planes."""

    ctx: Context

    @property
    def paths(self) -> ReturnPath:
        """The tracks of the board and the copper next to them."""
        return self.ctx.get(_paths)

    @property
    def groups(self) -> tuple[HighSpeedGroup, ...]:
        """The nets of high-speed families, in the order of their ids, without those that have no Nyquist frequency."""
        return self.ctx.get(_groups)

    @property
    def with_memories(self) -> tuple[HighSpeedGroup, ...]:
        """The same, and the data and address lines of memories whose generation is as fast."""
        return (*self.groups, *self.ctx.get(_memories))

    @property
    def group_of_net(self) -> Mapping[int, HighSpeedGroup]:
        """The group of every high-speed net."""
        return self.ctx.get(_group_of_net)

    @property
    def referenced(self) -> tuple[Referenced, ...]:
        """The tracks of high-speed nets by group, layer and planes, those without any plane among them."""
        return self.ctx.get(_referenced)

    @property
    def referenced_with_memories(self) -> tuple[Referenced, ...]:
        """The same, and the tracks of `with_memories`."""
        return (*self.referenced, *self.ctx.get(_memories_referenced))

    def height_mm(self, layer: int, plane: int) -> float:
        """Return the distance from a layer to a plane; raises `MissingFact` where the stackup does not tell it."""
        height = plane_height_mm(self.ctx.stackup(), layer, plane)
        if height is None:
            names = [one.name for one in self.ctx.board.copper_layers]
            how = "in KiCad, File > Board Setup > Physical Stackup: enter every thickness and save the board"
            raise MissingFact(f"the distance between {names[layer]} and {names[plane]}", how)
        return height

    def shares(self, part: Referenced) -> dict[int, float]:
        """Return what share of the return current each plane carries, the larger first; raises `MissingFact`."""
        heights = {plane: self.height_mm(part.layer, plane) for plane in part.planes}
        if len(heights) < 2:
            return dict.fromkeys(heights, 1.0)
        one, two = heights
        found = {one: plane_share(heights[one], heights[two]), two: plane_share(heights[two], heights[one])}
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    def gaps(self, part: Referenced, plane: int) -> tuple[Gap, ...]:
        """Return the gaps of one of the planes without what other copper between track and plane covers of them.

        Raises:
            MissingFact: fills are missing or stale, or the stackup does not tell the distance.
        """
        return self.ctx.get(_gaps, part, plane)

    def need_fills(self, part: Referenced) -> None:
        """Raise `MissingFact` where a zone without a stored fill may be nearer to the tracks than their planes."""
        last = self.ctx.board.layer_count
        nearer = range(-1 if part.above is None else part.above + 1, last if part.below is None else part.below)
        mask = np.uint64(sum(1 << k for k in nearer if k >= 0 and k != part.layer))
        zones = self.ctx.board.zones
        is_open = (zones.is_rule_area == 0) & (zones.is_filled == 0) & ((zones.layers & mask) != 0)
        if np.any(is_open):
            layers = [int(zones.layers[k]) for k in np.flatnonzero(is_open)]
            first = next(k for k in nearer if k >= 0 and k != part.layer and any(one >> k & 1 for one in layers))
            raise MissingFact(f"the zone fills on {self.ctx.board.copper_layers[first].name}", REFILL)

    def adjacent(self, layer: int, reach_mm: float) -> tuple[ParallelPairs, ...]:
        """Return the high-speed pairs, by their rows in `Pairs`, that run side by side on a layer within reach."""
        return self.ctx.get(_next_to, layer, reach_mm)

    def coupling(
        self, where: BoardSite, width_mm: float, gaps_mm: tuple[float, float], between_mm: float
    ) -> PairCoupling:
        """Return the coupling of two pairs on a layer, each geometry solved once."""
        return self.ctx.get(_coupling, where.index, (where.above, where.below), (width_mm, gaps_mm, between_mm))

    def lengths_of(self, part: Referenced) -> dict[int, float]:
        """Return the length of each net here."""
        tracks = self.ctx.board.tracks
        nets, where = np.unique(tracks.net[part.rows], return_inverse=True)
        return dict(zip(nets.tolist(), np.bincount(where, tracks.length_mm[part.rows]).tolist(), strict=True))

    def longest_of(self, part: Referenced) -> tuple[float, int]:
        """Return length and net of the net that has most of its length here."""
        length, net = max((mm, -net) for net, mm in self.lengths_of(part).items())
        return length, -net

    def dk(self, layer: int, plane: int) -> float:
        """Return the Dk between a layer and a plane, the mean by thickness; `USUAL_DK` where one is not known."""
        first, last = sorted((layer, plane))
        plies = [ply for ply in self.ctx.plies if first <= ply.above and ply.below <= last]
        facts = [(ply.dk.at(1.0).value, ply.thickness.value) for ply in plies]
        known = [(dk, thickness) for dk, thickness in facts if dk is not None and thickness]
        if not facts or len(known) < len(facts):
            return USUAL_DK
        return sum(dk * thickness for dk, thickness in known) / sum(thickness for _, thickness in known)


def _paths(ctx: Context) -> ReturnPath:
    return ReturnPath(ctx.copper)


def _groups(ctx: Context) -> tuple[HighSpeedGroup, ...]:
    return tuple(group for group in ctx.get(interface_groups) if family(group.family).fast)


def _memories(ctx: Context) -> tuple[HighSpeedGroup, ...]:
    """Return the data and the address lines of memories of a generation whose return paths count."""
    found: list[HighSpeedGroup] = []
    for group in ctx.get(interface_groups):
        if not family(group.family).fast and all(one.return_paths for one in group.choices):
            names = [(net, ctx.board.nets[net]) for net in group.nets]
            data = tuple(net for net, name in names if is_memory_data(name))
            address = tuple(net for net, name in names if net not in data and read_address_net(name) is not None)
            found += [replace(group, nets=data), replace(group, nets=address, part="address")]
    return tuple(group for group in found if group.nets)


def interface_groups(ctx: Context) -> tuple[HighSpeedGroup, ...]:
    """Return the nets of every interface, fast or slow, in the order of ids, without those of no Nyquist frequency."""
    found: dict[tuple[str, str, bool], list[int]] = {}
    for net, role in enumerate(ctx.assignment.roles):
        if role is not None:
            key = role.family, role.interface or "", ctx.assignment.is_declared(net)
            found.setdefault(key, []).append(net)
    groups = (
        HighSpeedGroup(of, _generations(of, one), declared, tuple(nets))
        for (of, one, declared), nets in sorted(found.items())
    )
    return tuple(group for group in groups if group.choices)


def _group_of_net(ctx: Context) -> Mapping[int, HighSpeedGroup]:
    return {net: group for group in ctx.get(_groups) for net in group.nets}


def _referenced(ctx: Context) -> tuple[Referenced, ...]:
    return _parts_of(ctx, ctx.get(_groups))


def _memories_referenced(ctx: Context) -> tuple[Referenced, ...]:
    groups = ctx.get(_memories)
    return _parts_of(ctx, groups) if groups else ()


def _parts_of(ctx: Context, groups: tuple[HighSpeedGroup, ...]) -> tuple[Referenced, ...]:
    nets = [net for group in groups for net in group.nets]
    rows = np.flatnonzero(np.isin(ctx.board.tracks.net, nets))
    ctx.copper.adjacent_planes(pieces_of(ctx.board, rows))  # in one go: the map keeps them
    return tuple(part for group in groups for part in _parts(ctx, group))


def _parts(ctx: Context, group: HighSpeedGroup) -> Iterator[Referenced]:
    tracks = ctx.board.tracks
    rows = np.flatnonzero(np.isin(tracks.net, group.nets))
    pieces, layers = pieces_of(ctx.board, rows), tracks.layer[rows].astype(np.int64)
    keys = pieces.net * ctx.board.layer_count + pieces.layer
    of_row = np.flatnonzero(pieces.part == 0)  # all pieces of a net on a layer have the same usual planes
    over, under = (_usual(keys, side, pieces.length_mm)[of_row] for side in ctx.copper.adjacent_planes(pieces))
    # the middle of a short breakout may lie in an antipad: then it has the board's planes, with a gap
    planes = [k for k, use in enumerate(ctx.filled_uses()) if use.is_plane]
    last_before = np.array([max((k for k in planes if k < layer), default=-1) for layer in layers.tolist()])
    next_after = np.array([min((k for k in planes if k > layer), default=-1) for layer in layers.tolist()])
    lost = (over < 0) & (under < 0)
    over, under = np.where(lost, last_before, over), np.where(lost, next_after, under)
    alike = np.column_stack([tracks.layer[rows], over, under])
    for layer, first, last in sorted({*map(tuple, alike.tolist())}):
        mine = rows[np.all(alike == (layer, first, last), axis=1)]
        nets = tuple(distinct(tracks.net[mine]).tolist())
        yield Referenced(group, layer, mine, nets, _layer(first), _layer(last))


def _gaps(ctx: Context, part: Referenced, plane: int) -> tuple[Gap, ...]:
    between = range(min(part.layer, plane) + 1, max(part.layer, plane))
    height_mm = ReturnPaths(ctx).height_mm(part.layer, plane)
    return ReturnPaths(ctx).paths.gaps(part.rows, plane, height_mm, between)


def _next_to(ctx: Context, layer: int, reach_mm: float) -> tuple[ParallelPairs, ...]:
    of_net = ctx.pairs.pair_of_net
    nets = np.array([net for group in ctx.get(_groups) for net in group.nets if of_net[net] != NO_PAIR])
    tracks = ctx.board.tracks
    pieces = pieces_of(ctx.board, np.flatnonzero((tracks.layer == layer) & np.isin(tracks.net, nets)))
    return side_by_side(pieces, of_net[pieces.net], reach_mm)


def _coupling(
    ctx: Context,
    index: int,
    planes: tuple[int | None, int | None],
    sizes_mm: tuple[float, tuple[float, float], float],
) -> PairCoupling:
    from stackup_lib.transmission_lines.pair_crosstalk import pair_coupling  # noqa: PLC0415 - with the field solver

    return pair_coupling(Lines(ctx).site(index, planes).site, *sizes_mm)


def _layer(index: int) -> int | None:
    return None if index < 0 else index


def _usual(keys: Ints, values: Ints, weights: np.ndarray) -> Ints:
    """Return for each row the value that has most weight among the rows of the same key."""
    first, kind = alike_rows(np.column_stack([keys, values]))
    sums = np.bincount(kind, weights, len(first))
    best: dict[int, tuple[float, int]] = {}
    for key, value, total in zip(keys[first].tolist(), values[first].tolist(), sums.tolist(), strict=True):
        if key not in best or total > best[key][0]:
            best[key] = total, value
    return np.array([best[key][1] for key in keys.tolist()], dtype=np.int64)


def _generations(family_id: str, interface_id: str) -> tuple[Interface, ...]:
    if not interface_id:
        return family(family_id).by_rate
    return (interface(interface_id),) if interface(interface_id).nyquist_ghz else ()


def too_long(ctx: Context, group: HighSpeedGroup, length_mm: float, least_mm: float = 0.0) -> bool:
    """Tell whether a length is more than lumped (or than `least_mm`, where that is more).

    Raises:
        MissingFact: that depends on the generation, which is not stated.
    """
    slowest, fastest = group.lumped_mm
    if length_mm > max(slowest, least_mm) + UNIT_MM:
        return True
    if length_mm > max(fastest, least_mm) + UNIT_MM:
        raise generation_of(ctx, group.family)
    return False


def in_all(group: HighSpeedGroup) -> str:
    """Say from which length on even the slowest generation suffers, where it is not known which one it is."""
    if len(group.choices) == 1:
        return ""
    slowest, fastest = group.choices[0], group.choices[-1]
    return f" for {fastest.title}; beyond {group.lumped_mm[0]:.1f} mm it does even for {slowest.title}"


def count_of(names: list[str]) -> str:
    """`/A`, or `/A and 3 more nets`."""
    more = len(names) - 1
    return f"{names[0]} and {more} more net{'s' if more > 1 else ''}" if more else names[0]
