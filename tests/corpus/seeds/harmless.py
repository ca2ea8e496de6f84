"""Edits that break nothing: a check that says more after one of them is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from stackup_lib.kicad.write.spans import Edit, length_text, quoted
from tests.corpus.seeds.ground import Ground, Kind, Seed, fresh, point, set_field

NOTHING: frozenset[str] = frozenset()


def _properties(ground: Ground, name: str) -> Iterator[tuple[int, re.Match[str]]]:
    """The reference or value of each part: where the footprint begins, and what it says."""
    for row in ground.shuffled(range(len(ground.board.footprints)), name):
        offset = int(ground.board.footprints.offset[row])
        text = ground.text(offset)
        word = (
            rf'\((?:property "{name}"|fp_text {name.lower()}) ("(?:[^"\\]|\\.)*"|[^\s()]+)\s*\(at ([-\d.]+) ([-\d.]+)'
        )
        found = re.search(word, text)
        if found and text.isascii():
            yield offset, found


def text_moved(ground: Ground) -> Iterator[Seed]:
    """A reference on the silkscreen moves by 0.3 mm."""
    for offset, found in _properties(ground, "Reference"):
        moved = length_text(float(found[2]) + 0.3)
        yield Seed(edits=(Edit(offset + found.start(2), offset + found.end(2), moved),), names=NOTHING)


def value_renamed(ground: Ground) -> Iterator[Seed]:
    """A part's value says one word more."""
    for offset, found in _properties(ground, "Value"):
        value = quoted(found[1].strip('"') + " DNP?")
        yield Seed(edits=(Edit(offset + found.start(1), offset + found.end(1), value),), names=NOTHING)


def new_id(ground: Ground) -> Iterator[Seed]:
    """A track gets another id."""
    for row in ground.shuffled(ground.track_rows(), "id"):
        item = ground.item(ground.board.tracks.offset[row])
        if item.find(ground.id_word):
            yield Seed(edits=(set_field(item, ground.id_word, quoted(fresh(ground.name, row))),), names=NOTHING)


def track_in_two(ground: Ground) -> Iterator[Seed]:
    """A track is drawn as two that meet in its middle."""
    for row in ground.shuffled(ground.track_rows(longer_mm=1.0), "two"):
        start, end = ground.ends(row)
        middle = np.round((start + end) / 2, 4)
        straight = np.abs(start - end)
        if min(straight) > 1e-6:
            continue
        text, _ = ground.track(row, (middle[0], middle[1]), (end[0], end[1]))
        item = ground.item(ground.board.tracks.offset[row])
        yield Seed(edits=(set_field(item, "end", point((middle[0], middle[1]))), ground.inserted(text)), names=NOTHING)


def note_added(ground: Ground) -> Iterator[Seed]:
    """A note is written on a user layer."""
    x, y = ground.board.outline.x_mm, ground.board.outline.y_mm
    if len(x):
        at = f"{length_text(float(x.mean()))} {length_text(float(y.mean()))}"
        note = f'(gr_text "checked" (at {at}) (layer "Cmts.User") (effects (font (size 1 1) (thickness 0.15))))'
        yield Seed(edits=(ground.inserted(note),), names=NOTHING)


KINDS = (
    Kind(name="reference moved by 0.3 mm", rules=(), make=text_moved),
    Kind(name="value of a part renamed", rules=(), make=value_renamed),
    Kind(name="track with another id", rules=(), make=new_id),
    Kind(name="track drawn as two", rules=(), make=track_in_two),
    Kind(name="note on a user layer", rules=(), make=note_added),
)
