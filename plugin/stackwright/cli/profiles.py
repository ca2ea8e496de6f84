"""The command about workloads; the work is in `stackwright.commands`."""

from __future__ import annotations

from typing import Annotated

import typer

EPILOG = """
\b
Examples:
  stackwright profiles
  stackwright profiles training-b200
  stackwright profiles --for inference --params 70B --precision int8
  stackwright profiles --for inference --params 70B --layers 80 --kv-heads 8 --head-dim 128 --batch 32
"""


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(short_help="List the workloads, one's clauses, or which to take.", epilog=EPILOG)(profiles)


def profiles(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Show the clauses of this one.")] = None,
    *,
    workload: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="WORKLOAD",
            help="pre-training, fine-tuning, inference, vision, workstation, edge or hpc: which board it asks for.",
        ),
    ] = None,
    params: Annotated[str | None, typer.Option(metavar="SIZE", help="Parameters of the model: 7B, 350M, 1.8T.")] = None,
    precision: Annotated[str, typer.Option(metavar="FORMAT", help="Weights in bf16, fp8, int8, int4 ...")] = "bf16",
    layers: Annotated[int | None, typer.Option(min=1, help="The model's layers.")] = None,
    kv_heads: Annotated[int | None, typer.Option(min=1, help="Its heads of keys and values.")] = None,
    head_dim: Annotated[int | None, typer.Option(min=1, help="Dimension of a head.")] = None,
    tokens: Annotated[int, typer.Option(min=1, help="Tokens per sequence.")] = 4096,
    batch: Annotated[int, typer.Option(min=1, help="Sequences at a time.")] = 1,
) -> int:
    """List the workloads, the clauses of one, or the boards that a model asks for."""
    if workload is not None:
        if name is not None:
            raise typer.BadParameter("a NAME and --for exclude each other")
        from stackwright.commands.lookup.choose_profile import Model, choose_profile

        return choose_profile(workload, Model(params, precision, layers, kv_heads, head_dim, tokens, batch))
    from stackwright.commands.lookup.profiles import list_profiles, show_profile

    return show_profile(name) if name else list_profiles()
