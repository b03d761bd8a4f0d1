"""``dpdesk query`` on releases with drawn values: estimates from the public files alone."""

from __future__ import annotations

import csv
import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpdesk.app.context import AppContext
from dpdesk.cli.main import main
from tests.helpers import clinic

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of 1,202 rows with two drawn columns; its internal part is not there."""
    folder = tmp_path_factory.mktemp("clinic")
    clinic.write_source(folder, 1202)
    with AppContext.open(folder / "home") as context:
        out = clinic.release(clinic.write_plan(folder), folder / "release", context).out
    shutil.rmtree(out / "internal")
    return out / "public"


@pytest.fixture
def ask(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    made: Path,
) -> Run:
    monkeypatch.setenv("DPDESK_HOME", str(tmp_path / "home"))

    def call(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(["query", str(made), *(str(each) for each in arguments)])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def answered(ask: Run, *arguments: object) -> dict[str, Any]:
    code, out, err = ask(*arguments, "--json")
    assert code == 0, err
    found: dict[str, Any] = json.loads(out.splitlines()[-1])
    return found


def released(made: Path) -> list[dict[str, str]]:
    with (made / "microdata.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_columns_that_were_not_drawn_are_counted_exactly(ask: Run, made: Path) -> None:
    found = answered(ask, "--by", "town", "--where", "age>=30")
    counted = Counter(row["town"] for row in released(made) if int(row["age"]) >= 30)
    assert {row["labels"]["town"]: row["value"] for row in found["rows"]} == counted
    assert {row["standard_error"] for row in found["rows"]} == {0}
    assert (found["interval"], found["condition"]) == ("certain", None)


def test_estimates_by_value_add_up_to_the_rows_that_match(ask: Run, made: Path) -> None:
    found = answered(ask, "--by", "illness", "--where", "town=town 1", "--margins")
    matching = sum(row["town"] == "town 1" for row in released(made))
    *each, total = found["rows"]
    assert total["labels"]["illness"] is None
    assert (total["value"], total["standard_error"]) == (matching, 0)
    assert {row["labels"]["illness"] for row in each} == set(clinic.ILLNESSES)
    assert sum(row["value"] for row in each) == pytest.approx(matching)
    assert all(0 <= row["low"] <= row["value"] <= row["high"] <= matching for row in each)
    assert all(row["standard_error"] > 0 for row in each)
    assert found["estimator"] == "matrix"
    assert found["condition"] > 1


def test_intervals_of_a_release_hold_the_true_counts(ask: Run) -> None:
    people = clinic.people(1202)
    held = total = 0
    for column, place in (("illness", 3), ("job", 4)):
        found = answered(ask, "--by", f"town,{column}")
        truth = Counter((person[2], person[place]) for person in people)
        for row in found["rows"]:
            total += 1
            count = truth[row["labels"]["town"], row["labels"][column]]
            # Up to two rows were removed at random.
            held += row["low"] - 2 <= count <= row["high"] + 2
    assert total == 4 * (len(clinic.ILLNESSES) + len(clinic.JOBS))
    # 48 answers in groups of four towns: 95 % of them but for chance below 1 in 10,000.
    assert held >= 36


def test_two_drawn_columns_are_asked_for_together(ask: Run) -> None:
    found = answered(
        ask, "--where", "illness=cold,flu", "--where", "job=baker", "--where", "age<45"
    )
    (row,) = found["rows"]
    assert 0 <= row["low"] <= row["value"] <= row["high"] <= 1202
    assert row["standard_error"] > 0
    assert "`illness`, `job`" in found["sentence"]


@pytest.mark.parametrize("estimator", ["matrix", "em", "closed-form", "paper"])
def test_every_estimator_answers_and_says_what_it_assumes(ask: Run, estimator: str) -> None:
    found = answered(ask, "--where", "illness=flu", "--where", "age>=30", "--estimator", estimator)
    (row,) = found["rows"]
    assert row["value"] is not None
    assert (row["standard_error"] is None) is (estimator == "paper")
    assert found["estimator"] == estimator
    assumed = " ".join(found["warnings"])
    assert ("for comparison only" in assumed) is (estimator == "paper")
    assert ("is biased" in assumed) is (estimator in ("em", "closed-form"))


def test_an_unknown_estimator_names_the_known_ones(ask: Run) -> None:
    code, _, err = ask("--where", "illness=flu", "--estimator", "matrx")
    assert code == 2
    assert "`matrix`" in err
    assert "did you mean" in err.lower()


def test_what_can_be_asked_names_the_estimators(ask: Run) -> None:
    code, out, _ = ask()
    assert code == 0
    assert "Estimators: matrix, em, closed-form, paper" in out
