"""`stackwright validate`: anybody's numbers are compared, bad files are refused in one line, nothing passes unseen."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from stackup_lib.core.errors import StackwrightError
from stackup_lib.field_solver.sections import GeometryError
from stackup_lib.validation.case_files import CaseFileError, read_cases
from stackup_lib.validation.cases import section_of_case
from stackup_lib.validation.compare import summarize, validate
from stackwright.cli.app import run

FIXTURES = Path(__file__).parents[2] / "fixtures"
COLUMNS = ("id", "geometry", "parameters", "quantity", "value_ohm", "uncertainty_pct")
SCHEMA = json.loads((FIXTURES / "schemas" / "validation-v1.json").read_text(encoding="utf-8"))

# stripline t=0: Z = eta0/(4 sqrt er) K(k)/K(k'), k = sech(pi w/2b), S. B. Cohn 1954
COHN = ("cohn", "stripline_sym_t0", '{"w": 0.1, "b": 0.4, "t": 0, "er": 4.2}', "Z0", "68.2725537653", "1e-9")


def table(path: Path, *rows: tuple[str, ...], columns: tuple[str, ...] = COLUMNS) -> Path:
    """Write a table of cases."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([columns, *rows])
    return path


def changed(**cells: str) -> tuple[str, ...]:
    """Return the good row with some cells changed."""
    return tuple(cells.get(column, value) for column, value in zip(COLUMNS, COHN, strict=True))


def test_a_good_table_agrees(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An exact stripline is met, and the table shows value, reference, difference, estimate and verdict."""
    code = run(["validate", str(table(tmp_path / "mine.csv", COHN))])
    out = capsys.readouterr().out
    assert code == 0
    assert "68.2726" in out
    assert "within" in out
    assert "agrees" in out


def test_a_wrong_reference_is_off(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A reference 1 % too low gives exit code 1 and its name; within a limit of 2 % it is allowed."""
    path = table(tmp_path / "mine.csv", COHN, changed(id="wrong", value_ohm="67.59"))
    assert run(["validate", str(path)]) == 1
    out = capsys.readouterr().out
    assert "does not agree" in out
    assert "largest difference 1.01 % (wrong)" in out
    assert run(["validate", str(path), "--limit-pct", "2"]) == 0


def test_json_follows_its_schema(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every kind of row is written as the published schema says, and the values are consistent."""
    path = table(
        tmp_path / "mine.csv",
        COHN,
        changed(id="wrong", value_ohm="60"),
        changed(id="none", uncertainty_pct=""),
        changed(id="coax", geometry="coax_round"),
        changed(id="flat", parameters='{"w": 0.1, "t": 0, "er": 4.2}'),
    )
    assert run(["validate", str(path), "--format", "json"]) == 1
    data = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator(SCHEMA).validate(data)
    verdicts = {row["id"]: row["verdict"] for row in data["rows"]}
    assert verdicts == {
        "cohn": "within",
        "wrong": "off",
        "none": "in limit",
        "coax": "skipped",
        "flat": "not solved",
    }
    for row in data["rows"]:
        if row["value"] is not None:
            assert row["difference_pct"] == pytest.approx((row["value"] / row["reference"] - 1) * 100)
            assert row["time_ms"] > 0
    assert data["summary"]["agrees"] is False


def test_output_goes_to_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--output writes the comparison and says where, and never over the cases themselves."""
    path = table(tmp_path / "mine.csv", COHN)
    assert run(["validate", str(path), "--output", str(tmp_path / "out.txt")]) == 0
    assert capsys.readouterr().out == f"comparison written to {tmp_path / 'out.txt'}\n"
    assert "agrees" in (tmp_path / "out.txt").read_text(encoding="utf-8")
    with pytest.raises(StackwrightError, match="is an input"):
        run(["validate", str(path), "--output", str(path)])


def test_what_is_skipped_is_named_with_its_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Round conductors, incomplete rows and unknown geometries are counted and named, not passed over."""
    columns = (*COLUMNS, "completeness", "missing_or_ambiguous")
    path = table(
        tmp_path / "mine.csv",
        (*COHN, "complete", ""),
        (*changed(id="half", parameters='{"w": 0.3, "material": "S1000-2"}'), "incomplete", "height and Dk"),
        (*changed(id="wire", geometry="two_wire"), "", ""),
        (*changed(id="odd one", geometry="waveguide"), "", ""),
        columns=columns,
    )
    assert run(["validate", str(path)]) == 0
    out = capsys.readouterr().out
    assert "3 skipped" in out
    assert "incomplete: height and Dk: half" in out
    assert "two_wire is no board line" in out
    assert 'unknown geometry "waveguide": odd one' in out
    assert "1 solved; 1 within" in out


def test_a_table_of_nothing_but_skipped_rows_is_no_success(tmp_path: Path) -> None:
    """Nothing solved is not agreement."""
    path = table(tmp_path / "mine.csv", changed(geometry="two_wire"))
    with pytest.raises(CaseFileError, match="all 1 rows are skipped"):
        run(["validate", str(path)])


def test_a_row_that_claims_completeness_and_cannot_be_solved_fails(tmp_path: Path) -> None:
    """A missing parameter, a misspelt one and a quantity that the line does not have are exit code 1 with a reason."""
    path = table(
        tmp_path / "mine.csv",
        COHN,
        changed(id="no b", parameters='{"w": 0.1, "t": 0, "er": 4.2}'),
        changed(id="typo", parameters='{"w": 0.1, "b": 0.4, "t": 0, "er": 4.2, "er_maks": 3}'),
        changed(id="pair", quantity="Zdiff"),
        changed(id="zdif", quantity="Zdif"),
        changed(id="zero", parameters='{"w": 0, "b": 0.4, "t": 0, "er": 4.2}'),
    )
    outcomes = {o.id: o for o in validate(read_cases(path), 0.1)}
    assert {o.id: o.verdict for o in outcomes.values() if o.id != "cohn"} == dict.fromkeys(
        ("no b", "typo", "pair", "zdif", "zero"), "not solved"
    )
    assert "h1" in outcomes["no b"].reason
    assert 'did you mean "er_mask"?' in outcomes["typo"].reason
    assert "z_diff_ohm asked of a single line" in outcomes["pair"].reason
    assert 'did you mean "Zdiff"?' in outcomes["zdif"].reason
    assert not summarize(list(outcomes.values()), 0.1).agrees


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ({"parameters": '{"w": 0.1, '}, "row 3, column parameters: is not JSON"),
        ({"parameters": "[1, 2]"}, "column parameters: is not a table of names and numbers"),
        ({"parameters": "[" * 100_000}, "column parameters: is not JSON"),
        ({"parameters": '{"w": NaN, "b": 0.4, "t": 0, "er": 4.2}'}, 'column parameters, w: "nan" is not a number'),
        ({"parameters": '{"w": -0.1, "b": 0.4, "t": 0, "er": 4.2}'}, "column parameters, w: -0.1 is below 0"),
        ({"parameters": '{"w": "wide", "b": 0.4}'}, 'column parameters, w: "wide" is not a number'),
        ({"parameters": '{"w": true, "b": 0.4}'}, 'column parameters, w: "True" is not a number'),
        ({"parameters": ""}, "column parameters: is not JSON"),
        ({"value_ohm": "fifty"}, 'column value_ohm: "fifty" is not a number'),
        ({"value_ohm": "nan"}, 'column value_ohm: "nan" is not a number'),
        ({"value_ohm": "0"}, "column value_ohm: 0 is not above 0"),
        ({"value_ohm": ""}, "column value_ohm: is empty"),
        ({"uncertainty_pct": "-1"}, "column uncertainty_pct: -1 is below 0"),
        ({"uncertainty_pct": "inf"}, "column uncertainty_pct"),
        ({"geometry": ""}, "column geometry: is empty"),
        ({"quantity": ""}, "column quantity: is empty"),
    ],
)
def test_a_broken_cell_skips_its_row_and_is_named(tmp_path: Path, cells: dict[str, str], words: str) -> None:
    """Which row, which column, what is wrong; the other rows are compared."""
    path = table(tmp_path / "mine.csv", COHN, changed(**cells), changed(id="behind it"))
    good, bad, behind = validate(read_cases(path), 0.1)
    assert (good.verdict, bad.verdict, behind.verdict) == ("within", "skipped", "within")
    assert words in bad.reason
    assert bad.reason.startswith("cannot be read: row 3, column ")
    assert bad.reference is None
    assert "\n" not in bad.reason
    assert summarize([good, bad, behind], 0.1).skipped == 1


@pytest.mark.parametrize("cells", ['id = "b"', 'values = "50"', "values = { Z0 = -1 }", "parameters_mm = 3"])
def test_a_broken_case_of_toml_skips_only_itself(tmp_path: Path, cells: str) -> None:
    """The same for this project's own form."""
    sizes = "parameters_mm = { w = 0.1, b = 0.4, t = 0, er = 4.2 }"
    good = f'id = "a"\ngeometry = "stripline"\n{sizes}\nvalues = {{ Z0 = 60 }}\n'
    key = cells.partition(" ")[0]
    broken = "".join(f"{line}\n" for line in good.splitlines() if not line.startswith(key)) + f"{cells}\n"
    broken = broken.replace("values = { Z0 = 60 }\n", "") if key == "id" else broken
    path = tmp_path / "c.toml"
    path.write_text(f"[[case]]\n{good}[[case]]\n{broken}[[case]]\n{good}", encoding="utf-8")
    first, second, third = read_cases(path)
    assert (first.skipped, third.skipped) == ("", "")
    assert second.skipped.startswith("cannot be read: case 2, column ")


def test_a_table_with_a_bad_cell_is_compared_and_says_what_it_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page names the row; JSON follows its schema, with no reference for it."""
    path = table(tmp_path / "mine.csv", COHN, changed(id="bad", value_ohm="fifty"))
    assert run(["validate", str(path)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert '1 x cannot be read: row 3, column value_ohm: "fifty" is not a number: bad' in said
    assert run(["validate", str(path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, SCHEMA)
    assert [row["reference"] for row in document["rows"]][1] is None


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.csv", b"", "is empty"),
        ("blank.csv", b"\n \n", "is empty"),
        ("only_header.csv", b"geometry,parameters,quantity,value_ohm\n", "has no rows"),
        ("columns.csv", b"a,b,c\n1,2,3\n", "its columns are a, b, c"),
        ("binary.csv", b"\xff\xfe\x00\x01", "is not UTF-8"),
        ("quotes.csv", b'geometry,parameters,quantity,value_ohm\nx,"{""w"": 1}"y,Z0,50\n', "malformed CSV"),
        ("broken.toml", b"[[case]\n", "malformed TOML"),
        ("none.toml", b"x = 1\n", "has no [[case]]"),
    ],
)
def test_a_file_that_is_no_file_of_cases_is_refused(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    """Empty, binary, broken or unrelated files give one line, never a traceback."""
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(CaseFileError) as caught:
        read_cases(path)
    assert words in str(caught.value)


def test_a_short_row_and_a_long_one(tmp_path: Path) -> None:
    """A row that ends before its value is skipped as empty; cells beyond the last column are ignored."""
    path = tmp_path / "rows.csv"
    path.write_text("geometry,parameters,quantity,value_ohm\nstripline,{},Z0\n", encoding="utf-8")
    assert [case.skipped for case in read_cases(path)] == ["cannot be read: row 2, column value_ohm: is empty"]
    path.write_text("geometry,parameters,quantity,value_ohm\nstripline,{},Z0,50,,more\n", encoding="utf-8")
    assert len(read_cases(path)) == 1


def test_the_command_itself_ends_with_one_line(tmp_path: Path) -> None:
    """As a process: a broken table is exit code 2, one line on the error stream, nothing on the other, no traceback."""
    path = table(tmp_path / "mine.csv", changed(parameters="{"))
    done = subprocess.run(
        [sys.executable, "-m", "stackwright", "validate", str(path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    """What cannot be opened says so."""
    for path in (tmp_path / "none.csv", tmp_path):
        with pytest.raises(CaseFileError):
            run(["validate", str(path)])


@pytest.mark.parametrize("limit", ["0", "-1"])
def test_a_limit_must_be_a_percentage(tmp_path: Path, limit: str) -> None:
    """A limit that nothing meets is refused."""
    with pytest.raises(StackwrightError, match="limit"):
        run(["validate", str(table(tmp_path / "mine.csv", COHN)), "--limit-pct", limit])


@pytest.mark.parametrize("limit", ["nan", "inf", "1e999", "ten", "0,1", "5%"])
def test_a_limit_must_be_a_finite_number(tmp_path: Path, limit: str, capsys: pytest.CaptureFixture[str]) -> None:
    """So must every number that is typed."""
    assert run(["validate", str(table(tmp_path / "mine.csv", COHN)), "--limit-pct", limit]) == 2
    is_number = limit in ("nan", "inf", "1e999")
    said = "is not a finite number" if is_number else "is no number; write it with a decimal point, without a unit"
    assert f"'--limit-pct': '{limit}' {said}" in capsys.readouterr().err


def test_a_byte_order_mark_and_spaces_in_the_header_do_not_matter(tmp_path: Path) -> None:
    """Spreadsheets write both."""
    path = tmp_path / "mine.csv"
    table(path, COHN)
    path.write_text("\ufeff" + path.read_text(encoding="utf-8").replace("geometry,", " geometry ,"), encoding="utf-8")
    assert [case.id for case in read_cases(path)] == ["cohn"]


@pytest.mark.slow
def test_our_exact_cases_hold_and_the_estimate_bounds_the_error() -> None:
    """All exact rows are within 0.1 %, half of them within 0.01 %, each within its uncertainty and our estimate."""
    outcomes = list(validate(read_cases(FIXTURES / "reference" / "exact_cases.toml"), 0.1))
    summary = summarize(outcomes, 0.1)
    assert summary.rows == summary.within == 196
    assert summary.largest_pct is not None
    assert summary.largest_pct < 0.1
    assert summary.median_pct is not None
    assert summary.median_pct < 0.01


def test_h2_with_and_without_copper_are_the_same_section() -> None:
    """Polar's H2 contains the trace, Sierra's does not."""
    common: dict[str, Any] = {"h1": 0.1, "er1": 4.2, "er2": 3.8, "w_base": 0.12, "w_top": 0.1, "t": 0.015}
    polar = section_of_case("OffsetStripline1B1A", common | {"h2_incl_copper": 0.215})
    sierra = section_of_case("offset_stripline", common | {"h2_excl_copper": 0.2})
    assert polar.layers[0] == sierra.layers[0]
    assert polar.height_mm == pytest.approx(sierra.height_mm) == pytest.approx(0.315)


def test_loss_tables_name_their_modes(tmp_path: Path) -> None:
    """A mode that does not exist is refused by its column."""
    columns = ("id", "geometry", "parameters", "mode", "R_total_over_Rs_per_mm")
    path = table(tmp_path / "l.csv", ("a", "stripline", COHN[2], "odd-even", "5"), columns=columns)
    (case,) = read_cases(path)
    assert case.skipped == 'cannot be read: row 2, column mode: "odd-even" is not a mode'


SKIN = (
    "id",
    "geometry",
    "parameters",
    "mode",
    "R_total_over_Rs_per_mm",
    "rel_difference",
    "Z_ohm",
    "dielectric_shares",
)
# converged boundary elements; R_total also by the exact derivative of 1/C0 as the walls recede
SLT = (
    "SLT-1",
    "stripline_rect",
    '{"w": 0.15, "h1": 0.1925, "t": 0.015, "h2": 0.1925, "er": 4.2}',
    "single",
    "5.3313824",
    "-3.2216156e-06",
    "51.833082",
    '{"q_all": 1.0}',
)


def test_a_table_of_skin_effect_figures_is_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Crowding, impedance and shares of a stripline are met; a crowding 1 % off is not."""
    path = table(tmp_path / "skin.csv", SLT, columns=SKIN)
    assert run(["validate", str(path)]) == 0
    assert "R_total" in capsys.readouterr().out
    outcomes = {o.quantity: o for o in validate(read_cases(path), 0.1)}
    assert set(outcomes) == {"R_total", "Z", "q_all"}
    assert outcomes["R_total"].verdict == "within"
    wrong = table(tmp_path / "wrong.csv", (*SLT[:4], "5.385", *SLT[5:]), columns=SKIN)
    assert run(["validate", str(wrong)]) == 1


def test_skin_effect_figures_that_a_line_does_not_have(tmp_path: Path) -> None:
    """An odd mode of a single line and a share of no dielectric are not solved, with the reason."""
    rows = (
        (*SLT[:3], "odd", *SLT[4:]),
        ("share", *SLT[1:7], '{"q_substrat": 0.5}'),
        ("thin", SLT[1], SLT[2].replace("0.015", "0"), *SLT[3:]),
    )
    found = [o for o in validate(read_cases(table(tmp_path / "s.csv", *rows, columns=SKIN)), 0.1) if o.value is None]
    assert {o.id for o in found} == {"SLT-1", "share", "thin"}
    assert any('did you mean "q_substrate"?' in o.reason for o in found)
    assert any("copper without thickness" in o.reason for o in found)


def test_our_skin_effect_cases_hold_within_our_estimate() -> None:
    """13 modes: crowding and impedance to 0.01 %, shares to 0.5 %, every error below our own estimate."""
    outcomes = list(validate(read_cases(FIXTURES / "reference" / "loss_cases.toml"), 0.5))
    assert len(outcomes) == 54
    assert summarize(outcomes, 0.5).agrees
    for o in outcomes:
        assert o.difference_pct is not None
        assert o.estimate_pct is not None
        assert abs(o.difference_pct) <= o.estimate_pct, (o.id, o.quantity)
        assert o.quantity.startswith("q_") or abs(o.difference_pct) < 0.01, (o.id, o.quantity)


def test_crowding_by_moving_walls_agrees() -> None:
    """What the file of solver losses holds, made by another method, is met within its printed digits' 0.5 %."""
    outcomes = list(validate(read_cases(FIXTURES / "reference" / "solver_loss_cases.toml"), 0.5))
    assert len(outcomes) == 25 * 4
    assert summarize(outcomes, 0.5).agrees


def test_a_parameter_by_an_unknown_name_is_no_section() -> None:
    """A misspelt mask is not left out silently."""
    with pytest.raises(GeometryError, match="unknown parameter"):
        section_of_case("microstrip", {"w": 0.1, "h": 0.1, "t": 0.02, "er": 4, "mask_on_lamin": 0.02})


def test_reference_files_name_no_row_twice() -> None:
    """Every value of every reference file is there once."""
    for name in ("exact_cases.toml", "published_cases.toml"):
        entries = tomllib.loads((FIXTURES / "reference" / name).read_text(encoding="utf-8"))["case"]
        keys = [(e["id"], e["geometry"], q) for e in entries for q in e["values"]]
        assert len(keys) == len(set(keys)), name
