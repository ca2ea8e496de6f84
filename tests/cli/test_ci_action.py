"""The CI job: the boards a change touches, what it leaves behind, its exit code; and the files that call it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from drc_rules.report.model import RuleCrash
from stackup_lib.core.errors import StackwrightError
from stackwright.ci import job
from stackwright.ci.boards import base_of
from stackwright.cli.app import run
from stackwright.commands.check.answers import Answer
from stackwright.results.checked import Checked, Unchecked
from stackwright.run.paths import boards_of, boards_touched
from tests.support.boards import BOARDS, board_file
from tests.support.git import git
from tests.support.installed import installed_environment
from tests.support.reports.made_reports import report

ROOT = Path(__file__).parents[2]
ACTION = ROOT / "action.yml"
LOSSY, FIT, BARE = "training_b200_lossy_prepreg", "inference_pcie_gen5_fit", "default_stackup"
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="no git on the PATH")


def touch(path: Path) -> None:
    """Change a file without changing what it says."""
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")


@dataclass
class Repository:
    """A git repository with three boards, and a runner's files next to it."""

    folder: Path
    runner: Path
    base: str
    extra: dict[str, str] = field(default_factory=dict)

    def board(self, name: str, suffix: str = ".kicad_pcb") -> Path:
        return self.folder / "hw" / name / f"{name}{suffix}"

    def commit(self) -> str:
        git(self.folder, "add", "-A")
        git(self.folder, "commit", "-qm", "a change", "--allow-empty")
        return git(self.folder, "rev-parse", "HEAD")

    def settings(self, **changes: str) -> dict[str, str]:
        """Return a runner's environment, for a pull request against the first commit."""
        event = self.runner / "event.json"
        event.write_text(json.dumps({"pull_request": {"base": {"sha": self.base}}}), encoding="utf-8")
        return {
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_OUTPUT": str(self.runner / "output"),
            "GITHUB_STEP_SUMMARY": str(self.runner / "summary.md"),
            "STACKWRIGHT_CHANGED_ONLY": "true",
            "STACKWRIGHT_SARIF": str(self.runner / "stackwright.sarif"),
            **changes,
        }

    def output(self) -> dict[str, str]:
        lines = (self.runner / "output").read_text(encoding="utf-8").splitlines()
        return dict(line.split("=", 1) for line in lines)

    def summary(self) -> str:
        return (self.runner / "summary.md").read_text(encoding="utf-8")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    folder, runner = tmp_path / "repo", tmp_path / "runner"
    runner.mkdir()
    for name in (LOSSY, FIT, BARE):
        shutil.copytree(BOARDS / name, folder / "hw" / name)
    git(folder, "init", "-q")
    made = Repository(folder, runner, "")
    made.base = made.commit()
    monkeypatch.chdir(folder)
    return made


def chosen(settings: Mapping[str, str]) -> list[str]:
    return [Path(board).stem for board in job.choose(settings, job._request(settings)).boards]


@needs_git
def test_parts_of_a_matrix_check_every_board_once(repository: Repository) -> None:
    """Whatever the number of parts, also where there are more parts than boards."""
    every = chosen(repository.settings(STACKWRIGHT_CHANGED_ONLY="false"))
    assert len(every) == 3
    for parts in (1, 2, 3, 5):
        shards = [
            chosen(repository.settings(STACKWRIGHT_CHANGED_ONLY="false", STACKWRIGHT_SHARD=f"{part}/{parts}"))
            for part in range(1, parts + 1)
        ]
        assert sorted(board for shard in shards for board in shard) == sorted(every)


@needs_git
def test_a_part_without_boards_passes_and_a_repository_without_boards_does_not(repository: Repository) -> None:
    """Five jobs for three boards: two of them have nothing to do, which is no mistake of anybody."""
    settings = repository.settings(STACKWRIGHT_CHANGED_ONLY="false", STACKWRIGHT_SHARD="5/5")
    assert job.run_job(settings) == 0
    assert "Part 5 of 5: 0 boards" in repository.summary()
    git(repository.folder, "rm", "-rq", "hw")
    assert job.run_job(settings) == 2


@needs_git
@pytest.mark.parametrize("shard", ["0/2", "3/2", "2", "a/b", "-1/2"])
def test_a_part_that_is_none_is_refused(repository: Repository, shard: str) -> None:
    """A matrix that is written wrongly must not skip boards silently."""
    with pytest.raises(StackwrightError, match="no part of a whole"):
        chosen(repository.settings(STACKWRIGHT_SHARD=shard))


@pytest.mark.slow
@needs_git
def test_against_the_base_only_what_is_new_fails(repository: Repository, capfd: pytest.CaptureFixture[str]) -> None:
    """The lossy board was lossy before; a card that loses its backdrills is new."""
    touch(repository.board(LOSSY))
    repository.commit()
    assert job.run_job(repository.settings()) == 1
    assert job.run_job(repository.settings(STACKWRIGHT_AGAINST_BASE="true")) == 0
    shutil.copy(board_file("inference_pcie_low_tg"), repository.board(FIT))
    repository.commit()
    assert job.run_job(repository.settings(STACKWRIGHT_AGAINST_BASE="true")) == 1
    capfd.readouterr()


@pytest.mark.slow
@needs_git
def test_a_job_writes_what_gitlab_reads(repository: Repository, capfd: pytest.CaptureFixture[str]) -> None:
    """JUnit for the list of tests, code quality for the lines of the merge request."""
    touch(repository.board(LOSSY))
    repository.commit()
    files = {"STACKWRIGHT_JUNIT": repository.runner / "j.xml", "STACKWRIGHT_CODE_QUALITY": repository.runner / "q.json"}
    assert job.run_job(repository.settings(**{name: str(path) for name, path in files.items()})) == 1
    assert "<failure" in files["STACKWRIGHT_JUNIT"].read_text(encoding="utf-8")
    issues = json.loads(files["STACKWRIGHT_CODE_QUALITY"].read_text(encoding="utf-8"))
    assert {one["check_name"] for one in issues if one["severity"] == "critical"} == {"MAT001"}
    capfd.readouterr()


@needs_git
@pytest.mark.parametrize("suffix", [".kicad_pcb", ".kicad_pro"])
def test_a_board_counts_as_changed_with_its_own_files(repository: Repository, suffix: str) -> None:
    touch(repository.board(FIT, suffix))
    repository.commit()
    assert chosen(repository.settings()) == [FIT]


@needs_git
def test_settings_and_rules_of_a_board_change_it_and_other_files_do_not(repository: Repository) -> None:
    (repository.folder / "README.md").write_text("hello", encoding="utf-8")
    repository.board(FIT, ".kicad_sch").write_text("(kicad_sch)", encoding="utf-8")
    repository.commit()
    assert chosen(repository.settings()) == []
    repository.board(FIT, ".kicad_dru").write_text("(version 1)", encoding="utf-8")
    touch(repository.folder / "hw" / LOSSY / "stackwright.toml")
    repository.commit()
    assert chosen(repository.settings()) == [FIT, LOSSY]


@needs_git
def test_a_profile_in_a_folder_above_changes_every_board_below(repository: Repository) -> None:
    (repository.folder / "hw" / "ours.toml").write_text("", encoding="utf-8")
    repository.commit()
    assert chosen(repository.settings()) == [BARE, FIT, LOSSY]


@needs_git
@pytest.mark.parametrize("name", ["STACKWRIGHT_CONFIG", "STACKWRIGHT_BASELINE"])
def test_settings_for_all_boards_change_every_board(repository: Repository, name: str) -> None:
    (repository.folder / "ci").mkdir()
    (repository.folder / "ci" / "all.json").write_text("{}", encoding="utf-8")
    repository.commit()
    assert chosen(repository.settings()) == []
    assert len(chosen(repository.settings(**{name: "ci/all.json"}))) == 3


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture
def naming(repository: Repository) -> Repository:
    """The repository, with a board whose settings name a profile that rests on another, and a model of a part."""
    put(repository.folder / "profiles" / "house.toml", 'title = "House"\nextends = ["base/all.toml"]\n')
    put(repository.folder / "profiles" / "base" / "all.toml", 'title = "All"\nextends = ["training"]\n')
    put(repository.folder / "models" / "C1.s2p", "# Hz S RI R 50\n")
    put(repository.folder / "models" / "other.s2p", "# Hz S RI R 50\n")
    put(
        repository.folder / "hw" / FIT / "stackwright.toml",
        'profile = "../../profiles/house.toml"\n[[part_model]]\nparts = ["C1"]\nfile = "../../models/c1.s2p"\n'
        '[[part_model]]\nparts = ["C2"]\nfile = "?"\n',
    )
    repository.base = repository.commit()
    return repository


@needs_git
@pytest.mark.parametrize("config", ["", "false", "true"])
@pytest.mark.parametrize("named", ["profiles/house.toml", "profiles/base/all.toml", "models/C1.s2p"])
def test_a_file_that_the_settings_name_changes_their_board(naming: Repository, named: str, config: str) -> None:
    """A stricter profile elsewhere in the repository must not leave the job green; `diff.relative` hides nothing."""
    if config:
        git(naming.folder, "config", "diff.relative", config)
    touch(naming.folder / named)
    naming.commit()
    assert chosen(naming.settings()) == [FIT]


@needs_git
def test_a_file_that_is_deleted_changes_the_board_whose_settings_name_it(naming: Repository) -> None:
    (naming.folder / "profiles" / "base" / "all.toml").unlink()
    naming.commit()
    assert chosen(naming.settings()) == [FIT]


@needs_git
def test_a_file_that_no_settings_name_changes_no_board(naming: Repository) -> None:
    touch(naming.folder / "models" / "other.s2p")
    put(naming.folder / "profiles" / "unused.toml", 'title = "Unused"\n')
    naming.commit()
    assert chosen(naming.settings()) == []


@needs_git
def test_a_profile_of_the_job_changes_every_board(naming: Repository) -> None:
    """Itself, or one that it rests on; one that is shipped changes none."""
    touch(naming.folder / "profiles" / "base" / "all.toml")
    naming.commit()
    assert len(chosen(naming.settings(STACKWRIGHT_PROFILE="profiles/house.toml"))) == 3
    assert chosen(naming.settings(STACKWRIGHT_PROFILE="training")) == [FIT]
    assert len(chosen(naming.settings(STACKWRIGHT_CONFIG=f"hw/{FIT}/stackwright.toml"))) == 3


@needs_git
def test_a_job_in_a_folder_sees_what_lies_outside_of_it(naming: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(naming.folder / "hw")
    touch(naming.folder / "profiles" / "house.toml")
    naming.commit()
    assert chosen(naming.settings()) == [FIT]


@needs_git
@pytest.mark.skipif(os.name != "posix", reason="makes links")
def test_a_link_counts_by_where_it_leads(naming: Repository) -> None:
    settings = naming.folder / "hw" / BARE / "stackwright.toml"
    settings.unlink(missing_ok=True)
    put(naming.folder / "shared" / "bare.toml", 'profile = "near.toml"\n')
    put(naming.folder / "shared" / "near.toml", 'title = "Near"\nextends = ["far.toml"]\n')
    put(naming.folder / "shared" / "far.toml", 'title = "Far"\nextends = ["training"]\n')
    settings.symlink_to("../../shared/bare.toml")
    (settings.parent / "near.toml").symlink_to("../../shared/near.toml")
    for name in ("bare", "near", "far"):
        naming.base = naming.commit()
        touch(naming.folder / "shared" / f"{name}.toml")
        naming.commit()
        assert chosen(naming.settings()) == [BARE]


@needs_git
def test_a_deleted_board_is_no_board(repository: Repository) -> None:
    repository.board(LOSSY).unlink()
    repository.commit()
    assert chosen(repository.settings()) == []


@needs_git
def test_boards_can_be_named_by_folder_or_wildcard_and_a_name_of_nothing_is_a_mistake(repository: Repository) -> None:
    everything = {"STACKWRIGHT_CHANGED_ONLY": "false"}
    assert chosen(everything) == [BARE, FIT, LOSSY]
    assert chosen({**everything, "STACKWRIGHT_BOARDS": f"hw/{FIT}\n\nhw/*lossy*.kicad_pcb\n"}) == [FIT, LOSSY]
    with pytest.raises(StackwrightError, match=re.escape("nowhere: matches no .kicad_pcb file that git knows")):
        chosen({**everything, "STACKWRIGHT_BOARDS": f"hw/{FIT}\nnowhere"})


@needs_git
def test_autosaves_and_untracked_boards_are_left_alone(repository: Repository) -> None:
    shutil.copy(repository.board(FIT), repository.board(FIT).with_name("_autosave-x.kicad_pcb"))
    repository.commit()
    shutil.copy(repository.board(FIT), repository.board(FIT).with_name("untracked.kicad_pcb"))
    assert chosen({}) == [BARE, FIT, LOSSY]


@needs_git
def test_one_error_of_all_boards_is_told_once(repository: Repository, capfd: pytest.CaptureFixture[str]) -> None:
    """A baseline that is not there: three boards ask for it."""
    settings = repository.settings(STACKWRIGHT_CHANGED_ONLY="false", STACKWRIGHT_BASELINE="none.json")
    assert job.run_job(settings) == 2
    assert capfd.readouterr().err.count("none.json") == 1


@needs_git
@pytest.mark.parametrize("base", ["0" * 40, "", "no commit", "--output=x", "1234567"])
def test_without_a_base_every_board_is_checked_and_the_log_says_so(repository: Repository, base: str) -> None:
    repository.base = base
    choice = job.choose(repository.settings(), job._request({}))
    assert len(choice.boards) == 3
    assert "there is no base of a pull or merge request" in choice.why
    repository.base = "f" * 40
    choice = job.choose(repository.settings(), job._request({}))
    assert len(choice.boards) == 3
    assert "is not in this clone" in choice.why


@needs_git
def test_a_push_checks_every_board(repository: Repository) -> None:
    """Else the push after one that broke a board turns the branch green; a pull request checks what it touches."""
    settings = repository.settings()
    touch(repository.board(FIT))
    repository.commit()
    assert chosen(settings) == [FIT]
    event = Path(settings["GITHUB_EVENT_PATH"])
    event.write_text(json.dumps({"before": repository.base, "ref": "refs/heads/main"}), encoding="utf-8")
    assert chosen(settings) == [BARE, FIT, LOSSY]


@needs_git
def test_a_shallow_clone_fetches_the_base_when_told_to(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    touch(repository.board(FIT))
    repository.commit()
    git(repository.folder, "config", "uploadpack.allowAnySHA1InWant", "true")
    clone = repository.runner / "clone"
    git(repository.runner, "clone", "-q", "--depth=1", f"file://{repository.folder}", str(clone))
    monkeypatch.chdir(clone)
    assert len(chosen(repository.settings())) == 3
    assert chosen(repository.settings(STACKWRIGHT_FETCH_BASE="true")) == [FIT]


def test_the_base_is_found_where_each_host_tells_it(tmp_path: Path) -> None:
    a, b = "a" * 40, "b" * 40
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"before": a}), encoding="utf-8")
    assert base_of({"GITHUB_EVENT_PATH": str(event)}) == a
    assert base_of({"GITHUB_EVENT_PATH": str(event), "STACKWRIGHT_BASE": b}) == b
    event.write_text(json.dumps({"pull_request": {"base": {"sha": b}}, "before": a}), encoding="utf-8")
    assert base_of({"GITHUB_EVENT_PATH": str(event)}) == b
    assert base_of({"CI_MERGE_REQUEST_DIFF_BASE_SHA": a, "CI_COMMIT_BEFORE_SHA": b}) == a
    assert base_of({"CI_COMMIT_BEFORE_SHA": "0" * 40}) is None
    assert base_of({"GITHUB_EVENT_PATH": str(event), "CI_COMMIT_BEFORE_SHA": a}, of_push=False) == b
    event.write_text(json.dumps({"before": a}), encoding="utf-8")
    assert base_of({"GITHUB_EVENT_PATH": str(event), "CI_COMMIT_BEFORE_SHA": a}, of_push=False) is None
    assert base_of({"STACKWRIGHT_BASE": b}, of_push=False) == b
    event.write_text("[", encoding="utf-8")
    assert base_of({"GITHUB_EVENT_PATH": str(event)}) is None


@pytest.mark.parametrize("stated", ["main", "abc1234", "A" * 40])
def test_a_base_that_is_no_full_id_is_refused(stated: str) -> None:
    """It was passed over: every board was checked, and the log said that there was no base."""
    with pytest.raises(StackwrightError, match="is no full id of a commit; give all 40 digits"):
        base_of({"STACKWRIGHT_BASE": stated})
    assert base_of({"STACKWRIGHT_BASE": " "}) is None
    assert base_of({"STACKWRIGHT_BASE": "0" * 40}) is None


@needs_git
def test_a_job_that_leaves_all_boards_out_is_told_so(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """Git knows boards: the job's own pattern is wrong."""
    assert job.run_job(repository.settings(STACKWRIGHT_CHANGED_ONLY="false", STACKWRIGHT_BOARDS=":!hw")) == 2
    assert "file that git knows but those that the boards of the job leave out" in repository.summary()
    git(repository.folder, "rm", "-rq", "hw")
    assert job.run_job(repository.settings(STACKWRIGHT_CHANGED_ONLY="false")) == 2
    assert "leave out" not in capsys.readouterr().out.splitlines()[-1]


@needs_git
def test_a_path_outside_of_the_repository_is_no_missing_checkout(repository: Repository) -> None:
    with pytest.raises(StackwrightError, match=r"outside repository.*; correct what git says, or"):
        chosen(repository.settings(STACKWRIGHT_BOARDS="../elsewhere"))


@pytest.mark.slow
@needs_git
def test_the_job_leaves_sarif_a_summary_and_the_exit_code(repository: Repository) -> None:
    touch(repository.board(LOSSY))
    touch(repository.board(FIT))
    repository.commit()
    assert job.run_job(repository.settings()) == 1
    assert repository.output() == {
        "sarif": str(repository.runner / "stackwright.sarif"),
        "boards": "2",
        "exit-code": "1",
    }
    log = json.loads((repository.runner / "stackwright.sarif").read_text(encoding="utf-8"))
    ids = [run["automationDetails"]["id"] for run in log["runs"]]
    assert ids == [f"stackwright/hw/{name}/{name}.kicad_pcb/" for name in (FIT, LOSSY)]
    summary = repository.summary()
    assert "2 of 3 boards changed since" in summary
    assert "## ❌ Not fit: hw/training" in summary
    assert "## ✅ Fit: hw/inference" in summary


def answer_of(name: str, **changes: object) -> Answer:
    facts = report().board.model_copy(update={"path": f"hw/{name}.kicad_pcb"})
    return Answer(Checked(report(board=facts, **changes), None, "0" * 64), 0)


def many_answers(number: int) -> list[Answer]:
    return [answer_of(f"b{k}") for k in range(number)]


@pytest.mark.parametrize(("boards", "sizes", "left"), [(20, [20], 0), (21, [20, 1], 0), (105, [20] * 5 + [5], 5)])
def test_no_upload_to_github_holds_more_runs_than_it_takes(
    tmp_path: Path, boards: int, sizes: list[int], left: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """It rejects a file of 21 runs, and the files of one upload together, by their number; each run has its own id."""
    settings = {"STACKWRIGHT_SARIF": str(tmp_path / "s.sarif"), "GITHUB_OUTPUT": str(tmp_path / "output")}
    job._write_sarif({**settings, "GITHUB_ACTIONS": "true"}, many_answers(boards))
    lines = (tmp_path / "output").read_text(encoding="utf-8").splitlines()
    files = dict(line.split("=", 1) for line in lines)
    assert list(files) == ["sarif", *(f"sarif-{number}" for number in range(2, len(sizes) + 1))]
    runs = [json.loads(Path(file).read_text(encoding="utf-8"))["runs"] for file in files.values()]
    assert [len(part) for part in runs] == sizes
    assert len({run["automationDetails"]["id"] for part in runs for run in part}) == boards
    said = capsys.readouterr().out
    assert (f"not uploaded: findings of {left} boards" in said) == bool(left)
    assert said.startswith("::warning file=hw/b100.kicad_pcb" if left else "")


def test_what_github_would_refuse_is_not_uploaded(tmp_path: Path) -> None:
    """A run that failed has the whole file refused; without its run a board keeps its alerts."""
    unread = Answer(Unchecked("hw/cut.kicad_pcb", StackwrightError("x", "is cut short", "save it again")), 2)
    crashed = answer_of("crashed", crashes=(RuleCrash(code="VIA001", name="missing-backdrill", error="ValueError: x"),))
    settings = {"STACKWRIGHT_SARIF": str(tmp_path / "s.sarif"), "GITHUB_OUTPUT": str(tmp_path / "output")}
    job._write_sarif({**settings, "GITHUB_ACTIONS": "true"}, [unread, crashed])
    assert list(tmp_path.iterdir()) == []
    job._write_sarif({**settings, "GITHUB_ACTIONS": "true"}, [unread, answer_of("card"), crashed])
    (run,) = json.loads((tmp_path / "s.sarif").read_text(encoding="utf-8"))["runs"]
    assert run["automationDetails"]["id"] == "stackwright/hw/card.kicad_pcb/"
    job._write_sarif(settings, [unread, answer_of("card"), crashed])
    assert len(json.loads((tmp_path / "s.sarif").read_text(encoding="utf-8"))["runs"]) == 3


@needs_git
def test_a_board_that_cannot_be_read_is_annotated_and_uploads_nothing(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.board(BARE).write_text("(kicad_pcb (version 20241229)", encoding="utf-8")
    repository.commit()
    assert job.run_job(repository.settings(GITHUB_ACTIONS="true")) == 2
    where = f"file=hw/{BARE}/{BARE}.kicad_pcb,line=1,title=Stackwright"
    assert f"::error {where}::this board was not checked" in capsys.readouterr().out
    assert repository.output() == {"boards": "1", "exit-code": "2"}
    assert "## ❌ Not checked: hw/" in repository.summary()
    assert job.run_job(repository.settings()) == 2
    assert "::error" not in capsys.readouterr().out


def test_elsewhere_one_file_holds_every_board(tmp_path: Path) -> None:
    """Only GitHub counts runs."""
    job._write_sarif({"STACKWRIGHT_SARIF": str(tmp_path / "s.sarif")}, many_answers(25))
    assert [path.name for path in tmp_path.iterdir()] == ["s.sarif"]
    assert len(json.loads((tmp_path / "s.sarif").read_text(encoding="utf-8"))["runs"]) == 25


def test_the_action_uploads_every_file_that_the_job_announces() -> None:
    steps = ACTION.read_text(encoding="utf-8").split("github/codeql-action/upload-sarif@")[1:]
    named = [re.search(r"sarif_file: \$\{\{ steps\.check\.outputs\.([a-z0-9-]+) \}\}", step) for step in steps]
    expected = ["sarif", *(f"sarif-{number}" for number in range(2, job.UPLOADS + 1))]
    assert [name[1] for name in named if name] == expected
    conditions = re.findall(r"if: .*outputs\.(sarif[-0-9]*) != ''", ACTION.read_text(encoding="utf-8"))
    assert conditions == expected


@needs_git
def test_nothing_changed_is_no_failure_and_closes_no_alert(repository: Repository) -> None:
    repository.commit()
    assert job.run_job(repository.settings()) == 0
    assert repository.output() == {"boards": "0", "exit-code": "0"}
    assert "0 of 3 boards changed" in repository.summary()
    assert not (repository.runner / "stackwright.sarif").exists()


@needs_git
def test_a_repository_without_boards_is_not_passed(repository: Repository) -> None:
    shutil.rmtree(repository.folder / "hw")
    repository.commit()
    assert job.run_job(repository.settings()) == 2
    assert "There is no .kicad\\_pcb file" in repository.summary()


@pytest.mark.slow
@needs_git
def test_inputs_reach_the_check(repository: Repository) -> None:
    every = {"STACKWRIGHT_CHANGED_ONLY": "false", "STACKWRIGHT_BOARDS": f"hw/{LOSSY}"}
    assert job.run_job(repository.settings(**every, STACKWRIGHT_FAIL_ON="never")) == 0
    with (repository.folder / "hw" / LOSSY / "stackwright.toml").open("a", encoding="utf-8") as stream:
        stream.write('\n[[suppress]]\ncode = "MAT001"\nobject = "*"\nreason = "lab"\nowner = "rk"\n')
    assert job.run_job(repository.settings(**every)) == 0
    log = json.loads((repository.runner / "stackwright.sarif").read_text(encoding="utf-8"))
    assert [r for r in log["runs"][0]["results"] if r["ruleId"] == "MAT001"] == []
    assert "2 accepted" in repository.summary()
    assert job.run_job(repository.settings(**every, STACKWRIGHT_SUPPRESSIONS="false")) == 1
    few = {**every, "STACKWRIGHT_BOARDS": f"hw/{BARE}"}
    assert job.run_job(repository.settings(**few)) == 0
    assert job.run_job(repository.settings(**few, STACKWRIGHT_MIN_COVERAGE="90")) == 1
    assert "The check fails: coverage is" in repository.summary()
    assert job.run_job(repository.settings(**few, STACKWRIGHT_PROFILE="no-such")) == 2
    assert job.run_job(repository.settings(**few, STACKWRIGHT_BASELINE="none.json")) == 2


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("FAIL_ON", "eror", 'did you mean "error"?'),
        ("MIN_COVERAGE", "much", '"much" is no percentage'),
        ("MIN_COVERAGE", "101", "is no percentage"),
        ("MIN_COVERAGE", "nan", "is no percentage"),
        ("CHANGED_ONLY", "yes", 'changed-only: "yes" is neither true nor false'),
    ],
)
def test_a_mistake_in_an_input_is_said(name: str, value: str, said: str) -> None:
    with pytest.raises(StackwrightError, match=re.escape(said)):
        settings = {f"STACKWRIGHT_{name}": value}
        job.choose(settings, job._request(settings))


def test_a_mistake_in_an_input_is_annotated_on_github_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """The step that reads it is green: the last one fails the job."""
    settings = {"STACKWRIGHT_FAIL_ON": "eror"}
    for host, said in (
        ({"GITHUB_ACTIONS": "true"}, '::error title=Stackwright::fail-on: "eror" is no severity'),
        ({}, ""),
    ):
        with pytest.raises(StackwrightError):
            job.run_job({**settings, **host})
        printed = capsys.readouterr().out
        assert printed.startswith(said)
        assert bool(printed) == bool(said)


@pytest.mark.slow
@needs_git
def test_reports_in_the_log_are_kept_apart(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    for name in (LOSSY, FIT):
        touch(repository.board(name))
    repository.commit()
    job.run_job(repository.settings())
    assert "\n\nNOT FIT  for training-b200" in capsys.readouterr().out


@pytest.mark.slow
@needs_git
def test_no_board_can_speak_to_the_runner(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    board = repository.board(LOSSY)
    text = board.read_text(encoding="utf-8").replace("370HR 1080 RC71%", "::error::owned", 1)
    board.write_text(text, encoding="utf-8")
    repository.commit()
    job.run_job(repository.settings(GITHUB_ACTIONS="true"))
    tokens: list[str] = []
    for line in capsys.readouterr().out.splitlines():
        if stopped := re.fullmatch(r"::stop-commands::([0-9a-f]{32})", line):
            tokens.append(stopped[1])
        elif tokens and line == f"::{tokens[-1]}::":
            tokens.append("")
        else:
            assert tokens, "text outside the stopped part"
            assert tokens[-1], "text outside the stopped part"
    assert len(tokens) == 4
    assert len(set(tokens)) == 3


def script(name: str) -> str:
    """Return the shell script of a step of the action."""
    step = ACTION.read_text(encoding="utf-8").split(f"- name: {name}\n")[1].split("\n    - name:")[0]
    after = step.split("run: ", 1)[1]
    return re.sub(r"^        ", "", after.removeprefix("|\n"), flags=re.MULTILINE)


def run_step(name: str, folder: Path, variables: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    known = {"PATH": os.environ["PATH"], "HOME": str(folder), **variables}
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script(name)]
    return subprocess.run(command, cwd=folder, env=known, capture_output=True, text=True, check=False)


@pytest.mark.slow
@needs_git
@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_the_steps_of_the_action_end_with_the_verdict(repository: Repository) -> None:
    touch(repository.board(LOSSY))
    repository.commit()
    installed_environment(repository.runner / "stackwright-venv")
    variables = {**repository.settings(), "RUNNER_TEMP": str(repository.runner)}
    check = run_step("Check boards", repository.folder, variables)
    assert check.returncode == 0, check.stderr
    assert repository.output()["exit-code"] == "1"
    assert run_step("Verdict", repository.folder, {"CODE": repository.output()["exit-code"]}).returncode == 1
    assert run_step("Verdict", repository.folder, {"CODE": ""}).returncode == 2
    broken = run_step("Check boards", repository.folder, {**variables, "STACKWRIGHT_FAIL_ON": "eror"})
    assert broken.returncode == 0
    assert "error: fail-on:" in broken.stderr
    assert repository.output()["exit-code"] == "2"


def test_the_action_hands_every_input_on_and_no_script_holds_one() -> None:
    text = ACTION.read_text(encoding="utf-8")
    inputs = re.findall(r"^  ([a-z-]+):$", text.split("\ninputs:\n")[1].split("\noutputs:\n")[0], re.MULTILINE)
    assert {"boards", "profile", "config", "fail-on", "baseline", "min-coverage", "changed-only"} <= set(inputs)
    for name in inputs:
        assert re.search(rf"inputs\.{name}\b", text), name
    known = (ROOT / "plugin" / "stackwright" / "ci" / "job.py").read_text(encoding="utf-8")
    for name in re.findall(r"^        STACKWRIGHT_([A-Z_]+):", text, re.MULTILINE):
        assert f'"{name}"' in known or f"{{PREFIX}}{name}" in known, name
    for step in ("Install Stackwright", "Check boards", "Verdict"):
        assert "${{" not in script(step), "an expression in a script lets a name become a command"


def test_the_documented_variables_are_those_of_the_job() -> None:
    page = (ROOT / "plugin" / "ci" / "README.md").read_text(encoding="utf-8")
    sources = [
        (ROOT / "plugin" / "stackwright" / "ci" / f"{name}.py").read_text(encoding="utf-8")
        for name in ("job", "boards")
    ]
    used = set(re.findall(r'(?:\{PREFIX\}|STACKWRIGHT_|environment, ")([A-Z_]{4,})', "".join(sources)))
    assert {f"STACKWRIGHT_{name}" for name in used} == set(re.findall(r"`(STACKWRIGHT_[A-Z_]+)`", page)) - {
        "STACKWRIGHT_SOURCE",
        "STACKWRIGHT_COMMIT",
    }


@pytest.mark.slow
def test_the_pre_commit_hook_names_a_command_that_checks_a_board(tmp_path: Path) -> None:
    hook = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    entry = re.search(r"^  entry: (.+)$", hook, re.MULTILINE)
    files = re.search(r"^  files: (.+)$", hook, re.MULTILINE)
    exclude = re.search(r"^  exclude: (.+)$", hook, re.MULTILINE)
    assert entry
    assert files
    assert exclude
    board = f"fixtures/boards/{LOSSY}/{LOSSY}.kicad_pcb"
    assert re.search(files[1], board)
    assert re.search(files[1], "hw/stackwright.toml")
    assert not re.search(files[1], "card.kicad_sch")
    assert re.search(exclude[1], "hw/_autosave-card.kicad_pcb")
    assert not re.search(exclude[1], board)
    assert entry[1].startswith("python -I -m stackwright ")
    python = installed_environment(tmp_path / "environment")
    done = subprocess.run(
        [python, *entry[1].split()[1:], board, f"fixtures/boards/{FIT}/{FIT}.kicad_pcb"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "MAT001" in done.stdout


@pytest.mark.skipif(os.name != "posix", reason="a checkout on Windows has a link as a text")
def test_the_former_place_of_the_action_is_the_same_file() -> None:
    """A link and no copy: two actions would part."""
    former = ROOT / "plugin" / "ci" / "action.yml"
    assert former.is_symlink()
    assert former.resolve() == ACTION.resolve()


def test_the_gitlab_job_takes_inputs_and_hands_them_on() -> None:
    """In the form that GitLab has for components: a header with inputs, each of which the job uses, and the job."""
    header, job_ = (ROOT / "plugin" / "ci" / "gitlab-ci.yml").read_text(encoding="utf-8").split("\n---\n")
    names = set(re.findall(r"^    ([a-z-]+):$", header, re.MULTILINE))
    assert {"commit", "source", "fail-on", "profile", "baseline"} <= names
    assert names == set(re.findall(r"\$\[\[ inputs\.([a-z-]+) \]\]", job_))
    read = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "plugin/stackwright/ci").glob("*.py"))
    handed = set(re.findall(r"^    (STACKWRIGHT_[A-Z_]+):", job_, re.MULTILINE))
    to_install = {"STACKWRIGHT_SOURCE", "STACKWRIGHT_COMMIT"}
    assert {name for name in handed - to_install if name.removeprefix("STACKWRIGHT_") not in read} == set()
    yaml = pytest.importorskip("yaml")
    (job_name,) = yaml.safe_load(job_)
    assert job_name == "$[[ inputs.job ]]"
    spec = yaml.safe_load(header)["spec"]["inputs"]
    assert [name for name in spec if "default" not in spec[name]] == ["commit"]
    assert re.fullmatch(spec["commit"]["regex"], "a" * 40)


@pytest.mark.parametrize(
    ("name", "is_watched"),
    [
        ("hw/card.kicad_pcb", True),
        ("card.kicad_pro", True),
        ("hw/card.kicad_dru", True),
        ("hw/stackwright.toml", True),
        ("stackwright.toml", True),
        ("hw/house.toml", True),  # a profile of one's own, if settings name it
        ("models/C1.s2p", True),
        ("models/J1.S4P", True),
        ("models/C2.lib", True),
        ("models/C2.CIR", True),
        ("README.md", False),
        ("card.toml.orig", False),
        ("card.kicad_sch", False),
        ("card.kicad_prl", False),
        ("hw/_autosave-card.kicad_pcb", False),
    ],
)
def test_the_pre_commit_hook_watches_what_a_check_reads(name: str, is_watched: bool) -> None:
    """A change of the rules changes the verdict as one of the board does."""
    hook = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    files, exclude = (re.search(rf"^  {key}: (.+)$", hook, re.MULTILINE) for key in ("files", "exclude"))
    assert files
    assert exclude
    assert bool(re.search(files[1], name) and not re.search(exclude[1], name)) == is_watched


def test_touched_files_lead_to_their_boards(tmp_path: Path) -> None:
    """Each board once; a project without a board, and settings without one, bring none."""
    for name in ("a.kicad_pcb", "a.kicad_pro", "a.kicad_dru", "b.kicad_pcb", "sub/c.kicad_pcb", "d.kicad_pro"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()

    def boards(*names: str) -> list[str]:
        found = boards_of(boards_touched([tmp_path / name for name in names]))
        return [path.relative_to(tmp_path).as_posix() for path in found]

    assert boards("a.kicad_dru", "a.kicad_pro", "a.kicad_pcb") == ["a.kicad_pcb"]
    assert boards("stackwright.toml") == ["a.kicad_pcb", "b.kicad_pcb"]
    assert boards("sub/stackwright.toml", "d.kicad_pro", "none/stackwright.toml", "gone.kicad_pcb") == [
        "sub/c.kicad_pcb"
    ]


def test_what_settings_name_leads_to_their_boards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A profile, one that it rests on, the model of a part; a file that nothing names brings no board."""
    monkeypatch.chdir(tmp_path)
    put(tmp_path / "profiles" / "house.toml", 'title = "House"\nextends = ["all.toml"]\n')
    put(tmp_path / "profiles" / "all.toml", 'title = "All"\nextends = ["training"]\n')
    for name in ("pyproject.toml", "models/c1.lib", "a/a.kicad_pcb", "b/b.kicad_pcb", "c/c.kicad_pcb"):
        put(tmp_path / name, "")
    put(tmp_path / "a" / "stackwright.toml", 'profile = "../profiles/house.toml"\n')
    put(tmp_path / "b" / "stackwright.toml", '[[part_model]]\nparts = ["C1"]\nfile = "../models/c1.lib"\n')
    put(tmp_path / "c" / "stackwright.toml", "not TOML")

    def boards(*names: str, shared: tuple[str, ...] = ()) -> list[str]:
        found = boards_of(boards_touched([Path(name) for name in names], [Path(name) for name in shared]))
        return [path.as_posix() for path in found]

    assert boards("profiles/house.toml") == boards("profiles/all.toml") == ["a/a.kicad_pcb"]
    assert boards("models/c1.lib", "profiles/all.toml") == ["a/a.kicad_pcb", "b/b.kicad_pcb"]
    assert boards("pyproject.toml") == []
    assert boards("pyproject.toml", shared=("pyproject.toml",)) == [f"{x}/{x}.kicad_pcb" for x in "abc"]
    assert boards("none.toml") == ["none.toml"]  # a word that is no file is refused by the check


def test_a_touched_profile_of_the_command_line_has_every_board_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A hook with `args: [--profile, ...]` judges all boards by that file."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(BOARDS / BARE, tmp_path / "hw")
    put(tmp_path / "house.toml", 'title = "House"\nextends = ["edge"]\n')
    assert run(["check", "-q", "--touched", "house.toml"]) == 0
    assert capsys.readouterr().out == "no board belongs to these files\n"
    run(["check", "-q", "--touched", "--profile", "house.toml", "house.toml"])
    assert f"{BARE}.kicad_pcb" in capsys.readouterr().out


def test_touched_files_without_a_board_fail_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A commit to a schematic's project is no reason to stop."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.kicad_pro").write_text("{}", encoding="utf-8")
    assert run(["check", "--touched", "d.kicad_pro"]) == 0
    assert capsys.readouterr().out == "no board belongs to these files\n"


def test_a_touched_rules_file_has_its_board_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As if the board itself had been named."""
    folder = tmp_path / BARE
    shutil.copytree(BOARDS / BARE, folder)
    (folder / f"{BARE}.kicad_dru").write_text("(version 1)\n", encoding="utf-8")
    assert run(["check", "-q", "--touched", str(folder / f"{BARE}.kicad_dru")]) == 0
    assert f"{BARE}.kicad_pcb" in capsys.readouterr().out
