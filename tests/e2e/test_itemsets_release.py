"""Releases of itemsets from a plan: written, checked, forged, asked, in German."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from openpyxl import load_workbook
from pyarrow import parquet

from dpdesk.app.context import AppContext
from dpdesk.app.exporting import export_release
from dpdesk.app.running import run_plan
from dpdesk.app.verifying import verify_release
from dpdesk.cli.main import main
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.parameters import parse_parameters
from dpdesk.engine.methods.itemsets.settings import PARAMETERS, ItemsetSettings
from tests.helpers.cubes import toml
from tests.helpers.forging import check_found, forged
from tests.helpers.pinned import pin

pytestmark = pytest.mark.cheap_prints

Said = dict[str, Any]
Forgery = Callable[[Said, Path], None]
NAMES = [f"item{n}" for n in range(14)]


def write_plan(folder: Path, name: str, items: int, **keys: Any) -> Path:
    draw, names = Random(3), NAMES[:items]
    rows = [[int(draw.random() < 0.9 / (place + 1)) for place in range(items)] for _ in range(400)]
    rows[0][0] = 7  # such a row is left out
    with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([names, *rows])
    given = {"dimensions": names, "domains": {key: ["0", "1"] for key in names}} | keys
    lines = "\n".join(f"{key} = {toml(value)}" for key, value in given.items())
    head = f'version = 1\ntitle = "Bought together"\n[source]\npath = "{name}.csv"\n'
    plan = folder / f"{name}.toml"
    plan.write_text(f'{head}[protection]\nmethod = "itemsets"\n{lines}\n', "utf-8")
    return pin(plan)


@pytest.fixture(scope="module")
def context(module_home: Path) -> Iterator[AppContext]:
    with AppContext.open(module_home) as opened:
        yield opened


@pytest.fixture(scope="module")
def genuine(context: AppContext, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("data")
    plans = {
        "few": write_plan(folder, "few", 3, epsilon=50, top=5),
        "many": write_plan(folder, "many", 14, epsilon=5, top=20),
        "mined": write_plan(folder, "mined", 14, rho=5, top=20, mine="views", view_size=5),
    }
    text = plans["many"].read_text("utf-8")
    plans["many"].write_text(
        text.replace("version = 1\n", 'version = 1\nlanguage = "de"\n'), "utf-8"
    )
    run = {
        name: run_plan(context, plan, folder / name, CancelToken(), silent).out
        for name, plan in plans.items()
    }
    return run | {"many.csv": folder / "many.csv", "mined.csv": folder / "mined.csv"}


def rows_of(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def write(path: Path, rows: list[list[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows(rows)


@pytest.mark.parametrize("name", ["few", "many", "mined"])
def test_a_release_lists_sets_of_declared_items_and_verifies(
    context: AppContext, genuine: dict[str, Path], name: str
) -> None:
    public = genuine[name] / "public"
    header, *rows = rows_of(public / "itemsets.csv")
    assert header == ["items", "value"]
    assert len(rows) == {"few": 5, "many": 20, "mined": 20}[name]
    assert all(float(a[1]) >= float(b[1]) for a, b in pairwise(rows))
    for text, _ in rows:
        places = [NAMES.index(item) for item in json.loads(text)]
        assert places == sorted(set(places))
    source = genuine.get(f"{name}.csv")
    assert verify_release(genuine[name], context.registry, CancelToken(), silent, source=source).ok
    assert verify_release(public, context.registry, CancelToken(), silent).ok


def test_with_little_noise_the_counts_are_the_true_ones(genuine: dict[str, Path]) -> None:
    _, *rows = rows_of(genuine["few"] / "public/itemsets.csv")
    draw = Random(3)
    held = [[int(draw.random() < 0.9 / (place + 1)) for place in range(3)] for _ in range(400)][1:]
    for text, value in rows:
        places = [NAMES.index(item) for item in json.loads(text)]
        assert int(value) == sum(all(row[place] for place in places) for row in held)


def test_the_page_is_in_the_language_of_the_plan(genuine: dict[str, Path]) -> None:
    page = (genuine["many"] / "public/about.html").read_text("utf-8")
    assert "Häufige" in page or "häufige" in page
    assert "How to use" not in page


def test_questions_are_answered_from_the_release_alone(
    genuine: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    release = str(genuine["many"] / "public")
    assert main(["query", release, "--where", "item0=1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out.splitlines()[-1])["rows"]
    assert found
    for row in found:
        assert "item0" in json.loads(row["labels"]["items"])
        assert row["low"] < row["value"] < row["high"]
    assert main(["query", release, "--by", "item0"]) == 1
    assert main(["query", release, "--where", "item0=0"]) == 1
    assert "never rows without one" in capsys.readouterr().err.splitlines()[-1]


def _swap(said: Said, public: Path) -> None:
    rows = rows_of(public / "itemsets.csv")
    write(public / "itemsets.csv", [rows[0], *reversed(rows[1:])])


def _add(said: Said, public: Path) -> None:
    rows = rows_of(public / "itemsets.csv")
    write(public / "itemsets.csv", [*rows, ['["item2"]', "-1000"]])


def _drop(said: Said, public: Path) -> None:
    write(public / "itemsets.csv", rows_of(public / "itemsets.csv")[:-1])


def _rename(said: Said, public: Path) -> None:
    rows = rows_of(public / "itemsets.csv")
    write(public / "itemsets.csv", [rows[0], ['["somebody"]', rows[1][1]], *rows[2:]])


def _uncover(said: Said, public: Path) -> None:
    rows = rows_of(public / "bases.csv")
    write(public / "bases.csv", [rows[0], ['["item13"]', rows[1][1]]])


def _shares(said: Said, public: Path) -> None:
    said["result"]["shares"] = ["1/10", "1/10", "4/5"]


def _sensitivity(said: Said, public: Path) -> None:
    said["parameters"]["rows_per_person"] = 2


def _epsilon(said: Said, public: Path) -> None:
    said["parameters"]["epsilon"] = 1


def _exact(said: Said, public: Path) -> None:
    said["result"]["exact"] = True


FORGERIES: dict[str, Forgery] = {
    "swap": _swap,
    "add": _add,
    "drop": _drop,
    "rename": _rename,
    "uncover": _uncover,
    "shares": _shares,
    "sensitivity": _sensitivity,
    "epsilon": _epsilon,
    "exact": _exact,
}


def _raise(said: Said, public: Path) -> None:
    rows = rows_of(public / "itemsets.csv")
    write(public / "itemsets.csv", [rows[0], [rows[1][0], str(float(rows[1][1]) + 3)], *rows[2:]])


def _replace(said: Said, public: Path) -> None:
    """The last set makes room for one that is rare, and stands with nothing."""
    rows = rows_of(public / "itemsets.csv")
    write(public / "itemsets.csv", [*rows[:-1], ['["item11", "item12", "item13"]', "0"]])


def _view(said: Said, public: Path) -> None:
    file = public / str(said["result"]["views"][0]["file"])
    rows = rows_of(file)
    rows[1][-1] = str(float(rows[1][-1]) + 10)
    write(file, rows)


def _total(said: Said, public: Path) -> None:
    rows = rows_of(public / "bases.csv")
    write(public / "bases.csv", [rows[0], [rows[1][0], str(float(rows[1][1]) + 1)], *rows[2:]])


def _scale(said: Said, public: Path) -> None:
    said["result"]["scales"] = [0.5 * scale for scale in said["result"]["scales"]]


def _rho(said: Said, public: Path) -> None:
    said["parameters"]["rho"] = 1


def _basis(said: Said, public: Path) -> None:
    said["parameters"] |= {"mine": "basis", "epsilon": 5}
    del said["parameters"]["rho"]


def _top(said: Said, public: Path) -> None:
    said["parameters"]["top"] = 19


MINED: dict[str, Forgery] = {
    name: FORGERIES[name]
    for name in ("swap", "add", "drop", "rename", "uncover", "sensitivity", "exact")
} | {
    "raise": _raise,
    "replace": _replace,
    "view": _view,
    "total": _total,
    "scale": _scale,
    "rho": _rho,
    "basis": _basis,
    "top": _top,
}


@pytest.mark.parametrize(
    ("release", "forgery"),
    [*(("many", name) for name in sorted(FORGERIES)), *(("mined", name) for name in sorted(MINED))],
)
def test_forgeries_are_found(
    context: AppContext, genuine: dict[str, Path], tmp_path: Path, release: str, forgery: str
) -> None:
    method = context.registry.get("itemsets", "the test")
    forge = {"many": FORGERIES, "mined": MINED}[release][forgery]
    check_found(forged(genuine[release], tmp_path, forge, method), context.registry)


def test_sets_from_views_have_the_error_of_the_views(
    genuine: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    release = str(genuine["mined"] / "public")
    assert main(["query", release, "--json"]) == 0
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert len(found["rows"]) == 20
    assert all(row["low"] < row["value"] < row["high"] for row in found["rows"])
    groups = [
        set(json.loads(text)) for text, _ in rows_of(genuine["mined"] / "public/bases.csv")[1:]
    ]
    sets = [set(json.loads(row["labels"]["items"])) for row in found["rows"]]
    uncovered = any(not any(own <= group for group in groups) for own in sets)
    assert any("are in no view" in text for text in found["warnings"]) is uncovered


def test_the_error_of_sets_from_views_is_that_before_negative_numbers_are_removed(
    genuine: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Removing them moves counts by more than the noise: 95 of 100 is said of bases alone."""
    intervals = {}
    for name in ("many", "mined"):
        assert main(["query", str(genuine[name] / "public"), "--json"]) == 0
        found = json.loads(capsys.readouterr().out.splitlines()[-1])
        intervals[name] = found["interval"]
        assert ("95 of 100" in found["sentence"]) is (name == "many")
    assert intervals == {"many": "95 %", "mined": "95 % before negative numbers were removed"}


def test_sets_from_views_follow_from_the_views_alone(genuine: dict[str, Path]) -> None:
    """A set of two lies in some view, whose cells with both add up to its count."""
    public = genuine["mined"] / "public"
    manifest = json.loads((public / "manifest.json").read_text("utf-8"))
    views = {tuple(line["dimensions"]): line["file"] for line in manifest["result"]["views"]}
    assert manifest["parameters"]["mine"] == "views"
    for text, value in rows_of(public / "itemsets.csv")[1:]:
        own = json.loads(text)
        if len(own) <= 2:
            names, file = next(each for each in views.items() if set(own) <= set(each[0]))
            rows = rows_of(public / file)[1:]
            held = [row for row in rows if all(row[names.index(name)] == "1" for name in own)]
            assert float(value) == pytest.approx(sum(float(row[-1]) for row in held), abs=1e-3)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"top": 2, "domains": {"item0": ["0", "1", "2"]}}, "`item0` 3 categories"),
        ({"top": 2, "domains": {"item9": ["0", "1"]}}, "`item9`, which is not in `dimensions`"),
        ({"top": 2, "longest": 9}, "`longest`"),
        ({"top": 2, "dimensions": ["item0"]}, "fewer than two"),
        ({"top": 2, "rho": 1}, "`rho` and Gaussian noise go only with"),
        ({"top": 2, "mine": "views", "rho": 1}, "both `epsilon` and `rho`"),
        ({"top": 2, "mine": "views", "view_size": 1}, "`view_size` is smaller than `cover`"),
    ],
)
def test_plans_that_cannot_be_run_spend_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], keys: dict[str, Any], said: str
) -> None:
    plan = write_plan(tmp_path, "wrong", 3, **{"epsilon": 1} | keys)
    assert main(["run", str(plan), "--out", str(tmp_path / "out")]) == 2
    assert said in capsys.readouterr().err.splitlines()[-1]
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("mine", ["basis", "views"])
def test_all_sets_are_released_where_more_are_asked_for(
    context: AppContext, tmp_path: Path, mine: str
) -> None:
    plan = write_plan(tmp_path, "all", 3, epsilon=50, top=100, mine=mine)
    out = tmp_path / "out"
    assert main(["run", str(plan), "--out", str(out)]) == 0
    assert len(rows_of(out / "public" / "itemsets.csv")) == 1 + 7
    for place in (out, out / "public"):
        assert verify_release(place, context.registry, CancelToken(), silent).ok


def test_more_sets_than_chosen_items_have_are_refused() -> None:
    names = [f"item{n}" for n in range(70)]
    raw = {"dimensions": names, "domains": {key: ["0", "1"] for key in names}, "epsilon": 1}
    raw |= {"top": 65, "longest": 1}
    values = parse_parameters(PARAMETERS, raw, "the plan")
    with pytest.raises(InputError, match="have 60 sets"):
        ItemsetSettings.from_parameters(values, "the plan")


@pytest.mark.parametrize("name", ["many", "mined"])
def test_both_lists_are_exported_and_read_back_as_they_were_released(
    context: AppContext, genuine: dict[str, Path], tmp_path: Path, name: str
) -> None:
    public = genuine[name] / "public"
    sets, bases = rows_of(public / "itemsets.csv"), rows_of(public / "bases.csv")

    def exported(form: str) -> Path:
        place = tmp_path / f"sets.{form}"
        return export_release(public, form, place, context.workspace, CancelToken(), silent)

    assert rows_of(exported("csv")) == sets
    assert rows_of(tmp_path / "sets-bases.csv") == bases
    table = parquet.read_table(exported("parquet"))
    assert [table.column_names, *map(list, zip(*table.to_pydict().values(), strict=True))] == sets
    pages = load_workbook(exported("xlsx"))
    assert [[str(cell.value) for cell in row] for row in pages.worksheets[0].iter_rows()] == sets
    with pytest.raises(InputError, match="`sav` describes"):
        exported("sav")


@pytest.mark.parametrize("mine", ["basis", "views"])
def test_both_ways_to_find_sets_are_compared_with_the_true_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], mine: str
) -> None:
    plan = write_plan(tmp_path, "many", 14, epsilon=500, top=12, mine=mine)
    assert main(["compare", str(plan), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out.splitlines()[-1])["comparisons"]
    assert found["badge"] == "internal: uses the truth"
    assert found["sets"] == 12
    by_budget, by_top, _ = found["charts"]
    assert [row[0] for row in by_budget["rows"]] == [50, 250, 500, 5000]
    assert [row[0] for row in by_top["rows"]] == [10, 12]
    last = dict(zip(by_budget["columns"], by_budget["rows"][-1], strict=True))
    for way in ("From bases", "From views"):
        assert last[f"{way}: precision"] > 0.8  # hardly any noise is left
        assert last[f"{way}: recall"] + last[f"{way}: false negatives"] == pytest.approx(1)


def test_a_way_that_the_budget_does_not_allow_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = write_plan(tmp_path, "mined", 14, rho=5, top=10, mine="views", view_size=5)
    assert main(["compare", str(plan)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Not compared: From bases, because" in said
    assert "are listed: From views" in said


BASKETS = """version = 1
[source]
path = "baskets.dat"
items = ["tea", "7", "jam"]
encoding = "utf-8"
delimiter = " "
[protection]
method = "itemsets"
dimensions = ["tea", "7", "jam"]
epsilon = 60
top = 4
[protection.domains]
tea = ["0", "1"]
7 = ["0", "1"]
jam = ["0", "1"]
"""


def test_lines_that_list_items_are_released_and_checked(
    tmp_path: Path, private_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ["tea 7 ham", "7", "jam 7 7 tea ", "ham", "tea\t", "7 tea"]
    (tmp_path / "baskets.dat").write_text("\n".join(lines * 20) + "\n", "utf-8")
    plan, out = tmp_path / "plan.toml", tmp_path / "release"
    plan.write_text(BASKETS, "utf-8")
    assert main(["run", str(plan), "--out", str(out)]) == 0
    with (out / "public" / "itemsets.csv").open(encoding="utf-8", newline="") as stream:
        found = {
            tuple(json.loads(row["items"])): int(row["value"]) for row in csv.DictReader(stream)
        }
    assert found[("7",)] == pytest.approx(80, abs=5)
    assert found[("tea",)] == pytest.approx(80, abs=5)
    assert found[("tea", "7")] == pytest.approx(60, abs=5)
    assert main(["verify", str(out), "--source", str(tmp_path / "baskets.dat")]) == 0
    plan.write_text(BASKETS.replace('encoding = "utf-8"\n', ""), "utf-8")
    capsys.readouterr()
    assert main(["run", str(plan), "--out", str(tmp_path / "other")]) == 2
    assert 'encoding = "utf-8"' in capsys.readouterr().err
