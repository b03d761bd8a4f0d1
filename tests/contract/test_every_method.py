"""What every registered method promises, whatever it does."""

from __future__ import annotations

import copy
import json
import random
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from dpdesk.core.charts import BarChart, ScatterChart
from dpdesk.core.errors import Cancelled, InputError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken, Event, StepProgress, StepStarted, silent
from dpdesk.core.parameters import (
    ChoiceParameter,
    FlagParameter,
    IntegerParameter,
    LevelsParameter,
    NumberTableParameter,
    Parameter,
    ShareParameter,
    TextParameter,
    parse_parameters,
)
from dpdesk.core.release import CheckStatus, Manifest
from dpdesk.core.schema import Role
from dpdesk.engine.method import MethodInput, Outcome, RowsMethod
from dpdesk.engine.methods.registered import default_registry
from dpdesk.engine.registry import Registry
from tests.contract.toy import CommonValues
from tests.helpers.memory_tables import MemoryPublished, MemorySource, publish
from tests.helpers.stated import stated

COLUMNS = ("name", "age", "region", "sex", "illness", "weight")
ROLES = {
    "name": Role.IDENTIFIER,
    "age": Role.QUASI_IDENTIFIER,
    "region": Role.QUASI_IDENTIFIER,
    "sex": Role.QUASI_IDENTIFIER,
    "illness": Role.SENSITIVE,
    "weight": Role.WEIGHT,
}
HIERARCHIES = {
    "age": Hierarchy.from_rows("age", [(str(age), f"{age // 10}0s", "*") for age in range(20, 70)]),
    "region": Hierarchy.from_rows(
        "region", [(f"r{place}", "north" if place < 4 else "south", "*") for place in range(8)]
    ),
    "sex": Hierarchy.from_rows("sex", [("f", "*"), ("m", "*")]),
}


def people(count: int = 400) -> MemorySource:
    draw = random.Random(7)
    rows = [
        (
            f"person {number}",
            str(draw.randrange(20, 70)),
            "" if number % 50 == 0 else f"r{draw.randrange(8)}",
            draw.choice("fm"),
            draw.choice(["none", "flu", "cold"]),
            "1.5",
        )
        for number in range(count)
    ]
    return MemorySource.of(COLUMNS, rows)


def registry_with_a_second_method() -> Registry:
    registry = default_registry()
    registry.add(CommonValues())
    return registry


METHODS = [m for m in registry_with_a_second_method() if isinstance(m, RowsMethod) and not m.draws]


@pytest.fixture(params=METHODS, ids=lambda method: method.id)
def method(request: pytest.FixtureRequest) -> RowsMethod:
    found: RowsMethod = request.param
    return found


def plain_parameters(method: RowsMethod) -> dict[str, object]:
    """A plan's keys as a new user would have them: suggestions, else nothing."""
    return {
        parameter.key: parameter.as_plain(parameter.suggested)
        for parameter in method.parameters
        if isinstance(parameter, IntegerParameter | ShareParameter)
        and parameter.suggested is not None
    }


def given_for(method: RowsMethod, **changes: object) -> MethodInput:
    raw = plain_parameters(method) | changes
    return MethodInput(
        ROLES, HIERARCHIES, parse_parameters(method.parameters, raw, "plan"), source=people()
    )


def run(method: RowsMethod, given: MethodInput | None = None) -> Outcome:
    return method.decide(given or given_for(method), CancelToken(), silent)


def manifest_of(method: RowsMethod, given: MethodInput, outcome: Outcome) -> Manifest:
    """A manifest as it comes back from its file."""
    manifest = {
        "method": method.id,
        "parameters": {
            each.key: each.as_plain(given.parameters[each.key])
            for each in method.parameters
            if each.public
        },
        "guarantee": outcome.guarantee.as_json(),
        "result": dict(outcome.result),
    }
    return stated(json.loads(json.dumps(manifest, allow_nan=False)))


def samples(parameter: Parameter) -> list[object]:
    """Plain values that a parameter must accept."""
    if isinstance(parameter, ChoiceParameter):
        return [choice.value for choice in parameter.choices]
    if isinstance(parameter, IntegerParameter):
        highest = parameter.minimum + 1000 if parameter.maximum is None else parameter.maximum
        return [parameter.minimum, highest, str(highest)]
    if isinstance(parameter, ShareParameter):
        return [0, 1, 0.02, "0.3", Decimal("0.125")]
    if isinstance(parameter, LevelsParameter):
        return [{"age": 1, "sex": 0}]
    if isinstance(parameter, FlagParameter):
        return [True, False]
    if isinstance(parameter, TextParameter):
        return ["people.csv", ""]
    if isinstance(parameter, NumberTableParameter):
        return [{"age": 2, "sex": 0}, {"age": 1}] + ([] if parameter.whole else [{"age": 0.5}])
    if parameter.key == "require":
        whole = {
            "model": "l-diversity",
            "attribute": "pay",
            "variant": "recursive",
            "l": 2,
            "c": 1.5,
        }
        return [whole, [whole]]
    return []


def refused(parameter: Parameter) -> list[object]:
    """Plain values that no parameter of this kind accepts."""
    if isinstance(parameter, IntegerParameter):
        return [parameter.minimum - 1, 2.5, "many", True, None, [3]]
    if isinstance(parameter, ShareParameter):
        return [-0.1, 1.1, "much", True, None, float("nan")]
    if isinstance(parameter, ChoiceParameter):
        return ["no such value", 1, None, True]
    if isinstance(parameter, TextParameter):
        return [1, None, True, ["people.csv"]]
    return ["no such value", 3, None, {"age": -1}]


def test_the_method_says_what_it_is(method: RowsMethod) -> None:
    for text in (method.id, method.version, method.title, method.summary, method.promise):
        assert text.strip() == text != ""
    assert method.promise.endswith(".")
    assert method.summary.endswith(".")


def test_every_parameter_has_a_label_a_help_and_a_range(method: RowsMethod) -> None:
    keys = [parameter.key for parameter in method.parameters]
    assert len(set(keys)) == len(keys)
    for parameter in method.parameters:
        assert parameter.label
        assert parameter.help.endswith(".")
        assert parameter.range_text()
        if isinstance(parameter, ChoiceParameter):
            assert all(choice.label for choice in parameter.choices)
        if parameter.applies is not None:
            asked = next(each for each in method.parameters if each.key == parameter.applies.key)
            assert set(parameter.applies.values) <= set(samples(asked))
    assert set(method.live) <= set(keys)


def test_every_parameter_reads_back_what_it_writes(method: RowsMethod) -> None:
    for parameter in method.parameters:
        assert samples(parameter), f"no samples for {type(parameter).__name__}"
        for raw in samples(parameter):
            value = parameter.parse(raw, "plan")
            again = json.loads(json.dumps(parameter.as_plain(value)))
            assert parameter.parse(again, "plan") == value


def test_defaults_are_values_of_their_own_parameter(method: RowsMethod) -> None:
    for parameter in method.parameters:
        default = parameter.default_value()
        if default is not None:
            assert parameter.parse(parameter.as_plain(default), "plan") == default


def test_values_out_of_range_are_refused_in_a_sentence_with_the_key(
    method: RowsMethod,
) -> None:
    for parameter in method.parameters:
        for raw in refused(parameter):
            with pytest.raises(InputError) as caught:
                parameter.parse(raw, "plan.toml, [protection]")
            assert caught.value.sentence.startswith("plan.toml, [protection]: ")
            assert f"`{parameter.key}`" in caught.value.sentence


def test_unknown_keys_are_refused_with_the_nearest_known_one(method: RowsMethod) -> None:
    key = method.parameters[0].key
    raw = plain_parameters(method) | {f"{key}x": 1}
    with pytest.raises(InputError) as caught:
        parse_parameters(method.parameters, raw, "plan")
    assert caught.value.code == "plan.unknown-key"
    if len(key) > 1:
        assert caught.value.details["nearest"] == key


def test_suggested_parameters_pass_the_check_without_data(method: RowsMethod) -> None:
    method.check(COLUMNS, ROLES, given_for(method).parameters, "plan")


def test_columns_without_roles_are_refused_before_any_data(method: RowsMethod) -> None:
    roles = dict.fromkeys(COLUMNS, Role.INSENSITIVE)
    with pytest.raises(InputError) as caught:
        method.check(COLUMNS, roles, given_for(method).parameters, "plan.toml")
    assert caught.value.sentence.startswith("plan.toml")


def outcome_facts(outcome: Outcome) -> str:
    internal = {key: value for key, value in outcome.internal.items() if key != "seconds"}
    plain = (outcome.result, internal, outcome.risk, outcome.utility, outcome.guarantee.as_json())
    recoding = outcome.required_recoding
    mapping = {name: dict(values) for name, values in recoding.mapping.items()}
    return json.dumps((*plain, mapping, recoding.suppressed.tolist()), default=dict)


def test_the_same_input_gives_the_same_outcome(method: RowsMethod) -> None:
    first, second = run(method), run(method)
    assert outcome_facts(first) == outcome_facts(second)
    assert publish(people(), first.recoding) == publish(people(), second.recoding)


class FrozenSource(MemorySource):
    """A source whose table may not be written to."""

    def frequency_table(self, attributes: Any, token: CancelToken) -> Any:
        table = super().frequency_table(attributes, token)
        table.codes.setflags(write=False)
        table.counts.setflags(write=False)
        return table


def test_the_input_is_left_untouched(method: RowsMethod) -> None:
    base = people()
    source = FrozenSource(base.columns, base.data)
    given = given_for(method)
    roles, hierarchies = dict(given.roles), dict(given.hierarchies)
    parameters = copy.deepcopy(dict(given.parameters))
    rows = {name: hierarchy.rows() for name, hierarchy in hierarchies.items()}
    run(method, MethodInput(given.roles, given.hierarchies, given.parameters, source=source))
    assert (given.roles, given.hierarchies, given.parameters) == (roles, hierarchies, parameters)
    assert {name: hierarchy.rows() for name, hierarchy in hierarchies.items()} == rows


@pytest.mark.parametrize("action", ["decide", "explore"])
def test_progress_only_goes_forward(method: RowsMethod, action: str) -> None:
    events: list[Event] = []
    getattr(method, action)(given_for(method), CancelToken(), events.append)
    steps = [event for event in events if isinstance(event, StepStarted)]
    assert [step.index for step in steps] == list(range(1, len(steps) + 1))
    assert {step.count for step in steps} <= {len(steps)}
    current, done = "", 0
    for event in events:
        if isinstance(event, StepStarted):
            current, done = event.step, 0
        elif isinstance(event, StepProgress):
            assert event.step == current
            assert done <= event.done
            assert event.total is None or event.done <= event.total
            done = event.done


class StoppingToken(CancelToken):
    """Cancels itself the n-th time that somebody asks."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self.asked = 0
        self._after = after

    def _ask(self) -> None:
        self.asked += 1
        if self.asked == self._after:
            self.cancel()

    @property
    def cancelled(self) -> bool:
        self._ask()
        return super().cancelled

    def check(self) -> None:
        self._ask()
        super().check()


@pytest.mark.parametrize("action", ["decide", "explore"])
def test_a_cancel_is_honoured_at_every_checkpoint(method: RowsMethod, action: str) -> None:
    work = getattr(method, action)
    watching = StoppingToken(after=-1)
    work(given_for(method), watching, silent)
    if action == "decide":
        assert watching.asked >= 2
    # The number of times a thread is polled varies; the first checkpoints are always reached.
    for place in range(1, min(watching.asked, 6) + 1):
        token = StoppingToken(place)
        try:
            work(given_for(method), token, silent)
        except Cancelled:
            continue
        assert token.asked < place, f"the cancel at checkpoint {place} was ignored"


def test_a_cancel_before_the_start_stops_at_once(method: RowsMethod) -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        method.decide(given_for(method), token, silent)


def test_the_guarantee_says_what_is_claimed_assumed_and_not_covered(
    method: RowsMethod,
) -> None:
    guarantee = run(method).guarantee
    assert guarantee.model
    assert guarantee.assumes
    assert guarantee.does_not_cover
    for text in (guarantee.claim, *guarantee.assumes, *guarantee.does_not_cover):
        assert text.endswith(".")
        assert "{" not in text
    json.dumps(guarantee.as_json(), allow_nan=False)


def test_everything_for_files_is_plain_json(method: RowsMethod) -> None:
    outcome = run(method)
    for part in (outcome.result, outcome.internal, outcome.risk, outcome.utility):
        json.dumps(dict(part), allow_nan=False)


def test_the_outcome_counts_what_the_recoding_does(method: RowsMethod) -> None:
    outcome, source = run(method), people()
    published = publish(source, outcome.required_recoding)
    assert published.rows == outcome.required_recoding.rows_out
    assert source.rows - published.rows == outcome.required_recoding.rows_suppressed
    assert "name" not in published.columns
    untouched = [
        name for name in published.columns if name not in outcome.required_recoding.attributes
    ]
    assert untouched == ["illness", "weight"]


def test_verify_confirms_an_honest_release(method: RowsMethod) -> None:
    given = given_for(method)
    outcome = run(method, given)
    published = publish(people(), outcome.required_recoding)
    manifest = manifest_of(method, given, outcome)
    checks = method.verify(manifest, published, CancelToken())
    assert [check for check in checks if check.status is CheckStatus.FAILED] == []
    assert any(check.status is CheckStatus.CONFIRMED for check in checks)
    settled = method.verify_with_source(manifest, published, given, None, CancelToken())
    assert [check for check in settled if check.status is CheckStatus.FAILED] == []


@pytest.mark.parametrize("break_it", ["change a value", "drop a row", "repeat a row"])
def test_verify_refutes_a_broken_table(method: RowsMethod, break_it: str) -> None:
    given = given_for(method)
    outcome = run(method, given)
    manifest = manifest_of(method, given, outcome)
    published = publish(people(), outcome.required_recoding)
    broken = {
        "change a value": published.with_cell(
            3, outcome.required_recoding.attributes[0], "someone"
        ),
        "drop a row": MemoryPublished(published.columns, published.data[1:]),
        "repeat a row": MemoryPublished(published.columns, (*published.data, published.data[0])),
    }[break_it]
    checks = method.verify(manifest, broken, CancelToken())
    assert any(check.status is CheckStatus.FAILED for check in checks)


def test_charts_answer_a_question_and_carry_a_table(method: RowsMethod) -> None:
    given = given_for(method)
    view = method.explore(given, CancelToken(), silent).view(given.parameters)
    for chart in (*run(method, given).charts, *view.charts):
        assert chart.question.endswith("?")
        assert chart.answer.endswith(".")
        assert chart.table.rows
        assert {len(row) for row in chart.table.rows} == {len(chart.table.columns)}
        if isinstance(chart, BarChart):
            assert {len(series.values) for series in chart.series} == {len(chart.categories)}
        if isinstance(chart, ScatterChart):
            for series in chart.series:
                assert np.isfinite(series.x).all()
                assert np.isfinite(series.y).all()


def answers_of(outcome: Outcome) -> list[str]:
    return [chart.answer for chart in outcome.charts]


def test_a_view_shows_what_a_run_of_the_same_settings_gives(method: RowsMethod) -> None:
    given = given_for(method)
    exploration = method.explore(given, CancelToken(), silent)
    view, outcome = exploration.view(given.parameters), run(method, given)
    assert view.feasible
    assert view.figures == outcome.figures
    assert view.guarantee == outcome.guarantee
    shown = [chart.answer for chart in view.charts]  # and what only people in front of it look at
    assert [answer for answer in shown if answer in answers_of(outcome)] == answers_of(outcome)


def test_an_impossible_view_offers_a_remedy_that_works(method: RowsMethod) -> None:
    impossible = {"k-anonymity": {"k": 401}, "common-values": {"least": 1000}}[method.id]
    exploration = method.explore(given_for(method), CancelToken(), silent)
    raw = plain_parameters(method) | impossible
    view = exploration.view(parse_parameters(method.parameters, raw, "plan"))
    assert not view.feasible
    assert view.sentence.endswith(".")
    assert view.remedy_label
    assert view.remedy is not None
    raw |= view.remedy
    assert exploration.view(parse_parameters(method.parameters, raw, "plan")).feasible


def test_points_that_do_not_exist_are_refused_in_words(method: RowsMethod) -> None:
    exploration = method.explore(given_for(method), CancelToken(), silent)
    for point in (-1, 10**9):
        with pytest.raises(InputError):
            exploration.pick(point)


def test_the_parameters_can_be_written_as_toml(method: RowsMethod) -> None:
    raw: Mapping[str, object] = plain_parameters(method)
    text = "\n".join(f"{key} = {json.dumps(value)}" for key, value in raw.items())
    again = parse_parameters(method.parameters, tomllib.loads(text, parse_float=Decimal), "plan")
    assert again == parse_parameters(method.parameters, raw, "plan")


def test_a_second_method_needs_no_more_than_its_registration() -> None:
    registry = registry_with_a_second_method()
    known = [
        "k-anonymity",
        "anatomy",
        "l-diverted",
        "randomised-response",
        "dp-cube",
        "dp-graph",
        "priview",
        "itemsets",
        "dp-choice",
        "table",
        "common-values",
    ]
    assert [each.id for each in registry] == known
    assert registry.get("common-values", "plan").title == "Common values only"
    with pytest.raises(InputError, match="unknown method `common-value`") as caught:
        registry.get("common-value", "plan")
    assert caught.value.hint == "Did you mean `common-values`?"
    with pytest.raises(ValueError, match="registered already"):
        registry.add(CommonValues())
