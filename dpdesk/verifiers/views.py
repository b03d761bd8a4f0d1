"""Checking released views and marginals from their files alone, by plain formulas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations
from math import inf, isclose, log1p, prod, sinh, sqrt

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.cuboid import CuboidTable, Domain
from dpdesk.core.frequency import FrequencySource
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.release import CheckStatus, ClaimCheck
from dpdesk.core.shapes import as_float, as_list, as_table
from dpdesk.verifiers.cubes.quiet import Counted
from dpdesk.verifiers.cubes.stated import (
    RESULT_LABEL,
    Asked,
    asked_of,
    fault_of_domains,
    stated_shares,
)
from dpdesk.verifiers.cubes.verification import counted_again
from dpdesk.verifiers.declared import Declarations, counted_cells
from dpdesk.verifiers.nearness import NEVER, Part, chance_of_contrasts, chance_of_zero, log_chance
from dpdesk.verifiers.noise import gaussian_variance, laplace_variance
from dpdesk.verifiers.promises import Sentences, words_check
from dpdesk.verifiers.reading import count, number, texts

# Marginals made again from released views, for comparison; no code of the engine is used.
#
# What is defined: of a marginal that lies in no view, the sums over the largest sets of its
# dimensions that lie in a view are known. By largest entropy, an even table over the marginal and
# the dimensions that go with it best is scaled to what views say of it, at most 100 times round;
# summed up; and scaled to what they say of the marginal, at most 400 times round. The former ends
# within a hundred-thousandth of the total; where the latter does not come within a billionth, 60
# steps by the geometric mean of all parts follow. Which dimensions go along: those with the largest
# sum, over the views that hold them, of the square of how many of the marginal's the view holds,
# while there are at most 2,048 cells.


Floats = NDArray[np.float64]
Axes = tuple[int, ...]
_CELLS, _NEAR, _NEARLY = 2048, 1e-9, 1e-5


def known_sums(
    views: Mapping[Axes, Floats], asked: Axes, sizes: Sequence[int]
) -> list[tuple[list[int], Floats]]:
    """Shapes and sums of the largest parts of ``asked`` that lie in a view, in order."""
    parts = {tuple(sorted(set(view) & set(asked))) for view in views}
    parts = {part for part in parts if not any(set(part) < set(other) for other in parts)}
    found = []
    for part in sorted(parts):
        view = min(
            (each for each in views if not set(part) - set(each)),
            key=lambda each: (prod(sizes[i] for i in each), each),
        )
        gone = tuple(axis for axis, i in enumerate(view) if i not in part)
        shape = [sizes[i] if i in part else 1 for i in asked]
        found.append((shape, views[view].sum(axis=gone).reshape(shape)))
    return found


def _over(table: Floats, shape: Sequence[int]) -> Floats:
    """The sums of a table over the axes that a shape lacks."""
    lacking = tuple(axis for axis, size in enumerate(shape) if size != table.shape[axis])
    return np.asarray(table.sum(axis=lacking, keepdims=True))


def _ratio(target: Floats, found: Floats) -> Floats:
    return np.divide(target, found, out=np.zeros_like(found), where=found > 0)


def largest_gap(table: Floats, parts: Sequence[tuple[list[int], Floats]]) -> float:
    """How far sums of a table are from what views say."""
    return max(float(np.abs(_over(table, shape) - sums).max()) for shape, sums in parts)


def _scaled(
    table: Floats, parts: Sequence[tuple[list[int], Floats]], rounds: int, near: float
) -> tuple[Floats, bool]:
    """Scaled to each part in turn; and whether it came so near."""
    total = float(parts[0][1].sum())
    for _ in range(rounds):
        gap = 0.0
        for shape, sums in parts:
            own = _over(table, shape)
            gap = max(gap, float(np.abs(sums - own).max()))
            table = table * _ratio(sums, own)
        if gap <= near * total:
            return table, True
    return table, False


def _compromise(table: Floats, parts: Sequence[tuple[list[int], Floats]]) -> Floats:
    """60 steps towards all parts at once."""
    total = float(parts[0][1].sum())
    for _ in range(60):
        factors = [_ratio(sums, _over(table, shape)) ** (1 / len(parts)) for shape, sums in parts]
        for factor in factors:
            table = table * factor
        whole = table.sum()
        table = table * (total / whole) if whole > 0 else table
    return table


def _evened(table: Floats, parts: Sequence[tuple[list[int], Floats]]) -> Floats:
    """The nearest table with these sums and no negative cell, after 1,000 rounds at most."""
    total = float(parts[0][1].sum())
    cut = np.zeros_like(table)
    for _ in range(1000):
        gap = 0.0
        for shape, sums in parts:
            off = sums - _over(table, shape)
            gap = max(gap, float(np.abs(off).max()))
            table = table + off * (off.size / table.size)
        least, moved = float(table.min()), table + cut
        table, cut = np.maximum(moved, 0), np.minimum(moved, 0)
        if gap <= _NEAR * total and least >= -_NEAR * total:
            break
    return np.asarray(table * (total / table.sum()))


def made_again(
    views: Mapping[Axes, Floats], asked: Axes, sizes: Sequence[int], *, entropy: bool
) -> Floats:
    """The marginal by largest entropy, or the most even one; for one that lies in no view."""
    total = float(next(iter(views.values())).sum())
    own = [sizes[i] for i in asked]
    if total <= 0:
        return np.zeros(own)
    if not entropy:
        return _evened(np.full(own, total / prod(own)), known_sums(views, asked, sizes))
    marks = {
        i: sum(len(set(view) & set(asked)) ** 2 for view in views if i in view)
        for i in range(len(sizes))
    }
    wide = list(asked)
    for i in sorted(marks, key=lambda each: (-marks[each], each)):
        if i not in asked and marks[i] and prod(sizes[j] for j in wide) * sizes[i] <= _CELLS:
            wide.append(i)
    table = np.full(own, total / prod(own))
    if len(wide) > len(asked):
        around = tuple(sorted(wide))
        shape = [sizes[i] for i in around]
        parts = known_sums(views, around, sizes)
        fitted, _ = _scaled(np.full(shape, total / prod(shape)), parts, 100, _NEARLY)
        table = fitted.sum(axis=tuple(axis for axis, i in enumerate(around) if i not in asked))
        table = table * (total / table.sum())
    parts = known_sums(views, asked, sizes)
    table, near = _scaled(table, parts, 400, _NEAR)
    return table if near else _compromise(table, parts)


MANIFEST = "manifest.json"
Places = tuple[int, ...]
_RELATIVE, _LEAST = 1e-9, 1e-200
_AGREE = 1e-6
"""How far, in people, sums of two views may differ; and of marginals, in shares of the total."""


def as_cube(manifest: Mapping[str, object]) -> dict[str, object]:
    """The manifest as checks of categories and rows read it: those of a cube without tables."""
    parameters = as_table(manifest["parameters"])
    shared = {key: value for key, value in parameters.items() if key != "weights"}
    result = {**as_table(manifest["result"]), "cuboids": []}
    return {**manifest, "parameters": {**shared, "publish": []}, "result": result}


@dataclass(frozen=True)
class _Claimed:
    """What a manifest of views says, read strictly."""

    asked: Asked
    given: Mapping[str, object]
    result: Mapping[str, object]
    sizes: tuple[int, ...]
    views: tuple[Places, ...]
    marginals: tuple[Places, ...]

    @property
    def budget(self) -> Fraction:
        return number(self.given["rho" if self.gaussian else "epsilon"])

    @property
    def gaussian(self) -> bool:
        return self.given.get("epsilon") is None

    @property
    def replace(self) -> bool:
        return self.given.get("neighbours") == "replace"

    @property
    def rows(self) -> int:
        return count(self.given.get("rows_per_person", 1))

    def places(self, names: object) -> Places:
        found = tuple(self.asked.dimensions.index(name) for name in texts(names))
        if len(set(found)) < len(found):
            raise ValueError("a table names a dimension twice")
        return tuple(sorted(found))

    def cells(self, places: Places) -> int:
        return prod(self.sizes[i] for i in places)

    def lines(self, key: str) -> list[Mapping[str, object]]:
        return [as_table(item) for item in as_list(self.result[key])]


def _claimed(manifest: Mapping[str, object]) -> _Claimed:
    shared = as_cube(manifest)
    asked, result = asked_of(shared), as_table(manifest["result"])
    domain = Domain.from_json(result["domains"])
    if domain.dimensions != asked.dimensions:
        raise ValueError("the domains are not those of the dimensions")
    given = as_table(manifest["parameters"])
    bare = _Claimed(asked, given, result, domain.shape, (), ())
    views, marginals = (
        tuple(bare.places(line["dimensions"]) for line in bare.lines(key))
        for key in ("views", "marginals")
    )
    return _Claimed(asked, given, result, domain.shape, views, marginals)


def verify_views(
    manifest: Mapping[str, object],
    published: Mapping[str, CuboidTable],
    worded: Sentences,
    token: CancelToken,
) -> tuple[ClaimCheck, ...]:
    """Every claim of a manifest of the method ``priview``; see :meth:`PrivateMethod.verify`.

    Whatever is malformed raises ValueError, TypeError, KeyError or ArithmeticError.
    """
    claimed = _claimed(manifest)
    fault = fault_of_domains(claimed.result, claimed.asked) or next(_faults(claimed), "")
    found = "domains, views, marginals and shares are those of the settings"
    checks = [_check("result", fault, found, MANIFEST, RESULT_LABEL)]
    if not fault:
        checks.append(_tables(claimed, published))
    if any(check.status is CheckStatus.FAILED for check in checks):
        return tuple(checks)
    checks += _budget(claimed)
    checks.append(_variances(claimed, token))
    checks += _values(claimed, published, token)
    checks.append(words_check(manifest, worded))
    label = "The privacy loss is what is stated"
    privacy = (
        "is a property of how the noise was drawn, which no release can show; what can be "
        "checked is that the stated noise costs no more than the stated budget"
    )
    status = CheckStatus.NOT_CHECKABLE
    return (*checks, ClaimCheck("differential privacy", status, privacy, MANIFEST, label))


def _check(claim: str, fault: str, found: str, path: str, label: str) -> ClaimCheck:
    status = CheckStatus.FAILED if fault else CheckStatus.CONFIRMED
    return ClaimCheck(claim, status, fault or found, path, label)


def _faults(claimed: _Claimed) -> Iterator[str]:
    """What of the result is not what the settings ask for."""
    result, views = claimed.result, claimed.views
    flags = {"residuals": False, "biased": True, "proven": False}
    yield from (
        msg("`{key}` is not so", key=key)
        for key, value in flags.items()
        if result[key] is not value
    )
    if not views or len(set(views)) < len(views):
        yield "`views` are none, or one comes twice"
    sources = [line["dimensions"] for line in claimed.lines("views")]
    if result["noise_sources"] != sources:
        yield "`noise_sources` are not the views"
    yield from _view_faults(claimed)
    if claimed.marginals != _asked_marginals(claimed):
        yield "`marginals` are not those that the parameters ask for"
    for line, places in zip(claimed.lines("marginals"), claimed.marginals, strict=True):
        if line["covered"] is not any(set(places) <= set(view) for view in views):
            yield "`covered` is not so"
    shares = stated_shares(result)
    if len(shares) != len(views) or sum(shares) > 1:
        yield "`shares` are not one for each view, or come to more than the whole budget"
    alike = len({claimed.cells(view) for view in views}) == 1
    if alike and not claimed.given.get("weights") and len(set(shares)) > 1:
        yield "`shares` differ, and neither sizes nor weights do"


def _view_faults(claimed: _Claimed) -> Iterator[str]:
    """Views that are not those asked for: named ones, or of a size and covering so many."""
    given, views = claimed.given, claimed.views
    listed = given.get("views")
    if listed:
        if tuple(claimed.places(names) for names in as_list(listed)) != views:
            yield "`views` are not those that the parameters list"
        return
    size, most = given.get("view_size"), given.get("view_cells")
    if size is not None and any(len(view) > count(size) for view in views):
        yield "a view has more dimensions than `view_size`"
    if most is not None and any(claimed.cells(view) > count(most) for view in views):
        yield "a view has more cells than `view_cells`"
    strength = min(count(given.get("cover", 2)), len(claimed.sizes))
    held = set(chain.from_iterable(combinations(view, strength) for view in views))
    for part in combinations(range(len(claimed.sizes)), strength):
        if part not in held:
            names = " × ".join(claimed.asked.dimensions[i] for i in part)
            yield msg("no view has {names} together, which `cover` asks for", names=names)
            return


def _asked_marginals(claimed: _Claimed) -> tuple[Places, ...]:
    raw = claimed.given.get("marginals")
    if isinstance(raw, Mapping):
        return tuple(combinations(range(len(claimed.sizes)), count(raw["size"])))
    return tuple(claimed.places(names) for names in as_list(raw or []))


def _tables(claimed: _Claimed, published: Mapping[str, CuboidTable]) -> ClaimCheck:
    claim, label = "tables", "Every table has each cell of the declared domain"
    files = []
    for key, tables in (("views", claimed.views), ("marginals", claimed.marginals)):
        for line, places in zip(claimed.lines(key), tables, strict=True):
            names = [claimed.asked.dimensions[i] for i in places]
            table = published.get(str(line["file"]))
            wrong = line["dimensions"] != names or line["cells"] != claimed.cells(places)
            wrong = wrong or not str(line["file"]).startswith(f"{key}/")
            if wrong or table is None or list(table.domain.dimensions) != names:
                found = msg("{line} is not listed as it is", line=str(line["file"])[:200])
                return ClaimCheck(claim, CheckStatus.FAILED, found, MANIFEST, label)
            files.append(str(line["file"]))
    fault = "" if sorted(files) == sorted(published) else "a file is listed twice, or not at all"
    found = msg(
        "{n} tables with {m:,} cells in domain order, none left out",
        n=len(files),
        m=sum(table.cells for table in published.values()),
    )
    return _check(claim, fault, found, "", label)


def _budget(claimed: _Claimed) -> Iterator[ClaimCheck]:
    """Sensitivity, scales and the largest variance before views agree."""
    rows, result = claimed.rows, claimed.result
    l1 = rows * (2 if claimed.replace else 1)
    l2_squared = rows**2 * (2 if claimed.replace else 1)
    stated = as_float(result["sensitivity"])
    fault = "" if stated == l1 else msg("is {stated:g}, expected {moved}", stated=stated, moved=l1)
    yield _check("sensitivity", fault, msg("is {n}", n=l1), MANIFEST, "What one person changes")
    scales = [as_float(scale) for scale in as_list(result["scales"])]
    shares, budget = stated_shares(result), float(claimed.budget)
    fault, spent = "" if len(scales) == len(shares) else "are not one for each view", 0.0
    for scale, share in zip(scales, shares, strict=False):
        if scale <= 0:
            fault = "are not above 0"
            break
        cost = l2_squared / (2 * scale**2) if claimed.gaussian else l1 / scale
        spent += cost
        if not isclose(cost, float(share) * budget, rel_tol=_RELATIVE):
            fault = msg(
                "with {scale:g} a view costs {cost:.8g}, but its share is different",
                scale=scale,
                cost=cost,
            )
    if spent > budget * (1 + _RELATIVE):
        fault = msg("the noise costs {spent:.8g}", spent=spent)
    key = "rho" if claimed.gaussian else "epsilon"
    found = msg("the stated noise costs {n:.6g} of {m:g}", n=spent, m=budget)
    label = "The noise costs no more than the budget"
    yield _check(msg("scales within {key}", key=key), fault, found, MANIFEST, label)
    largest = max(scale**2 if claimed.gaussian else 2 * scale**2 for scale in scales)
    right = isclose(as_float(result["max_variance"]), largest, rel_tol=_RELATIVE)
    fault = "" if right else msg("is not {largest:.8g}", largest=largest)
    label = "The largest variance before consistency"
    yield _check("max_variance", fault, msg("is {n:.8g}", n=largest), MANIFEST, label)


def _variances(claimed: _Claimed, token: CancelToken) -> ClaimCheck:
    """The planned noise of each table, from the definition: all subsets, one by one."""
    claim, label = "variance of each table", "The error of each table"
    kind = gaussian_variance if claimed.gaussian else laplace_variance
    known: dict[frozenset[int], float] = {}
    for view, scale in zip(claimed.views, as_list(claimed.result["scales"]), strict=True):
        token.check()
        variance = max(_LEAST, kind(as_float(scale)))
        for part in _subsets(view):
            beyond = claimed.cells(tuple(set(view) - part))
            known[part] = known.get(part, 0.0) + 1 / (variance * beyond)
    lines = [*claimed.lines("views"), *claimed.lines("marginals")]
    for line, places in zip(lines, (*claimed.views, *claimed.marginals), strict=True):
        token.check()
        found = 0.0
        for part in _subsets(places):
            if part in known:
                own = prod(1 - 1 / claimed.sizes[i] for i in part)
                found += own / known[part] / claimed.cells(tuple(set(places) - part)) ** 2
        if not isclose(found, as_float(line["variance"]), rel_tol=1e-6):
            text = msg(
                "{line}: `variance` is {line2}, expected {found:.8g}",
                line=line["file"],
                line2=line["variance"],
                found=found,
            )
            return ClaimCheck(claim, CheckStatus.FAILED, text, MANIFEST, label)
    return ClaimCheck(claim, CheckStatus.CONFIRMED, "computed again, the same", "", label)


def _subsets(places: Places) -> Iterator[frozenset[int]]:
    sizes = range(len(places) + 1)
    return map(frozenset, chain.from_iterable(combinations(places, size) for size in sizes))


def _values(
    claimed: _Claimed, published: Mapping[str, CuboidTable], token: CancelToken
) -> Iterator[ClaimCheck]:
    """No negative cell; views agree on every intersection; marginals are those of the views."""
    views = _arrays(claimed.lines("views"), claimed.views, published)
    tables = [(str(line["file"]), line) for line in claimed.lines("views")]
    tables += [(str(line["file"]), line) for line in claimed.lines("marginals")]
    negative = next((file for file, _ in tables if not _holds(published[file])), "")
    fault = msg("does not hold in {negative}", negative=negative) if negative else ""
    yield _check("nonnegative", fault, "holds in every cell", negative, "No negative numbers")
    label = "Any two views agree on what they share"
    fault, compared = _disagreement(claimed, views, published, token)
    yield _check("consistency", fault, msg("{n:,} pairs summed up", n=compared), "", label)
    if not fault and claimed.marginals:
        yield _marginals(claimed, views, published, token)


def _holds(table: CuboidTable) -> bool:
    return bool((np.asarray(table.values, dtype=np.float64) >= 0).all())


def _arrays(
    lines: Sequence[Mapping[str, object]],
    places: Sequence[Places],
    published: Mapping[str, CuboidTable],
) -> dict[Places, Floats]:
    return {
        each: np.asarray(published[str(line["file"])].values, dtype=np.float64)
        for line, each in zip(lines, places, strict=True)
    }


def _disagreement(
    claimed: _Claimed,
    views: Mapping[Places, Floats],
    published: Mapping[str, CuboidTable],
    token: CancelToken,
) -> tuple[str, int]:
    """Where two views say different things of what they share; and how many were compared."""
    files = [str(line["file"]) for line in claimed.lines("views")]
    sums: dict[tuple[int, Places], Floats] = {}
    listed = list(views.items())
    near = _AGREE + _RELATIVE * float(listed[0][1].sum())

    def over(place: int, common: Places) -> Floats:
        if (place, common) not in sums:
            own, values = listed[place]
            gone = tuple(axis for axis, i in enumerate(own) if i not in common)
            sums[place, common] = np.asarray(values.sum(axis=gone))
        return sums[place, common]

    compared = 0
    for one, other in combinations(range(len(listed)), 2):
        if not compared % 1000:
            token.check()
        compared += 1
        common = tuple(i for i in listed[one][0] if i in listed[other][0])
        gap = float(np.abs(over(one, common) - over(other, common)).max())
        if not gap <= near:
            return msg(
                "{files} and {files2} differ by up to {gap:.6g}",
                files=files[one],
                files2=files[other],
                gap=gap,
            ), compared
    return "", compared


def _marginals(
    claimed: _Claimed,
    views: Mapping[Places, Floats],
    published: Mapping[str, CuboidTable],
    token: CancelToken,
) -> ClaimCheck:
    """Each marginal is what the views say of it, or is made from them as it should be."""
    claim, label = "marginals", "Marginals follow from the views"
    total = float(next(iter(views.values())).sum())
    near = _AGREE * max(1.0, total)
    entropy = claimed.given.get("reconstruct", "max-entropy") == "max-entropy"
    left = 0.0
    for line, places in zip(claimed.lines("marginals"), claimed.marginals, strict=True):
        token.check()
        file = str(line["file"])
        values = np.asarray(published[file].values, dtype=np.float64)
        parts = known_sums(views, places, claimed.sizes)
        gap = largest_gap(values, parts)
        if line["covered"]:
            fault = (
                "" if gap <= near else msg("{file} is not what follows from the views", file=file)
            )
        elif abs(float(values.sum()) - total) > near:
            fault = msg("{file} has another total than the views", file=file)
        else:
            again = made_again(views, places, claimed.sizes, entropy=entropy)
            differs = float(np.abs(values - again).max()) > near
            fault = msg("{file} is not the table that the views give", file=file) if differs else ""
        if fault:
            return ClaimCheck(claim, CheckStatus.FAILED, fault, file, label)
        left = max(left, gap)
    found = msg(
        "{n:,} made again from the views; sums of them differ from the views by up to {gap:.3g}",
        n=len(claimed.marginals),
        gap=left,
    )
    return ClaimCheck(claim, CheckStatus.CONFIRMED, found, "", label)


# Whether views have less noise than they state, with the source at hand.
#
# What of a view no other one tells stays as it was drawn while views are made to agree by their
# means (:mod:`dpdesk.verifiers.nearness`), and everything that follows does nothing where no cell
# is below 0. What keeps a cell above 0 is its true count: in the unit in which noise has the
# variance 1, an agreed cell errs by a weighted sum of the noise of all cells, whose weights are a
# row of a projection, so that their squares add up to the share of the variance that is left and
# none is above 1. The logarithm of the mean of e^(s·noise) is convex in s², hence that of the sum
# at most this share of it at s, the larger one of all views; Chernoff's bound follows. Where a cell
# is too small for that, nothing is told.

_PACES = (0.3, 0.6, 0.8, 0.9, 0.95, 0.98, 0.99)
_FINEST = 0.05


def counted_check(
    manifest: Mapping[str, object],
    recorded: Mapping[str, object],
    published: Mapping[str, CuboidTable],
    given: Declarations,
    source: FrequencySource,
    token: CancelToken,
) -> list[ClaimCheck]:
    """Place the rows of the source again: how many count, and whether noise is too small.

    As :func:`~dpdesk.verifiers.cubes.verification.counted_check`.
    """

    def quiet(number: int, counted: Counted) -> str:
        return too_quiet(manifest, published, counted, token)

    shared = as_cube(manifest)
    return counted_again(shared, recorded, published, given, source, token, quiet)


def too_quiet(
    manifest: Mapping[str, object],
    published: Mapping[str, CuboidTable],
    counted: Counted,
    token: CancelToken,
) -> str:
    """What says that views have less noise than stated, or empty. Raises Cancelled."""
    claimed = _claimed(manifest)
    scales = [as_float(scale) for scale in as_list(claimed.result["scales"])]
    parts, below = [], -inf
    for place, line in enumerate(claimed.lines("views")):
        view = claimed.views[place]
        true = counted_cells(counted.rows, [counted.columns[i] for i in view], token)
        below = float(np.logaddexp(below, _chance_below(claimed, scales, place, true)))
        if below >= NEVER:
            return ""
        values = np.asarray(published[str(line["file"])].values, np.float64)
        likely = chance_of_zero(scales[place], gaussian=claimed.gaussian)
        parts.append(Part(values.reshape(true.shape) - true, likely, _own(claimed.views, place)))
    if np.logaddexp(below, min(log_chance(parts), chance_of_contrasts(parts))) < NEVER:
        file = str(claimed.lines("views")[0]["file"])
        return msg("{file} has less noise than is stated", file=file)
    return ""


def _own(views: Sequence[Places], place: int) -> NDArray[np.bool_]:
    """The residuals of a view that it alone knows."""
    view = views[place]
    own = np.ones((2,) * len(view), bool)
    for at, other in enumerate(views):
        if at != place:
            own[tuple(slice(None) if i in other else 0 for i in view)] = False
    return own


def _chance_below(
    claimed: _Claimed, scales: Sequence[float], place: int, counts: NDArray[np.int64]
) -> float:
    """The logarithm of a bound on the chance of a cell of a view below 0 once views agree."""
    if min(scales) < _FINEST:
        return 0.0
    kind = gaussian_variance if claimed.gaussian else laplace_variance
    variances, scale = [kind(each) for each in scales], scales[place]
    left = min(1.0, as_float(claimed.lines("views")[place]["variance"]) / variances[place])
    rows = counts.reshape(-1).astype(np.float64)
    if claimed.gaussian:
        return float(np.logaddexp.reduce(-(rows**2) / (2 * scale**2 * left)))
    fastest = min(sqrt(own) / each for own, each in zip(variances, scales, strict=True))
    found = []
    for pace in _PACES:
        rate = pace * fastest
        largest = max(
            _log_mean(rate / sqrt(own), each) for own, each in zip(variances, scales, strict=True)
        )
        told = left * largest - rows * (rate / sqrt(variances[place]))
        found.append(float(np.logaddexp.reduce(told)))
    return min(0.0, *found)


def _log_mean(rate: float, scale: float) -> float:
    """The logarithm of the mean of e^(rate·noise), for a rate below 1 / scale."""
    top = sinh(1 / (2 * scale)) ** 2
    return -log1p(-(sinh(rate / 2) ** 2) / top)
