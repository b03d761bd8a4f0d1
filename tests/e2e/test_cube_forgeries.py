"""Releases of cubes that somebody forged with skill: every hash, page and seal fits."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.payment_checks import PAYMENT_CLAIM
from dpdesk.app.texts import TEXTS_CLAIM
from dpdesk.app.verifying import verify_release
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.language import voice_of
from dpdesk.core.release import CheckStatus, VerifyReport
from dpdesk.project.ledger.records import LedgerEntry
from tests.helpers.cubes import people, release, write_plan, write_register
from tests.helpers.forging import (
    OTHER_PAGE,
    PAGES,
    canonical,
    check_found,
    forged,
    manifest_of,
    report_again,
    seal_again,
)

pytestmark = pytest.mark.cheap_prints

PLANS: dict[str, dict[str, Any]] = {
    "counts": {},
    "several": {"measure": ["count", {"sum": "pay", "lower": -10, "upper": 500}]},
    "average": {"measure": {"average": "pay", "lower": 0, "upper": 500}},
    "all": {"planner": "all"},
    "none": {"consistency": "none"},
    "few": {"planner": "base", "publish": [["sex"], ["region"], ["age"]]},
    "residuals": {"planner": "optimal", "rho": 0.1, "basis": "residuals"},
    "counted": {"dimensions": ["sex"], "counted_by": ["sex", "region", "age"]},
}

Said = dict[str, Any]
Forgery = Callable[[Said, Path], None]


@pytest.fixture(scope="module")
def context(module_home: Path) -> Iterator[AppContext]:
    with AppContext.open(module_home) as opened:
        yield opened


@pytest.fixture(scope="module")
def genuine(context: AppContext, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    source = write_register(tmp_path_factory.mktemp("data"), people())
    made = {
        name: release(context, write_plan(source, f"{name}.toml", **keys), source.parent / name).out
        for name, keys in PLANS.items()
    }
    return made | {"tree": release(context, tree_plan(source), source.parent / "tree").out}


def tree_plan(source: Path) -> Path:
    """The plan of counts with the ages of a hierarchy in a file."""
    plan = write_plan(source, "tree.toml")
    rows = ("25;young;*", "41;old;*", "77;old;*", "unknown;unknown;*")
    (source.parent / "ages.csv").write_text("\n".join([*rows, ""]), "utf-8")
    builder = '{ kind = "intervals", cuts = [[30, 60]] }'
    text = plan.read_text("utf-8").replace(builder, '"ages.csv"')
    plan.write_text(text, "utf-8")
    return plan


def rename_categories(said: Said, public: Path) -> None:
    said["result"]["domains"][0]["categories"] = ["x", "y"]
    for path in (public / "cuboids").glob("*-sex*.csv"):
        text = path.read_text("utf-8")
        path.write_text(text.replace("f,", "x,").replace("m,", "y,"), "utf-8", newline="")


def rename_hierarchy_categories(said: Said, public: Path) -> None:
    """Categories that no parameter lists: they come from a builder in the plan."""
    ages = next(item for item in said["result"]["domains"] if item["dimension"] == "age")
    ages["categories"] = [f"{text}!" for text in ages["categories"]]
    for entry in said["result"]["cuboids"]:
        if "age" in entry["dimensions"]:
            lines = (public / entry["file"]).read_text("utf-8").splitlines()
            at = lines[0].split(",").index("age")
            rows = [line.split(",") for line in lines]
            for row in rows[1:]:
                row[at] += "!"
            text = "\n".join(",".join(row) for row in rows) + "\n"
            (public / entry["file"]).write_text(text, "utf-8", newline="")


def made_tomorrow(said: Said, public: Path) -> None:
    said["created"] = (datetime.now(UTC).date() + timedelta(days=2)).isoformat()


def other_outside(said: Said, public: Path) -> None:
    said["result"]["outside"] = {"sex": "f"}


def small_shares(said: Said, public: Path) -> None:
    said["result"]["shares"] = ["1/1000"] * len(said["result"]["shares"])


def no_shares(said: Said, public: Path) -> None:
    del said["result"]["shares"]


def proven(said: Said, public: Path) -> None:
    said["result"]["proven"] = True


def biased(said: Said, public: Path) -> None:
    said["result"]["biased"] = not said["result"]["biased"]


def residuals(said: Said, public: Path) -> None:
    said["result"]["residuals"] = not said["result"]["residuals"]


def a_negative_scale(said: Said, public: Path) -> None:
    said["result"]["scales"][0] *= -1


def a_source_twice(said: Said, public: Path) -> None:
    for key in ("noise_sources", "scales", "shares"):
        said["result"][key] = said["result"][key] * 2


def a_table_less(said: Said, public: Path) -> None:
    (public / said["result"]["cuboids"].pop()["file"]).unlink()


def a_table_twice(said: Said, public: Path) -> None:
    entry = copy.deepcopy(said["result"]["cuboids"][1])
    rows = (public / entry["file"]).read_text("utf-8").splitlines()
    rows[1] = f"{rows[1].split(',')[0]},12345"
    entry["file"] = "cuboids/1-copy.csv"
    (public / entry["file"]).write_text("\n".join([*rows, ""]), "utf-8", newline="")
    said["result"]["cuboids"].insert(0, entry)


def a_measure_that_is_not_there(said: Said, public: Path) -> None:
    for entry in said["result"]["cuboids"]:
        entry |= {"measure": "count", "variance": 0.001}


def no_measures(said: Said, public: Path) -> None:
    said["result"]["measures"] = []


def another_name_for_a_sum(said: Said, public: Path) -> None:
    for entry in [*said["result"]["measures"], *said["result"]["cuboids"]]:
        if entry["measure"] != "count":
            entry["measure"] = "total"


def other_scales_above(said: Said, public: Path) -> None:
    said["result"]["scales"] = [0.1] * len(said["result"]["scales"])


def exact_averages(said: Said, public: Path) -> None:
    for entry in said["result"]["cuboids"]:
        if entry["measure"].startswith("average"):
            entry["variance"] = 1.0


def an_average_less(said: Said, public: Path) -> None:
    entry = said["result"]["cuboids"].pop()
    assert entry["measure"].startswith("average")
    (public / entry["file"]).unlink()


def elsewhere(said: Said, public: Path) -> None:
    entry = said["result"]["cuboids"][0]
    shutil.move(public / entry["file"], public.parent.parent / "elsewhere.csv")
    entry["file"] = "../../elsewhere.csv"


def an_absolute_path(said: Said, public: Path) -> None:
    entry = said["result"]["cuboids"][0]
    moved = public.parent.parent / "absolute.csv"
    shutil.move(public / entry["file"], moved)
    entry["file"] = str(moved)


def a_detour(said: Said, public: Path) -> None:
    said["result"]["cuboids"][0]["file"] = "cuboids/../cuboids/0.csv"


def a_name_too_long(said: Said, public: Path) -> None:
    said["result"]["cuboids"][0]["file"] = f"cuboids/{'a' * 5000}.csv"


def the_page_as_a_table(said: Said, public: Path) -> None:
    said["result"]["cuboids"][0]["file"] = "about.html"


def a_header_without_end(said: Said, public: Path) -> None:
    (public / "cuboids/0.csv").write_bytes(b"v" * 300_000 + b"\n1\n")


def no_number_of_cells(said: Said, public: Path) -> None:
    said["result"]["cuboids"][0]["cells"] = True


def truth_for_a_number(said: Said, public: Path) -> None:
    said["guarantee"]["parameters"]["epsilon"] = True


def half_a_person(said: Said, public: Path) -> None:
    (public / "cuboids/0.csv").write_bytes(b"value\n12.5\n")


def sixty_dimensions(said: Said, public: Path) -> None:
    names = [f"d{i}" for i in range(60)]
    shutil.rmtree(public / "cuboids")
    (public / "cuboids").mkdir()
    text = ",".join([*names, "value"]) + "\n" + "a," * 60 + "3\n"
    (public / "cuboids/0.csv").write_text(text, "utf-8", newline="")
    said["parameters"] |= {
        "dimensions": names,
        "levels": {},
        "publish": [names],
        "domains": {name: ["a"] for name in names},
    }
    said["result"] |= {
        "domains": [{"dimension": name, "categories": ["a"]} for name in names],
        "noise_sources": [names],
        "scales": [1.0],
        "shares": ["1"],
        "max_variance": 2.0,
        "cuboids": [{"dimensions": names, "cells": 1, "variance": 1.0, "file": "cuboids/0.csv"}],
    }


def rows_of_the_dimensions_alone(said: Said, public: Path) -> None:
    del said["result"]["counted_by"]


def rows_by_fewer_columns(said: Said, public: Path) -> None:
    said["parameters"]["counted_by"] = ["sex", "region"]


def rows_by_other_categories(said: Said, public: Path) -> None:
    said["result"]["counted_by"]["domains"][0]["categories"] = ["north"]


def rows_that_are_said_to_go_elsewhere(said: Said, public: Path) -> None:
    said["result"]["counted_by"]["outside"] = {"age": "30-59"}


def rows_by_columns_that_no_setting_names(said: Said, public: Path) -> None:
    said["result"]["counted_by"] = {
        "domains": [{"dimension": "pay", "categories": ["1"]}],
        "outside": {},
    }


def a_forbidden_source(said: Said, public: Path) -> None:
    said["parameters"]["forbid"] = said["result"]["noise_sources"]


FORGERIES: tuple[tuple[str, Forgery], ...] = (
    ("counts", rename_categories),
    ("counts", made_tomorrow),
    ("counts", other_outside),
    ("counts", small_shares),
    ("counts", no_shares),
    ("counts", proven),
    ("counts", residuals),
    ("counts", biased),
    ("residuals", residuals),
    ("counts", a_negative_scale),
    ("counts", a_source_twice),
    ("counts", a_table_less),
    ("counts", a_table_twice),
    ("counts", a_measure_that_is_not_there),
    ("counts", no_measures),
    ("several", another_name_for_a_sum),
    ("several", other_scales_above),
    ("average", exact_averages),
    ("average", an_average_less),
    ("counts", elsewhere),
    ("counts", an_absolute_path),
    ("counts", a_detour),
    ("counts", a_name_too_long),
    ("counts", the_page_as_a_table),
    ("counts", a_header_without_end),
    ("counts", no_number_of_cells),
    ("counts", truth_for_a_number),
    ("none", half_a_person),
    ("few", a_forbidden_source),
    ("counted", rows_of_the_dimensions_alone),
    ("counted", rows_by_fewer_columns),
    ("counted", rows_by_other_categories),
    ("counted", rows_that_are_said_to_go_elsewhere),
    ("counts", rows_by_columns_that_no_setting_names),
    ("counts", sixty_dimensions),
)


@pytest.mark.parametrize(("kind", "forge"), FORGERIES)
def test_a_skilful_forgery_is_found_in_the_release_and_in_its_public_part_alone(
    context: AppContext, genuine: Mapping[str, Path], tmp_path: Path, kind: str, forge: Forgery
) -> None:
    method = context.registry.get("dp-cube", "the test")
    check_found(forged(genuine[kind], tmp_path / "made", forge, method), context.registry)


@pytest.mark.parametrize("kind", ["counts", "tree"])
def test_categories_that_no_hierarchy_declares_are_found_with_the_evidence(
    context: AppContext, genuine: Mapping[str, Path], tmp_path: Path, kind: str
) -> None:
    method = context.registry.get("dp-cube", "the test")
    folder = forged(genuine[kind], tmp_path / "made", rename_hierarchy_categories, method)
    found = verify_release(folder, context.registry, CancelToken(), silent)
    assert [failure.reason for failure in found.failures] == [
        "domains of hierarchies: the categories of `age` are different, or in a different order"
    ]
    alone = verify_release(folder / "public", context.registry, CancelToken(), silent)
    assert alone.ok
    unchecked = next(check for check in alone.claims if check.claim == "domains of hierarchies")
    assert unchecked.status is CheckStatus.NEEDS_SOURCE


def test_categories_by_which_rows_count_are_compared_with_the_evidence(
    context: AppContext, genuine: Mapping[str, Path], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(genuine["counted"], tmp_path / "made" / "release"))
    said: Said = manifest_of(folder)
    assert [item["dimension"] for item in said["result"]["counted_by"]["domains"]] == [
        "region",
        "age",
    ]
    said["result"]["counted_by"]["domains"][1]["categories"] = ["all ages"]
    seal_again(folder, said)
    found = verify_release(folder, context.registry, CancelToken(), silent)
    assert [failure.reason for failure in found.failures] == [
        "domains of hierarchies: the rows that count are chosen by categories other than those "
        "that the plan declares"
    ]


@pytest.mark.parametrize("texts", [{"language": "en", "sha256": "0" * 64}, None])
def test_words_of_other_texts_are_not_checked_and_the_numbers_are(
    context: AppContext, genuine: Mapping[str, Path], tmp_path: Path, texts: object
) -> None:
    folder = Path(shutil.copytree(genuine["counts"], tmp_path / "made" / "release"))
    said: Said = manifest_of(folder)
    (folder / "public/about.html").write_bytes(OTHER_PAGE)
    said["guarantee"]["claim"] = "In other words."
    del said["messages"]
    said["texts"] = texts
    if texts is None:
        del said["texts"]
    seal_again(folder, said)
    found = verify_release(folder, context.registry, CancelToken(), silent)
    assert found.ok
    unchecked = [c.claim for c in found.claims if c.status is CheckStatus.NOT_CHECKED]
    assert unchecked == ["guarantee", PAGES[0], TEXTS_CLAIM, *PAGES[1:]]
    assert "a signature over the manifest" in found.notes[-1]
    said["guarantee"]["parameters"]["epsilon"] = 0.001
    seal_again(folder, said)
    assert not verify_release(folder, context.registry, CancelToken(), silent).ok


def test_evidence_without_the_hierarchy_of_a_domain_is_found(
    context: AppContext, genuine: Mapping[str, Path], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(genuine["tree"], tmp_path / "release"))
    evidence = json.loads((folder / "internal/evidence.json").read_text("utf-8"))
    evidence["hierarchies"] = {}
    (folder / "internal/evidence.json").write_bytes(canonical(evidence))
    seal_again(folder, manifest_of(folder))
    found = verify_release(folder, context.registry, CancelToken(), silent)
    assert ["domains of hierarchies" in failure.reason for failure in found.failures] == [True]


def test_the_forger_changes_nothing_by_sealing_again(
    context: AppContext, genuine: Mapping[str, Path], tmp_path: Path
) -> None:
    for kind, made in genuine.items():
        folder = Path(shutil.copytree(made, tmp_path / kind))
        seal_again(folder, manifest_of(folder))
        found = verify_release(folder, context.registry, CancelToken(), silent)
        assert found.ok, (kind, found.failures)


def test_a_public_field_that_is_not_listed_fails(
    context: AppContext, genuine: Mapping[str, Path], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(genuine["counts"], tmp_path / "release"))
    said: Said = manifest_of(folder)
    said["result"]["certified"] = "by someone"
    said["result"]["cuboids"][0]["checked"] = True
    seal_again(folder, said)
    found = verify_release(folder, context.registry, CancelToken(), silent)
    assert not found.ok
    unlisted = [c.claim for c in found.claims if c.found.startswith("is not among the public")]
    assert unlisted == ["result.certified", "result.cuboids[].checked"]


def test_exact_counts_are_those_of_the_source_whatever_texts_a_release_names(
    context: AppContext, tmp_path: Path
) -> None:
    source = write_register(tmp_path / "data", people())
    keys = {"exact": [["sex"]], "publish": [["region"]], "planner": "base"}
    made = release(context, write_plan(source, **keys), tmp_path / "made").out
    said: Said = manifest_of(made) | {"texts": {"language": "en", "sha256": "0" * 64}}
    seal_again(made, said)
    assert with_source(context, made, source).ok

    (path,) = (made / "public/cuboids").glob("*sex.csv")
    title, first, second, *rest = path.read_text("utf-8").splitlines()
    one, other = first.split(","), second.split(",")
    one[1], other[1] = other[1], one[1]
    assert one[1] != other[1]
    path.write_text("\n".join([title, ",".join(one), ",".join(other), *rest, ""]), "utf-8")
    seal_again(made, said)
    assert verify_release(made, context.registry, CancelToken(), silent).ok
    found = with_source(context, made, source)
    assert [failure.reason for failure in found.failures] == [
        f"rows that count: cuboids/{path.name} has an exact number that is not that of the source"
    ]


def with_source(context: AppContext, made: Path, source: Path) -> VerifyReport:
    return verify_release(
        made, context.registry, CancelToken(), silent, source, workspace=context.workspace
    )


def test_draws_and_counts_are_compared_whatever_texts_a_release_names(
    context: AppContext, tmp_path: Path
) -> None:
    source = write_register(tmp_path / "data", people())
    keys = {"measure": {"sum": "pay", "lower": 0, "upper": 500}}
    made = release(context, write_plan(source, **keys), tmp_path / "made").out
    said: Said = manifest_of(made) | {"texts": {"language": "en", "sha256": "0" * 64}}
    seal_again(made, said)
    place = made / "internal/evidence.json"
    genuine = json.loads(place.read_text("utf-8"))
    assert with_source(context, made, source).ok

    def reasons(evidence: Said) -> list[str]:
        place.write_bytes(canonical(evidence))
        seal_again(made, said)
        return [failure.reason for failure in with_source(context, made, source).failures]

    false = copy.deepcopy(genuine)
    (counting,) = false["result"]["counting"].values()
    counting["values_that_are_no_numbers"] += 1
    (reason,) = reasons(false)
    assert "`values_that_are_no_numbers` is not what the source gives" in reason

    false = copy.deepcopy(genuine)
    budget = false["budget"]
    body = json.loads(budget["record"]["body"])
    body["draws"] = [  # as dear, and others
        {**each, "count": 2 * each["count"], "spread": str(2 * int(each["spread"]))}
        for each in body["draws"]
    ]
    record = {**budget["record"], "body": json.dumps(body, sort_keys=True)}
    hashed = LedgerEntry(**record).expected_hash()
    false["budget"] = {
        **budget,
        "record": {**record, "hash": hashed},
        "entry": hashed,
        "head": {**budget["head"], "hash": hashed},
    }
    with pytest.MonkeyPatch.context() as patch:  # where nobody has seen the ledger
        patch.setenv("DPDESK_WITNESS", str(tmp_path / "of-another-computer.jsonl"))
        (reason,) = reasons(false)
    assert "its draws are not those of this plan" in reason


def forge_who(budget: Said) -> None:
    """Somebody else paid, by an entry whose hash fits."""
    record = budget["record"] | {"who": "someone else@elsewhere"}
    known = LedgerEntry(**{**record, "hash": ""})
    budget["record"] = record | {"hash": known.expected_hash()}
    budget["entry"] = known.expected_hash()
    if budget["head"]["entries"] == record["n"]:
        budget["head"]["hash"] = known.expected_hash()


def forge_head(budget: Said) -> None:
    """An end of the ledger that it never had."""
    budget["head"] |= {"entries": budget["record"]["n"], "hash": "0" * 64}


def test_tables_drawn_at_a_higher_price_are_not_those_that_the_ledger_saw(
    context: AppContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write_register(tmp_path / "data", people())
    made = release(context, write_plan(source), tmp_path / "made").out
    dear = release(context, write_plan(source, epsilon=900), tmp_path / "dear").out
    shutil.copytree(dear / "public/cuboids", made / "public/cuboids", dirs_exist_ok=True)
    seal_again(made, manifest_of(made))
    report_again(made, context.registry)
    seal_again(made, manifest_of(made))
    found = with_source(context, made, source)
    assert [one.reason for one in found.failures] == [
        "`budget, debit`: the witness of this computer knows another outcome of this debit"
    ]
    assert with_source(context, dear, source).ok
    monkeypatch.setenv("DPDESK_WITNESS", str(tmp_path / "of-another-computer.jsonl"))
    assert with_source(context, made, source).ok


@pytest.mark.parametrize(("forge", "place"), [(forge_who, "record"), (forge_head, "head")])
def test_the_entry_of_a_debit_is_compared_with_the_witness_of_its_computer(
    context: AppContext,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    forge: Callable[[Said], None],
    place: str,
) -> None:
    source = write_register(tmp_path / "data", people())
    made = release(context, write_plan(source), tmp_path / "made").out
    assert verify_release(made, context.registry, CancelToken(), silent).ok
    evidence = json.loads((made / "internal/evidence.json").read_text("utf-8"))
    forge(evidence["budget"])
    (made / "internal/evidence.json").write_bytes(canonical(evidence))
    report_again(made, context.registry)
    seal_again(made, manifest_of(made))
    found = verify_release(made, context.registry, CancelToken(), silent)
    reason = f"`budget, {place}` is not the {'entry' if place == 'record' else 'end'} that"
    assert [one.reason.startswith(reason) for one in found.failures][:1] == [True]
    monkeypatch.setenv("DPDESK_WITNESS", str(tmp_path / "of-another-computer.jsonl"))
    assert verify_release(made, context.registry, CancelToken(), silent).ok


@pytest.mark.parametrize(
    ("taken", "changed", "reason"),
    [
        (("record", "head", "elsewhere"), {}, ""),
        (("record",), {}, "the key `budget, record` is missing"),
        (("head", "elsewhere"), {}, "the key `budget, head` is missing"),
        (
            ("record", "head", "elsewhere"),
            {"entry": "0" * 64},
            "`budget, entry` is not the entry that the witness of this computer knows",
        ),
    ],
)
def test_the_entry_of_a_debit_is_not_taken_away_unseen_whatever_texts_a_release_names(
    context: AppContext,
    genuine: Mapping[str, Path],
    tmp_path: Path,
    taken: tuple[str, ...],
    changed: Said,
    reason: str,
) -> None:
    made = Path(shutil.copytree(genuine["counts"], tmp_path / "release"))
    said: Said = manifest_of(made) | {"texts": {"language": "en", "sha256": "0" * 64}}
    place = made / "internal/evidence.json"
    evidence = json.loads(place.read_text("utf-8"))
    evidence["budget"] |= changed
    for key in taken:
        del evidence["budget"][key]
    place.write_bytes(canonical(evidence))
    seal_again(made, said)
    found = verify_release(made, context.registry, CancelToken(), silent)
    if reason:
        assert reason in [one.reason for one in found.failures]
        return
    assert found.ok
    assert PAYMENT_CLAIM in [check.claim for check in found.not_checked()]


def test_what_is_wrong_with_evidence_is_said_in_german(
    context: AppContext, genuine: Mapping[str, Path], tmp_path: Path
) -> None:
    german = voice_of("de")
    changes: list[Callable[[Said], object]] = [
        lambda e: e["budget"].update(cost="ε = 3"),
        lambda e: e["budget"].update(elsewhere=0),
        lambda e: e["budget"].update(time="2020-01-01T00:00:00+00:00"),
        lambda e: e["budget"].pop("head"),
        lambda e: e["budget"].update(record=1),
        lambda e: e.pop("budget"),
        lambda e: e.pop("timings"),
        lambda e: e.update(more=1),
        lambda e: e.update(risk={"before": 1}),
        lambda e: e.update(roles={}),
        lambda e: e.update(parameters={}),
        lambda e: e.update(notes=[1]),
        lambda e: e["plan"].update(title="another"),
        lambda e: e["plan"]["source"].update(delimiter=";"),
        lambda e: e["plan"]["protection"].update(epsilon=9),
        lambda e: e["timings"].update(run="long"),
    ]
    place = genuine["counts"]
    for number, change in enumerate(changes):
        made = Path(shutil.copytree(place, tmp_path / str(number)))
        evidence = json.loads((made / "internal/evidence.json").read_text("utf-8"))
        change(evidence)
        (made / "internal/evidence.json").write_bytes(canonical(evidence))
        seal_again(made, manifest_of(made))
        found = verify_release(made, context.registry, CancelToken(), silent)
        assert found.failures
        for one in found.failures:
            assert german.known(one.reason) not in (None, one.reason), one.reason
