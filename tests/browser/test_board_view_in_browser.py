"""The board view in a real browser: it draws, zooms, pans, switches layers; from finding to place and back."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.axe import violations
from tests.browser.chromium import Chromium, chromium_path
from tests.browser.driven import Tab, driven
from tests.support.in_process import run_here

pytestmark = pytest.mark.browser
ROOT = Path(__file__).parents[2]
CARD = "inference_pcie_gen5_caps_no_backdrill"
READY = "document.readyState === 'complete' && document.querySelector('.board-view[data-ready]') !== null"
LARGEST_BYTES = 2_000_000
INTERACTIVE_MS = 500


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a card, as a user makes it."""
    target = tmp_path_factory.mktemp("view") / "report.html"
    board = ROOT / "fixtures" / "boards" / CARD
    ran = run_here("check", board, "--format", "html", "--output", target, cwd=ROOT)
    assert ran.code in (0, 1), ran.err
    return target


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with driven(tmp_path_factory.mktemp("chromium")) as opened:
        yield opened


@pytest.fixture
def tab(browser: Tab, page: Path) -> Tab:
    """The page, freshly opened."""
    return opened(browser, page)


def opened(tab: Tab, page: Path, place: str = "") -> Tab:
    """Open a page at a place; `window.view` is what draws its first board."""
    tab.console.clear()
    tab.prefer("light")
    tab.open("about:blank")
    tab.open(page.as_uri() + place)
    tab.wait_for(READY)
    tab.ask("window.view = document.querySelector('.board-view').view; true")
    return tab


def state(tab: Tab) -> dict[str, Any]:
    """What is in view, and what is chosen."""
    tab.ask("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    found: dict[str, Any] = tab.ask(
        "({x: view.x, y: view.y, scale: view.scale, chosen: view.chosen && view.chosen.id, off: [...view.off]})"
    )
    return found


def inked(tab: Tab, colour: str) -> int:
    """How many pixels of the canvas are close to a colour of the style sheet."""
    tab.ask("new Promise((done) => setTimeout(done, 150))")
    count = """
    (() => {
      const probe = document.createElement('canvas').getContext('2d');
      probe.fillStyle = view.colour(COLOUR); probe.fillRect(0, 0, 1, 1);
      const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
      const all = view.paper.getImageData(0, 0, view.canvas.width, view.canvas.height).data;
      let found = 0;
      for (let k = 0; k < all.length; k += 4) {
        if (Math.abs(all[k] - r) + Math.abs(all[k + 1] - g) + Math.abs(all[k + 2] - b) < 90) found += 1;
      }
      return found;
    })()
    """
    return int(tab.ask(count.replace("COLOUR", json.dumps(colour))))


def test_the_canvas_takes_the_place_of_the_drawing(tab: Tab, tmp_path: Path) -> None:
    """With the script the controls are there and something is drawn; nothing is on the console."""
    assert tab.ask("document.querySelector('.board-map').checkVisibility()") is False
    assert tab.ask("document.querySelector('.view-layers').checkVisibility()") is True
    assert inked(tab, "--text") > 200
    assert tab.console == []
    keep = Path(os.environ.get("STACKWRIGHT_PICTURES") or tmp_path)
    tab.ask("view.stage.scrollIntoView({block: 'center'})")
    assert tab.picture(keep / "board-view.png").stat().st_size > 20_000


def test_without_scripts_the_drawing_is_read(page: Path, tmp_path: Path) -> None:
    """Outline, parts and numbers stand there, and each number leads to its place."""
    static = tmp_path / "static.html"
    text = page.read_text(encoding="utf-8")
    head, _, rest = text.partition("script-src '")
    static.write_text(head + "script-src 'none';" + rest.partition(";")[2], encoding="utf-8")
    dom, _ = Chromium(chromium_path() or "", tmp_path / "chromium").open(static, "--dump-dom")
    assert 'class="board-view has-places"' in dom
    assert dom.count('class="pin ') == dom.count('class="place-number"') > 0
    assert 'class="parts"' in dom
    assert dom.count(' hidden=""') >= 3


def test_keys_buttons_and_wheel_zoom_and_move(tab: Tab) -> None:
    """Plus, minus, arrows and 0 on the board; the same by buttons; the wheel keeps what is under the pointer."""
    whole = state(tab)
    tab.ask("view.stage.focus()")
    tab.press("+")
    nearer = state(tab)
    assert nearer["scale"] == pytest.approx(1.5 * whole["scale"])
    tab.press("ArrowRight")
    assert state(tab)["x"] > nearer["x"]
    tab.press("-")
    assert state(tab)["scale"] == pytest.approx(whole["scale"])
    tab.press("0")
    assert state(tab) == whole
    tab.click("[data-view=in]")
    assert state(tab)["scale"] == pytest.approx(1.5 * whole["scale"])
    tab.click("[data-view=all]")
    assert state(tab) == whole
    tab.ask("view.stage.focus()")
    under = "[view.x + 100 / view.scale, view.y + 80 / view.scale]"
    was = tab.ask(under)
    roll = "{deltaY: -200, clientX: box.left + 101, clientY: box.top + 81, bubbles: true, cancelable: true}"
    tab.ask("window.box = view.stage.getBoundingClientRect(); true")
    tab.ask(f"view.stage.dispatchEvent(new WheelEvent('wheel', {roll}))")
    assert state(tab)["scale"] > 1.3 * whole["scale"]
    assert tab.ask(under) == pytest.approx(was, abs=3)


def test_a_drag_moves_and_two_fingers_zoom(tab: Tab) -> None:
    """The board follows the pointer; fingers that move apart come nearer."""
    whole = state(tab)
    drag = """
    (() => {
      const box = view.stage.getBoundingClientRect();
      view.stage.setPointerCapture = () => {};
      for (const [type, id, x, y] of MOVES) {
        const at = {pointerId: id, clientX: box.left + x, clientY: box.top + y, bubbles: true};
        view.stage.dispatchEvent(new PointerEvent(type, at));
      }
    })()
    """
    moves: list[tuple[str, int, int, int]] = [("pointerdown", 1, 100, 100), ("pointermove", 1, 160, 100)]
    tab.ask(drag.replace("MOVES", json.dumps([*moves, ("pointerup", 1, 160, 100)])))
    moved = state(tab)
    assert (whole["x"] - moved["x"]) * whole["scale"] == pytest.approx(60)
    assert moved["scale"] == whole["scale"]
    moves = [("pointerdown", 1, 100, 100), ("pointerdown", 2, 200, 100), ("pointermove", 2, 300, 100)]
    tab.ask(drag.replace("MOVES", json.dumps([*moves, ("pointerup", 1, 100, 100), ("pointerup", 2, 300, 100)])))
    assert state(tab)["scale"] == pytest.approx(2 * moved["scale"])


def test_paper_shows_the_tracks_too(tab: Tab) -> None:
    """They are added to the drawing once, in the colours of their interfaces."""
    drawn = "document.querySelectorAll('.board-map .tracks path').length"
    assert tab.ask(drawn) == 0
    for _ in range(2):
        tab.ask("window.dispatchEvent(new Event('beforeprint'))")
        assert tab.ask(drawn) == tab.ask("document.querySelector('.board-view').view.scene.tracks.length") > 0
    first = tab.ask("document.querySelector('.board-map .tracks path:last-child').getAttribute('stroke')")
    assert first in tab.ask("Object.values(document.querySelector('.board-view').view.scene.colours)")
    box = "document.querySelector('.board-map .{}').getBBox()"
    inside = "(({0}, {1}) => {0}.x >= {1}.x && {0}.x + {0}.width <= {1}.x + {1}.width)({2}, {3})"
    assert tab.ask(inside.format("a", "b", box.format("tracks"), box.format("outline")))


def test_layers_are_switched(tab: Tab) -> None:
    """By a key on the box; without any layer no track of an interface is left."""
    tab.ask("view.style = null; view.box.style.setProperty('--probe', view.scene.colours[0])")
    tab.ask("view.drawPins = () => {}; view.draw()")  # numbers have colours of their own
    many = inked(tab, "--probe")
    tab.click("[data-layers=none]")
    assert many > 100
    assert inked(tab, "--probe") < many / 10
    tab.ask("document.querySelector('.view-layers input[value=layer-0]').focus()")
    tab.press(" ")
    assert "layer-0" not in state(tab)["off"]
    tab.click("[data-layers=all]")
    assert state(tab)["off"] == ["planes"]
    assert inked(tab, "--probe") == pytest.approx(many, rel=0.02)


def test_a_finding_leads_to_its_place_and_back(tab: Tab) -> None:
    """The link in the finding chooses its place and comes near; the link at the place leads to the finding."""
    whole = state(tab)
    link = tab.ask("document.querySelector('.finding .place a').getAttribute('href')")
    tab.click(".finding .place a")
    tab.wait_for("view.chosen !== null")
    near = state(tab)
    assert f"#{near['chosen']}" == link == tab.ask("location.hash")
    assert near["scale"] > whole["scale"]
    seen = "(() => { const b = view.stage.getBoundingClientRect(); return b.top < innerHeight && b.bottom > 0; })()"
    assert tab.ask(seen) is True
    back = f"#{near['chosen']} .place-objects a"
    target = tab.ask(f"document.querySelector({json.dumps(back)}).getAttribute('href')")
    tab.click(back)
    tab.wait_for(f"location.hash === {json.dumps(target)}")
    assert tab.ask(f"document.querySelector({json.dumps(target)}).classList.contains('finding')") is True


def test_a_link_of_the_delays_is_shown_on_the_board(tab: Tab) -> None:
    """A click on its name chooses it: its tracks are painted, the view comes near, and Escape ends that."""
    whole = state(tab)
    link = tab.ask("document.querySelector('.delays a').getAttribute('href')")
    tab.ask("document.querySelector('.delays a').click()")
    tab.wait_for("view.chosen !== null")
    near = state(tab)
    assert f"#{near['chosen']}" == link == tab.ask("location.hash")
    assert near["scale"] > whole["scale"]
    assert tab.ask("view.chosen.lines.length") > 0
    assert tab.console == []


def test_a_deep_link_opens_at_the_place_with_every_object(browser: Tab, page: Path) -> None:
    """As it is pasted into a mail; all vias of the finding are painted, not one dot."""
    tab = opened(browser, page)
    vias = "view.scene.places.map((p) => [(p.discs || []).reduce((n, d) => n + d[1].length / 2, 0), p.id])"
    most = f"{vias}.sort((a, b) => b[0] - a[0])[0]"
    many, place = tab.ask(most)
    assert many > 3
    tab = opened(browser, page, f"#{place}")
    assert state(tab)["chosen"] == place
    painted = """
    (() => {
      let found = 0;
      const on = view.canvas.width / view.width;
      const colour = view.severity(view.chosen.sev).matchAll(/[0-9a-f]{2}/gi);
      const [r, g, b] = [...colour].map((one) => parseInt(one[0], 16));
      for (const [size, list] of view.chosen.discs) for (const [x, y] of points(list)) {
        const [px, py] = view.pixel(x, y), d = view.paper.getImageData(px * on, py * on, 1, 1).data;
        if (Math.abs(d[0] - r) + Math.abs(d[1] - g) + Math.abs(d[2] - b) < 120) found += 1;
      }
      return found;
    })()
    """
    tab.ask("new Promise((done) => setTimeout(done, 200))")
    tab.ask("view.drawPins = () => {}; view.draw()")  # numbers stand on some
    assert tab.ask(painted) == many


def test_a_click_on_a_number_chooses_it_and_escape_ends_that(tab: Tab) -> None:
    """A number is where its finding is."""
    tab.ask("view.stage.scrollIntoView({block: 'center'})")
    click = """
    (() => {
      const box = view.stage.getBoundingClientRect(), pin = view.pins[0];
      view.stage.setPointerCapture = () => {};
      for (const type of ['pointerdown', 'pointerup']) {
        const at = {pointerId: 1, clientX: box.left + pin.x + 1, clientY: box.top + pin.y + 1, bubbles: true};
        view.stage.dispatchEvent(new PointerEvent(type, at));
      }
      return pin.place.id;
    })()
    """
    place = tab.ask(click)
    tab.wait_for("view.chosen !== null")
    assert state(tab)["chosen"] == place
    assert tab.ask(f"document.getElementById({json.dumps(place)}).classList.contains('here')") is True
    tab.ask("view.stage.focus()")
    tab.press("Escape")
    assert state(tab)["chosen"] is None


def test_a_part_is_found_by_its_reference(tab: Tab) -> None:
    """It comes near, with at least 10 mm in view; one that is not there is said."""
    whole = state(tab)
    reference = tab.ask("view.scene.parts[0][0]")
    tab.ask(f"view.find({json.dumps(reference.lower())})")
    near = state(tab)
    assert near["scale"] > whole["scale"]
    assert tab.ask("Math.min(view.width, view.height) / view.scale") >= 999
    assert reference in tab.ask("view.status.textContent")
    tab.ask("view.find('XX99')")
    assert tab.ask("view.status.textContent") == "There is no part XX99."


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_view_is_accessible(tab: Tab, scheme: str, axe: None) -> None:
    """axe-core finds nothing grave with a place chosen."""
    tab.prefer(scheme)
    tab.click(".view-places a")
    tab.wait_for("view.chosen !== null")
    assert [str(one) for one in violations(tab) if one.is_grave] == []


@pytest.mark.demo
def test_the_view_of_a_large_board_is_light_and_quick(browser: Tab, demo_boards: Path, tmp_path: Path) -> None:
    """Under 2 MB for 85 MB of board, drawn within half a second after the page has been read, every via of 3,235."""
    target = tmp_path / "large.html"
    board = max(demo_boards.glob("*/*.kicad_pcb"), key=lambda path: path.stat().st_size)
    ran = run_here("check", board, "--profile", "training", "--format", "html", "--output", target, cwd=ROOT)
    assert ran.code in (0, 1), ran.err
    assert target.stat().st_size < LARGEST_BYTES
    waits = []
    for _ in range(3):
        opened(browser, target)
        ready = float(browser.ask("document.querySelector('.board-view').dataset.ready"))
        waits.append(ready - browser.ask("performance.getEntriesByType('navigation')[0].domInteractive"))
    assert min(waits) < INTERACTIVE_MS
    counts = browser.ask("view.scene.places.map((p) => (p.discs || []).reduce((n, d) => n + d[1].length / 2, 0))")
    assert max(counts) == 3235
    assert browser.console == []
