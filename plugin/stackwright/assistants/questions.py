"""What each tool takes, and the command line that answers it; the commands and their JSON are those of every user."""

from abc import abstractmethod
from collections import Counter
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from stackup_lib.core.errors import BoardFileError
from stackwright.assistants.bounded import Json
from stackwright.text.words import count, some

BOARD = "Path of a .kicad_pcb or .kicad_pro, or of a folder with one board; the tool boards lists them."
PROFILE = "Workload to judge against, e.g. training-b200; default: what the board's stackwright.toml says."
Text = Annotated[str, Field(min_length=1, max_length=300)]
Length = Annotated[float, Field(gt=0, le=1000)]


class ToolQuestion(BaseModel):
    """The arguments of a tool; the docstring of each is its description.

    Attributes:
        NAME: of the tool.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    NAME: ClassVar[str]

    at: Annotated[
        str, Field(max_length=300, description="Part of the answer, e.g. findings/0; the answer says what was cut.")
    ] = ""
    first: Annotated[int, Field(ge=0, description="Entry that a long list begins with.")] = 0

    @property
    def is_json(self) -> bool:
        """Whether the command writes JSON; else lines of text."""
        return True

    @abstractmethod
    def words(self, board: str) -> list[str]:
        """Return the command line; `board` is the path in the folder that it runs in."""

    def shown(self, document: Json) -> Json:
        """Return what an answer begins with, where no part is named."""
        return document

    def parts(self, document: Json) -> Json:
        """Return the document that `at` leads through.

        Raises:
            BoardFileError: it answers for several boards.
        """
        return document


class CheckQuestion(ToolQuestion):
    """Check a board: verdict, findings, what could not be verified, and coverage.

    Findings that could not be decided are never passed: read `not_verifiable` and `coverage` as well. Other parts, by
    `at`: verdicts, impedances, pairs, losses, rails, backdrills, stackup, process, taken_as.
    """

    NAME = "check"
    board: Annotated[Text, Field(description=BOARD)]
    profile: Annotated[Text | None, Field(description=PROFILE)] = None

    def words(self, board: str) -> list[str]:
        """Return the command line of `check`."""
        return ["check", "--format=json", "--jobs=1", *_option("profile", self.profile), "--", board]

    def parts(self, document: Json) -> Json:
        """Return the report of the one board, with the verdicts counted and those that lack data set apart."""
        reports, errors = document["reports"], document["errors"]
        if (answers := len(reports) + len(errors)) > 1:
            boards = [one["board"]["path"] for one in reports] + [one["path"] for one in errors]
            what = f"holds {count(answers, 'board')} ({some(sorted(boards))})"
            raise BoardFileError(self.board, what, "give the one you mean")
        if not reports:
            return document
        report = reports[0]
        lacking = [
            {"clause": one["clause"], "title": one["title"], "missing": one["missing"]}
            for one in report["verdicts"]
            if one["verdict"] == "not verifiable"
        ]
        counts = Counter(one["words"] for one in report["verdicts"])
        return report | {"requirements": dict(counts), "not_verifiable": lacking}

    def shown(self, document: Json) -> Json:
        """Return verdict, findings and what was not verified; the other parts are counted."""
        if "verdicts" not in document:
            return document
        whole = ("headline", "headline_why", "requirements", "coverage", "not_verifiable", "crashes")
        told = ("code", "severity", "confidence", "title", "fix", "clause", "objects", "measured", "limit")
        shown = {"board": document["board"]["path"]}
        shown |= {name: document["provenance"][name] for name in ("profile", "form")}
        shown |= {name: document[name] for name in whole}
        shown["findings"] = [{name: one[name] for name in told} for one in document["findings"]]
        counted = {name: len(value) for name, value in document.items() if isinstance(value, list)}
        return shown | {"other_parts": {name: size for name, size in counted.items() if name not in shown and size}}


class ExplainQuestion(ToolQuestion):
    """Explain a rule (VIA002) or a clause (board.stackup.symmetry): what, why, how to fix, sources.

    With a board, the formula with the values of that board, and its verdict.
    """

    NAME = "explain"
    code: Annotated[Text, Field(description="Code or name of a rule, or id of a requirement.")]
    board: Annotated[Text | None, Field(description=BOARD)] = None
    profile: Annotated[Text | None, Field(description=f"{PROFILE} Needs a board.")] = None

    @property
    def is_json(self) -> bool:
        """Whether a board is named: a rule's page is text."""
        return self.board is not None

    def words(self, board: str) -> list[str]:
        """Return the command line of `explain`."""
        asked = [f"--board={board}", "--format=json"] if self.board is not None else []
        return ["explain", *asked, *_option("profile", self.profile), "--", self.code]


class NetsQuestion(ToolQuestion):
    """Which interface each net belongs to and why, power nets, and what is not understood; or all about one net."""

    NAME = "nets"
    board: Annotated[Text, Field(description=BOARD)]
    net: Annotated[Text | None, Field(description="All about this net: class, pair, link, route.")] = None
    profile: Annotated[Text | None, Field(description=PROFILE)] = None

    def words(self, board: str) -> list[str]:
        """Return the command line of `nets`."""
        return ["nets", "--format=json", *_option("explain", self.net), *_option("profile", self.profile), "--", board]


class ImpedanceQuestion(ToolQuestion):
    """Impedance and loss on a board's stackup: the width for each layer and target, or one trace by layer and width."""

    NAME = "impedance"
    board: Annotated[Text, Field(description=BOARD)]
    layer: Annotated[Text | None, Field(description="Copper layer, e.g. In2.Cu.")] = None
    width_mm: Annotated[Length | None, Field(description="Solve a trace of this width; needs layer.")] = None
    gap_mm: Annotated[Length | None, Field(description="Edge-to-edge gap of a differential pair.")] = None
    coplanar_gap_mm: Annotated[Length | None, Field(description="Gap to the coplanar ground on either side.")] = None
    target_diff_ohm: Annotated[Length | None, Field(description="Target differential impedance.")] = None
    target_se_ohm: Annotated[Length | None, Field(description="Target single-ended impedance.")] = None
    frequency_ghz: Annotated[float | None, Field(ge=0.001, le=110, description="Frequency for the loss.")] = None
    interface: Annotated[Text | None, Field(description="Use target and Nyquist frequency of, e.g., pcie5.")] = None

    def words(self, board: str) -> list[str]:
        """Return the command line of `impedance`."""
        asked = [
            *_option("layer", self.layer),
            *_option("width", self.width_mm),
            *_option("gap", self.gap_mm),
            *_option("coplanar-gap", self.coplanar_gap_mm),
            *_option("target-diff", self.target_diff_ohm),
            *_option("target-se", self.target_se_ohm),
            *_option("frequency", self.frequency_ghz),
            *_option("interface", self.interface),
        ]
        return ["impedance", "--format=json", *asked, "--", board]


class SuggestQuestion(ToolQuestion):
    """Suggest stackups that meet a workload's requirements: the smallest change of a board first, then new ones."""

    NAME = "suggest"
    board: Annotated[Text | None, Field(description=f"{BOARD} Without one, a stackup for the profile.")] = None
    profile: Annotated[Text | None, Field(description=PROFILE)] = None
    interfaces: Annotated[list[Text], Field(max_length=20, description="Interfaces on the board, e.g. pcie5.")] = []
    laminates: Annotated[list[Text], Field(max_length=20, description="Use only these laminates.")] = []
    layers: Annotated[int | None, Field(ge=1, le=128, description="Number of copper layers.")] = None
    thickness_mm: Annotated[Length | None, Field(description="Finished board thickness.")] = None
    limit: Annotated[int, Field(ge=1, le=20, description="Maximum number of stackups.")] = 3

    def words(self, board: str) -> list[str]:
        """Return the command line of `suggest`."""
        asked = [
            *_option("profile", self.profile),
            *(word for one in self.interfaces for word in _option("interface", one)),
            *(word for one in self.laminates for word in _option("laminate", one)),
            *_option("layers", self.layers),
            *_option("thickness-mm", self.thickness_mm),
            *_option("limit", self.limit),
        ]
        return ["suggest", "--format=json", *asked, *(["--", board] if self.board is not None else [])]


class MaterialsQuestion(ToolQuestion):
    """Look up a laminate or foil by the name entered in KiCad: Dk, Df, Tg, sources; without a name, all laminates."""

    NAME = "materials"
    name: Annotated[Text | None, Field(description="E.g. Megtron 7(N), R-5775(N) 2116, HVLP2.")] = None

    @property
    def is_json(self) -> bool:
        """What a name means is written as text only."""
        return False

    def words(self, board: str) -> list[str]:
        """Return the command line of `materials`."""
        return ["materials", *(["--", self.name] if self.name else [])]


class FabsQuestion(ToolQuestion):
    """Stackups that fabs offer by name: the fabs, the stackups that pass the filters, or the rows of one stackup."""

    NAME = "fabs"
    name: Annotated[Text | None, Field(description="Rows of this stackup, e.g. JLC06161H-3313.")] = None
    fab: Annotated[Text | None, Field(description="Only this fab, e.g. jlcpcb.")] = None
    layers: Annotated[int | None, Field(ge=1, le=128, description="Number of copper layers.")] = None
    thickness_mm: Annotated[Length | None, Field(description="Finished board thickness.")] = None
    copper_oz: Annotated[Text | None, Field(description="Copper weights, outer/inner, e.g. 1/0.5.")] = None

    def words(self, board: str) -> list[str]:
        """Return the command line of `fabs`."""
        asked = [
            *_option("fab", self.fab),
            *_option("layers", self.layers),
            *_option("thickness-mm", self.thickness_mm),
            *_option("copper", self.copper_oz),
        ]
        return ["fabs", "--format=json", *asked, *(["--", "show", self.name] if self.name else [])]


class BoardsQuestion(ToolQuestion):
    """List the boards in the folders that are served."""

    NAME = "boards"

    def words(self, board: str) -> list[str]:
        """Return nothing: no command answers it."""
        return []


def _option(name: str, value: float | str | None) -> list[str]:
    """Return an option in one word, so that a value never becomes an option of its own."""
    return [] if value is None else [f"--{name}={value}"]


def questions() -> dict[str, type[ToolQuestion]]:
    """Return the tools by name."""
    return {one.NAME: one for one in ToolQuestion.__subclasses__()}
