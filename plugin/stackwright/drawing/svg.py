"""The cross-section as SVG: each row's sheet, what it is, and the vias as barrels through the layers.

Two drawings: `compressed` gives every row a readable height, `to_scale` keeps the proportions. Text comes from the
board and may hold anything, so it is cleaned, escaped and isolated; colours come from CSS variables.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from drc_rules.report.stackup_rows import StackupRow, StackupView, ViaSpan
from stackup_lib.board.board import LayerKind
from stackup_lib.board.layer_roles import LayerRole
from stackup_lib.core.record import record
from stackwright.drawing import words
from stackwright.text.words import clean, count

WIDTH = 960
SHEET_X, SHEET_WIDTH = 262, 252
MARGIN = 12.0
COPPER_HEIGHT, DIELECTRIC_HEIGHT, MASK_HEIGHT = 17.0, 18.0, 15.0
LABEL_STEP = 14.0
"""Least distance of two labels of the drawing to scale."""
MOST_BARRELS = 12
BARREL_WIDTH = 12.0
GLASS_STEP, HATCH_STEP = 8.0, 7.0
LEFT_LETTERS, RIGHT_LETTERS, CAPTION_LETTERS = 22, 66, 150
BOLD_LETTERS, BOLD_RIGHT_LETTERS = 19, 56

STYLE = "\n" + Path(__file__).with_name("stackup_drawing.css").read_text(encoding="utf-8")


@record
class Band:
    """A row of the stackup and where it is drawn."""

    row: StackupRow
    y: float
    height: float

    @property
    def middle(self) -> float:
        """Where its label stands."""
        return self.y + self.height / 2


def svg(
    view: StackupView,
    *,
    to_scale: bool = False,
    standalone: bool = True,
    title: str = "",
    marks: Mapping[str, str] | None = None,
    links: str = "",
    losses: bool = True,
) -> str:
    """Return the cross-section as an SVG element.

    Args:
        view: what to draw.
        to_scale: true proportions; `view.is_to_scale` must hold.
        standalone: with its own style sheet, paper and legend; else the page must hold `STYLE` and list the via spans.
        title: what the drawing is of, for those who cannot see it.
        marks: row name -> what to point out at that row, e.g. the codes of findings.
        links: beginning of the ids, on the page, of what is said of each row, to which its number is added; every row
            is then a link to that. Empty for a picture.
        losses: with Df at 10 GHz; not next to a table that states another Df.
    """
    top = 30.0
    bands = _bands_to_scale(view.rows, top) if to_scale else _bands(view.rows, top)
    foot = max([bands[-1].y + bands[-1].height, *_label_ends(bands, to_scale=to_scale)]) if bands else top
    spans = view.spans[:MOST_BARRELS]
    lines = [*_captions(view, spans, to_scale=to_scale, legend=standalone)]
    height = foot + 22 + 16 * len(lines) + 8
    name = escape_text(title or "Stackup cross-section") + (", to scale" if to_scale else "")
    namespace = ' xmlns="http://www.w3.org/2000/svg"' if standalone else ""
    parts = [
        f'<svg{namespace} class="stackup-drawing" viewBox="0 0 {WIDTH} {_n(height)}" width="{WIDTH}" '
        f'height="{_n(height)}" role="{"group" if links else "img"}" aria-label="{name}">',
        *(() if links else (f"<title>{name}</title>",)),  # it would lie over every row as a tooltip
        *((f"<style>{STYLE}</style>", f'<rect class="paper" width="{WIDTH}" height="{_n(height)}"/>') * standalone),
        *_header(spans),
        *(part for band in bands for part in sheet(band)),
        *(part for column, span in enumerate(spans) for part in _barrel(bands, span, column, len(spans))),
        *_labels(bands, marks or {}, to_scale=to_scale, losses=losses),
        *(
            label(MARGIN, foot + 26 + 16 * index, line, "quiet", letters=CAPTION_LETTERS)
            for index, line in enumerate(lines)
        ),
        *(_links(bands, view.rows, links, marks or {}) if links else ()),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _bands(rows: Sequence[StackupRow], top: float) -> list[Band]:
    """Give every row a readable height, thick dielectrics a little more."""
    bands, y = [], top
    for row in rows:
        bands.append(Band(row, y, readable_height(row)))
        y += bands[-1].height
    return bands


def readable_height(row: StackupRow) -> float:
    """Return the height of a row that is not drawn to scale."""
    if row.is_copper:
        return COPPER_HEIGHT
    if row.kind is LayerKind.MASK:
        return MASK_HEIGHT
    return DIELECTRIC_HEIGHT + min((row.thickness_mm or 0.0) * 16.0, 16.0)


def _bands_to_scale(rows: Sequence[StackupRow], top: float) -> list[Band]:
    """Keep the proportions; as tall as the labels of either side need, a mask of unstated thickness left out."""
    kept = [row for row in rows if row.thickness_mm]
    coppers = sum(row.is_copper for row in kept)
    height = max(360.0, LABEL_STEP * max(coppers, len(kept) - coppers))
    factor = height / (sum(row.thickness_mm or 0.0 for row in kept) or 1.0)
    bands, y = [], top
    for row in kept:
        bands.append(Band(row, y, (row.thickness_mm or 0.0) * factor))
        y += bands[-1].height
    return bands


def sheet(band: Band, left: float = SHEET_X, width: float = SHEET_WIDTH) -> Iterator[str]:
    """Draw one sheet: planes whole, signal layers in strips, cores and prepregs with their glass."""
    row, x, y = band.row, _n(left), _n(band.y)
    unstated = " unstated" if row.thickness_mm is None else ""
    if not row.is_copper:
        yield rect(left, band.y, width, band.height, row.kind.value + unstated)
        if row.kind in (LayerKind.CORE, LayerKind.PREPREG):
            yield _glass(band, left, width)
            yield f'<path class="seam" d="M{x} {y}h{_n(width)}"/>'
        return
    if row.role not in (LayerRole.SIGNAL, LayerRole.MIXED, LayerRole.EMPTY):
        yield rect(left, band.y, width, band.height, "copper" + unstated)
        return
    yield rect(left, band.y, width, band.height, "prepreg")
    strip, gap = (width / 3, width / 10.5) if row.role is LayerRole.MIXED else (16.0, 9.0)
    at = left
    while row.role is not LayerRole.EMPTY and at < left + width:
        yield rect(at, band.y, min(strip, left + width - at), band.height, "copper" + unstated)
        at += strip + gap


def _barrel(bands: Sequence[Band], span: ViaSpan, column: int, columns: int) -> Iterator[str]:
    """Draw a via span: the barrel with its hole and outer pads, the part that is drilled away hatched."""
    at = {band.row.name: band for band in bands if band.row.is_copper}
    if span.top not in at or span.bottom not in at:
        return
    pitch = SHEET_WIDTH / columns
    x = SHEET_X + pitch * (column + 0.5) - BARREL_WIDTH / 2
    first, last = at[span.top].y, at[span.bottom].y + at[span.bottom].height
    yield f"<g><title>{escape_text(words.via_span(span))}</title>"
    for band in (at[span.top], at[span.bottom]):
        yield rect(x - 4, band.y, BARREL_WIDTH + 8, band.height, "pad")
    yield rect(x, first, BARREL_WIDTH, last - first, "barrel")
    yield rect(x + 3, first, BARREL_WIDTH - 6, last - first, "hole")
    for drill in span.backdrills:
        yield from _drilled(at, drill.start, drill.must_cut, x)
    yield "</g>"


def _drilled(at: dict[str, Band], start: str, must_cut: str, x: float) -> Iterator[str]:
    if start not in at or must_cut not in at:
        return
    one, other = at[start], at[must_cut]
    first, last = min(one.y, other.y), max(one.y + one.height, other.y + other.height)
    yield rect(x - 5, first, BARREL_WIDTH + 10, last - first, "drilled")
    yield _hatched(x - 5, first, BARREL_WIDTH + 10, last - first)


def _header(spans: Sequence[ViaSpan]) -> Iterator[str]:
    """Name the columns, and number the via spans as the lines below do."""
    yield label(SHEET_X - 10, 18, "layer, thickness", "quiet", anchor="end")
    yield label(SHEET_X + SHEET_WIDTH + 12, 18, "material or use", "quiet")
    for column in range(len(spans)):
        x = SHEET_X + SHEET_WIDTH / len(spans) * (column + 0.5)
        yield label(x, 18, str(column + 1), "strong", anchor="middle")


def _labels(bands: Sequence[Band], marks: Mapping[str, str], *, to_scale: bool, losses: bool) -> Iterator[str]:
    """Label the rows; in the drawing to scale copper on the left, dielectrics on the right, spread with leaders."""
    if not to_scale:
        foil = any(band.row.foil for band in bands)
        for band in bands:
            y = band.middle + 4
            yield from _name_and_thickness(band.row, y)
            mark, kind = marks.get(words.file_row(band.row), ""), "" if band.row.is_copper else "quiet"
            text = describe(band.row, foil=foil, losses=losses)
            text = f"{mark}: {text}" if mark else text
            letters = BOLD_RIGHT_LETTERS if mark else RIGHT_LETTERS
            yield label(SHEET_X + SHEET_WIDTH + 12, y, text, "marked" if mark else kind, letters=letters)
        return
    for side in (True, False):
        chosen = [band for band in bands if band.row.is_copper is side]
        edge, bend = (SHEET_X, -1) if side else (SHEET_X + SHEET_WIDTH, 1)
        for band, y in zip(chosen, _spread([band.middle for band in chosen]), strict=True):
            yield (
                f'<polyline class="leader" points="{edge},{_n(band.middle)} {edge + 6 * bend},{_n(band.middle)} '
                f'{edge + 24 * bend},{_n(y)} {edge + 28 * bend},{_n(y)}"/>'
            )
            if side:
                yield from _name_and_thickness(band.row, y + 4, right=edge - 32)
            else:
                yield label(edge + 32, y + 4, _sheet_words(band.row), "quiet")


def _links(bands: Sequence[Band], rows: Sequence[StackupRow], links: str, marks: Mapping[str, str]) -> Iterator[str]:
    """Lay a link over every row, from edge to edge."""
    numbers = {id(row): index for index, row in enumerate(rows)}
    for band in bands:
        mark = marks.get(words.file_row(band.row), "")
        said = f"{words.full_name(band.row)}, {words.thickness(band.row)}" + (f": {mark}" if mark else "")
        area = rect(2, band.y, WIDTH - 4, band.height, "row-area")
        kind = "row-hit marked" if mark else "row-hit"
        yield f'<a class="{kind}" href="#{links}{numbers[id(band.row)]}" aria-label="{escape_text(said)}">{area}</a>'


def _name_and_thickness(row: StackupRow, y: float, right: float = SHEET_X - 10) -> Iterator[str]:
    shade = "strong" if row.is_copper else "quiet"
    letters = BOLD_LETTERS if row.is_copper else LEFT_LETTERS
    yield label(right - 84, y, words.full_name(row), shade, anchor="end", letters=letters)
    yield label(right, y, words.thickness(row), "" if row.is_copper else "quiet", anchor="end")


def _sheet_words(row: StackupRow) -> str:
    known = (words.thickness(row), words.kind(row), row.material)
    return ", ".join(part for part in known if part)


def describe(row: StackupRow, *, foil: bool, losses: bool = True) -> str:
    """Return what is said of a row at its right: use, weight, foil and interfaces, or the material with its Df.

    Without `foil` nothing is said of foils: the caption says once that none is declared.
    """
    if row.is_copper:
        grade = words.foil(row) if foil else ""
        parts = [words.role(row), words.copper_weight(row), grade, words.interfaces_in_short(row)]
        return ", ".join(part for part in parts if part)
    if row.kind is LayerKind.MASK:
        return f"mask, {words.material(row)}" if row.material else "mask"
    parts = [words.kind(row), words.material(row)]
    if losses and (row.material or row.df_stated is not None):
        parts.append(f"Df {words.df(row)}" + (" at 10 GHz" if row.df_10ghz else ""))
    return ", ".join(parts)


def _spread(wanted: Sequence[float]) -> list[float]:
    """Move labels apart to at least `LABEL_STEP`, in their order: down where they collide, then back up."""
    placed: list[float] = []
    for y in wanted:
        placed.append(max(y, placed[-1] + LABEL_STEP) if placed else y)
    for index in range(len(placed) - 1, -1, -1):
        limit = placed[index + 1] - LABEL_STEP if index + 1 < len(placed) else wanted[index]
        lowest = wanted[0] + LABEL_STEP * index
        placed[index] = max(min(placed[index], limit), lowest)
    return placed


def _label_ends(bands: Sequence[Band], *, to_scale: bool) -> Iterator[float]:
    """Where the last label of either side ends."""
    if to_scale:
        for side in (True, False):
            placed = _spread([band.middle for band in bands if band.row.is_copper is side])
            yield from placed[-1:]


def _captions(view: StackupView, spans: Sequence[ViaSpan], *, to_scale: bool, legend: bool) -> Iterator[str]:
    """Say what the drawing shows, and what it does not; the legend of the vias where the page has none."""
    how = "heights to scale, widths not" if to_scale else "not to scale: every row has a readable height"
    hatched = "; hatched: drilled away" if any(span.backdrills for span in spans) else ""
    unsure = any(not one.generation_known for row in view.rows for one in row.carries)
    foil = any(row.foil for row in view.rows)
    aside = "" if foil or to_scale else "; no foil grade is declared"
    aside += "; ?: version unknown" if unsure and not to_scale else ""
    yield f"{words.total(view)}; {how}{hatched}{aside}"
    if not legend:
        return
    yield from words.remarks(view)
    for index, span in enumerate(spans, start=1):
        yield f"{index}: {words.via_span(span)}"
    if len(view.spans) > len(spans):
        yield f"{count(len(view.spans) - len(spans), 'via span')} more, not drawn"
    if not view.spans:
        yield "no vias"


def _hatched(x: float, y: float, width: float, height: float) -> str:
    """Return lines at 45 degrees within a rectangle; drawn one by one, as a PDF would hold a pattern as pictures."""
    path = []
    start = HATCH_STEP - width
    while start < height:
        first, last = max(0.0, -start), min(width, height - start)
        path.append(f"M{_n(x + first)} {_n(y + start + first)}L{_n(x + last)} {_n(y + start + last)}")
        start += HATCH_STEP
    return f'<path class="hatch" d="{"".join(path)}" fill="none"/>'


def _glass(band: Band, left: float, width: float) -> str:
    """Return the threads of a core (dashes) or a prepreg (dots), on the same grid in all rows."""
    first = math.ceil((band.y - GLASS_STEP / 2) / GLASS_STEP) * GLASS_STEP + GLASS_STEP / 2
    rows = range(math.ceil((band.y + band.height - first) / GLASS_STEP))
    path = "".join(f"M{_n(left)} {_n(first + GLASS_STEP * row)}h{_n(width)}" for row in rows)
    return f'<path class="glass {band.row.kind.value}-glass" d="{path}" fill="none"/>' if path else ""


def rect(x: float, y: float, width: float, height: float, kind: str) -> str:
    """Return a rectangle of a class."""
    return f'<rect class="{kind}" x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}"/>'


def label(
    x: float, y: float, content: str, kind: str = "", *, anchor: str = "start", letters: int = RIGHT_LETTERS
) -> str:
    """Return a line of text; a long one is cut, and whole in its tooltip."""
    shown = clean(content)
    tip = ""
    limit = letters
    if len(shown) > limit:
        tip, shown = f"<title>{escape_text(content)}</title>", shown[: limit - 1].rstrip() + "\u2026"
    kind = f' class="{kind}"' if kind else ""
    where = "" if anchor == "start" else f' text-anchor="{anchor}"'
    # An isolate of its own: right-to-left letters in a name cannot reorder what stands next to it.
    body = f'<tspan direction="ltr" unicode-bidi="isolate">{escape_text(shown)}</tspan>'
    return f'<text x="{_n(x)}" y="{_n(y)}"{kind}{where}>{tip}{body}</text>'


def escape_text(text: str) -> str:
    """Return board text as harmless XML text, also inside a double-quoted attribute."""
    visible = re.sub("[\ufffe\uffff]", lambda m: f"\\u{ord(m[0]):04x}", clean(text))
    return escape(visible, {'"': "&quot;", "'": "&#39;"})


def _n(value: float) -> str:
    """Return a coordinate without noise behind the point."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
