"""The copper foil of a high-speed layer is rougher than allowed.

What it checks
--------------
The declared foil grade of each layer that carries the clause's interface: STD (standard ED), LP or RTF, VLP, HVLP.
KiCad has no field for it, so an undeclared grade makes the clause not verifiable: never passed.

Why it matters
--------------
At these frequencies current flows within a micrometre of the surface, and a rough surface lengthens its path. The loss
between standard and HVLP foil differs by as much as between two laminate classes.

How to fix
----------
Order the laminate with the smoother foil and put the grade into the fab notes and `stackwright.toml`.

What it cannot see
------------------
A declaration is believed: the delivered foil, its side and the fab's oxide treatment are in no file. Where grade and Rz
disagree, the grade decides. Planes next to the signal layers, which carry return current, are not judged.

Sources
-------
Each clause names document, table and row. Grades by roughness, as foil makers use them: Rz above 5 um STD, 3 to 5 LP or
RTF, up to 3 VLP, up to 1.5 HVLP; IPC-MF-150F is wider (VLP to 5.1 um). Digits behind a grade differ between makers.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.nets.high_speed_layers import HighSpeedLayer
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from drc_rules.rules.scopes import fast_layers
from stackup_lib.materials import FoilGrade


@rule("FOI001", kinds=("foil",), over=fast_layers, by_stackup="decided")
def rough_foil(ctx: Context, clause: Clause, layer: HighSpeedLayer) -> Iterator[DraftFinding]:
    """Yield one finding per layer below the grade."""
    grade, wanted = ctx.need(ctx.foil(layer.index)), FoilGrade(clause.limit.at_least)
    if grade < wanted:
        yield DraftFinding(
            title=f"{grade.label} foil, minimum {wanted.label}: {layer.name}, which carries {layer.interface.title}",
            why="A rough surface costs as much loss as a laminate class",
            fix=f"Order {wanted.label} foil for {layer.name} and say so in the fab notes",
            ids=(layer.name,),
            measured=Measured(value=grade.label, unit="foil grade"),
            limit_value=wanted.label,
            places=(Location(layer=layer.name),),
            inferred=layer.inferred,
        )
