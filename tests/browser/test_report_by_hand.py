"""What a reader does with a report: choose findings, look at a layer, follow a link, print."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.engine.check import check_board
from stackwright.reporters.html import render
from stackwright.results.checked import Checked
from tests.browser.driven import Tab

pytestmark = pytest.mark.browser
ROOT = Path(__file__).parents[2]
BOARD = ROOT / "fixtures" / "boards" / "training_b200_lossy_prepreg" / "training_b200_lossy_prepreg.kicad_pcb"
SHOWN = "[...document.querySelectorAll('.finding')].filter((one) => one.checkVisibility()).length"
READY = "document.readyState === 'complete' && document.querySelectorAll('.row-hit.shown').length"
FOLDED_FROM = "document.querySelector('.fold').getBoundingClientRect().top + scrollY"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The report of a board with one wrong prepreg."""
    target = tmp_path_factory.mktemp("page") / "report.html"
    target.write_text(render([Checked(check_board(BOARD), None, "")]), encoding="utf-8")
    return target.as_uri()


def opened(tab: Tab, page: str) -> None:
    """Open the page anew."""
    tab.open("about:blank")
    tab.wait_for("location.href === 'about:blank'")
    tab.open(page)
    tab.wait_for(READY)


def test_chips_choose_findings_and_stay_in_the_address(tab: Tab, page: str) -> None:
    """Counts follow, a choice opens the fold of remarks, what is chosen is reported, and the address brings it back."""
    opened(tab, page)
    assert tab.ask(SHOWN) == 1
    tab.click("[data-token='severity-1']")
    assert tab.ask("document.querySelector('.chips-status').textContent") == "1 of 3 findings match"
    assert tab.ask("document.querySelector('.finding.info').checkVisibility()")
    tab.click("[data-token='severity-1']")
    assert tab.ask(SHOWN) == 2
    tab.click("[data-token='severity-0']")
    assert tab.ask(SHOWN) == 1
    assert tab.ask("document.querySelector('.chips-status').textContent") == "2 of 3 findings match"
    assert tab.ask("document.querySelector('[data-token=\"family-0\"] .many').textContent") == "0"

    opened(tab, page + tab.ask("location.hash"))

    assert tab.ask(SHOWN) == 1
    tab.click(".chips-clear")
    assert tab.ask(SHOWN) == 2
    assert tab.console == []


def test_a_layer_shows_its_facts_by_keyboard(tab: Tab, page: str) -> None:
    """The first layer with a finding is shown; arrows go on; the finding is linked by its title."""
    opened(tab, page)
    assert tab.ask("document.querySelector('.row-name').textContent") == "In4.Cu"
    assert "Df 0.0300 at 10 GHz exceeds" in tab.ask("document.querySelector('.row-facts a[href^=\"#f-\"]').textContent")
    tab.ask("document.querySelector('.row-hit.shown').focus()")
    tab.press("ArrowDown")
    assert tab.ask("document.querySelector('.row-name').textContent") == "dielectric 5"
    assert "confidence" in tab.ask("document.querySelector('.row-facts').textContent")
    assert tab.console == []


def test_facts_of_a_layer_cover_a_narrow_page_on_demand_only(tab: Tab, page: str) -> None:
    """A tap opens them, the button and Escape close them; the row keeps the focus."""
    facts = "document.querySelector('.row-facts').checkVisibility()"
    tab.narrow(390)
    opened(tab, page)
    assert not tab.ask(facts)
    tab.click(".row-hit.shown")
    assert tab.ask(facts)
    tab.ask("document.querySelector('.row-facts .close').click()")  # it moves while the page scrolls to it
    assert not tab.ask(facts)
    assert tab.ask("document.activeElement.classList.contains('row-hit')")
    tab.press("ArrowDown")
    assert tab.ask(facts)
    tab.press("Escape")
    assert not tab.ask(facts)
    tab.unstretch()
    assert tab.ask(facts)  # wide enough again for facts and drawing side by side
    assert tab.console == []


def test_a_link_opens_what_is_folded_and_the_navigation_marks_it(tab: Tab, page: str) -> None:
    """The table of losses is closed until opened."""
    opened(tab, page)
    assert not tab.ask("document.getElementById('b1-loss').checkVisibility()")
    tab.click("nav a[href='#b1-loss']")
    assert tab.ask("document.getElementById('b1-loss').checkVisibility()")
    tab.wait_for("document.querySelector('nav a[aria-current]').getAttribute('href') === '#b1-loss'")
    assert tab.ask("document.querySelector('nav').getBoundingClientRect().top") == 0


def test_everything_unfolded_takes_three_screens(tab: Tab, page: str) -> None:
    """At 1440 by 900."""
    tab._call("Emulation.setDeviceMetricsOverride", width=1440, height=900, deviceScaleFactor=1, mobile=False)
    opened(tab, page)

    assert tab.ask(FOLDED_FROM) <= 3 * 900
    tab.unstretch()
