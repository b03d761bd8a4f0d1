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

from dpdesk.core.capabilities import Content
from dpdesk.core.cuboid import listed_tables
from dpdesk.core.frequency import FrequencyTable
from dpdesk.core.jobs import CancelToken, Note
from dpdesk.core.messages import counted, joined, listed
from dpdesk.core.plain import quoted, thaw
from dpdesk.core.shapes import as_list, as_table
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

_NAMED = 3
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
    register = PastTables(home, people, facts.evidence.source.sha256)
    register.enter(PastRelease(code, facts.title, facts.created, tables))


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
    if not _exact(parameters) or len(tables) < 2:
        return ()
    return tuple(_Compared(data, parameters, tables, (), token).of_plan())


def past_notes(
    prepared: PreparedCells,
    parameters: Mapping[str, object],
    tables: Sequence[CellTable],
    token: CancelToken,
) -> tuple[Note, ...]:
    """What earlier tables of the same people give away of new ones, made with ``parameters``.

    Raises StorageError ``past.damaged``, Cancelled.
    """
    place = prepared.home, prepared.plan.budget, prepared.data
    return earlier_notes(*place, parameters, tables, token)


def given_away(
    prepared: PreparedCells,
    parameters: Mapping[str, object],
    tables: Sequence[CellTable],
    token: CancelToken,
) -> tuple[Note, ...]:
    """What both say: :func:`plan_notes` and :func:`past_notes`."""
    own = plan_notes(prepared.data, parameters, tables, token)
    return (*own, *past_notes(prepared, parameters, tables, token))


def earlier_notes(
    home: Path,
    budget: Mapping[str, object] | None,
    data: DataStore,
    parameters: Mapping[str, object],
    tables: Sequence[CellTable],
    token: CancelToken,
    itself: str = "",
) -> tuple[Note, ...]:
    """As :func:`past_notes`; the release with the manifest ``itself`` is none of the earlier ones.

    Raises StorageError ``past.damaged``, Cancelled.
    """
    register = PastTables(home, str((budget or {}).get("population") or ""), data.sha256)
    past, missing = register.releases(), register.missing()
    past = tuple(release for release in past if release.manifest != itself)
    if not _exact(parameters):
        return ()
    found = _Compared(data, parameters, tables, past, token).notes() if past else ()
    if not missing:
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
    edited = parameters.get("sample") is not None or parameters.get("swap") is not None
    return parameters.get("protect", "suppress") in ("suppress", "none") and not edited


@dataclass(frozen=True)
class _Placed:
    """A table over groups of rows: a set for each cell, its words, and whether it is published."""

    name: str
    places: Sequence[tuple[str, ...]]
    sets: np.ndarray
    known: np.ndarray

    def words(self, cell: int) -> str:
        return joined(("`", cell_words(self.places[cell]), "`"), "")


class _Compared:
    def __init__(
        self,
        data: DataStore,
        parameters: Mapping[str, object],
        tables: Sequence[CellTable],
        past: Sequence[PastRelease],
        token: CancelToken,
    ) -> None:
        self._past, self._token = past, token
        self._least = max(
            (int(str(rule["n"])) for rule in _rules(parameters) if rule.get("rule") == "threshold"),
            default=_LEAST,
        )
        self._new = [
            (_measure(parameters, table.name), _as_past(table, parameters)) for table in tables
        ]
        columns = [axis.name for _, table in self._new for axis in table.axes]
        columns += [axis.name for one in past for table in one.tables for axis in table.axes]
        held = set(data.columns)
        names = [name for name in dict.fromkeys(columns) if name in held]
        self._groups = data.frequency_table(names, token)
        self._ready = parameters.get("cells") is not None

    def notes(self) -> Iterator[Note]:
        """All that is said of earlier tables."""
        if self._ready:
            yield Note(
                "table.earlier-not-compared",
                "Earlier tables of the same population are not compared: the source has cells, "
                "not rows.",
            )
            return
        placed = [(measure, self._placed(table)) for measure, table in self._new]
        earlier: list[tuple[PastRelease, str, _Placed]] = []
        passed = 0
        for release in self._past:
            for table in release.tables:
                found = self._placed(table) if any(table.known) else None
                if found is None:
                    passed += 1
                else:
                    earlier.append((release, table.measure, found))
        if passed:
            yield Note(
                "table.earlier-passed",
                counted(
                    "{n} earlier table of the same population is not compared: it has noise or "
                    "rounded values, is too large, or has columns or categories that the source "
                    "lacks.",
                    "{n} earlier tables of the same population are not compared: they have noise "
                    "or rounded values, are too large, or have columns or categories that the "
                    "source lacks.",
                    n=passed,
                ),
            )
        told = False
        for measure, new in placed:
            own = [(release, table) for release, of, table in earlier if of == measure]
            for note in self._of_table(new, own) if new is not None and own else ():
                told = True
                yield note
        if earlier and not told:
            yield Note(
                "table.earlier-compared",
                counted(
                    "{n} earlier table of the same population was compared as if it were of the "
                    "same rows: no suppressed cell can be computed from it, and no small group is "
                    "a difference.",
                    "{n} earlier tables of the same population were compared as if they were of "
                    "the same rows: no suppressed cell can be computed from them, and no small "
                    "group is a difference.",
                    n=len(earlier),
                ),
            )

    def of_plan(self) -> Iterator[Note]:
        """Cells that the tables of the plan give away together: their columns depend on each other.

        Where the search did not know that the towns of one table are the districts of another.
        """
        if self._ready:
            return
        placed = [(measure, self._placed(table)) for measure, table in self._new]
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
            found = computable(new.sets[hidden], shown, sets, self._token)
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
                        cells=listed([new.words(int(c)) for c in hidden[found]], _NAMED),
                    ),
                )

    def _of_table(
        self, new: _Placed | None, past: Sequence[tuple[PastRelease, _Placed]]
    ) -> Iterator[Note]:
        assert new is not None
        hidden, shown = np.flatnonzero(~new.known), new.sets[new.known]
        alone = np.zeros(len(hidden), dtype=bool)
        for release in dict.fromkeys(release for release, _ in past):
            own = [table for one, table in past if one is release]
            sets = np.concatenate([table.sets[table.known] for table in own])
            found = computable(new.sets[hidden], shown, sets, self._token)
            alone |= found
            if found.any():
                yield Note(
                    "table.differenced",
                    counted(
                        "The earlier release {release} makes {n} suppressed cell computable: "
                        "{cells}.",
                        "The earlier release {release} makes {n} suppressed cells computable: "
                        "{cells}.",
                        n=int(found.sum()),
                        release=_called(release),
                        cells=listed([new.words(int(c)) for c in hidden[found]], _NAMED),
                    ),
                )
            for table in own:
                yield from self._small(new, release, table)
        sets = np.concatenate([table.sets[table.known] for _, table in past])
        together = computable(new.sets[hidden], shown, sets, self._token) & ~alone
        if together.any():
            yield Note(
                "table.differenced",
                counted(
                    "Earlier releases together make {n} suppressed cell computable: {cells}.",
                    "Earlier releases together make {n} suppressed cells computable: {cells}.",
                    n=int(together.sum()),
                    cells=listed([new.words(int(c)) for c in hidden[together]], _NAMED),
                ),
            )

    def _small(self, new: _Placed, release: PastRelease, table: _Placed) -> Iterator[Note]:
        """Small groups between published cells of both tables."""
        ours, theirs = np.flatnonzero(new.known), np.flatnonzero(table.known)
        counts = self._groups.counts
        found = small_differences(
            new.sets[ours], table.sets[theirs], counts, self._least, self._token
        )
        if not found:
            return
        first = found[0]
        one, others = (new, table) if first.new else (table, new)
        mine, rest = (ours, theirs) if first.new else (theirs, ours)
        yield Note(
            "table.small-difference",
            counted(
                "Next to the earlier release {release}, {n} small group can be computed as a "
                "difference, such as {cell} without {others}: {count} in all.",
                "Next to the earlier release {release}, {n} small groups can be computed as "
                "differences, such as {cell} without {others}: {count} in all.",
                n=len(found),
                release=_called(release),
                cell=one.words(int(mine[first.one])),
                others=listed([others.words(int(rest[c])) for c in first.others], _NAMED),
                count=first.count,
            ),
        )

    def _placed(self, table: PastTable) -> _Placed | None:
        """The table over the groups of rows; None where the source cannot place it."""
        groups = self._groups
        columns = []
        for axis in table.axes:
            inside = _inside(axis, groups)
            if inside is None:
                return None
            columns.append(inside)
        cells = prod(len(axis.labels) for axis in table.axes)
        if cells * len(groups.counts) > MOST_ENTRIES:
            return None
        sets = np.ones((1, len(groups.counts)), dtype=bool)
        for inside in columns:
            sets = (sets[:, None, :] & inside[None, :, :]).reshape(-1, len(groups.counts))
        places = list(product(*(axis.labels for axis in table.axes)))
        return _Placed(table.name, places, sets, np.array(table.known, dtype=bool))


def _inside(axis: PastAxis, groups: FrequencyTable) -> np.ndarray | None:
    """Which groups of rows each node of a dimension covers; None where it is not known."""
    if axis.name not in groups.attributes:
        return None
    place = groups.attributes.index(axis.name)
    domain = {value: code for code, value in enumerate(groups.domains[place])}
    inner = set(axis.parents)
    leaves = [node for node in range(len(axis.labels)) if node not in inner]
    covered = {node: axis.merged.get(axis.labels[node], (axis.labels[node],)) for node in leaves}
    if not set(domain) <= {value for values in covered.values() for value in values}:
        return None
    inside = np.zeros((len(axis.labels), len(groups.counts)), dtype=bool)
    for node, above in enumerate(axis.parents):  # children stand before their total
        if node not in inner:
            codes = [domain[value] for value in covered[node] if value in domain]
            inside[node] = np.isin(groups.codes[:, place], codes)
        if above >= 0:
            inside[above] |= inside[node]
    return inside


def _called(release: PastRelease) -> str:
    return quoted(", ".join(part for part in (release.title, release.created) if part))


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
