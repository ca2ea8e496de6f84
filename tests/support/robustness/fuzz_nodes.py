"""Mutates KiCad boards by their grammar: whole nodes, numbers of the right type, words that occur at that place.

What `fuzzing` damages is mostly refused by the reader, and the rules never see it. What is mutated here mostly
stays a board that KiCad could have written: a node is duplicated, deleted, swapped with one of its kind, moved to a
parent of a kind that holds such nodes on some board, or taken from another board; a number becomes another of its type
and size; a net, a layer, a word becomes another that boards have there. Everything comes from a seeded `random.Random`.
"""

from __future__ import annotations

import functools
import random
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from tests.support.robustness.fuzzing import TOKEN

Node: TypeAlias = "list[bytes | Node]"
Place: TypeAlias = tuple[bytes, bytes]
"""What a node is called, and what the node around it is called."""

REQUIRED = {
    b"": {b"kicad_pcb"},
    b"kicad_pcb": {b"version", b"layers", b"general"},
    b"gr_line": {b"start", b"end", b"layer"},
    b"gr_rect": {b"start", b"end", b"layer"},
    b"gr_arc": {b"start", b"mid", b"end", b"layer", b"angle"},
    b"gr_circle": {b"center", b"end", b"layer"},
    b"gr_poly": {b"pts", b"layer"},
    b"fp_line": {b"start", b"end", b"layer"},
    b"fp_rect": {b"start", b"end", b"layer"},
    b"fp_arc": {b"start", b"mid", b"end", b"layer", b"angle"},
    b"fp_circle": {b"center", b"end", b"layer"},
    b"fp_poly": {b"pts", b"layer"},
    b"segment": {b"start", b"end", b"width", b"layer"},
    b"arc": {b"start", b"mid", b"end", b"width", b"layer"},
    b"via": {b"at", b"size", b"layers"},
    b"pad": {b"at", b"size", b"layers"},
    b"zone": {b"layer", b"layers", b"polygon"},
    b"polygon": {b"pts"},
    b"filled_polygon": {b"pts", b"layer"},
    b"footprint": {b"at", b"layer"},
    b"module": {b"at", b"layer"},
}
"""What a board's reader does not do without; it goes at times nevertheless."""
ONCE = {b"kicad_pcb": {b"version", b"layers", b"general", b"setup"}, b"setup": {b"stackup"}}
"""What stands once in its parent."""
KEEPS_REQUIRED = 0.9
EXTREME = 0.2
VERSIONS = (b"20171130", b"20211014", b"20221018", b"20240108", b"20241229", b"20260206")
KINDS_OF_TRACK = (b"segment", b"arc", b"via", b"zone", b"footprint", b"module", b"pad", b"gr_line", b"gr_rect")
NUMBER = re.compile(rb"-?\d+(\.\d+)?")
COPPER = re.compile(rb'"?(?:F|B|In\d+)\.Cu"?')
ANGLES = (b"0", b"45", b"90", b"135", b"180", b"270", b"-90", b"30", b"359.9")
POINTS = (b"xy", b"start", b"mid", b"end", b"center", b"at")
EXTREMES = (b"0.000001", b"0.0001", b"0.001", b"50", b"500", b"2000", b"99999", b"1000000")
"""Unusual lengths that a file may hold nevertheless."""
FACTORS = (0.01, 0.1, 0.5, 0.8, 0.95, 1.05, 1.25, 2.0, 4.0, 10.0)
STEPS = (0.001, 0.01, 0.05, 0.1, 0.5, 1.0, 2.54, 10.0)


def parsed(data: bytes) -> Node:
    """Return the board's tree; a string keeps its quotes."""
    root: Node = []
    around: list[Node] = [root]
    for token in TOKEN.findall(data):
        if token == b"(":
            node: Node = []
            around[-1].append(node)
            around.append(node)
        elif token == b")":
            around.pop()
        elif not token.isspace():
            around[-1].append(token)
    board = root[0]
    if not isinstance(board, list):
        raise TypeError("a board is a list")
    return board


def written(node: Node, depth: int = 0) -> bytes:
    """Return a tree as KiCad 8 and later lay it out: a list per line, indented with tabs."""
    out: list[bytes] = []
    _write(node, depth, out)
    return b"".join(out).lstrip() + b"\n"


def _write(node: Node, depth: int, out: list[bytes]) -> None:
    out.append(b"\n" + b"\t" * depth + b"(")
    has_lists = False
    for at, part in enumerate(node):
        if isinstance(part, list):
            _write(part, depth + 1, out)
            has_lists = True
        else:
            out.append(part if at == 0 else b" " + part)
    out.append(b"\n" + b"\t" * depth + b")" if has_lists else b")")


def in_one_line(node: Node) -> bytes:
    """Return a tree without a line break, as other tools write it."""
    return b"(" + b" ".join(in_one_line(part) if isinstance(part, list) else part for part in node) + b")"


def copied(node: Node) -> Node:
    """Return a copy that shares nothing."""
    return [copied(part) if isinstance(part, list) else part for part in node]


def head(node: Node) -> bytes:
    """Return what a node is called."""
    return node[0] if node and isinstance(node[0], bytes) else b""


def pairs(node: Node) -> list[tuple[Node, Node]]:
    """Return every node with the node around it."""
    found: list[tuple[Node, Node]] = []
    unseen = [node]
    while unseen:
        around = unseen.pop()
        inside = [part for part in around if isinstance(part, list)]
        found += [(around, part) for part in inside]
        unseen += inside
    return found


@dataclass
class Lexicon:
    """What the seeds hold where.

    Attributes:
        words: for a place and a position in it, the words, strings and numbers seen there.
        parents: for a kind of node, the kinds of nodes that hold it.
        nodes: for a kind of node in a kind of parent, some nodes.
        nets: names of nets, with quotes.
    """

    words: dict[tuple[Place, int], set[bytes]] = field(default_factory=lambda: defaultdict(set))
    parents: dict[bytes, set[bytes]] = field(default_factory=lambda: defaultdict(set))
    nodes: dict[Place, list[Node]] = field(default_factory=lambda: defaultdict(list))
    nets: set[bytes] = field(default_factory=set)

    def learn(self, board: Node) -> None:
        """Take in a board."""
        for around, node in pairs(board):
            place = (head(node), head(around))
            self.parents[place[0]].add(place[1])
            if len(self.nodes[place]) < KEPT_NODES:
                self.nodes[place].append(node)
            for at, word in enumerate(node[1:], 1):
                seen = self.words[place, min(at, LAST_POSITION)]
                if isinstance(word, bytes) and len(seen) < KEPT_WORDS:
                    seen.add(word)
            if place[0] == b"net":
                self.nets.update(word for word in node[1:] if isinstance(word, bytes) and word[:1] == b'"')


KEPT_NODES, KEPT_WORDS, LAST_POSITION = 40, 40, 6


@functools.lru_cache(maxsize=256)
def tree(data: bytes) -> Node:
    """Return the tree of a seed, parsed once; copied before it is changed."""
    return parsed(data)


@functools.cache
def lexicon(seeds: tuple[bytes, ...]) -> Lexicon:
    """Return what these boards hold where."""
    found = Lexicon()
    for seed in seeds:
        found.learn(tree(seed))
    return found


def mutated(chance: random.Random, seed: bytes, known: Lexicon) -> bytes:
    """Return a board with one to twenty changes of its tree, never none; one in five is written in one line."""
    sound = tree(seed)
    board = copied(sound)
    for _ in range(chance.choice((1, 2, 3, 4, 6, 8, 12, 20))):
        chance.choice(_CHANGES)(chance, board, known)
    while board == sound:
        chance.choice(_CHANGES)(chance, board, known)
    return in_one_line(board) if chance.random() < 0.2 else written(board)


def _one(chance: random.Random, board: Node, kinds: Sequence[bytes] = ()) -> tuple[Node, Node]:
    """A node with the one around it; half of the time one of those that the rules look at most."""
    found = [(around, node) for around, node in pairs(board) if head(around) != b"pcbplotparams"]
    wanted = kinds or (KINDS_OF_TRACK if chance.random() < 0.5 else ())
    chosen = [pair for pair in found if head(pair[1]) in wanted] if wanted else found
    return chance.choice(chosen or found)


def _place_of(around: Node, node: Node) -> int:
    return next(at for at, part in enumerate(around) if part is node)


def _may_go(chance: random.Random, around: Node, node: Node) -> bool:
    """Whether the parent does without: it is not required, or is there twice."""
    name = head(node)
    if name not in REQUIRED.get(head(around), ()) or chance.random() > KEEPS_REQUIRED:
        return True
    return sum(isinstance(part, list) and head(part) == name for part in around) > 1


def _may_come(around: Node, node: Node) -> bool:
    name = head(node)
    return name not in ONCE.get(head(around), ()) or not any(
        isinstance(part, list) and head(part) == name for part in around
    )


def _delete(chance: random.Random, board: Node, _known: Lexicon) -> None:
    around, node = _one(chance, board)
    if _may_go(chance, around, node):
        del around[_place_of(around, node)]


def _delete_kind(chance: random.Random, board: Node, _known: Lexicon) -> None:
    """All nodes of a kind: no zone, no via, no stackup."""
    around, node = _one(chance, board)
    name = head(node)
    if name not in REQUIRED.get(head(around), ()):
        around[1:] = [part for part in around[1:] if not (isinstance(part, list) and head(part) == name)]


def _duplicate(chance: random.Random, board: Node, _known: Lexicon) -> None:
    """A copy behind the node, where it was, or moved by a step, or some copies in a row."""
    around, node = _one(chance, board)
    if not _may_come(around, node):
        return
    at = _place_of(around, node)
    dx, dy = (chance.choice((0.0, 0.0, *STEPS, *(-step for step in STEPS))) for _ in range(2))
    for number in range(1, chance.choice((2, 2, 2, 3, 9))):
        twin = copied(node)
        _shift(twin, number * dx, number * dy)
        if chance.random() < 0.8:
            _fresh_uuids(chance, twin)
        around.insert(at + number, twin)


def _shift(node: Node, dx: float, dy: float) -> None:
    """Move a node and the points in it; of a footprint, and of a pad, only the place of itself."""
    points = [node] if head(node) in POINTS else [part for part in node if isinstance(part, list)]
    for point in points:
        if head(point) in POINTS and len(point) > 2:
            for at, step in ((1, dx), (2, dy)):
                point[at] = _plus(point[at], step)
        elif head(point) in (b"pts", b"polygon", b"filled_polygon"):
            _shift(point, dx, dy)


def _plus(word: bytes | Node, step: float) -> bytes | Node:
    if step and isinstance(word, bytes) and NUMBER.fullmatch(word):
        return f"{float(word) + step:.6f}".rstrip("0").rstrip(".").encode()
    return word


def _fresh_uuids(chance: random.Random, node: Node) -> None:
    for _, part in pairs([node]):
        if head(part) in (b"uuid", b"tstamp") and len(part) > 1:
            part[1] = b'"' + _uuid(chance) + b'"'


def _uuid(chance: random.Random) -> bytes:
    digits = f"{chance.getrandbits(128):032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])).encode()


def _swap(chance: random.Random, board: Node, _known: Lexicon) -> None:
    """Two nodes of a kind change places: children of one parent, or of different ones."""
    around, node = _one(chance, board)
    name, near = head(node), chance.random() < 0.5
    others = [
        (other_around, other)
        for other_around, other in pairs(board)
        if head(other) == name and other is not node and (not near or other_around is around)
    ]
    others = [pair for pair in others if not _holds(pair[1], node) and not _holds(node, pair[1])]
    if others:
        other_around, other = chance.choice(others)
        here, there = _place_of(around, node), _place_of(other_around, other)
        around[here], other_around[there] = other, node


def _holds(node: Node, inner: Node) -> bool:
    return any(part is inner for _, part in pairs(node))


def _swap_children(chance: random.Random, board: Node, _known: Lexicon) -> None:
    """The children of a node in another order: two of them, or all turned about."""
    _, node = _one(chance, board)
    at = [at for at, part in enumerate(node) if isinstance(part, list)]
    if len(at) > 1 and chance.random() < 0.7:
        a, b = chance.sample(at, 2)
        node[a], node[b] = node[b], node[a]
    else:
        for place, part in zip(at, [node[place] for place in reversed(at)], strict=True):
            node[place] = part


def _move(chance: random.Random, board: Node, known: Lexicon) -> None:
    """A node moves to another parent of a kind that holds such nodes."""
    around, node = _one(chance, board)
    if not _may_go(chance, around, node):
        return
    allowed = known.parents.get(head(node), set())
    homes = [part for _, part in pairs([board]) if head(part) in allowed and part is not around]
    homes = [home for home in homes if home is not node and not _holds(node, home) and _may_come(home, node)]
    if homes:
        del around[_place_of(around, node)]
        home = chance.choice(homes)
        home.insert(_behind_words(chance, home), node)


def _behind_words(chance: random.Random, home: Node) -> int:
    """A place among the lists of a node, behind its first words."""
    first = next((at for at, part in enumerate(home) if isinstance(part, list)), len(home))
    return chance.randrange(first, len(home) + 1)


def _from_elsewhere(chance: random.Random, board: Node, known: Lexicon) -> None:
    """A node of another board takes the place of one of its kind, or stands next to it."""
    around, node = _one(chance, board)
    stock = known.nodes.get((head(node), head(around)))
    if stock:
        at = _place_of(around, node)
        new = copied(chance.choice(stock))
        if chance.random() < 0.5 or not _may_come(around, node):
            around[at] = new
        else:
            around.insert(at, new)


def _new_child(chance: random.Random, board: Node, known: Lexicon) -> None:
    """A node gets a child of a kind that such nodes have on some board."""
    _, node = _one(chance, board)
    kinds = [place for place in known.nodes if place[1] == head(node)]
    if kinds:
        new = copied(chance.choice(known.nodes[chance.choice(kinds)]))
        if _may_come(node, new):
            node.insert(_behind_words(chance, node), new)


def _number(chance: random.Random, board: Node, known: Lexicon) -> None:
    """A number becomes another of its type."""
    for _ in range(20):
        around, node = _one(chance, board)
        children = [part for part in node if isinstance(part, list)] if chance.random() < 0.5 else []
        if children:
            around, node = node, chance.choice(children)
        at = [at for at, word in enumerate(node) if at and isinstance(word, bytes) and NUMBER.fullmatch(word)]
        if at:
            chosen = chance.choice(at)
            old = node[chosen]
            if isinstance(old, bytes):
                node[chosen] = _other_number(chance, old, (head(node), head(around)), chosen, known)
            return


def _other_number(chance: random.Random, old: bytes, place: Place, at: int, known: Lexicon) -> bytes:
    """Another date for a date, angle for an angle, whole number for a whole one, length for a length."""
    if place == (b"version", b"kicad_pcb"):
        return chance.choice(VERSIONS) if old[:2] == b"20" else old
    seen = sorted(word for word in known.words.get((place, min(at, LAST_POSITION)), ()) if NUMBER.fullmatch(word))
    if (seen and chance.random() < 0.4) or place[1] == b"layers":
        return chance.choice(seen or [old])
    if place[0] in (b"angle", b"rotate") or (place[0] == b"at" and at == 3):
        return chance.choice((*ANGLES, f"{chance.uniform(0, 360):.3f}".encode()))
    if chance.random() < EXTREME and place[0] not in (b"net", b"at", b"priority"):
        return chance.choice(EXTREMES)
    value = float(old)
    if place[0] in POINTS:
        return _text(value + chance.choice((-1, 1)) * chance.choice(STEPS))
    if b"." not in old and place[0] in (b"net", b"priority", b"island_removal_mode", b"instances", b"mode"):
        return str(max(0, int(old) + chance.choice((-1, 1, 2, 10)))).encode()
    if chance.random() < 0.1:
        return b"0"
    return _text(value * chance.choice(FACTORS) if value else chance.choice(STEPS))


def _text(value: float) -> bytes:
    return (f"{value:.6f}".rstrip("0").rstrip(".") or "0").encode()


def _word(chance: random.Random, board: Node, known: Lexicon) -> None:
    """A word or text becomes another that boards have at that place."""
    for _ in range(20):
        around, node = _one(chance, board)
        if chance.random() < 0.5:
            around, node = chance.choice([(node, part) for part in node if isinstance(part, list)] or [(around, node)])
        if head(node) in (b"uuid", b"tstamp"):
            continue
        at = [at for at, word in enumerate(node) if at and isinstance(word, bytes) and not NUMBER.fullmatch(word)]
        if at:
            chosen = chance.choice(at)
            seen = known.words.get(((head(node), head(around)), min(chosen, LAST_POSITION)), set())
            node[chosen] = chance.choice(sorted(seen)) if seen else node[chosen]
            return


def _net_names(board: Node) -> list[bytes]:
    return sorted(
        {word for _, node in pairs(board) if head(node) == b"net" for word in node[1:] if isinstance(word, bytes)}
        - {b'""', b"0"}
    )


def _replace_all(board: Node, names: dict[bytes, bytes], kinds: Sequence[bytes]) -> None:
    for _, node in pairs(board):
        if head(node) in kinds:
            node[1:] = [names.get(word, word) if isinstance(word, bytes) else word for word in node[1:]]


def _nets(chance: random.Random, board: Node, known: Lexicon) -> None:
    """Two nets change their names everywhere, one net gets another name everywhere, or one object another net."""
    names = [name for name in _net_names(board) if name[:1] == b'"']
    if not names:
        return
    how = chance.randrange(3)
    if how == 0 and len(names) > 1:
        a, b = chance.sample(names, 2)
        _replace_all(board, {a: b, b: a}, (b"net", b"net_name", b"add_net"))
    elif how == 1:
        new = chance.choice(sorted(known.nets))
        _replace_all(board, {chance.choice(names): new}, (b"net", b"net_name", b"add_net"))
    else:
        _, node = _one(chance, board, (b"net",))
        if head(node) == b"net" and isinstance(node[-1], bytes) and node[-1][:1] == b'"':
            node[-1] = chance.choice(names)


def _layers(chance: random.Random, board: Node, _known: Lexicon) -> None:
    """Two copper layers change their names everywhere, or one object is on another layer of the board."""
    copper = sorted(
        {
            word
            for around, node in pairs(board)
            if head(around) == b"layers"
            for word in node[1:2]
            if isinstance(word, bytes) and COPPER.fullmatch(word)
        }
    )
    if len(copper) < 2:
        return
    if chance.random() < 0.3:
        a, b = chance.sample(copper, 2)
        _replace_all(board, {a: b, b: a}, (b"layer", b"layers"))
        return
    _, node = _one(chance, board, (b"layer", b"layers"))
    at = [at for at, word in enumerate(node) if at and isinstance(word, bytes) and COPPER.fullmatch(word)]
    if at:
        node[chance.choice(at)] = chance.choice(copper)


def _uuids(chance: random.Random, board: Node, _known: Lexicon) -> None:
    """A new uuid, or one that another object has."""
    found = [node for _, node in pairs(board) if head(node) in (b"uuid", b"tstamp") and len(node) > 1]
    if found:
        chance.choice(found)[1] = chance.choice((chance.choice(found)[1], b'"' + _uuid(chance) + b'"'))


def _shifted(chance: random.Random, board: Node, _known: Lexicon) -> None:
    """An object is dragged elsewhere."""
    _, node = _one(chance, board, KINDS_OF_TRACK)
    _shift(node, *(chance.choice((-1, 1)) * chance.choice((0.0, *STEPS)) for _ in range(2)))


_Change: TypeAlias = Callable[[random.Random, Node, Lexicon], None]
_CHANGES: tuple[_Change, ...] = (
    *(_delete, _delete, _delete_kind, _duplicate, _duplicate, _swap, _swap, _swap_children),
    *(_move, _move, _from_elsewhere, _from_elsewhere, _new_child, _shifted),
    *(_number,) * 7,
    *(_word, _word, _nets, _nets, _layers, _layers, _uuids),
)
