"""SPSS, Stata and SAS files for private methods: texts are decoded here, each by itself.

The library's own converter stops at the first text that it cannot convert, whoever's it is.
"""

from __future__ import annotations

from dpdesk.core.labels import Kind, Variable
from dpdesk.io.formats.endings import Endings, codec_name
from dpdesk.io.formats.moments import without_ranges
from dpdesk.io.formats.plain_reading import plain_reader
from dpdesk.io.formats.private.texts import texts_of
from dpdesk.io.formats.request import ReadRequest
from dpdesk.io.formats.spss.layout import check_labels
from dpdesk.io.formats.stat_faults import no_rows
from dpdesk.io.formats.statistical import StatisticalReader, described
from dpdesk.io.formats.table import Values
from dpdesk.io.private.lines import line_codec
from dpdesk.io.private.values import UNREADABLE


class PrivateStatistical(StatisticalReader):
    """See :class:`~dpdesk.io.formats.statistical.StatisticalReader`."""

    def __init__(self, request: ReadRequest) -> None:
        self._begin(request)
        codec = line_codec(codec_name(request.encoding or ""), self._path.name)
        self._read = plain_reader(self._read, codec, UNREADABLE)
        self.encoding = self._options["encoding"] = codec
        self._endings = Endings(codec)
        if self._format == "sav":
            check_labels(self._path)
        meta = self._metadata(codec)
        self.rows = self._stated_rows(meta)
        labels = self._value_labels(meta, request)
        self.variables = tuple(
            described(self._format, meta, name, labels.get(name, {})) for name in meta.column_names
        )
        if not self.variables:
            raise no_rows(self._path.name, 0)
        self.variables = without_ranges(self.notes, self.variables)

    def _values(self, variable: Variable, raw: list[object], start: int) -> Values:
        if variable.kind is Kind.TEXT:
            return Values(texts_of(["" if item is None else str(item) for item in raw]))
        return super()._values(variable, raw, start)
