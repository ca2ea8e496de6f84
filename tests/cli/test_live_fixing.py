"""The least change from the live page: shown on a copy, applied to the board that is open, refused when in doubt."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from stackup_lib.board.planned import PlannedClass
from stackup_lib.core.errors import StackwrightError
from stackup_lib.kicad import read_board
from stackwright.kicad import fixing
from stackwright.kicad.errors import ENDED, KicadEndedError, KicadError
from tests.support.boards import BOARDS

pytestmark = pytest.mark.slow

NAME = "training_b200_lossy_prepreg"


@dataclass
class Editor:
    """Stands for KiCad with the board open: its content, and its calls."""

    path: Path
    cli: Path = Path("/nowhere/kicad-cli")
    unsaved: bytes | None = None
    asked: list[str] = field(default_factory=list)
    deaf: bool = False
    held: bytes = b""

    def content(self) -> bytes:
        """The board as it is now."""
        return self.unsaved or self.held or self.path.read_bytes()

    def save(self) -> None:
        """Write it."""
        self.asked.append("save")
        if self.deaf:
            self.held = self.path.read_bytes()
        if self.unsaved:
            self.path.write_bytes(self.unsaved)
        self.unsaved = None

    def reload(self) -> None:
        """Read it."""
        self.asked.append("reload")

    def program(self, name: str) -> Path:
        """Where kicad-cli lies."""
        return self.cli


def copied(folder: Path) -> Path:
    """Copy a board with one prepreg that loses too much."""
    for name in (f"{NAME}.kicad_pcb", f"{NAME}.kicad_pro", "stackwright.toml"):
        shutil.copyfile(BOARDS / NAME / name, folder / name)
    return folder / f"{NAME}.kicad_pcb"


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Editor:
    """The board, open, with KiCad's lock next to it; no kicad-cli but its own."""
    copied(tmp_path)
    (tmp_path / f"~{NAME}.kicad_pcb.lck").write_text('{"hostname": "h", "username": "u"}')
    monkeypatch.setattr("stackwright.kicad.fixing.program", lambda _name: None)
    return Editor(tmp_path / f"{NAME}.kicad_pcb")


def shown(editor: Editor, folder: Path, profile: str | None = None) -> dict[str, Any]:
    """The preview of the board as it is in the editor."""
    folder.mkdir(exist_ok=True)
    live = folder / "live.kicad_pcb"
    live.write_bytes(editor.content())
    return fixing.preview(editor.path, live, profile, folder / "plan.toml")


@pytest.fixture(scope="module")
def preview(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The preview of the board as the file has it."""
    folder = tmp_path_factory.mktemp("previewed")
    return shown(Editor(copied(folder)), folder / "work")


def everything(editor: Editor) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in editor.path.parent.iterdir() if file.is_file()}


def test_a_preview_shows_a_diff_and_touches_nothing(editor: Editor, tmp_path: Path) -> None:
    """The wrong prepreg goes, a better one comes; the board, its settings and its project stay as they are."""
    before = everything(editor)
    fix = shown(editor, tmp_path / "work")

    diff = next(file["diff"] for file in fix["files"] if file["name"] == editor.path.name)
    assert any(line.startswith("-") and "(material" in line for line in diff.splitlines())
    assert any(line.startswith("+") and "(material" in line for line in diff.splitlines())
    assert fix["unsafe"] is True
    assert fix["words"]
    assert any(what == "material" and was != then for _, what, was, then in fix["rows"])
    assert fix["later"] == {}  # its classes stand in the project
    assert everything(editor) == before


def test_net_classes_that_the_project_lacks_are_left_for_board_setup() -> None:
    """With their values, and with the command that writes them; where the project has them, nothing is said."""
    planned = (PlannedClass(name="PCIe", diff_pair_width_mm=0.12, diff_pair_gap_mm=0.15),)
    lacking = ("1 net class that the project has not: --classes",)

    assert fixing._left_for_later(planned, lacking, "stackwright apply") == {
        "what": "1 net class that the project has not",
        "classes": ["PCIe: pair width 0.12 mm, pair gap 0.15 mm"],
        "command": "stackwright apply",
    }
    assert fixing._left_for_later(planned, (), "stackwright apply") == {}


@pytest.mark.parametrize(
    ("step", "said"), [("content", "the change was not written"), ("reload", "the change is written, but")]
)
def test_a_kicad_that_ends_under_way_is_said_with_what_was_written(
    editor: Editor, preview: dict[str, Any], monkeypatch: pytest.MonkeyPatch, step: str, said: str
) -> None:
    """Before the files, or after them."""
    before = everything(editor)

    def ended() -> None:
        raise KicadEndedError(*ENDED)

    monkeypatch.setattr(editor, step, ended)
    with pytest.raises(KicadEndedError, match=f"KiCad: has ended; {said}"):
        fixing.apply(editor, preview, consent=True)
    assert (everything(editor) == before) is (step == "content")


def test_an_applied_change_is_in_file_and_editor_and_the_former_file_is_kept(
    editor: Editor, preview: dict[str, Any]
) -> None:
    """Saved first, read again afterwards; the project, which KiCad holds, is not touched."""
    before = everything(editor)
    former = read_board(editor.path).stackup
    done = fixing.apply(editor, preview, consent=True)

    assert editor.asked == ["save", "reload"]
    assert read_board(editor.path).stackup != former
    (backup,) = [name for name in done["backups"] if name.startswith(editor.path.name)]
    assert (editor.path.parent / backup).read_bytes() == before[editor.path.name]
    assert everything(editor)[f"{NAME}.kicad_pro"] == before[f"{NAME}.kicad_pro"]
    assert done["tried"] is False


def test_an_undone_change_leaves_the_files_of_before(editor: Editor, preview: dict[str, Any]) -> None:
    """Read by KiCad again; what the change had written is kept as a backup."""
    before = everything(editor)
    done = fixing.apply(editor, preview, consent=True)
    changed = everything(editor)[editor.path.name]
    fixing.undo(editor, done["undo"])

    after = everything(editor)
    assert editor.asked == ["save", "reload", "reload"]
    assert {name: after[name] for name in before} == before
    assert changed in [content for name, content in after.items() if name.endswith("-bak")]


@pytest.mark.parametrize("where", ["editor", "disk"])
def test_a_change_that_was_worked_on_since_is_not_undone(editor: Editor, preview: dict[str, Any], where: str) -> None:
    """Neither in the editor nor by another program; nothing is touched."""
    done = fixing.apply(editor, preview, consent=True)
    if where == "editor":
        editor.unsaved = editor.content() + b"\n"
    else:
        settings = editor.path.with_name("stackwright.toml")
        settings.write_bytes(settings.read_bytes() + b"\n# mine\n")
    before = everything(editor)
    with pytest.raises(StackwrightError, match="nothing was undone"):
        fixing.undo(editor, done["undo"])

    assert everything(editor) == before
    assert editor.asked == ["save", "reload"]


def test_without_consent_nothing_is_saved_or_written_and_the_box_is_named(
    editor: Editor, preview: dict[str, Any]
) -> None:
    """What is built would change; the page has no options to speak of."""
    editor.unsaved = editor.content()
    before = everything(editor)
    with pytest.raises(StackwrightError, match="changes what is built") as caught:
        fixing.apply(editor, preview, consent=False)

    assert everything(editor) == before
    assert editor.asked == []
    assert caught.value.next_step == 'tick "It changes what is built, and I want that", then press Apply'
    assert "--" not in str(caught.value)


@pytest.mark.parametrize("what", ["the board", "the settings", "the folder", "the plan", "the settings' text"])
def test_nothing_is_saved_before_every_condition_holds(
    editor: Editor, preview: dict[str, Any], what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that cannot be written, a plan that has gone, settings that are broken: KiCad is not asked to save."""
    settings = editor.path.with_name("stackwright.toml")
    changed = dict(preview)
    if what == "the board":
        editor.path.chmod(0o444)
    elif what == "the settings":
        settings.chmod(0o444)
    elif what == "the folder":
        monkeypatch.setattr("stackup_lib.kicad.write.file_edit.os.access", lambda *_: False)
    elif what == "the plan":
        changed["plan"] = str(tmp_path / "gone.toml")
    else:
        settings.write_text("[", encoding="utf-8")
    before = everything(editor)
    with pytest.raises(StackwrightError) as caught:
        fixing.apply(editor, changed, consent=True)

    assert everything(editor) == before
    assert editor.asked == []
    assert "--" not in str(caught.value)


def test_a_board_that_was_changed_since_is_left_alone(editor: Editor, preview: dict[str, Any]) -> None:
    """Not even saved."""
    editor.unsaved = editor.content() + b"\n"
    before = everything(editor)
    with pytest.raises(StackwrightError, match="was changed since the preview; nothing was written"):
        fixing.apply(editor, preview, consent=True)

    assert everything(editor) == before
    assert editor.asked == []


def test_a_file_that_another_program_changed_is_not_saved_over(editor: Editor, preview: dict[str, Any]) -> None:
    """KiCad itself would not ask."""
    editor.unsaved = editor.content()
    editor.path.write_bytes(editor.content() + b"\n")
    before = everything(editor)
    with pytest.raises(StackwrightError, match="was changed on the disk by another program"):
        fixing.apply(editor, preview, consent=True)

    assert everything(editor) == before
    assert editor.asked == []


def test_unsaved_changes_are_in_the_preview_and_are_kept(editor: Editor, tmp_path: Path) -> None:
    """The board in the editor counts, not the file."""
    editor.unsaved = editor.content().replace(
        b"(embedded_fonts", b'(title_block (title "unsaved"))\n\t(embedded_fonts', 1
    )
    assert editor.unsaved != editor.path.read_bytes()
    fix = shown(editor, tmp_path / "work")
    fixing.apply(editor, fix, consent=True)

    assert b'(title "unsaved")' in editor.path.read_bytes()


def test_a_file_that_said_something_else_before_the_preview_is_kept(editor: Editor, tmp_path: Path) -> None:
    """Written by another program, unnoticed by KiCad: its save replaces that file, so a copy stays next to it."""
    editor.unsaved = editor.content()
    other_net = editor.content() + b"\n\n"
    editor.path.write_bytes(other_net)
    fix = shown(editor, tmp_path / "work")
    done = fixing.apply(editor, fix, consent=True)

    backups = [editor.path.with_name(name).read_bytes() for name in done["backups"]]
    assert other_net in backups
    assert editor.path.read_bytes() not in backups


def test_a_file_that_kicad_cannot_read_never_gets_there(editor: Editor, preview: dict[str, Any]) -> None:
    """KiCad would show an empty board; its own program says so before."""
    cli = editor.path.parent / "cli"
    cli.write_text("#!/bin/sh\nexit 3\n")
    cli.chmod(0o755)
    editor.cli = cli
    before = everything(editor)
    with pytest.raises(StackwrightError, match="kicad-cli cannot read the new file"):
        fixing.apply(editor, preview, consent=True)

    assert everything(editor) == before
    assert editor.asked == []


def test_a_kicad_that_did_not_take_it_is_said(editor: Editor, preview: dict[str, Any]) -> None:
    """It goes on showing the former stackup."""
    editor.deaf = True
    with pytest.raises(KicadError, match="shows another stackup than the one that was written"):
        fixing.apply(editor, preview, consent=True)


def test_a_board_without_a_workload_asks_for_one(editor: Editor, tmp_path: Path) -> None:
    """Nothing can be the least change towards nothing."""
    (editor.path.parent / "stackwright.toml").unlink()
    with pytest.raises(StackwrightError, match="without a workload; choose one first"):
        shown(editor, tmp_path / "work")


def own_profile(editor: Editor, profile: str) -> Editor:
    """The board in a folder of its own, judged by a profile elsewhere that rests on another."""
    card = editor.path.parent / "hw" / "card"
    card.mkdir(parents=True)
    board = copied(card)
    settings = card / "stackwright.toml"
    lines = settings.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if not line.startswith("profile")]
    settings.write_text("\n".join([f'profile = "{profile}"', *kept, ""]), encoding="utf-8")
    (card / f"~{board.name}.lck").write_text('{"hostname": "h", "username": "u"}')
    profiles = card.parent / "profiles"
    profiles.mkdir()
    (profiles / "house.toml").write_text('title = "House"\nextends = ["base/all.toml"]\n', encoding="utf-8")
    (card / "mine.toml").write_text('title = "Mine"\nextends = ["../profiles/base/all.toml"]\n', encoding="utf-8")
    (profiles / "base").mkdir()
    (profiles / "base" / "all.toml").write_text('title = "All"\nextends = ["training-b200"]\n', encoding="utf-8")
    return Editor(board)


@pytest.mark.parametrize("profile", ["mine.toml", "../profiles/house.toml"])
def test_a_profile_of_ones_own_is_judged_by(editor: Editor, tmp_path: Path, profile: str) -> None:
    """Next to the board or in a sibling folder; the change is the one of the shipped profile that it rests on."""
    mine = own_profile(editor, profile)
    before = everything(mine)
    fix = shown(mine, tmp_path / "work")
    assert fix["words"] == shown(editor, tmp_path / "shipped")["words"]
    assert everything(mine) == before

    done = fixing.apply(mine, fix, consent=True)
    assert mine.path.name in done["files"]
    assert mine.asked == ["save", "reload"]


def test_a_profile_that_is_not_there_is_told_by_its_own_path(editor: Editor, tmp_path: Path) -> None:
    """Not by that of the copy, which is gone when the line is read."""
    mine = own_profile(editor, "../profiles/house.toml")
    (mine.path.parents[1] / "profiles" / "base" / "all.toml").unlink()
    with pytest.raises(StackwrightError, match="there is no such profile file") as refused:
        shown(mine, tmp_path / "work")
    assert str(mine.path.parents[1] / "profiles" / "base" / "all.toml") in str(refused.value)
    assert "stackwright-" not in str(refused.value)


@pytest.mark.parametrize("folder", [".", "..", "elsewhere"])
def test_models_of_parts_are_copied_as_far_from_the_board_as_they_are(tmp_path: Path, folder: str) -> None:
    """By their paths in the settings, from the board's folder or from above it."""
    board = tmp_path / "hw" / "card" / "card.kicad_pcb"
    model = board.parent / folder / "models" / "c1.lib"
    model.parent.mkdir(parents=True)
    board.parent.mkdir(exist_ok=True)
    model.write_text(".ENDS", encoding="utf-8")
    text = f'[[part_model]]\nparts = ["C1"]\nfile = "{folder}/models/c1.lib"\n'
    (board.parent / "stackwright.toml").write_text(text, encoding="utf-8")
    with fixing._copied(board, b"live") as copy:
        assert copy.read_bytes() == b"live"
        assert (copy.parent / folder / "models" / "c1.lib").read_text(encoding="utf-8") == ".ENDS"
        assert copy.with_name("stackwright.toml").read_text(encoding="utf-8") == text


def test_a_fit_board_needs_none(tmp_path: Path) -> None:
    """It says that the stackup need not change."""
    name = "training_b200_fit"
    folder = tmp_path / name
    shutil.copytree(BOARDS / name, folder)
    assert shown(Editor(folder / f"{name}.kicad_pcb"), tmp_path / "work") == {"unneeded": fixing.UNNEEDED}
    assert "needs no change" in fixing.UNNEEDED
