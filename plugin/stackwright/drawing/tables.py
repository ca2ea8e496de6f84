"""The stackup as tables: terminal text, Markdown, CSV and JSON; each harmless whatever the board file holds."""

from __future__ import annotations

import csv
import io
import json
import re

from rich.text import Text

from drc_rules.report.stackup_rows import StackupRow, StackupView
from stackwright.drawing import words
from stackwright.text.markup import escape
from stackwright.text.page import Column, Page, styled
from stackwright.text.words import clean, number

FORMAT = "stackwright-stackup"
VERSION = 1

_NO_FORMULA = re.compile(r"[+-]?\d+(\.\d+)?|[+-]\d+[A-Za-z][\w.]*", re.ASCII)
"""A number, and the name of a supply, `+3V3_AUX`: digits with letters behind them are no cell and no function."""
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")

CSV_HEAD = (
    "layer",
    "user name",
    "kind",
    "thickness mm",
    "material",
    "material stated by",
    "laminate",
    "loss class",
    "Dk stated",
    "Df stated",
    "Df at 10 GHz",
    "Df source",
    "copper oz",
    "foil",
    "role",
    "main net",
    "interfaces",
)


def page(view: StackupView, title: str) -> Page:
    """Lay the stackup out for the terminal."""
    out = Page()
    out.line(styled(title, "bold"), f"  {words.total(view)}")
    for remark in words.remarks(view):
        out.line(styled(remark, "yellow"), indent=2)
    out.gap()
    head = ("layer", "kind", "thickness", "material or use", "oz or Df", "foil")
    columns = [Column(max_width=24), Column(), Column(right=True), Column(wraps=True), Column(wraps=True), Column()]
    shown = len(head) if any(row.foil for row in view.rows) else len(head) - 1
    out.rows(columns[:shown], [_cells(row)[:shown] for row in view.rows], head=head[:shown])
    if shown < len(head):
        out.line(f"foil: {words.UNDECLARED} for any layer", indent=2)
    out.heading("Vias", "" if view.spans else "none")
    for span in view.spans:
        out.line(words.via_span(span), indent=2)
    return out


def _cells(row: StackupRow) -> tuple[str | Text, ...]:
    name = words.full_name(row)
    if row.is_copper:
        use = ", ".join(part for part in (words.role(row), words.interfaces(row)) if part)
        weight, foil = words.copper_weight(row), row.foil.grade if row.foil else words.UNDECLARED
        return styled(name, "bold"), words.kind(row), words.thickness(row), use, weight, foil
    loss = "" if words.is_mask(row) else words.df(row)
    return name, words.kind(row), words.thickness(row), words.material(row), loss, ""


def markdown(view: StackupView, title: str) -> str:
    """Return a heading, a table of the rows and a list of the via spans, for GitHub and friends."""
    head = ("Layer", "Kind", "Thickness", "Material or use", "Laminate", "Dk", "Df at 10 GHz", "Copper", "Foil")
    lines = [f"# {escape(title)}", "", f"{escape(words.total(view))}.", ""]
    for remark in words.remarks(view):
        lines += [f"> {escape(remark)}", ""]
    lines += ["| " + " | ".join(head) + " |", "|---|---|---:|---|---|---:|---:|---|---|"]
    lines += ["| " + " | ".join(escape(cell) for cell in _markdown_cells(row)) + " |" for row in view.rows]
    lines += ["", *(f"- {escape(words.via_span(span))}" for span in view.spans)]
    return "\n".join(lines).rstrip() + "\n"


def _markdown_cells(row: StackupRow) -> tuple[str, ...]:
    name, what, thick = words.full_name(row), words.kind(row), words.thickness(row)
    if row.is_copper:
        use = ", ".join(part for part in (words.role(row), words.interfaces(row)) if part)
        return name, what, thick, use, "", "", "", words.copper_weight(row), row.foil.grade if row.foil else "?"
    if words.is_mask(row):
        return name, what, thick, row.material, "", number(row.dk_stated), "", "", ""
    return name, what, thick, words.material(row), row.laminate or "", number(row.dk_stated), words.df(row), "", ""


def csv_text(view: StackupView) -> str:
    """Return one line per row, thicknesses in mm; what is not declared is empty."""
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerow(CSV_HEAD)
    for row in view.rows:
        df, oz = row.df_10ghz, row.copper_oz
        cells: tuple[str | float | None, ...] = (
            row.name,
            row.user_name,
            words.kind(row),
            row.thickness_mm,
            row.material,
            row.material_origin.value if row.material else "",
            row.laminate,
            row.loss_class,
            row.dk_stated,
            row.df_stated,
            round(df.value, 6) if df else None,
            df.source if df else "",
            oz.value if oz else None,
            row.foil.grade if row.foil else "",
            row.role.value if row.role else "",
            row.main_net,
            words.interfaces(row),
        )
        writer.writerow(["" if cell is None else in_csv(cell) for cell in cells])
    return out.getvalue()


def json_text(view: StackupView, path: str, sha256: str) -> str:
    """Return the view with its field names, and the board that it was read from."""
    data = {
        "format": FORMAT,
        "version": VERSION,
        "board": {"path": path, "sha256": sha256},
        "stackup": view.model_dump(mode="json"),
    }
    return json.dumps(data, indent=2, allow_nan=False) + "\n"


def in_csv(cell: str | float) -> str | float:
    """Return a cell that a spreadsheet does not take for a formula: a leading = + - @ gets an apostrophe before it.

    A signed number stays as it is, and so does the name of a supply, by which rows are looked up: `+12V`.
    """
    if not isinstance(cell, str):
        return cell
    text = clean(cell)
    return f"'{text}" if text.lstrip().startswith(_FORMULA) and not _NO_FORMULA.fullmatch(text) else text
