"""Messages: finished English texts that know of which template they are, and what fills it.

A message is the English text wherever a text is wanted: it is stored, compared and sorted as such.
Who says it in another language takes its template and values, so that nothing has to be found out
from the finished text: a name may hold full stops, commas or whole sentences. A count inside is a
message of its own (:func:`counted`), so that each language says it by its own plural rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from string import Formatter
from typing import Self

_FORMATTER = Formatter()
_MOST_DEEP = 12
TABLE = "messages"
"""The key under which what is stored says what its texts are made of."""


class Message(str):
    """A text made of ``template``, whose ``values`` are texts or messages themselves, by name."""

    __slots__ = ("template", "values")

    template: str
    values: Mapping[str, str]

    def __new__(cls, template: str, values: Mapping[str, object]) -> Self:
        """Fill the template as :meth:`str.format` does. KeyError for a value that is missing."""
        made = super().__new__(cls, template.format(**values))
        made.template = template
        made.values = {name: _shown(values[name], *form) for name, form in _fields(template)}
        return made

    def __add__(self, text: str) -> str:
        """The message and the text after it, as one message."""
        return joined([self, text], "")

    def __radd__(self, text: str) -> str:
        """The text and this message after it, as one message."""
        return joined([text, self], "")

    def __reduce__(self) -> tuple[object, ...]:
        """What makes it again in another process, where its numbers are texts already."""
        return Message, (bare(self.template), self.values)


class Counted(Message):
    """A message that has one form for one and another for many; ``n`` of its values is counted."""

    __slots__ = ("forms", "number")

    number: int
    forms: tuple[str, str]

    @classmethod
    def of(cls, one: str, many: str, count: int, values: Mapping[str, object]) -> Self:
        """The form that the count wants; ``values`` hold ``n``."""
        made = cls(one if count == 1 else many, values)
        made.number, made.forms = count, (one, many)
        other = cls(many if count == 1 else one, values)
        made.values = {"n": f"{count:,}", **other.values, **made.values}
        return made

    def __reduce__(self) -> tuple[object, ...]:
        """As for any message, with both forms."""
        one, many = map(bare, self.forms)
        return Counted.of, (one, many, self.number, self.values)


class Listed(str):
    """Texts in a row: ``a, b and c``, or ``a, b and 3 more``; ``items`` are texts or messages."""

    __slots__ = ("items", "more")

    items: tuple[str, ...]
    more: int

    def __new__(cls, items: Iterable[str], more: int = 0) -> Self:
        """Join the items; ``more`` says how many others are not named."""
        parts = tuple(items)
        shown = [*map(str, parts), f"{more:,} more"] if more else [*map(str, parts)]
        text = "".join(shown) if len(shown) < 2 else f"{', '.join(shown[:-1])} and {shown[-1]}"
        made = super().__new__(cls, text)
        made.items, made.more = parts, more
        return made

    def __reduce__(self) -> tuple[object, ...]:
        """What makes it again in another process."""
        return Listed, (self.items, self.more)


def text_of(value: object) -> str:
    """The text of a value; of a message, the message itself."""
    return value if isinstance(value, str) else str(value)


def msg(template: str, /, **values: object) -> str:
    """The :class:`Message` of a template such as ``Column `{name}`: {rows:,} rows``."""
    return Message(template, values)


def counted(one: str, many: str, /, *, n: int, **values: object) -> str:
    """The :class:`Counted` message, such as ``{n:,} row`` and ``{n:,} rows``, for ``n``."""
    return Counted.of(one, many, n, {"n": n, **values})


def listed(items: Sequence[str], most: int | None = None) -> str:
    """The :class:`Listed` texts; of more than ``most`` it says how many others there are."""
    shown = items if most is None else items[:most]
    return Listed(shown, len(items) - len(shown))


def joined(parts: Iterable[str], between: str = " ") -> str:
    """Messages one after another: their texts with a fixed text between."""
    texts = [
        part if isinstance(part, Message | Listed) else Message(_escaped(part), {})
        for part in parts
        if part
    ]
    if len(texts) == 1:
        return texts[0]
    names = [f"part{number}" for number in range(len(texts))]
    fields = _escaped(between).join(f"{{{name}}}" for name in names)
    return Message(fields, dict(zip(names, texts, strict=True)))


def unstopped(text: str) -> str:
    """A text or message without the full stop at its end."""
    if not isinstance(text, Message):
        return text.removesuffix(".")
    if isinstance(text, Counted):
        one, many = (bare(form).removesuffix(".") for form in text.forms)
        return Counted.of(one, many, text.number, text.values)
    template, names = bare(text.template), frame(text.template)[1]
    if not names or not template.endswith(f"{{{names[-1]}}}"):
        return Message(template.removesuffix("."), text.values)
    return Message(template, {**text.values, names[-1]: unstopped(text.values[names[-1]])})


@cache
def frame(template: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The fixed parts of a template, one more than its fields, and the names of the fields."""
    literals, names = [""], []
    for literal, name, _, _ in _FORMATTER.parse(template):
        literals[-1] += literal
        if name is not None:
            names.append(name)
            literals.append("")
    return tuple(literals), tuple(names)


@cache
def bare(template: str) -> str:
    """A template whose fields say nothing but their names: ``{n:,}`` is ``{n}``."""
    return "".join(
        _escaped(literal) + (f"{{{name}}}" if name is not None else "")
        for literal, name, _, _ in _FORMATTER.parse(template)
    )


def made_of(text: str) -> object:
    """What a message or list is made of, as values of JSON; a plain text is itself."""
    if isinstance(text, Listed):
        return {"items": [made_of(item) for item in text.items], "more": text.more}
    if not isinstance(text, Message):
        return text
    values = {name: made_of(value) for name, value in text.values.items()}
    if isinstance(text, Counted):
        one, many = map(bare, text.forms)
        return {"one": one, "many": many, "count": text.number, "values": values}
    return {"template": bare(text.template), "values": values}


def made_again(text: str, made: object) -> str:
    """The message that a text is by what is stored of it.

    Nothing is taken on trust: where what is stored does not give exactly this text, the plain text
    is the answer.
    """
    try:
        found = _made(made, 0)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        return text
    return found if found == text else text


def _made(made: object, depth: int) -> str:
    if isinstance(made, str):
        return made
    if not isinstance(made, Mapping) or depth > _MOST_DEEP:
        raise TypeError("neither a text nor a message")
    if set(made) == {"items", "more"}:
        return Listed([_made(item, depth + 1) for item in _sequence(made)], _whole(made["more"]))
    values = {str(name): _made(value, depth + 1) for name, value in _values(made).items()}
    if set(made) == {"one", "many", "count", "values"}:
        count = _whole(made["count"])
        one, many = _plain(made["one"]), _plain(made["many"])
        shown, other = (one, many) if count == 1 else (many, one)
        if values.get("n", "").replace(",", "") != str(count):
            raise ValueError("not the count that the text says")
        if not {*values} <= {*frame(shown)[1], "n"} or not {*frame(other)[1]} <= {*values}:
            raise ValueError("values that the text does not show")
        return Counted.of(one, many, count, values)
    if set(made) != {"template", "values"}:
        raise ValueError("not a message")
    template = _plain(made["template"])
    if {*values} != {*frame(template)[1]}:
        raise ValueError("values that the text does not show")
    return Message(template, values)


def _plain(template: object) -> str:
    """A template that asks for nothing but values by their names."""
    if not isinstance(template, str) or bare(template) != template:
        raise ValueError("not a template")
    if not all(name.isidentifier() for name in frame(template)[1]):
        raise ValueError("not the names of values")
    return template


def _sequence(made: Mapping[str, object]) -> list[object]:
    items = made["items"]
    if not isinstance(items, list):
        raise TypeError("not a list")
    return items


def _values(made: Mapping[str, object]) -> Mapping[str, object]:
    values = made["values"]
    if not isinstance(values, Mapping):
        raise TypeError("not values")
    return values


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise TypeError("not a count")
    return value


def table_of(content: object) -> dict[str, object]:
    """What the messages in a content are made of, by their texts, for storing next to them."""
    return {text: made_of(text) for text in sorted(set(_messages(content)))}


def makings(content: object) -> dict[str, list[object]]:
    """All ways in which the messages in a content are made, by their texts: two templates may give
    the same text, of which a table holds one.
    """
    found: dict[str, list[object]] = {}
    for text in _messages(content):
        ways, made = found.setdefault(text, []), made_of(text)
        if made not in ways:
            ways.append(made)
    return found


def table_faults(content: Mapping[str, object], *, public: bool = False) -> Iterator[str]:
    """What is wrong with the table in a content: it must give its texts.

    Where it is ``public``, it may hold nothing that is not a text of the content as well.
    """
    table = content.get(TABLE, {})
    if not isinstance(table, Mapping):
        yield msg("`{table}` is not a table", table=TABLE)
        return
    texts = set(texts_in({name: item for name, item in content.items() if name != TABLE}))
    for text, made in table.items():
        if public and text not in texts:
            yield msg("`{table}` contains a text that appears nowhere else", table=TABLE)
        elif type(made_again(text, made)) is str:
            words = "`{table}` does not give the text “{text}”"
            yield msg(words, table=TABLE, text=text[:60])


_NO_TEXTS = frozenset({int, float, bool, type(None)})
"""Types of most of what charts hold: telling them apart at once takes a fifth of the time."""


def texts_in(content: object) -> Iterator[str]:
    """All texts in a content of JSON, but its keys."""
    if type(content) in _NO_TEXTS:
        return
    if isinstance(content, str):
        yield content
    elif isinstance(content, Mapping):
        for item in content.values():
            yield from texts_in(item)
    elif isinstance(content, list | tuple):
        for item in content:
            yield from texts_in(item)


def read_again(content: Mapping[str, object], table: object) -> dict[str, object]:
    """A stored content without its own table, in which texts are messages again."""
    kept = {name: item for name, item in content.items() if name != TABLE}
    if not isinstance(table, Mapping):
        return kept
    return {name: relinked(item, table) for name, item in kept.items()}


def _messages(content: object) -> Iterator[str]:
    if type(content) in _NO_TEXTS:
        return
    if isinstance(content, Message | Listed):
        if not isinstance(content, Message) or content.values:
            yield content
    elif isinstance(content, Mapping):
        for item in content.values():
            yield from _messages(item)
    elif isinstance(content, list | tuple):
        for item in content:
            if type(item) not in _NO_TEXTS:
                yield from _messages(item)


def relinked(content: object, table: Mapping[str, object]) -> object:
    """A content as it is read, in which texts are the messages that the table says they are."""
    if type(content) in _NO_TEXTS:
        return content
    if isinstance(content, str):
        return made_again(content, table[content]) if content in table else content
    if isinstance(content, Mapping):
        return {name: relinked(item, table) for name, item in content.items()}
    if isinstance(content, list | tuple):
        return type(content)(
            [item if type(item) in _NO_TEXTS else relinked(item, table) for item in content]
        )
    return content


@cache
def _fields(template: str) -> list[tuple[str, tuple[str, str]]]:
    return [
        (name, (form or "", conversion or ""))
        for _, name, form, conversion in _FORMATTER.parse(template)
        if name is not None
    ]


def _shown(value: object, form: str, conversion: str) -> str:
    if isinstance(value, Message | Listed) and not form and not conversion:
        return value
    return f"{{0{'!' if conversion else ''}{conversion}:{form}}}".format(value)


def _escaped(literal: str) -> str:
    return literal.replace("{", "{{").replace("}", "}}")
