"""A plan of six layers that `new` makes a board of, and what is open on any new board."""

from __future__ import annotations

CLASS = "85Ohm-diff_PCIE_GEN4"
SIX_LAYERS = """copper_finish = "ENIG"
impedance_controlled = true
impedance_tolerance_pct = 10

rows = [
  { kind = "mask", thickness_mm = 0.02 },
  { kind = "copper", thickness_mm = 0.041 },
  { kind = "prepreg", thickness_mm = 0.079, material = "370HR 1086 RC63%", laminate = "370HR", dk = 3.78, df = 0.027 },
  { kind = "copper", thickness_mm = 0.03, layer_type = "power", copper_oz = 1.0 },
  { kind = "core", thickness_mm = 0.2, material = "370HR", laminate = "370HR", dk = 4.04, df = 0.021, at_ghz = 2 },
  { kind = "copper", thickness_mm = 0.0152, foil = "RTF", copper_oz = 0.5 },
  { kind = "prepreg", plies = [
    { thickness_mm = 0.3, material = "370HR", laminate = "370HR", dk = 4.04 },
    { thickness_mm = 0.3, material = "370HR", laminate = "370HR", dk = 4.04 } ] },
  { kind = "copper", thickness_mm = 0.0152, foil = "RTF", copper_oz = 0.5 },
  { kind = "core", thickness_mm = 0.2, material = "370HR", laminate = "370HR", dk = 4.04, df = 0.021, at_ghz = 2 },
  { kind = "copper", thickness_mm = 0.03, layer_type = "power", copper_oz = 1.0 },
  { kind = "prepreg", thickness_mm = 0.079, material = "370HR 1086 RC63%", laminate = "370HR", dk = 3.78, df = 0.027 },
  { kind = "copper", thickness_mm = 0.041 },
  { kind = "mask", thickness_mm = 0.02 },
]

[[net_class]]
name = "85Ohm-diff_PCIE_GEN4"
track_width_mm = 0.118
diff_pair_width_mm = 0.118
diff_pair_gap_mm = 0.15

[[rule]]
net_class = "85Ohm-diff_PCIE_GEN4"
layer = "F.Cu"
width_mm = 0.118
gap_mm = 0.15
tolerance_mm = 0.002
requirement = "85 ohm differential for PCIe Gen4"

[[rule]]
net_class = "85Ohm-diff_PCIE_GEN4"
layer = "In2.Cu"
width_mm = 0.13
gap_mm = 0.15
tolerance_mm = 0.002
requirement = "85 ohm differential for PCIe Gen4"
"""
REMARKS = {"board.fab.dielectric_standard", "board.fab.average_dielectric_standard"}
"""Information: many layers in a given thickness take dielectrics that are thinner than any fab presses."""
