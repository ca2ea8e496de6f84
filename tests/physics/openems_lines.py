"""The straight lines of `openems_vias.py` and `openems_via_pairs.py`: solves them into `openems_lines.csv`.

usage: /usr/bin/python3 -m tests.physics.openems_lines [BOARD:LAYER ...]   (a minute of one core each)

A line of 8 mm between the two ports. What it reflects is the ports' and its impedance's, with no via in it.
"""

from __future__ import annotations

import csv
import sys
import tomllib
from typing import Any

import numpy as np

from tests.physics.openems_via_pairs import AT_GHZ
from tests.physics.openems_vias import REFERENCE, solved

HEADER = ("board", "layer", "ghz", "s11_re", "s11_im", "s21_re", "s21_im")


def main() -> int:
    """Solve, and write the table."""
    path, boards, lines = REFERENCE / "openems_lines.csv", dict[str, Any](), set[tuple[str, int]]()
    for name in ("openems_vias.toml", "openems_via_pairs.toml"):
        read = tomllib.loads((REFERENCE / name).read_text(encoding="utf-8"))
        boards |= read["board"]
        for case in read["case"].values():
            last = len(read["board"][case["board"]]["plies_mm"])
            lines |= {(case["board"], min(k, last - k)) for k in (case["entry"], case["exit"])}
    asked = [(name.split(":")[0], int(name.split(":")[1])) for name in sys.argv[1:]] or sorted(lines)
    for board, layer in asked:
        hertz, s11, s21 = solved({**boards[board], "entry": layer, "exit": layer})
        with path.open(encoding="utf-8", newline="") as table:
            kept = [row for row in list(csv.reader(table))[1:] if row[:2] != [board, str(layer)]]
        for ghz in AT_GHZ:
            k = int(np.argmin(abs(hertz - ghz * 1e9)))
            parts = (s11[k].real, s11[k].imag, s21[k].real, s21[k].imag)
            kept.append([board, str(layer), f"{ghz:g}", *(f"{part:.4f}" for part in parts)])
        kept.sort(key=lambda row: (row[0], int(row[1]), float(row[2])))
        with path.open("w", encoding="utf-8", newline="") as out:
            csv.writer(out, lineterminator="\n").writerows([HEADER, *kept])
    return 0


if __name__ == "__main__":
    sys.exit(main())
