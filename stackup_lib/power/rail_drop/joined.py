"""Which terminals of a net its copper joins, looked at shape by shape: no currents, no triangles."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stackup_lib.board.board import Board
from stackup_lib.power.network import joined_parts
from stackup_lib.power.rail_drop.mesh import Indices
from stackup_lib.power.rail_drop.rail import RailPlan
from stackup_lib.power.rail_drop.rail_models import BoardCopper, Terminal

TOUCHING_MM = 1e-6
"""Copper and contacts nearer than KiCad's grid touch."""


def joined_groups(board: Board, net: str, copper: BoardCopper, terminals: Sequence[Terminal]) -> Indices:
    """Return a number for each terminal of a net; those with the same number are joined by copper.

    Raises:
        RailNotSolvedError: fills are missing or stale.
    """
    import shapely  # noqa: PLC0415 - heavy, and only a rail that seems to be broken needs it

    plan = RailPlan.of(board, board.net_index[net], copper, terminals)
    nodes = 1 + max([len(terminals), *(contact.node for contact in plan.contacts)])
    first = [np.array([barrel.first for barrel in plan.barrels], dtype=np.int64)]
    second = [np.array([barrel.second for barrel in plan.barrels], dtype=np.int64)]
    for number, sheet in enumerate(plan.sheets):
        mine = [contact for contact in plan.contacts if contact.sheet == number]
        parts = shapely.get_parts(sheet.area)
        if not mine:
            continue
        regions = np.array([contact.area for contact in mine], dtype=object)
        contact, part = shapely.STRtree(parts).query(regions, predicate="dwithin", distance=TOUCHING_MM)
        first.append(np.array([one.node for one in mine], dtype=np.int64)[contact])
        second.append(nodes + part)
        nodes += len(parts)
    return joined_parts(np.concatenate(first), np.concatenate(second), nodes)[: len(terminals)]
