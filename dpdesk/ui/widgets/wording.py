"""Sentences of the other layers, as a window writes them."""

from __future__ import annotations

import re

_MARKED = re.compile(r"`([^`]*)`")


def in_window(sentence: str) -> str:
    """The sentence with names and values in quotation marks instead of the marks of a terminal."""
    return _MARKED.sub("“\\1”", sentence)
