"""Rows with drawn values from the plan to the verified folder: paid for, asked, forged, refused."""

from __future__ import annotations

import csv
import json
import shutil
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpdesk.app.checklists import check_release
from dpdesk.app.comparing import compare_plan
from dpdesk.app.context import AppContext
from dpdesk.app.private.trial import try_plan
from dpdesk.app.querying import open_release
from dpdesk.app.risk import assess
from dpdesk.app.verifying import verify_release
from dpdesk.core.budget import DebitRequest, Neighbours, PureEpsilon
from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.query import Chosen, Grouping, Query
from dpdesk.core.release import CheckStatus, VerifyReport
from dpdesk.project.audit import AuditLog
from dpdesk.project.ledger.accounts import add_up
from dpdesk.project.review.checklist import Status
from tests.helpers import cubes
from tests.helpers.forging import manifest_of, seal_again

pytestmark = pytest.mark.cheap_prints

KEYS: dict[str, Any] = {
    "dimensions": None,
    "levels": None,
    "drawn": ["sex", "region"],
    "domains": {"sex": ["f", "m"], "region": ["north", "south", "other"]},
    "outside": {"sex": "m"},
    "epsilon": 2,
}
MATRIX = {
    "drawn": ["sex"],
    "domains": {"sex": ["f", "m"]},
    "matrix": {"sex": [["0.75", "0.25"], ["1/3", "2/3"]]},
    "epsilon": 1,
}


@pytest.fixture(scope="module")
def context(module_home: Path) -> Iterator[AppContext]:
    with AppContext.open(module_home) as opened:
        yield opened


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cubes.write_register(tmp_path_factory.mktemp("register"), cubes.people(600))


def plan_of(source: Path, name: str = "plan.toml", **keys: object) -> Path:
    """A plan that draws; persons are left out."""
    given = KEYS | keys
    plan = cubes.write_plan(source, name, method="randomised-response", **given)
    text = plan.read_text("utf-8")
    hidden = '[attributes]\nperson = { role = "identifier" }\npay = { role = "sensitive" }\n'
    plan.write_text(text.replace("[attributes]\n", hidden, 1), "utf-8")
    return plan


@pytest.fixture(scope="module")
def made(context: AppContext, source: Path) -> Path:
    return cubes.release(context, plan_of(source), source.parent / "release").out


@pytest.fixture(scope="module")
def of_matrix(context: AppContext, source: Path) -> Path:
    plan = plan_of(source, "matrix.toml", outside={"sex": "m"}, **MATRIX)
    return cubes.release(context, plan, source.parent / "matrix").out


def table(release: Path) -> list[list[str]]:
    with (release / "public/microdata.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def verified(context: AppContext, release: Path, source: Path | None = None) -> VerifyReport:
    return verify_release(
        release, context.registry, CancelToken(), silent, source, context.workspace
    )


def budget(release: Path) -> dict[str, Any]:
    evidence = json.loads((release / "internal/evidence.json").read_text("utf-8"))
    found: dict[str, Any] = evidence["budget"]
    return found


def test_all_rows_are_released_with_drawn_columns_in_their_domains(made: Path) -> None:
    header, *rows = table(made)
    assert header == ["sex", "region", "age", "pay"]
    assert rows == sorted(rows)
    there = Counter(("" if age == "unknown" else age, "" if pay == "n/a" else pay)
                    for *_, age, pay in cubes.people(600))  # fmt: skip
    assert Counter((row[2], row[3]) for row in rows) == there
    assert {row[0] for row in rows} == {"f", "m"}
    assert {row[1] for row in rows} == {"north", "south", "other"}


def test_it_verifies_with_and_without_its_source(
    context: AppContext, made: Path, of_matrix: Path, source: Path
) -> None:
    for release in (made, of_matrix):
        report = verified(context, release)
        assert report.ok, report.failures
        settled = verified(context, release, source)
        assert settled.ok, settled.failures
        assert not any(check.status is CheckStatus.NEEDS_SOURCE for check in settled.claims)
        alone = Path(shutil.copytree(release / "public", source.parent / f"{release.name} alone"))
        assert verified(context, alone).ok


def test_the_debit_is_for_the_values_and_lists_every_column(made: Path) -> None:
    body = json.loads(budget(made)["record"]["body"])
    text = json.dumps(body)
    assert budget(made)["cost"] == "ε = 2"
    assert '"value"' in text
    assert text.count('"pure"') >= 2


def test_counts_are_estimated_and_compared_with_the_truth(
    context: AppContext, made: Path, source: Path
) -> None:
    release = open_release(context, made, CancelToken(), silent)
    by = Query(by=(Grouping("region"),), margins=True)
    answer = release.ask(by, CancelToken(), silent)
    found = {row.labels[0]: row for row in answer.rows}
    assert list(found) == ["north", "south", "other", None]
    assert (found[None].value, found[None].low, found[None].high) == (600.0, 600.0, 600.0)
    assert sum(found[name].value or 0 for name in ("north", "south", "other")) == pytest.approx(600)
    for row in answer.rows:
        assert row.low is not None
        assert row.high is not None
        assert row.value is not None
        assert row.low <= row.value <= row.high
    exact = release.ask(Query(where=(Chosen("age", ("25",)),)), CancelToken(), silent)
    rows = sum(age == "25" for *_, age, _ in cubes.people(600))
    assert (exact.rows[0].value, exact.interval) == (rows, "certain")
    both = Query(by=(Grouping("age"), Grouping("sex")), where=(Chosen("region", ("north",)),))
    answer = release.ask(both, CancelToken(), silent)
    assert {row.labels for row in answer.rows} == {
        (age, sex) for age in ("25", "41", "77", "") for sex in ("f", "m")
    }


def test_risk_checklist_and_comparison_know_it(
    context: AppContext, made: Path, source: Path
) -> None:
    risk = assess(context, made, CancelToken(), silent).risk
    assert risk["epsilon"] == 2.0
    assert assess(context, source.parent / "plan.toml", CancelToken(), silent).risk == risk
    items = {
        each.id: each
        for each in check_release(context, made, CancelToken(), silent).checklist.items
    }
    assert "between two values of a person" in items["privacy-loss"].evidence
    assert {"budget", "unit", "linkage"} <= set(items)
    found = compare_plan(context, source.parent / "plan.toml", CancelToken(), silent)
    assert [(each.column, each.size) for each in found] == [("sex", 2), ("region", 3)]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("guarantee", "parameters", "epsilon"), 1),
        (("guarantee", "parameters", "rows_per_person"), 2),
        (("guarantee", "parameters", "drawn"), ["sex"]),
        (("guarantee", "parameters", "neighbours"), "replace"),
        (("guarantee", "claim"), "Nobody can learn anything."),
        (("guarantee", "does_not_cover"), []),
        (("guarantee", "model"), "anatomy"),
        (("parameters", "epsilon"), 1),
        (("parameters", "domains", "sex"), ["f", "m", "x"]),
        (("parameters", "origins"), {"sex": "typed"}),
        (("parameters", "origins"), {"pay": "typed"}),
        (("parameters", "origins"), {"sex": "register"}),
        (("parameters", "outside"), {"sex": "f"}),
        (("parameters", "shares"), {"sex": 1, "region": 3}),
        (("parameters", "matrix"), {"sex": [["1", "0"], ["0", "1"]]}),
        (("result", "rows_out"), 599),
        (("result", "outside"), {"sex": "f", "region": "other"}),
        (("result", "chances", 0, "stay"), 1 << 51),
        (("result", "chances", 0, "move"), 1),
        (("result", "chances", 0, "whole"), 1 << 51),
        (("result", "chances", 0, "column"), "region"),
        (("result", "chances"), []),
    ],
)
def test_forged_manifests_are_found_out(
    context: AppContext, made: Path, tmp_path: Path, path: tuple[Any, ...], value: object
) -> None:
    copy = Path(shutil.copytree(made, tmp_path / "copy"))
    manifest = manifest_of(copy)
    place: Any = manifest
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    seal_again(copy, manifest)
    assert not verified(context, copy).ok


def test_chances_that_tell_more_or_hide_more_are_found_out(
    context: AppContext, made: Path, tmp_path: Path
) -> None:
    for step in (-1, 1):
        copy = Path(shutil.copytree(made, tmp_path / f"copy {step}"))
        manifest = manifest_of(copy)
        chances = manifest["result"]["chances"][0]
        chances["move"] += step
        chances["stay"] -= step
        seal_again(copy, manifest)
        report = verified(context, copy)
        assert any("the chances of sex" in failure.reason for failure in report.failures)


@pytest.mark.parametrize("whole", [0, -12, 6, 24, 12.5, "12", True])
def test_another_whole_of_a_matrix_is_found_out(
    context: AppContext, of_matrix: Path, tmp_path: Path, whole: object
) -> None:
    copy = Path(shutil.copytree(of_matrix, tmp_path / "copy"))
    manifest = manifest_of(copy)
    assert manifest["result"]["chances"] == [{"column": "sex", "whole": 12}]
    manifest["result"]["chances"][0]["whole"] = whole
    seal_again(copy, manifest)
    assert any("the chances of sex" in each.reason for each in verified(context, copy).failures)


@pytest.mark.parametrize(("place", "text"), [(0, "x"), (1, "zqisland"), (2, "999")])
def test_forged_tables_are_found_out(
    context: AppContext, made: Path, source: Path, tmp_path: Path, place: int, text: str
) -> None:
    copy = Path(shutil.copytree(made, tmp_path / "copy"))
    header, *rows = table(copy)
    rows[5][place] = text
    with (copy / "public/microdata.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([header, *sorted(rows)])
    seal_again(copy, manifest_of(copy))
    assert not verified(context, copy, source).ok


def test_another_payment_is_found_out(context: AppContext, made: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(made, tmp_path / "copy"))
    path = copy / "internal/evidence.json"
    evidence = json.loads(path.read_text("utf-8"))
    evidence["budget"]["cost"] = "ε = 1"
    path.write_text(json.dumps(evidence), "utf-8")
    seal_again(copy, manifest_of(copy))
    assert not verified(context, copy).ok


def test_a_second_release_costs_again_and_a_limit_binds(
    context: AppContext, source: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "limited"
    cubes.write_register(folder, cubes.people(80, seed=9))
    plan = plan_of(folder / "register.csv", budget="limit = 3")
    text = plan.read_text("utf-8").replace('"register"', '"others"')
    plan.write_text(text, "utf-8")
    first = cubes.release(context, plan, folder / "one").out
    with pytest.raises(RefusedError) as caught:
        cubes.release(context, plan, folder / "two")
    assert caught.value.code == "ledger.exhausted"
    assert not (folder / "two").exists()
    assert table(first)


def test_a_cube_of_the_same_people_is_added_up_for_changed_values() -> None:
    one = PureEpsilon(Fraction(1))
    drawn = DebitRequest(one, "a", "b", "rows", Neighbours.VALUE)
    cube = DebitRequest(one, "a", "b", "cube")
    replaced = DebitRequest(one, "a", "b", "cube", Neighbours.REPLACE)
    assert add_up([drawn]).pure == 1
    assert add_up([drawn, cube]).pure == 3  # a value for another: one removed and one added
    assert add_up([drawn, replaced]).pure == 2
    assert add_up([drawn, cube]).neighbours is Neighbours.VALUE


@pytest.mark.parametrize("missing", ["types", "encoding", "missing"])
def test_nothing_is_detected_and_nothing_spent_where_the_plan_leaves_it_open(
    context: AppContext, source: Path, missing: str
) -> None:
    plan = plan_of(source, f"open-{missing}.toml")
    lines = [line for line in plan.read_text("utf-8").splitlines() if not line.startswith(missing)]
    plan.write_text("\n".join(lines), "utf-8")
    with pytest.raises(InputError) as caught:
        cubes.release(context, plan, source.parent / "open")
    assert caught.value.code == "plan.unpinned"


def test_a_query_may_not_ask_what_a_drawn_column_holds(context: AppContext, source: Path) -> None:
    for query, fine in (("SEX = 'f'", False), ("age = '25'", True)):
        plan = plan_of(source, "asked.toml")
        asked = f'[source]\nquery = "SELECT * FROM data WHERE {query}"\n'
        plan.write_text(plan.read_text("utf-8").replace("[source]\n", asked, 1), "utf-8")
        out = source.parent / f"asked {fine}"
        if fine:
            rows = table(cubes.release(context, plan, out).out)[1:]
            assert {row[2] for row in rows} == {"25"}
        else:
            with pytest.raises(InputError) as caught:
                cubes.release(context, plan, out)
            assert caught.value.code == "plan.drawn-filter"


@pytest.mark.parametrize("others", [("", "", ""), (" ", "", "\u200b"), ("p", "", "")])
def test_whether_a_row_is_one_hangs_on_no_drawn_value(
    context: AppContext, tmp_path: Path, others: tuple[str, str, str]
) -> None:
    person, age, pay = others
    found = set()
    for place, drawn in enumerate([("f", "north"), ("", ""), (" ", "\u00a0"), ("?", "")]):
        register = [*cubes.people(8), (person, *drawn, age, pay)]
        source = cubes.write_register(tmp_path / str(place), register)
        made = cubes.release(context, plan_of(source), tmp_path / f"out {place}").out
        found.add(len(table(made)))
        assert verified(context, made, source).ok
    assert len(found) == 1


def test_another_column_must_tell_which_rows_there_are(context: AppContext, source: Path) -> None:
    keys = "person", "sex", "region", "age", "pay"
    drawn = {"drawn": list(keys), "domains": {key: ["a", "other"] for key in keys}, "outside": {}}
    alone = plan_of(source, "alone.toml", **drawn)
    text = alone.read_text("utf-8").replace('person = { role = "identifier" }\n', "")
    alone.write_text(text, "utf-8")
    kept = plan_of(source, "kept.toml")
    text = kept.read_text("utf-8")
    kept.write_text(text.replace("[source]\n", '[source]\nempty_rows = "keep"\n', 1), "utf-8")
    for plan, code in ((alone, "source.drawn"), (kept, "source.option")):
        with pytest.raises(InputError) as caught:
            cubes.release(context, plan, source.parent / "none")
        assert caught.value.code == code


@pytest.mark.parametrize(
    ("text", "other", "code"),
    [
        ('person = { role = "identifier" }', 'person = { role = "cluster" }', "response.cluster"),
        ("pay = { role", 'sex = { role = "quasi-identifier" }\npay = { role', "response.role"),
        ('"sex", "region"]', '"sex", "regio"]', "response.settings"),
    ],
)
def test_roles_and_names_that_do_not_fit_are_refused(
    context: AppContext, source: Path, text: str, other: str, code: str
) -> None:
    plan = plan_of(source, "odd.toml")
    assert text in plan.read_text("utf-8")
    plan.write_text(plan.read_text("utf-8").replace(text, other, 1), "utf-8")
    with pytest.raises(InputError) as caught:
        cubes.release(context, plan, source.parent / "odd")
    assert caught.value.code == code


def test_categories_that_miss_the_values_are_seen_before_and_after_a_budget_is_spent(
    context: AppContext, source: Path
) -> None:
    missed = {"sex": ["woman", "man"], "region": ["north", "south", "other"]}
    plan = plan_of(source, "missed.toml", domains=missed, outside={"sex": "man"})
    tried = try_plan(context, plan, CancelToken(), silent)
    assert not tried.ok
    found = {each.column: (each.rows, each.taker) for each in tried.found.columns}
    assert found["sex"] == (600, "man")
    with AuditLog.open_home(context.home) as log:
        assert log.entries()[-1].action == "tried on the data"
    out = cubes.release(context, plan, source.parent / "missed").out
    item = check_release(context, out, CancelToken(), silent).checklist.item("left-out")
    assert item.status is Status.FAIL
    assert "In 600 rows, the value of sex is none" in item.evidence.replace("`", "")
    assert verified(context, out, source).ok
    inside = json.loads((out / "internal/evidence.json").read_text("utf-8"))["result"]["counting"]
    assert inside["rows"]["rows_with_values_outside_the_domain"]["sex"] == 600
    assert "counting" not in (out / "public/manifest.json").read_text("utf-8")


def test_categories_that_fit_pass(context: AppContext, made: Path, source: Path) -> None:
    tried = try_plan(context, source.parent / "plan.toml", CancelToken(), silent)
    item = check_release(context, made, CancelToken(), silent).checklist.item("left-out")
    assert tried.ok == (item.status is not Status.FAIL)
    assert tried.found.rows == 600


def test_a_comparison_that_looks_at_drawn_values_is_entered(
    context: AppContext, source: Path
) -> None:
    compare_plan(context, plan_of(source, "compared.toml"), CancelToken(), silent)
    with AuditLog.open_home(context.home) as log:
        last = log.entries()[-1]
    assert (last.action, last.subject) == ("compared on the data", source.name)
