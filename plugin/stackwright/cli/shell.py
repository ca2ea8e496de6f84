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

ZSH_NEEDS = """\
if [[ $zsh_eval_context[-1] != loadautofunc ]] && (( ! $+functions[compdef] )); then
    autoload -Uz compinit && compinit -i
fi
"""
"""A new .zshrc has not started zsh's completion, and `compdef` is part of it."""


@click.command(cls=Command, short_help="Print the completion script of a shell.", epilog=EPILOG)
@click.argument("shell", type=OneOf(SHELLS), metavar="SHELL", help=f"One of {', '.join(SHELLS)}.")
def completion(*, shell: str) -> int:
    """Print a script with which the shell completes commands, options, workloads, form factors and rules."""
    from stackwright.cli.app import COMPLETE, NAME, app

    found = get_completion_class(shell)
    if found is None:
        raise click.BadParameter(f"{shell} cannot be completed")
    script = found(app, {}, NAME, COMPLETE).source()
    if shell == "zsh":  # the first line stays the first: zsh reads it from a file on its path
        first, _, rest = script.partition("\n")
        script = f"{first}\n{ZSH_NEEDS}{rest}"
    click.echo(script)
    return 0


COMMANDS = (completion,)
