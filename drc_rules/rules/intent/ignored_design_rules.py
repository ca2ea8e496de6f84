"""The board's custom design rules hold an error, so KiCad applies none of them.

What it checks
--------------
Whether the `.kicad_dru` beside the board holds something that KiCad 10 rejects: parentheses or quotes that do not
match, a missing version, an unknown constraint or clause, a value that the constraint does not take (a length without a
unit that KiCad knows, `disallow foo`, `.5mm`), a condition that it cannot compile (an unknown function or property, an
argument or operand too few, "=" for "=="), a layer that the board does not have, "inner" or "outer" in quotes. A
property or sign that nobody has tried on KiCad leaves the question open.

Why it matters
--------------
One error anywhere and KiCad ignores the whole file: widths, gaps and clearances that everybody believes to be
checked are not, and its design rule check passes without them. On the command line it does so without a word.

How to fix
----------
Mend the line; Board Setup, Custom Rules, Check rule syntax shows what KiCad makes of it.

What it cannot see
------------------
It is a reader of its own, held against KiCad 10.0.6 and no other version: what 9 rejects and 10 takes passes. In
expressions (0.1mm + 0.05mm), in the text of an assertion, and where one limit is a length and the next a time, a
mistake is not found. That the file can be read does not make its rules right: unreachable-design-rule looks at what
they name.

Sources
-------
Each kind of error was tried on KiCad 10.0.6: a rule that acts alone does not act beside it. KiCad does not mind the
wrong value in a comparison (`A.Layer == 'Foo'`), a name used twice, or an empty rule; neither does this rule.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.targets.intents import design_rules_of
from drc_rules.facts.context import Context
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import Draft, rule
from stackup_lib.board.design_rules import DesignRules
from stackup_lib.core.facts import MissingFact


def _rules_beside(ctx: Context, _clause: Clause) -> tuple[DesignRules, ...]:
    found = design_rules_of(ctx)
    return () if found is None else (found,)


@rule("NET004", kinds=("design_rules_readable",), over=_rules_beside)
def ignored_design_rules(ctx: Context, clause: Clause, rules: DesignRules) -> Iterator[Draft]:
    """Yield one finding for the first fault of the file."""
    if rules.path is None:
        return
    if rules.fault is None:
        for doubt in rules.doubts:
            where = f"{rules.path.name}:{doubt.line}"
            how = "Board Setup, Custom Rules, Check rule syntax shows what KiCad makes of it"
            raise MissingFact(f"whether KiCad takes {doubt.what} ({where})", how)
        return
    where = f"{rules.path.name}:{rules.fault.line}"
    yield Draft(
        title=f"{where}: {rules.fault.what}; KiCad applies none of the file's rules",
        why="what the rules demand is not checked, and KiCad's design rule check passes without it",
        fix=f"mend {where}; Board Setup, Custom Rules, Check rule syntax shows what KiCad makes of it",
        ids=("design rules",),
    )
