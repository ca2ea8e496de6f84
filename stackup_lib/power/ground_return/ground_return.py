"""Drop of the ground return: currents that return through one net between the ground pads of loads and sources.

Fills are read on a grid; barrels, tracks outside fills and spreading around holes are resistors of their own. The whole
is solved on a rough grid that is fine around the terminals, then on one that is fine where the first one has its loss,
and once more where that moves a drop by much. What the last grid changes, and how far the bounds of the grid's links
lie apart, is the stated error. All currents are solved at once; drops of several rails that share the net add up.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from pydantic import Field

from stackup_lib.board.board import Board, Floats, Ints
from stackup_lib.core.frozen import Frozen
from stackup_lib.power.ground_return.leaves import MOST_LEVELS, Leaves
from stackup_lib.power.ground_return.link_grid import coarser, finest_level, layers_filled
from stackup_lib.power.ground_return.return_grid import GridSize, refuse_stale, return_grid
from stackup_lib.power.ground_return.return_holes import Others, ReturnTrack, hole_currents, track_currents
from stackup_lib.power.ground_return.return_leaves import finer_leaves, first_leaves, terminal_boxes
from stackup_lib.power.ground_return.return_net import ReturnKind, ReturnSite
from stackup_lib.power.ground_return.solved_return import ReturnFlow, SolvedReturn, solved_return
from stackup_lib.power.rail_drop.net_copper import refuse_unfilled
from stackup_lib.power.rail_drop.rail_models import BoardCopper, HoleCurrent, Terminal

SETTLED = 0.02
"""Share of a drop by which the second grid may move it; more, and a third one is made of the second one's loss."""

UNREFINED = 0.3
"""What the first grid may leave out where no finer one has few enough leaves: 28 % against finite elements."""

LEAST_ERROR = 0.03
"""Grid error from shapes of pads, holes, spokes and joints of tracks: found against finite elements."""

ERROR_PER_MM = 0.04
"""What cells as wide as antipads and necks may make, per mm of their width; found in the same way."""

MOST_RATIO = 10.0
"""Between the bounds of a link's conductance, where the lower one is nothing."""


class ReturnDrops(Frozen):
    """Drops between terminals of one net.

    Attributes:
        drop_v: for each pair that was requested, the share of each flow: shape (pairs, flows).
        joined: for each pair, whether copper joins it; the drops of one that is not are 0.
        error: of each pair's drop, as a share of it.
        layer_power_w, barrel_power_w: lost where, all flows together.
        parts_v: of each pair's drop by each flow, what arises in each copper layer, and in all barrels: shape (pairs,
            flows, layers + 1).
        holes: by the number of the rail, the current in vias and plated holes but the terminals' own, largest first.
        tracks: the same in tracks outside fills.
        nodes: of the finer network; `grid_mm`: its finest leaf.
    """

    drop_v: tuple[tuple[float, ...], ...]
    joined: tuple[bool, ...]
    error: tuple[float, ...]
    layer_power_w: Mapping[str, float]
    barrel_power_w: float
    parts_v: tuple[tuple[tuple[float, ...], ...], ...]
    holes: Mapping[int, tuple[HoleCurrent, ...]] = Field(default_factory=dict)
    tracks: Mapping[int, tuple[ReturnTrack, ...]] = Field(default_factory=dict)
    nodes: int
    grid_mm: float


def solve_return(
    board: Board,
    net: str,
    copper: BoardCopper,
    terminals: Sequence[Terminal],
    *,
    flows: Sequence[ReturnFlow],
    pairs: Sequence[tuple[int, int]],
    size: GridSize | None = None,
    others: Others | None = None,
) -> ReturnDrops:
    """Return what currents in one net make of the voltage between pairs of terminals.

    Args:
        board: the board, with its fills as they are stored.
        net: the return net.
        copper: thicknesses and temperature.
        terminals: pads of the net on one potential each.
        flows: the currents.
        pairs: terminals between which a drop is computed, (from, to).
        size: how fine.
        others: what counts as well in the holes and tracks of each rail.

    Raises:
        RailNotSolvedError: fills are missing, stale, or stored as KiCad 5 did.
    """
    number = board.net_index[net]
    if not flows:
        raise ValueError("no current is given")
    refuse_unfilled(board, number)
    limits = size or GridSize()
    layers = layers_filled(board, number)
    grid = return_grid(board, number, max(len(layers), 1), limits)
    levels = [finest_level(board, number, layers, grid)]
    refuse_stale(board, number, layers, grid, levels[0])
    boxes = terminal_boxes(board, number, [pad for one in terminals for pad in one.pads])
    most = limits.most_leaves // max(len(layers), 1)
    while len(levels) <= MOST_LEVELS:
        levels.append(coarser(levels[-1]))
    site = ReturnSite(board, number, copper, layers)
    first = first_leaves(grid, boxes, most // 3)
    rough = solved_return(site, first, levels, terminals, flows, ())
    leaves = finer_leaves(first, rough.leaf_loss, boxes, most)
    fine = solved_return(site, leaves, levels, terminals, flows, pairs)
    unrefined = UNREFINED if leaves is first else 0.0
    if _moved(fine, rough, pairs).max(initial=0.0) > SETTLED:
        finer = finer_leaves(leaves, fine.leaf_loss, boxes, most)
        if finer is not leaves:
            leaves, rough = finer, fine
            fine = solved_return(site, leaves, levels, terminals, flows, pairs)
    drops = _drops(board, fine, rough, pairs, leaves, unrefined=unrefined)
    rails, more = [flow.rail for flow in flows], others or {}
    return drops.model_copy(
        update={
            "holes": hole_currents(fine.barrels, fine.volts, rails, fine.ends, more),
            "tracks": track_currents(fine.resistors, fine.volts, rails, more),
        }
    )


def _ends(pairs: Sequence[tuple[int, int]]) -> tuple[Ints, Ints]:
    one, two = (np.array([pair[side] for pair in pairs], dtype=np.int64) for side in (0, 1))
    return one, two


def _moved(fine: SolvedReturn, rough: SolvedReturn, pairs: Sequence[tuple[int, int]]) -> Floats:
    """By what share of itself the finer grid has changed each pair's drop, all flows together."""
    one, two = _ends(pairs)
    drop = fine.terminal_v[one] - fine.terminal_v[two]
    moved = np.abs(drop - rough.terminal_v[one] + rough.terminal_v[two]).sum(axis=1)
    return np.asarray(moved / np.maximum(np.abs(drop).sum(axis=1), 1e-15))


def _drops(
    board: Board,
    fine: SolvedReturn,
    rough: SolvedReturn,
    pairs: Sequence[tuple[int, int]],
    leaves: Leaves,
    *,
    unrefined: float,
) -> ReturnDrops:
    one, two = _ends(pairs)
    drop = fine.terminal_v[one] - fine.terminal_v[two]
    watts = fine.watts
    floor = LEAST_ERROR + ERROR_PER_MM * leaves.grid.pitch_mm + unrefined
    layers, barrels = fine.resistors.layer, fine.resistors.kind == ReturnKind.BARREL
    by_layer = np.bincount(layers[~barrels], watts[~barrels], board.layer_count)
    return ReturnDrops(
        drop_v=tuple(tuple(row) for row in drop.tolist()),
        joined=tuple((fine.terminal_label[one] == fine.terminal_label[two]).tolist()),
        error=tuple((floor + _moved(fine, rough, pairs) + _unsure(fine)).tolist()),
        layer_power_w={board.copper_layers[k].name: float(w) for k, w in enumerate(by_layer.tolist()) if w > 0},
        barrel_power_w=float(watts[barrels].sum()),
        parts_v=tuple(tuple(tuple(part) for part in row) for row in fine.parts_v.tolist()),
        nodes=fine.nodes,
        grid_mm=float(leaves.size_mm.min()),
    )


def _unsure(solved: SolvedReturn) -> float:
    """By how much drops may be off by what links and tracks into fills leave open: loss times half the bounds."""
    sheet = np.isin(solved.resistors.kind, (ReturnKind.SHEET, ReturnKind.TRACK))
    least, _, most = solved.resistors.siemens[:, sheet]
    ratio = np.minimum(most / np.maximum(least, most / MOST_RATIO), MOST_RATIO)
    watts, total = solved.watts[sheet], float(solved.watts.sum())
    return float((watts * np.log(ratio)).sum()) / 2 / total if total > 0 else 0.0
