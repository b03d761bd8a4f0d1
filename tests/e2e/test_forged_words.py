"""Whoever seals a release again cannot promise more than was checked, nor keep quiet on limits."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.verifying import verify_release
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.release import VerifyReport
from tests.helpers import releases as town
from tests.helpers.forging import manifest_of, seal_again

Forge = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppContext]:
    with AppContext.open(tmp_path_factory.mktemp("home")) as opened:
        yield opened


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return town.write_source(tmp_path_factory.mktemp("source"))


@pytest.fixture(scope="module")
def genuine(plan: Path, context: AppContext, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return town.release(plan, tmp_path_factory.mktemp("made") / "release", context).out


@pytest.fixture
def copy(genuine: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(genuine, tmp_path / "release"))


def check(path: Path, context: AppContext, source: Path | None = None) -> VerifyReport:
    return verify_release(path, context.registry, CancelToken(), silent, source, context.workspace)


def reasons(report: VerifyReport) -> str:
    return "\n".join(f"{failure.path}: {failure.reason}" for failure in report.failures)


WORDS: dict[str, Forge] = {
    "a sentence added": lambda g: g.update(claim=g["claim"] + " Nobody learns anything."),
    "a number in words": lambda g: g.update(claim=g["claim"].replace("1 in 5", "one in a million")),
    "assumptions left out": lambda g: g.update(assumes=[]),
    "limits left out": lambda g: g.update(does_not_cover=g["does_not_cover"][1:]),
    "limits removed": lambda g: g.pop("does_not_cover"),
    "limits of another kind": lambda g: g.update(does_not_cover=3),
    "another promise": lambda g: g.update(also="every class holds 5 different illnesses"),
    "another parameter": lambda g: g["parameters"].update(l=5),
    "a column under two roles": lambda g: g["parameters"].update(weight=["illness"]),
    "a column under another role": lambda g: g["parameters"].update(
        insensitive=g["parameters"].pop("sensitive")
    ),
    "a column that is not there": lambda g: g["parameters"].update(weight=["nothing"]),
    "a role that is no list": lambda g: g["parameters"].update(sensitive=7),
}


@pytest.mark.parametrize("name", WORDS)
def test_changed_words_of_the_guarantee_fail_even_when_sealed(
    copy: Path, context: AppContext, name: str
) -> None:
    manifest: Any = manifest_of(copy)
    WORDS[name](manifest["guarantee"])
    seal_again(copy, manifest)
    for place in (copy, copy / "public"):
        report = check(place, context)
        assert not report.ok
        assert any(failure.path.endswith("manifest.json") for failure in report.failures) or (
            "role" in reasons(report)
        )


def test_a_column_that_the_guarantee_does_not_name_fails_even_when_sealed(
    copy: Path, context: AppContext
) -> None:
    path = copy / "public/microdata.csv"
    header, *rows = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([f"{header},nickname", *(f"{row},x" for row in rows)]) + "\n")
    seal_again(copy, manifest_of(copy))
    for place in (copy, copy / "public"):
        report = check(place, context)
        assert "gives `nickname` 0 roles" in reasons(report)
