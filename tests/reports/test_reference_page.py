"""fixtures/reference/README.md cannot rot: every table on it is computed here and compared to the letter.

`python -m tests.reports.test_reference_page` writes the tables anew; read the difference before you commit it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import pytest
from scipy.optimize import brentq

from stackup_lib.field_solver.sections import Mask
from stackup_lib.field_solver.solver import solve
from stackup_lib.transmission_lines.site import DielectricSheet, TraceEnvironment
from stackup_lib.validation.case_files import read_cases
from stackup_lib.validation.compare import CaseOutcome, validate
from tests.support.physics.measured_loss import (
    BEYOND,
    CURVE,
    LINES,
    SOLVERS,
    curve_db_per_mm,
    points,
    smooth_db_per_mm,
    solver_loss_db_per_inch,
)
from tests.support.physics.measured_tdr import CASE as STEPPED
from tests.support.physics.measured_tdr import stepped_ohm
from tests.support.physics.openems_pairs import pairs
from tests.support.physics.openems_planes import plane_extremes
from tests.support.physics.openems_via_pairs import stub_nulls, via_pairs
from tests.support.physics.openems_vias import solver_changes, vias
from tests.support.physics.operating_margin import channels, disturbed_channels, disturbed_links, link_margins
from tests.support.physics.power_frequency import capacitors_off, cavities_off, ladders_off, rebuilt_off
from tests.support.physics.published_cases import DYNAMIC, ENTRIES, GROUPS, group_of, outcomes, with_internal_inductance
from tests.support.reports.reference_page import PAGE, REFERENCE, block, markdown

pytestmark = pytest.mark.slow


def up_to(value: float) -> str:
    """Round an error up to one digit, so that it is a bound: other machines differ in the last digit of it."""
    for digits in range(1, 9):
        if value >= 10**-digits:
            step = 10.0**-digits
            return f"{(int(value / step) + 1) * step:.{digits}f}"
    return "0.00000001"


def decade(value: float) -> str:
    """Round an error up to 1 or 5 of its decade: what the solver leaves may move, its size may not."""
    for digits in range(1, 9):
        for figure in (1, 5):
            bound = figure * 10.0 ** (digits - 9)
            if value <= bound:
                return f"{bound:.8f}".rstrip("0")
    return f"{value:.1f}"


def signed(percent: float) -> str:
    """Print a difference to a tenth of a per cent, with no sign at zero."""
    return f"{percent:+.1f}" if abs(percent) >= 0.05 else "0.0"


def spread(values: Sequence[float], bound: Callable[[float], str]) -> tuple[str, str]:
    """Return bounds of the largest and of the median size, in per cent."""
    sizes = [abs(v) for v in values]
    return bound(max(sizes)), bound(median(sizes))


@cache
def exact() -> tuple[CaseOutcome, ...]:
    """Every exact value, solved."""
    return tuple(validate(read_cases(REFERENCE / "exact_cases.toml"), 0.1))


def method_of(case_source: str) -> str:
    """Shorten a method to its kind."""
    return re.split(r"[,(;]", case_source)[0].strip()


def exact_table() -> str:
    """Exact cases by how they were made."""
    sources = {(c.id, c.geometry): method_of(c.source) for c in read_cases(REFERENCE / "exact_cases.toml")}
    kinds = dict.fromkeys(sources.values())
    rows = []
    for kind in kinds:
        chosen = [o for o in exact() if sources[o.id, o.geometry] == kind]
        worst, middle = spread([o.difference_pct or 0.0 for o in chosen], decade)
        stated = max(o.uncertainty_pct or 0.0 for o in chosen)
        rows.append((kind, str(len(chosen)), f"{stated:.1g}", worst, middle))
    header = ("reference", "values", "its uncertainty, largest %", "our difference below %", "median below %")
    return markdown(header, rows)


def loss_limit_table() -> str:
    """Skin-effect values."""
    found = list(validate(read_cases(REFERENCE / "loss_cases.toml"), 0.5))
    names = {"Z": "impedance", "R_signal": "crowding on the trace", "R_return": "crowding on the return path"}
    rows = []
    for name, words in names.items():
        worst, middle = spread([o.difference_pct or 0.0 for o in found if o.quantity == name], decade)
        rows.append((words, str(sum(o.quantity == name for o in found)), worst, middle))
    # a share is a part of 1, and so is its error
    shares = [
        (o.value - o.reference) * 100
        for o in found
        if o.quantity.startswith("q_") and o.value is not None and o.reference is not None
    ]
    worst, middle = spread(shares, decade)
    rows.append(("share of a dielectric, in per cent of the whole", str(len(shares)), worst, middle))
    return markdown(("figure", "values", "difference below %", "median below %"), rows)


def published_table() -> str:
    """Published impedances by program."""
    rows = []
    for name, group in GROUPS.items():
        of_group = [o for o in outcomes() if group_of(o) == name]
        met = [o.difference_pct for o in of_group if o.difference_pct is not None and o.verdict != "explained"]
        worst, middle = spread(met, up_to) if met else ("", "")
        explained = sum(o.verdict == "explained" for o in of_group)
        skipped = sum(o.verdict == "skipped" for o in of_group)
        rows.append((group["solver"], str(len(met)), worst, middle, str(explained or ""), str(skipped or "")))
    return markdown(("who", "met", "within %", "median %", "explained", "incomplete"), rows)


def outlier_table() -> str:
    """What is further off than 0.5 %, with the field inside the copper where that is why."""
    dynamic = {(i, q): (loss, ghz) for i, q, loss, ghz in DYNAMIC}
    rows = []
    for o in outcomes():
        if o.verdict != "explained" or o.value is None or o.difference_pct is None or o.reference is None:
            continue
        inside = ""
        if (o.id, o.quantity) in dynamic:
            value = with_internal_inductance(o.id, o.quantity, *dynamic[o.id, o.quantity])
            inside = signed((value / o.reference - 1) * 100)
        why = ENTRIES[o.id]["explained"][o.quantity].split(":")[0]
        rows.append((o.id, o.quantity, f"{o.reference:g}", f"{o.value:.3f}", signed(o.difference_pct), inside, why))
    return markdown(("case", "quantity", "published", "ours", "%", "with inner field %", "why"), rows)


def solver_loss_table() -> str:
    """Loss of smooth lines as field solvers report it."""
    rows = []
    for name, words in (("HFSS", "Ansys HFSS, constant Dk and Df"), ("AN2D", "Ansys 2D Extractor, causal Dk")):
        chosen = [c for c in SOLVERS if c["id"].startswith(name)]
        errors = {c["id"]: (solver_loss_db_per_inch(c) / c["loss_db_per_inch"] - 1) * 100 for c in chosen}
        inside = [e for i, e in errors.items() if i not in BEYOND]
        far = ", ".join(f"{i} {errors[i]:+.1f} %" for i in BEYOND if i in errors)
        low, high = min(c["frequency_ghz"] for c in chosen), max(c["frequency_ghz"] for c in chosen)
        span = f"{low:g} to {high:g}"
        rows.append((words, str(len(chosen)), span, f"{signed(min(inside))} to {signed(max(inside))}", far))
    return markdown(("program", "values", "GHz", "ours less theirs %", "beyond 2 %"), rows)


def measured_table() -> str:
    """Measured lines: nominal error and interval, in range and beyond."""
    rows = []
    for line in LINES:
        for in_range, words in ((True, "in range"), (False, "beyond")):
            chosen = [p for p in points() if p.line == line and p.in_range == in_range]
            errors = [p.error * 100 for p in chosen]
            inside = sum(p.low <= p.measured <= p.high for p in chosen)
            span = f"{min(p.frequency_ghz for p in chosen):g} to {max(p.frequency_ghz for p in chosen):g}"
            middle = f"{median(abs(e) for e in errors):.0f}"
            errors_span = f"{round(min(errors)):+d} to {round(max(errors)):+d}"
            rows.append((line, words, span, errors_span, middle, f"{inside} of {len(chosen)}"))
    return markdown(("line", "", "GHz", "nominal less measured %", "median size %", "inside our interval"), rows)


def known_table() -> str:
    """Who states foil, dielectric and walls of the measured lines."""
    rows = [(line, g["foil_from"], g["dielectric_from"], g["walls_from"]) for line, g in LINES.items()]
    return markdown(("line", "foil", "dielectric", "walls"), rows)


def curve_table() -> str:
    """The bare Astra line at every GHz in range, as the product takes it and with one thing changed."""
    changes: dict[str, dict[str, float]] = {
        "as the product takes it": {},
        "drawn as a rectangle": {"taper_mm": 0.0},
        "twice the taper": {"taper_mm": 0.02},
        "Rz 2.5 um": {"rz_um": 2.5},
        "Rz 1.5 um": {"rz_um": 1.5},
        "Dk 3.00": {"dk": 3.0},
    }
    measured, smooth, nominal = CURVE[:, 1], smooth_db_per_mm(), curve_db_per_mm()
    rows = []
    for words, change in changes.items():
        ours = curve_db_per_mm(**change)
        error = 100 * abs(ours / measured - 1)
        off_smooth = 100 * max(abs(ours / smooth - 1)[1:])
        worth = signed(100 * float(ours[19] / nominal[19] - 1)) if change else ""
        beyond = ", ".join(f"{ghz:g}" for ghz in CURVE[error > 10, 0])
        if len(beyond.split()) > 5:
            beyond = f"{sum(error > 10)} of {len(error)}"
        rows.append((words, worth, f"{median(error):.1f}", f"{max(error[1:]):.1f}", f"{off_smooth:.1f}", beyond))
    header = ("", "at 20 GHz %", "median size %", "largest from 2 GHz on %", "largest off a smooth curve %")
    return markdown((*header, "GHz beyond 10 %"), rows)


# --- the Jetson Thor base board --------------------------------------------------------------------------------------

RULES = [(85, "inner", 0.15, 0.125), (90, "inner", 0.125, 0.10), (85, "outer", 0.19, 0.18), (90, "outer", 0.17, 0.18)]
"""Target in ohm, side, width and gap in mm, as the board's custom rules have them."""
TAPER_MM = {"inner": 0.018, "outer": 0.0175}
MASKS = {
    "no mask": None,
    "mask 10 um, as the file has it": Mask(er=3.5, on_laminate_mm=0.01, on_trace_mm=0.01),
    "mask 30/15 um": Mask(er=3.5, on_laminate_mm=0.03, on_trace_mm=0.015),
}


def thor_site(side: str, mask: Mask | None, near_mm: float | None = None) -> TraceEnvironment:
    """Return the site of In2.Cu or F.Cu as the board's stackup states it; `near_mm` changes its prepreg."""
    if side == "inner":
        return TraceEnvironment(
            layer="In2.Cu",
            reference_below="In3.Cu",
            reference_above="In1.Cu",
            below=(DielectricSheet(name="prepreg", kind="prepreg", thickness_mm=near_mm or 0.14, dk=3.96),),
            above=(DielectricSheet(name="core", kind="core", thickness_mm=0.2, dk=4.3),),
            copper_mm=0.018,
            taper_mm=TAPER_MM[side],
            base="upper",
        )
    return TraceEnvironment(
        layer="F.Cu",
        reference_below="In1.Cu",
        below=(DielectricSheet(name="prepreg", kind="prepreg", thickness_mm=near_mm or 0.12, dk=4.1),),
        copper_mm=0.035,
        taper_mm=TAPER_MM[side],
        mask=mask,
    )


@cache
def thor_ohm(
    rule: tuple[int, str, float, float], reading: str, mask: Mask | None, near_mm: float | None = None
) -> float:
    """Return Zdiff with the drawn width as the base of the trace, as its mean width, or of a rectangle."""
    _, side, width, gap = rule
    site = thor_site(side, mask, near_mm)
    if reading == "rectangle":
        site = site.model_copy(update={"taper_mm": 0.0})
    wider = TAPER_MM[side] / 2 if reading == "mean" else 0.0
    return solve(site.section(width + wider, gap - wider), 1e-5).z_diff_ohm


def thor_table() -> str:
    """Four rules, three readings of the drawn width, with and without mask."""
    rows = []
    for rule in RULES:
        target, side, width, gap = rule
        for words, mask in MASKS.items() if side == "outer" else [("", None)]:
            found = [thor_ohm(rule, reading, mask) for reading in ("base", "rectangle", "mean")]
            cells = [f"{z:.1f} ({(z / target - 1) * 100:+.1f} %)" for z in found]
            rows.append((f"{target} ohm {side}", f"{width:g} / {gap:g}", words, *cells))
    header = ("rule", "width / gap mm", "mask", "drawn width is the base", "a rectangle", "the mean width")
    return markdown(header, rows)


@cache
def thor_height_mm(rule: tuple[int, str, float, float]) -> float:
    """Return the prepreg thickness that gives the target, drawn width as base, usual mask."""
    mask = MASKS["mask 30/15 um"] if rule[1] == "outer" else None
    return float(brentq(lambda mm: thor_ohm(rule, "base", mask, mm) - rule[0], 0.05, 0.4, xtol=5e-6))


def thor_height_table() -> str:
    """The prepreg that would make each rule exact."""
    stated = {"inner": 0.14, "outer": 0.12}
    rows = [(f"{r[0]} ohm {r[1]}", f"{stated[r[1]]:.2f}", f"{thor_height_mm(r):.3f}") for r in RULES]
    return markdown(("rule", "prepreg stated mm", "prepreg that would give the target mm"), rows)


def rail_table() -> str:
    """Power over frequency: shares of |Z| by which parts and wholes are off, the largest with its sign."""
    boards = [off for name in ("PDN-CAV-1", "PDN-CAV-2", "PDN-CAV-3", "PDN-CAV-4") for off in rebuilt_off(name)]
    rows = (
        ("exact sums of four cavities, from their dimensions", cavities_off()),
        ("the same drawn as boards and read back, below half of the first mode", boards),
        ("two published networks, with their elements", ladders_off()),
        ("13 measured capacitors, each by what the others of its size say", capacitors_off(plain=False)),
        ("the same with R and L that do not change", capacitors_off(plain=True)),
    )
    return markdown(
        ("reference", "values", "median off %", "largest off %"),
        (
            (name, str(len(off)), f"{100 * median(map(abs, off)):.2g}", f"{100 * max(off, key=abs):+.2g}")
            for name, off in rows
        ),
    )


def outline_table() -> str:
    """Planes of real outlines against a 3-D solver, by case: medians and the largest, of |Z| and of frequency."""
    rows = []
    for name in dict.fromkeys(one.case for one in plane_extremes()):
        found = [one for one in plane_extremes() if one.case == name]
        peaks, floors = ([one.off_pct for one in found if one.kind == kind] for kind in ("peak", "floor"))
        hz = max((one.off_mhz_pct for one in found), key=abs)
        cells = [
            text for off in (peaks, floors) for text in (f"{median(map(abs, off)):.0f}", signed(max(off, key=abs)))
        ]
        rows.append((name.replace("_", " "), str(len(found)), *cells, signed(hz)))
    header = (
        "planes",
        "values",
        "peaks, median off %",
        "largest %",
        "floors, median off %",
        "largest %",
        "frequency, largest %",
    )
    return markdown(header, rows)


def pair_table() -> str:
    """Coupled pairs against a 3-D solver: the largest differences."""
    header = ("pair", "modes, size of transmission %", "their delay %", "far-end crosstalk %", "near-end crosstalk %")
    rows = []
    for one in pairs():
        crosstalk = (one.crosstalk_off_pct("far_other"), one.crosstalk_off_pct("near_other"))
        values = (one.delay_off_pct(), *crosstalk)
        rows.append((one.name, f"{one.transmission_off_pct():.1f}", *map(signed, values)))
    return markdown(header, rows)


def via_table() -> str:
    """The largest misses first."""
    header = ("via", "openEMS ps", "ours ps", "off %", "held out")
    rows = []
    for one in sorted(vias(), key=lambda one: -abs(one.off_pct)):
        delays = f"{one.theirs_ps:.2f}", f"{one.ours_ps.nominal:.2f}"
        rows.append((one.name, *delays, signed(one.off_pct), "yes" if one.is_held_out else ""))
    return markdown(header, rows)


def mesh_table() -> str:
    """What a finer mesh and a longer run of the solver change in its own vias."""
    header = ("via", "run", "delay at 5 GHz, %", "at 10 GHz, %", *(f"S11 at {ghz} GHz" for ghz in (2, 5, 10)))
    rows = []
    for one in solver_changes():
        delays = (signed(one.delay_pct[k]) for k in (1, 2))
        rows.append((one.name, one.run, *delays, *(f"{change:+.3f}" for change in one.s11)))
    return markdown(header, rows)


def via_pair_table() -> str:
    """Vias of pairs by mode, the largest misses first."""
    header = ("pair", "mode", "openEMS ps", "ours ps", "off %", "S11 at 5 GHz", "ours", "at 10 GHz", "ours", "held out")
    rows = []
    for one in sorted(via_pairs(), key=lambda one: -abs(one.off_pct)):
        delays = f"{one.theirs_ps:.2f}", f"{one.ours_ps:.2f}", signed(one.off_pct)
        sizes = (f"{size:.3f}" for ghz in (5, 10) for size in one.s11_at(ghz))
        rows.append((one.name, one.mode, *delays, *sizes, "yes" if one.is_held_out else ""))
    return markdown(header, rows)


def via_reflection_table() -> str:
    """|S11| of single vias at 10 GHz, the largest misses first."""
    header = ("via", "openEMS", "ours, lines of our own", "ours, its lines and ports")
    rows = []
    for one in sorted(vias(), key=lambda one: -abs(one.our_s11_between_their_lines[2] - one.their_s11[2])):
        sizes = (one.their_s11, one.our_s11, one.our_s11_between_their_lines)
        rows.append((one.name, *(f"{size[2]:.3f}" for size in sizes)))
    return markdown(header, rows)


def via_null_table() -> str:
    """Where stubs short the path."""
    header = ("stub of", "openEMS GHz", "ours GHz", "off %", "closed form GHz", "off %")
    rows = []
    for one in stub_nulls():
        ours, closed_form = f"{one.ours_ghz:.2f}", f"{one.closed_form_ghz:.2f}"
        off = (signed(one.off_pct), signed(one.closed_form_off_pct))
        rows.append((one.name, f"{one.theirs_ghz:.2f}", ours, off[0], closed_form, off[1]))
    return markdown(header, rows)


def stepped_table() -> str:
    """What a step sees of a measured line with sections of other widths."""
    ours = stepped_ohm()
    places = ("in the first section", "in the second", "behind both")
    return markdown(
        ("seen", "measured ohm", "ours", "off %"),
        (
            (
                f"from {port[:-1]} {port[-1]}, {place}",
                f"{was:.1f}",
                f"{ours[port][k]:.1f}",
                f"{100 * (ours[port][k] / was - 1):+.1f}",
            )
            for port in ("port1", "port2")
            for k, (place, was) in enumerate(zip(places, STEPPED["ohm"][port], strict=True))
        ),
    )


def margin_table() -> str:
    """Operating margins by another program, and ours."""
    with TemporaryDirectory() as folder:
        links = [*link_margins(Path(folder)), *disturbed_channels(), *disturbed_links(Path(folder))]
    found = [*channels(), *links]
    return markdown(
        ("channel", "package mm", "PyChOpMarg, COM dB", "ours", "difference dB", "setting"),
        (
            (
                one.name,
                f"{one.package_mm:g}",
                f"{one.their_db:.2f}",
                f"{one.ours.com_db:.2f}",
                f"{round(one.ours.com_db - one.their_db, 2) + 0.0:+.2f}",
                "the same" if one.setting == pytest.approx(one.their_setting, abs=1e-9) else "of equal merit",
            )
            for one in found
        ),
    )


TABLES: dict[str, Callable[[], str]] = {
    "rail": rail_table,
    "outline": outline_table,
    "pairs": pair_table,
    "exact": exact_table,
    "skin": loss_limit_table,
    "published": published_table,
    "outliers": outlier_table,
    "solver-loss": solver_loss_table,
    "measured": measured_table,
    "known": known_table,
    "curve": curve_table,
    "thor": thor_table,
    "thor-height": thor_height_table,
    "stepped": stepped_table,
    "margin": margin_table,
    "via": via_table,
    "via-mesh": mesh_table,
    "via-pair": via_pair_table,
    "via-reflection": via_reflection_table,
    "via-null": via_null_table,
}


@pytest.mark.parametrize("name", TABLES)
def test_the_page_prints_what_is_computed(name: str) -> None:
    """Each table of the page is the one that comes out today."""
    found = block(name).search(PAGE.read_text(encoding="utf-8"))
    assert found is not None
    assert found[2] == TABLES[name]() + "\n"


def test_the_page_has_no_other_tables() -> None:
    """A table that nothing computes would be a number that can rot."""
    text = PAGE.read_text(encoding="utf-8")
    assert set(re.findall(r"<!-- table: (\S+) -->", text)) == set(TABLES)
    rest = text
    for name in TABLES:
        rest = block(name).sub("", rest)
    assert not [line for line in rest.splitlines() if line.startswith("|")]


def test_the_sentences_about_the_thor_rules_hold() -> None:
    """One thinner outer prepreg explains both outer rules to 1 %; no one inner prepreg explains both inner ones."""
    heights = {rule[:2]: thor_height_mm(rule) for rule in RULES}
    assert heights[85, "outer"] == pytest.approx(heights[90, "outer"], rel=0.011)
    assert heights[90, "inner"] > 1.25 * heights[85, "inner"]
    usual = MASKS["mask 30/15 um"]
    for reading in ("base", "rectangle", "mean"):
        off = [thor_ohm(rule, reading, usual if rule[1] == "outer" else None) / rule[0] - 1 for rule in RULES]
        assert max(abs(e) for e in off) > 0.02
        assert reading != "base" or max(abs(e) for e in off) < 0.06


def rewrite() -> None:
    """Write the page's tables anew."""
    text = PAGE.read_text(encoding="utf-8")
    for name, table in TABLES.items():
        found = block(name).search(text)
        if found is not None:
            text = f"{text[: found.start(2)]}{table()}\n{text[found.end(2) :]}"
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    rewrite()
