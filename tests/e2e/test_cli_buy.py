"""``dpdesk buy``: an offer spends nothing, a purchase is a release that verifies and combines."""

from __future__ import annotations

import csv
import hashlib
import json
import math
import random
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpdesk.cli.main import main
from tests.helpers.cubes import REGION, SEX, people, write_plan, write_register

pytestmark = pytest.mark.cheap_prints

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
    assert both["warnings"] == []
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
    (warning,) = both["warnings"]
    assert warning.startswith(
        "The releases do not name each other; according to their internal parts"
    )
    _, public, _ = run("query", first, "--with", second / "public")
    (warning,) = public["warnings"]
    assert warning.endswith("which is for you to know.")


def test_releases_of_other_data_are_told_where_their_internal_parts_are_at_hand(
    run: Run, plan: Path, tmp_path: Path
) -> None:
    first, second, third = tmp_path / "first", tmp_path / "second", tmp_path / "third"
    source = plan.with_name("register.csv")
    plan.write_text(plan.read_text("utf-8").replace("limit = 2.0", "limit = 9.0"), "utf-8")
    run("run", plan, "--out", first)
    other = shutil.copy(source, source.with_name("later.csv"))
    with Path(other).open("a") as file:
        file.write(source.read_text("utf-8").splitlines()[-1] + "\n")
    later = plan.with_name("later.toml")
    later.write_text(plan.read_text("utf-8").replace("register.csv", "later.csv"), "utf-8")
    assert run("run", later, "--out", second)[0] == 0
    _, both, _ = run("query", first, "--with", second)
    assert "made from different files (`register.csv`, `later.csv`)" in both["warnings"][0]
    assert both["warnings"][-1].endswith("which is for you to know.")
    _, public, _ = run("query", first, "--with", second / "public")
    assert len(public["warnings"]) == 1
    text = plan.read_text("utf-8").replace("[source]\n", '[source]\nempty_rows = "keep"\n')
    later.write_text(text, "utf-8")
    assert run("run", later, "--out", third)[0] == 0
    _, both, _ = run("query", first, "--with", third)
    assert "read in different ways (`empty_rows`)" in both["warnings"][0]


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
    assert "register.csv is not the file that first was made from" in err.splitlines()[-1]
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


def counted(release: Path, table: str) -> list[float]:
    with (release / "public" / "cuboids" / table).open(encoding="utf-8", newline="") as stream:
        return [float(row[-1]) for row in list(csv.reader(stream))[1:]]


@pytest.mark.parametrize("cluster", [False, True])
def test_a_purchase_counts_the_rows_of_the_whole_cube_and_adds_up_with_it(
    run: Run, tmp_path: Path, cluster: bool
) -> None:
    source = write_register(tmp_path / "data", people())
    plan = write_plan(source, publish={"max_dimensions": 1}, epsilon=1e6)
    if cluster:
        text = plan.read_text("utf-8")
        plan.write_text(text.replace("[attributes]", '[attributes]\nperson = { role = "cluster" }'))
    first, second, third = (tmp_path / name for name in ("first", "second", "third"))
    assert run("run", plan, "--out", first)[0] == 0
    for out, *wanted in ((second, "--by", "sex"), (third, "--total", "--with", second)):
        paid = ("--epsilon", "1000000", "--with", first, "--out", out)
        code, _, err = run("buy", plan, *wanted, *paid)
        assert code == 0, err
        assert run("verify", out)[0] == 0
    held: Counter[str] = Counter()
    sexes: Counter[str] = Counter()
    for person, sex, _, age, _ in sorted(people(), key=lambda row: row[1:4]):
        if sex in SEX and age.isdigit() and not (cluster and held[person]):
            held[person] += 1
            sexes[sex] += 1
    expected = [sexes[sex] for sex in SEX]
    assert counted(first, "1-sex.csv") == pytest.approx(expected)
    assert counted(second, "1-sex.csv") == pytest.approx(expected)
    assert counted(third, "0.csv") == pytest.approx([sum(expected)])
    _, both, _ = run("query", first, "--with", second, "--with", third, "--by", "sex")
    assert both["warnings"] == []


def test_pieces_of_a_plan_too_large_for_one_release_count_the_same_rows(
    run: Run, tmp_path: Path
) -> None:
    names = [f"d{number}" for number in range(30)]
    draw = random.Random(1)
    rows = [[draw.choice("abcx" if j < 3 else "abc") for j in range(30)] for _ in range(300)]
    lines = [",".join(each) for each in [names, *rows]]
    (tmp_path / "wide.csv").write_text("\n".join(lines) + "\n", "utf-8")
    domains = {name: ["a", "b", "c"] for name in names}
    keys = {"dimensions": names, "domains": domains, "levels": {}, "epsilon": 1}
    plan = write_plan(tmp_path / "wide.csv", **keys)
    types = ", ".join(f'{name} = "text"' for name in names)
    text = re.sub(r"\nage = .*", "", plan.read_text("utf-8"))
    plan.write_text(re.sub(r"\ntypes = .*", f"\ntypes = {{ {types} }}", text), "utf-8")
    code, _, sentence = run("run", plan, "--out", tmp_path / "whole")
    assert (code, "names 30" in sentence) == (2, True), sentence
    first, second = tmp_path / "first", tmp_path / "second"
    paid = ("--epsilon", "1000000", "--out")
    assert run("buy", plan, "--by", "d7,d8", *paid, first)[0] == 0
    assert run("buy", plan, "--by", "d8", "--with", first, *paid, second)[0] == 0
    assert run("verify", second)[0] == 0
    held = Counter(row[8] for row in rows if "x" not in row)
    assert counted(second, "1-d8.csv") == pytest.approx([held[each] for each in "abc"])
    _, both, _ = run("query", first, "--with", second, "--by", "d8")
    assert both["warnings"] == []


def test_releases_that_count_by_their_own_columns_say_so_when_they_are_combined(
    run: Run, plan: Path, tmp_path: Path
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    run("run", plan, "--out", first)
    known = hashlib.sha256((first / "public" / "manifest.json").read_bytes()).hexdigest()
    source = plan.with_name("register.csv")
    keys = {"domains": {"sex": list(SEX)}, "levels": {}, "follows": [known]}
    own = write_plan(source, "own.toml", dimensions=["sex"], **keys)
    assert run("run", own, "--out", second)[0] == 0
    assert run("verify", second)[0] == 0
    _, both, _ = run("query", first, "--with", second, "--by", "sex")
    (warning,) = both["warnings"]
    assert "whose value in `age` is not one of" in warning
    _, alone, _ = run("query", second, "--by", "sex")
    assert alone["warnings"] == []


def test_rows_of_a_person_that_were_chosen_by_other_columns_are_told_when_combined(
    run: Run, tmp_path: Path
) -> None:
    source = write_register(tmp_path / "data", people())
    made = []
    for number, names in enumerate((["region", "sex"], ["sex", "region"])):
        keys = {"domains": {"sex": [*SEX, "?"], "region": [*REGION]}, "levels": {}}
        plan = write_plan(source, f"{number}.toml", dimensions=names, **keys)
        text = plan.read_text("utf-8")
        plan.write_text(text.replace("[attributes]", '[attributes]\nperson = { role = "cluster" }'))
        made.append(tmp_path / f"out{number}")
        assert run("run", plan, "--out", made[-1])[0] == 0
    _, both, _ = run("query", made[0], "--with", made[1], "--by", "sex")
    assert [each[:36] for each in both["warnings"]] == [
        "Of a person with more rows than are ",
        "The releases do not name each other;",
    ]
