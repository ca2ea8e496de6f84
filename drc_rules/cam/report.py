"""CAM report: what a fab would ask about a stackup, each with its value, the usual limit and where that stands."""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.cam.item import OWN_SOURCE, CamItem, merged, source_of
from drc_rules.cam.press import press_items
from drc_rules.facts.context import Context
from drc_rules.report.numbers import size_text
from drc_rules.requirements.documents import cite
from drc_rules.requirements.fabs import Tier, track_space, track_space_source
from drc_rules.requirements.fabs.builds import build_rules
from drc_rules.requirements.fabs.cam import cam_limits
from drc_rules.requirements.fabs.holes import HoleKind, max_aspect_ratio
from drc_rules.requirements.fabs.limits import limit_of
from drc_rules.requirements.forms import Form
from drc_rules.settings.config_fab import FabDeclaration
from drc_rules.stackup_design.goals_build import LARGE_MM, STIFF_MM
from drc_rules.stackup_design.goals_fab import least_drill_mm
from drc_rules.stackup_design.stackup_candidate import candidate_of
from stackup_lib.core.facts import MissingFact
from stackup_lib.materials import copper_weights, outer_foil_oz
from stackup_lib.synthesis import CandidateStackup, Evaluated, Goals, LineResult
from stackup_lib.synthesis.candidates import SIGNAL_OZ

LIGHTEST_OZ = 0.5
"""Tables of track and space begin here; lighter copper is etched as well."""

LEAST_LEFT = 0.5
"""Of a fab's usual tolerance of thickness so much has to be left on the nearer side: where that tolerance is three
sigma, less is more than one board in fifteen outside."""


def cam_report(
    one: Evaluated, goals: Goals, form: Form | None = None, fab: FabDeclaration | None = None
) -> tuple[CamItem, ...]:
    """Return what a fab's CAM desk looks at: first what the fab has to confirm, then what it builds as usual.

    Args:
        one: the stackup.
        goals: what it was searched for; build rules of its own take the place of the usual ones.
        form: form factor of the board.
        fab: your own, whose limits take the place of the usual ones.
    """
    own = fab or FabDeclaration()
    rules = goals.build_rules if goals.build_rules.weights else build_rules()
    found = merged(
        (
            *_thickness(one, goals, form, own),
            *press_items(one.candidate, rules, least_mm=own.dielectric_mm),
            *_plated(one.candidate),
            *_voltage(one, goals),
            *_laminations(one),
            *_drills(one, goals, own),
            *_microvias(one, goals, own),
            *_backdrills(one, goals),
            *_etching(one, own),
            *_impedances(one, goals),
        )
    )
    return tuple(sorted(found, key=lambda item: not item.asks))


def stackup_questions(ctx: Context) -> tuple[CamItem, ...]:
    """Return what lies outside what fabs press without a question; no item where only our own data ends.

    Raises:
        MissingFact: no stackup is stated, a row lacks thickness or laminate, or inner copper is not drawn and filled.
    """
    candidate, shares = candidate_of(ctx), [use.copper_share for use in ctx.filled_uses()]
    ctx.need_filled_planes(range(len(shares)))
    if len(shares) > 2 and not any(shares[1:-1]):
        raise MissingFact("the copper of the inner layers", "route the board and fill its zones")
    items = press_items(candidate, build_rules(), shares, ctx.declarations.config.fab.dielectric_mm)
    return merged(item for item in items if item.asks and item.source)


def _thickness(one: Evaluated, goals: Goals, form: Form | None, own: FabDeclaration) -> Iterator[CamItem]:
    usual, thickness = cam_limits().thickness_tolerance_pct, one.candidate.thickness_mm
    figure = f"{thickness:.2f} mm with solder mask"
    wanted_pct = usual.usual if goals.thickness_mm is None else round(100 * goals.thickness_tolerance, 1)
    words, left_pct = "", usual.usual
    if goals.thickness_mm is not None:
        words = f"; {goals.thickness_mm:g} mm +-{wanted_pct:g} % required"
        room_mm = goals.thickness_mm * goals.thickness_tolerance - abs(thickness - goals.thickness_mm)
        left_pct = 100 * max(room_mm, 0.0) / thickness
    is_close = left_pct < LEAST_LEFT * usual.usual
    if is_close:
        words += f", {left_pct:.1f} % left for production"
    yield CamItem(
        topic="thickness",
        figure=figure + words,
        limit=f"+-{usual.usual:g} %",
        asks=round(wanted_pct) < usual.usual or is_close,
        source=cite(usual.source),
    )
    most = own.thickness_mm or limit_of("thickness_mm", Tier.STANDARD)
    if most is not None and thickness > most:
        source = OWN_SOURCE if own.thickness_mm else source_of("fab-limits", "thickness, standard")
        yield CamItem(topic="thickness", figure=figure, limit=f"up to {most:g} mm", asks=True, source=source)
    if form and (form.is_large or max(form.size_mm or (0.0,)) > LARGE_MM):
        yield CamItem(
            topic="stiffness",
            figure=f"{thickness:.2f} mm for a board longer than {LARGE_MM:g} mm",
            limit=f"{STIFF_MM:g} mm or more",
            asks=thickness < STIFF_MM,
            source=source_of("engineering", "stiffness of large boards"),
        )


def _plated(candidate: CandidateStackup) -> Iterator[CamItem]:
    """Copper of a board that is thinner than foil and plating together, as where the foil alone was entered."""
    order, copper = candidate.order, candidate.copper
    least_mm = min(weight.external_class2_min_um for weight in copper_weights()) / 1000
    for index, row in enumerate(copper):
        is_plated = index in (0, len(copper) - 1) or order.is_plated_inside(index)
        if is_plated and row.thickness_mm < least_mm:
            yield CamItem(
                topic="plated copper",
                where=(row.name,),
                figure=f"{row.thickness_mm:.4g} mm",
                limit=f"{least_mm:g} mm or more, foil and plating",
                asks=True,
                source=source_of("ipc-6012-copper", "finished copper of plated layers, class 2"),
            )


def _voltage(one: Evaluated, goals: Goals) -> Iterator[CamItem]:
    if goals.power_gap_mm is None:
        return
    copper = one.candidate.copper
    for gap, row in enumerate(one.candidate.dielectrics):
        if "power" in (copper[gap].use, copper[gap + 1].use):
            yield CamItem(
                topic="voltage",
                where=(row.name,),
                figure=f"{row.thickness_mm:.3f} mm next to power",
                limit=f"{goals.power_gap_mm:g} mm or more",
                asks=row.thickness_mm < goals.power_gap_mm,
                source=source_of("engineering", "IPC-2221, internal conductors, as quoted"),
            )


def _laminations(one: Evaluated) -> Iterator[CamItem]:
    usual = cam_limits().laminations
    yield CamItem(
        topic="laminations",
        figure=f"{one.laminations}, {one.candidate.hdi_class}",
        limit=f"up to {usual.usual:g}",
        asks=one.laminations > usual.usual,
        source=cite(usual.source),
    )


def _drills(one: Evaluated, goals: Goals, own: FabDeclaration) -> Iterator[CamItem]:
    if one.candidate.is_any_layer:
        return
    least = least_drill_mm(own) or limit_of("drill_mm", Tier.STANDARD) or 0.0
    yield CamItem(
        topic="drill",
        figure=f"{goals.drill_mm:g} mm",
        limit=f"{least:g} mm or more",
        asks=goals.drill_mm < least,
        source=OWN_SOURCE if own.hole_mm else source_of("fab-limits", "drill diameter, standard"),
    )
    words = f"{goals.drill_mm:g} mm drill"
    yield _ratio("aspect ratio", "through", one.aspect_ratio, words, most=own.aspect_ratio)


def _ratio(
    topic: str, kind: HoleKind, ratio: float, what: str, where: tuple[str, ...] = (), *, most: float | None = None
) -> CamItem:
    """A depth over diameter; `most` is what your own fab states."""
    standard, advanced = (most or max_aspect_ratio(kind, tier) for tier in (Tier.STANDARD, Tier.ADVANCED))
    source = source_of("fab-registration" if kind == "through" else "fab-limits", "aspect ratio, standard")
    better = f", advanced fabs {advanced:g}:1" if advanced > standard else ""
    return CamItem(
        topic=topic,
        where=where,
        figure=f"{ratio:.2g}:1, {what}" if ratio < 1 else f"{ratio:.1f}:1, {what}",
        limit=f"up to {standard:g}:1{better}",
        asks=round(ratio, 2) > standard,
        source=OWN_SOURCE if most else source,
    )


def _microvias(one: Evaluated, goals: Goals, own: FabDeclaration) -> Iterator[CamItem]:
    order, usual = one.candidate.order, cam_limits().microvia_levels
    if not order.build_ups:
        return
    for gap, row in enumerate(one.candidate.dielectrics):
        if order.is_build_up(gap):
            ratio = row.thickness_mm / goals.microvia_drill_mm
            words, most = f"{goals.microvia_drill_mm:g} mm microvia", own.microvia_aspect_ratio
            yield _ratio("microvia ratio", "microvia", ratio, words, (row.name,), most=most)
    copper = one.candidate.copper
    for row in (copper[order.build_ups], copper[-1 - order.build_ups]):
        yield CamItem(
            topic="buried vias",
            where=(row.name,),
            figure=f"{row.thickness_mm:.4g} mm copper, not plated",
            limit="where no buried via ends on it",
            asks=True,
            source=source_of("engineering", "outer layers of an inner package are plated where it is drilled"),
        )
    stacked = order.build_ups > 1
    yield CamItem(
        topic="microvia fill",
        figure=f"{order.build_ups} build-up layers per side" + (", copper-filled where stacked" if stacked else ""),
        limit=f"up to {usual.usual:g} levels stacked",
        asks=order.build_ups > usual.usual,
        source=cite(usual.source),
    )


def _backdrills(one: Evaluated, goals: Goals) -> Iterator[CamItem]:
    usual, stub, copper = cam_limits().backdrill_stub_mm, goals.max_stub_mm, one.candidate.copper
    if not one.backdrilled or stub is None:
        return
    layers = zip(copper, one.candidate.stubs_mm(), strict=True)
    depths = {row.name: stub_mm for row, stub_mm in layers if row.name in one.backdrilled}
    yield CamItem(
        topic="backdrill stub",
        where=tuple(depths),
        figure=f"up to {stub:g} mm",
        limit=f"{usual.usual:g} mm or more",
        asks=stub < usual.usual,
        source=cite(usual.source),
    )
    stays = ", ".join(f"{name} at {depth:.2f} mm" for name, depth in depths.items())
    yield CamItem(topic="backdrill", figure=f"from {copper[-1].name}; not to be cut: {stays}")


def _etching(one: Evaluated, own: FabDeclaration) -> Iterator[CamItem]:
    """Finest line or gap by copper weight; usual outer copper has a table of its own."""
    copper = one.candidate.copper
    weights = {row.name: f"{row.copper_oz or 0:g} oz" for row in copper}
    ounces = {row.name: row.copper_oz for row in copper}
    for outer in (copper[0], copper[-1]):
        ounces[outer.name] = foil_oz = outer_foil_oz(outer.thickness_mm)
        weights[outer.name] = "outer" if (foil_oz or 0.0) <= SIGNAL_OZ else f"outer {foil_oz:g} oz plated"
    groups: dict[str, list[LineResult]] = {}
    for line in one.lines:
        groups.setdefault(weights[line.layer], []).append(line)
    for weight, lines in groups.items():
        stated = _as_your_fab(lines, weight, ounces[lines[0].layer], own)
        if stated is not None:
            yield stated
            continue
        finest = min(_finest_mm(line) for line in lines)
        where = tuple(dict.fromkeys(line.layer for line in lines if _finest_mm(line) == finest))
        if weight == "outer":
            standard, source = (
                limit_of("outer_track_mm", Tier.STANDARD),
                source_of("fab-limits", "outer track, standard"),
            )
        else:
            row = track_space(max(LIGHTEST_OZ, ounces[where[0]] or 0.0))
            standard, source = row.standard_mm if row else None, source_of(track_space_source(), "standard")
        yield CamItem(
            topic="line and gap",
            where=where,
            figure=f"{finest:.3f} mm, {weight} copper",
            limit=f"{standard:g} mm or more" if standard else "no table for this weight",
            asks=standard is None or round(finest, 3) < standard,
            source=source if standard else "",
        )


def _as_your_fab(lines: list[LineResult], weight: str, copper_oz: float | None, own: FabDeclaration) -> CamItem | None:
    """Lines in copper of one weight against what your own fab etches; None where it does not state both sizes."""
    if weight.startswith("outer"):
        width, gap = own.outer_track_mm, own.outer_space_mm
    else:
        width, gap = own.track_of(copper_oz or 0.0), own.space_of(copper_oz or 0.0)
    if width is None or gap is None:
        return None
    narrowest, gaps = min(line.width_mm for line in lines), [line.gap_mm for line in lines if line.gap_mm is not None]
    closest = min(gaps, default=None)
    return CamItem(
        topic="line and gap",
        where=tuple(dict.fromkeys(line.layer for line in lines)),
        figure=f"{size_text(narrowest, closest)} mm, {weight} copper",
        limit=f"{width:g}/{gap:g} mm or more",
        asks=round(narrowest, 3) < width or (closest is not None and round(closest, 3) < gap),
        source=OWN_SOURCE,
    )


def _finest_mm(line: LineResult) -> float:
    return min(line.width_mm, line.gap_mm or line.width_mm)


def _impedances(one: Evaluated, goals: Goals) -> Iterator[CamItem]:
    usual, targets = cam_limits().impedance_tolerance_pct, {goal.name: goal.target.ohm for goal in goals.lines}
    for line in one.lines:
        target = targets[line.goal]
        z, room = line.impedance_ohm, target * usual.usual / 100
        size = size_text(line.width_mm, line.gap_mm)
        yield CamItem(
            topic="impedance",
            where=(line.layer,),
            figure=f"{line.goal}: {size} mm, {z.nominal:.1f} ohm ({z.low:.1f} to {z.high:.1f})",
            limit=f"{target:g} ohm +-{usual.usual:g} %",
            asks=z.low < target - room or z.high > target + room,
            source=cite(usual.source),
        )
