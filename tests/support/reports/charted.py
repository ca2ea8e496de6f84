"""A link and a curve for charts."""

from __future__ import annotations

from typing import Any

from drc_rules.analysis.loss.loss_curve import LossCurve, LossPoint
from drc_rules.report.link_rows import Allowance, Decibels, LinkLossRow
from stackup_lib.core.interval import Interval


def link(**changes: object) -> LinkLossRow:
    row = LinkLossRow(
        name="/RX0_P",
        nets=("/RX0_P",),
        interface="PCIe Gen5",
        nyquist_ghz=16,
        inferred=False,
        total_db=Decibels(low=3.0, nominal=4.0, high=5.0),
        dielectric_db=1.0,
        copper_db=1.5,
        roughness_db=0.5,
        holes_db=1.0,
        share_db=9.5,
        allowances=(Allowance(part="package", db=Interval(low=3.0, nominal=3.0, high=3.0), is_assumed=True),),
    )
    return row.model_copy(update=changes)


def straight_curve(**changes: Any) -> LossCurve:
    """Return a curve that is straight: 0.25 dB per GHz, an eighth of it in the vias; 6.5 dB may be lost at 16 GHz."""

    def point(ghz: float) -> LossPoint:
        db = ghz / 4
        return LossPoint(
            frequency_ghz=ghz,
            total_db=Decibels(low=0.8 * db, nominal=db, high=1.5 * db),
            dielectric_db=db / 4,
            copper_db=db / 2,
            roughness_db=db / 8,
            holes_db=db / 8,
        )

    made = LossCurve(row=link(), points=tuple(point(ghz) for ghz in (2.0, 4.0, 8.0, 12.0, 16.0, 20.0, 24.0)))
    return made.model_copy(update=changes)
