"""A `Fact` is a value that knows where it came from, or an unknown that knows how to be given."""

from __future__ import annotations

from enum import StrEnum
from typing import Generic, TypeVar

from stackup_lib.core.record import record

T = TypeVar("T")
U = TypeVar("U")


class Origin(StrEnum):
    """Who said it; earlier members win over later ones."""

    COMMAND_LINE = "command line"
    DECLARED = "declared"
    TEXT_VARIABLE = "text variable"
    FILE = "file"
    CATALOGUE = "catalogue"
    INFERRED = "inferred"
    UNKNOWN = "unknown"


class Confidence(StrEnum):
    """How far a value may be trusted; `rank` orders them."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @property
    def rank(self) -> int:
        """0 for low, 1 for medium, 2 for high."""
        return {"low": 0, "medium": 1, "high": 2}[self.value]


def least(*confidences: Confidence) -> Confidence:
    """Return the lowest of the given confidences; a chain is as strong as its weakest link."""
    return next((one for one in (Confidence.LOW, Confidence.MEDIUM) if one in confidences), Confidence.HIGH)


@record
class Fact(Generic[T]):
    """One value about a board, with origin, source and confidence; or an unknown that says how to give it.

    Attributes:
        name: what the value is, for messages, e.g. `foil grade of In2.Cu`.
        value: the value, or None when it is not known.
        origin: who said it.
        source: file and place, or document, as text.
        confidence: how far it may be trusted.
        how_to_give: for an unknown, the exact line or action that makes it known.
        stale: declared for another stackup than the one the board has now, hence unknown.
    """

    name: str
    value: T | None = None
    origin: Origin = Origin.UNKNOWN
    source: str = ""
    confidence: Confidence = Confidence.HIGH
    how_to_give: str = ""
    stale: bool = False

    @property
    def known(self) -> bool:
        """True when there is a value and it is not stale."""
        return self.value is not None and not self.stale

    def need(self) -> T:
        """Return the value, or raise `MissingFact`: a rule that needs an unknown cannot pass."""
        if self.value is None or self.stale:
            raise MissingFact(self.name, self.how_to_give, stale=self.stale)
        return self.value


class MissingFact(Exception):  # noqa: N818 - not an error: the honest outcome of a question without an answer
    """A value was needed that is not given; the engine turns it into the verdict `not verifiable`."""

    def __init__(self, name: str, how_to_give: str, *, stale: bool = False) -> None:
        super().__init__(name, how_to_give)
        self.name = name
        self.how_to_give = how_to_give
        self.stale = stale

    @property
    def what(self) -> str:
        """What is wrong, as errors say it."""
        return f"{self.name} is not known"

    @property
    def next_step(self) -> str:
        """What to do about it, in one line as errors say it."""
        return "; ".join(self.how_to_give.splitlines()) or "declare it in stackwright.toml"


def unknown(name: str, how_to_give: str) -> Fact[U]:
    """Return an unknown `Fact` that says how to give its value."""
    return Fact(name=name, how_to_give=how_to_give, confidence=Confidence.LOW)
