"""The target impedances of a board: one target per group of nets, or what the command line says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from drc_rules.analysis.impedance.impedance_table import LineTarget
from drc_rules.analysis.targets.controlled import (
    MOST,
    ControlledLine,
    NetTarget,
    controlled_lines,
    counted,
    nets_by_target,
)
from drc_rules.analysis.targets.targets import USUAL_TOLERANCE_PCT
from drc_rules.facts.context import Context
from drc_rules.requirements.interfaces import Interface, interface
from stackup_lib.transmission_lines.width_request import Target


def target_from_words(
    *,
    target_diff_ohm: float | None,
    target_se_ohm: float | None,
    gap_mm: float | None,
    coplanar_mm: float | None,
    interface_id: str | None,
    frequency_ghz: float | None,
) -> tuple[LineTarget, ...]:
    """Return the targets that the command line names; none when it names none.

    Raises:
        ConfigError: an unknown interface.
        GeometryError: a target that is no impedance.
    """
    named = interface(interface_id) if interface_id else None
    nyquist = frequency_ghz or (named.nyquist_ghz if named else None)
    found = []
    if target_diff_ohm is not None:
        target = Target(ohm=target_diff_ohm, kind="differential")
        found.append(
            LineTarget(
                title="--target-diff", target=target, nyquist_ghz=nyquist, gap_mm=gap_mm, coplanar_mm=coplanar_mm
            )
        )
    if target_se_ohm is not None:
        target = Target(ohm=target_se_ohm, kind="single")
        found.append(LineTarget(title="--target-se", target=target, nyquist_ghz=nyquist, coplanar_mm=coplanar_mm))
    if not found and named:
        of_line = {"gap_mm": gap_mm, "coplanar_mm": coplanar_mm, "nyquist_ghz": nyquist}
        found += [t.model_copy(update=of_line) for t in _of_interface(named)]
    return tuple(found)


def board_targets(ctx: Context) -> tuple[LineTarget, ...]:
    """Return the targets of the board's nets, the most routed first, each with its routed geometries by layer."""
    return _merged(_by_target(counted(ctx.get(controlled_lines))))


def every_target(ctx: Context) -> tuple[LineTarget, ...]:
    """Return the targets of all nets: those whose routing is too short to count, and of nets not routed yet, too."""
    lines = ctx.get(controlled_lines)
    groups = _by_target(counted(lines))
    short = _by_target(one for one in lines if not _runs_alone(one))
    return _merged({target: groups.get(target) or short.get(target, []) for target in ctx.get(nets_by_target)})


def ordered_targets(ctx: Context) -> tuple[LineTarget, ...]:
    """Return the targets of all that is routed: the fab builds lines that are too short for a verdict as well.

    Of a target without a line that counts, the geometry with most length on each layer that has much of it.
    """
    lines = ctx.get(controlled_lines)
    groups = _by_target(counted(lines))
    short = _by_target(one for one in lines if one.target not in groups and not _runs_alone(one))
    return _merged({**groups, **{target: usual for target, of in short.items() if (usual := _usual(of))}})


def _runs_alone(found: ControlledLine) -> bool:
    """Tell whether a line is a trace of a pair without the other one: it has no impedance of the pair."""
    return found.line.is_pair and found.line.gap_mm is None


def _usual(lines: Sequence[ControlledLine]) -> list[ControlledLine]:
    lengths: dict[int, dict[tuple[float, float | None], float]] = {}
    for line in (found.line for found in lines):
        of_layer = lengths.setdefault(line.layer, {})
        key = line.width_mm, line.gap_mm
        of_layer[key] = of_layer.get(key, 0.0) + line.length_mm
    most = {layer: max(of.items(), key=lambda item: item[1])[0] for layer, of in lengths.items()}
    longest = max(lengths[layer][key] for layer, key in most.items())
    return [
        found
        for found in lines
        if most[found.line.layer] == (found.line.width_mm, found.line.gap_mm)
        and lengths[found.line.layer][most[found.line.layer]] >= MOST * longest
    ]


def class_target(ctx: Context, net_class: str, *, is_pair: bool) -> LineTarget | None:
    """Return the target of most nets of a class, as pairs or as single lines; None where none has one."""
    kind, classes_of = "differential" if is_pair else "single", ctx.board.project.net_classes_of
    nets = {
        target: sum(net_class in (classes_of.get(ctx.board.nets[net]) or ("Default",)) for net in of_target)
        for target, of_target in ctx.get(nets_by_target).items()
        if target.kind == kind
    }
    most = max(nets, key=lambda target: nets[target], default=None)
    return _of_group(most, ()) if most and nets[most] else None


def _by_target(lines: Iterable[ControlledLine]) -> dict[NetTarget, list[ControlledLine]]:
    groups: dict[NetTarget, list[ControlledLine]] = {}
    for found in lines:
        groups.setdefault(found.target, []).append(found)
    return groups


def _merged(groups: Mapping[NetTarget, Sequence[ControlledLine]]) -> tuple[LineTarget, ...]:
    merged: dict[tuple[Target, float | None], LineTarget] = {}
    for one in (_of_group(target, lines) for target, lines in groups.items()):
        key = (one.target, one.nyquist_ghz)
        merged[key] = _together(merged[key], one) if key in merged else one
    return tuple(sorted(merged.values(), key=lambda t: -sum(line.length_mm for line in t.routed)))


def _together(a: LineTarget, b: LineTarget) -> LineTarget:
    """Join equal targets at the same frequency."""
    title = ", ".join(dict.fromkeys((*a.title.split(", "), *b.title.split(", "))))
    source = ", ".join(dict.fromkeys((*a.source.split(", "), *b.source.split(", "))))
    tolerance = min(a.tolerance_pct, b.tolerance_pct)
    routed = (*a.routed, *b.routed)
    return a.model_copy(update={"title": title, "source": source, "tolerance_pct": tolerance, "routed": routed})


def _of_group(target: NetTarget, lines: Sequence[ControlledLine]) -> LineTarget:
    layers = sorted({found.line.layer for found in lines})
    return LineTarget(
        title=", ".join(dict.fromkeys(map(target.title_on, layers))) or target.title,
        target=Target(ohm=target.ohm, kind=target.kind),
        nyquist_ghz=target.nyquist_ghz,
        source=", ".join(dict.fromkeys(map(target.source_on, layers))) or target.source,
        tolerance_pct=target.tolerance_pct,
        routed=tuple(found.line for found in lines),
    )


def _of_interface(one: Interface) -> Iterator[LineTarget]:
    tolerance = one.impedance_tolerance_pct or USUAL_TOLERANCE_PCT
    if one.impedance_diff_ohm is not None:
        target = Target(ohm=one.impedance_diff_ohm, kind="differential")
        source = one.document_of("impedance_diff_ohm")
        yield LineTarget(
            title=one.title, target=target, nyquist_ghz=one.nyquist_ghz, source=source, tolerance_pct=tolerance
        )
    if one.impedance_single_ohm is not None:
        target = Target(ohm=one.impedance_single_ohm, kind="single")
        source = one.document_of("impedance_single_ohm")
        yield LineTarget(
            title=one.title, target=target, nyquist_ghz=one.nyquist_ghz, source=source, tolerance_pct=tolerance
        )
