"""Loss and delay of two measured microstrips, from the raw waves of their author: `[[line]]` M7-94 and M7-209.

Run: `python -m tests.physics.measured_widths [--mirrors FOLDER]`. It needs git and the network; files are held against
the hashes of `measured_widths.toml` and not kept here. Printed are the rows of `measured_loss_cases.toml`.

Of two lines of one cross-section behind the same launches, T_j inverse(T_i) has the eigenvalues exp(+-gamma (l_j -
l_i)), whatever the launches are. All pairs of lines whose difference is not near a multiple of half a wavelength count,
by (l sin(beta l))^2. The uncertainty is their spread, over the root of the lines less two.
"""

from __future__ import annotations

import argparse
import io
import math
import sys
import tomllib
import zipfile
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.light import LIGHT_MM_GHZ
from tests.corpus.sources import add_source_options, git, repository_with, sha256_of

Real = NDArray[np.float64]
Complex = NDArray[np.complex128]

MANIFEST = Path(__file__).parents[2] / "fixtures" / "reference" / "measured_widths.toml"
LEAST_SINE = 0.35
"""Of beta times the difference of two lengths: 20 degrees."""

DB_PER_NEPER = 20 / math.log(10)


def waves(text: str) -> tuple[Real, Complex]:
    """Return frequencies in GHz and 2 x 2 matrices of a two-port file in real and imaginary parts."""
    unit = next(line for line in text.splitlines() if line.startswith("#")).split()[1].lower()
    rows = [line.split() for line in text.splitlines() if line.strip() and line[0] not in "!#"]
    table = np.array(rows, dtype=np.float64)
    values = table[:, 1::2] + 1j * table[:, 2::2]
    return table[:, 0] * {"hz": 1e-9, "ghz": 1.0}[unit], values.reshape(-1, 2, 2).transpose(0, 2, 1)


def s_of_archive(data: bytes) -> tuple[Real, Complex]:
    """Return the S-parameters of a line: outgoing waves over incoming ones, the mean of all sweeps."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = sorted(archive.namelist())
        sweeps = []
        for name in (one for one in names if "_A_" in one):
            ghz, into = waves(archive.read(name).decode())
            _, out = waves(archive.read(name.replace("_A_", "_B_")).decode())
            sweeps.append(out @ np.linalg.inv(into))
    return ghz, np.mean(sweeps, axis=0)


def transfer(s: Complex) -> Complex:
    """Return the transfer matrix of waves, which multiplies along a row of two-ports."""
    found = np.empty_like(s)
    found[:, 0, 0] = -np.linalg.det(s)
    found[:, 0, 1], found[:, 1, 0], found[:, 1, 1] = s[:, 0, 0], -s[:, 1, 1], 1
    return found / s[:, 1, 0, None, None]


def propagation(ghz: float, lines: Mapping[float, Complex], eps_eff: float) -> tuple[complex, complex]:
    """Return gamma per mm at one frequency, and the uncertainty of both its parts.

    Args:
        ghz: the frequency.
        lines: transfer matrix (2, 2) by length in mm.
        eps_eff: about; it tells the sense and the number of turns.

    Raises:
        ValueError: no two lines differ enough.
    """
    about = 2 * math.pi * ghz * math.sqrt(eps_eff) / LIGHT_MM_GHZ
    found, weights = [], []
    for (short, near), (long, far) in combinations(sorted(lines.items()), 2):
        difference = long - short
        if abs(math.sin(about * difference)) < LEAST_SINE:
            continue
        turned = np.exp(1j * about * difference)
        values = sorted(np.linalg.eigvals(far @ np.linalg.inv(near)), key=lambda one: abs(np.angle(one * turned)))
        passed = (values[0] + 1 / values[1]) / 2
        phase = about * difference - float(np.angle(passed * turned))
        found.append(complex(-math.log(abs(passed)), phase) / difference)
        weights.append((difference * math.sin(about * difference)) ** 2)
    if not found:
        raise ValueError(f"no two lines differ enough at {ghz:g} GHz")
    each, share = np.array(found), np.array(weights) / sum(weights)
    mean = complex(share @ each)
    freedom = max(len(lines) - 2, 1)
    spread = [math.sqrt(float(share @ part**2) / freedom) for part in ((each - mean).real, (each - mean).imag)]
    return mean, complex(*spread)


def rows_of(line: Mapping[str, Any], source: Path, commit: str) -> list[tuple[float, ...]]:
    """Return frequency, loss in dB/inch and its uncertainty, effective permittivity and its own, of one cross-section.

    Raises:
        StackwrightError: a file cannot be had, or is another than the manifest means.
    """
    lines: dict[float, Complex] = {}
    for mm, path, digest in line["files"]:
        data = git(source, "show", f"{commit}:{path}")
        if sha256_of(data) != digest:
            raise StackwrightError(path, "is not the file that the manifest means", "look at its repository")
        ghz, s = s_of_archive(data)
        lines[mm] = transfer(s)
    found: list[tuple[float, ...]] = []
    for wanted in line["ghz"]:
        k = int(np.argmin(np.abs(ghz - wanted)))
        gamma, spread = propagation(wanted, {mm: one[k] for mm, one in lines.items()}, line["about_eps_eff"])
        slowness = gamma.imag * LIGHT_MM_GHZ / (2 * math.pi * wanted)
        per_inch = 25.4 * DB_PER_NEPER
        off = 2 * slowness**2 * spread.imag / gamma.imag
        found.append((wanted, per_inch * gamma.real, per_inch * spread.real, slowness**2, off))
    return found


def main() -> None:
    """Print the rows of both lines."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_source_options(parser)
    asked = parser.parse_args()
    manifest = tomllib.loads(MANIFEST.read_text(encoding="utf-8"))
    source = repository_with(manifest["repository"], manifest["commit"], asked.cache, asked.mirrors)
    for line in manifest["line"]:
        sys.stdout.write(f"{line['id']}\n")
        for ghz, loss, loss_off, eps, eps_off in rows_of(line, source, manifest["commit"]):
            sys.stdout.write(f"  [{ghz:.1f}, {loss:.4f}, {loss_off:.4f}]  [{ghz:.1f}, {eps:.4f}, {eps_off:.4f}]\n")


if __name__ == "__main__":
    main()
