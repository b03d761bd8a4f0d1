"""Numbers of a view: sums over product sets of cells of published tables, with exact variances.

In a consistent cube every published table that has the dimensions gives the same sum, so the
smallest is read, and its variance follows from the noise alone (:mod:`.variances`). Without
consistency each table is a sum of disjoint cells of one noisy one: the errors of its cells are
independent, so a sum of m cells has m times their variance, and the table with the least is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.cube_parameters import COUNT
from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.pivot import CubeGrid
from dpdesk.core.plain import quoted
from dpdesk.core.query import (
    COVERING_95,
    Askable,
    AskableColumn,
    Chosen,
    Condition,
    Match,
    Query,
    check_values,
    matching,
)
from dpdesk.core.release import ReleasedContent
from dpdesk.engine.cubes.channels import middle
from dpdesk.engine.cubes.lattice import cells, members
from dpdesk.engine.cubes.olap.cube import Levels, ReleasedCube, Vector, centred_name
from dpdesk.engine.cubes.settings import Covered
from dpdesk.engine.private.kinds import Measure
from dpdesk.engine.private.widths import rounding_does_nothing, rounding_of_runs, step_of_average
from dpdesk.engine.querying import Questions

# From a query to a product set: for each dimension of a cube the groups of categories to sum.


Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AxisGroups:
    """The groups of one dimension: ``inside`` has shape (groups, categories).

    ``labels`` holds None for the group of everything that the conditions leave. ``shown`` says
    whether the dimension is an axis of the answer; if not, there is one group alone.
    """

    labels: tuple[str | None, ...]
    inside: Bools = field(repr=False)
    shown: bool
    margin: bool = False

    @property
    def sizes(self) -> Floats:
        """Number of categories in each group."""
        return np.asarray(self.inside.sum(axis=1), dtype=np.float64)

    @property
    def whole(self) -> Bools:
        """Which groups hold all categories."""
        return np.asarray(self.inside.all(axis=1))


def askable_cube(cube: ReleasedCube) -> Askable:
    """Every dimension with its levels, and the measures."""
    columns = tuple(
        AskableColumn(name, tuple(tuple(dict.fromkeys(level)) for level in levels))
        for name, levels in zip(cube.domain.dimensions, cube.levels, strict=True)
    )
    return Askable(columns, cube.measures)


def select(cube: ReleasedCube, query: Query) -> tuple[AxisGroups, ...]:
    """The groups of every dimension, in their order; InputError ``query.*``."""
    askable_cube(cube).check(query)
    wanted = {each.column: each.level for each in query.by}
    return tuple(
        _groups(name, levels, wanted.get(name), query)
        for name, levels in zip(cube.domain.dimensions, cube.levels, strict=True)
    )


def _groups(name: str, levels: Levels, level: int | None, query: Query) -> AxisGroups:
    allowed = allowed_categories(name, levels, query.conditions_on(name))
    if level is None:
        return AxisGroups((None,), allowed[None, :], shown=False)
    by_label: dict[str, list[int]] = {}
    for place, label in enumerate(levels[level]):
        if allowed[place]:
            by_label.setdefault(label, []).append(place)
    inside = np.zeros((len(by_label) + query.margins, len(allowed)), dtype=bool)
    for row, places in enumerate(by_label.values()):
        inside[row, places] = True
    labels: tuple[str | None, ...] = tuple(by_label)
    if query.margins:
        inside[-1] = allowed
        labels = (*labels, None)
    return AxisGroups(labels, inside, shown=True, margin=query.margins)


def allowed_categories(name: str, levels: Levels, conditions: Sequence[Condition]) -> Bools:
    """Which categories fulfil all conditions; InputError ``query.cut``, ``query.none``."""
    allowed = np.ones(len(levels[0]), dtype=bool)
    for condition in conditions:
        labels = levels[_level_of(name, levels, condition)]
        found = matching([condition], name, tuple(dict.fromkeys(labels)))
        by_label = dict(zip(dict.fromkeys(labels), found, strict=True))
        cut = next((label for label, match in by_label.items() if match is Match.PARTLY), None)
        if cut is not None:
            raise InputError(
                "query.cut",
                msg(
                    "The condition {words} cuts through the category {cut}, which the release "
                    "does not divide.",
                    words=quoted(condition.words()),
                    cut=quoted(cut),
                ),
                hint="Choose bounds between categories, or name categories.",
            )
        allowed &= np.array([by_label[label] is Match.YES for label in labels])
    if not allowed.any():
        raise InputError(
            "query.none",
            msg("No category of {name} fulfils all conditions on it.", name=quoted(name)),
        )
    return allowed


def _level_of(name: str, levels: Levels, condition: Condition) -> int:
    """The finest level at which all values of a condition are labels; numbers mean the finest."""
    if not isinstance(condition, Chosen):
        return 0
    for number, labels in enumerate(levels):
        if all(value in labels for value in condition.among(labels)):
            return number
    known = AskableColumn(name, levels)
    check_values(condition, name, tuple(dict.fromkeys(known.categories)))
    return 0


# The exact variance of any sum over a product set of cells of a consistent cube.
#
# In the residual basis the estimate of a cell of the cuboid C is the sum over S of C of r_S / prod
# over C without S of n_i, where the residuals r_S of different S are uncorrelated and r_S has the
# covariance (1/W_S) * kron over S of (I - J/n_i). Summing over a product set A_1 x ... x A_d with
# a_i = |A_i| of n_i categories takes each factor for itself:
#
#     Var = sum over S of (1/W_S) * prod over S of a_i (1 - a_i/n_i) * prod outside S of (a_i/n_i)^2
#
# A dimension that is summed up altogether (a_i = n_i) brings only the factor 1, and S never holds
# it, so the value does not depend on the cuboid from which the sum is taken: one more proof that
# consistent tables agree. With a_i = 1 on C it is the variance of one cell. Source:
# resources/docs/olap.md; the residual basis is that of resources/docs/cubes.md.


def sum_variances(unknown: Floats, shape: Sequence[int], sizes: Sequence[Floats]) -> Floats:
    """Variances of all sums over A_1 x ... x A_d, shape (groups_1, ..., groups_d).

    ``unknown`` is 1/W by residual, shape (2^d,) (0 where a residual is exact, infinite where it is
    not known); ``sizes`` holds for each dimension the numbers a_i of its groups. The result is
    infinite where the sum needs a residual that is not known.
    """
    factors = []
    for count, size in zip(shape, sizes, strict=True):
        share = np.asarray(size, dtype=np.float64) / count
        factors.append((share**2, np.asarray(size, dtype=np.float64) * (1 - share)))
    return _over(unknown, factors)


def covariances(
    unknown: Floats, shape: Sequence[int], inside: Sequence[Bools], cell: Mapping[int, int]
) -> Floats:
    """Covariances of sums over A_1 x ... x A_d with one cell of a cuboid, shape of the groups.

    ``inside`` says for each dimension which categories each group holds, shape (groups,
    categories); ``cell`` gives the category of each dimension of the cuboid. For a dimension of
    the cell the factors are a_i/n_i^2 outside S, and [A_i holds it] - a_i/n_i in S; for the others,
    that the cell sums up, a_i/n_i and 0.
    """
    factors = []
    for axis, count in enumerate(shape):
        share = inside[axis].sum(axis=1) / count
        if axis in cell:
            factors.append((share / count, inside[axis][:, cell[axis]] - share))
        else:
            factors.append((share, np.zeros_like(share)))
    return _over(unknown, factors)


def explained(among: Floats, shared: Floats) -> Floats:
    """What the variances lose when some cells are known: shape of the sums.

    ``among`` holds the covariances of the known cells with each other, shape (cells, cells);
    ``shared`` theirs with the sums, shape (cells, ...). As regression on known values has it:
    shared' * inverse(among) * shared; cells that follow from others add nothing.
    """
    flat = shared.reshape(len(shared), -1)
    found = np.linalg.pinv(among, rcond=1e-9, hermitian=True) @ flat
    return np.asarray((flat * found).sum(axis=0).reshape(shared.shape[1:]))


def _over(unknown: Floats, factors: Sequence[tuple[Floats, Floats]]) -> Floats:
    """The sum over S of unknown(S) times the second factors in S and the first ones outside.

    First come the dimensions that no S has, for they only cut; the result has an axis for each.
    """
    rest = np.asarray(unknown, dtype=np.float64).reshape(-1)
    kept: list[int] = []
    for axis in reversed(range(len(factors))):
        outer, inner = factors[axis]
        if not inner.any():
            rest = rest.reshape(-1, 2, 1 << axis)[:, 0].reshape(-1)
        else:
            kept.insert(0, axis)
    for place in reversed(range(len(kept))):
        outer, inner = factors[kept[place]]
        pairs = rest.reshape(2, 1 << place, -1)
        rest = _times(pairs[0], outer) + _times(pairs[1], inner)
    lengths = [len(outer) for outer, _ in factors]
    found = rest.reshape([n if axis in kept else 1 for axis, n in enumerate(lengths)])
    for axis, (outer, _) in enumerate(factors):
        if axis not in kept:
            found = found * outer.reshape([-1 if i == axis else 1 for i in range(len(factors))])
    return np.array(np.broadcast_to(found, lengths))


def _times(part: Floats, factors: Floats) -> Floats:
    """Each entry with each factor, the factors before what was done already; 0 * inf is 0.

    ``part`` has shape (masks of the dimensions still to do, groups done); the result
    (masks, factors * groups).
    """
    masks, done = part.shape
    with np.errstate(invalid="ignore"):
        each = part[:, None, :] * factors[None, :, None]
    each[:, factors == 0, :] = 0.0
    return np.asarray(each.reshape(masks, len(factors) * done))


MOST_NUMBERS = 1_000_000
MOST_PINS = 60
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Sums:
    """Values and variances of one vector; shape (groups of each dimension), and the files read.

    ``notes`` say what the variances leave out.
    """

    values: Floats
    variances: Floats
    files: tuple[str, ...]
    notes: tuple[str, ...] = ()


class SumReader(Protocol):
    """Whatever can sum a measured vector over groups: one release, or several together."""

    @property
    def cube(self) -> ReleasedCube:
        """Dimensions, levels, measures and kind of noise."""
        ...

    @property
    def words(self) -> str:
        """A sentence on where the numbers come from."""
        ...

    def sums(self, name: str, groups: Sequence[AxisGroups], token: CancelToken) -> Sums:
        """Sum a vector over all groups; RefusedError ``query.refused``, Cancelled."""
        ...


@runtime_checkable
class Browsable(Protocol):
    """A method whose releases are browsed as cubes."""

    def reader(self, content: ReleasedContent) -> SumReader:
        """Sums of the released tables; ValueError, KeyError and such for a malformed manifest."""
        ...


@dataclass(frozen=True, eq=False)
class OneRelease:
    """A :class:`SumReader` of a single release."""

    cube: ReleasedCube
    content: ReleasedContent

    @property
    def words(self) -> str:
        """See :class:`SumReader`."""
        if self.cube.consistent:
            return "All tables agree, so any of them gives the same numbers."
        return "The tables were not made to agree; each number is from the one with least error."

    def sums(self, name: str, groups: Sequence[AxisGroups], token: CancelToken) -> Sums:
        """See :class:`SumReader`."""
        cube, vector = self.cube, self.cube.vectors[name]
        if not cube.consistent:
            return _from_the_best(cube, vector, groups, self.content, token)
        mask = _smallest(cube, vector, needed(groups))
        values = _summed(vector.files[mask], mask, groups, self.content, token)
        return Sums(values, _variances(cube, vector, groups, token), (vector.files[mask],))


def _variances(
    cube: ReleasedCube, vector: Vector, groups: Sequence[AxisGroups], token: CancelToken
) -> Floats:
    """Of sums in a consistent cube; less what single exact cells tell, where they are few."""
    unknown, shape = cube.unknown(vector), cube.shape
    found = sum_variances(unknown, shape, [each.sizes for each in groups])
    whole = rounding_does_nothing(len(cube.sources), nonnegative=cube.settings.nonnegative)
    if cube.settings.integral and not whole:
        found = np.where(found > 0, found + _rounded(cube, groups) * vector.step**2, 0.0)
    if not cube.pins or len(cube.pins) > MOST_PINS:
        return found
    inside = [each.inside for each in groups]
    shared = [covariances(unknown, shape, inside, cell) for _, cell in cube.pins]
    among = np.empty((len(cube.pins), len(cube.pins)))
    for row, (_, known) in enumerate(cube.pins):
        token.check()
        single = [
            np.eye(count, dtype=bool)[[known[i]]] if i in known else np.ones((1, count), dtype=bool)
            for i, count in enumerate(shape)
        ]
        for column, (_, other) in enumerate(cube.pins):
            among[row, column] = covariances(unknown, shape, single, other).item()
    less = found - explained(among, np.stack(shared))
    return np.where(less < _ROUNDING * found, 0.0, less)


def _rounded(cube: ReleasedCube, groups: Sequence[AxisGroups]) -> Floats:
    """What making numbers whole adds to the variance of each sum, in squared steps.

    Running sums of the base cells are rounded, in order. A sum of cells changes by the difference
    of two roundings (1/12 each) for every run of cells that lie side by side; runs are counted from
    the last dimension on: while all categories are summed up, one run goes on into the next.
    """
    base = 0
    for mask in cube.sources:
        base |= mask
    runs, going_on = np.ones(()), np.ones((), dtype=bool)
    for axis in reversed(range(len(groups))):
        each = groups[axis]
        inside = each.inside if base >> axis & 1 else np.ones((len(each.labels), 1), dtype=bool)
        starts = np.diff(inside.astype(np.int8), axis=1, prepend=0) == 1
        alone = np.where(inside.all(axis=1), 1.0, starts.sum(axis=1))
        sizes = inside.sum(axis=1).astype(np.float64)
        runs = np.where(going_on, np.multiply.outer(alone, np.ones_like(runs)),
                        np.multiply.outer(sizes, runs))  # fmt: skip
        going_on = np.logical_and.outer(inside.all(axis=1), going_on)
    return np.asarray(runs * rounding_of_runs(1))


def check_size(groups: Sequence[AxisGroups], most: int) -> None:
    """Raise RefusedError ``query.too-large`` when there are more than ``most`` numbers to give."""
    count = prod(len(each.labels) for each in groups)
    if count > most:
        raise RefusedError(
            "query.too-large",
            msg(
                "The answer has {count:,} numbers, expected at most {most:,}.",
                count=count,
                most=most,
            ),
            hint="Distinguish fewer columns, or roll some up.",
        )


def needed(groups: Sequence[AxisGroups]) -> int:
    """The cuboid of the dimensions that some group does not sum up altogether."""
    return sum(1 << axis for axis, each in enumerate(groups) if not each.whole.all())


def _from_the_best(
    cube: ReleasedCube,
    vector: Vector,
    groups: Sequence[AxisGroups],
    content: ReleasedContent,
    token: CancelToken,
) -> Sums:
    """Each combination of margins from the table that gives it the least variance."""
    shape = [len(each.labels) for each in groups]
    values, variances = np.empty(shape), np.empty(shape)
    files: list[str] = []
    for places, part in _patterns(groups):
        token.check()
        mask = _least(cube, vector, part)
        many = np.ones(())
        for axis in members(mask):
            many = np.multiply.outer(many, part[axis].sizes)
        inner = [len(e.labels) if mask >> axis & 1 else 1 for axis, e in enumerate(part)]
        here = vector.cells[mask] * (many - _exact_inside(cube, mask, part)).reshape(inner)
        index = np.ix_(*places)
        values[index] = _summed(vector.files[mask], mask, part, content, token)
        variances[index] = np.broadcast_to(here, [len(each) for each in places])
        files.append(vector.files[mask])
    return Sums(values, variances, tuple(dict.fromkeys(files)))


def _exact_inside(cube: ReleasedCube, mask: int, groups: Sequence[AxisGroups]) -> Floats:
    """How many cells of a table without noise of their own each sum holds."""
    found = np.zeros([len(groups[axis].labels) for axis in members(mask)])
    for own, cell in cube.pins:
        if own == mask:
            many = np.ones(1)
            for axis in members(mask):
                many = np.multiply.outer(many, groups[axis].inside[:, cell[axis]].astype(float))
            found = found + many.reshape(found.shape)
    return found


def _patterns(
    groups: Sequence[AxisGroups],
) -> Iterator[tuple[list[list[int]], list[AxisGroups]]]:
    """The groups parted into those that hold everything and the others, on every axis."""
    choices: list[list[list[int]]] = []
    for each in groups:
        whole = [i for i, found in enumerate(each.whole) if found]
        rest = [i for i, found in enumerate(each.whole) if not found]
        choices.append([places for places in (rest, whole) if places])
    for chosen in product(*choices):
        part = [
            AxisGroups(
                tuple(each.labels[i] for i in places), each.inside[places], each.shown, each.margin
            )
            for each, places in zip(groups, chosen, strict=True)
        ]
        yield list(chosen), part


def _candidates(cube: ReleasedCube, vector: Vector, mask: int) -> list[int]:
    found = [each for each in vector.files if not mask & ~each]
    if not found:
        names = " × ".join(cube.names(mask))
        raise RefusedError(
            "query.refused",
            msg(
                "No published table has {names} together, so the release cannot answer.",
                names=names,
            ),
            hint="Leave out a column or a condition.",
        )
    return found


def _smallest(cube: ReleasedCube, vector: Vector, mask: int) -> int:
    return min(_candidates(cube, vector, mask), key=lambda each: (cells(each, cube.shape), each))


def _least(cube: ReleasedCube, vector: Vector, groups: Sequence[AxisGroups]) -> int:
    """The table from which the sums have the least variance; of equals the smallest."""

    def key(mask: int) -> tuple[float, int]:
        summed = prod(float(groups[axis].sizes.max()) for axis in members(mask))
        return vector.cells[mask] * summed, mask

    return min(_candidates(cube, vector, needed(groups)), key=key)


def _summed(
    file: str,
    mask: int,
    groups: Sequence[AxisGroups],
    content: ReleasedContent,
    token: CancelToken,
) -> Floats:
    values = np.asarray(content.cuboid(file, token).values, dtype=np.float64)
    return summed(values, mask, groups, token)


def summed(values: Floats, mask: int, groups: Sequence[AxisGroups], token: CancelToken) -> Floats:
    """The sums of a table over the groups; a dimension that it lacks is summed up already."""
    found = values
    for axis, place in enumerate(members(mask)):
        token.check()
        inside = groups[place].inside
        if inside.all():
            found = found.sum(axis=axis, keepdims=True)
            found = np.repeat(found, len(inside), axis=axis)
        else:
            moved = np.tensordot(inside.astype(np.float64), found, axes=(1, axis))
            found = np.moveaxis(moved, 0, axis)
    inner = [len(e.labels) if mask >> axis & 1 else 1 for axis, e in enumerate(groups)]
    outer = [len(each.labels) for each in groups]
    return np.array(np.broadcast_to(found.reshape(inner), outer))


# Views and answers of a released cube: counts, sums and averages with their errors.


INTERVALS = {
    Covered.RELEASED: COVERING_95,
    Covered.WITH_NEGATIVES: "95 % before negative numbers were removed",
    Covered.LEAST_SQUARES: "95 % if made to agree by least squares",
}
_COVERING = {
    Covered.RELEASED: "the ± holds the error of the noise in 95 of 100 cases or more.",
    Covered.WITH_NEGATIVES: "the ± is that of the numbers before negative ones were removed.",
    Covered.LEAST_SQUARES: "the ± is that of tables made to agree by least squares.",
}


def cube_grid(
    cube: ReleasedCube,
    query: Query,
    content: ReleasedContent,
    token: CancelToken,
    most: int = MOST_NUMBERS,
) -> CubeGrid:
    """The numbers that a query asks of one release; see :func:`read_grid`."""
    return read_grid(OneRelease(cube, content), query, token, most)


def read_grid(
    reader: SumReader, query: Query, token: CancelToken, most: int = MOST_NUMBERS
) -> CubeGrid:
    """The numbers that a query asks for, ``most`` at most, the axes in the order of ``by``.

    Raises InputError ``query.*`` for what the release does not know, RefusedError
    ``query.refused`` where no published table can answer, ``query.too-large``, Cancelled.
    """
    cube = reader.cube
    name = askable_cube(cube).measure(query.measure)
    groups = select(cube, query)
    check_size(groups, most)
    average = cube.average(name)
    if average is None:
        found = reader.sums(name, groups, token)
        step = cube.vectors[name].step
        halves = cube.half_widths(found.variances, step)
    else:
        found, halves = _averages(reader, average, groups, token)
    return _grid(reader, query, name, groups, found, halves)


def sum_questions(reader: Callable[[ReleasedContent], SumReader]) -> Questions:
    """Questions to releases whose sums a reader gives."""
    return Questions(
        lambda content, token: askable_cube(reader(content).cube),
        lambda query, content, token: read_grid(reader(content), query, token).answer(),
    )


def _averages(
    reader: SumReader, measure: Measure, groups: Sequence[AxisGroups], token: CancelToken
) -> tuple[Sums, Floats]:
    """The middle of the bounds plus centred sums over counts, and their ±; NaN below one person.

    The variance is the bound that releases state, (V_sum + h^2 V_count) / n^2 with half the range
    h: an average cannot be further from the middle. The ± is the one that releases state, by the
    released count: see :func:`~dpdesk.engine.private.widths.step_of_average`.
    """
    total = reader.sums(centred_name(measure), groups, token)
    count = reader.sums(COUNT, groups, token)
    enough = count.values >= 1
    persons = np.where(enough, count.values, 1.0)
    low, high = float(measure.lower), float(measure.upper)
    values = np.clip(float(middle(measure)) + total.values / persons, low, high)
    half = (high - low) / 2
    variances = total.variances + half**2 * count.variances
    reach = reader.cube.half_widths(variances, step_of_average(low, high, float(measure.step)))
    files = tuple(dict.fromkeys((*total.files, *count.files)))
    known = np.where(enough, values, np.nan)
    found = Sums(known, np.where(enough, variances / persons**2, np.nan), files)
    return found, np.where(enough, reach / persons, np.nan)


def _grid(
    reader: SumReader,
    query: Query,
    name: str,
    groups: Sequence[AxisGroups],
    found: Sums,
    halves: Floats,
) -> CubeGrid:
    cube = reader.cube
    shown = [axis for axis, each in enumerate(groups) if each.shown]
    shape = [len(groups[axis].labels) for axis in shown]
    asked = [each.column for each in query.by]
    order = [asked.index(cube.domain.dimensions[axis]) for axis in shown]
    turn = sorted(range(len(order)), key=order.__getitem__)

    def view(values: Floats) -> Floats:
        # What is not shown has one group, and may have no axis.
        return np.array(values.reshape(shape).transpose(turn), order="C")

    return CubeGrid(
        tuple(asked),
        tuple(groups[shown[place]].labels for place in turn),
        name,
        view(found.values),
        view(np.sqrt(found.variances)),
        view(halves),
        found.files,
        _sentence(reader, query, name),
        tuple(_warnings(cube, query, name, found)),
        INTERVALS[cube.settings.covered],
    )


def _sentence(reader: SumReader, query: Query, name: str) -> str:
    by = " × ".join(each.column for each in query.by)
    said = msg("The {name}", name=name) + (msg(" by {by}", by=by) if by else "")
    where = " and ".join(condition.words() for condition in query.where)
    said += msg(" where {where}", where=where) if where else ""
    return msg(
        "{said}, from the release alone: {covering} {words}",
        said=said,
        covering=_COVERING[reader.cube.settings.covered],
        words=reader.words,
    )


def _warnings(cube: ReleasedCube, query: Query, name: str, found: Sums) -> Iterator[str]:
    settings = cube.settings
    if cube.average(name) is not None:
        yield "The ± of averages is a bound: near the middle of the range it is larger than needed."
        if np.isnan(found.values).any():
            yield "Where fewer than one person is counted, an average cannot be estimated."
    if settings.covered is Covered.WITH_NEGATIVES:
        yield (
            "Negative numbers were removed, so cells with few persons, and sums of many such "
            "cells, are too large on average; the ± is that of the values before this step and "
            "holds less often."
        )
    if settings.covered is Covered.LEAST_SQUARES:
        yield (
            msg(
                "The tables were made to agree by `{consistency}`, whose errors are larger than "
                "the ± of least squares given here.",
                consistency=settings.consistency,
            )
        )
    if cube.exact:
        names = ", ".join(" × ".join(cube.names(mask)) or "the total" for mask in cube.exact)
        yield msg("Released without noise, so without ±: {names}.", names=names)
    yield from found.notes
    if len(cube.pins) > MOST_PINS:
        yield (
            "The ± leaves out what the exact single cells reveal about others, so it is a bound."
        )
    for column in query.by:
        if column.level and query.conditions_on(column.column):
            yield msg(
                "Groups of {column} contain only what the conditions leave of them.",
                column=quoted(column.column),
            )
