"""What public numbers tell of people who are not in the release, tried by counting all cases.

A reader knows the plan and everything public. Whatever else the suppressed rows could have been
must lead to the same public part: these tests put every possible set of suppressed rows in their
place and count which of them the public part still allows.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import RefusedError
from dpdesk.core.frequency import Population
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.release import CheckStatus
from dpdesk.core.schema import Role
from dpdesk.engine.method import MethodInput, Outcome
from dpdesk.engine.methods.k_anonymity.method import KAnonymity
from dpdesk.engine.methods.k_anonymity.settings import PARAMETERS
from dpdesk.engine.methods.l_diverted.method import LDiverted
from dpdesk.engine.methods.l_diverted.settings import PARAMETERS as DIVERTED
from tests.helpers.memory_tables import MemorySource, Row, publish
from tests.helpers.searching import examples
from tests.helpers.stated import stated

COLUMNS = ("age", "sex", "region")
HIERARCHIES = {
    "age": Hierarchy.from_rows("age", [(str(n), f"{n // 2}", "*") for n in range(4)]),
    "sex": Hierarchy.from_rows("sex", [("f", "*"), ("m", "*")]),
    "region": Hierarchy.from_rows("region", [(r, r[0], "*") for r in ("a1", "a2", "b1")]),
}
DOMAIN: list[Row] = [tuple(row) for row in product(*(HIERARCHIES[c].leaves for c in COLUMNS))]
QUASI = dict.fromkeys(COLUMNS, Role.QUASI_IDENTIFIER)


def public_part(rows: Sequence[Row], levels: dict[str, int], k: int) -> str:
    """All of the public part that depends on the rows."""
    raw = {"k": k, "max_suppression": 1, "levels": levels}
    source = MemorySource.of(COLUMNS, rows)
    values = parse_parameters(PARAMETERS, raw, "plan.toml")
    outcome = KAnonymity().decide(
        MethodInput(QUASI, HIERARCHIES, values, source=source), CancelToken(), silent
    )
    table = publish(source, outcome.recoding).data
    return json.dumps([outcome.result, outcome.guarantee.as_json(), table], sort_keys=True)


def label(row: Row, levels: dict[str, int]) -> Row:
    found = []
    for name, value in zip(COLUMNS, row, strict=True):
        hierarchy = HIERARCHIES[name]
        code = hierarchy.ancestors(levels[name])[hierarchy.leaf_codes[value]]
        found.append(hierarchy.labels[levels[name]][code])
    return tuple(found)


def split(rows: Sequence[Row], levels: dict[str, int], k: int) -> tuple[list[Row], list[Row]]:
    """The rows that are kept, and those that are suppressed."""
    sizes = Counter(label(row, levels) for row in rows)
    kept = [row for row in rows if sizes[label(row, levels)] >= k]
    return kept, [row for row in rows if sizes[label(row, levels)] < k]


def possible(
    kept: Sequence[Row], count: int, levels: dict[str, int], k: int
) -> Iterator[list[Row]]:
    """Every set of so many rows that would all have been suppressed beside the kept ones."""
    released = {label(row, levels) for row in kept}
    free = [row for row in DOMAIN if label(row, levels) not in released]
    for rows in combinations_with_replacement(free, count):
        if max(Counter(label(row, levels) for row in rows).values(), default=0) < k:
            yield list(rows)


def still_possible(rows: Sequence[Row], levels: dict[str, int], k: int) -> tuple[int, int]:
    """How many sets of suppressed rows the public part leaves, and how many there could be."""
    kept, gone = split(rows, levels, k)
    seen = public_part(rows, levels, k)
    others = list(possible(kept, len(gone), levels, k))
    return sum(public_part([*kept, *other], levels, k) == seen for other in others), len(others)


RAW = dict.fromkeys(COLUMNS, 0)
RELEASED = [DOMAIN[0]] * 3 + [DOMAIN[7]] * 2 + [DOMAIN[13]] * 4


def test_one_suppressed_person_in_raw_columns_can_still_be_anyone_not_released() -> None:
    left, all_of_them = still_possible([*RELEASED, DOMAIN[20]], RAW, 2)
    assert left == all_of_them == len(DOMAIN) - 3


def test_two_suppressed_persons_can_still_be_any_pair_not_released() -> None:
    left, all_of_them = still_possible([*RELEASED, DOMAIN[20], DOMAIN[5]], RAW, 2)
    free = len(DOMAIN) - 3
    assert left == all_of_them == free * (free - 1) // 2


@given(
    st.lists(st.sampled_from(DOMAIN), min_size=4, max_size=12),
    st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 2)),
    st.integers(2, 3),
)
@settings(deadline=None, max_examples=examples(12))
def test_nothing_public_tells_suppressed_rows_apart(
    rows: list[Row], node: tuple[int, int, int], k: int
) -> None:
    levels = dict(zip(COLUMNS, node, strict=True))
    kept, gone = split(rows, levels, k)
    assume(kept and 0 < len(gone) <= 2)
    left, all_of_them = still_possible(rows, levels, k)
    assert left == all_of_them > 0


@pytest.mark.parametrize("level", [0, 1, 2])
@pytest.mark.parametrize("suppressed", [("", "f", "b1"), ("3", "m", ""), ("", "m", "")])
def test_a_missing_value_that_only_a_suppressed_row_has_tells_nothing(
    level: int, suppressed: Row
) -> None:
    """A missing value that a hierarchy lacks is one leaf more, and so changes how much is lost."""
    levels = {"age": level, "sex": 0, "region": 1}
    kept = [row for row in RELEASED if label(row, levels) != label(DOMAIN[20], levels)]
    assert split(kept, levels, 2)[0] == kept
    assert public_part([*kept, suppressed], levels, 2) == public_part(
        [*kept, DOMAIN[20]], levels, 2
    )


def test_a_missing_value_of_released_rows_is_a_leaf_and_verifies_with_the_source() -> None:
    levels = {"age": 1, "sex": 0, "region": 1}
    rows = [*RELEASED, ("", "f", "b1"), ("", "f", "b1"), ("", "m", "")]
    raw = {"k": 2, "max_suppression": 1, "levels": levels}
    source = MemorySource.of(COLUMNS, rows)
    asked = MethodInput(
        QUASI, HIERARCHIES, parse_parameters(PARAMETERS, raw, "plan"), source=source
    )
    outcome = KAnonymity().decide(asked, CancelToken(), silent)
    manifest = {
        "method": "k-anonymity",
        "parameters": {"k": 2, "max_suppression": 1},
        "guarantee": outcome.guarantee.as_json(),
        "result": outcome.result,
    }
    table = publish(source, outcome.recoding)
    checks = KAnonymity().verify_with_source(stated(manifest), table, asked, None, CancelToken())
    assert not [check for check in checks if check.status is CheckStatus.FAILED]
    # Age has five leaves with the missing one, nine kept rows cover two; region has three without,
    # and its kept rows cover two of a or one of b.
    in_a = sum(row[2].startswith("a") for row in RELEASED)
    lost = [Fraction(9, 4) + 1, Fraction(1), Fraction(in_a, 2) + 1]
    assert float(sum(lost) / 12 / 3) == outcome.result["metrics"]["loss"]  # type: ignore[index]


ALIKE = [("0", "f", "a1")] * 3 + [("1", "f", "a1")] * 3 + [("", "f", "b1")] * 3
PEOPLE = MemorySource.of(COLUMNS, [*ALIKE[:6] * 2, *ALIKE[6:]])


@pytest.mark.parametrize(
    ("asked", "gone", "reason"),
    [
        (
            {
                "require": [
                    {"model": "l-diversity", "variant": "distinct", "attribute": "x", "l": 2}
                ]
            },
            ALIKE[0],
            "failed what is required",
        ),
        ({"households": "whole"}, ALIKE[3], "in their household"),
        ({"population": "all.csv", "k_map": 4}, ALIKE[6], "too few rows of the population"),
        ({"population": "all.csv", "delta_max": 0.6}, ALIKE[6], "too many of the rows"),
        ({"missing_as": "none"}, ALIKE[6], "quasi-identifiers is missing"),
    ],
)
def test_why_a_frequent_combination_is_absent_is_among_the_limits(
    asked: dict[str, object], gone: Row, reason: str
) -> None:
    """Someone who knows that k rows have it concludes the reason, and with it more than rarity."""
    houses = ["", "", "", "p", "q", "q", "", "", ""]
    rows = [
        (*row, "same" if row == ALIKE[0] else f"x{at % 2}", house)
        for at, (row, house) in enumerate(zip(ALIKE, houses, strict=True))
    ]
    roles = QUASI | {"x": Role.SENSITIVE, "house": Role.CLUSTER}
    raw = {"k": 3, "max_suppression": 1, "levels": RAW} | asked
    population = Population("all.csv", "", PEOPLE.frequency_table(COLUMNS, CancelToken()))
    given = MethodInput(
        KAnonymity().effective_roles(roles, parse_parameters(PARAMETERS, raw, "plan")),
        HIERARCHIES,
        parse_parameters(PARAMETERS, raw, "plan"),
        source=MemorySource.of((*COLUMNS, "x", "house"), rows),
        population=population if "population" in asked else None,
    )
    made = KAnonymity().decide(given, CancelToken(), silent)
    assert {row[:3] for row in publish_rows(given, made)} == {*ALIKE} - {gone}
    (said,) = (each for each in made.guarantee.does_not_cover if each.startswith("Absence"))
    assert reason in said
    assert "suppressed rows had rare combinations" not in said


def publish_rows(given: MethodInput, made: Outcome) -> list[Row]:
    """The released rows; those of households that are left out, too, are not among them."""
    column, out = made.values_recoding.left_out
    source = given.source
    assert isinstance(source, MemorySource)
    place = source.columns.index(column) if column else 0
    kept = [row for row in source.data if not column or row[place] not in out]
    left = MemorySource.of(source.columns, kept)
    return list(publish(left, made.values_recoding).data)


@pytest.mark.parametrize(("sizes", "gone", "removed"), [((4, 4, 3), 3, 0), ((5, 4, 4), 0, 1)])
def test_a_frequent_combination_that_is_absent_beside_drawn_values_has_its_reason(
    sizes: tuple[int, ...], gone: int, removed: int
) -> None:
    """Classes of k rows leave none to spare, so that the smallest goes for ℓ′ = 4."""
    towns = [town for town, size in zip("abc", sizes, strict=True) for _ in range(size)]
    raw = {"l": 4, "k": 3, "max_suppression": 1, "sensitive": ["x"]}
    given = MethodInput(
        {"town": Role.QUASI_IDENTIFIER, "x": Role.SENSITIVE},
        {"town": Hierarchy.from_rows("town", [(town, "*") for town in "abc"])},
        parse_parameters(DIVERTED, raw, "plan"),
        source=MemorySource.of(("town", "x"), [(town, f"x{at}") for at, town in enumerate(towns)]),
    )
    made = LDiverted().decide(given, CancelToken(), silent)
    assert (made.result["rows_suppressed"], made.result["rows_removed"]) == (gone, removed)
    said = " ".join(made.guarantee.does_not_cover)
    assert ("had to go so that 4 divides the number of rows" in said) == bool(gone)
    assert ("its combination is one of the released ones" in said) == bool(removed)
    assert "rare combinations" not in said
    assert "nothing of them is published" not in said
    assert "nothing of it is published" not in said


@pytest.mark.parametrize("size", [2, 3])
def test_the_numbers_of_a_diverted_release_depend_on_the_number_of_rows_alone(size: int) -> None:
    told: dict[int, set[str]] = {}
    for count in range(size, 6):
        for values in product("abc", repeat=count):
            source = MemorySource.of(("town", "illness"), [("x", value) for value in values])
            roles = {"town": Role.INSENSITIVE, "illness": Role.SENSITIVE}
            parsed = parse_parameters(DIVERTED, {"l": size, "sensitive": ["illness"]}, "plan")
            asked = MethodInput(roles, {}, parsed, source=source)
            try:
                judged = LDiverted().decide(asked, CancelToken(), silent)
            except RefusedError:
                continue
            public = [judged.result, judged.guarantee.as_json()]
            told.setdefault(count, set()).add(json.dumps(public, sort_keys=True))
    assert told
    assert all(len(public) == 1 for public in told.values())
