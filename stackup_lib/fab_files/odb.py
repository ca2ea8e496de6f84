"""ODB++ (folder, zip or tgz): matrix, attributes of layers, drill tools and features, profile.

Source: ODB++Design Format Specification, release 8.1: matrix, attrlist, tools, features.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from stackup_lib.board.stackup import LayerKind
from stackup_lib.fab_files.archive import Member
from stackup_lib.fab_files.facts import (
    FabFileError,
    FabFormat,
    SentBackdrill,
    SentFile,
    SentHoles,
    SentLayer,
    SentProtection,
    SentRow,
    StatedNumber,
    StatedText,
    stated_number,
)

MATRIX = "matrix/matrix"

_COPPER = ("SIGNAL", "POWER_GROUND", "MIXED")
_SYMBOL = re.compile(r"\$(\d+) (r|oval)([\d.]+)(?:x([\d.]+))?")
_PAD = re.compile(r"P [\d.eE+-]+ [\d.eE+-]+ (\d+) ")
_POINT = re.compile(r"O[BSC] ([\d.eE+-]+) ([\d.eE+-]+)")
_DIELECTRICS = {"CORE": LayerKind.CORE, "PREPREG": LayerKind.PREPREG}

Entry = dict[str, str]


def odb_root(names: Sequence[str]) -> str | None:
    """Return the folder of an ODB++ product model among names, None where there is none."""
    return next((name[: -len(MATRIX)] for name in names if name.lower().endswith(MATRIX)), None)


def read_odb(members: Sequence[Member], root: str) -> SentFile:
    """Return what an ODB++ product model states.

    Raises:
        FabFileError: its matrix cannot be read.
    """
    files = {m.name[len(root) :].lower(): m for m in members if m.name.startswith(root)}
    return _Model(files, members[0].source).file()


class _Model:
    def __init__(self, files: Mapping[str, Member], source: str) -> None:
        self.files, self.source = files, source.rstrip("/").rpartition("/")[2]
        entries = list(_blocks(self._text(MATRIX)))
        board = [entry for kind, entry in entries if kind == "LAYER" and entry.get("CONTEXT") == "BOARD"]
        self.layers = sorted(board, key=lambda entry: int(entry["ROW"]) if entry.get("ROW", "").isdecimal() else 0)
        steps = [entry.get("NAME", "").lower() for kind, entry in entries if kind == "STEP"]
        if not steps or not self.layers:
            raise FabFileError(self.source, "is an ODB++ without a step or layers", "export it again")
        self.step = f"steps/{steps[0]}"
        self.copper = [entry["NAME"] for entry in self.layers if entry.get("TYPE") in _COPPER and "NAME" in entry]
        self.info = dict(line.partition("=")[::2] for line in self._text("misc/info").splitlines())

    def _text(self, name: str) -> str:
        member = self.files.get(name)
        return member.read().decode("utf-8", "replace") if member else ""

    def _place(self, name: str) -> str:
        return f"{self.source}:{name}"

    def file(self) -> SentFile:
        layers = tuple(
            SentLayer(entry["NAME"], k, entry.get("POLARITY", "").capitalize(), self._place(MATRIX))
            for k, entry in enumerate(e for e in self.layers if e.get("TYPE") in _COPPER and "NAME" in e)
        )
        holes: list[SentHoles] = []
        backdrills: list[SentBackdrill] = []
        protections: list[SentProtection] = []
        for entry in self.layers:
            name = entry.get("NAME", "").lower()
            if name.startswith(("filling_", "capping_")):
                kind = "filled" if name.startswith("filling_") else "capped"
                text, at = self._features(name)
                protections.append(SentProtection(kind, len(_PAD.findall(text)), at))
            elif entry.get("TYPE") == "DRILL" and "BACKDRILL" in entry.get("ADD_TYPE", ""):
                backdrills += self._backdrills(entry)
            elif entry.get("TYPE") == "DRILL":
                holes += self._holes(entry)
        return SentFile(
            self.source,
            FabFormat.ODB,
            self.info.get("SAVE_APP", ""),
            layers=layers,
            rows=tuple(self._rows()),
            holes=tuple(holes),
            backdrills=tuple(backdrills),
            protections=tuple(protections),
            finish=self._finish(),
            size_mm=self._size(),
        )

    def _features(self, layer: str) -> tuple[str, str]:
        name = f"{self.step}/layers/{layer}/features"
        if name not in self.files and f"{name}.z" in self.files:
            raise FabFileError(self._place(f"{name}.Z"), "is packed with compress", "export without .Z files")
        return self._text(name), self._place(name)

    def _rows(self) -> Iterator[SentRow]:
        for entry in self.layers:
            name, kind = entry.get("NAME", ""), entry.get("TYPE")
            row_kind = {"DIELECTRIC": LayerKind.OTHER, "SOLDER_MASK": LayerKind.MASK}.get(kind or "")
            if kind in _COPPER:
                row_kind = LayerKind.COPPER
            if row_kind is None:
                continue
            if row_kind is LayerKind.OTHER:
                row_kind = _DIELECTRICS.get(entry.get("DIELECTRIC_TYPE", ""), LayerKind.OTHER)
            where = f"{self.step}/layers/{name.lower()}/attrlist"
            values = {
                key.strip(): (value.strip(), number)
                for number, (key, _, value) in enumerate(
                    (line.partition("=") for line in self._text(where).splitlines()), start=1
                )
            }
            scale = 25.4 if values.get("UNITS", ("", 0))[0] == "INCH" else 1.0

            def number(
                key: str, scale: float = 1.0, values: dict[str, tuple[str, int]] = values, where: str = where
            ) -> StatedNumber | None:
                text, line = values.get(key, ("", 0))
                return stated_number(text, f"{self._place(where)}:{line}", scale) if text else None

            material, line = values.get(".material", ("", 0))
            yield SentRow(
                row_kind,
                name,
                self._place(where),
                number(".layer_dielectric", scale),
                StatedText(material, f"{self._place(where)}:{line}") if material else None,
                number(".dielectric_constant"),
                number(".loss_tangent"),
                number(".copper_weight"),
            )

    def _span(self, entry: Entry) -> tuple[int | None, int | None]:
        first, last = (
            self.copper.index(name) if (name := entry.get(key)) in self.copper else None
            for key in ("START_NAME", "END_NAME")
        )
        return first, last

    def _holes(self, entry: Entry) -> Iterator[SentHoles]:
        layer = entry.get("NAME", "").lower()
        text, at = self._features(layer)
        scale = 0.001 if "UNITS=INCH" not in text[:200] else 0.0254
        first, last = self._span(entry)
        if first is not None and last is not None:
            first, last = min(first, last), max(first, last)
        types = {block.get("TYPE", "") for kind, block in _blocks(self._text(at.partition(":")[2][:-8] + "tools"))}
        is_plated = None if not types else types != {"NON_PLATED"}
        symbols = {m[1]: m for m in _SYMBOL.finditer(text)}
        for code, count in Counter(_PAD.findall(text)).items():
            symbol = symbols.get(code)
            if symbol is None:
                continue
            line = text.count("\n", 0, symbol.start()) + 1
            sides = [stated_number(side, f"{at}:{line}", scale) for side in symbol.groups()[2:] if side]
            numbers = [side for side in sides if side]
            if numbers:
                size = min(numbers, key=lambda n: n.value)
                yield SentHoles(first, last, is_plated, size, count, symbol[2] == "oval", size.place)

    def _backdrills(self, entry: Entry) -> Iterator[SentBackdrill]:
        layer = entry.get("NAME", "").lower()
        where = f"{self.step}/layers/{layer}/tools"
        text = self._text(where)
        scale = 0.0254 if text.startswith("UNITS=INCH") else 0.001
        start, end = self._span(entry)
        sizes = [block.get("DRILL_SIZE", "") for kind, block in _blocks(text) if kind == "TOOLS"]
        for size, count in Counter(sizes).items():
            number = stated_number(size, self._place(where), scale)
            yield SentBackdrill(start, end, None, number, None, count, self._place(where))

    def _size(self) -> tuple[StatedNumber, StatedNumber] | None:
        text = self._text(f"{self.step}/profile")
        points = [(float(m[1]), float(m[2])) for m in _POINT.finditer(text)]
        if not points:
            return None
        scale = 25.4 if "UNITS=INCH" in text[:200] else 1.0
        place = self._place(f"{self.step}/profile")
        xs, ys = zip(*points, strict=True)
        x, y = (StatedNumber(round((max(v) - min(v)) * scale, 6), 1e-4, place) for v in (xs, ys))
        return x, y

    def _finish(self) -> StatedText | None:
        for name in (f"{self.step}/attrlist", "misc/attrlist"):
            for number, line in enumerate(self._text(name).splitlines(), start=1):
                key, _, value = line.partition("=")
                if key.strip() in (".surface_finish", ".board_finish") and value.strip():
                    return StatedText(value.strip(), f"{self._place(name)}:{number}")
        return None


def _blocks(text: str) -> Iterator[tuple[str, Entry]]:
    """Return the `NAME { KEY=VALUE ... }` blocks of a structured text."""
    kind = ""
    entry: Entry = {}
    for raw in text.splitlines():
        line = raw.strip()
        if line.endswith("{"):
            kind, entry = line[:-1].strip(), {}
        elif line == "}":
            yield kind, entry
            kind = ""
        elif kind and "=" in line:
            key, _, value = line.partition("=")
            entry[key.strip()] = value.strip()
