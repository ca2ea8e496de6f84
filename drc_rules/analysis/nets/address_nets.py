"""Address, command and control nets of DDR memories, and their clocks, by the names of the nets.

Names are read as those of data are: `DDR4_A10`, `DDR3_BA[2]`, `nCS0`, `DDR_CKE`, `LPDDR4_CA3_B`, `S0SA3`, `CK0_P`.
"""

from __future__ import annotations

import re
from functools import cache

from drc_rules.analysis.nets.byte_lanes import BRACKETS, BusKey, name_parts
from drc_rules.requirements.interfaces.names import LONGEST, normalise
from stackup_lib.core.record import record

_NUMBERED = ("ADDR", "ADR", "A", "BA", "BG", "CA")
_CONTROL = ("RAS", "CAS", "WE", "ACT", "PAR", "CS", "CKE", "ODT")
_CLOCK = ("CK", "CLK")


@record
class AddressNet:
    """What a net's name says of its place on the address bus of a memory.

    Attributes:
        is_clock: it is one trace of a clock.
        bus: path with the beginning of the name, and the channel, `A` to `D` or nothing.
    """

    is_clock: bool
    bus: BusKey


@cache
def _spelling() -> re.Pattern[str]:
    kinds = "|".join(sorted((*_NUMBERED, *_CONTROL, *_CLOCK), key=len, reverse=True))
    return re.compile(rf"(?P<head>.*?)(?<![A-Z])(?:N|S|SD)?(?P<kind>{kinds})(?P<rest>(?:_?(?:\d+|[A-DPTN+#-])){{0,4}})")


def read_address_net(net: str) -> AddressNet | None:
    """Return what a net's name says of its place on an address bus; None for data, strobes, reset and other nets."""
    name = BRACKETS.sub("", normalise(net))
    found = _spelling().fullmatch(name) if len(name) <= LONGEST else None
    if found is None:
        return None
    numbers, _, channels, signs = name_parts(found["rest"], is_bit=False)
    if max(len(numbers), len(channels), len(signs)) > 1 or (found["kind"] in _NUMBERED and not numbers):
        return None
    path = net.rpartition("/")[0]
    return AddressNet(found["kind"] in _CLOCK, (f"{path}/{found['head'].strip('_.-')}", "".join(channels)))
