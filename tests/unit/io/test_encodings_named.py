"""Encodings that a plan may name, those of text files only; and the guess where it names none."""

from __future__ import annotations

import pytest

from dpdesk.core.errors import InputError
from dpdesk.io.sniff import codec_name
from dpdesk.io.transcode import guess_legacy, high_words


@pytest.mark.parametrize("name", ["utf-8", "UTF8", "latin-1", "cp1252", "utf-16", "shift_jis"])
def test_encodings_of_text_files_are_known(name: str) -> None:
    assert codec_name(name, "people.csv")


@pytest.mark.parametrize(
    "name",
    [
        "klingon",
        "idna",
        "punycode",
        "unicode_escape",
        "undefined",
        "utf-7",
        "zlib_codec",
        "hex",
        "",
    ],
)
def test_other_codecs_are_refused_in_one_sentence(name: str) -> None:
    with pytest.raises(InputError) as caught:
        codec_name(name, "people.csv")
    assert caught.value.code == "encoding.unknown"
    assert "people.csv" in caught.value.sentence


WESTERN = [
    "£328", "Amount (£m)", "£bn", "Cost £000s", "Øre £5", "£/m³", "£2.5m", "Volume m³", "cm³/s",
    "«Bonjour» à la fête", "l'été «chaud».", "¿Cuál es?", "¡Año!", "Nº 1ª", "km²", "½", "© 2020",
    "±2", "µg/m³",
]  # fmt: skip
CENTRAL = ["Wrocław", "Łódź", "Śląsk", "żółw", "Łukasz", "był", "Żory", "hráč ťažký"]


@pytest.mark.parametrize("text", WESTERN)
def test_signs_beside_letters_and_numbers_are_not_taken_for_letters(text: str) -> None:
    raw = f"a,{text},1\n".encode("cp1252")
    assert guess_legacy(high_words([raw])).encoding == "cp1252"


@pytest.mark.parametrize("encoding", ["cp1250", "iso8859_2"])
@pytest.mark.parametrize("text", CENTRAL)
def test_letters_of_central_europe_are_still_told_from_signs(text: str, encoding: str) -> None:
    raw = f"a,{text},1\n".encode(encoding)
    assert raw.decode(guess_legacy(high_words([raw])).encoding) == f"a,{text},1\n"
