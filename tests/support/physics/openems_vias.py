"""Vias by a 3-D field solver, and our model of them."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from drc_rules.analysis.delay.via_delay import delay_range_ps
from stackup_lib.core.interval import Interval
from stackup_lib.core.light import LIGHT_MM_GHZ
from stackup_lib.transmission_lines.closed_forms import Planes, microstrip_ohm, stripline_ohm
from stackup_lib.transmission_lines.two_port import barrel_chain, in_a_row, reversed_chain, s_of_chain
from stackup_lib.transmission_lines.via_chain import LaminateLoss, open_end_chain, passage_chain
from stackup_lib.vias.via_circuit import ModelledVia, line_ps_per_mm, log_of_two_returns
from stackup_lib.vias.via_field import ViaBody, ViaStack
from tests.physics.openems_vias import AT_GHZ, COPPER_MM, LINE_MM, REFERENCE, copper_mm
from tests.support.physics.solver_lines import solver_lines

COLUMN = "delay_5_ghz_ps"
GHZ = np.array(AT_GHZ)
LOSSLESS = LaminateLoss(0.0, 1.0)
LineOf = Callable[[dict[str, Any], ViaStack, int], NDArray[np.complex128]]


@dataclass(frozen=True)
class ViaCase:
    """A via as the 3-D solver has it at 5 GHz, and ours, in ps."""

    name: str
    theirs_ps: float
    ours_ps: Interval
    their_s11: NDArray[np.float64]
    our_s11: NDArray[np.float64]
    our_s11_between_their_lines: NDArray[np.float64]
    is_held_out: bool

    @property
    def off_pct(self) -> float:
        """Ours less theirs, in per cent."""
        return 100 * (self.ours_ps.nominal / self.theirs_ps - 1)


@dataclass(frozen=True)
class SolverChange:
    """What another run of the solver changes at 2, 5 and 10 GHz: its delay in per cent, its |S11|."""

    name: str
    run: str
    delay_pct: tuple[float, ...]
    s11: tuple[float, ...]


def solver_changes() -> tuple[SolverChange, ...]:
    """Every via that was solved again with a finer mesh or for longer."""
    with (REFERENCE / "openems_vias.csv").open(encoding="utf-8", newline="") as lines:
        usual = {row["case"]: row for row in csv.DictReader(lines)}
    with (REFERENCE / "openems_vias_finer.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    return tuple(_change(row, usual[row["case"]]) for row in rows)


def _change(row: dict[str, str], usual: dict[str, str]) -> SolverChange:
    finer, longer = float(row["finer"]), float(row["longer"])
    delay, s11_of = ([f"{name}_{ghz:g}_ghz{unit}" for ghz in AT_GHZ] for name, unit in (("delay", "_ps"), ("s11", "")))
    return SolverChange(
        name=row["case"],
        run=f"cells {finer:g} times finer" if finer > 1 else f"{longer:g} times as long",
        delay_pct=tuple(100 * (float(row[key]) / float(usual[key]) - 1) for key in delay),
        s11=tuple(float(row[key]) - float(usual[key]) for key in s11_of),
    )


@cache
def vias() -> tuple[ViaCase, ...]:
    """Every layer change that was solved."""
    read = tomllib.loads((REFERENCE / "openems_vias.toml").read_text(encoding="utf-8"))
    with (REFERENCE / "openems_vias.csv").open(encoding="utf-8", newline="") as lines:
        solved = {row["case"]: row for row in csv.DictReader(lines)}
    cases = {name: {**read["board"][case["board"]], **case} for name, case in read["case"].items()}
    return tuple(_case(name, case, solved[name]) for name, case in cases.items())


def _case(name: str, case: dict[str, Any], theirs: dict[str, str]) -> ViaCase:
    via = modelled(case)
    return ViaCase(
        name=name,
        theirs_ps=float(theirs[COLUMN]),
        ours_ps=delay_range_ps(via, (case["entry"], case["exit"]), (via.return_log, via.return_log)),
        their_s11=np.array([float(theirs[f"s11_{ghz:g}_ghz"]) for ghz in AT_GHZ]),
        our_s11=s11(case, via, _line),
        our_s11_between_their_lines=s11(case, via, lambda case, _, layer: their_line(case, layer)),
        is_held_out=bool(case.get("is_held_out")),
    )


def s11(case: dict[str, Any], via: ModelledVia, line_of: LineOf) -> NDArray[np.float64]:
    """Return |S11| of line, via and line between ports of 50 ohm."""
    entry, leaves, bottom = case["entry"], case["exit"], case["barrel"][1]
    parts = [line_of(case, via.stack, entry), passage_chain(GHZ, via, (entry, leaves), LOSSLESS, 50.0)]
    if bottom > leaves:
        parts.append(open_end_chain(GHZ, via, (leaves, bottom), LOSSLESS))
    last = reversed_chain(line_of(case, via.stack, leaves))
    return np.abs(s_of_chain(in_a_row([*parts, last], len(GHZ)), 50.0)[:, 0, 0])


def their_line(case: dict[str, Any], layer: int) -> NDArray[np.complex128]:
    """Return the solver's own port and line, found from a straight line without a via; its boards are symmetric."""
    return solver_lines()[case["board"], min(layer, len(case["plies_mm"]) - layer)].chain(GHZ)


def _line(case: dict[str, Any], stack: ViaStack, layer: int) -> NDArray[np.complex128]:
    plies, width, dk = case["plies_mm"], case["width_mm"], case["dk"]
    if layer in (0, len(plies)):
        ohm = microstrip_ohm(width, plies[0], COPPER_MM, dk)
    else:
        ohm = stripline_ohm(width, Planes(plies[layer], plies[layer - 1], COPPER_MM), dk)
    slowness = line_ps_per_mm(stack, layer) / 1000 * LIGHT_MM_GHZ
    return barrel_chain(GHZ, LINE_MM, ohm, slowness**2, 0.0)


def modelled(case: dict[str, Any]) -> ModelledVia:
    """Return a case as the model takes it, with its return vias."""
    faces = tuple((-high, -low) for low, high in copper_mm(case["plies_mm"]))
    top, bottom = case["barrel"]
    layers = (case["entry"], case["exit"])
    body = ViaBody(
        barrel_mm=case["drill_mm"],
        pad_mm=case["pad_mm"],
        antipad_mm=case["antipad_mm"],
        ends_mm=(faces[top][0], faces[bottom][1]),
        padded=tuple(range(top, bottom + 1)) if case["has_all_pads"] else layers,
    )
    stack = ViaStack(faces, (case["dk"],) * len(case["plies_mm"]), tuple(case["planes"]))
    return ModelledVia(stack, body, log_of_two_returns(case["drill_mm"], case["ground_mm"]))
