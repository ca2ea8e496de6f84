"""Which generation a memory bus is of, by the memories on it, where no name tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from drc_rules.requirements.interfaces.generations import spelled_generation
from drc_rules.requirements.parts import known_part
from stackup_lib.board.board import Board
from stackup_lib.nets.links import Links

Told = tuple[str, str]
"""Id of an interface, and the value or the footprint that tells it."""


def generation_by_memory(board: Board, links: Links, nets: Sequence[int]) -> Mapping[int, Told]:
    """Return net -> the generation that every memory on it and on its series parts tells; absent where they differ."""
    joined_to = {
        net: {net, *(one for row in links.rows_of_net.get(net, ()) for one in links.chains[row])} for net in nets
    }
    pads = np.flatnonzero(np.isin(board.pads.net, [*set().union(*joined_to.values())]))
    of_net: dict[int, set[Told]] = {}
    for net, part in zip(board.pads.net[pads].tolist(), board.pads.footprint[pads].tolist(), strict=True):
        told = _told(str(board.footprints.library_id[part]), str(board.footprints.value[part]))
        if told is not None:
            of_net.setdefault(net, set()).add(told)
    found: dict[int, Told] = {}
    for net, joined in joined_to.items():
        told_here = set[Told]().union(*(of_net.get(one, ()) for one in joined))
        if len({interface for interface, _ in told_here}) == 1:
            found[net] = min(told_here)
    return found


@lru_cache(maxsize=4096)
def _told(library_id: str, value: str) -> Told | None:
    part = known_part(library_id, value)
    if part is None or not part.generations:
        return None
    for text in (value, library_id.rpartition(":")[2]):
        if one := part.generation_of(text) or spelled_generation(part.pins[0].family, text):
            return one, text
    return None
