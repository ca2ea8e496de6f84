"""The least change of a stackup that stands."""

from __future__ import annotations

from functools import cache

import pytest

from stackup_lib.materials import FoilGrade
from stackup_lib.synthesis import CandidateStackup, DfLimit, Goals, LineGoal, least_change, suggest
from stackup_lib.synthesis.constructions import cores_of, prepregs_of
from stackup_lib.transmission_lines.width_request import Target

DIFF_85 = Target(ohm=85, kind="differential")
LINE = LineGoal(name="PCIe", target=DIFF_85, nyquist_ghz=8)
PLAIN = Goals(layer_count=8, fast_layers=2, thickness_mm=1.6, laminates=("370HR",), lines=(LINE,))
FR408 = ("370HR", "FR408HR", "I-Tera MT40", "Megtron 6", "Tachyon 100G")


def assert_sold(candidate: CandidateStackup) -> None:
    """No dielectric is thicker than the plies that it is made of."""
    for row in candidate.dielectrics:
        offers = (*cores_of(row.laminate), *prepregs_of(row.laminate))
        sold = [s for s in offers if (s.kind, s.text, s.plies) == (row.kind.value, row.construction, row.plies)]
        assert any(s.cured_mm >= row.thickness_mm - 1e-9 for s in sold), row


@cache
def standing() -> CandidateStackup:
    return suggest(PLAIN).ranked[0].candidate


def test_what_is_good_enough_stays() -> None:
    """A stackup that meets the goals changes in nothing."""
    found = least_change(standing(), PLAIN)
    assert found.faults_now == ()
    assert [c.words for c in found.changes] == [()]
    assert found.changes[0].result.candidate == standing()


def test_a_foil_alone_comes_before_a_laminate() -> None:
    """Where only the foil falls short, the first change is the foil, on the high-speed layers and nowhere else."""
    first = least_change(standing(), PLAIN.model_copy(update={"foil": FoilGrade.HVLP})).changes[0]
    fast = [c.name for c in standing().copper if c.use == "fast"]
    assert first.words == (f"HVLP on {fast[0]} and {fast[1]}",)
    assert first.result.candidate.dielectrics == standing().dielectrics


@pytest.mark.slow
def test_a_limit_of_df_swaps_only_what_touches_high_speed_layers() -> None:
    """A limit of Df changes the laminate next to high-speed layers, mirrored, and keeps order and thickness."""
    goals = PLAIN.model_copy(update={"df_limit": DfLimit(max=0.0045), "laminates": FR408})
    found = least_change(standing(), goals)
    assert "allowed" in found.faults_now[0]
    assert found.changes, found.why_not
    after = found.changes[0].result.candidate
    assert after.order == standing().order
    copper = standing().copper
    for k, (old, new) in enumerate(zip(standing().dielectrics, after.dielectrics, strict=True)):
        assert (new.laminate != old.laminate) == ("fast" in (copper[k].use, copper[k + 1].use))
        assert abs(new.thickness_mm / old.thickness_mm - 1) <= 0.12
    assert_sold(after)
    assert [r.construction for r in after.dielectrics] == [r.construction for r in after.dielectrics][::-1]


def test_what_cannot_be_reached_says_why() -> None:
    """No laminate of the choice meets the limit: no change, and a reason with numbers."""
    found = least_change(standing(), PLAIN.model_copy(update={"df_limit": DfLimit(max=0.001)}))
    assert found.changes == ()
    assert any("0.001 allowed" in why for why in found.why_not)


@pytest.mark.parametrize(("ratio", "gap_per_width"), [(1.5, 1.5), (1.0, 1.0), (0.1, 1.5)])
def test_the_usual_gap_is_tried_where_no_change_has_the_preferred_one(ratio: float, gap_per_width: float) -> None:
    """At least 0.75 mm wide with a gap of 0.075 mm: wider than any line may be."""
    (change,) = least_change(standing(), PLAIN.model_copy(update={"gap_per_width": ratio})).changes

    assert change.words == ()
    assert {round((line.gap_mm or 0.0) / line.width_mm, 2) for line in change.result.lines} == {gap_per_width}
