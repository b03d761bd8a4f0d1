"""Questions about releases with noise: loss, unit, domain, rows left out, error, columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import sqrt
from typing import Any

from dpdesk.core.budget import NO_PROTECTION, Neighbours
from dpdesk.core.capabilities import Content
from dpdesk.core.charts import format_figure
from dpdesk.core.cuboid import listed_tables
from dpdesk.core.messages import counted, joined, listed, msg
from dpdesk.core.parameters import exact_number
from dpdesk.core.plain import number_text
from dpdesk.core.release import CheckStatus
from dpdesk.core.schema import columns_of
from dpdesk.engine.private.guarantee_words import (
    converted,
    rounded_up,
    suspicion_after,
    times_words,
)
from dpdesk.engine.private.trial import too_many
from dpdesk.project.review.policy import column_pattern, folded
from dpdesk.project.review.questions import Answer, Basis, Case, Question, named, percent, share_of
from dpdesk.project.review.votes import ItemStatus as Status

_JUDGE_ROWS = (
    "Judge whether these numbers may be public as they are: anyone who is alone in a cell is "
    "known to be there. No other exact numbers about these rows may be public."
)
_JUDGE_EDGES = (
    "Judge whether these numbers may be public as they are: a node with the degree 0, or with "
    "one edge to every other node, shows all its edges. No other exact numbers about these "
    "edges may be public."
)


def spent_epsilon(case: Case) -> Fraction | None:
    """ε as stated, or what ρ comes to at the stated δ (rounded up); None when there is neither."""
    given = _parameters(case)
    epsilon, rho = exact_number(given.get("epsilon")), exact_number(given.get("rho"))
    if epsilon is not None or rho is None:
        return epsilon
    delta = exact_number(given.get("delta"))
    if delta is None or not 0 < delta < 1:
        return None
    return Fraction(rounded_up(converted(float(rho), float(delta)), 6))


def _loss(case: Case) -> Answer:
    epsilon = spent_epsilon(case)
    if epsilon is None:
        text = "The guarantee states no privacy loss."
        return Answer(Status.FAIL, text, Basis.MANIFEST, "Make the release again.")
    known = float(epsilon)
    times = f"×{times_words(known)}"
    after = suspicion_after(known)
    rho = exact_number(_parameters(case).get("rho"))
    delta = exact_number(_parameters(case).get("delta"))
    given = ""
    if rho is not None and delta is not None:
        given = msg(
            "ρ = {rho}, that is, except with a chance of {delta}, ",
            rho=number_text(rho),
            delta=number_text(delta),
        )
    size = _parameters(case).get("minimal_change")
    unit, rows = ("edge", "edges") if _is_graph(case) else ("person", "rows")
    what = (
        msg("about one {unit}", unit=unit)
        if size is None
        else msg("of a minimal change of up to {size} {rows}", size=size, rows=rows)
    )
    if _parameters(case).get("neighbours") == Neighbours.VALUE:
        what = "between two values of a person in the drawn columns"
    text = msg(
        "{given}ε = {epsilon}: odds {what} change by at most {times}, and a "
        "suspicion of 10 % can rise to at most {after} %.",
        given=given,
        epsilon=number_text(epsilon),
        what=what,
        times=times,
        after=after,
    )
    kinds = ("scales within epsilon", "scales within rho", "chances within epsilon")
    names = (*kinds, "rates within epsilon")
    if any(case.facts.confirmed(name) for name in names):
        text += " The stated noise costs no more than that."
        if epsilon > NO_PROTECTION:
            advice = "Such a large ε protects no one. Choose a smaller one and release again."
            return Answer(Status.FAIL, text, Basis.FILES, advice)
        advice = "Judge whether that is low enough for these people."
        return Answer(Status.REVIEW, text, Basis.FILES, advice)
    text += " It could not be confirmed that the stated noise costs no more than that."
    return Answer(Status.FAIL, text, Basis.FILES, "Do not publish it; make the release again.")


def _unit(case: Case) -> Answer:
    given = _parameters(case)
    rows = given.get("rows_per_person")
    held = "one row" if rows == 1 else msg("at most {rows} rows", rows=rows)
    cluster = given.get("cluster")
    if isinstance(cluster, list) and cluster:
        text = msg(
            "Of all rows with the same {cluster}, {held} were counted.",
            cluster=named([str(cluster[0])]),
            held=held,
        )
        return Answer(Status.PASS, text, Basis.EVIDENCE)
    text = msg("It is assumed that every person has {held}; nothing enforced it.", held=held)
    if rows == 1 and _is_graph(case):
        text = "One edge is hidden at a time, not all edges that one person reported or is part of."
        advice = (
            "Judge whether that is enough here; otherwise give `rows_per_person` and a cluster."
        )
        return Answer(Status.REVIEW, text, Basis.PERSON, advice)
    advice = "Check it, or give the column that identifies persons the role cluster."
    return Answer(Status.REVIEW, text, Basis.PERSON, advice)


def _domain(case: Case) -> Answer:
    result = case.facts.release.manifest.result
    domains = result.get("domains")
    sizes = {
        str(item.get("dimension")): len(item.get("categories", []))
        for item in (domains if isinstance(domains, list) else [])
        if isinstance(item, Mapping)
    }
    text = msg(
        "The categories of {columns} must have been fixed without looking at the data; "
        "otherwise rare ones show that someone has them.",
        columns=named(list(sizes), lambda name: f" ({sizes[name]:,})"),
    )
    if _is_graph(case):
        text = msg(
            "The {n:,} nodes must have been fixed without looking at the data; otherwise being "
            "listed shows that a node has an edge.",
            n=max(sizes.values(), default=0),
        )
    advice = "Ask where the lists and hierarchies come from."
    return Answer(Status.REVIEW, text, Basis.PERSON, advice)


_TRY = (
    "Declare the categories that the data have, or a category for all others, and try "
    "them (`dpdesk trial`) before a budget is spent again."
)


def _left_out(case: Case) -> Answer:
    counting = case.facts.release.evidence.result.get("counting")
    rows = case.facts.release.evidence.source.rows
    if not isinstance(counting, Mapping) or not rows or rows < 1:
        text = "The internal part does not say how many rows were left out."
        return Answer(Status.REVIEW, text, Basis.EVIDENCE, "Look at the whole release folder.")
    facts = [each for each in counting.values() if isinstance(each, Mapping)]
    lost = max((_count(each, "rows_left_out") for each in facts), default=0)
    cut = max((_count(each, "rows_beyond_the_bound") for each in facts), default=0)
    whose = max((_count(each, "rows_without_a_person") for each in facts), default=0)
    text = msg(
        "Of {rows}, {lost:,} are outside the declared categories and {cut:,} beyond the rows per "
        "person; none of these was counted.",
        rows=counted("{n:,} row", "{n:,} rows", n=rows),
        lost=lost,
        cut=cut,
    )
    if _is_graph(case):
        text = _edges_left_out(rows, lost, cut, facts)
    if whose:
        text += msg(" Nor were {whose:,} that do not say whose they are.", whose=whose)
    text += _moved(case, facts)
    strange = _too_many(case, facts, rows, lost)
    if strange:
        limit = percent(case.policy.outside_share)
        text += msg(
            " {strange:,} rows ({share_of}) have a value outside the declared "
            "categories; the policy's share is {limit}.",
            strange=strange,
            share_of=share_of(strange, rows),
            limit=limit,
        )
        return Answer(Status.FAIL, text, Basis.EVIDENCE, _TRY)
    if not lost and not cut and not whose:
        return Answer(Status.PASS, text, Basis.EVIDENCE)
    advice = "Judge whether the tables still represent everyone; the figures must stay inside."
    return Answer(Status.REVIEW, text, Basis.EVIDENCE, advice)


def _moved_away(case: Case) -> Answer:
    """As :func:`_left_out`, where every row stays and its value goes to a category."""
    counting = case.facts.release.evidence.result.get("counting")
    rows = case.facts.release.evidence.source.rows
    if not isinstance(counting, Mapping) or not rows or rows < 1:
        text = "The internal part does not say how many values are none of the declared categories."
        return Answer(Status.REVIEW, text, Basis.EVIDENCE, "Look at the whole release folder.")
    facts = [each for each in counting.values() if isinstance(each, Mapping)]
    strange = _strangers(facts)
    most = max(strange, key=strange.__getitem__, default="")
    if not most:
        text = "Every value of the drawn columns is one of the declared categories."
        return Answer(Status.PASS, text, Basis.EVIDENCE)
    text = msg(
        "In {rows}, the value of {column} is none of the declared categories ({share}): another "
        "one was drawn in its place.",
        rows=counted("{n:,} row", "{n:,} rows", n=strange[most]),
        column=named([most]),
        share=share_of(strange[most], rows),
    )
    if _too_many(case, facts, rows, 0):
        return Answer(Status.FAIL, text, Basis.EVIDENCE, _TRY)
    advice = "Judge whether the counts of that category still mean what it says."
    return Answer(Status.REVIEW, text, Basis.EVIDENCE, advice)


def _edges_left_out(rows: int, lost: int, cut: int, facts: Iterable[Mapping[str, Any]]) -> str:
    loops = max((_count(each, "rows_from_a_node_to_itself") for each in facts), default=0)
    again = max((_count(each, "rows_that_repeat_an_edge") for each in facts), default=0)
    return msg(
        "Of {rows}, {lost:,} name an end that is not a declared node, {loops:,} go from a node "
        "to itself, {again:,} repeat an edge and {cut:,} are beyond the edges per person; none "
        "of these was counted.",
        rows=counted("{n:,} row", "{n:,} rows", n=rows),
        lost=lost,
        loops=loops,
        again=again,
        cut=cut,
    )


def _moved(case: Case, facts: Iterable[Mapping[str, Any]]) -> str:
    """How many rows went to a declared category that takes all other values, by dimension."""
    takers = case.facts.release.manifest.result.get("outside")
    if not isinstance(takers, Mapping):
        return ""
    most = _strangers(facts)
    moved = sorted(((rows, name) for name, rows in most.items() if name in takers), reverse=True)
    told = [msg("{rows:,} by {column}", rows=rows, column=named([name])) for rows, name in moved]
    if len(told) > 2:
        return msg(
            " In {n:,} columns, rows were moved to a declared category for all other values, most "
            "of them {most}.",
            n=len(told),
            most=told[0],
        )
    if not told:
        return ""
    return counted(
        " In one column, rows were moved to a declared category for all other values: {told}.",
        " In two columns, rows were moved to a declared category for all other values: {told}.",
        n=len(told),
        told=joined(told, " and "),
    )


def _too_many(case: Case, facts: Iterable[Mapping[str, Any]], rows: int, lost: int) -> int:
    """The rows outside the declared categories where they are beyond the policy's share, or 0."""
    limit = case.policy.outside_share
    takers = case.facts.release.manifest.result.get("outside")
    taken = takers if isinstance(takers, Mapping) else {}
    beyond = [
        count
        for name, count in _strangers(facts).items()
        if too_many(count, rows, limit, moved=name in taken)
    ]
    if too_many(lost, rows, limit, moved=False):
        beyond.append(lost)
    return max(beyond, default=0)


def _strangers(facts: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """By column, the rows whose value is none of its declared categories."""
    most: dict[str, int] = {}
    for each in facts:
        outside = each.get("rows_with_values_outside_the_domain")
        found = outside if isinstance(outside, Mapping) else {}
        for name in found:
            most[name] = max(most.get(name, 0), _count(found, name))
    return {name: rows for name, rows in most.items() if rows}


def _error(case: Case) -> Answer:
    variances = [
        (variance, item)
        for item in listed_tables(case.facts.release.manifest.result)
        if isinstance(variance := item.get("variance"), int | float) and variance >= 0
    ]
    if case.facts.about.content is Content.ITEMSETS and not variances:
        text = (
            "The error of a count depends on the bases that were chosen; `dpdesk query` states it."
        )
        return Answer(Status.REVIEW, text, Basis.MANIFEST, "Judge whether the counts are useful.")
    if case.facts.about.content is Content.CHOICES:
        return _error_of_choices(case)
    if not variances:
        text = "The release states no errors."
        return Answer(Status.FAIL, text, Basis.MANIFEST, "Make the release again.")
    check = case.facts.claim("variance of each table")
    again = check is not None and check.status is CheckStatus.CONFIRMED
    largest: dict[str, tuple[float, Mapping[str, Any]]] = {}
    for variance, item in variances:
        measure = str(item.get("measure") or "")
        if measure not in largest or variance > largest[measure][0]:
            largest[measure] = variance, item
    text = joined((_error_words(name, *found) for name, found in largest.items()))
    basis = Basis.FILES if again else Basis.MANIFEST
    advice = "Judge whether the tables are useful with such errors."
    return Answer(Status.REVIEW, text, basis, advice)


def _error_of_choices(case: Case) -> Answer:
    """The largest error of a choice, as its rate gives it."""
    lines = listed_tables(case.facts.release.manifest.result)
    errors = [error for each in lines if isinstance(error := each.get("error"), int | float)]
    if not errors:
        text = "The release states no errors."
        return Answer(Status.FAIL, text, Basis.MANIFEST, "Make the release again.")
    check = case.facts.claim("rates within epsilon")
    again = check is not None and check.status is CheckStatus.CONFIRMED
    text = msg(
        "In 95 % of releases, a choice is at most {n} rows worse than the best candidate of its "
        "group.",
        n=format_figure(max(errors), "number"),
    )
    advice = "Judge whether the groups are large enough for such errors."
    return Answer(Status.REVIEW, text, Basis.FILES if again else Basis.MANIFEST, advice)


def _error_words(measure: str, variance: float, item: Mapping[str, Any]) -> str:
    deviation = format_figure(sqrt(variance), "number")
    if "table" in item:  # of a graph
        return msg(
            "The largest standard deviation, {n} edges, is that of the {table}.",
            n=deviation,
            table=item["table"],
        )
    names = item.get("dimensions")
    where = " × ".join(map(str, names)) if isinstance(names, list) and names else msg("grand total")
    if not measure:
        return msg(
            "The largest standard deviation of a cell is {n}, in {table}.", n=deviation, table=where
        )
    per = ", to be divided by the people of the cell" if measure.startswith("average") else ""
    return msg(
        "The largest standard deviation of the {measure} is {deviation}, in {where}{per}.",
        measure=measure,
        deviation=deviation,
        where=where,
        per=per,
    )


def _exact(case: Case) -> Answer:
    result = case.facts.release.manifest.result
    tables = [item for item in listed_tables(result) if isinstance(item, Mapping)]
    names = [
        str(item.get("table") or " × ".join(map(str, item["dimensions"])) or msg("grand total"))
        for item in tables
        if item.get("exact") is True
    ]
    cells = sum(
        len(item["cells"])
        for item in _exact_settings(case)
        if isinstance(item, Mapping) and isinstance(item.get("cells"), list)
    )
    graph = _is_graph(case)
    if graph:
        cells = sum(len(item.get("exact_cells", ())) for item in tables)
    if not names and not cells:
        text = "Every table has noise."
        return Answer(Status.NOT_APPLICABLE, text, Basis.MANIFEST)
    parts = [listed(names) if graph else named(names)] if names else []
    parts += (
        [
            (
                counted("{n:,} single degree", "{n:,} single degrees", n=cells)
                if graph
                else counted("{n:,} single cell", "{n:,} single cells", n=cells)
            )
        ]
        if cells
        else []
    )
    check = case.facts.claim("minimal change")
    stated = result.get("exact")
    size = stated.get("minimal_change") if isinstance(stated, Mapping) else None
    text = msg(
        "Published exactly, with no protection at all: {join}. All other noise is made to hide "
        "a minimal change of {size} {graph} alongside them",
        join=joined(parts, " and "),
        size=size,
        graph="edges" if graph else "rows",
    )
    confirmed = check is not None and check.status is CheckStatus.CONFIRMED
    text += ", which was computed again." if confirmed else "; that was not computed again."
    basis = Basis.FILES if confirmed else Basis.MANIFEST
    return Answer(Status.REVIEW, text, basis, _JUDGE_EDGES if graph else _JUDGE_ROWS)


def _is_graph(case: Case) -> bool:
    return case.facts.about.content is Content.GRAPH


def _exact_settings(case: Case) -> Iterable[object]:
    given = case.facts.release.manifest.parameters.get("exact")
    return given if isinstance(given, list) else ()


def _budget(case: Case) -> Answer:
    budget = case.facts.release.evidence.budget
    if budget is None:
        text = "The internal part names no debit from a budget."
        return Answer(Status.FAIL, text, Basis.EVIDENCE, "Make the release again.")
    population = budget.population
    known = msg("this file only, since the plan names no population")
    known = msg("“{name}”", name=population) if population else known
    text = msg(
        "{get} was debited from the budget of {known} before any noise existed.",
        get=budget.cost,
        known=known,
    )
    others = budget.elsewhere
    if others:
        text += msg(
            " Other ledgers of this computer hold debits on the same people or file that "
            "this one does not count: {others:,}.",
            others=len(others),
        )
    advice = (
        "Judge whether that, together with what was spent on these people before, is low enough."
    )
    return Answer(Status.REVIEW, text, Basis.EVIDENCE, advice)


def _forbidden(case: Case) -> Answer:
    if not case.policy.forbidden:
        text = "The policy forbids no column."
        return Answer(Status.NOT_APPLICABLE, text, Basis.POLICY)
    patterns = [(pattern, column_pattern(pattern)) for pattern in case.policy.forbidden]
    used = columns_of(case.facts.release.manifest.parameters)
    hits = [
        (name, pattern)
        for name in used
        for pattern, expression in patterns
        if expression.fullmatch(folded(name))
    ]
    if hits:
        text = msg(
            "The tables use {columns}, which the policy forbids (`{rule}`).",
            columns=named([hits[0][0]]),
            rule=hits[0][1],
        )
        return Answer(Status.FAIL, text, Basis.MANIFEST, "Leave the column out.")
    text = msg(
        "None of {used} in use is one that the policy forbids.",
        used=counted("{n:,} column", "{n:,} columns", n=len(used)),
    )
    return Answer(Status.PASS, text, Basis.MANIFEST)


def _parameters(case: Case) -> Mapping[str, object]:
    manifest = case.facts.release.manifest
    return {**manifest.parameters, **manifest.guarantee.parameters}


def _count(facts: Mapping[str, object], key: str) -> int:
    value = facts.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _rows_of_person(case: Case) -> Answer:
    rows = _parameters(case).get("rows_per_person")
    held = "one row" if rows == 1 else msg("at most {rows} rows", rows=rows)
    text = msg("It is assumed that every person has {held}; nothing enforced it.", held=held)
    advice = "Check it, or set `rows_per_person` to the largest number of rows of a person."
    return Answer(Status.REVIEW, text, Basis.PERSON, advice)


LOSS = Question("privacy-loss", "How much more certain can someone become about a person?", _loss)
BUDGET = Question("budget", "What was spent on these people?", _budget)
DRAWN_ITEMS = (
    LOSS,
    Question("unit", "Does no one have more rows than the draws cover?", _rows_of_person),
    BUDGET,
    Question("left-out", "Do the categories fit the values?", _moved_away),
)
"""Questions about values that rows draw by themselves from a budget, in reading order."""
PRIVATE_ITEMS = (
    LOSS,
    Question("unit", "Does no one have more rows than the noise covers?", _unit),
    Question("domain", "Were the categories fixed without the data?", _domain),
    Question("exact-tables", "May what is published without noise be public?", _exact),
    BUDGET,
    Question("left-out", "Are few enough rows left out?", _left_out),
    Question("error", "Are the tables accurate enough to be useful?", _error),
    Question("forbidden-columns", "Is every forbidden column left out?", _forbidden),
)
"""Questions about releases with noise, in reading order."""
