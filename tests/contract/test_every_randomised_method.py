"""What every method that draws values promises: judged without draws, drawn once, checked."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature

import numpy as np
import pytest

from dpdesk.core.errors import Cancelled, InputError
from dpdesk.core.frequency import CodedColumn, NewValues, RewrittenRows
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken, Event, StepStarted, silent
from dpdesk.core.parameters import effective_parameters, parse_parameters
from dpdesk.core.release import CheckStatus, Manifest, RowDifference
from dpdesk.core.schema import Role
from dpdesk.engine.method import MethodInput, Outcome, RowsMethod
from dpdesk.engine.methods.registered import default_registry
from dpdesk.engine.registry import paid_rows_of
from tests.helpers.debits import debit_for_tests
from tests.helpers.known_bits import SeededBits
from tests.helpers.memory_tables import MemoryPublished, MemorySource
from tests.helpers.stated import stated

METHODS = [
    method for method in default_registry() if isinstance(method, RowsMethod) and method.draws
]
COLUMNS = ("name", "age", "region", "illness", "job")
ROLES = {
    "name": Role.IDENTIFIER,
    "age": Role.QUASI_IDENTIFIER,
    "region": Role.QUASI_IDENTIFIER,
    "illness": Role.SENSITIVE,
    "job": Role.SENSITIVE,
}
HIERARCHIES = {
    "age": Hierarchy.from_rows("age", [(str(age), f"{age // 10}0s", "*") for age in range(20, 60)]),
    "region": Hierarchy.from_rows("region", [(f"r{place}", "*") for place in range(5)]),
}
PLANS = {
    "anatomy": [{"l": 3, "sensitive": "illness"}, {"l": 5, "sensitive": "job"}],
    "l-diverted": [
        {"l": 3},
        {"l": 2, "sensitive": ["job"], "partition": "largest-first"},
        {"l": 4, "k": 5, "max_suppression": 0.1},
    ],
    "randomised-response": [
        {
            "drawn": ["illness"],
            "domains": {"illness": [f"ill {n}" for n in (3, 1, 0, 2)] + ["other"]},
            "epsilon": 1,
        },
        {
            "drawn": ["job", "illness"],
            "domains": {"job": ["job 0", "job 1"], "illness": ["ill 0", "more"]},
            "outside": {"job": "job 1", "illness": "more"},
            "epsilon": 3,
            "shares": {"job": 1, "illness": 2},
            "matrix": {"job": [["0.6", "0.4"], ["1/3", "2/3"]]},
            "rows_per_person": 1,
        },
    ],
}
CASES = [(method, raw) for method in METHODS for raw in PLANS[method.id]]
TOKEN = CancelToken()


@dataclass(frozen=True)
class Rows(MemorySource):
    """A RowSource over rows of text."""

    def coded_columns(self, names: Sequence[str], token: CancelToken) -> tuple[CodedColumn, ...]:
        found = []
        for name in names:
            values = self.column(name)
            domain = tuple(sorted(set(values)))
            codes = np.array([domain.index(value) for value in values], np.int32)
            codes.setflags(write=False)
            found.append(CodedColumn(name, domain, codes))
        return tuple(found)


def people(count: int = 401) -> Rows:
    rows = [
        (f"p{n}", str(20 + n * 7 % 40), f"r{n % 5}", f"ill {n % 6}", f"job {n * n % 11}")
        for n in range(count)
    ]
    return Rows.of(COLUMNS, rows)


Case = tuple[RowsMethod, dict[str, object]]


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0].id} {case[1]}")
def case(request: pytest.FixtureRequest) -> Case:
    found: Case = request.param
    return found


def given_for(case: Case) -> MethodInput:
    method, raw = case
    parameters = parse_parameters(method.parameters, raw, "plan")
    roles = method.effective_roles(ROLES, parameters)
    return MethodInput(roles, HIERARCHIES, parameters, source=people())


def drawn(case: Case, judged: Outcome, seed: int = 1) -> RewrittenRows:
    return draw_with(case, judged, SeededBits(seed), TOKEN)


def draw_with(case: Case, judged: Outcome, bits: SeededBits, token: CancelToken) -> RewrittenRows:
    """The rows, with the receipt of a debit where it takes one."""
    given, priced = given_for(case), paid_rows_of(case[0])
    if priced is None:
        return case[0].draw(given, judged, people(), bits, token, silent)
    charge = priced.price(given.roles, given.parameters)
    debit = debit_for_tests(charge.cost, charge.draws)
    return priced.draw_paid(given, judged, people(), debit, bits, token, silent)


def judged_of(case: Case) -> Outcome:
    return case[0].decide(given_for(case), TOKEN, silent)


def published(rows: RewrittenRows) -> MemoryPublished:
    """The table, carried out row by row as interface.md describes it."""
    source = people()
    names = [name for name in source.columns if name not in rows.dropped_columns]
    found = []
    for place, row in enumerate(rows.order.tolist()):
        cells = dict(zip(source.columns, source.data[row], strict=True))
        for name, pairs in rows.mapping.items():
            cells[name] = pairs[cells[name]]
        for name, values in (rows.drawn | rows.added).items():
            cells[name] = values.domain[values.codes[place]]
        found.append(tuple(cells[name] for name in (*names, *rows.added)))
    further = {file: new_table(columns) for file, columns in rows.tables.items()}
    return MemoryPublished((*names, *rows.added), tuple(found), further)


def new_table(columns: Mapping[str, NewValues]) -> MemoryPublished:
    cells = [[each.domain[code] for code in each.codes] for each in columns.values()]
    return MemoryPublished(tuple(columns), tuple(zip(*cells, strict=True)))


def manifest_of(case: Case, judged: Outcome) -> Manifest:
    method, given = case[0], given_for(case)
    manifest = {
        "format": 1,
        "method": method.id,
        "parameters": effective_parameters(
            method.parameters, given.parameters, [p for p in method.parameters if p.public]
        ),
        "guarantee": judged.guarantee.as_json(),
        "result": dict(judged.result),
    }
    return stated(json.loads(json.dumps(manifest, allow_nan=False)))


def difference(case: Case, judged: Outcome, table: MemoryPublished) -> RowDifference:
    """Rows compared as multisets, on the columns that were not drawn."""
    there_are = people().columns
    names = [name for name in table.columns if name not in judged.drawn and name in there_are]
    recoding = case[0].claimed_recoding(manifest_of(case, judged), given_for(case), TOKEN)
    mapping = recoding.mapping if recoding is not None else {}
    source, columns = people(), [people().column(name) for name in names]
    there = Counter(
        tuple(
            mapping.get(name, {}).get(value, value) for name, value in zip(names, row, strict=True)
        )
        for row in zip(*columns, strict=True)
    )
    assert there.total() == source.rows
    places = [table.columns.index(name) for name in names]
    here = Counter(tuple(row[place] for place in places) for row in table.data)
    return RowDifference(
        (here - there).total(), (there - here).total(), unplaced(case, judged, table, names)
    )


def unplaced(case: Case, judged: Outcome, table: MemoryPublished, names: list[str]) -> int | None:
    """Rows of the source without a row of the table whose group holds their value."""
    apart = case[0].separated(manifest_of(case, judged))
    if apart is None:
        return None
    values = table.beside(apart.file, TOKEN)
    held: dict[str, list[str]] = {}
    for line in values.data:
        cells = dict(zip(values.columns, line, strict=True))
        held.setdefault(cells[apart.key], []).append(cells[apart.value])
    possible: Counter[tuple[str, ...]] = Counter()
    for line in table.data:
        cells = dict(zip(table.columns, line, strict=True))
        for value in held.get(cells[apart.key], []):
            possible[(*(cells[name] for name in names), value)] += 1
    columns = [people().column(name) for name in (*names, apart.column)]
    return (Counter(zip(*columns, strict=True)) - possible).total()


def test_judging_draws_nothing_and_says_the_same_twice(case: Case) -> None:
    assert "randomness" not in signature(case[0].decide).parameters
    first, second = judged_of(case), judged_of(case)
    assert (first.guarantee, first.result, first.figures) == (
        second.guarantee,
        second.result,
        second.figures,
    )


def test_drawing_is_a_function_of_its_bits_and_differs_with_others(case: Case) -> None:
    judged = judged_of(case)
    first, again, other = (published(drawn(case, judged, seed)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_the_guarantee_says_what_is_claimed_assumed_and_not_covered(case: Case) -> None:
    guarantee = judged_of(case).guarantee
    assert guarantee.model
    for text in (guarantee.claim, *guarantee.assumes, *guarantee.does_not_cover):
        assert text.endswith(".")
        assert "{" not in text
    assert guarantee.assumes
    assert guarantee.does_not_cover


def test_everything_for_files_is_plain_json(case: Case) -> None:
    judged = judged_of(case)
    for part in (judged.result, judged.internal, judged.risk, judged.utility):
        json.dumps(dict(part), allow_nan=False)


def test_verify_confirms_an_honest_release(case: Case) -> None:
    judged = judged_of(case)
    table = published(drawn(case, judged))
    assert "name" not in table.columns
    assert table.rows == judged.result["rows_out"]
    manifest = manifest_of(case, judged)
    checks = case[0].verify(manifest, table, TOKEN)
    assert [check for check in checks if check.status is CheckStatus.FAILED] == []
    found = difference(case, judged, table)
    settled = case[0].verify_with_source(manifest, table, given_for(case), found, TOKEN)
    assert [check for check in settled if check.status is CheckStatus.FAILED] == []
    assert not any(check.status is CheckStatus.NEEDS_SOURCE for check in settled)
    evidence = {
        "result": {**judged.result, **judged.internal},
        "source": {"rows": people().rows},
        "risk": dict(judged.risk),
        "figures": [{"key": figure.key, "value": figure.value} for figure in judged.figures],
    }
    assert case[0].evidence_fault(manifest, evidence, table, TOKEN) is None
    assert case[0].evidence_source_fault(manifest, evidence, given_for(case), TOKEN) is None


@pytest.mark.parametrize("break_it", ["change a value", "drop a row", "repeat a row", "swap rows"])
def test_verify_refutes_a_broken_table(case: Case, break_it: str) -> None:
    judged = judged_of(case)
    table = published(drawn(case, judged))
    broken = {
        "change a value": table.with_cell(3, min(judged.drawn, default="group"), "plague"),
        "drop a row": replace(table, data=table.data[1:]),
        "repeat a row": replace(table, data=(*table.data, table.data[0])),
        "swap rows": table.with_cell(0, "region", "elsewhere"),
    }[break_it]
    manifest, found = manifest_of(case, judged), difference(case, judged, broken)
    checks = case[0].verify_with_source(manifest, broken, given_for(case), found, TOKEN)
    assert any(check.status is CheckStatus.FAILED for check in checks)


def test_a_view_shows_what_a_release_of_the_same_settings_would_be(case: Case) -> None:
    given = given_for(case)
    exploration = case[0].explore(given, TOKEN, silent)
    view, judged = exploration.view(given.parameters), judged_of(case)
    assert view.feasible
    assert (view.guarantee, view.figures) == (judged.guarantee, judged.figures)
    shown = [chart.answer for chart in view.charts]  # and what only people in front of it look at
    told = [chart.answer for chart in judged.charts]
    assert [answer for answer in shown if answer in told] == told
    with pytest.raises(InputError):
        exploration.pick(0)


def test_an_impossible_view_offers_a_remedy_that_works(case: Case) -> None:
    method, raw = case
    if "l" not in raw:
        pytest.skip("every setting of it that can be read is possible")
    exploration = method.explore(given_for(case), TOKEN, silent)
    raw = raw | {"l": 200}
    view = exploration.view(parse_parameters(method.parameters, raw, "plan"))
    assert not view.feasible
    assert view.sentence.endswith(".")
    assert view.remedy_label
    assert view.remedy is not None
    again = exploration.view(parse_parameters(method.parameters, raw | dict(view.remedy), "plan"))
    assert again.feasible


def test_charts_answer_a_question_and_carry_a_table(case: Case) -> None:
    for chart in judged_of(case).charts:
        assert chart.question.endswith("?")
        assert chart.answer.endswith(".")
        assert chart.table.rows


def test_steps_are_counted_up(case: Case) -> None:
    events: list[Event] = []
    case[0].decide(given_for(case), TOKEN, events.append)
    steps = [event for event in events if isinstance(event, StepStarted)]
    assert [step.index for step in steps] == list(range(1, len(steps) + 1))
    assert {step.count for step in steps} == {len(steps)}


def test_a_cancel_before_the_start_stops_at_once(case: Case) -> None:
    token, given, judged = CancelToken(), given_for(case), judged_of(case)
    token.cancel()
    with pytest.raises(Cancelled):
        case[0].decide(given, token, silent)
    with pytest.raises(Cancelled):
        draw_with(case, judged, SeededBits(1), token)
