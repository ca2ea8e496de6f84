"""What the live page and KiCad have to do with one another: check, select, check again, stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from stackup_lib.errors import StackwrightError
from stackwright.kicad import jobs
from stackwright.kicad.bridge import TRY_AGAIN, Bridge
from stackwright.kicad.choices import Choices, equivalents
from stackwright.kicad.live import READING_S, KicadError
from stackwright.kicad.markers import Canvas, Marker, replace
from stackwright.kicad.settings_files import SettingsFiles

PLUGIN = "org.stackwright.kicad"
"""Identifier of the plugin, as in plugin.json."""

IDLE, ASKING, CHECKING = "idle", "asking KiCad for the board", "checking"
SLOW_TO_COMPARE_BYTES = 8_000_000
"""A board beyond this is not compared at every look: KiCad would stand still for it."""


class OpenBoard(Canvas, Protocol):
    """What a session needs of a live board."""

    path: Path

    def content(self) -> bytes:
        """Return the board as it is now."""

    def digest(self) -> str:
        """Return a fingerprint of the board as it is now."""

    def select(self, uuids: Sequence[str], layer: str | None = None) -> int:
        """Select items, bring them into view, return how many there are."""

    def settings_folder(self, plugin: str) -> Path:
        """Return the folder for what a plugin remembers."""


@dataclass(frozen=True)
class Checked:
    """The last check: what the worker said, and the fingerprint of the board it saw; "" for a big board."""

    result: Mapping[str, Any]
    digest: str
    settings: str


class Session:
    """One board, one page; every method may be called from any thread."""

    def __init__(self, path: Path, connect: Callable[[float], OpenBoard], choices: Choices) -> None:
        self.path = path
        self.bridge: Bridge[OpenBoard] = Bridge(connect, path)
        self.choices = choices
        self.heard_at = time.monotonic()
        self.left_at: float | None = None
        self.gone = False
        self._lock = threading.RLock()
        self._job: jobs.Job | None = None
        self._phase = IDLE
        self._runs = 0
        self._checked: Checked | None = None
        self._error: StackwrightError | None = None
        self._notes: list[str] = []
        self._stale = False
        self._settings = SettingsFiles(path)

    # --- what the server serves ---------------------------------------------------------------------------------------

    def report(self) -> bytes:
        """Return the last report as HTML; empty before the first."""
        checked = self._checked
        return Path(checked.result["page"]).read_bytes() if checked else b""

    def style(self) -> str:
        """Return the style sheet of the report."""
        from stackwright.drawing.svg import STYLE
        from stackwright.reporters.html import TEMPLATES

        return (TEMPLATES / "report.css").read_text(encoding="utf-8") + STYLE

    def state(self) -> Mapping[str, object]:
        """Return how things stand; who asks is the page, so it is alive."""
        self.heard_at, self.left_at = time.monotonic(), None
        with self._lock:
            checked, job = self._checked, self._job
            return {
                "board": str(self.path),
                "phase": self._phase,
                "doing": job.doing if job else "",
                "steps": job.steps if job else 0,
                "run": self._runs,
                "keys": {ident: one["key"] for ident, one in checked.result["findings"].items()} if checked else {},
                "headline": checked.result["headline"] if checked else "",
                "error": _said(self._error),
                "notes": list(self._notes),
                "stale": self._stale or (checked is not None and checked.settings != self._settings.digest()),
                "gone": self.gone,
                **equivalents(self.path, self.choices.profile, asked=self.choices.answered),
            }

    def act(self, name: str, wanted: Mapping[str, object]) -> Mapping[str, object]:
        """Do what the page asks for.

        Raises:
            KeyError: there is no such action.
            StackwrightError: it could not be done.
        """
        actions: dict[str, Callable[[Mapping[str, object]], Mapping[str, object]]] = {
            "select": self._select,
            "look": self._look,
            "run": self._run,
            "again": self._run,
            "cancel": self._cancel,
            "choose": self._choose,
            "write-settings": self._write_settings,
            "bye": self._bye,
        }
        return actions[name](wanted)

    # --- checking -----------------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Begin a check in the background; nothing where one runs."""
        with self._lock:
            if self._phase != IDLE:
                return
            self._phase, self._error, self._notes = ASKING, None, []
        threading.Thread(target=self._fetch, daemon=True).start()

    def _fetch(self) -> None:
        try:
            content, digest = self.bridge.ask(_content_and_digest, READING_S)
            wanted = {"kind": "check", "board": str(self.path), "profile": self.choices.profile or ""}
            with self._lock:
                if self._phase != ASKING:  # stopped meanwhile
                    return
                self._phase = CHECKING
                self._job = jobs.start(wanted, content, lambda r, e: self._finish(r, e, digest))
        except StackwrightError as error:
            self._end(error)
        except Exception as error:
            self._end(StackwrightError("the check", f"broke off ({type(error).__name__}: {error})", jobs.REPORT_IT))

    def _finish(self, result: dict[str, Any] | None, error: StackwrightError | None, digest: str) -> None:
        if result is None:
            self._end(error)
            return
        with self._lock:
            self._checked, self._stale = Checked(result, digest, self._settings.digest()), False
            self._runs += 1
        self._end(None)
        try:
            self._mark(result)
        except StackwrightError as refused:
            with self._lock:
                self._notes.append(f"No markers were set: {refused}")

    def _mark(self, result: Mapping[str, Any]) -> None:
        rows = result["markers"]
        markers = [
            Marker(r["message"], r["is_warning"], tuple(r["at_mm"]) if r["at_mm"] else None, tuple(r["items"]))
            for r in rows
        ]
        self.bridge.ask(lambda live: replace(live, self.path, markers, live.settings_folder(PLUGIN)), READING_S)

    def _end(self, error: StackwrightError | None) -> None:
        with self._lock:
            self._phase, self._job, self._error = IDLE, None, error

    def _run(self, _wanted: Mapping[str, object]) -> Mapping[str, object]:
        self.check()
        return {}

    def _cancel(self, _wanted: Mapping[str, object]) -> Mapping[str, object]:
        with self._lock:
            if self._job is not None:
                self._job.stop()
            self._phase, self._job = IDLE, None
            self._notes = ["The check was stopped; the report below is the one before it."] if self._checked else []
        return {}

    # --- looking ------------------------------------------------------------------------------------------------------

    def _select(self, wanted: Mapping[str, object]) -> Mapping[str, object]:
        checked = self._checked
        entry = checked.result["findings"].get(wanted.get("finding")) if checked else None
        if entry is None:
            raise KicadError("the page", "shows no such finding any more", "wait for the check, or reload the page")
        members = entry["members"]
        index = wanted.get("member")
        if isinstance(index, int) and 0 <= index < len(members):
            members = [members[index]]
        items = list(dict.fromkeys(item for member in members for item in member["items"]))
        layers = list(dict.fromkeys(member["layer"] for member in members))
        layer = layers[0] if len(layers) == 1 else None
        found = self.bridge.ask(lambda live: live.select(items, layer))
        missing = len(items) - found
        if missing:
            self._stale = True
        return {"items": len(items), "found": found, "layer": layer, "stale": self._stale}

    def _look(self, _wanted: Mapping[str, object]) -> Mapping[str, object]:
        """See whether the board was changed since the check; says nothing where KiCad has no time."""
        checked = self._checked
        if checked is not None and checked.digest and self._phase == IDLE:
            try:
                self._stale = self.bridge.ask(lambda live: live.digest()) != checked.digest
            except KicadError as error:
                return {"error": _said(error)}
        return {"stale": self._stale}

    # --- choosing and leaving -----------------------------------------------------------------------------------------

    def _choose(self, wanted: Mapping[str, object]) -> Mapping[str, object]:
        profile = wanted.get("profile")
        self.choices.keep(profile if isinstance(profile, str) else None)
        if profile is not None:
            self.check()
        return {}

    def _write_settings(self, _wanted: Mapping[str, object]) -> Mapping[str, object]:
        return {"path": str(self.choices.write_settings())}

    def _bye(self, _wanted: Mapping[str, object]) -> Mapping[str, object]:
        self.left_at = time.monotonic()
        return {}

    def stop(self) -> None:
        """End what runs."""
        with self._lock:
            if self._job is not None:
                self._job.stop()


def _content_and_digest(live: OpenBoard) -> tuple[bytes, str]:
    content = live.content()
    return content, live.digest() if len(content) < SLOW_TO_COMPARE_BYTES else ""


def _said(error: StackwrightError | None) -> Mapping[str, str] | None:
    if error is None:
        return None
    return {"where": error.where, "what": error.what, "next_step": error.next_step or TRY_AGAIN}
