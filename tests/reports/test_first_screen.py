"""The first screen: short, whatever the board; counts that agree; a next step that can be typed."""

from __future__ import annotations

import re

import pytest

from drc_rules.engine.headline import NOTHING_PLACED, headline_of
from drc_rules.engine.missing_inputs import LAY_OUT
from drc_rules.report.findings import Finding
from drc_rules.report.known_findings import StaleSuppression
from drc_rules.report.model import Headline, Report, TakenAs
from drc_rules.report.verdicts import ClauseVerdict, Missing, Verdict, left_out
from drc_rules.requirements.clauses import Severity
from stackup_lib.core.facts import Confidence
from stackwright.reporters import html, text
from stackwright.reporters.next_step import next_step
from stackwright.results.checked import Checked
from stackwright.tables.counts import left_out_words, tally
from stackwright.text.page import plain_console
from tests.support.reports.made_reports import finding, report, verdict
from tests.support.reports.pages import Page

LONG = (
    "dielectric 1234 (a laminate whose name goes on and on) adjacent to In12.Cu: Df 0.0300 at 10 GHz, limit 0.002 " * 3
)


def lines_of(made: Report, width: int = 80) -> list[str]:
    return text.page(made, width=width).text(plain_console(width)).splitlines()


def crowded() -> Report:
    """A board with everything at once, all of it in long words."""
    findings = tuple(
        finding(f"/N{n}", key=f"{n}", code=f"VIA{n:03}", title=f"{chr(65 + n % 26) * 3} {LONG}") for n in range(60)
    )
    open_ = tuple(
        verdict(
            f"training.x{n}",
            Verdict.NOT_VERIFIABLE,
            missing=(Missing(fact=f"fact {n} {LONG}", how_to_give=f'[table{n}."x"]\nkey = "?"'),),
        )
        for n in range(30)
    )
    nets = tuple(
        TakenAs(
            group=f"g{n}", nets=9, interface=name, family="pcie", origin="declared", confidence=Confidence.HIGH, why=""
        )
        for n, name in enumerate(("pcie3", "pcie4", "pcie5", "pcie6", "pcie7", "nvlink5", "usb2", "ddr4", "ddr5"))
    )
    return report(
        findings=findings,
        verdicts=open_,
        notes=tuple(f"note {n} {LONG}" for n in range(9)),
        taken_as=nets,
        headline_why=LONG,
        unknown_pairs=("/A", "/B"),
    )


@pytest.mark.parametrize("width", [80, 100, 120])
def test_the_first_screen_has_forty_lines_at_most(width: int) -> None:
    lines = lines_of(crowded(), width)

    assert len(lines) <= text.MOST_LINES
    assert max(len(line) for line in lines if not line.startswith("next: ")) <= width
    assert sum(bool(re.match(r"  error +VIA\d", line)) for line in lines) >= text.FEWEST_FINDINGS


def test_a_suppression_that_does_nothing_is_named_and_others_are_counted() -> None:
    expired, second = (
        StaleSuppression(entry=entry, problem="expired on 2026-11-01", reason="agreed", owner="rk", line=7)
        for entry in ("CUP002, layer F.Cu", "FAB006, object *")
    )
    said = "suppression of CUP002, layer F.Cu expired on 2026-11-01, line 7 of stackwright.toml"

    assert f"  warning   {said}" in lines_of(report(stale_suppressions=(expired,)), 120)
    lines = lines_of(report(stale_suppressions=(expired, second)), 120)
    assert f"  warning   {said} (and 1 more: -v)" in lines
    assert any(line.endswith(", 2 suppressions that do nothing") for line in lines), "the headline counts them"
    assert not any("suppression" in line for line in lines_of(report(), 120))


def test_an_interface_of_low_confidence_says_so() -> None:
    """Net names alone tell it; what is declared, or what class and names tell, comes first."""
    row = TakenAs(
        group="g", nets=4, interface="", family="displayport", origin="inferred", confidence=Confidence.LOW, why=""
    )
    sure = row.model_copy(update={"interface": "pcie5", "family": "pcie", "confidence": Confidence.MEDIUM})
    unsure, known = "DisplayPort, version unknown (4 nets)", "PCIe Gen5 (4 nets)"

    assert f"  nets      low confidence: {unsure}" in lines_of(report(taken_as=(row,)), 120)
    assert f"  nets      {known}; low confidence: {unsure}" in lines_of(report(taken_as=(row, sure)), 120)
    assert f"  nets      {known}" in lines_of(report(taken_as=(sure,)), 120)
    idle = lines_of(report(taken_as=(), not_routed=(row,)), 120)
    assert f"  nets      not routed: {unsure}" in idle
    others = tuple(
        sure.model_copy(update={"interface": name}) for name in ("pcie4", "pcie3", "usb2", "sata3", "usb4gen3")
    )
    many = " ".join(" ".join(lines_of(report(taken_as=(row, sure, *others), not_routed=(row,)), 80)).split())
    assert "SATA 6 Gb/s (4 nets); 3 more: -v" in many


def test_the_page_lists_what_is_not_routed_as_the_text_does() -> None:
    """It said that there is no high-speed interface, of a board with a declared one that is not routed yet."""
    row = TakenAs(
        group="/USB_*", nets=2, interface="usb2", family="usb", origin="declared", confidence=Confidence.HIGH, why="is"
    )
    routed = row.model_copy(update={"group": "/HUB_*"})

    def shown(**interfaces: tuple[TakenAs, ...]) -> str:
        return Page(html.render([Checked(report(**interfaces), None, "0")])).text

    idle = shown(taken_as=(), not_routed=(row,))
    assert "1 group of nets, 1 not routed" in idle
    assert "/USB_* 2 usb2 is; not routed" in idle
    both = shown(taken_as=(routed,), not_routed=(row,))
    assert "2 groups of nets, 1 not routed" in both and "/HUB_* 2 usb2 is /USB_* 2 usb2 is; not routed" in both
    none = shown(taken_as=(), not_routed=())
    assert "No high-speed interface found" in none and "not routed" not in none


def test_what_is_left_out_is_counted() -> None:
    """Findings shown and findings left out make all of them."""
    lines = lines_of(crowded())

    shown = sum(bool(re.match(r"  error +VIA\d", line)) for line in lines)
    (hidden,) = (int(m[1]) for line in lines if (m := re.fullmatch(r" {12}(\d+) more: -v", line)) and int(m[1]) > 9)
    assert "60 errors" in lines
    assert shown + hidden == 60


def test_a_short_report_shows_every_finding_and_each_only_once() -> None:
    shown = "\n".join(lines_of(report(findings=(finding("/A", key="a"),))))

    assert shown.count("VIA001") == 1
    assert "more: -v" not in shown


def test_similar_findings_are_one_line_with_their_number() -> None:
    made = report(findings=tuple(finding(f"/TX{lane}_P", key=str(lane)) for lane in range(40)))

    shown = " ".join(" ".join(lines_of(made)).split())
    assert shown.count("VIA001") == 1
    assert "(and 39 similar)" in shown


@pytest.mark.parametrize("length", range(100, 180, 2))
def test_the_number_of_similar_findings_stands_after_a_title_of_any_length(length: int) -> None:
    """A title that fills its two lines to the last column leaves no room: it is cut, the number never is."""
    title = ("stub resonance of the link " * 9)[:length].strip()
    made = report(findings=tuple(finding(f"/TX{lane}_P", key=str(lane), title=title) for lane in range(8)))
    entry = [line for line in lines_of(made) if line.startswith((" " * 12, "  error"))]
    assert entry[-1].endswith("(and 7 similar)")
    assert len(entry) <= 2
    assert max(map(len, entry)) <= 80
    assert ("..." in entry[-1]) == (title not in " ".join(" ".join(entry).split()))


def test_a_missing_fact_keeps_the_brackets_of_a_name_and_loses_a_remark() -> None:
    """`NVLink 5 (B200)` is a name; what stands in brackets at the end of a fact is for `-v`."""
    facts = ("whether NVLink 5 (B200) meets its loss budget", "the stackup (the file holds KiCad's untouched default)")
    missing = tuple(Missing(fact=fact, how_to_give=f"[t{k}]\nkey = 1") for k, fact in enumerate(facts))
    shown = "\n".join(lines_of(report(verdicts=(verdict("training.x", Verdict.NOT_VERIFIABLE, missing=missing),))))
    assert "[t0]: whether NVLink 5 (B200) meets its loss budget (1 requirement)" in shown
    assert "[t1]: the stackup (1 requirement)" in shown


def test_missing_facts_stand_together_only_where_they_are_entered_at_one_place() -> None:
    """A table of a rail that is there is a place; what no place supplies is told fact by fact."""
    hints = {
        "a net called +12V": "in the [[rail]] of +12V: name a net of the board",
        "pads of J9 on +5V": 'in the [[rail]] of +5V: from = ["?"]',
        "whether DDR4 meets its skew limit": "in the layout, add 3 mm to /DQS: no declaration decides it",
        "the route of /A": "route it, then check again",
    }
    missing = tuple(Missing(fact=fact, how_to_give=hint) for fact, hint in hints.items())
    shown = lines_of(report(verdicts=(verdict("training.x", Verdict.NOT_VERIFIABLE, missing=missing),)))
    assert "  [[rail]]: a net called +12V and 1 more (1 requirement)" in shown
    assert "  whether DDR4 meets its skew limit (1 requirement)" in shown
    assert "  the route of /A (1 requirement)" in shown


def judged(severity: Severity, answer: Verdict, worst: Severity | None = None) -> ClauseVerdict:
    one = verdict(f"training.{severity.value}.{answer.name}", answer)
    clause = one.clause.model_copy(update={"severity": severity, "title": f"{severity.value} clause"})
    return one.model_copy(update={"clause": clause, "worst": worst})


def test_failed_is_said_of_errors_only() -> None:
    """A warning is not met, an info is a remark; FIT never stands above `failed`."""
    verdicts = [
        judged(Severity.WARNING, Verdict.FAILED, Severity.WARNING),
        judged(Severity.INFO, Verdict.FAILED, Severity.INFO),
        judged(Severity.ERROR, Verdict.PASSED),
    ]

    assert tally(verdicts) == "1 not met, 1 with a remark, 1 met"
    headline, why = headline_of(verdicts, profile="edge")
    assert headline is Headline.FIT
    assert "failed" not in f"{why} {tally(verdicts)}"
    verdicts.append(judged(Severity.ERROR, Verdict.FAILED, Severity.ERROR))
    assert tally(verdicts) == "1 failed, 1 not met, 1 with a remark, 1 met"
    assert headline_of(verdicts, profile="edge") == (Headline.NOT_FIT, "1 requirement failed: error clause")


def test_a_guess_is_counted_as_met_and_said() -> None:
    guess = judged(Severity.ERROR, Verdict.PASSED).model_copy(update={"confidence": Confidence.LOW})

    warning = judged(Severity.WARNING, Verdict.PASSED).model_copy(update={"confidence": Confidence.LOW})

    assert tally([guess]) == "1 met (1 on a guess, 1 of severity error)"
    assert tally([guess, warning]) == "2 met (2 on a guess, 1 of severity error)"
    assert tally([warning]) == "1 met (1 on a guess)"
    assert headline_of([guess], profile="edge")[0] is Headline.NOT_PROVEN


def unlooked(by: str, severity: Severity = Severity.ERROR) -> ClauseVerdict:
    """A clause whose rule is left out."""
    one = judged(severity, Verdict.NOT_VERIFIABLE)
    return one.model_copy(update={"missing": (left_out("VIA001", by),)})


def errors(code: str) -> tuple[Finding, ...]:
    return (finding("/A", key="a", code=code, severity=Severity.ERROR),)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"headline": Headline.NO_WORKLOAD, "profile": None, "form": None}, "stackwright fit boards/card.kicad_pcb"),
        (
            {"headline": Headline.NOT_PROVEN, "proofs": ('foil = "?"',)},
            "stackwright init boards/card.kicad_pcb --profile training-b200",
        ),
        ({"headline": Headline.NOT_PROVEN, "proofs": ("# in KiCad: fill the zones",)}, "in KiCad: fill the zones"),
        (  # no declaration helps before there is a layout
            {"headline": Headline.NOT_PROVEN, "proofs": (f"# {LAY_OUT[NOTHING_PLACED]}", 'foil = "?"')},
            "in KiCad, place the parts and route the board, then check it again",
        ),
        (
            {"headline": Headline.NOT_FIT, "findings": errors("MAT001")},
            "stackwright suggest boards/card.kicad_pcb --profile training-b200",
        ),
        (  # the ordered tolerance: no stackup changes what the notes say
            {"headline": Headline.NOT_FIT, "findings": errors("IMP001")},
            "stackwright check boards/card.kicad_pcb --profile training-b200 -v",
        ),
        (
            {"headline": Headline.NOT_FIT, "findings": (*errors("IMP001"), *errors("IMP002"))},
            "stackwright suggest boards/card.kicad_pcb --profile training-b200",
        ),
        (
            {"headline": Headline.NOT_FIT, "findings": errors("FAB014")},
            "stackwright check boards/card.kicad_pcb --profile training-b200 -v",
        ),
        ({"headline": Headline.FIT}, "stackwright fab-pack boards/card.kicad_pcb --output fab"),
        (  # what was not looked at comes before what is not known
            {"headline": Headline.NOT_PROVEN, "proofs": ('foil = "?"',), "verdicts": (unlooked("--ignore VIA"),)},
            "stackwright check boards/card.kicad_pcb --profile training-b200",
        ),
        (
            {"headline": Headline.NOT_PROVEN, "verdicts": (unlooked("ignore VIA in stackwright.toml"),)},
            "stackwright check boards/card.kicad_pcb --profile training-b200 --no-suppressions",
        ),
        (
            {"headline": Headline.FIT, "settings_file": "lab.toml"},
            "stackwright fab-pack boards/card.kicad_pcb --config lab.toml --output fab",
        ),
        (
            {"headline": Headline.NOT_FIT, "findings": errors("MAT001"), "settings_file": "lab.toml"},
            "stackwright suggest boards/card.kicad_pcb --profile training-b200 --config lab.toml",
        ),
        (  # `init` writes the file next to the board, which this check did not read
            {"headline": Headline.NOT_PROVEN, "proofs": ('foil = "?"',), "settings_file": "lab.toml"},
            "stackwright check boards/card.kicad_pcb --profile training-b200 --config lab.toml -v",
        ),
        (  # a rule of a milder requirement does not keep the board from being proven
            {
                "headline": Headline.NOT_PROVEN,
                "proofs": ('foil = "?"',),
                "verdicts": (unlooked("--ignore VIA", Severity.WARNING),),
            },
            "stackwright init boards/card.kicad_pcb --profile training-b200",
        ),
    ],
)
def test_the_next_step_follows_the_state(changes: dict[str, object], expected: str) -> None:
    assert next_step(report(**changes)) == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"headline": Headline.NOT_FIT, "findings": errors("FAB014")},
            "stackwright explain FAB014 --board boards/card.kicad_pcb --profile training-b200",
        ),
        (
            {"headline": Headline.NOT_FIT, "findings": errors("MAT001")},
            "stackwright suggest boards/card.kicad_pcb --profile training-b200",
        ),
        ({"headline": Headline.NOT_PROVEN, "proofs": ("# route it",)}, "route it"),
    ],
)
def test_the_next_step_after_v_is_another_one(changes: dict[str, object], expected: str) -> None:
    """Who has just read the details is not sent to them."""
    assert next_step(report(**changes), verbose=True) == expected
    lines = text.page(report(**changes), verbose=True).text().splitlines()
    assert lines[-1] == f"next: {expected}"


def test_what_is_not_looked_at_is_counted_and_named() -> None:
    verdicts = [
        unlooked("--ignore VIA"),
        unlooked("--ignore VIA", Severity.INFO),
        judged(Severity.ERROR, Verdict.PASSED),
    ]
    assert tally(verdicts) == "2 not looked at (--ignore VIA), 1 met"
    made = report(verdicts=tuple(verdicts))
    assert left_out_words(made) == "2 requirements not looked at (--ignore VIA)"
    assert left_out_words(report(verdicts=(judged(Severity.ERROR, Verdict.PASSED),))) == ""
    assert unlooked("").left_out_by == "--select or --ignore"


def test_a_path_with_a_blank_can_be_pasted() -> None:
    made = report(headline=Headline.NO_WORKLOAD)
    spaced = made.model_copy(update={"board": made.board.model_copy(update={"path": "my boards/a b.kicad_pcb"})})

    assert next_step(spaced) == "stackwright fit 'my boards/a b.kicad_pcb'"


def test_vias_have_a_second_line_and_a_number_keeps_its_unit() -> None:
    """At 80 columns neither the aspect ratio nor the backdrills are cut off; `100` and `%` stay together."""
    vias = "vias: 219 through (219 of 0.5/0.25 mm; 10.0:1 at the smallest drill, 0.35 mm); 80 backdrilled"
    made = report()
    made = made.model_copy(update={"board": made.board.model_copy(update={"lines": ("28 copper layers", vias)})})
    lines = lines_of(made)

    told = " ".join(" ".join(lines).split())
    assert "10.0:1 at the smallest drill, 0.35 mm); 80 backdrilled" in told
    for width in range(60, 100):
        assert not any(re.match(r"(%|mm|dB)( |$|,)", line.strip()) for line in lines_of(made, width))
