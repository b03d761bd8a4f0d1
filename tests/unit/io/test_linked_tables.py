"""Two tables that differ by the texts of pseudonyms alone, and such that only look alike."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest

from dpdesk.core.jobs import CancelToken
from dpdesk.io.prints import linked_alike
from dpdesk.io.published import PublishedCsv

Row = tuple[str, str, str]
ROWS: list[Row] = [
    ("30-39", "A", "B"),
    ("30-39", "B", ""),
    ("40-49", "A", "C"),
    ("40-49", "C", "A"),
    ("40-49", "", "B"),
]
OTHER = {"A": "R", "B": "Q", "C": "P", "": ""}


def table(path: Path, rows: list[Row]) -> PublishedCsv:
    lines = ["age,person,mother", *(",".join(row) for row in rows)]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return PublishedCsv(path, CancelToken())


def renamed(rows: list[Row], texts: dict[str, str]) -> list[Row]:
    return [(age, texts[person], texts[mother]) for age, person, mother in rows]


def alike(folder: Path, first: list[Row], second: list[Row]) -> bool:
    both = table(folder / "1.csv", first), table(folder / "2.csv", second)
    return linked_alike(*both, ["person", "mother"], CancelToken())


def test_other_texts_and_another_order_of_rows_are_the_same_table(tmp_path: Path) -> None:
    assert alike(tmp_path, ROWS, sorted(renamed(ROWS, OTHER)))


@pytest.mark.parametrize(
    "changed",
    [
        [("30-39", "A", "B"), *ROWS[:1], *ROWS[2:]],
        [("30-39", "B", "A"), *ROWS[1:]],
        [*ROWS[:2], ("40-49", "B", "C"), *ROWS[3:]],
        [*ROWS[:4], ("40-49", "D", "B")],
        [*ROWS[:4], ("30-39", "", "B")],
        ROWS[:4],
    ],
)
def test_another_link_or_another_row_is_seen(tmp_path: Path, changed: list[Row]) -> None:
    assert not alike(tmp_path, changed, renamed(ROWS, OTHER))


@pytest.mark.parametrize("seed", range(60))
def test_random_tables_are_judged_as_by_trying_all_renamings(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    texts = ["", "A", "B", "C", "D"]
    rows = [
        (chance.choice("xy"), chance.choice(texts), chance.choice(texts))
        for _ in range(chance.randint(1, 7))
    ]
    other = renamed(rows, dict(zip(texts, ["", *chance.sample("STUV", 4)], strict=True)))
    if chance.random() < 0.7:
        place, column = chance.randrange(len(other)), chance.randint(0, 2)
        cells = list(other[place])
        cells[column] = chance.choice("xy") if not column else chance.choice(["", *"STUV"])
        other[place] = (cells[0], cells[1], cells[2])
    ways = (dict(zip(texts, ["", *way], strict=True)) for way in itertools.permutations("STUV"))
    expected = any(sorted(renamed(rows, way)) == sorted(other) for way in ways)
    assert alike(tmp_path, rows, other) == expected


def test_links_among_rows_that_are_alike_pass_in_several_columns_and_not_in_one(
    tmp_path: Path,
) -> None:
    """A ring of six people and two of three: all rows are alike, so no round tells them apart."""
    ring = [("x", one, other) for one, other in zip("ABCDEF", "BCDEFA", strict=True)]
    two = [("x", one, other) for one, other in zip("ABCDEF", "BCAEFD", strict=True)]
    assert alike(tmp_path, ring, two)
    assert not alike(tmp_path, [("x", "A", ""), ("x", "A", "")], [("x", "A", ""), ("x", "B", "")])
