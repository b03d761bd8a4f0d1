"""What a plan declares, as the verifier reads it: the same as the design reads, by other code.

Then each fact of the design's reading wrong in turn: the verifier must not agree with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import DpdeskError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.parameters import effective_parameters, parse_parameters
from dpdesk.core.plain import thaw
from dpdesk.core.plan import HierarchyBuilder
from dpdesk.core.release import CheckStatus, ClaimCheck
from dpdesk.core.schema import Role
from dpdesk.engine.cubes import settings as declaring
from dpdesk.engine.methods.dp_cube.method import DpCube
from dpdesk.engine.methods.dp_graph import design as graph_counting
from dpdesk.engine.methods.dp_graph import design as graph_design
from dpdesk.engine.methods.dp_graph.method import DpGraph
from dpdesk.engine.private import counting, declared
from dpdesk.engine.private.declared import DeclaredDimension, declare
from dpdesk.engine.private.method import Design, PrivateInput, PrivateMethod
from dpdesk.io.canonical import canonical_json, parse_canonical
from dpdesk.verifiers.declared import Column, ColumnRequest, Declarations, read_column
from tests.helpers.debits import debit_for_tests
from tests.helpers.known_bits import SeededBits
from tests.helpers.memory_tables import MemorySource
from tests.helpers.stated import stated

TOKEN = CancelToken()
Patch = pytest.MonkeyPatch
Given = Hierarchy | HierarchyBuilder | None
ODD = ("", " 30", "30 ", "29,9", "+31.5", "3e1", "1e9999", "x", "é", "e\u0301", "*", "other", "99")


@st.composite
def cases(draw: st.DrawFn) -> tuple[Given, list[str] | None, int, str | None]:
    """Any hierarchy, listed categories, level and category for the rest; many are wrong."""
    hierarchy = draw(st.one_of(st.none(), rows(), intervals(), trees()))
    level = draw(st.integers(0, 3))
    names = [*_names(hierarchy, level), "other", "99", "é", "new"]
    listed = draw(
        st.one_of(st.none(), st.lists(st.sampled_from(names), min_size=1, max_size=5, unique=True))
    )
    outside = draw(st.one_of(st.none(), st.sampled_from(names)))
    return hierarchy, listed, level, outside


def _names(hierarchy: Given, level: int) -> list[str]:
    if hierarchy is None:
        return ["a", "b"]
    try:
        return list(declare("c", None, hierarchy, level, None, "plan").categories)
    except DpdeskError:
        return ["a", "30-59"]


@st.composite
def rows(draw: st.DrawFn) -> Hierarchy:
    leaves = draw(
        st.lists(st.sampled_from(["a", "b", "é", "Other", "99", "d"]), min_size=1, unique=True)
    )
    groups = [[leaf, draw(st.sampled_from(["g", "h", leaf]))] for leaf in leaves]
    tops = {group: draw(st.sampled_from(["t", "u"])) for _, group in groups}
    return Hierarchy.from_rows("c", [[*row, tops[row[1]], "*"] for row in groups])


@st.composite
def intervals(draw: st.DrawFn) -> HierarchyBuilder:
    options: dict[str, object] = {"apart": draw(st.sampled_from([[], ["99"], ["99", "30"]]))}
    options["labels"] = draw(st.sampled_from(["auto", "range", "brackets"]))
    numbers = st.sampled_from([-7, -1, 0, 12.5, 30, 31, 60])
    if draw(st.booleans()):
        fine = sorted(draw(st.sets(numbers, min_size=1)))
        coarse = [cut for cut in fine if draw(st.booleans())]
        options["cuts"] = [fine, coarse] if coarse else [fine]
    else:
        options |= {"widths": draw(st.sampled_from([[5], [5, 10], [2.5, 5, 20], [0.1]]))}
        options |= {"bottom": draw(numbers), "top": draw(numbers), "origin": draw(numbers)}
    return HierarchyBuilder("intervals", options)


def trees() -> st.SearchStrategy[HierarchyBuilder]:
    shapes: list[object] = [
        ["a", "b"],
        {"Z": ["b", "d"], "A": ["a"]},
        {"G": {"x": ["a"], "y": ["b", "é"]}, "H": ["other"]},
    ]
    return st.sampled_from(shapes).map(lambda tree: HierarchyBuilder("tree", {"tree": tree}))


def plain(hierarchy: Given) -> Declarations:
    """As the evidence holds it."""
    if isinstance(hierarchy, Hierarchy):
        return Declarations({}, {"c": hierarchy.rows()})
    if hierarchy is None:
        return Declarations({}, {})
    options = thaw(hierarchy.options)
    assert isinstance(options, dict)
    return Declarations({"c": {"hierarchy": {"kind": hierarchy.kind, **options}}}, {})


@settings(max_examples=400, deadline=None)
@given(cases())
@example((HierarchyBuilder("intervals", {"cuts": [[0, 30]], "apart": ["99"]}), None, 1, None))
def test_the_verifier_reads_what_the_design_reads(
    case: tuple[Given, list[str] | None, int, str | None],
) -> None:
    hierarchy, listed, level, outside = case
    wanted = ColumnRequest(None if listed is None else tuple(listed), level, outside)
    try:
        expected = declare("c", listed, hierarchy, level, outside, "plan")
    except DpdeskError:
        return  # what a plan gets wrong is never released
    found = read_column("c", wanted, plain(hierarchy))
    assert facts(found) == facts(expected)
    asked = [*expected.categories, *expected.known, *ODD, *map(str, range(-9, 70, 7))]
    places = [None if i < 0 else i for i in replace(expected, outside=None).codes(asked).tolist()]
    assert found.places(asked) == places


def facts(of: Column | DeclaredDimension) -> tuple[object, ...]:
    return of.name, of.categories, of.outside, of.above


CUTS: dict[str, Any] = {"kind": "intervals", "cuts": [[0, 30, 60], [30]], "apart": ["99"]}
REGIONS = [[f"r{i}", f"g{i // 2}", "*"] for i in range(6)]
CUBE: dict[str, Any] = {
    "dimensions": ["age", "region", "sex"],
    "domains": {"age": ["0-29", "30-59", "≥60", "99"], "sex": ["f", "m", "other"]},
    "levels": {"age": 1, "region": 1},
    "publish": [["region"], ["age", "sex"]],
    "exact": [["region", "sex"], ["age"]],
    "epsilon": 1,
}
GRAPH: dict[str, Any] = {"ends": ["region", "to"], "epsilon": 1, "exact": "degrees"}
ROLES = dict.fromkeys(("age", "region", "sex", "to"), Role.INSENSITIVE)


def found_by_the_verifier(method: PrivateMethod, given: dict[str, Any]) -> list[ClaimCheck]:
    """Design, count and release with the method; check with the verifier's own reading."""
    options = {key: value for key, value in CUTS.items() if key != "kind"}
    hierarchies: dict[str, Hierarchy | HierarchyBuilder] = {
        "age": HierarchyBuilder("intervals", options),
        "region": Hierarchy.from_rows("region", REGIONS),
    }
    parameters = parse_parameters(method.parameters, given, "plan")
    made = method.design(PrivateInput(ROLES, hierarchies, parameters), TOKEN, silent)
    ages = ("5", "31", " 30", "64", "99", "x", "-3", "59,5")
    source = MemorySource.of(
        tuple(ROLES),
        [
            (ages[i % 8], f"r{i * i % 7}", "fmx"[i % 3], f"r{(i * i * i + 2 * i + 1) % 8}")
            for i in range(240)
        ],
    )
    measured = made.measure(source, debit_for_tests(made.charge.cost), SeededBits(3), TOKEN, silent)
    tables = {each.file: each for each in made.process(measured.noisy, TOKEN, silent)}
    said = {
        "parameters": effective_parameters(method.parameters, parameters, method.parameters),
        "guarantee": made.guarantee.as_json(),
        "result": dict(made.result),
    }
    manifest = stated(said)
    recorded = parse_canonical(canonical_json(measured.internal))
    assert isinstance(recorded, dict)
    read = Declarations({"age": {"hierarchy": CUTS}}, {"region": REGIONS})
    checks = [*method.verify(manifest, tables, TOKEN), *method.verify_declared(manifest, read)]
    if CheckStatus.FAILED in {check.status for check in checks}:
        return checks
    return [*checks, *method.verify_counted(manifest, recorded, tables, read, source, TOKEN)]


@dataclass(frozen=True)
class Fault:
    """A fact of the design's reading or counting that is wrong."""

    name: str
    put: Callable[[Patch], None]


def _declared(change: Callable[[DeclaredDimension], DeclaredDimension]) -> Callable[[Patch], None]:
    """What the design takes as declared is changed."""

    def put(patch: Patch) -> None:
        for owner in (declaring, graph_design):
            patch.setattr(owner, "declare", lambda *args: change(declare(*args)))

    return put


def _asked(**other: object) -> Callable[[Patch], None]:
    """Something else is declared than what is asked: a level, a list or a place for the rest."""
    names = ("name", "listed", "hierarchy", "level", "outside", "where")

    def put(patch: Patch) -> None:
        def wrong(*args: object) -> DeclaredDimension:
            asked: dict[str, Any] = dict(zip(names, args, strict=True))
            wanted = {key: value for key, value in other.items() if asked["name"] == "region"}
            return declare(**(asked | wanted))

        for owner in (declaring, graph_design):
            patch.setattr(owner, "declare", wrong)

    return put


def _without_last(found: DeclaredDimension) -> DeclaredDimension:
    kept = found.categories[:-1]
    known = {text: place for text, place in found.known.items() if place < len(kept)}
    return replace(found, categories=kept, known=known, above=(), outside=None)


def _with_one_more(found: DeclaredDimension) -> DeclaredDimension:
    return replace(found, categories=(*found.categories, "one more"), above=())


def _turned(found: DeclaredDimension) -> DeclaredDimension:
    last = len(found.categories) - 1
    known = {text: last - place for text, place in found.known.items()}
    return replace(found, categories=found.categories[::-1], known=known, above=())


def _misplaced(found: DeclaredDimension) -> DeclaredDimension:
    """The right categories, with each known text in the next one."""
    count = len(found.categories)
    return replace(found, known={text: (i + 1) % count for text, i in found.known.items()})


def _put(owner: Any, name: str, value: object) -> Callable[[Patch], None]:
    return lambda patch: patch.setattr(owner, name, value)


def _one_edge_more(rows: Any, directed: bool) -> Any:
    found = TRUE_GRAPH(rows, directed)
    matrix = found.matrix.copy()
    matrix[0, 1], matrix[1, 0] = 1 - matrix[0, 1], 1 - matrix[1, 0]
    return replace(found, matrix=matrix)


TRUE_GRAPH = graph_counting.counted_graph
BOTH = [
    Fault("a category is missing", _declared(_without_last)),
    Fault("a category more", _declared(_with_one_more)),
    Fault("another order", _declared(_turned)),
    Fault("texts in other categories", _declared(_misplaced)),
    Fault("other texts are dropped", _declared(lambda found: replace(found, known={}))),
]
OF_CUBES = [
    *BOTH,
    Fault("another level", _asked(level=0)),
    Fault("the level above", _asked(level=2)),
    Fault("others go to a category", _asked(outside="g0")),
    Fault("others go nowhere", _declared(lambda found: replace(found, outside=None))),
    Fault("other levels above", _declared(lambda found: replace(found, above=(("z", "z"),)))),
    Fault("no levels above", _declared(lambda found: replace(found, above=()))),
    Fault("numbers in no interval", _put(declared, "bisect_right", lambda *_: 1)),
    Fault("intervals that end elsewhere", _put(declared, "bisect_right", np.searchsorted)),
    Fault("nothing is kept apart", _put(declared, "kept_apart", lambda _: ("30",))),
    Fault("blanks matter", _put(DeclaredDimension, "_place", lambda self, t, _: self.known.get(t))),
    Fault(
        "no row is left out",
        _put(counting, "_placed", lambda table, domain, first: _all_in(table, domain, first)),
    ),
]
OF_GRAPHS = [
    *BOTH,
    Fault("an edge more", _put(graph_design, "counted_graph", _one_edge_more)),
]
TRUE_PLACED = counting._placed


def _all_in(table: Any, domain: Any, first: int) -> Any:
    codes, found = TRUE_PLACED(table, domain, first)
    return np.maximum(codes, 0), found


@pytest.fixture(autouse=True)
def _no_ledger(monkeypatch: Patch) -> None:
    monkeypatch.setattr(Design, "check_paid", lambda *_: None)


METHODS: Mapping[str, tuple[PrivateMethod, dict[str, Any]]] = {
    "cube": (DpCube(), CUBE),
    "graph": (DpGraph(), GRAPH),
}


@pytest.mark.parametrize("name", METHODS)
def test_what_is_declared_and_counted_as_planned_passes(name: str) -> None:
    found = {check.claim: check.status for check in found_by_the_verifier(*METHODS[name])}
    assert {CheckStatus.FAILED, CheckStatus.NOT_CHECKED}.isdisjoint(found.values()), found
    assert "rows that count" in found


@pytest.mark.parametrize(
    ("name", "fault"),
    [*(("cube", each) for each in OF_CUBES), *(("graph", each) for each in OF_GRAPHS)],
    ids=lambda each: each.name if isinstance(each, Fault) else each,
)
def test_a_fact_that_the_design_misreads_is_found(
    name: str, fault: Fault, monkeypatch: Patch
) -> None:
    fault.put(monkeypatch)
    try:
        checks = found_by_the_verifier(*METHODS[name])
    except (ValueError, KeyError):  # what cannot be read fails, see dpdesk.app.verifying
        return
    assert CheckStatus.FAILED in {check.status for check in checks}
