"""A workbook as a European fab writes it: a cover sheet, merged cells, micrometres, decimal commas as text."""

from __future__ import annotations

import io

import openpyxl

_ROWS: tuple[tuple[object, ...], ...] = (
    (None, "Lötstoppmaske", "Lötstopp", None, "20,0", "Elpemer 2467", "3,70", None),
    (1, "TOP", "Kupfer", 18, "42,0", None, None, None),
    (None, None, "Prepreg", None, "66,5", "IS410 1080 RC64%", "3,82", "0,021"),
    (2, "GND", "Kupfer", 35, "35,0", None, None, None),
    (None, None, "Kern", None, "1200,0", "IS410", "4,20", "0,020"),
    (3, "PWR", "Kupfer", 35, "35,0", None, None, None),
    (None, None, "Prepreg", None, "66,5", "IS410 1080 RC64%", "3,82", "0,021"),
    (4, "BOT", "Kupfer", 18, "42,0", None, None, None),
    (None, "Lötstoppmaske", "Lötstopp", None, "20,0", "Elpemer 2467", "3,70", None),
)


def fab_workbook() -> bytes:
    """Return the workbook: four layers, the lines on a sheet of their own."""
    book = openpyxl.Workbook()
    cover = book.active
    assert cover is not None
    cover.title = "Deckblatt"
    cover.append(["Alpenland Leiterplatten GmbH"])
    sheet = book.create_sheet("Lagenaufbau")
    sheet["A1"] = "Lagenaufbau 4 Lagen, Dicke 1,55 mm"
    sheet.merge_cells("A1:H1")
    sheet.append([])
    sheet.append(["Nr", "Bezeichnung", "Typ", "Dicke", None, "Material", "εr", "tan δ"])
    sheet.merge_cells("D3:E3")
    sheet.append([None, None, None, "base [µm]", "final [µm]", None, None, None])
    for row in _ROWS:
        sheet.append(row)
    sheet.append(["Gesamtdicke", None, None, None, "1527,0"])
    sheet.append(["Hinweis: Angaben ohne Gewähr, Toleranz ±10 %"])
    lines = book.create_sheet("Impedanzen")
    lines.append(["Layer", "Type", "Target [Ohm]", "Line width [µm]", "Spacing [µm]", "Calculated [Ohm]"])
    lines.append([1, "differential", 100, "105,0", "150,0", "99,4"])
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()
