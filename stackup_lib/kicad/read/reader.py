"""`read_board`: a `.kicad_pcb` and the `.kicad_pro` next to it, as one frozen `Board`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from stackup_lib.board.board import Board, Project, Vias
from stackup_lib.core.errors import BoardFileError
from stackup_lib.core.files.plain_file import cure_of, other_encoding, read_board_bytes
from stackup_lib.core.stopwatch import timed
from stackup_lib.kicad.companions import companion
from stackup_lib.kicad.read import header, legacy
from stackup_lib.kicad.read.items.copper_texts import read_copper_texts
from stackup_lib.kicad.read.items.drawings import read_drawings
from stackup_lib.kicad.read.items.footprints import read_footprints
from stackup_lib.kicad.read.items.mask_openings import read_mask_openings
from stackup_lib.kicad.read.items.outline import read_outline
from stackup_lib.kicad.read.items.tracks import read_tracks
from stackup_lib.kicad.read.items.vias import read_vias
from stackup_lib.kicad.read.items.zones import read_zones
from stackup_lib.kicad.read.possible import refuse_layers, refuse_rows, refuse_sizes, refuse_thicknesses
from stackup_lib.kicad.read.project import project_and_remarks, resolve
from stackup_lib.kicad.syntax import tree
from stackup_lib.kicad.syntax.scan import UnreadableError, head, scanned, without_comments
from stackup_lib.kicad.syntax.source import REPAIR, BoardText, Nets
from stackup_lib.kicad.syntax.tokens import known

NEWEST_VERSION = 20260206
"""What KiCad 10.0 writes."""

OLDEST_WRITTEN_VERSION = 20211014
"""What KiCad 6.0 writes: older files, which know no stackup, are read and never changed."""

MOST_UNKNOWN_NAMED = 5

TORN = {
    "pads": "with the number of one net and the name of another: read without a net, as KiCad does",
    "zones": "with the number of one net and the name of another: the name counts, as in KiCad",
}
"""How KiCad reads what a merge of two files may leave behind."""

_CONFLICT = b"<<<<<<< "
"""How git begins the two sides of a merge that it could not make: both would count, and KiCad reads neither."""
_OUTER = re.compile(rb"\s*\(\s*([^\s()\"]*)")
_OTHERS = {
    b"kicad_sch": "a KiCad schematic",
    b"kicad_symbol_lib": "a KiCad symbol library",
    b"footprint": "a KiCad footprint",
    b"module": "a KiCad footprint",
    b"kicad_wks": "a KiCad drawing sheet",
    b"kicad_dru": "a KiCad rule file",
}
_GIVE_BOARD = "give the .kicad_pcb of the board"


@timed("reading")
def read_board(path: Path | str, *, text: bytes | None = None, project: Path | None = None) -> Board:
    """Return the board in a `.kicad_pcb` of KiCad 4 to 10, with its project's net classes.

    Args:
        path: the board file.
        text: the board's content where it is not the file's, e.g. from a running KiCad.
        project: the `.kicad_pro`; by default the one next to the board with the same stem, if there is one.

    Raises:
        BoardFileError: the board or its project cannot be read; says where and what to do.
    """
    path = Path(path)
    source = _open(path, _content(path) if text is None else text)
    source.version = _version(source)
    copper, source.layer_index = header.copper_layers(source)
    refuse_layers(source, len(copper))
    source.nets = _net_table(source)
    stackup, protection = header.setup(source)
    refuse_rows(source, stackup)
    for name, count in source.item_counts().items():
        if name not in known("kicad_pcb"):
            source.unknown[f"kicad_pcb/{name}"] += count
    tracks, vias = read_tracks(source), read_vias(source)
    footprints, pads = read_footprints(source)
    zones, outline = read_zones(source), read_outline(source, footprints)
    drawings = read_drawings(source, footprints, pads)
    thickness = header.general_thickness(source)
    refuse_thicknesses(source, thickness, stackup)
    refuse_sizes(source, tracks, vias, pads)
    found_project = _project(source, path, project, vias)
    return Board(
        path=path,
        format_version=source.version,
        generator=_generator(source),
        thickness_mm=thickness,
        copper_layers=copper,
        stackup=stackup,
        nets=tuple(source.nets.names),
        tracks=tracks,
        vias=vias,
        footprints=footprints,
        pads=pads,
        zones=zones,
        outline=outline,
        drawings=drawings,
        texts=read_copper_texts(source, footprints),
        project=found_project,
        ipc4761=protection,
        mask_openings=read_mask_openings(source),
        unknown_tokens=dict(sorted(source.unknown.items())),
        warnings=tuple(_warnings(source)),
        lines=source.lines,
    )


def _content(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise BoardFileError(str(path), "is a folder", _GIVE_BOARD)
        return read_board_bytes(path)
    except FileNotFoundError:
        raise BoardFileError(str(path), "does not exist", "check the name") from None
    except OSError as bad:
        fix = cure_of(bad, "check its permissions")
        raise BoardFileError(str(path), f"cannot be read ({bad.strerror})", fix) from None


def _open(path: Path, content: bytes) -> BoardText:
    """The blocks of the file, once it is certain that it is a whole board."""
    label = str(path)
    if not content[:1000].strip() and not content.strip():
        raise BoardFileError(label, "is empty", REPAIR)
    merge = _conflict(content)
    if merge >= 0:
        line = content.count(b"\n", 0, merge) + 1
        raise BoardFileError(
            f"{label}, line {line}", "a merge of git is not resolved", "take one side, and check again"
        )
    outer = _OUTER.match(without_comments(content))
    word = outer.group(1) if outer else b""
    if word != b"kicad_pcb":
        what = _OTHERS.get(word, "not a KiCad board")
        if other := legacy.other_tool(content[:1000]):
            raise BoardFileError(label, f"is {other[0]}", other[1])
        if content[:1000].lstrip().startswith(b"PCBNEW-BOARD"):
            raise BoardFileError(label, "is a board of KiCad 3 or older", "open it in KiCad and save it again")
        if spelling := other_encoding(content):
            raise BoardFileError(label, f"is {spelling}, which KiCad does not read", "save it as plain UTF-8 text")
        raise BoardFileError(label, f"is {what}", _GIVE_BOARD)
    try:
        data, blocks = scanned(content)
    except UnreadableError as bad:
        line = content.count(b"\n", 0, bad.offset) + 1
        raise BoardFileError(f"{label}, line {line}", bad.what, bad.fix or REPAIR) from None
    source = BoardText(data, label, blocks)
    if blocks.end is None:
        at = blocks.open_item
        inside = "" if at is None else f" inside ({head(data, at).decode('utf-8', 'replace')} ...)"
        raise source.error(len(data) if at is None else at, f"the file ends{inside}: it is cut short", REPAIR)
    if data[blocks.end :].strip():
        line = source.line(blocks.end)
        source.warnings.append(f"text after the end of the board is ignored (line {line})")
    return source


def _conflict(content: bytes) -> int:
    """Return where git's first mark of a merge stands, -1 for none; a single character is found ten times faster."""
    at = content.find(b"<")
    while at >= 0 and not (content.startswith(_CONFLICT, at) and content[at - 1 : at] in {b"", b"\n"}):
        end = content.find(b"\n", at)
        at = content.find(b"<", end) if end >= 0 else -1
    return at


def _first(source: BoardText, name: str) -> tuple[int, tree.Node]:
    return next(source.nodes(source.items(name)[:1]), (0, []))


def _version(source: BoardText) -> int:
    offset, node = _first(source, "version")
    stated = tree.word(node)
    if not stated.isascii() or not stated.isdecimal() or len(stated) > 9:
        raise source.error(offset, "the board states no (version ...) that is a number", REPAIR)
    version = int(stated)
    if version > NEWEST_VERSION:
        source.warnings.append(
            f"file version {version} is newer than KiCad 10 ({NEWEST_VERSION}): what is new in it is not read"
        )
    elif version < legacy.KICAD_4:
        source.warnings.append(f"file version {version} is older than KiCad 4: save it with a newer KiCad to be sure")
    return version


def _generator(source: BoardText) -> str:
    name = tree.word(_first(source, "generator")[1])
    release = tree.word(_first(source, "generator_version")[1])
    if not name:
        name = " ".join(tree.words(_first(source, "host")[1]))
    return f"{name} {release}".strip()


def _net_table(source: BoardText) -> Nets:
    nets = Nets()
    for offset, node in source.nodes(source.items("net")):
        with source.at(offset):
            name = tree.unquoted(node[2]) if len(node) > 2 and isinstance(node[2], str) else ""
            number = int(tree.number(node[1] if len(node) > 1 else None, "net"))
            nets.numbers[number] = nets.written[name] = nets.add(legacy.net_name(name, source.version))
    return nets


def _project(source: BoardText, path: Path, given: Path | None, vias: Vias) -> Project:
    """The project, else the net classes of an old board; drills that such a board leaves to them are filled in."""
    adjacent = companion(path, ".kicad_pro")
    chosen = given if given is not None else adjacent if _is_there(adjacent) else None
    own = legacy.board_classes(source)
    if chosen is None and own.parts.classes:
        found, remarks = resolve(None, own.parts, source.nets.names)
    else:
        found, remarks = project_and_remarks(chosen, source.nets.names)
    source.warnings.extend(remarks)
    legacy.state_drills(source, vias, found, own.microvia_drill_mm)
    return found


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as bad:
        raise BoardFileError(str(path), f"cannot be read ({bad.strerror})", "check its permissions") from None


def _counted(count: int, what: str) -> str:
    """`3 vias from ...`, `1 via from ...`."""
    noun, _, rest = what.partition(" ")
    return f"{count} {noun.removesuffix('s') if count == 1 else noun} {rest}".rstrip()


def _not_understood(source: BoardText) -> Iterator[str]:
    """Say which words were skipped that no version of KiCad writes where they stand, the most frequent first."""
    rows = sorted(source.unknown.items(), key=lambda item: (-item[1], item[0]))
    for path, count in rows[:MOST_UNKNOWN_NAMED]:
        parent, _, word = path.rpartition("/")
        where = "the board" if parent == "kicad_pcb" else f"({parent.replace('/', ' ')} ...)"
        yield f"not read: ({word} ...) in {where}, {_times(count)}: KiCad up to 10 writes no such word there"
    if len(rows) > MOST_UNKNOWN_NAMED:
        yield f"not read: {len(rows) - MOST_UNKNOWN_NAMED} more kinds of words that KiCad up to 10 does not write"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _warnings(source: BoardText) -> list[str]:
    found = list(source.warnings)
    found += [f"not read: {_counted(count, what)}" for what, count in sorted(source.left_out.items())]
    found += _not_understood(source)
    if source.nets.missing:
        numbers = ", ".join(sorted(source.nets.missing, key=int)[:5])
        found.append(f"{source.nets.missing.total()} items name nets that the net table does not hold ({numbers})")
    found += [f"{_counted(count, what)} {TORN[what]}" for what, count in sorted(source.nets.torn.items())]
    return found
