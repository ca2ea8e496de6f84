"""Every HTML page that we make is open to everybody: axe-core finds nothing grave, and a keyboard gets everywhere."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.browser.axe import violations
from tests.browser.driven import Tab
from tests.support.boards import BOARDS
from tests.support.in_process import run_here
from tests.support.in_process import run_process as run
from tests.support.remembered import equal_boards_checked_once

pytestmark = pytest.mark.browser
ROOT = Path(__file__).parents[2]
CONTRAST = Path(__file__).with_name("contrast.js")
SCHEMES = ("light", "dark")

READABLE = 4.5
"""Contrast of ordinary text: WCAG 2.2, success criterion 1.4.3."""

MOST_BYTES = 2_000_000
"""What a page of the largest demo board of KiCad may weigh: 85 MB of board."""

PAGES: dict[str, tuple[str, ...]] = {
    "fails": ("check", "training_b200_lossy_prepreg", "--format", "html"),
    "fits": ("check", "inference_pcie_gen5_fit", "--format", "html"),
    "unknown": ("check", "no_stackup", "--format", "html"),
    "many": ("check", "training_b200_ed_foil", "edge_jetson_carrier_fit", "default_stackup", "--format", "html"),
    "fit": ("fit", "inference_pcie_gen5_fit", "--html"),
    "diff": ("diff", "inference_pcie_gen5_caps_no_backdrill", "inference_pcie_gen5_caps_fit", "--html"),
}
"""Each page and the command that makes it; words with an underscore name boards."""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Every page, made once as a user makes it."""
    folder = tmp_path_factory.mktemp("pages")
    with equal_boards_checked_once():
        return {name: made(folder / f"{name}.html", arguments) for name, arguments in PAGES.items()}


def made(target: Path, arguments: tuple[str, ...]) -> Path:
    """Make a page."""
    boards = [BOARDS / word if (BOARDS / word).is_dir() else word for word in arguments]
    several = sum(isinstance(word, Path) for word in boards) > 2  # a process for each, out of one of their own
    ran = run(*boards, "--output", target) if several else run_here(*boards, "--output", target, cwd=ROOT)
    assert ran.code in (0, 1), ran.err
    return target


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_accessible(name: str, scheme: str, pages: dict[str, Path], tab: Tab, axe: None) -> None:
    """No violation that axe-core calls serious or critical, in either scheme; what is less is printed."""
    tab.prefer(scheme)
    tab.open(pages[name].as_uri())
    tab.wait_for("document.readyState === 'complete'")
    tab.ask("document.querySelectorAll('details').forEach((one) => { one.open = true; })")

    found = violations(tab, only_colours=scheme == "dark")

    for one in found:
        sys.stdout.write(f"{name}, {scheme}: {one}\n")
    assert [str(one) for one in found if one.is_grave] == []
    assert tab.console == []


@pytest.mark.parametrize("width_px", [1440, 1024, 390])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_never_scrolls_sideways(name: str, width_px: int, pages: dict[str, Path], tab: Tab) -> None:
    """Wide tables scroll in their own frame; with all that is folded open."""
    tab.narrow(width_px)
    tab.open(pages[name].as_uri())
    tab.wait_for("document.readyState === 'complete'")
    tab.ask("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert tab.ask("document.documentElement.scrollWidth") <= width_px
    tab.unstretch()


def test_the_checker_sees_what_is_wrong(tab: Tab, tmp_path: Path, axe: None) -> None:
    """Its silence means something: grey on grey, a picture without a word and a nameless button are grave."""
    target = tmp_path / "bad.html"
    target.write_text(
        "<!doctype html><html lang=en><title>t</title><main><h1>Board</h1><p style='color:#999;background:#888'>Loss"
        "</p><img src='data:,'><button></button><a href='#a'>further</a><ul><li>one</li></ul></main></html>",
        encoding="utf-8",
    )
    tab.open(target.as_uri())
    tab.wait_for("document.readyState === 'complete'")

    found = {one.id for one in violations(tab) if one.is_grave}

    assert {"color-contrast", "image-alt", "button-name"} <= found


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", ["fails", "diff"])
def test_words_in_drawings_stand_out(name: str, scheme: str, pages: dict[str, Path], tab: Tab) -> None:
    """4.5 to 1 against what is drawn beneath them, which axe-core leaves open for drawings."""
    tab.prefer(scheme)
    tab.open(pages[name].as_uri())
    tab.wait_for("document.readyState === 'complete'")
    tab.stretch()

    found = tab.ask(CONTRAST.read_text(encoding="utf-8"))

    tab.unstretch()
    assert len(found) > 50
    assert [one for one in found if one["ratio"] < READABLE] == []


STOPS = """
[...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]')]
  .filter((one) => one.tabIndex >= 0 && !one.disabled && one.checkVisibility({contentVisibilityAuto: true}))
  .filter((one) => one.type !== 'radio' || one.checked)
  .map((one) => one.tagName + ' ' + (one.getAttribute('href') || one.id || one.textContent).trim().slice(0, 60))
"""
"""What a keyboard has to reach: what is visible now, and of each group of choices the chosen one."""

DRAWN = "[...document.querySelectorAll('.board-view')].every((one) => one.dataset.ready)"
"""Board views unpack their data after the page is there; only then have they their buttons and boxes."""

HERE = """
(() => {
  const one = document.activeElement, style = getComputedStyle(one), box = one.getBoundingClientRect();
  return {
    name: one.tagName + ' ' + (one.getAttribute('href') || one.id || one.textContent).trim().slice(0, 60),
    marked: (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== 'none',
    seen: box.bottom > 0 && box.top < innerHeight && box.width > 0,
  };
})()
"""


@pytest.mark.parametrize("name", ["fails", "many", "fit", "diff"])
def test_a_keyboard_gets_everywhere(name: str, pages: dict[str, Path], tab: Tab) -> None:
    """Tab stops at every link and fold in the order of the page, each marked and in view; none is a trap."""
    tab.prefer("light")
    tab.open(pages[name].as_uri())
    tab.wait_for("document.readyState === 'complete'")
    tab.wait_for(DRAWN)
    stops = tab.ask(STOPS)

    walked = []
    for _ in stops:
        tab.press("Tab")
        walked.append(tab.ask(HERE))

    assert len(stops) > 3
    assert [one["name"] for one in walked] == stops
    assert [one["name"] for one in walked if not one["marked"]] == []
    assert [one["name"] for one in walked if not one["seen"]] == []


def test_enter_opens_what_is_folded(pages: dict[str, Path], tab: Tab) -> None:
    """A fold opens and closes by the keyboard alone."""
    tab.open(pages["fails"].as_uri())
    tab.wait_for("document.readyState === 'complete'")
    tab.ask("document.querySelector('summary').focus()")
    was = tab.ask("document.querySelector('details').open")

    tab.press("Enter")

    assert tab.ask("document.querySelector('details').open") is (not was)


@pytest.mark.demo
def test_the_page_of_a_large_board_is_light_and_open_to_all(
    demo_boards: Path, tab: Tab, axe: None, tmp_path: Path
) -> None:
    """Under 2 MB for 85 MB of board; nothing grave, nothing on the console, and a keyboard walks all of it."""
    target = tmp_path / "large.html"
    board = max(demo_boards.glob("*/*.kicad_pcb"), key=lambda path: path.stat().st_size)
    ran = run("check", board, "--profile", "training", "--format", "html", "--output", target)
    assert ran.code in (0, 1), ran.err

    tab.prefer("light")
    tab.open(target.as_uri())
    tab.wait_for("document.readyState === 'complete'")
    tab.wait_for(DRAWN)
    stops = tab.ask(STOPS)

    assert target.stat().st_size < MOST_BYTES
    assert [str(one) for one in violations(tab) if one.is_grave] == []
    for _ in stops:
        tab.press("Tab")
    assert tab.ask(HERE)["name"] == stops[-1]
    assert tab.console == []
