"""Reports as text and as JSON: complete, calm, harmless, and the same bytes for the same report."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from rich.console import Console

from drc_rules.report.findings import Finding, Location, Measured
from drc_rules.report.link_rows import (
    Allowance,
    BackdrillRow,
    Decibels,
    DfNeed,
    LayerLength,
    LinkImpedance,
    LinkLossRow,
    RouteSection,
)
from drc_rules.report.model import Report, RuleCrash
from drc_rules.report.verdicts import Coverage, Missing, Verdict
from drc_rules.requirements.clauses import Severity
from stackup_lib.core.errors import BoardFileError
from stackup_lib.core.interval import Interval
from stackwright.reporters import html, json_, text
from stackwright.results.checked import Checked, Unchecked
from stackwright.tables.grouping import groups
from stackwright.tables.losses import closes_with
from stackwright.text.page import Column, Page, plain_console, styled, terminal_console
from stackwright.text.words import clean, count, number, some
from tests.support.reports.made_reports import NEEDS_FOIL, SCHEMA, finding, report, strict, verdict

ESCAPES = "\x1b[2J\x1b]0;owned\x07\u202egnp\x9b31m"


LINK = LinkImpedance(
    name="/TX0",
    nets=("/TX0_P", "/TX0_N"),
    target="PCIe Gen6",
    kind="differential",
    target_ohm=85,
    tolerance_pct=10,
    inferred=False,
    length_mm=42.0,
    mean_ohm=Interval(low=81.0, nominal=83.0, high=85.0),
    worst=RouteSection(layer="In2.Cu", width_mm=0.1, gap_mm=0.2, length_mm=4.0, impedance_ohm=102.0),
    forgiven_mm=1.5,
    forgiven_up_to_mm=1.0,
    over_holes_mm=0.6,
    uncoupled_mm=2.5,
    gap_min_mm=0.15,
    gap_max_mm=0.2,
)
UNKNOWN_LINK = LINK.model_copy(
    update={"name": "/TX1", "mean_ohm": None, "worst": None, "problem": "Dk of dielectric 1 is not known"}
)
DEPTH = BackdrillRow(
    start="B.Cu",
    must_cut="In2.Cu",
    must_not_cut="In1.Cu",
    hole_mm=0.25,
    drill_mm=0.45,
    depth_mm=Interval(low=1.0, nominal=1.05, high=1.1),
    holes=12,
    nets=("/TX0_P", "/TX0_N"),
    residual_mm=Interval(low=0.0, nominal=0.05, high=0.1),
    is_proposed=True,
    exit_instead="In3.Cu",
)
LOSS = LinkLossRow(
    name="/TX0_P",
    nets=("/TX0_P", "/TX0_N"),
    interface="PCIe Gen5",
    nyquist_ghz=16.0,
    inferred=False,
    length_mm=120.0,
    layers=(
        LayerLength(layer="In2.Cu", length_mm=112.0, longest_mm=98.4),
        LayerLength(layer="F.Cu", length_mm=8.0, longest_mm=110.2),
    ),
    total_db=Decibels(low=5.5, nominal=7.0, high=9.25),
    dielectric_db=3.5,
    copper_db=2.0,
    roughness_db=1.0,
    holes_db=0.5,
    hole_count=2,
    role="add_in_card",
    share_db=9.5,
    share_source="A guide, Table 3",
    allowances=(Allowance(part="package", db=Interval(low=0.0, nominal=3.0, high=5.0), is_assumed=True),),
    margin_db=Decibels(low=-4.75, nominal=-0.5, high=4.0),
    df=DfNeed(at_ghz=10.0, now=0.006, needed=0.0051, asked=0.003, clause="training.df.pcie5"),
    foil_needed="VLP",
)
RESONANT = LOSS.model_copy(
    update={
        "name": "/TX1_P",
        "total_db": Decibels(low=5.5, nominal=None, high=None),
        "holes_db": None,
        "margin_db": Decibels(low=None, nominal=None, high=4.0),
        "layers": (LayerLength(layer="In2.Cu", length_mm=112.0, longest_mm=0.0),),
        "foil_needed": None,
        "hole_remedy": "stubs",
    }
)
UNROUTED = LinkLossRow(
    name="/TX2_P",
    nets=("/TX2_P",),
    interface="PCIe Gen5",
    nyquist_ghz=16.0,
    inferred=False,
    problem="the whole route of /TX2_P is not known",
    cure="route it",
)
SHARELESS = LOSS.model_copy(
    update={
        "name": "/NV0_P",
        "interface": "NVLink 5",
        "role": "",
        "share_db": None,
        "share_source": "",
        "allowances": (),
        "margin_db": None,
        "df": None,
        "foil_needed": None,
        "layers": (LayerLength(layer="In2.Cu", length_mm=120.0),),
        "problem": "the board's share of the loss budget of NVLink 5 (none is published)",
        "cure": "board_loss_db",
    }
)


def test_the_published_schema_is_a_schema() -> None:
    """Anybody's validator must be able to use it."""
    jsonschema.Draft202012Validator.check_schema(json.loads(SCHEMA.read_text()))


@pytest.mark.parametrize(
    "made",
    [
        report(),
        report(
            findings=(finding(measured=None, limit=None, places=(Location(layer="F.Cu"),)),), profile=None, form=None
        ),
        report(crashes=(RuleCrash(code="VIA001", name="x", error="KeyError: 1"),), notes=("odd",)),
        report(impedances=(LINK, UNKNOWN_LINK), backdrills=(DEPTH,), backdrills_missing=(NEEDS_FOIL,)),
        report(losses=(LOSS, RESONANT, UNROUTED, SHARELESS)),
    ],
    ids=["full", "sparse", "crashed", "tables", "losses"],
)
def test_json_meets_the_published_schema_and_holds_nothing_else(made: Report) -> None:
    """Keys that are written are keys that are published, at every level."""
    failed = Unchecked("x.kicad_pcb", BoardFileError("x.kicad_pcb", "no such file", "give a board"))

    data = json.loads(json_.render([Checked(made, "stackwright.toml", "1" * 64), failed]))

    schema = strict(json.loads(SCHEMA.read_text()))
    jsonschema.Draft202012Validator(schema).validate(data)
    assert data["errors"][0]["next_step"] == "give a board"


def test_the_schema_refuses_what_is_no_report() -> None:
    """A schema that accepts anything would prove nothing."""
    data = json.loads(json_.render([Checked(report(), None, "1" * 64)]))
    data["reports"][0]["verdicts"][0]["verdict"] = "fine"

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(data)


def test_json_carries_the_finding_whole() -> None:
    """What a machine needs to show, place and recognise a finding is all there."""
    data = json.loads(json_.render([Checked(report(), None, "1" * 64)]))

    found = data["reports"][0]["findings"][0]
    assert found["measured"] == {"value": 1.36, "unit": "mm"}
    assert found["limit"] == {"value": 0.25, "unit": "mm", "source": "A guide, Table 3, row Backdrill"}
    assert found["places"][0]["net"] == "/TX0_P"
    assert found["places"][0]["x_mm"] == 20.0
    assert found["key"] == "VIA001-/TX0_P"
    verdicts = {v["clause"]: v for v in data["reports"][0]["verdicts"]}
    assert verdicts["training.loss.pcie6"]["code"] is None
    assert verdicts["training.foil.pcie6"]["missing"][0]["fact"] == "foil grade of In1.Cu"


def test_json_is_plain_ascii_whatever_the_board_holds() -> None:
    """A log viewer or terminal that shows the JSON must not be driven by a net name."""
    rendered = json_.render([Checked(report(findings=(finding(ESCAPES + "\ud800"),)), None, "1" * 64)])

    assert rendered.isascii()
    assert "\x1b" not in rendered
    assert json.loads(rendered)["reports"][0]["findings"][0]["places"][0]["net"] == ESCAPES + "\ud800"


def test_text_and_page_show_the_copper_in_tables() -> None:
    """One row per target with its worst section, one per depth group with the layer that would need no drill."""
    made = report(impedances=(LINK, UNKNOWN_LINK), backdrills=(DEPTH,), backdrills_missing=(NEEDS_FOIL,))
    lines = [" ".join(line.split()) for line in text.page(made, verbose=True, clauses=True).text().splitlines()]
    page = html.render([Checked(made, None, "0")])

    said = " ".join(lines)
    assert "PCIe Gen6 85 ohm +-10 % 2 pairs 83.0 ohm" in said
    assert "102.0 ohm (+20 %)" in said
    assert "1 not known:" in said
    assert "B.Cu 12* of 0.25 In2.Cu In1.Cu 1.00 to 1.10 up to 0.10 In3.Cu" in lines
    assert any(line.startswith("* not in the board file yet") for line in lines)
    assert "missing foil grade of In1.Cu" in lines
    assert "leave on In3.Cu instead and no drilling is needed" in page
    assert "1.5 mm allowed, 0.6 mm without a plane, 2.5 mm apart, gap 0.15 to 0.2 mm" in page
    assert "83.0 ohm (81.0 to 85.0)" in page


def test_text_and_page_show_the_worst_link_of_each_interface_and_what_it_would_need() -> None:
    """The share without the package, starred as that is assumed; the Df next to the one that is required."""
    made = report(losses=(LOSS, UNROUTED, SHARELESS))
    plain = text.page(made, verbose=True, clauses=True).text()
    lines = [" ".join(line.split()) for line in plain.splitlines()]
    page = html.render([Checked(made, None, "0")])

    assert max(map(len, plain.splitlines())) <= 100
    assert "PCIe Gen5 16 2 7.0 (5.5 to 9.2) 3.5 2.0 1.0 0.5 6.5* -0.5" in lines
    assert "NVLink 5 16 1 7.0 (5.5 to 9.2) 3.5 2.0 1.0 0.5 none" in lines
    said = " ".join(lines)
    assert "Df to 0.0051 at 10 GHz (0.0060 now, 0.003 asked), VLP foil or smoother" in page
    assert "Df to 0.0051 at 10 GHz" in said
    assert "up to 98 on In2.Cu" in said
    assert "110 on F.Cu" not in said  # a breakout: only the page and JSON tell how long it might be
    assert "missing loss of 1 link of PCIe Gen5: the whole route of /TX2_P" in lines
    assert "missing the board's share of the loss budget of NVLink 5 (none is published)" in lines
    assert "* with what is assumed" in said
    assert "9.5 dB for role add_in_card, 3 dB of it assumed for the package (A guide, Table 3)" in page
    assert "112.0 on In2.Cu, 8.0 on F.Cu; up to 98 on In2.Cu or 110 on F.Cu" in page
    assert "VLP foil or smoother" in page


def test_a_stub_that_takes_all_has_no_margin_and_only_shorter_stubs_help() -> None:
    """Infinity is no number that anybody could read; nor does JSON know one."""
    lines = [
        " ".join(line.split())
        for line in text.page(report(losses=(RESONANT,)), verbose=True, clauses=True).text().splitlines()
    ]

    assert "PCIe Gen5 16 1 all (5.5 to all) 3.5 2.0 1.0 all 6.5* none" in lines
    assert any("not at all" in line for line in lines)
    assert any("stubs drilled or deleted alone" in line for line in lines)
    assert json.loads(json_.render([Checked(report(losses=(RESONANT,)), None, "0")]))


@pytest.mark.parametrize(
    ("remedy", "all_used", "some_left"),
    [
        ("stubs", "stubs drilled or deleted alone: the holes use the share up", "stubs drilled or deleted"),
        ("pins", "surface-mount parts for pins alone: the holes use the share up", "surface-mount parts for pins"),
        ("holes", "fewer or shorter holes alone: the holes use the share up", ""),
        ("none", "no single change: lines and holes each use the share up", ""),
    ],
)
def test_a_change_of_holes_is_named_where_it_closes_the_link(remedy: str, all_used: str, some_left: str) -> None:
    """Where holes use the share up, and next to Df and foil where they do not."""
    assert closes_with(RESONANT.model_copy(update={"hole_remedy": remedy})) == all_used
    assert closes_with(LOSS.model_copy(update={"hole_remedy": remedy})).removeprefix(closes_with(LOSS)) == (
        some_left and f", {some_left}"
    )


def test_a_margin_that_is_not_sure_says_how_little_it_may_be() -> None:
    """It closes nominally; with all that is not known it may not."""
    doubtful = LOSS.model_copy(update={"margin_db": Decibels(low=-1.75, nominal=0.5, high=2.0)})

    assert "+0.5 (-1.8)" in text.page(report(losses=(doubtful,)), verbose=True, clauses=True).text()


def test_links_of_another_share_are_a_row_of_their_own() -> None:
    """The same interface as an add-in card and with a share of one's own."""
    own = LOSS.model_copy(update={"name": "/RX0_P", "role": "declared", "share_db": 12.0, "allowances": ()})
    lines = [
        " ".join(line.split())
        for line in text.page(report(losses=(LOSS, own)), verbose=True, clauses=True).text().splitlines()
    ]

    assert sum(line.startswith("PCIe Gen5 16 1") for line in lines) == 2


@pytest.mark.parametrize(
    ("lengths", "said"),
    [
        ({"forgiven_mm": 3.0, "over_holes_mm": 0.5, "uncoupled_mm": 1.0}, "too short to count"),
        ({"forgiven_mm": 0.0, "over_holes_mm": 40.0, "uncoupled_mm": 0.0}, "no plane above or below it"),
        ({"forgiven_mm": 1.0, "over_holes_mm": 0.0, "uncoupled_mm": 38.0}, "its traces run apart"),
    ],
)
def test_a_link_of_which_nothing_counts_says_why(lengths: dict[str, float], said: str) -> None:
    """A long link without planes is not called too short."""
    link = LINK.model_copy(update={"mean_ohm": None, "worst": None, **lengths})

    assert said in text.page(report(impedances=(link,)), verbose=True, clauses=True).text()


def test_a_report_without_controlled_lines_and_drills_has_no_tables() -> None:
    """Nothing is shown where nothing is known."""
    assert "Loss at Nyquist" not in text.page(report(), verbose=True, clauses=True).text()
    assert "Loss at Nyquist" not in html.render([Checked(report(), None, "0")])
    assert "Impedance as routed" not in text.page(report(), verbose=True, clauses=True).text()
    assert "Backdrills" not in text.page(report(), verbose=True, clauses=True).text()
    assert "Impedance as routed" not in html.render([Checked(report(), None, "0")])


def test_text_says_the_headline_first_and_everything_that_matters() -> None:
    """A reader who stops after two lines has the answer; the rest is below, in order of use."""
    lines = text.page(report(), verbose=True, clauses=True).text().splitlines()

    whole = "\n".join(lines)
    assert lines[0].startswith("NOT FIT")
    assert "training-b200" in lines[0]
    assert lines[1].startswith("1 clause failed")
    order = [
        "1.600 mm thick",
        "PCIE_85",
        "1.36 mm stub",
        "foil grade of In1.Cu",
        'foil = "?"',
        "6 of 8",
        "Requirements: 1 failed, 1 not verifiable",
        "next: stackwright explain VIA001 --board boards/card.kicad_pcb --profile training-b200",
    ]
    places = [whole.index(piece) for piece in order]
    assert places == sorted(places)
    assert "A guide, Table 3, row Backdrill" in whole


def test_a_clause_without_a_rule_is_counted_in_one_line_and_not_listed() -> None:
    """What a later version will decide must not drown what this one decided."""
    whole = text.page(report(), verbose=True, clauses=True).text()

    assert "1 requirement has no rule yet" in whole
    assert "training.loss.pcie6" not in whole


def test_the_clause_table_goes_from_failed_to_passed() -> None:
    """Precedence is the order of reading."""
    whole = text.page(report(), verbose=True, clauses=True).text()
    table = whole[whole.index("Requirements of training-b200") :]

    places = [table.index(f"  {word}  ") for word in ("failed", "not verifiable", "met")]
    assert places == sorted(places)
    row = next(line for line in table.splitlines() if "training.backdrill.pcie6" in line)
    assert "1.36 mm" in row


def test_without_a_profile_there_is_no_clause_table() -> None:
    """No clauses were requested."""
    assert "Requirements of" not in text.page(report(profile=None, form=None), verbose=True).text()


def test_like_findings_are_one_entry_with_a_count() -> None:
    """Forty nets with the same stub are one thing to read."""
    findings = tuple(finding(f"/TX{lane}_P", key=str(lane)) for lane in range(40))

    whole = text.page(report(findings=findings), verbose=True, clauses=True).text()

    assert whole.count("not backdrilled") == 1
    assert "and 39 similar findings: /TX1_P, /TX2_P" in " ".join(whole.split())
    assert "40 errors" in whole


def test_the_worst_of_like_findings_speaks_for_all_and_the_rest_is_in_human_order() -> None:
    """In2 before In10, and the longest stub first; plies and asides keep nothing apart."""

    def on(layer: str, aside: str, stub_mm: float) -> Finding:
        title = f"dielectric beside {layer}{aside}: {stub_mm} mm"
        return finding(
            title=title, places=(Location(layer=layer),), measured=Measured(value=stub_mm, unit="mm"), key=layer
        )

    group = groups([on("In10.Cu", "", 0.5), on("In2.Cu", " (FR4)", 0.5), on("In3.Cu", ", ply 2", 0.9)])

    assert len(group) == 1
    assert group[0].first.places[0].layer == "In3.Cu"
    assert group[0].others == ("In2.Cu", "In10.Cu")


def test_like_facts_that_block_the_same_clauses_are_one_line() -> None:
    """Twelve plies without a Tg are one thing to give."""
    facts = tuple(Missing(fact=f"Tg of dielectric {i}", how_to_give="") for i in range(1, 13))
    blocked = verdict("edge.tg.min", Verdict.NOT_VERIFIABLE, checked=0, undecided=12, missing=facts)

    short = text.page(report(verdicts=(blocked,)), verbose=True, clauses=True).text()
    whole = text.page(report(verdicts=(blocked,)), full=True).text()

    assert "Tg of dielectric 1 and 11 more" in short
    assert "Tg of dielectric 12" not in short
    assert "Tg of dielectric 12" in whole


def test_findings_that_differ_in_more_than_names_and_numbers_stay_apart() -> None:
    """Grouping must hide no second defect, and no severity."""
    other = finding(title="/TX1_P: no reference plane", places=(Location(net="/TX1_P"),))
    milder = finding("/TX2_P", severity=Severity.WARNING)

    assert [len(g.findings) for g in groups([finding(), other, milder])] == [1, 1, 1]


def test_at_most_ten_findings_unless_all_are_asked_for() -> None:
    """The rest is counted, not hidden."""
    findings = tuple(finding(title=f"defect {'abcdefghijklmn'[i]}", key=str(i)) for i in range(14))

    short = text.page(report(findings=findings), verbose=True, clauses=True).text()
    whole = text.page(report(findings=findings), full=True).text()

    assert short.count("defect ") == 10
    assert "4 findings more" in short
    assert whole.count("defect ") == 14


def test_plain_text_is_plain() -> None:
    """In a file or pipe: no colour, no box art, no trailing blanks, at most 100 columns."""
    findings = (finding(why="a long reason " * 30), finding("/" + "N" * 300, title="/" + "N" * 300 + ": too long"))

    lines = text.page(report(findings=findings), verbose=True, clauses=True).text().splitlines()

    assert all(line.isascii() and line.isprintable() for line in lines)
    assert all(line == line.rstrip() for line in lines)
    assert max(map(len, lines)) <= 100


def test_lines_to_paste_are_never_wrapped() -> None:
    """A wrapped TOML line is a broken TOML line."""
    proof = 'net_classes = ["' + "A_LONG_NET_CLASS_NAME_" * 10 + '"]'

    assert proof in text.page(report(proofs=(proof,)), verbose=True, clauses=True).text()


def test_a_terminal_gets_colour_and_no_colour_when_it_asks_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """NO_COLOR is honoured; bold is no colour."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = text.page(report(), verbose=True, clauses=True).text(
        Console(file=io.StringIO(), force_terminal=True, width=100)
    )
    monkeypatch.setenv("NO_COLOR", "1")
    without = text.page(report(), verbose=True, clauses=True).text(
        Console(file=io.StringIO(), force_terminal=True, width=100)
    )

    assert "\x1b[1;31m" in coloured
    assert "\x1b[1;31m" not in without
    assert "\x1b[31m" not in without


@pytest.mark.parametrize(
    ("columns", "width"),
    [("80", 80), ("160", 160), ("20", 40), ("9999999", 500), ("", 100), ("0", 100), ("-80", 100), ("wide", 100)],
)
def test_a_pipe_is_as_wide_as_columns_says(columns: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is no width leaves 100; a long paragraph then fills its lines."""
    monkeypatch.setenv("COLUMNS", columns)
    console = terminal_console()
    page = Page()
    page.line("dense " * 400)

    assert console.width == width
    assert width - 6 < max(map(len, page.text(console).splitlines())) <= width


def test_without_columns_a_pipe_is_100_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)

    assert terminal_console().width == 100


def test_a_board_cannot_drive_the_terminal() -> None:
    """Escape sequences, line breaks, direction marks and Rich's markup in a net name are shown, not obeyed."""
    evil = finding(ESCAPES + "[bold red]x[/]\nFIT  all good")
    notes = (ESCAPES, "[link=https://x]y[/link]")

    for console in (plain_console(), Console(file=io.StringIO(), force_terminal=True, color_system=None, width=100)):
        whole = text.page(report(findings=(evil,), notes=notes, proofs=(ESCAPES,)), verbose=True, clauses=True).text(
            console
        )
        assert "\x1b" not in whole.replace("\x1b[1m", "").replace("\x1b[2m", "").replace("\x1b[0m", "")
        assert "\x07" not in whole
        assert "\u202e" not in whole
        assert "\\x1b[2J" in whole
        assert "[bold red]x[/]" in whole.replace("\n", "").replace(" ", "").replace("boldred", "bold red")
        assert not any(line.startswith("FIT") for line in whole.splitlines())


@pytest.mark.parametrize("width", [40, 80, 100, 120])
def test_a_report_fits_the_width_it_is_given(width: int) -> None:
    """Only lines to paste and commands may be longer."""
    shown = text.page(report(proofs=()), verbose=True, clauses=True, width=width).text(plain_console(width))
    lines = [line for line in shown.splitlines() if not line.startswith("next: ")]

    assert max(map(len, lines)) <= width


def test_a_broken_rule_is_named_in_both_formats() -> None:
    """A defect of ours is never silent."""
    crashed = report(crashes=(RuleCrash(code="VIA001", name="missing-backdrill", error="KeyError: 1"),))

    assert "internal error in rule VIA001 missing-backdrill (KeyError: 1)" in " ".join(
        text.page(crashed, verbose=True, clauses=True).text().split()
    )
    data = json.loads(json_.render([Checked(crashed, None, "1" * 64)]))
    assert data["reports"][0]["crashes"][0]["code"] == "VIA001"


def test_clean_keeps_what_people_write() -> None:
    """Letters of any script, ohm and micro signs are no danger."""
    assert clean("85Ω_µVia 高速 é") == "85Ω_µVia 高速 é"
    assert clean("a\tb\nc") == "a b c"
    assert clean("/A{slash}B ~{slash} {quote}") == "/A/B ~{slash} {quote}"
    assert clean("\x1b[31m\u202e\x7f") == "\\x1b[31m\\u202e\\x7f"


def test_words_for_numbers_and_lists() -> None:
    """Small words that every report uses."""
    assert count(1, "error") == "1 error"
    assert count(0, "clause has", "clauses have") == "0 clauses have"
    assert number(1.3600000001, "mm") == "1.36 mm"
    assert number(None) == ""
    assert (number(1, "vias"), number(2, "vias"), number(1.0, "open vias")) == ("1 via", "2 vias", "1 open via")
    assert (number(12.0, ":1"), number(None, ":1")) == ("12:1", "")
    assert (number(1, "ps"), number(1, "mm"), number("1", "loss class")) == ("1 ps", "1 mm", "1 loss class")
    assert some(["a", "b", "c"], 2) == "a, b and 1 more"


def test_no_cell_loses_a_letter_on_a_narrow_terminal() -> None:
    """A cut number is a wrong number: the row is wider than the terminal. What wraps keeps short words whole."""
    numbers = [f"{k}.123" for k in range(10)]
    page = Page()
    page.rows(
        [Column(), Column(max_width=18), *(Column(right=True) for _ in numbers)],
        [("In2.Cu", "In10.Cu, B.Cu", *numbers)],
    )
    page.line("and " * 15)

    table, _, paragraph = page.text(plain_console(40)).partition("and")

    assert set(table.replace(",", " ").split()) == {"In2.Cu", "In10.Cu", "B.Cu", *numbers}
    assert table.split("\n")[0].split()[-1] == numbers[-1]
    assert max(map(len, paragraph.split("\n"))) <= 40


def test_rows_wrap_inside_their_column() -> None:
    """The second line of a cell stands under the first."""
    page = Page()
    page.rows([Column(), Column(wraps=True)], [(styled("label", "dim"), "word " * 30)], indent=2)

    first, second = page.text().splitlines()[:2]
    assert first.startswith("  label  word")
    assert second.startswith("         word")


def test_sentences_wrap_in_any_column() -> None:
    """Two columns of sentences share the width; one that was not meant to wrap leaves room for the other."""
    page = Page()
    page.rows([Column(), Column(), Column(wraps=True)], [("ranked by", "least loss " * 8, "usual for inference " * 2)])

    lines = page.text(plain_console(100)).splitlines()
    assert max(map(len, lines)) <= 100
    assert len(lines) <= 3


def test_the_names_of_columns_wrap_before_a_table_gets_too_wide() -> None:
    """Nine columns of numbers under long names fit 80 columns, and no name takes a third line."""
    names = ["layer", "in +-10 %", "dB/inch (range)", "margin dB", "Routed, mm", "Width/gap, mm", "laminations"]
    row = ["In12.Cu", "100 %", "0.39 (0.33-0.67)", "10.25", "128.03", "0.115/0.125", "2"]
    page = Page()
    page.rows([Column(), *[Column(right=True)] * (len(names) - 1)], [row, row], head=names)

    lines = page.text(plain_console(80)).splitlines()
    assert max(map(len, lines)) <= 80
    assert [" ".join(line.split()) for line in lines[2:]] == [" ".join(row)] * 2
    assert len(page.text(plain_console(120)).splitlines()) == 3


def test_a_last_column_with_little_room_stands_under_its_rows() -> None:
    """The sentence of a table whose other columns fill a narrow terminal; a wide one has it beside them."""
    page = Page()
    columns = [Column(), Column(min_width=30), Column(wraps=True, below=30)]
    rows = [("fit", "board", ""), ("not proven", "card", "not known: generation of PCI Express and 2 more")]
    page.rows(columns, rows, head=("", "workload", "what is between"))

    narrow, wide = (page.text(plain_console(width)).splitlines() for width in (60, 90))

    assert [line.split() for line in narrow] == [
        ["workload"],
        ["fit", "board"],
        ["not", "proven", "card"],
        ["not", "known:", "generation", "of", "PCI", "Express", "and", "2"],
        ["more"],
    ]
    assert max(map(len, narrow)) <= 60
    assert len({len(line) - len(line.lstrip()) for line in (narrow[0], *narrow[3:])}) == 1
    assert wide[2].split()[:4] == ["not", "proven", "card", "not"]
    assert "what is between" in wide[0]


def test_what_is_short_stays_in_one_line_next_to_a_long_column() -> None:
    """A label is not broken to make room for a sentence; of two long columns each gets half."""
    page = Page()
    sentence = "a sentence of many words " * 4
    page.rows(
        [Column(max_width=24), Column(max_width=30), Column(wraps=True)],
        [("high-speed layers", "2 between grounds", sentence), ("dielectric 10", sentence, sentence)],
    )

    lines = page.text(plain_console(80)).splitlines()
    assert lines[0].startswith("  high-speed layers  2 between grounds")
    assert any(line.startswith("  dielectric 10      a sentence") for line in lines)
    assert max(map(len, lines)) <= 80


@pytest.mark.slow
def test_same_report_same_bytes_in_any_process() -> None:
    """Hash seeds and clocks leave no trace."""
    program = (
        "from tests.support.reports.made_reports import report; from stackwright.reporters import html, json_, text\n"
        "print(json_.render([json_.Checked(report(), None, '1' * 64)]) + text.page(report(), full=True).text())"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            check=True,
            cwd=Path(__file__).parents[2],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": f".{os.pathsep}plugin"},
        ).stdout
        for seed in ("1", "2")
    ]

    assert runs[0] == runs[1]


def test_a_hundred_percent_is_said_only_of_everything() -> None:
    """717 of 718 rounds to 100; the one that is missing may be the one that matters."""
    assert Coverage(decided=717, total=718, clauses_without_rule=0).whole_percent == 99
    assert Coverage(decided=718, total=718, clauses_without_rule=0).whole_percent == 100
