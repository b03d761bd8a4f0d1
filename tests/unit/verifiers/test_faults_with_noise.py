"""Every fact that a plan with noise rests on, wrong in turn: the verifier must not agree.

Faults are put into the planner alone, while release and check run in the same process; whatever the
verifier took over from the planner would agree with the fault. What no check of a release can see
is listed in resources/docs/verification.md: how the noise was drawn, and how rows were counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import pytest

from dpdesk.core.cuboid import CuboidTable
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.parameters import effective_parameters, parse_parameters
from dpdesk.core.release import CheckStatus, Manifest
from dpdesk.core.schema import Role
from dpdesk.engine.cubes import channels, guarantee
from dpdesk.engine.cubes.exact import planned
from dpdesk.engine.cubes.exact.sensitivity import GenericSensitivity, Origin
from dpdesk.engine.cubes.lattice import NoiseSource
from dpdesk.engine.cubes.mechanism import RowEffect
from dpdesk.engine.cubes.settings import CubeSettings
from dpdesk.engine.methods.dp_choice import design as choice_design
from dpdesk.engine.methods.dp_choice.method import DpChoice
from dpdesk.engine.methods.dp_choice.settings import ChoiceSettings, Wanted
from dpdesk.engine.methods.dp_cube import design
from dpdesk.engine.methods.dp_cube import design as processing
from dpdesk.engine.methods.dp_cube.method import DpCube
from dpdesk.engine.methods.dp_graph import design as graph_design
from dpdesk.engine.methods.dp_graph import words as graph_words
from dpdesk.engine.methods.dp_graph.known import KnownDegrees
from dpdesk.engine.methods.dp_graph.method import DpGraph
from dpdesk.engine.methods.dp_graph.settings import GraphSettings
from dpdesk.engine.methods.itemsets import design as itemset_design
from dpdesk.engine.methods.itemsets import mined
from dpdesk.engine.methods.itemsets import settings as itemset_words
from dpdesk.engine.methods.itemsets.method import Itemsets
from dpdesk.engine.methods.itemsets.settings import ItemsetSettings
from dpdesk.engine.methods.priview.method import PriView
from dpdesk.engine.methods.registered import default_registry
from dpdesk.engine.private import guarantee_words
from dpdesk.engine.private.kinds import Noise
from dpdesk.engine.private.method import Design, PrivateInput, PrivateMethod
from dpdesk.engine.views import design as view_design
from dpdesk.engine.views.choosing import PlannedNoise
from dpdesk.engine.views.marginals import AgreeingViews
from dpdesk.engine.views.settings import ViewSettings
from tests.helpers.debits import debit_for_tests
from tests.helpers.known_bits import SeededBits
from tests.helpers.memory_tables import MemorySource
from tests.helpers.stated import stated

TOKEN = CancelToken()
Patch = pytest.MonkeyPatch
Tables = dict[str, CuboidTable]

SIZES = {"a": 2, "b": 3, "c": 2}
DOMAINS = {name: [f"{name}{i}" for i in range(size)] for name, size in SIZES.items()}
CUBE: dict[str, Any] = {"dimensions": list(SIZES), "domains": DOMAINS, "epsilon": 1}
SUM: dict[str, Any] = {"sum": "pay", "lower": -20, "upper": 100, "step": 5}
AVERAGE: dict[str, Any] = {"average": "pay", "lower": 0, "upper": 100, "step": 5}
GRAPH: dict[str, Any] = {"ends": ["a", "b"], "nodes": list("uvwxyz"), "epsilon": 1}
VIEWS: dict[str, Any] = CUBE | {
    "views": [["a", "b"], ["b", "c"]],
    "marginals": [["a", "c"], ["b"]],
}
ITEMS: dict[str, Any] = {
    "dimensions": ["a", "c"],
    "domains": {name: DOMAINS[name] for name in "ac"},
    "epsilon": 1,
    "top": 3,
}
MANY = [f"i{place}" for place in range(13)]
"""More items than one basis has."""
MANY_ITEMS = ITEMS | {"dimensions": MANY, "domains": {name: ["0", "1"] for name in MANY}}
CHOICES: dict[str, Any] = {
    "groups": ["a"],
    "domains": {name: DOMAINS[name] for name in "ab"},
    "choose": [
        {"quantile": 0.5, "of": "pay", "lower": 0, "upper": 90, "step": 10},
        {"mode": "b"},
    ],
    "epsilon": 1,
}
PLANS: dict[str, tuple[PrivateMethod, dict[str, Any]]] = {
    "counts": (DpCube(), CUBE),
    "all tables": (DpCube(), CUBE | {"planner": "all"}),
    "no consistency": (DpCube(), CUBE | {"planner": "base", "consistency": "none"}),
    "gaussian": (DpCube(), CUBE | {"epsilon": None, "rho": 0.5, "delta": 1e-6}),
    "replaced": (DpCube(), CUBE | {"neighbours": "replace", "rows_per_person": 3}),
    "some tables": (DpCube(), CUBE | {"publish": {"max_dimensions": 2}, "forbid": [["a", "b"]]}),
    "whole numbers": (DpCube(), CUBE | {"nonnegative": True, "integral": True}),
    "sums": (DpCube(), CUBE | {"measure": SUM}),
    "sums replaced": (DpCube(), CUBE | {"measure": SUM, "neighbours": "replace"}),
    "averages": (DpCube(), CUBE | {"measure": ["count", AVERAGE]}),
    "optimal": (DpCube(), CUBE | {"planner": "optimal", "epsilon": None, "rho": 1}),
    "residuals": (
        DpCube(),
        CUBE | {"planner": "optimal", "basis": "residuals", "epsilon": None, "rho": 1},
    ),
    "one exact": (DpCube(), CUBE | {"exact": [["a"]]}),
    "two exact": (DpCube(), CUBE | {"exact": [["a", "b"], ["b", "c"]]}),
    "three exact": (DpCube(), CUBE | {"exact": [["a", "b"], ["a", "c"], ["b", "c"]]}),
    "exact cells": (
        DpCube(),
        CUBE | {"exact": [{"cuboid": ["a", "b"], "cells": [["a0", "b0"], ["a1", "b2"]]}]},
    ),
    "graph": (DpGraph(), GRAPH),
    "directed": (DpGraph(), GRAPH | {"graph": "directed", "neighbours": "replace"}),
    "degrees": (DpGraph(), GRAPH | {"exact": "degrees", "exact_nodes": ["u", "v"]}),
    "graph, gaussian": (
        DpGraph(),
        GRAPH | {"epsilon": None, "rho": 0.5, "rows_per_person": 2, "exact_edges": True},
    ),
    "views": (PriView(), VIEWS),
    "views replaced": (PriView(), VIEWS | {"neighbours": "replace", "rows_per_person": 3}),
    "views, gaussian": (
        PriView(),
        VIEWS | {"epsilon": None, "rho": 0.5, "delta": 1e-6, "reconstruct": "least-squares"},
    ),
    "chosen views": (PriView(), CUBE | {"view_size": 2, "marginals": [["a", "b", "c"]]}),
    "itemsets": (Itemsets(), ITEMS),
    "itemsets replaced": (Itemsets(), ITEMS | {"neighbours": "replace", "rows_per_person": 3}),
    "many items": (Itemsets(), MANY_ITEMS | {"neighbours": "replace"}),
    "choices": (DpChoice(), CHOICES),
    "choices replaced": (DpChoice(), CHOICES | {"neighbours": "replace", "rows_per_person": 3}),
    "sets from views": (Itemsets(), ITEMS | {"mine": "views"}),
    **{
        f"{name}, suggested": (method, keys | {"origins": {"a": "data"}})
        for name, method, keys in (
            ("counts", DpCube(), CUBE),
            ("views", PriView(), VIEWS),
            ("itemsets", Itemsets(), ITEMS),
            ("choices", DpChoice(), CHOICES),
        )
    },
    "graph, suggested": (DpGraph(), GRAPH | {"origins": "data"}),
}


def _made(plan: str) -> tuple[PrivateMethod, Manifest, Tables]:
    """Plan, draw and process: the manifest and the tables."""
    method, raw = PLANS[plan]
    given = {key: value for key, value in raw.items() if value is not None}
    parameters = parse_parameters(method.parameters, given, "plan")
    roles = dict.fromkeys(("a", "b", "c", "pay", "person", *MANY), Role.INSENSITIVE)
    made = method.design(PrivateInput(roles, {}, parameters), TOKEN, silent)
    source = MemorySource.of(tuple(roles), _rows(graph=isinstance(method, DpGraph)))
    debit = debit_for_tests(made.charge.cost)
    noisy = made.measure(source, debit, SeededBits(7), TOKEN, silent).noisy
    tables = {table.file: table for table in made.process(noisy, TOKEN, silent)}
    said = {
        "parameters": effective_parameters(method.parameters, parameters, method.parameters),
        "guarantee": made.guarantee.as_json(),
        "result": dict(made.result),
    }
    return method, stated(said), tables


def _rows(*, graph: bool) -> list[tuple[str, ...]]:
    if graph:
        ends = [("u", "v"), ("v", "w"), ("x", "u"), ("y", "z"), ("z", "u")]
        return [(*pair, "", "", "p", *MANY) for pair in ends]
    return [
        (
            *(f"a{i % 2}", f"b{i % 3}", f"c{i // 3 % 2}", str(5 * (i % 17)), f"p{i}"),
            *(str(int(i % (place + 2) == 0)) for place in range(len(MANY))),
        )
        for i in range(60)
    ]


@pytest.fixture(autouse=True)
def _no_ledger(monkeypatch: Patch) -> None:
    """The ledger would refuse draws that cost more than was paid; here the verifier is alone."""
    monkeypatch.setattr(Design, "check_paid", lambda *_: None)


@pytest.mark.parametrize("plan", PLANS)
def test_an_honest_release_passes(plan: str) -> None:
    method, manifest, tables = _made(plan)
    found = {check.claim: check.status for check in method.verify(manifest, tables, TOKEN)}
    assert {CheckStatus.FAILED, CheckStatus.NOT_CHECKED}.isdisjoint(found.values()), found


@dataclass(frozen=True)
class Fault:
    """One fact of the planner that is wrong, in one plan."""

    plan: str
    name: str
    put: Callable[[Patch], None]


def _result_of(patch: Patch, owner: Any, name: str, change: Callable[[Any], Any]) -> None:
    """What a function of the planner gives is changed."""
    true = getattr(owner, name)
    patch.setattr(owner, name, lambda *args, **keys: change(true(*args, **keys)))


def _read_as(kind: type, **facts: Any) -> Callable[[Patch], None]:
    """The settings are misread by the planner, while the plan stays what it is."""
    true = kind.from_parameters  # type: ignore[attr-defined]

    def put(patch: Patch) -> None:
        def read(*given: Any) -> Any:
            return replace(true(*given), **facts)

        patch.setattr(kind, "from_parameters", read)

    return put


def _changed(owner: Any, name: str, change: Callable[[Any], Any]) -> Callable[[Patch], None]:
    return lambda patch: _result_of(patch, owner, name, change)


def _sized(size: int, fixed: bool = True) -> Callable[[Patch], None]:
    found = GenericSensitivity(size, fixed, Origin.ENUMERATED)
    return lambda patch: patch.setattr(planned, "generic_sensitivity", lambda *_: found)


def _formula(size: int, fixed: bool = True) -> Callable[[Patch], None]:
    found = GenericSensitivity(size, fixed, Origin.FORMULA)
    return lambda patch: patch.setattr(planned, "generic_sensitivity", lambda *_: found)


def _base_alone(plan: Any) -> Any:
    return replace(plan, sources=(NoiseSource(7, Fraction(1)),))


def _shares(times: Fraction) -> Callable[[Any], Any]:
    return lambda plan: replace(
        plan, sources=tuple(replace(each, share=each.share * times) for each in plan.sources)
    )


def _first_share_twice(plan: Any) -> Any:
    first, *rest = plan.sources
    return replace(plan, sources=(replace(first, share=first.share * 2), *rest))


def _stated(key: str, change: Callable[[Any], Any]) -> Callable[[Patch], None]:
    """What the design says of itself in a key of the result."""
    return _changed(design, "_result", lambda result: result | {key: change(result[key])})


def _of_graph(key: str, change: Callable[[Any], Any]) -> Callable[[Patch], None]:
    return _changed(graph_design, "_result", lambda result: result | {key: change(result[key])})


def _of_views(key: str, change: Callable[[Any], Any]) -> Callable[[Patch], None]:
    return _changed(view_design, "_result", lambda result: result | {key: change(result[key])})


def _of_itemsets(key: str, change: Callable[[Any], Any]) -> Callable[[Patch], None]:
    return _changed(itemset_design, "_result", lambda result: result | {key: change(result[key])})


def _drawn_with(**changes: Callable[[Any], Any]) -> Callable[[Patch], None]:
    """Itemsets are drawn with other rates, or with another scale."""
    return _changed(
        itemset_design.Pace,
        "of",
        lambda pace: replace(pace, **{key: to(getattr(pace, key)) for key, to in changes.items()}),
    )


def _twice(place: int, rates: Any) -> Any:
    return tuple(rate * (2 if place == at else 1) for at, rate in enumerate(rates))


def _of_choices(key: str, change: Callable[[Any], Any]) -> Callable[[Patch], None]:
    return _changed(choice_design, "_result", lambda result: result | {key: change(result[key])})


def _first_view_twice(chosen: Any) -> Any:
    return replace(chosen, shares=(chosen.shares[0] * 2, *chosen.shares[1:]))


def _single_views(chosen: Any) -> Any:
    """Views of one column each, which are not those that the plan asks for."""
    columns = sorted({place for view in chosen.views for place in view})
    share = Fraction(1, len(columns))
    views = tuple((place,) for place in columns)
    return replace(chosen, views=views, shares=(share,) * len(columns))


def _guaranteed(owner: Any, **facts: Any) -> Callable[[Patch], None]:
    return _changed(owner, "stated", lambda found: found | facts)


def _turned(domain: Any) -> Any:
    """The categories of the first dimension in another order."""
    if not domain.dimensions:
        return domain
    first, *rest = domain.dimensions
    texts = first.categories[::-1]
    known = {text: i for i, text in enumerate(texts)}
    return replace(domain, dimensions=(replace(first, categories=texts, known=known), *rest))


def _first_entry(**facts: Any) -> Callable[[Any], Any]:
    return lambda listed: [listed[0] | facts, *listed[1:]]


def _otherwise_exact(listed: Any) -> Any:
    return [item | {"exact": not item["exact"]} for item in listed]


def _shifted(tables: Any) -> Any:
    first, *rest = tables
    return (replace(first, values=first.values + 1), *rest)


def _property(kind: type, name: str, change: Callable[[Any], Any]) -> Callable[[Patch], None]:
    """What a property of the settings gives is changed."""
    true = getattr(kind, name).fget
    return lambda patch: patch.setattr(kind, name, property(lambda own: change(true(own))))


QUARTILE = Wanted("pay", Fraction(1, 4), Fraction(0), Fraction(90), Fraction(10))


def _off_grid(tables: Any) -> Any:
    first, *rest = tables
    return (replace(first, values=first.values + 3), *rest)


def _in_last(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The values of the last table are others."""

    def changed(tables: Any) -> Any:
        *rest, last = tables
        return (*rest, replace(last, values=change(last.values)))

    return changed


HALF = Fraction(1, 2)
FAULTS = [
    # where categories come from
    *(
        Fault(f"{name}, suggested", f"origin {wrong}", _read_as(kind, origins=wrong))
        for name, kind in (
            ("counts", CubeSettings),
            ("views", CubeSettings),
            ("itemsets", ItemsetSettings),
            ("choices", ChoiceSettings),
        )
        for wrong in ({}, {"a": "typed"})
    ),
    Fault("graph, suggested", "origin", _read_as(GraphSettings, origins="typed")),
    # noise: scale, sensitivity, kind, budget, variance
    *(
        Fault(plan, "scale", _changed(channels, "spread", lambda found: found * HALF))
        for plan in PLANS
        if isinstance(PLANS[plan][0], DpCube)
    ),
    *(
        Fault(
            plan,
            "l1",
            _changed(RowEffect, "of_cuboid", lambda s: replace(s, l1=s.l1 / 2)),
        )
        for plan in ("counts", "replaced", "sums", "sums replaced", "averages", "two exact")
    ),
    *(
        Fault(
            plan,
            "l2",
            _changed(RowEffect, "of_cuboid", lambda s: replace(s, l2_squared=s.l2_squared / 2)),
        )
        for plan in ("gaussian", "optimal")
    ),
    Fault(
        "residuals",
        "l2 of a residual",
        _changed(RowEffect, "of_residual", lambda found: found / 2),
    ),
    *(
        Fault(plan, "variance", _changed(channels, "stated_variance", lambda found: found * 0.9))
        for plan in ("counts", "gaussian", "sums", "averages", "residuals", "one exact")
    ),
    Fault("counts", "kind of noise", _read_as(CubeSettings, noise=Noise.GAUSSIAN)),
    Fault("gaussian", "kind of noise", _read_as(CubeSettings, noise=Noise.LAPLACE)),
    Fault("gaussian", "delta", _read_as(CubeSettings, delta=Fraction(1, 10**9))),
    *(
        Fault(plan, "budget", _read_as(CubeSettings, budget=Fraction(2)))
        for plan in ("counts", "gaussian", "averages", "residuals", "three exact")
    ),
    Fault("replaced", "neighbours", _read_as(CubeSettings, replace=False)),
    Fault("counts", "neighbours", _read_as(CubeSettings, replace=True)),
    Fault("replaced", "rows per person", _read_as(CubeSettings, rows_per_person=1)),
    Fault("sums", "bounds", _changed(channels, "bounds_in_steps", lambda found: (-4, 10))),
    Fault(
        "sums replaced",
        "bounds",
        _changed(channels, "bounds_in_steps", lambda f: (f[0], f[1] // 2)),
    ),
    Fault(
        "averages",
        "bounds",
        _changed(channels, "bounds_in_steps", lambda f: (f[0] // 2, f[1] // 2)),
    ),
    # what is measured and published
    Fault("all tables", "noise sources", _changed(design, "noise_plan", _base_alone)),
    Fault("optimal", "noise sources", _changed(design, "noise_plan", _shares(Fraction(3, 2)))),
    Fault("all tables", "shares", _changed(design, "noise_plan", _shares(Fraction(2)))),
    Fault("all tables", "one share", _changed(design, "noise_plan", _first_share_twice)),
    Fault("some tables", "tables", _read_as(CubeSettings, published=(0, 1, 2))),
    Fault(
        "some tables",
        "forbidden tables",
        _read_as(CubeSettings, published=tuple(range(7)), forbidden=frozenset()),
    ),
    Fault("counts", "planner", _read_as(CubeSettings, planner="base", published=(7,))),
    Fault("residuals", "basis", _read_as(CubeSettings, residuals=False)),
    Fault("counts", "categories", _changed(design, "declared_of", _turned)),
    Fault("sums", "measure", _read_as(CubeSettings, measures=(channels.Measure("count"),))),
    # what is stated of it
    *(
        Fault("counts", key, _stated(key, change))
        for key, change in {
            "sensitivity": lambda found: found / 2,
            "scales": lambda found: [scale / 2 for scale in found],
            "max_variance": lambda found: found * 0.9,
            "shares": lambda found: ["1/1000" for _ in found],
            "noise_sources": lambda found: [*found[::-1], found[0]],
            "biased": lambda found: not found,
            "residuals": lambda found: not found,
            "proven": lambda found: True,
            "outside": lambda found: {"a": "a0"},
            "domains": lambda found: found[::-1],
            "cuboids": _first_entry(variance=0.5),
        }.items()
    ),
    Fault("counts", "cells", _stated("cuboids", _first_entry(cells=2))),
    Fault("averages", "averages", _stated("cuboids", lambda found: found[:-1])),
    # exact tables
    *(Fault("three exact", f"minimal change {size}", _sized(size)) for size in (10, 6, 4, 2)),
    *(Fault("two exact", f"minimal change {size}", _formula(size)) for size in (2, 6)),
    Fault("one exact", "minimal change", _formula(1, fixed=False)),
    Fault("exact cells", "minimal change", _formula(1, fixed=False)),
    Fault("three exact", "the number of rows", _sized(8, fixed=False)),
    Fault("one exact", "which tables are exact", _stated("cuboids", _otherwise_exact)),
    Fault(
        "one exact",
        "exact numbers",
        _changed(
            processing,
            "_with_exact",
            lambda found: {mask: values + 0.5 for mask, values in found.items()},
        ),
    ),
    # the last steps
    Fault("counts", "consistency", _changed(design, "processed", _shifted)),
    Fault("averages", "ratio", _changed(processing, "average", lambda found: found * 0.99)),
    Fault("whole numbers", "rounding", _changed(processing, "_in_units", lambda v: v + 0.25)),
    Fault("whole numbers", "negative", _changed(processing, "_in_units", lambda v: v - 10**6)),
    Fault("no consistency", "grid", _changed(processing, "_in_units", lambda v: v + 0.25)),
    # the guarantee's facts
    *(
        Fault("counts", f"guarantee, {key}", _guaranteed(guarantee, **{key: value}))
        for key, value in {
            "epsilon": 0.5,
            "noise": "none",
            "neighbours": "replace",
            "rows_per_person": 2,
            "minimal_change": 2,
        }.items()
    ),
    Fault("gaussian", "guarantee, rho", _guaranteed(guarantee, rho=0.25)),
    Fault("gaussian", "guarantee, delta", _guaranteed(guarantee, delta=1e-9)),
    Fault("two exact", "guarantee, change", _guaranteed(guarantee, minimal_change=8)),
    # what sentences say of the budget, worded again by the same program
    *(
        Fault(plan, "epsilon in words", _changed(owner, "epsilon_of", lambda found: found / 2))
        for plan, owner in (
            ("counts", guarantee_words),
            ("gaussian", guarantee_words),
            ("two exact", guarantee),
            ("graph", graph_words),
            ("graph, gaussian", graph_words),
        )
    ),
    *(
        Fault(
            plan, "suspicion in words", _changed(guarantee_words, "suspicion_after", lambda _: "11")
        )
        for plan in ("counts", "degrees")
    ),
    # graphs
    *(
        Fault(plan, "minimal change", _changed(KnownDegrees, "change", lambda found: found - 1))
        for plan in ("directed", "degrees", "graph, gaussian")
    ),
    *(
        Fault(
            plan, "variance", _changed(graph_design, "stated_variance", lambda found: found * 0.9)
        )
        for plan in ("graph", "degrees", "graph, gaussian")
    ),
    *(
        Fault(plan, "budget", _read_as(GraphSettings, budget=Fraction(2)))
        for plan in ("graph", "degrees", "graph, gaussian")
    ),
    Fault("directed", "direction", _read_as(GraphSettings, directed=False)),
    Fault("directed", "neighbours", _read_as(GraphSettings, replace=False)),
    Fault("graph, gaussian", "edges per person", _read_as(GraphSettings, rows_per_person=1)),
    Fault("graph, gaussian", "kind of noise", _read_as(GraphSettings, noise=Noise.LAPLACE)),
    Fault("graph", "nodes", _read_as(GraphSettings, nodes=tuple("zyxwvu"))),
    Fault("degrees", "which degrees are exact", _read_as(GraphSettings, exact_first=("u",))),
    Fault("graph, gaussian", "the number of edges", _read_as(GraphSettings, exact_edges=False)),
    *(
        Fault("degrees", f"stated {key}", _of_graph(key, change))
        for key, change in {
            "sensitivity": lambda found: found - 1,
            "scales": lambda found: [scale / 2 for scale in found],
            "max_variance": lambda found: found * 0.9,
            "exact": lambda found: {"minimal_change": 1},
            "noise_sources": lambda found: [],
            "cuboids": _first_entry(variance=0.5),
        }.items()
    ),
    Fault("degrees", "guarantee, change", _guaranteed(graph_words, minimal_change=1)),
    Fault("graph", "guarantee, epsilon", _guaranteed(graph_words, epsilon=0.5)),
    Fault("degrees", "tables", _changed(graph_design, "published_tables", _shifted)),
    # views, and sets that are read from them
    *(
        Fault(plan, "l1", _changed(RowEffect, "of_cuboid", lambda s: replace(s, l1=s.l1 / 2)))
        for plan in ("views", "views replaced", "sets from views")
    ),
    *(
        Fault(plan, name, put)
        for plan in ("views", "views, gaussian", "chosen views", "sets from views")
        for name, put in (
            ("scale", _changed(channels, "spread", lambda found: found * HALF)),
            ("variance", _changed(channels, "stated_variance", lambda found: found * 0.9)),
            ("budget", _read_as(CubeSettings, budget=Fraction(2))),
            ("categories", _changed(view_design, "declared_of", _turned)),
            ("one share", _changed(view_design, "chosen_views", _first_view_twice)),
            ("other views", _changed(view_design, "chosen_views", _single_views)),
            ("tables", _changed(view_design.ViewDesign, "view_tables", _shifted)),
            ("epsilon in words", _changed(guarantee_words, "epsilon_of", lambda found: found / 2)),
        )
    ),
    Fault("views, gaussian", "kind of noise", _read_as(CubeSettings, noise=Noise.LAPLACE)),
    Fault("views, gaussian", "delta", _read_as(CubeSettings, delta=Fraction(1, 10**9))),
    Fault("views replaced", "neighbours", _read_as(CubeSettings, replace=False)),
    Fault("views replaced", "rows per person", _read_as(CubeSettings, rows_per_person=1)),
    Fault("views", "marginals", _read_as(ViewSettings, marginals=((1,),))),
    Fault("views", "how marginals are made", _read_as(ViewSettings, entropy=False)),
    *(
        Fault("views", f"stated {key}", _of_views(key, change))
        for key, change in {
            "sensitivity": lambda found: found + 1,
            "scales": lambda found: [scale / 2 for scale in found],
            "max_variance": lambda found: found * 0.9,
            "shares": lambda found: ["1/1000" for _ in found],
            "noise_sources": lambda found: [*found[::-1], found[0]],
            "biased": lambda found: not found,
            "residuals": lambda found: not found,
            "proven": lambda found: True,
            "outside": lambda found: {"a": "a0"},
            "domains": lambda found: found[::-1],
            "views": _first_entry(variance=0.5),
            "marginals": _first_entry(covered=True),
        }.items()
    ),
    Fault("views", "variance of a marginal", _of_views("marginals", _first_entry(variance=0.5))),
    *(
        Fault(plan, f"guarantee, {key}", _guaranteed(guarantee, **{key: value}))
        for plan in ("views", "sets from views")
        for key, value in {"epsilon": 0.5, "noise": "none", "rows_per_person": 2}.items()
    ),
    *(
        Fault(plan, name, put)
        for plan in ("views", "views, gaussian", "chosen views")
        for name, put in (
            ("planned", _changed(PlannedNoise, "variance", lambda found: found / 2)),
            (
                "marginals",
                _changed(
                    AgreeingViews, "marginal", lambda found: replace(found, values=found.values + 1)
                ),
            ),
            (
                "a marginal that disagrees",
                _changed(view_design.ViewDesign, "process", _in_last(lambda found: found * 1.01)),
            ),
            ("a table less", _changed(view_design.ViewDesign, "process", lambda found: found[:-1])),
        )
    ),
    *(
        Fault("views", f"stated {name}", _of_views(key, change))
        for name, key, change in (
            ("cells of a view", "views", _first_entry(cells=3)),
            ("file of a view", "views", _first_entry(file="views/x.csv")),
            ("columns of a view", "views", _first_entry(dimensions=["a", "c"])),
            ("view twice", "views", lambda found: [*found, found[0]]),
            ("cells of a marginal", "marginals", _first_entry(cells=3)),
            ("a marginal less", "marginals", lambda found: found[:-1]),
        )
    ),
    # choices
    *(
        Fault(plan, name, put)
        for plan in ("choices", "choices replaced")
        for name, put in (
            ("share", _property(ChoiceSettings, "share", lambda found: found * 2)),
            ("quantile", _read_as(ChoiceSettings, wanted=(QUARTILE, Wanted("b")))),
            ("order", _read_as(ChoiceSettings, wanted=(Wanted("b"), QUARTILE))),
            ("groups", _read_as(ChoiceSettings, groups=())),
            ("neighbours in words", _guaranteed(choice_design, neighbours="other")),
            ("rows in words", _guaranteed(choice_design, rows_per_person=7)),
            (
                "a number off the grid",
                _changed(choice_design.ChoiceDesign, "process", _off_grid),
            ),
            (
                "a table less",
                _changed(choice_design.ChoiceDesign, "process", lambda found: found[:-1]),
            ),
        )
    ),
    *(
        Fault("choices", f"stated {key}", _of_choices("choices", _first_entry(**{key: wrong})))
        for key, wrong in {
            "candidates": 9,
            "width": "1/2",
            "rate": "1",
            "error": 0.5,
            "file": "choices/x.csv",
            "dimensions": ["b"],
        }.items()
    ),
    *(
        Fault(plan, name, put)
        for plan in ("choices", "choices replaced")
        for name, put in (
            ("budget", _read_as(ChoiceSettings, budget=Fraction(2))),
            ("one choice", _read_as(ChoiceSettings, wanted=(Wanted("b"),))),
            ("width", _changed(ChoiceSettings, "width", lambda found: found / 2)),
            ("rate", _changed(ChoiceSettings, "rate", lambda found: found * 2)),
            ("candidates", _changed(choice_design, "candidates_of", lambda found: found + 1)),
            ("error", _changed(choice_design, "error_of", lambda found: found / 2)),
            ("epsilon in words", _changed(guarantee_words, "epsilon_of", lambda found: found / 2)),
            ("guarantee, epsilon", _guaranteed(choice_design, epsilon=0.5)),
            ("categories", _changed(choice_design, "_declared", _turned)),
        )
    ),
    Fault("choices replaced", "neighbours", _read_as(ChoiceSettings, replace=False)),
    Fault("choices replaced", "rows per person", _read_as(ChoiceSettings, rows_per_person=1)),
    *(
        Fault("choices", f"stated {key}", _of_choices(key, change))
        for key, change in {
            "shares": lambda found: ["1/4", "3/4"],
            "outside": lambda found: {"a": "a0"},
            "domains": lambda found: found[::-1],
            "choices": lambda found: found[::-1],
        }.items()
    ),
    *(
        Fault("choices", f"stated {key} of a choice", _of_choices("choices", change))
        for key, change in {
            "quantile": _first_entry(quantile=0.25),
            "column": _first_entry(column="b"),
            "cells": _first_entry(cells=True),
            "texts": _first_entry(texts=True),
        }.items()
    ),
    # itemsets
    *(
        Fault(plan, name, put)
        for plan in ("itemsets", "itemsets replaced")
        for name, put in (
            ("budget", _read_as(ItemsetSettings, budget=Fraction(2))),
            ("sets", _read_as(ItemsetSettings, top=2)),
            ("epsilon in words", _changed(guarantee_words, "epsilon_of", lambda found: found / 2)),
            ("guarantee, epsilon", _guaranteed(itemset_words, epsilon=0.5)),
            ("categories", _changed(itemset_design, "_declared", _turned)),
            ("order", _changed(itemset_design, "top_sets", lambda found: found[::-1])),
        )
    ),
    *(
        Fault(plan, name, put)
        for plan in ("itemsets", "itemsets replaced", "many items")
        for name, put in (
            ("shares", _property(ItemsetSettings, "shares", lambda found: (*found, HALF))),
            ("width", _property(ItemsetSettings, "width", lambda found: Fraction(found, 2))),
            ("bases or one", _property(ItemsetSettings, "chooses", lambda found: not found)),
            ("neighbours in words", _guaranteed(itemset_words, neighbours="other")),
            ("rows in words", _guaranteed(itemset_words, rows_per_person=7)),
            (
                "a set twice",
                _changed(itemset_design, "top_sets", lambda found: [found[0], *found[:-1]]),
            ),
            ("a set less", _changed(itemset_design, "top_sets", lambda found: found[:-1])),
        )
    ),
    Fault("itemsets", "longest", _read_as(ItemsetSettings, longest=1)),
    *(
        Fault("many items", name, _changed(itemset_design, "chosen_bases", change))
        for name, change in {
            "a basis twice": lambda found: (*found, found[0]),
            "fewer items": lambda found: ((0,),),
            "a larger basis": lambda found: (tuple(range(13)),),
        }.items()
    ),
    *(
        Fault("sets from views", name, put)
        for name, put in (
            ("other counts", _changed(mined, "mined_sets", lambda f: [(n + 5, s) for n, s in f])),
            ("order of sets", _changed(mined, "mined_sets", lambda found: found[::-1])),
            ("a set less", _changed(mined, "mined_sets", lambda found: found[:-1])),
            ("how many sets", _read_as(ItemsetSettings, top=2)),
            ("length of sets", _read_as(ItemsetSettings, longest=1)),
        )
    ),
    *(
        Fault(plan, "scale", _drawn_with(scale=lambda scale: scale / 2))
        for plan in ("itemsets", "itemsets replaced", "many items")
    ),
    *(
        Fault("many items", f"rate {place}", _drawn_with(rates=partial(_twice, place)))
        for place in range(2)
    ),
    Fault("itemsets replaced", "neighbours", _read_as(ItemsetSettings, replace=False)),
    Fault("itemsets replaced", "rows per person", _read_as(ItemsetSettings, rows_per_person=1)),
    *(
        Fault("itemsets", f"stated {key}", _of_itemsets(key, change))
        for key, change in {
            "sensitivity": lambda found: found + 1,
            "shares": lambda found: ["1/1000" for _ in found],
            "outside": lambda found: {"a": "a0"},
            "domains": lambda found: found[::-1],
            "itemsets": lambda found: found[::-1],
            "scale": lambda found: "1/2",
            "rates": lambda found: ["1"],
        }.items()
    ),
]


def test_every_method_with_noise_is_among_them() -> None:
    private = {method.id for method in default_registry() if isinstance(method, PrivateMethod)}
    assert {PLANS[fault.plan][0].id for fault in FAULTS} == private


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.plan}: {fault.name}")
def test_a_wrong_fact_of_the_planner_is_found(fault: Fault, monkeypatch: Patch) -> None:
    fault.put(monkeypatch)
    method, manifest, tables = _made(fault.plan)
    try:
        checks = method.verify(manifest, tables, TOKEN)
    except (InputError, ValueError):  # what cannot be read fails, see dpdesk.app.verifying
        return
    assert CheckStatus.FAILED in {check.status for check in checks}
