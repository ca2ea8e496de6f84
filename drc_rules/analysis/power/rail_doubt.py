"""Values of a rail that are neither surely within a limit nor surely beyond it, and what to declare to settle them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from drc_rules.analysis.power.power_rails import SolvedRail, WholeDrop
from drc_rules.analysis.power.rail_copper import CopperLoss, Thickness, in_table
from drc_rules.report.numbers import figure
from drc_rules.settings.config_power import RailDeclaration
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.interval import Interval
from stackup_lib.power.rail_drop.spread import PLATING_UM

if TYPE_CHECKING:
    from drc_rules.analysis.power.rail_returns import RailReturn

LEAST_SHARE = 0.01
"""What widens a value by less than this share is not worth asking the user for."""

NOTHING_LEFT = "add copper or vias: everything is declared, and the solution is no finer than this"


def unsure(net: str, what: str, found: Interval, limit: str, hint: str) -> MissingFact:
    """Return what would decide whether a value of a rail is within its limit.

    Args:
        net: of the rail.
        what: the value as text, e.g. `the resistance of +0V8`.
        found: it, in the unit of the limit.
        limit: as text, e.g. `0.15 mOhm at most`.
        hint: line that makes it surer, "" where everything is declared.
    """
    spread = f"{figure(found.nominal)} ({figure(found.low)} to {figure(found.high)})"
    return MissingFact(f"{what} more precisely than {spread}; {limit}", hint or in_table(net, NOTHING_LEFT))


def need_whole_return(whole: WholeDrop) -> None:
    """Raise `MissingFact` where a rail would pass without a ground by which its current returns as well."""
    back = whole.back
    if back is not None and back.elsewhere:
        net = whole.there.row.net
        what = f"the whole return of {net}: only {back.net} is solved, but current returns from {back.elsewhere}"
        raise MissingFact(what, in_table(net, "put its ends on one ground, or judge that part of the way yourself"))


def zones_for_graphics(row: RailDeclaration, back: RailReturn) -> str:
    """Return what to do about graphics of a return net, which its solution leaves out."""
    return in_table(row.net, f"draw the graphics of {back.net} on {', '.join(back.drawn)} as zones, which are solved")


def sharper(whole: WholeDrop, load: int | None = None) -> str:
    """Return the line that narrows the range of the drop at a load most, "" where everything is declared.

    Without a load it is that of the resistance.
    """
    doubts = list(_doubts(whole.there.row, whole.there.loss if load is None else whole.there.loss_of(load)))
    if whole.back and whole.back.drawn:
        return zones_for_graphics(whole.there.row, whole.back)
    if whole.back:
        at = whole.worst if load is None else load
        weight = whole.back.of(at).nominal / (whole.of(at).nominal or 1.0)
        loss = whole.back.loss if load is None else whole.back.loads[load].loss
        doubts = [(share * (1 - weight), hint) for share, hint in doubts]
        doubts += [(share * weight, hint) for share, hint in _doubts(whole.there.row, loss)]
    share, hint = max(doubts, default=(0.0, ""))
    return hint if share >= LEAST_SHARE else ""


def _doubts(row: RailDeclaration, loss: CopperLoss) -> Iterator[tuple[float, str]]:
    """Share of the loss that is in doubt, and the line that settles it."""
    total = loss.total_w or 1.0
    for name, watt in loss.layer_power_w.items():
        thin, stated, thick = loss.ranges[name]
        yield watt / total * max(thick / stated - 1, stated / thin - 1), copper_line(row, name, loss.ranges[name])
    if row.plating_um is None:
        doubt = loss.barrel_power_w / total * (PLATING_UM.high / PLATING_UM.nominal - 1)
        yield doubt, in_table(row.net, 'plating_um = "?"  # copper in the holes, as the fab guarantees it')


def copper_line(row: RailDeclaration, layer: str, of: Thickness) -> str:
    """Return the line for the finished copper of a layer, "" where it is declared."""
    thin, stated, thick = (1000 * one for one in of)
    if thin == thick:
        return ""
    note = f"finished copper in um; {stated:.0f} is stated, {thin:.0f} to {thick:.0f} may be delivered"
    return in_table(row.net, f'copper_um = {{ "{layer}" = "?" }}  # {note}')


def copper_line_of(solved: SolvedRail, layer: str) -> str:
    """Return the line for the finished copper of a layer of a solved rail."""
    return copper_line(solved.row, layer, solved.range_of(layer))
