"""Channels of lines and stubs with aggressors next to them, as `operating_margin_cases.toml` states them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stackup_lib.channels.crosstalk import Aggressor
from stackup_lib.channels.ways import FAR, NEAR, Place, SignalWay, WayStep, crosstalk
from stackup_lib.core.light import LIGHT_M_PER_S
from stackup_lib.transmission_lines.loss import LineLoss
from stackup_lib.transmission_lines.two_port import line_chain, open_stub_chain, relative_permittivity

Real = NDArray[np.float64]


def lossless_copper(ghz: Real, ohm: float, dk: float, df: float, at_ghz: float = 10.0) -> LineLoss:
    """The line of `barrel_chain`."""
    slow, none = math.sqrt(dk) / LIGHT_M_PER_S, np.zeros_like(ghz)
    relative = relative_permittivity(ghz, dk, df, at_ghz) * slow / ohm
    conductance = -2e9 * math.pi * ghz * relative.imag
    return LineLoss(ghz, none, none + slow * ohm, conductance, relative.real, none, none, none)


def way_of(parts: list[dict[str, Any]], ghz: Real) -> SignalWay:
    """A way of lines and stubs."""
    steps = []
    for p in parts:
        if p["kind"] == "line":
            line = lossless_copper(ghz, p["ohm"], p["dk"], p["df"])
            steps.append(WayStep(line_chain(line, p["mm"]), line, p["mm"], (p["mm"], p["mm"])))
        else:
            steps.append(WayStep(open_stub_chain(ghz, p["mm"], p["ohm"], p["dk"], p["df"])))
    return SignalWay(frequency_ghz=ghz, steps=tuple(steps), reference_ohm=50.0)


def aggressor_of(way: SignalWay, row: dict[str, Any]) -> Aggressor:
    """A way of the same parts, coupled in one place; the victim receives at its far end."""
    place = Place(
        step=row["part"],
        at_mm=row["at_mm"],
        other_step=row["part"],
        other_at_mm=row["at_mm"],
        mm=row["mm"],
        is_opposite=False,
        inductive=row["inductive"],
        capacitive=row["capacitive"],
    )
    over = crosstalk(way, way, [place])
    sends = FAR if row["near"] else NEAR
    channel = np.empty_like(way.s)
    channel[:, 0, 0], channel[:, 1, 1] = way.s[:, sends, sends], way.s[:, FAR, FAR]
    channel[:, 0, 1] = channel[:, 1, 0] = over[:, FAR, sends]
    return Aggressor(channel=channel, is_near=row["near"])
