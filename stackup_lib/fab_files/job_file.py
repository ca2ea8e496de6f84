"""Gerber job files: stackup, finish, size and the list of files (Ucamco, Gerber Job File Format)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal

from stackup_lib.board.stackup import LayerKind
from stackup_lib.fab_files.archive import Member
from stackup_lib.fab_files.facts import (
    FabFileError,
    FabFormat,
    SentFile,
    SentRow,
    StatedNumber,
    StatedText,
    stated_number,
)

_KINDS = {"Copper": LayerKind.COPPER, "Dielectric": LayerKind.OTHER, "SolderMask": LayerKind.MASK}


def read_job(member: Member) -> SentFile:
    """Return what a Gerber job file states.

    Raises:
        FabFileError: it is no such file.
    """
    place = member.place
    try:
        data = json.loads(member.read(), parse_float=Decimal)
        general = data.get("GeneralSpecs", {})
        stackup = data.get("MaterialStackup", [])
        files = [(str(f.get("Path", "")), str(f.get("FileFunction", ""))) for f in data.get("FilesAttributes", [])]
        rows = tuple(_rows(stackup, place))
        size = general.get("Size", {})
        x, y = _value(size.get("X"), f"{place}, Size"), _value(size.get("Y"), f"{place}, Size")
        software = data.get("Header", {}).get("GenerationSoftware", {})
        words = [str(software.get(key, "")) for key in ("Vendor", "Application", "Version")]
        finish, controlled = general.get("Finish"), general.get("ImpedanceControlled")
        return SentFile(
            place,
            FabFormat.JOB,
            ",".join(words),
            rows=rows,
            finish=StatedText(str(finish), f"{place}, Finish") if finish else None,
            thickness_mm=_value(general.get("BoardThickness"), f"{place}, BoardThickness"),
            layer_count=_value(general.get("LayerNumber"), f"{place}, LayerNumber"),
            size_mm=(x, y) if x and y else None,
            size_has_line=True,
            is_controlled=None
            if controlled is None
            else StatedText("yes" if controlled else "no", f"{place}, ImpedanceControlled"),
            file_layers=tuple(files),
        )
    except (ValueError, AttributeError, TypeError, RecursionError) as error:
        raise FabFileError(place, "is no Gerber job file that can be read", "export the Gerber files again") from error


def _value(value: object, place: str) -> StatedNumber | None:
    return None if value is None or isinstance(value, bool) else stated_number(str(value), place)


def _rows(stackup: list[dict[str, object]], place: str) -> Iterator[SentRow]:
    for number, row in enumerate(stackup, start=1):
        kind = _KINDS.get(str(row.get("Type")))
        if kind is None:
            continue
        name = str(row.get("Name", ""))
        at = f"{place}, MaterialStackup {number}"
        notes = str(row.get("Notes", "")).lower()
        if kind is LayerKind.OTHER and "core" in notes:
            kind = LayerKind.CORE
        elif kind is LayerKind.OTHER and "prepreg" in notes:
            kind = LayerKind.PREPREG
        material = row.get("Material")
        yield SentRow(
            kind,
            name,
            at,
            _value(row.get("Thickness"), at),
            StatedText(str(material), at) if material else None,
            _value(row.get("DielectricConstant"), at),
            _value(row.get("LossTangent"), at),
        )
