"""Delays as the page shows them: each link with its id, and how late it is within its group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drc_rules.report.delay_rows import DelayGroup, LinkDelay
from stackup_lib.core.record import record

if TYPE_CHECKING:
    from stackwright.drawing.charts import Charts
    from stackwright.drawing.map_links import LinkShape

FIRST_BOARD = "b1"
"""How the ids of the first or only board of a page begin."""


@record
class ShownLink:
    """One row: `id` on the page; `share` of the group's spread that it is late by."""

    id: str
    link: LinkDelay
    late_ps: float
    share: float
    is_drawn: bool


@record
class ShownGroup:
    """One table."""

    title: str
    by: str
    spread_ps: float
    rows: tuple[ShownLink, ...]
    open_links: tuple[tuple[str, str], ...]

    @property
    def many(self) -> int:
        """How many links it has."""
        return len(self.rows)


def shown_delays(charts: Charts | None, ident: str) -> tuple[ShownGroup, ...]:
    """Return the tables of a board; ids begin with `ident`."""
    groups = charts.delays if charts else ()
    return tuple(_group(one, f"{ident}-link-{index}", charts) for index, one in enumerate(groups, start=1))


def _group(group: DelayGroup, ident: str, charts: Charts | None) -> ShownGroup:
    earliest = min((one.delay_ps.nominal for one in group.links), default=0.0)
    rows = tuple(
        ShownLink(
            id=f"{ident}-{index}",
            link=one,
            late_ps=one.delay_ps.nominal - earliest,
            share=(one.delay_ps.nominal - earliest) / group.spread_ps if group.spread_ps else 0.0,
            is_drawn=charts is not None and one.nets in charts.routes,
        )
        for index, one in enumerate(group.links, start=1)
    )
    return ShownGroup(group.title, group.by, group.spread_ps, rows, group.open_links)


def drawn_links(groups: tuple[ShownGroup, ...], charts: Charts | None) -> tuple[tuple[str, LinkShape], ...]:
    """Return id of a row -> what the map draws of it."""
    if charts is None:
        return ()
    return tuple((row.id, charts.routes[row.link.nets]) for one in groups for row in one.rows if row.is_drawn)
