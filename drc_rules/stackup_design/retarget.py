"""A board's controlled lines in a fab's stackup: a plan with the fab's rows, process, widths, gaps, and the rerouting.

Lengths are millimetres.
"""

from collections.abc import Iterable, Iterator

from drc_rules.analysis.impedance.board_targets import board_targets
from drc_rules.analysis.impedance.impedance_table import ImpedanceRow, ImpedanceTable, Routed
from drc_rules.analysis.impedance.kicad_forms import DIGITS, profile_lines
from drc_rules.analysis.lines.solved_lines import Lines
from drc_rules.analysis.targets.controlled import NetTarget, nets_by_target
from drc_rules.fab_exchange.named_match import planned_from_named
from drc_rules.facts.context import Context
from drc_rules.requirements.fabs import Tier, track_space
from drc_rules.requirements.fabs.stackups.model import NamedStackup
from drc_rules.stackup_design.plan_file import Plan, PlanPly, PlanRow
from stackup_lib.board.board import Board, LayerKind, TuningProfile
from stackup_lib.board.planned import PlannedClass, PlannedRow, PlannedRule, PlannedTuning
from stackup_lib.core.frozen import Frozen
from stackup_lib.core.record import record
from stackup_lib.core.words import count
from stackup_lib.materials import catalogue, ounce_class
from stackup_lib.transmission_lines.width_request import Target

HALF_DIGIT_MM = 0.00005
"""Solved sizes are rounded by so much."""


class Reroute(Frozen):
    """Copper of one target on one layer that is off its target in the new stackup.

    Attributes:
        impedance_ohm: of the copper as it is, in the new stackup; None where it cannot be solved.
        new_width_mm, new_gap_mm: what meets the target there; None where nothing does.
        problem: why nothing does.
    """

    title: str
    target: Target
    layer: str
    length_mm: float
    width_mm: float
    gap_mm: float | None
    impedance_ohm: float | None
    tolerance_pct: float
    new_width_mm: float | None
    new_gap_mm: float | None
    problem: str = ""


@record
class RetargetedLines:
    """What the controlled lines of a board become in another stackup.

    Attributes:
        rows: every target on every signal layer.
        without_class: by target, how many of its nets are in no net class, for which KiCad has no rule.
    """

    rows: tuple[ImpedanceRow, ...]
    net_class: tuple[PlannedClass, ...]
    rule: tuple[PlannedRule, ...]
    tuning: tuple[PlannedTuning, ...]
    reroute: tuple[Reroute, ...]
    without_class: tuple[str, ...]


def stackup_plan(board: Board, stackup: NamedStackup) -> Plan:
    """Return the plan of a named stackup's rows, with the fab's process.

    Raises:
        ConfigError: another number of copper layers, or rows without a thickness.
    """
    planned = planned_from_named(board, stackup)
    copper = [row.name for row in planned.rows if row.kind is LayerKind.COPPER]
    weights = dict(zip(copper[1:-1], stackup.copper[1:-1], strict=True))
    types = {layer.name: layer.kicad_type for layer in board.copper_layers}
    return Plan(
        note=f"{stackup.order}, {stackup.edition.title}, {stackup.edition.date.isoformat()}",
        copper_finish=planned.copper_finish,
        impedance_controlled=True,
        edge_connector=planned.edge_connector,
        edge_plating=planned.edge_plating,
        process=stackup.edition.process or None,
        rows=tuple(
            _plan_row(row, weights[row.name].weight_oz if row.name in weights else None, types.get(row.name, "signal"))
            for row in planned.rows
        ),
    )


def _plan_row(row: PlannedRow, weight_oz: float | None, layer_type: str) -> PlanRow:
    """The row of a plan; the fab's weight of an outer layer is finished copper, not the foil that a plan declares."""
    sheets = tuple(
        PlanPly(
            thickness_mm=ply.thickness_mm,
            material=ply.material,
            laminate=_family(ply.material) if row.kind in (LayerKind.CORE, LayerKind.PREPREG) else None,
            dk=ply.dk,
            df=ply.df,
        )
        for ply in row.plies
    )
    own = sheets[0].model_dump() if len(sheets) == 1 else {"plies": sheets}
    known = layer_type in ("signal", "power", "mixed", "jumper")
    stated = {"kind": row.kind.value, "name": row.name, "copper_oz": weight_oz, **own}
    return PlanRow.model_validate({**stated, "layer_type": layer_type if known else "signal"})


def _family(material: str | None) -> str | None:
    found = catalogue().find(material or "").laminate
    return None if found is None else found.family


def retargeted_lines(after: Context, layers: Iterable[int]) -> RetargetedLines:
    """Solve every controlled class on every signal layer of a board that has the new stackup.

    Args:
        after: the board with the new stackup and the fab's process.
        layers: indices of its signal layers.

    Raises:
        MissingFact: no reference plane is known: the zones are not filled.
    """
    lines = Lines(after)
    where = tuple(layers)
    targets = board_targets(after)
    rows = tuple(ImpedanceTable(lines).rows(where, targets))
    classes, loose = _classes_of(after)
    allowed = _allowed_ohm(after)
    rules = tuple(_rules(after, rows, classes, allowed))
    return RetargetedLines(
        rows=rows,
        net_class=tuple(_net_classes(rules, rows)),
        rule=rules,
        tuning=tuple(right_profiles(lines, after.board.project.tuning_profiles)),
        reroute=tuple(_reroutes(rows, allowed)),
        without_class=loose,
    )


_Classes = dict[tuple[float, str], dict[str, str]]
"""By impedance and kind: net class -> for whom."""


def _classes_of(ctx: Context) -> tuple[_Classes, tuple[str, ...]]:
    """Net classes of the controlled nets, and by target how many nets are in no class."""
    project = ctx.board.project
    found: _Classes = {}
    nets_of: dict[str, list[str]] = {}
    loose: dict[str, list[str]] = {}
    for target, nets in ctx.get(nets_by_target).items():
        for net in nets:
            nets_of.setdefault(_words(target), []).append(ctx.board.nets[net])
            names = [name for name in project.net_classes_of.get(ctx.board.nets[net], ()) if name in project.classes]
            if names:
                found.setdefault((target.ohm, target.kind), {}).setdefault(names[0], target.title)
            else:
                loose.setdefault(_words(target), []).append(ctx.board.nets[net])
    said = (
        f"{len(nets)} of {count(len(nets_of[words]), 'net')} of {words} ({nets[0]} ...)"
        for words, nets in loose.items()
    )
    return found, tuple(said)


def _words(target: NetTarget) -> str:
    return f"{target.title}, {Target(ohm=target.ohm, kind=target.kind)}"


_Allowed = dict[tuple[float, str], tuple[float, float]]
"""By impedance and kind: least and most ohm that all of several targets allow."""


def _allowed_pct(asked: Target, ohm: float | None, allowed: _Allowed) -> float:
    low, high = allowed[asked.ohm, asked.kind]
    is_above = ohm is not None and ohm > asked.ohm
    return round(100 * (high / asked.ohm - 1 if is_above else 1 - low / asked.ohm), 6)


def _allowed_ohm(ctx: Context) -> _Allowed:
    found: _Allowed = {}
    for target in ctx.get(nets_by_target):
        key, (low, high) = (target.ohm, target.kind), target.allowed_ohm
        least, most = found.get(key, (low, high))
        found[key] = max(least, low), min(most, high)
    return found


def _may_stay(row: ImpedanceRow, copper: Routed, allowed: _Allowed) -> bool:
    """Tell whether routed copper has what its target allows."""
    target, ohm = row.target.target, copper.impedance_ohm
    low, high = allowed[target.ohm, target.kind]
    return ohm is not None and low <= ohm <= high


def _rules(ctx: Context, rows: Iterable[ImpedanceRow], classes: _Classes, allowed: _Allowed) -> Iterator[PlannedRule]:
    """Yield one rule per class, kind and layer: of several targets the one with most copper on that layer.

    A rule also lets pass what is routed for any of these targets and stays within its tolerance.
    """
    places: dict[tuple[str, str, str], list[ImpedanceRow]] = {}
    for row in rows:
        target = row.target.target
        for name in classes.get((target.ohm, target.kind), {}):
            places.setdefault((name, row.layer, target.kind), []).append(row)
    for (name, layer, _), there in places.items():
        solved = [row for row in there if row.width_mm is not None and row.impedance_ohm is not None]
        most = max(solved, key=_routed_mm, default=None)
        if most is None or most.width_mm is None or most.impedance_ohm is None:
            continue
        target = most.target.target
        title = classes[target.ohm, target.kind][name]
        kept = [copper for row in there for copper in row.routed if _may_stay(row, copper, allowed)]
        widths = [copper.width_mm for copper in kept]
        gaps = [copper.gap_mm for copper in kept if copper.gap_mm is not None]
        width, gap = most.width_mm, most.gap_mm or 0.0
        yield PlannedRule(
            net_class=name,
            layer=layer,
            width_mm=round(most.width_mm, DIGITS),
            gap_mm=None if most.gap_mm is None else round(most.gap_mm, DIGITS),
            tolerance_mm=HALF_DIGIT_MM,
            min_width_mm=min((one for one in widths if one < width), default=None),
            max_width_mm=max((one for one in widths if one > width), default=None),
            min_gap_mm=min((one for one in gaps if one < gap), default=None),
            neck_mm=_neck_mm(ctx, layer),
            requirement=f"{target} for {title}; solved: {most.impedance_ohm:.1f} ohm",
        )


def _routed_mm(row: ImpedanceRow) -> float:
    return sum(copper.length_mm for copper in row.routed)


def _neck_mm(ctx: Context, layer: str) -> float | None:
    """Return the least width and gap of a neck-down: what advanced fabs etch in a layer's copper."""
    thickness = ctx.copper_thickness_mm(ctx.board.layer_index[layer]).value
    ounces = ounce_class(thickness, outer=False).value if thickness else None
    row = track_space(ounces) if ounces else None
    return row.least_mm(Tier.ADVANCED) if row else None


def _net_classes(rules: Iterable[PlannedRule], rows: Iterable[ImpedanceRow]) -> Iterator[PlannedClass]:
    """Yield each class with the sizes of the layer that has most of its copper."""
    routed: dict[tuple[str, str], float] = {}
    for row in rows:
        key = (row.layer, row.target.target.kind)
        routed[key] = routed.get(key, 0.0) + sum(one.length_mm for one in row.routed)
    by_class: dict[str, list[PlannedRule]] = {}
    for rule in rules:
        by_class.setdefault(rule.net_class, []).append(rule)
    for name, mine in by_class.items():
        single = [rule for rule in mine if rule.gap_mm is None]
        pairs = [rule for rule in mine if rule.gap_mm is not None]
        line = max(single, key=lambda r: routed.get((r.layer, "single"), 0.0), default=None)
        pair = max(pairs, key=lambda r: routed.get((r.layer, "differential"), 0.0), default=None)
        yield PlannedClass(
            name=name,
            track_width_mm=line.width_mm if line else None,
            diff_pair_width_mm=pair.width_mm if pair else None,
            diff_pair_gap_mm=pair.gap_mm if pair else None,
        )


def right_profiles(lines: Lines, profiles: Iterable[TuningProfile]) -> Iterator[PlannedTuning]:
    """Yield the sizes that meet a tuning profile's target on each of its layers; none where nothing does."""
    for one in profile_lines(lines, profiles):
        if one.right_width_mm is not None:
            yield PlannedTuning(
                profile=one.profile, layer=one.layer, width_mm=one.right_width_mm, gap_mm=one.right_gap_mm
            )


def _reroutes(rows: Iterable[ImpedanceRow], allowed: _Allowed) -> Iterator[Reroute]:
    for row in rows:
        asked = row.target.target
        for copper in row.routed:
            if _may_stay(row, copper, allowed):
                continue
            yield Reroute(
                title=row.target.title,
                target=asked,
                layer=row.layer,
                length_mm=round(copper.length_mm, 3),
                width_mm=copper.width_mm,
                gap_mm=copper.gap_mm,
                impedance_ohm=copper.impedance_ohm,
                tolerance_pct=_allowed_pct(asked, copper.impedance_ohm, allowed),
                new_width_mm=row.width_mm,
                new_gap_mm=row.gap_mm,
                problem=row.problem,
            )
