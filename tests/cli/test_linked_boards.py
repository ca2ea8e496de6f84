"""Links in a checkout: a link to a board is a board of its own; a file behind a link is a file of its board."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from drc_rules.engine.baseline import board_name
from drc_rules.facts.declared import Overrides
from stackup_lib.core.errors import StackwrightError
from stackwright.ci import job
from stackwright.ci.boards import missing_submodules, touched, tracked_boards
from stackwright.cli.app import run
from stackwright.commands.check.request import CheckRequest
from stackwright.results.board_identity import commit_of
from stackwright.run.git import GitError
from stackwright.run.paths import boards_of, boards_touched, find_board, relative_to_run
from stackwright.run.read_files import reached_through
from stackwright.run.revisions import board_at, has_board
from tests.support.boards import BOARDS, board_file
from tests.support.git import git

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="makes links"),
    pytest.mark.skipif(shutil.which("git") is None, reason="no git on the PATH"),
]
LOW_TG, FIT = "inference_pcie_low_tg", "inference_pcie_gen5_fit"


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def link(path: Path, target: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def commit(folder: Path) -> str:
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "a change", "--allow-empty")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`b/card` is a board, `a/card` a link to it by other settings; `c/card` has linked project, rules, settings."""
    folder = tmp_path / "repository"
    for suffix in (".kicad_pcb", ".kicad_pro"):
        for name in ("b", "c"):
            put(folder / name / f"card{suffix}", board_file(LOW_TG).with_suffix(suffix).read_text(encoding="utf-8"))
    put(folder / "b" / "stackwright.toml", 'profile = "inference-pcie"\n')
    link(folder / "a" / "card.kicad_pcb", "../b/card.kicad_pcb")
    shutil.copy(folder / "b" / "card.kicad_pro", folder / "a" / "card.kicad_pro")
    put(folder / "a" / "stackwright.toml", 'profile = "edge"\n')
    (folder / "common").mkdir()
    shutil.move(folder / "c" / "card.kicad_pro", folder / "common" / "any.kicad_pro")
    put(folder / "common" / "any.kicad_dru", "(version 1)\n")
    put(folder / "common" / "any.toml", 'profile = "edge"\n')
    link(folder / "company", "common")
    link(folder / "middle" / "any.kicad_dru", "../company/any.kicad_dru")
    link(folder / "c" / "card.kicad_pro", "../company/any.kicad_pro")
    link(folder / "c" / "card.kicad_dru", "../middle/any.kicad_dru")
    link(folder / "c" / "stackwright.toml", "../common/any.toml")
    git(folder, "init", "-q")
    commit(folder)
    monkeypatch.chdir(folder)
    return folder


def test_a_link_to_a_board_is_a_board_of_its_own(repository: Path) -> None:
    """Named, or found in a folder, and under its own name in reports; the same folder by another way is the same."""
    (repository / "again").symlink_to("a")
    both = [Path("a/card.kicad_pcb"), Path("b/card.kicad_pcb")]
    assert boards_of([Path()]) == [*both, Path("c/card.kicad_pcb")]
    assert boards_of([Path("a"), Path("b"), Path("again"), Path("again/card.kicad_pcb")]) == both
    assert relative_to_run("a/card.kicad_pcb") == relative_to_run("again/card.kicad_pcb") == ("a/card.kicad_pcb", True)


@pytest.mark.slow
def test_a_failing_board_fails_a_check_whatever_links_lead_to_it(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`a` sorts first and passes; one SARIF file has a category for each."""
    assert run(["check", "a", "-q"]) == 0
    assert run(["check", "a", "b", "--format", "sarif"]) == 1
    out = capsys.readouterr().out
    runs = json.loads(out[out.index("{") :])["runs"]
    assert [one["automationDetails"]["id"] for one in runs] == [f"stackwright/{name}/card.kicad_pcb/" for name in "ab"]


def test_a_baseline_of_a_board_accepts_nothing_of_a_link_to_it(repository: Path) -> None:
    """Whatever folder its file is in."""
    for baseline in (Path("baseline.json"), Path("b/baseline.json")):
        assert board_name(Path("a/card.kicad_pcb"), baseline) != board_name(Path("b/card.kicad_pcb"), baseline)
    assert board_name(Path("a/card.kicad_pcb"), Path("baseline.json")) == "a/card.kicad_pcb"


def test_every_link_on_the_way_to_a_file_is_known(repository: Path) -> None:
    """Also links of folders, and what is not there; a circle ends."""
    top = repository.resolve()
    ways = [path.relative_to(top).as_posix() for path in reached_through(Path("c/card.kicad_dru"))]
    assert ways == ["c/card.kicad_dru", "middle/any.kicad_dru", "company", "common/any.kicad_dru"]
    assert list(reached_through(Path("a/../none"))) == [top / "none"]
    link(repository / "round", "round")
    assert len(list(reached_through(Path("round/x")))) == 41


@pytest.mark.parametrize(
    ("changed", "boards"),
    [
        ("b/card.kicad_pcb", ["a", "b"]),
        ("b/card.kicad_pro", ["b"]),
        ("common/any.kicad_pro", ["c"]),
        ("common/any.kicad_dru", ["c"]),
        ("common/any.toml", ["c"]),
        ("common/other.toml", []),
    ],
)
def test_a_changed_file_touches_the_boards_that_reach_it_by_a_link(
    repository: Path, changed: str, boards: list[str]
) -> None:
    """In a job and in the hook alike."""
    base = git(repository, "rev-parse", "HEAD")
    file = repository / changed
    put(file, (file.read_text(encoding="utf-8") if file.exists() else "") + "\n")
    commit(repository)
    expected = [f"{name}/card.kicad_pcb" for name in boards]
    assert touched(tracked_boards([]), base) == expected
    found = boards_of(boards_touched([Path(changed)]))
    assert sorted(board.as_posix() for board in found) == expected


@pytest.mark.parametrize(
    ("changed", "target", "boards"),
    [
        ("a/card.kicad_pcb", "../c/card.kicad_pcb", ["a"]),
        ("middle/any.kicad_dru", "../b/card.kicad_dru", ["c"]),
        ("company", "b", ["c"]),
        ("c/stackwright.toml", "../b/stackwright.toml", ["c"]),
    ],
)
def test_a_link_that_leads_elsewhere_touches_its_boards(
    repository: Path, changed: str, target: str, boards: list[str]
) -> None:
    """The board's own, one in the middle of the way, and one of a folder on the way."""
    base = git(repository, "rev-parse", "HEAD")
    link(repository / changed, target)
    commit(repository)
    expected = [f"{name}/card.kicad_pcb" for name in boards]
    assert touched(tracked_boards([]), base) == expected
    # a link of a folder has no name that the hook is run for
    if changed != "company":
        assert [board.as_posix() for board in boards_of(boards_touched([Path(changed)]))] == expected


def test_the_base_of_a_link_is_judged_with_the_settings_beside_the_link(repository: Path) -> None:
    """Those of the file that it leads to are another board's."""
    assert has_board("HEAD", Path("a/card.kicad_pcb"))
    with board_at("HEAD", Path("a/card.kicad_pcb")) as laid:
        assert laid.read_bytes() == Path("b/card.kicad_pcb").read_bytes()
        assert not laid.is_symlink()
        assert laid.parent.name == "a"
        assert "edge" in laid.with_name("stackwright.toml").read_text(encoding="utf-8")


@pytest.mark.slow
def test_errors_that_new_settings_bring_are_no_errors_of_the_base(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The board behind the link failed before; the link did not."""
    put(repository / "a" / "stackwright.toml", 'profile = "inference-pcie"\n')
    commit(repository)
    assert run(["check", "a", "-q", "--against", "HEAD~1"]) == 1
    assert run(["check", "a", "-q", "--against", "HEAD"]) == 0
    assert run(["diff", "HEAD~1", "HEAD", "a/card.kicad_pcb"]) == 1
    assert "as before" not in capsys.readouterr().out


def test_linked_project_rules_and_settings_of_a_commit_are_followed_in_it(repository: Path) -> None:
    """What they hold there, not what they hold now, and not the text of the link."""
    was = (repository / "common" / "any.kicad_pro").read_text(encoding="utf-8")
    for name in ("any.kicad_pro", "any.kicad_dru", "any.toml"):
        (repository / "common" / name).write_text("later", encoding="utf-8")
    with board_at("HEAD", Path("c/card.kicad_pcb")) as laid:
        assert laid.with_suffix(".kicad_pro").read_text(encoding="utf-8") == was
        assert laid.with_suffix(".kicad_dru").read_text(encoding="utf-8") == "(version 1)\n"
        assert laid.with_name("stackwright.toml").read_text(encoding="utf-8") == 'profile = "edge"\n'


def test_a_link_that_leads_to_nothing_in_its_commit_is_refused(repository: Path) -> None:
    """Out of the repository, or to a file that is not in the commit; links of other settings do not count."""
    link(repository / "c" / "other.toml", "/nowhere.toml")
    commit(repository)
    with board_at("HEAD", Path("c/card.kicad_pcb")) as laid:
        assert not laid.with_name("other.toml").exists()
    for target in ("../../outside.kicad_dru", "none.kicad_dru"):
        link(repository / "c" / "card.kicad_dru", target)
        commit(repository)
        said = r"c/card\.kicad_dru: is a link that leads to no file of that commit"
        with pytest.raises(GitError, match=said), board_at("HEAD", Path("c/card.kicad_pcb")):
            pass


def test_a_linked_profile_of_a_commit_is_refused_and_a_linked_model_is_followed(repository: Path) -> None:
    """What a profile extends is meant from where the link leads; a model names nothing."""
    put(repository / "common" / "c1.lib", ".SUBCKT part 1 2\nC1 1 2 1u\n.ENDS\n")
    link(repository / "b" / "c1.lib", "../common/c1.lib")
    put(repository / "b" / "stackwright.toml", '[[part_model]]\nparts = ["C1"]\nfile = "c1.lib"\n')
    commit(repository)
    with board_at("HEAD", Path("b/card.kicad_pcb")) as laid:
        assert laid.with_name("c1.lib").read_text(encoding="utf-8").startswith(".SUBCKT")
    put(repository / "common" / "house.toml", 'title = "House"\nextends = ["edge"]\n')
    link(repository / "b" / "house.toml", "../common/house.toml")
    put(repository / "b" / "stackwright.toml", 'profile = "house.toml"\n')
    commit(repository)
    with pytest.raises(GitError, match="is a link to a profile"), board_at("HEAD", Path("b/card.kicad_pcb")):
        pass


def test_a_board_whose_link_leads_nowhere_is_refused(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is not left out: of a folder, of a job, nor of a hook."""
    link(repository / "a" / "card.kicad_pcb", "../gone/card.kicad_pcb")
    commit(repository)
    with pytest.raises(StackwrightError, match=r"cannot be read \(the link leads nowhere\); correct the link"):
        find_board(Path("a/card.kicad_pcb"))
    assert run(["check", "a", "-q"]) == 2
    assert run(["check", "--touched", "a/card.kicad_pro", "-q"]) == 2
    assert capsys.readouterr().err.count("a/card.kicad_pcb: cannot be read (the link leads nowhere)") == 2
    with pytest.raises(GitError, match=r"1 tracked board: not in this checkout.*: a/card\.kicad_pcb;"):
        tracked_boards([])
    assert tracked_boards(["b"]) == ["b/card.kicad_pcb"]
    assert tracked_boards([":!a"]) == ["b/card.kicad_pcb", "c/card.kicad_pcb"]


def test_boards_that_a_sparse_checkout_lacks_stop_the_job(repository: Path) -> None:
    """All boards that git knows are to be checked; those that are there can be chosen."""
    git(repository, "sparse-checkout", "set", "b")
    with pytest.raises(GitError, match=r"2 tracked boards: not in this checkout.*: a/card\.kicad_pcb, c/"):
        job.run_job({})
    assert tracked_boards(["b"]) == tracked_boards([".", ":!a", ":(exclude)c"]) == ["b/card.kicad_pcb"]


@pytest.fixture
def submodule(repository: Path, tmp_path: Path) -> Path:
    """The repository with another one in its folder `vendor`."""
    other = tmp_path / "other"
    shutil.copytree(BOARDS / FIT, other / "card")
    git(other, "init", "-q")
    commit(other)
    git(repository, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "vendor")
    commit(repository)
    return repository


def test_boards_of_a_submodule_are_boards_of_the_job(submodule: Path) -> None:
    """They are touched when the submodule is another commit, whatever its settings say of changes in it."""
    board = f"vendor/card/{FIT}.kicad_pcb"
    link(submodule / "b" / "card.kicad_dru", "../vendor/card/rules.kicad_dru")
    git(submodule, "config", "-f", ".gitmodules", "submodule.vendor.ignore", "all")
    base = commit(submodule)
    assert board in tracked_boards([])
    assert tracked_boards(["vendor"]) == tracked_boards(["vendor/card"]) == [board]
    assert board not in tracked_boards([":!vendor"])
    assert touched(tracked_boards([]), base) == []
    put(submodule / "vendor" / "card" / "rules.kicad_dru", "(version 1)\n")
    commit(submodule / "vendor")
    git(submodule, "update-index", "--cacheinfo", f"160000,{git(submodule / 'vendor', 'rev-parse', 'HEAD')},vendor")
    git(submodule, "commit", "-qm", "newer")
    assert touched(tracked_boards([]), base) == ["b/card.kicad_pcb", board]


def test_a_submodule_that_is_not_checked_out_is_named(submodule: Path) -> None:
    """Whether it has boards is not known: the job says so; a submodule that the job names must be there."""
    assert missing_submodules([]) == []
    git(submodule, "submodule", "--quiet", "deinit", "--force", "vendor")
    assert len(tracked_boards([])) == 3
    assert missing_submodules([]) == missing_submodules(["."]) == ["vendor"]
    assert missing_submodules(["b"]) == missing_submodules([":!vendor"]) == []
    for place in ("vendor", "vendor/card"):
        with pytest.raises(GitError, match="matches no"):
            tracked_boards([place])
    why = job.choose({"STACKWRIGHT_CHANGED_ONLY": "false"}, CheckRequest(Overrides(None))).why
    assert why.endswith("Not checked out, so not looked at: 1 submodule (vendor).")


def test_the_commit_on_a_page_is_that_of_the_file(repository: Path) -> None:
    """A link of another name has none of its own."""
    link(repository / "a" / "other.kicad_pcb", "../b/card.kicad_pcb")
    assert commit_of(Path("a/other.kicad_pcb")) == commit_of(Path("b/card.kicad_pcb")) != ""
