"""The foil of the high-speed layers is smoother than required.

What it checks
--------------
The roughest declared foil grade of the layers that carry high-speed links against the workload's clauses and the
roughest grade with which every judged link surely meets its budget with a tenth of its share as margin, all its copper
being of that grade. Only where a workload is stated, every high-speed generation is known, and every such link surely
passes as it is.

Why it matters
--------------
HVLP foil costs some percent of the board and peels more easily; LP or RTF foil is what most laminates come with.

How to fix
----------
Let the fab use the grade named, or keep the smooth one where the laminate comes with it anyway. Follow one such advice
at a time and check again: two may use the same margin.

What it cannot see
------------------
Grades are as declared; the rougher foil counts as typical plus half, though the fab's treatment can undo a smooth foil.
Only loss counts: fine lines, peel strength and availability do not. Unknown inputs give no finding.

Sources
-------
Loss: as for `excess-link-loss`; the added loss of the rougher grade is 1.5 times nominal. Foil prices are engineering
judgement. It is information, never a requirement.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.nets.high_speed_layers import fast_layers
from drc_rules.facts.context import Context
from drc_rules.facts.guesses import rest_on_assignment
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.over_design._loss_margin import LinkRoom, material_demands, rooms, with_foil_db
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.core.record import record
from stackup_lib.materials import FoilGrade
from stackup_lib.materials.cost import foil_share


@record
class FoilNeed:
    """The roughest declared foil of the high-speed layers, the grade that the workload requires, and the links.

    Attributes:
        mixed: some of the layers have a smoother one.
    """

    layers: tuple[int, ...]
    has: FoilGrade
    mixed: bool
    asked: FoilGrade
    rooms: tuple[LinkRoom, ...]


def _need(ctx: Context, _clause: Clause) -> Iterator[FoilNeed]:
    materials = material_demands(ctx)
    if materials is None:
        return
    names = ctx.assignment.fast_interfaces()
    layers = sorted({layer.index for name in names for layer in fast_layers(ctx, name)})
    foils = [ctx.foil(index) for index in layers]
    grades = [foil.value for foil in foils if foil.known and foil.value is not None]
    if not layers or len(grades) < len(layers):
        return
    has, asked = min(grades, key=lambda g: g.rank), materials.foil or FoilGrade.STD
    found = rooms(ctx) if asked < has else None
    if found:
        yield FoilNeed(tuple(layers), has, any(grade > has for grade in grades), asked, found)


@rule("OVR002", kinds=("foil_needed",), over=_need, reads_fills=True, slow_objects=True)
def smooth_foil(ctx: Context, _clause: Clause, need: FoilNeed) -> Iterator[DraftFinding]:
    """Yield one finding where a rougher grade would do."""
    for name in {room.link.interface.id for room in need.rooms}:
        rest_on_assignment(ctx, ctx.nets_of(name))
    for grade in sorted(FoilGrade, key=lambda g: g.rank):
        if not need.asked <= grade < need.has or foil_share(grade) >= foil_share(need.has):
            continue
        left = [(room.board_db - with_foil_db(ctx, room.link, grade).high, room) for room in need.rooms]
        least, tightest = min(left, key=lambda pair: pair[0])
        if least >= 0:
            yield _draft(ctx, need, grade, least, tightest)
            return


def _draft(ctx: Context, need: FoilNeed, grade: FoilGrade, left_db: float, tightest: LinkRoom) -> DraftFinding:
    names = [ctx.board.copper_layers[index].name for index in need.layers]
    foil = f"{need.has.label} foil{' or smoother' if need.mixed else ''}"
    return DraftFinding(
        title=(
            f"{foil} on {', '.join(names)}, {grade.label} is enough: the tightest link, {tightest.title}, keeps "
            f"{left_db:.1f} dB and a tenth of its share at maximum loss"
        ),
        why=(
            f"{need.has.label} foil costs about {100 * (foil_share(need.has) - foil_share(grade)):.0f} % of the board "
            "more than it (judgement), and peels more easily"
        ),
        fix=f"Let the fab use {grade.label} foil, unless the laminate comes with the smoother one, and check again",
        ids=tuple(names),
        measured=Measured(value=need.has.label, unit="foil grade"),
        limit_value=grade.label,
        places=tuple(Location(layer=name) for name in names),
    )
