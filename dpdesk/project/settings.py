"""What the program remembers for its user: versioned, migrated, never a reason not to start."""

from __future__ import annotations

import importlib
import json
import os
import platform
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from dpdesk.core.errors import StorageError
from dpdesk.core.language import languages
from dpdesk.core.messages import msg
from dpdesk.core.shapes import read_json
from dpdesk.core.systems import open_plain
from dpdesk.io.workspace import SMALL_PARTIAL

# Who sits at this computer, and what it is called: for locks and the audit log.
#
# Names come from the system's own list of users where there is one; environment variables, which
# anybody can set, are the last resort. Neither proves anything: signatures do.


def user_name() -> str:
    """The name of the user of this process, or a number where there is no name."""
    try:
        return str(importlib.import_module("pwd").getpwuid(os.getuid()).pw_name)
    except (ImportError, KeyError, AttributeError):
        pass
    try:
        return os.getlogin()
    except OSError:
        return os.environ.get("USERNAME") or msg(
            "user {getattr}", getattr=getattr(os, "getuid", lambda: 0)()
        )


def host_name() -> str:
    """The name of this computer."""
    return platform.node() or "this computer"


def acting_user() -> str:
    """User and computer as the audit log names them: ``name@computer``."""
    return f"{user_name()}@{host_name()}"


SETTINGS_VERSION = 1
RECENT_AT_MOST = 10
THEMES = ("system", "light", "dark")
SYSTEM_LANGUAGE = "system"
TEXT_SIZES = (75, 300)
_FILE = "settings.json"

Plain = dict[str, object]
Migration = Callable[[Plain], Plain]


@dataclass(frozen=True)
class Settings:
    """Settings of one user.

    ``theme`` is one of :data:`THEMES`; ``text_size`` is in percent; ``geometry`` and ``layout`` are
    texts that only the window reads; ``recent`` lists the files opened last, newest first.
    ``language`` is that of the window: ``system``, or one of
    :func:`dpdesk.core.language.languages`.
    """

    theme: str = "system"
    text_size: int = 100
    geometry: str = ""
    layout: str = ""
    recent: tuple[str, ...] = ()
    last_folder: str = ""
    language: str = SYSTEM_LANGUAGE


# Migration n turns the plain values of version n into those of version n + 1.
MIGRATIONS: Mapping[int, Migration] = {}


@dataclass(frozen=True)
class LoadedSettings:
    """Settings, and a sentence when the file could not be used and was set aside."""

    settings: Settings
    problem: str = ""


def load_settings(
    home: Path,
    version: int = SETTINGS_VERSION,
    migrations: Mapping[int, Migration] = MIGRATIONS,
) -> LoadedSettings:
    """Read the settings below ``home``; whatever is wrong with them, the program gets some.

    A file that cannot be understood (damaged, of a newer version, not to be migrated) is copied
    aside under another name first, so that nothing of it is lost.
    """
    path = home / _FILE
    try:
        with open_plain(path) as file:
            text = file.read().decode("utf-8")
    except FileNotFoundError:
        return LoadedSettings(Settings())
    except (OSError, UnicodeDecodeError):
        return _set_aside(path)
    try:
        return LoadedSettings(_from_plain(_migrated(read_json(text), version, migrations)))
    except (ValueError, TypeError, KeyError):
        return _set_aside(path)


def save_settings(settings: Settings, home: Path) -> None:
    """Write the settings below ``home``: whole or not at all. Raises StorageError."""
    plain: Plain = {"version": SETTINGS_VERSION}
    plain |= {item.name: getattr(settings, item.name) for item in fields(settings)}
    path = home / _FILE
    partial = home / f".{_FILE}.{secrets.token_hex(4)}{SMALL_PARTIAL}"
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            with partial.open("w", encoding="utf-8") as file:
                json.dump(plain, file, indent=2, ensure_ascii=False)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(
            "settings.not-saved",
            msg(
                "The settings could not be saved in {path}: {reason}.",
                path=path,
                reason=error.strerror or error,
            ),
        ) from error


def _migrated(raw: object, version: int, migrations: Mapping[int, Migration]) -> Plain:
    if not isinstance(raw, dict):
        raise TypeError("settings are not a table")
    found = raw.get("version")
    if not isinstance(found, int) or isinstance(found, bool) or not 1 <= found <= version:
        raise ValueError("unknown version")
    plain = {str(key): value for key, value in raw.items() if key != "version"}
    for step in range(found, version):
        plain = migrations[step](plain)
    return plain


def _from_plain(raw: Plain) -> Settings:
    """Settings from plain values; a value that makes no sense is replaced by its default."""
    default = Settings()
    recent = raw.get("recent")
    items = recent if isinstance(recent, list) else []
    return Settings(
        theme=_one_of(raw.get("theme"), THEMES, default.theme),
        text_size=_within(raw.get("text_size"), TEXT_SIZES, default.text_size),
        geometry=_text(raw.get("geometry")),
        layout=_text(raw.get("layout")),
        recent=tuple(item for item in items if isinstance(item, str))[:RECENT_AT_MOST],
        last_folder=_text(raw.get("last_folder")),
        language=_one_of(raw.get("language"), (SYSTEM_LANGUAGE, *languages()), default.language),
    )


def _one_of(raw: object, known: tuple[str, ...], default: str) -> str:
    return raw if isinstance(raw, str) and raw in known else default


def _within(raw: object, ends: tuple[int, int], default: int) -> int:
    if not isinstance(raw, int) or isinstance(raw, bool) or not ends[0] <= raw <= ends[1]:
        return default
    return raw


def _text(raw: object) -> str:
    return raw if isinstance(raw, str) else ""


def _set_aside(path: Path) -> LoadedSettings:
    aside = path.with_name(f"settings.unreadable-{secrets.token_hex(4)}.json")
    try:
        path.replace(aside)
    except OSError:
        return LoadedSettings(
            Settings(),
            msg("The settings in {path} could not be read; defaults are used.", path=path),
        )
    return LoadedSettings(
        Settings(),
        msg(
            "The settings could not be read; defaults are used, the old file is kept as {name}.",
            name=aside.name,
        ),
    )
