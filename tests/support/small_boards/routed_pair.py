"""The stackup and settings of a small board with a PCIe pair whose route is solved."""

from __future__ import annotations

STACKUP = """
mask 0.015 dk=3.5
F.Cu 0.035
prepreg 0.1 "370HR 2116" dk=4.0 df=0.02
In1.Cu 0.015
core 1.2 "370HR" dk=4.0 df=0.02
In2.Cu 0.015
prepreg 0.1 "370HR 2116" dk=4.0 df=0.02
B.Cu 0.035
mask 0.015 dk=3.5
"""
CONFIG = """
[[interface]]
is = "pcie5"
nets = ["/PCIE_*"]
"""
