"""The board from above, small enough for a page: outline, parts, pads, planes, high-speed nets, and findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

import numpy as np

from drc_rules.facts.context import Context
from drc_rules.report.findings import Finding
from drc_rules.requirements.interfaces import families, interface
from stackup_lib.board.board import Board, Ints
from stackup_lib.core.arrays import distinct
from stackup_lib.core.record import record
from stackwright.drawing.board_view.objects import Finder, ViewObjects
from stackwright.drawing.board_view.parts import ViewPart, parts
from stackwright.drawing.board_view.planes import ViewPlanes, planes
from stackwright.drawing.board_view.shapes import UNITS_PER_MM, Steps, ViewShapes, boxes, discs, lines, steps, units

MOST_TRACKS = 30_000
"""Segments drawn; of a board with more, the shortest are left out, and the page says so."""


@record
class NetTracks:
    """Tracks of one layer and width that belong to one interface; `title` is empty for nets that only findings name."""

    title: str
    layer: int
    width: int
    ends: Steps


@record
class BoardMap:
    """What is drawn; every number in units of 10 um, in KiCad's axes.

    Attributes:
        left, top, width, height: of the drawing.
        outline: polylines of Edge.Cuts.
        layers: names of the copper layers, top to bottom.
        holes: vias of the drawn nets.
        pads: pads of all parts.
        objects: by key of the finding.
        left_out: segments that are not drawn.
    """

    left: int
    top: int
    width: int
    height: int
    outline: tuple[Steps, ...]
    layers: tuple[str, ...]
    tracks: tuple[NetTracks, ...]
    holes: ViewShapes
    pads: ViewShapes
    parts: tuple[ViewPart, ...]
    planes: ViewPlanes
    objects: Mapping[str, ViewObjects] = field(default_factory=dict)
    left_out: int = 0

    @property
    def outline_path(self) -> str:
        """The outline as a path of SVG."""
        return "".join(
            f"M{line[0]} {line[1]}" + "".join(f"l{a} {b}" for a, b in zip(line[2::2], line[3::2], strict=True))
            for line in self.outline
        )

    def parts_path(self, side: int) -> str:
        """The boxes of the parts of one side as a path of SVG."""
        return "".join(f"M{p.left} {p.top}h{p.width}v{p.height}h{-p.width}z" for p in self.parts if p.side == side)

    @property
    def large_parts(self) -> tuple[ViewPart, ...]:
        """Parts whose reference can be read without zooming in, the largest first."""
        least = max(self.width, self.height) / 30
        found = [one for one in self.parts if min(one.width, one.height) > least / 2 and one.width > least]
        return tuple(sorted(found, key=lambda one: -one.width * one.height)[:60])


def board_map(context: Context, findings: Iterable[Finding] = ()) -> BoardMap | None:
    """Draw high-speed nets, those that findings name, parts and planes; None for a board without extent."""
    board, findings = context.board, tuple(findings)
    box = _box(board)
    if box is None:
        return None
    titles = _titles(context, findings)
    rows, left_out = _chosen(board, titles)
    finder = Finder(board)
    objects = {finding.key: finder.objects_of([finding]) for finding in findings}
    vias = np.flatnonzero(np.isin(board.vias.net, np.array(sorted(titles), dtype=np.int64)))
    return BoardMap(
        left=box[0],
        top=box[1],
        width=box[2],
        height=box[3],
        outline=tuple(_outline(board)),
        layers=tuple(layer.name for layer in board.copper_layers),
        tracks=tuple(_tracks(board, rows, titles)),
        holes=ViewShapes(discs=tuple(discs(board, vias))),
        pads=ViewShapes(boxes=tuple(boxes(board, np.arange(len(board.pads))))),
        parts=tuple(parts(board)),
        planes=planes(board),
        objects={key: found for key, found in objects.items() if found is not None},
        left_out=left_out,
    )


def _box(board: Board) -> tuple[int, int, int, int] | None:
    """Left, top, width and height, with a margin."""
    x, y = board.outline.x_mm, board.outline.y_mm
    if not len(x):
        x, y = board.tracks.start_x_mm, board.tracks.start_y_mm
    if not len(x):
        return None
    margin = 0.02 * max(np.ptp(x), np.ptp(y), 1.0)
    left, top = _units(float(x.min() - margin)), _units(float(y.min() - margin))
    return left, top, _units(float(x.max() + margin)) - left, _units(float(y.max() + margin)) - top


def _units(mm: float) -> int:
    return round(mm * UNITS_PER_MM)


def _titles(context: Context, findings: Iterable[Finding]) -> dict[int, str]:
    """Net -> what it is drawn as; nets that are poured as copper are seen as planes."""
    index, zones = context.board.net_index, context.board.zones
    poured = set(zones.net[distinct(zones.fill_zone)].tolist())
    nets = {place.net for finding in findings for place in finding.places if place.net}
    named = {index[net]: "" for net in sorted(nets) if net in index and index[net] not in poured}
    for of in families():
        title = f"{of.title}, version unknown"
        named.update(dict.fromkeys(context.nets_of(of.id).tolist() if of.fast else [], title))
    for name in context.assignment.fast_interfaces():
        named.update(dict.fromkeys(context.nets_of(name).tolist(), interface(name).title))
    return named


def _chosen(board: Board, titles: dict[int, str]) -> tuple[Ints, int]:
    rows = np.flatnonzero(np.isin(board.tracks.net, np.array(sorted(titles), dtype=np.int64)))
    if len(rows) <= MOST_TRACKS:
        return rows, 0
    longest = np.argsort(-board.tracks.length_mm[rows], kind="stable")[:MOST_TRACKS]
    return np.sort(rows[longest]), len(rows) - MOST_TRACKS


def _tracks(board: Board, rows: Ints, titles: Mapping[int, str]) -> Iterator[NetTracks]:
    nets = board.tracks.net[rows].tolist()
    names = np.array([titles[net] for net in nets], dtype=np.str_)
    for title in sorted(set(names.tolist())):
        for layer, width, ends in lines(board, rows[names == title]):
            yield NetTracks(title, layer, width, ends)


def _outline(board: Board) -> Iterator[Steps]:
    outline = board.outline
    for a, b in zip(outline.start[:-1].tolist(), outline.start[1:].tolist(), strict=True):
        if b > a:
            yield steps(units(outline.x_mm[a:b]), units(outline.y_mm[a:b]))
