"""Releases of which some tables are exact: what is written, said, checked and forged."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from math import sqrt
from pathlib import Path
from typing import Any

import pytest

from dpdesk.app.checklists import check_release
from dpdesk.app.context import AppContext
from dpdesk.app.ledgers import open_ledger
from dpdesk.app.verifying import verify_release
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.release import CheckStatus
from dpdesk.io.planfile import read_plan
from dpdesk.project.ledger import Ledger
from dpdesk.project.review.votes import ItemStatus
from dpdesk.report.exact import exact_words
from tests.helpers.cubes import AGES, SEX, people, release, write_plan, write_register
from tests.helpers.forging import check_found, forged, manifest_of, stated_in

Said = dict[str, Any]
Forgery = Callable[[Said, Path], None]

PLANS: dict[str, dict[str, Any]] = {
    "pairs": {"exact": [["sex", "region"], ["age"]], "planner": "all"},
    "three": {"exact": [["sex"], ["region"], ["age"]], "publish": {"max_dimensions": 2}},
    "cells": {
        "exact": [["age"], {"cuboid": ["region", "sex"], "cells": [["north", "m"]]}],
        "planner": "all",
    },
    "one region": {
        "exact": [{"cuboid": ["sex"], "cells": [["f"]]}, ["region"]],
        "domains": {"sex": ["f", "m"], "region": ["other"]},
    },
    "plain": {"planner": "all"},
}
DOMAINS: dict[str, Any] = {"sex": list(SEX), "region": ["north", "other"]}


@pytest.fixture(scope="module")
def context(module_home: Path) -> Iterator[AppContext]:
    with AppContext.open(module_home) as opened:
        yield opened


@pytest.fixture(scope="module")
def register(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_register(tmp_path_factory.mktemp("data"), people())


@pytest.fixture(scope="module")
def genuine(context: AppContext, register: Path) -> Mapping[str, Path]:
    return {
        name: release(
            context,
            write_plan(register, f"{name}.toml", **{"domains": DOMAINS, **keys}),
            register.parent / name,
        ).out
        for name, keys in PLANS.items()
    }


def counted(*names: str) -> dict[tuple[str, ...], int]:
    """What a person with a pencil counts of the register."""
    found: dict[tuple[str, ...], int] = {}
    for _, sex, region, age, _ in people():
        if sex not in SEX or not age.isdigit():
            continue
        years = int(age)
        places = {
            "sex": sex,
            "region": region if region in DOMAINS["region"] else "other",
            "age": AGES[0] if years < 30 else AGES[1] if years < 60 else AGES[2],
        }
        key = tuple(places[name] for name in names)
        found[key] = found.get(key, 0) + 1
    return found


def table_of(path: Path) -> dict[tuple[str, ...], str]:
    with path.open(encoding="utf-8", newline="") as stream:
        _, *rows = csv.reader(stream)
    return {tuple(row[:-1]): row[-1] for row in rows}


def test_exact_files_hold_the_true_counts_and_are_marked(genuine: Mapping[str, Path]) -> None:
    said = manifest_of(genuine["pairs"])
    result: Any = said["result"]
    exact = {tuple(c["dimensions"]): c for c in result["cuboids"] if c["exact"]}
    assert set(exact) == {(), ("sex",), ("region",), ("sex", "region"), ("age",)}
    for item in exact.values():
        shown = table_of(genuine["pairs"] / "public" / item["file"])
        assert item["variance"] == 0
        assert all(value.isdigit() for value in shown.values())
    assert result["exact"] == {"minimal_change": 6, "total_fixed": True, "known_by": "formula"}
    assert result["sensitivity"] == 6


def test_exact_numbers_are_those_that_a_pencil_counts(genuine: Mapping[str, Path]) -> None:
    shown = table_of(genuine["pairs"] / "public/cuboids/2-sex-region.csv")
    pencil = counted("sex", "region")
    assert {cell: int(value) for cell, value in shown.items()} == {
        cell: pencil.get(cell, 0) for cell in shown
    }


def test_every_claim_is_checked_again(context: AppContext, genuine: Mapping[str, Path]) -> None:
    for name in ("pairs", "three", "cells", "one region"):
        found = verify_release(genuine[name], context.registry, CancelToken(), silent)
        assert found.ok, found.failures
        stands = {check.claim: check.status for check in found.claims}
        assert stands["minimal change"] is stands["exact tables"] is CheckStatus.CONFIRMED


def test_the_ledger_says_what_its_debit_does_not_cover(
    context: AppContext, genuine: Mapping[str, Path], register: Path
) -> None:
    plan = read_plan(register.parent / "pairs.toml")
    desk = open_ledger(context, register.parent, plan.budget)
    with closing(Ledger.open(desk.path, create=False)) as ledger:
        purposes = {record.request.purpose for record in ledger.book.debits.values()}
    assert purposes >= {
        "Differentially private tables",
        "Differentially private tables; without protection: sex × region and age, published "
        "exactly",
    }


def test_the_reviewer_is_asked_whether_exact_tables_may_be_public(
    context: AppContext, genuine: Mapping[str, Path]
) -> None:
    made = {
        name: check_release(context, genuine[name], CancelToken(), silent).checklist
        for name in ("pairs", "plain")
    }
    asked = made["pairs"].item("exact-tables")
    assert asked.status is ItemStatus.REVIEW
    assert "no protection at all: `grand total`, `sex`, `region`, `sex × region` and `age`." in (
        asked.evidence
    )
    assert "minimal change of 6 rows alongside them, which was computed again" in asked.evidence
    assert made["plain"].item("exact-tables").status is ItemStatus.NOT_APPLICABLE
    assert "odds of a minimal change of up to 6 rows" in made["pairs"].item("privacy-loss").evidence
    assert "odds about one person" in made["plain"].item("privacy-loss").evidence


def test_both_pages_show_the_averaging_attack_and_why_it_fails(
    genuine: Mapping[str, Path],
) -> None:
    for page in ("public/about.html", "internal/report.html"):
        text = (genuine["pairs"] / page).read_text("utf-8")
        assert "The averaging attack, and why it fails" in text
        assert "×403" in text  # e^6: the odds with plain noise
        assert "×2.72" in text
        assert "(exact)" in text
    text = (genuine["plain"] / "public/about.html").read_text("utf-8")
    assert "averaging attack" not in text


def test_the_attack_states_the_deviations_that_the_tables_have(
    genuine: Mapping[str, Path],
) -> None:
    for name in ("pairs", "three"):
        manifest: Any = manifest_of(genuine[name])
        words = exact_words(stated_in(genuine[name]))
        assert words is not None
        stated = {
            " × ".join(each["dimensions"]) or "grand total": f"{sqrt(each['variance']):.4g}"
            for each in manifest["result"]["cuboids"]
        }
        assert words.tables
        assert all(line.averaged == stated[line.name] for line in words.tables)
    single = exact_words(stated_in(genuine["cells"]))
    assert single is not None
    assert not single.tables


def test_an_exact_cell_stands_in_its_table(genuine: Mapping[str, Path]) -> None:
    said: Any = manifest_of(genuine["cells"])["result"]
    item = next(c for c in said["cuboids"] if c["dimensions"] == ["sex", "region"])
    assert (item["exact"], item["exact_cells"]) == (False, [["m", "north"]])
    shown = table_of(genuine["cells"] / "public" / item["file"])
    assert shown["m", "north"] == str(counted("sex", "region")["m", "north"])
    text = (genuine["cells"] / "public/about.html").read_text("utf-8")
    assert "1 cell of sex × region (m/north)" in text
    assert "(1 exact cell)" in text


def another_exact_cell(said: Said, public: Path) -> None:
    item = next(c for c in said["result"]["cuboids"] if "exact_cells" in c)
    item["exact_cells"] = [["m", "other"]]


def part_of_a_person_in_a_cell(said: Said, public: Path) -> None:
    for path in public.glob("cuboids/*.csv"):
        if "sex" in path.name or "region" in path.name:
            shown = table_of(path)
            header = path.read_text("utf-8").splitlines()[0].split(",")[:-1]
            lines = [",".join([*header, "value"])]
            for cell, value in shown.items():
                places = dict(zip(header, cell, strict=True))
                hit = places.get("sex", "m") == "m" and places.get("region", "north") == "north"
                hit = hit and places.get("age", "<30") == "<30"
                lines.append(",".join([*cell, repr(float(value) + (0.5 if hit else 0))]))
            path.write_text("\n".join(lines) + "\n", "utf-8", newline="")


def a_variance_without_the_cell(said: Said, public: Path) -> None:
    item = next(c for c in said["result"]["cuboids"] if c["dimensions"] == ["sex", "region"])
    item["variance"] *= 1.01


def test_the_reviewer_sees_the_attack_played_on_the_true_counts(
    genuine: Mapping[str, Path],
) -> None:
    evidence = json.loads((genuine["pairs"] / "internal/evidence.json").read_text("utf-8"))
    attack = evidence["result"]["attack"]
    domains: Any = manifest_of(genuine["pairs"])["result"]
    categories = {d["dimension"]: d["categories"] for d in domains["domains"]}
    cell = tuple(
        categories[name][place] for name, place in zip(attack["table"], attack["cell"], strict=True)
    )
    assert attack["true"] == counted(*attack["table"])[cell]
    for kind in ("plain", "here"):
        assert attack[f"{kind}_averaged"] < attack[f"{kind}_one"]
    assert attack["plain_averaged"] * 3 < attack["here_averaged"]
    page = (genuine["pairs"] / "internal/report.html").read_text("utf-8")
    assert "The attack on your data" in page
    assert f"contains {attack['true']}" in page
    public = "".join(p.read_text("utf-8") for p in (genuine["pairs"] / "public").glob("*.*"))
    assert "on your data" not in public
    assert "plain_averaged" not in public


def smaller_change(said: Said, public: Path) -> None:
    said["result"]["exact"]["minimal_change"] -= 2


def smaller_everywhere(said: Said, public: Path) -> None:
    smaller_change(said, public)
    said["result"]["sensitivity"] = 4


def loose_total(said: Said, public: Path) -> None:
    said["result"]["exact"]["total_fixed"] = False


def other_origin(said: Said, public: Path) -> None:
    said["result"]["exact"]["known_by"] = "enumeration"


def a_noisy_table_as_exact(said: Said, public: Path) -> None:
    said["result"]["cuboids"][-1] |= {"exact": True, "variance": 0}


def an_exact_table_as_noisy(said: Said, public: Path) -> None:
    said["result"]["cuboids"][0]["exact"] = False


def half_a_person(said: Said, public: Path) -> None:
    path = public / "cuboids/0.csv"
    path.write_text(f"value\n{float(path.read_text('utf-8').split()[1]) + 0.5}\n", "utf-8")


def moved_persons(said: Said, public: Path) -> None:
    path = public / "cuboids/1-sex.csv"
    rows = table_of(path)
    first, second = (int(value) for value in rows.values())
    text = f"sex,value\nf,{first + 1}\nm,{second - 1}\n"
    path.write_text(text, "utf-8", newline="")


def exact_by_stealth(said: Said, public: Path) -> None:
    for item in said["result"]["cuboids"][:2]:
        item["exact"] = True


def no_exact_at_all(said: Said, public: Path) -> None:
    del said["parameters"]["exact"]


def less_exact(said: Said, public: Path) -> None:
    said["parameters"]["exact"] = [["sex", "region"]]


FORGERIES: tuple[tuple[str, Forgery], ...] = (
    ("pairs", smaller_change),
    ("pairs", smaller_everywhere),
    ("three", smaller_change),
    ("pairs", loose_total),
    ("pairs", other_origin),
    ("pairs", a_noisy_table_as_exact),
    ("pairs", an_exact_table_as_noisy),
    ("pairs", half_a_person),
    ("pairs", moved_persons),
    ("plain", exact_by_stealth),
    ("cells", another_exact_cell),
    ("cells", part_of_a_person_in_a_cell),
    ("cells", a_variance_without_the_cell),
    ("cells", smaller_change),
    ("pairs", no_exact_at_all),
    ("pairs", less_exact),
)


@pytest.mark.parametrize(("kind", "forge"), FORGERIES)
def test_a_skilful_forgery_of_the_exact_part_is_found(
    context: AppContext, genuine: Mapping[str, Path], tmp_path: Path, kind: str, forge: Forgery
) -> None:
    method = context.registry.get("dp-cube", "the test")
    check_found(forged(genuine[kind], tmp_path, forge, method), context.registry)
