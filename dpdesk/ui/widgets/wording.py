"""Sentences of the other layers, as a window writes them."""

from __future__ import annotations

import re

from dpdesk.ui.words.counts import quoted
from dpdesk.ui.words.plan_speech import in_form
from dpdesk.ui.words.spoken import said

_MARKED = re.compile(r"`([^`]*)`")


def in_window(sentence: str) -> str:
    """The sentence with controls instead of keys of a plan, and without the marks of a terminal.

    Names and values stand in quotation marks.
    """
    return _MARKED.sub(lambda found: quoted(found[1]), in_form(said(sentence)))
