"""What a submission signs of a release folder, and whether the folder still is what was signed."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.io.canonical import (
    LARGEST_JSON,
    UnreadableJsonError,
    canonical_json,
    read_canonical,
)
from dpdesk.io.failures import storage_error
from dpdesk.io.release_check import LARGEST_INTERNAL, most_read
from dpdesk.io.release_folder import EVIDENCE, INTERNAL, MANIFEST, PUBLIC, REVIEW, SEAL
from dpdesk.io.safewrite import hash_file
from dpdesk.project.review.events import Event, Fault, Submission
from dpdesk.project.review.texts import CLOCK_TOLERANCE, is_hash, shown

_MANIFEST, _SEAL = f"{PUBLIC}/{MANIFEST}", f"{INTERNAL}/{SEAL}"
_EVIDENCE, _REVIEW = f"{INTERNAL}/{EVIDENCE}", f"{INTERNAL}/{REVIEW}"


@dataclass(frozen=True)
class ReleaseBinding:
    """What a release folder holds now. Codes are SHA-256 in hex; empty when a file is missing.

    ``files`` are all regular files of both parts but the review, {path: sha256}; ``odd`` are
    entries that are none (links, folders, devices); ``commitment`` and ``created`` (its day in UTC,
    empty when it is none) are the manifest's.
    """

    files: Mapping[str, str]
    plan_sha256: str
    commitment: str
    odd: tuple[str, ...] = ()
    created: str = ""

    @property
    def manifest_sha256(self) -> str:
        """SHA-256 of ``public/manifest.json``."""
        return self.files.get(_MANIFEST, "")

    @property
    def seal_sha256(self) -> str:
        """SHA-256 of ``internal/seal.json``."""
        return self.files.get(_SEAL, "")


def bind_release(folder: Path, token: CancelToken) -> ReleaseBinding:
    """Hash a release folder, as a stream.

    A file that is far larger than the manifest says of it, or than any release needs, is not read:
    its code is empty, and no submission has such a one.

    Raises InputError ``release.missing`` unless it has both parts, StorageError, Cancelled.
    """
    files: dict[str, str] = {}
    odd: list[str] = []
    manifest = _table(folder / _MANIFEST)
    listed = _listed_sizes(manifest)
    for part in (PUBLIC, INTERNAL):
        if (folder / part).is_symlink() or not (folder / part).is_dir():
            raise InputError(
                "release.missing",
                msg(
                    "{folder}: has no folder `{part}`, expected a release folder with both parts.",
                    folder=folder,
                    part=part,
                ),
                hint="A review needs the whole release folder, not its public part alone.",
            )
        try:
            _hash_part(folder, part, listed, files, odd, token)
        except OSError as error:
            raise storage_error(error, folder / part, "read") from error
    plan = _table(folder / _EVIDENCE).get("plan")
    code = hashlib.sha256(canonical_json(plan)).hexdigest() if isinstance(plan, dict) else ""
    commitment = manifest.get("commitment")
    named = commitment if isinstance(commitment, str) and is_hash(commitment) else ""
    created = manifest.get("created")
    day = created if isinstance(created, str) else ""
    return ReleaseBinding(files, code, named, tuple(sorted(odd)), day)


def manifest_code(folder: Path, token: CancelToken) -> str:
    """SHA-256 of the manifest alone; empty when it cannot be read."""
    path = folder / _MANIFEST
    try:
        facts = path.lstat()
        readable = stat.S_ISREG(facts.st_mode) and facts.st_size <= LARGEST_JSON
        return hash_file(path, token)[0] if readable else ""
    except OSError:
        return ""


def early_faults(event: Event, found: ReleaseBinding) -> tuple[Fault, ...]:
    """A fault where a submission is older than the release that it submits.

    All other events follow it, so one that is not too early makes none of them so.
    """
    try:
        day = datetime.fromisoformat(found.created).replace(tzinfo=UTC)
    except ValueError:
        return ()
    if event.time >= day - CLOCK_TOLERANCE:
        return ()
    words = msg(
        "{words} was signed before the release was made on {created}: a clock was wrong",
        words=event.words,
        created=found.created,
    )
    return (Fault("clock.before-release", words, event.id),)


def binding_faults(submitted: Submission, found: ReleaseBinding) -> tuple[Fault, ...]:
    """How a folder differs from what was submitted: each file that is not the one signed."""
    faults = []
    for path in sorted(submitted.files.keys() | found.files.keys()):
        if path not in found.files:
            faults.append(
                _fault(
                    "file.missing", msg("{path}, which was submitted, is missing", path=shown(path))
                )
            )
        elif path not in submitted.files:
            faults.append(_fault("file.added", msg("{path} was not submitted", path=shown(path))))
        elif submitted.files[path] != found.files[path]:
            faults.append(
                _fault("file.changed", msg("{path} is not the file submitted", path=shown(path)))
            )
    faults += [
        _fault("file.odd", msg("{path} is not a regular file", path=shown(path)))
        for path in found.odd
    ]
    for what in ("manifest_sha256", "seal_sha256", "plan_sha256", "commitment"):
        if getattr(submitted, what) != getattr(found, what):
            faults.append(
                _fault("file.binding", msg("`{what}` is not that of the folder", what=what))
            )
    return tuple(faults)


def _hash_part(
    folder: Path,
    part: str,
    listed: Mapping[str, int],
    files: dict[str, str],
    odd: list[str],
    token: CancelToken,
) -> None:
    waiting = [folder / part]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                path = Path(entry.path).relative_to(folder).as_posix()
                facts = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(facts.st_mode):
                    waiting.append(folder / path)
                elif not stat.S_ISREG(facts.st_mode):
                    odd.append(path)
                elif path != _REVIEW:
                    small = facts.st_size <= _most(path, listed)
                    files[path] = hash_file(folder / path, token)[0] if small else ""


def _table(path: Path) -> dict[str, object]:
    """A file of JSON; empty when it cannot be read."""
    try:
        return read_canonical(path)
    except (UnreadableJsonError, OSError, RecursionError):
        return {}


def _listed_sizes(manifest: Mapping[str, object]) -> Mapping[str, int]:
    """The bytes that a manifest gives for its files."""
    files = manifest.get("files")
    given = files.items() if isinstance(files, Mapping) else ()
    return {
        f"{PUBLIC}/{path}": facts["bytes"]
        for path, facts in given
        if isinstance(facts, Mapping) and type(facts.get("bytes")) is int
    }


def _most(path: str, listed: Mapping[str, int]) -> int:
    """How large a file may be to be read."""
    if path == _MANIFEST:
        return LARGEST_JSON
    return most_read(listed[path]) if path in listed else LARGEST_INTERNAL


def _fault(code: str, reason: str) -> Fault:
    return Fault(code, reason)
