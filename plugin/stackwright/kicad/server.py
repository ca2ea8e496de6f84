"""The little web server between the report's page and KiCad: this machine only, one user, one session.

It listens on the loopback address at a free port. Every path begins with a random token; the page is opened by a
code that works once, so that the token stands in no process list. Requests that name another host (DNS rebinding) or
come from another site are refused before anything is looked at. A client has a few seconds for the head of a request,
and again for its body; a bounded number of connections at a time.
"""

from __future__ import annotations

import io
import json
import secrets
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from stackup_lib.core.errors import StackwrightError
from stackwright.kicad.choices import profiles
from stackwright.reporters.assets import report_script, style_sheet

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

LOOPBACK = "127.0.0.1"
TOKEN_BYTES = 32
MOST_BODY = 64 * 1024
HEAD_S = 10.0
"""How long a client may take, from the connection or the answer before, until the head of a request is complete."""
BODY_S = 10.0
"""How long the body may take after that."""
ANSWER_S = 15.0
"""How long a client may take to receive an answer."""
MOST_CONNECTIONS = 16
"""Open at a time; a browser opens six for a page."""

PAGE = Path(__file__).parent / "page"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
HTML, CSS, SCRIPT, JSON = (
    "text/html; charset=utf-8",
    "text/css; charset=utf-8",
    "text/javascript; charset=utf-8",
    "application/json",
)

Value = Mapping[str, object]


class Answering(Protocol):
    """What the server serves: a session."""

    def report(self) -> bytes:
        """Return the last report as HTML; empty before the first."""

    def state(self) -> Value:
        """Return how things stand; the page asks again and again, which also says that it is alive."""

    def act(self, name: str, wanted: Value) -> Value:
        """Do what the page requests.

        Raises:
            KeyError: there is no such action.
            StackwrightError: it could not be done.
        """


@dataclass
class Door:
    """Who may come in: the token of the paths, and the codes that each open the page once."""

    token: str = field(default_factory=lambda: secrets.token_urlsafe(TOKEN_BYTES))
    _codes: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def new_code(self) -> str:
        """Return a code that opens the page once."""
        code = secrets.token_urlsafe(TOKEN_BYTES)
        with self._lock:
            self._codes.add(code)
        return code

    def spend(self, code: str) -> bool:
        """Return whether a code is good, for the last time."""
        with self._lock:
            good = code in self._codes
            self._codes.discard(code)
        return good

    def is_token(self, given: str) -> bool:
        """Compare without telling by the time how much was right."""
        return secrets.compare_digest(given.encode(), self.token.encode())


class LiveServer(ThreadingHTTPServer):
    """Serves one session until it is shut down."""

    daemon_threads = True
    allow_reuse_address = False

    def __init__(self, session: Answering) -> None:
        super().__init__((LOOPBACK, 0), _Handler)
        self.session = session
        self.door = Door()
        self.closed = False
        self._free = threading.BoundedSemaphore(MOST_CONNECTIONS)

    @property
    def port(self) -> int:
        """The port that was free."""
        return int(self.server_address[1])

    @property
    def host(self) -> str:
        """What a request must name as its host."""
        return f"{LOOPBACK}:{self.port}"

    @property
    def origin(self) -> str:
        """Where a request of the page comes from."""
        return f"http://{self.host}"

    def opening_url(self) -> str:
        """Return an address that shows the page once."""
        return f"{self.origin}/open/{self.door.new_code()}"

    def start(self) -> None:
        """Serve in the background."""
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.2}, daemon=True).start()

    def shutdown(self) -> None:
        """Take no more requests, on connections that are open neither."""
        self.closed = True
        super().shutdown()

    def process_request(self, request: socket.socket | tuple[bytes, socket.socket], client_address: object) -> None:
        """Serve a connection in a thread of its own; hang up where there are too many."""
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._free.release()
            raise

    def process_request_thread(
        self, request: socket.socket | tuple[bytes, socket.socket], client_address: object
    ) -> None:
        """Serve a connection to its end."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a browser that hangs up is no mistake, and the error stream is KiCad's message window."""


class _Within(io.RawIOBase):
    """What a client sends, until a time; then `TimeoutError`, however little it sends at a time."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self.until = 0.0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        left_s = self.until - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        self._connection.settimeout(left_s)
        try:
            return self._connection.recv_into(buffer)
        finally:
            self._connection.settimeout(ANSWER_S)


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: LiveServer
    server_version, sys_version = "Stackwright", ""
    protocol_version = "HTTP/1.1"
    timeout = ANSWER_S

    def setup(self) -> None:
        """Read what comes through a clock."""
        super().setup()
        self._within = _Within(self.connection)
        self.rfile.close()
        self.rfile = io.BufferedReader(self._within)

    def handle_one_request(self) -> None:
        """Answer one request; a client that takes too long is hung up on."""
        self._within.until = time.monotonic() + HEAD_S
        super().handle_one_request()

    def log_message(self, format: str, *args: object) -> None:
        """Keep no log: paths hold the token."""

    def do_GET(self) -> None:
        """Serve the page and what it is made of."""
        if not self._is_for_us():
            return
        if self.path.startswith("/open/"):
            self._open(self.path.removeprefix("/open/"))
            return
        rest = self._inside()
        if rest is None:
            return
        getters: dict[str, tuple[str, Callable[[], bytes]]] = {
            "": (HTML, (PAGE / "live.html").read_bytes),
            "live.js": (SCRIPT, (PAGE / "live.js").read_bytes),
            "form.js": (SCRIPT, (PAGE / "form.js").read_bytes),
            "live.css": (CSS, _style),
            "report.js": (SCRIPT, lambda: report_script().encode()),
            "profiles": (JSON, lambda: json.dumps(profiles()).encode()),
            "report": (HTML, self.server.session.report),
            "state": (JSON, lambda: json.dumps(self.server.session.state()).encode()),
        }
        if rest not in getters:
            self._refuse(404, "there is nothing here")
            return
        kind, content = getters[rest]
        self._send(200, content(), kind)

    def do_POST(self) -> None:
        """Do what the page requests."""
        if not self._is_for_us(must_say_origin=True):
            return
        rest = self._inside()
        wanted = self._body() if rest is not None else None
        if rest is None or wanted is None:
            return
        try:
            if rest == "again":
                self.server.session.act("again", wanted)
                answer: Value = {"url": self.server.opening_url()}
            else:
                answer = self.server.session.act(rest, wanted)
        except KeyError:
            self._refuse(404, "there is no such action")
        except StackwrightError as error:
            said = {"where": error.where, "what": error.what, "next_step": error.next_step}
            self._send(409, json.dumps({"error": said}).encode(), JSON)
        else:
            self._send(200, json.dumps(answer).encode(), JSON)

    def _is_for_us(self, *, must_say_origin: bool = False) -> bool:
        """Refuse what was sent to another name, or by another site; a page may be opened from anywhere, once."""
        origin, site = self.headers.get("Origin"), self.headers.get("Sec-Fetch-Site", "none")
        said_origin = origin == self.server.origin or (origin is None and not must_say_origin)
        said_site = site in ("none", "same-origin") or self.path.startswith("/open/")
        if self.server.closed:
            self._refuse(503, "the session has ended")
        elif self.headers.get_all("Host") != [self.server.host]:
            self._refuse(421, "wrong host")
        elif not (said_origin and said_site):
            self._refuse(403, "requests of other sites are refused")
        else:
            return True
        return False

    def _inside(self) -> str | None:
        """Return the path behind the token, None when that was refused."""
        token, slash, rest = self.path.removeprefix("/").partition("/")
        if slash and self.server.door.is_token(token):
            return rest
        self._refuse(404, "there is nothing here")
        return None

    def _open(self, code: str) -> None:
        if not self.server.door.spend(code):
            self._refuse(404, "this address worked once; press Stackwright's button in KiCad again")
            return
        self.send_response(303)
        self.send_header("Location", f"/{self.server.door.token}/")
        self._end(b"")

    def _body(self) -> Value | None:
        """Return the JSON object that was sent, None when it was refused."""
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MOST_BODY:
            self._refuse(413, "the request is too long")
            return None
        self._within.until = time.monotonic() + BODY_S
        try:
            read = json.loads(self.rfile.read(int(length)) or b"{}")
        except (ValueError, RecursionError):
            read = None
        if not isinstance(read, dict):
            self._refuse(400, "the request is not a JSON object")
            return None
        return read

    def _refuse(self, code: int, why: str) -> None:
        self.close_connection = True  # what else the request holds stays unread
        self._send(code, f"{why}\n".encode(), "text/plain; charset=utf-8")

    def _send(self, code: int, content: bytes, kind: str) -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self._end(content)

    def _end(self, content: bytes) -> None:
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)


def _style() -> bytes:
    return style_sheet().encode() + (PAGE / "live.css").read_bytes()
