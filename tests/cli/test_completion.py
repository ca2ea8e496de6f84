"""The scripts with which shells complete Stackwright's words, in real shells where they are installed."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.support.in_process import run_here as run

USED = {"bash": "complete -p stackwright", "zsh": "print $_comps[stackwright]", "fish": "complete -c stackwright"}
PLAIN = {"bash": "--norc", "zsh": "-f", "fish": "--no-config"}


@pytest.mark.parametrize("shell", USED)
def test_a_shell_without_settings_takes_its_script(shell: str) -> None:
    """One line in an empty start-up file is enough, and nothing is complained of."""
    command = shutil.which(shell)
    if command is None:
        pytest.skip(f"no {shell}")
    script = run("completion", shell).out

    ran = subprocess.run(
        [command, PLAIN[shell], "-c", f"{script}\n{USED[shell]}"], capture_output=True, text=True, check=False
    )

    assert (ran.returncode, ran.stderr) == (0, "")
    assert "stackwright_completion" in ran.stdout


def test_zsh_starts_its_completion_before_it_is_used() -> None:
    """A new .zshrc has none; the first line says what the file is for where zsh finds it on its path."""
    lines = run("completion", "zsh").out.splitlines()

    assert lines[0] == "#compdef stackwright"
    assert "compinit -i" in "\n".join(lines[: next(i for i, line in enumerate(lines) if "_completion()" in line)])
