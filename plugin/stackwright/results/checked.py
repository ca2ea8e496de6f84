"""What came of the check of one board."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from drc_rules.report.model import Report
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.record import record
from stackwright.results.board_identity import BoardIdentity
from stackwright.results.exit_reason import CLEAN, ExitReason, untold

if TYPE_CHECKING:
    from drc_rules.fab_exchange.ordered import OrderedStackup
    from stackwright.drawing.board_map import BoardMap
    from stackwright.drawing.charts import Charts
    from stackwright.results.full import Full


@record
class Checked:
    """A report and the settings it was made with.

    Attributes:
        config_path: the `stackwright.toml` that was read, as the user would type it; None when there was none.
        data_digest: hash of the rule and material data that was used.
        fail_on: lowest severity that makes the exit code 1, or `never`.
        exit_reasons: why the exit code is not 0, the first one's; None where the check has no exit code.
        timing: seconds by step of work, where requested; None otherwise, for it differs from run to run.
        background_s: seconds of these that a second process worked at the same time.
        background_failures: why work in the background failed, so that it was done again.
        map, charts: the board from above, and what its charts show, where a page is to show them.
        ordered: the fab's stackup that is ordered, where the settings name one.
        identity: which board it is, and in what state, for the head of a page.
        full: the scorecard and the stackups to choose from, where requested.
    """

    report: Report
    config_path: str | None
    data_digest: str
    fail_on: str = "error"
    exit_reasons: tuple[ExitReason, ...] | None = None
    timing: Mapping[str, float] | None = None
    background_s: float = 0.0
    background_failures: tuple[str, ...] = ()
    map: BoardMap | None = None
    charts: Charts | None = None
    ordered: OrderedStackup | None = None
    identity: BoardIdentity = field(default_factory=BoardIdentity)
    full: Full | None = None

    @property
    def exit_code(self) -> int:
        """The exit code of this board."""
        return self.exit_reasons[0].code if self.exit_reasons else CLEAN

    @property
    def why_it_fails(self) -> str:
        """The reasons that a reader of the findings does not see, as one phrase; "" without one."""
        return "; ".join(one.text for one in untold(self.exit_reasons))


@record
class Unchecked:
    """A board that could not be checked, and why."""

    path: str
    error: StackwrightError
