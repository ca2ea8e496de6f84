"""Every command of the command line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from stackwright.cli.app import app


def commands() -> Iterator[tuple[str, Any]]:
    """Every command by its words."""
    context = click.Context(app)
    for name in sorted(app.list_commands(context)):
        command = app.get_command(context, name)
        inner = getattr(command, "commands", None)
        yield from ((f"{name} {word}", one) for word, one in inner.items()) if inner else [(name, command)]
