"""The loss of every judged link as rows of the report: what it loses where, what it may lose, what it would need."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from drc_rules.analysis.loss.judged_links import JudgedLinks, judged_links, share_missing
from drc_rules.analysis.loss.link_loss import LinkLoss, LinkLosses
from drc_rules.analysis.loss.loss_needs import (
    df_needed,
    exact_df_needed,
    hole_remedy,
    longest_by_layer,
    roughest_foil,
)
from drc_rules.analysis.loss.loss_shares import Share, share_of
from drc_rules.facts.context import Context
from drc_rules.report.link_rows import Allowance, Decibels, DfNeed, LayerLength, LinkLossRow
from drc_rules.requirements.clauses import Clause, Source
from drc_rules.requirements.documents import cite
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.interval import Interval

DF_KIND = "laminate_df"
BOUND_DB = 999.0
"""More than this no link loses; what computes to more is a stub at its resonance, of unknown depth."""


def loss_rows(ctx: Context, clauses: Iterable[Clause]) -> tuple[LinkLossRow, ...]:
    """Return a row for every link whose loss is checked; of each interface the worst first, unknown ones last.

    Args:
        ctx: the board and its facts.
        clauses: those that apply, for the Df that they require.
    """
    asked = {clause.interface: clause for clause in clauses if clause.kind == DF_KIND and clause.interface}
    with ctx.recording():  # a table decides nothing
        return tuple(row for found, _ in judged_links(ctx) for row in _rows(ctx, found, asked.get(found.interface.id)))


def _rows(ctx: Context, found: JudgedLinks, df_clause: Clause | None) -> Iterator[LinkLossRow]:
    one = found.interface
    try:
        share = share_of(ctx, one, found.row)
        missing = share_missing(ctx, found, None) if share is None else None
    except MissingFact as role:
        if not found.declared:
            return  # neither links nor board are declared: nothing is judged
        share, missing = None, role
    losses = LinkLosses(ctx).of(one.id, declared=found.declared)
    for index, link in enumerate(link for link in losses.known if found.nets.intersection(link.nets)):
        row = _known(ctx, found, link).model_copy(update=_needs(ctx, link, share, df_clause, is_worst=index == 0))
        yield row if missing is None else row.model_copy(update={"problem": missing.name, "cure": missing.how_to_give})
    for nets, fact in losses.missing:
        if found.nets.intersection(nets):
            row = _bare(ctx, found, nets)
            yield row.model_copy(update={"problem": fact.what, "cure": fact.next_step})


def _bare(ctx: Context, found: JudgedLinks, nets: tuple[int, ...]) -> LinkLossRow:
    names = tuple(ctx.board.nets[net] for net in nets)
    return LinkLossRow(
        name=names[0],
        nets=names,
        interface=found.interface.title,
        nyquist_ghz=found.interface.nyquist_ghz or 0.0,
        inferred=not found.declared,
    )


def _known(ctx: Context, found: JudgedLinks, link: LinkLoss) -> LinkLossRow:
    layers = sorted(link.length_mm_by_layer.items(), key=lambda item: -item[1])
    return _bare(ctx, found, link.nets).model_copy(
        update={
            "length_mm": link.length_mm,
            "layers": tuple(LayerLength(layer=_layer(ctx, index), length_mm=length) for index, length in layers),
            "total_db": decibels(link.total_db),
            "dielectric_db": link.dielectric_db,
            "copper_db": link.copper_db,
            "roughness_db": link.roughness_db,
            "holes_db": finite_db(link.holes_db.nominal),
            "hole_count": link.hole_count,
            "notes": link.notes,
        }
    )


def _needs(
    ctx: Context, link: LinkLoss, share: Share | None, df_clause: Clause | None, *, is_worst: bool
) -> dict[str, object]:
    """Return what the board may lose, and what that asks of lengths, laminate and foil."""
    if share is None:
        return {}
    board = share.board_db
    longest = longest_by_layer(link, board.nominal)
    lengths = sorted(link.length_mm_by_layer.items(), key=lambda item: -item[1])
    return {
        "role": share.role,
        "share_db": share.db,
        "share_source": _source(share),
        "allowances": tuple(
            Allowance(part=part, db=db, is_assumed=part in share.assumed)
            for part, db in share.allowances_db.items()
            if db.high
        ),
        "margin_db": decibels(_less(board, link.total_db)),
        "layers": tuple(
            LayerLength(layer=_layer(ctx, index), length_mm=length, longest_mm=longest[index])
            for index, length in lengths
        ),
        "df": _df(ctx, link, board.nominal, df_clause, exactly=is_worst),
        "foil_needed": _foil(ctx, link, board.low) if is_worst else None,
        "hole_remedy": hole_remedy(link, board.nominal).value if link.total_db.nominal > board.nominal else "",
    }


def _foil(ctx: Context, link: LinkLoss, board_db: float) -> str:
    grade = roughest_foil(ctx, link, board_db)
    return grade.value if grade else ""


def _df(ctx: Context, link: LinkLoss, board_db: float, clause: Clause | None, *, exactly: bool) -> DfNeed | None:
    at_ghz = (clause.limit.at_ghz if clause else None) or link.interface.nyquist_ghz or 0.0
    now = LinkLosses(ctx).adjacent_df(link, at_ghz)
    if not now:
        return None
    asked = clause.limit.max if clause else None
    name = clause.id if clause else ""
    needed = exact_df_needed(ctx, link, board_db, now) if exactly else df_needed(link, board_db, now)
    return DfNeed(at_ghz=at_ghz, now=now, needed=needed, asked=asked, clause=name)


def _source(share: Share) -> str:
    if share.document == "declared":
        return "as declared"
    return cite(Source(document=share.document)) if share.document else "engineering knowledge, no document found"


def _layer(ctx: Context, index: int) -> str:
    return ctx.board.copper_layers[index].name


def _less(board: Interval, loss: Interval) -> Interval:
    return Interval(low=board.low - loss.high, nominal=board.nominal - loss.nominal, high=board.high - loss.low)


def decibels(found: Interval) -> Decibels:
    """Return a range in dB; its ends are None where they are no bound."""
    return Decibels(low=finite_db(found.low), nominal=finite_db(found.nominal), high=finite_db(found.high))


def finite_db(db: float) -> float | None:
    """Return a loss, None where it is beyond `BOUND_DB`."""
    return db if math.isfinite(db) and abs(db) < BOUND_DB else None
