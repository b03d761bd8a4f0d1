"""Checking a released cube from its files alone, by plain formulas and slow loops.

Nothing of the planners, the lattice arrays or the consistency is used: subsets are walked one by
one, sums are summed, variances come from their definition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from math import isclose, prod

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.cuboid import CuboidTable
from dpdesk.core.frequency import FrequencySource
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import counted, msg
from dpdesk.core.plain import fraction_of
from dpdesk.core.release import CheckStatus, ClaimCheck
from dpdesk.core.shapes import as_list, as_table
from dpdesk.verifiers.cubes.claimed import (
    Claimed,
    Names,
    float_of,
    names_of,
    read_claims,
    subsets,
    swept_after,
    swept_best,
)
from dpdesk.verifiers.cubes.exact import after_cells, exact_checks
from dpdesk.verifiers.cubes.quiet import Counted, too_quiet
from dpdesk.verifiers.cubes.stated import COUNT, Asked, asked_of, stated_checks
from dpdesk.verifiers.declared import (
    Column,
    ColumnRequest,
    Declarations,
    Rows,
    UndeclaredError,
    counted_cells,
    kept_rows,
    read_column,
    unlike,
    without_number,
)
from dpdesk.verifiers.noise import gaussian_variance, laplace_variance
from dpdesk.verifiers.promises import Sentences, words_check
from dpdesk.verifiers.reading import cluster_of, count, texts

MANIFEST, EVIDENCE = "manifest.json", "internal/evidence.json"
_RELATIVE = 1e-9
_WORK = 3_000_000
_LEAST = 1e-200


def verify_cube(
    manifest: Mapping[str, object],
    published: Mapping[str, CuboidTable],
    worded: Sentences,
    token: CancelToken,
) -> tuple[ClaimCheck, ...]:
    """Every claim of a manifest of the method ``dp-cube``; see :meth:`PrivateMethod.verify`.

    ``worded`` is its guarantee worded again.
    Whatever is malformed raises ValueError, TypeError, KeyError or ArithmeticError.
    """
    settings = asked_of(manifest)
    checks = list(stated_checks(manifest, settings))
    if any(check.status is CheckStatus.FAILED for check in checks):
        return tuple(checks)
    claimed = read_claims(manifest)
    checks.append(_tables(claimed, published))
    if checks[-1].status is CheckStatus.FAILED:
        return tuple(checks)
    checks += _budget_checks(claimed)
    checks += [_max_variance(claimed, i, token) for i in range(len(claimed.measures))]
    checks.append(_variances(claimed, token))
    checks += exact_checks(manifest, claimed, published, token)
    checks += _sums(claimed, published, token)
    checks += _values(claimed, published)
    checks += [_grid(claimed, published)] if claimed.plain_noise else []
    checks += _averages(claimed, published)
    checks.append(words_check(manifest, worded, claimed.change if claimed.exact else None))
    checks.append(
        ClaimCheck(
            "differential privacy",
            CheckStatus.NOT_CHECKABLE,
            "is a property of how the noise was drawn, which no release can show; what can be "
            "checked is that the stated noise costs no more than the stated budget",
            MANIFEST,
            "The privacy loss is what is stated",
        )
    )
    return tuple(checks)


def _tables(claimed: Claimed, published: Mapping[str, CuboidTable]) -> ClaimCheck:
    claim, label = "cuboids", "Every table has each cell of the declared domain"
    files = [str(item["file"]) for item in claimed.cuboids]
    if sorted(files) != sorted(published):
        found = "`cuboids` and the files in the folder are not the same"
        return ClaimCheck(claim, CheckStatus.FAILED, found, MANIFEST, label)
    for item in claimed.cuboids:
        names = names_of(item["dimensions"], claimed.domains)
        table = published[str(item["file"])]
        ordered = tuple(name for name in claimed.order if name in names)
        if table.domain.dimensions != ordered or item["cells"] != claimed.size(names):
            found = msg(
                "{item} has other dimensions or cells than `cuboids` says", item=item["file"]
            )
            return ClaimCheck(claim, CheckStatus.FAILED, found, MANIFEST, label)
    cells = sum(table.cells for table in published.values())
    found = msg(
        "{table_count} with {cells:,} cells in domain order, none left out",
        table_count=_table_count(len(files)),
        cells=cells,
    )
    return ClaimCheck(claim, CheckStatus.CONFIRMED, found, "", label)


def _budget_checks(claimed: Claimed) -> Iterator[ClaimCheck]:
    """The stated noise costs no more than the stated budget, and sensitivities are right."""
    spent, key = 0.0, "rho" if claimed.gaussian else "epsilon"
    for number, measure in enumerate(claimed.measures):
        grid = claimed.grid(number)
        step, low, high = float(grid.step), grid.lowest, grid.highest
        most = max(abs(low), abs(high)) * claimed.rows
        l1, l2 = claimed.moved(most, (high - low) * claimed.rows)
        l1 *= step
        if not isclose(l1, float_of(measure["sensitivity"]), rel_tol=_RELATIVE):
            found = msg("is {measure}, expected {l1:g}", measure=measure["sensitivity"], l1=l1)
            yield ClaimCheck("sensitivity", CheckStatus.FAILED, found, MANIFEST)
        scales = [float_of(scale) for scale in as_list(measure["scales"])]
        if len(scales) != len(claimed.sources):
            yield ClaimCheck("scales", CheckStatus.FAILED, "is not one for each source", MANIFEST)
            return
        for names, scale, share in zip(claimed.sources, scales, claimed.shares, strict=True):
            sizes = [claimed.domains[name] for name in names]
            moved = claimed.residual_moved(most, sizes) if claimed.residuals else l2
            cost = moved * step**2 / (2 * scale**2) if claimed.gaussian else l1 / scale
            part = float(share) * claimed.budget / len(claimed.measures)
            if scale <= 0 or not isclose(cost, part, rel_tol=_RELATIVE):
                found = msg(
                    "with {scale:g} a noise source costs {cost:.8g}, its share is {part:.8g}",
                    scale=scale,
                    cost=cost,
                    part=part,
                )
                yield ClaimCheck("scales", CheckStatus.FAILED, found, MANIFEST)
                return
            spent += cost
    status = CheckStatus.CONFIRMED
    if spent > claimed.budget * (1 + _RELATIVE):
        status = CheckStatus.FAILED
    found = msg("the stated noise costs {n:.6g} of {m:g}", n=spent, m=claimed.budget)
    yield ClaimCheck(
        msg("scales within {key}", key=key),
        status,
        found,
        MANIFEST,
        "The noise costs no more than the budget",
    )


def _nominal(claimed: Claimed, number: int) -> list[float]:
    """Variance of a cell of each source as the papers state it."""
    scales = [float_of(scale) for scale in as_list(claimed.measures[number]["scales"])]
    return [scale**2 if claimed.gaussian else 2 * scale**2 for scale in scales]


def _true(claimed: Claimed, number: int) -> list[float]:
    """Variance of the discrete noise in a cell of each source."""
    step = float(claimed.grid(number).step)
    scales = [float_of(scale) / step for scale in as_list(claimed.measures[number]["scales"])]
    if claimed.residuals:  # the grid is finer by the number of cells
        fine = [claimed.size(names) for names in claimed.sources]
        return [
            max(_LEAST, gaussian_variance(scale * size)) / size**2 * step**2
            for scale, size in zip(scales, fine, strict=True)
        ]
    kind = gaussian_variance if claimed.gaussian else laplace_variance
    return [max(_LEAST, kind(scale)) * step**2 for scale in scales]


def _best(claimed: Claimed, names: Names, variances: Sequence[float]) -> float:
    if claimed.gives(names):
        return 0.0
    return min(
        (
            variance * claimed.size(source - names)
            for source, variance in zip(claimed.sources, variances, strict=True)
            if names <= source
        ),
        default=float("inf"),
    )


def _max_variance(claimed: Claimed, number: int, token: CancelToken) -> ClaimCheck:
    nominal = _nominal(claimed, number)
    cuboids = [names for names in _published(claimed) if not claimed.gives(names)]
    stated = float_of(claimed.measures[number]["max_variance"])
    if claimed.residuals:
        found = max(_expected(claimed, number, token).values())
    elif len(cuboids) * len(claimed.sources) > _WORK:
        sizes = list(claimed.domains.values())
        swept = swept_best(sizes, [claimed.mask(each) for each in claimed.sources], nominal)
        found = max(float(swept[claimed.mask(names)]) for names in cuboids)
    else:
        found = max(_best(claimed, names, nominal) for names in cuboids)
    same = isclose(stated, found, rel_tol=_RELATIVE * 10)
    return ClaimCheck(
        "max_variance",
        CheckStatus.CONFIRMED if same else CheckStatus.FAILED,
        msg(
            "is {stated:.8g}, {same} the noise sources give {found:.8g}",
            stated=stated,
            same="as" if same else "but",
            found=found,
        ),
        MANIFEST,
        "The largest variance before consistency",
    )


def _known(claimed: Claimed, number: int, cuboids: Sequence[Names]) -> dict[Names, float]:
    """What is known of each residual below the cuboids: the sum of 1/(variance * mag)."""
    variances = _true(claimed, number)
    below = {part for names in cuboids for part in subsets(names)}
    known: dict[Names, float] = {}
    for part in below:
        if claimed.gives(part):
            known[part] = float("inf")
            continue
        if claimed.residuals:
            terms = (1 / v for s, v in zip(claimed.sources, variances, strict=True) if s == part)
        else:
            terms = (
                1 / (v * claimed.size(source - part))
                for source, v in zip(claimed.sources, variances, strict=True)
                if part <= source
            )
        known[part] = sum(terms)
    return known


def _after(claimed: Claimed, names: Names, known: Mapping[Names, float]) -> float:
    """Variance of a cell after consistency, by its sum over all smaller cuboids."""
    total = 0.0
    for part in subsets(names):
        share = prod(1 - 1 / claimed.domains[name] for name in part)
        if share == 0:  # a dimension with one category
            continue
        total += share / known[part] / claimed.size(names - part) ** 2
    return total


def _variances(claimed: Claimed, token: CancelToken) -> ClaimCheck:
    claim, label = "variance of each table", "The error of each table"
    expected: dict[tuple[str, Names], float] = {}
    for number, measure in enumerate(claimed.measures):
        name = str(measure["measure"]) if len(claimed.measures) > 1 else ""
        for names, variance in _expected(claimed, number, token).items():
            expected[name, names] = variance
    for item in claimed.cuboids:
        token.check()
        name, names = str(item.get("measure", "")), names_of(item["dimensions"], claimed.domains)
        found = expected.get((name, names))
        if found is None:
            found = _of_average(claimed, name, names, expected)
        if not isclose(found, float_of(item["variance"]), rel_tol=1e-6):
            text = msg(
                "{item}: `variance` is {item2}, expected {found:.8g}",
                item=item["file"],
                item2=item["variance"],
                found=found,
            )
            return ClaimCheck(claim, CheckStatus.FAILED, text, MANIFEST, label)
    text = msg(
        "computed again for {table_count}, the same", table_count=_table_count(len(claimed.cuboids))
    )
    return ClaimCheck(claim, CheckStatus.CONFIRMED, text, "", label)


def _expected(claimed: Claimed, number: int, token: CancelToken) -> dict[Names, float]:
    """Variance of a cell of each published table, for one measured vector."""
    tables = _published(claimed)
    variances = _true(claimed, number)
    work = sum(2 ** len(each) for each in tables) + len(claimed.sources) * 2 ** len(claimed.order)
    if work > _WORK and not (claimed.exact and claimed.exact.cells):
        sizes, sources = list(claimed.domains.values()), [claimed.mask(s) for s in claimed.sources]
        if claimed.plain_noise:
            swept = swept_best(sizes, sources, variances)
        else:
            exact = (
                [claimed.mask(each) for each in claimed.exact.everything] if claimed.exact else []
            )
            swept = swept_after(sizes, sources, variances, residuals=claimed.residuals, exact=exact)
        return {
            names: 0.0 if claimed.gives(names) else float(swept[claimed.mask(names)])
            for names in tables
        }
    if claimed.plain_noise:
        return {names: _best(claimed, names, variances) for names in tables}
    found = _known(claimed, number, tables)
    token.check()
    if claimed.exact is not None and claimed.exact.cells:
        return after_cells(claimed.exact, found, tables, token)
    return {names: _after(claimed, names, found) for names in tables}


def _published(claimed: Claimed) -> list[Names]:
    tables = {names_of(item["dimensions"], claimed.domains): None for item in claimed.cuboids}
    return list(tables)


def _of_average(
    claimed: Claimed, name: str, names: Names, known: Mapping[tuple[str, Names], float]
) -> float:
    """V_sum + h^2 V_count, with half the range h: the error of an average, times n^2."""
    for plain in claimed.plain_measures:
        if isinstance(plain, Mapping) and name == f"average of {plain.get('average')}":
            half = float(fraction_of(str(plain["upper"])) - fraction_of(str(plain["lower"]))) / 2
            total = known[f"centred sum of {plain['average']}", names]
            return total + half**2 * known["count", names]
    raise ValueError("a table is of no measure")


def _sums(
    claimed: Claimed, published: Mapping[str, CuboidTable], token: CancelToken
) -> Iterator[ClaimCheck]:
    """Tables agree: each is the sum of every finer one, and those that overlap agree there."""
    if claimed.plain_noise:
        return
    claim, label, compared = "consistency", "All tables agree with each other", 0
    for group in _groups(claimed, published):
        for coarse, fine in _pairs(list(group)):
            token.check()
            common = coarse & fine
            left, right = (_summed(group[names], common) for names in (coarse, fine))
            size = max(1.0, float(np.abs(np.asarray(group[fine].values, dtype=np.float64)).sum()))
            gap = float(np.abs(left - right).max())
            if gap > (0.0 if claimed.integral else _RELATIVE * size):
                found = msg(
                    "{file} and {file2} differ by up to {gap:.6g}",
                    file=group[coarse].file,
                    file2=group[fine].file,
                    gap=gap,
                )
                yield ClaimCheck(claim, CheckStatus.FAILED, found, group[coarse].file, label)
                return
            compared += 1
    yield ClaimCheck(
        claim, CheckStatus.CONFIRMED, msg("{n:,} pairs summed up", n=compared), "", label
    )


def _groups(
    claimed: Claimed, published: Mapping[str, CuboidTable]
) -> Iterator[dict[Names, CuboidTable]]:
    """The tables of each measure that adds up, by their dimensions."""
    found: dict[str, dict[Names, CuboidTable]] = {}
    for item in claimed.cuboids:
        names = names_of(item["dimensions"], claimed.domains)
        group = found.setdefault(str(item.get("measure", "")), {})
        group[names] = published[str(item["file"])]
    yield from (group for key, group in found.items() if not key.startswith("average"))


def _pairs(cuboids: list[Names]) -> Iterator[tuple[Names, Names]]:
    """Pairs whose agreement means that all agree: (coarse or overlapping, fine).

    Where every next coarser cuboid is published, the neighbours are enough. Else each is compared
    with a finest one above it, and the finest ones with each other.
    """
    listed = set(cuboids)
    steps = [(each - {name}, each) for each in cuboids for name in sorted(each)]
    if all(coarse in listed for coarse, _ in steps):
        yield from steps
        return
    finest = [each for each in cuboids if not any(each < other for other in cuboids)]
    for each in cuboids:
        yield from ((each, other) for other in finest if each < other)
    yield from combinations(finest, 2)


def _summed(table: CuboidTable, names: Names) -> NDArray[np.float64]:
    gone = tuple(i for i, name in enumerate(table.domain.dimensions) if name not in names)
    return np.asarray(np.asarray(table.values, dtype=np.float64).sum(axis=gone))


def _averages(claimed: Claimed, published: Mapping[str, CuboidTable]) -> Iterator[ClaimCheck]:
    """Every average is the middle of its bounds plus the centred sum over the count, clipped."""
    by_measure: dict[str, dict[Names, CuboidTable]] = {}
    for item in claimed.cuboids:
        names = names_of(item["dimensions"], claimed.domains)
        by_measure.setdefault(str(item.get("measure", "")), {})[names] = published[
            str(item["file"])
        ]
    for plain in claimed.plain_measures:
        if not isinstance(plain, Mapping) or "average" not in plain:
            continue
        column, low, high = plain["average"], float_of(plain["lower"]), float_of(plain["upper"])
        wrong = ""
        for names, table in by_measure[f"average of {column}"].items():
            count = by_measure["count"][names].values.astype(np.float64)
            total = by_measure[f"centred sum of {column}"][names].values.astype(np.float64)
            middle = (low + high) / 2
            ratio = total / np.where(count >= 1, count, 1)
            expected = np.where(count >= 1, np.clip(middle + ratio, low, high), middle)
            if not np.allclose(table.values.astype(np.float64), expected, rtol=1e-9, atol=1e-9):
                wrong = table.file
        status = CheckStatus.FAILED if wrong else CheckStatus.CONFIRMED
        found = (
            msg("{wrong} differs", wrong=wrong)
            if wrong
            else "computed again from sums and counts, the same"
        )
        yield ClaimCheck(msg("average of {column}", column=column), status, found, wrong)


def _values(claimed: Claimed, published: Mapping[str, CuboidTable]) -> Iterator[ClaimCheck]:
    asked = (("nonnegative", claimed.nonnegative), ("integral", claimed.integral))
    sums = {
        str(item["file"]): published[str(item["file"])]
        for item in claimed.cuboids
        if not str(item.get("measure", "")).startswith(("average", "centred"))
    }
    for claim, wanted in asked:
        if not wanted:
            continue
        bad = next((name for name, table in sums.items() if not _holds(claim, table)), None)
        status = CheckStatus.CONFIRMED if bad is None else CheckStatus.FAILED
        found = "holds in every cell" if bad is None else msg("does not hold in {file}", file=bad)
        yield ClaimCheck(claim, status, found, bad or "", _KEPT[claim])


def _grid(claimed: Claimed, published: Mapping[str, CuboidTable]) -> ClaimCheck:
    """Without consistency each value is a whole number of steps, for so is the noise."""
    claim, label = "whole steps", "Every value is a whole number of grid steps"
    numbers = {str(item.get("measure", "")): i for i, item in enumerate(claimed.measures)}
    for item in claimed.cuboids:
        number = numbers.get(str(item.get("measure", "")))
        if number is None:  # an average
            continue
        step = float(claimed.grid(number).step)
        values = np.asarray(published[str(item["file"])].values, dtype=np.float64)
        if not np.allclose(np.rint(values / step) * step, values, rtol=_RELATIVE, atol=0):
            found = msg(
                "{item} has a value that is not a multiple of {step:g}",
                item=item["file"],
                step=step,
            )
            return ClaimCheck(claim, CheckStatus.FAILED, found, str(item["file"]), label)
    return ClaimCheck(claim, CheckStatus.CONFIRMED, "holds in every cell", "", label)


_KEPT = {"nonnegative": "No negative numbers", "integral": "Whole numbers"}


def _holds(claim: str, table: CuboidTable) -> bool:
    values = np.asarray(table.values, dtype=np.float64)
    return bool((values >= 0).all() if claim == "nonnegative" else (values % 1 == 0).all())


def _table_count(count: int) -> str:
    return counted("{n:,} table", "{n:,} tables", n=count)


# Whether the categories of a cube are those of its plan, and its rows those of the source.
#
# The plan, its builders and the hierarchies lie in the agency's part of a release, so this can be
# told there alone; they are read by :mod:`dpdesk.verifiers.declared`, as the design does not.


_CLAIM = "domains of hierarchies"
_LABEL = "Categories are those that the plan and its hierarchies declare"
_COUNTED = "rows that count"
_COUNTED_LABEL = "Rows and exact numbers are those of the source"
_CENTRED = "centred "


def declared_check(manifest: Mapping[str, object], given: Declarations | None) -> list[ClaimCheck]:
    """Compare categories, their order, levels above, and where other texts go.

    Without ``given`` (the public part alone) only what the parameters list could be compared, and
    the check says so. Malformed manifests raise ValueError, TypeError or KeyError.
    """
    settings = asked_of(manifest)
    result = as_table(manifest["result"])
    names = (*settings.dimensions, *settings.extra)
    unlisted = [name for name in names if name not in settings.domains]
    if given is None:
        if not unlisted:
            return []
        found = msg(
            "the hierarchies of {columns} are in the internal part", columns=", ".join(unlisted)
        )
        return [ClaimCheck(_CLAIM, CheckStatus.NEEDS_SOURCE, found, MANIFEST, _LABEL)]
    try:
        columns = _columns(manifest, settings, settings.dimensions, given)
        extra = _columns(manifest, settings, settings.extra, given)
    except UndeclaredError as error:
        return [ClaimCheck(_CLAIM, CheckStatus.FAILED, str(error), MANIFEST, _LABEL)]
    fault = _fault(result, columns, extra, complete=given.complete)
    status = CheckStatus.FAILED if fault else CheckStatus.CONFIRMED
    found = fault or "declared again from the plan in the evidence, the same"
    return [ClaimCheck(_CLAIM, status, found, MANIFEST, _LABEL)]


def counted_check(
    manifest: Mapping[str, object],
    recorded: Mapping[str, object],
    published: Mapping[str, CuboidTable],
    given: Declarations,
    source: FrequencySource,
    token: CancelToken,
) -> list[ClaimCheck]:
    """Place the rows of the source again: how many count, and what is released exactly.

    ``recorded`` is the result in the evidence. Raises what :func:`declared_check` raises, and
    Cancelled.
    """

    def quiet(number: int, counted: Counted) -> str:
        return too_quiet(read_claims(manifest), number, published, counted, token)

    return counted_again(manifest, recorded, published, given, source, token, quiet)


def counted_again(
    manifest: Mapping[str, object],
    recorded: Mapping[str, object],
    published: Mapping[str, CuboidTable],
    given: Declarations,
    source: FrequencySource,
    token: CancelToken,
    quiet: Callable[[int, Counted], str],
) -> list[ClaimCheck]:
    """As :func:`counted_check`; ``quiet`` says what of a measured vector has too little noise."""
    settings = asked_of(manifest)
    columns = _columns(manifest, settings, settings.dimensions, given)
    extra = _columns(manifest, settings, settings.extra, given)
    order = texts(as_table(manifest["parameters"]).get("counted_by")) if extra else ()
    by_name = {column.name: column for column in (*columns, *extra)}
    deciding = tuple(by_name[name] for name in order or settings.dimensions)
    person = cluster_of(manifest)
    most = count(as_table(manifest["parameters"]).get("rows_per_person", 1))
    fault = ""
    for number, name in enumerate(settings.measured()):
        summed = "" if name == COUNT else name.removeprefix(_CENTRED).removeprefix("sum of ")
        rows = Rows(deciding, summed, person, most)
        kept, facts = kept_rows(source, rows, token)
        if summed:  # of the rows that count, where further columns decide which these are
            among = kept if extra else source
            facts["values_that_are_no_numbers"] = without_number(among, summed, token)
        key = unlike(recorded, name, facts, complete=given.complete)
        if key:
            found = msg("`{key}` is not what the source gives", key=key)
            return [ClaimCheck(_COUNTED, CheckStatus.FAILED, found, EVIDENCE, _COUNTED_LABEL)]
        if name == COUNT:
            fault = fault or next(_inexact(manifest, published, columns, kept, token), "")
        fault = fault or quiet(number, Counted(columns, kept))
    status = CheckStatus.FAILED if fault else CheckStatus.CONFIRMED
    found = fault or "placed again, the same"
    return [ClaimCheck(_COUNTED, status, found, MANIFEST, _COUNTED_LABEL)]


def _columns(
    manifest: Mapping[str, object], settings: Asked, names: Sequence[str], given: Declarations
) -> tuple[Column, ...]:
    levels = as_table(as_table(manifest["parameters"]).get("levels") or {})
    found = []
    for name in names:
        level = levels.get(name, 0)
        if isinstance(level, bool) or not isinstance(level, int) or level < 0:
            raise TypeError("a level is a whole number")
        wanted = ColumnRequest(settings.domains.get(name), level, settings.outside.get(name))
        found.append(read_column(name, wanted, given))
    return tuple(found)


def _fault(
    result: Mapping[str, object],
    columns: Sequence[Column],
    extra: Sequence[Column],
    *,
    complete: bool,
) -> str:
    stated = as_list(result["domains"])
    for item, expected in zip(stated, _listed(columns), strict=True):
        if item != expected:
            return msg(
                "the categories of `{expected}` are different, or in a different order",
                expected=expected["dimension"],
            )
    if result["outside"] != _elsewhere(columns):
        return "texts without a category go elsewhere than the plan says"
    above = {
        column.name: [list(level) for level in column.above] for column in columns if column.above
    }
    if result.get("rollups", {} if complete else above) != above:
        return "the levels to roll up to are others than the plan's hierarchies declare"
    rows = {"domains": _listed(extra), "outside": _elsewhere(extra)} if extra else None
    if result.get("counted_by") != rows:
        return (
            "the rows that count are chosen by categories other than those that the plan declares"
        )
    return ""


def _listed(columns: Sequence[Column]) -> list[dict[str, object]]:
    return [{"dimension": column.name, "categories": list(column.categories)} for column in columns]


def _elsewhere(columns: Sequence[Column]) -> dict[str, str]:
    return {
        column.name: column.categories[column.outside]
        for column in columns
        if column.outside is not None
    }


def _inexact(
    manifest: Mapping[str, object],
    published: Mapping[str, CuboidTable],
    columns: Sequence[Column],
    kept: FrequencySource,
    token: CancelToken,
) -> Iterator[str]:
    """Exact tables and cells that are not the counts of the source."""
    for item in map(as_table, as_list(as_table(manifest["result"])["cuboids"])):
        cells = as_list(item.get("exact_cells") or [])
        if item.get("exact") is not True and not cells:
            continue
        file, dimensions = str(item["file"]), texts(item["dimensions"])
        axes = [column for column in columns if column.name in dimensions]
        true = counted_cells(kept, axes, token)
        stated = np.asarray(published[file].values, np.float64).reshape(true.shape)
        differ = stated != true
        if cells:
            asked = np.zeros(true.shape, bool)
            for cell in cells:
                texts_of = zip(axes, texts(cell), strict=True)
                asked[tuple(axis.categories.index(text) for axis, text in texts_of)] = True
            differ &= asked
        if differ.any():
            yield msg("{file} has an exact number that is not that of the source", file=file)
