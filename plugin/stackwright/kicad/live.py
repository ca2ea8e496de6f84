"""The board that is open in a running KiCad 10, over its IPC API.

What KiCad answers to is not all that its protocol names; what is used here was seen to work with 10.0.6.
"""

from __future__ import annotations

import hashlib
import os
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.files.plain_file import read_board_bytes
from stackwright.kicad import overlay, view
from stackwright.kicad.errors import ENDED, NM_PER_MM, KicadEndedError, KicadError, NeverSavedError
from stackwright.text.output import complain

if TYPE_CHECKING:
    from kipy import KiCad
    from kipy.board import Board

    from stackwright.kicad.open_board import Marker

PLUGIN = "org.stackwright.kicad"
"""Identifier of the plugin, as in plugin.json."""

OLDEST = 10
"""First major version whose API has what the button needs."""

GREETING_S = 8
"""How long KiCad may take to say its version."""

READING_S = 90
"""How long KiCad may take for one answer about the board: 85 MB took it 4 s."""

GIVE_UP = 2
COMPARED = ("TRACE", "ARC", "VIA", "PAD", "ZONE", "SHAPE", "TEXT")
"""Kinds of items by which a large board is compared; footprints are slow to fetch, but their pads are not."""

SHOWN_ITEMS = 4
"""KiCad keeps this many items of a marker."""

AGAIN = "press the button again"
ENABLE = "start KiCad 10 with Preferences > Plugins > Enable KiCad API ticked"

OTHER_TOKEN = 6
"""KiCad started anew has another token: the one before has ended.

Status codes of KiCad's protocol: api/proto/common/envelope.proto.
"""

_SAID_NO = {
    4: ("is still starting", f"wait until the board is shown, then {AGAIN}"),
    5: ("has no board open in its PCB editor", f"open the board, then {AGAIN}"),
    7: ("is busy", f"finish the running tool or close the open window, then {AGAIN}"),
}


@contextmanager
def asking(timeout_s: float = READING_S, *, was_there: bool = False) -> Iterator[None]:
    """Turn what goes wrong between us and KiCad into a KicadError; one that answered before may have ended."""
    from kipy import errors

    try:
        yield
    except errors.ApiError as error:
        if int(error.code) == OTHER_TOKEN:
            raise KicadEndedError(*ENDED) from error
        what, next_step = _SAID_NO.get(int(error.code), (f"refused ({error})", "report this, with KiCad's version"))
        raise KicadError("KiCad", what, next_step) from error
    except errors.ConnectionError as error:
        if "timed out" in str(error).lower():
            what = f"did not answer within {timeout_s:g} s"
            raise KicadError("KiCad", what, f"wait until it is idle and close open windows, then {AGAIN}") from error
        if was_there and not is_there():
            raise KicadEndedError(*ENDED) from error
        where = os.environ.get("KICAD_API_SOCKET", "its usual address")
        raise KicadError("KiCad", f"cannot be reached at {where}", ENABLE) from error


@contextmanager
def deadline(seconds: float, error: StackwrightError) -> Iterator[None]:
    """End the whole process with one line when the block takes longer.

    For what no timeout of the transport covers: its dialling may wait for ever at a socket without a server.
    """

    def give_up() -> None:
        complain(error)
        os._exit(GIVE_UP)

    timer = threading.Timer(seconds, give_up)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def connect() -> LiveBoard:
    """Return the board of the KiCad named by KICAD_API_SOCKET and KICAD_API_TOKEN, within ten seconds.

    Raises:
        KicadError: there is none, it does not answer, it is too old, or no board is open in it.
    """
    from kipy import KiCad

    silent = KicadError("KiCad", f"did not answer within {GREETING_S + 1} s", f"wait until it is idle, then {AGAIN}")
    with deadline(GREETING_S + 1, silent):
        greeted(KiCad(timeout_ms=GREETING_S * 1000))
        return open_board(KiCad(timeout_ms=READING_S * 1000))


def greeted(kicad: KiCad) -> None:
    """Fetch the version.

    Raises:
        KicadError: it does not answer, or it is too old.
    """
    with asking(GREETING_S):
        version = kicad.get_version()
    if version.major < OLDEST:
        what = f"is version {version.major}.{version.minor}.{version.patch}"
        raise KicadError("KiCad", what, f"the button needs {OLDEST}.0 or later; `stackwright check` needs none")


def reconnect(timeout_s: float) -> LiveBoard:
    """Return the board that is open now; each answer may take so long.

    Raises:
        KicadError: as `connect`, and where KiCad has ended.
    """
    from kipy import KiCad

    if not is_there():
        raise KicadEndedError(*ENDED)
    return open_board(KiCad(timeout_ms=round(timeout_s * 1000)), timeout_s, was_there=True)


def is_there(address: str | None = None) -> bool:
    """Return whether a process serves KiCad's socket; a killed KiCad leaves the file behind. True where unknown."""
    given = address or os.environ.get("KICAD_API_SOCKET", "")
    if not given.startswith("ipc://") or not hasattr(socket, "AF_UNIX") or sys.platform == "win32":
        return True
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(1)
        try:
            probe.connect(given.removeprefix("ipc://"))
        except (TimeoutError, BlockingIOError):  # there, but slow
            return True
        except OSError:
            return False
    return True


def open_board(kicad: KiCad, timeout_s: float = READING_S, *, was_there: bool = False) -> LiveBoard:
    """Return the board that is open.

    Raises:
        KicadError: there is none, or it has never been saved and so has no name, project or settings.
    """
    from kipy.proto.common.types import DocumentType

    with asking(timeout_s, was_there=was_there):
        documents = kicad.get_open_documents(DocumentType.DOCTYPE_PCB)
        if not documents:
            raise KicadError("KiCad", "has no board open in its PCB editor", f"open the board, then {AGAIN}")
        board = kicad.get_board()
    name = board.document.board_filename
    if not name:
        raise NeverSavedError("the board", "has never been saved", f"save it (Ctrl+S), then {AGAIN}")
    return LiveBoard(kicad, board, Path(board.document.project.path) / name, timeout_s)


class LiveBoard:
    """A board in KiCad's editor, as it is now, unsaved changes included.

    Attributes:
        path: the file that KiCad would save it to.
    """

    def __init__(self, kicad: KiCad, board: Board, path: Path, timeout_s: float = READING_S) -> None:
        self._timeout_s = timeout_s
        self._kicad = kicad
        self._board = board
        self.path = path

    def _asking(self) -> AbstractContextManager[None]:
        return asking(self._timeout_s, was_there=True)

    def hang_up(self) -> None:
        """End the question that is on its way, from another thread: a KiCad that has ended will not answer it."""
        if self._board.client.connected:
            self._board.client._conn.close()

    def content(self) -> bytes:
        """Return the board as KiCad would save it now, in the format of its version.

        A copy that it saves is what its next save will be, to the byte. The text that it hands over directly says
        the same in other lines; it does where KiCad will not save, e.g. while one of its windows is open.

        Raises:
            KicadError: KiCad is busy or silent.
        """
        from kipy.errors import ApiError

        with self._asking(), tempfile.TemporaryDirectory(prefix="stackwright-") as folder:
            copy = Path(folder) / self.path.name
            try:
                self._board.save_as(str(copy), overwrite=True, include_project=False)
                return read_board_bytes(copy)
            except (ApiError, OSError):
                return self._board.get_as_string().encode("utf-8")

    def settings_folder(self, plugin: str) -> Path:
        """Return the folder for what a plugin wants to remember; it need not exist.

        Raises:
            KicadError: KiCad is busy or silent.
        """
        with self._asking():
            return Path(self._kicad.get_plugin_settings_path(plugin))

    def corner_mm(self) -> tuple[float, float]:
        """Return x and y of the board's upper left corner; the page's where there is no outline.

        Raises:
            KicadError: KiCad is busy or silent.
        """
        from kipy.proto.board.board_types_pb2 import BoardLayer

        with self._asking():
            edges = [shape for shape in self._board.get_shapes() if shape.layer == BoardLayer.BL_Edge_Cuts]
            boxes = [box for box in self._board.get_item_bounding_box(edges) if box is not None] if edges else []
        x_nm = min((box.pos.x for box in boxes), default=0)
        y_nm = min((box.pos.y for box in boxes), default=0)
        return x_nm / NM_PER_MM, y_nm / NM_PER_MM

    def add(self, marker: Marker, corner_mm: tuple[float, float]) -> str:
        """Add a marker to KiCad's DRC window and return its id; one without a place goes to the corner.

        Raises:
            KicadError: KiCad is busy or silent.
        """
        from kipy.proto.board import board_commands_pb2 as commands

        x_mm, y_mm = marker.at_mm or corner_mm
        request = commands.InjectDrcError()
        request.board.CopyFrom(self._board.document)
        request.severity = commands.DRS_WARNING if marker.is_warning else commands.DRS_ERROR
        request.message = marker.message
        request.position.x_nm, request.position.y_nm = round(x_mm * NM_PER_MM), round(y_mm * NM_PER_MM)
        for uuid in marker.items[:SHOWN_ITEMS]:
            request.items.add().value = uuid
        with self._asking():
            answer = self._board.client.send(request, commands.InjectDrcErrorResponse)
        return answer.marker.value

    def remove(self, ids: Sequence[str]) -> None:
        """Remove markers; ids that KiCad no longer knows are no mistake.

        Raises:
            KicadError: KiCad is busy or silent.
        """
        from kipy.proto.common.types import KIID

        if ids:
            with self._asking():
                self._board.remove_items_by_id([KIID(value=one) for one in ids])

    def digest(self) -> str:
        """Return a fingerprint of the board as it is now: a second look tells whether anything was changed.

        Raises:
            KicadError: KiCad is busy or silent.
        """
        with self._asking():
            return hashlib.sha256(self._board.get_as_string().encode("utf-8")).hexdigest()

    def quick_digest(self) -> str:
        """Return a fingerprint of what is cheap to fetch: stackup, layers, tracks, vias, pads, zones, drawings.

        Text and fields of footprints are not in it. It takes a twentieth of the time of `digest`.

        Raises:
            KicadError: KiCad is busy or silent.
        """
        from kipy.proto.board import board_commands_pb2 as board_commands
        from kipy.proto.common.commands import editor_commands_pb2 as commands
        from kipy.proto.common.types import KiCadObjectType

        stackup, layers = board_commands.GetBoardStackup(), board_commands.GetBoardEnabledLayers()
        for request in (stackup, layers):
            request.board.CopyFrom(self._board.document)
        items = commands.GetItems(types=[KiCadObjectType.Value(f"KOT_PCB_{kind}") for kind in COMPARED])
        items.header.document.CopyFrom(self._board.document)
        with self._asking():
            client = self._board.client
            said = [
                client.send(stackup, board_commands.BoardStackupResponse).SerializeToString(deterministic=True),
                client.send(layers, board_commands.BoardEnabledLayersResponse).SerializeToString(deterministic=True),
                *sorted(item.value for item in client.send(items, commands.GetItemsResponse).items),
            ]
        return hashlib.sha256(b"\0".join(hashlib.sha256(one).digest() for one in said)).hexdigest()

    def draw(self, rows: Sequence[Mapping[str, Any]]) -> tuple[list[str], str]:
        """Draw a circle and a code at each row's place; return the ids of what was drawn, and the layer.

        Raises:
            KicadError: KiCad is busy or silent, or the board has no user layer.
        """
        with self._asking():
            return overlay.draw(self._board, rows)

    def select(self, uuids: Sequence[str], layer: str | None = None) -> int:
        """Select these items and nothing else, bring them into view, and return how many of them there are.

        Where a layer is named, it becomes the active one, which the editor draws on top.

        Raises:
            KicadError: KiCad is busy or silent.
        """
        with self._asking():
            return view.select(self._kicad, self._board, uuids, layer)

    def active_layer(self) -> str:
        """Return the layer that the editor draws on top, e.g. `In1.Cu`.

        Raises:
            KicadError: KiCad is busy or silent.
        """
        with self._asking():
            return view.active_layer(self._board)

    def activate(self, layer: str) -> None:
        """Draw a layer on top; one that KiCad does not know changes nothing.

        Raises:
            KicadError: KiCad is busy or silent.
        """
        with self._asking():
            view.activate(self._board, layer)

    def save(self) -> None:
        """Save the board as its user would.

        Raises:
            KicadError: KiCad is busy or silent.
        """
        with self._asking():
            self._board.save()  # type: ignore[no-untyped-call]

    def reload(self) -> None:
        """Take the board from the disk; what was not saved is lost, and so is what could be undone.

        Raises:
            KicadError: KiCad is busy or silent.
        """
        with self._asking():
            self._board.revert()  # type: ignore[no-untyped-call]

    def program(self, name: str) -> Path:
        """Return where a program of this KiCad lies, e.g. `kicad-cli`.

        Raises:
            KicadError: KiCad is busy or silent.
        """
        with self._asking():
            return Path(self._kicad.get_kicad_binary_path(name))
