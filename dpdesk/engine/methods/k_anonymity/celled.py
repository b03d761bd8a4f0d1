"""Decide a release whose tuples have cells of their own, and say how good it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from dpdesk.core.errors import RefusedError
from dpdesk.core.frequency import FrequencyTable
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken, Note, Report, StepStarted, silent
from dpdesk.core.messages import listed, msg
from dpdesk.core.schema import Role
from dpdesk.engine.hierarchies.editing import Remake, remakes
from dpdesk.engine.hierarchies.preview import ROOT, AlignedTable, align
from dpdesk.engine.method import LaterCharts, MethodInput, Outcome
from dpdesk.engine.methods.k_anonymity.anytime import search_large
from dpdesk.engine.methods.k_anonymity.assessment import Judgement
from dpdesk.engine.methods.k_anonymity.bounded import bounded_search
from dpdesk.engine.methods.k_anonymity.cells import CellRelease, node_cells, part_cells
from dpdesk.engine.methods.k_anonymity.choosing import (
    Shortfall,
    never_met,
    node_by_hand,
    requirements_not_met,
)
from dpdesk.engine.methods.k_anonymity.globally import SEARCH, KOptimize, top_down
from dpdesk.engine.methods.k_anonymity.grouping import CountedTable, generalise
from dpdesk.engine.methods.k_anonymity.guarantee import k_guarantee, stated_besides
from dpdesk.engine.methods.k_anonymity.lattice import LatticeProblem, Node
from dpdesk.engine.methods.k_anonymity.matched_cells import MatchedCells
from dpdesk.engine.methods.k_anonymity.metrics import (
    AttributeUtility,
    GroupSuppression,
    RiskSummary,
    summarise_risk,
)
from dpdesk.engine.methods.k_anonymity.mondrian import (
    Array,
    Parts,
    in_groups,
    matched_mondrian,
    mondrian,
)
from dpdesk.engine.methods.k_anonymity.population import (
    PopulationRows,
    people_of,
    recorded,
)
from dpdesk.engine.methods.k_anonymity.preferred import (
    CellLimits,
    at_least_levels,
    check_ranges,
    kept_apart,
    preferred,
)
from dpdesk.engine.methods.k_anonymity.required import Requirement, stated
from dpdesk.engine.methods.k_anonymity.required_cuts import required_mondrian
from dpdesk.engine.methods.k_anonymity.requirements import Constraints, constrained_table
from dpdesk.engine.methods.k_anonymity.samarati import samarati
from dpdesk.engine.methods.k_anonymity.scales import Scale, scale_of
from dpdesk.engine.methods.k_anonymity.search import optimal_search, walk_work, worth_walking
from dpdesk.engine.methods.k_anonymity.settings import (
    CELL_LIMITS,
    K_OPTIMIZE,
    OPTIMAL,
    TOP_DOWN,
    Settings,
    bounds_of,
    weights_of,
)

DESCRIBE = "Check the classes and describe the release"
STARRED = ("CS", "AS")
"""Models whose cells show their value or ``*``."""
PROVEN, HEURISTIC = "proven optimal", "heuristic"


@dataclass(frozen=True)
class Found:
    """A release and how good it is: proven optimal, optimal up to a share, or heuristic."""

    release: CellRelease
    optimality: str = HEURISTIC
    internal: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class CellCounts:
    """What was counted of a release without one node."""

    rows: int
    suppressed: int
    classes: int
    smallest: int

    @property
    def kept(self) -> int:
        """Rows that stay."""
        return self.rows - self.suppressed


@dataclass(frozen=True, eq=False)
class CellAssessment(Judgement):
    """What a release without one node would be."""

    k: int
    found: Found = field(repr=False)
    remakes: Mapping[str, Remake] = field(repr=False)

    @property
    def release(self) -> CellRelease:
        """Entries and cells."""
        return self.found.release

    @cached_property
    def statistics(self) -> CellCounts:  # type: ignore[override]
        """Rows and classes."""
        sizes = self.release.sizes
        smallest = int(sizes.min()) if len(sizes) else 0
        rows = self.release.table.rows
        return CellCounts(rows, self.release.suppressed, len(sizes), smallest)

    @cached_property
    def before(self) -> RiskSummary:  # type: ignore[override]
        """Risk of the source."""
        table = self.release.table  # tuples may look alike
        raw = generalise(CountedTable(table), (0,) * len(table.attributes))
        return summarise_risk(raw.sizes, self.k)

    @cached_property
    def after(self) -> RiskSummary:  # type: ignore[override]
        """Risk of the release."""
        return summarise_risk(self.release.sizes, self.k)

    @cached_property
    def attributes(self) -> tuple[AttributeUtility, ...]:  # type: ignore[override]
        """What each attribute lost."""
        return self.release.utilities()

    @cached_property
    def groups(self) -> tuple[GroupSuppression, ...]:  # type: ignore[override]
        """Whom suppression hit most."""
        return self.release.groups()

    @cached_property
    def metrics(self) -> Mapping[str, int | float | None]:
        """See :attr:`Judgement.metrics`."""
        sizes, known = self.release.sizes, self.statistics
        loss, precision = self.release.told(self.remakes)
        average = known.kept / known.classes / self.k if known.classes else None
        return {
            "discernibility": int((sizes * sizes).sum()) + known.suppressed * known.rows,
            "average_class_size": average,
            "loss": float(loss),
            "precision": float(precision),
            "entropy": self.release.entropy(),
        }


@dataclass(frozen=True, eq=False)
class CellTables:
    """The tables on which cells are decided, whatever the model and the search.

    By whether rows that differ in a sensitive value alone stand apart: the table in codes of the
    source, in those of the hierarchies, and what is required of sensitive columns.
    """

    given: MethodInput = field(repr=False)
    tables: Mapping[bool, tuple[FrequencyTable, AlignedTable, Constraints | None]] = field(
        repr=False
    )

    @classmethod
    def of(
        cls,
        given: MethodInput,
        required: Sequence[Requirement],
        apart: Sequence[bool],
        token: CancelToken,
    ) -> CellTables:
        """Those that ``apart`` asks for. Raises InputError as :func:`decide_cells`, Cancelled."""
        found: dict[bool, tuple[FrequencyTable, AlignedTable, Constraints | None]] = {}
        for each in apart:
            if required:
                counted, table, asked = constrained_table(given, required, token, apart=each)
            else:
                counted = given.source.frequency_table(
                    given.with_role(Role.QUASI_IDENTIFIER), token
                )
                table, asked = align(counted, given.hierarchies, given.source.name), None
            token.check()
            found[each] = counted, replace(table, decimal=given.decimal), asked
        return cls(given, found)

    def wanted(self, settings: Settings) -> CellTable:
        """The table of some settings, with what their population asks. Raises InputError."""
        apart = settings.divides if len(self.tables) > 1 else next(iter(self.tables))
        counted, table, asked = self.tables[apart]
        if not settings.k_map or self.given.population is None:
            return CellTable(counted, table, asked)
        people, absent = people_of(self.given, table, (settings.k_map, None))
        return CellTable(counted, table, with_population(asked, people, settings), absent)


def with_population(
    asked: Constraints | None, people: PopulationRows, settings: Settings
) -> Constraints:
    """What is ``asked``, and that cells match the rows of a population, as the model shows them."""
    shaped = _shaped(people.table, settings)
    seen = people.starred(shaped) if settings.model in STARRED else people
    matched = MatchedCells.of(seen, _scales(shaped))
    return replace(asked or Constraints((), {}), population=seen, matched=matched)


@dataclass(frozen=True, eq=False)
class CellTable:
    """A table in codes of the source and of the hierarchies, and what is asked of its classes.

    ``notes`` are those on rows that the population lacks.
    """

    counted: FrequencyTable = field(repr=False)
    table: AlignedTable = field(repr=False)
    asked: Constraints | None = field(repr=False)
    notes: tuple[Note, ...] = ()


def decide_cells(
    given: MethodInput, settings: Settings, steps: int, token: CancelToken, report: Report
) -> Outcome:
    """Decide the release; the first step, counting, has been announced.

    Raises InputError for a value without a leaf, RefusedError ``k-anonymity.self-check`` where a
    class has fewer than k rows after all, Cancelled.
    """
    at = CellTables.of(given, settings.required, [settings.divides], token).wanted(settings)
    token.check()
    report(StepStarted(SEARCH, 2, steps))
    judged = judge_cells(at.table, settings, remakes(given.made), token, at.asked, report)
    token.check()
    report(StepStarted(DESCRIBE, 3, steps))
    return replace(_outcome(given, at.counted, settings, judged), notes=at.notes)


def judge_cells(
    table: AlignedTable,
    settings: Settings,
    remade: Mapping[str, Remake],
    token: CancelToken,
    asked: Constraints | None = None,
    report: Report = silent,
) -> CellAssessment:
    """The release that the settings choose; ``asked`` is what they require of sensitive columns.

    Raises as :func:`decide_cells`.
    """
    if settings.local:
        found = _local(table, settings, token, asked)
    elif settings.model == "AS":
        found = _columns(_shaped(table, settings), settings, token, asked)
    elif settings.model in ("AG_CS", "CG", "CS"):
        found = _cell_model(table, settings, token, asked)
    elif settings.algorithm == TOP_DOWN:
        found = _top_down(table, settings, token, asked)
    elif settings.algorithm == K_OPTIMIZE:
        found = _k_optimize(table, settings, token, asked, report)
    else:
        found = _mondrian(table, settings, token, asked)
    token.check()
    _check_rows(found.release, settings.k, asked)
    return CellAssessment(settings.k, found, remade)


def quality(judged: CellAssessment) -> str:
    """How good a release is, in a sentence."""
    if judged.found.optimality == PROVEN:
        return "No other release of this kind is better: that is proven."
    if judged.found.optimality == HEURISTIC:
        return "It was found by a heuristic: other classes may lose less."
    return msg("It is {optimality}.", optimality=judged.found.optimality)


def _mondrian(
    table: AlignedTable, settings: Settings, token: CancelToken, asked: Constraints | None
) -> Found:
    ranges = settings.values == "ranges"
    scales = preferred(_scales(table, by_size=ranges), table, settings)
    if ranges:
        check_ranges(scales)
    codes = at_least_levels(scales, table.codes) if ranges else table.codes

    def cut(some: Array) -> Parts | None:
        place, how = (scales, codes[some], table.counts[some], settings.k), settings.strict
        if asked is None:
            return mondrian(*place, token, strict=how, along=not ranges)
        if asked.matched is not None and not asked.required:
            return matched_mondrian(*place, asked.matched, token, along=not ranges)
        own = asked if len(some) == len(table.counts) else asked.within(some)
        return required_mondrian(*place, own, token, strict=how, along=not ranges)

    groups = kept_apart(scales, table.codes)
    if int(np.bincount(groups, table.counts).min()) < settings.k:
        raise _no_classes(settings)
    found = in_groups(groups, cut)
    if found is None:
        raise _no_classes(settings) if settings.most or settings.k_map else never_met(settings)
    parts = found
    cells = tuple(
        part_cells(scale, parts, column, ranges=ranges) for column, scale in enumerate(scales)
    )
    kept = np.ones(len(parts.rows), np.bool_)
    return Found(CellRelease(table, cells, parts.tuples, parts.rows, kept))


def _cell_model(
    table: AlignedTable, settings: Settings, token: CancelToken, asked: Constraints | None
) -> Found:
    """AG_CS, CG and CS: the best classes that are found, and a bound for all others."""
    from dpdesk.engine.methods.k_anonymity.clustering import best_at_levels, best_classes

    whole = np.zeros(len(table.counts), np.int64)
    if asked is not None and not asked.passing(whole, np.ones(1, np.bool_)).all():
        raise never_met(settings)
    table = _shaped(table, settings)
    scales, limits = preferred(_scales(table), table, settings), CellLimits.of(table, settings)
    place, levels = (table.codes, table.counts, settings.k, token, asked, limits), None
    if settings.model == "AG_CS":
        chosen = best_at_levels(scales, *place)
        if chosen is None:
            raise _no_classes(settings)
        scales, found, levels = chosen
    else:
        best = best_classes(scales, *place)
        if best is None:
            raise _no_classes(settings)
        found = best
    cells = tuple(
        part_cells(scale, found.parts, column, ranges=False) for column, scale in enumerate(scales)
    )
    kept = np.ones(len(found.parts.rows), np.bool_)
    release = CellRelease(table, cells, found.parts.tuples, found.parts.rows, kept)
    internal: dict[str, object] = {"least_loss": found.least, "loss_of_cells": found.cost}
    if levels is not None:
        internal["levels_of_columns"] = dict(zip(table.attributes, levels, strict=True))
    if found.factor:
        internal["proven_factor"] = found.factor
    if settings.model == "CG" and (covers := release.covers()):
        internal["covers"] = covers
    return Found(release, found.optimality, internal)


def _shaped(table: AlignedTable, settings: Settings) -> AlignedTable:
    """The table with the hierarchies that cells of a model show."""
    if settings.model in STARRED:
        return starred(table)
    return _topped(table) if settings.model == "AG_CS" else table


def starred(table: AlignedTable) -> AlignedTable:
    """The table with hierarchies of nothing but each value and ``*``."""
    plain = tuple(
        Hierarchy.from_rows(hierarchy.attribute, [(leaf, ROOT) for leaf in hierarchy.leaves])
        for hierarchy in table.hierarchies
    )
    return replace(table, hierarchies=plain)


def _topped(table: AlignedTable) -> AlignedTable:
    """The table with hierarchies whose top is ``*``, as suppressed cells show it."""
    trees = tuple(
        Hierarchy.from_rows(tree.attribute, [(*row[:-1], ROOT) for row in tree.rows()])
        if tree.height and tree.labels[-1][0] != ROOT
        else tree
        for tree in table.hierarchies
    )
    return replace(table, hierarchies=trees)


def _columns(
    table: AlignedTable, settings: Settings, token: CancelToken, asked: Constraints | None
) -> Found:
    """AS: whole columns are released as they are, or show ``*``."""
    node, proven = node_of(table, settings, token, asked)
    cells = tuple(
        node_cells(scale, scale.offsets[level] + scale.hierarchy.ancestors(level)[column])
        for scale, level, column in zip(_scales(table), node, table.codes.T, strict=True)
    )
    tuples, kept = np.arange(len(table.counts)), np.ones(len(table.counts), np.bool_)
    hidden = [name for name, level in zip(table.attributes, node, strict=True) if level]
    release = CellRelease(table, cells, tuples, table.counts, kept)
    return Found(release, PROVEN if proven else HEURISTIC, {"suppressed_columns": hidden})


def _top_down(
    table: AlignedTable, settings: Settings, token: CancelToken, asked: Constraints | None
) -> Found:
    scales = preferred(_scales(table), table, settings)
    nodes = top_down(scales, table.codes, table.counts, settings.k, token, asked)
    if nodes is None:
        raise _no_classes(settings) if settings.most or settings.k_map else never_met(settings)
    cells = tuple(node_cells(scale, nodes[:, place]) for place, scale in enumerate(scales))
    tuples, kept = np.arange(len(table.counts)), np.ones(len(table.counts), np.bool_)
    return Found(CellRelease(table, cells, tuples, table.counts, kept))


def _k_optimize(
    table: AlignedTable,
    settings: Settings,
    token: CancelToken,
    asked: Constraints | None,
    report: Report,
) -> Found:
    """Cuts of ordered values; classes that fail k or what is asked are suppressed, to a limit."""
    ranges = settings.values == "ranges"
    scales = preferred(_scales(table), table, settings)
    shown = preferred(_scales(table, by_size=ranges), table, settings)
    if ranges:
        check_ranges(shown)
    place = _places(scales, table), table.counts, settings.k, settings.allowed(table.rows)
    found = KOptimize(*place, asked, scales).search(token, report=report)
    if found is None and settings.most:
        raise _no_classes(settings)
    if found is None:
        levels = tuple(hierarchy.height for hierarchy in table.hierarchies)
        raise _not_reached(table, settings, levels, asked)
    order = np.argsort(found.classes, kind="stable")
    starts = np.flatnonzero(np.diff(found.classes[order], prepend=-1, append=-1))
    places = _places(shown, table)[order].astype(np.int32)
    parts = Parts(order, table.counts[order], places, starts)
    cells = tuple(part_cells(s, parts, column, ranges=ranges) for column, s in enumerate(shown))
    release = CellRelease(table, cells, parts.tuples, parts.rows, found.kept[order])
    internal = {"least_discernibility": found.least, "tuples_visited": found.visited}
    # Intervals whose labels are the same come out as one class: what is released is judged.
    cost = int((release.sizes * release.sizes).sum()) + release.suppressed * table.rows
    return Found(release, replace(found, cost=cost).optimality, internal)


def _places(scales: Sequence[Scale], table: AlignedTable) -> Array:
    return np.stack([s.places[table.codes[:, j]] for j, s in enumerate(scales)], axis=1)


def _scales(table: AlignedTable, *, by_size: bool = False) -> tuple[Scale, ...]:
    return tuple(
        scale_of(hierarchy, table.missing[place], table.decimal, by_size=by_size)
        for place, hierarchy in enumerate(table.hierarchies)
    )


def _local(
    table: AlignedTable, settings: Settings, token: CancelToken, asked: Constraints | None
) -> Found:
    """The levels of all rows first, then of those that they suppress, by themselves, and again.

    Classes of later rounds are measured against the rows of the whole table; then all classes
    against the rows that would be kept, and those that fail leave, until none does. A round counts
    where it leaves fewer rows suppressed, so there are never more than the first one may suppress.
    """
    scales, size = _scales(table), len(table.counts)
    nodes, kept = np.zeros(table.codes.shape, np.int64), np.zeros(size, np.bool_)
    levels: list[list[int]] = []
    while int(table.counts[~kept].sum()) >= settings.k:
        waiting = np.flatnonzero(~kept)
        part = replace(table, codes=table.codes[waiting], counts=table.counts[waiting])
        own = None
        if asked is not None:
            own = asked.within(waiting) if levels else asked
        try:
            node, _ = node_of(part, settings, token, own)
        except RefusedError:
            if not levels:
                raise
            break
        taken = waiting[generalise(CountedTable(part, own), node).kept_tuples(settings.k)]
        tried, some = nodes.copy(), kept.copy()
        for place, (scale, level) in enumerate(zip(scales, node, strict=True)):
            above = scale.hierarchy.ancestors(level)[table.codes[taken, place]]
            tried[taken, place] = scale.offsets[level] + above
        some[taken] = True
        some = _staying(table, scales, tried, some, asked)
        if int(table.counts[some].sum()) <= int(table.counts[kept].sum()):
            break
        nodes, kept = tried, some
        levels.append(list(node))
        settings = replace(settings, levels=None)
    cells = tuple(node_cells(scale, nodes[:, place]) for place, scale in enumerate(scales))
    release = CellRelease(table, cells, np.arange(size), table.counts, kept)
    return Found(release, HEURISTIC, {"levels_of_rounds": levels})


def _staying(
    table: AlignedTable,
    scales: Sequence[Scale],
    nodes: Array,
    kept: Array,
    asked: Constraints | None,
) -> Array:
    """Which tuples of those that are kept stay when classes that fail what is asked leave."""
    cells = tuple(node_cells(scale, nodes[:, place]) for place, scale in enumerate(scales))
    while asked is not None and kept.any():
        release = CellRelease(table, cells, np.arange(len(kept)), table.counts, kept)
        passed = _passing(release, asked)
        if (passed == _wanted(release)).all():
            break
        kept = passed[release.of_tuple]
    return kept


def _wanted(release: CellRelease) -> Array:
    """All classes of a release, and one of the rows left out, which is not."""
    return np.arange(len(release.sizes) + 1) < len(release.sizes)


def _passing(release: CellRelease, asked: Constraints) -> Array:
    """Which classes, and one of the rows left out, pass among the rows that are kept."""
    if asked.single:
        entries = asked.divided(release.tuples, release.rows)
        return entries.passing(release.of_entry, _wanted(release))
    return asked.passing(release.of_tuple, _wanted(release))


def node_of(
    table: AlignedTable,
    settings: Settings,
    token: CancelToken,
    asked: Constraints | None = None,
) -> tuple[Node, bool]:
    """The levels that the settings choose for a table, and whether they are proven the best.

    Raises RefusedError ``k-anonymity.infeasible``, InputError for levels by hand that there are
    not, Cancelled.
    """
    lattice, allowed = LatticeProblem.from_aligned(table, asked), settings.allowed(table.rows)
    lattice = replace(
        lattice,
        weights=weights_of(settings, table.attributes),
        bounds=bounds_of(settings, table.attributes, lattice.heights, "the plan"),
    )
    by_hand = node_by_hand(settings, table.attributes, table.hierarchies, "the plan")
    if by_hand is not None:
        classes = generalise(CountedTable(table, asked), by_hand)
        kept = classes.kept(settings.k)
        if int(classes.sizes[~kept].sum()) > allowed or not kept.any():
            raise _not_reached(table, settings, by_hand, asked)
        return by_hand, False
    given = lattice, settings.objective, settings.k, allowed, token, silent
    if settings.algorithm != OPTIMAL:
        found = samarati(lattice, settings.k, allowed, settings.prefer, token, silent)
    elif asked is not None or not worth_walking(lattice):
        found = search_large(*given)
    else:
        part = max(1_000_000, int(walk_work(lattice)) // 8)
        found = bounded_search(*given, max_work=part)
        if found.node is not None and not found.proven_optimal:
            found = optimal_search(*given)
    if found.node is None:
        raise _not_reached(table, settings, found.least_suppressed[0], asked)
    return found.node, found.proven_optimal


def _no_classes(settings: Settings) -> RefusedError:
    """The refusal where levels or limits of cells leave no classes, or none that were found."""
    keys = [key for key, held in (("max_level", settings.most),) if held]
    keys += [key for key in settings.besides if key in (*CELL_LIMITS, "k_map")]
    hint = "Allow higher levels or more suppressed cells, or choose a smaller k."
    if settings.k_map:
        hint = "Allow higher levels, or ask for fewer rows of the population."
    return RefusedError(
        "k-anonymity.infeasible",
        msg(
            "No classes of k = {k:,} rows were found with {keys}.",
            k=settings.k,
            keys=listed([f"`{key}`" for key in keys]),
        ),
        hint=hint,
        details={"key": keys[0] if keys else "k", "k": settings.k},
    )


def _not_reached(
    table: AlignedTable, settings: Settings, levels: Node, asked: Constraints | None
) -> RefusedError:
    if asked is not None:
        whole = not settings.allowed(table.rows) and settings.levels is None
        if whole and asked.matched is None:
            return never_met(settings)
        return requirements_not_met(settings, table.rows)
    sizes = generalise(CountedTable(table), levels).sizes
    return Shortfall.of(settings, table.attributes, levels, sizes).error()


def _check_rows(release: CellRelease, k: int, asked: Constraints | None) -> None:
    """Every row is accounted for, and every class has k rows and passes what is asked, by a count
    of the cells alone.
    """
    rows = np.bincount(release.tuples, release.rows, len(release.table.counts))
    smallest = int(release.sizes.min(initial=k))
    whole = bool((rows == release.table.counts).all()) and len(release.sizes) > 0
    passed = asked is None or bool((_passing(release, asked) == _wanted(release)).all())
    if asked is not None and asked.matched is not None and whole:
        passed = passed and bool(asked.matched.passing(release.shown).all())
    if smallest >= k and whole and passed:
        return
    raise RefusedError(
        "k-anonymity.self-check",
        msg(
            "An independent count of the classes finds one of {smallest:,} rows, or one that fails "
            "what is required, or rows that are not accounted for; the release was stopped.",
            smallest=smallest,
        ),
        hint="Please report this: it is an error in the program.",
    )


def _outcome(
    given: MethodInput,
    counted: FrequencyTable,
    settings: Settings,
    judged: CellAssessment,
) -> Outcome:
    known, release, found = judged.statistics, judged.release, judged.found
    return Outcome(
        recoding=release.recoding(counted, given.with_role(Role.IDENTIFIER)),
        guarantee=k_guarantee(
            *(settings.k, known.smallest, known.suppressed, given.roles, given.linkages),
            stated(settings.required, given.hierarchies, given.decimal),
            stated_besides(settings),
        ),
        result={
            "rows_out": known.kept,
            "rows_suppressed": known.suppressed,
            "classes": known.classes,
            "smallest_class": known.smallest,
            "metrics": dict(judged.public_metrics),
            "proven_optimal": found.optimality == PROVEN,
        },
        internal={
            "optimality": found.optimality,
            "rows_suppressed_allowed": settings.allowed(known.rows),
            "entropy": judged.metrics["entropy"],
            **found.internal,
            **recorded(given.population),
        },
        risk=judged.risk_json(release.table.attributes),
        utility=judged.utility_json(),
        charts=LaterCharts(judged.charts),
        figures=judged.figures(),
    )
