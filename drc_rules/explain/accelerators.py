"""Accelerators: memory, power and board of each, and how many of them hold a model."""

import math
from enum import StrEnum
from functools import cache
from pathlib import Path

from drc_rules.requirements.clauses import Source
from drc_rules.requirements.data_files import read_model
from stackup_lib.core.frozen import Frozen

FILE = Path(__file__).with_name("accelerators.toml")

USABLE = 0.9
"""Part of the memory for weights and KV cache; the rest is for activations and runtime. vLLM's default
(gpu_memory_utilization, engine arguments)."""

CACHE_ROOM = 0.1
"""Weights that leave the KV cache less than this part of the memory are marginal, where the cache is not known. Ours;
it keeps what the documents' table calls marginal: 68 GB (34B in bf16) on 80 GB. The same table says yes to 70 GB (70B
in int8), which leaves still less: it is marginal here too."""

CORE_V = (0.7, 0.8)
"""Core voltage of AI chips: "often around 0.7V to 0.8V", document `nextpcb-different-pcb-designs`."""

ON_ONE_BOARD = 8
"""Modules on an HGX baseboard or a universal baseboard."""


class DeviceKind(StrEnum):
    """What carries the device: it is a card, or it stands on a baseboard or on a carrier for the edge."""

    CARD = "card"
    MODULE = "module"
    EDGE = "edge"


class MemoryFit(StrEnum):
    """Whether devices hold weights and KV cache."""

    HOLDS = "holds"
    MARGINAL = "marginal"
    NO = "no"


class ModelMemory(Frozen):
    """Memory that a model takes, GB of 10^9 bytes; `cache_gb` is None where the cache is not known."""

    weights_gb: float
    cache_gb: float | None = None

    @property
    def total_gb(self) -> float:
        """Weights and, where known, the KV cache."""
        return self.weights_gb + (self.cache_gb or 0.0)


class Accelerator(Frozen):
    """One device.

    Attributes:
        memory_gb: GB of 10^9 bytes.
        power_w: lowest and highest setting.
        form: of the card, or of the board that carries the module.
        cooling: as these devices are usually cooled; engineering knowledge.
        note: what a reader of the values should know.
    """

    name: str
    memory_gb: float
    power_w: tuple[float, float]
    kind: DeviceKind
    form: str
    cooling: str
    source: Source
    note: str = ""

    @property
    def core_a(self) -> tuple[float, float]:
        """Amperes if all of the highest power went to the core, from 0.8 V to 0.7 V."""
        low_v, high_v = CORE_V
        return self.power_w[1] / high_v, self.power_w[1] / low_v

    def fit(self, memory: ModelMemory, devices: int = 1) -> MemoryFit:
        """Tell whether some devices together hold a model."""
        has_gb = devices * self.memory_gb
        if memory.total_gb > USABLE * has_gb:
            return MemoryFit.NO
        is_tight = memory.cache_gb is None and memory.weights_gb > (USABLE - CACHE_ROOM) * has_gb
        return MemoryFit.MARGINAL if is_tight else MemoryFit.HOLDS

    def needed(self, memory: ModelMemory) -> int:
        """Return the least number of devices that hold a model, marginally at least."""
        return max(1, math.ceil(round(memory.total_gb / (USABLE * self.memory_gb), 9)))

    def room_gb(self, memory: ModelMemory, devices: int) -> float:
        """Return the memory for the KV cache, or what is left where the cache is counted."""
        return USABLE * devices * self.memory_gb - memory.total_gb


class _File(Frozen):
    accelerator: tuple[Accelerator, ...]


@cache
def accelerators() -> tuple[Accelerator, ...]:
    """Every known accelerator, the smallest memory first."""
    return tuple(sorted(read_model(FILE, _File).accelerator, key=lambda device: device.memory_gb))


def holders(memory: ModelMemory, kind: DeviceKind, most: int | None = None) -> tuple[tuple[Accelerator, int], ...]:
    """Return the devices of a kind that hold a model, each with its number, `most` at most."""
    rows = ((device, device.needed(memory)) for device in accelerators() if device.kind is kind)
    return tuple((device, count) for device, count in rows if most is None or count <= most)
