"""The board's custom design rules contain an error, so KiCad applies none of them.

What it checks
--------------
Whether the `.kicad_dru` next to the board holds something that KiCad 10 rejects: parentheses or quotes that do not
match, a missing version, an unknown constraint or clause, a value that the constraint does not take (a length without a
known unit, `disallow foo`, `.5mm`), a condition that it cannot compile (an unknown function or property, an argument or
operand too few, "=" for "=="), a layer that the board does not have, "inner" or "outer" in quotes. A property or sign
that was not tried on KiCad makes it not verifiable.

Why it matters
--------------
With one error anywhere KiCad ignores the whole file: its widths, gaps and clearances are not checked, and the design
rule check passes without them. On the command line it gives no warning.

How to fix
----------
Correct the line; Board Setup, Custom Rules, Check rule syntax shows KiCad's own message.

What it cannot see
------------------
It was compared with KiCad 10.0.6 only: files that 9 rejects may pass. Mistakes in arithmetic expressions, in the text
of assertions and in mixed length and time limits are not found. `unreachable-design-rule` checks what readable rules
name.

Sources
-------
Each kind of error was tried on KiCad 10.0.6: a rule that acts alone does not act together with it. KiCad does not mind
the wrong value in a comparison (`A.Layer == 'Foo'`), a name used twice, or an empty rule; neither does this rule.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.analysis.targets.configured_geometries import design_rules_of
from drc_rules.facts.context import Context
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.design_rules import DesignRules
from stackup_lib.core.facts import MissingFact


def _rules_next_to(ctx: Context, _clause: Clause) -> tuple[DesignRules, ...]:
    found = design_rules_of(ctx)
    return () if found is None else (found,)


@rule("NET004", kinds=("design_rules_readable",), over=_rules_next_to)
def ignored_design_rules(_ctx: Context, _clause: Clause, rules: DesignRules) -> Iterator[DraftFinding]:
    """Yield one finding for the first fault of the file."""
    if rules.path is None:
        return
    if rules.fault is None:
        for doubt in rules.doubts:
            where = f"{rules.path.name}:{doubt.line}"
            how = "see Board Setup, Custom Rules, Check rule syntax in KiCad"
            raise MissingFact(f"whether KiCad accepts {doubt.what} ({where})", how)
        return
    where = f"{rules.path.name}:{rules.fault.line}"
    yield DraftFinding(
        title=f"{where}: {rules.fault.what}; KiCad applies none of the file's rules",
        why="The rules are not checked, and KiCad's design rule check passes without them",
        fix=f"Correct {where}. Board Setup, Custom Rules, Check rule syntax shows KiCad's own message",
        ids=("design rules",),
    )
