"""Honesty is in the mechanism: what needs an unknown fact cannot pass, and a broken rule is named."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from drc_rules.engine.check import prepare
from drc_rules.engine.decide import run
from drc_rules.engine.headline import coverage_of, headline_of
from drc_rules.engine.missing_inputs import in_general, paste_lines, proofs
from drc_rules.facts.context import Context
from drc_rules.facts.declared import Overrides
from drc_rules.report.findings import Measured
from drc_rules.report.model import Headline
from drc_rules.report.numbers import at_precision
from drc_rules.report.verdicts import ClauseVerdict, Verdict
from drc_rules.requirements.clauses import Clause, Severity
from drc_rules.rules.rule import DraftFinding, Rule
from drc_rules.settings.config import Config, load_config, parse_config
from stackup_lib.core.errors import ConfigError
from stackup_lib.core.facts import Confidence, Fact, MissingFact, Origin, unknown
from stackup_lib.field_solver.sections import GeometryError
from tests.support.mini import mini_board
from tests.support.reports.made_reports import clause

Check = Callable[[Context, Clause, object], Iterator[DraftFinding]]


@pytest.fixture
def context(tmp_path: Path) -> Context:
    board = mini_board(tmp_path, {"copper_layers": 2})
    return prepare(board, Config(), Overrides())[0]


@pytest.mark.parametrize(
    ("key", "what", "typed"),
    [("profile", "profile", Overrides(profile="edgy")), ("form", "form factor", Overrides(form="edgy"))],
)
def test_a_name_that_is_none_is_told_with_the_file_that_states_it(
    tmp_path: Path, key: str, what: str, typed: Overrides
) -> None:
    board = mini_board(tmp_path, {"copper_layers": 2})
    settings = tmp_path / "stackwright.toml"
    settings.write_text(f'{key} = "edgy"', encoding="utf-8")

    with pytest.raises(ConfigError) as told:
        prepare(board, load_config(settings), Overrides())
    assert told.value.where == f'{settings}, {what} "edgy"'
    with pytest.raises(ConfigError) as told:
        prepare(board, Config(), typed)
    assert told.value.where == f'{what} "edgy"'


def rule(check: Check, objects: tuple[object, ...] = ("a",)) -> Rule:
    return Rule(
        code="TST001",
        name="test",
        family="test",
        kinds=("test",),
        since="0.1",
        over=lambda _ctx, _clause: objects,
        check=check,
        module="tests",
    )


def draft(severity: Severity | None = None, *, inferred: bool = False, fails: bool = True) -> DraftFinding:
    return DraftFinding("bad", "why", "fix", ("x",), severity=severity, inferred=inferred, fails=fails)


def decide(context: Context, check: Check, objects: tuple[object, ...] = ("a",), **kwargs: object) -> ClauseVerdict:
    one = rule(check, objects)
    return run(context, [clause(**kwargs)], [one], [one]).verdicts[0]  # type: ignore[arg-type]


def test_a_rule_that_finds_nothing_wrong_passes(context: Context) -> None:
    """One object, no draft: passed, and the object counts as checked."""
    verdict = decide(context, lambda _c, _l, _o: iter(()))

    assert verdict.verdict is Verdict.PASSED
    assert (verdict.checked, verdict.undecided) == (1, 0)


def test_a_missing_fact_makes_a_clause_not_verifiable_and_is_named(context: Context) -> None:
    """The rule stops for that object; the fact and how to give it stand in the verdict."""

    def check(ctx: Context, _clause: Clause, _o: object) -> Iterator[DraftFinding]:
        fact: Fact[float] = unknown("Tg", "tg_c = ?")
        ctx.need(fact)
        yield draft()

    verdict = decide(context, check)

    assert verdict.verdict is Verdict.NOT_VERIFIABLE
    assert [(m.fact, m.how_to_give) for m in verdict.missing] == [("Tg", "tg_c = ?")]


def test_a_stale_fact_is_unknown(context: Context) -> None:
    """A value declared for another stackup cannot decide anything."""

    def check(ctx: Context, _clause: Clause, _o: object) -> Iterator[DraftFinding]:
        ctx.need(Fact[float](name="Tg", value=180.0, origin=Origin.DECLARED, stale=True))
        yield from ()

    assert decide(context, check).verdict is Verdict.NOT_VERIFIABLE


def test_one_failure_outweighs_unknowns_and_passes(context: Context) -> None:
    """Precedence: failed, not verifiable, passed, not applicable."""

    def check(_ctx: Context, _clause: Clause, subject: object) -> Iterator[DraftFinding]:
        if subject == "unknown":
            raise MissingFact("x", "give x")
        if subject == "bad":
            yield draft()

    objects = ("good", "unknown", "bad")

    assert decide(context, check, objects).verdict is Verdict.FAILED
    assert decide(context, check, objects[:2]).verdict is Verdict.NOT_VERIFIABLE
    assert decide(context, check, objects[:1]).verdict is Verdict.PASSED
    assert decide(context, check, ()).verdict is Verdict.NOT_APPLICABLE


def test_what_failed_stands_though_a_fact_is_missing_beside_it(context: Context) -> None:
    """A certain failure was lost where the same object lacked a fact for something else; a remark decides nothing."""

    def certain(*_: object) -> Iterator[DraftFinding]:
        yield draft()
        raise MissingFact("x", "give x")

    def only_a_remark(*_: object) -> Iterator[DraftFinding]:
        yield draft(fails=False)
        raise MissingFact("x", "give x")

    assert decide(context, certain).verdict is Verdict.FAILED
    assert decide(context, only_a_remark).verdict is Verdict.NOT_VERIFIABLE


def test_a_verdict_is_no_surer_than_the_facts_it_used(context: Context) -> None:
    """A pass that rests on a low-confidence value is a low-confidence pass."""

    def check(ctx: Context, _clause: Clause, _o: object) -> Iterator[DraftFinding]:
        ctx.need(Fact[float](name="a", value=1.0, confidence=Confidence.MEDIUM))
        ctx.need(Fact[float](name="b", value=1.0, confidence=Confidence.LOW))
        yield from ()

    verdict = decide(context, check)

    assert verdict.confidence is Confidence.LOW
    assert headline_of([verdict], profile="edge")[0] is Headline.NOT_PROVEN


def test_an_inferred_role_never_makes_an_error(context: Context) -> None:
    """The finding is a warning, and the board is not proven rather than not fit."""
    verdict = decide(context, lambda _c, _l, _o: iter((draft(inferred=True),)))

    assert verdict.worst is Severity.WARNING
    assert headline_of([verdict], profile="edge")[0] is Headline.NOT_PROVEN


def test_only_what_rests_on_a_guess_waits_for_what_would_make_it_sure(context: Context) -> None:
    """A rule's own remark is decided; what was inferred would be an error if it were declared."""
    inferred = decide(context, lambda _c, _l, _o: iter((draft(inferred=True),)))
    remark = decide(context, lambda _c, _l, _o: iter((draft(Severity.INFO),)))

    def unknown_as_well(_ctx: Context, _clause: Clause, subject: object) -> Iterator[DraftFinding]:
        if subject == "unknown":
            raise MissingFact("x", "give x")
        yield draft(Severity.INFO)

    in_part = decide(context, unknown_as_well, ("a", "unknown"))
    warning = decide(context, lambda _c, _l, _o: iter((draft(Severity.WARNING),)))

    assert inferred.guesses
    assert (remark.words, remark.guesses) == ("remark", ())
    assert headline_of([remark], profile="edge")[0] is Headline.FIT
    for other in (inferred, in_part, warning):
        assert headline_of([other], profile="edge")[0] is Headline.NOT_PROVEN


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        (["the stackup"], "1 mandatory requirement not proven: "),
        (
            ["the stackup", "copper thickness of In1.Cu"],
            "2 mandatory requirements not proven without the stackup: ",
        ),
        (["the stackup (untouched)", "copper", ""], "3 mandatory requirements not proven, 2 without copper: "),
        (["the stackup", "", ""], "3 mandatory requirements not proven: "),
        (["whether it fits", "whether it fits"], "2 mandatory requirements not proven: "),
    ],
)
def test_the_headline_names_the_input_that_most_of_what_is_open_waits_for(
    context: Context, facts: list[str], says: str
) -> None:
    """Facts are one input where they are given in the same way, here in the stackup of Board Setup."""

    def lacks(fact: str) -> ClauseVerdict:
        def check(_ctx: Context, _clause: Clause, _subject: object) -> Iterator[DraftFinding]:
            raise MissingFact(fact or "a model", "enter the stackup" if fact else "ask the maker")
            yield draft()

        return decide(context, check)

    verdicts = [lacks(fact) for fact in facts]
    if facts.count("") == 2:
        verdicts[-1] = decide(context, lambda _c, _l, _o: iter((draft(inferred=True),)))
    assert headline_of(verdicts, profile="edge")[1].startswith(says)


def test_a_rule_cannot_raise_its_clauses_severity(context: Context) -> None:
    """A warning clause yields warnings at most."""
    verdict = decide(context, lambda _c, _l, _o: iter((draft(Severity.ERROR),)), severity=Severity.WARNING)

    assert verdict.worst is Severity.WARNING


def test_the_worst_of_all_objects_is_the_clauses(context: Context) -> None:
    """An error stays the worst when a warning and a lesser failure follow it; no two severities are equal."""
    of = {"a": Severity.WARNING, "b": Severity.ERROR, "c": Severity.INFO, "d": Severity.WARNING}

    verdict = decide(context, lambda _c, _l, subject: iter((draft(of[str(subject)]),)), tuple(of))
    lesser = decide(context, lambda _c, _l, subject: iter((draft(of[str(subject)]),)), ("c", "d", "c"))

    assert (verdict.worst, lesser.worst) == (Severity.ERROR, Severity.WARNING)
    assert Severity.INFO.rank < Severity.WARNING.rank < Severity.ERROR.rank


def test_a_remark_does_not_fail_a_clause(context: Context) -> None:
    """It is information in addition to a pass."""
    one = rule(lambda _c, _l, _o: iter((draft(fails=False),)))

    outcome = run(context, [clause()], [one], [one])

    assert outcome.verdicts[0].verdict is Verdict.PASSED
    assert [f.severity for f in outcome.findings] == [Severity.INFO]


def test_a_rule_that_raises_is_named_and_the_others_still_run(context: Context) -> None:
    """Its clause is not verifiable; the next clause is decided."""

    def broken(_ctx: Context, _clause: Clause, _o: object) -> Iterator[DraftFinding]:
        raise ZeroDivisionError("oops")

    first = rule(broken)
    second = Rule(**{**vars(rule(lambda _c, _l, _o: iter(()))), "code": "TST002", "kinds": ("other",)})

    outcome = run(context, [clause(), clause(kind="other", name="t.two")], [first, second], [first, second])

    assert [(c.code, c.error) for c in outcome.crashes] == [("TST001", "ZeroDivisionError: oops")]
    assert [v.verdict for v in outcome.verdicts] == [Verdict.NOT_VERIFIABLE, Verdict.PASSED]


def test_what_cannot_exist_is_not_verifiable_and_no_crash(context: Context) -> None:
    """A cross section without an answer says what is wrong with it; the rule's other subjects are decided."""

    def unsolved(_ctx: Context, _clause: Clause, subject: object) -> Iterator[DraftFinding]:
        if subject == "thin":
            raise GeometryError("a mask thickness under 1 um", "give it in mm")
        yield from ()

    verdict = decide(context, unsolved, ("thin", "sound"))

    assert (verdict.verdict, verdict.checked, verdict.undecided) == (Verdict.NOT_VERIFIABLE, 1, 1)
    assert [(m.fact, m.how_to_give) for m in verdict.missing] == [("a mask thickness under 1 um", "give it in mm")]


def test_subjects_that_cannot_exist_are_not_verifiable(context: Context) -> None:
    """The same where they are looked for."""

    def over(_ctx: Context, _clause: Clause) -> Iterator[object]:
        raise GeometryError("a trace without a top", "widen it")

    one = Rule(**{**vars(rule(lambda _c, _l, _o: iter(()))), "over": over})
    outcome = run(context, [clause()], [one], [one])

    assert [v.verdict for v in outcome.verdicts] == [Verdict.NOT_VERIFIABLE]
    assert not outcome.crashes


def test_a_clause_without_a_rule_is_not_verifiable_and_counts_nowhere(context: Context) -> None:
    """It is listed, but neither coverage nor headline know it: alone it makes no board fit."""
    outcome = run(context, [clause(kind="later")], [], [])
    met = decide(context, lambda _c, _l, _o: iter(()))

    assert outcome.verdicts[0].verdict is Verdict.NOT_VERIFIABLE
    assert outcome.verdicts[0].missing[0].fact == "no rule yet"
    assert coverage_of(outcome.verdicts).total == 0
    assert headline_of(outcome.verdicts, profile="edge")[0] is Headline.NOT_PROVEN
    fit = (Headline.FIT, "the one mandatory requirement of edge that applies is met")
    assert headline_of([*outcome.verdicts, met], profile="edge") == fit
    assert headline_of([met, met], profile="edge")[1] == "all 2 mandatory requirements of edge that apply are met"


def test_without_a_mandatory_requirement_no_board_is_fit(context: Context) -> None:
    """None at all, one that does not apply, one that is a warning: "all 0 are met" is no proof."""
    absent = decide(context, lambda _c, _l, _o: iter(())).model_copy(update={"verdict": Verdict.NOT_APPLICABLE})
    mild = decide(context, lambda _c, _l, _o: iter(()))
    mild = mild.model_copy(update={"clause": mild.clause.model_copy(update={"severity": Severity.WARNING})})
    for verdicts in ([], [absent], [mild]):
        assert headline_of(verdicts, profile="mine.toml") == (
            Headline.NOT_PROVEN,
            "no mandatory requirement of mine.toml applies",
        )


def test_a_rule_switched_off_never_passes(context: Context) -> None:
    """--ignore hides findings; it does not prove anything."""
    one = rule(lambda _c, _l, _o: iter(()))

    outcome = run(context, [clause()], [one], [])

    assert outcome.verdicts[0].verdict is Verdict.NOT_VERIFIABLE
    assert headline_of(outcome.verdicts, profile="edge")[0] is Headline.NOT_PROVEN


def test_an_error_makes_a_board_not_fit_and_no_workload_proves_nothing(context: Context) -> None:
    """Headline: not fit, not proven, fit."""
    bad = decide(context, lambda _c, _l, _o: iter((draft(),)))
    good = decide(context, lambda _c, _l, _o: iter(()))

    assert headline_of([bad, good], profile="edge")[0] is Headline.NOT_FIT
    assert headline_of([good], profile=None)[0] is Headline.NO_WORKLOAD
    assert "form factor" in headline_of([good], profile=None, form="pico-itx")[1]
    assert "form factor" not in headline_of([good], profile=None)[1]
    assert headline_of([good], profile="edge")[0] is Headline.FIT


def test_coverage_counts_pairs_of_clause_and_object(context: Context) -> None:
    """Three objects decided, one not: 75 percent."""

    def check(_ctx: Context, _clause: Clause, subject: object) -> Iterator[DraftFinding]:
        if subject == 4:
            raise MissingFact("x", "give x")
        yield from ()

    coverage = coverage_of([decide(context, check, (1, 2, 3, 4))])

    assert (coverage.decided, coverage.total, coverage.percent) == (3, 4, 75.0)


def test_pairs_that_no_rule_could_judge_count_as_not_decided(context: Context) -> None:
    """Two decided, three of unknown interface, four too short: 2 of 9; nets that only run like a pair count nowhere."""
    decided = decide(context, lambda _c, _l, _o: iter(()), (1, 2))

    coverage = coverage_of([decided], unknown_pairs=3, unjudged_pairs=4, coupled_mm=[10.04, 20.0])

    assert (coverage.decided, coverage.total) == (2, 9)
    assert (coverage.unknown_pairs, coverage.unjudged_pairs) == (3, 4)
    assert (coverage.coupled_pairs, coverage.coupled_mm) == (2, 30.0)


@pytest.mark.parametrize("confidence", [Confidence.HIGH, Confidence.MEDIUM])
def test_a_pass_on_what_is_known_rests_on_no_guess(context: Context, confidence: Confidence) -> None:
    """Only a pass of low confidence asks for what would make it sure."""

    def check(ctx: Context, _clause: Clause, _o: object) -> Iterator[DraftFinding]:
        ctx.need(Fact[float](name="a", value=1.0, confidence=confidence))
        yield from ()

    verdict = decide(context, check)

    assert (verdict.confidence, verdict.guesses) == (confidence, ())


def test_what_failed_was_decided_as_well(context: Context) -> None:
    """Two good objects, one bad, one not known: three decided of four, and the verdict counts the same."""

    def check(_ctx: Context, _clause: Clause, subject: object) -> Iterator[DraftFinding]:
        if subject == "unknown":
            raise MissingFact("x", "give x")
        if subject == "bad":
            yield draft()

    verdict = decide(context, check, ("good", "bad", "unknown", "good"))
    coverage = coverage_of([verdict])

    assert (verdict.checked, verdict.undecided) == (3, 1)
    assert (coverage.decided, coverage.total) == (3, 4)


def test_what_is_chosen_by_a_doubtful_fact_is_doubtful(context: Context) -> None:
    """The objects come from an inferred list: the pass is no surer than that; what cannot be listed is open."""

    def over(ctx: Context, _clause: Clause) -> list[str]:
        ctx.need(Fact[float](name="a", value=1.0, confidence=Confidence.LOW))
        return ["a"]

    def unmatched(_ctx: Context, _clause: Clause) -> list[str]:
        raise MissingFact("the layers", "enter them")

    fields = vars(rule(lambda _c, _l, _o: iter(())))
    doubtful, unlisted = Rule(**{**fields, "over": over}), Rule(**{**fields, "over": unmatched})

    passed = run(context, [clause()], [doubtful], [doubtful]).verdicts[0]
    opened = run(context, [clause()], [unlisted], [unlisted]).verdicts[0]

    assert (passed.verdict, passed.confidence) == (Verdict.PASSED, Confidence.LOW)
    assert (opened.verdict, [m.fact for m in opened.missing]) == (Verdict.NOT_VERIFIABLE, ["the layers"])


def test_findings_stand_by_severity_sureness_and_how_far_they_are_past_the_limit(context: Context) -> None:
    """Errors first, sure ones before doubtful ones; then the one furthest past its limit, on either side of it.

    25 against at most 10 is 2.5 times, 5 against at least 10 twice, 11 against at most 10 is 1.1 times; a word, and
    nothing on either side, are no ratio.
    """
    numbers: dict[str, tuple[Measured | None, float | None]] = {
        "a word": (Measured(value="FR4", unit=""), 10.0),
        "11 of 10": (Measured(value=11.0, unit="mm"), 10.0),
        "25 of 10": (Measured(value=25.0, unit="mm"), 10.0),
        "5 of 10": (Measured(value=5.0, unit="mm"), 10.0),
        "nothing": (None, 10.0),
        "0 of 10": (Measured(value=0.0, unit="mm"), 10.0),
        "9 of 0": (Measured(value=9.0, unit="mm"), 0.0),
    }

    def check(ctx: Context, _clause: Clause, subject: object) -> Iterator[DraftFinding]:
        name = str(subject)
        if name in numbers:
            measured, limit = numbers[name]
            yield DraftFinding(name, "why", "fix", (name,), measured=measured, limit_value=limit)
            return
        if name == "doubtful":
            ctx.need(Fact[float](name="a", value=1.0, confidence=Confidence.LOW))
        yield DraftFinding(name, "why", "fix", (name,), severity=Severity.WARNING if name == "warning" else None)

    one = rule(check, ("warning", "doubtful", *numbers))

    titles = [f.title for f in run(context, [clause()], [one], [one]).findings]

    assert titles == [
        "25 of 10",
        "5 of 10",
        "11 of 10",
        "0 of 10",
        "9 of 0",
        "a word",
        "nothing",
        "doubtful",
        "warning",
    ]


def test_a_headline_names_two_requirements_and_counts_the_rest(context: Context) -> None:
    """By their titles; of two, both."""
    bad = [
        decide(context, lambda _c, _l, _o: iter((draft(),)), name=f"t.{k}")
        for k in ("one", "two", "three", "four", "five", "six")
    ]

    assert headline_of(bad, profile="edge")[1] == "6 requirements failed: at least one; at least one; and 4 more"
    assert headline_of(bad[:2], profile="edge")[1] == "2 requirements failed: at least one; at least one"
    assert headline_of(bad[:1], profile="edge")[1] == "1 requirement failed: at least one"


@pytest.mark.parametrize(
    ("value", "decimals", "expected"),
    [(0.0034, 3, 0.003), (0.0035, 3, 0.004), (0.0019, 3, 0.002), (0.0025, 3, 0.003), (0.0024, None, 0.0024)],
)
def test_values_are_compared_at_the_published_precision(value: float, decimals: int | None, expected: float) -> None:
    """Half rounds up, as people do it; binary fractions do not change that."""
    assert at_precision(value, decimals) == expected


def test_lines_to_paste_hold_each_table_once_and_are_toml() -> None:
    """Hints of one table merge; actions become comments; arrays of tables come last."""
    hints = [
        '[declared]\nfoil = "?"',
        '[declared]\ntg_c = "?"',
        "fill the zones",
        'profile = "?"  # or --profile',
        '[[interface]]\nis = "pcie5"\nnet_classes = ["?"]',
        '[declared]\nfoil = "?"',
    ]

    lines = paste_lines(hints)

    assert lines == (
        "# fill the zones",
        'profile = "?"  # or --profile',
        "[declared]",
        'foil = "?"',
        'tg_c = "?"',
        "[[interface]]",
        'is = "pcie5"',
        'net_classes = ["?"]',
    )


def test_lines_to_paste_load_below_the_settings() -> None:
    """TOML opens no table twice, and a key below a table is that table's: such lines are comments that say where."""
    settings = '[process]\npreset = "jlcpcb"\n\n[declared.copper."F.Cu"]\ncopper_oz = 1\n'
    rail = '\nnet = "?"\nfrom = ["?"]\nto = ["?"]'
    hints = [
        '[process]\ninner_etch_taper_um = "?"  # of the fab',
        '[process]\nmask_df = "?"',
        '[declared]\nfoil = "?"',
        '[declared.copper."F.Cu"]\nfoil = "?"',
        f"[[rail]]  # or draw and fill zones of power nets{rail}",
        f"[[rail]]{rail}",
        'form = "?"  # or --form',
        "fill the zones",
    ]

    lines = paste_lines(hints, settings)

    assert lines == (
        "# fill the zones",
        "# add above all tables of stackwright.toml:",
        '# form = "?"  # or --form',
        "# add to [process] in stackwright.toml:",
        '# inner_etch_taper_um = "?"  # of the fab',
        '# mask_df = "?"',
        '# add to [declared.copper."F.Cu"] in stackwright.toml:',
        '# foil = "?"',
        "[declared]",
        'foil = "?"',
        "[[rail]]  # or draw and fill zones of power nets",
        'net = "?"',
        'from = ["?"]',
        'to = ["?"]',
    )
    assert parse_config("\n".join((settings, *lines))).model_dump() == parse_config(settings).model_dump()


@pytest.mark.parametrize(
    ("settings", "hint"),
    [
        ('process = { preset = "jlcpcb" }', '[process]\nmask_df = "?"'),
        ('process.preset = "jlcpcb"', '[process]\nmask_df = "?"'),
        ("interface = []", '[[interface]]\nis = "?"\nnets = ["/A*"]'),
        ('profile = "?"', 'profile = "?"  # edge'),
        ('declared = { foil = "?" }', '[declared.copper."F.Cu"]\nfoil = "?"'),
    ],
)
def test_whatever_way_a_table_is_written_its_keys_are_not_pasted_beside_it(settings: str, hint: str) -> None:
    """Inline tables, dotted keys and lists are closed as well, and no key is given twice."""
    lines = paste_lines([hint], settings)

    assert lines and all(line.startswith("# ") for line in lines)
    assert parse_config("\n".join((settings, *lines))).model_dump() == parse_config(settings).model_dump()


def test_a_key_that_the_settings_have_is_to_be_replaced() -> None:
    """TOML takes no key twice: the line says what the new ones stand for."""
    settings = '[declared.dielectric."dielectric 5"]\nmaterial = "370HR"\ndf = 0.018\nat_ghz = 10\n'
    hint = '[declared.dielectric."dielectric 5"]\ndf = "?"\nat_ghz = 53.1'

    first, *rest = paste_lines([hint], settings)

    where = '# add to [declared.dielectric."dielectric 5"] in stackwright.toml'
    assert (first, rest) == (f"{where}, in place of its df and at_ghz:", ['# df = "?"', "# at_ghz = 53.1"])
    assert paste_lines([hint.replace("dielectric", "copper")], settings)[0].startswith("[declared.copper")


def test_what_to_do_is_never_pasted_as_a_setting() -> None:
    """A single word, or an equals sign in a sentence, is no key with its value: it becomes a comment."""
    hints = ["refill", "press B = refill", 'form = "?"']

    assert paste_lines(hints) == ("# refill", "# press B = refill", 'form = "?"')


def test_an_action_of_several_facts_is_told_once() -> None:
    """What else each asks for stays."""
    first, second = (f'drill the stubs\n[declared]\n{key} = "?"' for key in ("foil", "tg_c"))
    assert paste_lines([first, second]) == ("# drill the stubs", "[declared]", 'foil = "?"', 'tg_c = "?"')


def test_what_would_prove_a_board_is_asked_where_only_that_is_missing(tmp_path: Path) -> None:
    """Errors come before warnings; what has failed, or has no rule yet, asks nothing; a workload is required first."""
    wanted = {"t.warning": "tg_c", "t.error": "foil", "t.failed": "material"}

    def check(_ctx: Context, of: Clause, subject: object) -> Iterator[DraftFinding]:
        if of.id == "t.failed" and subject == "a":
            yield draft()
            return
        raise MissingFact(of.id, f'[declared]\n{wanted[of.id]} = "?"')

    one = rule(check, ("a", "b"))
    clauses = [
        clause(Severity.WARNING, name="t.warning"),
        clause(name="t.error"),
        clause(name="t.failed"),
        clause(kind="later", name="t.later"),
    ]
    pair = [
        {"net": f"/PCIE_TX0_{s}", "layer": "F.Cu", "path_mm": [[5, y], [40, y]]} for s, y in (("P", 10), ("N", 10.3))
    ]
    board = mini_board(tmp_path, {"copper_layers": 2, "tracks": pair})
    without, stated = (prepare(board, Config(), Overrides(profile=name))[0] for name in (None, "edge"))
    outcome = run(without, clauses, [one], [one])

    assert [v.verdict.value for v in outcome.verdicts] == [
        "not verifiable",
        "not verifiable",
        "failed",
        "not verifiable",
    ]
    assert proofs(stated, outcome) == ("[declared]", 'foil = "?"', 'tg_c = "?"')
    first, *rest = proofs(without, outcome)
    assert first.startswith("profile = ")
    assert rest[:3] == ["[declared]", 'foil = "?"', 'tg_c = "?"']
    assert rest[3] == "[[interface]]"
    assert rest[4].startswith('is = "?"')
    assert [line for line in rest if "pcie5" in line]


def test_a_fact_that_many_rows_lack_is_asked_for_once() -> None:
    """Nine plies without a Tg are one line, three are three; other facts stay as they are."""
    rows = [f'[declared.dielectric."dielectric {i}"]\ntg_c = "?"  # by DSC' for i in range(9)]
    material = '[declared.dielectric."dielectric 1"]\nmaterial = "?"'

    many = in_general([rows[0], material, *rows[1:]])

    general = '[declared]\ntg_c = "?"  # by DSC, of every dielectric: it or the data sheet counts, whichever is lower'
    assert many == [general, material]
    assert in_general(rows[:4]) == many[:1]
    assert in_general(rows[:3]) == rows[:3]
