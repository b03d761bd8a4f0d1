"""Sentences of the other layers in the language of the window; what it lacks stays English.

The other layers speak English, and what is signed stays English: only what is drawn here is said
in another language. ``resources/translations/<language>/texts*.po`` hold what can be said,
``forms.po`` what is said here otherwise, with names of controls for keys of a plan.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from PySide6.QtCore import QCoreApplication

from dpdesk.core.charts import BarChart, Cell, Chart, Figure
from dpdesk.core.errors import DpdeskError
from dpdesk.core.language import ENGLISH, Voice, speaking, voice_of
from dpdesk.core.language.catalogue import FORMS, PAGES, TEXTS
from dpdesk.core.messages import Message
from dpdesk.core.parameters import ChoiceParameter, Parameter
from dpdesk.core.release import Guarantee
from dpdesk.core.spoken_charts import spoken_chart
from dpdesk.ui.words.numbers import legible, tied, with_quotes

_PROPERTY, _CONTROLS, _TOTAL = "dpdesk-language", "dpdesk-controls", "grand total"
_Parameter = TypeVar("_Parameter", bound=Parameter)


def set_language(language: str) -> None:
    """Say everything from now on in this language."""
    application = QCoreApplication.instance()
    if application is not None:
        application.setProperty(_PROPERTY, language)


def window_language() -> str:
    """The language of the window."""
    application = QCoreApplication.instance()
    language = None if application is None else application.property(_PROPERTY)
    return str(language or ENGLISH)


def set_controls(labels: Mapping[str, str]) -> None:
    """Say from now on these labels of controls where a sentence names these keys of a plan."""
    application = QCoreApplication.instance()
    if application is not None:
        application.setProperty(_CONTROLS, dict(labels))


def in_window(sentence: str) -> str:
    """The sentence with controls instead of keys of a plan, and without the marks of a terminal.

    Names and values are put in quotation marks.
    """
    application = QCoreApplication.instance()
    labels = None if application is None else application.property(_CONTROLS)
    return with_quotes(said(sentence), labels or {})


def window_voice() -> Voice:
    """Who speaks in the window."""
    return voice_of(window_language(), PAGES, TEXTS, FORMS)


def said(text: str) -> str:
    """A text, or several sentences or lines, of another layer in the language of the window."""
    found = window_voice().known(text)
    if found is None and "\n" in text:
        return "\n".join(map(said, text.split("\n")))
    return tied(legible(found or text))


def table_words(name: str) -> str:
    """A table of a cube: its dimensions as they are, the one without dimensions in words."""
    return said(name) if name == _TOTAL else name


def said_error(error: DpdeskError) -> str:
    """An error's sentence and what to do about it."""
    return " ".join(filter(None, (said(error.sentence), said(error.hint))))


def said_line(error: DpdeskError) -> str:
    """An error as one line: in English one sentence, elsewhere sentence and hint."""
    return error.line if window_voice().language == ENGLISH else said_error(error)


def moment_words(time: datetime | str, *, day: bool = False) -> str:
    """A time as the window's language writes it; of a ``datetime`` the minute, or the day alone.

    Texts are times as files have them; what all of them share, the time zone, is left out.
    """
    if isinstance(time, str):
        return window_voice().moment(time).removesuffix("+00:00")
    return window_voice().moment(time.strftime("%Y-%m-%d" if day else "%Y-%m-%d %H:%M"))


_NAMES = ("Samarati", "Incognito", "Mondrian", "Gaussian", "Laplace")


def inside(label: str) -> str:
    """A label within a sentence: without the capital that English begins it with, unless it begins
    with a name.
    """
    named = label[1:2].isupper() or label.startswith(_NAMES)
    if window_voice().language != ENGLISH or named:
        return label
    return label[:1].lower() + label[1:]


def spoken_parameter(parameter: _Parameter) -> _Parameter:
    """A parameter whose words for people are said; its key, its unit and its values stay.

    The unit is said with a number: see :func:`unit_words`.
    """
    if window_voice().language == ENGLISH:
        return parameter
    made = replace(
        parameter,
        label=said(parameter.label),
        help=said(parameter.help),
    )
    if isinstance(made, ChoiceParameter):
        choices = tuple(
            replace(one, label=said(one.label), help=said(one.help)) for one in made.choices
        )
        return replace(made, choices=choices)
    return made


def spoken_figures(figures: Sequence[Figure]) -> tuple[Figure, ...]:
    """Figures whose labels, units (of one or of many) and explanations are said."""
    return tuple(
        replace(
            one, label=said(one.label), unit=unit_words(one.unit, one.value), help=said(one.help)
        )
        for one in figures
    )


_ONE_OF = {"people": "person", "sets": "set of items"}
"""Units of one that are not the word of many without its s, or another word without it."""


def unit_words(unit: str, value: object) -> str:
    """The unit of parameters and figures as it is said after a number, of one or of many."""
    if value != 1:
        return said(unit)
    single = _ONE_OF.get(unit, unit.removesuffix("s"))
    if window_voice().language == ENGLISH:
        return single
    return window_voice().known(single) or said(unit)


def spoken_guarantee(guarantee: Guarantee) -> Guarantee:
    """A guarantee whose sentences are said."""
    return replace(
        guarantee,
        claim=in_window(guarantee.claim),
        assumes=tuple(map(in_window, guarantee.assumes)),
        does_not_cover=tuple(map(in_window, guarantee.does_not_cover)),
    )


def spoken(chart: Chart) -> Chart:
    """A chart in the language of the window; one that the window itself has made stays.

    Names and values are put in quotation marks.
    """
    speaker, before = window_voice(), chart
    if speaker.language != ENGLISH and speaker.known(chart.question) is not None:
        with speaking(speaker.language):
            chart = spoken_chart(chart)
    if isinstance(chart, BarChart) and isinstance(before, BarChart):
        chart = _quoted(chart, before)
    if "`" not in f"{chart.question}{chart.answer}":
        return chart
    return replace(chart, question=with_quotes(chart.question), answer=with_quotes(chart.answer))


def _quoted(chart: BarChart, before: BarChart) -> BarChart:
    """A chart whose bars may be called by messages, ``before`` they were said: not by names."""

    def each(cell: Cell, said_of: Cell) -> Cell:
        return with_quotes(str(cell)) if isinstance(said_of, Message) else cell

    if not any(isinstance(one, Message) for one in before.categories):
        return chart
    rows = tuple(
        tuple(map(each, row, old))
        for row, old in zip(chart.table.rows, before.table.rows, strict=True)
    )
    return replace(
        chart,
        categories=tuple(
            str(each(*pair)) for pair in zip(chart.categories, before.categories, strict=True)
        ),
        table=replace(chart.table, rows=rows),
    )
