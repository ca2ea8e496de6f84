"""The catalogue of laminates: loaded once from the TOML files, iterable, searchable by what people type."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache, cached_property

from stackup_lib.core.record import record
from stackup_lib.materials.data import Table, laminate_files, read_toml, sources_of
from stackup_lib.materials.glass import glass_kinds, glass_styles
from stackup_lib.materials.lookup import AliasIndex, Match, MaterialRemark, resolve
from stackup_lib.materials.model import Construction, DielectricPoint, Laminate
from stackup_lib.materials.sources import MaterialSource
from stackup_lib.materials.words import Vocabulary, key_of


@record
class Catalogue:
    """All laminates, sorted by maker and family, and the remarks on names that need one."""

    laminates: tuple[Laminate, ...]
    remarks: tuple[MaterialRemark, ...]
    vocabulary: Vocabulary

    def get(self, family: str) -> Laminate | None:
        """Return a laminate by its exact family name."""
        return next((x for x in self.laminates if x.family == family), None)

    def find(self, text: str) -> Match:
        """Resolve what a user typed into family, glass style and resin content; never guesses silently."""
        if text not in self._found:
            self._found[text] = resolve(text, self._index)
        return self._found[text]

    def search(self, query: str) -> list[Laminate]:
        """Return the laminates that a query may mean: part of a name, an alias, a maker or a loss class; all for ""."""
        match = self.find(query)
        key = key_of(query)
        hits = [x for x in self.laminates if any(key in key_of(word) for word in _words(x))]
        first = [match.laminate] if match.laminate else [x for x in map(self.get, match.alternatives) if x]
        return list({x.family: x for x in [*first, *hits]}.values()) if key else list(self.laminates)

    @cached_property
    def _found(self) -> dict[str, Match]:
        return {}

    @cached_property
    def _index(self) -> AliasIndex:
        return AliasIndex(
            by_key={key_of(alias): x for x in self.laminates for alias in x.aliases},
            remarks={key_of(remark.name): remark for remark in self.remarks},
            vocabulary=self.vocabulary,
        )


def _words(laminate: Laminate) -> tuple[str, ...]:
    label = laminate.loss_class.label if laminate.loss_class else ""
    return (laminate.family, laminate.maker, *laminate.aliases, *([f"{label} loss"] if label else []))


@cache
def catalogue() -> Catalogue:
    """Return the catalogue; the files are read and validated at the first call."""
    laminates: list[Laminate] = []
    for name in laminate_files():
        data = read_toml(name)
        sources = sources_of(data)
        laminates += [_laminate(row, data["maker"], sources) for row in data["laminate"]]
    laminates.sort(key=lambda x: (x.generic, x.maker.lower(), x.family.lower()))
    names = read_toml("names.toml")
    return Catalogue(
        laminates=tuple(laminates),
        remarks=tuple(MaterialRemark.model_validate(row) for row in names["remark"]),
        vocabulary=Vocabulary(
            styles=frozenset(glass_styles()),
            maker_words=frozenset(names["maker_words"]),
            filler_words=frozenset([*names["filler_words"], *names["fab_words"]]),
            stackup_names=tuple(names["stackup_names"]),
            glass_words={word: kind for kind, row in glass_kinds().items() for word in row.words},
        ),
    )


def _laminate(row: Table, maker: str, sources: Mapping[str, MaterialSource]) -> Laminate:
    row = dict(row)
    points = [p for series in row.pop("points", []) for p in _points(series, sources)]
    constructions = [_construction(c, sources) for c in row.pop("constructions", [])]
    tg = [{**t, "source": sources[t["source"]]} for t in row.pop("tg", [])]
    row["source"] = sources[row["source"]]
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
