"""A pass means pass: no passed verdict shows a measure beyond its limit, and no headline names what has no row."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from drc_rules.engine.check import check_board, find_config
from drc_rules.engine.missing_inputs import unproven
from drc_rules.explain.explain_trace import ClauseTrace, Decided, trace_clauses
from drc_rules.facts.declared import Overrides
from drc_rules.report.findings import Finding
from drc_rules.report.formula import Formula, Value, nominal
from drc_rules.report.model import Headline, Report
from drc_rules.report.verdicts import Verdict
from drc_rules.requirements.clauses import Clause, Limit, Severity
from drc_rules.requirements.profiles.profile import profile_names
from drc_rules.rules.rule import Rule, all_rules, find_rule
from stackup_lib.kicad import read_board
from stackwright.reporters import html, markdown, text
from stackwright.results.checked import Checked
from stackwright.text.page import terminal_console
from tests.support.mini import mini_file
from tests.support.remembered import fixture_report, report_of
from tests.support.rule_cases import all_cases, cases_of
from tests.support.small_boards.guessed_pair import GUESSED, PAIR, checked, renamed

BOARDS = sorted((Path(__file__).parents[2] / "fixtures" / "boards").glob("*/*.kicad_pcb"))
CASES = list(all_cases())
RULES = all_rules()

ROUNDED = 6e-3
"""Findings state their numbers to two digits that count, or more."""

SLACK = 1e-6
"""What the digits of a float are worth."""

UNCERTAINTY = re.compile(r"cannot know|not known|uncertain|unsure|ignoran|at least,|at the least$")
"""How a formula explains a symbol that is no measure and no limit, but what is not known of one."""


def told(path: Path) -> tuple[ClauseTrace, ...]:
    """All clauses of a board with what is shown of them."""
    return trace_clauses(read_board(path), find_config(path, None), Overrides(), lambda _: True).answers


def beyond(answers: Iterable[ClauseTrace]) -> Iterator[str]:
    """Whatever is called passed, of an object or of a clause, next to a measure beyond its limit."""
    for answer in answers:
        formula = answer.rule.formula if answer.rule else None
        for one in answer.objects:
            if one.verdict is Verdict.PASSED and formula:
                yield from (
                    f"{answer.clause.id}: {working.what} is past {criterion}"
                    for working in one.steps
                    for criterion in _missed(formula, working.numbers)
                )
            if answer.verdict is Verdict.PASSED:
                yield from (
                    f"{answer.clause.id}: {finding.title}"
                    for finding in one.findings
                    if is_beyond(finding, answer.clause, formula) and not _was_decided_on(finding, one, formula)
                )


def _missed(formula: Formula, numbers: dict[str, Value]) -> Iterator[str]:
    """The criteria that do not hold with nominal numbers and the limit itself, without what is not known of either."""
    doubtful = {symbol.name for symbol in formula.symbols if UNCERTAINTY.search(symbol.meaning)}
    values = {name: 0.0 if name in doubtful else nominal(v) for name, v in formula.complete(numbers).items()}
    yield from (criterion for criterion in formula.criteria if formula.holds(criterion, values) is False)


def _was_decided_on(finding: Finding, one: Decided, formula: Formula | None) -> bool:
    """Tell whether a finding measures the very number that the rule's formula, with its allowances, has let pass."""
    value = finding.measured.value if finding.measured else None
    if formula is None or not isinstance(value, float | int):
        return False
    shown = [formula.complete(working.numbers) for working in one.steps]
    numbers = [nominal(number) for values in shown for number in values.values()]
    return any(math.isclose(value, number, rel_tol=ROUNDED) for number in numbers)


def is_beyond(finding: Finding, clause: Clause, formula: Formula | None) -> bool:
    """Tell whether a finding measures a number beyond its limit, on the side that its clause or its rule limits."""
    measured = finding.measured.value if finding.measured else None
    limit = finding.limit.value if finding.limit else None
    if not isinstance(measured, float | int) or not isinstance(limit, float | int):
        return False
    if _limits(clause, formula, "max", limit) and measured > limit * (1 + SLACK):
        return True
    return _limits(clause, formula, "min", limit) and measured < limit * (1 - SLACK)


def _limits(clause: Clause, formula: Formula | None, side: str, limit: float) -> bool:
    """Tell whether a limit bounds on that side: as the clause states, else as the symbols of the rule's formula do."""
    stated = {"max": clause.limit.max, "min": clause.limit.min}
    if any(value is not None for value in stated.values()):
        return stated[side] is not None
    return formula is not None and any(symbol.name.endswith(f"_{side}") for symbol in formula.symbols)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_no_pass_of_a_rule_s_cases_shows_a_measure_beyond_its_limit(rule: Rule, tmp_path: Path) -> None:
    """Nominal numbers against the limit itself: what is not known of them never makes a pass."""
    found = []
    for loaded in cases_of(rule):
        answers = loaded.traced(tmp_path / str(loaded.number), rule)
        found += [f"{loaded.name}: {one}" for one in beyond(answers)]

    assert found == []


@pytest.mark.parametrize("path", BOARDS, ids=lambda path: path.stem)
def test_no_pass_on_a_fixture_board_shows_a_measure_beyond_its_limit(path: Path) -> None:
    """The same of all clauses of a whole board."""
    assert list(beyond(told(path))) == []


@pytest.mark.demo
def test_no_pass_on_a_demo_board_shows_a_measure_beyond_its_limit(demo_boards: Path) -> None:
    """The same of KiCad's own demo boards; the two largest have tests of their own."""
    found = []
    for path in sorted(demo_boards.rglob("*.kicad_pcb")):
        if path.stat().st_size < 10_000_000:
            found += [f"{path.stem}: {one}" for one in beyond(told(path))]

    assert found == []


def test_the_property_sees_a_measure_beyond_its_limit() -> None:
    """It is no test that cannot fail: 62.6 mV of 50 below a maximum, 0.9 oz of 1 above a minimum."""
    rule = find_rule("PDN002")
    clause = next(c for c in told_clauses() if c.kind == "rail_ir_drop")
    weight = clause.model_copy(update={"limit": Limit(min=1.0)})

    assert list(_missed(_formula(rule), {"U_there": 62.6, "U_back": 0.0, "U_max": 50.0, "V": 5.0})) == ["U ≤ U_max"]
    assert list(_missed(_formula(rule), {"U_there": 44.7, "U_back": 0.0, "U_max": 50.0, "V": 5.0})) == []
    assert is_beyond(finding(62.6, 50.0), clause, rule.formula)
    assert not is_beyond(finding(44.7, 50.0), clause, rule.formula)
    assert is_beyond(finding(0.9, 1.0), weight, None)
    assert not is_beyond(finding(1.1, 1.0), weight, None)


def told_clauses() -> list[Clause]:
    return [answer.clause for answer in told(next(path for path in BOARDS if path.stem == "no_stackup"))]


def _formula(rule: Rule) -> Formula:
    assert rule.formula is not None
    return rule.formula


def finding(measured: float, limit: float) -> Finding:
    return Finding.model_validate(
        {
            **dict.fromkeys(("code", "name", "clause", "title", "why", "fix", "key"), ""),
            "severity": "info",
            "confidence": "high",
            "basis": "physics",
            "measured": {"value": measured},
            "limit": {"value": limit},
        }
    )


# ------------------------------------------------------------------------------------------------------- headlines


def unanswered(report: Report) -> Iterator[str]:
    """What a headline names, and no row or no line to paste answers."""
    if report.headline is not Headline.NOT_PROVEN:
        return
    rows = {v.clause.id: v for v in unproven(report.verdicts)}
    mandatory = [v.clause for v in report.verdicts if v.has_rule and v.clause.severity is Severity.ERROR]
    named = [clause.id for clause in mandatory if clause.title in report.headline_why]
    in_text, in_markdown = _shown(report), _plain(markdown_of(report))
    assert named, report.headline_why
    for clause in named:
        facts = [] if clause not in rows else [*rows[clause].missing, *rows[clause].guesses]
        if not facts or not all(fact.how_to_give for fact in facts):
            yield f"{clause} has no row, or one that does not say what to declare"
        elif not all(_is_among(fact.how_to_give, report.proofs) for fact in facts):
            yield f"{clause} has no lines to paste"
        if clause not in in_text:
            yield f"{clause} is not in the text"
        if rows.get(clause) and not any(_plain(fact.fact)[:30] in in_markdown for fact in facts):
            yield f"{clause} is not in the Markdown"


def _shown(report: Report) -> str:
    """The part of the text with what is not proven; names that are wrapped are whole again."""
    whole = text.page(report, verbose=True, clauses=True).text(terminal_console())
    _, _, rest = whole.partition("\nMissing data")
    return re.sub(r"\s+", " ", rest.partition("\nTo supply it")[0])


def markdown_of(report: Report) -> str:
    return markdown.render([Checked(report, None, "1" * 64)])


def html_of(report: Report) -> str:
    return html.render([Checked(report, None, "1" * 64)])


def _plain(words: str) -> str:
    return re.sub(r"[^A-Za-z0-9]", "", re.sub(r"&#?\w+;", "", words))


def _is_among(hint: str, proofs: tuple[str, ...]) -> bool:
    """Tell whether the last line of a hint, or a general one that stands for it, is among those to paste."""
    line = hint.splitlines()[-1].partition("#")[0].strip()
    key = line.partition(" ")[0]
    return any(line in proof or (key and proof.startswith(key)) for proof in proofs)


OTHERS = ("inference-pcie", "training-b200", "edge")
ASKED = [(path, profile) for k, path in enumerate(BOARDS) for profile in (None, OTHERS[k % len(OTHERS)])]


@pytest.mark.parametrize(("path", "profile"), ASKED, ids=lambda one: one.stem if isinstance(one, Path) else str(one))
def test_every_clause_that_a_headline_names_says_what_to_declare(path: Path, profile: str | None) -> None:
    """In the row, among the lines to paste, in the text, and on Markdown; of the board's own profile and one other."""
    assert list(unanswered(fixture_report(path.stem, profile))) == []


@pytest.mark.parametrize("number", range(10))
def test_every_clause_that_a_headline_names_on_a_rule_s_case_says_what_to_declare(number: int, tmp_path: Path) -> None:
    """The same of all cases of all rules with a workload: without one no clause is named."""
    asked = [one for one in CASES if one.case.profile or "profile" in str(one.board.get("config", ""))]
    found = []
    for loaded in asked[number::10]:
        report = loaded.check(tmp_path / f"{loaded.defect}-{loaded.number}")
        found += [f"{loaded.name}: {one}" for one in unanswered(report)]

    assert found == []


@pytest.mark.demo
@pytest.mark.parametrize("profile", ["inference-pcie", "edge"])
def test_every_clause_that_a_headline_names_on_a_demo_board_says_what_to_declare(
    profile: str, demo_boards: Path
) -> None:
    """KiCad's own demo boards, against two workloads; the two largest have tests of their own."""
    found = []
    for path in sorted(demo_boards.rglob("*.kicad_pcb")):
        if path.stat().st_size < 10_000_000:
            report = report_of(path, profile)
            found += [f"{path.stem}: {one}" for one in unanswered(report)]

    assert found == []


def test_a_pair_of_unknown_interface_keeps_coverage_below_100(tmp_path: Path) -> None:
    """It counts as undecided, and text, Markdown, page and JSON name it, with the table that says what it is."""
    report = checked(tmp_path)

    assert report.unknown_pairs == ("/FOO",)
    assert report.coverage.unknown_pairs == 1
    assert report.coverage.total == sum(v.checked + v.undecided for v in report.verdicts if v.has_rule) + 1
    assert report.coverage.whole_percent < 100
    assert "/FOO" in _shown(report)
    assert "1 differential pair counts as undecided" in text.page(report, verbose=True, clauses=True).text()
    assert "1 differential pair of unknown interface: /FOO" in markdown_of(report)
    assert "1 differential pair of unknown interface" in html_of(report)
    assert 'nets = ["/FOO_*"]' in report.proofs
    assert not any("FOO" in f.title for f in report.findings)


@pytest.mark.parametrize(
    ("config", "nets"),
    [
        ('[[interface]]\nis = "low-speed"\nnets = ["/FOO_*"]\n', ("/FOO_P", "/FOO_N")),
        ('[[interface]]\nis = "usb3.2gen1"\nnets = ["/FOO_*"]\n', ("/FOO_P", "/FOO_N")),
        ('[[impedance]]\nnets = ["/FOO_*"]\nohm = 100\nkind = "differential"\n', ("/FOO_P", "/FOO_N")),
        ("", ("/USB_D+", "/USB_D-")),
        ("", ("/SENSE", "/OTHER")),
        ('[[rail]]\nnet = "/V+"\nvoltage_v = 5\n', ("/V+", "/V-")),
    ],
)
def test_a_pair_that_is_known_is_not_asked_about(config: str, nets: tuple[str, str], tmp_path: Path) -> None:
    """Declared, with an impedance to meet, a slow bus by its name, no pair at all, or a supply."""
    report = checked(tmp_path, config, renamed(*nets))

    assert report.unknown_pairs == ()
    assert report.coverage.unknown_pairs == 0


def test_pairs_for_any_use_stay_an_open_question(tmp_path: Path) -> None:
    """User pins of FMC are recognised, what runs on them is not known until it is declared."""
    fmc = renamed("/FMC_LA05_P", "/FMC_LA05_N")
    assert checked(tmp_path, tracks=fmc).unknown_pairs == ("/FMC_LA05",)
    declared = '[[interface]]\nis = "fmc"\nnets = ["/FMC_LA05_*"]\n'
    assert checked(tmp_path, declared, tracks=fmc).unknown_pairs == ()


def checked_between_parts(folder: Path, one: str, other: str) -> Report:
    """Check the pair's tracks under other names, with U1 and J1 at their ends."""
    parts = [
        {
            "reference": reference,
            "at_mm": (0, 0),
            "pads": [
                {"number": number, "net": net, "at_mm": (x, y), "size_mm": (0.15, 0.15)}
                for number, net, y in (("1", one, 10), ("2", other, 10.3))
            ],
        }
        for reference, x in (("U1", 5), ("J1", 45))
    ]
    return check_board(mini_file(folder, {**PAIR, "tracks": renamed(one, other), "parts": parts}))


def test_nets_that_run_like_a_pair_are_told_and_count_nowhere(tmp_path: Path) -> None:
    """By their tracks alone: no finding, no pass, no share of the coverage; text, Markdown, page and JSON tell them."""
    report = checked_between_parts(tmp_path, "/KILO", "/LIMA")
    cover = report.coverage

    assert (cover.coupled_pairs, cover.coupled_mm) == (1, 40.0)
    assert cover.total == sum(v.checked + v.undecided for v in report.verdicts if v.has_rule)
    told = "1 coupled pair, 40 mm routed, belongs to no known interface"
    assert f"{told}: not counted" in text.page(report, verbose=True, clauses=True).text()
    assert told in markdown_of(report)
    assert told in html_of(report)
    assert report.unknown_pairs == ()
    assert not any("KILO" in f.title for f in report.findings)


@pytest.mark.parametrize("nets", [("/FOO_P", "/FOO_N"), ("/USB_D+", "/USB_D-"), ("/SCL", "/SDA")])
def test_pairs_by_their_names_are_not_told_twice(nets: tuple[str, str], tmp_path: Path) -> None:
    report = checked_between_parts(tmp_path, *nets)
    assert report.coverage.coupled_pairs == 0
    assert "coupled pair" not in text.page(report, verbose=True, clauses=True).text()
    assert "coupled pair" not in markdown_of(report)
    assert "coupled pair" not in html_of(report)


def test_no_workload_is_a_headline_of_its_own(tmp_path: Path) -> None:
    """It is neither not proven nor fit, says what to do, and is no failure."""
    report = checked(tmp_path)
    first = " ".join(text.page(report, verbose=True, clauses=True).text(terminal_console()).split())

    assert report.headline is Headline.NO_WORKLOAD
    assert first.startswith("NO WORKLOAD no workload given: only what holds for every board was checked")
    assert "## ❔ No workload" in markdown_of(report)
    assert 'class="headline no-workload"' in html_of(report)


def test_a_pass_on_a_guessed_interface_says_so(tmp_path: Path) -> None:
    """The tolerance of nets that only their names make PCIe is met, on a guess, everywhere; the row says which nets."""
    nets = renamed("/PCIE5_TX0_P", "/PCIE5_TX0_N")
    report = checked(tmp_path, GUESSED, nets)
    guessed = [v for v in report.verdicts if v.is_guess and v.clause.severity is Severity.ERROR]

    assert guessed
    assert {v.verdict for v in guessed} == {Verdict.PASSED}
    for verdict in guessed:
        assert verdict.guesses
        assert verdict.clause.id in _shown(report)
    assert any("# guessed: pcie5" in missing.how_to_give for v in guessed for missing in v.guesses)
    assert 'is = "?"  # guessed: pcie5' in report.proofs
    assert "met, on a guess" in text.page(report, verbose=True, clauses=True).text(terminal_console())
    assert "met, on a guess" in markdown_of(report)
    assert "<strong>met, on a guess</strong>" in html_of(report)
    assert report.headline is not Headline.FIT


def test_a_declared_interface_is_no_guess(tmp_path: Path) -> None:
    """The same board with the table filled in."""
    nets = renamed("/PCIE5_TX0_P", "/PCIE5_TX0_N")
    said = '[[interface]]\nis = "pcie5"\nnets = ["/PCIE5_TX0_*"]\n'
    report = checked(tmp_path, GUESSED + said, nets)

    assert not any("pcie5" in missing.how_to_give for v in report.verdicts for missing in v.guesses)


def test_profiles_of_the_tests_exist() -> None:
    """Those that the boards are judged against."""
    assert {"inference-pcie", "training-b200", "edge"} <= set(profile_names())
