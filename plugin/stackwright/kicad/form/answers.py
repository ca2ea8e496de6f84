"""From what was typed to values of the settings: each input says what it cannot take, and what it can."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches

from drc_rules.requirements.forms import load_form
from drc_rules.requirements.profiles.profile import load_profile
from stackup_lib.core.errors import ConfigError, did_you_mean
from stackup_lib.materials import FoilGrade, catalogue, find_foil
from stackwright.kicad.form.model import Answers, FormField, FormQuestion, Kind
from stackwright.kicad.form.power import NONE_HOT

Value = str | float | bool | list[str]
Values = Mapping[str, Mapping[str, Value]]
"""What is to be written, by question and key."""

NEAREST = 3
NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?")


class AnswerError(Exception):
    """An answer that makes no sense; its text says why and what would."""


def read_answers(questions: Mapping[str, FormQuestion], answers: Answers) -> tuple[Values, dict[str, dict[str, str]]]:
    """Return the values that were typed, and by question and key what is wrong with the others.

    A question with an input that is wrong, or that is needed and empty, has no values.
    """
    values: dict[str, Mapping[str, Value]] = {}
    errors: dict[str, dict[str, str]] = {}
    for ident, typed in answers.items():
        question = questions.get(ident)
        given = {key: text.strip() for key, text in typed.items() if text.strip()}
        if question is None or not given:
            continue
        read, wrong = _read(question, given)
        if wrong:
            errors[ident] = wrong
        else:
            values[ident] = read
    return values, errors


def _read(question: FormQuestion, given: Mapping[str, str]) -> tuple[dict[str, Value], dict[str, str]]:
    read: dict[str, Value] = {}
    wrong: dict[str, str] = {}
    for field in question.fields:
        if field.key not in given:
            if field.is_needed:
                wrong[field.key] = "Needed with the rest of this answer."
            continue
        try:
            read[field.key] = _READERS[field.kind](field, given[field.key])
        except AnswerError as error:
            wrong[field.key] = f"{error}".rstrip(".") + ("" if f"{error}".endswith("?") else ".")
    return read, wrong


def _workload(_field: FormField, text: str) -> Value:
    return _loaded(text, load_profile)


def _form_factor(_field: FormField, text: str) -> Value:
    return _loaded(text, load_form)


def _loaded(text: str, load: Callable[[str], object]) -> Value:
    try:
        load(text)
    except ConfigError as error:
        raise AnswerError(f"{error.what}; {error.next_step}") from error
    return text


def _laminate(_field: FormField, text: str) -> Value:
    match = catalogue().find(text)
    if match.laminate is not None:
        return text
    names = [*match.alternatives, *(one.family for one in catalogue().search(text))]
    families = {one.family.lower(): one.family for one in catalogue().laminates}
    names += [families[near] for near in get_close_matches(text.lower(), families, n=NEAREST, cutoff=0.4)]
    near = ", ".join(list(dict.fromkeys(names))[:NEAREST])
    why = "may mean several laminates" if match.status == "ambiguous" else "is no laminate of the catalogue"
    hint = f"nearest: {near}" if near else "choose one of the list"
    raise AnswerError(f'"{text}" {why}; {hint}.')


def _foil(_field: FormField, text: str) -> Value:
    if find_foil(text).grade is None:
        raise AnswerError(f'"{text}" is no known foil; {did_you_mean(text, [grade.value for grade in FoilGrade])}.')
    return text


def _choice(field: FormField, text: str) -> Value:
    known = [choice.value for choice in field.choices]
    if text not in known:
        raise AnswerError(f'"{text}" is none of them; {did_you_mean(text, known)}.')
    return text


def _flag(field: FormField, text: str) -> Value:
    return _choice(field, text) == "true"


def _text(field: FormField, text: str) -> Value:
    return _known(field, text)


def _names(field: FormField, text: str) -> Value:
    if field.key == "refs" and text.lower() == NONE_HOT:
        return []
    return [_known(field, name) for name in re.split(r"[,\s]+", text) if name]


def _known(field: FormField, name: str) -> str:
    """Return a name that is on the board, or a pad of a part: `U7.3`."""
    part = name.rpartition(".")[0]
    if field.known and name not in field.known and not (field.kind == "names" and part in field.known):
        raise AnswerError(f'"{name}" is not on this board; {_nearest(name, field.known)}.')
    return name


def _nearest(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, list(known), n=NEAREST, cutoff=0.5)
    return f"nearest: {', '.join(near)}" if near else "choose one of the list"


def _number(field: FormField, text: str) -> Value:
    unit = field.label.rpartition(", ")[2]
    found = NUMBER.match(text)
    rest = text[found.end() :].strip() if found else ""
    if found is None or rest.lower() not in ("", unit.lower()):
        what = f'{text}: the rest, "{rest}", is not understood' if found and rest else f'"{text}" is no number'
        raise AnswerError(f"{what}; type a number {_range(field)}, in {unit}")
    value = float(found[0].replace(",", "."))
    is_low = field.low is not None and (value <= field.low if field.is_open_low else value < field.low)
    if is_low or (field.high is not None and value > field.high):
        raise AnswerError(f"{value:g} {unit} is out of range; type a number {_range(field)}")
    return int(value) if value.is_integer() else value


def _range(field: FormField) -> str:
    if field.low is None or field.high is None:
        return f"above {field.low or 0:g}"
    return (
        f"above {field.low:g} and up to {field.high:g}"
        if field.is_open_low
        else f"from {field.low:g} to {field.high:g}"
    )


_READERS: Mapping[Kind, Callable[[FormField, str], Value]] = {
    "workload": _workload,
    "form factor": _form_factor,
    "laminate": _laminate,
    "foil": _foil,
    "interface": _choice,
    "number": _number,
    "names": _names,
    "text": _text,
    "choice": _choice,
    "flag": _flag,
}
