"""Bad input to the reader: one clear line each, and no other kind of error ever."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from stackup_lib.core.errors import BoardFileError
from stackup_lib.kicad import read_board
from tests.support.hang import no_hang
from tests.support.kicad.kicad_boards import board_text, read_as_board

BAD = {
    "nothing": (b"", "is empty", None),
    "blanks": (b" \n\n ", "is empty", None),
    "a schematic": (b'(kicad_sch (version 20250114) (generator "eeschema"))', "schematic", None),
    "a footprint": (b'(footprint "R" (version 20241229))', "footprint", None),
    "a symbol library": (b"(kicad_symbol_lib (version 1))", "symbol library", None),
    "a pointer of LFS": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "run `git lfs pull`", None),
    "a KiCad 3 board": (b"PCBNEW-BOARD Version 1 date", "KiCad 3 or older", None),
    "a gzip archive": (b"\x1f\x8b\x08\x00" + bytes(20), "is a gzip archive; unpack it", None),
    "a ZIP archive": (b"PK\x03\x04" + bytes(20), "perhaps of a project; unpack it", None),
    "a compound file": (b"\xd0\xcf\x11\xe0" + bytes(20), "perhaps an Altium board; import it in KiCad", None),
    "an XML file": (b"<?xml version='1.0'?><eagle/>", "perhaps an Eagle board; import it in KiCad", None),
    "other text": (b"Gerber RS-274X", "not a KiCad board", None),
    "binary": (bytes(range(256)) * 100, "not a KiCad board", None),
    "20 MB of (": (b"(" * 20_000_000, "not a KiCad board", None),
    "a board of 20 MB of (": (b"(kicad_pcb" + b"(" * 20_000_000, "nests more than", 1),
    "deep but closed": (b"(kicad_pcb (version 20241229)" + b"(" * 9000 + b")" * 9000 + b")", "nests more than", 1),
    "cut in an item": (b'(kicad_pcb (version 20241229)\n(net 0 "")\n(via (at 1 1)', "the file ends inside (via", 3),
    "cut in a string": (b'(kicad_pcb (version 20241229)\n(net 0 "GN', "the file ends inside (net", 2),
    "a quote that is not closed": (
        b'(kicad_pcb (version 20241229)\n(net 0 "")\n(net 1 "GND)\n(net 2 "VCC")\n)',
        "a quote that is not closed on its line; close it",
        3,
    ),
    "a quote that is not closed, far from the next": (
        b'(kicad_pcb (version 20241229)\n(net 1 "GND)\n' + b"(via (at 1 1))\n" * 200_000 + b'(net 2 "VCC"))',
        "a quote that is not closed on its line; close it",
        2,
    ),
    "cut between items": (b'(kicad_pcb (version 20241229)\n(net 0 "")\n', "the file ends", 3),
    "two sides of a merge": (
        b'(kicad_pcb (version 20241229)\n<<<<<<< HEAD\n(net 0 "")\n=======\n(net 1 "")\n>>>>>>> main\n)',
        "a merge of git is not resolved",
        2,
    ),
    "two sides of a whole file": (b"<<<<<<< HEAD\n(kicad_pcb)\n=======\n>>>>>>> x\n", "a merge of git", 1),
    "no version": (b"(kicad_pcb\n)", "no (version", 1),
    "a version that is none": (b"(kicad_pcb\n(version nine))", "no (version", 2),
    "no layers": (b"(kicad_pcb (version 20241229) (general (thickness 1.6)))", "no copper layer", 1),
    "a new project": (b"(kicad_pcb (version 20241229) (generator pcbnew))", "empty, as KiCad makes it", 1),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_files_give_one_clear_line(tmp_path: Path, case: str) -> None:
    """What is no board, or only a part of one, is one error that says where, what, and what to do."""
    content, what, line = BAD[case]
    with no_hang(), pytest.raises(BoardFileError) as caught:
        read_as_board(tmp_path, content)
    assert what in str(caught.value)
    assert str(tmp_path / "board.kicad_pcb") in caught.value.where
    assert (f", line {line}" in caught.value.where) if line else "line" not in caught.value.where
    assert caught.value.next_step
    assert "\n" not in str(caught.value)


def test_a_text_that_looks_like_a_merge_is_read(tmp_path: Path) -> None:
    """In quotes, where no line begins; only git begins a line so."""
    text = board_text().rstrip().removesuffix(")") + '(gr_text "<<<<<<< HEAD" (at 0 0) (layer "F.SilkS"))\n)'
    assert read_as_board(tmp_path, text.encode()).layer_count


BAD_ITEMS = {
    "(via (size 0.4) (drill 0.2))": "(via ...) has no (at x y)",
    "(via (at 1 1))": "(via ...) has no (size ...)",
    "(via (at 1 x1) (size 0.4))": "(at ...) holds 'x1' where a number belongs",
    "(via (at 1 1e999) (size 0.4))": "(at ...) holds '1e999' where a number belongs",
    "(via (at 1) (size 0.4))": "(at ...) needs two numbers",
    "(via (at 1 1) (size))": "(size ...) holds nothing where a number belongs",
    "(via (at 1 1) (size (0.4)))": "(size ...) holds a list where a number belongs",
    '(via (at 1 1) (size 1) (layers "F.Cu"))': "(via ...) needs two names in (layers ...)",
    '(via (at 1 1) (size 1) (backdrill (size 1)))': "(backdrill ...) needs (size ...) and (layers start must-cut)",
    '(segment (start 1 1) (end 1 nan) (width 1) (layer "F.Cu"))': "(end ...) holds 'nan' where a number belongs",
    '(segment (start 1 1) (end 1 1) (layer "F.Cu"))': "(segment ...) has no (width ...)",
    "(segment (start 1 1) (end 1 1) (width 1))": "(segment ...) has no (layer ...)",
    '(arc (start 1 1) (end 1 1) (width 1) (layer "F.Cu"))': "(arc ...) has no (mid x y)",
    "(footprint)": "(footprint ...) has no (at x y)",
    '(footprint "a" (at 1 1 q))': "(at ...) holds 'q' where a number belongs",
    '(footprint "a" (at 1 1) (pad "1" smd rect (size 1 1)))': "(pad ...) has no (at x y)",
    '(footprint "a" (at 1 1) (pad "1" magic o (at 1 1) (size 1 1)))': "(pad ...) is of no known kind: '1 magic o'",
    '(zone (layer "F.Cu") (polygon (xy 1 1)))': "a polygon of a zone has no (pts ...)",
    '(zone (layer "F.Cu") (polygon (pts (xy 1 1) (xy 1))))': "(xy ...) needs two numbers",
    '(zone (layer "F.Cu") (polygon (pts (xy 1 1) (dot 1))))': "(pts ...) holds (dot ...), neither xy nor arc",
    '(zone (layer "F.Cu") (polygon (pts (xy 1 1) (xy 1 1-))))': "(xy ...) holds '1-' where a number belongs",
    '(gr_line (start 1 1) (layer "Edge.Cuts"))': "(gr_line ...) has no (end x y)",
    '(gr_poly (layer "Edge.Cuts"))': "(gr_poly ...) has no (pts ...)",
    '(net)': "(net ...) holds nothing where a number belongs",
}  # fmt: skip


@pytest.mark.parametrize("item", BAD_ITEMS)
def test_malformed_items_are_named_with_their_line(tmp_path: Path, item: str) -> None:
    """A missing field or a word where a number belongs is an error with the item's line and token."""
    with pytest.raises(BoardFileError) as caught:
        read_as_board(tmp_path, board_text(setup="", items=f"\n\n{item}\n"))
    assert caught.value.what == BAD_ITEMS[item]
    assert caught.value.where.endswith(", line 7")


@pytest.mark.parametrize(
    ("setup", "what"),
    [
        ('(stackup (layer "F.Cu" (thickness thin)))', "'thin' where a number belongs"),
        ('(stackup (layer (type "copper")))', "has no name"),
        ("(stackup (layer))", "has no name"),
    ],
)
def test_a_malformed_stackup_is_named_with_its_line(tmp_path: Path, setup: str, what: str) -> None:
    """A stackup that cannot be read is an error, never a board without a stackup."""
    with pytest.raises(BoardFileError, match=r"line 3\b") as caught:
        read_as_board(tmp_path, board_text(setup=setup))
    assert what in caught.value.what


def test_paths_that_are_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing file, a folder and a file without permission are each named."""
    with pytest.raises(BoardFileError, match="does not exist"):
        read_board(tmp_path / "none.kicad_pcb")
    with pytest.raises(BoardFileError, match="is a folder"):
        read_board(tmp_path)

    def forbidden(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    locked = tmp_path / "locked.kicad_pcb"
    locked.touch()
    monkeypatch.setattr("stackup_lib.core.files.plain_file.os.open", forbidden)
    with pytest.raises(BoardFileError, match="Permission denied"):
        read_board(locked)


PIECES = [
    *"()\"\\\n |#';[]-",
    "nan",
    "1e999",
    "9" * 400,
    "(pts",
    "locked",
    "yes",
    "addsublayer",
    "(net ",
    "\u00b2",
    "\u0663",
]


@pytest.mark.slow
def test_damaged_boards_give_a_board_or_one_clear_line(tmp_path: Path) -> None:
    """Whatever is inserted into a board, cut out of it or doubled, the only error is `BoardFileError`, on one line."""
    random = Random(7)  # noqa: S311 - a repeatable shuffle
    text = board_text()
    path = tmp_path / "board.kicad_pcb"
    read = 0
    for _ in range(400):
        damaged = text
        for _ in range(random.randint(1, 3)):
            at = random.randrange(len(damaged))
            piece = random.choice([*PIECES, damaged[at // 2 : at // 2 + 40], ""])
            damaged = damaged[:at] + piece + damaged[at + random.choice([0, 0, 1, 5, 20]) :]
        try:
            read_board(path, text=damaged.encode())
            read += 1
        except BoardFileError as bad:
            assert "\n" not in str(bad)
    assert 20 < read < 380
