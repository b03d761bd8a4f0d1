"""Checks that every table of a plan needs: known keys, texts, sentences that name the place."""

from __future__ import annotations

from collections.abc import Mapping

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.core.parameters import nearest, unknown_key
from dpdesk.core.plain import show


def check_known(raw: Mapping[str, object], known: tuple[str, ...], where: str) -> None:
    """Raise InputError ``plan.unknown-key`` for a key that is none of ``known``."""
    for key in raw:
        if key not in known:
            raise unknown_key(key, known, where)


def missing_key(key: str, where: str, expected: str) -> InputError:
    """The error for a key that is absent."""
    return InputError(
        "plan.missing-key",
        msg(
            "{where}: the key `{key}` is missing, expected {expected}.",
            where=where,
            key=key,
            expected=expected,
        ),
        details={"key": key},
    )


def invalid(key: str, found: object, expected: str, where: str) -> InputError:
    """The error for a value that is none of those expected."""
    return InputError(
        "plan.invalid",
        msg(
            "{where}: `{key}` is {found}, expected {expected}.",
            where=where,
            key=key,
            found=show(found),
            expected=expected,
        ),
        details={"key": key},
    )


def text_of(raw: Mapping[str, object], key: str, where: str, default: str | None) -> str:
    """The text under a key, or the default; InputError when it is absent or no text."""
    value = raw.get(key, default)
    if value is None:
        raise missing_key(key, where, "a text")
    if not isinstance(value, str):
        raise invalid(key, value, "a text", where)
    return value


def one_of(known: tuple[str, ...]) -> str:
    """The words that an error lists as expected."""
    return msg("one of {listed}", listed=", ".join(f"`{word}`" for word in known))


def with_nearest(error: InputError, word: str, known: tuple[str, ...]) -> InputError:
    """The same error with the nearest known word as its hint."""
    near = nearest(word, known)
    hint = msg("Did you mean `{near}`?", near=near) if near else ""
    return InputError(error.code, error.sentence, hint=hint, details=error.details)
