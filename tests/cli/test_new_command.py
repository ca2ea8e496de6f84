"""`stackwright new`: a board without a layout, in four files or none, and without a fault to our own check."""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path

import pytest

from drc_rules.analysis.impedance.line_report import line_report
from drc_rules.analysis.lines.solved_lines import Lines
from drc_rules.engine.check import check_board, find_config, prepare
from drc_rules.facts.declared import Overrides
from drc_rules.report.model import Headline
from drc_rules.report.verdicts import Verdict
from drc_rules.requirements.interfaces import interface
from drc_rules.requirements.profiles.profile import load_profile, profile_names
from drc_rules.settings.config import load_config
from drc_rules.stackup_design.plan_file import parse_plan
from stackup_lib.board.planned import PlannedClass, planned_from
from stackup_lib.core.errors import ConfigError, NotWrittenError, StackwrightError
from stackup_lib.core.facts import Fact
from stackup_lib.kicad import read_board, read_project
from stackup_lib.kicad.design_rules.rules_file import parse_design_rules
from stackup_lib.kicad.write.new_board import empty_board, empty_project
from stackup_lib.materials import FoilGrade, catalogue
from stackwright.cli.app import run
from stackwright.commands.apply.new import NewRequest, new_board
from stackwright.tables.counts import tally
from tests.support.cli.new_boards import CLASS, REMARKS, SIX_LAYERS

EDGE = ("--profile", "edge", "--interface", "pcie4")


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """The plan of six layers in a file, outside of the folder that a board goes into."""
    path = tmp_path / "six.stackwright-plan.toml"
    path.write_text(SIX_LAYERS, encoding="utf-8")
    return path


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """Where a board is to go: a folder of its own, still empty."""
    folder = tmp_path / "card"
    folder.mkdir()
    return folder / "card.kicad_pcb"


def test_four_files_hold_what_the_plan_says(plan: Path, target: Path) -> None:
    """Stackup, net class, rules per layer, facts that KiCad has no field for; no net, no part; a stand-in outline."""
    assert run(["new", *EDGE, "--plan", str(plan), str(target)]) == 0
    assert sorted(p.name for p in target.parent.iterdir()) == [
        "card.kicad_dru",
        "card.kicad_pcb",
        "card.kicad_pro",
        "stackwright.toml",
    ]
    board, planned = read_board(target), parse_plan(SIX_LAYERS, "plan").planned
    assert board.stackup is not None
    stated = planned_from(board.stackup)
    assert [(r.name, r.kind, r.plies) for r in stated.rows] == [
        (r.name, r.kind, tuple(p.model_copy(update={"thickness_locked": False}) for p in r.plies)) for r in planned.rows
    ]
    assert (stated.copper_finish, stated.dielectric_constraints) == ("ENIG", True)
    assert [layer.kicad_type for layer in board.copper_layers] == [
        "signal",
        "power",
        "signal",
        "signal",
        "power",
        "signal",
    ]
    assert board.thickness_mm == pytest.approx(1.3704)
    assert (board.nets, len(board.tracks), len(board.pads)) == (("",), 0, 0)
    assert board.outline.size_mm == pytest.approx((100, 100))
    project = read_project(target.with_suffix(".kicad_pro"), ())
    assert project.classes[CLASS].diff_pair_width_mm == 0.118
    assert project.classes[CLASS].diff_pair_gap_mm == 0.15
    rules = parse_design_rules(target.with_suffix(".kicad_dru").read_text(encoding="utf-8"))
    assert rules.fault is None
    assert {rule.layer for rule in rules.rules} == {"F.Cu", "In2.Cu"}
    config = load_config(target.with_name("stackwright.toml"))
    assert (config.profile, config.form, config.declared.impedance_tolerance_pct) == ("edge", None, 10)
    assert config.declared.stackup_hash == board.stackup.digest
    assert config.declared.copper["In2.Cu"].foil == "RTF"
    assert config.declared.dielectric["dielectric 2"].at_ghz == 2
    assert [(one.is_, one.net_classes) for one in config.interface] == [("pcie4", (CLASS,))]


def test_the_requirement_stands_in_the_rules_as_a_comment(plan: Path, target: Path) -> None:
    """A reader of the rules in KiCad's editor sees what each is for."""
    new_board(target, NewRequest("edge", plan=plan))
    lines = target.with_suffix(".kicad_dru").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "(version 1)"
    assert lines.count("# 85 ohm differential for PCIe Gen4") == 2


def test_our_own_check_finds_no_fault(plan: Path, target: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing failed; what is open hangs on nets and planes that an empty board has not, and the page says so."""
    new_board(target, NewRequest("edge", interfaces=("pcie4",), plan=plan))
    report = check_board(target)
    assert not report.findings
    assert {one.verdict for one in report.verdicts} == {
        Verdict.PASSED,
        Verdict.NOT_VERIFIABLE,
        Verdict.NOT_APPLICABLE,
    }
    out = " ".join(capsys.readouterr().out.split())
    assert f"requirements: {tally(report.verdicts)}" in out
    assert "failed" not in out
    assert "the power planes of the board" in out
    assert "85Ohm-diff_PCIE_GEN4 0.118/0.15 F.Cu, In2.Cu" in out


def test_facts_are_stale_as_soon_as_the_stackup_changes(
    plan: Path, target: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A user thickens a core in KiCad: the report says so, and what was declared is unknown again."""
    new_board(target, NewRequest("edge", plan=plan))
    assert not any("stale" in note for note in check_board(target).notes)
    assert foil_of(target, "In2.Cu").value is FoilGrade.RTF
    text = target.read_bytes()
    assert text.count(b"(thickness 0.2)") == 2
    target.write_bytes(text.replace(b"(thickness 0.2)", b"(thickness 0.25)"))
    assert any("declares facts for another stackup" in note for note in check_board(target).notes)
    assert foil_of(target, "In2.Cu").stale
    assert run(["check", str(target)]) == 0
    assert "they are stale, and count as unknown" in " ".join(capsys.readouterr().out.split())
    target.write_bytes(text)
    assert foil_of(target, "In2.Cu").known


def foil_of(path: Path, layer: str) -> Fact[FoilGrade]:
    """The foil that our check takes a copper layer to have."""
    board = read_board(path)
    context, _, _ = prepare(board, find_config(path, None), Overrides())
    return context.foil(board.layer_index[layer])


# --- the outline ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "asked"),
    [
        (("edge", "pcie-fhhl"), (167.65, 111.15, "the maximum of the form; PCI-SIG:")),
        (("edge", "oam"), (102, 165, "a plain rectangle, without card edge or notches; Open Compute")),
        (("edge", "ocp-nic3-sff"), (76, 115, "OCP NIC 3.0 sizes")),
        (("edge", "com-hpc-d"), (160, 160, "usual, no document that was read states it")),
        (("edge", "jetson-carrier"), (100, 100, "no size is published (carrier board for a Jetson module)")),
        (("training-b200", "hgx"), (400, 400, "a stand-in, because KiCad requires an outline")),
        (("inference", None), (100, 100, "no form factor is stated; draw yours on Edge.Cuts")),
    ],
)
def test_the_outline_and_where_its_size_is_from(
    wanted: tuple[str, str | None],
    asked: tuple[float, float, str],
    plan: Path,
    target: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The form factor's size; without one a stand-in with sides that the profile takes, and it says so."""
    (profile, form), (width_mm, height_mm, said) = wanted, asked
    new_board(target, NewRequest(profile, form=form, plan=plan))
    assert read_board(target).outline.size_mm == pytest.approx((width_mm, height_mm))
    settings = target.with_name("stackwright.toml")
    assert load_config(settings).form == form
    assert f"# Outline: {width_mm:g} x {height_mm:g} mm, a " in settings.read_text(encoding="utf-8")
    assert said in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(("form", "edge"), [("pcie-fhhl", "yes"), ("m2-2280", "yes"), ("oam", None)])
def test_a_form_with_contacts_on_its_edge_states_an_edge_connector(
    plan: Path, target: Path, form: str, edge: str | None
) -> None:
    """The fab read "edge connector: no" of a PCIe card."""
    new_board(target, NewRequest("edge", form=form, plan=plan))
    stackup = read_board(target).stackup
    assert stackup is not None and stackup.edge_connector == edge


def test_a_form_that_the_profile_implies_is_written_down(plan: Path, target: Path) -> None:
    """So that the settings alone say what the board is judged against."""
    new_board(target, NewRequest("training-b200", plan=plan))
    config = load_config(target.with_name("stackwright.toml"))
    assert (config.profile, config.form) == ("training-b200", "hgx")
    text = target.with_name("stackwright.toml").read_text(encoding="utf-8")
    assert "# NVLink 5 (B200): the nets it runs on" in text  # no class of the plan is named after it


# --- all or nothing ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["card.kicad_pcb", "card.kicad_pro", "card.kicad_dru", "stackwright.toml"])
def test_nothing_that_is_there_is_replaced(name: str, plan: Path, target: Path) -> None:
    """Whichever of the four it is, it stays, and none of the others appears."""
    there = target.with_name(name)
    there.write_bytes(b"somebody's work")
    with pytest.raises(NotWrittenError, match="is there already, and is not replaced"):
        new_board(target, NewRequest("edge", plan=plan))
    assert [p.name for p in target.parent.iterdir()] == [name]
    assert there.read_bytes() == b"somebody's work"


@pytest.mark.skipif(os.name != "posix", reason="POSIX links")
def test_a_dangling_link_is_there_too(plan: Path, target: Path) -> None:
    """Nothing is written through it to wherever it points."""
    target.symlink_to(target.with_name("elsewhere.kicad_pcb"))
    with pytest.raises(NotWrittenError, match="is there already"):
        new_board(target, NewRequest("edge", plan=plan))
    assert [p.name for p in target.parent.iterdir()] == [target.name]


def test_a_name_that_kicad_holds_is_not_taken(plan: Path, target: Path) -> None:
    """A KiCad that has a board of this name open, not saved yet, would write over ours."""
    lock = target.with_name(f"~{target.name}.lck")
    lock.write_text('{"hostname": "h", "username": "u"}', encoding="utf-8")
    with pytest.raises(NotWrittenError, match="is open in KiCad"):
        new_board(target, NewRequest("edge", plan=plan))
    assert list(target.parent.iterdir()) == [lock]


def test_a_disk_that_refuses_the_last_file_keeps_none(
    plan: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three files were written when the settings cannot be: all three are taken away again."""
    replace = os.replace

    def refuse(source: str | Path, to: str | Path) -> None:
        if Path(to).name == "stackwright.toml":
            raise OSError(28, "No space left on device")
        replace(source, to)

    def no_links(*_: object) -> None:
        raise OSError(1, "this file system has no hard links")

    monkeypatch.setattr(os, "link", no_links)
    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(NotWrittenError, match="no space left"):
        new_board(target, NewRequest("edge", plan=plan))
    assert not list(target.parent.iterdir())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--profile", "trainig-b200", "x.kicad_pcb"], 'did you mean "training-b200"'),
        (["--profile", "edge", "--form", "pcie-crad", "x.kicad_pcb"], 'did you mean "pcie-card"'),
        (["--profile", "edge", "--interface", "pcie55", "x.kicad_pcb"], 'did you mean "pcie5"'),
        (["--profile", "edge", "x"], "give x.kicad_pcb"),
        (["--profile", "edge", "x.kicad_pro"], "give x.kicad_pcb"),
        (["--profile", "edge", "x.brd"], "ends with .kicad_pcb"),
        (["--profile", "edge", "--plan", "none.toml", "x.kicad_pcb"], "none.toml"),
    ],
)
def test_what_is_wrong_is_one_line(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the word that is meant, or the name to give; and nothing is written."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StackwrightError) as caught:
        run(["new", *arguments])
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_a_plan_that_is_no_board_leaves_nothing(plan: Path, target: Path) -> None:
    """Five copper layers: KiCad takes even numbers only."""
    rows = SIX_LAYERS.splitlines()
    at = next(i for i, row in enumerate(rows) if "plies" in row)
    plan.write_text("\n".join(rows[:at] + rows[at + 4 :]), encoding="utf-8")
    with pytest.raises(NotWrittenError, match="5 copper layers"):
        new_board(target, NewRequest("edge", plan=plan))
    assert not list(target.parent.iterdir())


# --- details ----------------------------------------------------------------------------------------------------------


def test_a_profile_of_the_users_own_is_found_from_the_settings(plan: Path, target: Path) -> None:
    """The settings name it as it lies from there, so the check finds it wherever it is run."""
    own = target.parent.parent / "mine.toml"
    own.write_text('title = "mine"\nworkload = "edge"\nextends = ["edge"]\n', encoding="utf-8")
    new_board(target, NewRequest(str(own), plan=plan))
    settings = tomllib.loads(target.with_name("stackwright.toml").read_text(encoding="utf-8"))
    assert settings["profile"] == str(Path("..") / "mine.toml")
    assert check_board(target).profile == str(own.parent / "card" / ".." / "mine.toml")


HOUSE = """
[goals]
layers = 8
[fab]
name = "House"
outer_track_mm = 0.1
track_mm = { "0.5" = 0.1, "1" = 0.12 }
dielectric_mm = 0.1
board_mm = [500, 400]
spread_glass = true
[process]
preset = "jlcpcb"
inner_etch_taper_um = 12
"""


@pytest.mark.parametrize("has_plan", [False, True])
def test_the_settings_of_the_fab_count_and_become_the_boards_own(
    plan: Path, target: Path, tmp_path: Path, *, has_plan: bool
) -> None:
    """`suggest` kept the limits of your own fab, `new` did not: its dielectrics of 0.075 mm failed the first check."""
    house = tmp_path / "house.toml"
    house.write_text(HOUSE, encoding="utf-8")

    new_board(target, NewRequest("edge", interfaces=("pcie3",), config=house, plan=plan if has_plan else None))

    own, asked = load_config(target.with_name("stackwright.toml")), load_config(house)
    assert (own.fab, own.process) == (asked.fab, asked.process)
    board = read_board(target)
    assert board.stackup is not None
    if not has_plan:
        assert len(board.copper_layers) == 8
        assert min(row.thickness_mm or 0.0 for row in board.stackup.layers if row.is_dielectric) >= 0.1


def test_without_settings_of_a_fab_none_are_written(plan: Path, target: Path) -> None:
    """What is not declared stays open, for the tiers of fabs to decide."""
    new_board(target, NewRequest("edge", plan=plan))

    text = target.with_name("stackwright.toml").read_text(encoding="utf-8")
    assert "[fab]" not in text and "[process]" not in text


def test_the_finish_can_be_chosen(plan: Path, target: Path) -> None:
    """It goes into the stackup; without it the plan's own stands there."""
    new_board(target, NewRequest("edge", plan=plan, finish="Immersion silver"))
    stackup = read_board(target).stackup
    assert stackup is not None
    assert stackup.copper_finish == "Immersion silver"


def test_a_line_of_a_board_without_planes_asks_for_them(
    plan: Path, target: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is filled yet: which planes a line has must be said, and with the neighbours named it is solved."""
    new_board(target, NewRequest("edge", plan=plan))
    line = ["impedance", str(target), "--layer", "In2.Cu", "--width", "0.13", "--gap", "0.15"]
    with pytest.raises(ConfigError, match=r"reference plane of In2\.Cu is not known.*--reference In1\.Cu,In3\.Cu"):
        run(line)
    capsys.readouterr()
    assert run([*line, "--reference", "In1.Cu,In3.Cu"]) == 0
    assert "Zdiff" in capsys.readouterr().out


def test_equal_plans_give_equal_bytes(plan: Path, target: Path, tmp_path: Path) -> None:
    """Nothing of the time, of the machine or of chance gets into the files."""
    new_board(target, NewRequest("edge", form="oam", plan=plan))
    (tmp_path / "again").mkdir()
    other = tmp_path / "again" / target.name
    new_board(other, NewRequest("edge", form="oam", plan=plan))
    for path in target.parent.iterdir():
        assert other.with_name(path.name).read_bytes() == path.read_bytes()


def test_an_empty_project_is_kicads_default_and_the_plans_classes() -> None:
    """In order of priority, Default last."""
    classes = [PlannedClass(name="A", diff_pair_gap_mm=0.1), PlannedClass(name="B", track_width_mm=0.2)]
    data = json.loads(empty_project("x.kicad_pro", classes))
    rows = {row["name"]: row for row in data["net_settings"]["classes"]}
    assert [row["name"] for row in sorted(rows.values(), key=lambda r: r["priority"])] == ["A", "B", "Default"]
    assert rows["A"]["diff_pair_gap"] == 0.1
    assert data["meta"]["filename"] == "x.kicad_pro"


def test_kicads_own_limit_forbids_no_planned_width(plan: Path, target: Path) -> None:
    """KiCad 10 takes nothing below 0.2 mm by itself; the limit is lowered to the narrowest line, and never raised."""
    new_board(target, NewRequest("edge", plan=plan))
    rules = json.loads(target.with_suffix(".kicad_pro").read_bytes())["board"]["design_settings"]["rules"]
    assert rules["min_track_width"] == 0.116
    wide = json.loads(empty_project("x.kicad_pro", [], least_width_mm=0.4))
    assert wide["board"]["design_settings"]["rules"]["min_track_width"] == 0.2


def test_a_large_outline_gets_a_large_sheet() -> None:
    """The smallest sheet on which it lies with 50 mm around; beyond all sheets the largest."""
    planned = parse_plan(SIX_LAYERS, "plan").planned
    papers = {
        size: empty_board(planned, size_mm=size).split(b'(paper "')[1][:2] for size in ((90, 90), (500, 400), (2000, 9))
    }
    assert papers == {(90, 90): b"A4", (500, 400): b"A1", (2000, 9): b"A0"}


# --- from a suggestion ------------------------------------------------------------------------------------------------


def test_a_jetson_carrier_starts_with_the_layers_of_nvidias_guide(
    target: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Eight, with the guide's words that six cost less; what the user says goes first, without the guide's words."""
    new_board(target, NewRequest("edge", form="jetson-carrier", interfaces=("pcie4",)))
    assert read_board(target).layer_count == 8
    out = " ".join(capsys.readouterr().out.split())
    assert "layers 8: form jetson-carrier: NVIDIA: Jetson AGX Xavier Series OEM Product Design Guide" in out
    (target.parent / "six").mkdir()
    six = target.parent / "six" / target.name
    new_board(six, NewRequest("edge", form="jetson-carrier", interfaces=("pcie4",), layers=6))
    assert read_board(six).layer_count == 6
    assert "NVIDIA" not in capsys.readouterr().out


WAITS = re.compile(
    r"the power planes of the board|nets of [a-z0-9.-]+|signal links|board outline.*"
    r"|the core rail of the accelerator, and its current|the high-power components"
    r"|bow and twist of the order \(.*|the nets of .*: net class .* matches none"
)
"""Facts that only a drawn board states, or the order to the fab."""


@pytest.mark.slow
@pytest.mark.parametrize("profile", profile_names())
def test_every_profile_gives_a_board_in_which_nothing_fails(profile: str, target: Path) -> None:
    """Not proven, lacking a layout, nets, planes and an outline; classes, rules and facts hold for this stackup."""
    assert run(["new", "--profile", profile, str(target)]) == 0
    report = check_board(target)
    assert report.headline is Headline.NOT_PROVEN  # whatever its stackup meets: nothing is placed
    assert {f.clause for f in report.findings} <= REMARKS
    assert not report.crashes
    assert {v.clause.id for v in report.verdicts if v.verdict is Verdict.FAILED} <= REMARKS
    waits = {missing.fact for verdict in report.verdicts if verdict.has_rule for missing in verdict.missing}
    assert {fact for fact in waits if not WAITS.fullmatch(fact)} == set()
    assert not any("stale" in note for note in report.notes)
    project = read_project(target.with_suffix(".kicad_pro"), ())
    config = load_config(target.with_name("stackwright.toml"))
    for one in config.interface:
        assert set(one.net_classes) <= project.classes.keys()
        assert one.is_ in (*load_profile(profile).interfaces.values(), *load_profile(profile).design_for)
    assert set(load_profile(profile).must_carry) <= {interface(one.is_).family for one in config.interface}


def test_the_interfaces_of_the_profile_get_classes_and_rules(target: Path) -> None:
    """A pair of 85 ohm for NVLink and PCIe on every layer between two grounds; solved again it has 85 ohm."""
    new_board(target, NewRequest("training-b200"))
    rules = parse_design_rules(target.with_suffix(".kicad_dru").read_text(encoding="utf-8"))
    comments = target.with_suffix(".kicad_dru").read_text(encoding="utf-8").replace("\n# ", " ")
    assert (
        "85 ohm differential for NVLink 5 (B200) (engineering knowledge, no document found); solved: 85.0 ohm"
        in comments
    )
    names = {rule.name.partition(", ")[0] for rule in rules.rules}
    assert {"stackwright: 85Ohm-diff_NVLINK5", "stackwright: 85Ohm-diff_PCIE6"} <= names
    board = read_board(target)
    width, gap = (
        getattr(read_project(target.with_suffix(".kicad_pro"), ()).classes["85Ohm-diff_NVLINK5"], key)
        for key in ("diff_pair_width_mm", "diff_pair_gap_mm")
    )
    wanted = [r for r in rules.rules if "NVLINK5" in r.name and width in [one.opt_mm for one in r.constraints]]
    layer = next(r.layer for r in wanted)
    assert layer is not None
    index = board.layer_index[layer]
    context, _, _ = prepare(board, find_config(target, None), Overrides())
    line = line_report(
        Lines(context), index, width_mm=width, gap_mm=gap, target_ohm=85.0, references=(index - 1, index + 1)
    )
    assert line.z_ohm == pytest.approx(85.0, rel=0.005)


def test_what_the_user_asks_for_is_built(target: Path) -> None:
    """Layers, thickness, laminate and interface as said, each over what the profile would have."""
    arguments = ["--layers", "10", "--thickness-mm", "1.2", "--laminate", "370HR", "--interface", "pcie3"]
    assert run(["new", "--profile", "edge", *arguments, str(target)]) == 0
    board = read_board(target)
    assert board.stackup is not None
    assert board.layer_count == 10
    assert board.thickness_mm == pytest.approx(1.2, rel=0.1)
    assert {catalogue().find(p.material or "").laminate.family for r in board.stackup.dielectrics for p in r.plies} == {  # type: ignore[union-attr]
        "370HR"
    }
    assert [one.is_ for one in load_config(target.with_name("stackwright.toml")).interface] == ["pcie3"]


def test_what_was_assumed_is_said(target: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Power planes and drill are not stated: the page says what was taken, and that it was assumed."""
    new_board(target, NewRequest("edge"))
    out = capsys.readouterr().out
    assert "none: no high-speed interface is known; name what it carries, e.g. --interface pcie5" in out
    assert "assumed  not specified" in out
    assert re.search(r"drill\s+0\.\d+ mm", out)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--layers", "9"], "--layers"),
        (["--layers", "2"], "--layers"),
        (["--thickness-mm", "0.2", "--layers", "20"], "no stackup meets them"),
        (["--laminate", "Unobtainium"], "Unobtainium"),
        (["--length", "pcie5"], "write e.g. pcie5=120, in mm"),
        (["--length", "pcie55=100"], 'did you mean "pcie5"'),
        (["--pick", "40"], "there is no suggestion 40"),
    ],
)
def test_goals_that_cannot_be_met_write_nothing(arguments: list[str], said: str, target: Path) -> None:
    """One line with the option or the goals that conflict, and an empty folder."""
    with pytest.raises(StackwrightError) as caught:
        run(["new", "--profile", "edge", *arguments, str(target)])
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not list(target.parent.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize(("build_ups", "states"), [(1, ""), (2, "build_ups = 2")])
def test_plated_build_ups_do_not_contradict_their_foil(
    build_ups: int, states: str, target: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Half an ounce of foil plated to 35 um is no contradiction: the settings say how many build-ups there are."""
    plan = tmp_path / "hdi.toml"
    asked = ["--layers", "10", "--build-ups", str(build_ups), "--thickness-mm", "1.2", "--limit", "1"]
    assert run(["suggest", "--profile", "edge", *asked, "--plan", str(plan)]) == 0
    assert run(["new", "--profile", "edge", "--plan", str(plan), str(target)]) == 0
    settings = target.with_name("stackwright.toml").read_text(encoding="utf-8")
    assert re.findall(r"^build_ups = \d", settings, re.MULTILINE) == ([states] if states else [])
    assert not any("copper_oz" in note for note in check_board(target).notes)
