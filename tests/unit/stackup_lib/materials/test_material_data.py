"""The catalogue's data: every row is plausible, sourced and graded, and no name means two things."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterable
from importlib.resources import files
from itertools import pairwise
from statistics import median

import pytest

from stackup_lib.core.facts import Confidence
from stackup_lib.materials import (
    ConstructionKind,
    DielectricPoint,
    Foil,
    Grade,
    Laminate,
    MaterialSource,
    catalogue,
    copper_weights,
    foils,
    glass_styles,
    loss_class_from_df,
)
from stackup_lib.materials.data import laminate_files, read_toml
from stackup_lib.materials.words import key_of
from tests.support.each import each

LAMINATES = catalogue().laminates
TABLES = [
    "foils.toml",
    "glass_kinds.toml",
    "glass_styles.toml",
    "copper_weights.toml",
    "glass_weights.toml",
    "mechanics.toml",
]
DATA_FILES = [*laminate_files(), "names.toml", *TABLES]

DK_GOOD_TO = 0.06
"""What Dk over frequency is good to: two values printed to one decimal are off by 3 %, two methods by another 3 %."""

ALIKE = (
    {"KB-6165", "KB-6165F", "KB-6167F"},  # one resin with another filler; each sheet says so
    {"N4000-13", "N4000-13 EP"},  # the second is the first for lead-free soldering
    {"RO4350B", "VT-870"},  # made to take the other's place
)
"""Families whose sheets state the same values; any other two that agree in all would be a slip of the copyist."""


def points_of(laminate: Laminate) -> list[DielectricPoint]:
    return [*laminate.points, *(p for c in laminate.constructions for p in c.points)]


def sources_of(laminate: Laminate) -> list[MaterialSource]:
    rows: list[MaterialSource | None] = [laminate.source, laminate.loss_class_source]
    rows += [t.source for t in laminate.tg]
    rows += [c.source for c in laminate.constructions] + [p.source for p in points_of(laminate)]
    return [s for s in rows if s is not None]


@each(laminate=LAMINATES)
def test_every_figure_is_plausible(laminate: Laminate) -> None:
    """Dk 2 to 6, Df 0.0003 to 0.04, Tg 90 to 350 C, Td above Tg, and every point says something."""
    for point in points_of(laminate):
        assert point.dk is not None or point.df is not None
        assert point.dk is None or 2 <= point.dk <= 6
        assert point.df is None or 0.0003 <= point.df <= 0.04
        assert point.frequency_ghz is None or 0 < point.frequency_ghz <= 110
    for tg in laminate.tg:
        assert 90 <= tg.value_c <= 350
        assert laminate.td_c is None or laminate.td_c > tg.value_c
    for construction in laminate.constructions:
        assert 0.02 <= construction.thickness_mm <= 3.2
        assert construction.resin_content_pct is None or 35 <= construction.resin_content_pct <= 85
        assert construction.style is None or construction.style in glass_styles()
    assert all(0.02 <= t <= 3.2 for t in laminate.core_thicknesses_mm)


@each(laminate=LAMINATES)
def test_every_row_is_sourced_and_graded_and_engineering_gives_no_product_figures(laminate: Laminate) -> None:
    """A product's value rests on a document of its maker; knowledge without one carries identity and class only."""
    for source in sources_of(laminate):
        assert len(source.text) > 10
        assert source.grade in Grade
    if not laminate.generic:
        graded = [p.source.grade for p in points_of(laminate)] + [t.source.grade for t in laminate.tg]
        assert set(graded) <= {Grade.VENDOR, Grade.TRANSCRIBED}
    assert (laminate.loss_class is None) == (laminate.loss_class_source is None)


@each(laminate=LAMINATES)
def test_every_alias_and_family_name_finds_its_own_laminate(laminate: Laminate) -> None:
    """Nothing in the list of aliases is swallowed by styles, filler words or a neighbour's name."""
    for name in laminate.aliases:
        match = catalogue().find(name)
        assert match.laminate is laminate, name
        assert match.status == ("generic" if laminate.generic else "found")
    if not laminate.generic:
        assert catalogue().find(laminate.family).laminate is laminate


def test_no_alias_means_two_laminates() -> None:
    """After dropping case and punctuation each name is unique, and so is each family."""
    owners: dict[str, set[str]] = {}
    for laminate in LAMINATES:
        for alias in laminate.aliases:
            owners.setdefault(key_of(alias), set()).add(laminate.family)

    assert {key: names for key, names in owners.items() if len(names) > 1 or not key} == {}
    assert len({x.family for x in LAMINATES}) == len(LAMINATES)


def test_remarks_speak_of_families_that_exist_and_resolve_as_they_say() -> None:
    """One family: taken so, with its note; several or none: ambiguous. An assumption is flagged."""
    for remark in catalogue().remarks:
        match = catalogue().find(remark.name)
        assert all(catalogue().get(f) for f in remark.families), remark.name
        assert remark.note in match.note, remark.name
        assert match.status == ("found" if len(remark.families) == 1 else "ambiguous")
        assert match.confidence is not Confidence.HIGH
        assert (match.assumed_alias == remark.name) is remark.assumed


def test_the_loss_class_agrees_with_the_figures() -> None:
    """Where a Df reaches 10 GHz with at least medium confidence, the class is the one that it gives."""
    measured = [(x, x.df_at(10)) for x in LAMINATES]
    measured = [(x, df) for x, df in measured if df.known and df.confidence is not Confidence.LOW]

    assert len(measured) > 40
    assert [x.family for x, df in measured if x.loss_class is not loss_class_from_df(df.need())] == []


@each(laminate=LAMINATES)
def test_typical_df_never_falls_by_more_than_a_rounding_step_with_frequency(laminate: Laminate) -> None:
    """A drop would mean that two sheets which do not fit together were joined."""
    typical = sorted(
        (p.frequency_ghz, p.df)
        for p in laminate.points
        if p.typical and p.frequency_ghz is not None and p.df is not None
    )
    for (_, before), (_, after) in pairwise(typical):
        assert after > before - 0.0006
    assert len({f for f, _ in typical}) == len(typical), "one typical value per frequency"


def every_series(laminate: Laminate) -> list[list[DielectricPoint]]:
    """Values of one laminate that belong together, each by rising frequency."""
    together = [[p for p in laminate.points if p.typical], *(list(c.points) for c in laminate.constructions)]
    stated = [[p for p in points if p.frequency_ghz is not None] for points in together]
    return [sorted(points, key=lambda p: p.frequency_ghz or 0.0) for points in stated]


@each(laminate=LAMINATES)
def test_no_series_has_a_dk_that_rises_or_a_df_that_falls_with_frequency(laminate: Laminate) -> None:
    """Dk rises by 2 % at most, where the method of measurement changes; Df falls by a rounding step at most."""
    for points in every_series(laminate):
        dks = [p.dk for p in points if p.dk is not None]
        dfs = [p.df for p in points if p.df is not None]
        assert all(after <= before * 1.02 for before, after in pairwise(dks)), points
        assert all(after > before - 0.0006 for before, after in pairwise(dfs)), points


@each(laminate=LAMINATES)
def test_dk_falls_with_frequency_as_df_demands(laminate: Laminate) -> None:
    """Over each series Dk falls by 2/pi Df per unit of ln f (Kramers-Kronig for a slowly varying loss).

    Two sheets of different constructions that were joined into one series would stand out.
    """
    for points in every_series(laminate):
        known = [(p.frequency_ghz, p.dk) for p in points if p.dk is not None and p.frequency_ghz is not None]
        dfs = [p.df for p in points if p.df is not None]
        if len(known) > 1 and dfs:
            (first_ghz, first), (last_ghz, last) = known[0], known[-1]
            demanded = 2 / math.pi * (sum(dfs) / len(dfs)) * math.log(last_ghz / first_ghz)
            assert 1 - last / first == pytest.approx(demanded, abs=DK_GOOD_TO), points


def test_no_two_laminates_have_the_same_figures_but_those_that_are_known_to() -> None:
    """A copied row would give two families all their typical points in common, or a whole table of constructions."""
    owners: dict[tuple[object, ...], set[str]] = {}
    for laminate in LAMINATES:
        points = tuple((p.frequency_ghz, p.dk, p.df) for p in laminate.points if p.typical and p.df is not None)
        tables = tuple((str(c), *((p.frequency_ghz, p.dk, p.df) for p in c.points)) for c in laminate.constructions)
        for figures in {points, tables} if not laminate.generic else set():
            if len(figures) > 1:  # one point in common is no wonder
                owners.setdefault(figures, set()).add(laminate.family)

    same = [names for names in owners.values() if len(names) > 1]
    assert sorted(map(sorted, same)) == sorted(map(sorted, ALIKE))


def test_prepregs_of_one_glass_style_hold_the_same_amount_of_glass() -> None:
    """Thickness and resin content give the glass in a ply: a row whose style slipped in a table would stand out.

    Densities 2.5 (glass) and 1.3 (resin) g/cm3; low-Dk glass is lighter, hence 15 %.
    """
    glass: dict[str, list[tuple[float, str]]] = {}
    for laminate in LAMINATES:
        for row in laminate.constructions:
            if row.kind is ConstructionKind.PREPREG and row.style and row.resin_content_pct:
                resin = row.resin_content_pct / 100
                share = (1 - resin) / 2.5 / ((1 - resin) / 2.5 + resin / 1.3)
                glass.setdefault(row.style, []).append((row.thickness_mm * share, f"{laminate.family}: {row}"))

    assert sum(map(len, glass.values())) > 120
    for rows in glass.values():
        usual = median(amount for amount, _ in rows)
        assert [name for amount, name in rows if abs(amount / usual - 1) > 0.15] == []


@each(laminate=[x for x in LAMINATES if len(x.constructions) > 5])
def test_dk_falls_with_resin_content_over_the_prepregs_of_a_laminate(laminate: Laminate) -> None:
    """Resin has a lower Dk than glass: a ply with 3 % more resin never has a higher Dk."""
    rows = [
        (c.resin_content_pct, c.points[-1].dk)
        for c in laminate.constructions
        if c.kind is ConstructionKind.PREPREG and c.resin_content_pct and c.points and c.points[-1].frequency_ghz
    ]
    for resin, dk in rows:
        assert resin is not None
        assert dk is not None
        assert all(b < dk for r, b in rows if r is not None and b is not None and r >= resin + 3), (resin, dk)


def numbers_without_source(node: object, path: str, sourced: bool) -> Iterable[str]:
    """Yield where a number stands in no table that names a source."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key != "source" or not isinstance(value, dict):
                yield from numbers_without_source(value, f"{path}.{key}", sourced or "source" in node)
    elif isinstance(node, list):
        for value in node:
            yield from numbers_without_source(value, path, sourced)
    elif isinstance(node, (int, float)) and not isinstance(node, bool) and not sourced:
        yield f"{path} = {node}"


@each(name=[n for n in DATA_FILES if n != "names.toml"])
def test_every_number_stands_in_a_table_that_names_its_source(name: str) -> None:
    """Of laminates, foils, glass, copper weights and mechanics alike."""
    data = read_toml(name)
    sources = data.pop("source")

    assert list(numbers_without_source(data, name, sourced=False)) == []
    assert all(len(s["text"]) > 10 and s["grade"] in set(Grade) for s in sources.values())


@each(foil=foils())
def test_every_foil_has_a_roughness_that_hangs_together(foil: Foil) -> None:
    """The least Rz is below the largest, a nominal one not above it; Rq 0.2 to 4 um; a value names its method."""
    low, high = foil.rz_um
    assert low is not None or high is not None
    assert low is None or high is None or low <= high
    assert foil.rz_nominal_um is None or (foil.rz_max_um is not None and foil.rz_nominal_um <= foil.rz_max_um)
    assert foil.rq_um is None or 0.2 <= foil.rq_um <= 4
    assert foil.method or foil.source.grade is Grade.ENGINEERING or foil.ambiguous


@each(name=DATA_FILES)
def test_data_name_documents_not_carriers(name: str) -> None:
    """Sources are makers' documents: no addresses of pages that passed them on, no repositories."""
    text = (files("stackup_lib.materials") / name).read_text(encoding="utf-8")

    assert not re.search(r"https?:|www\.|github|gitlab|wiki|blog|forum|\.(com|org|net|io|ts|json|csv)\b", text, re.I)


@each(name=[n for n in DATA_FILES if n != "names.toml"])
def test_every_source_in_a_file_is_used_by_a_row(name: str) -> None:
    """A source that nothing rests on is a leftover."""
    data = read_toml(name)
    text = (files("stackup_lib.materials") / name).read_text(encoding="utf-8")

    used = set(re.findall(r'\b(?:loss_class_)?source = "([^"]+)"', text))
    assert used == set(data["source"])


def test_the_other_tables_are_in_order_and_plausible() -> None:
    """Foils, copper weights and glass styles: unique names, growing weights, sane lengths."""
    names = [key_of(a) for f in foils() for a in f.aliases]
    weights = copper_weights()

    assert len(names) == len(set(names))
    assert all(0.3 <= x <= 15 for f in foils() for x in f.rz_um if x is not None)
    assert all(a.oz < b.oz and a.nominal_um < b.nominal_um for a, b in pairwise(weights))
    for weight in weights:
        assert weight.nominal_um == pytest.approx(34.3 * weight.oz, rel=0.07)
        assert weight.internal_min_um < 0.9 * weight.nominal_um < weight.external_class2_min_um
        assert weight.external_class3_min_um == pytest.approx(weight.external_class2_min_um + 5)
    assert len(glass_styles()) > 15
    assert all(s.thickness_mm is None or 0.02 < s.thickness_mm < 0.3 for s in glass_styles().values())


def test_the_bands_of_copper_thickness_do_not_overlap() -> None:
    """A thickness has one class."""
    bands = [(b["from_um"], b["to_um"]) for b in read_toml("copper_weights.toml")["band"]]

    assert all(a[1] <= b[0] for a, b in pairwise(bands))
    assert all(low < high for low, high in bands)


def test_names_found_in_the_text_are_those_of_the_data() -> None:
    """A board's laminate is found by them; only then is the rest of it read."""
    files = [read_toml(name) for name in laminate_files()]
    full = {row["family"]: (data["maker"], row) for data in files for row in data["laminate"]}

    assert [entry.family for entry in catalogue().entries] == [one.family for one in LAMINATES]
    assert full.keys() == {one.family for one in LAMINATES}
    for entry in catalogue().entries:
        maker, row = full[entry.family]
        assert (entry.maker, entry.aliases, entry.generic) == (maker, tuple(row["aliases"]), row.get("generic", False))
        assert repr(tomllib.loads(entry.text)) == repr(row)  # some values are nan
