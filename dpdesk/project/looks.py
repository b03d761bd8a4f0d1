"""Names of people and of populations that a reader could take for one another.

:func:`skeleton` is equal where two names look alike, whatever letters they are written with;
:func:`likeness` also where they differ by dots, blanks, hyphens or accents alone, and names of
persons share one of :func:`ways_to_write` where they differ by titles or the order of words.
Source of the letters: the confusable characters of Unicode Technical Standard 39, of alphabets with
capitals.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_SMALL_CAPITALS = "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ"
_LISU = "ꓮꓐꓚꓓꓰꓝꓖꓧꓲꓙꓗꓡꓟꓠꓳꓑꓣꓢꓔꓴꓦꓪꓫꓬꓜ"
_CYRILLIC = str.maketrans(
    "АВЕКМНОРСТУХЅІЈаеорсухіјѕԁһԛԝґвгкмнптѵ", "abekmhopctyxsljaeopcyxljsdhqwrbrkmhntv"
)
_GREEK = str.maketrans("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαικνορυχϲβεητσγω", "abezhlkmnoptyxalkvopuxcbentoyw")
_FURTHER = str.maketrans(
    "ՕօՍսՏԼՑցհոյզ" + "ᎪᏴᏟᎠᎬᏀᎻᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᏃᎩᎥ" + "ⲁⲂⲃⲎⲒⲓⲔⲕⲘⲙⲚⲛⲟⲣⲥⲦⲧⲨⲩⲭ",
    "oouuslgghnjq" + "abcdeghjklmprstvwzyl" + "abbhllkkmmnnopcttyyx",
)
_LOOKS = (
    _CYRILLIC
    | _GREEK
    | _FURTHER
    | str.maketrans("01Iiı|l", "ollllll")
    | str.maketrans(
        _SMALL_CAPITALS + _LISU + "ɑɡꭇᴦǀꞁןӏ",
        "abcdefghljklmnoprstuvwyz" + "abcdefghljklmnoprstuvwxyz" + "agrrllll",
    )
)
_STROKES = str.maketrans(
    {**dict(zip("øłđðħŧƀɍɏɇʉɨ", "olddhtbryeul", strict=True)), "æ": "ae", "œ": "oe", "þ": "th"}
)


def skeleton(name: str) -> str:
    """What is equal for two names that a reader could take for one another."""
    apart = _plain_digits(unicodedata.normalize("NFKD", name))
    looks = apart.translate(_LOOKS).casefold().translate(_LOOKS)
    return " ".join(
        unicodedata.normalize("NFC", looks.replace("m", "rn").replace("vv", "w")).split()
    )


def likeness(name: str) -> str:
    """What is equal for two names that differ by dots, blanks, hyphens, accents or looks alone.

    Strokes through letters are accents too, and so are hooks, and the `e` of `ae`, `oe` and `ue`;
    an apostrophe is one where Unicode counts it as a letter, too.
    """
    parts = unicodedata.normalize("NFKD", skeleton(name)).translate(_STROKES)
    kept = (char for char in parts if char.isalnum() and unicodedata.category(char) != "Lm")
    return re.sub("([aou])e", r"\1", "".join(map(_plain_letter, kept)).translate(_LOOKS))


_LATIN = re.compile(r"LATIN (?:SMALL|CAPITAL) LETTER (?:[A-Z]+ )*?([A-Z])(?: WITH .+)?")


def _plain_letter(char: str) -> str:
    """The letter of ASCII that a Latin letter is a form of, by its name in Unicode."""
    found = None if char.isascii() else _LATIN.fullmatch(unicodedata.name(char, ""))
    return found[1].lower() if found else char


_TITLE_WORDS = (
    "dr drs dra doctor doktor prof professor professorin univ dipl mag magister lic dott dottssa "
    "mr mrs ms miss mx sir dame herr hr frau fr fru monsieur madame mme mlle dhr mevr "
    "ing ir med phil jur iur rer nat pol oec theol habil hc"
)
_DEGREE_WORDS = "phd dphil mphil msc bsc mba llm llb esq"
_TITLES, _DEGREES = frozenset(_TITLE_WORDS.split()), frozenset(_DEGREE_WORDS.split())
_SPACED = re.compile(r"[\s,]+\(?(?:ph\.\s?d|d\.\s?phil|[mb]\.\s?(?:a|sc|ed)|m\.\s?d)\b\.?\)?", re.I)


@lru_cache(maxsize=1_024)
def ways_to_write(name: str) -> tuple[str, str]:
    """What two names of persons share, either or both, where they may be one person's.

    Each is a :func:`likeness` without titles and degrees: of the words as they stand, and of the
    words in alphabetical order. A review asks it of its few names at each step of each decision.
    """
    plain = re.sub(r"\bh\.\s?c\b", "hc", _SPACED.sub("", name), flags=re.I)
    words = [word for word in re.split(r"[\s.,;()/-]+", plain) if word]
    known = [letters_alone(word) for word in words]
    first = next((n for n, word in enumerate(known) if word not in _TITLES), len(words))
    kept = [
        word
        for n, (word, said) in enumerate(zip(words, known, strict=True))
        if n >= first and said not in _DEGREES
    ]
    if "," in plain:  # Weber, Dr. Anna
        kept = [word for word in kept if letters_alone(word) not in _TITLES]
    kept = kept or words
    return likeness(" ".join(kept)), likeness(" ".join(sorted(kept, key=likeness)))


def letters_alone(name: str) -> str:
    """A name in small letters without accents, those of other alphabets as they look."""
    parts = unicodedata.normalize("NFKD", name).casefold().replace("ı", "i")
    known = _plain_digits(parts).translate(_CYRILLIC).translate(_GREEK).translate(_STROKES)
    return "".join(char for char in known if not unicodedata.combining(char))


def _plain_digits(text: str) -> str:
    """The text with the digits of every script as those of ASCII."""
    return "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in text)
