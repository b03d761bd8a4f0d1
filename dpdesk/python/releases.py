"""A release as an object: what it says of itself, its tables as DataFrames, and its answers."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import BytesIO
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from dpdesk.app.querying import open_listed
from dpdesk.app.querying import open_release as open_asked
from dpdesk.core.cuboid import listed_tables
from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.labels import NO_BOOK, Codebook
from dpdesk.core.messages import msg
from dpdesk.core.parameters import nearest
from dpdesk.core.query import Answer, Chosen, Condition, Grouping, Query, listed, read_condition
from dpdesk.core.release import VerifyReport
from dpdesk.io.release_folder import MICRODATA, VARIABLES
from dpdesk.python import session
from dpdesk.python.frames import LABELS, VALUE_LABELS, pandas, texts_of

if TYPE_CHECKING:
    import pandas as pd

    from dpdesk.app.context import AppContext
    from dpdesk.app.querying import OpenRelease
    from dpdesk.core.cuboid import CuboidTable
    from dpdesk.io.release_content import ReleaseContent
    from dpdesk.python.session import Progress

Where: TypeAlias = "str | Mapping[str, object] | Sequence[str | Mapping[str, object]]"
"""Conditions as ``dpdesk query --where`` takes them, or the wanted value or values by column."""


class Verification(VerifyReport):
    """What checking a release showed; it counts as true when the release is verified."""

    def __bool__(self) -> bool:
        return self.ok


class Release:
    """A release whose public files are intact and bear out what they claim.

    ``folder`` is the release folder, or its public part alone; ``notes`` are what making it said.
    Made by :func:`dpdesk.run` and :func:`dpdesk.open_release`.
    """

    def __init__(self, folder: Path, content: ReleaseContent) -> None:
        self.folder = folder
        self.notes: tuple[str, ...] = ()
        self._content = content
        self._asked: OpenRelease | None = None

    def _noted(self, notes: Sequence[str]) -> Release:
        self.notes = tuple(notes)
        return self

    @property
    def manifest(self) -> Mapping[str, Any]:
        """The public manifest; see ``resources/docs/python.md`` for its keys."""
        return self._content.manifest.as_json()

    @property
    def method(self) -> str:
        """The id of the method."""
        return self._content.manifest.method

    @property
    def title(self) -> str:
        """The title as published; empty when none was given."""
        return self._content.manifest.title

    @property
    def guarantee(self) -> Mapping[str, Any]:
        """What is promised: model, parameters, claim, assumptions, limits."""
        return self._content.manifest.guarantee.as_json()

    @property
    def claim(self) -> str:
        """The guarantee in one sentence."""
        return self._content.manifest.guarantee.claim

    @property
    def result(self) -> Mapping[str, Any]:
        """The public part of the result."""
        return self._content.manifest.result

    def __repr__(self) -> str:
        return f"<dpdesk.Release: {self.method} in {str(self.folder)!r}>"

    def __fspath__(self) -> str:
        """The folder, so that a release stands wherever a path may stand."""
        return str(self.folder)

    def microdata(self, *, like: pd.DataFrame | None = None, as_text: bool = False) -> pd.DataFrame:
        """The protected rows.

        The empty text is a missing value. A column whose texts are all whole numbers becomes
        ``Int64``, one of numbers ``Float64``, where each number gives back the text that was
        published; all others stay texts. With ``like``, a column gets the dtype that it has there
        where all its values fit: categories with their order, dates, moments, truth values. With
        ``as_text`` every column is what the file holds, and nothing is missing. Labels are in
        ``attrs``, as a source may have them.

        Raises RefusedError ``python.no-rows`` for a release of tables, ``release.not-intact``.
        """
        from dpdesk.python.answers import typed_columns

        pd = pandas()
        if MICRODATA not in self._content.manifest.files:
            raise RefusedError(
                "python.no-rows",
                msg("{folder}: the release holds tables, not rows.", folder=self.folder),
                hint="Use `tables()`.",
            )
        data = self._bytes(MICRODATA)
        frame = pd.read_csv(
            BytesIO(data), dtype=str, keep_default_na=False, encoding="utf-8", lineterminator="\n"
        )
        if not as_text:
            frame = typed_columns(frame, like)
        _describe(frame, self._book(list(frame.columns)))
        return frame

    def tables(self) -> dict[tuple[str, ...], pd.DataFrame]:
        """Every published table by its dimensions; the total by ``()``.

        A table has its dimensions, as categories in the declared order, ``value``, and the
        ``standard_error`` of one cell where the release states one. Raises RefusedError
        ``python.no-tables`` for a release of rows, ``release.not-intact``.
        """
        return {tuple(item["dimensions"]): self._table(item) for item in self._listed()}

    def table(self, *dimensions: str) -> pd.DataFrame:
        """The published table of these dimensions, in any order; see :meth:`tables`.

        Raises InputError ``python.table`` when it is not among those that were published.
        """
        wanted, known = sorted(dimensions), self._listed()
        for item in known:
            if sorted(item["dimensions"]) == wanted:
                return self._table(item)
        raise InputError(
            "python.table",
            msg(
                "{folder}: there is no table of {wanted}, expected one of {known}.",
                folder=self.folder,
                wanted=" × ".join(wanted) or "()",
                known=listed([" × ".join(item["dimensions"]) or "()" for item in known]),
            ),
            hint="What was not published as a table can be computed with `query`.",
        )

    def query(
        self,
        by: str | Sequence[str] = (),
        where: Where = (),
        *,
        levels: Mapping[str, int] | None = None,
        measure: str = "",
        margins: bool = False,
        estimator: str = "",
        progress: Progress = None,
        cancel: CancelToken | None = None,
    ) -> pd.DataFrame:
        """An answer from the release alone: a row for each combination of the columns ``by``.

        ``where`` are conditions that must all hold: ``["age>=30", "region!=North"]``, or
        ``{"sex": "f", "region": ["North", "South"]}``. ``levels`` rolls columns of ``by`` up to a
        level of their hierarchy; with ``margins`` the sums over all categories are rows too, where
        the column is missing.

        Columns: those of ``by``, ``value``, ``standard_error``, ``low`` and ``high`` (the interval
        that ``attrs["interval"]`` names; missing where there is nothing honest to say), ``note``.
        ``attrs`` has ``sentence``, ``warnings``, ``measure``, ``estimator`` and ``tables``.

        Raises InputError ``query.*``, RefusedError ``query.*`` and ``release.*``.
        """
        from dpdesk.python.answers import answer_frame

        query = query_of(by, where, levels, measure, margins, estimator)

        def work(context: AppContext, token: CancelToken, report: Callable[..., None]) -> Answer:
            if self._asked is None:
                self._asked = open_asked(context, self.folder, token, report)
            return self._asked.ask(query, token, report)

        answer, _ = session.perform(work, progress, cancel)
        assert self._asked is not None
        return answer_frame(answer, query, self._asked.about.askable)

    def _listed(self) -> list[Mapping[str, Any]]:
        found = listed_tables(self.result)
        if not found:
            raise RefusedError(
                "python.no-tables",
                msg("{folder}: the release holds rows, not tables.", folder=self.folder),
                hint="Use `microdata()`, or `query` for counts.",
            )
        return found

    def _table(self, item: Mapping[str, Any]) -> pd.DataFrame:
        from dpdesk.python.answers import table_frame

        table: CuboidTable = self._content.cuboid(str(item["file"]), CancelToken())
        variance = item.get("variance")
        error = sqrt(variance) if isinstance(variance, int | float) and variance >= 0 else None
        frame = table_frame(table, error)
        _describe(frame, self._book(list(self.result.get("domains", {}) or frame.columns)))
        return frame

    def _bytes(self, file: str) -> bytes:
        """The bytes of a public file, which are those that the manifest names."""
        path = self._content.public / file
        try:
            data = path.read_bytes()
        except OSError:
            data = b""
        if hashlib.sha256(data).hexdigest() != self._content.manifest.files[file].sha256:
            raise RefusedError(
                "release.not-intact",
                msg("{path}: was changed while the release was open.", path=path),
                hint="`dpdesk.verify` says what is wrong.",
            )
        return data

    def _book(self, columns: Sequence[str]) -> Codebook:
        from dpdesk.io.csvw import read_labels

        if VARIABLES not in self._content.manifest.files:
            return NO_BOOK
        self._bytes(VARIABLES)
        return read_labels(self._content.public / VARIABLES)


def opened(context: AppContext, folder: Path, token: CancelToken) -> Release:
    """A release that is checked and open. Raises what :func:`open_listed` raises."""
    return Release(folder, open_listed(context, folder, token))


def query_of(
    by: str | Sequence[str],
    where: Where,
    levels: Mapping[str, int] | None,
    measure: str,
    margins: bool,
    estimator: str,
) -> Query:
    """A query from keywords.

    Raises InputError ``query.syntax``, ``query.level``, ``query.margins``.
    """
    names = (by,) if isinstance(by, str) else tuple(by)
    for name in levels or {}:
        if name not in names:
            near = nearest(name, names)
            raise InputError(
                "query.level",
                msg("A level is given for `{name}`, which is not among `by`.", name=name),
                hint=msg("Did you mean `{near}`?", near=near) if near else "",
            )
    if margins and not names:
        raise InputError(
            "query.margins",
            msg("`margins` adds sums over categories, but `by` names no column that has any."),
        )
    groups = tuple(Grouping(name, int((levels or {}).get(name, 0))) for name in names)
    return Query(groups, tuple(_conditions(where)), measure, margins, estimator)


def _conditions(where: Where) -> Iterator[Condition]:
    if isinstance(where, str):
        yield read_condition(where)
    elif isinstance(where, Mapping):
        for column, wanted in where.items():
            several = isinstance(wanted, list | tuple | set | frozenset)
            values = tuple(texts_of(cast("Sequence[object]", wanted) if several else [wanted]))
            yield Chosen(column, values, text="" if several else values[0])
    else:
        for each in where:
            yield from _conditions(each)


def _describe(frame: pd.DataFrame, book: Codebook) -> None:
    """Labels as a source may have them; see :mod:`dpdesk.python.frames`."""
    known = [variable for variable in book.variables if variable.name in frame.columns]
    labels = {variable.name: variable.label for variable in known if variable.label}
    coded = {one.name: dict(one.value_labels) for one in known if one.value_labels}
    if labels:
        frame.attrs[LABELS] = labels
    if coded:
        frame.attrs[VALUE_LABELS] = coded
