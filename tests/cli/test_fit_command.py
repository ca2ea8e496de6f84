"""`stackwright fit`: the same answers as a check of each workload, in the order of what the board is fit for."""

from __future__ import annotations

import json
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from drc_rules.analysis.power.rail_inputs import current_of
from drc_rules.analysis.stackup.forms_of_board import forms_of_size
from drc_rules.engine.check import check_board, find_config, prepare
from drc_rules.engine.decide import run as run_rules
from drc_rules.engine.headline import headline_of
from drc_rules.engine.missing_inputs import unproven
from drc_rules.engine.shared_results import Cases
from drc_rules.facts.context import Context
from drc_rules.facts.declared import Overrides, gather, purpose_of
from drc_rules.report.model import Headline
from drc_rules.report.verdicts import Verdict
from drc_rules.requirements.clauses import Severity
from drc_rules.requirements.profiles.profile import load_profile, profile_names
from drc_rules.rules.rule import all_rules
from drc_rules.settings.config import Config
from drc_rules.stackup_design.fitness import Fitness, FitnessReport, FormOrigin, fitness_of
from stackup_lib.core.errors import ConfigError
from stackup_lib.kicad import read_board
from stackwright.cli.app import run
from stackwright.commands.fit.changes import way_to
from stackwright.commands.fit.page import page_of
from stackwright.commands.fit.words import step, steps, to_go
from stackwright.text.page import plain_console
from tests.support.boards import BOARDS, board_file, copied

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "fixtures" / "schemas" / "fitness-v1.json"
LOW_TG, ED_FOIL = "inference_pcie_low_tg", "training_b200_ed_foil"
COMPARED = {
    LOW_TG: ("edge", "inference-pcie", "inference-sxm-oam"),
    ED_FOIL: ("edge", "training", "training-b200"),
    "edge_jetson_carrier_fit": profile_names(),
    "no_stackup": profile_names(),
}
"""Fixture boards, and workloads of which a check is made besides."""


def valid(text: str) -> dict[str, Any]:
    """JSON that fits the published schema."""
    data: dict[str, Any] = json.loads(text)
    Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(data)
    return data


@cache
def fitness(name: str) -> FitnessReport:
    """A fixture board against every workload."""
    path = board_file(name)
    return fitness_of(read_board(path), find_config(path, None))


def row_of(report: FitnessReport, profile: str) -> Fitness:
    """One workload of a report."""
    return next(row for row in report.rows if row.profile == profile)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "profiles"), COMPARED.items())
def test_every_workload_is_judged_as_on_its_own(name: str, profiles: tuple[str, ...]) -> None:
    """What is shared between workloads changes no verdict: headline, failed and open clauses are those of a check."""
    board, config = read_board(board_file(name)), find_config(board_file(name), None)
    for row in (row_of(fitness(name), profile) for profile in profiles):
        form = row.form if row.form_origin is not FormOrigin.SIZE else None
        context, requirements, _ = prepare(board, config, Overrides(row.profile, form))
        verdicts = run_rules(context, requirements.clauses, all_rules(), all_rules()).verdicts
        assert (row.headline, row.why) == headline_of(verdicts, profile=row.profile)
        own = [v for v in verdicts if v.has_rule]
        failed = {v.clause.id for v in own if v.verdict is Verdict.FAILED}
        waiting = {v.clause.id for v in unproven(verdicts)}  # errors that passed on a guess are open as well
        of_size = row.form_origin is FormOrigin.SIZE
        assert _of_board({one.clause for one in row.short}, of_size=of_size) == failed
        assert _of_board({clause for one in row.open for clause in one.clauses}, of_size=of_size) == waiting
        assert row.passed - sum(v.verdict is Verdict.PASSED for v in own) in ((0, 1, 2) if of_size else (0,))


def _of_board(clauses: set[str], *, of_size: bool) -> set[str]:
    """Clauses without those that a form factor adds, which only the outline suggests."""
    return {one for one in clauses if not (of_size and one.startswith("form."))}


def test_currents_of_one_workload_are_not_those_of_another() -> None:
    """A rail at 50 % duty draws its whole power in training; what requires that is not taken over."""
    rail = {"net": "+12V", "voltage_v": 12, "tdp_w": 120, "duty_pct": 50, "from": ["U1"], "to": ["U2"]}
    board, config = read_board(board_file(LOW_TG)), Config.model_validate({"rail": [rail]})
    said = Overrides()

    def amperes_of(ctx: Context) -> float:
        return current_of(ctx, config.rail[0])[0]

    cases = Cases(board, config, gather(board, config, said), purpose_of(board, config, said))
    inference, training = (cases.of(load_profile(name), None).context for name in ("inference", "training"))
    for context, amperes in ((inference, 5.0), (training, 10.0)):
        with context.recording() as used:
            assert context.get(amperes_of) == amperes
        assert set(used.choices) == {"workload"}
    with training.recording() as used:
        assert training.uses is inference.uses
    assert not used.choices


def test_every_shipped_workload_has_a_row_and_the_fit_ones_come_first() -> None:
    """Ten workloads, fit before not proven before not fit; among the unfit the fewest errors first.

    Those that forbid an interface of the board come after the others: it was made for something else.
    """
    rows = fitness(ED_FOIL).rows
    assert {row.profile for row in rows} == set(profile_names())
    order = [Headline.FIT, Headline.NOT_PROVEN, Headline.NOT_FIT]
    ranks = [order.index(row.headline) for row in rows]
    assert ranks == sorted(ranks)
    unfit = [(row.forbids_what_is_there, row.count(Severity.ERROR)) for row in rows if row.headline is Headline.NOT_FIT]
    assert unfit == sorted(unfit)
    assert rows[0].profile == "edge"


def test_what_is_between_is_said_in_numbers() -> None:
    """A 16-layer card of Tg 140 lacks eight layers and 30 degrees for a B200 baseboard.

    It lacks no copper: its declared rail +12V has two planes of 1 oz in parallel.
    """
    row = row_of(fitness(LOW_TG), "training-b200")
    assert set(steps(row)) == {"layers 16 -> 24", "Tg 140 -> 170 C"}
    assert to_go(row_of(fitness(LOW_TG), "inference-pcie")) == "Tg 140 -> 150 C"
    assert steps(row_of(fitness(ED_FOIL), "training-b200")) == ["foil STD -> VLP"]


@pytest.mark.slow
def test_a_loss_factor_is_told_with_its_frequency() -> None:
    """A Df limit is a step at the clause's own frequency."""
    row = row_of(fitness("training_b200_lossy_prepreg"), "training-b200")
    (one,) = [short for short in row.short if short.kind == "laminate_df"]
    assert one.at_ghz == 10.0
    assert step(one).startswith("Df 0.0")
    assert step(one).endswith("-> 0.002 at 10 GHz")


@pytest.mark.slow
def test_of_a_clauses_findings_the_first_is_told_with_the_number_of_the_others() -> None:
    """Two lossy plies: the one that a check names first, and one more; errors stand before warnings."""
    name = "training_b200_lossy_prepreg"
    row = row_of(fitness(name), "training-b200")
    context, requirements, _ = prepare(read_board(board_file(name)), find_config(board_file(name), None), Overrides())
    outcome = run_rules(context, requirements.clauses, all_rules(), all_rules())
    titles = [f.title for f in outcome.findings if f.code == "MAT001"]
    short = [one for one in row.short if one.code == "MAT001"]

    assert len(titles) == 2
    assert [(one.title, one.more) for one in short] == [(titles[0], 1)]
    ranks = [one.severity.rank for one in row.short]
    assert ranks == sorted(ranks, reverse=True)


@pytest.mark.parametrize("name", COMPARED)
def test_a_headline_follows_from_what_failed_and_what_is_unproven(name: str) -> None:
    """Errors: not fit; else something unproven: not proven; else fit. What failed with an error is not unproven too."""
    for row in fitness(name).rows:
        errors = {one.clause for one in row.short if one.severity is Severity.ERROR}
        expected = Headline.NOT_FIT if errors else Headline.NOT_PROVEN if row.unproven else Headline.FIT

        assert row.headline is expected
        assert not errors & set(row.unproven)
        assert len(row.unproven) == len(set(row.unproven))


def test_what_was_not_checked_is_never_fit() -> None:
    """Without a stackup no workload is fit: error-tier clauses are open, and each names what to state."""
    for row in fitness("no_stackup").rows:
        assert row.headline is not Headline.FIT
        assert row.unproven
        assert any(one.errors and one.how_to_give for one in row.open)
    assert all(row.headline is not Headline.FIT for row in fitness("default_stackup").rows)


def test_the_fact_that_settles_most_comes_first() -> None:
    """Questions are in order of the error-tier clauses that wait for them; a missing stackup is the first."""
    row = row_of(fitness("no_stackup"), "edge")
    waiting = [(one.errors, len(one.clauses)) for one in row.open]
    assert waiting == sorted(waiting, reverse=True)
    assert "stackup" in row.open[0].fact


def test_an_outline_finds_its_form_factor_and_no_loss_budget_rests_on_it() -> None:
    """The outline of a PCIe card adds that form's clauses; which board of the channel it is has to be stated."""
    board = read_board(board_file(LOW_TG))
    assert [form.name for form in forms_of_size(board)] == ["pcie-fhhl"]
    row = row_of(fitness(LOW_TG), "edge")
    assert (row.form, row.form_origin) == ("pcie-fhhl", FormOrigin.SIZE)
    assert "board.loss.share" in row.unproven
    assert row_of(fitness(LOW_TG), "inference-pcie").form_origin is FormOrigin.PROFILE
    assert forms_of_size(read_board(board_file("edge_jetson_carrier_fit"))) == ()


@pytest.mark.slow
def test_a_form_that_is_named_holds_for_every_workload() -> None:
    """--form judges all workloads in one form factor, and its thickness clause is met or not by the board's."""
    path = board_file(ED_FOIL)
    report = fitness_of(
        read_board(path), find_config(path, None), Overrides(form="m2-2280"), profiles=("edge", "training-b200")
    )
    assert {(row.form, row.form_origin) for row in report.rows} == {("m2-2280", FormOrigin.DECLARED)}
    for row in report.rows:
        assert "form.thickness.m2-2280" in {one.clause for one in row.short}


@pytest.mark.slow
def test_the_page_tells_the_headline_the_scorecard_and_the_least_change(capsys: pytest.CaptureFixture[str]) -> None:
    """The card of low Tg: not fit, one step away, and the check says fit of it once the one dielectric is changed."""
    assert run(["fit", str(board_file(LOW_TG))]) == 0
    out = capsys.readouterr().out
    assert out.startswith("FIT FOR NONE")
    for words in ("not proven for  edge", "inference-pcie *", "Tg 140 -> 150 C", "least change: dielectric 8 to"):
        assert words in out
    assert "then FIT" in out
    assert max(len(line) for line in out.splitlines() if "fixtures" not in line) <= 100


@pytest.mark.slow
def test_the_least_change_really_makes_it_fit(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """What `fit` promises of a change holds when its plan is applied and the board is checked."""
    shutil.copytree(BOARDS / LOW_TG, tmp_path / LOW_TG)
    board, plan = tmp_path / LOW_TG / f"{LOW_TG}.kicad_pcb", tmp_path / "a.stackwright-plan.toml"
    assert run(["fit", str(board), "--profile", "inference-pcie", "--json"]) == 0
    data = valid(capsys.readouterr().out)
    way = next(row["way"] for row in data["workloads"] if row["profile"] == "inference-pcie")
    assert (way["then"], way["is_change"]) == ("fit", True)
    assert run(["suggest", str(board), "--limit", "1", "--plan", str(plan)]) == 0
    assert run(["apply", str(plan), str(board), "--write", "--change-stackup"]) == 0
    assert check_board(board).headline is Headline.FIT


@pytest.mark.slow
def test_more_layers_are_no_small_change_and_a_new_stackup_is_searched_on_demand(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A board of six layers lacks two: no change of its stackup gives them, a search on demand does."""
    board = board_file("edge_jetson_carrier_fit")
    content = board.read_bytes()
    read, config = read_board(board, text=content), find_config(board, None)
    row = row_of(fitness_of(read, config, profiles=("inference-workstation",)), "inference-workstation")
    assert [one.kind for one in row.short if one.severity is Severity.ERROR] == ["layer_count"]
    idle = way_to(row, board, read, config, new=False)
    assert idle is not None
    assert (idle.needs_new, idle.words) == (True, ())
    found = way_to(row, board, read, config, new=True)
    assert found is not None
    assert found.words[0].startswith("8 layers")
    assert (found.is_change, found.then) == (False, None)
    assert run(["fit", str(board), "--no-suggest"]) == 0
    assert "change" not in capsys.readouterr().out
    assert run(["fit", str(board)]) == 0
    command = f"    stackwright suggest {board} --profile inference"
    assert command in capsys.readouterr().out.splitlines()


@pytest.mark.slow
def test_the_same_board_gives_the_same_json_and_it_fits_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    """JSON is valid against the published schema, and equal for equal inputs."""
    board = str(board_file("edge_jetson_carrier_fit"))
    assert run(["fit", board, "--json"]) == 0
    first = capsys.readouterr().out
    assert valid(first)["workloads"][0]["profile"] == "edge"
    assert run(["fit", board, "--json"]) == 0
    assert capsys.readouterr().out == first


@pytest.mark.slow
def test_a_workload_of_ones_own_is_judged_beside_the_shipped_ones(tmp_path: Path) -> None:
    """A profile file that the settings name has a row of its own, marked as declared."""
    shutil.copytree(BOARDS / LOW_TG, tmp_path / LOW_TG)
    board = tmp_path / LOW_TG / f"{LOW_TG}.kicad_pcb"
    own = tmp_path / LOW_TG / "mine.toml"
    own.write_text('title = "Mine"\nextends = ["inference-pcie"]\ndrop = ["inference.tg.min"]\n', encoding="utf-8")
    settings = board.with_name("stackwright.toml")
    text = settings.read_text(encoding="utf-8").replace('profile = "inference-pcie"', 'profile = "mine.toml"')
    settings.write_text(text, encoding="utf-8")
    report = fitness_of(read_board(board), find_config(board, None))
    row = next(row for row in report.rows if row.is_declared)
    assert (row.title, row.headline) == ("Mine", Headline.FIT)
    assert len(report.rows) == len(profile_names()) + 1


def test_a_wrong_name_says_which_is_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    """An unknown workload or form factor is an error of exit code 2, before anything is judged."""
    assert run_error(["fit", str(board_file(LOW_TG)), "--profile", "edgy"]) == 'profile "edgy"'
    assert run_error(["fit", str(board_file(LOW_TG)), "--form", "pcie-fhh"]) == 'form factor "pcie-fhh"'
    assert capsys.readouterr().out == ""


def run_error(arguments: list[str]) -> str:
    """Where the error of a command line is."""
    with pytest.raises(ConfigError) as caught:
        run(arguments)
    return caught.value.where


@pytest.mark.slow
def test_the_report_goes_into_a_file_on_demand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--output writes the page without colour and says where; a design file is never the target."""
    target = tmp_path / "fit.txt"
    assert run(["fit", str(board_file(LOW_TG)), "--no-suggest", "--output", str(target)]) == 0
    assert target.read_text(encoding="utf-8").startswith("FIT FOR NONE")
    assert capsys.readouterr().out == f"report written to {target}\n"


def test_the_page_for_people_holds_every_workload_and_escapes_what_a_board_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """--html tells all workloads in one file without scripts; a name that looks like markup stays a name."""
    board, page = tmp_path / "a&b<i>.kicad_pcb", tmp_path / "fit.html"
    shutil.copy(board_file("no_stackup"), board)
    assert run(["fit", str(board), "--html", "--output", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    for name in profile_names():
        assert text.count(f'id="workload-{name}"') == 1
    assert "<i>" not in text
    assert "a&amp;b&lt;i&gt;" in text
    assert text.count("<script") == 1  # our own
    assert ">FIT" not in text.upper().replace(">FIT FOR NONE", "")
    assert run(["fit", str(board), "--json", "--html"]) == 2
    assert "exclude each other" in capsys.readouterr().err


@pytest.mark.slow
def test_a_board_after_a_change_is_judged_by_the_settings_that_were_given(tmp_path: Path) -> None:
    """`--config` from elsewhere gives what the same settings next to the board give; only they know what is routed."""
    shipped = BOARDS / "training_b200_lossy_prepreg"
    adjacent, away = tmp_path / "beside", tmp_path / "away"
    for folder in (adjacent, away):
        shutil.copytree(shipped, folder)
    given = (away / "stackwright.toml").rename(tmp_path / "given.toml")
    ways = []
    for folder, settings in ((adjacent, None), (away, given)):
        path = folder / "training_b200_lossy_prepreg.kicad_pcb"
        board, config = read_board(path), find_config(path, settings)
        (row,) = fitness_of(board, config, Overrides(), profiles=("training-b200",)).rows
        ways.append(way_to(row, path, board, config, new=False, settings_path=settings))

    assert ways[0] is not None
    assert ways[0].then is Headline.FIT
    assert ways[1] == ways[0]


def test_a_change_that_an_undeclared_foil_leaves_unproven_is_not_ruled_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a foil the line that states it is asked for; with one, and nothing else, a small change makes it fit."""
    card = copied(LOW_TG, tmp_path)
    card.with_name("stackwright.toml").unlink(missing_ok=True)
    assert run(["fit", str(card), "--profile", "inference-pcie"]) == 0
    out = capsys.readouterr().out
    assert "no small change of the stackup is proven to do; declare this first:" in out
    assert 'foil = "?"' in out
    assert "no small change of the stackup will do" not in out
    card.with_name("stackwright.toml").write_text('[declared]\nfoil = "VLP"\n', encoding="utf-8")
    assert run(["fit", str(card), "--profile", "inference-pcie"]) == 0
    out = capsys.readouterr().out
    assert "proven to do" not in out
    assert "least change:" in out and "then FIT" in out


def test_the_printed_commands_follow_what_was_judged() -> None:
    """A form factor told from the outline is named; another stackup only where one helps."""
    report = fitness(LOW_TG)
    row = row_of(report, "inference-sxm-oam")
    assert row.form_origin is FormOrigin.SIZE
    elsewhere = row.model_copy(update={"short": tuple(x.model_copy(update={"by_stackup": False}) for x in row.short)})

    def commands(one: Fitness) -> str:
        page = page_of(report, [one], {}, board=Path("a.kicad_pcb"), asked=True)
        return page.text(plain_console(200)).partition("next:\n")[2]

    assert "check a.kicad_pcb --profile inference-sxm-oam --form pcie-fhhl" in commands(row)
    assert "suggest" in commands(row)  # Tg
    assert "suggest" not in commands(elsewhere)
    own = row_of(report, "inference-pcie")
    assert own.form_origin is FormOrigin.PROFILE and "--form" not in commands(own)


def test_a_finding_that_fails_the_limits_of_two_tiers_is_told_once() -> None:
    """Copper outside of the outline fails for best and for advanced fabs with the same words; other words stay."""
    report = fitness(LOW_TG)
    row = row_of(report, "inference-pcie")
    first = row.short[0]
    twice = (first, first.model_copy(update={"clause": "other"}), first.model_copy(update={"title": "other words"}))

    page = page_of(report, [row.model_copy(update={"short": twice})], {}, board=Path("a.kicad_pcb"), asked=True)

    text = page.text(plain_console(200)).partition("inference-pcie  ")[2]
    assert text.count(f"  {first.title}") == 1 and text.count("  other words") == 1


def meant(report: FitnessReport) -> list[str]:
    """The commands at the end of a page that no workload was asked of."""
    page = page_of(report, (), {}, board=Path("a.kicad_pcb"), asked=False)
    return [line.strip() for line in page.text(plain_console(200)).partition("next:\n")[2].splitlines()]


def bare(name: str, folder: Path) -> FitnessReport:
    """A board and its project, without settings, against every workload."""
    board = board_file(name)
    for file in (board, board.with_suffix(".kicad_pro")):
        shutil.copy(file, folder)
    return fitness_of(read_board(folder / board.name), Config())


@pytest.mark.slow
def test_without_settings_a_board_is_led_to_the_workload_it_is_fit_for(tmp_path: Path) -> None:
    report = bare("edge_jetson_carrier_fit", tmp_path)
    assert report.rows[0].headline is Headline.FIT
    assert meant(report) == [
        "stackwright check a.kicad_pcb --profile edge",
    ]


@pytest.mark.slow
def test_what_forbids_an_interface_of_the_board_is_not_what_it_is_led_to(tmp_path: Path) -> None:
    """28 layers with NVLink: `edge` has no place for it; of what is as open, those that name NVLink and PCIe count."""
    report = bare("training_b200_fit", tmp_path)
    assert row_of(report, "edge").forbids_what_is_there
    assert not row_of(report, "training-b200").forbids_what_is_there
    assert meant(report)[:2] == [
        "stackwright check a.kicad_pcb --profile inference-rack",
        "stackwright check a.kicad_pcb --profile training-b200",
    ]
    title = page_of(report, (), {}, board=Path("a.kicad_pcb"), asked=False).text(plain_console(200)).splitlines()[0]
    assert title == "fit, with warnings, for  edge (unexpected interface)"
    last = [row.profile for row in report.rows if row.headline is Headline.NOT_PROVEN][-1]
    assert last == "inference-pcie"  # it forbids NVLink as well


@pytest.mark.slow
@pytest.mark.parametrize(("board", "profile"), [(LOW_TG, "inference-pcie"), ("edge_jetson_carrier_fit", "edge")])
def test_the_workload_of_the_settings_is_the_one_to_check(board: str, profile: str) -> None:
    assert meant(fitness(board))[0] == f"stackwright check a.kicad_pcb --profile {profile}"
