"""A routed width and gap does not have the target impedance of its nets.

What it checks
--------------
Every width, gap and layer in which controlled nets are routed, between the nearest filled copper above and below the
middle of each track, solved with the stackup's thicknesses and Dk by the two-dimensional field solver; where the traces
of a pair have two widths, with both. Fills on the track's own layer, nearer than three heights over its plane, are in
the model where they are on both sides at one distance for most of the run; where they are on one side or change their
distance, the line is solved with them and without, and passes or fails only where both do. It passes where the nominal
impedance is within the target's tolerance, and is not verifiable there where the two widths differ by more than etching
changes one (20 %). Outside, it fails only where it stays outside over the whole range of unknown inputs: a Dk without
its frequency, the etch taper, the finished copper of outer layers, thickness and Dk of the solder mask, each computed
for that line. Between the two it is not verifiable, and the report names the causes, the largest first, with the lines
of `[process]` and `[declared]` that settle it. Declared values add no uncertainty. Where a document accepts a range,
the nearest value counts; where it states a least and a most impedance, as for PCIe Gen1 and Gen2, these decide in place
of a tolerance; where not every generation has either and the generation is not known, it is not verifiable. Pairs of
unknown generation of a family whose generations differ (USB 3, DisplayPort, Ethernet SerDes, NVLink, UALink) fail where
no generation accepts their impedance, and are not verifiable otherwise; of memory each controller has its own, and
transceivers of programmable logic carry any protocol. A miss is a warning where no document states the interface's
impedance, or within the 10 % that fabs hold as a rule where the interface allows less. A target that the name of a net
class or design rule states is a warning, too, unless the line also misses what the document of the declared interface
requires. Runs of one width, gap and pair of planes shorter than a tenth of a wavelength at Nyquist (at least 1 mm) are
ignored: neck-downs, breakouts, and the bumps that even out a pair. They do not add up, unless they are most of a net's
routing on a layer and longer than two of them; a net of more than four such lengths, of which none counts, is not
verifiable. Nets with a target that join pads without a track, nets declared as pairs whose names make none, and nets
declared as GDDR6 or GDDR7, of which no document states an impedance, are not verifiable. Nor are broadside pairs, on
two layers without a plane between, nor outer lines over which the layout opens the solder mask that the stackup has, by
graphics, zones or tracks without mask, nor lines next to a hatched fill. Of DDR5, LPDDR3 and LPDDR5 only AMD's guides
are known: next to controllers of others a miss is a warning; the value of their own guide is stated in `[[impedance]]`.
`stackwright impedance` prints the production spread.

Why it matters
--------------
The fab centres what is ordered: when the nominal geometry is off, the whole tolerance is used up on one side, and every
layer change is a step that reflects.

How to fix
----------
Use the width (and gap) that the finding names, or another dielectric thickness; `stackwright impedance` gives the
geometry for every layer and target.

What it cannot see
------------------
Fills count as grounded; guard tracks are ignored. `diff` solves lines without fills next to them. Planes count as
endless. Neighbouring pairs, vias, pads and bends are not computed, short pieces not judged. Mask openings in
footprints pass.

Sources
-------
Targets: the interface's own document. The solver agrees with exact solutions within 0.01 %; see `stackwright validate`.
The 10 % without a stated tolerance is what fabs hold on a coupon. Ranges of unknown inputs: Dk to 2 % (laminates lose 1
to 3 % from 1 to 10 GHz), the assumed taper to a half (fabs' calculators: 0.5 mil inside, 0.6 to 0.7 mil outside), outer
copper up to 43.2 um, mask of 10 to 25 um on copper and on laminate from that on copper to 30.5 um, its Dk from 3.3 to
3.9 (published by OSH Park, JLCPCB, AISLER, Eurocircuits), the mask's outline 0.3 %. They are added up. Where only the
mask on copper is stated, the nominal value has twice that on laminate, which is then the most.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from drc_rules.analysis.lines.bare_lines import bare_mm
from drc_rules.analysis.lines.broadside_pairs import ASK_THE_FAB, BROADSIDE, is_broadside
from drc_rules.analysis.lines.hatched_planes import FILL_SOLID, hatched_mm
from drc_rules.analysis.lines.routed import ROUNDING_MM, RoutedLine, joined
from drc_rules.analysis.lines.routed_impedance import RoutedImpedance, routed_impedance, routed_uncertainty
from drc_rules.analysis.lines.solved_lines import Lines, production_process
from drc_rules.analysis.lines.uncertainty import LineUncertainty
from drc_rules.analysis.targets.controlled import (
    ControlledLine,
    NetTarget,
    Unjudged,
    controlled_lines,
    counted,
    lines_of_any_generation,
    unjudged,
)
from drc_rules.facts.context import NO_PLANE, Context
from drc_rules.facts.guesses import generation_of
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause, Severity
from drc_rules.rules.advice import source_of, width_command
from drc_rules.rules.impedance._model import (
    FORMULA,
    Judged,
    answer_of_command,
    declared_target,
    judged,
    line_numbers,
    of_another_maker,
    target_ids,
)
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.interval import Standing

UNMASK_ALL = """[process]
mask_over_copper_um = 0  # judges all outer lines as bare; or close the mask over these tracks"""
ONE_MAKERS = (
    ". The target is from a guide to one maker's controllers, none of which is here: [[impedance]] states another"
)


def _lines(ctx: Context, _clause: Clause) -> Iterator[ControlledLine | Unjudged]:
    hidden: dict[str, list[int]] = {}
    yield from _once_per_pair(_next_to_each_other(ctx, hidden))
    for title, nets in hidden.items():
        what = f"impedance of {title}, {_some(ctx, nets)}: {BROADSIDE}"
        yield Unjudged(MissingFact(what, ASK_THE_FAB))
    yield from unjudged(ctx)


def _next_to_each_other(ctx: Context, hidden: dict[str, list[int]]) -> Iterator[ControlledLine]:
    """Yield the lines that count without pairs that run broadside; these are put aside, by their target."""
    for one in counted((*ctx.get(controlled_lines), *ctx.get(lines_of_any_generation))):
        apart = [net for net in one.line.nets if is_broadside(ctx, one.line, net)]
        lengths = {n: mm for n, mm in zip(one.line.nets, one.line.net_lengths_mm, strict=True) if n not in apart}
        if not apart:
            yield one
            continue
        title = one.target.title_on(one.line.layer)
        hidden.setdefault(title, []).extend(net for net in apart if net not in hidden.get(title, []))
        if any(mm > 2 * (one.target.lumped_mm + ROUNDING_MM) for mm in lengths.values()):
            left = {"length_mm": sum(lengths.values()), "longest_mm": max(lengths.values()), "nets": tuple(lengths)}
            line = one.line.model_copy(update={**left, "net_lengths_mm": tuple(lengths.values())})
            yield replace(one, line=line)


def _some(ctx: Context, nets: list[int]) -> str:
    names = sorted(ctx.board.nets[net] for net in nets)
    return " and ".join(names) if len(names) < 3 else f"{names[0]} and {len(names) - 1} more"


def _once_per_pair(found: Iterable[ControlledLine]) -> Iterator[ControlledLine]:
    """Yield the lines; of a pair whose traces have two widths the narrower, with the nets and lengths of both."""
    unlike: dict[tuple[object, ...], list[ControlledLine]] = {}
    for one in found:
        if one.line.other_mm is None:
            yield one
        else:
            widths = tuple(sorted((one.line.width_mm, one.line.other_mm)))
            key = (one.target, one.line.layer, one.line.gap_mm, one.line.references, widths)
            unlike.setdefault(key, []).append(one)
    for alike in unlike.values():
        narrow = min(alike, key=lambda one: one.line.width_mm)
        lines = [one.line for one in alike]
        both = {
            "length_mm": sum(line.length_mm for line in lines),
            "nets": tuple(sorted({n for x in lines for n in x.nets})),
            "near_fill": joined(line.near_fill for line in lines),
        }
        yield replace(narrow, line=narrow.line.model_copy(update=both))


@rule("IMP002", kinds=("routed_impedance",), over=_lines, formula=FORMULA, reads_fills=True, slow_objects=True)
def off_target_impedance(ctx: Context, _clause: Clause, found: ControlledLine | Unjudged) -> Iterator[DraftFinding]:
    """Yield one finding per geometry that is off target by more than tolerance and what is not known together.

    One that misses by less than that is an open question.
    """
    if isinstance(found, Unjudged):
        raise found.lacks
    line, target = found.line, found.target
    names = [layer.name for layer in ctx.board.copper_layers]
    where = f"{target.title_on(line.layer)} on {names[line.layer]}"
    solved, unknown = _impedance(ctx, found, where)
    ohm = solved.ohm
    _, shown = _sizes(line)
    held = judged(ctx, target, solved, unknown)
    if held.lacks is not None:
        raise held.lacks
    if target.any_of and held.standing is not Standing.BEYOND:
        raise generation_of(ctx, target.any_of)
    near = held.target
    ctx.shows(
        f"{where}, {shown} for {line.length_mm:.0f} mm",
        **line_numbers(ctx, line.layer, line.references),
        Z=ohm,
        w=line.width_mm,
        s=line.gap_mm or math.inf,
        d=line.near_fill.near_mm if line.near_fill is not None else math.inf,
        Z_0=near.ohm,
        p_tol=held.allowed_pct,
        u=held.toward_pct,
    )
    if held.standing is Standing.WITHIN:
        if _is_unbalanced(line):
            what = f"whether {where}, {shown}, is balanced: {ohm:.1f} ohm is right, but its widths differ"
            raise MissingFact(what, "in the layout, give both traces one width: no declaration decides it")
        return
    if held.standing is Standing.UNSURE:
        raise held.open_question(f"{where}, {shown}")
    required = _missed_too(ctx, found, solved, unknown)
    if required is not None:
        ctx.rests_on(required.confidence)
    elif target.inferred:
        ctx.doubt(generation_of(ctx, target.any_of) if target.any_of else declared_target(ctx, target))
    yield _draft(ctx, found, held, required)


def _draft(ctx: Context, found: ControlledLine, held: Judged, required: NetTarget | None) -> DraftFinding:
    """Return the finding of a line that misses its target, and maybe what its document requires."""
    line, target, near, ohm = found.line, found.target, held.target, held.solved.ohm
    names, (size, shown) = [layer.name for layer in ctx.board.copper_layers], _sizes(line)
    planes = [names[plane] if plane is not None else "" for plane in line.references]
    kind = "differential" if target.kind == "differential" else "single-ended"
    apart = ", traces uncoupled" if line.is_pair and line.gap_mm is None else ""
    is_others = of_another_maker(ctx, target, line.nets)
    command = width_command(ctx, near, line.layer, line.references, gap_mm=line.gap_mm, near_fill=line.near_fill)
    return DraftFinding(
        title=(
            f"impedance {ohm:.0f} ohm {kind}, {_against(held)}: "
            f"{target.title_on(line.layer)} on {names[line.layer]}, {shown}{apart}"
        ),
        why=(
            f"{line.length_mm:.0f} mm of {len(line.nets)} nets have this geometry. The value is "
            f"nominal, before any fab tolerance{ONE_MAKERS if is_others else ''}"
        ),
        fix=f"{'Change the width' if line.other_mm is None else 'Give both traces one width'}: "
        f"{command} {answer_of_command(ctx, line.layer, line.gap_mm, near.ohm)}",
        source="; ".join(source_of(one) for one in (required, target) if one is not None),
        ids=(*target_ids(target), names[line.layer], *size, *planes),
        measured=Measured(value=round(ohm, 2), unit="ohm"),
        limit_value=_bound(held) if target.any_of else near.ohm,
        places=tuple(Location(layer=names[line.layer], net=ctx.board.nets[net]) for net in line.nets[:20]),
        inferred=target.inferred and required is None,
        severity=Severity.WARNING
        if required is None and (is_others or abs(held.off_pct) <= target.error_pct)
        else None,
    )


def _against(held: Judged) -> str:
    """Return by how much a line misses its target, or what no generation of its family accepts."""
    target, ohm = held.target, held.ohm.nominal
    if not target.any_of:
        return f"{held.off_pct:+.0f} % from {target.ohm:g} ohm, {target.allowed_words}"
    return f"no generation accepts {'more' if ohm > target.ohm else 'less'} than {_bound(held):g} ohm"


def _bound(held: Judged) -> float:
    low, high = held.target.allowed_ohm
    return high if held.ohm.nominal > held.target.ohm else low


def _missed_too(
    ctx: Context, found: ControlledLine, solved: RoutedImpedance, unknown: LineUncertainty
) -> NetTarget | None:
    """Return what the declared interface's document requires, where a line that misses its name's misses it too."""
    required = found.target.required
    if required is None or of_another_maker(ctx, required, found.line.nets):
        return None
    held = judged(ctx, required, solved, unknown)
    is_error = held.lacks is None and held.standing is Standing.BEYOND and abs(held.off_pct) > required.error_pct
    return required if is_error else None


def _sizes(line: RoutedLine) -> tuple[tuple[str, ...], str]:
    """Return the sizes of a line as ids of its finding, and as they are shown."""
    size = f"{line.width_mm:g}" + (f"/{line.gap_mm:g}" if line.gap_mm is not None else "")
    fill = (str(line.near_fill),) if line.near_fill is not None else ()
    if line.other_mm is None:
        return (size, *fill), ", ".join((f"{size} mm", *fill))
    both = f"traces of {line.width_mm:g} and {line.other_mm:g} mm, gap {line.gap_mm:g} mm"
    return (f"{size} next to {line.other_mm:g}", *fill), ", ".join((both, *fill))


def _is_unbalanced(line: RoutedLine) -> bool:
    """Tell whether the widths of a pair's traces differ by more than etching changes one at fabs in general."""
    if line.other_mm is None:
        return False
    return abs(line.other_mm - line.width_mm) > production_process().width.relative * min(line.other_mm, line.width_mm)


def _longer(found: ControlledLine, lengths_mm: Mapping[tuple[int, int], float]) -> list[int]:
    """Return the nets of a line that have more of some length on its layer than a breakout."""
    most = found.target.lumped_mm + ROUNDING_MM
    return [net for net in found.line.nets if lengths_mm.get((found.line.layer, net), 0.0) > most]


def _impedance(ctx: Context, found: ControlledLine, where: str) -> tuple[RoutedImpedance, LineUncertainty]:
    """Solve it, with what is not known of it; raises `MissingFact` where it cannot be."""
    if found.line.references == (None, None):
        raise MissingFact(f"the plane under {where}", NO_PLANE)
    if opened := _longer(found, ctx.get(bare_mm)):
        what = f"impedance of {where}: the layout opens the solder mask over {_some(ctx, opened)}"
        raise MissingFact(what, UNMASK_ALL)
    if hatched := _longer(found, ctx.get(hatched_mm)):
        raise MissingFact(f"impedance of {where}: the plane next to {_some(ctx, hatched)} is hatched", FILL_SOLID)
    if not found.target.inferred:  # what is only inferred can never be an error, so nothing rests on it
        ctx.rests_on(found.target.confidence)
    try:
        return routed_impedance(Lines(ctx), found.line), routed_uncertainty(Lines(ctx), found.line)
    except StackwrightError as error:
        raise MissingFact(f"impedance of {where} ({error.what})", error.next_step) from error
