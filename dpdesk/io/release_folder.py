"""The release folder: its two parts, its manifest, its seal, and how it appears whole.

``public/`` is what is published, ``internal/`` what stays in the agency. A plain hash of the source
in ``public/`` would let anyone who knows all rows but one test guesses about the last one, so the
public manifest carries a commitment instead: HMAC-SHA-256 over the *hexadecimal text* of the
source's SHA-256 (64 lower-case ASCII characters) under a fresh random key of 32 bytes that stays in
``internal/evidence.json``. Times of files in ``public/`` are set to the release date, so that they
do not tell how long the run took.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import hmac
import os
import secrets
import stat
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from types import TracebackType

from dpdesk.core.capabilities import Capabilities, Content
from dpdesk.core.errors import InputError, StorageError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.release import ListedFile
from dpdesk.core.systems import planted, put_in_place, sync_folder
from dpdesk.io.canonical import canonical_json
from dpdesk.io.failures import storage_error
from dpdesk.io.safewrite import (
    PartialKeeper,
    hash_file,
    remove_partial,
    sync_file,
    told,
    told_of,
    write_new,
)

FORMAT = 1
PUBLIC, INTERNAL = "public", "internal"
MANIFEST, MICRODATA, ABOUT = "manifest.json", "microdata.csv", "about.html"
EVIDENCE, REPORT, SEAL, REVIEW = "evidence.json", "report.html", "seal.json", "review.json"
PRINTED = "report.pdf"
VARIABLES = "variables.json"
"""Labels of columns, or of a cube's dimensions; only releases of sources with labels have it."""
CSVW = "microdata.csv-metadata.json"
"""The same for programs that know CSV on the Web, under the name that these look for."""
SEALED_INTERNAL = frozenset({EVIDENCE, REPORT})
"""Internal files of every release; the report is printed too where that was possible."""


TABLE, TABLES = "table.csv", "tables"
"""The only protected table of a release; the folder of several. The agency's lie in ``internal/``
under the same names."""


def fixed_files(about: Capabilities, listed: Collection[str]) -> frozenset[str]:
    """Names of the files that the public part of a release by such a method has, by those that it
    lists.
    """
    if about.content is Content.CELLS and not any(_in_tables(name) for name in listed):
        return frozenset({TABLE, ABOUT})
    rows = {MICRODATA} if about.content is Content.ROWS else set[str]()
    return frozenset({ABOUT, *about.tables} | rows)


def tables_folders(about: Capabilities, listed: Collection[str]) -> tuple[str, ...]:
    """The folders of the public part that tables lie in: the method's first one, unless every
    release has tables in no folder, and those of which a file is listed.
    """
    if about.content is Content.CELLS:
        return (TABLES,) if any(_in_tables(name) for name in listed) else ()
    folders = about.folders or ()
    always = 0 if about.tables else 1
    return folders[:always] + tuple(
        folder
        for folder in folders[always:]
        if any(name.startswith(f"{folder}/") for name in listed)
    )


def _in_tables(name: str) -> bool:
    return name.startswith(f"{TABLES}/")


def optional_files(about: Capabilities) -> frozenset[str]:
    """Names of the files that the public part of a release by such a method may have."""
    if about.content is Content.CELLS:
        return frozenset()
    return frozenset((VARIABLES, CSVW) if about.content is Content.ROWS else (VARIABLES,))


def holds_rows(public: Path) -> bool:
    """Whether the public part of a release holds rows, by its files alone; nothing is checked."""
    return (public / MICRODATA).is_file()


def fresh_key() -> str:
    """A new commitment key, 32 random bytes as hexadecimal text; one for each release."""
    return secrets.token_hex(32)


def commitment(source_sha256: str, key: str) -> str:
    """HMAC-SHA-256 (hex) of the hexadecimal text of the source's hash under the key (hex)."""
    return hmac.new(bytes.fromhex(key), source_sha256.encode("ascii"), hashlib.sha256).hexdigest()


def public_files(public: Path, token: CancelToken) -> dict[str, ListedFile]:
    """``files`` of a manifest: hash and size of every file of ``public/`` but the manifest.

    Keys are paths relative to ``public``, with ``/`` between folders.
    """
    found: dict[str, ListedFile] = {}
    for path in _files(public):
        name = path.relative_to(public).as_posix()
        if name != MANIFEST:
            found[name] = ListedFile(*hash_file(path, token))
    return found


def seal_bytes(release: Path, token: CancelToken) -> bytes:
    """The bytes of ``internal/seal.json`` for a release folder that is complete but for it.

    ``files`` gives the SHA-256 of ``public/manifest.json`` and of every internal file but the seal
    and the review. ``self`` is the SHA-256 of the canonical bytes of the seal in which ``self`` is
    the empty text.
    """
    names = [f"{PUBLIC}/{MANIFEST}"] + [
        path.relative_to(release).as_posix()
        for path in _files(release / INTERNAL)
        if path.name not in (SEAL, REVIEW)
    ]
    files = {name: hash_file(release / name, token)[0] for name in names}
    return sealed({"format": FORMAT, "files": files})


def sealed(seal: Mapping[str, object]) -> bytes:
    """Canonical bytes of a seal with its field ``self`` filled; an old one is replaced."""
    emptied = canonical_json({**seal, "self": ""})
    return canonical_json({**seal, "self": hashlib.sha256(emptied).hexdigest()})


def check_out(out: Path) -> Path:
    """The folder to release to, with links resolved.

    Raises InputError ``out.not-empty`` or ``out.not-folder`` unless it is absent or empty,
    ``out.inside`` where it lies inside another release, which would not verify any more, and
    ``out.link`` for a link that another user made, who would choose where a release goes.
    """
    target = Path(os.path.abspath(out))
    if planted(target):
        leads = os.path.realpath(target)
        raise InputError(
            "out.link",
            msg("{out}: is a link to {leads} that another user made.", out=out, leads=leads),
            hint="Name the place that it leads to if the release belongs there.",
        )
    try:
        target = target.resolve()
        if any((above / PUBLIC / MANIFEST).is_file() for above in target.parents):
            raise InputError(
                "out.inside",
                msg("{out}: is inside a release, to which nothing may be added.", out=out),
                hint="Choose a place outside the release folder.",
            )
        if not target.exists():
            return target
        if not target.is_dir():
            raise InputError(
                "out.not-folder",
                msg(
                    "{out}: is a file, expected an empty folder or one that does not exist yet.",
                    out=out,
                ),
            )
        with os.scandir(target) as entries:
            found = next(iter(entries), None)
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links
        raise _unreadable(out, error) from error
    if found is not None:
        raise InputError(
            "out.not-empty",
            msg(
                "{out}: the folder holds `{name}`, expected an empty folder or one "
                "that does not exist yet.",
                out=out,
                name=found.name,
            ),
            hint="Choose another folder; a release is never written over anything.",
        )
    return target


def _unreadable(out: Path, error: Exception) -> StorageError:
    if isinstance(error, OSError):
        return storage_error(error, out, "reach")
    return StorageError(
        "storage.failed", msg("{out}: the folder cannot be reached (a loop of links).", out=out)
    )


class ReleaseBuilder:
    """A release that is being written, beside its place; :meth:`commit` puts it there.

    Use as a context manager: whatever goes wrong, the target is as it was and nothing remains.
    ``internal/`` is private to the user (0700, files 0600), ``public/`` is as the umask says.
    Disk errors raise StorageError.
    """

    def __init__(self, out: Path, keeper: PartialKeeper) -> None:
        self.out = check_out(out)
        self._given = out
        self._keeper = keeper
        self._partial: Path | None = None

    def __enter__(self) -> ReleaseBuilder:
        try:
            with told_of(self._given, self.out):
                self._partial = self._keeper.partial_beside(self.out)
                self.public.mkdir()
                self.internal.mkdir(mode=0o700)
                self.internal.chmod(0o700)
        except BaseException:
            self._discard()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        hidden = self._partial or self.out
        self._discard()
        other = told(error, self._given, hidden)
        if other is not None:
            raise other from error

    @property
    def folder(self) -> Path:
        """Where the release is being written."""
        if self._partial is None:
            raise ValueError("the release is not being written")
        return self._partial

    @property
    def public(self) -> Path:
        """The part that is published."""
        return self.folder / PUBLIC

    @property
    def internal(self) -> Path:
        """The part that stays in the agency."""
        return self.folder / INTERNAL

    def write_public(self, name: str, data: bytes) -> None:
        """Write a file of the public part."""
        write_new(self.public / name, data)

    def write_internal(self, name: str, data: bytes) -> None:
        """Write a file of the internal part, readable by the user alone."""
        write_new(self.internal / name, data, mode=0o600)

    def commit(self, created: datetime.date) -> Path:
        """Sync everything and put the release in its place; returns the folder."""
        folder, target = self.folder, self.out
        existed = target.exists()
        mode = stat.S_IMODE((target if existed else self.public).stat().st_mode)
        self._settle(created)
        folder.chmod(mode)
        with self._keeper.placing(target):
            put_in_place(folder, target)
        self._partial = None
        with contextlib.suppress(OSError):  # the release is there; only a power cut could undo it
            sync_folder(target.parent)
        self._keeper.forget_partial(folder)
        return target

    def _settle(self, created: datetime.date) -> None:
        midnight = datetime.datetime.combine(created, datetime.time(), datetime.UTC).timestamp()
        for path in _files(self.folder):
            sync_file(path)
        parts = (self.public, self.internal)
        folders = [path for part in parts for path in part.rglob("*") if path.is_dir()]
        for folder in (*folders, self.public, self.internal, self.folder):
            sync_folder(folder)
        for path in (*self.public.rglob("*"), self.public):
            os.utime(path, (midnight, midnight))

    def _discard(self) -> None:
        if self._partial is not None:
            remove_partial(self._partial, self._keeper)
            self._partial = None


def _files(folder: Path) -> Iterable[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())
