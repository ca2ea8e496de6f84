"""Which files the settings of a board name, at first and at second hand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from drc_rules.settings.named_files import MOST_PROFILES, named_by_profile, named_by_settings


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def named(settings: Path) -> list[str]:
    return [file.place.relative_to(settings.parents[1]).as_posix() for file in named_by_settings(settings)]


def test_models_and_profiles_are_named_each_once(tmp_path: Path) -> None:
    """Paths are meant from the file that has them; what is not there is named all the same."""
    put(tmp_path / "profiles" / "house.toml", 'extends = ["training", "base/all.toml", "gone.toml"]\n')
    put(tmp_path / "profiles" / "base" / "all.toml", 'extends = ["../house.toml"]\n')
    settings = put(
        tmp_path / "card" / "stackwright.toml",
        'profile = "../profiles/house.toml"\n'
        '[[part_model]]\nparts = ["C1"]\nfile = "models/c1.s2p"\n'
        '[[part_model]]\nparts = ["C2"]\nfile = "models/c1.s2p"\n'
        '[[part_model]]\nparts = ["C3"]\nfile = "../lib/c3.lib"\n',
    )
    wanted = ["lib/c3.lib", "card/models/c1.s2p", "profiles/house.toml", "profiles/base/all.toml", "profiles/gone.toml"]
    assert sorted(named(settings)) == sorted(wanted)


@pytest.mark.parametrize(
    "text",
    [
        "",
        'profile = "training-b200"\n',
        "profile = 7\npart_model = 3\n",
        'part_model = [1, {file = 2}, {file = ""}, {file = "a\\u0000b"}]\nprofile = "a\\u0000.toml"\n',
        "not TOML",
        "\udcff",
    ],
)
def test_settings_that_name_nothing_or_make_no_sense_name_nothing(tmp_path: Path, text: str) -> None:
    """To complain is the check's part."""
    settings = tmp_path / "card" / "stackwright.toml"
    settings.parent.mkdir()
    settings.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert named(settings) == []
    assert named(tmp_path / "none" / "stackwright.toml") == []


def test_profiles_without_end_come_to_an_end(tmp_path: Path) -> None:
    """Two that rest on each other; one that names more than anyone would."""
    settings = put(tmp_path / "card" / "stackwright.toml", 'profile = "a.toml"\n')
    put(tmp_path / "card" / "a.toml", 'extends = ["b.toml"]\n')
    put(tmp_path / "card" / "b.toml", 'extends = ["a.toml"]\n')
    assert named(settings) == ["card/a.toml", "card/b.toml"]
    many = ", ".join(f'"{k}.toml"' for k in range(MOST_PROFILES + 5))
    put(tmp_path / "card" / "a.toml", f"extends = [{many}]\n")
    assert len(named(settings)) == MOST_PROFILES


def test_a_profile_of_the_command_line_is_meant_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "house.toml", 'extends = ["base/all.toml"]\n')
    monkeypatch.chdir(tmp_path)
    assert [file.place.name for file in named_by_profile("house.toml")] == ["house.toml", "all.toml"]
    assert list(named_by_profile("training-b200")) == []


@pytest.mark.skipif(os.name != "posix", reason="makes links")
def test_behind_a_link_paths_are_meant_from_where_it_leads(tmp_path: Path) -> None:
    """As the check reads profiles; the settings themselves are meant from the board's folder."""
    put(tmp_path / "far" / "house.toml", 'extends = ["all.toml"]\n')
    put(tmp_path / "far" / "card.toml", 'profile = "house.toml"\n')
    folder = tmp_path / "card"
    folder.mkdir()
    (folder / "house.toml").symlink_to("../far/house.toml")
    (folder / "stackwright.toml").symlink_to("../far/card.toml")
    house, base = named_by_settings(folder / "stackwright.toml")
    real = tmp_path.resolve()
    assert (house.place, house.real) == (folder / "house.toml", real / "far" / "house.toml")
    assert (base.place, base.real) == (folder / "all.toml", real / "far" / "all.toml")
