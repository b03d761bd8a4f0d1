"""What the readers say of a plan file, said of the controls of the window.

The command line and the window share every sentence of the readers. Where one says which key of a
plan to write, the window names the control that writes it.
"""

from __future__ import annotations

import re
from functools import cache

from PySide6.QtCore import QCoreApplication

from dpdesk.ui.words.spoken import window_voice

translate = QCoreApplication.translate
_UNDER = r"(?: under \[source\])?"


_EXAMPLE = re.compile(r"((?:such as|[Ff]or instance) )(\[\[.*?\]\]|\[[^\[\]]*\])")
_TABLE = re.compile(r" ?[^.]*\bgroups = \[\{.*?\}\]\.")  # whatever language begins it
_MISSING = re.compile(r" \(`missing = \[.*\]`\)")  # what a translation has to keep
_SETTING = re.compile(r'(For instance )\w+ = "([^"]*)"')


def in_form(sentence: str) -> str:
    """The sentence with controls of the form in the place of keys of a plan.

    Examples stand as they are typed into a field, without the brackets of a plan.
    """
    for pattern, words in _phrases(window_voice().language):
        sentence = pattern.sub(words, sentence)
    sentence = _SETTING.sub(r"\1\2", _TABLE.sub("", _MISSING.sub("", sentence)))
    return _EXAMPLE.sub(_typed, sentence)


def _typed(found: re.Match[str]) -> str:
    start, example = found.groups()
    if example.startswith("[["):
        return start + example[2:-2].replace("], [", "; ")
    if '"' in example:
        first = example[1:-1].partition(",")[0].strip('"')
        return start + translate("PlanSpeech", "{value} (one in each line)").format(value=first)
    return start + example[1:-1]


@cache
def _phrases(language: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Phrases of the readers, and what stands for them in the window's ``language``.

    The first word keeps its case.
    """
    no_names = translate("PlanSpeech", "choose “none” for “Column names”")
    names = translate("PlanSpeech", "choose “in the first line” for “Column names”")
    lines = translate("PlanSpeech", "type {n} under “Lines above the table”")
    fewer = translate("PlanSpeech", "type a smaller number under “Lines above the table”")
    remedy = translate("PlanSpeech", "with {setting} (“Change how it is read”) every line has")
    table = translate("PlanSpeech", "with {setting} (“Change how it is read”) the text is")
    tables = translate(
        "PlanSpeech", "with {setting} and {other} (“Change how it is read”) the text is"
    )
    no_quotes = translate("PlanSpeech", "choose “none” for “Quotes”")
    delimiter = translate("PlanSpeech", "choose the right “Delimiter”")
    any_delimiter = translate("PlanSpeech", "type a “Delimiter” that no value holds")
    encoding = translate("PlanSpeech", "choose the right “Encoding”")
    whole = translate("PlanSpeech", "choose the “Encoding” that the whole file has")
    guessed = translate("PlanSpeech", "choose “detected” for “Encoding”")
    decimal = translate("PlanSpeech", "choose the “Decimal mark”")
    missing = translate("PlanSpeech", "name it under “Other missing codes”")
    empty = translate("PlanSpeech", "if they are missing, tick “An empty field is missing”")
    found = {
        rf"set `header = false`{_UNDER}": no_names,
        rf"set `header = true`{_UNDER}": names,
        rf"write `skip = (\d+)`{_UNDER}": lines.format(n=r"\1"),
        r"or `skip = 0` if": translate("PlanSpeech", "or 0 if"),
        rf"write a smaller number as `skip`{_UNDER}": fewer,
        rf"with `allow = [^`]*`{_UNDER} the later one gets a number": translate(
            "PlanSpeech",
            "with “Number repeated column names” (“Change how it is read”) the later one gets a "
            "number",
        ),
        rf"with `([^`]*)`{_UNDER} every line has": remedy.format(setting=r"“\1”"),
        rf"with `([^`]*)`{_UNDER} the text is": table.format(setting=r"“\1”"),
        rf"with `([^`]*)` and `([^`]*)`{_UNDER} the text is": tables.format(
            setting=r"“\1”", other=r"“\2”"
        ),
        r'set `quote = ""`': no_quotes,
        rf"name (?:the|its) (?:right )?`delimiter`{_UNDER}": delimiter,
        r"name a `delimiter` that no value holds": any_delimiter,
        rf"name the `encoding`{_UNDER} that the whole file has": whole,
        rf"name (?:the right|its) `encoding`{_UNDER}": encoding,
        r"name the `encoding`(?= if letters)": encoding,
        r"name the right encoding \(`encoding` under \[source\]\)": encoding,
        rf"leave `encoding` out{_UNDER}": guessed,
        r"name the `decimal` mark": decimal,
        r"if they are missing, write `missing = \[.*\]` under \[source\]": empty,
        r"write `missing = \[.*\]` under \[source\]": missing,
        r"`quote` and `delimiter` are": translate("PlanSpeech", "“Quotes” and “Delimiter” are"),
        r" under \[source\]": "",
    }
    return tuple(
        pair
        for form, words in found.items()
        for pair in (
            (re.compile(form), words),
            (re.compile(form[:1].upper() + form[1:]), words[:1].upper() + words[1:]),
        )
    )
