"""`check --kicad-drc`: KiCad's own check on a copy, as a section of its own; what goes wrong is said, never a hang."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from drc_rules.report.kicad_drc import LIMIT, SHOWN_TYPES, KicadDrc, KicadItem, KicadViolation, headline_why_with
from drc_rules.requirements.clauses import Severity
from fixtures.miniboard import MiniBoard, write
from stackup_lib.core.errors import ConfigError
from stackwright.cli.app import run
from stackwright.reporters import github, gitlab, html, json_, junit, kicad, markdown, sarif, text
from stackwright.results.checked import Checked
from stackwright.run.kicad_drc import _UnreadableError, kicad_drc, read_report, require_kicad_cli
from tests.support.mini import mini_file
from tests.support.reports.made_reports import SCHEMA, report, strict

posix = pytest.mark.skipif(sys.platform == "win32", reason="the pretended kicad-cli is a script")

Made = Callable[..., Path]
Row = dict[str, object]


def row(kind: str, severity: str = "error", *, excluded: bool = False, x: float = 1.0, y: float = 2.0) -> Row:
    items = [{"uuid": "0" * 8, "description": f"Track [/A] on F.Cu for {kind}", "pos": {"x": x, "y": y}}]
    found: Row = {"type": kind, "severity": severity, "description": f"KiCad says {kind}", "items": items}
    return {**found, "excluded": True, "comment": "agreed"} if excluded else found


def content(*violations: Row, opens: tuple[Row, ...] = (), **changes: object) -> str:
    data = {"coordinate_units": "mm", "kicad_version": "10.0.6", "source": "b.kicad_pcb", "date": "2026-01-01"}
    return json.dumps({**data, "violations": violations, "unconnected_items": opens, "schematic_parity": [], **changes})


SHORT, EDGE = row("shorting_items"), row("copper_edge_clearance")
HOLE = row("holes_co_located", "warning")
SILK = row("silk_overlap", "warning")


@pytest.fixture
def pretended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    """Put a kicad-cli on the PATH that writes a report, and does whatever else it is given."""

    def make(report_text: str = content(), body: str = "", *, code: int = 0) -> Path:
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        script = folder / "kicad-cli"
        lines = [
            f"#!{sys.executable}",
            "import os, pathlib, subprocess, sys, time",
            "words = sys.argv[1:]",
            f"pathlib.Path({str(tmp_path / 'called.txt')!r}).write_text('\\n'.join([*words, *os.listdir('.')]))",
            body,
            "out = pathlib.Path(words[words.index('--output') + 1])",
            f"out.write_bytes({report_text.encode()!r})",
            "pathlib.Path(words[-1]).with_suffix('.kicad_prl').write_text('KiCad writes this next to the board')",
            f"sys.exit({code})",
        ]
        script.write_text("\n".join(lines), encoding="utf-8")
        script.chmod(0o755)
        monkeypatch.setenv("PATH", str(folder))
        return script

    return make


@pytest.fixture
def board(tmp_path: Path) -> Path:
    """A board with project, custom rules and something else next to it."""
    folder = tmp_path / "boards"
    folder.mkdir()
    rules = "(version 1)\n(rule x (constraint track_width (min 0.08mm)) (condition \"A.NetName == '/A'\"))\n"
    made = MiniBoard.model_validate({"copper_layers": 2, "design_rules": rules})
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    return write(made, folder, "b")


def state(folder: Path) -> dict[str, tuple[str, int]]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {p.name: (hashlib.sha256(p.read_bytes()).hexdigest(), p.stat().st_mtime_ns) for p in files}


@posix
def test_kicad_is_given_a_copy_and_told_to_change_nothing(board: Path, pretended: Made, tmp_path: Path) -> None:
    """The copy has project and rules; nothing is filled anew or saved; the user's folder stays as it was."""
    pretended()
    before = state(board.parent)
    assert kicad_drc(board).kicad == "10.0.6"
    words = (tmp_path / "called.txt").read_text(encoding="utf-8").splitlines()
    assert words[:8] == ["pcb", "drc", "--format", "json", "--units", "mm", "--severity-all", "--output"]
    assert not {"--save-board", "--refill-zones", "--schematic-parity"} & set(words)
    assert Path(words[9]).name == board.name
    assert Path(words[9]).parent != board.parent
    assert not Path(words[9]).exists()
    assert set(words[10:]) - {"said.txt"} == {"b.kicad_pcb", "b.kicad_pro", "b.kicad_dru"}
    assert state(board.parent) == before


def test_without_kicad_the_command_says_what_to_do(
    board: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line before anything is checked, exit code 2; a program in the folder of the board is not KiCad's."""
    fake = board.parent / "kicad-cli"
    fake.write_text("#!/bin/sh\n", encoding="utf-8")
    fake.chmod(0o755)
    monkeypatch.chdir(board.parent)
    monkeypatch.setenv("PATH", os.pathsep.join(["", ".", str(tmp_path / "nowhere")]))
    with pytest.raises(ConfigError, match="kicad-cli is not on PATH; install KiCad 8 or newer"):
        run(["check", str(board), "--kicad-drc"])
    assert capsys.readouterr().out == ""
    with pytest.raises(ConfigError):
        require_kicad_cli()


@pytest.mark.slow
@posix
def test_a_kicad_that_hangs_is_ended_with_what_it_started(board: Path, pretended: Made, tmp_path: Path) -> None:
    """Its children too, which hold its output open."""
    started = tmp_path / "child.txt"
    child = f"subprocess.Popen(['/bin/sh', '-c', 'echo $$ > {started}; exec /bin/sleep 60'])"
    pretended(body=f"{child}\ntime.sleep(60)")
    begin = time.monotonic()
    found = kicad_drc(board, timeout_s=3)
    assert time.monotonic() - begin < 30
    assert found.failed == "kicad-cli did not finish in 3 s"
    assert found.next_step == "run `kicad-cli pcb drc b.kicad_pcb` to see what it says"
    child_pid = int(started.read_text(encoding="utf-8"))
    for _ in range(50):
        if not _runs(child_pid):
            break
        time.sleep(0.1)
    assert not _runs(child_pid)


def _runs(pid: int) -> bool:
    """Tell whether a process runs; one that is dead and not yet buried does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] != "Z"


@posix
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("sys.stdout.buffer.write(b'Failed to load board\\n'); sys.exit(3)", r"exit code 3: Failed to load board\)"),
        ("sys.stderr.buffer.write(b'\\xff\\x1b[31mno\\n'); sys.exit(1)", r"exit code 1: .\\x1b\[31mno\)"),
        ("os.kill(os.getpid(), 9)", r"exit code -9\)"),
        ("sys.exit(0)", r"exit code 0\)"),
    ],
)
def test_a_kicad_that_fails_is_told(body: str, said: str, board: Path, pretended: Made) -> None:
    """With its exit code and its last words, in which nothing steers a terminal."""
    pretended(body=body)
    assert re.fullmatch(rf"kicad-cli failed \({said}", kicad_drc(board).failed)


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", "it is not JSON"),
        (b"\xff\xfe{}", "it is not UTF-8 text"),
        (b"[" * 100_000, "it is not JSON"),
        (b"[]", "it is no report in millimetres"),
        (content(coordinate_units="in").encode(), "it is no report in millimetres"),
        (content(violations={}).encode(), "violations is no list"),
        (content(unconnected_items=["x"]).encode(), "unconnected_items holds what is no violation"),
        (
            content({**SHORT, "items": [{"description": "x", "uuid": "", "pos": {"x": "1", "y": 2}}]}).encode(),
            "a position",
        ),
        (content({**SHORT, "items": [{"description": "x", "uuid": "", "pos": None}]}).encode(), "a position"),
        (content({**SHORT, "description": 3}).encode(), "description is no text"),
        (content(SHORT).replace("1.0", "Infinity").encode(), "a position is no number"),
    ],
)
def test_a_report_that_is_none_is_refused(raw: bytes, why: str) -> None:
    """Whatever kicad-cli writes, the answer is an error that says why."""
    with pytest.raises(_UnreadableError, match=why):
        read_report(raw)


@posix
def test_a_report_that_is_none_is_told(board: Path, pretended: Made) -> None:
    """As what KiCad's check failed with."""
    pretended("{")
    assert kicad_drc(board).failed == "kicad-cli wrote a report that cannot be read (it is not JSON)"


def test_what_a_report_says() -> None:
    """Shown types one by one in a fixed order, others as counts, what is excluded or about libraries in neither."""
    rows = [SILK, HOLE, EDGE, SHORT, SILK, row("clearance", excluded=True), row("lib_footprint_issues", "warning")]
    rows += [row("track_width"), row("clearance", "ignore"), row("shorting_items", x=0.5)]
    opens = (row("unconnected_items"),)
    found = read_report(content(*rows, opens=opens).encode())
    assert found == read_report(content(*reversed(rows), opens=opens).encode())
    assert [(count.type, count.severity, count.count) for count, _ in found.by_type()] == [
        ("shorting_items", "error", 2),
        ("unconnected_items", "error", 1),
        ("copper_edge_clearance", "error", 1),
        ("holes_co_located", "warning", 1),
    ]
    assert [(one.type, one.count) for one in found.others] == [("silk_overlap", 2), ("track_width", 1)]
    assert found.excluded == 1
    assert found.summary == "2 shorts, 1 open and 1 copper-to-edge violation"
    assert (found.fails(Severity.ERROR), found.fails(Severity.WARNING)) == (True, True)
    assert not read_report(content(HOLE).encode()).fails(Severity.ERROR)
    assert read_report(content(HOLE).encode()).fails(Severity.WARNING)
    assert not read_report(content(row("track_width")).encode()).fails(Severity.INFO)


def test_where_kicad_stops_to_count_there_may_be_more() -> None:
    """It reports 199 of a type at most."""
    found = read_report(content(*[SHORT] * LIMIT, *[SILK] * LIMIT).encode())
    assert found.summary == "199 or more shorts"
    assert found.others[0].is_capped
    assert read_report(content(*[SHORT] * (LIMIT - 1)).encode()).summary == "198 shorts"


@pytest.mark.slow
@posix
@pytest.mark.parametrize(
    ("rows", "options", "code"),
    [
        ((), (), 0),
        ((SHORT,), (), 1),
        ((SHORT,), ("--fail-on", "never"), 0),
        ((HOLE,), (), 0),
        ((HOLE,), ("--fail-on", "warning"), 1),
        ((row("track_width"), SILK), (), 0),
        ((row("copper_edge_clearance", excluded=True),), (), 0),
    ],
)
def test_what_is_shown_counts_for_the_exit_code(  # noqa: PLR0917 - parameters and fixtures
    rows: tuple[Row, ...],
    options: tuple[str, ...],
    code: int,
    board: Path,
    pretended: Made,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """KiCad's errors as ours; what it says of other types, or what is excluded there, does not count."""
    pretended(content(*rows))
    command = ["check", str(board), "--select", "STK007", "--kicad-drc", *options]
    assert run(command) == code
    out = " ".join(capsys.readouterr().out.split())
    assert "KiCad DRC KiCad 10.0.6: " in out
    assert ("; KiCad DRC reports 1 short" in out) == (rows == (SHORT,))
    assert run([*command[:4], *options]) == 0
    assert "KiCad DRC" not in capsys.readouterr().out


@posix
def test_a_failure_of_kicad_leaves_our_report(board: Path, pretended: Made, capsys: pytest.CaptureFixture[str]) -> None:
    """It is shown, says that KiCad's check did not run, and the exit code is 2."""
    pretended(body="sys.exit(7)")
    assert run(["check", str(board), "--select", "STK007", "--kicad-drc"]) == 2
    said = capsys.readouterr()
    assert "KiCad DRC did not run: kicad-cli failed" in " ".join(said.out.split())
    assert "; KiCad DRC did not run" in said.out
    assert "kicad-cli failed (exit code 7)" in " ".join(said.out.split())
    assert re.search(r"error: .*b\.kicad_pcb: KiCad DRC did not run: kicad-cli failed .*; run `kicad-cli", said.err)


def test_a_headline_tells_of_a_short() -> None:
    """No headline stands above what KiCad reports without telling; one that reports nothing adds nothing."""
    drc = KicadDrc(kicad="10.0.6", violations=(violation("shorting_items"), violation("shorting_items")))
    assert headline_why_with("all is well", drc) == "all is well; KiCad DRC reports 2 shorts"
    assert headline_why_with("all is well", KicadDrc(kicad="10.0.6")) == "all is well"
    assert headline_why_with("all is well", KicadDrc(failed="x")) == "all is well; KiCad DRC did not run"


def violation(kind: str, says: str = "Items shorting two nets") -> KicadViolation:
    item = KicadItem(description="Track [/A] on F.Cu", uuid="0" * 8, x_mm=1.5, y_mm=2.25)
    zone = KicadItem(description="Zone [/B] on F.Cu", x_mm=0, y_mm=0)
    return KicadViolation(type=kind, description=says, severity="error", items=(zone, item))


def with_drc(drc: KicadDrc) -> Checked:
    return Checked(report(kicad_drc=drc, headline_why=headline_why_with("why", drc)), None, "0" * 64)


HOSTILE = "<b>x</b> ::error:: `|`"
DRC = KicadDrc(
    kicad="10.0.6",
    violations=tuple(violation("shorting_items", f"short {n} {HOSTILE}") for n in range(5)),
    others=read_report(content(SILK).encode()).others,
)


def shown_in(form: str, drc: KicadDrc) -> str:
    checked = with_drc(drc)
    if form == "text":
        return text.page(checked.report, verbose=True, clauses=True).text()
    modules = {
        "html": html,
        "markdown": markdown,
        "json": json_,
        "sarif": sarif,
        "junit": junit,
        "github": github,
        "gitlab": gitlab,
        "kicad": kicad,
    }
    return str(modules[form].render([checked]))


FORMATS = ("text", "html", "markdown", "json", "sarif", "junit", "github", "gitlab", "kicad")


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_shows_it(form: str) -> None:
    """Type, count and the first of them; nothing of what KiCad says acts in the format; without the option, nothing."""
    shown = shown_in(form, DRC).replace("\\_", "_")
    assert "shorting_items" in shown
    assert "short 0" in shown
    if form != "json":
        assert "5 shorts (shorting_items)" in shown
        assert "2 more" in shown or form == "html"  # the page lists ten
    if form in ("html", "markdown", "junit"):
        assert "<b>x" not in shown
    if form == "github":
        assert len(re.findall("^::error .*KIC001", shown, re.MULTILINE)) == 1
    if form == "junit":
        cases = {case.get("name"): case for case in ET.fromstring(shown).iter("testcase")}  # noqa: S314 - our own
        assert cases["KiCad DRC: shorting_items"].find("failure") is not None
    if form == "text":
        assert "x 1.500 mm, y 2.250 mm" in " ".join(shown.split())  # of the track, not of the zone
        assert "others 1 silk_overlap" in " ".join(shown.split())
    without = Checked(report(), None, "0")
    assert "KiCad DRC" not in (text.page(without.report, verbose=True, clauses=True).text() if form == "text" else "")


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_says_that_it_did_not_run(form: str) -> None:
    """No format takes a check that failed for a clean one."""
    failed = "kicad-cli did not finish in 600 s"
    assert failed in " ".join(shown_in(form, KicadDrc(failed=failed, next_step="run it")).split())


def test_the_json_report_has_all_of_it_and_meets_the_schema() -> None:
    """Every violation, the counts by type, and no key that the schema does not name."""
    data = json.loads(shown_in("json", DRC))
    found = data["reports"][0]["kicad_drc"]
    jsonschema.Draft202012Validator(strict(json.loads(SCHEMA.read_text()))).validate(data)
    assert len(found["violations"]) == 5
    assert found["counts"] == [{"type": "shorting_items", "severity": "error", "count": 5, "or_more": False}]
    assert "kicad_drc" not in json.loads(json_.render([Checked(report(), None, "0")]))["reports"][0]


@pytest.fixture
def broken_board(tmp_path: Path) -> Iterator[Path]:
    """A short, an open, copper beyond the edge and two holes that are too close."""
    tracks = [
        {"net": "/A", "layer": "F.Cu", "width_mm": 0.3, "path_mm": [[10, 10], [30, 10]]},
        {"net": "/B", "layer": "F.Cu", "width_mm": 0.3, "path_mm": [[20, 5], [20, 15]]},
        {"net": "/C", "layer": "F.Cu", "width_mm": 0.3, "path_mm": [[0.1, 30], [10, 30]]},
    ]
    pads = [{"number": str(k), "net": "/D", "at_mm": [k * 5, 0], "size_mm": [1, 1]} for k in (1, 2)]
    vias = [{"net": "/A", "at_mm": [50 + 0.31 * k, 10], "size_mm": 0.3, "drill_mm": 0.2} for k in (0, 1)]
    pads += [{"number": "3", "net": "/A", "at_mm": [-30, -30], "size_mm": [1, 1]}]
    pads += [{"number": "4", "net": "/B", "at_mm": [-20, -35], "size_mm": [1, 1]}]
    parts = [{"reference": "U1", "at_mm": [40, 40], "pads": pads}]
    data = {"copper_layers": 2, "tracks": tracks, "vias": vias, "parts": parts}
    folder = tmp_path / "boards"
    folder.mkdir()
    yield mini_file(folder, data, "b")


@pytest.mark.kicad
def test_a_real_kicad(broken_board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Finds each of them, leaves the folder as it was, and the headline says so."""
    before = state(broken_board.parent)
    assert run(["check", str(broken_board), "--kicad-drc", "--json"]) == 1
    assert state(broken_board.parent) == before
    found = json.loads(capsys.readouterr().out)["reports"][0]
    counts = {one["type"]: one["count"] for one in found["kicad_drc"]["counts"]}
    assert counts.keys() >= {"tracks_crossing", "unconnected_items", "copper_edge_clearance", "hole_to_hole"}
    assert counts.keys() <= {name for names in SHOWN_TYPES.values() for name in names}
    assert "KiCad DRC reports 1 short, 3 opens and 1 copper-to-edge violation" in found["headline_why"]
    assert found["kicad_drc"]["kicad"].startswith("10.")


@pytest.mark.kicad
def test_a_real_kicad_cannot_read_a_board_that_is_none(tmp_path: Path) -> None:
    """What it fails with is passed on."""
    board = tmp_path / "b.kicad_pcb"
    board.write_text("(kicad_pcb (version 20240108", encoding="utf-8")
    assert kicad_drc(board).failed.startswith("kicad-cli failed (exit code ")
    assert shutil.which("kicad-cli") is not None
