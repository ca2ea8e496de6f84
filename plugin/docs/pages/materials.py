"""The catalogue: laminates by maker with every value and its source, foils, glass styles, copper weights."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from docs.pages.markdown import Page, code, facts, folded, link, number, page, prose, table, title, tree
from stackup_lib.core.facts import Fact
from stackup_lib.materials import (
    DielectricPoint,
    Laminate,
    MaterialSource,
    Tg,
    catalogue,
    copper_weights,
    foils,
    glass_kinds,
    glass_styles,
)

AT_GHZ = 10.0


@cache
def makers() -> Mapping[str, tuple[Laminate, ...]]:
    """Laminates by maker, in the order of the alphabet."""
    names = sorted({laminate.maker for laminate in catalogue().laminates}, key=str.casefold)
    return {name: tuple(one for one in catalogue().laminates if one.maker == name) for name in names}


def name_of_maker(maker: str) -> str:
    """Name of a maker's page."""
    slug = re.sub(r"[^a-z0-9]+", "-", maker.lower()).strip("-")
    return f"materials/{slug or 'generic'}"


def pages() -> Iterator[Page]:
    """Index and makers."""
    rows = [
        (
            link(laminate.family, name_of_maker(maker)),
            prose(maker),
            laminate.loss_class.label if laminate.loss_class else "?",
            _plain(laminate.dk_at(AT_GHZ)),
            _plain(laminate.df_at(AT_GHZ), digits=3),
            _tg(laminate.tg_fact()),
        )
        for maker, laminates in makers().items()
        for laminate in laminates
    ]
    yield page(
        "materials/index",
        title("Materials"),
        "What the catalogue knows. A page per maker gives every figure with the sheet it is from; "
        "`stackwright materials NAME` tells what a name in a stackup is taken for.",
        title("Laminates", 2),
        f"{len(rows)} families; Dk and Df at {AT_GHZ:g} GHz, typical.",
        table(("laminate", "maker", "loss class", "Dk", "Df", "Tg (method)"), rows),
        *_foils(),
        *_glass_and_copper(),
        tree(name_of_maker(maker) for maker in makers()),
    )
    for maker, laminates in makers().items():
        sections = [block for laminate in laminates for block in _section(laminate)]
        yield page(name_of_maker(maker), title(maker or "Kinds of material"), *sections)


def _section(laminate: Laminate) -> Iterator[str]:
    yield title(laminate.family, 2)
    loss = laminate.loss_class_fact()
    tg = "; ".join(f"{_of_tg(one)}: {_from(one.source)}" for one in laminate.tg)
    yield facts(
        [
            ("kind", "a kind of material, no product" if laminate.generic else ""),
            ("also", prose(", ".join(laminate.aliases))),
            ("loss class", prose(f"{loss.value.label}: {loss.source}") if loss.value else ""),
            ("Tg", tg),
            ("Td", f"{laminate.td_c:g} C" if laminate.td_c else ""),
            ("cores, mm", ", ".join(f"{t:g}" for t in laminate.core_thicknesses_mm)),
            ("laminates", f"{laminate.sheets} ({_from(laminate.sheets.source)})" if laminate.sheets else ""),
            ("source", _from(laminate.source)),
            ("note", prose(laminate.note)),
        ]
    )
    if laminate.points:
        yield _points(laminate.points)
    if laminate.constructions:
        rows = []
        for one in laminate.constructions:
            known = "; ".join(f"{number(p.dk)} / {number(p.df)} at {number(p.frequency_ghz)} GHz" for p in one.points)
            rows.append((prose(str(one)), known, _from(one.source)))
        yield folded(f"{len(rows)} constructions", table(("construction", "Dk / Df", "source"), rows))


def _points(points: Sequence[DielectricPoint]) -> str:
    rows = []
    for p in points:
        resin = f"RC {p.resin_content_pct:g} %" if p.resin_content_pct else ""
        of = " ".join(word for word in (p.construction or "", resin) if word)
        typical = "for design" if p.design else "typical" if p.typical else "single figure"
        rows.append((number(p.frequency_ghz), number(p.dk), number(p.df), prose(of), typical, _from(p.source)))
    return table(("GHz", "Dk", "Df", "construction", "kind", "source"), rows)


def _foils() -> Iterator[str]:
    rows = []
    for foil in foils():
        ends = [number(foil.rz_min_um), number(foil.rz_max_um)]
        rz = " to ".join(ends) if all(ends) else f"from {ends[0]}" if ends[0] else f"up to {ends[1]}" if ends[1] else ""
        rows.append(
            (
                prose(foil.name),
                foil.grade.value,
                rz,
                number(foil.rz_nominal_um),
                number(foil.rq_um),
                _from(foil.source),
            )
        )
    yield title("Foils", 2)
    yield table(("foil", "grade", "Rz um", "nominal", "Rq um", "source"), rows)


def _glass_and_copper() -> Iterator[str]:
    glass = [
        (code(name), number(style.thickness_mm), number(style.resin_content_pct), _from(style.source))
        for name, style in glass_styles().items()
    ]
    yield title("Glass styles", 2)
    yield table(("style", "pressed, mm", "resin %", "source"), glass)
    kinds = [
        (prose(kind.title), number(kind.dk), number(kind.df), number(kind.ghz), _from(kind.source))
        for kind in glass_kinds().values()
    ]
    yield title("Kinds of glass", 2)
    yield table(("glass", "Dk", "Df", "GHz", "source"), kinds)
    copper = [(f"{w.oz:g}", f"{w.nominal_um:g}", f"{w.internal_min_um:g}", _from(w.source)) for w in copper_weights()]
    yield title("Copper weights", 2)
    yield table(("oz", "nominal um", "least finished, inner, um", "source"), copper)


def _from(source: MaterialSource) -> str:
    return prose(str(source))


def _plain(fact: Fact[float], digits: int = 4) -> str:
    return f"{fact.value:.{digits}g}" if fact.known and fact.value is not None else "?"


def _of_tg(tg: Tg) -> str:
    return f"{'at least ' if tg.is_minimum else ''}{tg.value_c:g} C ({tg.method.value})"


def _tg(fact: Fact[Tg]) -> str:
    return _of_tg(fact.value) if fact.known and fact.value is not None else "?"
