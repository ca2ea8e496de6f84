"""The baseline: it knows findings by structure, gates what is new, and only shrinks."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import jsonschema
import pytest

from drc_rules.engine.baseline import Baseline, board_name, gate, load_baseline, rewrite
from drc_rules.engine.check import check_board
from drc_rules.engine.one_clause import finish
from drc_rules.report.findings import Finding, FindingLimit, Location, Measured, ObjectRows
from drc_rules.report.known_findings import Accepted, Remembered, StaleSuppression
from drc_rules.report.model import Report
from drc_rules.report.verdicts import Verdict
from drc_rules.requirements.clauses import Severity
from drc_rules.rules.rule import DraftFinding, all_rules
from drc_rules.settings.config import CheckOptions
from stackup_lib.core.errors import ConfigError
from stackup_lib.core.facts import Confidence
from stackwright.cli.app import run
from stackwright.commands.check.baseline import write_baseline
from stackwright.commands.check.exit_reasons import exit_reasons
from stackwright.commands.check.request import CheckRequest
from stackwright.reporters import json_, text
from stackwright.results.checked import Checked
from stackwright.text.output import OutputError
from tests.conftest import kicad_cli_path
from tests.support.boards import BOARDS, board_file, copied
from tests.support.git import git
from tests.support.remembered import checked, equal_boards_checked_once
from tests.support.reports.made_reports import SCHEMA, clause, finding, report, strict, verdict

LOSSY, STUBS, FEW = "training_b200_lossy_prepreg", "training_b200_no_backdrill", "training_b200_too_few_layers"
ALL = sorted(path.parent.name for path in BOARDS.glob("*/*.kicad_pcb"))


@pytest.fixture(autouse=True)
def _remembered() -> Iterator[None]:
    """A board that lies there as before is checked once in this file."""
    with equal_boards_checked_once():
        yield


def keys(report_: Report) -> list[str]:
    return sorted(f.key for f in report_.findings)


def with_row_of(text: str, target: str, source: str) -> str:
    """Return a board's text where one dielectric is made of what another is made of."""
    rows = {name: re.search(rf'\t\t\t\(layer "{name}"\n(.*?)\n\t\t\t\)', text, re.DOTALL) for name in (target, source)}
    old, new = rows[target], rows[source]
    assert old
    assert new
    return text[: old.start(1)] + new[1] + text[old.end(1) :]


def known(net: str, members: int = 0) -> Remembered:
    return Remembered.of(finding(net)).model_copy(update={"members": members})


def test_the_gate_lets_through_what_the_baseline_knows_and_nothing_else() -> None:
    now = report(findings=(finding("/A"), finding("/B")))
    done = gate(now, [known("/A"), known("/GONE")])
    assert [f.key for f in done.findings] == ["VIA001-/B"]
    assert [(a.finding.key, a.by) for a in done.accepted] == [("VIA001-/A", "baseline")]
    assert [one.key for one in done.fixed] == ["VIA001-/GONE"]
    assert (done.headline, done.verdicts) == (now.headline, now.verdicts)
    assert done.headline_why.endswith("(1 finding accepted)")
    assert exit_reasons(done, CheckOptions())[0].code == 1
    assert exit_reasons(gate(now, [known("/A"), known("/B")]), CheckOptions()) == ()


@pytest.mark.parametrize(("before", "now", "passes"), [(2, 2, True), (2, 1, True), (2, 3, False), (0, 3, True)])
def test_a_known_finding_that_is_about_more_nets_is_new(before: int, now: int, passes: bool) -> None:
    """Two pairs of nets too near are known: a third is new; an older baseline has no number, and lets all pass."""
    grown = finding("/A").model_copy(update={"counted": now})
    done = gate(report(findings=(grown,)), [known("/A", before)])
    assert [f.key for f in done.findings] == ([] if passes else [grown.key])
    assert passes or done.findings[0].why.endswith("There were 2 of them, now there are 3")
    shrunk = rewrite(Baseline(boards={"b": (known("/A", before),)}), {"b": report(findings=(grown,))}, grow=False)
    assert [one.members for one in shrunk.baseline.boards["b"]] == [min(before or now, now)]
    assert bool(shrunk.refused) is not passes
    grew = rewrite(Baseline(boards={"b": (known("/A", before),)}), {"b": report(findings=(grown,))}, grow=True)
    assert [one.members for one in grew.baseline.boards["b"]] == [now]


def test_holes_pairs_and_nets_are_counted_but_not_another_way_of_a_net() -> None:
    """Tracks and places of one net are one; from ten places on there may be more than are shown."""
    places = tuple(Location(net=net) for net in ("/A", "/A", "/B"))
    one = finding("/A").model_copy(update={"places": places})
    assert one.members == 2
    assert one.model_copy(update={"counted": 5}).members == 5
    assert one.model_copy(update={"every": ObjectRows(vias=(1, 2, 3), pads=(4,))}).members == 4
    assert one.model_copy(update={"every": ObjectRows(tracks=(1, 2, 3))}).members == 2
    assert one.model_copy(update={"places": places * 4}).members == 0


def test_suppressed_and_known_findings_are_counted_once_and_together() -> None:
    suppressed = Accepted(finding=finding("/S"), by="suppression", reason="r", owner="o")
    now = report(
        findings=(finding("/A"),), accepted=(suppressed,), headline_why="1 clause failed: x (1 finding accepted)"
    )
    done = gate(now, [known("/A"), known("/S")])
    assert done.headline_why == "1 clause failed: x (2 findings accepted)"
    assert (len(done.accepted), done.fixed) == (2, ())


def test_what_could_not_be_decided_is_not_fixed() -> None:
    clause = finding().clause
    undecided = verdict(clause, Verdict.NOT_VERIFIABLE, checked=0, undecided=1)
    now = report(findings=(), verdicts=(undecided,))
    assert gate(now, [known("/A")]).fixed == ()
    assert rewrite(Baseline(boards={"b": (known("/A"),)}), {"b": now}, grow=False).removed == ()


def test_a_baseline_begins_with_everything_and_then_only_shrinks() -> None:
    first = rewrite(None, {"b": report(findings=(finding("/A"), finding("/B")))}, grow=False)
    assert (first.kept, first.removed, first.refused) == (2, (), ())
    later = rewrite(first.baseline, {"b": report(findings=(finding("/B"), finding("/NEW")))}, grow=False)
    assert [one.key for one in later.removed] == ["VIA001-/A"]
    assert [f.key for f in later.refused] == ["VIA001-/NEW"]
    assert [one.key for one in later.baseline.boards["b"]] == ["VIA001-/B"]
    grown = rewrite(later.baseline, {"b": report(findings=(finding("/B"), finding("/NEW")))}, grow=True)
    assert ({one.key for one in grown.baseline.boards["b"]}, grown.refused) == ({"VIA001-/B", "VIA001-/NEW"}, ())


def test_a_board_that_is_new_to_the_baseline_needs_growing_too() -> None:
    old = Baseline(boards={"a": (known("/A"),)})
    done = rewrite(old, {"b": report(findings=(finding("/B"),))}, grow=False)
    assert [f.key for f in done.refused] == ["VIA001-/B"]
    assert done.baseline.boards["a"] == (known("/A"),)


def test_a_board_that_is_gone_leaves_the_baseline(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Else a new board at its path starts with findings accepted; boards that are there, checked or not, stay."""
    for name in ("one", "two", "Gera\u0308t"):  # the last as macOS may write it
        shutil.copytree(BOARDS / LOSSY, tmp_path / name)
    target = tmp_path / "known.json"
    assert write_baseline([tmp_path], target, CheckRequest(), update=False) == 0
    names = [name for name in load_baseline(target).boards if not name.startswith("one/")]
    shutil.rmtree(tmp_path / "one")
    capsys.readouterr()
    assert write_baseline([tmp_path / "two"], target, CheckRequest(), update=False) == 0
    said = capsys.readouterr().out
    assert f"no board  one/{LOSSY}.kicad_pcb is not there any more: 3 findings" in " ".join(said.split(" ")).replace(
        "\n", ""
    )
    assert "3 findings known, 3 gone and removed" in said
    assert list(load_baseline(target).boards) == names


def test_an_accepted_finding_does_not_enter_the_baseline() -> None:
    suppressed = Accepted(finding=finding("/S"), by="suppression", reason="r", owner="o")
    done = rewrite(None, {"b": report(findings=(), accepted=(suppressed,))}, grow=False)
    assert done.baseline.boards == {"b": ()}


def test_the_file_is_sorted_and_comes_back_as_it_was(tmp_path: Path) -> None:
    baseline = Baseline(boards={"z": (known("/B"), known("/A")), "a": ()})
    path = tmp_path / "baseline.json"
    path.write_text(baseline.text(), encoding="utf-8")
    again = load_baseline(path)
    assert again.text() == baseline.text()
    assert list(json.loads(baseline.text())["boards"]) == ["a", "z"]
    assert [one.key for one in again.boards["z"]] == ["VIA001-/A", "VIA001-/B"]


@pytest.mark.parametrize("text", ["", "[]", '{"format": "other"}', '{"version": 2}', "[" * 100_000, "\xff"])
def test_what_is_no_baseline_is_said_in_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "baseline.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ConfigError, match=r"is not a baseline of Stackwright; .*move a damaged one away"):
        load_baseline(path)


def test_a_baseline_that_is_not_there_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_baseline(tmp_path / "none.json")


def test_a_board_is_known_by_its_path_from_the_baseline(tmp_path: Path) -> None:
    (tmp_path / "hw").mkdir()
    assert board_name(tmp_path / "hw" / "x.kicad_pcb", tmp_path / "b.json") == "hw/x.kicad_pcb"
    assert board_name(tmp_path / "x.kicad_pcb", tmp_path / "hw" / "b.json") == "../x.kicad_pcb"


@pytest.mark.slow
def test_the_command_writes_shrinks_and_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    board, target = copied(LOSSY, tmp_path), tmp_path / "stackwright-baseline.json"
    assert write_baseline([board], target, CheckRequest(), update=False) == 0
    before = load_baseline(target)
    codes = [one.code for one in before.boards[f"{LOSSY}/{LOSSY}.kicad_pcb"]]
    assert codes == ["FAB005", "MAT001", "MAT001"]
    worse = board.read_text(encoding="utf-8")
    half = with_row_of(worse, "dielectric 5", "dielectric 7")
    board.write_text(with_row_of(half, "dielectric 23", "dielectric 7"), encoding="utf-8")
    capsys.readouterr()
    assert write_baseline([board], target, CheckRequest(), update=False) == 0
    assert "1 finding known, 2 gone and removed" in capsys.readouterr().out
    board.write_text(worse, encoding="utf-8")
    assert write_baseline([board], target, CheckRequest(), update=False) == 1
    said = capsys.readouterr().out
    assert "dielectric 5 " in said
    assert "2 new findings not added" in said
    assert [one.code for one in load_baseline(target).boards[f"{LOSSY}/{LOSSY}.kicad_pcb"]] == codes[:1]
    assert write_baseline([board], target, CheckRequest(), update=True) == 0
    assert load_baseline(target) == before


@pytest.mark.slow
def test_a_baseline_of_a_folder_holds_the_boards_below_it(tmp_path: Path) -> None:
    """As `check` finds them."""
    copied(LOSSY, tmp_path)
    assert write_baseline([tmp_path], tmp_path / "b.json", CheckRequest(), update=False) == 0
    assert list(load_baseline(tmp_path / "b.json").boards) == [f"{LOSSY}/{LOSSY}.kicad_pcb"]


@pytest.mark.slow
def test_nothing_is_written_when_a_board_cannot_be_read(tmp_path: Path) -> None:
    target = tmp_path / "b.json"
    assert (
        write_baseline([copied(LOSSY, tmp_path), tmp_path / "none.kicad_pcb"], target, CheckRequest(), update=False)
        == 2
    )
    assert not target.exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_no_two_findings_of_a_board_share_a_key(name: str) -> None:
    found = checked(board_file(name)).report.findings
    assert len({f.key for f in found}) == len(found)


@pytest.mark.parametrize("name", ["inference_hdi_2n2_fit", "training_b200_no_backdrill"])
def test_a_validator_would_change_nothing_in_a_report(name: str) -> None:
    """The check constructs it without one: types and values are right already, nested ones included."""
    made = checked(board_file(name)).report

    assert repr(Report(**dict(made))) == repr(made)


def test_a_key_depends_on_what_a_finding_is_about_and_on_nothing_else() -> None:
    def key(*ids: str, title: str = "t", measured: float = 1.0, of: str = "a.clause") -> str:
        draft = DraftFinding(title, "w", "f", ids, measured=Measured(value=measured), places=(Location(layer=title),))
        return finish(draft, clause(name=of), all_rules()[0], Confidence.HIGH).key

    assert key("a", "b") == key("b", "a") == key("a", "b", title="other words", measured=2.0)
    assert len({key("a"), key("b"), key("a", "b"), key("ab"), key("a", of="another.clause")}) == 5


def reordered(text: str) -> str:
    """Return a board's text with its items in the opposite order, moved down by many lines."""
    items = re.findall(r"^\t\((?:segment|arc|via|footprint|zone)\n.*?^\t\)\n", text, re.MULTILINE | re.DOTALL)
    assert len(items) > 1
    start = text.index(items[0])
    head = text[:start]
    rest = text[start:]
    for item in items:
        rest = rest.replace(item, "", 1)
    return head + "\n" * 40 + "".join(reversed(items)) + rest


@pytest.mark.slow
@pytest.mark.parametrize("name", [LOSSY, STUBS])
def test_moved_lines_and_another_order_change_no_key(tmp_path: Path, name: str) -> None:
    board = copied(name, tmp_path)
    before = checked(board).report
    board.write_text(reordered(board.read_text(encoding="utf-8")), encoding="utf-8")
    after = check_board(board)
    assert keys(before)
    assert keys(after) == keys(before)


@pytest.mark.slow
def test_a_shifted_board_and_new_uuids_change_no_key_of_a_net(tmp_path: Path) -> None:
    board = copied(STUBS, tmp_path)
    before = checked(board).report
    text = board.read_text(encoding="utf-8")
    moved = re.sub(r'\(uuid "([0-9a-f])', lambda m: f'(uuid "{"f" if m[1] != "f" else "e"}', text)
    assert moved != text
    board.write_text(moved, encoding="utf-8")
    assert keys(check_board(board)) == keys(before)


@pytest.mark.slow
@pytest.mark.kicad
@pytest.mark.parametrize("name", [LOSSY, STUBS, "default_stackup"])
def test_a_board_that_kicad_saved_again_has_the_same_keys(tmp_path: Path, name: str) -> None:
    board = copied(name, tmp_path)
    before, text = keys(checked(board).report), reordered(board.read_text(encoding="utf-8"))
    board.write_text(text, encoding="utf-8")
    cli = kicad_cli_path()
    assert cli
    subprocess.run([cli, "pcb", "upgrade", "--force", str(board)], check=True, capture_output=True, timeout=300)
    assert board.read_text(encoding="utf-8") != text, "KiCad has not written the board"
    assert before
    assert keys(check_board(board)) == before


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("git") is None, reason="no git on the PATH")
def test_a_baseline_of_one_commit_gates_only_what_the_next_one_adds(tmp_path: Path) -> None:
    board, target = copied(LOSSY, tmp_path), tmp_path / "stackwright-baseline.json"
    git(tmp_path, "init", "-q")
    assert write_baseline([board], target, CheckRequest(), update=False) == 0
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "a board with two errors, and its baseline")
    text = board.read_text(encoding="utf-8")
    board.write_text(with_row_of(text, "dielectric 4", "dielectric 5"), encoding="utf-8")
    git(tmp_path, "commit", "-qam", "one more")
    name = board_name(board, target)
    done = gate(check_board(board), load_baseline(target).boards[name])
    assert {f.objects for f in done.findings if f.code == "MAT001"} == {("dielectric 4",)}
    assert len(done.accepted) == 3
    git(tmp_path, "checkout", "-q", "HEAD~1")
    assert gate(check_board(board), load_baseline(target).boards[name]).findings == ()


@pytest.mark.slow
def test_the_command_line_gates_by_a_baseline_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    board, target = str(copied(LOSSY, tmp_path)), str(tmp_path / "b.json")
    assert run(["baseline", board, "--output", target]) == 0
    assert run(["check", board]) == 1
    capsys.readouterr()
    assert run(["check", board, "--baseline", target]) == 0
    said = capsys.readouterr().out
    assert said.startswith("NOT FIT")
    assert "(3 findings accepted)" in said
    assert "accepted 3 in the baseline" in " ".join(said.split())
    with pytest.raises(OutputError, match="is an input of this check"):
        run(["check", board, "--baseline", target, "--output", target])
    assert run(["check", board, "--baseline", str(tmp_path / "none.json")]) == 2


def test_a_report_with_all_of_it_keeps_to_the_published_schema() -> None:
    suppressed = Accepted(finding=finding("/S"), by="suppression", reason="r", owner="o", expires=date(2027, 1, 31))
    stale = StaleSuppression(entry="e", problem="matches nothing", reason="r", owner="o", line=3)
    full = gate(report(accepted=(suppressed,), stale_suppressions=(stale,)), [known("/TX0_P"), known("/GONE")])
    written = json.loads(json_.render([Checked(full, None, "0" * 64)]))
    jsonschema.validate(written, strict(json.loads(SCHEMA.read_text(encoding="utf-8"))))
    (one,) = written["reports"]
    assert [a["expires"] for a in one["accepted"]] == ["2027-01-31", None]
    assert [s["line"] for s in one["stale_suppressions"]] == [3]
    assert [f["key"] for f in one["fixed"]] == ["VIA001-/GONE"]


def test_the_text_report_tells_what_is_accepted_stale_and_fixed() -> None:
    suppressed = Accepted(finding=finding("/S"), by="suppression", reason="lab", owner="rk", expires=date(2027, 1, 31))
    stale = StaleSuppression(entry="STK001, object *", problem="matches nothing", reason="old", owner="rk", line=3)
    full = gate(report(accepted=(suppressed,), stale_suppressions=(stale,)), [known("/TX0_P"), known("/GONE")])
    said = text.page(full, verbose=True, clauses=True).text()
    assert "Accepted  1 suppressed, 1 known before" in said
    assert "lab (rk, until 2027-01-31)" in said
    assert "suppression of STK001, object * matches nothing, line 3 of stackwright.toml: old (rk)" in " ".join(
        said.split()
    )
    assert "/GONE: 1.36 mm stub" in said
    assert finding().title not in said
    assert finding().title in " ".join(text.page(full, full=True).text().split())
    assert "Accepted" not in text.page(report(), verbose=True, clauses=True).text()


def measured(value: float, severity: Severity = Severity.ERROR, limit: float = 0.25) -> Finding:
    """A stub of some length, `limit` mm allowed."""
    return finding("/A").model_copy(
        update={
            "measured": Measured(value=value, unit="mm"),
            "limit": FindingLimit(value=limit, unit="mm", source="A guide"),
            "severity": severity,
        }
    )


@pytest.mark.parametrize(
    ("was", "now", "says"),
    [
        (measured(1.36), measured(1.36), None),
        (measured(1.36), measured(1.45), None),  # 7 % more
        (measured(1.36), measured(1.55), "It was 1.36 mm, now it is 1.55"),  # 14 % more
        (measured(1.36), measured(0.3), None),
        (measured(0.075, limit=0.1), measured(0.07, limit=0.1), None),  # 5 % of the limit
        (measured(0.075, limit=0.1), measured(0.05, limit=0.1), "It was 0.075 mm, now it is 0.05"),
        (measured(95, limit=85), measured(75, limit=85), None),  # as far from its target on the other side
        (measured(1.36, Severity.WARNING), measured(1.36), "Its severity was warning, now it is error"),
        (measured(1.36), measured(1.36, Severity.WARNING), None),
    ],
)
def test_a_known_finding_that_is_much_worse_is_new(was: Finding, now: Finding, says: str | None) -> None:
    """By severity, or by more than a tenth of value or limit; an older baseline remembers neither."""
    remembered = Remembered.of(was)
    done = gate(report(findings=(now,)), [remembered])
    assert [f.key for f in done.findings] == ([now.key] if says else [])
    assert says is None or done.findings[0].why.endswith(says)
    older = remembered.model_copy(update={"severity": None, "measured": None, "unit": ""})
    assert gate(report(findings=(now,)), [older]).findings == ()


def test_a_baseline_remembers_the_best_state_so_that_many_small_steps_add_up() -> None:
    """1.36 mm, then 1.0 mm, then 1.05 mm: 1.0 mm stays known, and 1.15 mm is new."""
    base = rewrite(None, {"b": report(findings=(measured(1.36),))}, grow=False).baseline
    for value in (1.0, 1.05):
        base = rewrite(base, {"b": report(findings=(measured(value),))}, grow=False).baseline
    assert [one.measured for one in base.boards["b"]] == [1.0]
    assert rewrite(base, {"b": report(findings=(measured(1.15),))}, grow=False).refused
    assert not rewrite(base, {"b": report(findings=(measured(1.09),))}, grow=False).refused
    grown = rewrite(base, {"b": report(findings=(measured(1.15),))}, grow=True).baseline
    assert [one.measured for one in grown.boards["b"]] == [1.15]


def test_an_older_baseline_is_read_and_completed() -> None:
    """It has keys and members alone."""
    row = known("/A").model_copy(update={"severity": None, "measured": None, "unit": ""})
    kept = rewrite(Baseline(boards={"b": (row,)}), {"b": report(findings=(measured(1.36),))}, grow=False)
    (one,) = kept.baseline.boards["b"]
    assert (one.measured, one.unit, one.severity) == (1.36, "mm", Severity.ERROR)
