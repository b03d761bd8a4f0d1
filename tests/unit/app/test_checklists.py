"""Checklists of real releases: known answers, and no fault of a folder that raises or passes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyreadstat
import pytest

from dpdesk.app.checklists import CheckedRelease, check_release
from dpdesk.app.context import AppContext
from dpdesk.app.running import run_plan
from dpdesk.core.errors import Cancelled, InputError
from dpdesk.core.jobs import CancelToken, StepProgress, silent
from dpdesk.project.review.checklist import Checklist
from dpdesk.project.review.policy import BUILT_IN, Policy
from dpdesk.project.review.questions import Basis
from dpdesk.project.review.table_facts import STEP
from dpdesk.project.review.votes import ItemStatus as Status
from tests.helpers import releases as town
from tests.helpers.forging import manifest_of, places, seal_again

pytestmark = pytest.mark.cheap_prints

# What sealing again makes right, or what no claim rests on.
REWRITTEN = (
    "format", "dpdesk", "created", "files", "sha256", "bytes", "about.html", "microdata.csv",
)  # fmt: skip
SAMPLE = Path(__file__).parents[3] / "resources" / "sample"


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppContext]:
    with AppContext.open(tmp_path_factory.mktemp("home")) as opened:
        yield opened


@pytest.fixture(scope="module")
def research(context: AppContext, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled research file, k = 5."""
    out = tmp_path_factory.mktemp("out") / "research-file"
    plan = SAMPLE / "plans" / "research-file.toml"
    return run_plan(context, plan, out, CancelToken(), silent).out


@pytest.fixture(scope="module")
def made(context: AppContext, tmp_path_factory: pytest.TempPathFactory) -> Path:
    plan = town.write_source(tmp_path_factory.mktemp("source"))
    return town.release(plan, tmp_path_factory.mktemp("out") / "release", context).out


def policy(**raw: object) -> Policy:
    return Policy.from_plain({"version": 1, **raw}, "policy.toml")


def checked(
    context: AppContext, path: Path, held: Policy | None = None, source: Path | None = None
) -> CheckedRelease:
    return check_release(context, path, CancelToken(), silent, held, source=source)


def checklist(
    context: AppContext, path: Path, held: Policy | None = None, source: Path | None = None
) -> Checklist:
    return checked(context, path, held, source).checklist


def test_the_research_file_has_the_known_answers(context: AppContext, research: Path) -> None:
    found = checklist(context, research)
    evidence = {each.id: each.evidence for each in found.items}
    assert found.count(Status.FAIL) == 0
    assert "14,876 of 20,502 rows (72.56 %)" in evidence["uniques"]
    assert "655 are suppressed (3.19 %)" in evidence["suppression"]
    assert "167 of 1,212 rows (13.78 %) with `divorced`" in evidence["suppressed-groups"]
    assert (
        "In 30 of 444 classes (6.76 %), 261 rows, everyone has one value of `condition`"
        in (evidence["homogeneous"])
    )
    assert "(`occupation` 26, `education` 6)" in evidence["missing"]
    assert (
        "`weight` faces groups below 5: that is so for 5,814 of 19,847 rows (29.29 %)"
        in (evidence["one-column-more"])
    )
    assert "`403700`, is more than twice" in evidence["extremes"]
    review = {each.id for each in found.items if each.status is Status.REVIEW}
    assert review == {
        "source", "policy", "suppressed-groups", "homogeneous", "missing", "one-column-more",
        "extremes", "weights", "rows-alone", "telling", "assumptions",
    }  # fmt: skip


def test_values_that_the_source_declares_missing_are_counted_and_named(
    context: AppContext, tmp_path: Path
) -> None:
    people = pd.DataFrame({"sex": [1.0, 2.0, 9.0, None] * 10, "age": [30.0, -1.0] * 20})
    ranges = {"sex": [9.0], "age": [{"lo": -9.0, "hi": -1.0}]}
    pyreadstat.write_sav(people, tmp_path / "a.sav", missing_ranges=ranges)
    plan = """version = 1
        [source]
        path = "a.sav"
        {more}
        [attributes]
        sex = {{ role = "quasi-identifier" }}
        [protection]
        method = "k-anonymity"
        k = 5"""
    found = []
    for number, more in enumerate(("", "missing = []")):
        place = tmp_path / f"plan{number}.toml"
        place.write_text(plan.format(more=more), encoding="utf-8")
        made = run_plan(context, place, tmp_path / f"out{number}", CancelToken(), silent).out
        facts = checked(context, made).facts.table
        assert facts is not None
        columns = {each.name: each for each in facts.columns}
        missing = [(columns[name].missing, columns[name].user_missing) for name in ("sex", "age")]
        found.append((facts.missing, missing))
        evidence = checklist(context, made).item("missing").evidence
        assert ("(`sex` 20, of which declared missing 10)" in evidence) is (number == 0)
    assert found == [(20, [(20, 10), (20, 20)]), (0, [(0, 0), (0, 0)])]


def test_a_policy_that_asks_for_10_fails_a_release_with_k_5(
    context: AppContext, research: Path
) -> None:
    item = checklist(context, research, policy(limits={"minimum_k": 10})).item("smallest-class")
    assert item.status is Status.FAIL
    assert item.evidence == (
        "The smallest class has 5 rows; the policy requires 10 or more "
        "(counted now from the published table)."
    )


def test_the_policy_of_this_computer_holds_unless_a_submission_has_its_own(
    context: AppContext, made: Path
) -> None:
    place = context.home / "policy.toml"
    assert checklist(context, made).item("policy").status is Status.REVIEW
    place.write_text("version = 1\n[limits]\nminimum_k = 6\n", encoding="utf-8")
    try:
        own = checklist(context, made)
        assert own.item("policy").status is Status.PASS
        assert own.policy_sha256 == policy(limits={"minimum_k": 6}).sha256
        assert checklist(context, made, BUILT_IN).item("policy").status is Status.FAIL
        place.write_text("version = 9", encoding="utf-8")
        with pytest.raises(InputError):
            checklist(context, made)
    finally:
        place.unlink()


def test_with_the_source_the_figures_that_need_it_are_checked_again(
    context: AppContext, tmp_path: Path
) -> None:
    plan = town.write_source(tmp_path)
    out = town.release(plan, tmp_path / "release", context).out
    alone = checklist(context, out)
    assert alone.item("source").status is Status.REVIEW
    assert alone.item("suppression").basis is Basis.MANIFEST
    whole = checklist(context, out, source=tmp_path / town.SOURCE)
    assert whole.item("source").status is Status.PASS
    assert whole.item("suppression").basis is Basis.SOURCE
    assert whole.item("identifiers").basis is Basis.SOURCE


def test_the_public_part_alone_leaves_open_what_lies_in_the_internal_part(
    context: AppContext, made: Path
) -> None:
    found = checklist(context, made / "public")
    assert found.item("verified").status is Status.REVIEW
    assert found.item("identifiers").status is Status.REVIEW
    assert found.item("suppressed-groups").status is Status.REVIEW
    assert found.item("smallest-class").status is Status.PASS


def test_a_changed_table_fails_and_is_counted_as_it_is(
    context: AppContext, made: Path, tmp_path: Path
) -> None:
    release = shutil.copytree(made, tmp_path / "copy")
    table = release / "public" / "microdata.csv"
    lines = table.read_text("utf-8").splitlines(keepends=True)
    table.write_text("".join([lines[0], *sorted({*lines[1:], "alone,nowhere,cold\n"})]), "utf-8")
    found = checklist(context, release)
    assert found.item("verified").status is Status.FAIL
    assert found.item("uniques").status is Status.FAIL


@pytest.mark.parametrize("name", ["public/microdata.csv", "public/manifest.json",
                                  "internal/evidence.json"])  # fmt: skip
@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe", b"{}\n", b'a,b\n"1,2\n'])
def test_no_damage_raises_and_none_passes(
    context: AppContext, made: Path, tmp_path: Path, name: str, content: bytes | None
) -> None:
    release = shutil.copytree(made, tmp_path / "copy")
    if content is None:
        (release / name).unlink()
    else:
        (release / name).write_bytes(content)
    assert checklist(context, release).item("verified").status is Status.FAIL


def test_no_forged_manifest_raises_and_none_passes(
    context: AppContext, made: Path, tmp_path: Path
) -> None:
    original = manifest_of(made)
    release = shutil.copytree(made, tmp_path / "copy")
    odd = (None, [], "x", -1, {"a": [1]}, 10**30)
    tried = 0
    for place in range(len(places(original))):
        manifest = json.loads(json.dumps(original))
        inside, key = places(manifest)[place]
        if key in REWRITTEN:
            continue
        inside[key] = odd[place % len(odd)]
        try:
            seal_again(release, manifest)
        except (KeyError, TypeError, ValueError):
            continue
        assert checklist(context, release).item("verified").status is Status.FAIL, key
        tried += 1
    assert tried >= 20


def test_counting_tells_its_progress_and_stops_when_cancelled(
    context: AppContext, made: Path
) -> None:
    token, seen = CancelToken(), []

    def listen(event: object) -> None:
        if isinstance(event, StepProgress) and event.step == STEP:
            seen.append(event)
            token.cancel()

    with pytest.raises(Cancelled):
        check_release(context, made, token, listen)
    assert seen[-1].done == seen[-1].total


ADULT_QI = ("age", "sex", "race", "marital-status", "education", "native-country", "workclass")


@pytest.mark.data
def test_a_census_extract_has_the_answers_that_pandas_counts(
    context: AppContext, real_data: Path, tmp_path: Path
) -> None:
    import pandas as pd

    folder = real_data / "arx-adult"
    names = [*ADULT_QI, "occupation", "salary-class"]
    lines = ["version = 1", "[source]", f'path = "{folder / "adult.csv"}"', 'delimiter = ";"']
    for name in ADULT_QI:
        place = folder / f"adult_hierarchy_{name}.csv"
        lines.append(f'[attributes."{name}"]\nrole = "quasi-identifier"\nhierarchy = "{place}"')
    lines += ['[attributes."salary-class"]', 'role = "sensitive"']
    lines += ["[protection]", 'method = "k-anonymity"', "k = 5", "max_suppression = 0.04"]
    plan = tmp_path / "plan.toml"
    plan.write_text("\n".join(lines), encoding="utf-8")
    out = run_plan(context, plan, tmp_path / "out", CancelToken(), silent).out
    held = policy(limits={"minimum_k": 10, "minimum_l": 2, "maximum_exposed": 0.5})
    release = checked(context, out, held)
    table = release.facts.table
    assert table is not None
    frame = pd.read_csv(out / "public" / "microdata.csv", dtype=str, keep_default_na=False)
    assert sorted(frame.columns) == sorted(names)
    classes = frame.groupby(list(ADULT_QI))
    values = classes["salary-class"].nunique()
    sizes = classes.size()
    pay = next(each for each in table.columns if each.name == "salary-class").spread
    assert pay is not None
    assert (table.classes, table.smallest) == (len(sizes), sizes.min())
    assert pay.fewest == values.min()
    assert pay.homogeneous_classes == (values == 1).sum()
    assert pay.homogeneous_rows == sizes[values == 1].sum()
    shares = frame["salary-class"].value_counts(normalize=True)
    within = classes["salary-class"].value_counts(normalize=True).unstack(fill_value=0)
    assert float(pay.distance) == pytest.approx(((within - shares).abs().sum(axis=1) / 2).max())
    pairs = frame.groupby([*ADULT_QI, "occupation"]).size()
    job = next(each for each in table.columns if each.name == "occupation").spread
    assert job is not None
    assert (job.exposed, job.alone) == (pairs[pairs < 5].sum(), (pairs == 1).sum())
    assert release.checklist.item("diversity").status is Status.FAIL
    too_small = release.checklist.item("smallest-class").status is Status.FAIL
    assert too_small is bool(sizes.min() < 10)


@pytest.mark.data
def test_a_household_survey_is_asked_about_its_weights_and_groups(
    context: AppContext, real_data: Path, tmp_path: Path
) -> None:
    plan = tmp_path / "plan.toml"
    keys = ("urbrur", "roof", "walls", "water", "electcon", "relat", "sex")
    lines = ["version = 1", "[source]", f'path = "{real_data / "sdcmicro" / "testdata.csv"}"']
    lines += [f'[attributes.{key}]\nrole = "quasi-identifier"' for key in keys]
    lines += ['[attributes.sampling_weight]\nrole = "weight"']
    lines += ['[attributes.ori_hid]\nrole = "cluster"', '[attributes.income]\nrole = "sensitive"']
    lines += ["[protection]", 'method = "k-anonymity"', "k = 3", "max_suppression = 0.07"]
    plan.write_text("\n".join(lines), encoding="utf-8")
    out = run_plan(context, plan, tmp_path / "out", CancelToken(), silent).out
    found = checklist(context, out)
    # Known: 281 of the 4,580 rows violate 3-anonymity on these keys.
    assert "281 are suppressed (6.14 %)" in found.item("suppression").evidence
    assert found.item("suppression").status is Status.REVIEW
    assert found.item("weights").status is Status.REVIEW
    assert found.item("groups").status is Status.REVIEW
