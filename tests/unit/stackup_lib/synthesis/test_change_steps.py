"""Steps of a change: laminates keep style and plies, copper keeps cores and mirrors equal, rows are mirrored."""

from __future__ import annotations

import pytest

from stackup_lib.board.stackup import LayerKind
from stackup_lib.materials import FoilGrade
from stackup_lib.synthesis import CandidateRow, CandidateStackup
from stackup_lib.synthesis.arrange import Order
from stackup_lib.synthesis.build_rules import BuildRules, WeightRule
from stackup_lib.synthesis.candidates import USES
from stackup_lib.synthesis.change_steps import (
    ChangeStep,
    in_foil,
    in_laminate,
    in_weight,
    mirrored,
    rows_touched,
    unequal_cores,
)

RULES = BuildRules(
    weights=(
        WeightRule(oz=0.5, core_mm=0.05, plies_one=1, plies_both=1, plies_outer=1),
        WeightRule(oz=2.0, core_mm=0.1, plies_one=2, plies_both=3, plies_outer=2, gap_mm=0.089),
    ),
    equal_cladding=True,
)
PREPREG, CORE = ("370HR 1080 RC66%", 2, 0.14), ("370HR", 1, 0.076)


def stackup(layers: str, gaps: str, oz: float = 1.0, **other: tuple[str, int, float]) -> CandidateStackup:
    """A stackup of 370HR; `d2=` gives dielectric 2 as material, plies and thickness."""
    rows: list[CandidateRow] = []
    for k, letter in enumerate(layers):
        last = k == len(layers) - 1
        name = "F.Cu" if k == 0 else "B.Cu" if last else f"In{k}.Cu"
        rows.append(copper(name, letter, 1.0 if k == 0 or last else oz))
        if not last:
            kind = LayerKind.CORE if gaps[k] == "c" else LayerKind.PREPREG
            text, plies, mm = other.get(f"d{k + 1}", CORE if gaps[k] == "c" else PREPREG)
            family = text.split(" 1")[0].split(" 2")[0]
            rows.append(
                CandidateRow(
                    kind=kind,
                    name=f"dielectric {k + 1}",
                    thickness_mm=mm,
                    laminate=family,
                    construction=text,
                    plies=plies,
                    dk=4.1,
                )
            )
    return CandidateStackup(rows=tuple(rows), order=Order(layers=layers, gaps=gaps, pattern="as it stands"))


def copper(name: str, letter: str, oz: float) -> CandidateRow:
    """A layer of copper."""
    thickness = {0.5: 0.0152, 1.0: 0.03, 2.0: 0.061}[oz]
    return CandidateRow(kind=LayerKind.COPPER, name=name, use=USES[letter], thickness_mm=thickness, copper_oz=oz)


def weights(step: ChangeStep) -> list[float | None]:
    """Copper weights from top to bottom."""
    assert step.candidate is not None, step.words
    return [row.copper_oz for row in step.candidate.copper]


def row_of(step: ChangeStep, name: str) -> CandidateRow:
    """A row after a step."""
    assert step.candidate is not None, step.words
    return next(row for row in step.candidate.rows if row.name == name)


@pytest.mark.parametrize("style,thickness_mm", [("2116", 0.119), ("1080", 0.07), ("7628", 0.185)])
def test_another_laminate_keeps_style_and_plies(style: str, thickness_mm: float) -> None:
    """FR4 of one 2116 becomes 370HR of one 2116, never two of a thinner style that are as thick together."""
    before = stackup("OGGO", "pcp", d1=(f"IS400 {style}", 1, thickness_mm))
    step = in_laminate(before, ["dielectric 1"], "370HR")

    row = row_of(step, "dielectric 1")
    assert row.construction.startswith(f"370HR {style} RC")
    assert row.plies == 1
    assert abs(row.thickness_mm / thickness_mm - 1) <= 0.12
    assert step.words == "dielectric 1 to 370HR"
    assert step.candidate is not None and rows_touched(before, step.candidate) == 1


def test_a_laminate_that_is_there_already_stays() -> None:
    """Nothing is swapped for itself."""
    before = stackup("OGGO", "pcp")
    assert in_laminate(before, ["dielectric 1", "dielectric 2"], "370HR") == ChangeStep(words="", candidate=before)


def test_a_thickness_that_is_not_sold_gives_the_reason() -> None:
    """Two millimetres of prepreg are sold by no maker."""
    step = in_laminate(stackup("OGGO", "pcp", d1=("IS400 2116", 1, 2.0)), ["dielectric 1"], "370HR")
    assert step == ChangeStep(words="370HR has no prepreg near 2 mm for dielectric 1")


def test_heavier_copper_takes_its_mirror_and_the_other_side_of_its_core() -> None:
    """Both planes of a core get the weight, and the mirrored core; the cores grow to what 2 oz requires."""
    before = stackup("OGPPGO", "pcpcp")
    step = next(in_weight(before, {"In2.Cu": 2.0}, RULES))

    assert weights(step) == [1.0, 2.0, 2.0, 2.0, 2.0, 1.0]
    assert [row_of(step, f"dielectric {k}").thickness_mm for k in (2, 4)] == [0.102, 0.102]
    assert row_of(step, "dielectric 3").plies == 3
    assert step.cautions == ()


def test_heavier_copper_without_other_rows_carries_what_to_ask() -> None:
    """The last way touches the planes and their mirrors alone, and says what fabs do not press so."""
    *_, step = in_weight(stackup("OGPPGO", "pcpcp"), {"In2.Cu": 2.0}, RULES)

    assert weights(step) == [1.0, 1.0, 2.0, 2.0, 1.0, 1.0]
    assert step.cautions == (
        "ask the fab: dielectric 2 and dielectric 4 with two copper weights",
        "ask the fab: dielectric 2 and dielectric 4 below 0.1 mm under 2 oz",
        "ask the fab: dielectric 3 of fewer than 3 sheets at 2 oz",
    )
    assert row_of(step, "dielectric 3").thickness_mm == pytest.approx(0.14 - 2 * 0.2 * 0.031)


def test_signals_on_the_other_side_of_a_core_do_not_get_heavier() -> None:
    """Traces would change: that way is none, with the reason."""
    step = next(in_weight(stackup("OPFGGFPO", "pcpcpcp"), {"In1.Cu": 2.0}, RULES))
    assert step.candidate is None
    assert step.words == "In2.Cu, which would have to be 2 oz as well, carries signals"


def test_copper_that_is_heavy_enough_stays() -> None:
    """Nothing is done to 2 oz where 1 oz is wanted."""
    before = stackup("OGPPGO", "pcpcp", oz=2.0)
    for step in in_weight(before, {"In2.Cu": 1.0}, RULES):
        assert step == ChangeStep(words="", candidate=before)


def test_a_row_is_mirrored_so_that_cores_have_equal_copper_first() -> None:
    """Of the two ways to make a pair equal the one that leaves no core with two weights comes first."""
    before = stackup("OGPPGO", "pcpcp")
    odd = before.model_copy(
        update={"rows": tuple(copper("In3.Cu", "P", 2.0) if r.name == "In3.Cu" else r for r in before.rows)}
    )
    assert (unequal_cores(before), unequal_cores(odd)) == (0, 1)
    first, second = mirrored(odd, [("In2.Cu", "In3.Cu")])

    assert first.candidate == before
    assert first.words == "In3.Cu as its mirror In2.Cu, 1 oz, 0.03 mm"
    assert weights(second) == [1.0, 1.0, 2.0, 2.0, 1.0, 1.0]
    assert list(mirrored(before, [])) == []


def test_a_foil_goes_where_the_copper_is_rougher() -> None:
    """A smoother foil stays, an undeclared one does not."""
    before = stackup("OGPPGO", "pcpcp")
    smooth = in_foil(before, ["In1.Cu"], FoilGrade.HVLP)
    assert smooth.candidate is not None
    step = in_foil(smooth.candidate, ["In1.Cu", "In4.Cu"], FoilGrade.VLP)

    assert step.words == "VLP on In4.Cu"
    assert (row_of(step, "In1.Cu").foil, row_of(step, "In4.Cu").foil) == ("HVLP", "VLP")


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ("HVLP", "HVLP on In1.Cu"),
        ("VLP", "VLP on In1.Cu"),
        ("RTF", "VLP on In1.Cu and In2.Cu"),
        ("", "VLP on In1.Cu"),
    ],
)
def test_both_faces_of_a_core_have_one_foil(other: str, words: str) -> None:
    """In1 and In2 lie on one core, which a maker clads alike; what the other face has is not known without a foil."""
    before = stackup("OGPPGO", "pcpcp")
    rows = [row.model_copy(update={"foil": other}) if row.name == "In2.Cu" else row for row in before.rows]

    step = in_foil(before.model_copy(update={"rows": tuple(rows)}), ["In1.Cu"], FoilGrade.VLP)

    assert step.words == words
    assert not other or row_of(step, "In1.Cu").foil == row_of(step, "In2.Cu").foil
