"""Machines that share the tests run each of them once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COLLECT = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--collect-only", "-q", "tests/house"]


def collect(*words: str) -> tuple[int, list[str]]:
    """Pytest's exit code and the names of the collected tests of a small folder."""
    done = subprocess.run([*COLLECT, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.returncode, sorted(line for line in done.stdout.splitlines() if "::" in line)


def test_the_shares_of_the_tests_are_all_of_them_and_each_once() -> None:
    """Three machines take a third of the files each."""
    shares = [collect("--share", f"{number}/3")[1] for number in (1, 2, 3)]
    assert all(shares)
    assert sorted(name for share in shares for name in share) == collect()[1]


def test_a_share_that_is_none_is_refused() -> None:
    """Else a machine would pass with no test."""
    assert collect("--share", "4/3")[0] == pytest.ExitCode.USAGE_ERROR
