"""Releases that require something of sensitive columns, from plan to verification, and forged."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.running import run_plan
from dpdesk.app.verifying import verify_release
from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.release import CheckStatus, VerifyReport
from tests.helpers.forging import manifest_of, seal_again

pytestmark = pytest.mark.cheap_prints

_DISEASES = ("flu", "cold", "flu", "cold", "gout", "cold", "flu", "flu", "gout", "cold", "cold")
_PAY = ("1000", "900", "", "1500", "900", "10000", "1500", "1000", "900", "1500", "1000")
_TREE = "flu;airways;*\ncold;airways;*\ngout;joints;*\n"
_TOWNS = (("Ulm", 22), ("Bonn", 22), ("Jena", 11), ("Gera", 11))
MODELS: dict[str, list[dict[str, object]]] = {
    "distinct": [{"model": "l-diversity", "l": 3}],
    "entropy": [{"model": "l-diversity", "variant": "entropy", "l": 2.5}],
    "recursive": [{"model": "l-diversity", "variant": "recursive", "l": 2, "c": 1.5}],
    "equal": [{"model": "t-closeness", "t": 0.2}],
    "hierarchical": [{"model": "t-closeness", "variant": "hierarchical", "t": 0.2}],
    "share": [{"model": "alpha-k", "alpha": 0.6}],
    "likeness": [{"model": "beta-likeness", "variant": "enhanced", "beta": 1}],
    "two": [
        {"model": "l-diversity", "l": 3},
        {"model": "t-closeness", "attribute": "pay", "variant": "ordered", "t": 0.3},
    ],
}
Run = Callable[[Path, list[dict[str, object]]], Path]


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with AppContext.open(tmp_path_factory.mktemp("home")) as opened:
        yield opened


def plan_of(folder: Path, required: list[dict[str, object]], share: float, **more: object) -> Path:
    towns = [town for town, rows in _TOWNS for _ in range(rows)]
    lines = ["town,disease,pay"]
    for at, town in enumerate(towns):
        disease = "gout" if town == "Gera" else _DISEASES[at % 11]
        lines.append(f"{town},{disease},{_PAY[at % 11]}")
    (folder / "people.csv").write_text("\n".join(lines) + "\n", "utf-8")
    (folder / "tree.csv").write_text(_TREE, "utf-8")
    asked = [{"attribute": "disease", **each} for each in required]
    plan = {
        "version": 1,
        "source": {"path": "people.csv"},
        "attributes": {
            "town": {"role": "quasi-identifier"},
            "disease": {"role": "sensitive", "hierarchy": "tree.csv"},
            "pay": {"role": "sensitive"},
        },
        "protection": {
            "method": "k-anonymity", "k": 3, "max_suppression": share, "require": asked,
            **more,
        },
    }  # fmt: skip
    (folder / "plan.json").write_text(json.dumps(plan), "utf-8")
    return folder / "plan.json"


@pytest.fixture(scope="module")
def run(context: AppContext) -> Run:
    def make(folder: Path, required: list[dict[str, object]]) -> Path:
        plan = plan_of(folder, required, 0.2)
        run_plan(context, plan, folder / "release", CancelToken(), silent)
        return folder / "release"

    return make


def verified(context: AppContext, release: Path, source: Path | None = None) -> VerifyReport:
    place = CancelToken(), silent, source, context.workspace
    return verify_release(release, context.registry, *place)


@pytest.mark.parametrize("name", MODELS)
def test_a_town_that_shares_a_disease_is_left_out(
    context: AppContext, run: Run, tmp_path: Path, name: str
) -> None:
    release = run(tmp_path, MODELS[name])
    manifest = manifest_of(release)
    assert manifest["result"]["node"] == {"town": 0}
    assert manifest["result"]["rows_suppressed"] == 11
    assert manifest["result"]["proven_optimal"] is True
    stated = manifest["guarantee"]["parameters"]["require"]
    assert [each["model"] for each in stated] == [each["model"] for each in MODELS[name]]
    public = verified(context, release)
    assert public.ok
    checks = {
        check.claim: check.status for check in public.claims if "in every class" in check.claim
    }
    assert len(checks) == len(MODELS[name])
    along = CheckStatus.NEEDS_SOURCE if name == "hierarchical" else CheckStatus.CONFIRMED
    assert set(checks.values()) == {along}
    whole = verified(context, release, tmp_path / "people.csv")
    assert whole.ok
    assert not [
        c for c in whole.claims if c.status is CheckStatus.NEEDS_SOURCE and "class" in c.claim
    ]


@pytest.fixture(scope="module")
def genuine(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run(tmp_path_factory.mktemp("genuine"), [*MODELS["two"], *MODELS["entropy"]])


def _changed(said: dict[str, Any], place: int, **keys: object) -> None:
    for part in (said["parameters"], said["guarantee"]["parameters"]):
        part["require"][place] |= keys


def more_values(said: dict[str, Any], public: Path) -> None:
    _changed(said, 0, l=4)


def closer(said: dict[str, Any], public: Path) -> None:
    _changed(said, 1, t=0)
    text = (public / "microdata.csv").read_text("utf-8")
    (public / "microdata.csv").write_text(
        text.replace("Jena,flu,1000\n", "Jena,flu,10000\n"), "utf-8"
    )


def more_entropy(said: dict[str, Any], public: Path) -> None:
    _changed(said, 2, l=3)


def only_the_guarantee(said: dict[str, Any], public: Path) -> None:
    said["guarantee"]["parameters"]["require"][0]["l"] = 2


def nothing_promised(said: dict[str, Any], public: Path) -> None:
    del said["guarantee"]["parameters"]["require"]


def other_words(said: dict[str, Any], public: Path) -> None:
    said["guarantee"]["claim"] = said["guarantee"]["claim"].replace(
        "at least 3 diff", "at least 2 diff"
    )


def other_values(said: dict[str, Any], public: Path) -> None:
    text = (public / "microdata.csv").read_text("utf-8")
    (public / "microdata.csv").write_text(text.replace("Jena,gout", "Jena,cold"), "utf-8")


def other_order(said: dict[str, Any], public: Path) -> None:
    said["guarantee"]["parameters"]["require"][1]["order"] = "hierarchy"


WORDS = "the words of the guarantee"
FORGERIES = (
    (more_values, "l-diversity (distinct) of disease in every class"),
    (closer, "t-closeness (ordered) of pay in every class"),
    (more_entropy, "l-diversity (entropy) of disease in every class"),
    (only_the_guarantee, WORDS),
    (nothing_promised, WORDS),
    (other_words, WORDS),
    (other_values, "l-diversity (distinct) of disease in every class"),
)


def forged(genuine: Path, folder: Path, forge: Callable[[dict[str, Any], Path], None]) -> Path:
    copy = Path(shutil.copytree(genuine, folder / "release"))
    said = manifest_of(copy)
    forge(said, copy / "public")
    seal_again(copy, said)
    return copy


def failed(report: VerifyReport) -> list[str]:
    return [check.claim for check in report.claims if check.status is CheckStatus.FAILED]


@pytest.mark.parametrize(("forge", "claim"), FORGERIES)
def test_forged_claims_fail(
    context: AppContext,
    genuine: Path,
    tmp_path: Path,
    forge: Callable[[dict[str, Any], Path], None],
    claim: str,
) -> None:
    copy = forged(genuine, tmp_path, forge)
    assert claim in failed(verified(context, copy))
    assert claim in failed(verified(context, copy / "public"))


def test_an_order_that_the_plan_does_not_have_fails_with_the_source(
    context: AppContext, genuine: Path, tmp_path: Path
) -> None:
    copy = forged(genuine, tmp_path, other_order)
    found = verified(context, copy, genuine.parent / "people.csv")
    assert "t-closeness (ordered) of pay in every class" in failed(found)


WAYS: dict[str, dict[str, object]] = {
    "mondrian": {"algorithm": "mondrian"},
    "ranges": {"algorithm": "mondrian", "values": "ranges"},
    "top-down": {"algorithm": "top-down"},
    "local": {"local": True},
}


@pytest.mark.parametrize("way", WAYS)
def test_classes_with_values_of_their_own_meet_what_is_required(
    context: AppContext, tmp_path: Path, way: str
) -> None:
    required = [*MODELS["two"], *MODELS["entropy"], *MODELS["hierarchical"]]
    plan = plan_of(tmp_path, required, 0.2, **WAYS[way])
    release = tmp_path / "release"
    run_plan(context, plan, release, CancelToken(), silent)
    manifest = manifest_of(release)
    assert "node" not in manifest["result"]
    # Gera has gout alone: with another town it stays, by itself it is left out.
    assert manifest["result"]["rows_suppressed"] == (11 if way == "local" else 0)
    stated = manifest["guarantee"]["parameters"]["require"]
    assert [each["model"] for each in stated] == [each["model"] for each in required]
    assert verified(context, release).ok
    whole = verified(context, release, tmp_path / "people.csv")
    assert whole.ok
    checks = {c.claim: c.status for c in whole.claims if "in every class" in c.claim}
    assert len(checks) == len(required)
    assert set(checks.values()) == {CheckStatus.CONFIRMED}
    for place, (forge, claim) in enumerate(FORGERIES):
        if forge in (closer, other_values):
            continue  # what they change need not be in this table
        folder = tmp_path / str(place)
        folder.mkdir()
        copy = forged(release, folder, forge)
        assert claim in failed(verified(context, copy))
        assert claim in failed(verified(context, copy / "public"))
    text = (release / "public/microdata.csv").read_text("utf-8")
    copy = Path(shutil.copytree(release, tmp_path / "gout"))
    (copy / "public/microdata.csv").write_text(text.replace("gout", "cold"), "utf-8")
    seal_again(copy, manifest_of(copy))
    assert "l-diversity (distinct) of disease in every class" in failed(verified(context, copy))


def test_what_not_even_all_rows_meet_is_refused(context: AppContext, tmp_path: Path) -> None:
    for way in ("mondrian", "top-down"):
        plan = plan_of(tmp_path, [{"model": "l-diversity", "l": 4}], 0, **WAYS[way])
        with pytest.raises(RefusedError, match="what is required of disease") as refused:
            run_plan(context, plan, tmp_path / "release", CancelToken(), silent)
        assert refused.value.code == "k-anonymity.infeasible"
        assert not (tmp_path / "release").exists()


def test_what_no_levels_give_is_refused(context: AppContext, tmp_path: Path) -> None:
    plan = plan_of(tmp_path, [{"model": "l-diversity", "l": 4}], 0.2)
    with pytest.raises(RefusedError, match="what is required of disease") as refused:
        run_plan(context, plan, tmp_path / "release", CancelToken(), silent)
    assert refused.value.code == "k-anonymity.infeasible"
    assert not (tmp_path / "release").exists()


@pytest.mark.parametrize(
    ("required", "said"),
    [
        ({"model": "l-diversity", "l": 2, "attribute": "town"}, "`town` is not a sensitive column"),
        ({"model": "t-closeness", "t": 0.1, "attribute": "pay", "variant": "hierarchical"},
         "`pay` has no hierarchy"),
    ],
)  # fmt: skip
def test_requirements_that_do_not_fit_the_columns_are_refused(
    context: AppContext, tmp_path: Path, required: dict[str, object], said: str
) -> None:
    plan = plan_of(tmp_path, [required], 0.2)
    with pytest.raises(InputError) as refused:
        run_plan(context, plan, tmp_path / "release", CancelToken(), silent)
    assert said in refused.value.sentence


OTHERS: dict[str, dict[str, object]] = {
    **{model: {"model": model, "max_suppression": 0} for model in ("AG_CS", "CG", "CS")},
    "AS": {"model": "AS", "max_suppression": 0},
    "TS": {"model": "TS"},
    "cuts": {"algorithm": "k-optimize"},
    "relaxed": {"algorithm": "mondrian", "strict": False, "values": "ranges"},
}


@pytest.mark.parametrize("way", OTHERS)
def test_every_way_of_generalising_meets_what_is_required_and_forgeries_fail(
    context: AppContext, tmp_path: Path, way: str
) -> None:
    plan = plan_of(tmp_path, MODELS["two"], 0.2, **OTHERS[way])
    run_plan(context, plan, tmp_path / "release", CancelToken(), silent)
    release, source = tmp_path / "release", tmp_path / "people.csv"
    for report in (verified(context, release), verified(context, release, source)):
        assert report.ok
        found = [check.status for check in report.claims if "in every class" in check.claim]
        assert found == [CheckStatus.CONFIRMED] * 2
    rows = manifest_of(release)["result"]["rows_suppressed"]
    assert rows == (11 if way == "TS" else 0)
    (tmp_path / "forged").mkdir()
    copy = forged(release, tmp_path / "forged", more_values)
    assert FORGERIES[0][1] in failed(verified(context, copy))
    (tmp_path / "other").mkdir()
    copy = forged(release, tmp_path / "other", swapped)
    assert not verified(context, copy, source).ok


def swapped(said: dict[str, Any], public: Path) -> None:
    """Two rows exchange what they earn: every class keeps its numbers of diseases."""
    lines = (public / "microdata.csv").read_text("utf-8").splitlines()
    rows = [line.split(",") for line in lines[1:]]
    pair = next(
        (a, b) for a in rows for b in rows if a[2] != b[2] and (a[0] != b[0] or a[1] != b[1])
    )
    pair[0][2], pair[1][2] = pair[1][2], pair[0][2]
    text = "\n".join([lines[0], *sorted(",".join(row) for row in rows)]) + "\n"
    (public / "microdata.csv").write_text(text, "utf-8")
