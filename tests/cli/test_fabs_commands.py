"""`fabs`, `match`, `retarget`, `impedance --against-kicad`: what they show, write and refuse."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import jsonschema
import pytest

from drc_rules.requirements.fabs.stackups.load import find, named_stackups
from drc_rules.stackup_design.plan_file import read_plan
from stackup_lib.core.errors import StackwrightError
from stackup_lib.kicad import read_board
from stackwright.cli.app import run
from tests.support.boards import BOARDS
from tests.support.mini import mini_file
from tests.support.stackups import FOUR_LAYERS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT / "fixtures" / "schemas"
EDGE = "edge_jetson_carrier_fit"
STACKUP = "JLC06161H-3313"
WIDEST = 80


def board(folder: Path, name: str = EDGE) -> Path:
    """A copy of a fixture's board with project and settings."""
    shutil.copytree(BOARDS / name, folder / name)
    return folder / name / f"{name}.kicad_pcb"


def answer(schema: str, text: str) -> dict[str, object]:
    """A JSON answer that its schema accepts."""
    data: dict[str, object] = json.loads(text)
    jsonschema.validate(data, json.loads((SCHEMAS / f"{schema}.json").read_text(encoding="utf-8")))
    return data


def profiles(path: Path, width_nm: int) -> None:
    """Give a board's project two tuning profiles, one layer of them on target."""
    project = json.loads(path.with_suffix(".kicad_pro").read_text(encoding="utf-8"))

    def entry(layer: str, width: int) -> dict[str, object]:
        below = "In1.Cu" if layer == "F.Cu" else "UNDEFINED"
        above = "UNDEFINED" if layer == "F.Cu" else "In4.Cu"
        refs = {"top_reference_layer": above, "bottom_reference_layer": below}
        return {"signal_layer": layer, **refs, "width": width, "diff_pair_gap": 150000, "delay": 6123}

    pair = {"profile_name": "USB90", "type": 1, "target_impedance": 90.0, "layer_entries": [entry("F.Cu", width_nm)]}
    line = {"profile_name": "SE50", "type": 0, "target_impedance": 50.0, "layer_entries": [entry("B.Cu", 200000)]}
    project["tuning_profiles"] = {"meta": {"version": 0}, "tuning_profiles_impedance_geometric": [pair, line]}
    path.with_suffix(".kicad_pro").write_text(json.dumps(project, indent=2), encoding="utf-8")


def test_the_fabs_are_listed_with_dates(capsys: pytest.CaptureFixture[str]) -> None:
    """Every list with its date; what the fab has replaced is marked."""
    assert run(["fabs"]) == 0
    text = capsys.readouterr().out
    assert "2025-05-09       577  4 to 32" in text
    assert text.count("superseded") == 2
    assert max(map(len, text.splitlines())) <= WIDEST


def test_filters_leave_what_can_be_ordered(capsys: pytest.CaptureFixture[str]) -> None:
    """Layers, thickness and copper weights all hold; replaced stackups are not offered."""
    order = ["--layers", "6", "--thickness-mm", "1.6", "--copper", "1/0.5"]
    assert run(["fabs", *order, "--format", "json"]) == 0
    found = answer("fab-stackups-v1", capsys.readouterr().out)["stackups"]
    assert isinstance(found, list)
    assert STACKUP in {one["name"] for one in found}
    assert {(one["copper_layers"], one["thickness_mm"], one["outer_oz"], one["inner_oz"]) for one in found} == {
        (6, 1.6, 1.0, 0.5)
    }
    assert not [one for one in found if one["date"] < "2023"]


def test_a_stackup_is_shown_row_by_row(capsys: pytest.CaptureFixture[str]) -> None:
    """Plies, resin, Dk, Df, Tg, date and source."""
    assert run(["fabs", "show", STACKUP]) == 0
    text = capsys.readouterr().out
    for words in ("2025-05-09", "0.0994", "3313", "57 %", "4.1", "150 C", "source: JLCPCB impedance templates"):
        assert words in text


def test_a_name_of_several_stackups_asks_which(capsys: pytest.CaptureFixture[str]) -> None:
    """The default template exists in many thicknesses: they are listed, and the options that tell them apart."""
    assert run(["fabs", "show", "NOREQ", "--layers", "4", "--thickness-mm", "1.6"]) == 1
    text = capsys.readouterr().out
    assert "6 stackups have this name" in text
    assert "stackwright fabs show NOREQ --layers 4 --thickness-mm 1.6 --copper 1/0.5" in text
    assert run(["fabs", "show", "NOREQ", "--layers", "4", "--thickness-mm", "1.6", "--copper", "1/0.5"]) == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fabs", "show", "JLC04161H-762"], "JLC04161H-7628"),
        (["fabs", "--fab", "jlc"], "jlcpcb"),
        (["fabs", "--copper", "thick"], "no copper weight"),
    ],
)
def test_what_no_fab_has_is_refused_in_a_line(arguments: list[str], words: str) -> None:
    """With the name that may be meant."""
    with pytest.raises(StackwrightError, match=words):
        run(arguments)


def test_a_board_is_matched_to_the_nearest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A board that no fab offers: exit code 1, rows that differ, and what it does to the lines."""
    path = board(tmp_path)
    assert run(["match", str(path), "--format", "json"]) == 1
    data = answer("match-v1", capsys.readouterr().out)
    stackups, lines = data["stackups"], data["lines"]
    assert isinstance(stackups, list)
    assert isinstance(lines, list)
    assert [one["distance"] for one in stackups] == sorted(one["distance"] for one in stackups)
    assert any(row["differs"] for row in stackups[0]["rows"])
    assert all(line["before"]["impedance_ohm"] != line["after"]["impedance_ohm"] for line in lines)
    assert lines


def _ohms(data: dict[str, object]) -> dict[tuple[str, float], float]:
    lines = data["lines"]
    assert isinstance(lines, list)
    return {(one["layer"], one["width_mm"]): one["after"]["impedance_ohm"] for one in lines}


@pytest.mark.parametrize("declared", ["", "[process]\nouter_copper_um = 50\n"])
def test_match_and_retarget_give_a_line_one_impedance(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], declared: str
) -> None:
    """They were 2 ohm apart: one took the fab's process, the other the board's."""
    path = board(tmp_path)
    (path.parent / "stackwright.toml").write_text(declared, encoding="utf-8")
    run(["match", str(path), "--with", STACKUP, "--format", "json"])
    matched = _ohms(answer("match-v1", capsys.readouterr().out))
    run(["retarget", str(path), "--to", STACKUP, "--format", "json"])
    retargeted = _ohms(answer("retarget-v1", capsys.readouterr().out))

    assert matched == retargeted
    run(["match", str(path), "--with", STACKUP])
    assert 'with [process] preset = "jlcpcb" as `retarget` sets it' in " ".join(capsys.readouterr().out.split())


def test_retarget_writes_all_or_shows_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Shown: nothing changes. Written: the board is the fab's stackup, with widths, rules, profiles and process."""
    path = board(tmp_path)
    profiles(path, 200000)
    before = {one.name: one.read_bytes() for one in path.parent.iterdir()}
    plan = tmp_path / "a.stackwright-plan.toml"
    assert run(["retarget", str(path), "--to", STACKUP, "--plan", str(plan), "--format", "json"]) == 0
    data = answer("retarget-v1", capsys.readouterr().out)
    assert {one.name: one.read_bytes() for one in path.parent.iterdir()} == before

    planned = read_plan(plan)
    assert planned.process == "jlcpcb"
    assert [rule.model_dump() for rule in planned.rule] == data["rule"]
    assert {(one.profile, one.layer) for one in planned.tuning} == {("USB90", "F.Cu"), ("SE50", "B.Cu")}

    assert run(["retarget", str(path), "--to", STACKUP, "--write"]) == 0
    assert "wrote" in capsys.readouterr().out
    (stackup,) = find(STACKUP, named_stackups())
    after = read_board(path)
    assert after.stackup is not None
    rows = [row for row in after.stackup.layers if row.is_dielectric or row.kind.value == "copper"]
    assert [row.thickness_mm for row in rows] == [row.thickness_mm for row in stackup.rows]
    assert 'preset = "jlcpcb"' in (path.parent / "stackwright.toml").read_text(encoding="utf-8")
    rules = path.with_suffix(".kicad_dru").read_text(encoding="utf-8")
    classes = after.project.classes
    for one in planned.net_class:
        assert classes[one.name].diff_pair_width_mm == one.diff_pair_width_mm
        assert f"hasNetclass('{one.name}')" in rules
    sizes = {(p.name, layer.signal_layer): layer.width_mm for p in after.project.tuning_profiles for layer in p.layers}
    assert sizes == {(one.profile, one.layer): pytest.approx(one.width_mm) for one in planned.tuning}
    assert '"delay": 6123' in path.with_suffix(".kicad_pro").read_text(encoding="utf-8")

    assert run(["match", str(path)]) == 0
    assert f"is {STACKUP}" in capsys.readouterr().out


def test_routed_pairs_that_may_stay_widen_a_rule_on_their_side_alone(tmp_path: Path) -> None:
    """PCIe at 85 ohm, routed 0.17/0.1 mm and within 10 % of it, solved wider: nothing wider than that passes."""
    sizes = {"path_mm": [[5, 9], [50, 9]], "width_mm": 0.17, "gap_mm": 0.1}
    given = {
        "size_mm": [60, 40],
        "pairs": [{"nets": ["/PCIE_TX0_P", "/PCIE_TX0_N"], "layer": "F.Cu", **sizes}],
        "net_classes": [{"name": "PCIE", "patterns": ["/PCIE_*"]}],
        "stackup": FOUR_LAYERS,
        "planes": {"In1.Cu": "GND", "In2.Cu": "GND"},
    }
    path, plan = mini_file(tmp_path, given), tmp_path / "a.toml"
    path.with_name("stackwright.toml").write_text('[[interface]]\nis = "pcie3"\nnet_classes = ["PCIE"]\n')

    assert run(["retarget", str(path), "--to", "JLC04161H-7628", "--plan", str(plan)]) == 0

    (rule,) = (one for one in read_plan(plan).rule if one.layer == "F.Cu")
    assert rule.width_mm > 0.18
    assert (rule.min_width_mm, rule.max_width_mm) == (0.17, None)
    assert rule.width_range_mm[1] == pytest.approx(rule.width_mm, abs=1e-4)


@pytest.mark.parametrize(
    ("pattern", "nets"),
    [("/PCIE_TX0_*", "2 of 4 nets of PCIe Gen3, 85 ohm differential (/PCIE_TX1_P ...)"), ("/PCIE_*", None)],
)
def test_nets_without_a_class_are_counted(
    pattern: str, nets: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All nets of a target were said to be in no class where half of them were."""
    lanes = (("/PCIE_TX0", 9), ("/PCIE_TX1", 14))
    given = {
        "size_mm": [60, 40],
        "pairs": [
            {"nets": [f"{name}_P", f"{name}_N"], "layer": "F.Cu", "path_mm": [[5, y], [50, y]], "width_mm": 0.17}
            for name, y in lanes
        ],
        "net_classes": [{"name": "PCIE", "patterns": [pattern]}],
        "stackup": FOUR_LAYERS,
        "planes": {"In1.Cu": "GND", "In2.Cu": "GND"},
    }
    path = mini_file(tmp_path, given)
    path.with_name("stackwright.toml").write_text('[[interface]]\nis = "pcie3"\nnets = ["/PCIE_*"]\n')

    assert run(["retarget", str(path), "--to", "JLC04161H-7628"]) == 0

    said = " ".join(capsys.readouterr().out.split())
    assert (f"{nets} are in no net class" in said) if nets else ("in no net class" not in said)


def test_the_plan_of_retarget_does_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`apply` with the plan leaves the files that `retarget --write` leaves; what must be rerouted is listed."""
    one, other = board(tmp_path / "one"), board(tmp_path / "other")
    plan = tmp_path / "a.stackwright-plan.toml"
    assert run(["retarget", str(one), "--to", "JLC061611-1080A", "--plan", str(plan)]) == 0
    text = capsys.readouterr().out
    assert "781 mm of copper off its target" in text
    assert run(["apply", str(plan), str(one), "--write", "--change-stackup", "--classes", "--rules"]) == 0
    assert run(["retarget", str(other), "--to", "JLC061611-1080A", "--write"]) == 0
    for suffix in (".kicad_pcb", ".kicad_pro", ".kicad_dru"):
        assert one.with_suffix(suffix).read_bytes() == other.with_suffix(suffix).read_bytes()
    assert (one.parent / "stackwright.toml").read_bytes() == (other.parent / "stackwright.toml").read_bytes()


@pytest.mark.parametrize("name", ["default_stackup", "no_stackup"])
def test_a_board_without_a_stackup_gets_one(tmp_path: Path, name: str) -> None:
    """That is what a fab's stackup is most needed for; `match` has nothing to match."""
    path = board(tmp_path, name)
    with pytest.raises(StackwrightError, match="nothing to match"):
        run(["match", str(path)])
    assert run(["retarget", str(path), "--to", STACKUP, "--write"]) == 0
    assert run(["match", str(path)]) == 0


def test_the_former_fabs_process_does_not_stay(tmp_path: Path) -> None:
    """Keys of `[process]` that the new fab's preset states become comments: they would win over it."""
    path = board(tmp_path)
    settings = path.parent / "stackwright.toml"
    said = "\n[process]\nouter_copper_um = 55\nmask_df = 0.03\n"
    settings.write_text(settings.read_text(encoding="utf-8") + said, encoding="utf-8")
    assert run(["retarget", str(path), "--to", STACKUP, "--write"]) == 0
    lines = settings.read_text(encoding="utf-8").splitlines()
    assert "# of a former stackup: outer_copper_um = 55" in lines
    assert "mask_df = 0.03" in lines  # the preset states none


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--to", "JLC04161H-7628"], "has 4 copper layers, the board 6"),
        (["--to", "NOREQ"], "28 stackups of 6 layers have this name"),
        (["--to", STACKUP, "--copper", "2/2"], "no stackup of this name fits"),
        (["--to", "OSHPARK-2L"], "has 2 copper layers"),
    ],
)
def test_a_stackup_that_does_not_fit_is_refused(tmp_path: Path, arguments: list[str], words: str) -> None:
    """One line, and every file as it was."""
    path = board(tmp_path)
    before = path.read_bytes()
    with pytest.raises(StackwrightError, match=words):
        run(["retarget", str(path), *arguments, "--write"])
    assert path.read_bytes() == before


def test_a_name_without_a_stackup_of_the_layer_count_is_told_so(tmp_path: Path) -> None:
    """It read "no stackup of this name fits", and the command that it named listed none."""
    path = mini_file(tmp_path, {"size_mm": (60, 40), "copper_layers": 2})
    said = "NOREQ: no stackup of this name has 2 layers; list what fits: stackwright fabs --layers 2"
    with pytest.raises(StackwrightError, match=said):
        run(["retarget", str(path), "--to", "NOREQ"])


def test_tuning_profiles_that_are_off_are_found_and_corrected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only width and gap of what is off change; then nothing is off, and the solver agrees."""
    path = board(tmp_path)
    profiles(path, 200000)
    project = path.with_suffix(".kicad_pro")
    before = project.read_text(encoding="utf-8").splitlines()
    command = ["impedance", str(path), "--against-kicad"]
    assert run([*command, "--format", "json"]) == 1
    data = answer("against-kicad-v1", capsys.readouterr().out)
    found = data["profiles"]
    assert isinstance(found, list)
    pair, line = found
    assert pair["off_pct"] == pytest.approx(-5.5, abs=0.2)
    assert abs(line["off_pct"]) < 2

    assert run([*command, "--write-profiles"]) == 0
    after = project.read_text(encoding="utf-8").splitlines()
    changed = [(a.strip(), b.strip()) for a, b in zip(before, after, strict=True) if a != b]
    assert changed == [('"width": 200000,', f'"width": {round(pair["right_width_mm"] * 1e6)},')]
    capsys.readouterr()
    assert run(command) == 0
    assert "2 rows, none off" in capsys.readouterr().out


def test_closed_forms_are_shown_where_they_miss(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Coupled microstrip under solder mask, KiCad issue 9077: its closed form is some 10 % high."""
    path = board(tmp_path)
    assert run(["impedance", str(path), "--against-kicad", "--format", "json"]) == 0
    lines = answer("against-kicad-v1", capsys.readouterr().out)["calculator"]
    assert isinstance(lines, list)
    assert {one["form"] for one in lines} == {"coupled microstrip (Kirschning-Jansen)"}
    assert all(6 < one["off_pct"] < 12 for one in lines)


def test_profiles_are_not_written_unasked() -> None:
    """`--write-profiles` alone is a slip."""
    assert run(["impedance", str(BOARDS / EDGE), "--write-profiles"]) == 2
