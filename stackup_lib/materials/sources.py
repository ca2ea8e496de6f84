"""Where a value comes from, and how far that may be trusted."""

from enum import Enum, StrEnum

from stackup_lib.core.facts import Confidence
from stackup_lib.core.frozen import Frozen


class Grade(StrEnum):
    """How a value reached us."""

    VENDOR = "vendor"  # read from the maker's own page or sheet
    TRANSCRIBED = "transcribed"  # a maker's value read through a transcription that names the document
    THIRD_PARTY = "third-party"  # a third party's claim
    ENGINEERING = "engineering"  # common knowledge of the field; no document

    @property
    def confidence(self) -> Confidence:
        """High for the maker's own word, medium for a transcription of it, low for the rest."""
        if self is Grade.VENDOR:
            return Confidence.HIGH
        return Confidence.MEDIUM if self is Grade.TRANSCRIBED else Confidence.LOW


class MaterialSource(Frozen):
    """A document as text, and the grade of our reading of it.

    Attributes:
        revision: number, date or page of the document that `text` does not name; "" where none was seen.
    """

    text: str
    grade: Grade
    revision: str = ""

    def __str__(self) -> str:
        return f"{', '.join(x for x in (self.text, self.revision) if x)} ({self.grade})"


class Ranked(Enum):
    """An enumeration ordered by `rank`; the order of its members unless a subclass says otherwise."""

    @property
    def rank(self) -> int:
        """Position in the order, 0 first."""
        return list(type(self)).index(self)

    @property
    def label(self) -> str:
        """The word for messages."""
        return str(self.value)

    def __lt__(self, other: object) -> bool:
        return self.rank < other.rank if isinstance(other, type(self)) else NotImplemented

    def __le__(self, other: object) -> bool:
        return self.rank <= other.rank if isinstance(other, type(self)) else NotImplemented

    def __gt__(self, other: object) -> bool:
        return self.rank > other.rank if isinstance(other, type(self)) else NotImplemented

    def __ge__(self, other: object) -> bool:
        return self.rank >= other.rank if isinstance(other, type(self)) else NotImplemented

    def __str__(self) -> str:
        return self.label


def lowered(confidence: Confidence) -> Confidence:
    """Return the next lower confidence; low stays low."""
    return Confidence.MEDIUM if confidence is Confidence.HIGH else Confidence.LOW
