"""A small board of Megtron 6 with one trace of a PCIe link, and the loss of that link."""

from __future__ import annotations

from pathlib import Path

from drc_rules.analysis.loss.link_loss import LinkLoss, LinkLosses
from drc_rules.facts.context import Context
from drc_rules.facts.declared import Overrides
from tests.support.mini import mini_context

VLP = '[declared]\nfoil = "VLP"\n'
PCIE5 = f'{VLP}[[interface]]\nis = "pcie5"\nnets = ["/PCIE_*"]\n'
STACKUP = """
F.Cu 0.035
prepreg {mm} "R-5670(N) 1078" dk=3.4
In1.Cu 0.015
core 1.2 "R-5775(N)" dk=3.4
In2.Cu 0.015
prepreg 0.1 "R-5670(N) 1078" dk=3.4
B.Cu 0.035
"""


def pad(x_mm: float, reference: str) -> dict[str, object]:
    one = {"number": "1", "net": "/PCIE_TX0_P", "size_mm": [0.2, 0.2]}
    return {"reference": reference, "at_mm": [x_mm, 10], "pads": [one]}


def context(
    folder: Path, config: str = PCIE5, *, form: str | None = None, profile: str | None = None, **keys: object
) -> Context:
    """A trace of 100 mm on the surface of a board of Megtron 6."""
    board: dict[str, object] = {
        "size_mm": (130, 40),
        "planes": {"In1.Cu": "GND", "In2.Cu": "GND"},
        "stackup": STACKUP.format(mm=0.1),
        "tracks": [{"net": "/PCIE_TX0_P", "layer": "F.Cu", "width_mm": 0.2, "path_mm": [[5, 10], [105, 10]]}],
        "parts": [pad(5, "U1"), pad(105, "J1")],
    }
    return mini_context(folder, board | keys, config, Overrides(form=form, profile=profile))


def only_link(ctx: Context, interface_id: str = "pcie5") -> LinkLoss:
    losses = LinkLosses(ctx).of(interface_id, declared=True)
    assert losses.missing == ()
    (link,) = losses.known
    return link
