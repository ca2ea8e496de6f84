"""From workload, model and precision to a board: the documents' own values, their gaps and contradictions shown."""

from __future__ import annotations

import pytest

from drc_rules.explain.accelerators import Accelerator, DeviceKind, MemoryFit, ModelMemory, accelerators, holders
from drc_rules.explain.workloads import (
    KvCache,
    ModelPrecision,
    choices_for,
    inference_choices,
    training_gb,
    weights_gb,
    workloads,
)
from drc_rules.requirements.documents import documents
from drc_rules.requirements.forms import forms
from drc_rules.requirements.profiles.profile import load_profile
from stackup_lib.core.errors import ConfigError
from stackwright.cli.app import run


@pytest.mark.parametrize(
    ("parameters_b", "bf16_gb", "int8_gb"), [(7, 14, 7), (13, 26, 13), (34, 68, 34), (70, 140, 70), (180, 360, 180)]
)
def test_weights_are_those_of_the_documents_table(parameters_b: float, bf16_gb: float, int8_gb: float) -> None:
    """Two bytes per parameter in bf16, one in int8, half of one in int4."""
    assert weights_gb(parameters_b, ModelPrecision.BF16) == bf16_gb
    assert weights_gb(parameters_b, ModelPrecision.INT8) == int8_gb
    assert weights_gb(parameters_b, ModelPrecision.INT4) == int8_gb / 2


def test_the_cache_takes_heads_of_keys_and_values_not_of_attention() -> None:
    """Of a 70B model with grouped queries, 4096 tokens, batch 32: 43 GB as published; 64 heads would be 344 GB."""
    cache = KvCache(layers=80, kv_heads=8, head_dim=128, tokens=4096, batch=32)
    assert cache.memory_gb(2) == pytest.approx(42.95, abs=0.01)
    assert cache.model_copy(update={"kv_heads": 64}).memory_gb(2) == pytest.approx(343.6, abs=0.1)


def test_both_figures_for_training_are_given() -> None:
    """84 GB for 7B in one place, 1.12 to 1.4 TB for 70B in another."""
    assert training_gb(7)[0] == 84
    assert training_gb(70)[1:] == (1120, 1400)


def device(name: str) -> Accelerator:
    return next(row for row in accelerators() if row.name == name)


@pytest.mark.parametrize(
    ("weights", "h100", "mi300x"),
    [
        (14, "holds", "holds"),
        (34, "holds", "holds"),
        (68, "marginal", "holds"),
        (70, "marginal", "holds"),
        (140, "no", "holds"),
        (360, "no", "no"),
    ],
)
def test_the_documents_table_of_what_fits_is_met(weights: float, h100: str, mi300x: str) -> None:
    """34B in bf16 is marginal on an H100; 70 GB, a "yes" of the same table, leaves less and is marginal too."""
    memory = ModelMemory(weights_gb=weights)
    assert device("H100 PCIe").fit(memory) == h100
    assert device("MI300X").fit(memory) == mi300x


def test_a_device_keeps_room_for_the_cache_and_the_runtime() -> None:
    """140 GB do not go into 141 GB; 126 GB do, and leave the cache less than a tenth."""
    h200 = device("H200 SXM")
    assert h200.fit(ModelMemory(weights_gb=140)) is MemoryFit.NO
    assert h200.needed(ModelMemory(weights_gb=140)) == 2
    assert h200.fit(ModelMemory(weights_gb=126)) is MemoryFit.MARGINAL
    assert h200.room_gb(ModelMemory(weights_gb=100), 1) == pytest.approx(26.9)
    assert h200.fit(ModelMemory(weights_gb=110, cache_gb=17)) is MemoryFit.NO
    assert h200.fit(ModelMemory(weights_gb=110, cache_gb=16)) is MemoryFit.HOLDS


def test_a_device_draws_its_power_at_the_core_voltage() -> None:
    """1000 W at 0.8 V is 1250 A, at 0.7 V 1429 A."""
    assert device("B200").core_a == pytest.approx((1250, 1428.6), abs=0.1)


def test_every_accelerator_has_a_form_that_exists_and_a_document() -> None:
    """And power and memory of the size that such devices have."""
    for row in accelerators():
        assert row.form in forms(), row.name
        assert row.source.document in documents(), row.name
        assert 4 <= row.memory_gb <= 300
        assert 5 <= row.power_w[0] <= row.power_w[1] <= 1500
    assert {"B200", "B300", "A10", "T4", "L4", "L40S", "MI325X", "MI355X", "RTX PRO 6000", "Jetson T5000"} <= {
        row.name for row in accelerators()
    }


@pytest.mark.parametrize(
    ("weights", "cache", "boards"),
    [
        (70, None, {"inference-pcie"}),  # 70B in int8: one card of 80 GB
        (140, None, {"inference-sxm-oam"}),  # 70B in bf16
        (70, 43, {"inference-pcie"}),  # one card of 141 GB
        (90, 60, {"inference-sxm-oam"}),
        (810, None, {"inference-sxm-oam", "inference-rack"}),  # 405B in bf16 on one baseboard of eight
        (3600, None, {"inference-rack"}),
    ],
)
def test_inference_is_decided_by_bytes(weights: float, cache: float | None, boards: set[str]) -> None:
    """A model in int8 is half the model; its cache counts."""
    memory = ModelMemory(weights_gb=weights, cache_gb=cache)
    rows = inference_choices(memory)
    assert {board.profile for row in rows for board in row.boards} == boards
    assert bool(holders(memory, DeviceKind.CARD, 1)) is (boards == {"inference-pcie"})


@pytest.mark.parametrize(
    ("workload", "parameters_b", "profiles"),
    [
        ("pre-training", 70, ["training-h100", "training-b200", "training-nvswitch"]),
        ("pre-training", 7, []),
        ("fine-tuning", 7, ["training-h100", "training"]),
        ("fine-tuning", 180, []),
        ("inference", 3, ["inference-pcie"]),
        ("inference", 34, ["inference-pcie"]),
        ("inference", 50, ["inference-pcie", "inference-sxm-oam"]),
        ("inference", 70, ["inference-sxm-oam", "inference-sxm-oam"]),
        ("inference", 405, ["inference-rack"]),
        ("edge", None, ["edge"]),
        ("workstation", 13, ["inference-workstation"]),
    ],
)
def test_a_model_leads_to_the_documents_board(workload: str, parameters_b: float | None, profiles: list[str]) -> None:
    """And to none where no document has a row."""
    found = [board.profile for row in choices_for(workload, parameters_b) for board in row.boards]
    assert found == profiles


def test_every_row_names_a_profile_a_form_and_a_document_that_exist() -> None:
    """A command that is printed has to work."""
    for workload in workloads():
        for row in choices_for(workload, None):
            assert row.source.document in documents()
            for board in row.boards:
                load_profile(board.profile)
                assert board.form is None or board.form in forms()


def test_the_page_shows_formula_memory_and_commands(capsys: pytest.CaptureFixture[str]) -> None:
    """What a reader needs to judge the answer, and to go on."""
    words = "profiles --for inference --params 70B --layers 80 --kv-heads 8 --head-dim 128 --batch 32"
    assert run(words.split()) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "2 x 80 x 8 x 128 x 4096 x 32 x 2 bytes" in said
    assert "together: 183 GB" in said
    assert "MI300X 192 2 163 750 938-1071 ubb air" in said
    assert "memory and power: Epoch AI" in said
    assert "--profile inference-sxm-oam --form ubb" in said


def test_an_edge_module_has_the_power_of_its_highest_mode(capsys: pytest.CaptureFixture[str]) -> None:
    """Its carrier supplies and cools the Super modes too."""
    assert run(["profiles", "--for", "edge", "--params", "1B"]) == 0
    assert "Jetson Orin Nano 8 1 5.2 7-25 31-36" in " ".join(capsys.readouterr().out.split())


def test_an_edge_module_that_is_too_small_is_not_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """7B in bf16 are 14 GB: not for 8 GB; 70B fit no module, and the page says so."""
    assert run(["profiles", "--for", "edge", "--params", "7B"]) == 0
    said = capsys.readouterr().out
    assert "Jetson Orin Nano" not in said
    assert "Jetson T5000" in said
    assert "shared with processor and system" in said
    assert run(["profiles", "--for", "edge", "--params", "70B"]) == 0
    assert "none of this kind" in capsys.readouterr().out


def test_an_unknown_model_has_no_cache(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is made up of a model's layers and heads."""
    assert run(["profiles", "--for", "inference", "--params", "350M", "--precision", "INT4"]) == 0
    said = capsys.readouterr().out
    assert "weights: 0.175 GB" in said
    assert "KV cache: not known" in said
    assert "together" not in said


def test_training_shows_both_figures_and_a_gap_of_the_documents_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    """No row is stretched over a model it does not name."""
    assert run(["profiles", "--for", "pre-training", "--params", "7B"]) == 1
    said = capsys.readouterr().out
    assert "84 GB at 12 bytes" in said
    assert "112 GB to 140 GB" in said
    assert "no document has a row for pre-training of that size" in said


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--for", "inferense"], "inference"),
        (["--for", "training"], "say pre-training or fine-tuning; `stackwright profiles training` shows the profile"),
        (["--for", "inference-pcie"], "`stackwright profiles inference-pcie` shows the profile of that name"),
        (["--for", "edge", "--params", "big"], "7B, 350M"),
        (["--for", "edge", "--params", "0B"], "7B, 350M"),
        (["--for", "inference", "--params", "7B", "--precision", "int9"], "int8"),
    ],
)
def test_what_cannot_be_meant_is_said_with_what_can(words: list[str], says: str) -> None:
    """One line, with the nearest word."""
    with pytest.raises(ConfigError, match=says):
        run(["profiles", *words])
