"""What the options of `stackwright check` ask for, taken together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stackup_lib.core.errors import StackwrightError
from stackwright.commands.check.command import TEXT, CheckRequest
from stackwright.text.output import STDOUT

JSON = "json"


class OptionsError(StackwrightError):
    """Options that contradict one another."""


def wanted_reports(formats: Sequence[str], outputs: Sequence[Path], *, json: bool = False) -> tuple[CheckRequest, ...]:
    """Pair formats with files, in order; one format more than files goes to standard output, as `-` does.

    Raises:
        OptionsError: more files than formats, two reports for one file or for the terminal, `--json` beside another.
    """
    if json and any(form != JSON for form in formats):
        raise OptionsError("--json", f"and --format {formats[0]} exclude each other", "leave one of them out")
    asked = list(formats) or [JSON if json else TEXT]
    if not len(outputs) <= len(asked) <= len(outputs) + 1:
        what = f"{len(asked)} of --format and {len(outputs)} of --output do not pair"
        raise OptionsError("options", what, "give one --output per --format; the last may be left out for the terminal")
    files = [None if file == STDOUT else file for file in outputs]
    files += [None] * (len(asked) - len(files))
    for file in {*files}:
        if files.count(file) > 1:
            name = "the terminal" if file is None else str(file)
            raise OptionsError("--output", f"{name} is named twice", "give every report a file of its own")
    return tuple(CheckRequest(form, file) for form, file in zip(asked, files, strict=True))
