"""What a workload waits for: which fact settles most, and which breach rules a suggested stackup out."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from drc_rules.engine.one_clause import Outcome
from drc_rules.report.verdicts import ClauseVerdict, Missing, Verdict
from drc_rules.requirements.clauses import Severity
from drc_rules.stackup_design.fitness import open_questions
from drc_rules.stackup_design.goals_judge import CandidateJudge, trial_board, why_not
from stackup_lib.kicad import read_board
from tests.support.reports.made_reports import finding, verdict
from tests.support.synthesis_goals import candidate

FOIL = Missing(fact="foil grade of In1.Cu", how_to_give='[declared]\nfoil = "?"')
DF = Missing(fact="Df of dielectric 3", how_to_give='[declared.dielectric."dielectric 3"]\ndf = "?"')
FILLS = Missing(fact="the zones' fills", how_to_give="")


def of(name: str, *missing: Missing, severity: Severity = Severity.ERROR, **changes: object) -> ClauseVerdict:
    """A clause that waits for these facts."""
    one = verdict(name, Verdict.NOT_VERIFIABLE, missing=missing, **changes)
    return one.model_copy(update={"clause": one.clause.model_copy(update={"severity": severity})})


def tg(number: int) -> Missing:
    """The Tg of one ply."""
    return Missing(
        fact=f"Tg of dielectric {number}",
        how_to_give=f'[declared.dielectric."dielectric {number}"]\ntg_c = "?"  # by DSC',
    )


def test_what_settles_most_errors_is_asked_first_then_what_settles_most_clauses() -> None:
    """Df: two errors; foil: one error and a warning; fills: one error; a failed clause waits for nothing."""
    verdicts = [
        of("t.warned", FOIL, severity=Severity.WARNING),
        of("t.fills", FILLS),
        of("t.one", FOIL),
        of("t.two", DF),
        of("t.three", DF),
        verdict("t.failed", Verdict.FAILED, missing=(FILLS,)),
    ]

    asked = [(q.fact, q.clauses, q.errors) for q in open_questions(verdicts)]

    assert asked == [
        ("Df of dielectric 3", ("t.two", "t.three"), 2),
        ("foil grade of In1.Cu", ("t.warned", "t.one"), 1),
        ("the zones' fills", ("t.fills",), 1),
    ]


def test_rows_that_lack_the_same_fact_are_one_question_with_the_clauses_of_all() -> None:
    """Four plies without a Tg, which two clauses wait for; their Df stays a question of its own."""
    verdicts = [of("t.tg", *(tg(n) for n in range(1, 5))), of("t.high_tg", tg(1)), of("t.df", DF)]

    general, df = open_questions(verdicts)

    assert (general.fact, general.clauses, general.errors) == ("Tg of every layer", ("t.tg", "t.high_tg"), 2)
    assert general.how_to_give.startswith('[declared]\ntg_c = "?"')
    assert (df.fact, df.clauses) == ("Df of dielectric 3", ("t.df",))


def test_a_few_rows_stay_questions_of_their_own() -> None:
    """Three plies are required one by one."""
    asked = open_questions([of("t.tg", *(tg(n) for n in range(1, 4)))])

    assert [q.fact for q in asked] == [f"Tg of dielectric {n}" for n in range(1, 4)]


# --- what rules a suggestion out ---


def rules_out(severity: Severity, *, waived: Iterable[str] = ()) -> bool:
    judge = CandidateJudge(None, None, (), (), waived=dict.fromkeys(waived, "choice"))
    return judge.counts(of("t.one", severity=severity).clause)


def test_information_rules_no_stackup_out_and_a_warning_only_until_it_is_waived() -> None:
    """An error cannot be waived; another kind's waiver changes nothing."""
    assert rules_out(Severity.ERROR)
    assert rules_out(Severity.WARNING)
    assert not rules_out(Severity.INFO)
    assert rules_out(Severity.ERROR, waived=["a_kind"])
    assert not rules_out(Severity.WARNING, waived=["a_kind"])
    assert rules_out(Severity.WARNING, waived=["another_kind"])


def test_why_a_suggestion_is_none_is_its_first_finding_or_what_is_missing() -> None:
    """Of three findings the first and how many more, of three missing facts two; those of other clauses none."""
    failed = verdict("t.failed", Verdict.FAILED)
    mine = [finding(title=title, clause="t.failed", key=title) for title in ("first", "second", "third")]
    other = finding(title="other", clause="t.other", key="other")

    assert list(why_not(failed, Outcome(findings=[other, *mine]))) == ["first (and 2 more)"]
    assert list(why_not(failed, Outcome(findings=[other, mine[0]]))) == ["first"]
    assert list(why_not(of("t.open", DF, FOIL, FILLS), Outcome(findings=[other]))) == [
        "not verifiable: Df of dielectric 3",
        "not verifiable: foil grade of In1.Cu",
    ]


# --- the board that a suggestion becomes ---


def routed(layers: str, *interfaces: str) -> dict[str, set[str]]:
    """The nets with tracks or fills on each layer of the board that a suggestion becomes."""
    board = read_board(
        Path("suggestion.kicad_pcb"), text=trial_board(candidate(layers), interfaces, fast_outside=False)
    )
    found: dict[str, set[str]] = {layer.name: set() for layer in board.copper_layers}
    copper = [
        *zip(board.tracks.layer.tolist(), board.tracks.net.tolist(), strict=True),
        *zip(board.zones.fill_layer.tolist(), board.zones.net[board.zones.fill_zone].tolist(), strict=True),
    ]
    for layer, net in copper:
        found[board.copper_layers[layer].name].add(board.nets[net])
    return found


@pytest.mark.parametrize(
    ("layers", "fast_on"),
    [("OGFFGO", {"In2.Cu", "In3.Cu"}), ("OGSSGO", {"F.Cu", "B.Cu"}), ("OGPPGO", {"F.Cu", "B.Cu"})],
)
def test_interfaces_run_on_the_high_speed_layers_and_without_those_on_the_outer_ones(
    layers: str, fast_on: set[str]
) -> None:
    """Every interface on each of them, slow nets on signal layers, ground and a supply on planes; nothing elsewhere."""
    pairs = {"/pcie5_P", "/pcie5_N", "/usb3.2gen2_P", "/usb3.2gen2_N"}
    planes = {"G": {"GND"}, "P": {"+VCORE"}, "S": {"/SLOW"}}

    found = routed(layers, "pcie5", "usb3.2gen2")

    assert found == {
        name: pairs if name in fast_on else planes.get(letter, set())
        for name, letter in zip(found, layers, strict=True)
    }
