"""What a finding is about, as shapes on the board: all of it, not only the places that it lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from drc_rules.report.findings import Finding, Location
from stackup_lib.board.board import Board, Ints
from stackup_lib.core.arrays import distinct
from stackup_lib.core.record import record
from stackwright.drawing.board_view.shapes import UNITS_PER_MM, Steps, ViewShapes, boxes, discs, lines, steps, units

MOST_NET_TRACKS = 4000
"""Segments drawn of nets that one finding names."""


@record
class ViewObjects:
    """Everything that one finding is about.

    Attributes:
        shapes: its vias, pads and tracks, and tracks of nets that it names.
        points: places at which there is none of them.
        counts: how many of what, as people read it.
        x, y: the place of its number.
        box: left, top, width and height of all of it.
        is_all: False where the finding names only the first of many.
    """

    shapes: ViewShapes
    points: Steps
    counts: tuple[tuple[int, str], ...]
    x: int
    y: int
    box: tuple[int, int, int, int]
    is_all: bool = True


@dataclass
class _Rows:
    """Rows of the board's tables, and points of their own."""

    vias: list[int] = field(default_factory=list)
    pads: list[int] = field(default_factory=list)
    tracks: list[int] = field(default_factory=list)
    nets: list[int] = field(default_factory=list)
    points: list[tuple[float, float]] = field(default_factory=list)


@record
class Finder:
    """Finds the objects of findings on one board."""

    board: Board

    @cached_property
    def _by_uuid(self) -> Mapping[str, tuple[str, int]]:
        found: dict[str, tuple[str, int]] = {}
        for name in ("tracks", "pads", "vias"):
            column = getattr(self.board, name).uuid
            found.update((uuid, (name, row)) for row, uuid in enumerate(column.tolist()) if uuid)
        return found

    def objects_of(self, findings: Iterable[Finding]) -> ViewObjects | None:
        """Return what findings of one kind are about together; None where that is no place on the board."""
        rows, is_all = _Rows(), True
        for finding in findings:
            self._add(rows, finding)
            is_all &= finding.every is not None or len(finding.places) not in CAPS
        return self._drawn(rows, is_all=is_all)

    def _add(self, rows: _Rows, finding: Finding) -> None:
        if finding.every is not None:
            rows.vias += finding.every.vias
            rows.pads += finding.every.pads
            rows.tracks += finding.every.tracks
        else:
            for place in finding.places:
                self._add_place(rows, place)

    def _add_place(self, rows: _Rows, place: Location) -> None:
        name, row = self._by_uuid.get(place.uuid or "", ("", -1))
        if name:
            getattr(rows, name).append(row)
        elif place.x_mm is not None and place.y_mm is not None:
            rows.points.append((place.x_mm, place.y_mm))
        elif place.net is not None and place.net in self.board.net_index:
            rows.nets += self._tracks_of(self.board.net_index[place.net], place.layer).tolist()

    def _tracks_of(self, net: int, layer: str | None) -> Ints:
        tracks = self.board.tracks
        here = tracks.net == net
        if layer is not None and layer in self.board.layer_index:
            here = here & (tracks.layer == self.board.layer_index[layer])
        found = np.flatnonzero(here)
        return found[np.argsort(-tracks.length_mm[found], kind="stable")[:MOST_NET_TRACKS]]

    def _drawn(self, rows: _Rows, *, is_all: bool) -> ViewObjects | None:
        board = self.board
        vias, pads, own, nets = (
            np.array(list(dict.fromkeys(one)), dtype=np.int64) for one in (rows.vias, rows.pads, rows.tracks, rows.nets)
        )
        tracks = np.concatenate([own, nets[:MOST_NET_TRACKS]])
        spots = np.array(list(dict.fromkeys(rows.points)), dtype=np.float64).reshape(-1, 2)
        table = board.tracks
        xs = [spots[:, 0], board.vias.x_mm[vias], board.pads.x_mm[pads], table.start_x_mm[tracks]]
        ys = [spots[:, 1], board.vias.y_mm[vias], board.pads.y_mm[pads], table.start_y_mm[tracks]]
        x, y = np.concatenate([*xs, table.end_x_mm[tracks]]), np.concatenate([*ys, table.end_y_mm[tracks]])
        if not len(x):
            return None
        ends = units(np.array([x.min(), y.min(), x.max(), y.max()])).tolist()
        first = next(k for k, one in enumerate(xs) if len(one))
        points = np.rint(spots * UNITS_PER_MM).astype(np.int64)
        return ViewObjects(
            shapes=ViewShapes(tuple(discs(board, vias)), tuple(boxes(board, pads)), tuple(lines(board, tracks))),
            points=steps(points[:, 0], points[:, 1]) if len(points) else (),
            counts=tuple(_counts(len(vias), len(pads), len(own), len(distinct(table.net[nets])), len(spots))),
            x=round(float(xs[first][0]) * UNITS_PER_MM),
            y=round(float(ys[first][0]) * UNITS_PER_MM),
            box=(ends[0], ends[1], ends[2] - ends[0], ends[3] - ends[1]),
            is_all=is_all,
        )


CAPS = (20, 50)
"""Maximum number of places that a rule lists, where it does not say what else it is about."""


def _counts(*many: int) -> Iterator[tuple[int, str]]:
    for number, noun in zip(many, ("via", "pad", "track segment", "net", "point"), strict=True):
        if number:
            yield number, noun
