"""What `stackwright fit` finds, as one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath

from markupsafe import Markup

from drc_rules.engine.missing_inputs import paste_lines
from drc_rules.report.model import Headline
from drc_rules.requirements.clauses import Severity
from drc_rules.stackup_design.fitness import Fitness, FitnessReport
from stackwright.commands.fit.changes import Way
from stackwright.commands.fit.scorecard import anchor, scorecard
from stackwright.commands.fit.words import form_words, step
from stackwright.reporters.pages import environment, labelled, lines_of


def html_of(report: FitnessReport, ways: Mapping[str, Way]) -> str:
    """Return the page; same board and settings give the same bytes."""
    made = environment(
        step=step,
        form_words=form_words,
        anchor=anchor,
        questions=_questions,
    )
    fit = [row for row in report.rows if row.headline is Headline.FIT]
    plain = [row.profile for row in fit if not row.count(Severity.WARNING)]
    return made.get_template("fit.html").render(
        report=report,
        ways=ways,
        rows=scorecard(report, ways, anchors=True),
        best=report.rows[0].headline.value,
        verdict="fit for" if plain else "fit with warnings" if fit else "fit for none",
        fit=plain,
        warned=[row.profile for row in fit if row.count(Severity.WARNING)],
        open=[row.profile for row in report.rows if row.headline is Headline.NOT_PROVEN],
        facts=[labelled(line) for line in report.board.lines],
        title=f"{PurePath(report.board.path).name}: what it is fit for",
    )


def _questions(row: Fitness) -> Markup:
    """The lines to paste."""
    return lines_of("\n".join(paste_lines(one.how_to_give or f"# {one.fact}" for one in row.open)))
