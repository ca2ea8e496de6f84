"""A board file that is moved, turned or shuffled as text is read as the board that is moved, turned or shuffled."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from stackup_lib.board.board import Board
from stackup_lib.kicad import read_board
from tests.support.robustness import metamorphic as meta

ROOT = Path(__file__).parents[2] / "fixtures" / "boards"
BOARDS = ("edge_jetson_carrier_fit", "inference_hdi_2n2_fit", "training_b200_no_backdrill")
TABLES = ("tracks", "vias", "footprints", "pads", "zones")
Turn = Callable[[float, float], tuple[float, float]]

# KiCad indents by tabs: what stands one deep is an item of the board, whatever is deeper belongs to it.
_ITEM = re.compile(rb"^\t\((?:.*\n(?:\t\t.*\n)*\t\)|.*\))\n", re.MULTILINE)
_ON_BOARD = re.compile(rb"\((at|start|mid|end|center|xy) (-?[\d.]+) (-?[\d.]+)( -?[\d.]+)?\)")
_IN_FOOTPRINT = re.compile(rb"\((at) (-?[\d.]+) (-?[\d.]+)( -?[\d.]+)?\)")


def items_of(text: bytes) -> tuple[bytes, list[bytes], bytes]:
    """Split a file into its head, the items that lie on the board, and its end."""
    found = list(_ITEM.finditer(text))
    drawn = [m for m in found if re.match(rb"\t\((segment|arc|via|footprint|zone|gr_\w+)\b", m[0])]
    assert drawn
    return text[: drawn[0].start()], [m[0] for m in drawn], text[drawn[-1].end() :]


def turned_text(text: bytes, turn: Turn, degrees: float) -> bytes:
    """Put every coordinate of the board elsewhere; inside a footprint only angles are absolute."""

    def on_board(found: re.Match[bytes]) -> bytes:
        x, y = turn(float(found[2]), float(found[3]))
        angle = b"" if found[4] is None else b" %g" % ((float(found[4]) + degrees) % 360)
        return b"(%s %.6f %.6f%s)" % (found[1], x, y, angle)

    def in_footprint(found: re.Match[bytes]) -> bytes:
        angle = (float(found[4] or 0) + degrees) % 360
        return b"(%s %s %s %g)" % (found[1], found[2], found[3], angle)

    def moved(item: bytes) -> bytes:
        if not item.startswith(b"\t(footprint"):
            return _ON_BOARD.sub(on_board, item)
        own = re.search(rb"^\t\t\(at (-?[\d.]+) (-?[\d.]+)( -?[\d.]+)?\)$", item, re.MULTILINE)
        assert own
        x, y = turn(float(own[1]), float(own[2]))
        place = b"\t\t(at %.6f %.6f %g)" % (x, y, (float(own[3] or 0) + degrees) % 360)
        return item[: own.start()] + place + _IN_FOOTPRINT.sub(in_footprint, item[own.end() :])

    head, items, end = items_of(text)
    return head + b"".join(map(moved, items)) + end


def assert_same(one: Board, other: Board) -> None:
    """Every column is the same, to half a nanometre; angles to whole turns; ids and places in the file are left out."""
    assert one.nets == other.nets
    assert corners(one) == corners(other)
    for table in TABLES:
        here, there = getattr(one, table), getattr(other, table)
        for column in fields(here):
            if column.name in ("uuid", "offset", "drilling"):
                continue
            a, b = getattr(here, column.name), getattr(there, column.name)
            where = f"{table}.{column.name}"
            if column.name == "rotation_deg":
                np.testing.assert_allclose(np.exp(1j * np.radians(a)), np.exp(1j * np.radians(b)), atol=1e-9)
            elif a.dtype.kind == "f":
                np.testing.assert_allclose(a, b, atol=5e-7, rtol=0, err_msg=where)
            else:
                np.testing.assert_array_equal(a, b, err_msg=where)


def corners(board: Board) -> set[tuple[float, float]]:
    """The outline's points; a rectangle begins at another corner when it is turned."""
    at = zip(board.outline.x_mm.tolist(), board.outline.y_mm.tolist(), strict=True)
    return {(round(x, 5) + 0.0, round(y, 5) + 0.0) for x, y in at}


def path_of(name: str) -> Path:
    return ROOT / name / f"{name}.kicad_pcb"


@pytest.mark.parametrize("name", BOARDS)
def test_a_file_moved_as_text_is_the_moved_board(name: str) -> None:
    """By a metre and off the sheet."""
    path = path_of(name)
    text = turned_text(path.read_bytes(), lambda x, y: (x + 1000, y - 1234.5), 0)

    assert_same(meta.moved(read_board(path), 1000, -1234.5).board, read_board(path, text=text))


@pytest.mark.parametrize("name", BOARDS)
def test_a_file_rotated_as_text_is_the_rotated_board(name: str) -> None:
    """Footprints turn about themselves, their pads with them."""
    path = path_of(name)
    text = turned_text(path.read_bytes(), lambda x, y: (y, -x), 90)

    assert_same(meta.rotated(read_board(path)).board, read_board(path, text=text))


def as_kicad_9_writes(text: bytes) -> bytes:
    """Nets by number, listed behind the setup; pads have the name too, and zones in a line of their own."""
    names = [b'""', *dict.fromkeys(re.findall(rb"\(net (\".*\")\)", text))]
    number = {name: b"%d" % k for k, name in enumerate(names)}
    listed = b"".join(b"\t(net %s %s)\n" % (number[name], name) for name in names)
    text = re.sub(rb"^\t\t\t\(net (.*)\)$", lambda m: b"\t\t\t(net %s %s)" % (number[m[1]], m[1]), text, flags=re.M)
    zone = rb"^\t\(zone\n\t\t\(net (.*)\)$"
    text = re.sub(zone, lambda m: b"\t(zone\n\t\t(net %s)\n\t\t(net_name %s)" % (number[m[1]], m[1]), text, flags=re.M)
    text = re.sub(rb"^\t\t\(net (\".*)\)$", lambda m: b"\t\t(net %s)" % number[m[1]], text, flags=re.M)
    text = re.sub(rb"^\t\t\(connect_pads", b"\t\t(filled_areas_thickness no)\n\t\t(connect_pads", text, flags=re.M)
    text = re.sub(rb"\(version \d+\)", b"(version 20241229)", text)
    return re.sub(rb"^\t\(setup\n(?:\t\t.*\n)*\t\)\n", lambda m: m[0] + listed, text, count=1, flags=re.M)


@pytest.mark.parametrize("name", BOARDS[:2])
def test_a_file_of_kicad_9_is_the_board_that_kicad_10_writes(name: str) -> None:
    """Two of the boards: the third has backdrills, which KiCad 9 cannot say."""
    path = path_of(name)
    before, after = read_board(path), read_board(path, text=as_kicad_9_writes(path.read_bytes()))

    assert after.format_version < before.format_version
    assert sorted(before.nets) == sorted(after.nets)
    for table in ("tracks", "vias", "pads", "zones"):
        assert by_id(before, table) == by_id(after, table)


@pytest.mark.parametrize("name", BOARDS)
def test_a_file_with_line_ends_of_windows_is_the_same_board(name: str) -> None:
    path = path_of(name)

    assert_same(read_board(path), read_board(path, text=path.read_bytes().replace(b"\n", b"\r\n")))


@pytest.mark.parametrize("name", BOARDS)
def test_a_file_whose_items_are_shuffled_holds_the_same_items(name: str) -> None:
    """Item by item, found again by its id; net by name."""
    path = path_of(name)
    head, items, end = items_of(path.read_bytes())
    random.Random(meta.SEED).shuffle(items)  # noqa: S311 - no secret

    before, after = read_board(path), read_board(path, text=head + b"".join(items) + end)

    assert sorted(before.nets) == sorted(after.nets)
    for table in ("tracks", "vias", "pads", "zones"):
        assert by_id(before, table) == by_id(after, table)


def by_id(board: Board, table: str) -> dict[str, tuple[object, ...]]:
    """Uuid -> net and every column with one plain value per row."""
    rows = getattr(board, table)
    left_out = ("net", "offset", "footprint", "drilling", "uuid", "fill", "outline")
    names = [c.name for c in fields(rows) if not c.name.startswith(left_out)]
    plain = [np.asarray(getattr(rows, n)) for n in names]
    plain = [column for column in plain if column.ndim == 1 and len(column) == len(rows)]
    nets = [board.nets[net] for net in rows.net]
    return {
        uuid: (net, *(str(column[k]) for column in plain))
        for k, (uuid, net) in enumerate(zip(rows.uuid.tolist(), nets, strict=True))
    }
