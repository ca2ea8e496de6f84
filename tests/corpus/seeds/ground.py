"""The board that seeds fall on, the change of its text that a seed is, and what a finding has to name."""

from __future__ import annotations

import random
import re
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from drc_rules.facts.context import Context
from drc_rules.report.model import Report
from stackup_lib.board.board import Board
from stackup_lib.board.stackup import StackupLayer
from stackup_lib.core.frozen import Frozen
from stackup_lib.kicad.write.spans import Edit, EditSpan, apply_edits, length_text, quoted, spans

_PAREN = re.compile(rb'[()]|"[^"\\]*(?:\\.[^"\\]*)*"')

Point = tuple[float, float]


class Seed(Frozen):
    """One defect.

    Attributes:
        edits: changes of the board file.
        names: a finding has to name one of these: id of the object, net, layer, row, or a word of its title.
        at: where the defect is, in millimetres; None for what has no place, such as a row of the stackup.
        project: the whole `.kicad_pro` where that is changed; "" takes it away.
        rules: the `.kicad_dru` where one is written.
    """

    edits: tuple[Edit, ...] = ()
    names: frozenset[str]
    at: Point | None = None
    project: str | None = None
    rules: str | None = None


Maker = Callable[["Ground"], Iterator[Seed]]


class Kind(Frozen):
    """A kind of defect: the rules of which one has to find it, and how it is made.

    Attributes:
        needs_stackup: the rules judge no board with KiCad's untouched default of a stackup, and say so.
    """

    name: str
    rules: tuple[str, ...]
    make: Maker
    needs_stackup: bool = False


@dataclass(frozen=True)
class Ground:
    """A board as it is published, read and checked."""

    name: str
    data: bytes
    project: str
    context: Context
    report: Report

    @property
    def board(self) -> Board:
        """The board, as it was read."""
        return self.context.board

    def chance(self, kind: str) -> random.Random:
        """The same numbers in every run, others for each board and kind."""
        return random.Random(f"{self.name} {kind}")  # noqa: S311 - a choice, no secret

    def shuffled(self, rows: object, kind: str) -> list[int]:
        """Rows of a table in an order that does not depend on what a rule says."""
        found = [int(row) for row in np.atleast_1d(np.asarray(rows))]
        self.chance(kind).shuffle(found)
        return found

    def item(self, offset: int) -> EditSpan:
        """The list of the file that begins at an offset."""
        depth = 0
        for token in _PAREN.finditer(self.data, int(offset)):
            depth += {b"(": 1, b")": -1}.get(token.group(), 0)
            if not depth:
                return spans(self.data, int(offset), token.end())
        raise AssertionError(f"no list ends that begins at {offset}")

    def text(self, offset: int) -> str:
        """That list as text."""
        item = self.item(offset)
        return self.data[item.start : item.end].decode("utf-8", "replace")

    @cached_property
    def end(self) -> int:
        """Where new items go: in front of the last parenthesis."""
        return self.data.rindex(b")")

    def inserted(self, *items: str) -> Edit:
        """New items at the end of the file."""
        return Edit(self.end, self.end, "".join(f"\n\t{item}" for item in items) + "\n")

    def removed(self, offset: int) -> Edit:
        """Take an item away."""
        item = self.item(offset)
        return Edit(item.start, item.end, "")

    def row(self, layer: StackupLayer) -> EditSpan:
        """A row of the stackup."""
        return self.item(layer.offset)

    def track(self, like: int, start: Point, end: Point, **other: object) -> tuple[str, str]:
        """A new segment like another one; returns its text and its id."""
        made = fresh(self.name, like, start, end)
        board = self.board
        layer = str(other.get("layer") or board.copper_layers[int(board.tracks.layer[like])].name)
        width = float(str(other.get("width_mm") or board.tracks.width_mm[like]))
        net = other.get("net") or self.net_words(int(board.tracks.offset[like]))
        return (
            f"(segment (start {point(start)}) (end {point(end)}) (width {length_text(width)}) (layer {quoted(layer)}) "
            f"{net} ({self.id_word} {quoted(made)}))"
        ), made

    def via(self, net: str, at: Point, size_mm: float = 0.5, drill_mm: float = 0.3) -> tuple[str, str]:
        """A new through via; returns its text and its id."""
        made = fresh(self.name, at, net)
        layers = f"{quoted(self.board.copper_layers[0].name)} {quoted(self.board.copper_layers[-1].name)}"
        return (
            f"(via (at {point(at)}) (size {length_text(size_mm)}) (drill {length_text(drill_mm)}) (layers {layers}) "
            f"{net} ({self.id_word} {quoted(made)}))"
        ), made

    def net_words(self, offset: int) -> str:
        """`(net 5)` or `(net "GND")`, as the item at an offset has it."""
        item = self.item(offset)
        net = item.find("net")
        assert net is not None
        return self.data[net.start : net.end].decode("utf-8", "replace")

    @cached_property
    def id_word(self) -> str:
        """`uuid`, or `tstamp` in files before KiCad 8."""
        return "uuid" if self.board.format_version >= 20231007 else "tstamp"

    def track_rows(self, *, longer_mm: float = 0.0, outer: bool | None = None) -> np.ndarray:
        """Straight tracks with a net."""
        tracks, last = self.board.tracks, len(self.board.copper_layers) - 1
        chosen = (tracks.length_mm > longer_mm) & (tracks.net > 0)
        straight = np.hypot(tracks.end_x_mm - tracks.start_x_mm, tracks.end_y_mm - tracks.start_y_mm)
        chosen &= np.abs(straight - tracks.length_mm) < 1e-6
        if outer is not None:
            chosen &= np.isin(tracks.layer, (0, last)) == outer
        return np.flatnonzero(chosen)

    def ends(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """Both ends of a track."""
        tracks = self.board.tracks
        return (
            np.array([tracks.start_x_mm[row], tracks.start_y_mm[row]]),
            np.array([tracks.end_x_mm[row], tracks.end_y_mm[row]]),
        )

    def edited(self, seed: Seed) -> bytes:
        """The board with the defect in it."""
        return apply_edits(self.data, seed.edits)

    @property
    def has_stackup(self) -> bool:
        """The stackup is the designer's: it is no default, and its findings count."""
        return self.board.stackup is not None and not any(f.code == "STK001" for f in self.report.findings)


def fresh(*words: object) -> str:
    """An id that a new item gets in every run."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, " ".join(map(str, words))))


def point(at: Point) -> str:
    """Two coordinates as KiCad writes them."""
    return f"{length_text(float(at[0]))} {length_text(float(at[1]))}"


def set_field(item: EditSpan, name: str, value: str) -> Edit:
    """Give a list inside of an item another value, or add it."""
    found = item.find(name)
    if found is None:
        return Edit(item.end - 1, item.end - 1, f" ({name} {value})")
    return Edit(found.start, found.end, f"({name} {value})")


def crosswise(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """The unit vector to the left of a track."""
    along = (end - start) / np.hypot(*(end - start))
    return np.array([along[1], -along[0]])
