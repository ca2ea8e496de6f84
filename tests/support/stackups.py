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

UNLIKE_PLIES = """
size_mm = [40, 30]
stackup = \"\"\"
F.Cu 0.035
prepreg 0.08 "370HR 1080 RC65%" dk=4.0 df=0.02
prepreg+ 0.1 "370HR 2116 RC54%" dk=4.1 df=0.021
In1.Cu 0.0152
core 1.2 "370HR" dk=4.0 df=0.02
In2.Cu 0.0152
prepreg 0.18 "370HR 2116 RC54%" dk=4.1 df=0.021
B.Cu 0.035
\"\"\"
"""
"""A board of the miniboard builder whose first dielectric is of two unlike sheets."""

SHORT_USB: dict[str, object] = {
    "size_mm": [60, 40],
    "stackup": """
        F.Cu    0.035
        prepreg 0.11 "FR4" dk=4.2 df=0.02
        In1.Cu  0.0152
        core    1.20 "FR4" dk=4.4 df=0.02
        In2.Cu  0.0152
        prepreg 0.11 "FR4" dk=4.2 df=0.02
        B.Cu    0.035
    """,
    "planes": {"In1.Cu": "GND", "In2.Cu": "GND"},
    "parts": [
        {
            "reference": reference,
            "at_mm": [x, 10],
            "pads": [
                {"number": "1", "net": "/USB_D+", "at_mm": [0, -0.2], "size_mm": [0.3, 0.2]},
                {"number": "2", "net": "/USB_D-", "at_mm": [0, 0.2], "size_mm": [0.3, 0.2]},
            ],
        }
        for reference, x in (("J1", 5), ("U1", 20))
    ],
}
USB_PAIR = [
    {"nets": ["/USB_D+", "/USB_D-"], "layer": "F.Cu", "path_mm": [[5, 10], [20, 10]], "width_mm": 0.2, "gap_mm": 0.2}
]
