"""From a suggested stackup to a plan: rows with what KiCad cannot store, a net class per target, a rule per layer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from drc_rules.analysis.targets.controlled import nets_by_target
from drc_rules.facts.context import Context
from drc_rules.requirements.clauses import Source
from drc_rules.requirements.documents import cite
from drc_rules.requirements.fabs import Tier, track_spaces
from drc_rules.requirements.interfaces import Interface, interface, interface_ids
from drc_rules.requirements.interfaces.generations import spelled_generation
from drc_rules.requirements.interfaces.names import family_by_class
from drc_rules.stackup_design.plan_file import Plan, PlanRow
from stackup_lib.board.planned import PlannedClass, PlannedRule
from stackup_lib.board.stackup import LayerKind
from stackup_lib.synthesis import CandidateRow, Evaluated, Goals, LineGoal, LineResult
from stackup_lib.transmission_lines.width_request import Target

UNSTATED_OZ = 1.0
"""Weight of copper that states none: of the usual ones the heavier, which takes the wider neck-down."""

DIGITS = 4
"""Tenths of a micrometre: finer than any fab etches."""

DK_DIGITS, DF_DIGITS = 3, 5
"""One more than makers print: an interpolated value is no better."""


def class_name(of: Interface | None, target: Target) -> str:
    """Return a net class name that says impedance, kind and interface, e.g. `85Ohm-diff_PCIE5`, or `50Ohm-se`."""
    kind = "diff" if target.kind == "differential" else "se"
    return f"{target.ohm:g}Ohm-{kind}" + (f"_{of.id.upper()}" if of else "")


def classes_of_goals(ctx: Context, goals: Goals, interfaces: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the net classes of a board that hold the nets of each line goal, by the goal's name.

    A goal has none where its nets are in no class, or their class holds nets of another target, too.
    """
    of_target = ctx.get(nets_by_target)
    first = {net: names[0] for net, names in ctx.board.project.net_classes_of.items()}
    targets_in: dict[str, set[tuple[float, str]]] = {}
    for target, nets in of_target.items():
        for net in nets:
            if name := first.get(ctx.board.nets[net]):
                targets_in.setdefault(name, set()).add((target.ohm, target.kind))
    found: dict[str, tuple[str, ...]] = {}
    for goal in goals.lines:
        of_interface = set(ctx.nets_of(interfaces[goal.name]).tolist()) if goal.name in interfaces else set()
        asked = {(goal.target.ohm, goal.target.kind)}
        mine = [net for target, nets in of_target.items() if {(target.ohm, target.kind)} == asked for net in nets]
        names = dict.fromkeys(first.get(ctx.board.nets[net], "") for net in mine if net in of_interface)
        if kept := tuple(name for name in names if name and targets_in[name] == asked):
            found[goal.name] = kept
    return found


def interface_of_class(name: str, generations: Mapping[str, str]) -> str | None:
    """Return the interface that a net class is named after.

    Args:
        name: of the class.
        generations: interface id by family id, for a name that tells only the family.
    """
    tail = name.partition("_")[2].lower()
    if tail in interface_ids():
        return tail
    family = family_by_class(name)
    if family is None:
        return None
    return spelled_generation(family, name) or generations.get(family)


def plan_of_answer(
    one: Evaluated,
    goals: Goals,
    interfaces: Mapping[str, str],
    *,
    classes: Mapping[str, tuple[str, ...]] | None = None,
    controls_others: bool = False,
) -> Plan:
    """Return the plan that builds a suggestion.

    Args:
        one: the suggestion.
        goals: the goals that it meets.
        interfaces: interface id by name of a line goal; a goal without one gets a class of its impedance alone.
        classes: net classes of the board by name of a line goal, see `classes_of_goals`; a goal without one gets a new
            class.
        controls_others: the board has lines of other targets. Without a line to control the board's flag stays.
    """
    by_name = {goal.name: goal for goal in goals.lines}
    copper_oz = {row.name: row.copper_oz or UNSTATED_OZ for row in one.candidate.rows if row.kind is LayerKind.COPPER}
    rules: dict[tuple[str, str, bool], PlannedRule] = {}
    for line in one.lines:
        goal = by_name[line.goal]
        neck = max(neck_mm(copper_oz[line.layer]), goals.least_width_mm, goals.least_gap_mm)
        new = _rule(line, goal, interfaces.get(goal.name), round(neck, DIGITS))
        for name in (classes or {}).get(goal.name) or (new.net_class,):
            rule = new.model_copy(update={"net_class": name})
            rules.setdefault((name, rule.layer, rule.gap_mm is None), rule)
    inner_first = sorted(rules.values(), key=lambda r: not r.layer.startswith("In"))
    return Plan(
        note=one.candidate.name,
        impedance_controlled=True if one.lines or controls_others else None,
        rows=tuple(plan_row(row) for row in one.candidate.rows),
        net_class=tuple(_classes(inner_first)),
        rule=tuple(rules.values()),
    )


def plan_row(row: CandidateRow) -> PlanRow:
    """Return the row of a plan; a laminate that is not known is named by its material alone."""
    stated: dict[str, object] = {"kind": row.kind.value, "name": row.name, "thickness_mm": row.thickness_mm}
    if row.kind is LayerKind.COPPER:
        layer_type = "power" if row.use in ("ground", "power") else "signal"
        stated |= {"copper_oz": row.copper_oz, "foil": row.foil or None, "layer_type": layer_type}
    elif row.is_dielectric:
        dk, df = _rounded(row.dk, DK_DIGITS), _rounded(row.df, DF_DIGITS)
        sheet = {"material": row.construction or None, "laminate": row.laminate or None, "dk": dk, "df": df}
        at = {"at_ghz": None if df is None else row.df_ghz, "dk_at_ghz": None if dk is None else row.dk_ghz}
        if row.plies == 1:
            stated |= {**sheet, **at}
        else:
            each = {"thickness_mm": round(row.thickness_mm / row.plies, 6), **sheet}
            stated = {"kind": row.kind.value, "name": row.name, "plies": (each,) * row.plies, **at}
    return PlanRow.model_validate(stated)


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)


def neck_mm(copper_oz: float) -> float:
    """Return the least width and gap of a neck-down: what advanced fabs etch in copper of this weight."""
    rows = track_spaces()
    return next((row for row in rows if row.copper_oz >= copper_oz), rows[-1]).least_mm(Tier.ADVANCED)


def _rule(line: LineResult, goal: LineGoal, interface_id: str | None, neck: float) -> PlannedRule:
    of = interface(interface_id) if interface_id else None
    requirement = f"{goal.target} for {of.title if of else goal.name}"
    if of is not None and getattr(of, _field(goal.target)) == goal.target.ohm:
        requirement += f" ({cite(Source(document=of.document_of(_field(goal.target))))})"
    elif of is not None:
        requirement += " (this board's own target)"
    return PlannedRule(
        net_class=class_name(of, goal.target),
        layer=line.layer,
        width_mm=round(line.width_mm, DIGITS),
        gap_mm=None if line.gap_mm is None else round(line.gap_mm, DIGITS),
        neck_mm=neck,
        requirement=f"{requirement}; solved: {line.impedance_ohm.nominal:.1f} ohm",
    )


def _field(target: Target) -> str:
    return "impedance_diff_ohm" if target.kind == "differential" else "impedance_single_ohm"


def _classes(rules: list[PlannedRule]) -> Iterator[PlannedClass]:
    """One class per name, with the sizes of a rule: KiCad routes with them where no rule says otherwise.

    Of pairs it is the rule with the least gap, the first of several: KiCad takes the class's gap as clearance too.
    """
    for name in dict.fromkeys(rule.net_class for rule in rules):
        pairs = [(r.gap_mm, r) for r in rules if r.net_class == name and r.gap_mm is not None]
        pair = min(pairs, key=lambda gap_and_rule: gap_and_rule[0])[1] if pairs else None
        line = next((r for r in rules if r.net_class == name and r.gap_mm is None), pair)
        yield PlannedClass(
            name=name,
            track_width_mm=line.width_mm if line else None,
            diff_pair_width_mm=pair.width_mm if pair else None,
            diff_pair_gap_mm=pair.gap_mm if pair else None,
        )
