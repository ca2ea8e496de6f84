"""Why there is no button in KiCad: looks from outside at KiCad's settings, the plugin and its environment.

KiCad makes the plugin's environment itself, and says nothing when that goes wrong. Nothing is changed here, and nothing
is read from the network.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from stackup_lib.core.files.plain_file import read_plain_text
from stackup_lib.core.record import record
from stackwright.kicad.live import PLUGIN
from stackwright.run.programs import command_line

ACTION = f"{PLUGIN}.check"
OLDEST_KICAD = 10
KICAD_APP = "/Applications/KiCad/KiCad.app"
PYTHONS = ((3, 11), (3, 14))
"""Oldest and newest Python for which every package that the plugin needs has a wheel; KiCad builds none."""

SHELL_FOLDERS = r"Software\Microsoft\Windows\CurrentVersion\Explorer\User Shell Folders"
PIP_SETTINGS = {"win32": r"C:\ProgramData\pip\pip.ini", "darwin": "/Library/Application Support/pip/pip.conf"}
"""pip's system-wide configuration where it is not /etc/pip.conf, by pip's manual."""

PROBE_S = 60
PACKAGES = ("kipy", "numpy", "scipy", "shapely", "pydantic", "jinja2", "sexpdata", "tomli", "tomlkit", "click", "rich")
OK, BAD, MIND = "ok", "bad", "mind"


@record
class InstallPlace:
    """Folders of one KiCad version of this user.

    Attributes:
        settings: e.g. `~/.config/kicad/10.0`.
        documents: plugins that the user put there or the Plugin and Content Manager did.
        cache: where environments are made.
    """

    version: tuple[int, int]
    settings: Path
    documents: Path
    cache: Path

    @property
    def environment(self) -> Path:
        """The plugin's environment."""
        return self.cache / "python-environments" / PLUGIN


@record
class DoctorAnswer:
    """One thing that was looked at.

    Attributes:
        state: `ok`, `bad`, or `mind` for what is only a hint.
        cure: what to do; empty where all is well.
    """

    state: str
    what: str
    cure: str = ""


def diagnose(environ: Mapping[str, str] | None = None, platform: str = sys.platform) -> list[DoctorAnswer]:
    """Return what was looked at, in the order in which a button comes to be; after a first fault, the rest waits."""
    env = os.environ if environ is None else environ
    place = newest(env, platform)
    if place is None:
        return [
            DoctorAnswer(BAD, "no settings of a KiCad were found for this user", "start KiCad 10 once, then come back")
        ]
    answers = [_kicad(place)]
    if answers[0].state == BAD:
        return answers
    answers += [_api(place), _plugin(place), _python(place, env, platform)]
    if not any(one.state == BAD for one in answers[2:]):
        answers.append(_environment(place, platform))
    return [*answers, *_hints(place, env, platform)]


def newest(env: Mapping[str, str], platform: str) -> InstallPlace | None:
    """Return the folders of the newest KiCad that has settings, None where there is none."""
    settings, documents, cache = _roots(env, platform)
    found = [
        (int(match[1]), int(match[2]))
        for folder in (settings.iterdir() if settings.is_dir() else ())
        if (match := re.fullmatch(r"(\d+)\.(\d+)", folder.name)) and folder.is_dir()
    ]
    if not found:
        return None
    version = max(found)
    name = f"{version[0]}.{version[1]}"
    return InstallPlace(version, settings / name, documents / name, cache / name)


def _roots(env: Mapping[str, str], platform: str) -> tuple[Path, Path, Path]:
    """KiCad's folders above those of a version: settings, documents, cache."""
    first, second = ("USERPROFILE", "HOME") if platform == "win32" else ("HOME", "USERPROFILE")  # Git for Windows' HOME
    home = Path(env.get(first) or env.get(second) or Path.home())
    name = "KiCad" if platform in ("win32", "darwin") else "kicad"
    if platform == "win32":
        roaming = Path(env.get("APPDATA") or home / "AppData" / "Roaming")
        local = Path(env.get("LOCALAPPDATA") or home / "AppData" / "Local")
        roots = (roaming / "kicad", _documents(home, env) / name, local / name)
    elif platform == "darwin":
        library = home / "Library"
        roots = (library / "Preferences" / "kicad", home / "Documents" / name, library / "Caches" / name)
    else:
        config = Path(env.get("XDG_CONFIG_HOME") or home / ".config")
        data = Path(env.get("XDG_DATA_HOME") or home / ".local" / "share")
        cache = Path(env.get("XDG_CACHE_HOME") or home / ".cache")
        roots = (config / "kicad", data / "kicad", cache / "kicad")
    settings = Path(env["KICAD_CONFIG_HOME"]) if env.get("KICAD_CONFIG_HOME") else roots[0]
    documents = Path(env["KICAD_DOCUMENTS_HOME"]) / name if env.get("KICAD_DOCUMENTS_HOME") else roots[1]
    caches = Path(env["KICAD_CACHE_HOME"]) / name if env.get("KICAD_CACHE_HOME") else roots[2]
    return settings, documents, caches


def _documents(home: Path, env: Mapping[str, str]) -> Path:
    """Windows' folder for documents, which OneDrive and companies put elsewhere."""
    stated = documents_stated()
    if stated is None:
        return home / "Documents"
    known = {**env, "USERPROFILE": str(home)}
    return Path(re.sub("%([^%]+)%", lambda found: known.get(found[1].upper(), found[0]), stated))


def documents_stated() -> str | None:
    """Return what Windows' registry says of the folder for documents; None on other systems."""
    if sys.platform != "win32":
        return None
    import winreg

    try:
        with winreg.OpenKey(winreg.HKEY_CURRENT_USER, SHELL_FOLDERS) as key:
            return str(winreg.QueryValueEx(key, "Personal")[0])
    except OSError:
        return None


def _kicad(place: InstallPlace) -> DoctorAnswer:
    name = f"KiCad {place.version[0]}.{place.version[1]}"
    if place.version[0] < OLDEST_KICAD:
        cure = f"install KiCad {OLDEST_KICAD}; until then, `stackwright check BOARD` needs no KiCad"
        return DoctorAnswer(BAD, f"{name} is the newest that was used here, which has no such buttons", cure)
    return DoctorAnswer(OK, f"{name}, settings in {place.settings}")


def _settings(place: InstallPlace, name: str) -> dict[str, object]:
    try:
        read = json.loads(read_plain_text(place.settings / name))
    except (OSError, ValueError):
        return {}
    return read if isinstance(read, dict) else {}


def _part(settings: Mapping[str, object], name: str) -> Mapping[str, object]:
    part = settings.get(name)
    return part if isinstance(part, dict) else {}


def _api(place: InstallPlace) -> DoctorAnswer:
    if _part(_settings(place, "kicad_common.json"), "api").get("enable_server") is True:
        return DoctorAnswer(OK, "KiCad's API is on")
    cure = "tick Preferences > Preferences > Plugins > Enable KiCad API, then start KiCad again"
    return DoctorAnswer(BAD, "KiCad's API is off: without it no plugin has a button", cure)


def _plugin(place: InstallPlace) -> DoctorAnswer:
    folder = plugin_folder(place)
    if folder is None:
        cure = "install it: Plugin and Content Manager > Install from File, with Stackwright's package"
        return DoctorAnswer(BAD, f"the plugin is not installed below {place.documents}", cure)
    if not (folder / "requirements.txt").is_file():
        return DoctorAnswer(
            BAD, f"{folder} has no requirements.txt: KiCad never makes it ready", "install the whole package"
        )
    shown = _part(_settings(place, "pcbnew.json"), "plugins").get("actions")
    for row in shown if isinstance(shown, list) else ():
        if isinstance(row, dict) and row.get(ACTION) is False:
            cure = "tick it in Preferences > PCB Editor > Plugins"
            return DoctorAnswer(BAD, "the button is switched off in the PCB editor", cure)
    return DoctorAnswer(OK, f"the plugin is in {folder}")


def plugin_folder(place: InstallPlace) -> Path | None:
    """Return where the plugin is installed, by hand or by the Plugin and Content Manager."""
    for root in (place.documents / "3rdparty" / "plugins", place.documents / "plugins"):
        for file in sorted(root.rglob("plugin.json")) if root.is_dir() else ():
            try:
                described = json.loads(read_plain_text(file))
            except (OSError, ValueError):
                continue
            if isinstance(described, dict) and described.get("identifier") == PLUGIN:
                return file.parent
    return None


def _brought_along(place: InstallPlace, env: Mapping[str, str], platform: str) -> str | None:
    """The Python that KiCad brings along, where KiCad is installed in its usual place."""
    version = f"{place.version[0]}.{place.version[1]}"
    programs = env.get("PROGRAMFILES") or r"C:\Program Files"
    usual = {
        "win32": Path(programs) / "KiCad" / version / "bin" / "python.exe",
        "darwin": Path(KICAD_APP) / "Contents/Frameworks/Python.framework/Versions/Current/bin/python3",
    }
    found = usual.get(platform)
    return str(found) if found is not None and found.is_file() else None


def _python(place: InstallPlace, env: Mapping[str, str], platform: str) -> DoctorAnswer:
    """Look at the interpreter of which KiCad makes environments."""
    given = _part(_settings(place, "kicad_common.json"), "api").get("interpreter_path")
    if not isinstance(given, str) or not given:
        own = _brought_along(place, env, platform)
        if own is None and platform in ("win32", "darwin"):
            return DoctorAnswer(OK, "KiCad uses the Python that it brings along")
        given = own or "/usr/bin/python3"
    cure = "choose another one in Preferences > Plugins > Python interpreter"
    version = _said([given, "-c", "import sys; print(*sys.version_info[:2])"])
    if version is None:
        return DoctorAnswer(BAD, f"{given}, with which KiCad makes environments, does not run", cure)
    found = tuple(int(part) for part in version.split()[:2])
    if not PYTHONS[0] <= found <= PYTHONS[1]:
        between = " to ".join(f"{major}.{minor}" for major, minor in PYTHONS)
        what = f"{given} is Python {found[0]}.{found[1]}; the packages are there for {between}"
        return DoctorAnswer(BAD, what, cure)
    if _said([given, "-c", "import venv, ensurepip; print(1)"]) is None:
        cure = f"install python3-venv, delete {place.environment}, and start KiCad again"
        return DoctorAnswer(BAD, f"{given} cannot make environments: its venv module is not installed", cure)
    return DoctorAnswer(OK, f"{given} is Python {found[0]}.{found[1]}")


def _environment(place: InstallPlace, platform: str) -> DoctorAnswer:
    folder = place.environment
    again = f"be online, delete {folder}, start KiCad again, open the PCB editor and wait a minute or two"
    if not folder.is_dir():
        cure = "be online, start KiCad, open the PCB editor and wait a minute or two"
        return DoctorAnswer(BAD, "KiCad has not made the plugin's environment yet", cure)
    python = folder / _python_in(platform)
    if _said([str(python), "-c", "import pip; print(1)"]) is None:
        return DoctorAnswer(BAD, f"the environment {folder} is half made: it has no pip", again)
    wanted = "; ".join(f"print({name!r}) if f({name!r}) is None else 0" for name in PACKAGES)
    missing = _said([str(python), "-c", f"from importlib.util import find_spec as f; {wanted}"])
    if missing is None:
        return DoctorAnswer(BAD, f"the environment {folder} is broken: its Python does not run", again)
    if missing:
        names = ", ".join(missing.split())
        return DoctorAnswer(BAD, f"packages are missing in the environment ({names}): pip could not fetch them", again)
    broken = _said([str(python), "-c", "import kipy, numpy, pydantic; print(1)"])
    if broken is None:
        return DoctorAnswer(BAD, "the environment's packages cannot be loaded", again)
    return DoctorAnswer(OK, "the plugin's environment is complete")


def _python_in(platform: str) -> str:
    """An environment's Python, from the environment's folder."""
    return "Scripts/python.exe" if platform == "win32" else "bin/python"


def _hints(place: InstallPlace, env: Mapping[str, str], platform: str) -> Iterator[DoctorAnswer]:
    if any(env.get(name) for name in ("HTTPS_PROXY", "https_proxy", "PIP_INDEX_URL", "PIP_CONFIG_FILE")):
        pip_settings = PIP_SETTINGS.get(platform, "/etc/pip.conf")
        what = "you have a proxy or a package index set in the environment: KiCad's pip does not see it"
        yield DoctorAnswer(MIND, what, f"state it in pip's system-wide configuration ({pip_settings})")
    folder = plugin_folder(place)
    if folder is not None and place.environment.is_dir():
        python, wanted = str(place.environment / _python_in(platform)), str(folder / "requirements.txt")
        words = [python, "-m", "pip", "install", "--only-binary", ":all:", "-r", wanted]
        yield DoctorAnswer(MIND, "to see what pip says, which KiCad does not show", command_line(words, platform))


def _said(command: list[str]) -> str | None:
    """Return what a program prints; None where it cannot be run or fails."""
    try:
        run = subprocess.run(  # noqa: S603 - KiCad's own choice of an interpreter, no shell
            command, capture_output=True, timeout=PROBE_S, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return run.stdout.decode("utf-8", "replace").strip() if run.returncode == 0 else None
