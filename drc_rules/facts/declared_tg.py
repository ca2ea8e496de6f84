"""A Tg declared for the whole board and the one on a laminate's sheet: which one counts, and do they agree?"""

from __future__ import annotations

from stackup_lib.materials import Tg, TgMethod

DMA_READS_HIGHER_C = (10.0, 50.0)
"""By how much a DMA value is above the same laminate's DSC value (sheets that print both)."""

ALIKE_C = 5.0
"""Sheets print Tg in steps of 5 degrees: values no farther apart do not contradict one another."""


def counts(declared: Tg, sheet: Tg) -> Tg:
    """Return the worse of two values; of two that agree the one by DSC or TMA, which requirements are meant by.

    A name that only promises a Tg "or more" gives way to a declared value: it does not say how much more.
    """
    if sheet.is_minimum:
        return declared
    by_dma = declared.method is TgMethod.DMA
    if by_dma != (sheet.method is TgMethod.DMA) and agree(declared, sheet):
        return sheet if by_dma else declared
    return min(sheet, declared, key=lambda tg: _by_dsc(tg)[0])


def agree(declared: Tg, sheet: Tg) -> bool:
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
