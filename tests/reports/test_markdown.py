"""The Markdown summary: complete at a glance, and whatever a board says stays text."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from drc_rules.report.known_findings import KnownFinding
from drc_rules.report.model import Headline
from drc_rules.requirements.clauses import Severity
from stackup_lib.core.errors import BoardFileError
from stackwright.reporters import markdown
from stackwright.results.checked import Checked, Unchecked
from stackwright.text.markup import escape
from tests.support.boards import BOARDS
from tests.support.remembered import fixture_report
from tests.support.reports.accepted import ACCEPTED, HOSTILE, STALE
from tests.support.reports.made_reports import finding, report


def made(**changes: object) -> str:
    return markdown.render([Checked(report(**changes), None, "0")])


def html(text: str) -> str:
    """Return what a Markdown renderer that lets HTML through makes of it."""
    return str(MarkdownIt("commonmark", {"html": True}).enable("table").render(text))


def test_the_head_answers_at_a_glance() -> None:
    lines = made().splitlines()
    assert lines[0] == "## ❌ Not fit: boards/card.kicad\\_pcb"
    assert "1 clause failed: training.backdrill.pcie6. Judged as training-b200, form hgx." in lines
    assert "- findings: 1 error" in lines
    assert "- requirements: 1 failed, 1 not verifiable, 1 met" in lines
    assert "- coverage: 6 of 8 questions decided (75 %)" in lines


@pytest.mark.parametrize("headline", list(Headline))
def test_every_headline_is_said_in_words(headline: Headline) -> None:
    assert f" {headline.value.capitalize()}: " in made(headline=headline).splitlines()[0]


def test_findings_not_proven_and_how_to_prove_are_there() -> None:
    text = made()
    assert "**/TX0\\_P: 1.36 mm stub from In1.Cu to B.Cu, not backdrilled**" in text
    assert "0.25 mm<br>A guide, Table 3, row Backdrill" in text
    assert escape(finding().key) in text
    assert "### Missing data" in text
    assert "foil grade of In1.Cu" in text
    assert '```toml\n[declared]\nfoil = "?"' in text


def test_accepted_stale_and_fixed_are_there() -> None:
    fixed = KnownFinding(key="k", code="MAT001", clause="c", title="dielectric 5 is lossy")
    text = made(accepted=(ACCEPTED,), stale_suppressions=(STALE,), fixed=(fixed,))
    assert "- findings: 1 error; 1 accepted" in text
    assert "### Accepted" in text
    remark = ACCEPTED.model_copy(update={"finding": finding(severity=Severity.INFO)})
    assert "| remark |" in made(accepted=(remark,)).partition("### Accepted")[2]
    assert "**Suppression of STK001, object \\* matches nothing**: old (rk)" in text
    assert "Fixed, and still in the baseline: MAT001 dielectric 5 is lossy" in text


def test_a_board_that_was_not_checked_is_not_passed_over() -> None:
    text = markdown.render([Unchecked("x.kicad_pcb", BoardFileError("x.kicad_pcb", "is cut off", "save it again"))])
    assert text == "## ❌ Not checked: x.kicad\\_pcb\n\nx.kicad\\_pcb: is cut off; save it again.\n"


def test_hostile_names_stay_text() -> None:
    shown = html(made(findings=(finding(HOSTILE, title=f"{HOSTILE}: a stub"),), accepted=(ACCEPTED,)))
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    assert "<script" not in shown
    assert "<a " not in shown
    assert "\u202e" not in shown
    assert "\\u202egnp" in shown
    assert "[x](http:" in shown
    assert "@all" not in shown  # else the host would tell everybody
    assert shown.count("<tr>") == 2 + 2 + 2


@pytest.mark.parametrize(
    "name",
    [
        "# head",
        "- item",
        "> quote",
        "a|b",
        "**bold**",
        "_it_",
        "`c`",
        "~~s~~",
        "![i](u)",
        "<b>",
        "&amp;",
        "$x$",
        "a\\|b",
    ],
)
def test_markup_in_a_name_is_shown_as_it_is_written(name: str) -> None:
    import html as entities

    cell = html(f"| a |\n|---|\n| {escape(name)} |\n").split("<td>")[1].split("</td>")[0]
    assert entities.unescape(cell) == name


@pytest.mark.parametrize("name", ["http://example.org", "https://example.org/a", "www.example.org", "WWW.example.org"])
def test_an_address_in_a_name_is_no_link(name: str) -> None:
    escaped = escape(name)
    assert "://" not in escaped
    assert "www." not in escaped.lower()
    assert html(escaped) == f"<p>{name}</p>\n"


def test_a_fence_cannot_be_closed_from_inside() -> None:
    shown = html(made(proofs=("# ```", "# <script>alert(1)</script>")))
    assert "<script" not in shown
    assert "# ```\n# &lt;script&gt;" in shown


def test_a_long_table_says_how_much_it_leaves_out() -> None:
    many = tuple(finding(name=f"/N{n}", title=f"{'ab' * n} is wrong", code=f"ABC{n:03}", key=str(n)) for n in range(40))
    text = made(findings=many)
    assert "10 more kinds of findings: `stackwright check` with `--full` shows all." in text
    assert "1 more kind of findings: " in made(findings=many[:31])


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(path.parent.name for path in BOARDS.glob("*/*.kicad_pcb")))
def test_every_fixture_board_fits_a_comment(name: str) -> None:
    checked = Checked(fixture_report(name), None, "0")
    text = markdown.render([checked])
    assert text == markdown.render([checked])
    assert len(text) < 65_536


def test_similar_findings_are_named_where_they_have_names_of_their_own() -> None:
    """No colon with nothing behind it where all are about the same net."""
    alike = made(findings=tuple(finding("/A", key=str(k)) for k in range(3)))
    named = made(findings=(finding("/A"), finding("/B")))
    assert "and 2 similar<br>" in alike
    assert "and 1 similar: /B<br>" in named
