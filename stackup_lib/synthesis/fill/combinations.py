"""Combinations of choices for the places of an order: how thick each is, and how uneasy. Lengths in mm."""

from collections.abc import Container, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stackup_lib.synthesis.arrange import Order
from stackup_lib.synthesis.build_rules import BuildRules
from stackup_lib.synthesis.fill.choices import CORE_SLACK_MM, FillChoice
from stackup_lib.synthesis.fill.places import to_fill
from stackup_lib.synthesis.goals import Goals
from stackup_lib.synthesis.routed_lines import outer_misfit

EVEN = 1.5
"""A stripline's two dielectrics differ by at most this factor, or its loss is that of the nearer plane."""

ETCHED_MM = 0.1
"""Between dielectrics of this, 50 ohm is 0.08 mm wide, which the best fabs etch in 1/2 oz; of half of it 0.045 mm."""

ASKS = 0.1
"""What a dielectric that a fab asks about adds to how uneasy a build is: as much as 2.5 % of thickness."""

NEARLY = 0.05
"""Prepregs that differ by less in thickness stand for one another: the one of fewer sheets is taken."""

MOST_CHOICES = {1: 60, 2: 60, 3: 40, 4: 16, 5: 10, 6: 7}
"""Of a place, by the number of places: a spread of them, to keep the number of combinations small."""

AROUND_LINES = ("fast core", "fast prepreg")
"""Names of the places around striplines begin so."""

MOST_AROUND_LINES, MOST_ELSEWHERE, SPREAD_BEYOND = 12, 4, 2
"""Where a trace is too narrow: choices around striplines and elsewhere, the thinnest and a few of the others. What
is thin elsewhere leaves room around striplines, where every hundredth of a millimetre counts."""

PLANE_LETTERS = ("G", "P")
Reals = NDArray[np.float64]

Integers = NDArray[np.intp]


class Fits(NamedTuple):
    """Combinations of choices that make the thickness and can be drilled, if any can; columns.

    Attributes:
        number: of the combination, as of a flat array with an axis for each place.
        fast: number of its choices next to high-speed layers.
        penalty: how uneasy it is.
        error: how far it is from the thickness, relative.
    """

    number: Integers
    fast: Integers
    penalty: Reals
    error: Reals


def lists_to_try(
    choices: Mapping[str, Sequence[FillChoice]], goals: Goals, *, widest: bool
) -> dict[str, list[FillChoice]]:
    """Return the choices of each place that are combined: a spread of them, with `widest` the thinnest."""
    thinned, most = _thin_ones if widest else _spread, {p: _most(p, len(choices), widest=widest) for p in choices}
    return {place: thinned(_of_few_sheets(found, goals), most[place]) for place, found in choices.items()}


def _of_few_sheets(found: Sequence[FillChoice], goals: Goals) -> list[FillChoice]:
    """Leave out more sheets than usual but at the ends, and what another choice of fewer sheets does as well.

    Where lines are routed nothing does as well: every hundredth of a millimetre may keep their impedance.
    """
    rules, is_routed = goals.build_rules, goals.laid_out is not None and bool(goals.laid_out.routed)
    usual = [choice.mean_mm for choice in found if choice.sold.plies <= rules.usual_plies]
    if is_routed or not usual:
        return list(found)
    kept = [c for c in found if c.sold.plies <= rules.usual_plies or not min(usual) < c.mean_mm < max(usual)]
    return [choice for choice in kept if not any(_stands_for(other, choice, rules) for other in kept)]


def _stands_for(other: FillChoice, choice: FillChoice, rules: BuildRules) -> bool:
    is_near = abs(other.mean_mm / choice.mean_mm - 1) <= NEARLY
    return is_near and other.sold.plies < choice.sold.plies and _is_asked(other, rules) <= _is_asked(choice, rules)


def fits(lists: Mapping[str, list[FillChoice]], order: Order, goals: Goals) -> Fits:
    """Return the combinations of some lists of choices that make the thickness, and can be drilled if any can."""
    carry = {place for gap, place in enumerate(to_fill(order, goals).place_of) if "S" in order.layers[gap : gap + 2]}
    total, uneasy = _parts(lists, to_fill(order, goals).bare_mm, goals, carry)
    shape = tuple(len(found) for found in lists.values())
    thick = np.add.outer(total[True].ravel(), total[False].ravel())
    good = (thick >= least_mm(goals)) & (thick <= (goals.most_thickness_mm or np.inf))
    wanted = goals.thickness_mm
    if wanted is not None:
        good &= np.abs(thick - wanted) / wanted <= goals.thickness_tolerance
    drillable = good & (thick <= goals.max_aspect_ratio * goals.drill_mm)
    at = np.flatnonzero(drillable if drillable.any() else good)
    thick = thick.ravel()[at]
    fast, rest = np.divmod(at, total[False].size)
    penalty = uneasy[True].ravel()[fast] + uneasy[False].ravel()[rest]
    error = np.zeros(len(thick)) if wanted is None else np.abs(thick - wanted) / wanted
    picks = np.unravel_index(fast, total[True].shape), np.unravel_index(rest, total[False].shape)
    number = np.ravel_multi_index(tuple(a + b for a, b in zip(*picks, strict=True)), shape)
    return Fits(number, fast, penalty if wanted is None else penalty + 4 * error, error)


def capacitance(lists: Mapping[str, list[FillChoice]]) -> Reals:
    """Return Dk over thickness of the dielectrics around striplines, summed, by number of the fast choices.

    The less it is, the wider is a trace of a given impedance.
    """
    found = np.zeros([len(choices) if place.startswith("fast") else 1 for place, choices in lists.items()])
    for axis, (place, choices) in enumerate(lists.items()):
        if place.startswith(AROUND_LINES):
            shape = [1] * len(lists)
            shape[axis] = len(choices)
            found = found + np.array([(c.sold.dk or 0.0) / c.mean_mm for c in choices]).reshape(shape)
    return found.ravel()


def least_mm(goals: Goals) -> float:
    """Return the least thickness where no thickness is required."""
    return (goals.least_thickness_mm or 0.0) if goals.thickness_mm is None else 0.0


def _parts(
    lists: Mapping[str, list[FillChoice]], bare_mm: float, goals: Goals, carry: Container[str]
) -> tuple[dict[bool, Reals], dict[bool, Reals]]:
    """Return how thick and how uneasy combinations are, those next to high-speed layers (True) apart from the rest.

    Small is good: near the thickness, fast dielectrics alike, and those around a signal layer thick enough for a trace
    that can be etched. `carry` are the places next to signal layers that are not fast.
    """
    places = list(lists)

    def along(place: str, values: list[float]) -> Reals:
        shape = [1] * len(places)
        shape[places.index(place)] = len(values)
        return np.array(values, dtype=float).reshape(shape)

    ones = (1,) * len(places)
    totals: dict[bool, Reals] = {True: np.full(ones, bare_mm), False: np.zeros(ones)}
    uneasy: dict[bool, Reals] = {True: np.zeros(ones), False: np.zeros(ones)}  # by high-speed and rest
    means = {}
    for place, found in lists.items():
        fast = place.startswith("fast")
        means[place] = mean = along(place, [c.mean_mm for c in found])
        totals[fast] = totals[fast] + along(place, [c.sum_mm for c in found])
        uneasy[fast] = uneasy[fast] + along(place, [0.04 * (c.sold.plies - 1) for c in found])
        if place != "fast outer":  # thicker, pairs of a fixed pitch have gaps that a fab asks about as well
            uneasy[fast] = uneasy[fast] + along(place, [ASKS * _is_asked(c, goals.build_rules) for c in found])
        if place.endswith("outer"):
            on_surface = _misfit(found, goals)
            uneasy[fast] = uneasy[fast] + (np.abs(mean - 0.08) * 2 if on_surface is None else along(place, on_surface))
        if goals.thickness_mm is None:
            uneasy[fast] = uneasy[fast] + 0.5 * np.maximum(0.0, mean - 0.1)
    fast_prepregs = [means[place] for place in means if place.startswith("fast prepreg")]
    fast_cores = [means[place] for place in means if place.startswith("fast core")]
    for core, prepreg in product(fast_cores, fast_prepregs):
        thin, thick = np.minimum(core, prepreg), np.maximum(core, prepreg)
        uneasy[True] = uneasy[True] + (thick / thin - 1) * 0.3 + 2.0 * (thick / thin > EVEN)
        uneasy[True] = uneasy[True] + np.maximum(0.0, ETCHED_MM - thin) * 10 + np.maximum(0.0, thick - 0.2) * 5
    slow = [place for place in places if place in carry and place.startswith("middle")]
    for upper, lower in product(*([means[p] for p in slow if kind in p] for kind in ("core", "prepreg"))):
        uneasy[False] = uneasy[False] + np.maximum(0.0, ETCHED_MM - np.minimum(upper, lower)) * 10
    return totals, uneasy


def _misfit(found: Sequence[FillChoice], goals: Goals) -> list[float] | None:
    """Return how badly routed lines on the surface keep their impedance over each choice; None where none run there."""
    laid_out = goals.laid_out
    if laid_out is None:
        return None
    last = len(laid_out.layers) - 1
    planes = {0: laid_out.layers[1], last: laid_out.layers[last - 1]}
    sizes = [size for size in laid_out.to_fit if planes.get(size.layer, "") in PLANE_LETTERS]
    if not sizes:
        return None
    means, dks = np.array([c.mean_mm for c in found]), np.array([c.sold.dk for c in found])
    return [float(value) for value in outer_misfit(sizes, means, dks, goals.finish)]


def _is_asked(choice: FillChoice, rules: BuildRules) -> bool:
    """Tell whether a fab asks about a product: it is thinner, or of more sheets, than what it builds as usual."""
    if choice.sold.plies > rules.usual_plies > 0:
        return True
    usual = rules.usual_core_mm - CORE_SLACK_MM if choice.sold.kind == "core" else rules.usual_pressed_mm
    return round(min(choice.at_mm.values()), 3) < usual


def _spread(found: Sequence[FillChoice], most: int) -> list[FillChoice]:
    if len(found) <= most:
        return list(found)
    step = (len(found) - 1) / (most - 1)
    return [found[round(k * step)] for k in range(most)]


def _thin_ones(found: Sequence[FillChoice], most: int) -> list[FillChoice]:
    """Return the thinnest choices, and a spread of the others."""
    ordered = sorted(found, key=lambda choice: choice.mean_mm)
    thin = most - SPREAD_BEYOND
    return ordered[:thin] + _spread(ordered[thin:], SPREAD_BEYOND)


def _most(place: str, places: int, *, widest: bool) -> int:
    """Return how many choices of a place are tried; for wide traces more around striplines, and fewer elsewhere."""
    most = MOST_CHOICES.get(places, 5)
    if not widest:
        return most
    return max(most, MOST_AROUND_LINES) if place.startswith(AROUND_LINES) else min(most, MOST_ELSEWHERE)
