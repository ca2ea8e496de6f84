"""What makes up the skew of two traces, as text."""

from __future__ import annotations

from drc_rules.analysis.delay.bare_lines import FILL_ONE
from drc_rules.analysis.delay.pair_skew import PairSkew
from drc_rules.facts.context import Context
from stackup_lib.core.facts import MissingFact

SLOWER = "A slower link may have more, in proportion to its bit: declare the interface if it runs at that rate. "
"""Where a limit is that of one rate and the rate of the link is not declared."""

VIAS, PACKAGE = "vias", "package"


def _parts_ps(one: PairSkew) -> tuple[tuple[str, float], ...]:
    """The parts of a skew that no length of track makes."""
    return (VIAS, one.vias_ps), (PACKAGE, one.package_ps)


def mostly_of(one: PairSkew) -> str:
    """Return what other than the tracks makes more than half of the skew; "" where they do."""
    skew_ps = one.skew_ps.nominal
    return next((what for what, ps in _parts_ps(one) if ps * skew_ps > skew_ps * skew_ps / 2), "")


def spent_on(ctx: Context, one: PairSkew) -> str:
    """Return where the difference is: `tracks on In2.Cu +3.10 mm, vias +0.2 ps, package +1.0 ps`."""
    parts = []
    if one.layer is not None:
        parts.append(f"tracks on {ctx.board.copper_layers[one.layer].name} {one.layer_mm:+.2f} mm")
    parts += [f"{what} {ps:+.1f} ps" for what, ps in _parts_ps(one) if ps]
    return ", ".join(parts)


def doubt_of_chokes(meets: str, one: PairSkew, limit: str, names: tuple[str, ...]) -> MissingFact:
    """Return what leaves a skew undecided on whose way are chokes: a data sheet states no skew of theirs."""
    what = f"whether {meets}: {one.size_ps.nominal:.1f} ps without {', '.join(names)}, maximum {limit} ps"
    return MissingFact(what, "in the layout, leave the choke half of the limit: no file states its own skew")


def doubt(meets: str, one: PairSkew, limit_ps: float, fix: str, *, digits: str = "g") -> MissingFact:
    """Return what leaves a skew undecided: the fact that would narrow its range, else the layout that decides it."""
    size = one.size_ps
    what = f"whether {meets}: {size.low:.1f} to {size.high:.1f} ps, maximum {limit_ps:{digits}} ps"
    if one.unsure:
        return MissingFact(f"{what}; not known is {one.unsure.name}", one.unsure.how_to_give)
    if size.nominal <= limit_ps:
        open_ps = one.reach_ps - size.nominal
        return MissingFact(f"{what}; sections without a reference plane leave {open_ps:.1f} ps open", FILL_ONE)
    return MissingFact(what, f"in the layout, {fix[:1].lower()}{fix[1:]}: no declaration decides it")
