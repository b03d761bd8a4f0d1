"""The guide: pages by task, a card for each method, questions that lead to one, and a search.

Pages by task are ``resources/guide/<language>/NN-<id>.md``: Markdown in which ``{Save plan}`` is a
text of the window, shown in the language of the reader, and ``page:<id>`` a link to another page.
Cards are written from what methods say of themselves, so that a new method has one without a line
here. ``python -m dpdesk.app.guide`` prints the reference ``resources/docs/methods.md``.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from dpdesk.core.capabilities import Content
from dpdesk.core.language import ENGLISH, Voice, read_catalogue, voice_of
from dpdesk.core.language.catalogue import FORMS, PAGES, TEXTS, WINDOW
from dpdesk.core.messages import msg
from dpdesk.core.method_card import Attacker, MethodCard, Reader
from dpdesk.core.parameters import ChoiceParameter, Parameter
from dpdesk.core.resources import resource, resource_files
from dpdesk.engine.method import Method

_HEAD = """\
# Methods and hierarchy builders

This page is made from the program's own specifications: the same that the forms of the window, the
checks of a plan and `dpdesk run --help` come from.
"""
_FOLDER = "guide"
_LABEL = re.compile(r"\{([^{}]+)\}")
_MARKS = re.compile(r"[*`#|\[\]]|\]\([^)]*\)")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_FOREIGN = re.compile(r"\[([^\]]*)\]\((?!page:)[^)]*\)")
"""A link to anything but a page of the guide; the guide opens nothing outside itself."""
_AROUND = 70
CHOOSER, GLOSSARY = "chooser", "glossary"
TASKS, CARDS, WORDS = msg("Tasks"), msg("Methods"), msg("Words")
"""The groups in which pages are listed."""
_SECTIONS: tuple[tuple[str, str], ...] = (
    ("protects", msg("What it protects against")),
    ("leaves", msg("What it does not protect against")),
    ("suits", msg("When to use it")),
    ("unfit", msg("When not to use it")),
)
_SETTINGS, _SOURCES = msg("Settings"), msg("Sources")
_CORRECTIONS = msg("Where the program departs from its sources")
_UNSAID = msg("The method does not say.")
_COLUMNS = (msg("setting"), msg("key of plans"), msg("value"), msg("what it does"))


@dataclass(frozen=True)
class GuidePage:
    """A page: its ``id`` for links, the group it is listed in, and its Markdown."""

    id: str
    title: str
    group: str
    text: str


@dataclass(frozen=True)
class Hit:
    """A page in which all words of a search are found, and the place where, in plain text."""

    page: GuidePage
    place: str


@dataclass(frozen=True)
class Choice:
    """An answer to a question of the chooser, by what methods say of themselves."""

    id: str
    label: str


@dataclass(frozen=True)
class Proposal:
    """A method that releases what is asked for; ``against`` says why it does not fit, if so."""

    method: Method
    against: tuple[str, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.against


_TOPICS: tuple[tuple[Choice, frozenset[Content]], ...] = (
    (Choice("rows", msg("Rows, one for each person or unit")), frozenset({Content.ROWS})),
    (
        Choice("tables", msg("Tables of counts, sums or averages")),
        frozenset({Content.TABLES, Content.CELLS}),
    ),
    (Choice("graph", msg("Who is connected with whom")), frozenset({Content.GRAPH})),
    (Choice("itemsets", msg("What occurs together most often")), frozenset({Content.ITEMSETS})),
    (
        Choice("choices", msg("The median or most frequent value of each group")),
        frozenset({Content.CHOICES}),
    ),
)
TOPICS = tuple(choice for choice, _ in _TOPICS)
READERS: Mapping[Reader, str] = {
    Reader.PUBLIC: msg("The public"),
    Reader.RESEARCHERS: msg("Researchers under contract or in a safe room"),
}
ATTACKERS: Mapping[Attacker, str] = {
    Attacker.ACQUAINTANCE: msg("Someone who knows some facts about a person"),
    Attacker.INSIDER: msg("Someone who knows everything about everyone else"),
    Attacker.CONTRIBUTOR: msg("Someone who is in the table, such as a rival"),
}


def proposals(
    methods: Iterable[Method], topic: str, reader: Reader, attacker: Attacker
) -> tuple[Proposal, ...]:
    """The methods that release what is asked for: first those that fit, in registry order.

    A method that does not say for whom or against whom it protects never fits.
    """
    contents = next(contents for choice, contents in _TOPICS if choice.id == topic)
    found = [
        Proposal(one, _objections(one.card, reader, attacker))
        for one in methods
        if one.capabilities.content in contents
    ]
    return tuple(sorted(found, key=lambda one: not one.fits))


def _objections(card: MethodCard, reader: Reader, attacker: Attacker) -> tuple[str, ...]:
    objections = []
    if attacker not in card.attackers:
        objections.append(msg("It does not protect against: {who}.", who=ATTACKERS[attacker]))
    if reader not in card.readers:
        objections.append(msg("It is not meant for: {who}.", who=READERS[reader]))
    return tuple(objections)


def guide_pages(methods: Iterable[Method], language: str) -> tuple[GuidePage, ...]:
    """All pages in a language, in the order in which to list them; tasks that the language does
    not have are in English.

    Raises StorageError ``resources.missing``.
    """
    voice = voice_of(language, PAGES, TEXTS, FORMS)
    tasks = tuple(_task(name, language, voice) for name in _names(ENGLISH))
    cards = tuple(_card_page(method, voice) for method in methods)
    return (*tasks, *cards, _glossary(language, voice))


def _names(language: str) -> tuple[str, ...]:
    return tuple(entry.name for entry in resource_files(f"{_FOLDER}/{language}", ".md"))


def _task(name: str, language: str, voice: Voice) -> GuidePage:
    spoken = language if name in _names(language) else ENGLISH
    raw = resource(f"{_FOLDER}/{spoken}/{name}").read_text(encoding="utf-8")
    text = _LABEL.sub(lambda found: f"**{label(' '.join(found[1].split()), spoken)}**", raw)
    title = text.partition("\n")[0].removeprefix("# ")
    return GuidePage(name.partition("-")[2].removesuffix(".md"), title, voice.say(TASKS), text)


def label(english: str, language: str) -> str:
    """A text of the window in a language, without its mark for a letter; itself if unknown."""
    return english if language == ENGLISH else _labels(language).get(english, english)


@cache
def _labels(language: str) -> Mapping[str, str]:
    plain = read_catalogue(language, (TEXTS, WINDOW)).plain
    return {key.replace("&", ""): text.replace("&", "") for key, text in plain.items()}


def knows_label(english: str, language: str) -> bool:
    """Whether a language has words for a text of the window."""
    return english in _labels(language)


def _glossary(language: str, voice: Voice) -> GuidePage:
    name = f"{GLOSSARY}.md"
    path = f"{_FOLDER}/{language}/{name}" if name in _names(language) else f"docs/{name}"
    text = _FOREIGN.sub(r"\1", resource(path).read_text(encoding="utf-8"))
    return GuidePage(GLOSSARY, text.partition("\n")[0].removeprefix("# "), voice.say(WORDS), text)


def _card_page(method: Method, voice: Voice) -> GuidePage:
    title = voice.say(method.title)
    lines = [f"# {title}", "", f"{voice.say(method.summary)} {voice.say(method.promise)}", ""]
    lines += _card(method.card, voice.say)
    lines += [f"## {voice.say(_SETTINGS)}", ""]
    lines.append("| " + " | ".join(map(voice.say, _COLUMNS)) + " |")
    lines.append("| " + " | ".join("---" for _ in _COLUMNS) + " |")
    for one in method.parameters:
        value = (voice.say(one.range_text()), voice.say(one.help))
        cells = (voice.say(one.label), f"`{one.key}`", *value)
        lines.append("| " + " | ".join(map(_cell, cells)) + " |")
    return GuidePage(method.id, title, voice.say(CARDS), "\n".join(lines) + "\n")


def _card(card: MethodCard, say: Callable[[str], str]) -> list[str]:
    lines: list[str] = []
    for part, heading in _SECTIONS:
        lines += [f"## {say(heading)}", ""]
        lines += [*(f"- {say(one)}" for one in getattr(card, part) or (_UNSAID,)), ""]
    if card.corrections:
        lines += [f"## {say(_CORRECTIONS)}", "", *(f"- {say(one)}" for one in card.corrections), ""]
    return [
        *lines,
        f"## {say(_SOURCES)}",
        "",
        *(f"- {one}" for one in card.sources or (_UNSAID,)),
        "",
    ]


def found(pages: Sequence[GuidePage], words: str) -> tuple[Hit, ...]:
    """Pages that hold all words, those with more of them in title or headings first."""
    wanted = _folded(words).split()
    if not wanted:
        return tuple(Hit(page, "") for page in pages)
    scored = []
    for number, page in enumerate(pages):
        text = _folded(page.text)
        if all(word in text for word in wanted):
            headings = "\n".join(line for line in text.splitlines() if line.startswith("#"))
            score = sum(3 * (word in _folded(page.title)) + (word in headings) for word in wanted)
            scored.append((-score, number, Hit(page, _place(page.text, wanted))))
    return tuple(hit for _, _, hit in sorted(scored, key=lambda one: one[:2]))


def _place(text: str, wanted: Sequence[str]) -> str:
    """The text around the first line that holds most of the words."""
    plain = [_MARKS.sub("", _LINK.sub(r"\1", line)).strip() for line in text.splitlines()]
    best = max(plain, key=lambda line: sum(word in _folded(line) for word in wanted))
    at = min((place for word in wanted if (place := _folded(best).find(word)) >= 0), default=0)
    start = max(0, at - _AROUND)
    part = best[start : at + _AROUND].strip()
    return f"{'…' if start else ''}{part}{'…' if at + _AROUND < len(best) else ''}"


def _folded(text: str) -> str:
    """Without case and accents, letter by letter, so that places stay what they are."""
    return "".join(unicodedata.normalize("NFKD", letter)[:1].lower() for letter in text)


def method_guide(methods: Iterable[Method]) -> str:
    """Markdown on every method with its keys in a plan, and on every hierarchy builder."""
    parts = [_HEAD, *(_method(method) for method in methods), _builders()]
    return "\n".join(parts)


def _method(method: Method) -> str:
    lines = [
        f'## {method.title}: `method = "{method.id}"`',
        "",
        f"{method.summary} {method.promise}",
        "",
        *(line.replace("## ", "### ", 1) for line in _card(method.card, str)),
        *_table(method.parameters),
    ]
    for parameter in method.parameters:
        if isinstance(parameter, ChoiceParameter):
            lines += ["", f"`{parameter.key}`:", ""]
            lines += [
                f"- `{choice.value}`: {choice.label}{'. ' + choice.help if choice.help else ''}"
                for choice in parameter.choices
            ]
    return "\n".join(lines) + "\n"


def _builders() -> str:
    from dpdesk.engine.hierarchies.builders import builder_forms

    lines = ["## Hierarchy builders", ""]
    for kind, form in builder_forms().items():
        lines += [f'### {form.title}: `kind = "{kind}"`', "", form.summary, ""]
        lines += [*_table(form.parameters), ""]
    return "\n".join(lines).rstrip() + "\n"


def _table(parameters: Sequence[Parameter]) -> list[str]:
    lines = ["| key | value | unless given | what it does |", "| --- | --- | --- | --- |"]
    for parameter in parameters:
        unit = f" ({parameter.unit})" if parameter.unit else ""
        cells = (f"`{parameter.key}`{unit}", parameter.range_text(), _default(parameter))
        lines.append("| " + " | ".join(_cell(text) for text in (*cells, parameter.help)) + " |")
    return lines


def _default(parameter: Parameter) -> str:
    if parameter.required:
        return "required"
    plain = parameter.as_plain(parameter.default_value())
    return "–" if plain in (None, "", []) else f"`{plain}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> int:
    """Print the reference of methods."""
    from dpdesk.engine.methods.registered import default_registry

    sys.stdout.write(method_guide(default_registry()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
