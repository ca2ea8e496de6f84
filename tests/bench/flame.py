"""Draw where a command's time goes: `py-spy record -r 500 -f raw -o STACKS -- COMMAND`, then
`python tests/bench/flame.py STACKS PICTURE.svg "TITLE"`.

Each row of blocks is called by the row above it; a block is as wide as its share of the samples. Frames of the import
system and of the command-line library are left out, lines of one function are one block.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

WIDTH, ROW, LETTER, TOP = 1200.0, 17.0, 6.1, 44.0
LEAST_SHARE = 0.004
MOST_ROWS = 26
LEFT_OUT = re.compile(r"importlib|<frozen|click/|runpy|stackwright/__main__|cli/app")
PLACE = re.compile(r"^(.*) \((.*?)(?::\d+)?\)$")
COLOURS = {"stackup_lib": "#d9e4f5", "drc_rules": "#dcefdc", "stackwright": "#f7e6c8"}
OTHERS = "#e9e9ec"
STYLE = "text{font:11px sans-serif;fill:#1c2430;pointer-events:none}rect{stroke:#fff;stroke-width:.6}"


@dataclass
class Block:
    """A function below its callers.

    Attributes:
        samples: how often it or what it calls was running.
    """

    samples: int = 0
    calls: dict[str, Block] = field(default_factory=dict)


def tree(stacks: str) -> Block:
    """Return all samples of py-spy's raw format, `frame;frame;... COUNT` a line, outermost first."""
    root = Block()
    for line in stacks.splitlines():
        frames, _, count = line.rpartition(" ")
        block = root
        block.samples += int(count)
        for name in dict.fromkeys(names(frames)):
            block = block.calls.setdefault(name, Block())
            block.samples += int(count)
    return root


def names(frames: str) -> Iterator[str]:
    """Yield what each frame is called in the picture."""
    for frame in frames.split(";"):
        match = PLACE.match(frame)
        if match is None or LEFT_OUT.search(frame):
            continue
        what, file = match[1], re.sub(r"^.*site-packages/", "", match[2]).removesuffix(".py")
        yield f"import {file}" if what == "<module>" else f"{what}  {file}"


def drawn(block: Block, name: str, x: float, row: int, per_sample: float) -> Iterator[str]:
    """Yield a block and those below it, the widest first."""
    width = block.samples * per_sample
    if row >= MOST_ROWS or width < LEAST_SHARE * WIDTH:
        return
    colour = next((c for package, c in COLOURS.items() if f" {package}/" in f" {name}"), OTHERS)
    y, letters = TOP + row * ROW, int(width / LETTER)
    label = name if len(name) <= letters else name[: max(letters - 1, 0)]
    share = f"{width / WIDTH:.1%}"
    yield f"<g><title>{escape(name)}: {share}</title>"
    yield f'<rect x="{x:.1f}" y="{y:g}" width="{width:.1f}" height="{ROW:g}" fill="{colour}"/>'
    yield f'<text x="{x + 3:.1f}" y="{y + 12:g}">{escape(label)}</text></g>\n' if letters > 4 else "</g>\n"
    for called, one in sorted(block.calls.items(), key=lambda item: -item[1].samples):
        yield from drawn(one, called, x, row + 1, per_sample)
        x += one.samples * per_sample


def picture(stacks: str, title: str) -> str:
    """Return the drawing as SVG."""
    root = tree(stacks)
    blocks = "".join(drawn(root, "all", 0.0, 0, WIDTH / root.samples))
    rows = 1 + max(int((float(y) - TOP) / ROW) for y in re.findall(r' y="([\d.]+)" width', blocks))
    height = TOP + rows * ROW + 8
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {height:g}" role="img">\n'
        f"<title>{escape(title)}</title><style>{STYLE}</style>"
        f'<rect width="{WIDTH:g}" height="{height:g}" fill="#fff"/>\n'
        f'<text x="4" y="18" style="font-size:14px;font-weight:600">{escape(title)}</text>'
        f'<text x="4" y="34">{root.samples} samples; blue boards and physics, green rules, yellow command line, '
        f"grey libraries; blocks below {LEAST_SHARE:.1%} are left out</text>\n{blocks}</svg>\n"
    )


def main() -> int:
    """Draw."""
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    stacks, target, title = sys.argv[1:]
    Path(target).write_text(picture(Path(stacks).read_text(encoding="utf-8"), title), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
