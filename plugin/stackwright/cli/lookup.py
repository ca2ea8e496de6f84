"""The command line of what can be looked up: `profiles`, `rules`, `materials`."""

from __future__ import annotations

import click

from stackwright.cli import names
from stackwright.cli.epilog import Command
from stackwright.cli.options import WholeRange, verbose_option

EPILOG = """
\b
Examples:
  stackwright profiles
  stackwright profiles training-b200
  stackwright profiles --for inference --params 70B --precision int8
  stackwright profiles --for inference --params 70B --layers 80 --kv-heads 8 --head-dim 128 --batch 32
"""


@click.command(short_help="List the rules.")
def rules() -> int:
    """List the rules."""
    from stackwright.commands.explain.command import list_rules

    return list_rules()


@click.command(short_help="Look up laminates.")
@click.argument("query", nargs=-1, help="A material name as entered in KiCad.")
def materials(*, query: tuple[str, ...]) -> int:
    """List the laminates, or show which laminate a material name is recognised as, with Dk, Df and Tg."""
    from stackwright.commands.lookup.materials import list_materials, show_material

    return show_material(" ".join(query)) if query else list_materials()


@click.command(cls=Command, short_help="List the workloads, or find the one that suits a model.", epilog=EPILOG)
@click.argument(
    "name",
    required=False,
    help="Show the requirements of this workload.",
    shell_complete=names.completed(names.profiles),
)
@click.option(
    "workload",
    "--for",
    metavar="WORKLOAD",
    help="Find a board for pre-training, fine-tuning, inference, vision, workstation, edge or hpc.",
)
@click.option("--params", metavar="SIZE", help="Model parameters: 7B, 350M, 1.8T.")
@click.option(
    "--precision",
    default="bf16",
    show_default=True,
    metavar="FORMAT",
    help="Weight format: bf16, fp8, int8 ...",
)
@click.option("--layers", type=WholeRange(min=1), metavar="N", help="Number of model layers.")
@click.option("--kv-heads", type=WholeRange(min=1), metavar="N", help="Number of key/value heads.")
@click.option("--head-dim", type=WholeRange(min=1), metavar="N", help="Dimension of each head.")
@click.option(
    "--tokens", type=WholeRange(min=1), metavar="N", default=4096, show_default=True, help="Tokens per sequence."
)
@click.option(
    "--batch", type=WholeRange(min=1), metavar="N", default=1, show_default=True, help="Sequences in a batch."
)
@verbose_option
def profiles(
    *,
    name: str | None,
    workload: str | None,
    params: str | None,
    precision: str,
    layers: int | None,
    kv_heads: int | None,
    head_dim: int | None,
    tokens: int,
    batch: int,
    verbose: bool,
) -> int:
    """List the workloads, the requirements of one workload, or the boards that suit a model."""
    if workload is not None:
        if name is not None:
            raise click.BadParameter("a NAME and --for exclude each other")
        from stackwright.commands.lookup.choose_profile import Model, choose_profile

        return choose_profile(workload, Model(params, precision, layers, kv_heads, head_dim, tokens, batch))
    from stackwright.commands.lookup.profiles import list_profiles, show_profile

    return show_profile(name, verbose=verbose) if name else list_profiles()


COMMANDS = (rules, materials, profiles)
