"""What lies in a release folder, and whether it is what the manifest and the seal say.

Nothing here raises because of what a folder holds: whatever is changed, missing, unparsable or
unexpected becomes a :class:`~dpdesk.core.release.Failure`.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TypeVar

from dpdesk.core.capabilities import Capabilities, Content
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.release import (
    NO_EVIDENCE,
    NO_MANIFEST,
    Evidence,
    Failure,
    ListedFile,
    Manifest,
    ReleaseFacts,
)
from dpdesk.core.shapes import Shape, ShapeError
from dpdesk.io.canonical import UnreadableJsonError, canonical_json, read_canonical
from dpdesk.io.release_folder import (
    ABOUT,
    EVIDENCE,
    FORMAT,
    INTERNAL,
    MANIFEST,
    MICRODATA,
    PRINTED,
    PUBLIC,
    REVIEW,
    SEAL,
    SEALED_INTERNAL,
    TABLE,
    TABLES,
    commitment,
    fixed_files,
    optional_files,
    tables_folders,
)
from dpdesk.io.safewrite import hash_file

_HEX = re.compile(r"[0-9a-f]{64}")
_LARGEST_COUNT = 2**63
_TABLE_NAME = re.compile(r"[A-Za-z0-9_%-][A-Za-z0-9_%.-]{0,240}\.csv")
_Shape = TypeVar("_Shape", bound=Shape)
_VERSION = re.compile(r"[0-9][0-9A-Za-z.+-]{0,59}")
_MISSING, _LINK = "is missing", "is a link, expected a folder"
_WRONG_KIND = "is a link, a folder or a device, expected a file"
CLOCKS_DIFFER = timedelta(seconds=300)
"""How far the clock of the computer that made a release may be ahead of this one's."""
LARGEST_INTERNAL = 1 << 30
"""The most bytes of a file of the internal part: reports hold no rows."""


@dataclass
class ReleaseFiles:
    """What was found in a release folder; ``internal`` is None for a public part alone.

    ``manifest`` and ``recorded`` are None when they are missing or unreadable; ``evidence`` is the
    latter as it stands in its file. ``unread`` are files
    far larger than they are said to be: nothing of them may be read.
    """

    root: Path
    public: Path
    internal: Path | None
    manifest: Manifest | None = None
    evidence: dict[str, object] | None = None
    recorded: Evidence | None = None
    failures: list[Failure] = field(default_factory=list)
    sealed: bool = False
    unread: set[Path] = field(default_factory=set)

    def fail(self, path: Path, reason: str) -> None:
        """Note what is wrong with a file, once."""
        failure = Failure(_shown(path.relative_to(self.root).as_posix()), reason)
        if failure not in self.failures:
            self.failures.append(failure)

    def facts(self) -> ReleaseFacts:
        """Manifest and evidence as values; empty where they could not be read."""
        return ReleaseFacts(
            self.public,
            self.internal,
            self.manifest or NO_MANIFEST,
            self.recorded or NO_EVIDENCE,
        )


def locate(path: Path) -> ReleaseFiles:
    """Which folder is meant: a release folder, or its public part alone.

    Raises InputError ``release.missing`` when there is no such folder.
    """
    if not path.is_dir():
        there = path.exists()
        words = "{path}: is a file, expected a release folder or its public part."
        gone = "{path}: does not exist, expected a release folder or its public part."
        raise InputError("release.missing", msg(words if there else gone, path=path))
    if any(os.path.lexists(path / name) for name in (PUBLIC, INTERNAL)):
        return ReleaseFiles(path, path / PUBLIC, path / INTERNAL)
    return ReleaseFiles(path, path, None)


def check_files(
    path: Path,
    known: Callable[[str], Capabilities],
    token: CancelToken,
    *,
    reviewed: bool = False,
) -> ReleaseFiles:
    """Check names, kinds, hashes, seal and commitment of a release folder.

    ``known`` tells what a method says of itself, by its id: with it, which files there may be;
    it may raise InputError for an id that is not known. With ``reviewed`` there may be a review,
    which its own signatures cover and others check.

    Raises InputError ``release.missing`` when there is no such folder, and Cancelled.
    """
    found = locate(path)
    if found.internal is None:
        _check_public(found, known, token)
        return found
    _names(found, path, folders={PUBLIC, INTERNAL})
    if _is_folder(found.public):
        _check_public(found, known, token)
    if _is_folder(found.internal):
        _check_internal(found, _kept_tables(found, known), token, reviewed)
    return found


def read_release(path: Path) -> ReleaseFacts:
    """What a release says of itself, unchecked.

    Raises InputError ``release.missing`` when there is no such folder, ``release.unreadable`` when
    its manifest (or the evidence of a whole release) cannot be read.
    """
    found = _read_parts(path)
    if found.failures:
        failure = found.failures[0]
        raise InputError(
            "release.unreadable",
            msg("{path}: {reason}.", path=path / failure.path, reason=failure.reason),
        )
    return found.facts()


def read_what_there_is(path: Path) -> ReleaseFacts:
    """What a release says of itself, unchecked; empty where it cannot be read.

    Raises InputError ``release.missing`` when there is no such folder.
    """
    return _read_parts(path).facts()


def _read_parts(path: Path) -> ReleaseFiles:
    found = locate(path)
    found.manifest = _read_shape(found, found.public / MANIFEST, Manifest)
    if found.internal is not None:
        _read_evidence(found, found.internal / EVIDENCE)
    return found


def _check_public(
    found: ReleaseFiles, known: Callable[[str], Capabilities], token: CancelToken
) -> None:
    manifest = _read_shape(found, found.public / MANIFEST, Manifest)
    if manifest is None:
        _names(found, found.public, files={MANIFEST, MICRODATA, ABOUT})
        return
    found.manifest = _check_manifest(found, manifest)
    listed = manifest.files
    try:
        about = known(manifest.method)
    except InputError as error:
        found.fail(found.public / MANIFEST, error.sentence)
        return
    folders = tables_folders(about, listed)
    if about.unready:
        for words in about.unready:
            found.fail(found.public / MANIFEST, msg("the method does not say {words}", words=words))
        return
    fixed = fixed_files(about, listed) | (optional_files(about) & set(listed))
    tables = {name for name in listed if any(_is_table(name, folder) for folder in folders)}
    _names(found, found.public, files={MANIFEST} | fixed, folders=set(folders))
    for folder in folders:
        if _is_folder(found.public / folder):
            names = {name.split("/")[1] for name in tables if name.startswith(f"{folder}/")}
            _names(found, found.public / folder, files=names)
    for name in sorted(listed):
        _check_listed(found, name, listed[name], fixed | tables, token)
    for name in sorted(fixed - set(listed)):
        found.fail(found.public / MANIFEST, msg("does not list {name}", name=name))
    if folders and not tables:
        found.fail(found.public / MANIFEST, msg("lists no table in {folder}", folder=folders[0]))


def _is_table(name: str, folder: str) -> bool:
    """Whether this can be a table in ``folder``: a plain name that ends in .csv, nothing else."""
    start, slash, rest = name.partition("/")
    return start == folder and bool(slash) and _TABLE_NAME.fullmatch(rest) is not None


def _check_listed(
    found: ReleaseFiles, name: str, entry: ListedFile, known: frozenset[str], token: CancelToken
) -> None:
    place = found.public / MANIFEST
    if name not in known:
        given = _shown(name)[:200]
        found.fail(place, msg("lists `{name}`, which is not a file of such a release", name=given))
        return
    wanted, size = entry.sha256, entry.bytes
    if not _is_hash(wanted) or not 0 <= size < _LARGEST_COUNT:
        found.fail(place, msg("gives no hash and size for {name}", name=name))
        return
    path = found.public / name
    actual = _size(path)
    if actual is None:
        return
    if actual > most_read(size):
        found.unread.add(path)
        words = "has {actual:,} bytes, but the manifest names {size:,}; it was not read"
        found.fail(path, msg(words, actual=actual, size=size))
    elif _hash(found, path, token) != (wanted, size):
        found.fail(path, "was changed: its bytes are not those that the manifest names")


def _check_manifest(found: ReleaseFiles, manifest: Manifest) -> Manifest | None:
    """The manifest when its own values are possible ones, else None; each fault is noted."""
    place = found.public / MANIFEST
    before = len(found.failures)
    if manifest.format != FORMAT:
        found.fail(
            place,
            msg(
                "`format` is {brief}, expected {format}",
                brief=_brief(manifest.format),
                format=FORMAT,
            ),
        )
    if not _VERSION.fullmatch(manifest.dpdesk):
        brief = _brief(manifest.dpdesk)
        found.fail(place, msg("`dpdesk` is {brief}, expected a version", brief=brief))
    _check_created(found, manifest.created, place)
    if not _is_hash(manifest.commitment):
        found.fail(place, "`commitment` is not a SHA-256 code")
    return manifest if len(found.failures) == before else None


def _check_created(found: ReleaseFiles, value: str, place: Path) -> None:
    """A date, in UTC, that has begun: clocks may differ by a few minutes."""
    if not _is_date(value):
        found.fail(place, msg("`created` is {brief}, expected a date", brief=_brief(value)))
    elif date.fromisoformat(value) > (datetime.now(UTC) + CLOCKS_DIFFER).date():
        words = "`created` is {value}, which is in the future by this computer's clock"
        found.fail(place, msg(words, value=value))


def _kept_tables(found: ReleaseFiles, known: Callable[[str], Capabilities]) -> frozenset[str]:
    """The tables that the internal part must have: those of the public part, with all cells."""
    if found.manifest is None:
        return frozenset()
    listed = found.manifest.files
    try:
        about = known(found.manifest.method)
    except InputError:
        return frozenset()
    if about.content is not Content.CELLS:
        return frozenset()
    return frozenset(name for name in listed if name == TABLE or _is_table(name, TABLES))


def _check_internal(
    found: ReleaseFiles, tables: frozenset[str], token: CancelToken, reviewed: bool
) -> None:
    internal = found.root / INTERNAL
    review = {REVIEW} if reviewed and os.path.lexists(internal / REVIEW) else set()
    seal = _read_object(found, internal / SEAL)
    sealed = SEALED_INTERNAL | _printed(seal) | tables
    inner = {name.removeprefix(f"{TABLES}/") for name in tables if name != TABLE}
    top = {name for name in sealed if "/" not in name}
    _names(found, internal, files=top | {SEAL} | review, folders={TABLES} if inner else set())
    if inner and _is_folder(internal / TABLES):
        _names(found, internal / TABLES, files=inner)
    _read_evidence(found, internal / EVIDENCE)
    if found.evidence is not None:
        _check_evidence(found, found.evidence, internal / EVIDENCE)
    if seal is not None:
        _check_seal(found, seal, internal / SEAL, sealed, token)


def _printed(seal: dict[str, object] | None) -> frozenset[str]:
    """The printed report where the seal lists it: releases without one are whole too."""
    files = None if seal is None else seal.get("files")
    listed = isinstance(files, Mapping) and f"{INTERNAL}/{PRINTED}" in files
    return frozenset({PRINTED} if listed else ())


def _check_seal(
    found: ReleaseFiles,
    seal: dict[str, object],
    place: Path,
    sealed: frozenset[str],
    token: CancelToken,
) -> None:
    before = len(found.failures)
    if seal.get("format") != FORMAT or set(seal) != {"format", "files", "self"}:
        found.fail(place, "is not a seal of this format")
        return
    emptied = hashlib.sha256(canonical_json({**seal, "self": ""})).hexdigest()
    if seal["self"] != emptied:
        found.fail(place, "was changed: its own hash is different")
    files = seal["files"]
    wanted = {f"{PUBLIC}/{MANIFEST}"} | {f"{INTERNAL}/{name}" for name in sealed}
    if not isinstance(files, Mapping) or set(files) != wanted:
        found.fail(place, "does not cover exactly the files that it must cover")
        return
    for name in sorted(wanted):
        path = found.root / name
        actual = _size(path)
        if actual is not None and actual > LARGEST_INTERNAL:
            found.unread.add(path)
            words = "has {actual:,} bytes, expected at most {most:,}; it was not read"
            found.fail(path, msg(words, actual=actual, most=LARGEST_INTERNAL))
            continue
        hashed = _hash(found, path, token)
        if hashed is not None and hashed[0] != files[name]:
            found.fail(path, "was changed: its hash is not the one in the seal")
    found.sealed = len(found.failures) == before


def _check_evidence(found: ReleaseFiles, evidence: dict[str, object], place: Path) -> None:
    source = evidence.get("source")
    digest = source.get("sha256") if isinstance(source, Mapping) else None
    key = evidence.get("commitment_key")
    if not isinstance(digest, str) or not _is_hash(digest):
        found.fail(place, "gives no SHA-256 of the source")
    elif not isinstance(key, str) or not _is_hash(key):
        found.fail(place, "gives no commitment key of 32 bytes")
    elif found.manifest is not None and not hmac.compare_digest(
        commitment(digest, key), found.manifest.commitment
    ):
        found.fail(place, "source and key do not give the commitment of the manifest")
    if found.manifest is not None:
        _compare_results(found, evidence, place)


def _compare_results(found: ReleaseFiles, evidence: dict[str, object], place: Path) -> None:
    manifest = (found.manifest or NO_MANIFEST).as_json()
    for key in ("dpdesk", "method", "title", "created", "guarantee"):
        if evidence.get(key) != manifest[key]:
            found.fail(place, msg("`{key}` is not the one of the manifest", key=key))
    whole, public = evidence.get("result"), manifest["result"]
    if not isinstance(whole, Mapping) or not isinstance(public, Mapping):
        found.fail(place, "`result` is not a table")
    elif any(key not in whole or whole[key] != value for key, value in public.items()):
        found.fail(place, "`result` is not the one of the manifest")


def _names(
    found: ReleaseFiles,
    folder: Path,
    files: frozenset[str] | set[str] = frozenset(),
    folders: frozenset[str] | set[str] = frozenset(),
) -> None:
    """Note what a folder lacks, what it holds too much, and what is not of the right kind."""
    try:
        with os.scandir(folder) as entries:
            present = {entry.name: entry.stat(follow_symlinks=False).st_mode for entry in entries}
    except OSError as error:
        found.fail(
            folder,
            msg("cannot be read ({strerror})", strerror=error.strerror or type(error).__name__),
        )
        return
    for name in sorted(present.keys() | files | folders):
        path = folder / name
        if name not in present:
            found.fail(path, _MISSING)
        elif name not in files and name not in folders:
            found.fail(path, "is unexpected: no file of a release has this name")
        elif stat.S_ISLNK(present[name]):
            found.fail(path, _LINK if name in folders else _WRONG_KIND)
        elif name in files and not stat.S_ISREG(present[name]):
            found.fail(path, _WRONG_KIND)
        elif name in folders and not stat.S_ISDIR(present[name]):
            found.fail(path, "is not a folder")


def _read_object(found: ReleaseFiles, path: Path) -> dict[str, object] | None:
    if not is_listed_file(path):
        found.fail(path, _WRONG_KIND if os.path.lexists(path) else _MISSING)
        return None
    try:
        return read_canonical(path)
    except UnreadableJsonError as error:
        found.fail(path, error.reason)
    except OSError as error:
        found.fail(
            path,
            msg("cannot be read ({strerror})", strerror=error.strerror or type(error).__name__),
        )
    return None


def _read_shape(found: ReleaseFiles, path: Path, kind: type[_Shape]) -> _Shape | None:
    """What a file holds, in its shape; each fault is noted."""
    raw = _read_object(found, path)
    try:
        return None if raw is None else kind.from_json(raw)
    except ShapeError as error:
        for fault in error.faults:
            found.fail(path, _shown(fault))
    return None


def _read_evidence(found: ReleaseFiles, path: Path) -> None:
    found.recorded = _read_shape(found, path, Evidence)
    found.evidence = None if found.recorded is None else found.recorded.as_json()


def _hash(found: ReleaseFiles, path: Path, token: CancelToken) -> tuple[str, int] | None:
    if not is_listed_file(path):
        return None
    try:
        return hash_file(path, token)
    except OSError as error:
        found.fail(
            path,
            msg("cannot be read ({strerror})", strerror=error.strerror or type(error).__name__),
        )
        return None


def _size(path: Path) -> int | None:
    """The bytes of a plain file by its entry in the folder; None when there is none."""
    try:
        facts = path.lstat()
    except (OSError, ValueError):
        return None
    return facts.st_size if stat.S_ISREG(facts.st_mode) else None


def most_read(listed: int) -> int:
    """How large a file may be to be read although it was changed: to say what else is wrong."""
    return 2 * listed + (1 << 20)


def is_listed_file(path: Path) -> bool:
    """Whether there is a plain file: no link, folder or device, and no impossible name."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except (OSError, ValueError):
        return False


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _is_hash(value: object) -> bool:
    return isinstance(value, str) and _HEX.fullmatch(value) is not None


def _is_date(value: str) -> bool:
    if len(value) != len("2000-01-01"):
        return False
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True


def _brief(value: object) -> str:
    return "missing" if value is None else _shown(repr(value)[:60])


def _shown(text: str) -> str:
    """A text that any terminal can print: what cannot be printed is escaped."""
    return (
        text
        if text.isprintable()
        else "".join(
            char if char.isprintable() else char.encode("unicode_escape", "replace").decode("ascii")
            for char in text
        )
    )
