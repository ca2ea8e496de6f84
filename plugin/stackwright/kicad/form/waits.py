"""Which questions a clause waits for: read from the hints that its missing facts carry."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from drc_rules.engine.missing_inputs import unproven
from drc_rules.report.verdicts import ClauseVerdict, Verdict
from drc_rules.settings.toml_blocks import CHOOSERS, blocks_of
from stackup_lib.core.record import record

OPEN = re.compile(r'^([\w.]+) = .*"\?"')
IN_TABLE = re.compile(r"^in the \[\[(rail|hot_part)\]\] of (.+?): (.*)$")
UNDER = re.compile(r"^# under the \[\[hot_part\]\] of (\S+)", re.MULTILINE)
ROW = re.compile(r'^\[declared\.(?:dielectric|copper)\."(.+)"\]')


def facts_of(hint: str) -> Iterator[str]:
    """Yield the ids of the facts that a hint names, as `FormQuestion.id` has them; roles with ` role` behind."""
    if within := IN_TABLE.match(hint):
        kind, name, line = within.groups()
        yield from (f"{kind} {name}.{key}" for key in _open_keys([line]))
        return
    if under := UNDER.search(hint):
        yield from (f"hot_part {under[1]}.{key}" for key in _open_keys(hint.splitlines()))
        return
    for block in blocks_of(hint.splitlines()):
        if block:
            yield from _of_table(block)


def choosers_of(lines: Sequence[str]) -> str:
    """Return the lines that choose nets, in one text: by it an `[[interface]]` is known."""
    return "; ".join(sorted(line.partition("  #")[0] for line in lines if line.partition(" =")[0] in CHOOSERS))


def _of_table(block: Sequence[str]) -> Iterator[str]:
    head, keys = block[0], list(_open_keys(block))
    if head.startswith("[[interface]]"):
        nets = choosers_of(block)
        yield from (f"interface {nets}" for key in keys if key == "is")
        yield from (f"interface {nets} role" for key in keys if key == "role")
    elif head.startswith("[["):
        yield head.partition("]]")[0].removeprefix("[[")
    elif row := ROW.match(head):
        for key in keys:
            yield f"declared.dielectric.{row[1]}.material" if key == "material" else f"declared.{key}"
    elif head.startswith("[declared]"):
        yield from (f"declared.{key}" for key in keys)
    elif not head.startswith("["):
        yield from keys


def _open_keys(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        if found := OPEN.match(line):
            yield found[1]


@record
class Waiting:
    """The clauses that are open, by the fact that they wait for."""

    by_fact: Mapping[str, tuple[ClauseVerdict, ...]]

    @classmethod
    def of(cls, verdicts: Sequence[ClauseVerdict]) -> Waiting:
        """Sort open clauses by fact."""
        found: dict[str, dict[str, ClauseVerdict]] = {}
        for verdict in unproven(verdicts):
            for missing in (*verdict.missing, *verdict.guesses):
                for fact in facts_of(missing.how_to_give):
                    found.setdefault(fact, {})[verdict.clause.id] = verdict
        return cls({fact: tuple(of.values()) for fact, of in found.items()})

    def clauses(self, *facts: str) -> tuple[str, ...]:
        """Return the ids of the clauses that wait for any of these facts."""
        return tuple(v.clause.id for v in self._verdicts(facts))

    def words(self, *facts: str, otherwise: str = "No requirement that applies now waits for it.") -> str:
        """Say what cannot be verified without these facts; `otherwise` where nothing waits for them."""
        verdicts = self._verdicts(facts)
        if not verdicts:
            return otherwise
        open_ones = [v for v in verdicts if v.verdict is Verdict.NOT_VERIFIABLE]
        guessed = [v for v in verdicts if v.verdict is not Verdict.NOT_VERIFIABLE]
        said = []
        if open_ones:
            verb = "requirement is" if len(open_ones) == 1 else "requirements are"
            said.append(f"{len(open_ones)} {verb} not verifiable without it: {_some(open_ones)}.")
        if guessed:
            verb = "requirement is" if len(guessed) == 1 else "requirements are"
            said.append(f"{len(guessed)} {verb} met on a guess without it: {_some(guessed)}.")
        return " ".join(said)

    def _verdicts(self, facts: Sequence[str]) -> list[ClauseVerdict]:
        return list({v.clause.id: v for fact in facts for v in self.by_fact.get(fact, ())}.values())


def _some(verdicts: Sequence[ClauseVerdict], shown: int = 2) -> str:
    more = len(verdicts) - shown
    titles = [v.clause.title for v in verdicts[:shown]]
    return "; ".join([*titles, *([f"and {more} more"] if more > 0 else [])])
