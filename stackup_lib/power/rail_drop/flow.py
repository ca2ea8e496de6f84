"""Following a solved current: the way it takes to a load."""

from __future__ import annotations

import numpy as np

from stackup_lib.core.record import record
from stackup_lib.power.rail_drop.mesh import Indices, Reals
from stackup_lib.power.rail_drop.sheets import SheetSolution

LEAST_SHARE = 1e-9
"""Currents below this share of the largest count as this share: the way may cross copper where nothing flows."""


@record
class Step:
    """A point on the way: `node` is -1 inside a sheet, `sheet` is -1 at a node."""

    node: int
    sheet: int
    x_mm: float
    y_mm: float
    volts: float


class Ways:
    """From every unknown of the continuous form, the next one on the way that most current takes from the source.

    The way is the one with the least sum of 1/current over the mesh's edges and the barrels.
    """

    def __init__(self, solution: SheetSolution) -> None:
        from scipy.sparse import csr_matrix  # noqa: PLC0415 - heavy, and only a board with declared rails needs it
        from scipy.sparse.csgraph import dijkstra  # noqa: PLC0415

        assembly, volts = solution.assembly, solution.volts
        form = assembly.continuous
        corners = [(0, 1), (1, 2), (2, 0)]
        one = np.concatenate([*(form.unknowns[:, i] for i, _ in corners), assembly.links.first])
        two = np.concatenate([*(form.unknowns[:, j] for _, j in corners), assembly.links.second])
        siemens = np.concatenate([*(-form.stiffness[:, i, j] for i, j in corners), assembly.links.siemens])
        low, high = np.minimum(one, two), np.maximum(one, two)
        keys, inverse = np.unique(low * form.count + high, return_inverse=True)
        low, high = keys // form.count, keys % form.count
        amperes = np.abs(np.bincount(inverse, siemens, len(keys)) * (volts[low] - volts[high]))
        cost = 1 / np.maximum(amperes, LEAST_SHARE * amperes.max())
        graph = csr_matrix((cost, (low, high)), shape=(form.count, form.count))
        _, self.upstream = dijkstra(graph, directed=False, indices=solution.source, return_predecessors=True)
        self.solution = solution
        self._sheet_of, self._places = _places(solution)

    def to(self, node: int) -> tuple[Step, ...]:
        """Return the way of the strongest current to a node, back along the mesh: from the node to the source."""
        solution = self.solution
        at, steps = int(solution.node_of[node]), []
        while at >= 0:
            is_node = at < solution.assembly.node_count
            x, y = self._places[at].tolist()
            sheet = -1 if is_node else int(self._sheet_of[at])
            steps.append(Step(at if is_node else -1, sheet, x, y, float(solution.volts[at])))
            at = int(self.upstream[at])
        return tuple(steps)


def _places(solution: SheetSolution) -> tuple[Indices, Reals]:
    """Sheet and place of each unknown of the continuous form; NaN for nodes."""
    assembly = solution.assembly
    form = assembly.continuous
    sheet_of = np.full(form.count, -1, dtype=np.int64)
    places = np.full((form.count, 2), np.nan)
    sheet_of[form.unknowns] = assembly.sheet_of[:, None]
    places[form.unknowns] = assembly.corners_mm
    sheet_of[: assembly.node_count] = -1
    places[: assembly.node_count] = np.nan
    return sheet_of, places
