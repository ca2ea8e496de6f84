"""The button in KiCad, without a KiCad: its package, what it says when something is wrong, markers, the report file."""

from __future__ import annotations

import io
import json
import os
import socket
import struct
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from PIL import Image

from drc_rules.engine.check import check_board
from drc_rules.report.findings import Finding, Location
from drc_rules.requirements.clauses import Severity
from stackup_lib.core.errors import StackwrightError
from stackwright.kicad import button, live
from stackwright.kicad.errors import KicadError
from stackwright.kicad.markers import MEMORY, markers_of, replace
from stackwright.kicad.open_board import Marker
from stackwright.run import browser
from tests.support.hang import FOR_EVER_S

ROOT = Path(__file__).parents[2]
ADDON = ROOT / "plugin" / "kicad_addon"
BOARD = ROOT / "fixtures/boards/training_b200_no_backdrill/training_b200_no_backdrill.kicad_pcb"

pytest.importorskip("kipy")


# --- the package -----------------------------------------------------------------------------------------------------


def build(target: Path) -> Path:
    """Run the command that builds the package."""
    subprocess.run([sys.executable, ADDON / "build.py", "--output", target], check=True, capture_output=True)
    return target


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package for KiCad's Plugin and Content Manager."""
    return build(tmp_path_factory.mktemp("package") / "stackwright-pcm.zip")


@pytest.fixture(scope="module")
def plugin(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package's plugin folder, unpacked far from the checkout."""
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(package) as archive:
        archive.extractall(folder)
    return folder / "plugins"


@pytest.mark.slow
def test_kicads_own_validator_takes_the_package(package: Path) -> None:
    """Without an error or a warning."""
    command = [sys.executable, "-m", "kipy.packaging", "validate", str(package)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)

    assert run.returncode == 0, run.stdout
    assert "[warning]" not in run.stdout


def test_the_same_checkout_gives_the_same_package(package: Path, tmp_path: Path) -> None:
    """To the byte, at another time and place."""
    assert build(tmp_path / "again.zip").read_bytes() == package.read_bytes()


def test_the_package_holds_our_code_with_its_data_and_nothing_else(package: Path) -> None:
    """Everything else comes from the package registry, by requirements.txt."""
    with zipfile.ZipFile(package) as archive:
        names = archive.namelist()

    expected = {
        "plugin.json",
        "main.py",
        "requirements.txt",
        "LICENSE",
        "icons",
        "stackup_lib",
        "drc_rules",
        "stackwright",
    }
    assert {name.split("/")[1] for name in names if name.startswith("plugins/")} == expected
    assert {
        "plugins/drc_rules/requirements/profiles/edge.toml",
        "plugins/stackwright/kicad/button.py",
        "resources/icon.png",
    } <= {*names}
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]


def test_the_requirements_are_the_projects(plugin: Path) -> None:
    """One list of dependencies; kicad-python with them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = (plugin / "requirements.txt").read_text().splitlines()

    assert set(lines) == {*project["dependencies"], *project["optional-dependencies"]["kicad"]}


def test_one_identifier_everywhere(plugin: Path) -> None:
    """The settings folder, the plugin and the package agree on who this is."""
    described = json.loads((plugin / "plugin.json").read_text())
    metadata = json.loads((ADDON / "metadata.json").read_text())

    assert described["identifier"] == metadata["identifier"] == live.PLUGIN


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_icons_have_the_sizes_of_kicads_toolbar(plugin: Path, theme: str) -> None:
    """24 pixels, and 48 for dense screens; the action names them."""
    action = json.loads((plugin / "plugin.json").read_text())["actions"][0]
    sizes = [struct.unpack(">II", (plugin / icon).read_bytes()[16:24]) for icon in action[f"icons-{theme}"]]

    assert sizes == [(24, 24), (48, 48)]


@pytest.mark.slow
def test_icons_are_those_of_the_script() -> None:
    """A picture that cannot be drawn again cannot be changed."""
    draw = module("draw_icons")
    assert pixels(draw.drawn(24, "dark")) == pixels((ADDON / "icons" / "check-dark-24.png").read_bytes())
    assert pixels(draw.drawn(64, "light")) == pixels((ADDON / "resources" / "icon.png").read_bytes())


def pixels(png: bytes) -> bytes:
    return Image.open(io.BytesIO(png)).convert("RGBA").tobytes()


def module(name: str) -> ModuleType:
    """Import a script of the add-on."""
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location(f"addon_{name}", ADDON / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    loaded = module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


# --- one clear line --------------------------------------------------------------------------------------------------


def click(plugin: Path, address: str) -> tuple[int, str]:
    """Start the action as KiCad does; its exit code and what it says. It ends by itself, whatever KiCad does."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    run = subprocess.run(
        [sys.executable, plugin / "main.py"],
        timeout=FOR_EVER_S,
        capture_output=True,
        text=True,
        check=False,
        cwd=plugin,
        env={**environment, "KICAD_API_SOCKET": address, "KICAD_API_TOKEN": ""},
    )
    assert run.stdout == ""
    return run.returncode, run.stderr


@pytest.mark.slow
def test_no_kicad_is_one_line_at_once(plugin: Path, tmp_path: Path) -> None:
    """KiCad has gone since, or its API was switched off."""
    address = f"ipc://{tmp_path}/none.sock"
    code, said = click(plugin, address)

    assert code == 2
    assert said == (
        f"error: KiCad: cannot be reached at {address}; "
        "start KiCad 10 with Preferences > Plugins > Enable KiCad API ticked\n"
    )


@pytest.mark.slow
def test_a_silent_kicad_is_one_line_within_ten_seconds(plugin: Path, tmp_path: Path) -> None:
    """The socket is there without an answer: dialling alone would wait for ever."""
    with socket.socket(socket.AF_UNIX) as silent:
        path = str(tmp_path / "s.sock")
        silent.bind(path)
        silent.listen(1)
        code, said = click(plugin, f"ipc://{path}")

    assert code == 2
    assert said.startswith("error: KiCad: did not answer within")
    assert said.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("absent", ["kipy", "sexpdata"])
def test_an_incomplete_environment_is_one_line(plugin: Path, absent: str) -> None:
    """A package that KiCad could not fetch, on a machine without a network."""
    program = f"import runpy, sys; sys.modules[{absent!r}] = None; runpy.run_path('main.py', run_name='__main__')"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=plugin)

    assert run.returncode == 2
    assert run.stderr.startswith("error: Stackwright's Python environment is not complete (")
    assert run.stderr.count("\n") == 1


def test_packages_of_the_environment_come_before_the_systems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """KiCad's PYTHONPATH names the system's first, which may hold another protobuf."""
    own = tmp_path / "venv" / "lib" / "python3.14" / "site-packages"
    own.mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))
    monkeypatch.setattr(sys, "path", [str(ADDON), "/usr/lib/python3/dist-packages", "/usr/lib/python3.14", str(own)])
    module("main").own_packages_first()

    assert sys.path == [str(ADDON), str(own), "/usr/lib/python3/dist-packages", "/usr/lib/python3.14"]


@dataclass
class Answers:
    """Stands for kicad-python's client: answers each command by its name, or raises."""

    by_command: dict[str, Any]
    asked: list[str] = field(default_factory=list)

    def send(self, command: Any, response_type: Callable[[], Any]) -> Any:
        """Answer a command."""
        name = type(command).__name__
        self.asked.append(name)
        answer = self.by_command[name]
        if isinstance(answer, Exception):
            raise answer
        return answer


def kicad_that(by_command: dict[str, Any]) -> Any:
    """A KiCad that answers so."""
    from kipy import KiCad

    return KiCad.from_client(Answers(by_command))  # type: ignore[arg-type]


def refusal(code: int) -> Exception:
    from kipy.errors import ApiError

    return ApiError("KiCad returned error: it says", code=code)  # type: ignore[arg-type]


def version(major: int) -> Any:
    from kipy.proto.common import commands

    answer = commands.GetVersionResponse()
    answer.version.major, answer.version.minor, answer.version.patch = major, 0, 3
    return answer


def documents(*names: str, folder: str = "/home/me/card") -> Any:
    from kipy.proto.common import commands

    answer = commands.GetOpenDocumentsResponse()
    for name in names:
        document = answer.documents.add()
        document.board_filename = name
        document.project.path = folder
    return answer


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (4, "KiCad: is still starting; wait until the board is shown, then press the button again"),
        (5, "KiCad: has no board open in its PCB editor; open the board, then press the button again"),
        (6, "KiCad: has ended; open the board in KiCad and press the button there"),
        (7, "KiCad: is busy; finish the running tool or close the open window, then press the button again"),
        (3, "KiCad: refused (KiCad returned error: it says); report this, with KiCad's version"),
    ],
)
def test_a_refusal_says_what_to_do(code: int, said: str) -> None:
    """By the status codes of KiCad's protocol."""
    with pytest.raises(KicadError) as caught:
        live.open_board(kicad_that({"GetOpenDocuments": refusal(code)}))

    assert str(caught.value).startswith(said)


def test_an_answer_that_does_not_come_says_to_wait() -> None:
    """As kicad-python reports its time limit: KiCad's own check is running."""
    from kipy.errors import ConnectionError as NoAnswer

    silent = NoAnswer("Error receiving reply from KiCad: Timed out")
    with pytest.raises(KicadError, match="did not answer within 90 s; wait until it is idle"):
        live.open_board(kicad_that({"GetOpenDocuments": silent}))


def test_no_board_open_is_said() -> None:
    """The editor is there, without a document."""
    with pytest.raises(KicadError, match="has no board open in its PCB editor"):
        live.open_board(kicad_that({"GetOpenDocuments": documents()}))


def test_a_board_without_a_name_has_to_be_saved_first() -> None:
    """It has no settings and no project yet."""
    with pytest.raises(KicadError, match=r"has never been saved; save it \(Ctrl\+S\)"):
        live.open_board(kicad_that({"GetOpenDocuments": documents("", folder="")}))


def test_an_older_kicad_is_refused() -> None:
    """Version 9 has an API too, without markers."""
    with pytest.raises(KicadError, match=r"is version 9\.0\.3; the button needs 10\.0 or later"):
        live.greeted(kicad_that({"GetVersion": version(9)}))
    live.greeted(kicad_that({"GetVersion": version(10)}))


def test_a_kicad_that_saves_no_copy_still_hands_over_the_board() -> None:
    """While one of its windows is open."""
    from kipy.proto.common.commands import editor_commands_pb2 as commands

    text = commands.SavedDocumentResponse(contents="(kicad_pcb)")
    opened = live.open_board(
        kicad_that(
            {
                "GetOpenDocuments": documents("card.kicad_pcb"),
                "SaveCopyOfDocument": refusal(7),
                "SaveDocumentToString": text,
            }
        )
    )

    assert opened.path == Path("/home/me/card/card.kicad_pcb")
    assert opened.content() == b"(kicad_pcb)"


# --- markers ---------------------------------------------------------------------------------------------------------


@cache
def real_finding() -> Finding:
    """The first finding on the fixture board."""
    return check_board(BOARD).findings[0]


def finding(severity: Severity, *places: Location, title: str = "a stub") -> Finding:
    """A finding like it."""
    return real_finding().model_copy(update={"severity": severity, "places": places, "title": title})


@pytest.mark.slow
def test_informations_get_no_marker() -> None:
    """KiCad would show them as errors."""
    found = [finding(severity) for severity in (Severity.INFO, Severity.WARNING, Severity.ERROR)]

    assert [marker.is_warning for marker in markers_of(found)] == [False, True]


def test_a_marker_says_what_in_one_line_and_points_at_the_items() -> None:
    """At the first place that has a position; an item once."""
    places = (
        Location(layer="F.Cu"),
        Location(uuid="u1", x_mm=3.5, y_mm=4),
        Location(uuid="u2", x_mm=9, y_mm=9),
        Location(uuid="u1"),
    )
    marker = markers_of([finding(Severity.ERROR, *places, title="net\n\x1b[31mX: too long")])[0]

    assert marker == Marker("VIA001 net \\x1b[31mX: too long", is_warning=False, at_mm=(3.5, 4), items=("u1", "u2"))


def test_markers_beyond_the_most_are_counted_in_the_last_one() -> None:
    """The errors stay."""
    found = [finding(Severity.WARNING)] * 9 + [finding(Severity.ERROR)] * 3
    markers = markers_of(found, most=5)

    assert [marker.is_warning for marker in markers] == [False, False, False, True, True]
    assert markers[-1].message == "Stackwright: 8 more findings without a marker; the report has all"
    assert len(markers_of(found, most=12)) == 12


@dataclass
class Canvas:
    """Stands for KiCad: keeps markers; refuses after a number of them."""

    room: int = 100
    shown: dict[str, tuple[Marker, tuple[float, float]]] = field(default_factory=dict)
    given: int = 0

    def corner_mm(self) -> tuple[float, float]:
        """The board's corner."""
        return 10, 20

    def add(self, marker: Marker, corner_mm: tuple[float, float]) -> str:
        """Show a marker."""
        if len(self.shown) == self.room:
            raise KicadError("KiCad", "is busy", "wait")
        self.given += 1
        self.shown[f"id{self.given}"] = marker, corner_mm
        return f"id{self.given}"

    def remove(self, ids: Sequence[str]) -> None:
        """Forget markers; unknown ids are no mistake."""
        for one in ids:
            self.shown.pop(one, None)


A, B = Path("/a/one.kicad_pcb"), Path("/b/two.kicad_pcb")
THREE = [Marker(f"STK00{n} x", is_warning=False) for n in (1, 2, 3)]


def test_a_second_run_replaces_the_markers_of_its_board_only(tmp_path: Path) -> None:
    """Each board has its own; the folder need not exist."""
    canvas, folder = Canvas(), tmp_path / "new" / "folder"
    replace(canvas, A, THREE, folder)
    replace(canvas, B, THREE[:1], folder)
    replace(canvas, A, THREE[:2], folder)

    assert sorted(canvas.shown) == ["id4", "id5", "id6"]
    assert json.loads((folder / MEMORY).read_text()) == {str(A): ["id5", "id6"], str(B): ["id4"]}
    assert {corner for _, corner in canvas.shown.values()} == {(10, 20)}


def test_markers_set_before_kicad_refused_are_remembered(tmp_path: Path) -> None:
    """So that the next run removes them."""
    canvas = Canvas(room=2)
    with pytest.raises(KicadError):
        replace(canvas, A, THREE, tmp_path)
    canvas.room = 100
    replace(canvas, A, THREE, tmp_path)

    assert sorted(canvas.shown) == ["id3", "id4", "id5"]


class Impatient(Canvas):
    """A canvas on which a second click begins and ends while the first is at work."""

    folder: Path
    clicked = False

    def add(self, marker: Marker, corner_mm: tuple[float, float]) -> str:
        """Show a marker."""
        if not self.clicked:
            self.clicked = True
            replace(self, A, THREE, self.folder)
        return super().add(marker, corner_mm)


def test_a_double_click_leaves_one_set_of_markers(tmp_path: Path) -> None:
    """KiCad starts a second process at a second click."""
    canvas = Impatient()
    canvas.folder = tmp_path
    replace(canvas, A, THREE[:2], tmp_path)

    assert sorted(canvas.shown) == ["id4", "id5"]
    assert json.loads((tmp_path / MEMORY).read_text()) == {str(A): ["id4", "id5"]}


@pytest.mark.parametrize("damaged", ["{", "[]", '{"/a/one.kicad_pcb": 3}', '{"/a/one.kicad_pcb": [7]}'])
def test_a_damaged_memory_is_begun_anew(tmp_path: Path, damaged: str) -> None:
    """Nothing in it is worth refusing a check."""
    (tmp_path / MEMORY).write_text(damaged)
    replace(Canvas(), A, THREE[:1], tmp_path)

    assert json.loads((tmp_path / MEMORY).read_text()) == {str(A): ["id1"]}


def test_markers_that_cannot_be_remembered_do_not_stay(tmp_path: Path) -> None:
    """The button could not remove them any more."""
    (tmp_path / "file").write_text("")
    canvas = Canvas()
    with pytest.raises(StackwrightError, match="cannot be made"):
        replace(canvas, A, THREE, tmp_path / "file" / "folder")

    assert canvas.shown == {}


# --- a click with a fake board ---------------------------------------------------------------------------------------


@dataclass
class FakeBoard(Canvas):
    """A live board whose text is a file's."""

    path: Path = BOARD
    settings: Path = Path()

    def content(self) -> bytes:
        """The board's text."""
        return self.path.read_bytes()

    def settings_folder(self, plugin: str) -> Path:
        """Where markers are remembered."""
        return self.settings / plugin


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which the test's browser writes what it was asked to open."""
    opener = tmp_path / "open er"
    opener.write_text(f'#!/bin/sh\necho "$1" "$PYTHONPATH" > {tmp_path}/opened\n')
    opener.chmod(0o755)
    monkeypatch.setenv(browser.OPENER, f"'{opener}'")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", "/usr/lib/python3/dist-packages")
    return tmp_path / "opened"


@pytest.mark.slow
def test_a_click_sets_markers_and_opens_the_report(
    opened: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The findings are those of the command line; the browser sees none of KiCad's variables."""
    board = FakeBoard(settings=tmp_path)
    code = button.press(board)

    page = Path(opened.read_text().strip())
    assert (code, capsys.readouterr().err) == (0, "")
    assert page.is_relative_to(tmp_path / "cache" / "stackwright" / "reports")
    assert "VIA001" in page.read_text(encoding="utf-8")
    findings = [f.model_dump(mode="json") for f in check_board(BOARD).findings]
    assert json.loads(page.with_suffix(".json").read_text())["reports"][0]["findings"] == findings
    assert len(board.shown) == sum(f["severity"] != "info" for f in findings) > 10


@pytest.mark.slow
def test_a_kicad_that_takes_no_markers_still_shows_the_report(
    opened: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line says why there are none."""
    assert button.press(FakeBoard(settings=tmp_path, room=0)) == 2
    assert capsys.readouterr().err == "error: no markers were set: KiCad is busy; wait\n"
    assert opened.exists()


@pytest.mark.slow
def test_a_report_that_cannot_be_opened_is_named(
    opened: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No browser, or one that fails: the markers are there all the same."""
    for opener, why in (("/nowhere/browser", "No such file or directory"), ("false", "false failed")):
        monkeypatch.setenv(browser.OPENER, opener)
        board = FakeBoard(settings=tmp_path)
        assert button.press(board) == 2
        said = capsys.readouterr().err
        assert said.startswith(f"error: {tmp_path}/cache/stackwright/reports/training_b200_no_backdrill-")
        assert why in said
        assert said.count("\n") == 1
        assert len(board.shown) > 10


def test_no_opener_opens_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """For machines without a screen."""
    monkeypatch.setenv(browser.OPENER, "")
    monkeypatch.setattr("subprocess.Popen", lambda *_, **__: pytest.fail("a program was started"))
    browser.open_in_browser(Path("/nowhere/report.html"))


def test_a_board_that_is_no_board_is_one_line(opened: Path, tmp_path: Path) -> None:
    """The reader's message, and no report."""
    wrong = tmp_path / "wrong.kicad_pcb"
    wrong.write_text("(kicad_sch)")
    with pytest.raises(StackwrightError):
        button.press(FakeBoard(path=wrong, settings=tmp_path))
    assert not opened.exists()
