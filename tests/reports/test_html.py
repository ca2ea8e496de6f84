"""The HTML report: complete, self-contained, accessible, harmless, small, and the same bytes for the same report."""

from __future__ import annotations

import re
from datetime import date
from itertools import pairwise
from pathlib import Path

import pytest

from drc_rules.engine.check import check_board
from drc_rules.facts.declared import Overrides
from drc_rules.report.known_findings import Accepted, StaleSuppression
from drc_rules.report.model import Headline, Report, RuleCrash
from drc_rules.requirements.clauses import Severity
from stackup_lib.core.errors import BoardFileError
from stackwright.cli.app import run
from stackwright.reporters.assets import script, script_hash
from stackwright.reporters.html import render
from stackwright.results.checked import Checked, Unchecked
from stackwright.tables.counts import ORDER
from tests.support.boards import BOARDS, board_file
from tests.support.remembered import fixture_report
from tests.support.reports.hostile_texts import HOSTILE, hostile_report
from tests.support.reports.made_reports import finding, report
from tests.support.reports.pages import LARGEST_BYTES, Page


def page_of(*reports: Report, config: str | None = None) -> Page:
    """Render reports and parse the page."""
    return Page(render([Checked(one, config, "d" * 64) for one in reports]))


def report_of(name: str, **said: str) -> Report:
    """Check one of our boards."""
    return check_board(board_file(name), overrides=Overrides(**said))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def lossy() -> Report:
    """The report of a board with one failed clause."""
    return report_of("training_b200_lossy_prepreg")


# --- what it says ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_it_says_everything_that_a_design_review_asks(lossy: Report) -> None:
    """Headline, coverage, facts, findings with why and fix, every clause with its source, nets, provenance."""
    text = page_of(lossy, config="boards/stackwright.toml").text

    assert (
        "not fit for training-b200, form hgx 1 requirement failed: NVLink 5 (B200): adjacent Df <= 0.002 at 10 GHz"
        in text
    )
    cover = lossy.coverage
    assert cover.total > 600
    assert f"{cover.whole_percent} % coverage: {cover.decided} of {cover.total} questions decided" in text
    assert "28 copper layers, 3.542 mm thick, 585.0 x 417.0 mm" in text
    for one in lossy.findings:
        assert one.title in text
        assert one.why in text or one.severity is Severity.INFO
        assert one.fix in text
    for verdict in lossy.verdicts:
        assert verdict.clause.title in text
        assert f"{verdict.clause.id}, {verdict.clause.severity.value}" in text
    for row in lossy.taken_as:
        assert f"{row.group} {row.nets} {row.interface} {row.why}" in text
    for piece in (lossy.board.sha256, "d" * 64, "boards/stackwright.toml", "marketing-grade"):
        assert piece in text


def test_it_shows_the_loss_of_every_link_and_the_df_that_the_worst_needs(lossy: Report) -> None:
    """By interface next to the Df of the requirement's row, and link by link; what is not known says why."""
    text = page_of(lossy).text

    first = lossy.losses[0]
    assert first.df and first.df.asked == 0.002
    assert "Loss at Nyquist" in text
    assert f"Df to {first.df.needed:.4f} at 10 GHz ({first.df.now:.4f} now, 0.002 asked)" in text
    assert "Not known: loss of 4 links of NVLink 5 (B200): Df of dielectric 5 at 53.1 GHz" in text
    for row in lossy.losses:
        assert row.name in text


def test_clauses_stand_by_verdict_in_the_order_of_precedence() -> None:
    """Failed first, then what is not verifiable; a clause without a rule never stands among the passed."""
    shown = page_of(report_of("default_stackup", profile="training"))

    bodies = [attributes["class"] for attributes in shown.all("tbody") if attributes.get("class")]
    order = ["failed", "not-met", "remark", "not-verifiable", "met", "not-applicable", "no-rule-yet"]
    assert bodies == [word for word in order if word in bodies]
    assert {"failed", "not-verifiable", "met"} <= set(bodies)


def test_the_heading_of_the_clauses_counts_as_the_text_report_does(lossy: Report) -> None:
    """One remark, two remarks; `met` and `failed` have no plural."""
    one = next(verdict for verdict in lossy.verdicts if verdict.words == "remark")
    two = lossy.model_copy(update={"verdicts": (*lossy.verdicts, one)})
    assert "Requirements of training-b200 1 failed, 1 with a remark, 1 not verifiable, 103 met, " in page_of(lossy).text
    assert "Requirements of training-b200 1 failed, 2 with remarks, 1 not verifiable, 103 met, " in page_of(two).text


@pytest.mark.slow
@pytest.mark.parametrize("name", ["default_stackup", "training_b200_lossy_prepreg"])
def test_the_filter_counts_every_clause(name: str) -> None:
    """The numbers next to the check boxes add up to the clauses of the report."""
    checked = report_of(name, profile="training")
    text = page_of(checked).text

    words = [*ORDER, "no rule yet"]
    counts = [int(found[1]) for word in words if (found := re.search(rf"(?<!not) {word} \((\d+)\)", text))]
    assert sum(counts) == len(checked.verdicts)


def test_the_lines_to_paste_are_those_of_the_report() -> None:
    """Line by line, in an element of their own, so that they can be copied."""
    checked = report_of("default_stackup", profile="training")
    html = render([Checked(checked, None, "")])
    block = html[html.index('<pre class="paste"') : html.index("</pre>")]

    lines = [line for line in "".join(Page(block + "</pre>").words).splitlines() if line]
    assert lines == list(checked.proofs)


@pytest.mark.parametrize("lines", [2, 40])
def test_what_keeps_a_board_from_being_proven_is_open_and_printed(lines: int) -> None:
    """However much is missing; only the lines to paste fold where they are many, and nowhere else."""
    proofs = tuple(f"[fact.{number}]" for number in range(lines))
    unproven, failed = (report(headline=one, proofs=proofs) for one in (Headline.NOT_PROVEN, Headline.NOT_FIT))
    opened = re.findall(r"<details[^>]*>", missing_of(unproven))
    assert [tag.endswith(" open>") for tag in opened] == [True, lines == 2]
    assert not re.findall(r"<details[^>]*>", missing_of(failed))[0].endswith(" open>")


def missing_of(one: Report) -> str:
    html = render([Checked(one, None, "")])
    start = html.rindex("<details", 0, html.index('id="b1-proof"'))
    return html[start : html.index("</pre>", start)]


def test_what_is_missing_is_named_once_in_the_head() -> None:
    """With every requirement that waits for it, however it is put: the stackup, and what is used in its place."""
    head = page_of(report_of("no_stackup", profile="edge")).text.partition("coverage:")[0]
    assert re.findall(r"missing: (.+?) \(\d+ requirements?\)", head) == [
        "the stackup",
        "copper thickness of F.Cu and 4 more",
        "copper thickness of In2.Cu",
    ]


def test_missing_data_names_requirements_by_what_they_require() -> None:
    table = missing_of(report_of("no_stackup", profile="edge"))
    assert "stackup has the copper layers of the layer table" in table
    assert "board.stackup.layers" not in table


def test_an_unknown_copper_weight_is_left_out() -> None:
    assert "weight ?" not in page_of(report_of("inference_pcie_gen5_fit")).text


def test_a_default_stackup_is_not_drawn_to_scale() -> None:
    """Nothing is known of it, and the page says so instead of drawing KiCad's numbers."""
    text = page_of(report_of("default_stackup")).text

    assert "Heights to scale" not in text
    assert "untouched default: thicknesses and materials are not declared" in text


def test_what_broke_and_what_was_accepted_is_shown() -> None:
    """A rule that raised, a suppression with its owner and day, and one that does nothing any more."""
    text = page_of(
        report(
            crashes=(RuleCrash(code="VIA001", name="missing-backdrill", error="ValueError: no"),),
            accepted=(
                Accepted(finding=finding(), by="suppression", reason="tested", owner="ada", expires=date(2031, 5, 1)),
            ),
            stale_suppressions=(
                StaleSuppression(entry="STK001", problem="matches nothing", reason="old", owner="bob", line=7),
            ),
        )
    ).text

    assert "internal error in rule VIA001 missing-backdrill (ValueError: no)" in text
    assert "tested until 2031-05-01 ada" in text
    assert "suppression of STK001 matches nothing: old (bob, line 7)" in text


def test_several_boards_and_one_that_could_not_be_checked_share_a_page(lossy: Report) -> None:
    """A table on top leads to each; ids stay unique."""
    failure = Unchecked("gone.kicad_pcb", BoardFileError("gone.kicad_pcb", "no such file", "check the path"))
    three: list[Checked | Unchecked] = [Checked(lossy, None, ""), Checked(report(), None, ""), failure]
    shown = Page(render(three))

    assert "2 of 3 boards checked" in shown.text
    assert "<title>Stackwright: 2 of 3 boards checked</title>" in render(three)
    assert "<title>Stackwright: 1 of 2 boards checked</title>" in render(three[1:])
    assert "<title>Stackwright: 2 boards checked</title>" in render(three[:2])
    assert "not checked gone.kicad_pcb" in shown.text
    assert "Next: check the path" in shown.text
    ids = [attributes["id"] for _, attributes in shown.elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_a_thousand_findings_stay_a_page_that_opens() -> None:
    """A board full of the same defect is listed in part, and the page says where the rest is."""
    many = tuple(finding(f"/TX{number}_P", key=str(number)) for number in range(3000))
    html = render([Checked(report(findings=many), None, "")])

    assert len(html.encode()) < LARGEST_BYTES
    assert "and 2900 more, listed in the JSON report" in html


# --- how it is made --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("folder", sorted(p for p in BOARDS.iterdir() if p.is_dir()), ids=lambda folder: folder.name)
def test_every_board_gives_a_small_page_that_needs_nothing_else(folder: Path) -> None:
    """Under 2 MB, no script but our own, nothing to load, closed tags, unique ids, and links that lead somewhere."""
    html = render([Checked(fixture_report(folder.name), None, "")])
    shown = Page(html)

    assert len(html.encode()) < LARGEST_BYTES
    assert shown.open == []
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", html, re.DOTALL)
    assert scripts == [script()]
    assert not any("src" in attributes for attributes in shown.all("script"))
    assert f"script-src '{script_hash()}'; style-src" in next(
        a["content"] for a in shown.all("meta") if a.get("http-equiv") == "Content-Security-Policy"
    )
    assert not {"iframe", "object", "embed", "form", "base", "img"} & {tag for tag, _ in shown.elements}
    assert {a["href"] for a in shown.all("link")} == {"data:,"}
    assert "url(http" not in html
    assert "@import" not in html
    ids = [attributes["id"] for _, attributes in shown.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = {a["href"] for a in shown.all("a")}
    assert {target for target in targets if not target.startswith("#")} == set()
    assert {target[1:] for target in targets} <= set(ids)


def test_a_reader_of_the_screen_finds_its_way(lossy: Report) -> None:
    """Language, title, landmarks, headings without gaps, table heads with scope, pictures with words."""
    shown = page_of(lossy)

    assert next(shown.all("html"))["lang"] == "en"
    assert "training_b200_lossy_prepreg" in shown.text
    assert {"main", "header", "footer", "nav"} <= {tag for tag, _ in shown.elements}
    levels = [int(tag[1]) for tag, _ in shown.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert all(a.get("scope") in ("col", "row") for a in shown.all("th"))
    assert all(a.get("role") in ("img", "group") and a.get("aria-label") for a in shown.all("svg"))
    assert all(a.get("aria-label") for a in shown.all("a") if a.get("class", "").startswith("row-hit"))
    labelled = [a["aria-labelledby"] for _, a in shown.elements if "aria-labelledby" in a]
    assert set(labelled) <= {a["id"] for _, a in shown.elements if "id" in a}


def test_the_same_report_gives_the_same_bytes(lossy: Report) -> None:
    """No time, no order of chance."""
    assert render([Checked(lossy, None, "")]) == render([Checked(lossy, None, "")])


@pytest.mark.slow
def test_the_command_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`check --format html --output`: the exit code stays the one of the check."""
    target = tmp_path / "report.html"

    code = run(["check", str(BOARDS / "training_b200_lossy_prepreg"), "--format", "html", "--output", str(target)])

    assert code == 1
    assert "report written to" in capsys.readouterr().out
    assert target.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


# --- hostile names ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_name_stays_text(text: str) -> None:
    """In findings, places, facts, notes, proofs, nets, path, stackup: no element of its own, nothing turned around."""
    calm = page_of(hostile_report("a name"))
    html = render([Checked(hostile_report(text), text, text), Unchecked(text, BoardFileError(text, text, text))])
    shown = page_of(hostile_report(text), config=text)

    assert _structure(shown) == _structure(calm)
    assert not any(key.startswith("on") for _, attributes in shown.elements for key in attributes)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]", html)


def _structure(page: Page) -> list[str]:
    """Every element but the tooltips that long labels of a drawing get."""
    return [tag for tag, _ in page.elements if tag != "title"]


def test_a_name_from_right_to_left_is_isolated() -> None:
    """Hebrew in a net name stays in its own element, whose base direction is the page's."""
    name = "\u05e9\u05dc\u05d5\u05dd_P"
    html = render([Checked(hostile_report(name), None, "")])
    body = html[html.index("<body>") :]

    isolated = r'<title>[^<]*</title>|<bdi dir="ltr">[^<]*</bdi>|<tspan direction="ltr"[^>]*>[^<]*</tspan>'
    outside = re.sub(r"<[^>]*>", "", re.sub(isolated, "", body))
    assert name in body
    assert name not in outside
