"""SAS transport files for private methods: a text that is none of the encoding is unreadable."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpdesk.core.labels import Variable
from dpdesk.io.formats.private.texts import texts_of
from dpdesk.io.formats.sas.transport import TransportReader

_BLANK = 0x20


class PrivateTransport(TransportReader):
    """See :class:`~dpdesk.io.formats.sas.transport.TransportReader`.

    Nothing but blanks fills up the file behind the last row, so a row of blanks is none anywhere:
    else the row behind it would decide whether it is one. The number of rows that version 8 of the
    format states is not asked: where it is wrong, one row more or less would decide whether any is
    read.
    """

    def _count(self) -> int:
        return (self._member.stop - self._member.start) // self._member.row_bytes

    def _block(self, table: Any) -> Any:
        return table[(table != _BLANK).any(axis=1)]

    def _texts(self, variable: Variable, raw: Any, start: int) -> Any:
        width, data = raw.shape[1], np.ascontiguousarray(raw).tobytes()
        pieces = (data[at : at + width] for at in range(0, len(data), width))
        return texts_of([_text(piece.rstrip(b" \0"), self.encoding) for piece in pieces])


def _text(raw: bytes, encoding: str) -> str | bytes:
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError:
        return b"\xff"
