"""Rows of a stackup whose laminate softens too early, and the nearest ones that do not. Lengths in mm."""

from __future__ import annotations

from stackup_lib.board.board import LayerKind
from stackup_lib.core.words import listed
from stackup_lib.materials import catalogue
from stackup_lib.synthesis import CandidateRow, CandidateStackup, TgLimit
from stackup_lib.synthesis.candidates import dielectric_row, facing_copper
from stackup_lib.synthesis.change import SAME_THICKNESS
from stackup_lib.synthesis.constructions import CatalogueProduct, cores_of, prepregs_of, why_nothing
from stackup_lib.synthesis.cost import laminate_factor


def with_tg(current: CandidateStackup, limit: TgLimit | None) -> tuple[CandidateStackup, tuple[str, ...]]:
    """Return the stackup with every row of too low a Tg swapped, and what was swapped in words.

    A family that the stackup holds already comes first, then the cheapest; where no laminate
    is sold in all the thicknesses that are needed, the stackup comes back as it was.
    """
    low = [row.name for row in current.dielectrics if limit and not _holds(row.laminate, limit)]
    if limit is None or not low:
        return current, ()
    for family in _families(current, limit):
        rows = [_swapped(current, row, family) if row.name in low else row for row in current.rows]
        if all(row is not None for row in rows):
            kept = tuple(row for row in rows if row is not None)
            return current.model_copy(update={"rows": kept}), (f"{listed(low)} to {family}",)
    return current, ()


def _holds(family: str, limit: TgLimit) -> bool:
    laminate = catalogue().get(family)
    return laminate is not None and limit.is_met_by(laminate.tg) is True


def _families(current: CandidateStackup, limit: TgLimit) -> list[str]:
    sold = [x.family for x in catalogue().laminates if not why_nothing(x) and _holds(x.family, limit)]
    return sorted(sold, key=lambda family: (family not in current.laminates, laminate_factor(family), family))


def _swapped(current: CandidateStackup, row: CandidateRow, family: str) -> CandidateRow | None:
    """Return the row in another laminate: as thick within the making; None where it is not sold."""
    offers = cores_of(family) if row.kind is LayerKind.CORE else prepregs_of(family)
    gap = next(k for k, d in enumerate(current.dielectrics) if d.name == row.name)
    faces = facing_copper(current.order, gap, [c.thickness_mm for c in current.copper])
    pressed: list[tuple[float, CatalogueProduct]] = [
        (t, one) for one in offers if (t := one.pressed_mm(faces)) is not None
    ]
    fits = [(t, one) for t, one in pressed if abs(t / row.thickness_mm - 1) <= SAME_THICKNESS]
    best = min(fits, key=lambda p: (abs(p[0] / row.thickness_mm - 1), p[1].plies), default=None)
    return dielectric_row(best[1], best[0], row.name) if best else None
