"""The command line as people run it: a process, its exit code, what it says, what it leaves."""

from __future__ import annotations

import hashlib
import io
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from dpdesk.app.texts import stated_texts
from dpdesk.cli.main import main
from tests.helpers.forging import canonical, manifest_of, seal_again
from tests.helpers.waiting import PATIENCE_SECONDS

ROWS = [("34", "f", "flu"), ("34", "f", "flu"), ("36", "m", "cold"), ("36", "m", "flu")] * 5
AGE = "34;30-39;*\n36;30-39;*\n"
PLAN = """\
version = 1
title = "A small table"

[source]
path = "people.csv"

[attributes.name]
role = "identifier"

[attributes.age]
role = "quasi-identifier"
hierarchy = "age.csv"

[attributes.sex]
role = "quasi-identifier"

[attributes.illness]
role = "sensitive"

[protection]
method = "k-anonymity"
k = 5
"""


class Desk:
    """A folder with data, a plan and a hierarchy, and a way to run commands in it."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder = folder
        self.home = home
        lines = ["name,age,sex,illness"]
        lines += [f"person {number},{','.join(row)}" for number, row in enumerate(ROWS)]
        self.write("people.csv", "\n".join(lines) + "\n")
        self.write("age.csv", AGE)
        self.write("plan.toml", PLAN)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def environment(self) -> dict[str, str]:
        return {**os.environ, "DPDESK_HOME": str(self.home), "PYTHONWARNINGS": "error"}

    def run(
        self, *arguments: str | Path, prepare: Callable[[], None] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command(arguments),
            cwd=self.folder,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            preexec_fn=prepare,
        )

    def here(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        """Run in this process: faster, with the same promises but for signals and streams."""
        out, err = io.StringIO(), io.StringIO()
        with chdir(self.folder), redirect_stdout(out), redirect_stderr(err):
            code = main([str(argument) for argument in arguments])
        return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())

    def refuses(self, code: int, *arguments: str | Path) -> str:
        """Run what must fail with ``code``, leaving everything as it was; the last line."""
        before = everything(self.folder)
        done = self.here(*arguments)
        assert done.returncode == code, done.stderr
        assert everything(self.folder) == before
        assert remains(self.home) == []
        assert "Traceback" not in done.stderr
        return done.stderr.splitlines()[-1]


def command(arguments: Sequence[str | Path]) -> list[str]:
    return [sys.executable, "-m", "dpdesk", *map(str, arguments)]


def everything(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def remains(home: Path) -> list[str]:
    """Private folders that a process left in the home folder."""
    return [path.name for path in (home / "work").glob("*") if path.is_dir()]


@pytest.fixture
def desk(tmp_path: Path, private_home: Path) -> Desk:
    folder = tmp_path / "desk"
    folder.mkdir()
    return Desk(folder, private_home)


def test_a_plan_becomes_a_release_that_verifies_and_can_be_exported(desk: Desk) -> None:
    done = desk.here("run", "plan.toml", "--out", "release", "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert set(said) == {"out", "method", "guarantee", "result"}
    assert said["method"] == "k-anonymity"
    assert said["result"]["smallest_class"] >= 5
    table = (desk.folder / "release" / "public" / "microdata.csv").read_text().splitlines()
    assert table[0] == "age,sex,illness"
    assert len(table) == 21

    verified = desk.here("verify", "release", "--json")
    assert verified.returncode == 0, verified.stderr
    report = json.loads(verified.stdout.splitlines()[-1])
    assert report["ok"] is True
    assert report["failures"] == []
    assert report["claims"]

    exported = desk.here("export", "release", "--format", "csv", "--out", "copy.csv")
    assert exported.returncode == 0, exported.stderr
    assert (desk.folder / "copy.csv").exists()
    assert "Note: A CSV file holds only values" in exported.stderr
    assert remains(desk.home) == []


def test_a_run_says_the_guarantee_to_people(desk: Desk) -> None:
    done = desk.run("run", "plan.toml", "--out", "release")
    assert done.returncode == 0, done.stderr
    assert "Assumes:" in done.stdout
    assert "Does not cover:" in done.stdout
    assert "\x1b" not in done.stderr
    assert "`sex` has no hierarchy" in done.stderr


def test_a_changed_table_fails_verification_with_its_path(desk: Desk) -> None:
    assert desk.here("run", "plan.toml", "--out", "release").returncode == 0
    table = desk.folder / "release" / "public" / "microdata.csv"
    table.write_text(table.read_text().replace("flu", "FLU", 1))
    line = desk.refuses(1, "verify", "release")
    assert "public/microdata.csv" in line
    done = desk.here("verify", "release", "--json")
    report = json.loads(done.stdout.splitlines()[-1])
    assert report["ok"] is False
    assert "public/microdata.csv" in [failure["path"] for failure in report["failures"]]


def test_a_page_of_other_texts_is_not_checked_and_the_exit_code_is_that_of_the_rest(
    desk: Desk,
) -> None:
    assert desk.here("run", "plan.toml", "--out", "release").returncode == 0
    release = desk.folder / "release"
    about = release / "public/about.html"
    about.write_text(about.read_text("utf-8").replace("</p>", " in other words</p>", 1), "utf-8")
    said = manifest_of(release) | {"texts": {"language": "en", "sha256": "0" * 64}}
    seal_again(release, said)
    done = desk.here("verify", "release")
    assert done.returncode == 0, done.stderr
    assert "[not checked] about.html says what the manifest and the table say" in done.stdout
    assert done.stdout.endswith("Verified, but for what is marked as not checked.\n")
    report = json.loads(desk.here("verify", "release", "--json").stdout.splitlines()[-1])
    assert {each["path"] for each in report["claims"] if each["status"] == "not checked"} == {
        "about.html",
        "manifest.json",
        "internal/report.html",
        "internal/report.pdf",
    }
    seal_again(release, said | {"texts": stated_texts("en").as_json()})
    assert "public/about.html" in desk.refuses(1, "verify", "release")


def test_verifying_what_is_not_there_is_bad_usage(desk: Desk) -> None:
    assert "nowhere" in desk.refuses(2, "verify", "nowhere")


def test_inspect_profiles_every_column(desk: Desk) -> None:
    done = desk.here("inspect", "people.csv", "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["rows"] == 20
    columns = {column["name"]: column for column in said["columns"]}
    assert list(columns) == ["name", "age", "sex", "illness"]
    assert columns["name"]["unique_share"] == 1.0
    assert columns["name"]["suggestion"]["role"] == "identifier"
    assert columns["age"]["type"] == "integer"
    assert columns["sex"]["distinct"] == 2
    text = desk.here("inspect", "people.csv").stdout
    assert "20 rows, 4 columns" in text


def test_risk_of_a_plan_tells_before_and_after_and_writes_nothing(desk: Desk) -> None:
    before = everything(desk.folder)
    done = desk.here("risk", "plan.toml", "--json")
    assert done.returncode == 0, done.stderr
    risk = json.loads(done.stdout.splitlines()[-1])["risk"]
    assert risk["before"]["smallest_class"] == 10
    assert risk["after"]["smallest_class"] >= 5
    assert everything(desk.folder) == before


def test_risk_of_a_public_part_alone_is_counted_from_its_table(desk: Desk) -> None:
    assert desk.here("run", "plan.toml", "--out", "release").returncode == 0
    shutil.rmtree(desk.folder / "release" / "internal")
    done = desk.here("risk", "release/public", "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["risk"] == {}
    assert said["counted"]["rows"] == 20
    assert said["counted"]["highest_risk"] == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("old", "new", "code", "words"),
    [
        ("attributes.sex", "attributes.sexx", 2, ["plan.toml", "`sexx`", "did you mean `sex`?"]),
        ("k = 5", "k = 21", 1, ["21", "20"]),
        ("k = 5", "k = 1", 2, ["plan.toml", "`k`", "1", "2 or more"]),
        ("k = 5", "kk = 5", 2, ["plan.toml", "[protection]", "`kk`", "did you mean `k`?"]),
        ("k = 5", "", 2, ["plan.toml", "[protection]", "`k`", "missing"]),
        ('"k-anonymity"', '"k-anonimity"', 2, ["plan.toml", "did you mean `k-anonymity`?"]),
        ('"sensitive"', '"sensitve"', 2, ["plan.toml", "illness", "did you mean `sensitive`?"]),
        ("[source]", "[sorce]", 2, ["plan.toml", "`sorce`", "did you mean `source`?"]),
        ('"people.csv"', '"peple.csv"', 2, ["peple.csv", "no such file"]),
        ('"age.csv"', '"ages.csv"', 2, ["ages.csv"]),
        ("version = 1", "version = 1\nversion = 1", 2, ["plan.toml", "line 2"]),
    ],
)
def test_a_wrong_plan_is_one_clear_line_and_leaves_nothing(
    desk: Desk, old: str, new: str, code: int, words: list[str]
) -> None:
    desk.write("plan.toml", PLAN.replace(old, new, 1))
    line = desk.refuses(code, "run", "plan.toml", "--out", "release")
    assert [word for word in words if word not in line] == []


def test_a_missing_hierarchy_leaf_is_named(desk: Desk) -> None:
    desk.write("age.csv", "34;30-39;*\n")
    line = desk.refuses(2, "run", "plan.toml", "--out", "release")
    assert "age" in line
    assert "`36`" in line


def test_a_broken_hierarchy_is_named_with_its_row(desk: Desk) -> None:
    desk.write("age.csv", "34;30-39;*\n36;30-39;*\n36;30-39;*\n")
    line = desk.refuses(2, "run", "plan.toml", "--out", "release")
    assert "age.csv" in line
    assert "row 3" in line


def test_a_ragged_row_is_named_with_its_line(desk: Desk) -> None:
    with (desk.folder / "people.csv").open("a") as file:
        file.write("person 20,40,f\n")
    line = desk.refuses(2, "run", "plan.toml", "--out", "release")
    assert "people.csv" in line
    assert "22" in line


def test_a_plan_that_is_no_text_is_one_line(desk: Desk) -> None:
    (desk.folder / "plan.toml").write_bytes(b"\xff\xfe\x00\x01")
    assert "plan.toml" in desk.refuses(2, "run", "plan.toml", "--out", "release")


@pytest.mark.skipif(os.geteuid() == 0, reason="the administrator may read everything")
def test_an_unreadable_file_is_named(desk: Desk) -> None:
    (desk.folder / "people.csv").chmod(0)
    assert "people.csv" in desk.refuses(2, "run", "plan.toml", "--out", "release")


def test_a_folder_in_place_of_the_data_is_named(desk: Desk) -> None:
    (desk.folder / "people.csv").unlink()
    (desk.folder / "people.csv").mkdir()
    assert "people.csv" in desk.refuses(2, "run", "plan.toml", "--out", "release")


def test_a_release_is_never_written_over_anything(desk: Desk) -> None:
    (desk.folder / "release").mkdir()
    desk.write("release/mine.txt", "mine")
    line = desk.refuses(2, "run", "plan.toml", "--out", "release")
    assert "mine.txt" in line


def test_a_disk_that_refuses_leaves_nothing(desk: Desk) -> None:
    def small_files() -> None:  # large enough for the audit log alone
        resource.setrlimit(resource.RLIMIT_FSIZE, (25_000, 25_000))

    before = everything(desk.folder)
    done = desk.run("run", "plan.toml", "--out", "release", prepare=small_files)
    assert done.returncode == 2
    assert "the system lets no file grow that large" in done.stderr.splitlines()[-1]
    assert everything(desk.folder) == before
    assert remains(desk.home) == []


def long_search(desk: Desk) -> None:
    """A plan whose lattice of 1.7 million nodes takes long to walk."""
    names = [f"code{number}" for number in range(8)]
    digits = random.Random(1)
    lines = [",".join(names)]
    lines += [",".join(f"{digits.randrange(10**5):05}" for _ in names) for _ in range(3000)]
    desk.write("codes.csv", "\n".join(lines) + "\n")
    attributes = "".join(
        f'[attributes.{name}]\nrole = "quasi-identifier"\nhierarchy = {{ kind = "mask" }}\n'
        for name in names
    )
    desk.write(
        "long.toml",
        f'version = 1\n[source]\npath = "codes.csv"\n{attributes}'
        '[budget]\nlimit = 1\n[protection]\nmethod = "k-anonymity"\nk = 5\n',
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_cancels_the_run_and_leaves_nothing(desk: Desk, number: signal.Signals) -> None:
    long_search(desk)
    before = everything(desk.folder)
    running = subprocess.Popen(
        command(["run", "long.toml", "--out", "release"]),
        cwd=desk.folder,
        env=desk.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stderr is not None
    assert "[budget]" in running.stderr.readline()  # said when the work begins
    running.send_signal(number)
    out, err = running.communicate(timeout=PATIENCE_SECONDS)
    assert running.returncode == 130, err
    assert out == ""
    assert err.splitlines()[-1] == "Cancelled; nothing was written."
    assert everything(desk.folder) == before
    assert remains(desk.home) == []


def test_a_reader_that_leaves_early_is_no_fault(desk: Desk) -> None:
    running = subprocess.Popen(
        command(["inspect", "people.csv"]),
        cwd=desk.folder,
        env=desk.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None
    running.stdout.close()
    assert running.stderr is not None
    assert running.stderr.read() == ""
    running.stderr.close()
    assert running.wait(timeout=PATIENCE_SECONDS) == 0


def test_without_a_display_the_window_says_so(desk: Desk) -> None:
    environment = desk.environment()
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        environment.pop(name, None)
    done = subprocess.run(
        command([]),
        cwd=desk.folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    assert done.returncode == 2
    assert "no display" in done.stderr.splitlines()[-1]


def test_the_help_of_run_lists_the_methods_and_their_parameters(desk: Desk) -> None:
    done = desk.run("run", "--help")
    assert done.returncode == 0
    for word in ("k-anonymity", "max_suppression", "a share from 0 to 1", "discernibility"):
        assert word in done.stdout


def test_the_known_answer_on_adult_comes_through_the_command_line(
    desk: Desk, real_data: Path
) -> None:
    folder = real_data / "arx-adult"
    names = [
        "age", "sex", "race", "marital-status", "education",
        "native-country", "workclass", "occupation", "salary-class",
    ]  # fmt: skip
    attributes = "".join(
        f'[attributes.{name}]\nrole = "quasi-identifier"\n'
        f'hierarchy = "{folder}/adult_hierarchy_{name}.csv"\n'
        for name in names
    )
    desk.write(
        "adult.toml",
        f'version = 1\n[source]\npath = "{folder}/adult.csv"\n{attributes}'
        '[protection]\nmethod = "k-anonymity"\nk = 5\nmax_suppression = 0.02\n'
        'objective = "discernibility"\n',
    )
    done = desk.run("run", "adult.toml", "--out", "release", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])["result"]
    assert result["metrics"]["discernibility"] == 7_220_555
    assert result["node"] == dict(zip(names, [0, 0, 1, 2, 3, 2, 2, 1, 1], strict=True))
    assert result["proven_optimal"] is True
    assert result["rows_suppressed"] <= 603
    assert desk.run("verify", "release").returncode == 0


ADULTS = PLAN.replace(
    'path = "people.csv"',
    """path = "people.csv"
query = "SELECT * FROM data WHERE CAST(age AS INTEGER) > 34 OR name = 'person 0'\"""",
)


def test_rows_that_a_query_leaves_out_are_in_no_release_and_verify_asks_it_again(
    desk: Desk,
) -> None:
    desk.write("adults.toml", ADULTS)
    done = desk.here("run", "adults.toml", "--out", "out", "--json")
    assert done.returncode == 0, done.stderr
    assert "The query kept 11 of 20 rows." in done.stderr
    table = (desk.folder / "out/public/microdata.csv").read_text().splitlines()
    assert len(table) - 1 <= 11
    evidence = json.loads((desk.folder / "out/internal/evidence.json").read_text())
    assert evidence["source"]["rows"] == 11
    assert evidence["source"]["name"] == "people.csv"
    digest = hashlib.sha256((desk.folder / "people.csv").read_bytes()).hexdigest()
    assert evidence["source"]["sha256"] == digest
    done = desk.here("verify", "out", "--source", "people.csv")
    assert done.returncode == 0, done.stderr
    assert "made again from the source" in " ".join(done.stdout.split())
    evidence["plan"]["source"].pop("query")
    (desk.folder / "out/internal/evidence.json").write_bytes(canonical(evidence))
    seal_again(desk.folder / "out", manifest_of(desk.folder / "out"))
    assert desk.here("verify", "out", "--source", "people.csv").returncode == 1


def test_a_query_that_cannot_be_run_writes_nothing(desk: Desk) -> None:
    for query, said in (
        ("SELECT * FROM 'people.csv'", "reads `people.csv`, expected the table `data`"),
        ("SELECT * FROM data WHERE agee = '34'", "names the column `agee`"),
        ("SELECT * FROM data WHERE age > 34", "an explicit cast is required"),
        ("SELECT * FROM data WHERE age = '7'", "keeps none of 20 rows"),
    ):
        line = f'path = "people.csv"\nquery = "{query}"'
        desk.write("other.toml", PLAN.replace('path = "people.csv"', line))
        assert said in desk.refuses(2, "run", "other.toml", "--out", "out")


def test_inspect_asks_a_text(desk: Desk) -> None:
    query = "SELECT age, count(*) AS rows FROM data GROUP BY age ORDER BY age"
    done = desk.here("inspect", "people.csv", "--query", query, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert (found["rows"], [column["name"] for column in found["columns"]]) == (2, ["age", "rows"])
