"""What the pieces of a route are as lines: layer, width, gap and planes, each with its length."""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.lines.board_lines import lines_with_fills
from drc_rules.analysis.lines.broadside_pairs import is_broadside
from drc_rules.analysis.lines.routed import NearFill, RoutedLine, joined
from drc_rules.analysis.lines.solved_lines import LineKey
from drc_rules.facts.context import Context
from stackup_lib.nets.routing.routes import RouteSegment

RARE = 0.05
"""Geometries with a smaller share of a link than this count as the layer's usual one: breakouts and bends."""


def not_modelled(ctx: Context, nets: tuple[int, ...]) -> Iterator[str]:
    """Yield what is next to a link's traces and not as it is in the lines of `LinkGeometry`."""
    lines = lines_with_fills(ctx, nets)
    total_mm = sum(line.length_mm for line in lines)
    fills: dict[int, list[NearFill]] = {}
    for line in lines:
        if line.near_fill is not None and not line.near_fill.is_even and line.length_mm >= RARE * total_mm:
            fills.setdefault(line.layer, []).append(line.near_fill)
    for layer, some in sorted(fills.items()):
        yield f"{joined(some)} on {ctx.board.copper_layers[layer].name}: the middle of nearest and farthest is taken"
    if any(is_broadside(ctx, line, net) for line in lines for net in line.nets):
        yield "its traces run broadside on two layers: their coupling is not in the model"


class LinkGeometry:
    """In which gaps and between which planes a link's pieces run; `notes` tell what was assumed."""

    def __init__(self, ctx: Context, nets: tuple[int, ...]) -> None:
        self.names = [layer.name for layer in ctx.board.copper_layers]
        self.lines = lines_with_fills(ctx, nets)
        self.total_mm = sum(line.length_mm for line in self.lines)
        self.notes: list[str] = []
        self._known: dict[tuple[int, float], list[tuple[LineKey, float]]] = {}

    def spread(self, piece: RouteSegment) -> Iterator[tuple[LineKey, float]]:
        """Yield the lines of a piece of the path, each with its length."""
        for key, share in self._alike(piece.layer, round(piece.width_mm, 4)):
            yield key, piece.length_mm * share

    def _alike(self, layer: int, width: float) -> list[tuple[LineKey, float]]:
        """Return the lines that a piece of the path on a layer may be, each with its share of their length."""
        if (layer, width) not in self._known:
            lines = [line for line in self.lines if (line.layer, line.width_mm) == (layer, width)]
            total = sum(line.length_mm for line in lines)
            shares = [(self._key(layer, width, line), line.length_mm / total) for line in lines] if total else []
            self._known[layer, width] = shares or [(self._key(layer, width, None), 1.0)]
        return self._known[layer, width]

    def _key(self, layer: int, width: float, line: RoutedLine | None) -> LineKey:
        if line is None or line.references == (None, None) or line.length_mm < RARE * self.total_mm:
            usual = self._usual(layer)
            if usual is not None:
                near = abs(usual.width_mm - width) < 1e-6 or line is None or line.length_mm < RARE * self.total_mm
                return _key_of(usual, usual.width_mm if near else width)
            self.notes.append(f"no copper above or below it on {self.names[layer]}: counted as over the nearest plane")
            return LineKey(layer, width, line.gap_mm if line else None)
        return _key_of(line, width)

    def _usual(self, layer: int) -> RoutedLine | None:
        """Return in what most of the link runs on a layer, over copper."""
        return next((line for line in self.lines if line.layer == layer and line.references != (None, None)), None)


def _key_of(line: RoutedLine, width_mm: float) -> LineKey:
    """Return the cross section of a line, of this width."""
    return LineKey(line.layer, width_mm, line.gap_mm, line.references, line.near_fill)
