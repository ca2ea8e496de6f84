"""What a run over the corpus counts, and what it says has moved since another version."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from stackup_lib.core.errors import StackwrightError
from tests.corpus import run
from tests.corpus.manifest import Entry, read_manifest
from tests.corpus.run import Checked, laid_out, movement, stated_budget, summary, write
from tests.corpus.sources import git, sha256_of


def finding(key: str, severity: str = "warning") -> dict[str, str]:
    return {"code": "FAB018", "name": "copper-near-edge", "clause": "c", "severity": severity, "key": key, "title": key}


def checked(*findings: dict[str, str], failure: str = "") -> Checked:
    counts = Counter(one["severity"] for one in findings)
    headline = "" if failure else "no workload"
    return Checked(read_manifest()[0], 1.0, headline, findings, failure, counts)


def test_a_summary_counts_boards_rules_and_failures() -> None:
    text = summary([checked(finding("a"), finding("b", "error")), checked(failure="took longer than 300 s")])
    assert "| FAB018 copper-near-edge | 1 | 1 | 1 | 0 |" in text
    assert "Not checked or crashed: 1" in text
    assert text.endswith("took longer than 300 s\n")


def test_movement_tells_new_gone_and_changed(tmp_path: Path) -> None:
    write([checked(finding("kept"), finding("gone"), finding("moved"))], tmp_path)
    after = [checked(finding("kept"), finding("moved", "info"), finding("new"))]
    count, told = movement(tmp_path / "findings.jsonl", after)
    assert count == 3
    assert told.startswith("1 new, 1 gone, 1 of another severity, on 1 boards")
    assert [line.split(":")[0] for line in told.splitlines()[2:]] == ["- new", "- gone", "- severity"]
    assert json.loads((tmp_path / "findings.jsonl").read_text(encoding="utf-8").splitlines()[0])["key"] == "kept"


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("", 0),
        ("Corrects the reader.", 0),
        ("Why.\n\nFindings that move: 12\n", 12),
        ("- **Findings that move:** 3 (false alarms on castellations)", 3),
        ("No findings that move: 5 is an old count", 0),
    ],
)
def test_a_pull_request_states_how_many_findings_it_moves(text: str, budget: int) -> None:
    assert stated_budget(text) == budget


@pytest.mark.parametrize(("budget", "code"), [("Findings that move: 1", 0), ("Findings that move: 0", 1), ("", 1)])
def test_more_movement_than_is_stated_fails(
    budget: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write([checked(finding("kept"))], tmp_path / "before")
    monkeypatch.setattr(run, "laid_out", lambda *_: tmp_path)
    monkeypatch.setattr(run, "check", lambda *_: checked(finding("kept"), finding("new")))
    before = str(tmp_path / "before" / "findings.jsonl")
    words = ["--output", str(tmp_path / "after"), "--every", "1000", "--against", before, "--budget", budget]
    assert run.main(words) == code
    assert ("write 'Findings that move: 1' and why" in capsys.readouterr().err) == bool(code)


def test_a_board_comes_from_its_commit_with_its_project_and_is_held_against_its_hash(tmp_path: Path) -> None:
    here = tmp_path / "mirrors" / "owner+name"
    here.mkdir(parents=True)
    git_dir = here / ".git"
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.invalid"]
    for words in (["init", "--quiet"],):
        git(git_dir, "--work-tree", str(here), *words)
    (here / "b.kicad_pcb").write_text("(kicad_pcb (version 20221018))", encoding="utf-8")
    (here / "b.kicad_pro").write_text("{}", encoding="utf-8")
    git(git_dir, "--work-tree", str(here), "add", "b.kicad_pcb", "b.kicad_pro")
    git(git_dir, *identity, "commit", "--quiet", "-m", "boards")
    commit = git(git_dir, "rev-parse", "HEAD").decode().strip()
    sha256 = sha256_of(b"(kicad_pcb (version 20221018))")
    entry = Entry("owner/name", "b.kicad_pcb", commit, sha256, "", "MIT", "20221018", 2, 30, False, False, "b")
    board = laid_out(entry, tmp_path / "cache", tmp_path / "mirrors")
    assert board.read_text(encoding="utf-8") == "(kicad_pcb (version 20221018))"
    assert board.with_suffix(".kicad_pro").read_text(encoding="utf-8") == "{}"
    board.write_text("(kicad_pcb)", encoding="utf-8")
    with pytest.raises(StackwrightError, match="not the file"):
        laid_out(entry, tmp_path / "cache", tmp_path / "mirrors")
