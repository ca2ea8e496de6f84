"""`stackwright pdn` with capacitors by file: the curve of the same values declared, and files that say nothing."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixtures.miniboard import MiniBoard, write
from stackwright.cli.app import run
from tests.support.small_boards.decoupled import RAIL, REGULATOR, decoupled
from tests.support.small_boards.paired import series_s, write_s

UF, MOHM, PH = 8.0, 4.0, 250.0
HZ = np.geomspace(100, 6e9, 801)


def model(file: str, more: str = "") -> str:
    return f'[[part_model]]\nparts = ["C?"]\nfile = "{file}"\n{more}\n'


def curve(
    folder: Path, capsys: pytest.CaptureFixture[str], config: str, value: str = "10uF X5R 6.3V"
) -> dict[str, Any]:
    drawn = decoupled(config=RAIL + REGULATOR + config)
    for part in drawn["parts"]:
        if part["reference"].startswith("C"):
            part["value"] = value
    board = write(MiniBoard.model_validate(drawn), folder, "card")
    run(["pdn", str(board), "--format", "json"])
    rail: dict[str, Any] = json.loads(capsys.readouterr().out)["rails"][0]
    return rail


def nominal(rail: dict[str, Any], hz: float) -> float:
    return float(min(rail["points"], key=lambda one: abs(math.log(one["hz"] / hz)))["mohm"]["nominal"])


def write_parts(folder: Path) -> None:
    omega = 2 * math.pi * HZ
    ohm = MOHM * 1e-3 + 1j * omega * PH * 1e-12 + 1 / (1j * omega * UF * 1e-6)
    write_s(folder / "part.s2p", HZ * 1e-9, series_s(ohm))
    text = f".SUBCKT part 1 2\nC1 1 3 {UF}u\nL1 3 4 {PH}p\nR1 4 2 {MOHM}m\n.ENDS\n"
    (folder / "part.mod").write_text(text, encoding="ascii")


@pytest.mark.parametrize("file", ["part.s2p", "part.mod"])
def test_a_file_gives_the_curve_of_its_values(tmp_path: Path, capsys: pytest.CaptureFixture[str], file: str) -> None:
    """Declared parts without a size have constant R and L as well, and a dielectric that loses 2 % more."""
    write_parts(tmp_path)
    found = curve(tmp_path, capsys, model(file, "bias_v = 0.8"))
    (one, *_) = found["capacitors"]
    assert (one["source"], one["bias"]) == (file, "at 0.8 V, as in its file")
    assert one["uf"]["nominal"] == pytest.approx(UF, rel=0.01)
    assert one["uf"]["low"] == one["uf"]["high"]
    assert one["esr_mohm"]["nominal"] == pytest.approx(MOHM, rel=0.02)
    assert one["esl_nh"]["nominal"] == pytest.approx(PH * 1e-3, rel=0.01)
    declared = f'[[rail.pdn.capacitor]]\nparts = ["C?"]\nuf = {UF}\nesr_mohm = {MOHM}\nesl_ph = {PH}\n'
    by_values = curve(tmp_path, capsys, declared)
    for hz in (1e4, 1e7, 3e7, 1e8):
        assert nominal(found, hz) == pytest.approx(nominal(by_values, hz), rel=0.02), hz


def test_without_bias_the_capacitance_is_a_range(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file of 0 V on a rail of 0.8 V: X5R of 6.3 V keeps most of it; the file is asked for at the rail's voltage."""
    write_parts(tmp_path)
    found = curve(tmp_path, capsys, model("part.s2p"))
    (one, *_) = found["capacitors"]
    assert one["uf"]["low"] < one["uf"]["nominal"] <= UF * 1.001
    assert any("bias_v" in row["what"] for row in found["missing"])


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("part.s4p", "", "part.s4p has 4 ports, 2 are needed"),
        ("part.lib", ".subckt c 1 2\nX1 1 2 other\n.ends\n", "part.lib line 2 is X1: only R, L and C are read"),
        ("gone.s2p", None, "gone.s2p No such file or directory"),
    ],
)
def test_a_file_that_says_nothing_leaves_its_parts_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str | None, says: str
) -> None:
    """One reason for all its parts, and no figure from nothing: they are left out."""
    if text is not None:
        (tmp_path / name).write_text(text, encoding="ascii")
    found = curve(tmp_path, capsys, model(name))
    assert found["left_out"] == {says: ["C1", "C2"]}
    assert found["capacitors"] == []


@pytest.mark.parametrize(("value", "is_doubtful"), [("10uF X5R 6.3V", False), ("100nF X5R 16V", True), ("", False)])
def test_a_file_of_another_part_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], value: str, is_doubtful: bool
) -> None:
    """8 uF may be what is left of 10 uF; 100 nF it is not."""
    write_parts(tmp_path)
    found = curve(tmp_path, capsys, model("part.s2p", "bias_v = 0.8"), value)
    told = [words for words in found["assumed"] if words.startswith("part.s2p has 8 uF")]
    assert told == (["part.s2p has 8 uF, the parts state 0.1 uF"] if is_doubtful else [])
