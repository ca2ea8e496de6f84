"""Goals of a stackup: every number comes from a clause, the board, the user, or says that it is assumed."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.engine.check import find_config
from drc_rules.facts.declared import Overrides
from drc_rules.requirements.forms import forms
from drc_rules.requirements.profiles.profile import profile_names
from drc_rules.settings.config import Config, parse_config
from drc_rules.settings.goals_choices import laminate_family
from drc_rules.stackup_design.goals import From, GoalChoices, GoalsFound, goals_for, project_of, selection_for
from drc_rules.stackup_design.stackup_candidate import candidate_of
from stackup_lib.core.errors import ConfigError
from stackup_lib.core.facts import MissingFact
from stackup_lib.kicad import read_board
from stackup_lib.materials import FoilGrade
from stackup_lib.synthesis import CandidateStackup
from stackup_lib.synthesis.arrange import orders, power_without_ground
from tests.support.boards import BOARDS, board_file
from tests.support.each import each
from tests.support.mini import mini_file


def goals_of(profile: str | None, form: str | None = None, **choices: object) -> GoalsFound:
    """Goals without a board."""
    chosen = GoalChoices.model_validate(choices)
    return goals_for(selection_for(profile, form, chosen), None, chosen)


def origin_of(found: GoalsFound, goal: str) -> tuple[From, str]:
    """Who says a goal, and where."""
    (reason,) = [reason for reason in found.reasons if reason.goal == goal]
    return reason.origin, reason.source


def candidate(board: str) -> CandidateStackup:
    """The stackup of a fixture board."""
    folder = BOARDS / board
    path = folder / f"{board}.kicad_pcb"
    return candidate_of(project_of(read_board(path), find_config(path, None), Overrides()).context)


def test_b200_goals_are_the_numbers_of_its_clauses() -> None:
    """A B200 baseboard requires 24 layers, 2 oz planes, Df 0.002 at 10 GHz or Megtron 7, VLP foil, 0.125 mm stubs."""
    goals = goals_of("training-b200").goals
    assert (goals.layer_count, goals.power_copper_oz, goals.max_stub_mm) == (24, 2.0, 0.125)
    assert goals.df_limit is not None and (goals.df_limit.max, goals.df_limit.at_ghz) == (0.002, 10.0)
    assert goals.foil is FoilGrade.VLP and goals.fast_layers >= 6
    assert goals.tg_limit is not None and goals.tg_limit.min_c == 170
    assert "training.tg.preferred" in goals.preferred_clauses and goals.rank_by == "loss"
    assert "Megtron 7" in " ".join(goals.named_laminates)


def test_a_workload_alone_is_built_for_the_links_that_its_boards_carry() -> None:
    """Not for plain FR-4; and what the user names takes their place."""
    alone = goals_of("training")
    assert set(alone.interfaces.values()) == {"nvlink5", "pcie6"}
    assert alone.goals.df_limit is not None and alone.goals.fast_outside
    assert any(reason.goal == "links" and reason.origin is From.ASSUMPTION for reason in alone.reasons)
    named = goals_for(selection_for("training", None, choices := GoalChoices(interfaces=("eth224g",))), None, choices)
    assert set(named.interfaces.values()) == {"eth224g"}
    assert named.goals.fast_layers >= 6 and named.goals.max_stub_mm is not None


def test_the_build_follows_form_and_supply() -> None:
    """A universal baseboard is stiff and insulates its 54 V; a card is neither."""
    ubb = goals_for(selection_for("training-b200", "ubb")).goals
    assert ubb.least_thickness_mm == 3.0 and ubb.power_gap_mm == 0.1
    assert ubb.drill_mm * ubb.max_aspect_ratio >= 3.0
    card = goals_for(selection_for("inference-pcie", None)).goals
    assert card.least_thickness_mm is None and card.power_gap_mm is None
    assert card.pair_pitch_mm == 0.25


def test_outer_links_are_the_users_to_decide() -> None:
    """Without them an outer dielectric may be plain."""
    choices = GoalChoices(fast_outside=False)
    found = goals_for(selection_for("inference-pcie", None, choices), None, choices)
    assert not found.goals.fast_outside and not found.judge.fast_outside
    assert all(line.where == "stripline" for line in found.goals.lines)


@pytest.mark.slow
@each(form=[None, *sorted(forms())], profile=profile_names())
def test_every_profile_in_every_form_gives_goals_that_can_be_laid_out(profile: str, form: str | None) -> None:
    """Any profile in any form gives layers that fit their number, and a source next to each goal."""
    found = goals_of(profile, form)
    assert orders(found.goals)
    assert all(reason.source and reason.value for reason in found.reasons)
    names = [reason.goal for reason in found.reasons]
    assert len(names) == len(set(names))


def test_an_assumption_says_that_it_is_one() -> None:
    """What no clause, board or user states is listed as assumed; what a clause states names the clause."""
    found = goals_of("training-b200")
    assert origin_of(found, "power planes")[0] is From.ASSUMPTION
    assert origin_of(found, "drill")[0] is From.ASSUMPTION
    origin, source = origin_of(found, "power copper")
    assert origin is From.CLAUSE and source.startswith("training.copper.min: ")


@pytest.mark.parametrize(
    ("profile", "layers", "planes"),
    [
        ("training-b200", None, "2, not 4"),
        ("training-b200", 26, "4"),
        ("training-b200", 28, "4"),
        ("training-nvswitch", None, "4"),
        ("inference", 14, "2"),
        ("edge", 10, "2"),
    ],
)
def test_power_planes_that_are_assumed_have_a_ground_next_to_them(
    profile: str, layers: int | None, planes: str
) -> None:
    """On 24 layers four of them lay in a row, and on 28 and 32 layers more signal layers took their grounds."""
    found = goals_of(profile, layers=layers)
    assert {power_without_ground(order.layers) for order in orders(found.goals)} == {0}
    assert [one.value for one in found.reasons if one.goal == "power planes"] == [planes]
    assert "grounds" not in [reason.goal for reason in found.reasons]


@pytest.mark.parametrize(
    ("oz", "cure"), [(1.7, "1 or 2 oz"), (0.1, "0.25 oz"), (2.5, "2 or 3 oz"), (0.6, "0.5 or 1 oz"), (3.9, "3 or 4 oz")]
)
def test_a_weight_that_no_foil_has_is_refused(oz: float, cure: str) -> None:
    """1.7 oz made planes of 51.9 um, which the check of the board then found to match no foil."""
    with pytest.raises(ConfigError, match=f"power copper of {oz:g} oz") as error:
        goals_of("edge", power_copper_oz=oz)
    assert error.value.next_step == f"give {cure}"


@pytest.mark.parametrize("oz", [1 / 3, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0])
def test_weights_of_foils_are_taken(oz: float) -> None:
    """Those that are heavier than any in the catalogue as well."""
    assert goals_of("edge", power_copper_oz=oz).goals.power_copper_oz == oz


def test_power_planes_of_your_choice_stay_and_what_they_lack_is_said() -> None:
    """The layers hold no grounds for four; 26 do."""
    found = goals_of("training-b200", power_planes=4, layers=24)
    (said,) = [reason for reason in found.reasons if reason.goal == "grounds"]
    assert found.goals.power_planes == 4
    assert said.value == "2 of 4 power planes have none next to them"
    assert said.source == "the layers hold no more; --layers 26 gives each one"


@pytest.mark.parametrize(
    ("profile", "layers", "more"), [("inference-pcie", None, 14), ("edge", 8, 10), ("edge", 12, 14)]
)
def test_power_planes_between_another_and_a_signal_layer_are_said(profile: str, layers: int | None, more: int) -> None:
    """`S P P S`: two power planes that face each other, with a signal layer on the other side, have no ground."""
    found = goals_of(profile, layers=layers)
    assert {power_without_ground(order.layers) for order in orders(found.goals)} == {2}
    (said,) = [reason for reason in found.reasons if reason.goal == "grounds"]
    assert said.origin is From.ASSUMPTION
    assert said.value == "2 of 2 power planes have none next to them"
    assert said.source == f"signal layers have their place; --layers {more} gives each one"
    enough = goals_of(profile, layers=more)
    assert {power_without_ground(order.layers) for order in orders(enough.goals)} == {0}


def test_the_gap_of_pairs_says_where_their_pitch_takes_it() -> None:
    """Width and gap of 0.25 mm together leave less than 1.5 times the width; without pairs there is no pitch."""
    pitched, free = goals_of("training-b200"), goals_of("edge")
    assert (pitched.goals.pair_pitch_mm, free.goals.pair_pitch_mm) == (0.25, None)
    words = [next(r.value for r in one.reasons if r.goal == "gap of pairs") for one in (pitched, free)]
    assert words == ["1.5 times the width, less where the two together reach 0.25 mm", "1.5 times the width"]


def test_the_user_wins_over_clauses_that_only_warn() -> None:
    """More layers, a thickness and a laminate of the user's own are taken, and said to be the user's."""
    found = goals_of("inference-pcie", layers=16, thickness_mm=1.8, laminates=("megtron6",))
    assert (found.goals.layer_count, found.goals.thickness_mm) == (16, 1.8)
    assert found.goals.laminates == ("Megtron 6",)
    assert origin_of(found, "layers")[0] is From.USER


def test_a_choice_that_breaks_an_error_clause_is_refused_with_the_clause() -> None:
    """Twelve layers for a B200 baseboard are refused, and the sentence names clause and number."""
    with pytest.raises(ConfigError, match=r"training\.layers\.min.*24"):
        goals_of("training-b200", layers=12)
    with pytest.raises(ConfigError, match=r"training\.copper\.min"):
        goals_of("training-b200", power_copper_oz=1.0)


def test_a_card_takes_its_thickness_from_the_form_factor() -> None:
    """A PCIe card is 1.42 to 1.73 mm thick, whichever clause requires it."""
    goals = goals_of("inference-pcie").goals
    assert goals.thickness_mm is not None
    low = goals.thickness_mm * (1 - goals.thickness_tolerance)
    high = goals.thickness_mm * (1 + goals.thickness_tolerance)
    assert (low, high) == pytest.approx((1.42, 1.73), abs=1e-4)


def test_a_length_brings_the_boards_share_of_the_loss() -> None:
    """An add-in card has 9.5 dB of PCIe Gen5, less package and connector; without a length there is no limit."""
    line = goals_of("inference-pcie", interfaces=("pcie5",), longest_mm={"pcie5": 100}).goals.lines[0]
    assert line.longest_mm == 100
    assert line.loss_budget_db is not None and 2 < line.loss_budget_db < 9.5
    assert goals_of("inference-pcie").goals.lines[0].loss_budget_db is None


def test_a_length_of_an_interface_that_is_not_there_is_an_error() -> None:
    """A length for NVLink on a PCIe card is a mistake, not a preference."""
    with pytest.raises(ConfigError, match="does not carry"):
        goals_of("inference-pcie", longest_mm={"nvlink5": 100})


def test_goals_of_the_settings_file_are_read_and_misspellings_corrected() -> None:
    """[goals] in the settings holds the user's choices; an unknown key says which was meant."""
    assert parse_config("[goals]\nlayers = 16\n").goals.layers == 16
    with pytest.raises(ConfigError, match="layers"):
        parse_config("[goals]\nlayer = 16\n")
    with pytest.raises(ConfigError, match="even"):
        parse_config("[goals]\nlayers = 15\n")


def test_an_unknown_laminate_says_which_is_nearest() -> None:
    """A laminate that the catalogue does not know is refused with the nearest; generic FR4 cannot be ordered."""
    with pytest.raises(ConfigError, match="Tachyon 100G"):
        laminate_family("Tachyn 100G")
    with pytest.raises(ConfigError, match="a kind of laminate, not a product"):
        laminate_family("FR4")
    with pytest.raises(ConfigError, match=r"may mean several; name one: Megtron 4, .*Megtron 7\(N\)"):
        laminate_family("megtron")
    assert laminate_family("megtron 6") == "Megtron 6"


def test_a_fixture_board_that_fits_is_judged_fit_as_a_candidate() -> None:
    """The stackup of a board that the check finds fit meets every clause as a candidate too."""
    found = goals_of("inference-pcie")
    judged = found.judge(candidate("inference_pcie_gen5_fit"))
    assert judged and [words for clause, met, words in judged if not met] == []
    assert {"inference.laminate.pcie5", "inference.foil.pcie5", "inference.tg.min"} <= {c for c, _, _ in judged}


@pytest.mark.parametrize(
    ("board", "profile", "clause"),
    [
        ("inference_pcie_low_tg", "inference-pcie", "inference.tg.min"),
        ("training_b200_lossy_prepreg", "training-b200", "training.df.nvlink5"),
        ("training_b200_ed_foil", "training-b200", "training.foil.nvlink5"),
        ("training_b200_thin_power_copper", "training-b200", "training.copper.min"),
        ("training_b200_too_few_layers", "training-b200", "training.layers.min"),
    ],
)
def test_the_judge_finds_what_the_check_finds(board: str, profile: str, clause: str) -> None:
    """A stackup with one seeded fault fails the clause of that fault as a candidate."""
    unmet = [one for one, met, _ in goals_of(profile).judge(candidate(board)) if not met]
    assert clause in unmet


def test_a_foil_that_is_not_declared_is_not_met() -> None:
    """A candidate without a foil grade on its high-speed layers cannot pass the clause that requires one."""
    stands = candidate("inference_pcie_gen5_fit")
    rows = tuple(row.model_copy(update={"foil": ""}) for row in stands.rows)
    judged = goals_of("inference-pcie").judge(stands.model_copy(update={"rows": rows}))
    (words,) = [words for clause, _, words in judged if clause == "inference.foil.pcie5"]
    assert "not verifiable" in words


def test_a_board_gives_its_own_numbers() -> None:
    """Layers, lengths and drill of a routed board are the board's, and say so."""
    path = board_file("inference_pcie_gen5_fit")
    project = project_of(read_board(path), find_config(path, None), Overrides())
    found = goals_for(selection_for("inference-pcie", None, None, project), project)
    assert found.goals.layer_count == project.board.layer_count
    assert origin_of(found, "layers")[0] is From.BOARD
    assert found.goals.lines[0].longest_mm is not None


def test_the_generation_of_a_boards_nets_can_be_said() -> None:
    """Without settings the PCIe generation is unknown; named with the goals, its routed nets are of that generation."""
    path = board_file("inference_pcie_gen5_fit")
    board = read_board(path)
    unsaid = project_of(board, Config(), Overrides())
    said = project_of(board, Config(), Overrides(), ("pcie4",))
    assert "pcie4" not in unsaid.context.assignment.interfaces()
    assert len(said.context.nets_of("pcie4")) > 0


def test_an_impedance_that_the_board_asks_for_is_the_goal() -> None:
    """A net class named after 92 ohm beats what the standard's boards usually have."""
    path = board_file("inference_pcie_gen5_fit")
    config = parse_config(
        '[[interface]]\nis = "pcie5"\nnet_classes = ["85Ohm-diff_PCIE"]\n'
        '[[impedance]]\nnet_classes = ["85Ohm-diff_PCIE"]\nohm = 92\nkind = "differential"\n'
    )
    project = project_of(read_board(path), config, Overrides())
    found = goals_for(selection_for("inference-pcie", None, None, project), project)
    (line,) = [
        one for one in found.goals.lines if one.where == "stripline" and found.interfaces.get(one.name) == "pcie5"
    ]
    assert line.target.ohm == 92
    assert origin_of(found, "PCIe Gen5 impedance")[0] is From.BOARD


def test_a_default_stackup_is_no_candidate() -> None:
    """KiCad's untouched default declares nothing, so nothing can be changed about it."""
    with pytest.raises(MissingFact, match="untouched default"):
        candidate("default_stackup")


def test_choices_of_the_command_line_win_over_the_settings() -> None:
    """What is said twice is taken from the command line, the rest from the settings."""
    merged = GoalChoices(layers=16).over(GoalChoices(layers=12, thickness_mm=1.6))
    assert (merged.layers, merged.thickness_mm) == (16, 1.6)
    assert Config().goals == GoalChoices()


def test_build_ups_are_those_of_the_boards_microvias() -> None:
    """A 2-N-2 board is suggested 2-N-2, its own stackup counts as pressed three times; the user's word wins."""
    path = board_file("inference_hdi_2n2_fit")
    project = project_of(read_board(path), find_config(path, None), Overrides())
    selection = selection_for("inference-pcie", None, None, project)
    found = goals_for(selection, project)
    assert found.goals.build_ups == 2
    assert origin_of(found, "build-ups") == (From.BOARD, "its microvias")
    assert candidate_of(project.context).order.laminations == 3
    assert goals_for(selection, project, GoalChoices(build_ups=0)).goals.build_ups == 0


def test_a_thickness_that_nobody_chose_is_no_goal(tmp_path: Path) -> None:
    """Four layers of KiCad's two-layer default make 4.69 mm, which no laminate here can be; 2.4 mm was chosen."""
    for thickness, wanted in ((4.69, 1.6), (2.4, 2.4)):
        path = mini_file(tmp_path, {"stackup": "default", "copper_layers": 4, "thickness_mm": thickness})
        project = project_of(read_board(path), Config(), Overrides())
        assert goals_for(selection_for(None, None, None, project), project).goals.thickness_mm == wanted


def test_more_layers_than_the_board_has_are_not_said_to_be_the_boards(tmp_path: Path) -> None:
    """A board of two layers was answered with four, "copper layers of the board"."""
    for layers, said in ((2, ("4, not the board's 2", From.ASSUMPTION)), (4, ("4", From.BOARD))):
        path = mini_file(tmp_path, {"stackup": "default", "copper_layers": layers})
        project = project_of(read_board(path), Config(), Overrides())
        found = goals_for(selection_for(None, None, None, project), project)
        assert found.goals.layer_count == 4
        (reason,) = [reason for reason in found.reasons if reason.goal == "layers"]
        assert (reason.value, reason.origin) == said


@pytest.mark.parametrize(
    ("layers", "planes", "origin", "wanted"),
    [
        (4, {"In1.Cu": "GND", "In2.Cu": "+3V3"}, From.BOARD, "OGPO"),
        (4, {"In1.Cu": "+3V3", "In2.Cu": "GND"}, From.BOARD, "OPGO"),
        (4, {"In1.Cu": "+5V", "In2.Cu": "+3V3"}, From.BOARD, "OGPO"),
        (4, {"In1.Cu": "GND", "In2.Cu": "GND"}, From.BOARD, "OGGO"),
        (8, {"In1.Cu": "GND", "In3.Cu": "GND", "In6.Cu": "GND"}, From.BOARD, "OGSGGSGO"),
        (6, {"In1.Cu": "GND", "In2.Cu": "+3V3"}, From.BOARD, "OGPPGO"),
        (6, {}, From.ASSUMPTION, "OGPPGO"),
        (4, {"F.Cu": "+3V3"}, From.ASSUMPTION, "OGGO"),
    ],
)
def test_a_board_keeps_its_layers_and_its_power_planes(
    tmp_path: Path, layers: int, planes: dict[str, str], origin: From, wanted: str
) -> None:
    """Four layers with ground and power in the middle are enough; where no plane is filled, the usual is assumed."""
    path = mini_file(tmp_path, {"copper_layers": layers, "planes": planes})
    project = project_of(read_board(path), Config(), Overrides())
    found = goals_for(selection_for(None, None, None, project), project)
    assert {order.layers for order in orders(found.goals)} == {wanted}
    assert origin_of(found, "power planes")[0] is origin
