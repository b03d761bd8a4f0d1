"""JJ files as tables: a row for each cell, its place found again from the sums.

A JJ file numbers its cells and says which of them add up to which; it knows no columns and no
labels. The sums of a table by dimensions show them all the same: each sum through the grand total
begins a dimension, cells that are a part of one sum alone lie on its line, and every other cell is
where the sums that it is a part of say. Values are called by their place: 1, 2, and 2.1 below 2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod
from pathlib import Path

from dpdesk.core.errors import InputError
from dpdesk.core.labels import Kind, Variable
from dpdesk.core.messages import counted, msg
from dpdesk.core.parameters import exact_number
from dpdesk.core.plain import quoted
from dpdesk.io.formats.argus import lines_of
from dpdesk.io.formats.request import ReadRequest
from dpdesk.io.formats.table import Notes, Values

TOTAL = "Total"
_AMOUNTS = ("value", "cost", "lower", "upper", "lower_required", "upper_required", "width_required")
_COLUMNS = ("value", "status", "cost", *_AMOUNTS[2:])
_STATUS = {"u": "U", "s": "S", "z": "P"}
_TERM = re.compile(r"(\d+)\s*\(\s*([+-]?\d+)\s*\)")
_MOST = 2_000_000
Sum = tuple[int, tuple[int, ...]]
"""A total and its parts, by the numbers of cells."""


@dataclass(frozen=True)
class JjFile:
    """The cells of a file as texts by column, and its sums."""

    cells: Mapping[str, Sequence[str]]
    sums: Sequence[Sum]


def read_jj(path: Path) -> JjFile:
    """Read a file. InputError ``jj.line`` with the number of a line that is none; StorageError."""
    lines = [line.split() for line in lines_of(path, "jj")]
    while lines and not lines[-1]:
        lines.pop()
    count = _count(path, lines, 1, "the number of its cells")
    cells: dict[str, list[str]] = {name: [] for name in _COLUMNS}
    for number in range(count):
        fields = lines[number + 2] if number + 2 < len(lines) else []
        amounts = [exact_number(text) for text in (*fields[1:3], *fields[4:])]
        known = len(fields) == 9 and fields[3].lower() in _STATUS and fields[0] == str(number)
        if not known or None in amounts:
            raise _line(
                path,
                number + 3,
                fields,
                "cell",
                "its number, value, cost, status u, s or z, two bounds and three protection levels",
            )
        for name, amount in zip(_AMOUNTS, amounts, strict=True):
            cells[name].append(_text(amount or Fraction(0)))
        cells["status"].append(_STATUS[fields[3].lower()])
    wanted = _count(path, lines, count + 2, "the number of its sums")
    first = count + 3
    if len(lines) != first + wanted:
        raise _line(path, len(lines), lines[-1], "last line", "as many sums as it says")
    sums = [_sum(path, first + n + 1, lines[first + n], count) for n in range(wanted)]
    return JjFile(cells, sums)


def _count(path: Path, lines: Sequence[Sequence[str]], at: int, expected: str) -> int:
    fields = lines[at] if at < len(lines) else []
    if len(fields) != 1 or not fields[0].isdigit() or int(fields[0]) > _MOST or lines[0] != ["0"]:
        raise _line(path, at + 1, fields, "line", expected)
    return int(fields[0])


def _sum(path: Path, number: int, fields: Sequence[str], count: int) -> Sum:
    text = " ".join(fields)
    head, colon, rest = text.partition(":")
    terms = [(int(cell), int(sign)) for cell, sign in _TERM.findall(rest)]
    own = head.split()
    plus = [cell for cell, sign in terms if sign == 1]
    minus = [cell for cell, sign in terms if sign == -1]
    fits = (
        colon
        and not _TERM.sub("", rest).strip()
        and len(own) == 2
        and exact_number(own[0]) == 0
        and own[1] == str(len(terms))
        and len(plus) + len(minus) == len(terms) > 1
        and 1 in (len(plus), len(minus))
        and len({*plus, *minus}) == len(terms)
        and max(*plus, *minus) < count
    )
    if not fits:
        raise _line(
            path,
            number,
            fields,
            "sum",
            "0, how many cells, and one total with its parts as `cell (1)` and `cell (-1)`",
        )
    total, parts = (minus[0], plus) if len(minus) == 1 else (plus[0], minus)
    return total, tuple(parts)


def _line(path: Path, number: int, fields: Sequence[str], kind: str, expected: str) -> InputError:
    found = quoted(" ".join(fields)[:60]) if fields else "nothing"
    return InputError(
        "jj.line",
        msg(
            "{file}, line {line}: found {found}, expected {expected}.",
            file=path.name,
            line=number,
            found=found,
            expected=expected,
        ),
        details={"line": number, "kind": kind},
    )


def _text(amount: Fraction) -> str:
    return str(amount.numerator) if amount.denominator == 1 else repr(float(amount))


@dataclass
class _Axis:
    """The nodes of a dimension, by their cells on its line: the node above each, and its label."""

    above: dict[int, int] = field(default_factory=dict)
    below: dict[int, tuple[int, ...]] = field(default_factory=dict)
    labels: dict[int, str] = field(default_factory=dict)

    @property
    def nodes(self) -> int:
        """How many there are, the total among them."""
        return len(self.labels)


class _Unplaced(Exception):  # noqa: N818 - the caller says it of the file
    """The sums are not those of one table by dimensions."""


def placed(file: JjFile) -> list[list[str]] | None:
    """The labels of each cell, by dimension; None where the sums are not those of one table."""
    try:
        return _Places(len(file.cells["value"]), file.sums).labels()
    except _Unplaced:
        return None


class _Places:
    def __init__(self, count: int, sums: Sequence[Sum]) -> None:
        self._count, self._sums = count, sums
        self._within: list[list[int]] = [[] for _ in range(count)]
        self._over: list[list[int]] = [[] for _ in range(count)]
        for number, (total, parts) in enumerate(sums):
            self._over[total].append(number)
            for part in parts:
                self._within[part].append(number)
        tops = [cell for cell in range(count) if not self._within[cell]]
        if len(tops) != 1 or not self._over[tops[0]]:
            raise _Unplaced
        self.top = tops[0]

    def labels(self) -> list[list[str]]:
        """See :func:`placed`."""
        first = sorted(self._over[self.top], key=lambda number: min(self._sums[number][1]))
        axes = [self._axis(number) for number in first]
        places = self._places(axes)
        wanted = prod(axis.nodes for axis in axes)
        if len({*places}) != self._count or wanted != self._count:
            raise _Unplaced
        self._check_sums(axes, places)
        return [
            [axis.labels[node] for axis, node in zip(axes, place, strict=True)] for place in places
        ]

    def _axis(self, first: int) -> _Axis:
        axis = _Axis(labels={self.top: TOTAL})
        waiting = [(first, "")]
        while waiting:
            number, before = waiting.pop()
            total, parts = self._sums[number]
            axis.below[total] = parts
            for place, part in enumerate(sorted(parts), 1):
                if self._within[part] != [number] or part in axis.labels:
                    raise _Unplaced
                axis.above[part], axis.labels[part] = total, f"{before}{place}"
                own = [
                    over
                    for over in self._over[part]
                    if all(self._within[each] == [over] for each in self._sums[over][1])
                ]
                if len(own) > 1:
                    raise _Unplaced
                waiting += [(over, f"{axis.labels[part]}.") for over in own]
        return axis

    def _places(self, axes: Sequence[_Axis]) -> list[tuple[int, ...]]:
        """The node of each cell along each dimension."""
        found: dict[int, tuple[int, ...]] = {}
        for number, axis in enumerate(axes):
            for node in axis.labels:
                at = [self.top] * len(axes)
                at[number] = node
                found[node] = tuple(at)
        for cell in self._from_the_top():
            if cell in found:
                continue
            above = [found[self._sums[number][0]] for number in self._within[cell]]
            at = []
            for axis, nodes in zip(axes, zip(*above, strict=True), strict=True):
                deepest = [n for n in {*nodes} if {*nodes} <= {n, axis.above.get(n)}]
                if not deepest:
                    raise _Unplaced
                at.append(min(deepest, key=lambda n: n == self.top))
            found[cell] = tuple(at)
        return [found[cell] for cell in range(self._count)]

    def _from_the_top(self) -> Iterator[int]:
        """All cells, each after the totals that it is a part of."""
        left = [len(each) for each in self._within]
        waiting, seen = [self.top], 0
        while waiting:
            cell = waiting.pop()
            seen += 1
            yield cell
            for number in self._over[cell]:
                for part in self._sums[number][1]:
                    left[part] -= 1
                    if not left[part]:
                        waiting.append(part)
        if seen != self._count:
            raise _Unplaced

    def _check_sums(self, axes: Sequence[_Axis], places: Sequence[tuple[int, ...]]) -> None:
        """Raise where the sums are not exactly those along each dimension."""
        expected = sum(
            len(axis.below) * prod(other.nodes for other in axes if other is not axis)
            for axis in axes
        )
        seen = set[tuple[int, int]]()
        for total, parts in self._sums:
            moved = {
                number
                for part in parts
                for number in range(len(axes))
                if places[part][number] != places[total][number]
            }
            number = next(iter(moved)) if len(moved) == 1 else -1
            below = axes[number].below.get(places[total][number], ()) if number >= 0 else ()
            if {places[part][number] for part in parts} != {*below} or len(parts) != len(below):
                raise _Unplaced
            seen.add((total, number))
        if len(seen) != expected or len(self._sums) != expected:
            raise _Unplaced


class JjReader:
    """Such a file; see :class:`~dpdesk.io.formats.table.TableReader`.

    Raises InputError ``jj.line``, ``jj.sums`` for sums that are not those of one table.
    """

    encoding = "utf-8"

    def __init__(self, request: ReadRequest) -> None:
        path = Path(request.path)
        file = read_jj(path)
        places = placed(file)
        if places is None:
            raise InputError(
                "jj.sums",
                msg(
                    "{file}: its sums are not those of one table by dimensions with all of its "
                    "cells.",
                    file=path.name,
                ),
                hint="Linked tables, and tables without their empty cells, are not read.",
            )
        axes = [f"dimension {number}" for number in range(1, len(places[0]) + 1)]
        self._texts = [list(column) for column in zip(*places, strict=True)]
        self._texts += [list(file.cells[name]) for name in _COLUMNS]
        kinds = [*(Kind.TEXT for _ in axes), Kind.NUMBER, Kind.TEXT]
        kinds += [Kind.NUMBER] * (len(_COLUMNS) - 2)
        self.variables = tuple(
            Variable(name, kind=kind) for name, kind in zip((*axes, *_COLUMNS), kinds, strict=True)
        )
        self.rows: int | None = len(places)
        self.notes = Notes()
        for name, labels in zip(axes, self._texts[: len(axes)], strict=True):
            groups = sorted({text.rpartition(".")[0] for text in labels} - {""})
            if groups:
                self.notes.add(
                    "groups",
                    counted(
                        "`{column}` has a group with subtotals, {group}: give it a hierarchy in "
                        "which 1.2 is below 1.",
                        "`{column}` has {n:,} groups with subtotals, such as {group}: give it a "
                        "hierarchy in which 1.2 is below 1.",
                        n=len(groups),
                        column=name,
                        group=groups[0],
                    ),
                )

    def batches(self, limit: int | None) -> Iterator[tuple[Values, ...]]:
        """The cells, in their order."""
        import pyarrow as pa

        yield tuple(Values(pa.array(column[:limit], pa.string())) for column in self._texts)

    def close(self) -> None:
        """Nothing is open."""


class PrivateJj(JjReader):
    """Such a file for a method that reads persons, of which it has none."""

    def __init__(self, request: ReadRequest) -> None:
        raise InputError(
            "jj.private",
            msg(
                "{file}: a JJ file holds cells and no rows of persons, which this method needs.",
                file=Path(request.path).name,
            ),
        )
