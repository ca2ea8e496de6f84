"""Fills an order of layers with cores and prepregs that are sold, up to the thickness. Lengths in mm."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from stackup_lib.board.planned import row_names
from stackup_lib.board.stackup import LayerKind
from stackup_lib.field_solver.sections import Mask
from stackup_lib.synthesis.arrange import Order
from stackup_lib.synthesis.candidates import CandidateRow, CandidateStackup, dielectric_row, kind_of_dielectric
from stackup_lib.synthesis.fill.choices import FillChoice, LaminatePair, choices_of, microvia_mm
from stackup_lib.synthesis.fill.combinations import capacitance, fits, least_mm, lists_to_try
from stackup_lib.synthesis.fill.places import place_name, to_fill
from stackup_lib.synthesis.goals import Goals
from stackup_lib.synthesis.layer_copper import foil_of, with_smooth_foil

Build = Callable[[], CandidateStackup]


def closest(order: Order, of: str | LaminatePair, goals: Goals, most: int = 2) -> tuple[CandidateStackup, ...]:
    """Return candidates of a laminate or two, the best closed to the thickness first; () where none comes within it.

    The dielectrics next to high-speed layers differ from one candidate to the next, where there are high-speed layers.
    """
    return tuple(build() for build in closest_builds(order, of, goals, most))


def closest_builds(
    order: Order, of: str | LaminatePair, goals: Goals, most: int, *, widest: bool = False
) -> tuple[Build, ...]:
    """Return what builds each candidate of `closest`: a search needs few of those behind the first.

    With `widest` those come first whose striplines are the widest, where no usual choice leaves a trace wide enough.
    """
    choices = choices_of(order, _pair_for(of), goals)
    if not choices or any(not c for c in choices.values()):
        return ()
    span, wanted = _span_mm(order, choices, goals), goals.thickness_mm
    if wanted is not None and not span[0] - wanted * goals.thickness_tolerance <= wanted:
        return ()
    if wanted is not None and not span[1] + wanted * goals.thickness_tolerance >= wanted:
        return ()
    if span[1] < least_mm(goals):
        return ()
    lists = lists_to_try(choices, goals, widest=widest)
    made = fits(lists, order, goals)
    keys = [made.number, np.round(made.error, 9), np.round(made.penalty, 9)]
    if widest:
        keys.append(np.round(capacitance(lists)[made.fast], 9))
    ranked = np.lexsort(keys)
    names = list(lists)
    shape = tuple(len(found) for found in lists.values())
    found: list[Build] = []
    seen: set[int] = set()
    for k in ranked:
        if len(found) == most:
            break
        if made.fast[k] not in seen or not any(name.startswith("fast") for name in names):
            seen.add(made.fast[k])
            picks = np.unravel_index(made.number[k], shape)
            chosen = {name: lists[name][pick] for name, pick in zip(names, picks, strict=True)}
            found.append(partial(_build, order, chosen, goals))
    return tuple(found)


def thickness_range_mm(order: Order, of: str | LaminatePair, goals: Goals) -> tuple[float, float] | None:
    """Return the thinnest and thickest that an order can be built, whatever the goal; None where it cannot."""
    choices = choices_of(order, _pair_for(of), goals)
    if not choices or any(not c for c in choices.values()):
        return None
    return _span_mm(order, choices, goals)


def _span_mm(order: Order, choices: Mapping[str, Sequence[FillChoice]], goals: Goals) -> tuple[float, float]:
    bare = to_fill(order, goals).bare_mm
    sums = [[choice.sum_mm for choice in c] for c in choices.values()]
    return bare + sum(map(min, sums)), bare + sum(map(max, sums))


def _pair_for(of: str | LaminatePair) -> LaminatePair:
    return of if isinstance(of, LaminatePair) else LaminatePair(fast=of, rest=of)


def _build(order: Order, chosen: Mapping[str, FillChoice], goals: Goals) -> CandidateStackup:
    mask = [] if goals.finish.mask is None else [LayerKind.MASK]
    filled = to_fill(order, goals)
    gaps = [chosen[place] for place in filled.place_of]
    between = [kind_of_dielectric(choice.sold) for choice in gaps]
    inside = [kind for k in range(len(order.layers)) for kind in (LayerKind.COPPER, *between[k : k + 1])]
    names = iter(row_names([*mask, *inside, *mask]))
    smooth = with_smooth_foil(order, goals) if goals.foil else frozenset()
    families = {gap: choice.sold.family for gap, choice in enumerate(gaps)}
    rows = _coats(goals.finish.mask, names)
    for index, copper in enumerate(filled.copper):
        foil = foil_of(order, index, families, goals.foil).value if goals.foil and index in smooth else ""
        rows.append(copper.model_copy(update={"name": next(names), "foil": foil}))
        if index < len(gaps):
            rows.append(dielectric_row(gaps[index].sold, gaps[index].at_mm[index], next(names)))
    return CandidateStackup(
        rows=(*rows, *_coats(goals.finish.mask, names)),
        order=order,
        finish=goals.finish,
        is_any_layer=order.has_one_core and chosen[_core_place(order, goals)].mean_mm <= microvia_mm(goals),
    )


def _coats(coat: Mask | None, names: Iterator[str]) -> list[CandidateRow]:
    """Return the solder mask of a side, under the next of some names; [] on bare boards."""
    if coat is None:
        return []
    return [CandidateRow(kind=LayerKind.MASK, name=next(names), thickness_mm=coat.on_trace_mm, dk=coat.er)]


def _core_place(order: Order, goals: Goals) -> str:
    return place_name(order, order.gaps.index("c"), goals)
