"""`stackwright explain CODE --board BOARD`: what is shown is what was decided, for every rule that computes."""

from __future__ import annotations

import functools
import json
import math
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from drc_rules.engine.check import check_board, find_config
from drc_rules.explain.explain_trace import Decided, trace_clauses
from drc_rules.facts.declared import Overrides
from drc_rules.report.findings import Finding
from drc_rules.report.formula import Formula, Value, evaluate, nominal, number, read_formula, substituted
from drc_rules.report.verdicts import Missing, Verdict
from drc_rules.requirements.clauses import Clause, Limit
from drc_rules.rules.rule import Rule, all_rules, find_rule
from fixtures.miniboard import MiniBoard, write
from stackup_lib.core.interval import Interval
from stackup_lib.kicad import read_board
from stackwright.commands.explain.board_json import explanation_data
from stackwright.commands.explain.subject import Subject
from tests.support.boards import BOARDS, board_file
from tests.support.in_process import run_here as run
from tests.support.mini import mini_file
from tests.support.rule_cases import all_cases, cases_of

LOSSY = BOARDS / "training_b200_lossy_prepreg"
RULES = all_rules()
WITH_FORMULA = [rule for rule in RULES if rule.formula]
CASES = list(all_cases())

ROUNDED = 6e-3
"""Findings state their numbers to two digits that count, or more."""

SMALL = 1e-4
"""And to a tenth of a micrometre."""

MOST = 999.0
"""And no infinite one: that many dB stand for all of a signal."""


Judged = Callable[[Rule], list[tuple[str, Decided]]]


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """Every object of every clause in every case of a rule, worked out once."""

    @functools.cache
    def of(rule: Rule) -> list[tuple[str, Decided]]:
        found = ((loaded, loaded.traced(tmp_path_factory.mktemp(rule.code), rule)) for loaded in cases_of(rule))
        return [(loaded.name, one) for loaded, answers in found for answer in answers for one in answer.objects]

    return of


def values_of(formula: Formula, one: Decided) -> list[dict[str, Value]]:
    """The numbers of an object, one set for each that it shows."""
    return [formula.complete(working.numbers) for working in one.steps]


@pytest.mark.slow
@pytest.mark.parametrize("rule", WITH_FORMULA, ids=lambda rule: rule.code)
def test_what_a_formula_shows_is_what_was_decided(rule: Rule, judged: Judged) -> None:
    """On all cases of its rule: every symbol has a number, definitions give it, and only what meets it passes.

    Where a formula says what fails, only that does: what lies between is open.
    """
    formula = rule.formula
    assert formula is not None
    names = {symbol.name for symbol in formula.symbols}
    seen, open_ones = set(), set[bool]()
    for case, one in judged(rule):
        shown = values_of(formula, one)
        for working, values in zip(one.steps, shown, strict=True):
            assert working.numbers.keys() <= names, case
            assert set(values) == names, f"{case} does not show {names - set(values)}"
            for name, right in formula.definitions:
                assert evaluate(right, values) == pytest.approx(nominal(values[name]), rel=1e-9), case
        if shown and one.verdict in (Verdict.FAILED, Verdict.PASSED):
            held = [formula.holds(criterion, values) for values in shown for criterion in formula.criteria]
            assert all(held) is (one.verdict is Verdict.PASSED), f"{case}: {one.steps}"
            seen.add(one.verdict)
        if shown and formula.failures:
            fails = [formula.holds(failure, values) for values in shown for failure in formula.failures]
            assert any(fails) is (one.verdict is Verdict.FAILED), f"{case}: {one.steps}"
            open_ones.add(one.verdict is Verdict.NOT_VERIFIABLE)
    assert not formula.failures or True in open_ones, f"no case in which {rule.code} is open shows its numbers"
    assert Verdict.FAILED in seen, f"no case in which {rule.code} fires shows its numbers"


@pytest.mark.slow
@pytest.mark.parametrize("rule", WITH_FORMULA, ids=lambda rule: rule.code)
def test_a_finding_states_a_number_of_its_formula(rule: Rule, judged: Judged) -> None:
    """What a finding has measured stands among the numbers that are shown next to it."""
    assert rule.formula is not None
    for case, one in judged(rule):
        shown = [nominal(value) for values in values_of(rule.formula, one) for value in values.values()]
        numbers = [MOST if math.isinf(value) else value for value in shown]
        for finding in one.findings if one.verdict is Verdict.FAILED else ():
            stated = finding.measured.value if finding.measured else ""
            if isinstance(stated, float | int):
                near = [math.isclose(stated, one, rel_tol=ROUNDED, abs_tol=SMALL) for one in numbers]
                assert any(near), f"{case}: {stated} in {finding.title}, shown are {numbers}"


@pytest.mark.slow
@pytest.mark.parametrize("rule", [rule for rule in RULES if not rule.formula], ids=lambda rule: rule.code)
def test_a_rule_without_a_formula_measures_no_number(rule: Rule, judged: Judged) -> None:
    """A rule that finds a number past another one says how it comes to it."""
    for case, one in judged(rule):
        for finding in one.findings if one.verdict is Verdict.FAILED else ():
            stated = finding.measured.value if finding.measured else ""
            compared = finding.limit is not None and isinstance(finding.limit.value, float | int)
            assert not (isinstance(stated, float | int) and compared), f"{case}: {finding.title}"


@pytest.mark.slow
@pytest.mark.parametrize("board", ["training_b200_lossy_prepreg", "edge_jetson_carrier_fit", "no_stackup"])
def test_what_is_explained_is_what_a_check_finds(board: str) -> None:
    """All clauses of a board have the same verdict and the same findings as in its report."""
    path = board_file(board)
    report = check_board(path, overrides=Overrides(suppress=False))

    found = trace_clauses(read_board(path), find_config(path, None), Overrides(), lambda _clause: True)

    assert {a.clause.id: a.verdict for a in found.answers} == {v.clause.id: v.verdict for v in report.verdicts}
    explained = [finding.key for a in found.answers for one in a.objects for finding in one.findings]
    assert sorted(explained) == sorted(finding.key for finding in report.findings)


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("VIA015", "without a stackup one pair is open, L1 to L3 with L2 to L8; L1 to L6"),
        ("FAB014", "a via deep inside another net's plane"),
    ],
    ids=["fails and is open besides", "fills out of date"],
)
def test_what_else_is_missing_or_old_changes_no_explanation(code: str, why: str, tmp_path: Path) -> None:
    """A finding stands next to a missing fact, and no verdict rests on fills that do not match the routing."""
    loaded = next(one for one in cases_of(find_rule(code)) if one.case.why.startswith(why))
    board = mini_file(tmp_path, loaded.board)
    report = check_board(board, overrides=Overrides(suppress=False))

    found = trace_clauses(read_board(board), find_config(board, None), Overrides(), lambda _clause: True)

    assert {a.clause.id: a.verdict for a in found.answers} == {v.clause.id: v.verdict for v in report.verdicts}


def test_every_finding_of_an_object_has_its_line_and_a_fix_in_common_is_told_once(tmp_path: Path) -> None:
    """Three spans that cross pair by pair, and one whose depth is not known without a stackup."""
    spans = ("F.Cu", "In2.Cu"), ("F.Cu", "In5.Cu"), ("F.Cu", "In4.Cu"), ("In1.Cu", "B.Cu")
    vias = [{"net": "GND", "at_mm": [20 + 5 * k, 10], "kind": "blind", "span": span} for k, span in enumerate(spans)]
    board = mini_file(tmp_path, {"stackup": "", "copper_layers": 8, "vias": vias})

    told = run("explain", "VIA015", "--board", board).out

    assert told.count("via spans cross: 1 via") == 2
    assert told.count("fix: Nest one span inside the other") == 1
    assert "not known: depth of 1 via L1 to L3 (F.Cu to In2.Cu)" in told


# ---------------------------------------------------------------------------------------------- formulas

RESONANCE = read_formula("""
f = c / (4 · L · √(Dk · g))
f ≥ k · f_N

f: resonance [GHz]
c: speed of light [mm GHz]
L: length [mm]
Dk: of the laminate
g: loading
k: multiple
f_N: Nyquist [GHz]
""")


def test_a_formula_is_evaluated_as_it_is_written() -> None:
    """A bare stub of 1 mm in Dk 4 is a quarter wave long at 299.79/8 GHz."""
    values = RESONANCE.complete({"c": 299.792458, "L": 1.0, "Dk": 4.0, "g": 1.0, "k": 3.0, "f_N": 12.0})

    assert values["f"] == pytest.approx(37.474, abs=1e-3)
    assert RESONANCE.holds("f ≥ k · f_N", values) is True
    assert RESONANCE.spare(values) == pytest.approx(1 - 36 / 37.474, abs=1e-4)
    assert substituted(RESONANCE.definitions[0][1], values) == "299.8 / (4 · 1 · √(4 · 1))"


def test_a_criterion_without_its_number_is_open() -> None:
    """Nothing is claimed of a number that was not given."""
    assert RESONANCE.holds("f ≥ k · f_N", {"k": 3.0, "f_N": 12.0}) is None


@pytest.mark.parametrize("text", ["f.x ≤ 1", "[f] ≤ 1", "f if f else f", "'a' ≤ 1", "open(f)", "f @ f"])
def test_a_formula_is_nothing_but_arithmetic(text: str) -> None:
    """No attribute, call or other expression of Python is understood."""
    with pytest.raises(ValueError, match="no arithmetic"):
        evaluate(text, {"f": 1.0})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (299.792458, "299.8"),
        (20.0, "20"),
        (0.0015, "0.0015"),
        (1234.56, "1234.6"),
        (math.inf, "∞"),
        (1.2e-7, "1.20e-07"),
    ],
)
def test_numbers_are_as_people_read_them(value: float, text: str) -> None:
    """Four digits that count; whole numbers as they are."""
    assert number(value) == text


def test_a_range_counts_by_its_middle() -> None:
    """A verdict rests on the nominal value; the ends are shown next to it."""
    length = Interval(low=0.5, nominal=1.0, high=2.0)

    assert evaluate("2 · L ≤ 2", {"L": length}) == 1.0
    assert evaluate("L > 1 or L < 0.6", {"L": length}) == 0.0


# ---------------------------------------------------------------------------------------------- command line


@pytest.mark.slow
def test_the_page_shows_the_numbers_step_by_step() -> None:
    """Clause with its source, symbols with meaning and unit, the formula filled in, verdict, facts with their line."""
    ran = run("explain", "IMP002", "--board", LOSSY)

    assert ran.code == 0
    assert ran.err == ""
    assert "p = 100 · (Z / Z_0 - 1) = 100 · (86.99 / 85 - 1) = 2.337 %" in ran.out
    assert "|p| ≤ p_tol:  |2.337| ≤ 5  holds" in ran.out
    assert "fails where |p| > p_tol + u" in ran.out
    assert "verdict   met: 9 objects, all of them" in ran.out
    assert "stackup row dielectric 3, line 96" in ran.out
    assert max(len(line) for line in ran.out.replace(f"{LOSSY}/", "").splitlines()) <= 100  # however deep it lies


@pytest.mark.slow
def test_what_passes_on_a_guess_says_so_as_the_headline_does(tmp_path: Path) -> None:
    """Without the Dk of two dielectrics the check is not proven: no plain pass is shown here."""
    name = "edge_jetson_carrier_fit"
    board = Path(shutil.copytree(BOARDS / name, tmp_path / name)) / f"{name}.kicad_pcb"
    board.write_text(re.sub(r"\(epsilon_r [\d.]+\)", "(epsilon_r 0)", board.read_text(), count=2))

    assert run("check", board).out.startswith("NOT PROVEN")
    told = run("explain", "IMP002", "--board", board).out
    assert "verdict   met, on a guess: 3 objects, all of them" in told
    assert f"  stackwright check {board} --profile edge -v" in told.splitlines()


@pytest.mark.slow
def test_what_holds_is_not_called_failed_beside_what_does_not(tmp_path: Path) -> None:
    """Ground above a stripline and none below: the side that has it meets it, the other does not: a warning."""
    loaded = next(
        one for one in CASES if one.defect == "stripline_without_ground_plane" and "nothing below" in one.case.why
    )
    board = mini_file(tmp_path, loaded.board)

    ran = run("explain", "RET002", "--board", board, "--profile", "training")

    assert "met, high confidence  In2.Cu, above the tracks" in ran.out
    assert "failed, high confidence  In2.Cu, below the tracks" in ran.out


@pytest.mark.slow
def test_what_a_missing_fact_leaves_open_is_shown_with_its_own_number(tmp_path: Path) -> None:
    """A slot that matters to some generations only: its length, and not that nothing is crossed."""
    loaded = next(one for one in CASES if one.case.why.startswith("2.7 mm matter to some generations"))

    ran = run("explain", "RET001", "--board", mini_file(tmp_path, loaded.board)).out

    assert "not verifiable" in ran and "not known: generation of PCI Express" in ran
    assert re.search(r"L ≤ L_max:  2\.7\d* ≤ \S+  does not hold", ran)


@pytest.mark.slow
def test_a_verdict_is_worded_as_a_check_words_it() -> None:
    """A clause of severity error that only a remark is about is no failure; what shows the rest is an option."""
    ran = run("explain", "CUP002", "--board", BOARDS / "inference_pcie_low_tg")

    assert "remark, high confidence  In2.Cu" in ran.out
    assert "failed" not in ran.out
    assert "--all" not in ran.out


@pytest.mark.slow
def test_a_clause_is_explained_alone() -> None:
    """Its id names it; the rule that decides it gives the formula; its failure names limit and origin."""
    ran = run("explain", "training.df.nvlink5", "--board", LOSSY)

    assert ran.out.count("  requires  ") == 1
    assert "Df ≤ Df_max · (1 + a / 100):  0.03 ≤ 0.002 · (1 + 10 / 100) = 0.0022  does not hold" in ran.out
    assert "FR370HR.pdf" in ran.out
    assert "Df of dielectric 1 at" not in ran.out  # the loss that is reported next to the finding decides nothing


@pytest.mark.slow
def test_what_is_missing_is_told_with_the_lines_that_give_it() -> None:
    """A link that nominally fits is open where a Df is not known."""
    ran = run("explain", "LOS001", "--board", LOSSY)

    assert "not known: Df of dielectric 5 at 53.1 GHz" in ran.out
    assert '[declared.dielectric."dielectric 5"]' in ran.out


@pytest.mark.slow
def test_what_is_not_asked_says_who_asks_it() -> None:
    """A clause of training says nothing of an edge board; the profile is named that has it. The path has its line."""
    ran = run("explain", "MAT001", "--board", BOARDS / "default_stackup", "--profile", "edge")

    assert ran.code == 0
    assert "Not asked of this board" in ran.out
    assert ran.out.splitlines()[1] == str(BOARDS / "default_stackup" / "default_stackup.kicad_pcb")
    assert "It is required by inference" in ran.out


@pytest.mark.slow
def test_nothing_concerned_is_told_with_what_is_looked_at() -> None:
    """A board without a declared high-power component has no thermal resistance to judge."""
    ran = run("explain", "THM003", "--board", BOARDS / "edge_jetson_carrier_fit")

    assert "not applicable: nothing on the board is concerned" in ran.out


@pytest.mark.slow
def test_the_json_holds_every_object_and_is_json_for_anybody() -> None:
    """Numbers, steps and facts of all objects; the infinite is null, since JSON has no word for it."""
    ran = run("explain", "VIA002", "--board", LOSSY, "--json")

    def no_constant(word: str) -> None:
        raise AssertionError(word)

    data = json.loads(ran.out, parse_constant=no_constant)
    clause = data["clauses"][0]
    first = clause["objects"][0]["workings"][0]
    assert data["formula"]["passes"] == ["f ≥ k · f_N"]
    assert clause["verdict"] == "passed"
    assert len(clause["objects"]) == 9
    assert first["numbers"]["f"]["high"] is None
    assert first["holds"] == [True]
    assert first["steps"][0].startswith("f = c / (4 · L · √(Dk · g)) = 299.8 / (4 · ")
    assert any("line " in fact["source"] for one in clause["objects"] for fact in one["facts"])


SCHEMA = BOARDS.parent / "schemas" / "explanation-v1.json"


def to_the_letter() -> jsonschema.Draft202012Validator:
    """Return the schema, closed: of a key that it does not know, readers would not know either."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    for definition in (schema, *schema["$defs"].values()):
        if "properties" in definition:
            definition["additionalProperties"] = False
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["training_b200_lossy_prepreg", "inference_pcie_low_tg", "no_stackup"])
def test_the_json_of_every_rule_follows_the_schema_to_the_letter(name: str) -> None:
    """No key beyond the schema's, of any rule: with findings, with open questions, and where nothing is concerned."""
    path = board_file(name)
    found = trace_clauses(read_board(path), find_config(path, None), Overrides(), lambda _: True)
    assert {Verdict.PASSED, Verdict.NOT_APPLICABLE} < {answer.verdict for answer in found.answers}
    for rule in RULES:
        data = json.loads(json.dumps(explanation_data(path, Subject(rule, None), replace(found, answers=()))))
        to_the_letter().validate(data)
    data = json.loads(json.dumps(explanation_data(path, Subject(None, "all"), found)))
    to_the_letter().validate(data)
    assert len(data["clauses"]) == len(found.clauses) > 50


@pytest.mark.slow
def test_what_is_written_follows_the_schema() -> None:
    """The command writes what the models above say, for a rule and for a clause."""
    for word in ("VIA002", "board.stackup.layers"):
        to_the_letter().validate(json.loads(run("explain", word, "--board", LOSSY, "--json").out))


def test_the_schema_of_a_clause_knows_its_fields() -> None:
    """A field that clauses or limits gain stands in the schema too."""
    definitions = json.loads(SCHEMA.read_text(encoding="utf-8"))["$defs"]
    for name, model in (("clause", Clause), ("limit", Limit), ("finding", Finding), ("missing", Missing)):
        written = {field for field, info in model.model_fields.items() if not info.exclude}
        assert set(definitions[name]["properties"]) == written, name


def test_the_schemas_are_titled() -> None:
    """Each says in its title what it is a schema of, and in which version."""
    for path in sorted(SCHEMA.parent.glob("*.json")):
        name, _, version = path.stem.rpartition("-v")
        title = json.loads(path.read_text(encoding="utf-8"))["title"]
        assert title == f"Stackwright {name}, version {version}"


@pytest.mark.slow
def test_a_file_takes_the_explanation(tmp_path: Path) -> None:
    """What is written is the page as a pipe gets it."""
    target = tmp_path / "why.txt"

    ran = run("explain", "STK008", "--board", LOSSY, "--output", target)

    assert ran.out == f"explanation written to {target}\n"
    assert "n ≥ n_min:  28 ≥ " in target.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("VIA999", "--board", str(LOSSY)), "no such rule or requirement"),
        (("VIA01",), 'did you mean "VIA001"?'),
        (("stk1", "--board", str(LOSSY)), 'did you mean "STK001"?'),
        (("VIA002", "--profile", "edge"), "--profile goes with --board"),
        (("VIA002", "--json"), "--format json goes with --board"),
        (("VIA002", "--board", "nowhere"), "error: "),
    ],
)
def test_what_cannot_be_explained_is_one_line(arguments: tuple[str, ...], said: str) -> None:
    """A typo, an option without its board, a board that is not there."""
    ran = run("explain", *arguments)

    assert ran.code == 2
    assert said in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.slow
def test_a_rules_page_has_its_formula() -> None:
    """Without a board the symbols are explained."""
    ran = run("explain", "VIA002")

    assert "f = c / (4 · L · √(Dk · g))" in ran.out
    assert "Nyquist frequency of the interface, GHz" in ran.out


@pytest.mark.parametrize(
    ("code", "stated"),
    [
        ("FAB009", "r_n ≥ m_n - 0.001"),
        ("FAB013", "s ≥ s_min - p"),
        ("FAB013", "0.001; 0.002 where mils and mm differ by as little"),
        ("FAB006", "0.001; 0.002 where mils and mm differ by as little"),
        ("CUP002", "w ≥ w_min - p"),
        ("VIA004", "0.15 + 0.001 mm"),
        ("VIA006", "e_min - 0.001 ≤ e ≤ e_max + 0.001"),
        ("VIA014", "v_min - t ≤ v ≤ v_max"),
    ],
)
def test_the_tolerance_of_a_geometric_limit_stands_in_its_formula(code: str, stated: str) -> None:
    """What is let pass below a limit is said where the limit is."""
    formula = next(rule.formula for rule in RULES if rule.code == code)
    assert formula is not None
    assert stated in "\n".join([*formula.lines, *(symbol.meaning for symbol in formula.symbols)])


TIERED: dict[str, dict[str, object]] = {
    "FAB002": {
        "vias": [
            {"net": "/A", "at_mm": [10 * k, 10], "drill_mm": 0.2, "size_mm": size}
            for k, size in ((1, 0.28), (2, 0.32), (3, 0.38))
        ]
    },
    "FAB012": {
        "vias": [{"net": "/A", "at_mm": [10 * k, 10], "drill_mm": 0.2, "size_mm": 0.3} for k in (1, 2, 3)],
        "tracks": [
            {"net": "/B", "layer": "In2.Cu", "width_mm": 0.2, "path_mm": [[10 * k, y], [10 * k, 20]]}
            for k, y in ((1, 10.26), (2, 10.3), (3, 10.37))
        ],
    },
    "FAB017": {
        "parts": [
            {"reference": f"H{k}", "at_mm": [10 * k, 10], "pads": [hole]}
            for k, hole in (
                (k, {"number": "", "kind": "non_plated", "shape": "circle", "size_mm": [2, 2], "drill_mm": 2})
                for k in (1, 2)
            )
        ],
        "tracks": [
            {"net": "/B", "layer": "F.Cu", "width_mm": 0.2, "path_mm": [[10 * k, y], [10 * k, 20]]}
            for k, y in ((1, 11.2), (2, 11.28))
        ],
    },
    "FAB018": {
        "tracks": [
            {"net": net, "layer": "F.Cu", "width_mm": 0.2, "path_mm": [[x, y], [x + 10, y]]}
            for net, x, y in (("/A", 5, 0.13), ("/B", 20, 0.2), ("/C", 35, 0.3))
        ]
    },
}


@pytest.mark.parametrize("code", TIERED)
def test_the_numbers_of_each_tier_are_shown_where_it_is_decided(code: str, tmp_path: Path) -> None:
    """Where things miss different tiers, each finding's own measure stands next to that tier's limit."""
    rule = next(rule for rule in RULES if rule.code == code)
    board = MiniBoard.model_validate({"size_mm": [60, 40], "copper_layers": 4, **TIERED[code]})
    path = write(board, tmp_path, "board")

    found = trace_clauses(
        read_board(path), find_config(path, None), Overrides(), lambda clause: clause.kind in rule.kinds
    )

    measures = []
    for answer in found.answers:
        for one in answer.objects:
            for finding in one.findings:
                assert finding.measured is not None
                assert finding.limit is not None
                pairs = [sorted(nominal(value) for value in shown.numbers.values()) for shown in one.steps]
                stated = sorted(float(str(value)) for value in (finding.measured.value, finding.limit.value))
                assert any(pair == pytest.approx(stated, abs=SMALL) for pair in pairs), (finding.title, pairs)
                measures.append(finding.measured.value)
    assert len(set(measures)) == len(measures) >= 2


def test_the_numbers_of_an_unplated_hole_say_where_fills_are_left_out(tmp_path: Path) -> None:
    """Against the best fabs only what the drill surely meets counts; against the others the zones do too."""
    rule = next(rule for rule in RULES if rule.code == "FAB017")
    board = MiniBoard.model_validate({"size_mm": [60, 40], "copper_layers": 4, **TIERED["FAB017"]})
    path = write(board, tmp_path, "board")

    found = trace_clauses(
        read_board(path), find_config(path, None), Overrides(), lambda clause: clause.kind in rule.kinds
    )

    said = [step.what for answer in found.answers for one in answer.objects for step in one.steps]
    assert sum(one.endswith(", zone fills left out") for one in said) == 1
    assert any(one.startswith("unplated holes") and not one.endswith("left out") for one in said)
