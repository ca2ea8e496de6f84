"""Suggested stackups: buildable, symmetric, of catalogue rows, and as good as they say."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from stackup_lib.board.stackup import LayerKind
from stackup_lib.core.errors import ConfigError, StackwrightError
from stackup_lib.field_solver.solver import solve
from stackup_lib.materials import ConstructionKind, FoilGrade, TgMethod, catalogue
from stackup_lib.synthesis import (
    Answers,
    CandidateStackup,
    Goals,
    LineGoal,
    TgLimit,
    suggest,
    to_planned,
)
from stackup_lib.synthesis.arrange import GROUND_AGAINST_POWER, enclosed_power, is_sound, orders, power_without_ground
from stackup_lib.synthesis.build_rules import BuildRules
from stackup_lib.synthesis.constructions import cores_of, prepregs_of
from stackup_lib.synthesis.fill.closest import closest
from tests.support.synthesis_goals import ALL, DIFF_85, EDGE

RULES = BuildRules(equal_cladding=True)


@cache
def answers(name: str) -> Answers:
    return suggest(ALL[name])


def assert_buildable(candidate: CandidateStackup, goals: Goals) -> None:
    rows = candidate.rows
    alike = {"power": "ground"} if candidate.order.layers in GROUND_AGAINST_POWER else {}
    told = [
        (r.kind, alike.get(r.use or "", r.use), r.thickness_mm, r.construction, r.plies, r.copper_oz, r.foil)
        for r in rows
    ]
    assert told == told[::-1]
    total = sum(r.thickness_mm for r in rows)
    if goals.thickness_mm is not None:
        assert abs(total / goals.thickness_mm - 1) <= goals.thickness_tolerance + 1e-6
    copper = candidate.copper
    assert len(copper) == len(candidate.dielectrics) + 1
    for k, layer in enumerate(copper):
        if layer.use == "fast":
            assert (copper[k - 1].use, copper[k + 1].use) == ("ground", "ground")
    for row in candidate.dielectrics:
        match = catalogue().find(row.construction)
        assert match.laminate is not None
        assert match.laminate.family == row.laminate
        if row.kind is LayerKind.CORE:
            made = {c.thickness_mm for c in match.laminate.constructions if c.kind is ConstructionKind.CORE}
            assert row.thickness_mm in made | set(match.laminate.core_thicknesses_mm)
        else:
            plies = match.laminate.constructions_of(match.style, match.resin_content_pct)
            assert any(row.thickness_mm <= p.thickness_mm * row.plies + 1e-9 for p in plies)
        assert row.thickness_mm >= goals.least_dielectric_mm


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_suggestions_can_be_built(name: str) -> None:
    """Every suggestion is symmetric, adds up, has high-speed layers between grounds, and is made of catalogue rows."""
    found = answers(name)
    assert found.ranked, found.unreachable
    for one in found.ranked:
        assert not one.faults
        assert_buildable(one.candidate, ALL[name])


@pytest.mark.parametrize("name", ["edge", "card"])
def test_widths_meet_the_target_when_solved_again(name: str) -> None:
    """Impedance solved afresh at a tolerance of 1e-4 meets the target within 0.02 %, and is the one that is shown."""
    best = answers(name).ranked[0]
    for goal in ALL[name].lines:
        line = next(r for r in best.lines if r.goal == goal.name)
        index = [c.name for c in best.candidate.copper].index(line.layer)
        section = best.candidate.site(index).section(line.width_mm, line.gap_mm)
        solution = solve(section, 1e-4)
        ohm = solution.z_diff_ohm if goal.target.kind == "differential" else solution.z0_ohm
        assert ohm == pytest.approx(goal.target.ohm, rel=2e-4)
        assert ohm == pytest.approx(line.impedance_ohm.nominal, rel=1e-4)


def test_a_limit_of_df_leaves_fr4_out_with_numbers() -> None:
    """A laminate over the limit of Df touches no high-speed layer, and the reason has both numbers."""
    found = answers("card")
    for one in found.ranked:
        copper = one.candidate.copper
        adjacent = {
            d.laminate for k, d in enumerate(one.candidate.dielectrics) if "fast" in (copper[k].use, copper[k + 1].use)
        }
        assert "370HR" not in adjacent
    assert "370HR: Df 0.0250 at 10 GHz, 0.004 allowed" in found.lost


@pytest.mark.slow
def test_less_df_and_smoother_foil_lose_less() -> None:
    """Megtron 7(N) loses less than 370HR on the same order of layers, and HVLP less than standard foil."""

    def loss(family: str, foil: FoilGrade) -> float:
        line = LineGoal(name="x", target=DIFF_85, nyquist_ghz=16)
        goals = EDGE.model_copy(update={"laminates": (family,), "foil": foil, "lines": (line,)})
        return suggest(goals).ranked[0].worst_loss_db_per_inch

    assert loss("Megtron 7(N)", FoilGrade.HVLP) < loss("Megtron 7(N)", FoilGrade.STD) < loss("370HR", FoilGrade.STD)


def test_no_answer_says_what_fights() -> None:
    """24 layers in 1.57 mm with 2 oz planes cannot be built, and the answer has the thickness that can."""
    goals = Goals(
        layer_count=24,
        fast_layers=4,
        other_signal_layers=4,
        power_planes=4,
        power_copper_oz=2,
        thickness_mm=1.57,
        laminates=("Megtron 7(N)",),
    )
    found = suggest(goals)
    assert not found.ranked
    assert any("mm can be built, 1.57 mm wanted" in why for why in found.unreachable)


@pytest.mark.slow
def test_a_budget_that_is_too_small_is_a_fault_with_its_loss() -> None:
    """A loss budget that no laminate meets leaves no answer; the nearest one says what it loses."""
    line = LineGoal(name="long", target=DIFF_85, nyquist_ghz=16, longest_mm=1000, loss_budget_db=3)
    found = suggest(EDGE.model_copy(update={"lines": (line,)}))
    assert not found.ranked
    assert found.nearest is not None
    assert "over 1000 mm, 3 dB allowed" in found.unreachable[0]


@pytest.mark.slow
def test_the_caller_judges() -> None:
    """A clause that the caller finds unmet is a fault of the candidate."""
    found = suggest(EDGE, judge=lambda _: [("edge.x", False, "not like this")])
    assert not found.ranked
    assert "edge.x: not like this" in found.unreachable


def test_tg_by_dma_counts_fifty_degrees_less() -> None:
    """220 degrees by DMA prove 170 by DSC, as in a check, and nothing above: the laminate is left out, with why."""
    goals = EDGE.model_copy(update={"laminates": ("Megtron 8(N)",)})
    lost = [
        suggest(goals.model_copy(update={"tg_limit": TgLimit(min_c=c, method=TgMethod.DSC)})).lost for c in (170, 175)
    ]
    assert not any("Tg" in words for words in lost[0])
    assert "Megtron 8(N): no Tg by DSC is known, 175 degrees are needed" in lost[1]


def test_same_goals_same_answers() -> None:
    """The search is deterministic."""
    assert suggest(EDGE).model_dump_json() == answers("edge").model_dump_json()


def test_backdrill_follows_from_the_stub() -> None:
    """A high-speed layer needs a backdrill where the via below it is longer than the stub that is allowed."""
    best = answers("baseboard").ranked[0]
    layers = zip(best.candidate.copper, best.candidate.stubs_mm(), strict=True)
    assert best.backdrilled == tuple(row.name for row, stub_mm in layers if row.use == "fast" and stub_mm > 0.3)
    assert best.backdrilled


def test_planned_rows_keep_thickness_and_material() -> None:
    """The rows for the file have the same thickness, and sheets whose material finds its laminate."""
    candidate = answers("card").ranked[0].candidate
    planned = to_planned(candidate)
    assert planned.thickness_mm == pytest.approx(candidate.thickness_mm, abs=1e-4)
    assert len(planned.copper_names) == 16
    texts = {p.material for r in planned.rows for p in r.plies if p.material}
    assert all(catalogue().find(t).laminate is not None for t in texts)


def test_a_laminate_without_constructions_offers_nothing() -> None:
    """RO4350B has neither prepreg rows nor cores in the catalogue: nothing is invented for it."""
    assert prepregs_of("RO4350B") == cores_of("RO4350B") == ()
    found = suggest(EDGE.model_copy(update={"laminates": ("RO4350B",)}))
    assert found.unreachable == ("RO4350B: the catalogue has no prepreg rows and no core thicknesses of RO4350B",)


@pytest.mark.parametrize(
    "wrong",
    [{"layer_count": 7}, {"thickness_mm": -1.0}, {"drill_mm": 0.0}, {"build_ups": 2, "max_laminations": 2}],
)
def test_goals_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    """Impossible goals are an error that says what to give."""
    with pytest.raises(ConfigError) as error:
        Goals.model_validate(wrong)
    assert error.value.next_step


def test_too_many_layers_for_the_count_say_how_many_are_needed() -> None:
    """Eight high-speed layers between grounds do not fit into ten layers."""
    with pytest.raises(ConfigError, match="need 20 layers, not 10"):
        orders(Goals(layer_count=10, fast_layers=8))


def test_where_no_order_keeps_the_weights_of_signal_layers_that_is_the_reason() -> None:
    """A core build puts each signal layer on a core with a power plane of 1 oz; laminates of no data are innocent."""
    goals = Goals(layer_count=8, other_signal_layers=4, power_planes=2, build="core", build_rules=RULES)
    found = suggest(goals)
    assert not found.ranked
    assert found.unreachable == ("a signal layer would take the weight of the plane on its core",)
    assert "power copper" in {one.goal for one in found.relaxations}


@pytest.mark.parametrize(("build_ups", "gaps"), [(1, "pcpcpcp"), (2, "pppcppp"), (3, "pppcppp")])
def test_build_ups_stand_on_cores_where_foil_would_make_a_signal_layer_heavy(build_ups: int, gaps: str) -> None:
    """O G S P P S G O with 1 oz planes: with one build-up, S would share a core with P; two put P on P."""
    goals = Goals(layer_count=8, other_signal_layers=4, power_planes=2, build_ups=build_ups, build_rules=RULES)
    found = suggest(goals)
    assert found.ranked
    for one in found.ranked:
        candidate = one.candidate
        assert (candidate.order.layers, candidate.order.gaps) == ("OGSPPSGO", gaps)
        assert candidate.order.laminations == build_ups + (build_ups < 3)
        assert {(row.use, row.copper_oz) for row in candidate.copper} >= {("signal", 0.5), ("power", 1.0)}
        assert all(row.copper_oz == 0.5 for row in candidate.copper if row.use == "signal")
        assert_buildable(candidate, goals)


@pytest.mark.parametrize(
    ("fast", "power", "layers", "wanted"),
    [
        (0, 6, 12, {"OGPPGPPGPPGO"}),  # was PGPPPPGP, with another order of three planes in a row
        (2, 8, 18, {"OGFGPPGPPPPGPPGFGO"}),
        (8, 4, 26, {"OGFGFGFGFGPGPPGPGFGFGFGFGO", "OGPPGFGFGFGFGGFGFGFGFGPPGO"}),
        (8, 4, 24, {"OGFGFGFGFGPPPPGFGFGFGFGO"}),  # the layers hold no other
        (0, 4, 12, {"OGPGPGGPGPGO"}),
    ],
)
def test_power_planes_have_a_ground_next_to_them_where_the_layers_hold_one(
    fast: int, power: int, layers: int, wanted: set[str]
) -> None:
    """Planes between two others have neither plane capacitance nor a return path (Design007, April 2021, p. 37)."""
    found = orders(Goals(fast_layers=fast, power_planes=power, layer_count=layers))
    assert {order.layers for order in found} == wanted
    counts = {enclosed_power(order.layers) for order in found}
    assert len(counts) == 1


@pytest.mark.parametrize(
    ("layers", "lacking"),
    [
        ("OGPO", 0),
        ("OGPPGO", 0),
        ("OGSPPSGO", 2),
        ("OGPGGPGO", 0),
        ("OGFGPPPPGFGO", 2),
        ("OGSPSGGSPSGO", 2),
        ("OGSGSPPGSGSGO", 1),
    ],
)
def test_power_planes_without_a_ground_next_to_them_are_counted(layers: str, lacking: int) -> None:
    assert power_without_ground(layers) == lacking


@pytest.mark.parametrize("above", [False, True])
def test_ground_against_power_has_one_weight_on_either_side_of_the_core(above: bool) -> None:
    """Four layers with one power plane of 1 oz: the ground that mirrors it has 1 oz too, though 0.5 oz would do."""
    goals = Goals(layer_count=4, power_planes=1, power_above=above, power_copper_oz=1.0, thickness_mm=1.6)
    (order,) = orders(goals)
    assert order.layers == ("OPGO" if above else "OGPO")
    for candidate in closest(order, "370HR", goals):
        assert [row.copper_oz for row in candidate.copper] == [0.5, 1.0, 1.0, 0.5]
        assert_buildable(candidate, goals)
    assert {order.layers for order in orders(goals.model_copy(update={"layer_count": 6}))} == {"OGPPGO"}


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    fast=st.integers(0, 10),
    slow=st.integers(2, 8),
    power=st.integers(0, 8),
    ounces=st.sampled_from([0.5, 1.0, 2.0, 3.0]),
    build_ups=st.integers(0, 3),
    thickness=st.one_of(st.none(), st.floats(0.4, 5.0)),
    family=st.sampled_from(["370HR", "Megtron 6", "Tachyon 100G", "NP-155F", "RO4350B"]),
)
@example(fast=0, slow=2, power=1, ounces=2.0, build_ups=0, thickness=None, family="Megtron 6")
def test_random_goals_give_sound_stackups_or_a_reason(
    *, fast: int, slow: int, power: int, ounces: float, build_ups: int, thickness: float | None, family: str
) -> None:
    """Whatever is required: a stackup that can be built, nothing, or an error with a next step."""
    goals = Goals(
        fast_layers=fast,
        other_signal_layers=slow,
        power_planes=power,
        power_copper_oz=ounces,
        build_ups=build_ups,
        thickness_mm=thickness,
    )
    try:
        found = orders(goals)
    except StackwrightError as error:
        assert error.next_step
        return
    assert found
    for order in found:
        assert is_sound(order.layers)
        assert order.layers.count("F") >= fast
        assert order.layers.count("P") >= power
    for candidate in closest(found[0], family, goals):
        assert_buildable(candidate, goals)


@pytest.mark.parametrize("thickness_mm", [1.6, 2.4, None])
@pytest.mark.parametrize(
    "layers",
    [
        {"layer_count": 8, "power_planes": 2, "other_signal_layers": 4},
        {"layer_count": 12, "power_planes": 2, "other_signal_layers": 6},
        {"layer_count": 12, "power_planes": 2, "other_signal_layers": 4, "fast_layers": 2},
    ],
    ids=str,
)
def test_signal_layers_without_a_goal_can_carry_50_ohm_as_well(
    layers: dict[str, int], thickness_mm: float | None
) -> None:
    """A trace of 50 ohm is no narrower than 0.075 mm, what the best fabs etch; it was 0.042 mm, or none at all."""
    goals = Goals.model_validate({**layers, "thickness_mm": thickness_mm, "build_rules": RULES})
    for family in ("370HR", "S1000-2M"):
        candidate = closest(orders(goals)[0], family, goals)[0]
        for index, row in enumerate(candidate.copper):
            if row.use == "signal":
                assert solve(candidate.site(index).section(0.075)).z0_ohm > 50, (family, row.name)


@pytest.mark.parametrize(("family", "ghz"), [("Megtron 8(N)", 10.0), ("Megtron 8(U)", 10.0), ("370HR", 1.0)])
def test_a_dk_is_said_to_be_at_the_frequency_at_which_it_is_known(family: str, ghz: float) -> None:
    """Panasonic tabulates Megtron 8 from 14 GHz: its Dk was called one at 1 GHz, on the page and in plans."""
    found = catalogue().get(family)
    assert found is not None
    for sold in (*cores_of(family), *prepregs_of(family)):
        assert sold.dk_ghz == ghz
        assert sold.dk == catalogue().find(sold.text).dk_at(ghz).value
    goals = EDGE.model_copy(update={"laminates": (family,), "lines": (), "hybrids": False})
    for candidate in closest(orders(goals)[0], family, goals)[:1]:
        assert {row.dk_ghz for row in candidate.dielectrics} == {ghz}
