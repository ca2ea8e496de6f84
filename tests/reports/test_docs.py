"""The documentation builds without a warning from what the program holds, and every link within it leads somewhere."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from docs.pages import write_pages
from docs.pages.markdown import Page, prose, table
from docs.pages.requirement_rows import requirement_rows, rows_of
from drc_rules.requirements.documents import documents
from drc_rules.requirements.forms import forms
from drc_rules.requirements.interfaces import interface_ids
from drc_rules.requirements.profiles.profile import profile_names
from drc_rules.requirements.profiles.shipped import shipped_clauses
from drc_rules.rules.rule import all_rules
from stackup_lib.materials import catalogue
from tests.browser.axe import PACKAGE, axe_source, violations
from tests.browser.driven import Tab, driven

NEEDED = ("sphinx", "furo", "myst_parser")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(importlib.util.find_spec(name) for name in NEEDED), reason="the docs extra is not installed"
    ),
]

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "plugin" / "docs"
LOOKED_AT = (
    "index.html",
    "guide/tutorial.html",
    "guide/gallery.html",
    "guide/glossary.html",
    "rules/MAT001.html",
    "clauses/index.html",
    "clauses/training.df.nvlink5.html",
    "profiles/training-b200.html",
    "interfaces/pcie.html",
    "fabs/index.html",
    "documents/index.html",
    "settings/index.html",
    "commands/check.html",
    "formats/report-v1.html",
    "validation/index.html",
    "validation/reference.html",
)


LOOKED_AT_IN_DARK = (
    "index.html",
    "guide/gallery.html",
    "rules/MAT001.html",
    "commands/check.html",
    "validation/index.html",
)
"""Pages with figures, tables, code and notes: the others have no other colours."""


@dataclass
class Read(HTMLParser):
    """What a page links to, what it fetches to be shown, which anchors it has, and its words."""

    links: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    words: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Sort a tag's addresses."""
        given = dict(attrs)
        self.anchors.add(given.get("id") or "")
        if tag == "a":
            self.anchors.add(given.get("name") or "")
            self.links.append(given.get("href") or "#")
        elif tag in ("img", "script", "source", "iframe"):
            self.fetched.append(given.get("src") or "")
        elif tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload"):
            self.fetched.append(given.get("href") or "")

    def handle_data(self, data: str) -> None:
        """Keep the words."""
        self.words.append(data)

    @property
    def text(self) -> str:
        """All words with single spaces."""
        return " ".join(" ".join(self.words).split())


@dataclass(frozen=True)
class Site:
    """The built pages, by path below their folder."""

    folder: Path
    pages: dict[str, Read]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """All pages, built once, warnings as errors; written by hand is copied, so that nothing stays behind."""
    work = tmp_path_factory.mktemp("docs")
    source, built = work / "source", work / "built"
    source.mkdir()
    for page in SOURCE.glob("*.md"):
        shutil.copy(page, source)
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-n",
        "-W",
        "--keep-going",
        "-c",
        *map(str, (SOURCE, source, built)),
    ]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, cwd=work)
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stderr == ""
    return Site(built, {path.relative_to(built).as_posix(): _read(path) for path in built.rglob("*.html")})


def _read(path: Path) -> Read:
    read = Read()
    read.feed(path.read_text(encoding="utf-8"))
    return read


@pytest.mark.slow
def test_every_rule_clause_profile_and_form_has_a_page(site: Site) -> None:
    """What the program can explain, the documentation has a page for."""
    wanted = {f"rules/{rule.code}.html" for rule in all_rules()}
    wanted |= {f"clauses/{shipped.clause.id}.html" for shipped in shipped_clauses()}
    wanted |= {f"profiles/{name}.html" for name in (*profile_names(), "board")}
    wanted |= {f"forms/{name}.html" for name in forms()}
    assert wanted - set(site.pages) == set()


def test_a_rules_page_says_what_the_program_says(site: Site) -> None:
    """Summary, sections and deciding clauses of each rule stand on its page, word for word."""
    for rule in all_rules():
        said = site.pages[f"rules/{rule.code}.html"].text
        for part in (rule.summary, rule.section("How to fix")):
            plain = re.sub(r"[\s`]+", "", part)
            assert plain in re.sub(r"\s+", "", said), rule.code


def test_a_clauses_page_names_document_and_rule(site: Site) -> None:
    """Each clause's page links the rule that decides it and the section of the document that it stands in."""
    for shipped in shipped_clauses():
        clause = shipped.clause
        links = site.pages[f"clauses/{clause.id}.html"].links
        decider = next(rule for rule in all_rules() if clause.kind in rule.kinds)
        assert f"../rules/{decider.code}.html" in links
        if clause.source.document in documents():
            assert f"../documents/index.html#document-{clause.source.document}" in links


def test_all_interfaces_and_documents_are_told(site: Site) -> None:
    """No interface and no document is left out of its table."""
    interfaces, told = site.pages["interfaces/index.html"].text, site.pages["documents/index.html"].text
    assert [one for one in interface_ids() if one not in interfaces.split()] == []
    assert [key for key in documents() if key not in told.split()] == []


def test_the_requirements_are_mapped_both_ways(site: Site) -> None:
    """Every row stands on the page, with its clauses; a clause's page leads back to its rows."""
    there = site.pages["requirements/index.html"]
    for key, row in requirement_rows().items():
        assert f"requirement-{key.replace('.', '-').lower()}" in there.anchors, key
        assert f"{key} {row.title}" in there.text, key
    for clause_id in {shipped.clause.id for shipped in shipped_clauses()}:
        assert f"../clauses/{clause_id}.html" in there.links, clause_id
        back = site.pages[f"clauses/{clause_id}.html"].links
        for key in rows_of(clause_id):
            assert f"../requirements/index.html#requirement-{key.replace('.', '-').lower()}" in back, clause_id


def test_every_source_stands_with_its_grade(site: Site) -> None:
    """Documents of clauses by how far they are trusted, data sheets of the catalogue by how they were read."""
    told = site.pages["documents/index.html"].text
    for document in documents().values():
        assert (
            f"{plain_words(document.title)} {plain_words(document.publisher)} {document.trust.value}".replace("  ", " ")
            in told
        ), document.title
    for laminate in catalogue().laminates:
        for point in laminate.points:
            assert point.source.text in told, laminate.family


def plain_words(text: str) -> str:
    """Words as a page shows them: code without its backticks."""
    return " ".join(text.replace("`", "").split())


@pytest.mark.slow
def test_every_link_within_the_pages_leads_somewhere(site: Site) -> None:
    """Files exist, and so do the anchors in them."""
    dead = []
    for name, page in site.pages.items():
        for address in (*page.links, *page.fetched):
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (site.folder / name).parent / unquote(parts.path) if parts.path else site.folder / name
            if not target.is_file():
                dead.append((name, address))
            elif parts.fragment and target.suffix == ".html":
                there = target.resolve().relative_to(site.folder.resolve()).as_posix()
                if unquote(parts.fragment) not in site.pages[there].anchors:
                    dead.append((name, address))
    assert dead == []


@pytest.mark.slow
def test_every_page_is_reached_from_the_first(site: Site) -> None:
    """Nothing is written that cannot be found."""
    reached, open_ = {"index.html"}, ["index.html"]
    while open_:
        name = open_.pop()
        for address in site.pages[name].links:
            parts = urlsplit(address)
            if parts.scheme or not parts.path.endswith(".html"):
                continue
            target = ((site.folder / name).parent / unquote(parts.path)).resolve()
            there = target.relative_to(site.folder.resolve()).as_posix()
            if there not in reached:
                reached.add(there)
                open_.append(there)
    assert set(site.pages) - reached <= {"genindex.html", "search.html"}


def test_links_to_the_web_are_well_formed(site: Site) -> None:
    """Whether a server answers there is not tested: tests use no network."""
    addresses = {a for page in site.pages.values() for a in page.links if urlsplit(a).scheme or urlsplit(a).netloc}
    assert {document.url for document in documents().values() if document.url} <= addresses
    for address in addresses:
        parts = urlsplit(address)
        assert parts.scheme in ("http", "https"), address
        assert re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+", parts.netloc), address
        assert not re.search(r"[\s<>\"{}|\\^`]", address), address


def test_the_pages_fetch_nothing_from_the_web(site: Site) -> None:
    """Reading the documentation sends nothing."""
    fetched = {address for page in site.pages.values() for address in page.fetched}
    assert fetched
    assert [a for a in fetched if urlsplit(a).scheme not in ("", "data") or urlsplit(a).netloc] == []


def test_validation_draws_every_value_with_its_bar(site: Site) -> None:
    """As many dots as figures that were solved, each with an error bar, and a table beneath every chart."""
    text = (site.folder / "validation" / "index.html").read_text(encoding="utf-8")
    figures = re.findall(r'<figure class="chart.*?</figure>', text, re.DOTALL)
    assert len(figures) >= 8
    assert text.count("<details>") >= len(figures)
    for figure in figures:
        dots = figure.count("<circle")
        assert dots
        assert figure.count('class="bar"') == dots
        assert "nan" not in figure
        assert "<p>" not in figure  # Markdown would have taken a part of the drawing for words
    exact = next(figure for figure in figures if "exact solutions" in figure)
    assert exact.count("<circle") == 196


@pytest.mark.slow
@pytest.mark.browser
def test_the_pages_are_accessible(site: Site, tmp_path: Path) -> None:
    """One page of each kind, some in dark, too: nothing that axe-core calls grave, and an empty console."""
    if axe_source() is None:
        pytest.skip(f"no {PACKAGE} to be had: npm is missing, or has no network")
    with driven(tmp_path) as tab:
        for name in LOOKED_AT:
            opened(tab, site.folder / name)
        assert tab.console == []  # before axe-core fetches style sheets, which a page without a server may not
        for scheme in ("light", "dark"):  # which differ in colours only
            tab.prefer(scheme)
            for name in LOOKED_AT if scheme == "light" else LOOKED_AT_IN_DARK:
                opened(tab, site.folder / name)
                assert [str(one) for one in violations(tab, only_colours=scheme == "dark") if one.is_grave] == [], name


def opened(tab: Tab, path: Path) -> None:
    """Open a page and wait until all of it is there."""
    tab.open(path.as_uri())
    tab.wait_for("document.readyState === 'complete'")


@pytest.mark.parametrize(
    "text",
    [
        "a `[[rail]]` table, [fab] and [a](b.md)",
        "*not* _slanted_, **not** __bold__, ~~not~~ struck, ^up^ and $x$",
        "<b> & &amp; {role}`code` # 1 | 2 \\ 3",
        "wildcards: /PCIE* and /NVLINK*, net_classes, 5 > 3 < 7",
    ],
)
def test_words_of_docstrings_and_data_mean_themselves(text: str) -> None:
    """Only code in backticks is markup; a table's cell keeps its bars."""
    from markdown_it import MarkdownIt

    plain = re.sub("[` ]", "", text)
    read = Read()
    read.feed(MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(prose(text)))
    assert read.text.replace(" ", "") == plain
    cells = Read()
    cells.feed(MarkdownIt("commonmark").enable("table").render(table(("first", "second"), [(prose(text), "last")])))
    assert cells.text.replace(" ", "") == f"firstsecond{plain}last"


def test_pages_of_former_times_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that is gone leaves no page behind; what is written by hand stays, and what is the same is not touched."""
    now = [Page("rules/NEW001", "new\n"), Page("rules/SAME001", "same\n")]
    monkeypatch.setattr("docs.pages.all_pages", lambda: iter(now))
    for name in ("rules/OLD001", "rules/SAME001", "index", "pages/notes"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.md").write_text("same\n", encoding="utf-8")
    os.utime(tmp_path / "rules" / "SAME001.md", (1, 1))

    write_pages(tmp_path)

    left = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.md")}
    assert left == {"index.md", "pages/notes.md", "rules/NEW001.md", "rules/SAME001.md"}
    assert (tmp_path / "rules" / "SAME001.md").stat().st_mtime == 1


def test_two_pages_of_one_name_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One would silently take the other's place; and a page next to the index might be a user's own."""
    for names in (("rules/A", "rules/A"), ("alone",)):
        monkeypatch.setattr("docs.pages.all_pages", lambda names=names: (Page(name, "") for name in names))
        with pytest.raises(ValueError, match="written twice, or outside"):
            write_pages(tmp_path)


@pytest.mark.slow
def test_wrong_pages_are_told(tmp_path: Path) -> None:
    """A broken link fails the build: the check of the pages can fail."""
    (tmp_path / "index.md").write_text("# Wrong\n\n[nowhere](nowhere.md)\n", encoding="utf-8")
    (tmp_path / "conf.py").write_text("extensions = ['myst_parser']\n", encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-q", "-n", "-W", str(tmp_path), str(tmp_path / "built")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "nowhere" in done.stderr
