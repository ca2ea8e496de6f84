"""Stackups that several tests build their mini-boards on, as `fixtures.miniboard` reads them; thicknesses in mm."""

from __future__ import annotations

FOUR_LAYERS = """
F.Cu 0.035
prepreg 0.1 "R-5670(N) 1078" dk=3.4
In1.Cu 0.015
core 1.2 "R-5775(N)" dk=3.4
In2.Cu 0.015
prepreg 0.1 "R-5670(N) 1078" dk=3.4
B.Cu 0.035
"""
"""1.5 mm of Megtron 6, 0.1 mm from the outer layers to the next."""

SIX_LAYERS = """
F.Cu 0.03
prepreg 0.10 "R-5670(N)" dk=3.4
In1.Cu 0.02
core 0.20 "R-5775(N)" dk=3.4
In2.Cu 0.02
prepreg 0.30 "R-5670(N)" dk=3.4
In3.Cu 0.02
core 0.40 "R-5775(N)" dk=3.4
In4.Cu 0.02
prepreg 0.10 "R-5670(N)" dk=3.4
B.Cu 0.03
"""
"""1.24 mm of Megtron 6, its depths distinguished by dielectrics of 0.1 to 0.4 mm."""
