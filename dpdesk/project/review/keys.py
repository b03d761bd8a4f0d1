"""The keys of the persons who use this computer: made here, kept under a passphrase.

A key file holds the card in the clear and the private seed under ChaCha20-Poly1305 with a key that
Argon2id makes from the passphrase; all other fields are its associated data. ``check`` is the
SHA-256 of the file with ``check`` left out: it tells a damaged file from a wrong passphrase.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import re
import secrets
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NoReturn

from dpdesk.core.errors import DpdeskError, InputError, StorageError
from dpdesk.core.messages import msg
from dpdesk.core.systems import open_to_others
from dpdesk.io.canonical import UnreadableJsonError, canonical_json, parse_canonical
from dpdesk.io.failures import storage_error
from dpdesk.project.review.cards import Card, Purpose, card_body, card_from_json
from dpdesk.project.review.homefiles import private_folder, read_small, write_private
from dpdesk.project.review.texts import (
    clean_person,
    fingerprint_text,
    fold_person,
    is_hash,
    is_hex,
    shown,
    time_text,
)

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from dpdesk.io.safewrite import PartialKeeper


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
release review veröffentlichung
bundesamt landesamt office zensus census daten data datenschutz privacy deutschland österreich
oesterreich schweiz berlin wien bonn dpdesk fussball fußball football liebe love
ich du er sie es wir ihr mich dich uns mein dein sein der die das ein eine und oder nicht ist bin
bist sind war wird zu zum zur in im am an auf aus bei mit nach von vom vor für fuer was wer wie wo
the a an and or not is am are was be to of on at by for from with i you he she it we they me us my
your his her our this that what who how
"""
_COMMON = frozenset(_WORDS.split())
_KNOWN, _AGAIN = 1.5, 0.3  # log10 of guesses: a common word, and where a part stands again
_SAYING = 4.0
"""The same of a saying: lists of verses, songs and examples of passphrases are tried early."""
_SAYINGS = tuple(
    re.sub(r"\W", "", line)
    for line in """
correct horse battery staple
to be or not to be that is the question
the quick brown fox jumps over the lazy dog
the quick brown fox
jumps over the lazy dog
may the force be with you
all your base are belong to us
four score and seven years ago
in the beginning was the word
in the beginning god created
once upon a time
happily ever after
lorem ipsum dolor sit amet
happy birthday to you
never gonna give you up
our father who art in heaven
i love you forever
let me in please
open sesame
you shall not pass
winter is coming
houston we have a problem
i have a dream
we the people
god save the king
god save the queen
all you need is love
let it be
the answer is forty two
live long and prosper
elementary my dear watson
knowledge is power
time is money
practice makes perfect
an apple a day keeps the doctor away
sein oder nicht sein das ist hier die frage
franz jagt im komplett verwahrlosten taxi quer durch bayern
einigkeit und recht und freiheit
freude schoener goetterfunken
vater unser im himmel
vater unser der du bist im himmel
am anfang war das wort
es war einmal
und wenn sie nicht gestorben sind
dann leben sie noch heute
alle meine entchen
haenschen klein ging allein
fuchs du hast die gans gestohlen
zum geburtstag viel glueck
wer reitet so spaet durch nacht und wind
ich denke also bin ich
wissen ist macht
zeit ist geld
morgenstund hat gold im mund
aller guten dinge sind drei
ende gut alles gut
uebung macht den meister
ich bin ein berliner
deutschland einig vaterland
""".splitlines()
    if line
)
_KEYBOARD = str.maketrans(
    "йцукенгшщзхъфывапролджэячсмитьбю" + ";ςερτυθιοπασδφγηξκλζχψωβνμ",
    "qwertyuiop[]asdfghjkl;'zxcvbnm,." + "qwertyuiopasdfghjklzxcvbnm",
)
"""What the keys of Cyrillic and Greek keyboards have in Latin: their rows are known, too."""
_SPELLED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})


def guesses_log10(text: str, person: str = "") -> float:
    """The decimal logarithm of the guesses; ``person`` is whose passphrase it is."""
    from zxcvbn import zxcvbn

    text = text[:_WEIGHED]
    parts = re.split(r"[\W_]+", text)
    spelled = "".join(parts) if max(map(len, parts)) == 1 else text  # a-b-c-d
    own = {name.casefold() for name in re.findall(r"[^\W\d_]+", person)}
    known = _COMMON | own
    found = [
        float(zxcvbn(one, user_inputs=["dpdesk", *person.split()])["guesses_log10"])
        for one in {text, spelled, text.lower().translate(_KEYBOARD)}
    ]
    found += [by_rules(one, known) for one in (text, text.lower())]  # DPDesk is one word
    return min(*found, by_sayings(text, known))


def by_sayings(text: str, known: Collection[str]) -> float:
    """The same, where sayings stand in it, in whatever case and with whatever between the words."""
    rest = re.sub(r"[\W_]", "", text.lower().translate(_SPELLED))
    found = 0
    for saying in _SAYINGS:
        if saying in rest:
            rest, found = rest.replace(saying, " "), found + 1
    return found * _SAYING + by_rules(rest, known) if found else math.inf


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


SHORTEST_PASSPHRASE, LONGEST_PASSPHRASE = 12, 1024
FEWEST_GUESSES = 10**10
"""What a passphrase has to withstand: with Argon2id's cost of a guess, years of many computers."""
PRIVATE_KIND = "dpdesk-private-key"
_LARGEST_FILE = 64 * 1024
_RESTORE = "Restore the file from a backup; if there is none, make a new key and have it trusted."
_OPEN = frozenset({"person", "key", "fingerprint", "created", "signature"})
_KEYS = _OPEN | {"format", "kind", "argon2", "nonce", "sealed", "check"}


@dataclass(frozen=True)
class Argon2Cost:
    """What a guess at the passphrase costs: rounds, lanes, KiB of memory."""

    time: int
    lanes: int
    kib: int

    def within(self, least: Argon2Cost, most: Argon2Cost) -> bool:
        """Whether each figure lies between those of two others."""
        low, own, high = astuple(least), astuple(self), astuple(most)
        return all(a <= b <= c for a, b, c in zip(low, own, high, strict=True))


COST = Argon2Cost(time=3, lanes=4, kib=64 * 1024)
# A file may ask for more, for the sake of later versions, but not for the whole computer.
LEAST_COST, MOST_COST = Argon2Cost(3, 1, 64 * 1024), Argon2Cost(16, 16, 1024 * 1024)


class Signer:
    """An unlocked key. Keep it short: :meth:`forget` drops the private part."""

    def __init__(self, card: Card, seed: bytes) -> None:
        self.card = card
        self._seed: bytes | None = seed

    @property
    def person(self) -> str:
        """Who signs."""
        return self.card.person

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the key."""
        return self.card.fingerprint

    def sign(self, purpose: Purpose, body: bytes) -> str:
        """Signature (hex) over ``body`` for this purpose."""
        return _private(self._secret()).sign(purpose.message(body)).hex()

    def sealing_key(self, info: bytes) -> bytes:
        """A key of 32 bytes that only the holder can make again: HKDF-SHA-256 of the seed."""
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF

        return HKDF(SHA256(), 32, salt=None, info=info).derive(self._secret())

    def forget(self) -> None:
        """Drop the private part; signing raises InputError ``key.locked`` from now on."""
        self._seed = None

    def _secret(self) -> bytes:
        if self._seed is None:
            raise InputError(
                "key.locked", msg("The key of {person} is locked again.", person=self.person)
            )
        return self._seed

    def __repr__(self) -> str:
        return f"Signer({self.person!r}, {self.fingerprint[:16]})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a private key is not passed on")


@dataclass(frozen=True)
class StoredKey:
    """A key file: its card, or the sentence that says why it cannot be used."""

    path: Path
    card: Card | None
    problem: str = ""


class KeyFolder:
    """A folder of sealed key files below ``home``; a ``keeper`` is told of those that are written.

    ``cheap_for_tests`` replaces the cost of Argon2 and the lower limit on reading; no code of the
    program may name it.
    """

    name: ClassVar[str]

    def __init__(
        self,
        home: Path,
        keeper: PartialKeeper | None = None,
        *,
        cheap_for_tests: Argon2Cost | None = None,
    ) -> None:
        self.folder = home / self.name
        self._keeper = keeper
        self._cost = cheap_for_tests or COST
        self._least = cheap_for_tests or LEAST_COST


class KeyStore(KeyFolder):
    """The keys with which people sign."""

    name: ClassVar[str] = "keys"

    def create(self, person: str, passphrase: str, now: datetime | None = None) -> Card:
        """Make a key for a person.

        Raises InputError ``person.name`` or ``key.passphrase-rule``, StorageError.
        """
        name = clean_person(person)
        secret = checked_passphrase(passphrase, name)
        seed = secrets.token_bytes(32)
        card = _own_card(name, seed, now or datetime.now(UTC))
        private_folder(self.folder)
        sealed = self._sealed(card, seed, secret)
        write_private(self._path(card.fingerprint), sealed, self._keeper)
        return card

    def keys(self) -> tuple[StoredKey, ...]:
        """All key files, by person and fingerprint; damaged ones with their problem."""
        found = []
        for path in key_files(self.folder):
            try:
                found.append(StoredKey(path, self._read(path)[0]))
            except DpdeskError as error:
                found.append(StoredKey(path, None, error.sentence))
        return tuple(sorted(found, key=lambda item: _order(item.card)))

    def find(self, text: str) -> Card:
        """The one key whose fingerprint begins with ``text`` (8 digits or more) or whose person is.

        Raises InputError ``key.missing``, ``key.damaged`` or ``key.ambiguous``.
        """
        cards = [stored.card for stored in self.keys() if stored.card is not None]
        digits = "".join(text.split()).lower()
        found = [
            card
            for card in cards
            if (len(digits) >= 8 and card.fingerprint.startswith(digits))
            or fold_person(card.person) == fold_person(text)
        ]
        if len(found) > 1:
            prints = ", ".join(fingerprint_text(card.fingerprint) for card in found)
            raise InputError(
                "key.ambiguous",
                msg(
                    "There are {len} keys of {shown} on this computer: {prints}.",
                    len=len(found),
                    shown=shown(text),
                    prints=prints,
                ),
                hint="Give the first digits of the fingerprint.",
            )
        if not found:
            self.refuse_damaged()
            raise self._missing(text)
        return found[0]

    def refuse_damaged(self) -> None:
        """Raise what is wrong with the first damaged key file, where there is one.

        For who looks for a key and finds none: it may be the one that is meant.
        """
        for stored in self.keys():
            if stored.card is None:
                raise InputError("key.damaged", stored.problem, hint=_RESTORE)

    def unlock(self, fingerprint: str, passphrase: str) -> Signer:
        """Open a key (about a quarter of a second, off the GIL).

        Raises InputError ``key.missing``, ``key.damaged`` or ``key.passphrase``.
        """
        path = self._path(fingerprint)
        if not is_hash(fingerprint) or not path.exists():
            raise self._missing(fingerprint)
        card, raw = self._read(path)
        self._keep_private(path)
        seed = opened(raw, passphrase_bytes(passphrase))
        if seed is None:
            raise InputError(
                "key.passphrase",
                msg("The passphrase does not open the key of {person}.", person=card.person),
                hint="Check capitals and the keyboard layout; no one can recover a passphrase.",
            )
        if _public(seed) != card.key:
            raise _damaged(path, "its private part belongs to another key")
        return Signer(card, seed)

    def change_passphrase(self, fingerprint: str, old: str, new: str) -> None:
        """Seal a key under another passphrase; on any failure the old one stays."""
        signer = self.unlock(fingerprint, old)
        secret = checked_passphrase(new, signer.card.person)
        data = self._sealed(signer.card, signer._secret(), secret)
        write_private(self._path(fingerprint), data, self._keeper)

    def export_card(
        self, fingerprint: str, path: Path, keeper: PartialKeeper, *, new: bool = False
    ) -> Card:
        """Write the public card of a key to a file for others; with ``new`` over no other one."""
        if not is_hash(fingerprint) or not self._path(fingerprint).exists():
            raise self._missing(fingerprint)
        card = self._read(self._path(fingerprint))[0]
        from dpdesk.io.safewrite import write_text

        write_text(path, card.to_bytes().decode("utf-8"), "card", keeper, new=new)
        return card

    def _keep_private(self, path: Path) -> None:
        """A key that came by a copy may be open to others, who could try passphrases on it."""
        for place, mode in ((self.folder, 0o700), (path, 0o600)):
            with contextlib.suppress(OSError):
                if open_to_others(place):
                    place.chmod(mode)

    def _path(self, fingerprint: str) -> Path:
        return self.folder / f"{fingerprint if is_hash(fingerprint) else '-'}.json"

    def _missing(self, text: str) -> InputError:
        return InputError(
            "key.missing",
            msg("There is no key of {shown} on this computer.", shown=shown(text)),
            hint=msg(
                "Make one, or copy the key file into the folder {folder} from the computer "
                "that has it.",
                folder=self.folder,
            ),
        )

    def _sealed(self, card: Card, seed: bytes, secret: bytes) -> bytes:
        raw = sealed_under({**card.as_json(), "kind": PRIVATE_KIND}, seed, secret, self._cost)
        return canonical_json({**raw, "check": check_of(raw)})

    def _read(self, path: Path) -> tuple[Card, dict[str, object]]:
        data = read_small(path, _LARGEST_FILE)
        try:
            raw = parse_canonical(data)
        except UnreadableJsonError as error:
            raise _damaged(path, error.reason) from None
        if set(raw) != _KEYS or raw["kind"] != PRIVATE_KIND or raw["check"] != check_of(raw):
            raise _damaged(path, "its contents were changed after DPDesk wrote it")
        if not is_hex(raw["nonce"], 12) or not is_hex(raw["sealed"], 48):
            raise _damaged(path, "its private part is incomplete")
        cost = read_cost(raw["argon2"])
        if cost is None or not cost.within(self._least, MOST_COST):
            raise _damaged(path, "the cost of its passphrase is outside the limits")
        try:
            opened = {name: raw[name] for name in _OPEN}
            card = card_from_json({**opened, "format": raw["format"], "kind": "dpdesk-public-key"})
        except InputError as error:
            raise _damaged(path, error.sentence.rstrip(".")) from None
        if path.stem != card.fingerprint:
            raise _damaged(path, "its name is not the fingerprint of its key")
        return card, raw


def checked_passphrase(passphrase: str, person: str = "") -> bytes:
    """The bytes of a passphrase for a new key of ``person``: NFC, UTF-8.

    Raises InputError ``key.passphrase-rule`` when it is shorter than 12 characters, longer than
    1,024 bytes, or when a program that knows common passwords, names, dates and keyboard rows would
    find it within :data:`FEWEST_GUESSES` guesses (:mod:`dpdesk.project.review.keys`).
    """
    text = unicodedata.normalize("NFC", passphrase)
    secret = passphrase_bytes(passphrase)
    reason = ""
    if len(text) < SHORTEST_PASSPHRASE:
        reason = msg(
            "it has {n} characters, expected at least {least}",
            n=len(text),
            least=SHORTEST_PASSPHRASE,
        )
    elif len(secret) > LONGEST_PASSPHRASE:
        reason = msg("it is longer than {most:,} bytes", most=LONGEST_PASSPHRASE)
    elif (guesses := _guesses(text, person)) < FEWEST_GUESSES:
        reason = msg(
            "a program finds it within about {guesses:,} guesses, expected at least "
            "{least:,}; common passwords, names, dates, keyboard rows and repetitions count "
            "for little",
            guesses=guesses,
            least=FEWEST_GUESSES,
        )
    if reason:
        raise InputError(
            "key.passphrase-rule",
            msg("This passphrase cannot be used: {reason}.", reason=reason),
            hint="Use four or five words that have nothing to do with each other.",
        )
    return secret


def _guesses(text: str, person: str) -> int:
    """How many guesses a passphrase withstands, rounded down to a power of ten."""
    return int(10 ** math.floor(min(guesses_log10(text, person), 30)))


def passphrase_bytes(passphrase: str) -> bytes:
    """A passphrase as the bytes that keys are derived from: NFC, UTF-8."""
    return unicodedata.normalize("NFC", passphrase).encode("utf-8", "surrogatepass")


def derived_key(secret: bytes, salt: bytes, cost: Argon2Cost) -> bytes:
    """32 bytes made by Argon2id. Raises StorageError ``key.memory``."""
    from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

    try:
        return Argon2id(
            salt=salt, length=32, iterations=cost.time, lanes=cost.lanes, memory_cost=cost.kib
        ).derive(secret)
    except MemoryError:
        raise StorageError(
            "key.memory",
            msg(
                "Opening a key takes {kib:,} MiB of memory, which this computer does not have.",
                kib=cost.kib // 1024,
            ),
            hint="Close other programs and try again.",
        ) from None


def key_files(folder: Path) -> list[Path]:
    """The key files of a folder by name, none where there is no folder. Raises StorageError."""
    try:
        return sorted(folder.glob("*.json")) if folder.is_dir() else []
    except OSError as error:
        raise storage_error(error, folder, "read") from error


def sealed_under(
    fields: Mapping[str, object], payload: bytes, secret: bytes, cost: Argon2Cost
) -> dict[str, object]:
    """``fields`` with ``payload`` sealed beside them, under a passphrase given as bytes.

    They are its associated data, as are the cost and the fresh salt and nonce that are added.
    """
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    salt, nonce = secrets.token_bytes(16), secrets.token_bytes(12)
    argon2 = {"time": cost.time, "lanes": cost.lanes, "kib": cost.kib, "salt": salt.hex()}
    raw = {**fields, "nonce": nonce.hex(), "argon2": argon2}
    box = ChaCha20Poly1305(derived_key(secret, salt, cost))
    return {**raw, "sealed": box.encrypt(nonce, payload, canonical_json(raw)).hex()}


def opened(raw: Mapping[str, object], secret: bytes) -> bytes | None:
    """The payload of a file that :func:`sealed_under` made and that was checked.

    None when the passphrase is another, or something was changed.
    """
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    argon2, cost = raw["argon2"], read_cost(raw["argon2"])
    assert isinstance(argon2, dict)
    assert cost is not None
    open_part = {name: value for name, value in raw.items() if name not in ("sealed", "check")}
    key = derived_key(secret, bytes.fromhex(argon2["salt"]), cost)
    nonce, sealed = bytes.fromhex(str(raw["nonce"])), bytes.fromhex(str(raw["sealed"]))
    try:
        return ChaCha20Poly1305(key).decrypt(nonce, sealed, canonical_json(open_part))
    except InvalidTag:
        return None


def read_cost(raw: object) -> Argon2Cost | None:
    """The cost that a file states beside its salt; None when it is not of that shape."""
    if not isinstance(raw, dict) or set(raw) != {"time", "lanes", "kib", "salt"}:
        return None
    figures = [raw[name] for name in ("time", "lanes", "kib")]
    if not is_hex(raw["salt"], 16) or any(type(figure) is not int for figure in figures):
        return None
    return Argon2Cost(*figures)


def check_of(raw: dict[str, object]) -> str:
    """The SHA-256 of a key file with its ``check`` left out."""
    rest = {name: value for name, value in raw.items() if name != "check"}
    return hashlib.sha256(canonical_json(rest)).hexdigest()


def _private(seed: bytes) -> Ed25519PrivateKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(seed)


def _public(seed: bytes) -> str:
    return _private(seed).public_key().public_bytes_raw().hex()


def _own_card(person: str, seed: bytes, now: datetime) -> Card:
    key, created = _public(seed), now.astimezone(UTC).replace(microsecond=0)
    body = canonical_json(card_body(person, key, time_text(created)))
    return Card(person, key, created, _private(seed).sign(Purpose.CARD.message(body)).hex())


def _order(card: Card | None) -> tuple[bool, str, str]:
    return (True, "", "") if card is None else (False, fold_person(card.person), card.fingerprint)


def _damaged(path: Path, reason: str) -> InputError:
    return InputError(
        "key.damaged",
        msg("{path}: the key file is damaged: {reason}.", path=path, reason=reason),
        hint=_RESTORE,
        details={"path": os.fspath(path)},
    )
