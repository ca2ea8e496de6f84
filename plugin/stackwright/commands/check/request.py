"""Arguments of `stackwright check` and `stackwright baseline`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from pathlib import Path

from drc_rules.facts.declared import Overrides
from drc_rules.settings.config import CheckOptions
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.record import record
from stackwright.commands.request import HTML, JSON, MARKDOWN, TEXT
from stackwright.text.output import STDOUT

SHOW_PAIRS = (JSON, HTML, MARKDOWN)
"""Formats that list every pair: of a large board the impedances that no rule needs take a second."""


class OptionsError(StackwrightError):
    """Options that contradict one another."""


@record
class ReportRequest:
    """One report: its format, and its file; without one it goes to standard output, as to `-`."""

    format: str = TEXT
    output: Path | None = None

    @property
    def is_read_here(self) -> bool:
        """True for the text that the terminal shows board by board."""
        return self.format == TEXT and self.file is None

    @property
    def file(self) -> Path | None:
        """The file to write; None for standard output."""
        return None if self.output == STDOUT else self.output


@record
class CheckRequest:
    """What the command line asks; None or empty where it says nothing.

    Attributes:
        overrides: what it says in place of the settings.
        config: settings file instead of the one next to each board.
        fail_on, min_coverage_pct: in place of those of `[check]`.
        reports: the reports to make.
        verbose: show all findings, not those that matter most.
        quiet: show one line per board.
        clauses: list every clause with its verdict.
        baseline, against: file and commit whose findings do not count.
        jobs: boards checked in parallel; None for one per core.
        touched: the paths are files that a change touches; their boards are checked, and there may be none.
        timing: tell where the time goes.
        full: compare all workloads and stackups too, for a page.
        kicad_drc: run KiCad's own check too.
        open_page: show the page in the browser.
    """

    overrides: Overrides = field(default_factory=Overrides)
    config: Path | None = None
    fail_on: str | None = None
    min_coverage_pct: float | None = None
    reports: tuple[ReportRequest, ...] = (ReportRequest(),)
    verbose: bool = False
    quiet: bool = False
    clauses: bool = False
    baseline: Path | None = None
    against: str | None = None
    jobs: int | None = None
    touched: bool = False
    timing: bool = False
    full: bool = False
    kicad_drc: bool = False
    open_page: bool = False

    def shared_files(self) -> list[Path]:
        """Return the files that decide over every board: those of the request, and those that they name."""
        from drc_rules.settings.named_files import named_by_profile, named_by_settings

        given = [path for path in (self.config, self.baseline) if path]
        named = list(named_by_settings(self.config)) if self.config else []
        named += named_by_profile(self.overrides.profile) if self.overrides.profile else []
        return [
            *given,
            *(path.resolve() for path in given),
            *(one for file in named for one in (file.place, file.real)),
        ]

    @property
    def formats(self) -> tuple[str, ...]:
        """Formats of the reports."""
        return tuple(report.format for report in self.reports)

    @property
    def solves_every_pair(self) -> bool:
        """True where a report lists the impedance of pairs that no clause judges."""
        return self.full or any(format_ in SHOW_PAIRS for format_ in self.formats)

    @property
    def shows_tables(self) -> bool:
        """False for the first screen of text, and for one line per board: neither has room for tables."""
        return self.verbose or self.full or set(self.formats) != {TEXT}

    def options(self, defaults: CheckOptions) -> CheckOptions:
        """Return what decides over the exit code: the command line's, and what it leaves out from `[check]`."""
        given = {"fail_on": self.fail_on, "min_coverage_pct": self.min_coverage_pct}
        asked = defaults.model_copy(update={key: value for key, value in given.items() if value is not None})
        if 0 < (share := asked.min_coverage_pct or 0) < 1:
            what = f"{share:g} is less than one percent"
            raise OptionsError("minimum coverage", what, f"write {100 * share:g} for {100 * share:g} %")
        return asked

    def with_page_file(self, page: Path) -> CheckRequest:
        """Return this with a file for the HTML page that is given none: a terminal can not show it."""
        reports = (replace(r, output=page) if (r.format, r.output) == (HTML, None) else r for r in self.reports)
        return replace(self, reports=tuple(reports))


def requested_reports(
    formats: Sequence[str], outputs: Sequence[Path], *, json: bool = False
) -> tuple[ReportRequest, ...]:
    """Pair formats with files, in order; one format more than files goes to standard output, as `-` does.

    Raises:
        OptionsError: more files than formats, two reports for one file or terminal, `--json` together with another.
    """
    if json and any(form != JSON for form in formats):
        raise OptionsError("--json", f"and --format {formats[0]} exclude each other", "leave one of them out")
    asked = list(formats) or [JSON if json else TEXT]
    if not len(outputs) <= len(asked) <= len(outputs) + 1:
        what = f"{len(asked)} of --format and {len(outputs)} of --output do not pair"
        raise OptionsError("options", what, "give one --output per --format; the last may be left out for the terminal")
    files: list[Path | None] = [*outputs, *[None] * (len(asked) - len(outputs))]
    reports = tuple(ReportRequest(form, file) for form, file in zip(asked, files, strict=True))
    targets = [report.file for report in reports]
    for target in {*targets}:
        if targets.count(target) > 1:
            name = "the terminal" if target is None else str(target)
            raise OptionsError("--output", f"{name} is named twice", "give every report a file of its own")
    return reports
