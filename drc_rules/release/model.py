"""A comparison of files for the fab with a board: findings, and what was compared."""

from enum import StrEnum

from stackup_lib.core.frozen import Frozen


class ReleaseOutcome(StrEnum):
    """What was found."""

    DIFFERS = "differs"
    NOT_STATED = "not in the files"
    NOT_COMPARED = "not compared"
    NOTE = "note"


class ReleaseFinding(Frozen):
    """One difference between the board and what is sent.

    Attributes:
        topic: what it is about, e.g. `Df`.
        what: object and place on the board, e.g. `dielectric 5`.
        place: file and line, or element; "" where it concerns the files together.
        board, sent: the two values as text.
        consequence: for the board that would be made.
        fix: how to export it right.
    """

    outcome: ReleaseOutcome
    topic: str
    what: str
    place: str = ""
    board: str = ""
    sent: str = ""
    consequence: str = ""
    fix: str = ""


class ReleaseFile(Frozen):
    """One file that was read, and the topics of which both it and the board state something."""

    path: str
    format: str
    topics: tuple[str, ...]


class ReleaseComparison(Frozen):
    """Everything that was found.

    Attributes:
        others: files in no known format.
        other_board: by what the files show that they are of another board; "" where they do not.
    """

    files: tuple[ReleaseFile, ...]
    findings: tuple[ReleaseFinding, ...]
    others: tuple[str, ...] = ()
    other_board: str = ""

    @property
    def agrees(self) -> bool:
        """True when nothing differs and nothing the board states is missing."""
        return all(finding.outcome is ReleaseOutcome.NOTE for finding in self.findings)
