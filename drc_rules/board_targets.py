"""The impedances that a board asks for: one target per group of nets, or what the command line says."""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.context import Context
from drc_rules.impedance_table import LineTarget
from drc_rules.interfaces import Interface, family, interface
from stackup_lib.lines.inverse import Target


def target_from_words(
    *,
    target_diff_ohm: float | None,
    target_se_ohm: float | None,
    gap_mm: float | None,
    interface_id: str | None,
    frequency_ghz: float | None,
) -> tuple[LineTarget, ...]:
    """Return the targets that the command line names; none when it names none.

    Raises:
        ConfigError: an unknown interface.
        GeometryError: a target that is no impedance.
    """
    named = interface(interface_id) if interface_id else None
    nyquist = frequency_ghz or (named.nyquist_ghz if named else None)
    found = []
    if target_diff_ohm is not None:
        target = Target(ohm=target_diff_ohm, kind="differential")
        found.append(LineTarget(title="--target-diff", target=target, nyquist_ghz=nyquist, gap_mm=gap_mm))
    if target_se_ohm is not None:
        target = Target(ohm=target_se_ohm, kind="single")
        found.append(LineTarget(title="--target-se", target=target, nyquist_ghz=nyquist))
    if not found and named:
        found += [t.model_copy(update={"gap_mm": gap_mm, "nyquist_ghz": nyquist}) for t in _of_interface(named)]
    return tuple(found)


def board_targets(ctx: Context) -> tuple[LineTarget, ...]:
    """Return one target per interface of the board, and per family of which nobody has stated the generation."""
    found = [target for one in ctx.assignment.interfaces() for target in _of_interface(interface(one))]
    found += [target for one in ctx.assignment.families_without_generation() for target in _of_family(one)]
    return tuple(found)


def _of_interface(one: Interface) -> Iterator[LineTarget]:
    if one.impedance_diff_ohm is not None:
        target = Target(ohm=one.impedance_diff_ohm, kind="differential")
        source = one.sources.get("impedance_diff_ohm", "")
        yield LineTarget(title=one.title, target=target, nyquist_ghz=one.nyquist_ghz, source=source)
    if one.impedance_single_ohm is not None:
        target = Target(ohm=one.impedance_single_ohm, kind="single")
        source = one.sources.get("impedance_single_ohm", "")
        yield LineTarget(title=one.title, target=target, nyquist_ghz=one.nyquist_ghz, source=source)


def _of_family(family_id: str) -> Iterator[LineTarget]:
    """Return the impedance on which all generations agree; its loss waits for the generation."""
    of = family(family_id)
    agreed = {one.impedance_diff_ohm for one in of.interfaces}
    ohm = next(iter(agreed)) if len(agreed) == 1 else None
    if ohm is not None:
        yield LineTarget(title=f"{of.title}, generation not stated", target=Target(ohm=ohm, kind="differential"))
