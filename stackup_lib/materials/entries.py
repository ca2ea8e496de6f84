"""The laminates of the makers' files by name, of which only those that a board names are read.

Reading and checking all of them takes longer than reading a small board. Names are found in the text as our files write
them; a test reads every file in full and compares.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from functools import cached_property

import tomli

from stackup_lib.core.record import record
from stackup_lib.materials.data import Table, laminate_files, read_text, sources_of
from stackup_lib.materials.model import Construction, DielectricPoint, Laminate
from stackup_lib.materials.sources import MaterialSource

BEGIN = "\n[[laminate]]\n"
"""What a laminate of a maker's file begins with; above the first are maker and sources."""

_MAKER = re.compile(r'^maker = "(.+)"$', re.MULTILINE)
_FAMILY = re.compile(r'^family = "(.+)"$', re.MULTILINE)
_ALIASES = re.compile(r"^aliases = \[(.*?)\]$", re.MULTILINE | re.DOTALL)
_QUOTED = re.compile(r'"([^"]*)"')
_GENERIC = re.compile(r"^generic = true$", re.MULTILINE)


@record
class _Head:
    """What all laminates of a file have in common."""

    text: str

    @cached_property
    def maker(self) -> str:
        return _named(_MAKER, self.text)

    @cached_property
    def sources(self) -> Mapping[str, MaterialSource]:
        return sources_of(tomli.loads(self.text))


@record
class LaminateEntry:
    """A laminate by its names; `laminate` reads the rest."""

    family: str
    aliases: tuple[str, ...]
    generic: bool
    text: str
    head: _Head

    @property
    def maker(self) -> str:
        """Who makes it."""
        return self.head.maker

    @cached_property
    def laminate(self) -> Laminate:
        """All that is known of it."""
        return _laminate(tomli.loads(self.text), self.maker, self.head.sources)


def laminate_entries() -> list[LaminateEntry]:
    """Return every laminate, sorted by maker and family, those that are no product last."""
    found = [entry for name in laminate_files() for entry in _entries(read_text(name))]
    return sorted(found, key=lambda one: (one.generic, one.maker.lower(), one.family.lower()))


def _entries(text: str) -> Iterator[LaminateEntry]:
    above, *parts = text.split(BEGIN)
    head = _Head(above)
    for part in parts:
        aliases = tuple(_QUOTED.findall(_named(_ALIASES, part)))
        yield LaminateEntry(_named(_FAMILY, part), aliases, _GENERIC.search(part) is not None, part, head)


def _named(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    if found is None:
        raise ValueError(f"no {pattern.pattern} in {text[:80]!r}")
    return found[1]


def _laminate(row: Table, maker: str, sources: Mapping[str, MaterialSource]) -> Laminate:
    row = dict(row)
    points = [p for series in row.pop("points", []) for p in _points(series, sources)]
    constructions = [_construction(c, sources) for c in row.pop("constructions", [])]
    tg = [{**t, "source": sources[t["source"]]} for t in row.pop("tg", [])]
    row["source"] = sources[row["source"]]
    if "sheets" in row:
        row["sheets"] = {**row["sheets"], "source": sources[row["sheets"]["source"]]}
    if "loss_class_source" in row:
        row["loss_class_source"] = sources[row["loss_class_source"]]
    return Laminate.model_validate(
        {"maker": maker, **row, "points": points, "constructions": constructions, "tg": tg},
    )


def _points(series: Table, sources: Mapping[str, MaterialSource]) -> list[DielectricPoint]:
    """Expand one series: `ghz`, `dk`, `df` are lists of one length; without `ghz` the frequency is not stated."""
    dk, df = series.get("dk"), series.get("df")
    length = len(dk or df or ())
    ghz = series.get("ghz") or [None] * length
    source = sources[series["source"]]
    shared = {k: series[k] for k in ("construction", "style", "resin_content_pct", "typical", "design") if k in series}
    columns = zip(ghz, dk or [None] * length, df or [None] * length, strict=True)
    return [
        DielectricPoint(frequency_ghz=f, dk=_value(a), df=_value(b), source=source, **shared) for f, a, b in columns
    ]


def _value(number: float | None) -> float | None:
    return None if number is None or math.isnan(number) else number


def _construction(row: Table, sources: Mapping[str, MaterialSource]) -> Construction:
    columns: Table = {k: row[k] for k in ("ghz", "dk", "df", "source", "resin_content_pct") if k in row}
    rest = {k: v for k, v in row.items() if k not in ("ghz", "dk", "df", "source")}
    has_values = "dk" in row or "df" in row
    points = tuple(_points(columns, sources)) if has_values else ()
    return Construction.model_validate({**rest, "points": points, "source": sources[row["source"]]})
