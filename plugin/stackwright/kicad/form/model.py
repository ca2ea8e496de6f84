"""What the form asks: a fact per question, with one input or several, and where its answer is written."""

from collections.abc import Mapping
from typing import Literal

from stackup_lib.core.frozen import Frozen

Kind = Literal["workload", "form factor", "laminate", "foil", "interface", "number", "names", "text", "choice", "flag"]
"""How an answer is read: `names` is a list with commas, `choice` one of the choices, `flag` yes or no."""

Part = Literal["Purpose", "Stackup", "Interfaces", "Rails", "High-power components"]


class FormChoice(Frozen):
    """What an input offers.

    Attributes:
        value: the answer.
        note: what it is, in a few words.
    """

    value: str
    note: str = ""


class FormField(Frozen):
    """One input.

    Attributes:
        key: its key in the table.
        label: with the unit.
        kind: how an answer is read.
        is_needed: the table states nothing without it.
        value: what is filled in from the start.
        choices: what is offered.
        choices_by: what is offered depending on another input of the same question, by the value of that one.
        known: all that is accepted, where that is more than what is offered; not for the page.
        low, high: range of a number, its ends included where `is_open_low` is False.
        is_open_low: a number has to exceed `low`.
    """

    key: str
    label: str
    kind: Kind
    is_needed: bool = False
    value: str = ""
    choices: tuple[FormChoice, ...] = ()
    choices_by: Mapping[str, tuple[str, ...]] = {}
    known: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    is_open_low: bool = False


class FormQuestion(Frozen):
    """One fact, or one table of facts.

    Attributes:
        id: the fact: keys of its table with dots, or a kind of table and what it is about.
        part: under which heading it stands.
        title: the question.
        fields: its inputs.
        now: what is known at present, and where that comes from.
        decides: what cannot be verified without it.
        clauses: ids of those clauses.
        tables: tables that each get the answer, by their keys; `()` is the top of the file. Empty for an array.
        array: array of tables that the answer is an element of, "" for none.
        match: keys and values that tell the element; a new one begins with them.
        is_idle: nothing waits for it at present.
        is_covered: the answer for several rows of the stackup covers this row.
        is_of_stackup: the answer holds for the stackup that the board has now.
    """

    id: str
    part: Part
    title: str
    fields: tuple[FormField, ...]
    now: str
    decides: str = ""
    clauses: tuple[str, ...] = ()
    tables: tuple[tuple[str, ...], ...] = ()
    array: str = ""
    match: Mapping[str, str | tuple[str, ...]] = {}
    is_idle: bool = False
    is_covered: bool = False
    is_of_stackup: bool = False


Answers = Mapping[str, Mapping[str, str]]
"""What was typed, by question and key; an empty text is no answer."""
