"""What was drawn at random for protected tables: roundings of cells, and keys of rows.

Two draws of one cell would average out, so each cell is drawn once and keeps its direction. They
are in the home folder, one file for each population and source, as hashes of what a cell counts
with the direction: one for the values that it covers, one for its rows, so that tables of other
dimensions find it too. Values are not among them, but what the base leaves of one is hashed with
them. Keys of rows lie next to them, in the order of the source, from whose rows they are not made.
How many there are is noted next to the witness of ledgers as well, so that a file that was deleted
or put back from an old copy is not taken for new.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.errors import DpdeskError, StorageError
from dpdesk.core.messages import msg
from dpdesk.core.systems import NO_WAIT, open_plain
from dpdesk.io.canonical import canonical_json, parse_canonical
from dpdesk.project.ledger.witness import Witness
from dpdesk.project.review.homefiles import locked, read_small, write_private

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# How many entries files of the home folder hold, noted outside of it, next to the witness.
#
# A file that was deleted, or put back from an old copy with the home folder, holds fewer than
# noted.


_LINE = re.compile(r"([!-~]+) ([0-9]{1,15})")


class Noted:
    """The note of one file: ``name`` in the text file ``notes``, a line for each time it grew.

    A line that a kill has cut short says nothing, and the next one does not go on with it.
    """

    def __init__(self, notes: str, name: str) -> None:
        self._witness, self._name = Witness.here(), name
        self.path = self._witness.path.parent / notes

    def count(self) -> int:
        """How many entries there must be."""
        return max((count for name, count in self.all() if name == self._name), default=0)

    def all(self) -> list[tuple[str, int]]:
        """All that is noted in the file, by name; nothing where it cannot be read."""
        try:
            with open_plain(self.path) as file:
                lines = file.read().decode("ascii", "replace").splitlines()
        except OSError:
            return []
        return [(line[1], int(line[2])) for line in map(_LINE.fullmatch, lines) if line]

    def tell(self, count: int, code: str, hint: str) -> None:
        """Note how many there are; StorageError ``code`` where a place that was named fails."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | NO_WAIT, 0o600)
            with os.fdopen(handle, "ab") as stream:
                stream.write(f"\n{self._name} {count}\n".encode("ascii"))
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            if not self._witness.named:
                return
            reason = error.strerror or type(error).__name__
            sentence = msg("{path}: cannot be written ({reason}).", path=self.path, reason=reason)
            raise StorageError(code, sentence, hint=hint) from error


FOLDER, NOTED = "roundings", "roundings.txt"
_LARGEST = 1 << 28
_KEY = 32
_HINT = (
    "Restore the file from a backup of the home folder; otherwise publish no table with "
    "random changes."
)


def _hashed(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8")).hexdigest()[:_KEY]


class Roundings:
    """The kept roundings and keys of a population and a source: a :class:`KeptDraws`."""

    def __init__(self, home: Path, population: str, source_sha256: str) -> None:
        self._folder = home / FOLDER
        self._roundings = _File(self._folder, [population, source_sha256], "up")
        self._keys = _File(self._folder, [population, source_sha256, "keys of rows"], "keys")
        self._edits = _File(self._folder, [population, source_sha256, "keys of edits"], "keys")

    def directions(
        self, cells: Sequence[Sequence[str]], draw: Callable[[Sequence[int]], Sequence[bool]]
    ) -> Sequence[bool]:
        """See :meth:`KeptDraws.directions`.

        Raises StorageError ``roundings.lost`` where fewer are kept than were drawn,
        ``roundings.damaged`` where they cannot be read, and what writing raises.
        """
        keys, file = [[_hashed(name) for name in names] for names in cells], self._roundings
        with locked(self._folder, file.name):
            kept = self._kept_directions()
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
                file.write({key: kept[key] for key in sorted(kept)}, len(kept))
        return directions

    def _kept_directions(self) -> dict[str, bool]:
        raw = self._roundings.read({})
        if not isinstance(raw, dict) or not all(isinstance(up, bool) for up in raw.values()):
            raise self._roundings.damaged()
        self._roundings.refuse_fewer(len(raw))
        return dict(raw)

    def row_keys(self, rows: int, draw: Callable[[int], NDArray[np.uint64]]) -> NDArray[np.uint64]:
        """See :meth:`KeptDraws.row_keys`; raises as :meth:`directions`."""
        return self._drawn(self._keys, rows, draw)

    def edit_keys(
        self, count: int, draw: Callable[[int], NDArray[np.uint64]]
    ) -> NDArray[np.uint64]:
        """So many keys by which rows are sampled and swapped; as :meth:`row_keys`."""
        return self._drawn(self._edits, count, draw)

    def _drawn(
        self, file: _File, rows: int, draw: Callable[[int], NDArray[np.uint64]]
    ) -> NDArray[np.uint64]:
        import numpy as np

        with locked(self._folder, file.name):
            raw = file.read("")
            try:
                kept = np.frombuffer(bytes.fromhex(str(raw)), ">u8").astype(np.uint64)
            except ValueError as error:
                raise file.damaged() from error
            file.refuse_fewer(len(kept))
            if len(kept) < rows:
                kept = np.concatenate([kept, draw(rows - len(kept))])
                file.write(kept.astype(">u8").tobytes().hex(), len(kept))
        return kept[:rows]


class _File:
    """A file of draws, and the note of how many it holds."""

    def __init__(self, folder: Path, drawn_for: Sequence[str], key: str) -> None:
        named = json.dumps(drawn_for, ensure_ascii=True)
        self.name = hashlib.sha256(named.encode("ascii")).hexdigest()[:_KEY]
        self._path, self._key = folder / f"{self.name}.json", key
        self._noted = Noted(NOTED, self.name)

    def read(self, absent: object) -> object:
        """What the file holds; ``absent`` where there is none."""
        if not self._path.exists():
            return absent
        try:
            return parse_canonical(read_small(self._path, _LARGEST))[self._key]
        except (DpdeskError, KeyError, ValueError) as error:
            raise self.damaged() from error

    def write(self, content: object, count: int) -> None:
        """Keep so many draws."""
        write_private(self._path, canonical_json({"format": 1, self._key: content}))
        self._note(count)

    def _note(self, count: int) -> None:
        self._noted.tell(count, "roundings.not-noted", _HINT)

    def refuse_fewer(self, count: int) -> None:
        """Raise StorageError ``roundings.lost`` where more were drawn than are there.

        More than are noted are noted now: a kill came between keeping and noting them.
        """
        noted = self._noted.count()
        if count > noted:
            self._note(count)
        if count < noted:
            raise self._error(
                "roundings.lost",
                msg(
                    "{path}: what was drawn at random for these data before is missing; if it "
                    "were drawn again, it could be averaged with the old draws.",
                    path=self._path,
                ),
            )

    def damaged(self) -> StorageError:
        """The error that the file cannot be read."""
        return self._error(
            "roundings.damaged",
            msg("{path}: the draws that are kept there cannot be read.", path=self._path),
        )

    @staticmethod
    def _error(code: str, sentence: str) -> StorageError:
        return StorageError(code, sentence, hint=_HINT)
