"""Boards, projects, settings and profiles of an attacker: they stay data.

What a single report does with a hostile name is tested next to each report; this is the way from files to the screen.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from drc_rules.requirements.profiles.profile import MOST_LEVELS, load_profile
from drc_rules.settings.config import load_config, parse_config
from drc_rules.settings.net_selection import matches
from stackup_lib.core.errors import ConfigError, StackwrightError
from stackup_lib.kicad import read_board
from stackup_lib.kicad.read.buses import MAX_MEMBERS, members
from stackup_lib.kicad.read.patterns import matcher
from stackup_lib.kicad.read.project import read_project
from stackwright.__main__ import guarded
from stackwright.cli.app import run
from stackwright.run.git import GitError
from stackwright.run.git import git as ask_git
from stackwright.run.revisions import board_at, is_revision
from stackwright.text.page import Page
from stackwright.text.words import clean
from tests.support.git import git
from tests.support.hang import no_hang
from tests.support.in_process import environment
from tests.support.kicad.kicad_boards import board_text
from tests.support.ordinary_user import ordinary_user
from tests.support.robustness.fuzz_targets import CONTROL, check_files


def _git_is_new() -> bool:
    if shutil.which("git") is None:
        return False
    said = subprocess.run(["git", "--version"], capture_output=True, text=True, check=False).stdout
    return [int(number) for number in re.findall(r"\d+", said)[:2]] >= [2, 38]


ROOT = Path(__file__).parents[2]
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="no git on the PATH")
needs_new_git = pytest.mark.skipif(not _git_is_new(), reason="no git 2.38 or later: it knows no safe.bareRepository")
needs_devices = pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no /dev/zero here")
NAMES = {
    "terminal": "\x1b[2J\x1b]0;owned\x07\x9b31m\u202e",
    "markup": '"><script>alert(1)</script><img src=x onerror=alert(1)>',
    "command": "\n::error file=x::y %0A ##[add-mask]x",
    "xml": "]]>&lt;\x00\x0b\ufffe\ud800",
    "template": "{{ 7*7 }}{% for x in y %}${A}%s%n{0}",
    "markdown": "[x](javascript:alert(1)) ![](http://x/y) @all `a` | b",
    "path": "../../../../tmp/owned",
    "long": "A" * 20_000,
}


def hostile_files(name: str) -> dict[str, bytes]:
    """The files of a board that calls nets, layers, materials, parts, classes and variables by a name."""
    quoted = json.dumps(name, ensure_ascii=True)[1:-1].replace("\\u00", "\\x").encode()
    quoted = re.sub(rb"\\u[0-9a-f]{4}", b"?", quoted)
    text = board_text().encode()
    for old in (b"GND", b"GND plane", b"FR4 natural", b"2116", b"R1", b"10k (1%)", b"plane (1)", b"lib:J", b"ENIG"):
        text = text.replace(b'"' + old + b'"', b'"' + old[:2] + quoted + b'"')
    classes = [{"name": "Default"}, {"name": name, "diff_pair_width": 0.1, "diff_pair_gap": 0.15}]
    patterns = [{"netclass": name, "pattern": "*"}, {"netclass": "nowhere", "pattern": name}]
    project = {"net_settings": {"classes": classes, "netclass_patterns": patterns}, "text_variables": {"A": name}}
    listed = json.dumps([name.replace("\ud800", "").replace("\x00", "")], ensure_ascii=False).replace("\x7f", "")
    settings = f'profile = "inference-pcie"\n[[interface]]\nis = "pcie5"\nnet_classes = {_toml(listed)}\n'
    return {
        "board.kicad_pcb": text,
        "board.kicad_pro": json.dumps(project).encode(),
        "stackwright.toml": settings.encode(),
    }


def _toml(listed: str) -> str:
    """A JSON list as TOML, which wants control characters escaped."""
    return "".join(c if c >= " " and c != "\x7f" and not "\x80" <= c < "\xa0" else f"\\u{ord(c):04x}" for c in listed)


def written(folder: Path, name: str) -> Path:
    """The board of `hostile_files` in a folder."""
    for file, data in hostile_files(name).items():
        (folder / file).write_bytes(data)
    return folder / "board.kicad_pcb"


# --- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_names_are_text_in_every_report(name: str, tmp_path: Path) -> None:
    """Text, HTML, Markdown, JSON, SARIF, JUnit, GitHub, GitLab and KiCad: well formed, and nothing that acts."""
    check_files(hostile_files(NAMES[name]), tmp_path)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("command", ["check", "nets", "stackup", "impedance", "init"])
def test_no_command_lets_a_name_drive_the_terminal_or_a_ci_runner(
    command: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No control character reaches the terminal, no line of a log begins with a runner's command."""
    board = written(tmp_path, NAMES[name])
    if command == "init":
        (tmp_path / "stackwright.toml").unlink()
    code = guarded(lambda: run([command, str(board)]))

    said = capsys.readouterr()
    assert code in (0, 1, 2)
    for stream in (said.out, said.err):
        assert not CONTROL.search(stream)
        assert "\u202e" not in stream
        assert "##[" not in stream
        assert not [line for line in stream.splitlines() if line.lstrip().startswith("::")]
    assert "Traceback" not in said.err
    assert "defect of Stackwright" not in said.err


def test_a_file_name_cannot_drive_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A board may be called anything; the error about it is one line all the same."""
    name = tmp_path / "a\n::error::\x1b[31m##[error]b.kicad_pcb"
    try:
        name.write_bytes(b"")
    except OSError:
        pytest.skip("this file system knows no such names")
    assert guarded(lambda: run(["check", str(name)])) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert not CONTROL.search(said)
    assert "##[" not in said


def test_what_a_ci_runner_obeys_is_written_out() -> None:
    """GitHub's runner reads commands at the start of a line, and older ones anywhere in it."""
    assert clean("a ##[add-mask]b") == "a \\x23#[add-mask]b"
    page = Page()
    page.line("::error::x", indent=2)
    page.line("In1.Cu::x")
    assert page.text() == "  \\x3a:error::x\nIn1.Cu::x\n"


def test_a_name_is_no_template(tmp_path: Path) -> None:
    """Names go through the pages' templates, and are not read as such."""
    from stackwright.commands.check.command import check_one, reporter
    from stackwright.commands.check.request import CheckRequest

    checked, _ = check_one(written(tmp_path, NAMES["template"]), CheckRequest())
    page = reporter("html")([checked])
    assert "{{ 7*7 }}" in page
    assert "FR49" not in page
    assert "GN49" not in page


# --- files and folders ------------------------------------------------------------------------------------------------


def test_no_name_of_a_board_becomes_a_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever nets, layers and classes are called, files are written where the user said, and nowhere else."""
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    board = written(inside, NAMES["path"])
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    for arguments in (
        ["check", str(board), "--format", "html", "--output", str(inside / "report.html")],
        ["fab-pack", str(board), "--output", str(inside / "fab")],
        ["stackup", str(board), "--svg", str(inside / "stackup.svg")],
        ["baseline", str(board), "--output", str(inside / "baseline.json")],
    ):
        guarded(partial(run, arguments))
    capsys.readouterr()
    new = {path for path in tmp_path.rglob("*") if path.is_file()} - before
    assert new
    assert all(path.is_relative_to(inside) for path in new)
    assert not Path("/tmp/owned").exists()  # noqa: S108 - the name that must lead nowhere


@pytest.mark.parametrize("profile", ["/etc/passwd", "../../../../etc/passwd", "~/.ssh/id_rsa", "edge\x00.toml", "con"])
def test_a_profile_of_the_settings_opens_no_file_but_a_profile(profile: str, tmp_path: Path) -> None:
    """What does not end in `.toml` is looked up among the shipped ones, never opened."""
    (tmp_path / "board.kicad_pcb").write_text(board_text(), encoding="utf-8")
    (tmp_path / "stackwright.toml").write_text(f"profile = {_toml(json.dumps(profile))}\n", encoding="utf-8")
    from drc_rules.engine.check import check_board

    with pytest.raises(ConfigError, match="there is no such profile"):
        check_board(tmp_path / "board.kicad_pcb")


SECRET = "hunter2hunter2"  # noqa: S105 - what must not be seen


@pytest.mark.parametrize(
    "secret", [f"{SECRET}\n", f'token = "{SECRET}"\n', f"[registry]\ntoken = '{SECRET}'\n", f'"token": "{SECRET}"']
)
@pytest.mark.parametrize("link", ["stackwright.toml", "board.kicad_pro", "board.kicad_dru", "own.toml"])
def test_a_link_to_a_secret_shows_nothing_of_it(
    link: str, secret: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A repository may hold links to files of the user who checks it; no message quotes what lies there."""
    outside, folder = tmp_path / "secret", tmp_path / "repository"
    outside.write_text(secret, encoding="utf-8")
    folder.mkdir()
    (folder / "board.kicad_pcb").write_text(board_text(), encoding="utf-8")
    if link == "own.toml":
        (folder / "stackwright.toml").write_text('profile = "own.toml"\n', encoding="utf-8")
    (folder / link).symlink_to(outside)
    guarded(lambda: run(["check", str(folder / "board.kicad_pcb"), "--all"]))
    said = capsys.readouterr()
    assert said.out + said.err
    assert SECRET not in said.out + said.err


@needs_devices
@pytest.mark.parametrize("link", ["board.kicad_pcb", "board.kicad_pro", "stackwright.toml", "base.json", "own.toml"])
def test_a_link_to_a_device_is_refused(link: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`/dev/zero` would fill the memory, a terminal would wait for ever."""
    board = tmp_path / "board.kicad_pcb"
    board.write_text(board_text(), encoding="utf-8")
    (tmp_path / link).unlink(missing_ok=True)
    (tmp_path / link).symlink_to("/dev/zero")
    more = {"base.json": ["--baseline", "base.json"], "own.toml": ["--profile", "own.toml"]}.get(link, [])
    arguments = [str(tmp_path / word) if word == link else word for word in more]
    with no_hang():
        assert guarded(lambda: run(["check", str(board), *arguments])) == 2
    said = capsys.readouterr().err
    assert "it is a device" in said or "no such profile file" in said


@pytest.mark.skipif(os.name != "posix", reason="Windows has other rights")
@pytest.mark.parametrize("words", [["check"], ["diff", "HEAD"], ["fit"]])
def test_a_folder_without_rights_is_no_defect_of_ours(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with ordinary_user() as folder:
        (folder / "board.kicad_pcb").write_text(board_text(), encoding="utf-8")
        folder.chmod(0o000)
        assert guarded(lambda: run([*words, str(folder / "board.kicad_pcb")])) == 2
    said = capsys.readouterr().err
    assert "Permission denied" in said
    assert "defect of Stackwright" not in said


def test_nothing_in_the_folder_of_a_board_is_imported(tmp_path: Path) -> None:
    """Modules next to a board are not run, nor are hooks of tests or of the interpreter."""
    board = tmp_path / "board.kicad_pcb"
    board.write_text(board_text(), encoding="utf-8")
    for module in ("json", "numpy", "sexpdata", "tomllib", "sitecustomize", "usercustomize", "conftest", "stackwright"):
        (tmp_path / f"{module}.py").write_text("open('ran', 'w').close()\n", encoding="utf-8")
    (tmp_path / "stackwright.pth").write_text("import os; open('ran', 'w').close()\n", encoding="utf-8")
    paths = os.pathsep.join(str(ROOT / path) for path in environment()["PYTHONPATH"].split(os.pathsep))
    ran = subprocess.run(
        [sys.executable, "-P", "-m", "stackwright", "check", board.name],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode in (0, 1), ran.stderr
    assert not (tmp_path / "ran").exists()


# --- bombs ------------------------------------------------------------------------------------------------------------

BOMBS = {
    "optional letters": ("a?" * 30 + "a" * 30, "a" * 30),
    "repeats side by side": ("a*a*a*a*a*a*b", "a" * 200),
    "anything side by side": (".*.*.*.*.*.*x", "a" * 200),
    "classes side by side": ("[a-z]*" * 6 + "1", "a" * 200),
    "ranges side by side": ("a{0,60}" * 6 + "b", "a" * 200),
    "choices": ("(a|a)" * 30 + "b", "a" * 30),
    "repeats in repeats": ("(a+)+b", "a" * 60),
    "choices in repeats": ("(a|aa)+b", "a" * 60),
    "groups of repeats": ("(a*)(a*)(a*)(a*)(a*)(a*)b", "a" * 200),
    "many parentheses": ("(" * 5000 + ")" * 5000, "a"),
    "many wildcards": ("*a" * 2000 + "b", "a" * 5000),
    "wildcards in settings": ("a*" * 2000 + "b", "a" * 5000),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_pattern_cannot_hold_up_a_check(bomb: str, tmp_path: Path) -> None:
    """Net class patterns are wildcards and regular expressions, those of our settings wildcards: all end soon."""
    pattern, name = BOMBS[bomb]
    path = tmp_path / "board.kicad_pro"
    rows = {"classes": [{"name": "C"}], "netclass_patterns": [{"pattern": pattern, "netclass": "C"}]}
    path.write_text(json.dumps({"net_settings": rows}), encoding="utf-8")
    with no_hang(30):
        read_project(path, [name, *(f"{name}{i}" for i in range(200))])
        matches(pattern, name)


@pytest.mark.parametrize(
    ("pattern", "name", "matched"),
    [
        ("/PCIE_.*_[PN]", "/PCIE_TX0_P", True),
        ("/(DP|DM|CK|CS|A|B|C|D)[0-9]+", "/CS12", True),
        ("^/U?S?B?.*_P$", "/USB_D_P", True),
        (".*PCIE.*TX.*_[PN]", "/A/PCIE3_TX0_N", True),
        (".*PCIE.*TX.*_[PN]", "/A/PCIE3_RX0_N", False),
    ],
)
def test_usual_expressions_are_still_tried_on_a_large_board(pattern: str, name: str, *, matched: bool) -> None:
    """With names of 60 characters and thousands of them, what people write is read as KiCad reads it."""
    test, remark = matcher(pattern, longest=60, names=5000)
    assert remark is None
    assert test(name) is matched


def test_a_bus_name_cannot_fill_the_memory() -> None:
    """A vector has at most some thousand members, a group of vectors some ten thousand; else it is a plain name."""
    assert len(members(f"A[0..{MAX_MEMBERS - 1}]")) == MAX_MEMBERS
    assert members("A[0..999999]") == ["A[0..999999]"]
    assert len(members("{A[0..3] B[0..3]}")) == 8
    bomb = "{" + " ".join(f"A{i}[0..4095]" for i in range(5000)) + "}"
    assert members(bomb) == [bomb]


@pytest.mark.parametrize("text", ["a = " + "[" * 50_000, "a = " + "{a = " * 50_000, "a = " + "9" * 5000])
def test_nested_settings_are_refused_in_one_line(text: str) -> None:
    """Python's parser gives up on them in ways of its own."""
    with no_hang(), pytest.raises(ConfigError, match="is not valid TOML"):
        parse_config(text)


def test_keys_in_keys_are_refused(tmp_path: Path) -> None:
    """A thousand dots make a thousand tables, whose text is no line for a user."""
    path = tmp_path / "stackwright.toml"
    path.write_text("profile." + ".".join(["a"] * 1000) + " = 1\n", encoding="utf-8")
    with no_hang(), pytest.raises(StackwrightError) as caught:
        load_config(path)
    assert len(str(caught.value)) < 2000


def test_profiles_that_rest_on_one_another_for_ever_are_refused(tmp_path: Path) -> None:
    """In a ring, in a long row, and in a row where each names the next one many times."""
    text = 'title = "p{0}"\nextends = {1}\n'
    for i in range(MOST_LEVELS + 2):
        (tmp_path / f"row{i}.toml").write_text(text.format(i, json.dumps([f"row{i + 1}.toml"])), encoding="utf-8")
        following = [f"wide{i + 1}.toml"] * 40 if i < MOST_LEVELS - 1 else ["edge"]
        (tmp_path / f"wide{i}.toml").write_text(text.format(i, json.dumps(following)), encoding="utf-8")
    (tmp_path / "ring.toml").write_text(text.format(0, '["ring.toml"]'), encoding="utf-8")
    with no_hang():
        with pytest.raises(ConfigError, match="rests on itself"):
            load_profile(str(tmp_path / "ring.toml"))
        with pytest.raises(ConfigError, match=f"more than {MOST_LEVELS} profiles deep"):
            load_profile(str(tmp_path / "row0.toml"))
        assert load_profile(str(tmp_path / "wide0.toml")).workload == "edge"


def test_a_net_name_of_a_megabyte_is_read(tmp_path: Path) -> None:
    """It costs its own length, not its length for every net."""
    nets = "".join(f'(net {i} "N{i}")' for i in range(1, 500)) + f'(net 500 "{"A" * 1_000_000}")'
    with no_hang():
        board = read_board(tmp_path / "board.kicad_pcb", text=board_text(nets=f'(net 0 "") {nets}').encode())
    assert len(board.nets[500]) == 1_000_000


# --- git --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one board."""
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "board.kicad_pcb").write_text(board_text(), encoding="utf-8")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "a board")
    return folder


@needs_git
@pytest.mark.parametrize(
    "revision",
    ["--upload-pack=touch ran", "--output=ran", "-o", "--exec=touch ran", "-Otouch ran", "HEAD --output=ran"],
)
def test_a_revision_is_never_an_option_of_git(revision: str, repository: Path) -> None:
    """What begins with a dash is no commit, and git is not run."""
    assert not is_revision(revision, repository)
    with pytest.raises(GitError, match="is no commit"), board_at(revision, repository / "board.kicad_pcb"):
        pass
    assert not list(repository.rglob("ran"))


@needs_new_git
def test_a_repository_inside_the_repository_names_no_program(repository: Path) -> None:
    """A bare repository among the files, whose settings name a program, does not count as the one that is checked."""
    bare = repository / "hw"
    (bare / "refs").mkdir(parents=True)
    (bare / "objects").mkdir()
    (bare / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    settings = (
        f'[core]\nrepositoryformatversion = 0\nbare = false\nworktree = "."\nfsmonitor = "touch {repository}/ran"\n'
    )
    (bare / "config").write_text(settings, encoding="utf-8")
    shutil.copy(repository / "board.kicad_pcb", bare / "board.kicad_pcb")
    with pytest.raises(GitError, match="bare repository"):
        ask_git("ls-files", "-m", folder=bare)  # without our guard, this runs the program
    assert not (repository / "ran").exists()


@needs_git
def test_a_link_in_a_commit_is_not_followed_out_of_it(repository: Path, tmp_path: Path) -> None:
    """Former boards are laid out from git's objects; a link that leads out of them is refused."""
    (tmp_path / "secret.toml").write_text(f'profile = "{SECRET}"\n', encoding="utf-8")
    (repository / "stackwright.toml").symlink_to(tmp_path / "secret.toml")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "a link")
    said = r"stackwright\.toml: is a link that leads to no file of that commit"
    with pytest.raises(GitError, match=said), board_at("HEAD", repository / "board.kicad_pcb"):
        pass
