"""Pages that compare, in a real browser: they draw in light and dark, no console complains, and a keyboard will do."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.engine.check import find_config
from drc_rules.facts.declared import Overrides
from stackwright.commands.check.full import in_full
from stackwright.commands.diff.html import html_of
from stackwright.reporters.html import render
from stackwright.results.checked import Checked
from tests.browser.chromium import Chromium, chromium_path
from tests.browser.driven import driven
from tests.support.boards import board_file
from tests.support.reports.changes import FIT, LOSSY, LOW_TG, checked, diff_of

pytestmark = pytest.mark.browser
DRAWS_SOMETHING_BYTES = 40_000
OUTSIDE = """[...document.querySelectorAll('main *')].filter((one) => !one.closest('svg')
  && one.closest('.scroll, nav') === null
  && one.getBoundingClientRect().right > document.body.getBoundingClientRect().right)
  .map((one) => one.tagName + ' ' + one.textContent.slice(0, 40))"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The page of a diff, and a report in full."""
    folder = tmp_path_factory.mktemp("pages")
    diff = html_of(diff_of(FIT, LOSSY), checked(FIT), checked(LOSSY))
    full = in_full(board_file(LOW_TG), checked(LOW_TG), find_config(board_file(LOW_TG), None), Overrides())
    report = render([Checked(checked(LOW_TG).report, None, "", full=full)])
    made = {}
    for name, html in (("diff", diff), ("full", report)):
        made[name] = folder / f"{name}.html"
        made[name].write_text(html, encoding="utf-8")
    return made


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", ["diff", "full"])
def test_a_page_that_compares_draws_in_silence(pages: dict[str, Path], tmp_path: Path, name: str, dark: bool) -> None:
    """A picture with something on it, and nothing on the console."""
    browser = Chromium(chromium_path() or "", tmp_path / "chromium")
    picture = tmp_path / "page.png"

    _, console = browser.open(pages[name], f"--screenshot={picture}", "--window-size=1200,2000", dark=dark)

    assert console == []
    assert picture.stat().st_size > DRAWS_SOMETHING_BYTES


def test_columns_are_reached_by_keyboard_and_stay_inside_a_narrow_page(pages: dict[str, Path], tmp_path: Path) -> None:
    """The columns scroll in a place of their own that takes the focus; both cross-sections have one height."""
    with driven(tmp_path / "chromium") as tab:
        for name, page in pages.items():
            tab.open(page.as_uri())
            tab.wait_for(f"location.pathname.endsWith('{name}.html') && document.readyState === 'complete'")
            tab.narrow(420)
            assert tab.ask(OUTSIDE) == []
        tab.narrow(900)
        tab.ask("document.querySelector('[aria-label=\"Stackups side by side\"]').focus()")
        assert tab.ask("document.activeElement.scrollWidth > document.activeElement.clientWidth")
        assert tab.console == []
        tab.open(pages["diff"].as_uri())
        tab.wait_for("location.pathname.endsWith('diff.html') && document.readyState === 'complete'")
        heights = (
            "[...document.querySelectorAll('.pair svg')].map((one) => Math.round(one.getBoundingClientRect().height))"
        )
        before, after = tab.ask(heights)
        assert before == after
        assert tab.console == []


def test_stackups_stand_below_each_other_on_a_telephone(pages: dict[str, Path], tmp_path: Path) -> None:
    """None is out of sight, and no box is higher than what it holds."""
    empty = (
        "[...document.querySelectorAll('.choice')].map((one) =>"
        " Math.round(one.getBoundingClientRect().bottom - one.lastElementChild.getBoundingClientRect().bottom))"
    )
    with driven(tmp_path / "chromium") as tab:
        tab.narrow(400)
        tab.open(pages["full"].as_uri())
        tab.wait_for("location.pathname.endsWith('full.html') && document.readyState === 'complete'")

        assert tab.ask("document.querySelectorAll('.choice').length") > 1
        assert max(tab.ask(empty)) < 20
        assert not tab.ask(
            "[...document.querySelectorAll('.choices')].some((one) => one.scrollWidth > one.clientWidth)"
        )

        tab.print()  # a drawing stays on the sheet of its stackup's name
        assert tab.ask("getComputedStyle(document.querySelector('.choice')).breakInside") == "avoid"


@pytest.mark.parametrize("width_px", [400, 800, 1366])
def test_a_link_shows_the_head_of_what_it_leads_to(pages: dict[str, Path], tmp_path: Path, width_px: int) -> None:
    """Also where the links of the navigation take several lines, which stay in view above the text."""
    hidden = (
        "[...document.querySelectorAll('nav a, .reasons a')].slice(1).filter((link) => {"
        " link.click();"
        " const head = document.querySelector(link.getAttribute('href')).getBoundingClientRect();"
        " return head.top < document.querySelector('nav').getBoundingClientRect().bottom;"
        "}).map((link) => link.textContent)"
    )
    with driven(tmp_path / "chromium") as tab:
        tab.narrow(width_px)
        tab.open(pages["full"].as_uri())
        tab.wait_for("location.pathname.endsWith('full.html') && document.readyState === 'complete'")
        tab.wait_for("new Promise((then) => requestAnimationFrame(() => requestAnimationFrame(() => then(true))))")

        assert tab.ask(hidden) == []
