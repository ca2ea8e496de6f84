"""The check of files that were dropped on a page: the command line's own, in a worker of the browser."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from drc_rules.facts.declared import Overrides
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.stopwatch import Stopwatch, measuring
from stackwright.commands.check.command import check_one, reporter
from stackwright.commands.check.exit_reasons import exit_reasons
from stackwright.commands.check.request import CheckRequest, ReportRequest
from stackwright.commands.request import HTML, JSON
from stackwright.run.watched import step_words
from stackwright.text.words import clean

REPORT_IT = "this is a defect of Stackwright, not of your board; please report it"


def check_dropped(folder: str, profile: str, tell: Callable[[str], None]) -> dict[str, str]:
    """Check the one board among the files of a folder.

    Args:
        folder: where the page has put the files.
        profile: the workload; empty for what the board or its settings say.
        tell: told what is being done.

    Returns:
        `page` and `json`, the reports as of `--format html` and `--format json`, and `name`, the board's; or `error`.
    """
    boards = sorted(Path(folder).glob("*.kicad_pcb"))
    if len(boards) != 1:
        what = "there is no .kicad_pcb among the files" if not boards else f"{len(boards)} boards: drop one at a time"
        return {"error": what}
    request = CheckRequest(Overrides(profile or None), reports=(ReportRequest(HTML), ReportRequest(JSON)), jobs=1)
    try:
        with measuring(Stopwatch(tell=lambda name: tell(step_words(name)))):
            checked, options = check_one(boards[0], request, draw=True)
            checked = replace(checked, exit_reasons=exit_reasons(checked.report, options))
        tell("writing the report")
        reports = {"page": reporter(HTML)([checked]), "json": reporter(JSON)([checked])}
    except StackwrightError as error:
        return {"error": clean(str(error))}
    except Exception as error:
        return {"error": clean(f"{type(error).__name__}: {error}; {REPORT_IT}")}
    return {**reports, "name": boards[0].stem}
