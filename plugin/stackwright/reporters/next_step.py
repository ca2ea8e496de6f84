"""The command that helps next, ready to be typed."""

from __future__ import annotations

from drc_rules.engine.missing_inputs import FILL_IN, LAY_OUT
from drc_rules.report.model import Headline, Report
from drc_rules.report.verdicts import Verdict
from drc_rules.requirements.clauses import Severity
from drc_rules.requirements.profiles.profile import load_profile
from stackwright.text.command_line import command_line

CHANGED_BY_A_STACKUP = ("STK", "MAT", "FOI", "CUP", "IMP", "LOS")
"""Rule families whose errors another stackup can remove."""

ORDERED_TOLERANCE = "IMP001"
"""What the fabrication notes order: no stackup changes it."""


def next_step(report: Report, *, verbose: bool = False) -> str:
    """Return what to do next: a whole command line, or the first thing to enter in KiCad.

    `verbose`: the reader has every finding with its fix before him, as of `-v`: the step is not to look at that.
    """
    board = report.board.path
    if report.headline is Headline.NO_WORKLOAD:
        return command_line("fit", board, *_settings(report))
    if asks_nothing(report):
        return f'add requirements to {report.profile}: extends = ["board"], and [[clause]]s of your own'
    if report.headline is Headline.FIT:
        return command_line("fab-pack", board, *_settings(report), "--output", "fab")
    if report.headline is Headline.NOT_PROVEN:
        return _to_prove(report, verbose=verbose)
    errors = [finding for finding in report.findings if finding.severity is Severity.ERROR]
    codes = {finding.code for finding in errors} - {ORDERED_TOLERANCE}
    if report.profile and any(code.startswith(CHANGED_BY_A_STACKUP) for code in codes):
        return command_line("suggest", board, *_purpose(report))
    if verbose and errors:
        return command_line("explain", errors[0].code, "--board", board, *_purpose(report))
    return command_line("check", board, *_purpose(report), *([] if verbose else ["-v"]))


def _to_prove(report: Report, *, verbose: bool) -> str:
    """What proves more: a layout, the rules that were left out, the lines to paste, an action, a look at the rest."""
    board, purpose = report.board.path, _purpose(report)
    for step in LAY_OUT.values():
        if f"# {step}" in report.proofs:
            return step
    unproven = [one for one in report.verdicts if one.clause.severity is Severity.ERROR and not one.is_proven]
    if left := next((one.left_out_by for one in unproven if one.left_out_by), ""):
        return command_line("check", board, *purpose, *([] if left.startswith("--") else ["--no-suppressions"]))
    if any(not line.startswith("#") for line in report.proofs):
        begun = [line.removeprefix("# ") for line in report.proofs if line.startswith(FILL_IN)]
        if begun or not report.settings_file:  # `init` begins the file next to the board
            return begun[0] if begun else command_line("init", board, *purpose)
    actions = [line.removeprefix("# ").partition(" lists them")[0] for line in report.proofs]
    runnable = [one for one in actions if one.startswith(("in KiCad", "stackwright "))]
    if runnable:
        return runnable[0]
    if verbose and actions:
        return actions[0]
    if verbose and unproven and unproven[0].code:
        return command_line("explain", unproven[0].code, "--board", board, *purpose)
    return command_line("check", board, *purpose, "-v" if actions else "--clauses")


def asks_nothing(report: Report) -> bool:
    """Tell whether a profile of the user's own has no mandatory requirement for this board."""
    if report.headline is not Headline.NOT_PROVEN or not (report.profile and load_profile(report.profile).is_own):
        return False
    applies = (v for v in report.verdicts if v.has_rule and v.verdict is not Verdict.NOT_APPLICABLE)
    return all(v.clause.severity is not Severity.ERROR for v in applies)


def _purpose(report: Report) -> list[str]:
    """The options that name workload, form factor where the workload alone does not say it, and settings file."""
    if not report.profile:
        return _settings(report)
    form = report.form if report.form != load_profile(report.profile).form else None
    return ["--profile", report.profile, *(["--form", form] if form else []), *_settings(report)]


def _settings(report: Report) -> list[str]:
    return ["--config", report.settings_file] if report.settings_file else []
