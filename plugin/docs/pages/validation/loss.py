"""Validation of loss, tolerance and direct current: against field solvers, measured boards and closed forms."""

from __future__ import annotations

from collections.abc import Iterator

from docs.pages.charts import Axis, Mark, chart, group_axis, in_groups, log_axis, percent_axis
from docs.pages.markdown import folded, prose, table, title
from stackup_lib.transmission_lines.tolerance import sensitivities
from tests.support.physics.measured_loss import (
    BEYOND,
    CURVE,
    LINES,
    SOLVERS,
    curve_db_per_mm,
    points,
    solver_loss_db_per_inch,
)
from tests.support.physics.operating_margin import channels, disturbed_channels
from tests.support.physics.power_sheets import CASES as SHEETS
from tests.support.physics.power_sheets import solve as solve_sheet
from tests.support.physics.tolerance_cases import CASES as SENSITIVITIES
from tests.support.physics.tolerance_cases import NAMES, reference_process, site_of

GHZ = (0.5, 1, 2, 5, 10, 20, 50, 100)


def blocks() -> Iterator[str]:
    """Each comparison: heading, chart, table."""
    yield from _solvers()
    yield from _measured()
    yield from _curve()
    yield from _margins()
    yield from _tolerances()
    yield from _sheets()


def _solvers() -> Iterator[str]:
    marks, rows = [], []
    for case in SOLVERS:
        theirs, ours, ghz = case["loss_db_per_inch"], solver_loss_db_per_inch(case), case["frequency_ghz"]
        off = 100 * (ours / theirs - 1)
        kind = "explained" if case["id"] in BEYOND else "met"
        marks.append(Mark(ghz, off, off, off, kind, f"{case['id']}: {off:+.2g} %"))
        rows.append((prose(case["id"]), f"{ghz:g}", f"{theirs:.4f}", f"{ours:.4f}", f"{off:+.1f}"))
    yield title("Loss against field solvers", 2)
    yield (
        f"{len(marks)} values of smooth lines by Ansys HFSS and 2D Extractor. Neither states an uncertainty, so there "
        "are no bars; 2 % are shaded."
    )
    yield chart(
        "Loss of smooth lines against field solvers, ours less theirs in per cent over frequency",
        "Hollow: the exports do not state at which frequency their Dk holds, which matters above 30 GHz.",
        (log_axis(0.8, 100, "GHz", GHZ[1:]), percent_axis((-4, 4), "ours less theirs, %", [-4, -2, 0, 2, 4])),
        marks,
        band=(-2, 2),
        keys=[("met", "within 2 %"), ("explained", "beyond")],
    )
    yield folded(f"All {len(rows)} values", table(("case", "GHz", "theirs, dB/inch", "ours", "%"), rows))


def _measured() -> Iterator[str]:
    yield title("Loss against measured boards", 2)
    inside = sum(p.low <= p.measured <= p.high for p in points())
    yield (
        f"{len(points())} points of {len(LINES)} lines on three boards; {inside} of them lie inside our interval. The "
        "bar is that interval: Df by 10 %, the foil from the smoothest to the roughest that its name allows (without a "
        "name: any foil), nickel from the least to the most lossy. It is wide where foil or nickel are not known, "
        "because the loss is. The dot is our nominal figure; zero is what was measured, with its own "
        "uncertainty (one sigma)."
    )
    for name, given in LINES.items():
        marks, rows = [], []
        for p in points():
            if p.line != name:
                continue
            low, ours, high = (100 * (value / p.measured - 1) for value in (p.low, p.nominal, p.high))
            kind = "met" if p.in_range else "beyond"
            sigma = 100 * p.uncertainty / p.measured
            tip = f"{p.frequency_ghz:g} GHz: nominal {ours:+.0f} %, interval {low:+.0f} to {high:+.0f} %"
            marks.append(Mark(p.frequency_ghz, ours, low, high, kind, tip))
            told = f"measured {p.measured:.3g} dB/inch ± {sigma:.1f} %"
            marks.append(Mark(p.frequency_ghz * 1.035, 0.0, -sigma, sigma, "measured", told))
            rows.append(
                (
                    f"{p.frequency_ghz:g}{'' if p.in_range else ' (beyond our range)'}",
                    f"{p.measured:.4f} ± {p.uncertainty:.4f}",
                    f"{p.nominal:.4f} ({ours:+.0f} %)",
                    f"{p.low:.4f} to {p.high:.4f}",
                )
            )
        yield title(name, 3)
        yield prose(
            f"{given['material']}, finish {given['finish']}. Foil: {given['foil_from']}. Dielectric: "
            f"{given['dielectric_from']}."
        )
        yield chart(
            f"Loss of {name} against its measurement, in per cent over frequency",
            "",
            (
                log_axis(0.4, 120, "GHz", GHZ),
                percent_axis((-70, 250), "ours less measured, %", [-50, -25, -10, 0, 10, 25, 50, 100, 200], 20),
            ),
            marks,
            band=(-10, 10),
            height=240,
            keys=[
                ("met", "our nominal figure"),
                ("beyond", "the same beyond our range"),
                ("bars", "our interval"),
                ("measured", "measured, one sigma"),
            ],
        )
        yield folded("The values", table(("GHz", "measured, dB/inch", "nominal", "our interval"), rows))


def _curve() -> Iterator[str]:
    errors = 100 * (curve_db_per_mm() / CURVE[:, 1] - 1)
    sigmas = 100 * CURVE[:, 2] / CURVE[:, 1]
    marks, rows = [], []
    for (ghz, measured, _), off, sigma in zip(CURVE.tolist(), errors.tolist(), sigmas.tolist(), strict=True):
        marks.append(Mark(ghz, off, off - sigma, off + sigma, tip=f"{ghz:g} GHz: {off:+.1f} % ± {sigma:.1f} %"))
        rows.append((f"{ghz:g}", f"{measured:.5f}", f"{sigma:.1f}", f"{off:+.1f}"))
    yield title("One line at every gigahertz", 2)
    yield (
        "The bare Astra microstrip is the one line whose foil and material are known apart from its loss. Nominal, "
        "nothing fitted; the bars are the measurement's own uncertainty (one sigma)."
    )
    yield chart(
        "Loss of the bare Astra line, ours less measured in per cent at every gigahertz",
        "Shaded: 10 %.",
        (
            Axis(0, 36, [(g, f"{g}") for g in range(0, 36, 5)], "GHz"),
            percent_axis((-20, 30), "ours less measured, %", [-20, -10, 0, 10, 20, 30]),
        ),
        marks,
        band=(-10, 10),
        keys=[("met", "our nominal figure"), ("bars", "uncertainty of the measurement")],
    )
    yield folded(f"All {len(rows)} values", table(("GHz", "measured, dB/mm", "± %", "ours less measured, %"), rows))


def _margins() -> Iterator[str]:
    found = (*channels(), *disturbed_channels())
    rows = [(prose(one.name), f"{one.package_mm:g}", f"{one.their_db:.2f}", f"{one.ours.com_db:.2f}") for one in found]
    most = max(abs(one.ours.com_db - one.their_db) for one in found)
    yield title("Operating margin against another program", 2)
    yield (
        f"{len(rows)} values of the channel operating margin as 100GBASE-KR4 by PyChOpMarg 3.4.0, "
        f"{len(disturbed_channels())} of them with aggressors: the largest difference is {most:.2f} dB. Of channels of "
        "lines and stubs; links of boards, with and without neighbours, stand on the page "
        "of the reference data."
    )
    yield folded(f"All {len(rows)} values", table(("channel", "package, mm", "theirs, dB", "ours"), rows))


def _tolerances() -> Iterator[str]:
    marks, rows = [], []
    for number, case in enumerate(SENSITIVITIES, start=1):
        p = case["parameters_mm"]
        found = sensitivities(
            site_of(case), p["base"], p.get("gap"), p.get("coplanar_gap"), process=reference_process()
        )
        for name, theirs in case["sensitivities"].items():
            ours = found[NAMES[name]]
            off = 1e4 * (ours - theirs)
            marks.append(Mark(0, off, off - 0.5, off + 0.5, tip=f"{case['id']}, {name}: {off:+.2g}", group=f"{number}"))
            rows.append((f"{number}. {prose(case['id'])}", name, f"{theirs:+.4f}", f"{ours:+.5f}"))
    placed = in_groups(marks)
    yield title("How impedance follows each dimension", 2)
    yield (
        f"{len(marks)} derivatives d ln Z / d ln X of {len(SENSITIVITIES)} lines against another solver, which prints "
        "four decimals: the bar is half of the last one. What a fab's tolerances are worth rests on them."
    )
    yield chart(
        "Derivatives of impedance against another solver, difference in units of the last printed decimal",
        "",
        (group_axis(placed, "line"), percent_axis((-2.5, 2.5), "difference, 0.0001", [-2, -1, 0, 1, 2])),
        placed,
        height=220,
        keys=[("met", "our difference"), ("bars", "last digit printed")],
    )
    yield folded(f"All {len(rows)} values", table(("line", "of", "theirs", "ours"), rows))


def _sheets() -> Iterator[str]:
    marks, rows = [], []
    for name, case in SHEETS.items():
        found = solve_sheet(case).drops_v[0]
        low, ours, high = (100 * (v / case.squares - 1) for v in (found.low, found.nominal, found.high))
        about = 100 * case.outline
        tip = f"{name}: {ours:+.2g} %, bounds {low:+.2g} to {high:+.2g} %, shape good to {about:g} %"
        marks.append(Mark(0, ours, low - about, high + about, tip=tip, group=name.replace(" ", "\n")))
        rows.append((prose(name), f"{case.squares:.6f}", f"{about:g}", f"{found.low:.6f} to {found.high:.6f}"))
    placed = in_groups(marks)
    yield title("Resistance of planes against closed forms", 2)
    yield (
        "Direct current through copper: every answer is a lower and an upper bound, which the exact value has to lie "
        "between. Zero is exact."
    )
    yield chart(
        "Resistance of sheets against closed forms, bounds in per cent",
        "",
        (group_axis(placed), percent_axis((-1, 1), "ours less exact, %", [-1, -0.5, 0, 0.5, 1])),
        placed,
        height=220,
        keys=[("met", "middle of our bounds"), ("bars", "our bounds, and what the drawn outline is worth")],
    )
    yield folded("The values", table(("shape", "exact, squares", "outline ± %", "our bounds"), rows))
