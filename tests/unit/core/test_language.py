"""Sentences, numbers and names in another language, by a tiny catalogue."""

from pathlib import Path

import pytest

from dpdesk.core.errors import StorageError
from dpdesk.core.language import catalogue, listening, read_catalogue, speaking, voice, voice_of
from dpdesk.core.language.catalogue import catalogue_from
from dpdesk.core.language.numbers import NumberMarks, is_figure
from dpdesk.core.language.speaker import Untranslated, Voice
from dpdesk.core.language.templates import placeholders

THIN = "\u202f"
ENTRIES = {
    "Rows": "Zeilen",
    "rows": "Zeilen",
    "the best": "die beste",
    "Every group has at least {k:int} rows.": "Jede Gruppe hat mindestens {k:int} Zeilen.",
    "Every group has at least {k:int} rows, {share:number} of them new.": (
        "Jede Gruppe hat mindestens {k:int} Zeilen, davon {share:number} neu."
    ),
    "{what:name} has {n:number} rows.": "{what:name} hat {n:number} Zeilen.",
    "Nobody knows {columns:names}.": "Niemand kennt {columns:names}.",
    "It is {what:phrase}.": "Es ist {what:phrase}.",
    "{k:int} is {k:int}.": "{k:int} bleibt {k:int}.",
    "{names} and {last}": "{names} und {last}",
    "{names} and {more} more": "{names} und {more} weitere",
    "{n} values of {column}": "{n} Werte von {column}",
}
PLURAL = ("{n} row", "{n} rows", "{n} Zeile", "{n} Zeilen")


def po_text(entries: dict[str, str]) -> bytes:
    def quoted(text: str) -> str:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'

    lines = ['msgid ""', 'msgstr ""', '"Content-Type: text/plain; charset=UTF-8\\n"']
    lines += ['"Plural-Forms: nplurals=2; plural=(n != 1);\\n"', ""]
    for english, german in entries.items():
        lines += [f"msgid {quoted(english)}", f"msgstr {quoted(german)}", ""]
    one, many, eine, viele = map(quoted, PLURAL)
    lines += [f"msgid {one}", f"msgid_plural {many}", f"msgstr[0] {eine}", f"msgstr[1] {viele}", ""]
    return "\n".join(lines).encode()


@pytest.fixture
def german() -> Voice:
    return Voice(catalogue_from("de", [po_text(ENTRIES)]), ("salt and pepper", "age", "sex"))


@pytest.mark.parametrize(
    ("english", "expected"),
    [
        ("1,234.5", f"1{THIN}234,5"),
        ("1,234,567", f"1{THIN}234{THIN}567"),
        ("12.5 %", "12,5 %"),
        ("<0.01 %", "<0,01 %"),
        ("± 0.25", "± 0,25"),
        ("-3.5e-07", "-3,5e-07"),
        ("2024", "2024"),
    ],
)
def test_a_number_of_the_program_gets_the_marks_of_the_language(
    german: Voice, english: str, expected: str
) -> None:
    assert german.figure(english) == german.say(english) == expected


@pytest.mark.parametrize("text", ["1,23", "1.2.3", "3.11.2", "a1.5", "1.5 kg", "1,2345", "", "."])
def test_what_is_not_wholly_a_number_of_the_program_stays(german: Voice, text: str) -> None:
    assert not is_figure(text)
    assert german.figure(text) == text
    with pytest.raises(ValueError, match="no number"):
        NumberMarks(",", THIN).written(text)


def test_a_finished_sentence_is_said_with_its_numbers_in_the_other_form(german: Voice) -> None:
    said = german.say("Every group has at least 1,000 rows.")
    assert said == f"Jede Gruppe hat mindestens 1{THIN}000 Zeilen."


def test_the_most_specific_template_wins(german: Voice) -> None:
    sentence = "Every group has at least 5 rows, 2.5 of them new."
    assert german.say(sentence) == "Jede Gruppe hat mindestens 5 Zeilen, davon 2,5 neu."


def test_names_stay_as_they_are_even_when_they_look_like_words_or_numbers(german: Voice) -> None:
    assert german.say("Rows has 3.5 rows.") == "Rows hat 3,5 Zeilen."
    assert german.say("1,234.5 has 3.5 rows.") == "1,234.5 hat 3,5 Zeilen."


def test_a_number_placeholder_holds_nothing_but_a_number_of_the_program(german: Voice) -> None:
    with listening() as heard:
        assert german.say("Every group has at least 1,23 rows.") == (
            "Every group has at least 1,23 rows."
        )
    assert heard == ["Every group has at least 1,23 rows."]


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ("age", "age"),
        ("salt and pepper", "salt and pepper"),
        ("age and sex", "age und sex"),
        ("age and salt and pepper", "age und salt and pepper"),
        ("age, sex and salt and pepper", "age, sex und salt and pepper"),
        ("age, sex and 1,200 more", f"age, sex und 1{THIN}200 weitere"),
    ],
)
def test_a_list_of_names_keeps_every_name_whole(german: Voice, columns: str, expected: str) -> None:
    assert german.say(f"Nobody knows {columns}.") == f"Niemand kennt {expected}."


def test_a_phrase_is_translated_and_one_that_is_not_known_fails_the_sentence(german: Voice) -> None:
    assert german.say("It is the best.") == "Es ist die beste."
    assert german.known("It is the worst.") is None


def test_a_placeholder_that_stands_twice_holds_the_same_twice(german: Voice) -> None:
    assert german.say("4 is 4.") == "4 bleibt 4."
    assert german.known("4 is 5.") is None


def test_several_sentences_are_said_one_by_one_or_not_at_all(german: Voice) -> None:
    assert german.say("It is the best. Every group has at least 2 rows.") == (
        "Es ist die beste. Jede Gruppe hat mindestens 2 Zeilen."
    )
    assert german.known("It is the best. Nobody is known here.") is None


def test_what_is_lacking_stays_english_is_marked_and_is_heard(german: Voice) -> None:
    with listening() as heard:
        said = [german.say("Unknown words."), german.text("{n} things", n=1000)]
    assert said == ["Unknown words.", f"1{THIN}000 things"]
    assert all(isinstance(one, Untranslated) for one in said)
    assert heard == ["Unknown words.", "{n} things"]


def test_messages_are_filled_with_values_as_they_are_and_counts_in_the_other_form(
    german: Voice,
) -> None:
    assert german.text("{n} values of {column}", n=1234, column="a,1.5") == (
        f"1{THIN}234 Werte von a,1.5"
    )
    assert [german.counted(n, *PLURAL[:2]) for n in (1, 2000)] == [
        "1 Zeile",
        f"2{THIN}000 Zeilen",
    ]


def test_english_says_everything_as_it_was_written() -> None:
    speaker = voice_of("en")
    assert voice() is speaker
    with listening() as heard:
        assert speaker.say("Anything, 1,234.5") == "Anything, 1,234.5"
        assert speaker.text("{n} rows", n=1234) == "1,234 rows"
        assert speaker.counted(1, "{n} row", "{n} rows") == "1 row"
    assert not heard


def test_speaking_ends_where_it_ends() -> None:
    with speaking("de"):
        assert voice().language == "de"
        with speaking("en"):
            assert voice().language == "en"
        assert voice().language == "de"
    assert voice().language == "en"


def test_days_are_written_as_the_language_does_and_other_texts_stay(german: Voice) -> None:
    assert german.day("2026-05-07") == "07.05.2026"
    assert german.day("2026-13-07") == "2026-13-07"
    assert german.day("soon") == "soon"
    assert voice_of("en").day("2026-05-07") == "2026-05-07"


def test_names_end_where_a_sentence_ends(german: Voice) -> None:
    """Else the words of a sentence that is not known would be taken for names."""
    assert german.known("Nobody knows age. Something else.") is None
    assert german.say("Nobody knows age. It is the best.") == "Niemand kennt age. Es ist die beste."


def test_tables_of_a_cube_keep_their_dimensions(german: Voice) -> None:
    entries = {
        **ENTRIES,
        "Nothing hides {what:tables}.": "Nichts verbirgt {what:tables}.",
        "the grand total": "die Gesamtsumme",
        "{shown} and {n} more": "{shown} und {n} weitere",
    }
    plural = "\n".join(
        [
            'msgid "{n} cell of {table} ({cells})"',
            'msgid_plural "{n} cells of {table} ({cells})"',
            'msgstr[0] "{n} Zelle von {table} ({cells})"',
            'msgstr[1] "{n} Zellen von {table} ({cells})"',
        ]
    )
    speaker = Voice(
        catalogue_from("de", [po_text(entries) + plural.encode()]), ("age", "salt and pepper")
    )
    said = "Nothing hides the grand total, age × salt and pepper and 2 of the cells of age (1, 2)."
    assert speaker.say(said) == (
        "Nichts verbirgt die Gesamtsumme, age × salt and pepper und 2 Zellen von age (1, 2)."
    )


def test_an_unknown_kind_of_placeholder_and_a_broken_file_are_refused() -> None:
    with pytest.raises(ValueError, match="kind"):
        placeholders("{k:digits}")
    with pytest.raises(ValueError, match="cannot be read"):
        catalogue_from("de", [b"no catalogue at all"])


def test_a_catalogue_is_read_once() -> None:
    assert read_catalogue("de", ("pages",)) is read_catalogue("de", ("pages",))


def test_translations_that_cannot_be_read_are_named_as_such(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "pages.po"
    broken.write_bytes(b'msgid "a"\nmsgstr "\xff"\n')
    monkeypatch.setattr(catalogue, "resource_files", lambda *_: (broken,))
    with pytest.raises(StorageError, match="translations to `xy`"):
        read_catalogue("xy", ("pages",))
