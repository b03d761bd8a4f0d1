"""k-anonymous quasi-identifiers first: what is removed keeps k and never asks a sensitive value."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import RefusedError
from dpdesk.core.frequency import CodedColumn, RewrittenRows
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.recoding import Recoding
from dpdesk.core.schema import Role
from dpdesk.engine import recoded
from dpdesk.engine.method import MethodInput, Outcome
from dpdesk.engine.methods.l_diverted.combined import spare_rows, trimmed
from dpdesk.engine.methods.l_diverted.method import LDiverted
from dpdesk.engine.recoded import suppressed_tuples, tuple_keys
from tests.helpers.known_bits import SeededBits
from tests.helpers.memory_tables import MemorySource
from tests.helpers.searching import examples

TOKEN = CancelToken()
ROLES = {"age": Role.QUASI_IDENTIFIER, "town": Role.QUASI_IDENTIFIER, "ill": Role.SENSITIVE}
HIERARCHIES = {
    "age": Hierarchy.from_rows("age", [(str(a), f"{a // 10}0s", "*") for a in range(20, 60)]),
    "town": Hierarchy.from_rows("town", [(f"t{t}", "*") for t in range(4)]),
}


@dataclass(frozen=True)
class Rows(MemorySource):
    """A RowSource over rows of text."""

    def coded_columns(self, names: Sequence[str], token: CancelToken) -> tuple[CodedColumn, ...]:
        found = []
        for name in names:
            values = self.column(name)
            domain = tuple(sorted(set(values)))
            codes = np.array([domain.index(value) for value in values], np.int32)
            found.append(CodedColumn(name, domain, codes))
        return tuple(found)


def people(count: int = 300, seed: int = 3) -> list[tuple[str, str, str]]:
    draw = random.Random(seed)
    return [
        (str(draw.randrange(20, 60)), f"t{draw.randrange(4)}", f"s{number % 12}")
        for number in range(count)
    ]


def given_for(rows: list[tuple[str, str, str]], **keys: object) -> MethodInput:
    raw = {"l": 4, "k": 5, "max_suppression": 0.2, **keys}
    parameters = parse_parameters(LDiverted.parameters, raw, "plan")
    return MethodInput(ROLES, HIERARCHIES, parameters, source=Rows.of(tuple(ROLES), rows))


def made(rows: list[tuple[str, str, str]], **keys: object) -> tuple[Outcome, RewrittenRows]:
    method, given = LDiverted(), given_for(rows, **keys)
    judged = method.decide(given, TOKEN, silent)
    source = given.source
    assert isinstance(source, Rows)
    return judged, method.draw(given, judged, source, SeededBits(6), TOKEN, silent)


def released(rows: list[tuple[str, str, str]], drawn: RewrittenRows) -> list[tuple[str, str]]:
    return [
        (drawn.mapping["age"][rows[row][0]], drawn.mapping["town"][rows[row][1]])
        for row in drawn.order.tolist()
    ]


@pytest.mark.parametrize("count", [297, 298, 299, 300, 301])
@pytest.mark.parametrize(("size", "k"), [(2, 5), (4, 5), (6, 2), (7, 9)])
def test_every_class_keeps_k_and_the_rest_is_a_multiple_of_l(count: int, size: int, k: int) -> None:
    rows = people(count)
    judged, drawn = made(rows, l=size, k=k)
    classes = Counter(released(rows, drawn))
    assert min(classes.values()) >= k
    assert drawn.rows_out % size == 0
    result = judged.result
    assert drawn.rows_out == result["rows_out"]
    assert count == drawn.rows_out + result["rows_removed"] + result["rows_suppressed"]


def test_what_is_kept_and_its_order_do_not_ask_a_sensitive_value() -> None:
    rows = people()
    draw, orders = random.Random(8), []
    for _ in range(4):
        values = [row[2] for row in rows]
        draw.shuffle(values)
        other = [(row[0], row[1], value) for row, value in zip(rows, values, strict=True)]
        judged, drawn = made(other)
        orders.append((judged.result, drawn.mapping, drawn.order.tolist()))
    assert all(order == orders[0] for order in orders)


def test_values_are_drawn_among_the_rows_that_are_left() -> None:
    rows = people()
    judged, drawn = made(rows)
    left = Counter(rows[row][2] for row in drawn.order.tolist())
    counts = judged.internal["value_counts"]
    assert isinstance(counts, dict)
    removed = judged.result["rows_removed"]
    assert sum(counts["ill"].values()) == drawn.rows_out + removed
    assert all(left[value] <= rows_ for value, rows_ in counts["ill"].items())
    assert set(drawn.drawn["ill"].domain) == set(left)


def test_eligibility_is_held_against_the_rows_that_are_left() -> None:
    rows = [(str(20 + n % 2), "t0", f"s{n // 2 % 4}") for n in range(40)]
    rows += [(str(30 + n), "t1", "s0") for n in range(20)]  # lone ages
    flat = {"age": Hierarchy.from_rows("age", [(str(a), "*") for a in range(20, 60)])}
    method = LDiverted()
    for share, suppressed in ((0.4, 20), (0, None)):
        given = replace(
            given_for(rows, k=10, max_suppression=share), hierarchies=HIERARCHIES | flat
        )
        if suppressed is None:  # ages are generalised instead, so all rows are left
            with pytest.raises(RefusedError, match="`s0` has 30 of 60 rows"):
                method.decide(given, TOKEN, silent)
        else:
            assert method.decide(given, TOKEN, silent).result["rows_suppressed"] == suppressed


@st.composite
def class_sizes(draw: st.DrawFn) -> tuple[list[int], int, int]:
    k, size = draw(st.integers(2, 5)), draw(st.integers(2, 8))
    return draw(st.lists(st.integers(k, k + 3), min_size=1, max_size=12)), k, size


@given(case=class_sizes())
def test_trimming_takes_the_fewest_of_the_smallest_classes(
    case: tuple[list[int], int, int],
) -> None:
    sizes, k, size = case
    gone, removed = trimmed(np.array(sizes), k, size)

    def works(left: list[int]) -> bool:
        return sum(left) % size <= sum(left) - k * len(left)

    ranked = sorted(range(len(sizes)), key=lambda place: (sizes[place], place))
    fewest = next(
        count for count in range(len(sizes) + 1) if works([sizes[p] for p in ranked[count:]])
    )
    assert gone.tolist() == ranked[:fewest]
    assert removed == sum(sizes[place] for place in ranked[fewest:]) % size


@given(case=class_sizes(), seed=st.integers(0, 50))
def test_spare_rows_leave_every_class_with_k(case: tuple[list[int], int, int], seed: int) -> None:
    sizes, k, _ = case
    classes = np.repeat(np.arange(len(sizes)), sizes)
    room = sum(size - k for size in sizes)
    found = spare_rows(classes, k, room, SeededBits(seed))
    assert len(set(found.tolist())) == room
    left = np.bincount(np.delete(classes, found), minlength=len(sizes))
    assert left.tolist() == [k] * len(sizes)
    with pytest.raises(ValueError, match="too few"):
        spare_rows(classes, k, room + 1, SeededBits(seed))


def test_each_spare_row_is_as_likely_as_any_other() -> None:
    classes, source, seen = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2]), SeededBits(4), Counter[int]()
    for _ in range(4000):
        seen.update(spare_rows(classes, 2, 1, source).tolist())
    assert set(seen) == {0, 1, 2, 5, 6, 7, 8}
    assert max(abs(count - 4000 / 7) for count in seen.values()) < 6 * (4000 * 6 / 49) ** 0.5


def test_where_no_class_has_rows_to_spare_the_limit_is_named() -> None:
    rows = [(str(20 + n // 5), "t0", f"s{n % 7}") for n in range(35)]
    flat = {
        "age": Hierarchy.from_rows("age", [(str(a), "*") for a in range(20, 27)]),
        "town": HIERARCHIES["town"],
    }
    method = LDiverted()
    given = replace(given_for(rows, l=4, k=5, max_suppression=0), hierarchies=flat)
    with pytest.raises(RefusedError, match="no class has rows to spare") as caught:
        method.decide(given, TOKEN, silent)
    suppressed = caught.value.details["suppressed"]
    assert suppressed == 15  # seven classes of five: four of them are a multiple of four rows
    assert "max_suppression = 0.4286" in caught.value.hint
    wider = replace(given_for(rows, l=4, k=5, max_suppression=0.4286), hierarchies=flat)
    judged = method.decide(wider, TOKEN, silent)
    assert (judged.result["rows_suppressed"], judged.result["rows_removed"]) == (15, 0)


def test_the_classes_are_told_apart_however_many_labels_there_are() -> None:
    names = tuple(f"q{place}" for place in range(12))
    labels = tuple(tuple(str(value) for value in range(200)) for _ in names)
    generator = np.random.default_rng(5)
    codes = generator.integers(0, 200, (500, 12)).astype(np.int32)
    codes[250:] = codes[:250]
    mapping = {name: {} for name in names}
    recoding = Recoding(names, mapping, labels, codes[:10], (), 0, 0)
    assert len(set(tuple_keys(recoding, codes).tolist())) == 250
    gone = suppressed_tuples(recoding, codes)
    assert gone.sum() == 20
    assert gone[:10].all()
    assert gone[250:260].all()


@settings(max_examples=examples(100))
@given(st.integers(0, 40), st.integers(0, 9), st.sampled_from((7, 40, 1 << 24)))
def test_rows_alone_are_those_released_that_no_other_released_row_equals(
    singles: int, seed: int, at_once: int
) -> None:
    rows = [(age, town, f"s{n % 12}", f"c{n % 7}") for n, (age, town, _) in enumerate(people(120))]
    rows += [
        (str(20 + (seed + n) % 40), f"t{n % 4}", f"s{n % 12}", f"only{n}") for n in range(singles)
    ]
    roles = {**ROLES, "code": Role.INSENSITIVE}
    parameters = parse_parameters(
        LDiverted.parameters, {"l": 4, "k": 5, "max_suppression": 0.5}, "plan"
    )
    asked = MethodInput(roles, HIERARCHIES, parameters, source=Rows.of(tuple(roles), rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recoded, "_AT_ONCE", at_once)
        judged = LDiverted().decide(asked, TOKEN, silent)
    recoding = judged.recoding
    assert recoding is not None
    gone = {tuple(labels) for labels in suppressed_labels(recoding)}
    shown = [(recoding.mapping["age"][r[0]], recoding.mapping["town"][r[1]], r[3]) for r in rows]
    counted = Counter(row for row in shown if row[:2] not in gone)
    assert judged.risk["rows_alone"] == sum(times == 1 for times in counted.values())


def suppressed_labels(recoding: Recoding) -> list[list[str]]:
    return [
        [recoding.labels[place][code] for place, code in enumerate(codes)]
        for codes in recoding.suppressed.tolist()
    ]


def test_levels_that_a_search_chose_are_named_as_a_limit() -> None:
    judged, _ = made(people())
    limits = judged.guarantee.as_json()["does_not_cover"]
    assert any("minimality attack" in str(each) for each in limits)  # type: ignore[union-attr]
    assert any("made from the data" in str(each) for each in limits)  # type: ignore[union-attr]
