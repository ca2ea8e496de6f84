"""What is said of one candidate, line by line, against the solver and the loss asked anew on its own site."""

from __future__ import annotations

import math

import pytest

from stackup_lib.core.light import LIGHT_MM_GHZ
from stackup_lib.field_solver.solver import solve
from stackup_lib.synthesis import CandidateStackup, Goals, LineGoal
from stackup_lib.synthesis.arrange import orders
from stackup_lib.synthesis.candidates import CandidateRow
from stackup_lib.synthesis.evaluate import DK_SLACK, THICKNESS_SLACK, Evaluated, Evaluator, LineResult
from stackup_lib.synthesis.fill.choices import LaminatePair
from stackup_lib.synthesis.fill.closest import closest
from stackup_lib.synthesis.line_loss import catalogue_df, least_loss_db_per_inch, materials_of
from stackup_lib.synthesis.pareto import kind_of, objectives_of
from stackup_lib.transmission_lines.lossy import loss_of, solve_line
from stackup_lib.transmission_lines.width_request import Target

GHZ = 16.0
INNER = LineGoal(
    name="inner",
    target=Target(ohm=85, kind="differential"),
    nyquist_ghz=GHZ,
    longest_mm=200.0,
    loss_budget_db=30.0,
)
OUTER = LineGoal(name="outer", target=Target(ohm=50, kind="single"), where="outer")
GOALS = Goals(layer_count=12, fast_layers=4, lines=(INNER, OUTER), max_stub_mm=0.5, drill_mm=0.2)
PAIR = LaminatePair(fast="Tachyon 100G", rest="370HR")


def built(goals: Goals = GOALS) -> CandidateStackup:
    """The candidate of the first order that is nearest to the thickness."""
    return closest(orders(goals)[0], PAIR, goals)[0]


def uneven(candidate: CandidateStackup) -> CandidateStackup:
    """The same with every dielectric, and every copper layer, of a thickness of its own."""
    changed: list[CandidateRow] = []
    for k, row in enumerate(candidate.rows):
        more = (1.0 + 0.02 * k) if row.is_dielectric else (1.0 + 0.01 * k)
        changed.append(row.model_copy(update={"thickness_mm": round(row.thickness_mm * more, 5)}))
    return candidate.model_copy(update={"rows": tuple(changed)})


def is_true(candidate: CandidateStackup, line: LineResult, goal: LineGoal) -> None:
    """Assert impedance, its interval and loss of a line, solved anew where it lies."""
    index = [c.name for c in candidate.copper].index(line.layer)
    site = candidate.site(index)
    solution = solve(site.section(line.width_mm, line.gap_mm))
    ohm = solution.z_diff_ohm if line.gap_mm is not None else solution.z0_ohm
    assert line.impedance_ohm.nominal == pytest.approx(ohm, rel=1e-3)
    assert ohm == pytest.approx(goal.target.ohm, rel=2e-3)
    slack = ohm * math.hypot(THICKNESS_SLACK, DK_SLACK) / 2  # half of a thickness, half of a Dk: Z goes as their roots
    assert line.impedance_ohm.high - line.impedance_ohm.nominal == pytest.approx(slack, rel=1e-3)
    assert line.impedance_ohm.nominal - line.impedance_ohm.low == pytest.approx(slack, rel=1e-3)
    if goal.nyquist_ghz is None:
        assert line.loss_db_per_inch is None
        return
    solved = solve_line(site, line.width_mm, line.gap_mm)
    low, nominal, high = (
        25.4 * float(loss_of(solved, of, goal.nyquist_ghz).total_db_per_mm)
        for of in materials_of(candidate, site, index, goal.nyquist_ghz)
    )
    assert line.loss_db_per_inch is not None
    assert low < nominal < high
    assert line.loss_db_per_inch.low == pytest.approx(low, rel=2e-3)
    assert line.loss_db_per_inch.nominal == pytest.approx(nominal, rel=2e-3)
    assert line.loss_db_per_inch.high == pytest.approx(high, rel=2e-3)


def layers_of(found: Evaluated, goal: LineGoal) -> list[str]:
    return [line.layer for line in found.lines if line.goal == goal.name]


def test_every_line_is_that_of_its_own_layer() -> None:
    """Mirrored layers share what is solved; where nothing is mirrored, no layer has the answer of another."""
    evaluator = Evaluator(GOALS)  # one, so that what is shared is shared
    for candidate in (built(), uneven(built())):
        found = evaluator.evaluate(candidate)
        assert layers_of(found, INNER) == [c.name for c in candidate.copper if c.use == "fast"]
        assert layers_of(found, OUTER) == ["F.Cu", "B.Cu"]
        for line in found.lines:
            is_true(candidate, line, INNER if line.goal == "inner" else OUTER)
    ohms = {line.width_mm for line in found.lines if line.goal == "inner"}
    assert len(ohms) == 4


def test_a_budget_holds_at_the_highest_loss_over_the_longest_link() -> None:
    """Longest legal length, margin, and a fault where the link is longer; the worst line counts."""
    found = Evaluator(GOALS).evaluate(uneven(built()))
    inner = [line for line in found.lines if line.loss_db_per_inch]
    for line in inner:
        assert line.loss_db_per_inch is not None
        high = line.loss_db_per_inch.high
        assert line.longest_legal_mm == pytest.approx(30.0 / high * 25.4)
        assert line.margin_db == pytest.approx(30.0 - high * 200.0 / 25.4, abs=1e-3)
        assert line.meets_budget is (high * 200.0 / 25.4 <= 30.0)
    assert found.worst_loss_db_per_inch == max(x.loss_db_per_inch.nominal for x in inner if x.loss_db_per_inch)
    assert found.least_margin_db == min(x.margin_db for x in inner if x.margin_db is not None)
    assert not any("dB allowed" in fault for fault in found.faults)

    longer = GOALS.model_copy(update={"lines": (INNER.model_copy(update={"longest_mm": 2000.0}), OUTER)})
    faults = Evaluator(longer).evaluate(built()).faults
    over = [fault for fault in faults if "dB allowed" in fault]
    assert len(over) == 4
    first = Evaluator(longer).evaluate(built()).lines[0]
    assert first.loss_db_per_inch is not None
    lost = first.loss_db_per_inch.high * 2000.0 / 25.4
    assert f"{first.layer} loses up to {lost:.2f} dB over 2000 mm, 30 dB allowed" in over[0]


def test_a_goal_that_no_layer_carries_is_a_fault() -> None:
    """It names the kind of layer that is missing."""
    goals = GOALS.model_copy(update={"fast_layers": 0})
    assert "inner: no fast layer carries it" in Evaluator(GOALS).evaluate(built(goals)).faults


def test_stubs_and_the_aspect_ratio_are_those_of_the_stackup() -> None:
    """What lies below a layer, without mask, over 0.5 mm; a via through all of that with 0.2 mm."""
    candidate = built()
    found = Evaluator(GOALS).evaluate(candidate)
    names = [row.name for row in candidate.rows]
    below = {
        c.name: sum(r.thickness_mm for r in candidate.rows[names.index(c.name) + 1 :] if "Mask" not in r.name)
        for c in candidate.copper
        if c.use == "fast"
    }
    assert found.backdrilled == tuple(name for name, stub_mm in below.items() if stub_mm > 0.5)
    assert 0 < len(found.backdrilled) < 4
    drilled_mm = sum(row.thickness_mm for row in candidate.rows if "Mask" not in row.name)
    assert drilled_mm < candidate.thickness_mm
    assert found.aspect_ratio == pytest.approx(drilled_mm / 0.2, abs=0.005)
    narrow = GOALS.model_copy(update={"drill_mm": 0.1})
    assert any(fault.startswith("aspect ratio") for fault in Evaluator(narrow).evaluate(candidate).faults)


def test_no_line_loses_less_than_the_dielectrics_beside_it_alone() -> None:
    """By hand: pi f / c sqrt(0.9 Dk) tan d, of the least Dk and Df of the two; nothing is said without a Df."""
    candidate = built()
    found, least = Evaluator(GOALS).bound(candidate)
    known = []
    for index, copper in enumerate(candidate.copper):
        if copper.use != "fast":
            continue
        sheets = candidate.dielectrics[index - 1], candidate.dielectrics[index]
        df = [catalogue_df(sheet.construction, GHZ) for sheet in sheets]
        dk = [sheet.dk for sheet in sheets]
        assert None not in df
        assert None not in dk
        nepers = math.pi * GHZ / LIGHT_MM_GHZ * math.sqrt(0.9 * min(x for x in dk if x)) * min(x for x in df if x)
        known.append(least_loss_db_per_inch(candidate, index, GHZ))
        assert known[-1] == pytest.approx(nepers * 20 / math.log(10) * 25.4)
    assert least == max(x for x in known if x is not None)
    assert not found.faults
    assert least < Evaluator(GOALS).evaluate(candidate).worst_loss_db_per_inch
    rows = tuple(row.model_copy(update={"dk": None}) if row.is_dielectric else row for row in candidate.rows)
    assert least_loss_db_per_inch(candidate.model_copy(update={"rows": rows}), 2, GHZ) is None


def test_a_thickness_counts_beyond_half_of_the_tolerance() -> None:
    """Fabs promise a tenth; nothing counts where no thickness is required."""
    found = Evaluator(GOALS).evaluate(built())
    for error, counts in ((0.0, 0.0), (0.05, 0.0), (-0.05, 0.0), (0.051, 1.0), (-0.09, 1.0)):
        goals = GOALS.model_copy(update={"thickness_mm": 1.6, "thickness_tolerance": 0.1})
        one = found.model_copy(update={"thickness_error": error})
        assert objectives_of(one, 1.0, goals)[2] == counts
        assert objectives_of(one, 1.0, GOALS)[2] == 0.0


def test_a_hybrid_is_of_the_laminate_beside_its_high_speed_layers() -> None:
    """Whatever the outer dielectrics are."""
    kind = kind_of(built())
    assert (kind.layers, kind.fast_laminate) == (12, "Tachyon 100G")
    assert kind.laminates == {"Tachyon 100G", "370HR"}
