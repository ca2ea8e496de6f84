"""Options that commands share: one spelling each, former spellings that work as before, and their help."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from stackwright.__main__ import guarded
from stackwright.cli.app import run
from tests.support.boards import board_file, copied
from tests.support.cli.commands import commands
from tests.support.in_process import run_process

NAME = "edge_unmirrored_copper"
BOARD = board_file(NAME)
FAB = "layer,type,thickness mm\nF.Cu,copper,0.035\n"
HIDDEN = {"--json", "--html", "--markdown", "--svg", "--csv", "--all", "--grow"}
ODD = re.compile(
    r"\b(so many|for machines|begin a|mend|cure|nobody|told|as for check|taken for|beside)\b", re.IGNORECASE
)

Read = Callable[..., str]


@pytest.fixture
def read(capsys: pytest.CaptureFixture[str]) -> Read:
    """Return a function that runs a command line and returns what it prints."""

    def ran(*words: str, code: int = 0) -> str:
        assert run(list(words)) == code
        return capsys.readouterr().out

    return ran


def options_of(command: Any) -> Iterator[Any]:
    return (one for one in command.params if one.param_type_name == "option")


@pytest.mark.parametrize(("name", "command"), [pytest.param(n, c, id=n) for n, c in commands()])
def test_a_command_spells_its_output_as_all_commands_do(name: str, command: Any) -> None:
    """`--format FORMAT` and `-o/--output`; former spellings are accepted and not shown."""
    shown = {word for one in options_of(command) if not one.hidden for word in one.opts}
    formats = [one for one in options_of(command) if "--format" in one.opts]
    assert not shown & HIDDEN
    assert "--output" not in shown or "-o" in shown
    assert all(one.metavar == "FORMAT" and one.help.startswith("Output format: text (default)") for one in formats)
    hidden = {word.removeprefix("--") for one in options_of(command) if one.hidden for word in one.opts}
    listed = formats[0].help if formats else ""
    assert all(word in listed for word in hidden - {"all", "grow", "yes", "-y"})


@pytest.mark.parametrize(("name", "command"), [pytest.param(n, c, id=n) for n, c in commands()])
def test_the_help_of_a_command_is_plain(name: str, command: Any) -> None:
    """Every option says what it does, in the field's words."""
    texts = [command.help, command.short_help or "", command.epilog or ""]
    for one in options_of(command):
        assert one.hidden or one.help
        texts.append(one.help or "")
    assert not [found[0] for text in texts for found in ODD.finditer(text)]


@pytest.mark.parametrize(("name", "command"), [pytest.param(n, c, id=n) for n, c in commands()])
def test_help_fits_80_columns_and_its_examples_can_be_copied(name: str, command: Any) -> None:
    """Text wraps under its column; a long command goes on behind a backslash, an option with its value."""
    context = click.Context(command, info_name=f"stackwright {name}", terminal_width=80)
    lines = command.get_help(context).splitlines()

    assert max(map(len, lines)) <= 80
    joined = re.sub(r" \\\n +", " ", "\n".join(lines))
    written = [line.strip() for line in (command.epilog or "").splitlines() if line.startswith("  stackwright ")]
    assert [line for line in written if line not in joined and "   " not in line] == []


def test_an_option_that_commands_share_has_one_text() -> None:
    """It is declared once."""
    texts: dict[str, set[str]] = {}
    for name, command in commands():
        for one in options_of(command):
            if not one.hidden and (name, one.opts[0]) not in OF_THEIR_OWN:
                texts.setdefault(one.opts[0], set()).add(one.help)
    assert {word: said for word, said in texts.items() if len(said) > 1} == {}


OF_THEIR_OWN = {
    *((name, "--format") for name, _ in commands()),
    ("check", "--output"),
    ("baseline", "--output"),
    ("fab-pack", "--output"),
    ("touchstone", "--output"),
    ("fit", "--profile"),
    ("init", "--profile"),
    ("new", "--profile"),
    ("new", "--plan"),
    ("new", "--pick"),
    ("apply", "--layers"),
    ("profiles", "--layers"),
    ("impedance", "--interface"),
}
"""Options that mean something else there."""


@pytest.mark.parametrize(
    ("words", "format_"),
    [
        (["nets", "BOARD"], "json"),
        (["delay", "BOARD"], "json"),
        (["impedance", "BOARD", "--layer", "F.Cu", "--width", "0.2"], "json"),
        (["stackup", "BOARD"], "json"),
        (["stackup", "BOARD"], "svg"),
        (["stackup", "BOARD"], "csv"),
        (["stackup", "BOARD"], "markdown"),
        (["stackup", "BOARD"], "plan"),
        (["explain", "VIA001", "--board", "BOARD"], "json"),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_the_former_spelling_of_a_format_gives_the_same(read: Read, words: list[str], format_: str) -> None:
    """`--json` is `--format json`."""
    given = [str(BOARD) if word == "BOARD" else word for word in words]

    assert read(*given, f"--{format_}") == read(*given, "--format", format_) != ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nets", ".", "--format", "html"], "'html' is not one of text, json"),
        (["stackup", ".", "--svg", "--csv"], "--svg and --csv exclude each other"),
        (["stackup", ".", "--format", "svg", "--json"], "--format svg and --json exclude each other"),
        (["stackup", ".", "--to-scale"], "--to-scale goes with --format svg"),
        (["check", ".", "--verbose", "--quiet"], "--quiet excludes --verbose, --clauses and --full"),
        (["check", ".", "--open"], "--open goes with --format html"),
        (["fit", ".", "--open"], "--open goes with --format html"),
        (["check", ".", "--full", "-q"], "--quiet excludes --verbose, --clauses and --full"),
        (["check", ".", "--impedance", "nonsense"], "--impedance"),
    ],
    ids=" ".join,
)
def test_options_that_exclude_each_other_are_refused(
    capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    """Before anything is read."""
    from stackwright.__main__ import guarded

    assert guarded(lambda: run(words)) == 2
    assert said in capsys.readouterr().err


@pytest.mark.slow
def test_quiet_shows_the_headline_and_full_is_the_former_all(read: Read) -> None:
    """`-q` one line per board; `--full` as `--all` did; between them one screen, and `-v`."""
    quiet = read("check", str(BOARD), "-q")
    every = read("check", str(BOARD), "--full")
    assert quiet.count("\n") < read("check", str(BOARD)).count("\n") < read("check", str(BOARD), "-v").count("\n")

    assert quiet.count("\n") == 1
    assert quiet.partition("  ")[0] == every.partition("  ")[0] == "FIT"
    assert every == read("check", str(BOARD), "--all") != quiet


def test_without_suppressions_the_settings_let_nothing_pass(read: Read, tmp_path: Path) -> None:
    """Rules that `[check]` leaves out run, and its bar does not count; the command line's own options do."""
    board = copied("training_b200_lossy_prepreg", tmp_path)
    settings = board.with_name("stackwright.toml")
    settings.write_text(settings.read_text() + '\n[check]\nignore = ["MAT"]\nfail_on = "never"\n')
    told = " ".join(read("check", str(board)).split())
    assert "MAT001" not in told
    assert re.search(r"\d+ not looked at \(ignore MAT in stackwright\.toml\)", told)
    assert told.endswith("--no-suppressions")
    assert "MAT001" in read("check", str(board), "--no-suppressions", code=1)
    assert "MAT001" not in read("check", str(board), "--no-suppressions", "--ignore", "MAT", "--fail-on", "never")


@pytest.mark.slow
def test_a_page_for_a_terminal_goes_to_a_file_of_its_own(
    read: Read, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HTML is not read there; the file is named after the board, and `--open` shows it."""
    shown = tmp_path / "shown"
    opener = tmp_path / "opener"
    opener.write_text(f'#!/bin/sh\necho "$1" > "{shown}"\n', encoding="utf-8")
    opener.chmod(0o700)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STACKWRIGHT_OPEN", str(opener))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)

    out = read("diff", str(BOARD), str(BOARD), "--format", "html")

    page = tmp_path / f"{NAME}-stackwright.html"
    assert f"report written to {page.name}\n" in out
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert not shown.exists()
    if os.name == "posix":
        read("check", str(BOARD), "--format", "html", "--open")
        assert shown.read_text(encoding="utf-8").strip() == str(page)
        assert "Provenance" in page.read_text(encoding="utf-8")
    assert read("diff", str(BOARD), str(BOARD), "--format", "html", "--output", "-").startswith("<!DOCTYPE html>")


def test_a_page_for_a_pipe_goes_to_it(read: Read, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As before: `> page.html`."""
    monkeypatch.chdir(tmp_path)

    assert read("check", str(BOARD), "--format", "html").startswith("<!DOCTYPE html>")
    assert list(tmp_path.iterdir()) == []


def test_one_check_reads_each_file_once(read: Read, tmp_path: Path) -> None:
    """The settings are read, checked, searched for the lines of suppressions and named from one reading."""
    folder = tmp_path / NAME
    shutil.copytree(BOARD.parent, folder)
    settings = folder / "stackwright.toml"
    stale = '\n[[suppress]]\ncode = "VIA001"\nreason = "none"\nowner = "me"\nobject = "*"\n'
    settings.write_text(settings.read_text(encoding="utf-8") + stale, encoding="utf-8")
    opened: list[str] = []
    is_watching = True

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        if is_watching and event == "open" and str(arguments[0]).startswith(str(folder)):
            opened.append(Path(str(arguments[0])).name)

    sys.addaudithook(watch)  # cannot be removed again, so it is switched off
    out = read("check", str(folder))
    is_watching = False

    assert "suppression of VIA001, object * matches nothing" in " ".join(out.split())
    assert sorted(opened) == [f"{NAME}.kicad_pcb", f"{NAME}.kicad_pro", "stackwright.toml"]


@pytest.mark.parametrize(
    ("line", "some"),
    [
        ("check --profile inf", "inference-pcie"),
        ("check --form pcie", "pcie-card"),
        ("check --select VIA", "VIA001"),
        ("explain VIA", "VIA001"),
        ("suggest --interface pcie", "pcie5"),
        ("diff --format m", "markdown"),
        ("sugg", "suggest"),
    ],
)
def test_the_shell_completes_names(line: str, some: str) -> None:
    """Every answer begins with what was typed."""
    words = f"stackwright {line}"
    ran = run_process(_STACKWRIGHT_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(words.count(" ")))

    answers = [line.partition(",")[2] for line in ran.out.split()]
    assert some in answers
    assert all(answer.startswith(words.rpartition(" ")[2]) for answer in answers)


def test_an_empty_name_is_not_the_current_folder(capsys: pytest.CaptureFixture[str]) -> None:
    """`stackwright check "$BOARD"`, where the variable has no value."""
    assert run(["check", ""]) == 2
    assert "Invalid value for 'BOARD...': the name is empty" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["check", "x", "--jobs", "two"], "'--jobs': 'two' is no whole number; write it in digits"),
        (["check", "x", "--jobs", "1.5"], "'--jobs': '1.5' is no whole number"),
        (["check", "x", "--jobs", "0"], "'--jobs': 0 is not in the range x>=1"),
        (
            ["check", "x", "--format"],
            "error: stackwright check: Option '--format' requires an argument; see stackwright",
        ),
        (["--no-cache", "check", "-o"], "requires an argument; see stackwright check --help"),
        (["chek", "x", "--format"], "see stackwright --help"),
    ],
    ids=lambda value: " ".join(value)[:30],
)
def test_a_wrong_option_is_told_with_its_command(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of an option without its value, the help to see was that of the whole program."""
    assert run(words) == 2
    assert said in capsys.readouterr().err


def test_a_file_without_rights_is_told_as_other_files_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The reader of the board says so; it was told as a wrong value of an option, with the help as the next step."""
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert run(["check", str(BOARD), "-q"]) in (0, 1)
    assert "not readable" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["check", "-o", "r.html"], "r.html: is no name for the format text; give --format html for it"),
        (["check", "--format", "html", "-o", "r.json"], "r.json: is no name for the format html; give --format json"),
        (["check", "--format", "json", "-o", "a.json", "--format", "html", "-o", "B.SARIF"], "B.SARIF: is no name for"),
        (["fit", "--format", "json", "-o", "r.html"], "r.html: is no name for the format json"),
        (["stackup", "-o", "r.json"], "r.json: is no name for the format text; give --format json for it"),
    ],
    ids=lambda value: " ".join(value)[:40],
)
def test_a_file_is_not_named_for_another_format(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`-o report.html` alone wrote text, which no browser shows as a report."""
    monkeypatch.chdir(tmp_path)
    assert guarded(lambda: run([words[0], str(BOARD), *words[1:]])) == 2
    assert said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "words",
    [
        ["check", "-q", "-o", "r.txt"],
        ["check", "-q", "-o", "report"],
        ["check", "--format", "sarif", "-o", "s.json", "--format", "gitlab", "-o", "q.json"],
        ["check", "--format", "junit", "-o", "j.xml"],
        ["stackup", "--format", "json", "-o", "s.JSON"],
    ],
    ids=lambda value: " ".join(value)[:40],
)
def test_a_name_that_fits_or_says_nothing_is_taken(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert guarded(lambda: run([words[0], str(BOARD), *words[1:]])) in (0, 1)
    assert len(list(tmp_path.iterdir())) == words.count("-o")
