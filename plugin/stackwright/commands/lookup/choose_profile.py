"""`stackwright profiles --for ...`: which board a workload asks for, and how much memory says so."""

from __future__ import annotations

import re
from dataclasses import dataclass

from drc_rules.explain.workloads import (
    BYTES,
    KvCache,
    ModelPrecision,
    WorkloadChoice,
    accelerators,
    choices_for,
    training_gb,
    weights_gb,
    workloads,
)
from drc_rules.requirements.documents import cite
from drc_rules.requirements.forms import forms
from drc_rules.requirements.profiles.profile import load_profile
from stackup_lib.core.errors import ConfigError, did_you_mean
from stackwright.text.output import show
from stackwright.text.page import Page, styled, terminal_console
from stackwright.text.words import number

TRAINING = ("pre-training", "fine-tuning")
SIZES = {"m": 1e-3, "b": 1.0, "t": 1e3}
FOUND, NOTHING = 0, 1


@dataclass(frozen=True)
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
            f"--for {workload}", "is no workload that the documents speak of", did_you_mean(workload, workloads())
        )
    size = _parameters(model.parameters)
    rows = choices_for(workload, size)
    page = Page()
    page.line(styled("Boards", "bold"), f"  for {workload}" + (f", {model.parameters} parameters" if size else ""))
    if size is not None:
        _memory(page, workload, size, model)
    for row in rows:
        _choice(page, row)
    if not rows:
        page.gap()
        page.line(f"no document has a row for {workload} of that size", indent=2)
    page.gap()
    if rows:
        profile = rows[0].boards[0].profile
        page.line(f"next: stackwright profiles {profile} shows what it asks; stackwright suggest --profile {profile}")
    else:
        page.line("next: stackwright profiles lists every workload")
    show(page.text(terminal_console()))
    return FOUND if rows else NOTHING


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


def _memory(page: Page, workload: str, size: float, model: Model) -> None:
    page.heading("Memory", "GB of 10^9 bytes")
    if workload in TRAINING:
        least, *most = training_gb(size)
        page.line(
            f"training, without activations: {_gb(least)} at 12 bytes per parameter; by the same document's", indent=2
        )
        page.line(f"other figure, 16 to 20 bytes (Adam, mixed precision), {_gb(most[0])} to {_gb(most[1])}", indent=2)
        _holders(page, least)
        return
    precision = _precision(model.precision)
    total = weights_gb(size, precision)
    page.line(f"weights: {_gb(total)} at {BYTES[precision]:g} bytes per parameter ({precision.value})", indent=2)
    cache = _cache(model)
    if cache is None:
        page.line("KV cache: not known; give --layers, --kv-heads and --head-dim of the model", indent=2)
    else:
        size_gb = cache.memory_gb(BYTES[ModelPrecision.BF16])
        total += size_gb
        formula = f"2 x {cache.layers} x {cache.kv_heads} x {cache.head_dim} x {cache.tokens} x {cache.batch} x 2 bytes"
        page.line(f"KV cache: {_gb(size_gb)}, {formula}", indent=2)
        page.line(
            "layers x heads of keys and values (not of attention) x head dimension x tokens x batch; the cache in bf16",
            indent=2,
        )
        page.line(f"together: {_gb(total)}", indent=2)
    _holders(page, total)


def _cache(model: Model) -> KvCache | None:
    if model.layers is None or model.kv_heads is None or model.head_dim is None:
        return None
    return KvCache(
        layers=model.layers, kv_heads=model.kv_heads, head_dim=model.head_dim, tokens=model.tokens, batch=model.batch
    )


def _holders(page: Page, total: float) -> None:
    held = ", or ".join(f"{one.needed(total)} x {one.name} ({one.memory_gb:g} GB)" for one in accelerators())
    page.line(f"held by {held}", indent=2)


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
