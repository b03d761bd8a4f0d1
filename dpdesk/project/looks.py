"""Names of people and of populations that a reader could take for one another.

:func:`skeleton` is equal where two names look alike, whatever letters they are written with;
:func:`likeness` also where they differ by dots, blanks, hyphens or accents alone. Source of the
letters: the confusable characters of Unicode Technical Standard 39, of alphabets with capitals.
"""

from __future__ import annotations

import re
import unicodedata

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

    Strokes through letters are accents too, and so is the `e` of `ae`, `oe` and `ue`.
    """
    parts = unicodedata.normalize("NFKD", skeleton(name)).translate(_STROKES)
    plain = "".join(char for char in parts if char.isalnum())
    return re.sub("([aou])e", r"\1", plain)


def letters_alone(name: str) -> str:
    """A name in small letters without accents, those of other alphabets as they look."""
    parts = unicodedata.normalize("NFKD", name).casefold().replace("ı", "i")
    known = _plain_digits(parts).translate(_CYRILLIC).translate(_GREEK).translate(_STROKES)
    return "".join(char for char in known if not unicodedata.combining(char))


def _plain_digits(text: str) -> str:
    """The text with the digits of every script as those of ASCII."""
    return "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in text)
