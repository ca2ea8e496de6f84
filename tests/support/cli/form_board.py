"""A small board for the form, as text."""

from __future__ import annotations

BOARD = """
size_mm = [60, 40]
finish = "ENIG"
impedance_controlled = true
stackup = '''
mask    0.02
F.Cu    0.035
prepreg 0.10  "house prepreg"  dk=4.2 df=0.02
In1.Cu  0.0175
core    1.20  "house core"     dk=4.1 df=0.02
In2.Cu  0.0175
prepreg 0.10  "house prepreg"  dk=4.2 df=0.02
B.Cu    0.035
mask    0.02
'''
planes = { "In1.Cu" = "GND", "In2.Cu" = "+12V" }

[[parts]]
reference = "U1"
at_mm = [5, 20]
pads = [
  { number = "1", net = "GND", kind = "through" },
  { number = "2", net = "+12V", at_mm = [2, 0], kind = "through" },
]

[[net_classes]]
name = "85Ohm-diff_PCIE"
patterns = ["/PCIE_*"]
diff_pair_width_mm = 0.12
diff_pair_gap_mm = 0.15

[[pairs]]
nets = ["/PCIE_P", "/PCIE_N"]
layer = "F.Cu"
path_mm = [[5, 10], [50, 10]]
width_mm = 0.12
gap_mm = 0.15
"""
