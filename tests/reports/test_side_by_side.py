"""Boards and stackups next to one another: the page of a diff, stackups to choose from, the scorecard of workloads."""

from __future__ import annotations

import base64
import pickle
import re
import shutil
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from drc_rules.analysis.impedance.line_effects import LineEffect, LineState, changed
from drc_rules.analysis.lines.solved_lines import Lines
from drc_rules.engine.board_diff import board_diff, row_changes, row_pairs
from drc_rules.engine.check import check_up, find_config
from drc_rules.facts.declared import Overrides
from drc_rules.report.model import Headline
from drc_rules.report.stackup_rows import StackupRow, StackupView, Stated
from drc_rules.requirements.clauses import Severity
from drc_rules.stackup_design.fitness import Fitness, FitnessReport, fitness_of
from stackup_lib.board.board import LayerKind
from stackup_lib.board.layer_roles import LayerRole
from stackup_lib.kicad.design_rules.rules_file import parse_design_rules
from stackup_lib.transmission_lines.width_request import Target
from stackwright.cli.app import run
from stackwright.commands.check.full import in_full
from stackwright.commands.diff.html import html_of
from stackwright.commands.diff.widths import width_changes
from stackwright.commands.fit.changes import Way
from stackwright.commands.fit.scorecard import scorecard
from stackwright.drawing import columns
from stackwright.reporters.html import render
from stackwright.results.checked import Checked
from stackwright.results.full import Full
from stackwright.results.stackup_choices import Count
from stackwright.tables import deltas
from tests.support.boards import BOARDS, board_file
from tests.support.reports.changes import FEWER, FIT, LOSSY, LOW_TG, checked, diff_of
from tests.support.reports.hostile_texts import HOSTILE, hostile_view
from tests.support.reports.pages import LARGEST_BYTES, Page

RULES = "data:application/octet-stream;base64,"
SCOPES = {"col", "row", "colgroup", "rowgroup"}


def diff_page(old: str, new: str) -> Page:
    """Its page."""
    return sound(html_of(diff_of(old, new), checked(old), checked(new)))


@cache
def full_of(name: str, profile: str | None = None) -> Full:
    """What `--full` adds to a fixture board's report."""
    return in_full(board_file(name), checked(name, profile), find_config(board_file(name), None), Overrides(profile))


def full_html(name: str, full: Full, profile: str | None = None) -> str:
    """The report with it."""
    return render([Checked(checked(name, profile).report, None, "d" * 64, full=full)])


def sound(html: str) -> Page:
    """Parse a page and hold it to what every page of ours promises: harmless, whole, readable without eyes."""
    page = Page(html)
    assert page.open == []
    assert list(page.all("script")) == [{}]  # our own, which the policy names by its hash
    assert not {"iframe", "object", "embed", "form", "base", "img"} & {tag for tag, _ in page.elements}
    assert "url(http" not in html
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {a["href"] for a in page.all("a") if "download" not in a} <= {f"#{one}" for one in ids}
    assert all(a["href"].startswith(RULES) for a in page.all("a") if "download" in a)
    assert {a["aria-labelledby"] for _, a in page.elements if "aria-labelledby" in a} <= set(ids)
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert all(a.get("scope") in SCOPES for a in page.all("th"))
    assert all(a.get("role") in ("img", "group") and a.get("aria-label") for a in page.all("svg"))
    assert len(html.encode()) < LARGEST_BYTES
    return page


def copper(name: str, **more: object) -> StackupRow:
    """A signal layer."""
    return StackupRow.model_validate({"name": name, "kind": LayerKind.COPPER, "role": LayerRole.SIGNAL, **more})


def prepreg(name: str, material: str, thickness_mm: float = 0.1) -> StackupRow:
    """A sheet of glass and resin."""
    return StackupRow(name=name, kind=LayerKind.PREPREG, material=material, thickness_mm=thickness_mm)


def view(*rows: StackupRow) -> StackupView:
    """A stackup of rows."""
    return StackupView(stated=Stated.FILE, thickness_mm=1.0, rows=rows)


# --- rows in pairs ---------------------------------------------------------------------------------------------------


def test_rows_meet_by_name_while_the_copper_layers_are_the_same() -> None:
    """A dielectric of another material is the same row; one that is new stands alone at its place."""
    old = view(copper("F.Cu"), prepreg("dielectric 1", "A"), copper("B.Cu"))
    new = view(copper("F.Cu"), prepreg("dielectric 1", "B"), prepreg("dielectric 2", "B"), copper("B.Cu"))

    pairs = [(a and a.name, b and b.name) for a, b in row_pairs(old, new)]

    assert pairs == [
        ("F.Cu", "F.Cu"),
        ("dielectric 1", "dielectric 1"),
        (None, "dielectric 2"),
        ("B.Cu", "B.Cu"),
    ]
    assert [(one.layer, one.kind) for one in row_changes(old, new)] == [
        ("dielectric 1", "changed"),
        ("dielectric 2", "added"),
    ]


def test_rows_meet_by_what_they_are_where_layers_came() -> None:
    """KiCad numbers the dielectrics anew: the last one is still the one of the same material."""
    old = view(copper("F.Cu"), prepreg("dielectric 1", "A"), copper("B.Cu"))
    new = view(
        copper("F.Cu"), prepreg("dielectric 1", "NEW"), copper("In1.Cu"), prepreg("dielectric 2", "A"), copper("B.Cu")
    )

    pairs = [(a and a.name, b and b.name) for a, b in row_pairs(old, new)]

    assert ("dielectric 1", "dielectric 2") in pairs
    assert (None, "In1.Cu") in pairs
    assert [b for _, b in pairs if b] == [row.name for row in new.rows]
    assert [a for a, _ in pairs if a] == [row.name for row in old.rows]


# --- columns ---------------------------------------------------------------------------------------------------------


def test_two_columns_stand_at_equal_heights_and_every_difference_has_a_sign() -> None:
    """What is gone leaves a place on the other side; what differs is marked on both, and by more than a colour."""
    old = view(copper("F.Cu"), prepreg("dielectric 1", "A", 0.1), copper("B.Cu"))
    new = view(copper("F.Cu"), prepreg("dielectric 1", "B", 0.9), prepreg("dielectric 2", "C"), copper("B.Cu"))

    left, right = columns.paired(tuple(row_pairs(old, new)), frozenset({"dielectric 1"}))

    assert [one.height for one in left] == [one.height for one in right]
    assert [one.mark for one in left] == ["", "changed", "", ""]
    assert [one.mark for one in right] == ["", "changed", "added", ""]
    assert left[2].row is None
    drawn = columns.column(right, columns.WIDE, title="after")
    assert "\u2260 B" in drawn
    assert "+ C" in drawn
    assert 'class="outline-of changed"' in drawn
    assert "\u2212" in columns.column(
        columns.paired(tuple(row_pairs(new, old)), frozenset())[0], columns.WIDE, title="before"
    )


def test_what_came_for_what_went_stands_beside_it() -> None:
    """Boards of other layers: copper next to copper, each marked as what it is, and nothing twice."""
    old = view(copper("F.Cu"), prepreg("dielectric 1", "A"), copper("B.Cu", thickness_mm=0.03))
    new = view(
        copper("F.Cu", thickness_mm=0.035),
        prepreg("dielectric 1", "B"),
        prepreg("dielectric 1, ply 2", "B"),
        copper("In1.Cu"),
        prepreg("dielectric 2", "B"),
        copper("B.Cu"),
    )

    left, right = columns.paired(tuple(row_pairs(old, new)), frozenset())

    adjacent = [(a.row and a.row.name, b.row and b.row.name) for a, b in zip(left, right, strict=True)]
    assert adjacent == [
        ("F.Cu", "F.Cu"),
        ("dielectric 1", "dielectric 1"),
        (None, "dielectric 1, ply 2"),
        ("B.Cu", "In1.Cu"),
        (None, "dielectric 2"),
        (None, "B.Cu"),
    ]
    assert {one.mark for one in left if one.row} == {"removed"}
    assert {one.mark for one in right} == {"added"}


def test_rows_at_fault_are_named_by_the_rows_of_the_board_file() -> None:
    """A finding is at `dielectric 1`, of which the drawing shows both plies."""
    slots = columns.plain([prepreg("dielectric 1, ply 1", "A"), copper("B.Cu")], frozenset({"dielectric 1"}))

    assert [one.mark for one in slots] == ["fails", ""]
    assert "\u2717 A" in columns.column(slots, columns.NARROW, title="now")


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("layout", [columns.NARROW, columns.WIDE], ids=["narrow", "wide"])
def test_a_hostile_name_stays_text_in_a_column(text: str, layout: columns.Layout) -> None:
    """No element of its own, no end of the drawing."""
    slots = columns.plain(hostile_view(text).rows)
    calm = columns.plain(hostile_view("a name").rows)

    def tags(one: tuple[columns.Slot, ...], title: str) -> list[str]:
        page = Page(columns.column(one, layout, title=title))
        assert page.open == []
        return [tag for tag, _ in page.elements if tag != "title"]

    assert tags(slots, text) == tags(calm, "a name")


# --- before and after ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "digits", "said"),
    [
        (87.04, 83.86, 1, "\u22123.1"),  # 87.0 and 83.9 are shown: their step is the one a reader takes
        (83.9, 87.0, 1, "+3.1"),
        (85.02, 84.98, 1, ""),
        (2.071, None, 2, ""),
        (None, 2.0, 2, ""),
        (2.0, 2.11, 2, "+0.11"),
    ],
)
def test_a_step_is_the_one_between_the_figures_that_are_shown(
    before: float | None, after: float | None, digits: int, said: str
) -> None:
    """With its sign; empty where nothing moves or something is not known."""
    assert deltas.step(before, after, digits) == said


@pytest.mark.slow
def test_why_a_figure_is_not_known_is_said_once_with_its_layers() -> None:
    """Two layers next to the same dielectric make one line."""
    first = diff_of(FIT, LOSSY).lines[0]
    effects = [
        first.model_copy(update={"layer": layer, "after": LineState(problem="Df is not known")})
        for layer in ("In1.Cu", "In2.Cu")
    ]

    assert deltas.all_problems(effects) == ["In1.Cu, In2.Cu: Df is not known"]


@pytest.mark.slow
def test_targets_of_one_title_stay_apart() -> None:
    """A memory asks 40 ohm of its lines and 80 of its pairs under one name."""
    first = diff_of(FIT, LOSSY).lines[0]
    other = first.model_copy(
        update={"target": first.target.model_copy(update={"target": Target(ohm=42.5, kind="single")})}
    )

    assert [(target, len(rows)) for target, rows in deltas.by_target([first, other, first])] == [
        (first.target, 2),
        (other.target, 1),
    ]


# --- the page of a diff ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_page_of_a_diff_tells_what_one_prepreg_does() -> None:
    """370HR under In4 in place of Megtron 7: 87.0 ohm become 83.9, no Df is known at Nyquist, a clause fails."""
    page = diff_page(FIT, LOSSY)

    for words in (
        "not fit was fit, for training-b200",
        "2 findings new 0 fixed 1 unchanged 2 rows of the stackup 2 lines in ohm or dB",
        "R-5680(N) 1080 RC70% 370HR 1080 RC71%",
        "In4.Cu 0.123/0.15 87.0 83.9 \u22123.1 \u22121.3 % 2.07 ?",
        "In4.Cu: no loss: Df of dielectric 5 at 53.1 GHz is not known",
        "/NVLINK4_RX0_P NVLink 5 (B200) 53.1 GHz 8.4 dB 8.3 dB",
        "/NVLINK1_RX0_P NVLink 5 (B200) 53.1 GHz 7.6 dB ?",
        "board.loss.share \u2713 met ? not verifiable",
        "training.df.nvlink5 \u2713 met \u2717 failed",
    ):
        assert words in page.text
    labels = [one["aria-label"] for one in page.all("svg")]
    assert [label.partition(":")[0] for label in labels] == ["Cross-section before", "Cross-section after"]


@pytest.mark.slow
def test_the_page_says_the_figures_of_the_diff() -> None:
    """Every ohm before and after of every line that moves, as the diff computed them."""
    page, moved = diff_page(FIT, LOSSY), changed(diff_of(FIT, LOSSY).lines)

    assert moved
    for one in moved:
        a, b = one.before.impedance_ohm, one.after.impedance_ohm
        assert a is not None
        assert b is not None
        assert f"{one.layer} {one.width_mm:g}/{one.gap_mm:g} {a:.1f} {b:.1f}" in page.text


@pytest.mark.slow
def test_what_is_repaired_stands_under_fixed_and_what_stays_under_unchanged() -> None:
    """The same two boards the other way round."""
    page, diff = diff_page(LOSSY, FIT), diff_of(LOSSY, FIT)

    assert "fit was not fit" in page.text
    assert "Fixed 2 \u2713 fixed dielectric" in page.text
    assert "fixed dielectric 5 (370HR 1080 RC71%)" in page.text
    assert f"Unchanged: {diff.unchanged}" in page.text
    for finding in checked(FIT).report.findings:
        assert " ".join(finding.title.split()) in page.text


@pytest.mark.slow
def test_boards_of_other_layers_are_drawn_with_gaps() -> None:
    """Both drawings are as tall as each other; what only one has is marked in it."""
    page = diff_page(FIT, FEWER)

    tall = [one["height"] for one in page.all("svg")]
    assert tall[0] == tall[1]
    marks = {one["class"] for one in page.all("rect") if one.get("class", "").startswith("outline-of")}
    assert marks >= {"outline-of removed"}


@pytest.mark.slow
def test_a_state_without_a_stackup_has_nothing_to_draw() -> None:
    """The page stands, and says what came."""
    page = sound(html_of(diff_of("no_stackup", "no_stackup"), *[checked("no_stackup")] * 2))

    assert "as before" in page.text
    assert "Unchanged." in page.text


@pytest.mark.slow
def test_copper_that_a_thicker_prepreg_takes_off_its_target_gets_widths_and_rules(tmp_path: Path) -> None:
    """0.077 mm below In2.Cu become 0.16 mm: the width that the page offers meets 85 ohm; the rules hold it."""
    name = "inference_pcie_gen5_fit"
    shutil.copytree(BOARDS / name, tmp_path, dirs_exist_ok=True)
    file = tmp_path / f"{name}.kicad_pcb"
    text, changed_rows = re.subn(
        r'(\(layer "dielectric 3".*?\(thickness )0\.077', r"\g<1>0.16", file.read_text(), count=1, flags=re.DOTALL
    )
    assert changed_rows == 1
    file.write_text(text)
    after = check_up(file)
    diff = board_diff(checked(name), after)

    page = sound(html_of(diff, checked(name), after))

    found = width_changes(changed(diff.lines), after.context, diff.after)
    assert found is not None
    assert [(one.layer, one.width_mm, one.gap_mm) for one in found.reroute] == [("In2.Cu", 0.094, 0.13)]
    (one,) = found.reroute
    assert one.new_width_mm is not None
    layer = after.context.board.layer_index["In2.Cu"]
    assert Lines(after.context).solved(layer, one.new_width_mm, one.new_gap_mm).impedance_ohm == pytest.approx(
        85, 0.002
    )
    assert "Widths to change 1" in page.text
    (link,) = [a for a in page.all("a") if "download" in a]
    rules = parse_design_rules(base64.b64decode(link["href"].removeprefix(RULES)).decode())
    assert [(rule.layer, rule.net_class) for rule in found.rules] == [("In2.Cu", "85Ohm-diff_PCIE")]
    assert f"{one.new_width_mm:.3f}" in base64.b64decode(link["href"].removeprefix(RULES)).decode()
    assert rules


def test_lines_within_their_tolerance_get_no_widths() -> None:
    """Two lossy prepregs move no line off its target."""
    page = diff_page(FIT, LOSSY)

    assert width_changes(changed(diff_of(FIT, LOSSY).lines), checked(LOSSY).context, "x.kicad_pcb") is None
    assert "Widths to change" not in page.text


@pytest.mark.slow
def test_the_same_states_give_the_same_bytes() -> None:
    """No time, no order of chance."""
    sides = checked(FIT), checked(LOSSY)

    assert html_of(diff_of(FIT, LOSSY), *sides) == html_of(diff_of(FIT, LOSSY), *sides)


def test_the_command_writes_the_page_of_a_diff(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The exit code stays the one of the diff; two forms at a time are refused."""
    target = tmp_path / "diff.html"
    boards = [str(BOARDS / "no_stackup"), str(BOARDS / "default_stackup")]

    code = run(["diff", *boards, "--html", "--output", str(target)])

    assert code == run(["diff", *boards])
    assert target.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    capsys.readouterr()
    assert run(["diff", *boards, "--html", "--json"]) == 2
    assert "exclude each other" in capsys.readouterr().err


# --- the scorecard ---------------------------------------------------------------------------------------------------


@cache
def fitness() -> FitnessReport:
    """A board with one low Tg against every workload."""
    path = board_file(LOW_TG)
    return fitness_of(checked(LOW_TG).context.board, find_config(path, None))


def row_named(profile: str) -> Fitness:
    """One workload of it."""
    return next(row for row in fitness().rows if row.profile == profile)


@pytest.mark.slow
def test_the_scorecard_counts_what_the_verdicts_say() -> None:
    """Every workload has a row, in the order of fitness; its values are those of its clauses."""
    rows = scorecard(fitness(), {})

    assert [one.profile for one in rows] == [one.profile for one in fitness().rows]
    for one, row in zip(rows, fitness().rows, strict=True):
        assert one.headline == row.headline.value
        assert one.fails == sum(short.severity is Severity.ERROR for short in row.short)
        assert (one.met, one.open) == (row.passed, len(row.unproven))
        assert sum(many for _, many in one.shares) == one.fails + one.open + one.warns + one.met


@pytest.mark.slow
def test_the_next_step_is_what_changes_and_what_it_costs() -> None:
    """Widths that stay are no step; what still fails then is said; what is fit needs none."""
    row = row_named("inference-pcie")
    way = Way(
        profile=row.profile,
        words=("dielectric 8 to 370HR", "85 ohm differential widths stay (0.1 makes 85.0 ohm, 5 % allowed) on In2.Cu"),
        is_change=True,
        cost_index=38.2,
        cost_tier="medium",
        then=Headline.NOT_FIT,
        short_then=("a.b",),
        still_fails=("Tg >= 170 C",),
    )

    one = next(one for one in scorecard(fitness(), {row.profile: way}) if one.profile == row.profile)

    assert one.next_step == "dielectric 8 to 370HR (cost 38, medium); Tg >= 170 C would still fail"
    assert one.then == "not fit"
    assert all(not other.next_step for other in scorecard(fitness(), {}) if other.headline == "fit")


@pytest.mark.slow
def test_where_layers_are_missing_the_next_step_is_a_new_stackup() -> None:
    """No change of a stackup of 16 layers makes 24 of them; the command that looks for one is named."""
    one = next(one for one in scorecard(fitness(), {}) if one.profile == "training-b200")

    assert one.next_step == f"a new stackup: stackwright suggest {fitness().board.path} --profile training-b200"


# --- a report in full ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_report_in_full_shows_stackups_that_fix_the_board_next_to_its_own() -> None:
    """S1141 between two grounds has a low Tg: the least change is that row, and the check is content then."""
    found = full_of(LOW_TG).stackups

    assert found is not None
    now, least, *new = found.choices
    assert now.pick is None
    assert now.says == ("failed: Tg >= 150 C (inference)", "not met: Tg >= 170 C, preferred (inference)")
    assert [one.row.name for one in now.slots if one.mark == "fails" and one.row] == ["dielectric 8"]
    assert least.pick == 1
    assert least.says == ("dielectric 8 to 370HR",)
    assert [one.row.name for one in least.slots if one.mark and one.row] == ["dielectric 8"]
    assert least.checked is not None
    assert least.checked.failed == ()
    assert [one.pick for one in new] == [2, 3]
    assert all(one.lines and not one.moved for one in new)
    assert found.answers == 3


@pytest.mark.slow
def test_the_declared_workload_is_fit_after_the_least_change() -> None:
    """The scorecard says so, and with what."""
    one = next(one for one in full_of(LOW_TG).rows if one.is_declared)

    assert (one.profile, one.headline, one.then) == ("inference-pcie", "not fit", "fit")
    assert one.next_step.startswith("dielectric 8 to 370HR (cost ")


@pytest.mark.slow
def test_the_page_of_a_report_in_full_is_sound() -> None:
    """Columns, scorecard and links to both; the numbers for --pick stand with the answers."""
    page = sound(full_html(LOW_TG, full_of(LOW_TG)))

    assert {"#b1-choices", "#b1-workloads"} <= {one["href"] for one in page.all("a")}
    for words in (
        "As it is \u2717 1 failed, 1 not met, 15 of 17 met",
        "Least change --pick 1 \u2713 17 of 17 met",
        "New stackup 1 --pick 2",
        "failed: Tg >= 150 C (inference)",
        "next: dielectric 8 to 370HR",
        "\u2713 then fit",
    ):
        assert words in page.text


@pytest.mark.slow
def test_what_a_report_in_full_holds_comes_back_from_a_process_of_its_own() -> None:
    """Several boards are checked at a time, each in a process: what it finds has to travel."""
    full = full_of(LOW_TG)

    assert pickle.loads(pickle.dumps(full)) == full  # noqa: S301 - our own bytes


@pytest.mark.slow
def test_ohms_before_and_after_a_change_are_those_of_both_stackups() -> None:
    """A change that moves lines has them in a table, and a far one is pointed out as text."""
    found = full_of(LOW_TG).stackups
    assert found is not None
    effect = diff_of(FIT, LOSSY).lines[0]
    far = effect.model_copy(
        update={"before": LineState(impedance_ohm=85.0), "after": LineState(impedance_ohm=100.0, yield_pct=1.0)}
    )
    now, least, *_ = found.choices
    full = Full((), replace(found, choices=(now, replace(least, moved=(far,), solved=4))))

    page = sound(full_html(LOW_TG, full))

    assert "85.0 100.0 +15.0 +17.6 % far off" in page.text
    assert "3 geometries of the board's targets: unchanged." in page.text


@pytest.mark.slow
def test_a_board_that_no_stackup_fixes_is_not_searched_for() -> None:
    """Said, not left out; the scorecard stands."""
    full = full_of("inference_pcie_gen5_fit")

    assert full.stackups is None
    page = sound(full_html("inference_pcie_gen5_fit", full))
    assert "No requirement fails that another stackup would meet." in page.text
    assert "inference-workstation" in page.text


def test_without_a_workload_no_stackup_can_be_judged(tmp_path: Path) -> None:
    """What to do about it is said."""
    settings = tmp_path / "stackwright.toml"
    settings.write_text("", encoding="utf-8")
    bare = check_up(board_file("no_stackup"), config=find_config(board_file("no_stackup"), settings))

    full = in_full(board_file("no_stackup"), bare, find_config(board_file("no_stackup"), settings), Overrides())

    assert full.stackups is None
    assert "--profile" in full.why_none
    assert not any(one.is_declared for one in full.rows)


@pytest.mark.slow
def test_an_unknown_stackup_is_no_base_for_a_change_but_new_ones_are_found() -> None:
    """A file without a stackup declares nothing: the page tells what to state, and shows what might be built."""
    full = full_of("no_stackup")

    assert full.stackups is not None
    assert any("cannot be worked out" in one for one in full.stackups.remarks)
    assert full.stackups.choices[0].title == "As it is"
    assert all(one.title.startswith("New stackup") for one in full.stackups.choices[1:])
    page = sound(full_html("no_stackup", full))
    assert "Board Setup > Physical Stackup" in page.text


def test_a_full_text_has_all_of_the_check_and_searches_no_stackups(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search takes as long as the check again; only a page shows what it finds."""
    monkeypatch.setattr("stackwright.commands.check.full.in_full", None)  # would not survive a call
    assert run(["check", str(BOARDS / "no_stackup"), "--full"]) in (0, 1)
    assert "\nRequirements of " in capsys.readouterr().out


# --- stackups to choose from -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_suggestions_without_a_board_stand_side_by_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`suggest --html` begins with answers: there is nothing that stands."""
    target = tmp_path / "stackups.html"

    assert run(["suggest", "--profile", "edge", "--interface", "pcie3", "--html", "--output", str(target)]) == 0

    page = sound(target.read_text(encoding="utf-8"))
    assert "New stackup 1 --pick 1" in page.text
    assert "As it is" not in page.text
    assert "Goals and where they come from" in page.text
    files = [a for a in page.all("a") if "download" in a]
    assert files[0]["download"] == "stackup-pick-1.kicad_dru"
    rules = parse_design_rules(base64.b64decode(files[0]["href"].removeprefix(RULES)).decode())
    assert rules.fault is None
    assert rules.rules
    assert f"suggestions written to {target}" in capsys.readouterr().out


def test_counts_are_said_without_what_there_is_none_of() -> None:
    """A column has little room."""
    assert Count(("a",), (), 18).in_short == "1 failed, 18 of 19 met"
    assert Count((), (), 0).in_short == "nothing judged"
    only_warned = Count(("b",), (), 18, not_met=frozenset({"b"}))
    assert (only_warned.in_short, only_warned.worst) == ("1 not met, 18 of 19 met", "not met")


def test_what_is_below_an_error_is_not_met_as_check_says() -> None:
    one = Count(("a", "b", "c"), (), 18, not_met=frozenset({"b"}), remarks=frozenset({"c"}))
    assert one.describe == "1 failed, 1 not met, 1 with a remark, 18 of 21 met"
    assert [one.misses(clause) for clause in "abc"] == ["failed", "not met", "remark"]
    assert Count(("a",), (), 18).describe == "1 failed, 18 of 19 met"
    lines = Count(("a", "routed"), (), 18, lines="failed")
    assert (lines.describe, lines.worst) == ("routed lines failed, 1 failed, 18 of 19 met", "failed")
    warned = Count(("routed",), (), 18, not_met=frozenset({"routed"}), lines="not met")
    assert (warned.in_short, warned.worst) == ("routed lines not met, 18 of 18 met", "not met")


def test_goals_that_fight_are_said_on_the_page(tmp_path: Path) -> None:
    """No stackup, exit code 1, and what would help."""
    target = tmp_path / "none.html"
    words = ["suggest", "--profile", "edge", "--interface", "pcie3", "--thickness-mm", "0.3", "--layers", "12"]

    assert run([*words, "--html", "--output", str(target)]) == 1

    page = sound(target.read_text(encoding="utf-8"))
    assert "none found" in page.text
    assert "No new stackup meets all goals" in page.text


@pytest.mark.slow
def test_a_line_effect_is_off_its_target_by_what_it_has_after() -> None:
    """83.9 ohm against 85: 1.3 % low."""
    one: LineEffect = next(one for one in diff_of(FIT, LOSSY).lines if one.layer == "In4.Cu")

    off = deltas.off_pct(one)

    assert off is not None
    assert off == pytest.approx(-1.3, abs=0.05)
