"""Two states of a board: what changed in ohms, decibels and findings, and only what is new stops a commit."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest

from drc_rules.engine.board_diff import row_changes
from drc_rules.report.stackup_rows import StackupRow, StackupView, Stated
from stackup_lib.board.board import LayerKind
from stackup_lib.core.errors import StackwrightError
from stackwright.cli.app import run
from stackwright.commands.diff.command import DiffDocument, DiffError, State, states, states_below
from stackwright.run.git import GitError
from stackwright.run.revisions import board_at
from tests.support.boards import BOARDS, board_file
from tests.support.git import git
from tests.support.mini import mini_file
from tests.support.remembered import equal_boards_checked_once

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "fixtures" / "schemas" / "diff-v1.json"
FIT, LOSSY = "training_b200_fit", "training_b200_lossy_prepreg"
CARD = "hardware/card.kicad_pcb"


def put(folder: Path, name: str) -> None:
    """Lay a fixture board out as the repository's card."""
    for suffix in (".kicad_pcb", ".kicad_pro"):
        shutil.copy(BOARDS / name / f"{name}{suffix}", folder / CARD.replace(".kicad_pcb", suffix))


@pytest.fixture
def remembered() -> Iterator[None]:
    """Each state of the card is checked once in this file."""
    with equal_boards_checked_once():
        yield


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository of two commits: a board that is fit, then one with a wrong prepreg."""
    (tmp_path / "hardware").mkdir()
    git(tmp_path, "init", "-q")
    shutil.copy(BOARDS / FIT / "stackwright.toml", tmp_path / "hardware" / "stackwright.toml")
    for name in (FIT, LOSSY):
        put(tmp_path, name)
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-qm", name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.usefixtures("remembered")
def test_two_commits_differ_in_ohms_and_decibels_and_the_new_finding_fails(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """0.091 mm of 370HR under In4 in place of 0.089 mm of Megtron 7: 87.0 ohm become 83.9, no Df is known there."""
    assert run(["diff", "HEAD~1", "HEAD", CARD]) == 1
    said = capsys.readouterr().out
    assert said.splitlines()[:3] == ["Diff", f"  HEAD~1:{CARD}", f"  -> HEAD:{CARD}"]
    assert "FIT -> NOT FIT" in said
    assert "R-5680(N) 1080 RC70%  ->  370HR 1080 RC71%" in " ".join(said.split("\n"))
    assert "87.0 -> 83.9" in said
    assert "2.07 -> ?" in said
    assert "2 new, 0 fixed, 1 unchanged" in said
    assert "NVLink 5 (B200): adjacent Df <= 0.002 at 10 GHz met -> failed" in " ".join(said.split())


def test_the_schema_is_the_one_of_the_program() -> None:
    """The committed schema is what the models say, so that neither changes alone."""
    made = DiffDocument.model_json_schema(mode="serialization")
    committed = json.loads(SCHEMA.read_text(encoding="utf-8"))
    assert committed == {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}


@pytest.mark.slow
@pytest.mark.usefixtures("remembered")
def test_what_is_repaired_is_fixed_and_passes(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same two commits the other way round."""
    assert run(["diff", "HEAD", "HEAD~1", CARD, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(document)
    found = document["diff"]
    assert [one["code"] for one in found["fixed"]] == ["MAT001", "MAT001"]
    assert found["new"] == []
    assert found["headlines"] == ["not fit", "fit"]
    assert {row["layer"] for row in found["rows"]} == {"dielectric 5", "dielectric 23"}


@pytest.mark.slow
@pytest.mark.usefixtures("remembered")
def test_the_file_as_it_lies_there_is_compared_with_a_commit(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`stackwright diff HEAD card.kicad_pcb` before a commit; the folder's only board need not be named."""
    put(repository, FIT)
    assert run(["diff", "HEAD", CARD]) == 0
    first = capsys.readouterr().out
    assert "NOT FIT -> FIT" in first
    assert f"HEAD:{CARD} -> {CARD}" in " ".join(first.split())


@pytest.mark.slow
def test_the_same_state_differs_in_nothing(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No finding is new, so nothing fails, however bad the board is."""
    assert run(["diff", "HEAD", "HEAD", CARD]) == 0
    said = capsys.readouterr().out
    assert "NOT FIT, as before" in said
    assert "Stackup  unchanged" in said
    assert "0 new, 0 fixed, 3 unchanged" in said


@pytest.mark.slow
@pytest.mark.usefixtures("remembered")
def test_only_what_a_commit_brings_gates(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`check --against`: the headline stays what it is, the exit code speaks of the change alone."""
    assert run(["check", CARD]) == 1
    assert run(["check", CARD, "--against", "HEAD"]) == 0
    out = capsys.readouterr().out
    assert "(3 findings accepted)" in out
    assert "accepted  3 already in HEAD" in out
    assert run(["check", CARD, "--against", "HEAD~1"]) == 1
    assert "(1 finding accepted)" in capsys.readouterr().out  # a remark that was there before


@pytest.mark.slow
@pytest.mark.usefixtures("remembered")
def test_a_board_that_a_commit_does_not_have_is_judged_as_a_whole(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A new board has nothing to lean on."""
    for suffix in (".kicad_pcb", ".kicad_pro"):
        shutil.copy(repository / CARD.replace(".kicad_pcb", suffix), repository / "hardware" / f"second{suffix}")
    assert run(["check", "hardware/second.kicad_pcb", "--against", "HEAD"]) == 1
    with pytest.raises(GitError, match="not in that commit"), board_at("HEAD", Path("hardware/second.kicad_pcb")):
        pass


@pytest.mark.slow
@pytest.mark.usefixtures("remembered")
def test_what_another_workload_does_not_require_is_not_fixed(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nor is what was accepted in between: both are named. With the settings as they were nothing is."""
    settings = repository / "hardware" / "stackwright.toml"
    text = settings.read_text(encoding="utf-8")
    assert run(["diff", "HEAD", CARD]) == 0
    assert "workload" not in (plain := capsys.readouterr().out)
    assert "0 new, 0 fixed, 3 unchanged\n" in plain

    settings.write_text(text.replace("training-b200", "edge"), encoding="utf-8")
    run(["diff", "HEAD", CARD])
    said = capsys.readouterr().out
    assert "  workload training-b200 -> edge\n" in said
    assert re.search(r"0 fixed, \d+ unchanged, 2 no longer required", said)

    accepted = '\n[[suppress]]\ncode = "MAT001"\nobject = "*"\nreason = "agreed"\nowner = "rk"\n'
    settings.write_text(text + accepted, encoding="utf-8")
    run(["diff", "HEAD", CARD])
    assert "0 new, 0 fixed, 1 unchanged, 2 newly accepted\n" in capsys.readouterr().out


def accept_the_prepreg(repository: Path, expires: str) -> None:
    settings = repository / "hardware" / "stackwright.toml"
    text = settings.read_text(encoding="utf-8").partition("\n[[suppress]]")[0]
    table = 'code = "MAT001"\nobject = "*"\nreason = "agreed"\nowner = "rk"\n' if expires else ""
    settings.write_text(text + (f"\n[[suppress]]\n{table}expires = {expires}\n" if expires else ""), encoding="utf-8")
    git(repository, "commit", "-qam", f"expires {expires}", "--allow-empty")


@pytest.mark.slow
@pytest.mark.usefixtures("remembered")
def test_what_a_suppression_accepted_counts_when_it_expires_or_goes(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As with a baseline, which holds no accepted findings; what never was accepted stays known."""
    accept_the_prepreg(repository, "2020-01-31")
    assert run(["check", CARD, "--against", "HEAD", "-q"]) == 1  # expired before and after
    accept_the_prepreg(repository, "2999-01-31")
    assert run(["check", CARD, "--against", "HEAD", "-q"]) == 0
    assert run(["check", CARD, "--against", "HEAD~1", "-q"]) == 0
    accept_the_prepreg(repository, "")
    assert run(["check", CARD, "--against", "HEAD~1", "-q"]) == 1
    assert run(["check", CARD, "--against", "HEAD", "-q"]) == 0
    assert run(["check", CARD, "--against", "HEAD~1", "-q", "--no-suppressions"]) == 0
    capsys.readouterr()
    assert run(["diff", "HEAD~1", "HEAD", CARD]) == 1
    assert "2 new, 0 fixed, 1 unchanged\n" in capsys.readouterr().out


def add_board(repository: Path, name: str, folder: str = "hardware") -> None:
    """Commit the fit board under another name."""
    (repository / folder).mkdir(exist_ok=True)
    for suffix in (".kicad_pcb", ".kicad_pro"):
        shutil.copy(BOARDS / FIT / f"{FIT}{suffix}", repository / folder / f"{name}{suffix}")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", name)


@pytest.mark.slow
@pytest.mark.usefixtures("remembered")
def test_a_folder_of_several_boards_is_one_comment(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Boards that differ with all that differs, the others by name; a new one has all its findings new."""
    add_board(repository, "same")
    put(repository, FIT)
    git(repository, "commit", "-qam", "right again")
    put(repository, LOSSY)
    add_board(repository, "young", "hardware/new")
    shutil.copy(repository / "hardware" / "same.kicad_pcb", repository / "hardware" / "untracked.kicad_pcb")
    assert run(["diff", "HEAD~1", "HEAD", "hardware", "--format", "markdown"]) == 1
    said = capsys.readouterr().out
    assert "Fit → not fit: HEAD:hardware/card.kicad\\_pcb" in said
    assert "No board → " in said
    assert "HEAD:hardware/new/young.kicad\\_pcb" in said
    assert "- As before: HEAD:hardware/same.kicad\\_pcb\n" in said
    assert "untracked" not in said
    assert run(["diff", "HEAD", "hardware"]) == 0
    said = capsys.readouterr().out
    assert "As before: hardware/card.kicad_pcb\n" in said
    assert "NO BOARD -> " in said  # the file that is not tracked


@pytest.mark.usefixtures("remembered")
def test_deleted_boards_of_a_folder_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Between commits and before one, also with the folder that held them; backups are no boards."""
    monkeypatch.chdir(tmp_path)
    git(tmp_path, "init", "-q")
    board = board_file("no_stackup")
    for name in ("hw/kept", "hw/old/gone", "hw/kept-backups/kept"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(board, tmp_path / f"{name}.kicad_pcb")
    git(tmp_path, "add", "hw")
    git(tmp_path, "commit", "-qm", "three")
    shutil.rmtree(tmp_path / "hw" / "old")
    shutil.rmtree(tmp_path / "hw" / "kept-backups")
    said = "Deleted: HEAD:hw/old/gone.kicad_pcb\nAs before: hw/kept.kicad_pcb\n"
    assert run(["diff", "HEAD", "hw"]) == 0
    assert capsys.readouterr().out == said
    git(tmp_path, "commit", "-qam", "one is gone")
    assert run(["diff", "HEAD~1", "HEAD", "hw", "--format", "markdown"]) == 0
    said = "- Deleted: HEAD\\~1:hw/old/gone.kicad\\_pcb\n- As before: HEAD:hw/kept.kicad\\_pcb\n"
    assert capsys.readouterr().out == said
    assert run(["diff", "HEAD", "hw"]) == 0
    assert "Deleted" not in capsys.readouterr().out


@pytest.mark.usefixtures("remembered")
def test_many_boards_that_are_as_before_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Five are named, so that what differs is not lost among them."""
    monkeypatch.chdir(tmp_path)
    git(tmp_path, "init", "-q")
    for k in range(7):
        shutil.copy(board_file("no_stackup"), tmp_path / f"{k}.kicad_pcb")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "seven")
    assert run(["diff", "HEAD", "."]) == 0
    named = "".join(f"As before: {k}.kicad_pcb\n" for k in range(5))
    assert capsys.readouterr().out == f"{named}As before: 2 more boards\n"
    (tmp_path / "6.kicad_pcb").unlink()
    (tmp_path / "5.kicad_pcb").unlink()
    assert run(["diff", "HEAD", "."]) == 0
    assert capsys.readouterr().out.endswith(named)


def test_one_state_alone_is_no_difference(tmp_path: Path) -> None:
    """A board was compared with itself, and called unchanged."""
    board = shutil.copy(board_file("no_stackup"), tmp_path / "a.kicad_pcb")
    with pytest.raises(
        DiffError, match=r"is one state, and a difference needs two; name the older one first, such as "
    ):
        run(["diff", str(board)])


@pytest.mark.slow
@pytest.mark.usefixtures("remembered")
def test_a_board_of_several_that_cannot_be_compared_is_told_and_the_others_go_on(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add_board(repository, "same")
    (repository / CARD).write_text("(nothing)", encoding="utf-8")
    assert run(["diff", "HEAD", "hardware", "-o", "x.txt"]) == 2
    written = (repository / "x.txt").read_text(encoding="utf-8")
    assert "Not compared: hardware/card.kicad_pcb: " in written
    assert "As before: hardware/same.kicad_pcb" in written
    assert "error: hardware/card.kicad_pcb: " in capsys.readouterr().err


@pytest.mark.usefixtures("remembered")
def test_a_board_of_another_repository_is_told_and_the_others_are_compared(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A submodule does not know the commit; a commit that nothing knows is a mistake of the command line."""
    base = git(repository, "rev-parse", "HEAD")
    other = repository / "hardware" / "vendor"
    other.mkdir()
    git(other, "init", "-q")
    shutil.copy(repository / CARD, other / "theirs.kicad_pcb")
    assert run(["diff", base, "hardware"]) == 2
    said = capsys.readouterr().out
    assert f"Not compared: {base}: is no commit that git knows in hardware/vendor; " in said
    assert "As before: hardware/card.kicad_pcb" in said
    with pytest.raises(StackwrightError, match="mian: is neither a file nor a commit"):
        states_below("mian", "HEAD", Path("hardware"))


@pytest.mark.slow
@pytest.mark.usefixtures("remembered")
def test_a_board_that_the_old_commit_lacks_is_new_as_a_whole(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A job that comments on a pull request must not fail on exactly the new boards."""
    put(repository, LOSSY)
    for suffix in (".kicad_pcb", ".kicad_pro"):
        shutil.copy(repository / CARD.replace(".kicad_pcb", suffix), repository / "hardware" / f"second{suffix}")
    second = "hardware/second.kicad_pcb"
    assert run(["diff", "HEAD", second]) == 1
    said = capsys.readouterr().out
    assert "NO BOARD -> NOT FIT" in said
    assert "3 new, 0 fixed, 0 unchanged" in said
    assert run(["diff", "HEAD", second, "--json", "--fail-on", "never"]) == 0
    data = json.loads(capsys.readouterr().out)
    jsonschema.validate(data, json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert data["diff"]["headlines"] == ["no board", "not fit"]
    with pytest.raises(StackwrightError, match=r"^HEAD:hardware/second\.kicad_pcb: is not in that commit"):
        run(["diff", "HEAD", second, "--html", "-o", "x.html"])


def test_the_settings_are_those_of_the_commit(repository: Path) -> None:
    """A board of last year is judged by what was declared of it last year."""
    (repository / "hardware" / "stackwright.toml").write_text('profile = "edge"\n', encoding="utf-8")
    with board_at("HEAD", Path(CARD)) as path:
        assert "training-b200" in path.with_name("stackwright.toml").read_text(encoding="utf-8")
        assert path.with_suffix(".kicad_pro").exists()
    assert not path.exists()


@pytest.fixture
def naming(repository: Path) -> Path:
    """The repository, with a profile in a sibling folder that rests on another, and a model of a part."""
    for name, text in (
        ("profiles/house.toml", 'title = "House"\nextends = ["base/all.toml"]\n'),
        ("profiles/base/all.toml", 'title = "All"\nextends = ["training-b200"]\n'),
        ("models/c1.lib", ".SUBCKT part 1 2\nC1 1 2 1u\n.ENDS\n"),
    ):
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(text, encoding="utf-8")
    (repository / "hardware" / "stackwright.toml").write_text(
        'profile = "../profiles/house.toml"\n[[part_model]]\nparts = ["C1"]\nfile = "../models/c1.lib"\n',
        encoding="utf-8",
    )
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "own profile")
    return repository


def test_what_the_settings_name_is_that_of_the_commit(naming: Path) -> None:
    """A profile elsewhere in the repository, one that it rests on, the model of a part; nothing else is laid out."""
    (naming / "profiles" / "base" / "all.toml").write_text('title = "Later"\n', encoding="utf-8")
    (naming / "models" / "c1.lib").unlink()
    with board_at("HEAD", Path(CARD)) as path:
        top = path.parents[1]
        assert "training-b200" in (top / "profiles" / "base" / "all.toml").read_text(encoding="utf-8")
        assert (top / "models" / "c1.lib").read_text(encoding="utf-8").startswith(".SUBCKT")
        laid = {file.relative_to(top).as_posix() for file in top.rglob("*") if file.is_file()}
    assert laid == {
        *(CARD, "hardware/card.kicad_pro", "hardware/stackwright.toml"),
        *("profiles/house.toml", "profiles/base/all.toml", "models/c1.lib"),
    }


@pytest.mark.slow
def test_a_profile_in_a_sibling_folder_is_judged_by(naming: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`diff` and `check --against` see a profile that got stricter, and only that; where it lies is not told apart."""
    assert run(["check", CARD, "--against", "HEAD", "-q"]) == 0
    house = naming / "profiles" / "house.toml"
    stricter = (
        '[[clause]]\nid = "house.layers"\nkind = "layer_count"\ntitle = "layers"\nseverity = "error"\n'
        'limit = { min = 64, unit = "layers" }\nsource = { document = "nextpcb-design-differences", row = "x" }\n'
    )
    house.write_text(house.read_text(encoding="utf-8") + stricter, encoding="utf-8")
    git(naming, "commit", "-qam", "stricter")
    capsys.readouterr()
    assert run(["diff", "HEAD~1", "HEAD", CARD]) == 1
    said = capsys.readouterr()
    assert "1 new, 0 fixed" in said.out
    assert "stackwright-" not in said.out + said.err
    assert run(["check", CARD, "--against", "HEAD~1", "-q"]) == 1
    assert run(["check", CARD, "--against", "HEAD", "-q"]) == 0


def test_a_profile_that_the_commit_lacks_is_told_by_its_place_in_it(
    naming: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not by a folder that is gone when the line is read."""
    git(naming, "rm", "-q", "--cached", "profiles/base/all.toml")
    git(naming, "commit", "-qm", "forgotten")
    assert run(["check", CARD, "--against", "HEAD"]) == 2
    said = capsys.readouterr().err
    assert "HEAD:profiles/base/all.toml: there is no such profile file" in said
    assert "stackwright-" not in said


@pytest.mark.slow
@pytest.mark.usefixtures("remembered")
def test_a_pull_request_gets_deltas_first_and_the_cross_section_last(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is new stands above what is."""
    run(["diff", "HEAD~1", "HEAD", CARD, "--markdown"])
    said = capsys.readouterr().out
    order = ["Fit → not fit", "2 new, 0 fixed", "new error", "### Stackup", "### Lines", "Cross-section", "← changed"]
    places = [said.index(words) for words in order]
    assert places == sorted(places)
    assert said.count("← changed") == 2
    assert "NVLINK1\\_RX0 87.0 → 83.9 ohm" in said


@pytest.mark.slow
@pytest.mark.usefixtures("remembered")
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["diff", "nope", "hardware"], "neither a file nor a commit"),
        (["diff", "nope.kicad_pcb", "other.kicad_pcb"], "nope.kicad_pcb: no such file; give two boards"),
        (["diff", "HEAD~9", CARD], "neither a file nor a commit"),
        (["diff", "--", "-x", CARD], "neither a file nor a commit"),
        (["check", CARD, "--against", "nope"], "no commit that git knows"),
        (["diff", "HEAD", "HEAD", CARD, "--json", "--markdown"], "exclude each other"),
        (["diff", "HEAD", "HEAD", CARD, "--fail-on", "bad"], "is not one of error, warning, info, never"),
    ],
)
def test_what_cannot_be_compared_is_one_line(
    repository: Path, capsys: pytest.CaptureFixture[str], words: list[str], says: str
) -> None:
    """The word that is wrong, and what to type instead."""
    try:
        code = run(words)
    except StackwrightError as error:
        code, said = error.exit_code, str(error)
    else:
        said = capsys.readouterr().err
    assert code == 2
    assert says in said
    assert "\n" not in said.strip()


def test_without_a_repository_a_commit_is_refused(tmp_path: Path) -> None:
    """A board on a stick has no history."""
    shutil.copy(board_file(FIT), tmp_path / "card.kicad_pcb")
    said = r"cannot be looked up in .*not a git repository"
    with pytest.raises(GitError, match=said), board_at("HEAD", tmp_path / "card.kicad_pcb"):
        pass


def test_a_repository_that_git_refuses_is_told_in_gits_words(
    repository: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one of another owner: it is a repository."""
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    assert run(["check", CARD, "--against", "HEAD"]) == 2
    assert "HEAD: cannot be looked up in" in (said := capsys.readouterr().err)
    assert "dubious ownership" in said
    with pytest.raises(StackwrightError, match=r"neither a file nor a commit .*dubious ownership"):
        run(["diff", "HEAD", CARD])


def test_a_board_in_lfs_is_said_to_be_there(repository: Path) -> None:
    """What git holds of it is a pointer, not the board."""
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
    (repository / CARD).write_text(pointer, encoding="utf-8")
    git(repository, "commit", "-qam", "lfs")
    with pytest.raises(GitError, match="Git LFS"), board_at("HEAD", Path(CARD)):
        pass


def test_words_are_files_before_they_are_commits(repository: Path) -> None:
    """A folder that is called like a branch is the folder."""
    assert states("HEAD~1", CARD, None) == (State(Path(CARD), "HEAD~1"), State(Path(CARD)))
    assert states("HEAD~1", "HEAD", Path("hardware")) == (State(Path(CARD), "HEAD~1"), State(Path(CARD), "HEAD"))
    git(repository, "branch", "hardware")
    assert states("hardware", "HEAD", None) == (State(Path(CARD)), State(Path(CARD), "HEAD"))


def view(*rows: StackupRow) -> StackupView:
    return StackupView(stated=Stated.FILE, thickness_mm=1.0, rows=rows)


def copper(name: str, thickness_mm: float = 0.03) -> StackupRow:
    return StackupRow(name=name, kind=LayerKind.COPPER, thickness_mm=thickness_mm)


def core(number: int, material: str) -> StackupRow:
    return StackupRow(name=f"dielectric {number}", kind=LayerKind.CORE, thickness_mm=0.1, material=material)


def test_added_layers_do_not_make_every_row_below_them_differ() -> None:
    """KiCad numbers the dielectrics anew; what was dielectric 2 is dielectric 4 and the same sheet."""
    old = view(copper("F.Cu"), core(1, "A"), copper("In1.Cu"), core(2, "B"), copper("B.Cu"))
    new = view(
        copper("F.Cu"), core(1, "A"), copper("In1.Cu"), core(2, "C"), copper("In2.Cu"), core(3, "B"), copper("B.Cu")
    )
    assert [(one.kind, one.layer) for one in row_changes(old, new)] == [("added", "dielectric 2"), ("added", "In2.Cu")]


def test_a_changed_figure_is_told_with_both_values() -> None:
    """As people read it, with its unit; what was not stated is empty."""
    (change,) = row_changes(view(copper("F.Cu")), view(copper("F.Cu", 0.06)))
    assert [(f.what, f.before, f.after) for f in change.figures] == [("thickness", "0.03 mm", "0.06 mm")]
    (stated,) = row_changes(view(core(1, "")), view(core(1, "370HR")))
    assert [(f.what, f.before, f.after) for f in stated.figures] == [("material", "", "370HR")]
    assert list(row_changes(view(core(1, "A")), view(core(1, "A")))) == []
    assert [one.kind for one in row_changes(None, view(copper("F.Cu")))] == ["added"]


def test_a_remark_that_becomes_an_error_is_another_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both are findings of one clause: the pads of a closed jumper overlap, then those of a resistor."""
    pads = [{"number": str(k), "net": f"/{k}", "at_mm": [k, 0], "size_mm": [1.2, 0.6]} for k in (1, 2)]
    old, new = (
        mini_file(tmp_path / name, {"copper_layers": 2, "parts": [{"reference": name, "at_mm": [5, 5], "pads": pads}]})
        for name in ("JP1", "R1")
    )

    assert run(["diff", str(old), str(new)]) == 1
    assert "no short circuits remark -> failed" in " ".join(capsys.readouterr().out.split())


def test_a_new_remark_is_called_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As everywhere else; `info` is the word of JSON and of --fail-on."""
    pads = [{"number": str(k), "net": f"/{k}", "at_mm": [k, 0], "size_mm": [1.2, 0.6]} for k in (1, 2)]
    old = mini_file(tmp_path / "old", {"copper_layers": 2})
    jumper = {"reference": "JP1", "at_mm": [5, 5], "pads": pads}
    new = mini_file(tmp_path / "new", {"copper_layers": 2, "parts": [jumper]})

    run(["diff", str(old), str(new)])
    assert "new remark FAB015" in " ".join(capsys.readouterr().out.split())
    run(["diff", str(old), str(new), "--format", "markdown"])
    assert "| new remark |" in capsys.readouterr().out


def skewed(folder: Path, name: str, detour_mm: float) -> str:
    """A pair of which N is longer by a detour; keys of findings are those of its nets."""
    top = round(10.3 + detour_mm / 2, 4)
    nets = ("/PCIE_TX0_P", "/PCIE_TX0_N")
    pads = [{"number": str(k), "net": net, "size_mm": (0.2, 0.2), "at_mm": (0, 0.3 * k)} for k, net in enumerate(nets)]
    paths = (
        ((5, 10), (65, 10)),
        ((5, 10.3), (30, 10.3), (30, top), (31, top), (31, 10.3), (65, 10.3)),
    )
    board = {
        "size_mm": (80, 40),
        "planes": {"In1.Cu": "GND", "In2.Cu": "GND"},
        "stackup": 'F.Cu 0.035\nprepreg 0.1 "370HR 2116" dk=4.0\nIn1.Cu 0.015\ncore 1.2 "370HR" dk=4.0\n'
        'In2.Cu 0.015\nprepreg 0.1 "370HR 2116" dk=4.0\nB.Cu 0.035\n',
        "config": '[[interface]]\nis = "pcie5"\nnets = ["/PCIE_*"]\n',
        "parts": [{"reference": ref, "at_mm": (x, 10), "pads": pads} for ref, x in (("U1", 5), ("J1", 65))],
        "tracks": [
            {"net": net, "layer": "F.Cu", "width_mm": 0.15, "path_mm": path}
            for net, path in zip(nets, paths, strict=True)
        ],
    }
    (folder / name).mkdir()
    return str(mini_file(folder / name, board, "card"))


def test_a_finding_that_grew_is_worse_and_one_that_shrank_is_better(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A detour of 5 mm against 8 mm: skew, and length without coupling; 5.2 mm are as before."""
    small, alike, large = (skewed(tmp_path, f"n{mm:g}", mm) for mm in (5.0, 5.2, 8.0))

    def said(*words: str) -> str:
        run(["diff", *words])
        return " ".join(capsys.readouterr().out.split())

    worse, better, same = said(small, large), said(large, small), said(small, alike)
    assert re.search(r"0 new, 2 worse, 0 fixed, \d+ unchanged", worse)
    assert re.search(r"worse warning SKW001 intra-pair skew .* \([\d.]+ -> [\d.]+ ps\)", worse)
    assert re.search(r"0 new, 0 fixed, 2 better, \d+ unchanged", better)
    assert re.search(r"better warning SKW001 intra-pair skew .* \([\d.]+ -> [\d.]+ ps\)", better)
    assert re.search(r"0 new, 0 fixed, \d+ unchanged", same)

    assert run(["diff", small, large, "--fail-on", "warning"]) == 1
    assert run(["diff", large, small, "--fail-on", "warning"]) == 0
    capsys.readouterr()
    data = json.loads(said(small, large, "--format", "json"))
    changed = data["diff"]["changed"]
    assert {one["finding"]["code"] for one in changed} == {one["before"]["code"] for one in changed}
    assert {(one["before"]["code"], one["is_worse"]) for one in changed} == {("SKW001", True), ("IMP004", True)}
    jsonschema.validate(data, json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert "| worse warning |" in said(small, large, "--format", "markdown")
    page = tmp_path / "diff.html"
    run(["diff", large, small, "--format", "html", "-o", str(page)])
    assert "better: " in page.read_text(encoding="utf-8")
