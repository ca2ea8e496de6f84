"""Answers against each other: what each costs more than the cheapest, and what puts the first before the second."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stackup_lib.core.words import count, listed
from stackup_lib.synthesis import Evaluated
from stackup_lib.synthesis.cost import cost_word, more_pct

if TYPE_CHECKING:
    from stackwright.commands.suggest.model import Suggested

RANKED_BY = {"cost": "cost", "loss": "loss within a cost class"}

LEAST_LOSS = 0.005
"""In dB/inch, or dB of a margin; what differs by less is shown alike."""
LEAST_MM = 0.005
"""Likewise."""


def cheapest(result: Suggested) -> float:
    """Return the cost of the cheapest answer; without an answer, of the cheapest stackup that comes near the goals."""
    found = result.answers
    near = (*(one.result for one in found.relaxations), *((found.nearest,) if found.nearest else ()))
    return min(one.cost.index for one in result.entries or near)


def cost_tier(one: Evaluated, result: Suggested) -> str:
    """Return `lowest`, `low`, `medium` or `high`, against the cheapest answer; "" for an only one."""
    return cost_word(one.cost.index, cheapest(result)) if len(result.entries) > 1 else ""


def cost_words(one: Evaluated, result: Suggested) -> str:
    """Return `lowest` or `+12 % medium`; "" for an only answer."""
    more = more_pct(one.cost.index, cheapest(result))
    return f"+{more} % {cost_tier(one, result)}" if more > 0 else cost_tier(one, result)


def fast_foil(one: Evaluated) -> str:
    """Return the foil of the high-speed layers; "" where none is stated."""
    return "/".join(sorted({row.foil for row in one.candidate.copper if row.use == "fast" and row.foil}))


def differs_in_foil(result: Suggested) -> bool:
    """Tell whether the high-speed layers of the answers have different foils, to which much of their loss is due."""
    lossy = any(one.worst_loss_db_per_inch for one in result.entries)
    return lossy and len({fast_foil(one) for one in result.entries}) > 1


def foil_words(result: Suggested) -> str:
    """Return how new stackups come to their foils, where answers differ in foil; "" where they do not."""
    if not differs_in_foil(result) or not result.answers.ranked:
        return ""
    return (
        "new stackups have the plainest foil that the goals allow and their cores come with: a smoother one loses less"
    )


def rank_words(result: Suggested) -> str:
    """Return what ranks new stackups, and what sets the first apart from the second; "" without two."""
    ranked, first = result.answers.ranked, len(result.changes) + 1
    if len(ranked) < 2:
        return ""
    wishes = "preferred requirements, then " if len({len(one.missed_wishes) for one in ranked}) > 1 else ""
    stays = "routed lines that stay, then " if len({one.rerouted for one in ranked}) > 1 else ""
    by = f"ranked by {wishes}{stays}{RANKED_BY[result.found.goals.rank_by]}"
    return f"{by}; {first} before {first + 1}: {', '.join(_differences(*ranked[:2]))}"


def _differences(one: Evaluated, other: Evaluated) -> Iterator[str]:
    cost = more_pct(one.cost.index, other.cost.index)
    loss = one.worst_loss_db_per_inch - other.worst_loss_db_per_inch
    counts = (
        (len(one.missed_wishes) - len(other.missed_wishes), "missed preferred requirement"),
        (one.rerouted - other.rerouted, "routed size"),
        (one.laminations - other.laminations, "lamination"),
        (len(one.candidate.laminates) - len(other.candidate.laminates), "laminate"),
        (len(one.backdrilled) - len(other.backdrilled), "backdrilled layer"),
    )
    if cost:
        yield f"{abs(cost)} % {'cheaper' if cost < 0 else 'more expensive'}"
    has_margins = one.least_margin_db is not None and other.least_margin_db is not None
    margin = (one.least_margin_db or 0.0) - (other.least_margin_db or 0.0) if has_margins else 0.0
    if abs(margin) >= LEAST_LOSS:
        yield f"{abs(margin):.2f} dB {'more' if margin > 0 else 'less'} margin"
    elif abs(loss) >= LEAST_LOSS:
        yield f"{abs(loss):.2f} dB/inch {'less' if loss < 0 else 'more'}"
    for more, noun in counts:
        if more:
            out = " out of tolerance" if noun == "routed size" else ""
            yield count(abs(more), f"{'fewer' if more < 0 else 'more'} {noun}") + out
    if one.candidate.is_df_known and not other.candidate.is_df_known:
        yield "Df known"
    elif not cost and abs(margin or loss) < LEAST_LOSS and not any(more for more, _ in counts):
        same = ["cost", *(["loss"] if one.worst_loss_db_per_inch else [])]
        thinner = other.candidate.thickness_mm - one.candidate.thickness_mm
        if abs(thinner) < LEAST_MM:
            yield f"equal {listed([*same, 'thickness'])}"
        else:
            yield f"equal {listed(same)}, {abs(thinner):.2f} mm {'thinner' if thinner > 0 else 'thicker'}"
