"""`stackwright mcp`: questions of an assistant through the protocol, bounded answers, a fence that holds."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.orphans import ORPHANED
from stackwright.assistants.bounded import MOST_CHARS, bounded
from stackwright.assistants.folders import board_in, boards_in, served
from stackwright.assistants.questions import questions
from tests.support.boards import BOARDS, board_file
from tests.support.hang import FOR_EVER_S
from tests.support.in_process import run_process

ROOT = Path(__file__).parents[2]
QUESTIONS = tomllib.loads((ROOT / "fixtures/expected/assistant_questions.toml").read_text(encoding="utf-8"))["question"]
OUTSIDE = 'word = "swordfish"\n'
MOST_OVERHEAD = 3000
"""Characters of an answer around what is bounded: what was cut."""

Got = TypeVar("Got")


needs_links = pytest.mark.skipif(os.name != "posix", reason="makes links")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The fixture boards, and boards and projects that are links to a place outside."""
    copied = tmp_path / "served" / "boards"
    shutil.copytree(BOARDS, copied)
    outside = tmp_path / "outside"
    outside.mkdir()
    shutil.copy(board_file("training_b200_fit"), outside / "secret.kicad_pcb")
    (outside / "secret.toml").write_text(OUTSIDE, encoding="utf-8")
    (outside / "secret.kicad_pro").write_text(OUTSIDE, encoding="utf-8")
    (copied / "linked.kicad_pcb").symlink_to(outside / "secret.kicad_pcb")
    linked = copied / "linked_project"
    linked.mkdir()
    shutil.copy(outside / "secret.kicad_pcb", linked / "linked_project.kicad_pcb")
    (linked / "linked_project.kicad_pro").symlink_to(outside / "secret.kicad_pro")
    return copied


def talk(folder: Path, conversation: Callable[[Any], Awaitable[Got]]) -> Got:
    """Start the server as an assistant's program does, and talk with it by the package's own client."""
    anyio = pytest.importorskip("anyio")
    mcp = pytest.importorskip("mcp")
    command = ["-m", "stackwright", "mcp", "--folder", str(folder)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "plugin")])}
    server = mcp.StdioServerParameters(command=sys.executable, args=command, env=environment, cwd=str(folder.parent))

    async def talked() -> Got:
        async with mcp.Client(server) as client:
            return await conversation(client)

    found: Got = anyio.run(talked)
    return found


def trees(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@needs_links
@pytest.mark.slow
def test_the_questions_of_an_assistant_are_answered(folder: Path) -> None:
    """Each with what it must say and nothing that it must not; nothing is written, and no answer is endless."""
    assert len(QUESTIONS) >= 30
    before = trees(folder.parents[1])

    async def ask(client: Any) -> list[str]:
        wrong = []
        for question in QUESTIONS:
            answer = await client.call_tool(question["tool"], question["arguments"])
            text = answer.content[0].text
            lacks = [part for part in question["says"] if part not in text]
            leaks = [part for part in question.get("without", ()) if part in text]
            as_asked = answer.is_error == question.get("is_error", False)
            one_line = not answer.is_error or (text.startswith("error: ") and "\n" not in text)
            if lacks or leaks or not as_asked or not one_line or len(text) > MOST_CHARS + MOST_OVERHEAD:
                wrong.append(f"{question['asks']} lacks {lacks}, has {leaks}: {len(text)} {text[:600]}")
        return wrong

    assert talk(folder, ask) == []
    assert trees(folder.parents[1]) == before


@needs_links
def test_the_server_shows_its_tools_and_refuses_in_one_line(folder: Path) -> None:
    """As reading only, with a schema each; a tool that is not there and a board outside are errors that say so."""

    async def ask(client: Any) -> tuple[Any, list[Any]]:
        listed = await client.list_tools()
        asked = [("write", {}), ("check", {"board": "../outside.kicad_pcb"}), ("check", {}), ("boards", {"first": 9})]
        asked.append(("check", {"bord": "a.kicad_pcb", "first": -1}))
        return listed.tools, [await client.call_tool(name, arguments) for name, arguments in asked]

    tools, answers = talk(folder, ask)
    assert {tool.name for tool in tools} == {
        *("boards", "check", "explain", "nets", "impedance", "suggest", "materials", "fabs")
    }
    assert all(tool.annotations.read_only_hint and tool.description for tool in tools)
    assert all(tool.input_schema["additionalProperties"] is False for tool in tools)
    assert [answer.is_error for answer in answers] == [True] * 5
    lines = [answer.content[0].text for answer in answers]
    assert lines[0].startswith("error: write: no such tool; there are check, ")
    assert "is outside of the folders that are served" in lines[1]
    assert "board: field required" in lines[2]
    assert lines[3] == "error: first=9: the answer has 1 entries; give an earlier one"
    assert lines[4].startswith(
        "error: check: first: input should be greater than or equal to 0; board: field required; "
    )
    assert lines[4].endswith('bord: no such argument, did you mean "board"?')


def test_every_question_of_the_file_names_a_tool() -> None:
    """And each tool is called at least once."""
    assert {question["tool"] for question in QUESTIONS} == set(questions())


def test_without_the_package_one_line_says_how_to_get_it(tmp_path: Path) -> None:
    """It is an extra: nothing else needs it."""
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util as u\nfind = u.find_spec\n"
        "u.find_spec = lambda name, package=None: None if name == 'mcp' else find(name, package)\n",
        encoding="utf-8",
    )
    path = os.pathsep.join([str(tmp_path), str(ROOT), str(ROOT / "plugin")])
    ran = run_process("mcp", "--folder", str(tmp_path), PYTHONPATH=path)
    wanted = "error: stackwright mcp: the package mcp is not installed; pip install mcp\n"
    assert (ran.code, ran.out, ran.err) == (2, "", wanted)


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    """Before anything is served."""
    with pytest.raises(StackwrightError, match="is not a folder; give --folder"):
        served([tmp_path / "none"])
    with pytest.raises(StackwrightError, match="21 folders"):
        served([tmp_path] * 21)
    assert served([tmp_path, tmp_path / "."]) == (tmp_path.resolve(),)


def asked(folder: Path, **arguments: str) -> dict[str, Any]:
    """The answer of the tool `check`, without the protocol around it."""
    anyio = pytest.importorskip("anyio")
    from stackwright.assistants.ask import answer_to

    question = questions()["check"].model_validate(arguments)
    answer: dict[str, Any] = json.loads(anyio.run(answer_to, question, (folder.resolve(),)))["answer"]
    return answer


@pytest.mark.parametrize("broken", [False, True])
def test_a_check_answers_for_one_board_and_names_it(tmp_path: Path, broken: bool) -> None:
    """A folder of two is refused, whether or not the first can be read: a fit board must not stand for both."""
    for name, board in (("a", "edge_jetson_carrier_fit"), ("z", "training_b200_lossy_prepreg")):
        shutil.copytree(BOARDS / board, tmp_path / name)
    if broken:
        (tmp_path / "a" / "edge_jetson_carrier_fit.kicad_pcb").write_text("(kicad_pcb", encoding="utf-8")
    names = "a/edge_jetson_carrier_fit.kicad_pcb, z/training_b200_lossy_prepreg.kicad_pcb"
    said = re.escape(f".: holds 2 boards ({names}); give the one you mean")
    with pytest.raises(StackwrightError, match=said):
        asked(tmp_path, board=".")
    with pytest.raises(StackwrightError, match=said):
        asked(tmp_path, board=".", at="findings")
    answer = asked(tmp_path, board="z")
    assert (answer["board"], answer["headline"]) == ("z/training_b200_lossy_prepreg.kicad_pcb", "not fit")


@needs_links
def test_a_board_is_found_in_one_of_the_folders(tmp_path: Path) -> None:
    """By its path from there or the whole one; not by one that leads out, nor where two have it."""
    first, second = tmp_path / "a", tmp_path / "b"
    for one in (first, second):
        one.mkdir()
        (one / "both.kicad_pcb").touch()
    (second / "one.kicad_pcb").touch()
    (first / "out.kicad_pcb").symlink_to(tmp_path / "elsewhere.kicad_pcb")
    folders = served([first, second])
    assert board_in("one.kicad_pcb", folders).path == Path("one.kicad_pcb")
    assert board_in(str(second / "one.kicad_pcb"), folders).folder == second.resolve()
    for typed, why in (
        ("both.kicad_pcb", "is in 2 of the folders"),
        ("../a/../elsewhere", "is outside"),
        (str(tmp_path), "is outside"),
        ("none.kicad_pcb", "no such file"),
        ("", "no path"),
        ("a\0b", "no path"),
    ):
        with pytest.raises(StackwrightError, match=why):
            board_in(typed, folders)
    with pytest.raises(StackwrightError, match="is outside"):
        board_in("out.kicad_pcb", served([first]))


@needs_links
def test_a_link_to_a_board_is_answered_for_with_the_settings_beside_it(tmp_path: Path) -> None:
    """Not as the board to which it leads; a link from elsewhere is none of the folder's."""
    folder = tmp_path / "served"
    (folder / "a").mkdir(parents=True)
    shutil.copytree(BOARDS / "edge_jetson_carrier_fit", folder / "b")
    (folder / "a" / "card.kicad_pcb").symlink_to("../b/edge_jetson_carrier_fit.kicad_pcb")
    (folder / "a" / "round.kicad_pcb").symlink_to("round.kicad_pcb")
    (tmp_path / "card.kicad_pcb").symlink_to("served/b/edge_jetson_carrier_fit.kicad_pcb")
    folders = served([folder])
    assert board_in("a/card.kicad_pcb", folders).path == Path("a/card.kicad_pcb")
    (listed,) = boards_in(folders)
    assert listed["boards"] == ["a/card.kicad_pcb", "a/round.kicad_pcb", "b/edge_jetson_carrier_fit.kicad_pcb"]
    with pytest.raises(StackwrightError, match="is outside"):
        board_in(str(tmp_path / "card.kicad_pcb"), folders)


@pytest.mark.parametrize("rows", [0, 3, 400, 20_000])
@pytest.mark.parametrize("text", [1, 500, 20_000])
def test_an_answer_is_never_longer_than_it_may_be(rows: int, text: int) -> None:
    """And where it is whole, nothing is said to be cut."""
    document = {"rows": [{"name": "x" * text, "inner": {"list": [1, 2, 3]}}] * rows, "total": rows}
    whole = len(json.dumps(document))
    answer = bounded(document)
    assert len(json.dumps(answer["answer"])) <= MOST_CHARS
    assert ("cut" in answer) == (whole > MOST_CHARS)
    assert len(answer.get("cut", ())) <= 13
    assert answer["answer"]["total"] == rows


def test_what_was_cut_is_reached_as_the_answer_says() -> None:
    """Following the instructions, again and again, brings every entry once."""
    document = {"rows": [{"number": number, "text": "x" * 90} for number in range(500)]}
    seen: list[int] = []
    first = 0
    while True:
        answer = bounded(document, "rows", first)
        seen += [row["number"] for row in answer["answer"]]
        more = [cut for cut in answer.get("cut", ()) if "for more" in cut]
        if not more:
            break
        first = int(more[0].partition("first=")[2].split()[0])
    assert seen == list(range(500))


def test_a_part_is_named_by_a_pointer() -> None:
    """With `/` and `~` in names written as JSON pointers write them; a wrong one gets a list of what there is."""
    document = {"a/b": [{"~": 5}], "rows": []}
    assert bounded(document, "/a~1b/0/~0") == {"answer": 5}
    for at, why in (("row", 'did you mean "rows"'), ("rows/0", "it is empty"), ("a~1b/7", "entries 0 to 0")):
        with pytest.raises(StackwrightError, match=why):
            bounded(document, at)
    with pytest.raises(StackwrightError, match="has no entries"):
        bounded({"a": 1}, "a", 3)


FENCED = """
import os, socket, subprocess, sys
from pathlib import Path
from stackwright.run.fence import fence_in
inside, outside = map(Path, sys.argv[1:])
fence_in([inside])
def refused(act):
    try:
        act()
    except PermissionError:
        return True
    return False
acts = [
    lambda: (outside / "f").read_text(),
    lambda: (inside / "link").read_text(),
    lambda: os.listdir(outside),
    lambda: os.scandir(inside / ".."),
    lambda: (inside / "new").write_text(""),
    lambda: open(inside / "f", "r+"),
    lambda: os.open(inside / "f", os.O_WRONLY),
    lambda: os.remove(inside / "f"),
    lambda: os.rename(inside / "f", inside / "g"),
    lambda: os.mkdir(inside / "d"),
    lambda: os.symlink("a", inside / "b"),
    lambda: os.chdir(outside),
    lambda: subprocess.run([sys.executable, "-V"]),
    lambda: os.system("true"),
    lambda: socket.create_connection(("127.0.0.1", 9)),
]
print([number for number, act in enumerate(acts) if not refused(act)], (inside / "f").read_text())
import numpy, tomllib, scipy.linalg
"""


@needs_links
def test_the_fence_lets_through_nothing_but_reading_inside(tmp_path: Path) -> None:
    """Neither by links nor by programs; modules are still found."""
    inside, outside = tmp_path / "in", tmp_path / "out"
    for one in (inside, outside):
        one.mkdir()
        (one / "f").write_text("text", encoding="utf-8")
    (inside / "link").symlink_to(outside / "f")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "plugin")])}
    ran = subprocess.run(
        [sys.executable, "-P", "-c", FENCED, inside, outside],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert (ran.stdout, ran.stderr) == ("[] text\n", "")
    assert sorted(path.name for path in inside.iterdir()) == ["f", "link"]


def test_a_question_ends_with_the_server() -> None:
    """Killed or not: its end of the pipe closes, and the process that works on an answer is gone without one."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "plugin")])}
    words = ["-P", "-m", "stackwright.cli.fenced", str(BOARDS), "--", "check", "training_b200_fit"]
    ran = subprocess.Popen(
        [sys.executable, *words], cwd=BOARDS, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert ran.stdin is not None
    ran.stdin.close()
    ran.stdin = None
    out, _ = ran.communicate(timeout=FOR_EVER_S)
    assert (ran.returncode, out) == (ORPHANED, b"")
