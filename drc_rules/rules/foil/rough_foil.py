"""The copper foil of a fast layer is rougher than allowed.

What it checks
--------------
The declared foil grade of each layer that carries the clause's interface: STD (standard ED), LP or RTF, VLP,
HVLP. KiCad has no field for it, so an undeclared grade leaves the clause unverifiable: never passed.

Why it matters
--------------
At these frequencies current flows within a micrometre of the surface; a rough surface is a longer way. Between
standard and HVLP foil lies as much loss as between two laminate classes.

How to fix
----------
Order the laminate with the smoother foil and put the grade into the fab notes and `stackwright.toml`.

What it cannot see
------------------
A declaration is believed: which foil is laminated, which of its sides faces which dielectric, and how much the fab's
oxide or etch roughens an inner face afterwards, stands in no file. Where a grade and an Rz are stated together and
disagree, the grade decides. Layers on which the links run are asked, not the planes next to them, whose faces carry the
return current: a tenth of a pair's copper loss, a quarter of a lone microstrip's.

Sources
-------
Each clause names document, table and row. Grades by roughness: Rz above 5 um STD, 3 to 5 LP or RTF, up to 3
VLP, up to 1.5 HVLP; digits behind a grade do not mean the same with two makers.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.nets.fast_layers import FastLayer
from drc_rules.facts.context import Context
from drc_rules.report.model import Measured, Place
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import Draft, rule
from drc_rules.rules.scopes import fast_layers
from stackup_lib.materials import FoilGrade


@rule("FOI001", kinds=("foil",), over=fast_layers)
def rough_foil(ctx: Context, clause: Clause, layer: FastLayer) -> Iterator[Draft]:
    """Yield one finding per layer below the grade."""
    grade, wanted = ctx.need(ctx.foil(layer.index)), FoilGrade(clause.limit.at_least)
    if grade < wanted:
        yield Draft(
            title=f"{layer.name} carries {layer.interface.title} on {grade.label} foil, {wanted.label} is the least",
            why="a rough surface costs as much loss as a laminate class",
            fix=f"order {wanted.label} foil for {layer.name} and say so in the fab notes",
            ids=(layer.name,),
            measured=Measured(value=grade.label, unit="foil grade"),
            limit_value=wanted.label,
            limit_unit="foil grade",
            places=(Place(layer=layer.name),),
            inferred=layer.inferred,
        )
