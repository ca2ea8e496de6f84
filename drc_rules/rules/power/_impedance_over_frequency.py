"""What the computed impedance of a rail says of a clause: beyond, within, or what has to be declared first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from drc_rules.analysis.power.rail_copper import in_table
from drc_rules.facts.context import Context
from drc_rules.report.numbers import figure
from drc_rules.settings.config_power import RailDeclaration
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.interval import Interval, Standing

if TYPE_CHECKING:
    from drc_rules.report.pdn_rows import PdnMissing, PdnRow

LEAST_HZ = 10e6
"""Board capacitors work up to 10 or 20 MHz (AMD UG584). What is inside only up to less is no pass, unless the maker of
the load states where its package takes over."""


def worst_of(ctx: Context, row: RailDeclaration, limit_mohm: float, dc: Interval | None) -> tuple[PdnRow, Interval]:
    """Return a rail's curve and its largest impedance where board parts count.

    It is judged only where regulator, load and all fitted capacitors are known: an assumed one decides nothing.

    Raises:
        MissingFact: one of them is not, or what joins them by planes.
    """
    from drc_rules.analysis.power.over_frequency.pdn_of import pdn_of  # noqa: PLC0415 - heavy: only a rail needs it

    try:
        found = ctx.get(pdn_of, row.net, (), limit_mohm)
    except MissingFact as missing:
        raise _not_judged(row, dc, missing.name) from missing
    assumed = [one.what for one in found.missing if not one.narrows]
    if assumed or found.worst_mohm is None:
        raise _not_judged(row, dc, ", ".join(assumed))
    return found, found.worst_mohm


def need_pass(row: RailDeclaration, found: PdnRow, worst: Interval, limit_mohm: float) -> None:
    """Return where a rail is inside of its limit, and nothing that is not declared could change that.

    Raises:
        MissingFact: something could.
    """
    target = found.target
    if target is not None and target.up_to_hz < LEAST_HZ and row.pdn.up_to_mhz is None:
        mhz = figure(target.up_to_hz / 1e6)
        raise MissingFact(
            f"up to where the board feeds {row.net}: above {mhz} MHz planes and vias leave capacitors too little "
            f"of {limit_mohm:g} mOhm",
            in_table(row.net, 'pdn.up_to_mhz = "?"  # where the package takes over, from the maker of the load'),
        )
    if worst.against(maximum=limit_mohm) is Standing.UNSURE or (worst.high > limit_mohm and found.missing):
        span = f"{range_words(worst)} mOhm"
        raise MissingFact(
            f"impedance of {row.net} more precisely than {span}, maximum {limit_mohm:g} mOhm",
            in_table(row.net, _lines(found.missing) or "add capacitors near the load"),
        )


def _not_judged(row: RailDeclaration, dc: Interval | None, lacks: str) -> MissingFact:
    """Return what a rail lacks whose network is not known, with what is known at DC and required, and what is not."""
    own = row.target_ohm
    known = f"; {range_words(dc)} mOhm at DC" if dc else ""
    known += f"; its ripple and step require {figure(own * 1000)} mOhm" if own is not None else ""
    known += f"; not known: {lacks}" if lacks else ""
    hint = 'impedance_mohm = "?"  # maximum from DC to 100 MHz at the load, simulated or measured'
    what = f"impedance of {row.net} up to 100 MHz, which copper alone cannot prove{known}"
    return MissingFact(what, in_table(row.net, hint))


def range_words(found: Interval) -> str:
    """Return `2.1 (1.6 to 3.5)`."""
    return f"{figure(found.nominal)} ({figure(found.low)} to {figure(found.high)})"


def _lines(missing: Sequence[PdnMissing]) -> str:
    return "; ".join(line for one in missing for line in one.lines)
