"""The charts of one board: what is computed for them, only where a page is to show them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from drc_rules.analysis.delay.delay_table import delay_table
from drc_rules.analysis.impedance.impedance_spread import TargetSpread, impedance_spreads
from drc_rules.analysis.loss.loss_curve import LossCurve, loss_curves
from drc_rules.analysis.power.over_frequency.pdn_of import pdn_of
from drc_rules.engine.check import CheckUp
from drc_rules.facts.context import Context
from drc_rules.report.delay_rows import DelayGroup
from drc_rules.report.pdn_rows import PdnRow
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import record
from stackwright.drawing.map_links import LinkShape, link_shapes
from stackwright.tables.losses import by_interface

MOST_CURVES = 12
"""Interfaces that are drawn."""

MOST_RAILS = 8
"""Rails that are drawn, the first of the settings file."""


@record
class Charts:
    """Loss over frequency of the worst link of each interface, impedance in production, delays, rails over frequency.

    Attributes:
        routes: nets of a link of the delays -> what is drawn of it on the map.
        rails: declared rails whose impedance is known.
        open_rails: those that lack something, and what.
    """

    losses: tuple[LossCurve, ...] = ()
    spreads: tuple[TargetSpread, ...] = ()
    delays: tuple[DelayGroup, ...] = ()
    routes: Mapping[tuple[str, ...], LinkShape] = field(default_factory=dict)
    rails: tuple[PdnRow, ...] = ()
    open_rails: tuple[tuple[str, str], ...] = ()


def charts_of(checked: CheckUp) -> Charts:
    """Compute the charts of a checked board: some seconds for a large one."""
    worst = [group.worst for group in by_interface(checked.report.losses)]
    rows = [row for row in worst if row is not None][:MOST_CURVES]
    context = checked.context
    delays = context.get(delay_table)
    routes = link_shapes(context.board, delays)
    curves, missing = _rails(context)
    return Charts(loss_curves(context, rows), impedance_spreads(context), delays, routes, curves, missing)


def delays_of(checked: CheckUp) -> Charts:
    """Compute the delay table alone, for a page that someone waits for and that has no board from above."""
    return Charts(delays=checked.context.get(delay_table))


def _rails(context: Context) -> tuple[tuple[PdnRow, ...], tuple[tuple[str, str], ...]]:
    """Return the declared rails over frequency, and why others have no curve."""
    known: list[PdnRow] = []
    missing: list[tuple[str, str]] = []
    nets = dict.fromkeys(row.net for row in context.declarations.config.rail)
    for net in list(nets)[:MOST_RAILS]:
        try:
            known.append(context.get(pdn_of, net))
        except MissingFact as fact:
            missing.append((net, fact.name))
    return tuple(known), tuple(missing)
