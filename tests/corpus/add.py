"""Add boards of a public repository to the manifest, out of a local git mirror.

`python -m tests.corpus.add --mirrors FOLDER OWNER/NAME...` takes the newest revision of each board that has copper, at
most `--most` of a repository, and leaves out what is there already.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from stackup_lib.core.errors import StackwrightError
from tests.corpus.manifest import Entry, read_manifest, write_manifest
from tests.corpus.sources import git, mirror_of, names_in, sha256_of

LEAST_TRACKS = 100
"""Boards with fewer tracks are panels, tests and beginnings."""
LICENCES = (
    ("CERN-OHL-S-2.0", r"CERN-OHL-S|Strongly Reciprocal"),
    ("CERN-OHL-W-2.0", r"CERN-OHL-W|Weakly Reciprocal"),
    ("CERN-OHL-P-2.0", r"CERN-OHL-P|CERN Open Hardware Licence Version 2 - Permissive"),
    ("CERN-OHL-1.2", r"CERN (Open Hardware Licence|OHL) v\.?1\.2|CERN Open Hardware Licence v1\.2"),
    ("TAPR-OHL-1.0", r"TAPR Open Hardware License"),
    ("SHL-2.1", r"SOLDERPAD HARDWARE LICEN[SC]E"),
    ("CC-BY-NC-SA-4.0", r"NonCommercial-ShareAlike 4\.0"),
    ("CC-BY-SA-4.0", r"Attribution-ShareAlike 4\.0|CC[- ]BY[- ]SA[- ]4\.0"),
    ("CC-BY-SA-3.0", r"Attribution-ShareAlike 3\.0"),
    ("CC-BY-4.0", r"Attribution 4\.0 International|CC[- ]BY[- ]4\.0"),
    ("CC0-1.0", r"CC0 1\.0"),
    ("Apache-2.0", r"Apache License,?\s+Version 2\.0"),
    ("AGPL-3.0", r"GNU AFFERO GENERAL PUBLIC LICENSE"),
    ("LGPL-3.0", r"GNU LESSER GENERAL PUBLIC LICENSE"),
    ("GPL-3.0", r"GNU GENERAL PUBLIC LICENSE\s+Version 3"),
    ("GPL-2.0", r"GNU GENERAL PUBLIC LICENSE\s+Version 2"),
    ("BSD-3-Clause", r"Neither the name of"),
    ("MIT", r"Permission is hereby granted, free of charge"),
)
COPPER = re.compile(r'\((\d+) (?:"[^"]*"|[^\s"()]+) (?:signal|power|mixed|jumper)\b')
LICENCE_FILE = re.compile(r"(?i)^(licen[sc]e|copying)([._-].*)?$")
REVISION = re.compile(r"(?i)[ _.-]*(rev|ver|v|r|pcb)?[ _.-]*[0-9]+([._-][0-9]+)*[a-z]?$|[ _.-]+rev[ _.-]*[a-z]?[0-9]*$")
OTHER_COPIES = re.compile(
    r"(?i)(^|/)(panel|_?old|junk|outlines|archive|backup|deprecated|[^/]*-backups?)[^/]*(/|$)|panel[^/]*$|autosave"
)


def entries_of(repository: str, folder: Path, most: int) -> Iterator[Entry]:
    """Return what is worth an entry, the largest boards first."""
    commit = git(folder, "rev-parse", "HEAD").decode().strip()
    newest: dict[str, tuple[list[str], Entry]] = {}
    listed = git(folder, "ls-tree", "-r", "-z", "--name-only", commit).decode(errors="replace").split("\0")
    for path in listed:
        if not path.endswith(".kicad_pcb") or OTHER_COPIES.search(path):
            continue
        entry = _entry(repository, folder, commit, path)
        if entry is None:
            continue
        pure = PurePosixPath(path)
        family, order = REVISION.sub("", pure.stem).lower() or pure.stem, _natural(path)
        if family not in newest or newest[family][0] < order:
            newest[family] = order, entry
    found = sorted((entry for _, entry in newest.values()), key=lambda one: -one.size_bytes)
    yield from found[:most]


def _natural(path: str) -> list[str]:
    return [f"{int(part):08d}" if part.isdigit() else part.lower() for part in re.split(r"(\d+)", path)]


def _newest(folder: Path, commit: str, path: str) -> tuple[str, bytes] | None:
    """Return the newest commit of which the mirror has the file: some mirrors lack their largest files."""
    changes = git(folder, "log", "--format=%H", commit, "--", path).decode().split()
    for one in (commit, *changes):
        try:
            return one, git(folder, "cat-file", "blob", f"{one}:{path}")
        except StackwrightError:
            continue
    return None


def _entry(repository: str, folder: Path, head: str, path: str) -> Entry | None:
    found = _newest(folder, head, path)
    if found is None:
        return None
    commit, data = found
    text = data.decode(errors="replace")
    if not text.startswith("(kicad_pcb") or len(re.findall(r"\(segment\b|\(arc\b", text)) < LEAST_TRACKS:
        return None
    pure = PurePosixPath(path)
    project = f"{pure.stem}.kicad_pro"
    has_project = project in names_in(folder, commit, pure.parent)
    return Entry(
        repository=repository,
        path=path,
        commit=commit,
        sha256=sha256_of(data),
        project_sha256=sha256_of(git(folder, "show", f"{commit}:{pure.with_name(project)}")) if has_project else "",
        licence=_licence(folder, commit, pure),
        kicad=_kicad(text),
        layers=copper_layers(text),
        size_bytes=len(data),
        stackup=bool(re.search(r"\(stackup\b[\s\S]*?\(thickness ", text[:60_000])),
        impedance="(dielectric_constraints yes)" in text[:60_000],
        about=_about(text, pure.stem),
    )


def copper_layers(text: str) -> int:
    """Count the copper layers of a board's text.

    A user layer may be of type `signal`, too. KiCad numbers copper 0 to 31; since KiCad 9 it has the even numbers.
    """
    head = text[:20_000]
    since_9 = re.search(r'\(25 "Edge\.Cuts"', head) is not None
    numbers = [int(number) for number in COPPER.findall(head)]
    return sum(number % 2 == 0 if since_9 else number < 32 for number in numbers)


def _kicad(text: str) -> str:
    date = re.search(r"\(version (\d+)\)", text[:400])
    host = re.search(r'\((?:generator_version|host pcbnew) "?\(?([\w.+-]+)', text[:400])
    return " ".join(part for part in (date and date[1], host and host[1]) if part)


def _about(text: str, stem: str) -> str:
    found = re.search(r'\(title (?:"((?:[^"\\]|\\.)*)"|([^\s"()]+))\)', text[:20_000])
    told = " ".join((found[1] or found[2] or "").split()) if found else ""
    return told if told and "${" not in told else stem


def _licence(folder: Path, commit: str, path: PurePosixPath) -> str:
    seen = False
    for place in path.parents:
        names = sorted(name for name in names_in(folder, commit, place) if LICENCE_FILE.match(name))
        for name in names:
            where = name if str(place) == "." else f"{place}/{name}"
            try:
                text = git(folder, "show", f"{commit}:{where}").decode(errors="replace")
            except StackwrightError:
                continue
            seen = True
            for licence, pattern in LICENCES:
                if re.search(pattern, text):
                    return licence
    return "not recognized" if seen else "not stated"


def main(arguments: Sequence[str] | None = None) -> int:
    """Add what is new and tell how much that is."""
    parser = argparse.ArgumentParser(prog="tests.corpus.add", description=__doc__)
    parser.add_argument("repository", nargs="+", metavar="OWNER/NAME")
    parser.add_argument("--mirrors", type=Path, required=True, help="folder with an OWNER+NAME or OWNER/NAME each")
    parser.add_argument("--most", type=int, default=5, help="boards of one repository (default: 5)")
    chosen = parser.parse_args(arguments)
    entries = read_manifest()
    there = {entry.sha256 for entry in entries} | {entry.name for entry in entries}
    bad = 0
    for repository in chosen.repository:
        try:
            found = list(entries_of(repository, mirror_of(chosen.mirrors, repository), chosen.most))
        except StackwrightError as error:
            print(f"{repository}: {error.what}", file=sys.stderr)  # noqa: T201
            bad = 2
            continue
        new = [entry for entry in found if not {entry.sha256, entry.name} & there]
        there |= {entry.sha256 for entry in new} | {entry.name for entry in new}
        entries += new
        print(f"{repository}: {len(new)} added, {len(found) - len(new)} there already")  # noqa: T201
        write_manifest(entries)
    return bad


if __name__ == "__main__":
    sys.exit(main())
