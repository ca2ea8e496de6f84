"""`stackwright touchstone`: skew, series parts and connectors, with files of one's own and with files that are none."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drc_rules.requirements.interfaces import interface
from fixtures.miniboard import MiniBoard, write
from stackup_lib.transmission_lines.four_port import mixed_modes
from stackwright.cli.app import run
from tests.support.cli.touchstone_files import read
from tests.support.in_process import run_here
from tests.support.small_boards.paired import paired, series_s, write_s

GHZ = np.linspace(0, 20, 401)


def links(folder: Path, *options: str, **changes: Any) -> tuple[int, Path]:
    """Exit code, and the folder with the files of the board."""
    board = write(MiniBoard.model_validate(paired(**changes)), folder, "card")
    return run(["touchstone", str(board), "--output", str(folder / "links"), *options]), folder / "links"


def declared(parts: str, file: str, more: str = "") -> str:
    return f'[[part_model]]\nparts = ["{parts}"]\nfile = "{file}"\n{more}\n'


def test_traces_of_different_length_convert_modes(tmp_path: Path) -> None:
    """5 mm more on N: of what passes, the common part is the sine of half the difference of both phases."""
    _, folder = links(tmp_path, longer_n_mm=5.0, capacitors=False)
    comments, ghz, s = read(folder / "PCIE_TX0_P.s4p")
    assert any("N is 5.000 mm longer" in line for line in comments)
    assert any(line.startswith("element: ") and line.endswith("N alone") for line in comments)
    phases = [np.unwrap(np.angle(s[1:, 1 + k, k])) for k in (0, 2)]
    later_ps = float((phases[0] - phases[1])[200] / (2 * math.pi * ghz[201]) * 1000)
    assert 26.0 < later_ps < 30.0  # 5 mm at 5.2 to 6.0 ps/mm
    mixed = mixed_modes(s)
    for at in (100, 200, 400):
        passes = abs(mixed[at, 1, 0]) ** 2 + abs(mixed[at, 3, 0]) ** 2
        assert abs(mixed[at, 3, 0]) / math.sqrt(passes) == pytest.approx(
            abs(math.sin(math.pi * ghz[at] * later_ps / 1000)), abs=0.06
        )
    assert np.linalg.svd(s, compute_uv=False).max() <= 1 + 1e-9
    assert s == pytest.approx(s.transpose(0, 2, 1), abs=1e-9)


def test_equal_traces_convert_nothing(tmp_path: Path) -> None:
    _, folder = links(tmp_path, capacitors=False)
    comments, _, s = read(folder / "PCIE_TX0_P.s4p")
    assert np.abs(mixed_modes(s)[:, 2:, :2]).max() < 1e-9
    assert not any("longer" in line or "alone" in line for line in comments)


def test_mixed_modes_are_written_as_touchstone_2(tmp_path: Path) -> None:
    """The same numbers as of the `.s4p`, turned into modes, with the order of ports that the format asks for."""
    board = write(MiniBoard.model_validate(paired(longer_n_mm=5.0, capacitors=False)), tmp_path, "card")
    for more in ([], ["--mixed-mode"]):
        assert run(["touchstone", str(board), "--output", str(tmp_path / "links"), *more]) == 0
    _, _, s = read(tmp_path / "links" / "PCIE_TX0_P.s4p")
    text = (tmp_path / "links" / "PCIE_TX0_P.ts").read_text(encoding="ascii")
    assert "[Version] 2.0\n" in text
    assert "[Mixed-Mode Order] D1,3 D2,4 C1,3 C2,4\n" in text
    body = text.split("[Network Data]\n")[1].split("[End]")[0]
    table = np.array(body.split(), dtype=float).reshape(1001, 33)
    mixed = (table[:, 1::2] + 1j * table[:, 2::2]).reshape(-1, 4, 4)
    assert mixed == pytest.approx(mixed_modes(s), abs=1e-11)


def test_a_capacitor_blocks_dc_and_nothing_else(tmp_path: Path) -> None:
    """Typical 220 nF: open at DC, next to nothing at 16 MHz, 1/(2 pi f C) being 0.05 ohm."""
    _, folder = links(tmp_path)
    comments, ghz, s = read(folder / "PCIE_TX0_P.s4p")
    assert "element: C1 and C2 220n 0402, typical ESR and ESL" in comments
    assert abs(s[0, 1, 0]) < 1e-6
    assert abs(s[1, 1, 0] - s[1, 1, 2]) > 0.9
    assert ghz[1] == pytest.approx(0.016)


@pytest.mark.parametrize("mounted", ["series", "shunt"])
def test_the_file_of_a_capacitor_is_what_stands_in_the_link(tmp_path: Path, mounted: str) -> None:
    """A resistor of 20 ohm by file, measured either way, lowers DC transmission as 20 ohm do."""
    ohm = np.full(len(GHZ), 20.0, dtype=np.complex128)
    s = series_s(ohm)
    if mounted == "shunt":
        s[:, 0, 0] = s[:, 1, 1] = -25 / (25 + 20)  # -Z0/(Z0 + 2 Z)
        s[:, 0, 1] = s[:, 1, 0] = 20 / (25 + 20)
    write_s(tmp_path / "part.s2p", GHZ, s)
    code, folder = links(tmp_path, config=declared("C?", "part.s2p", f'mounted = "{mounted}"'))
    assert code == 0
    comments, _, found = read(folder / "PCIE_TX0_P.s4p")
    assert any("C1 and C2 as in part.s2p" in line for line in comments)
    lines_ohm = 2 * 50 * (1 / abs(found[0, 1, 0] - found[0, 1, 2]) - 1) - 20
    assert 0.02 < lines_ohm < 0.6  # 39 mm of 0.15 x 0.035 mm: 0.13 ohm


def test_a_connector_stands_at_its_end(tmp_path: Path) -> None:
    """3 dB in both traces of J1: the link loses as much more, its port 2 is beyond the connector."""
    half = np.zeros((len(GHZ), 4, 4), dtype=np.complex128)
    for near, far in ((0, 2), (1, 3)):  # ports 1 and 2 on one side, as many files have them
        half[:, near, far] = half[:, far, near] = math.sqrt(0.5)
    write_s(tmp_path / "plug.s4p", GHZ, half)
    _, bare = links(tmp_path / "bare", capacitors=False)
    write_s(tmp_path / "plug.s4p", GHZ, half)
    _, with_it = links(tmp_path, capacitors=False, config=declared("J1", "plug.s4p"))
    _, _, without = read(bare / "PCIE_TX0_P.s4p")
    comments, _, s = read(with_it / "PCIE_TX0_P.s4p")
    assert any(line.startswith("port 2: ") and line.endswith("at J1 pad 1, beyond it") for line in comments)
    assert any(line.startswith("port 1: ") and line.endswith("at U1 pad 1") for line in comments)
    assert np.abs(s[:, 1, 0]) == pytest.approx(np.abs(without[:, 1, 0]) * math.sqrt(0.5), rel=0.02, abs=1e-3)


def test_a_step_seen_over_time(tmp_path: Path) -> None:
    """CSV with the impedance on the way; the coupling capacitor does not lift it."""
    _, folder = links(tmp_path, "--tdr")
    rows = [
        [float(x) for x in line.split(",")] for line in (folder / "PCIE_TX0_P_tdr.csv").read_text().splitlines()[1:]
    ]
    ohm = [row[1] for row in rows]
    _, without = links(tmp_path / "bare", "--tdr", capacitors=False)
    plain = [float(line.split(",")[1]) for line in (without / "PCIE_TX0_P_tdr.csv").read_text().splitlines()[1:]]
    assert 413 - 32 < rows[-1][0] <= 420  # round trip over 39 mm at 5.3 ps/mm, a sample of 31 ps less at most
    assert ohm[4] == pytest.approx(plain[4], abs=1.0)  # ahead of it
    assert max(ohm) < max(plain) + 15


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("part.s4p", "# GHz S RI R 50\n" + "0 " + "0 " * 32 + "\n", "has 4 ports, 2 are needed"),
        (
            "part.s2p",
            "# GHz S RI R 50\n0 0 0 1 0 1 0 0 0\n5 0 0 1 0 1 0 0 0\n",
            "ends at 5 GHz, the link goes to 16 GHz",
        ),
        ("part.s2p", "# GHz S RI R 50\n0 0 0 2 0 2 0 0 0\n20 0 0 2 0 2 0 0 0\n", "largest singular value 2"),
        ("part.s2p", "# GHz S RI R 50\n0 0 0 1\n", "has no data"),
        ("part.s2p", "# GHz Z RI R 50\n0 0 0 1 0 1 0 0 0\n", "has Z-parameters"),
        ("part.s2p", "[Version] 2.0\n", "is of Touchstone 2.0"),
        ("part.s2p", "what is this\n", "line 1 is no row of numbers"),
        ("part.s2p", "# GHz S RI R 50\n0 0 0 1 0 1 0 0 0\n20 0 0 -1 0 -1 0 0 0\n", "turns by 180 degrees"),
        ("part.txt", "", "has no .SUBCKT"),
    ],
)
def test_a_file_that_says_nothing_gives_no_link(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, says: str
) -> None:
    """One line with the reason, exit code 1, no file."""
    (tmp_path / name).write_text(text, encoding="ascii")
    code, folder = links(tmp_path, config=declared("C?", name))
    assert code == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert says in shown
    assert not list(folder.glob("*.s4p"))


def test_a_missing_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _ = links(tmp_path, config=declared("C?", "nowhere.s2p"))
    assert code == 1
    assert "nowhere.s2p: No such file" in " ".join(capsys.readouterr().out.split())


def test_a_capacitor_without_value_is_joined_through_and_named(tmp_path: Path) -> None:
    """No figure from nothing: it passes DC, and the file says why."""
    for value, why in (("", "no capacitance"), ("220n", "no size")):
        _, folder = links(tmp_path / why, value=value)
        comments, _, s = read(folder / "PCIE_TX0_P.s4p")
        assert f"note: C1 is joined through: {why} is stated" in comments
        assert abs(s[0, 1, 0]) > 0.9


def test_a_subcircuit_stands_in_a_link(tmp_path: Path) -> None:
    """1 pF with 10 nH resonates at 1.592 GHz: the trace passes there, and next to nothing at a tenth of it."""
    (tmp_path / "c.mod").write_text(".subckt c 1 2\nC1 1 3 1p\nL1 3 2 10n\n.ends\n", encoding="ascii")
    code, folder = links(tmp_path, config=declared("C?", "c.mod"))
    assert code == 0
    _, ghz, s = read(folder / "PCIE_TX0_P.s4p")
    odd = np.abs(s[:, 1, 0] - s[:, 1, 2])
    assert odd[int(np.argmin(np.abs(ghz - 1.592)))] > 0.9
    assert odd[int(np.argmin(np.abs(ghz - 0.159)))] < 0.15


@pytest.mark.parametrize(("role", "is_there"), [("very_short", True), ("medium", False)])
def test_the_loss_against_the_published_mask(tmp_path: Path, role: str, is_there: bool) -> None:
    """CAUI-4 of the declared role; the room is smallest where a short line leaves least, at the low end."""
    config = f'[[interface]]\nis = "eth25g"\nrole = "{role}"\nnets = ["/PCIE_*"]\n'
    drawn = paired(capacitors=False) | {"config": '[declared]\nfoil = "VLP"\n' + config}
    board = write(MiniBoard.model_validate(drawn), tmp_path, "card")
    assert run(["touchstone", str(board), "--output", str(tmp_path / "links")]) == 0
    comments, ghz, s = read(tmp_path / "links" / "PCIE_TX0_P.s4p")
    lines = [line for line in comments if "the mask of the whole channel, CAUI-4 chip to module" in line]
    assert bool(lines) == is_there
    if is_there:
        loss_db = -20 * np.log10(np.abs(mixed_modes(s)[1:, 1, 0]))
        low = ghz[1:] <= 14
        allowed = 1.076 * (0.075 + 0.537 * np.sqrt(ghz[1:]) + 0.566 * ghz[1:])
        room = float(np.min((allowed - loss_db)[low]))
        assert f"{room:.2f} dB within" in lines[0]
        assert "insertion loss to 18.7" in lines[0]


@pytest.mark.parametrize(("role", "is_there"), [("very_short", True), ("medium", False)])
def test_the_return_loss_against_the_published_mask(tmp_path: Path, role: str, is_there: bool) -> None:
    """CAUI-4: of the worse end, where it is nearest to 9.5 - 0.37 f, from 8 GHz to 4.75 - 7.4 log10(f / 14)."""
    config = f'[[interface]]\nis = "eth25g"\nrole = "{role}"\nnets = ["/PCIE_*"]\n'
    drawn = paired(capacitors=False) | {"config": '[declared]\nfoil = "VLP"\n' + config}
    board = write(MiniBoard.model_validate(drawn), tmp_path, "card")
    assert run(["touchstone", str(board), "--output", str(tmp_path / "links")]) == 0
    comments, ghz, s = read(tmp_path / "links" / "PCIE_TX0_P.s4p")
    lines = [line for line in comments if "the mask of a board with its chip, CAUI-4 chip to module" in line]
    assert bool(lines) == is_there
    if is_there:
        f, mixed = ghz[1:], mixed_modes(s)[1:]
        worse_db = -20 * np.log10(np.maximum(np.abs(mixed[:, 0, 0]), np.abs(mixed[:, 1, 1])))
        least = np.where(f <= 8, 9.5 - 0.37 * f, 4.75 - 7.4 * np.log10(f / 14))
        room = (worse_db - least)[f <= 19]
        assert f"{abs(room.min()):.2f} dB {'within' if room.min() >= 0 else 'outside'}" in lines[0]
        assert f"at {f[np.argmin(room)]:.2f} GHz" in lines[0]


def test_a_backplane_of_10_gigabits_has_masks_of_its_channel(tmp_path: Path) -> None:
    """Insertion and return loss of 10GBASE-KR, in Hz and powers of e, as the annex writes them."""
    config = '[[interface]]\nis = "eth10g-kr"\nnets = ["/PCIE_*"]\n'
    drawn = paired(capacitors=False) | {"config": '[declared]\nfoil = "VLP"\n' + config}
    board = write(MiniBoard.model_validate(drawn), tmp_path, "card")
    assert run(["touchstone", str(board), "--output", str(tmp_path / "links")]) == 0
    comments, ghz, s = read(tmp_path / "links" / "PCIE_TX0_P.s4p")
    found = [line for line in comments if "the mask of the whole channel, 10GBASE-KR" in line]
    hz, mixed = 1e9 * ghz[1:], mixed_modes(s)[1:]
    fitted = 2e-5 * np.sqrt(hz) + 1.1e-10 * hz + 3.2e-20 * hz**2 - 1.2e-30 * hz**3
    most = 20 * math.log10(math.e) * fitted + 0.8 + 2e-10 * hz + 1e-8 * np.maximum(hz - 6e9, 0)
    room = (most + 20 * np.log10(np.abs(mixed[:, 1, 0])))[hz >= 50e6]
    assert f"{room.min():.2f} dB within" in found[0]
    assert found[0].endswith("at 0.05 GHz")
    least = np.where(hz <= 275e6, 12.0, np.where(hz <= 3e9, 12 - 6.75 * np.log10(hz / 275e6), 5.0))
    worse_db = -20 * np.log10(np.maximum(np.abs(mixed[:, 0, 0]), np.abs(mixed[:, 1, 1])))
    back = (worse_db - least)[(hz >= 50e6) & (hz <= 10.3125e9)]
    assert f"{abs(back.min()):.2f} dB {'within' if back.min() >= 0 else 'outside'}" in found[1]


def test_the_pieces_of_the_return_mask_meet() -> None:
    for name in ("eth25g", "eth10g-kr"):
        for first, second in pairwise(interface(name).return_mask):
            assert first.at(first.to_ghz) == pytest.approx(second.at(first.to_ghz), abs=0.02)
    assert interface("eth25g").return_mask[-1].at(14.0) == pytest.approx(4.75, abs=1e-6)
    low, high = interface("eth10g-kr").loss_mask
    assert low.at(6.0) == pytest.approx(high.at(6.0), abs=1e-6)
    assert low.at(5.15625) == pytest.approx(25.2, abs=0.05)  # 25 dB, as Intel quotes it


def test_the_trace_over_time_shows_a_via(tmp_path: Path) -> None:
    """3.24 mm of barrel hang on a link of 92.5 ohm: a step sees a dip there, and none where it is drilled away."""
    from tests.support.cli.touchstone_files import TREATED, UNTREATED

    lowest = []
    for board in (UNTREATED, TREATED):
        folder = tmp_path / board.stem
        words = ["--net", "NVLINK0_RX0", "--output", str(folder), "--tdr"]
        assert run(["touchstone", str(board), *words]) == 0
        rows = (folder / "NVLINK0_RX0_P_tdr.csv").read_text(encoding="ascii").splitlines()[1:]
        lowest.append(min(float(row.split(",")[1]) for row in rows))
    assert lowest[0] < lowest[1] - 10


def test_a_trace_on_another_layer_runs_alone(tmp_path: Path) -> None:
    """N takes 20 mm on the back by two vias: they stand in N only, and modes convert; still passive and reciprocal."""
    drawn = paired(capacitors=False)
    drawn["tracks"] = [
        {"net": "/PCIE_TX0_P", "layer": "F.Cu", "width_mm": 0.15, "path_mm": [[5, 10], [45, 10]]},
        {"net": "/PCIE_TX0_N", "layer": "F.Cu", "width_mm": 0.15, "path_mm": [[5, 10.3], [15, 10.3], [15, 12]]},
        {"net": "/PCIE_TX0_N", "layer": "B.Cu", "width_mm": 0.15, "path_mm": [[15, 12], [35, 12]]},
        {"net": "/PCIE_TX0_N", "layer": "F.Cu", "width_mm": 0.15, "path_mm": [[35, 12], [35, 10.3], [45, 10.3]]},
    ]
    drawn["vias"] = [{"net": "/PCIE_TX0_N", "at_mm": [x, 12]} for x in (15, 35)]
    board = write(MiniBoard.model_validate(drawn), tmp_path, "card")
    assert run(["touchstone", str(board), "--output", str(tmp_path / "links")]) == 0
    comments, _, s = read(tmp_path / "links" / "PCIE_TX0_P.s4p")
    assert "element: 20.000 mm of 0.15 mm on B.Cu, N alone" in comments
    assert [line for line in comments if line.startswith("element: via")] == [
        "element: via from F.Cu to B.Cu, 1.500 mm, N alone",
        "element: via from B.Cu to F.Cu, 1.500 mm, N alone",
    ]
    assert "note: N is 3.400 mm longer on tracks" in " ".join(comments)
    assert np.linalg.svd(s, compute_uv=False).max() <= 1 + 1e-9
    assert s == pytest.approx(s.transpose(0, 2, 1), abs=1e-9)


@pytest.mark.parametrize("kept", [0, 1])
def test_a_net_without_a_route_gives_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str], kept: int) -> None:
    """Neither trace, or one of both, is routed: no file, and the net is named."""
    drawn = paired(capacitors=False)
    drawn["tracks"] = drawn["tracks"][:kept]
    board = write(MiniBoard.model_validate(drawn), tmp_path, "card")
    assert run(["touchstone", str(board), "--output", str(tmp_path / "links")]) == 1
    net = "/PCIE_TX0_N" if kept else "/PCIE_TX0_P"
    assert f"no file /PCIE_TX0_P: the whole route of {net} is not known" in " ".join(capsys.readouterr().out.split())
    assert not list((tmp_path / "links").glob("*.s4p"))


@pytest.mark.parametrize(("role", "is_there"), [("medium", True), ("", True), ("very_short", False)])
def test_the_operating_margin_of_a_declared_channel(tmp_path: Path, role: str, is_there: bool) -> None:
    """Of 25G links for which the standard publishes packages and equaliser, with what is not in it; of no other."""
    declared_role = f'role = "{role}"\n' if role else ""
    config = f'[[interface]]\nis = "eth25g"\n{declared_role}nets = ["/PCIE_*"]\n'
    drawn = paired(capacitors=False) | {"config": '[declared]\nfoil = "VLP"\n' + config}
    board = write(MiniBoard.model_validate(drawn), tmp_path, "card")
    told = run_here("touchstone", board, "--eye", "--output", "links", cwd=tmp_path).out
    assert ("as a channel of 100GBASE-KR4" in told) == is_there
    if is_there:
        assert "no crosstalk, which would lower it" in told
        row = next(line for line in told.split("100GBASE-KR4")[1].splitlines() if "PCIE_TX0_P.s4p" in line)
        com_db, eye_mv, width_ui = map(float, row.split()[1:4])
        assert 5 < com_db < 15
        assert 100 < eye_mv < 500
        assert 0.5 < width_ui < 1
        assert ("to a connector" in row) == ("figures of this board's part" in told)
