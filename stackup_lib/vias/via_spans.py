"""Via spans as a lattice: which packages of layers are pressed and drilled one after another, and which never can be.

A hole that a drill makes goes through a whole package: the layers that are pressed together at that time. So the spans
of drilled holes are packages, and any two packages lie one inside the other or share no layer. A laser, and a drill
that stops at a depth, make blind holes from a package's outer face: such a span needs no package of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import combinations

import numpy as np

from stackup_lib.board.board import Board, Flags, LayerKind, Stackup, ViaKind
from stackup_lib.core.record import record
from stackup_lib.vias.plated_holes import copper_faces_mm

LASER_MM = 0.15
"""Blind holes over one dielectric that are no wider are made by laser: microvias are usually 0.10 to 0.15 mm (ILFA)."""

LASER_DEPTH = 2
"""Dielectrics that a laser goes through: the next one, or two for a skip via."""

ROUNDING_MM = 1e-3
"""Diameters in inches and in millimetres agree to a micrometre."""

CONTROLLED_DEPTH_RATIO = 1.0
"""Depth over diameter of a blind hole that a drill makes to a depth (network PCB: 1:1 standard, advanced)."""

PLATING_MM = 0.1
"""Maximum drill oversize over the finished hole, which is the milder reading here."""

SPREAD = 2.0
"""How far the depth of a span may be off where no stackup tells it: layers are never spaced evenly."""

Layers = tuple[int, int]
"""First and last copper layer of a hole or a package, counted from the top."""


@record
class Span:
    """All vias between the same two layers that are made in the same way.

    Attributes:
        drill_mm: the narrowest finished diameter.
        count: vias.
    """

    top: int
    bottom: int
    is_laser: bool
    drill_mm: float
    count: int

    @property
    def layers(self) -> Layers:
        """First and last copper layer."""
        return self.top, self.bottom


def lasered(board: Board) -> Flags:
    """Tell which vias a laser makes: KiCad's microvias over two dielectrics at most, and fine blind ones to the next.

    What the file calls blind and is wider than a laser's hole is drilled, over one dielectric as over several.
    """
    vias, last = board.vias, board.layer_count - 1
    deep = vias.end_layer - vias.start_layer
    is_outer = (vias.start_layer == 0) | (vias.end_layer == last)
    is_fine = (vias.kind == ViaKind.BLIND) & (deep == 1) & is_outer & (vias.drill_mm <= LASER_MM + ROUNDING_MM)
    return np.asarray(is_fine | ((vias.kind == ViaKind.MICRO) & (deep <= LASER_DEPTH)))


def spans(board: Board) -> tuple[Span, ...]:
    """Return every span of the board's vias, from the top down; through vias are left out."""
    vias, last = board.vias, board.layer_count - 1
    rows = np.flatnonzero((vias.start_layer > 0) | (vias.end_layer < last))
    if not len(rows):
        return ()
    columns = np.column_stack([vias.start_layer[rows], vias.end_layer[rows], lasered(board)[rows]]).astype(np.int64)
    unique, inverse = np.unique(columns, axis=0, return_inverse=True)
    inverse = inverse.ravel()
    narrowest = np.full(len(unique), np.inf)
    np.minimum.at(narrowest, inverse, vias.drill_mm[rows])
    counts = np.bincount(inverse, minlength=len(unique)).tolist()
    return tuple(
        Span(top, bottom, bool(laser), drill, count)
        for (top, bottom, laser), drill, count in zip(unique.tolist(), narrowest.tolist(), counts, strict=True)
    )


def depth_mm(board: Board, span: Layers, stackup: Stackup | None) -> tuple[float, float] | None:
    """Return minimum and maximum depth of a span: equal where a stackup states it, else from the board's thickness."""
    faces = copper_faces_mm(stackup) if stackup else ()
    if len(faces) == board.layer_count:
        depth = faces[span[1]][1] - faces[span[0]][0]
        return depth, depth
    if board.thickness_mm is None:
        return None
    depth = board.thickness_mm * (span[1] - span[0]) / (board.layer_count - 1)
    return depth / SPREAD, depth * SPREAD


def cores_beyond(stackup: Stackup, span: Span) -> tuple[str, str]:
    """Return the cores that the copper of a span's first and last layer lies on, outside of it; empty where none is.

    A row of unlike sheets counts as none: it may be a bare core and the prepreg that bonds it.
    """
    cores, copper = {}, -1
    for row in stackup.layers:
        copper += row.kind is LayerKind.COPPER
        if row.kind is LayerKind.CORE and not row.has_unlike_plies:
            cores[copper] = row.name
    return cores.get(span.top - 1, ""), cores.get(span.bottom, "")


def cross(one: Layers, other: Layers) -> bool:
    """Tell whether two spans share layers and neither lies inside the other: no press makes packages of both."""
    (a, b), (c, d) = sorted((one, other))
    return a < c <= b < d


def crossing(drilled: Iterable[Layers]) -> tuple[tuple[Layers, Layers], ...]:
    """Return the pairs of drilled spans that cross."""
    return tuple(pair for pair in combinations(sorted(set(drilled)), 2) if cross(*pair))


def locked_in(blind: Layers, drilled: Iterable[Layers]) -> tuple[Layers, Layers] | None:
    """Return the two packages that close both faces of a blind hole, None where either face is open to its tool.

    A hole from the last layer of one package into the first of the next has no face to be drilled from: the first
    package hides one end, the second the other.
    """
    (a, b), packages = blind, sorted(set(drilled))
    above = next((p for p in packages if p[0] < a <= p[1] < b), None)
    below = next((p for p in packages if a < p[0] <= b < p[1]), None)
    return (above, below) if above and below else None


def cycles_of_spans(layer_count: int, drilled: Collection[Layers], blind: Collection[Layers]) -> int | None:
    """Return the minimum number of lamination cycles, as boards are usually built up; None where spans cross.

    Each package is pressed after those inside it, and each level of microvias is pressed onto the core below it; a
    pair of layers is a core, which the maker of laminates has pressed. A board of two layers counts as one press.

    Args:
        layer_count: copper layers.
        drilled: spans that are drilled through their package.
        blind: spans that are made from a package's face: by laser.
    """
    whole = (0, layer_count - 1)
    packages = {whole, *drilled}
    if crossing(packages) or any(locked_in(span, drilled) for span in blind):
        return None
    own: dict[Layers, list[Layers]] = {package: [] for package in packages}
    for span in blind:
        own[_package_of(span, packages)].append(span)
    found: dict[Layers, int] = {}
    for package in sorted(packages, key=lambda p: p[1] - p[0]):
        inside = [other for other in found if package[0] <= other[0] and other[1] <= package[1]]
        found[package] = _cycles_of(package, own[package], {other: found[other] for other in inside})
    return max(found[whole], 1)


def _package_of(span: Layers, packages: Collection[Layers]) -> Layers:
    """Return the package from which a blind hole is made: the largest whose face it begins at, else the smallest."""
    around = [p for p in packages if p[0] <= span[0] and span[1] <= p[1]]
    at_face = [p for p in around if p[0] == span[0] or p[1] == span[1]]
    return max(at_face, key=_height) if at_face else min(around, key=_height)


def _height(package: Layers) -> int:
    return package[1] - package[0]


def _cycles_of(package: Layers, blind: Iterable[Layers], inside: dict[Layers, int]) -> int:
    top, bottom = package
    if bottom - top < LASER_DEPTH:
        return 0  # two layers are a core
    above, below = _built_up(package, blind)
    levels, deepest = max(above[0], below[0]), max(inside.values(), default=0)
    found = [deepest + max(levels, 1)]  # what is inside reaches into the build-ups, or there are none
    equal = max(above[1], below[1])
    for core in ((top + above[1], bottom - below[1]), (top + equal, bottom - equal)):
        if levels and core[0] < core[1] and all(core[0] <= a and b <= core[1] for a, b in inside):
            is_pressed = core in inside or core[1] - core[0] < LASER_DEPTH
            found.append(levels + (deepest if is_pressed else deepest + 1))
    return found[0] if len(found) == 1 else min(found[1:])


def _built_up(package: Layers, blind: Iterable[Layers]) -> tuple[Layers, Layers]:
    """Return lamination cycles and layers of the build-ups above and below; a hole through the middle is the core's."""
    top, bottom = package
    above = [(a - top + 1, b - top) for a, b in blind if a + b < top + bottom]
    below = [(bottom - b + 1, bottom - a) for a, b in blind if a + b > top + bottom]
    return _most(above), _most(below)


def _most(levels: Iterable[Layers]) -> Layers:
    listed = list(levels)
    return max((one for one, _ in listed), default=0), max((two for _, two in listed), default=0)


def min_lamination_cycles(board: Board) -> int | None:
    """Return the minimum number of lamination cycles for a board's vias, None where their spans cross."""
    found = spans(board)
    drilled = {s.layers for s in found if not s.is_laser}
    crossed = {layers for pair in crossing(drilled) for layers in pair}
    shallow = {s.layers for s in found if s.layers in crossed and is_shallow(board, s, board.stackup)}
    return cycles_of_spans(board.layer_count, drilled - shallow, shallow | {s.layers for s in found if s.is_laser})


def is_shallow(board: Board, span: Span, stackup: Stackup | None) -> bool | None:
    """Tell whether a drill makes a span's narrowest hole to a depth from outside; None where nothing tells."""
    depth = depth_mm(board, span.layers, stackup)
    if depth is None:
        return None
    least, most = (d / (span.drill_mm + PLATING_MM) for d in depth)
    if most <= CONTROLLED_DEPTH_RATIO:
        return True
    return False if least > CONTROLLED_DEPTH_RATIO else None


def impossible(found: Collection[Span]) -> Iterator[tuple[Span, Span]]:
    """Yield the pairs of spans that no lamination sequence makes if every drilled hole goes through its package."""
    drilled = [span for span in found if not span.is_laser]
    yield from (pair for pair in combinations(drilled, 2) if cross(pair[0].layers, pair[1].layers))
    by_layers = {span.layers: span for span in drilled}
    for span in found:
        if span.is_laser and (locks := locked_in(span.layers, by_layers)):
            yield by_layers[locks[0]], span
