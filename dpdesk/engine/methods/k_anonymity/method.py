"""k-anonymity as an entry of the method registry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, ClassVar

from dpdesk.core.capabilities import Capabilities, Content, Protection, RowOrder, Spending, Use
from dpdesk.core.errors import RefusedError
from dpdesk.core.export_formats import OF_ROWS
from dpdesk.core.jobs import (
    Behind,
    CancelToken,
    Event,
    Note,
    Report,
    StepProgress,
    StepStarted,
    silent,
)
from dpdesk.core.method_card import EVERYONE, Attacker, MethodCard
from dpdesk.core.parameters import Parameter
from dpdesk.core.public_fields import PublicField
from dpdesk.core.recoding import AnyRecoding, Recoding, TupleRecoding
from dpdesk.core.release import ClaimCheck, Manifest, PublishedTable, RowDifference
from dpdesk.core.schema import Role
from dpdesk.engine.method import (
    ENDED,
    GUARANTEE,
    Exploration,
    LaterCharts,
    MethodInput,
    Outcome,
    RowsMethod,
)
from dpdesk.engine.methods.k_anonymity.further_settings import (
    WHOLE,
    household_column,
    released_roles,
)
from dpdesk.engine.methods.k_anonymity.public_fields import PUBLIC_FIELDS
from dpdesk.engine.methods.k_anonymity.settings import (
    ANY,
    CATEGORY,
    GENETIC,
    INCOGNITO,
    OPTIMAL,
    PARAMETERS,
    Settings,
    bounds_of,
    check_settings,
    weights_of,
)
from dpdesk.engine.querying import Questions

# Whatever needs numpy or compiled kernels is imported where it is used: the command line lists
# methods and their parameters without paying for them.
if TYPE_CHECKING:
    from dpdesk.core.charts import Chart
    from dpdesk.engine.hierarchies.preview import AlignedTable
    from dpdesk.engine.methods.k_anonymity.assessment import Assessment
    from dpdesk.engine.methods.k_anonymity.known_nodes import PooledNodes, WalkedNodes
    from dpdesk.engine.methods.k_anonymity.lattice import LatticeProblem, Node
    from dpdesk.engine.methods.k_anonymity.search import SearchResult
    from dpdesk.engine.methods.k_anonymity.statistics import LatticeStatistics

COUNT = "Count combinations of quasi-identifiers"
SEARCH = "Search the levels"
DESCRIBE = "Check the classes and describe the release"

_MOST_CHARTED = 100_000
_POOL_KS = (2, 3, 5, 10, 20, 50)
_PARTS = 2
_PART_BOUNDED = 8
_LEAST_BOUNDED = 1_000_000
_STOPPED = Note(
    "search.stopped",
    "The search was stopped; the release is the best that had been found until then.",
)


@dataclass(frozen=True, eq=False)
class _Problem:
    """The table of a run with its lattice; ``notes`` are those on rows that a population lacks."""

    settings: Settings
    table: AlignedTable
    lattice: LatticeProblem
    where: str
    notes: tuple[Note, ...] = ()

    @property
    def allowed(self) -> int:
        return self.settings.allowed(self.table.rows)


CARD = MethodCard(
    protects=(
        "Someone who knows some facts about a person, such as age, sex and place, and looks "
        "for the person's row.",
        "With a requirement on a sensitive column (ℓ-diversity, t-closeness and others), also "
        "someone who wants that column's value and not the row.",
    ),
    leaves=(
        "A value that all rows of a class share, where no requirement is set.",
        "Columns that are released unchanged and give others away; the checklist counts for "
        "how many rows.",
        "A second release about the same people: two can be put together.",
    ),
    suits=(
        "Researchers need rows, for analyses that no one can foresee.",
        "Up to about ten columns may be known from elsewhere.",
    ),
    unfit=(
        "Almost every column is a quasi-identifier: then almost everyone is unique, and little "
        "detail is left.",
    ),
    sources=(
        "Samarati, Protecting respondents' identities in microdata release, IEEE TKDE 2001",
        "Sweeney, k-anonymity: a model for protecting privacy, 2002",
        "LeFevre, DeWitt, Ramakrishnan, Incognito, SIGMOD 2005; Mondrian, ICDE 2006",
        "Bayardo, Agrawal, Data privacy through optimal k-anonymization, ICDE 2005",
    ),
    corrections=(
        "Where cells are generalised one by one, none of the published conditions bounds the "
        "chance of a correct match by 1 in k; releases of this program have k equal rows in each "
        "class.",
        "Diversity and closeness are decided with exact numbers, so that borderline cases are "
        "judged correctly.",
    ),
    readers=EVERYONE,
    attackers=frozenset({Attacker.ACQUAINTANCE}),
)


class KAnonymity(RowsMethod):
    """k-anonymity by full-domain generalisation and tuple suppression (AG_TS).

    Samarati and Sweeney's model as the course text gives it: every combination of
    quasi-identifiers that is released covers at least k rows; each quasi-identifier is released at
    one level of its hierarchy, and rows in smaller classes are suppressed up to a limit.
    """

    id: ClassVar[str] = "k-anonymity"
    capabilities: ClassVar[Capabilities] = Capabilities(
        Content.ROWS,
        Protection.CLASSES,
        Spending.NOTHING,
        RowOrder.SORTED,
        exports=OF_ROWS,
        uses=frozenset({Use.ASKED}),
    )
    version: ClassVar[str] = "1"
    title: ClassVar[str] = "k-anonymous microdata"
    summary: ClassVar[str] = (
        "Release rows about persons, with quasi-identifiers generalised until every combination "
        "of them covers at least k rows."
    )
    promise: ClassVar[str] = (
        "Someone who knows only a person's quasi-identifiers, and to whom the other columns "
        "reveal nothing more, cannot link the person to fewer than k rows."
    )
    card: ClassVar[MethodCard] = CARD
    parameters: ClassVar[tuple[Parameter, ...]] = PARAMETERS
    public_fields: ClassVar[tuple[PublicField, ...]] = PUBLIC_FIELDS
    checked_by: ClassVar[Mapping[str, str]] = {
        GUARANTEE: "the words of the guarantee",
        **{key: key for key in ("node", "rows_out", "rows_suppressed", "classes")},
        **{key: key for key in ("smallest_class", "proven_optimal", "metrics")},
    }
    live: ClassVar[tuple[str, ...]] = ("k", "max_suppression")
    explored_for: ClassVar[tuple[str, ...]] = (
        *("importance", "min_level", "max_level", "require", "missing_as", "households"),
        *("population", "k_map", "delta_min", "delta_max", "max_suppression_of", "max_cells"),
        "household_id",
    )
    check = staticmethod(check_settings)
    pseudonyms: ClassVar[str] = ""

    def questions(self) -> Questions:
        """See :meth:`QueryableMethod.questions`."""
        from dpdesk.engine.methods.k_anonymity.querying import askable_rows, count_rows

        return Questions(askable_rows, count_rows)

    def explore(self, given: MethodInput, token: CancelToken, report: Report) -> Exploration:
        """Count every node of the lattice at many k, or good nodes of a very large lattice."""
        from dpdesk.engine.methods.k_anonymity.celled import CellTables
        from dpdesk.engine.methods.k_anonymity.exploration import KAnonymityExploration
        from dpdesk.engine.methods.k_anonymity.notes import told_of
        from dpdesk.engine.telling import TELL

        report(StepStarted(COUNT, 1, 3))
        problem = _problem(given, token)
        report(StepStarted(SEARCH, 2, 3))
        nodes = _known_nodes(problem, token, _under(SEARCH, report))
        report(StepStarted(TELL, 3, 3))
        told = told_of(given, given.with_role(Role.QUASI_IDENTIFIER), token, report)
        required = problem.settings.required
        cells = CellTables.of(given, required, [False, True] if required else [False], token)

        def found(settings: Settings) -> tuple[Node | None, bool]:
            return _found_for(problem, settings)

        return KAnonymityExploration(
            *(problem.table, nodes, given, cells, told, found), problem.notes
        )

    def decide(self, given: MethodInput, token: CancelToken, report: Report) -> Outcome:
        """Choose the levels, check the classes by an independent count, and describe the release.

        Raises
        ------
        InputError
            A value without a leaf, or levels by hand above a hierarchy's top.
        RefusedError
            ``k-anonymity.table-too-small``, ``k-anonymity.infeasible``, or
            ``k-anonymity.self-check`` when two counts of the same classes disagree.
        """
        from dpdesk.engine.methods.k_anonymity.notes import with_telling
        from dpdesk.engine.telling import TELL

        found = self.chosen(given, token, report, further=1)
        report(StepStarted(TELL, 4, 4))
        return with_telling(found, given, token, report)

    def chosen(
        self, given: MethodInput, token: CancelToken, report: Report, further: int = 0
    ) -> Outcome:
        """As :meth:`decide`, without measuring what the columns tell of each other.

        ``further`` is the number of steps that follow. Raises as :meth:`decide`.
        """
        from dpdesk.engine.methods.k_anonymity.choosing import table_too_small

        started, steps = perf_counter(), 3 + further
        settings = Settings.from_parameters(given.parameters)
        too_small = table_too_small(settings, given.source.rows, given.source.name)
        if too_small is not None:
            raise too_small
        report(StepStarted(COUNT, 1, steps))
        with token.searches(given.ended) as ends:
            if settings.celled:
                from dpdesk.engine.methods.k_anonymity.celled import decide_cells

                outcome = decide_cells(given, settings, steps, token, report)
            else:
                outcome = _decided(given, steps, token, report)
        token.check()
        more: dict[str, object] = {"seconds": perf_counter() - started}
        notes = outcome.notes
        if any(end is not None for end in ends):
            more[ENDED], notes = ends, (*notes, _STOPPED)
        return replace(outcome, internal={**outcome.internal, **more}, notes=notes)

    def verify(
        self, manifest: Manifest, published: PublishedTable, token: CancelToken
    ) -> tuple[ClaimCheck, ...]:
        """See :meth:`RowsMethod.verify`."""
        from dpdesk.engine.methods.k_anonymity.guarantee import k_guarantee
        from dpdesk.verifiers.anonymity.verification import verify_public
        from dpdesk.verifiers.promises import in_words

        return in_words(
            verify_public(manifest.as_json(), published, k_guarantee, token), manifest.as_json()
        )

    def verify_with_source(
        self,
        manifest: Manifest,
        published: PublishedTable,
        given: MethodInput,
        difference: RowDifference | None,
        token: CancelToken,
    ) -> tuple[ClaimCheck, ...]:
        """See :meth:`RowsMethod.verify_with_source`."""
        from dpdesk.engine.hierarchies.editing import remakes
        from dpdesk.engine.methods.k_anonymity.guarantee import k_guarantee
        from dpdesk.verifiers.anonymity.source_verification import verify_against_source
        from dpdesk.verifiers.promises import in_words

        source, roles = given.source, given.roles
        checks = verify_against_source(
            *(manifest.as_json(), published, source, roles, given.hierarchies, k_guarantee, token),
            remakes(given.made),
            given.claimed,
            given.population,
            given.decimal,
        )
        return in_words(checks, manifest.as_json())

    def verify_with_population(
        self, manifest: Manifest, published: PublishedTable, given: MethodInput, token: CancelToken
    ) -> tuple[ClaimCheck, ...]:
        """See :meth:`RowsMethod.verify_with_population`."""
        from dpdesk.engine.hierarchies.editing import remakes
        from dpdesk.verifiers.anonymity.source_verification import verify_against_population
        from dpdesk.verifiers.promises import in_words

        public = self.verify(manifest, published, token)
        place = given.source, given.roles, given.hierarchies, remakes(given.made), given.population
        checks = verify_against_population(manifest.as_json(), published, public, place)
        return in_words(checks, manifest.as_json())

    def claimed_recoding(
        self, manifest: Manifest, given: MethodInput, token: CancelToken
    ) -> AnyRecoding | None:
        """See :meth:`RowsMethod.claimed_recoding`."""
        from dpdesk.engine.hierarchies.editing import remakes
        from dpdesk.verifiers.anonymity.remaking import (
            POPULATION,
            asked_of,
            claimed_recoding,
            matching,
        )
        from dpdesk.verifiers.anonymity.requirements import required_of
        from dpdesk.verifiers.anonymity.verification import household_column

        node = manifest.result.get("node")
        if node is None:
            recoding = self.chosen(given, token, silent).recoding
            return recoding if isinstance(recoding, TupleRecoding) else None
        k = manifest.parameters["k"]
        if not isinstance(node, Mapping) or not isinstance(k, int):
            return None
        levels = {name: node[name] for name in given.with_role(Role.QUASI_IDENTIFIER)}
        required = required_of(manifest.guarantee.parameters.get("require"))
        stated = manifest.guarantee.parameters
        missing_as = str(stated.get("missing_as", CATEGORY))
        houses = ""
        if stated.get("households") == WHOLE:
            houses = household_column(manifest.as_json(), given.roles)
        settings = Settings.from_parameters(given.parameters)
        released = released_roles(given.roles, settings.handling)
        place = given.source, released, given.hierarchies, token
        matches = None
        if asked := asked_of({k: stated[k] for k in POPULATION if k in stated}):
            if given.population is None:
                return None
            trees = given.hierarchies, tuple(levels.values()), remakes(given.made)
            matches = asked, matching(given.population, tuple(levels), *trees)
        return claimed_recoding(k, required, levels, *place, missing_as, houses, matches)

    def evidence_fault(
        self,
        manifest: Manifest,
        evidence: Mapping[str, object],
        published: PublishedTable,
        token: CancelToken,
    ) -> str | None:
        """See :meth:`RowsMethod.evidence_fault`."""
        from dpdesk.verifiers.anonymity.evidence import evidence_fault

        return evidence_fault(manifest.as_json(), evidence, published, token)


def _under(step: str, report: Report) -> Report:
    """Pass progress on under the name of the step that has been announced."""

    def passed(event: Event) -> None:
        if isinstance(event, StepProgress):
            report(replace(event, step=step))
        elif not isinstance(event, StepStarted):
            report(event)

    return passed


def _problem(given: MethodInput, token: CancelToken) -> _Problem:
    """What is searched, and shown beside levels by hand, which may be taken back.

    Raises InputError as :func:`absent_rows`, and for values and levels that hierarchies lack.
    """
    from dpdesk.engine.hierarchies.preview import align
    from dpdesk.engine.methods.k_anonymity.choosing import check_memory
    from dpdesk.engine.methods.k_anonymity.lattice import LatticeProblem

    settings = Settings.from_parameters(given.parameters)
    constraints, notes = None, tuple[Note, ...]()
    if settings.required:
        from dpdesk.engine.methods.k_anonymity.requirements import constrained_table

        counted, table, constraints = constrained_table(given, settings.required, token)
    else:
        counted = given.source.frequency_table(given.with_role(Role.QUASI_IDENTIFIER), token)
        token.check()
        check_memory(counted, given.source.name)
        table = align(counted, given.hierarchies, given.source.name)
    if settings.missing_as != CATEGORY:
        from dpdesk.engine.methods.k_anonymity.missing import MissingCells
        from dpdesk.engine.methods.k_anonymity.requirements import Constraints

        asked = Constraints((), {}) if constraints is None else constraints
        cells = MissingCells.of(table, settings.missing_as, given.where)
        constraints = replace(asked, missing=cells)
    if settings.whole_households:
        from dpdesk.engine.methods.k_anonymity.households import households_of
        from dpdesk.engine.methods.k_anonymity.requirements import Constraints

        houses = households_of(given, settings.household_id, counted, token)
        constraints = replace(constraints or Constraints((), {}), households=houses)
    if settings.population:
        from dpdesk.engine.methods.k_anonymity.population import people_of
        from dpdesk.engine.methods.k_anonymity.requirements import Constraints

        rows, notes = people_of(given, table, (settings.k_map, settings.delta))
        constraints = replace(constraints or Constraints((), {}), population=rows)
    if settings.suppression_of:
        from dpdesk.engine.methods.k_anonymity.households import group_limits
        from dpdesk.engine.methods.k_anonymity.requirements import Constraints

        limits = group_limits(given, settings.suppression_of, counted, token)
        constraints = replace(constraints or Constraints((), {}), limits=limits)
    lattice = LatticeProblem.from_aligned(table, constraints)
    names = table.attributes
    lattice = replace(
        lattice,
        weights=weights_of(settings, names),
        bounds=bounds_of(settings, names, lattice.heights, given.where),
    )
    return _Problem(settings, table, lattice, given.where, notes)


def _decided(given: MethodInput, steps: int, token: CancelToken, report: Report) -> Outcome:
    """What one level for each column comes to; the first step, counting, has been announced."""
    problem = _problem(given, token)
    token.check()
    report(StepStarted(SEARCH, 2, steps))
    found, walk = _search(problem, token, _under(SEARCH, report))
    report(StepStarted(DESCRIBE, 3, steps))
    return _outcome(given, problem, found, walk, token)


def _search(
    problem: _Problem, token: CancelToken, report: Report, *, walk: bool = True
) -> tuple[SearchResult, Behind[LatticeStatistics] | None]:
    """The chosen node, and the count of all nodes behind it when one is made (for their chart)."""
    from dpdesk.engine.methods.k_anonymity.choosing import node_by_hand
    from dpdesk.engine.methods.k_anonymity.search import worth_charting, worth_walking

    settings, lattice = problem.settings, problem.lattice
    by_hand = node_by_hand(settings, lattice.attributes, lattice.hierarchies, problem.where)
    if by_hand is None and settings.algorithm == OPTIMAL:
        if lattice.constraints is not None or not worth_walking(lattice):
            return _search_large(problem, token, report), None
        found = _optimum(problem, token, report)
        charted = walk and worth_charting(lattice)
        return found, _walk_behind(problem, token) if charted else None
    charted = walk and lattice.constraints is None and _quickly_charted(lattice)
    behind = _walk_behind(problem, token) if charted else None
    if by_hand is not None:
        return _given_node(problem, by_hand), behind
    return _other_search(problem, token, report), behind


def _other_search(problem: _Problem, token: CancelToken, report: Report) -> SearchResult:
    """What the searches find that do not prove the optimum of an objective."""
    from dpdesk.engine.methods.k_anonymity.genetic import genetic_search
    from dpdesk.engine.methods.k_anonymity.incognito import incognito
    from dpdesk.engine.methods.k_anonymity.samarati import samarati

    settings, place = problem.settings, (problem.settings.k, problem.allowed)
    if settings.algorithm == GENETIC:
        return genetic_search(problem.lattice, settings.objective, *place, token, report)
    search = incognito if settings.algorithm == INCOGNITO else samarati
    return search(problem.lattice, *place, settings.prefer, token, report)


def _optimum(problem: _Problem, token: CancelToken, report: Report) -> SearchResult:
    """The optimum of a lattice whose nodes can all be counted, from few of them where that proves.

    Bounds are given up after a part of the work of counting all, by numbers and not by the clock.
    """
    from dpdesk.engine.methods.k_anonymity.bounded import bounded_search
    from dpdesk.engine.methods.k_anonymity.search import optimal_search, walk_work

    given = problem.lattice, problem.settings.objective, problem.settings.k, problem.allowed
    part = max(_LEAST_BOUNDED, int(walk_work(problem.lattice)) // _PART_BOUNDED)
    found = bounded_search(*given, token, report, max_work=part)
    if found.proven_optimal or found.node is None:
        return found
    return optimal_search(*given, token, _notes_only(report))


def _walk_behind(problem: _Problem, token: CancelToken) -> Behind[LatticeStatistics]:
    from dpdesk.engine.methods.k_anonymity.search import walk_lattice

    lattice, k = problem.lattice, problem.settings.k
    return Behind(lambda own: walk_lattice(lattice, [k], own, silent, spare=True), token)


def _quickly_charted(lattice: LatticeProblem) -> bool:
    """Whether all nodes are counted for their chart alone, when the choice does not need them."""
    from dpdesk.engine.methods.k_anonymity.known_nodes import QUICK_WALK_WORK
    from dpdesk.engine.methods.k_anonymity.search import walk_work

    return lattice.node_count <= _MOST_CHARTED and walk_work(lattice) <= QUICK_WALK_WORK


def _search_large(problem: _Problem, token: CancelToken, report: Report) -> SearchResult:
    """The result for the very settings, and a note that says how far the search got."""
    from dpdesk.engine.methods.k_anonymity.anytime import large_note, search_large

    settings, lattice, allowed = problem.settings, problem.lattice, problem.allowed
    if settings.algorithm != OPTIMAL:
        return _other_search(problem, token, report)
    if _not_bounded(problem):
        from dpdesk.engine.methods.k_anonymity.missing import every_node

        return every_node(lattice, settings.objective, settings.k, allowed, token, report)
    found = search_large(lattice, settings.objective, settings.k, allowed, token, report)
    note = large_note(lattice, settings.objective, found)
    if note is not None:
        report(note)
    return found


def _not_bounded(problem: _Problem) -> bool:
    """Whether k alone says nothing of what a node is worth, so that all nodes are counted."""
    from dpdesk.engine.methods.k_anonymity.households import COST_BY_CLASS

    settings = problem.settings
    by_class = settings.whole_households and settings.objective in COST_BY_CLASS
    return settings.missing_as == ANY or by_class


def _notes_only(report: Report) -> Report:
    """Drop progress: a second count within a step must not start again at nothing."""

    def passed(event: Event) -> None:
        if not isinstance(event, StepProgress):
            report(event)

    return passed


def _given_node(problem: _Problem, node: Node) -> SearchResult:
    """Levels chosen by hand, as if a search had found them; infeasible when they are."""
    from dpdesk.engine.methods.k_anonymity.metrics import evaluate_node
    from dpdesk.engine.methods.k_anonymity.search import SearchResult

    found = evaluate_node(problem.lattice, node, problem.settings.k)
    feasible = found.suppressed <= problem.allowed and found.classes > 0
    return SearchResult(
        node=node if feasible else None,
        statistics=found if feasible else None,
        proven_optimal=False,
        nodes_checked=1,
        least_suppressed=(node, found.suppressed),
    )


def _outcome(
    given: MethodInput,
    problem: _Problem,
    found: SearchResult,
    walk: Behind[LatticeStatistics] | None,
    token: CancelToken,
) -> Outcome:
    from dpdesk.engine.hierarchies.editing import remakes
    from dpdesk.engine.methods.k_anonymity.assessment import assess
    from dpdesk.engine.methods.k_anonymity.grouping import CountedTable
    from dpdesk.engine.methods.k_anonymity.guarantee import k_guarantee, stated_besides
    from dpdesk.engine.methods.k_anonymity.households import household_figures, households_measured
    from dpdesk.engine.methods.k_anonymity.missing import counted_as
    from dpdesk.engine.methods.k_anonymity.notes import levels_note
    from dpdesk.engine.methods.k_anonymity.population import recorded
    from dpdesk.engine.methods.k_anonymity.required import stated

    if found.node is None or found.statistics is None:
        raise _infeasible(problem, found)
    counted = CountedTable(problem.table, problem.lattice.constraints)
    judged = assess(counted, found.statistics, remakes(given.made))
    token.check()
    recoding = _recoding(given, problem, judged)
    fewest, semantics = counted_as(judged.classes, problem.settings.k)
    semantics |= stated_besides(problem.settings)
    houses = households_measured(problem.lattice.constraints, judged.classes, problem.settings.k)
    return Outcome(
        recoding=recoding,
        guarantee=k_guarantee(
            problem.settings.k,
            fewest,
            recoding.rows_suppressed,
            released_roles(given.roles, problem.settings.handling),
            given.linkages,
            stated(problem.settings.required, given.hierarchies, given.decimal),
            semantics,
        ),
        # Where nothing may be generalised there is one release, and nothing to search.
        result=_result(judged, found)
        | ({"proven_optimal": True} if problem.settings.model == "TS" else {}),
        internal={
            # The charts of an outcome hold all nodes of a walk, and refuse where it contradicts.
            "nodes_checked": found.nodes_checked if walk is None else problem.lattice.node_count,
            "lattice_nodes": problem.lattice.node_count,
            "rows_suppressed_allowed": problem.allowed,
            "entropy": judged.metrics["entropy"],
            **({} if found.bound is None else {"lower_bound": found.bound}),
            **recorded(given.population),
        },
        risk=judged.risk_json(problem.table.attributes)
        | {"levels_tell": list(judged.released.telling)}
        | ({"households": houses} if houses else {}),
        utility=judged.utility_json(),
        charts=LaterCharts(lambda: _charts(problem, judged, found, walk)),
        figures=(*judged.figures(), *household_figures(houses)),
        notes=(*levels_note(judged.released.telling), *problem.notes),
    )


def _infeasible(problem: _Problem, found: SearchResult) -> RefusedError:
    from dpdesk.engine.methods.k_anonymity.choosing import Shortfall, requirements_not_met
    from dpdesk.engine.methods.k_anonymity.grouping import CountedTable, generalise

    if problem.lattice.constraints is not None:
        return requirements_not_met(problem.settings, problem.table.rows)
    levels, _ = found.least_suppressed
    sizes = generalise(CountedTable(problem.table), levels).sizes
    return Shortfall.of(problem.settings, problem.table.attributes, levels, sizes).error()


def _recoding(given: MethodInput, problem: _Problem, judged: Assessment) -> Recoding:
    """The released value of every raw value, and the generalised tuples to leave out."""
    import numpy as np

    classes = judged.classes
    table = classes.table
    mapping: dict[str, dict[str, str]] = {}
    for position, (name, level) in enumerate(zip(table.attributes, classes.levels, strict=True)):
        hierarchy = table.hierarchies[position]
        labels, ancestors = hierarchy.labels[level], hierarchy.ancestors(level)
        occurring = np.flatnonzero(np.bincount(table.codes[:, position]))
        mapping[name] = {
            hierarchy.leaves[code]: labels[ancestors[code]] for code in occurring.tolist()
        }
    small = ~classes.kept(judged.statistics.k)
    settings, asked = problem.settings, problem.lattice.constraints
    left_out: tuple[str, tuple[str, ...]] = ("", ())
    if asked is not None and asked.households is not None:
        alive = classes.staying(judged.statistics.k).households
        column = household_column(given.roles, given.linkages, settings.household_id, problem.where)
        left_out = column, asked.households.left_out(alive)
    released = released_roles(given.roles, settings.handling)
    return Recoding(
        attributes=table.attributes,
        mapping=mapping,
        labels=classes.labels,
        suppressed=classes.codes[small],
        dropped_columns=tuple(n for n, role in released.items() if role is Role.IDENTIFIER),
        rows_out=judged.after.rows,
        rows_suppressed=judged.before.rows - judged.after.rows,
        left_out=left_out,
    )


def _result(judged: Assessment, found: SearchResult) -> dict[str, object]:
    """The public result, with the names and meanings that release folders promise."""
    known, after = judged.statistics, judged.after
    return {
        "node": dict(zip(judged.classes.table.attributes, known.levels, strict=True)),
        "rows_out": after.rows,
        "rows_suppressed": judged.before.rows - after.rows,
        "classes": after.classes,
        "smallest_class": after.smallest,
        "metrics": dict(judged.public_metrics),
        "proven_optimal": found.proven_optimal,
    }


def _charts(
    problem: _Problem,
    judged: Assessment,
    found: SearchResult,
    walk: Behind[LatticeStatistics] | None,
) -> tuple[Chart, ...]:
    """The charts, with one of all nodes when they are counted; waits for their count.

    Raises RefusedError ``k-anonymity.self-check`` when the count of all nodes has another optimum
    than was proven, and Cancelled.
    """
    from dpdesk.engine.methods.k_anonymity.assessment import disagreement
    from dpdesk.engine.methods.k_anonymity.charts import NodeChoice, node_chart, steps_chart
    from dpdesk.engine.methods.k_anonymity.known_nodes import cloud_of
    from dpdesk.engine.methods.k_anonymity.search import best_of

    risk, *others = judged.charts()
    if walk is None or found.node is None:
        return (risk, *others)
    settings, walked = problem.settings, walk.result()
    optimal = found.proven_optimal and settings.algorithm == OPTIMAL
    if optimal:
        best = best_of(walked, settings.objective, settings.k, problem.allowed).statistics
        if best is None or best.levels != found.node:
            raise disagreement(judged.statistics, best)
    choice = NodeChoice(
        feasible=walked.feasible(settings.k, problem.allowed),
        limit=float(settings.max_suppression),
        chosen=problem.lattice.index(found.node),
        optimal=optimal,
        objective=settings.objective,
    )
    cloud = cloud_of(walked, settings.k, whole=True)
    steps = steps_chart(problem.lattice, cloud, choice)
    return (risk, node_chart(cloud, choice), *([] if steps is None else [steps]), *others)


def _known_nodes(
    problem: _Problem, token: CancelToken, report: Report
) -> WalkedNodes | PooledNodes:
    """All nodes at many k when the lattice is worth a walk, else nodes that searches find good."""
    from dpdesk.engine.methods.k_anonymity.known_nodes import WalkedNodes
    from dpdesk.engine.methods.k_anonymity.search import walk_lattice, worth_walking
    from dpdesk.engine.methods.k_anonymity.statistics import recommended_ks

    lattice = problem.lattice
    if lattice.constraints is not None:
        from dpdesk.engine.methods.k_anonymity.known_nodes import ConstrainedNodes

        return ConstrainedNodes(lattice, follows_k=problem.settings.k_map_is_k)
    if worth_walking(lattice):
        ks = recommended_ks(lattice, [problem.settings.k])
        return WalkedNodes(walk_lattice(lattice, ks, token, report))
    return _pool(problem, token, report)


def _found_for(problem: _Problem, settings: Settings) -> tuple[Node | None, bool]:
    """The node that a run at these settings takes, and whether it is proven to be the best."""
    from dpdesk.engine.methods.k_anonymity.known_nodes import matching

    lattice = matching(problem.lattice, settings.k_map)
    asked = replace(problem, settings=settings, lattice=lattice)
    found, _ = _search(asked, CancelToken(), silent, walk=False)
    return found.node, found.proven_optimal


def _pool(problem: _Problem, token: CancelToken, report: Report) -> PooledNodes:
    """The result of a run at these settings, and what short searches find at other k.

    With the neighbours of each; the nodes of proven results are optima of the whole lattice.
    """
    from dpdesk.engine.methods.k_anonymity.anytime import search_large
    from dpdesk.engine.methods.k_anonymity.known_nodes import pooled_nodes

    lattice, settings, allowed = problem.lattice, problem.settings, problem.allowed
    ks = [k for k in dict.fromkeys((settings.k, *_POOL_KS)) if k <= problem.table.rows]
    nodes, proven = [lattice.top], []
    for place, k in enumerate(ks):
        if k == settings.k:
            found = _search_large(problem, token, report)
        else:
            quiet = _notes_only(report)
            part = _PARTS * len(ks)
            found = search_large(lattice, settings.objective, k, allowed, token, quiet, part)
        report(StepProgress(SEARCH, place + 1, len(ks), "searches"))
        if found.node is not None:
            nodes += [found.node, *_neighbours(found.node, lattice.heights)]
        if found.proven_optimal and (k != settings.k or settings.algorithm == OPTIMAL):
            proven.append((settings.objective, k, allowed))
    return pooled_nodes(lattice, nodes, frozenset(proven), token)


def _neighbours(node: Node, heights: Node) -> list[Node]:
    """The nodes one step up or down."""
    return [
        (*node[:place], node[place] + step, *node[place + 1 :])
        for place, height in enumerate(heights)
        for step in (1, -1)
        if 0 <= node[place] + step <= height
    ]
