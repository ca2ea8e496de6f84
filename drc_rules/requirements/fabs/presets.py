"""What named fabs publish of etching, plating and solder mask: presets of `[process]`, each number with a source."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from pydantic import model_validator

from drc_rules.requirements.data_files import read_model
from stackup_lib.core.errors import did_you_mean
from stackup_lib.core.frozen import Frozen
from stackup_lib.materials.sources import MaterialSource

FILE = Path(__file__).parent / "presets.toml"


class Preset(Frozen):
    """A fab's numbers, by the keys of `[process]`; `sources` names where each comes from."""

    fab: str
    values: dict[str, float]
    sources: dict[str, MaterialSource]

    def value(self, key: str) -> float | None:
        """Return a number, None where the fab publishes none."""
        return self.values.get(key)


class _Preset(Frozen):
    fab: str
    values: dict[str, float]
    sources: dict[str, str]

    @model_validator(mode="after")
    def _all_sourced(self) -> "_Preset":
        if missing := sorted(self.values.keys() ^ self.sources.keys()):
            raise ValueError(f"{self.fab}: number and source do not match: {', '.join(missing)}")
        return self


class _File(Frozen):
    source: dict[str, MaterialSource]
    preset: dict[str, _Preset]


def known_preset(name: str | None) -> str | None:
    """Return the name of a preset as it is given, or None; raises `ValueError` for a name that there is not."""
    if name is not None and name not in presets():
        raise ValueError(f'no preset "{name}"; {did_you_mean(name, presets())}')
    return name


@cache
def presets() -> Mapping[str, Preset]:
    """Return the presets by name."""
    file = read_model(FILE, _File)
    return {
        name: Preset(
            fab=one.fab,
            values=one.values,
            sources={key: file.source[where] for key, where in one.sources.items()},
        )
        for name, one in file.preset.items()
    }
