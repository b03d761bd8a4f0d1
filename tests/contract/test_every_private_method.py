"""What every method that draws noise promises: designs without data, one look, paid for."""

from __future__ import annotations

import json
import random
from dataclasses import fields
from fractions import Fraction
from inspect import signature
from typing import Any

import numpy as np
import pytest

from dpdesk.core.budget import Debit, PureEpsilon
from dpdesk.core.errors import Cancelled, InputError, RefusedError
from dpdesk.core.frequency import FrequencyTable
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.parameters import Parameter, effective_parameters, parse_parameters
from dpdesk.core.release import CheckStatus
from dpdesk.core.schema import Role
from dpdesk.engine.methods.registered import default_registry
from dpdesk.engine.private.method import Design, NoisyTables, PrivateInput, PrivateMethod
from tests.helpers.debits import debit_for_tests
from tests.helpers.known_bits import SeededBits
from tests.helpers.memory_tables import MemorySource
from tests.helpers.stated import stated

METHODS = [method for method in default_registry() if isinstance(method, PrivateMethod)]
COLUMNS = ("name", "sex", "region", "pay")
ROLES = {
    "name": Role.IDENTIFIER,
    "sex": Role.QUASI_IDENTIFIER,
    "region": Role.QUASI_IDENTIFIER,
    "pay": Role.SENSITIVE,
}
DOMAINS = {"sex": ["f", "m"], "region": ["n", "s", "w"]}
ITEMS = {"sex": ["f", "m"], "region": ["n", "s"]}
PLANS: dict[str, list[dict[str, Any]]] = {
    "dp-cube": [
        {"dimensions": ["sex", "region"], "domains": DOMAINS, "epsilon": 1},
        {"dimensions": ["sex", "region"], "domains": DOMAINS, "rho": 0.5, "planner": "all"},
        {
            "dimensions": ["region"],
            "domains": {"region": DOMAINS["region"]},
            "epsilon": 0.25,
            "measure": {"sum": "pay", "lower": 0, "upper": 90, "step": 10},
        },
    ],
    "dp-graph": [
        {"ends": ["sex", "region"], "nodes": list("fmnsw"), "epsilon": 1},
        {
            "ends": ["sex", "region"],
            "nodes": list("fmnsw"),
            "rho": 0.5,
            "graph": "directed",
            "exact": "out-degrees",
        },
    ],
    "priview": [
        {
            "dimensions": ["sex", "region"],
            "domains": DOMAINS,
            "epsilon": 1,
            "view_size": 1,
            "cover": 1,
            "marginals": [["sex", "region"]],
        },
        {"dimensions": ["sex", "region"], "domains": DOMAINS, "rho": 0.5, "neighbours": "replace"},
    ],
    "itemsets": [
        {"dimensions": ["sex", "region"], "domains": ITEMS, "epsilon": 1, "top": 2},
        {
            "dimensions": ["sex", "region"],
            "domains": ITEMS,
            "epsilon": 0.25,
            "top": 3,
            "longest": 2,
            "neighbours": "replace",
            "rows_per_person": 2,
        },
        {
            "dimensions": ["sex", "region"],
            "domains": ITEMS,
            "rho": 0.5,
            "top": 3,
            "mine": "views",
        },
    ],
    "dp-choice": [
        {
            "groups": ["sex"],
            "domains": {"sex": DOMAINS["sex"]},
            "choose": {"quantile": 0.5, "of": "pay", "lower": 0, "upper": 9000},
            "epsilon": 0.02,
        },
        {
            "groups": ["sex", "pay"],
            "domains": DOMAINS | {"pay": ["20", "5000", "other"]},
            "choose": {"mode": "region"},
            "epsilon": 0.02,
            "neighbours": "replace",
            "rows_per_person": 2,
        },
    ],
}
CASES = [(method, raw) for method in METHODS for raw in PLANS[method.id]]


class OneLook(MemorySource):
    """A source that counts how often it is asked."""

    looks: int = 0

    def frequency_table(self, attributes: Any, token: CancelToken) -> FrequencyTable:
        object.__setattr__(self, "looks", self.looks + 1)
        return super().frequency_table(attributes, token)


def people(count: int = 200) -> OneLook:
    draw = random.Random(2)
    rows = [
        (str(i), draw.choice("fmx"), draw.choice("nswq"), draw.choice(["20", "5000", "?"]))
        for i in range(count)
    ]
    return OneLook.of(COLUMNS, rows)  # type: ignore[return-value]


def design_of(method: PrivateMethod, raw: dict[str, Any]) -> tuple[PrivateInput, Design]:
    given = PrivateInput(ROLES, {}, parse_parameters(method.parameters, raw, "plan"))
    return given, method.design(given, CancelToken(), silent)


def paid(design: Design) -> Debit:
    return debit_for_tests(design.charge.cost, design.charge.draws)


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0].id}-{len(str(case[1]))}")
def case(request: pytest.FixtureRequest) -> tuple[PrivateMethod, dict[str, Any]]:
    found: tuple[PrivateMethod, dict[str, Any]] = request.param
    return found


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.id)
def test_every_parameter_has_a_label_a_help_and_a_range(method: PrivateMethod) -> None:
    keys = [parameter.key for parameter in method.parameters]
    assert len(set(keys)) == len(keys)
    for parameter in method.parameters:
        assert parameter.label
        assert parameter.help.endswith(".")
        assert parameter.range_text()


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.id)
def test_nonsense_is_refused_in_a_sentence_with_the_key(method: PrivateMethod) -> None:
    def refuses(parameter: Parameter, raw: object) -> None:
        with pytest.raises(InputError) as caught:
            parameter.parse(raw, "plan.toml, [protection]")
        assert f"`{parameter.key}`" in caught.value.sentence

    for parameter in method.parameters:
        for raw in (None, -1.5, {"no": object()}):
            refuses(parameter, raw)


def test_a_design_is_made_from_the_plan_alone(case: tuple[PrivateMethod, dict[str, Any]]) -> None:
    method, raw = case
    assert "source" not in {field.name for field in fields(PrivateInput)}
    _, first = design_of(method, raw)
    _, second = design_of(method, raw)
    assert first.result == second.result
    assert first.guarantee == second.guarantee
    assert first.charge == second.charge


def test_processing_sees_what_was_measured_and_nothing_else() -> None:
    assert list(signature(Design.process).parameters) == ["self", "noisy", "token", "report"]
    assert [field.name for field in fields(NoisyTables)] == ["values", "exact"]
    assert not NoisyTables(()).exact.values  # a design must say what it releases exactly


def test_a_debit_pays_for_one_measurement(case: tuple[PrivateMethod, dict[str, Any]]) -> None:
    method, raw = case
    _, design = design_of(method, raw)
    debit, source = paid(design), people()
    design.measure(source, debit, SeededBits(1), CancelToken(), silent)
    with pytest.raises(RefusedError) as caught:
        design.measure(source, debit, SeededBits(1), CancelToken(), silent)
    assert caught.value.code == "ledger.debit-used"


def test_a_debit_that_is_too_small_pays_for_nothing(
    case: tuple[PrivateMethod, dict[str, Any]],
) -> None:
    method, raw = case
    _, design = design_of(method, raw)
    small, source = debit_for_tests(PureEpsilon(Fraction(1, 100))), people()
    with pytest.raises(ValueError, match="another design"):
        design.measure(source, small, SeededBits(1), CancelToken(), silent)
    assert source.looks == 0


class Stopped(OneLook):
    """A source whose count is cancelled while it is made."""

    def frequency_table(self, attributes: Any, token: CancelToken) -> FrequencyTable:
        token.cancel()
        return super().frequency_table(attributes, CancelToken())


def test_a_count_that_is_cancelled_takes_no_debit(
    case: tuple[PrivateMethod, dict[str, Any]],
) -> None:
    method, raw = case
    _, design = design_of(method, raw)
    debit, source = paid(design), people()
    stopped = Stopped(**{each.name: getattr(source, each.name) for each in fields(source)})
    with pytest.raises(Cancelled):
        design.measure(stopped, debit, SeededBits(1), CancelToken(), silent)
    design.measure(source, debit, SeededBits(1), CancelToken(), silent)


def test_noise_is_whole_numbers_and_differs_from_draw_to_draw(
    case: tuple[PrivateMethod, dict[str, Any]],
) -> None:
    method, raw = case
    _, design = design_of(method, raw)
    drawn = [
        design.measure(people(), paid(design), SeededBits(seed), CancelToken(), silent).noisy
        for seed in (1, 1, 2)
    ]
    for table in drawn:
        assert all(values.dtype == np.int64 for values in table.values)
    same, other = (
        all(np.array_equal(a, b) for a, b in zip(drawn[0].values, table.values, strict=True))
        for table in drawn[1:]
    )
    assert same
    assert not other


def test_what_is_made_verifies(case: tuple[PrivateMethod, dict[str, Any]]) -> None:
    method, raw = case
    given, design = design_of(method, raw)
    noisy = design.measure(people(), paid(design), SeededBits(4), CancelToken(), silent).noisy
    tables = {table.file: table for table in design.process(noisy, CancelToken(), silent)}
    manifest = {
        "method": method.id,
        "parameters": effective_parameters(method.parameters, given.parameters, method.parameters),
        "guarantee": design.guarantee.as_json(),
        "result": dict(design.result),
    }
    loaded = stated(json.loads(json.dumps(manifest, allow_nan=False)))
    checks = method.verify(loaded, tables, CancelToken())
    assert all(check.status is not CheckStatus.FAILED for check in checks), checks
    assert any(check.status is CheckStatus.NOT_CHECKABLE for check in checks)


def test_a_cancelled_token_ends_every_step(case: tuple[PrivateMethod, dict[str, Any]]) -> None:
    method, raw = case
    _, design = design_of(method, raw)
    noisy = design.measure(people(), paid(design), SeededBits(4), CancelToken(), silent).noisy
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        design.measure(people(), paid(design), SeededBits(4), token, silent)
    with pytest.raises(Cancelled):
        design.process(noisy, token, silent)


def test_the_guarantee_says_its_limits(case: tuple[PrivateMethod, dict[str, Any]]) -> None:
    _, design = design_of(*case)
    guarantee = design.guarantee
    assert guarantee.claim.endswith(".")
    assert guarantee.assumes
    assert guarantee.does_not_cover
    assert "safe" not in guarantee.claim
