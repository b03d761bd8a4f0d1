"""The parts of a codebook that all releases share: study, method, guarantee, files.

Element order and attributes are those of DDI Codebook 2.5 (``codebook.xsd`` of the DDI Alliance,
2012-01-17). Everything comes from the manifest and the published files; nothing internal is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, prod
from typing import Any
from xml.etree import ElementTree as Xml

from dpdesk.core.jobs import CancelToken
from dpdesk.core.labels import Codebook, Kind, UserMissing, Variable
from dpdesk.core.messages import msg
from dpdesk.core.release import Manifest
from dpdesk.core.shapes import as_list
from dpdesk.io.formats.moments import shows
from dpdesk.io.formats.numbers import number_text
from dpdesk.io.missing import NUMBER, user_missing_flags
from dpdesk.io.published import PublishedCsv
from dpdesk.io.sdmx import CubeTable, SdmxCube
from dpdesk.io.xmltext import document_bytes, visible

# What a codebook says of the columns of published microdata, counted in the published table.


CATEGORIES = 200
"""A column with more different values lists only those that have a label or are missing codes.

Of a range of missing codes as many are listed at most.
"""
_PIECES = 32


@dataclass(frozen=True)
class Category:
    """A value with its label and the number of rows that have it."""

    value: str
    label: str
    rows: int
    missing: bool


@dataclass(frozen=True)
class ColumnContent:
    """A column of the published table: its words, and rows with and without a valid value.

    ``user_missing`` are the rows of ``invalid`` with a declared missing code; the others are empty.
    ``numeric`` says that every valid value is a number.
    """

    variable: Variable
    valid: int
    invalid: int
    user_missing: int
    numeric: bool
    categories: tuple[Category, ...]


def column_contents(
    table: PublishedCsv, book: Codebook, token: CancelToken
) -> tuple[ColumnContent, ...]:
    """Read the table twice: for the values, and for what is missing. Raises Cancelled."""
    tops = table.top_values(CATEGORIES + 1, token)
    variables = {name: book.get(name) or Variable(name) for name in table.columns}
    counts = {name: _Counts(one) for name, one in variables.items()}
    for batch in table.batches(table.columns, token):
        for name, counter in counts.items():
            token.check()
            counter.add(batch.column(name))
    return tuple(
        _content(variables[name], counts[name], dict(tops[name].top), tops[name].distinct)
        for name in table.columns
    )


class _Counts:
    """Counts the rows of a column that are empty, declared missing, and numbers.

    Each value that has a label or is declared missing is counted for itself.
    """

    def __init__(self, variable: Variable) -> None:
        self._missing = variable.missing
        self._codes = [*variable.value_labels, *variable.missing.values]
        self._parts: list[Any] = []
        self.rows = self.empty = self.declared = self.numbers = 0

    def add(self, column: Any) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        number = pc.match_substring_regex(column, NUMBER)
        declared = user_missing_flags(column, self._missing)
        valid_number = pc.and_not(number, declared)
        self.rows += len(column)
        self.empty += _true(pc.equal(column, pa.scalar("")))
        self.declared += _true(pc.and_not(declared, pc.equal(column, pa.scalar(""))))
        self.numbers += _true(valid_number)
        if self._codes or self._missing:
            codes = pc.is_in(column, value_set=pa.array(self._codes, pa.string()))
            found = column.filter(pc.or_(codes, declared)).value_counts()
            self._parts.append(pa.table({"v": found.field(0), "n": found.field(1)}))
        if len(self._parts) > _PIECES:
            self._parts = [self._whole()]

    def _whole(self) -> Any:
        import pyarrow as pa

        table = pa.concat_tables(self._parts).group_by("v").aggregate([("n", "sum")])
        return table.select(["v", "n_sum"]).rename_columns(["v", "n"])

    def named(self) -> dict[str, int]:
        """The rows of each value with a label or declared missing, and of codes of a range."""
        import pyarrow as pa
        import pyarrow.compute as pc

        rows = dict.fromkeys(self._codes, 0)
        if not self._parts:
            return rows
        whole = self._whole()
        known = pc.is_in(whole.column("v"), value_set=pa.array(self._codes, pa.string()))
        others = whole.filter(pc.invert(known))
        tables = [whole.filter(known), *([others] if len(others) <= CATEGORIES else [])]
        for table in tables:
            rows |= zip(table.column("v").to_pylist(), table.column("n").to_pylist(), strict=True)
        return rows


def _true(flags: Any) -> int:
    import pyarrow.compute as pc

    return int(pc.sum(flags).as_py() or 0)


def _content(
    variable: Variable, counts: _Counts, top: Mapping[str, int], distinct: int
) -> ColumnContent:
    invalid = counts.empty + counts.declared
    valid = counts.rows - invalid
    numeric = valid > 0 and counts.numbers == valid
    listed = counts.named()
    if distinct <= CATEGORIES and (variable.value_labels or not numeric):
        listed |= {value: rows for value, rows in top.items() if value}
    ordered = sorted(listed, key=_place)
    return ColumnContent(
        variable, valid, invalid, counts.declared, numeric, tuple(_named(variable, ordered, listed))
    )


def _named(variable: Variable, ordered: list[str], rows: Mapping[str, int]) -> Iterator[Category]:
    for value in ordered:
        label = variable.value_labels.get(value, "")
        yield Category(value, label, rows[value], variable.missing.holds(value))


def _place(value: str) -> tuple[int, float, str]:
    """Numbers first, by size; then texts by code point."""
    try:
        number = float(value)
    except ValueError:
        return 1, 0.0, value
    return (0, number, value) if number == number else (1, 0.0, value)


NAMESPACE = "ddi:codebook:2_5"
_PLACE = "http://www.ddialliance.org/Specification/DDI-Codebook/2.5/XMLSchema/codebook.xsd"
_XSI = "http://www.w3.org/2001/XMLSchema-instance"
_XML = "http://www.w3.org/XML/1998/namespace"
_NATURES = {"nominal": "nominal", "ordinal": "ordinal", "scale": "interval"}


@dataclass(frozen=True)
class FileContent:
    """A data file: its path in the public part, cases and variables, hash by the manifest."""

    path: str
    cases: int
    variables: int
    sha256: str


def put(parent: Xml.Element, tag: str, text: str = "", **attributes: str) -> Xml.Element:
    """A new child element in the namespace of the codebook."""
    shown = {key: visible(value) for key, value in attributes.items()}
    found = Xml.SubElement(parent, f"{{{NAMESPACE}}}{tag}", shown)
    if text:
        found.text = visible(text)
    return found


def new_codebook(manifest: Manifest, method: str, kind: str) -> Xml.Element:
    """A codebook of document and study; ``method`` and ``kind`` are words for people."""
    root = Xml.Element(f"{{{NAMESPACE}}}codeBook", {"version": "2.5"})
    root.set(f"{{{_XSI}}}schemaLocation", f"{NAMESPACE} {_PLACE}")
    root.set(f"{{{_XML}}}lang", "en")
    title = manifest.title or f"Release by {method}"
    _citation(put(root, "docDscr"), manifest, f"Codebook: {title}")
    study = put(root, "stdyDscr")
    _citation(study, manifest, title)
    about = put(study, "stdyInfo")
    put(about, "abstract", manifest.guarantee.claim)
    put(put(about, "sumDscr"), "dataKind", kind)
    _method(put(study, "method"), manifest, method)
    return root


def _citation(parent: Xml.Element, manifest: Manifest, title: str) -> None:
    citation = put(parent, "citation")
    names = put(citation, "titlStmt")
    put(names, "titl", title)
    put(names, "IDNo", manifest.commitment)
    made = put(citation, "prodStmt")
    day = manifest.created
    put(made, "prodDate", day, date=day)
    put(made, "software", "DPDesk", version=manifest.dpdesk)


def _method(parent: Xml.Element, manifest: Manifest, method: str) -> None:
    """The anonymisation: guarantee with assumptions and limits, method, settings, result."""
    guarantee = manifest.guarantee
    put(parent, "notes", guarantee.claim, type="guarantee")
    for sentence in guarantee.assumes:
        put(parent, "notes", sentence, type="assumption")
    for sentence in guarantee.does_not_cover:
        put(parent, "notes", sentence, type="limit")
    put(parent, "dataProcessing", f"The data were protected by {method}.", type="anonymisation")
    for name, value in (*settings(manifest.parameters), *_outcome(manifest.result)):
        put(
            parent,
            "dataProcessing",
            msg("{file}: {note}", file=name, note=value),
            type="anonymisation setting",
        )


def settings(parameters: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The public settings as names and texts; domains stand with their variables."""
    for name, value in parameters.items():
        if name != "domains":
            yield name, plain_text(value)


def _outcome(result: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    names = ("rows_out", "rows_suppressed", "rows_removed", "classes", "smallest_class")
    for name in names:
        if name in result:
            yield name, plain_text(result[name])


def plain_text(value: object) -> str:
    """A setting in words: lists with commas, tables as ``name = value``."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return "; ".join(f"{key} = {plain_text(one)}" for key, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(plain_text(one) for one in value)
    return str(value)


def put_file(root: Xml.Element, identifier: str, content: FileContent) -> None:
    """Describe a data file."""
    described = put(root, "fileDscr", ID=identifier, URI=content.path)
    text = put(described, "fileTxt")
    put(text, "fileName", content.path)
    size = put(text, "dimensns")
    put(size, "caseQnty", str(content.cases))
    put(size, "varQnty", str(content.variables))
    put(text, "fileType", "text/csv", charset="UTF-8")
    put(text, "format", "comma-delimited, with a header")
    put(described, "notes", content.sha256, type="SHA-256")


def nature(variable: Variable) -> dict[str, str]:
    """The attribute that tells the measurement level of a column, where it is known."""
    found = _NATURES.get(variable.measure)
    return {"nature": found} if found else {}


def put_invalid(parent: Xml.Element, missing: UserMissing) -> None:
    """List the values of a column that are declared missing."""
    if not missing.declared:
        return
    found = put(parent, "invalrng")
    for value in missing.values:
        put(found, "item", VALUE=value)
    if missing.low is not None and missing.high is not None:
        ends = {"min": missing.low, "max": missing.high}
        put(found, "range", **{key: number_text(end) for key, end in ends.items() if isfinite(end)})


def put_about(root: Xml.Element) -> None:
    """Name the page for users of the data; the last part of a codebook."""
    page = put(root, "otherMat", level="study", URI="about.html")
    put(page, "labl", "What was done, how large the error is, how to use the data")


def codebook_bytes(root: Xml.Element) -> bytes:
    """The document in UTF-8."""
    return document_bytes(root, {"": NAMESPACE, "xsi": _XSI})


# The codebook of published microdata: every variable with labels, missing codes and counts.


_FILE = "F1"
_PROGRAMS = (("sav", "SPSS"), ("xpt", "SAS"))
_DATES = {Kind.DATE: "date", Kind.DATETIME: "date", Kind.TIME: "time"}


def microdata_codebook(
    manifest: Manifest, method: str, file: FileContent, columns: Sequence[ColumnContent]
) -> bytes:
    """The document; ``method`` is the method's name for people."""
    root = new_codebook(manifest, method, "Microdata, protected against disclosure")
    put_file(root, _FILE, file)
    described = put(root, "dataDscr")
    for number, column in enumerate(columns, 1):
        _variable(described, number, column, _treatment(column.variable.name, manifest))
    put_about(root)
    return codebook_bytes(root)


def _treatment(name: str, manifest: Manifest) -> str:
    """What was done to a column, in one sentence; empty for one that is released as it is."""
    stated = manifest.guarantee.parameters
    if name in as_list(stated.get("diverted", [])):
        return (
            "Values were drawn at random. For someone who knows only how often each occurs, each "
            f"is true with a chance of 1 in {stated['l']}; other columns may tell more."
        )
    if name in as_list(stated.get("drawn", [])):
        return (
            "Each value was kept or replaced at random, with known chances; counts are estimated "
            "from them, see the manifest."
        )
    if name == "group" and "separated" in stated:
        return "Number of a group, drawn at random; the values of each group stand apart."
    if name not in as_list(stated.get("quasi_identifiers", [])):
        return ""
    levels = manifest.result.get("node")
    if not isinstance(levels, Mapping) or name not in levels:
        return "Values are generalised or left out where the protection needed it."
    if levels[name] == 0:
        return "Values are not generalised."
    return f"Values are generalised: each is that of level {levels[name]} of the hierarchy."


def _variable(
    parent: Xml.Element, number: int, column: ColumnContent, treatment: str
) -> None:  # fmt: skip
    variable = column.variable
    continuous = column.numeric and not variable.value_labels and variable.measure in ("", "scale")
    attributes = {"intrvl": "contin" if continuous else "discrete"}
    attributes |= nature(variable)
    found = put(parent, "var", ID=f"V{number}", name=variable.name, files=_FILE, **attributes)
    put(found, "location", StartPos=str(number), fileid=_FILE)
    if variable.label:
        put(found, "labl", variable.label)
    put_invalid(found, variable.missing)
    put(found, "sumStat", str(column.valid), type="vald")
    put(found, "sumStat", str(column.invalid), type="invd")
    if column.user_missing:
        text = f"Of the invalid cases {column.user_missing} have a code declared missing."
        put(found, "txt", text)
    if treatment:
        put(found, "txt", treatment)
    for category in column.categories:
        _category(found, category)
    put(found, "varFormat", type="numeric" if column.numeric else "character", **_format(variable))


def _format(variable: Variable) -> dict[str, str]:
    """Attributes of the format of a column: dates, and the format's name in its program."""
    found = {"category": _DATES[variable.kind]} if variable.kind in _DATES else {}
    if variable.format:
        known = (word for form, word in _PROGRAMS if shows(form, variable.format, variable.kind))
        found |= {"formatname": variable.format, "schema": next(known, "other")}
    return found


def _category(parent: Xml.Element, category: Category) -> None:
    found = put(parent, "catgry", **({"missing": "Y"} if category.missing else {}))
    put(found, "catValu", category.value)
    if category.label:
        put(found, "labl", category.label)
    put(found, "catStat", str(category.rows), type="freq")


# The codebook of a released cube: dimensions as variables, every table as an nCube.
#
# Nothing in it depends on data: categories are those of the plan's domain, and errors follow from
# the noise alone.


_METHODS = ("sum", "average", "count")


def cube_codebook(manifest: Manifest, method: str, cube: SdmxCube) -> bytes:
    """The document; ``method`` is the method's name for people."""
    root = new_codebook(manifest, method, "Aggregate data, with random noise")
    for number, table in enumerate(cube.tables, 1):
        sha256 = manifest.files[table.file].sha256
        content = FileContent(table.file, _cells(cube, table), len(table.dimensions) + 1, sha256)
        put_file(root, f"F{number}", content)
    described = put(root, "dataDscr")
    numbers = {name: f"V{place}" for place, name in enumerate(cube.domain.dimensions, 1)}
    for name, identifier in numbers.items():
        _dimension(described, cube, name, identifier)
    for number, table in enumerate(cube.tables, 1):
        _table(described, cube, table, number, numbers)
    put_about(root)
    return codebook_bytes(root)


def _cells(cube: SdmxCube, table: CubeTable) -> int:
    sizes = dict(zip(cube.domain.dimensions, cube.domain.shape, strict=True))
    return prod(sizes[name] for name in table.dimensions)


def _dimension(parent: Xml.Element, cube: SdmxCube, name: str, identifier: str) -> None:
    place = cube.domain.dimensions.index(name)
    categories = cube.domain.categories[place]
    variable = cube.book.get(name) or Variable(name)
    files = [
        f"F{number}" for number, table in enumerate(cube.tables, 1) if name in table.dimensions
    ]
    found = put(
        parent, "var", ID=identifier, name=name, intrvl="discrete", catQnty=str(len(categories)),
        **({"files": " ".join(files)} if files else {}), **nature(variable),
    )  # fmt: skip
    if variable.label:
        put(found, "labl", variable.label)
    put_invalid(found, variable.missing)
    for text in categories:
        missing = variable.missing.holds(text)
        category = put(found, "catgry", **({"missing": "Y"} if missing else {}))
        put(category, "catValu", text)
        label = variable.value_labels.get(text, "")
        if label:
            put(category, "labl", label)
    put(found, "varFormat", type="character")


def _table(
    parent: Xml.Element, cube: SdmxCube, table: CubeTable, number: int, numbers: Mapping[str, str]
) -> None:
    name = " × ".join(table.dimensions) or "grand total"
    found = put(
        parent, "nCube", ID=f"N{number}", name=name, dmnsQnty=str(len(table.dimensions)),
        cellQnty=str(_cells(cube, table)),
    )  # fmt: skip
    put(found, "location", fileid=f"F{number}")
    put(found, "labl", f"{table.measure} by {name}" if table.dimensions else table.measure)
    put(found, "txt", _error_words(cube, table))
    for rank, dimension in enumerate(table.dimensions, 1):
        put(found, "dmns", rank=str(rank), varRef=numbers[dimension])
    how = next((word for word in _METHODS if table.measure.startswith(word)), None)
    put(found, "measure", **({} if how is None else {"aggrMeth": how}))


def _error_words(cube: SdmxCube, table: CubeTable) -> str:
    if table.exact:
        return "Published without noise: these numbers are not protected."
    if table.error is None:
        return "The error of an average depends on the number that it is of; see about.html."
    text = f"Standard error of the noise in a cell{cube.before}: {table.error:.6g}."
    if table.exact_cells:
        text += f" {len(table.exact_cells)} of the cells have no noise and are not protected."
    return text
