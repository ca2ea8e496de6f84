"""How every page is made: templates in one folder, strict about names; whatever a board says is cleaned and escaped."""

from __future__ import annotations

from typing import Protocol

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from stackwright import __version__
from stackwright.drawing.columns import NARROW, SIGNS, Slot, column
from stackwright.reporters.assets import TEMPLATES, script, script_hash, style_sheet
from stackwright.reporters.compiled import CompiledTemplates
from stackwright.tables import deltas
from stackwright.text.words import clean, count, number, some

NO_RULE = "no rule yet"
SYMBOLS = {
    "fit": "\u2713",
    "not fit": "\u2717",
    "not proven": "?",
    "no workload": "\u2013",
    "error": "\u2717",
    "warning": "!",
    "info": "i",
    "failed": "\u2717",
    "not met": "!",
    "remark": "i",
    "met": "\u2713",
    "not verifiable": "?",
    "not looked at": "?",
    "passed": "\u2713",
    "not applicable": "\u2013",
    NO_RULE: "\u00b7",
}
"""The sign next to a word that has a colour, so that the colour says nothing alone."""


def environment(**names: object) -> Environment:
    """Return the environment for our templates, in which they know these names besides what every page needs."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        finalize=_visible,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        bytecode_cache=CompiledTemplates(),
    )
    css = Markup(style_sheet())  # noqa: S704 - our own
    made.globals.update(script=Markup(script()), script_hash=script_hash())  # noqa: S704 - our own
    made.globals.update(symbols=SYMBOLS, number=number, count=count, version=__version__, css=css)
    made.globals.update(signs=SIGNS, deltas=deltas, drawn=_drawn, some=some, lines_of=lines_of)
    made.globals.update(names)
    return made


def lines_of(text: str) -> Markup:
    """Return text whose line breaks stay; each line is cleaned and escaped on its own."""
    return Markup("\n").join(clean(line) for line in text.splitlines())


class Drawable(Protocol):
    """A stackup with a title."""

    title: str
    slots: tuple[Slot, ...]


def _drawn(one: Drawable) -> Markup:
    """Return a stackup as a narrow column."""
    name = f"Cross-section: {one.title}"
    return Markup(column(one.slots, NARROW, title=name))  # noqa: S704 - column() escapes


def labelled(line: str) -> tuple[str, str]:
    """Split `label: text` of a fact; a line without a short label is about the board."""
    label, colon, rest = line.partition(":")
    return (label, rest.strip()) if colon and len(label) <= 8 and " " not in label else ("board", line)


def _visible(value: object) -> object:
    """Make control characters and marks that turn the writing around visible; what is markup already stays."""
    return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value
