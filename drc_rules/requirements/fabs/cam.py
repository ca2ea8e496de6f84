"""What a fab builds without a question, from `cam.toml`: for the CAM report of a stackup."""

from functools import cache
from pathlib import Path

from drc_rules.requirements.clauses import Source
from drc_rules.requirements.data_files import read_model
from stackup_lib.core.frozen import Frozen

FILE = Path(__file__).parent / "cam.toml"


class CamLimit(Frozen):
    """One usual limit, and where it stands."""

    usual: float
    source: Source


class CamLimits(Frozen):
    """Usual limits of a CAM desk.

    Attributes:
        thickness_tolerance_pct: of the finished board.
        pressed_mm: thinnest prepreg.
        prepreg_sheets: most sheets of prepreg in one gap.
        pressed_tolerance_pct: between a stated thickness of prepreg and the one that its sheets press to.
        impedance_tolerance_pct: of a controlled impedance.
        laminations: most lamination cycles.
        microvia_levels: most stacked microvias.
        smooth_foil_oz: heaviest copper of VLP and HVLP foil.
        tg_apart_c: largest difference in Tg of laminates that are pressed together.
        backdrill_stub_mm: shortest stub that a backdrill leaves.
    """

    thickness_tolerance_pct: CamLimit
    pressed_mm: CamLimit
    prepreg_sheets: CamLimit
    pressed_tolerance_pct: CamLimit
    impedance_tolerance_pct: CamLimit
    laminations: CamLimit
    microvia_levels: CamLimit
    smooth_foil_oz: CamLimit
    tg_apart_c: CamLimit
    backdrill_stub_mm: CamLimit


@cache
def cam_limits() -> CamLimits:
    """Return the usual limits."""
    return read_model(FILE, CamLimits)
