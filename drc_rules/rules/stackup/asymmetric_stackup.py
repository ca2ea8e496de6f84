"""The stackup is not mirrored about its middle.

What it checks
--------------
Each copper layer against its mirror in copper weight, each dielectric against its mirror in thickness (more
than 10 % apart counts) and in laminate.

Why it matters
--------------
Unequal copper or dielectric on both sides shrinks unequally when the board cools from lamination and reflow: it
bows and twists. Large BGAs and cold plates need a flat board.

How to fix
----------
Give both layers of the pair the same foil and both dielectrics the same plies, or let the fab confirm the build
and accept the finding with that reason.

Sources
-------
Design007 magazine, September 2021, p. 40; IPC-2222 section 10.1.2 (balanced construction) and the 0.75 % bow
and twist limit for surface-mount boards, both as quoted in trade press.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from drc_rules.clauses import Clause
from drc_rules.context import Context
from drc_rules.report import Measured, Place
from drc_rules.rule import Draft, rule
from stackup_lib.board import StackupLayer
from stackup_lib.materials import catalogue

DIELECTRIC_SHARE = 0.10
COPPER_SHARE = 0.25
"""Half an ounce class apart is another foil; what is less is how files round 17.1, 17.5 and 18 um."""


@dataclass(frozen=True)
class Mirror:
    """Two rows at the same distance from the middle."""

    upper: StackupLayer
    lower: StackupLayer


def _mirrors(ctx: Context, _clause: Clause) -> Iterator[Mirror]:
    stackup = ctx.stackup()
    for rows in (stackup.copper, stackup.dielectrics):
        half = len(rows) // 2
        for upper, lower in zip(rows[:half], reversed(rows), strict=False):
            yield Mirror(upper, lower)


FORMULA = """
|a - b| ≤ p · max(a, b)

a: thickness of the upper row [mm]
b: thickness of its mirror [mm]
p: share that is forgiven
"""


@rule("STK006", kinds=("stackup_symmetry",), over=_mirrors, formula=FORMULA)
def asymmetric_stackup(ctx: Context, clause: Clause, pair: Mirror) -> Iterator[Draft]:
    """Yield one finding per pair of rows that differ."""
    differences = tuple(_differences(pair))
    upper, lower = pair.upper.thickness_mm, pair.lower.thickness_mm
    if upper and lower and all(what == "thickness" for what, _ in differences):
        share = DIELECTRIC_SHARE if pair.upper.is_dielectric else COPPER_SHARE
        ctx.shows(f"{pair.upper.name} and {pair.lower.name}", a=upper, b=lower, p=share)
    for what, difference in differences:
        yield Draft(
            title=f"{pair.upper.name} and its mirror {pair.lower.name} differ: {difference}",
            why="unequal halves shrink unequally after lamination and reflow: the board bows and twists",
            fix=f"give {pair.upper.name} and {pair.lower.name} the same build, or have the fab confirm it",
            ids=(pair.upper.name, pair.lower.name, what),
            measured=Measured(value=difference),
            places=(Place(layer=pair.upper.name), Place(layer=pair.lower.name)),
        )


def _differences(pair: Mirror) -> Iterator[tuple[str, str]]:
    first, second = pair.upper.thickness_mm, pair.lower.thickness_mm
    copper = not pair.upper.is_dielectric
    allowed = COPPER_SHARE if copper else DIELECTRIC_SHARE
    if first and second and abs(first - second) > allowed * max(first, second):
        yield "thickness", f"{first * 1000:g} um against {second * 1000:g} um"
    if not copper and _families(pair.upper) != _families(pair.lower):
        yield "laminate", f"{_materials(pair.upper)} against {_materials(pair.lower)}"


def _families(row: StackupLayer) -> set[str]:
    """Laminate families of a row, where they are known; a glass style alone is no family."""
    matches = [catalogue().find(ply.material) for ply in row.plies if ply.material]
    return {m.laminate.family for m in matches if m.laminate is not None}


def _materials(row: StackupLayer) -> str:
    return " + ".join(sorted({ply.material or "no material" for ply in row.plies}))
