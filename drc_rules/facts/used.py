"""What an answer rests on: how sure each fact is, what is in doubt, and which of the stated choices were used."""

from __future__ import annotations

from dataclasses import field

from stackup_lib.core.facts import Confidence, MissingFact, least
from stackup_lib.core.record import workpiece


@workpiece
class Used:
    """What an answer rests on.

    Attributes:
        confidence: of the least sure fact.
        doubts: what would make it surer where it rests on a guess, by name and fix.
        choices: what was read of workload, form factor and roles of nets; where they differ, so may the answer.
    """

    confidence: Confidence = Confidence.HIGH
    doubts: dict[tuple[str, str], MissingFact] = field(default_factory=dict)
    choices: dict[str, object] = field(default_factory=dict)

    def rests_on(self, confidence: Confidence) -> None:
        """Record that the answer is no surer than this."""
        self.confidence = least(self.confidence, confidence)

    def doubt(self, about: MissingFact) -> None:
        """Remember what to declare, once."""
        self.doubts.setdefault((about.name, about.how_to_give), about)

    def add(self, other: Used) -> None:
        """Rest on all that another answer rests on."""
        self.rests_on(other.confidence)
        for fact in other.doubts.values():
            self.doubt(fact)
        self.choices |= other.choices
