"""Delimited texts in the manner of open-data portals, each with the table that is in it.

Every file is one plain table, written with one or several of the oddities that portals add. A
:class:`PortalFile` tells the columns and rows that a careful reader finds, and words that a note
must hold where something was left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

NAMES = ("region", "year", "persons", "share")
ROWS = (
    ("Nord", "2019", "1200", "12.5"),
    ("Süd", "2019", "340", "3.5"),
    ("Ost", "2020", "77", "0.8"),
    ("West", "2020", "5610", "58.4"),
    ("Mitte", "2021", "2383", "24.8"),
)


@dataclass(frozen=True)
class PortalFile:
    """A text, the table in it, and words of the notes that it calls for."""

    name: str
    content: bytes
    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def _lines(mark: str = ",", rows: tuple[tuple[str, ...], ...] = ROWS) -> list[str]:
    return [mark.join(one) for one in (NAMES, *rows)]


def _text(lines: list[str], end: str = "\n", last: bool = True) -> str:
    return end.join(lines) + (end if last else "")


def _with(*texts: str) -> tuple[tuple[str, ...], ...]:
    """The rows, and rows of one text, which count as rows unless a query leaves them out."""
    return (*ROWS, *((text, "", "", "") for text in texts))


def _comma(rows: tuple[tuple[str, ...], ...] = ROWS) -> tuple[tuple[str, ...], ...]:
    return tuple((*one[:3], one[3].replace(".", ",")) for one in rows)


def _made(
    name: str,
    text: str,
    rows: tuple[tuple[str, ...], ...] = ROWS,
    names: tuple[str, ...] = NAMES,
    notes: tuple[str, ...] = (),
    encoding: str = "utf-8",
) -> PortalFile:
    return PortalFile(name, text.encode(encoding), names, rows, notes)


def _cut() -> Iterator[PortalFile]:
    """Files whose last line breaks off or has no end."""
    for mark in (",", ";", "\t"):
        lines, kind = _lines(mark), {",": "comma", ";": "semicolon", "\t": "tab"}[mark]
        yield _made(f"no-last-end-{kind}", _text(lines, last=False))
        yield _made(
            f"cut-after-two-{kind}",
            _text([*lines, mark.join(("Rand", "2021"))], last=False),
            notes=("breaks off",),
        )
        yield _made(f"cut-after-one-{kind}", _text([*lines, "Ra"], last=False), notes=("left out",))
        yield _made(
            f"cut-crlf-{kind}",
            _text([*lines, mark.join(("Rand", "2021", "4"))], "\r\n", False),
            notes=("breaks off",),
        )
    yield _made("cut-in-quotes", _text([*_lines(), '"Ran'], last=False), notes=("left out",))
    yield _made(
        "cut-in-quotes-later", _text([*_lines(), 'Rand,"202'], last=False), notes=("breaks off",)
    )
    yield _made("cut-letter", _text([*_lines()]) + "S", notes=("left out",))
    yield PortalFile(
        "cut-inside-a-letter",
        (_text(_lines()) + "S").encode() + "ü".encode()[:1],
        NAMES,
        ROWS,
        ("left out",),
    )


def _padded() -> Iterator[PortalFile]:
    """Surplus blank fields."""
    for mark in (",", ";"):
        kind = {",": "comma", ";": "semicolon"}[mark]
        lines = _lines(mark)
        yield _made(f"trailing-everywhere-{kind}", _text([one + mark for one in lines]))
        yield _made(
            f"trailing-rows-only-{kind}",
            _text([lines[0], *(one + mark for one in lines[1:])]),
            notes=("Surplus",),
        )
        yield _made(
            f"trailing-some-{kind}",
            _text([*lines[:3], *(one + mark * 2 for one in lines[3:])]),
            notes=("Surplus",),
        )
        yield _made(
            f"trailing-header-only-{kind}", _text([lines[0] + mark * 2, *lines[1:]]), notes=()
        )
        yield _made(f"blank-columns-{kind}", _text([one + mark * 6 for one in lines]))
        yield _made(
            f"blank-lines-{kind}",
            _text([*lines[:3], "", *lines[3:], "", ""]),
            notes=("blank line",),
        )
        yield _made(
            f"padded-blank-lines-{kind}",
            _text([*lines[:3], mark * 3, *lines[3:], mark * 3, mark * 3]),
            notes=("no value",),
        )
        yield _made(
            f"wide-blank-lines-{kind}", _text([*lines, mark * 9, mark * 9]), notes=("no value",)
        )
        yield _made(
            f"blanks-as-fields-{kind}",
            _text([lines[0], *(f"{one}{mark} " for one in lines[1:])]),
            notes=("Surplus",),
        )


def _notes_below() -> Iterator[PortalFile]:
    """Notes and sources below the table."""
    for mark in (",", ";"):
        kind = {",": "comma", ";": "semicolon"}[mark]
        lines = _lines(mark)
        yield _made(
            f"note-below-{kind}", _text([*lines, "Source: statistical office"]), notes=("left out",)
        )
        yield _made(
            f"notes-after-blank-{kind}",
            _text([*lines, "", "* provisional", "Source: statistical office"]),
            notes=("left out",),
        )
        yield _made(
            f"quoted-note-below-{kind}", _text([*lines, '"Source: a, b; c"']), notes=("left out",)
        )
        yield _made(
            f"padded-note-{kind}",
            _text([*lines, "Source: office" + mark * 3]),
            _with("Source: office"),
            notes=("below",),
        )
        yield _made(
            f"padded-notes-{kind}",
            _text([*lines, mark * 3, "(c) office" + mark * 3, "Made in 2021" + mark * 3]),
            _with("(c) office", "Made in 2021"),
            notes=("below",),
        )
        yield _made(
            f"quoted-padded-note-{kind}",
            _text([*lines, '"Source: a, b; c"' + mark * 3]),
            _with("Source: a, b; c"),
            notes=("below",),
        )


def _above() -> Iterator[PortalFile]:
    """Titles above the table."""
    for mark in (",", ";"):
        kind = {",": "comma", ";": "semicolon"}[mark]
        lines = _lines(mark)
        yield _made(
            f"title-{kind}", _text(["Population by region", *lines]), notes=("above the table",)
        )
        yield _made(
            f"titles-{kind}",
            _text(["Population", "Made on 2021-05-06", "", *lines]),
            notes=("above the table",),
        )
        yield _made(
            f"padded-titles-{kind}",
            _text(["Population" + mark * 3, "all regions" + mark * 3, mark * 3, *lines]),
            notes=("above the table",),
        )
        yield _made(
            f"titles-and-notes-{kind}",
            _text(["Population" + mark * 3, mark * 3, *lines, mark * 3, "Source: x" + mark * 3]),
            _with("Source: x"),
            notes=("above the table", "below"),
        )


def _quotes() -> Iterator[PortalFile]:
    """Quotes that are not doubled, or inside values without quotes."""
    other = (('Haus "Nord"', *ROWS[0][1:]), ('19" rack', *ROWS[1][1:]), *ROWS[2:])
    yield _made("quotes-inside-unquoted", _text(_lines(rows=other)), other, notes=("quote",))
    yield _made(
        "quotes-inside-unquoted-semicolon", _text(_lines(";", other)), other, notes=("quote",)
    )
    lines = _lines()
    lines[1] = '"Haus "Nord" am See",2019,1200,12.5'
    yield _made(
        "loose-quotes",
        _text(lines),
        (('Haus "Nord" am See', *ROWS[0][1:]), *ROWS[1:]),
        notes=("not doubled",),
    )
    texts = (("Nord, oben", *_comma()[0][1:]), *_comma()[1:])
    yield _made("comma-text-in-semicolons", _text(_lines(";", texts)), texts)
    yield _made("decimal-commas", _text(_lines(";", _comma())), _comma())
    yield _made(
        "decimal-commas-cp1252", _text(_lines(";", _comma()), "\r\n"), _comma(), encoding="cp1252"
    )
    quoted = (("1,200", "a"), ("340", "b"), ("5,610", "c"))
    yield _made(
        "thousands-quoted",
        _text(["persons,group", '"1,200",a', "340,b", '"5,610",c']),
        quoted,
        ("persons", "group"),
    )
    inch = (('5" pipe', "12"), ('6" pipe', "13"), ("tube", "14"))
    yield _made(
        "inch-marks",
        _text(["item,count", '5" pipe,12', '6" pipe,13', "tube,14"]),
        inch,
        ("item", "count"),
        notes=("quote",),
    )


def _ends() -> Iterator[PortalFile]:
    """Byte order marks, line ends, units and totals."""
    lines = _lines()
    yield PortalFile("mark", b"\xef\xbb\xbf" + _text(lines).encode(), NAMES, ROWS, ("mark",))
    yield PortalFile("mark-16", _text(lines).encode("utf-16"), NAMES, ROWS, ("mark",))
    mixed = "\r\n".join(lines[:3]) + "\n" + "\n".join(lines[3:]) + "\r\n"
    yield _made("mixed-ends", mixed, notes=("unusual",))
    yield _made("cr-ends", _text(lines, "\r"), notes=("unusual",))
    yield PortalFile("sep-line", b"sep=;\r\n" + _text(_lines(";"), "\r\n").encode(), NAMES, ROWS)
    total = ("Total", "", "9610", "100")
    yield _made("totals-row", _text([*lines, ",".join(total)]), (*ROWS, total))
    units = ("", "", "persons", "%")
    yield _made("units-row", _text([lines[0], ",".join(units), *lines[1:]]), (units, *ROWS))
    yield _made("ctrl-z", _text(lines) + "\x1a", notes=("0x1A",))
    yield _made("nuls-at-the-end", _text(lines) + "\0" * 100, notes=("NULs",))
    yield _made("nuls-behind-the-last-value", _text(lines, last=False) + "\0" * 9, notes=("NULs",))
    yield _made(
        "mark-and-title",
        "\ufeff" + _text(["Population,,,", *lines, "Source: x,,,"]),
        _with("Source: x"),
        notes=("mark", "above the table", "below"),
    )


def portal_files() -> tuple[PortalFile, ...]:
    """All of them; no two have one name."""
    parts = (_cut(), _padded(), _notes_below(), _above(), _quotes(), _ends())
    return tuple(one for part in parts for one in part)
