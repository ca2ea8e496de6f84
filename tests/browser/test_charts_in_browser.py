"""The charts in a real browser: every label lies inside its drawing and clear of the others, and has ink enough."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from drc_rules.analysis.loss.loss_curve import LossCurve
from drc_rules.engine.check import check_up
from drc_rules.report.link_rows import Decibels
from stackwright.drawing.charts import Charts, charts_of
from stackwright.reporters.html import render
from stackwright.results.checked import Checked
from tests.browser.driven import Tab, driven
from tests.support.boards import board_file
from tests.support.reports.charted import link, straight_curve

pytestmark = pytest.mark.browser
NAMES = (
    "inference_pcie_gen5_fit",
    "training_b200_lossy_prepreg",
    "training_b200_no_backdrill",
    "edge_jetson_carrier_fit",
)
LEAST_CONTRAST = 4.5
"""WCAG 2.2, 1.4.3: of text smaller than 18 pt."""

LABELS = """[...document.querySelectorAll('svg.chart, svg.chart-key')].map(svg => {
    const of = svg.getBoundingClientRect();
    return {box: [of.left, of.top, of.right, of.bottom], texts: [...svg.querySelectorAll('text')].map(text => {
        const at = text.getBoundingClientRect();
        return {said: text.textContent, box: [at.left, at.top, at.right, at.bottom], ink: getComputedStyle(text).fill};
    })};
})"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with the charts of several boards, and with some in which everything lies close together."""
    found = [check_up(board_file(one)) for one in NAMES]
    boards = [Checked(up.report, None, "0", charts=charts_of(up)) for up in found]
    boards.append(Checked(found[0].report, None, "0", charts=Charts(losses=tuple(map(close, (3.0, 3.9, 4.2, 5.0))))))
    target = tmp_path_factory.mktemp("page") / "report.html"
    target.write_text(render(boards), "utf-8")
    return target


def close(share_db: float) -> LossCurve:
    """Return a curve of 4 dB at Nyquist with hardly any range, next to what the board may lose."""
    points = []
    for point in straight_curve().points:
        db = point.total_db.nominal or 0.0
        total = Decibels(low=0.99 * db, nominal=db, high=1.01 * db)
        points.append(point.model_copy(update={"total_db": total}))
    return straight_curve(row=link(length_mm=50.0, share_db=share_db, allowances=()), points=tuple(points))


@pytest.fixture(scope="module")
def tab(page: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    """The page, open."""
    with driven(tmp_path_factory.mktemp("chromium")) as opened:
        opened.open(page.as_uri())
        opened.wait_for("document.readyState === 'complete'")
        yield opened


def drawings(tab: Tab) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tab.ask(LABELS)
    assert len(found) >= 3 * len(NAMES) + 4
    return found


def overlap(a: list[float], b: list[float]) -> float:
    """Return by how many pixels two boxes overlap, the lesser of both directions."""
    return min(min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1]))


def test_no_label_is_cut_off(tab: Tab) -> None:
    """What a name or a value says is there to be read in full."""
    for drawing in drawings(tab):
        left, top, right, bottom = drawing["box"]
        for text in drawing["texts"]:
            box = text["box"]
            assert left - 1 <= box[0] < box[2] <= right + 1, text
            assert top - 1 <= box[1] < box[3] <= bottom + 1, text


def test_no_label_lies_on_another(tab: Tab) -> None:
    """Boxes of lines of text may touch by a pixel or two, letters may not."""
    for drawing in drawings(tab):
        for a, b in combinations(drawing["texts"], 2):
            assert overlap(a["box"], b["box"]) < 4, (a["said"], b["said"])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_labels_have_ink_enough_and_the_console_is_silent(tab: Tab, scheme: str) -> None:
    """Against the paper, which is also the rim around letters that stand on a drawing."""
    tab.prefer(scheme)
    paper = luminance(tab.ask("getComputedStyle(document.body).backgroundColor"))
    for drawing in drawings(tab):
        for text in drawing["texts"]:
            ink = luminance(text["ink"])
            contrast = (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05)
            assert contrast >= LEAST_CONTRAST, text
    assert tab.console == []


def luminance(rgb: str) -> float:
    """Return the relative luminance of `rgb(28, 36, 48)` (WCAG 2.2)."""
    red, green, blue = (int(part) / 255 for part in rgb.removeprefix("rgb(").removesuffix(")").split(","))
    parts = ((c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4) for c in (red, green, blue))
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))
