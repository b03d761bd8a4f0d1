"""Checking released itemsets: from their files alone, and with the source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, pairwise
from json import dumps
from math import comb, log

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.cuboid import CuboidTable
from dpdesk.core.frequency import FrequencySource
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.release import CheckStatus, ClaimCheck
from dpdesk.core.shapes import as_list, as_table, read_json
from dpdesk.verifiers.cubes.quiet import Counted
from dpdesk.verifiers.cubes.stated import RESULT_LABEL
from dpdesk.verifiers.declared import (
    Column,
    ColumnRequest,
    Declarations,
    Rows,
    categories_check,
    checked,
    counted_cells,
    kept_rows,
    read_column,
    unlike,
)
from dpdesk.verifiers.nearness import NEVER, chance_of_integers, likeliest_sum
from dpdesk.verifiers.promises import Sentences, words_check
from dpdesk.verifiers.reading import OTHER, cluster_of, count, number, texts
from dpdesk.verifiers.views import known_sums, made_again, too_quiet, verify_views

MANIFEST, EVIDENCE = "manifest.json", "internal/evidence.json"
SETS, BASES = "itemsets.csv", "bases.csv"
_LARGEST, _SHARES = 12, ("1/10", "2/5", "1/2")
_LISTED = "itemsets"
_LISTS = [{"dimensions": ["items"], "file": file, "listed": True} for file in (SETS, BASES)]
_OF_VIEWS = {
    *("noise_sources", "shares", "residuals", "sensitivity", "scales", "max_variance", "views"),
    *("domains", "outside", "biased", "proven", "itemsets"),
}
"""What the result of sets that were read from views holds."""
_NEAR = 1e-6
"""How far counts made again may differ, in shares of the total."""
_COUNTED = ("rows that count", "The rows that count are those of the source")
_PRIVACY = (
    "is a property of how sets were chosen and the noise was drawn, which no release can show"
)


@dataclass(frozen=True)
class _Asked:
    """The settings of a manifest."""

    items: tuple[str, ...]
    domains: Mapping[str, tuple[str, ...]]
    top: int
    longest: int
    width: int
    epsilon: Fraction | None


def _asked_of(manifest: Mapping[str, object]) -> _Asked:
    """Raises ValueError, TypeError, KeyError when malformed."""
    given = as_table(manifest["parameters"])
    twice = 2 if given.get("neighbours", "add-remove") == "replace" else 1
    domains = {name: texts(raw) for name, raw in as_table(given.get("domains") or {}).items()}
    items, longest = texts(given["dimensions"]), count(given.get("longest", 3))
    sets = sum(comb(len(items), size) for size in range(1, longest + 1))
    return _Asked(
        items=items,
        domains=domains,
        top=min(count(given["top"]), sets),
        longest=longest,
        width=count(given.get("rows_per_person", 1)) * twice,
        epsilon=None if given.get("epsilon") is None else number(given["epsilon"]),
    )


def verify_itemsets(
    manifest: Mapping[str, object],
    published: Mapping[str, CuboidTable],
    again: Sentences,
    token: CancelToken,
) -> tuple[ClaimCheck, ...]:
    """Every claim of a manifest of the method ``itemsets``; see :meth:`PrivateMethod.verify`.

    ``again`` is its guarantee worded again. Malformed manifests raise ValueError, TypeError,
    KeyError or ArithmeticError; Cancelled.
    """
    if as_table(manifest["parameters"]).get("mine") == "views":
        return _verify_mined(manifest, published, again, token)
    asked, result = _asked_of(manifest), as_table(manifest["result"])
    checks = [
        checked(
            *("result", next(_result_faults(asked, result), ""), "shares and domains fit"),
            *("The release is the one that its settings describe", MANIFEST),
        ),
        _cost(result),
        checked(
            *(_LISTED, next(_list_faults(asked, published), ""), "every set is in a basis"),
            *("Sets and bases are such as the settings allow", SETS),
        ),
        words_check(manifest, again),
    ]
    label = "The privacy loss is what is stated"
    status = CheckStatus.NOT_CHECKABLE
    return (*checks, ClaimCheck("differential privacy", status, _PRIVACY, MANIFEST, label))


def _verify_mined(
    manifest: Mapping[str, object],
    published: Mapping[str, CuboidTable],
    again: Sentences,
    token: CancelToken,
) -> tuple[ClaimCheck, ...]:
    """Every claim of a manifest whose sets were read from views, as :func:`verify_itemsets`.

    The views are checked as a release of views is; the list is made again from them. Raises
    Cancelled too.
    """
    asked, result = _asked_of(manifest), as_table(manifest["result"])
    tables = {file: table for file, table in published.items() if file not in (SETS, BASES)}
    as_views = {**manifest, "result": _as_views(manifest)}
    checks = verify_views(as_views, tables, again, token)
    more = {*result} - _OF_VIEWS
    wrong = [msg("`{key}` does not belong there", key=key) for key in sorted(more)]
    if result["itemsets"] != _LISTS:
        wrong.append("`itemsets` is not so")
    if any(len(as_list(as_table(each)["categories"])) != 2 for each in as_list(result["domains"])):
        wrong.append("`domains` has not two categories for each item")
    if wrong:
        checks += (checked("result", wrong[0], "", RESULT_LABEL, MANIFEST),)
    if any(check.status is CheckStatus.FAILED for check in checks):
        return checks
    fault = next(_mined_faults(asked, manifest, published, token), "")
    found = "made again from the views, the same"
    label = "The sets are the most frequent ones of the views"
    return (*checks, checked(_LISTED, fault, found, label, SETS))


def _as_views(manifest: Mapping[str, object]) -> dict[str, object]:
    """The result of a release of views that lists no marginals."""
    return {**as_table(manifest["result"]), "marginals": []}


def _mined_faults(
    asked: _Asked,
    manifest: Mapping[str, object],
    published: Mapping[str, CuboidTable],
    token: CancelToken,
) -> Iterator[str]:
    """What is wrong with the lists of a release whose sets were read from views."""
    lines = [as_table(each) for each in as_list(as_table(manifest["result"])["views"])]
    views = {
        tuple(asked.items.index(name) for name in texts(line["dimensions"])): np.asarray(
            published[str(line["file"])].values, np.float64
        )
        for line in lines
    }
    total = float(next(iter(views.values())).sum())
    near = _NEAR * max(1.0, total)
    totals = np.asarray(published[BASES].values, np.float64)
    if _sets(published[BASES], asked.items) != list(views) or (abs(totals - total) > near).any():
        yield msg("{bases} does not list the views with their numbers of rows", bases=BASES)
    listed = _sets(published[SETS], asked.items)
    if listed is None or len(listed) != asked.top or len(set(listed)) < len(listed):
        yield msg("{sets} does not hold {top} different sets of items", sets=SETS, top=asked.top)
        return
    values = np.asarray(published[SETS].values, np.float64).tolist()
    order = [(-value, len(own), own) for value, own in zip(values, listed, strict=True)]
    if order != sorted(order) or max(map(len, listed)) > asked.longest:
        yield msg("{sets} is not in descending order, or holds a set that is too long", sets=SETS)
    counts = _Counts(views, len(asked.items), as_table(manifest["parameters"]))
    for own, value in zip(listed, values, strict=True):
        token.check()
        if abs(counts.of(own) - value) > near:
            names = ", ".join(asked.items[item] for item in own)
            yield msg(
                "{sets}: the views give {of:.8g} for {names}, not {value:.8g}",
                sets=SETS,
                of=counts.of(own),
                names=names,
                value=value,
            )
            return
    for own in _rivals(dict(zip(listed, values, strict=True)), asked, values[-1] + near):
        token.check()
        if counts.of(own) > values[-1] + near:
            yield msg(
                "{sets} leaves out a set that the views say is more frequent than the last one",
                sets=SETS,
            )
            return


def _rivals(
    listed: Mapping[tuple[int, ...], float], asked: _Asked, least: float
) -> Iterator[tuple[int, ...]]:
    """The sets that are not listed, though all their parts are, with more than ``least``."""
    yield from ((item,) for item in range(len(asked.items)) if (item,) not in listed)
    above = {own for own, value in listed.items() if value > least}
    singles = sorted(own[0] for own in above if len(own) == 1)
    for own in sorted(above):
        for item in singles if len(own) < asked.longest else ():
            wider = (*own, item)
            parts = combinations(wider, len(own))
            if item > own[-1] and wider not in listed and all(part in above for part in parts):
                yield wider


@dataclass(frozen=True)
class _Counts:
    """Counts of sets from views of items: that of the marginal, and never more than a part's."""

    views: Mapping[tuple[int, ...], NDArray[np.float64]]
    items: int
    given: Mapping[str, object]
    known: dict[tuple[int, ...], float] = field(default_factory=dict)

    def of(self, own: tuple[int, ...]) -> float:
        """How many rows hold all items of a set, as the views say."""
        if own not in self.known:
            parts = [self.of(part) for part in combinations(own, len(own) - 1) if part]
            self.known[own] = min([self._alone(own), *parts])
        return self.known[own]

    def _alone(self, own: tuple[int, ...]) -> float:
        sizes = (2,) * self.items
        parts = known_sums(self.views, own, sizes)
        if parts[0][0] == [2] * len(own):
            return float(parts[0][1].reshape(-1)[-1])
        entropy = self.given.get("reconstruct", "max-entropy") == "max-entropy"
        return float(made_again(self.views, own, sizes, entropy=entropy).reshape(-1)[-1])


def _cost(result: Mapping[str, object]) -> ClaimCheck:
    """Whatever bases are chosen, noise and choices cost the parts of ε, which add up to it."""
    parts = [number(part) for part in as_list(result["shares"])]
    whole = sum(parts, Fraction(0))
    fault = "" if whole == 1 and min(parts) > 0 else msg("the parts of ε add up to {n}", n=whole)
    label = "The noise costs no more than the budget"
    return checked("scales within epsilon", fault, "the parts of ε add up to 1", label, MANIFEST)


def _result_faults(asked: _Asked, result: Mapping[str, object]) -> Iterator[str]:
    """Keys of the result that are not what the settings give."""
    domains = [as_table(each) for each in as_list(result["domains"])]
    names = tuple(str(each["dimension"]) for each in domains)
    categories = {str(each["dimension"]): texts(each["categories"]) for each in domains}
    if names != asked.items or any(len(set(each)) != 2 for each in categories.values()):
        yield "`domains` has other items than the settings, or not two categories for each"
    if any(categories.get(name) != listed for name, listed in asked.domains.items()):
        yield "`domains` has other categories than the settings"
    taking = {
        name: next(text for text in listed if text.lower() == OTHER)
        for name, listed in categories.items()
        if any(text.lower() == OTHER for text in listed)
    }
    expected: dict[str, object] = {
        "outside": taking,
        "sensitivity": asked.width,
        "itemsets": _LISTS,
        **_paid(asked),
    }
    yield from (
        msg("`{key}` is not so", key=key) for key in expected if result[key] != expected[key]
    )
    yield from (
        msg("`{key}` does not belong there", key=key) for key in {*result} - {*expected, "domains"}
    )


def _paid(asked: _Asked) -> dict[str, object]:
    """With what is drawn: the number of items by a score of which two move by twice the width in
    their difference, items and pairs by counts, and cells with noise in proportion to the bases.
    """
    if asked.epsilon is None:
        raise ValueError("bases are paid for with ε")
    if len(asked.items) <= _LARGEST:
        return {"shares": ["1"], "rates": [], "scale": str(asked.width / asked.epsilon)}
    tenth = asked.epsilon / 10
    rates = [str(tenth / (2 * asked.width)), str(4 * tenth / asked.width)]
    return {"shares": list(_SHARES), "rates": rates, "scale": str(asked.width / (5 * tenth))}


def _list_faults(asked: _Asked, published: Mapping[str, CuboidTable]) -> Iterator[str]:
    """What is wrong with the two lists."""
    if sorted(published) != sorted((SETS, BASES)):
        yield "the tables are not the two lists of such a release"
        return
    bases = _sets(published[BASES], asked.items)
    found = _sets(published[SETS], asked.items)
    if bases is None or not bases or max(map(len, bases)) > max(_LARGEST, 1):
        yield msg(
            "{bases} holds something that is not a set of items, or too large a one", bases=BASES
        )
        return
    if len(asked.items) <= _LARGEST and bases != [tuple(range(len(asked.items)))]:
        yield msg("{bases} is not the one basis of all items", bases=BASES)
    chosen = len({item for basis in bases for item in basis})
    if sum(comb(chosen, size) for size in range(1, asked.longest + 1)) < asked.top:
        yield msg("{bases} holds too few items for so many sets", bases=BASES)
    if len(set(bases)) < len(bases):
        yield msg("{bases} holds a basis twice", bases=BASES)
    if found is None or len(set(found)) < len(found):
        yield msg("{sets} holds something that is not a set of items, or one twice", sets=SETS)
        return
    if len(found) > asked.top or any(len(own) > asked.longest for own in found):
        yield msg("{sets} holds more sets, or longer ones, than the settings allow", sets=SETS)
    if any(not any(set(own) <= set(basis) for basis in bases) for own in found):
        yield msg("{sets} holds a set that no basis covers", sets=SETS)
    reach = {own for basis in bases for own in _within(basis, asked.longest)}
    if len(found) != min(asked.top, len(reach)):
        yield msg(
            "{sets} holds {found} sets, expected {min}",
            sets=SETS,
            found=len(found),
            min=min(asked.top, len(reach)),
        )
    values = np.asarray(published[SETS].values, np.float64)
    if any(low < high for low, high in pairwise(values.tolist())):
        yield msg("{sets} is not in descending order", sets=SETS)
    totals = np.asarray(published[BASES].values, np.float64)
    if (totals % 1 != 0).any() or (len(bases) == 1 and (values % 1 != 0).any()):
        yield msg(
            "{bases} or {sets} holds a number that is not a whole number", bases=BASES, sets=SETS
        )


def _within(basis: Sequence[int], longest: int) -> Iterator[tuple[int, ...]]:
    for mask in range(1, 1 << len(basis)):
        if mask.bit_count() <= longest:
            yield tuple(item for place, item in enumerate(basis) if mask >> place & 1)


def _sets(table: CuboidTable, items: Sequence[str]) -> list[tuple[int, ...]] | None:
    """The sets of a list, by places of items; None where one is not written as it should be."""
    place, found = {name: i for i, name in enumerate(items)}, []
    for text in table.domain.categories[0]:
        try:
            named = texts(read_json(text))
        except (ValueError, TypeError):
            return None
        own = [place.get(name, -1) for name in named]
        if dumps(list(named), ensure_ascii=False) != text or not own or min(own) < 0:
            return None
        if any(low >= high for low, high in pairwise(own)):
            return None
        found.append(tuple(own))
    return found


def declared_check(manifest: Mapping[str, object], given: Declarations | None) -> list[ClaimCheck]:
    """Whether categories that the plan does not list are those of hierarchies."""
    asked = _asked_of(manifest)
    if set(asked.items) <= set(asked.domains):
        return []
    return [categories_check(manifest, given, lambda plan: _columns(asked, plan))]


def counted_check(
    manifest: Mapping[str, object],
    recorded: Mapping[str, object],
    published: Mapping[str, CuboidTable],
    given: Declarations,
    source: FrequencySource,
    token: CancelToken,
) -> list[ClaimCheck]:
    """Place the rows of the source again: how many count, and whether noise is too small.

    ``recorded`` is the result in the evidence. Raises what :func:`declared_check` raises, and
    Cancelled.
    """
    asked = _asked_of(manifest)
    person = cluster_of(manifest)
    most = count(as_table(manifest["parameters"]).get("rows_per_person", 1))
    rows = Rows(_columns(asked, given), "", person, most)
    kept, facts = kept_rows(source, rows, token)
    key = unlike(recorded, "itemsets", facts, complete=given.complete)
    fault = msg("`{key}` is not what the source gives", key=key) if key else ""
    counted = Counted(rows.columns, kept)
    if not fault and as_table(manifest["parameters"]).get("mine") == "views":
        fault = too_quiet({**manifest, "result": _as_views(manifest)}, published, counted, token)
    elif not fault:
        fault = _too_quiet(asked, as_table(manifest["result"]), published, counted, token)
    claim, label = _COUNTED
    return [checked(claim, fault, "placed again, the same", label, EVIDENCE)]


def _too_quiet(
    asked: _Asked,
    result: Mapping[str, object],
    published: Mapping[str, CuboidTable],
    counted: Counted,
    token: CancelToken,
) -> str:
    """What says that the counts of sets have less noise than stated, or empty.

    Sets with more items come first, so that each has cells that no set before it has: its own
    items and no others, at least. Which sets are listed hangs on the noise, so of the truly most
    frequent ones those that are listed may be any: the bound has to hold for each choice of them.
    Raises Cancelled.
    """
    bases, listed = _sets(published[BASES], asked.items), _sets(published[SETS], asked.items)
    if not bases or listed is None:
        return ""  # the public part has that fault
    scale = float(number(result["scale"])) * len(bases)
    true: dict[tuple[int, ...], int] = {}
    totals = []
    covered = {basis: np.zeros((2,) * len(basis), bool) for basis in bases}
    for basis in bases:
        cells = counted_cells(counted.rows, [counted.columns[i] for i in basis], token)
        for own in _within(basis, asked.longest):
            true[own] = int(cells[_holding(basis, own)].sum())
        totals.append(int(cells.sum()))
    first = sorted(true, key=lambda own: (-true[own], own))
    frequent = frozenset(first[: len(listed)])
    values = dict(zip(listed, np.asarray(published[SETS].values, np.float64), strict=True))
    seen = sorted((own for own in listed if own in frequent), key=lambda own: (-len(own), own))
    sums = []
    for own in seen:
        token.check()
        holders = [basis for basis in bases if set(own) <= set(basis)]
        weights = [2.0 ** -len(basis) for basis in holders]
        options = []
        for basis, weight in zip(holders, weights, strict=True):
            free = int((~covered[basis][_holding(basis, own)]).sum())
            gap, likely = weight / sum(weights), likeliest_sum(scale, free, gaussian=False)
            options.append((likely / gap, gap, likely))
            covered[basis][_holding(basis, own)] = True
        _, gap, likely = min(options)
        sums.append((np.abs([values[own] - true[own]]), gap, likely))
    stated = np.asarray(published[BASES].values, np.float64)
    for basis, total, own_total in zip(bases, stated, totals, strict=True):
        likely = likeliest_sum(scale, int((~covered[basis]).sum()), gaussian=False)
        sums.append((np.abs([total - own_total]), 1.0, likely))
    choices = log(comb(len(frequent), len(seen))) + log(len(frequent) + 1)
    if chance_of_integers(sums) + choices < NEVER:
        return msg("{file} has less noise than is stated", file=SETS)
    return ""


def _holding(basis: Sequence[int], own: Sequence[int]) -> tuple[slice | int, ...]:
    """The cells of a basis whose rows hold all items of a set."""
    return tuple(1 if item in own else slice(None) for item in basis)


def _columns(asked: _Asked, given: Declarations) -> tuple[Column, ...]:
    return tuple(
        read_column(name, ColumnRequest(asked.domains.get(name)), given) for name in asked.items
    )
