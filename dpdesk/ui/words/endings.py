"""Endings of files for the dialogs that ask for one."""

from __future__ import annotations

from collections.abc import Iterable

from dpdesk.app.opening import PLAN_ENDINGS
from dpdesk.core.source_options import ENDINGS
from dpdesk.ui.projects import ENDING


def _patterns(endings: Iterable[str]) -> str:
    return " ".join(f"*{ending}" for ending in endings)


DATA_ENDINGS = _patterns(ENDINGS)
"""What a table of people can be kept in."""

OPENED_ENDINGS = _patterns((*ENDINGS, *PLAN_ENDINGS, ENDING))
"""All that can be opened: data, plans and projects."""
