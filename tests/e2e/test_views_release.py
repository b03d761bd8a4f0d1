"""Releases of views from a plan: written, checked, forged, asked, browsed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from dpdesk.app.browsing import first_view, open_cube
from dpdesk.app.context import AppContext
from dpdesk.app.verifying import verify_release
from dpdesk.cli.main import main
from dpdesk.core.errors import RefusedError
from dpdesk.core.home import default_home
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.release import CheckStatus
from dpdesk.project.audit import AuditLog
from tests.helpers.cubes import people, release, toml, write_plan, write_register
from tests.helpers.forging import check_found, forged, manifest_of
from tests.helpers.pinned import pin

Said = dict[str, Any]
Forgery = Callable[[Said, Path], None]
KEYS: dict[str, Any] = {
    "method": "priview",
    "domains": {
        "sex": ["f", "m"],
        "region": ["north", "south", "other"],
        "pay": ["100", "250", "other"],
    },
    "dimensions": ["sex", "region", "age", "pay"],
    "marginals": [["sex", "region", "age", "pay"], ["region"], ["age", "sex"]],
}
PLANS: dict[str, dict[str, Any]] = {
    "pairs": {"view_cells": 9},
    "even": {"view_cells": 9, "reconstruct": "least-squares"},
    "named": {"views": [["sex", "age"], ["region", "pay", "sex"]], "rho": 0.5},
    "weighted": {
        "view_size": 2,
        "weights": [{"dimensions": ["sex", "pay"], "weight": 9}],
        "neighbours": "replace",
        "rows_per_person": 2,
    },
    "guided": {"marginals": {"size": 3}},
}


@pytest.fixture(scope="module")
def context(module_home: Path) -> Iterator[AppContext]:
    with AppContext.open(module_home) as opened:
        yield opened


@pytest.fixture(scope="module")
def made(context: AppContext, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    source = write_register(tmp_path_factory.mktemp("data"), people(3000))
    return {
        name: release(
            context, write_plan(source, f"{name}.toml", **{**KEYS, **keys}), source.parent / name
        ).out
        for name, keys in PLANS.items()
    }


@pytest.mark.parametrize("name", PLANS)
def test_a_release_is_verified_with_its_source(
    made: dict[str, Path], context: AppContext, name: str
) -> None:
    out = made[name]
    source = out.parent / "register.csv"
    found = verify_release(out, context.registry, CancelToken(), silent, source=source)
    assert found.ok, [(f.path, f.reason) for f in found.failures]
    states = {check.claim: check.status for check in found.claims}
    for claim in ("consistency", "nonnegative", "marginals", "rows that count"):
        assert states[claim] is CheckStatus.CONFIRMED
    result = manifest_of(out)["result"]
    assert isinstance(result, dict)
    assert result["noise_sources"] == [view["dimensions"] for view in result["views"]]
    if name != "named":
        spent = sum(result["sensitivity"] / scale for scale in result["scales"])
        assert spent == pytest.approx(1, abs=1e-9)
    for line in (*result["views"], *result["marginals"]):
        text = (out / "public" / line["file"]).read_text("utf-8").splitlines()
        assert text[0].split(",") == [*line["dimensions"], "value"]
        assert len(text) == line["cells"] + 1


def _change(public: Path, file: str, change: Callable[[float], float], rows: int = 1) -> None:
    path = public / file
    lines = path.read_text("utf-8").splitlines()
    for row in range(1, rows + 1):
        first, _, value = lines[row].rpartition(",")
        lines[row] = f"{first},{json.dumps(change(float(value)))}"
    path.write_text("\n".join(lines) + "\n", "utf-8")


def view_changed(said: Said, public: Path) -> None:
    _change(public, said["result"]["views"][0]["file"], lambda value: value + 1)


def moved_within_a_view(said: Said, public: Path) -> None:
    file = said["result"]["views"][0]["file"]
    _change(public, file, lambda value: value + 0.001)


def negative(said: Said, public: Path) -> None:
    for key in ("views", "marginals"):
        for line in said["result"][key]:
            _change(public, line["file"], lambda value: -abs(value) - 1)


def marginal_changed(said: Said, public: Path) -> None:
    _change(public, said["result"]["marginals"][0]["file"], lambda value: value + 0.5)


def marginal_turned(said: Said, public: Path) -> None:
    """All sums over fewer dimensions stay: only making it again tells."""
    path = public / said["result"]["marginals"][0]["file"]
    lines = path.read_text("utf-8").splitlines()
    cells = [line.rpartition(",") for line in lines[1:]]
    known = {first: float(value) for first, _, value in cells}
    picked = [
        f"{sex},{region},<30,{pay}"
        for sex in ("f", "m")
        for region in ("north", "south")
        for pay in ("100", "250")
    ]
    for number, first in enumerate(picked):
        known[first] += 0.01 * (-1) ** number.bit_count()
    text = [lines[0], *(f"{first},{json.dumps(value)}" for first, value in known.items())]
    path.write_text("\n".join(text) + "\n", "utf-8")


def smaller_scale(said: Said, public: Path) -> None:
    said["result"]["scales"] = [scale / 2 for scale in said["result"]["scales"]]


def smaller_variance(said: Said, public: Path) -> None:
    said["result"]["views"][0]["variance"] /= 2


def covered(said: Said, public: Path) -> None:
    said["result"]["marginals"][0]["covered"] = True


def view_gone(said: Said, public: Path) -> None:
    gone = said["result"]["views"].pop()
    for key in ("noise_sources", "shares", "scales"):
        said["result"][key].pop()
    (public / gone["file"]).unlink()


def budget_halved(said: Said, public: Path) -> None:
    said["parameters"]["epsilon"] = 0.5
    said["guarantee"]["parameters"]["epsilon"] = 0.5


FORGERIES: tuple[Forgery, ...] = (
    view_changed, moved_within_a_view, negative, marginal_changed, marginal_turned, smaller_scale,
    smaller_variance, covered, view_gone, budget_halved,
)  # fmt: skip


@pytest.mark.parametrize("forge", FORGERIES)
def test_forged_releases_fail(
    made: dict[str, Path], context: AppContext, tmp_path: Path, forge: Forgery
) -> None:
    method = context.registry.get("priview", "test")
    check_found(forged(made["pairs"], tmp_path, forge, method), context.registry)


def test_any_marginal_is_asked_of_the_public_part_alone(
    made: dict[str, Path], context: AppContext, capsys: pytest.CaptureFixture[str]
) -> None:
    public = str(made["pairs"] / "public")
    assert main(["query", public, "--by", "sex,region,age", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert len(answer["rows"]) == 18
    assert all(row["low"] < row["value"] < row["high"] for row in answer["rows"])
    assert "No view has sex × region × age together" in str(answer)
    errors = [row["standard_error"] for row in answer["rows"]]
    assert max(errors) > min(errors)  # noise moves large cells more than the even table was planned
    assert main(["query", public, "--by", "sex", "--json"]) == 0
    alone = json.loads(capsys.readouterr().out.splitlines()[-1])
    for row in alone["rows"]:
        parts = [
            each["value"]
            for each in answer["rows"]
            if each["labels"]["sex"] == row["labels"]["sex"]
        ]
        assert sum(parts) == pytest.approx(row["value"], abs=1e-3)


def test_a_released_marginal_is_what_the_release_answers(
    made: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    out = made["guided"]
    lines = (out / "public/marginals/3-sex-region-age.csv").read_text("utf-8").splitlines()[1:]
    assert main(["query", str(out), "--by", "sex,region,age", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out.splitlines()[-1])
    values = [float(line.rpartition(",")[2]) for line in lines]
    assert [row["value"] for row in answer["rows"]] == pytest.approx(values, abs=1e-6)


def test_views_are_browsed_as_a_cube(made: dict[str, Path], context: AppContext) -> None:
    cube = open_cube(context, made["pairs"], CancelToken(), silent)
    state = first_view(cube)
    pivot = cube.look(state, CancelToken(), silent)
    assert pivot.grid.values.size >= 4


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"view_size": 2, "view_cells": 9}, "both given"),
        ({"views": [["sex"]], "view_size": 2}, "cannot be chosen"),
        ({"view_size": 1}, "smaller than `cover`"),
        ({"view_cells": 4}, "but `view_cells` is 4"),
        ({"marginals": [["sex", "sex"]]}, "twice"),
        ({"marginals": [["sex", "height"]]}, "not one of the dimensions"),
        ({"marginals": {"size": 5}}, "and there are 4"),
    ],
)
def test_settings_that_do_not_fit_are_refused(
    made: dict[str, Path], keys: dict[str, Any], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source = made["pairs"].parent / "register.csv"
    plan = write_plan(source, "wrong.toml", **{**KEYS, **keys})
    assert main(["run", str(plan), "--out", str(source.parent / "wrong")]) == 2
    assert said in capsys.readouterr().err
    assert not (source.parent / "wrong").exists()


def test_views_are_not_combined_with_other_releases(
    made: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["query", str(made["pairs"]), "--with", str(made["even"]), "--by", "sex"]) == 1
    assert "only releases of cubes can be queried together" in capsys.readouterr().err


def test_two_releases_of_views_are_not_read_as_one(
    made: dict[str, Path], context: AppContext
) -> None:
    with pytest.raises(RefusedError, match="only releases of cubes can be queried together"):
        open_cube(context, made["pairs"], CancelToken(), silent, [made["even"]])


def test_other_ways_are_compared_on_the_rows_and_on_a_public_twin(
    context: AppContext, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = write_plan(
        write_register(tmp_path, people(500)), "views.toml", **{**KEYS, "view_cells": 9}
    )
    assert main(["compare", str(plan), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out.splitlines()[-1])["comparisons"]
    assert found["badge"] == "internal: uses the truth"
    assert found["rows"] == 500
    assert found["marginals"] == 6 + 1  # all pairs, and all four together
    by_size, _shares, _squares, by_budget, by_cover = found["charts"]
    assert [row[0] for row in by_size["rows"]] == [2, 4]
    assert [row[0] for row in by_budget["rows"]] == [0.1, 1, 10]
    assert [row[0] for row in by_cover["rows"]] == [1, 2]  # three have more than 9 cells
    heads = by_size["columns"]
    for row in by_size["rows"]:
        errors = dict(zip(heads, row, strict=True))
        assert errors["Views without noise"] <= errors["Views"]
        assert errors["Fourier" if "Fourier" in errors else "Uniform"] > 0
    with AuditLog.open_home(default_home()) as log:
        looked = len(log.entries_of("compared on the data"))
    public = write_register(tmp_path / "public", people(300))
    assert main(["compare", str(plan), "--twin", str(public), "--json"]) == 0
    (twin,) = json.loads(capsys.readouterr().out.splitlines()[-1])["comparisons"]
    assert twin["rows"] == 300
    assert twin["badge"] == "from a file that is declared public"
    with AuditLog.open_home(default_home()) as log:
        assert len(log.entries_of("compared on the data")) == looked  # no look at the people
    assert main(["compare", str(plan), "--twin", str(tmp_path / "none.csv")]) == 2
    assert "none.csv" in capsys.readouterr().err


def test_more_columns_are_asked_and_browsed_than_arrays_have_axes(
    context: AppContext, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draw, names = Random(4), [f"i{n}" for n in range(80)]
    rows = [[draw.choice("01") for _ in names] for _ in range(60)]
    source = tmp_path / "many.csv"
    source.write_text("\n".join(",".join(row) for row in [names, *rows]) + "\n", "utf-8")
    keys = {
        "dimensions": names,
        "domains": {name: ["0", "1"] for name in names},
        "views": [names[start : start + 9] for start in range(0, 80, 8)],
        "epsilon": 10_000,
    }
    given = [f"{key} = {toml(value)}" for key, value in keys.items()]
    head = ["version = 1", "[source]", 'path = "many.csv"', "[protection]", 'method = "priview"']
    plan = tmp_path / "many.toml"
    plan.write_text("\n".join([*head, *given, ""]), "utf-8")
    out = release(context, pin(plan), tmp_path / "out").out
    assert verify_release(out, context.registry, CancelToken(), silent).ok
    asked = ["query", str(out), "--by", "i3,i1", "--where", "i2=1", "--json"]
    assert main(asked) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])["rows"]
    true = Counter((row[3], row[1]) for row in rows if row[2] == "1")
    assert [round(row["value"]) for row in told] == [true[a, b] for a in "01" for b in "01"]
    cube = open_cube(context, out, CancelToken(), silent)
    pivot = cube.look(first_view(cube), CancelToken(), silent)
    assert pivot.grid.values.size >= 4
    rows_file = tmp_path / "rows.csv"
    assert main(["export", str(out), "--format", "synthetic", "--out", str(rows_file)]) == 0
    assert len(rows_file.read_text("utf-8").splitlines()[0].split(",")) == 80


def test_a_method_without_comparison_is_refused_before_its_data_are_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = write_plan(tmp_path / "gone.csv", "cube.toml")
    assert main(["compare", str(plan)]) == 1
    assert "does not say that it can be compared" in capsys.readouterr().err
