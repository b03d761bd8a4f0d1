"""Tables that went out about a population: what a new table of it can be compared with.

They lie in the home folder, one file for each population (or source, where a plan names no
population). A release enters it when it is exported or released. It holds no value of a row: of
tables, which cells were published exactly; of tables with noise or rounded values that there were
such; of their rows, from which file and by which choice they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from dpdesk.core.errors import StorageError
from dpdesk.core.messages import msg
from dpdesk.core.shapes import as_list, as_table
from dpdesk.io.canonical import canonical_json, parse_canonical
from dpdesk.project.review.homefiles import locked, read_small, write_private
from dpdesk.project.review.texts import fold_person
from dpdesk.project.roundings import Noted

FOLDER, NOTED = "released-tables", "released-tables.txt"
_LARGEST = 1 << 28


@dataclass(frozen=True)
class PastAxis:
    """A dimension: its nodes, and the one above each (-1: none).

    ``merged`` has the values that a node without parts stands for, where it is not one itself.
    """

    name: str
    labels: tuple[str, ...]
    parents: tuple[int, ...]
    merged: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class PastTable:
    """A table; ``known`` says of each cell whether its exact value was published.

    It is empty where no value is exact. ``measure`` is equal for tables of the same thing.
    """

    name: str
    measure: str
    axes: tuple[PastAxis, ...]
    known: tuple[bool, ...] = field(repr=False)


@dataclass(frozen=True)
class PastRows:
    """Of which rows tables are, by descriptions: nothing in them is a value of a row.

    ``source`` is the SHA-256 of the file (or of the rows that a server sent), ``reading`` one of
    how it was read; ``query`` chose rows, and ``edited`` says that they are a sample, or swapped.
    """

    source: str
    reading: str
    query: str = ""
    edited: bool = False


@dataclass(frozen=True)
class PastRelease:
    """A release by the SHA-256 of its manifest; without ``rows`` an earlier version entered it."""

    manifest: str
    title: str
    created: str
    tables: tuple[PastTable, ...]
    rows: PastRows | None = None


class PastTables:
    """The register of one population; ``source_sha256`` stands for one that has no name."""

    def __init__(self, home: Path, population: str, source_sha256: str) -> None:
        people = f"name {fold_person(population)}" if population else f"source {source_sha256}"
        self._name = hashlib.sha256(people.encode("utf-8")).hexdigest()[:32]
        self._folder = home / FOLDER
        self._path = self._folder / f"{self._name}.json"
        self._noted = Noted(NOTED, self._name)

    def enter(self, release: PastRelease) -> None:
        """Add a release that is not in it yet, or add its rows where these were not noted; and note
        how many there are now.

        Raises StorageError.
        """
        with locked(self._folder, self._name):
            known = self.releases()
            same = [one for one in known if one.manifest == release.manifest]
            if not same or (same[0].rows is None and release.rows is not None):
                known = (*(one for one in known if one not in same), release)
                listed = [_as_json(one) for one in known]
                write_private(self._path, canonical_json({"format": 1, "releases": listed}))
            if len(known) > self._noted.count():  # also what a kill kept from being noted
                hint = "Make the place of the witness writable, and export the release again."
                self._noted.tell(len(known), "past.not-noted", hint)

    def missing(self) -> int:
        """How many fewer are in it than were once: it was deleted, or is an old copy."""
        return max(0, self._noted.count() - len(self.releases()))

    def releases(self) -> tuple[PastRelease, ...]:
        """All of them, the oldest entry first. Raises StorageError ``past.damaged``."""
        if not self._path.exists():
            return ()
        try:
            raw = parse_canonical(read_small(self._path, _LARGEST))
            listed = {1: raw["releases"]}[int(str(raw["format"]))]
            return tuple(_from_json(as_table(each)) for each in as_list(listed))
        except (KeyError, TypeError, ValueError) as error:
            raise StorageError(
                "past.damaged",
                msg("{path}: cannot be read as a list of released tables.", path=self._path),
                hint="Put it back from a backup: without it, earlier tables are not compared.",
                details={"path": str(self._path)},
            ) from error


def _as_json(release: PastRelease) -> dict[str, object]:
    plain = asdict(release)
    for table, own in zip(plain["tables"], release.tables, strict=True):
        table["known"] = "".join("01"[known] for known in own.known)
    return plain


def merged_of(plain: object) -> Mapping[str, tuple[str, ...]]:
    """The values under each label; TypeError for anything else."""
    return {label: tuple(map(str, as_list(each))) for label, each in as_table(plain).items()}


def _from_json(raw: Mapping[str, object]) -> PastRelease:
    tables = []
    for one in map(as_table, as_list(raw["tables"])):
        axes = tuple(
            PastAxis(
                str(axis["name"]),
                tuple(map(str, as_list(axis["labels"]))),
                tuple(int(str(above)) for above in as_list(axis["parents"])),
                merged_of(axis.get("merged", {})),
            )
            for axis in map(as_table, as_list(one["axes"]))
        )
        known = tuple(sign == "1" for sign in str(one["known"]))
        tables.append(PastTable(str(one["name"]), str(one["measure"]), axes, known))
    manifest, title, created = (str(raw[key]) for key in ("manifest", "title", "created"))
    of = None if raw.get("rows") is None else _rows_from_json(as_table(raw["rows"]))
    return PastRelease(manifest, title, created, tuple(tables), of)


def _rows_from_json(raw: Mapping[str, object]) -> PastRows:
    source, reading, query = (str(raw[key]) for key in ("source", "reading", "query"))
    return PastRows(source, reading, query, bool(raw["edited"]))
