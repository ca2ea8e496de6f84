"""`stackwright impedance`: tables and single lines, for people and machines; what cannot be said says why."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import jsonschema
import pytest

from drc_rules.fab_exchange.pack.tables import impedance_table
from stackup_lib.core.errors import StackwrightError
from stackwright.cli.app import run
from stackwright.commands.inspect.impedance import ImpedanceDocument
from tests.support.mini import mini_context, mini_file
from tests.support.stackups import SHORT_USB, USB_PAIR

ROOT = Path(__file__).parents[2]
BOARDS, SCHEMAS = ROOT / "fixtures" / "boards", ROOT / "fixtures" / "schemas"
CARD = str(BOARDS / "inference_pcie_gen5_fit")


def spoken(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = run(["impedance", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def document(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    code, out, _ = spoken([*arguments, "--json"], capsys)
    assert code in (0, 1)
    read: dict[str, object] = json.loads(out)
    jsonschema.Draft202012Validator(json.loads((SCHEMAS / "impedance-v1.json").read_text(encoding="utf-8"))).validate(
        read
    )
    return read


def test_the_schema_is_the_one_of_the_program() -> None:
    """The committed schema is what the models say, so that neither changes alone."""
    committed = json.loads((SCHEMAS / "impedance-v1.json").read_text(encoding="utf-8"))

    made = ImpedanceDocument.model_json_schema(mode="serialization")

    assert committed == {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}


@pytest.mark.slow
def test_a_pair_keeps_the_gap_that_it_has_on_other_layers(capsys: pytest.CaptureFixture[str]) -> None:
    """USB 3 is routed on F.Cu alone, 0.15 mm apart: B.Cu, its mirror image, was given a gap of 0.196 mm."""
    found = document([str(BOARDS / "edge_jetson_carrier_fit")], capsys)["rows"]
    assert isinstance(found, list)
    pair = {row["layer"]: row for row in found if row["target"]["title"] == "USB 3.2 Gen1"}
    assert pair["F.Cu"]["routed"] and not pair["B.Cu"]["routed"]
    assert pair["B.Cu"]["gap_mm"] == pair["F.Cu"]["gap_mm"] == 0.15
    assert pair["B.Cu"]["width_mm"] == pytest.approx(pair["F.Cu"]["width_mm"], rel=1e-3)


@pytest.mark.slow
def test_a_pair_that_is_routed_nowhere_has_the_usual_gap(capsys: pytest.CaptureFixture[str]) -> None:
    found = document([str(BOARDS / "edge_jetson_carrier_fit"), "--interface", "pcie5"], capsys)["rows"]
    assert isinstance(found, list) and found
    assert all(row["gap_mm"] == pytest.approx(row["width_mm"], rel=1e-3) for row in found)


@pytest.mark.slow
def test_the_table_has_every_target_on_every_signal_layer_beside_what_was_routed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The card's PCIe Gen5: solved to 85 ohm on each layer; 0.094/0.13 is what was routed on In2 and In13."""
    rows = document([CARD], capsys)["rows"]
    assert isinstance(rows, list)

    by_layer = {row["layer"]: row for row in rows}
    assert {"F.Cu", "In2.Cu", "In13.Cu", "B.Cu"} <= set(by_layer)
    assert all(row["impedance_ohm"] == pytest.approx(85, rel=2e-3) for row in rows)
    most = by_layer["In2.Cu"]["routed"][0]
    assert (most["width_mm"], most["gap_mm"]) == (0.094, 0.13)
    assert by_layer["In2.Cu"]["gap_mm"] == 0.13
    assert by_layer["In2.Cu"]["references"] == ["In1.Cu", "In3.Cu"]
    assert all(row["loss"]["frequency_ghz"] == 16 for row in rows)
    assert by_layer["In2.Cu"]["width_mm"] == pytest.approx(by_layer["In13.Cu"]["width_mm"], rel=1e-6)


def test_a_solved_width_gives_its_target_when_it_is_asked_back(capsys: pytest.CaptureFixture[str]) -> None:
    """Width for 50 ohm on In2, then the impedance of that width."""
    rows = document([CARD, "--layer", "In2.Cu", "--target-se", "50"], capsys)["rows"]
    assert isinstance(rows, list)
    width = rows[0]["width_mm"]

    line = document([CARD, "--layer", "In2.Cu", "--width", f"{width}"], capsys)["line"]

    assert isinstance(line, dict)
    assert line["z_ohm"] == pytest.approx(50, rel=2e-3)
    assert line["spread"]["interval_ohm"]["low"] < 50 < line["spread"]["interval_ohm"]["high"]
    assert sum(share["share"] for share in line["returns"]) == pytest.approx(1.0, abs=2e-3)


def test_a_width_next_to_ground_gives_its_target_when_it_is_asked_back(capsys: pytest.CaptureFixture[str]) -> None:
    """Gap and ground are kept: they are those of the copper that a finding is about."""
    kept = ["--layer", "F.Cu", "--gap", "0.15", "--coplanar-gap", "0.12"]
    rows = document([CARD, *kept, "--target-diff", "85"], capsys)["rows"]
    assert isinstance(rows, list)
    plain = document([CARD, *kept[:4], "--target-diff", "85"], capsys)["rows"]
    assert isinstance(plain, list)

    line = document([CARD, *kept, "--width", f"{rows[0]['width_mm']}"], capsys)["line"]

    assert isinstance(line, dict)
    assert rows[0]["gap_mm"] == 0.15
    assert line["z_ohm"] == pytest.approx(85, rel=2e-3)
    assert rows[0]["width_mm"] < plain[0]["width_mm"]


def test_a_gap_finer_than_fabs_etch_is_kept_or_told_to_be_out_of_reach(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """At 0.04 mm no width that a fab etches in 1 oz has 95 ohm over 0.1 mm; at 0.08 mm one has."""
    stackup = 'F.Cu 0.035\nprepreg 0.1 "FR4" dk=4.2\nB.Cu 0.035'
    board = [str(mini_file(tmp_path, {"stackup": stackup, "planes": {"B.Cu": "GND"}})), "--layer", "F.Cu"]

    code, out, _ = spoken([*board, "--target-diff", "95", "--gap", "0.04"], capsys)
    assert code == 1
    assert "needs a trace narrower than 0.089 mm at a gap of 0.04 mm; there it is" in " ".join(out.split())
    rows = document([*board, "--target-diff", "95", "--gap", "0.08"], capsys)["rows"]
    assert isinstance(rows, list)
    assert rows[0]["gap_mm"] == 0.08


def test_a_line_whose_production_cannot_be_told_still_has_its_impedance(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A gap of 0.04 mm closes within the tolerances of a standard process: that is told in place of the spread."""
    stackup = 'F.Cu 0.018\ncore 1.5 "FR4" dk=4.3\nB.Cu 0.018'
    board = str(mini_file(tmp_path, {"stackup": stackup, "planes": {"B.Cu": "GND"}}))

    code, out, _ = spoken([board, "--layer", "F.Cu", "--width", "0.8", "--gap", "0.04"], capsys)
    assert code == 0
    assert "Zdiff" in out
    assert "in production  not known" in out
    line = document([board, "--layer", "F.Cu", "--width", "0.8", "--gap", "0.04"], capsys)["line"]
    assert isinstance(line, dict)
    assert line["spread"] is None
    assert "the line cannot exist" in line["spread_problem"]
    rows = document([board, "--layer", "F.Cu", "--target-diff", "90", "--gap", "0.15"], capsys)["rows"]
    assert isinstance(rows, list)


@pytest.mark.slow
def test_one_line_has_its_figures_its_stackup_and_its_loss(capsys: pytest.CaptureFixture[str]) -> None:
    """A pair: differential, odd, even, delay, production, loss over frequency, in a text that fits 100 columns."""
    code, out, _ = spoken([CARD, "--layer", "In2.Cu", "--width", "0.1", "--gap", "0.13"], capsys)

    assert code == 0
    for word in ("Zdiff", "odd, even", "in production", "yield", "eps_eff", "returns in", "valid", "dielectric"):
        assert word in out
    assert max(len(line) for line in out.splitlines()) <= 100
    losses = document([CARD, "--layer", "In2.Cu", "--width", "0.1", "--gap", "0.13"], capsys)["line"]
    assert isinstance(losses, dict)
    totals = [row["loss"]["total_db_per_mm"]["nominal"] for row in losses["losses"]]
    assert totals == sorted(totals)


@pytest.mark.slow
def test_frequency_and_interface_choose_where_loss_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """pcie6 brings its 85 ohm and its Nyquist frequency; --frequency overrides it."""
    for arguments, expected in ((["--interface", "pcie6"], 16.0), (["--interface", "pcie6", "--frequency", "5"], 5.0)):
        rows = document([CARD, "--layer", "In2.Cu", *arguments], capsys)["rows"]
        assert isinstance(rows, list)
        assert rows[0]["target"]["target"]["ohm"] == 85
        assert rows[0]["loss"]["frequency_ghz"] == expected


def test_what_cannot_be_reached_says_why_and_what_would(capsys: pytest.CaptureFixture[str]) -> None:
    """62 ohm on a thin stripline needs a trace too narrow to etch: exit code 1 and a remedy in numbers."""
    code, out, _ = spoken([CARD, "--layer", "In2.Cu", "--target-se", "62"], capsys)

    assert code == 1
    assert "narrower than" in " ".join(out.split())
    assert "would reach it" in " ".join(out.split())


def test_a_board_without_stackup_names_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    """Not a number, and not a traceback."""
    code, out, _ = spoken([str(BOARDS / "no_stackup"), "--target-se", "50"], capsys)

    assert code == 1
    assert "the stackup is not known" in out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--width", "0.1"], "--layer"),
        (["--layer", "In77.Cu", "--width", "0.1"], "did you mean"),
        (["--layer", "In2.Cu", "--width", "0"], "--width: 0 mm is no width on a board"),
        (["--layer", "In2.Cu", "--width", "100"], "--width: 100 mm is no width on a board; give millimetres up to 20"),
        (["--layer", "In2.Cu", "--width", "1e308"], "--width: 1e+308 mm is no width on a board"),
        (["--layer", "In2.Cu", "--width", "0.1", "--gap", "1e308"], "--gap: 1e+308 mm is no gap on a board"),
        (["--layer", "In2.Cu", "--width", "0.1", "--coplanar-gap", "1e300"], "mm is no coplanar gap on a board"),
        (["--target-diff", "85", "--gap", "0"], "--gap: 0 mm is no gap on a board"),
        (["--layer", "In2.Cu", "--width", "0.1", "--gap", "0.0001"], "gap"),
        (["--layer", "In2.Cu", "--target-se", "-5"], "positive"),
        (["--reference", "In1.Cu", "--target-se", "50"], "--layer"),
        (["--layer", "In2.Cu", "--reference", "In2.Cu", "--target-se", "50"], "own layer"),
        (["--interface", "pcie9"], "did you mean"),
        (["--layer", "In2.Cu", "--width", "0.1", "--frequency", "-3"], "frequency"),
    ],
)
def test_an_option_that_makes_no_sense_gets_one_line(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, one line on the error stream that names the fix."""
    from stackwright.__main__ import guarded

    code = guarded(lambda: run(["impedance", CARD, *arguments]))
    out, err = capsys.readouterr()

    assert code == 2
    assert out == ""
    assert len(err.splitlines()) == 1
    assert words in err


def test_a_board_that_asks_for_nothing_is_told_how_to_ask(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No net with a target: --target-diff and --target-se are named."""
    from stackwright.__main__ import guarded

    board = mini_file(tmp_path, {"copper_layers": 2})

    code = guarded(lambda: run(["impedance", str(board)]))

    assert code == 2
    assert "--target-se" in capsys.readouterr().err


@pytest.mark.parametrize("pairs", [USB_PAIR, []], ids=["too short to count", "not routed yet"])
def test_a_target_of_short_or_unrouted_nets_is_solved_too(
    pairs: list[dict[str, object]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """USB of 15 mm is not judged by `check`; its 90 ohm are a target all the same, and so before it is routed."""
    board = mini_file(tmp_path, {**SHORT_USB, "pairs": pairs})

    rows = document([str(board)], capsys)["rows"]

    assert isinstance(rows, list)
    assert {row["target"]["target"]["ohm"] for row in rows} == {90}
    assert {row["layer"] for row in rows} >= {"F.Cu"}
    assert all(row["impedance_ohm"] == pytest.approx(90, rel=2e-3) for row in rows)
    assert [one["width_mm"] for row in rows for one in row["routed"]] == ([0.2] if pairs else [])


def test_another_stackup_leaves_short_lines_as_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`retarget` writes no rule for USB of 15 mm, which would forbid its tracks, and does not say it has no target."""
    board = mini_file(tmp_path, {**SHORT_USB, "pairs": USB_PAIR})

    assert run(["retarget", str(board), "--to", "JLC04161H-3313"]) == 0

    out = " ".join(capsys.readouterr().out.split())
    assert "no net with a target impedance is routed long enough to count" in out
    assert "no net has a target" not in out


def test_the_table_for_the_fab_has_lines_that_are_too_short_for_a_verdict(tmp_path: Path) -> None:
    """USB of 15 mm is built as well. Where nothing is routed, or has a target, the table says which."""
    short = mini_context(tmp_path / "short", {**SHORT_USB, "pairs": USB_PAIR})
    unrouted = mini_context(tmp_path / "unrouted", SHORT_USB)
    none = mini_context(tmp_path / "none", {"copper_layers": 2})

    ((layer, _, ohm, *_),) = impedance_table(short).rows
    assert (layer, ohm) == ("F.Cu", "90")
    assert impedance_table(unrouted).remarks == ("No net with a target impedance is routed as one.",)
    assert impedance_table(none).remarks == ("No net has a target impedance.",)


def test_what_no_layer_has_is_said_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a stackup, one line for all layers of a target."""
    board = mini_file(tmp_path, {**SHORT_USB, "stackup": None, "copper_layers": 4, "pairs": []})

    _, out, _ = spoken([str(board)], capsys)

    assert out.count("the stackup is not known") == 1
    assert "F.Cu, B.Cu" in out


def test_what_is_missing_for_a_loss_names_its_frequency(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Df of FR4 is not known at USB's 0.24 GHz, and is at the 1.25 GHz of a camera's lanes on the same page."""
    camera = [{"nets": ["/CSI_D0_P", "/CSI_D0_N"], "layer": "F.Cu", "path_mm": [[5, 20], [40, 20]], "width_mm": 0.2}]
    board = mini_file(tmp_path, {**SHORT_USB, "pairs": [*USB_PAIR, {**camera[0], "gap_mm": 0.2}]})

    _, out, _ = spoken([str(board)], capsys)

    assert "Df of dielectric 1 at 0.24 GHz is not known" in " ".join(out.split())
    assert "Df of dielectric 1 is not known" not in " ".join(out.split())


def test_the_next_command_runs_as_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It stands on one line however long the path is, with a layer, width and gap of the table."""
    folder = tmp_path / ("a long folder name " * 5).strip()
    folder.mkdir()
    board = Path(shutil.copytree(CARD, folder / "card")) / "inference_pcie_gen5_fit.kicad_pcb"
    _, out, _ = spoken([str(board), "--target-diff", "100"], capsys)
    line = out.splitlines()[-1]
    words = shlex.split(line.removeprefix("next: "))
    assert words[:2] == ["stackwright", "impedance"]
    assert words[2] == str(board)
    assert run(words[1:]) == 0
    capsys.readouterr()


def test_a_line_can_be_written_to_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The file holds the page, the screen one sentence."""
    target = tmp_path / "line.txt"

    code, out, _ = spoken([CARD, "--layer", "In2.Cu", "--width", "0.1", "--output", str(target)], capsys)

    assert code == 0
    assert str(target) in out
    assert "Z0" in target.read_text(encoding="utf-8")


def test_the_yield_is_that_within_the_tolerance_of_the_interface(capsys: pytest.CaptureFixture[str]) -> None:
    """USB 2.0 may be off by 15 %: its yield was told within 10 %, as that of every target."""
    told = document([CARD, "--interface", "usb2", "--layer", "In2.Cu"], capsys)["rows"]
    assert isinstance(told, list)
    (row,) = told

    assert row["target"]["tolerance_pct"] == 15
    assert row["yield_pct"] > row["yield_10_pct"]
    assert "in +-15 %" in spoken([CARD, "--interface", "usb2", "--layer", "In2.Cu"], capsys)[1]


@pytest.mark.parametrize(
    ("name", "command"),
    [("no_stackup", "suggest"), ("default_stackup", "suggest"), ("inference_pcie_gen5_fit", "stackup")],
)
def test_the_next_command_where_no_line_has_a_width_is_about_the_board(
    name: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a stackup one is proposed; where 145 ohm cannot be reached, heights and planes are shown."""
    board = str(next((BOARDS / name).glob("*.kicad_pcb")))
    code, out, _ = spoken([board, "--target-se", "145"], capsys)
    assert code == 1
    assert shlex.split(out.splitlines()[-1].removeprefix("next: ")) == ["stackwright", command, board]


def test_a_line_that_etching_takes_away_names_width_and_copper(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """4 mil in 2 oz: its taper alone was named, though the width strays too."""
    prepreg = 'prepreg 0.2 "370HR" dk=4.1 df=0.02'
    core = prepreg.replace("prepreg 0.2", "core 0.8")
    rows = f"F.Cu 0.07\n{prepreg}\nIn1.Cu 0.07\n{core}\nIn2.Cu 0.07\n{prepreg}\nB.Cu 0.07"
    board = str(mini_file(tmp_path, {"copper_layers": 4, "stackup": rows}))
    line = [board, "--layer", "In1.Cu", "--reference", "F.Cu", "--reference", "In2.Cu", "--width"]

    _, out, _ = spoken([*line, "0.1016"], capsys)
    said = " ".join(out.split())
    assert "(width by -11.5 %, taper by +28.9 %) the line cannot exist: trace top width -0.000339 mm" in said
    assert "copper 0.07 mm)" in said

    with pytest.raises(StackwrightError, match=r"-0\.02 mm \(base 0\.05 mm, copper 0\.07 mm\); widen the trace"):
        spoken([*line, "0.05"], capsys)


@pytest.mark.parametrize(
    ("settings", "said", "unsaid"),
    [
        ('[[interface]]\nis = "pcie5"\nnet_classes = ["85Ohm-diff_PCIE5"]\n', "give --interface pcie5,", "declare an"),
        ("", "or declare an [[interface]] in stackwright.toml", "--interface"),
    ],
)
def test_without_a_target_the_next_step_is_one_that_is_left(
    settings: str, said: str, unsaid: str, tmp_path: Path
) -> None:
    """A new board declares its interface before it has nets; to declare one was no advice."""
    board = mini_file(tmp_path, {"copper_layers": 4, "planes": {"In1.Cu": "GND"}})
    board.with_name("stackwright.toml").write_text(settings, encoding="utf-8")

    with pytest.raises(StackwrightError) as stopped:
        run(["impedance", str(board)])

    assert said in stopped.value.next_step and unsaid not in stopped.value.next_step
