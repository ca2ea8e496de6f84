"""Findings on public boards that two readers judged apart: precision by rule, agreement, what a rule may be by that.

Run: `python -m tests.corpus.judged` prints the tables of `judged_findings.csv`. With `--from SAMPLE A B C` it first
writes that file from a sample (`tests.corpus.sample`) and the tables of two readers' answers (`number, key, answer,
evidence`), and of a third one's where the two disagreed whether a finding is false.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from tests.support.accuracy.labelled_nets import interval_pct

JUDGED = Path(__file__).with_name("judged_findings.csv")
ANSWERS = ("true-useful", "true", "arguable", "false")
MOST_FALSE = {"error": 0.05, "warning": 0.20}
"""Share of a rule's findings of a severity that may be false."""
ENOUGH = 20
"""A rule with fewer findings that were judged is not known well enough to be decided by them."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A finding and the answers of two readers apart; `second`, and `settled` of a third one, may be empty."""

    board: str
    profile: str
    rule: str
    severity: str
    clause: str
    key: str
    first: str
    second: str
    settled: str
    evidence: str

    @property
    def answer(self) -> str:
        """The answer that counts: what was settled; else what all say; else the more severe of the two."""
        if self.settled or not self.second:
            return self.settled or self.first
        return max(self.first, self.second, key=ANSWERS.index)


def read_judged(path: Path = JUDGED) -> list[Judged]:
    """Return the findings that were judged."""
    with path.open(encoding="utf-8", newline="") as lines:
        return [Judged(**row) for row in csv.DictReader(lines)]


def compiled(sample: Path, first: Path, second: Path, third: Path) -> list[Judged]:
    """Return the findings that the first reader has answered, with the answers of the others where there are."""
    firsts, seconds, thirds = _answers(first), _answers(second), _answers(third)
    found = []
    with sample.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            if one := firsts.get(row["number"]):
                none = {"answer": "", "evidence": ""}
                other, last = seconds.get(row["number"], none), thirds.get(row["number"], none)
                told = [one["evidence"], *([other["evidence"]] if other["answer"] != one["answer"] else [])]
                told.append(last["evidence"])
                facts = {name: row[name] for name in ("board", "profile", "rule", "severity", "clause", "key")}
                answers = {"first": one["answer"], "second": other["answer"], "settled": last["answer"]}
                found.append(Judged(**facts, **answers, evidence=" ".join(" | ".join(filter(None, told)).split())))
    return found


def _answers(path: Path) -> Mapping[str, Mapping[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        rows = {row["number"]: row for row in csv.DictReader(lines) if row["answer"]}
    unknown = {row["answer"] for row in rows.values()} - set(ANSWERS)
    if unknown:
        raise ValueError(f"{path}: no answers: {sorted(unknown)}")
    return rows


def write(found: Iterable[Judged], path: Path = JUDGED) -> None:
    """Write the table of judged findings."""
    with path.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow([field.name for field in fields(Judged)])
        writer.writerows(astuple(one) for one in found)


def kappa(found: Sequence[Judged]) -> float:
    """Return Cohen's kappa of the two people's answers over the four classes; 1 is full agreement, 0 that of chance.

    Source: J. Cohen, A coefficient of agreement for nominal scales, Educ. Psychol. Meas. 20 (1960), equation 1.
    """
    found = [one for one in found if one.second]
    count = len(found)
    agreed = sum(one.first == one.second for one in found) / count
    firsts, seconds = Counter(one.first for one in found), Counter(one.second for one in found)
    chance = sum(firsts[name] * seconds[name] for name in ANSWERS) / count**2
    return 1.0 if chance == 1 else (agreed - chance) / (1 - chance)


def too_severe(found: Iterable[Judged]) -> list[str]:
    """Return the rules with more false findings than their severity allows, of those that are known well enough."""
    said = []
    for (rule, severity), answers in sorted(_by_rule(found).items()):
        total, false = sum(answers.values()), answers["false"]
        if total >= ENOUGH and false > MOST_FALSE[severity] * total:
            said.append(f"{rule}: {false} of {total} findings of severity {severity} are false")
    return said


def _by_rule(found: Iterable[Judged]) -> dict[tuple[str, str], Counter[str]]:
    counted: dict[tuple[str, str], Counter[str]] = {}
    for one in found:
        counted.setdefault((one.rule, one.severity), Counter())[one.answer] += 1
    return counted


def tables(found: Sequence[Judged]) -> str:
    """Return agreement and precision as Markdown."""
    both = [one for one in found if one.second]
    lines = [
        f"{len(found)} findings on {len({one.board for one in found})} boards were judged {_two(found, both)}",
        "",
        "| rule | severity | judged | true and useful | true | arguable | false | not false, % (95 % interval) |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    rows = _by_rule(found)
    order = sorted(rows, key=lambda key: (-rows[key]["false"] / sum(rows[key].values()), key))
    for rule, severity in order:
        answers = rows[rule, severity]
        total = sum(answers.values())
        counts = " | ".join(str(answers[name]) for name in ANSWERS)
        lines.append(f"| {rule} | {severity} | {total} | {counts} | {interval_pct(total - answers['false'], total)} |")
    for severity in MOST_FALSE:
        mine = [one for one in found if one.severity == severity]
        if mine:
            right = sum(one.answer != "false" for one in mine)
            lines.append(
                f"| all | {severity} | {len(mine)} | | | | {len(mine) - right} | {interval_pct(right, len(mine))} |"
            )
    return "\n".join(lines) + "\n"


def _two(found: Sequence[Judged], both: Sequence[Judged]) -> str:
    if not both:
        return "by one reader."
    same = sum(one.first == one.second for one in both) / len(both)
    truth = sum((one.first == "false") == (one.second == "false") for one in both) / len(both)
    who = "by two readers apart" if len(both) == len(found) else f"by one reader, {len(both)} by a second apart"
    return (
        f"{who}. They gave the same of four answers to {100 * same:.0f} % (Cohen's kappa {kappa(both):.2f}) and "
        f"agreed on {100 * truth:.1f} % whether a finding is false; where they did not, a third one decided."
    )


def main(words: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="tests.corpus.judged", description=__doc__)
    parser.add_argument("--from", dest="source", nargs=4, type=Path, metavar=("SAMPLE", "A", "B", "C"))
    asked = parser.parse_args(words)
    if asked.source:
        write(compiled(*asked.source))
    sys.stdout.write(tables(read_judged()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
