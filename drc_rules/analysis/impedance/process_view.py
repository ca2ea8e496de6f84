"""The process that a report's impedances rest on, in numbers and in one line: what is declared, what is assumed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from drc_rules.analysis.lines.routed_impedance import routed_uncertainty
from drc_rules.analysis.lines.sites import BoardSite
from drc_rules.analysis.lines.solved_lines import Lines
from drc_rules.analysis.lines.uncertainty import Cause, LineUncertainty
from drc_rules.analysis.targets.controlled import controlled_lines, counted
from drc_rules.facts.board_process import Number
from drc_rules.facts.context import Context
from drc_rules.report.process_rows import ProcessNumber, ProcessView
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.facts import MissingFact

OF_THE_PROCESS = frozenset(
    {Cause.TAPER, Cause.OUTER_COPPER, Cause.MASK, Cause.MASK_DK, Cause.MASK_OUTLINE},
)
"""Causes that `[process]` settles, and the outline of the mask; Dk is the laminate's."""


INNER_TAPER, OUTER_TAPER, OUTER_COPPER = "inner etch taper", "outer etch taper", "outer copper"
MASK_OVER_COPPER, MASK_OVER_LAMINATE, NO_MASK = "mask over copper", "mask over laminate", "mask"
MASK_DK, MASK_DF = "mask Dk", "mask Df"

Line = tuple[BoardSite, LineUncertainty]


def process_view(ctx: Context) -> ProcessView | None:
    """Return the process behind the lines whose impedance is judged; None where there are none."""
    with ctx.recording():  # it is shown, and decides nothing
        return view_of(ctx, _lines(ctx))


def view_of(ctx: Context, lines: Iterable[Line]) -> ProcessView | None:
    """Return the process behind these lines; None without any."""
    known = list(lines)
    inner = [one for one in known if not one[0].site.is_outer]
    outer = [one for one in known if one[0].site.is_outer]
    if not known:
        return None
    numbers = (*_inner_numbers(ctx, inner), *_outer_numbers(ctx, outer))
    preset = ctx.process.declared.from_preset
    shares = {"an inner": _worst(inner), "an outer": _worst(outer)}
    return ProcessView(
        preset=preset.fab if preset else "",
        numbers=numbers,
        inner_pct=shares["an inner"][0] if shares["an inner"] else None,
        outer_pct=shares["an outer"][0] if shares["an outer"] else None,
        inner_total_pct=shares["an inner"][1] if shares["an inner"] else None,
        outer_total_pct=shares["an outer"][1] if shares["an outer"] else None,
        line=_line(preset.fab if preset else "", shares, numbers),
    )


def _lines(ctx: Context) -> Iterator[Line]:
    for found in counted(ctx.get(controlled_lines)):
        line = found.line
        try:
            where = Lines(ctx).site(line.layer, line.references)
            yield where, routed_uncertainty(Lines(ctx), line)
        except (MissingFact, StackwrightError):
            continue


def _worst(lines: Iterable[Line]) -> tuple[float, float] | None:
    """Return what the process, and what everything, leaves open of the least known line."""
    pairs = [(_of_process(one), one.total_pct) for _, one in lines]
    return (max(a for a, _ in pairs), max(b for _, b in pairs)) if pairs else None


def _of_process(one: LineUncertainty) -> float:
    mine = [part for part in one.contributions if part.cause in OF_THE_PROCESS]
    return max(-sum(part.low_pct for part in mine), sum(part.high_pct for part in mine), 0.0)


def _inner_numbers(ctx: Context, lines: list[Line]) -> Iterator[ProcessNumber]:
    if lines:
        taper = ctx.process.taper_mm(lines[0][0].site.copper_mm, outer=False)
        yield _um(INNER_TAPER, taper)


def _outer_numbers(ctx: Context, lines: list[Line]) -> Iterator[ProcessNumber]:
    if not lines:
        return
    where, process = lines[0][0], ctx.process
    yield _um(OUTER_TAPER, process.taper_mm(where.site.copper_mm, outer=True))
    copper = process.outer_copper_mm(where.index)
    yield _um(OUTER_COPPER, copper or Number(where.site.copper_mm, is_stated=False, source="the stackup's copper row"))
    mask = process.mask(top=where.index == 0)
    if mask is None:
        text = "declared bare" if process.is_declared_bare else "no mask row in the stackup"
        yield ProcessNumber(name=NO_MASK, value=0.0, unit="um", stated=process.is_declared_bare, source=text)
        return
    yield _um(MASK_OVER_COPPER, mask.over_copper_mm)
    yield _um(MASK_OVER_LAMINATE, mask.over_laminate_mm)
    for name, one in ((MASK_DK, mask.dk), (MASK_DF, mask.df)):
        yield ProcessNumber(name=name, value=one.value, stated=one.is_stated, source=one.source)


def _um(name: str, one: Number) -> ProcessNumber:
    value = round(1000 * one.value, 3)
    return ProcessNumber(name=name, value=value, unit="um", stated=one.is_stated, source=one.source)


def _line(preset: str, shares: dict[str, tuple[float, float] | None], numbers: tuple[ProcessNumber, ...]) -> str:
    """Return the process in one line; what is assumed has a star."""
    known = {one.name: one for one in numbers}
    inner = [f"inner etch taper {_star(known[INNER_TAPER])}"] if INNER_TAPER in known else []
    outer = []
    if OUTER_TAPER in known:
        outer = [f"outer etch taper {_star(known[OUTER_TAPER])}", f"copper {_star(known[OUTER_COPPER])}"]
        outer.append(_mask_words(known))
    parts = []
    for which, words in (("an inner", inner), ("an outer", outer)):
        share = shares[which]
        if share is not None:
            parts.append(f"{', '.join(words)}: +-{share[0]:.1f} % of {which} impedance")
    said = f"{f'{preset}, ' if preset else ''}{'; '.join(parts)}"
    return f"{said}; * assumed, [process] declares it" if "*" in said else said


def _mask_words(known: dict[str, ProcessNumber]) -> str:
    if NO_MASK in known:
        return f"no mask{'' if known[NO_MASK].stated else '*'}"
    over, adjacent, dk = (known[name] for name in (MASK_OVER_COPPER, MASK_OVER_LAMINATE, MASK_DK))
    return f"mask {_star(over, '')}/{_star(adjacent)} Dk {_star(dk)}"


def _star(one: ProcessNumber, unit: str | None = None) -> str:
    unit = one.unit if unit is None else unit
    return f"{one.value:.3g}{'' if one.stated else '*'} {unit}".strip()
