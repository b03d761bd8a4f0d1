"""Of which rows tables are, and how the rows of an earlier table lie to those of a new one.

Only of the same file, read alike, rows of another table are known: a filter says which of them are
in both. A table of some rows next to one of all tells of the others, so both are counted over
groups of all rows. Of another file nothing says whether its rows are these.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dpdesk.core.errors import InputError
from dpdesk.core.frequency import FrequencyTable
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plain import thaw
from dpdesk.core.source_spec import SourceSpec, asks_database
from dpdesk.io.canonical import canonical_json
from dpdesk.io.filtered_groups import filter_of, kept_groups, named_columns
from dpdesk.io.query_tree import QueryTree, read_query
from dpdesk.project.past_tables import PastRows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpdesk.io.store import DataStore
    from dpdesk.io.workspace import Workspace

_READING = ("format", "delimiter", "encoding", "decimal", "quote", "header", "missing", "escape")
_ASKED = ("skip", "empty_rows", "table", "metadata", "catalog", "engine", "columns", "coarsen")
"""What says which rows and values a source has, next to its file and its query."""


class Kin(Enum):
    """How the rows of an earlier table lie to those of a new one."""

    KNOWN = auto()
    """Rows of the same file: which ones is known."""
    SUPPOSED = auto()
    """Of another file, or of one read otherwise, or it was not noted: taken for these."""
    STRANGE = auto()
    """A sample, or rows that cannot be found in the source."""


def described(
    sha256: str, reading: Mapping[str, object], spec: SourceSpec, parameters: Mapping[str, object]
) -> PastRows:
    """What the register notes of the rows of tables: of file, reading, choice and settings."""
    asked = spec.as_plain()
    read = {key: thaw(reading.get(key)) for key in _READING}
    read |= {f"asked {key}": thaw(asked.get(key)) for key in _ASKED}
    code = hashlib.sha256(canonical_json(read)).hexdigest()
    return PastRows(sha256, code, (spec.query or "").strip(), is_edited(parameters))


def is_edited(parameters: Mapping[str, object]) -> bool:
    """Whether settings of a table take a sample, or swap households."""
    return any(parameters.get(key) is not None for key in ("sample", "swap"))


@dataclass(frozen=True, eq=False)
class Groups:
    """Rows alike in some columns and in who chooses them; ``kept`` has a line for each choice."""

    table: FrequencyTable
    kept: Mapping[str, NDArray[np.bool_]]

    def of(self, choice: str) -> NDArray[np.bool_] | None:
        """Which groups a query chooses; None where that is not known."""
        return self.kept.get(choice)


@dataclass(frozen=True, eq=False)
class Source:
    """The source of a new table; ``base`` and ``workspace`` are those of its plan."""

    data: DataStore
    spec: SourceSpec
    base: Path
    workspace: Workspace
    _found: dict[object, Groups] = field(default_factory=dict, repr=False)
    _whole: list[tuple[str, ...]] = field(default_factory=list, repr=False)

    def rows(self) -> PastRows:
        """The rows of the new table, but for what its settings do to them."""
        return described(self.data.sha256, self.data.reading.as_dict(), self.spec, {})

    @property
    def query(self) -> str:
        """Its own choice of rows."""
        return (self.spec.query or "").strip()

    def kin(self, past: PastRows | None, token: CancelToken) -> Kin:
        """How the rows of a release lie to those of this source.

        Raises what opening it raises, Cancelled.
        """
        own = self.rows()
        if past is None:
            return Kin.SUPPOSED
        if past.edited or (past.query != own.query and not self._follows(past.query, token)):
            return Kin.STRANGE
        alike = (past.source, past.reading) == (own.source, own.reading)
        return Kin.KNOWN if alike else Kin.SUPPOSED

    def choice(self, past: PastRows | None) -> str:
        """The query that chooses the rows of a release, as far as it is known."""
        return self.query if past is None else past.query

    def groups(self, names: Sequence[str], choices: Iterable[str], token: CancelToken) -> Groups:
        """Groups of rows by columns of these names, and which of them each query chooses.

        The source is opened again, with all of its rows, where its own query chooses some and
        others are asked for. Raises what opening it raises, Cancelled.
        """
        wanted = sorted({self.query, *choices})
        key = (*names, None, *wanted)
        if key not in self._found:
            if wanted == [self.query]:
                table = self.data.frequency_table(names, token)
                every = np.ones(len(table.counts), dtype=bool)
                self._found[key] = Groups(table, {self.query: every})
            else:
                self._found[key] = self._chosen(names, wanted, token)
        return self._found[key]

    def _follows(self, text: str, token: CancelToken) -> bool:
        """Whether which rows a query chooses can be found next to the choice of the source."""
        if self.spec.coarsen or asks_database(self.spec):
            return False
        both = [each for each in (text, self.query) if each]
        return all(self._filter(each, token) is not None for each in both)

    def _filter(self, text: str, token: CancelToken) -> QueryTree | None:
        spec = replace(self.spec, query=text)
        return filter_of(spec, self._columns(token), self.data.path) if text else None

    def _columns(self, token: CancelToken) -> tuple[str, ...]:
        """The columns of the source before its query."""
        if not self.query or read_query(self.query, self.data.name).selects_all:
            return self.data.columns
        if not self._whole:
            with ExitStack() as stack:
                self._whole.append(self._all(stack, token).columns)
        return self._whole[0]

    def _all(self, stack: ExitStack, token: CancelToken) -> DataStore:
        """The source with all of its rows."""
        from dpdesk.io.store import DataStore

        if not self.query:
            return self.data
        whole = replace(self.spec, query=None)
        data = DataStore.open(whole, self.base, self.workspace, token, silent)
        stack.callback(data.close)
        return data

    def _chosen(self, names: Sequence[str], wanted: Sequence[str], token: CancelToken) -> Groups:
        place = self.data.path
        with ExitStack() as stack:
            data = self._all(stack, token)
            trees = {text: self._filter(text, token) for text in wanted}
            looked = [
                name
                for tree in trees.values()
                if tree is not None
                for name in named_columns(tree, data.columns, place)
            ]
            asked = list(dict.fromkeys((*names, *looked)))
            table = data.frequency_table(asked, token)
        kept = {}
        for text, tree in trees.items():
            lines = _kept(table, tree, place, token)
            if lines is not None:
                kept[text] = lines
        return _narrowed(table, len(names), kept)


def _kept(
    table: FrequencyTable, tree: QueryTree | None, place: Path, token: CancelToken
) -> NDArray[np.bool_] | None:
    """None where the condition cannot be computed for some row."""
    if tree is None:
        return np.ones(len(table.counts), dtype=bool)
    try:
        return kept_groups(table, tree, place, token)
    except InputError:
        return None


def _narrowed(table: FrequencyTable, width: int, kept: Mapping[str, NDArray[np.bool_]]) -> Groups:
    """Groups by the first columns and by who chooses them: what is alike in these is one."""
    lines = np.stack([each.astype(np.int32) for each in kept.values()], axis=1)
    both = np.concatenate([table.codes[:, :width], lines], axis=1)
    rows, place = np.unique(both, axis=0, return_inverse=True)
    counts = np.zeros(len(rows), dtype=np.int64)
    np.add.at(counts, place.ravel(), table.counts)
    narrow = replace(
        table,
        attributes=table.attributes[:width],
        domains=table.domains[:width],
        codes=np.ascontiguousarray(rows[:, :width]),
        counts=counts,
        missing=table.missing[:width],
    )
    return Groups(narrow, {text: rows[:, width + j] > 0 for j, text in enumerate(kept)})
