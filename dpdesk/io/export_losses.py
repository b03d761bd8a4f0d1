"""What a file of a format could not hold of a release, in sentences.

Everything derives from :data:`~dpdesk.core.export_formats.HOLDS`: a sentence for each piece that a
column has and the format has not, with the columns it is said of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from dpdesk.core.export_formats import CODES, HOLDS, UNITS, Holds, Piece
from dpdesk.core.labels import Codebook, Kind, Variable, is_lettered
from dpdesk.core.messages import listed, msg
from dpdesk.core.plain import quoted
from dpdesk.io.formats.moments import PROGRAMS, shows
from dpdesk.io.formats.outcolumns import OutColumn, code_number, renamed, whole_seconds

_NAMED = 6
_MOST_WHOLE = 2_147_483_620


@dataclass(frozen=True)
class InFile:
    """A column in the file: what the release says of it, whether it is numeric there, its name.

    ``capitals`` says that letters of missing values were capitals, None that there are none;
    ``blanks`` that texts end with blanks, ``beyond`` that texts have letters beyond ASCII,
    ``letters`` that all texts are like letters of missing values, and nothing says that they are.
    """

    said: Variable
    numeric: bool
    name: str
    capitals: bool | None = None
    blanks: bool = False
    beyond: bool = False
    letters: bool = False


def described(columns: Sequence[str], book: Codebook) -> list[InFile]:
    """The columns of a file that keeps every value as its text."""
    said = [book.get(name) or Variable(name) for name in columns]
    return [InFile(one, one.kind is not Kind.TEXT, one.name) for one in said]


def told(
    form: str, columns: Sequence[OutColumn], names: Sequence[str], book: Codebook, title: str
) -> list[str]:
    """Sentences about all that a statistical file has otherwise than the release, or not at all."""
    found = []
    for column, name in zip(columns, names, strict=True):
        said = book.get(column.variable.name) or Variable(column.variable.name)
        capitals = max(column.cases, default=None) if column.numeric else None
        codes = (*said.value_labels, *said.missing.values)
        ends = column.blanks or any(code.endswith(" ") for code in codes)
        blanks = ends and not column.numeric
        beyond = (column.beyond and not column.numeric) or not said.label.isascii()
        letters = column.letters and not column.present and not column.numeric
        found.append(InFile(said, column.numeric, name, capitals, blanks, beyond, letters))
    return renamed(columns, names) + losses(form, found, title)


def code_piece(code: str, kind: Kind, numeric: bool) -> Piece | None:
    """What kind of value a labelled code is; None for one that its column can never have.

    Days are whole numbers to these programs, moments and times may be others.
    """
    if not numeric:
        return Piece.WORD
    if is_lettered(code):
        return Piece.LETTER
    number = code_number(code) if kind is Kind.NUMBER else whole_seconds(code, kind)
    if number is None:
        return None
    if kind is not Kind.NUMBER:
        return Piece.WHOLE if kind is Kind.DATE else Piece.FRACTION
    return Piece.WHOLE if number.is_integer() and abs(number) <= _MOST_WHOLE else Piece.FRACTION


def codes_held(form: str, said: Variable, numeric: bool) -> dict[str, str]:
    """The value labels of a column that a file of this format holds."""
    return dict(islice(_fitting(form, said, numeric).items(), HOLDS[form].codes or None))


def _fitting(form: str, said: Variable, numeric: bool) -> dict[str, str]:
    """The value labels of a kind that the format has, however many there may be."""
    held: dict[str, str] = {}
    known: set[str] = set()
    for code, label in said.value_labels.items():
        # Letters have one case in these programs, and blanks at the end are filling to some.
        same = code.lower() if numeric else code.rstrip(" ")
        foreign = form == "dta" and numeric and code == "._"  # a letter of SAS alone
        if code_piece(code, said.kind, numeric) in HOLDS[form].pieces and not foreign:
            if same not in known:
                held[code] = label
            known.add(same)
    return held


def missing_held(form: str, said: Variable, numeric: bool) -> tuple[str, ...]:
    """The single user-missing values of a column that a file of this format holds."""
    holds, values = HOLDS[form], said.missing.values
    if Piece.MISSING not in holds.pieces:
        return ()
    if not holds.missing:
        return values
    if numeric:
        plain = (Piece.WHOLE, Piece.FRACTION)
        fitting = [one for one in values if code_piece(one, said.kind, True) in plain]
        return tuple(fitting[: 1 if range_held(form, said, numeric) else holds.missing])
    fitting = [one for one in values if len(one.encode("utf-8")) <= holds.missing_bytes]
    return tuple(fitting[: holds.missing])


def range_held(form: str, said: Variable, numeric: bool) -> bool:
    """Whether a file of this format holds the range of user-missing values of a column."""
    there = said.missing.low is not None and Piece.RANGE in HOLDS[form].pieces
    return there and (numeric or not HOLDS[form].missing)


def format_held(form: str, said: Variable) -> bool:
    """Whether a file of this format shows the values of a column as its release says."""
    if Piece.FORMAT not in HOLDS[form].pieces:
        return False
    return form not in PROGRAMS or shows(form, said.format, said.kind)


def losses(form: str, columns: Sequence[InFile], title: str) -> list[str]:
    """A sentence for each thing that a file of this format lacks of the release.

    Empty when the file holds all.
    """
    holds = HOLDS[form]
    if holds.bare:
        return [holds.bare]
    found = [
        *_of_pieces(holds, columns),
        *_of_codes(form, columns),
        *_of_missing(form, columns),
        *_of_kinds(form, columns),
        *_of_limits(form, columns, title),
        *_of_letters(form, columns),
        *_of_names(form, columns),
    ]
    if Piece.GUARANTEE not in holds.pieces:
        found.insert(
            0,
            msg(
                "The guarantee of the release is left out: {file} has no place for it; pass on "
                "its page about.html too.",
                file=holds.file,
            ),
        )
    return found


def _names(columns: Sequence[InFile]) -> str:
    """Columns in a sentence; of many the first ones and how many more."""
    return listed([quoted(column.said.name) for column in columns], _NAMED)


def _of_pieces(holds: Holds, columns: Sequence[InFile]) -> Iterator[str]:
    """What a format has no place for at all."""

    def lacking(piece: Piece, has: Callable[[InFile], object]) -> list[InFile]:
        return [] if piece in holds.pieces else [column for column in columns if has(column)]

    file = holds.file
    if found := lacking(Piece.MEASURE, lambda c: c.said.measure):
        yield msg(
            "The measurement level of {names} is left out: {file} has no place for it.",
            names=_names(found),
            file=file,
        )
    if found := lacking(Piece.BLANKS, lambda c: c.blanks):
        yield msg(
            "Spaces at the end of texts in {names} are lost: {file} does not keep them.",
            names=_names(found),
            file=file,
        )


def _of_codes(form: str, columns: Sequence[InFile]) -> Iterator[str]:
    """Value labels for which the format, or the column in it, has no place."""
    lost = [
        column
        for column in columns
        if len(_fitting(form, column.said, column.numeric)) < len(column.said.value_labels)
    ]
    if not lost:
        return
    names, holds = _names(lost), HOLDS[form]
    if holds.pieces.isdisjoint(CODES):
        yield msg(
            "The value labels of {names} are left out: {file} has no place for them.",
            names=names,
            file=holds.file,
        )
    elif Piece.WORD in holds.pieces:
        yield (
            msg(
                "Value labels of {names} are left out where they do not stand for a number: "
                "{file} labels nothing else in a column of numbers.",
                names=names,
                file=holds.file,
            )
        )
    else:
        yield (
            msg(
                "Value labels of {names} are left out where they do not stand for a whole "
                "number: {file} labels nothing else.",
                names=names,
                file=holds.file,
            )
        )


def _of_missing(form: str, columns: Sequence[InFile]) -> Iterator[str]:
    """User-missing values that become ordinary ones."""

    def is_whole(column: InFile) -> bool:
        said = column.said.missing
        single = len(missing_held(form, column.said, column.numeric)) == len(said.values)
        ranged = said.low is None or range_held(form, column.said, column.numeric)
        return single and ranged

    lost, holds = [column for column in columns if not is_whole(column)], HOLDS[form]
    if not lost:
        return
    if Piece.MISSING not in holds.pieces:
        yield (
            msg(
                "Values of {names} that are declared missing stay ordinary values: {file} has no "
                "list of them.",
                names=_names(lost),
                file=holds.file,
            )
        )
    else:
        yield (
            msg(
                "Some values of {names} that are declared missing stay ordinary values: {file} "
                "holds at most {most} per column, or a range of numbers and one more, and no text "
                "of more than {bytes} bytes.",
                names=_names(lost),
                file=holds.file,
                most=holds.missing,
                bytes=holds.missing_bytes,
            )
        )


def _of_kinds(form: str, columns: Sequence[InFile]) -> Iterator[str]:
    """Numbers and dates that the file has as texts, and formats of other programs."""
    holds = HOLDS[form]
    texts = [one for one in columns if one.said.kind is not Kind.TEXT and not one.numeric]
    if texts and form in PROGRAMS:
        yield (
            msg(
                "The values of {names} are written as texts: not all of them are numbers, dates "
                "or times as {file} holds them.",
                names=_names(texts),
                file=holds.file,
            )
        )
    unsure = [one for one in columns if one.letters]
    if unsure and form in PROGRAMS:
        yield (
            msg(
                "The values of {columns} are written as texts: each is a point and a letter, "
                "and nothing says that these stand for missing numbers.",
                columns=_names(unsure),
            )
        )
    foreign: dict[str, list[InFile]] = {}
    for column in columns:
        if column.said.format and column.numeric and not format_held(form, column.said):
            foreign.setdefault(column.said.format, []).append(column)
    for name, having in foreign.items():
        yield (
            msg(
                "The display format {name} of {names} is left out: {file} does not know it.",
                name=quoted(name),
                names=_names(having),
                file=holds.file,
            )
        )


def _of_limits(form: str, columns: Sequence[InFile], title: str) -> Iterator[str]:
    """What is cut because it is too long, or too much."""
    holds, most = HOLDS[form], msg("the most that {file} holds", file=HOLDS[form].file)
    unit, code_unit = holds.unit, holds.code_unit or holds.unit
    if long := [one for one in columns if _longer(one.said.label, holds.label, unit)]:
        yield msg(
            "The variable labels of {names} are cut to {label:,} {unit}, {most}.",
            names=_names(long),
            label=holds.label,
            unit=unit,
            most=most,
        )
    if long := [
        one
        for one in columns
        if any(_longer(text, holds.code, code_unit) for text in one.said.value_labels.values())
    ]:
        yield msg(
            "Value labels of {names} are cut to {code:,} {code_unit}, {most}.",
            names=_names(long),
            code=holds.code,
            code_unit=code_unit,
            most=most,
        )
    if many := [
        one for one in columns if 0 < holds.codes < len(_fitting(form, one.said, one.numeric))
    ]:
        yield (
            msg(
                "Of the value labels of {names} the file has the first {codes:,}, {most} "
                "of a column.",
                names=_names(many),
                codes=holds.codes,
                most=most,
            )
        )
    if _longer(title, holds.title, unit):
        yield msg(
            "The title of the release is cut to {title:,} {unit}, {most}.",
            title=holds.title,
            unit=unit,
            most=most,
        )


def _longer(text: str, most: int, unit: str) -> bool:
    return 0 < most < UNITS[unit](text)


def _of_names(form: str, columns: Sequence[InFile]) -> Iterator[str]:
    """A name that a sheet cannot tell from none."""
    if form == "xlsx" and not all(one.said.name for one in columns):
        yield "The column without a name has an empty header cell; programs make up a name for it."


def _of_letters(form: str, columns: Sequence[InFile]) -> Iterator[str]:
    """Letters of missing values that the file has in the other case."""
    if form == "dta" and (found := [one for one in columns if one.capitals]):
        yield msg(
            "The letters of missing values in {names} are small ones in a Stata file.",
            names=_names(found),
        )
    if form == "xpt" and (found := [one for one in columns if one.capitals is False]):
        names = _names(found)
        yield msg(
            "The letters of missing values in {names} are capitals in a SAS transport file.",
            names=names,
        )
    if form == "xpt" and (found := [one for one in columns if one.beyond]):
        yield (
            msg(
                "Letters beyond ASCII in {names} are in UTF-8, which a SAS transport file cannot "
                "declare: read it in a SAS session with UTF-8.",
                names=_names(found),
            )
        )
