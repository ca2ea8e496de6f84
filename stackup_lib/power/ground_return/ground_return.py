"""Drop of the ground return: currents that return through one net between the ground pads of loads and sources.

Fills are read on a grid; barrels, tracks outside fills and spreading around holes are resistors of their own. The whole
is solved on a rough grid that is fine around the terminals, then on one that is fine where the first one has its loss,
and once more where that moves a drop by much. What the last grid changes, and how far the bounds of the grid's links
lie apart, is the stated error. All currents are solved at once; drops of several rails that share the net add up.
"""

from collections.abc import KeysView, Mapping, Sequence

import numpy as np

from stackup_lib.board.board import Board, Floats, Ints, PadKind
from stackup_lib.core.arrays import distinct
from stackup_lib.core.frozen import Frozen
from stackup_lib.core.record import entity, record
from stackup_lib.power.ground_return.leaf_parts import leaf_nodes, with_parts
from stackup_lib.power.ground_return.leaves import MOST_LEVELS, Leaves, grow_leaves, leaf_links, wanted_levels
from stackup_lib.power.ground_return.link_grid import Grid, GridLevel, coarser, finest_level, layers_filled
from stackup_lib.power.ground_return.return_holes import Barrels, ReturnTrack, hole_currents, track_currents
from stackup_lib.power.ground_return.return_net import NetBuilder, Resistors, ReturnKind, ReturnSite, holes_of
from stackup_lib.power.ground_return.return_tracks import add_tracks
from stackup_lib.power.network import conductance_entries, conductance_matrix, factorized, joined_parts
from stackup_lib.power.rail_drop.net_copper import REFILL, RailNotSolvedError, pad_centres_mm, refuse_unfilled
from stackup_lib.power.rail_drop.rail_models import BoardCopper, HoleCurrent, Terminal


@record
class GridSize:
    """How fine a grid may be.

    Attributes:
        least_mm: width of the finest cell.
        most_cells: of all layers together; a larger board has wider ones.
        most_leaves: of all layers together.
    """

    least_mm: float = 0.1
    most_cells: int = 2_000_000
    most_leaves: int = 24_000


GRADINGS = ((0, 0.3), (0, 0.5), (1, 0.5), (1, 1.0), (2, 1.0), (3, 1.0), (4, 1.0))
"""Finest level and width over distance from the terminals; the first that is not too many leaves is taken."""

PARTS = (6, 12, 25, 50, 100, 200, 400, 800, 1600, 3200, 6400)
"""Parts of the loss; a leaf of the finer grid holds no more than one."""

ENOUGH_PARTS = 100
"""With fewer, what is fine around the terminals would better be fine where the loss is."""

SETTLED = 0.02
"""Share of a drop by which the second grid may move it; more, and a third one is made of the second one's loss."""

UNREFINED = 0.3
"""What the first grid may leave out where no finer one has few enough leaves: 28 % against finite elements."""

COARSEST = 2.0
"""Width over distance from the terminals, of leaves with little loss."""

MOST_BOXES = 36
"""Places around which the grid is fine; more pads than that are put together by tiles."""

LEAST_ERROR = 0.03
"""Grid error from shapes of pads, holes, spokes and joints of tracks: found against finite elements."""

ERROR_PER_MM = 0.04
"""What cells as wide as antipads and necks may make, per mm of their width; found in the same way."""

STALE_WIDTH = 1.0
"""Holes with copper wider than a cell cannot slip between the lines that sample a fill."""

MARGIN_MM = 1.0
"""Cells beyond the copper."""

MOST_LOST = 1e-3
"""Share of the largest current that rounding may lose at a node."""

MOST_RATIO = 10.0
"""Between the bounds of a link's conductance, where the lower one is nothing."""


class ReturnFlow(Frozen):
    """A current that enters a net at the ground pads of a load and leaves it at those of a source.

    Attributes:
        entry, exit: numbers of terminals.
        rail: flows with one number belong together: their currents in a hole add up.
    """

    entry: int
    exit: int
    current_a: float
    rail: int = 0


class ReturnDrops(Frozen):
    """Drops between terminals of one net.

    Attributes:
        drop_v: for each pair that was requested, the share of each flow: shape (pairs, flows).
        joined: for each pair, whether copper joins it; the drops of one that is not are 0.
        error: of each pair's drop, as a share of it.
        layer_power_w, barrel_power_w: lost where, all flows together.
        parts_v: of each pair's drop by each flow, what arises in each copper layer, and in all barrels: shape (pairs,
            flows, layers + 1).
        holes: by the number of the rail, its current in vias and plated holes but the terminals' own, largest first.
        tracks: the same in tracks outside fills.
        nodes: of the finer network; `grid_mm`: its finest leaf.
    """

    drop_v: tuple[tuple[float, ...], ...]
    joined: tuple[bool, ...]
    error: tuple[float, ...]
    layer_power_w: Mapping[str, float]
    barrel_power_w: float
    parts_v: tuple[tuple[tuple[float, ...], ...], ...]
    holes: Mapping[int, tuple[HoleCurrent, ...]]
    tracks: Mapping[int, tuple[ReturnTrack, ...]]
    nodes: int
    grid_mm: float


@entity
class _Network:
    """The copper of a net as resistors.

    Attributes:
        resistors: between nodes.
        at: node of each terminal, shape (terminals).
        label: number of the joined copper that each node is part of, shape (nodes).
        pads: rows of the terminals' pads.
        barrels: the plated holes and their resistors.
        leaf_of_node: leaf of each node of a sheet.
        leaves: how many leaves there are.
    """

    resistors: Resistors
    at: Ints
    label: Ints
    pads: KeysView[int]
    barrels: Barrels
    leaf_of_node: Ints
    leaves: int


@entity
class _Solved:
    """Potentials and parts of the copper, shapes (terminals, flows) and (terminals); loss in each resistor.

    `leaf_loss` is the largest share, over the flows, of a flow's loss in each leaf on all layers. `parts_v` is that of
    `ReturnDrops`.
    """

    terminal_v: Floats
    terminal_label: Ints
    resistors: Resistors
    watts: Floats
    leaf_loss: Floats
    parts_v: Floats
    holes: Mapping[int, tuple[HoleCurrent, ...]]
    tracks: Mapping[int, tuple[ReturnTrack, ...]]
    nodes: int


def solve_return(
    board: Board,
    net: str,
    copper: BoardCopper,
    terminals: Sequence[Terminal],
    *,
    flows: Sequence[ReturnFlow],
    pairs: Sequence[tuple[int, int]],
    size: GridSize | None = None,
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

    Raises:
        RailNotSolvedError: fills are missing, stale, or stored as KiCad 5 did.
    """
    number = board.net_index[net]
    if not flows:
        raise ValueError("no current is given")
    refuse_unfilled(board, number)
    limits = size or GridSize()
    layers = layers_filled(board, number)
    grid = _grid(board, number, max(len(layers), 1), limits)
    levels = [finest_level(board, number, layers, grid)]
    _refuse_stale(board, number, layers, grid, levels[0])
    boxes = np.vstack([_boxes(board, [pad for one in terminals for pad in one.pads]), _few_holes(board, number)])
    most = limits.most_leaves // max(len(layers), 1)
    while len(levels) <= MOST_LEVELS:
        levels.append(coarser(levels[-1]))
    site = ReturnSite(board, number, copper, layers)
    first = _first_leaves(grid, boxes, most // 3)
    rough = _solve(site, first, levels, terminals, flows, ())
    leaves = _finer_leaves(first, rough, boxes, most)
    fine = _solve(site, leaves, levels, terminals, flows, pairs)
    unrefined = UNREFINED if leaves is first else 0.0
    if _moved(fine, rough, pairs).max(initial=0.0) > SETTLED:
        finer = _finer_leaves(leaves, fine, boxes, most)
        if finer is not leaves:
            leaves, rough = finer, fine
            fine = _solve(site, leaves, levels, terminals, flows, pairs)
    return _drops(board, fine, rough, pairs, leaves, unrefined=unrefined)


def _refuse_stale(board: Board, net: int, layers: list[int], grid: Grid, finest: GridLevel) -> None:
    """Refuse fills that go on under holes of other nets, as far as the grid can tell: all links around are whole."""
    vias, pads = board.vias, board.pads
    for sheet, layer in enumerate(layers):
        along, down = finest.along[0, sheet], finest.down[0, sheet]
        solid = (along == 1) & (down == 1)
        solid[:, 1:] &= along[:, :-1] == 1
        solid[1:] &= down[:-1] == 1
        spans = (vias.start_layer <= layer) & (vias.end_layer >= layer) & (vias.size_mm > STALE_WIDTH * grid.pitch_mm)
        drilled = (pads.kind == PadKind.THROUGH) & (
            np.fmin(pads.size_x_mm, pads.size_y_mm) > STALE_WIDTH * grid.pitch_mm
        )
        for what, rows, x, y in (
            ("via", np.flatnonzero(spans & (vias.net != net)), vias.x_mm, vias.y_mm),
            ("pad", np.flatnonzero(drilled & (pads.net != net)), pads.x_mm, pads.y_mm),
        ):
            low, high = grid.low_mm, grid.low_mm + grid.rows * grid.pitch_mm
            left, right = grid.left_mm, grid.left_mm + grid.columns * grid.pitch_mm
            near = rows[(x[rows] > left) & (x[rows] < right) & (y[rows] > low) & (y[rows] < high)]
            hit = near[solid[grid.cell_of(x[near], y[near])]]
            if len(hit):
                where = f"a {what} at x {x[hit[0]]:.3f} mm, y {y[hit[0]]:.3f} mm"
                stale = f"the fill of {board.nets[net]} is stale: {where}, of another net, is in it"
                raise RailNotSolvedError(str(board.path or "the board"), stale, REFILL)


def _grid(board: Board, net: int, layers: int, limits: GridSize) -> Grid:
    """The finest grid over the net's fills, tracks, holes and pads."""
    zones, tracks, vias, pads = board.zones, board.tracks, board.vias, board.pads
    fills = np.repeat(zones.net[zones.fill_zone] == net, np.diff(zones.fill_start))
    on = tracks.net == net
    pad_x, pad_y = pad_centres_mm(board, np.flatnonzero(pads.net == net))
    x = [zones.fill_x_mm[fills], tracks.start_x_mm[on], tracks.end_x_mm[on]]
    y = [zones.fill_y_mm[fills], tracks.start_y_mm[on], tracks.end_y_mm[on]]
    xs = np.concatenate([*x, vias.x_mm[vias.net == net], pad_x])
    ys = np.concatenate([*y, vias.y_mm[vias.net == net], pad_y])
    left, low = float(xs.min()), float(ys.min())
    wide, high = float(xs.max()) - left, float(ys.max()) - low
    pitch = max(limits.least_mm, float(np.sqrt(max(wide * high, 1e-6) * layers / limits.most_cells)))
    counts = (int(np.ceil((side + MARGIN_MM) / pitch)) + 2 for side in (wide, high))
    columns, rows = counts
    return Grid(left - pitch, low - pitch, pitch, columns, rows)


def _first_leaves(grid: Grid, boxes: Floats, most: int) -> Leaves:
    """The finest leaves around the terminals of which there are not too many."""
    for least, slope in GRADINGS:
        leaves = grow_leaves(grid, boxes, least, slope)
        if len(leaves) <= most:
            break
    return leaves


def _finer_leaves(first: Leaves, rough: _Solved, boxes: Floats, most: int) -> Leaves:
    """Leaves none of which holds more than a part of the loss, the smallest part for which there are not too many.

    They are also fine around all terminals, unless that leaves too few for the loss elsewhere.
    """
    best, reached = first, 0
    for places, enough in ((boxes, ENOUGH_PARTS), (boxes[:0], 0)):
        for parts in PARTS:
            wanted = wanted_levels(first, rough.leaf_loss, 1 / parts)
            leaves = grow_leaves(first.grid, places, 0, COARSEST, wanted)
            if len(leaves) > most:
                break
            best, reached = leaves, parts
        if reached >= enough:
            break
    return best


def _few_holes(board: Board, net: int) -> Floats:
    """Boxes around the vias of a net that has few of them: each then carries much."""
    vias = board.vias
    rows = np.flatnonzero(vias.net == net)
    if len(rows) > MOST_BOXES:
        return np.zeros((0, 4))
    x, y, half = vias.x_mm[rows], vias.y_mm[rows], vias.drill_mm[rows] / 2
    return np.column_stack([x - half, y - half, x + half, y + half])


def _boxes(board: Board, pads: Sequence[int]) -> Floats:
    """Boxes around pads, large enough whichever way they are turned."""
    rows = np.asarray(sorted(set(pads)), dtype=np.int64)
    x, y = pad_centres_mm(board, rows)
    turn = np.deg2rad(board.pads.rotation_deg[rows])
    wide, high = board.pads.size_x_mm[rows] / 2, board.pads.size_y_mm[rows] / 2
    reach_x = wide * np.abs(np.cos(turn)) + high * np.abs(np.sin(turn))
    reach_y = wide * np.abs(np.sin(turn)) + high * np.abs(np.cos(turn))
    boxes = np.column_stack([x - reach_x, y - reach_y, x + reach_x, y + reach_y])
    if len(boxes) <= MOST_BOXES:
        return boxes
    # pads of one tile count as one place
    tile = max(float(np.ptp(x)), float(np.ptp(y))) / np.sqrt(MOST_BOXES)
    _, group = np.unique(np.floor(np.column_stack([x, y]) / tile), axis=0, return_inverse=True)
    order = np.argsort(group.reshape(-1), kind="stable")
    starts = np.flatnonzero(np.diff(group.reshape(-1)[order], prepend=-1))
    low = np.minimum.reduceat(boxes[order, :2], starts)
    return np.hstack([low, np.maximum.reduceat(boxes[order, 2:], starts)])


def _solve(  # noqa: PLR0917 - the network, and what is solved on it
    site: ReturnSite,
    leaves: Leaves,
    levels: Sequence[GridLevel],
    terminals: Sequence[Terminal],
    flows: Sequence[ReturnFlow],
    pairs: Sequence[tuple[int, int]],
) -> _Solved:
    """Build the network and solve it for each flow, and for 1 A between each pair."""
    network = _network(site, leaves, levels, terminals)
    driven = [*((flow.entry, flow.exit, flow.current_a) for flow in flows), *((*pair, 1.0) for pair in pairs)]
    return _derived(site, network, flows, *_potentials(site, network, driven))


def _network(site: ReturnSite, leaves: Leaves, levels: Sequence[GridLevel], terminals: Sequence[Terminal]) -> _Network:
    """Return the copper of the net as resistors between nodes."""
    nodes = leaf_nodes(leaves, levels[0])
    builder = NetBuilder(site, leaves, levels[0], nodes)
    links = leaf_links(leaves, levels[: int(leaves.level.max()) + 1])
    builder.add_sheets(with_parts(links, leaves, nodes, levels[0]))
    at = builder.nodes(len(terminals))
    node_of_pad = {pad: int(at[k]) for k, terminal in enumerate(terminals) for pad in terminal.pads}
    holes = holes_of(site.board, site.net, site.copper.plating_mm)
    hole_node = builder.add_holes(holes, node_of_pad)
    pads, pad_nodes = (np.array(list(column), dtype=np.int64) for column in (node_of_pad, node_of_pad.values()))
    builder.tie_pads(pad_nodes, pads)
    builder.tie_holes(pad_nodes, pads, holes, hole_node)
    add_tracks(builder, holes, hole_node, node_of_pad)
    resistors = builder.resistors()
    label = joined_parts(resistors.first, resistors.second, builder.count)
    barrels = Barrels(site.board, holes, hole_node, resistors)
    return _Network(resistors, at, label, node_of_pad.keys(), barrels, nodes.leaf, len(leaves))


def _potentials(site: ReturnSite, network: _Network, driven: Sequence[tuple[int, int, float]]) -> tuple[Floats, int]:
    """Return the potentials for each current driven from a terminal to another, and the number of unknowns.

    Potentials in V, shape (nodes, driven); 0 in what no terminal is joined to, and where the two are not joined.

    Raises:
        RailNotSolvedError: the network has no solution.
    """
    at, label, count = network.at, network.label, len(network.label)
    # one terminal of each part that has any is at 0 V; parts without are left out
    anchors = {int(label[node]): int(node) for node in at[::-1].tolist()}
    free = np.isin(label, list(anchors))
    free[list(anchors.values())] = False
    unknowns = int(free.sum())
    row_of = np.full(count, -1, dtype=np.int64)
    row_of[free] = np.arange(unknowns)
    one, two, siemens = network.resistors.first, network.resistors.second, network.resistors.siemens[1]
    matrix = conductance_matrix(*conductance_entries(row_of[one], row_of[two], siemens), unknowns)
    try:
        factors = factorized(matrix)
    except RuntimeError as error:
        raise _unsolved(site, str(error)) from error
    right = np.zeros((unknowns, len(driven)))
    for column, (start, end, amperes) in enumerate(driven):
        entry, leave = int(at[start]), int(at[end])
        if label[entry] != label[leave]:
            continue
        for node, sign in ((entry, 1.0), (leave, -1.0)):
            if row_of[node] >= 0:
                right[row_of[node], column] += sign * amperes
    solved = np.zeros((count, len(driven)))
    solved[free] = factors.solve(right)
    lost_a = float(np.abs(matrix @ solved[free] - right).max(initial=0.0))
    if not lost_a <= MOST_LOST * float(np.abs(right).max(initial=0.0)):
        raise _unsolved(site, f"{lost_a:.2g} A are lost")
    return solved, unknowns


def _derived(
    site: ReturnSite, network: _Network, flows: Sequence[ReturnFlow], solved: Floats, unknowns: int
) -> _Solved:
    """Return what follows from the potentials of the flows, which come first, and of 1 A between each pair."""
    volts, unit = solved[:, : len(flows)], solved[:, len(flows) :]
    resistors, at = network.resistors, network.at
    one, two, siemens = resistors.first, resistors.second, resistors.siemens[1]
    parts = _parts_v(resistors, unit, volts, site.board.layer_count)
    whole = volts.sum(axis=1)
    watts = siemens * (whole[one] - whole[two]) ** 2
    leaf_loss = _leaf_loss(resistors, volts, network.leaf_of_node, network.leaves)
    barrel = resistors.kind == ReturnKind.BARREL
    flow_a = siemens[barrel, None] * (volts[one[barrel]] - volts[two[barrel]])
    rails = [flow.rail for flow in flows]
    holes = hole_currents(network.barrels, flow_a, rails, network.pads)
    tracks = track_currents(resistors, volts, rails)
    return _Solved(volts[at], network.label[at], resistors, watts, leaf_loss, parts, holes, tracks, unknowns)


def _unsolved(site: ReturnSite, why: str) -> RailNotSolvedError:
    where, name = str(site.board.path or "the board"), site.board.nets[site.net]
    return RailNotSolvedError(where, f"the copper of {name} cannot be solved ({why})", "report the board")


def _parts_v(net_of: Resistors, unit: Floats, volts: Floats, layers: int) -> Floats:
    """Return what of each pair's drop by each flow arises in each layer, and in all barrels as the last.

    That is the sum over the resistors of one's voltage, for 1 A between the pair, times the other's current (Tellegen).
    """
    one, two, siemens = net_of.first, net_of.second, net_of.siemens[1]
    group = np.where(net_of.kind == ReturnKind.BARREL, layers, net_of.layer)
    found = np.zeros((unit.shape[1], volts.shape[1], layers + 1))
    for number in distinct(group).tolist():
        rows = np.flatnonzero(group == number)
        across, through = (v[one[rows]] - v[two[rows]] for v in (unit, volts))
        found[:, :, number] = across.T @ (siemens[rows, None] * through)
    return found


def _leaf_loss(net_of: Resistors, volts: Floats, leaf_of: Ints, leaves: int) -> Floats:
    """Loss of each link given half to either of its leaves; the largest share over the flows."""
    sheet = net_of.kind == ReturnKind.SHEET
    one, two = net_of.first[sheet], net_of.second[sheet]
    largest = np.zeros(leaves)
    for column in volts.T:
        watts = net_of.siemens[1, sheet] * (column[one] - column[two]) ** 2
        total = float(watts.sum())
        if total > 0:
            shares = np.bincount(leaf_of[one], watts, leaves) + np.bincount(leaf_of[two], watts, leaves)
            np.maximum(largest, shares / (2 * total), out=largest)
    return largest


def _ends(pairs: Sequence[tuple[int, int]]) -> tuple[Ints, Ints]:
    one, two = (np.array([pair[side] for pair in pairs], dtype=np.int64) for side in (0, 1))
    return one, two


def _moved(fine: _Solved, rough: _Solved, pairs: Sequence[tuple[int, int]]) -> Floats:
    """By what share of itself the finer grid has changed each pair's drop, all flows together."""
    one, two = _ends(pairs)
    drop = fine.terminal_v[one] - fine.terminal_v[two]
    moved = np.abs(drop - rough.terminal_v[one] + rough.terminal_v[two]).sum(axis=1)
    return np.asarray(moved / np.maximum(np.abs(drop).sum(axis=1), 1e-15))


def _drops(
    board: Board, fine: _Solved, rough: _Solved, pairs: Sequence[tuple[int, int]], leaves: Leaves, *, unrefined: float
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
        holes=fine.holes,
        tracks=fine.tracks,
        nodes=fine.nodes,
        grid_mm=float(leaves.size_mm.min()),
    )


def _unsure(solved: _Solved) -> float:
    """By how much drops may be off by what links and tracks into fills leave open: loss times half the bounds."""
    sheet = np.isin(solved.resistors.kind, (ReturnKind.SHEET, ReturnKind.TRACK))
    least, _, most = solved.resistors.siemens[:, sheet]
    ratio = np.minimum(most / np.maximum(least, most / MOST_RATIO), MOST_RATIO)
    watts, total = solved.watts[sheet], float(solved.watts.sum())
    return float((watts * np.log(ratio)).sum()) / 2 / total if total > 0 else 0.0
