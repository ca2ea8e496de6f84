"""One session per board and KiCad: a second click finds the first one's server and lets it check again."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stackup_lib.core.files.plain_file import read_plain_text
from stackwright.kicad.server import LOOPBACK, LiveServer
from stackwright.run.user_cache import cache_folder, name_of

ANSWER_S = 5
"""How long a running session may take to answer; it only takes note."""

BIRTH_S = 5
"""How long a session that is being made may take until its address is written down."""


def note_of(board: Path) -> Path:
    """Return the file in which a session on this board says how it is reached.

    KiCad started anew has the same socket and another token: sessions of the one before are not found.
    """
    which = "\0".join(os.environ.get(name, "") for name in ("KICAD_API_SOCKET", "KICAD_API_TOKEN"))
    kicad = hashlib.sha256(os.fsencode(which)).hexdigest()[:8]
    return cache_folder() / "sessions" / f"{name_of(board)}-{kicad}.json"


def running_session(board: Path) -> str | None:
    """Let a running session check again and return an address that shows its page; None where there is none."""
    note = note_of(board)
    end = time.monotonic() + BIRTH_S
    while note.exists():
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            said = json.loads(read_plain_text(note))
            return _ask_again(int(said["port"]), str(said["token"]))
        if time.monotonic() > end or _age_s(note) > BIRTH_S:
            return None
        time.sleep(0.1)
    return None


def _age_s(note: Path) -> float:
    try:
        return time.time() - note.stat().st_mtime
    except OSError:
        return 0.0


def _ask_again(port: int, token: str) -> str | None:
    """Ask a server; one that has gone, or that is another program by now, gives None."""
    origin = f"http://{LOOPBACK}:{port}"
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=ANSWER_S)
    try:
        connection.request("POST", f"/{token}/again", b"{}", {"Origin": origin, "Content-Type": "application/json"})
        url = str(json.loads(connection.getresponse().read())["url"])
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
        return None
    finally:
        connection.close()
    return url if url.startswith(f"{origin}/open/") else None


@contextmanager
def noted(board: Path, server: LiveServer) -> Iterator[None]:
    """Write down how a session is reached, for this user alone, as long as it runs."""
    note = note_of(board)
    note.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    note.unlink(missing_ok=True)
    said = json.dumps({"pid": os.getpid(), "port": server.port, "token": server.door.token})
    with contextlib.suppress(OSError):  # without it a second click begins a session of its own
        handle = os.open(note, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(said)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            if read_plain_text(note) == said:
                note.unlink()
