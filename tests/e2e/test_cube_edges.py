"""Cubes at the edges: privacy losses that hide nothing, huge sums, rows of nobody, odd plans."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyreadstat
import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.verifying import verify_release
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from tests.helpers.cubes import Row, people, release, write_plan, write_register

pytestmark = pytest.mark.cheap_prints


@pytest.fixture(scope="module")
def context(module_home: Path) -> Iterator[AppContext]:
    with AppContext.open(module_home) as opened:
        yield opened


def made(context: AppContext, folder: Path, rows: list[Row], **keys: Any) -> Path:
    source = write_register(folder, rows)
    plan = write_plan(source, **keys)
    return release(context, plan, folder / "out").out


def values(path: Path) -> list[float]:
    with path.open(encoding="utf-8", newline="") as stream:
        return [float(row[-1]) for row in list(csv.reader(stream))[1:]]


@pytest.mark.parametrize("consistency", ["none", "l2", "l1", "linf"])
def test_a_privacy_loss_that_hides_nothing_gives_the_counts_and_verifies(
    context: AppContext, tmp_path: Path, consistency: str
) -> None:
    rows = people(50)
    out = made(context, tmp_path, rows, epsilon=1e6, consistency=consistency, planner="all")
    found = verify_release(out, context.registry, CancelToken(), silent)
    assert found.ok, found.failures
    inside = [row for row in rows if row[1] in "fm" and row[3] not in ("", "unknown")]
    expected = [sum(row[1] == sex for row in inside) for sex in "fm"]
    assert values(out / "public/cuboids/1-sex.csv") == pytest.approx(expected)


@pytest.mark.parametrize("declared", ["plan", "file"])
def test_a_number_that_is_declared_missing_is_no_amount(
    context: AppContext, tmp_path: Path, declared: str
) -> None:
    path = tmp_path / ("people.csv" if declared == "plan" else "people.sav")
    missing = '["", "99"]' if declared == "plan" else '[""]'
    read = f'missing = {missing}\ntypes = {{ sex = "text", pay = "number" }}\nencoding = "utf-8"'
    if declared == "plan":
        path.write_text("sex,pay\nf,5\nf,99\nm,7\n", encoding="utf-8")
        read += '\ndelimiter = ","\ndecimal = "."\nquote = ""\nheader = true'
    else:
        frame = pd.DataFrame({"sex": ["f", "f", "m"], "pay": [5, 99, 7]})
        pyreadstat.write_sav(frame, path, missing_ranges={"pay": [99]})
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f"""version = 1
[source]
path = "{path.name}"
{read}
[protection]
method = "dp-cube"
dimensions = ["sex"]
domains = {{ sex = ["f", "m"] }}
measure = {{ sum = "pay", lower = 0, upper = 100 }}
epsilon = 1000000
[budget]
population = "declared missing in the {declared}"
""",
        encoding="utf-8",
    )
    out = release(context, plan, tmp_path / "out").out
    [cuboid] = (out / "public/cuboids").glob("1-sex*.csv")
    assert values(cuboid) == pytest.approx([5, 7], abs=0.1)
    found = verify_release(
        out, context.registry, CancelToken(), silent, path, workspace=context.workspace
    )
    assert found.ok, found.failures


@pytest.mark.parametrize(
    ("lower", "upper", "step"), [(0, 251, 1), (-3, 250, 1), (0, 250.5, 1), (0, 260, 40)]
)
def test_no_average_is_off_because_its_middle_lies_between_two_steps(
    context: AppContext, tmp_path: Path, lower: float, upper: float, step: float
) -> None:
    rows = people(200)
    measure = {"average": "pay", "lower": lower, "upper": upper, "step": step}
    out = made(context, tmp_path, rows, epsilon=1e6, measure=measure, planner="all")
    found = verify_release(out, context.registry, CancelToken(), silent)
    assert found.ok, found.failures
    middle = (lower + upper) / 2
    paid = {
        row: middle if row[4] == "n/a" else min(max(float(row[4]), lower), upper)
        for row in rows
        if row[1] in "fm" and row[3] not in ("", "unknown")
    }
    kept = [row for row in rows if row in paid]
    expected = [
        sum(paid[row] for row in kept if row[1] == sex) / sum(row[1] == sex for row in kept)
        for sex in "fm"
    ]
    [path] = (out / "public/cuboids").glob("1-sex.average*.csv")
    assert values(path) == pytest.approx(expected, abs=step / 2 if step > 1 else 0.01)


@pytest.mark.parametrize("epsilon", [7, 40, 1e6])
def test_no_suspicion_rises_above_certainty(
    context: AppContext, tmp_path: Path, epsilon: float
) -> None:
    out = made(context, tmp_path, people(20), epsilon=epsilon, planner="base")
    claim = json.loads((out / "public/manifest.json").read_text("utf-8"))["guarantee"]["claim"]
    assert claim.endswith("A suspicion of 10 % can rise to at most 100 %.")


@pytest.mark.parametrize(
    "keys",
    [
        {"rho": 1e6},
        {"rho": 1e6, "planner": "optimal", "basis": "residuals"},
        {"epsilon": 1e-14, "consistency": "none"},
        {
            "measure": {"sum": "pay", "lower": 0, "upper": 10**12, "step": 1000},
            "consistency": "none",
            "epsilon": 1e-4,
        },
    ],
)
def test_very_small_and_very_large_numbers_are_written_and_verify(
    context: AppContext, tmp_path: Path, keys: dict[str, Any]
) -> None:
    out = made(context, tmp_path, people(20), **keys)
    found = verify_release(out, context.registry, CancelToken(), silent)
    assert found.ok, found.failures


RESIDUALS = {"rho": 0.1, "planner": "optimal", "basis": "residuals", "neighbours": "replace"}
PAY = {"sum": "pay", "lower": 0, "upper": 5}


@pytest.mark.parametrize(
    ("keys", "code"),
    [
        (RESIDUALS | {"measure": PAY}, "cube.basis"),
        (RESIDUALS | {"measure": {"average": "pay", "lower": 0, "upper": 5}}, "cube.basis"),
        ({"measure": [PAY, PAY | {"upper": 50}]}, "cube.measure"),
        ({"measure": PAY | {"upper": 1e300, "step": 1e295}}, "cube.measure"),
        ({"measure": PAY | {"lower": -0.4, "upper": 0.4}}, "cube.step"),
        ({"measure": PAY | {"upper": 1e20}}, "cube.step"),
        ({"measure": PAY | {"upper": "5"}}, "parameter.invalid"),
        ({"measure": {"average": "pay", "lower": "0", "upper": 5}}, "parameter.invalid"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_a_sentence_before_anything_is_spent(
    context: AppContext, tmp_path: Path, keys: dict[str, Any], code: str
) -> None:
    with pytest.raises(InputError) as caught:
        made(context, tmp_path, people(5), **keys)
    assert caught.value.code == code
    assert not (tmp_path / "out").exists()


def test_a_row_that_says_not_whose_it_is_changes_no_other_row(
    context: AppContext, tmp_path: Path
) -> None:
    """With one row per person, cutting such rows together would put another's row in its place."""
    known: Row = ("p1", "f", "north", "25", "100")
    nobody: list[Row] = [("", "f", "north", "25", "100"), ("", "m", "south", "41", "100")]
    counts = []
    for number, extra in enumerate((nobody, nobody[1:], [])):
        source = write_register(tmp_path / str(number), [known, *extra])
        plan = write_plan(source, epsilon=1e6)
        text = plan.read_text("utf-8")
        plan.write_text(
            text.replace("[attributes]\n", '[attributes]\nperson = { role = "cluster" }\n'), "utf-8"
        )
        out = release(context, plan, source.parent / "out").out
        counts.append(values(out / "public/cuboids/1-sex.csv"))
    assert counts == [pytest.approx([1, 0])] * 3


def test_the_page_says_that_errors_of_averages_are_for_a_number_of_persons(
    context: AppContext, tmp_path: Path
) -> None:
    average = {"average": "pay", "lower": 0, "upper": 500}
    page = (made(context, tmp_path, people(20), measure=average) / "public/about.html").read_text()
    assert "Largest error, count" in page
    assert "Largest error, average" not in page
    assert " / n</td>" in page
    assert "On average over the noise every value is right" not in page


@pytest.mark.parametrize("consistency", ["l2", "linf"])
def test_the_page_says_when_errors_are_larger_than_stated(
    context: AppContext, tmp_path: Path, consistency: str
) -> None:
    page = (made(context, tmp_path, people(20), consistency=consistency)) / "public/about.html"
    assert ("by another rule" in page.read_text("utf-8")) == (consistency == "linf")


def test_the_page_says_which_rows_of_other_columns_are_left_out(
    context: AppContext, tmp_path: Path
) -> None:
    counted = ["sex", "region", "age"]
    out = made(context, tmp_path, people(30), dimensions=["sex"], counted_by=counted)
    page = (out / "public/about.html").read_text("utf-8")
    assert "Rows whose value in age is not one of the categories" in page


def test_the_page_says_where_other_texts_went(context: AppContext, tmp_path: Path) -> None:
    page = (made(context, tmp_path, people(20)) / "public/about.html").read_text("utf-8")
    assert '<span class="value">other</span> in region' in page
    assert "Rows with anything else in the other dimensions are left out." in page


def test_the_chance_of_a_gaussian_claim_is_the_plans_own(
    context: AppContext, tmp_path: Path
) -> None:
    out = made(context, tmp_path, people(20), rho=0.5, delta=0.01)
    assert "Except with a chance of 0.01" in (out / "public/manifest.json").read_text()


def test_a_number_that_is_declared_missing_is_in_no_interval(
    context: AppContext, tmp_path: Path
) -> None:
    path, plan = tmp_path / "people.csv", tmp_path / "plan.toml"
    path.write_text("age,sex\n95,f\n99,f\n25,m\n99,m\n", encoding="utf-8")
    plan.write_text(
        """version = 1
[source]
path = "people.csv"
missing = ["", "99"]
types = { age = "number", sex = "text" }
encoding = "utf-8"
delimiter = ","
decimal = "."
quote = ""
header = true
[attributes.age]
hierarchy = { kind = "intervals", widths = [10], bottom = 0, top = 100 }
[protection]
method = "dp-cube"
dimensions = ["age"]
levels = { age = 1 }
epsilon = 1000000
[budget]
population = "declared missing ages"
""",
        encoding="utf-8",
    )
    out = release(context, plan, tmp_path / "out").out
    [cuboid] = (out / "public/cuboids").glob("1-age*.csv")
    found = values(cuboid)
    assert sum(found) == 2, "the missing ones have no place"
    assert sorted(found)[-2:] == [1, 1]
    report = verify_release(
        out, context.registry, CancelToken(), silent, path, workspace=context.workspace
    )
    assert report.ok, report.failures
