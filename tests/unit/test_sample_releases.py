"""The bundled plans, run for real: feasible, useful, and the optimum that a full search found.

The expected figures come from a search of its own over every node, by sorting rows in numpy.
"""

from __future__ import annotations

import csv
import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.running import run_plan
from dpdesk.core.jobs import CancelToken, silent

PLANS = Path(__file__).parents[2] / "resources" / "sample" / "plans"
PERSONS = 20_502
Released = Callable[[str, Path], dict[str, Any]]


class Known(NamedTuple):
    node: dict[str, int]
    suppressed: int
    classes: int
    loss: float


ANSWERS = {
    "dates-and-postcodes": Known({"birth_date": 3, "postcode": 3, "sex": 0}, 66, 185, 0.0893),
    "health-study": Known({"age": 3, "sex": 0, "postcode": 1, "birthplace": 0}, 562, 1278, 0.0787),
    "public-use-file": Known(
        {"age": 3, "sex": 0, "district": 2, "household_size": 2, "marital_status": 1},
        391,
        100,
        0.2395,
    ),
    "research-file": Known(
        {
            "age": 3,
            "sex": 0,
            "district": 2,
            "marital_status": 1,
            "education": 1,
            "occupation": 2,
        },
        655,
        444,
        0.2166,
    ),
    "small-areas": Known({"age": 1, "sex": 0, "postcode": 1}, 146, 1663, 0.0285),
}


PRIVATE, DRAWN, VIEWS, CELLS, CHOICES, RESPONSE = (
    "private-tables",
    "drawn-occupations",
    "many-marginals",
    "protected-tables",
    "median-incomes",
    "randomised-conditions",
)


@pytest.fixture(scope="module")
def context(module_home: Path) -> Iterator[AppContext]:
    with AppContext.open(module_home) as opened:
        yield opened


@pytest.fixture
def released(context: AppContext) -> Released:
    """A bundled plan as a release, ``out`` in a folder, and the result in its evidence."""

    def release(name: str, folder: Path) -> dict[str, Any]:
        run_plan(context, PLANS / f"{name}.toml", folder / "out", CancelToken(), silent)
        evidence = json.loads((folder / "out/internal/evidence.json").read_text("utf-8"))
        result: dict[str, Any] = evidence["result"]
        return result

    return release


def test_every_plan_has_a_known_answer() -> None:
    others = {PRIVATE, DRAWN, VIEWS, CELLS, CHOICES, RESPONSE}
    assert {path.stem for path in PLANS.glob("*.toml")} == {*ANSWERS, *others}


def test_the_plan_of_private_tables_leaves_nobody_out(released: Released, tmp_path: Path) -> None:
    """Its domains cover the sample, so the total is that of all persons but for the noise."""
    released(PRIVATE, tmp_path)
    evidence = json.loads((tmp_path / "out/internal/evidence.json").read_text("utf-8"))
    assert evidence["result"]["counting"]["count"]["rows_left_out"] == 0
    total = evidence["result"]["cuboids"][0]
    assert total["dimensions"] == []
    value = float((tmp_path / "out/public" / total["file"]).read_text("utf-8").split()[1])
    # Noise beyond 20 standard deviations has a chance below 1e-9 for Laplace sums.
    assert abs(value - PERSONS) < 20 * total["variance"] ** 0.5


def test_the_plan_of_drawn_occupations_keeps_both_promises(
    released: Released, tmp_path: Path
) -> None:
    result = released(DRAWN, tmp_path)
    rows = result["rows_out"]
    assert rows % 5 == 0
    assert rows + result["rows_removed"] + result["rows_suppressed"] == PERSONS
    assert result["rows_suppressed"] <= PERSONS // 100
    with (tmp_path / "out/public/microdata.csv").open(encoding="utf-8", newline="") as stream:
        table = list(csv.DictReader(stream))
    classes = Counter((row["age"], row["sex"], row["district"]) for row in table)
    assert min(classes.values()) >= 10
    assert sum(classes.values()) == rows


def test_the_plan_of_many_marginals_leaves_nobody_out(released: Released, tmp_path: Path) -> None:
    """Every view has the same total, that of all persons but for the noise."""
    released(VIEWS, tmp_path)
    result = json.loads((tmp_path / "out/internal/evidence.json").read_text("utf-8"))["result"]
    assert result["counting"]["count"]["rows_left_out"] == 0
    covered = [frozenset(view["dimensions"]) for view in result["views"]]
    for one in result["marginals"]:
        assert any(frozenset(one["dimensions"]) <= view for view in covered)
    for view in result["views"]:
        with (tmp_path / "out/public" / view["file"]).open(encoding="utf-8", newline="") as stream:
            total = sum(float(row["value"]) for row in csv.DictReader(stream))
        assert abs(total - PERSONS) < 20 * (view["variance"] * view["cells"]) ** 0.5


def test_the_plan_of_protected_tables_suppresses_what_its_rules_call_unsafe(
    released: Released, tmp_path: Path
) -> None:
    """Rules judged here by a loop over the rows: fewer than 10 households, or p% with p = 10."""
    assert released(CELLS, tmp_path)["cells"] == 39 * 13
    sample = PLANS.parent
    nodes = {}
    for column in ("district", "education"):
        with (sample / f"hierarchies/{column}.csv").open(encoding="utf-8") as stream:
            paths = [line.strip().split(";") for line in stream]
        nodes[column] = {"": ("", "Total"), **{one[0]: (*one[:-1], "Total") for one in paths}}
    given: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    with (sample / "population.csv").open(encoding="utf-8", newline="") as stream:
        for row in (row for row in csv.DictReader(stream) if row["income"]):
            for place in product(*(nodes[name][row[name]] for name in nodes)):
                given[place][row["household_id"]] += int(row["income"])
    with (tmp_path / "out/public/table.csv").open(encoding="utf-8", newline="") as stream:
        table = {(row["district"], row["education"]): row for row in csv.DictReader(stream)}
    with (tmp_path / "out/internal/table.csv").open(encoding="utf-8", newline="") as stream:
        judged = {
            (row["district"], row["education"]): row["status"] for row in csv.DictReader(stream)
        }
    assert len(table) == 39 * 13
    for place, row in table.items():
        largest = sorted(given[place].values(), reverse=True)
        rest = sum(largest[2:])
        unsafe = 0 < len(largest) < 10 or (bool(largest) and rest < largest[0] / 10)
        assert (judged[place] == "C") == unsafe, place
        assert not unsafe or (row["status"], row["value"]) == ("N", "")
        if row["status"] == "F":
            assert float(row["value"]) == sum(largest)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_the_plan_of_median_incomes_chooses_values_near_the_medians(
    released: Released, tmp_path: Path
) -> None:
    """Ranks are counted here row by row; worse choices have chances below 1e-9."""
    result, release = released(CHOICES, tmp_path), tmp_path / "out"
    chosen = result["choices"][0]
    most = math.log(chosen["candidates"] / 1e-9) / float(Fraction(chosen["rate"]))
    incomes = defaultdict(list)
    for row in rows_of(PLANS.parent / "population.csv"):
        if row["income"]:
            incomes[row["district"]].append(int(row["income"]))
    medians = rows_of(release / "public" / chosen["file"])
    assert {row["district"] for row in medians} == set(incomes)
    for row in medians:
        own, value = incomes[row["district"]], int(row["value"])
        # Incomes are rounded to hundreds, the nearest candidates.
        below = sum(income < value - 50 for income in own)
        above = sum(income > value + 50 for income in own)
        assert max(below, above) - len(own) / 2 <= most


def test_the_plan_of_randomised_conditions_keeps_all_else_and_its_chances(
    released: Released, tmp_path: Path
) -> None:
    result, release = released(RESPONSE, tmp_path), tmp_path / "out"
    table, source = rows_of(release / "public/microdata.csv"), PLANS.parent / "population.csv"
    people = rows_of(source)
    kept = Counter((row["age"], row["sex"]) for row in people)
    assert Counter((row["age"], row["sex"]) for row in table) == kept
    chances = next(one for one in result["chances"] if one["column"] == "condition")
    stay, move = (chances[key] / chances["whole"] for key in ("stay", "move"))
    true = Counter(row["condition"] for row in people)
    seen = Counter(row["condition"] for row in table)
    assert seen.keys() == true.keys()
    for value, count in true.items():
        expected = count * stay + (PERSONS - count) * move
        spread = count * stay * (1 - stay) + (PERSONS - count) * move * (1 - move)
        assert abs(seen[value] - expected) < 8 * spread**0.5


@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_a_plan_releases_the_known_optimum(released: Released, name: str, tmp_path: Path) -> None:
    result = released(name, tmp_path)
    known = ANSWERS[name]
    assert result["node"] == known.node
    assert result["rows_suppressed"] == known.suppressed
    assert result["rows_out"] == PERSONS - known.suppressed
    assert result["classes"] == known.classes
    assert result["metrics"]["loss"] == pytest.approx(known.loss, abs=6e-5)
