"""Every sentence of every guarantee is in an independent table, which says when it is true."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.language.speaker import voice_of
from dpdesk.core.messages import frame
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.pseudonyms import Linkage
from dpdesk.core.release import Guarantee
from dpdesk.core.schema import Role
from dpdesk.engine.method import MethodInput, RowsMethod
from dpdesk.engine.methods.anatomy.settings import anatomy_guarantee
from dpdesk.engine.methods.k_anonymity.guarantee import k_guarantee
from dpdesk.engine.methods.l_diverted.guarantee import diverted_guarantee
from dpdesk.engine.methods.randomised_response.settings import response_guarantee
from dpdesk.engine.methods.registered import default_registry
from dpdesk.engine.methods.table.guarantee import Promise, table_guarantee
from dpdesk.engine.private.method import PrivateInput, PrivateMethod
from tests.helpers.memory_tables import MemorySource
from tests.reference.guarantee_cells import CELLS
from tests.reference.guarantee_response import RESPONSE
from tests.reference.guarantee_table import PRIVATE, ROWS, Entry, Truth, entry_of, parted

CUBE: dict[str, Any] = {
    "dimensions": ["sex", "region"],
    "domains": {"sex": ["f", "m"], "region": ["n", "s", "w"]},
}
GRAPH: dict[str, Any] = {"ends": ["sex", "region"], "nodes": list("fmnsw")}
ITEMSETS: dict[str, Any] = {
    "dimensions": ["sex", "region"],
    "domains": {"sex": ["f", "m"], "region": ["n", "s"]},
    "top": 2,
}
CHOICE: dict[str, Any] = {
    "groups": ["sex"],
    "domains": {"sex": ["f", "m"], "region": ["n", "s"]},
    "choose": [
        {"quantile": 0.5, "of": "pay", "lower": 0, "upper": 10},
        {"mode": "region"},
    ],
}
BUDGETS: tuple[dict[str, Any], ...] = (
    {"epsilon": 1}, {"epsilon": 900}, {"rho": 0.5}, {"rho": 0.01, "delta": 0.001},
)  # fmt: skip
ORIGINS = ("typed", "file", "code-list", "data")
MORE: dict[str, tuple[dict[str, Any], ...]] = {
    "dp-cube": (
        {},
        {"labels": "source"},
        {"measure": {"sum": "pay", "lower": -3, "upper": 5}},
        {"measure": {"average": "pay", "lower": 0, "upper": 5}},
        {"exact": [["sex"]]},
        {"exact": [["sex"], ["region"]]},
        {"exact": [[]]},
        {"exact": [{"cuboid": ["sex", "region"], "cells": [["f", "n"]]}]},
        {"exact": [{"cuboid": ["sex", "region"], "cells": [["f", "n"], ["m", "s"]]}]},
        *({"origins": {"sex": origin}} for origin in ORIGINS),
    ),
    "dp-graph": (
        {},
        {"graph": "directed"},
        {"exact": "degrees"},
        {"exact": "degrees", "exact_nodes": ["f"]},
        {"exact": "out-degrees", "graph": "directed"},
        {"exact_edges": True},
        {"exact_edges": True, "exact": "degrees", "exact_nodes": ["f", "m"]},
        *({"origins": origin} for origin in ORIGINS),
    ),
    "itemsets": (
        {},
        {"longest": 1},
        {"mine": "views"},
        *({"origins": {"sex": origin}} for origin in ORIGINS),
        {"origins": {"sex": "data"}, "mine": "views"},
    ),
    "dp-choice": (
        {},
        {"choose": [{"mode": "region"}]},
        *({"origins": {"region": origin}} for origin in ORIGINS),
    ),
}
MORE["priview"] = ({}, *({"origins": {"sex": origin}} for origin in ORIGINS))
NAMED = {"dp-cube": CUBE, "dp-graph": GRAPH, "priview": CUBE, "itemsets": ITEMSETS}
NAMED["dp-choice"] = CHOICE
NAMED["randomised-response"] = {
    "drawn": ["sex"],
    "domains": {"sex": ["f", "m", "other"]},
    "epsilon": 1,
}
KINDS = {"dp-cube": "cube", "dp-graph": "graph", "priview": "cube", "itemsets": "cube"}
KINDS["dp-choice"] = "cube"


def sentences(guarantee: Guarantee) -> Iterator[tuple[str, str]]:
    """All of a guarantee, sentence by sentence."""
    parts = (("claim", (guarantee.claim,)), ("assumes", guarantee.assumes))
    for part, texts in (*parts, ("limits", guarantee.does_not_cover)):
        for text in texts:
            yield from ((part, sentence) for sentence in parted(text))


def _truth(name: str, raw: dict[str, Any], change: object) -> Truth:
    given = raw.get("origins", {})
    origins = {given} if isinstance(given, str) else {*given.values(), "unknown"}
    measure = raw.get("measure")
    return Truth(
        kind=KINDS[name],
        epsilon=raw.get("epsilon"),
        rho=raw.get("rho"),
        delta=raw.get("delta", 1e-6),
        replace=raw.get("neighbours") == "replace",
        rows=raw.get("rows_per_person", 1),
        change=int(str(change or 0)),
        directed=raw.get("graph") == "directed",
        sums=isinstance(measure, dict),
        labels="labels" in raw,
        origins=frozenset(origins or {"unknown"}),
    )


def _private_cases() -> Iterator[tuple[str, Guarantee, Truth]]:
    """Guarantees of releases with noise of every kind of plan, each with what is true of it."""
    for name, more in MORE.items():
        method = default_registry().get(name, "plan")
        assert isinstance(method, PrivateMethod)
        keys_known = {parameter.key for parameter in method.parameters}
        budgets = [budget for budget in BUDGETS if keys_known >= set(budget)]
        settings = product(budgets, ({}, {"neighbours": "replace"}), (1, 3), more, (False, True))
        for budget, neighbours, rows, keys, clustered in settings:
            raw = NAMED[name] | budget | neighbours | keys | {"rows_per_person": rows}
            if name == "itemsets" and "rho" in raw and "mine" not in raw:
                continue  # bases are chosen and counted with ε alone
            roles = {"sex": Role.QUASI_IDENTIFIER, "region": Role.QUASI_IDENTIFIER}
            roles |= {"pay": Role.SENSITIVE} | ({"house": Role.CLUSTER} if clustered else {})
            parameters = parse_parameters(method.parameters, raw, "plan")
            design = method.design(PrivateInput(roles, {}, parameters), CancelToken(), silent)
            change = design.guarantee.parameters.get("minimal_change")
            truth = _truth(name, raw, change)
            yield f"{name} {raw}", design.guarantee, replace(truth, cluster=clustered)


_L, _T, _BETA = ({"model": f"{name}", "attribute": "pay"} for name in (
    "l-diversity", "t-closeness", "beta-likeness",
))  # fmt: skip
REQUIRED: tuple[tuple[dict[str, object], ...], ...] = (
    (_L | {"variant": "distinct", "l": 3}, _T | {"variant": "equal", "t": 0.2}),
    (_L | {"variant": "entropy", "l": 2.5},),
    (_L | {"variant": "recursive", "l": 2, "c": 1.5},),
    (_T | {"variant": "ordered", "t": 0.25, "order": "values"},),
    (_T | {"variant": "ordered", "t": 0.25, "order": "hierarchy"},),
    (_T | {"variant": "hierarchical", "t": 0},),
    ({"model": "alpha-k", "attribute": "pay", "alpha": 0.5},),
    (_BETA | {"variant": "basic", "beta": 1},),
    (_BETA | {"variant": "enhanced", "beta": 0.5},),
)

_PEOPLE: tuple[dict[str, object], ...] = (
    {"k_map": 7},
    {"delta_min": 0, "delta_max": 0.5},
    {"k_map": 2, "delta_min": 0.1, "delta_max": 1},
)


def _row_cases() -> Iterator[tuple[str, Guarantee, Truth]]:
    """Guarantees of k-anonymous and of drawn rows, with what is true of them."""
    sensitive, plain, weight = Role.SENSITIVE, Role.INSENSITIVE, Role.WEIGHT
    links = (
        {}, {"id": Linkage(False, "2026")}, {"id": Linkage(True, "")},
        {"id": Linkage(False, ""), "team": Linkage(True, "d")},
    )  # fmt: skip
    others = (
        {}, {"pay": sensitive}, {"job": plain}, {"job": plain, "branch": plain},
        {"pay": sensitive, "house": Role.CLUSTER, "w": weight}, {"w": weight, "v": weight},
    )  # fmt: skip
    for quasi, rest, linkages, gone in product((1, 2), others, links, (0, 4)):
        names = ("sex", "region")[:quasi]
        roles = dict.fromkeys(names, Role.QUASI_IDENTIFIER) | rest
        roles |= dict.fromkeys(linkages, Role.PSEUDONYM)
        columns = _columns(names, rest) | _pseudonyms(linkages)
        truth = Truth("k", k=3, smallest=4, suppressed=gone, columns=columns)
        yield f"k {roles}", k_guarantee(3, 4, gone, roles, linkages), truth
        for said, matched in () if linkages else (("any", "any"), ("none", "nothing")):
            made = k_guarantee(3, 4, gone, roles, {}, (), {"missing_as": said})
            yield f"k {roles} {said}", made, replace(truth, missing=matched)
        for asked in () if linkages or "pay" not in rest else REQUIRED:
            made = k_guarantee(3, 4, gone, roles, {}, asked)
            yield f"k {roles} {asked}", made, replace(truth, required=asked)
        if not linkages or "id" in linkages:
            made = k_guarantee(3, 4, gone, roles, linkages, (), {"households": "whole"})
            yield f"k {roles} households", made, replace(truth, households=True)
        for people in () if linkages else _PEOPLE:
            made = k_guarantee(3, 4, gone, roles, {}, (), people)
            yield f"k {roles} {people}", made, replace(truth, people=people)
    for drawn, quasi, rest, size, k, gone in product(
        (("pay",), ("pay", "job")), (0, 1, 2), others[2:], (2, 5), (0, 4), (0, 1, 7)
    ):
        if k and not quasi:
            continue
        names = ("sex", "region")[:quasi]
        kept = {name: role for name, role in rest.items() if name not in drawn}
        roles = dict.fromkeys(names, Role.QUASI_IDENTIFIER) | kept
        roles |= dict.fromkeys((*drawn, "illness"), sensitive)
        columns = _columns(names, kept | {"illness": sensitive}) | {"drawn": drawn}
        suppressed = gone if k else 0
        truth = Truth("drawn", k=k, size=size, removed=gone, suppressed=suppressed, columns=columns)
        made = diverted_guarantee(size, drawn, roles, gone, k or None, suppressed)
        yield f"drawn {roles} {size}", made, truth


def _apart_cases() -> Iterator[tuple[str, Guarantee, Truth]]:
    for quasi, rest, size in product((0, 1, 2), ({}, {"job": Role.SENSITIVE}), (2, 5)):
        names = ("sex", "region")[:quasi]
        roles = dict.fromkeys(names, Role.QUASI_IDENTIFIER) | rest | {"age": Role.INSENSITIVE}
        columns = _columns(names, rest | {"age": Role.INSENSITIVE}) | {"apart": ("illness",)}
        truth = Truth("apart", size=size, columns=columns)
        yield f"apart {roles} {size}", anatomy_guarantee(size, "illness", roles), truth


def _response_cases() -> Iterator[tuple[str, Guarantee, Truth]]:
    """Guarantees of rows with values drawn from a budget."""
    others = ({}, {"age": Role.INSENSITIVE}, {"sex": Role.QUASI_IDENTIFIER, "job": Role.SENSITIVE})
    recorded = ({}, *({"pay": origin} for origin in ORIGINS))
    for epsilon, rows, drawn, roles, origins in product(
        ("0.1", "1", "2.5", "900"), (1, 3), (("pay",), ("pay", "illness")), others, recorded
    ):
        quasi = tuple(name for name, role in roles.items() if role is Role.QUASI_IDENTIFIER)
        rest = {name: role for name, role in roles.items() if name not in quasi}
        columns = _columns(quasi, rest) | {"drawn": drawn}
        said = {origins.get(name, "unknown") for name in drawn}
        truth = Truth(
            "response", epsilon=float(epsilon), rows=rows, columns=columns, origins=frozenset(said)
        )
        made = response_guarantee(Fraction(epsilon), rows, drawn, roles, origins)
        yield f"response {epsilon} {rows} {drawn} {roles} {origins}", made, truth


def _columns(quasi: tuple[str, ...], rest: dict[str, Role]) -> dict[str, tuple[str, ...]]:
    by_role = {role.value: tuple(n for n, each in rest.items() if each is role) for role in Role}
    return by_role | {"quasi": quasi}


def _pseudonyms(linkages: dict[str, Linkage]) -> dict[str, tuple[str, ...]]:
    persons = tuple(name for name, each in linkages.items() if not each.groups)
    groups = tuple(name for name, each in linkages.items() if each.groups)
    return {
        **({"pseudonym": persons} if persons else {}), **({"groups": groups} if groups else {})
    }  # fmt: skip


def _cell_cases() -> Iterator[tuple[str, Guarantee, Truth]]:
    """Guarantees of protected tables."""
    bounds = ((0.0, None), (0.5, None), (0.25, 1.5), (0.0, 2.0))
    either = False, True
    for audited, alone, present, several, (lower, upper) in product(*(either,) * 4, bounds):
        top = None if upper is None else Fraction(str(upper))
        given = Promise("suppress", audited, 0, alone, Fraction(str(lower)), top, present)
        given = replace(given, several=several)
        truth = Truth(
            "cells",
            protect="suppress",
            audited=audited,
            several=several,
            alone=alone,
            present=present,
            lower=lower,
            upper=upper,
        )
        yield f"cells {given}", table_guarantee(given), truth
    for protect, base in (
        ("controlled-round", 5),
        ("random-round", 1000),
        ("none", 0),
        ("adjust", 0),
    ):
        truth = Truth("cells", protect=protect, size=base)
        yield protect, table_guarantee(Promise(protect, base=base)), truth
    for most, variance in ((1, "0.5"), (5, "2.5"), (12, "3")):
        truth = Truth("cells", protect="cell-key", size=most, lower=float(variance))
        given = Promise("cell-key", deviation=most, variance=Fraction(variance))
        yield f"cell-key {most}", table_guarantee(given), truth


@cache
def cell_cases() -> tuple[tuple[str, Guarantee, Truth], ...]:
    """See :func:`_cell_cases`."""
    return tuple(_cell_cases())


@cache
def private_cases() -> tuple[tuple[str, Guarantee, Truth], ...]:
    """See :func:`_private_cases`."""
    return tuple(_private_cases())


@cache
def row_cases() -> tuple[tuple[str, Guarantee, Truth], ...]:
    """See :func:`_row_cases` and :func:`_apart_cases`."""
    return (*_row_cases(), *_apart_cases())


@cache
def response_cases() -> tuple[tuple[str, Guarantee, Truth], ...]:
    """See :func:`_response_cases`."""
    return tuple(_response_cases())


@cache
def met() -> tuple[frozenset[Entry], tuple[str, ...]]:
    """The entries that some guarantee has, and what no entry fits."""
    found: set[Entry] = set()
    unknown = []
    groups = (
        *((private_cases(), PRIVATE), (row_cases(), ROWS), (cell_cases(), CELLS)),
        (response_cases(), RESPONSE),
    )
    for cases, entries in groups:
        for name, guarantee, truth in cases:
            for part, sentence in sentences(guarantee):
                entry = entry_of(part, sentence, entries, truth)
                if entry is None:
                    unknown.append(f"{name}: {part}: {sentence}")
                else:
                    found.add(entry)
    return frozenset(found), tuple(unknown)


def test_every_sentence_is_known_and_true_where_it_stands() -> None:
    assert not met()[1]


def test_every_sentence_is_said_in_german() -> None:
    german = voice_of("de")
    groups = private_cases(), row_cases(), cell_cases(), response_cases()
    made = [guarantee for cases in groups for _, guarantee, _ in cases]
    said = {text for each in made for text in (each.claim, *each.assumes, *each.does_not_cover)}
    assert sorted(text for text in said if german.known(text) is None) == []


def test_every_method_is_asked() -> None:
    asked = {*MORE, "k-anonymity", "anatomy", "l-diverted", "table", "randomised-response"}
    assert {method.id for method in default_registry()} == asked


def test_other_requirements_than_the_stated_ones_are_noticed() -> None:
    for name, guarantee, truth in row_cases():
        for at, each in enumerate(truth.required):
            keys = {key for key, value in each.items() if isinstance(value, int | float)}
            for changed in ({"attribute": "job"}, *({key: 7} for key in keys)):
                asked = [*truth.required]
                asked[at] = each | changed
                other = replace(truth, required=tuple(asked))
                found = [entry_of(*said, ROWS, other) for said in sentences(guarantee)]
                assert None in found, name


def test_a_larger_loss_than_stated_is_noticed() -> None:
    for name, guarantee, truth in private_cases():
        if truth.epsilon is not None and truth.epsilon > 700:
            continue  # odds beyond any number
        more = {
            "epsilon": truth.epsilon and truth.epsilon * 1.1,
            "rho": truth.rho and truth.rho * 1.1,
        }
        worse = replace(truth, **more)
        found = [entry_of(*each, PRIVATE, worse) for each in sentences(guarantee)]
        assert None in found, name


@pytest.mark.parametrize("changed", [{"rows": 2}, {"epsilon": 0.05}, {"epsilon": 3.0}])
def test_other_facts_on_drawn_values_are_noticed(changed: dict[str, Any]) -> None:
    for name, guarantee, truth in response_cases():
        other = replace(truth, **changed)
        found = [entry_of(*each, RESPONSE, other) for each in sentences(guarantee)]
        assert None in found, name


@pytest.mark.parametrize("changed", [{"rows": 2}, {"delta": 1e-9}])
def test_other_facts_than_the_stated_ones_are_noticed(changed: dict[str, Any]) -> None:
    for _, guarantee, truth in private_cases():
        other = replace(truth, **changed)
        found = [entry_of(*each, PRIVATE, other) for each in sentences(guarantee)]
        assert None in found or ("delta" in changed and truth.rho is None)


def _guarantee_of(name: str, origins: object) -> Guarantee:
    """The guarantee of a plan that declares categories or nodes and states these origins."""
    method = default_registry().get(name, "plan")
    roles = {"sex": Role.INSENSITIVE, "region": Role.INSENSITIVE, "pay": Role.SENSITIVE}
    parameters = parse_parameters(
        method.parameters, NAMED[name] | {"epsilon": 1, "origins": origins}, "plan"
    )
    if isinstance(method, PrivateMethod):
        return method.design(PrivateInput(roles, {}, parameters), CancelToken(), silent).guarantee
    assert isinstance(method, RowsMethod)
    source = MemorySource.of(tuple(roles), [("f", "n", "1")])
    given = MethodInput(roles, {}, parameters, source=source)
    return method.decide(given, CancelToken(), silent).guarantee


@pytest.mark.parametrize(
    "name",
    [
        method.id
        for method in default_registry()
        if {"domains", "nodes"} & {parameter.key for parameter in method.parameters}
    ],
)
def test_every_guarantee_on_declared_categories_says_where_they_come_from(name: str) -> None:
    one = "nodes" in NAMED[name]
    said = {
        origin: " ".join(_guarantee_of(name, origin if one else {"sex": origin}).assumes)
        for origin in ORIGINS
    }
    words = ("by hand", "a file" if one else "a hierarchy", "code list", "from the data, and are")
    for origin, text in said.items():
        found = {each for each, part in zip(ORIGINS, words, strict=True) if part in text}
        assert found == {origin}, name
    unknown = "unknown" if one else {}
    assert "not recorded" in " ".join(_guarantee_of(name, unknown).assumes)
    wrong = "nobody" if one else {"sex": "nobody"}
    with pytest.raises(InputError, match="origins"):
        _guarantee_of(name, wrong)


ELSEWHERE = frozenset(
    text.strip()
    for text in (
        # the budget that is missing, and charts
        "Give ε (or ρ), the privacy loss that you are ready to spend: nothing is chosen for you. "
        "Until then, errors are drawn for a budget of 1, and nothing is spent.",
        ", except with a chance of ",
        # several releases that are read as one: tests/unit/engine/cubes/test_together.py
        "The losses of these ",
        " releases are added up.",
        "No single sentence holds for these ",
        " releases together: each has its own claim, and their costs add up.",
        # the ledger
        ", published exactly",
        # notes of a design
        "Nothing protects ",
        ". All other noise is made for a minimal change of up to ",
        " rows in addition to that",
        " times that for one person",
        " computed that number.",
        "The noise is made for ",
        (
            ", not for all edges of a node: anyone who has many edges stays visible as someone "
            "who has many."
        ),
        " edges of one person",
        ". The noise is made for a minimal change of up to ",
        " in addition to that.",
        "1 edge",
        "The plan vouches for at most ",
        " edges per person; nothing enforces it.",
        # no exact number of a graph leaves a change of one edge
        "at most 1 edge comes or goes",
        # a fault of the program
        "a class of ",
        " rows does not satisfy k = ",
    )
)
"""Texts in the same modules that are in no guarantee."""
WORDED = (
    "private/guarantee_words", "cubes/guarantee", "cubes/exact/words",
    "methods/l_diverted/guarantee", "methods/k_anonymity/guarantee",
    "methods/dp_graph/words:_ORIGINS graph_guarantee exact_names _degrees _edges _claim _assumes"
    " _not_covered",
    "methods/anatomy/settings:anatomy_guarantee _not_covered",
    "methods/randomised_response/settings:response_guarantee _not_covered",
)  # fmt: skip
"""Modules that word guarantees; of those that do more, the definitions that do."""


def literals(place: str) -> Iterator[str]:
    """The fixed parts of the texts in the code of a module, its docstrings left out."""
    module, _, names = place.partition(":")
    path = Path(__file__).parents[2] / "dpdesk" / "engine" / f"{module}.py"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if names:
        found = {
            node.name if isinstance(node, ast.FunctionDef) else ast.unparse(node.targets[0]): node
            for node in tree.body
            if isinstance(node, ast.FunctionDef | ast.Assign)
        }
        tree = ast.Module([found[name] for name in names.split()], [])
    passed = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in passed
        ):
            yield from frame(node.value)[0]


@pytest.mark.parametrize("module", WORDED)
def test_no_sentence_is_worded_that_no_case_here_has(module: str) -> None:
    said = [
        text
        for cases in (private_cases(), row_cases(), response_cases())
        for _, made, _ in cases
        for text in (made.claim, *made.assumes, *made.does_not_cover, made.model)
    ]
    whole = "\n".join(dict.fromkeys(said))
    missing = [
        text
        for text in literals(module)
        if " " in text.strip() and text.strip() not in whole and text.strip() not in ELSEWHERE
    ]
    assert not missing
