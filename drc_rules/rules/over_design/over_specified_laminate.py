"""The laminate next to the high-speed layers is of a better class than required.

What it checks
--------------
The loss class of the dielectrics adjacent to high-speed layers against two needs: the workload's clauses, and the Df at
10 GHz at which every judged link still meets its budget, as routed, at maximum loss over unknown inputs and with a
tenth of the share as margin. Only where a workload is stated, every high-speed generation is known, and every such link
surely passes; otherwise it gives no finding.

Why it matters
--------------
The laminate is the largest part of a multilayer's price: about 3.5 times FR-4 for very low loss.

How to fix
----------
Ask the fab for a laminate of the class named, of the required Tg; line widths follow its Dk, so solve them again
(`stackwright suggest`). Follow one such advice at a time and check again: two may use the same margin. Or keep it, for
a next generation or a secure supply.

What it cannot see
------------------
Without known lengths, losses, budgets, generations and workload there is no finding. Only loss and the clauses count:
skew, heat, CAF, soldering Tg and stock do not. The cheaper laminate's loss is scaled by Df, with Dk and widths
unchanged.

Sources
-------
Relative prices of laminates: a published comparison up to very low loss, engineering judgement above it. Loss: as for
`excess-link-loss`. It is information, never a requirement.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.loss.laminate_demand import materials_for
from drc_rules.analysis.nets.high_speed_layers import fast_layers
from drc_rules.facts.context import Context
from drc_rules.facts.dielectric.ply import DielectricPly
from drc_rules.facts.guesses import rest_on_assignment
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.over_design._loss_margin import LinkRoom, class_for, demands, df_that_would_do, rooms
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.core.record import record
from stackup_lib.materials import LossClass
from stackup_lib.materials.cost import class_factor


@record
class LaminateNeed:
    """What the plies next to high-speed layers are, and what would do.

    Attributes:
        plies: of the lossiest class among them.
        asked: minimum class of the workload's clauses.
        df: largest Df at 10 GHz at which the tightest link closes.
    """

    plies: tuple[DielectricPly, ...]
    has: LossClass
    asked: LossClass
    df: float
    tightest: LinkRoom
    least_tg_c: float | None

    @property
    def would_do(self) -> LossClass:
        """The better of both needs."""
        return max(self.asked, class_for(self.df), key=lambda c: c.rank)


def _need(ctx: Context, _clause: Clause) -> Iterator[LaminateNeed]:
    clauses = demands(ctx)
    if clauses is None or not any(ply.stated for ply in ctx.plies):
        return
    plies = _fast_plies(ctx)
    classes = [ply.loss_class.value for ply in plies if ply.loss_class.known]
    if not plies or len(classes) < len(plies):
        return
    found = rooms(ctx)
    limits = [(df_that_would_do(ctx, room), room) for room in found or ()]
    known = [(limit[0], room) for limit, room in limits if limit is not None]
    if not known or len(known) < len(limits):
        return
    df, tightest = min(known, key=lambda pair: pair[0])
    has = min((c for c in classes if c is not None), key=lambda c: c.rank)
    worst = tuple(ply for ply in plies if ply.loss_class.value is has)
    tg = max((c.limit.min for c in clauses if c.kind == "tg" and c.limit.min), default=None)
    limit = materials_for(clauses).df_limit
    asked = class_for(limit.max) if limit else LossClass.STANDARD
    yield LaminateNeed(worst, has, asked, df, tightest, tg)


def _fast_plies(ctx: Context) -> tuple[DielectricPly, ...]:
    layers = {layer.index for name in ctx.assignment.fast_interfaces() for layer in fast_layers(ctx, name)}
    return tuple(ply for ply in ctx.plies if any(ply.touches(index) for index in layers))


FORMULA = """
P_need ≥ P_has

P_need: relative price of the sufficient loss class
P_has: relative price of the present class
Df: at 10 GHz with which the tightest link still meets its budget
"""


@rule(
    "OVR001",
    aliases=("dear-laminate",),
    kinds=("laminate_needed",),
    over=_need,
    formula=FORMULA,
    reads_fills=True,
    slow_objects=True,
)
def over_specified_laminate(ctx: Context, _clause: Clause, need: LaminateNeed) -> Iterator[DraftFinding]:
    """Yield one finding where a lossier class would do."""
    rest_on_assignment(ctx, ctx.nets_of(need.tightest.link.interface.id))
    enough = need.would_do
    ctx.shows(
        f"{need.has.label} loss, {enough.label} is enough",
        P_need=class_factor(enough),
        P_has=class_factor(need.has),
        Df=need.df,
    )
    if enough >= need.has or class_factor(enough) >= class_factor(need.has):
        return
    names = ", ".join(sorted({ply.stated for ply in need.plies}))
    asked = f"the workload requires {need.asked.label} loss" if need.asked.rank else "the workload requires no class"
    tg = f" with Tg {need.least_tg_c:g} C or more" if need.least_tg_c else ""
    yield DraftFinding(
        title=(
            f"{names}: {need.has.label} loss, {enough.label} loss is enough: {asked}, and the tightest link, "
            f"{need.tightest.title}, meets its budget for Df <= {need.df:.4f} at 10 GHz"
        ),
        why=(
            f"It costs about {class_factor(need.has):g} against {class_factor(enough):g} times "
            "the price of FR-4 (relative "
            "prices: a published comparison up to very low loss, judgement above)"
        ),
        fix=f"Ask the fab for a {enough.label}-loss laminate{tg}, solve the widths again for its Dk, and check again",
        ids=tuple(ply.label for ply in need.plies),
        measured=Measured(value=need.has.label, unit="loss class"),
        limit_value=enough.label,
        places=tuple(Location(layer=ply.row) for ply in need.plies),
    )
