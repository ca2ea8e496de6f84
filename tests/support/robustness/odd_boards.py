"""Boards that cannot be, or that are spelled to mislead: one fault each, in a small board that is else sound."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Mapping

from tests.support.kicad.kicad_boards import HEAD_V10, STACKUP, board_text

SOUND = board_text(head=HEAD_V10, setup=STACKUP.replace("(epsilon_r 3.5) (loss_tangent 0)", ""))
VIA, TRACK, PAD = "(drill 0.1) (layers", "(width 0.2) (layer", "(drill 1) (layers"
SHEET, COPPER = "(thickness 1.2) (material", '(layer "In1.Cu" (type "copper") (thickness 0.018))'
ANSI, RTL = "\x1b[31mred\x1b[0m\x07\x9b2J", "\u202egnp.exe\u2066"
MARKUP = "<script>alert(1)</script><img src=x onerror=alert(1)>"


def swapped(old: str, new: str) -> bytes:
    """The sound board with one place of it otherwise."""
    assert old in SOUND, old
    return SOUND.replace(old, new, 1).encode()


def renamed(odd: str) -> bytes:
    """The sound board with odd characters in the names of a net, a laminate, a layer, a part and a zone."""
    names = ("/A (1)", "FR4", "GND plane", "10k (1%)", "plane (1)", "not ) a ( list")
    text = SOUND
    for name in names:
        assert name in text
        text = text.replace(f'"{name}', f'"{name}{odd}')
    return text.encode()


def of_layers(count: int) -> bytes:
    """A board with `count` copper layers, in the table and in the stackup."""
    inner = [f"In{n}.Cu" for n in range(1, count - 1)]
    names = ["F.Cu", *inner, "B.Cu"]
    table = "".join(f'({n} "{name}" signal)' for n, name in enumerate(names))
    rows = '(layer "dielectric 1" (type "core") (thickness 0.1) (material "FR4") (epsilon_r 4.2))'.join(
        f'(layer "{name}" (type "copper") (thickness 0.018))' for name in names
    )
    return board_text(head=HEAD_V10, layers=f"(layers {table})", setup=f"(stackup {rows})", items="").encode()


NUMBERS = ("-0.3", "nan", "-nan", "inf", "1e999", "1e-999", "1e300", "9e9", "0", "0x10", "1,5", "9" * 400)
PLACES: Mapping[str, tuple[str, str]] = {
    "a via's drill": (VIA, "(drill {}) (layers"),
    "a via's size": ("(size 0.45) (drill", "(size {}) (drill"),
    "a via's place": ("(at 5 5) (size", "(at {} 5) (size"),
    "a track's width": (TRACK, "(width {}) (layer"),
    "a track's end": ("(end 4 6) (width", "(end {} 6) (width"),
    "a pad's drill": (PAD, "(drill {}) (layers"),
    "a pad's size": ("(size 0.8 0.9)", "(size {} 0.9)"),
    "a zone's corner": ("(xy 10 0)", "(xy {} 0)"),
    "the edge's corner": ("(end 60 40)", "(end {} 40)"),
    "a sheet's thickness": (SHEET, "(thickness {}) (material"),
    "a sheet's Dk": ("(epsilon_r 4.5)", "(epsilon_r {})"),
    "a sheet's Df": ("(loss_tangent 0.02)", "(loss_tangent {})"),
    "a foil's thickness": (COPPER, '(layer "In1.Cu" (type "copper") (thickness {}))'),
    "the board's thickness": ("(thickness 1.6) (legacy", "(thickness {}) (legacy"),
}
FEWER = {f"{number[:12]} as a via's drill" for number in NUMBERS} | {f"nan as {place}" for place in PLACES}
"""Every number once and every place once."""
OTHERS: Mapping[str, Callable[[], bytes]] = {
    "10,000 layers": lambda: of_layers(10_000),
    "a layer twice in the table": lambda: swapped('(6 "In2.Cu" jumper)', '(6 "In1.Cu" jumper)'),
    "a layer twice in the stackup": lambda: swapped(
        '(layer "In2.Cu" (type "copper")', '(layer "In1.Cu" (type "copper")'
    ),
    "a layer's number twice": lambda: swapped('(6 "In2.Cu" jumper)', '(4 "In2.Cu" jumper)'),
    "ANSI in names": lambda: renamed(ANSI),
    "right to left in names": lambda: renamed(RTL),
    "markup in names": lambda: renamed(MARKUP),
    "UTF-16": lambda: SOUND.encode("utf-16"),
    "UTF-16 without a mark": lambda: SOUND.encode("utf-16-le"),
    "UTF-16 with the large end first": lambda: SOUND.encode("utf-16-be"),
    "UTF-32": lambda: SOUND.encode("utf-32"),
    "a byte order mark": lambda: codecs.BOM_UTF8 + SOUND.encode(),
    "line ends of Windows": lambda: SOUND.replace("\n", "\r\n").encode(),
    "line ends of old Macs": lambda: SOUND.replace("\n", "\r").encode(),
    "bytes of nothing": lambda: bytes(5000),
    "an empty file": lambda: b"",
    "no board": lambda: b"(kicad_sch (version 20250114))",
    "a version of tomorrow": lambda: SOUND.replace("20260206", "29990101").encode(),
    "a version that is none": lambda: SOUND.replace("20260206", "-1").encode(),
}


def odd_boards() -> dict[str, bytes]:
    """Every odd board by what is odd about it."""
    found = {
        f"{number[:12]} as {place}": swapped(old, new.format(number))
        for place, (old, new) in PLACES.items()
        for number in NUMBERS
    }
    return found | {name: make() for name, make in OTHERS.items()}


def cut_boards(pieces: int) -> dict[str, bytes]:
    """The sound board cut off at a number of places."""
    whole = SOUND.encode()
    at = [len(whole) * piece // pieces for piece in range(1, pieces)]
    return {f"cut off at {place}": whole[:place] for place in at}
