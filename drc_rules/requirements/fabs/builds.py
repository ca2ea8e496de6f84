"""What fabs press, from `builds.toml`: for the search of stackups."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from drc_rules.requirements.data_files import read_model
from stackup_lib.synthesis.build_rules import BuildRules

FILE = Path(__file__).parent / "builds.toml"


@cache
def build_rules() -> BuildRules:
    """Return what the stackups of a usual fab keep; `source` is the key of the document."""
    return read_model(FILE, BuildRules)
