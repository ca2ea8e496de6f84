"""The report as GitHub's workflow commands: annotations on the lines of a commit, without uploading anything.

GitHub shows ten of each kind per step and drops the rest, so findings that are alike come as one, the worst first.
"""

from __future__ import annotations

from collections.abc import Sequence

from stackwright.reporters.entries import Entry, Level, entries
from stackwright.results.checked import Checked, Unchecked
from stackwright.text.words import clean

COMMANDS = {
    Level.BROKEN: "error",
    Level.ERROR: "error",
    Level.WARNING: "warning",
    Level.INFO: "notice",
    Level.NOT_PROVEN: "notice",
}


def render(outcomes: Sequence[Checked | Unchecked]) -> str:
    """Return one command per line, in the order of their weight."""
    weight = list(Level)
    found = sorted(entries(outcomes, grouped=True), key=lambda one: weight.index(one.level))
    return "".join(f"{_command(entry)}\n" for entry in found)


def _command(entry: Entry) -> str:
    title = " ".join(word for word in ("Stackwright", entry.code) if word)
    words = f"{entry.title}. {entry.text}"
    return command(COMMANDS[entry.level], entry.path, title, words, line=entry.line)


def command(level: str, path: str, title: str, words: str, *, line: int = 1) -> str:
    """Return the workflow command that annotates a line of a file, without the end of the line; "" is no file."""
    where = f"file={_property(path)},line={line}," if path else ""
    return f"::{level} {where}title={_property(title)}::{_data(words)}"


def _data(text: str) -> str:
    """Return text in which nothing ends the command or stands for another character."""
    return clean(text).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
