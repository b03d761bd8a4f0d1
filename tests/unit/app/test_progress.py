from __future__ import annotations

import io

import pytest

from dpdesk.app.progress import ProgressLine, duration, progress_text
from dpdesk.core.jobs import Note, StepProgress, StepStarted


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Gone(Terminal):
    def write(self, text: str) -> int:
        raise BrokenPipeError


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_bar_says_what_how_far_and_how_long() -> None:
    text = progress_text(StepProgress("Search", 250, 1000, "nodes"), elapsed=10.0)
    assert text == "Search [######------------------]  25%  250 of 1,000 nodes, 30 s left"


def test_no_time_left_is_guessed_in_the_first_second() -> None:
    assert "left" not in progress_text(StepProgress("Search", 1, 2), elapsed=0.5)


def test_without_a_total_there_is_no_percentage() -> None:
    assert progress_text(StepProgress("Read", 5000, None, "rows"), 9.0) == "Read: 5,000 rows"


def test_more_done_than_announced_is_never_more_than_all() -> None:
    assert "100%" in progress_text(StepProgress("Read", 3, 2), 0.0)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (59.4, "59 s"), (125, "2 min 5 s"), (4200, "1 h 10 min"), (-1, "0 s")],
)
def test_durations_are_said_as_people_say_them(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_note_does_nothing_to_the_terminal() -> None:
    stream = Terminal()
    ProgressLine(stream)(Note("x", "The column `a\x1b[2J\u202e` stays."))
    assert stream.getvalue() == "Note: The column `a\\x1b[2J\\u202e` stays.\n"


def test_a_file_gets_notes_but_no_bar() -> None:
    stream = io.StringIO()
    line = ProgressLine(stream)
    line(StepStarted("Search", 1, 2))
    line(StepProgress("Search", 1, 2))
    line(Note("x", "A default was taken."))
    line.clear()
    assert stream.getvalue() == "Note: A default was taken.\n"


def test_a_terminal_gets_one_line_that_is_redrawn_at_most_ten_times_a_second() -> None:
    stream, clock = Terminal(), Clock()
    line = ProgressLine(stream, clock)
    line(StepStarted("Search", 1, 2))
    for step in range(100):
        clock.now = step / 100
        line(StepProgress("Search", step, 100))
    shown = stream.getvalue()
    assert "\n" not in shown
    assert shown.startswith("\r\x1b[2K[1/2] Search …")
    assert 5 <= shown.count("\r") <= 11


def test_the_line_is_removed_before_anything_else_is_said() -> None:
    stream = Terminal()
    line = ProgressLine(stream)
    line(StepStarted("Search", 1, 1))
    line(Note("x", "Note well."))
    assert stream.getvalue().endswith("\r\x1b[2KNote: Note well.\n")
    line.clear()
    assert stream.getvalue().endswith("Note: Note well.\n")


def test_work_goes_on_when_nobody_listens() -> None:
    line = ProgressLine(Gone())
    line(StepStarted("Search", 1, 1))
    line(StepProgress("Search", 1, 1))
    ProgressLine(None)(Note("x", "No one hears this."))
