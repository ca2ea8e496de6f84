"""The title of a clause is its requirement in the field's form, with the limit's own number."""

from __future__ import annotations

import re
from collections.abc import Iterator

from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.fabs import Tier
from drc_rules.requirements.fabs.holes import backdrill_clearance_mm, max_aspect_ratio
from drc_rules.requirements.fabs.limits import LimitName, limit_of, max_board_mm
from drc_rules.requirements.interfaces.inherit import is_inherited
from tests.support.shipped_clauses import clauses

LONGEST = 72
NUMBER = re.compile(r"(?<![\w.-])\d+(?:\.\d+)?(?![\w-])")
"""A number that is no part of a name such as `Gen5`, `B200` or `2-N-2`."""
TIER_LIMITS: dict[str, tuple[LimitName, ...]] = {
    "hole_diameter": ("drill_mm", "microvia_mm"),
    "annular_ring": ("ring_mm", "microvia_ring_mm"),
    "unplated_hole_to_copper": ("unplated_hole_to_copper_mm",),
    "edge_to_copper": ("edge_to_copper_mm",),
    "hole_to_copper": ("hole_to_copper_mm",),
    "fab_thickness": ("thickness_mm",),
    "outer_track": ("outer_track_mm",),
    "dielectric_thickness": ("dielectric_mm",),
    "average_dielectric": ("dielectric_mm",),
}


def requirement(clause: Clause) -> str:
    """The title without the name of the interface or form factor that it is for."""
    if clause.id.startswith("form."):
        return clause.title.partition(" (")[0]
    return clause.title.rpartition(": ")[2] if clause.interface else clause.title


def limits(clause: Clause) -> Iterator[float]:
    """Every number that the clause's limit stands for."""
    limit = clause.limit
    yield from (number for number in (limit.min, limit.max, limit.at_ghz) if number is not None)
    if limit.unit == "fab tier" and limit.at_least in set(Tier):
        tier = Tier(limit.at_least)
        yield from (limit_of(name, tier) or 0.0 for name in TIER_LIMITS.get(clause.kind, ()))
        if clause.kind == "hole_aspect_ratio":
            yield from (max_aspect_ratio(kind, tier) for kind in ("through", "buried", "microvia"))
        if clause.kind == "backdrill_clearance":
            yield backdrill_clearance_mm(tier)
        if clause.kind == "fab_board_size":
            yield from map(round, max_board_mm(tier) or ())


def test_a_number_in_a_title_is_that_of_the_limit() -> None:
    """A limit that is changed changes its title too."""
    wrong, numbers = [], 0
    for clause in clauses():
        said = [float(text) for text in NUMBER.findall(requirement(clause).replace(":1", ""))]
        numbers += len(said)
        wrong += [(clause.id, clause.title, number) for number in said if number not in set(limits(clause))]
    assert numbers > 100
    assert wrong == []


def test_a_title_is_a_short_requirement() -> None:
    """It reads next to "passed" and "failed" alike: no sentence, no full stop."""
    own = [clause.title for clause in clauses() if not is_inherited(clause.title) and not clause.id.startswith("form.")]
    assert len(own) > 150
    assert [title for title in own if len(title) > LONGEST or title.endswith(".")] == []
