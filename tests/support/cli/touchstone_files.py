"""Reads Touchstone files by the letter of the format, and the boards they are made of."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.support.boards import board_file

UNTREATED = board_file("training_b200_no_backdrill")
TREATED = board_file("training_b200_fit")
Complex = NDArray[np.complex128]


def read(path: Path) -> tuple[list[str], NDArray[np.float64], Complex]:
    """Comments, frequencies in GHz and S of a Touchstone file, by the letter of the format's version 1.1."""
    comments, numbers = [], []
    for line in path.read_text(encoding="ascii").splitlines():
        if line.startswith("!"):
            comments.append(line[2:])
        elif line.startswith("#"):
            assert line == "# GHz S RI R 50"
        else:
            numbers += [float(word) for word in line.split()]
    ports = int(path.suffix[2])
    table = np.array(numbers).reshape(-1, 1 + 2 * ports * ports)
    values = table[:, 1::2] + 1j * table[:, 2::2]
    return comments, table[:, 0], values.reshape(-1, ports, ports)
