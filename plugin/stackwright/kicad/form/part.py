"""The form's part of a session: what its page requests, and checks with answers that are not written yet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from stackup_lib.core.errors import StackwrightError
from stackwright.kicad.choices import Choices
from stackwright.kicad.form.draft import FormDraft

Told = dict[str, Any] | None
Finish = Callable[[Told, StackwrightError | None], None]


class FormPart:
    """The form of one board.

    Attributes:
        lines: what was written, a line each.
    """

    def __init__(self, board: Path, choices: Choices, begin: Callable[[Mapping[str, str], Finish], bool]) -> None:
        self.lines: list[str] = []
        self._draft = FormDraft(board)
        self._choices = choices
        self._begin = begin

    @property
    def number(self) -> int:
        """A token that changes when the page has to load the form again."""
        return self._draft.number

    def checked(self, told: Mapping[str, Any] | None) -> None:
        """Take the questions of a check."""
        if told is not None:
            self._draft.checked(told)

    def show(self, _wanted: Mapping[str, object]) -> Mapping[str, object]:
        """Return the questions and the effect of the answers."""
        return self._draft.show()

    def answer(self, wanted: Mapping[str, object]) -> Mapping[str, object]:
        """Take the answers of the page; begin a check with them where they change the settings.

        Raises:
            StackwrightError: the settings cannot be read, or cannot take the answers.
        """
        errors = self._draft.answer(wanted)
        changed = self._draft.is_changed
        return {"errors": errors, "changed": changed, "waits": changed and not self._try()}

    def _try(self) -> bool:
        """Return whether a check with the answers was begun."""
        settings = self._draft.settings
        profile = "" if self._draft.is_workload_answered else self._choices.profile or ""

        def finish(told: Told, _error: StackwrightError | None) -> None:
            if told is not None:
                self._draft.tried(told)

        return self._begin({"kind": "try", "settings": settings, "profile": profile}, finish)

    def diff(self, _wanted: Mapping[str, object]) -> Mapping[str, object]:
        """Return what writing would change."""
        return self._draft.diff()

    def write(self, _wanted: Mapping[str, object]) -> Mapping[str, object]:
        """Write what was shown; a workload that is in the settings now needs not be remembered elsewhere.

        Raises:
            StackwrightError: nothing was written.
        """
        is_workload = self._draft.is_workload_answered
        self.lines.append(self._draft.write())
        if is_workload and self._choices.profile:
            self._choices.keep("")
        return {"line": self.lines[-1]}
