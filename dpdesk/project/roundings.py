"""Roundings that were drawn at random: each cell is drawn once and keeps its direction for ever.

Two draws of one cell would average out. They lie in the home folder, one file for each population
and source, as hashes of what a cell counts with the direction: one for the values that it covers,
one for its rows, so that tables of other dimensions find it too. Values are not among them, but
what the base leaves of one is hashed with them. How many there are is noted next to the witness of
ledgers as well, so that a file that was deleted or put back from an old copy is not taken for new.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from dpdesk.core.errors import DpdeskError, StorageError
from dpdesk.core.messages import msg
from dpdesk.io.canonical import canonical_json, parse_canonical
from dpdesk.project.ledger.witness import Witness
from dpdesk.project.review.homefiles import locked, read_small, write_private

FOLDER, NOTED = "roundings", "roundings.txt"
_LARGEST = 1 << 28
_KEY = 32


def _hashed(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8")).hexdigest()[:_KEY]


class Roundings:
    """The kept roundings of a population and a source: a :class:`KeptDraws`."""

    def __init__(self, home: Path, population: str, source_sha256: str) -> None:
        named = json.dumps([population, source_sha256], ensure_ascii=True)
        self._name = hashlib.sha256(named.encode("ascii")).hexdigest()[:_KEY]
        self._folder = home / FOLDER
        self._path = self._folder / f"{self._name}.json"
        self._witness = Witness.here()
        self._noted = self._witness.path.parent / NOTED

    def directions(
        self, cells: Sequence[Sequence[str]], draw: Callable[[Sequence[int]], Sequence[bool]]
    ) -> Sequence[bool]:
        """See :meth:`KeptDraws.directions`.

        Raises StorageError ``roundings.lost`` where fewer are kept than were drawn,
        ``roundings.damaged`` where they cannot be read, and what writing raises.
        """
        keys = [[_hashed(name) for name in names] for names in cells]
        with locked(self._folder, self._name):
            kept = self._read()
            if len(kept) < self._told():
                raise self._error(
                    "roundings.lost",
                    msg(
                        "{path}: roundings of these data that were drawn before are gone; drawn "
                        "again, they could be averaged with the old ones.",
                        path=self._path,
                    ),
                )
            before = len(kept)
            fresh = [place for place, own in enumerate(keys) if kept.keys().isdisjoint(own)]
            for place, up in zip(fresh, draw(fresh) if fresh else (), strict=True):
                for key in keys[place]:
                    kept.setdefault(key, bool(up))
            directions = [next(kept[key] for key in own if key in kept) for own in keys]
            for own, up in zip(keys, directions, strict=True):
                for key in own:
                    kept.setdefault(key, up)
            if len(kept) > before:
                body = {"format": 1, "up": {key: kept[key] for key in sorted(kept)}}
                write_private(self._path, canonical_json(body))
                self._tell(len(kept))
        return directions

    def _read(self) -> dict[str, bool]:
        if not self._path.exists():
            return {}
        try:
            raw = parse_canonical(read_small(self._path, _LARGEST))["up"]
        except (DpdeskError, KeyError, ValueError) as error:
            raise self._damaged() from error
        if not isinstance(raw, dict) or not all(isinstance(up, bool) for up in raw.values()):
            raise self._damaged()
        return dict(raw)

    def _damaged(self) -> StorageError:
        return self._error(
            "roundings.damaged",
            msg("{path}: the roundings that are kept there cannot be read.", path=self._path),
        )

    @staticmethod
    def _error(code: str, sentence: str) -> StorageError:
        hint = "Put the file back from a backup of the home folder; else publish no rounded table."
        return StorageError(code, sentence, hint=hint)

    def _told(self) -> int:
        """How many roundings there must be, by the note outside the home folder."""
        try:
            lines = self._noted.read_text("ascii", "replace").splitlines()
        except OSError:
            return 0
        found = [line.split() for line in lines]
        counts = [line[1] for line in found if len(line) == 2 and line[0] == self._name]
        return max((int(count) for count in counts if count.isdigit()), default=0)

    def _tell(self, count: int) -> None:
        """Note how many there are; a failure matters where the place was set on purpose."""
        try:
            self._noted.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle = os.open(self._noted, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(handle, "ab") as stream:
                stream.write(f"{self._name} {count}\n".encode("ascii"))
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            if self._witness.named:
                raise self._error(
                    "roundings.not-noted",
                    msg(
                        "{path}: cannot be written ({reason}).",
                        path=self._noted,
                        reason=error.strerror or type(error).__name__,
                    ),
                ) from error
