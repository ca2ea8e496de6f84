"""The charts of one board: what is computed for them, only where a page is to show them."""

from __future__ import annotations

from dataclasses import dataclass

from drc_rules.analysis.impedance.impedance_spread import TargetSpread, impedance_spreads
from drc_rules.analysis.loss.loss_curve import LossCurve, loss_curves
from drc_rules.engine.check import CheckUp
from stackwright.tables.losses import by_interface

MOST_CURVES = 12
"""Interfaces that are drawn."""


@dataclass(frozen=True)
class Charts:
    """Loss over frequency of the worst link of each interface, and impedance in production of each target."""

    losses: tuple[LossCurve, ...] = ()
    spreads: tuple[TargetSpread, ...] = ()


def charts_of(checked: CheckUp) -> Charts:
    """Compute the charts of a checked board: some seconds for a large one."""
    worst = [group.worst for group in by_interface(checked.report.losses)]
    rows = [row for row in worst if row is not None][:MOST_CURVES]
    return Charts(loss_curves(checked.context, rows), impedance_spreads(checked.context))
