"""What the common-mode chokes on a link lose of its differential signal: by their declared files, or not known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from drc_rules.facts.context import Context
from stackup_lib.core.interval import ZERO, Interval
from stackup_lib.core.record import record
from stackup_lib.nets.links import Link, SeriesPart
from stackup_lib.nets.two_pin_parts import PartKind

CUT_OFF_DB = 3.0
"""What a choke loses of a differential signal at the cut-off frequency of its data sheet: it is meant for less."""


@record
class ChokesOnLink:
    """Chokes in series.

    Attributes:
        known_db: those with a declared file, at Nyquist.
        unknown: references of the others.
    """

    known_db: Interval = ZERO
    unknown: tuple[str, ...] = ()


NO_CHOKES = ChokesOnLink()


def chokes_of(traces: Sequence[Link]) -> tuple[SeriesPart, ...]:
    """Return the chokes on the traces of a link, each once."""
    parts = (part for trace in traces for between in trace.parts for part in between if part.kind is PartKind.CHOKE)
    return tuple({part.footprint: part for part in parts}.values())


def choke_losses(ctx: Context, traces: Sequence[Link], nyquist_ghz: float) -> ChokesOnLink:
    """Return what the chokes of a link lose.

    Raises:
        StackwrightError: the file of one cannot be used.
    """
    chokes = chokes_of(traces)
    if not chokes:
        return NO_CHOKES
    from drc_rules.facts.part_models import part_models  # noqa: PLC0415 - few boards have chokes, and it loads solvers

    total, unknown = ZERO, []
    for part in chokes:
        row = ctx.get(part_models).of(part.footprint)
        if row is None or len(traces) != 2:
            unknown.append(part.reference)
            continue
        network = ctx.get(part_models).network(row, (4,))
        (near_p, far_p), (near_n, far_n) = network.through()
        s = network.at(np.array([nyquist_ghz]))[0]
        through = (s[far_p, near_p] - s[far_p, near_n] - s[far_n, near_p] + s[far_n, near_n]) / 2
        db = float(-20 * np.log10(max(abs(through), 1e-15)))
        total = total.plus(Interval(low=db, nominal=db, high=db))
    return ChokesOnLink(total, tuple(unknown))
