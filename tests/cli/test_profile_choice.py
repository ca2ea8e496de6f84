"""From workload, model and precision to a board: the documents' own figures, their gaps and contradictions shown."""

from __future__ import annotations

import pytest

from drc_rules.explain.workloads import (
    KvCache,
    ModelPrecision,
    accelerators,
    choices_for,
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


def test_the_table_of_what_fits_is_met() -> None:
    """70B in int8 fits an H100, in bf16 it does not; 180B in bf16 fits no MI300X."""
    by_name = {one.name: one for one in accelerators()}
    assert by_name["H100"].needed(weights_gb(70, ModelPrecision.INT8)) == 1
    assert by_name["H100"].needed(weights_gb(70, ModelPrecision.BF16)) == 2
    assert by_name["MI300X"].needed(weights_gb(70, ModelPrecision.BF16)) == 1
    assert by_name["MI300X"].needed(weights_gb(180, ModelPrecision.BF16)) == 2


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
    assert "1 x MI300X (192 GB)" in said
    assert "--profile inference-sxm-oam --form ubb" in said


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
        (["--for", "edge", "--params", "big"], "7B, 350M"),
        (["--for", "edge", "--params", "0B"], "7B, 350M"),
        (["--for", "inference", "--params", "7B", "--precision", "int9"], "int8"),
    ],
)
def test_what_cannot_be_meant_is_said_with_what_can(words: list[str], says: str) -> None:
    """One line, with the nearest word."""
    with pytest.raises(ConfigError, match=says):
        run(["profiles", *words])
