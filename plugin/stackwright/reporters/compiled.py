"""Compiled templates, kept in the user's cache: to compile them takes six times as long as to fill them in."""

from __future__ import annotations

import contextlib
from pathlib import Path

import jinja2
from jinja2 import BytecodeCache
from jinja2.bccache import Bucket

from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.files.plain_file import read_plain
from stackwright import __version__
from stackwright.run.user_cache import cache_folder, is_private
from stackwright.text.output import write_file


class CompiledTemplates(BytecodeCache):
    """Keeps what templates were compiled to, apart for each version of this package and of Jinja.

    Jinja itself compares the template's text and Python's version. Where the folder cannot be used, or others may write
    to it, templates are compiled each time.
    """

    def load_bytecode(self, bucket: Bucket) -> None:
        """Take what is kept; damaged files are as good as none."""
        with contextlib.suppress(Exception):
            folder = _folder()
            if is_private(folder):
                bucket.bytecode_from_string(read_plain(folder / bucket.key))

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep what was compiled."""
        with contextlib.suppress(OSError, StackwrightError, RuntimeError):  # the last: this user has no home folder
            folder = _folder()
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            if is_private(folder):
                write_file(folder / bucket.key, bucket.bytecode_to_string())


def _folder() -> Path:
    return cache_folder() / "templates" / f"{__version__}-{jinja2.__version__}"
