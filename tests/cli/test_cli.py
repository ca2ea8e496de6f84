"""The command line as a user meets it: whole processes on our own boards, exit codes, streams, files, no traceback."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from drc_rules.engine.check import check_board
from drc_rules.facts.declared import Overrides
from drc_rules.report.model import RuleCrash
from drc_rules.report.verdicts import Coverage
from drc_rules.rules.rule import all_rules
from drc_rules.settings.config import CheckOptions, load_config, parse_config
from stackup_lib.core.errors import StackwrightError
from stackup_lib.kicad import read_board
from stackwright import __version__
from stackwright.commands.check.answers import Answer, verdict_table
from stackwright.commands.check.exit_reasons import exit_reasons
from stackwright.results.checked import Checked, Unchecked
from stackwright.results.exit_reason import FOUND, ExitCause, ExitReason
from stackwright.text.page import plain_console
from tests.support.boards import BOARDS, board_file
from tests.support.in_process import Ran, environment, run_process
from tests.support.in_process import run_here as run
from tests.support.mini import mini_file

ROOT = Path(__file__).parents[2]
FIT = "inference_pcie_gen5_fit"
BROKEN = "training_b200_too_few_layers"
BARE = "default_stackup"


Command = Callable[..., Ran]


@pytest.fixture
def board(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that copies one of our boards and returns its `.kicad_pcb`."""

    def copy(name: str, *, configured: bool = True) -> Path:
        folder = tmp_path / name
        shutil.copytree(BOARDS / name, folder)
        if not configured:
            (folder / "stackwright.toml").unlink()
        return folder / f"{name}.kicad_pcb"

    return copy


# --- check -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_fit_board_says_so_and_exits_with_0() -> None:
    """The first thing a newcomer runs."""
    ran = run("check", f"fixtures/boards/{FIT}")

    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("FIT  for inference-pcie")
    assert f"fixtures/boards/{FIT}/{FIT}.kicad_pcb" in ran.out


@pytest.mark.slow
def test_a_broken_twin_exits_with_1_and_names_the_clause() -> None:
    """The exit code is for the machine, the rest for the reader."""
    ran = run("check", BOARDS / BROKEN)

    assert (ran.code, ran.err) == (1, "")
    assert ran.out.startswith("NOT FIT  for training-b200")
    assert re.search(r"1 requirement failed: .*copper layers", ran.out.splitlines()[1])


@pytest.mark.slow
def test_without_any_configuration_a_board_still_says_what_it_is(board: Callable[..., Path]) -> None:
    """Five minutes: facts, what the high-speed nets are assigned to, what is missing, what to paste."""
    ran = run("check", board(FIT, configured=False), "-v")

    assert ran.code == 0
    assert ran.out.startswith("NO WORKLOAD\nno workload given: only what holds for every board was checked\n")
    for piece in ("16 copper layers, 1.570 mm thick", "85Ohm-diff_PCIE", "Findings", 'profile = "?"', "--profile"):
        assert piece in ran.out


@pytest.mark.slow
def test_what_the_report_says_to_paste_can_be_pasted(board: Callable[..., Path]) -> None:
    """The lines make a valid stackwright.toml as they are, and declare nothing yet."""
    path = board(FIT, configured=False)
    report = check_board(path, overrides=Overrides(profile="training-b200"))
    assert report.proofs

    path.with_name("stackwright.toml").write_text("\n".join(report.proofs))

    assert check_board(path, overrides=Overrides(profile="training-b200")).verdicts == report.verdicts


@pytest.mark.slow
def test_several_boards_are_all_reported_and_the_worst_code_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    """One bad file does not hide the others."""
    monkeypatch.setenv("COLUMNS", "400")
    ran = run("check", BOARDS / FIT, "nothing.kicad_pcb", BOARDS / BROKEN)

    assert ran.code == 2
    assert "FIT  for inference-pcie" in ran.out
    assert "NOT FIT  for training-b200" in ran.out
    assert ran.err.startswith("error: nothing.kicad_pcb: no such file; ")
    table = ran.out.partition("\nBoards\n")[2].splitlines()
    assert [line.split()[0] for line in table] == [
        "board",
        f"{(BOARDS / FIT / FIT).as_posix()}.kicad_pcb",
        "nothing.kicad_pcb",
        f"{(BOARDS / BROKEN / BROKEN).as_posix()}.kicad_pcb",
    ]
    assert re.search(r" FIT +0 +0  0$", table[1])
    assert table[2].endswith("2: no such file")
    assert re.search(r" NOT FIT +\d+ +\d+  1: findings, error or above$", table[3])


def test_the_table_of_several_boards_fits_the_terminal(tmp_path: Path) -> None:
    """One line for each board where that fits, else two; a path is never broken, and all that is told stays."""
    report = check_board(mini_file(tmp_path, {"size_mm": [40, 30]}))
    path = f"hardware/{'long' * 8}/board.kicad_pcb"
    named = report.model_copy(update={"board": report.board.model_copy(update={"path": path})})
    reason = ExitReason(ExitCause.FINDINGS, FOUND, "findings, error or above", is_plain=True)
    answers = [Answer(Checked(named, None, "1" * 64, exit_reasons=(reason,)), 1)]
    answers.append(Answer(Unchecked("no.kicad_pcb", StackwrightError("no.kicad_pcb", "no such file", "")), 2))

    wide, narrow = (verdict_table(answers, width).text(plain_console(width)) for width in (120, 80))

    assert [line.split()[0] for line in wide.strip().splitlines()] == ["Boards", "board", path, "no.kicad_pcb"]
    title, first, of_first, second, of_second = narrow.strip().splitlines()
    assert (title, first.strip(), second.strip()) == ("Boards", path, "no.kicad_pcb")
    assert of_first.endswith(", exit code 1: findings, error or above")
    assert of_second.split("  ")[-1] == "exit code 2: no such file"
    assert max(map(len, narrow.splitlines())) <= 80


@pytest.mark.slow
def test_a_project_file_or_a_folder_stands_for_its_board(board: Callable[..., Path]) -> None:
    """People give what is at hand."""
    path = board(FIT)

    by_board = run("check", path.name, cwd=path.parent)
    by_project = run("check", path.with_suffix(".kicad_pro").name, cwd=path.parent)
    by_folder = run("check", ".", cwd=path.parent)

    assert by_board == by_project == by_folder
    assert by_board.code == 0


@pytest.mark.slow
def test_a_folder_with_several_boards_is_an_error_for_a_command_about_one(board: Callable[..., Path]) -> None:
    """It lists them; autosaves are no boards."""
    path = board(FIT)
    shutil.copy(path, path.with_name("other.kicad_pcb"))
    shutil.copy(path, path.with_name("_autosave-other.kicad_pcb"))

    ran = run("stackup", path.parent)

    assert ran.code == 2
    assert f"holds 2 boards ({FIT}.kicad_pcb, other.kicad_pcb)" in ran.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "pieces"),
    [
        (
            ["check", "inference_pcie_gen5_fitt.kicad_pcb"],
            ["no such file", 'did you mean "inference_pcie_gen5_fit.kicad_pcb"?'],
        ),
        (
            ["check", "other.kicad_pro"],
            ["other.kicad_pro: no such file", "boards there: inference_pcie_gen5_fit.kicad_pcb"],
        ),
        (["check", ".", "--config", "x"], ["x: cannot be read"]),
        (["check", "empty"], ["empty: holds no .kicad_pcb file"]),
        (["check", ".", "--config", "none.toml"], ["none.toml: cannot be read"]),
        (["check", ".", "--profile", "trainin"], ['did you mean "training"']),
        (["check", ".", "--form", "pcie-crad"], ['did you mean "pcie-card"']),
        (["check", ".", "--select", "rouhg-foil"], ['did you mean "rough-foil"']),
        (["check", ".", "--output", f"{FIT}.kicad_pro/a/report.txt"], ["is a file, and no folder for the output"]),
        (["check", ".", "--output", "."], ["is a folder"]),
        (["check", ".", "--min-coverage", "101"], ["--min-coverage"]),
        (["check", str(BOARDS / BARE), "--min-coverage", "0.8"], ["less than one percent", "write 80 for 80 %"]),
        (["check", ".", "--formt", "json"], ["No such option '--formt'", "--format"]),
        (["check"], ["Missing argument", "stackwright check --help"]),
        (["chek", "."], ["No such command 'chek'. (Did you mean 'check'?)", "stackwright --help"]),
        (["frobnicate", "."], ["No such command 'frobnicate'; see stackwright --help"]),
        (["apply", f"{FIT}.kicad_pcb"], ["is a board, not a plan; name the plan first"]),
        (["apply", "stackwright.toml"], ["is settings, not a plan; name the file that --plan of"]),
        (["apply", "none.toml", "empty"], ["none.toml: "]),
        (["check", ".", "--select", "XYZ"], ["no known name is like it; `stackwright rules` lists them"]),
        (["explain", "VIAA001"], ['did you mean "VIA001"']),
        (["profiles", "inferense"], ['did you mean "inference"']),
        (["check", ".", "--form", "nope"], ["is not known", "`stackwright profiles` lists them"]),
        (["suggest", "--profile", "edge", "--layers", "100000"], ["cannot be 100000", "at most 32"]),
    ],
    ids=lambda value: " ".join(value)[:40],
)
def test_a_mistake_is_one_line_with_the_next_step(
    board: Callable[..., Path], arguments: list[str], pieces: list[str]
) -> None:
    """`error: where: what; next step` on the error stream, nothing on the other, exit code 2."""
    path = board(FIT)
    (path.parent / "empty").mkdir()

    ran = run(*arguments, cwd=path.parent)

    assert (ran.code, ran.out) == (2, "")
    assert re.fullmatch(r"error: [^\n]+: [^\n]+[;?] ?[^\n]*\n", ran.err)
    for piece in pieces:
        assert piece in ran.err


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ["check", ".", "--output"],
        ["stackup", ".", "--format", "json", "--output"],
        ["delay", ".", "--output"],
        ["diff", ".", f"{FIT}.kicad_pcb", "--output"],
        ["baseline", ".", "--output"],
        ["new", "--profile", "edge"],
    ],
    ids=lambda words: words[0],
)
def test_folders_of_what_is_written_are_made(board: Callable[..., Path], words: list[str]) -> None:
    """As `fab-pack` and `touchstone` make theirs."""
    folder = board(FIT).parent
    target = folder / "made" / "by the command" / "out.kicad_pcb"
    target = target if words[0] == "new" else target.with_suffix(".txt")

    ran = run(*words, target, cwd=folder)

    assert ran.code in (0, 1), ran.err
    assert target.is_file()


def test_a_bare_board_of_kicad_4_is_described_in_whole_words(tmp_path: Path) -> None:
    """It read "thickness not stated thick", and "known:" with nothing behind it."""
    path = tmp_path / "old.kicad_pcb"
    layers = "(layers (0 F.Cu signal) (31 B.Cu signal))"
    path.write_text(f"(kicad_pcb (version 4) (host pcbnew 4.0.7) {layers})", encoding="utf-8")
    rail = '[[rail]]\nnet = "+5V"\nvoltage_v = 5\ncurrent_a = 1\n'
    path.with_name("stackwright.toml").write_text(rail, encoding="utf-8")

    said = run("check", path).out

    assert "2 copper layers, thickness not stated, no outline" in said
    assert "[[rail]] 1 (+5V): the board has no such net; there is none at all" in said


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"", b"\x00\xff\xfe" * 100, b"(" * 100_000, b"(kicad_sch (version 20250114))"])
def test_what_is_no_board_is_one_line(tmp_path: Path, content: bytes) -> None:
    """Empty, binary, hopeless or a schematic: never a traceback."""
    path = tmp_path / "x.kicad_pcb"
    path.write_bytes(content)

    ran = run("check", path)

    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == 1
    assert ran.err.startswith(f"error: {path}: ")


def test_a_typo_in_the_settings_says_what_was_meant(board: Callable[..., Path]) -> None:
    """An unknown key must not be ignored: the user believes that it was declared."""
    path = board(FIT)
    path.with_name("stackwright.toml").write_text('[declared]\nfoyl = "VLP"\n')

    ran = run("check", path)

    assert ran.code == 2
    assert 'unknown key "declared.foyl"; did you mean "foil"?' in ran.err


@pytest.mark.slow
def test_fail_on_moves_the_exit_code_and_nothing_else(board: Callable[..., Path]) -> None:
    """A warning fails only on request; never lets everything pass."""
    path = board("missing_project")

    codes = [run("check", path, "--fail-on", level).code for level in ("error", "warning", "info", "never")]
    texts = {run("check", path, "--fail-on", level).out for level in ("error", "warning")}

    assert codes == [0, 1, 1, 0]
    assert len(texts) == 1
    assert (
        "findings, warning or above; correct them, or give --fail-on error"
        in run("check", path, "--quiet", "--fail-on", "warning").err
    )
    assert not run("check", BOARDS / BROKEN, "--fail-on", "warning").err, "errors explain themselves"
    assert run("check", BOARDS / BROKEN, "--fail-on", "never").code == 0


@pytest.mark.slow
def test_coverage_below_what_is_asked_is_1_and_says_why() -> None:
    """The gate for those to whom unproven is not good enough."""
    ran = run("check", BOARDS / BARE, "--min-coverage", "90")

    assert ran.code == 1
    assert re.search(r"error: .*: coverage is \d+\.\d %, below the minimum of 90 %; ", ran.err)
    assert "under Missing data" in ran.err
    assert "Missing data" in ran.out
    assert run("check", BOARDS / FIT, "--min-coverage", "100").code == 0


@pytest.mark.parametrize(("decided", "said"), [(9796, "97.9"), (9799, "97.9"), (9700, "97.0"), (0, "0.0")])
def test_a_coverage_below_its_minimum_is_not_rounded_up_to_it(decided: int, said: str) -> None:
    """97.96 % is less than 98 %, and says so."""
    report = check_board(board_file(FIT))
    cover = Coverage(decided=decided, total=10000, clauses_without_rule=0)
    short = report.model_copy(update={"coverage": cover})
    options = CheckOptions(min_coverage_pct=98, fail_on="never")
    text = exit_reasons(short, options)[-1].text
    assert text.startswith(f"coverage is {said} %, below the minimum of 98 %")
    enough = report.model_copy(update={"coverage": cover.model_copy(update={"decided": 9800})})
    assert exit_reasons(enough, options) == ()


@pytest.mark.slow
def test_coverage_that_only_short_pairs_lower_asks_for_no_data() -> None:
    """Nothing is missing of the board: one USB pair is too short to be judged, and both outputs say so."""
    ran = run("check", BOARDS / "edge_jetson_carrier_fit", "--min-coverage", "100")

    assert ran.code == 1
    assert ran.err.rstrip().endswith("1 pair with an impedance target not judged; -v says why")
    assert "Missing data" not in ran.out
    assert "coverage 99 %; 1 pair with an impedance target not judged" in " ".join(ran.out.split())


@pytest.mark.slow
def test_rules_that_are_left_out_take_one_line() -> None:
    """A request for one family shows what it lacks, not eighty lines of the rest."""
    ran = run("check", BOARDS / BARE, "--select", "MAT", "-v")

    page = ran.out.partition("Missing data")[2].partition("To supply it")[0]
    assert re.search(r"\d+ requirements not looked at \(--select MAT\)", " ".join(page.split()))
    assert "board.via" not in page
    assert "rule VIA" not in page
    for form, said in (
        ("markdown", r"\d+ requirements not looked at \(--select MAT\)\."),
        ("html", r"\d+ requirements not looked at \(--select MAT\)<"),
    ):
        ran = run("check", BOARDS / BARE, "--select", "MAT", "--format", form)
        section = re.split("Missing data</h|### Missing data", ran.out)[1].partition("To supply it")[0]
        assert len(re.findall(said, section)) == 1
        assert "rule VIA" not in section.partition("Fill in")[0]


@pytest.mark.slow
def test_nothing_checked_is_2() -> None:
    """A silent green is the worst answer."""
    ran = run("check", BOARDS / FIT, "--ignore", ",".join(rule.code for rule in all_rules()))

    assert ran.code == 2
    assert "nothing was checked; " in ran.err


def test_a_rule_that_broke_is_2() -> None:
    """A defect of ours is no verdict on the board."""
    report = check_board(board_file(FIT))
    broke = report.model_copy(update={"crashes": (RuleCrash(code="STK001", name="x", error="KeyError: 1"),)})
    empty = report.model_copy(update={"coverage": Coverage(decided=0, total=3, clauses_without_rule=0)})
    options = load_config(BOARDS / FIT / "stackwright.toml").check

    assert exit_reasons(report, options) == ()
    assert exit_reasons(broke, options)[0].code == 2
    assert exit_reasons(empty, options.model_copy(update={"fail_on": "never"}))[0].code == 2


@pytest.mark.slow
def test_options_left_out_come_from_the_settings_file(board: Callable[..., Path]) -> None:
    """`[check]` holds for everybody who checks the board; the command line wins."""
    path = board("missing_project")
    settings = path.with_name("stackwright.toml")
    settings.write_text(settings.read_text() + '\n[check]\nfail_on = "warning"\nignore = ["STK006"]\n')

    assert run("check", path).code == 1
    assert run("check", path, "--fail-on", "error").code == 0
    settings.write_text(settings.read_text().replace('"STK006"', '"STK004"'))
    assert run("check", path).code == 0
    assert run("check", path, "--ignore", "STK006").code == 1


@pytest.mark.slow
def test_select_and_ignore_take_commas_and_repeats() -> None:
    """As people type them."""
    ran = run("check", BOARDS / FIT, "--format", "json", "--select", "STK,MAT004", "--ignore", "STK006")

    verdicts = json.loads(ran.out)["reports"][0]["verdicts"]
    decided = {v["code"] for v in verdicts if v["checked"]}
    assert {code for code in decided if not code.startswith("STK")} == {"MAT004"}
    assert "STK001" in decided
    assert "STK006" not in decided
    assert "STK006" not in decided


# --- output ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_json_of_real_boards_meets_the_published_schema() -> None:
    """Every fixture board in one document."""
    folders = sorted(path.parent for path in BOARDS.glob("*/*.kicad_pcb"))

    ran = run("check", *folders, "--format", "json", "--fail-on", "never")

    data = json.loads(ran.out)
    schema = json.loads((ROOT / "fixtures" / "schemas" / "report-v1.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(data)
    assert len(data["reports"]) == len(folders)
    assert data["errors"] == []
    assert {report["headline"] for report in data["reports"]} == {"fit", "not fit", "not proven"}
    provenance = next(r for r in data["reports"] if r["board"]["path"].endswith(f"{FIT}.kicad_pcb"))["provenance"]
    assert provenance["stackwright"] == __version__
    assert provenance["profile"] == "inference-pcie"
    assert provenance["config"].endswith(f"{FIT}/stackwright.toml")


@pytest.mark.slow
def test_json_has_a_short_form_that_is_the_same_and_contradicts_other_formats() -> None:
    """As `nets`, `stackup` and `validate` have it."""
    short = run("check", BOARDS / FIT, "--json")

    assert short.out == run("check", BOARDS / FIT, "--format", "json").out
    refused = run("check", BOARDS / FIT, "--json", "--format", "html")
    assert refused.code == 2
    assert "exclude each other" in refused.err


@pytest.mark.slow
def test_json_says_which_board_could_not_be_checked() -> None:
    """The document is valid and complete even then."""
    ran = run("check", BOARDS / FIT, "nothing.kicad_pcb", "--format", "json")

    data = json.loads(ran.out)
    assert ran.code == 2
    assert [error["where"] for error in data["errors"]] == ["nothing.kicad_pcb"]
    assert len(data["reports"]) == 1


@pytest.mark.slow
def test_same_board_and_settings_same_bytes() -> None:
    """No clock, no hash seed, no order of a dictionary in any report."""
    for form in ("text", "json"):
        first = run_process("check", BOARDS / BROKEN, "--format", form, PYTHONHASHSEED="1")
        second = run_process("check", BOARDS / BROKEN, "--format", form, PYTHONHASHSEED="2")
        assert first == second


@pytest.mark.slow
def test_a_dash_is_standard_output() -> None:
    """As everywhere on a command line."""
    assert run("check", BOARDS / FIT, "--output", "-") == run("check", BOARDS / FIT)


@pytest.mark.slow
def test_other_settings_can_be_named_and_are_named_in_the_report(board: Callable[..., Path]) -> None:
    """The file next to the board is then not read."""
    path = board(FIT)
    other = path.parent / "other.toml"
    other.write_text('profile = "edge"\n')

    ran = run("check", path.name, "--config", "other.toml", "--format", "json", cwd=path.parent)

    report = json.loads(ran.out)["reports"][0]
    assert report["provenance"]["profile"] == "edge"
    assert report["provenance"]["config"] == "other.toml"
    assert report["board"]["path"] == path.name


@pytest.mark.slow
def test_a_hostile_board_cannot_drive_the_terminal_nor_the_settings_file(board: Callable[..., Path]) -> None:
    """Escape sequences and quotes in materials and net classes come out as text, on the terminal and in TOML."""
    path = board(FIT, configured=False)
    project = path.with_suffix(".kicad_pro")
    evil_class = 'PCIE"]\nprofile = "edge"\x1b[31m #\\ Ω'
    project.write_text(project.read_text().replace("85Ohm-diff_PCIE", json.dumps(evil_class)[1:-1]))
    path.write_bytes(path.read_bytes().replace(b"370HR 1086 RC63%", b"\x1b]0;owned\x07 [bold]370[/] \xe2\x80\xae\xff"))

    checked = run("check", path, "--all", "--profile", "inference-pcie")
    started = run("init", path)

    for ran in (checked, started):
        assert ran.code in (0, 1)
        assert not set(ran.out) & set("\x1b\x07\u202e")
    assert "\\x1b]0;owned" in checked.out
    assert "[bold]370[/]" in checked.out
    written = path.with_name("stackwright.toml")
    assert load_config(written).profile is None
    assert set(written.read_text()) & set("\x1b\x07\u202e") == set()
    declared = written.read_text().replace('is = "?"', 'is = "pcie5"')
    assert parse_config(declared).interface[0].net_classes == (evil_class,)


@pytest.mark.slow
def test_output_writes_a_whole_file_and_a_summary_to_the_terminal(tmp_path: Path) -> None:
    """The file holds what the terminal would have shown in a pipe."""
    target = tmp_path / "report.txt"
    target.write_text("old")

    ran = run("check", BOARDS / FIT, "--output", target)

    assert ran.code == 0
    assert target.read_text() == run("check", BOARDS / FIT).out
    assert ran.out.startswith("FIT  ")
    assert f"report written to {target}\n" in ran.out
    assert [path.name for path in tmp_path.iterdir()] == ["report.txt"]


@pytest.mark.slow
@pytest.mark.parametrize("name", [f"{FIT}.kicad_pcb", f"{FIT}.kicad_pro", "stackwright.toml"])
def test_a_report_cannot_replace_somebodys_work(board: Callable[..., Path], name: str) -> None:
    """A slip of the shell's completion must not cost a layout."""
    path = board(FIT)
    before = path.with_name(name).read_bytes()

    ran = run("check", path, "--output", path.with_name(name))

    assert ran.code == 2
    assert "give --output another name" in ran.err
    assert path.with_name(name).read_bytes() == before


def test_a_failed_check_leaves_an_old_report_readable(board: Callable[..., Path], tmp_path: Path) -> None:
    """A file is replaced as a whole or stays; here the new one says that nothing could be checked."""
    target = tmp_path / "report.json"

    ran = run("check", tmp_path / "none.kicad_pcb", "--format", "json", "--output", target)

    assert ran.code == 2
    assert json.loads(target.read_text())["reports"] == []


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_an_error_and_not_a_clean_exit() -> None:
    """A report that was not written was not made."""
    for arguments in (["check", str(BOARDS / FIT)], ["rules"], ["--help"], ["check", "--help"], ["completion", "bash"]):
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [sys.executable, "-m", "stackwright", *arguments],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                cwd=ROOT,
                env=environment(),
                check=False,
            )
        assert done.returncode == 2
        assert done.stderr.startswith("error: standard output: No space left on device; ")
        assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_reader_that_goes_away_changes_nothing() -> None:
    """`| head -1`: no message, and the verdict's exit code stands."""
    process = subprocess.Popen(
        [sys.executable, "-m", "stackwright", "check", str(BOARDS / BROKEN)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        env=environment(),
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()

    assert (process.wait(), said) == (1, b"")


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there")
def test_ctrl_c_is_one_word_and_130(tmp_path: Path) -> None:
    """No traceback, no half a report."""
    started = tmp_path / "started"
    slow = f"stackwright.cli.app.run = lambda _: (open({str(started)!r}, 'w').close(), time.sleep(900))"
    hears = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # deaf where tests run behind a shell
    )
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"{hears}; import time, stackwright.cli.app; {slow}; from stackwright.__main__ import main; main()",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=environment(),
    )
    while not started.exists():
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)

    assert (process.returncode, out, err) == (130, "", "interrupted\n")


def test_an_unexpected_error_asks_to_be_reported_in_one_line(tmp_path: Path) -> None:
    """A defect of ours: the traceback only for where it comes from."""
    program = (
        "import stackwright.cli.app, sys\n"
        "def broken(arguments): raise RuntimeError('a\\x1b[31m defect')\n"
        "stackwright.cli.app.run = broken\n"
        "from stackwright.__main__ import main\nmain()"
    )
    short, long = (
        subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=False,
            cwd=ROOT,
            env={**environment(), "STACKWRIGHT_DEBUG": debug},
        )
        for debug in ("", "1")
    )

    assert short.returncode == 2
    assert short.stderr.count("\n") == 1
    assert short.stderr.startswith("error: RuntimeError: a\\x1b[31m defect; this is a defect of Stackwright")
    assert "Traceback" in long.stderr


@pytest.mark.slow
def test_an_encoding_that_cannot_hold_a_name_shows_it_anyway(board: Callable[..., Path]) -> None:
    """A terminal set to ASCII must not end the check."""
    path = board(FIT)
    renamed = path.with_name("plätze_Ω.kicad_pcb")
    path.rename(renamed)

    ran = run_process("check", renamed, "--fail-on", "never", PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C")

    assert ran.code == 0
    assert ran.out.isascii()
    assert re.search(r"/pl\\\S+tze_\\\S+\.kicad_pcb", ran.out)


# --- the other commands ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_version_and_help_are_there() -> None:
    """What packagers and newcomers type."""
    assert run("--version").out == f"stackwright {__version__}\n"
    for command in ("check", "init", "explain", "rules", "profiles", "materials"):
        assert command in run("--help").out
        assert run(command, "--help").code == 0
    bare = run()
    assert bare.code == 2
    assert "Usage: stackwright" in bare.out


def test_check_help_ends_with_examples_and_exit_codes() -> None:
    """The contract is where people look for it."""
    out = run("check", "--help").out

    assert "Examples:" in out
    assert re.search(r"0 +no finding .*1 +findings, .*2 +a board could not be checked", out, re.DOTALL)
    for option in (
        "--profile",
        "--form",
        "--config",
        "--select",
        "--ignore",
        "--fail-on",
        "--min-coverage",
        "--output",
    ):
        assert option in out


@pytest.mark.slow
def test_every_rule_is_listed_and_can_be_explained() -> None:
    """A finding's code always leads to its page."""
    listed = run("rules").out
    assert all(f"{rule.code}" in listed and rule.name in listed for rule in all_rules())

    by_code, by_name = run("explain", "VIA001"), run("explain", "missing-backdrill")

    assert by_code == by_name
    assert by_code.code == 0
    for piece in ("What it checks", "Why it matters", "How to fix", "Sources", "training.backdrill.nvlink5"):
        assert piece in by_code.out


@pytest.mark.slow
def test_json_is_asked_for_in_the_same_way_everywhere() -> None:
    """`--json` and `--format json` give the same bytes where both are known."""
    board = "fixtures/boards/inference_pcie_gen5_fit"

    assert run("nets", board, "--json") == run("nets", board, "--format", "json")
    assert run("nets", board, "--json").out.startswith("{")


@pytest.mark.slow
@pytest.mark.parametrize("word", ["PRF001", "not-proven", "sup001", "stale-suppression"])
def test_what_sarif_says_of_the_check_itself_can_be_explained(word: str) -> None:
    """Every code that a report shows leads to a page."""
    ran = run("explain", word)

    assert ran.code == 0
    assert "about the check itself" in ran.out
    assert "stackwright.toml" in ran.out


def test_a_clause_is_explained_with_its_source() -> None:
    """Numbers come from a document that can be opened."""
    ran = run("explain", "training.df.nvlink5")

    assert ran.code == 0
    for piece in ("adjacent Df <= 0.002 at 10 GHz", "NVLink 5.0 (B200)", "https://", "MAT001 lossy-dielectric"):
        assert piece in " ".join(ran.out.split())


@pytest.mark.parametrize(
    "word",
    ["inference.tg.min", "edge.layers.min", "training.df.nvlink5", "board.laminate.known", "board.fab.ring_standard"],
)
def test_what_explain_shows_of_a_clause_makes_one_of_ones_own(word: str, tmp_path: Path) -> None:
    """Kind and limit were nowhere to be read, although a profile of one's own has to state them alike."""
    shown = dict(re.findall(r"^  (kind|limit|interface) +(.*)$", run("explain", word).out, re.MULTILINE))
    interface = f'interface = "{shown["interface"]}"\n' if "interface" in shown else ""
    mine = tmp_path / "mine.toml"
    mine.write_text(
        f'title = "Mine"\n[[clause]]\nid = "m.x"\nkind = "{shown["kind"]}"\ntitle = "x"\nseverity = "warning"\n'
        f'limit = {shown.get("limit", "{}")}\n{interface}source = {{ document = "ours", row = "1" }}\n',
        encoding="utf-8",
    )
    listed = run("profiles", mine)
    assert listed.code == 0
    assert "explain m.x" not in listed.out, "explain knows the shipped requirements alone"


def test_profiles_list_and_show_every_demand_with_its_source() -> None:
    """What will be required can be read before a board is drawn."""
    listed = run("profiles").out
    shown = run("profiles", "training-b200", "-v").out
    short = run("profiles", "training-b200").out

    for name in ("training", "inference", "edge", "training-b200", "inference-pcie", "pcie-card"):
        assert name in listed
    assert "copper layers >= 24 (B200 baseboard)" in shown
    assert "training.backdrill.nvlink5" in shown
    assert "NextPCB" in shown
    assert "copper layers >= 24 (B200 baseboard)" in short
    assert "training.backdrill.nvlink5" not in short
    assert "requirements hold for any board, too" in short
    assert len(short.splitlines()) < len(shown.splitlines()) / 5


def test_materials_say_what_a_name_is_taken_for() -> None:
    """With Dk and Df at frequencies, Tg with its method, and where each stands."""
    ran = run("materials", "R-5775(N)", "2116")

    assert ran.code == 0
    assert ran.out.startswith("Megtron 6(N)")
    for piece in ("185 C (DSC)", "Panasonic", "GHz"):
        assert piece in ran.out
    vague = run("materials", "megtron")
    assert vague.code == 1
    assert "Megtron 7(N)" in vague.out
    assert run("materials", "Foo", "Bar").out.count("is not in the catalogue") == 1
    assert "370HR" in run("materials").out
    assert "TU-872 LK data sheet DS1801019B, 31 January 2018" in run("materials", "TU-872", "LK").out


def test_materials_know_foils_and_glass() -> None:
    """A foil by its roughness, a laminate by its kind of glass."""
    assert "up to 1.1 um" in run("materials", "HVLP4").out
    assert "low-Dk glass (NE): Dk 4.4 at 1 GHz" in run("materials", "R-5785(N)", "1078").out


def test_a_laminate_without_public_figures_says_so() -> None:
    """In its own page, in the list, and in the list's count."""
    assert "no public figures: state Dk, Df and Tg" in run("materials", "EM-892K").out
    listed = run("materials").out
    count = sum(line.endswith("no public figures") for line in listed.splitlines())
    assert count > 0
    assert f"{count} families have no public figures" in listed


def test_the_version_is_stated_once_and_the_same_everywhere() -> None:
    """What the program says is what the package index says."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert project["version"] == __version__


# --- init ------------------------------------------------------------------------------------------------------------


def test_init_writes_what_the_board_says_and_declares_nothing_else(board: Callable[..., Path]) -> None:
    """A file with placeholders changes no verdict, and says where to fill in what."""
    path = board(FIT, configured=False)
    before = check_board(path)

    ran = run("init", path)

    written = path.with_name("stackwright.toml").read_text()
    assert (ran.code, ran.err) == (0, "")
    assert "16 copper layers" in ran.out
    assert f"wrote {path.with_name('stackwright.toml')}\n" in ran.out
    config = parse_config(written)
    stackup = read_board(path).stackup
    assert stackup is not None
    assert config.declared.stackup_hash == stackup.digest
    assert (config.profile, config.declared.foil, config.interface) == (None, None, ())
    assert 'is = "?"  # pcie1, pcie2, pcie3, pcie4, pcie5' in written
    assert 'net_classes = ["85Ohm-diff_PCIE"]' in written
    assert check_board(path).verdicts == before.verdicts


@pytest.mark.slow
def test_a_filled_in_init_file_proves_the_board(board: Callable[..., Path]) -> None:
    """From init to fit: the answers that the fixture board's own settings hold, the chip's own loss among them."""
    path = board(FIT, configured=False)
    run("init", path, "--yes")
    target = path.with_name("stackwright.toml")

    text = target.read_text()
    for key, value in (
        ("profile", '"inference-pcie"'),
        ("impedance_tolerance_pct", "5"),
        ("foil", '"VLP"'),
        ("is", '"pcie5"\npackage_loss_db = 3'),
    ):
        text = re.sub(rf'^{key} = "\?"', f"{key} = {value}", text, flags=re.MULTILINE)
    target.write_text(text)

    assert run("check", path).out.startswith("FIT  for inference-pcie")


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo terminal")
def test_init_asks_at_most_five_questions_and_understands_mistakes(board: Callable[..., Path]) -> None:
    """A wrong answer is explained and requested again; a profile answers the form by itself; a pin is a pin."""
    path = board(FIT, configured=False)
    parent, child = os.openpty()
    typed = ("inference-pci", "inference-pcie", "500", "5 %", "vlpp", "VLP", "pcie5")
    os.write(parent, "".join(f"{line}\n" for line in typed).encode())

    process = subprocess.Popen(
        [sys.executable, "-m", "stackwright", "init", "-i", str(path)],
        stdin=child,
        stdout=child,
        cwd=ROOT,
        env=environment(),
    )
    os.close(child)
    said = all_of(parent)

    assert process.wait() == 0
    assert 'did you mean "inference-pcie"?' in said
    assert "'500' is no percentage" in said
    assert 'did you mean "VLP"?' in said
    prompts = re.findall(r"Workload, e|Form factor, e|Impedance tolerance asked|Foil grade or|Which are the nets", said)
    assert len(prompts) == len(typed)
    assert len(set(prompts)) == 4
    checked = run("check", path).out
    assert checked.startswith("NOT PROVEN  for inference-pcie")
    assert (
        "1 mandatory requirement not proven: insertion loss of declared links" in checked
    )  # its package is not needed


def all_of(terminal: int) -> str:
    """Return all that a program writes to a pseudo terminal until it closes it."""
    said = b""
    while True:
        try:
            piece = os.read(terminal, 4096)
        except OSError:
            break
        if not piece:
            break
        said += piece
    os.close(terminal)
    return said.decode().replace("\r\n", "\n")


@pytest.mark.slow
def test_init_never_overwrites_unless_told_to(board: Callable[..., Path]) -> None:
    """Declarations are a user's work."""
    path = board(FIT)
    before = path.with_name("stackwright.toml").read_text()

    ran = run("init", path, "--yes")

    assert ran.code == 2
    assert "is there already; " in ran.err
    assert path.with_name("stackwright.toml").read_text() == before
    assert run("init", path, "--yes", "--force").code == 0
    assert path.with_name("stackwright.toml").read_text() != before


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(path.name for path in BOARDS.iterdir() if path.is_dir()))
def test_init_writes_a_valid_file_for_every_board(board: Callable[..., Path], name: str) -> None:
    """No stackup, no project, a stackup that contradicts the layers: all the same."""
    path = board(name, configured=False)

    ran = run("init", path.parent)

    assert ran.code == 0
    load_config(path.with_name("stackwright.toml"))


# --- the README ------------------------------------------------------------------------------------------------------

README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    """Return the README's fenced blocks of a kind."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def test_the_readme_installs_checks_and_tests_in_two_commands() -> None:
    """CI runs these two blocks as they stand; the commands that the first one prints run in the same shell."""
    install, test = blocks("sh")

    assert install.startswith("python3 -m venv .venv && . .venv/bin/activate && pip install -q . && stackwright check ")
    assert (ROOT / install.split()[-1]).is_file()
    assert test == ".venv/bin/pip install -q -e '.[dev]' && .venv/bin/pytest -q -n auto --dist loadfile\n"


@pytest.mark.slow
@pytest.mark.parametrize("shown", [block for block in blocks("text") if block.startswith("$ ")], ids=lambda b: b[:30])
def test_a_report_in_the_readme_is_what_the_program_says(shown: str) -> None:
    """Captured, not written by hand; `[...]` stands for what was left out, once at most."""
    command, _, report = shown.partition("\n")

    real = run_process(*command.split()[2:]).out

    first, *last = report.split("[...]\n")
    assert len(last) <= 1
    assert real.startswith(first)
    assert real.endswith(last[0].lstrip("\n") if last else first)


def test_the_readme_is_short_and_begins_with_a_picture() -> None:
    """Ten seconds have to be enough."""
    assert len(README.encode()) <= 8000
    assert "](fixtures/pictures/" in README[:800]
    pictures = re.findall(r"!\[[^\]]{20,}\]\(([^)]+)\)", README)
    assert len(pictures) >= 2
    assert all((ROOT / picture).is_file() for picture in pictures)


@pytest.mark.slow
def test_commands_and_rules_that_the_readme_names_exist() -> None:
    """A README that lies is worse than none."""
    commands = set(re.findall(r"stackwright ([a-z][\w-]*)", README)) - {"reports", "as", "says"}
    codes = set(re.findall(r"\b[A-Z]{3}\d{3}\b", README))

    assert {"check", "init", "fit", "suggest", "apply", "fab-pack", "explain"} <= commands
    for command in commands:
        assert run(command, "--help").code == 0, command
    assert codes <= {rule.code for rule in all_rules()}
    for path in re.findall(r"`((?:drc_rules|fixtures)/[\w/.-]+)`", README):
        assert (ROOT / path).exists(), path


@pytest.mark.slow
def test_boards_checked_side_by_side_are_reported_as_one_by_one() -> None:
    """Processes of their own, the order and the bytes of one after the other; a board that is lost stops no other."""
    boards = [str(BOARDS / FIT), "nowhere.kicad_pcb", str(BOARDS / "no_stackup")]
    alone = run("check", *boards, "--json", "--jobs", "1")
    together = run("check", *boards, "--json", "--jobs", "3")
    assert together == alone
    assert alone.code == 2
    assert len(json.loads(alone.out)["reports"]) == 2
