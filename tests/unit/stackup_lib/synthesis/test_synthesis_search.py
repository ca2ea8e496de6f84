"""The search: hybrids, foils, build-ups, what is alike, what conflicts, and that answers are the same every time."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stackup_lib.board.stackup import LayerKind
from stackup_lib.core.errors import StackwrightError
from stackup_lib.materials import ConstructionKind, FoilGrade, catalogue, clad_foils
from stackup_lib.synthesis import Answers, CandidateRow, CandidateStackup, DfLimit, Evaluated, Goals, LineGoal, suggest
from stackup_lib.synthesis.arrange import GROUND_AGAINST_POWER, orders
from stackup_lib.synthesis.build_rules import BuildRules, WeightRule
from stackup_lib.synthesis.constructions import cores_of, prepregs_of
from stackup_lib.synthesis.cost import cost_of
from stackup_lib.synthesis.evaluate import Evaluator
from stackup_lib.synthesis.fill.choices import LaminatePair, _is_pressed
from stackup_lib.synthesis.fill.closest import closest
from stackup_lib.synthesis.line_loss import least_loss_db_per_inch
from tests.support.synthesis_goals import DIFF_85, TRAINING


@cache
def training() -> Answers:
    return suggest(TRAINING)


def beside_fast(one: Evaluated) -> set[str]:
    copper = one.candidate.copper
    return {d.laminate for k, d in enumerate(one.candidate.dielectrics) if "fast" in (copper[k].use, copper[k + 1].use)}


def unmet(one: Evaluated, goals: Goals) -> list[str]:
    """What of the goals a stackup misses, read from its rows alone."""
    rows, copper = one.candidate.rows, one.candidate.copper
    alike = {"power": "ground"} if one.candidate.order.layers in GROUND_AGAINST_POWER else {}
    uses = [alike.get(r.use or "", r.use) for r in rows]
    plain = [
        (r.kind, r.thickness_mm, r.construction, r.plies, r.foil, r.copper_oz, use)
        for r, use in zip(rows, uses, strict=True)
    ]
    total = sum(r.thickness_mm for r in rows)
    wanted = goals.thickness_mm or total
    fast, power = ([c for c in copper if c.use == use] for use in ("fast", "power"))
    missed = {
        "symmetry": plain != plain[::-1],
        "thickness": abs(total - wanted) > wanted * goals.thickness_tolerance + 1e-3,
        "sum": abs(total - one.candidate.thickness_mm) > 1e-4,
        "aspect ratio": total > goals.drill_mm * goals.max_aspect_ratio + 1e-3,
        "layers": goals.layer_count is not None and len(copper) != goals.layer_count,
        "fast": len(fast) < goals.fast_layers,
        "power": len(power) < goals.power_planes,
        "power copper": any(c.copper_oz != goals.power_copper_oz for c in power),
    }
    sheets = one.candidate.dielectrics
    for k, sheet in enumerate(sheets):
        missed[f"{sheet.name} of {sheet.construction}"] = not sold_and_good_enough(
            sheet, goals, fast="fast" in (copper[k].use, copper[k + 1].use)
        )
    for line in one.lines:
        goal = next(g for g in goals.lines if g.name == line.goal)
        missed[f"width on {line.layer}"] = not goals.least_width_mm <= line.width_mm <= goals.max_width_mm
        if goal.loss_budget_db is not None and line.loss_db_per_inch is not None:
            worst = line.loss_db_per_inch.high * (goal.longest_mm or 0) / 25.4
            missed[f"budget on {line.layer}"] = worst > goal.loss_budget_db * (1 + 1e-9)
    return [what for what, is_missed in missed.items() if is_missed]


def sold_and_good_enough(sheet: CandidateRow, goals: Goals, *, fast: bool) -> bool:
    """The catalogue has the sheet, no thinner than it was pressed, and its Df where a high-speed layer touches it."""
    match = catalogue().find(sheet.construction)
    if match.laminate is None or sheet.thickness_mm < goals.least_dielectric_mm:
        return False
    if sheet.kind is LayerKind.CORE:
        sold = sheet.thickness_mm in {s.cured_mm for s in cores_of(sheet.laminate)}
    else:
        plies = [c for c in match.laminate.constructions if c.kind is ConstructionKind.PREPREG]
        sold = any(c.style == match.style and sheet.thickness_mm <= c.thickness_mm * sheet.plies for c in plies)
    if not fast or goals.df_limit is None:
        return sold
    df = match.df_at(goals.df_limit.at_ghz).value
    return sold and df is not None and goals.df_limit.is_met_by(df)


@pytest.mark.slow
def test_answers_are_a_pareto_of_different_things() -> None:
    """No answer is beaten by another in loss, cost, lamination cycles and laminates; none is another's twin."""
    ranked = training().ranked
    assert len(ranked) >= 3
    for a, b in itertools.permutations(ranked, 2):
        first = (a.worst_loss_db_per_inch, a.cost.index, a.laminations, len(a.candidate.laminates))
        second = (b.worst_loss_db_per_inch, b.cost.index, b.laminations, len(b.candidate.laminates))
        assert not all(x <= y * 0.999 for x, y in zip(first, second, strict=True))
        assert set(a.candidate.laminates) != set(b.candidate.laminates) or (
            abs(a.worst_loss_db_per_inch / b.worst_loss_db_per_inch - 1) > 0.03
            or abs(a.cost.index / b.cost.index - 1) > 0.05
        )
    assert [unmet(one, TRAINING) for one in ranked] == [[]] * len(ranked)


@pytest.mark.slow
def test_a_hybrid_has_low_loss_next_to_high_speed_layers_only() -> None:
    """A hybrid's plainer laminate touches no high-speed layer, costs less, and loses more by its planes' foil alone."""
    hybrid = next(e for e in training().ranked if len(e.candidate.laminates) == 2)
    (fast,) = beside_fast(hybrid)
    pure = suggest(TRAINING.model_copy(update={"laminates": (fast,)})).ranked[0]
    assert pure.candidate.laminates == (fast,)
    smooth = tuple(
        r.model_copy(update={"foil": "HVLP"}) if r.kind is LayerKind.COPPER and r.foil else r
        for r in hybrid.candidate.rows
    )
    equal = Evaluator(TRAINING).evaluate(hybrid.candidate.model_copy(update={"rows": smooth}))
    assert equal.worst_loss_db_per_inch == pytest.approx(pure.worst_loss_db_per_inch, rel=0.05)
    assert equal.worst_loss_db_per_inch <= hybrid.worst_loss_db_per_inch
    assert hybrid.cost.index < 0.85 * pure.cost.index
    assert sum("times FR-4 in" in d for d in hybrid.cost.drivers) == 2


@pytest.mark.slow
def test_nobody_gets_a_hybrid_against_their_will() -> None:
    """Without hybrids every answer is of one laminate."""
    found = suggest(TRAINING.model_copy(update={"hybrids": False}))
    assert found.ranked
    assert all(len(e.candidate.laminates) == 1 for e in found.ranked)


def test_laminates_are_pressed_together_only_where_their_tg_are_alike() -> None:
    """Every hybrid's two families have Tg by one method within 45 degrees."""
    for one in training().ranked:
        if len(one.candidate.laminates) == 2:
            a, b = (catalogue().get(f) for f in one.candidate.laminates)
            assert a is not None
            assert b is not None
            pairs = [abs(x.value_c - y.value_c) for x in a.tg for y in b.tg if x.method is y.method]
            assert pairs
            assert min(pairs) <= 45


def test_what_was_lost_is_grouped_by_reason() -> None:
    """Every lost one stands in a group, and laminates above the limit of Df stand in one."""
    groups = {g.reason: g.names for g in training().lost_groups}
    assert {"370HR", "FR408HR", "S1000-2M"} <= set(groups["Df above 0.004 at 10 GHz"])
    names = {name for g in training().lost_groups for name in g.names}
    assert all(any(line.startswith(f"{name}: ") for name in names) for line in training().lost)


def test_foil_is_on_high_speed_layers_and_the_planes_that_face_them() -> None:
    """The required foil is on high-speed layers, their planes and the other faces of these cores.

    A plane on a plainer core has that core's.
    """
    for one in training().ranked:
        copper, order = one.candidate.copper, one.candidate.order
        for k, layer in enumerate(copper):
            near = {c.use for c in copper[max(k - 1, 0) : k + 2]}
            complement = order.opposite_face(k)
            clad = (
                clad_foils(one.candidate.dielectrics[min(k, complement)].laminate) if complement is not None else None
            )
            if layer.use != "fast" and (layer.use != "ground" or "fast" not in near):
                assert layer.foil == ("" if complement is None else copper[complement].foil)  # a core has one foil
            elif layer.use == "fast" or clad is None or FoilGrade.HVLP in clad.grades:
                assert layer.foil == "HVLP"
            else:
                assert layer.foil == clad.smoothest.value


def test_a_budget_calls_for_a_smoother_foil() -> None:
    """Where no foil is required and a budget is tight, the answer names the foil that meets it."""
    line = LineGoal(name="long", target=DIFF_85, nyquist_ghz=16, longest_mm=200, loss_budget_db=7.5)
    goals = Goals(layer_count=12, fast_layers=2, thickness_mm=1.6, laminates=("Tachyon 100G",), lines=(line,))
    best = suggest(goals).ranked[0]
    foils = {c.foil for c in best.candidate.copper if c.use == "fast"}
    assert foils <= {"RTF", "VLP", "HVLP"}
    assert unmet(best, goals) == []
    bare = best.candidate.model_copy(
        update={"rows": tuple(r.model_copy(update={"foil": ""}) for r in best.candidate.rows)}
    )
    assert Evaluator(goals).evaluate(bare).faults


def test_the_bound_of_loss_is_below_the_loss() -> None:
    """What the dielectrics alone must lose is less than what the solved line loses, and not nothing."""
    for family in ("370HR", "Megtron 6", "Megtron 8(U)"):
        clad = clad_foils(family)
        assert clad is not None
        asked = {"laminates": (family,), "df_limit": None, "foil": clad.smoothest}
        best = suggest(TRAINING.model_copy(update=asked)).ranked[0]
        for line in best.lines:
            index = [c.name for c in best.candidate.copper].index(line.layer)
            bound = least_loss_db_per_inch(best.candidate, index, 16)
            assert bound is not None
            assert line.loss_db_per_inch is not None
            assert 0.1 * line.loss_db_per_inch.nominal < bound < line.loss_db_per_inch.low


@pytest.mark.parametrize(
    ("layers", "build_ups", "presses"),
    [(12, 0, 1), (12, 1, 2), (16, 3, 4), (10, 4, 4)],
)
def test_build_ups_are_counted_as_presses(layers: int, build_ups: int, presses: int) -> None:
    """Each build-up is one press more than that of the cores; one core alone needs none."""
    order = orders(Goals(layer_count=layers, fast_layers=2, build_ups=build_ups))[0]
    assert (order.has_one_core, order.laminations) == (layers == 10, presses)
    assert order.gaps[:build_ups] == "p" * build_ups
    assert order.gaps == order.gaps[::-1]
    assert order.has_one_core == (order.gaps.count("c") == 1)


@pytest.mark.parametrize(
    ("thickness_mm", "layers", "build_ups", "hdi_class"),
    [(None, 12, 0, "through"), (None, 12, 1, "1-N-1"), (0.65, 8, 3, "any-layer"), (1.6, 8, 3, "3-N-3")],
)
def test_a_thick_core_makes_no_any_layer_board(
    thickness_mm: float | None, layers: int, build_ups: int, hdi_class: str
) -> None:
    """A laser drills no core of a millimetre: such a board has build-ups on a drilled core."""
    goals = Goals(layer_count=layers, thickness_mm=thickness_mm, build_ups=build_ups, drill_mm=0.25)
    candidate = closest(orders(goals)[0], "370HR", goals)[0]
    assert candidate.hdi_class == hdi_class
    cores = [row.thickness_mm for row in candidate.dielectrics if row.kind is LayerKind.CORE]
    assert candidate.is_any_layer == (len(cores) == 1 and cores[0] <= 0.1)


def test_no_lean_prepreg_is_next_to_heavy_copper() -> None:
    """7628 with 45 % resin is pressed between 1 oz layers, not next to 2 oz; with 50 % next to both."""
    row = WeightRule(oz=1.0, core_mm=0.05, plies_one=1, plies_both=1, plies_outer=1)
    rules = BuildRules(weights=(row, row.model_copy(update={"oz": 2.0})), heavy_resin_pct=49.0)
    sheets = {sold.text: sold for sold in prepregs_of("370HR") if sold.plies == 2}
    for resin, oz, is_pressed in ((45, 1.0, True), (45, 2.0, False), (50, 2.0, True)):
        sold, needs = sheets[f"370HR 7628 RC{resin}%"], rules.needs(0.5, oz, outer=False)
        assert _is_pressed(sold, 0.35, needs, Goals(build_rules=rules)) is is_pressed
    assert rules.needs(0.5, 0.5, outer=True).and_those(rules.needs(1.0, 2.0, outer=True)).resin_pct == 49.0


def test_what_a_fab_asks_about_is_taken_only_where_nothing_else_fits() -> None:
    """A thicker core, a thicker prepreg; 12 layers in 0.8 mm need thinner ones than usual, and have them."""
    usual = BuildRules(usual_core_mm=0.1, usual_pressed_mm=0.069)

    def thinnest(layers: int, power: int, thickness_mm: float, rules: BuildRules) -> list[float]:
        goals = Goals(layer_count=layers, power_planes=power, thickness_mm=thickness_mm, build_rules=rules)
        found = closest(orders(goals)[0], "S1000-2M", goals)[0]
        assert found.thickness_mm == pytest.approx(thickness_mm, rel=0.1)
        rows = found.dielectrics
        return [min(r.thickness_mm for r in rows if r.kind is k) for k in (LayerKind.CORE, LayerKind.PREPREG)]

    assert thinnest(8, 0, 1.0, BuildRules())[0] == 0.075
    assert thinnest(8, 0, 1.0, usual)[0] >= 0.1
    assert thinnest(10, 2, 1.6, BuildRules())[1] < 0.069
    assert thinnest(10, 2, 1.6, usual)[1] >= 0.069
    assert max(thinnest(12, 2, 0.8, usual)) < 0.069


def test_inner_layers_of_build_ups_are_plated() -> None:
    """With 2 build-ups the second layer is an outer one of the first lamination: foil and plating, as outside."""
    goals = Goals(layer_count=12, fast_layers=2, ground_copper_oz=1.0, build_ups=2)
    copper = closest(orders(goals)[0], "370HR", goals)[0].copper
    assert [row.thickness_mm for row in copper[:3]] == [0.035, 0.035, 0.0152]
    assert [row.copper_oz for row in copper[:3]] == [0.5, 0.5, 0.5]
    assert [row.thickness_mm for row in copper] == [row.thickness_mm for row in reversed(copper)]
    plain = closest(orders(goals.model_copy(update={"build_ups": 1}))[0], "370HR", goals)[0].copper
    assert plain[1].thickness_mm == 0.03


def test_a_microvia_is_no_deeper_than_it_can_be_plated() -> None:
    """Dielectrics of build-ups are at most 0.8 times the microvia's diameter."""
    goals = Goals(layer_count=16, fast_layers=4, other_signal_layers=4, build_ups=2, microvia_drill_mm=0.1)
    for order in orders(goals):
        for candidate in closest(order, "Megtron 6", goals):
            build_ups = [d for k, d in enumerate(candidate.dielectrics) if order.is_build_up(k)]
            assert len(build_ups) == 4
            assert all(d.thickness_mm <= 0.08 + 1e-4 for d in build_ups)


def test_a_core_build_has_cores_under_its_outer_copper() -> None:
    """A core build has one core more than a foil build of as many layers, and says so in its cost."""
    both = [Goals(layer_count=8, fast_layers=2, build=build) for build in ("foil", "core")]
    foil, core = (closest(orders(g)[0], "370HR", g)[0] for g in both)
    kinds = [[d.kind for d in c.dielectrics] for c in (foil, core)]
    assert [k.count(LayerKind.CORE) for k in kinds] == [3, 4]
    assert kinds[1][0] is kinds[1][-1] is LayerKind.CORE
    assert "a core build: outer copper on cores" in cost_of(core, 8, ()).drivers


def test_thick_copper_takes_thick_prepreg() -> None:
    """Prepreg next to 3 oz planes is thicker than next to half-ounce ones: it needs the resin."""

    def around(ounces: float) -> float:
        goals = Goals(layer_count=12, fast_layers=2, power_planes=4, power_copper_oz=ounces)
        best = closest(orders(goals)[0], "370HR", goals)[0]
        copper = best.copper
        gaps = [
            d.thickness_mm
            for k, d in enumerate(best.dielectrics)
            if d.kind is LayerKind.PREPREG and (copper[k].use, copper[k + 1].use) == ("power", "power")
        ]
        return (
            min(gaps)
            if gaps
            else min(
                d.thickness_mm
                for k, d in enumerate(best.dielectrics)
                if d.kind is LayerKind.PREPREG and "power" in (copper[k].use, copper[k + 1].use)
            )
        )

    assert around(3.0) > around(0.5)


def test_a_stackup_thin_enough_to_drill_comes_before_a_fault() -> None:
    """3.2 mm within a tenth and at most 3 mm to drill: the answer is between 2.88 and 3.0 mm, not a refusal."""
    goals = TRAINING.model_copy(update={"layer_count": 28, "thickness_mm": 3.2, "laminates": ("Megtron 6", "370HR")})
    found = suggest(goals)
    assert found.ranked
    assert all(2.88 <= e.candidate.thickness_mm <= 3.0 and e.aspect_ratio <= 12 for e in found.ranked)


def test_goals_that_fight_are_named_and_the_nearest_is_shown() -> None:
    """24 layers in 1.57 mm with 2 oz planes: the three conflict, easing any one helps, and numbers say how far."""
    goals = Goals(
        layer_count=24,
        fast_layers=4,
        other_signal_layers=4,
        power_planes=4,
        power_copper_oz=2,
        thickness_mm=1.57,
        laminates=("Megtron 7(N)", "370HR"),
    )
    found = suggest(goals)
    assert not found.ranked
    assert found.fighting == ("a thickness of 1.57 mm", "2 oz power planes", "24 layers")
    assert {r.goal for r in found.relaxations} == {"thickness", "power copper", "layers"}
    by_goal = {r.goal: r.result for r in found.relaxations}
    assert len(by_goal["thickness"].candidate.copper) == 24
    assert by_goal["thickness"].candidate.thickness_mm > 1.57 * 1.1
    assert by_goal["power copper"].candidate.thickness_mm <= 1.57 * 1.1
    assert len(by_goal["layers"].candidate.copper) < 24
    assert found.nearest is not None
    assert f"the stackup is {found.nearest.candidate.thickness_mm:.2f} mm thick, 1.57 mm wanted" in found.nearest.faults


@pytest.mark.slow
def test_a_budget_in_conflict_is_named_alone() -> None:
    """A loss budget beyond every laminate conflicts with nothing but itself: thickness and copper do not help."""
    line = LineGoal(name="long", target=DIFF_85, nyquist_ghz=16, longest_mm=1000, loss_budget_db=3)
    found = suggest(Goals(layer_count=8, fast_layers=2, thickness_mm=1.6, laminates=("370HR",), lines=(line,)))
    assert found.fighting == ("the loss budgets",)
    assert [r.goal for r in found.relaxations] == ["loss budget"]


def test_clauses_of_the_caller_are_no_conflict_of_goals() -> None:
    """Where only the caller's clauses fail, no goal is blamed."""
    goals = Goals(layer_count=8, fast_layers=2, thickness_mm=1.6, laminates=("370HR",))
    found = suggest(goals, judge=lambda _: [("x", False, "not like this")])
    assert found.unreachable == ("x: not like this",)
    assert [g.names[0] for g in found.lost_groups if g.reason == "clause x is not met"] == ["8 layers OGFGGFGO, 370HR"]
    assert found.fighting == ()
    assert found.relaxations == ()


@pytest.mark.slow
def test_the_caller_is_asked_only_of_what_would_be_an_answer() -> None:
    """Judging is expensive: with all clauses met, no more candidates are judged than are answered, but for a few."""
    asked: list[str] = []

    def judge(candidate: CandidateStackup) -> list[tuple[str, bool, str]]:
        asked.append(candidate.name)
        return [("x", True, "")]

    found = suggest(TRAINING, judge=judge, limit=3)
    assert len(found.ranked) == 3
    assert {e.candidate.name for e in found.ranked} <= set(asked)
    assert len(asked) <= 6


SCRIPT = """
from tests.support.synthesis_goals import TRAINING
from stackup_lib.synthesis import suggest
import hashlib, sys
goals = TRAINING.model_copy(update={"laminates": ("Megtron 6", "370HR", "S1000-2M")})
sys.stdout.write(hashlib.sha256(suggest(goals).model_dump_json().encode()).hexdigest())
"""


@pytest.mark.slow
def test_answers_do_not_depend_on_the_hash_seed() -> None:
    """Two processes with different hash seeds give the same answers, byte for byte."""
    said = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=Path(__file__).parents[4],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1


@pytest.mark.slow
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    fast=st.integers(0, 6),
    slow=st.integers(2, 6),
    power=st.integers(0, 4),
    ounces=st.sampled_from([0.5, 1.0, 2.0]),
    build_ups=st.integers(0, 2),
    thickness=st.one_of(st.none(), st.floats(1.0, 3.5)),
    limit=st.sampled_from([None, 0.02, 0.004]),
    budget=st.sampled_from([None, 6.0, 12.0]),
    build=st.sampled_from(["foil", "either"]),
)
def test_every_answer_meets_every_goal_when_read_anew(
    *,
    fast: int,
    slow: int,
    power: int,
    ounces: float,
    build_ups: int,
    thickness: float | None,
    limit: float | None,
    budget: float | None,
    build: str,
) -> None:
    """Whatever is required: what is answered meets it all, or nothing is answered and the reason is said."""
    line = LineGoal(name="x", target=DIFF_85, nyquist_ghz=8, longest_mm=200, loss_budget_db=budget)
    goals = Goals.model_validate(
        {
            "fast_layers": fast,
            "other_signal_layers": slow,
            "power_planes": power,
            "power_copper_oz": ounces,
            "build_ups": build_ups,
            "thickness_mm": thickness,
            "drill_mm": 0.3,
            "df_limit": DfLimit(max=limit) if limit else None,
            "laminates": ("370HR", "FR408HR", "Megtron 6"),
            "build": build,
            "lines": (line,) if fast else (),
        }
    )
    try:
        found = suggest(goals)
    except StackwrightError as error:
        assert error.next_step
        return
    assert found.ranked or found.unreachable
    for one in found.ranked:
        assert not one.faults
        assert unmet(one, goals) == []


def test_a_hybrid_says_where_each_laminate_is() -> None:
    """A hybrid is described by where each laminate is."""
    assert str(LaminatePair(fast="Megtron 6", rest="370HR")) == "Megtron 6 next to high-speed layers, 370HR elsewhere"
