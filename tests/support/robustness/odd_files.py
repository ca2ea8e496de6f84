"""Files next to a board that cannot be, one fault each: settings, project, rules, plan, table, cases, baseline."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path

from drc_rules.engine.baseline import Baseline
from drc_rules.engine.check import find_config
from drc_rules.stackup_design.plan_file import plan_of, write_plan
from stackup_lib.kicad import read_board
from tests.support.robustness.odd_boards import ANSI, MARKUP, RTL, SOUND

BOARD = "b.kicad_pcb"
SETTINGS = """profile = "edge"
[[interface]]
is = "pcie3"
nets = ["/A*"]
[[impedance]]
nets = ["GND"]
ohm = 50
kind = "single"
[declared.dielectric."dielectric 2"]
material = "370HR"
dk = 4.2
df = 0.02
at_ghz = 10
"""
PLAIN = """form = "?"
"""
"""Settings without an interface: a search whose lines are to be solved takes seconds."""
PROJECT = """{"board": {"design_settings": {"rules": {"min_track_width": 0.1}}}, "net_settings": {"classes": [
 {"name": "Default", "priority": 2147483647, "clearance": 0.2, "track_width": 0.2},
 {"name": "85ohm", "priority": 3, "diff_pair_gap": 0.15, "diff_pair_width": 0.11}],
 "netclass_patterns": [{"netclass": "85ohm", "pattern": "/A*"}]}}
"""
RULES = """(version 1)
(rule "85 ohm" (layer "F.Cu") (condition "A.NetClass == '85ohm'") (constraint track_width (min 0.1mm) (opt 0.11mm)))
(rule holes (condition "A.Type == 'Via'") (constraint hole_size (min 0.2mm)))
"""
TABLE = """Layer,Type,Thickness (mm),Material,Dk,Df,Width (mm),Gap (mm),Impedance
F.Cu,Copper,0.035,,,,0.15,0.13,85
dielectric 1,Prepreg,0.15,2116,4.1,0.018,,,
In1.Cu,Copper,0.018,,,,,,
dielectric 2,Core,1.2,FR4,4.5,0.02,,,
In2.Cu,Copper,0.018,,,,,,
dielectric 3,Prepreg,0.11,1e5,4.1,0.018,,,
B.Cu,Copper,0.035,,,,,,
"""
CASES = """id,geometry,parameters,quantity,value_ohm
one,microstrip,"{""w"": 0.12, ""h"": 0.1, ""t"": 0.035, ""er"": 4.2}",Z0,60.5
"""
KNOWN = {"key": "STK006-0123456789ab", "code": "STK006", "clause": "board.stackup.symmetry", "title": "uneven"}
NUMBERS = ("-0.3", "nan", "inf", "1e999", "9e9", "0", "'x'")
PLACES = {
    "stackwright.toml": ("dk = 4.2", "df = 0.02", "ohm = 50"),
    "b.kicad_pro": ('"min_track_width": 0.1', '"diff_pair_width": 0.11', '"priority": 3'),
    "b.kicad_dru": ("min 0.1mm", "opt 0.11mm", "version 1"),
    "plan.toml": ("thickness_mm = 1.2", "dk = 4.5", "df = 0.02"),
    "fab.csv": (",1.2", ",4.5", ",0.15,0.13"),
    "cases.csv": ('""w"": 0.12', '""er"": 4.2', "Z0,60.5"),
    "known.json": ('"version": 1',),
}
NAMED = {
    "stackwright.toml": "/A*",
    "b.kicad_pro": "85ohm",
    "b.kicad_dru": "85 ohm",
    "plan.toml": "FR4",
    "fab.csv": "FR4",
    "cases.csv": "one",
    "known.json": "uneven",
}
"""A name in each file, which odd characters are put behind."""


GERBER = b"%TF.FileFunction,Copper,L1,Top*%\n%TF.FilePolarity,Positive*%\n%FSLAX46Y46*%\n%MOMM*%\nM02*\n"
"""The top layer of a board without copper."""


def sound_files(folder: Path) -> dict[str, bytes]:
    """Everything that a command may read, without a fault; the folder is only to write to on the way."""
    (folder / "stackwright.toml").write_text(SETTINGS, encoding="utf-8")
    board = read_board(folder / BOARD, text=SOUND.encode())
    texts = {
        BOARD: SOUND,
        "sound.kicad_pcb": SOUND,
        "stackwright.toml": SETTINGS,
        "plain.toml": PLAIN,
        "b.kicad_pro": PROJECT,
        "b.kicad_dru": RULES,
        "plan.toml": write_plan(plan_of(board, find_config(folder / BOARD, None))),
        "fab.csv": TABLE,
        "cases.csv": CASES,
        "known.json": Baseline.model_validate({"boards": {BOARD: [KNOWN]}}).text(),
    }
    return {name: text.encode() for name, text in texts.items()} | {"top.gbr": GERBER}


def odd_files(sound: dict[str, bytes]) -> Iterator[tuple[str, str, bytes]]:
    """Yield file, what is odd about it, and its content."""
    for name, places in PLACES.items():
        whole = sound[name].decode()
        for place in places:
            assert place in whole, (name, place)
            for number in NUMBERS:
                yield name, f"{number} for {place}", whole.replace(place, _numbered(place, number), 1).encode()
        assert NAMED[name] in whole, name
        for what, odd in (("ANSI", ANSI), ("right to left", RTL), ("markup", MARKUP)):
            yield name, f"{what} in a name", whole.replace(NAMED[name], NAMED[name] + odd).encode()
            escaped = "".join(f"\\u{ord(char):04x}" for char in odd)
            yield name, f"{what} in a name, escaped", whole.replace(NAMED[name], NAMED[name] + escaped).encode()
        yield name, "UTF-16", whole.encode("utf-16")
        yield name, "UTF-16 without a mark", whole.encode("utf-16-le")
        yield name, "no text at all", b"\xff\xfe\xfa\x00\x80" * 99
        yield name, "a byte order mark", codecs.BOM_UTF8 + whole.encode()
        yield name, "line ends of Windows", whole.replace("\n", "\r\n").encode()
        yield name, "bytes of nothing", bytes(5000)
        yield name, "an empty file", b""
        yield name, "everything twice", (whole + whole).encode()
        for piece in (1, 3, 5, 7):
            at = len(whole) * piece // 8
            yield name, f"cut off at {at}", whole[:at].encode()


def _numbered(place: str, number: str) -> str:
    """The place with another number at its end; a unit stays behind it."""
    unit = "mm" if place.endswith("mm") else ""
    bare = place.removesuffix(unit).rstrip("0123456789.")
    return bare + number + unit
