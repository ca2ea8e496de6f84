"""The report as text: one screen by default; reasons, tables and clauses on demand."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter

from rich.text import Text

from drc_rules.report.model import Headline, Report, TakenAs
from drc_rules.requirements.clauses import Severity
from drc_rules.requirements.interfaces import family, interface, interface_ids
from drc_rules.settings import FILE_NAME
from stackup_lib.core.facts import Confidence
from stackwright.reporters.next_step import next_step
from stackwright.tables.counts import LABELS, SEVERITY_STYLE, sectionless, severity_counts, tally
from stackwright.tables.grouping import Group, groups, not_verifiable
from stackwright.text.page import PLAIN_WIDTH, Page, styled
from stackwright.text.words import clean, count

MOST_LINES = 40
"""Lines of the first screen, whatever the board."""

MOST_FINDINGS, FEWEST_FINDINGS = 10, 3
MOST_MISSING, FEWEST_MISSING = 5, 2

HEADLINE_STYLE = {
    Headline.FIT: "bold green",
    Headline.NOT_FIT: "bold red",
    Headline.NOT_PROVEN: "bold yellow",
    Headline.NO_WORKLOAD: "bold",
}

FACTS = ("stackup", "vias")
"""Lines of facts on the first screen, below the board's own."""

REMARK = re.compile(r" \([^()]*\)$")
"""What a missing fact says in brackets at its end: left to `-v`."""

GLUE = "\N{NO-BREAK SPACE}"
UNIT = re.compile(r"(?<=\d) (?=(?:%|mm|um|oz|ohm|dB|ps|GHz|C)(?:\W|$))")
"""The blank between a number and its unit, which are not parted at the end of a line."""

INDENT = 12
"""Columns of a label and the space before and behind it."""


def page(
    report: Report, *, verbose: bool = False, clauses: bool = False, full: bool = False, width: int = PLAIN_WIDTH
) -> Page:
    """Lay out the report of one board.

    Args:
        report: of the board.
        verbose: why, fix, source and place of each finding, and the tables of impedance, loss, rails and backdrills.
        clauses: the table of requirements.
        full: all of it, every finding and every row.
        width: columns of the terminal; at least 80 keep the first screen below 40 lines.
    """
    if not (verbose or full or clauses):
        return _first_screen(report, width)
    from stackwright.reporters import text_details

    if not (verbose or full):
        out = _first_screen(report, width)
        text_details.clauses(out, report)
        return out
    out = Page()
    _verbatim(out, _head(report, width))
    text_details.details(out, report, show_all=full, with_clauses=clauses or full)
    out.gap()
    _verbatim(out, _end(report, width, verbose=True))
    return out


def summary(report: Report) -> Text:
    """Return the report in one line."""
    return Text.assemble(_headline_word(report), styled(f"  {report.board.path}: {report.headline_why}"))


def _first_screen(report: Report, width: int) -> Page:
    """Show as many findings and missing facts as 40 lines have room for."""
    out = Page()
    head, end = _head(report, width), _end(report, width)
    facts = [*_facts(report, width), *_interfaces(report, width), *_notes(report, width)]
    fixed = sum(map(len, (head, facts, end))) + 1
    findings, missing = MOST_FINDINGS, MOST_MISSING
    while True:
        middle = [*_findings(report, width, findings), *_others(report, width), *_missing(report, width, missing)]
        if fixed + len(middle) <= MOST_LINES or (findings, missing) == (FEWEST_FINDINGS, FEWEST_MISSING):
            break
        if missing > FEWEST_MISSING and findings <= 2 * FEWEST_FINDINGS:
            missing -= 1
        elif findings > FEWEST_FINDINGS:
            findings -= 1
        else:
            missing -= 1
    _verbatim(out, [*head, *facts, *middle, Text(""), *end])
    return out


def _verbatim(out: Page, lines: Iterable[Text]) -> None:
    out.verbatim(lines, indent=0)


def _headline_word(report: Report) -> Text:
    return styled(report.headline.value.upper(), HEADLINE_STYLE[report.headline])


def _head(report: Report, width: int) -> list[Text]:
    """The verdict, the reason as text, the file."""
    what = f"for {report.workload}" if report.profile else "no workload stated"
    form = f", form factor {report.form}" if report.form else ""
    purpose = f"{what}{form}" if report.profile or form else ""
    word = report.headline.value.upper()
    first, *rest = _wrapped(f"{word}  {purpose}".rstrip(), width, most=2)
    first.stylize(HEADLINE_STYLE[report.headline], 0, len(word))
    why = _wrapped(report.headline_why, width, most=3)
    return [first, *rest, *why, styled(report.board.path, "dim"), Text("")]


def _facts(report: Report, width: int) -> Iterator[Text]:
    """Layers, thickness and size; materials; vias: a line or two each."""
    first, *others = report.board.lines
    yield from _labelled("board", first, width, style="dim")
    for line in others:
        label, _, rest = line.partition(":")
        if label in FACTS:
            yield from _labelled(label, rest.strip(), width, most=2, style="dim")


def _interfaces(report: Report, width: int) -> list[Text]:
    """What the high-speed nets are, in one line or two; what has no room there is counted."""
    low = [row for row in report.taken_as if row.confidence is Confidence.LOW]
    sure = [row for row in report.taken_as if row.confidence is not Confidence.LOW]
    parts = [("", _counted(sure)), ("low confidence: ", _counted(low)), ("not routed: ", _counted(report.not_routed))]
    entries = [(label, name) for label, names in parts for name in names]
    for shown in range(len(entries), 0, -1):
        groups = groupby(entries[:shown], itemgetter(0))
        words = "; ".join(label + ", ".join(name for _, name in group) for label, group in groups)
        left = len(entries) - shown
        lines = _labelled("nets", words + (f"; {left} more: -v" if left else ""), width, most=2, style="dim")
        if shown == 1 or not lines[-1].plain.endswith("..."):
            return lines
    return _labelled("nets", "no high-speed interface detected", width, most=2, style="dim")


def _counted(rows: Iterable[TakenAs]) -> list[str]:
    nets: Counter[str] = Counter()
    for row in rows:
        nets[_interface_name(row)] += row.nets
    return [f"{name} ({count(number, 'net')})" for name, number in nets.items()]


def _interface_name(row: TakenAs) -> str:
    if not row.interface:
        return f"{family(row.family).title}, version unknown"
    return interface(row.interface).title if row.interface in interface_ids() else row.interface


def _notes(report: Report, width: int) -> list[Text]:
    """Notes of the reader, at most two."""
    lines = [line for note in report.notes[:2] for line in _labelled("note", note, width, most=2, style="yellow")]
    more = len(report.notes) - 2
    return [*lines, *(_labelled("", f"{count(more, 'note')} more: -v", width, style="dim") if more > 0 else [])]


def _findings(report: Report, width: int, most: int) -> Iterator[Text]:
    """One entry a finding: severity, code, what was measured against which limit, where; similar ones together."""
    yield Text("")
    stale = len(report.stale_suppressions)
    also = f", {count(stale, 'suppression that does', 'suppressions that do')} nothing" if stale else ""
    if not report.findings:
        yield styled(f"No findings{also}", "bold")
        return
    together = groups(report.findings)
    yield styled(f"{severity_counts(report.findings)}{also}", "bold")
    for group in together[:most]:
        yield from _entry(group, width)
    hidden = sum(len(group.findings) for group in together[most:])
    if hidden:
        yield from _labelled("", f"{hidden} more: -v", width, style="dim")


def _entry(group: Group, width: int) -> list[Text]:
    first = group.first
    similar = len(group.findings) - 1
    more = f" (and {similar} similar)" if similar else ""
    lines = _wrapped(f"{first.code} {first.title}", width, most=2, indent=INDENT, end=more)
    label = styled(f"  {LABELS[first.severity]:<{INDENT - 2}}", SEVERITY_STYLE[first.severity])
    return [label + line[INDENT:] if k == 0 else line for k, line in enumerate(lines)]


def _others(report: Report, width: int) -> Iterator[Text]:
    """What else has to be known: KiCad's own check, what was accepted, what crashed."""
    drc = report.kicad_drc
    if drc is not None:
        from stackwright.tables import kicad_drc

        words = (
            f"did not run: {drc.failed}; {drc.next_step}" if drc.failed else f"{kicad_drc.remark(drc)}; -v lists them"
        )
        yield from _labelled("KiCad DRC", words, width, most=3, style="yellow")
    suppressed = sum(one.by == "suppression" for one in report.accepted)
    parts = [f"{suppressed} suppressed"] if suppressed else []
    known = Counter(one.reason for one in report.accepted if one.by != "suppression")
    parts += [f"{many} {reason}" for reason, many in known.items()]
    parts += [f"{len(report.fixed)} fixed since the baseline"] if report.fixed else []
    if parts:
        yield from _labelled("accepted", ", ".join(parts), width, style="dim")
    if stale := report.stale_suppressions:
        line = f", line {stale[0].line} of {report.settings_file or FILE_NAME}" if stale[0].line else ""
        more = f" (and {len(stale) - 1} more: -v)" if stale[1:] else ""
        words = f"suppression of {stale[0].entry} {stale[0].problem}{line}{more}"
        yield from _labelled("warning", words, width, most=2, style="yellow")
    for crash in report.crashes[:2]:
        words = f"internal error in rule {crash.code} ({crash.error}): please report it with this board"
        yield from _labelled("error", words, width, most=2, style="bold red")


def _missing(report: Report, width: int, most: int) -> Iterator[Text]:
    """What to supply, the entry that decides most requirements first."""
    waiting, _ = not_verifiable(report.verdicts)
    wanted: dict[tuple[str, str], tuple[list[str], set[str]]] = {}
    for verdict in waiting:
        for missing in (*verdict.missing, *verdict.guesses):
            where = _supply(missing.how_to_give)
            facts, clauses = wanted.setdefault((where, "" if where else missing.fact), ([], set()))
            facts += [missing.fact] if missing.fact not in facts else []
            clauses.add(verdict.clause.id)
    if not wanted and not report.unknown_pairs:
        return
    yield Text("")
    yield styled("Missing data", "bold")
    errors = {v.clause.id for v in waiting if v.clause.severity is Severity.ERROR}
    rows = sorted(wanted.items(), key=lambda row: (-len(row[1][1] & errors), -len(row[1][1])))
    for (where, _), (facts, clauses) in rows[:most]:
        similar = f" and {len(facts) - 1} more" if len(facts) > 1 else ""
        words = f"{REMARK.sub('', facts[0])}{similar}"
        told = f"{where}: " if where else ""
        yield from _wrapped(f"{told}{words} ({count(len(clauses), 'requirement')})", width, most=2, indent=2)
    if len(rows) > most:
        yield styled(f"  {len(rows) - most} more: -v", "dim")
    if report.unknown_pairs:
        pairs = count(len(report.unknown_pairs), "differential pair")
        yield from _wrapped(f"[[interface]]: the interface of {pairs}", width, most=1, indent=2)


def _supply(how_to_give: str) -> str:
    """Return where a fact is entered: a place in KiCad, or a table of stackwright.toml."""
    first = how_to_give.partition("\n")[0].partition("  #")[0]
    if first.startswith("["):
        table = first.strip("[]").partition('."')[0]
        return f"[[{table}]]" if first.startswith("[[") else f"[{table}]"
    if first.startswith("in the [["):
        return first.removeprefix("in the ").partition(" of ")[0]
    if first.startswith("in KiCad, "):
        return "KiCad, " + re.split(r":|, (?!File)", first.removeprefix("in KiCad, "))[0]
    return ""


def _end(report: Report, width: int, *, verbose: bool = False) -> list[Text]:
    """The counts, and what to do next."""
    cover = report.coverage
    counts = tally(report.verdicts) or "none apply"
    pairs = f"; {told}" if (told := sectionless(cover)) else ""
    lines = _wrapped(f"Requirements: {counts}; coverage {cover.whole_percent} %{pairs}", width, most=4)
    return [*lines, Text(f"next: {clean(next_step(report, verbose=verbose))}")]


def _labelled(label: str, words: str, width: int, *, most: int = 1, style: str = "") -> list[Text]:
    lines = _wrapped(words, width, most=most, indent=INDENT)
    head = styled(f"  {label:<{INDENT - 2}}", style)
    return [head + line[INDENT:] if k == 0 else line for k, line in enumerate(lines)]


def _wrapped(words: str, width: int, *, most: int, indent: int = 0, end: str = "") -> list[Text]:
    """Return text in at most `most` lines; `end` is always at the end, whatever is cut before it."""
    room = max(width - indent, 20)
    text = UNIT.sub(GLUE, clean(words))
    lines = textwrap.wrap(text + end, room, break_on_hyphens=False) or [""]
    if len(lines) > most:
        lines = textwrap.wrap(text + end, room, max_lines=most, placeholder=f" ...{end}", break_on_hyphens=False)
    return [styled(" " * indent + line.replace(GLUE, " ")) for line in lines]
