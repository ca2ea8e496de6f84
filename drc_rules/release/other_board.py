"""Whether the files are of another board at all: then a list of all differences would hide that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from drc_rules.release.agreement import number_words
from drc_rules.release.board_side import BoardSide
from drc_rules.release.drills import without_doubles
from stackup_lib.fab_files.facts import SentFile

LEAST_SIGNS = 2
"""One differs between two states of a board as well."""
SIZE_MM = 1.0
"""Lines of outlines as wide as this are not drawn."""
HOLES_SHARE = 0.1
"""Moving a few vias is another state."""


def other_board_words(side: BoardSide, files: Sequence[SentFile]) -> str:
    """Return e.g. `100 x 80 mm, not 167.65 x 111.15 mm; 6 copper layers, not 16`; "" where it may be the same board."""
    signs = [*_sizes(side, files), *_layers(side, files), *_holes(side, files)]
    return "; ".join(signs) if len(signs) >= LEAST_SIGNS else ""


def _sizes(side: BoardSide, files: Sequence[SentFile]) -> Iterator[str]:
    ours = side.board.outline.size_mm
    theirs = next(((x.value, y.value) for file in files if file.size_mm for x, y in [file.size_mm]), None)
    if ours and theirs and any(abs(one - other) > SIZE_MM for one, other in zip(ours, theirs, strict=True)):
        size, own = (" x ".join(number_words(round(mm, 2)) for mm in pair) for pair in (theirs, ours))
        yield f"{size} mm, not {own} mm"


def _layers(side: BoardSide, files: Sequence[SentFile]) -> Iterator[str]:
    """Of Gerber files only the job file tells how many there are to be: one may be missing."""
    stated = [int(file.layer_count.value) for file in files if file.layer_count]
    whole = [len(file.layers) for file in files if file.rows and file.layers]
    many = next(iter((*stated, *whole)), None)
    if many is not None and many != len(side.names):
        yield f"{many} copper layers, not {len(side.names)}"


def _holes(side: BoardSide, files: Sequence[SentFile]) -> Iterator[str]:
    """Files that repeat each other, such as Excellon next to IPC-2581, count once."""
    ours = sum(sizes.total() for sizes in side.holes.values())
    by_format = {
        file.format: [hole for one in files if one.format is file.format for hole in one.holes] for file in files
    }
    theirs = next(
        (sum(hole.count for hole in without_doubles(holes)[0]) for holes in by_format.values() if holes), None
    )
    if theirs is not None and abs(theirs - ours) > HOLES_SHARE * max(ours, theirs):
        yield f"{theirs} holes, not {ours}"
