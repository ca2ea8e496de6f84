"""Arguments of commands: the options that they share, and the output of their answer to a file or the terminal."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel

from drc_rules.engine.check import find_config, prepare
from drc_rules.facts.context import Context
from drc_rules.facts.declared import Overrides
from drc_rules.settings.config import Config
from stackup_lib.kicad import read_board
from stackwright.run.browser import open_in_browser
from stackwright.text.output import STDOUT, check_ending, check_target, show, write_file
from stackwright.text.page import Page, terminal_console

TEXT, JSON, HTML, MARKDOWN = "text", "json", "html", "markdown"


@dataclass(frozen=True, kw_only=True)
class OutputRequest:
    """How an answer is written.

    Attributes:
        format: one of those that the command has.
        output: file for it; None or `-` for standard output.
        open_page: show a page in the browser.
    """

    format: str = TEXT
    output: Path | None = None
    open_page: bool = False

    def file(self, board: Path | None = None) -> Path | None:
        """Return the file to write; None for standard output. A page of a board gets a name of its own."""
        if self.output is None and self.format == HTML and needs_page_file(open_page=self.open_page):
            return page_file(board)
        return None if self.output == STDOUT else self.output

    def check_file(self, *inputs: Path | None, board: Path | None = None) -> None:
        """Refuse a file that cannot be written, is an input, or is named for another format; see `check_target`."""
        if file := self.file(board):
            check_target(file, [path for path in inputs if path is not None])
            check_ending(file, self.format)

    def laid_out(self, page: Page) -> str:
        """Return a page as text, as wide and coloured as the terminal where it goes there."""
        return page.text(None if self.file() else terminal_console())

    def deliver(self, text: str, done: str = "", *, board: Path | None = None) -> None:
        """Write the answer; of a file, `done` is said with its name."""
        file = self.file(board)
        if file is None:
            show(text)
            return
        write_file(file, text)
        if done:
            show(f"{done} written to {file}\n")
        if self.open_page:
            open_in_browser(file.resolve())


@dataclass(frozen=True, kw_only=True)
class BoardRequest(OutputRequest):
    """What is requested for a board.

    Attributes:
        overrides: what the command line says in place of the settings.
        config: settings file instead of the `stackwright.toml` next to the board.
    """

    overrides: Overrides = field(default_factory=Overrides)
    config: Path | None = None

    def config_of(self, board: Path) -> Config:
        """Load the settings of a board; raises `ConfigError` as `load_config` does."""
        return find_config(board, self.config)

    def context_of(self, board: Path) -> Context:
        """Read a board and gather its facts.

        Raises:
            StackwrightError: the board or its settings cannot be read.
        """
        return prepare(read_board(board), self.config_of(board), self.overrides)[0]


def document_text(document: BaseModel) -> str:
    """Return an answer as JSON; the same answer gives the same bytes."""
    return json.dumps(document.model_dump(mode="json"), indent=2) + "\n"


def needs_page_file(*, open_page: bool) -> bool:
    """Tell whether a page that is given no file goes to one all the same: a terminal cannot show it."""
    return open_page or sys.stdout.isatty()


def page_file(board: Path | None) -> Path:
    """Return the file in the current folder for a page about a board, or about several."""
    return Path(f"{board.stem}-stackwright.html" if board else "stackwright.html")
