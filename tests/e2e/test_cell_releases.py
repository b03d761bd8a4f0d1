"""Releases whose tuples have values of their own, from plan to verification, and forged ones."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.running import run_plan
from dpdesk.app.verifying import verify_release
from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import Cancelled, CancelToken, Event, StepStarted, silent
from dpdesk.core.release import CheckStatus, VerifyReport
from dpdesk.engine.methods.k_anonymity.celled import SEARCH
from tests.helpers.forging import manifest_of, seal_again

pytestmark = pytest.mark.cheap_prints

MARITAL = """divorced;divorced or widow;*
widow;divorced or widow;*
married;married;*
single;single;*
"""
COURSE = """marital,zip,disease
divorced,94142,flu
divorced,94141,cold
married,94139,cold
married,94139,flu
married,94139,cold
single,94138,flu
single,94139,flu
single,94139,cold
widow,94141,flu
"""
NUMBERS = """age,town,disease
,Ulm,flu
20,Ulm,cold
23,Ulm,cold
31,Bonn,flu
31,Bonn,cold
35,Jena,cold
35,Bonn,flu
,Bonn,flu
"""

EVEN = "age,town,disease\n" + "20,Ulm,flu\n23,Ulm,cold\n" * 2 + "20,Bonn,flu\n23,Bonn,cold\n"

Made = Callable[..., Path]


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(each)}" for key, each in value.items()) + " }"
    return json.dumps(value)


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppContext]:
    with AppContext.open(tmp_path_factory.mktemp("home")) as opened:
        yield opened


@pytest.fixture
def made(context: AppContext, tmp_path: Path) -> Made:
    def make(table: str, attributes: str, **protection: object) -> Path:
        (tmp_path / "people.csv").write_text(table, "utf-8")
        (tmp_path / "marital.csv").write_text(MARITAL, "utf-8")
        settings = "\n".join(f"{key} = {_toml(value)}" for key, value in protection.items())
        plan = tmp_path / "plan.toml"
        plan.write_text(
            'version = 1\n[source]\npath = "people.csv"\n[attributes]\n'
            f'{attributes}\n[protection]\nmethod = "k-anonymity"\n{settings}\n',
            "utf-8",
        )
        run_plan(context, plan, tmp_path / "release", CancelToken(), silent)
        return tmp_path / "release"

    return make


@pytest.fixture
def verify(context: AppContext) -> Callable[[Path], VerifyReport]:
    def run(release: Path) -> VerifyReport:
        source = release.parent / "people.csv"
        place = context.registry, CancelToken(), silent, source, context.workspace
        return verify_release(release, *place)

    return run


def rows_of(release: Path) -> list[tuple[str, ...]]:
    with (release / "public/microdata.csv").open(encoding="utf-8", newline="") as stream:
        return [tuple(row) for row in csv.reader(stream)][1:]


MARITAL_ZIP = """marital = { role = "quasi-identifier", hierarchy = "marital.csv" }
zip = { role = "quasi-identifier", hierarchy = { kind = "mask" } }"""
AGE_TOWN = """age = { role = "quasi-identifier" }
town = { role = "quasi-identifier" }"""


def test_the_example_of_the_course_has_three_classes_of_three(
    made: Made, verify: Callable[[Path], VerifyReport]
) -> None:
    release = made(COURSE, MARITAL_ZIP, k=3, algorithm="mondrian")
    assert [row[:2] for row in rows_of(release)] == [
        *[("divorced or widow", "9414*")] * 3,
        *[("married", "94139")] * 3,
        *[("single", "9413*")] * 3,
    ]
    result = manifest_of(release)["result"]
    assert "node" not in result
    assert (result["classes"], result["smallest_class"], result["rows_out"]) == (3, 3, 9)
    report = verify(release)
    assert report.ok
    assert not [c for c in report.claims if c.status is CheckStatus.NOT_CHECKED]


def test_limits_of_cells_and_levels_hold_and_stricter_claims_fail(
    made: Made, verify: Callable[[Path], VerifyReport]
) -> None:
    limits = {"max_cells": {"age": 0.4}, "max_suppression_of": {"age": 0.34}}
    release = made(EVEN, AGE_TOWN, k=2, model="CS", max_level={"town": 0}, **limits)
    shown = [("*", "Bonn")] * 2 + [("20", "Ulm")] * 2 + [("23", "Ulm")] * 2
    assert sorted(row[:2] for row in rows_of(release)) == sorted(shown)
    report = verify(release)
    assert report.ok
    assert not [c for c in report.claims if c.status is CheckStatus.NOT_CHECKED]

    def forge(key: str, limits: object) -> set[str]:
        forged = release.parent / key
        shutil.copytree(release, forged)
        manifest = manifest_of(forged)
        manifest["parameters"][key] = limits
        seal_again(forged, manifest)
        return {c.claim for c in verify(forged).claims if c.status is CheckStatus.FAILED}

    assert "suppressed cells of age within their limit" in forge("max_cells", {"age": 0})
    each = "suppressed cells of each value of age within their limit"
    assert each in forge("max_suppression_of", {"age": 0})
    assert "levels of age within their limits" in forge("max_level", {"age": 0, "town": 0})


def test_numbers_are_cut_before_the_search_and_again_when_verified(
    context: AppContext, tmp_path: Path, verify: Callable[[Path], VerifyReport]
) -> None:
    (tmp_path / "people.csv").write_text(NUMBERS, "utf-8")
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'version = 1\n[source]\npath = "people.csv"\n'
        "coarsen = { age = { bottom = 21, top = 33, round = 5 } }\n"
        f'[attributes]\n{AGE_TOWN}\n[protection]\nmethod = "k-anonymity"\nk = 2\nmodel = "CS"\n',
        "utf-8",
    )
    run_plan(context, plan, tmp_path / "release", CancelToken(), silent)
    assert {row[0] for row in rows_of(tmp_path / "release")} <= {"", "21", "25", "30", "33", "*"}
    report = verify(tmp_path / "release")
    assert report.ok
    assert not [c for c in report.claims if c.status is CheckStatus.NOT_CHECKED]
    public = tmp_path / "release/public"
    said = "21 means 21 and below; 33 means 33 and above; rounded to multiples of 5; quasi-"
    assert said in (public / "about.html").read_text("utf-8")
    (labels,) = json.loads((public / "variables.json").read_text("utf-8"))["variables"]
    assert labels["coarsened"] == {"bottom": "21", "top": "33", "round": "5"}
    forged = tmp_path / "forged"
    shutil.copytree(tmp_path / "release", forged)
    for name in ("variables.json", "microdata.csv-metadata.json"):
        told = (public / name).read_text("utf-8")
        assert '"33"' in told
        (forged / "public" / name).write_text(told.replace('"33"', '"43"'), "utf-8")
    seal_again(forged, manifest_of(forged))
    failed = verify(forged)
    assert "is not what the source says of its columns" in "".join(map(str, failed.failures))
    assert "about.html" in {c.path for c in failed.claims if c.status is CheckStatus.FAILED}
    facts = json.loads((tmp_path / "release/internal/evidence.json").read_text("utf-8"))
    facts["plan"]["source"]["coarsen"]["age"]["top"] = 34
    (tmp_path / "release/internal/evidence.json").write_text(json.dumps(facts), "utf-8")
    seal_again(tmp_path / "release", manifest_of(tmp_path / "release"))
    assert not verify(tmp_path / "release").ok


def test_a_value_that_fewer_than_k_rows_have_cannot_keep_its_cells(made: Made) -> None:
    with pytest.raises(RefusedError, match="No classes of k = 2 rows were found with `max_level`"):
        made(NUMBERS, AGE_TOWN, k=2, model="CS", max_level={"town": 0})


@pytest.mark.parametrize("strict", [True, False])
def test_ranges_show_numbers_texts_and_missing_values(
    made: Made, verify: Callable[[Path], VerifyReport], strict: bool
) -> None:
    release = made(NUMBERS, AGE_TOWN, k=2, algorithm="mondrian", values="ranges", strict=strict)
    assert verify(release).ok
    shown = [row[:2] for row in rows_of(release)]
    assert min(map(shown.count, shown)) >= 2
    if strict:
        assert sorted(set(shown)) == [
            ("", "{Bonn, Ulm}"),
            ("31", "Bonn"),
            ("35", "{Bonn, Jena}"),
            ("[20, 23]", "Ulm"),
        ]


@pytest.mark.parametrize(
    ("settings", "first"),
    [
        ({"model": "CG"}, ("divorced or widow", "9414*")),
        ({"model": "AG_CS"}, ("divorced or widow", "9414*")),
        ({"model": "CS"}, ("*", "*")),
        ({"model": "AS"}, ("*", "*")),
        ({"model": "AG"}, ("divorced or widow", "9414*")),
        ({"model": "TS", "max_suppression": 0.7}, ("married", "94139")),
        (
            {"local": True, "max_suppression": 0.7, "levels": {"marital": 0, "zip": 0}},
            ("divorced or widow", "9414*"),
        ),
    ],
)
def test_every_granularity_is_released_and_verified(
    made: Made,
    verify: Callable[[Path], VerifyReport],
    settings: dict[str, object],
    first: tuple[str, str],
) -> None:
    release = made(COURSE, MARITAL_ZIP, k=3, **settings)
    assert rows_of(release)[0][:2] == first
    report = verify(release)
    assert report.ok
    assert not [c for c in report.claims if c.status is CheckStatus.NOT_CHECKED]


def test_cells_of_rare_rows_are_suppressed_where_their_column_keeps_its_level(
    made: Made, verify: Callable[[Path], VerifyReport]
) -> None:
    """One row of a place of its own does not make the place of all others coarse."""
    rows = [f"{town},{disease}" for town in ("Ulm", "Bonn", "Jena") for disease in "ab" * 2]
    table = "\n".join(["town,disease", *rows, "Gera,a", ""])
    release = made(table, 'town = { role = "quasi-identifier" }', k=2, model="AG_CS")
    shown = [row[0] for row in rows_of(release)]
    assert (shown.count("*"), len(set(shown))) == (2, 4)
    result = manifest_of(release)["result"]
    assert result["proven_optimal"] is True
    assert (result["rows_suppressed"], result["smallest_class"]) == (0, 2)
    assert "node" not in result
    report = verify(release)
    assert report.ok
    assert not [c for c in report.claims if c.status is CheckStatus.NOT_CHECKED]
    forged = Path(shutil.copytree(release, release.parent / "forged"))
    public = forged / "public/microdata.csv"
    public.write_text(public.read_text("utf-8").replace("*,a", "Gera,a"), "utf-8")
    seal_again(forged, manifest_of(forged))
    assert not verify(forged).ok


@pytest.mark.parametrize(
    "forge",
    [
        lambda text: text.replace("single,9413*", "single,9414*"),
        lambda text: text.replace("married,94139", "married,94138"),
        lambda text: text.replace("divorced or widow", "married"),
    ],
)
def test_a_table_that_does_not_follow_from_the_source_fails(
    made: Made, verify: Callable[[Path], VerifyReport], forge: Callable[[str], str]
) -> None:
    release = made(COURSE, MARITAL_ZIP, k=3, algorithm="mondrian")
    forged = release.parent / "forged"
    shutil.copytree(release, forged)
    table = forged / "public/microdata.csv"
    text = table.read_text("utf-8")
    assert forge(text) != text
    table.write_text(forge(text), "utf-8")
    seal_again(forged, manifest_of(forged))
    found = verify(forged)
    assert not found.ok
    assert any("generalises" in failure.reason for failure in found.failures)


def test_a_forged_node_and_a_forged_loss_fail(
    made: Made, verify: Callable[[Path], VerifyReport]
) -> None:
    release = made(COURSE, MARITAL_ZIP, k=3, algorithm="mondrian")
    for change in ({"node": {"marital": 0, "zip": 0}}, {"metrics": {"loss": 0.0}}):
        forged = release.parent / "forged"
        shutil.copytree(release, forged)
        manifest = manifest_of(forged)
        result = dict(manifest["result"])
        key, value = next(iter(change.items()))
        result[key] = {**result.get(key, {}), **value}
        seal_again(forged, {**manifest, "result": result})
        assert not verify(forged).ok
        shutil.rmtree(forged)


@pytest.mark.parametrize("algorithm", ["k-optimize", "mondrian"])
def test_ranges_that_keep_to_levels_are_verified_and_other_levels_fail(
    made: Made, verify: Callable[[Path], VerifyReport], algorithm: str
) -> None:
    """20 to 39 in tens: each range has whole tens, and is within one score."""
    builder = '{ kind = "intervals", widths = [10, 20] }'
    ages = f'age = {{ role = "quasi-identifier", hierarchy = {builder} }}'
    table = "age,town\n" + "".join(f"{age},Ulm\n" for age in (20, 20, 23, 31, 38, 39, 44, 45))
    levels = {"min_level": {"age": 1}, "max_level": {"age": 2}}
    release = made(table, ages, k=2, algorithm=algorithm, values="ranges", **levels)
    assert {row[0] for row in rows_of(release)} == {"[20, 23]", "[31, 39]", "[44, 45]"}
    report = verify(release)
    assert report.ok
    for key, level in (("min_level", 2), ("max_level", 0)):
        forged = release.parent / key
        shutil.copytree(release, forged)
        manifest = manifest_of(forged)
        manifest["parameters"][key] = {"age": level}
        seal_again(forged, manifest)
        failed = {c.claim for c in verify(forged).claims if c.status is CheckStatus.FAILED}
        assert "levels of age within their limits" in failed


def test_a_search_for_cuts_that_is_cancelled_keeps_nothing(
    context: AppContext, made: Made, tmp_path: Path
) -> None:
    made(COURSE, MARITAL_ZIP, k=3, algorithm="k-optimize")
    before, token = {path.name for path in tmp_path.iterdir()}, CancelToken()

    def cancel(event: Event) -> None:
        if isinstance(event, StepStarted) and event.step == SEARCH:
            token.cancel()

    with pytest.raises(Cancelled):
        run_plan(context, tmp_path / "plan.toml", tmp_path / "again", token, cancel)
    assert {path.name for path in tmp_path.iterdir()} == before
