"""Tables that went out before: entering them, and comparing a new table with them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dpdesk.app.past_rows import Groups, Kin, Source, described, is_edited
from dpdesk.app.past_words import NAMED, differenced, harmless, left_out, small_groups
from dpdesk.core.capabilities import Content
from dpdesk.core.cuboid import listed_tables
from dpdesk.core.frequency import FrequencyTable
from dpdesk.core.jobs import CancelToken, Note
from dpdesk.core.messages import counted, joined, listed
from dpdesk.core.plain import quoted, thaw
from dpdesk.core.shapes import as_list, as_table
from dpdesk.core.source_spec import read_source
from dpdesk.core.table_parameters import RATIO
from dpdesk.core.tabulation import CellTable, cell_words
from dpdesk.engine.tables.differencing import (
    MOST_ENTRIES,
    computable,
    small_differences,
)
from dpdesk.project.past_tables import PastAxis, PastRelease, PastTable, PastTables, merged_of

if TYPE_CHECKING:
    from dpdesk.app.context import AppContext
    from dpdesk.app.prepared import PreparedCells
    from dpdesk.core.release import ReleaseFacts
    from dpdesk.engine.registry import Registry
    from dpdesk.io.store import DataStore
    from dpdesk.io.workspace import Workspace

_LEAST = 3
"""Contributors below which a difference is reported where no threshold rule says."""


def enter_release(home: Path, facts: ReleaseFacts, registry: Registry, token: CancelToken) -> None:
    """Enter the tables of a release that goes out; one of rows, or without the part that says
    whom it is about, is left out.

    Raises StorageError, what :func:`~dpdesk.app.cells.both_tables` raises.
    """
    content = registry.about(facts.method).content
    if facts.internal is None or content not in (Content.CELLS, Content.TABLES):
        return
    import hashlib

    code = hashlib.sha256((facts.public / "manifest.json").read_bytes()).hexdigest()
    tables = tuple(_cells_of(facts, token) if content is Content.CELLS else _cuboids_of(facts))
    plan = facts.evidence.plan.get("budget") or {}
    people = str(as_table(plan).get("population") or "")
    source = facts.evidence.source
    spec = read_source(as_table(facts.evidence.plan["source"]), "the plan in the evidence")
    settings = as_table(as_table(facts.evidence.plan["protection"]))
    rows = described(source.sha256, source.reading, spec, settings)
    register = PastTables(home, people, source.sha256)
    register.enter(PastRelease(code, facts.title, facts.created, tables, rows))


def enter_folder(context: AppContext, folder: Path, token: CancelToken) -> None:
    """As :func:`enter_release`, for a release folder."""
    from dpdesk.io.release_check import read_release

    enter_release(context.home, read_release(folder), context.registry, token)


def _cells_of(facts: ReleaseFacts, token: CancelToken) -> Iterator[PastTable]:
    from dpdesk.app.cells import both_tables
    from dpdesk.app.table_exports import measure_key

    manifest = facts.manifest
    edited = {"sample", "swapped"} & {*manifest.guarantee.parameters}
    exact = manifest.parameters.get("protect", "suppress") in ("suppress", "none") and not edited
    published, _ = both_tables(manifest, facts.public, None, token)
    kinds = [as_table(each)["measure"] for each in as_list(manifest.result["tables"])]
    for table, kind in zip(published.values(), kinds, strict=True):
        if kind == RATIO:
            continue  # made of other tables of the release
        axes = _axes(table, manifest.parameters)
        known = tuple(bool(value) for value in table.values) if exact else ()
        yield PastTable(table.name, measure_key(manifest, table.name), axes, known)


def _cuboids_of(facts: ReleaseFacts) -> Iterator[PastTable]:
    """Tables of a cube: exact ones have all their values, others none that is exact."""
    result = facts.manifest.result
    domains = {
        str(one["dimension"]): tuple(map(str, as_list(one["categories"])))
        for one in map(as_table, as_list(result.get("domains") or []))
    }
    counts = facts.manifest.parameters.get("measure") in (None, "count")
    for item in listed_tables(result):
        names = [str(name) for name in as_list(item["dimensions"])]
        axes = tuple(
            PastAxis(name, domains.get(name, ()), (-1,) * len(domains.get(name, ())))
            for name in names
        )
        cells = prod(len(axis.labels) for axis in axes)
        exact = item.get("exact") is True and counts
        known = (True,) * cells if exact else ()
        yield PastTable(str(item["file"]), json.dumps("count"), axes, known)


def plan_notes(
    data: DataStore,
    parameters: Mapping[str, object],
    tables: Sequence[CellTable],
    token: CancelToken,
) -> tuple[Note, ...]:
    """What tables of one plan, made with ``parameters``, give away together; Cancelled."""
    if not _exact(parameters) or len(tables) < 2 or parameters.get("cells") is not None:
        return ()
    made = [_as_past(table, parameters) for table in tables]
    table = data.frequency_table(_named(data, made), token)
    every = np.ones(len(table.counts), dtype=bool)
    own = Groups(table, {"": every})
    new = [(_measure(parameters, each.name), _placed(each, own, "")) for each in made]
    return tuple(_of_plan(new, token))


def past_notes(
    prepared: PreparedCells,
    workspace: Workspace,
    parameters: Mapping[str, object],
    tables: Sequence[CellTable],
    token: CancelToken,
) -> tuple[Note, ...]:
    """What earlier tables of the same people give away of new ones, made with ``parameters``.

    Raises StorageError ``past.damaged``, Cancelled.
    """
    place = prepared.home, prepared.plan.budget, source_of(prepared, workspace)
    return earlier_notes(*place, parameters, tables, token)


def source_of(prepared: PreparedCells, workspace: Workspace) -> Source:
    """The source of a plan that is ready."""
    return Source(prepared.data, prepared.plan.source, prepared.base, workspace)


def given_away(
    prepared: PreparedCells,
    source: Source,
    parameters: Mapping[str, object],
    tables: Sequence[CellTable],
    token: CancelToken,
) -> tuple[Note, ...]:
    """What both say: :func:`plan_notes` and :func:`earlier_notes`."""
    own = plan_notes(prepared.data, parameters, tables, token)
    place = prepared.home, prepared.plan.budget, source
    return (*own, *earlier_notes(*place, parameters, tables, token))


def earlier_notes(
    home: Path,
    budget: Mapping[str, object] | None,
    source: Source,
    parameters: Mapping[str, object],
    tables: Sequence[CellTable],
    token: CancelToken,
    itself: str = "",
) -> tuple[Note, ...]:
    """As :func:`past_notes`; the release with the manifest ``itself`` is none of the earlier ones.

    Raises StorageError ``past.damaged``, Cancelled.
    """
    people = str((budget or {}).get("population") or "")
    register = PastTables(home, people, source.data.sha256)
    past, missing = register.releases(), register.missing()
    past = tuple(release for release in past if release.manifest != itself)
    found = _Compared(source, parameters, tables, past, token).notes() if past else ()
    if not missing or not _exact(parameters):
        return tuple(found)
    lost = Note(
        "table.earlier-missing",
        counted(
            "{n} earlier release about the same population is missing from the register of this "
            "computer, and was not compared: export it again to enter it.",
            "{n} earlier releases about the same population are missing from the register of this "
            "computer, and were not compared: export them again to enter them.",
            n=missing,
        ),
    )
    return lost, *found


def _exact(parameters: Mapping[str, object]) -> bool:
    """Whether published values are exact: what is rounded or changed is not, nor other rows."""
    exact = parameters.get("protect", "suppress") in ("suppress", "none")
    return exact and not is_edited(parameters)


def _named(data: DataStore, tables: Sequence[PastTable]) -> list[str]:
    """The columns of tables that a source has."""
    held = set(data.columns)
    columns = [axis.name for table in tables for axis in table.axes]
    return [name for name in dict.fromkeys(columns) if name in held]


@dataclass(frozen=True)
class _Placed:
    """A table over groups of rows: a set for each cell, its words, and whether it is published."""

    name: str
    places: Sequence[tuple[str, ...]]
    sets: np.ndarray
    known: np.ndarray

    def words(self, cell: int) -> str:
        return joined(("`", cell_words(self.places[cell]), "`"), "")

    def listed(self, cells: np.ndarray) -> tuple[int, str]:
        """How many cells these are, and the first of them by name."""
        return len(cells), listed([self.words(int(cell)) for cell in cells], NAMED)


def _of_plan(placed: Sequence[tuple[str, _Placed | None]], token: CancelToken) -> Iterator[Note]:
    """Cells that the tables of a plan give away together: their columns depend on each other.

    Where the search did not know that the towns of one table are the districts of another.
    """
    for place, (measure, new) in enumerate(placed):
        rest = [*placed[:place], *placed[place + 1 :]]
        others = [table for of, table in rest if of == measure]
        there = [table for table in others if table is not None]
        if others and (new is None or len(there) < len(others)):
            yield Note(
                "table.together-not-compared",
                "What the tables of the plan reveal together where columns depend on each "
                "other is not checked: they are too large.",
            )
            return
        if new is None or not there:
            continue
        hidden, shown = np.flatnonzero(~new.known), new.sets[new.known]
        sets = np.concatenate([table.sets[table.known] for table in there])
        found = computable(new.sets[hidden], shown, sets, token)
        if found.any():
            yield Note(
                "table.together",
                counted(
                    "Next to the other tables of the plan, {n} suppressed cell of {table} is "
                    "computable for those who know which values of the columns occur "
                    "together: {cells}. Where a value of one column decides that of another, "
                    "give the first a hierarchy in which the second is a level.",
                    "Next to the other tables of the plan, {n} suppressed cells of {table} are "
                    "computable for those who know which values of the columns occur "
                    "together: {cells}. Where a value of one column decides that of another, "
                    "give the first a hierarchy in which the second is a level.",
                    n=int(found.sum()),
                    table=quoted(new.name),
                    cells=new.listed(hidden[found])[1],
                ),
            )


@dataclass(frozen=True)
class _Earlier:
    """A table that went out; ``sure`` where its rows are known and not only supposed."""

    release: PastRelease
    measure: str
    table: _Placed
    sure: bool


class _Compared:
    def __init__(
        self,
        source: Source,
        parameters: Mapping[str, object],
        tables: Sequence[CellTable],
        past: Sequence[PastRelease],
        token: CancelToken,
    ) -> None:
        self._source, self._past, self._token = source, past, token
        self._parameters = parameters
        self._least = max(
            (int(str(rule["n"])) for rule in _rules(parameters) if rule.get("rule") == "threshold"),
            default=_LEAST,
        )
        self._new = [_as_past(table, parameters) for table in tables]

    def notes(self) -> Iterator[Note]:
        """All that is said of earlier tables."""
        if self._parameters.get("cells") is not None:
            yield Note(
                "table.earlier-not-compared",
                "Earlier tables of the same population are not compared: the source has cells, "
                "not rows.",
            )
            return
        if not _exact(self._parameters):
            yield Note(
                "table.earlier-not-compared",
                "Earlier tables of the same population are not compared: the values here are "
                "rounded or changed, or those of a sample or of swapped households.",
            )
            return
        kin = [self._source.kin(release.rows, self._token) for release in self._past]
        near = [one for one, of in zip(self._past, kin, strict=True) if of is not Kin.STRANGE]
        tables = [table for release in near for table in release.tables]
        names = _named(self._source.data, [*self._new, *tables])
        choices = {self._source.choice(release.rows) for release in near}
        self._groups = self._source.groups(names, choices, self._token)
        own = self._source.query
        new = [
            (_measure(self._parameters, table.name), _placed(table, self._groups, own))
            for table in self._new
        ]
        earlier, strange, passed = self._earlier(kin)
        yield from left_out(strange, passed)
        told: set[bool] = set()
        for measure, table in new:
            same = [one for one in earlier if one.measure == measure]
            for sure, note in self._of_table(table, same) if table is not None and same else ():
                told.add(sure)
                yield note
        for sure in sorted({one.sure for one in earlier} - told, reverse=True):
            yield harmless(sure, sum(one.sure is sure for one in earlier))

    def _earlier(self, kin: Sequence[Kin]) -> tuple[list[_Earlier], int, int]:
        """Tables that are compared; how many are of other rows, and how many do not fit."""
        found: list[_Earlier] = []
        strange = passed = 0
        for release, of in zip(self._past, kin, strict=True):
            choice = self._source.choice(release.rows)
            for table in release.tables:
                if of is Kin.STRANGE or self._groups.of(choice) is None:
                    strange += 1
                    continue
                placed = _placed(table, self._groups, choice) if any(table.known) else None
                if placed is None:
                    passed += 1
                else:
                    found.append(_Earlier(release, table.measure, placed, of is Kin.KNOWN))
        return found, strange, passed

    def _of_table(self, new: _Placed, past: Sequence[_Earlier]) -> Iterator[tuple[bool, Note]]:
        """What is said, and whether it is sure; what is only supposed comes last."""
        hidden, shown = np.flatnonzero(~new.known), new.sets[new.known]
        alone = np.zeros(len(hidden), dtype=bool)
        surely = alone.copy()
        for sure in (True, False):
            for release in dict.fromkeys(one.release for one in past if one.sure is sure):
                own = [one.table for one in past if one.release is release]
                sets = np.concatenate([table.sets[table.known] for table in own])
                found = computable(new.sets[hidden], shown, sets, self._token) & ~surely
                if found.any():
                    yield sure, differenced(new.listed(hidden[found]), release, sure)
                alone |= found
                for table in own:
                    for note in self._small(new, release, table, sure):
                        yield sure, note
            counting = [one for one in past if one.sure or not sure]
            if all(one.sure is not sure for one in past):
                continue
            sets = np.concatenate([one.table.sets[one.table.known] for one in counting])
            together = computable(new.sets[hidden], shown, sets, self._token) & ~alone
            if together.any():
                yield sure, differenced(new.listed(hidden[together]), None, sure)
            alone |= together
            surely = alone.copy()

    def _small(
        self, new: _Placed, release: PastRelease, table: _Placed, sure: bool
    ) -> Iterator[Note]:
        """Small groups between published cells of both tables."""
        ours, theirs = np.flatnonzero(new.known), np.flatnonzero(table.known)
        counts = self._groups.table.counts
        found = small_differences(
            new.sets[ours], table.sets[theirs], counts, self._least, self._token
        )
        if not found:
            return
        first = found[0]
        one, others = (new, table) if first.new else (table, new)
        mine, rest = (ours, theirs) if first.new else (theirs, ours)
        cell = one.words(int(mine[first.one]))
        without = listed([others.words(int(rest[c])) for c in first.others], NAMED)
        yield small_groups(len(found), release, (cell, without, first.count), sure)


def _placed(table: PastTable, groups: Groups, choice: str) -> _Placed | None:
    """The table over groups of rows; None where the source cannot place it."""
    chosen = groups.of(choice)
    if chosen is None:
        return None
    columns = []
    for axis in table.axes:
        inside = _inside(axis, groups.table, chosen)
        if inside is None:
            return None
        columns.append(inside)
    cells = prod(len(axis.labels) for axis in table.axes)
    if cells * len(chosen) > MOST_ENTRIES:
        return None
    sets = chosen[None, :]
    for inside in columns:
        sets = (sets[:, None, :] & inside[None, :, :]).reshape(-1, len(chosen))
    places = list(product(*(axis.labels for axis in table.axes)))
    return _Placed(table.name, places, sets, np.array(table.known, dtype=bool))


def _inside(axis: PastAxis, groups: FrequencyTable, chosen: np.ndarray) -> np.ndarray | None:
    """Which groups of rows each node of a dimension covers; None where it is not known.

    A value that no chosen row has need not be in the dimension.
    """
    if axis.name not in groups.attributes:
        return None
    place = groups.attributes.index(axis.name)
    domain = {value: code for code, value in enumerate(groups.domains[place])}
    inner = set(axis.parents)
    leaves = [node for node in range(len(axis.labels)) if node not in inner]
    covered = {node: axis.merged.get(axis.labels[node], (axis.labels[node],)) for node in leaves}
    occurring = {groups.domains[place][code] for code in set(groups.codes[chosen, place].tolist())}
    if not occurring <= {value for values in covered.values() for value in values}:
        return None
    inside = np.zeros((len(axis.labels), len(groups.counts)), dtype=bool)
    for node, above in enumerate(axis.parents):  # children stand before their total
        if node not in inner:
            codes = [domain[value] for value in covered[node] if value in domain]
            inside[node] = np.isin(groups.codes[:, place], codes)
        if above >= 0:
            inside[above] |= inside[node]
    return inside


def _rules(parameters: Mapping[str, object]) -> list[Mapping[str, object]]:
    return [as_table(rule) for rule in as_list(parameters.get("rule") or [])]


def _measure(parameters: Mapping[str, object], name: str) -> str:
    """As :func:`~dpdesk.app.table_exports.measure_key` calls it for a release."""
    asked = [as_table(each) for each in as_list(parameters.get("tables") or [])]
    own = next((each for each in asked if each.get("name") == name), parameters)
    measure = own.get("measure") or parameters.get("measure", "count")
    return json.dumps(thaw(measure), sort_keys=True)


def _as_past(table: CellTable, parameters: Mapping[str, object]) -> PastTable:
    known = tuple(bool(value) for value in table.values)
    return PastTable(table.name, "", _axes(table, parameters), known)


def _axes(table: CellTable, parameters: Mapping[str, object]) -> tuple[PastAxis, ...]:
    """The dimensions of a table, with the values that the settings merge."""
    asked = as_table(parameters.get("merge") or {})
    return tuple(
        PastAxis(axis.name, axis.labels, axis.parents, merged_of(asked.get(axis.name, {})))
        for axis in table.axes
    )
