"""Rails in series: what a fuse, bead or shunt leads on is one current, and returns once though two rails declare it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from drc_rules.analysis.power.rail_inputs import part_pads
from drc_rules.settings.config_power import RailDeclaration
from stackup_lib.board.board import Board
from stackup_lib.board.layer_roles import is_ground
from stackup_lib.core.record import record

SAME_A = 0.99
"""From this share of a current on that of the rail behind the part is the same: declarations are rounded."""


@record
class SeriesChains:
    """Rails by number; `behind`: the rails that a load of a rail, by both, leads its current on to.

    `owner` is the rail of each flow.
    """

    behind: Mapping[tuple[int, str], tuple[int, ...]]
    owner: Sequence[int]

    @classmethod
    def of(
        cls, board: Board, rows: Mapping[int, RailDeclaration], currents_a: Sequence[float], owner: Sequence[int]
    ) -> SeriesChains:
        """Return the chains of some rails; the currents are those of their flows, load by load."""
        total = {number: sum(a for a, of in zip(currents_a, owner, strict=True) if of == number) for number in rows}
        behind: dict[tuple[int, str], tuple[int, ...]] = {}
        names = [(number, name) for number, row in rows.items() for name in row.to]
        for (number, name), current in zip(names, currents_a, strict=True):
            part = name.partition(".")[0]
            fed = tuple(
                other
                for other, row in rows.items()
                if row.net != rows[number].net and part in {one.partition(".")[0] for one in row.from_}
            )
            if fed and not _has_ground(board, part) and max(total[one] for one in fed) >= SAME_A * current:
                behind[number, name] = fed
        return cls(behind, owner)

    def counted_elsewhere(self, rail: int, names: Sequence[str]) -> Collection[int]:
        """Return the flows that add nothing to a rail: its own one part further, and what rails behind have too."""
        further, todo = set[int](), [rail]
        while todo:
            at = todo.pop()
            new = {one for (number, _), fed in self.behind.items() if number == at for one in fed} - further - {rail}
            further |= new
            todo += new
        flows = enumerate(zip(self.owner, names, strict=True))
        return {k for k, flow in flows if flow[0] != rail and (flow[0] in further or flow in self.behind)}


def _has_ground(board: Board, part: str) -> bool:
    nets = np.unique(board.pads.net[part_pads(board, part)]).tolist()
    return any(is_ground(board.nets[net]) for net in nets)
