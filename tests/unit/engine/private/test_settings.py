"""What the settings of all methods with noise share."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from dpdesk.core.budget import Neighbours, PureEpsilon, ZeroConcentrated
from dpdesk.core.errors import InputError
from dpdesk.core.schema import Role
from dpdesk.engine.cubes.parameters import PARAMETERS as CUBE
from dpdesk.engine.methods.dp_graph.settings import PARAMETERS as GRAPH
from dpdesk.engine.private.kinds import Noise
from dpdesk.engine.private.settings import (
    PrivateSettings,
    check_clusters,
    check_named,
    cluster_of,
    read_budget,
)


@pytest.mark.parametrize(
    ("epsilon", "rho", "found"),
    [(None, None, "neither `epsilon` nor `rho`"), (1, 2, "both `epsilon` and `rho`")],
)
def test_a_budget_is_epsilon_or_rho_and_never_both(epsilon: Any, rho: Any, found: str) -> None:
    with pytest.raises(InputError, match=found) as refused:
        read_budget({"epsilon": epsilon, "rho": rho}, "graph.budget", "The plan")
    assert refused.value.code == "graph.budget"


def test_rho_buys_gaussian_noise_and_epsilon_laplace_noise() -> None:
    half = Fraction(1, 2)
    assert read_budget({"epsilon": half, "rho": None}, "x", "") == (Noise.LAPLACE, half)
    assert read_budget({"epsilon": None, "rho": half}, "x", "") == (Noise.GAUSSIAN, half)


def test_a_charge_is_in_the_budgets_own_measure_and_names_whom_it_protects() -> None:
    one, small = Fraction(1), Fraction(1, 10)
    pure = PrivateSettings(Noise.LAPLACE, one, small, False, 3).charge("household", "")
    assert (pure.cost, pure.neighbours) == (PureEpsilon(one), Neighbours.ADD_REMOVE)
    assert (pure.unit.rows, pure.unit.cluster, pure.draws) == (3, "household", ())
    concentrated = PrivateSettings(Noise.GAUSSIAN, one, small, True, 1).charge(None, "the total")
    assert concentrated.cost == ZeroConcentrated(one)
    assert (concentrated.neighbours, concentrated.outside) == (Neighbours.REPLACE, "the total")


def test_an_unknown_column_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(InputError) as refused:
        check_named("frm", ["from", "to"], "ends", "The plan")
    assert refused.value.details == {"key": "ends", "nearest": "from"}
    check_named("from", ["from", "to"], "ends", "The plan")


def test_one_column_at_most_says_whose_rows_belong_together() -> None:
    roles = {"a": Role.INSENSITIVE, "b": Role.CLUSTER}
    check_clusters(roles, "graph.role", "ends", "The plan")
    assert (cluster_of(roles), cluster_of({"a": Role.INSENSITIVE})) == ("b", None)
    with pytest.raises(InputError, match="2 columns have the role cluster"):
        check_clusters(roles | {"a": Role.CLUSTER}, "graph.role", "ends", "The plan")


@pytest.mark.parametrize("name", ["epsilon", "rho", "delta", "rows_per_person", "neighbours"])
def test_cubes_and_graphs_take_the_same_values_of_what_they_share(name: str) -> None:
    cube, graph = (next(one for one in all_ if one.key == name) for all_ in (CUBE, GRAPH))
    assert type(cube) is type(graph)
    assert (cube.range_text(), cube.default_value()) == (graph.range_text(), graph.default_value())
