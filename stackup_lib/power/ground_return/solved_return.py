"""The copper of a return net as a network of resistors, solved for every current at once."""

from collections.abc import KeysView, Sequence

import numpy as np

from stackup_lib.board.board import Floats, Ints
from stackup_lib.core.arrays import distinct
from stackup_lib.core.frozen import Frozen
from stackup_lib.core.record import entity
from stackup_lib.power.ground_return.leaf_parts import leaf_nodes, with_parts
from stackup_lib.power.ground_return.leaves import Leaves, leaf_links
from stackup_lib.power.ground_return.link_grid import GridLevel
from stackup_lib.power.ground_return.return_holes import Barrels
from stackup_lib.power.ground_return.return_net import NetBuilder, Resistors, ReturnKind, ReturnSite, holes_of
from stackup_lib.power.ground_return.return_tracks import add_tracks
from stackup_lib.power.network import conductance_entries, conductance_matrix, factorized, joined_parts
from stackup_lib.power.rail_drop.net_copper import RailNotSolvedError
from stackup_lib.power.rail_drop.rail_models import Terminal

MOST_LOST = 1e-3
"""Share of the largest current that rounding may lose at a node."""


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
class SolvedReturn:
    """Potentials and parts of the copper, shapes (terminals, flows) and (terminals); loss in each resistor.

    `volts` are those of all nodes, shape (nodes, flows); `barrels` its plated holes, `ends` rows of terminals' pads.
    `leaf_loss` is the largest share, over the flows, of a flow's loss in each leaf on all layers. `parts_v` is that of
    `ReturnDrops`.
    """

    terminal_v: Floats
    terminal_label: Ints
    resistors: Resistors
    watts: Floats
    leaf_loss: Floats
    parts_v: Floats
    volts: Floats
    barrels: Barrels
    ends: KeysView[int]
    nodes: int


def solved_return(  # noqa: PLR0917 - the network, and what is solved on it
    site: ReturnSite,
    leaves: Leaves,
    levels: Sequence[GridLevel],
    terminals: Sequence[Terminal],
    flows: Sequence[ReturnFlow],
    pairs: Sequence[tuple[int, int]],
) -> SolvedReturn:
    """Return the network, solved for each flow and for 1 A between each pair; raises `RailNotSolvedError`."""
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
) -> SolvedReturn:
    """Return what follows from the potentials of the flows, which come first, and of 1 A between each pair."""
    volts, unit = solved[:, : len(flows)], solved[:, len(flows) :]
    resistors, at = network.resistors, network.at
    one, two, siemens = resistors.first, resistors.second, resistors.siemens[1]
    parts = _parts_v(resistors, unit, volts, site.board.layer_count)
    whole = volts.sum(axis=1)
    watts = siemens * (whole[one] - whole[two]) ** 2
    leaf_loss = _leaf_loss(resistors, volts, network.leaf_of_node, network.leaves)
    ends, label = (network.barrels, network.pads), network.label[at]
    return SolvedReturn(volts[at], label, resistors, watts, leaf_loss, parts, volts, *ends, unknowns)


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
