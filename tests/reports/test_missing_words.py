"""Text and page count missing data alike, and say of comments alone that they are not to be pasted."""

from __future__ import annotations

from drc_rules.report.model import Report
from stackwright.reporters import markdown, text
from stackwright.reporters.html import render
from stackwright.results.checked import Checked
from stackwright.tables.counts import how_to_supply, sectionless, unproven_words
from tests.support.remembered import fixture_report
from tests.support.reports.made_reports import report

IN_KICAD = "# in KiCad, File > Board Setup > Physical Stackup: enter the fab's stackup and save the board"


def of(name: str) -> Report:
    return fixture_report(name)


def shown(one: Report) -> str:
    return " ".join(text.page(one, verbose=True).text().split())


def test_the_page_counts_what_the_text_counts() -> None:
    """The page joins facts that the same requirements wait for: its lines are no count of anything."""
    one = of("no_stackup")
    words = unproven_words(one)
    assert words.startswith("29 requirements not verifiable, 2 requirements of severity error met on a guess")
    assert f"Missing data {words}" in shown(one)
    assert f'<span class="muted">{words}</span>' in render([Checked(one, None, "0")])


def test_comments_alone_are_not_to_be_pasted() -> None:
    lines = ("[fab]", 'tier = "?"')
    assert how_to_supply(report(proofs=(IN_KICAD,))) == "there are no lines to paste; instead:"
    asked = report(proofs=(IN_KICAD, *lines))
    assert how_to_supply(asked) == "fill in and put into stackwright.toml next to the board:"
    assert (
        how_to_supply(asked.model_copy(update={"settings_file": "../Ours.toml"}))
        == "fill in and put into ../Ours.toml:"
    )
    one = report(proofs=(IN_KICAD,))
    for told in (shown(one), markdown.render([Checked(one, None, "0")]), render([Checked(one, None, "0")])):
        assert "here are no lines to paste; instead:" in told
        assert "ill in and put" not in told


def test_pairs_with_a_target_and_pairs_of_the_table_are_two_things() -> None:
    one = of("edge_jetson_carrier_fit")
    assert sectionless(one.coverage) == "1 pair with an impedance target not judged"
    assert sectionless(one.coverage.model_copy(update={"unjudged_pairs": 2})).startswith(
        "2 pairs with an impedance target"
    )
    assert sectionless(one.coverage.model_copy(update={"unjudged_pairs": 0})) == ""
    assert f"; {sectionless(one.coverage)}" in shown(one)
    assert sectionless(one.coverage) in render([Checked(one, None, "0")])


def test_pairs_that_the_page_does_not_list_are_looked_up_elsewhere() -> None:
    """A job's log has no tables: it led to a part of the page that is not there."""
    one = of("edge_jetson_carrier_fit")
    assert 'counts as undecided, see "Pairs not judged"' in shown(one)
    assert "counts as undecided, `check -v` lists them" in shown(one.model_copy(update={"pairs": ()}))
