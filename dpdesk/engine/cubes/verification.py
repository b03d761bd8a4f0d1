"""Checking a released cube from its files alone, by plain formulas and slow loops.

Nothing of the planners, the lattice arrays or the consistency is used: subsets are walked one by
one, sums are summed, variances come from their definition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations
from math import cosh, exp, isclose, prod

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.cuboid import CuboidTable
from dpdesk.core.jobs import CancelToken
from dpdesk.core.published import CheckStatus, ClaimCheck

MANIFEST = "manifest.json"
_RELATIVE = 1e-9
_WORK = 3_000_000
_SMALL_SIGMA = 400.0

Names = frozenset[str]


@dataclass(frozen=True)
class _Claimed:
    """What a manifest claims, in plain types."""

    domains: Mapping[str, int]
    order: tuple[str, ...]
    gaussian: bool
    residuals: bool
    budget: float
    consistency: str
    nonnegative: bool
    integral: bool
    replace: bool
    rows: int
    sources: tuple[Names, ...]
    measures: tuple[Mapping[str, object], ...]
    cuboids: tuple[Mapping[str, object], ...]
    plain_measures: tuple[object, ...]

    def size(self, names: Names) -> int:
        """Cells of a cuboid."""
        return prod(self.domains[name] for name in names)


def verify_cube(
    manifest: Mapping[str, object], published: Mapping[str, CuboidTable], token: CancelToken
) -> tuple[ClaimCheck, ...]:
    """Every claim of a manifest of the method ``dp-cube``; see :meth:`PrivateMethod.verify`.

    Whatever is malformed raises ValueError, TypeError, KeyError or ArithmeticError.
    """
    claimed = _read(manifest)
    checks = [_tables(claimed, published)]
    if checks[0].status is CheckStatus.FAILED:
        return tuple(checks)
    checks += _budget_checks(claimed)
    checks += [_max_variance(claimed, i) for i in range(len(claimed.measures))]
    checks.append(_variances(claimed, token))
    checks += _sums(claimed, published, token)
    checks += _values(claimed, published)
    checks += _averages(claimed, published)
    checks.append(_words(manifest))
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


def _read(manifest: Mapping[str, object]) -> _Claimed:
    result, given = _table(manifest["result"]), _table(manifest["parameters"])
    listed = [_table(item) for item in _list(result["domains"])]
    domains = {str(item["dimension"]): len(_list(item["categories"])) for item in listed}
    gaussian = "rho" in given
    measures = result.get("measures", [result])
    plain = given.get("measure", "count")
    if list(domains) != _list(given["dimensions"]) or len(domains) < len(listed):
        raise ValueError("the domains are not those of the dimensions")
    return _Claimed(
        domains=domains,
        order=tuple(domains),
        gaussian=gaussian,
        residuals=result["residuals"] is True,
        budget=_float(given["rho" if gaussian else "epsilon"]),
        consistency=str(given["consistency"]),
        nonnegative=given.get("nonnegative") is True,
        integral=given.get("integral") is True,
        replace=given["neighbours"] == "replace",
        rows=int(_float(given["rows_per_person"])),
        sources=tuple(_names(names, domains) for names in _list(result["noise_sources"])),
        measures=tuple(_table(item) for item in _list(measures)),
        cuboids=tuple(_table(item) for item in _list(result["cuboids"])),
        plain_measures=tuple(plain) if isinstance(plain, list) else (plain,),
    )


def _tables(claimed: _Claimed, published: Mapping[str, CuboidTable]) -> ClaimCheck:
    claim, label = "cuboids", "Every table has each cell of the declared domain"
    files = [str(item["file"]) for item in claimed.cuboids]
    if sorted(files) != sorted(published):
        found = "`cuboids` and the files in the folder are not the same"
        return ClaimCheck(claim, CheckStatus.FAILED, found, MANIFEST, label)
    for item in claimed.cuboids:
        names = _names(item["dimensions"], claimed.domains)
        table = published[str(item["file"])]
        ordered = tuple(name for name in claimed.order if name in names)
        if table.domain.dimensions != ordered or item["cells"] != claimed.size(names):
            found = f"{item['file']} has other dimensions or cells than `cuboids` says"
            return ClaimCheck(claim, CheckStatus.FAILED, found, MANIFEST, label)
    cells = sum(table.cells for table in published.values())
    found = f"{len(files):,} tables with {cells:,} cells in domain order, none left out"
    return ClaimCheck(claim, CheckStatus.CONFIRMED, found, "", label)


def _steps(claimed: _Claimed, number: int) -> tuple[float, Fraction, Fraction]:
    """Grid step, and the smallest and largest value of a row in steps, of a measured vector."""
    name = str(claimed.measures[number].get("measure", ""))
    kinds = ("sum", "average")
    for plain in claimed.plain_measures:
        if not isinstance(plain, Mapping):
            continue
        kind = next(key for key in kinds if key in plain)
        centred = f"centred sum of {plain[kind]}"
        single = len(claimed.measures) == 1
        if name not in (f"{kind} of {plain[kind]}", centred) and not single:
            continue
        step = Fraction(str(plain.get("step", 1)))
        low, high = Fraction(str(plain["lower"])), Fraction(str(plain["upper"]))
        if kind == "average":
            low, high = -(high - low) / 2, (high - low) / 2
        lowest, highest = -((-low) // step), high // step
        return float(step), Fraction(lowest), Fraction(max(lowest, highest))
    return 1.0, Fraction(1), Fraction(1)


def _budget_checks(claimed: _Claimed) -> Iterator[ClaimCheck]:
    """The stated noise costs no more than the stated budget, and sensitivities are right."""
    spent, key = 0.0, "rho" if claimed.gaussian else "epsilon"
    for number, measure in enumerate(claimed.measures):
        step, low, high = _steps(claimed, number)
        most = max(abs(low), abs(high)) * claimed.rows
        l1 = float((2 if claimed.replace else 1) * most) * step
        if not isclose(l1, _float(measure["sensitivity"]), rel_tol=_RELATIVE):
            found = f"is {measure['sensitivity']}, expected {l1:g}"
            yield ClaimCheck("sensitivity", CheckStatus.FAILED, found, MANIFEST)
        scales = [_float(scale) for scale in _list(measure["scales"])]
        if len(scales) != len(claimed.sources):
            yield ClaimCheck("scales", CheckStatus.FAILED, "is not one for each source", MANIFEST)
            return
        l2 = float(most**2)
        if claimed.replace:
            l2 = float(max(2 * most**2, ((high - low) * claimed.rows) ** 2))
        for names, scale in zip(claimed.sources, scales, strict=True):
            if not claimed.gaussian:
                spent += l1 / scale
            else:
                moved = _residual(claimed, names, float(most)) if claimed.residuals else l2
                spent += moved * step**2 / (2 * scale**2)
    status = CheckStatus.CONFIRMED
    if spent > claimed.budget * (1 + _RELATIVE):
        status = CheckStatus.FAILED
    found = f"the stated noise costs {spent:.6g} of {claimed.budget:g}"
    yield ClaimCheck(
        f"scales within {key}", status, found, MANIFEST, "The noise costs no more than the budget"
    )


def _residual(claimed: _Claimed, names: Names, most: float) -> float:
    """Square of what a person can move in a residual, by trying which dimensions change."""
    sizes = [claimed.domains[name] for name in names]
    kept = prod(1 - 1 / n for n in sizes)
    if not claimed.replace or not sizes:
        return most**2 * kept
    largest = 0.0
    for pattern in range(1, 1 << len(sizes)):
        inner = prod(-1 / n if pattern >> i & 1 else 1 - 1 / n for i, n in enumerate(sizes))
        largest = max(largest, 2 * (kept - inner))
    return most**2 * max(kept, largest)


def _nominal(claimed: _Claimed, number: int) -> list[float]:
    """Variance of a cell of each source as the papers state it."""
    scales = [_float(scale) for scale in _list(claimed.measures[number]["scales"])]
    return [scale**2 if claimed.gaussian else 2 * scale**2 for scale in scales]


def _true(claimed: _Claimed, number: int) -> list[float]:
    """Variance of the discrete noise in a cell of each source."""
    step, _, _ = _steps(claimed, number)
    scales = [_float(scale) / step for scale in _list(claimed.measures[number]["scales"])]
    if claimed.residuals:  # the grid is finer by the number of cells
        fine = [claimed.size(names) for names in claimed.sources]
        return [
            _gaussian(scale * size) / size**2 * step**2
            for scale, size in zip(scales, fine, strict=True)
        ]
    kind = _gaussian if claimed.gaussian else _laplace
    return [kind(scale) * step**2 for scale in scales]


def _laplace(scale: float) -> float:
    """Variance of P(x) proportional to exp(-|x|/b): 1 / (cosh(1/b) - 1)."""
    if scale > 1e4:  # the difference would be lost; the next term of its series is known
        return 2 * scale**2 - 1 / 6
    return 1 / (cosh(1 / scale) - 1) if scale > 1 / 700 else 2 * exp(-1 / scale)


def _gaussian(sigma: float) -> float:
    """Variance of P(x) proportional to exp(-x^2/2 sigma^2), summed up where it differs."""
    if sigma > _SMALL_SIGMA:
        return sigma**2
    weights = [exp(-(x**2) / (2 * sigma**2)) for x in range(1, int(40 * sigma) + 3)]
    total = 1 + 2 * sum(weights)
    return 2 * sum(x**2 * weight for x, weight in enumerate(weights, 1)) / total


def _best(claimed: _Claimed, names: Names, variances: Sequence[float]) -> float:
    return min(
        (
            variance * claimed.size(source - names)
            for source, variance in zip(claimed.sources, variances, strict=True)
            if names <= source
        ),
        default=float("inf"),
    )


def _max_variance(claimed: _Claimed, number: int) -> ClaimCheck:
    cuboids = [_names(item["dimensions"], claimed.domains) for item in claimed.cuboids]
    stated = _float(claimed.measures[number]["max_variance"])
    if claimed.residuals:
        known = _known(claimed, number, cuboids)
        found = max(_after(claimed, names, known) for names in cuboids)
    else:
        nominal = _nominal(claimed, number)
        found = max(_best(claimed, names, nominal) for names in cuboids)
    same = isclose(stated, found, rel_tol=_RELATIVE * 10)
    return ClaimCheck(
        "max_variance",
        CheckStatus.CONFIRMED if same else CheckStatus.FAILED,
        f"is {stated:.8g}, {'as' if same else 'but'} the noise sources give {found:.8g}",
        MANIFEST,
        "The largest variance before consistency",
    )


def _known(claimed: _Claimed, number: int, cuboids: Sequence[Names]) -> dict[Names, float]:
    """What is known of each residual below the cuboids: the sum of 1/(variance * mag)."""
    variances = _true(claimed, number)
    below = {part for names in cuboids for part in _subsets(names)}
    known: dict[Names, float] = {}
    for part in below:
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


def _after(claimed: _Claimed, names: Names, known: Mapping[Names, float]) -> float:
    """Variance of a cell after consistency, by its sum over all smaller cuboids."""
    total = 0.0
    for part in _subsets(names):
        share = prod(1 - 1 / claimed.domains[name] for name in part)
        if share == 0:  # a dimension with one category
            continue
        total += share / known[part] / claimed.size(names - part) ** 2
    return total


def _variances(claimed: _Claimed, token: CancelToken) -> ClaimCheck:
    claim, label = "variance of each table", "The error of each table"
    checked, several = 0, len(claimed.measures) > 1
    for number, measure in enumerate(claimed.measures):
        name = measure.get("measure") if several else None
        items = [item for item in claimed.cuboids if item.get("measure") == name]
        names = [_names(item["dimensions"], claimed.domains) for item in items]
        work = sum(2 ** len(each) for each in names) + len(claimed.sources) * len(names)
        stride = max(1, work // _WORK)
        names, items = names[::stride], items[::stride]
        none = claimed.consistency == "none" and not claimed.residuals
        variances = _true(claimed, number)
        known = {} if none else _known(claimed, number, names)
        for each, item in zip(names, items, strict=True):
            token.check()
            found = _best(claimed, each, variances) if none else _after(claimed, each, known)
            if not isclose(found, _float(item["variance"]), rel_tol=1e-6):
                text = f"{item['file']}: `variance` is {item['variance']}, expected {found:.8g}"
                return ClaimCheck(claim, CheckStatus.FAILED, text, MANIFEST, label)
            checked += 1
    text = f"computed again for {checked:,} of {len(claimed.cuboids):,} tables, the same"
    return ClaimCheck(claim, CheckStatus.CONFIRMED, text, "", label)


def _sums(
    claimed: _Claimed, published: Mapping[str, CuboidTable], token: CancelToken
) -> Iterator[ClaimCheck]:
    """Tables agree: each is the sum of every finer one, and those that overlap agree there."""
    if claimed.consistency == "none" and not claimed.residuals:
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
                found = f"{group[coarse].file} and {group[fine].file} differ by up to {gap:.6g}"
                yield ClaimCheck(claim, CheckStatus.FAILED, found, group[coarse].file, label)
                return
            compared += 1
    yield ClaimCheck(claim, CheckStatus.CONFIRMED, f"{compared:,} pairs summed up", "", label)


def _groups(
    claimed: _Claimed, published: Mapping[str, CuboidTable]
) -> Iterator[dict[Names, CuboidTable]]:
    """The tables of each measure that adds up, by their dimensions."""
    found: dict[str, dict[Names, CuboidTable]] = {}
    for item in claimed.cuboids:
        names = _names(item["dimensions"], claimed.domains)
        group = found.setdefault(str(item.get("measure", "")), {})
        group[names] = published[str(item["file"])]
    yield from (group for key, group in found.items() if not key.startswith("average"))


def _pairs(cuboids: list[Names]) -> Iterator[tuple[Names, Names]]:
    """Each cuboid with the finer ones next to it; and the finest ones that overlap."""
    finest = [each for each in cuboids if not any(each < other for other in cuboids)]
    for each in cuboids:
        finer = [other for other in cuboids if each < other]
        for other in finer:
            if not any(each < between < other for between in finer):
                yield each, other
    yield from combinations(finest, 2)


def _summed(table: CuboidTable, names: Names) -> NDArray[np.float64]:
    gone = tuple(i for i, name in enumerate(table.domain.dimensions) if name not in names)
    return np.asarray(np.asarray(table.values, dtype=np.float64).sum(axis=gone))


def _averages(claimed: _Claimed, published: Mapping[str, CuboidTable]) -> Iterator[ClaimCheck]:
    """Every average is the middle of its bounds plus the centred sum over the count, clipped."""
    by_measure: dict[str, dict[Names, CuboidTable]] = {}
    for item in claimed.cuboids:
        names = _names(item["dimensions"], claimed.domains)
        by_measure.setdefault(str(item.get("measure", "")), {})[names] = published[
            str(item["file"])
        ]
    for plain in claimed.plain_measures:
        if not isinstance(plain, Mapping) or "average" not in plain:
            continue
        column, low, high = plain["average"], _float(plain["lower"]), _float(plain["upper"])
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
        found = f"{wrong} is another" if wrong else "computed again from sums and counts, the same"
        yield ClaimCheck(f"average of {column}", status, found, wrong)


def _values(claimed: _Claimed, published: Mapping[str, CuboidTable]) -> Iterator[ClaimCheck]:
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
        found = "holds in every cell" if bad is None else f"does not hold in {bad}"
        yield ClaimCheck(claim, status, found, bad or "")


def _holds(claim: str, table: CuboidTable) -> bool:
    values = np.asarray(table.values, dtype=np.float64)
    return bool((values >= 0).all() if claim == "nonnegative" else (values % 1 == 0).all())


def _words(manifest: Mapping[str, object]) -> ClaimCheck:
    """The guarantee is the one that these settings give."""
    from dpdesk.core.parameters import parse_parameters
    from dpdesk.engine.cubes.guarantee import cube_guarantee
    from dpdesk.engine.cubes.parameters import PARAMETERS
    from dpdesk.engine.cubes.settings import CubeSettings

    claim, label = "guarantee", "The sentences of the guarantee fit the settings"
    stated, given = _table(manifest["guarantee"]), _table(manifest["parameters"])
    values = parse_parameters(PARAMETERS, given, "the manifest")
    settings = CubeSettings.from_parameters(values, "the manifest")
    clusters = _list(_table(stated["parameters"]).get("cluster", []))
    expected = cube_guarantee(settings, str(clusters[0]) if clusters else None).as_json()
    if {**stated, "parameters": dict(_table(stated["parameters"]))} == expected:
        return ClaimCheck(claim, CheckStatus.CONFIRMED, "worded again, the same", MANIFEST, label)
    keys = [key for key in expected if stated.get(key) != expected[key]]
    found = f"`{keys[0] if keys else 'guarantee'}` is not what the settings give"
    return ClaimCheck(claim, CheckStatus.FAILED, found, MANIFEST, label)


def _subsets(names: Names) -> Iterator[Names]:
    ordered = sorted(names)
    sizes = range(len(ordered) + 1)
    return map(frozenset, chain.from_iterable(combinations(ordered, size) for size in sizes))


def _names(raw: object, domains: Mapping[str, int]) -> Names:
    names = [str(name) for name in _list(raw)]
    if len(set(names)) < len(names) or any(name not in domains for name in names):
        raise ValueError("a cuboid names a dimension twice, or one that there is not")
    return frozenset(names)


def _table(raw: object) -> Mapping[str, object]:
    if not isinstance(raw, Mapping):
        raise TypeError("expected a table")
    return raw


def _list(raw: object) -> list[object]:
    if not isinstance(raw, list | tuple):
        raise TypeError("expected a list")
    return list(raw)


def _float(raw: object) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        raise TypeError("expected a number")
    return float(raw)
