"""The lines of a suggested stackup as text: layers that share a geometry together."""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.report.numbers import size_text
from drc_rules.requirements.interfaces import Interface, interface
from drc_rules.requirements.interfaces.model import ENGINEERING
from drc_rules.stackup_design.goals import GoalsFound
from stackup_lib.core.interval import Interval
from stackup_lib.synthesis import Evaluated
from stackwright.results.stackup_choices import LineWords


def line_words(one: Evaluated, found: GoalsFound) -> Iterator[LineWords]:
    """Yield the geometries of a suggested stackup, in the order of its lines."""
    groups: dict[tuple[str, str, str, str, str], list[str]] = {}
    goals = {goal.name: goal for goal in found.goals.lines}
    some_routed = any(line.is_routed or line.is_moved for line in one.lines)
    for line in one.lines:
        size = size_text(line.width_mm, line.gap_mm)
        ohm = span(line.impedance_ohm, 1)
        loss = span(line.loss_db_per_inch, 2) if line.loss_db_per_inch else ""
        wanted = goals[line.goal].longest_mm
        said = []
        if line.longest_legal_mm:
            said.append(f"{line.longest_legal_mm:.0f} mm at most")
            said += [f"{wanted:g} mm needed"] if wanted else []
        elif wanted and line.loss_db_per_inch:
            said.append(_over(wanted, line.loss_db_per_inch, interface(found.interfaces[line.goal])))
        if line.is_moved:
            said.append("to be rerouted")
        elif some_routed and not line.is_routed:
            said.append("not routed there")
        legal = ", ".join(said)
        groups.setdefault((line.goal, size, ohm, loss, legal), []).append(line.layer)
    for (goal, size, ohm, loss, legal), layers in groups.items():
        yield LineWords(goal, size, ohm, loss, legal, tuple(layers))


def _over(length_mm: float, loss_db_per_inch: Interval, one: Interface) -> str:
    """Return what a length loses where no share of the board is known, and whether the whole channel may lose that."""
    low, nominal, high = (
        end * length_mm / 25.4 for end in (loss_db_per_inch.low, loss_db_per_inch.nominal, loss_db_per_inch.high)
    )
    text = f"{nominal:.1f} ({low:.1f} to {high:.1f}) dB over {length_mm:g} mm"
    whole = one.channel_loss_db
    if whole is None or one.document_of("channel_loss_db") == ENGINEERING or high <= whole:
        return text
    may = "surely" if low > whole else "nominally" if nominal > whole else "at worst"
    return f"{text}: {may} more than the {whole:g} dB of the whole channel"


def span(interval: Interval, digits: int) -> str:
    """Return `85.0 (80.1 to 90.2)`."""
    return f"{interval.nominal:.{digits}f} ({interval.low:.{digits}f} to {interval.high:.{digits}f})"
