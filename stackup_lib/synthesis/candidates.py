"""Candidate stackups: an order of layers filled with cores and prepregs that are sold. Lengths in mm."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Literal

from stackup_lib.frozen import Frozen
from stackup_lib.lines.buildup import Row, site_of
from stackup_lib.lines.sections import Mask
from stackup_lib.lines.site import LineSite
from stackup_lib.materials import copper_weights
from stackup_lib.materials.pressing import FacingCopper
from stackup_lib.planned import PlannedPly, PlannedRow, PlannedStackup, named
from stackup_lib.stackup import LayerKind
from stackup_lib.synthesis.arrange import Order
from stackup_lib.synthesis.constructions import DF_GHZ, DK_GHZ, Sold, cores_of, prepregs_of
from stackup_lib.synthesis.goals import Goals

SIGNAL_COVERAGE = 0.3
PLANE_COVERAGE = 0.8
"""Share of copper that a layer keeps, before any layout exists: engineering judgement."""

OUTER_COPPER_MM = 0.035
"""Finished: half-ounce foil, plated."""

SIGNAL_OZ = 0.5

MASK_MM = 0.0152
MASK_DK = 3.5
MASK_BESIDE = 2.0
"""Solder mask as a fab's calculator has it: 0.6 mil on copper and 1.2 beside; makers print a Dk of 3.3 to 3.8."""

_MASK = Mask(er=MASK_DK, on_laminate_mm=MASK_BESIDE * MASK_MM, on_trace_mm=MASK_MM, between_mm=MASK_BESIDE * MASK_MM)

EVEN = 1.5
"""A stripline's two dielectrics differ by at most this factor, or its loss is that of the nearer plane."""

Use = Literal["outer", "ground", "fast", "signal", "power"]
USES: dict[str, Use] = {"O": "outer", "G": "ground", "F": "fast", "S": "signal", "P": "power"}


class CandidateRow(Frozen):
    """One row, top to bottom.

    Attributes:
        kind: `mask`, `copper`, `core` or `prepreg`.
        use: of a copper layer.
        thickness_mm: of a prepreg pressed, of all plies; of copper finished.
        laminate: family of a dielectric.
        construction: what `catalogue().find` takes back to the row it came from; of one ply.
        plies: equal sheets of a dielectric.
        dk, df: at `dk_ghz` and `df_ghz`.
        foil: grade of the copper, "" when nobody asked for one.
        source: of the dielectric's figures.
    """

    kind: LayerKind
    name: str = ""
    use: Use | None = None
    thickness_mm: float
    laminate: str = ""
    construction: str = ""
    plies: int = 1
    dk: float | None = None
    dk_ghz: float = DK_GHZ
    df: float | None = None
    df_ghz: float = DF_GHZ
    copper_oz: float | None = None
    foil: str = ""
    source: str = ""

    @property
    def is_dielectric(self) -> bool:
        """True for core and prepreg."""
        return self.kind in (LayerKind.CORE, LayerKind.PREPREG)


class CandidateStackup(Frozen):
    """A stackup that can be built: symmetric, of constructions that are sold."""

    rows: tuple[CandidateRow, ...]
    order: Order

    @property
    def copper(self) -> tuple[CandidateRow, ...]:
        """Copper layers, top to bottom."""
        return tuple(r for r in self.rows if r.kind is LayerKind.COPPER)

    @property
    def dielectrics(self) -> tuple[CandidateRow, ...]:
        """Cores and prepregs, top to bottom."""
        return tuple(r for r in self.rows if r.is_dielectric)

    @property
    def laminates(self) -> tuple[str, ...]:
        """Families, in order of appearance."""
        return tuple(dict.fromkeys(r.laminate for r in self.dielectrics))

    @property
    def thickness_mm(self) -> float:
        """Sum of all rows, solder mask included."""
        return round(sum(r.thickness_mm for r in self.rows), 4)

    @property
    def name(self) -> str:
        """Short and unique within an answer."""
        return f"{len(self.order.layers)} layers {self.order.layers}, {' + '.join(self.laminates)}"

    def site(self, index: int) -> LineSite:
        """Return where a line on a copper layer runs, between the nearest planes."""
        copper, sheets = self.copper, self.dielectrics
        planes = [k for k, c in enumerate(copper) if c.use in ("ground", "power")]
        above = next((k for k in reversed(planes) if k < index), None)
        below = next((k for k in planes if k > index), None)
        is_outer = index in (0, len(copper) - 1)
        mask = _MASK if is_outer else None
        return site_of(
            copper[index].name,
            copper_mm=copper[index].thickness_mm,
            above=[_line_row(sheets[index - 1])] if index else [],
            below=[_line_row(sheets[index])] if index < len(sheets) else [],
            reference_above=None if above is None else copper[above].name,
            reference_below=None if below is None else copper[below].name,
            in_upper_half=2 * index < len(copper) - 1,
            mask=mask,
        )

    def stub_mm(self, index: int) -> float:
        """Return the via stub below a layer that is reached from the top, without backdrill."""
        at = next(k for k, r in enumerate(self.rows) if r.name == self.copper[index].name)
        return sum(r.thickness_mm for r in self.rows[at + 1 :] if r.kind is not LayerKind.MASK)


def to_planned(candidate: CandidateStackup) -> PlannedStackup:
    """Return the rows that can be written into a board file; a dielectric of two plies has two sublayers."""
    rows = []
    for row in candidate.rows:
        if row.kind is LayerKind.COPPER:
            power = "power" if row.use in ("ground", "power") else "signal"
            ply = PlannedPly(thickness_mm=row.thickness_mm)
            rows.append(
                PlannedRow.model_validate({"kind": row.kind, "name": row.name, "plies": (ply,), "layer_type": power})
            )
            continue
        each = PlannedPly(
            thickness_mm=round(row.thickness_mm / row.plies, 6), material=row.construction or None, dk=row.dk, df=row.df
        )
        rows.append(PlannedRow.model_validate({"kind": row.kind, "name": row.name, "plies": (each,) * row.plies}))
    return PlannedStackup(rows=tuple(rows), dielectric_constraints=True)


@cache
def copper_mm(oz: float) -> float:
    """Return the nominal thickness of an inner copper weight; of a weight nobody lists by 34.3 um per ounce."""
    listed = next((w.nominal_um for w in copper_weights() if w.oz == oz), 34.3 * oz)
    return round(listed / 1000, 4)


def closest(order: Order, family: str, goals: Goals, most: int = 2) -> tuple[CandidateStackup, ...]:
    """Return candidates of one laminate family, best closed to the thickness first; () where none comes within it.

    Dielectrics are chosen by their place: under the outer layers, beside fast layers, and the rest, which closes
    the sum. Mirrored places take the same choice.
    """
    choices = _choices(order, family, goals)
    if any(not c for c in choices.values()):
        return ()
    copper = sum(_copper_mm(order, k, goals) for k in range(len(order.layers))) + 2 * MASK_MM
    found: list[tuple[float, float, int, dict[str, tuple[Sold, dict[int, float]]]]] = []
    for number, chosen in enumerate(_combinations(choices)):
        total = copper + sum(sum(at.values()) for _, at in chosen.values())
        error = 0.0 if goals.thickness_mm is None else abs(total - goals.thickness_mm) / goals.thickness_mm
        if error <= goals.thickness_tolerance:
            found.append((_unease(chosen, error, goals), error, number, chosen))
    found.sort(key=lambda f: f[:3])
    return tuple(_build(order, chosen, goals) for _, _, _, chosen in found[:most])


def thickness_range_mm(order: Order, family: str, goals: Goals) -> tuple[float, float] | None:
    """Return the thinnest and thickest that an order can be built of a laminate, whatever the goal; None if not."""
    choices = _choices(order, family, goals)
    if any(not c for c in choices.values()):
        return None
    copper = sum(_copper_mm(order, k, goals) for k in range(len(order.layers))) + 2 * MASK_MM
    sums = [[sum(at.values()) for _, at in c] for c in choices.values()]
    return copper + sum(map(min, sums)), copper + sum(map(max, sums))


def _unease(chosen: dict[str, tuple[Sold, dict[int, float]]], error: float, goals: Goals) -> float:
    """Small is good: near the thickness, fast dielectrics alike and thick enough for a trace that can be etched."""
    means = {place: sum(at.values()) / len(at) for place, (_, at) in chosen.items()}
    unease = 4 * error
    core, prepreg = means.get("fast core"), means.get("fast prepreg")
    if core and prepreg:
        ratio = max(core, prepreg) / min(core, prepreg)
        unease += (ratio - 1) * 0.3 + (2 if ratio > EVEN else 0)
        unease += max(0.0, 0.1 - min(core, prepreg)) * 10 + max(0.0, max(core, prepreg) - 0.2) * 5
    unease += abs(means.get("outer", 0.08) - 0.08) * 2
    if goals.thickness_mm is None:
        unease += sum(max(0.0, m - 0.1) for m in means.values())
    return unease + 0.02 * sum(sold.plies - 1 for sold, _ in chosen.values())


def _place(order: Order, gap: int) -> str:
    last = len(order.gaps) - 1
    if gap in (0, last):
        return "outer" if not order.is_fast_gap(gap) else "fast prepreg"
    kind = "core" if order.gaps[gap] == "c" else "prepreg"
    return f"{'fast' if order.is_fast_gap(gap) else 'middle'} {kind}"


def _choices(order: Order, family: str, goals: Goals) -> dict[str, list[tuple[Sold, dict[int, float]]]]:
    places: dict[str, list[int]] = {}
    for gap in range(len(order.gaps)):
        places.setdefault(_place(order, gap), []).append(gap)
    return {
        place: list(
            _fitting(order, gaps, cores_of(family) if place.endswith("core") else prepregs_of(family), place, goals)
        )
        for place, gaps in sorted(places.items())
    }


def _fitting(
    order: Order, gaps: list[int], sold: tuple[Sold, ...], place: str, goals: Goals
) -> Iterator[tuple[Sold, dict[int, float]]]:
    """What fits in all gaps of a place, one per thickness, with the thickness in each gap."""
    seen: set[tuple[float, ...]] = set()
    copper = [_copper_mm(order, k, goals) for k in range(len(order.layers))]
    for one in sold:
        if place.startswith("fast") and not _meets_df(one, goals):
            continue
        at = {gap: one.pressed_mm(facing_copper(order, gap, copper)) for gap in gaps}
        pressed = {gap: t for gap, t in at.items() if t is not None}
        key = tuple(round(t, 3) for t in pressed.values())
        if len(pressed) < len(gaps) or min(pressed.values()) < goals.least_dielectric_mm or key in seen:
            continue
        if place != "middle core" and max(key) > 0.4:
            continue
        seen.add(key)
        yield one, pressed


def _meets_df(sold: Sold, goals: Goals) -> bool:
    limit = goals.df_limit
    if limit is None or sold.family in goals.named_laminates:
        return True
    from stackup_lib.materials import catalogue  # noqa: PLC0415 - only where a limit is given

    df = catalogue().find(sold.text).df_at(limit.at_ghz).value
    return df is not None and limit.is_met_by(df)


def _combinations(
    choices: dict[str, list[tuple[Sold, dict[int, float]]]],
) -> Iterator[dict[str, tuple[Sold, dict[int, float]]]]:
    """Every choice of every place; of places with many choices a spread of them, to keep the number small."""
    most = {1: 60, 2: 40, 3: 24, 4: 14}.get(len(choices), 8)
    lists = [(place, _spread(found, most)) for place, found in choices.items()]

    def deeper(
        k: int, so_far: dict[str, tuple[Sold, dict[int, float]]]
    ) -> Iterator[dict[str, tuple[Sold, dict[int, float]]]]:
        if k == len(lists):
            yield dict(so_far)
            return
        for one in lists[k][1]:
            so_far[lists[k][0]] = one
            yield from deeper(k + 1, so_far)

    yield from deeper(0, {})


def _spread(found: list[tuple[Sold, dict[int, float]]], most: int) -> list[tuple[Sold, dict[int, float]]]:
    if len(found) <= most:
        return found
    step = (len(found) - 1) / (most - 1)
    return [found[round(k * step)] for k in range(most)]


def _oz(order: Order, index: int, goals: Goals) -> float:
    kind = order.layers[index]
    return goals.power_copper_oz if kind == "P" else goals.ground_copper_oz if kind == "G" else SIGNAL_OZ


def _copper_mm(order: Order, index: int, goals: Goals) -> float:
    return OUTER_COPPER_MM if order.layers[index] == "O" else copper_mm(_oz(order, index, goals))


def facing_copper(order: Order, gap: int, thickness_mm: Sequence[float]) -> tuple[FacingCopper, ...]:
    """Return the copper that is pressed into a dielectric: that of cores, and foil that an earlier press bonded inside.

    `thickness_mm` is that of every copper layer.
    """
    if order.gaps[gap] == "c":
        return ()
    half = len(order.layers) / 2 - 0.5
    faces = []
    for index, other in ((gap, gap - 1), (gap + 1, gap + 1)):
        if not 0 <= other < len(order.gaps):
            continue
        is_inner = abs(index - half) < abs(gap + 0.5 - half)
        if order.gaps[other] == "c" or is_inner:
            coverage = PLANE_COVERAGE if order.layers[index] in "GP" else SIGNAL_COVERAGE
            faces.append(FacingCopper(thickness_mm=thickness_mm[index], coverage=coverage))
    return tuple(faces)


def _build(order: Order, chosen: dict[str, tuple[Sold, dict[int, float]]], goals: Goals) -> CandidateStackup:
    mask = CandidateRow(kind=LayerKind.MASK, thickness_mm=MASK_MM, dk=MASK_DK)
    rows = [mask]
    for index, kind in enumerate(order.layers):
        foil = goals.foil.value if goals.foil is not None and kind in "FG" else ""
        rows.append(
            CandidateRow(
                kind=LayerKind.COPPER,
                use=USES[kind],
                thickness_mm=_copper_mm(order, index, goals),
                copper_oz=_oz(order, index, goals),
                foil=foil,
            )
        )
        if index < len(order.gaps):
            sold, at = chosen[_place(order, index)]
            rows.append(dielectric_row(sold, at[index]))
    rows.append(mask)
    names = named(tuple(PlannedRow.model_validate({"kind": r.kind}) for r in rows))
    return CandidateStackup(
        rows=tuple(r.model_copy(update={"name": n.name}) for r, n in zip(rows, names, strict=True)), order=order
    )


def dielectric_row(sold: Sold, thickness_mm: float, name: str = "") -> CandidateRow:
    """Return the row of a core or prepreg with its pressed thickness."""
    return CandidateRow(
        kind=LayerKind.CORE if sold.kind == "core" else LayerKind.PREPREG,
        name=name,
        thickness_mm=round(thickness_mm, 4),
        laminate=sold.family,
        construction=sold.text,
        plies=sold.plies,
        dk=sold.dk,
        df=sold.df,
        source=sold.source,
    )


def _line_row(row: CandidateRow) -> Row:
    kind: Literal["core", "prepreg"] = "core" if row.kind is LayerKind.CORE else "prepreg"
    return Row(name=row.name, kind=kind, thickness_mm=row.thickness_mm, dk=row.dk)
