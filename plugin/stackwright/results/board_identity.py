"""Which board a page is about: its title block, its commit, and the net classes of the nets that findings name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path

from drc_rules.report.findings import Finding
from stackup_lib.board.project import Project
from stackup_lib.core.record import record
from stackup_lib.kicad.read.title_block import TitleBlock, read_title_block
from stackwright.run.git import GitError, git


@record
class BoardIdentity:
    """What tells this board, in this state, from others.

    Attributes:
        sheet: its title block.
        commit: short hash of the last commit of the file, and `, changed since`; empty outside a repository.
        net_classes: net name -> its net class, of the nets that findings name.
    """

    sheet: TitleBlock = field(default_factory=TitleBlock)
    commit: str = ""
    net_classes: Mapping[str, str] = field(default_factory=dict)


def identity_of(board: Path, project: Project, findings: Iterable[Finding]) -> BoardIdentity:
    """Return what a page says of a board file besides its check."""
    nets = {place.net for finding in findings for place in finding.places if place.net}
    classes = {net: next(iter(project.net_classes_of.get(net, ())), "Default") for net in sorted(nets)}
    return BoardIdentity(read_title_block(board), commit_of(board), classes)


def commit_of(board: Path) -> str:
    """Return the short hash of the last commit that changed a file, and whether it has changed since."""
    real = board.resolve()
    try:
        commit = git("log", "-1", "--format=%h", "--", real.name, folder=real.parent).decode("ascii", "replace").strip()
        if not commit:
            return ""
        changed = git("status", "--porcelain", "--untracked-files=no", "--", real.name, folder=real.parent)
    except GitError:
        return ""
    return f"{commit}, changed since" if changed.strip() else commit
