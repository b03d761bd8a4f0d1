"""The tool that measures how long the way of a release is counts what is there, and no more."""

from __future__ import annotations

from dpdesk.core.plain import quoted
from tests.tools.hops import CLASS, Recorder, Way, named, table


def test_functions_of_the_program_are_counted_once_and_calls_each_time() -> None:
    recorder = Recorder()
    recorder.start()
    quoted("a")
    quoted("b")
    sorted([2, 1])  # not ours
    recorder.stop()
    way = recorder.way("the run")
    assert named(quoted.__code__) in way.functions
    assert way.calls >= 2 * len(way.functions)
    assert way.files == {name.split(":")[0] for name in way.functions}
    assert "core/plain.py" in way.files
    assert way.deepest >= 1


def test_bodies_of_classes_are_counted_apart() -> None:
    way = Way("the run", ("a.py:1 f", f"b.py:1{CLASS}C"), 3, 1)
    assert way.functions == ("a.py:1 f",)
    assert "| x | the run | 1 | 1 | 2 | 3 | 1 |" in table({"x": [way]})
