"""A release with drawn values from the plan to the verified folder, and forgeries of it."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.exporting import export_release
from dpdesk.app.page_checks import public_page
from dpdesk.app.risk import assess
from dpdesk.app.texts import TEXTS_CLAIM
from dpdesk.app.verifying import verify_release
from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.release import CheckStatus, Manifest, VerifyReport
from dpdesk.engine.methods.l_diverted.method import LDiverted
from dpdesk.engine.methods.registered import default_registry
from dpdesk.io.published import PublishedCsv
from tests.helpers import clinic
from tests.helpers.forging import PAGES, RECORDED, manifest_of, report_again, seal_again

Rows = list[list[str]]


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppContext]:
    with AppContext.open(tmp_path_factory.mktemp("home")) as opened:
        yield opened


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("clinic")
    clinic.write_source(made)
    return made


@pytest.fixture(scope="module")
def made(context: AppContext, folder: Path) -> Path:
    return clinic.release(clinic.write_plan(folder), folder / "release", context).out


def table(release: Path) -> Rows:
    with (release / "public" / "microdata.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def verified(context: AppContext, release: Path, source: Path | None = None) -> VerifyReport:
    return verify_release(
        release, context.registry, CancelToken(), silent, source, context.workspace
    )


def test_the_table_holds_the_rows_of_the_source_with_drawn_values(made: Path) -> None:
    header, *rows = table(made)
    assert header == ["age", "town", "illness", "job"]
    assert len(rows) == 402
    source = Counter(row[1:3] for row in map(tuple, clinic.people()))
    released = Counter(tuple(row[:2]) for row in rows)
    assert released <= source
    assert (source - released).total() == 1
    assert {row[2] for row in rows} <= set(clinic.ILLNESSES)
    assert rows != sorted(rows)


def test_most_values_are_not_the_own_ones(made: Path) -> None:
    _, *rows = table(made)
    joint = Counter((row[1], row[3]) for row in rows)
    true = Counter((row[2], row[4]) for row in clinic.people())
    strange = sum(count for pair, count in joint.items() if pair not in true)
    assert strange > 20  # jobs in towns that have none of them: decoys


def test_counts_of_the_whole_table_stay_near_the_true_ones(made: Path) -> None:
    _, *rows = table(made)
    for place in (3, 4):
        published = Counter(row[place - 1] for row in rows)
        for value, count in Counter(row[place] for row in clinic.people()).items():
            assert abs(published[value] - count) < 6 * count**0.5 + 1


def test_two_runs_of_one_plan_differ_in_order_and_values(
    context: AppContext, folder: Path, made: Path
) -> None:
    again = clinic.release(clinic.write_plan(folder), folder / "again", context).out
    assert table(again) != table(made)
    assert sorted(table(again)) != sorted(table(made))


def test_the_manifest_says_what_was_done_and_nothing_of_the_counts(made: Path) -> None:
    manifest = manifest_of(made)
    assert manifest["result"] == {"rows_removed": 1, "rows_out": 402}
    assert manifest["parameters"] == {
        "l": 3,
        "sensitive": ["illness", "job"],
        "partition": "mixed",
    }
    guarantee = manifest["guarantee"]
    assert guarantee["parameters"]["diverted"] == ["illness", "job"]
    assert "for every outcome of the hidden ids and coins" in guarantee["claim"]
    assert any("1/3" in sentence for sentence in guarantee["does_not_cover"])
    assert set(manifest["files"]) == {"microdata.csv", "about.html"}


def test_nothing_internal_has_an_entry_for_each_row_or_group(made: Path) -> None:
    evidence = json.loads((made / "internal" / "evidence.json").read_text())

    def longest(value: object) -> int:
        if isinstance(value, dict):
            return max([len(value), *map(longest, value.values())])
        if isinstance(value, list):
            return max([len(value), *map(longest, value)])
        return 0

    assert longest(evidence) < 402 // 3
    assert evidence["result"]["value_counts"]["job"]["smith"] > 0
    text = (made / "internal" / "report.html").read_text() + json.dumps(evidence)
    assert "zq0" not in text


def test_the_release_verifies_with_and_without_its_source(
    context: AppContext, folder: Path, made: Path
) -> None:
    alone = verified(context, made)
    assert alone.ok
    natures = [c for c in alone.claims if c.status is CheckStatus.NOT_CHECKABLE]
    assert [claim.claim for claim in natures] == ["ℓ′ = 3 for illness, job", RECORDED[1]]
    assert any(c.status is CheckStatus.NEEDS_SOURCE for c in alone.claims)
    settled = verified(context, made, folder / clinic.SOURCE)
    assert settled.ok
    assert not any(c.status is CheckStatus.NEEDS_SOURCE for c in settled.claims)


def test_the_public_part_alone_verifies(context: AppContext, made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "public", tmp_path / "public")
    assert verified(context, tmp_path / "public").ok


def forged(
    made: Path,
    target: Path,
    change: Callable[[Rows], Rows],
    result: dict[str, object] | None = None,
) -> Path:
    """A copy whose table was changed, and manifest, page and seal made to fit it."""
    shutil.copytree(made, target)
    lines, public = change(table(target)), target / "public"
    with (public / "microdata.csv").open("w", encoding="utf-8", newline="") as out:
        csv.writer(out, lineterminator="\n").writerows(lines)
    manifest = manifest_of(target)
    manifest["result"] = result or {"rows_removed": 1, "rows_out": len(lines) - 1}
    table_now = PublishedCsv(public / "microdata.csv", CancelToken())
    page = public_page(Manifest.from_json(manifest), LDiverted(), table_now, CancelToken())
    (public / "about.html").write_bytes(page)
    seal_again(target, manifest)
    with suppress(AssertionError):  # files that give no report are found out without one
        report_again(target, default_registry())
    seal_again(target, manifest)
    return target


def changed(row: int, column: int, value: str) -> Callable[[Rows], Rows]:
    def change(lines: Rows) -> Rows:
        lines[row][column] = value
        return lines

    return change


def test_words_of_other_texts_are_not_checked_even_with_the_source(
    context: AppContext, folder: Path, made: Path, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(made, tmp_path / "copy"))
    manifest: Any = manifest_of(copy)
    manifest["guarantee"]["claim"] = "In other words."
    del manifest["messages"]
    manifest["texts"]["sha256"] = "0" * 64
    seal_again(copy, manifest)
    for source in (None, folder / clinic.SOURCE):
        found = verified(context, copy, source)
        unchecked = [c.claim for c in found.claims if c.status is CheckStatus.NOT_CHECKED]
        assert found.ok
        figures = [RECORDED[0]] if source else []
        assert unchecked == [
            "the words of the guarantee", PAGES[0], TEXTS_CLAIM, *figures, *PAGES[1:],
        ]  # fmt: skip


def of_another(lines: Rows) -> list[str]:
    """A row unlike the last one, of which the source has no more: none of its kind was removed."""
    whole = Counter(row[1:3] for row in map(tuple, clinic.people()))
    shown = Counter((row[0], row[1]) for row in lines[1:])
    known = [row for row in lines[1:] if shown[row[0], row[1]] == whole[row[0], row[1]]]
    return next(row for row in known if row[:2] != lines[-1][:2])


FORGERIES: dict[str, tuple[Callable[[Rows], Rows], bool]] = {
    # what is done, and whether it always shows without the source: rows that are alone may change
    "a row too few": (lambda lines: lines[:-1], True),
    "a group too few": (lambda lines: lines[:-3], True),
    "a group twice": (lambda lines: [*lines, *lines[1:4]], True),
    "a value that no one has": (changed(5, 2, "plague"), True),
    "one value everywhere": (
        lambda lines: [lines[0], *([*row[:2], "gout", row[3]] for row in lines[1:])],
        True,
    ),
    "another age": (changed(7, 0, "99"), False),
    "a row of another person": (lambda lines: [*lines[:-1], of_another(lines)], False),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_tables_are_found_out(
    context: AppContext, folder: Path, made: Path, tmp_path: Path, name: str
) -> None:
    change, shows = FORGERIES[name]
    copy = forged(made, tmp_path / "copy", change)
    if shows:
        assert not verified(context, copy).ok
    assert not verified(context, copy, folder / clinic.SOURCE).ok


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("guarantee", "parameters", "l"), 2),
        (("guarantee", "parameters", "diverted"), ["illness"]),
        (("guarantee", "parameters", "sensitive"), ["illness"]),
        (("guarantee", "parameters", "insensitive"), ["age"]),
        (("guarantee", "claim"), "No one can learn anything."),
        (("guarantee", "does_not_cover"), []),
        (("guarantee", "model"), "k-anonymity"),
        (("parameters", "l"), 6),
        (("parameters", "sensitive"), ["job"]),
        (("parameters", "partition"), "smallest-first"),
        (("result", "rows_removed"), 2),
        (("result", "rows_removed"), 3),
        (("result", "rows_removed"), -1),
        (("result", "rows_out"), 405),
        (("result",), {}),
    ],
)
def test_forged_manifests_are_found_out(
    context: AppContext, made: Path, tmp_path: Path, path: tuple[str, ...], value: object
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(made, copy)
    manifest = manifest_of(copy)
    place = manifest
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    seal_again(copy, manifest)
    assert not verified(context, copy).ok


def moved_counts(evidence: dict[str, object]) -> None:
    """Two values of a job exchange their rows, which leaves all other figures as they are."""
    counts = evidence["result"]["value_counts"]["job"]
    one, other = "baker", "smith"
    assert counts[one] != counts[other]
    counts[one], counts[other] = counts[other], counts[one]


def smaller_belief(evidence: dict[str, object]) -> None:
    evidence["risk"]["beliefs"]["job"]["belief_after"] = 0.01


def larger_share(evidence: dict[str, object]) -> None:
    evidence["risk"]["beliefs"]["illness"]["belief_before_rarest"] = 0.3


def other_figure(evidence: dict[str, object]) -> None:
    evidence["figures"][0]["value"] = 0.01


def no_beliefs(evidence: dict[str, object]) -> None:
    evidence["risk"] = {}


@pytest.mark.parametrize(
    ("change", "shows"),
    [
        (smaller_belief, True),
        (larger_share, True),
        (other_figure, True),
        (no_beliefs, True),
        (moved_counts, False),
    ],
)
def test_forged_figures_for_the_reviewer_are_found_out(
    context: AppContext,
    folder: Path,
    made: Path,
    tmp_path: Path,
    change: Callable[[dict[str, object]], None],
    shows: bool,
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(made, copy)
    path = copy / "internal" / "evidence.json"
    evidence = json.loads(path.read_text("utf-8"))
    change(evidence)
    path.write_text(json.dumps(evidence), encoding="utf-8")
    seal_again(copy, manifest_of(copy))
    if shows:
        assert not verified(context, copy).ok
    assert not verified(context, copy, folder / clinic.SOURCE).ok


def test_a_value_that_is_too_frequent_is_refused_with_its_remedies(
    context: AppContext, folder: Path, tmp_path: Path
) -> None:
    plan = clinic.write_plan(folder, 'l = 7\nsensitive = ["illness"]')
    with pytest.raises(RefusedError) as caught:
        clinic.release(plan, tmp_path / "never", context)
    counts = Counter(row[3] for row in clinic.people())
    details, largest = caught.value.details, 403 // max(counts.values())
    assert caught.value.code == "diverted.not-eligible"
    assert details["largest_l"] == largest
    assert f"set l to {largest} or less" in caught.value.hint
    assert details["values"] == {v: n for v, n in counts.items() if n > 403 // 7}
    assert not (tmp_path / "never").exists()
    works = clinic.write_plan(folder, f'l = {largest}\nsensitive = ["illness"]')
    assert (
        clinic.release(works, tmp_path / "works", context).result["rows_removed"] == 403 % largest
    )


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ('l = 3\nsensitive = ["ilness"]', "there is no column `ilness`"),
        ('l = 3\nsensitive = ["zq_number"]', "role identifier, expected sensitive"),
        ('l = 3\nsensitive = ["job", "job"]', "named twice"),
        ("l = 3", "no column is sensitive"),
        ('l = 1\nsensitive = ["job"]', "`l` is 1"),
        ('sensitive = ["job"]', "key `l` is missing"),
        ('l = 3\nsensitive = ["job"]\nlevels = { job = 1 }', "has no hierarchy"),
        ('l = 3\nsensitive = ["job"]\nlevels = { age = 1 }', "not a column whose values are drawn"),
    ],
)
def test_plans_that_say_something_wrong_are_refused_in_words(
    context: AppContext, folder: Path, tmp_path: Path, lines: str, said: str
) -> None:
    plan = clinic.write_plan(folder, lines)
    with pytest.raises(InputError) as caught:
        clinic.release(plan, tmp_path / "never", context)
    assert said in caught.value.sentence


def test_the_role_sensitive_is_enough_and_others_are_told_of(
    context: AppContext, folder: Path, tmp_path: Path
) -> None:
    roles = 'illness = { role = "sensitive" }\njob = { role = "sensitive" }'
    plan = clinic.write_plan(folder, "l = 3", roles)
    out = clinic.release(plan, tmp_path / "both", context).out
    assert manifest_of(out)["guarantee"]["parameters"]["diverted"] == ["illness", "job"]
    plan = clinic.write_plan(folder, 'l = 3\nsensitive = ["job"]', roles)
    out = clinic.release(plan, tmp_path / "one", context).out
    assert verified(context, out, folder / clinic.SOURCE).ok
    limits = manifest_of(out)["guarantee"]["does_not_cover"]
    assert any("illness: sensitive by role, but not drawn" in sentence for sentence in limits)
    evidence = json.loads((out / "internal" / "evidence.json").read_text())
    assert any("illness: sensitive by role" in note for note in evidence["notes"])


def test_a_sensitive_column_can_be_released_at_a_level_of_its_hierarchy(
    context: AppContext, folder: Path, tmp_path: Path
) -> None:
    kinds = {"none": "healthy", "": "unknown"}
    lines = [
        f'"{v.replace(chr(34), chr(34) * 2)}";{kinds.get(v, "ill")};*' for v in clinic.ILLNESSES
    ]
    (folder / "illness.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    plan = clinic.write_plan(
        folder,
        'l = 2\nsensitive = ["illness"]\npartition = "largest-first"\nlevels = { illness = 0 }',
        'illness = { hierarchy = "illness.csv" }',
    )
    assert clinic.release(plan, tmp_path / "raw", context).result["rows_out"] == 402
    plan.write_text(plan.read_text().replace("illness = 0", "illness = 1"))
    with pytest.raises(RefusedError, match="`ill` has"):
        clinic.release(plan, tmp_path / "merged", context)


def test_risk_and_export_work_on_it(
    context: AppContext, folder: Path, made: Path, tmp_path: Path
) -> None:
    risk = assess(context, made, CancelToken(), silent)
    assert risk.risk["beliefs"]["job"]["belief_after"] == pytest.approx(1 / 3)
    planned = assess(context, clinic.write_plan(folder), CancelToken(), silent)
    assert planned.risk == risk.risk
    out = export_release(
        made, "csv", tmp_path / "out.csv", context.workspace, CancelToken(), silent
    )
    assert out.read_bytes() == (made / "public" / "microdata.csv").read_bytes()


K_PLAN = 'l = 3\nsensitive = ["illness"]\nk = 4\nmax_suppression = 0.1'
K_ROLES = (
    'age = { role = "quasi-identifier", hierarchy = { kind = "intervals", widths = [10, 20] } }\n'
    'town = { role = "quasi-identifier" }'
)


def test_k_and_drawn_values_go_together_in_one_plan(
    context: AppContext, folder: Path, tmp_path: Path
) -> None:
    plan = clinic.write_plan(folder, K_PLAN, K_ROLES)
    out = clinic.release(plan, tmp_path / "both", context).out
    _, *rows = table(out)
    assert min(Counter((row[0], row[1]) for row in rows).values()) >= 4
    assert len(rows) % 3 == 0
    assert verified(context, out).ok
    settled = verified(context, out, folder / clinic.SOURCE)
    assert settled.ok
    assert not any(c.status is CheckStatus.NEEDS_SOURCE for c in settled.claims)
    result = manifest_of(out)["result"]
    assert set(result) == {"node", "rows_suppressed", "rows_removed", "rows_out"}
    assert sum(result[key] for key in result if key.startswith("rows")) == 403
    report = (out / "internal" / "report.html").read_text()
    assert "age: level" in report
    lonely = ["90-99", "town 9", rows[0][2], rows[0][3]]
    copy = forged(out, tmp_path / "copy", lambda lines: [*lines[:-1], lonely], result)
    failures = [failure.reason for failure in verified(context, copy).failures]
    assert any("k = 4 over age, town" in reason for reason in failures)


def dpdesk(*words: str | Path, home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dpdesk", *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "DPDESK_HOME": str(home)},
    )


def test_the_command_line_runs_verifies_and_refuses(folder: Path, tmp_path: Path) -> None:
    home, plan, out = tmp_path / "home", clinic.write_plan(folder), tmp_path / "out"
    done = dpdesk("run", plan, "--out", out, "--json", home=home)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["method"] == "l-diverted"
    assert said["result"] == {"rows_removed": 1, "rows_out": 402}
    checked = dpdesk("verify", out, "--source", folder / clinic.SOURCE, "--json", home=home)
    assert json.loads(checked.stdout.splitlines()[-1])["ok"] is True
    too_much = clinic.write_plan(folder, 'l = 5\nsensitive = ["town"]')
    refused = dpdesk("run", too_much, "--out", tmp_path / "never", home=home)
    assert refused.returncode == 1
    last = refused.stderr.splitlines()[-1]
    assert last.startswith(f"{clinic.SOURCE}: `town` cannot be divided into groups of 5")
    assert "set l to" in last.lower()
    assert not (tmp_path / "never").exists()
    assert not list((home / "work").glob("*-*"))
