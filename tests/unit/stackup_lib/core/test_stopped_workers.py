"""A caller who stops reading the answers of processes goes on at once, whatever they are in the middle of."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import multiprocessing, sys
from stackwright.run.processes import shared_out

def large(number):
    return bytes(60_000_000)  # most of a worker's time goes into sending it

if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[1])
    for _ in range(3):
        answers = shared_out(large, range(40), 2)
        next(answers)
        answers.close()
    print("went on")
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="processes end by a signal")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_half_an_answer_of_a_worker_that_ended_is_not_waited_for(method: str, tmp_path: Path) -> None:
    script = tmp_path / "large.py"
    script.write_text(SCRIPT, encoding="utf-8")
    said = subprocess.run(
        [sys.executable, str(script), method], capture_output=True, text=True, timeout=100, check=False
    )

    assert (said.returncode, said.stdout, said.stderr) == (0, "went on\n", "")
