"""Trying settings of k-anonymity live: the nodes are counted once, each view only chooses."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.charts import (
    Axis,
    BarChart,
    BarSeries,
    Cell,
    Chart,
    ChartTable,
    SeriesStyle,
    table_from,
)
from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.jobs import CancelToken, Note, Report, silent
from dpdesk.core.messages import counted, joined, msg
from dpdesk.core.parameters import ParameterValue
from dpdesk.engine.hierarchies.editing import remakes
from dpdesk.engine.hierarchies.preview import AlignedTable
from dpdesk.engine.method import Detail, DetailPart, ExplorationView, MethodInput
from dpdesk.engine.methods.k_anonymity.assessment import Assessment, Judgement, assess
from dpdesk.engine.methods.k_anonymity.celled import (
    CellAssessment,
    CellTable,
    CellTables,
    judge_cells,
    quality,
)
from dpdesk.engine.methods.k_anonymity.charts import (
    NodeChoice,
    NodeCloud,
    node_chart,
    risk_chart,
    rows_text,
    share_text,
    steps_chart,
)
from dpdesk.engine.methods.k_anonymity.choosing import (
    Shortfall,
    choose,
    node_by_hand,
    requirements_not_met,
    table_too_small,
)
from dpdesk.engine.methods.k_anonymity.further_settings import released_roles
from dpdesk.engine.methods.k_anonymity.grouping import CountedTable, generalise
from dpdesk.engine.methods.k_anonymity.guarantee import k_guarantee, stated_besides
from dpdesk.engine.methods.k_anonymity.households import (
    household_figures,
    households_measured,
)
from dpdesk.engine.methods.k_anonymity.known_nodes import (
    KnownNodes,
    PooledNodes,
    Recent,
    Search,
    WalkedNodes,
    cloud_of,
)
from dpdesk.engine.methods.k_anonymity.lattice import Node
from dpdesk.engine.methods.k_anonymity.metrics import (
    bin_edges,
    evaluate_node,
    histogram,
    summarise_risk,
)
from dpdesk.engine.methods.k_anonymity.missing import counted_as
from dpdesk.engine.methods.k_anonymity.notes import (
    EVEN,
    REMOVED,
    hidden_at,
    levels_note,
    node_notes,
    notes_at,
    unchanged,
)
from dpdesk.engine.methods.k_anonymity.required import stated
from dpdesk.engine.methods.k_anonymity.requirements import Constraints
from dpdesk.engine.methods.k_anonymity.settings import (
    GENETIC,
    INCOGNITO,
    MONDRIAN,
    OPTIMAL,
    SAMARATI,
    Settings,
    check_settings,
    gives_cells,
)
from dpdesk.engine.methods.k_anonymity.statistics import EvaluatedNodes
from dpdesk.engine.telling import Telling, telling_chart

MOST_LINES = 1_000
EMPTY = "(empty)"
MOST_VALUES = 24
_RAW_SHOWN = 6
_SORTED = 20


def size_detail(counted: CountedTable, k: int, place: int, found: Assessment | None) -> Detail:
    """The classes whose size lies in one bar of the risk chart; ``place`` counts the bars.

    A part without classes is said in the sentence alone.

    Raises IndexError for a bar that the chart does not have.
    """
    table, edges = counted.table, bin_edges(k)
    label = histogram(np.empty(0, np.int64), edges)[place].label
    parts, said, filled = [], [], []
    labels = [hierarchy.leaves for hierarchy in table.hierarchies]
    inside = _in_bin(table.counts, edges, place)
    parts.append(
        _classes_part("Original", table.attributes, labels, table.codes, table.counts, inside)
    )
    filled.append(bool(inside.any()))
    said.append(_counted(table.counts[inside], "the original"))
    if found is not None:
        classes = found.classes
        sizes = classes.kept_sizes(k)
        kept = _in_bin(sizes, edges, place) & (sizes > 0)
        names = classes.labels
        parts.append(_classes_part("Release", table.attributes, names, classes.codes, sizes, kept))
        filled.append(bool(kept.any()))
        said.append(_counted(sizes[kept], "the release"))
    question = msg("Which rows are in classes of {label} rows?", label=label)
    if label == "1":
        question = "Which rows are in classes of 1 row?"
    return Detail(
        question,
        joined([joined(said, "; "), "."], ""),
        tuple(part for part, rows in zip(parts, filled, strict=True) if rows) or (parts[0],),
    )


def _in_bin(sizes: NDArray[np.int64], edges: Sequence[int], place: int) -> NDArray[np.bool_]:
    below = edges[place + 1] if place + 1 < len(edges) else np.iinfo(np.int64).max
    inside: NDArray[np.bool_] = (sizes >= edges[place]) & (sizes < below)
    return inside


def _counted(sizes: NDArray[np.int64], where: str) -> str:
    classes = counted("{n:,} class", "{n:,} classes", n=len(sizes))
    return msg(
        "{rows_text} of {where} in {classes}",
        rows_text=rows_text(int(sizes.sum())),
        where=where,
        classes=classes,
    )


def _classes_part(
    name: str,
    attributes: Sequence[str],
    labels: Sequence[Sequence[str]],
    codes: NDArray[np.int32],
    sizes: NDArray[np.int64],
    wanted: NDArray[np.bool_],
) -> DetailPart:
    """One line per class, the smallest first, at most MOST_LINES of them."""
    places = np.flatnonzero(wanted)
    # Of very many classes only the first ones by size are put in order: sorting all takes seconds.
    first = places[np.argsort(sizes[places], kind="stable")[: _SORTED * MOST_LINES]]
    shown = first[np.lexsort((*codes[first].T[::-1], sizes[first]))[:MOST_LINES]]
    lines: list[list[Cell]] = [
        [
            int(size),
            *(names[code] or EMPTY for names, code in zip(labels, row, strict=True)),
        ]
        for row, size in zip(codes[shown].tolist(), sizes[shown].tolist(), strict=True)
    ]
    note = ""
    if len(places) > len(shown):
        note = msg(
            "The first {shown:,} of {all:,} classes, the smallest first.",
            shown=len(shown),
            all=len(places),
        )
    return DetailPart(name, table_from(["Rows", *attributes], lines), note)


def attribute_detail(data: CountedTable, found: Assessment, place: int) -> Detail:
    """The values of one attribute before and after, side by side, and what they stand for."""
    utility = found.attributes[place]
    hierarchy, level = data.table.hierarchies[place], utility.level
    ancestors, names = hierarchy.ancestors(level), hierarchy.labels[level]
    kept = data.leaf_rows_of(found.classes.kept_rows(found.statistics.k))[place]
    before, after = (
        np.bincount(ancestors, weights=rows, minlength=len(names)).astype(np.float64)
        for rows in (data.leaf_rows[place], kept)
    )
    sentence = counted(
        "{attribute} is released at level {level} of {height}: {n:,} value for "
        "{leaves:,} original ones; {loss} of its detail is lost, and anyone who "
        "rebuilds its distribution is {distance} off.",
        "{attribute} is released at level {level} of {height}: {n:,} values for "
        "{leaves:,} original ones; {loss} of its detail is lost, and anyone who "
        "rebuilds its distribution is {distance} off.",
        n=len(names),
        attribute=utility.attribute,
        level=level,
        height=utility.height,
        leaves=len(hierarchy.leaves),
        loss=share_text(utility.loss),
        distance=share_text(utility.distance),
    )
    return Detail(
        msg("What became of {attribute}?", attribute=utility.attribute),
        sentence,
        (
            DetailPart("Distribution", _distribution(utility.attribute, names, before, after)),
            DetailPart("Values", _values(names, hierarchy.leaves, ancestors, before, after)),
        ),
    )


def _distribution(
    attribute: str,
    names: Sequence[str],
    before: NDArray[np.float64],
    after: NDArray[np.float64],
) -> BarChart:
    """Shares before and after; beyond the most frequent values the rest is one bar."""
    shown = np.arange(len(names))
    if len(names) > MOST_VALUES:
        most = np.argsort(-before, kind="stable")[: MOST_VALUES - 1]
        shown = np.sort(most)
    rest = np.setdiff1d(np.arange(len(names)), shown)
    categories = [names[place] or EMPTY for place in shown.tolist()]
    pairs = [_shares(rows, shown, rest) for rows in (before, after)]
    if len(rest):
        categories.append(msg("{rest:,} other values", rest=len(rest)))
    moved = max(abs(one - other) for one, other in zip(*pairs, strict=True))
    return BarChart(
        id="distribution",
        question=msg("How are the values of {attribute} distributed?", attribute=attribute),
        answer=msg("At this level no share moves by more than {share}.", share=share_text(moved)),
        category_axis=Axis("Released value"),
        value_axis=Axis("Rows", "% of the rows of each table", percent=True, minimum=0.0),
        categories=tuple(categories),
        series=(
            BarSeries("Original", pairs[0], SeriesStyle.REFERENCE, outline=True),
            BarSeries("Release", pairs[1], SeriesStyle.FIRST),
        ),
        table=table_from(
            ["Released value", "Original (%)", "Release (%)"],
            [
                [name, round(100 * one, 2), round(100 * other, 2)]
                for name, one, other in zip(categories, *pairs, strict=True)
            ],
        ),
        horizontal=True,
    )


def _shares(
    rows: NDArray[np.float64], shown: NDArray[np.int64], rest: NDArray[np.int64]
) -> tuple[float, ...]:
    total = float(rows.sum()) or 1.0
    shares = [float(rows[place]) / total for place in shown.tolist()]
    return (*shares, float(rows[rest].sum()) / total) if len(rest) else tuple(shares)


def _values(
    names: Sequence[str],
    leaves: Sequence[str],
    ancestors: NDArray[np.int32],
    before: NDArray[np.float64],
    after: NDArray[np.float64],
) -> ChartTable:
    """What each released value stands for, with its rows before and after."""
    order = np.argsort(ancestors, kind="stable")
    ends = np.searchsorted(ancestors[order], np.arange(len(names) + 1))
    lines: list[list[Cell]] = []
    for place in range(min(len(names), MOST_LINES)):
        covered = order[ends[place] : ends[place + 1]]
        raw = [leaves[leaf] or EMPTY for leaf in covered[:_RAW_SHOWN].tolist()]
        more = ", …" if len(covered) > _RAW_SHOWN else ""
        lines.append(
            [
                names[place],
                int(before[place]),
                int(after[place]),
                len(covered),
                f"{', '.join(raw)}{more}",
            ]
        )
    heads = ["Released value", "Rows before", "Rows after", "Original values", "Which"]
    return table_from(heads, lines)


def suppressed_detail(counted: CountedTable, found: Assessment, place: int) -> Detail:
    """The rows with one original value that are suppressed; ``place`` counts the groups."""
    table, group = counted.table, found.groups[place]
    column = table.attributes.index(group.attribute)
    leaf = table.hierarchies[column].leaf_codes[group.value]
    lost = table.counts - found.classes.kept_rows(found.statistics.k)
    gone = (lost > 0) & (table.codes[:, column] == leaf)
    labels = [hierarchy.leaves for hierarchy in table.hierarchies]
    part = _classes_part("Suppressed", table.attributes, labels, table.codes, lost, gone)
    shown = f"{group.attribute} = {group.value or '(empty)'}"
    return Detail(
        msg("Which rows with {shown} are suppressed?", shown=shown),
        msg(
            "{suppressed:,} of {rows} ({share}).",
            suppressed=group.suppressed,
            rows=rows_text(group.rows),
            share=share_text(group.share),
        ),
        (part,),
    )


_KEPT_VIEWS, _FEW_VIEWS = 64, 4
_Judged = tuple[CellTable, CellAssessment, Mapping[str, int]]
"""A release of cells, with the columns whose released values are the original ones, at level 0."""


def _not_found(settings: Settings) -> tuple[Node | None, bool]:
    return None, False


class KAnonymityExploration:
    """An :class:`~dpdesk.engine.method.Exploration` of k-anonymity: see there."""

    def __init__(
        self,
        table: AlignedTable,
        nodes: KnownNodes,
        given: MethodInput,
        cells: CellTables,
        told: Sequence[Telling] = (),
        search: Search = _not_found,
        notes: tuple[Note, ...] = (),
    ) -> None:
        """``notes`` are those of every release with a level for each column."""
        self._notes = notes
        self._table = replace(table, decimal=given.decimal)
        self._search = search
        self._searched: Recent[Hashable, tuple[Node | None, bool]] = Recent(_KEPT_VIEWS)
        self._told = tuple(told)
        self._counted = CountedTable(table, nodes.problem.constraints)
        self._nodes = nodes
        self._roles = dict(given.roles)
        self._linkages = dict(given.linkages)
        self._remakes = remakes(given.made)
        self._source = given.source.name
        self._where = given.where
        self._hierarchies, self._decimal = given.hierarchies, given.decimal
        self._pool: PooledNodes | None = None
        self._pool_lock = Lock()
        self._clouds: Recent[tuple[int, int, int], NodeCloud] = Recent(_KEPT_VIEWS)
        self._cells: Recent[str, _Judged] = Recent(_FEW_VIEWS)
        self._cell_tables = cells
        self._assessments: Recent[tuple[Node, int], Assessment] = Recent(_KEPT_VIEWS)

    def view(self, parameters: Mapping[str, ParameterValue]) -> ExplorationView:
        """Charts, figures and guarantee of the node that these parameters choose.

        Everything is counted for exactly these parameters, nothing is interpolated. Raises
        InputError for levels by hand that the hierarchies do not have.
        """
        return self.view_until(parameters, CancelToken(), silent)

    def takes_long(self, parameters: Mapping[str, object]) -> bool:
        """See :class:`~dpdesk.engine.method.MostlyQuickExploration`: where rows have own cells."""
        given = parameters.get
        return gives_cells(
            given("model") or "AG_TS",
            given("algorithm"),
            local=given("local") is True,
            by_hand=bool(given("levels")),
        )

    def view_until(
        self, parameters: Mapping[str, ParameterValue], token: CancelToken, report: Report
    ) -> ExplorationView:
        """See :meth:`~dpdesk.engine.method.PatientExploration.view_until`."""
        settings = Settings.from_parameters(parameters)
        too_small = table_too_small(settings, self._table.rows, self._source)
        if too_small is not None:
            return self._without_nodes(settings, too_small.sentence)
        if settings.celled:
            return self._celled(settings, token)
        known, nodes, choice = self._chosen(settings)
        found = self._found(settings, nodes, choice)
        if found is None:
            return self._infeasible(settings, known, nodes, choice)
        view = self._feasible(settings, known, nodes, choice, found)
        if settings.levels is None and any(note.code == REMOVED for note in view.notes):
            return self._with_groups(view, parameters)
        return view

    def _with_groups(
        self, view: ExplorationView, parameters: Mapping[str, ParameterValue]
    ) -> ExplorationView:
        """Offer groups of rows, which seldom wipe a column, where a plan may ask for them."""
        tried = {**parameters, "algorithm": MONDRIAN}
        try:
            check_settings(tuple(self._roles), self._roles, tried, self._where)
        except InputError:
            return view
        unasked = ("objective", "prefer", "max_suppression")
        remedy = {"algorithm": MONDRIAN, **dict.fromkeys(unasked)}
        label = msg("Try groups of rows instead")
        return replace(view, remedy=remedy, remedy_label=label)

    def detail(
        self, parameters: Mapping[str, ParameterValue], chart: str, place: int
    ) -> Detail | None:
        """See :class:`~dpdesk.engine.method.DetailedExploration`."""
        settings = Settings.from_parameters(parameters)
        found: Assessment | None = None
        if settings.celled:
            return None
        if table_too_small(settings, self._table.rows, self._source) is None:
            _, nodes, choice = self._chosen(settings)
            found = self._found(settings, nodes, choice)
        try:
            if chart == "risk":
                return size_detail(self._counted, settings.k, place, found)
            if chart == "loss" and found is not None:
                return attribute_detail(self._counted, found, place)
            if chart == "suppression" and found is not None:
                return suppressed_detail(self._counted, found, place)
        except IndexError:
            return None
        return None

    def _chosen(self, settings: Settings) -> tuple[KnownNodes, EvaluatedNodes, NodeChoice]:
        """The nodes that are known at k, and which of them the settings choose."""
        levels = node_by_hand(
            settings, self._table.attributes, self._table.hierarchies, self._where
        )
        known = self._known(settings.k)
        asked = levels is None and self._searches(settings)
        proven = False
        if asked:
            key = settings.k, settings.max_suppression, settings.algorithm, settings.objective
            levels, proven = self._searched.get(
                (*key, settings.prefer), lambda: self._search(settings)
            )
        by_hand = None if levels is None else known.place(levels)
        nodes = known.at(settings.k)
        allowed = settings.allowed(self._table.rows)
        feasible = nodes.feasible(settings.k, allowed)
        chosen = by_hand
        if by_hand is None and not asked:
            chosen = choose(nodes, settings, allowed)
        searched = by_hand is None and settings.algorithm == OPTIMAL
        optimal = searched and known.proves(settings.objective, settings.k, allowed)
        optimal = optimal or (proven and settings.algorithm == OPTIMAL)
        choice = NodeChoice(
            feasible, float(settings.max_suppression), chosen, optimal, settings.objective
        )
        return known, nodes, choice

    def _found(
        self, settings: Settings, nodes: EvaluatedNodes, choice: NodeChoice
    ) -> Assessment | None:
        """What the chosen node would give; None when there is none that is feasible."""
        if choice.chosen is None or not choice.feasible[choice.chosen]:
            return None
        levels = tuple(int(level) for level in nodes.levels[choice.chosen])
        return self._assessments.get(
            (levels, settings.k),
            lambda: assess(
                self._counted_by(nodes.problem.constraints),
                evaluate_node(nodes.problem, levels, settings.k),
                self._remakes,
            ),
        )

    def _counted_by(self, asked: Constraints | None) -> CountedTable:
        same = asked is self._counted.constraints
        return self._counted if same else replace(self._counted, constraints=asked)

    def _searches(self, settings: Settings) -> bool:
        """Whether a search of its own finds the levels, where no node is chosen by hand."""
        constrained = self._counted.constraints is not None
        return constrained or settings.algorithm in (INCOGNITO, GENETIC)

    def pick(self, point: int) -> Mapping[str, object]:
        """The levels of a node of the scatter; InputError for an id that no point has."""
        nodes: KnownNodes = self._nodes
        if isinstance(nodes, WalkedNodes) and point >= nodes.problem.node_count:
            nodes = self._good_nodes(nodes)
        try:
            levels = nodes.levels(point - nodes.first_id)
        except IndexError as error:
            raise InputError(
                "exploration.no-point",
                msg("There is no point with the number {point}.", point=point),
            ) from error
        return {"levels": dict(zip(self._table.attributes, levels, strict=True))}

    def _feasible(
        self,
        settings: Settings,
        known: KnownNodes,
        nodes: EvaluatedNodes,
        choice: NodeChoice,
        found: Assessment,
    ) -> ExplorationView:
        levels = found.classes.levels
        node = dict(zip(self._table.attributes, levels, strict=True))
        counted = found.statistics
        fewest, semantics = counted_as(found.classes, settings.k)
        risk, *others = found.charts()
        houses = households_measured(nodes.problem.constraints, found.classes, settings.k)
        searched = settings.algorithm in (SAMARATI, INCOGNITO) and self._searches(settings)
        sure = known.whole or choice.optimal or searched
        return ExplorationView(
            feasible=True,
            sentence=_feasible_sentence(found, settings, sure=sure),
            charts=(
                *(risk, *self._node_charts(settings.k, known, nodes, choice), *others),
                *telling_chart(hidden_at(self._told, node), EVEN),
            ),
            figures=(*found.figures(), *household_figures(houses)),
            guarantee=k_guarantee(
                *(settings.k, fewest, counted.suppressed),
                released_roles(self._roles, settings.handling),
                self._linkages,
                stated(settings.required, self._hierarchies, self._decimal),
                semantics | stated_besides(settings),
            ),
            notes=(
                *node_notes(self._table.attributes, self._table.hierarchies, levels),
                *levels_note(found.released.telling),
                *self._notes,
                *notes_at(self._told, node),
            ),
        )

    def _celled(self, settings: Settings, token: CancelToken) -> ExplorationView:
        """The view of a release whose tuples have values of their own."""
        try:
            judged = self._cells.get(str(settings), lambda: self._judged(settings, token))
        except RefusedError as error:
            chart = risk_chart(summarise_risk(self._table.counts, settings.k))
            return ExplorationView(False, error.sentence, (chart,), ())
        at, found, untouched = judged
        counted = found.statistics
        return ExplorationView(
            feasible=True,
            sentence=joined([_kept_sentence(found), quality(found)]),
            charts=(*found.charts(), *telling_chart(hidden_at(self._told, untouched), EVEN)),
            figures=found.figures(),
            guarantee=k_guarantee(
                *(settings.k, counted.smallest, counted.suppressed, self._roles, self._linkages),
                stated(settings.required, self._hierarchies, self._decimal),
                stated_besides(settings),
            ),
            notes=(*at.notes, *notes_at(self._told, untouched)),
        )

    def _judged(self, settings: Settings, token: CancelToken) -> _Judged:
        at = self._cell_tables.wanted(settings)
        found = judge_cells(at.table, settings, self._remakes, token, at.asked)
        return at, found, unchanged(found.release.recoding(at.counted, ()))

    def _infeasible(
        self, settings: Settings, known: KnownNodes, nodes: EvaluatedNodes, choice: NodeChoice
    ) -> ExplorationView:
        if self._counted.constraints is not None:
            return self._without_nodes(
                settings, requirements_not_met(settings, self._table.rows).sentence
            )
        place = nodes.least_suppressed(settings.k) if choice.chosen is None else choice.chosen
        levels = tuple(int(level) for level in nodes.levels[place])
        sizes = generalise(self._counted, levels).sizes
        short = Shortfall.of(settings, self._table.attributes, levels, sizes)
        return ExplorationView(
            feasible=False,
            sentence=short.sentence,
            charts=(
                risk_chart(summarise_risk(self._table.counts, settings.k)),
                *self._node_charts(settings.k, known, nodes, choice),
            ),
            figures=(),
            remedy=short.remedy,
            remedy_label=short.remedy_label,
        )

    def _without_nodes(self, settings: Settings, sentence: str) -> ExplorationView:
        rows = self._table.rows
        possible = rows >= 2 and self._counted.constraints is None
        return ExplorationView(
            feasible=False,
            sentence=sentence,
            charts=(risk_chart(summarise_risk(self._table.counts, settings.k)),),
            figures=(),
            remedy={"k": rows} if possible else None,
            remedy_label=msg("Set k to {k:,}", k=rows) if possible else "",
        )

    def _known(self, k: int) -> KnownNodes:
        """All nodes, or the good ones of a large lattice at a k that was not walked."""
        if isinstance(self._nodes, WalkedNodes) and not self._nodes.covers(k):
            return self._good_nodes(self._nodes)
        return self._nodes

    def _good_nodes(self, walked: WalkedNodes) -> PooledNodes:
        """The one pool beside a walk; its ids follow those of the lattice."""
        with self._pool_lock:
            if self._pool is None:
                problem = walked.problem
                self._pool = PooledNodes(problem, walked.best_nodes(), problem.node_count)
            return self._pool

    def _node_charts(
        self, k: int, known: KnownNodes, nodes: EvaluatedNodes, choice: NodeChoice
    ) -> tuple[Chart, ...]:
        cloud = self._clouds.get(
            (k, known.first_id, nodes.node_count),
            lambda: cloud_of(nodes, k, whole=known.whole, first_id=known.first_id),
        )
        steps = steps_chart(self._nodes.problem, cloud, choice)
        scatter = node_chart(cloud, choice)
        return (scatter,) if steps is None else (scatter, steps)


def _kept_sentence(found: Judgement) -> str:
    known = found.statistics
    return msg(
        "{rows} of {all:,} ({share}) are kept in {classes:,} classes of at least "
        "{smallest:,} rows; {loss} of the detail is lost.",
        rows=rows_text(known.kept),
        all=known.rows,
        share=share_text(known.kept / known.rows),
        classes=known.classes,
        smallest=known.smallest,
        loss=share_text(found.loss),
    )


def _feasible_sentence(found: Assessment, settings: Settings, *, sure: bool) -> str:
    text = _kept_sentence(found)
    if settings.levels is not None:
        return msg("{text} The levels were chosen by hand.", text=text)
    if not sure:
        return msg(
            "{text} Other levels may be better: there are too many to check them all.", text=text
        )
    return text
