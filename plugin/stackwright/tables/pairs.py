"""The table of differential pairs as text, for the terminal, Markdown and the page alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from drc_rules.analysis.impedance.pair_table import NO_PLANE, NOT_SOLVED
from drc_rules.analysis.lines.broadside_pairs import BROADSIDE
from drc_rules.report.link_rows import PairOnLayer, PairRow
from stackwright.text.words import count

HEAD = ("Pair", "Layer", "Routed, mm", "Width/gap, mm", "Impedance", "Target", "Judged, or why not")
NOTE = "impedance nominal, of the longest geometry on a layer"


def unjudged(rows: Sequence[PairRow]) -> tuple[PairRow, ...]:
    """Return the pairs whose impedance no clause judges."""
    return tuple(row for row in rows if not row.is_judged)


def said(rows: Sequence[PairRow]) -> str:
    """Return `3 of 18 pairs are not judged`."""
    left = len(unjudged(rows))
    return f"{left} of {count(len(rows), 'pair')} {'is' if left == 1 else 'are'} not judged"


def missing(rows: Sequence[PairRow]) -> tuple[str, ...]:
    """Return what the impedances need that is not known, without repetition."""
    layers = [one for row in rows for one in row.layers if one.problem and one.problem not in (NOT_SOLVED, NO_PLANE)]
    return tuple(dict.fromkeys(one.problem for one in layers))


def cells(row: PairRow, *, every_layer: bool) -> Iterator[tuple[str, ...]]:
    """Yield the cells of `HEAD`: a line per layer, or the layer with most of the pair alone."""
    for number, one in enumerate(row.layers if every_layer else row.layers[:1]):
        about = (row.name, _target(row), _verdict(row)) if not number else ("", "", "")
        yield about[0], one.layer, f"{one.length_mm:.1f}", _size(one), _impedance(one), *about[1:]


def _size(one: PairOnLayer) -> str:
    size = f"{one.width_mm:g}/{one.gap_mm:g}" if one.gap_mm is not None else f"{one.width_mm:g}, apart"
    if one.fill_near_mm is None:
        return size
    return f"{size}, fill {'' if one.fill_far_mm == one.fill_near_mm else 'from '}{one.fill_near_mm:g}"


def _impedance(one: PairOnLayer) -> str:
    if one.impedance_ohm is not None:
        return f"{one.impedance_ohm:.1f} ohm"
    return {NOT_SOLVED: "--full solves it", NO_PLANE: "no plane", BROADSIDE: "broadside"}.get(one.problem, "unknown")


def _target(row: PairRow) -> str:
    if row.target_ohm is None:
        return row.interface or "none known"
    return f"{row.target_ohm:g} ohm, {row.interface}"


def _verdict(row: PairRow) -> str:
    return "judged" if row.is_judged else row.why_not
