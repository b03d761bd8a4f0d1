"""Reading JSON that anyone may have written."""

from __future__ import annotations

import json
from typing import Any


def read_json(text: str | bytes | bytearray, **hooks: Any) -> Any:
    """The value of a JSON text; ``hooks`` are those of ``json.loads``.

    Raises ValueError for whatever is not JSON, a text that is nested too deeply to be read among
    it: ``json.loads`` alone ends with a RecursionError there, which callers forget.
    """
    try:
        return json.loads(text, **hooks)
    except RecursionError:
        raise ValueError("nested too deeply") from None
