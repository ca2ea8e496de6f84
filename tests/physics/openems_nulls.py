"""Where stubs short the path in the 3-D solver: the first null of S21, into `openems_nulls.csv`.

usage: /usr/bin/python3 -m tests.physics.openems_nulls CASE ...   (two minutes of one core each)

Cases of `openems_vias.toml`; those of pairs are written by `openems_via_pairs.py` in their differential mode.
"""

from __future__ import annotations

import csv
import sys
import tomllib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.physics.openems_vias import REFERENCE, solved

DEEP = 0.2
"""A minimum of |S21| below this is a null, if it lies inside of the frequencies."""


def null_ghz(hertz: NDArray[np.float64], s21: NDArray[np.complex128]) -> float | None:
    """Return the frequency of the deepest |S21|, by a parabola through the three lowest; None where it is no null."""
    size = np.abs(s21) ** 2
    k = int(np.argmin(size))
    if not 0 < k < len(size) - 1 or size[k] > DEEP**2:
        return None
    before, at, after = (float(one) for one in size[k - 1 : k + 2])
    step = float(hertz[1] - hertz[0])
    return (float(hertz[k]) + step * (before - after) / (2 * (before - 2 * at + after))) / 1e9


def keep_null(name: str, hertz: NDArray[np.float64], s21: NDArray[np.complex128]) -> None:
    """Write the null of a case, if it has one, in place of the one in the table."""
    found, path = null_ghz(hertz, s21), REFERENCE / "openems_nulls.csv"
    with path.open(encoding="utf-8", newline="") as lines:
        header, *rows = csv.reader(lines)
    rows = [row for row in rows if row[0] != name]
    rows += [[name, f"{found:.2f}"]] if found else []
    with path.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out, lineterminator="\n").writerows([header, *rows])


def main() -> int:
    """Solve, and write the table."""
    read: dict[str, Any] = tomllib.loads((REFERENCE / "openems_vias.toml").read_text(encoding="utf-8"))
    for name in sys.argv[1:]:
        hertz, _, s21 = solved({**read["board"][read["case"][name]["board"]], **read["case"][name]})
        keep_null(name, hertz, s21)
    return 0


if __name__ == "__main__":
    sys.exit(main())
