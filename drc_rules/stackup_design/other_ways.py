"""What helps a stackup that no swap of rows fixes, as text: more layers, or links on layers that have the laminate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from drc_rules.facts.context import Context
from drc_rules.stackup_design.stackup_fixes import OF_FAST_LAYERS, FailedClause
from stackup_lib.board.stackup import LayerKind
from stackup_lib.core.words import listed
from stackup_lib.materials import FoilGrade, catalogue
from stackup_lib.synthesis import CandidateRow, CandidateStackup, Goals


def other_ways(
    current: CandidateStackup, failed: Sequence[FailedClause], ctx: Context, goals: Goals
) -> tuple[str, ...]:
    """Return what the layout has to follow: layers to add, layers to move links to."""
    return tuple(dict.fromkeys((*_more_layers(current, failed, goals), *_moved_links(current, failed, ctx, goals))))


def _more_layers(current: CandidateStackup, failed: Sequence[FailedClause], goals: Goals) -> Iterator[str]:
    """Add layers in pairs at the middle: of the core, prepreg and copper there now, where that can be drilled."""
    least = max((int(one.clause.limit.min or 0) for one in failed if one.clause.kind == "layer_count"), default=0)
    missing = least - len(current.copper)
    if missing <= 0:
        return
    pairs, middle = (missing + 1) // 2, len(current.dielectrics) // 2
    nearest = sorted(range(len(current.dielectrics)), key=lambda gap: abs(gap - middle))
    parts = [
        next((current.dielectrics[gap] for gap in nearest if current.dielectrics[gap].kind is kind), None)
        for kind in (LayerKind.CORE, LayerKind.PREPREG)
    ]
    inner = current.copper[middle]
    text = f"add {pairs} pair{'s' * (pairs > 1)} of layers in the middle, {least} in all"
    rows = [row for row in parts if row is not None]
    if len(rows) == len(parts):
        added = pairs * (2 * inner.thickness_mm + sum(row.thickness_mm for row in rows))
        made, then_mm = " and ".join(_described(row) for row in rows), current.thickness_mm + added
        if then_mm > goals.max_aspect_ratio * goals.drill_mm:
            too_thick = f"too thick for a drill of {goals.drill_mm:g} mm"
            yield f"{text}, of thinner rows: as there now, they make {then_mm:.2f} mm, {too_thick}"
            return
        text += f": each {made} with {inner.thickness_mm:g} mm copper, as there now"
        text += f"; {current.thickness_mm:.2f} -> {then_mm:.2f} mm, less with thinner ones"
    yield text


def _described(row: CandidateRow) -> str:
    sheets = f"{row.plies} x " if row.plies > 1 else ""
    return f"{sheets}{row.construction or row.kind.value} {row.thickness_mm:g} mm"


def _moved_links(
    current: CandidateStackup, failed: Sequence[FailedClause], ctx: Context, goals: Goals
) -> Iterator[str]:
    """Name the signal layers between planes whose dielectrics and foil meet what others of the links' layers fail."""
    at_fault = {name for one in failed if one.clause.kind in OF_FAST_LAYERS for name in one.names}
    titles = [one.title for one in ctx.assignment.fast_interfaces()]
    if not at_fault or not titles:
        return
    bad = [row.name for k, row in enumerate(current.copper) if row.use == "fast" and _lies_in(current, k, at_fault)]
    good = [
        (row.name, current.dielectrics[k - 1].laminate)
        for k, row in enumerate(current.copper)
        if row.use in ("fast", "signal") and _is_stripline(current, k) and _is_good(current, k, goals)
    ]
    if bad and good:
        laminates = listed(list(dict.fromkeys(family for _, family in good)))
        layers = listed([name for name, _ in good])
        yield f"route the links of {listed(bad)} on {layers}, in {laminates}: nothing in the stackup changes"


def _lies_in(current: CandidateStackup, index: int, names: set[str]) -> bool:
    adjacent = {row.name for row in current.dielectrics[max(index - 1, 0) : index + 1]}
    return bool(names & {current.copper[index].name, *adjacent})


def _is_stripline(current: CandidateStackup, index: int) -> bool:
    sides = [current.copper[k].use for k in (index - 1, index + 1) if 0 <= k < len(current.copper)]
    return len(sides) == 2 and set(sides) <= {"ground", "power"}


def _is_good(current: CandidateStackup, index: int, goals: Goals) -> bool:
    foil = current.copper[index].foil
    if goals.foil is not None and (not foil or FoilGrade(foil).rank < goals.foil.rank):
        return False
    limit = goals.df_limit
    for row in current.dielectrics[index - 1 : index + 1] if limit else ():
        df = catalogue().find(row.construction).df_at(limit.at_ghz).value if limit else None
        meets = df is not None and limit is not None and limit.is_met_by(df)
        if not meets and row.laminate not in goals.named_laminates:
            return False
    return True
