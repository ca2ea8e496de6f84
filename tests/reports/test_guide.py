"""The guide tells what happens: its commands run and print what it shows, its Python runs, its settings are read."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

from docs.sessions import BOARDS, GUIDE, LEFT_OUT, ROOT, STEP, Run, runs
from drc_rules.requirements.profiles.assembly import ProfileFile
from drc_rules.settings.config import Config
from tests.support.banned_words import WORDS
from tests.support.in_process import run_as_read
from tests.support.remembered import equal_boards_checked_once

PAGES = sorted(GUIDE.glob("*.md"))
TYPED = re.compile(r"^\$ stackwright ", re.MULTILINE)
WITH_COMMANDS = [path for path in PAGES if TYPED.search(path.read_text(encoding="utf-8"))]
MOST_LINES = 70
LONG = ("tutorial", "declare", "troubleshooting", "glossary", "python_api")
"""Pages that are more than the answer to one question."""


def named(path: Path) -> str:
    return path.stem


def blocks(path: Path, language: str) -> list[str]:
    return [step["body"] for step in STEP.finditer(path.read_text(encoding="utf-8")) if step["language"] == language]


def in_this_process(command: list[str], *, cwd: Path, env: dict[str, str], **streams: object) -> object:
    """Run a command of a page: Stackwright in this process, another one as ever."""
    if command[:3] != [sys.executable, "-m", "stackwright"]:
        return subprocess.run(command, cwd=cwd, env=env, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    with equal_boards_checked_once():
        ran = run_as_read(*command[3:], cwd=cwd, environment=env)
    return SimpleNamespace(returncode=ran.code, stdout=ran.out.encode())


def outdated(run: Run) -> str:
    """Return what a run shows in place of what stands on the page; empty where nothing changed."""
    if run.exit_code not in (0, 1) or any("Traceback" in line for line in run.printed):
        return f"$ {run.line}: exit code {run.exit_code}\n" + "\n".join(run.printed)
    return "" if run.is_as_shown else f"$ {run.line} now prints\n" + "\n".join(run.printed)


@pytest.mark.slow
@pytest.mark.parametrize("path", WITH_COMMANDS, ids=named)
def test_commands_print_what_the_page_shows(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`python -m docs.sessions` renews a page whose output is another now; the first page here runs processes too."""
    if path != WITH_COMMANDS[0]:
        stand_in = SimpleNamespace(run=in_this_process, PIPE=subprocess.PIPE, STDOUT=subprocess.STDOUT)
        monkeypatch.setattr("docs.sessions.subprocess", stand_in)
    told = [outdated(run) for run in runs(path.read_text(encoding="utf-8"), tmp_path)]
    assert told
    assert "\n".join(filter(None, told)) == ""


@pytest.mark.slow
def test_python_prints_what_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every snippet runs, one after the other, where `fixtures` is."""
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures", target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    page = "\n".join(blocks(GUIDE / "python_api.md", "pycon"))
    test = doctest.DocTestParser().get_doctest(page, {}, "python_api", "python_api.md", 0)
    wrong: list[str] = []
    done = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=wrong.append)
    assert "".join(wrong) == ""
    assert done.attempted > 10


def test_settings_are_read() -> None:
    """Every example of `stackwright.toml`, or of a profile, has tables, keys and values that a check takes."""
    examples = [(path.stem, body) for path in PAGES for body in blocks(path, "toml")]
    assert len(examples) > 8
    for name, body in examples:
        read = tomllib.loads(body)
        assert (ProfileFile if "clause" in read else Config).model_validate(read), name


def test_pages_about_one_subject_are_short() -> None:
    """Who looks something up does not read a book."""
    lines = {path.stem: path.read_text(encoding="utf-8").count("\n") for path in PAGES if path.stem not in LONG}
    assert {name: count for name, count in lines.items() if count > MOST_LINES} == {}


def test_texts_use_the_words_of_the_field() -> None:
    """Blocks of code and quoted output are the program's own words."""
    for path in PAGES:
        prose = re.sub("^```.*?^```$|`[^`]+`", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        assert [found.group() for found in WORDS.finditer(prose)] == [], path.name


def test_symptoms_are_messages_of_the_program() -> None:
    """What is quoted in a heading of the troubleshooting page is what a user reads, and may search for."""
    folders = (ROOT / "stackup_lib", ROOT / "drc_rules", ROOT / "plugin" / "stackwright")
    source = "\n".join(path.read_text(encoding="utf-8") for folder in folders for path in folder.rglob("*.py"))
    headings = re.findall("^### (.*)", (GUIDE / "troubleshooting.md").read_text(encoding="utf-8"), re.MULTILINE)
    quoted = [text.removesuffix(" ...") for heading in headings for text in re.findall('"([^"]+)"', heading)]
    assert len(quoted) > 10
    assert [text for text in quoted if text not in source] == []


def run_of(shown: tuple[str, ...], printed: tuple[str, ...]) -> Run:
    return Run("stackwright check", shown, printed, 0, (0, 0))


def test_output_is_compared_line_by_line() -> None:
    printed = ("one", "two", "three", "four")
    same: list[tuple[str, ...]] = [printed, (), (LEFT_OUT, "four"), ("one", LEFT_OUT), (LEFT_OUT,)]
    for shown in (*same, ("one", LEFT_OUT, "three", "four")):
        assert run_of(shown, printed).is_as_shown, shown
    other: list[tuple[str, ...]] = [("one",), ("one", LEFT_OUT, "three"), ("two", LEFT_OUT)]
    for shown in (*other, ("one", LEFT_OUT, "two", "four")):
        assert not run_of(shown, printed).is_as_shown, shown


def test_output_is_renewed_passage_by_passage() -> None:
    shown = ("NOT FIT", LEFT_OUT, "1 error", "  Tg 140 C, 150 C is the least", LEFT_OUT)
    printed = ("NOT FIT", "board", "2 errors", "  new", "  Tg 140 C is below 150 C", "next")
    renewed = run_of(shown, printed).renewed()
    assert renewed.splitlines() == ["NOT FIT", LEFT_OUT, "2 errors", "  new", "  Tg 140 C is below 150 C", LEFT_OUT]
    with pytest.raises(ValueError, match="nothing like"):
        run_of(("NOT FIT", LEFT_OUT, "qqqqqqqq"), printed).renewed()


def test_a_page_is_followed(tmp_path: Path) -> None:
    """Boards and files are put down in the order of the page; nothing but the helpers is run without Stackwright."""
    page = (
        "<!-- board: missing_project -->\n<!-- file: a.toml -->\n```toml\nx = 1\n```\n"
        "<!-- file: a.toml:add -->\n```toml\ny = 2\n```\n"
        "```text\n$ ls\na.toml\n[...]\n$ cat a.toml # both\nx = 1\n\ny = 2\n```\n"
    )
    first, second = runs(page, tmp_path)
    assert "card.kicad_pcb" in first.printed
    assert [first.is_as_shown, second.is_as_shown] == [True, True]
    assert page[slice(*second.span)] == "x = 1\n\ny = 2\n"
    assert (BOARDS / "missing_project" / "stackwright.toml").read_bytes() == (
        tmp_path / "stackwright.toml"
    ).read_bytes()
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(ValueError, match="the guide runs"):
        list(runs("```text\n$ rm -r card\n```\n", other))
    assert os.listdir(other) == ["fixtures"]  # noqa: PTH208 - names only
