"""Impedances that are said on the command line: `--impedance "85Ohm-diff_PCIE=85 diff"`."""

from __future__ import annotations

import re

from drc_rules.analysis.targets.targets import LEAST_OHM, MOST_OHM, PAIR_FROM_OHM
from drc_rules.settings.config import ImpedanceDeclaration
from stackup_lib.core.errors import ConfigError

OPTION = "--impedance"
_SAID = re.compile(
    r"(?P<nets>.+)=\s*(?P<ohm>\d+(?:\.\d+)?)\s*(?:ohms?\s*)?(?P<kind>diff(?:erential)?|se|single)?\s*", re.I
)


def parse_impedance(text: str) -> ImpedanceDeclaration:
    """Return the target of `NETS=OHM [diff|se]`; NETS is a net class or a wildcard over net names.

    Without a kind, 70 ohm and more are meant for pairs.

    Raises:
        ConfigError: it does not read so, or no line has that impedance.
    """
    found = _SAID.fullmatch(text)
    if found is None:
        raise ConfigError(f"{OPTION} {text!r}", "does not read NETS=OHM", f'write e.g. {OPTION} "USB*=90 diff"')
    ohm = float(found["ohm"])
    if not LEAST_OHM <= ohm <= MOST_OHM:
        raise ConfigError(f"{OPTION} {text!r}", "no line has that impedance", f"say {LEAST_OHM:g} to {MOST_OHM:g} ohm")
    kind = (found["kind"] or ("diff" if ohm >= PAIR_FROM_OHM else "se")).lower()
    nets = found["nets"].strip()
    return ImpedanceDeclaration(
        net_classes=(nets,), nets=(nets,), ohm=ohm, kind="differential" if kind.startswith("d") else "single"
    )
