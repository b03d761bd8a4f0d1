"""``dpdesk query`` on real releases, from their files alone."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpdesk.app import verifying
from dpdesk.app.browsing import open_cube
from dpdesk.app.context import AppContext
from dpdesk.app.demo import sample_folder
from dpdesk.app.private.checking import public_page
from dpdesk.app.running import run_plan
from dpdesk.app.verifying import verify_release
from dpdesk.cli.main import main
from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.release import Manifest, VerifyReport
from tests.helpers.forging import manifest_of, seal_again
from tests.helpers.releases import release, write_source

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def rows_release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A k-anonymous release."""
    folder = tmp_path_factory.mktemp("rows")
    plan = write_source(folder / "data")
    with AppContext.open(folder / "home") as context:
        return release(plan, folder / "release", context).out


@pytest.fixture(scope="module")
def sample_cube(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cube that the bundled sample's plan makes."""
    folder = tmp_path_factory.mktemp("cube")
    with AppContext.open(folder / "home") as context, sample_folder() as sample:
        plan = sample / "plans" / "private-tables.toml"
        run_plan(context, plan, folder / "release", CancelToken(), silent)
    return folder / "release"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.setenv("DPDESK_HOME", str(tmp_path / "home"))

    def call(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main([str(each) for each in arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def answered(run: Run, *arguments: object) -> dict[str, Any]:
    code, out, err = run("query", *arguments, "--json")
    assert code == 0, err
    found: dict[str, Any] = json.loads(out.splitlines()[-1])
    return found


def one_more(release: Path) -> Path:
    """The same cube with one more person in its total, and all hashes made again."""
    total = release / "public/cuboids/0.csv"
    head, value = total.read_text("utf-8").splitlines()
    total.write_text(f"{head}\n{float(value) + 1!r}\n", "utf-8")
    seal_again(release, manifest_of(release))
    return release


def test_a_release_whose_files_refute_it_answers_nothing_though_its_hashes_were_made_again(
    run: Run, sample_cube: Path, tmp_path: Path
) -> None:
    forged = one_more(Path(shutil.copytree(sample_cube, tmp_path / "forged")))
    for part in (forged, forged / "public"):
        code, out, err = run("query", part)
        assert (code, out) == (1, "")
        last = err.splitlines()[-1]
        assert "fails verification" in last
        assert "cuboids/0.csv" in last
    assert run("query", sample_cube, "--with", forged)[0] == 1
    with AppContext.open(tmp_path / "own") as context:
        for ways in range(2):  # nor is it remembered as checked
            with pytest.raises(RefusedError) as caught:
                open_cube(context, forged, CancelToken(), silent)
            assert caught.value.code == "release.not-verified", ways


def test_answers_say_that_words_were_not_compared(
    run: Run, sample_cube: Path, tmp_path: Path
) -> None:
    assert not [
        text for text in answered(run, sample_cube)["warnings"] if "were not compared" in text
    ]
    forged = Path(shutil.copytree(sample_cube, tmp_path / "forged"))
    said: dict[str, Any] = manifest_of(forged)
    said["texts"]["sha256"] = "0" * 64
    said["guarantee"]["claim"] = "All is safe."
    del said["messages"]
    seal_again(forged, said)
    assert any("not compared" in text for text in answered(run, forged)["warnings"])
    with AppContext.open(tmp_path / "own") as context:
        cube = open_cube(context, forged / "public", CancelToken(), silent)
    assert any("not compared" in text for text in cube.cautions)


def test_a_release_is_checked_once_for_all_its_questions(
    sample_cube: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[Path] = []

    def counted(path: Path, *rest: Any, **keys: Any) -> VerifyReport:
        checked.append(path)
        return verify_release(path, *rest, **keys)

    monkeypatch.setattr(verifying, "verify_release", counted)
    copy = Path(shutil.copytree(sample_cube, tmp_path / "copy"))
    with AppContext.open(tmp_path / "own") as context:
        for folder in (sample_cube, copy, copy / "public"):
            open_cube(context, folder, CancelToken(), silent)
        assert checked == [sample_cube / "public"]
        with pytest.raises(RefusedError):
            open_cube(context, one_more(copy), CancelToken(), silent)


def test_rows_are_counted_as_the_file_has_them(run: Run, rows_release: Path) -> None:
    with (rows_release / "public" / "microdata.csv").open(encoding="utf-8", newline="") as file:
        counted = Counter(row["illness"] for row in csv.DictReader(file))
    found = answered(run, rows_release, "--by", "illness")
    assert {row["labels"]["illness"]: row["value"] for row in found["rows"]} == counted
    public = answered(run, rows_release / "public", "--by", "illness")
    assert public["rows"] == found["rows"]
    assert found["method"] == "k-anonymity"
    assert found["tables"] == ["microdata.csv"]


def test_a_pivot_as_csv_has_margins(run: Run, rows_release: Path) -> None:
    code, out, _ = run("query", rows_release, "--by", "town,illness", "--pivot", "illness", "--csv")
    table = list(csv.reader(io.StringIO(out)))
    assert code == 0
    assert table[0][0] == "town"
    assert table[0][-3:] == ["ALL", "ALL low", "ALL high"]
    assert table[-1][0] == "ALL"
    assert len({len(line) for line in table}) == 1


def test_without_a_question_it_tells_what_can_be_asked(run: Run, rows_release: Path) -> None:
    code, out, _ = run("query", rows_release)
    assert code == 0
    assert "Columns to ask for:" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--by", "tonw"), "did you mean `town`?"),
        (("--where", "age"), "cannot be read"),
        (("--where", "illness=plague"), "no category `plague`"),
        (("--by", "town", "--pivot", "age"), "names no column of --by"),
        (("--measure", "income"), "no measure"),
        (("--margins",), "--by names no column"),
        (("--margins", "--pivot", "town"), "--by names no column"),
    ],
)
def test_what_makes_no_sense_is_told_in_one_sentence(
    arguments: tuple[str, ...], words: str, run: Run, rows_release: Path
) -> None:
    code, out, err = run("query", rows_release, *arguments)
    assert code == 2
    assert out == ""
    assert words in err.splitlines()[-1]


def test_a_changed_release_answers_nothing(run: Run, rows_release: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(rows_release, tmp_path / "copy"))
    with (copy / "public" / "microdata.csv").open("a", encoding="utf-8") as file:
        file.write("20-24,Zqnorthby,none\n")
    code, out, err = run("query", copy, "--by", "town")
    assert code == 1
    assert out == ""
    assert "microdata.csv: was changed" in err.splitlines()[-1]
    code, _, err = run("query", tmp_path / "nowhere")
    assert code == 2
    assert "does not exist" in err.splitlines()[-1]


def cuboid(release: Path, name: str) -> list[dict[str, str]]:
    with (release / "public" / "cuboids" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_cube_answers_with_its_own_cells_and_their_error(run: Run, sample_cube: Path) -> None:
    found = answered(run, sample_cube / "public", "--by", "sex,age")
    table = {
        (row["sex"], row["age"]): float(row["value"])
        for row in cuboid(sample_cube, "2-age-sex.csv")
    }
    assert found["tables"] == ["cuboids/2-age-sex.csv"]
    for row in found["rows"]:
        assert row["value"] == table[row["labels"]["sex"], row["labels"]["age"]]
        assert row["low"] < row["value"] - row["standard_error"] < row["value"] < row["high"]
    manifest = json.loads((sample_cube / "public" / "manifest.json").read_text("utf-8"))
    stated = next(
        item["variance"]
        for item in manifest["result"]["cuboids"]
        if item["dimensions"] == ["age", "sex"]
    )
    assert found["rows"][0]["standard_error"] ** 2 == pytest.approx(stated)


def test_slices_dices_and_margins_add_up(run: Run, sample_cube: Path) -> None:
    health = ("--where", "health!=not stated", "--where", "age>=20", "--where", "age<60")
    whole = answered(run, sample_cube, *health)["rows"][0]
    parts = answered(run, sample_cube, *health, "--by", "district,sex", "--margins")["rows"]
    inner = [row for row in parts if None not in row["labels"].values()]
    (total,) = [row for row in parts if set(row["labels"].values()) == {None}]
    assert sum(row["value"] for row in inner) == pytest.approx(whole["value"])
    for key in ("value", "standard_error", "low", "high"):
        assert total[key] == pytest.approx(whole[key])
    assert len(parts) == 10 * 3


def test_a_roll_up_joins_labels(run: Run, sample_cube: Path) -> None:
    fine = answered(run, sample_cube, "--by", "age")["rows"]
    coarse = answered(run, sample_cube, "--by", "age", "--level", "age=1")["rows"]
    assert [row["labels"]["age"] for row in coarse] == ["0-39", "40-79", "80+"]
    assert coarse[0]["value"] == pytest.approx(fine[0]["value"] + fine[1]["value"])


def test_a_condition_between_categories_is_refused(run: Run, sample_cube: Path) -> None:
    code, _, err = run("query", sample_cube, "--where", "age>=33")
    assert code == 2
    assert "cuts through the category `20-39`" in err.splitlines()[-1]


def test_declared_hierarchies_are_rolled_up(run: Run, sample_cube: Path) -> None:
    fine = answered(run, sample_cube, "--by", "district")["rows"]
    coarse = answered(run, sample_cube, "--by", "district", "--level", "district=1")["rows"]
    assert len(coarse) < len(fine)
    assert "Coast" in [row["labels"]["district"] for row in coarse]
    inside = answered(run, sample_cube, "--where", "district=Coast", "--by", "district")["rows"]
    (coast,) = [row for row in coarse if row["labels"]["district"] == "Coast"]
    assert sum(row["value"] for row in inside) == pytest.approx(coast["value"])


def test_levels_that_nobody_declared_are_found(sample_cube: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(sample_cube, tmp_path / "forged"))
    said = manifest_of(folder)
    (level,) = said["result"]["rollups"]["district"]
    level[0], level[-1] = level[-1], level[0]
    with AppContext.open(tmp_path / "home") as context:
        (folder / "public/about.html").write_bytes(
            public_page(Manifest.from_json(said), context.registry.get("dp-cube", "the test"))
        )
        seal_again(folder, said)
        found = verify_release(folder, context.registry, CancelToken(), silent)
    assert len(found.failures) == 1
    assert "levels to roll up to" in found.failures[0].reason
