"""The field's words: neither what users read nor the code says a thing in private words.

Another place to look at is one line in `SOURCES`: `strings("plugin/stackwright")` for the string literals of a folder,
`pages("CHANGELOG.md")` or `pages("plugin/docs/*.md")` for text files.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from drc_rules.rules.rule import all_rules
from tests.support.banned_words import BANNED, WORDS
from tests.support.shipped_clauses import clauses

ROOT = Path(__file__).parents[2]
Texts = Iterator[tuple[str, str]]
"""Where a text stands, and the text."""


def rule_pages() -> Texts:
    """The page of every rule."""
    yield from ((f"{rule.code} page", rule.page) for rule in all_rules())


def formulas() -> Texts:
    """The words of every formula."""
    for rule in all_rules():
        if rule.formula is not None:
            yield f"{rule.code} formula", " ".join(symbol.meaning for symbol in rule.formula.symbols)


def case_texts() -> Texts:
    """Titles, reasons, fixes and missing facts, as the cases of the rules state them."""
    for path in sorted((ROOT / "fixtures" / "rules").glob("*/*.toml")):
        for number, case in enumerate(tomllib.loads(path.read_text(encoding="utf-8"))["case"], start=1):
            for field in ("finds", "titles", "says", "lacks"):
                yield from ((f"{path.stem}, case {number}, {field}", text) for text in case.get(field, ()))


def clause_titles() -> Texts:
    """What each clause requires."""
    yield from ((clause.id, clause.title) for clause in clauses())


def strings(folder: str) -> Callable[[], Texts]:
    """String literals of two words or more below a folder; docstrings are for developers."""

    def found() -> Texts:
        for path in sorted((ROOT / folder).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            for node in ast.walk(tree):
                if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in docs:
                    continue
                if " " in node.value.strip():
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", node.value

    return found


def pages(pattern: str) -> Callable[[], Texts]:
    """Text files, by a pattern below the repository."""
    return lambda: ((str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")) for path in ROOT.glob(pattern))


def guide() -> Texts:
    """The texts of the documentation without their code; the vocabulary itself names the words."""
    for where, text in pages("plugin/docs/pages/texts/**/*.md")():
        if not where.endswith("vocabulary.md"):
            yield where, re.sub(r"```(?:python|pycon|text).*?```", "", text, flags=re.DOTALL)


SOURCES: Mapping[str, Callable[[], Texts]] = {
    "rule pages": rule_pages,
    "formulas": formulas,
    "cases": case_texts,
    "clause titles": clause_titles,
    "drc_rules": strings("drc_rules"),
    "stackup_lib": strings("stackup_lib"),
    "stackwright": strings("plugin/stackwright"),
    "pages of reports": pages("plugin/stackwright/reporters/templates/*.html"),
    "README": pages("README.md"),
    "changelog": pages("CHANGELOG.md"),
    "contributing": pages("CONTRIBUTING.md"),
    "security": pages("SECURITY.md"),
    "guide": guide,
}

EXEMPT: frozenset[str] = frozenset(
    ("plies are the sheets of a core or prepreg; then the row states no figures of its own",)
)
"""Strings that are still to be reworded, or name a key of a file. It only shrinks: one that is gone leaves the list."""


def banned_in(source: Callable[[], Texts]) -> list[tuple[str, str, str]]:
    """Return where each banned word stands, the word, and the text."""
    return [(where, found.group(), text) for where, text in source() if (found := WORDS.search(text))]


@pytest.mark.parametrize("name", SOURCES)
def test_texts_use_the_words_of_the_field(name: str) -> None:
    """The vocabulary is in plugin/docs/pages/texts/vocabulary.md."""
    assert [(where, word) for where, word, text in banned_in(SOURCES[name]) if text not in EXEMPT] == []


def test_exemptions_only_shrink() -> None:
    """A string that was reworded is no longer exempt."""
    used = {text for source in SOURCES.values() for _, _, text in banned_in(source)}
    assert EXEMPT - used == set()


def test_a_banned_word_is_found_as_a_word_only() -> None:
    """Whatever its case, and not within another."""
    assert WORDS.search("Mend the row")
    assert WORDS.search("the Df beside In4.Cu")
    assert not WORDS.search("recommended, secure, heats, besides, prepreg plies")


# --- the code itself: comments, docstrings, names ---

PACKAGES = ("stackup_lib", "drc_rules", "plugin")

CODE_ONLY_WORDS = (r"meanwhile", r"unease", r"so many", r"in words", r"foreign", r"figures?")
"""Also banned in comments and docstrings."""

ALLOWED_IN_COMMENTS = (r"(?<!prepreg )plies", r"presses", r"lies (on|in|beside)", r"cures?", r"taken (for|as)")
"""A ply is a sheet and a field of the stackup, a fab presses, `cure` is a key of JSON v1; the rest is plain English."""

NOT_COMMENTS = re.compile(r"`[^`]*`|^\s+\w+(, \w+)*: |figure \d|(Return|as) a figure", re.MULTILINE)
"""Code, names of parameters, figures of documents, drawings."""

COMMENT_WORDS = re.compile(
    "|".join(rf"\b(?:{banned})\b" for banned in (*BANNED, *CODE_ONLY_WORDS) if banned not in ALLOWED_IN_COMMENTS),
    re.IGNORECASE,
)

BANNED_IN_NAMES = re.compile(
    r"beside|blends?|crossroads|dear(er)?|enders|foreign|forgiven|glued|greatest|heard|intended|intents|mates?|meanwhile"
    r"|mend(ed|s)?|nobody|partner|patience|rival|somebody|specimen|stranger|stretch(es)?|tray|unease|unflat|whoever|wish"
)
"""Words of names, in small letters."""

NAMES_OF_FORMATS = frozenset(
    ("forgiven_mm", "forgiven_up_to_mm", "greatest_by", "greatest_mm", "partner", "partner_mm", "size_is_greatest")
)
"""Keys of JSON v1 and of the TOML files of form factors, and what is assigned to them."""


def comments(source: str) -> Texts:
    """Comments and docstrings of a module with their lines."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield str(node.lineno), node.value.value
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield str(token.start[0]), token.string


def names(source: str) -> Texts:
    """Names that a module defines: classes, functions, parameters, variables and fields, with their lines."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield str(node.lineno), node.name
        elif isinstance(node, ast.arg):
            yield str(node.lineno), node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield str(node.lineno), node.id


@pytest.mark.parametrize("package", PACKAGES)
def test_comments_use_the_words_of_the_field(package: str) -> None:
    """Comments and docstrings, without the code that they quote."""
    found = [
        (f"{path.relative_to(ROOT)}:{line}", word.group())
        for path in sorted((ROOT / package).rglob("*.py"))
        for line, text in comments(path.read_text(encoding="utf-8"))
        if (word := COMMENT_WORDS.search(NOT_COMMENTS.sub("", text)))
    ]
    assert found == []


@pytest.mark.parametrize("package", PACKAGES)
def test_names_use_the_words_of_the_field(package: str) -> None:
    """Modules, and what they define; words are parted by underscores or capitals."""
    found = [
        (f"{path.relative_to(ROOT)}:{line}", name)
        for path in sorted((ROOT / package).rglob("*.py"))
        for line, name in (("0", path.stem), *names(path.read_text(encoding="utf-8")))
        if name not in NAMES_OF_FORMATS
        and any(BANNED_IN_NAMES.fullmatch(part.lower()) for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name))
    ]
    assert found == []
