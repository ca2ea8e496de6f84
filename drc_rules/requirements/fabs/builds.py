"""What fabs press, from `builds.toml`, and what they do not ask about: for the search of stackups."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from drc_rules.requirements.data_files import read_model
from drc_rules.requirements.fabs import Tier
from drc_rules.requirements.fabs.cam import cam_limits
from drc_rules.requirements.fabs.limits import limit_of
from stackup_lib.synthesis.build_rules import BuildRules

FILE = Path(__file__).parent / "builds.toml"


@cache
def build_rules() -> BuildRules:
    """Return what the stackups of a usual fab keep; `source` is the key of the document."""
    usual = {
        "usual_core_mm": limit_of("dielectric_mm", Tier.STANDARD),
        "usual_pressed_mm": cam_limits().pressed_mm.usual,
        "usual_plies": int(cam_limits().prepreg_sheets.usual),
    }
    return read_model(FILE, BuildRules).model_copy(update=usual)
