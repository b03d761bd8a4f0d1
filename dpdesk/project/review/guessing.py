"""How many guesses a passphrase withstands, by someone who knows how people make them up.

Two estimates, of which the lower one counts: zxcvbn, which knows common passwords, names, dates and
keyboard rows of English; and one that takes a passphrase apart as programs do that guess by rules.
There a word of any language counts by its length alone (about 1.8 bits a letter), a year, a run of
digits and signs at the end for little, and what occurs again for nothing.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Collection

_WEIGHED = 72
"""Characters that are looked at: zxcvbn takes long for more, and no more are needed."""
_LARGE, _SMALL = "A-ZÄÖÜ", r"[^\W\d_A-ZÄÖÜ]"
_SHOUTED = rf"{_SMALL}?[{_LARGE}]{{2,}}(?!{_SMALL})"
_PART = re.compile(rf"{_SHOUTED}|[{_LARGE}]?{_SMALL}+|[{_LARGE}]|\d+|[\W_]+")
_YEAR = re.compile(r"(1[89]|20)\d\d")
_RUNS = ("01234567890", "09876543210")
_VOWELS = frozenset("aeiouyäöüáéíóúàèìòùâêîôûåæøœ")
_NATURAL = 0.2
"""The share of vowels from which letters are taken for a word: no language has fewer."""
_WORDS = """
januar februar märz maerz april mai juni juli august september oktober november dezember january
february march may june july october december montag dienstag mittwoch donnerstag freitag
samstag sonntag monday tuesday wednesday thursday friday saturday sunday frühling fruehling
sommer herbst winter spring summer autumn passwort password kennwort geheim geheimnis willkommen
welcome hallo admin administrator statistik statistics statistisch statistisches statistical amt
bundesamt landesamt office zensus census daten data datenschutz privacy deutschland österreich
oesterreich schweiz berlin wien bonn dpdesk fussball fußball football liebe love
ich du er sie es wir ihr mich dich uns mein dein sein der die das ein eine und oder nicht ist bin
bist sind war wird zu zum zur in im am an auf aus bei mit nach von vom vor für fuer was wer wie wo
the a an and or not is am are was be to of on at by for from with i you he she it we they me us my
your his her our this that what who how
"""
_COMMON = frozenset(_WORDS.split())
_KNOWN, _AGAIN = 1.5, 0.3  # log10 of guesses: a common word, and where a part stands again


def guesses_log10(text: str, person: str = "") -> float:
    """The decimal logarithm of the guesses; ``person`` is whose passphrase it is."""
    from zxcvbn import zxcvbn

    text = text[:_WEIGHED]
    found = zxcvbn(text, user_inputs=["dpdesk", *person.split()])
    own = {name.casefold() for name in re.findall(r"[^\W\d_]+", person)}
    return min(float(found["guesses_log10"]), by_rules(text, _COMMON | own))


def by_rules(text: str, known: Collection[str]) -> float:
    """The same, of the parts of a passphrase; ``known`` are words that are guessed first."""
    parts = [part.casefold() for part in _PART.findall(text)]
    total, before = 0.0, set[str]()
    for part in parts:
        total += _AGAIN if part in before else _cost(part, known)
        before.add(part)
    return total


def _cost(part: str, known: Collection[str]) -> float:
    if part.isdigit():
        return _digits(part)
    if not part[0].isalpha():
        return 1.5 * len(set(part)) if part.strip() else 0.0
    if part in known:
        return _KNOWN
    if any(part[:at] in known and part[at:] in known for at in range(1, len(part))):
        return 2 * _KNOWN
    plain = unicodedata.normalize("NFC", part)
    letters = len(plain)
    alone = math.log10(26) * letters
    vowels = sum(sign in _VOWELS for sign in plain)
    return alone if letters < 3 or vowels < _NATURAL * letters else max(2.8, 0.55 * letters)


def _digits(part: str) -> float:
    if _YEAR.fullmatch(part):
        return 2.0
    if any(part in run for run in _RUNS) or len(set(part)) == 1:
        return 1.0
    return float(len(part))
