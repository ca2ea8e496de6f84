"""Two adjacent layers carry signals, one of them high-speed, with no plane between them.

What it checks
--------------
Each pair of adjacent copper layers, when a high-speed interface is routed on one of them: the length over which one of
its nets overlaps tracks of other nets on the other layer, or is less than 0.2 mm from them in plan view. It counts
where most of that net on its layer has no filled copper on the other layer; the pair's other trace does not count, nor
does a total below a tenth of a wavelength at Nyquist. Of a family without its generation the slowest has to fail and
the fastest to pass; between, it is not verifiable.

Why it matters
--------------
Tracks on adjacent layers couple broadside, and neither layer gives the other a return path: impedance changes wherever
they cross.

How to fix
----------
Add a ground plane between them, move the high-speed nets to a layer with planes on both sides, or route the two layers
apart.

What it cannot see
------------------
All crossings of a net add up, whatever the angle and layer distance. Copper of any net counts as a plane; slots are
`split-plane-crossing`'s. Copper graphics, two-layer boards, DDR, MIPI and USB 2 are skipped.

Sources
-------
Each clause names its document. Layer orders: HDI and server stackups of several fabs alternate ground and
signal.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.analysis.nets.high_speed_layers import HighSpeedLayer, fast_layers, open_layers
from drc_rules.facts.context import FILL_ZONES, Context
from drc_rules.facts.guesses import generation_of
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.board import Floats, Ints
from stackup_lib.copper.broadside import met_mm
from stackup_lib.copper.copper_map import unfilled_zones
from stackup_lib.copper.coupling import TrackPieces, pieces_of
from stackup_lib.core.arrays import distinct
from stackup_lib.core.facts import Confidence, MissingFact
from stackup_lib.core.record import entity, record
from stackup_lib.nets.diff_pairs import NO_PAIR

MULTILAYER = 4
"""A two-layer board has no room for a plane between; that is a choice, not a mistake."""

REACH_MM = 0.2
"""Tracks at most this far apart in plan view couple; dielectrics between adjacent layers are mostly thinner."""

MOST = 0.5


@record
class Meeting:
    """The net of a high-speed layer that meets tracks of a neighbouring layer for longest.

    Attributes:
        upper, lower: the layers.
        net, length_mm: of that net, and for how long it does; 0 mm where none does.
        fast: its layer and interface.
    """

    upper: int
    lower: int
    fast: HighSpeedLayer
    net: int
    length_mm: float

    @property
    def over_mm(self) -> float:
        """How much longer it is than what would not matter to the slowest generation."""
        return self.length_mm - self.fast.lumped_mm[0]

    @property
    def is_open(self) -> bool:
        """True where it hangs on the generation whether it matters."""
        return self.over_mm <= 0 and self.length_mm > self.fast.lumped_mm[1]


def _meetings(ctx: Context, _clause: Clause) -> Iterator[tuple[Meeting, ...]]:
    """Yield what meets between each two layers, the worst first."""
    of = ctx.assignment
    fast = [layer for name in of.fast_interfaces() for layer in fast_layers(ctx, name)]
    fast += [layer for name in of.families_without_generation() for layer in open_layers(ctx, name)]
    if not fast or ctx.board.layer_count < MULTILAYER:
        return
    ctx.filled_uses()
    routes = _routed(ctx, fast)
    for upper in range(ctx.board.layer_count - 1):
        here = [_meeting(ctx, one, upper, upper + 1) for one in routes if one.fast.index in (upper, upper + 1)]
        if here:
            yield tuple(sorted(here, key=lambda one: (-one.over_mm, ctx.board.nets[one.net])))


@entity
class _Routed:
    """The tracks of a high-speed layer in pieces, and the nearest filled layers over and under each."""

    fast: HighSpeedLayer
    pieces: TrackPieces
    above: Ints
    below: Ints


def _routed(ctx: Context, fast: list[HighSpeedLayer]) -> list[_Routed]:
    """Return the tracks of each; the planes next to all of them are looked up together."""
    tracks, nets = ctx.board.tracks, [net for one in fast for net in one.nets]
    on_them = np.isin(tracks.layer, [one.index for one in fast]) & np.isin(tracks.net, nets)
    pieces = pieces_of(ctx.board, np.flatnonzero(on_them))
    above, below = ctx.copper.adjacent_planes(pieces)
    found = []
    for one in fast:
        mine = np.flatnonzero((pieces.layer == one.index) & np.isin(pieces.net, one.nets))
        found.append(_Routed(one, pieces.where(mine), above[mine], below[mine]))
    return found


def _meeting(ctx: Context, routed: _Routed, upper: int, lower: int) -> Meeting:
    fast, pieces = routed.fast, routed.pieces
    neighbour, is_bare = (lower, routed.below != lower) if fast.index == upper else (upper, routed.above != upper)
    bare_mm, whole_mm = (_by_net(ctx, pieces, lengths) for lengths in (pieces.length_mm * is_bare, pieces.length_mm))
    exposed = bare_mm[pieces.net] > MOST * whole_mm[pieces.net]
    open_pieces = pieces.where(np.flatnonzero(is_bare & exposed))
    met = np.zeros(len(ctx.board.nets))
    for nets in _alone_and_paired(ctx, distinct(open_pieces.net).tolist()):
        mine = open_pieces.where(np.isin(open_pieces.net, nets))
        met += _by_net(ctx, mine, met_mm(ctx.board, mine, neighbour, REACH_MM, nets))
    worst = max(fast.nets, key=lambda net: (met[net], -net))
    return Meeting(upper, lower, fast, worst, float(met[worst]))


def _by_net(ctx: Context, pieces: TrackPieces, lengths_mm: Floats) -> Floats:
    sums: Floats = np.bincount(pieces.net, lengths_mm, len(ctx.board.nets)).astype(np.float64)
    return sums


def _alone_and_paired(ctx: Context, nets: list[int]) -> Iterator[list[int]]:
    """Yield the nets, those of one pair together."""
    of_net = ctx.pairs.pair_of_net
    for net in nets:
        if of_net[net] == NO_PAIR:
            yield [net]
    for pair in sorted({int(of_net[net]) for net in nets} - {NO_PAIR}):
        yield np.flatnonzero(of_net == pair).tolist()


FORMULA = """
M ≤ L_max

M: longest overlap of one high-speed net with tracks of other nets on the adjacent layer, without a plane [mm]
L_max: maximum: a tenth of a wavelength at Nyquist [mm]
"""


@rule(
    "STK011", kinds=("plane_between_signals",), over=_meetings, formula=FORMULA, reads_fills=True, by_stackup="decided"
)
def signal_layers_without_plane(ctx: Context, _clause: Clause, meetings: tuple[Meeting, ...]) -> Iterator[DraftFinding]:
    """Yield one finding for two layers whose tracks meet for longer than would not matter."""
    ctx.rests_on(Confidence.MEDIUM)
    names, worst = [layer.name for layer in ctx.board.copper_layers], meetings[0]
    upper, lower, most_mm = names[worst.upper], names[worst.lower], worst.fast.lumped_mm[0]
    ctx.shows(f"{upper} and {lower}", M=worst.length_mm, L_max=most_mm)
    found, unsure = [one for one in meetings if one.over_mm > 0], [one for one in meetings if one.is_open]
    if found:
        if len(unfilled_zones(ctx.board, (worst.upper, worst.lower))):
            raise MissingFact(f"the zone fills on {upper} and {lower}", FILL_ZONES)
        net, other = ctx.board.nets[worst.net], lower if worst.fast.index == worst.upper else upper
        yield DraftFinding(
            title=(
                f"no plane between signal layers {upper} and {lower}: {net} overlaps tracks of {other} for "
                f"{worst.length_mm:.1f} mm, maximum {most_mm:.1f} mm"
            ),
            why="Tracks couple broadside, and neither layer gives the other a return path",
            fix="Add a ground plane between them, move the high-speed nets, or route the two layers apart",
            ids=(upper, lower),
            measured=Measured(value=round(worst.length_mm, 2), unit="mm"),
            limit_value=round(most_mm, 2),
            places=(Location(layer=worst.fast.name, net=net), Location(layer=other)),
            inferred=all(one.fast.inferred for one in found),
        )
    elif unsure:
        raise generation_of(ctx, unsure[0].fast.interface.family)
