"""What a change of the stackup does to a board's lines: ohm, loss and yield per target and layer, before and after."""

from collections.abc import Sequence

from drc_rules.analysis.impedance.board_targets import board_targets, class_target
from drc_rules.analysis.impedance.impedance_table import LineTarget
from drc_rules.analysis.lines.solved_lines import LINE_TOLERANCE, LineKey, Lines, production_process
from drc_rules.facts.context import Context
from stackup_lib.board.planned import PlannedRule
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.frozen import Frozen
from stackup_lib.transmission_lines.materials.dielectric_models import DielectricDataError
from stackup_lib.transmission_lines.tolerance import spread_or_why


class LineState(Frozen):
    """One geometry in one stackup; None where it is not known, and then `problem` says why.

    Attributes:
        impedance_ohm: Z0, or Zdiff of a pair.
        loss_db_per_mm: at the target's Nyquist frequency, nominal.
        yield_pct: share of a typical production within +-10 % of the target.
        tolerance_yield_pct: the same within the target's own tolerance.
    """

    impedance_ohm: float | None = None
    loss_db_per_mm: float | None = None
    yield_pct: float | None = None
    tolerance_yield_pct: float | None = None
    problem: str = ""


class LineEffect(Frozen):
    """The geometry that a board's nets of one target have on one layer, in two stackups."""

    layer: str
    target: LineTarget
    width_mm: float
    gap_mm: float | None
    length_mm: float
    before: LineState
    after: LineState


def line_effects(before: Context, after: Context) -> tuple[LineEffect, ...]:
    """Return what each target's longest routed geometry on each layer has in two stackups of one board.

    The same tracks are solved twice, so layers are met by name; without targets or tracks there are none.
    """
    old, new = Lines(before), Lines(after)
    same_layers = before.board.copper_layers == after.board.copper_layers
    found = []
    for target in board_targets(before):
        plain = target.model_copy(update={"routed": ()})
        for index, (width, gap, length, planes) in _usual(target).items():
            layer = before.board.copper_layers[index].name
            held = planes if same_layers else None
            found.append(
                LineEffect(
                    layer=layer,
                    target=plain,
                    width_mm=width,
                    gap_mm=gap,
                    length_mm=length,
                    before=line_state(old, layer, plain, width, gap, planes=held),
                    after=line_state(new, layer, plain, width, gap, planes=held),
                )
            )
    return tuple(found)


Planes = tuple[int | None, int | None] | None


def _usual(target: LineTarget) -> dict[int, tuple[float, float | None, float, Planes]]:
    """Layer -> the geometry with most length on it, between the planes that most of it has."""
    lengths: dict[tuple[int, float, float | None], float] = {}
    planes: dict[tuple[int, float, float | None], Planes] = {}
    for line in target.routed:
        key = (line.layer, line.width_mm, line.gap_mm)
        lengths[key] = lengths.get(key, 0.0) + line.length_mm
        planes.setdefault(key, line.references)
    usual: dict[int, tuple[float, float | None, float, Planes]] = {}
    for key, length in sorted(lengths.items(), key=lambda item: -item[1]):
        usual.setdefault(key[0], (key[1], key[2], length, planes[key]))
    return dict(sorted(usual.items()))


def line_state(
    lines: Lines, layer: str, target: LineTarget, width_mm: float, gap_mm: float | None, *, planes: Planes = None
) -> LineState:
    """Return impedance, loss and yield of a geometry on a layer, as far as they are known.

    `planes` are the reference layers above and below; by default the nearest ones.
    """
    index = lines.ctx.board.layer_index.get(layer)
    if index is None:
        return LineState(problem=f"there is no {layer}")
    factor = target.traces(gap_mm)
    try:
        solved = lines.solved(index, width_mm, gap_mm, planes)
        production, why_no_yield = spread_or_why(
            lines.site(index, planes).site,
            width_mm,
            gap_mm,
            production_process(),
            target_ohm=target.target.ohm / factor,
            within_pct=tuple(sorted({10.0, target.tolerance_pct})),
            tolerance=LINE_TOLERANCE,
        )
    except (MissingFact, StackwrightError) as error:
        return LineState(problem=error.what)
    loss, problem = None, why_no_yield
    if target.nyquist_ghz is not None:
        try:
            loss = lines.loss(LineKey(index, width_mm, gap_mm, planes), target.nyquist_ghz).total_db_per_mm.nominal
        except MissingFact as missing:
            problem = f"no loss: {missing.what}"
        except DielectricDataError as error:
            problem = f"no loss: {error}"
    return LineState(
        impedance_ohm=factor * solved.impedance_ohm,
        loss_db_per_mm=loss,
        yield_pct=100 * production.inside(10.0).share if production else None,
        tolerance_yield_pct=100 * production.inside(target.tolerance_pct).share if production else None,
        problem=problem,
    )


class PlannedLine(Frozen):
    """A planned width and gap on a layer, in the planned stackup; no `target` where no net of the class has one."""

    rule: PlannedRule
    target: LineTarget | None
    state: LineState


def planned_lines(before: Context, after: Context, rules: Sequence[PlannedRule]) -> tuple[PlannedLine, ...]:
    """Return what the widths and gaps of a plan's rules have in the planned stackup."""
    lines = Lines(after)
    found = []
    for rule in rules:
        target = class_target(before, rule.net_class, is_pair=rule.gap_mm is not None)
        if target is not None:
            state = line_state(lines, rule.layer, target, rule.width_mm, rule.gap_mm)
        else:
            state = _bare_state(lines, rule)
        found.append(PlannedLine(rule=rule, target=target, state=state))
    return tuple(found)


def _bare_state(lines: Lines, rule: PlannedRule) -> LineState:
    index = lines.ctx.board.layer_index.get(rule.layer)
    if index is None:
        return LineState(problem=f"there is no {rule.layer}")
    try:
        return LineState(impedance_ohm=lines.solved(index, rule.width_mm, rule.gap_mm).impedance_ohm)
    except (MissingFact, StackwrightError) as error:
        return LineState(problem=error.what)


def changed(effects: Sequence[LineEffect], least_ohm: float = 0.05, least_db: float = 5e-5) -> tuple[LineEffect, ...]:
    """Return the effects that a reader would see."""

    def differs(a: float | None, b: float | None, least: float) -> bool:
        return (a is None) != (b is None) or (a is not None and b is not None and abs(a - b) >= least)

    return tuple(
        e
        for e in effects
        if differs(e.before.impedance_ohm, e.after.impedance_ohm, least_ohm)
        or differs(e.before.loss_db_per_mm, e.after.loss_db_per_mm, least_db)
    )
