"""Which line of a TOML text gives a key: told where it is sure, never wrongly."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.io.planfile import line_of, parse_settings

TEXT = '''\
version = 1                # limits
title = """
[limits]
minimum_k = 3
"""

[limits]
minimum_k = 5
"maximum t" = 0.5
dominance = { n = 2, k = 80 }
nested.deep = [
  1,
]

[[rules]]
n = 3
[columns]
'''


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        (("version",), 1),
        (("title",), 2),
        (("limits",), 7),
        (("limits", "minimum_k"), 8),
        (("limits", "maximum t"), 9),
        (("limits", "dominance"), 10),
        (("limits", "nested", "deep"), 11),
        (("rules", "n"), 16),
        (("columns",), 17),
        (("limits", "dominance", "k"), None),
        (("columns", "forbidden"), None),
        ((), None),
    ],
)
def test_the_line_of_a_key_is_found_where_it_is_written(
    keys: tuple[str, ...], line: int | None
) -> None:
    assert line_of(TEXT, keys) == line


def test_texts_with_many_points_are_no_deep_keys(tmp_path: Path) -> None:
    wide = "x" * 500_000
    text = f'a = "{"1.5 " * 2000}{"." * 2000}{wide}"\n' + "b.c = 1\n" + f"{wide} = 2\n"
    read = parse_settings(text, tmp_path / "p.toml", "plan", "")
    assert read["b"] == {"c": 1}
    assert read[wide] == 2


def test_only_line_feeds_end_a_line() -> None:
    assert line_of('title = "a\u2028b"\r\nk = 1', ("k",)) == 2


names = st.text("ab.\"' =[]#\n\\", min_size=1, max_size=4)
values = st.sampled_from(["1", '"[a]"', '"""\n[a]\nb = 2\n"""', "[1,\n2]", "{ a = 1 }"])


@settings(deadline=None)
@given(st.lists(st.tuples(names, values, st.booleans()), max_size=6), names)
def test_a_line_that_is_told_holds_the_key(
    entries: list[tuple[str, str, bool]], wanted: str
) -> None:
    lines = []
    for name, value, table in entries:
        quoted = '"' + name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
        lines.append(f"[{quoted}]" if table else f"{quoted} = {value}")
    text = "\n".join(lines)
    line = line_of(text, (wanted,))
    if line is not None:
        before = "\n".join(text.split("\n")[: line - 1])
        assert wanted not in tomllib.loads(before)
