"""Validation on public boards: seeded defects that are caught or missed, and defects that boards once had."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from docs.pages.markdown import Page, link, page, prose, table, title
from tests.corpus import history, recall
from tests.support.accuracy.labelled_nets import interval_pct

ORDER = (
    history.PASSED, history.SAME, history.UNJUDGED, history.OPEN, history.NO_RULE, history.CHANGED, history.CAUGHT,
)  # fmt: skip
MEANS = {
    history.PASSED: "the rule found nothing wrong before",
    history.SAME: "the rule found the same before and after: it was about something else",
    history.UNJUDGED: "the rule applied to nothing on the board, as nothing was declared",
    history.OPEN: "a fact was missing, and the report said which",
    history.NO_RULE: "no rule looks at such a thing",
    history.CHANGED: "found before and after, in another number",
    history.CAUGHT: "found before and gone after",
}


def pages() -> Iterator[Page]:
    """One page on seeds, one on history."""
    yield _seeded(recall.read_rows())
    yield _once(history.read_rows())


def _seeded(rows: Sequence[recall.Row]) -> Page:
    seeds = [row for row in rows if row.rule]
    order = (recall.MISSED, recall.JOINED, recall.UNDECIDED)
    bad = sorted((row for row in seeds if row.outcome in order), key=lambda row: (order.index(row.outcome), row.kind))
    return page(
        "validation/recall",
        title("Defects seeded in public boards"),
        _counted(rows),
        "`python -m tests.corpus.recall --write` repeats it. It needs git, the network and KiCad's `kicad-cli`; the "
        "boards are no part of the repository.",
        title("What was not caught", 2),
        "*Joined*: the board had a finding of this rule on other objects, which now tells of the seed, too; a baseline "
        "hides it. *Undecided*: the rule said that it cannot judge, and which fact is missing.",
        table(
            ("outcome", "defect", "rule", "board", "what was said, or why nothing was"),
            [
                [
                    row.outcome,
                    prose(row.kind),
                    row.rule,
                    prose("/".join(row.board.split("/")[:2])),
                    prose(row.said or recall.why_missed(row)),
                ]
                for row in bad
            ],
        ),
        title("By kind", 2),
        "In brackets are Wilson's 95 % intervals.",
        "\n".join(recall.table(rows)),
        title("What this does not show", 2),
        "Places are drawn by lot, one of a kind on a board, among those where the rule finds nothing yet. Kinds that "
        "need a stackup are tried only where one was entered. Where names leave the generation open, pairs were "
        "declared as PCIe Gen3, USB 3.2 Gen1, HDMI 2.0 and so on. Who wrote the rules chose the kinds; real defects "
        f"are {link('less alike', 'validation/history')}.",
        "The first run, on 25 November 2026, caught 85.6 % of 305 seeds (81.2 to 89.1). It led to three corrections of "
        "rules (STK006, SKW002, FAB018), and seeds that were no defect are drawn otherwise since. The corrected rules "
        "were not tried on boards that had not been used for it.",
        "Not seeded, because no public board was found that has what they need: backdrills, microvias, declared "
        "supply rails and high-power parts. `tests/boards` seeds those in KiCad's demo boards.",
    )


def _counted(rows: Sequence[recall.Row]) -> str:
    seeds, edits = [row for row in rows if row.rule], [row for row in rows if not row.rule]
    boards, kinds = len({row.board for row in seeds}), len({row.kind for row in seeds})
    caught = sum(row.outcome == recall.NEW for row in seeds)
    quiet, opens = sum(row.outcome == recall.QUIET for row in edits), sum(row.opens == "yes" for row in rows)
    share = interval_pct(caught, len(seeds)).replace(" (", " % (")
    return (
        f"On {max(row.checked for row in rows)} a script made {len(seeds)} defects of {kinds} kinds in {boards} public "
        "boards of KiCad 6 to 9 with four layers or more, as changes of the text of their files. "
        f"{caught} were caught, {share}: a finding of the rule that was not there before names the object and lies "
        f"within {recall.NEAR_MM:g} mm of the place; where a defect has no place, such as the skew of a pair, it names "
        f"net or row. KiCad opened {opens} of the {len(rows)} changed boards. Of "
        f"{len(edits)} harmless edits, such as a moved text, {quiet} led to no new finding."
    )


def _once(rows: Sequence[history.Row]) -> Page:
    counts = Counter(row.outcome for row in rows)
    ordered = sorted(rows, key=lambda row: (ORDER.index(row.outcome), row.board, row.date))
    return page(
        "validation/history",
        title("Defects that public boards once had"),
        f"{len(rows)} times the history of a public board tells of a defect of copper, holes, stackup or planes that "
        "was corrected. Each was checked as it was before and after, with nothing declared but the generation of "
        "interfaces. Commits were found by words of their messages (impedance, clearance, via, edge, swap and more) in "
        "100 histories, issues by a search; one reader chose those that tell of a defect, and wrote down which rules "
        f"should say it, before any was run. State of {max(row.checked for row in rows)}; "
        "`python -m tests.corpus.history --write` repeats it, with git and the network.",
        table(
            ("outcome", "defects", "means"),
            [[one, str(counts[one]), prose(MEANS[one])] for one in ORDER],
        ),
        "Clean-ups with many changes are among them (`fixed DRC errors`): there, a finding that stays says nothing of "
        "those that KiCad's own check had. Boards of KiCad 5 and older hold no stackup: their impedance, and spaces "
        "that only heavy copper forbids, stay open until it is entered. sinara-hw/Urukul#54, a Dk that is wrong on one "
        "side, is an Altium board; the same defect in a KiCad board is reported (STK006). The first run passed the "
        "swapped USB of MabezDev/mkey; NET008 reads such pins since.",
        table(
            ("outcome", "board", "date", "defect", "rules", "before", "after"),
            [
                [
                    row.outcome,
                    prose(row.board),
                    row.date,
                    f"[{prose(row.what)}]({row.told})",
                    row.rules or "-",
                    prose(row.before),
                    prose(row.after),
                ]
                for row in ordered
            ],
        ),
    )  # fmt: skip
