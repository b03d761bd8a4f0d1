"""How a call from Python shows its progress and is stopped."""

from __future__ import annotations

import io
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import dpdesk
from dpdesk.app.context import AppContext
from dpdesk.core.errors import Cancelled, InputError
from dpdesk.core.jobs import CancelToken, Event, Note, Report, StepProgress, StepStarted
from dpdesk.python import session

STEP, NOTE = StepStarted("Search", 1, 2), Note("plan.note", "A default was taken.")


def telling(context: AppContext, token: CancelToken, report: Report) -> int:
    """Work that says two things."""
    report(STEP)
    report(NOTE)
    return 7


def waiting(context: AppContext, token: CancelToken, report: Report) -> None:
    """Work that goes on until it is cancelled."""
    stopped = threading.Event()
    with token.on_cancel(stopped.set):
        report(STEP)
        stopped.wait()
    token.check()


def test_events_reach_the_function_on_the_calling_thread() -> None:
    said: list[tuple[Event, threading.Thread]] = []

    def listen(event: Event) -> None:
        said.append((event, threading.current_thread()))

    value, notes = session.perform(telling, listen, None)
    here = threading.current_thread()
    assert (value, notes) == (7, ["A default was taken."])
    assert said == [(STEP, here), (NOTE, here)]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_exception_while_it_waits_stops_the_work_and_is_raised(
    error: type[BaseException],
) -> None:
    def stop(event: Event) -> None:
        raise error

    with pytest.raises(error):
        session.perform(waiting, stop, None)


def test_a_token_stops_the_work_from_another_thread() -> None:
    token = CancelToken()

    def stop(event: Event) -> None:
        threading.Thread(target=token.cancel).start()

    with pytest.raises(Cancelled):
        session.perform(waiting, stop, token)
    with pytest.raises(Cancelled):
        session.perform(telling, None, token)


def test_work_that_was_finished_all_the_same_gives_its_value() -> None:
    def interrupt(event: Event) -> None:
        raise KeyboardInterrupt

    assert session.perform(telling, interrupt, None)[0] == 7


def test_what_stopped_the_work_is_raised_with_the_error_that_came_of_it() -> None:
    def broken(context: AppContext, token: CancelToken, report: Report) -> None:
        try:
            waiting(context, token, report)
        except Cancelled:
            raise RuntimeError("a process ended") from None

    def interrupt(event: Event) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        session.perform(broken, interrupt, None)
    assert isinstance(caught.value.__cause__, RuntimeError)


class Notebook(io.StringIO):
    """What a notebook puts in the place of stderr."""


Notebook.__module__ = "ipykernel.iostream"


@pytest.mark.parametrize(
    ("stream", "progress", "shown"),
    [
        (io.StringIO, None, False),
        (io.StringIO, True, True),
        (Notebook, None, True),
        (Notebook, False, False),
    ],
)
def test_progress_is_shown_where_a_person_reads_it(
    monkeypatch: pytest.MonkeyPatch, stream: Any, progress: bool | None, shown: bool
) -> None:
    def work(context: AppContext, token: CancelToken, report: Report) -> None:
        report(STEP)
        report(StepProgress("Search", 1, 2))

    written = stream()
    monkeypatch.setattr(sys, "stderr", written)
    session.perform(work, progress, None)
    assert ("Search" in written.getvalue()) is shown


def test_the_private_folder_is_opened_once_for_each_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = session.context()
    assert session.context() is first
    monkeypatch.setenv("DPDESK_HOME", str(tmp_path / "other"))
    other = session.context()
    assert other.home == tmp_path / "other"
    assert not first.workspace.folder.exists()


def test_a_traceback_shows_the_hint_and_the_lines_to_add(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("sex\nf\nm\n")
    plan = dpdesk.Plan(
        "dp-cube",
        tmp_path / "people.csv",
        dimensions=["sex"],
        domains={"sex": ["f", "m"]},
        epsilon=1,
    )
    with pytest.raises(InputError) as caught:
        dpdesk.run(plan, tmp_path / "out")
    assert 'missing = [""]' in caught.value.__notes__
    assert caught.value.hint in caught.value.__notes__
