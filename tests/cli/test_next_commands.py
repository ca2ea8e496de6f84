"""Commands that look something up end with what to type next: every line runs as it is printed."""

from __future__ import annotations

import shlex

import pytest

from tests.support.in_process import run_here as run

LOOKUPS = (
    "materials",
    'materials "R-5775(N) 2116"',
    "materials Unobtainium",
    "fabs",
    "fabs --layers 31",
    "profiles",
    "profiles edge",
    "profiles --for inference --params 70B",
    "profiles --for edge --params 900T",
    "rules",
    "explain VIA001",
    "explain inference.tg.min",
)


@pytest.mark.parametrize("typed", LOOKUPS)
def test_every_command_after_next_runs_as_printed(typed: str) -> None:
    shown = run(*shlex.split(typed)).out.splitlines()

    at = next(k for k, line in enumerate(shown) if line.startswith("next"))
    told, _, command = shown[at].partition(":")
    commands = [line for line in (command.strip(), *map(str.strip, shown[at + 1 :])) if line]

    assert "stackwright " not in told
    for line in commands:
        if line.startswith(("put ", "check a board")):
            continue
        program, *words = shlex.split(line)
        assert program == "stackwright"
        ran = run(*words)
        assert ran.code in (0, 1), ran.err
