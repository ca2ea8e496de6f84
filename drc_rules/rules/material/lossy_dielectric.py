"""The Df of a dielectric beside a fast layer is above the limit.

What it checks
--------------
Each ply that touches a layer on which the clause's interface is routed: its Df at the clause's own reference
frequency, rounded to the precision at which the limit was published. Plies that touch no fast layer are free:
hybrid builds are legitimate. A laminate that the requirement names meets it by name; its real Df is then shown
as information. A declared Df goes before the data sheet's, and before the name where it cannot be the named
laminate's.

Why it matters
--------------
Dielectric loss grows with frequency and length; at the Nyquist frequency of these links it is most of the
channel's budget.

How to fix
----------
Use a laminate of a lower loss class for the core and prepreg that touch the named layers, or move the links to
layers that have it.

What it cannot see
------------------
Df is what data sheets say of the laminate that the file names, mostly a typical figure, dry and at room temperature:
the lot that is pressed, moisture and heat are not in it. The file's loss tangent, which states no frequency, counts
only from twice the limit, and from twice what the named laminate has; KiCad's own 0.02 beside anything but FR4 never
does: nobody has entered it. Just the rows that touch a fast layer are judged, so that solder mask and a second
dielectric on the way to a plane farther off are free; so are runs shorter than a tenth of a wavelength on a layer.
Nets whose interface neither name nor class nor declaration tells make no layer fast.

Sources
-------
Each clause names document, table and row. The documents give Df limits without a frequency: they are read at 10
GHz, the frequency at which the laminates that the same rows name come nearest to them. Df of laminates: the
catalogue's data sheets (`stackwright materials NAME`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from drc_rules.clauses import Clause
from drc_rules.context import Context
from drc_rules.dielectrics import DielectricPly
from drc_rules.loss_needs import physics_beside_df
from drc_rules.numbers import at_precision
from drc_rules.over import FastPly, fast_plies
from drc_rules.report import Measured, Place
from drc_rules.rule import Draft, rule
from drc_rules.rules.material._named import bare_df_above, is_named, note_of_untouched, severity_of_bare
from stackup_lib.facts import Confidence

ALL_DECIMALS = 9
"""What stands for no rounding."""

_WHY = "dielectric loss at the link's Nyquist frequency eats the channel's budget"
_FIX = "use a lower-loss laminate for the plies that touch these layers, or move the links"


FORMULA = """
round(Df, n) ≤ Df_max

Df: of the ply at the limit's frequency
n: decimals at which the limit was published
Df_max: the limit
f: its frequency [GHz]
"""


@rule("MAT001", kinds=("laminate_df",), over=fast_plies, formula=FORMULA)
def lossy_dielectric(ctx: Context, clause: Clause, fast: FastPly) -> Iterator[Draft]:
    """Yield one finding per ply above the limit, or a remark for one that meets it by name only."""
    limit, at_ghz = clause.limit.max or 0.0, clause.limit.at_ghz or 10.0
    ply = fast.ply
    fact, named, bare = ply.df_at(at_ghz), is_named(ctx, ply, clause), bare_df_above(ply, limit, at_ghz)
    above = fact.value is not None and at_precision(fact.value, clause.limit.decimals) > limit
    if bare is not None and (named or not (fact.known and above)):
        ctx.rests_on(Confidence.LOW)
        _show(ctx, clause, fast, bare)
        what = f"Df {bare:g} (stated {ply.bare_df_place}, at no frequency)"
        yield replace(_finding(ctx, clause, fast, bare, what), severity=severity_of_bare(ply))
    elif named:
        # The name decides; the Df beside it is only shown, so the verdict does not rest on it.
        if fact.value is not None and above:
            yield _by_name(clause, fast, fact.value, at_ghz)
    else:
        df = ctx.need(fact)
        _show(ctx, clause, fast, df)
        if above:
            yield _finding(ctx, clause, fast, df, f"Df {df:.4f} at {at_ghz:g} GHz")


def _show(ctx: Context, clause: Clause, fast: FastPly, df: float) -> None:
    limit = clause.limit
    decimals = ALL_DECIMALS if limit.decimals is None else limit.decimals
    what = f"{fast.ply.label} ({_material(fast.ply)}) beside {fast.touching}"
    ctx.shows(what, Df=df, n=decimals, Df_max=limit.max or 0.0, f=limit.at_ghz or 10.0)


def _finding(ctx: Context, clause: Clause, fast: FastPly, df: float, what: str) -> Draft:
    ply = fast.ply
    with ctx.aside():
        beside = physics_beside_df(ctx, fast.layers[0].interface.id, clause.limit.at_ghz or 10.0)
    return Draft(
        title=f"{ply.label} ({_material(ply)}) beside {fast.touching}: {what}, limit {clause.limit.max:g}",
        why=_WHY + beside + note_of_untouched(ply),
        fix=_FIX,
        ids=(ply.label,),
        measured=Measured(value=df, unit="Df"),
        limit_value=clause.limit.max,
        limit_unit=f"Df at {clause.limit.at_ghz:g} GHz",
        places=(Place(layer=ply.row), *(Place(layer=layer.name) for layer in fast.layers)),
        inferred=fast.inferred,
    )


def _by_name(clause: Clause, fast: FastPly, df: float, at_ghz: float) -> Draft:
    ply = fast.ply
    nyquist = fast.layers[0].interface.nyquist_ghz
    at_nyquist = ply.df_at(nyquist) if nyquist else None
    further = f", {at_nyquist.need():.4f} at {nyquist:g} GHz" if at_nyquist and at_nyquist.known else ""
    return Draft(
        title=f"{ply.label} ({_material(ply)}) meets the row by name; its Df is {df:.4f} at {at_ghz:g} GHz{further}",
        why=(
            f"the row asks for {clause.limit.max:g} without a frequency and names laminates above it"
            + note_of_untouched(ply)
        ),
        fix="nothing, if the loss budget of the links closes",
        ids=(ply.label, "by name"),
        measured=Measured(value=df, unit="Df"),
        limit_value=clause.limit.max,
        limit_unit=f"Df at {at_ghz:g} GHz",
        fails=False,
    )


def _material(ply: DielectricPly) -> str:
    return ply.stated or "no material stated"
