"""The voltage that the name of a net tells: `+48V`, `VIN_54V0`, `VDD_0P85`, `-12V`, `GND`."""

from __future__ import annotations

import re
from functools import lru_cache

from stackup_lib.board.layer_roles import is_ground
from stackup_lib.nets.power_nets import may_be_supply, reads_as_supply

_VOLTS = re.compile(
    r"(?:(?<![\dA-Z.])(?:V(?=\d+P\d))?|(?<=V[CD][CD])(?=\d))([+-]|P(?=\d))?"
    r"(\d{1,3})(?:V(\d{0,2})(?![\dV])|\.(\d{1,2})V|P(\d{1,2})V?(?![\dA-Z]))"
)
_BELOW = re.compile(r"(?:^|[_.\-])V?(?:NEG|MINUS)(?:$|[_.\-\d])")
_UNSURE = re.compile(r"V\d*(?:DC)?(?:-|[_.\-][NM])$|(?:^|[_.\-])V(?:EE)?-\d|(?:^|[_.\-]|V)AC(?:$|[_.\-\d])")
_RETURN = re.compile(r"(?:^|[_.\-\d])(?:RTN|RET|RETURN)(?:$|[_.\-\d])")


@lru_cache(maxsize=65536)
def volts_of_name(net: str) -> float | None:
    """Return the voltage against ground, in V, that a supply's name states; 0 for grounds and returns; None for others.

    A name that states two different voltages, such as that of a converter's signal, states none. Nor does one of an
    alternating voltage, of the far side of a supply (`48V_N`, `48V-`), or with a hyphen that may be a sign (`V-48V`).
    """
    last = net.rsplit("/", 1)[-1].upper()
    if is_ground(net) or (not net.startswith(("Net-(", "unconnected-(")) and _RETURN.search(last)):
        return 0.0
    if not (reads_as_supply(net) or may_be_supply(net)):
        return None
    found = {_volts(*one) for one in _VOLTS.findall(last)}
    if len(found) != 1 or _UNSURE.search(last):
        return None
    volts = found.pop()
    return -abs(volts) if _BELOW.search(last) else volts


def _volts(sign: str, whole: str, *decimals: str) -> float:
    volts = float(f"{whole}.{''.join(decimals) or 0}")
    return -volts if sign == "-" else volts
