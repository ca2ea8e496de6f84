"""Machines that share the tests run each of them once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def collected(*words: str) -> list[str]:
    """The names of the collected tests of a small folder."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "--collect-only",
        "-q",
        "tests/house",
        *words,
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return sorted(line for line in done.stdout.splitlines() if "::" in line)


def test_the_shares_of_the_tests_are_all_of_them_and_each_once() -> None:
    """Three machines take a third of the files each."""
    shares = [collected("--share", f"{number}/3") for number in (1, 2, 3)]
    assert all(shares)
    assert sorted(name for share in shares for name in share) == collected()


def test_a_share_that_is_none_is_refused() -> None:
    """Else a machine would pass with no test."""
    assert collected("--share", "4/3") == []
