"""The comparison of a delivery as a page for the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.text import Text

from drc_rules.release.compare import grouped
from drc_rules.release.model import ReleaseComparison, ReleaseFinding, ReleaseOutcome
from stackwright.text.page import Column, Page, styled
from stackwright.text.words import count

_HEADS = {
    ReleaseOutcome.DIFFERS: ("Differs from the board", "bold yellow"),
    ReleaseOutcome.NOT_STATED: ("Not in the files", "yellow"),
    ReleaseOutcome.NOT_COMPARED: ("Not compared", "yellow"),
    ReleaseOutcome.NOTE: ("Notes", "dim"),
}
_MOST_ROWS = 3


def release_page(name: str, comparison: ReleaseComparison, *, verbose: bool) -> Page:
    """Return the page: verdict, then differences with their consequence and fix, then what no file states."""
    page = Page()
    formats = Counter(file.format for file in comparison.files)
    read = ", ".join(f"{number} {name}" for name, number in formats.items())
    page.line(styled("Release", "bold"), f"  {name} compared with {count(len(comparison.files), 'file')}: {read}")
    page.line(*verdict(comparison))
    if comparison.other_board and not verbose:
        page.line(f"{_counted(comparison)}: -v lists them")
        return page
    topics = dict.fromkeys(topic for file in comparison.files for topic in file.topics)
    page.line(styled("Compared", "dim"), f"  {', '.join(topics) or 'nothing'}")
    findings_block(page, comparison, verbose=verbose)
    if verbose:
        page.heading("Files")
        page.rows(
            [Column(max_width=44), Column(), Column(wraps=True)],
            [(file.path, file.format, ", ".join(file.topics)) for file in comparison.files],
        )
    if comparison.others:
        names = ", ".join(comparison.others if verbose else comparison.others[:3])
        more = len(comparison.others) - 3
        page.gap()
        page.line(styled("Not read: ", "dim"), names + (f" and {more} more" if more > 0 and not verbose else ""))
    return page


def verdict(comparison: ReleaseComparison) -> tuple[Text, str]:
    """Return the verdict as text."""
    if comparison.agrees:
        return (styled("Agrees", "bold green"), "  in what is compared; where copper and holes lie is not compared")
    if comparison.other_board:
        return (styled("Another board", "bold yellow"), f"  {comparison.other_board}")
    is_other = any(finding.outcome is ReleaseOutcome.DIFFERS for finding in comparison.findings)
    return (styled("Differs" if is_other else "Incomplete", "bold yellow"), f"  {_counted(comparison)}")


def _counted(comparison: ReleaseComparison) -> str:
    numbers = Counter(finding.outcome for finding in comparison.findings)
    parts = []
    if numbers[ReleaseOutcome.DIFFERS]:
        parts.append(count(numbers[ReleaseOutcome.DIFFERS], "difference"))
    if numbers[ReleaseOutcome.NOT_STATED]:
        parts.append(f"{numbers[ReleaseOutcome.NOT_STATED]} not in the files")
    if numbers[ReleaseOutcome.NOT_COMPARED]:
        parts.append(f"{numbers[ReleaseOutcome.NOT_COMPARED]} not compared")
    return ", ".join(parts)


def findings_block(page: Page, comparison: ReleaseComparison, *, verbose: bool) -> None:
    """Add the findings, most serious first."""
    for outcome, (head, style) in _HEADS.items():
        groups = list(grouped([one for one in comparison.findings if one.outcome is outcome]))
        if groups:
            page.gap()
            page.line(styled(head, style))
        for group in groups:
            _group(page, group, verbose=verbose)


def _group(page: Page, group: Sequence[ReleaseFinding], *, verbose: bool) -> None:
    first = group[0]
    title = first.topic if len(group) == 1 else f"{first.topic}, {len(group)} times"
    page.gap()
    page.line(styled(title, "bold"), indent=2)
    shown = group if verbose else group[:_MOST_ROWS]
    last = ""
    for finding in shown:
        values = f"board {finding.board}" if finding.board else ""
        if finding.sent:
            values += f"{', ' if values else ''}{'file ' if finding.board else ''}{finding.sent}"
        page.line(": ".join(part for part in (finding.what, values) if part), indent=4)
        file = finding.place.rpartition("/")[0] or finding.place.rpartition(":")[0]
        if finding.place and (verbose or file != last):
            page.line(styled(f"at {finding.place}", "dim"), indent=6)
        last = file
    if len(group) > len(shown):
        page.line(styled(f"and {len(group) - len(shown)} more (-v shows all)", "dim"), indent=4)
    told = (("means", first.consequence), ("fix", first.fix))
    page.rows([Column(), Column(wraps=True)], [(styled(word, "dim"), text) for word, text in told if text], indent=4)
