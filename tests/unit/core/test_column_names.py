"""Names of columns meet by NFC, wherever the settings of a method hold them."""

from __future__ import annotations

import pytest

from dpdesk.core.errors import InputError
from dpdesk.core.plan import Plan
from dpdesk.core.schema import (
    BY_COLUMN,
    OF_CELLS,
    OF_COLUMNS,
    OF_TABLES,
    check_forms,
    columns_of,
    spelling,
    with_names,
)
from dpdesk.engine.methods.registered import default_registry

NFC, NFD = "r\u00e9gion", "re\u0301gion"
OTHERS = frozenset(
    {
        *("k", "max_suppression", "model", "algorithm", "objective", "prefer", "l", "partition"),
        *("planner", "theta", "basis", "noise", "neighbours", "consistency", "nonnegative"),
        *("integral", "labels", "follows", "epsilon", "rho", "delta", "rows_per_person", "graph"),
        *("nodes", "exact_nodes", "exact_in_nodes", "exact_edges"),
        *("strict", "values", "local", "condition", "missing_as", "households"),
        *("household_id", "population", "k_map", "delta_min", "delta_max"),
        *("view_size", "view_cells", "cover", "reconstruct", "top", "longest", "mine"),
        *("total", "rule", "protect", "base", "secondary", "cost", "singletons", "attacker"),
        *("range", "sliding", "tell_apart", "deviation", "variance", "marks", "sample"),
    }
)
"""Settings that name no column."""


def test_every_setting_of_every_method_is_known_to_name_columns_or_not() -> None:
    known = BY_COLUMN | OF_COLUMNS | OF_TABLES | OTHERS | {OF_CELLS}
    keys = {one.key for method in default_registry() for one in method.parameters}
    assert keys <= known, "say of a new setting whether it names columns"
    assert keys >= {"sensitive", "dimensions", "ends", "exact", "measure", "targets"}


def test_every_column_that_settings_name_is_listed_once() -> None:
    given = {
        "groups": ("region",),
        "domains": {"region": ("n",), "job": ("cook",)},
        "choose": ({"quantile": 1, "of": "pay"}, {"mode": "job"}),
        "ends": ("from", "to"),
        "measure": {"sum": "income", "lower": 0},
        "epsilon": 1,
        "swap": {"columns": ["place"], "match": ["age"], "share": 0.1},
        "waive": {"column": "agrees", "values": ["yes"]},
    }
    named = {"region", "job", "pay", "from", "to", "income", "place", "age", "agrees"}
    assert set(columns_of(given)) == named
    assert columns_of({"measure": "count", "publish": "all"}) == ()


def test_two_columns_with_one_name_are_refused_by_both_names() -> None:
    check_forms(["age", NFC, "sex"], "a.csv")
    with pytest.raises(InputError) as caught:
        check_forms([NFC, "age", NFD], "a.csv")
    assert caught.value.code == "source.name-forms"
    assert r"r\xe9gion" in caught.value.sentence
    assert r"re\u0301gion" in caught.value.sentence


def test_a_name_in_both_forms_keeps_its_own() -> None:
    assert [spelling([NFC, NFD])(name) for name in (NFC, NFD)] == [NFC, NFD]
    assert spelling([NFD])(NFC) == NFD
    assert spelling([NFD])("other") == "other"


def test_every_place_that_names_a_column_is_respelled_and_no_category_is() -> None:
    given = {
        "dimensions": (NFC, "age"),
        "levels": {NFC: 1},
        "domains": {NFC: (NFC, "b")},
        "origins": {NFC: "typed"},
        "outside": {NFC: NFC},
        "counted_by": (NFC,),
        "publish": ((NFC, "age"), ()),
        "forbid": ((NFC,),),
        "exact": ((NFC,), {"cuboid": (NFC,), "cells": ((NFC,),)}),
        "weights": ({"dimensions": (NFC,), "weight": 2},),
        "targets": ({"dimensions": (NFC,), "error": 2},),
        "measure": ({"sum": NFC, "lower": 0}, "count"),
        "labels": NFC,
    }
    found = with_names(given, spelling([NFD, "age"]))
    assert found == {
        "dimensions": (NFD, "age"),
        "levels": {NFD: 1},
        "domains": {NFD: (NFC, "b")},
        "origins": {NFD: "typed"},
        "outside": {NFD: NFC},
        "counted_by": (NFD,),
        "publish": ((NFD, "age"), ()),
        "forbid": ((NFD,),),
        "exact": ((NFD,), {"cuboid": (NFD,), "cells": ((NFC,),)}),
        "weights": ({"dimensions": (NFD,), "weight": 2},),
        "targets": ({"dimensions": (NFD,), "error": 2},),
        "measure": ({"sum": NFD, "lower": 0}, "count"),
        "labels": NFC,
    }


def test_a_single_measure_is_respelled_too_and_words_of_settings_are_not() -> None:
    spelled = spelling(["age"])
    assert with_names({"measure": {"sum": "age"}}, spelled) == {"measure": {"sum": "age"}}
    found = with_names({"measure": {"average": NFC}, "publish": NFC}, spelling([NFD]))
    assert found == {"measure": {"average": NFD}, "publish": NFC}


def test_a_plan_that_names_one_column_in_two_forms_is_refused() -> None:
    plan = Plan.from_plain(
        {
            "version": 1,
            "source": {"path": "a.csv", "types": {NFD: "text"}},
            "attributes": {NFC: {"role": "identifier"}},
            "protection": {"method": "x", "sensitive": [NFC]},
        },
        "plan.toml",
    )
    found = plan.spelled_as([NFD], "plan.toml")
    assert list(found.attributes) == [NFD]
    assert found.protection.parameters["sensitive"] == (NFD,)
    both = {NFC: {"role": "identifier"}, NFD: {"role": "identifier"}}
    twice = Plan.from_plain(plan.as_plain() | {"attributes": both}, "plan.toml")
    with pytest.raises(InputError) as caught:
        twice.spelled_as([NFD], "plan.toml")
    assert caught.value.code == "plan.name-forms"
