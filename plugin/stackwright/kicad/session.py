"""What the live page and KiCad have to do with one another: check, select, check again, stop."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace as replace_fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.files.plain_file import read_board_bytes
from stackup_lib.core.record import record
from stackwright.kicad import jobs
from stackwright.kicad.bridge import Bridge
from stackwright.kicad.choices import Choices, equivalents
from stackwright.kicad.errors import KicadError, said
from stackwright.kicad.form.part import Finish, FormPart
from stackwright.kicad.live import PLUGIN, READING_S
from stackwright.kicad.markers import replace
from stackwright.kicad.open_board import Marker, OpenBoard, Seen, content_and_digest
from stackwright.kicad.settings_files import BoardFile, SettingsFiles
from stackwright.kicad.view import ActiveLayer
from stackwright.run.user_cache import cache_folder, name_of

if TYPE_CHECKING:
    from stackwright.kicad import fixing

IDLE, ASKING, CHECKING = "idle", "asking KiCad for the board", "checking"
FIXING, APPLYING, MARKING = "looking for the least change", "applying", "setting markers"
TRYING = "checking with your answers"
OF_KICAD = ("select", "fix", "apply", "undo", "draw", "clear")
"""Actions that need a running KiCad."""

MARKING_S = 30
"""How long KiCad may take for one marker or for removing the old ones."""

FAREWELL_S = 5
"""How long KiCad may take to get its active layer back when the page has gone."""

STRAGGLER_S = 1.5
"""A question that comes so soon after the page's goodbye was on its way before; a page that was reloaded asks on."""


Result = dict[str, Any] | None
Failure = StackwrightError | None


@record
class SessionCheck:
    """The last check: what the worker said, and the fingerprint of the board it saw."""

    result: Mapping[str, Any]
    seen: Seen
    settings: str


class Session:
    """One board, one page; every method may be called from any thread."""

    def __init__(
        self, path: Path, connect: Callable[[float], OpenBoard], choices: Choices, *, has_kicad: bool = True
    ) -> None:
        self.path = path
        self.has_kicad = has_kicad
        self.is_done = False
        self.form = FormPart(path, choices, self._try)
        self.bridge: Bridge[OpenBoard] = Bridge(connect, path)
        self.choices = choices
        self.heard_at = time.monotonic()
        self.left_at: float | None = None
        self._lock = threading.RLock()
        self._job: jobs.Job | None = None
        self._phase = IDLE
        self._runs = 0
        self._checked: SessionCheck | None = None
        self._error: StackwrightError | None = None
        self._notes: list[str] = []
        self._stale = False
        self._fix: Mapping[str, Any] | None = None
        self._fixes = 0
        self._undo: fixing.Undo | None = None
        self._drawn: list[str] = []
        self._settings = SettingsFiles(path)
        self._settings_at_start = ""
        self._file = BoardFile(path)
        self._layer = ActiveLayer()
        self._is_written = False

    @property
    def gone(self) -> bool:
        """True once the KiCad of this session has ended."""
        return self.bridge.has_ended

    # --- what the server serves ---------------------------------------------------------------------------------------

    def report(self) -> bytes:
        """Return the last report as HTML; empty before the first."""
        checked = self._checked
        return read_board_bytes(Path(checked.result["page"])) if checked else b""

    def state(self) -> Mapping[str, object]:
        """Return how things stand; who asks is the page, so it is alive."""
        self.heard_at = time.monotonic()
        if self.left_at is not None and self.heard_at - self.left_at > STRAGGLER_S:
            self.left_at = None
        with self._lock:
            checked, job = self._checked, self._job
            return {
                "board": str(self.path),
                "phase": self._phase,
                "doing": job.doing if job else "",
                "steps": job.steps if job else 0,
                "run": self._runs,
                "keys": {ident: one["key"] for ident, one in checked.result["findings"].items()} if checked else {},
                "fix": self._fixes if self._fix else 0,
                "undoable": self._undo is not None,
                "drawn": self.drawn,
                "headline": checked.result["headline"] if checked else "",
                "judged": checked.result.get("profile") if checked else None,
                "stated": checked.result.get("stated") if checked else None,
                "error": said(self._error),
                "notes": list(self._notes),
                "stale": self._stale or (checked is not None and checked.settings != self._settings.digest()),
                "file": self._file.stamp,
                "written": self._is_written,
                "large": checked is not None and checked.seen.is_large,
                "gone": self.gone,
                "kicad": self.has_kicad,
                "form": self.form.number,
                **equivalents(self.path, self.choices.profile, asked=self.choices.answered),
            }

    def act(self, name: str, wanted: Mapping[str, object]) -> Mapping[str, object]:
        """Do what the page requests.

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
            "fix": self._look_for_fix,
            "preview": lambda _wanted: self._fix or {},
            "apply": self._apply,
            "undo": self._take_back,
            "draw": self._draw,
            "clear": self._clear,
            "form": self.form.show,
            "form-try": self.form.answer,
            "form-diff": self.form.diff,
            "form-write": self._write_form,
            "done": self._done,
        }
        if not self.has_kicad and name in OF_KICAD:
            raise KicadError("this page", "has no KiCad to work with", "press Stackwright's button in KiCad")
        return actions[name](wanted)

    # --- checking -----------------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Begin a check in the background; nothing where something runs."""
        self._begin({"kind": "check"}, CHECKING, self._finish)

    def _begin(self, wanted: Mapping[str, str], phase: str, finish: Callable[[Result, Failure, Seen], None]) -> bool:
        with self._lock:
            if self._phase != IDLE:
                return False
            self._phase, self._error, self._notes = ASKING, None, []
        threading.Thread(target=self._fetch, args=(wanted, phase, finish), daemon=True).start()
        return True

    def _try(self, wanted: Mapping[str, str], finish: Finish) -> bool:
        """Begin a check with answers of the form, in place of one with former answers."""

        def end(result: Result, error: Failure, _seen: Seen) -> None:
            finish(result, error)
            self._end(error)

        with self._lock:
            if self._phase == TRYING:
                self._cancel({})
            return self._begin(wanted, TRYING, end)

    def _write_form(self, wanted: Mapping[str, object]) -> Mapping[str, object]:
        with self._lock:  # the page does not see the new settings before the check of them has begun
            done = self.form.write(wanted)
            if self._phase == TRYING:
                self._cancel({})
            self.check()
        return done

    def _done(self, _wanted: Mapping[str, object]) -> Mapping[str, object]:
        self.is_done = True
        return {}

    def _fetch(self, wanted: Mapping[str, str], phase: str, finish: Callable[[Result, Failure, Seen], None]) -> None:
        try:
            with jobs.Worker() as worker:
                content, seen = self.bridge.ask(content_and_digest, READING_S)
                job = {"profile": self.choices.profile or "", **wanted, "board": str(self.path)}
                with self._lock:
                    if self._phase != ASKING:  # stopped in the meantime
                        return
                    self._phase = phase
                    self._file.checked(content)
                    self._settings_at_start = self._settings.digest()
                    self._job = worker.start(job, content, lambda result, error: finish(result, error, seen))
        except StackwrightError as error:
            self._end(error)
        except Exception as error:
            self._end(StackwrightError("the check", f"stopped ({type(error).__name__}: {error})", jobs.REPORT_IT))

    def _finish(self, result: Result, error: Failure, seen: Seen) -> None:
        if result is None:
            self._end(error)
            return
        with self._lock:
            self._checked, self._stale = SessionCheck(result, seen, self._settings_at_start), False
            self._is_written = self._file.is_written()
            self._runs += 1
            self.form.checked(result.get("form"))
            self._fix, self._job, self._phase = None, None, MARKING
        try:
            if self.has_kicad:
                self._mark(result)
        except StackwrightError as refused:
            with self._lock:
                self._notes.append(f"No markers were set: {refused}")
        if self.has_kicad:
            with contextlib.suppress(StackwrightError):  # the choice stays, and is named next to what is stated
                self.choices.settle(result.get("stated"))
        self._end(None)

    def _mark(self, result: Mapping[str, Any]) -> None:
        rows = result["markers"]
        markers = [
            Marker(r["message"], r["is_warning"], tuple(r["at_mm"]) if r["at_mm"] else None, tuple(r["items"]))
            for r in rows
        ]
        self.bridge.ask(lambda live: replace(live, self.path, markers, live.settings_folder(PLUGIN)), MARKING_S)

    def _end(self, error: StackwrightError | None) -> None:
        with self._lock:
            self._phase, self._job, self._error = IDLE, None, error

    def _run(self, _wanted: Mapping[str, object]) -> Mapping[str, object]:
        self.check()
        return {}

    def _cancel(self, _wanted: Mapping[str, object]) -> Mapping[str, object]:
        with self._lock:
            if self._phase == APPLYING:  # half of it would be worse than all
                return {}
            if self._job is not None:
                self._job.stop()
            self._phase, self._job = IDLE, None
            self._notes = ["The check was stopped; the report below is the one before it."] if self._checked else []
        return {}

    # --- looking ------------------------------------------------------------------------------------------------------

    def _select(self, wanted: Mapping[str, object]) -> Mapping[str, object]:
        checked = self._checked
        known = {**checked.result["findings"], **checked.result.get("links", {})} if checked else {}
        ident = wanted.get("finding")
        entry = known.get(ident) if isinstance(ident, str) else None
        if entry is None:
            raise KicadError("the page", "shows no such finding any more", "wait for the check, or reload the page")
        members = entry["members"]
        index = wanted.get("member")
        if isinstance(index, int) and 0 <= index < len(members):
            members = [members[index]]
        items = list(dict.fromkeys(item for member in members for item in member["items"]))
        layers = list(dict.fromkeys(member["layer"] for member in members))
        layer = layers[0] if len(layers) == 1 else None
        found = self.bridge.ask(lambda live: self._layer.select(live, items, layer))
        missing = len(items) - found
        if missing:
            self._stale = True
        more = sum(member.get("more", 0) for member in members)
        return {"items": len(items), "found": found, "more": more, "layer": layer, "stale": self._stale}

    def _look(self, _wanted: Mapping[str, object]) -> Mapping[str, object]:
        """See whether the board was changed since the check; says nothing where KiCad has no time."""
        checked = self._checked
        if checked is not None and self._phase == IDLE:
            self._is_written = self._file.is_written()
            try:
                self._stale = self.bridge.ask(lambda live: self._compared(live, checked.seen))
            except KicadError as error:
                return {"error": said(error), "written": self._is_written}
        return {"stale": self._stale, "written": self._is_written}

    def _compared(self, live: OpenBoard, seen: Seen) -> bool:
        """Return whether the board is another one now; see also whether it was KiCad that wrote its file."""
        if self._is_written and not seen.is_large:
            self._file.know(live.content())
            self._is_written = self._file.is_written()
        return seen.again(live) != seen

    # --- fixing and drawing -------------------------------------------------------------------------------------------

    def _look_for_fix(self, _wanted: Mapping[str, object]) -> Mapping[str, object]:
        plan = cache_folder() / "reports" / f"{name_of(self.path)}.plan.toml"
        self._begin({"kind": "fix", "plan": str(plan)}, FIXING, self._found_fix)
        return {}

    def _found_fix(self, result: Result, error: Failure, _seen: Seen) -> None:
        with self._lock:
            self._fix, self._fixes = result, self._fixes + 1
        self._end(error)

    def _apply(self, wanted: Mapping[str, object]) -> Mapping[str, object]:
        from stackwright.kicad import fixing

        with self._lock:
            fix = self._fix
            if fix is None or "plan" not in fix or self._phase != IDLE:
                raise KicadError("the change", "is not there any more", fixing.PREVIEW_AGAIN)
            self._phase = APPLYING
        consent, begun = wanted.get("consent") is True, threading.Event()

        def applied(live: OpenBoard) -> fixing.Applied:
            begun.set()
            return fixing.apply(live, fix, consent=consent)

        try:
            done = self.bridge.ask(applied, 2 * READING_S)
        except KicadError as error:
            if begun.is_set():  # says itself what it means for the files
                raise
            raise type(error)(error.where, f"{error.what}; {fixing.NOT_WRITTEN}", error.next_step) from error
        finally:
            self._end(None)
        with self._lock:
            self._fix, self._undo = None, done["undo"]
        self.check()
        return {name: value for name, value in done.items() if name != "undo"}

    def _take_back(self, _wanted: Mapping[str, object]) -> Mapping[str, object]:
        from stackwright.kicad import fixing

        with self._lock:
            undo = self._undo
            if undo is None or self._phase != IDLE:
                raise KicadError("the change", "cannot be undone now", "wait for the check, then try again")
            self._phase = APPLYING
        try:
            done = self.bridge.ask(lambda live: fixing.undo(live, undo), 2 * READING_S)
        finally:
            self._end(None)
        with self._lock:
            self._undo = None
        self.check()
        return done

    @property
    def drawn(self) -> int:
        """How many items were drawn on the board by this session."""
        return len(self._drawn)

    def _draw(self, _wanted: Mapping[str, object]) -> Mapping[str, object]:
        checked = self._checked
        if checked is None:
            raise KicadError("the page", "has no report yet", "wait for the check")
        self._look({})
        rows = [m for m in checked.result["markers"] if m["at_mm"]]
        self._clear({})
        if not rows:
            return {"drawn": 0, "layer": ""}
        self._drawn, layer = self.bridge.ask(lambda live: live.draw(rows), READING_S)
        self._redigest()
        return {"drawn": len(rows), "layer": layer}

    def _clear(self, _wanted: Mapping[str, object]) -> Mapping[str, object]:
        if self._drawn:
            self.bridge.ask(lambda live: live.remove(self._drawn), READING_S)
            self._drawn = []
            self._redigest()
        return {}

    def _redigest(self) -> None:
        """Our own drawing changes nothing that a check reads; what the user changed before stays known as changed."""
        checked = self._checked
        if checked is not None and not self._stale:
            self._checked = replace_fields(checked, seen=self.bridge.ask(checked.seen.again, READING_S))

    # --- choosing and leaving -----------------------------------------------------------------------------------------

    def _choose(self, wanted: Mapping[str, object]) -> Mapping[str, object]:
        profile = wanted.get("profile")
        self.choices.keep(profile if isinstance(profile, str) else None)
        if profile is not None:
            self.check()
        return {}

    def _write_settings(self, _wanted: Mapping[str, object]) -> Mapping[str, object]:
        path = str(self.choices.write_settings())
        self.form.lines.append(f"Wrote {path}.")  # init --serve says at its end what was written
        return {"path": path}

    def _bye(self, _wanted: Mapping[str, object]) -> Mapping[str, object]:
        self.left_at = time.monotonic()
        return {}

    def stop(self) -> None:
        """End what runs, and give the active layer back."""
        with self._lock:
            self._phase = IDLE  # what still asks KiCad for the board goes no further
            if self._job is not None:
                self._job.stop()
        if self._layer.is_ours and not self.gone:
            with contextlib.suppress(StackwrightError):  # KiCad is busy, or has another board by now
                self.bridge.ask(self._layer.give_back, FAREWELL_S)
