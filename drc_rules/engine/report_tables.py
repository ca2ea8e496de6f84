"""The tables of a report: of the stackup, the links, pairs, drills and rails. No finding and no verdict rests on them.

The first screen of text shows none; a check for that alone does not compute them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from drc_rules.analysis.impedance.pair_table import MOST_SOLVED, QUICKLY_SOLVED, pair_rows
from drc_rules.analysis.impedance.route_impedance import link_impedances
from drc_rules.analysis.loss.loss_table import loss_rows
from drc_rules.analysis.power.rail_table import rail_rows
from drc_rules.analysis.stackup.stackup_of_board import stackup_view
from drc_rules.analysis.via.backdrill_table import BackdrillTable, backdrill_table
from drc_rules.facts.context import Context
from drc_rules.report.verdicts import Missing
from drc_rules.requirements.clauses import Clause
from stackup_lib.core.facts import MissingFact

LARGE_BYTES = 10_000_000
"""Boards whose check is to be fast all the same."""


def tables_before_rules(context: Context) -> Mapping[str, object]:
    """Return the tables that can be made while a copy of this process decides rules, as fields of `Report`."""
    drills = _backdrills(context)
    return {
        "backdrills": drills.rows,
        "backdrills_missing": drills.missing,
        "stackup": stackup_view(context),
        "impedances": context.get(link_impedances),
    }


def tables_after_rules(
    context: Context, clauses: Iterable[Clause], data: bytes, *, every_pair: bool
) -> Mapping[str, object]:
    """Return the tables that use what the rules have solved, as fields of `Report`.

    Args:
        context: of the board, after its rules.
        clauses: that apply.
        data: the board's bytes: the size decides how much is solved for the table alone.
        every_pair: solve the impedance of every pair, whatever the board's size.
    """
    return {
        "pairs": pair_rows(context, most_solved=_most_solved(data, every_pair=every_pair)),
        "losses": loss_rows(context, clauses),
        "rails": rail_rows(context),
    }


def _most_solved(data: bytes, *, every_pair: bool) -> int:
    """Return how many geometries are solved that no rule needs: none of a large board unless requested."""
    if every_pair:
        return MOST_SOLVED
    return QUICKLY_SOLVED if len(data) <= LARGE_BYTES else 0


def _backdrills(context: Context) -> BackdrillTable:
    """The backdrill table; a fact that all of it waits for is its only content."""
    try:
        return backdrill_table(context)
    except MissingFact as fact:
        return BackdrillTable(rows=(), missing=(Missing(fact=fact.name, how_to_give=fact.how_to_give),))
