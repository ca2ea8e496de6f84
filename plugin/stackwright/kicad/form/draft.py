"""The form of one session: its questions, what was answered so far, and the settings that come of it."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drc_rules.settings import FILE_NAME
from stackup_lib.core.errors import StackwrightError
from stackwright.text.output import former_of, write_over

if TYPE_CHECKING:  # a page opens before rules and physics are read
    from stackwright.kicad.form.model import FormQuestion
    from stackwright.kicad.form.verdict import FormVerdict

NOT_FOR_THE_PAGE = ("known", "low", "high", "is_open_low")


class FormDraft:
    """Answers that are not written yet; what was written is taken out of it."""

    def __init__(self, board: Path) -> None:
        self.target = board.with_name(FILE_NAME)
        self.is_workload_answered = False
        self.number = 0
        self._board = board.name
        self._questions: dict[str, FormQuestion] = {}
        self._asked: tuple[str, ...] = ()
        self._digest = ""
        self._elsewhere: list[str] = []
        self._now: FormVerdict | None = None
        self._then: FormVerdict | None = None
        self._shown: tuple[bytes | None, str] | None = None
        self._settings: tuple[bytes | None, str] = (None, "")
        self._typed: dict[str, dict[str, str]] = {}
        self._errors: Mapping[str, Mapping[str, str]] = {}

    def checked(self, told: Mapping[str, Any]) -> None:
        """Take the questions of a check with the settings as they are."""
        from stackwright.kicad.form.verdict import FormVerdict

        self._questions = {}
        self._now, self._then = FormVerdict.model_validate(told["verdict"]), None
        self._digest = told["digest"]
        self._ask(told)

    def tried(self, told: Mapping[str, Any]) -> None:
        """Take what a check with the draft says: some answers lead to further questions."""
        from stackwright.kicad.form.verdict import FormVerdict

        self._then = FormVerdict.model_validate(told["verdict"])
        self._ask(told)

    def _ask(self, told: Mapping[str, Any]) -> None:
        from stackwright.kicad.form.model import FormQuestion

        read = [FormQuestion.model_validate(one) for one in told["questions"]]
        self._questions |= {one.id: one for one in read}
        self._asked = tuple(one.id for one in read)
        self._elsewhere = told["elsewhere"]
        self.number += 1

    @property
    def settings(self) -> str:
        """The settings with the answers."""
        return self._settings[1]

    def forget(self) -> None:
        """Drop the answers: the settings as they are count again."""
        self._then, self._shown = None, None
        self._settings, self._typed, self._errors = (None, ""), {}, {}
        self.is_workload_answered = False

    def show(self) -> Mapping[str, object]:
        """Return the questions, and what the answers change, for the page."""
        from stackwright.kicad.form.verdict import effect

        now, then = self._now, self._then
        return {
            "questions": [_for_the_page(one) for one in self._questions.values()],
            "asked": list(self._asked),
            "elsewhere": self._elsewhere,
            "effect": effect(now, then or now) if now else None,
            "is_tried": then is not None,
            "answers": self._typed,
            "errors": self._errors,
            "changed": self.is_changed,
        }

    def answer(self, wanted: Mapping[str, object]) -> Mapping[str, Mapping[str, str]]:
        """Take answers and return what is wrong with them, by question and key; those that are right are drafted.

        Raises:
            StackwrightError: the settings cannot be read, or cannot take the answers.
        """
        from stackwright.kicad.form.answers import read_answers
        from stackwright.kicad.form.settings_text import with_answers

        self._typed = _texts(wanted.get("answers"))
        values, errors = read_answers(self._questions, self._typed)
        self._errors = errors
        former = former_of(self.target)
        text = (former or b"").decode("utf-8-sig", errors="replace")
        self._shown = None
        self.is_workload_answered = "profile" in values
        drafted = with_answers(text, self._questions, values, board=self._board, digest=self._digest)
        self._settings = former, drafted
        if not self.is_changed:
            self._then = None
        return errors

    @property
    def is_changed(self) -> bool:
        """True where the draft is not what the file says."""
        former, text = self._settings
        return text.encode() != (former or b"")

    def diff(self) -> Mapping[str, object]:
        """Return what writing would change, as a unified diff."""
        former, text = self._settings
        self._shown = self._settings
        before = (former or b"").decode("utf-8-sig", errors="replace").splitlines()
        names = (self.target.name if former is not None else "/dev/null", self.target.name)
        lines = difflib.unified_diff(before, text.splitlines(), *names, lineterm="")
        return {"name": self.target.name, "diff": "\n".join(lines)}

    def write(self) -> str:
        """Write what was shown as a diff, as a whole or not at all; return what was done in one line.

        Raises:
            StackwrightError: nothing was shown, or another program has written the file in the meantime.
        """
        if self._shown is None:
            raise StackwrightError(FILE_NAME, "was not written: the answers have changed", "show the diff again")
        former, text = self._shown
        kept = write_over(self.target, text, former=former, keep=True)
        self.forget()
        return f"Wrote {self.target}" + (f"; the former content is in {kept.name}" if kept else "") + "."


def _texts(given: object) -> dict[str, dict[str, str]]:
    """Return answers as far as they are texts by question and key."""
    found = {}
    for ident, fields in given.items() if isinstance(given, dict) else ():
        if isinstance(ident, str) and isinstance(fields, dict):
            found[ident] = {key: text for key, text in fields.items() if isinstance(text, str)}
    return found


def _for_the_page(question: FormQuestion) -> dict[str, object]:
    told = question.model_dump(mode="json", exclude={"tables", "array", "match"})
    for field in told["fields"]:
        for name in NOT_FOR_THE_PAGE:
            del field[name]
    return told
