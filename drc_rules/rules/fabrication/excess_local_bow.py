"""The order allows more bow under a package than the package does.

What it checks
--------------
Two declarations of yours: `local_bow_um` of `[fab]`, what the order holds the surface to under a package, and
`max_local_bow_um`, what each package's assembly guide allows, by reference. Where only one of the two is declared,
nothing can be compared. Where neither is, nothing is judged: copper does not tell how flat a board will be there.

Why it matters
--------------
A large package bridges or leaves joints open where the surface under it is not flat. The larger the package, the less
the board may curve for the same flatness, and 0.75 % over the whole board says little about 100 mm of it.

How to fix
----------
Agree on flatness under these packages with the fab, in um at room temperature and with the method, and write it into
the order. Evenly spread copper under the package, on all layers, helps the fab to keep it.

What it cannot see
------------------
How flat the board is: nothing is measured. What solder, package and heat of the reflow do; bow that depends on the
temperature. Packages that are not declared.

Sources
-------
Hubble and Brist, PCB Surface Topography and Copper Balancing Under Large Form Factor BGAs, IPC APEX EXPO 2024
(iconnect007.com, article 142477): coplanarity under a package is the board's bow plus local topography. The numbers are
yours.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drc_rules.analysis.fabrication.fab_limits import your_fab
from drc_rules.facts.context import Context
from drc_rules.report.findings import Location, Measured
from drc_rules.requirements.clauses import Clause
from drc_rules.rules.rule import DraftFinding, rule
from stackup_lib.board.board import Board
from stackup_lib.core.errors import did_you_mean
from stackup_lib.core.facts import MissingFact

FORMULA = """
h ≤ h_max

h: bow under a package that the order allows [um]
h_max: bow that the package allows [um]
"""

ORDERED = '[fab]\nlocal_bow_um = "?"  # what the order holds the surface under a package to'
ALLOWED = "[fab.max_local_bow_um]  # what the assembly guide of each large package allows\n# U1 = 100"


def _packages(ctx: Context, _clause: Clause) -> Iterator[str]:
    """The declared packages; one nameless one where only the order states a bow."""
    fab = your_fab(ctx)
    yield from sorted(fab.max_local_bow_um) or ([""] if fab.local_bow_um is not None else [])


@rule("FAB021", kinds=("local_bow",), over=_packages, since="0.1", formula=FORMULA)
def excess_local_bow(ctx: Context, _clause: Clause, reference: str) -> Iterator[DraftFinding]:
    """Yield one finding for a package that allows less bow than the order does."""
    fab = your_fab(ctx)
    if not reference:
        raise MissingFact("bow that the large packages allow", ALLOWED)
    place, limit, ordered = _place(ctx.board, reference), fab.max_local_bow_um[reference], fab.local_bow_um
    if ordered is None:
        raise MissingFact("bow under packages that the order allows", ORDERED)
    ctx.shows(reference, h=ordered, h_max=limit)
    if ordered > limit:
        yield DraftFinding(
            title=f"{ordered:g} um bow ordered under {reference}, which allows {limit:g} um",
            why="Joints bridge or stay open where the surface under a large package is not flat",
            fix=f"Agree on {limit:g} um under {reference} with the fab and write it into the order",
            ids=(reference,),
            measured=Measured(value=ordered, unit="um"),
            limit_value=limit,
            places=(place,),
        )


def _place(board: Board, reference: str) -> Location:
    """Return where a part is.

    Raises:
        MissingFact: it is not on the board, or more than once.
    """
    parts = board.footprints
    rows = np.flatnonzero(parts.reference == reference)
    if len(rows) != 1:
        what = "is on the board more than once" if len(rows) else "is not on the board"
        fix = did_you_mean(reference, {str(ref) for ref in parts.reference if ref})
        raise MissingFact(f"component {reference}, which {what}", f"correct [fab.max_local_bow_um]; {fix}")
    row = int(rows[0])
    return Location(uuid=str(parts.uuid[row]), x_mm=float(parts.x_mm[row]), y_mm=float(parts.y_mm[row]))
