"""The server between the page and KiCad: who may speak with it, and what a session does when KiCad does not play."""

from __future__ import annotations

import http.client
import io
import json
import os
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from drc_rules.engine.check import check_board
from drc_rules.report.findings import Location, ObjectRows
from stackup_lib.core.errors import StackwrightError
from stackwright.kicad import jobs, open_board, session, single
from stackwright.kicad import server as live
from stackwright.kicad.bridge import Bridge
from stackwright.kicad.choices import Choices
from stackwright.kicad.errors import ENDED, KicadEndedError, KicadError, NeverSavedError
from stackwright.kicad.form.part import FormPart
from stackwright.kicad.live import is_there
from stackwright.kicad.server import LOOPBACK, MOST_BODY, LiveServer
from stackwright.kicad.session import Session
from stackwright.kicad.settings_files import SettingsFiles
from stackwright.kicad.view import frame
from stackwright.kicad.worker import shown
from tests.support.cli.played import SMALL, Played, played


@dataclass
class Serving:
    """Stands for a session: answers, refuses, remembers its calls."""

    asked: list[str] = field(default_factory=list)

    def report(self) -> bytes:
        """A report."""
        return b"<p>report"

    def state(self) -> Mapping[str, object]:
        """How things stand."""
        return {"run": 1}

    def act(self, name: str, wanted: Mapping[str, object]) -> Mapping[str, object]:
        """Do something."""
        self.asked.append(name)
        if name == "refuse":
            raise StackwrightError("KiCad", "is busy", "wait")
        return {"echo": dict(wanted), "known": {"do": 1, "again": 2}[name]}


@pytest.fixture
def server() -> Iterator[LiveServer]:
    """A server that runs."""
    with LiveServer(Serving()) as made:
        made.start()
        yield made
        made.shutdown()


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes


def ask(server: LiveServer, method: str, path: str, body: bytes | None = None, **headers: str) -> Reply:
    """Send a request; `Host` and others as given, underscores for dashes."""
    connection = http.client.HTTPConnection(LOOPBACK, server.port, timeout=20)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in {"Host": server.host, **{k.replace("_", "-"): v for k, v in headers.items()}}.items():
        connection.putheader(name, value)
    if body is not None and "Content_Length" not in headers:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    answer = connection.getresponse()
    reply = Reply(answer.status, dict(answer.getheaders()), answer.read())
    connection.close()
    return reply


def inside(server: LiveServer, path: str) -> str:
    return f"/{server.door.token}/{path}"


def asked(server: LiveServer) -> list[str]:
    assert isinstance(server.session, Serving)
    return server.session.asked


def test_it_listens_on_this_machine_only(server: LiveServer) -> None:
    """The loopback address, at a port that was free."""
    assert server.server_address[0] == "127.0.0.1"
    assert server.port > 1023


def test_the_page_needs_nothing_from_elsewhere(server: LiveServer) -> None:
    """Its policy allows no other origin, no frame around it and no script in its text."""
    page = ask(server, "GET", inside(server, ""))

    assert page.status == 200
    policy = page.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "frame-ancestors 'none'" in policy
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert page.headers["Cache-Control"] == "no-store"
    assert b"http" not in page.body
    assert b"onclick" not in page.body


@pytest.mark.parametrize("path", ["", "state", "live.js", "report"])
@pytest.mark.parametrize("token", ["", "wrong", "x" * 43])
def test_without_the_token_there_is_nothing(server: LiveServer, path: str, token: str) -> None:
    """Neither pages nor answers."""
    reply = ask(server, "GET", f"/{token}/{path}")

    assert (reply.status, reply.body) == (404, b"there is nothing here\n")


@pytest.mark.parametrize("host", ["evil.example", "localhost", "127.0.0.1", "127.0.0.1:1", ""])
def test_another_host_name_is_refused_even_with_the_token(server: LiveServer, host: str) -> None:
    """A name that was pointed at this machine (DNS rebinding) makes a page of another site look like ours."""
    assert ask(server, "GET", inside(server, "state"), Host=host).status == 421
    assert ask(server, "POST", inside(server, "do"), b"{}", Host=host, Origin=f"http://{host}").status == 421
    assert asked(server) == []


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1", None])
def test_an_order_of_another_site_is_refused_even_with_the_token(server: LiveServer, origin: str | None) -> None:
    """A form, a script or an address that does not say where it comes from."""
    headers = {} if origin is None else {"Origin": origin}
    reply = ask(server, "POST", inside(server, "do"), b"{}", **headers)

    assert reply.status == 403
    assert asked(server) == []


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_site_cannot_load_answers(server: LiveServer, site: str) -> None:
    """Not by an image or a script either: the browser says where the request comes from."""
    assert ask(server, "GET", inside(server, "state"), Sec_Fetch_Site=site).status == 403
    assert ask(server, "GET", inside(server, "state"), Origin="http://evil.example").status == 403
    assert ask(server, "GET", inside(server, "state"), Sec_Fetch_Site="same-origin").status == 200


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE"])
def test_other_methods_do_nothing(server: LiveServer, method: str) -> None:
    """Nor does a browser get leave to try them from another site."""
    reply = ask(server, method, inside(server, "do"), b"{}", Origin=server.origin)

    assert reply.status == 501
    assert "Access-Control-Allow-Origin" not in reply.headers
    assert asked(server) == []


def test_an_opening_address_works_once(server: LiveServer) -> None:
    """Afterwards the list of processes, in which it stood, is of no use to anybody."""
    path = server.opening_url().removeprefix(server.origin)
    first, second = ask(server, "GET", path), ask(server, "GET", path)

    assert (first.status, first.headers["Location"]) == (303, inside(server, ""))
    assert second.status == 404
    assert server.door.token not in path


def test_an_order_of_the_page_is_done(server: LiveServer) -> None:
    """And what cannot be done comes back as one error with a next step."""
    done = ask(server, "POST", inside(server, "do"), b'{"a": 1}', Origin=server.origin)
    refused = ask(server, "POST", inside(server, "refuse"), b"{}", Origin=server.origin)
    unknown = ask(server, "POST", inside(server, "rm"), b"{}", Origin=server.origin)

    assert json.loads(done.body) == {"echo": {"a": 1}, "known": 1}
    assert refused.status == 409
    assert json.loads(refused.body) == {"error": {"where": "KiCad", "what": "is busy", "next_step": "wait"}}
    assert unknown.status == 404


@pytest.mark.parametrize(
    ("body", "length", "status"),
    [
        (b"[]", "2", 400),
        (b"{", "1", 400),
        (b"[" * 9000, "9000", 400),
        (b"", str(MOST_BODY + 1), 413),
        (b"", "x", 413),
    ],
)
def test_an_order_that_is_none_is_refused(server: LiveServer, body: bytes, length: str, status: int) -> None:
    """No object, no JSON, one that nests for ever, too long, or of no length."""
    reply = ask(server, "POST", inside(server, "do"), body, Origin=server.origin, Content_Length=length)

    assert reply.status == status
    assert asked(server) == []


# --- a second click --------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("KICAD_API_SOCKET", f"ipc://{tmp_path}/api.sock")
    return tmp_path / "cache"


def test_a_second_click_finds_the_running_session(server: LiveServer) -> None:
    """It lets that one check again, and gets an address that works once."""
    with single.noted(SMALL, server):
        url = single.running_session(SMALL)
        assert url is not None
        assert ask(server, "GET", url.removeprefix(server.origin)).status == 303
    assert asked(server) == ["again"]
    assert single.running_session(SMALL) is None


def test_the_note_is_for_this_user_alone(server: LiveServer) -> None:
    """It holds the token."""
    with single.noted(SMALL, server):
        assert stat.S_IMODE(single.note_of(SMALL).stat().st_mode) == 0o600


@pytest.mark.parametrize("left", ['{"pid": 1, "port": 1, "token": "x"}', "{", "[]", '{"port": "a"}'])
def test_a_note_that_a_dead_session_left_is_passed_over(left: str) -> None:
    """The process was killed, or the file is damaged."""
    note = single.note_of(SMALL)
    note.parent.mkdir(parents=True)
    note.write_text(left)
    os.utime(note, (0, 0))

    assert single.running_session(SMALL) is None


def test_sessions_of_two_kicads_are_apart(monkeypatch: pytest.MonkeyPatch, server: LiveServer) -> None:
    """The same board, opened in another KiCad, is another session."""
    with single.noted(SMALL, server):
        monkeypatch.setenv("KICAD_API_SOCKET", "ipc:///another/api.sock")
        assert single.running_session(SMALL) is None


def test_a_session_of_a_kicad_that_has_ended_is_not_found(monkeypatch: pytest.MonkeyPatch, server: LiveServer) -> None:
    """KiCad started again serves the same address, with another token."""
    monkeypatch.setenv("KICAD_API_TOKEN", "first")
    with single.noted(SMALL, server):
        assert single.running_session(SMALL) is not None
        monkeypatch.setenv("KICAD_API_TOKEN", "second")
        assert single.running_session(SMALL) is None


# --- a session with a KiCad that is played ---------------------------------------------------------------------------


@pytest.fixture
def board(tmp_path: Path) -> Played:
    """A small board, open in KiCad."""
    path = tmp_path / "board" / SMALL.name
    path.parent.mkdir()
    path.write_bytes(SMALL.read_bytes())
    return Played(path, path.read_bytes(), settings=tmp_path)


def made(board: Played, connect: Callable[[float], Any] | None = None) -> Session:
    return Session(board.path, connect or played(board), Choices.of(board.path))


def worked(monkeypatch: pytest.MonkeyPatch, result: dict[str, Any] | None, error: StackwrightError | None) -> None:
    """Let a worker end at once with this."""

    class Ended:
        doing, steps = "", 0

    def start(wanted: Mapping[str, object], live: bytes, done: jobs.Done) -> Any:
        threading.Thread(target=done, args=(result, error)).start()
        return Ended()

    monkeypatch.setattr(jobs, "Worker", lambda: nullcontext(SimpleNamespace(start=start)))


RESULT = {
    "page": "",
    "headline": "fit",
    "findings": {
        "f-K1": {
            "key": "K1",
            "members": [
                {"items": ["a", "b"], "layer": "In1.Cu", "title": "one"},
                {"items": ["b", "c"], "layer": "In2.Cu", "title": "two"},
            ],
        },
        "f-K2": {"key": "K2", "members": [{"items": [], "layer": None, "title": "whole board"}]},
    },
    "links": {"b1-link-1-1": {"members": [{"items": ["b", "d"], "layer": "In1.Cu", "title": "/PCIE_TX0"}]}},
    "markers": [{"message": "m", "is_warning": False, "at_mm": None, "items": ["a"]}],
}


def idle(one: Session) -> Mapping[str, Any]:
    """Wait until nothing runs, markers included; the state then."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        state = one.state()
        if state["phase"] == session.IDLE and one.bridge.is_free:
            return state
        time.sleep(0.02)
    raise AssertionError("still at work")


@pytest.mark.slow
def test_a_real_check_gives_the_report_of_the_command_line(board: Played) -> None:
    """In a process of its own; every finding of the page is known by the id that it has there."""
    one = made(board)
    one.check()
    state = idle(one)

    assert state["error"] is None
    assert state["run"] == 1
    page = one.report().decode()
    assert all(f'id="{ident}"' in page for ident in state["keys"])
    assert page.count('<section class="finding ') == len(state["keys"])


def test_a_click_selects_the_items_of_all_members_and_one_of_a_member(
    board: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An item that two members share counts once; a layer is named where there is one alone."""
    worked(monkeypatch, RESULT, None)
    board.items = {"a", "b", "c"}
    one = made(board)
    one.check()
    idle(one)

    assert one.act("select", {"finding": "f-K1"}) == {"items": 3, "found": 3, "more": 0, "layer": None, "stale": False}
    assert board.selected == ["a", "b", "c"]
    assert one.act("select", {"finding": "f-K1", "member": 1})["layer"] == "In2.Cu"
    assert board.selected == ["b", "c"]
    assert one.act("select", {"finding": "f-K2"})["items"] == 0


def test_a_finding_that_lists_its_first_items_says_how_many_there_are(
    board: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Places name twenty of 23 vias; a finding that names all of its own has no more."""
    first_20 = tuple(Location(uuid=f"v{number}") for number in range(20))
    found = check_board(SMALL).findings[0].model_copy(update={"places": first_20})
    many, all_of_them = (found.model_copy(update={"every": ObjectRows(vias=tuple(range(n)))}) for n in (23, 20))

    for finding, more in ((many, 3), (all_of_them, 0)):
        entries = shown([finding])
        worked(monkeypatch, {**RESULT, "findings": entries}, None)
        one = made(board)
        one.check()
        idle(one)
        assert one.act("select", {"finding": next(iter(entries))})["more"] == more


def test_a_row_of_the_delay_table_selects_its_items(board: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its layer comes on top, as for a finding; what is gone from the board is counted; no other row is known."""
    worked(monkeypatch, RESULT, None)
    board.items = {"a", "b", "d"}
    one = made(board)
    one.check()
    idle(one)

    answer = one.act("select", {"finding": "b1-link-1-1", "member": None})
    assert answer == {"items": 2, "found": 2, "more": 0, "layer": "In1.Cu", "stale": False}
    assert (board.selected, board.layer) == (["b", "d"], "In1.Cu")
    board.items = {"a"}
    assert one.act("select", {"finding": "b1-link-1-1"})["found"] == 0
    with pytest.raises(KicadError, match="no such finding"):
        one.act("select", {"finding": "b1-link-1-2"})
    assert set(idle(one)["keys"]) == {"f-K1", "f-K2"}


def test_the_layer_of_a_finding_is_on_top_while_it_is_looked_at(board: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    """A finding of several layers, and the end, give the user's own back; one that the user chose since stays."""
    worked(monkeypatch, RESULT, None)
    board.items = {"a", "b", "c"}
    one = made(board)
    one.check()
    idle(one)

    def looked_at(**wanted: object) -> str:
        one.act("select", wanted)
        return board.layer

    assert looked_at(finding="f-K1", member=0) == "In1.Cu"
    assert looked_at(finding="f-K1", member=1) == "In2.Cu"
    assert looked_at(finding="f-K1") == "F.SilkS"
    assert looked_at(finding="f-K1", member=1) == "In2.Cu"
    one.stop()
    assert board.layer == "F.SilkS"

    assert looked_at(finding="f-K1", member=0) == "In1.Cu"
    board.layer = "B.Cu"
    one.stop()
    assert board.layer == "B.Cu"
    assert looked_at(finding="f-K1", member=0) == "In1.Cu"
    assert looked_at(finding="f-K1") == "B.Cu"


def test_a_small_item_is_shown_with_ten_millimetres_of_board() -> None:
    """The nearest items at 5 mm and more on two sides; what fills the view already takes nothing along."""
    places = {"near": (1.0, 0.0), "right": (7.0, 1.0), "farther": (9.0, 0.0), "left": (-6.0, 2.0), "far": (400.0, 0.0)}

    assert frame([(-0.2, -0.2), (0.2, 0.2)], lambda: places) == ["left", "right"]
    assert frame([(-0.2, -0.2), (0.2, 0.2)], lambda: {"near": (1.0, 0.0), "far": (400.0, 0.0)}) == []
    assert frame([(0.0, 0.0), (10.0, 0.2)], lambda: places) == []
    assert frame([], lambda: places) == []


def test_items_that_are_gone_say_that_the_board_was_changed(board: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left is selected."""
    worked(monkeypatch, RESULT, None)
    board.items = {"a"}
    one = made(board)
    one.check()
    idle(one)

    assert one.act("select", {"finding": "f-K1"}) == {"items": 3, "found": 1, "more": 0, "layer": None, "stale": True}
    assert one.state()["stale"] is True


def test_a_change_is_seen_at_the_next_look(board: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the editor, in the settings next to the board, and no more after another check."""
    worked(monkeypatch, RESULT, None)
    one = made(board)
    one.check()
    assert idle(one)["stale"] is False
    assert one.act("look", {})["stale"] is False

    board.text += b" "
    assert one.act("look", {})["stale"] is True
    one.check()
    assert idle(one)["stale"] is False

    (board.path.parent / "stackwright.toml").write_text('profile = "edge"\n')
    assert one.state()["stale"] is True


def held(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], None]]:
    """Let workers end only when their function of the list is called; one that was stopped ends as nothing."""
    ends: list[Callable[[], None]] = []

    class Held:
        doing, steps = "", 0

        def __init__(self, done: jobs.Done) -> None:
            self.done = done

        def end(self) -> None:
            self.done(RESULT, None)

        def stop(self) -> None:
            ends.remove(self.end)

    def start(wanted: Mapping[str, object], live: bytes, done: jobs.Done) -> Any:
        one = Held(done)
        ends.append(one.end)
        return one

    monkeypatch.setattr(jobs, "Worker", lambda: nullcontext(SimpleNamespace(start=start)))
    return ends


def begun(ends: list[Callable[[], None]]) -> Callable[[], None]:
    """Wait until a worker has begun; what ends it."""
    end = time.monotonic() + 60
    while not ends and time.monotonic() < end:
        time.sleep(0.02)
    return ends.pop()


def test_settings_that_are_written_during_a_check_are_newer_than_it(
    board: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check has read the old ones, or may have: its report is not of what the file says now."""
    ends = held(monkeypatch)
    one = made(board)
    one.check()
    end = begun(ends)
    (board.path.parent / "stackwright.toml").write_text('profile = "edge"\n')
    end()

    state = idle(one)
    assert (state["run"], state["stale"]) == (1, True)
    one.check()
    begun(ends)()
    state = idle(one)
    assert (state["run"], state["stale"]) == (2, False)


def test_a_form_that_is_written_is_checked_though_its_answers_are_still_tried(
    board: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The trial ends without a word, and the page never says that what it wrote itself is unchecked."""
    ends = held(monkeypatch)
    monkeypatch.setattr(FormPart, "write", lambda _self, _wanted: {"line": "Wrote it."})
    one = made(board)
    one.check()
    begun(ends)()
    idle(one)

    assert one._try({"kind": "form"}, lambda _result, _error: None)
    trial = begun(ends)
    ends.append(trial)
    assert one.act("form-write", {}) == {"line": "Wrote it."}
    begun(ends)()

    state = idle(one)
    assert (state["run"], state["notes"]) == (2, [])


def test_a_profile_that_the_settings_name_is_looked_at_too(tmp_path: Path) -> None:
    """Also one that it rests on, and one that is not there yet; another file is not."""
    board, base = tmp_path / "card" / "card.kicad_pcb", tmp_path / "base.toml"
    board.parent.mkdir()
    board.with_name("stackwright.toml").write_text('profile = "../house.toml"\n', encoding="utf-8")
    (tmp_path / "house.toml").write_text('title = "House"\nextends = ["base.toml"]\n', encoding="utf-8")
    files = SettingsFiles(board)
    digests = [files.digest(), files.digest()]
    (tmp_path / "other.toml").write_text("", encoding="utf-8")
    digests.append(files.digest())
    assert len(set(digests)) == 1
    base.write_text('title = "All"\n', encoding="utf-8")
    digests.append(files.digest())
    base.write_text('title = "Stricter"\n', encoding="utf-8")
    digests.append(files.digest())
    assert len(set(digests)) == 3
    assert files.digest() == digests[-1]


def test_a_large_board_is_compared_by_what_is_cheap_and_says_so(board: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page tells what is not noticed; on a small board nothing escapes."""
    worked(monkeypatch, RESULT, None)
    monkeypatch.setattr(open_board, "SLOW_TO_COMPARE_BYTES", len(board.text))
    one = made(board)
    one.check()
    assert idle(one)["large"] is True

    whole, board.text = board.text, board.text + b" "
    assert one.act("look", {})["stale"] is False  # the last line is not requested
    board.text = b"another " + whole
    assert one.act("look", {})["stale"] is True
    board.text = whole[1:]
    one.check()
    assert idle(one)["large"] is False


def test_a_file_that_another_program_wrote_is_said_and_one_that_kicad_saved_is_not(
    board: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    """KiCad shows its own copy; the page sees by the stamp that it had better look."""
    worked(monkeypatch, RESULT, None)
    one = made(board)
    one.check()
    stamp = idle(one)["file"]
    board.text += b" "
    board.path.write_bytes(board.text)
    assert one.state()["file"] != stamp
    assert one.act("look", {}) == {"stale": True, "written": False}

    board.path.write_bytes(b"(kicad_pcb)")
    assert one.act("look", {}) == {"stale": True, "written": True}
    assert one.state()["written"] is True
    board.path.unlink()
    assert one.act("look", {})["written"] is True
    one.check()
    assert idle(one)["written"] is False  # said once; applying looks again


def test_a_new_board_in_the_editor_is_another_one(board: Played) -> None:
    """It has no file, and saving it is not what the page of another board needs."""

    def connect(timeout_s: float) -> Played:
        raise NeverSavedError("the board", "has never been saved", "save it (Ctrl+S), then press the button again")

    with pytest.raises(KicadError, match=r"another board now \(a new one without a file\); open .*kicad_pcb there"):
        Bridge(connect, board.path).ask(lambda live: live.path)


def test_another_board_in_the_editor_is_not_touched(board: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ids of one board mean nothing on another."""
    worked(monkeypatch, RESULT, None)
    board.items = {"a"}
    one = made(board)
    one.check()
    idle(one)
    path, board.path = board.path, board.path.with_name("other.kicad_pcb")

    with pytest.raises(KicadError, match=r"shows another board now \(other.kicad_pcb\)"):
        one.act("select", {"finding": "f-K1"})
    assert board.selected == []
    board.path = path
    assert one.act("select", {"finding": "f-K1"})["found"] == 1


@pytest.mark.slow
def test_a_kicad_that_never_answers_holds_up_nothing(board: Played) -> None:
    """The question ends by itself, the next one learns that the first still waits."""
    stuck = threading.Event()

    def connect(timeout_s: float) -> Played:
        stuck.wait(60)
        return board

    bridge = Bridge(connect, board.path)
    with pytest.raises(KicadError, match=r"did not answer within 0\.1 s"):
        bridge.ask(lambda live: live.path, 0.1)
    with pytest.raises(KicadError, match="still busy with the last request"):
        bridge.ask(lambda live: live.path, 0.1)
    stuck.set()


def test_a_kicad_that_ends_answers_no_more(board: Played) -> None:
    """The question on its way is broken off at once, and says what it knows; the session does not come back."""
    hung_up = threading.Event()

    class Ending(Played):
        def hang_up(self) -> None:
            hung_up.set()

    bridge = Bridge(lambda _timeout_s: Ending(board.path, b""), board.path)

    def ask(_live: Played) -> None:
        bridge.has_ended = True
        assert hung_up.wait(20)
        raise KicadEndedError("KiCad", "has ended; the change was not written", "open it")

    with pytest.raises(KicadEndedError, match="the change was not written"):
        bridge.ask(ask, 60)
    assert bridge.has_ended


def test_a_kicad_with_another_token_is_not_that_of_the_page(board: Played) -> None:
    """The page learns it by the next question: nothing can be asked any more."""

    def connect(timeout_s: float) -> Played:
        raise KicadEndedError(*ENDED)

    one = made(board, connect)
    assert one.state()["gone"] is False
    one.check()
    state = idle(one)

    assert state["gone"] is True
    assert state["error"]["what"] == "has ended"


def test_a_click_before_the_first_report_is_told_to_wait(board: Played) -> None:
    """The page cannot send one; another program might."""
    with pytest.raises(KicadError, match="wait for the check"):
        made(board).act("select", {"finding": "f-K1"})
    with pytest.raises(KicadError):
        made(board).act("select", {"finding": ["x"]})


def test_a_kicad_without_room_for_markers_still_gives_the_report(
    board: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page says why there are none."""
    worked(monkeypatch, RESULT, None)
    board.room = 0
    one = made(board)
    one.check()
    state = idle(one)

    assert state["run"] == 1
    assert state["notes"] == ["No markers were set: KiCad: is busy; wait"]


def test_a_failed_check_keeps_the_report_before_it(board: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    """And says what went wrong; the next one may do better."""
    worked(monkeypatch, RESULT, None)
    one = made(board)
    one.check()
    idle(one)
    worked(monkeypatch, None, StackwrightError("x.toml", "is damaged", "mend it"))
    one.check()
    state = idle(one)

    assert state["error"] == {"where": "x.toml", "what": "is damaged", "next_step": "mend it"}
    assert (state["run"], state["headline"]) == (1, "fit")


def test_a_worker_that_breaks_is_one_line(board: Played) -> None:
    """Whatever it dies of."""
    said: list[StackwrightError | None] = []
    ended = threading.Event()

    def done(result: dict[str, Any] | None, error: StackwrightError | None) -> None:
        said.append(error)
        ended.set()

    jobs.Worker().start({"kind": "check"}, b"", done)

    assert ended.wait(60)
    assert said[0] is not None
    assert "stopped (KeyError: 'board')" in said[0].what


@pytest.mark.parametrize("size", [10, 200_000])  # what the pipe's buffer holds, and more
def test_a_worker_that_ends_before_it_has_its_job_is_one_line(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """As where a module cannot be loaded: the page must not wait for ever."""
    monkeypatch.setattr(jobs, "WORKER", "stackwright.kicad.no_such_worker")
    said: list[StackwrightError | None] = []
    ended = threading.Event()

    def done(_result: dict[str, Any] | None, error: StackwrightError | None) -> None:
        said.append(error)
        ended.set()

    worker = jobs.Worker()
    worker.process.wait(60)
    worker.start({"kind": "check", "settings": "x" * size}, b"", done)

    assert ended.wait(60)
    assert said[0] is not None
    assert "no_such_worker" in said[0].what


def test_a_worker_without_a_job_ends(board: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was started while KiCad was asked for the board, and KiCad refused."""
    started: list[jobs.Worker] = []

    class Remembered(jobs.Worker):
        def __init__(self) -> None:
            super().__init__()
            started.append(self)

    def refuses(_timeout_s: float) -> Any:
        raise KicadError("KiCad", "is busy", "wait")

    monkeypatch.setattr(jobs, "Worker", Remembered)
    one = made(board, refuses)
    one.check()

    assert idle(one)["error"]["what"] == "is busy"
    assert [each.process.wait(30) != 0 for each in started] == [True]


def test_a_worker_whose_session_is_gone_before_there_is_a_job_ends() -> None:
    """Its end of the pipe closes."""
    worker = jobs.Worker()
    worker.process.communicate(timeout=60)

    assert worker.process.returncode == 0


def test_a_check_can_be_stopped(board: Played) -> None:
    """The worker is gone, and the next check may begin."""
    one = made(board)
    one.check()
    end = time.monotonic() + 60
    while one._job is None and time.monotonic() < end:
        time.sleep(0.01)
    job = one._job
    assert job is not None
    one.act("cancel", {})

    assert job.process.wait(30) != 0
    assert one.state()["phase"] == session.IDLE
    assert one.state()["run"] == 0


def test_a_killed_kicad_is_known_by_its_socket(tmp_path: Path) -> None:
    """Its file stays behind; no process serves it."""
    import socket

    address = f"ipc://{tmp_path}/k.sock"
    assert not is_there(address)
    with socket.socket(socket.AF_UNIX) as served:
        served.bind(str(tmp_path / "k.sock"))
        served.listen(1)
        assert is_there(address)
    assert (tmp_path / "k.sock").exists()
    assert not is_there(address)


# --- the first offer -------------------------------------------------------------------------------------------------


def test_a_goodbye_holds_against_a_question_that_was_on_its_way(board: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    """Handled after it, such a question must not keep the process; a page that was reloaded asks on, and does."""
    one = made(board)
    now = 1000.0
    monkeypatch.setattr("stackwright.kicad.session.time.monotonic", lambda: now)
    one.act("bye", {})
    one.state()
    assert one.left_at == now

    now += 2
    one.state()
    assert one.left_at is None


def test_a_worker_computes_in_one_thread_unless_the_user_says_otherwise(
    board: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threads cost the field solver's small matrices several times what they save."""
    seen: dict[str, str] = {}

    class Ended:
        stdout: tuple[str, ...] = ()
        stderr: tuple[str, ...] = ()
        stdin = io.StringIO()

        def __init__(self, _command: list[str], *, env: dict[str, str], **_others: object) -> None:
            seen.update(env)

        def __enter__(self) -> Ended:
            return self

        def __exit__(self, *_error: object) -> None:
            """Nothing is left."""

        def wait(self) -> int:
            return 0

    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.setattr("stackwright.kicad.jobs.subprocess.Popen", Ended)
    ended = threading.Event()
    jobs.Worker().start({"kind": "check"}, b"", lambda _result, _error: ended.set())

    assert ended.wait(20)
    assert (seen["OPENBLAS_NUM_THREADS"], seen["OMP_NUM_THREADS"]) == ("1", "3")


def test_the_first_run_offers_a_workload_once(board: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the answer; the choice is remembered outside the project, and shown as command and settings."""
    worked(monkeypatch, RESULT, None)
    first = made(board)
    assert first.state()["offer"] is True
    first.act("choose", {"profile": "edge"})
    state = idle(first)

    assert state["offer"] is False
    assert state["command"] == f"stackwright check {board.path} --profile edge"
    assert state["settings"] == 'profile = "edge"\n'
    assert made(board).state()["profile"] == "edge"
    assert [file.name for file in board.path.parent.iterdir()] == [board.path.name]


def test_an_unknown_workload_is_refused(board: Played) -> None:
    """With the nearest name."""
    with pytest.raises(StackwrightError, match='did you mean "edge"'):
        made(board).act("choose", {"profile": "edgy"})
    assert made(board).state()["offer"] is True


def test_a_choice_that_is_stated_elsewhere_is_dropped(board: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the settings or the project: what they say later counts. Another one that they say leaves it."""
    worked(monkeypatch, RESULT | {"stated": {"profile": "training-b200", "source": "stackwright.toml"}}, None)
    one = made(board)
    one.act("choose", {"profile": "edge"})
    state = idle(one)
    assert (state["profile"], state["stated"]["profile"]) == ("edge", "training-b200")

    worked(monkeypatch, RESULT | {"stated": {"profile": "edge", "source": "stackwright.toml"}}, None)
    one.check()
    assert idle(one)["profile"] is None
    assert made(board).state()["profile"] is None


def test_settings_are_written_once(board: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    """Never over a user's file, never without a workload."""
    worked(monkeypatch, RESULT, None)
    one = made(board)
    with pytest.raises(StackwrightError, match="no workload is chosen"):
        one.act("write-settings", {})
    one.act("choose", {"profile": "edge"})
    idle(one)
    one.act("write-settings", {})

    assert (board.path.parent / "stackwright.toml").read_text() == 'profile = "edge"\n'
    assert one.form.lines == [f"Wrote {board.path.parent / 'stackwright.toml'}."]
    assert made(board).state()["profile"] is None
    with pytest.raises(StackwrightError, match="is there already"):
        one.act("write-settings", {})


def test_applying_is_never_stopped_half_way(board: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another check waits, too."""
    one = made(board)
    one._phase = session.APPLYING
    one.act("cancel", {})
    one.check()

    assert one.state()["phase"] == session.APPLYING
    with pytest.raises(KicadError, match='press "Least change that fits" again'):
        one.act("apply", {"consent": True})


# --- slow and idle clients --------------------------------------------------------------------------------------------


def dialled(server: LiveServer) -> socket.socket:
    made = socket.create_connection((LOOPBACK, server.port), timeout=20)
    made.settimeout(20)
    return made


def seconds_until_hung_up(client: socket.socket, drip: bytes = b"") -> float:
    """Send a little at a time until the server hangs up; return how long that took."""
    begun = time.monotonic()
    client.settimeout(0.05)
    while time.monotonic() - begun < 20:
        try:
            if drip:
                client.sendall(drip)
            if client.recv(4096) == b"":
                break
        except TimeoutError:
            continue
        except OSError:
            break
    client.close()
    return time.monotonic() - begun


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that waits for half a second only."""
    monkeypatch.setattr(live, "HEAD_S", 0.5)
    monkeypatch.setattr(live, "BODY_S", 0.5)


@pytest.mark.usefixtures("quick")
def test_a_client_that_says_nothing_or_too_little_is_hung_up_on(server: LiveServer) -> None:
    """Nothing at all, a head that never ends, a body that never ends: each byte buys no time."""
    head = f"POST /{server.door.token}/do HTTP/1.1\r\nHost: {server.host}\r\nOrigin: {server.origin}\r\n"
    for begin, drip in (
        ("", b""),
        ("GET / HTTP/1.1\r\n", b"X-A: b\r\n"),
        (f"{head}Content-Length: 60000\r\n\r\n", b" "),
    ):
        client = dialled(server)
        client.sendall(begin.encode())
        assert 0.3 < seconds_until_hung_up(client, drip) < 10
    assert server.session.asked == []  # type: ignore[attr-defined]  # the stand-in


@pytest.mark.slow
def test_idle_connections_are_few_and_do_not_last(server: LiveServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who takes all of them keeps the page waiting for the time of one head, not longer."""
    monkeypatch.setattr(live, "HEAD_S", 5.0)
    idle = [dialled(server) for _ in range(live.MOST_CONNECTIONS)]
    time.sleep(0.5)
    for _ in range(8):
        assert seconds_until_hung_up(dialled(server)) < 2
    for client in idle:
        assert client.recv(10) == b""
        client.close()
    for _ in range(3 * live.MOST_CONNECTIONS):  # each gives its place back
        asking = http.client.HTTPConnection(LOOPBACK, server.port, timeout=20)
        asking.request("GET", f"/{server.door.token}/state")
        assert asking.getresponse().status == 200
        asking.close()
        time.sleep(0.01)


LIGHT = """
import sys, urllib.request
from pathlib import Path
from stackwright.kicad.choices import Choices
from stackwright.kicad.server import LiveServer
from stackwright.kicad.session import Session

board = Path(sys.argv[1])
server = LiveServer(Session(board, None, Choices.of(board)))
server.start()
base = f"{server.origin}/{server.door.token}/"
for name in ("", "live.css", "report.js", "form.js", "live.js", "state"):
    assert urllib.request.urlopen(base + name).read(), name
print(*sorted({"numpy", "pydantic", "jinja2", "shapely"} & set(sys.modules)))
"""


def test_the_page_is_served_before_anything_heavy_is_imported(tmp_path: Path) -> None:
    """What the user sees first must not wait for the libraries of the check."""
    said = subprocess.run(
        [sys.executable, "-c", LIGHT, str(SMALL)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)},
    )

    assert said.stdout.strip() == "", said.stdout
