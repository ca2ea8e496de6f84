"""The command line of what can be looked up: `profiles`, `rules`, `materials`."""

from __future__ import annotations

from typing import Annotated

import typer

from stackwright.cli import names

EPILOG = """
\b
Examples:
  stackwright profiles
  stackwright profiles training-b200
  stackwright profiles --for inference --params 70B --precision int8
  stackwright profiles --for inference --params 70B --layers 80 --kv-heads 8 --head-dim 128 --batch 32
"""


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command(short_help="List the rules.")(rules)
    app.command(short_help="Look up laminates.")(materials)
    app.command(short_help="List the workloads, or find the one that suits a model.", epilog=EPILOG)(profiles)


def rules() -> int:
    """List the rules."""
    from stackwright.commands.explain.command import list_rules

    return list_rules()


def materials(
    query: Annotated[
        list[str] | None, typer.Argument(metavar="QUERY", help="A material name as entered in KiCad.")
    ] = None,
) -> int:
    """List the laminates, or show which laminate a material name is recognised as, with Dk, Df and Tg."""
    from stackwright.commands.lookup.materials import list_materials, show_material

    return show_material(" ".join(query)) if query else list_materials()


def profiles(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Show the clauses of this workload.", autocompletion=names.profiles),
    ] = None,
    *,
    workload: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="WORKLOAD",
            help="Find a board for pre-training, fine-tuning, inference, vision, workstation, edge or hpc.",
        ),
    ] = None,
    params: Annotated[str | None, typer.Option(metavar="SIZE", help="Model parameters: 7B, 350M, 1.8T.")] = None,
    precision: Annotated[
        str, typer.Option(metavar="FORMAT", help="Weight format: bf16 (default), fp8, int8 ...")
    ] = "bf16",
    layers: Annotated[int | None, typer.Option(min=1, help="Number of model layers.")] = None,
    kv_heads: Annotated[int | None, typer.Option(min=1, help="Number of key/value heads.")] = None,
    head_dim: Annotated[int | None, typer.Option(min=1, help="Dimension of each head.")] = None,
    tokens: Annotated[int, typer.Option(min=1, help="Tokens per sequence.")] = 4096,
    batch: Annotated[int, typer.Option(min=1, help="Sequences in a batch.")] = 1,
) -> int:
    """List the workloads, the clauses of one workload, or the boards that suit a model."""
    if workload is not None:
        if name is not None:
            raise typer.BadParameter("a NAME and --for exclude each other")
        from stackwright.commands.lookup.choose_profile import Model, choose_profile

        return choose_profile(workload, Model(params, precision, layers, kv_heads, head_dim, tokens, batch))
    from stackwright.commands.lookup.profiles import list_profiles, show_profile

    return show_profile(name) if name else list_profiles()
