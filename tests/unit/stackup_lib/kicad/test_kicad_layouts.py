"""Layout does not matter to the reader, and plain sexpdata finds the same in a board."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from stackup_lib.kicad import read_board
from stackup_lib.kicad.syntax import scan
from tests.support.kicad.kicad_boards import (
    TOKENS,
    assert_agrees_with_sexpdata,
    assert_same,
    board_text,
    kicad_layout,
    read_as_board,
)

LAYOUTS: dict[str, Callable[[str], str]] = {
    "as KiCad writes it": kicad_layout,
    "on one line": lambda text: " ".join(TOKENS.findall(text)),
    "without any blank that is not needed": lambda text: "".join(
        t if t in "()" or t[0] == '"' else f" {t} " for t in TOKENS.findall(text)
    ),
    "one token a line": lambda text: "\n".join(TOKENS.findall(text)),
    "blanks inside the parentheses": lambda text: "  ".join("( \t" if t == "(" else t for t in TOKENS.findall(text)),
    "line ends of Windows": lambda text: text.replace("\n", "\r\n"),
    "with comment lines": lambda text: (
        '# a comment ( with " traps\n' + text.replace("\n(via ", '\n  # (via (at 1 1) "\n(via ')
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layout_does_not_matter(tmp_path: Path, layout: str) -> None:
    """The same board laid out differently gives the same columns."""
    text = board_text()
    plain = read_as_board(tmp_path, text)
    other = read_as_board(tmp_path, LAYOUTS[layout](text))
    assert len(plain.tracks) == 3
    assert len(plain.vias) == 4
    assert_same(plain, other)


def test_offsets_lead_to_the_lines_of_the_items(tmp_path: Path) -> None:
    """Every column of offsets points at the opening parenthesis of its item, and `line_of` counts lines from one."""
    text = kicad_layout(board_text())
    board = read_as_board(tmp_path, text)
    lines = text.splitlines()
    for table, words in (
        (board.tracks, ("(segment", "(arc")),
        (board.vias, ("(via",)),
        (board.pads, ("(pad",)),
        (board.footprints, ("(footprint",)),
        (board.zones, ("(zone",)),
    ):
        assert len(table.offset)
        for offset in table.offset.tolist():
            assert lines[board.line_of(offset) - 1].strip().startswith(words)
    assert board.stackup is not None
    assert '"dielectric 2"' in lines[board.line_of(board.stackup.layers[5].offset) - 1]


def test_odd_tracks_are_read_like_plain_ones(tmp_path: Path) -> None:
    """A track that the quick expression does not know goes to the general parser and gives the same row."""
    plain = '(segment (start 1 2) (end 4 6) (width 0.2) (layer "F.Cu") (net 1) (uuid "s"))'
    odd = (
        '(segment (uuid "s") (net 1) (end 4 6) (start 1 2) (layer "F.Cu") (width 0.2))',
        '(segment locked (start 1e0 +2) (end 4. 6) (width .2) (layers "F.Cu" "F.Mask")'
        " (solder_mask_margin 1) (net 1) (uuid s))",
        '(segment (start 1 2) (end 4 6) (width 0.2) (layer "F.\\x43u") (net "GND") (uuid "s"))',
    )
    first = read_as_board(tmp_path, board_text(items=plain)).tracks
    for item in odd:
        assert_same(first, read_as_board(tmp_path, board_text(items=item)).tracks)


def test_same_as_sexpdata(tmp_path: Path) -> None:
    """Plain sexpdata, reading the whole file, finds the same items, coordinates, nets and stackup."""
    text = board_text().replace("|KLUv/WAg\n AAECAwQ=|", "x")
    assert_agrees_with_sexpdata(read_as_board(tmp_path, text), text)


SMALL_DEMOS = (
    "ecc83-pp.kicad_pcb",
    "microwave.kicad_pcb",
    "StickHub.kicad_pcb",
    "pic_programmer.kicad_pcb",
    "sonde xilinx.kicad_pcb",
)


@pytest.mark.slow
@pytest.mark.demo
@pytest.mark.parametrize("name", SMALL_DEMOS)
def test_demo_boards_same_as_sexpdata(demo_boards: Path, name: str) -> None:
    """On KiCad's smaller demo boards, too, plain sexpdata finds the same."""
    path = next(demo_boards.glob(f"*/{name}"))
    text = re.sub(r"\|[^|\"]*\|", "x", path.read_text(encoding="utf-8"))
    assert_agrees_with_sexpdata(read_board(path), text)


@pytest.mark.slow
@pytest.mark.demo
def test_a_slice_of_the_big_demo_board_same_as_sexpdata(demo_boards: Path, tmp_path: Path) -> None:
    """The 85 MB board without most of its footprints and zones is small enough for sexpdata, and both agree on it."""
    path = demo_boards / "jetson-agx-thor-baseboard" / "jetson-agx-thor-baseboard.kicad_pcb"
    blocks = re.split(r"\n(?=\t\()", path.read_text(encoding="utf-8").removesuffix("\n)\n"))
    seen: Counter[str] = Counter()
    kept = []
    for block in blocks:
        word = block.split(None, 1)[0]
        seen[word] += 1
        limit = {"(footprint": 25, "(gr_text": 0, "(segment": 3000, "(via": 500, "(zone": 12, "(generated": 2}.get(
            word, 10_000
        )
        if seen[word] <= limit:
            kept.append(block)
    text = "\n".join(kept) + "\n)\n"
    board = read_as_board(tmp_path, text)
    assert (len(board.tracks), len(board.vias), len(board.footprints)) == (3000 + 2316, 500, 25)
    assert_agrees_with_sexpdata(board, text)


@pytest.mark.slow
@pytest.mark.demo
def test_demo_boards_hold_no_unknown_words(demo_boards: Path) -> None:
    """Nothing in the boards that KiCad ships is unknown, odd or left out."""
    for path in sorted(demo_boards.glob("*/*.kicad_pcb")):
        if path.stat().st_size < 10_000_000:
            board = read_board(path)
            assert (dict(board.unknown_tokens), board.warnings) == ({}, ()), path.name


def test_a_quote_inside_a_word_is_a_letter(tmp_path: Path) -> None:
    """KiCad begins a string only where a word could begin, so `0.062"` is a text like any other: old boards have it."""
    text = board_text()
    texts = ('(gr_text 0.062" (at 1 1) (layer "F.SilkS"))', '(gr_text 3/8"thick (at 1 2) (layer "F.SilkS"))')
    first, _, rest = text.partition("\n(via ")
    last = rest.rindex(")")
    odd = f"{first}\n{texts[0]}\n(via {rest[:last]}\n{texts[1]}\n)"
    assert_same(read_as_board(tmp_path, odd), read_as_board(tmp_path, text))
    one_only = f"{first}\n{texts[0]}\n(via {rest}"
    assert_same(read_as_board(tmp_path, one_only), read_as_board(tmp_path, text))


@pytest.mark.parametrize("chunk", [1, 7, 64])
def test_the_same_blocks_are_found_wherever_a_chunk_ends(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    """A file is looked through chunk by chunk; a string, with parentheses in it, may go on into the next."""
    text = b"(kicad_pcb\n" + b'\t(gr_text "a \\" (b" (at 1 2))\n' * 120 + b")\n"
    whole = scan.scan(text)
    monkeypatch.setattr(scan, "_CHUNK", chunk)
    in_chunks = scan.scan(text)

    assert len(whole.items) == len(whole.children) == 120
    for one, other in ((whole.items, in_chunks.items), (whole.children, in_chunks.children)):
        assert np.array_equal(one.start, other.start)
        assert np.array_equal(one.end, other.end)
    assert whole.end == in_chunks.end == len(text) - 1
