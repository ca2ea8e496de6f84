"""The form of missing facts in a real browser: by keyboard alone, with its effect on the verdict, then the diff."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from fixtures.miniboard import build
from tests.browser.axe import violations
from tests.browser.driven import Tab, driven
from tests.support.cli.form_board import BOARD
from tests.support.reports.pages import pictures

pytestmark = pytest.mark.browser
ROOT = Path(__file__).parents[2]
READY = "typeof state !== 'undefined' && state && state.phase === 'idle' && state.run >= 1 && facts.asked.size > 0"
TRIED = "facts.tried && facts.timer === null && !facts.waits && state.phase === 'idle'"
MINE = '# by the lab\n[declared]\nfoil = "VLP"  # 3 May\n'


@pytest.fixture
def board(tmp_path: Path) -> Path:
    """A small board with made-up laminates, and settings that say little."""
    made = build(tomllib.loads(BOARD), tmp_path, "small")
    made.with_name("stackwright.toml").write_text(MINE)
    return made


@pytest.fixture
def serving(board: Path) -> Iterator[subprocess.Popen[str]]:
    """`stackwright init --serve` on it."""
    command = [sys.executable, "-m", "stackwright", "init", str(board), "--serve", "--no-browser"]
    path = os.pathsep.join((str(ROOT), str(ROOT / "plugin")))
    with subprocess.Popen(command, env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE, text=True) as made:
        yield made
        made.kill()


@pytest.fixture
def tab(serving: subprocess.Popen[str], tmp_path: Path) -> Iterator[Tab]:
    """The form with its first questions."""
    assert serving.stdout is not None
    url = serving.stdout.readline().removeprefix("open ").strip()
    assert serving.stdout.readline() == "it works once; End in the page or Ctrl-C here ends it\n"
    with driven(tmp_path / "chromium") as made:
        made.open(url)
        made.wait_for(f"document.readyState === 'complete' && {READY}")
        yield made


def reach(tab: Tab, name: str) -> None:
    """Go on with Tab until an input has the focus."""
    for _ in range(60):
        tab.press("Tab")
        if tab.ask(f"document.activeElement.name === '{name}' || document.activeElement.id === '{name}'"):
            return
    raise AssertionError(f"Tab does not lead to {name}")


def write(tab: Tab, text: str) -> None:
    """Type a text, key by key."""
    for letter in text:
        tab.press(letter)


def test_the_form_is_filled_by_keyboard_tried_shown_and_written(
    tab: Tab, serving: subprocess.Popen[str], board: Path, tmp_path: Path
) -> None:
    """A wrong answer says so at its input; nothing is written before the diff was shown and Write pressed."""
    target = board.with_name("stackwright.toml")
    assert tab.ask("$('facts').hidden || $('fix').checkVisibility() || $('draw').checkVisibility()") is False
    assert "no workload" in tab.ask("$('facts-effect').textContent")

    reach(tab, "profile")
    write(tab, "inference")
    tab.wait_for(f"{TRIED} && $('facts-effect').children.length > 2")
    assert "With these answers: not fit" in tab.ask("$('facts-effect').textContent")
    reach(tab, "tg_c")
    write(tab, "hot")
    tab.wait_for("document.activeElement.getAttribute('aria-invalid') === 'true'")
    described = "document.activeElement.getAttribute('aria-describedby').split(' ')"
    assert '"hot" is no number' in tab.ask(f"$({described}[0]).textContent")
    assert "not verifiable without it" in tab.ask(f"$({described}[1]).textContent")
    assert tab.ask("$('facts-diff').disabled") is True
    tab.ask("document.activeElement.select()")
    write(tab, "180")
    tab.wait_for(f"{TRIED} && !$('facts-diff').disabled")
    tab.ask(f"$('board').textContent = '{board.name}'")  # the guide shows this picture
    tab.picture(pictures(tmp_path) / "form.png")

    reach(tab, "facts-diff")
    tab.press("Enter")
    tab.wait_for("document.activeElement.id === 'facts-write' && !$('facts-write').disabled")
    assert '+profile = "inference"' in tab.ask("$('facts-file').textContent")
    assert target.read_text() == MINE
    tab.press("Enter")
    tab.wait_for("said.textContent.startsWith('Wrote') && state.run >= 2 && state.phase === 'idle'")
    tab.picture(pictures(tmp_path) / "form-written.png")
    text = target.read_text()
    assert text.startswith('profile = "inference"\n\n# by the lab\n[declared]\nfoil = "VLP"  # 3 May\n')
    assert tomllib.loads(text)["declared"]["tg_c"] == 180
    assert tab.ask("[...facts.asked.keys()].includes('declared.tg_c') || facts.asked.has('profile')") is False
    assert tab.console == []

    tab.click("#done")
    assert serving.stdout is not None
    assert serving.stdout.read().startswith(f"Wrote {target}")
    assert serving.wait(20) == 0


def test_a_reloaded_page_shows_what_was_typed(tab: Tab, tmp_path: Path) -> None:
    """The answers stand with their verdict, what is wrong says so, and the diff has all of them."""
    reach(tab, "profile")
    write(tab, "inference")
    tab.wait_for(f"{TRIED} && $('facts-effect').children.length > 2")

    tab.reload()
    tab.wait_for(f"{READY} && {TRIED}")

    assert tab.ask("document.querySelector('[name=profile]').value") == "inference"
    assert "With these answers: not fit" in tab.ask("$('facts-effect').textContent")
    assert tab.ask("$('facts-diff').disabled") is False
    tab.picture(pictures(tmp_path) / "form-reloaded.png")
    reach(tab, "tg_c")
    write(tab, "170")
    tab.wait_for(f"{TRIED} && !$('facts-diff').disabled")
    tab.click("#facts-diff")
    tab.wait_for("!$('facts-write').disabled")
    shown = tab.ask("$('facts-file').textContent")
    assert '+profile = "inference"' in shown and "+tg_c = 170" in shown


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_form_is_accessible(tab: Tab, scheme: str, axe: None, tmp_path: Path) -> None:
    """axe-core finds nothing grave, and on a telephone nothing is wider than the page."""
    tab.prefer(scheme)
    tab.ask("document.querySelectorAll('#facts details').forEach((one) => { one.open = true; })")
    assert [str(one) for one in violations(tab) if one.is_grave] == []

    tab.narrow(390)
    tab.picture(pictures(tmp_path) / f"form-390-{scheme}.png")
    widest = "Math.max(...[...document.querySelectorAll('#facts *')].map((one) => one.getBoundingClientRect().right))"
    assert tab.ask(widest) <= 390
