"""Sentences, numbers and names in another language, by a tiny catalogue."""

from pathlib import Path

import pytest

from dpdesk.core.errors import StorageError
from dpdesk.core.language import catalogue, listening, read_catalogue, speaking, voice, voice_of
from dpdesk.core.language.catalogue import NumberMarks, catalogue_from, is_figure, placeholders
from dpdesk.core.language.speaker import Untranslated, Voice
from dpdesk.core.messages import joined, listed, msg

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
    "No one knows {columns:names}.": "Niemand kennt {columns:names}.",
    "It is {what:phrase}.": "Es ist {what:phrase}.",
    "{k:int} is {k:int}.": "{k:int} bleibt {k:int}.",
    "in {place:name}": "in {place:name}",
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
    return Voice(catalogue_from("de", [po_text(ENTRIES)]))


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
    with pytest.raises(ValueError, match="not a number"):
        NumberMarks(",", THIN).written(text)


def test_a_message_is_said_with_its_numbers_in_the_other_form(german: Voice) -> None:
    made = msg("Every group has at least {k:,} rows, {share} of them new.", k=1000, share="2.5")
    assert german.say(made) == f"Jede Gruppe hat mindestens 1{THIN}000 Zeilen, davon 2,5 neu."


def test_a_finished_sentence_is_never_taken_apart(german: Voice) -> None:
    assert german.known("Every group has at least 5 rows.") is None
    assert german.known("It is the best. It is the best.") is None


def test_names_stay_as_they_are_even_when_they_look_like_words_or_numbers(german: Voice) -> None:
    for name in ("Rows", "1,234.5", "{n}", "It is the best."):
        said = german.say(msg("{what} has {n} rows.", what=name, n="3.5"))
        assert said == f"{name} hat 3,5 Zeilen."


def test_what_is_no_number_stays_in_the_place_of_one(german: Voice) -> None:
    made = msg("Every group has at least {k} rows.", k="1,23")
    assert german.say(made) == "Jede Gruppe hat mindestens 1,23 Zeilen."


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (["age"], "age"),
        (["salt and pepper"], "salt and pepper"),
        (["age", "sex"], "age und sex"),
        (["age", "salt and pepper"], "age und salt and pepper"),
        (["age", "sex", "salt and pepper"], "age, sex und salt and pepper"),
    ],
)
def test_a_list_of_names_keeps_every_name_whole(
    german: Voice, columns: list[str], expected: str
) -> None:
    made = msg("No one knows {columns}.", columns=listed(columns))
    assert german.say(made) == f"Niemand kennt {expected}."


def test_a_phrase_is_said_and_one_that_is_not_known_stays_and_is_heard(german: Voice) -> None:
    with listening() as heard:
        assert german.say(msg("It is {what}.", what="the best")) == "Es ist die beste."
        assert german.say(msg("It is {what}.", what="the worst")) == "Es ist the worst."
    assert heard == ["the worst"]


def test_a_message_in_a_message_is_said_whatever_its_place_is_for(german: Voice) -> None:
    inner = msg("in {place}", place="Rows")
    assert german.say(msg("{what} has {n} rows.", what=inner, n="2")) == "in Rows hat 2 Zeilen."
    assert german.say(msg("{k} is {k}.", k=inner)) == "in Rows bleibt in Rows."


def test_messages_in_a_row_are_said_one_by_one(german: Voice) -> None:
    two = joined([msg("It is {what}.", what="the best"), "Rows", msg("{k} is {k}.", k=4)])
    assert german.say(two) == "Es ist die beste. Zeilen 4 bleibt 4."


def test_blanks_around_a_message_stay_around_it(german: Voice) -> None:
    assert german.say(msg(" It is {what}. ", what="the best")) == " Es ist die beste. "
    assert german.say(" Rows") == " Zeilen"
    assert german.say(" – ") == " – "


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
