"""Passwords in addresses: found whatever else is wrong with the address, and never repeated."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePath
from unicodedata import category, normalize
from urllib.parse import unquote

_NAMES = "user|host|hostaddr|port|dbname|service|options|sslmode|sslrootcert|application_name"
"""Settings with which those of an address begin; behind another `?` a password may go on."""
_SIGNED = re.compile(
    r"((?:[a-z][a-z0-9+.-]{1,30}:/{0,9}|^\s*//|\\\\)[^\s:@/?]{0,300}:)"
    rf"(?:(?!\?(?:{_NAMES})=).){{1,5000}}(?=@)",
    re.IGNORECASE | re.DOTALL,
)
"""``scheme://user:`` and all up to the last `@` before the settings of an address.

Each part has an end: what is tried at each letter would else take the square of the time.
"""
_BARE = re.compile(
    r"((?:^|[\s/\\])(?!(?:mailto|e?-?mail):)[^\s:/@\\]{1,300}:)[^\s/@\\]{1,300}"
    r"(?=@(?![\w.-]{1,300}\.(?:csv|tsv|txt|xlsx?|parquet|sav|dta|sas7bdat|xpt|toml|json)(?!\S))"
    r"[\w.-]{1,300}(?::\d|/|[\s,;]|$))",
    re.IGNORECASE,
)
"""The same without a scheme, in front of a host (and not of the name of a file)."""
_SLASHED = re.compile(
    r"((?:^|[\s/\\])[^\s:/@\\]{1,300}/)[^\s/@\\]{1,300}(?=@[\w.-]{1,300}:\d{1,5}/)"
)
"""``user/password@host:port/``, as Oracle writes it."""
_OWNED = re.compile(
    r"((?:https?://|(?!https?:)(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{1,30}://[^\s@/?]{1,300}/))"
    r"(?!…)[^\s@/?]{1,300}(?=@[\w.-])",
    re.IGNORECASE,
)
"""A token in place of a user, and ``scheme://user/password@``."""
_PORT = re.compile(r"(://(?:[^\s/@]{0,300}@)?[\w.-]{1,300}:)(?!…|\d{1,5}(?:[/?#,\s]|$))[^\s/@?#,]+")
"""What stands in the place of a port and is none."""
_WORDS = (
    "pass(?!file)", "(?<![a-z])(?:pswd|mdp)(?![a-z])", "pwd", "secret", "kennwort", "wachtwoord",
    "contrase", "mot_?de_?passe", "(?<![a-z])token", "access_?token", "api[-_]?key", "access_?key",
    "account_?key", "(?<![a-z])sig(?:nature)?(?![a-z])", "-signature", "(?<![a-z])auth(?![a-z])",
)  # fmt: skip
_VALUE = (
    r"""(?:'(?:[^'\\]|\\.){0,300}'?|"[^"]{0,300}"?)(?:\w[^&;,\s]*)?"""
    r"""|\{[^{}]{0,300}\}?|[^&;,\s{'"](?:\\.|[^&;\s])*"""
)
_SET = re.compile(
    rf"""((?:{"|".join(_WORDS)})[\w.-]{{0,40}}["'`\[\]]{{0,3}}\s{{0,20}}(?::=|=(?:[=>]|(?![=>])))\s{{0,20}})(?!…)"""
    rf"(?:{_VALUE})",
    re.IGNORECASE,
)
"""A setting ``password=`` of an address, or of a row of settings."""
_TOLD = re.compile(
    r"""((?<![a-z/@.])(?:pass|passwor[dt]|passwd|passphrase|pwd|secret|kennwort|api[-_]?key)"""
    rf"""(?:["'`]?\s{{0,20}}:(?!=)\s{{0,20}}|(?<=--pass)\s{{1,20}}|(?<=--password)\s{{1,20}}))(?!…)"""
    rf"(?:{_VALUE})",
    re.IGNORECASE,
)
"""The same as people and other programs write it."""
_BEARER = re.compile(
    r"(authorization[\"']?\s{0,20}:\s{0,20}[\"']?\w{1,20}\s{1,20})[^\s\"',;…]+", re.IGNORECASE
)
"""The header of a request."""
_PASSFILE = re.compile(r"^([^\s:]{1,300}:(?:\d{1,5}|\*):[^\s:]{0,300}:[^\s:]{1,300}:)[^\s:]+$")
"""A line of ~/.pgpass."""

_SIGNS = re.compile("[@:=%]|--")
"""Each pattern needs one of these, which a text of plain letters has from the start or not at all
(`%` may stand for any). Most texts have none, and all patterns take a hundred times as long.
"""
_LONGEST = 10_000


def without_password(text: str) -> str:
    """A text in which `…` stands for every password of an address in it.

    It need be no address that anything can read: a password with a slash in it makes of its
    beginning a port, and a missing bracket spoils the whole. One that is found only when signs such
    as `%61` or the wide forms of letters are taken for what they stand for is hidden in the text
    with these. What stands behind the first 10,000 characters is left out: no address is that long.
    """
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}…"
    if text.isascii() and not _SIGNS.search(text):  # nothing that a pattern below begins with
        return text
    text = plain = _hidden(text, (*_PATTERNS, _SLASHED, _OWNED))
    for _ in range(2):  # some programs take the signs apart twice
        plain = unquote(normalize("NFKC", plain.replace("…", "\ue000"))).replace("\ue000", "…")
        plain = "".join(letter for letter in plain if category(letter) != "Cf")  # nobody sees them
        if (found := _hidden(plain, _PATTERNS)) != plain:  # without slashes: `%2F` is in a name
            return found
    return text


_PATTERNS = (_SIGNED, _BARE, _PORT, _SET, _TOLD, _BEARER, _PASSFILE)


def _hidden(text: str, patterns: Iterable[re.Pattern[str]]) -> str:
    for pattern in patterns:
        text = pattern.sub(r"\1…", text)
    return text


def holds_password(text: str) -> bool:
    """Whether a text is, or has in it, an address with a password."""
    text = text[:_LONGEST]
    return without_password(text) != text


def without_those_of(given: Iterable[str], text: str) -> str:
    """A text without the passwords of what a person gave, which it may repeat in other forms.

    As a path an address loses slashes, and stands behind a folder; in a sentence a tab is a blank.
    """
    for one in given:
        shown = without_password(one)
        if shown == one[:_LONGEST]:
            continue
        for spelled in (one, str(PurePath(one)), repr(one)[1:-1], " ".join(one.split())):
            text = text.replace(spelled, shown)
    return text
