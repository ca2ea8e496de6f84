"""Touchstone files of parts, read: S-parameters of two or four ports, and their values at other frequencies.

Format: Touchstone File Format Specification 1.1 (EIA/IBIS Open Forum). Frequencies in GHz.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.files.plain_file import cure_of, read_plain
from stackup_lib.core.record import entity

Real = NDArray[np.float64]
Complex = NDArray[np.complex128]

MOST_BYTES = 64_000_000
MOST_TURN_DEG = 90.0
"""Of a transmission from one frequency to the next: beyond, what lies between is a guess."""

NOT_PASSIVE = 1.02
"""A singular value above this is no noise of a measurement."""

_GHZ = {"HZ": 1e-9, "KHZ": 1e-6, "MHZ": 1e-3, "GHZ": 1.0}
_FORMATS = ("MA", "DB", "RI")
_KINDS = ("S", "Y", "Z", "G", "H")
_NOISE_COLUMNS = 5


@entity
class PartNetwork:
    """The S-parameters of a part as its file has them.

    Attributes:
        where: the file.
        frequency_ghz: rising.
        s: (frequencies, ports, ports).
        reference_ohm: of every port.
    """

    where: str
    frequency_ghz: Real
    s: Complex
    reference_ohm: float

    @property
    def ports(self) -> int:
        """Their number."""
        return int(self.s.shape[1])

    def at(self, frequency_ghz: Real) -> Complex:
        """Return S at other frequencies, straight between those of the file.

        A mean of passive matrices is passive. Below the first frequency the same rule holds between it and its mirror
        at negative frequency, which is its conjugate: the real part is kept.

        Raises:
            StackwrightError: the file ends below the last frequency, or is too coarse to tell what lies between.
        """
        last, own = float(frequency_ghz[-1]), float(self.frequency_ghz[-1])
        if last > own * (1 + 1e-9):
            what = f"ends at {own:.4g} GHz, the link goes to {last:.4g} GHz"
            raise StackwrightError(self.where, what, f"give a file to {last:.4g} GHz, or --max-ghz {own:.4g}")
        self._need_fine_steps()
        known = np.concatenate([-self.frequency_ghz[:1], self.frequency_ghz])
        values = np.concatenate([self.s[:1].conj(), self.s])
        if self.frequency_ghz[0] == 0:
            known, values = self.frequency_ghz, self.s
        flat = values.reshape(len(known), -1)
        columns = [
            np.interp(frequency_ghz, known, column.real) + 1j * np.interp(frequency_ghz, known, column.imag)
            for column in flat.T
        ]
        return np.stack(columns, axis=1).reshape(len(frequency_ghz), self.ports, self.ports)

    def _need_fine_steps(self) -> None:
        turn = np.abs(np.angle(self.s[1:] * self.s[:-1].conj(), deg=True))
        strong = (np.abs(self.s[1:]) > 0.1) & (np.abs(self.s[:-1]) > 0.1)
        most = float(np.max(np.where(strong, turn, 0.0), initial=0.0))
        if most > MOST_TURN_DEG:
            what = f"turns by {most:.0f} degrees from one frequency to the next, more than can be read between them"
            raise StackwrightError(self.where, what, "give a file with more frequencies")

    def through(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return of four ports the two ways through, each from the side of port 1 to the other: indices from 0.

        Port 1 leads to the port that receives most at the first frequency.

        Raises:
            StackwrightError: not four ports, or none receives more than half of the voltage.
        """
        if self.ports != 4:
            raise StackwrightError(self.where, f"has {self.ports} ports, a pair needs 4", "give an .s4p file")
        from_first = np.abs(self.s[0, 1:, 0])
        far = 1 + int(np.argmax(from_first))
        if from_first[far - 1] <= 0.5:
            what = f"port 1 passes no more than {from_first[far - 1]:.2g} to any other at its first frequency"
            raise StackwrightError(self.where, what, "give a file that begins lower, or of another part")
        near, other = sorted({1, 2, 3} - {far})
        return (0, far), (near, other)


def read_network(path: Path, ports: tuple[int, ...]) -> PartNetwork:
    """Read an `.s2p` or `.s4p` file.

    Args:
        path: the file; its suffix says how many ports it has.
        ports: the numbers of ports that make sense.

    Raises:
        StackwrightError: it cannot be read, has other ports, other than S-parameters, or is active.
    """
    where = str(path)
    found = re.fullmatch(r"\.s(\d+)p", path.suffix.lower())
    if found is None:
        raise StackwrightError(where, "is no Touchstone file", "its name ends in .s2p or .s4p")
    count = int(found[1])
    if count not in ports:
        wanted = " or ".join(str(one) for one in ports)
        raise StackwrightError(where, f"has {count} ports, {wanted} are needed", "give the file of another measurement")
    scale, form, ohm, numbers = _parsed(where, _text(path), count)
    table = np.array(numbers, dtype=float)
    ghz, values = table[:, 0] * scale, _complex(table[:, 1::2], table[:, 2::2], form)
    s = values.reshape(-1, count, count)
    if count == 2:
        s = s.transpose(0, 2, 1)  # S11 S21 S12 S22
    if not np.isfinite(table).all() or ghz[0] < 0 or not (np.diff(ghz) > 0).all():
        raise StackwrightError(where, "its frequencies do not rise, or a number is none", "export the file again")
    most = float(np.linalg.svd(s, compute_uv=False).max())
    if most > NOT_PASSIVE:
        raise StackwrightError(
            where, f"gives more than it takes: largest singular value {most:.4g}", "measure it again"
        )
    return PartNetwork(where, ghz, s, ohm)


def _text(path: Path) -> str:
    try:
        return read_plain(path, MOST_BYTES).decode("latin-1")
    except OSError as error:
        fix = cure_of(error, "correct the path in file =")
        raise StackwrightError(str(path), error.strerror or "cannot be read", fix) from None


def _parsed(where: str, text: str, count: int) -> tuple[float, str, float, list[list[float]]]:
    """Return GHz per unit, format, reference impedance and a row of numbers per frequency."""
    options: tuple[float, str, float] | None = None
    width = 1 + 2 * count * count
    rows: list[list[float]] = []
    row: list[float] = []
    for number, line in _lines(text):
        if line.startswith("["):
            raise StackwrightError(where, "is of Touchstone 2.0", "save it as Touchstone 1.1")
        if line.startswith("#"):
            options = options or _options(where, line)
            continue
        try:
            values = [float(word) for word in line.split()]
        except ValueError:
            what = f"line {number} is no row of numbers"
            raise StackwrightError(where, what, "export the file again") from None
        if count == 2 and not row and rows and len(values) == _NOISE_COLUMNS and values[0] <= rows[-1][0]:
            break  # noise parameters follow
        row += values
        if len(row) >= width:
            rows.append(row[:width])
            row = row[width:]
    if row or not rows:
        what = f"is no table of {count} ports" if rows else "has no data"
        raise StackwrightError(where, what, "export the file again")
    return (*(options or (1.0, "MA", 50.0)), rows)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), start=1):
        bare = line.split("!", 1)[0].strip()
        if bare:
            yield number, bare


def _options(where: str, line: str) -> tuple[float, str, float]:
    words = line[1:].upper().split()
    scale = next((_GHZ[word] for word in words if word in _GHZ), 1.0)
    form = next((word for word in words if word in _FORMATS), "MA")
    kind = next((word for word in words if word in _KINDS), "S")
    if kind != "S":
        raise StackwrightError(where, f"has {kind}-parameters", "export S-parameters")
    behind = words[words.index("R") + 1 :] if "R" in words else ["50"]
    try:
        ohm = float(behind[0])
    except (IndexError, ValueError):
        ohm = 0.0
    if not 0 < ohm < 1e6:
        raise StackwrightError(where, "states no reference impedance behind R", "export the file again")
    return scale, form, ohm


def _complex(first: Real, second: Real, form: str) -> Complex:
    if form == "RI":
        return np.asarray(first + 1j * second, dtype=np.complex128)
    size = 10 ** (first / 20) if form == "DB" else first
    return np.asarray(size * np.exp(1j * np.radians(second)), dtype=np.complex128)
