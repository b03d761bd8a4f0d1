"""Encodings that a plan may name: those of text files only."""

from __future__ import annotations

import pytest

from dpdesk.core.errors import InputError
from dpdesk.io.sniff import codec_name


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
