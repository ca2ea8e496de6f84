"""Names as KiCad shows them, by its `UnescapeString` (KiCad 10), and nothing that could harm what is pasted."""

from __future__ import annotations

import pytest

from stackup_lib.core.kicad_text import as_kicad_shows, with_slashes


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("/USB/SDI{slash}out0", "/USB/SDI/out0"),
        ("~{crst}{slash}out2", "~{crst}/out2"),
        ("unconnected-(IC3-~{SUSPEND{slash}}RI-Pad1)", "unconnected-(IC3-~{SUSPEND/}RI-Pad1)"),
        ("A{space}B{lt}C{gt}D{backslash}E{colon}F{comma}G{bar}H", "A B<C>D\\E:F,G|H"),
        ("{dblquote}a{dblquote} {quote}b{quote} {dollar}c {brace}d", "\"a\" 'b' $c {d"),
        ("~{slash}", "~{slash}"),
        ("V_{slash}", "V_{slash}"),
        ("x^{slash}", "x^{slash}"),
        ("${slash}", "${slash}"),
        ("{{slash}}", "{/}"),
        ("{slash", "{slash"),
        ("{Slash}", "{Slash}"),
        ("/I2C_{CAM}.SDA", "/I2C_{CAM}.SDA"),
        ("", ""),
    ],
)
def test_tokens_read_as_kicad_shows_them(stored: str, shown: str) -> None:
    assert as_kicad_shows(stored) == shown


def test_only_slashes_are_shown_in_text_that_may_be_pasted() -> None:
    """A quote out of a name would end the string of a TOML line, or of a shell's word."""
    assert with_slashes("A{slash}B ~{slash} {dblquote}{quote}{bar}") == "A/B ~{slash} {dblquote}{quote}{bar}"
