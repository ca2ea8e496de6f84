"""Findings as cards: ids that last, and chips whose counts are those of the findings."""

from __future__ import annotations

from drc_rules.report.findings import Location
from drc_rules.requirements.clauses import Severity
from stackup_lib.kicad.read.title_block import TitleBlock
from stackwright.drawing.words import millimetres
from stackwright.reporters.cards import chip_rows, folded_title, in_view, shown_findings
from stackwright.reporters.html import render
from stackwright.results.board_identity import BoardIdentity
from stackwright.results.checked import Checked
from tests.support.reports.made_reports import finding, report

FINDINGS = (
    finding("/TX0_P", key="a", code="VIA001").model_copy(update={"places": (Location(layer="In10.Cu", net="/TX0_P"),)}),
    finding("/TX1_P", key="b", code="VIA001").model_copy(update={"places": (Location(layer="In2.Cu", net="/TX1_P"),)}),
    finding("/CLK", key="c", code="MAT001", severity=Severity.WARNING).model_copy(
        update={"title": "another kind", "places": (Location(layer="In2.Cu", net="/CLK"),)}
    ),
)
CLASSES = {"/TX0_P": "PCIe", "/TX1_P": "PCIe", "/CLK": "Default"}


def test_chips_count_findings_and_follow_the_stackup() -> None:
    shown = list(shown_findings(FINDINGS, ""))

    rows, tokens = chip_rows(shown, ["F.Cu", "In2.Cu", "In10.Cu"], CLASSES)

    counts = {row.title: [(chip.text, chip.many) for chip in row.chips] for row in rows}
    assert counts == {
        "Severity": [("error", 2), ("warning", 1)],
        "Family": [("material", 1), ("via", 2)],
        "Layer": [("In2.Cu", 2), ("In10.Cu", 1)],
        "Net class": [("Default", 1), ("PCIe", 2)],
    }
    assert [one.id for one in shown] == ["f-a", "f-c"]
    assert tokens["f-a"] == "1 severity-0 family-1 layer-1 class-1;1 severity-0 family-1 layer-0 class-1"
    assert tokens["f-c"] == "1 severity-1 family-0 layer-0 class-0"


def test_a_property_of_one_value_has_no_chips() -> None:
    rows, _ = chip_rows(list(shown_findings(FINDINGS[2:], "")), [], CLASSES)

    assert rows == ()


def test_remarks_are_folded_where_anything_weighs_more() -> None:
    remarks = [
        finding(f"/N{n}", key=f"r{n}", code=code, severity=Severity.INFO).model_copy(update={"title": code})
        for n, code in enumerate(("MAT001", "MAT001", "VIA001"))
    ]

    first, folded = in_view(list(shown_findings([*FINDINGS, *remarks], "")))
    only, none = in_view(list(shown_findings(remarks, "")))

    assert [one.id for one in first] == ["f-a", "f-c"]
    assert folded_title(folded) == "3 remarks of 2 kinds"
    assert len(only) == 2 and not none


def test_the_thirteenth_kind_is_folded() -> None:
    many = [finding(f"/N{n}", key=f"e{n}").model_copy(update={"title": f"kind {chr(97 + n)}"}) for n in range(14)]

    first, folded = in_view(list(shown_findings(many, "")))

    assert len(first) == 12
    assert folded_title(folded) == "2 more kinds of findings"


def test_the_head_shows_title_block_and_commit() -> None:
    sheet = TitleBlock(title="Carrier", rev="B", date="2031-05-01")
    made = Checked(report(), None, "", identity=BoardIdentity(sheet, "abc1234, changed since"))

    page = render([made])

    for label, text in (("title", "Carrier"), ("revision", "B"), ("date", "2031-05-01"), ("commit", "abc1234, chan")):
        assert f'<dt>{label}</dt><dd><bdi dir="ltr">{text}' in page


def test_a_thickness_is_stated_to_a_micrometre() -> None:
    assert [millimetres(value) for value in (0.0894, 0.1, 1.5004, 0.0003)] == [
        "0.089 mm",
        "0.1 mm",
        "1.5 mm",
        "0.0003 mm",
    ]
