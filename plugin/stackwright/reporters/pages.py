"""How every page is made: templates in one folder, strict about names; whatever a board says is cleaned and escaped."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from stackwright.words import clean

TEMPLATES = Path(__file__).parent / "templates"


def environment(**names: object) -> Environment:
    """Return the environment for our templates, in which they know these names."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        finalize=_visible,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.globals.update(names)
    return made


def _visible(value: object) -> object:
    """Make control characters and marks that turn the writing around visible; what is markup already stays."""
    return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value
