"""`stackwright suggest` for boards that are laid out: their layers stay, or one line says why not."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from stackup_lib.core.errors import ConfigError
from stackwright.cli.app import run
from tests.support.mini import mini_file

SCHEMA = Path(__file__).parents[2] / "fixtures" / "schemas" / "suggestion-v1.json"
ROUTED = {"net": "/A", "layer": "In2.Cu", "path_mm": [[5, 5], [70, 5]]}
PLANES = {"In1.Cu": "GND", "In3.Cu": "+3V3", "In4.Cu": "GND"}
SIX = {"size_mm": [80, 40], "stackup": "default", "copper_layers": 6, "planes": PLANES, "tracks": [ROUTED]}
TWO = {"size_mm": [80, 40], "stackup": "default", "copper_layers": 2}


@pytest.mark.parametrize(
    ("board", "words", "layers", "said"),
    [
        (SIX, [], 6, "new stackups keep the layers as they are laid out, S-G-S-P-G-S"),
        (TWO, [], 2, "new stackups keep the layers as they are laid out, S-S"),
        (TWO, ["--layers", "2"], 2, "new stackups keep the layers as they are laid out, S-S"),
        (TWO, ["--profile", "edge"], 4, "layers: 4, not the board's 2: copper layers >= 4 (edge); edge.layers.min: "),
        (
            SIX,
            ["--power-oz", "2"],
            6,
            "the layers do not stay as laid out, S-G-S-P-G-S: a signal layer would take the weight of a power plane on "
            "its core, or opposite to it; In2.Cu from signals to power",
        ),
    ],
    ids=["six layers", "two layers", "two as asked", "two where four are required", "six with a heavy power plane"],
)
def test_a_line_says_what_becomes_of_the_layers(
    *,
    board: dict[str, object],
    words: list[str],
    layers: int,
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In text and in JSON, which fits its schema."""
    path = mini_file(tmp_path, board)
    assert run(["suggest", str(path), *words, "--limit", "1"]) == 0
    assert said in " ".join(capsys.readouterr().out.split())
    assert run(["suggest", str(path), *words, "--limit", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(found)
    assert [one["layers"] for one in found["answers"]] == [layers]
    assert found["layers"].startswith(said)
    assert found["keeps_layers"] is said.startswith("new stackups keep")


def test_a_new_stackup_of_a_board_is_applied_without_moving_a_layer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two layers too: the plan is applied to the board, and a check finds its stackup entered."""
    for name, board in (("six", SIX), ("two", TWO)):
        path, plan = mini_file(tmp_path / name, board), tmp_path / f"{name}.toml"
        assert run(["suggest", str(path), "--limit", "1", "--plan", str(plan)]) == 0
        assert run(["apply", str(plan), str(path), "--write", "--change-stackup"]) == 0
        capsys.readouterr()
        run(["check", str(path), "--json"])
        (report,) = json.loads(capsys.readouterr().out)["reports"]
        verdicts = {one["clause"]: one["verdict"] for one in report["verdicts"]}
        assert verdicts["board.stackup.declared"] == "passed"
        assert verdicts["board.stackup.symmetry"] in ("passed", "not_applicable")
        assert not [code for code in (one["code"] for one in report["findings"]) if code.startswith("STK")]


def test_two_layers_are_refused_where_no_board_has_them(tmp_path: Path) -> None:
    """A board of six, a workload that wants four, and fewer than there are."""
    six, two = (str(mini_file(tmp_path / name, board)) for name, board in (("six", SIX), ("two", TWO)))
    for words, said in (
        ([six, "--layers", "2"], "is made only for a board that has them"),
        ([two, "--layers", "2", "--profile", "edge"], "breaks edge.layers.min"),
        (["--layers", "1", "--profile", "edge"], "give at least 2"),
    ):
        with pytest.raises(ConfigError, match=said):
            run(["suggest", *words])


@pytest.mark.parametrize("bare", ["", "settings", "stackup"])
def test_a_board_without_solder_mask_gets_none(bare: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where the settings say so, and where the board's own stackup has none; else rows of mask as KiCad has them."""
    path = mini_file(tmp_path, TWO)
    if bare == "settings":
        path.with_name("stackwright.toml").write_text("[process]\nmask_over_copper_um = 0\n", encoding="utf-8")
    if bare == "stackup":
        text = path.read_text(encoding="utf-8")
        path.write_text(re.sub(r'\(layer "[FB]\.Mask"\s*\(type [^()]*\)(?:\s*\([^()]*\))*\s*\)', "", text))
    assert run(["suggest", str(path), "--limit", "1", "--json"]) == 0
    (answer,) = json.loads(capsys.readouterr().out)["answers"]

    kinds = [row["kind"] for row in answer["rows"]]
    assert kinds == (["copper", "core", "copper"] if bare else ["mask", "copper", "core", "copper", "mask"])
    assert answer["thickness_mm"] == pytest.approx(1.6, abs=0.02)


def routed_board(folder: Path, *widths_mm: float) -> Path:
    """Six layers with a 50 ohm track of a width on the top, and of another on the bottom."""
    tracks = [
        {"net": f"/Z{layer[0]}", "layer": layer, "path_mm": [[5, 8], [75, 8]], "width_mm": width}
        for layer, width in zip(("F.Cu", "B.Cu"), widths_mm, strict=False)
    ]
    path = mini_file(folder, SIX | {"tracks": [ROUTED, *tracks]})
    asked = '[[impedance]]\nohm = 50\nkind = "single"\nnets = ["/Z*"]\n'
    (path.parent / "stackwright.toml").write_text(asked, encoding="utf-8")
    return path


def test_a_new_stackup_keeps_what_is_routed_and_says_where_it_cannot(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Over the usual thin dielectric 0.28 mm has 33 ohm; no stackup keeps 0.1 and 0.4 mm together."""
    path, plan = routed_board(tmp_path / "one", 0.28), tmp_path / "plan.toml"
    assert run(["suggest", str(path), "--limit", "1", "--plan", str(plan)]) == 0
    assert "leave" not in capsys.readouterr().out
    assert run(["apply", str(plan), str(path), "--write", "--change-stackup"]) == 0
    capsys.readouterr()
    run(["check", str(path), "--json"])
    (report,) = json.loads(capsys.readouterr().out)["reports"]
    verdicts = {one["clause"]: one["verdict"] for one in report["verdicts"]}
    assert verdicts["board.impedance.routed"] == "passed"
    both = routed_board(tmp_path / "both", 0.1, 0.4)
    assert run(["suggest", str(both), "--limit", "1"]) == 0
    assert "; with it routed lines are outside their tolerance" in " ".join(capsys.readouterr().out.split())
    assert run(["suggest", str(both), "--limit", "1", "--json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["answers"]
    assert one["routed_sizes_out"] >= 1
