"""Compiled templates in the user's cache: a page is the same with them, without them, and with damaged ones."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import jinja2
import pytest

from drc_rules.facts.declared import Overrides
from stackwright.commands.check.command import check_one
from stackwright.commands.check.request import CheckRequest
from stackwright.reporters import html

BOARD = Path(__file__).parents[2] / "fixtures/boards/edge_jetson_carrier_fit/edge_jetson_carrier_fit.kicad_pcb"


class Pages:
    """Makes a report as a new process would.

    Attributes:
        compiled: names of the templates that had to be compiled for the last page.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.compiled: list[str | None] = []
        self._outcome, _ = check_one(BOARD, CheckRequest(Overrides()))
        compile_text = jinja2.Environment.compile

        def noted(made: jinja2.Environment, source: str, name: str | None = None, file: str | None = None) -> object:
            self.compiled.append(name)
            return compile_text(made, source, name, file)

        monkeypatch.setattr(jinja2.Environment, "compile", noted)

    def page(self) -> str:
        """Return the report."""
        self.compiled.clear()
        html._environment.cache_clear()
        return html.render([self._outcome])


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The user's cache, empty."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    yield tmp_path / "stackwright" / "templates"
    html._environment.cache_clear()


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> Pages:
    """A report that can be made again and again."""
    return Pages(monkeypatch)


def files(cache: Path) -> list[Path]:
    """What is kept."""
    return [path for path in cache.rglob("*") if path.is_file()]


def test_a_second_process_compiles_nothing(cache: Path, pages: Pages) -> None:
    """And its page is the same."""
    first = pages.page()
    assert "report.html" in pages.compiled
    assert len(files(cache)) == len(pages.compiled)
    assert pages.page() == first
    assert pages.compiled == []


@pytest.mark.parametrize("damage", [b"", b"j2", b"\x00" * 99])
def test_a_damaged_file_is_made_again(cache: Path, pages: Pages, damage: bytes) -> None:
    """Empty, cut off, or of another kind."""
    first = pages.page()
    names = sorted(map(str, pages.compiled))
    for file in files(cache):
        file.write_bytes(damage)
    assert pages.page() == first
    assert sorted(map(str, pages.compiled)) == names
    assert pages.page() == first
    assert pages.compiled == []


def test_a_file_that_is_cut_off_is_made_again(cache: Path, pages: Pages) -> None:
    """At every tenth of its length."""
    first = pages.page()
    kept = {file: file.read_bytes() for file in files(cache)}
    for tenths in range(10):
        for file, content in kept.items():
            file.write_bytes(content[: len(content) * tenths // 10])
        assert pages.page() == first


def test_a_folder_to_which_others_write_is_not_used(cache: Path, pages: Pages) -> None:
    """What lies in it would be run."""
    first = pages.page()
    (folder,) = cache.iterdir()
    folder.chmod(0o777)
    before = {file: file.stat().st_mtime_ns for file in files(cache)}
    assert pages.page() == first
    assert pages.compiled
    assert {file: file.stat().st_mtime_ns for file in files(cache)} == before


def test_a_folder_of_another_user_is_not_used(cache: Path, pages: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it may be where HOME names another user's folder."""
    first = pages.page()
    other = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: other)
    assert pages.page() == first
    assert pages.compiled


def test_a_cache_that_cannot_be_used_changes_nothing(cache: Path, pages: Pages) -> None:
    """Here a file stands where its folder would be."""
    first = pages.page()
    for file in files(cache):
        file.unlink()
    (folder,) = cache.iterdir()
    folder.rmdir()
    cache.rmdir()
    cache.write_bytes(b"")
    assert pages.page() == first
    assert pages.compiled


def test_without_a_home_the_page_is_made_all_the_same(pages: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    """As for a user of a container whom the system does not know."""

    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    first = pages.page()
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    assert pages.page() == first
    assert pages.compiled
    html._environment.cache_clear()
