"""Reads the folders of named stackups: `fab.toml`, `sheets.csv`, and `stackups.csv` with one stackup a line.

Read by commands about fabs' stackups, and where the settings name one that is ordered: no other check reads them.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from drc_rules.requirements.data_files import read_model, read_text
from drc_rules.requirements.fabs.stackups.model import FabEdition, NamedSheet, NamedStackup
from stackup_lib.core.errors import ConfigError, did_you_mean

FOLDER = Path(__file__).parent
Made = TypeVar("Made", NamedSheet, NamedStackup)

ABOUT, SHEETS, STACKUPS = "fab.toml", "sheets.csv", "stackups.csv"


@cache
def editions() -> tuple[FabEdition, ...]:
    """Return all editions, by fab, the latest first."""
    found = [read_model(path, FabEdition) for path in FOLDER.glob(f"*/{ABOUT}")]
    return tuple(sorted(found, key=lambda one: (one.fab, -one.date.toordinal())))


@cache
def named_stackups() -> tuple[NamedStackup, ...]:
    """Return every stackup of every edition; raises `ConfigError` for data that cannot be read."""
    return tuple(one for path in sorted(FOLDER.glob(f"*/{ABOUT}")) for one in read_edition(path.parent))


def read_edition(folder: Path) -> tuple[NamedStackup, ...]:
    """Return the stackups of one folder.

    Raises:
        ConfigError: a file is missing, or a line of it makes no sense.
    """
    edition = read_model(folder / ABOUT, FabEdition)
    sheets = {row.pop("key"): _sheet(row, folder) for row in _rows(folder / SHEETS)}
    return tuple(_stackup(row, sheets, edition, folder) for row in _rows(folder / STACKUPS))


def stackups_of(fab: str | None = None, *, superseded: bool = True) -> tuple[NamedStackup, ...]:
    """Return the stackups of one fab, or of all; raises `ConfigError` for a fab that is not known."""
    known = dict.fromkeys(one.fab for one in editions())
    if fab is not None and fab not in known:
        raise ConfigError("--fab", f'no stackups of "{fab}"', did_you_mean(fab, known))
    return tuple(
        one
        for one in named_stackups()
        if fab in (None, one.edition.fab) and (superseded or not one.edition.is_superseded)
    )


def find(name: str, among: Iterable[NamedStackup]) -> tuple[NamedStackup, ...]:
    """Return the stackups of a name, in any case.

    Raises:
        ConfigError: there is none.
    """
    stackups = tuple(among)
    found = tuple(one for one in stackups if name.casefold() in (one.name.casefold(), one.order.casefold()))
    if not found:
        names = dict.fromkeys(one.name for one in stackups)
        raise ConfigError("stackup", f'no fab offers "{name}"', did_you_mean(name, names))
    return found


def _rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(read_text(path))))


def _sheet(row: Mapping[str, str], folder: Path) -> NamedSheet:
    return _made(NamedSheet, row, folder / SHEETS)


def _stackup(
    row: Mapping[str, str], sheets: Mapping[str, NamedSheet], edition: FabEdition, folder: Path
) -> NamedStackup:
    keys = row["rows"].split()
    if unknown := [key for key in keys if key not in sheets]:
        raise ConfigError(str(folder / STACKUPS), f'{row["name"]}: no sheet "{unknown[0]}"', f"add it to {SHEETS}")
    rows = tuple(sheets[key] for key in keys)
    return _made(NamedStackup, {**row, "rows": rows, "edition": edition}, folder / STACKUPS)


def _made(model: type[Made], row: Mapping[str, object], path: Path) -> Made:
    try:
        return model.model_validate({key: value for key, value in row.items() if value != ""})
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise ConfigError(str(path), f'"{key}": {first["msg"]}', "correct that line") from error
