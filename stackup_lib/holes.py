"""Plated holes as signal paths: which layers use them, what barrel is left over, what a backdrill takes away."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stackup_lib.board import NO_LAYER, Board, Drilling, Ints, LayerKind, PadKind, Stackup


@dataclass(frozen=True)
class Backdrill:
    """One controlled-depth drill: enters at an outer layer, passes every layer up to and including `must_cut`."""

    start: int
    must_cut: int
    size_mm: float | None = None


@dataclass(frozen=True)
class PlatedHole:
    """A via or plated pad of one net.

    Attributes:
        top, bottom: first and last copper layer of the barrel.
        used: layers with a track, pad or fill of the net on the hole; ascending.
    """

    net: int
    x_mm: float
    y_mm: float
    uuid: str
    is_via: bool
    top: int
    bottom: int
    drill_mm: float
    used: tuple[int, ...]
    backdrills: tuple[Backdrill, ...]


@dataclass(frozen=True)
class Stub:
    """Barrel beyond the last used layer, on one side of a hole, before any backdrill.

    Attributes:
        side: outer layer at which the stub ends, and from which it would be drilled away.
        first: last used layer: the stub begins behind it.
    """

    hole: PlatedHole
    side: int
    first: int
    length_mm: float


def copper_heights_mm(stackup: Stackup) -> tuple[float, ...]:
    """Return the depth of each copper layer below the board's top, in mm; rows without a thickness count 0.

    Inner layers count at their middle, the outer ones at their outer face: there the barrel of a hole ends.
    """
    heights, depth = [], 0.0
    for row in stackup.layers:
        thickness = row.thickness_mm or 0.0
        if row.kind is LayerKind.COPPER:
            heights.append(depth + thickness / 2)
        if row.kind is LayerKind.COPPER or row.is_dielectric:
            depth += thickness
    return (0.0, *heights[1:-1], depth) if len(heights) > 1 else tuple(heights)


def plated_holes(board: Board, nets: Ints) -> tuple[PlatedHole, ...]:
    """Return the vias and plated through pads on the given nets, in file order, vias first."""
    found: list[PlatedHole] = []
    for net in nets.tolist():
        touching = _Copper(board, net)
        for index in np.flatnonzero(board.vias.net == net).tolist():
            found.append(_via(board, index, touching))
        plated = (board.pads.net == net) & (board.pads.kind == PadKind.THROUGH)
        for index in np.flatnonzero(plated).tolist():
            found.append(_pad(board, index, touching))
    return tuple(found)


def stubs(holes: tuple[PlatedHole, ...], heights_mm: tuple[float, ...]) -> tuple[Stub, ...]:
    """Return the unused barrel at both ends of every hole that something uses."""
    found = []
    for hole in holes:
        if not hole.used or hole.bottom >= len(heights_mm):
            continue
        for side, first in ((hole.top, hole.used[0]), (hole.bottom, hole.used[-1])):
            length = abs(heights_mm[side] - heights_mm[first])
            if length > 0:
                found.append(Stub(hole, side, first, length))
    return tuple(found)


SHORTEST_MM = 1e-6
"""KiCad's resolution: keeps the direction of a track without length defined."""


class _Copper:
    """Copper of one net, to ask which layers a hole touches."""

    def __init__(self, board: Board, net: int) -> None:
        tracks, pads, zones = board.tracks, board.pads, board.zones
        mine = tracks.net == net
        self.x, self.y = tracks.start_x_mm[mine], tracks.start_y_mm[mine]
        self.dx, self.dy = tracks.end_x_mm[mine] - self.x, tracks.end_y_mm[mine] - self.y
        self.layer = tracks.layer[mine]
        smd = (pads.net == net) & (pads.kind != PadKind.THROUGH)
        self.pad_x, self.pad_y = pads.x_mm[smd], pads.y_mm[smd]
        self.pad_reach = np.hypot(pads.size_x_mm[smd], pads.size_y_mm[smd]) / 2
        self.pad_layers = pads.layers[smd]
        fills = zones.net[zones.fill_zone] == net if len(zones.fill_zone) else np.zeros(0, dtype=bool)
        self.filled = set(zones.fill_layer[fills].tolist())

    def layers_at(self, x_mm: float, y_mm: float, reach_mm: float) -> set[int]:
        """Layers with a track (an arc counts as its chord) or SMD pad of the net within reach, or any fill of it."""
        length2 = np.maximum(self.dx**2 + self.dy**2, SHORTEST_MM**2)
        along = np.clip(((x_mm - self.x) * self.dx + (y_mm - self.y) * self.dy) / length2, 0.0, 1.0)
        near = np.hypot(self.x + along * self.dx - x_mm, self.y + along * self.dy - y_mm) <= reach_mm
        layers = set(self.layer[near].tolist()) | self.filled
        on_pad = np.hypot(self.pad_x - x_mm, self.pad_y - y_mm) <= np.maximum(self.pad_reach, reach_mm)
        for mask in self.pad_layers[on_pad].tolist():
            layers |= {bit for bit in range(64) if int(mask) >> bit & 1}
        return layers


def _via(board: Board, index: int, copper: _Copper) -> PlatedHole:
    vias = board.vias
    top, bottom = int(vias.start_layer[index]), int(vias.end_layer[index])
    x, y = float(vias.x_mm[index]), float(vias.y_mm[index])
    touched = copper.layers_at(x, y, float(vias.size_mm[index]) / 2)
    return PlatedHole(
        net=int(vias.net[index]),
        x_mm=x,
        y_mm=y,
        uuid=str(vias.uuid[index]),
        is_via=True,
        top=top,
        bottom=bottom,
        drill_mm=float(vias.drill_mm[index]),
        used=tuple(sorted(layer for layer in touched if top <= layer <= bottom)),
        backdrills=_backdrills(vias.drilling, index),
    )


def _pad(board: Board, index: int, copper: _Copper) -> PlatedHole:
    pads = board.pads
    bottom = board.layer_count - 1
    x, y = float(pads.x_mm[index]), float(pads.y_mm[index])
    reach = float(max(pads.size_x_mm[index], pads.size_y_mm[index])) / 2
    component_side = bottom if board.footprints.back[pads.footprint[index]] else 0
    touched = copper.layers_at(x, y, reach) | {component_side}
    return PlatedHole(
        net=int(pads.net[index]),
        x_mm=x,
        y_mm=y,
        uuid=str(pads.uuid[index]),
        is_via=False,
        top=0,
        bottom=bottom,
        drill_mm=float(pads.drill_x_mm[index]),
        used=tuple(sorted(layer for layer in touched if layer <= bottom)),
        backdrills=_backdrills(pads.drilling, index),
    )


def _backdrills(drilling: Drilling, index: int) -> tuple[Backdrill, ...]:
    columns = (
        (drilling.backdrill_start, drilling.backdrill_must_cut, drilling.backdrill_size_mm),
        (drilling.tertiary_start, drilling.tertiary_must_cut, drilling.tertiary_size_mm),
    )
    return tuple(
        Backdrill(int(start[index]), int(cut[index]), float(size[index]))
        for start, cut, size in columns
        if start[index] != NO_LAYER
    )
