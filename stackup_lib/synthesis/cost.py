"""What a candidate costs against others: an index, its drivers, and words. Judgement, but for the laminate factors."""

from collections import Counter
from collections.abc import Iterable
from functools import cache

from stackup_lib.core.frozen import Frozen
from stackup_lib.materials import catalogue
from stackup_lib.materials.cost import CostWord, class_factor, cost_figures
from stackup_lib.synthesis.candidates import CandidateStackup
from stackup_lib.synthesis.constructions import DF_GHZ

FINE_MM = 0.1
HEAVY_OZ = 2.0
HIGH_ASPECT, VERY_HIGH_ASPECT = 10.0, 15.0
MANY_LAMINATIONS = 3


class Cost(Frozen):
    """Relative cost: an index of 1 is one layer of FR-4 pressed once.

    Attributes:
        index: only ratios mean something.
        drivers: what it is made of, the largest first.
        basis: where the factors come from.
    """

    index: float
    drivers: tuple[str, ...]
    basis: str = ""


@cache
def laminate_factor(family: str) -> float:
    """Return the cost of a laminate family against FR-4, by its loss class."""
    laminate = catalogue().get(family)
    return class_factor(laminate.loss_class if laminate else None)


def df_of(family: str) -> float:
    """Return the typical Df of a family at 10 GHz, for ordering; a high one where none is known."""
    laminate = catalogue().get(family)
    return (laminate.df_at(DF_GHZ).value if laminate else None) or 1.0


def cost_of(
    candidate: CandidateStackup, aspect_ratio: float, backdrilled: tuple[str, ...], least_mm: float | None = None
) -> Cost:
    """Return the relative cost and what drives it.

    Args:
        candidate: the stackup.
        aspect_ratio: of its smallest through via.
        backdrilled: layers whose vias are backdrilled.
        least_mm: narrowest line or gap, None where none is known.
    """
    figures = cost_figures()
    layers, laminations = len(candidate.copper), candidate.order.laminations
    laminate, words = _laminates(candidate)
    index = laminate * layers
    drivers = [*words, f"{layers} layers"]
    for share, said in _extras(candidate, aspect_ratio, backdrilled, least_mm):
        index *= 1 + share
        drivers.append(said)
    if laminations > MANY_LAMINATIONS:
        drivers.append(f"more than {MANY_LAMINATIONS} lamination cycles: few fabs")
    source = figures.source
    basis = f"laminate: {source['laminate']}; the rest: {source['share']}; words: {source['more_pct']}"
    return Cost(index=round(index, 2), drivers=tuple(drivers), basis=basis)


def more_pct(index: float, cheapest: float) -> int:
    """Return what a stackup costs more than the cheapest one, in per cent; no finer, for the index is judgement."""
    return round(100 * (index / cheapest - 1))


def cost_word(index: float, cheapest: float) -> CostWord:
    """Return what that is called."""
    more, bands = more_pct(index, cheapest), cost_figures().more_pct
    if more <= 0:
        return "lowest"
    if more < bands["low"]:
        return "low"
    return "medium" if more <= bands["medium"] else "high"


def _laminates(candidate: CandidateStackup) -> tuple[float, list[str]]:
    """Return the mean factor over the dielectrics, which are bought by the sheet, and a driver for each family."""
    counts = Counter(r.laminate for r in candidate.dielectrics)
    total = sum(counts.values())
    mean = sum(laminate_factor(family) * n for family, n in counts.items()) / total
    ranked = sorted(counts, key=lambda family: (-laminate_factor(family) * counts[family], family))
    if len(ranked) == 1:
        return mean, [f"{ranked[0]} at {laminate_factor(ranked[0]):g} times FR-4"]
    words = [f"{f} at {laminate_factor(f):g} times FR-4 in {counts[f]} of {total} dielectrics" for f in ranked]
    return mean * (1 + cost_figures().share["hybrid"]), words


def _extras(
    candidate: CandidateStackup, aspect_ratio: float, backdrilled: tuple[str, ...], least_mm: float | None
) -> Iterable[tuple[float, str]]:
    share, laminations = cost_figures().share, candidate.order.laminations
    if laminations > 1:
        many = share["many_laminations"] if laminations > MANY_LAMINATIONS else 0.0
        yield share["lamination"] * (laminations - 1) + many, f"{laminations} laminations"
    if candidate.order.gaps.startswith("cp"):
        yield share["core_build"], "a core build: outer copper on cores"
    heavy = max((r.copper_oz or 0.0) for r in candidate.copper)
    if heavy >= HEAVY_OZ:
        yield share["heavy_copper"], f"{heavy:g} oz copper"
    foils = Counter(r.foil for r in candidate.copper if cost_figures().foil.get(r.foil))
    for foil, count in sorted(foils.items()):
        words = f"{foil} foil on {count} layer{'s' * (count > 1)}"
        yield cost_figures().foil[foil] * count / len(candidate.copper), words
    if backdrilled:
        drilled = len(backdrilled)
        yield share["backdrill"], f"backdrill of {drilled} layer{'s' * (drilled > 1)}"
    if least_mm is not None and least_mm < FINE_MM:
        yield share["fine_lines"], f"lines or gaps below {FINE_MM:g} mm"
    if aspect_ratio > HIGH_ASPECT:
        key = "very_high_aspect" if aspect_ratio > VERY_HIGH_ASPECT else "high_aspect"
        yield share[key], f"aspect ratio {aspect_ratio:.1f}"
