"""A network of resistors as equations: their matrix, its factors, and which nodes hang together.

Both solvers of direct current use it: the finite elements of supply rails and the grid of ground returns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from stackup_lib.board.board import Floats, Ints

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix
    from scipy.sparse.linalg import SuperLU


def joined_parts(first: Ints, second: Ints, count: int) -> Ints:
    """Return a number for each of `count` nodes; those with the same number are joined by links."""
    from scipy.sparse import coo_matrix  # noqa: PLC0415 - heavy, and only a board with declared rails needs it
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    graph = coo_matrix((np.ones(len(first)), (first, second)), shape=(count, count))
    _, label = connected_components(graph, directed=False)
    return np.asarray(label, dtype=np.int64)


def conductance_entries(a: Ints, b: Ints, siemens: Floats) -> tuple[Ints, Ints, Floats]:
    """Return rows, columns and values that resistors add to a matrix of conductances; a row of -1 is a node at 0 V."""
    rows, columns = np.concatenate([a, b, a, b]), np.concatenate([a, b, b, a])
    return rows, columns, np.concatenate([siemens, siemens, -siemens, -siemens])


def conductance_matrix(rows: Ints, columns: Ints, values: NDArray[np.float64], size: int) -> csc_matrix:
    """Return the sum of entries as a sparse matrix, without those of nodes at 0 V."""
    from scipy.sparse import csc_matrix  # noqa: PLC0415

    kept = (rows >= 0) & (columns >= 0)
    return csc_matrix((values[kept], (rows[kept], columns[kept])), shape=(size, size))


def factorized(matrix: csc_matrix) -> SuperLU:
    """Return the factors of a symmetric, positive definite matrix; raises `RuntimeError` where it is singular."""
    from scipy.sparse.linalg import splu  # noqa: PLC0415

    return splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
