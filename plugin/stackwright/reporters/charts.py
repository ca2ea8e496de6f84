"""What the page says next to its charts: values as tables, what is assumed, what is not known."""

from __future__ import annotations

import re
from collections.abc import Iterator

from markupsafe import Markup

from drc_rules.analysis.impedance.impedance_spread import LineSpread, TargetSpread
from drc_rules.analysis.lines.solved_lines import production_process
from drc_rules.analysis.loss.loss_curve import LossCurve, LossPoint
from drc_rules.report.numbers import figure
from drc_rules.report.pdn_rows import PdnPeak, PdnRow
from drc_rules.requirements.fabs import Tier
from drc_rules.requirements.fabs.process import typical_processes
from stackup_lib.transmission_lines.process import LengthTolerance
from stackwright.drawing import loss_chart as loss
from stackwright.drawing import pdn_chart as pdn
from stackwright.drawing import spread_chart as spread
from stackwright.text.frequencies import frequency
from stackwright.text.words import some

LOSS_HEAD = ("GHz", "Diel.", "Copper", "Rough", "Vias", "All", "Range")
SPREAD_HEAD = (
    "Layers",
    "Width/gap",
    "Length, nets",
    "Nominal",
    "99.7 % of it",
    "Inside",
    "If the model is off",
    "Moved by",
)
PDN_HEAD = ("Peak", "mOhm", "Range", "Made by")
LEAST_CAUSE = 0.03
"""Causes with a smaller share of the variance are not named."""

_AT = re.compile(r" at [\d.e+-]+ GHz$")

asked = spread.asked


def loss_key(ident: str) -> Markup:
    """Return the key to the loss charts of a board."""
    return Markup(loss.loss_key(ident))  # noqa: S704 - nothing in it comes from the board


def loss_chart(curve: LossCurve, ident: str, patterns: str) -> Markup:
    """Return the drawing of one link's loss."""
    return Markup(loss.loss_chart(curve, ident, patterns))  # noqa: S704 - it escapes what comes from the board


def spread_chart(target: TargetSpread, ident: str) -> Markup:
    """Return the drawing of one target's lines."""
    return Markup(spread.spread_chart(target, ident))  # noqa: S704 - it escapes what comes from the board


def pdn_chart(row: PdnRow, ident: str) -> Markup:
    """Return the drawing of a rail's impedance."""
    return Markup(pdn.pdn_chart(row, ident))  # noqa: S704 - it escapes what comes from the board


def pdn_words(row: PdnRow) -> Iterator[str]:
    """Yield target, standing and causes, as `stackwright pdn` prints them."""
    target, worst = row.target, row.worst_mohm
    if target is None:
        yield "No target: ripple_pct and step_a are not declared."
    elif worst is not None:
        range_ = f"{figure(worst.nominal)} mOhm ({figure(worst.low)} to {figure(worst.high)})"
        yield f"Target {figure(target.mohm)} mOhm, {target.source}."
        yield f"Largest up to {frequency(target.up_to_hz)}: {range_}."
    yield f"Regulator: {row.regulator}."
    groups = ", ".join(f"{one.count} x {one.group}" for one in row.groups) or "none on the rail"
    yield f"Capacitors: {groups}."
    yield from (f"Left out: {some(names)}: {reason}." for reason, names in row.left_out.items())


def pdn_cells(peak: PdnPeak) -> tuple[str, ...]:
    """Return the cells of `PDN_HEAD`."""
    size = peak.mohm
    return frequency(peak.hz), figure(size.nominal), f"{figure(size.low, 2)} to {figure(size.high, 2)}", peak.cause


def loss_cells(point: LossPoint) -> tuple[str, ...]:
    """Return the cells of `LOSS_HEAD`."""
    total = point.total_db
    parts = (point.dielectric_db, point.copper_db, point.roughness_db, point.holes_db, total.nominal)
    low = "" if total.low is None else f"{total.low:.2f}"
    return (
        f"{point.frequency_ghz:.4g}",
        *("all" if db is None else f"{db:.2f}" for db in parts),
        f"{low} to {'all' if total.high is None else f'{total.high:.2f}'}",
    )


def loss_notes(curve: LossCurve) -> Iterator[str]:
    """Yield why a curve begins or ends where it does, and where it is too low."""
    points = curve.points
    if curve.begins_for and points[0].frequency_ghz > 0.1 * curve.row.nyquist_ghz:
        yield f"Begins at {points[0].frequency_ghz:.3g} GHz: below, {_unknown(curve.begins_for)}"
    if curve.ends_for:
        yield f"Ends at {points[-1].frequency_ghz:.3g} GHz: beyond, {_unknown(curve.ends_for)}"
    if curve.limit_ghz is not None:
        yield f"Beyond {curve.limit_ghz:.0f} GHz more is lost than is drawn ({curve.limit_reason})"
    first = next((p for p in points if p.total_db.nominal is None), None)
    if first is not None:
        yield f"From about {first.frequency_ghz:.2g} GHz a via's stub resonates: it may take all of the signal"


def _unknown(fact: str) -> str:
    """Return `Df of dielectric 1 is not known`, its frequency left out."""
    return f"{_AT.sub('', fact)} is not known"


def spread_cells(line: LineSpread) -> tuple[str, ...]:
    """Return the cells of `SPREAD_HEAD`."""
    interval = line.interval_ohm
    causes = (f"{cause.name} {100 * cause.share:.0f} %" for cause in line.causes if cause.share >= LEAST_CAUSE)
    return (
        ", ".join(line.layers),
        spread.geometry(line),
        f"{line.length_mm:.0f} mm, {line.nets}",
        f"{line.nominal_ohm:.1f} ohm +-{line.model_pct:.1f} %",
        f"{interval.low:.1f} to {interval.high:.1f} ohm",
        spread.share(line),
        spread.share_range(line),
        ", ".join(causes),
    )


def process_words() -> str:
    """Return the tolerances that are assumed: `width +-20 %, ... (three standard deviations)`."""
    process = production_process()
    parts = (
        ("etched width", process.width),
        ("copper thickness", process.copper),
        ("cores", process.core_thickness),
        ("prepregs", process.prepreg_thickness),
        ("their Dk", process.core_dk),
        ("solder mask", process.mask_thickness),
    )
    said = []
    for name, one in parts:
        least = f" or {one.absolute_mm:g}\u00a0mm" if isinstance(one, LengthTolerance) and one.absolute_mm else ""
        said.append(f"{name} +-{100 * one.relative:g}\u00a0%{least}")
    return ", ".join(said)


def process_sources() -> tuple[str, ...]:
    """Return where these values come from."""
    return tuple(dict.fromkeys(source.text for source in typical_processes()[Tier.STANDARD].sources.values()))
