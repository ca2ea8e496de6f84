"""The HTML report in a real browser: it draws, in light and dark and on paper, and its console stays silent."""

from __future__ import annotations

import struct
import zlib
from html import escape
from pathlib import Path

import pytest

from drc_rules.engine.check import check_board
from drc_rules.report.model import Report
from stackwright.drawing.svg import svg
from stackwright.reporters.html import render
from stackwright.results.checked import Checked
from tests.browser.chromium import Chromium, chromium_path
from tests.support.reports.hostile_texts import HOSTILE, hostile_report

pytestmark = pytest.mark.browser
ROOT = Path(__file__).parents[2]
BOARD = ROOT / "fixtures" / "boards" / "training_b200_lossy_prepreg" / "training_b200_lossy_prepreg.kicad_pcb"
DRAWS_SOMETHING_BYTES = 40_000


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Chromium:
    """A browser with a profile folder of its own."""
    return Chromium(chromium_path() or "", tmp_path_factory.mktemp("chromium"))


@pytest.fixture(scope="module")
def lossy() -> Report:
    """The report of the board with one wrong prepreg."""
    return check_board(BOARD)


def page(folder: Path, report: Report) -> Path:
    """Write a report's page."""
    target = folder / "report.html"
    target.write_text(render([Checked(report, None, "")]), encoding="utf-8")
    return target


def first_pixel(picture: Path) -> tuple[int, ...]:
    """Return the colour at the top left of a PNG: whatever the filter of its first row, it stands there as it is."""
    data = picture.read_bytes()
    parts, at = b"", 8
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        if data[at + 4 : at + 8] == b"IDAT":
            parts += data[at + 8 : at + 8 + length]
        at += 12 + length
    return tuple(zlib.decompress(parts)[1:4])


def test_the_console_is_heard(browser: Chromium, tmp_path: Path) -> None:
    """The silence of the other tests means something: a page that complains is noticed."""
    target = tmp_path / "loud.html"
    target.write_text("<script>console.error('no'); undefined.no</script>", encoding="utf-8")

    _, console = browser.open(target, "--dump-dom")

    assert len(console) >= 2


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_report_draws_in_light_and_dark(browser: Chromium, tmp_path: Path, lossy: Report, dark: bool) -> None:
    """A picture with something on it, on paper of the wanted shade, and nothing on the console."""
    picture = tmp_path / "report.png"

    options = (f"--screenshot={picture}", "--window-size=1100,1600")
    _, console = browser.open(page(tmp_path, lossy), *options, dark=dark)

    assert console == []
    assert picture.stat().st_size > DRAWS_SOMETHING_BYTES
    assert max(first_pixel(picture)) < 60 if dark else min(first_pixel(picture)) > 200


def test_the_browser_reads_the_page_as_it_was_written(browser: Chromium, tmp_path: Path, lossy: Report) -> None:
    """Headline, drawing and the last clause arrive in the document; nothing was fixed on the way."""
    dom, console = browser.open(page(tmp_path, lossy), "--dump-dom")

    assert console == []
    assert dom.count("<svg") == 2  # the cross-section and the loss budget
    assert dom.count("<article") == dom.count("</article>") == 1
    assert escape(lossy.headline_why, quote=False) in dom
    assert lossy.verdicts[-1].clause.title in dom
    assert dom.rstrip().endswith("</html>")


def test_the_report_prints(browser: Chromium, tmp_path: Path, lossy: Report) -> None:
    """A PDF of four pages at most, for the file of a design review."""
    target = tmp_path / "report.pdf"

    _, console = browser.open(page(tmp_path, lossy), f"--print-to-pdf={target}")

    assert console == []
    assert target.read_bytes().startswith(b"%PDF")
    assert 2 <= target.read_bytes().count(b"/Type /Page\n") <= 4  # what is folded is printed only where it is open


@pytest.mark.parametrize("text", HOSTILE[:5:2])
def test_hostile_names_do_nothing_in_a_browser(browser: Chromium, tmp_path: Path, text: str) -> None:
    """No script runs, nothing is loaded, no style is hidden in a name."""
    dom, console = browser.open(page(tmp_path, hostile_report(text)), "--dump-dom")

    assert console == []
    assert dom.count("<script") == 1
    assert "<img" not in dom
    assert dom.count("<style") == 1


def test_a_drawing_of_its_own_opens(browser: Chromium, tmp_path: Path, lossy: Report) -> None:
    """The SVG file brings its own style and paper."""
    assert lossy.stackup is not None
    target, picture = tmp_path / "stackup.svg", tmp_path / "stackup.png"
    target.write_text(svg(lossy.stackup, to_scale=True), encoding="utf-8")

    _, console = browser.open(target, f"--screenshot={picture}", "--window-size=980,900")

    assert console == []
    assert picture.stat().st_size > DRAWS_SOMETHING_BYTES
