"""Every block of every board: our tree of it is the one that plain sexpdata makes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sexpdata

from fixtures import make_boards
from stackup_lib.kicad.read.header import load
from stackup_lib.kicad.syntax import tree
from stackup_lib.kicad.syntax.scan import Blocks, head, scan, without_comments
from tests.support.kicad.demo_names import demo_names
from tests.support.kicad.kicad5_boards import whole_board
from tests.support.kicad.kicad_boards import board_text, kicad_layout

FIXTURES = Path(make_boards.__file__).parent / "boards"
BIG = 10_000_000
"""Bytes from which a board is left to runs with `-m bench`: sexpdata takes minutes."""

Plain = list["str | Plain"]


class Words(sexpdata.Parser):  # type: ignore[misc] # sexpdata has no types
    """sexpdata, with words that stay text: it would make numbers of some net names."""

    def atom(self, token: str) -> str:
        return token


def plain(parsed: object) -> object:
    return [plain(p) for p in parsed] if isinstance(parsed, list) else str(parsed)


def theirs(text: str) -> object:
    """Exactly one list, as sexpdata finds it."""
    found = Words(text, nil=None, true=None).parse()
    assert len(found) == 1
    return plain(found[0])


def ours(node: tree.Node) -> object:
    return [ours(n) if isinstance(n, list) else tree.unquoted(n) for n in node]


def assert_same_blocks(content: bytes) -> int:
    """Fail unless scan and tree cut and parse a board as sexpdata does; return how many words were compared."""
    data = without_comments(content)
    blocks = scan(data)
    assert_tiled(data, blocks)
    words = 0
    children = iter(zip(blocks.children.start.tolist(), blocks.parent.tolist(), strict=True))
    upcoming = next(children, None)
    for item, (start, end) in enumerate(zip(blocks.items.start.tolist(), blocks.items.end.tolist(), strict=True)):
        heads = []
        while upcoming is not None and upcoming[1] == item:
            heads.append(head(data, upcoming[0]).decode())
            upcoming = next(children, None)
        mine = tree.parse(data, start, end)
        assert heads == [tree.head_of(child) for child in tree.lists(mine)]
        assert ours(mine) == theirs(data[start:end].decode())
        words += sum(1 for _ in walk(mine))
    assert upcoming is None
    return words


def assert_tiled(data: bytes, blocks: Blocks) -> None:
    """Between the blocks stands nothing but blanks, before them the name, behind them one parenthesis."""
    ends = [0, *blocks.items.end.tolist()]
    gaps = [data[a:b].split() for a, b in zip(ends, [*blocks.items.start.tolist(), len(data)], strict=True)]
    assert b"".join(gaps[0]) == b"(kicad_pcb"
    assert gaps[-1] == [b")"]
    assert not any(gaps[1:-1])


def walk(node: tree.Node) -> Iterator[str]:
    for part in node:
        if isinstance(part, list):
            yield from walk(part)
        else:
            yield part


@pytest.mark.demo
@pytest.mark.parametrize("name", demo_names(most_bytes=BIG))
def test_blocks_of_demo_boards_are_sexpdatas(name: str, demo_boards: Path) -> None:
    """Block by block: where each begins and ends, its lists, and every word in it."""
    assert assert_same_blocks((demo_boards / name).read_bytes()) > 1000


@pytest.mark.demo
@pytest.mark.bench
@pytest.mark.parametrize("name", demo_names(above_bytes=BIG))
def test_blocks_of_the_big_demo_boards_are_sexpdatas(
    name: str, demo_boards: Path, request: pytest.FixtureRequest
) -> None:
    """The same for the boards of 70 and 85 megabytes; a matter of minutes, so only with `-m bench`."""
    if "bench" not in str(request.config.getoption("markexpr")):
        pytest.skip("takes minutes: run it with -m bench")
    assert assert_same_blocks((demo_boards / name).read_bytes()) > 1_000_000


@pytest.mark.parametrize("name", make_boards.board_names())
def test_blocks_of_fixture_boards_are_sexpdatas(name: str) -> None:
    """Our own boards too."""
    assert assert_same_blocks((FIXTURES / name / f"{name}.kicad_pcb").read_bytes()) > 1000


@pytest.mark.parametrize(
    "text",
    [board_text(), kicad_layout(board_text()), whole_board().text(), whole_board().text().replace("\n", "\r\n")],
    ids=["one list a line", "KiCad's layout", "KiCad 5", "line ends of Windows"],
)
def test_blocks_of_written_boards_are_sexpdatas(text: str) -> None:
    """Other layouts, words without quotes, escaped quotes, and line ends of Windows."""
    assert assert_same_blocks(text.encode()) > 300


@pytest.mark.parametrize("name", ["L[1;x'", "'L2]", "]", ";"])
def test_words_that_only_lisp_takes_apart(name: str) -> None:
    """KiCad 5 writes such layer names without quotes, and reads them back as they are."""
    assert load(f"(layers (0 {name} signal) (31 Bottom signal hide))") == [
        "layers",
        ["0", name, "signal"],
        ["31", "Bottom", "signal", "hide"],
    ]


def test_a_difference_would_be_seen() -> None:
    """A tree that is not sexpdata's is found: to it, a semicolon begins a comment."""
    with pytest.raises(AssertionError):
        assert_same_blocks(b"(kicad_pcb (version 1)\n(layer a ;b\n))")
