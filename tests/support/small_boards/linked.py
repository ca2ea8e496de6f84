"""Small boards with links, as text: chips, parts of two pads, tracks and vias."""

from __future__ import annotations

import tomllib
from pathlib import Path

from stackup_lib.board.board import Board
from stackup_lib.nets.links import Link, Links
from tests.support.mini import mini_board


def mini(folder: Path, text: str) -> Board:
    return mini_board(folder, tomllib.loads("copper_layers = 4\n" + text))


def chip(reference: str, x_mm: float, *nets: str, y_mm: float = 10.0) -> str:
    """A part with one small pad per net, 1 mm apart from y down."""
    pads = ", ".join(
        f'{{ number = "{k + 1}", net = "{net}", at_mm = [0, {k}], size_mm = [0.3, 0.3] }}' for k, net in enumerate(nets)
    )
    return f'[[parts]]\nreference = "{reference}"\nat_mm = [{x_mm}, {y_mm}]\npads = [{pads}]\n'


def two_pads(reference: str, value: str, x_mm: float, y_mm: float, *nets: str) -> str:
    """A part with pads 1 at its place and 2 one millimetre to the right."""
    pads = ", ".join(
        f'{{ number = "{k + 1}", net = "{net}", at_mm = [{k}, 0], size_mm = [0.3, 0.3] }}' for k, net in enumerate(nets)
    )
    return f'[[parts]]\nreference = "{reference}"\nvalue = "{value}"\nat_mm = [{x_mm}, {y_mm}]\npads = [{pads}]\n'


def track(net: str, *path: tuple[float, float], layer: str = "F.Cu", width_mm: float = 0.15) -> str:
    points = ", ".join(f"[{x}, {y}]" for x, y in path)
    return f'[[tracks]]\nnet = "{net}"\nlayer = "{layer}"\nwidth_mm = {width_mm}\npath_mm = [{points}]\n'


def via(net: str, x_mm: float, y_mm: float, *, span: str = "") -> str:
    return f'[[vias]]\nnet = "{net}"\nat_mm = [{x_mm}, {y_mm}]\n{span}\n'


def names(links: Links, link: Link) -> list[str]:
    """Nets and parts in turn: `A`, `C1`, `B`."""
    found = [links.board.nets[link.nets[0]]]
    for net, between in zip(link.nets[1:], link.parts, strict=True):
        found += ["+".join(part.reference for part in between), links.board.nets[net]]
    return found


PCIE5 = (
    chip("U1", 10, "/TX_P", "/TX_N")
    + two_pads("C1", "220n", 30, 10, "/TX_P", "/TXC_P")
    + two_pads("C2", "220n", 30, 11, "/TX_N", "/TXC_N")
    + chip("J1", 60, "/TXC_P", "/TXC_N")
    + track("/TX_P", (10, 10), (30, 10))
    + track("/TX_N", (10, 11), (30, 11))
    + track("/TXC_P", (31, 10), (40, 10))
    + via("/TXC_P", 40, 10)
    + track("/TXC_P", (40, 10), (50, 10), layer="In2.Cu")
    + via("/TXC_P", 50, 10)
    + track("/TXC_P", (50, 10), (60, 10))
    + track("/TXC_N", (31, 11), (60, 11), width_mm=0.12)
)


def part(reference: str, value: str, *pads: tuple[str, str, str], y_mm: float = 10.0) -> str:
    """A part with one pad for each number, pin name and net."""
    rows = ", ".join(
        f'{{ number = "{number}", function = "{pin}", net = "{net}", at_mm = [0, {k}], size_mm = [0.3, 0.3] }}'
        for k, (number, pin, net) in enumerate(pads)
    )
    return f'[[parts]]\nreference = "{reference}"\nvalue = "{value}"\nat_mm = [10, {y_mm}]\npads = [{rows}]\n'
