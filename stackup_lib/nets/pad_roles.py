"""What each pad is to the signal on it: an end (chip, connector), a series part, or something that only hangs on."""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from stackup_lib.board.board import Board, Flags, Ints
from stackup_lib.board.references import ReferenceKind, reference_kind
from stackup_lib.nets.diff_pairs import UNCONNECTED
from stackup_lib.nets.power_nets import Rails
from stackup_lib.nets.two_pin_parts import PartKind, TwoTerminalParts

ENDS = (ReferenceKind.SOCKET, ReferenceKind.CHIP, ReferenceKind.ANTENNA)
"""Parts that are an end even with one pad."""

FLOW_THROUGH_PADS = 16
"""A protection array whose signals enter on one pad and leave on another has at most this many pads."""

_PROTECTS = re.compile(r"(?:^|[^A-Za-z])(?:ESD|TVS)|PROTECT", re.IGNORECASE)


class PadRole(IntEnum):
    """What a pad is to its link."""

    END = 0
    SERIES = 1
    SHUNT = 2
    TEST = 3


def pad_roles(board: Board, rails: Rails, parts: TwoTerminalParts, series: Ints) -> Flags:
    """Return the `PadRole` of every pad.

    Shunts are two-pad capacitors, resistors, inductors and diodes that are not in series; diodes and parts called ESD
    or TVS with a pad on ground; and small grounded parts through which every signal runs from one pad to another of
    the same net, as protection arrays are laid out. `TP...`, and other one-pad
    parts that are neither chip, antenna nor connector, are test points.

    Args:
        board: the board.
        rails: its rails.
        parts: its two-pad parts.
        series: rows of `parts` that join their nets.
    """
    pads, footprints = board.pads, board.footprints
    count = len(footprints)
    role = np.full(count, PadRole.END, dtype=np.int8)
    if not count:
        return np.full(len(pads), PadRole.END, dtype=np.int8)
    grounded = np.zeros(count, dtype=bool)
    grounded[pads.footprint[rails.grounds[pads.net]]] = True
    flows = grounded & _flows_through(board, rails)
    kinds = [reference_kind(reference) for reference in footprints.reference.tolist()]
    is_diode = np.array([kind is ReferenceKind.DIODE for kind in kinds], dtype=bool)
    is_socket = np.array([kind is ReferenceKind.SOCKET for kind in kinds], dtype=bool)
    role[flows & ~is_socket | grounded & (is_diode | _called_protection(board))] = PadRole.SHUNT
    is_end = np.array([kind in ENDS for kind in kinds], dtype=bool)
    role[(np.bincount(pads.footprint, minlength=count) == 1) & ~is_end] = PadRole.TEST
    role[[k for k, kind in enumerate(kinds) if kind is ReferenceKind.TEST_POINT]] = PadRole.TEST
    role[parts.footprint[(parts.kind != PartKind.OTHER) | is_diode[parts.footprint]]] = PadRole.SHUNT
    role[parts.footprint[series]] = PadRole.SERIES
    of_pad = np.asarray(role[pads.footprint], dtype=np.int8)
    for row in np.nonzero(np.bincount(parts.footprint, minlength=count)[parts.footprint] > 1)[0].tolist():
        joins = PadRole.SERIES if row in series else PadRole.SHUNT  # an array may do both
        of_pad[[parts.first_pad[row], parts.second_pad[row]]] = joins
    return of_pad


def _called_protection(board: Board) -> NDArray[np.bool_]:
    called = zip(board.footprints.value.tolist(), board.footprints.library_id.tolist(), strict=True)
    return np.array([_says_protection(value) or _says_protection(library) for value, library in called])


@lru_cache(maxsize=65536)
def _says_protection(name: str) -> bool:
    return _PROTECTS.search(name) is not None


def _flows_through(board: Board, rails: Rails) -> NDArray[np.bool_]:
    """Tell for each part whether it is small and has every signal net on two pads or more, and one at least."""
    pads, count = board.pads, len(board.footprints)
    loose = np.array([not name or name.startswith(UNCONNECTED) for name in board.nets], dtype=bool)
    signal = np.nonzero(~(rails.signs != 0)[pads.net] & ~loose[pads.net])[0]
    cell, met = np.unique(pads.footprint[signal] * len(board.nets) + pads.net[signal], return_counts=True)
    part = cell // len(board.nets)
    has_signal, has_single = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
    has_signal[part] = True
    has_single[part[met < 2]] = True
    return np.asarray(has_signal & ~has_single & (np.bincount(pads.footprint, minlength=count) <= FLOW_THROUGH_PADS))
