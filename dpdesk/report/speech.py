"""How templates speak: messages with values in them, sentences, numbers, charts.

A message stands between ``{% t %}`` and ``{% endt %}``, with its values named in the first tag:
``{% t n=rows %}{n} rows are missing.{% endt %}``. It may hold marks such as ``<code>``; values are
escaped. ``tn(count, one, many)`` is a message for one or for many.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from jinja2 import nodes
from jinja2.ext import Extension

from dpdesk.core.language import Untranslated, voice
from dpdesk.core.messages import text_of
from dpdesk.core.shown import LONGEST_TEXT, shortened
from dpdesk.report.marks import marked

if TYPE_CHECKING:
    from jinja2.parser import Parser
    from markupsafe import Markup


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
