"""What was clicked, as Python code: it says the same, and it runs."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dpdesk
from dpdesk.app import exploring, opening, scripting
from dpdesk.app.context import AppContext
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import Plan
from dpdesk.core.query import Chosen, Grouping, Query, Within
from dpdesk.core.spans import Span
from dpdesk.project.work import SetHierarchy, WorkState
from dpdesk.python.releases import query_of
from tests.helpers.releases import public_bytes, run_code, write_source

TOKEN = CancelToken()
AGES = [str(age) for age in (*range(20, 25), 77)]
FULL = {
    "version": 1,
    "title": 'Bäcker\'s "town"',
    "language": "de",
    "source": {
        "path": "people.csv",
        "delimiter": ";",
        "missing": ["", "?"],
        "types": {"a": "text"},
    },
    "attributes": {
        "id": {"role": "identifier", "pseudonym": {"key": "survey"}},
        "age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [2.5, 5]}},
        "town": {"role": "quasi-identifier", "hierarchy": "towns.csv"},
        "illness": {"role": "sensitive"},
    },
    "protection": {
        "method": "k-anonymity",
        "k": 5,
        "max_suppression": 0.02,
        "levels": {"age": 1, "town": 0},
    },
    "budget": {"population": "the town", "limit": 2},
}


def test_the_code_of_a_plan_makes_that_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = WorkState.from_plan(Plan.from_plain(FULL, "plan"), tmp_path)
    script = scripting.work_script(work, "out")
    made, _, _ = script.partition("release = ")
    plan = run_code(made)["plan"]
    assert plan.value == work.to_plan()
    assert plan.folder == tmp_path
    assert "Decimal" not in script
    assert max(map(len, script.splitlines())) <= 100
    exact = work.to_plan().as_plain(exact=True)
    assert plan.value.as_plain(exact=True) == exact


def test_copied_code_makes_the_bytes_of_the_window(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where a hierarchy was made by hand, and so is in no file."""
    monkeypatch.chdir(tmp_path)
    work = opening.open_path(write_source(tmp_path / "town")).work
    assert work is not None
    rows = [[age, "young" if age < "77" else "old", "*"] for age in AGES]
    work = SetHierarchy("age", Hierarchy.from_rows("age", rows)).apply(work)
    with AppContext.open() as context:
        data = opening.open_work(context, work, TOKEN, silent)
        clicked = exploring.release_work(context, data, work, tmp_path / "clicked", TOKEN, silent)
        data.close()
    release = run_code(scripting.work_script(work, "copied"))["release"]
    assert public_bytes(release.folder) == public_bytes(clicked.out)
    assert capsys.readouterr().out.splitlines() == [release.claim, "True"]
    evidence, other = (
        json.loads((folder / "internal/evidence.json").read_text())
        for folder in (clicked.out, release.folder)
    )
    for one in (evidence, other):
        del one["commitment_key"], one["timings"], one["result"]["seconds"]
    assert evidence == other


@pytest.mark.parametrize(
    "query",
    [
        Query(),
        Query((Grouping("sex"), Grouping('to"wn, old', 2)), measure="pay", margins=True),
        Query((Grouping("age"),), (Chosen("sex", ("f",), text="f"),), estimator="paper"),
        Query(where=(Chosen("sex", ("f", "m, x", '"')), Chosen("town", ("30..39", ""), True))),
        Query(where=(Chosen("town", ("30..39",)), Chosen("town", ("a", "b"), True, "a,b"))),
        Query(where=(Within("age", Span(Fraction(3), Fraction(9, 2), high_open=True)),)),
        Query(where=(Within("a,b", Span(low=Fraction(1), low_open=True)),)),
    ],
)
def test_the_code_of_a_question_asks_it(query: Query, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Query] = []

    def listen(release: object, by: Any = (), where: Any = (), **more: Any) -> Any:
        given = {"levels": None, "measure": "", "margins": False, "estimator": ""} | more
        asked.append(query_of(by, where, **given))
        return type("Answer", (), {"attrs": {"sentence": ""}})

    monkeypatch.setitem(vars(dpdesk), "query", listen)
    run_code(scripting.query_script([Path("release")], query))
    labels = ("f", "m", "m, x", '"', "30..39", "", "a", "b", "3", "4", "5")
    (found,) = asked
    assert replace(found, where=()) == replace(query, where=())
    assert found.columns() == query.columns()
    for column in found.columns():
        for label in labels:
            assert _matches(found, column, label, labels) == _matches(query, column, label, labels)


def _matches(query: Query, column: str, label: str, labels: tuple[str, ...]) -> bool:
    return all(each.match(label, labels).value == "yes" for each in query.conditions_on(column))


def test_the_code_of_a_release_checks_and_exports_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = write_source(tmp_path / "town")
    dpdesk.run(plan, tmp_path / "out")
    source, target = plan.parent / "zq-raw-register.csv", tmp_path / "table.parquet"
    script = scripting.release_script(tmp_path / "out", source, [("parquet", target)])
    names = run_code(script)
    assert names["found"].ok
    assert target.is_file()
    assert capsys.readouterr().out.splitlines()[-1] == "True"
