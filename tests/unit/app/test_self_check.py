"""The check of a release before anybody sees it: in a process that planned nothing."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dpdesk.app import self_check
from dpdesk.app.context import AppContext
from dpdesk.app.verifying import verify_release
from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.subprocesses import KeptSubprocess
from dpdesk.engine.cubes.exact import planned
from dpdesk.engine.cubes.exact.sensitivity import GenericSensitivity, Origin
from tests.helpers import clinic, cubes, releases

_LOADED = """
import pickle, sys
class Hidden:
    def find_spec(name, path=None, target=None):
        if name == "pandas":  # no user's installation has it
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Hidden)
from dpdesk.app.checking_worker import answer
question = pickle.load(sys.stdin.buffer)
before = {*sys.modules}
assert all(check.status for check in answer(question))
print(*(name for name in {*sys.modules} - before if name.partition(".")[0] in (
    "numba", "pyarrow", "pydantic", "scipy") or name.startswith("dpdesk.verifiers")))
"""
EXACT: list[Any] = [["sex", "region"], ["sex", "age"], ["region", "age"]]


@pytest.fixture
def context(tmp_path: Path) -> Iterator[AppContext]:
    with AppContext.open(tmp_path / "home") as opened:
        yield opened


def _cube(context: AppContext, folder: Path) -> Path:
    register = cubes.write_register(folder, cubes.people())
    plan = cubes.write_plan(register, exact=EXACT)
    return cubes.release(context, plan, folder / "out").out


def _rows(context: AppContext, folder: Path) -> Path:
    return releases.release(releases.write_source(folder), folder / "out", context).out


@pytest.mark.parametrize("size", [10, 8, 6])
def test_less_noise_than_three_exact_tables_need_is_not_released(
    context: AppContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    found = GenericSensitivity(size, True, Origin.ENUMERATED)
    monkeypatch.setattr(planned, "generic_sensitivity", lambda *_: found)
    with pytest.raises(RefusedError) as caught:
        _cube(context, tmp_path)
    assert caught.value.code == "release.check-failed"
    assert "minimal change" in caught.value.sentence
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("size", [10, 8, 6])
def test_less_noise_is_found_in_a_release_that_was_not_checked(
    context: AppContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    found = GenericSensitivity(size, True, Origin.ENUMERATED)
    monkeypatch.setattr(planned, "generic_sensitivity", lambda *_: found)
    monkeypatch.setattr("dpdesk.app.running.checked_tables", lambda *_: ())
    out = _cube(context, tmp_path)
    told = verify_release(out, context.registry, CancelToken(), silent)
    assert not told.ok
    assert any("minimal change" in failure.reason for failure in told.failures)


@pytest.mark.parametrize("write", [_cube, _rows])
def test_a_process_that_gives_no_answer_fails_closed(
    context: AppContext,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    write: Callable[[AppContext, Path], Path],
) -> None:
    monkeypatch.setattr(self_check, "_CHECKER", KeptSubprocess("dpdesk.no_such_module:answer"))
    with pytest.raises(RefusedError) as caught:
        write(context, tmp_path)
    assert caught.value.code == "release.check-failed"
    assert not (tmp_path / "out").exists()


def test_the_process_loads_no_more_libraries_when_it_is_asked(
    context: AppContext, tmp_path: Path
) -> None:
    """Whoever asks it waits for the answer, and it has long been idle then."""
    method = context.registry.get("dp-cube", "test")
    plan = cubes.write_plan(cubes.write_register(tmp_path, cubes.people()))
    public = cubes.release(context, plan, tmp_path / "out").out / "public"
    question = self_check.TablesQuestion(method, public, tmp_path)
    found = subprocess.run(
        [sys.executable, "-c", _LOADED], input=pickle.dumps(question), capture_output=True
    )
    assert found.stdout.decode() == "\n", found.stderr.decode()
    assert found.returncode == 0, found.stderr.decode()


@pytest.mark.parametrize("write", [_cube, _rows])
def test_the_check_is_made_by_another_process_which_may_be_started_again(
    context: AppContext,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    write: Callable[[AppContext, Path], Path],
) -> None:
    checker = KeptSubprocess("dpdesk.app.checking_worker:answer")
    monkeypatch.setattr(self_check, "_CHECKER", checker)
    first = checker.start()
    assert first.pid != os.getpid()
    first.kill()
    first.wait()
    out = write(context, tmp_path)
    assert verify_release(out, context.registry, CancelToken(), silent).ok
    assert checker.start().pid != first.pid
    checker.close()


@pytest.mark.parametrize("method", ["k-anonymity", "l-diverted"])
def test_what_a_check_wants_of_the_source_is_handed_over_at_once(
    context: AppContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    answers: list[object] = []
    asked = self_check._asked

    def noted(question: object, token: CancelToken) -> object:
        answers.append(asked(question, token))
        return answers[-1]

    monkeypatch.setattr(self_check, "_asked", noted)
    if method == "k-anonymity":
        _rows(context, tmp_path)
    else:
        clinic.write_source(tmp_path)
        combined = 'l = 2\nk = 3\nsensitive = ["illness"]\nmax_suppression = 0.5'
        roles = (
            'age = { role = "quasi-identifier", hierarchy = { kind = "intervals", widths = [10] } }'
        )
        clinic.release(clinic.write_plan(tmp_path, combined, roles), tmp_path / "out", context)
    assert len(answers) == 1
    assert not isinstance(answers[0], self_check.CountsNeeded)
