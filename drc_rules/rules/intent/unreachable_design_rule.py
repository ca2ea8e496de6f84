"""A custom design rule never applies, or applies to more than it says.

What it checks
--------------
Every rule of the `.kicad_dru` next to the board: whether its condition can be true at all (net classes, nets, areas,
copper layers and types of vias or objects that it names and that do not exist; `A.NetClass != 'Default'`), whether a
later rule that applies wherever it does replaces its limits, and whether it names the class Default and is intended for
the nets of no other class. A name that does not exist is a warning where another is similar, or where KiCad 10 has none
such, else information: it may be a leftover, or come from a rules file for several boards.

Why it matters
--------------
KiCad accepts such a rule without a warning: its widths, gaps, clearances and vias are not checked.

How to fix
----------
Spell the name as the board does. Put general rules before special ones, because the last that applies counts. For the
nets of no other class, set the limit in the net class Default itself.

What it cannot see
------------------
Names are checked, not geometry: rules for empty classes, areas or layers pass. Footprints, sheets, groups, component
classes, fields, sizes and `fromTo` count as possibly true. Only later rules without condition or with the same text
replace others.

Sources
-------
KiCad 10.0.6, each tried on it: names compare by `*` and `?`, in `hasNetclass` and areas with their case; types of vias
are Through, Blind, Buried and Micro (not "Blind/buried", as before); a net whose classes leave one of ten sizes empty
is of class Default too, so that `!= 'Default'` is not true of it; of several rules the last that states a bound
decides, be it less strict.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.targets.configured_geometries import readable_rules
from drc_rules.facts.context import Context
from drc_rules.requirements.clauses import Clause, Severity
from drc_rules.rules.intent._design_rule_reach import (
    MissingItem,
    Names,
    idle_parts,
    names_of,
    never_applies,
    replaced_by,
)
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.design_rules import DesignRule, DesignRules
from stackup_lib.kicad.design_rules.condition_tree import Comparison, parse_condition


def _rules_next_to(ctx: Context, _clause: Clause) -> tuple[DesignRules, ...]:
    found = readable_rules(ctx)
    return (found,) if found is not None and found.rules else ()


@rule("NET007", aliases=("idle-design-rule",), kinds=("design_rules_act",), over=_rules_next_to)
def unreachable_design_rule(ctx: Context, _clause: Clause, rules: DesignRules) -> Iterator[DraftFinding]:
    """Yield one finding per mistake, whatever number of rules it concerns."""
    names = names_of(ctx.board)
    file = rules.path.name if rules.path is not None else "design rules"
    acting = [one for one in rules.rules if one.constraints and one.severity != "ignore"]
    idle = {one: found for one in acting if (found := never_applies(one, names))}
    yield from _never(idle, file)
    partly: dict[MissingItem, list[DesignRule]] = {}
    for one in acting:
        for part in idle_parts(one, names):
            partly.setdefault(part, []).append(one)
    for part, some in partly.items():
        yield _partly(part, some, file)
    live = [one for one in acting if one not in idle]
    yield from _replaced(live, file)
    yield from _meant_for_default(live, names, file)


def _never(idle: dict[DesignRule, tuple[MissingItem, ...]], file: str) -> Iterator[DraftFinding]:
    """Yield one finding per mistake, and one for all rules whose names may be left over from another board."""
    mistakes: dict[MissingItem, list[DesignRule]] = {}
    left_over: dict[MissingItem, list[DesignRule]] = {}
    for one, reasons in idle.items():
        mistake = next((found for found in reasons if found.is_mistake), None)
        (left_over if mistake is None else mistakes).setdefault(mistake or reasons[0], []).append(one)
    for reason, some in mistakes.items():
        hint = f', but "{reason.meant}"' if reason.meant else ""
        yield _idle(some, f"{reason.reason}{hint}", f"correct {reason.text}", None, file, reason.text)
    if left_over:
        whole = [one for some in left_over.values() for one in some]
        words = [reason.reason for reason in list(left_over)[:3]]
        more = f" and {len(left_over) - 3} more" if len(left_over) > 3 else ""
        how = f"correct {next(iter(left_over)).text}, or remove the rule"
        yield _idle(whole, ", ".join(words) + more, how, Severity.INFO, file)


def _idle(some: list[DesignRule], why: str, how: str, severity: Severity | None, file: str, *what: str) -> DraftFinding:
    """Rules may share a name: what is wrong with them tells two findings apart."""
    return DraftFinding(
        title=f"{_rules(some, file)} never {'applies' if len(some) == 1 else 'apply'}: {why}",
        why="KiCad accepts the rule without a warning, and checks nothing by it",
        fix=f"Open Custom Rules and {how}",
        ids=(*sorted({one.name for one in some}), *what),
        severity=severity,
    )


def _partly(part: MissingItem, idle: list[DesignRule], file: str) -> DraftFinding:
    return DraftFinding(
        title=f'{_rules(idle, file)}: {part.text} is never true: {part.reason}, but "{part.meant}"',
        why="KiCad accepts the rule without a warning, and skips the items of this part",
        fix=f"Open Custom Rules and correct {part.text}",
        ids=(*sorted({one.name for one in idle}), part.text),
    )


def _replaced(live: list[DesignRule], file: str) -> Iterator[DraftFinding]:
    """Yield one finding per later rule that replaces what earlier ones state."""
    by_later: dict[tuple[str, int], list[tuple[DesignRule, str]]] = {}
    for position, one in enumerate(live):
        for bound, later in replaced_by(one, live[position + 1 :]):
            by_later.setdefault((later.name, later.line), []).append((one, bound))
    for (name, line), found in by_later.items():
        idle = list(dict.fromkeys(one for one, _ in found))
        bounds = list(dict.fromkeys(bound for _, bound in found))
        yield DraftFinding(
            title=f'{", ".join(bounds)} of {_rules(idle, file)} never counts: rule "{name}", line {line}, comes later',
            why="KiCad applies the last rule that matches, even if it is less strict",
            fix="Put the general rule before the special ones in Custom Rules",
            ids=(name, *sorted({one.name for one in idle}), *bounds),
        )


def _meant_for_default(live: list[DesignRule], names: Names, file: str) -> Iterator[DraftFinding]:
    """Yield a finding for rules whose condition names class Default alone and matches nets of other classes too."""
    others = sorted({joined.removesuffix(",Default") for joined in names.joined if joined.endswith(",Default")})
    caught = [one for one in live if _asks_for_default(one)] if others else []
    if caught:
        some = ", ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
        yield DraftFinding(
            title=f"{_rules(caught, file)}: NetClass == 'Default' applies to nets of {some} too",
            why="KiCad 10 joins Default to classes that leave a size empty: the rule's limits replace theirs",
            fix="Put it before the rules for other classes in Custom Rules, or set the limit in the class Default",
            ids=(*sorted({one.name for one in caught}), "Default"),
            severity=Severity.INFO,
        )


def _asks_for_default(one: DesignRule) -> bool:
    condition = parse_condition(one.condition or "")
    return (
        isinstance(condition, Comparison)
        and condition.word == "A.NetClass"
        and condition.operator == "=="
        and condition.value.casefold() == "default"
    )


def _rules(idle: list[DesignRule], file: str) -> str:
    """Name rules with their lines, of many the first three."""
    named = ", ".join(f'"{one.name}"' for one in idle[:3]) + (f" and {len(idle) - 3} more" if len(idle) > 3 else "")
    lines = ", ".join(str(one.line) for one in idle[:3])
    return f"rule{'' if len(idle) == 1 else 's'} {named} ({file}:{lines})"
