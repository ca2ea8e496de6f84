"""What a worker tells of the form: questions and verdict of a board, with the settings as they are or as drafted."""

from __future__ import annotations

from pathlib import Path

from drc_rules.engine.check import CheckUp, check_up, with_own_profile
from drc_rules.facts.declared import Overrides
from drc_rules.settings import FILE_NAME
from drc_rules.settings.config import parse_config
from stackwright.kicad.form.questions import questions_of
from stackwright.kicad.form.verdict import verdict_of

IN_KICAD = "# in KiCad, "
"""How lines begin that tell what is entered in KiCad, not in the settings."""


def form_of(checked: CheckUp) -> dict[str, object]:
    """Return what the form needs of a check, as JSON."""
    stackup = checked.context.board.stackup
    is_stated = stackup is not None and not checked.context.is_default_stackup
    return {
        "questions": [one.model_dump(mode="json") for one in questions_of(checked)],
        "verdict": verdict_of(checked.report).model_dump(mode="json"),
        "elsewhere": [line.removeprefix("# ") for line in checked.report.proofs if line.startswith(IN_KICAD)],
        "digest": stackup.digest if stackup is not None and is_stated else "",
    }


def try_settings(board: Path, live: bytes, settings: str, profile: str | None) -> dict[str, object]:
    """Check a board with settings that are not written.

    Raises:
        StackwrightError: the board or the settings cannot be read.
    """
    config = with_own_profile(parse_config(settings, path=board.with_name(FILE_NAME)), board.parent)
    overrides = Overrides(profile=profile).with_defaults(config.check)
    return form_of(check_up(board, config=config, overrides=overrides, text=live))
