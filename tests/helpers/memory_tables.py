"""Tables held as Python lists: sources and releases for tests, obvious rather than fast."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from dpdesk.core.frequency import FrequencyTable, RowRule
from dpdesk.core.jobs import CancelToken
from dpdesk.core.recoding import Recoding
from dpdesk.core.release import CountedRows, GroupSizes

Row = tuple[str, ...]


@dataclass(frozen=True)
class MemorySource:
    """A FrequencySource over rows of text."""

    columns: tuple[str, ...]
    data: tuple[Row, ...] = field(repr=False)
    name: str = "people.csv"
    missing: frozenset[str] = frozenset({""})

    @classmethod
    def of(
        cls,
        columns: Sequence[str],
        rows: Sequence[Sequence[str]],
        name: str = "people.csv",
        missing: Collection[str] = ("",),
    ) -> MemorySource:
        return cls(tuple(columns), tuple(tuple(row) for row in rows), name, frozenset(missing))

    @classmethod
    def from_csv(cls, path: Path, delimiter: str = ",") -> MemorySource:
        with path.open(encoding="utf-8", newline="") as stream:
            columns, *rows = csv.reader(stream, delimiter=delimiter)
        return cls.of(columns, rows, path.name)

    @property
    def rows(self) -> int:
        return len(self.data)

    def column(self, name: str) -> list[str]:
        place = self.columns.index(name)
        return [row[place] for row in self.data]

    def frequency_table(self, attributes: Sequence[str], token: CancelToken) -> FrequencyTable:
        token.check()
        places = [self.columns.index(name) for name in attributes]
        counts = Counter(tuple(row[place] for place in places) for row in self.data)
        tuples = sorted(counts)
        domains = tuple(
            tuple(sorted({values[position] for values in tuples}))
            for position in range(len(places))
        )
        codes = np.array(
            [
                [domains[position].index(value) for position, value in enumerate(values)]
                for values in tuples
            ],
            dtype=np.int32,
        ).reshape(len(tuples), len(places))
        missing = tuple(
            frozenset(code for code, value in enumerate(domain) if value in self.missing)
            for domain in domains
        )
        sizes = np.array([counts[values] for values in tuples], dtype=np.int64)
        return FrequencyTable(tuple(attributes), domains, codes, sizes, missing)

    def restricted(self, rule: RowRule, token: CancelToken) -> MemorySource:
        token.check()
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.data[:: rule.every]]
        rows = [row for row in rows if not any(row[name] in rule.lost[name] for name in rule.lost)]
        if rule.person is not None:
            rows = [row for row in rows if row[rule.person] not in self.missing]
        if rule.person is not None and rule.most is not None:
            left = Counter({row[rule.person]: rule.most for row in rows})
            kept = []
            for row in sorted(rows, key=lambda row: [row[name] for name in rule.order]):
                if left[row[rule.person]]:
                    left[row[rule.person]] -= 1
                    kept.append(row)
            rows = kept
        data = [[row[name] for name in self.columns] for row in rows]
        return MemorySource.of(self.columns, data, self.name, self.missing)


@dataclass(frozen=True)
class MemoryPublished:
    """A PublishedTable over rows of text."""

    columns: tuple[str, ...]
    data: tuple[Row, ...] = field(repr=False)
    further: Mapping[str, MemoryPublished] = field(default_factory=dict, repr=False)

    @property
    def rows(self) -> int:
        return len(self.data)

    def beside(self, file: str, token: CancelToken) -> MemoryPublished:
        token.check()
        return self.further[file]

    def _counts(self, columns: Sequence[str]) -> Counter[Row]:
        places = [self.columns.index(name) for name in columns]
        return Counter(tuple(row[place] for place in places) for row in self.data)

    def group_sizes(self, columns: Sequence[str], token: CancelToken) -> GroupSizes:
        token.check()
        sizes = list(self._counts(columns).values())
        squares, least = sum(size * size for size in sizes), min(sizes, default=0)
        return GroupSizes(len(sizes), sum(sizes), least, squares, sizes.count(1))

    def value_counts(self, column: str, token: CancelToken) -> Mapping[str, int]:
        token.check()
        return {values[0]: rows for values, rows in self._counts([column]).items()}

    def combinations(self, columns: Sequence[str], token: CancelToken) -> CountedRows:
        token.check()
        counts = self._counts(columns)
        texts = tuple(tuple(sorted({key[at] for key in counts})) for at in range(len(columns)))
        codes = [[own.index(text) for own, text in zip(texts, key, strict=True)] for key in counts]
        held = np.array(codes, np.int32).reshape(len(counts), len(columns))
        return CountedRows(tuple(columns), texts, held, np.array([*counts.values()], np.int64))

    def fewest_values(self, columns: Sequence[str], counted: str, token: CancelToken) -> int:
        token.check()
        groups = Counter(key[:-1] for key in self._counts([*columns, counted]))
        return min(groups.values(), default=0)

    def with_cell(self, row: int, column: str, value: str) -> MemoryPublished:
        """The same table with one cell changed."""
        place = self.columns.index(column)
        data = list(self.data)
        data[row] = (*data[row][:place], value, *data[row][place + 1 :])
        return MemoryPublished(self.columns, tuple(data), self.further)


def publish(source: MemorySource, recoding: Recoding) -> MemoryPublished:
    """Carry out a recoding row by row, as interface.md describes ``public/microdata.csv``."""
    gone = {
        tuple(labels[code] for labels, code in zip(recoding.labels, codes, strict=True))
        for codes in recoding.suppressed.tolist()
    }
    names = [name for name in source.columns if name not in recoding.dropped_columns]
    rows = []
    for row in source.data:
        cells = dict(zip(source.columns, row, strict=True))
        for name in recoding.attributes:
            cells[name] = recoding.mapping[name][cells[name]]
        if tuple(cells[name] for name in recoding.attributes) not in gone:
            rows.append(tuple(cells[name] for name in names))
    return MemoryPublished(tuple(names), tuple(sorted(rows)))
