"""The stackup is not symmetric about its middle.

What it checks
--------------
Each copper layer against its mirror in thickness (more than 25 % apart counts), each dielectric against its mirror in
thickness (more than 10 %), in laminate, and, where both sides name the same material, in the Dk that the stackup states
(more than 5 %). Where a thickness or a laminate of a pair is not known, it is not verifiable, unless both sides name
their material identically.

Why it matters
--------------
Unequal copper or dielectric on both sides shrinks unequally when the board cools from lamination and reflow: it bows
and twists. Large BGAs and cold plates need a flat board. One material of one thickness has one Dk: where the file
states two, one is wrong, and impedances computed with it are off.

How to fix
----------
Give both layers of the pair the same foil and both dielectrics the same construction, or let the fab confirm the build
and accept the finding with that reason.

What it cannot see
------------------
Etched copper is `unbalanced-copper`'s; the middle row, solder mask and plating have no mirror. Core and prepreg, glass
styles and resin contents of equal thickness count as equal. "FR4" against a product name, and intentional hybrids, are
reported.

Sources
-------
Design007 magazine, September 2021, p. 40; two values of Dk were a defect of a public board (sinara-hw/Urukul#54);
IPC-2222 section 10.1.2 (balanced construction) and the 0.75 % bow
and twist limit for surface-mount boards, both as quoted in trade press.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from drc_rules.facts.context import DECLARE_STACKUP, Context
from drc_rules.facts.dielectric.ply import DielectricPly
from drc_rules.facts.row_faults import dk_is_possible
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.board import StackupLayer
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.record import record

DIELECTRIC_SHARE = 0.10
DK_SHARE = 0.05
"""Resin contents of glass styles of one thickness set the Dk of one laminate less far apart."""
COPPER_SHARE = 0.25
"""Half an ounce class apart is another foil; less is rounding of 17.1, 17.5 and 18 um."""


@record
class MirrorRow:
    """A row of the stackup with what is known of its plies; none for copper."""

    row: StackupLayer
    plies: tuple[DielectricPly, ...] = ()


@record
class Mirror:
    """Two rows at the same distance from the middle."""

    upper: MirrorRow
    lower: MirrorRow


def _mirrors(ctx: Context, _clause: Clause) -> Iterator[Mirror]:
    stackup, plies = ctx.stackup(), iter(ctx.plies)
    copper = [MirrorRow(row) for row in stackup.copper]
    dielectrics = [MirrorRow(row, tuple(islice(plies, len(row.plies)))) for row in stackup.dielectrics]
    for rows in (copper, dielectrics):
        half = len(rows) // 2
        for upper, lower in zip(rows[:half], reversed(rows), strict=False):
            yield Mirror(upper, lower)


WHY = "Unequal halves shrink unequally after lamination and reflow: the board bows and twists"
WHY_DK = "One material of one thickness has one Dk: one of both is wrong, and every impedance computed with it"

FORMULA = """
|a - b| ≤ p · max(a, b)

a: thickness of the upper row [mm]
b: thickness of its mirror [mm]
p: allowed share
"""


@rule("STK006", kinds=("stackup_symmetry",), over=_mirrors, formula=FORMULA, by_stackup="decided")
def asymmetric_stackup(ctx: Context, _clause: Clause, pair: Mirror) -> Iterator[DraftFinding]:
    """Yield one finding per pair of rows that differ; not verifiable where nothing differs but something is unknown."""
    differences = tuple(_differences(pair))
    first, second = pair.upper.row, pair.lower.row
    upper, lower = first.thickness_mm, second.thickness_mm
    if upper and lower and all(what == "thickness" for what, _ in differences):
        share = DIELECTRIC_SHARE if first.is_dielectric else COPPER_SHARE
        ctx.shows(f"{first.name} and {second.name}", a=upper, b=lower, p=share)
    if not differences:
        _need_all(ctx, pair)
    for what, difference in differences:
        for ply in (*pair.upper.plies, *pair.lower.plies) if what == "laminate" else ():
            ctx.need(ply.laminate)  # known by now: the finding is no surer than the reading of the texts
        yield DraftFinding(
            title=f"{first.name} and its mirror {second.name} differ: {difference}",
            why=WHY_DK if what == "Dk" else WHY,
            fix=f"Give {first.name} and {second.name} the same {'Dk' if what == 'Dk' else 'build'}, or have the fab "
            "confirm it",
            ids=(first.name, second.name, what),
            measured=Measured(value=difference),
            places=(Location(layer=first.name), Location(layer=second.name)),
            left_to=_left_to(pair) if what == "Dk" else None,
        )


def _differences(pair: Mirror) -> Iterator[tuple[str, str]]:
    first, second = pair.upper.row.thickness_mm, pair.lower.row.thickness_mm
    allowed = DIELECTRIC_SHARE if pair.upper.plies else COPPER_SHARE
    if first and second and abs(first - second) > allowed * max(first, second):
        yield "thickness", f"{first * 1000:g} um against {second * 1000:g} um"
    upper, lower = _families(pair.upper), _families(pair.lower)
    if upper and lower and upper != lower:
        yield "laminate", f"{_materials(pair.upper)} against {_materials(pair.lower)}"
    dks = _dk(pair.upper), _dk(pair.lower)
    if _is_one_material(pair) and dks[0] and dks[1] and abs(dks[0] - dks[1]) > DK_SHARE * max(dks[0], dks[1]):
        yield "Dk", f"Dk {dks[0]:g} against {dks[1]:g} of {_materials(pair.upper)}"


def _is_one_material(pair: Mirror) -> bool:
    """Tell whether both rows name the same material, and are of one thickness."""
    first, second = pair.upper.row.thickness_mm, pair.lower.row.thickness_mm
    is_stated = all(ply.stated for ply in pair.upper.plies) and _materials(pair.upper) == _materials(pair.lower)
    return bool(is_stated and first and second and abs(first - second) <= DIELECTRIC_SHARE * max(first, second))


def _dk(row: MirrorRow) -> float | None:
    """The Dk that the file states for a row of one ply, where any laminate has it."""
    dk = row.row.plies[0].dk if len(row.plies) == 1 else None
    return dk if dk is not None and dk_is_possible(dk) else None


def _left_to(pair: Mirror) -> tuple[str, tuple[str, ...]]:
    """The finding on the larger Dk, where the laminate does not have it: that says it all."""
    larger = max((pair.upper, pair.lower), key=lambda row: _dk(row) or 0.0)
    return "MAT005", (larger.plies[0].label,)


def _need_all(ctx: Context, pair: Mirror) -> None:
    """Raise `MissingFact` where a thickness is missing, or a laminate that the other side does not name alike."""
    for one in (pair.upper.row, pair.lower.row):
        if not one.thickness_mm:
            raise MissingFact(f"thickness of {one.name}", DECLARE_STACKUP)
    if not all(ply.stated for ply in pair.upper.plies) or _materials(pair.upper) != _materials(pair.lower):
        for ply in (*pair.upper.plies, *pair.lower.plies):
            ctx.need(ply.laminate)


def _families(row: MirrorRow) -> set[str]:
    """Laminate families of a row; none unless all are known: a glass style alone is no family."""
    found = [ply.laminate.value for ply in row.plies if ply.laminate.known]
    return {laminate.family for laminate in found if laminate is not None} if len(found) == len(row.plies) else set()


def _materials(row: MirrorRow) -> str:
    return " + ".join(sorted({ply.stated or "no material" for ply in row.plies}))
