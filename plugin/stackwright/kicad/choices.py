"""What the user chose for a board in the page, and the same thing as a command line and as settings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from drc_rules.settings import FILE_NAME
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.files.plain_file import read_plain_text
from stackwright.run.programs import command_line
from stackwright.run.user_cache import cache_folder, name_of
from stackwright.text.output import write_file

CI = """\
# .github/workflows/boards.yml; other systems: stackwright check BOARD, its exit code is the answer
on: [push, pull_request]
jobs:
  boards:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8 # v5.0.0
      - uses: OWNER/stackwright@COMMIT   # all 40 digits of the commit that you trust
"""


@dataclass
class Choices:
    """What is remembered of a board between two clicks, in the user's cache; never in the project.

    Attributes:
        profile: workload that was chosen; None where the settings or the board say it, or it is not stated.
        answered: True once the first offer was answered.
    """

    board: Path
    profile: str | None = None
    answered: bool = False

    @classmethod
    def of(cls, board: Path) -> Choices:
        """Read what is remembered; what cannot be read was never said."""
        try:
            read = json.loads(read_plain_text(_file(board)))
        except (OSError, ValueError):
            read = {}
        profile = read.get("profile") if isinstance(read, dict) else None
        return cls(board, profile if isinstance(profile, str) else None, answered=bool(read))

    def keep(self, profile: str | None) -> None:
        """Remember an answer; "" takes a workload back, None leaves it as it is.

        Raises:
            ConfigError: there is no such workload.
            OutputError: the cache cannot be written.
        """
        from drc_rules.requirements.profiles.profile import load_profile

        if profile:
            load_profile(profile)
        self.answered = True
        self.profile = self.profile if profile is None else profile or None
        _file(self.board).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_file(_file(self.board), json.dumps({"profile": self.profile, "answered": True}) + "\n")

    def settle(self, stated: Mapping[str, str] | None) -> None:
        """Take the choice back where settings or project state the same: what they say later counts then.

        Raises:
            OutputError: the cache cannot be written.
        """
        if self.profile and stated and stated["profile"] == self.profile:
            self.keep("")

    def write_settings(self) -> Path:
        """Write the settings next to the board, so that every check uses them; they say it now, not the choice.

        Raises:
            StackwrightError: there is such a file, or no workload was chosen.
        """
        target = self.board.with_name(FILE_NAME)
        if target.exists():
            raise StackwrightError(str(target), "is there already", "put the line into it yourself")
        if not self.profile:
            raise StackwrightError(str(target), "was not written: no workload is chosen", "choose one first")
        write_file(target, _settings(self.profile), replace=False)
        self.keep("")
        return target


def _file(board: Path) -> Path:
    return cache_folder() / "reports" / f"{name_of(board)}.choice.json"


def _settings(profile: str) -> str:
    return f"profile = {json.dumps(profile)}\n"


def equivalents(board: Path, profile: str | None, *, asked: bool) -> Mapping[str, object]:
    """Return the command that does the same, the settings that say the same, and what the first offer needs."""
    words = ["stackwright", "check", str(board), *(["--profile", profile] if profile else [])]
    has_settings = board.with_name(FILE_NAME).exists()
    return {
        "command": command_line(words),
        "profile": profile,
        "settings": _settings(profile) if profile else "",
        "has_settings": has_settings,
        "offer": not asked and not has_settings and not profile,
        "ci": CI,
    }


@cache
def profiles() -> list[dict[str, str]]:
    """Return the workloads that the page offers, by name and title; slow the first time (0.1 s)."""
    from drc_rules.requirements.profiles.profile import load_profile, profile_names

    return [{"name": name, "title": load_profile(name).title} for name in profile_names()]
