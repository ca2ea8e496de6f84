"""What decides among demands on laminate, foil, impedance and loss when a stackup is suggested."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.analysis.loss.laminate_demand import MaterialDemand, materials_for
from drc_rules.analysis.loss.loss_shares import CARD_EDGE
from drc_rules.facts.context import Context
from drc_rules.requirements.clauses import Clause, Limit, Severity, Source
from drc_rules.requirements.forms import load_form
from drc_rules.settings.goals_choices import GoalChoices
from drc_rules.stackup_design.goals_lines import GoalLines, lines_for
from drc_rules.stackup_design.goals_selection import selection_for
from stackup_lib.materials import FoilGrade
from stackup_lib.synthesis import DfLimit
from tests.support.small_boards.lossy_link import PCIE5, STACKUP, context, only_link, pad


def clause(kind: str, **limit: object) -> Clause:
    return Clause(
        id=f"t.{kind}",
        kind=kind,
        title="as the limit says",
        severity=Severity.WARNING,
        limit=Limit.model_validate(limit),
        source=Source(document="engineering", row="test"),
    )


# --- materials ---


def test_the_least_df_decides_and_keeps_its_own_frequency() -> None:
    """0.004 at 10 GHz, 0.002 at 14 GHz, and the low-loss class, whose border is 0.0075 at 10 GHz."""
    mid, strict = clause("laminate_df", max=0.004, decimals=3), clause("laminate_df", max=0.002, at_ghz=14, decimals=3)
    low = clause("laminate_class", at_least="low")

    assert materials_for([mid, strict, low]).df_limit == DfLimit(max=0.002, at_ghz=14, allowance_pct=10)
    assert materials_for([mid, low]).df_limit == DfLimit(max=0.004, at_ghz=10, allowance_pct=10)
    assert materials_for([low]).df_limit == DfLimit(max=0.0075, at_ghz=10)
    assert materials_for([]) == MaterialDemand(None, (), None, ())


def test_a_laminate_is_named_where_it_meets_every_clause_by_name_class_or_df() -> None:
    """370HR is standard, FR408HR mid, Megtron 6 very low; a name alone will do, for the clause that names it."""
    low = clause("laminate_class", at_least="low")
    named = clause("laminate_class", at_least="very-low", named=("FR408HR",))
    df = clause("laminate_df", max=0.005, at_ghz=10, decimals=3)

    by_class, by_name = set(materials_for([low]).named), set(materials_for([named]).named)
    both, by_df = set(materials_for([low, named]).named), set(materials_for([df]).named)

    assert "Megtron 6" in by_class & by_name & both & by_df
    assert "370HR" not in by_class | by_name | by_df
    assert "FR408HR" in by_name and "FR408HR" not in by_class | both
    assert both == by_class & by_name


def test_the_smoothest_foil_that_is_asked_for_decides() -> None:
    """RTF, VLP and LP: VLP; a foil clause without a grade requires none."""
    foils = [clause("foil", at_least=grade) for grade in ("RTF", "VLP", "LP")]

    found = materials_for([*foils, clause("foil"), clause("tg_min", min=180)])

    assert found.foil is FoilGrade.VLP
    assert found.clauses == (("foil of high-speed layers", "VLP or smoother", foils[1]),)
    assert materials_for([clause("foil")]).foil is None


# --- lines ---


def reason(found: GoalLines, goal: str) -> tuple[str, str, str]:
    (one,) = [each for each in found.reasons if each.goal == goal]
    return one.value, one.origin, one.source


def test_a_cards_lines_have_its_share_less_the_package() -> None:
    """9.5 dB of Gen5 and 8 dB of Gen4 from bump to finger, less 3 dB for the endpoint's package."""
    card = load_form("pcie-card")
    assert card.connector == CARD_EDGE
    choices = GoalChoices(longest_mm={"pcie5": 100, "pcie4": 150})

    five = lines_for(("pcie5",), card, None, GoalChoices(longest_mm={"pcie5": 100}))
    four = lines_for(("pcie4", "pcie5"), card, None, choices)

    assert five.goals[0].loss_budget_db == pytest.approx(6.5)
    assert [line.loss_budget_db for line in four.goals] == pytest.approx([5.0, 6.5])
    words, origin, source = reason(five, "PCIe Gen5 loss")
    assert words == "6.50 dB of lines (9.5 dB of add in card less 3 dB package)"
    assert origin == "clause" and "NVIDIA" in source


def test_a_memory_that_is_named_without_a_board_says_where_its_widths_come_from() -> None:
    """DDR5 sets no laminate; beside PCIe its widths are still not sought. An interface with lines says nothing so."""
    found = lines_for(("ddr5", "pcie5"), None, None, GoalChoices()).reasons
    said = {one.goal: one.value for one in found}
    command = "stackwright impedance --interface ddr5 --layer F.Cu --reference In1.Cu"  # an empty board has no planes
    assert said["DDR5-6400 widths"] == f"not sought: `{command}` finds them in the board's folder"
    assert sum(goal.endswith("widths") for goal in said) == 1


def test_without_a_form_factor_no_share_of_several_is_taken() -> None:
    """A card's or the system board's: it is not stated which, so loss only ranks."""
    found = lines_for(("pcie5",), None, None, GoalChoices(longest_mm={"pcie5": 100}))

    assert found.goals[0].loss_budget_db is None
    assert reason(found, "PCIe Gen5 loss")[2] == "--form NAME decides the board's share"


def test_a_length_is_asked_for_only_where_the_boards_share_is_known() -> None:
    """`--length nvlink5=MM` was promised to hold the lines to a share that no document states."""
    card, baseboard = load_form("pcie-card"), load_form("hgx")
    asked, open_ = (
        lines_for((one,), form, None, GoalChoices()) for one, form in (("pcie5", card), ("nvlink5", baseboard))
    )

    value, _, how = reason(asked, "PCIe Gen5 loss")
    assert (value, how) == (
        "ranks only: no length is known",
        "--length pcie5=MM holds it to the board's share of the loss",
    )
    assert reason(open_, "NVLink 5 (B200) loss")[::2] == ("ranks only", "no document states this board's share")


def test_the_length_of_a_goal_is_the_boards_longest_link_until_the_user_says_one(tmp_path: Path) -> None:
    """100 mm are routed; 42 mm are said; the share is the form factor's, and without one a missing fact."""
    (tmp_path / "open").mkdir()
    ctx, unsaid = context(tmp_path, form="pcie-card"), context(tmp_path / "open")

    routed = lines_for(("pcie5",), None, ctx, GoalChoices())
    said = lines_for(("pcie5",), None, ctx, GoalChoices(longest_mm={"pcie5": 42}))
    open_ = lines_for(("pcie5",), None, unsaid, GoalChoices())

    assert (routed.goals[0].longest_mm, routed.goals[0].loss_budget_db) == (100.0, 6.5)
    assert reason(routed, "PCIe Gen5 length") == ("100 mm", "board", "its longest link")
    assert (said.goals[0].longest_mm, said.goals[0].loss_budget_db) == (42.0, 6.5)
    assert reason(said, "PCIe Gen5 length") == ("42 mm", "user", "your choice")
    assert (open_.goals[0].longest_mm, open_.goals[0].loss_budget_db) == (100.0, None)
    assert reason(open_, "PCIe Gen5 loss")[2].endswith("is not known")


def through_vias(folder: Path, core_mm: float = 0.6) -> Context:
    """A link over two through vias to In1 and back: below it their stubs go on to the other side."""
    track = {"net": "/PCIE_TX0_P", "width_mm": 0.2}
    return context(
        folder,
        form="pcie-card",
        stackup=STACKUP.format(mm=0.1).replace("core 1.2", f"core {core_mm}"),
        planes={"In2.Cu": "GND"},
        tracks=[
            {**track, "layer": "F.Cu", "path_mm": [[5, 10], [40, 10]]},
            {**track, "layer": "In1.Cu", "path_mm": [[40, 10], [70, 10]]},
            {**track, "layer": "F.Cu", "path_mm": [[70, 10], [105, 10]]},
        ],
        vias=[{"net": "/PCIE_TX0_P", "at_mm": [x, 10]} for x in (40, 70)],
    )


def test_what_the_vias_of_the_worst_link_lose_is_no_share_of_its_lines(tmp_path: Path) -> None:
    """As much as a check finds that they lose: its loss of the link in all, less what lines of that length lose."""
    ctx = through_vias(tmp_path)
    link = only_link(ctx)
    vias_db = link.total_db.nominal - sum(s.length_mm * s.loss.total_db_per_mm.nominal for s in link.sections)
    assert 0.2 < vias_db < 6.5

    found = lines_for(("pcie5",), None, ctx, GoalChoices())

    assert found.goals[0].loss_budget_db == pytest.approx(9.5 - 3 - vias_db, abs=5e-4)
    words, _, _ = reason(found, "PCIe Gen5 loss")
    assert words.endswith(f"(9.5 dB of add in card less 3 dB package less {vias_db:.2f} dB vias)")


def test_stubs_that_are_to_be_backdrilled_take_nothing(tmp_path: Path) -> None:
    """The stubs are 0.75 mm long: they stay where 1 mm is allowed, and leave the barrels where 0.5 mm are."""
    ctx = through_vias(tmp_path)
    link = only_link(ctx)

    budget = {mm: lines_for(("pcie5",), None, ctx, GoalChoices(), mm).goals[0].loss_budget_db for mm in (None, 1, 0.5)}

    assert budget[1] == budget[None] == pytest.approx(6.5 - link.holes_db.nominal, abs=5e-4)
    assert budget[0.5] == pytest.approx(6.5 - link.holes.rid_db.nominal, abs=5e-4)
    assert link.holes.rid_db.nominal < link.holes_db.nominal


def test_where_the_vias_alone_take_the_share_loss_only_ranks_and_says_why(tmp_path: Path) -> None:
    """4 mm of core: the stubs resonate below 16 GHz, where no laminate helps. With backdrills one does."""
    ctx = through_vias(tmp_path, core_mm=4.0)
    assert only_link(ctx).holes_db.nominal > 6.5

    found = lines_for(("pcie5",), None, ctx, GoalChoices())

    assert found.goals[0].loss_budget_db is None
    value, origin, why = reason(found, "PCIe Gen5 loss")
    assert (value, origin) == ("ranks only", "assumption")
    assert why.startswith("the vias of its worst link alone lose ")
    assert "of 9.5 dB of add in card less 3 dB package: backdrill them" in why
    drilled = lines_for(("pcie5",), None, ctx, GoalChoices(), 0.5)
    assert 0 < (drilled.goals[0].loss_budget_db or 0) < 6.5


def test_vias_of_which_nothing_is_known_are_said_not_to_count(tmp_path: Path) -> None:
    """The tracks end 5 mm before the connector: no way from end to end, so no hole is known to be on it."""
    ctx = context(tmp_path, form="pcie-card", parts=[pad(5, "U1"), pad(110, "J1")])

    words, _, _ = reason(lines_for(("pcie5",), None, ctx, GoalChoices()), "PCIe Gen5 loss")

    assert words.startswith("6.50 dB of lines")
    assert ", vias not counted: " in words and "/PCIE_TX0_P" in words


@pytest.mark.parametrize("more,expected", [(("/PCIE_TX2_P",), 55.0), ((), 45.0)])
def test_the_impedance_that_most_nets_ask_for_is_the_goal(
    more: tuple[str, ...], expected: float, tmp_path: Path
) -> None:
    """45 ohm of one net, 55 ohm of two; of as many nets the lower impedance."""
    nets = ("/PCIE_TX1_P", *more)
    declared = '[[impedance]]\nnets = {nets}\nohm = {ohm}\nkind = "single"\n'
    config = PCIE5 + declared.format(nets='["/PCIE_TX0_P"]', ohm=45) + declared.format(nets=str(list(nets)), ohm=55)
    names = ("/PCIE_TX0_P", "/PCIE_TX1_P", "/PCIE_TX2_P")
    tracks = [
        {"net": net, "layer": "F.Cu", "width_mm": 0.2, "path_mm": [[5, 10 + 5 * k], [105, 10 + 5 * k]]}
        for k, net in enumerate(names)
    ]

    found = lines_for(("pcie5",), None, context(tmp_path, config, tracks=tracks, parts=[pad(5, "U1")]), GoalChoices())

    assert [line.target.ohm for line in found.goals] == [expected]
    assert reason(found, "PCIe Gen5 impedance")[1] == "board"


def test_every_fast_family_takes_two_layers_and_nvlink_what_its_clause_says() -> None:
    """Two of PCIe and six of NVLink; two generations of a family count once; a clause below two changes nothing."""
    both = lines_for(("pcie5", "nvlink5"), None, None, GoalChoices())
    pcie = lines_for(("pcie4", "pcie5"), None, None, GoalChoices())

    assert both.fast_layers([clause("fast_layers", min=6), clause("fast_layers", min=4)]) == 8
    assert both.fast_layers([clause("fast_layers", min=1)]) == 4
    assert both.fast_layers([clause("fast_layers")]) == 4
    assert pcie.fast_layers([clause("fast_layers", min=6)]) == 2


# --- selection ---


def test_the_strictest_minimum_of_a_kind_is_taken_and_those_without_one_are_not() -> None:
    """A B200 baseboard requires 24 layers; nothing requires a minimum number of a kind without a source."""
    found = selection_for("training-b200", None)

    largest = found.largest("layer_count")
    assert largest is not None and largest.limit.min == 24
    assert found.largest("foil") is None


def test_what_is_said_of_a_family_takes_the_place_of_the_profiles() -> None:
    """PCIe Gen5 cards by default, Gen4 when that is said; without a profile only what is said."""
    assert selection_for("inference-pcie", None).interfaces == ("pcie5",)
    assert selection_for("inference-pcie", None, GoalChoices(interfaces=("pcie4",))).interfaces == ("pcie4",)
    assert selection_for(None, None, GoalChoices(interfaces=("pcie4",))).interfaces == ("pcie4",)
    assert selection_for(None, None).interfaces == ()


def test_a_df_limit_is_compared_without_rounding() -> None:
    """0.0024 was 0.002 to three decimals; 10 % are allowed above a stated limit, nothing above a class border."""
    stated, border = DfLimit(max=0.002, allowance_pct=10), DfLimit(max=0.003)

    assert [stated.is_met_by(df) for df in (0.002, 0.0021, 0.0022, 0.00221, 0.0024)] == [True, True, True, False, False]
    assert [border.is_met_by(df) for df in (0.003, 0.0031)] == [True, False]
