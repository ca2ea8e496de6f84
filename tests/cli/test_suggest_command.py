"""`stackwright suggest`: answers that our own check passes, the least change of a board, a plan that can be applied."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from jsonschema import Draft202012Validator

from drc_rules.engine.check import check_board
from drc_rules.facts.declared import Overrides
from drc_rules.report.model import Headline, Report
from drc_rules.report.verdicts import Verdict
from drc_rules.stackup_design.goals_judge import is_of_rows
from drc_rules.stackup_design.plan_file import read_plan
from stackup_lib.core.errors import NotWrittenError, StackwrightError
from stackup_lib.synthesis import Evaluated, Goals, suggest
from stackwright.cli.app import run
from stackwright.commands.suggest.compare import _differences
from stackwright.commands.suggest.page import laminates_of
from stackwright.commands.suggest.words import shortened
from tests.support.boards import BOARDS, copied
from tests.support.kicad.kicad5_boards import whole_board
from tests.support.mini import mini_file

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "fixtures" / "schemas" / "suggestion-v1.json"
SMALL = ("suggest", "--profile", "edge", "--interface", "pcie3", "--limit", "2")


def failed(report: Report) -> list[str]:
    """Clauses that a stackup decides and that failed."""
    return [v.clause.id for v in report.verdicts if v.verdict is Verdict.FAILED and is_of_rows(v.clause)]


@pytest.mark.parametrize("profile", ["edge", "inference", "inference-workstation", "training", "training-nvswitch"])
def test_a_suggestion_begun_as_a_board_fails_no_clause_of_its_profile(profile: str, tmp_path: Path) -> None:
    """Profile to plan to new board to check: no stackup, material or copper clause fails."""
    plan, board = tmp_path / "a.stackwright-plan.toml", tmp_path / "a.kicad_pcb"
    assert run(["suggest", "--profile", profile, "--limit", "1", "--plan", str(plan)]) == 0
    assert run(["new", "--profile", profile, "--plan", str(plan), str(board)]) == 0
    assert failed(check_board(board)) == []


def test_the_table_states_dk_and_at_what_frequencies_it_and_df_hold(capsys: pytest.CaptureFixture[str]) -> None:
    """Widths rest on a Dk that the table did not show, and its Df had no frequency: a fab asks for both."""
    assert run([*SMALL, "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["answers"][0]["rows"]
    assert run(list(SMALL)) == 0
    lines = capsys.readouterr().out.splitlines()
    for row in rows:
        (line,) = [one for one in lines if re.match(rf"  {re.escape(row['name'])}  ", one)]
        if row["kind"] == "copper":
            assert not re.search(r"\d\.\d\d\s+[\d.]+ oz", line)
        else:
            assert f"  {row['dk']:.2f}" in line
    frequencies = {(row["dk_ghz"], row["df_ghz"]) for row in rows if row["kind"] in ("core", "prepreg")}
    assert frequencies == {(1.0, 10.0)}
    assert "  Dk at 1 GHz, by which widths are solved; Df at 10 GHz" in lines


def test_answers_are_drawn_with_widths_clauses_and_assumptions(capsys: pytest.CaptureFixture[str]) -> None:
    """The page shows the table, the first stackup, its lines and what was assumed; -v what it rests on."""
    assert run(list(SMALL)) == 0
    short = capsys.readouterr().out
    assert run([*SMALL, "-v"]) == 0
    out = capsys.readouterr().out
    for words in ("answers", "stackup 1", "In1.Cu", "PCIe Gen3 85 ohm on", "requirements", "assumed"):
        assert words in short
        assert words in out
    for words in ("Tg >= 130 C (edge)", "why others lost", "goals and where they come from"):
        assert words in out
        assert words not in short
    assert "edge.tg.min" not in short


def test_answers_of_different_foil_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    """Megtron 8 on RTF foil read as twice as lossy as Tachyon 100G, whose cores come with HVLP only."""
    assert run(["suggest", "--profile", "inference-pcie", "--format", "json"]) == 0
    answers = json.loads(capsys.readouterr().out)["answers"]
    foils = [{r["foil"] for r in one["rows"] if r["use"] == "fast"} for one in answers]
    assert {"RTF"} in foils and {"HVLP"} in foils
    assert run(["suggest", "--profile", "inference-pcie"]) == 0
    table = capsys.readouterr().out.split("stackup 1")[0]
    for index, (one, (foil,)) in enumerate(zip(answers, foils, strict=True), start=1):
        assert re.search(rf"^  {index}  {re.escape(' + '.join(one['laminates']))} +{foil} ", table, re.MULTILINE), table
    assert "new stackups have the plainest foil that the goals allow" in " ".join(table.split())


def test_answers_of_one_foil_have_no_column_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["suggest", "--profile", "training-b200"]) == 0
    table = capsys.readouterr().out.split("stackup 1")[0]
    assert "foil" not in table


@pytest.mark.parametrize(
    ("said", "size"),
    [(["--form", "pcie-fhhl"], (167.65, 111.15)), ([], None)],
    ids=["a form of its own", "its profile's"],
)
def test_the_next_command_runs_as_printed_and_keeps_the_form_factor(
    said: list[str], size: tuple[float, float] | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where the plan lies in a folder with a blank in its name."""
    folder = tmp_path / "my plans"
    folder.mkdir()
    plan, board = folder / "a.stackwright-plan.toml", folder / "board.kicad_pcb"
    assert run(["suggest", "--profile", "inference-pcie", *said, "--limit", "1", "--plan", str(plan)]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("  stackwright new "))
    words = shlex.split(line)
    assert words[words.index("--plan") + 1] == str(plan)
    assert ("--form" in words) == bool(said)

    assert run([*words[1:-1], str(board)]) == 0

    shown = " ".join(capsys.readouterr().out.split())
    assert (f"{size[0]} x {size[1]} mm" if size else "no size is published (PCIe add-in card") in shown


def test_the_same_question_gives_the_same_json_and_it_fits_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    """JSON is valid against the published schema, and equal for equal inputs."""
    assert run([*SMALL, "--json"]) == 0
    first = capsys.readouterr().out
    Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(json.loads(first))
    assert run([*SMALL, "--json"]) == 0
    assert capsys.readouterr().out == first


def test_costs_are_named_against_the_cheapest_answer(capsys: pytest.CaptureFixture[str]) -> None:
    """In JSON and in the table; the line below says what the first has over the second."""
    words = ["suggest", "--profile", "inference-pcie", "--form", "pcie-fhhl", "--limit", "3"]
    assert run([*words, "--json"]) == 0
    answers = json.loads(capsys.readouterr().out)["answers"]
    costs = [one["cost"] for one in answers]
    least = min(cost["index"] for cost in costs)
    assert len(costs) > 1
    for cost in costs:
        assert cost["more_pct"] == round(100 * (cost["index"] / least - 1))
        assert (cost["tier"] == "lowest") is (cost["more_pct"] == 0)
    assert run(words) == 0
    out = capsys.readouterr().out
    for cost in costs:
        assert (f"+{cost['more_pct']} % {cost['tier']}" if cost["more_pct"] else "lowest") in out
    line = next(line for line in out.splitlines() if "; 1 before 2: " in line)
    first, second = answers[:2]
    cheaper = round(100 * (first["cost"]["index"] / second["cost"]["index"] - 1))
    assert (f"{abs(cheaper)} % {'cheaper' if cheaper < 0 else 'more expensive'}" in line) is (cheaper != 0)
    less = first["loss_db_per_inch"] - second["loss_db_per_inch"]
    assert (f"{abs(less):.2f} dB/inch {'less' if less < 0 else 'more'}" in line) is (abs(less) >= 0.005)


def test_what_the_fab_is_to_be_asked_is_on_the_page_and_the_rest_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    """Terminal, JSON and HTML hold one report; only the terminal leaves out what is usual."""
    words = ["suggest", "--profile", "inference-pcie", "--form", "pcie-fhhl", "--limit", "2"]
    assert run([*words, "--json"]) == 0
    cam = json.loads(capsys.readouterr().out)["answers"][0]["cam"]
    asked = [item for item in cam if item["answer"] == "ask the fab"]
    assert {"thickness", "prepreg", "core", "prepreg count", "laminations", "aspect ratio", "impedance"} <= {
        item["topic"] for item in cam
    }
    assert run(words) == 0
    out = capsys.readouterr().out
    heading = f"{len(asked)}; -v adds what is usual" if asked else f"{len(cam)} others within usual limits"
    assert f"fab questions  {heading}" in out
    block = " ".join(out.partition("fab questions")[2].partition("goals  ")[0].split())
    for item in asked:
        assert item["topic"] in block
    assert ("none: all values" in block) is (not asked)
    assert run([*words, "--format", "html", "-o", "-"]) == 0
    page = capsys.readouterr().out
    assert f"{len(asked)} to ask, {len(cam) - len(asked)} within usual limits" in page
    assert all(item["topic"] in page for item in cam)


def test_more_layers_than_kicad_takes_are_refused() -> None:
    """Before anything is searched, with the number that is possible."""
    with pytest.raises(StackwrightError, match="--layers: cannot be 34; give at most 32"):
        run(["suggest", "--profile", "training", "--layers", "34"])


def test_goals_that_fight_give_exit_code_1_and_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    """24 layers with 2 oz planes in a card cannot be built: it says so, what conflicts, and what would help."""
    words = ["suggest", "--profile", "inference-pcie", "--layers", "24", "--power-oz", "2", "--laminate", "Megtron 6"]
    assert run(words) == 1
    out = capsys.readouterr().out
    assert "no stackup meets these goals" in out and "what would help" in out
    assert "a thickness of 1.575 mm" in out and "24 layers" in out


def test_a_low_tg_is_fixed_by_the_rows_that_have_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a board with one laminate that softens early that row alone is swapped; applied, the check passes."""
    board, plan = copied("inference_pcie_low_tg", tmp_path), tmp_path / "a.stackwright-plan.toml"
    assert "inference.tg.min" in failed(check_board(board))
    assert run(["suggest", str(board), "--limit", "1", "--plan", str(plan)]) == 0
    out = capsys.readouterr().out
    assert "dielectric 8 to 370HR" in out and "stackup then: 0 failed" in out and "widths stay" in out
    assert len(read_plan(plan).rule) == 0
    assert run(["apply", str(plan), str(board), "--write", "--change-stackup"]) == 0
    assert failed(check_board(board)) == []


def test_a_change_that_leaves_the_routing_short_is_not_called_good_for_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Traces of one net are 0.2 mm wide: the stackup has to change nothing, and the first line says what is left."""
    board = copied("inference_pcie_gen5_fit", tmp_path)
    text = board.read_text(encoding="utf-8")
    board.write_text(text.replace("(width 0.094)", "(width 0.2)", 4), encoding="utf-8")
    assert run(["suggest", str(board), "--limit", "2"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "all meet the requirements on the stackup; with answer 1 the board still misses others" in out
    assert "stackup then: routed lines failed, 17 of 17 met" in out
    assert "2 fewer routed sizes out of tolerance, 1 fewer laminate" in out


def test_the_board_is_held_against_the_same_requirements_as_the_answers(capsys: pytest.CaptureFixture[str]) -> None:
    """Information that rules nothing out, and lines that a new stackup has none of, are in neither count."""
    board = BOARDS / "training_b200_too_few_layers/training_b200_too_few_layers.kicad_pcb"
    assert run(["suggest", str(board), "--limit", "1"]) == 0
    out = capsys.readouterr().out
    assert "stackup now: 1 failed, 16 of 17 met\n" in out
    assert "\nrequirements  17 of 17 met\n" in out


def test_one_answer_is_not_called_the_first_of_several(capsys: pytest.CaptureFixture[str]) -> None:
    """One answer meets the requirements; of several the best is first, and costs are against the cheapest."""
    assert run(["suggest", "--profile", "edge", "--layers", "4", "--limit", "1"]) == 0
    one = capsys.readouterr().out
    assert "\n  1 answer; it meets the requirements on the stackup\n" in one
    assert "cost" not in one.split("\nanswers")[1].split("\nstackup 1")[0]
    assert run(["suggest", "--profile", "edge", "--layers", "4", "--limit", "2"]) == 0
    two = capsys.readouterr().out
    assert "\n  2 answers, best first; all meet the requirements on the stackup\n" in two
    assert "cost against the cheapest" in two.split("\nanswers")[1].split("\nstackup 1")[0]


def test_what_is_not_verifiable_is_not_called_met(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A laminate without a data sheet Dk: the first line counts the answers that meet all, the clause says why."""
    board = copied("missing_project", tmp_path)
    text = re.sub(r'\(material "[^"]*"\)', '(material "R-1566(W)")', board.read_text(encoding="utf-8"))
    board.write_text(text, encoding="utf-8")
    assert run(["suggest", str(board), "--profile", "edge", "--limit", "2"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "3 answers, changes of the board's own stackup first; 2 of them meet all the requirements" in out
    assert "Dk within 15 % of the laminate's range: not verifiable: data sheet Dk of R-1566(W)" in out
    assert "not met: not verifiable" not in out


def test_equally_thick_answers_are_not_called_thicker() -> None:
    """Two that differ by less than is shown; without high-speed lines they have no loss to be equal in."""
    one = suggest(Goals(layer_count=4, rank_by="cost", laminates=("370HR",)), limit=1).ranked[0]
    assert list(_differences(one, one)) == ["equal cost and thickness"]


@pytest.mark.parametrize(
    ("margin_db", "said"), [(1.004, "equal cost, loss and thickness"), (1.1, "0.10 dB less margin")]
)
def test_a_margin_that_is_shown_alike_is_no_difference(margin_db: float, said: str) -> None:
    """It was `0.00 dB more margin`."""
    alike = {"missed_wishes": (), "rerouted": 0, "laminations": 1, "backdrilled": (), "worst_loss_db_per_inch": 1.0}
    parts = {
        "cost": SimpleNamespace(index=1.0),
        "candidate": SimpleNamespace(laminates=("370HR",), thickness_mm=1.6, is_df_known=True),
    }
    one, other = (SimpleNamespace(**alike, **parts, least_margin_db=margin) for margin in (1.0, margin_db))
    assert list(_differences(cast(Evaluated, one), cast(Evaluated, other))) == [said]


@pytest.mark.parametrize(("wish", "has_loss"), [([], False), (["--interface", "pcie4"], True)])
def test_loss_is_a_column_where_there_is_any(
    wish: list[str], has_loss: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without high-speed lines it held nothing but dashes."""
    assert run(["suggest", "--profile", "edge", "--layers", "4", *wish, "--limit", "2"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert ("answers loss at the highest Nyquist frequency" in out) is has_loss
    assert ("laminates dB/inch" in out) is has_loss
    assert ("equal cost and loss" not in out) or has_loss


def test_a_rough_foil_is_fixed_by_a_foil(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a board with ED foil on one high-speed layer only the foil of that layer changes, in the settings alone.

    VLP is the least that is required; the other face of its core has HVLP, and so has the board that fits.
    """
    board, plan = copied("training_b200_ed_foil", tmp_path), tmp_path / "a.stackwright-plan.toml"
    before = board.read_bytes()
    assert run(["suggest", str(board), "--limit", "1", "--plan", str(plan)]) == 0
    assert " HVLP on In4.Cu" in capsys.readouterr().out
    assert run(["apply", str(plan), str(board), "--write"]) == 0
    assert board.read_bytes() == before
    report = check_board(board)
    assert failed(report) == []
    assert report.headline is Headline.FIT


def test_a_board_that_fits_needs_no_change(capsys: pytest.CaptureFixture[str]) -> None:
    """Of a board without a fault that comes first."""
    assert run(["suggest", str(BOARDS / "inference_pcie_gen5_fit"), "--limit", "1"]) == 0
    said = capsys.readouterr().out
    assert "nothing has to change" in said
    assert said.splitlines()[-1].split()[:2] == ["stackwright", "check"]  # the plan of answer 1 would change nothing
    assert "--pick" not in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "--profile"),
        (["--profile", "trainng"], "training"),
        (["--profile", "edge", "--length", "pcie5"], "pcie5=120"),
        (["--profile", "edge", "--laminate", "Megtrom 6"], "Megtron 6"),
        (["--profile", "edge", "--layers", "7"], "even number"),
        (["--profile", "training-b200", "--layers", "12"], "training.layers.min"),
    ],
)
def test_an_option_that_makes_no_sense_is_refused_with_a_fix(words: list[str], said: str) -> None:
    """What makes no sense is one sentence with the next step."""
    with pytest.raises(StackwrightError) as refused:
        run(["suggest", *words])
    assert said in str(refused.value) and "\n" not in str(refused.value)


def test_a_change_that_helps_in_part_has_a_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Too few layers stay too few; what the rows can fix is written by --pick 0, and applied it passes."""
    board, plan = copied("edge_unmirrored_copper", tmp_path), tmp_path / "a.stackwright-plan.toml"
    words = ["suggest", str(board), "--profile", "inference", "--limit", "1", "--pick", "0", "--plan", str(plan)]
    assert run(words) == 0
    assert "helps, and makes nothing worse" in capsys.readouterr().out
    before = failed(check_board(board, overrides=Overrides("inference")))
    assert run(["apply", str(plan), str(board), "--write", "--change-stackup"]) == 0
    assert set(before) == {"board.stackup.symmetry", "inference.layers.min", "inference.tg.preferred"}
    assert failed(check_board(board, overrides=Overrides("inference"))) == ["inference.layers.min"]


def test_there_is_no_plan_of_a_partial_change_where_none_is_offered(tmp_path: Path) -> None:
    """Without a board nothing can help in part."""
    plan = tmp_path / "a.stackwright-plan.toml"
    with pytest.raises(StackwrightError, match="helps in part"):
        run(["suggest", "--profile", "edge", "--pick", "0", "--plan", str(plan)])
    assert not plan.exists()


def test_a_board_that_apply_refuses_is_to_be_saved_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file of KiCad 5: `apply` changes none, and the page says so before it names the command."""
    old = tmp_path / "old.kicad_pcb"
    old.write_text(whole_board().text(), encoding="utf-8")
    plan = tmp_path / "stackup.stackwright-plan.toml"

    code = run(["suggest", str(old), "--profile", "edge", "--pick", "1", "--plan", str(plan)])

    said = capsys.readouterr().out
    saved = "in KiCad, open old.kicad_pcb and save it: apply changes files of KiCad 6 and later"
    assert code == 0
    assert saved in said
    assert said.index(saved) < said.index("stackwright apply")
    with pytest.raises(NotWrittenError, match="open the board in KiCad and save it"):
        run(["apply", str(plan), str(old)])


def test_a_pick_beyond_the_answers_writes_nothing(tmp_path: Path) -> None:
    """There is no twentieth answer, so there is no plan."""
    plan = tmp_path / "a.stackwright-plan.toml"
    with pytest.raises(StackwrightError, match="--pick 20"):
        run(["suggest", "--profile", "edge", "--pick", "20", "--plan", str(plan)])
    assert not plan.exists()


def test_a_pick_beyond_the_answers_draws_no_other_one(capsys: pytest.CaptureFixture[str]) -> None:
    """The first was drawn in its place, and the command for its plan then failed."""
    words = ["suggest", "--profile", "inference-pcie", "--laminate", "Megtron 8(U)", "--pick"]
    with pytest.raises(StackwrightError, match="--pick 3") as error:
        run([*words, "3"])
    assert "there is 1 answer; give 1" in str(error.value)
    assert run([*words, "1"]) == 0
    assert "stackup 1" in capsys.readouterr().out


def test_lists_of_layers_are_written_short() -> None:
    """Three dielectrics in a row are a range, a layer is named once, and words between stay."""
    long = "dielectric 2, dielectric 3, dielectric 4 and dielectric 9 to X; VLP on In2.Cu, In4.Cu and In2.Cu"
    assert shortened(long) == "dielectrics 2 to 4 and 9 to X; VLP on In2.Cu and In4.Cu"
    assert shortened("dielectric 8 to 370HR") == "dielectric 8 to 370HR"


STACKUP = """
F.Cu 0.035
prepreg 0.2 "370HR"
In1.Cu 0.0175
core 1.0 "370HR"
In2.Cu 0.0175
prepreg 0.2 "370HR"
B.Cu 0.035
"""


def test_a_miss_that_is_only_inferred_is_not_met_as_check_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The clause on routed impedance is an error, the finding of a pair known by its name a warning."""
    pair = {"nets": ["/PCIE_TX0_P", "/PCIE_TX0_N"], "layer": "F.Cu", "path_mm": [[5, 10], [60, 10]]}
    wide = {**pair, "width_mm": 0.08, "gap_mm": 0.5}
    board = mini_file(tmp_path, {"size_mm": [80, 40], "stackup": STACKUP, "planes": {"In1.Cu": "GND"}, "pairs": [wide]})

    verdicts = {v.clause.id: v.words for v in check_board(board, overrides=Overrides(profile="edge")).verdicts}
    run(["suggest", str(board), "--profile", "edge", "--limit", "1"])

    assert verdicts["board.impedance.routed"] == "not met"
    assert "not met: routed impedance within tolerance" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("core_mm", "words"),
    [
        (1.0, "add 4 pairs of layers in the middle, 12 in all, of thinner rows: as there now, they make 6.4"),
        (0.1, "with 0.0175 mm copper, as there now; "),
    ],
)
def test_layers_to_add_are_as_thick_as_those_there_only_where_they_can_be_drilled(
    core_mm: float, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Four layers to twelve with cores of 1 mm are 6.4 mm; a drill of 0.25 mm takes 3.75 mm."""
    stackup = STACKUP.replace("core 1.0", f"core {core_mm:g}")
    board = mini_file(tmp_path, {"size_mm": [80, 40], "stackup": stackup, "planes": {"In1.Cu": "GND"}})
    run(["suggest", str(board), "--profile", "inference", "--limit", "1"])
    out = " ".join(capsys.readouterr().out.split())
    assert "or lay out anew: add 4 pairs" in out
    assert words in out


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("4 layers OGGO, FR408HR", "FR408HR"),
        ("8 layers OGSPPSGO, Megtron 6(N) + 370HR", "Megtron 6(N) + 370HR"),
        ("4 layers OGGO of Megtron 8(U)", "Megtron 8(U)"),
        ("4 layers OGGO", "4 layers OGGO"),
        ("Meteorwave 1000", "Meteorwave 1000"),
    ],
)
def test_what_lost_is_called_by_its_laminates(name: str, shown: str) -> None:
    """Of a candidate: layers are the same for most."""
    assert laminates_of(name) == shown
