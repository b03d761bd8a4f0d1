"""The public part of a release whose files are intact, for questions: read lazily, nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Lock

from dpdesk.core.capabilities import Capabilities
from dpdesk.core.cuboid import CuboidTable, Domain, listed_tables
from dpdesk.core.errors import InputError, RefusedError, StorageError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.release import CountedRows, ListedFile, Manifest
from dpdesk.io.csvgrammar import UnreadableTableError
from dpdesk.io.cuboid_files import read_listed
from dpdesk.io.published import PublishedCsv
from dpdesk.io.release_check import ReleaseFiles, check_files
from dpdesk.io.safewrite import hash_file

_KEPT = 6


class ReleaseContent:
    """A ``ReleasedContent`` over the folder ``public/`` of a release.

    Tables are read when they are asked for, by any thread, and the last few are kept.
    """

    def __init__(self, public: Path, manifest: Manifest) -> None:
        """Use :meth:`open` unless the files have been checked already."""
        self._public = public
        self._manifest = manifest
        self._tables: dict[str, CuboidTable] = {}
        self._lock = Lock()
        self._csv: dict[str, PublishedCsv] = {}
        self._domain: Domain | None = None

    @classmethod
    def open(
        cls, path: Path, known: Callable[[str], Capabilities], token: CancelToken
    ) -> ReleaseContent:
        """The content of a release folder, or of its public part alone, after a check of all files.

        ``known`` tells what a method says of itself, by its id.

        Raises InputError ``release.missing``, RefusedError ``release.not-intact`` naming the first
        file that is not what manifest and seal say, Cancelled.
        """
        found = check_files(path, known, token, reviewed=True)
        if found.failures or found.manifest is None:
            raise _not_intact(path, found)
        return cls(found.public, found.manifest)

    @property
    def public(self) -> Path:
        """The folder of the public part."""
        return self._public

    @property
    def manifest(self) -> Manifest:
        """The public manifest."""
        return self._manifest

    def cuboid(self, file: str, token: CancelToken) -> CuboidTable:
        """See ``ReleasedContent.cuboid``."""
        with self._lock:
            known = self._tables.get(file)
        if known is not None:
            return known
        try:
            self._check(file, token)  # it may have been changed since the release was opened
            table = read_listed(self._path(file), *self._line(file), token)
        except (UnreadableTableError, OSError) as error:
            raise _unreadable(file, error) from error
        with self._lock:
            while len(self._tables) >= _KEPT:
                del self._tables[next(iter(self._tables))]
            self._tables[file] = table
        return table

    def columns(self, file: str, token: CancelToken) -> tuple[str, ...]:
        """See ``ReleasedContent.columns``."""
        return self._published(file, token).columns

    def counted(self, file: str, columns: Sequence[str], token: CancelToken) -> CountedRows:
        """See ``ReleasedContent.counted``."""
        try:
            return self._published(file, token).combinations(columns, token)
        except (UnreadableTableError, OSError) as error:
            raise _unreadable(file, error) from error

    def _published(self, file: str, token: CancelToken) -> PublishedCsv:
        if file not in self._csv:
            try:
                self._csv[file] = PublishedCsv(self._path(file), token)
            except (UnreadableTableError, OSError) as error:
                raise _unreadable(file, error) from error
        return self._csv[file]

    def _path(self, file: str) -> Path:
        """The path of a file that the manifest lists; the check has looked at no other."""
        self._listed(file)
        return self._public / file

    def _listed(self, file: str) -> ListedFile:
        listed = self._manifest.files.get(file)
        if listed is None:
            raise InputError(
                "release.unreadable",
                msg("manifest.json: it lists no file `{file}`.", file=file[:200]),
            )
        return listed

    def _check(self, file: str, token: CancelToken) -> None:
        path, listed = self._path(file), self._listed(file)
        if hash_file(path, token) != (listed.sha256, listed.bytes):
            raise RefusedError(
                "release.not-intact",
                msg("{path}: was changed while the release was open.", path=path),
                hint=(
                    "A release that is not intact answers nothing; `dpdesk verify` "
                    "reports everything."
                ),
                details={"path": file},
            )

    def _line(self, file: str) -> tuple[Domain, Mapping[str, object]]:
        """The declared domain, and the line of the result for this file."""
        result = self._manifest.result
        if self._domain is None:
            self._domain = Domain.from_json(result["domains"])
        listed = listed_tables(result)
        return self._domain, next(item for item in listed if item["file"] == file)


def _unreadable(file: str, error: UnreadableTableError | OSError) -> InputError | StorageError:
    if isinstance(error, OSError):
        reason = error.strerror or type(error).__name__
        return StorageError(
            "storage.failed", msg("{file}: cannot be read ({reason}).", file=file, reason=reason)
        )
    return InputError(
        "release.unreadable", msg("{path}: {reason}.", path=file, reason=error.sentence)
    )


def _not_intact(path: Path, found: ReleaseFiles) -> RefusedError:
    failure = found.failures[0]
    more = (
        msg(" ({failures:,} more)", failures=len(found.failures) - 1)
        if len(found.failures) > 1
        else ""
    )
    return RefusedError(
        "release.not-intact",
        msg("{path}: {reason}{more}.", path=path / failure.path, reason=failure.reason, more=more),
        hint=("A release that is not intact answers nothing; `dpdesk verify` reports everything."),
        details={"path": failure.path},
    )
