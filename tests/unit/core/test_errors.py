"""The one line in which an error is told."""

from __future__ import annotations

import pytest

from dpdesk.core.errors import InputError


@pytest.mark.parametrize(
    ("sentence", "hint", "line"),
    [
        (
            "x.toml: unknown key `a`.",
            "Did you mean `b`?",
            "x.toml: unknown key `a`; did you mean `b`?",
        ),
        ("k is 9.", "Choose 5.", "k is 9; choose 5."),
        (
            "It is bad.",
            "Write A. Then b. DPDesk waits.",
            "It is bad; write A; then b; DPDesk waits.",
        ),
        ("Row 3\nis short.", "", "Row 3 is short."),
        ("It is bad.", "A note helps.", "It is bad; a note helps."),
        ("It is bad.", "`k` is missing. See a.csv.", "It is bad; `k` is missing; see a.csv."),
    ],
)
def test_sentence_and_hint_become_one_sentence_on_one_line(
    sentence: str, hint: str, line: str
) -> None:
    assert InputError("code", sentence, hint=hint).line == line
