"""The keys of pseudonyms: 32 random bytes each, in files that only their user can read.

They lie in the home folder and never in a project, a plan or a release; those name a key, or give
its id, which is random and tells nothing of the key. A backup that leaves the computer is sealed by
a passphrase: ChaCha20-Poly1305 under a key that Argon2id makes from it, all else being associated
data.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar, NoReturn

from dpdesk.core.errors import DpdeskError, InputError
from dpdesk.core.messages import msg
from dpdesk.core.pseudonyms import KEY_NAMES, is_key_name
from dpdesk.core.systems import open_to_others, sync_folder
from dpdesk.io.canonical import UnreadableJsonError, canonical_json, parse_canonical
from dpdesk.io.failures import storage_error
from dpdesk.io.safewrite import replacing, write_new
from dpdesk.io.workspace import SMALL_PARTIAL
from dpdesk.project.review.homefiles import locked, read_small, write_private
from dpdesk.project.review.keys import (
    MOST_COST,
    Argon2Cost,
    KeyFolder,
    check_of,
    checked_passphrase,
    key_files,
    opened,
    passphrase_bytes,
    read_cost,
    sealed_under,
)
from dpdesk.project.review.texts import is_hex, shown, time_text

KEY_KIND, BACKUP_KIND = "dpdesk-pseudonym-key", "dpdesk-pseudonym-key-backup"
_SECRET, _ID = 32, 16
_LARGEST = 64 * 1024
_CARD = frozenset({"format", "kind", "id", "name", "created"})
_KEYS = {1: _CARD | {"secret"}, 2: _CARD | {"secret", "check"}}
"""What a key file holds, by its format: nothing else tells that a bit of the key has flipped, after
which all its pseudonyms are others."""
_BACKUPS = {1: _CARD | {"argon2", "nonce", "sealed"}}


@dataclass(frozen=True)
class PseudonymKey:
    """A key: its name, its random id, when it was made; ``secret`` never leaves the program."""

    name: str
    id: str
    created: str
    secret: bytes = field(repr=False, compare=False)

    def domain_key(self, frame: bytes) -> bytes:
        """The key of a linkage domain: HMAC-SHA-256 of its frame."""
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.hmac import HMAC

        made = HMAC(self.secret, SHA256())
        made.update(frame)
        return made.finalize()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not passed on")


@dataclass(frozen=True)
class StoredPseudonymKey:
    """A key file as lists show it: without the key; ``problem`` says why it cannot be used."""

    path: Path
    name: str = ""
    id: str = ""
    created: str = ""
    problem: str = ""


class PseudonymKeys(KeyFolder):
    """The keys with which pseudonyms are made."""

    name: ClassVar[str] = "pseudonym-keys"

    def keys(self) -> tuple[StoredPseudonymKey, ...]:
        """All keys by name; damaged files with their problem."""
        found = []
        for path in key_files(self.folder):
            try:
                key = _read(path)
            except DpdeskError as error:
                found.append(StoredPseudonymKey(path, problem=error.sentence))
            else:
                found.append(StoredPseudonymKey(path, key.name, key.id, key.created))
        return tuple(sorted(found, key=lambda each: (not each.name, each.name.casefold())))

    def create(self, name: str, now: datetime | None = None) -> StoredPseudonymKey:
        """Make a key. Raises InputError ``pseudonym-key.name``, ``pseudonym-key.exists``."""
        if not is_key_name(name):
            raise InputError(
                "pseudonym-key.name",
                msg(
                    "{shown} is not a valid key name, expected {key_names}.",
                    shown=shown(name),
                    key_names=KEY_NAMES,
                ),
            )
        moment = (now or datetime.now(UTC)).astimezone(UTC).replace(microsecond=0)
        with locked(self.folder, "keys"):
            return self._add(replace(self.drawn(name), created=time_text(moment)))

    def drawn(self, name: str) -> PseudonymKey:
        """A key that is kept nowhere."""
        return PseudonymKey(name, secrets.token_hex(_ID), "", secrets.token_bytes(_SECRET))

    def open(self, name: str) -> PseudonymKey:
        """The key of this name.

        Raises InputError ``pseudonym-key.missing``, ``pseudonym-key.damaged``,
        ``pseudonym-key.open-to-others``.
        """
        return _read(self._find(name).path)

    def with_id(self, key_id: str) -> PseudonymKey | None:
        """The key with this id, when it is on this computer and can be read."""
        path = self._path(key_id) if is_hex(key_id, _ID) else None
        if path is None or not path.is_file():
            return None
        try:
            return _read(path)
        except DpdeskError:
            return None

    def delete(self, name: str, key_id: str) -> StoredPseudonymKey:
        """Take a key away for good; ``key_id``, 8 digits of its id or more, says it is meant.

        Raises InputError ``pseudonym-key.missing``, ``pseudonym-key.other``.
        """
        with locked(self.folder, "keys"):
            found = self._find(name)
            if len(key_id) < 8 or not found.id.startswith(key_id.lower()):
                raise InputError(
                    "pseudonym-key.other",
                    msg(
                        "The key {shown} has the id {id}…, not {shown_2}.",
                        shown=shown(name),
                        id=found.id[:8],
                        shown_2=shown(key_id),
                    ),
                    hint="Give the first 8 digits of its id; without a backup, what was made with "
                    "the key can never be linked to anything again.",
                )
            _wipe(found.path)
        return found

    def export(self, name: str, passphrase: str, out: Path) -> StoredPseudonymKey:
        """Write a backup, sealed by a passphrase; ``out`` must be new and in no release.

        Raises InputError ``pseudonym-key.backup-place``, ``key.passphrase-rule``, StorageError.
        """
        found, secret = self._find(name), checked_passphrase(passphrase)
        _check_place(out.absolute())
        place, sealed = out.absolute(), self._sealed(_read(found.path), secret)
        if self._keeper is None:
            write_private(place, sealed)
        else:  # outside of the home folder the keeper alone knows what a kill leaves
            with replacing(place, self._keeper, private=True, new=True) as fresh:
                write_new(fresh, sealed, mode=0o600)
        return found

    def take(self, path: Path, passphrase: str) -> StoredPseudonymKey:
        """Take a key from a backup.

        Raises InputError ``pseudonym-key.damaged``, ``key.passphrase``, ``pseudonym-key.exists``.
        """
        key = _unsealed(path, passphrase_bytes(passphrase), self._least)
        with locked(self.folder, "keys"):
            return self._add(key)

    def _add(self, key: PseudonymKey) -> StoredPseudonymKey:
        for each in self.keys():
            if each.name.casefold() == key.name.casefold() or each.id == key.id:
                raise InputError(
                    "pseudonym-key.exists",
                    msg(
                        "A key {shown} with the id {id}… already exists.",
                        shown=shown(each.name),
                        id=each.id[:8],
                    ),
                    hint="Choose another name; to replace a key, delete the old one first.",
                )
        path = self._path(key.id)
        raw: dict[str, object] = {**_card(key, KEY_KIND, 2), "secret": key.secret.hex()}
        write_private(path, canonical_json({**raw, "check": check_of(raw)}), self._keeper)
        return StoredPseudonymKey(path, key.name, key.id, key.created)

    def _find(self, name: str) -> StoredPseudonymKey:
        stored = self.keys()
        for each in stored:
            if each.name and each.name.casefold() == name.casefold():
                return each
        problem = next((each.problem for each in stored if each.problem), "")
        raise InputError(
            "pseudonym-key.missing",
            msg("There is no key {shown} for pseudonyms on this computer.", shown=shown(name)),
            hint=problem
            or msg(
                'Make one with `dpdesk pseudonyms new "{name}"`, or restore it from a backup '
                "with `dpdesk pseudonyms import`.",
                name=name,
            ),
            details={"key": name},
        )

    def _path(self, key_id: str) -> Path:
        return self.folder / f"{key_id}.json"

    def _sealed(self, key: PseudonymKey, secret: bytes) -> bytes:
        raw = sealed_under(_card(key, BACKUP_KIND, 1), key.secret, secret, self._cost)
        return canonical_json(raw)


def _card(key: PseudonymKey, kind: str, form: int) -> dict[str, object]:
    return {
        "format": form,
        "kind": kind,
        "id": key.id,
        "name": key.name,
        "created": key.created,
    }


def _parsed(path: Path, kind: str, forms: Mapping[int, frozenset[str]]) -> dict[str, object]:
    try:
        raw = parse_canonical(read_small(path, _LARGEST))
    except UnreadableJsonError as error:
        raise _damaged(path, error.reason) from None
    form = raw.get("format")
    keys = forms.get(form) if type(form) is int else None  # true and 1.0 are equal to 1
    if keys is None or frozenset(raw) != keys or raw["kind"] != kind:
        raise _damaged(path, "it is not in the form that DPDesk writes")
    if "check" in raw and raw["check"] != check_of(raw):
        raise _damaged(path, "its contents were changed after DPDesk wrote it")
    if not is_hex(raw["id"], _ID) or not isinstance(raw["created"], str):
        raise _damaged(path, "it has no id")
    if not isinstance(raw["name"], str) or not is_key_name(raw["name"]):
        raise _damaged(path, "it has no name")
    return raw


def _read(path: Path) -> PseudonymKey:
    if open_to_others(path):
        raise InputError(
            "pseudonym-key.open-to-others",
            msg(
                (
                    "{path}: others on this computer may read the key, expected only its owner to "
                    "be allowed to."
                ),
                path=path,
            ),
            hint=msg("Run `chmod 600 {path}`, and ask whether anyone has read it.", path=path),
        )
    raw = _parsed(path, KEY_KIND, _KEYS)
    if not is_hex(raw["secret"], _SECRET):
        raise _damaged(path, "its secret part is incomplete")
    if path.stem != raw["id"]:
        raise _damaged(path, "its name is not its id")
    return _key(raw, bytes.fromhex(str(raw["secret"])))


def _key(raw: dict[str, object], secret: bytes) -> PseudonymKey:
    return PseudonymKey(str(raw["name"]), str(raw["id"]), str(raw["created"]), secret)


def _unsealed(path: Path, secret: bytes, least: Argon2Cost) -> PseudonymKey:
    raw = _parsed(path, BACKUP_KIND, _BACKUPS)
    cost = read_cost(raw["argon2"])
    if cost is None or not cost.within(least, MOST_COST):
        raise _damaged(path, "the cost of its passphrase is outside the limits")
    if not is_hex(raw["nonce"], 12) or not is_hex(raw["sealed"], _SECRET + 16):
        raise _damaged(path, "its secret part is incomplete")
    found = opened(raw, secret)
    if found is None:
        raise InputError(
            "key.passphrase",
            msg(
                "{path}: the passphrase does not open the backup, or the file was changed.",
                path=path,
            ),
            hint="Check capitals and the keyboard layout; no one can recover a passphrase.",
        )
    return _key(raw, found)


def _check_place(out: Path) -> None:
    """A backup replaces no file and lies in no release."""
    reason = ""
    if out.exists():
        reason = "this file already exists"
    for folder in out.parents:
        inside = (folder / "manifest.json", folder / "public" / "manifest.json")
        if any(each.exists() for each in inside) or (folder / "seal.json").exists():
            reason = msg(
                "{folder} is part of a release, and a key must never be passed on with one",
                folder=folder,
            )
    if reason:
        raise InputError(
            "pseudonym-key.backup-place",
            msg("{out}: the backup cannot be written there: {reason}.", out=out, reason=reason),
            hint="Name a new file in a folder that no one else gets.",
        )


def _wipe(path: Path) -> None:
    """Take a small file away at once, overwrite and remove it; old blocks of the disk may survive.

    It is first renamed to what a later start removes: a stop in between leaves no damaged key.
    """
    hidden = path.with_name(f".{path.name}.{secrets.token_hex(6)}{SMALL_PARTIAL}")
    try:
        path.replace(hidden)
    except OSError as error:
        raise storage_error(error, path, "remove") from error
    with contextlib.suppress(OSError), hidden.open("r+b") as stream:
        stream.write(b"\0" * hidden.stat().st_size)
        stream.flush()
        os.fsync(stream.fileno())
    with contextlib.suppress(OSError):
        hidden.unlink()
    with contextlib.suppress(OSError):  # only a power cut could bring its name back
        sync_folder(path.parent)


def _damaged(path: Path, reason: str) -> InputError:
    return InputError(
        "pseudonym-key.damaged",
        msg("{path}: the key of pseudonyms is damaged: {reason}.", path=path, reason=reason),
        hint="Restore it from a backup with `dpdesk pseudonyms import`.",
        details={"path": os.fspath(path)},
    )
