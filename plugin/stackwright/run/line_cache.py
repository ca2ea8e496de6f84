"""The cache of solved cross sections: an SQLite file in this user's cache folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from stackup_lib.core.result_cache import using_cache
from stackwright.run.user_cache import cache_folder, is_private

if TYPE_CHECKING:
    import sqlite3

MOST_ENTRIES = 50_000
"""About 20 MB. A check of a large board or a search for stackups adds some hundred."""

TABLE = "CREATE TABLE IF NOT EXISTS entry (key BLOB UNIQUE NOT NULL, numbers BLOB NOT NULL)"

LOCK_TIMEOUT_S = 0.2
"""How long a run waits for another run that writes; then it goes on without the cache."""


class LineCache:
    """Entries in an SQLite file that all runs of this user share; where it cannot be used, nothing is cached.

    The oldest entries are removed first. Each process opens the file for itself, copies of a process as well.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._opened_by = 0
        self._database: sqlite3.Connection | None = None

    def get(self, key: bytes) -> bytes | None:
        """Return an entry, None where there is none."""
        rows = self._run("SELECT numbers FROM entry WHERE key = ?", key)
        return rows[0] if rows and isinstance(rows[0], bytes) else None

    def put(self, key: bytes, entry: bytes) -> None:
        """Add an entry."""
        self._run("INSERT OR REPLACE INTO entry (key, numbers) VALUES (?, ?)", key, entry)

    def _run(self, statement: str, *values: bytes) -> tuple[object, ...] | None:
        try:
            import sqlite3  # only a run that solves lines needs it
        except ImportError:  # a Python that was built without it
            return None
        if self._opened_by != os.getpid():
            self._opened_by, self._database = os.getpid(), None
            with suppress(OSError):
                self._open()
        if self._database is None:
            return None
        try:
            found: tuple[object, ...] | None = self._database.execute(statement, values).fetchone()
        except sqlite3.Error as error:
            self._give_up(error)
            return None
        return found

    def close(self) -> None:
        """Close the file, where this process has opened it."""
        if self._database is not None and self._opened_by == os.getpid():
            self._database.close()
        self._database = None

    def _give_up(self, error: sqlite3.Error) -> None:
        """Do without the cache in this run; remove a damaged file, not one that is locked or on a full disk."""
        import sqlite3

        self.close()
        if not isinstance(error, sqlite3.OperationalError):
            with suppress(OSError):
                self._file.unlink()

    def _open(self) -> None:
        import sqlite3

        self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not is_private(self._file.parent):
            return
        try:
            self._database = sqlite3.connect(self._file, timeout=LOCK_TIMEOUT_S, isolation_level=None)
            # an entry that a power cut damages is ignored: each has its own checksum
            self._database.executescript(f"PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = OFF; {TABLE}")
            first, last = self._database.execute("SELECT MIN(rowid), MAX(rowid) FROM entry").fetchone()
            if last is not None and last - first >= MOST_ENTRIES + MOST_ENTRIES // 10:
                self._database.execute("DELETE FROM entry WHERE rowid <= ?", (last - MOST_ENTRIES,))
        except sqlite3.Error as error:
            self._give_up(error)


@contextmanager
def using_line_cache() -> Iterator[None]:
    """Cache the cross sections that are solved inside the block."""
    try:
        cache = LineCache(cache_folder() / "lines" / "solved.sqlite3")
    except RuntimeError:  # this user has no home folder
        yield
        return
    try:
        with using_cache(cache):
            yield
    finally:
        cache.close()
