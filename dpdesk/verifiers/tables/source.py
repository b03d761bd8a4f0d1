"""The agency's tables against the source: counted again, with the rules of the plan applied."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, pairwise
from math import isclose
from typing import Protocol

import numpy as np

from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.parameters import Nested, ParameterValue, exact_number
from dpdesk.core.plain import fraction_of, thaw
from dpdesk.core.schema import Role
from dpdesk.core.shapes import as_list, as_table
from dpdesk.core.tabulation import (
    PRIMARY,
    WIDTH,
    CellAxis,
    CellSource,
    CellTable,
    Tabulated,
    Tabulation,
)
from dpdesk.verifiers.reading import number
from dpdesk.verifiers.tables.published import (
    CommonSum,
    Place,
    added_up,
    axis_parts,
    equations,
    place_of,
)

_RELATIVE = 1e-12
_NONE = Fraction(0)


class Given(Protocol):
    """The source with the plan, as a method gets them."""

    @property
    def source(self) -> CellSource:
        """The source."""
        ...

    @property
    def parameters(self) -> Mapping[str, ParameterValue]:
        """The settings of the plan."""
        ...

    @property
    def roles(self) -> Mapping[str, Role]:
        """The role of every column."""
        ...

    @property
    def decimal(self) -> str:
        """The decimal mark of the source."""
        ...

    @property
    def hierarchies(self) -> Mapping[str, Hierarchy]:
        """Hierarchies by column; that of a column in one table alone by both names."""
        ...


@dataclass(frozen=True, eq=False)
class Recounted:
    """What the source gives of the cells of a table; None where it gives nothing of a cell.

    Of microdata ``rows`` are equal where cells hold the same rows (None: no row), and ``alone``
    says who is alone in a cell (None: nobody is). ``weights`` are those by which sums become means.
    """

    values: tuple[Fraction | None, ...]
    sums: tuple[Fraction | None, ...]
    frequency: tuple[int | None, ...]
    sizes: tuple[Fraction | None, ...]
    top: tuple[tuple[Fraction, ...], ...]
    status: tuple[str, ...]
    cost: tuple[Fraction | None, ...]
    weights: tuple[Fraction, ...] = ()
    rows: tuple[object | None, ...] | None = None
    alone: tuple[int | None, ...] | None = None
    levels: Mapping[int, tuple[Fraction, Fraction]] = field(default_factory=dict)
    widths: Mapping[int, Fraction] = field(default_factory=dict)
    asking: tuple[Fraction, ...] = ()
    """The largest contribution of who asks for protection."""
    holding: tuple[Fraction, ...] = ()
    """The largest of who does not do without it; below 0: everybody does."""


def plain_of(given: Given, key: str) -> object:
    """A setting of the plan as plain values."""
    value = given.parameters.get(key)
    return thaw(value.plain, exact=True) if isinstance(value, Nested) else value


def counted_again(
    table: CellTable, measure: object, given: Given, total: str, token: CancelToken
) -> Recounted:
    """Count the cells of a table again, whatever is set of them by hand."""
    ready = plain_of(given, "cells")
    if ready is not None:
        return _ready(table, as_table(ready), given, total, token)
    held = [name for name, role in given.roles.items() if role is Role.CLUSTER]
    plain = measure if isinstance(measure, Mapping) else {}
    column = plain.get("sum", plain.get("mean"))
    weight = plain.get("weight")
    asked = Tabulation(
        tuple(axis.name for axis in table.axes),
        tuple(_above(axis, _groups(given, axis.name)) for axis in table.axes),
        table.shape,
        None if column is None else str(column),
        None if weight is None else str(weight),
        held[0] if held else None,
        max(2, _most(given)),
        request=_consent(given, "request"),
        waive=_consent(given, "waive"),
    )
    found = given.source.tabulate(asked, token)
    unit = 10**found.scale
    sums = [Fraction(one, unit) for one in found.totals.tolist()]
    values: list[Fraction | None] = list(sums)
    by: list[Fraction] = []
    if "mean" in plain:
        by = [Fraction(one, 10**found.weight_scale) for one in found.weights.tolist()]
        values = [s / w if w else Fraction(0) for s, w in zip(sums, by, strict=True)]
    frequency = found.frequency.tolist()
    who = zip(frequency, found.who[:, 0].tolist(), strict=True)
    rows = zip(frequency, found.prints.tolist(), strict=True)
    return Recounted(
        tuple(values),
        tuple(sums),
        tuple(frequency),
        tuple(Fraction(one, unit) for one in found.sizes.tolist()),
        tuple(tuple(Fraction(one, unit) for one in row) for row in found.top.tolist()),
        ("",) * len(values),
        (None,) * len(values),
        tuple(by),
        tuple(each if n else None for n, each in rows),
        tuple(one if n == 1 else None for n, one in who),
        asking=_in_units(found.asking, unit),
        holding=_in_units(found.holding, unit),
    )


def _consent(given: Given, key: str) -> tuple[str, tuple[str, ...]] | None:
    raw = plain_of(given, key)
    if not isinstance(raw, Mapping):
        return None
    return str(raw["column"]), tuple(map(str, as_list(raw["values"])))


def _in_units(amounts: np.ndarray | None, unit: int) -> tuple[Fraction, ...]:
    return () if amounts is None else tuple(Fraction(one, unit) for one in amounts.tolist())


def common_sums(
    tables: Sequence[CellTable],
    measures: Sequence[object],
    counted: Sequence[Recounted],
    given: Given,
    token: CancelToken,
) -> tuple[list[CommonSum], bool]:
    """What cells of tables of one measure have to do with each other, by the rows in them.

    And whether that is all: of more than two tables it is not where there are too many cells.

    An innermost cell of one and one of the other belong together where a row is in both, and all
    that belong together are one sum. Cells to which nobody contributes are left out, with their
    rows. Of more than two tables see :func:`_beyond_two`.
    """
    names = list(dict.fromkeys(axis.name for table in tables for axis in table.axes))
    groups = given.source.frequency_table(names, token)
    values = [
        [domain[code] for code in column]
        for domain, column in zip(groups.domains, groups.codes.T.tolist(), strict=True)
    ]
    columns = dict(zip(groups.attributes, values, strict=True))
    places = [
        [None if x is None or not each.frequency[x] else x
         for x in _innermost(table, columns, len(groups.counts), given)]
        for table, each in zip(tables, counted, strict=True)
    ]  # fmt: skip
    found: list[CommonSum] = []
    complete = True
    for measure in dict.fromkeys(map(added_up, measures)):
        own = [t for t, each in enumerate(measures) if added_up(each) == measure]
        pairs: list[CommonSum] = []
        for one, other in combinations(own, 2):
            token.check()
            pairs += _together(one, places[one], other, places[other])
        found += pairs
        if len(own) > 2:
            more = _beyond_two(own, list(zip(*(places[t] for t in own), strict=True)), pairs)
            found += more or []
            complete &= more is not None
    return found, complete


def _innermost(
    table: CellTable, columns: Mapping[str, Sequence[str]], count: int, given: Given
) -> list[int | None]:
    """The innermost cell of each group of like rows; None where the table has none."""
    place: list[int | None] = [0] * count
    for axis in table.axes:
        above = _above(axis, _groups(given, axis.name))
        for row, value in enumerate(columns[axis.name]):
            before, nodes = place[row], above.get(value)
            place[row] = (
                None if before is None or nodes is None else before * len(axis.labels) + nodes[0]
            )
    return place


def _together(
    one: int, places: Sequence[int | None], other: int, others: Sequence[int | None]
) -> Iterator[CommonSum]:
    meets: dict[Place, set[Place]] = {}
    for here, there in zip(places, others, strict=True):
        if here is not None and there is not None:
            meets.setdefault((one, here), set()).add((other, there))
            meets.setdefault((other, there), set()).add((one, here))
    seen: set[Place] = set()
    for start in meets:
        if start in seen:
            continue
        part, waiting = {start}, [start]
        while waiting:
            fresh = meets[waiting.pop()] - part
            part |= fresh
            waiting += fresh
        seen |= part
        yield [(place, 1 if place[0] == one else -1) for place in part]


MOST_LEAVES, _SMALL, _NOTHING = 3_000, 1e-10, 1e-9
"""Innermost cells of all tables up to which sums of three and more of them are looked for."""


def _beyond_two(
    own: Sequence[int], groups: Sequence[tuple[int | None, ...]], pairs: Sequence[CommonSum]
) -> list[CommonSum] | None:
    """Factors of innermost cells of all these tables that sum to 0 for every group of like rows.

    An orthogonal basis of those that are none of the ``pairs``, by singular values of how often
    cells meet; None: there are too many cells.
    """
    column: dict[Place, int] = {}
    met: list[list[int]] = []
    for each in {each for each in groups if None not in each}:
        inside = [(t, cell) for t, cell in zip(own, each, strict=True) if cell is not None]
        met.append([column.setdefault(place, len(column)) for place in inside])
    if not met or len(column) > MOST_LEAVES:
        return None if met else []
    often = np.zeros((len(column), len(column)))
    places = np.array(met)
    for one in places.T:
        for other in places.T:
            np.add.at(often, (one, other), 1.0)
    wide = np.sqrt(np.diagonal(often))
    often /= wide[:, None] * wide[None, :]
    for pair in pairs:
        if all(place in column for place, _ in pair):
            at = [column[place] for place, _ in pair]
            long = np.array([factor for _, factor in pair]) * wide[at]
            often[np.ix_(at, at)] += np.outer(long, long) / (long @ long)
    _, sizes, basis = np.linalg.svd(often, hermitian=True)
    found: list[CommonSum] = []
    for vector in (basis[sizes < _SMALL] / wide).tolist():
        most = max(map(abs, vector))
        found.append(
            [
                (place, vector[n] / most)
                for place, n in column.items()
                if abs(vector[n]) > _NOTHING * most
            ]
        )
    return found


def _most(given: Given) -> int:
    numbers = [
        as_table(rule).get("n", 0)
        for rule in as_list(plain_of(given, "rule"))
        if as_table(rule)["rule"] == "dominance"
    ]
    return max((int(str(n)) for n in numbers), default=0)


def _groups(given: Given, column: str) -> Mapping[str, Sequence[str]]:
    """The values of a column that the plan counts together, by their label."""
    asked = plain_of(given, "merge")
    plain = as_table(as_table(asked).get(column, {})) if isinstance(asked, Mapping) else {}
    return {label: list(map(str, as_list(group))) for label, group in plain.items()}


def _above(axis: CellAxis, groups: Mapping[str, Sequence[str]]) -> dict[str, tuple[int, ...]]:
    """The nodes that each value counts in; those of ``groups`` in the one of their label."""
    parts = axis_parts(axis)
    found = {}
    for node, label in enumerate(axis.labels):
        if node in parts:
            continue
        nodes, here = [], node
        while here >= 0:
            nodes.append(here)
            here = axis.parents[here]
        for value in groups.get(label, (label,)):
            found[value] = tuple(nodes)
    return found


def _ready(
    table: CellTable, columns: Mapping[str, object], given: Given, total: str, token: CancelToken
) -> Recounted:
    """The cells of a table from a source that has them ready; only the rows that it has."""
    others = [name for name in _dimensions(given) if name not in {a.name for a in table.axes}]
    names = (*(axis.name for axis in table.axes), *others)
    own = [
        {"": (len(axis.labels) - 1,)} | {label: (i,) for i, label in enumerate(axis.labels)}
        for axis in table.axes
    ]
    members = (*own, *({total: (0,), "": (0,)} for _ in others))
    shape = (*table.shape, *(1 for _ in others))

    def column(name: object) -> Tabulated:
        return given.source.tabulate(Tabulation(names, members, shape, str(name)), token)

    def fractions(found: Tabulated) -> list[Fraction | None]:
        pairs = zip(found.totals.tolist(), found.frequency.tolist(), strict=True)
        return [Fraction(one, 10**found.scale) if there else None for one, there in pairs]

    values = _added_up(table, fractions(column(columns["value"])))
    counts = plain_of(given, "measure") == "count"
    held = columns.get("frequency")
    frequency = [each if counts and each.denominator == 1 else None for each in values]
    if held is not None:
        frequency = list(_added_up(table, fractions(column(held))))
    amounts = [fractions(column(name)) for name in as_list(columns.get("top", []))]
    top = _largest(table, amounts)
    if held is None and not counts:
        # Who gave the whole value is alone with it.
        frequency = [
            Fraction(0) if not value else Fraction(1) if each and each[0] == value else None
            for value, each in zip(values, top, strict=True)
        ]
    letters = ("",) * len(values)
    if "status" in columns:
        letters = tuple(_letters(given, str(columns["status"]), names, members, shape, token))
    none: list[Fraction | None] = [None] * len(values)
    needs = [fractions(column(name)) for name in as_list(columns.get("levels", []))]
    wide = needs[2] if len(needs) > 2 else none
    unsafe = [cell for cell, letter in enumerate(letters) if letter == "U"]
    return Recounted(
        tuple(values),
        tuple(values),
        tuple(None if n is None else int(n) for n in frequency),
        tuple(None if v is None else abs(v) for v in values),
        tuple(tuple(map(abs, each)) for each in top),
        letters,
        tuple(fractions(column(columns["cost"])) if "cost" in columns else none),
        levels={cell: levels for cell in unsafe if (levels := _levels(needs, cell)) is not None},
        widths={cell: width for cell in unsafe if (width := wide[cell]) is not None},
    )


def _levels(
    columns: Sequence[Sequence[Fraction | None]], cell: int
) -> tuple[Fraction, Fraction] | None:
    """How far a cell must be protected downwards and upwards; None: as the plan says."""
    ends = [column[cell] for column in columns[:2]]
    if len(ends) < 2 or ends[0] is None or ends[1] is None:
        return None
    return ends[0], ends[1]


def _added_up(table: CellTable, found: list[Fraction | None]) -> list[Fraction]:
    """Numbers of ready cells with those of absent totals, which are the sums of their parts."""
    return [each[0] for each in _filled(table, found, lambda parts: (sum(parts, _NONE),))]


def _largest(
    table: CellTable, columns: Sequence[Sequence[Fraction | None]]
) -> list[tuple[Fraction, ...]]:
    """The largest contributions of each cell; those of absent totals are among their parts'."""
    rows = list(zip(*columns, strict=True)) or [()] * len(table.values)
    width = len(columns)
    known = [
        None if all(one is None for one in row) else _by_size([one or _NONE for one in row])
        for row in rows
    ]
    return _filled(table, known, lambda parts: _by_size(parts)[:width])


def _by_size(amounts: Sequence[Fraction]) -> tuple[Fraction, ...]:
    return tuple(sorted(amounts, key=abs, reverse=True))


def _filled(
    table: CellTable,
    found: Sequence[Fraction | tuple[Fraction, ...] | None],
    combined: Callable[[list[Fraction]], tuple[Fraction, ...]],
) -> list[tuple[Fraction, ...]]:
    """Lines of numbers by cell; those of absent totals made of their parts', absent parts 0."""
    lines = [each if isinstance(each, tuple | None) else (each,) for each in found]
    every = list(equations(table.axes))
    totals = {total for total, _ in every}
    lines = [() if x is None and i not in totals else x for i, x in enumerate(lines)]
    while any(each is None for each in lines):
        for total, parts in every:
            below = [lines[part] for part in parts]
            if lines[total] is None and None not in below:
                lines[total] = combined([one for line in below for one in line or ()])
    return [line or (_NONE,) for line in lines]


def _letters(
    given: Given,
    column: str,
    names: tuple[str, ...],
    members: tuple[Mapping[str, Sequence[int]], ...],
    shape: tuple[int, ...],
    token: CancelToken,
) -> Iterator[str]:
    domain = given.source.frequency_table([column], token).domains[0]
    letters = ("S", "U", "P", "")
    places = {text: (letters.index(text.strip().upper()),) for text in domain}
    asked = Tabulation((*names, column), (*members, places), (*shape, 4))
    found = given.source.tabulate(asked, token).frequency.reshape(-1, 4)
    yield from (letters[int(np.argmax(row))] if row.any() else "" for row in found)


def _dimensions(given: Given) -> tuple[str, ...]:
    tables = plain_of(given, "tables")
    lists: list[object] = []
    if isinstance(tables, list):
        for one in map(as_table, tables):
            lists += [*as_list(one.get("rows", [])), *as_list(one.get("columns", []))]
    else:
        for key in ("rows", "columns"):
            value = given.parameters.get(key)
            lists += list(getattr(value, "items", ()))
    return tuple(dict.fromkeys(map(str, lists)))


def other_counts(table: CellTable, inside: CellTable, found: Recounted) -> str:
    """The first cell of the agency's table that the source gives another value of; empty: none."""
    for cell, text in enumerate(inside.internal["value"]):
        wanted, frequency = found.values[cell], found.frequency[cell]
        stated = number(text)
        near = wanted is None or isclose(stated, wanted, rel_tol=_RELATIVE)
        held = inside.internal["frequency"][cell]
        if not near or (frequency is not None and held != str(frequency)):
            return msg("cell {cell}: the source gives a different one", cell=place_of(table, cell))
    return ""


def has_groups(given: Given) -> bool:
    """Whether a rule looks for whole groups, so that empty cells may be suppressed."""
    return any(as_table(rule).get("full") is True for rule in as_list(plain_of(given, "rule")))


def other_plan(
    tables: Sequence[tuple[CellTable, object]],
    guarantee: Mapping[str, object],
    given: Given,
    total: str,
    token: CancelToken,
) -> str:
    """What of dimensions and protection is not what plan and source give; empty: nothing."""
    searched = given.parameters.get("protect") == "suppress"
    searched = searched and given.parameters.get("secondary") != "none"
    if (as_table(guarantee["parameters"]).get("audited") is True) is not searched:
        return "the release promises a different protection than the plan requires"
    for table, measure in tables:
        fault = other_axes(table, measure, given, total, token)
        if fault:
            return msg("{file}: {note}", file=table.file, note=fault)
    return ""


def other_figures(
    recorded: Mapping[str, object],
    tables: Sequence[tuple[CellTable, CellTable, Sequence[int], Recounted]],
    protect: str,
    given: Given,
) -> str:
    """The first figure of the evidence that cells counted again do not give; empty: none.

    A cell counts once wherever it stands; the third of each table are the numbers of its cells. Of
    the proven bound can be told that it is not above the cost.
    """
    unsafe, further, moved = set[int](), dict[int, Fraction](), dict[int, Fraction]()
    paid = dict[int, Fraction]()
    for table, inside, numbers, again in tables:
        for cell, same in enumerate(numbers):
            if inside.internal["status"][cell] == PRIMARY:
                unsafe.add(same)
            elif not table.values[cell]:
                further.setdefault(same, _cost(again, cell, given))
            true = again.sums[cell]
            if table.values[cell] and true is not None:
                moved.setdefault(same, abs(number(table.values[cell]) - true))
                paid.setdefault(same, (again.cost[cell] or Fraction(1)) * moved[same])
    found = {"primary": Fraction(len(unsafe)), "secondary": Fraction(len(further))}
    if protect == "suppress":
        found["cost"] = sum(further.values(), _NONE)
    elif protect != "none":
        found["distance"] = sum(moved.values(), _NONE)
    if protect == "adjust":
        found["cost"] = sum(paid.values(), _NONE)
    for key, value in found.items():
        stated = recorded.get(key)
        fits = isinstance(stated, int | float) and not isinstance(stated, bool)
        if not fits or stated not in (value, float(value)):
            return msg("`{key}` is not what the source gives", key=f"result, {key}")
    if protect not in ("suppress", "adjust") and "bound" not in recorded:
        return ""
    cost = number(recorded["cost" if protect in ("suppress", "adjust") else "distance"])
    bound = number(recorded.get("bound", 0))
    fits = 0 <= bound <= cost and recorded.get("proven_optimal") is (bound == cost)
    return "" if fits else "the bound does not fit the cost"


def _cost(again: Recounted, cell: int, given: Given) -> Fraction:
    """What the suppression of a cell costs."""
    by_hand = again.cost[cell]
    if by_hand is not None:
        return by_hand
    kind = given.parameters.get("cost")
    if kind == "frequency":
        return Fraction(max(0, again.frequency[cell] or 0))
    return Fraction(1) if kind == "cells" else abs(again.sums[cell] or _NONE)


def other_axes(
    table: CellTable, measure: object, given: Given, total: str, token: CancelToken
) -> str:
    """The first dimension whose nodes are not those of its hierarchy or values; empty: none."""
    ready = plain_of(given, "cells") is not None
    for axis in table.axes:
        counted = given.source.frequency_table([axis.name], token)
        domain = counted.domains[0]
        gone = [domain[code] for code in sorted(counted.missing[0])] if counted.missing else []
        tree = given.hierarchies.get(f"{axis.name} ({table.name})")
        tree = tree or given.hierarchies.get(axis.name)
        if tree is not None:
            rows = (tree if ready else tree.with_untouched_leaves(gone)).rows()
        else:
            margins = ("", total) if ready else ()
            there = _in_order(domain, gone, given.decimal)
            if not ready:
                there = _with_rows(axis.name, there, measure, given, token)
            rows = [[one] for one in there if one not in margins]
        label_of = {v: label for label, g in _groups(given, axis.name).items() for v in g}
        together = ((label_of.get(row[0], row[0]), *row[1:]) for row in rows)
        labels, parents = _nodes(list(dict.fromkeys(together)), total)
        if labels != axis.labels or parents != axis.parents:
            return msg(
                "`{attribute}` has other nodes than its hierarchy or its values give",
                attribute=axis.name,
            )
    return ""


def _with_rows(
    name: str, domain: Sequence[str], measure: object, given: Given, token: CancelToken
) -> list[str]:
    """The values in rows that have what is added up and its weight; all where no row has."""
    plain = measure if isinstance(measure, Mapping) else {}
    wanted = [plain.get("sum", plain.get("mean")), plain.get("weight")]
    if wanted == [None, None]:
        return list(domain)
    column, weight = (None if one is None else str(one) for one in wanted)
    places = {value: (place,) for place, value in enumerate(domain)}
    asked = Tabulation((name,), (places,), (len(domain),), column, weight, None, 0)
    rows = given.source.tabulate(asked, token).frequency
    return [value for value, n in zip(domain, rows.tolist(), strict=True) if n] or list(domain)


def _in_order(domain: Sequence[str], gone: Sequence[str], decimal: str) -> list[str]:
    """Values without a hierarchy: numbers by size, texts by code point, missing ones last."""
    there = sorted(value for value in domain if value not in gone)
    sizes = {value: exact_number(value, decimal) for value in there}
    if None not in sizes.values():
        there.sort(key=lambda value: sizes[value] or _NONE)
    return [*there, *sorted(gone)]


def _nodes(rows: Sequence[Sequence[str]], total: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Labels and places above of the nodes of a hierarchy, children before their total.

    The top is the total: that of a hierarchy called ``*``, else one above it. A group of one value
    with that value's label is one node with it.
    """
    below: dict[str, dict[str, None]] = {}
    above: dict[str, str] = {}
    for row in rows:
        path = [*row[:-1], total] if len(row) > 1 and row[-1] == "*" else [*row, total]
        steps = [one for one, after in zip(path, [*path[1:], None], strict=True) if one != after]
        for one, after in pairwise(steps):
            above[one] = after
            below.setdefault(after, {})[one] = None
    labels: list[str] = []
    todo, seen = [(total, False)], {total}
    while todo:
        label, done = todo.pop()
        parts = [] if done else [each for each in below.get(label, ()) if each not in seen]
        seen.update(parts)
        if parts:
            todo += [(label, True), *((each, False) for each in reversed(parts))]
        else:
            labels.append(label)
    places = {label: place for place, label in enumerate(labels)}
    return tuple(labels), tuple(places[above[x]] if x in above else -1 for x in labels)


def groups_of(table: CellTable, inside: CellTable) -> Iterator[tuple[int, list[int]]]:
    """The cells that hold all contributors of a total of several, and the empty ones there."""
    held = [int(n) if n else -1 for n in inside.internal["frequency"]]
    for total, parts in equations(table.axes):
        for part in parts:
            if len(parts) > 1 and held[part] == held[total] > 0:
                yield part, [other for other in parts if not held[other]]


def full_needs(
    tables: Sequence[tuple[CellTable, CellTable, Sequence[int], bool]], given: Given
) -> Mapping[int, tuple[Fraction, Fraction]]:
    """How far cells of whole groups must be able to go down, and empty ones next to them up.

    By the numbers of the cells, which are the third of each table, for a cell can be of a group in
    another table alone; the last says whether things are counted.
    """
    usual = given.parameters.get("range")
    wide = usual if isinstance(usual, Fraction) else Fraction(1, 10)
    rules = [as_table(rule) for rule in as_list(plain_of(given, "rule"))]
    shares = [
        fraction_of(str(rule.get("range", wide))) for rule in rules if rule.get("full") is True
    ]
    found: dict[int, tuple[Fraction, Fraction]] = {}
    for table, inside, own, counts in tables if shares else ():
        values = inside.internal["value"]
        for full, empty in groups_of(table, inside):
            need = max(abs(Fraction(values[full])) * max(shares), Fraction(int(counts)))
            none = Fraction(0)
            for cell, down, up in ((full, need, none), *((one, none, need) for one in empty)):
                before = found.get(own[cell], (none, none))
                found[own[cell]] = max(before[0], down), max(before[1], up)
    return found


def other_status(
    table: CellTable,
    inside: CellTable,
    found: Recounted,
    given: Given,
    full: Mapping[int, tuple[Fraction, Fraction]],
    *,
    counts: bool,
) -> str:
    """The first cell whose status or required protection the rules do not give; empty: none.

    ``full`` says how far cells of whole groups must go down and up. Cells that a source with ready
    cells does not have are left out.
    """
    rules = [as_table(rule) for rule in as_list(plain_of(given, "rule"))]
    asked = plain_of(given, "request")
    rules += [{"rule": "request", **as_table(asked)}] if isinstance(asked, Mapping) else []
    usual = given.parameters.get("range")
    wide = usual if isinstance(usual, Fraction) else Fraction(1, 10)
    for cell, value in enumerate(found.sums):
        if value is None:
            continue
        unsafe, need = _judged(found, cell, value, rules, wide, counts=counts)
        down, up = found.levels.get(cell, (need, need))
        if cell in full and not found.status[cell]:
            unsafe, down, up = True, max(need, full[cell][0]), max(need, full[cell][1])
        marked = inside.internal["status"][cell] == PRIMARY
        if found.frequency[cell] == 0 and not has_groups(given):
            if not table.values[cell]:
                return msg("cell {cell}: it is empty and suppressed", cell=place_of(table, cell))
            unsafe, down, up = False, _NONE, _NONE
        if marked is not unsafe:
            return msg("cell {cell}: the rules say otherwise", cell=place_of(table, cell))
        shown = found.values[cell]
        factor = shown / value if shown is not None and value and shown != value else Fraction(1)
        lower = min(down, value) if value >= 0 else down
        span = _width(found, cell, value, given) if unsafe else _NONE
        needs = ("lower_required", lower), ("upper_required", up), (WIDTH, span)
        for key, wanted in needs:
            stated = float(number(inside.internal[key][cell])) if key in inside.internal else 0.0
            if not isclose(stated, float(wanted * factor), rel_tol=1e-9, abs_tol=1e-9):
                return msg(
                    "cell {cell}: the rules require a different protection",
                    cell=place_of(table, cell),
                )
    return ""


def _width(found: Recounted, cell: int, value: Fraction, given: Given) -> Fraction:
    """How wide the interval of an unsafe cell must be, wherever it lies."""
    share = given.parameters.get("sliding")
    usual = abs(value) * (share if isinstance(share, Fraction) else _NONE)
    suppress = given.parameters.get("protect") == "suppress"
    return found.widths.get(cell, usual) if suppress else _NONE


def _judged(
    found: Recounted,
    cell: int,
    value: Fraction,
    rules: Sequence[Mapping[str, object]],
    wide: Fraction,
    *,
    counts: bool,
) -> tuple[bool, Fraction]:
    """Whether a cell is unsafe, and how far it must be protected on either side."""
    status = found.status[cell]
    least = Fraction(1 if counts else 0)
    if status == "U":
        return True, max(abs(value) * wide, least)
    if status in ("S", "P"):
        return False, Fraction(0)
    needs: list[Fraction] = []
    size, top = found.sizes[cell] or Fraction(0), [abs(one) for one in found.top[cell]]
    frequency = found.frequency[cell]
    for rule in rules:
        kind = rule["rule"]
        numbers = {key: fraction_of(str(rule[key])) for key in ("n", "k", "p", "q") if key in rule}
        if kind == "threshold":
            if frequency is not None and 0 < frequency < numbers["n"]:
                share = fraction_of(str(rule["range"])) if "range" in rule else wide
                needs.append(max(abs(value) * share, least))
        elif kind == "request":
            share = numbers.get("k", _NONE)
            if found.asking[cell] > 0 and found.asking[cell] > share / 100 * size:
                needs.append(max(abs(value) * wide, least))
        elif _agreed(found, cell, int(numbers.get("n", 2))):
            continue
        elif kind == "dominance":
            largest = sum(top[: int(numbers["n"])], Fraction(0))
            if largest > numbers["k"] / 100 * size:
                needs.append(100 / numbers["k"] * largest - size)
        else:
            share = numbers["p"] / (100 if kind == "p-percent" else numbers["q"])
            first, second = [*top, Fraction(0), Fraction(0)][:2]
            rest = size - first - second
            if rest < share * first:
                needs.append(share * first - rest)
    return bool(needs), max(needs, default=Fraction(0))


def _agreed(found: Recounted, cell: int, looked_at: int) -> bool:
    """Whether all of the largest contributors that a rule looks at do without protection."""
    if not found.holding:
        return False
    top, frequency = [abs(one) for one in found.top[cell]], found.frequency[cell] or 0
    if found.holding[cell] < 0:
        return True
    return frequency >= looked_at and found.holding[cell] < top[looked_at - 1]
