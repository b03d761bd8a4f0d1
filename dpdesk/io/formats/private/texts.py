"""Arrow columns of texts of which a value may be unreadable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpdesk.io.private.values import UNREADABLE


def checked_texts(array: Any) -> Any:
    """An Arrow column of bytes or texts as texts; null stays, what is no UTF-8 is unreadable."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from dpdesk.io.private.line_kernels import are_texts

    raw = array.cast(pa.binary()) if pa.types.is_string(array.type) else array
    raw = raw.cast(pa.large_binary())
    good = np.ones(len(raw), np.bool_)
    if len(raw):
        _, offsets, data = raw.buffers()
        ends = np.frombuffer(offsets, np.int64)[raw.offset : raw.offset + len(raw) + 1]
        held = np.frombuffer(b"" if data is None else data, np.uint8)
        are_texts(held, ends, good)
    kept = pc.if_else(pa.array(good), raw, pa.scalar(UNREADABLE.encode(), pa.large_binary()))
    # Null is neither: it stays null, whatever bytes lie in its place.
    kept = pc.if_else(raw.is_valid(), kept, pa.scalar(None, pa.large_binary()))
    return kept.cast(pa.large_string())


def texts_of(values: Sequence[str | bytes | None]) -> Any:
    """Texts, some of them of bytes or with halves of characters, as an Arrow column."""
    import pyarrow as pa

    try:
        return checked_texts(pa.array(values, pa.large_string()).cast(pa.large_binary()))
    except (UnicodeEncodeError, pa.ArrowInvalid, pa.ArrowTypeError):
        raw = [v.encode("utf-8", "surrogatepass") if isinstance(v, str) else v for v in values]
        return checked_texts(pa.array(raw, pa.large_binary()))
