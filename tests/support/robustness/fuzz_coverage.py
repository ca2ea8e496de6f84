"""Fuzzes one target by coverage, up to the first defect.

`python -m tests.support.robustness.fuzz_coverage board -runs=20000`.

Needs `atheris` (libFuzzer for Python), which is no dependency of the tests. Inputs that reach new branches of our
readers are kept and damaged further, by our own damages; what stands behind the target's name goes to libFuzzer.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
from pathlib import Path
from random import Random

INSTRUMENTED = [
    "stackup_lib.kicad",
    "stackup_lib.core.files.toml_text",
    "stackup_lib.validation.case_files",
    "drc_rules.fab_exchange.answer.stackup_text",
]


def main() -> None:
    """Fuzz until libFuzzer's limits, or the first defect."""
    atheris = importlib.import_module("atheris")
    with atheris.instrument_imports(include=INSTRUMENTED):
        targets = importlib.import_module("tests.support.robustness.fuzz_targets")
    damaged = importlib.import_module("tests.support.robustness.fuzzing").damaged
    target = targets.TARGETS[sys.argv[1]]
    seeds = target.seeds()
    corpus, room = Path(tempfile.mkdtemp()), Path(tempfile.mkdtemp())
    for number, seed in enumerate(seeds):
        (corpus / f"seed{number}").write_bytes(seed)

    def one(data: bytes) -> None:
        target.try_one(data, room, Random(len(data)))  # noqa: S311 - repeatable

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        chance = Random(seed)  # noqa: S311
        return bytes(damaged(chance, data or seeds[0], seeds)[:most])

    arguments = [sys.argv[0], "-max_len=200000", "-timeout=60", *sys.argv[2:], str(corpus)]
    atheris.Setup(arguments, one, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
