"""The board's custom design rules hold an error, so KiCad applies none of them.

What it checks
--------------
Whether the `.kicad_dru` beside the board holds something that KiCad 10 rejects: parentheses or quotes that do not
match, a missing version, an unknown constraint or clause, a length without a unit that KiCad knows.

Why it matters
--------------
One error anywhere and KiCad ignores the whole file: widths, gaps and clearances that everybody believes to be
checked are not, and its design rule check passes without them. On the command line it does so without a word.

How to fix
----------
Mend the line; Board Setup, Custom Rules, Check rule syntax shows what KiCad makes of it.

Sources
-------
Each kind of error was tried on KiCad 10.0.6: a rule that acts alone does not act beside it. Errors in conditions
and in layer names are not looked for.
"""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.clauses import Clause
from drc_rules.context import Context
from drc_rules.rule import Draft, rule
from stackup_lib.design_rules import DesignRules
from stackup_lib.kicad.rules_file import read_design_rules


def _rules_beside(ctx: Context, _clause: Clause) -> tuple[DesignRules, ...]:
    path = ctx.board.path
    found = read_design_rules(path.with_suffix(".kicad_dru")) if path is not None else None
    return () if found is None else (found,)


@rule("NET004", kinds=("design_rules_readable",), over=_rules_beside)
def ignored_design_rules(ctx: Context, clause: Clause, rules: DesignRules) -> Iterator[Draft]:
    """Yield one finding for the first fault of the file."""
    if rules.fault is None or rules.path is None:
        return
    where = f"{rules.path.name}:{rules.fault.line}"
    yield Draft(
        title=f"{where}: {rules.fault.what}; KiCad applies none of the file's rules",
        why="what the rules demand is not checked, and KiCad's design rule check passes without it",
        fix=f"mend {where}; Board Setup, Custom Rules, Check rule syntax shows what KiCad makes of it",
        ids=("design rules",),
    )
