"""Tables of a sample, and of swapped households: counted by hand, verified, forged."""

from __future__ import annotations

import csv
import random
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.running import run_plan
from dpdesk.app.verifying import verify_release
from dpdesk.core.errors import InputError, StorageError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.release import CheckStatus
from dpdesk.core.tabulation import RowEdit
from dpdesk.io.canonical import canonical_json, read_canonical
from dpdesk.io.release_folder import seal_bytes

pytestmark = pytest.mark.cheap_prints

HEAD = 'version = 1\n[source]\npath = "people.csv"\n[attributes.home]\nrole = "cluster"\n'
TABLE = '[protection]\nmethod = "table"\nrows = ["region"]\ncolumns = ["job"]\n'
SWAP = 'swap = { columns = ["region"], match = ["sex"], share = 0.3 }\n'
BOTH = f'{TABLE}{SWAP}sample = 0.4\nrule = [{{ rule = "threshold", n = 3 }}]\n'


@pytest.fixture(scope="module")
def context(module_home: Path) -> Iterator[AppContext]:
    with AppContext.open(module_home) as opened:
        yield opened


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    draw, made = random.Random(5), tmp_path_factory.mktemp("people")
    with (made / "people.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["home", "region", "sex", "job", "income", "odd"])
        for home in range(150):
            region = draw.choice(["n", "s", "w"])
            for _ in range(draw.choice([1, 2, 2, 3])):
                writer.writerow(
                    [
                        f"h{home}",
                        region,
                        draw.choice("fm"),
                        draw.choice("abc"),
                        draw.randrange(900),
                        draw.random(),
                    ]
                )
    return made


def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "people.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def plan(folder: Path, name: str, protection: str, head: str = HEAD) -> Path:
    path = folder / f"{name}.toml"
    path.write_text(head + protection, "utf-8")
    return path


def release(context: AppContext, folder: Path, name: str, protection: str) -> Path:
    shutil.rmtree(folder / name, ignore_errors=True)
    path = plan(folder, name, protection)
    return run_plan(context, path, folder / name, CancelToken(), silent).out


def faults(context: AppContext, made: Path, source: Path | None = None) -> set[str]:
    report = verify_release(
        made, context.registry, CancelToken(), silent, source, context.workspace
    )
    found = {claim.claim for claim in report.claims if claim.status is CheckStatus.FAILED}
    assert report.ok or found or report.failures
    return found | {failure.reason for failure in report.failures}


def edit_of(made: Path) -> RowEdit:
    evidence = read_canonical(made / "internal/evidence.json")
    return RowEdit.from_json(evidence["edits"])  # type: ignore[arg-type]


def counted(people: list[dict[str, str]], edit: RowEdit) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for place, (row, kept) in enumerate(zip(people, edit.kept.tolist(), strict=True)):
        if kept:
            region = people[edit.taken[place]]["region"]
            for one in (region, "Total"):
                for other in (row["job"], "Total"):
                    found[one, other] += 1
    return found


def cells(path: Path) -> dict[tuple[str, str], str]:
    with path.open(encoding="utf-8", newline="") as stream:
        return {(row["region"], row["job"]): row["value"] for row in csv.DictReader(stream)}


def test_the_table_counts_the_sample_with_the_places_after_the_swap(
    context: AppContext, folder: Path
) -> None:
    made = release(context, folder, "both", BOTH)
    people, edit = rows(folder), edit_of(made)
    found = counted(people, edit)
    inside = cells(made / "internal/table.csv")
    assert {place: int(value) for place, value in inside.items()} == {
        place: found[place] for place in inside
    }
    assert all(
        value in ("", inside[place]) for place, value in cells(made / "public/table.csv").items()
    )
    assert 0 < edit.kept.sum() < len(people)
    assert (edit.taken != np.arange(len(people))).any()
    assert counted(people, RowEdit(edit.kept, np.arange(len(people)))) != found
    guarantee = read_canonical(made / "public/manifest.json")["guarantee"]
    assert {"sample": 0.4, "swapped": ["region"]}.items() <= guarantee["parameters"].items()  # type: ignore[index]
    assert "0.3" not in (made / "public/manifest.json").read_text("utf-8")
    for source in (None, folder / "people.csv"):
        assert not faults(context, made, source)


def test_the_same_people_are_sampled_and_swapped_every_time(
    context: AppContext, folder: Path
) -> None:
    one = edit_of(release(context, folder, "one", BOTH))
    other = edit_of(release(context, folder, "other", f'{BOTH}protect = "none"\n'))
    assert one.as_json() == other.as_json()
    wider = edit_of(release(context, folder, "wider", BOTH.replace("0.4", "0.6")))
    assert not (one.kept & ~wider.kept).any()


@pytest.mark.parametrize(
    "more",
    [
        'protect = "none"\n',
        'protect = "random-round"\nbase = 3\n',
        'protect = "controlled-round"\nbase = 3\n',
        'protect = "adjust"\n',
        'measure = { sum = "income" }\n',
        'measure = { mean = "income" }\n',
    ],
)
def test_every_protection_goes_with_them(context: AppContext, folder: Path, more: str) -> None:
    made = release(context, folder, "way", f"{BOTH}{more}")
    assert not faults(context, made, folder / "people.csv")


def test_cell_keys_go_with_a_swap_and_not_with_a_sample(context: AppContext, folder: Path) -> None:
    keyed = f'{TABLE}{SWAP}protect = "cell-key"\n'
    assert not faults(context, release(context, folder, "keyed", keyed), folder / "people.csv")
    with pytest.raises(InputError, match="go with no `sample`"):
        release(context, folder, "keyed", f"{keyed}sample = 0.5\n")


def test_several_tables_count_the_same_rows(context: AppContext, folder: Path) -> None:
    several = (
        '[protection]\nmethod = "table"\ntables = [\n{ name = "a", rows = ["region"], columns = '
        f'["job"] }},\n{{ name = "b", rows = ["region"] }}]\n{SWAP}sample = 0.4\n'
        'rule = [{ rule = "threshold", n = 3 }]\n'
    )
    assert not faults(context, release(context, folder, "several", several), folder / "people.csv")


def forged(made: Path, copy: Path, edit: Mapping[str, object]) -> Path:
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(made, copy)
    evidence = dict(read_canonical(copy / "internal/evidence.json"))
    evidence["edits"] = {**evidence["edits"], **edit}  # type: ignore[dict-item]
    (copy / "internal/evidence.json").write_bytes(canonical_json(evidence))
    (copy / "internal/seal.json").write_bytes(seal_bytes(copy, CancelToken()))
    return copy


def test_other_rows_than_those_of_the_plan_are_found(context: AppContext, folder: Path) -> None:
    made, source = release(context, folder, "true", BOTH), folder / "people.csv"
    edit, claim = edit_of(made), "rows that were sampled and swapped"
    moved = np.flatnonzero(edit.taken != np.arange(len(edit.taken)))
    everybody, wrong = edit.as_json() | {"kept": ""}, edit.taken.copy()
    wrong[moved[0]] = moved[0]
    fewer = edit.taken.copy()
    gone = np.isin(edit.taken, [edit.taken[moved[0]]]) | (np.arange(len(fewer)) == moved[0])
    fewer[gone] = np.flatnonzero(gone)
    half = edit.kept.copy()
    people = rows(folder)
    double = next(n for n, row in enumerate(people) if row["home"] == people[n + 1]["home"])
    half[double] = not half[double]
    for each in (
        everybody,
        RowEdit(edit.kept, wrong, edit.columns).as_json(),
        RowEdit(edit.kept, fewer, edit.columns).as_json(),
        RowEdit(half, edit.taken, edit.columns).as_json(),
        RowEdit(edit.kept, edit.taken, ("sex",)).as_json(),
        RowEdit(edit.kept, np.arange(len(edit.taken)), ("region",)).as_json(),
    ):
        assert claim in faults(context, forged(made, folder / "forged", each), source)
    # Another sample of the right size is not the one that was counted.
    kept = edit.kept.copy()
    homes = [row["home"] for row in people]
    inside = next(n for n in range(len(kept)) if kept[n])
    outside = next(n for n in range(len(kept)) if not kept[n])
    for place, home in enumerate(homes):
        if home in (homes[inside], homes[outside]):
            kept[place] = home == homes[outside]
    other = RowEdit(kept, edit.taken, edit.columns).as_json()
    assert faults(context, forged(made, folder / "forged", other), source)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("sample = 0\n", "nobody would count"),
        ('swap = { columns = ["sex"], match = ["sex"], share = 0.1 }\n', "by which it matches"),
        ('swap = { columns = ["odd"], share = 0.1 }\n', "would change no table"),
        ('swap = { columns = ["nowhere", "region"], share = 0.1 }\n', "no column `nowhere`"),
        (
            'swap = { columns = ["region", "sex"], match = ["odd"], share = 0.1 }\n',
            "in another place",
        ),
        ("swap = { share = 0.1 }\n", "swap"),
        (
            'swap = { columns = ["region"], match = ["job"], share = 0.1 }\n',
            "would change no table",
        ),
    ],
)
def test_what_cannot_be_done_is_refused(
    context: AppContext, folder: Path, more: str, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        release(context, folder, "wrong", f"{TABLE}{more}")


def test_lost_keys_refuse(context: AppContext, folder: Path, module_home: Path) -> None:
    release(context, folder, "kept", BOTH)
    kept = sorted((module_home / "roundings").glob("*.json"))
    for path in kept:
        path.rename(path.with_suffix(".gone"))
    try:
        with pytest.raises(StorageError, match="is missing"):
            release(context, folder, "again", BOTH)
    finally:
        for path in kept:
            path.with_suffix(".gone").rename(path)
