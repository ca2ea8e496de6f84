"""What the fab computed and added up, held against our solver and the table's own rows."""

import re
from collections.abc import Sequence

from pydantic import computed_field

from drc_rules.analysis.lines.solved_lines import Lines
from drc_rules.fab_exchange.answer.lines import FabWidth
from drc_rules.fab_exchange.answer.stackup_text import FabStackup
from drc_rules.fab_exchange.comparison.compare import SAME_MM, CompareOutcome
from drc_rules.facts.context import Context
from stackup_lib.board.board import Board
from stackup_lib.core.errors import ConfigError, StackwrightError
from stackup_lib.core.facts import MissingFact
from stackup_lib.core.frozen import Frozen

USUAL_TOLERANCE_PCT = 10.0
"""Fabs' usual tolerance of controlled impedance; the table of lines counts production within it too."""


class WidthJudged(Frozen):
    """A line of the fab's, solved in the fab's stackup.

    Attributes:
        model_pct: what our model itself does not know: inside of it the two agree.
        drawn_width_mm, drawn_gap_mm: before the fab adjusted them.
        tolerance_pct: of the target, as declared, else the usual one.
    """

    line: int
    layer: str
    width_mm: float
    gap_mm: float | None
    stated_ohm: float | None
    solved_ohm: float | None = None
    model_pct: float | None = None
    problem: str = ""
    drawn_width_mm: float | None = None
    drawn_gap_mm: float | None = None
    target_ohm: float | None = None
    tolerance_pct: float | None = None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def meets_target(self) -> bool | None:
        """Whether what we solve is inside the tolerance of the target; None where one of them is not known."""
        if self.solved_ohm is None or not self.target_ohm or self.tolerance_pct is None:
            return None
        return 100 * abs(self.solved_ohm / self.target_ohm - 1) <= self.tolerance_pct

    @computed_field  # type: ignore[prop-decorator]
    @property
    def outcome(self) -> CompareOutcome:
        """Whether the fab's impedance is ours, within what the model does not know."""
        if self.solved_ohm is None or self.stated_ohm is None or self.model_pct is None:
            return CompareOutcome.OPEN
        off = 100 * abs(self.solved_ohm / self.stated_ohm - 1)
        return CompareOutcome.ACCEPT if off <= self.model_pct else CompareOutcome.DIFFERS


class TotalJudged(Frozen):
    """A thickness of the board that the table states, and the sum of the table's rows that is nearest to it."""

    line: int
    text: str
    stated_mm: float
    sum_mm: float
    outcome: CompareOutcome


def judge_totals(fab: FabStackup) -> tuple[TotalJudged, ...]:
    """Hold the stated totals against the sums of the rows, with and without solder mask, inside rounding."""
    rows = [fab.rows, [row for row in fab.rows if row.kind != "mask"]]
    sums = [sum(row.thickness_mm or 0.0 for row in part) for part in rows]
    slack = sum(row.rounding_mm for row in fab.rows) + SAME_MM
    is_whole = all(row.thickness_mm is not None for row in rows[1])
    found = []
    for total in fab.totals:
        nearest = min(sums, key=lambda one: abs(one - total.thickness_mm))
        allowed = slack + total.rounding_mm + (total.tolerance_pct or 0.0) / 100 * total.thickness_mm
        same = abs(nearest - total.thickness_mm) <= allowed
        outcome = CompareOutcome.ACCEPT if same else CompareOutcome.DIFFERS
        stated = {"line": total.line, "text": total.text, "stated_mm": total.thickness_mm, "sum_mm": nearest}
        found.append(TotalJudged(**stated, outcome=outcome if is_whole else CompareOutcome.OPEN))
    return tuple(found)


def judge_widths(ctx: Context, widths: Sequence[FabWidth], where: str) -> tuple[WidthJudged, ...]:
    """Solve the fab's lines in the fab's stackup (`ctx`); a layer that the board has not is a line's problem."""
    lines = Lines(ctx)
    general = ctx.declarations.impedance_tolerance_pct
    tolerance = general.value if general.known and general.value else USUAL_TOLERANCE_PCT
    return tuple(_judged(lines, one, tolerance, f"{where}, line {one.line}") for one in widths)


def _judged(lines: Lines, one: FabWidth, tolerance_pct: float, where: str) -> WidthJudged:
    plain = WidthJudged(**one.model_dump(), tolerance_pct=None if one.target_ohm is None else tolerance_pct)
    try:
        index = layer_index(lines.ctx.board, one.layer, where)
        plain = plain.model_copy(update={"layer": lines.ctx.board.copper_layers[index].name})
        solved = lines.solved(index, one.width_mm, one.gap_mm)
        model = lines.uncertainty(index, one.width_mm, one.gap_mm).total_pct
    except (MissingFact, StackwrightError) as error:
        return plain.model_copy(update={"problem": error.what})
    return plain.model_copy(update={"solved_ohm": solved.impedance_ohm, "model_pct": model})


def layer_index(board: Board, name: str, where: str) -> int:
    """Return the copper layer that a fab calls so: KiCad's or the user's name, `L3`, `3`, `Top`, `Bottom`."""
    plain = name.strip().lower()
    for k, layer in enumerate(board.copper_layers):
        if plain in (layer.name.lower(), (layer.user_name or "").lower()):
            return k
    if plain in ("top", "bottom", "bot"):
        return 0 if plain == "top" else board.layer_count - 1
    number = re.match(r"(?:l|layer)?\s*0*(\d{1,2})(?![\w.])", plain)
    if number and 1 <= int(number[1]) <= board.layer_count:
        return int(number[1]) - 1
    raise ConfigError(where, f'the board has no copper layer "{name}"', "call it as in KiCad, or L1, L2 ...")
