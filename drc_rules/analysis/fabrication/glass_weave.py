"""How much skew the glass weave can put into pairs: straight runs along the weave, over glass that is not spread."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path

import numpy as np

from drc_rules.facts.context import Context
from drc_rules.facts.dielectric.ply import DielectricPly
from drc_rules.requirements.data_files import read_model
from drc_rules.requirements.interfaces import Interface
from stackup_lib.board.board import Floats, Ints
from stackup_lib.core.arrays import alike_rows, distinct
from stackup_lib.core.frozen import Frozen
from stackup_lib.core.record import record
from stackup_lib.materials import glass_kinds

FILE = Path(__file__).parent / "glass_weave.toml"

SAME_LINE_MM = 0.1
"""Tracks along one axis that lie this close are one run: the weave does not change beneath them."""


class _Skew(Frozen):
    most_ps_per_mm: float
    quiet_from_deg: float
    source: str


class _Spread(Frozen):
    styles: tuple[str, ...]


class _Contrast(Frozen):
    measured_glass: str
    measured_resin_dk: float
    least_resin_dk: float

    def share(self, glass: str | None) -> float:
        """Return the skew over a kind of glass as a share of that over the glass measured; 1 for a kind not known."""
        kinds = glass_kinds()
        if glass is None:
            return 1.0
        measured = kinds[self.measured_glass].dk - self.measured_resin_dk
        return min(1.0, (kinds[glass].dk - self.least_resin_dk) / measured)


class WeaveValues(Frozen):
    """The published values, see `glass_weave.toml`."""

    skew: _Skew
    contrast: _Contrast
    spread: _Spread


@cache
def weave_values() -> WeaveValues:
    """Return the published values."""
    return read_model(FILE, WeaveValues)


class Glass(StrEnum):
    """What the weave next to a layer does."""

    OPEN = "open"
    SPREAD = "spread"
    UNKNOWN = "unknown"


@record
class WeaveSkew:
    """What the weave can do to one pair.

    Attributes:
        name: of the pair.
        nets: its two nets.
        along_mm: length of straight runs along the weave, over glass that is open or not known, of the worse net.
        sure_ps: the most that runs over glass known to be open can add up to.
        possible_ps: the same with unnamed glass counted as open.
        e_glass_ps: as `sure_ps`, were all glass E-glass.
    """

    name: str
    nets: tuple[int, int]
    along_mm: float
    sure_ps: float
    possible_ps: float
    e_glass_ps: float


def unit_interval_ps(one: Interface) -> float:
    """Return the unit interval: half a period at Nyquist, for two levels as for four."""
    return 500.0 / one.nyquist_ghz if one.nyquist_ghz else float("inf")


def glass_of_layers(ctx: Context) -> Mapping[int, Glass]:
    """Return for each copper layer what the plies that touch it are woven of."""
    return {layer: _glass([ply for ply in ctx.plies if ply.touches(layer)]) for layer in range(ctx.board.layer_count)}


def unnamed_plies(ctx: Context, layers: Ints) -> Iterator[DielectricPly]:
    """Plies next to some layers whose glass style is not named."""
    for ply in ctx.plies:
        if any(ply.touches(layer) for layer in layers.tolist()) and not _is_named(ply):
            yield ply


def _glass(plies: list[DielectricPly]) -> Glass:
    if any(_is_open(ply) for ply in plies):
        return Glass.OPEN
    return Glass.SPREAD if plies and all(map(_is_named, plies)) else Glass.UNKNOWN


def _is_open(ply: DielectricPly) -> bool:
    return not _says_spread(ply) and any(style not in weave_values().spread.styles for style in _styles(ply))


def _is_named(ply: DielectricPly) -> bool:
    return _says_spread(ply) or bool(_styles(ply))


def _says_spread(ply: DielectricPly) -> bool:
    return ply.match is not None and ply.match.is_spread


def _shares(ctx: Context) -> Floats:
    """Skew of each copper layer as a share of that over E-glass: the most of the plies that touch it unless spread."""
    share = weave_values().contrast.share
    return np.array(
        [
            max(
                (share(ply.match.glass if ply.match else None) for ply in ctx.plies if _counts(ply, layer)), default=1.0
            )
            for layer in range(ctx.board.layer_count)
        ]
    )


def _counts(ply: DielectricPly, layer: int) -> bool:
    return ply.touches(layer) and (_is_open(ply) or not _is_named(ply))


def _styles(ply: DielectricPly) -> tuple[str, ...]:
    return ply.match.styles if ply.match else ()


def weave_skews(ctx: Context, nets: Ints) -> tuple[WeaveSkew, ...]:
    """Return what the weave can do to the pairs among some nets.

    A run adds up along its length; runs on different lines meet the weave anew, and add up as squares.
    """
    pairs = ctx.pairs
    chosen = sorted({int(row) for row in pairs.pair_of_net[nets].tolist() if row >= 0})
    if not chosen:
        return ()
    glass = glass_of_layers(ctx)
    is_open = np.array([glass[layer] is Glass.OPEN for layer in range(ctx.board.layer_count)])
    is_bad = np.array([glass[layer] is not Glass.SPREAD for layer in range(ctx.board.layer_count)])
    both = np.concatenate([pairs.positive[chosen], pairs.negative[chosen]])
    run_net, run_layer, run_mm = _runs(ctx, both)
    share = _shares(ctx)
    per_net: dict[int, tuple[float, float, float, float]] = {}
    for net in distinct(run_net).tolist():
        here = run_net == net
        lengths, layers = run_mm[here], run_layer[here]
        per_net[net] = (
            float(np.sum(lengths[is_bad[layers]])),
            _ps((lengths * share[layers])[is_open[layers]]),
            _ps((lengths * share[layers])[is_bad[layers]]),
            _ps(lengths[is_open[layers]]),
        )
    found = []
    for row in chosen:
        nets_of = int(pairs.positive[row]), int(pairs.negative[row])
        worse = max((per_net.get(net, (0.0, 0.0, 0.0, 0.0)) for net in nets_of), key=lambda one: one[2])
        found.append(WeaveSkew(pairs.name[row], nets_of, *worse))
    return tuple(found)


def _ps(lengths_mm: Floats) -> float:
    return weave_values().skew.most_ps_per_mm * float(np.sqrt(np.sum(lengths_mm**2)))


def _runs(ctx: Context, nets: Ints) -> tuple[Ints, Ints, Floats]:
    """Net, layer and length of every straight run along the weave, which lies along the board's axes."""
    tracks = ctx.board.tracks
    rows = np.flatnonzero(np.isin(tracks.net, nets) & np.isnan(tracks.mid_x_mm))
    dx = np.abs(tracks.end_x_mm[rows] - tracks.start_x_mm[rows])
    dy = np.abs(tracks.end_y_mm[rows] - tracks.start_y_mm[rows])
    slope = np.tan(np.radians(weave_values().skew.quiet_from_deg))
    along_x, along_y = dy < slope * dx, dx < slope * dy
    kept = along_x | along_y
    rows, along_x = rows[kept], along_x[kept]
    line = np.where(along_x, tracks.start_y_mm[rows], tracks.start_x_mm[rows])
    key = np.column_stack(
        [tracks.net[rows], tracks.layer[rows], along_x, np.rint(line / SAME_LINE_MM).astype(np.int64)]
    )
    if not len(key):
        none = np.zeros(0, dtype=np.int64)
        return none, none, np.zeros(0)
    first, run = alike_rows(key)
    lengths = np.asarray(np.bincount(run, tracks.length_mm[rows], len(first)), dtype=np.float64)
    return key[first, 0], key[first, 1], lengths
