"""The command line of `completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from stackwright.cli.epilog import Command
from stackwright.cli.options import OneOf

SHELLS = ("bash", "zsh", "fish")

EPILOG = """
\b
Add one of these lines to the start-up file of your shell:
  ~/.bashrc                    eval "$(stackwright completion bash)"
  ~/.zshrc                     eval "$(stackwright completion zsh)"
  ~/.config/fish/config.fish   stackwright completion fish | source
"""


@click.command(cls=Command, short_help="Print the completion script of a shell.", epilog=EPILOG)
@click.argument("shell", type=OneOf(SHELLS), metavar="SHELL", help=f"One of {', '.join(SHELLS)}.")
def completion(*, shell: str) -> int:
    """Print a script with which the shell completes commands, options, workloads, form factors and rules."""
    from stackwright.cli.app import COMPLETE, NAME, app

    found = get_completion_class(shell)
    if found is None:
        raise click.BadParameter(f"{shell} cannot be completed")
    click.echo(found(app, {}, NAME, COMPLETE).source())
    return 0


COMMANDS = (completion,)
