"""Self-contained pages: templates with escaping on, styles inline, no script, no network."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from jinja2 import nodes
from jinja2.ext import Extension

from dpdesk.core.charts import Cell, Chart, format_figure
from dpdesk.core.language import ENGLISH, Untranslated, languages, voice
from dpdesk.core.language import message as m
from dpdesk.core.messages import msg, text_of
from dpdesk.core.plain import EMPTY
from dpdesk.core.shown import LONGEST_TEXT, shortened
from dpdesk.core.spoken_charts import spoken_chart
from dpdesk.report.svg import render_chart

if TYPE_CHECKING:
    from jinja2 import Environment
    from jinja2.parser import Parser
    from markupsafe import Markup


# Marks of readable text: names in backticks as code, and blanks at which no line may break.


_QUOTED = re.compile(r"`([^`]+)`")
_TAG = re.compile(r"(<[^>]*>)")
_AS_IT_IS = ("<style", "<code", '<span class="value"')
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]"
)
_LETTERS = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
_RIGHT_TO_LEFT = re.compile(f"[{_LETTERS}]+(?: +[{_LETTERS}]+)*")
_APART = frozenset({"title", "style", "svg", "bdi"})
_UNITS = (
    "%|×|rows?|people|persons?|edges?|cells?|tables?|bits?|bytes|units|UTC|"
    "Zeilen?|Person(?:en)?|Kanten?|Zellen?|Tabellen?|Bits?|Einheiten"
)
_TIES = (
    (re.compile(rf"(?<=\d) (?=(?:{_UNITS})(?![\w-]))"), "\u00a0"),
    (re.compile(r"(?<=[±≈≤≥]) (?=\d)"), "\u00a0"),
    (re.compile(r"(?<![\w])([εδρσk]|n|ℓ′?|S) = (?=[\d(])"), "\\1\u00a0=\u00a0"),
)


def marked(text: object) -> Markup | str:
    """A sentence in which what stands in backticks is code; what has no translation says so."""
    from markupsafe import Markup, escape

    words = str(text)
    shown: Markup | str = words
    if words.count("`") and words.count("`") % 2 == 0:
        pieces = _QUOTED.split(words)
        shown = Markup("").join(
            Markup("<code>{}</code>").format(shortened(piece))
            if place % 2
            else escape(shortened(piece, LONGEST_TEXT))
            for place, piece in enumerate(pieces)
        )
    if isinstance(text, Untranslated):
        return Markup('<span lang="en">{}</span>').format(shown)
    return shown


def tied(page: str) -> str:
    """The page with a blank that does not break between a number and its unit.

    Tags, styles, code and values of the data stay as they are.
    """
    pieces = _TAG.split(page)
    for place in range(0, len(pieces), 2):
        if place and pieces[place - 1].startswith(_AS_IT_IS):
            continue
        pieces[place] = tied_text(pieces[place])
    return "".join(pieces)


def isolated(page: str) -> str:
    """The page, in which no value of the data turns the order of the words around it.

    Characters that show nothing, act on programs or turn the direction of what follows them are
    written as their numbers (as ``U+202E`` is elsewhere); those that join letters stay. Words that
    are written from right to left stand apart from the numbers and marks next to them, wherever
    elements may stand; drawings hold each text by itself.
    """
    page = _UNSEEN.sub(lambda found: rf"\u{ord(found[0]):04x}", page)
    if _RIGHT_TO_LEFT.search(page) is None:
        return page
    pieces, within = _TAG.split(page), ""
    for place, piece in enumerate(pieces):
        if place % 2:
            within = _within(piece, within)
        elif not within:
            pieces[place] = _RIGHT_TO_LEFT.sub(r"<bdi>\g<0></bdi>", piece)
    return "".join(pieces)


def _within(tag: str, within: str) -> str:
    """The element that a tag opens, or leaves open, in which no other elements may stand."""
    if within:
        return "" if tag == f"</{within}>" else within
    name = tag.strip("</>").partition(" ")[0]
    return name if name in _APART and not tag.startswith("</") else ""


def tied_text(text: str) -> str:
    """A text with a blank that does not break between a number and its unit."""
    for pattern, replacement in _TIES:
        text = pattern.sub(replacement, text)
    return text


# How templates speak: messages with values in them, sentences, numbers, charts.
#
# A message stands between ``{% t %}`` and ``{% endt %}``, with its values named in the first tag:
# ``{% t n=rows %}{n} rows are missing.{% endt %}``. It may hold marks such as ``<code>``; values
# are escaped. ``tn(count, one, many)`` is a message for one or for many.


class Messages(Extension):
    """The tag ``{% t name=value %}…{% endt %}``."""

    tags = {"t"}  # noqa: RUF012 - the library's own form

    def parse(self, parser: Parser) -> nodes.Node:
        """Turn the tag into a call of ``t``."""
        line = next(parser.stream).lineno
        values: list[nodes.Keyword] = []
        while not parser.stream.current.test("block_end"):
            if values:
                parser.stream.expect("comma")
            name = parser.stream.expect("name").value
            parser.stream.expect("assign")
            values.append(nodes.Keyword(name, parser.parse_expression(), lineno=line))
        body = parser.parse_statements(("name:endt",), drop_needle=True)
        words = "".join(_words(node, parser) for node in body)
        call = nodes.Call(
            nodes.Name("t", "load"), [nodes.Const(words)], values, None, None, lineno=line
        )
        return nodes.Output([call], lineno=line)


def _words(node: nodes.Node, parser: Parser) -> str:
    if isinstance(node, nodes.Output) and all(
        isinstance(n, nodes.TemplateData) for n in node.nodes
    ):
        return "".join(piece.data for piece in node.nodes if isinstance(piece, nodes.TemplateData))
    return parser.fail("a message holds words alone; name its values in the tag", node.lineno)


def text(english: str, **values: object) -> Markup:
    """A message of a template, whose own words may hold marks; its values are escaped."""
    return _filled(voice().template(english), values)


def counted(number: int, one: str, many: str, **values: object) -> Markup:
    """A message for one or for many; ``{n}`` is the number."""
    return _filled(voice().counted_template(number, one, many), {"n": number, **values})


def _filled(template: str, values: Mapping[str, object]) -> Markup:
    from markupsafe import Markup, escape

    shown = {name: count(v) if _is_whole(v) else escape(_short(v)) for name, v in values.items()}
    words = Markup(template.format(**shown) if shown else template)
    if isinstance(template, Untranslated):
        return Markup('<span lang="en">{}</span>').format(words)
    return words


def _short(value: object) -> object:
    """A value of a message; what is markup already has been shortened."""
    plain = isinstance(value, str) and not hasattr(value, "__html__")
    return shortened(str(value), LONGEST_TEXT) if plain else value


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def say(sentence: object) -> Markup | str:
    """A finished English sentence in the language of the page, with its names as code."""
    return marked(voice().say(text_of(sentence)))


def day(date: object) -> str:
    """A day as the language of the page writes it."""
    return voice().day(str(date))


def count(number: object) -> str:
    """A whole number with marks between its thousands."""
    return voice().count(int(str(number)))


FIELDS = frozenset(
    {
        m("edges"),
        m("rows from a node to itself"),
        m("rows that repeat an edge"),
        m("packages"),
        m("system"),
        m("check"),
        m("measure"),
        m("process"),
        m("pseudonyms"),
        m("write the tables"),
        m("search"),
        m("write microdata"),
        m("draw"),
        m("read"),
        m("make hierarchies"),
        m("cost"),
        m("debit"),
        m("entry"),
        m("ledger"),
        m("population"),
        m("time"),
        m("decimal"),
        m("delimiter"),
        m("encoding"),
        m("format"),
        m("header"),
        m("missing"),
        m("missing candidates"),
        m("newline"),
        m("notes"),
        m("quote"),
        m("skipped lines"),
        m("count"),
        m("counting"),
        m("rows left out"),
        m("rows with values outside the domain"),
        m("values that are no numbers"),
        m("rows beyond the bound"),
        m("rows without a person"),
        m("lattice nodes"),
        m("nodes checked"),
        m("rows suppressed allowed"),
        m("seconds"),
        m("rows allowed"),
        m("value counts"),
        m("average risk"),
        m("class sizes"),
        m("classes"),
        m("highest risk"),
        m("rows"),
        m("rows above threshold"),
        m("sample uniques"),
        m("share above threshold"),
        m("smallest class"),
        m("threshold"),
        m("violations"),
        m("attacker"),
        m("quasi identifiers"),
        m("beliefs"),
        m("belief after"),
        m("belief before most frequent"),
        m("belief before rarest"),
        m("most rows of a value"),
        m("values"),
        m("rows alone"),
        m("attributes"),
        m("average class size"),
        m("discernibility"),
        m("entropy"),
        m("loss"),
        m("precision"),
        m("suppressed share"),
        m("suppression by group"),
    }
)


MOST_TABLE_ROWS = 500


def render(template: str, values: Mapping[str, object]) -> bytes:
    """A page as UTF-8 bytes with LF line ends; every value is escaped.

    It is in the language that :func:`dpdesk.core.language.speaking` has set. No value turns the
    direction in which others are read, see :func:`~dpdesk.report.pages.isolated`.
    """
    page = template_environment().get_template(template).render(values, language=voice().language)
    page = isolated(tied(page))
    return (page.replace("\r\n", "\n").rstrip("\n") + "\n").encode("utf-8", "replace")


_MEASURE = re.compile(r"(?:sum|centred sum|average) of ")
_OPENING = re.compile(rb'<!DOCTYPE html>\s*<html lang="([A-Za-z-]{2,20})">')


def language_of(page: bytes) -> str:
    """The language that a page of ours says it is in; English when it says none that there is."""
    code = stated_language(page)
    return code if code in languages() else ENGLISH


def stated_language(page: bytes) -> str:
    """The language that a page says it is in, whether there is such or not; English by default."""
    found = _OPENING.match(page)
    return found[1].decode("ascii") if found else ENGLISH


@cache
def template_environment() -> Environment:
    """Where templates are compiled: escaping on, every name must be there."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("dpdesk.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=[Messages],
        finalize=_finalized,
    )
    environment.filters.update(
        visible=visible, plain=plain_value, cell=cell_text, numeric=is_number,
        say=say, day=day, count=count, spoken=spoken_chart,
        marked=marked,
    )  # fmt: skip
    environment.globals.update(picture=_picture, most_rows=MOST_TABLE_ROWS, t=text, tn=counted)
    return environment


def _finalized(value: object) -> object:
    """What a language lacks is marked as English; no text is longer than a page can show."""
    from markupsafe import Markup

    if isinstance(value, str) and not isinstance(value, Markup) and len(value) > LONGEST_TEXT:
        return shortened(value, LONGEST_TEXT)
    if not isinstance(value, Untranslated):
        return value

    return Markup('<span lang="en">{}</span>').format(str(value))


def _picture(chart: Chart) -> object:
    from markupsafe import Markup

    return Markup(render_chart(chart))  # all texts in it are escaped there


def figure(value: float | None, kind: str) -> str:
    """A number as :func:`~dpdesk.core.charts.format_figure` writes it, with the page's marks."""
    return voice().figure(format_figure(value, kind))


def _none() -> str:
    return voice().text("none")


def visible(value: object) -> str:
    """A data value as readers can see it: an empty one is named, blanks at the ends are shown.

    Of a very long one the beginning is shown.
    """
    shown = shortened(str(value))
    if not shown:
        return voice().text("(empty)")
    stripped = shown.strip(" ")
    lead = len(shown) - len(shown.lstrip(" "))
    return (
        "␣" * lead + stripped + "␣" * (len(shown) - lead - len(stripped))
        if stripped
        else ("␣" * len(shown))
    )


def is_number(value: object) -> bool:
    """Whether a cell holds a number, which is aligned to the right."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def cell_text(value: Cell) -> str:
    """A cell of a table: grouped digits, a dash for nothing."""
    if value is None:
        return "–"
    if isinstance(value, int):
        return voice().count(value)
    if isinstance(value, float):
        return figure(value, "number")
    return voice().text(EMPTY) if value == EMPTY else shortened(value)


def plain_value(value: object) -> str:
    """A JSON value in words."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return voice().text("yes") if value else voice().text("no")
    if isinstance(value, int | float):
        return cell_text(value)
    if isinstance(value, Mapping):
        lists = any(isinstance(item, list | tuple) for item in value.values())
        parts = (
            msg("{file}: {note}", file=key, note=plain_value(item)) for key, item in value.items()
        )
        return ("; " if lists else ", ").join(parts) or _none()
    if isinstance(value, Sequence) and not isinstance(value, str):
        empty = voice().text(EMPTY)
        return ", ".join(empty if item == "" else plain_value(item) for item in value) or _none()
    return shortened(str(value))


def measure_words(name: str) -> str:
    """A measure such as ``sum of income`` in the language of the page; its column stays."""
    kind, of, column = name.partition(" of ")
    return voice().say(msg("{kind} of {column}", kind=kind, column=column) if of else name)


def _field(key: str) -> str:
    """A key in words; one that is no field of ours is a name of the data and stays."""
    name = key.replace("_", " ")
    if _MEASURE.match(name):
        return measure_words(name)
    return voice().text(name) if name in FIELDS else name


def flattened(table: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """The leaves of nested tables with their path in words; lists stay whole."""
    for key, value in table.items():
        name = f"{prefix}{_field(str(key))}"
        if isinstance(value, Mapping):
            yield from flattened(value, f"{name}, ")
        else:
            yield name, value
