"""What fabs press, as rules by copper weight; what constructions are, and what a stackup costs: by hand."""

from __future__ import annotations

import pytest

from drc_rules.requirements.fabs.builds import build_rules
from drc_rules.stackup_design.goals import GoalChoices, goals_for, selection_for
from stackup_lib.materials import catalogue
from stackup_lib.materials.pressing import FacingCopper, pressed_prepreg
from stackup_lib.synthesis import Goals, LaidOut, RoutedSize, suggest
from stackup_lib.synthesis.arrange import orders
from stackup_lib.synthesis.build_rules import BuildRules, GapNeeds, WeightRule
from stackup_lib.synthesis.constructions import (
    MOST_PLIES,
    THICKEST_CORE_MM,
    THINNEST_CORE_MM,
    cores_of,
    prepregs_of,
    why_nothing,
)
from stackup_lib.synthesis.cost import cost_of
from stackup_lib.synthesis.fill.choices import FillChoice, LaminatePair
from stackup_lib.synthesis.fill.closest import closest
from stackup_lib.synthesis.fill.combinations import lists_to_try
from stackup_lib.synthesis.laminate_pairs import LIKE_TG_C, plainer_than, tg_apart_c

RULES = BuildRules(
    weights=(
        WeightRule(oz=0.5, core_mm=0.05, plies_one=1, plies_both=1, plies_outer=1, gap_mm=0.06),
        WeightRule(oz=1.0, core_mm=0.1, plies_one=1, plies_both=2, plies_outer=1, gap_mm=0.1),
        WeightRule(oz=2.0, core_mm=0.2, plies_one=2, plies_both=3, plies_outer=4, gap_mm=0.15),
    ),
    heavy_oz=2.0,
    heavy_resin_pct=55.0,
)


@pytest.mark.parametrize(
    ("upper_oz", "lower_oz", "outer", "needs"),
    [
        (0.5, 0.5, False, GapNeeds(core_mm=0.05, plies=1, gap_mm=0.06)),
        (1.0, 0.5, False, GapNeeds(core_mm=0.1, plies=1)),
        (0.5, 1.0, False, GapNeeds(core_mm=0.1, plies=1)),
        (1.0, 1.5, False, GapNeeds(core_mm=0.1, plies=2, gap_mm=0.1)),  # 1.5 oz is of the row of 1 oz
        (2.0, 1.0, False, GapNeeds(core_mm=0.2, plies=2, resin_pct=55.0)),
        (2.0, 2.0, False, GapNeeds(core_mm=0.2, plies=3, gap_mm=0.15, resin_pct=55.0)),
        (0.5, 2.0, True, GapNeeds(core_mm=0.2, plies=4, resin_pct=55.0)),
        (1.0, 0.1, False, GapNeeds(core_mm=0.1, plies=1)),
        (0.3, 0.3, False, GapNeeds()),
    ],
)
def test_the_heavier_copper_says_what_a_dielectric_needs(
    upper_oz: float, lower_oz: float, outer: bool, needs: GapNeeds
) -> None:
    """Plies by one or both sides, a gap where both weigh the same, resin from the heavy weight on."""
    assert RULES.needs(upper_oz, lower_oz, outer=outer) == needs


def test_two_needs_are_met_by_the_larger_of_each() -> None:
    """Whichever of both asks for more."""
    one = GapNeeds(core_mm=0.1, plies=3, gap_mm=0.05, resin_pct=60.0)
    other = GapNeeds(core_mm=0.2, plies=1, gap_mm=0.08, resin_pct=0.0)
    both = GapNeeds(core_mm=0.2, plies=3, gap_mm=0.08, resin_pct=60.0)
    assert one.and_those(other) == other.and_those(one) == both


def test_plies_of_a_prepreg_add_their_cloth_and_a_core_has_none() -> None:
    """One to four plies of each row; the cloth of 2116 is that of IPC-4412, 0.094 mm."""
    rows = [sold for sold in prepregs_of("370HR") if " 2116 " in sold.text]
    texts = {sold.text for sold in rows}
    assert sorted(sold.plies for sold in rows) == sorted(list(range(1, MOST_PLIES + 1)) * len(texts))
    for sold in rows:
        assert sold.cloth_mm == pytest.approx(0.094 * sold.plies, abs=0.002)
    assert all(core.cloth_mm is None for core in cores_of("370HR"))
    assert all(THINNEST_CORE_MM <= core.cured_mm <= THICKEST_CORE_MM for core in cores_of("370HR"))


def test_what_cannot_be_built_of_has_no_prepregs_or_no_cores() -> None:
    """Of every laminate of the catalogue; some are of either kind."""
    built = {laminate.family: not why_nothing(laminate) for laminate in catalogue().laminates}
    assert built == {family: bool(prepregs_of(family) and cores_of(family)) for family in built}
    assert set(built.values()) == {True, False}


def test_a_prepreg_is_pressed_and_a_core_is_not() -> None:
    """Two plies between planes sink by the copper that they fill; what has too little resin has no thickness."""
    faces = (FacingCopper(thickness_mm=0.0305, coverage=0.8), FacingCopper(thickness_mm=0.0152, coverage=0.3))
    sold = next(s for s in prepregs_of("370HR") if s.plies == 2 and " 1080 " in s.text)
    assert sold.row is not None
    fact = pressed_prepreg(
        sold.text,
        style=sold.row.style,
        resin_content_pct=sold.row.resin_content_pct,
        faces=faces,
        plies=2,
        table=sold.row,
    )
    assert fact.value is not None
    filled_mm = 0.0305 * 0.2 + 0.0152 * 0.7
    assert sold.pressed_mm(faces) == pytest.approx(fact.value.thickness_mm, abs=1e-4)
    assert sold.pressed_mm(faces) == pytest.approx(sold.cured_mm - filled_mm, abs=0.002)
    core = cores_of("370HR")[0]
    assert core.pressed_mm(faces) == core.cured_mm
    thin = min((s for s in prepregs_of("370HR") if s.plies == 1), key=lambda s: s.cured_mm)
    assert thin.pressed_mm((FacingCopper(thickness_mm=0.1, coverage=0.1),) * 2) is None


def test_a_hybrid_takes_what_is_cheaper_and_bears_the_same_press() -> None:
    """First of the same maker; of every other laminate the class is lower and a Tg by one method near."""
    sound = list(catalogue().laminates)
    fast = catalogue().get("Tachyon 100G")
    assert fast is not None
    found = [catalogue().get(family) for family in plainer_than("Tachyon 100G", sound)]
    assert found
    assert found[0] is not None
    assert found[0].maker == fast.maker
    for other in found:
        assert other is not None
        apart = tg_apart_c(fast, other)
        assert apart is not None
        assert apart <= LIKE_TG_C
    assert plainer_than("370HR", [fast]) == []  # it costs more
    assert plainer_than("370HR", [one for one in sound if one.family == "370HR"]) == []  # itself is no cheaper


def test_the_index_is_layers_times_laminate_times_what_is_added() -> None:
    """FR-4 at 1 for 8 layers; two prices mixed by dielectrics, 5 % for a hybrid; aspect ratio and fine lines 10 %."""
    goals = Goals(layer_count=8, fast_layers=2)
    plain = closest(orders(goals)[0], "370HR", goals)[0]
    foils = {row.foil for row in plain.copper}
    assert foils == {""}
    assert cost_of(plain, 8.0, ()).index == 8.0
    assert cost_of(plain, 12.0, ()).index == pytest.approx(8 * 1.1, abs=0.005)
    assert cost_of(plain, 16.0, ("In1.Cu",)).index == pytest.approx(8 * 1.1 * 1.25, abs=0.005)
    assert cost_of(plain, 8.0, (), least_mm=0.09).index == pytest.approx(8 * 1.1, abs=0.005)
    assert cost_of(plain, 8.0, (), least_mm=0.1).index == 8.0
    pair = LaminatePair(fast="Tachyon 100G", rest="370HR")
    hybrid = closest(orders(goals)[0], pair, goals)[0]
    dear = sum(row.laminate == "Tachyon 100G" for row in hybrid.dielectrics)
    mean = (5.0 * dear + (7 - dear)) / 7
    assert cost_of(hybrid, 8.0, ()).index == pytest.approx(8 * mean * 1.05, abs=0.005)


def _choice(mm: float, plies: int) -> FillChoice:
    sold = prepregs_of("370HR")[0].model_copy(update={"plies": plies})
    return FillChoice(sold, {1: mm, 3: mm}, 2 * mm)


@pytest.mark.parametrize(
    ("offered", "kept"),
    [
        (((0.100, 3), (0.103, 1)), [1]),  # the same in one sheet
        (((0.100, 3), (0.110, 1)), [3, 1]),  # a tenth thicker is another answer
        (((0.068, 1), (0.070, 2)), [1, 2]),  # one sheet of 0.068 mm a fab asks about, two of 0.07 mm not
        (((0.100, 4), (0.120, 3)), [4, 3]),  # thinner than three sheets come
        (((0.090, 3), (0.105, 4), (0.120, 3)), [3, 3]),  # four sheets between what three and fewer make
        (((0.100, 4), (0.103, 4)), [4, 4]),  # nothing of fewer sheets
    ],
)
def test_fewer_sheets_stand_for_more(offered: tuple[tuple[float, int], ...], kept: list[int]) -> None:
    lists = lists_to_try({"outer": [_choice(*one) for one in offered]}, Goals(build_rules=build_rules()), widest=False)
    assert [choice.sold.plies for choice in lists["outer"]] == kept


def test_where_lines_are_routed_every_thickness_is_tried() -> None:
    """A twentieth of the thickness may be what keeps their impedance."""
    size = RoutedSize(layer=0, width_mm=0.1, gap_mm=None, low_ohm=45, high_ohm=55)
    routed = LaidOut(layers="OGGO", copper_oz=(1, 1, 1, 1), routed=(size,))
    goals = Goals(build_rules=build_rules(), laid_out=routed)
    offered = {"outer": [_choice(0.1, 3), _choice(0.103, 1)]}
    assert len(lists_to_try(offered, goals, widest=False)["outer"]) == 2


@pytest.mark.parametrize("profile", ["training", "training-h100", "inference-sxm-oam"])
def test_no_suggestion_has_four_sheets_where_three_do(profile: str) -> None:
    """Four of 1027 between 2 oz planes were offered as a question to the fab."""
    chosen = GoalChoices(interfaces=("eth112g",))
    goals = goals_for(selection_for(profile, None, chosen), None, chosen).goals
    found = suggest(goals, limit=3).ranked
    assert found and max(row.plies for one in found for row in one.candidate.dielectrics) <= 3
