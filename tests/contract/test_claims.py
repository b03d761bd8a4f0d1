"""No sentence of a guarantee says more than its facts, by a table of what the methods allow.

The rules stand in ``tests/reference/claims.py`` and share nothing with the code that words things.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.parameters import ChoiceParameter, parse_parameters
from dpdesk.core.pseudonyms import Linkage
from dpdesk.core.release import Guarantee
from dpdesk.core.resources import resource
from dpdesk.core.schema import Role
from dpdesk.engine.methods.k_anonymity.guarantee import k_guarantee
from dpdesk.engine.methods.l_diverted.guarantee import diverted_guarantee
from dpdesk.engine.methods.registered import default_registry
from dpdesk.engine.private.method import PrivateInput, PrivateMethod
from tests.reference.claims import Facts, faults

QUASI, SENSITIVE, PLAIN = Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.INSENSITIVE
ROLES = {"sex": QUASI, "region": QUASI, "pay": SENSITIVE, "house": Role.CLUSTER}
DOMAINS = {"sex": ["f", "m"], "region": ["n", "s", "w"]}
CUBE: dict[str, Any] = {"dimensions": ["sex", "region"], "domains": DOMAINS}
GRAPH: dict[str, Any] = {"ends": ["sex", "region"], "nodes": list("fmnsw")}
SUM = {"sum": "pay", "lower": -20, "upper": 90, "step": 10}
AVERAGE = {"average": "pay", "lower": 0, "upper": 90, "step": 10}
EXACT = {"exact": [["sex"]]}
PRIVATE = (
    [
        ("dp-cube", CUBE | more)
        for more in (
            {"epsilon": 1},
            {"epsilon": 20},
            {"epsilon": 0.3, "rows_per_person": 4},
            {"epsilon": 1, "neighbours": "replace"},
            {"rho": 0.5},
            {"rho": 0.01, "delta": 0.001, "measure": SUM},
            {"rho": 0.5, "neighbours": "replace"},
            {"rho": 0.5, "neighbours": "replace", "delta": 0.001},
            {"rho": 0.5},
            {"rho": 2, "delta": 0.01, "measure": SUM},
            {"epsilon": 1, "measure": SUM},
            {"epsilon": 1, "measure": AVERAGE, "neighbours": "replace"},
            {"epsilon": 1} | EXACT,
            {"epsilon": 1, "neighbours": "replace"} | EXACT,
            {"rho": 0.5} | EXACT,
        )
    ]
    + [
        ("dp-graph", GRAPH | more)
        for more in (
            {"epsilon": 1},
            {"epsilon": 1, "rows_per_person": 3},
            {"rho": 0.5, "rows_per_person": 3},
            {"epsilon": 2, "neighbours": "replace"},
            {"rho": 0.5},
            {"rho": 0.5, "neighbours": "replace", "graph": "directed"},
            {"epsilon": 1, "exact": "degrees"},
            {"rho": 0.5, "exact": "out-degrees", "graph": "directed"},
            {"epsilon": 1, "exact_edges": True},
        )
    ]
    + [
        ("priview", CUBE | more)
        for more in (
            {"epsilon": 1, "rows_per_person": 3},
            {"epsilon": 2, "neighbours": "replace"},
            {"rho": 0.5, "marginals": {"size": 1}},
        )
    ]
)


def sentences(guarantee: Guarantee) -> Iterator[tuple[str, str]]:
    """Every part of a guarantee with the kind of statement that it is."""
    yield "claim", guarantee.claim
    yield from (("assumes", each) for each in guarantee.assumes)
    yield from (("limits", each) for each in guarantee.does_not_cover)


def number(value: object) -> float | None:
    return None if value is None else float(Fraction(str(value)))


def said_too_much(guarantee: Guarantee, facts: Facts) -> list[str]:
    return [
        f"{fault}: {sentence}"
        for part, sentence in sentences(guarantee)
        for fault in faults(sentence, facts, part)
    ]


@pytest.mark.parametrize("case", PRIVATE, ids=lambda case: f"{case[0]}-{sorted(case[1])}")
@pytest.mark.parametrize("clustered", [False, True], ids=["rows", "persons"])
def test_a_guarantee_with_noise_says_no_more_than_its_budget(
    case: tuple[str, dict[str, Any]], clustered: bool
) -> None:
    name, raw = case
    method = default_registry().get(name, "plan")
    assert isinstance(method, PrivateMethod)
    roles = {column: role for column, role in ROLES.items() if clustered or column != "house"}
    parameters = parse_parameters(method.parameters, raw, "plan")
    design = method.design(PrivateInput(roles, {}, parameters), CancelToken(), silent)
    facts = Facts(
        epsilon=number(parameters["epsilon"]),
        rho=number(parameters["rho"]),
        delta=number(parameters["delta"]) or 1e-6,
        replace=raw.get("neighbours") == "replace",
        exact="exact" in raw or "exact_edges" in raw,
    )
    assert said_too_much(design.guarantee, facts) == []


@pytest.mark.parametrize(
    ("origins", "said"),
    [
        ({}, "Where the categories of sex and region come from is not recorded."),
        ({"sex": "typed"}, "Where the categories of region come from is not recorded."),
        ({"sex": "data"}, "The categories of sex were suggested from the data, and are assumed to"),
        ({"sex": "file", "region": "file"}, "The categories of sex and region come from a"),
        ({"sex": "code-list"}, "The categories of sex come from the code list of the source."),
    ],
)
def test_a_guarantee_says_of_categories_no_more_than_is_recorded(
    origins: dict[str, str], said: str
) -> None:
    method = default_registry().get("dp-cube", "plan")
    assert isinstance(method, PrivateMethod)
    raw = CUBE | {"epsilon": 1} | ({"origins": origins} if origins else {})
    given = PrivateInput({}, {}, parse_parameters(method.parameters, raw, "plan"))
    guarantee = method.design(given, CancelToken(), silent).guarantee
    assert any(each.startswith(said) for each in guarantee.assumes)
    assert said_too_much(guarantee, Facts(epsilon=1)) == []
    declared = [each for each in guarantee.assumes if "without looking at the data" in each]
    assert all("are taken to have been fixed" in each for each in declared)
    recorded = [name for name, origin in origins.items() if origin == "typed"]
    stated = [each for each in guarantee.assumes if "written by hand" in each]
    assert bool(recorded) is bool(stated)


@pytest.mark.parametrize("raw", [{"sex": "nobody"}, {"age": "typed"}, {"sex": ["typed"]}])
def test_an_origin_that_is_none_is_refused(raw: dict[str, object]) -> None:
    method = default_registry().get("dp-cube", "plan")
    values = CUBE | {"epsilon": 1, "origins": raw}
    parameters = parse_parameters(method.parameters, values, "plan")
    with pytest.raises(InputError, match="origins"):
        method.check(("sex", "region"), {"sex": QUASI, "region": QUASI}, parameters, "plan")


@pytest.mark.parametrize("others", [{}, {"pay": SENSITIVE}, {"pay": PLAIN, "house": Role.CLUSTER}])
@pytest.mark.parametrize("quasi", [["sex"], ["sex", "region"]])
@pytest.mark.parametrize(
    "linkages", [{}, {"id": Linkage(False, "2026")}, {"id": Linkage(True, "")}]
)
def test_k_anonymity_names_what_it_assumes_before_its_chance(
    others: dict[str, Role], quasi: list[str], linkages: dict[str, Linkage]
) -> None:
    roles = dict.fromkeys(quasi, QUASI) | others | dict.fromkeys(linkages, Role.PSEUDONYM)
    guarantee = k_guarantee(3, 4, 2, roles, linkages)
    assert said_too_much(guarantee, Facts(k=3, others=bool(others))) == []
    assert guarantee.claim.startswith("For someone who knows only sex")


@pytest.mark.parametrize("drawn", [["pay"], ["pay", "job"]])
@pytest.mark.parametrize("k", [None, 5])
@pytest.mark.parametrize("size", [2, 3])
def test_drawn_values_name_what_is_assumed_before_their_chance(
    drawn: list[str], k: int | None, size: int
) -> None:
    roles = {"sex": QUASI, "pay": SENSITIVE, "job": SENSITIVE, "branch": PLAIN}
    guarantee = diverted_guarantee(size, drawn, roles, 1, k, 0 if k is None else 7)
    assert said_too_much(guarantee, Facts(k=k, size=size, others=True)) == []
    assert guarantee.claim.startswith("For someone who knows of the true values only how often")


def texts_of_methods() -> Iterator[str]:
    for method in default_registry():
        yield from (method.title, method.summary, method.promise)
        for parameter in method.parameters:
            yield from (parameter.label, parameter.help)
            if isinstance(parameter, ChoiceParameter):
                yield from (
                    part for choice in parameter.choices for part in (choice.label, choice.help)
                )


def texts_of_pages() -> Iterator[str]:
    for entry in files("dpdesk").joinpath("report", "templates").iterdir():
        if entry.name.endswith(".html"):
            yield from re.findall(r"\{% t[^%]*%\}(.*?)\{% endt %\}", entry.read_text("utf-8"), re.S)


def texts_for_readers() -> Iterator[str]:
    documents = [
        *(entry for entry in resource("docs").iterdir() if entry.name.endswith(".md")),
        Path(__file__).parents[2] / "README.md",
    ]
    for entry in documents:
        if entry.name != "changes.md":
            yield from re.split(r"(?<=[.:;])\s|\n\n|\|", entry.read_text(encoding="utf-8"))


def literals_of(layer: str) -> Iterator[str]:
    """The texts in the code of a layer, those next to each other joined as Python joins them."""
    import ast

    for path in (Path(__file__).parents[2] / "dpdesk" / layer).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = [p.value if isinstance(p, ast.Constant) else "{x}" for p in node.values]
                yield "".join(map(str, parts))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


@pytest.mark.parametrize(
    "texts", [texts_of_methods, texts_of_pages, texts_for_readers], ids=lambda each: each.__name__
)
def test_texts_on_methods_say_no_more_than_every_release_of_them_keeps(texts: Any) -> None:
    found = [each for each in texts() if list(faults(" ".join(each.split()), None, "text"))]
    assert not found


@pytest.mark.parametrize("layer", ["engine", "report", "project", "app", "ui", "io", "cli"])
def test_no_sentence_of_the_program_uses_words_that_no_fact_bears_out(layer: str) -> None:
    from tests.reference.claims import OVERSTATED

    found = [
        text
        for text in literals_of(layer)
        if " " in text and any(re.search(each, text, re.I) for each in OVERSTATED)
    ]
    assert not found


@pytest.mark.parametrize(
    ("sentence", "facts"),
    [
        ("so a match is right with a chance of at most 1 in 3.", Facts(k=3)),
        ("For someone who knows only age of a person, a match is right with a chance of 1 in 3",
         Facts(k=3, others=True)),
        ("For someone who knows only age of a person, a match is right with a chance of 1 in 9",
         Facts(k=3)),
        ("Whatever someone else knows, what is published hardly changes the odds", None),
        ("Categories of a dimension; never taken from the data.", None),
        ("Whatever is published, the odds of a guess about a person change by at most e^ε.", None),
        ("Odds between two values of a person: these change by up to ×2.72.", Facts(epsilon=1)),
        ("Odds between two values of a person: these change by up to ×10^17.", Facts(epsilon=20)),
        ("the odds that a person is in the data change by at most ×2.71", Facts(epsilon=1)),
        ("the odds that a person is in the data change by at most ×9",
         Facts(epsilon=1, replace=True)),
        ("A suspicion of 10 % can rise to at most 23 %.", Facts(epsilon=1)),
        ("the odds between two data sets change by at most ×900", Facts(rho=0.5, exact=True)),
        ("The categories were fixed without looking at the data.", Facts(epsilon=1)),
    ],
)  # fmt: skip
def test_the_rules_find_sentences_that_say_too_much(sentence: str, facts: Facts | None) -> None:
    assert list(faults(sentence, facts))
