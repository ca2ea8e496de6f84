"""Every command on every board that cannot be: a report, or one line and exit code 2; no traceback and no disguise.

Covered, each by every command that reads a board (the list is the command line's own, see
`test_no_command_and_no_form_of_one_is_forgotten`):

- numbers: negative, none (`nan`), endless, too large, too small, too long, hexadecimal, with a comma; as sizes and
  places of vias, tracks, pads, zones and the board's edge, as thickness, Dk and Df of the stackup (`PLACES` x
  `NUMBERS`);
- layers: 10,000 of them, twice in the table, twice in the stackup, a number twice;
- names: of nets, layers, laminates, parts and zones, with sequences for terminals, marks that turn the order of
  letters, and markup;
- text: UTF-16 and UTF-32 with and without their marks, a byte order mark, line ends of Windows and of old Macs, bytes
  of nothing, an empty file, another kind of file, versions that are none;
- the board cut off at several bytes (and for the reader, which all commands share, at every byte).

The first row of a command sees every board; those that judge or draw for half a second (`HEAVY`), of the numbers that
can be read only the large ones. Its other forms (`--json`, `--html`, ...) see what the reader refuses, of the numbers
every number and every place (`FEWER`), and of what is read one of each class (`ONE_OF_EACH`). `1e-999` reads as 0 and
is not judged twice. Commands that read other files, plans, tables, cases, baselines, settings, projects and rules, see
these damaged in the same ways (`odd_files`); and every option that takes a text or a number is given one that cannot
be.
"""

from __future__ import annotations

import functools
import io
import re
import sys
import unicodedata
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click
import pytest

from stackup_lib.core.errors import StackwrightError
from stackup_lib.kicad import read_board
from stackwright.__main__ import guarded
from stackwright.cli.app import app, run
from stackwright.cli.check import FORMATS
from stackwright.text.words import clean
from tests.support.hang import no_hang
from tests.support.remembered import equal_boards_checked_once
from tests.support.robustness.fuzz_targets import harmless
from tests.support.robustness.odd_boards import ANSI, FEWER, NUMBERS, PLACES, RTL, SOUND, cut_boards, odd_boards
from tests.support.robustness.odd_files import BOARD, odd_files, sound_files

REPORTS = [word for one in FORMATS for word in ("--format", one, "--output", f"report.{one}")]
ROWS = {
    "check": ["check", BOARD, "--all", "--format", "json", "--output", "report.json"],
    "check in all formats": ["check", BOARD, *REPORTS, "--all"],
    "check text": ["check", BOARD, "--profile", "inference-pcie"],
    "check json short": ["check", BOARD, "--json"],
    "check html full": [
        "check",
        BOARD,
        "--format",
        "html",
        "--full",
        "--output",
        "report.html",
        "--config",
        "plain.toml",
    ],
    "check two": ["check", "sound.kicad_pcb", BOARD, "--jobs", "1"],
    "check baseline": ["check", BOARD, "--baseline", "known.json"],
    "baseline": ["baseline", BOARD, "--output", "base.json"],
    "baseline there": ["baseline", BOARD, "--output", "known.json", "--grow"],
    "init": ["init", BOARD, "--force"],
    "stackup": ["stackup", BOARD],
    "stackup svg": ["stackup", BOARD, "--svg", "--to-scale"],
    "stackup markdown": ["stackup", BOARD, "--markdown"],
    "stackup csv": ["stackup", BOARD, "--csv"],
    "stackup json": ["stackup", BOARD, "--json"],
    "stackup plan": ["stackup", BOARD, "--plan"],
    "impedance": ["impedance", BOARD, "--target-diff", "85", "--gap", "0.15"],
    "impedance line": ["impedance", BOARD, "--layer", "In2.Cu", "--width", "0.2", "--reference", "In1.Cu,B.Cu"],
    "impedance json": ["impedance", BOARD, "--json", "--target-se", "50"],
    "nets": ["nets", BOARD],
    "nets explain": ["nets", BOARD, "--explain", "GND"],
    "nets json": ["nets", BOARD, "--json"],
    "nets format": ["nets", BOARD, "--format", "json"],
    "delay": ["delay", BOARD],
    "delay json": ["delay", BOARD, "--json"],
    "delay csv": ["delay", BOARD, "--format", "csv"],
    "touchstone": ["touchstone", BOARD, "--output", "links"],
    "pdn": ["pdn", BOARD, "--rail", "+12V", "--rail", "+3V3", "--target", "10", "-v"],
    "pdn json": ["pdn", BOARD, "--rail", "+12V", "--format", "json"],
    "pdn csv": ["pdn", BOARD, "--rail", "+12V", "--format", "csv"],
    "pdn svg": ["pdn", BOARD, "--rail", "+12V", "--format", "svg"],
    "explain": ["explain", "VIA002", "--board", BOARD, "--all"],
    "explain clause": ["explain", "board.stackup.symmetry", "--board", BOARD],
    "explain json": ["explain", "VIA002", "--board", BOARD, "--json"],
    "explain format": ["explain", "VIA002", "--board", BOARD, "--format", "json"],
    "fit": ["fit", BOARD],
    "fit html": ["fit", BOARD, "--html", "--output", "report.html"],
    "fit json": ["fit", BOARD, "--json", "--output", "report.json"],
    "suggest": ["suggest", BOARD, "--config", "plain.toml", "--profile", "edge", "--limit", "1"],
    "suggest html": [
        "suggest",
        BOARD,
        "--config",
        "plain.toml",
        "--profile",
        "edge",
        "--html",
        "--output",
        "report.html",
    ],
    "suggest json": [
        "suggest",
        BOARD,
        "--config",
        "plain.toml",
        "--profile",
        "edge",
        "--json",
        "--output",
        "report.json",
    ],
    "suggest plan": [
        "suggest",
        BOARD,
        "--config",
        "plain.toml",
        "--profile",
        "edge",
        "--limit",
        "1",
        "--plan",
        "new.toml",
    ],
    "apply": ["apply", "plan.toml", BOARD],
    "apply write": ["apply", "plan.toml", BOARD, "--write", "--change-stackup", "--layers", "--classes", "--rules"],
    "fab-pack": ["fab-pack", BOARD, "--output", "pack"],
    "compare": ["compare", BOARD, "fab.csv"],
    "compare json": ["compare", BOARD, "fab.csv", "--json", "--output", "report.json"],
    "match": ["match", BOARD, "--fab", "aisler"],
    "match json": ["match", BOARD, "--fab", "aisler", "--json"],
    "retarget": ["retarget", BOARD, "--to", "JLC04161H-3313"],
    "retarget json": ["retarget", BOARD, "--to", "JLC04161H-3313", "--json"],
    "retarget plan": ["retarget", BOARD, "--to", "JLC04161H-3313", "--plan", "new.toml"],
    "retarget write": ["retarget", BOARD, "--to", "JLC04161H-3313", "--write"],
    "release": ["release", BOARD, "top.gbr"],
    "release json": ["release", BOARD, "top.gbr", "--json"],
    "diff": ["diff", "sound.kicad_pcb", BOARD],
    "diff back": ["diff", BOARD, "sound.kicad_pcb"],
    "diff html": ["diff", "sound.kicad_pcb", BOARD, "--html", "--output", "report.html"],
    "diff json": ["diff", "sound.kicad_pcb", BOARD, "--json", "--output", "report.json"],
    "diff markdown": ["diff", "sound.kicad_pcb", BOARD, "--markdown", "--output", "report.markdown"],
}
"""Every command that reads a board, in every form; the first row of a command sees every board to its end."""

HEAVY = ("fit", "suggest", "compare", "fab-pack")
"""Rows that take the longest."""

WITHOUT_BOARD = {
    "new": ["new", "n.kicad_pcb", "--profile", "edge", "--plan", "plan.toml"],
    "validate": ["validate", "cases.csv"],
    "validate json": ["validate", "cases.csv", "--json"],
    "validate format": ["validate", "cases.csv", "--format", "json"],
    "schema": ["schema"],
    "rules": ["rules"],
    "completion": ["completion", "bash"],
    "fabs": ["fabs"],
    "fabs json": ["fabs", "--json"],
    "materials": ["materials", "370HR"],
    "profiles": ["profiles", "edge"],
    "profiles for": ["profiles", "--for", "inference", "--params", "7B"],
}
"""What reads no board: other files, or only what is typed."""

NOT_HERE = {
    "kicad": "`kicad doctor` reads KiCad's own settings, and no file of a board: test_kicad_doctor.py",
    "mcp": "runs the commands that are here, each in a process of its own: test_mcp.py",
}
FORMS = {"--json", "--html", "--format", "--markdown", "--csv", "--svg", "--plan", "--write", "--full", "--baseline"}
"""Options that make another form of a command, or let it read or write another file."""

ONE_OF_EACH = {
    "0 as a via's drill",
    "0 as a sheet's thickness",
    "9e9 as a foil's thickness",
    "a layer twice in the stackup",
    "ANSI in names",
    "right to left in names",
    "markup in names",
    "a version of tomorrow",
}
NEEDS_MORE = {
    ("stackup svg", "0 as a sheet's thickness"): "does not state every thickness, so it cannot be drawn to scale",
    ("stackup plan", "0 as a sheet's thickness"): "which no plan can ask for",
    ("stackup plan", "9e9 as a foil's thickness"): "which no plan can ask for",
    ("compare", "a version of tomorrow"): "^error: b.kicad_pcb, with the rows of fab.csv: has file version 29990101",
    ("compare json", "a version of tomorrow"): "has file version 29990101",
    ("apply", "a version of tomorrow"): "has file version 29990101",
    ("match", "a version of tomorrow"): "has file version 29990101",
    ("match json", "a version of tomorrow"): "has file version 29990101",
    ("retarget", "a version of tomorrow"): "has file version 29990101",
    ("retarget json", "a version of tomorrow"): "has file version 29990101",
    ("retarget plan", "a version of tomorrow"): "has file version 29990101",
    ("retarget write", "a version of tomorrow"): "has file version 29990101",
    ("apply write", "a version of tomorrow"): "has file version 29990101",
    ("impedance line", "0 as a sheet's thickness"): "thickness of dielectric 2 is not known; in KiCad, File > Board",
    ("impedance line", "a layer twice in the stackup"): "copper thickness of In2.Cu is not known; in KiCad, File",
}
"""Commands that need more than that a board can be read, and what they say."""

READ_BY = {
    "stackwright.toml": sorted({row[0] for row in ROWS.values()}),
    "b.kicad_pro": sorted({row[0] for row in ROWS.values()}),
    "b.kicad_dru": ["explain", "check", "fab-pack", "diff", "apply write"],
    "plan.toml": ["apply", "apply write", "new"],
    "fab.csv": ["compare", "compare json"],
    "cases.csv": ["validate", "validate json"],
    "known.json": ["check baseline", "baseline there"],
}
"""Which rows see a damaged file of this name: the first in every way, the others in one of each kind."""
ONE_OF_A_KIND = re.compile(
    r"^(nan|9e9) for .*[0-9]|^(ANSI|right to left|markup) .*escaped|^UTF-16$|^a byte|^cut off at \d{3}"
)

BOARDS = odd_boards() | cut_boards(7)
EVERY = ROWS | WITHOUT_BOARD
LONGEST = 1500


@functools.cache
def refusals() -> dict[str, str]:
    """The boards that the reader refuses, and what it says of them."""
    found = {}
    for name, content in BOARDS.items():
        try:
            read_board(Path(BOARD), text=content)
        except StackwrightError as error:
            found[name] = str(error)
    return found


def commands() -> dict[str, Any]:
    """The commands of the command line itself."""
    context = click.Context(app)
    return {name: app.get_command(context, name) for name in app.list_commands(context)}


@pytest.fixture(autouse=True)
def _remembered() -> Iterator[None]:
    with equal_boards_checked_once():
        yield


@pytest.fixture(scope="session")
def sound(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return sound_files(tmp_path_factory.mktemp("sound"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to run in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def disguises(text: str) -> list[str]:
    """Characters that move a terminal's cursor or turn the order of letters."""
    return sorted({hex(ord(c)) for c in set(text) if unicodedata.category(c) in ("Cc", "Cf") and c not in "\n\t\u00ad"})


def laid_out(folder: Path, files: dict[str, bytes]) -> None:
    """Exactly these files, in a folder in which a command may have written."""
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    for name, content in files.items():
        (folder / name).write_bytes(content)


def outcome(folder: Path, argv: list[str], files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
    """Run a command line; return its exit code and its one line of error. Fails unless all that it says is harmless."""
    laid_out(folder, files)
    out, err = io.StringIO(), io.StringIO()
    with monkeypatch.context() as patch, no_hang():
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        patch.setattr(sys, "stdin", io.StringIO())
        code = guarded(partial(run, argv))
    said = err.getvalue()
    assert code in (0, 1, 2), code
    assert "defect of Stackwright" not in said, said
    assert "Traceback" not in said + out.getvalue(), said
    assert "internal error" not in said, said
    if code == 2:
        assert re.fullmatch(rf"error: [^\n]{{1,{LONGEST}}}; [^\n]{{3,}}\n", said), said
    written = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    new = {path: data for path, data in written.items() if files.get(path.name) != data and path.suffix[:4] != ".kic"}
    for name, text in (("what is shown", out.getvalue()), ("what is said", said)):
        assert disguises(text) == [], name
    for path, data in new.items():
        if path.suffix == ".pdf":
            assert data.startswith(b"%PDF-") and data.rstrip().endswith(b"%%EOF"), path.name
        elif not path.name.endswith("-bak"):
            assert disguises(data.decode("utf-8")) == [], path.name
            harmless(path.suffix[1:], data.decode("utf-8"))
    if "--json" in argv and "--output" not in argv and code != 2:
        harmless("json", out.getvalue())
    if code != 2:
        assert out.getvalue() or new, "no report"
    else:
        changed = {path.name for path in written if path.name in files and files[path.name] != written[path]}
        assert changed == set(), "something was written over all the same"
    return code, said


def sees(row: str, name: str) -> bool:
    """Tell whether a row sees a board; see the top of this file."""
    first = next(one for one, argv in ROWS.items() if argv[0] == ROWS[row][0])
    number, _, place = name.partition(" as ")
    if name in refusals():
        return row == first or place not in PLACES or name in FEWER
    if row != first:
        return name in ONE_OF_EACH
    if row in HEAVY and place in PLACES and number != "9e9":
        return name in ONE_OF_EACH
    return number != "1e-999"


@pytest.mark.parametrize("row", ROWS)
def test_every_command_on_every_board_that_cannot_be(
    row: str, folder: Path, sound: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the reader refuses every command refuses in the same line; what is read is judged, without a disguise."""
    wrong: dict[str, object] = {}
    for name, content in BOARDS.items():
        refused = refusals().get(name)
        if not sees(row, name):
            continue
        try:
            code, said = outcome(folder, ROWS[row], sound | {BOARD: content}, monkeypatch)
            if refused is not None:
                assert (code, said) == (2, clean(f"error: {refused}") + "\n")
            elif code == 2:
                assert re.search(NEEDS_MORE.get((row, name), "^$"), said), said
        except AssertionError as error:
            wrong[name] = str(error)
    assert wrong == {}


@pytest.mark.parametrize("name", BOARDS)
def test_the_reader_refuses_or_reads_every_odd_board(name: str) -> None:
    """Numbers that are none, negative or endless are refused with their line; so are layers that are there twice."""
    number, _, place = name.partition(" as ")
    if name in refusals():
        said = refusals()[name]
        assert "\n" not in said
        assert len(said) < 600
        assert disguises(said) == []
        if place in PLACES or "layer" in name:
            assert re.match(r"b\.kicad_pcb, line \d+: ", said), said
        return
    is_size = place in PLACES and not place.endswith((" place", " end", " corner"))
    assert not is_size or float(number.replace("x", "e")) >= 0, f"{name} was read"
    assert name not in ("10,000 layers", "a layer twice in the table", "a layer's number twice")


@pytest.mark.parametrize("name", ["UTF-16", "UTF-16 without a mark", "UTF-32", "a byte order mark"])
def test_a_board_in_another_encoding_is_called_so(name: str) -> None:
    """KiCad reads none of these; "not a KiCad board" would send its owner looking for another file."""
    assert re.search("is UTF-(8|16|32) text.* which KiCad does not read; save it as plain UTF-8", refusals()[name])


def test_the_numbers_are_of_every_kind() -> None:
    """Negative, none at all, without end, too small, too long: none is forgotten."""
    assert {"-0.3", "nan", "inf", "1e999", "0"} <= set(NUMBERS)
    assert len(BOARDS) > 100


def test_a_board_cut_off_at_any_byte_is_refused(tmp_path: Path) -> None:
    """Only the whole board is one; blanks behind it do not count."""
    whole = SOUND.rstrip().encode()
    for end in range(len(whole)):
        with pytest.raises(StackwrightError):
            read_board(tmp_path / "b.kicad_pcb", text=whole[:end])
    assert read_board(tmp_path / "b.kicad_pcb", text=whole).copper_layers


def test_no_command_and_no_form_of_one_is_forgotten() -> None:
    """A new command, or a new option that makes another report, fails here until it has a row."""
    rows = list(EVERY.values())
    forgotten = sorted(set(commands()) - {argv[0] for argv in rows} - set(NOT_HERE))
    for name, command in commands().items():
        for option in command.params:
            names = FORMS & set(option.opts)
            typed = any(argv[0] == name and names & set(argv) for argv in rows)
            if "--format" in names:
                mine = {word.removeprefix("--") for argv in rows if argv[0] == name for word in argv}
                listed = option.help.removeprefix("Output format: text (default), ").partition(".")[0]
                forgotten += [f"{name} --format {one}" for one in listed.split(", ") if one not in mine]
            elif names and not typed:
                forgotten.append(f"{name} {min(names)}")
    assert forgotten == []
    assert set(NOT_HERE) <= set(commands()), "a command that is gone"
    reading = {name for name, command in commands().items() if reads_board(command)}
    assert reading - set(NOT_HERE) - {"new"} == {argv[0] for argv in ROWS.values()}, "`new` makes its board"


def reads_board(command: Any) -> bool:
    """Tell by its help whether a command takes a board."""
    return any("board" in f"{one.name} {one.metavar or ''}".lower() for one in command.params)


def test_each_form_sees_each_class() -> None:
    """What a form does not see is of a class of which it sees another."""
    for row in ROWS:
        seen = [name for name in BOARDS if sees(row, name)]
        numbers = {one.partition(" as ")[0] for one in seen if one in FEWER and one in refusals()}
        assert numbers == {number[:12] for number in NUMBERS} - {"0", "1e-999", "9e9"}
        assert {one.partition(" as ")[2] for one in seen} >= set(PLACES)
        assert set(seen) >= {"10,000 layers", "UTF-16", "a byte order mark", "an empty file", *ONE_OF_EACH}
        assert len([one for one in seen if one.startswith("cut off")]) >= 6


@pytest.mark.parametrize("file", READ_BY)
def test_every_file_beside_a_board_that_cannot_be(
    file: str, folder: Path, sound: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Settings, project, rules, plan, table, cases, baseline: used, or refused in one line that names the file."""
    wrong: dict[str, object] = {}
    for row in READ_BY[file]:
        there = {"plan.toml": sound["plan.toml"]} if row == "new" else sound
        assert outcome(folder, EVERY[row], there, monkeypatch)[0] != 2, "the sound file is refused"
        for name, what, content in odd_files(sound):
            if name != file or (row != READ_BY[file][0] and not ONE_OF_A_KIND.search(what)):
                continue
            try:
                code, said = outcome(folder, EVERY[row], there | {file: content}, monkeypatch)
                if code == 2:
                    assert file in said, said
            except AssertionError as error:
                wrong[f"{row}: {what}"] = str(error)
    assert wrong == {}


def typed_options() -> Iterator[tuple[str, str, str]]:
    """Command, option and kind of every option that takes a text or a number."""
    for name, command in commands().items():
        for option in command.params:
            if option.opts[0].startswith("--") and not option.is_flag:
                is_number = isinstance(option.type, click.IntRange | click.FloatRange)
                yield name, option.opts[0], "number" if is_number else "text"


@pytest.mark.parametrize("name", sorted({argv[0] for argv in EVERY.values()}))
def test_every_option_with_what_cannot_be(
    name: str, folder: Path, sound: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No number that cannot be is treated as one, and no text that is typed reaches the terminal as it is."""
    wrong: dict[str, object] = {}
    argv = next(one for one in EVERY.values() if one[0] == name)
    there = {"plan.toml": sound["plan.toml"]} if name == "new" else sound
    for _, option, kind in (one for one in typed_options() if one[0] == name):
        for value in ("nan", "-1", "1e999") if kind == "number" else (f"n{ANSI}{RTL}",):
            if option == "--output" and kind == "text":
                continue  # any name is a file's name
            try:
                code, _ = outcome(folder, [*argv, option, value], there, monkeypatch)
                if kind == "number" and code != 2:
                    wrong[f"{option} {value}"] = f"taken: {code}"
            except AssertionError as error:
                wrong[f"{option} {value}"] = str(error)
    assert wrong == {}
