"""Laminates of a fab pack: what each is, and what a substitute would do to the board's clauses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from drc_rules.engine.check import check_board
from drc_rules.fab_exchange.comparison.verdict import ClauseChange, clause_changes
from drc_rules.fab_exchange.pack.notes import in_ranges, laminate_rows
from drc_rules.fab_exchange.pack.table import NOT_STATED, FabTable
from drc_rules.facts.context import Context
from drc_rules.facts.declared import Overrides
from drc_rules.report.model import Report
from drc_rules.settings.config import Config, DielectricDeclaration
from stackup_lib.materials import Laminate, catalogue

WORSE, NOT_PROVEN, NO_WORSE = "makes worse: ", "leaves open: ", "no requirement gets worse"
AT_GHZ = 10.0
"""Where a substitute's Dk and Df are read: data sheets lead with it."""

OF_THE_FILE = frozenset({"board.dk.plausible"})
"""Clauses that hold the file's Dk against the laminate it names: they say nothing of another laminate."""


def laminates_table(ctx: Context) -> FabTable:
    """Return each laminate of the board with its slash sheet as ordered and the values of its data sheet."""
    sheets = ctx.declarations.config.order.slash_sheets
    rows = []
    for name, where in laminate_rows(ctx).items():
        found = catalogue().get(name)
        rows.append(
            (name, found.maker if found else "", in_ranges(where), sheets.get(name, NOT_STATED), *_figures(found))
        )
    head = ("laminate", "maker", "rows", "slash sheet", "Tg", "Td C", f"Dk at {AT_GHZ:g} GHz", f"Df at {AT_GHZ:g} GHz")
    remarks = ("Tg, Td, Dk and Df are typical values of the data sheet; the stackup has those of each construction.",)
    return FabTable(name="laminates", title="Laminates", head=head, rows=tuple(rows), remarks=remarks if rows else ())


def _figures(laminate: Laminate | None) -> tuple[str, str, str, str]:
    if laminate is None:
        return "", "", "", ""
    tg, dk, df = laminate.tg_fact().value, laminate.dk_at(AT_GHZ).value, laminate.df_at(AT_GHZ).value
    glass = f"{'at least ' if tg.is_minimum else ''}{tg.value_c:g} C by {tg.method.value}" if tg else ""
    return (
        glass,
        f"{laminate.td_c:g}" if laminate.td_c else "",
        f"{dk:.3g}" if dk else "",
        f"{df:.3g}" if df else "",
    )


def substitutes_table(ctx: Context, path: Path, content: bytes, overrides: Overrides) -> FabTable:
    """Return what each substitute that the order allows would do to the clauses, in place of each laminate alone.

    The board is checked once more for each; its constructions stay, with the substitute's typical Dk, Df and Tg.
    """
    head = ("laminate", "substitute", "judgement")
    names = ctx.declarations.config.order.substitutes
    if not names:
        said = "The order states no substitute." if names is None else "No substitute is allowed."
        return FabTable(name="substitutes", title="Substitutes", head=head, rows=(), remarks=(said,))
    before = check_board(path, config=ctx.declarations.config, overrides=overrides, text=content, tables=False)
    rows = tuple(_judged(ctx, path, content, overrides, before))
    remarks = ("Each substitute alone in place of one laminate, in the same constructions, by its typical figures.",)
    return FabTable(name="substitutes", title="Substitutes", head=head, rows=rows, remarks=remarks)


def substitution(table: FabTable) -> str:
    """Return which laminate may be replaced by which: not by one that makes a requirement worse; empty without any."""
    found: dict[str, list[str]] = {}
    for laminate, substitute, judgement in table.rows:
        names = found.setdefault(laminate, [])
        if not judgement.startswith(WORSE):
            names.append(substitute if judgement == NO_WORSE else f"{substitute} (not judged, ask first)")
    return "; ".join(f"{laminate} by {', '.join(names) or 'none'}" for laminate, names in found.items())


def _judged(
    ctx: Context, path: Path, content: bytes, overrides: Overrides, before: Report
) -> Iterator[tuple[str, str, str]]:
    config = ctx.declarations.config
    for family, rows in laminate_rows(ctx).items():
        for name in config.order.substitutes or ():
            other = catalogue().find(name).laminate
            if other is None:
                yield family, name, "not in our catalogue: not judged"
            elif not other.has_values:
                yield family, name, "no public figures: not judged"
            elif other.family != family:
                after = check_board(
                    path, config=_with(config, rows, other), overrides=overrides, text=content, tables=False
                )
                changes = [one for one in clause_changes(before, after) if one.clause not in OF_THE_FILE]
                yield family, other.family, _judgement([one for one in changes if one.is_worse])


def _judgement(worse: list[ClauseChange]) -> str:
    """Return what clauses that get worse say of a substitute: those that it fails, then those left open."""
    failed = [one for one in worse if one.after is not one.before and not one.is_open]
    opened = [one for one in worse if one.is_open]
    said = "; ".join(f"{one.title}: {one.after_words}" for one in (*failed, *opened))
    if not said:
        return NO_WORSE
    return f"{WORSE if failed else NOT_PROVEN}{said}"


def _with(config: Config, rows: list[str], laminate: Laminate) -> Config:
    """Return the settings with a laminate declared for some rows; its Df is the catalogue's at each frequency."""
    tg, dk = laminate.tg_fact().value, laminate.dk_at(AT_GHZ).value
    said: dict[str, object] = {"material": laminate.family, "dk": dk}
    if dk:
        said["at_ghz"] = AT_GHZ
    if tg and tg.method.value in ("DSC", "TMA", "DMA"):
        said |= {"tg_c": tg.value_c, "tg_method": tg.method.value}
    one = DielectricDeclaration.model_validate({key: value for key, value in said.items() if value is not None})
    others = {name: of for name, of in config.declared.dielectric.items() if name.partition(", ply ")[0] not in rows}
    declared = config.declared.model_copy(update={"dielectric": {**others, **dict.fromkeys(rows, one)}})
    return config.model_copy(update={"declared": declared})
