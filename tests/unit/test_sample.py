"""The bundled sample: made by its generator, and shaped like people in households."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpdesk.core.plan import HierarchyBuilder, HierarchyFile
from dpdesk.core.schema import Role
from dpdesk.io.hierarchyfile import read_hierarchy
from dpdesk.io.planfile import read_plan

SAMPLE = Path(__file__).parents[2] / "resources" / "sample"
PLANS = sorted((SAMPLE / "plans").glob("*.toml"))
HIERARCHIES = sorted((SAMPLE / "hierarchies").glob("*.csv"))
OUTSIDE_WORK = ("child", "pupil", "student", "retired", "at home", "unemployed", "unable to work")


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    texts = ("person_id", "household_id", "postcode")
    return pd.read_csv(SAMPLE / "population.csv", dtype=dict.fromkeys(texts, str))


@pytest.fixture(scope="module")
def workers(people: pd.DataFrame) -> pd.DataFrame:
    working = people.age.between(25, 59) & ~people.occupation.isin(OUTSIDE_WORK)
    return people[working & people.occupation.notna() & people.income.notna()]


def cramers_v(left: pd.Series, right: pd.Series) -> float:
    """Association of two categorical columns: 0 when independent, 1 when one gives the other."""
    counts = pd.crosstab(left, right).to_numpy()
    expected = np.outer(counts.sum(1), counts.sum(0)) / counts.sum()
    chi_squared = ((counts - expected) ** 2 / expected).sum()
    return float(np.sqrt(chi_squared / counts.sum() / (min(counts.shape) - 1)))


def test_generator_makes_the_committed_files_again_byte_for_byte(tmp_path: Path) -> None:
    subprocess.run([sys.executable, SAMPLE / "generate.py", "--out", tmp_path], check=True)
    made = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file())
    committed = [path.relative_to(SAMPLE) for path in HIERARCHIES]
    assert made == sorted([*committed, Path("population.csv")])
    for name in made:
        assert (tmp_path / name).read_bytes() == (SAMPLE / name).read_bytes(), name


def test_sample_is_large_enough_to_matter_and_small_enough_to_ship(people: pd.DataFrame) -> None:
    assert len(people) >= 20_000
    assert (SAMPLE / "population.csv").stat().st_size < 2_500_000


def test_every_person_has_a_number_of_their_own(people: pd.DataFrame) -> None:
    assert people.person_id.is_unique
    assert people.person_id.str.fullmatch(r"\d{8}").all()


def test_age_is_the_completed_years_since_the_birth_date(people: pd.DataFrame) -> None:
    born = people.birth_date.map(date.fromisoformat)
    birthday_to_come = born.map(lambda day: (day.month, day.day) > (6, 30))
    assert (2024 - born.map(lambda day: day.year) - birthday_to_come == people.age).all()


def test_a_household_shares_one_address_and_counts_its_members(people: pd.DataFrame) -> None:
    households = people.groupby("household_id")
    for column in ("district", "postcode", "household_size"):
        assert (households[column].nunique() == 1).all()
    assert (households.size() == households.household_size.first()).all()


def test_no_child_lives_without_an_adult_old_enough_to_care(people: pd.DataFrame) -> None:
    households = people.groupby("household_id").age
    youngest, oldest = households.min(), households.max()
    with_child = youngest < 18
    assert with_child.sum() > 1_000
    assert ((oldest - youngest)[with_child] >= 18).all()


def test_married_people_live_with_a_second_married_person(people: pd.DataFrame) -> None:
    for status in ("married", "partnership"):
        couples = people[people.marital_status == status].groupby("household_id")
        assert (couples.size() == 2).all()
        assert (couples.age.agg(np.ptp) <= 20).all()


def test_postcodes_begin_with_their_district(people: pd.DataFrame) -> None:
    assert (people.postcode.str[:2].groupby(people.district).nunique() == 1).all()


def test_nobody_has_finished_a_school_that_takes_longer_than_their_life(
    people: pd.DataFrame,
) -> None:
    for level, youngest in (("primary", 11), ("upper second.", 18), ("bachelor", 21)):
        assert people[people.education == level].age.min() >= youngest
    assert people[people.education == "doctorate"].age.min() >= 27
    assert people[people.age < 16].occupation.dropna().isin(["child", "pupil"]).all()


@pytest.mark.parametrize(
    ("left", "right", "least"),
    [
        ("sex", "occupation", 0.4),
        ("education", "occupation", 0.2),
        ("district", "occupation", 0.1),
        ("district", "birthplace", 0.1),
        ("district", "education", 0.05),
        ("health", "condition", 0.1),
    ],
)
def test_working_people_show_associations(
    workers: pd.DataFrame, left: str, right: str, least: float
) -> None:
    assert cramers_v(workers[left], workers[right]) > least


def test_health_gets_worse_with_age_and_with_less_schooling(people: pd.DataFrame) -> None:
    score = people.health.map({"very good": 0, "good": 1, "fair": 2, "bad": 3, "very bad": 4})
    by_age = score.groupby(pd.cut(people.age, [-1, 17, 39, 59, 74, 100])).mean()
    assert by_age.is_monotonic_increasing
    assert by_age.iloc[-1] > by_age.iloc[0] + 1
    middle = people.age.between(30, 59)
    by_school = score[middle].groupby(people.education[middle]).mean()
    assert by_school["lower second."] > by_school["master"] + 0.2


def test_income_depends_on_occupation_schooling_age_and_sex(workers: pd.DataFrame) -> None:
    by_work = workers.groupby("occupation").income.median()
    assert by_work["doctor"] > 3 * by_work["cleaner"]
    by_school = workers.groupby("education").income.median()
    assert by_school["master"] > by_school["bachelor"] > by_school["vocational"] * 1.2
    by_age = workers.groupby(pd.cut(workers.age, [24, 34, 44, 60])).income.median()
    assert by_age.is_monotonic_increasing
    teachers = workers[workers.occupation == "teacher"].groupby("sex").income.median()
    assert teachers["male"] > teachers["female"]


def test_some_values_are_missing_but_few(people: pd.DataFrame) -> None:
    shares = people.isna().mean()
    assert set(shares[shares > 0].index) == {"education", "occupation", "income", "health"}
    assert shares.max() < 0.1


@pytest.mark.parametrize("path", HIERARCHIES, ids=lambda path: path.stem)
def test_every_value_has_a_leaf(path: Path, people: pd.DataFrame) -> None:
    hierarchy = read_hierarchy(path, path.stem)
    assert hierarchy.height >= 1
    assert set(people[path.stem].dropna().astype(str)) <= set(hierarchy.leaves)


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_a_plan_gives_every_column_a_role_and_its_files_exist(
    path: Path, people: pd.DataFrame
) -> None:
    plan = read_plan(path)
    assert (path.parent / plan.source.path).resolve() == SAMPLE / "population.csv"
    if plan.protection.method == "k-anonymity":  # releases every column that is no identifier
        assert set(plan.attributes) == set(people.columns)
        assert plan.attributes["person_id"].role is plan.attributes["household_id"].role
        assert plan.attributes["person_id"].role is Role.IDENTIFIER
    else:
        assert set(plan.attributes) <= set(people.columns)
    for spec in plan.attributes.values():
        if isinstance(spec.hierarchy, HierarchyFile):
            assert (path.parent / spec.hierarchy.path).resolve() in HIERARCHIES
        else:
            assert spec.hierarchy is None or isinstance(spec.hierarchy, HierarchyBuilder)


def test_the_plans_differ_in_k_search_and_objective() -> None:
    plans = [read_plan(path).protection for path in PLANS]
    protections = [each.parameters for each in plans if each.method == "k-anonymity"]
    assert len(protections) >= 3
    assert len({given["k"] for given in protections}) >= 4
    assert len({given["objective"] for given in protections if "objective" in given}) >= 2
    assert any("prefer" in given for given in protections)
