"""Pairs of vias by a 3-D field solver, and our model of them."""

from __future__ import annotations

import csv
import tomllib
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stackup_lib.core.interval import Interval
from stackup_lib.transmission_lines.two_port import in_a_row, reversed_chain, s_of_chain
from stackup_lib.transmission_lines.via_chain import (
    LaminateLoss,
    null_ghz,
    null_of_pair_ghz,
    open_end_chain,
    passage_chain,
)
from stackup_lib.vias.stub_resonance import ViaShape, stub_resonance_ghz
from stackup_lib.vias.via_circuit import ModelledVia, added_delay_ps
from stackup_lib.vias.via_pair import EVEN, ODD, PairPlace, mode_of_pair
from tests.physics.openems_vias import REFERENCE
from tests.support.physics.openems_vias import modelled
from tests.support.physics.solver_lines import solver_lines

LOSSLESS = LaminateLoss(0.0, 1.0)
SIGNS = {"differential": ODD, "common": EVEN}
DELAY_AT_GHZ = 5.0
Complex = NDArray[np.complex128]


@dataclass(frozen=True)
class PairCase:
    """A pair of vias in one mode as the 3-D solver has it, and ours."""

    name: str
    mode: str
    ghz: NDArray[np.float64]
    their_s11: Complex
    our_s11: Complex
    their_s21: Complex
    our_s21: Complex
    theirs_ps: float
    ours_ps: float
    is_held_out: bool

    @property
    def off_pct(self) -> float:
        """Delay at 5 GHz, ours less theirs, in per cent."""
        return 100 * (self.ours_ps / self.theirs_ps - 1)

    def s11_at(self, ghz: float) -> tuple[float, float]:
        """Size of S11: theirs and ours."""
        k = int(np.argmin(abs(self.ghz - ghz)))
        return float(abs(self.their_s11[k])), float(abs(self.our_s11[k]))

    def s11_off_at(self, ghz: float) -> float:
        """Size of S11, ours less theirs."""
        theirs, ours = self.s11_at(ghz)
        return ours - theirs

    def s21_off_at(self, ghz: float) -> float:
        """Size of S21, ours less theirs."""
        k = int(np.argmin(abs(self.ghz - ghz)))
        return float(abs(self.our_s21[k]) - abs(self.their_s21[k]))


@dataclass(frozen=True)
class StubNull:
    """Where a stub shorts the path: the solver's, the model's and that of the closed form."""

    name: str
    theirs_ghz: float
    ours_ghz: float
    closed_form_ghz: float

    @property
    def off_pct(self) -> float:
        """Ours less theirs, in per cent."""
        return 100 * (self.ours_ghz / self.theirs_ghz - 1)

    @property
    def closed_form_off_pct(self) -> float:
        """The closed form's less theirs, in per cent."""
        return 100 * (self.closed_form_ghz / self.theirs_ghz - 1)


def stub_nulls() -> tuple[StubNull, ...]:
    """Every stub whose null lies within the solver's frequencies."""
    with (REFERENCE / "openems_nulls.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    cases: dict[str, dict[str, Any]] = {}
    for name in ("openems_vias.toml", "openems_via_pairs.toml"):
        read = tomllib.loads((REFERENCE / name).read_text(encoding="utf-8"))
        cases |= {key: {**read["board"][case["board"]], **case} for key, case in read["case"].items()}
    return tuple(_null(row["case"], float(row["null_ghz"]), cases[row["case"]]) for row in rows)


def _null(name: str, theirs_ghz: float, case: dict[str, Any]) -> StubNull:
    via, stub, apart = modelled(case), (case["exit"], case["barrel"][1]), case.get("apart_mm")
    if apart is None:
        ours = null_ghz(via, stub)
    else:
        ours = null_of_pair_ghz(via, PairPlace(apart, case["ground_mm"], case["is_oval"]), stub)
    pad, length = case["pad_mm"], via.stack.middle_mm(stub[1]) - via.stack.middle_mm(stub[0])
    shape = ViaShape(
        barrel_mm=case["drill_mm"], antipad_mm=case["antipad_mm"], pad_mm=pad, end_pad_mm=pad, partner_mm=apart
    )
    dk, mm = (Interval(low=one, nominal=one, high=one) for one in (case["dk"], length))
    return StubNull(name, theirs_ghz, ours, stub_resonance_ghz(shape, dk, mm).nominal)


@cache
def via_pairs() -> tuple[PairCase, ...]:
    """Every pair and mode that was solved, those of the differential mode first."""
    read = tomllib.loads((REFERENCE / "openems_via_pairs.toml").read_text(encoding="utf-8"))
    with (REFERENCE / "openems_via_pairs.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    cases = {name: {**read["board"][case["board"]], **case} for name, case in read["case"].items()}
    found = []
    for mode in SIGNS:
        for name, case in cases.items():
            mine = [row for row in rows if (row["case"], row["mode"]) == (name, mode)]
            found += [_pair(name, mode, case, mine)] if mine else []
    return tuple(found)


def via_of(case: dict[str, Any], mode: str) -> ModelledVia:
    """Return a case as the model takes it."""
    place = PairPlace(case["apart_mm"], case["ground_mm"], case["is_oval"])
    return mode_of_pair(modelled(case), place, SIGNS[mode])


def _pair(name: str, mode: str, case: dict[str, Any], rows: list[dict[str, str]]) -> PairCase:
    ghz = np.array([float(row["ghz"]) for row in rows])
    via, layers = via_of(case, mode), (case["entry"], case["exit"])
    parts = [end_chain(case, layers[0], ghz), passage_chain(ghz, via, layers, LOSSLESS, 50.0)]
    if case["barrel"][1] > layers[1]:
        parts.append(open_end_chain(ghz, via, (layers[1], case["barrel"][1]), LOSSLESS))
    s = s_of_chain(in_a_row([*parts, reversed_chain(end_chain(case, layers[1], ghz))], len(ghz)), 50.0)
    return PairCase(
        name=name,
        mode=mode,
        ghz=ghz,
        their_s11=np.array([complex(float(row["s11_re"]), float(row["s11_im"])) for row in rows]),
        our_s11=s[:, 0, 0],
        their_s21=np.array([complex(float(row["s21_re"]), float(row["s21_im"])) for row in rows]),
        our_s21=s[:, 1, 0],
        theirs_ps=next(float(row["delay_ps"]) for row in rows if float(row["ghz"]) == DELAY_AT_GHZ),
        ours_ps=added_delay_ps(via, layers, 50.0),
        is_held_out=bool(case.get("is_held_out")),
    )


def end_chain(case: dict[str, Any], layer: int, ghz: NDArray[np.float64]) -> Complex:
    """Return the solver's port and line on a layer of a case."""
    return solver_lines()[case["board"], min(layer, len(case["plies_mm"]) - layer)].chain(ghz)
