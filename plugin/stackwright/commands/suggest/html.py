"""What `stackwright suggest` finds, as one HTML file: the stackups side by side, what they rest on, why others lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drc_rules.cam.report import cam_report
from drc_rules.stackup_design.goals import BoardProject, From
from stackwright.commands.suggest.side_by_side import side_by_side
from stackwright.commands.suggest.widths import widths_of
from stackwright.reporters.cards import MOST_LISTED
from stackwright.reporters.pages import environment
from stackwright.text.places import places

if TYPE_CHECKING:
    from stackwright.commands.suggest.model import Suggested


def html_of(result: Suggested, project: BoardProject | None) -> str:
    """Return the page; equal inputs give equal bytes."""
    found = side_by_side(result, project)
    reasons = result.found.reasons
    name = result.board.name if result.board else found.asked
    return (
        environment(most_listed=MOST_LISTED)
        .get_template("suggest.html")
        .render(
            result=result,
            found=found,
            stated=[one for one in reasons if one.origin is not From.ASSUMPTION],
            fab_questions=[
                (
                    index,
                    one.candidate.name,
                    cam_report(one, result.found.goals, result.selection.form, result.found.fab),
                )
                for index, one in enumerate(result.entries, start=1)
            ],
            widths=tuple(widths_of(result, project)),
            places=places,
            assumed=[one for one in reasons if one.origin is From.ASSUMPTION],
            title=f"{name}: stackups side by side",
        )
    )
