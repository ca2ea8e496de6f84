"""`stackwright apply` and the plan file: nothing is written unasked, everything requested is, and undo is a backup."""

from __future__ import annotations

import json
import os
import re
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from drc_rules.analysis.impedance.line_effects import line_effects, planned_lines
from drc_rules.engine.check import prepare
from drc_rules.facts.context import Context
from drc_rules.facts.declared import Overrides
from drc_rules.settings.config import Config, load_config, parse_config
from drc_rules.stackup_design.goals import GoalChoices, goals_for, project_of, selection_for
from drc_rules.stackup_design.new_plan import classes_of_goals
from drc_rules.stackup_design.plan_changes import rules_that_win, same_material
from drc_rules.stackup_design.plan_file import parse_plan, plan_of, read_plan, write_plan
from drc_rules.stackup_design.settings_edit import Key, Value, edit_settings
from stackup_lib.board.board import Board
from stackup_lib.board.planned import PlannedRule
from stackup_lib.core.errors import ConfigError, NotWrittenError, StackwrightError
from stackup_lib.kicad import read_board
from stackup_lib.kicad.write.rules_writer import replace_rules
from stackup_lib.kicad.write.stackup_writer import replace_stackup
from stackwright.cli.app import run
from stackwright.commands.apply import apply as command
from stackwright.commands.apply.apply import PlanParts, apply_plan, write_plan_of_board
from stackwright.commands.request import BoardRequest
from tests.support.boards import BOARDS, copied
from tests.support.kicad.kicad5_boards import whole_board
from tests.support.mini import mini_board

FIT = "inference_pcie_gen5_fit"
RULE = """
[[rule]]
net_class = "85Ohm-diff_PCIE"
layer = "In2.Cu"
width_mm = 0.1
gap_mm = 0.13
requirement = "85 ohm"
"""
DECLARED = """
# by the fab
[declared.dielectric."dielectric 2"]
df = 0.002 # theirs
at_ghz = 16

[declared.dielectric."dielectric 3"]
df = 0.003
at_ghz = 16
"""
WRITE = PlanParts(write=True, change_stackup=True)
EVERY = [path for path in sorted(BOARDS.glob("*/*.kicad_pcb")) if b"(stackup" in path.read_bytes()]


@pytest.fixture
def card(tmp_path: Path) -> Path:
    """A copy of our PCIe card."""
    return copied(FIT, tmp_path, "card")


@pytest.fixture
def plan(card: Path) -> Callable[..., Path]:
    """Return a function that writes the card's own plan with some texts replaced."""

    def write(*swaps: tuple[str, str], extra: str = "") -> Path:
        path = card.parent / "card.stackwright-plan.toml"
        write_plan_of_board(card, BoardRequest(output=path))
        text = path.read_text(encoding="utf-8")
        for old, new in swaps:
            assert old in text
            text = text.replace(old, new)
        path.write_text(text + extra, encoding="utf-8")
        return path

    return write


THICKER = (
    'thickness_mm = 0.075, material = "R-5775(N) 2013 RC56%"',
    'thickness_mm = 0.1, material = "R-5775(N) 2013 RC56%"',
)


def state(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


# --- the plan file ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.stem)
def test_a_boards_own_plan_changes_no_byte_of_it(path: Path) -> None:
    """Written, read and applied, the plan of every fixture board gives back the same bytes."""
    board = read_board(path)
    settings = path.with_name("stackwright.toml")
    plan = plan_of(board, load_config(settings) if settings.exists() else Config())
    again = parse_plan(write_plan(plan), "plan")
    assert again == plan
    assert parse_plan(json.dumps(plan.model_dump(mode="json", exclude_none=True)), "plan") == plan
    assert replace_stackup(path.read_bytes(), again.planned) == path.read_bytes()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("thickness_mm = 0.041", "thicknes_mm = 0.041", 'did you mean "thickness_mm"?'),
        ('kind = "core"', 'kind = "kore"', 'did you mean "core"?'),
        ('laminate = "370HR"', 'laminate = "370HRX"', 'did you mean "370HR"?'),
        ('material = "370HR 1086"', 'material = "Megtron 6 1086"', 'but laminate is "370HR"'),
        ('name = "In1.Cu"', 'name = "In1.Cu", foil = "HVPL"', 'did you mean "HVLP"?'),
        ('name = "F.Mask"', 'name = "F.Mask", foil = "VLP"', "belong to a copper row"),
        ("dk = 3.23", "dk = 0.5", "give more than 1"),
        ("diff_pair_width_mm = 0.094", "diff_pair_width_mm = inf", '"diff_pair_width_mm" is inf'),
        ("dk = 3.23", "dk = nan", "nan is no number"),
        ("thickness_mm = 0.041", "thickness_mm = true", "true is no number"),
        ("version = 1", "version = 2", "version"),
        ("rows = [", "rows = [ [", "not valid TOML"),
    ],
)
def test_a_wrong_plan_is_refused_with_the_word_that_is_meant(
    plan: Callable[..., Path], old: str, new: str, said: str
) -> None:
    """A key, a kind, a laminate, a foil, a number, a version, a bracket."""
    with pytest.raises(ConfigError, match=re.escape(said)):
        read_plan(plan((old, new)))


def test_the_materials_of_a_plan_mean_what_its_laminates_say() -> None:
    """The text that KiCad is to store decides; two texts for one construction are the same material."""
    assert same_material("R-5775(N) 2013 RC56%", "Megtron 6 R-5775(N) 2013 RC56%")
    assert not same_material("R-5775(N) 2013 RC56%", "R-5775(N) 1078 RC66%")
    assert not same_material("370HR", "Megtron 6(N)")
    assert not same_material("no such thing", "no such thing")


def test_the_plan_of_kicads_default_says_that_it_declares_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """A reader must not take KiCad's values for a fab's."""
    write_plan_of_board(BOARDS / "default_stackup", BoardRequest())
    assert capsys.readouterr().out.startswith("# The board holds KiCad's untouched default stackup")


def test_a_board_without_stackup_has_no_plan() -> None:
    """There is nothing to edit."""
    with pytest.raises(ConfigError, match="states no stackup"):
        write_plan_of_board(BOARDS / "no_stackup", BoardRequest())


# --- what is shown, what is written -----------------------------------------------------------------------------------


def test_without_write_nothing_is_touched_and_the_effect_is_told(
    card: Path, plan: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Diff of both files, ohm and loss before and after, and the command that would write."""
    path = plan(THICKER, ('name = "In2.Cu"', 'name = "In2.Cu", foil = "HVLP"'))
    before = state(card.parent)
    assert apply_plan(path, card, PlanParts()) == 0
    assert state(card.parent) == before
    out = capsys.readouterr().out
    assert "dielectric 2   thickness  0.075 mm   -> 0.1 mm" in out
    assert "-    (thickness 0.075)\n  +    (thickness 0.1)" in out
    assert '+[declared.copper."In2.Cu"]\n  +foil = "HVLP"' in out
    assert re.search(r"In2\.Cu\s+0\.094/0\.13\s+87\.\d -> 9\d\.\d", out)
    assert "--write --change-stackup" in out


def test_a_plan_that_declares_facts_keeps_profile_and_models_of_the_settings(
    card: Path, plan: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are meant from the folder of the settings, wherever the command runs, with the plan as without it."""
    (card.parent / "mine.toml").write_text('title = "Mine"\nextends = ["training"]\n', encoding="utf-8")
    text = 'profile = "mine.toml"\n[[part_model]]\nparts = ["C1"]\nfile = "c1.lib"\n'
    card.with_name("stackwright.toml").write_text(text, encoding="utf-8")
    path = plan(THICKER, ('name = "In2.Cu"', 'name = "In2.Cu", foil = "HVLP"'))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    proposal = command.propose(read_plan(path), card, PlanParts())
    before, after = proposal.settings_before, proposal.settings_after
    assert after.declared.copper["In2.Cu"].foil == "HVLP"
    assert after.profile == before.profile == str(card.parent / "mine.toml")
    assert after.path == before.path == card.with_name("stackwright.toml")
    assert apply_plan(path, card, PlanParts()) == 0


@pytest.mark.parametrize(("board", "said"), [("", False), ("same", False), ("StickHub.kicad_pcb", True)])
def test_a_plan_of_another_board_is_named(
    card: Path, plan: Callable[..., Path], board: str, said: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is said of the board's own plan, and of one that was made for none."""
    name = card.name if board == "same" else board
    path = plan(THICKER, ("version = 1", f'version = 1\nboard = "{name}"'))
    for parts in (PlanParts(), WRITE):
        assert apply_plan(path, card, parts) == 0
        words = " ".join(capsys.readouterr().out.split())
        assert (f"the plan was made for {name}, not for {card.name}" in words) is said


@pytest.mark.slow
def test_a_thicker_core_raises_impedance_and_lowers_loss(card: Path) -> None:
    """Both signal layers, by the direction that physics demands; a layer away from the change stays."""
    text = card.read_bytes()
    before = read_board(card)
    thicker = text.replace(b"(thickness 0.075)", b"(thickness 0.1)")
    effects = line_effects(context(card, before), context(card, read_board(card, text=thicker)))
    assert [e.layer for e in effects] == ["In2.Cu", "In13.Cu"]
    for effect in effects:
        a, b = effect.before, effect.after
        assert a.impedance_ohm is not None and b.impedance_ohm is not None
        assert 1.03 < b.impedance_ohm / a.impedance_ohm < 1.12
        assert a.loss_db_per_mm is not None and b.loss_db_per_mm is not None
        assert b.loss_db_per_mm < a.loss_db_per_mm
    same = line_effects(context(card, before), context(card, before))
    assert all(e.before == e.after for e in same)


def context(card: Path, board: Board) -> Context:
    """What the rules know of a board with the card's settings."""
    return prepare(board, load_config(card.with_name("stackwright.toml")), Overrides())[0]


def test_write_alone_changes_no_dielectric(card: Path, plan: Callable[..., Path]) -> None:
    """It names the first change and the option that allows it."""
    path = plan(THICKER)
    before = state(card.parent)
    with pytest.raises(
        NotWrittenError, match=r"dielectric 2 thickness 0\.075 mm -> 0\.1 mm and 2 more.*--change-stackup"
    ):
        apply_plan(path, card, PlanParts(write=True))
    assert state(card.parent) == before


def test_the_same_material_in_other_words_is_safe(card: Path, plan: Callable[..., Path]) -> None:
    """The resolver finds the same construction, so `--write` is enough."""
    path = plan(('material = "R-5775(N) 2013 RC56%"', 'material = "Megtron 6 R-5775(N) 2013 RC56%"'))
    assert apply_plan(path, card, PlanParts(write=True)) == 0
    stackup = read_board(card).stackup
    assert stackup is not None
    assert stackup.dielectrics[1].plies[0].material == "Megtron 6 R-5775(N) 2013 RC56%"


def test_applying_writes_once_and_the_backup_restores_every_byte(
    card: Path, plan: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Stackup and facts arrive, the hash is the new stackup's, a second time nothing happens, and undo is whole."""
    path = plan(THICKER, ('name = "In2.Cu"', 'name = "In2.Cu", foil = "HVLP"'))
    before = state(card.parent)
    apply_plan(path, card, WRITE)
    board, config = read_board(card), load_config(card.with_name("stackwright.toml"))
    assert board.stackup is not None
    assert [r.thickness_mm for r in board.stackup.dielectrics][1] == 0.1
    assert config.declared.stackup_hash == board.stackup.digest
    assert config.declared.copper["In2.Cu"].foil == "HVLP"
    assert config.declared.foil == "VLP"
    written = state(card.parent)
    capsys.readouterr()
    apply_plan(path, card, WRITE)
    assert "nothing to do" in capsys.readouterr().out
    assert state(card.parent) == written
    for name in (card.name, "stackwright.toml"):
        (backup,) = card.parent.glob(f"{name}.*-bak")
        assert backup.read_bytes() == before[name]


def test_no_backup_leaves_none(card: Path, plan: Callable[..., Path]) -> None:
    """For those who have version control."""
    apply_plan(plan(THICKER), card, PlanParts(write=True, change_stackup=True, backup=False))
    assert not list(card.parent.glob("*-bak"))


def test_classes_and_rules_come_only_when_asked_for(
    card: Path, plan: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Left out they are counted; requested they arrive, and a user's rule that wins is named with its line."""
    path = plan(("diff_pair_width_mm = 0.094", "diff_pair_width_mm = 0.1"), extra=RULE)
    rules = card.with_suffix(".kicad_dru")
    rules.write_text(
        '(version 1)\n(rule "mine"\n (condition "A.hasNetclass(\'85Ohm-diff_PCIE\')")\n'
        " (constraint track_width (min 0.2mm)))\n",
        encoding="utf-8",
    )
    project, before = card.with_suffix(".kicad_pro"), state(card.parent)
    apply_plan(path, card, WRITE)
    out = capsys.readouterr().out
    assert "net classes that the project has with other values: --classes" in out
    assert "1 design rule: --rules" in out
    assert state(card.parent) == before
    apply_plan(path, card, PlanParts(rules=True))
    out = capsys.readouterr().out
    solved = re.search(r"85Ohm-diff_PCIE\s+In2\.Cu\s+0\.1/0\.13\s+(\S+)\s+85\s", out)
    assert solved and float(solved[1]) == pytest.approx(85.0, abs=0.3)  # what `stackwright impedance` was called with
    assert state(card.parent) == before
    apply_plan(path, card, PlanParts(write=True, classes=True, rules=True))
    out = capsys.readouterr().out
    classes = {row["name"]: row for row in json.loads(project.read_text(encoding="utf-8"))["net_settings"]["classes"]}
    assert classes["85Ohm-diff_PCIE"]["diff_pair_width"] == 0.1
    assert '(rule "stackwright: 85Ohm-diff_PCIE, pair on In2.Cu"' in rules.read_text(encoding="utf-8")
    assert re.search(r'your rule "mine" \(track_width\)\s+holds\s+instead', out)
    assert "tracks keep their widths" in out
    assert card.read_bytes() == before[card.name]


def test_a_class_that_kicads_constraints_forbid_is_named(
    card: Path, plan: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Board Setup allows no track below 0.12 mm: the plan's 0.1 mm is said, and the limit stays the user's."""
    path = plan(("diff_pair_width_mm = 0.094", "diff_pair_width_mm = 0.1"))
    project = card.with_suffix(".kicad_pro")
    text = project.read_text(encoding="utf-8")
    assert '"min_track_width": 0.0' in text
    apply_plan(path, card, PlanParts(classes=True))
    assert "Board Setup > Constraints" not in capsys.readouterr().out
    project.write_text(text.replace('"min_track_width": 0.0', '"min_track_width": 0.12'), encoding="utf-8")
    apply_plan(path, card, PlanParts(write=True, classes=True))
    out = " ".join(capsys.readouterr().out.split())
    assert "allows no track below 0.12 mm: lower it in Board Setup > Constraints" in out
    assert "or KiCad reports 85Ohm-diff_PCIE with its 0.094 mm" in out
    rules = json.loads(project.read_text(encoding="utf-8"))["board"]["design_settings"]["rules"]
    assert rules["min_track_width"] == 0.12


def test_a_class_that_no_net_is_in_is_named(
    card: Path, plan: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Its rules hold for nothing; a class of the board's nets, or one with a pattern that names some, is not named."""
    extra = '\n[[net_class]]\nname = "85Ohm-diff_PCIE5"\ntrack_width_mm = 0.155\n'
    apply_plan(plan(extra=extra), card, PlanParts(classes=True))
    out = " ".join(capsys.readouterr().out.split())
    assert "no net is in the net class 85Ohm-diff_PCIE5" in out
    assert out.count("no net is in the net class") == 1
    apply_plan(plan(extra=extra + 'patterns = ["/PCIE_*"]\n'), card, PlanParts(classes=True))
    assert "no net is in the net class" not in capsys.readouterr().out


def test_a_suggestion_takes_the_classes_of_the_boards_nets(card: Path) -> None:
    """The board's PCIe nets are in `85Ohm-diff_PCIE`; nets in no class leave the name that a new board gets."""

    def classes() -> dict[str, tuple[str, ...]]:
        project = project_of(read_board(card), Config(), Overrides("inference-pcie", None))
        found = goals_for(selection_for("inference-pcie", None, GoalChoices(), project), project, GoalChoices())
        assert found.goals.lines
        return classes_of_goals(project.context, found.goals, found.interfaces)

    assert set(classes().values()) == {("85Ohm-diff_PCIE",)}
    project = card.with_suffix(".kicad_pro")
    text = project.read_text(encoding="utf-8")
    project.write_text(text.replace('"pattern": "/PCIE_*"', '"pattern": "/NONE_*"'), encoding="utf-8")
    assert classes() == {}


def test_only_rules_that_can_meet_the_plans_are_named() -> None:
    """Another class, another layer or another constraint does not matter; a rule for all tracks does."""
    ours = [PlannedRule(net_class="A", layer="In1.Cu", width_mm=0.1, requirement="x")]
    text = """(version 1)
(rule "other class" (condition "A.hasNetclass('B')") (constraint track_width (min 0.2mm)))
(rule "other layer" (layer "F.Cu") (constraint track_width (min 0.2mm)))
(rule "outside" (layer outer) (constraint track_width (min 0.2mm)))
(rule "other wild" (condition "A.NetClass == 'B*'") (constraint track_width (min 0.2mm)))
(rule "wild" (layer inner) (condition "A.NetClass == 'a*'") (constraint diff_pair_gap (min 0.2mm)))
(rule "clearance" (constraint clearance (min 0.2mm)))
(rule "all" (constraint track_width (min 0.2mm)))
(rule "some" (layer inner) (condition "A.NetName == 'X*'") (constraint track_width (min 0.2mm)))
"""
    written = replace_rules(text.encode(), ours).decode()
    named = rules_that_win(written, ours)
    assert [re.findall(r'"(\w+)"', one)[0] for one in named] == ["wild", "all", "some"]
    assert ["may hold instead" in one for one in named] == [False, False, True]


# --- what is refused --------------------------------------------------------------------------------------------------


def test_a_board_of_kicad_5_is_refused_for_its_version_before_its_layers(plan: Callable[..., Path]) -> None:
    """Whatever layers the plan has: no plan would do, and saving the board in KiCad comes first."""
    path = plan()
    old = path.parent / "old.kicad_pcb"
    old.write_text(whole_board().text(), encoding="utf-8")

    with pytest.raises(NotWrittenError, match=r"older than KiCad 6.*open the board in KiCad and save it"):
        apply_plan(path, old, WRITE)


def test_a_plan_for_another_layer_count_is_refused_in_a_dry_run_already(card: Path, plan: Callable[..., Path]) -> None:
    """With both counts; with `--layers` it is refused because tracks lie on inner layers."""
    path = plan()
    text = path.read_text(encoding="utf-8").splitlines()
    kept = [line for line in text if not re.search(r'name = "(In13\.Cu|In14\.Cu|dielectric 14|dielectric 15)"', line)]
    path.write_text("\n".join(kept) + "\n", encoding="utf-8")
    with pytest.raises(NotWrittenError, match=r"the plan has 14 copper layers, the board 16.*--layers"):
        apply_plan(path, card, PlanParts())
    with pytest.raises(NotWrittenError):
        apply_plan(path, card, PlanParts(write=True, change_stackup=True, layers=True))


def test_a_board_that_kicad_holds_is_not_written(
    card: Path, plan: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """The dry run says so beforehand."""
    path = plan(THICKER)
    lock = card.with_name(f"~{card.name}.lck")
    lock.write_text('{"hostname": "h", "username": "u"}', encoding="utf-8")
    before = state(card.parent)
    apply_plan(path, card, PlanParts())
    assert "is open in KiCad" in capsys.readouterr().out
    with pytest.raises(NotWrittenError, match="is open in KiCad"):
        apply_plan(path, card, WRITE)
    assert state(card.parent) == before


def test_a_board_saved_meanwhile_is_not_written_over(
    card: Path, plan: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between reading and writing another program saves: its file stays."""
    path, propose = plan(THICKER), command.propose

    def slow(*arguments: object) -> object:
        found = propose(*arguments)  # type: ignore[arg-type]
        card.write_bytes(card.read_bytes() + b"\n")
        return found

    monkeypatch.setattr(command, "propose", slow)
    theirs = card.read_bytes() + b"\n"
    with pytest.raises(NotWrittenError, match="changed since it was read"):
        apply_plan(path, card, WRITE)
    assert card.read_bytes() == theirs
    assert not list(card.parent.glob("*-bak"))


@pytest.mark.skipif(os.name != "posix", reason="POSIX permissions")
def test_a_file_that_must_not_be_written_leaves_the_others_as_they_were(card: Path, plan: Callable[..., Path]) -> None:
    """The settings are write-protected: the board, written first, is put back."""
    path = plan(THICKER, ('name = "In2.Cu"', 'name = "In2.Cu", foil = "HVLP"'))
    settings = card.with_name("stackwright.toml")
    before = card.read_bytes()
    settings.chmod(0o444)
    with pytest.raises(NotWrittenError, match="write-protected"):
        apply_plan(path, card, WRITE)
    assert card.read_bytes() == before


def test_every_refusal_is_one_line_and_exit_code_2(card: Path, plan: Callable[..., Path]) -> None:
    """Through the command line as the user meets it: usage, a missing plan, a missing board."""
    assert run(["apply"]) == 2
    for arguments in (["no.toml", str(card)], [str(plan()), "no.kicad_pcb"]):
        with pytest.raises(StackwrightError) as caught:
            run(["apply", *arguments])
        assert "\n" not in str(caught.value)
        assert caught.value.exit_code == 2
    assert run(["apply", str(plan()), str(card)]) == 0


# --- stackwright.toml -------------------------------------------------------------------------------------------------


def test_facts_of_changed_rows_become_comments_and_the_rest_stays(
    card: Path, plan: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """A new hash must not make old facts true: the changed row's Df goes, the unchanged row's stays."""
    settings = card.with_name("stackwright.toml")
    stackup = read_board(card).stackup
    assert stackup is not None
    text = settings.read_text(encoding="utf-8").replace(
        "[declared]\n", f'[declared]\nstackup_hash = "{stackup.digest}"\n'
    )
    settings.write_text(text + DECLARED, encoding="utf-8")
    apply_plan(plan(THICKER), card, WRITE)
    new = settings.read_text(encoding="utf-8")
    declared = load_config(settings).declared
    after = read_board(card).stackup
    assert after is not None
    assert declared.stackup_hash == after.digest != stackup.digest
    assert declared.dielectric["dielectric 2"].df is None
    assert "# of a former stackup: df = 0.002 # theirs" in new
    assert "# by the fab\n" in new
    assert declared.dielectric["dielectric 3"].df == 0.003
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "dielectric 2.df = 0.002 and declared.dielectric.dielectric 2.at_ghz = 16 are comments now: they were" in said
    )


def test_facts_of_yet_another_stackup_are_not_made_true(card: Path, plan: Callable[..., Path]) -> None:
    """Settings that are stale already: a new hash would turn them valid, so it is refused."""
    settings = card.with_name("stackwright.toml")
    text = settings.read_text(encoding="utf-8").replace("[declared]\n", '[declared]\nstackup_hash = "0123456789ab"\n')
    settings.write_text(text, encoding="utf-8")
    with pytest.raises(NotWrittenError, match="declares facts for another stackup"):
        apply_plan(plan(THICKER), card, WRITE)
    assert settings.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# only a comment\n",
        'profile = "edge"  # mine\n',
        "[declared]\n",
        '[declared]\nfoil = "RTF" # all of them\n\n# next\n[[interface]]\nis = "pcie5"\n',
        '[declared.copper."In1.Cu"]\nfoil = "STD"\ncopper_oz = 2\n',
        '[declared.copper."In1.Cu"] # one\n\n[check]\nfail_on = "error"\n',
    ],
)
def test_setting_facts_keeps_every_other_line(text: str) -> None:
    """Whatever stood there stands there in its order; what was set reads back, and a second time nothing changes."""
    facts: dict[Key, Value] = {
        (("declared",), "stackup_hash"): "abc",
        (("declared", "copper", "In1.Cu"), "foil"): "HVLP",
    }
    new = edit_settings(text, facts).text
    read = tomllib.loads(new)["declared"]
    assert (read["stackup_hash"], read["copper"]["In1.Cu"]["foil"]) == ("abc", "HVLP")
    rest = iter(new.splitlines())
    assert all(line in rest for line in text.splitlines() if "STD" not in line)
    assert edit_settings(new, facts).text == new


@pytest.mark.parametrize(
    "text",
    [
        'declared = { foil = "RTF" }\n',
        'declared.copper."In1.Cu".foil = "STD"\n',
        '[declared]\ncopper = { "In1.Cu" = { foil = "STD" } }\n',
        '[declared]\nfoil = """\n[declared.copper."In1.Cu"]\n"""\n',
    ],
)
def test_settings_that_cannot_be_edited_safely_are_left_and_the_lines_are_told(text: str) -> None:
    """Inline tables, dotted keys, a table's head inside a string: what was meant must be what reads back."""
    facts: dict[Key, Value] = {(("declared", "copper", "In1.Cu"), "foil"): "HVLP"}
    with pytest.raises(NotWrittenError, match=r'declared\.copper\.In1\.Cu\.foil = "HVLP"'):
        edit_settings(text, facts)


@pytest.mark.parametrize(("gap_mm", "ohm"), [(0.14, 85.0), (None, None)])
def test_a_rule_of_the_plan_is_held_against_what_the_nets_of_its_class_need(
    tmp_path: Path, gap_mm: float | None, ohm: float | None
) -> None:
    """By its nets, not by its name: a class "FAST" of PCIe Gen5 said that it has no target."""
    tracks = [
        {"net": f"TX_{sign}", "layer": "F.Cu", "width_mm": 0.13, "path_mm": [[5, y_mm], [45, y_mm]]}
        for sign, y_mm in (("P", 10), ("N", 10.27))
    ]
    classes = [{"name": "FAST", "nets": ["TX_P", "TX_N"]}]
    board = mini_board(tmp_path, {"copper_layers": 4, "tracks": tracks, "net_classes": classes})
    settings = parse_config('[[interface]]\nis = "pcie5"\nnets = ["TX_?"]')
    found, _, _ = prepare(board, settings, Overrides())
    rule = PlannedRule(net_class="FAST", layer="F.Cu", width_mm=0.13, gap_mm=gap_mm, requirement="85 ohm")

    (line,) = planned_lines(found, found, [rule])
    assert (line.target.target.ohm if line.target else None) == ohm


@pytest.mark.parametrize("inside", [True, False])
def test_files_below_the_folder_are_named_without_its_path(
    plan: Callable[..., Path],
    card: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    inside: bool,
) -> None:
    """As `init` names them; elsewhere the whole path tells which file it is."""
    file = plan(THICKER)
    (card.parent / "elsewhere").mkdir()
    monkeypatch.chdir(card.parent if inside else card.parent / "elsewhere")
    capsys.readouterr()
    assert run(["apply", str(file), str(card), "--write", "--change-stackup"]) == 0
    name = card.name if inside else str(card)
    out = capsys.readouterr().out
    assert f"\nwrote {name}; the former content is in {card.name}." in out
    assert out.endswith(f"\nnext: stackwright check {card}\n")


def test_a_backup_is_compared_with_the_project_of_its_board(
    plan: Callable[..., Path], card: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its own would be `card.kicad_pcb.kicad_pro`: the missing project was a finding, and net classes were unknown."""
    assert run(["apply", str(plan(THICKER)), str(card), "--write", "--change-stackup"]) == 0
    (kept,) = card.parent.glob(f"{card.name}.*-bak")
    before, after = read_board(kept), read_board(card)
    assert before.project.path == after.project.path == card.with_suffix(".kicad_pro")
    capsys.readouterr()
    run(["diff", str(kept), str(card)])
    out = capsys.readouterr().out
    assert "STK004" not in out and "0.075 mm" in out

    stray = shutil.copy(kept, card.with_name("other.kicad_pcb"))
    assert read_board(Path(stray)).project.path is None
