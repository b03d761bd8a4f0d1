"""Releases of private choices from a plan: written, checked, forged, asked, in German."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook
from pyarrow import parquet

from dpdesk.app.context import AppContext
from dpdesk.app.exporting import export_release
from dpdesk.app.private.browsing import preview_table, released_tables
from dpdesk.app.running import run_plan
from dpdesk.app.verifying import read_release, verify_release
from dpdesk.cli.main import main
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from tests.helpers.cubes import toml
from tests.helpers.forging import check_found, forged
from tests.helpers.pinned import pin

Said = dict[str, Any]
Forgery = Callable[[Said, Path], None]
MEDIAN = {"quantile": 0.5, "of": "pay", "lower": 0, "upper": 100, "step": 0.5}
MODE = {"mode": "job"}
GIVEN = {
    "groups": ["sex", "region"],
    "domains": {"sex": ["f", "m"], "region": ["n", "s, w"], "job": ["nurse", "cook", "other"]},
    "choose": [MEDIAN, MODE],
}


def write_plan(folder: Path, name: str, head: str = "", **keys: Any) -> Path:
    rows = [
        ("fm"[i % 2], ("n", "s, w")[i // 2 % 2], i % 97, ("nurse", "cook", "cook")[i % 3], f"p{i}")
        for i in range(400)
    ]
    rows += [("?", "n", "3", "cook", "q"), ("f", "n", "much", "baker", "r")]
    with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as stream:
        names = ["sex", "region", "pay", "job", "who"]
        csv.writer(stream, lineterminator="\n").writerows([names, *rows])
    lines = "\n".join(f"{key} = {toml(value)}" for key, value in (GIVEN | keys).items())
    plan = folder / f"{name}.toml"
    plan.write_text(
        f'version = 1\n{head}title = "Pay and jobs"\n[source]\npath = "{name}.csv"\n'
        f'[attributes]\nwho = {{ role = "cluster" }}\n'
        f'[protection]\nmethod = "dp-choice"\n{lines}\n',
        "utf-8",
    )
    return pin(plan)


@pytest.fixture(scope="module")
def context(module_home: Path) -> Iterator[AppContext]:
    with AppContext.open(module_home) as opened:
        yield opened


@pytest.fixture(scope="module")
def genuine(context: AppContext, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("data")
    plans = {
        "both": write_plan(folder, "both", 'language = "de"\n', epsilon=50),
        "one": write_plan(folder, "one", groups=[], domains={}, choose=MEDIAN, epsilon=50),
    }
    return {
        name: run_plan(context, plan, folder / name, CancelToken(), silent).out
        for name, plan in plans.items()
    } | {f"{name}.csv": folder / f"{name}.csv" for name in plans}


def rows_of(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def write(path: Path, rows: list[list[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows(rows)


@pytest.mark.parametrize("name", ["both", "one"])
def test_a_release_verifies_alone_and_with_its_source(
    context: AppContext, genuine: dict[str, Path], name: str
) -> None:
    source = genuine[f"{name}.csv"]
    assert verify_release(genuine[name], context.registry, CancelToken(), silent, source=source).ok
    assert verify_release(genuine[name] / "public", context.registry, CancelToken(), silent).ok


def test_a_number_that_is_declared_missing_is_in_no_quantile(
    context: AppContext, tmp_path: Path
) -> None:
    source, plan = tmp_path / "pay.csv", tmp_path / "pay.toml"
    source.write_text("pay,n\n" + "3,1\n" * 20 + "99,1\n" * 30, encoding="utf-8")
    plan.write_text(
        """version = 1
[source]
path = "pay.csv"
encoding = "utf-8"
delimiter = ","
decimal = "."
quote = ""
header = true
missing = ["", "99"]
types = { pay = "number" }
[protection]
method = "dp-choice"
choose = { quantile = 0.5, of = "pay", lower = 0, upper = 100 }
epsilon = 1000
[budget]
population = "some without pay"
""",
        encoding="utf-8",
    )
    out = run_plan(context, plan, tmp_path / "out", CancelToken(), silent).out
    assert rows_of(out / "public/choices/1-pay.csv")[1:] == [["3"]]
    found = verify_release(
        out, context.registry, CancelToken(), silent, source, workspace=context.workspace
    )
    assert found.ok, found.failures


def test_each_group_has_a_candidate_in_domain_order(genuine: dict[str, Path]) -> None:
    public = genuine["both"] / "public"
    header, *rows = rows_of(public / "choices/1-pay.csv")
    assert header == ["sex", "region", "value"]
    assert [row[:2] for row in rows] == [["f", "n"], ["f", "s, w"], ["m", "n"], ["m", "s, w"]]
    assert all(abs(float(row[2]) - 48) < 4 for row in rows)
    jobs = rows_of(public / "choices/2-job.csv")
    assert {row[2] for row in jobs[1:]} == {"cook"}
    assert rows_of(genuine["one"] / "public/choices/1-pay.csv")[0] == ["value"]


def test_the_pages_are_in_the_language_of_the_plan(genuine: dict[str, Path]) -> None:
    page = (genuine["both"] / "public/about.html").read_text("utf-8")
    assert "Median von pay" in page
    for english in ("How to use", "median of", "Error", "candidate"):
        assert english not in page


def test_questions_are_answered_from_the_release_alone(
    genuine: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    release = str(genuine["both"] / "public")

    def asked(*words: str) -> list[dict[str, Any]]:
        assert main(["query", release, *words, "--json"]) == 0
        found: list[dict[str, Any]] = json.loads(capsys.readouterr().out.splitlines()[-1])["rows"]
        return found

    assert len(asked()) == 4
    [only] = asked("--where", "sex=f", "--where", "region=n")
    assert only["labels"] == {"sex": "f", "region": "n"}
    assert 0 <= only["value"] <= 100
    assert only["low"] is None
    assert "95 %" in only["note"]
    jobs = asked("--measure", "most frequent job", "--by", "sex", "--where", "region=n")
    assert [row["labels"]["job"] for row in jobs] == ["cook", "cook"]
    assert main(["query", release, "--by", "sex"]) == 1
    assert "joined groups" in capsys.readouterr().err.splitlines()[-1]


def test_what_was_chosen_is_exported_as_one_long_table(
    context: AppContext, genuine: dict[str, Path], tmp_path: Path
) -> None:
    public = genuine["both"] / "public"
    pay, jobs = (rows_of(public / f"choices/{name}.csv")[1:] for name in ("1-pay", "2-job"))
    wanted = [["table", "sex", "region", "value"]]
    wanted += [["median of pay", *row] for row in pay]
    wanted += [["most frequent job", *row] for row in jobs]

    def exported(form: str) -> Path:
        out = tmp_path / f"out.{form}"
        return export_release(public, form, out, context.workspace, CancelToken(), silent)

    assert rows_of(exported("csv")) == wanted
    found = parquet.read_table(exported("parquet"))
    assert [found.column_names, *map(list, zip(*found.to_pydict().values(), strict=True))] == wanted
    assert b"dpdesk.guarantee" in found.schema.metadata
    book = load_workbook(exported("xlsx"))
    assert [list(row) for row in book.worksheets[0].values] == wanted
    with pytest.raises(InputError, match="`sav`"):
        exported("sav")


def test_the_reviewer_sees_what_was_chosen(genuine: dict[str, Path]) -> None:
    facts = read_release(genuine["both"])
    names = released_tables(facts)
    assert [name.words for name in names] == ["median of pay", "most frequent job"]
    for name in names:
        shown = preview_table(facts, name.file, CancelToken())
        assert (shown.chosen, shown.cells, shown.exact) == (True, 4, "")
        header, *rows = rows_of(genuine["both"] / "public" / name.file)
        assert list(shown.table.columns) == header
        assert [[str(cell) for cell in row] for row in shown.table.rows] == rows
        [line] = [one for one in facts.manifest.result["choices"] if one["file"] == name.file]
        assert shown.width == line["error"]


def test_the_checklist_knows_what_the_choices_cost_and_how_far_they_err(
    genuine: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    main(["review", "checklist", str(genuine["both"])])
    said = " ".join(capsys.readouterr().out.split())
    assert "could not be confirmed that the stated noise costs no more" not in said
    assert "a choice is at most 0.3" in said
    assert "states no errors" not in said


@pytest.mark.parametrize("column", ["pay", "job", "sex"])
def test_the_checklist_sees_every_column_in_use(
    genuine: dict[str, Path], tmp_path: Path,
    capsys: pytest.CaptureFixture[str], column: str,
) -> None:  # fmt: skip
    policy = tmp_path / "policy.toml"
    policy.write_text(f'version = 1\n[columns]\nforbidden = ["{column}"]\n', "utf-8")
    main(["review", "checklist", str(genuine["both"]), "--policy", str(policy)])
    said = " ".join(capsys.readouterr().out.split())
    assert f"`{column}`, which the policy forbids" in said


def _value(text: str, file: str = "1-pay.csv") -> Forgery:
    def forge(said: Said, public: Path) -> None:
        rows = rows_of(public / "choices" / file)
        write(public / "choices" / file, [*rows[:-1], [*rows[-1][:-1], text]])

    return forge


def _line(**facts: object) -> Forgery:
    return lambda said, public: said["result"]["choices"][0].update(facts)


def _parameter(**facts: object) -> Forgery:
    return lambda said, public: said["parameters"].update(facts)


def _drop(said: Said, public: Path) -> None:
    write(public / "choices/1-pay.csv", rows_of(public / "choices/1-pay.csv")[:-1])


def _other_key(said: Said, public: Path) -> None:
    said["result"]["exact"] = True


FORGERIES: dict[str, Forgery] = {
    "off the grid": _value("48.25"),
    "beyond the bounds": _value("100.5"),
    "a text": _value("many"),
    "another job": _value("baker", "2-job.csv"),
    "drop": _drop,
    "candidates": _line(candidates=7),
    "error": _line(error=0.01),
    "rate": _line(rate="1"),
    "width": _line(width="2"),
    "rate and width": _line(rate="50", width="1/2"),
    "texts": _line(texts=True),
    "epsilon": _parameter(epsilon=1),
    "rows": _parameter(rows_per_person=2),
    "neighbours": _parameter(neighbours="replace"),
    "quantile": _parameter(choose=[MEDIAN | {"quantile": 0.25}, MODE]),
    "grid": _parameter(choose=[MEDIAN | {"step": 1}, MODE]),
    "another order": _parameter(choose=[MODE, MEDIAN]),
    "categories": _parameter(domains=GIVEN["domains"] | {"job": ["nurse", "other", "cook"]}),  # type: ignore[operator]
    "origins": _parameter(origins={"job": "typed"}),
    "another key": _other_key,
}


@pytest.mark.parametrize("forgery", sorted(FORGERIES))
def test_forgeries_are_found(
    context: AppContext, genuine: dict[str, Path], tmp_path: Path, forgery: str
) -> None:
    method = context.registry.get("dp-choice", "the test")
    check_found(forged(genuine["both"], tmp_path, FORGERIES[forgery], method), context.registry)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"choose": {"quantile": 0.5, "of": "pay"}}, "`choose` is"),
        ({"choose": [MEDIAN, MODE, {"mode": "who"}]}, "`who` says whose rows belong together"),
        ({"domains": {"sex": ["f", "m"]}}, "`region`"),
        ({"epsilon": 0}, "`epsilon`"),
    ],
)
def test_plans_that_cannot_be_run_spend_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], keys: dict[str, Any], said: str
) -> None:
    plan = write_plan(tmp_path, "wrong", **{"epsilon": 1} | keys)
    assert main(["run", str(plan), "--out", str(tmp_path / "out")]) == 2
    assert said in capsys.readouterr().err.splitlines()[-1]
    assert not (tmp_path / "out").exists()
