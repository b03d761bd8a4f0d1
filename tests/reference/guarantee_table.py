"""Every sentence that a guarantee may hold, with the condition under which it is true.

Written from the methods alone, without the code that words things: a sentence that is not here is a
fault until somebody has decided when it is true. ``{n}`` stands for a whole number, ``{x}`` for a
number, ``{names}`` for names of columns, categories or tables; each is checked where the condition
speaks of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import exp, log, sqrt

CLAIM, ASSUMES, LIMITS = "claim", "assumes", "limits"
_PARTS = {
    "n": r"(\d[\d,]*)",
    "x": r"(\d[\d,.]*(?:E\+\d+|\^\d+)?)",
    "names": r"(.+?)",
}


@dataclass(frozen=True)
class Truth:
    """What is true of a release, from its plan and what was counted.

    ``kind`` is ``cube``, ``graph``, ``k``, ``drawn``, ``apart`` or ``cells``; ``change`` the size
    of a minimal change, 0 where nothing is exact; ``size`` the base of rounding of tables.
    """

    kind: str
    epsilon: float | None = None
    rho: float | None = None
    delta: float = 1e-6
    replace: bool = False
    rows: int = 1
    cluster: bool = False
    change: int = 0
    exact: int = 0
    directed: bool = False
    degrees: bool = False
    sums: bool = False
    labels: bool = False
    origins: frozenset[str] = frozenset()
    k: int = 0
    smallest: int = 0
    size: int = 0
    removed: int = 0
    suppressed: int = 0
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    protect: str = ""
    audited: bool = False
    several: bool = False
    alone: bool = False
    present: bool = False
    lower: float = 0.0
    upper: float | None = None
    missing: str = ""
    required: tuple[Mapping[str, object], ...] = ()
    households: bool = False
    people: Mapping[str, object] = field(default_factory=dict)

    @property
    def private(self) -> bool:
        return self.kind in ("cube", "graph")

    @property
    def one(self) -> float:
        """What the odds between neighbours change by, as a logarithm; with rho, but for delta."""
        root = sqrt((self.rho or 0.0) * log(1 / self.delta))
        return (self.rho or 0.0) + 2 * root if self.epsilon is None else self.epsilon

    @property
    def two(self) -> float:
        """The same for two steps, which between them move a sum up to twice as far."""
        root = sqrt((self.rho or 0.0) * log(1 / self.delta))
        return 4 * (self.rho or 0.0) + 4 * root if self.epsilon is None else 2 * self.epsilon


Condition = Callable[[Truth, tuple[str, ...]], bool]


@dataclass(frozen=True)
class Entry:
    """A sentence with gaps, in which part of a guarantee it may stand, and when it is true."""

    part: str
    text: str
    holds: Condition

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """As a regular expression."""
        found = re.escape(self.text)
        for name, pattern in _PARTS.items():
            found = found.replace(re.escape("{" + name + "}"), pattern)
        return re.compile(found)


def number(text: str) -> float:
    """A number of a sentence; a power of ten above 10^300 is infinite."""
    base, _, power = text.partition("^")
    if power:
        return 10.0 ** int(power) if int(power) <= 300 and base == "10" else float("inf")
    return float(text.replace(",", "").rstrip("."))


def up(text: str, least: float, slack: float = 1.02) -> bool:
    """Whether a stated bound is not below the true one, and not far above."""
    stated = number(text)
    slack = 10 * (1 + 1e-9) if "^" in text else slack
    fits = least * (1 - 1e-9) <= stated <= max(least * slack, least + 1e-6)
    return fits or stated == float("inf")


def odds(log_odds: float) -> float:
    return exp(log_odds) if log_odds <= 700 else float("inf")


def risen(truth: Truth, text: str) -> bool:
    """A suspicion of 10 % after the release, in percent, stated with two digits."""
    times = odds(truth.one)
    after = 100.0 if times == float("inf") else 100 * 0.1 * times / (0.9 + 0.1 * times)
    return after * (1 - 1e-9) <= number(text) <= min(100.0, max(after * 1.12, 100 * (after > 98)))


def always(truth: Truth, gaps: tuple[str, ...]) -> bool:
    return True


def _when(condition: Callable[[Truth], bool]) -> Condition:
    return lambda truth, gaps: condition(truth)


def _pure(truth: Truth) -> bool:
    return truth.epsilon is not None


def _given(truth: Truth, gaps: tuple[str, ...]) -> bool:
    """Odds and ε of a claim: ×{x} (ε = {x}), or with {delta} first and (ρ = {x}, ε = {x})."""
    if _pure(truth):
        times, epsilon = gaps
        return up(times, odds(truth.one)) and number(epsilon) == truth.epsilon
    delta, times, rho, epsilon = gaps
    exactly = number(delta) == truth.delta and number(rho) == truth.rho
    return exactly and up(times, odds(truth.one)) and up(epsilon, truth.one)


_LEADS = (
    ("Whatever is published", "×{x} (ε = {x})", True),
    ("Except with a chance of {x}, whatever is published", "×{x} (ρ = {x}, ε = {x})", False),
)
_UNITS = (
    ("the odds that a given person is in the data", "cube", False, None),
    ("the odds between any two values of a person in the data", "cube", True, None),
    ("the odds that a given edge is in the data", "graph", False, True),
    ("the odds that all of a person's up to {n} edges are in the data", "graph", False, False),
    ("the odds between any two edges", "graph", True, True),
    ("the odds between any two choices of the {n} edges of a person", "graph", True, False),
)


def _odds_entries() -> list[Entry]:
    """What changes by at most how much: who is a neighbour decides which odds may be spoken of."""
    found = []
    for lead, given, pure in _LEADS:
        for unit, kind, replace, single in _UNITS:

            def holds(
                truth: Truth, gaps: tuple[str, ...], *, pure: bool = pure, kind: str = kind,
                replace: bool = replace, single: bool | None = single,
            ) -> bool:  # fmt: skip
                fits = (truth.kind, truth.replace, _pure(truth)) == (kind, replace, pure)
                fits = fits and not truth.change
                if single is None:
                    return fits and _given(truth, gaps)
                if single:
                    return fits and truth.rows == 1 and _given(truth, gaps)
                place = 0 if pure else 1
                rest = gaps[:place] + gaps[place + 1 :]
                return fits and number(gaps[place]) == truth.rows > 1 and _given(truth, rest)

            found.append(Entry(CLAIM, f"{lead}, {unit} change by at most {given}.", holds))
        for beside in ("it", "them"):
            for what, kind in (("data sets", "cube"), ("graphs", "graph")):

                def between(
                    truth: Truth, gaps: tuple[str, ...], *, pure: bool = pure, kind: str = kind,
                ) -> bool:  # fmt: skip
                    fits = truth.kind == kind and _pure(truth) is pure and truth.change > 0
                    return fits and _given(truth, gaps)

                text = f"{lead} alongside {beside}, the odds between two such {what} change by at "
                found.append(Entry(CLAIM, f"{text}most {given}.", between))
    return found


def _rise_entries() -> list[Entry]:
    found = []
    for of, exact in (("", False), (" that one of them is the true one", True)):
        for end, pure in ((".", True), (", again except with that chance.", False)):

            def holds(
                truth: Truth, gaps: tuple[str, ...], *, exact: bool = exact, pure: bool = pure
            ) -> bool:
                fits = _pure(truth) is pure and bool(truth.change) is exact
                return fits and (exact or not truth.replace) and risen(truth, gaps[0])

            text = f"A suspicion of 10 %{of} can rise to at most {{x}} %{end}"
            found.append(Entry(CLAIM, text, holds))
    return found


def _exact_entries() -> list[Entry]:
    found = [
        Entry(
            CLAIM,
            "Published without noise, and so without ε protection: {names}.",
            _when(lambda truth: truth.private and truth.change > 0),
        )
    ]
    sizes = {
        "cube": ("at most {n} row comes or goes", "at most {n} rows come or go"),
        "graph": (
            "at most {n} edge comes or goes",
            "at most {n} edges come or go, and no exact number changes",
        ),
    }
    for kind, what in (("cube", "data sets"), ("graph", "graphs")):
        for such in ("it", "them", "that"):
            for unit in ("one minimal change", "{n} minimal changes"):
                for size in sizes[kind]:

                    def holds(
                        truth: Truth, gaps: tuple[str, ...], *, kind: str = kind, unit: str = unit
                    ) -> bool:
                        *first, change, said = map(number, gaps)
                        rows = first == ([truth.rows] if truth.rows > 1 else [])
                        return truth.kind == kind and rows and change == said == truth.change

                    text = f"Among {what} that agree with {such}, ε holds for {unit} "
                    found.append(Entry(CLAIM, f"{text}(size {{n}}: {size}).", holds))
    return found


def listed(text: str) -> tuple[str, ...]:
    """The names in a sentence; none of a test holds a comma or “and”."""
    return tuple(re.split(r", | and ", text))


def _cluster(rows: bool) -> Condition:
    def holds(truth: Truth, gaps: tuple[str, ...]) -> bool:
        many = number(gaps[1]) if rows else 1
        return truth.cluster and many == truth.rows and (truth.rows > 1) is rows

    return holds


def _unclustered(kind: str, *, rows: bool) -> Condition:
    def holds(truth: Truth, gaps: tuple[str, ...]) -> bool:
        many = number(gaps[0]) if rows else 1
        return (truth.kind, truth.cluster) == (kind, False) and many == truth.rows

    return holds


def _beside(truth: Truth, gaps: tuple[str, ...]) -> bool:
    """The loss here is for m changes of S rows: mS rows that another release may hide one by one.

    So it counts up to mS times in epsilon, and up to (mS)² times in rho.
    """
    rows = truth.change * truth.rows
    least = rows if _pure(truth) else rows**2
    return truth.change > 0 and number(gaps[0]) == least > 1


def _several(pure: bool, rows: bool) -> Condition:
    def holds(truth: Truth, gaps: tuple[str, ...]) -> bool:
        many = number(gaps[0]) if rows else 1
        return truth.change > 0 and _pure(truth) is pure and many == truth.rows

    return holds


def _between(truth: Truth, gaps: tuple[str, ...]) -> bool:
    """Two values of somebody who is in the data: two steps under add/remove."""
    if truth.replace or truth.change:
        return False
    if _pure(truth):
        return up(gaps[0], odds(truth.two))
    delta, times, epsilon = gaps
    return number(delta) == truth.delta and up(times, odds(truth.two)) and up(epsilon, truth.two)


def _origin(*kinds: str) -> Condition:
    return _when(lambda truth: bool(truth.origins & set(kinds)))


_noisy = _when(lambda truth: truth.private)
_cubes = _when(lambda truth: truth.kind == "cube")
_graphs = _when(lambda truth: truth.kind == "graph")
_PERSON = "A person (or household) is all rows with the same `{names}`; of each, "
_EDGES = "A person is all rows with the same `{names}`; of each, "
_LEFT = "and rows without it were left out."
_CATEGORIES = "The categories of {names} "
_DATA = "where one was not, its being listed shows that "

PRIVATE: tuple[Entry, ...] = (
    *_odds_entries(),
    *_rise_entries(),
    *_exact_entries(),
    Entry(ASSUMES, f"{_PERSON}one row was used, {_LEFT}", _cluster(rows=False)),
    Entry(ASSUMES, f"{_PERSON}at most {{n}} rows were used, {_LEFT}", _cluster(rows=True)),
    Entry(ASSUMES, f"{_EDGES}one edge was used, {_LEFT}", _cluster(rows=False)),
    Entry(ASSUMES, f"{_EDGES}at most {{n}} edges were used, {_LEFT}", _cluster(rows=True)),
    Entry(ASSUMES, "Every person has one row in the data; nothing in the data enforced it.",
          _unclustered("cube", rows=False)),
    Entry(ASSUMES, "Every person has at most {n} rows in the data; nothing in the data enforced "
          "it.",
          _unclustered("cube", rows=True)),
    Entry(ASSUMES, "Every person has at most {n} edges in the data; nothing in the data enforced "
          "it.",
          _unclustered("graph", rows=True)),
    Entry(ASSUMES, "What is protected is a single edge, regardless of whom it is about.",
          _unclustered("graph", rows=False)),
    Entry(ASSUMES, "Each line of a text file counts as a row, also inside quotes: a value that "
        "contains a line end makes two rows.", _noisy),
    Entry(ASSUMES, "Two nodes have one edge at most: repeated rows count once, and rows from a "
          "node "
          "to itself are left out.", _when(lambda t: t.kind == "graph" and not t.directed)),
    Entry(ASSUMES, "Two nodes have one edge at most, and one more in the other direction: repeated "
          "rows count once, and rows from a node to itself are left out.",
          _when(lambda t: t.kind == "graph" and t.directed)),
    Entry(ASSUMES, "The categories, their order and all settings are taken to have been fixed "
          "without "
          "looking at the data.", _cubes),
    Entry(ASSUMES, "The nodes, their order and all settings are taken to have been fixed without "
          "looking at the data.", _graphs),
    Entry(ASSUMES, "The bounds of every sum are taken to have been fixed without looking at the "
          "data.",
          _when(lambda t: t.sums)),
    Entry(ASSUMES, "The code lists of the source, whose labels are published, are taken to have "
          "been "
          "fixed before the data.", _when(lambda t: t.labels)),
    Entry(ASSUMES, f"{_CATEGORIES}were written by hand.", _origin("typed")),
    Entry(ASSUMES, f"{_CATEGORIES}come from a hierarchy.", _origin("file")),
    Entry(ASSUMES, f"{_CATEGORIES}come from the code list of the source.", _origin("code-list")),
    Entry(ASSUMES, f"{_CATEGORIES}were suggested from the data, and are assumed to have been known "
          f"beforehand; {_DATA}someone has it, which no ε covers.", _origin("data")),
    Entry(ASSUMES, "Where the categories of {names} come from is not recorded.",
          _origin("unknown")),
    Entry(ASSUMES, "Where the nodes come from is not recorded.", _origin("unknown")),
    Entry(ASSUMES, "The nodes were written by hand.", _origin("typed")),
    Entry(ASSUMES, "The nodes come from a file.", _origin("file")),
    Entry(ASSUMES, "The nodes come from the code list of the source.", _origin("code-list")),
    Entry(ASSUMES, "The nodes were taken from the data, and are assumed to have been known "
          f"beforehand; {_DATA}it is in the data, which no ε covers.", _origin("data")),
    Entry(ASSUMES, "What someone knows about different persons is independent.",
          _when(lambda t: not t.change and (t.kind == "cube" or t.cluster or t.rows > 1))),
    Entry(ASSUMES, "What someone knows about different edges is independent.",
          _when(lambda t: not t.change and t.kind == "graph" and t.rows == 1 and not t.cluster)),
    Entry(ASSUMES, "Someone may know everything except which of two such data sets is the true "
                   "one; no other numbers about these rows than the exact ones here are known.",
          _when(lambda t: t.kind == "cube" and t.change > 0)),
    Entry(ASSUMES, "Someone may know everything except which of two such graphs is the true "
                   "one; no other numbers about these edges than the exact ones here are known.",
          _when(lambda t: t.kind == "graph" and t.change > 0)),
    Entry(ASSUMES, "Every other release about the same persons costs as well: losses add up.",
          _noisy),
    Entry(ASSUMES, "A release whose noise was not made alongside the same exact numbers counts up "
        "to {n} times.",
          _beside),
    Entry(ASSUMES, "The random numbers come from a cryptographic generator, and the manifest "
          "holds a "
          "commitment to the source: against an adversary who breaks these nothing is promised.",
          _noisy),
    Entry(LIMITS, "Facts about a whole group, which hold whether or not one person is in the "
        "data: anyone who is known to belong to the group may be judged by them.", _cubes),
    Entry(LIMITS, "All edges of a node together: that someone has many edges, or none, is not "
          "hidden "
          "as one edge is.", _graphs),
    Entry(LIMITS, "Odds between two values of a person who is known to be in the data: these "
          "change by "
          "up to ×{x}.", _between),
    Entry(LIMITS, "Odds between two values of a person who is known to be in the data: except "
          "with a "
          "chance of {x}, these change by up to ×{x} (ε = {x}).", _between),
    Entry(LIMITS, "Odds between two places of an edge that is known to be in the data: these "
          "change by "
          "up to ×{x}.", _between),
    Entry(LIMITS, "Odds between two places of an edge that is known to be in the data: except "
          "with a "
          "chance of {x}, these change by up to ×{x} (ε = {x}).", _between),
    Entry(LIMITS, "The number of persons in the data: it is taken to be known.",
          _when(lambda t: t.kind == "cube" and t.replace)),
    Entry(LIMITS, "The number of edges: it is taken to be known.",
          _when(lambda t: t.kind == "graph" and t.replace)),
    Entry(LIMITS, "A choice among several releases, or of settings, that was made after looking "
          "at the "
          "data or at results: then more was spent than is said here.", _noisy),
    Entry(LIMITS, "The decision to publish this release, or not to publish another one, which "
                  "trial runs and the checklist inform: these are internal looks at the data, "
                  "and the stated loss does not cover what the decision itself reveals.", _noisy),
    Entry(LIMITS, "What the exact numbers show by themselves: a node whose exact degree is 0 has "
          "no edge, and one whose degree is that of all other nodes has an edge to each.",
          _when(lambda t: t.kind == "graph" and t.change > 0)),
    *(
        Entry(LIMITS, f"What {{names}} {shows}: these are the true numbers of the rows that are "
              f"counted "
              "here (rows outside the declared categories or beyond the rows per person are "
              "not), and "
              "anyone who is alone in one of their cells is known to be there.",
              _when(lambda t: t.kind == "cube" and t.change > 0))
        for shows in ("shows by itself", "show by themselves")
    ),
    *(
        Entry(LIMITS, f"Larger differences between {what}: k times {unit} cost {cost}.",
              _several(pure, rows))
        for what in ("data sets", "graphs")
        for unit, rows in (("a minimal change", False), ("{n} minimal changes", True))
        for cost, pure in (("k times as much", True), ("k² times as much ρ", False))
    ),
)  # fmt: skip
"""Sentences of releases with noise."""


def _k(truth: Truth, gaps: tuple[str, ...]) -> bool:
    names, k, least, smallest = gaps
    counted = number(k) == number(least) == truth.k and number(smallest) == truth.smallest
    return counted and listed(names) == truth.columns["quasi"] and truth.smallest >= truth.k


def _of(*roles: str, gap: int = 0) -> Condition:
    """Whether the names in a gap are released columns of these roles, and all of them."""

    def holds(truth: Truth, gaps: tuple[str, ...]) -> bool:
        known = {name for role in roles for name in truth.columns.get(role, ())}
        return set(listed(gaps[gap])) == known and bool(known)

    return holds


def _some(*roles: str, gap: int = 0) -> Condition:
    def holds(truth: Truth, gaps: tuple[str, ...]) -> bool:
        known = {name for role in roles for name in truth.columns.get(role, ())}
        return set(listed(gaps[gap])) <= known

    return holds


def _both(*conditions: Condition) -> Condition:
    return lambda truth, gaps: all(each(truth, gaps) for each in conditions)


def _counts(gap: int, which: str) -> Condition:
    return lambda truth, gaps: number(gaps[gap]) == getattr(truth, which)


OTHERS = ("sensitive", "insensitive", "weight", "cluster")
_TELL = "and to whom the other released columns reveal nothing more, "
_MATCH = "a match is right with a chance of at most 1 in {n}: every released "
_COVERS = " covers at least {n} rows (the smallest covers {n})."
_alone = _when(lambda t: t.kind == "k" and not any(t.columns.get(each) for each in OTHERS))
_kept = _when(lambda t: t.kind == "k")
_drawn = _when(lambda t: t.kind == "drawn")
_levels = _when(lambda t: t.k > 0)
_apart = _when(lambda t: t.kind == "apart")
_hidden = _when(lambda t: t.kind in ("drawn", "apart"))


def _requirement(model: str, keys: Mapping[str, object], name: int, **gaps: int) -> Condition:
    """One requirement has these keys, its column in a gap and its numbers in others."""

    def holds(truth: Truth, found: tuple[str, ...]) -> bool:
        return truth.kind == "k" and any(
            each["model"] == model
            and all(each.get(key) == value for key, value in keys.items())
            and each["attribute"] == found[name]
            and all(number(found[at]) == each[key] for key, at in gaps.items())
            for each in truth.required
        )

    return holds


def _why_absent(truth: Truth) -> list[str]:
    """Why else than for a rare combination a row may have been suppressed."""
    asked = list(dict.fromkeys(str(each["attribute"]) for each in truth.required))
    names = ", ".join(asked[:-1]) + " and " * (len(asked) > 1) + "".join(asked[-1:])
    reasons = {
        "the rows with it are of too few persons": bool(truth.columns.get("pseudonym")),
        f"the values of {names} of those who have it failed what is required (where it is known "
        "not to be rare, this is certain: all of them may have one value, which each of them then "
        "learns of the others)": bool(asked),
        "too few rows of the population match it": "k_map" in truth.people,
        "too many of the rows of the population that match it are in the data": "delta_max"
        in truth.people,
        "one of their quasi-identifiers is missing": truth.missing == "nothing",
        "someone in their household has such a combination": truth.households,
        f"it is one of the smallest, which had to go so that {truth.size} divides the number of "
        "rows": truth.kind == "drawn",
    }
    return [reason for reason, holds in reasons.items() if holds]


def _requirement_entries() -> list[Entry]:
    """What is required of every class, each by its definition."""
    distances = (
        ("equal", None, "every two values being equally far apart"),
        ("hierarchical", None, "values being as far apart as their hierarchy has it"),
        ("ordered", "hierarchy", "values being as far apart as their places in the order of their "
         "hierarchy"),
        ("ordered", "values", "values being as far apart as their places in the order of the "
         "released values"),
    )  # fmt: skip
    likeness = (
        "In every such combination the share of each value of {names} exceeds its share among all "
        "released rows by at most {x} times that share"
    )
    return [
        Entry(CLAIM, "Every such combination holds at least {n} different values of {names}.",
              _requirement("l-diversity", {"variant": "distinct"}, 1, l=0)),
        Entry(CLAIM, "In every such combination the entropy of {names} is at least that of {x} "
              "equally frequent values.",
              _requirement("l-diversity", {"variant": "entropy"}, 0, l=1)),
        Entry(CLAIM, "In every such combination the most frequent value of {names} has fewer than "
              "{x} times as many rows as all its values from the one in place {n} by frequency on.",
              _requirement("l-diversity", {"variant": "recursive"}, 0, c=1, l=2)),
        *(
            Entry(CLAIM, "In every such combination the distribution of {names} is at most {x} "
                  f"from that of all released rows (earth mover's distance, {far}).",
                  _requirement("t-closeness", {"variant": variant, "order": order}, 0, t=1))
            for variant, order, far in distances
        ),
        Entry(CLAIM, "No value of {names} is held by more than the share {x} of the rows of such a "
              "combination.", _requirement("alpha-k", {}, 0, alpha=1)),
        Entry(CLAIM, f"{likeness}.",
              _requirement("beta-likeness", {"variant": "basic"}, 0, beta=1)),
        Entry(CLAIM, f"{likeness}, and by at most as many times as the natural logarithm of 1 over "
              "that share.", _requirement("beta-likeness", {"variant": "enhanced"}, 0, beta=1)),
        Entry(LIMITS, "More knowledge about {names}: the requirements on classes bound what is "
              "learned by someone who knows no more than the released distribution; anyone who can "
              "rule out values for a person, or counts similar values as one, may learn more.",
              lambda truth, gaps: set(listed(gaps[0])) == {e["attribute"] for e in truth.required}),
    ]  # fmt: skip


ROWS: tuple[Entry, ...] = (
    Entry(CLAIM, "The values of {names} are kept apart from the rows, by groups of at least "
                 "{n} rows in which all values are different.",
          _both(_of("apart"), _counts(1, "size"))),
    Entry(CLAIM, "For every way of assigning the values of a group to its rows, this release would "
          "have come out with exactly the same chance.", _apart),
    Entry(CLAIM, "So for someone who knows the columns of the rows, and to whom they reveal "
          "nothing about {names}, each value of a person's group is the true one with a chance of "
          "at most 1 in {n}.", _both(_of("apart"), _counts(1, "size"))),
    Entry(ASSUMES, "Groups were drawn and numbered by a cryptographic generator; against an "
          "adversary who breaks it nothing is promised.", _apart),
    Entry(ASSUMES, "This is the only release about these people: a person's groups in two "
          "releases often have only the true value in common.", _apart),
    Entry(LIMITS, "Presence: every row of the source is released, so anyone who knows the other "
          "columns of a person sees whether that person is in the data.", _apart),
    *(
        Entry(LIMITS, f"Finding a person's row: {{names}} {are} released unchanged, so anyone who "
              f"knows {them} about a person may find the row, and with it the group.",
              _of("quasi", *OTHERS))
        for are, them in (("is", "it"), ("are", "them"))
    ),
    Entry(LIMITS, "What the other columns reveal about {names}: where values go together, the "
                  "values of a group are not equally likely for its rows.", _of("apart")),
    Entry(LIMITS, "How they go together can be learned from this release itself, by comparing its "
          "groups.", _apart),
    Entry(LIMITS, "Someone who knows values of other people in the group: each of them leaves "
          "one fewer, and anyone who knows all but one knows the last with certainty.", _apart),
    Entry(LIMITS, "What a person's value is not: all values that are not in the person's group "
          "are ruled out with certainty.", _apart),
    Entry(LIMITS, "{names}: sensitive by role, but not kept apart; the true values are in the "
                  "rows.", _of("sensitive")),
    *(
        Entry(CLAIM, f"For someone who knows only {{names}} of a person, "
              f"{told}{_MATCH}{each}{_COVERS}",
              _both(_k, _both(alone, _when(lambda t: t.missing != "any"))))
        for each in ("combination of these", "value of it")
        for told, alone in (("", _alone), (_TELL, _kept))
    ),
    *(
        Entry(CLAIM, f"Someone who knows only {{names}} of a person, {told}and for whom a missing "
              "value may stand for any value, cannot narrow a released row down to fewer than {n}: "
              "each matches at least {n} released rows, itself among them, in all values that "
              "are missing in neither (the one with the fewest matches {n}).",
              _both(_k, _both(alone, _when(lambda t: t.missing == "any"))))
        for told, alone in (("", _alone), (_TELL, _kept))
    ),
    Entry(CLAIM, "Missing values match nothing: no released row has one of these missing below "
        "the top of its hierarchy.", _when(lambda t: t.kind == "k" and t.missing == "nothing")),
    Entry(CLAIM, "Every such combination covers rows of at least {n} households, and a household "
          "is released with all its rows or not at all.",
          lambda t, gaps: t.kind == "k" and t.households and number(gaps[0]) == t.k),
    Entry(CLAIM, "Every such combination matches at least {n} rows of the population file that "
          "the agency used.",
          lambda t, gaps: t.kind == "k" and number(gaps[0]) == t.people.get("k_map")),
    Entry(CLAIM, "Of the rows of that population with a combination, a share from {x} to {x} is "
          "released.",
          lambda t, gaps: t.kind == "k" and number(gaps[0]) == t.people.get("delta_min")
          and number(gaps[1]) == t.people.get("delta_max")),
    Entry(LIMITS, "A different population: who is in the population file was not checked; where "
        "persons are missing from it, where it has a different reference date, or where "
        "others know who of them took part, the numbers of matches in it say less.",
          _when(lambda t: t.kind == "k" and bool(t.people))),
    Entry(LIMITS, "Households of different size: a combination covers rows of several households, "
          "but not equally many of each, so that a household with many of its rows is matched more "
          "often than once in k.", _when(lambda t: t.kind == "k" and t.households)),
    Entry(LIMITS, "Rows of a household: they are not marked, but where the released columns fit "
        "together (an address, a couple's year of marriage) someone may join them, and "
        "know more about a household than about each person in it.",
          _when(lambda t: t.kind == "k" and t.households and not t.columns.get("cluster")
                and not t.columns.get("groups"))),
    Entry(LIMITS, "Knowledge of what is missing: someone who knows whether a value of a person is "
          "missing in the data can tell rows apart that match only because missing values match "
          "anything; fewer than {n} rows may then be left.",
          lambda t, gaps: t.kind == "k" and t.missing == "any" and number(gaps[0]) == t.k),
    *_requirement_entries(),
    Entry(CLAIM, "Rows that are alike have at least {n} different pseudonyms of {names}, so they "
          "are not those of fewer persons.", _both(_counts(0, "k"), _of("pseudonym", gap=1))),
    *(
        Entry(ASSUMES, "Anyone who looks for a person knows nothing about them beyond "
              f"{known}{rest}.",
              holds)
        for known, gap in (("these quasi-identifiers", 0), ("the value of {names}", 1))
        for rest, holds in (("", _alone), (", in particular not {names}", _of(*OTHERS, gap=gap)))
    ),
    Entry(ASSUMES, "Each person has one row; anyone with several rows is protected less.",
          always),
    Entry(ASSUMES, "This is the only release about these people; several releases can be combined.",
          _kept),
    Entry(ASSUMES, "Each person has one identifier for {names}, always written the same way: one "
          "that is written in two ways counts as two persons.", _of("pseudonym")),
    Entry(ASSUMES, "The key of the pseudonyms ({names}) stays secret.", _of("pseudonym", "groups")),
    Entry(ASSUMES, "Anyone who has it can compute the pseudonym of every conceivable "
          "identifier, and by trying all of them trace every pseudonym back, even without the "
          "source: for them the rows are as good as named.",
          _when(lambda t: "pseudonym" in t.columns or "groups" in t.columns)),
    Entry(LIMITS, "What a whole class shares: when all its rows hold the same value, that value is "
          "learned about each of them without any link.", _kept),
    Entry(LIMITS, "What a whole class shares: when all its rows hold the same value of {names}, "
          "that value is learned about each of them without any link.", _some(*OTHERS)),
    *(
        Entry(LIMITS, "What columns reveal about each other: where the released columns go "
              "together (an industry with an occupation), someone may conclude from what they "
              "know about a person what "
              f"{{names}} {hold} for that person, and tell the rows of a class apart by it; a "
              f"match is "
              "then right more often than once in {n}.", _both(_of(*OTHERS), _counts(1, "k")))
        for hold in ("holds", "hold")
    ),
    *(
        Entry(LIMITS, f"Knowledge of other columns: {{names}} {are} released unchanged, and "
              f"anyone who "
              "knows such a value of a person may tell the rows of a class apart and find the "
              "person's "
              "row.", _of("insensitive"))
        for are in ("is", "are")
    ),
    Entry(LIMITS, "Households and other groups: {names} links rows, so anyone who recognises one "
          "member, or knows how the group is made up, may find the others.", _of("cluster")),
    *(
        Entry(LIMITS, f"Weights: {{names}} {are} released unchanged; a weight can reveal the "
              f"region or "
              "stratum of a row, or a rare case.", _of("weight"))
        for are in ("is", "are")
    ),
    Entry(LIMITS, "Absence: suppressed rows had rare combinations, so someone who is known to be "
          "in the data and matches no released row is known to be one of them.",
          _when(lambda t: t.kind == "k" and t.suppressed > 0 and not _why_absent(t))),
    Entry(LIMITS, "Absence: someone who is known to be in the data and matches no released row is "
          "known to be one of those suppressed, so that one of these is true: their combination is "
          "rare; {names}.",
          lambda t, gaps: t.suppressed > 0 and gaps[0].split("; ") == _why_absent(t) != []),
    Entry(LIMITS, "Knowledge of the search: someone who knows how the levels were chosen may "
          "conclude "
          "something about the rows that made a generalisation necessary (minimality attack).",
          _levels),
    Entry(LIMITS, "Published labels: levels that were made from the data may show a range, a "
          "length or a form that only values of suppressed rows have; someone who knows nearly all "
          "rows can test guesses about the others.", _levels),
    Entry(LIMITS, "Several rows of one person: {names} shows which rows belong to the same person, "
          "so anyone who knows what two of them have in common may find a combination that fewer "
          "than {n} persons have.", _both(_of("pseudonym"), _counts(1, "k"))),
    Entry(LIMITS, "Groups: {names} shows which rows belong to the same group, so anyone who "
          "recognises one "
          "member, or knows how the group is made up, may find the others.", _of("groups")),
    Entry(LIMITS, "Joined releases: {names} is the same in every release with this key and the "
          "linkage domain “{names}”, so two of them can be joined row by row; what both reveal "
          "about a person together may be shared with fewer than {n} others.",
          _both(_some("pseudonym", "groups"), _counts(2, "k"))),
    Entry(LIMITS, "Later use of the key: {names} was made for this release only and cannot be "
          "joined with others by anyone who does not have the key; anyone who has it can.",
          _some("pseudonym", "groups")),
    *(
        Entry(CLAIM, "For someone who knows of the true values only how often each occurs, and "
              "to whom the other released columns reveal nothing about them, a published value of "
              f"{each}{{names}} is the true one with a chance of 1 in {{n}}.",
              _both(_of("drawn"), _counts(1, "size")))
        for each in ("", "each of ")
    ),
    *(
        Entry(CLAIM, f"For each person{each} and for every outcome of the hidden ids and coins, "
              f"{{n}} swapped data {sets} would give every possible output with exactly the same "
              "chance.",
              lambda truth, gaps: number(gaps[-1]) == truth.size - 1 > 0)
        for each in ("", ", and for each of {names} by itself,")
        for sets in ("set", "sets")
    ),
    *(
        Entry(CLAIM, f"There the person has exchanged {what} with someone of the same hidden "
              "group, so which swaps they are depends on that outcome; the output cannot tell "
              "these {n} cases apart.", lambda truth, gaps: number(gaps[-1]) == truth.size)
        for what in ("the value of {names}", "that value")
    ),
    *(
        Entry(CLAIM, f"Before that, {{names}} {were} made k-anonymous: every released combination "
              "covers at least {n} rows.", _both(_of("quasi"), _counts(1, "k"), _levels))
        for were in ("was", "were")
    ),
    Entry(ASSUMES, "Ids, groups and draws stay secret: they existed only in memory, and were "
          "drawn from a cryptographic generator; against an adversary who breaks it nothing is "
          "promised.",
          _drawn),
    Entry(ASSUMES, "This is the only release about these people: several draws of the same "
                   "values can be combined, and together they reveal the true ones.", _drawn),
    Entry(ASSUMES, "It was published as it was drawn, not chosen among several draws after "
        "looking at them.", _hidden),
    Entry(ASSUMES, "The {n} values of a group are different texts; values that mean nearly the "
          "same hide little from someone who only asks for that meaning.", _counts(0, "size")),
    Entry(ASSUMES, "For the claim on k: anyone who looks for a person knows nothing about them "
                   "beyond the quasi-identifiers.", _levels),
    Entry(LIMITS, "Someone who knows most of the other people's values: over all outcomes of ids "
          "and coins a fixed swap need not give the same chances, and such a person may learn a "
          "value with certainty.", _drawn),
    Entry(LIMITS, "What one published value says about a rare value: for someone who knows only "
        "how often each value occurs, the belief in it rises from its share of the rows "
        "(f out of N) to 1/{n} where it is published.", _counts(0, "size")),
    Entry(LIMITS, "Large counts and shares of the population: they are meant to be accurate, and "
          "anyone who is known to belong to a group may be judged by them.", _hidden),
    Entry(LIMITS, "{names} taken together: each is drawn separately, and nothing is claimed "
                  "about what their published values reveal in combination.", _of("drawn")),
    *(
        Entry(LIMITS, f"What the other columns reveal: {{names}} {are} not drawn.",
              _of("quasi", *OTHERS))
        for are in ("is", "are")
    ),
    Entry(LIMITS, "Where values there go together with those of {names} (an industry with an "
          "occupation), they give the true value away, whatever is published for it.",
          _of("drawn")),
    *(
        Entry(LIMITS, f"Finding a person's row: {{names}} {are} released unchanged, so anyone who "
              f"knows {them} about a person may find the row.",
              lambda truth, gaps: _of(*OTHERS, *(() if truth.k else ("quasi",)))(truth, gaps))
        for are, them in (("is", "it"), ("are", "them"))
    ),
    Entry(LIMITS, "Where that is a threat, make them k-anonymous as well.",
          _when(lambda t: not t.k)),
    Entry(LIMITS, "{names}: sensitive by role, but not drawn; the true values are released.",
          _of("sensitive")),
    *(
        Entry(LIMITS, f"The {{n}} {rows} removed at random so that the number of rows is a "
              f"multiple of {{n}}: nothing of {them} is published, and the theorem says "
              f"nothing about {them}.",
              _both(_counts(0, "removed"), _counts(1, "size"), _when(lambda t: not t.k)))
        for rows, them in (("row", "it"), ("rows", "them"))
    ),
    *(
        Entry(LIMITS, f"The {{n}} {rows} removed at random so that the number of rows is a "
              f"multiple of {{n}}: {released}, since {were} taken from those with more than {{n}} "
              f"rows; nothing else of {them} is published, and the theorem says nothing about "
              f"{them}.",
              _both(_counts(0, "removed"), _counts(1, "size"), _counts(2, "k")))
        for rows, released, were, them in (
            ("row", "its combination is one of the released ones", "it was", "it"),
            ("rows", "their combinations are among the released ones", "they were", "them"),
        )
    ),
)  # fmt: skip
"""Sentences of releases of rows: k-anonymous and drawn."""


def parted(text: str) -> tuple[str, ...]:
    """The sentences of a part of a guarantee."""
    return tuple(re.split(r"(?<=\.)\s+(?=[A-Z])", text))


def entry_of(part: str, sentence: str, entries: tuple[Entry, ...], truth: Truth) -> Entry | None:
    """The entry that a sentence has the words of and whose condition holds; None without one."""
    for entry in entries:
        found = entry.pattern.fullmatch(sentence) if entry.part == part else None
        if found and entry.holds(truth, found.groups()):
            return entry
    return None
