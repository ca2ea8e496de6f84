"""Stackups as columns next to one another, drawn to the same heights; what differs carries a sign."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise, zip_longest
from typing import Literal

from drc_rules.engine.board_diff import RowPair
from drc_rules.report.stackup_rows import StackupRow
from stackup_lib.board.board import LayerKind
from stackup_lib.core.record import record
from stackwright.drawing import words
from stackwright.drawing.svg import Band, describe, escape_text, label, readable_height, rect, sheet

Mark = Literal["", "changed", "added", "removed", "fails"]
SIGNS: dict[Mark, str] = {"": "", "changed": "\u2260", "added": "+", "removed": "\u2212", "fails": "\u2717"}
"""What stands before a row that differs, in drawings and tables: colour says nothing alone."""

TOP, FOOT = 6.0, 6.0
BOLD_SHARE = 0.82
"""Width of a regular letter over that of a bold one."""


@record
class Layout:
    """The measures of a column, in pixels; `letters` is what fits at its right, `full` says all that a row states."""

    width: int
    sheet_left: int
    sheet_width: int
    letters: int
    name_letters: int
    full: bool


NARROW = Layout(width=320, sheet_left=74, sheet_width=41, letters=33, name_letters=9, full=False)
WIDE = Layout(width=680, sheet_left=216, sheet_width=84, letters=58, name_letters=20, full=True)


@record
class Slot:
    """A place in a column: a row, or None where only its neighbour has one."""

    row: StackupRow | None
    height: float
    mark: Mark = ""


def paired(pairs: Sequence[RowPair], changed: frozenset[str]) -> tuple[tuple[Slot, ...], tuple[Slot, ...]]:
    """Return two columns of equal heights: the rows of two stackups, what differs marked in both.

    Args:
        pairs: see `drc_rules.engine.board_diff.row_pairs`.
        changed: names, in the second stackup, of the rows that both have and that differ.
    """
    old, new = [], []
    for was, now, is_kept in _closed_up(pairs):
        height = max(readable_height(row) for row in (was, now) if row is not None)
        both: Mark = "changed" if now is not None and now.name in changed else ""
        old.append(Slot(was, height, both if is_kept else "removed" if was else ""))
        new.append(Slot(now, height, both if is_kept else "added" if now else ""))
    return tuple(old), tuple(new)


def _closed_up(pairs: Sequence[RowPair]) -> Iterator[tuple[StackupRow | None, StackupRow | None, bool]]:
    """Yield the pairs, and whether they are the same row; a removed row and its replacement are next to each other."""
    for is_kept, run in groupby(pairs, key=lambda pair: None not in pair):
        if is_kept:
            yield from ((was, now, True) for was, now in run)
            continue
        found = list(run)
        gone, come = [was for was, _ in found if was], [now for _, now in found if now]
        for one, other in zip_longest(_sections(gone), _sections(come), fillvalue=()):
            yield from ((was, now, False) for was, now in zip_longest(one, other))


def _sections(rows: Sequence[StackupRow]) -> list[tuple[StackupRow, ...]]:
    """Cut rows before each copper layer."""
    cuts = [index for index, row in enumerate(rows) if row.is_copper or not index]
    return [tuple(rows[a:b]) for a, b in pairwise([*cuts, len(rows)])]


def plain(rows: Sequence[StackupRow], faulty: frozenset[str] = frozenset()) -> tuple[Slot, ...]:
    """Return a column of its own; `faulty` are names of rows that fail something, as the board file names them."""
    return tuple(Slot(row, readable_height(row), "fails" if words.file_row(row) in faulty else "") for row in rows)


def column(slots: Sequence[Slot], layout: Layout, *, title: str) -> str:
    """Return one stackup as an SVG element for a page that holds the style of `stackwright.drawing.svg`.

    Args:
        slots: top to bottom.
        layout: how wide it is.
        title: what it is of, for those who cannot see it.
    """
    height = TOP + sum(slot.height for slot in slots) + FOOT
    name = escape_text(title)
    kind = "column" if layout.full else "column narrow"
    parts = [
        f'<svg class="stackup-drawing {kind}" viewBox="0 0 {layout.width} {height:.0f}" width="{layout.width}" '
        f'height="{height:.0f}" role="img" aria-label="{name}">',
        f"<title>{name}</title>",
        *_slots(slots, layout),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _slots(slots: Sequence[Slot], layout: Layout) -> Iterator[str]:
    y = TOP
    foil = any(slot.row is not None and slot.row.foil for slot in slots)
    for slot in slots:
        if slot.row is None:
            middle = y + slot.height / 2
            yield f'<path class="leader nothing" d="M{layout.sheet_left} {middle:g}h{layout.sheet_width}"/>'
        else:
            yield from _row(slot, slot.row, y, layout, foil=foil)
        y += slot.height


def _row(slot: Slot, row: StackupRow, y: float, layout: Layout, *, foil: bool) -> Iterator[str]:
    band = Band(row, y, slot.height)
    left, right = layout.sheet_left, layout.sheet_left + layout.sheet_width
    yield from sheet(band, left, layout.sheet_width)
    if slot.mark:
        yield rect(left - 1, y + 1, layout.sheet_width + 2, slot.height - 2, f"outline-of {slot.mark}")
    base = band.middle + 4
    shade = "strong" if row.is_copper else "quiet"
    if layout.full:
        letters = _fitting(layout.name_letters, bold=row.is_copper)
        yield label(left - 84, base, words.full_name(row), shade, anchor="end", letters=letters)
        yield label(left - 8, base, words.thickness(row), "" if row.is_copper else "quiet", anchor="end")
    else:
        name = row.name if row.is_copper else _thickness(row)
        yield label(left - 8, base, name, shade, anchor="end", letters=layout.name_letters)
    said = _in_full(row, foil=foil) if layout.full else _in_short(row)
    sign = f"{SIGNS[slot.mark]} " if slot.mark else ""
    kind = ("marked" if slot.mark == "fails" else "differs") if slot.mark else ("" if row.is_copper else "quiet")
    letters = _fitting(layout.letters, bold=bool(slot.mark))
    yield label(right + 8, base, f"{sign}{said}", kind, letters=letters)


def _fitting(letters: int, *, bold: bool) -> int:
    return int(letters * BOLD_SHARE) if bold else letters


def _thickness(row: StackupRow) -> str:
    if row.kind is LayerKind.MASK:
        return "mask"
    return "?" if row.thickness_mm is None else words.millimetres(row.thickness_mm)


def _in_full(row: StackupRow, *, foil: bool) -> str:
    """Return what a wide column says: of a dielectric its material and loss, for its pattern tells the kind."""
    return describe(row, foil=foil).removeprefix(f"{words.kind(row)}, ").removesuffix(" at 10 GHz")


def _in_short(row: StackupRow) -> str:
    """Return what a narrow column can say of a row."""
    if not row.is_copper:
        return "" if words.is_mask(row) else words.material(row)
    role = "" if row.role is None else row.role.value.removesuffix(" plane")
    return ", ".join(part for part in (words.thickness(row), role) if part)
