"""Form factors whose outline a board has."""

from collections.abc import Iterable

from drc_rules.report.verdicts import ClauseVerdict, Verdict
from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.forms import forms, load_form
from stackup_lib.board.board import Board
from stackup_lib.core.frozen import Frozen

TOLERANCE_MM = 0.5
"""Where a form factor states no tolerance: what outlines differ by through rounded corners and chamfers."""


class FormOfBoard(Frozen):
    """A form factor of the same outline, and what its own clauses say; empty until they are judged."""

    name: str
    title: str
    verdicts: tuple[ClauseVerdict, ...] = ()

    def clauses(self) -> tuple[Clause, ...]:
        """Return what it asks of a board."""
        return load_form(self.name).clauses()

    def judged(self, verdicts: Iterable[ClauseVerdict]) -> "FormOfBoard":
        """Return it with what its clauses say of the board."""
        return self.model_copy(update={"verdicts": tuple(verdicts)})

    @property
    def failed(self) -> tuple[str, ...]:
        """Titles of its clauses that the board does not meet."""
        return tuple(v.clause.title for v in self.verdicts if v.verdict is Verdict.FAILED)


def forms_of_size(board: Board) -> tuple[FormOfBoard, ...]:
    """Return the form factors whose published outline the board's has, either way round."""
    size = board.outline.size_mm
    if size is None:
        return ()
    found = []
    for form in forms().values():
        within = TOLERANCE_MM if form.size_tolerance_mm is None else form.size_tolerance_mm
        if form.size_mm is not None and all(
            abs(a - b) <= within for a, b in zip(sorted(size), sorted(form.size_mm), strict=True)
        ):
            found.append(FormOfBoard(name=form.name, title=form.title))
    return tuple(found)
