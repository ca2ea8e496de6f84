"""Products for the places of an order: what makers sell, a fab presses, and the goals allow. Lengths in mm."""

from functools import lru_cache
from typing import NamedTuple

from stackup_lib.core.frozen import Frozen
from stackup_lib.materials.pressing import FacingCopper
from stackup_lib.synthesis.arrange import Order
from stackup_lib.synthesis.build_rules import GapNeeds
from stackup_lib.synthesis.constructions import CatalogueProduct, core_to_order, cores_of, prepregs_of
from stackup_lib.synthesis.fill.places import Faces, FillPosition, Kind, to_fill
from stackup_lib.synthesis.goals import Goals
from stackup_lib.synthesis.line_loss import catalogue_df

CORE_SLACK_MM = 0.001
"""Cores of 2 and 4 mil are listed as 0.051 and 0.102, or 0.05 and 0.1."""

RESIN_PER_COPPER = 2.0
"""A prepreg is at least this many times as thick as the copper that it fills: a fab's rule for multilayers (setpcb)."""

THICKEST_MM = 0.4
"""Of what is not in the middle: engineering judgement."""

TO_ORDER_DIGITS = 2
"""Laminate that is made to order is given to a hundredth of a millimetre."""


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


class FillChoice(NamedTuple):
    """A product for all gaps of a place, its thickness in each, and their sum."""

    sold: CatalogueProduct
    at_mm: dict[int, float]
    sum_mm: float

    @property
    def mean_mm(self) -> float:
        """Of one gap."""
        return self.sum_mm / len(self.at_mm)


def choices_of(order: Order, pair: LaminatePair, goals: Goals) -> dict[str, tuple[FillChoice, ...]]:
    """Return what fits each place of an order, by its name."""
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


@lru_cache(maxsize=1024)
def _fitting(family: str, place: FillPosition, goals: Goals) -> tuple[FillChoice, ...]:
    """What fits in all gaps of a place, one per thickness."""
    seen: set[tuple[float, ...]] = set()
    found = []
    is_free = "middle core" in place.name or (goals.laid_out is not None and place.kind == "core")
    most = float("inf") if is_free else THICKEST_MM
    if place.name.endswith("build-up"):
        most = microvia_mm(goals)
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


def microvia_mm(goals: Goals) -> float:
    """Return how deep a microvia can be plated."""
    return goals.microvia_drill_mm * goals.max_microvia_ratio
