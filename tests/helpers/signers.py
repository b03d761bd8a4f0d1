"""People who sign reviews at their own computers: each has a home folder and a key in it."""

from __future__ import annotations

import io
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from dpdesk.cli.main import main

AUTHOR, FIRST, SECOND, OTHER = "Carla Author", "Anna Weber", "Ben Stone", "Dora Stranger"
ROWS = [("34", "f", "flu"), ("34", "f", "flu"), ("36", "m", "cold"), ("36", "m", "flu")] * 5
PLAN = """\
version = 1
title = "A small table"

[source]
path = "people.csv"

[attributes.name]
role = "identifier"

[attributes.age]
role = "quasi-identifier"

[attributes.sex]
role = "quasi-identifier"

[attributes.illness]
role = "sensitive"

[protection]
method = "k-anonymity"
k = 5
"""


@dataclass(frozen=True)
class Said:
    """What a command said, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def last(self) -> str:
        """The last line of stderr."""
        return self.err.splitlines()[-1] if self.err.strip() else ""

    @property
    def json(self) -> dict[str, object]:
        """The object in the last line of stdout."""
        found = json.loads(self.out.splitlines()[-1])
        assert isinstance(found, dict)
        return found


@dataclass(frozen=True)
class Person:
    """Somebody at a computer; ``desk`` holds a home folder and what the person works on."""

    name: str
    desk: Path

    @property
    def home(self) -> Path:
        """The DPDESK_HOME of the computer."""
        return self.desk / "home"

    @property
    def folder(self) -> Path:
        """The person's copy of the release."""
        return self.desk / "release"

    @property
    def review(self) -> Path:
        """The review in the person's copy."""
        return self.folder / "internal" / "review.json"

    @property
    def secret(self) -> Path:
        """The file with the passphrase."""
        return self.desk / "passphrase.txt"

    def run(self, *arguments: str | Path) -> Said:
        """Run a command at this computer."""
        out, err = io.StringIO(), io.StringIO()
        with _home(self.home), chdir(self.desk), redirect_stdout(out), redirect_stderr(err):
            code = main([str(argument) for argument in arguments])
        return Said(code, out.getvalue(), err.getvalue())

    def does(self, *arguments: str | Path) -> Said:
        """Run a command that must succeed."""
        said = self.run(*arguments)
        assert said.code == 0, said.err
        return said

    def signs(self, action: str, *arguments: str | Path) -> Said:
        """Try to sign an event in the own copy."""
        return self.run("review", action, "release", *arguments, "--passphrase-file", self.secret)

    def votes(self, outcome: str = "approve", comment: str = "Seen and thought through.") -> Said:
        """Write a sheet, decide everything alike, and cast the vote."""
        self.decides(outcome, comment)
        return self.signs("vote", "--sheet", "sheet.toml")

    def decides(self, outcome: str, comment: str) -> Path:
        """A filled sheet."""
        sheet = self.desk / "sheet.toml"
        sheet.unlink(missing_ok=True)
        self.does("review", "sheet", "release", "--out", "sheet.toml")
        decision = {"approve": "accept", "changes": "change", "reject": "reject"}[outcome]
        text = sheet.read_text("utf-8").replace('outcome = ""', f'outcome = "{outcome}"')
        text = text.replace('decision = ""', f'decision = "{decision}"')
        sheet.write_text(text.replace('comment = ""', f'comment = "{comment}"'), "utf-8")
        return sheet

    def takes(self, other: Person) -> None:
        """Replace the own copy of the release by that of somebody else."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(other.folder, self.folder)

    def copied(self, desk: Path) -> Person:
        """The same person at a copy of the computer."""
        shutil.copytree(self.desk, desk)
        return Person(self.name, desk)


def people(folder: Path, *names: str) -> tuple[Person, ...]:
    """Persons with a key each, who trust each other's keys."""
    made = tuple(Person(name, folder / name.split()[0].lower()) for name in names)
    for person in made:
        person.home.mkdir(parents=True)
        person.secret.write_text(f"a passphrase of {person.name}\n", "utf-8")
        person.does("review", "key", "new", "--person", person.name, *_by_file(person))
        person.does("review", "key", "card", person.name, "--out", "card.json")
    for person in made:
        for other in made:
            person.does("review", "trust", "add", other.desk / "card.json")
    return made


def approve(author: Person, *reviewers: Person, saying: tuple[str, ...] = ()) -> None:
    """The author's release is submitted, voted on in copies, joined, revealed and approved."""
    said = author.signs("submit", *saying)
    assert said.code == 0, said.err
    for one in reviewers:
        one.takes(author)
        said = one.votes()
        assert said.code == 0, said.err
    for action in ("reveal", ""):
        said = author.signs("merge", *(one.folder for one in reviewers))
        assert said.code == 0, said.err
        for one in reviewers if action else ():
            one.takes(author)
            assert one.signs(action).code == 0


def write_plan(person: Person, k: int = 5) -> Path:
    """A table of twenty people, and the plan of its release."""
    lines = ["name,age,sex,illness"]
    lines += [f"person {number},{','.join(row)}" for number, row in enumerate(ROWS)]
    (person.desk / "people.csv").write_text("\n".join(lines) + "\n", "utf-8")
    plan = person.desk / "plan.toml"
    plan.write_text(PLAN.replace("k = 5", f"k = {k}"), "utf-8")
    return plan


def _by_file(person: Person) -> tuple[str | Path, ...]:
    return ("--passphrase-file", person.secret)


@contextmanager
def _home(path: Path) -> Iterator[None]:
    """A computer has a home and, next to it, a witness of what its ledger paid."""
    here = {"DPDESK_HOME": str(path), "DPDESK_WITNESS": str(path.with_name("witness.jsonl"))}
    before = {name: os.environ.get(name) for name in here}
    os.environ.update(here)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
