"""The table of declared rails as text, for the terminal and the page alike."""

from __future__ import annotations

from collections.abc import Sequence

from drc_rules.report.numbers import figure
from drc_rules.report.rail_rows import RailRow
from stackup_lib.core.interval import Interval
from stackwright.text.words import count, some

HEAD = ("Rail", "Current", "Drop, mV", "Limit", "DC, mOhm", "Target", "Largest in a hole", "Most is lost in")
SHORT_HEAD = ("Rail", "Current", "Drop, mV", "Share", "Limit", "DC, mOhm", "Target", "Most lost in")
MORE_HEAD = ("Rail", "From, to", "Way of the largest drop", "Copper", "Assumed")
NOTE = "drop in the supply and, where it is known, in the ground return; in brackets thick cold to thin hot copper"

LISTED_PCT = 0.5
"""Layers that lose less are not listed."""


def cells(row: RailRow) -> tuple[str, ...]:
    """Return one rail as the page shows it; one without a solution has only its head."""
    current = f"{figure(row.current_a)} A" if row.current_a is not None else "?"
    if row.problem:
        return row.net, current, "not solved", limit(row), "", target(row), "", ""
    hole = f"{figure(row.hole_a, 2)} A of {count(row.holes, 'hole')}" if row.hole_a is not None else "no holes"
    return row.net, current, drop(row), limit(row), _range(row.resistance_mohm), target(row), hole, most_lost(row)


def short_cells(row: RailRow) -> tuple[str, ...]:
    """Return one rail as narrow as a terminal is."""
    current = f"{figure(row.current_a)} A" if row.current_a is not None else "?"
    if row.problem or row.resistance_mohm is None:
        return row.net, current, "not solved", "", limit(row), "", target(row), ""
    share = f"{figure(row.drop_pct, 2)} %" if row.drop_pct is not None else ""
    share += "" if row.back_mv else ", one way"
    dc = figure(row.resistance_mohm.nominal)
    return row.net, current, _range(row.drop_mv), share, limit(row), dc, target(row), most_lost(row)


def drop(row: RailRow) -> str:
    """Return `7.69 (5.1 to 16.5), 0.23 %, of which 1.2 back through GND`, or that it is one way alone."""
    percent = f", {figure(row.drop_pct, 2)} %" if row.drop_pct is not None else ""
    back = f", of which {figure(row.back_mv.nominal)} back through {row.ground}" if row.back_mv else ", one way"
    return _range(row.drop_mv) + percent + back


def limit(row: RailRow) -> str:
    """Return the declared limit of the drop."""
    return figure(row.limit_mv) if row.limit_mv is not None else "none"


def target(row: RailRow) -> str:
    """Return what ripple and step require, and what was simulated or measured."""
    asked = figure(row.target_mohm) if row.target_mohm is not None else ""
    stated = f"{figure(row.stated_mohm)} stated" if row.stated_mohm is not None else ""
    return ", ".join(part for part in (asked, stated) if part) or "none"


def most_lost(row: RailRow) -> str:
    """Return the layer, or the holes, with most of the loss."""
    shares = [(layer.loss_pct, layer.layer) for layer in row.layers]
    shares.append((row.hole_loss_pct or 0.0, "holes"))
    share, where = max(shares)
    return f"{where}, {share:.0f} %"


def more(row: RailRow) -> tuple[str, ...]:
    """Return the cells of the page's second table."""
    loads = some([f"{load.name} {figure(load.current_a)} A" for load in row.loads], 6)
    distance = f", {row.distance_mm:.0f} mm" if row.distance_mm is not None else ""
    worst = max(row.loads, key=lambda load: load.drop_mv.nominal, default=None)
    return (
        row.net,
        f"{row.source} to {loads}{distance}" if loads else row.source,
        some(list(worst.way), 6) if worst else "",
        some(
            [
                f"{layer.layer} {layer.copper_um:g} um, {layer.loss_pct:.0f} %"
                for layer in row.layers
                if layer.loss_pct >= LISTED_PCT
            ],
            8,
        ),
        "; ".join([*row.assumed, *_way_back(row)]),
    )


def _way_back(row: RailRow) -> list[str]:
    """What of the ground return is counted, and what is not."""
    shared = f"the current of {', '.join(row.shares_ground)} in {row.ground} is counted" if row.shares_ground else ""
    left = f"not counted: {row.not_counted}" if row.not_counted else ""
    return [part for part in (shared, left) if part]


def remarks(rows: Sequence[RailRow]) -> tuple[tuple[str, str], ...]:
    """Return what is missing of the rails that are not solved: the fact, and the next step."""
    return tuple((row.problem, row.cure) for row in rows if row.problem)


def _range(value: Interval | None) -> str:
    if value is None:
        return ""
    return f"{figure(value.nominal)} ({figure(value.low, 2)} to {figure(value.high, 2)})"
