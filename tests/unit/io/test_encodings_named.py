"""Encodings that a plan may name, those of text files only; and the guess where it names none."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import SourceSpec
from dpdesk.io.preview import preview_source
from dpdesk.io.sniff import codec_name
from dpdesk.io.store import DataStore
from dpdesk.io.transcode import guess_legacy, high_words
from dpdesk.io.workspace import Workspace


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


@pytest.mark.parametrize("encoding", ["cp437", "cp850", "mac_roman"])
def test_letters_of_dos_and_old_macintosh_computers_are_told_by_where_they_stand(
    encoding: str,
) -> None:
    words = ["Köln", "Zürich", "Süd", "Genève", "Besançon", "Bad Tölz", "café"]
    text = "".join(f"{word},1\n" for word in words)
    raw = text.encode(encoding)
    guess = guess_legacy(high_words([raw]))
    assert raw.decode(guess.encoding) == text
    assert guess.likely


@pytest.mark.parametrize(
    "text",
    [
        *WESTERN,
        "L’Isle",
        "Acme®",
        "1990–2000",
        "rock–pop",
        "19”x20”",
        "10 €",
        "“quoted”",
        "„zitiert“.",
        "‚so‘",
        "(“a”)",
        "‹là›",
        "…",
        "“Zoë” – 5 €",
        "café”",
    ],
)
def test_signs_inside_words_are_not_taken_for_letters_of_old_computers(text: str) -> None:
    raw = f"a,{text},1\n".encode("cp1252")
    assert guess_legacy(high_words([raw])).encoding == "cp1252"


OTHERS = {
    "cp1251": "Москва Казань Пермь Омск Самара Тула",
    "koi8-r": "Москва Казань Пермь Омск Самара Тула",
    "cp1253": "Αθήνα Πάτρα Λάρισα Βόλος Χανιά",
    "shift_jis": "東京都 大阪府 札幌市 千葉県 京都府",
    "gb18030": "北京市 上海市 广州市 深圳市",
    "big5": "台北市 高雄市 台中市 新竹市",
    "euc_kr": "서울시 부산시 대구시",
    "euc_jp": "東京都 大阪府 札幌市",
}


@pytest.mark.parametrize(
    "text",
    ["タナカ スズキ サトウ ヤマダ イトウ", "'ソニー' '表示' '十人' 'カタカナ' '能力' '大阪'"],
)
def test_letters_of_two_bytes_of_which_one_is_ascii_are_not_guessed(text: str) -> None:
    raw = "".join(f"{name},1\n" for name in text.split()).encode("shift_jis")
    assert not guess_legacy(high_words([raw])).likely


@pytest.mark.parametrize("encoding", ["cp1252", "cp850", "mac_roman", "iso8859_2", "cp1250"])
def test_words_that_would_be_pairs_of_bytes_are_still_guessed(encoding: str) -> None:
    text = "étés,âgée,été,élève,Müller,Jürgen,Bärbel,Köln,Zürich,Österreich,île,même"
    raw = f"a,{text},1\n".encode(encoding, "ignore")
    assert guess_legacy(high_words([raw])).likely


@pytest.mark.parametrize("encoding", OTHERS)
def test_letters_in_rows_are_not_guessed(encoding: str, tmp_path: Path, private_home: Path) -> None:
    words = OTHERS[encoding].split()
    text = "town,n\n" + "".join(f"{word},{n}\n" for n, word in enumerate(words))
    (tmp_path / "a.csv").write_bytes(text.encode(encoding))
    shown = preview_source(SourceSpec("a.csv"), tmp_path)
    workspace = Workspace.open(private_home)
    try:
        with pytest.raises(InputError) as caught:
            DataStore.open(SourceSpec("a.csv"), tmp_path, workspace, CancelToken(), silent)
        assert caught.value.code == "encoding.unclear"
        assert "`encoding`" in caught.value.hint
        assert shown.problem is not None
        assert shown.problem.code == "encoding.unclear"
        spec = SourceSpec("a.csv", encoding=encoding)
        with closing(DataStore.open(spec, tmp_path, workspace, CancelToken(), silent)) as data:
            assert [row[0] for row in data.page(0, 99)] == words
    finally:
        workspace.close()
