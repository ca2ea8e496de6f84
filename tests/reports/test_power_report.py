"""What a report tells of declared rails: text, page and JSON; and the table that `init` offers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest

from drc_rules.engine.check import check_board, prepare
from drc_rules.facts.declared import Overrides
from drc_rules.report.model import Report
from drc_rules.report.numbers import figure
from drc_rules.settings.config import Config, parse_config
from stackup_lib.kicad import read_board
from stackwright.commands.setup.settings_file import InitAnswers, compose
from stackwright.reporters import html, json_, text
from stackwright.results.checked import Checked
from stackwright.tables import power
from stackwright.text.page import terminal_console
from tests.support.mini import mini_file
from tests.support.reports.made_reports import SCHEMA, strict

CONFIG = """
[[rail]]
net = "+5V"
voltage_v = 5
current_a = 2
from = ["J1"]
to = ["U1"]
max_drop_mv = 100
ripple_pct = 2
step_a = 4
[[rail]]
net = "+3V3"
voltage_v = 3.3
current_a = 1
from = ["J1"]
"""
PADS = [{"number": "1", "net": "+5V", "size_mm": [1, 1], "shape": "rect"}]
BOARD = {
    "size_mm": [70, 30],
    "stackup": 'F.Cu 0.035\ncore 1.5 "370HR"\nB.Cu 0.035',
    "zones": [{"net": "+5V", "layer": "B.Cu", "rect_mm": [30, 5, 65, 25]}],
    "vias": [{"net": "+5V", "at_mm": [35, 10]}, {"net": "+5V", "at_mm": [58, 10]}],
    "tracks": [
        {"net": "+5V", "layer": "F.Cu", "path_mm": [[10, 10], [35, 10]], "width_mm": 1.0},
        {"net": "+5V", "layer": "F.Cu", "path_mm": [[58, 10], [60, 10]], "width_mm": 1.0},
        {"net": "+3V3", "layer": "F.Cu", "path_mm": [[10, 20], [20, 20]]},
    ],
    "parts": [
        {"reference": "J1", "at_mm": [10, 10], "pads": [*PADS, {"number": "2", "net": "+3V3", "at_mm": [0, 10]}]},
        {"reference": "U1", "at_mm": [60, 10], "pads": PADS},
    ],
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("rails")
    return check_board(mini_file(folder, {**BOARD, "config": CONFIG}))


def test_json_of_rails_meets_the_published_schema_and_holds_nothing_else(made: Report) -> None:
    """A rail that is solved and one that is not, at every level."""
    data = json.loads(json_.render([Checked(made, "stackwright.toml", "1" * 64)]))
    jsonschema.Draft202012Validator(strict(json.loads(SCHEMA.read_text()))).validate(data)
    good, bad = data["reports"][0]["rails"]

    assert good["limit_mv"] == pytest.approx(100)
    assert good["target_mohm"] == pytest.approx(25)
    assert good["drop_mv"]["low"] < good["drop_mv"]["nominal"] < good["drop_mv"]["high"]
    assert good["holes"] == 2
    assert good["hole_a"] == pytest.approx(2.0, rel=1e-6)
    assert good["loads"][0]["name"] == "U1"
    assert [layer["layer"] for layer in good["layers"]] == ["F.Cu", "B.Cu"]
    assert [layer["fill_mm2"] for layer in good["layers"]] == pytest.approx([0.0, 700.0], abs=1.0)
    assert bad["drop_mv"] is None
    assert bad["problem"] == "+3V3: what draws from it"


def test_text_and_page_tell_the_same_of_a_rail(made: Report) -> None:
    """The drop with its range, its share, the limit, the resistance, the target and where most is lost."""
    shown = text.page(made, verbose=True, clauses=True).text(terminal_console())
    page = re.sub(r"<[^>]+>", " ", html.render([Checked(made, None, "1" * 64)]))
    good, bad = made.rails

    for cell in (*power.short_cells(good), *power.short_cells(bad)[:3]):
        assert cell in shown
    for cell in (*power.cells(good), *power.more(good), *power.cells(bad)[:3]):
        assert cell in page
    assert "+3V3: what draws from it" in shown
    assert "Not solved, missing data:" in page
    assert power.target(good) == "25"
    assert power.limit(bad) == "none"


def test_a_target_that_nothing_proves_is_not_verifiable(made: Report) -> None:
    """+5V states ripple and step, and no impedance: its requirement is not met by that."""
    verdict = next(one for one in made.verdicts if one.clause.id == "board.pdn.target")

    assert verdict.verdict == "not verifiable"
    assert "impedance of +5V up to 100 MHz" in verdict.missing[0].fact


def test_a_report_without_rails_has_no_table_of_them(made: Report) -> None:
    """Nothing declared, nothing to say."""
    plain = made.model_copy(update={"rails": ()})

    assert "Rails" not in text.page(plain, verbose=True, clauses=True).text(terminal_console())
    assert 'id="b1-rails"' not in html.render([Checked(plain, None, "1" * 64)])


def test_init_offers_a_rail_of_the_largest_power_net(tmp_path: Path) -> None:
    """As a comment: with its marks taken away it is a table that still declares nothing, and filled in it is one."""
    path = mini_file(tmp_path, BOARD)
    written = compose(prepare(read_board(path), Config(), Overrides())[0], InitAnswers())
    lines = re.sub(r"^# ", "", written[written.index("# [[rail]]") :].split("\n\n")[0], flags=re.MULTILINE)
    filled = lines.replace('voltage_v = "?"', "voltage_v = 5").replace('current_a = "?"', "current_a = 2")
    filled = filled.replace('from = ["?"]', 'from = ["J1"]').replace('to = ["?"]', 'to = ["U1"]')

    assert parse_config(written).rail == ()
    assert "Largest: +5V" in written
    assert parse_config(filled).rail[0].net == "+5V"


def test_a_core_rail_of_a_thousand_amperes_is_written_out(tmp_path: Path) -> None:
    """1000 W at 0.8 V are 1250 A, in the table and in the finding, without powers of ten."""
    rail = '[[rail]]\nnet = "+5V"\nvoltage_v = 0.8\ntdp_w = 1000\nfrom = ["J1"]\nto = ["U1"]\nmax_drop_mv = 100\n'
    path = mini_file(tmp_path, {**BOARD, "config": rail})

    said = text.page(check_board(path), verbose=True, clauses=True).text()

    assert "+5V   1250 A" in said
    assert "at 1250 A" in " ".join(said.split())
    assert not re.search(r"\de\+\d", said)


@pytest.mark.parametrize(
    ("value", "digits", "written"),
    [
        (97.53, 3, "97.5"),
        (1250.4, 3, "1250"),
        (999.6, 3, "1000"),
        (136.0, 2, "136"),
        (0.000048, 2, "0.000048"),
        (0.5, 3, "0.5"),
        (0.0, 3, "0"),
    ],
)
def test_a_figure_has_no_power_of_ten(value: float, digits: int, written: str) -> None:
    """Digits before the point are never dropped, small values keep their zeros."""
    assert figure(value, digits) == written
