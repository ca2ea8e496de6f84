"""`stackwright pdn`: the impedance of rails, for people, spreadsheets, programs and pages."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import jsonschema
import pytest

from fixtures.miniboard import MiniBoard, write
from stackup_lib.core.errors import StackwrightError
from stackwright.cli.app import run
from tests.support.small_boards.decoupled import NET, RAIL, REGULATOR, capacitor, decoupled

SCHEMA = Path(__file__).parents[2] / "fixtures" / "schemas" / "pdn-v1.json"
TARGET = "ripple_pct = 5\nstep_a = 10\n"


def board(folder: Path, config: str = RAIL + REGULATOR + TARGET, **changes: object) -> str:
    return str(write(MiniBoard.model_validate(decoupled(config=config, **changes)), folder, "card"))


def test_the_page_of_a_declared_rail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Target with its source, decades, peaks with causes, what brings it below, what is assumed."""
    run(["pdn", board(tmp_path)])
    out = capsys.readouterr().out
    for words in (
        "4 mOhm, 5 % of 0.8 V over a step of 10 A, as declared",
        "2 x 10 uF 0402",
        "In2.Cu with In1.Cu",
        "1 kHz",
        "1 GHz",
        "made by",
        "inductance of regulator against capacitance of 10 uF 0402",
        "more 10 uF 0402",
        "assumed:",
    ):
        assert words in out, words


def test_a_net_without_declaration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By its name, with what to declare; the target of the command line is judged."""
    assert run(["pdn", board(tmp_path, config=""), "--rail", NET, "--load", "U1", "--target", "1000"]) == 0
    out = capsys.readouterr().out
    assert "1000 mOhm, as given" in out
    assert 'pdn.regulator_mohm = "?"' in out
    assert 'from = ["?"]  # where it is fed' in out
    assert 'current_a = "?"  # or tdp_w, all loads together' in out
    assert "0.8 V from the name of the net" in out


def test_a_line_of_the_block_that_stays_open_drops_that_line_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The table is there without it; a bandwidth alone says nothing of the inductance."""
    run(["pdn", board(tmp_path, config=RAIL + 'pdn.regulator_mohm = "?"\npdn.regulator_khz = 50\n' + TARGET)])
    out = capsys.readouterr().out
    assert "4 mOhm, 5 % of 0.8 V over a step of 10 A, as declared" in out
    assert 'pdn.regulator_mohm = "?"' in out


def test_verbose_lists_every_capacitor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Value, size, ESR, ESL, mounting and source."""
    run(["pdn", board(tmp_path), "-v"])
    out = capsys.readouterr().out
    for words in ("mounting nH", "C1", "C2", "band", "0.8 V of 6.3 V"):
        assert words in out


def test_json_follows_its_schema_to_the_letter(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No key beyond the schema's, and a rail without planes with the reason."""
    run(["pdn", board(tmp_path), "--rail", NET, "--rail", "/SW", "--format", "json"])
    data = json.loads(capsys.readouterr().out)
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    for definition in (schema, *schema["$defs"].values()):
        definition["additionalProperties"] = False
    jsonschema.Draft202012Validator(schema).validate(data)
    (rail,) = data["rails"]
    assert rail["points"][0]["hz"] == 1000.0
    assert rail["points"][-1]["hz"] == 1e9
    assert [one["net"] for one in data["unsolved"]] == ["/SW"]


def test_csv_has_a_line_per_frequency(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The target stands where it holds, the range around the nominal value."""
    run(["pdn", board(tmp_path), "--format", "csv"])
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) > 180
    assert {row["rail"] for row in rows} == {NET}
    assert (rows[0]["target mOhm"], rows[-1]["target mOhm"]) == ("4", "")
    for row in rows:
        low, nominal, high = (float(row[f"{name} mOhm"]) for name in ("lowest", "nominal", "highest"))
        assert low <= nominal <= high


def test_a_table_without_a_curve_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Next to the table, not in it; the page has it already."""
    asked = ["pdn", board(tmp_path), "--rail", "/SW"]
    assert run([*asked, "--format", "csv"]) == 1
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 1
    assert err.startswith("note: /SW: no impedance, as this is not known: ")
    assert run(asked) == 1
    assert "note:" not in capsys.readouterr().err


def test_the_drawing_is_whole(tmp_path: Path) -> None:
    """An SVG file of its own: title, description, curve, range and target."""
    file = tmp_path / "pdn.svg"
    run(["pdn", board(tmp_path), "--format", "svg", "--output", str(file)])
    root = ET.fromstring(file.read_text(encoding="utf-8"))  # noqa: S314 - our own file
    classes = [node.get("class") for node in root.iter()]
    assert {"total", "band", "limit", "axis"} <= set(classes)
    assert "target is 4 mOhm" in "".join(root.itertext())


def test_a_drawing_without_a_curve_says_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Still a whole SVG file, with exit code 1; several rails in one drawing are refused."""
    path = board(tmp_path)
    assert run(["pdn", path, "--rail", "/SW", "--format", "svg"]) == 1
    root = ET.fromstring(capsys.readouterr().out)  # noqa: S314 - our own output
    assert "planes of /SW" in "".join(root.itertext())
    with pytest.raises(StackwrightError, match="draws one rail"):
        run(["pdn", path, "--rail", NET, "--rail", "/SW", "--format", "svg"])


@pytest.mark.parametrize(
    ("rail", "says"),
    [("+0V9", "a net called +0V9"), ("/SW", "planes of /SW"), ("GND", "GND is the return")],
)
def test_one_clear_line_for_what_has_no_curve(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rail: str, says: str
) -> None:
    assert run(["pdn", board(tmp_path), "--rail", rail]) == 1
    out = capsys.readouterr().out
    assert "no impedance" in out
    assert says in out
    assert "Traceback" not in out


def test_no_rail_at_all_is_an_error_with_a_fix(tmp_path: Path) -> None:
    with pytest.raises(StackwrightError) as error:
        run(["pdn", board(tmp_path, config="")])
    assert f"--rail {NET}" in error.value.next_step


def test_capacitors_without_data_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parts = [*decoupled()["parts"], capacitor("C3", 34, 30, "bulk")]
    run(["pdn", board(tmp_path, parts=parts)])
    assert 'C3: its value "bulk" states no capacitance' in capsys.readouterr().out


def test_the_exit_code_is_1_only_for_a_sure_excess(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Below the best that the range allows, or above it."""
    path = board(tmp_path)
    assert run(["pdn", path, "--target", "1000"]) == 0
    assert "inside" in capsys.readouterr().out
    assert run(["pdn", path, "--target", "0.3"]) == 1
    assert "above, whatever the range" in capsys.readouterr().out


def test_the_page_of_a_check_has_the_chart(tmp_path: Path) -> None:
    """Declared rails with a curve are drawn, with their peaks; one without planes is named with what is missing."""
    more = '[[rail]]\nnet = "/SW"\nvoltage_v = 12\n'
    page = tmp_path / "page.html"
    run(["check", board(tmp_path, config=RAIL + REGULATOR + TARGET + more), "--format", "html", "--output", str(page)])
    text = page.read_text(encoding="utf-8")
    assert text.count('class="chart pdn"') == 1
    assert "Impedance over frequency" in text
    assert "Target 4 mOhm" in text
    assert "not computed over frequency, missing data: planes of /SW" in re.sub(r"</?bdi[^>]*>", "", text)
    assert "inductance of regulator against capacitance of 10 uF 0402" in text
