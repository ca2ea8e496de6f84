"""Reads a suggested stackup as a CAM engineer does, apart from the search that suggests it.

The limits are in `cam_limits.toml`. Neither the search nor its pressing of prepregs is called: the two must be able to
disagree. Lengths in mm unless a name says otherwise.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from pydantic import BaseModel, ConfigDict

from stackup_lib.board.stackup import LayerKind
from stackup_lib.materials import FoilGrade, Laminate, TgMethod, catalogue
from stackup_lib.synthesis.candidates import CandidateRow, CandidateStackup

Grade = Literal["primary", "secondary", "engineering"]
Level = Literal["fault", "caution"]

PLANES = ("ground", "power")
HEAVY_OZ = 2
LOW_PROFILE = 2
"""Rank of VLP foil."""

EPSILON_MM = 5e-5
"""Rows are rounded to 0.1 um."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Source(_Strict):
    text: str
    grade: Grade


class Limit(_Strict):
    """What every limit states: its rule in the list of CAM rules, and the key of its source."""

    rule: str
    source: str


class _CoreMinimum(Limit):
    oz: float
    min_mm: float


class _ClothRatio(Limit):
    min: float
    min_against_2_oz: float


class _FewestPlies(Limit):
    lighter_oz: float
    heavier_oz: float
    plies: int
    single_styles: tuple[str, ...] = ()


class _MostPlies(Limit):
    plies: int


class _SingleHeavyGlass(Limit):
    styles: tuple[str, ...]
    max_oz: float


class _FoilOffer(Limit):
    families: tuple[str, ...]
    grades: tuple[FoilGrade, ...]


class _LowProfile(Limit):
    families: tuple[str, ...]
    max_oz: float


class _PressClass(Limit):
    A: tuple[str, ...]
    B: tuple[str, ...]
    C: tuple[str, ...]

    def class_of(self, family: str) -> int | None:
        """Return 0 for A to 2 for C, None for a family in none of them."""
        classes = (self.A, self.B, self.C)
        return next((k for k, families in enumerate(classes) if family in families), None)


class _TgDifference(Limit):
    max_c: float


class _PerVoltage(Limit):
    up_to_v: float
    min_mm: float


class _Minimum(Limit):
    min_mm: float


class _Symmetry(Limit):
    tolerance_mm: float


class _LargeBoard(Limit):
    side_mm: float
    min_mm: float


class _Module(Limit):
    outline_mm: tuple[float, float]
    min_mm: float
    max_mm: float


class _Ratio(Limit):
    max: float


class _PairAtBga(Limit):
    up_to_pitch_mm: float
    max_width_and_gap_mm: float


class _BgaChannel(Limit):
    up_to_pitch_mm: float
    channel_mm: float


class _Coverage(_Strict):
    source: str
    signal: float
    plane: float


class BuiltPly(NamedTuple):
    """One sheet of prepreg of a real stackup."""

    style: str
    resin_content_pct: float
    mm: float


class BuiltGap(_Strict):
    """A gap that a fab builds; an outer one from the foil inwards."""

    template: str
    outer: bool
    oz: float
    laminate: str
    plies: tuple[BuiltPly, ...]


class BuiltCore(_Strict):
    """A core that a fab builds."""

    template: str
    oz: float
    laminate: str
    mm: float


class _Built(_Strict):
    gap: tuple[BuiltGap, ...]
    core: tuple[BuiltCore, ...]


class CamLimits(_Strict):
    """The file of limits."""

    source: Mapping[str, _Source]
    copper_mm: Mapping[str, float]
    coverage: _Coverage
    core: tuple[_CoreMinimum, ...]
    equal_cladding: Limit
    cloth_um: Mapping[str, Mapping[str, float]]
    cloth_ratio: _ClothRatio
    ply_um: Mapping[str, float]
    fill: Limit
    fewest_plies: tuple[_FewestPlies, ...]
    most_plies: _MostPlies
    single_heavy_glass: _SingleHeavyGlass
    foil: tuple[_FoilOffer, ...]
    low_profile: tuple[_LowProfile, ...]
    one_family_per_gap: Limit
    press_class: _PressClass
    tg_difference: _TgDifference
    outer_ply: Limit
    per_voltage: tuple[_PerVoltage, ...]
    between_2_oz_planes: _Minimum
    symmetry: _Symmetry
    large_board: _LargeBoard
    oam: _Module
    aspect_ratio: _Ratio
    pair_at_bga: _PairAtBga
    bga_channel: tuple[_BgaChannel, ...]
    built: _Built

    def cloth_of(self, style: str) -> tuple[float, str] | None:
        """Return the cloth's thickness in um and the key of its source."""
        return next(((um[style], source) for source, um in self.cloth_um.items() if style in um), None)

    def finished_mm(self, oz: float) -> float:
        """Return finished inner copper; of a weight between two listed ones, in proportion to the next."""
        listed = {float(key): mm for key, mm in self.copper_mm.items()}
        above = min((weight for weight in listed if weight >= oz), default=max(listed))
        return listed[above] * oz / above


@cache
def limits() -> CamLimits:
    """Return the limits."""
    text = Path(__file__).with_name("cam_limits.toml").read_text(encoding="utf-8")
    return CamLimits.model_validate(tomllib.loads(text))


@dataclass(frozen=True)
class Fault:
    """What a CAM engineer asks about.

    Attributes:
        rule: in the list of CAM rules.
        layer_or_row: the row, or "board".
        words: the value, the limit and its source.
        grade: of the source.
    """

    rule: str
    layer_or_row: str
    words: str
    grade: Grade

    @property
    def level(self) -> Level:
        """A caution where only common practice stands behind the limit."""
        return "caution" if self.grade == "engineering" else "fault"


class RoutedLine(Protocol):
    """A line as the search sizes it; `gap_mm` is None for one trace."""

    @property
    def layer(self) -> str: ...

    @property
    def width_mm(self) -> float | None: ...

    @property
    def gap_mm(self) -> float | None: ...


@dataclass(frozen=True)
class Ply:
    """Equal sheets of prepreg in a gap."""

    row: CandidateRow
    style: str
    resin_content_pct: float | None

    @property
    def cloth_um(self) -> float | None:
        """Cloth of all sheets."""
        found = limits().cloth_of(self.style)
        return None if found is None else found[0] * self.row.plies

    @property
    def unpressed_um(self) -> float | None:
        """All sheets before they fill copper: the maker's table, else what the templates imply."""
        laminate = _laminate(self.row.laminate)
        stated = next(
            (
                1000 * construction.thickness_mm
                for construction in (laminate.constructions if laminate else ())
                if construction.kind == "prepreg"
                and construction.style == self.style
                and construction.resin_content_pct == self.resin_content_pct
            ),
            limits().ply_um.get(self.style),
        )
        return None if stated is None else stated * self.row.plies


@dataclass(frozen=True)
class Gap:
    """The dielectric rows between two copper layers.

    Attributes:
        filled: copper layers that are pressed into it.
    """

    rows: tuple[CandidateRow, ...]
    above: CandidateRow
    below: CandidateRow
    filled: tuple[CandidateRow, ...]

    @property
    def name(self) -> str:
        """The row's name; of several, the layers on either side too."""
        return self.rows[0].name or f"{self.above.name} to {self.below.name}"

    @property
    def plies(self) -> tuple[Ply, ...]:
        """Prepregs."""
        return tuple(_ply(row) for row in self.rows if row.kind is LayerKind.PREPREG)

    @property
    def ply_count(self) -> int:
        """Sheets of prepreg."""
        return sum(ply.row.plies for ply in self.plies)

    @property
    def has_core(self) -> bool:
        """True for a core, clad or bare between prepregs."""
        return any(row.kind is LayerKind.CORE for row in self.rows)

    @property
    def thickness_mm(self) -> float:
        """All rows."""
        return sum(row.thickness_mm for row in self.rows)

    @property
    def heaviest_oz(self) -> float:
        """Of the copper that is pressed into it, 0 where none is."""
        return max((_oz(copper) for copper in self.filled), default=0)


@dataclass(frozen=True)
class Audit:
    """One stackup with what else is known of its board."""

    candidate: CandidateStackup
    outline_mm: tuple[float, float] | None = None
    bga_pitch_mm: float | None = None
    volts: float | None = None
    drill_mm: float | None = None
    coverage: float | None = None
    lines: Sequence[RoutedLine] = field(default=())

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """Top to bottom."""
        return _gaps(self.candidate.rows)

    @property
    def thickness_mm(self) -> float:
        """All rows."""
        return sum(row.thickness_mm for row in self.candidate.rows)

    def fill_um(self, gap: Gap) -> float:
        """Return the resin that the spaces of the facing copper take."""
        return sum(1000 * limits().finished_mm(_oz(copper)) * (1 - self._kept(copper)) for copper in gap.filled)

    def _kept(self, copper: CandidateRow) -> float:
        if self.coverage is not None:
            return self.coverage
        return limits().coverage.plane if copper.use in PLANES else limits().coverage.signal


def audit(
    candidate: CandidateStackup,
    *,
    outline_mm: tuple[float, float] | None = None,
    bga_pitch_mm: float | None = None,
    volts: float | None = None,
    drill_mm: float | None = None,
    coverage: float | None = None,
    lines: Sequence[RoutedLine] = (),
) -> list[Fault]:
    """Return what a CAM engineer would ask about, in the order of the rules.

    Args:
        candidate: the stackup.
        outline_mm: width and height of the board.
        bga_pitch_mm: smallest pitch that lines break out of.
        volts: between power planes and what faces them.
        drill_mm: smallest through hole.
        coverage: share of copper that every layer keeps; by default by what the layer is for.
        lines: lines of high-speed interfaces.
    """
    board = Audit(candidate, outline_mm, bga_pitch_mm, volts, drill_mm, coverage, lines)
    return [fault for rule in RULES for fault in rule(board)]


def core_thickness(board: Audit) -> Iterator[Fault]:
    """Heavy copper needs a thick core."""
    for core, above, below in _cores(board.candidate.rows):
        oz = max((_oz(copper) for copper in (above, below) if copper is not None), default=0)
        if not oz:
            continue
        floors = limits().core
        floor = next((one for one in floors if oz <= one.oz), floors[-1])
        if core.thickness_mm < floor.min_mm - EPSILON_MM:
            yield _fault(floor, core, f"{oz:g} oz copper on {core.thickness_mm:.3f} mm, minimum {floor.min_mm:.3f} mm")


def equal_cladding(board: Audit) -> Iterator[Fault]:
    """A core has the same copper weight on both sides."""
    for core, above, below in _cores(board.candidate.rows):
        if above is not None and below is not None and _oz(above) != _oz(below):
            words = f"{_oz(above):g} oz above and {_oz(below):g} oz below; a core has the same weight on both sides"
            yield _fault(limits().equal_cladding, core, words)


def cloth_thickness(board: Audit) -> Iterator[Fault]:
    """A prepreg presses down to its glass, never below."""
    limit = limits().cloth_ratio
    for gap in board.gaps:
        if not gap.plies:
            continue
        unknown = [ply.style for ply in gap.plies if ply.cloth_um is None]
        if unknown:
            words = f"{gap.name}: cloth thickness of style {unknown[0] or 'not named'} is not known"
            yield Fault(limit.rule, gap.name, words, "engineering")
            continue
        cloth_um = _cloth_um(gap)
        pressed_um = 1000 * sum(ply.row.thickness_mm for ply in gap.plies)
        yield from _against_cloth(limit, gap, pressed_um, f"{_styles(gap)} pressed to {pressed_um:.0f} um", cloth_um)


def resin_fill(board: Audit) -> Iterator[Fault]:
    """The resin that is free of the cloth fills the spaces of the copper."""
    for gap in board.gaps:
        unpressed = [ply.unpressed_um for ply in gap.plies]
        if not gap.filled or not unpressed or None in unpressed or any(ply.cloth_um is None for ply in gap.plies):
            continue
        fill_um, cloth_um = board.fill_um(gap), _cloth_um(gap)
        total_um = sum(um for um in unpressed if um is not None)
        words = f"{_styles(gap)}: free resin {total_um - cloth_um:.0f} um, {fill_um:.0f} um to fill"
        yield from _against_cloth(limits().fill, gap, total_um - fill_um, words, cloth_um)


def fewest_plies(board: Audit) -> Iterator[Fault]:
    """Heavy copper needs several plies; the strictest limit that is broken is reported."""
    for gap in board.gaps:
        if not gap.filled or gap.has_core:
            continue
        heavier = gap.heaviest_oz
        lighter = min(_oz(copper) for copper in gap.filled) if len(gap.filled) > 1 else 0
        broken = [
            limit
            for limit in limits().fewest_plies
            if lighter >= limit.lighter_oz and heavier >= limit.heavier_oz and gap.ply_count < limit.plies
        ]
        if not broken:
            continue
        worst = min(broken, key=lambda limit: (_grade(limit) == "engineering", -limit.plies))
        faces = " and ".join(f"{_oz(copper):g} oz" for copper in gap.filled)
        fault = _fault(worst, gap, f"{_plies(gap.ply_count)} ({_styles(gap)}) against {faces}, minimum {worst.plies}")
        is_seen = gap.ply_count == 1 and gap.plies[0].style in worst.single_styles
        yield _as_caution(fault) if is_seen else fault


def most_plies(board: Audit) -> Iterator[Fault]:
    """Many plies slide in the press."""
    limit = limits().most_plies
    for gap in board.gaps:
        if gap.ply_count > limit.plies:
            yield _fault(limit, gap, f"{_plies(gap.ply_count)}, maximum {limit.plies}")


def single_heavy_glass(board: Audit) -> Iterator[Fault]:
    """One ply of thick glass has too little resin for heavy copper."""
    limit = limits().single_heavy_glass
    for gap in board.gaps:
        if gap.ply_count == 1 and gap.plies[0].style in limit.styles and gap.heaviest_oz > limit.max_oz:
            words = f"one ply of {gap.plies[0].style} against {gap.heaviest_oz:g} oz, maximum {limit.max_oz:g} oz"
            yield _fault(limit, gap, words)


def clad_foil(board: Audit) -> Iterator[Fault]:
    """The foil of an inner layer is one that the core's maker clads."""
    for copper, core in _clad(board.candidate.rows):
        offer = next((one for one in limits().foil if core.laminate in one.families), None)
        ranks = [grade.rank for grade in offer.grades] if offer else []
        if offer is None or FoilGrade(copper.foil).rank in ranks:
            continue
        listed = ", ".join(grade.value for grade in offer.grades)
        fault = _fault(offer, copper, f"{copper.foil} foil on {core.laminate}, whose maker lists {listed}")
        is_smoother = FoilGrade(copper.foil).rank > max(ranks)
        yield fault if is_smoother else _as_caution(fault)


def low_profile_weight(board: Audit) -> Iterator[Fault]:
    """Low-profile foil is sold thin."""
    for copper, core in _clad(board.candidate.rows):
        found = [one for one in limits().low_profile if not one.families or core.laminate in one.families]
        if found and FoilGrade(copper.foil).rank >= LOW_PROFILE and _oz(copper) > found[0].max_oz:
            words = f"{copper.foil} foil of {_oz(copper):g} oz on {core.laminate}, maximum {found[0].max_oz:g} oz"
            yield _fault(found[0], copper, words)


def one_family_per_gap(board: Audit) -> Iterator[Fault]:
    """The plies of one gap are of one resin system; two of one press class are built in 8 of 577 templates."""
    limit = limits().one_family_per_gap
    for gap in board.gaps:
        families = list(dict.fromkeys(ply.row.laminate for ply in gap.plies))
        if len(families) < 2:
            continue
        fault = _fault(limit, gap, f"{' and '.join(families)} between two copper layers")
        classes = {limits().press_class.class_of(family) for family in families}
        is_seen = len(classes) == 1 and None not in classes
        yield _as_caution(fault) if is_seen else fault


def press_classes(board: Audit) -> Iterator[Fault]:
    """Laminates in one press cure alike."""
    limit = limits().press_class
    classes = {family: limit.class_of(family) for family in board.candidate.laminates}
    known = {family: number for family, number in classes.items() if number is not None}
    if known and max(known.values()) > min(known.values()):
        words = ", ".join(f"{family} class {'ABC'[number]}" for family, number in known.items())
        yield _fault(limit, None, f"{words} in one press; ask the fab")


def tg_difference(board: Audit) -> Iterator[Fault]:
    """Laminates in one press have similar Tg."""
    limit = limits().tg_difference
    known = {family: tg for family in board.candidate.laminates if (tg := _tg_c(family)) is not None}
    if known and max(known.values()) - min(known.values()) > limit.max_c:
        words = ", ".join(f"{family} Tg {tg:g} C" for family, tg in known.items())
        yield _fault(limit, None, f"{words}: difference above {limit.max_c:g} C")


def outer_laminate(board: Audit) -> Iterator[Fault]:
    """A high-speed line on an outer layer needs the high-speed laminate below it."""
    rows = board.candidate.rows
    used = {line.layer for line in board.lines}
    for outer, gap in zip(_outer(rows), (board.gaps[0], board.gaps[-1]), strict=True):
        laminate = gap.rows[0 if gap is board.gaps[0] else -1].laminate
        fast = _fast_laminates(board.candidate)
        if outer.name in used and laminate not in fast:
            words = f"fast lines run on {outer.name} over {laminate}; the fast laminate is {', '.join(sorted(fast))}"
            yield _fault(limits().outer_ply, gap, words)


def voltage(board: Audit) -> Iterator[Fault]:
    """A dielectric next to a power plane stands its voltage."""
    volts = board.volts
    if volts is None:
        return
    limit = next((one for one in limits().per_voltage if volts <= one.up_to_v), limits().per_voltage[-1])
    for gap in board.gaps:
        if "power" in (gap.above.use, gap.below.use) and gap.thickness_mm < limit.min_mm - EPSILON_MM:
            yield _fault(limit, gap, f"{gap.thickness_mm:.3f} mm at {volts:g} V, minimum {limit.min_mm:g} mm")


def heavy_planes(board: Audit) -> Iterator[Fault]:
    """Two heavy planes keep a distance."""
    limit = limits().between_2_oz_planes
    for gap in board.gaps:
        if min(_oz(gap.above), _oz(gap.below)) >= HEAVY_OZ and gap.thickness_mm < limit.min_mm - EPSILON_MM:
            words = f"{gap.thickness_mm:.3f} mm between {_oz(gap.above):g} and {_oz(gap.below):g} oz copper"
            yield _fault(limit, gap, f"{words}, minimum {limit.min_mm:g} mm")


def symmetry(board: Audit) -> Iterator[Fault]:
    """What is not symmetric warps."""
    rows = [row for row in board.candidate.rows if row.kind is not LayerKind.MASK]
    tolerance = limits().symmetry.tolerance_mm
    for row, mirrored in list(zip(rows, reversed(rows), strict=True))[: len(rows) // 2]:
        same = (row.kind, row.copper_oz, row.laminate, row.plies) == (
            mirrored.kind, mirrored.copper_oz, mirrored.laminate, mirrored.plies,
        )  # fmt: skip
        if not same or abs(row.thickness_mm - mirrored.thickness_mm) > tolerance:
            words = f"{_describe(row)} at the top, {_describe(mirrored)} at the bottom"
            yield _fault(limits().symmetry, row, f"{words}; a stackup is symmetric about its middle")
            return


def stiffness(board: Audit) -> Iterator[Fault]:
    """Large boards are thick; an OAM has its usual thickness."""
    if board.outline_mm is None:
        return
    large, oam = limits().large_board, limits().oam
    side, thickness = max(board.outline_mm), board.thickness_mm
    if side > large.side_mm and thickness < large.min_mm - EPSILON_MM:
        yield _fault(large, None, f"{thickness:.2f} mm thick and {side:g} mm long, minimum {large.min_mm:g} mm")
    if sorted(board.outline_mm) == sorted(oam.outline_mm) and not oam.min_mm <= thickness <= oam.max_mm:
        yield _fault(oam, None, f"OAM {thickness:.2f} mm thick, usual {oam.min_mm:g} to {oam.max_mm:g} mm")


def aspect_ratio(board: Audit) -> Iterator[Fault]:
    """Deep narrow holes are not plated well."""
    limit = limits().aspect_ratio
    if board.drill_mm is not None and board.thickness_mm > limit.max * board.drill_mm:
        ratio = board.thickness_mm / board.drill_mm
        words = f"{board.thickness_mm:.2f} mm thick, {board.drill_mm:g} mm drill: aspect ratio {ratio:.1f}"
        yield _fault(limit, None, f"{words}, maximum {limit.max:g}")


def bga_breakout(board: Audit) -> Iterator[Fault]:
    """Lines pass between the vias of a BGA."""
    pitch, pairs = board.bga_pitch_mm, limits().pair_at_bga
    if pitch is None:
        return
    channel = next((one for one in limits().bga_channel if pitch <= one.up_to_pitch_mm), None)
    for line in board.lines:
        width, gap = line.width_mm, line.gap_mm
        if width is None:
            continue
        if gap is None and channel is not None and width > channel.channel_mm:
            words = f"{line.layer}: {width:.3f} mm wide, channel {channel.channel_mm:g} mm at {pitch:g} mm pitch"
            yield Fault(channel.rule, line.layer, _with_source(words, channel), _grade(channel))
        if gap is not None and pitch <= pairs.up_to_pitch_mm and width + gap > pairs.max_width_and_gap_mm:
            words = f"{line.layer}: pair {width:.3f}/{gap:.3f} mm: width + gap {width + gap:.3f} mm"
            words += f", maximum {pairs.max_width_and_gap_mm:g} mm at {pitch:g} mm pitch"
            yield Fault(pairs.rule, line.layer, _with_source(words, pairs), _grade(pairs))


RULES: tuple[Callable[[Audit], Iterator[Fault]], ...] = (
    core_thickness,
    equal_cladding,
    cloth_thickness,
    resin_fill,
    fewest_plies,
    most_plies,
    single_heavy_glass,
    clad_foil,
    low_profile_weight,
    one_family_per_gap,
    press_classes,
    tg_difference,
    outer_laminate,
    voltage,
    heavy_planes,
    symmetry,
    stiffness,
    aspect_ratio,
    bga_breakout,
)


def _against_cloth(limit: Limit, gap: Gap, left_um: float, words: str, cloth_um: float) -> Iterator[Fault]:
    """Judge what is left of a gap against its cloth: against recalled cloth within its 10 % only a caution."""
    ratio, bounds = left_um / cloth_um, limits().cloth_ratio
    heavy = gap.heaviest_oz >= HEAVY_OZ
    least = bounds.min_against_2_oz if heavy else bounds.min
    if left_um >= least * cloth_um - 1000 * EPSILON_MM:
        return
    recalled = any((found := limits().cloth_of(ply.style)) and found[1] != "templates" for ply in gap.plies)
    words = f"{gap.name}: {words}; {ratio:.2f} of the {cloth_um:.0f} um cloth, minimum {least:g}"
    grade = "engineering" if recalled and ratio >= bounds.min_against_2_oz else _grade(limit)
    yield Fault(limit.rule, gap.name, _with_source(words, limit), grade)


def _gaps(rows: Sequence[CandidateRow]) -> tuple[Gap, ...]:
    at = [k for k, row in enumerate(rows) if row.kind is LayerKind.COPPER]
    found = []
    for index, (top, bottom) in enumerate(pairwise(at)):
        filled = []
        for copper, first, other, is_outward in (
            (top, top + 1, top - 1, 2 * index > len(at) - 1),
            (bottom, bottom - 1, bottom + 1, 2 * (index + 1) < len(at) - 1),
        ):
            if rows[first].kind is not LayerKind.PREPREG or not at[0] < copper < at[-1]:
                continue
            # A foil between two prepregs is bonded with the inner one, and filled by the outer one in the next press.
            if rows[other].kind is LayerKind.CORE or is_outward:
                filled.append(rows[copper])
        found.append(Gap(tuple(rows[top + 1 : bottom]), rows[top], rows[bottom], tuple(filled)))
    return tuple(found)


def _cores(
    rows: Sequence[CandidateRow],
) -> Iterator[tuple[CandidateRow, CandidateRow | None, CandidateRow | None]]:
    """Give every core with the copper that it is clad with."""
    for above, core, below in zip(rows, rows[1:], rows[2:], strict=False):
        if core.kind is LayerKind.CORE:
            yield core, _copper_or_none(above), _copper_or_none(below)


def _clad(rows: Sequence[CandidateRow]) -> Iterator[tuple[CandidateRow, CandidateRow]]:
    """Give every copper layer of a core whose foil is named, with the core."""
    for core, above, below in _cores(rows):
        for copper in (above, below):
            if copper is not None and copper.foil:
                yield copper, core


def _copper_or_none(row: CandidateRow) -> CandidateRow | None:
    return row if row.kind is LayerKind.COPPER else None


def _outer(rows: Sequence[CandidateRow]) -> tuple[CandidateRow, CandidateRow]:
    copper = [row for row in rows if row.kind is LayerKind.COPPER]
    return copper[0], copper[-1]


def _fast_laminates(candidate: CandidateStackup) -> set[str]:
    """Return the families next to high-speed layers; without such layers the one of the lowest Df."""
    rows = candidate.rows
    around = {
        rows[k].laminate
        for at, row in enumerate(rows)
        if row.use == "fast"
        for k in (at - 1, at + 1)
        if rows[k].is_dielectric
    }
    if around:
        return around
    return {min((row for row in rows if row.is_dielectric), key=lambda row: row.df or 1.0).laminate}


def _ply(row: CandidateRow) -> Ply:
    found = re.search(r"(?<!\S)(\d{3,4})\s+RC\s*(\d+(?:\.\d+)?)\s*%", row.construction)
    return Ply(row, found[1], float(found[2])) if found else Ply(row, "", None)


@cache
def _laminate(family: str) -> Laminate | None:
    return next((one for one in catalogue().laminates if one.family == family), None)


def _tg_c(family: str) -> float | None:
    laminate = _laminate(family)
    return next((tg.value_c for tg in (laminate.tg if laminate else ()) if tg.method is TgMethod.DSC), None)


def _oz(copper: CandidateRow) -> float:
    return copper.copper_oz or 0.0


def _cloth_um(gap: Gap) -> float:
    return sum(ply.cloth_um or 0 for ply in gap.plies)


def _styles(gap: Gap) -> str:
    return " + ".join(f"{ply.row.plies} x {ply.style}" for ply in gap.plies)


def _plies(count: int) -> str:
    return "1 ply" if count == 1 else f"{count} plies"


def _describe(row: CandidateRow) -> str:
    what = f"{_oz(row):g} oz" if row.kind is LayerKind.COPPER else f"{row.plies} x {row.laminate}"
    return f"{row.kind.value} {what} {row.thickness_mm:.3f} mm"


def _grade(limit: Limit) -> Grade:
    return limits().source[limit.source].grade


def _with_source(words: str, limit: Limit) -> str:
    return f"{words} ({limits().source[limit.source].text})"


def _as_caution(fault: Fault) -> Fault:
    return replace(fault, grade="engineering")


def _fault(limit: Limit, where: CandidateRow | Gap | None, words: str) -> Fault:
    name = "board" if where is None else where.name
    return Fault(limit.rule, name, f"{name}: {_with_source(words, limit)}", _grade(limit))
