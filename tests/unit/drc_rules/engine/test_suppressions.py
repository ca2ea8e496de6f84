"""`[[suppress]]`: what is accepted, what is not, and what is said of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from drc_rules.engine.check import check_board
from drc_rules.engine.suppressions import accept
from drc_rules.facts.declared import Overrides
from drc_rules.report.findings import Location
from drc_rules.report.model import Headline, Report
from drc_rules.report.verdicts import Verdict
from drc_rules.settings.config import CheckOptions, parse_config
from drc_rules.settings.suppression import Suppression
from stackup_lib.core.errors import ConfigError
from stackwright.commands.check.exit_reasons import exit_reasons
from tests.support.boards import BOARDS
from tests.support.reports.made_reports import finding, report, verdict

LOSSY = "training_b200_lossy_prepreg"
TODAY = date(2026, 6, 1)
Check = Callable[..., Report]


def entry(**changes: object) -> Suppression:
    known: dict[str, object] = {"code": "VIA001", "net": "/TX0_P", "reason": "lab build", "owner": "rk"}
    return Suppression.model_validate({**known, **changes})


@pytest.fixture
def lossy(tmp_path: Path) -> Check:
    """Return a check of a board with two errors (dielectrics 5 and 23), with tables added to its settings.

    Only what its stackup and materials say: the remarks of other families are none of these tests' business.
    """
    folder = tmp_path / LOSSY
    shutil.copytree(BOARDS / LOSSY, folder)
    settings = folder / "stackwright.toml"
    before = settings.read_text(encoding="utf-8")

    def check(*tables: str, today: date = TODAY, suppress: bool = True) -> Report:
        rows = [
            f'\n[[suppress]]\nreason = "ten boards for the lab"\nowner = "R. Keller"\n{table}\n' for table in tables
        ]
        settings.write_text(before + "".join(rows), encoding="utf-8")
        options = Overrides(select=("STK", "MAT"), suppress=suppress)
        return check_board(folder / f"{LOSSY}.kicad_pcb", overrides=options, today=today)

    return check


@pytest.mark.slow
def test_an_accepted_finding_stands_apart_and_changes_no_verdict(lossy: Check) -> None:
    plain, with_one = lossy(), lossy('code = "MAT001"\nobject = "dielectric 5"')
    assert {f.objects for f in plain.findings} == {("dielectric 5",), ("dielectric 23",)}
    assert [f.objects for f in with_one.findings] == [("dielectric 23",)]
    (accepted,) = with_one.accepted
    assert (accepted.finding.objects, accepted.by) == (("dielectric 5",), "suppression")
    assert (accepted.reason, accepted.owner) == ("ten boards for the lab", "R. Keller")
    assert with_one.verdicts == plain.verdicts
    assert any(v.verdict is Verdict.FAILED for v in with_one.verdicts)


@pytest.mark.slow
def test_all_findings_accepted_is_still_not_fit_but_fails_no_gate(lossy: Check) -> None:
    done = lossy('code = "MAT001"\nobject = "*"')
    assert done.findings == ()
    assert done.headline is Headline.NOT_FIT
    assert done.headline_why.endswith("(2 findings accepted)")
    assert exit_reasons(done, CheckOptions()) == ()
    assert exit_reasons(done, CheckOptions(fail_on="info")) == ()


@pytest.mark.slow
def test_suppressions_can_be_disregarded(lossy: Check) -> None:
    done = lossy('code = "MAT001"\nobject = "*"', 'code = "STK001"\nobject = "*"', suppress=False)
    assert len(done.findings) == 2
    assert (done.accepted, done.stale_suppressions) == ((), ())
    assert exit_reasons(done, CheckOptions())[0].code == 1


@pytest.mark.slow
def test_a_suppression_holds_on_its_last_day_and_no_longer(lossy: Check) -> None:
    table = 'code = "MAT001"\nobject = "*"\nexpires = 2027-01-31'
    last, after = lossy(table, today=date(2027, 1, 31)), lossy(table, today=date(2027, 2, 1))
    assert (len(last.findings), last.stale_suppressions) == (0, ())
    assert (len(after.findings), after.accepted) == (2, ())
    (stale,) = after.stale_suppressions
    assert stale.problem == "expired on 2027-01-31"
    assert exit_reasons(after, CheckOptions())[0].code == 1


@pytest.mark.slow
def test_a_suppression_that_matches_nothing_is_a_warning_with_its_line(lossy: Check) -> None:
    done = lossy('code = "MAT001"\nobject = "*"', 'code = "STK001"\nobject = "*"')
    (stale,) = done.stale_suppressions
    assert (stale.entry, stale.problem, stale.owner) == ("STK001, object *", "matches nothing", "R. Keller")
    assert stale.line is not None
    folder = Path(done.board.path).parent
    lines = (folder / "stackwright.toml").read_text(encoding="utf-8").splitlines()
    assert lines[stale.line - 1] == "[[suppress]]"
    assert lines[stale.line + 2] == 'code = "STK001"'
    assert exit_reasons(done, CheckOptions()) == ()
    assert [(one.code, one.text) for one in exit_reasons(done, CheckOptions(fail_on="warning"))] == [
        (1, "1 suppression does nothing")
    ]


def test_what_could_not_be_decided_makes_no_suppression_stale() -> None:
    undecided = report(findings=(), verdicts=(verdict("a.b", Verdict.NOT_VERIFIABLE, checked=0, undecided=1),))
    decided = report(findings=(), verdicts=(verdict("a.b", Verdict.PASSED),))
    assert accept(undecided, [entry()], today=TODAY).stale_suppressions == ()
    assert len(accept(decided, [entry()], today=TODAY).stale_suppressions) == 1


def test_every_layer_and_net_of_a_finding_has_to_be_meant() -> None:
    both = finding(places=(Location(layer="In4.Cu", net="/TX0_P"), Location(layer="In23.Cu", net="/TX0_N")))
    assert not entry(net=(), layer="In4.Cu").covers(both)
    assert entry(net=(), layer=("In4.Cu", "In23.Cu")).covers(both)
    assert not entry(net="/TX0_P").covers(both)
    assert entry(net="/TX0_?").covers(both)
    assert not entry(net="/TX0_?", layer="In4.Cu").covers(both)


def test_a_place_that_a_finding_does_not_have_does_not_match() -> None:
    unmatched = finding(places=())
    assert not entry(net="*").covers(unmatched)
    assert not entry(net=(), layer="*").covers(unmatched)
    assert not entry(net=(), object="*").covers(unmatched)


def test_brackets_in_a_net_name_stand_for_themselves() -> None:
    bus = finding(net="/D[0]")
    assert entry(net="/D[0]").covers(bus)
    assert not entry(net="/D[0]").covers(finding(net="/D0"))


def test_code_clause_key_and_board_narrow() -> None:
    one = finding()
    assert entry().covers(one)
    assert not entry(code="VIA002").covers(one)
    assert entry(clause=one.clause).covers(one)
    assert not entry(clause="another").covers(one)
    assert entry(net=(), code=None, key=one.key).covers(one)
    assert not entry(net=(), key="VIA001-other").covers(one)
    assert len(accept(report(), [entry(board="card.kicad_*")], today=TODAY).accepted) == 1
    elsewhere = accept(report(), [entry(board="other.kicad_pcb")], today=TODAY)
    assert (len(elsewhere.findings), elsewhere.stale_suppressions) == (1, ())


GOOD = '[[suppress]]\ncode = "VIA001"\nnet = "/A"\nreason = "r"\nowner = "o"\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GOOD.replace("reason", "raeson"), 'unknown key "suppress.1.raeson"; did you mean "reason"?'),
        (GOOD.replace('reason = "r"\n', ""), '"suppress.1.reason" is missing'),
        (GOOD.replace('owner = "o"\n', ""), '"suppress.1.owner" is missing'),
        (GOOD.replace('reason = "r"', 'reason = " "'), "suppress.1.reason"),
        (GOOD.replace('owner = "o"', 'owner = "?"'), "needs a reason and an owner"),
        (GOOD.replace('net = "/A"\n', ""), "says no place"),
        (GOOD.replace('code = "VIA001"\n', ""), "says no code"),
        (GOOD + 'key = "STK001-12"', 'key "STK001-12" is not of code VIA001'),
        (GOOD + "expires = 2027", '"2027" is not a date such as 2027-01-31'),
        (GOOD + 'expires = "31.1.2027"', '"suppress.1.expires": "31.1.2027" is not a date such as 2027-01-31'),
        (GOOD + "expires = 2027-01-31T12:00:00", '"2027-01-31 12:00:00" is not a date such as 2027-01-31'),
    ],
)
def test_a_mistake_in_a_table_is_said_in_one_line(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_config(text)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_rule_that_does_not_exist_is_a_mistake() -> None:
    with pytest.raises(ConfigError, match='did you mean "VIA001"'):
        accept(report(), [entry(code="VIAA001")], today=TODAY)


def test_a_mistake_names_the_file_and_the_table() -> None:
    """The second table is number 2; a code of one that is about another board is not looked at."""
    rows = [entry(code="STK006"), entry(code="VIAA001")]
    with pytest.raises(ConfigError, match=r'^a\.toml, \[\[suppress\]\] 2: "VIAA001" is no rule; did you mean "VIA001"'):
        accept(report(), rows, today=TODAY, where="a.toml")


def test_a_rule_is_named_by_its_code() -> None:
    with pytest.raises(ConfigError, match='"missing-backdrill" is not a code; write "VIA001"'):
        accept(report(), [entry(code="missing-backdrill")], today=TODAY)


def test_a_date_may_be_written_with_quotes() -> None:
    (row,) = parse_config(GOOD + 'expires = "2027-01-31"').suppress
    assert row.expires == date(2027, 1, 31)
