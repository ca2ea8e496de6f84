"""`stackwright materials`: the catalogue, and what a material name means."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile

from stackup_lib.core.facts import Fact
from stackup_lib.materials import (
    Foil,
    FoilMatch,
    Laminate,
    Match,
    Spread,
    Tg,
    catalogue,
    find_foil,
    glass_kinds,
)
from stackwright.text.output import show
from stackwright.text.page import Column, Page, styled, terminal_console
from stackwright.text.words import clean, some

AT_GHZ = (1.0, 5.0, 10.0, 16.0, 28.0)
"""Frequencies of the values shown: those of data sheets, and Nyquist of PCIe Gen5 and 112G PAM4."""
NO_VALUES = "no public figures"
CLEAN, FOUND = 0, 1


def list_materials() -> int:
    """Print every laminate with the values that matter most."""
    page = Page()
    laminates = catalogue().laminates
    page.line(styled("Laminates", "bold"), f"  {len(laminates)} families; Dk and Df at 10 GHz, typical")
    bare = sum(not (laminate.has_values or laminate.generic) for laminate in laminates)
    page.line(f"{bare} families have no public figures: no Dk, Df or Tg of their makers was found", indent=2)
    _table(page, laminates)
    page.gap()
    page.line("next, which laminate a name means, with sources:")
    page.verbatim(['stackwright materials "R-5775(N) 2116"'])
    show(page.text(terminal_console()))
    return CLEAN


def show_material(text: str) -> int:
    """Print what a material text or a foil means; exit code 1 when it means no single laminate."""
    match = catalogue().find(text)
    foil = find_foil(text)
    page = Page()
    if match.status == "unknown" and foil.foil is not None:
        _foil(page, foil, foil.foil)
        show(page.text(terminal_console()))
        return CLEAN
    if match.laminate is None:
        _unresolved(page, match)
    else:
        _resolved(page, match, match.laminate)
    show(page.text(terminal_console()))
    return CLEAN if match.laminate else FOUND


def _table(page: Page, laminates: Iterable[Laminate]) -> None:
    rows: list[tuple[str, ...]] = []
    for laminate in laminates:
        label = laminate.loss_class.label if laminate.loss_class else "?"
        dk, df = _plain(laminate.dk_at(10.0)), _plain(laminate.df_at(10.0), digits=3)
        last = _tg(laminate.tg_fact()) if laminate.has_values or laminate.generic else NO_VALUES
        rows.append((laminate.family, laminate.maker, label, dk, df, last))
    columns = [Column(max_width=26), Column(max_width=18), Column(), Column(), Column(), Column()]
    page.rows(columns, rows, head=("laminate", "maker", "loss class", "Dk", "Df", "Tg (method)"))


def _resolved(page: Page, match: Match, laminate: Laminate) -> None:
    kind = "a kind of material, not a product" if laminate.generic else f"by {laminate.maker}"
    page.line(styled(laminate.family, "bold"), f"  {kind}; {match.confidence.value} confidence")
    if match.note:
        page.line(match.note, indent=2)
    if not laminate.has_values:
        page.line(f"{NO_VALUES}: state Dk, Df and Tg from the maker's data sheet", indent=2)
    page.gap()
    page.rows([Column(min_width=10), Column(wraps=True)], _identity(match, laminate))
    _figures(page, match)
    page.gap()
    page.line(_next(match, laminate))


def _identity(match: Match, laminate: Laminate) -> list[tuple[str, str]]:
    tg = match.tg_fact()
    loss = laminate.loss_class_fact()
    rows = [
        ("Tg", f"{_tg(tg)}: {tg.source}" if tg.known else "not known"),
        ("Td", f"{laminate.td_c:g} C" if laminate.td_c else ""),
        ("loss class", f"{loss.value.label}: {loss.source}" if loss.value else "not known"),
        ("Df spread", _spread(laminate.df_range_at(10.0))),
        ("glass", _glass(match)),
        ("also", some(laminate.aliases, 8)),
        (
            "cores",
            ", ".join(f"{t:g}" for t in laminate.core_thicknesses_mm) + " mm" if laminate.core_thicknesses_mm else "",
        ),
        ("laminates", str(laminate.sheets) if laminate.sheets else ""),
        *(("" if n else "source", str(source)) for n, source in enumerate(laminate.sources)),
        ("note", laminate.note),
    ]
    return [(label, words) for label, words in rows if words]


def _glass(match: Match) -> str:
    """The kind of glass with its Dk, "" where neither the text nor the maker names one."""
    if match.glass is None:
        return ""
    kind = glass_kinds()[match.glass]
    return f"{kind.title}: Dk {kind.dk:g} at {kind.ghz:g} GHz, {kind.source}{f'; {kind.note}' if kind.note else ''}"


def _foil(page: Page, match: FoilMatch, foil: Foil) -> None:
    page.line(styled(foil.name, "bold"), f"  copper foil, {foil.grade}; {match.confidence.value} confidence")
    page.gap()
    low, high = match.rz_um
    span = " ".join(f"{word} {value:g}" for word, value in (("from", low), ("up to", high)) if value is not None)
    rows = [
        ("Rz", f"{span} um" if span else "not known"),
        ("nominal", f"{foil.rz_nominal_um:g} um" if foil.rz_nominal_um else ""),
        ("method", match.method),
        ("also", some(foil.aliases, 8)),
        ("source", str(foil.source)),
        ("note", match.note),
    ]
    page.rows([Column(min_width=10), Column(wraps=True)], [row for row in rows if row[1]])
    page.gap()
    page.line(f'next: put foil = "{clean(foil.aliases[0])}" under [declared] of stackwright.toml')


def _figures(page: Page, match: Match) -> None:
    """Dk and Df over frequency; what all rows have in common of their source is said once."""
    read = [(ghz, match.dk_at(ghz), match.df_at(ghz)) for ghz in AT_GHZ]
    read = [(ghz, dk, df) for ghz, dk, df in read if dk.known or df.known]
    if not read:
        return
    leading = [df if df.known else dk for _, dk, df in read]
    sources = [fact.source.split("; ") for fact in leading]
    shared = list(takewhile(lambda pieces: len(set(pieces)) == 1, zip(*sources, strict=False)))
    rows: list[tuple[str, ...]] = [("GHz", "Dk", "Df", "confidence", "")]
    for (ghz, dk, df), fact, pieces in zip(read, leading, sources, strict=True):
        rest = "; ".join(pieces[len(shared) :])
        rows.append((f"{ghz:g}", _plain(dk), _plain(df, digits=3), fact.confidence.value, rest))
    page.heading("Dk and Df", _construction(match))
    page.line("; ".join(pieces[0] for pieces in shared), indent=2)
    page.rows([Column(right=True), Column(), Column(), Column(), Column(wraps=True)], rows)


def _construction(match: Match) -> str:
    resin = f"RC {match.resin_content_pct:g} %" if match.resin_content_pct else ""
    return " ".join(word for word in (match.style, resin) if word) or "typical"


def _unresolved(page: Page, match: Match) -> None:
    word = {"ambiguous": "may mean several laminates", "style only": "names a glass style, no laminate"}
    page.line(styled(match.text, "bold"), f"  {word.get(match.status, 'is not in the catalogue')}")
    if match.note and not match.note.endswith(" is not in the catalogue."):
        page.line(match.note, indent=2)
    near = catalogue().search(match.text)[:10] if match.status != "style only" else []
    if near:
        page.heading("May be")
        _table(page, near)
    page.gap()
    page.line("next, for the list; or state dk, df and at_ghz in stackwright.toml:")
    page.verbatim(["stackwright materials"])


def _next(match: Match, laminate: Laminate) -> str:
    if laminate.generic:
        return "next: ask the fab which product it will use, and put that name into the stackup's Material field"
    if match.alternatives:
        return f"next: if you mean another one: {', '.join(match.alternatives[:6])}"
    return f'next: put "{clean(match.text)}" into the Material field of File > Board Setup > Physical Stackup'


def _plain(fact: Fact[float], *, digits: int = 4) -> str:
    return f"{fact.value:.{digits}g}" if fact.value is not None and fact.known else "?"


def _tg(fact: Fact[Tg]) -> str:
    if fact.value is None or not fact.known:
        return "?"
    least = ">= " if fact.value.is_minimum else ""
    return f"{least}{fact.value.value_c:g} C ({fact.value.method.value})"


def _spread(fact: Fact[Spread]) -> str:
    if fact.value is None or fact.value.low == fact.value.high:
        return ""
    return f"{fact.value.low:.3g} to {fact.value.high:.3g} at 10 GHz over all constructions and sheets"
