"""Fills an order of layers with cores and prepregs that are sold, up to the thickness. Lengths in mm.

Dielectrics are chosen by their place: under the outer layers, in build-ups, next to high-speed layers, and the rest,
which closes the sum. All gaps of a place take one choice, so a stackup is symmetric in material as in thickness.
"""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import product
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stackup_lib.board.planned import row_names
from stackup_lib.board.stackup import LayerKind
from stackup_lib.core.frozen import Frozen
from stackup_lib.field_solver.sections import Mask
from stackup_lib.materials.pressing import FacingCopper
from stackup_lib.synthesis.arrange import Order
from stackup_lib.synthesis.build_rules import BuildRules, GapNeeds
from stackup_lib.synthesis.candidates import (
    SIGNAL_OZ,
    USES,
    CandidateRow,
    CandidateStackup,
    dielectric_row,
    facing_copper,
    kind_of_dielectric,
)
from stackup_lib.synthesis.constructions import CatalogueProduct, core_to_order, cores_of, prepregs_of
from stackup_lib.synthesis.goals import Goals, carries_fast_outside
from stackup_lib.synthesis.layer_copper import (
    bare_mm,
    foil_of,
    gap_needs,
    layer_mm,
    layer_oz,
    row_oz,
    with_smooth_foil,
)
from stackup_lib.synthesis.line_loss import catalogue_df
from stackup_lib.synthesis.routed_lines import outer_misfit

EVEN = 1.5
"""A stripline's two dielectrics differ by at most this factor, or its loss is that of the nearer plane."""

ETCHED_MM = 0.1
"""Between dielectrics of this, 50 ohm is 0.08 mm wide, which the best fabs etch in 1/2 oz; of half of it 0.045 mm."""

CORE_SLACK_MM = 0.001
"""Cores of 2 and 4 mil are listed as 0.051 and 0.102, or 0.05 and 0.1."""

RESIN_PER_COPPER = 2.0
"""A prepreg is at least this many times as thick as the copper that it fills: a fab's rule for multilayers (setpcb)."""

ASKS = 0.1
"""What a dielectric that a fab asks about adds to how uneasy a build is: as much as 2.5 % of thickness."""

THICKEST_MM = 0.4
"""Of what is not in the middle: engineering judgement."""

MOST_CHOICES = {1: 60, 2: 60, 3: 40, 4: 16, 5: 10, 6: 7}
"""Of a place, by the number of places: a spread of them, to keep the number of combinations small."""

AROUND_LINES = ("fast core", "fast prepreg")
"""Names of the places around striplines begin so."""

MOST_AROUND_LINES, MOST_ELSEWHERE, SPREAD_BEYOND = 12, 4, 2
"""Where a trace is too narrow: choices around striplines and elsewhere, the thinnest and a few of the others. What
is thin elsewhere leaves room around striplines, where every hundredth of a millimetre counts."""

TO_ORDER_DIGITS = 2
"""Laminate that is made to order is given to a hundredth of a millimetre."""

PLANE_LETTERS = ("G", "P")

Reals = NDArray[np.float64]
Integers = NDArray[np.intp]
Kind = Literal["core", "prepreg"]
Faces = tuple[tuple[float, float], ...]
Build = Callable[[], CandidateStackup]


class LaminatePair(Frozen):
    """Laminates of a build: one next to high-speed layers, one elsewhere; the same twice where it is not a hybrid."""

    fast: str
    rest: str

    @property
    def is_hybrid(self) -> bool:
        """True where two laminates are pressed together."""
        return self.fast != self.rest

    def __str__(self) -> str:
        return f"{self.fast} next to high-speed layers, {self.rest} elsewhere" if self.is_hybrid else self.fast


class FillPosition(NamedTuple):
    """Gaps that take one product: by name, with the copper around each gap and what all of them need."""

    name: str
    kind: Kind
    faces: tuple[tuple[int, Faces], ...]
    needs: GapNeeds

    @property
    def is_fast(self) -> bool:
        """True next to layers whose loss matters."""
        return self.name.startswith("fast")


class OrderToFill(NamedTuple):
    """An order with its copper: what any laminates fill in the same way.

    Attributes:
        places: by name; the dielectrics of each are one product.
        place_of: name of the place of each gap.
        bare_mm: copper and solder mask.
        copper: its rows, without names and foils.
    """

    places: tuple[FillPosition, ...]
    place_of: tuple[str, ...]
    bare_mm: float
    copper: tuple[CandidateRow, ...]


class FillChoice(NamedTuple):
    """A product for all gaps of a place, its thickness in each, and their sum."""

    sold: CatalogueProduct
    at_mm: dict[int, float]
    sum_mm: float

    @property
    def mean_mm(self) -> float:
        """Of one gap."""
        return self.sum_mm / len(self.at_mm)


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
    choices = _choices(order, _pair_for(of), goals)
    if not choices or any(not c for c in choices.values()):
        return ()
    span, wanted = _span_mm(order, choices, goals), goals.thickness_mm
    if wanted is not None and not span[0] - wanted * goals.thickness_tolerance <= wanted:
        return ()
    if wanted is not None and not span[1] + wanted * goals.thickness_tolerance >= wanted:
        return ()
    if span[1] < _least_mm(goals):
        return ()
    thinned = _thin_ones if widest else _spread
    lists = {place: thinned(found, _most(place, len(choices), widest=widest)) for place, found in choices.items()}
    fits = _fits(lists, order, goals)
    keys = [fits.number, np.round(fits.error, 9), np.round(fits.penalty, 9)]
    if widest:
        keys.append(np.round(_capacitance(lists)[fits.fast], 9))
    ranked = np.lexsort(keys)
    names = list(lists)
    shape = tuple(len(found) for found in lists.values())
    found: list[Build] = []
    seen: set[int] = set()
    for k in ranked:
        if len(found) == most:
            break
        if fits.fast[k] not in seen or not any(name.startswith("fast") for name in names):
            seen.add(fits.fast[k])
            picks = np.unravel_index(fits.number[k], shape)
            chosen = {name: lists[name][pick] for name, pick in zip(names, picks, strict=True)}
            found.append(partial(_build, order, chosen, goals))
    return tuple(found)


class _Fits(NamedTuple):
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


def _fits(lists: Mapping[str, list[FillChoice]], order: Order, goals: Goals) -> _Fits:
    carry = {place for gap, place in enumerate(to_fill(order, goals).place_of) if "S" in order.layers[gap : gap + 2]}
    total, uneasy = _parts(lists, to_fill(order, goals).bare_mm, goals, carry)
    shape = tuple(len(found) for found in lists.values())
    thick = np.add.outer(total[True].ravel(), total[False].ravel())
    good = thick >= _least_mm(goals)
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
    return _Fits(number, fast, penalty if wanted is None else penalty + 4 * error, error)


def _capacitance(lists: Mapping[str, list[FillChoice]]) -> Reals:
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


def _least_mm(goals: Goals) -> float:
    """Return the least thickness where no thickness is required."""
    return (goals.least_thickness_mm or 0.0) if goals.thickness_mm is None else 0.0


def thickness_range_mm(order: Order, of: str | LaminatePair, goals: Goals) -> tuple[float, float] | None:
    """Return the thinnest and thickest that an order can be built, whatever the goal; None where it cannot."""
    choices = _choices(order, _pair_for(of), goals)
    if not choices or any(not c for c in choices.values()):
        return None
    return _span_mm(order, choices, goals)


def _span_mm(order: Order, choices: Mapping[str, Sequence[FillChoice]], goals: Goals) -> tuple[float, float]:
    bare = to_fill(order, goals).bare_mm
    sums = [[choice.sum_mm for choice in c] for c in choices.values()]
    return bare + sum(map(min, sums)), bare + sum(map(max, sums))


def is_fast_gap(order: Order, gap: int, goals: Goals) -> bool:
    """Tell whether a dielectric touches a layer whose loss matters."""
    is_outer = gap in (0, len(order.gaps) - 1)
    return order.is_fast_gap(gap) or (is_outer and carries_fast_outside(goals))


def has_rest(order: Order, goals: Goals) -> bool:
    """Tell whether some dielectrics touch high-speed layers and others do not: what a hybrid needs."""
    fast = [is_fast_gap(order, gap, goals) for gap in range(len(order.gaps))]
    return any(fast) and not all(fast)


def _pair_for(of: str | LaminatePair) -> LaminatePair:
    return of if isinstance(of, LaminatePair) else LaminatePair(fast=of, rest=of)


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
            uneasy[fast] = uneasy[fast] + along(place, [ASKS * _is_thin(c, goals.build_rules) for c in found])
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
    sizes = [size for size in laid_out.routed if planes.get(size.layer, "") in PLANE_LETTERS]
    if not sizes:
        return None
    means, dks = np.array([c.mean_mm for c in found]), np.array([c.sold.dk for c in found])
    return [float(value) for value in outer_misfit(sizes, means, dks, goals.finish)]


def _is_thin(choice: FillChoice, rules: BuildRules) -> bool:
    """Tell whether a fab asks about a product, because it is thinner than what it builds as usual."""
    usual = rules.usual_core_mm - CORE_SLACK_MM if choice.sold.kind == "core" else rules.usual_pressed_mm
    return round(min(choice.at_mm.values()), 3) < usual


def _place(order: Order, gap: int, goals: Goals) -> str:
    kind = "core" if order.gaps[gap] == "c" else "prepreg"
    fast = is_fast_gap(order, gap, goals)
    if order.is_build_up(gap):
        return "fast build-up" if fast else "build-up"
    if len(order.gaps) == 1:
        return "fast middle core" if fast else "middle core"
    if gap in (0, len(order.gaps) - 1):
        return "fast outer" if fast else "outer"
    heavy = max(layer_oz(order, k, goals) for k in (gap, gap + 1)) > SIGNAL_OZ
    return f"{'fast' if fast else 'middle'} {kind}{' at heavy copper' if heavy else ''}"


@lru_cache(maxsize=64)
def to_fill(order: Order, goals: Goals) -> OrderToFill:
    """Return what every laminate pair fills in an order."""
    count = len(order.layers)
    copper_mm = tuple(layer_mm(order, k, goals) for k in range(count))
    place_of = tuple(_place(order, gap, goals) for gap in range(len(order.gaps)))
    places = []
    for name in sorted(set(place_of)):
        gaps = [gap for gap, place in enumerate(place_of) if place == name]
        needs = GapNeeds()
        for gap in gaps:
            needs = needs.and_those(gap_needs(order, gap, goals))
        kind: Kind = "core" if order.gaps[gaps[0]] == "c" else "prepreg"
        faces = tuple((gap, _plain(facing_copper(order, gap, copper_mm))) for gap in gaps)
        places.append(FillPosition(name, kind, faces, needs))
    copper = tuple(
        CandidateRow(
            kind=LayerKind.COPPER,
            use=USES[kind],
            thickness_mm=copper_mm[index],
            copper_oz=row_oz(order, index, goals),
        )
        for index, kind in enumerate(order.layers)
    )
    return OrderToFill(tuple(places), place_of, bare_mm(order, goals), copper)


def _choices(order: Order, pair: LaminatePair, goals: Goals) -> dict[str, tuple[FillChoice, ...]]:
    out = {}
    for place in to_fill(order, goals).places:
        family = pair.fast if place.is_fast else pair.rest
        out[place.name] = _fitting(family, place, goals)
        if len(order.gaps) == 1:
            out[place.name] += _to_order(order, family, place, goals)
    return out


def _to_order(order: Order, family: str, place: FillPosition, goals: Goals) -> tuple[FillChoice, ...]:
    """Return the laminate that makes a board of one laminate as thick as it is to be."""
    wanted, bare = goals.thickness_mm, to_fill(order, goals).bare_mm
    sold = None if wanted is None else core_to_order(family, round(wanted - bare, TO_ORDER_DIGITS))
    is_good = sold is not None and _is_pressed(sold, sold.cured_mm, place.needs, goals) and _meets_df(sold, goals)
    if sold is None or not is_good:
        return ()
    return (_choice(sold, {gap: sold.cured_mm for gap, _ in place.faces}),)


def _choice(sold: CatalogueProduct, at_mm: dict[int, float]) -> FillChoice:
    return FillChoice(sold, at_mm, sum(at_mm.values()))


def _plain(faces: tuple[FacingCopper, ...]) -> Faces:
    return tuple((f.thickness_mm or 0.0, f.coverage or 0.0) for f in faces)


@lru_cache(maxsize=1024)
def _fitting(family: str, place: FillPosition, goals: Goals) -> tuple[FillChoice, ...]:
    """What fits in all gaps of a place, one per thickness."""
    seen: set[tuple[float, ...]] = set()
    found = []
    is_free = "middle core" in place.name or (goals.laid_out is not None and place.kind == "core")
    most = float("inf") if is_free else THICKEST_MM
    if place.name.endswith("build-up"):
        most = _microvia_mm(goals)
    least = max(goals.least_dielectric_mm, place.needs.gap_mm)
    kinds = tuple(dict.fromkeys(around for _, around in place.faces))
    pressed = (_pressed(family, place.kind, f) for f in kinds)
    for sold, *at in zip(_offers(family, place.kind), *pressed, strict=True):
        known = [t for t in at if t is not None and least <= t and round(t, 3) <= most]
        if len(known) < len(at) or not _is_pressed(sold, min(known), place.needs, goals):
            continue
        if place.is_fast and not _meets_df(sold, goals):
            continue
        thicknesses = dict(zip(kinds, known, strict=True))
        rounded = tuple(round(t, 3) for t in known)
        if rounded not in seen:
            seen.add(rounded)
            found.append(_choice(sold, {gap: thicknesses[around] for gap, around in place.faces}))
    return tuple(found)


def _is_pressed(sold: CatalogueProduct, thickness_mm: float, needs: GapNeeds, goals: Goals) -> bool:
    """Tell whether a fab presses a product between copper: thick enough cores, enough plies, never below the cloth."""
    rules = goals.build_rules
    if sold.kind == "core":
        return sold.cured_mm >= needs.core_mm - CORE_SLACK_MM
    if sold.row is not None and (sold.row.resin_content_pct or 0.0) < needs.resin_pct:
        return False
    cloth_mm = sold.cloth_mm
    if cloth_mm is not None and thickness_mm < rules.least_glass_ratio * cloth_mm:
        return False
    return needs.plies <= sold.plies <= rules.most_plies


def _offers(family: str, kind: Kind) -> tuple[CatalogueProduct, ...]:
    return cores_of(family) if kind == "core" else prepregs_of(family)


@lru_cache(maxsize=4096)
def _pressed(family: str, kind: Kind, faces: Faces) -> tuple[float | None, ...]:
    """Return the thickness of every core or prepreg between copper faces; None where its resin does not do."""
    around = tuple(FacingCopper(thickness_mm=t, coverage=c) for t, c in faces)
    thickest = max((t for t, _ in faces), default=0.0)
    return tuple(
        None if sold.kind == "prepreg" and sold.cured_mm < RESIN_PER_COPPER * thickest else sold.pressed_mm(around)
        for sold in _offers(family, kind)
    )


def _meets_df(sold: CatalogueProduct, goals: Goals) -> bool:
    limit = goals.df_limit
    if limit is None or sold.family in goals.named_laminates:
        return True
    df = catalogue_df(sold.text, limit.at_ghz)
    return df is not None and limit.is_met_by(df)


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
        is_any_layer=order.has_one_core and chosen[_core_place(order, goals)].mean_mm <= _microvia_mm(goals),
    )


def _coats(coat: Mask | None, names: Iterator[str]) -> list[CandidateRow]:
    """Return the solder mask of a side, under the next of some names; [] on bare boards."""
    if coat is None:
        return []
    return [CandidateRow(kind=LayerKind.MASK, name=next(names), thickness_mm=coat.on_trace_mm, dk=coat.er)]


def _core_place(order: Order, goals: Goals) -> str:
    return _place(order, order.gaps.index("c"), goals)


def _microvia_mm(goals: Goals) -> float:
    """Return how deep a microvia can be plated."""
    return goals.microvia_drill_mm * goals.max_microvia_ratio
