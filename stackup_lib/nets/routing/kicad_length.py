"""The length that KiCad states for a net: all of its tracks, the height of its vias, pad-to-die lengths. Lengths in mm.

KiCad's rule `length` counts every track of the net, branches too. Where tracks end at the centre
of a pad or via, their way inside it counts as straight. A via counts from the first to the last layer on which copper
joins it, outer layers to their outer face, inner ones to their middle, unless the project leaves heights out
(`use_height_for_length_calcs`). The pad-to-die length of every pad is added. Checked against KiCad 10.0.6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

import numpy as np

from stackup_lib.board.board import Board, PadKind
from stackup_lib.board.layer_masks import layers_of
from stackup_lib.core.record import record
from stackup_lib.vias.plated_holes import PlatedHole, plated_holes

HEIGHT_SWITCH = "use_height_for_length_calcs"
STEPS = 40
"""Halvings that find where a track leaves a pad: to far below a nanometre."""
_NM = 1e6

_End = tuple[int, int, int]
"""Layer, x and y in nanometres."""


@record
class KicadLength:
    """What KiCad adds up for a net."""

    tracks_mm: float
    vias_mm: float
    package_mm: float

    @property
    def total_mm(self) -> float:
        """What KiCad shows as the length of the net."""
        return self.tracks_mm + self.vias_mm + self.package_mm


def kicad_lengths(board: Board, nets: Sequence[int], heights_mm: Sequence[float]) -> dict[int, KicadLength]:
    """Return KiCad's length of some nets, by net; `heights_mm` is the depth of each copper layer below the top."""
    wanted = np.array(sorted(set(nets)), dtype=np.int64)
    climbs = dict.fromkeys(wanted.tolist(), 0.0)
    if board.project.limits.get(HEIGHT_SWITCH, True) is not False:
        for hole in plated_holes(board, wanted):
            climbs[hole.net] += _climb_mm(hole, heights_mm)
    return {
        net: KicadLength(
            _tracks_mm(board, net), climbs[net], float(board.pads.die_length_mm[board.pads.net == net].sum())
        )
        for net in wanted.tolist()
    }


def _climb_mm(hole: PlatedHole, heights_mm: Sequence[float]) -> float:
    return heights_mm[hole.routed[-1]] - heights_mm[hole.routed[0]] if hole.is_via and hole.routed else 0.0


def _tracks_mm(board: Board, net: int) -> float:
    tracks = board.tracks
    rows = np.flatnonzero(tracks.net == net).tolist()
    ends: dict[_End, list[tuple[int, complex]]] = {}
    for row in rows:
        first = complex(tracks.start_x_mm[row], tracks.start_y_mm[row])
        last = complex(tracks.end_x_mm[row], tracks.end_y_mm[row])
        ends.setdefault(_at(tracks.layer[row], first), []).append((row, last))
        ends.setdefault(_at(tracks.layer[row], last), []).append((row, first))
    saved = 0.0
    for centre, layers, inside in _lands(board, net):
        for layer in layers:
            if len(ends.get(_at(layer, centre), ())) == 1:
                saved += _saved_mm(board, ends, layer, centre, inside)
    return float(tracks.length_mm[rows].sum()) - saved


def _lands(board: Board, net: int) -> Iterator[tuple[complex, Iterable[int], Callable[[complex], bool]]]:
    """Yield centre, layers and shape of every pad and via of a net."""
    pads, vias = board.pads, board.vias
    for pad in np.flatnonzero((pads.net == net) & (pads.kind != PadKind.NON_PLATED)).tolist():
        yield complex(pads.x_mm[pad], pads.y_mm[pad]), layers_of(int(pads.layers[pad])), _in_pad(board, pad)
    for via in np.flatnonzero(vias.net == net).tolist():
        centre, radius = complex(vias.x_mm[via], vias.y_mm[via]), float(vias.size_mm[via]) / 2
        layers = range(int(vias.start_layer[via]), int(vias.end_layer[via]) + 1)
        yield centre, layers, partial(_in_disc, centre, radius)


def _in_disc(centre: complex, radius_mm: float, point: complex) -> bool:
    return abs(point - centre) <= radius_mm


def _at(layer: int, point: complex) -> _End:
    return int(layer), round(point.real * _NM), round(point.imag * _NM)


def _saved_mm(
    board: Board,
    ends: dict[_End, list[tuple[int, complex]]],
    layer: int,
    centre: complex,
    inside: Callable[[complex], bool],
) -> float:
    """Return by how much tracks that begin at the centre of a pad or via are longer inside it than the straight way."""
    here, walked, done = centre, 0.0, set[int]()
    while True:
        others = [(row, far) for row, far in ends[_at(layer, here)] if row not in done]
        if len(others) != 1 or not np.isnan(board.tracks.mid_x_mm[others[0][0]]):  # KiCad leaves arcs as they are
            break
        row, far = others[0]
        done.add(row)
        if not inside(far):
            leaves = _leaves(here, far, inside)
            walked, here = walked + abs(leaves - here), leaves
            break
        walked, here = walked + abs(far - here), far
    return walked - abs(here - centre)


def _leaves(inner: complex, outer: complex, inside: Callable[[complex], bool]) -> complex:
    for _ in range(STEPS):
        middle = (inner + outer) / 2
        inner, outer = (middle, outer) if inside(middle) else (inner, middle)
    return inner


def _in_pad(board: Board, pad: int) -> Callable[[complex], bool]:
    """Return what tells whether a point lies in a pad; a custom shape counts as its anchor."""
    pads = board.pads
    turn = np.exp(1j * np.radians(pads.rotation_deg[pad]))
    half = float(pads.size_x_mm[pad]) / 2, float(pads.size_y_mm[pad]) / 2
    if pads.shape[pad] == "circle":
        half = half[0], half[0]
    corner = float(pads.corner_mm[pad])
    radius = 0.0 if np.isnan(corner) else min(corner, *half)
    centre, shift = complex(pads.x_mm[pad], pads.y_mm[pad]), complex(pads.shift_x_mm[pad], pads.shift_y_mm[pad])

    def holds(point: complex) -> bool:
        own = complex((point - centre) * turn) - shift
        over = complex(max(abs(own.real) - half[0] + radius, 0.0), max(abs(own.imag) - half[1] + radius, 0.0))
        return abs(over) <= radius + 1 / _NM

    return holds
