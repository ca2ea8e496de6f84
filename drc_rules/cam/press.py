"""What a CAM desk looks at in the press: cores, prepregs, the copper they fill, foils and laminates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from drc_rules.cam.item import OWN_SOURCE, CamItem, source_of
from drc_rules.requirements.documents import cite
from drc_rules.requirements.fabs import Tier
from drc_rules.requirements.fabs.cam import cam_limits
from drc_rules.requirements.fabs.limits import limit_of
from stackup_lib.board.stackup import LayerKind
from stackup_lib.core.words import count
from stackup_lib.materials import FoilGrade, Laminate, catalogue, clad_foils
from stackup_lib.materials.pressing import FacingCopper, copper_fill_mm
from stackup_lib.synthesis import CandidateRow, CandidateStackup
from stackup_lib.synthesis.build_rules import BuildRules, GapNeeds
from stackup_lib.synthesis.candidates import PLANE_COVERAGE, SIGNAL_COVERAGE, SIGNAL_OZ, facing_copper
from stackup_lib.synthesis.constructions import CatalogueProduct, core_to_order, cores_of, prepregs_of
from stackup_lib.synthesis.laminate_pairs import tg_apart_c

ROUNDING_MM = 0.0011
"""Of a listed thickness: cores of 2 and 4 mil are listed as 0.051 and 0.102, or 0.05 and 0.1."""

LISTED_WITHIN = 0.03
"""A core is the listed one to this share: mils and millimetres of one core differ by 1.5 to 2.4 % (0.2 and 0.203)."""

COUNTED_OZ = 2.0
"""The heaviest inner copper of the stackups that the build rules were counted in."""

COVERAGE = f"{100 * SIGNAL_COVERAGE:g} % of a signal layer and {100 * PLANE_COVERAGE:g} % of a plane are copper"


AS_DRAWN = "with the copper as drawn"


def press_items(
    candidate: CandidateStackup, rules: BuildRules, coverage: Sequence[float] = (), least_mm: float | None = None
) -> Iterator[CamItem]:
    """Yield what concerns dielectrics, copper weights, foils and laminates.

    Args:
        candidate: the stackup.
        rules: what fabs build.
        coverage: of each copper layer, the share of the area that is copper; () for that of a usual layer of its kind.
        least_mm: thinnest dielectric of your own fab; None for that of fabs in general.
    """
    for gap, row in enumerate(candidate.dielectrics):
        upper, lower = candidate.copper[gap : gap + 2]
        if row.kind is LayerKind.CORE:
            yield from _core(row, upper, lower, rules, least_mm)
        else:
            yield from _prepreg(candidate, gap, rules, coverage)
            yield from _thin(row, least_mm)
    yield from _inner_copper(candidate, rules)
    yield from _foils(candidate)
    yield from _hybrid(candidate)


def _needs(upper: CandidateRow, lower: CandidateRow, rules: BuildRules, *, foil: bool) -> GapNeeds | None:
    """Return what fabs require between two layers; None where a copper weight is not known.

    An outer foil is pressed on from outside, so its weight does not count.
    """
    weights = [SIGNAL_OZ if foil and row.use == "outer" else row.copper_oz for row in (upper, lower)]
    if weights[0] is None or weights[1] is None:
        return None
    return rules.needs(weights[0], weights[1], outer=foil and "outer" in (upper.use, lower.use))


def _by_weight(rules: BuildRules, what: str, upper: CandidateRow, lower: CandidateRow) -> str:
    beyond = f"; above {COUNTED_OZ:g} oz extrapolated" if _heaviest(upper, lower) > COUNTED_OZ else ""
    return source_of(rules.source, f"{what} by copper weight{beyond}")


def _weights(upper: CandidateRow, lower: CandidateRow) -> str:
    """Return `0.5/2 oz`, the same for both halves of a stackup."""
    known = sorted(f"{row.copper_oz:g}" if row.copper_oz is not None else "?" for row in (upper, lower))
    return f"{'/'.join(known)} oz"


def _core(
    row: CandidateRow, upper: CandidateRow, lower: CandidateRow, rules: BuildRules, own_mm: float | None
) -> Iterator[CamItem]:
    yield from _unlisted(row)
    where, weights = (row.name,), _weights(upper, lower)
    figure = f"{row.laminate} {row.thickness_mm:.3f} mm, {weights}"
    needs = _needs(upper, lower, rules, foil=False)
    if needs is None:
        yield CamItem(topic="core", where=where, figure=f"{figure}: copper weight not known", asks=True)
        return
    least, advanced = (limit_of("dielectric_mm", tier) or 0.0 for tier in (Tier.STANDARD, Tier.ADVANCED))
    limit, source = f"{least:g} mm or more, advanced fabs {advanced:g} mm", source_of("fab-limits", "least dielectric")
    if own_mm is not None:
        least, limit, source = own_mm, f"{own_mm:g} mm or more", OWN_SOURCE
    if needs.core_mm > least:
        least, limit = needs.core_mm, f"{needs.core_mm:g} mm or more"
        source = _by_weight(rules, "core thickness", upper, lower)
    asks = row.thickness_mm < least - ROUNDING_MM
    yield CamItem(topic="core", where=where, figure=figure, limit=limit, asks=asks, source=source)
    if rules.equal_cladding and upper.copper_oz != lower.copper_oz:
        source = source_of(rules.source, "equal copper on both sides of a core")
        yield CamItem(topic="core cladding", where=where, figure=weights, limit="equal", asks=True, source=source)
    if upper.foil and lower.foil and upper.foil != lower.foil:
        foils = f"{upper.foil} on {upper.name}, {lower.foil} on {lower.name}"
        yield CamItem(topic="core foil", where=where, figure=foils, limit="one foil on both faces", asks=True)


def _unlisted(row: CandidateRow) -> Iterator[CamItem]:
    """A core between two thicknesses of the maker's list, where the maker does not make any thickness.

    Nothing is said of thicker and thinner ones than all of the list, and of laminates without one: lists are not whole.
    """
    listed = cores_of(row.laminate)
    if not listed or core_to_order(row.laminate, row.thickness_mm) is not None:
        return
    lower = max((one for one in listed if one.cured_mm <= row.thickness_mm), key=_cured_mm, default=None)
    upper = min((one for one in listed if one.cured_mm >= row.thickness_mm), key=_cured_mm, default=None)
    if lower is None or upper is None:
        return
    slack = max(ROUNDING_MM, LISTED_WITHIN * row.thickness_mm)
    if min(row.thickness_mm - lower.cured_mm, upper.cured_mm - row.thickness_mm) > slack:
        yield CamItem(
            topic="core thickness",
            where=(row.name,),
            figure=f"{row.laminate} {row.thickness_mm:.3f} mm",
            limit=f"listed are {lower.cured_mm:g} and {upper.cured_mm:g} mm",
            asks=True,
            source=lower.source,
        )


def _cured_mm(one: CatalogueProduct) -> float:
    return one.cured_mm


def _prepreg(candidate: CandidateStackup, gap: int, rules: BuildRules, coverage: Sequence[float]) -> Iterator[CamItem]:
    row, (upper, lower) = candidate.dielectrics[gap], candidate.copper[gap : gap + 2]
    where, weights = (row.name,), _weights(upper, lower)
    sheets = f"{row.plies} x {row.construction or row.laminate}"
    faces = facing_copper(candidate.order, gap, [copper.thickness_mm for copper in candidate.copper], coverage)
    sold = _product(row)
    if sold is None or sold.cloth_mm is None:
        words = f"{sheets}, {row.thickness_mm:.3f} mm: no sheet with this glass and resin content in the catalogue"
        yield CamItem(topic="prepreg", where=where, figure=words, asks=True)
    else:
        words = AS_DRAWN if coverage else f"if {COVERAGE}"
        yield _filled(row, sold, faces, rules, words)
        yield from _as_stated(row, sold, faces, words)
    needs = _needs(upper, lower, rules, foil=True)
    if needs is None:
        return
    style = sold.row.style if sold and sold.row else ""
    single = row.plies == 1 and style in rules.not_single and _heaviest(upper, lower) >= rules.heavy_oz
    least, most = max(needs.plies, 1 + single), int(cam_limits().prepreg_sheets.usual)
    too_many = row.plies > most >= least
    yield CamItem(
        topic="prepreg count",
        where=where,
        figure=f"{count(row.plies, 'sheet')} between {weights}" + (f", {style} alone" if single else ""),
        limit=f"{least} to {most} sheets" if least < most else f"{least} sheets",
        asks=single or too_many or row.plies < needs.plies,
        source=cite(cam_limits().prepreg_sheets.source)
        if too_many
        else _by_weight(rules, "prepreg sheets", upper, lower),
    )
    resin_pct = sold.row.resin_content_pct if sold and sold.row else None
    if needs.resin_pct and resin_pct is not None:
        yield CamItem(
            topic="resin content",
            where=where,
            figure=f"{sheets} between {weights}",
            limit=f"{needs.resin_pct:g} % or more",
            asks=resin_pct < needs.resin_pct,
            source=_by_weight(rules, "resin content", upper, lower),
        )
    if needs.gap_mm:
        yield CamItem(
            topic="heavy copper",
            where=where,
            figure=f"{row.thickness_mm:.3f} mm between {weights}",
            limit=f"{needs.gap_mm:g} mm or more",
            asks=round(row.thickness_mm, 3) < needs.gap_mm,
            source=_by_weight(rules, "dielectric between layers", upper, lower),
        )


def _thin(row: CandidateRow, own_mm: float | None) -> Iterator[CamItem]:
    usual = cam_limits().pressed_mm
    least, source = (usual.usual, cite(usual.source)) if own_mm is None else (own_mm, OWN_SOURCE)
    if round(row.thickness_mm, 3) < least:
        figure, limit = f"{row.thickness_mm:.3f} mm", f"{least:g} mm or more"
        yield CamItem(topic="thin prepreg", where=(row.name,), figure=figure, limit=limit, asks=True, source=source)


def _heaviest(upper: CandidateRow, lower: CandidateRow) -> float:
    return max(upper.copper_oz or 0.0, lower.copper_oz or 0.0)


def _product(row: CandidateRow) -> CatalogueProduct | None:
    """Return the prepreg of the catalogue that a row is of, by glass style and resin content."""
    match = catalogue().find(row.construction)
    for sold in prepregs_of(row.laminate) if match.style else ():
        if sold.row is None or sold.plies != row.plies:
            continue
        if (sold.row.style, sold.row.resin_content_pct) == (match.style, match.resin_content_pct):
            return sold
    return None


def _filled(
    row: CandidateRow, sold: CatalogueProduct, faces: tuple[FacingCopper, ...], rules: BuildRules, words: str
) -> CamItem:
    """Resin that may leave the cloth, against what the copper takes and what fabs leave between cloth and copper."""
    cloth = sold.cloth_mm or 0.0
    free, fill = sold.cured_mm - cloth, copper_fill_mm([(f.thickness_mm or 0.0, f.coverage or 0.0) for f in faces])
    needed = max(0.0, fill + (rules.least_glass_ratio - 1) * cloth)
    pressed = f"{sold.plies} x {sold.text}, {row.thickness_mm:.3f} mm pressed over {cloth:.3f} mm of glass"
    return CamItem(
        topic="prepreg",
        where=(row.name,),
        figure=f"{pressed}, {free:.3f} mm of free resin",
        limit=f"{needed:.3f} mm or more, {words}" if faces else f"{needed:.3f} mm or more, no copper to fill",
        asks=free < needed - 1e-4,
        source=source_of(rules.source, "pressed thickness over glass; cloth by style as commonly quoted"),
    )


def _as_stated(
    row: CandidateRow, sold: CatalogueProduct, faces: tuple[FacingCopper, ...], words: str
) -> Iterator[CamItem]:
    """A thickness that a board states, against what its sheets press to."""
    limit, pressed = cam_limits().pressed_tolerance_pct, sold.pressed_mm(faces)
    if pressed is None or abs(row.thickness_mm / pressed - 1) * 100 <= limit.usual:
        return
    yield CamItem(
        topic="pressed thickness",
        where=(row.name,),
        figure=f"{row.thickness_mm:.3f} mm stated, {sold.plies} x {sold.text} come to {pressed:.3f} mm",
        limit=f"+-{limit.usual:g} %, {words}",
        asks=True,
        source=cite(limit.source),
    )


def _inner_copper(candidate: CandidateStackup, rules: BuildRules) -> Iterator[CamItem]:
    for row in candidate.copper[1:-1]:
        if (row.copper_oz or 0.0) > COUNTED_OZ:
            yield CamItem(
                topic="inner copper",
                where=(row.name,),
                figure=f"{row.copper_oz:g} oz",
                limit=f"up to {COUNTED_OZ:g} oz",
                asks=True,
                source=source_of(rules.source, "heaviest inner copper"),
            )


def _foils(candidate: CandidateStackup) -> Iterator[CamItem]:
    limit = cam_limits().smooth_foil_oz
    for index, row in enumerate(candidate.copper):
        if not row.foil:
            continue
        where, complement, grade = (row.name,), candidate.order.opposite_face(index), FoilGrade(row.foil)
        if complement is None:
            yield CamItem(topic="outer foil", where=where, figure=grade.value, limit="a foil that the fab stocks")
        else:
            yield _clad(where, grade, candidate.dielectrics[min(index, complement)].laminate)
        heavy = row.copper_oz or 0.0
        if grade.rank >= FoilGrade.VLP.rank and heavy > limit.usual:
            figure, most = f"{grade.value} on {heavy:g} oz", f"up to {limit.usual:g} oz"
            source = cite(limit.source)
            yield CamItem(topic="foil weight", where=where, figure=figure, limit=most, asks=True, source=source)


def _clad(where: tuple[str, ...], grade: FoilGrade, family: str) -> CamItem:
    offered, figure = clad_foils(family), f"{grade.value} on {family} cores"
    if offered is None:
        return CamItem(topic="foil", where=where, figure=figure, limit="not known what the maker clads", asks=True)
    return CamItem(
        topic="foil",
        where=where,
        figure=figure,
        limit=f"clad with {', '.join(one.value for one in offered.grades)}",
        asks=grade not in offered.grades,
        source=str(offered.source),
    )


def _hybrid(candidate: CandidateStackup) -> Iterator[CamItem]:
    limit = cam_limits().tg_apart_c
    found = [one for family in candidate.laminates if (one := catalogue().get(family)) is not None]
    for one, other in combinations(found, 2):
        apart = tg_apart_c(one, other)
        yield CamItem(
            topic="hybrid",
            figure=f"{_made(one)} with {_made(other)}: one press cycle for both, "
            + ("Tg not comparable" if apart is None else f"Tg {apart:g} C apart"),
            limit=f"one maker, Tg within {limit.usual:g} C",
            asks=one.maker != other.maker or apart is None or apart > limit.usual,
            source=cite(limit.source),
        )


def _made(laminate: Laminate) -> str:
    return f"{laminate.family} ({laminate.maker})"
