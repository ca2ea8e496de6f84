"""Tg of a dielectric ply: its own, else the worse of what is declared for the board and the laminate's sheet."""

from __future__ import annotations

from dataclasses import replace

from drc_rules.facts.dielectric.stated_ply import StatedPly
from stackup_lib.core.facts import Fact, unknown
from stackup_lib.materials import Grade, MaterialSource, Tg, TgMethod

DMA_READS_HIGHER_C = (10.0, 50.0)
"""By how much a DMA value is above the same laminate's DSC value (sheets that print both)."""

ALIKE_C = 5.0
"""Sheets print Tg in steps of 5 degrees: values no farther apart do not contradict one another."""


def tg_of(ply: StatedPly) -> Fact[Tg]:
    """Glass transition temperature with its method: the row's own, else the worse of sheet and whole board."""
    name = f"Tg of {ply.label}"
    how = f'[declared.dielectric."{ply.row}"]\ntg_c = "?"  # by DSC, from the laminate\'s data sheet'
    own = ply.declaration
    if own.tg_c is not None:
        return _declared_tg(ply, name, own.tg_c, own.tg_method, f'dielectric."{ply.row}".tg_c')
    catalogued, general = _catalogue_tg(ply, name, how), _general_tg(ply, name)
    if general is None or not (catalogued.known or general.known):
        return general or catalogued
    if not (catalogued.known and general.known):
        return general if general.known else catalogued
    return general if _counts(general.need(), catalogued.need()) == general.value else catalogued


def tg_contradiction(ply: StatedPly) -> tuple[Tg, Tg] | None:
    """The Tg declared for the whole board and that of the laminate's sheet, where one of the two is wrong."""
    general = _general_tg(ply, "")
    if ply.declaration.tg_c is not None or general is None or not general.known:
        return None
    sheet = _catalogue_tg(ply, "", "")
    if not sheet.known:
        return None
    return None if _agree(general.need(), sheet.need()) else (general.need(), sheet.need())


def _general_tg(ply: StatedPly, name: str) -> Fact[Tg] | None:
    value, method = ply.declarations.tg_c.value, ply.declarations.config.declared.tg_method
    return None if value is None else _declared_tg(ply, name, value, method, "declared.tg_c")


def _declared_tg(ply: StatedPly, name: str, value_c: float, method: str, source: str) -> Fact[Tg]:
    stated = Tg(value_c=value_c, method=TgMethod(method), source=MaterialSource(text="declared", grade=Grade.VENDOR))
    return ply.declarations.of_stackup(name, stated, source) or unknown(name, "")


def _catalogue_tg(ply: StatedPly, name: str, how: str) -> Fact[Tg]:
    if ply.match is None:
        return unknown(name, ply.laminate.how_to_give)
    fact = ply.match.tg_fact()
    if not fact.known:
        return unknown(name, how)
    stale = ply.is_declared and ply.declarations.stale
    return replace(fact, name=name, how_to_give=how, stale=stale)


def _counts(declared: Tg, sheet: Tg) -> Tg:
    """Return the worse of two values; of two that agree the one by DSC or TMA, which requirements are meant by.

    A name that only promises a Tg "or more" gives way to a declared value: it does not say how much more.
    """
    if sheet.is_minimum:
        return declared
    by_dma = declared.method is TgMethod.DMA
    if by_dma != (sheet.method is TgMethod.DMA) and _agree(declared, sheet):
        return sheet if by_dma else declared
    return min(sheet, declared, key=lambda tg: _by_dsc(tg)[0])


def _agree(declared: Tg, sheet: Tg) -> bool:
    """Tell whether one laminate can have both values, each by its own method."""
    if sheet.is_minimum:
        return _by_dsc(declared)[1] >= sheet.value_c - ALIKE_C
    if declared.method is TgMethod.DMA and sheet.method is TgMethod.DMA:
        return abs(declared.value_c - sheet.value_c) <= ALIKE_C
    (low, high), (least, most) = _by_dsc(declared), _by_dsc(sheet)
    return low <= most + ALIKE_C and least <= high + ALIKE_C


def _by_dsc(tg: Tg) -> tuple[float, float]:
    """Lowest and highest it may be by DSC; TMA is compared as it is."""
    if tg.method is not TgMethod.DMA:
        return tg.value_c, tg.value_c
    least, most = DMA_READS_HIGHER_C
    return tg.value_c - most, tg.value_c - least
