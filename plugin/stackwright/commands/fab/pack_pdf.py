"""A fab pack as a PDF: A4, page numbers, heads of tables repeated, the cross-section as vectors."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from drc_rules.fab_exchange.pack.table import NOT_STATED, FabTable
from stackwright.drawing.svg import STYLE, svg
from stackwright.text.words import clean

if TYPE_CHECKING:
    from fpdf import FPDF

    from drc_rules.fab_exchange.pack.fab_pack import FabPack

NO_FPDF = "no PDF without fpdf2: pip install fpdf2, or print the HTML"
MARGIN_MM, WIDTH_MM, HEIGHT_MM = 12, 186, 273
"""Of A4, less the margins."""
BODY_PT, TABLE_PT, TITLE_PT, HEAD_PT = 9, 7.5, 12, 16
LINE_MM = 3.6
MOST_SHRUNK = 1.2
"""A table that is too wide gets letters smaller by up to this factor; what is still too wide gets broken lines."""
NO_DATE = datetime(1980, 1, 1, tzinfo=UTC)
"""Instead of the time of writing: equal boards give equal files."""
OPEN_RGB, QUIET_RGB, LINE_RGB = (179, 38, 30), (86, 97, 114), (200, 205, 212)


def pdf_of(pack: FabPack) -> bytes | None:
    """Return the file, None where fpdf2 is not installed; equal packs give equal bytes."""
    try:
        from fpdf import FPDF
    except ImportError:
        return None

    class Numbered(FPDF):
        def footer(self) -> None:
            self.set_y(-10)
            self.set_font("helvetica", size=TABLE_PT)
            self.set_text_color(*QUIET_RGB)
            self.cell(0, 5, f"{_latin(pack.name)}   page {self.page_no()} of {{nb}}", align="R")
            self.set_text_color(0)

    pdf = Numbered(format="A4")
    pdf.creation_date = NO_DATE
    pdf.set_margin(MARGIN_MM)
    pdf.set_auto_page_break(auto=True, margin=14)
    pdf.set_title(f"Fabrication data of {_latin(pack.name)}")
    pdf.add_page()
    _head(pdf, pack)
    notes, *others = pack.tables
    _table(pdf, notes)
    if pack.view is not None:
        _cross_section(pdf, svg(pack.view, title=pack.name, losses=False))
    for table in others:
        _table(pdf, table)
    return bytes(pdf.output())


def _head(pdf: FPDF, pack: FabPack) -> None:
    pdf.set_font("helvetica", "B", HEAD_PT)
    _lines(pdf, f"Fabrication data of {pack.name}", 8)
    pdf.set_font("helvetica", size=BODY_PT)
    for label, text in pack.head:
        _lines(pdf, f"{label}: {text}", 4.5)
    if pack.open_points:
        _title(pdf, "Not stated")
        _lines(pdf, "Please ask, do not assume.", 5)
        for words in pack.open_words:
            _lines(pdf, f"-  {words}", 4.5)


def _title(pdf: FPDF, text: str) -> None:
    pdf.ln(4)
    if pdf.will_page_break(25):
        pdf.add_page()
    pdf.set_font("helvetica", "B", TITLE_PT)
    _lines(pdf, text, 7)
    pdf.set_font("helvetica", size=BODY_PT)


def _lines(pdf: FPDF, text: str, height_mm: float) -> None:
    pdf.multi_cell(0, height_mm, _latin(text), align="L", new_x="LMARGIN", new_y="NEXT")


def _cross_section(pdf: FPDF, drawing: str) -> None:
    """Draw our own SVG, its colours as on white paper, on a page of its own where the rest is too short for it."""
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', drawing)
    if box is None:
        raise ValueError("the drawing has no size")
    across, down = float(box[1]), float(box[2])
    width = min(WIDTH_MM, (HEIGHT_MM - 14) * across / down)
    if pdf.will_page_break(width * down / across + 12):
        pdf.add_page()
    _title(pdf, "Cross-section")
    height = width * down / across
    pdf.image(io.BytesIO(_for_fpdf(drawing).encode()), x=MARGIN_MM, y=pdf.get_y(), w=width, h=height)
    pdf.set_y(pdf.get_y() + height)


def _for_fpdf(drawing: str) -> str:
    """Return the drawing as fpdf2 reads it: plain colours, no spans, no tooltips, a font that every PDF has."""
    light = STYLE.split("@media")[0]
    colours = dict(re.findall(r"(--sw-[\w-]+): (#\w+)", light))
    rules = re.findall(r"^\.stackup-drawing \.([\w-]+) \{([^}]*)\}", STYLE, re.MULTILINE)
    bodies = {name: re.sub(r"var[(](--sw-[a-z]+)[)]", lambda m: colours[m[1]], body) for name, body in rules}
    plain = "".join(f".{name} {{{body}}}" for name, body in bodies.items())
    drawing = re.sub(r"<style>.*?</style>", lambda _: f"<style>{plain}</style>", drawing, flags=re.DOTALL)
    drawing = re.sub(r"</?tspan[^>]*>|<title>.*?</title>", "", drawing)
    return _latin(drawing.replace("<text ", '<text font-family="helvetica" font-size="12" '))


def _table(pdf: FPDF, table: FabTable) -> None:
    from fpdf.fonts import FontFace

    _title(pdf, table.title)
    if table.rows:
        pdf.set_font("helvetica", size=TABLE_PT)
        pdf.set_draw_color(*LINE_RGB)
        pdf.set_line_width(0.1)
        head = FontFace(emphasis="BOLD", fill_color=(241, 243, 245))
        open_cell = FontFace(color=OPEN_RGB)
        needed = _needed(pdf, table)
        if sum(needed) > WIDTH_MM:
            pdf.set_font_size(TABLE_PT / min(MOST_SHRUNK, sum(needed) / WIDTH_MM))
            needed = _needed(pdf, table)
        with pdf.table(
            col_widths=_widths(needed),
            headings_style=head,
            line_height=LINE_MM,
            text_align="LEFT",
            padding=0.7,
            width=WIDTH_MM,
            borders_layout="HORIZONTAL_LINES",
        ) as drawn:
            drawn.row([_latin(cell) for cell in table.head])
            for row in table.rows:
                line = drawn.row()
                for cell in row:
                    line.cell(_latin(cell), style=open_cell if cell == NOT_STATED else None)
    pdf.set_font("helvetica", size=TABLE_PT)
    pdf.set_text_color(*QUIET_RGB)
    for remark in table.remarks:
        pdf.ln(1)
        _lines(pdf, remark, LINE_MM)
    pdf.set_text_color(0)


def _needed(pdf: FPDF, table: FabTable) -> list[float]:
    """Return the width of each column's longest cell, mm."""
    columns = zip(table.head, *table.rows, strict=True)
    return [max(pdf.get_string_width(_latin(cell)) for cell in column) * 1.06 + 2 for column in columns]


def _widths(needed: Sequence[float]) -> tuple[float, ...]:
    """Return widths that add up to the page's: what the longest cells need, the longest share the rest."""
    if sum(needed) <= WIDTH_MM:
        return tuple(width * WIDTH_MM / sum(needed) for width in needed)
    left, share = float(WIDTH_MM), WIDTH_MM / len(needed)
    for number, width in enumerate(sorted(needed)):
        share = left / (len(needed) - number)
        if width > share:
            break
        left -= width
    return tuple(min(width, share) for width in needed)


def _latin(text: str) -> str:
    """Return text in the letters that a PDF's own fonts have; others become question marks, the HTML has them."""
    return clean(text).encode("latin-1", "replace").decode("latin-1")
