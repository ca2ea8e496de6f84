"""`stackwright touchstone`: files that say what the board's lines and vias do, and no file where a fact is missing."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from stackwright.cli.app import run
from tests.support.boards import board_file
from tests.support.cli.touchstone_files import TREATED, UNTREATED, read
from tests.support.in_process import run_here
from tests.support.mini import mini_file
from tests.support.stackups import FOUR_LAYERS

CARD = board_file("inference_pcie_gen5_fit")
NO_STACKUP = board_file("no_stackup")


def test_a_pair_is_a_four_port_of_its_modes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Passive, reciprocal, symmetric, from DC to twice Nyquist; its delay is that of `stackwright delay`."""
    assert run(["touchstone", str(CARD), "--net", "PCIE_TX0", "--output", str(tmp_path / "links")]) == 0
    shown = capsys.readouterr().out
    assert "PCIE_TX0_P.s4p" in shown
    comments, ghz, s = read(tmp_path / "links" / "PCIE_TX0_P.s4p")
    assert (ghz[0], ghz[-1]) == (0.0, 32.0)
    assert np.linalg.svd(s, compute_uv=False).max() <= 1 + 1e-9
    assert s == pytest.approx(s.transpose(0, 2, 1), abs=1e-11)
    assert "port 1: /PCIE_TX0_P at U1 pad 9" in comments
    odd = s[:, :2, :2] - s[:, :2, 2:]
    run(["delay", str(CARD), "--format", "json"])
    links = [link for group in json.loads(capsys.readouterr().out)["groups"] for link in group["links"]]
    (delay,) = [link["delay_ps"] for link in links if link["name"] == "/PCIE_TX0"]
    phase = np.unwrap(np.angle(odd[1:, 1, 0]))
    at = int(np.argmin(np.abs(ghz - 16.0)))
    seen_ps = -1000 * phase[at - 1] / (2 * math.pi * ghz[at])
    assert delay["low"] < seen_ps < delay["high"]


def test_the_return_loss_is_that_of_the_worse_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """At 85 ohm and up to Nyquist, from the file itself: the far end of this link reflects more than the near one."""
    assert run(["touchstone", str(CARD), "--net", "PCIE_RX0", "--output", str(tmp_path)]) == 0
    shown = re.search(r"PCIE_RX0_P\.s4p +16\.00 +\S+ +(\S+)", capsys.readouterr().out)
    _, ghz, s = read(tmp_path / "PCIE_RX0_P.s4p")
    odd = (s[:, :2, :2] - s[:, :2, 2:])[(ghz > 0) & (ghz <= 16)]
    one, ratio = np.eye(2), 42.5 / 50
    z = np.linalg.solve(one - odd, one + odd) / ratio
    ends = np.abs(np.linalg.solve((z + one).transpose(0, 2, 1), (z - one).transpose(0, 2, 1)))
    near, far = (-20 * math.log10(ends[:, end, end].max()) for end in (0, 1))

    assert near > far + 1
    assert shown is not None
    assert float(shown[1]) == pytest.approx(far, abs=0.1)


def test_a_stub_takes_the_power_at_its_resonance(tmp_path: Path) -> None:
    """3.24 mm of barrel left below In2.Cu: a notch where a quarter wave fits; drilled away, none."""
    for board, deepest in ((UNTREATED, 25.0), (TREATED, 6.0)):
        folder = tmp_path / board.stem
        assert run(["touchstone", str(board), "--net", "NVLINK0_RX0", "--max-ghz", "25", "--output", str(folder)]) == 0
        _, ghz, s = read(folder / "NVLINK0_RX0_P.s4p")
        loss_db = -20 * np.log10(np.abs(s[1:, 1, 0] - s[1:, 1, 2]))
        assert ghz[-1] == 25.0
        assert (loss_db.max() > deepest) == (board is UNTREATED), loss_db.max()


def test_what_is_missing_is_said_and_makes_no_file(tmp_path: Path) -> None:
    """Of a board without a stackup no value comes."""
    told = run_here("touchstone", NO_STACKUP, "--output", "links", cwd=tmp_path)
    assert told.code in (1, 2)
    assert "not known" in told.out or "no routed link" in told.err
    assert not list(tmp_path.glob("links/*"))


def test_links_of_unknown_generation_are_told_with_what_they_lack(tmp_path: Path) -> None:
    """They are routed; `no routed link` was said of them, or nothing where another interface had files."""
    pair = {"layer": "F.Cu", "path_mm": [[5, 10], [60, 10]], "width_mm": 0.15, "gap_mm": 0.15}
    pairs = [{**pair, "nets": ["/PCIE_TX0_P", "/PCIE_TX0_N"]}]
    board = mini_file(tmp_path, {"size_mm": [80, 40], "copper_layers": 2, "pairs": pairs})

    told = run_here("touchstone", board, "--output", "links", cwd=tmp_path)
    named = run_here("touchstone", board, "--interface", "pcie3", "--output", "links", cwd=tmp_path)
    other = run_here("touchstone", board, "--net", "SATA", "--output", "links", cwd=tmp_path)
    absent = run_here("touchstone", board, "--interface", "sata3", "--output", "links", cwd=tmp_path)

    for one in (told, named):
        assert one.code == 1
        assert "/PCIE_TX0_P: generation of PCI Express is not known: declare it" in " ".join(one.out.split())
        assert f"  stackwright init {board}" in one.out.splitlines()
    assert (absent.code, "has no routed link of that interface" in " ".join(absent.err.split())) == (2, True)
    assert (other.code, "has no routed link of that name" in " ".join(other.err.split())) == (2, True)


def over_capacitors(nets: str) -> dict[str, object]:
    """A pair over capacitors from U1 to J1; its nets on the far side end in _C_P and _C_N."""
    parts, tracks = [], []
    small = {"size_mm": [0.2, 0.2]}
    for number, (letter, y_mm) in enumerate((("P", 10.0), ("N", 10.3)), start=1):
        near, far = f"/PCIE_TX0_{letter}", f"/PCIE_TX0_C_{letter}"
        capacitor = [{**small, "number": "1", "net": near}, {**small, "number": "2", "net": far, "at_mm": [1, 0]}]
        parts += [
            {"reference": f"U{number}", "at_mm": [5, y_mm], "pads": [{**small, "number": "1", "net": near}]},
            {"reference": f"C{number}", "value": "220n", "at_mm": [30, y_mm], "pads": capacitor},
            {"reference": f"J{number}", "at_mm": [60, y_mm], "pads": [{**small, "number": "1", "net": far}]},
        ]
        run = {"layer": "F.Cu", "width_mm": 0.15}
        tracks += [
            {**run, "net": near, "path_mm": [[5, y_mm], [30, y_mm]]},
            {**run, "net": far, "path_mm": [[31, y_mm], [60, y_mm]]},
        ]
    config = f'[declared]\nfoil = "VLP"\n[[interface]]\nis = "pcie4"\nnets = ["{nets}"]\n'
    planes = {"In1.Cu": "GND", "In2.Cu": "GND"}
    board = {"size_mm": [80, 40], "stackup": FOUR_LAYERS, "planes": planes}
    return {**board, "parts": parts, "tracks": tracks, "config": config}


def test_a_link_that_a_declared_half_brings_is_written_and_not_denied(tmp_path: Path) -> None:
    """Its other half is PCI Express by its names alone; where nothing on it is declared it has no file."""
    (tmp_path / "other").mkdir()
    board = mini_file(tmp_path, over_capacitors("/PCIE_TX0_C_*"))
    other = mini_file(tmp_path / "other", over_capacitors("/PCIE_RX*"))

    told = run_here("touchstone", board, "--net", "TX0", "--output", "links", cwd=tmp_path)
    denied = run_here("touchstone", other, "--net", "TX0", "--output", "none", cwd=tmp_path)

    assert (told.code, "no file" in told.out) == (0, False), told.out
    assert len(list(tmp_path.glob("links/*.s4p"))) == 1
    assert (denied.code, "generation of PCI Express is not known" in " ".join(denied.out.split())) == (1, True)


def test_an_interface_that_becomes_no_file_is_told_as_such(tmp_path: Path) -> None:
    """USB 2.0 is routed on many boards, and no loss of it is worked out."""
    ran = run_here("touchstone", CARD, "--interface", "usb2", "--output", "links", cwd=tmp_path)

    assert ran.code == 2
    assert "USB 2.0 high speed is none of the interfaces that become files" in " ".join(ran.err.split())


def test_wrong_questions_get_one_line(tmp_path: Path) -> None:
    """An interface that is none, a net that is not there, a folder that is a file, a frequency of nothing."""
    (tmp_path / "taken").write_text("", encoding="utf-8")
    for words, said in (
        (["--interface", "pcie9", "--output", "a"], "pcie9"),
        (["--net", "nothing", "--output", "b"], "no routed link"),
        (["--output", "taken"], "is a file"),
        (["--max-ghz", "0", "--output", "c"], "0 GHz"),
    ):
        told = run_here("touchstone", CARD, *words, cwd=tmp_path)
        assert (told.code, told.out) == (2, "")
        assert said in told.err
        assert told.err.count("\n") == 1


def test_an_eye_is_told_on_request(tmp_path: Path) -> None:
    """NRZ through a short link is open; stubs close the eye of the same link of PAM4; one line says what is assumed."""
    for board, net, told in (
        (CARD, "PCIE_TX0", r"PCIE_TX0_P.s4p +32.00 +2 +5\d +0.9\d"),
        (TREATED, "PCIE_RX0", r"PCIE_RX0_P.s4p +32.00 +4 +5\d +0.6\d"),
        (UNTREATED, "PCIE_RX0", r"PCIE_RX0_P.s4p +32.00 +4 +closed +-"),
    ):
        words = ("touchstone", board, "--net", net, "--output", "links")
        assert "eye" not in run_here(*words, cwd=tmp_path).out
        out = run_here(*words, "--eye", cwd=tmp_path).out
        assert re.search(told, out), out
        assert "no package, crosstalk, noise or jitter; edges of 0.32 UI" in out


def test_frequencies_below_the_symbol_rate_make_no_eye(tmp_path: Path) -> None:
    """The files are written; of eyes there is none, and the reason stands once."""
    words = ("--interface", "pcie5", "--max-ghz", "20", "--eye", "--output", "links")
    told = run_here("touchstone", CARD, *words, cwd=tmp_path)
    assert told.code == 0
    assert told.out.count("no eye") == 1
    assert "its S-parameters end at 20 GHz, below its symbol rate of 32 GBd" in " ".join(told.out.split())
    assert len(list(tmp_path.glob("links/*.s4p"))) == 8
