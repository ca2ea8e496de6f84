"""Settings for things that the board does not have are told; the others are not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from drc_rules.engine.check import prepare
from drc_rules.fab_exchange.pack.notes import fab_notes
from drc_rules.facts.declared import TEXT_VARIABLES, Overrides
from drc_rules.facts.unread_settings import unread_notes
from drc_rules.settings.config import Config, parse_config
from stackup_lib.core.errors import ConfigError
from stackup_lib.kicad import read_board
from tests.support.mini import mini_context, mini_file

BOARD = {
    "size_mm": [60, 40],
    "stackup": 'F.Cu 0.035\nprepreg 0.2 "370HR 2116"\nIn1.Cu 0.070\ncore 1.0 "370HR"\nIn2.Cu 0.0175\n'
    'prepreg 0.2 "370HR 2116"\nB.Cu 0.035\n',
    "tracks": [{"net": "/A", "layer": "F.Cu", "width_mm": 0.2, "path_mm": [[5, 5], [20, 5]]}],
}


@pytest.mark.parametrize(
    ("settings", "notes"),
    [
        ("", []),
        ('[order]\nslash_sheets = { "370HR" = "IPC-4101/126" }', []),
        (
            '[order]\nslash_sheets = { "Isola 370HR" = "IPC-4101/126" }',
            ['slash_sheets names "Isola 370HR", which is no laminate of the stackup; did you mean "370HR"?'],
        ),
        ('[order]\nstackup = "JLC04161H-7628"', []),
        ('[order]\nstackup = "JLC06161H-7628"', ["has 6 copper layers, the board 4; `stackwright fabs --layers 4`"]),
        ('[fab]\ntrack_mm = { "0.5" = 0.09, "2" = 0.2, "3" = 0.3 }', []),
        ('[fab]\ntrack_mm = { "2" = 0.2 }', ["track_mm says nothing of 0.5 oz, the copper of 1 inner layer:"]),
        (
            '[fab]\ntrack_mm = { "0.33" = 0.05 }\nspace_mm = { "0.7" = 0.4, "0.5" = 0.1 }',
            [
                "track_mm says nothing of 0.5 oz and 2 oz, the copper of 2 inner layers: the tiers",
                "space_mm says nothing of 2 oz, the copper of 1 inner layer:",
            ],
        ),
    ],
)
def test_a_setting_for_another_board_is_told(tmp_path: Path, settings: str, notes: list[str]) -> None:
    """One note each; settings that the board has a use for have none."""
    found = list(unread_notes(mini_context(tmp_path, BOARD, settings)))
    assert len(found) == len(notes)
    for note, words in zip(found, notes, strict=True):
        assert words in note


def test_a_misspelt_text_variable_is_told(tmp_path: Path) -> None:
    """It said nothing, and the board was checked for no workload; the known ones, and others' own, have no note."""
    path = mini_file(tmp_path, BOARD)
    project = path.with_suffix(".kicad_pro")
    data = json.loads(project.read_text(encoding="utf-8")) if project.exists() else {}
    said = {"STACKWRIGHT_PROFIL": "edge", "stackwright_form": "pcie-card", "REVISION": "1"}
    project.write_text(json.dumps({**data, "text_variables": said}), encoding="utf-8")
    board = read_board(path)
    found = list(unread_notes(prepare(board, Config(), Overrides())[0]))
    assert [note.partition(" of the project")[0] for note in found] == [
        "text variable STACKWRIGHT_PROFIL",
        "text variable stackwright_form",
    ]
    assert 'did you mean "STACKWRIGHT_PROFILE"?' in found[0] and 'did you mean "STACKWRIGHT_FORM"?' in found[1]

    good = {**dict.fromkeys(TEXT_VARIABLES.values(), ""), "STACKWRIGHT_PROFILE": "edge", "REVISION": "1"}
    project.write_text(json.dumps({**data, "text_variables": good}), encoding="utf-8")
    assert not list(unread_notes(prepare(read_board(path), Config(), Overrides())[0]))


def test_a_backdrill_enters_at_an_outer_layer(tmp_path: Path) -> None:
    """One from an inner layer drilled nothing, without a word."""
    text = '[[backdrill]]\nnets = ["/A"]\nmust_cut = "In1.Cu"\nfrom = "{}"\n'
    with pytest.raises(ConfigError, match=r'from = "In2.Cu" is an inner layer.*give F.Cu or B.Cu'):
        mini_context(tmp_path, BOARD, text.format("In2.Cu"))
    for name in ("F.Cu", "B.Cu"):
        assert mini_context(tmp_path, BOARD, text.format(name)).declarations.backdrills


def test_a_slash_sheet_has_the_number_of_a_sheet() -> None:
    """Whatever stood there went to the fab."""
    for sheet in ("IPC-4101/126", "IPC-4101E /98", "/99"):
        assert parse_config(f'[order]\nslash_sheets = {{ "370HR" = "{sheet}" }}').order.slash_sheets == {"370HR": sheet}
    with pytest.raises(ConfigError, match='"banana" of 370HR is no slash sheet, such as "IPC-4101/126"'):
        parse_config('[order]\nslash_sheets = { "370HR" = "banana" }')


def test_order_notes_name_sheets_of_the_boards_own_laminates(tmp_path: Path) -> None:
    """A laminate that the stackup does not have went to the fab as a slash sheet."""
    text = '[order]\nslash_sheets = { "Nopelam" = "IPC-4101/99", "370HR" = "IPC-4101/126" }'
    (note,) = (one for one in fab_notes(mini_context(tmp_path, BOARD, text)) if one.item == "slash sheet")
    assert note.answer == "370HR: IPC-4101/126"
