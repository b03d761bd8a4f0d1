"""Tables with noise go through a whole review: submitted, voted on, shown, released, verified."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.cubes import people as rows_of_people
from tests.helpers.cubes import write_plan, write_register
from tests.helpers.signers import AUTHOR, FIRST, SECOND, Person, approve, people

pytestmark = pytest.mark.cheap_prints

Three = tuple[Person, Person, Person]


@pytest.fixture(scope="module")
def approved(tmp_path_factory: pytest.TempPathFactory) -> Three:
    """Noisy tables that two reviewers approved, everybody with the same copy."""
    author, first, second = people(tmp_path_factory.mktemp("agency"), AUTHOR, FIRST, SECOND)
    write_plan(write_register(author.desk, rows_of_people()))
    author.does("run", "plan.toml", "--out", "release")
    approve(author, first, second)
    for one in (first, second):
        one.takes(author)
    return author, first, second


@pytest.fixture
def desks(approved: Three, tmp_path: Path) -> Three:
    author, first, second = (one.copied(tmp_path / one.desk.name) for one in approved)
    return author, first, second


def tables(folder: Path) -> list[Path]:
    return sorted((folder / "public" / "cuboids").iterdir())


def test_approved_tables_with_noise_are_released_and_verify_everywhere(desks: Three) -> None:
    author, first, second = desks
    said = author.signs("release", "--note", "Out on the web site.")
    assert said.code == 0, said.err
    assert len(tables(author.folder)) == 8
    for one in (author, first, second):
        if one is not author:
            one.takes(author)
        assert one.does("verify", "release").out.endswith("Verified.\n")
        status = one.does("review", "status", "release", "--json").json
        assert (status["status"], status["ok"]) == ("released", True)


def test_every_table_is_a_file_that_is_decided_on(desks: Three) -> None:
    author, first, _ = desks
    author.does("run", "plan.toml", "--out", "again")
    shutil.rmtree(author.folder)
    (author.desk / "again").rename(author.folder)
    assert author.signs("submit").code == 0
    first.takes(author)
    sheet = first.decides("approve", "Seen.").read_text("utf-8")
    for path in tables(first.folder):
        assert f"public/cuboids/{path.name}" in sheet


def _swap(found: list[Path]) -> Path:
    one, other = found[1], found[2]
    before = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(before)
    return one


def _edit(found: list[Path]) -> Path:
    data = found[0].read_text("utf-8").splitlines()
    data[-1] = data[-1][:-1] + ("1" if data[-1][-1] != "1" else "2")
    found[0].write_text("\n".join(data) + "\n", "utf-8")
    return found[0]


def _remove(found: list[Path]) -> Path:
    found[-1].unlink()
    return found[-1]


def _add(found: list[Path]) -> Path:
    path = found[0].with_name("more.csv")
    path.write_text("value\n1\n", "utf-8")
    return path


@pytest.mark.parametrize("change", [_swap, _edit, _remove, _add])
def test_a_changed_table_is_named_and_nothing_is_released(
    desks: Three, change: Callable[[list[Path]], Path]
) -> None:
    author = desks[0]
    path = change(tables(author.folder)).relative_to(author.folder).as_posix()
    said = author.run("verify", "release")
    assert said.code == 1
    assert any(line.startswith(f"{path}: ") for line in said.err.splitlines()), said.err
    assert author.run("review", "status", "release").code == 1
    refused = author.signs("release")
    assert refused.code != 0
    assert path in refused.last


def test_tables_drawn_again_are_not_the_ones_approved(desks: Three) -> None:
    author = desks[0]
    author.does("run", "plan.toml", "--out", "again")
    shutil.copy(author.review, author.desk / "again" / "internal")
    said = author.run("verify", "again")
    assert said.code == 1
    assert "internal/review.json" in said.err


def mode_of(person: Person) -> str:
    found = person.run("review", "checklist", "release", "--json").json["items"]
    assert isinstance(found, list)
    return next(str(item["status"]) for item in found if item["id"] == "mode")


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, "pass"),
        ({"epsilon": 2.0}, "fail"),
        ({"domains": {"sex": ["f", "m"], "region": ["north", "other", "south"]}}, "fail"),
    ],
)
def test_next_year_s_tables_apply_a_locked_protocol_or_are_told_apart(
    desks: Three, changed: dict[str, object], expected: str
) -> None:
    author, first, _ = desks
    locked = ("--out", author.desk / "protocol.json", "--passphrase-file", first.secret)
    first.does("review", "protocol", "lock", "release", *locked)
    shutil.rmtree(author.folder)
    source = write_register(author.desk / "next year", rows_of_people(310, seed=9))
    author.does("run", write_plan(source, **changed), "--out", "release")
    assert author.signs("submit", "--protocol", "protocol.json").code == 0
    assert mode_of(author) == expected
