"""`stackwright profiles --for ...`: which board a workload needs, and how much memory says so."""

from __future__ import annotations

import re

from drc_rules.explain.accelerators import (
    CACHE_ROOM,
    CORE_V,
    ON_ONE_BOARD,
    USABLE,
    Accelerator,
    DeviceKind,
    MemoryFit,
    ModelMemory,
    holders,
)
from drc_rules.explain.workloads import (
    BYTES,
    KvCache,
    ModelPrecision,
    WorkloadChoice,
    choices_for,
    inference_choices,
    training_gb,
    weights_gb,
    workloads,
)
from drc_rules.requirements.clauses import Source
from drc_rules.requirements.documents import cite
from drc_rules.requirements.forms import forms
from drc_rules.requirements.profiles.profile import load_profile, profile_names
from stackup_lib.core.errors import ConfigError, did_you_mean
from stackup_lib.core.record import record
from stackwright.text.output import show
from stackwright.text.page import Column, Page, styled, terminal_console
from stackwright.text.words import number

TRAINING = ("pre-training", "fine-tuning")
SIZES = {"m": 1e-3, "b": 1.0, "t": 1e3}
FOUND, NOTHING = 0, 1


@record
class Model:
    """What the command line says of the model.

    Attributes:
        parameters: as people write it, 70B or 350M.
        layers, kv_heads, head_dim: of the model; the cache is not known without them.
    """

    parameters: str | None = None
    precision: str = ModelPrecision.BF16.value
    layers: int | None = None
    kv_heads: int | None = None
    head_dim: int | None = None
    tokens: int = 4096
    batch: int = 1


def choose_profile(workload: str, model: Model) -> int:
    """Print the boards for a workload; exit code 1 where the documents have no row for it.

    Raises:
        ConfigError: no such workload, size or precision.
    """
    if workload not in workloads():
        raise ConfigError(
            f"--for {workload}", "is none of the tasks that the documents size boards for", _instead(workload)
        )
    size = _parameters(model.parameters)
    page = Page()
    page.line(styled("Boards", "bold"), f"  for {workload}" + (f", {model.parameters} parameters" if size else ""))
    memory = None if size is None else _memory(page, workload, size, model)
    rows = inference_choices(memory) if memory and workload == "inference" else choices_for(workload, size)
    for row in rows:
        _choice(page, row)
    if not rows:
        page.gap()
        page.line(f"no document has a row for {workload} of that size", indent=2)
    page.gap()
    if rows:
        profile = rows[0].boards[0].profile
        page.line("next, what it asks, and a stackup for it:")
        page.verbatim([f"stackwright profiles {profile}", f"stackwright suggest --profile {profile}"])
    else:
        page.line("next: stackwright profiles")
    show(page.text(terminal_console()))
    return FOUND if rows else NOTHING


def _instead(typed: str) -> str:
    """What to give instead: the two ways to train, a profile by its own command, else what is spelled alike."""
    step = f"say {' or '.join(TRAINING)}" if typed == "training" else did_you_mean(typed, workloads())
    is_profile = typed in profile_names()
    return f"{step}; `stackwright profiles {typed}` shows the profile of that name" if is_profile else step


def _parameters(typed: str | None) -> float | None:
    if typed is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([mbt])", typed.strip().lower())
    if not found or float(found[1]) == 0:
        raise ConfigError(f"--params {typed}", "is no model size", "write 7B, 350M or 1.8T")
    return float(found[1]) * SIZES[found[2]]


def _precision(typed: str) -> ModelPrecision:
    known = [one.value for one in ModelPrecision]
    if typed.lower() not in known:
        raise ConfigError(f"--precision {typed}", "is not known", did_you_mean(typed, known))
    return ModelPrecision(typed.lower())


def _memory(page: Page, workload: str, size: float, model: Model) -> ModelMemory:
    """Print what the model takes and the devices that hold it; return the memory."""
    page.heading("Memory", "GB of 10^9 bytes")
    memory = _training_memory(page, size) if workload in TRAINING else _inference_memory(page, size, model)
    _devices(page, memory, _holders(workload, memory))
    return memory


def _training_memory(page: Page, size: float) -> ModelMemory:
    least, *most = training_gb(size)
    page.line(
        f"training, without activations: {_gb(least)} at 12 bytes per parameter; by the same document's", indent=2
    )
    page.line(f"other figure, 16 to 20 bytes (Adam, mixed precision), {_gb(most[0])} to {_gb(most[1])}", indent=2)
    return ModelMemory(weights_gb=least, cache_gb=0.0)


def _inference_memory(page: Page, size: float, model: Model) -> ModelMemory:
    precision = _precision(model.precision)
    weights = weights_gb(size, precision)
    page.line(f"weights: {_gb(weights)} at {BYTES[precision]:g} bytes per parameter ({precision.value})", indent=2)
    cache = _cache(model)
    if cache is None:
        page.line("KV cache: not known; give --layers, --kv-heads and --head-dim of the model", indent=2)
        return ModelMemory(weights_gb=weights)
    size_gb = cache.memory_gb(BYTES[ModelPrecision.BF16])
    memory = ModelMemory(weights_gb=weights, cache_gb=size_gb)
    formula = f"2 x {cache.layers} x {cache.kv_heads} x {cache.head_dim} x {cache.tokens} x {cache.batch} x 2 bytes"
    page.line(f"KV cache: {_gb(size_gb)}, {formula}", indent=2)
    page.line("heads of keys and values, not of attention; the cache in bf16", indent=2)
    page.line(f"together: {_gb(memory.total_gb)}", indent=2)
    return memory


def _holders(workload: str, memory: ModelMemory) -> tuple[tuple[Accelerator, int], ...]:
    """Return devices to show: modules for training; for inference single cards, else one baseboard, else more."""
    if workload in TRAINING:
        return holders(memory, DeviceKind.MODULE)
    if workload == "edge":
        return holders(memory, DeviceKind.EDGE, 1)
    cards = holders(memory, DeviceKind.CARD, 1)
    return cards or holders(memory, DeviceKind.MODULE, ON_ONE_BOARD) or holders(memory, DeviceKind.MODULE)


def _cache(model: Model) -> KvCache | None:
    if model.layers is None or model.kv_heads is None or model.head_dim is None:
        return None
    return KvCache(
        layers=model.layers, kv_heads=model.kv_heads, head_dim=model.head_dim, tokens=model.tokens, batch=model.batch
    )


def _devices(page: Page, memory: ModelMemory, found: tuple[tuple[Accelerator, int], ...]) -> None:
    """Print the devices with what follows for the board: power, current, cooling, form."""
    page.heading("Devices that hold it", f"in {USABLE:.0%} of their memory; the runtime takes the rest")
    if not found:
        page.line("none of this kind: take a smaller model, or fewer bits with --precision", indent=2)
        return
    room = "for KV" if memory.cache_gb is None else "left"
    header = ("device", "GB", "x", room, "W", "core A", "form", "cooling")
    rows = [_device(memory, device, count) for device, count in found]
    page.rows([Column(), *[Column(right=True)] * 5, Column(), Column(wraps=True)], rows, head=header)
    if any(device.fit(memory, count) is MemoryFit.MARGINAL for device, count in found):
        page.line(f"* marginal: the KV cache has less than {CACHE_ROOM:.0%} of the memory", indent=2)
    low_v, high_v = CORE_V
    page.line(f"core A: of each device, were all its power drawn at {high_v:g} to {low_v:g} V", indent=2)
    if any(device.kind is DeviceKind.EDGE for device, _ in found):
        page.line("the memory of these modules is shared with processor and system", indent=2)
    for device, _ in found:
        if device.note:
            page.line(f"{device.name}: {device.note}", indent=2)
    documents = dict.fromkeys(device.source.document for device, _ in found)
    cited = "; ".join(cite(Source(document=document)) for document in documents)
    page.line(styled(f"memory and power: {cited}; cooling and form: engineering knowledge", "dim"), indent=2)


def _device(memory: ModelMemory, device: Accelerator, count: int) -> tuple[str, ...]:
    mark = "*" if device.fit(memory, count) is MemoryFit.MARGINAL else ""
    low_w, high_w = device.power_w
    power = f"{high_w:g}" if low_w == high_w else f"{low_w:g}-{high_w:g}"
    amperes = "-".join(f"{current:.0f}" for current in device.core_a)
    room = f"{_gb(device.room_gb(memory, count)).removesuffix(' GB')}{mark}"
    return (device.name, f"{device.memory_gb:g}", str(count), room, power, amperes, device.form, device.cooling)


def _gb(value: float) -> str:
    return f"{number(float(f'{value:.3g}'))} GB"


def _choice(page: Page, row: WorkloadChoice) -> None:
    page.heading(row.title, _range(row))
    page.line(f"accelerators {', '.join(row.accelerators)}; {row.layers} copper layers", indent=2)
    for board in row.boards:
        form = board.form or load_profile(board.profile).form
        of = f", {forms()[form].title}" if form else ""
        command = f"--profile {board.profile}" + (f" --form {form}" if form else "")
        page.line(styled(command, "bold"), f"  {load_profile(board.profile).title}{of}", indent=2)
    if row.note:
        page.line(styled(row.note, "yellow"), indent=2)
    page.line(styled(cite(row.source), "dim"), indent=2)


def _range(row: WorkloadChoice) -> str:
    borders = {"above": row.over, "from": row.at_least, "below": row.below, "up to": row.up_to}
    return " ".join(f"{word} {size:g}B" for word, size in borders.items() if size is not None)
