"""Typical tolerances of fabrication processes by tier, with sources: what yields rest on until a fab is known."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from pydantic import model_validator

from drc_rules.requirements.data_files import read_model
from drc_rules.requirements.fabs import Tier
from stackup_lib.core.frozen import Frozen
from stackup_lib.materials.sources import MaterialSource
from stackup_lib.transmission_lines.process import Process

FILE = Path(__file__).parent / "process.toml"


class TypicalProcess(Frozen):
    """Tolerances of a tier.

    Attributes:
        sources: of each tolerance of `process` that is given, by its name.
    """

    process: Process
    sources: dict[str, MaterialSource]


class _File(Frozen):
    source: dict[str, MaterialSource]
    process: dict[Tier, Process]
    sources: dict[Tier, dict[str, str]]

    @model_validator(mode="after")
    def _all_sourced(self) -> "_File":
        for tier, process in self.process.items():
            given = process.model_fields_set - {"name"}
            missing = sorted(given ^ set(self.sources.get(tier, {})))
            if missing:
                raise ValueError(f"{tier}: tolerance and source do not match: {', '.join(missing)}")
        return self


@cache
def typical_processes() -> Mapping[Tier, TypicalProcess]:
    """Return the processes by tier; a tier without published values has none."""
    file = read_model(FILE, _File)
    return {
        tier: TypicalProcess(
            process=process, sources={name: file.source[key] for name, key in file.sources[tier].items()}
        )
        for tier, process in file.process.items()
    }
