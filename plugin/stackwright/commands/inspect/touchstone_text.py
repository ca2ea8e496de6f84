"""The Touchstone file of a link, its time-domain trace, and what both say in a few numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from drc_rules.analysis.loss.sparameters.link_network import REFERENCE_OHM, LinkNetwork
from drc_rules.requirements.interfaces.model import LossMask, ReturnMask
from stackup_lib.transmission_lines.four_port import mixed_modes
from stackup_lib.transmission_lines.two_port import fitted_loss_db, step_impedance_ohm
from stackwright import __version__
from stackwright.text.words import clean

Real = NDArray[np.float64]
Complex = NDArray[np.complex128]

FIT_FROM_GHZ = 0.05
"""Where the fit of the insertion loss begins, as in IEEE P802.3ba; it ends at Nyquist."""

FEWEST_TO_FIT = 20


def touchstone_text(network: LinkNetwork, board: str, *, mixed: bool = False) -> str:
    """Return the file of a link: GHz, real and imaginary parts, comments on ports, elements and what is left out.

    Touchstone 1.1, with `mixed` and for a pair Touchstone 2.0 with the ports D near, D far, C near, C far.
    """
    comments = [f"Stackwright {__version__}", f"board {board}", f"nets {', '.join(network.nets)}"]
    for trace, (near, far) in enumerate(network.ends):
        comments += [f"port {2 * trace + 1}: {near}", f"port {2 * trace + 2}: {far}"]
    comments += [f"all ports {REFERENCE_OHM:g} ohm" + (", 100 ohm differential" if network.is_pair else "")]
    comments += [f"element: {part}" for part in network.parts]
    comments += [f"note: {note}" for note in network.notes]
    comments += figures_of(network)
    lines = [f"! {clean(comment)}" for comment in comments]
    if mixed and network.is_pair:
        lines.append("! D: differential ports of 100 ohm; C: common ports of 25 ohm")
        lines += ["[Version] 2.0", f"# GHz S RI R {REFERENCE_OHM:g}", "[Number of Ports] 4"]
        lines += [f"[Number of Frequencies] {len(network.frequency_ghz)}"]
        lines += ["[Mixed-Mode Order] D1,3 D2,4 C1,3 C2,4", "[Network Data]"]
        lines += [*_rows(network.frequency_ghz, mixed_modes(network.s)), "[End]"]
    else:
        lines += [f"# GHz S RI R {REFERENCE_OHM:g}", *_rows(network.frequency_ghz, network.s)]
    return "\n".join(lines) + "\n"


def _rows(frequency_ghz: Real, s: Complex) -> Iterator[str]:
    """Yield the lines of data: of two ports S11 S21 S12 S22 in one, of four a line per row of the matrix."""
    ports = s.shape[1]
    values = s.transpose(0, 2, 1) if ports == 2 else s
    table = np.stack([values.real, values.imag], axis=-1).reshape(len(s), -1).tolist()
    pair = "% .12e % .12e"
    row = " ".join([pair] * ports)
    template = f"%s {row} {row}" if ports == 2 else f"%-12s {row}" + f"\n{'':<12} {row}" * (ports - 1)
    for ghz, numbers in zip(frequency_ghz.tolist(), table, strict=True):
        yield template % (f"{ghz:.9g}", *numbers)


def figures_of(network: LinkNetwork) -> list[str]:
    """Return what the file says, a line each: conversion, deviation from a smooth loss, passivity, limit of lines."""
    found = []
    last = float(network.frequency_ghz[-1])
    nyquist = min(network.nyquist_ghz or last, last)
    conversion = network.conversion_db()
    if conversion is not None:
        at = int(np.argmin(np.abs(network.frequency_ghz - nyquist)))
        words = f"{conversion[at]:.1f} dB" if conversion[at] > -200 else "none"
        found.append(f"differential to common at {network.frequency_ghz[at]:.2f} GHz: {words}")
    deviation = deviation_db(network, nyquist)
    if deviation is not None:
        found.append(
            f"insertion loss deviates from a smooth curve by {deviation:.2f} dB at most up to {nyquist:.2f} GHz"
        )
    if network.mask and last >= network.mask[0].from_ghz:
        found.append(_against_mask(network))
    if network.return_mask and last >= network.return_mask[0].from_ghz:
        found.append(_against_return_mask(network))
    most = float(np.linalg.svd(network.s, compute_uv=False).max())
    found.append(f"largest singular value {most:.6f}: {'passive' if most <= 1 + 1e-6 else 'not passive'}")
    return [*found, f"lines are quasi-static up to {network.limit_ghz:.0f} GHz"]


def _against_mask(network: LinkNetwork) -> str:
    """Return where the loss comes nearest to the mask, or exceeds it most."""
    here, allowed = _masked(network, network.mask)
    ghz, room = network.frequency_ghz[here], allowed - _db_down(network.own_s[here, 1, 0])
    at = int(np.argmin(room))
    title = f"the mask of the whole channel, {network.mask[-1].title},"
    return f"insertion loss to {ghz[-1]:.2f} GHz: {_held(room[at])} {title} at {ghz[at]:.2f} GHz"


def _against_return_mask(network: LinkNetwork) -> str:
    """Return where the return loss of the worse end comes nearest to the mask, or misses it most."""
    here, least = _masked(network, network.return_mask)
    ghz = network.frequency_ghz[here]
    room = np.minimum(*(_db_down(network.own_s[here, k, k]) for k in (0, 1))) - least
    at = int(np.argmin(room))
    mask = network.return_mask[-1]
    title = f"the mask of {mask.what}, {mask.title},"
    return f"return loss to {ghz[-1]:.2f} GHz: {_held(room[at])} {title} at {ghz[at]:.2f} GHz"


def _held(room_db: float) -> str:
    return f"{abs(room_db):.2f} dB {'within' if room_db >= 0 else 'outside'}"


def _masked(network: LinkNetwork, mask: Sequence[LossMask | ReturnMask]) -> tuple[NDArray[np.bool_], Real]:
    """Return which frequencies a mask covers, and its values there."""
    ghz = network.frequency_ghz
    here = (ghz >= mask[0].from_ghz) & (ghz <= mask[-1].to_ghz)
    return here, np.array([next(piece for piece in mask if one <= piece.to_ghz).at(one) for one in ghz[here].tolist()])


def _db_down(transfer: Complex) -> Real:
    return np.asarray(-20 * np.log10(np.maximum(np.abs(transfer), 1e-12)), dtype=np.float64)


def deviation_db(network: LinkNetwork, nyquist_ghz: float) -> float | None:
    """Return the largest difference between the loss and its smooth fit; None for too few frequencies."""
    ghz = network.frequency_ghz
    here = (ghz >= FIT_FROM_GHZ) & (ghz <= nyquist_ghz * (1 + 1e-9))
    if np.count_nonzero(here) < FEWEST_TO_FIT:
        return None
    loss = -20 * np.log10(np.maximum(np.abs(network.own_s[here, 1, 0]), 1e-12))
    return float(np.max(np.abs(loss - fitted_loss_db(ghz[here], loss))))


def _trace(network: LinkNetwork) -> tuple[Real, Real]:
    """Time in ps and ohm that a step sees, cut where it is back from the far end."""
    port = network.own_ohm * (2 if network.is_pair else 1)
    time_ps, ohm = step_impedance_ohm(network.frequency_ghz, network.own_s[:, 0, 0], port)
    slope = np.unwrap(np.angle(network.own_s[1:, 1, 0]))
    ghz = network.frequency_ghz[1:]
    quarter = len(slope) // 4
    delay_ps = -1000 * (slope[quarter] - slope[0]) / (2 * math.pi * (ghz[quarter] - ghz[0]))
    on_the_way = time_ps <= 2 * delay_ps
    return time_ps[on_the_way], ohm[on_the_way]


def tdr_range_ohm(network: LinkNetwork) -> tuple[float, float]:
    """Return the minimum and maximum impedance that a step sees on its way through a link and back."""
    _, ohm = _trace(network)
    return float(np.min(ohm)), float(np.max(ohm))


def tdr_text(network: LinkNetwork) -> str:
    """Return CSV with the time of the round trip in ps, and the impedance in ohm."""
    time_ps, ohm = _trace(network)
    rows = (f"{ps:.3f},{one:.3f}" for ps, one in zip(time_ps.tolist(), ohm.tolist(), strict=True))
    return "\n".join(["round trip ps,ohm", *rows]) + "\n"
