"""What a plan declares of a column, as the verifier reads it: categories, and texts of each.

Nothing of the design's reading is used, nor of the builders: rows of a hierarchy, cut points,
widths and trees are read here from plain values, and labels are written here.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.frequency import FrequencySource, RowRule
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.plain import fraction_of
from dpdesk.core.release import CheckStatus, ClaimCheck
from dpdesk.core.shapes import as_list, as_table
from dpdesk.verifiers.reading import OTHER, texts

_NUMBER = re.compile(r"[+-]?([0-9]+[.,]?[0-9]*|[.,][0-9]+)([eE][+-]?[0-9]{1,3})?", re.ASCII)
_MOST_DIGITS = 1000
_MOST_PARTS = 1_000_000
_LONGEST_COMPOSED = 1000
_ROOT = "*"

Ladder = tuple[tuple[str, ...], ...]
"""Levels from fine to coarse, each with one label for every value."""


class UndeclaredError(ValueError):
    """Nothing declares the categories, or not so; the message says what is wrong."""


@dataclass(frozen=True)
class Declarations:
    """Plain values of the agency's part: ``attributes`` of the plan, rows of ``hierarchies``.

    Releases of earlier versions are not ``complete``: they may leave out the levels above.
    ``used`` are the columns whose hierarchy something was read from; no other one is looked at.
    """

    attributes: Mapping[str, object] = field(repr=False)
    hierarchies: Mapping[str, object] = field(repr=False)
    complete: bool = True
    used: set[str] = field(default_factory=set, compare=False, repr=False)


@dataclass(frozen=True)
class ColumnRequest:
    """What the public parameters say of a column: None or 0 where they say nothing."""

    listed: tuple[str, ...] | None = None
    level: int = 0
    outside: str | None = None


@dataclass(frozen=True)
class Column:
    """The categories of a column, and the place of each text among them.

    ``named`` are texts with a place; numbers that are not named belong to the part after as many
    ``cuts`` as they reach, at ``parts`` (None: to none). ``above`` are levels over the categories.
    """

    name: str
    categories: tuple[str, ...]
    named: Mapping[str, int] = field(repr=False)
    above: Ladder = ()
    cuts: tuple[Fraction, ...] = ()
    parts: tuple[int | None, ...] = ()
    apart: frozenset[str] = frozenset()
    outside: int | None = None

    def places(self, found: Sequence[str], missing: Collection[int] = ()) -> list[int | None]:
        """The category of each text; None where it belongs to none and the row goes elsewhere.

        ``missing`` are the positions of texts that mean a missing value: no number, if they are
        not named.
        """
        composed: dict[str, int] = {}
        for name, place in self.named.items():
            composed.setdefault(_composed(name), place)
        return [self._place(text, composed, at in missing) for at, text in enumerate(found)]

    def _place(self, text: str, composed: Mapping[str, int], missing: bool) -> int | None:
        bare = text.strip()
        for one in (text, bare):
            if one in self.named:
                return self.named[one]
        same = _composed(bare)
        if not text.isascii() and same in composed:
            return composed[same]
        apart = missing or bare in self.apart or not self.parts
        number = None if apart else number_of(text)
        return None if number is None else self.parts[bisect_right(self.cuts, number)]


def _composed(text: str) -> str:
    # Marks in a row take time by the square of their number, so long texts stay as they are.
    return text if len(text) > _LONGEST_COMPOSED else unicodedata.normalize("NFC", text)


def read_column(name: str, wanted: ColumnRequest, given: Declarations) -> Column:
    """The column as it is declared. UndeclaredError where it is not; TypeError when malformed."""
    spec = as_table(given.attributes.get(name) or {}).get("hierarchy")
    builder = spec if isinstance(spec, Mapping) else {}
    rows = given.hierarchies.get(name)
    if rows is not None or (builder and (wanted.level or wanted.listed is None)):
        given.used.add(name)
    if rows is not None:
        found = _of_rows(name, _ladder(name, as_list(rows)), wanted.level)
    elif builder and (wanted.level or wanted.listed is None):
        found = _of_builder(name, as_table(builder), wanted.level)
    elif wanted.level or wanted.listed is None:
        raise UndeclaredError(msg("nothing declares the categories of `{name}`", name=name))
    else:
        places = {text: i for i, text in enumerate(wanted.listed)}
        found = Column(name, wanted.listed, places)
    if wanted.listed is not None and wanted.listed != found.categories:
        found = _only(found, wanted.listed, frozenset() if rows is not None else _apart(builder))
    if not found.categories or len(set(found.categories)) < len(found.categories):
        raise UndeclaredError(msg("`{name}` has no category, or one of them twice", name=name))
    return _taking_others(found, wanted.outside)


def checked(claim: str, fault: str, found: str, label: str, path: str) -> ClaimCheck:
    """A claim that fails for ``fault``, and without one is confirmed by what was found."""
    status = CheckStatus.FAILED if fault else CheckStatus.CONFIRMED
    return ClaimCheck(claim, status, fault or found, path, label)


def categories_check(
    manifest: Mapping[str, object],
    given: Declarations | None,
    columns: Callable[[Declarations], Sequence[Column]],
) -> ClaimCheck:
    """Whether the domains of a result are those that the plan declares, read again by ``columns``.

    Raises what a malformed manifest raises.
    """
    label, path = "The categories are those that the plan declares", "manifest.json"
    claim = "categories of the hierarchy"
    if given is None:
        found = "the hierarchy is in the internal part"
        return ClaimCheck(claim, CheckStatus.NEEDS_SOURCE, found, path, label)
    try:
        again = columns(given)
    except UndeclaredError as error:
        return ClaimCheck(claim, CheckStatus.FAILED, str(error), path, label)
    expected = [{"dimension": each.name, "categories": list(each.categories)} for each in again]
    same = as_table(manifest["result"])["domains"] == expected
    fault = "" if same else "the categories are others, or in another order"
    return checked(claim, fault, "declared again, the same", label, path)


def _of_rows(name: str, ladder: Ladder, level: int) -> Column:
    """Rows of labels from a value to the top; a category is a label of the level."""
    if level >= len(ladder):
        raise UndeclaredError(
            msg(
                "the hierarchy of `{name}` ends at level {ladder}",
                name=name,
                ladder=len(ladder) - 1,
            )
        )
    categories = tuple(dict.fromkeys(ladder[level]))
    place = {text: i for i, text in enumerate(categories)}
    named = {leaf: place[label] for leaf, label in zip(ladder[0], ladder[level], strict=True)}
    over = [dict(zip(ladder[level], higher, strict=True)) for higher in ladder[level + 1 :]]
    above = _joining(categories, [[each[text] for text in categories] for each in over])
    return Column(name, categories, named, above)


def _ladder(name: str, rows: Sequence[object]) -> Ladder:
    listed = [texts(row) for row in rows]
    if not listed or len({len(row) for row in listed}) > 1 or not listed[0]:
        raise UndeclaredError(
            msg("the hierarchy of `{name}` has rows of different lengths, or none", name=name)
        )
    ladder = tuple(zip(*listed, strict=True))
    if len(set(ladder[0])) < len(listed) or len(set(ladder[-1])) > 1:
        raise UndeclaredError(
            msg("the hierarchy of `{name}` has a value twice, or no top", name=name)
        )
    for low, high in pairwise(ladder):
        if len(set(zip(low, high, strict=True))) > len(set(low)):
            raise UndeclaredError(
                msg("the hierarchy of `{name}` gives a value two groups at a level", name=name)
            )
    return ladder


def _of_builder(name: str, builder: Mapping[str, object], level: int) -> Column:
    if _is_intervals(builder) and level:
        levels = _levels_of(builder)
        if not levels:
            raise UndeclaredError(
                msg("the hierarchy of `{name}` takes its values from the data", name=name)
            )
        if level > len(levels):
            raise UndeclaredError(
                msg(
                    "the hierarchy of `{name}` ends at level {levels}",
                    name=name,
                    levels=len(levels),
                )
            )
        return _of_intervals(name, builder, levels[level - 1 :])
    if builder.get("kind") == "tree" and builder.get("tree") is not None:
        return _of_rows(name, _ladder(name, _tree_rows(builder)), level)
    raise UndeclaredError(
        msg("the hierarchy of `{name}` takes its values from the data", name=name)
    )


def _tree_rows(builder: Mapping[str, object]) -> list[list[str]]:
    """A row for each leaf; where groups are fewer, the smallest one fills the levels."""
    paths = list(_leaves(builder["tree"], ()))
    deepest = max((len(groups) for _, groups in paths), default=0)
    root = str(builder.get("root") or _ROOT)
    rows = []
    for leaf, groups in paths:
        first = groups[0] if groups else leaf
        rows.append([leaf, *[first] * (deepest - len(groups)), *groups, root])
    return rows


def _leaves(node: object, groups: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    if isinstance(node, Mapping):
        for label, inner in node.items():
            yield from _leaves(inner, (str(label), *groups))
    elif isinstance(node, list | tuple):
        for inner in node:
            yield from _leaves(inner, groups)
    else:
        yield str(node), groups


def _is_intervals(builder: Mapping[str, object]) -> bool:
    return builder.get("kind") == "intervals"


def _apart(builder: Mapping[str, object]) -> frozenset[str]:
    """The texts that a builder of intervals keeps out of them."""
    raw = builder.get("apart") if _is_intervals(builder) else None
    return frozenset(raw.splitlines() if isinstance(raw, str) else texts(raw))


def _levels_of(builder: Mapping[str, object]) -> list[tuple[Fraction, ...]]:
    """The cut points of every level, where cuts or widths with both ends settle them."""
    cuts = _listed(builder.get("cuts"))
    if cuts:
        nested = cuts if any(isinstance(each, list | tuple | str) for each in cuts) else [cuts]
        return [tuple(map(_exact, _listed(each, ", \n"))) for each in nested]
    widths = [_exact(each) for each in _listed(builder.get("widths"), ",; \n")]
    if not widths or builder.get("bottom") is None or builder.get("top") is None:
        return []
    bottom, top = _exact(builder["bottom"]), _exact(builder["top"])
    start = _exact(builder.get("origin") or 0)
    if bottom >= top or min(widths) <= 0 or (top - bottom) / min(widths) > _MOST_PARTS:
        return []
    levels = []
    for width in widths:
        cut = start + width * -((start - bottom) // width)
        inner = []
        while cut < top:
            inner += [cut] if cut > bottom else []
            cut += width
        levels.append((bottom, *inner, top))
    return levels


def _listed(raw: object, marks: str = ";\n") -> list[object]:
    """A list as a plan or a form writes it."""
    if raw is None:
        return []
    if isinstance(raw, str):
        return [part for part in re.split(f"[{marks}]+", raw) if part.strip()]
    return list(raw) if isinstance(raw, list | tuple) else [raw]


def _of_intervals(
    name: str, builder: Mapping[str, object], levels: Sequence[tuple[Fraction, ...]]
) -> Column:
    """Intervals of numbers; ``levels`` begin with the level of the categories."""
    all_levels = _levels_of(builder)
    whole = all(cut.denominator == 1 for cuts in all_levels for cut in cuts)
    whole = whole and builder.get("labels") != "brackets"
    labels = [_labels(cuts, whole=whole) for cuts in levels]
    cuts, categories = levels[0], labels[0]
    above = []
    for higher, words in zip(levels[1:], labels[1:], strict=True):
        lowest = [sum(cut <= begin for cut in higher) for begin in cuts]
        above.append([words[0], *(words[place] for place in lowest)])
    return Column(
        name,
        categories,
        {},
        _joining(categories, above),
        cuts,
        tuple(range(len(categories))),
        _apart(builder),
    )


def _labels(cuts: Sequence[Fraction], *, whole: bool) -> tuple[str, ...]:
    found = [f"<{_digits(cuts[0])}"]
    for low, high in pairwise(cuts):
        first, last = int(low), int(high) - 1
        if not whole:
            found.append(f"[{_digits(low)}, {_digits(high)}[")
        elif first == last:
            found.append(str(first))
        else:
            found.append(f"{first} to {last}" if first < 0 else f"{first}-{last}")
    return (*found, f"≥{_digits(cuts[-1])}")


def _only(column: Column, listed: tuple[str, ...], apart: frozenset[str]) -> Column:
    """The listed categories alone; one may be new, and those that are kept apart."""
    new = [text for text in listed if text not in column.categories]
    free = [text for text in new if text not in apart]
    if len(free) > 1 or any(text in column.named for text in free):
        raise UndeclaredError(
            msg(
                "`{name}` has no category {free!r} at this level",
                name=column.name,
                free=free[0][:60],
            )
        )
    place = {text: i for i, text in enumerate(listed)}
    named = {
        text: place[column.categories[i]]
        for text, i in column.named.items()
        if column.categories[i] in place
    }
    named |= {text: place[text] for text in new}
    old = {text: i for i, text in enumerate(column.categories)}
    above = [
        [level[old[text]] if text in old else text for text in listed] for level in column.above
    ]
    parts = tuple(
        None if each is None else place.get(column.categories[each]) for each in column.parts
    )
    return Column(
        *(column.name, listed, named, _joining(listed, above)), column.cuts, parts, column.apart
    )


def _taking_others(column: Column, outside: str | None) -> Column:
    """Where all other texts go: as the plan says, to the category `other`, or nowhere."""
    if outside is None:
        others = [i for i, text in enumerate(column.categories) if text.lower() == OTHER]
        place = others[0] if others else None
    elif outside in column.categories:
        place = column.categories.index(outside)
    else:
        raise UndeclaredError(
            msg(
                "other texts of `{name}` go to something that is not one of its categories",
                name=column.name,
            )
        )
    return Column(**{**vars(column), "outside": place})


def _joining(base: Sequence[str], levels: Sequence[Sequence[str]]) -> Ladder:
    """Levels that join some categories of the one below, but not all, and tear none apart."""
    found: list[tuple[str, ...]] = []
    for level in levels:
        below = found[-1] if found else tuple(base)
        groups = len(set(level))
        nested = len(set(zip(below, level, strict=True))) == len(set(below))
        if nested and 1 < groups < len(set(below)):
            found.append(tuple(level))
    return tuple(found)


def number_of(text: str) -> Fraction | None:
    """The number that a text is, with a decimal point or comma."""
    bare = text.strip()
    if not _NUMBER.fullmatch(bare):
        return None
    value = Decimal(bare.replace(",", "."))
    size = max(abs(int(value.as_tuple().exponent)), abs(value.adjusted()))
    return Fraction(value) if size <= _MOST_DIGITS else None


def _exact(raw: object) -> Fraction:
    if isinstance(raw, bool) or not isinstance(raw, int | float | str | Decimal):
        raise TypeError("expected a number")
    return fraction_of(str(raw).strip())


def _digits(value: Fraction) -> str:
    """A number that ends, in plain digits."""
    places = 0
    while value.denominator > 1 and places < _MOST_DIGITS:
        value, places = value * 10, places + 1
    digits = str(abs(int(value))).rjust(places + 1, "0")
    sign = "-" if value < 0 else ""
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)


# Which rows of the source a release with noise counts, as the verifier finds it.
#
# Texts are placed by :mod:`.declared`; no code of the design decides what belongs where. Noise
# hides the counts themselves, but not how many rows were left out, nor what is released exactly.


@dataclass(frozen=True)
class Rows:
    """Which rows count: those with a place in every one of ``columns``, so many for a person.

    ``measured`` is the column that is summed, empty for counts; it takes part in the order in which
    the rows of a person are cut.
    """

    columns: tuple[Column, ...]
    measured: str = ""
    person: str | None = None
    most: int = 1


def kept_rows(
    source: FrequencySource, rows: Rows, token: CancelToken
) -> tuple[FrequencySource, dict[str, object]]:
    """The rows that count, and how many did not; the keys are those of the evidence."""
    strange: dict[str, int] = {}
    lost: dict[str, tuple[str, ...]] = {}
    for column in rows.columns:
        table = source.frequency_table([column.name], token)
        nowhere = [place is None for place in column.places(table.domains[0], table.missing_of(0))]
        if any(nowhere):
            out_of_place = np.array(nowhere, dtype=bool)[table.codes[:, 0]]
            strange[column.name] = int(table.counts[out_of_place].sum())
        if column.outside is None:
            lost[column.name] = tuple(
                text for text, out in zip(table.domains[0], nowhere, strict=True) if out
            )
    kept = source.restricted(RowRule(lost), token)
    facts: dict[str, object] = {
        "rows_with_values_outside_the_domain": strange,
        "rows_left_out": source.rows - kept.rows,
    }
    if rows.person is None:
        return kept, facts
    order = tuple(column.name for column in rows.columns)
    order += (rows.measured,) if rows.measured else ()
    known = source.restricted(RowRule(lost, rows.person), token)
    cut = source.restricted(RowRule(lost, rows.person, order, rows.most), token)
    facts["rows_without_a_person"] = kept.rows - known.rows
    facts["rows_beyond_the_bound"] = known.rows - cut.rows
    return cut, facts


def without_number(source: FrequencySource, column: str, token: CancelToken) -> int:
    """How many rows have a missing value in a column, or a text that is no number."""
    table = source.frequency_table([column], token)
    strange = np.array([number_of(text) is None for text in table.domains[0]], dtype=bool)
    strange[sorted(table.missing_of(0))] = True
    return int(table.counts[strange[table.codes[:, 0]]].sum())


def counted_cells(
    kept: FrequencySource,
    columns: Sequence[Column],
    token: CancelToken,
    summed: tuple[str, Callable[[str], int]] | None = None,
) -> NDArray[np.int64]:
    """How many of the kept rows are in each cell, one axis for each column.

    With ``summed``, the sum of what becomes of that column's texts; missing values count for 0.
    """
    shape = tuple(len(column.categories) for column in columns)
    cells = np.zeros(shape, np.int64)
    if not columns and summed is None:
        return cells + kept.rows
    names = [column.name for column in columns]
    table = kept.frequency_table(names + ([summed[0]] if summed else []), token)
    axes = []
    for j, column in enumerate(columns):
        lost = -1 if column.outside is None else column.outside
        found = column.places(table.domains[j], table.missing_of(j))
        places = [lost if place is None else place for place in found]
        axes.append(np.array(places, np.int64)[table.codes[:, j]])
        if (axes[-1] < 0).any():
            raise ValueError("a row that does not count was kept")
    counts = table.counts
    if summed is not None:
        gone, listed = table.missing_of(len(columns)), table.domains[len(columns)]
        values = [0 if at in gone else summed[1](text) for at, text in enumerate(listed)]
        counts = counts * np.array(values, np.int64)[table.codes[:, len(columns)]]
    if not axes:
        return cells + int(counts.sum())
    np.add.at(cells, tuple(axes), counts)
    return cells


def unlike(
    recorded: Mapping[str, object], name: str, found: Mapping[str, object], *, complete: bool
) -> str:
    """The first fact of the measure ``name`` that the evidence records otherwise, or empty.

    ``recorded`` is the result in the evidence. What it lacks is a difference too where it must be
    ``complete``: earlier versions recorded less. Raises KeyError, TypeError when malformed.
    """
    counting = as_table(recorded["counting"] if complete else recorded.get("counting") or {})
    facts = as_table(counting[name] if complete else counting.get(name) or {})
    asked = found if complete else [key for key in found if key in facts]
    return next((key for key in asked if facts.get(key) != found[key]), "")
