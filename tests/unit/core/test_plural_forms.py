"""Counted messages in languages with three and with six plural forms, and lists in their way."""

from __future__ import annotations

import pickle

import pytest

from dpdesk.core.language.catalogue import catalogue_from
from dpdesk.core.language.speaker import Voice
from dpdesk.core.messages import (
    Counted,
    Message,
    counted,
    joined,
    listed,
    made_again,
    made_of,
    msg,
    relinked,
    table_of,
)

POLISH = "nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2)"
ARABIC = (
    "nplurals=6; plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : "
    "n%100>=11 ? 4 : 5)"
)
COUNTS = (0, 1, 2, 3, 5, 11, 12, 22, 100)
POLISH_FORM = dict(zip(COUNTS, (2, 0, 1, 1, 2, 2, 2, 1, 2), strict=True))
ARABIC_FORM = dict(zip(COUNTS, (0, 1, 2, 3, 3, 4, 4, 4, 5), strict=True))
NOUNS: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "row": (
        "rows",
        ("# wiersz", "# wiersze", "# wierszy"),
        ("لا صفوف", "صف واحد", "صفان", "# صفوف", "# صفًا", "# صف"),
    ),
    "column": (
        "columns",
        ("# kolumna", "# kolumny", "# kolumn"),
        ("لا أعمدة", "عمود واحد", "عمودان", "# أعمدة", "# عمودًا", "# عمود"),
    ),
    "group": (
        "groups",
        ("# grupa", "# grupy", "# grup"),
        ("لا مجموعات", "مجموعة واحدة", "مجموعتان", "# مجموعات", "# مجموعة", "# مجموعة"),
    ),
    "person": (
        "persons",
        ("# osoba", "# osoby", "# osób"),
        ("لا أشخاص", "شخص واحد", "شخصان", "# أشخاص", "# شخصًا", "# شخص"),
    ),
    "cell": (
        "cells",
        ("# komórka", "# komórki", "# komórek"),
        ("لا خلايا", "خلية واحدة", "خليتان", "# خلايا", "# خلية", "# خلية"),
    ),
    "file": (
        "files",
        ("# plik", "# pliki", "# plików"),
        ("لا ملفات", "ملف واحد", "ملفان", "# ملفات", "# ملفًا", "# ملف"),
    ),
    "table": (
        "tables",
        ("# tabela", "# tabele", "# tabel"),
        ("لا جداول", "جدول واحد", "جدولان", "# جداول", "# جدولًا", "# جدول"),
    ),
    "value": (
        "values",
        ("# wartość", "# wartości", "# wartości"),
        ("لا قيم", "قيمة واحدة", "قيمتان", "# قيم", "# قيمة", "# قيمة"),
    ),
    "warning": (
        "warnings",
        ("# ostrzeżenie", "# ostrzeżenia", "# ostrzeżeń"),
        ("لا تحذيرات", "تحذير واحد", "تحذيران", "# تحذيرات", "# تحذيرًا", "# تحذير"),
    ),
    "year": (
        "years",
        ("# rok", "# lata", "# lat"),
        ("لا سنوات", "سنة واحدة", "سنتان", "# سنوات", "# سنة", "# سنة"),
    ),
    "reviewer": (
        "reviewers",
        ("# recenzent", "# recenzentów", "# recenzentów"),
        ("لا مراجعين", "مراجع واحد", "مراجعان", "# مراجعين", "# مراجعًا", "# مراجع"),
    ),
    "error": (
        "errors",
        ("# błąd", "# błędy", "# błędów"),
        ("لا أخطاء", "خطأ واحد", "خطآن", "# أخطاء", "# خطأ", "# خطأ"),
    ),
}
VERBS = {
    "{n} row of `{name}` was left out.": (
        "{n} rows of `{name}` were left out.",
        (
            "Pominięto # wiersz z `{name:name}`.",
            "Pominięto # wiersze z `{name:name}`.",
            "Pominięto # wierszy z `{name:name}`.",
        ),
        (
            "لم يُترك أي صف من `{name:name}`.",
            "تُرك صف واحد من `{name:name}`.",
            "تُرك صفان من `{name:name}`.",
            "تُركت # صفوف من `{name:name}`.",
            "تُرك # صفًا من `{name:name}`.",
            "تُرك # صف من `{name:name}`.",
        ),
    ),
}
SENTENCES = {
    "Of {some:phrase}, {other:phrase} stay.": (
        "Z {some:phrase} pozostaje: {other:phrase}.",
        "من {some:phrase} يبقى: {other:phrase}.",
    ),
    "`{name:name}`: {what:phrase}.": (
        "`{name:name}`: {what:phrase}.",
        "`{name:name}`: {what:phrase}.",
    ),
    "Not known: {names:names}.": ("Nieznane: {names:names}.", "غير معروف: {names:names}."),
}
HOSTILE = ("Q1. Income", "1 row", "{name}", "a, b and c", "3 more", "Not known: x.")


def po_of(language: int, rule: str) -> bytes:
    """A catalogue of these words; ``language`` is the place of the translation."""
    lines = ['msgid ""', 'msgstr ""', '"Content-Type: text/plain; charset=UTF-8\\n"']
    lines += [f'"Plural-Forms: {rule};\\n"', ""]
    entries = [
        (f"{{n:int}} {one}", f"{{n:int}} {entry[0]}", entry[language])
        for one, entry in NOUNS.items()
    ]
    for one, entry in VERBS.items():
        typed = (
            text.replace("{n}", "{n:int}").replace("{name}", "{name:name}")
            for text in (one, entry[0])
        )
        entries.append((*typed, entry[language]))
    for one, many, forms in entries:
        lines += [f'msgid "{one}"', f'msgid_plural "{many}"']
        lines += [
            f'msgstr[{place}] "{form.replace("#", "{n:int}")}"' for place, form in enumerate(forms)
        ]
        lines.append("")
    for english, others in SENTENCES.items():
        lines += [f'msgid "{english}"', f'msgstr "{others[language - 1]}"', ""]
    return "\n".join(lines).encode()


VOICES = {
    "pl": (Voice(catalogue_from("pl", [po_of(1, POLISH)])), 1, POLISH_FORM),
    "ar": (Voice(catalogue_from("ar", [po_of(2, ARABIC)])), 2, ARABIC_FORM),
}


def phrase(noun: str, count: int) -> str:
    """So many of something, as the program says it."""
    return counted(f"{{n:,}} {noun}", f"{{n:,}} {NOUNS[noun][0]}", n=count)


def expected(language: str, noun: str, count: int) -> str:
    """The same as a reader of the language expects it, by the table above."""
    _, place, form = VOICES[language]
    return NOUNS[noun][place][form[count]].replace("#", str(count))


@pytest.mark.parametrize("language", VOICES)
@pytest.mark.parametrize("noun", NOUNS)
def test_a_count_has_the_form_that_the_language_wants(language: str, noun: str) -> None:
    voice = VOICES[language][0]
    for count in COUNTS:
        assert voice.say(phrase(noun, count)) == expected(language, noun, count)


@pytest.mark.parametrize("language", VOICES)
@pytest.mark.parametrize("name", HOSTILE)
def test_two_counts_in_a_sentence_have_each_the_form_of_their_own(language: str, name: str) -> None:
    voice, place, form = VOICES[language]
    for some, noun in enumerate(NOUNS):
        for count in COUNTS:
            first = COUNTS[some % len(COUNTS)]
            one, two = phrase("row", first), phrase(noun, count)
            template = next(iter(SENTENCES.values()))[place - 1]
            wanted = template.replace("{some:phrase}", expected(language, "row", first))
            wanted = wanted.replace("{other:phrase}", expected(language, noun, count))
            assert voice.say(msg("Of {some}, {other} stay.", some=one, other=two)) == wanted
    for count in COUNTS:
        one, (many, *forms) = next(iter(VERBS.items()))
        wanted = forms[place - 1][form[count]].replace("#", str(count))
        said = voice.say(counted(one, many, n=count, name=name))
        assert said == wanted.replace("{name:name}", name)


@pytest.mark.parametrize(("language", "wanted"), [("pl", "x i {}"), ("ar", "x و{}")])
@pytest.mark.parametrize("name", HOSTILE)
def test_a_list_is_joined_as_the_language_does_and_no_name_is_taken_apart(
    language: str, wanted: str, name: str
) -> None:
    voice = VOICES[language][0]
    said = voice.say(msg("Not known: {names}.", names=listed(["x", name])))
    assert said.endswith(f"{wanted.format(name)}.")
    two = joined(
        [
            msg("Not known: {names}.", names=listed([name])),
            msg("`{name}`: {what}.", name=name, what=phrase("row", 22)),
        ]
    )
    assert voice.say(two) == " ".join(
        [
            SENTENCES["Not known: {names:names}."][VOICES[language][1] - 1].replace(
                "{names:names}", name
            ),
            f"`{name}`: {expected(language, 'row', 22)}.",
        ]
    )


def test_a_list_says_how_many_it_does_not_name() -> None:
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed([str(n) for n in range(1200)], 2) == "0, 1 and 1,198 more"
    assert listed([]) == ""


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_stored_of_a_message_makes_it_again_and_nothing_else(name: str) -> None:
    inner = phrase("row", 22)
    whole = joined(
        [msg("Of {some}, {other} stay.", some=inner, other=listed([name, inner], 1)), inner]
    )
    for text in (whole, pickle.loads(pickle.dumps(whole))):
        again = made_again(str(whole), made_of(text))
        assert isinstance(again, Message)
        assert made_of(again) == made_of(whole)
    content = {"notes": [whole, name], "deep": {"x": [(inner, 3)]}}
    table = table_of(content)
    read = relinked({"notes": ["".join(whole), name], "deep": {"x": [["".join(inner), 3]]}}, table)
    assert isinstance(read, dict)
    assert table_of(read) == table
    assert isinstance(read["deep"]["x"][0][0], Counted)
    assert type(read["notes"][1]) is str


def counts(one: str, many: str, count: int) -> dict[str, object]:
    """What would be stored of a count, with a value that no text shows."""
    return {
        "one": one,
        "many": many,
        "count": count,
        "values": {"n": str(count), "name": "x", "h": "y"},
    }


@pytest.mark.parametrize(
    "made",
    [
        {"template": "Another {name}.", "values": {"name": "x"}},
        {"template": "A {name}.", "values": {}},
        {"template": "A {name.x}.", "values": {"name": "x"}},
        {"template": "A {name.__class__}.", "values": {"name": "x", "name.__class__": "x"}},
        {"template": "A {name!r}.", "values": {"name": "x"}},
        {"template": "A {name:>9999999999}.", "values": {"name": "x"}},
        {"template": "A {name", "values": {"name": "x"}},
        {"template": "A {name}.", "values": {"name": 3}},
        {"template": "A {name}.", "values": {"name": "x"}, "more": 1},
        {"one": "A {name}.", "many": "A {name}.", "count": 2, "values": {"n": "3", "name": "x"}},
        {"one": "A {name}.", "many": "A {name}.", "count": True, "values": {"n": "1", "name": "x"}},
        {"items": "A x.", "more": 0},
        {"template": "A {name}.", "values": {"name": "x", "hidden": "y"}},
        {
            "one": "A {name}.",
            "many": "A {n}.",
            "count": 1,
            "values": {"n": "1", "name": "x", "h": "y"},
        },
        {
            "one": "A {h}.",
            "many": "A {name}.",
            "count": 2,
            "values": {"n": "2", "name": "x", "h": "y"},
        },
        {"items": ["A x."], "more": -1},
        ["A x."],
        None,
        7,
    ],
)
def test_a_table_that_does_not_give_the_text_is_not_believed(made: object) -> None:
    assert type(made_again("A x.", made)) is str
    assert type(made_again("A x.", {"template": "A {name}.", "values": {"name": "x"}})) is Message
