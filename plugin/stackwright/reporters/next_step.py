"""The command that helps next, ready to be typed."""

from __future__ import annotations

from drc_rules.engine.missing_inputs import FILL_IN, LAY_OUT
from drc_rules.report.model import Headline, Report
from drc_rules.requirements.clauses import Severity
from drc_rules.requirements.profiles.profile import load_profile
from stackwright.text.command_line import command_line

CHANGED_BY_A_STACKUP = ("STK", "MAT", "FOI", "CUP", "IMP", "LOS")
"""Rule families whose errors another stackup can remove."""

ORDERED_TOLERANCE = "IMP001"
"""What the fabrication notes order: no stackup changes it."""


def next_step(report: Report) -> str:
    """Return what to do next: a whole command line, or the first thing to enter in KiCad."""
    board = report.board.path
    if report.headline is Headline.NO_WORKLOAD:
        return command_line("fit", board)
    if report.headline is Headline.FIT:
        return command_line("fab-pack", board, "--output", "fab")
    if report.headline is Headline.NOT_PROVEN:
        for step in LAY_OUT.values():
            if f"# {step}" in report.proofs:
                return step
        if any(not line.startswith("#") for line in report.proofs):
            begun = [line.removeprefix("# ") for line in report.proofs if line.startswith(FILL_IN)]
            return begun[0] if begun else command_line("init", board, *_purpose(report))
        actions = [line.removeprefix("# ").partition(" lists them")[0] for line in report.proofs]
        runnable = [one for one in actions if one.startswith(("in KiCad", "stackwright "))]
        if runnable:
            return runnable[0]
        return command_line("check", board, *_purpose(report), "-v" if actions else "--clauses")
    errors = [finding for finding in report.findings if finding.severity is Severity.ERROR]
    codes = {finding.code for finding in errors} - {ORDERED_TOLERANCE}
    if report.profile and any(code.startswith(CHANGED_BY_A_STACKUP) for code in codes):
        return command_line("suggest", board, *_purpose(report))
    return command_line("check", board, *_purpose(report), "-v")


def _purpose(report: Report) -> list[str]:
    """The options that name workload and form factor, where the workload alone does not say it."""
    if not report.profile:
        return []
    form = report.form if report.form != load_profile(report.profile).form else None
    return ["--profile", report.profile, *(["--form", form] if form else [])]
