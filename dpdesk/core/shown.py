"""How much of a text is shown: one rule for pages, papers, pictures and windows.

What is laid out takes time for each character, and no reader needs a megabyte of one value.
"""

from __future__ import annotations

import re

from dpdesk.core.language import voice

LONGEST_VALUE = 1_000
"""The most characters that are shown of one value, name or label of the data."""
LONGEST_TEXT = 50_000
"""The most characters that are shown of a sentence or list with values in it: twenty sheets."""
_WORD = re.compile(rf"(\S{{{LONGEST_VALUE}}})\S{{100,}}")
_SAYING = 40
"""Room for the words that say how long a text is, so that no cut text is cut again."""


def shortened(text: str, most: int = LONGEST_VALUE) -> str:
    """The text, or its first ``most`` characters with the number of all, in the language set."""
    if len(text) <= most + _SAYING:
        return text
    speaker = voice()
    return speaker.text("{text}… ({n} characters)", text=text[:most], n=speaker.count(len(text)))


def with_short_words(text: str) -> str:
    """The text, in which no word is longer than a value may be: each letter is a place to break."""
    return _WORD.sub(r"\1…", text) if len(text) > LONGEST_VALUE else text
