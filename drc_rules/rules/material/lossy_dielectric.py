"""The Df of a dielectric adjacent to a high-speed layer exceeds the limit.

What it checks
--------------
Each dielectric sheet adjacent to a layer on which the clause's interface is routed: its Df at the clause's own
reference frequency. Up to 10 % above the limit passes, with a remark: data sheets are no more accurate. Other sheets
are exempt: hybrid builds are legitimate. A laminate that the requirement names meets it by name; its real Df is then
shown as information where it is more than 10 % above. So does a laminate with no more Df than one that it names. Where
a data sheet begins above the limit's frequency, its first Df is the maximum. A declared Df takes precedence over the
data sheet's, and over the name where it is worse than the named laminate's sheets by more than 10 %; one below 0.6 of
their lowest is not verifiable, for one of the two statements is wrong; so is one that no laminate has. Where both the
stated Df and the data sheet's are above the limit, the ply fails whichever is right. One that is declared at a
frequency more than a quarter higher is an upper bound: it may pass, and never fails; at one more than a fifth lower, a
lower bound: it may fail, and never passes. The file's loss tangent, which has no frequency, counts only
from twice the limit and twice the named laminate's own Df, a warning at most below ten times the latter.

Why it matters
--------------
Dielectric loss grows in proportion to Df and frequency, that of copper with the root of the frequency only. At 16 GHz
and a Dk of 4 a Df of 0.02 alone costs 1.5 dB an inch, one of 0.002 a tenth of that.

How to fix
----------
Use a laminate of a lower loss class for the core and prepreg adjacent to the named layers, or move the links to layers
that have it.

What it cannot see
------------------
Df is the data sheet's, mostly typical, dry, at room temperature; lot, moisture and heat are ignored. KiCad's own 0.02
counts only for FR4. Solder mask and non-adjacent dielectrics are exempt. Unassigned nets make no layer high-speed.

Sources
-------
Each clause names document, table and row. The documents give Df limits without a frequency: they are read at 10 GHz,
the frequency at which the laminates named in the same rows come closest to them. Df of laminates: the catalogue's data
sheets (`stackwright materials NAME`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from drc_rules.analysis.loss.df_limit import ALLOWANCE_PCT, is_above, meets
from drc_rules.analysis.loss.loss_needs import physics_except_df
from drc_rules.facts.context import Context
from drc_rules.facts.dielectric.ply import DielectricPly
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.material._named import (
    bare_df_above,
    is_named,
    named_no_better,
    note_of_untouched,
    severity_of_bare,
    sheet_above_too,
)
from drc_rules.rules.rule import DraftFinding, rule
from drc_rules.rules.scopes import HighSpeedPly, fast_plies
from stackup_lib.core.facts import Confidence, unknown

_WHY = "Dielectric loss at the link's Nyquist frequency consumes the channel's loss budget"
_FIX = "Use a lower-loss laminate for the dielectrics adjacent to these layers, or move the links"


FORMULA = """
Df ≤ Df_max · (1 + a / 100)

Df: of the dielectric at the limit's frequency
Df_max: the limit
a: accuracy of data sheets [%]
f: its frequency [GHz]
"""


@rule("MAT001", kinds=("laminate_df",), over=fast_plies, formula=FORMULA, by_stackup="decided")
def lossy_dielectric(ctx: Context, clause: Clause, fast: HighSpeedPly) -> Iterator[DraftFinding]:
    """Yield one finding per ply above the limit, or a remark for one that meets it by name or by the allowance only."""
    limit, at_ghz = clause.limit.max or 0.0, clause.limit.at_ghz or 10.0
    ply = fast.ply
    fact, named, bare = ply.df.at_least(at_ghz), is_named(ctx, ply, clause), bare_df_above(ply, limit, at_ghz)
    above, bound = fact.value is not None and not meets(fact.value, limit), ply.df.bound_at(at_ghz)
    no_better = named_no_better(ply, clause, at_ghz) if above and bound != "least" and not named else ""
    if not named and (sheet := sheet_above_too(ply, clause, at_ghz)) is not None:
        df = ctx.need(sheet)
        _show(ctx, clause, fast, df)
        what = f"Df {df:.4f} at {at_ghz:g} GHz by its data sheet ({ply.df.stated:g} is stated)"
        yield _finding(ctx, clause, fast, df, what)
    elif bare is not None and (named or no_better or not (fact.known and above)):
        ctx.rests_on(Confidence.LOW)
        _show(ctx, clause, fast, bare)
        what = f"Df {bare:g} (stated {ply.df.bare_place}, without a frequency)"
        yield replace(_finding(ctx, clause, fast, bare, what), severity=severity_of_bare(ply, bare, at_ghz))
    elif named:
        # The name decides; the Df is only shown, so the verdict does not rest on it.
        if fact.value is not None and above and bound != "most":
            yield _by_name(clause, fast, fact.value, at_ghz)
    elif fact.known and bound == ("most" if above else "least") and not no_better:
        what = f"Df of {ply.label} at {at_ghz:g} GHz (at {bound} {fact.value:g} by the one declared)"
        ctx.need(unknown(what, ply.df.how_to_declare(at_ghz)))
    else:
        most = ply.df.at_most(at_ghz)
        df = ctx.need(most if most.value is not None and meets(most.value, limit) else fact)
        what = f"Df {f'at {bound} ' if bound else ''}{df:.4f} at {at_ghz:g} GHz"
        if not no_better:  # else a name decides, and not the limit
            _show(ctx, clause, fast, df)
        if no_better:
            yield _as_good(clause, fast, what, no_better)
        elif above:
            yield _finding(ctx, clause, fast, df, what)
        elif is_above(df, limit):
            yield _just_meets(clause, fast, df, what)


def _show(ctx: Context, clause: Clause, fast: HighSpeedPly, df: float) -> None:
    limit = clause.limit
    what = f"{fast.ply.label} ({_material(fast.ply)}), adjacent to {fast.touching}"
    ctx.shows(what, Df=df, Df_max=limit.max or 0.0, a=ALLOWANCE_PCT, f=limit.at_ghz or 10.0)


def _finding(ctx: Context, clause: Clause, fast: HighSpeedPly, df: float, what: str) -> DraftFinding:
    ply = fast.ply
    with ctx.aside():
        touched = {layer.index for layer in fast.layers}
        adjacent = physics_except_df(ctx, fast.layers[0].interface.id, clause.limit.at_ghz or 10.0, touched)
    return DraftFinding(
        title=f"{ply.label} ({_material(ply)}), adjacent to {fast.touching}: {what} exceeds {clause.limit.max:g}",
        why=_WHY + adjacent + note_of_untouched(ply),
        fix=_FIX,
        ids=(ply.label,),
        measured=Measured(value=df, unit="Df"),
        limit_value=clause.limit.max,
        limit_unit=f"Df at {clause.limit.at_ghz:g} GHz",
        places=(Location(layer=ply.row), *(Location(layer=layer.name) for layer in fast.layers)),
        inferred=fast.inferred,
    )


def _by_name(clause: Clause, fast: HighSpeedPly, df: float, at_ghz: float) -> DraftFinding:
    ply = fast.ply
    nyquist = fast.layers[0].interface.nyquist_ghz
    at_nyquist = ply.df.at(nyquist) if nyquist else None
    further = f", {at_nyquist.need():.4f} at {nyquist:g} GHz" if at_nyquist and at_nyquist.known else ""
    return DraftFinding(
        title=f"{ply.label} ({_material(ply)}) meets the requirement by name: Df {df:.4f} at {at_ghz:g} GHz{further}",
        why=(
            f"The requirement states {clause.limit.max:g} without a frequency and names laminates above it"
            + note_of_untouched(ply)
        ),
        fix="nothing, if the loss budget of the links closes",
        ids=(ply.label, "by name"),
        limit_value=clause.limit.max,
        limit_unit=f"Df at {at_ghz:g} GHz",
        fails=False,
    )


def _as_good(clause: Clause, fast: HighSpeedPly, what: str, named: str) -> DraftFinding:
    ply = fast.ply
    return DraftFinding(
        title=f"{ply.label} ({_material(ply)}) meets the requirement as a laminate that it names: {what}",
        why=(
            f"The requirement states {clause.limit.max:g} without a frequency and names a laminate that is no better: "
            f"{named}{note_of_untouched(ply)}"
        ),
        fix="nothing, if the loss budget of the links closes",
        ids=(ply.label, "as named"),
        limit_value=clause.limit.max,
        limit_unit=f"Df at {clause.limit.at_ghz:g} GHz",
        fails=False,
    )


def _just_meets(clause: Clause, fast: HighSpeedPly, df: float, what: str) -> DraftFinding:
    ply = fast.ply
    return DraftFinding(
        title=(
            f"{ply.label} ({_material(ply)}): {what} is within {ALLOWANCE_PCT:g} % of the maximum {clause.limit.max:g}"
        ),
        why="Data sheets are no more accurate: measurement methods and lots of one laminate differ by as much",
        fix="nothing, if the loss budget of the links closes",
        ids=(ply.label, "just meets"),
        measured=Measured(value=df, unit="Df"),
        limit_value=clause.limit.max,
        limit_unit=f"Df at {clause.limit.at_ghz:g} GHz",
        fails=False,
    )


def _material(ply: DielectricPly) -> str:
    return ply.stated or "no material stated"
