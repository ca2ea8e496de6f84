"""A custom design rule never acts, or acts on more than it says.

What it checks
--------------
Every rule of the `.kicad_dru` beside the board: whether its condition can be true at all (net classes, nets, areas,
copper layers and types of vias or objects that it names and that are not there; `A.NetClass != 'Default'`), whether a
later rule that applies wherever it does replaces its limits, and whether it asks for the class Default and is meant for
the nets of no other class. A name that is not there is a warning where another is much like it, or where KiCad 10 has
none such, else information: it may be left over, or come from a rules file for many boards.

Why it matters
--------------
KiCad takes such a rule without a word: widths, gaps, clearances and vias that it seems to hold are not held.

How to fix
----------
Spell the name as the board does; put general rules before special ones, for the last that applies counts; for the nets
of no other class, use a limit in the net class Default itself.

What it cannot see
------------------
Names are looked up, not geometry: a rule for a class without nets, for an area that holds nothing, or for a layer where
none of its nets runs, passes as one that can act. Footprints, sheets, groups, component classes, fields, sizes and
`fromTo` in a condition may always be true here. A rule counts as replaced only by a later one without condition, or
with the very same text, and only in limits that are lengths: two ways to say one thing are not seen. Names for other
boards that share the file are reported, as information.

Sources
-------
KiCad 10.0.6, each tried on it: names compare by `*` and `?`, in `hasNetclass` and areas with their case; types of vias
are Through, Blind, Buried and Micro (not "Blind/buried", as before); a net whose classes leave one of ten sizes empty
is of class Default too, so that `!= 'Default'` is not true of it; of several rules the last that states a bound
decides, be it less strict.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.targets.intents import readable_rules
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
from drc_rules.rules.rule import Draft, rule
from stackup_lib.board.design_rules import DesignRule, DesignRules
from stackup_lib.kicad.design_rules.condition_tree import Comparison, parse_condition


def _rules_beside(ctx: Context, _clause: Clause) -> tuple[DesignRules, ...]:
    found = readable_rules(ctx)
    return (found,) if found is not None and found.rules else ()


@rule("NET007", aliases=("idle-design-rule",), kinds=("design_rules_act",), over=_rules_beside)
def unreachable_design_rule(ctx: Context, _clause: Clause, rules: DesignRules) -> Iterator[Draft]:
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


def _never(idle: dict[DesignRule, tuple[MissingItem, ...]], file: str) -> Iterator[Draft]:
    """Yield one finding per mistake, and one for all rules whose names may be left over from another board."""
    mistakes: dict[MissingItem, list[DesignRule]] = {}
    left_over: dict[MissingItem, list[DesignRule]] = {}
    for one, reasons in idle.items():
        mistake = next((found for found in reasons if found.is_mistake), None)
        (left_over if mistake is None else mistakes).setdefault(mistake or reasons[0], []).append(one)
    for reason, some in mistakes.items():
        hint = f', but "{reason.meant}"' if reason.meant else ""
        yield _idle(some, f"{reason.reason}{hint}", f"mend {reason.text}", None, file, reason.text)
    if left_over:
        whole = [one for some in left_over.values() for one in some]
        words = [reason.reason for reason in list(left_over)[:3]]
        more = f" and {len(left_over) - 3} more" if len(left_over) > 3 else ""
        how = f"mend {next(iter(left_over)).text}, or remove what is left over"
        yield _idle(whole, ", ".join(words) + more, how, Severity.INFO, file)


def _idle(some: list[DesignRule], why: str, how: str, severity: Severity | None, file: str, *what: str) -> Draft:
    """Rules may share a name: what is wrong with them tells two findings apart."""
    return Draft(
        title=f"{_rules(some, file)} never {'applies' if len(some) == 1 else 'apply'}: {why}",
        why="KiCad takes the rule without a word, and holds nothing against it",
        fix=f"in Custom Rules, {how}",
        ids=(*sorted({one.name for one in some}), *what),
        severity=severity,
    )


def _partly(part: MissingItem, idle: list[DesignRule], file: str) -> Draft:
    return Draft(
        title=f'{_rules(idle, file)}: {part.text} is never true: {part.reason}, but "{part.meant}"',
        why="KiCad takes the rule without a word, and leaves out what this part is to choose",
        fix=f"in Custom Rules, mend {part.text}",
        ids=(*sorted({one.name for one in idle}), part.text),
    )


def _replaced(live: list[DesignRule], file: str) -> Iterator[Draft]:
    """Yield one finding per later rule that replaces what earlier ones state."""
    by_later: dict[tuple[str, int], list[tuple[DesignRule, str]]] = {}
    for position, one in enumerate(live):
        for bound, later in replaced_by(one, live[position + 1 :]):
            by_later.setdefault((later.name, later.line), []).append((one, bound))
    for (name, line), found in by_later.items():
        idle = list(dict.fromkeys(one for one, _ in found))
        bounds = list(dict.fromkeys(bound for _, bound in found))
        yield Draft(
            title=f'{", ".join(bounds)} of {_rules(idle, file)} never counts: rule "{name}", line {line}, comes later',
            why="of the rules that apply, KiCad takes the last one, be it less strict",
            fix="in Custom Rules, put the general rule before the special ones",
            ids=(name, *sorted({one.name for one in idle}), *bounds),
        )


def _meant_for_default(live: list[DesignRule], names: Names, file: str) -> Iterator[Draft]:
    """Yield a finding for rules that ask for class Default alone, and get the nets of other classes with it."""
    others = sorted({joined.removesuffix(",Default") for joined in names.joined if joined.endswith(",Default")})
    caught = [one for one in live if _asks_for_default(one)] if others else []
    if caught:
        some = ", ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
        yield Draft(
            title=f"{_rules(caught, file)}: NetClass == 'Default' holds for nets of {some} too",
            why="KiCad 10 joins Default to classes that leave a size empty: the rule's limits take the place of theirs",
            fix="in Custom Rules, put it before the rules for other classes, or state the limit in the class Default",
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
