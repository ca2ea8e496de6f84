"""The stackup of a file row by row against the board's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import TypeVar

import tomli

from drc_rules.release.agreement import is_rounding, number_words, same_number
from drc_rules.release.board_side import BoardSide, SheetOfBoard
from drc_rules.release.model import ReleaseFinding, ReleaseOutcome
from stackup_lib.board.board import Board
from stackup_lib.board.stackup import LayerKind
from stackup_lib.fab_files.facts import FabFormat, SentFile, SentRow, StatedNumber

DIFFERS, NOT_STATED = ReleaseOutcome.DIFFERS, ReleaseOutcome.NOT_STATED
T = TypeVar("T")
OUNCE_UM = (34.3, 35.0)
"""1 oz/ft2 in micrometres: nominal of IPC-4562, and the value that KiCad divides by."""

NOMINAL_HALF_STEP_MM = 0.05
"""Nominal thicknesses of boards go in steps of 0.1 mm: 1.59 mm is a board of 1.6 mm."""

MOST_OF_NOMINAL = 0.025
"""Share that such a rounding may change: a quarter of the usual +-10 %, so what the fab makes stays the same."""

_CONSEQUENCE = {
    "thickness": "the fab makes another height: impedance, loss and board thickness change",
    "Dk": "the fab or its solver computes line widths for another Dk: impedance is off",
    "Df": "insertion loss is computed from a wrong Df",
    "material": "the fab may use another laminate",
    "type": "core and prepreg are exchanged: the lamination is another one",
    "copper weight": "the fab starts from another foil: width, impedance and current capacity change",
    "plies": "the fab uses another number of sheets: thickness and resin content change",
}
_PRECISION = "kicad-cli pcb export odb --precision 4 ..."


def row_findings(side: BoardSide, sent: SentFile) -> Iterator[ReleaseFinding]:
    """Return how the rows of one file's stackup differ from the board's."""
    if side.stackup is None or not sent.has_stackup:
        return
    copper = sum(row.kind is LayerKind.COPPER for row in sent.rows)
    if copper != len(side.names):
        return  # reported as a difference of layers
    ours = _by_gap([(sheet.gap, sheet.kind is LayerKind.COPPER, sheet) for sheet in side.sheets])
    theirs = _by_gap(list(_with_gaps(sent.rows)))
    for key in ours:
        sheets, rows = ours[key], theirs.get(key, [])
        if len(sheets) != len(rows):
            yield _plies(side, sent, sheets, rows)
            continue
        for sheet, row in zip(sheets, rows, strict=True):
            yield from _sheet(sheet, row, sent)
    for key, rows in theirs.items():
        if key not in ours and any(row.kind is not LayerKind.MASK for row in rows):
            yield _plies(side, sent, [], rows)


def _by_gap(rows: list[tuple[int, bool, T]]) -> dict[tuple[int, bool], list[T]]:
    return {key: [row for *_, row in group] for key, group in groupby(rows, lambda r: (r[0], r[1]))}


def _with_gaps(rows: tuple[SentRow, ...]) -> Iterator[tuple[int, bool, SentRow]]:
    gap = 0
    for row in rows:
        gap += row.kind is LayerKind.COPPER
        yield gap, row.kind is LayerKind.COPPER, row


def _plies(side: BoardSide, sent: SentFile, sheets: list[SheetOfBoard], rows: list[SentRow]) -> ReleaseFinding:
    gap = sheets[0].gap if sheets else 0
    where = sheets[0].label.partition(",")[0] if sheets else f"below {side.name(gap - 1)}"
    return ReleaseFinding(
        outcome=DIFFERS,
        topic="plies",
        what=where,
        place=rows[0].place if rows else sent.path,
        board=_total(len(sheets), sum(s.ply.thickness_mm or 0.0 for s in sheets)),
        sent=_total(len(rows), sum(r.thickness_mm.value if r.thickness_mm else 0.0 for r in rows)),
        consequence=_CONSEQUENCE["plies"],
        fix=_fix(sent),
    )


def _total(count: int, total_mm: float) -> str:
    return f"{count} {'row' if count == 1 else 'rows'}, {number_words(total_mm)} mm"


def _fix(sent: SentFile) -> str:
    if sent.format is FabFormat.IPC2581:
        return "stackwright release --fix writes a correct IPC-2581 next to it"
    if sent.format is FabFormat.ODB:
        return "send IPC-2581 from `release --fix`, or the stackup of `fab-pack`, with it"
    return "export it again from the board that was checked"


def _sheet(sheet: SheetOfBoard, row: SentRow, sent: SentFile) -> Iterator[ReleaseFinding]:
    if sheet.kind is not row.kind and LayerKind.OTHER not in (sheet.kind, row.kind):
        yield _found("type", sheet.label, row.place, board=sheet.kind.value, sent=row.kind.value, fix=_fix(sent))
    ply = sheet.ply
    is_dielectric = sheet.kind in (LayerKind.CORE, LayerKind.PREPREG)
    if is_dielectric and not (row.thickness_mm or row.material or row.dk or row.df):
        yield _missing("stackup row", sheet.label, row.place, _sheet_words(sheet), sent)
        return
    yield from _number("thickness", sheet, ply.thickness_mm, row.thickness_mm, row=row, sent=sent, unit=" mm")
    if is_dielectric or (row.dk and ply.dk is not None):
        yield from _number("Dk", sheet, ply.dk, row.dk, row=row, sent=sent)
        yield from _number("Df", sheet, ply.df, row.df, row=row, sent=sent)
    if is_dielectric and ply.material:
        if row.material is None:
            yield _missing("material", sheet.label, row.place, ply.material, sent)
        elif _plain(row.material.value) != _plain(ply.material):
            yield _found(
                "material", sheet.label, row.material.place, board=ply.material, sent=row.material.value, fix=_fix(sent)
            )
    if sheet.kind is LayerKind.COPPER and row.copper_oz and ply.thickness_mm:
        low, high = (row.copper_oz.value * um / 1000 for um in OUNCE_UM)
        half = 0.5 * row.copper_oz.step * OUNCE_UM[1] / 1000
        if not low - half <= ply.thickness_mm <= high + half:
            words = f"{number_words(ply.thickness_mm)} mm"
            sent_words = f"{number_words(row.copper_oz.value)} oz"
            yield _found(
                "copper weight", sheet.label, row.copper_oz.place, board=words, sent=sent_words, fix=_fix(sent)
            )


def _sheet_words(sheet: SheetOfBoard) -> str:
    ply = sheet.ply
    values = (("", ply.thickness_mm, " mm"), ("Dk ", ply.dk, ""), ("Df ", ply.df, ""))
    words = [f"{name}{number_words(value, unit)}" for name, value, unit in values if value is not None]
    return ", ".join([*words, *([ply.material] if ply.material else [])])


def _number(
    topic: str,
    sheet: SheetOfBoard,
    ours: float | None,
    theirs: StatedNumber | None,
    *,
    row: SentRow,
    sent: SentFile,
    unit: str = "",
) -> Iterator[ReleaseFinding]:
    if ours is None:
        return
    if theirs is None:
        yield _missing(topic, sheet.label, row.place, number_words(ours, unit), sent)
    elif not same_number(ours, theirs):
        fix = _fix(sent)
        if is_rounding(ours, theirs):
            fix = f"the file rounds; {_PRECISION}" if sent.format is FabFormat.ODB else "export with more decimals"
        yield _found(
            topic,
            sheet.label,
            theirs.place,
            board=number_words(ours, unit),
            sent=number_words(theirs.value, unit),
            fix=fix,
        )


def _found(topic: str, what: str, place: str, *, board: str, sent: str, fix: str) -> ReleaseFinding:
    return ReleaseFinding(
        outcome=DIFFERS,
        topic=topic,
        what=what,
        place=place,
        board=board,
        sent=sent,
        consequence=_CONSEQUENCE[topic],
        fix=fix,
    )


def _missing(topic: str, what: str, place: str, board: str, sent: SentFile) -> ReleaseFinding:
    return ReleaseFinding(
        outcome=NOT_STATED,
        topic=topic,
        what=what,
        place=place,
        board=board,
        consequence="the fab asks, or takes a value of its own",
        fix=_fix(sent),
    )


def _plain(material: str) -> str:
    """A material's name without what formats replace: case, spaces and signs."""
    return re.sub(r"[^a-z0-9]+", "_", material.lower()).strip("_")


def finish_findings(side: BoardSide, sent: SentFile) -> Iterator[ReleaseFinding]:
    """Return how finish and total thickness of one file differ from the board's."""
    ours = side.stackup.copper_finish if side.stackup else None
    if ours and sent.finish:
        codes = _codes().get(_plain(ours), {_plain(ours)})
        if _plain(sent.finish.value) not in codes:
            yield ReleaseFinding(
                outcome=DIFFERS,
                topic="finish",
                what="surface finish",
                place=sent.finish.place,
                board=ours,
                sent=sent.finish.value,
                consequence="the fab plates another finish: solderability, RoHS, loss of outer layers",
                fix=_fix(sent),
            )
    thickness = side.stackup.thickness_mm if side.stackup else None
    if thickness is not None and sent.thickness_mm and not _is_whole(thickness, side.board, sent.thickness_mm):
        yield ReleaseFinding(
            outcome=DIFFERS,
            topic="thickness",
            what="whole board",
            place=sent.thickness_mm.place,
            board=number_words(thickness, " mm"),
            sent=number_words(sent.thickness_mm.value, " mm"),
            consequence="the fab makes another thickness: edge connectors and press-fit pins may not fit",
            fix="in KiCad, Board Setup > Physical Stackup, take the calculated thickness, and export again",
        )


def _is_whole(sum_mm: float, board: Board, sent: StatedNumber) -> bool:
    """Tell whether a file's total thickness is the sum of the rows, or its rounding by the file or by KiCad's board."""
    if same_number(sum_mm, sent):
        return True
    is_nominal = board.thickness_mm is not None and same_number(board.thickness_mm, sent)
    most_mm = min(NOMINAL_HALF_STEP_MM, MOST_OF_NOMINAL * sum_mm)
    return (is_nominal or is_rounding(sum_mm, sent)) and abs(sum_mm - sent.value) <= most_mm * (1 + 1e-6)


@cache
def _codes() -> dict[str, set[str]]:
    codes = tomli.loads(Path(__file__).with_name("finishes.toml").read_text(encoding="utf-8"))["codes"]
    return {_plain(name): {_plain(code) for code in same} for name, same in codes.items()}
