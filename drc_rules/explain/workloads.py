"""From workload, model size and precision to accelerators, boards and profiles; memory in GB of 10^9 bytes.

What the requirement documents give is data in `workloads.toml`; where they contradict one another, both are shown.
"""

import math
from collections.abc import Iterable
from enum import StrEnum
from functools import cache
from pathlib import Path

from drc_rules.explain.accelerators import ON_ONE_BOARD, DeviceKind, ModelMemory, holders
from drc_rules.requirements.clauses import Source
from drc_rules.requirements.data_files import read_model
from stackup_lib.core.frozen import Frozen

FILE = Path(__file__).with_name("workloads.toml")


class ModelPrecision(StrEnum):
    """Number format of the weights."""

    FP32 = "fp32"
    BF16 = "bf16"
    FP16 = "fp16"
    FP8 = "fp8"
    INT8 = "int8"
    FP4 = "fp4"
    INT4 = "int4"


BYTES = {
    ModelPrecision.FP32: 4.0,
    ModelPrecision.BF16: 2.0,
    ModelPrecision.FP16: 2.0,
    ModelPrecision.FP8: 1.0,
    ModelPrecision.INT8: 1.0,
    ModelPrecision.FP4: 0.5,
    ModelPrecision.INT4: 0.5,
}
TRAINING_BYTES = (12.0, 16.0, 20.0)
"""Bytes per parameter that training takes without activations: "84 GB minimum" for 7B is 12, and 16-20 stands in the
answer of the same document about Adam with mixed precision."""


class BoardKind(Frozen):
    """A profile and the form it is for; None where the profile leaves the form open."""

    profile: str
    form: str | None = None


class WorkloadChoice(Frozen):
    """A row of the documents.

    Attributes:
        over, at_least, below, up_to: thousand millions of parameters, as the row draws its borders.
        layers: copper layers as the row has them.
    """

    workload: str
    title: str
    over: float | None = None
    at_least: float | None = None
    below: float | None = None
    up_to: float | None = None
    accelerators: tuple[str, ...]
    boards: tuple[BoardKind, ...]
    layers: str
    source: Source
    note: str = ""

    def takes(self, parameters_b: float | None) -> bool:
        """Tell whether a model of that size is meant; of unknown size every row is."""
        if parameters_b is None:
            return True
        return not (
            (self.over is not None and parameters_b <= self.over)
            or (self.at_least is not None and parameters_b < self.at_least)
            or (self.below is not None and parameters_b >= self.below)
            or (self.up_to is not None and parameters_b > self.up_to)
        )


class _File(Frozen):
    choice: tuple[WorkloadChoice, ...]


@cache
def _data() -> _File:
    return read_model(FILE, _File)


def workloads() -> tuple[str, ...]:
    """The words for a workload."""
    return tuple(dict.fromkeys(one.workload for one in _data().choice))


def choices_for(workload: str, parameters_b: float | None) -> tuple[WorkloadChoice, ...]:
    """Return the rows that the documents have for a workload and model size; none where they say nothing."""
    return tuple(one for one in _data().choice if one.workload == workload and one.takes(parameters_b))


CARD_PROFILE = "inference-pcie"
BY_MEMORY = "By its memory one baseboard of eight modules holds the model; the documents' rows count parameters."
BASEBOARD_B = 70.0
"""The documents' size of model from which inference is a matter of baseboards, parameters in thousand millions."""


def inference_choices(memory: ModelMemory) -> tuple[WorkloadChoice, ...]:
    """Return the documents' rows for inference by the memory a model takes, not by its count of parameters.

    The documents count in bf16: int8 counts as a model of half the size, the KV cache as additional parameters.
    Where one card holds the model, cards alone are meant; where one baseboard does, its row comes first.
    """
    size_b = memory.total_gb / BYTES[ModelPrecision.BF16]
    if holders(memory, DeviceKind.CARD, 1):
        return _on_cards(choices_for("inference", min(size_b, math.nextafter(BASEBOARD_B, 0))), is_card=True)
    rows = _on_cards(choices_for("inference", size_b), is_card=False)
    low_latency = choices_for("inference", BASEBOARD_B)
    if rows == low_latency or not holders(memory, DeviceKind.MODULE, ON_ONE_BOARD):
        return rows
    return (*(row.model_copy(update={"note": BY_MEMORY}) for row in low_latency), *rows)


def _on_cards(rows: Iterable[WorkloadChoice], *, is_card: bool) -> tuple[WorkloadChoice, ...]:
    """Return the rows with cards alone or without cards; a row that has nothing else stays as it is."""
    kept = ((row, tuple(b for b in row.boards if (b.profile == CARD_PROFILE) is is_card)) for row in rows)
    return tuple(row.model_copy(update={"boards": boards}) if boards else row for row, boards in kept)


class KvCache(Frozen):
    """What the key-value cache follows from; `kv_heads` are those of keys and values, not of attention.

    With grouped queries the two differ: 64 attention heads over 8 of keys and values are 8 here.
    """

    layers: int
    kv_heads: int
    head_dim: int
    tokens: int
    batch: int

    def memory_gb(self, bytes_per_value: float) -> float:
        """Return 2 layers kv_heads head_dim tokens batch bytes: one key and one value each."""
        values = 2 * self.layers * self.kv_heads * self.head_dim * self.tokens * self.batch
        return values * bytes_per_value / 1e9


def weights_gb(parameters_b: float, precision: ModelPrecision) -> float:
    """Return the memory of a model's weights; parameters in thousand millions."""
    return parameters_b * BYTES[precision]


def training_gb(parameters_b: float) -> tuple[float, ...]:
    """Return what training takes without activations, by each of the documents' values, ascending."""
    return tuple(parameters_b * per_parameter for per_parameter in TRAINING_BYTES)
