"""The live page in a real browser, with a KiCad that is played: offer, command line, messages, the end."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from stackup_lib.kicad import read_board
from stackwright.kicad.choices import Choices
from stackwright.kicad.server import LiveServer
from stackwright.kicad.session import Session
from tests.browser.axe import violations
from tests.browser.driven import Tab, driven
from tests.support.cli.played import SMALL, Played, played
from tests.support.reports.pages import pictures

pytestmark = pytest.mark.browser
CARRIER = SMALL.parents[1] / "edge_jetson_carrier_fit/edge_jetson_carrier_fit.kicad_pcb"
DONE = "state && state.phase === 'idle' && state.run >= {run} && shownRun === state.run"


@pytest.fixture
def board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Played:
    """A small board with no settings next to it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "board" / SMALL.name
    path.parent.mkdir()
    path.write_bytes(SMALL.read_bytes())
    return Played(path, path.read_bytes(), settings=tmp_path)


@pytest.fixture
def server(board: Played) -> Iterator[LiveServer]:
    """A session that checks the board."""
    session = Session(board.path, played(board), Choices.of(board.path))
    with LiveServer(session) as made:
        made.start()
        session.check()
        yield made
        session.stop()
        made.shutdown()


@pytest.fixture
def tab(server: LiveServer, tmp_path: Path) -> Iterator[Tab]:
    """The page with its first report."""
    with driven(tmp_path / "chromium") as made:
        made.open(server.opening_url())
        made.wait_for("document.readyState === 'complete'")
        made.wait_for(DONE.format(run=1))
        yield made


def test_the_first_page_offers_a_workload_and_shows_what_ci_would_run(
    tab: Tab, board: Played, server: LiveServer, tmp_path: Path
) -> None:
    """Chosen, the board is checked against it; the settings can be written; reloading keeps the page."""
    tab.picture(pictures(tmp_path) / "offer.png")
    assert tab.ask("offer.hidden") is False
    assert tab.ask("document.querySelector('#command').textContent") == f"stackwright check {board.path}"

    tab.ask("profile.value = 'edge'")
    tab.click("#choose")
    tab.wait_for(DONE.format(run=2))
    assert tab.ask("document.querySelector('#command').textContent").endswith("--profile edge")
    tab.click("#offer-ci")
    tab.picture(pictures(tmp_path) / "offer-ci.png")
    assert "stackwright@COMMIT" in tab.ask("ci.textContent")
    tab.click("#write-settings")
    tab.wait_for("said.textContent.startsWith('Wrote') && said.textContent.endsWith('check again (r).')")
    assert (board.path.parent / "stackwright.toml").read_text() == 'profile = "edge"\n'

    tab.reload()
    tab.wait_for(DONE.format(run=2))
    assert tab.ask("offer.hidden") is True
    assert tab.console == []


def test_a_workload_that_the_settings_say_is_not_called_none(tab: Tab, board: Played) -> None:
    """The choice says what the board is judged against, so does the way to a change; the panel keeps off the edges."""
    assert tab.ask("$('profile').options[0].textContent") == "no workload"
    assert tab.ask("$('fix').hidden") is True
    board.path.with_name("stackwright.toml").write_text('profile = "edge"\n')
    tab.ask("document.activeElement.blur()")
    tab.press("r")
    tab.wait_for(DONE.format(run=2))

    assert tab.ask("$('profile').value") == ""
    assert tab.ask("$('profile').options[0].textContent") == "as the settings or the board say: edge"
    assert tab.ask("$('fix').hidden") is False
    tab.narrow(800)
    assert tab.ask("$('offer').getBoundingClientRect().left") >= 14


def test_a_chosen_workload_is_never_confused_with_the_stated_one(tab: Tab, board: Played, tmp_path: Path) -> None:
    """Page and report name both, also where the file was written later; one click leads back to what is stated."""
    tab.ask("profile.value = 'edge'")
    tab.click("#choose")
    tab.wait_for(DONE.format(run=2))
    assert "No settings say so" in tab.ask("chosen.innerText")
    board.path.with_name("stackwright.toml").write_text('profile = "inference-pcie"\n')
    tab.reload()
    tab.ask("again()")
    tab.wait_for(DONE.format(run=3))

    assert tab.ask("offer.hidden") is True
    assert "Checked for edge, chosen on this page. stackwright.toml says inference-pcie." in tab.ask("chosen.innerText")
    head = "document.querySelector('#report .headline .asked').textContent"
    assert tab.ask(head).startswith("for edge (chosen; stackwright.toml says inference-pcie)")
    tab.picture(pictures(tmp_path) / "chosen.png")

    assert tab.ask("unchoose.textContent") == "Check for inference-pcie"
    tab.click("#unchoose")
    tab.wait_for(DONE.format(run=4))
    assert tab.ask("chosen.hidden") is True
    assert tab.ask(head) == "for inference-pcie, form pcie-card"
    assert tab.ask("profile.value") == ""
    assert tab.console == []


def test_a_written_choice_is_no_choice_any_more(tab: Tab, board: Played) -> None:
    """What the file says later counts."""
    tab.ask("profile.value = 'edge'")
    tab.click("#choose")
    tab.wait_for(DONE.format(run=2))
    tab.click("#same")
    if tab.ask("offer.hidden"):
        tab.click("#same")
    tab.click("#write-settings")
    tab.wait_for("chosen.hidden")
    board.path.with_name("stackwright.toml").write_text('profile = "inference-pcie"\n')
    tab.ask("again()")
    tab.wait_for(DONE.format(run=3))

    assert tab.ask("state.judged") == "inference-pcie"


def test_a_command_does_not_make_a_small_screen_scroll_sideways(tab: Tab, tmp_path: Path) -> None:
    """It wraps in its box."""
    tab.narrow(400)
    tab.ask("$('offer').hidden = false")
    assert tab.ask("document.documentElement.scrollWidth <= innerWidth")
    tab.ask("$('fixing').hidden = $('fix-later').hidden = false")
    tab.ask("document.querySelector('#fix-later code').textContent = $('command').textContent.repeat(3)")
    tab.picture(pictures(tmp_path) / "small-commands.png")
    assert tab.ask("document.documentElement.scrollWidth <= innerWidth")


def test_a_letter_walks_also_after_a_click_on_a_button(tab: Tab) -> None:
    """A button that was clicked has the focus, and takes no letters itself."""
    tab.click("#same")
    assert tab.ask("document.activeElement.id") == "same"
    tab.press("j")
    tab.wait_for("here")


def test_a_refusal_stands_in_the_page(tab: Tab, board: Played) -> None:
    """What happened and what to do; the report stays, and the next click works."""
    path, board.path = board.path, board.path.with_name("other.kicad_pcb")
    tab.ask("document.activeElement.blur()")
    tab.press("j")
    tab.wait_for("said.className === 'bad'")
    assert "shows another board now (other.kicad_pcb)" in tab.ask("said.textContent")
    board.path = path
    tab.press("j")
    tab.wait_for("said.className !== 'bad' && !selecting")
    assert tab.ask("findings().length") > 0


def test_the_report_is_alive_below_the_bar(tab: Tab) -> None:
    """Its navigation stays below the bar, its stackup tells of a row, a click on a card chooses it."""
    tab.ask("scrollTo(0, document.body.scrollHeight / 2)")
    tab.wait_for("document.querySelector('#report nav').getBoundingClientRect().top >= $('bar').offsetHeight - 1")
    assert tab.ask("$('bar').getBoundingClientRect().top") == 0
    assert tab.ask("document.querySelector('#report .row-facts').hidden") is False

    tab.click("#report .finding .finding-title")
    tab.wait_for("here && !selecting")
    assert tab.ask("here === findings()[0].id && said.className !== 'bad'") is True


def test_the_end_of_the_session_is_said_once_and_the_report_stays(tab: Tab, server: LiveServer) -> None:
    """The page does not go on asking."""
    many = tab.ask("findings().length")
    server.shutdown()
    server.server_close()
    tab.wait_for("ended", 30)

    assert "press Stackwright's button in KiCad again" in tab.ask("said.textContent")
    assert tab.ask("findings().length") == many > 0
    assert tab.ask("[...document.querySelectorAll('#bar button')].every((one) => one.disabled)") is True
    assert tab.ask("[...document.querySelectorAll('#report .chip')].some((one) => one.disabled)") is False


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_live_page_is_accessible(tab: Tab, scheme: str, axe: None) -> None:
    """axe-core finds nothing grave in the page with its controls and its report."""
    tab.prefer(scheme)

    assert [str(one) for one in violations(tab) if one.is_grave] == []


def test_apply_waits_for_the_box_beside_it(tab: Tab) -> None:
    """Where what is built changes; where it does not, there is no box to tick."""
    shown = "(unsafe) => { $('fixing').hidden = false; $('fix-consent').hidden = !unsafe; allowApplying(); }"
    assert tab.ask("$('apply').disabled") is True
    tab.ask(f"({shown})(true)")
    assert tab.ask("$('apply').disabled") is True
    tab.click("#consent")
    assert tab.ask("$('apply').disabled") is False
    tab.click("#consent")
    assert tab.ask("$('apply').disabled") is True
    tab.ask(f"({shown})(false)")
    assert tab.ask("$('apply').disabled") is False


def test_the_lines_of_a_changed_file_are_folded_until_asked_for(tab: Tab) -> None:
    """The summary names the file; a click on it shows added and removed lines."""
    tab.ask("$('fixing').hidden = false")
    tab.ask("$('fix-files').replaceChildren(difference({name: 'a.kicad_pcb', diff: '-old\\n+new'}))")
    assert tab.ask("document.querySelector('#fix-files summary').textContent") == "Lines that change in a.kicad_pcb"
    assert tab.ask("document.querySelector('#fix-files details').open") is False

    tab.click("#fix-files summary")
    assert tab.ask("document.querySelector('#fix-files details').open") is True
    assert tab.ask("document.querySelector('#fix-files .added').textContent") == "+new\n"
    assert tab.ask("document.querySelector('#fix-files .removed').textContent") == "-old\n"


@pytest.fixture
def carrier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Tab, Played]]:
    """The page of a board with high-speed links, whose KiCad has all items of the file."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "board" / CARRIER.name
    shutil.copytree(CARRIER.parent, path.parent)
    text = path.read_bytes()
    board = Played(path, text, set(re.findall(r'\(uuid "([^"]+)"\)', text.decode())), settings=tmp_path)
    session = Session(path, played(board), Choices.of(path))
    with LiveServer(session) as made, driven(tmp_path / "chromium") as tab:
        made.start()
        session.check()
        tab.open(made.opening_url())
        tab.wait_for("document.readyState === 'complete'")
        tab.wait_for(DONE.format(run=1))
        yield tab, board
        session.stop()
        made.shutdown()


def test_a_row_of_the_delay_table_selects_its_tracks(carrier: tuple[Tab, Played], tmp_path: Path) -> None:
    """By click and by keyboard; then a finding again. One of them is marked at a time."""
    tab, board = carrier
    known = read_board(board.path)
    net_of = dict(zip(known.tracks.uuid.tolist(), known.tracks.net.tolist(), strict=True))
    net_of |= dict(zip(known.vias.uuid.tolist(), known.vias.net.tolist(), strict=True))
    marked = "[...document.querySelectorAll('#report .here')].map((one) => one.id)"

    def nets() -> set[str]:
        return {known.nets[net_of[uuid]] for uuid in board.selected}

    tab.ask("document.querySelector('#report .delays').closest('details').open = true")
    first, second = tab.ask("links().slice(0, 2).map((row) => row.querySelector('th').textContent)")
    tab.click("#report .delays tbody tr .late")
    tab.wait_for("here === links()[0].id && !selecting")
    tab.wait_for("said.textContent.includes('selected in KiCad')")
    assert nets() == {f"{first}_P", f"{first}_N"}
    assert tab.ask(marked) == tab.ask("[links()[0].id]")
    tab.picture(pictures(tmp_path) / "delay-row.png")

    tab.ask("links()[1].focus()")
    tab.press("Enter")
    tab.wait_for("here === links()[1].id && !selecting")
    assert nets() == {f"{second}_P", f"{second}_N"}
    assert tab.ask(marked) == tab.ask("[links()[1].id]")
    if tab.ask("findings().length"):
        tab.press("j")
        tab.wait_for("here === findings()[0].id && !selecting")
        assert tab.ask(marked) == tab.ask("[findings()[0].id]")
    assert tab.console == []


def test_rows_that_can_be_chosen_are_accessible(carrier: tuple[Tab, Played], axe: None) -> None:
    """axe-core finds nothing grave where rows of a table take the focus."""
    tab, _ = carrier
    tab.ask("document.querySelector('#report .delays').closest('details').open = true")
    assert tab.ask("links().length") > 0
    assert [str(one) for one in violations(tab) if one.is_grave] == []


def test_a_stackup_that_needs_no_change_is_told_as_plain_text(tab: Tab) -> None:
    """It is no error, and there is no change to look at."""
    tab.ask("void (post = async () => ({ unneeded: 'Nothing has to change.' }))")
    tab.ask("void showFix(1)")
    tab.wait_for("said.textContent === 'Nothing has to change.'")

    assert tab.ask("said.className") == ""
    assert tab.ask("fixing.hidden") is True
