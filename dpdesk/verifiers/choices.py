"""Checking private choices: from their files alone, and with the source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import floor, isclose, log, prod

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.cuboid import CuboidTable
from dpdesk.core.frequency import FrequencySource
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.release import CheckStatus, ClaimCheck
from dpdesk.core.shapes import as_list, as_table
from dpdesk.verifiers.declared import (
    Column,
    ColumnRequest,
    Declarations,
    Rows,
    categories_check,
    checked,
    kept_rows,
    number_of,
    read_column,
    unlike,
)
from dpdesk.verifiers.nearness import NEVER, Choice, chance_of_choices
from dpdesk.verifiers.promises import Sentences, words_check
from dpdesk.verifiers.reading import OTHER, cluster_of, count, number, texts

MANIFEST, EVIDENCE = "manifest.json", "internal/evidence.json"
_MECHANISM = "exponential-mechanism"
_RISK = 0.05
_HALF = Fraction(1, 2)
_COUNTED = ("rows that count", "The rows that count are those of the source")
_PRIVACY = "is a property of how candidates were chosen, which no release can show"


@dataclass(frozen=True)
class _One:
    """A choice that the settings ask for; without ``quantile`` the most frequent category."""

    column: str
    quantile: Fraction | None
    lower: Fraction
    upper: Fraction
    step: Fraction

    @property
    def name(self) -> str:
        """As the evidence calls it."""
        if self.quantile is None:
            return f"most frequent {self.column}"
        if self.quantile == _HALF:
            return f"median of {self.column}"
        return f"quantile {_digits(self.quantile)} of {self.column}"

    def place(self, text: str) -> int:
        """The candidate next to a number that is moved within the bounds; -1 for other texts."""
        value = number_of(text)
        if value is None:
            return -1
        nearest = floor((value - self.lower) / self.step + _HALF)
        return max(0, min(int((self.upper - self.lower) / self.step), nearest))


def _digits(value: Fraction) -> str:
    """All digits of a share that has finitely many."""
    places = 0
    while (value * 10**places).denominator > 1:
        places += 1
    whole = value * 10**places
    return f"0.{int(whole):0{places}d}"


@dataclass(frozen=True)
class _Asked:
    """The settings of a manifest."""

    groups: tuple[str, ...]
    domains: Mapping[str, tuple[str, ...]]
    choices: tuple[_One, ...]
    epsilon: Fraction
    replaced: bool
    rows: int

    @property
    def columns(self) -> tuple[str, ...]:
        """Those with categories."""
        return (*self.groups, *(each.column for each in self.choices if each.quantile is None))

    def width(self, one: _One) -> Fraction:
        """The most by which a person changes the difference of two utilities, over all groups.

        A row raises one count by 1; or it moves the goal q n, and the ranks against it, by q one
        way and 1 - q the other. Replaced, a row goes and one comes.
        """
        if one.quantile is None:
            return Fraction(self.rows * (2 if self.replaced else 1))
        moved = 2 * max(one.quantile, 1 - one.quantile)
        if self.replaced:
            moved = moved * 2 if self.groups else Fraction(2)
        return self.rows * moved


def _asked_of(manifest: Mapping[str, object]) -> _Asked:
    """Raises ValueError, TypeError, KeyError when malformed."""
    given = as_table(manifest["parameters"])
    raw = given["choose"]
    listed = raw if isinstance(raw, list | tuple) else [raw]
    domains = {name: texts(each) for name, each in as_table(given.get("domains") or {}).items()}
    return _Asked(
        groups=texts(given.get("groups")),
        domains=domains,
        choices=tuple(_one(as_table(each)) for each in listed),
        epsilon=number(given["epsilon"]),
        replaced=given.get("neighbours", "add-remove") == "replace",
        rows=count(given.get("rows_per_person", 1)),
    )


def _one(raw: Mapping[str, object]) -> _One:
    if "mode" in raw:
        return _One(str(raw["mode"]), None, Fraction(0), Fraction(0), Fraction(1))
    share, step = number(raw["quantile"]), number(raw.get("step", 1))
    lower, upper = number(raw["lower"]), number(raw["upper"])
    if not 0 < share < 1 or step <= 0 or lower >= upper or (upper - lower) % step:
        raise ValueError("a quantile needs a share, and a grid that ends at its bounds")
    return _One(str(raw["of"]), share, lower, upper, step)


def verify_choices(
    manifest: Mapping[str, object],
    published: Mapping[str, CuboidTable],
    again: Sentences,
    token: CancelToken,
) -> tuple[ClaimCheck, ...]:
    """Every claim of a manifest of the method ``dp-choice``; see :meth:`PrivateMethod.verify`.

    ``again`` is its guarantee worded again. Malformed manifests raise ValueError, TypeError,
    KeyError or ArithmeticError; Cancelled.
    """
    asked, result = _asked_of(manifest), as_table(manifest["result"])
    label = "The release is the one that its settings describe"
    fault = next(_result_faults(asked, result), "")
    checks = [
        checked("result", fault, "domains and choices fit", label, MANIFEST),
        _cost(asked, result),
    ]
    if any(check.status is CheckStatus.FAILED for check in checks):
        fault = fault or "the choices were not checked, because the result is wrong"
    else:
        fault = next(_table_faults(asked, result, published, token), "")
    label = "Every value is one of the declared candidates"
    checks.append(checked("choices", fault, "each is a candidate", label, "choices"))
    checks.append(words_check(manifest, again, noise=_MECHANISM))
    status, label = CheckStatus.NOT_CHECKABLE, "The privacy loss is what is stated"
    return (*checks, ClaimCheck("differential privacy", status, _PRIVACY, MANIFEST, label))


def _categories(asked: _Asked, result: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
    domains = [as_table(each) for each in as_list(result["domains"])]
    return {str(each["dimension"]): texts(each["categories"]) for each in domains}


def _result_faults(asked: _Asked, result: Mapping[str, object]) -> Iterator[str]:
    """Keys of the result that are not what the settings give."""
    categories = _categories(asked, result)
    if tuple(categories) != asked.columns or not all(categories.values()):
        yield "`domains` has other columns than the settings, or no categories"
        return
    if any(categories[name] != listed for name, listed in asked.domains.items()):
        yield "`domains` has other categories than the settings"
    taking = {
        name: next(text for text in listed if text.lower() == OTHER)
        for name, listed in categories.items()
        if any(text.lower() == OTHER for text in listed)
    }
    if result["outside"] != taking:
        yield msg("`{key}` is not so", key="outside")
    lines = [as_table(each) for each in as_list(result["choices"])]
    if len(lines) != len(asked.choices) or len({line["file"] for line in lines}) < len(lines):
        yield "`choices` does not list what the settings ask for"
        return
    for one, line in zip(asked.choices, lines, strict=True):
        expected = _line(asked, one, categories)
        if {*line} != {*expected, "rate", "width", "error", "file"}:
            yield "`choices` has other keys than such a choice"
            return
        yield from (
            msg("`choices` states a different `{key}`", key=key)
            for key in expected
            if line[key] != expected[key] or isinstance(line[key], bool) is (key != "texts")
        )
    keys = ("domains", "outside", "shares", "choices")
    yield from (msg("`{key}` does not belong there", key=key) for key in {*result} - {*keys})


def _line(asked: _Asked, one: _One, categories: Mapping[str, tuple[str, ...]]) -> dict[str, object]:
    """What a choice states that does not hang on the budget."""
    found: dict[str, object] = {
        "dimensions": list(asked.groups),
        "cells": prod(len(categories[name]) for name in asked.groups),
        "column": one.column,
    }
    if one.quantile is None:
        return found | {"texts": True, "candidates": len(categories[one.column])}
    whole = (one.upper - one.lower) / one.step + 1
    return found | {"quantile": float(one.quantile), "candidates": int(whole)}


def _cost(asked: _Asked, result: Mapping[str, object]) -> ClaimCheck:
    """Each rate times its width is a part of ε; they add up to ε. Errors follow from the rates."""
    label = "The choices cost no more than the budget"
    return checked(
        *("rates within epsilon", next(_cost_faults(asked, result), "")),
        *("rates times widths add up to ε", label, MANIFEST),
    )


def _cost_faults(asked: _Asked, result: Mapping[str, object]) -> Iterator[str]:
    lines = [as_table(each) for each in as_list(result["choices"])]
    spent, shares = Fraction(0), [number(each) for each in as_list(result["shares"])]
    if len(shares) != len(lines) or len(lines) != len(asked.choices):
        yield "`shares` and `choices` do not have as many entries as the settings ask for"
        return
    for one, line, share in zip(asked.choices, lines, shares, strict=True):
        rate, width = number(line["rate"]), number(line["width"])
        if width != asked.width(one):
            yield msg("`{key}` is not what one person changes", key="width")
        if rate <= 0 or rate * width != share * asked.epsilon:
            yield msg("`{key}` is not what its part of ε gives", key="rate")
            return
        spent += rate * width
        candidates = count(line["candidates"])
        error = log(candidates / _RISK) / float(rate) if candidates > 1 else 0.0
        if not isclose(float(number(line["error"])), error, rel_tol=1e-9):
            yield msg("`{key}` is not what its rate gives", key="error")
    if spent != asked.epsilon:
        yield "the choices together cost a different ε"


def _table_faults(
    asked: _Asked,
    result: Mapping[str, object],
    published: Mapping[str, CuboidTable],
    token: CancelToken,
) -> Iterator[str]:
    """What is wrong with the tables."""
    lines = [as_table(each) for each in as_list(result["choices"])]
    if sorted(published) != sorted(str(line["file"]) for line in lines):
        yield "the tables are not those that `choices` lists"
        return
    categories = _categories(asked, result)
    shape = tuple(len(categories[name]) for name in asked.groups)
    for one, line in zip(asked.choices, lines, strict=True):
        file = str(line["file"])
        table = published[file]
        if table.values.shape != shape:
            yield msg("{file} does not hold one choice for each group", file=file)
            continue
        if one.quantile is None:
            if table.labels != categories[one.column]:
                yield msg("{file} holds a value that is not a category", file=file)
            continue
        for value in np.unique(table.values).tolist():
            token.check()
            exact = number(value)
            if not one.lower <= exact <= one.upper or (exact - one.lower) % one.step:
                yield msg("{file} holds {value}, which is not on the grid", file=file, value=value)
                break


def declared_check(manifest: Mapping[str, object], given: Declarations | None) -> list[ClaimCheck]:
    """Whether categories that the plan does not list are those of hierarchies."""
    asked = _asked_of(manifest)
    if set(asked.columns) <= set(asked.domains):
        return []
    return [
        categories_check(
            manifest, given, lambda plan: [_column(asked, name, plan) for name in asked.columns]
        )
    ]


def counted_check(
    manifest: Mapping[str, object],
    recorded: Mapping[str, object],
    published: Mapping[str, CuboidTable],
    given: Declarations,
    source: FrequencySource,
    token: CancelToken,
) -> list[ClaimCheck]:
    """Place the rows of the source again: how many count, for each choice, and whether choices are
    better than chance makes them.

    ``recorded`` is the result in the evidence. Raises what :func:`declared_check` raises, and
    Cancelled.
    """
    asked, (claim, label) = _asked_of(manifest), _COUNTED
    person = cluster_of(manifest)
    groups = tuple(_column(asked, name, given) for name in asked.groups)
    drawn: list[Choice] = []
    wrong = ""
    lines = [as_table(line) for line in as_list(as_table(manifest["result"])["choices"])]
    for one, line in zip(asked.choices, lines, strict=True):
        own = _column(asked, one.column, given) if one.quantile is None else _numbers(one)
        rows = Rows((*groups, own), "", person, asked.rows)
        kept, facts = kept_rows(source, rows, token)
        wrong = wrong or unlike(recorded, one.name, facts, complete=given.complete)
        if not wrong:
            chosen = published[str(line["file"])]
            drawn += _drawn(one, number(line["rate"]), (*groups, own), chosen, kept, token)
    fault = msg("`{key}` is not what the source gives", key=wrong) if wrong else ""
    if not fault and chance_of_choices(drawn) < NEVER:
        fault = "the choices are better than those that are drawn as stated"
    return [checked(claim, fault, "placed again, the same", label, EVIDENCE)]


def _column(asked: _Asked, name: str, given: Declarations) -> Column:
    return read_column(name, ColumnRequest(asked.domains.get(name)), given)


def _drawn(
    one: _One,
    rate: Fraction,
    columns: Sequence[Column],
    table: CuboidTable,
    kept: FrequencySource,
    token: CancelToken,
) -> Iterator[Choice]:
    """What was chosen in each group, and with which chances what is."""
    found = kept.frequency_table([column.name for column in columns], token)
    places = []
    for j, column in enumerate(columns):
        texts_of, missing = found.domains[j], found.missing_of(j)
        if j == len(columns) - 1 and one.quantile is not None:
            own = [one.place(text) for text in texts_of]
        else:
            lost = -1 if column.outside is None else column.outside
            placed = column.places(texts_of, missing)
            own = [lost if place is None else place for place in placed]
        places.append(np.array(own, np.int64)[found.codes[:, j]])
    sizes = [len(column.categories) for column in columns[:-1]]
    cells = np.ravel_multi_index(tuple(places[:-1]), sizes) if sizes else np.zeros_like(places[-1])
    order = np.lexsort((places[-1], cells))
    ends = np.searchsorted(cells[order], np.arange(prod(sizes) + 1))
    values = np.asarray(table.values).reshape(-1).tolist()
    for value, (start, end) in zip(values, pairwise(ends.tolist()), strict=True):
        token.check()
        held, inverse = np.unique(places[-1][order[start:end]], return_inverse=True)
        rows = np.zeros(len(held))
        np.add.at(rows, inverse, found.counts[order[start:end]])
        if one.quantile is None:
            yield _choice(np.arange(len(columns[-1].categories)), held, rows, int(value), rate)
        else:
            yield _quantile(one, held, rows, value, rate)


def _choice(
    candidates: NDArray[np.int64],
    held: NDArray[np.int64],
    rows: NDArray[np.float64],
    value: int,
    rate: Fraction,
) -> Choice:
    """Of a most frequent category."""
    score = np.zeros(len(candidates))
    score[held] = rows
    falls = (score.max() - score) * float(rate)
    return _of_falls(falls, np.ones(len(falls)), float(falls[value]))


def _quantile(
    one: _One, held: NDArray[np.int64], rows: NDArray[np.float64], value: float, rate: Fraction
) -> Choice:
    """Of a quantile: candidates that rows hold, and between those runs of equally good ones."""
    assert one.quantile is not None
    goal, upto = float(one.quantile * int(rows.sum())), np.cumsum(rows)
    own = np.maximum(0, np.maximum(upto - rows - goal, goal - upto))
    between = np.abs(np.concatenate([[0.0], upto]) - goal)
    last = int((one.upper - one.lower) / one.step) + 1
    many = np.diff(np.concatenate([[-1], held, [last]])) - 1
    short = np.concatenate([own, between[many > 0]])
    least = short.min()
    place = int((number(value) - one.lower) / one.step)
    at = int(np.searchsorted(held, place))
    chosen = own[at] if at < len(held) and held[at] == place else between[at]
    pace, sizes = float(rate), np.concatenate([np.ones(len(own)), many[many > 0]])
    return _of_falls((short - least) * pace, sizes, float(chosen - least) * pace)


def _of_falls(falls: NDArray[np.float64], many: NDArray[np.float64], short: float) -> Choice:
    weights = many * np.exp(-falls)
    return Choice(short, falls, weights / weights.sum())


def _numbers(one: _One) -> Column:
    """Every number has a place, for values are moved within the bounds."""
    return Column(one.column, ("number",), {}, parts=(0,))
