"""``dpdesk buy``: an offer spends nothing, a purchase is a release that verifies and combines."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpdesk.cli.main import main
from tests.helpers.cubes import people, write_plan, write_register

Run = Callable[..., tuple[int, dict[str, Any], str]]


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    source = write_register(tmp_path / "data", people())
    return write_plan(source, budget="limit = 2.0", publish={"max_dimensions": 1})


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.setenv("DPDESK_HOME", str(tmp_path / "home"))

    def call(*arguments: object) -> tuple[int, dict[str, Any], str]:
        capsys.readouterr()
        code = main([*map(str, arguments), "--json"])
        said = capsys.readouterr()
        lines = said.out.splitlines()
        return code, json.loads(lines[-1]) if lines else {}, said.err

    return call


def test_an_offer_tells_both_errors_and_costs_and_spends_nothing(
    run: Run, plan: Path, tmp_path: Path
) -> None:
    first = tmp_path / "first"
    assert run("run", plan, "--out", first)[0] == 0
    code, offer, _ = run("buy", plan, "--by", "sex", "--epsilon", "0.5", "--with", first)
    assert code == 0
    (accuracy,) = offer["accuracy"]
    assert accuracy["together"]["variance"] < accuracy["released"]["variance"]
    assert accuracy["together"]["variance"] < accuracy["bought"]["variance"]
    assert (offer["spent"], offer["after"], offer["left"]) == ("ε = 1", "ε = 1.5", "ε = 0.5")
    assert offer["bought"] is False
    _, again, _ = run("buy", plan, "--by", "sex,region", "--epsilon", "0.5", "--with", first)
    assert again["spent"] == "ε = 1"
    assert again["accuracy"][0]["released"] is None
    assert again["sentence"].startswith("No release has this table yet")


def test_a_purchase_is_a_release_that_names_the_one_before_and_is_combined_with_it(
    run: Run, plan: Path, tmp_path: Path
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    run("run", plan, "--out", first)
    before = (first / "public" / "manifest.json").read_bytes()
    wanted = ("buy", plan, "--by", "region,sex", "--epsilon", "0.5", "--with", first)
    code, bought, err = run(*wanted, "--out", second)
    assert code == 0, err
    assert bought["bought"] is True
    assert run("verify", second)[1]["ok"] is True
    assert run("verify", first)[1]["ok"] is True
    assert (first / "public" / "manifest.json").read_bytes() == before
    manifest = json.loads((second / "public" / "manifest.json").read_text("utf-8"))
    assert len(manifest["parameters"]["follows"]) == 1
    assert [item["dimensions"] for item in manifest["result"]["cuboids"]] == [["sex", "region"]]
    _, alone, _ = run("query", first, "--by", "sex")
    _, both, _ = run("query", first, "--with", second, "--by", "sex")
    for one, other in zip(alone["rows"], both["rows"], strict=True):
        assert other["standard_error"] < one["standard_error"]
    assert [warning[:25] for warning in both["warnings"]] == ["Rows whose value in `age`"]
    assert len(both["tables"]) > 1
    code, _, err = run("query", first, "--by", "sex,region")
    assert code == 1
    assert "No published table has sex × region together" in err
    assert run("query", first, "--with", second, "--by", "sex,region")[0] == 0


def test_exact_numbers_of_an_earlier_release_are_told_before_anything_is_bought(
    run: Run, plan: Path, tmp_path: Path
) -> None:
    exact = write_plan(plan.with_name("register.csv"), "exact.toml", exact=[["sex"]])
    assert run("run", exact, "--out", tmp_path / "first")[0] == 0
    code, offer, err = run("buy", plan, "--by", "region", "--epsilon", "0.5")
    assert code == 0
    assert offer["bought"] is False
    assert "numbers without protection: sex" in offer["notes"][0]
    assert "Note: An earlier release about the same people has numbers" in err


def test_what_the_ledger_refuses_is_told_beforehand_and_not_bought(
    run: Run, plan: Path, tmp_path: Path
) -> None:
    first, out = tmp_path / "first", tmp_path / "second"
    run("run", plan, "--out", first)
    wanted = ("buy", plan, "--by", "sex,age", "--epsilon", "1.5", "--with", first)
    code, offer, _ = run(*wanted)
    assert code == 0
    assert offer["refusal"]
    code, _, err = run(*wanted, "--out", out)
    assert code == 1
    assert not out.exists()
    assert "limit" in err.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--by", "sexx", "--epsilon", "1"), "does not name `sexx`"),
        (("--by", "sex", "--epsilon", "0"), "expected a number above 0"),
        (("--by", "sex,sex", "--epsilon", "1"), "names a column twice"),
        (("--by", "sex"), "arguments --epsilon --rho is required"),
    ],
)
def test_wrong_wishes_are_told_in_one_sentence(
    arguments: tuple[str, ...], words: str, run: Run, plan: Path
) -> None:
    code, _, err = run("buy", plan, *arguments)
    assert code == 2
    assert words in err.splitlines()[-1]


def test_one_measurement_is_not_counted_twice_and_strangers_are_warned_of(
    run: Run, plan: Path, tmp_path: Path
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    run("run", plan, "--out", first)
    code, _, err = run("query", first, "--with", first / "public")
    assert code == 2
    assert "named twice" in err
    run("run", plan, "--out", second)
    _, both, _ = run("query", first, "--with", second)
    assert "do not name each other" in both["warnings"][-1]


def test_nothing_is_sold_beside_a_release_with_exact_numbers_whatever_the_plan_says(
    run: Run, plan: Path, tmp_path: Path
) -> None:
    cells = [{"cuboid": ["sex"], "cells": [["f"]]}]
    for name, exact in (("tables", [["sex"], ["region"]]), ("cells", cells)):
        first, second = tmp_path / f"{name}-first", tmp_path / f"{name}-second"
        beside = write_plan(plan.parent / "register.csv", f"{name}.toml", exact=exact)
        assert run("run", beside, "--out", first)[0] == 0
        wanted = ("buy", plan, "--by", "sex,region", "--epsilon", "0.5", "--with", first)
        spent = run("ledger", "show")[1]
        for more in ((), ("--out", second)):
            code, _, err = run(*wanted, *more)
            assert code == 2
            assert "some numbers of the release are exact" in err.splitlines()[-1]
        assert not second.exists()
        assert run("ledger", "show")[1] == spent


def test_a_table_of_changed_data_is_not_sold_beside_a_release_of_the_old_ones(
    run: Run, plan: Path, tmp_path: Path
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    run("run", plan, "--out", first)
    write_register(plan.parent, people(301))
    spent = run("ledger", "show")[1]
    wanted = ("buy", plan, "--by", "sex", "--epsilon", "0.5", "--with", first, "--out", second)
    code, _, err = run(*wanted)
    assert code == 1
    assert "register.csv is not the file that first was made of" in err.splitlines()[-1]
    assert not second.exists()
    assert run("ledger", "show")[1] == spent


def test_the_grand_total_is_bought_as_one_noisy_number_and_combined_with_what_is_known(
    run: Run, plan: Path, tmp_path: Path
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    run("run", plan, "--out", first)
    wanted = ("buy", plan, "--total", "--epsilon", "0.5", "--with", first)
    code, offer, err = run(*wanted)
    assert code == 0, err
    assert (offer["dimensions"], offer["cells"], offer["after"]) == ([], 1, "ε = 1.5")
    (accuracy,) = offer["accuracy"]
    now, alone, both = (accuracy[key]["variance"] for key in ("released", "bought", "together"))
    ratio = math.exp(-0.5)
    assert alone == pytest.approx(2 * ratio / (1 - ratio) ** 2)
    assert 1 / both == pytest.approx(1 / now + 1 / alone)
    assert run(*wanted, "--out", second)[0] == 0
    assert run("verify", second)[1]["ok"] is True
    manifest = json.loads((second / "public" / "manifest.json").read_text("utf-8"))
    assert [item["dimensions"] for item in manifest["result"]["cuboids"]] == [[]]
    values = []
    for asked in ((first,), (second,), (first, "--with", second)):
        code, told, err = run("query", *asked)
        assert code == 0, err
        values.append((told["rows"][0]["value"], told["rows"][0]["standard_error"] ** 2))
    assert values[1][1] == pytest.approx(alone)
    assert values[2][1] == pytest.approx(both)
    (one, of_one), (other, of_other), (together, _) = values
    weighed = (one / of_one + other / of_other) / (1 / of_one + 1 / of_other)
    assert together == pytest.approx(weighed)


def test_the_grand_total_goes_with_no_columns(run: Run, plan: Path) -> None:
    code, _, err = run("buy", plan, "--total", "--by", "sex", "--epsilon", "1")
    assert code == 2
    assert "not allowed with" in err.splitlines()[-1]


def test_releases_that_leave_out_other_rows_say_so_when_they_are_combined(
    run: Run, plan: Path, tmp_path: Path
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    run("run", plan, "--out", first)
    wanted = ("buy", plan, "--by", "sex", "--epsilon", "0.5", "--with", first, "--out", second)
    assert run(*wanted)[0] == 0
    shared = json.loads((first / "public" / "manifest.json").read_text("utf-8"))
    _, both, _ = run("query", first, "--with", second, "--by", "sex")
    apart = set(shared["parameters"]["dimensions"]) - {"sex"} - set(shared["result"]["outside"])
    for name in apart:
        assert f"`{name}`" in both["warnings"][-1]
    assert apart
    _, alone, _ = run("query", second, "--by", "sex")
    assert alone["warnings"] == []
