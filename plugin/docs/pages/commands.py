"""A page per command: its help, as the program prints it."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator

import click

from docs.pages.markdown import Page, block, link, page, prose, table, title, tree
from stackwright.cli.app import app

WIDTH = 100


def help_of(*words: str) -> str:
    """Return what `stackwright WORDS --help` prints."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        app.main([*words, "--help"], prog_name="stackwright", standalone_mode=False, terminal_width=WIDTH)
    return said.getvalue().strip()


def _commands() -> dict[tuple[str, ...], str]:
    """Every command by its words, with its short help; a group counts as its commands."""
    found: dict[tuple[str, ...], str] = {}
    context = click.Context(app, info_name="stackwright")
    for name in app.list_commands(context):
        command = app.get_command(context, name)
        if isinstance(command, click.Group):
            found |= {(name, inner): one.get_short_help_str(limit=200) for inner, one in command.commands.items()}
        elif command is not None:
            found[name,] = command.get_short_help_str(limit=200)
    return found


def pages() -> Iterator[Page]:
    """Index and commands."""
    commands = _commands()
    names = {words: f"commands/{'-'.join(words)}" for words in commands}
    yield page(
        "commands/index",
        title("Commands"),
        "Exit codes: 0 nothing to complain about, 1 findings, 2 the command could not do its work.",
        table(
            ("command", "what it does"),
            [(link(f"stackwright {' '.join(w)}", names[w]), prose(said)) for w, said in commands.items()],
        ),
        block(help_of()),
        tree(names.values()),
    )
    for words in commands:
        yield page(names[words], title(f"stackwright {' '.join(words)}"), block(help_of(*words)))
