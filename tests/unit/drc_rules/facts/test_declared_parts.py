"""Tables that name parts or pads that the board does not have are told; the others are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.facts.declared_parts import part_notes
from drc_rules.settings.config import parse_config
from stackup_lib.kicad import read_board
from tests.support.mini import mini_file

PART = {"at_mm": [10, 10], "value": "220n"}
PADS = [{"number": "1", "net": "+1V0"}, {"number": "2", "net": "GND", "at_mm": [1, 0]}]
BOARD = {
    "copper_layers": 2,
    "parts": [
        PART | {"reference": "C12", "pads": PADS},
        PART | {"reference": "C13", "value": "10u", "pads": PADS},
        {"reference": "U1", "at_mm": [20, 10], "pads": [{"number": "33", "net": "GND"}]},
    ],
}
MODEL = '[[part_model]]\nfile = "a.s2p"\n'
RAIL = '[[rail]]\nnet = "{}"\nvoltage_v = 1\n'
RAIL += "[rail.pdn]\ncapacitor = [{{ parts = {}, uf = 1, esr_mohm = 1, esl_ph = 1 }}]\n"
COOLED = '[[hot_part]]\nrefs = ["U1"]\ncooling = "heatsink"\n'
HOT = '[[hot_part]]\nrefs = ["U1"]\npads = {}\n'


@pytest.mark.parametrize(
    ("settings", "notes"),
    [
        (
            MODEL + 'parts = ["C19"]\n',
            [
                '[[part_model]] 1 (a.s2p) fits no part of this board: no part has the reference "C19", did you mean '
                '"C13"?'
            ],
        ),
        (MODEL + 'parts = ["C1?", "R*"]\n', ['[[part_model]] 1 (a.s2p): no part has the reference "R*"']),
        (
            MODEL + 'values = ["220nF"]\nlibraries = ["C1?"]\n',
            [
                '[[part_model]] 1 (a.s2p) fits no part of this board: no part has the value "220nF", did you mean '
                '"220n"?'
            ],
        ),
        (MODEL + 'values = ["220n"]\nparts = ["C13"]\n', ["[[part_model]] 1 (a.s2p) fits no part of this board"]),
        (MODEL + 'values = ["220n*"]\nlibraries = ["C*"]\n', []),
        (RAIL.format("+1V0", '["C12", "C99"]'), ['[[rail]] 1 (+1V0), pdn.capacitor: no part on +1V0 is called "C99"']),
        (RAIL.format("+1V0", '["U1"]'), ['[[rail]] 1 (+1V0), pdn.capacitor: no part on +1V0 is called "U1"']),
        (RAIL.format("+1V0", '["C1?"]'), []),
        (RAIL.format("+9V9", '["C99"]'), []),
        (HOT.format('["33", "34"]'), ['[[hot_part]] 1: U1 has no pad "34"']),
        (HOT.format('["33"]'), []),
        (HOT.format('["34"]'), []),
        (
            f'{COOLED}sink = "B.Cuu"\n',
            ['[[hot_part]] 1: sink: the board has no copper layer "B.Cuu", did you mean "B.Cu"?'],
        ),
        (f'{COOLED}sink = "B.Cu"\n', []),
        (f'{COOLED}sink = "B.Cuu"\nmax_k_per_w = 2\n', []),
        ("", []),
    ],
    ids=[
        "no such reference",
        "one reference of two",
        "no such value",
        "value and reference of different parts",
        "all fit",
        "no such capacitor",
        "a part that is not on the rail",
        "capacitors of the rail",
        "a rail that is not there is told elsewhere",
        "one pad of two",
        "a pad",
        "a missing pad makes the check say so",
        "a sink that is no layer",
        "a sink",
        "a limit of the path to the sink makes the check say so",
        "nothing",
    ],
)
def test_a_table_for_parts_that_are_not_there_is_told(tmp_path: Path, settings: str, notes: list[str]) -> None:
    board = read_board(mini_file(tmp_path, BOARD, "b"))
    assert list(part_notes(board, parse_config(settings))) == notes
