"""Which names of populations mean the same people: declared by users, asked for where in doubt.

A budget belongs to people, and a name is all that the ledger has of them. Two names are in doubt
where the same data were debited to both (the same file, or the same rows of measured columns in any
format and order), or where they are spelled nearly alike. A debit is warned of then, and is not
made where it would go beyond a limit if they meant the same people, until the user has declared
that they do, and their debits count together, or that they mean other ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dpdesk.core.budget import DebitRequest
from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.messages import listed, msg
from dpdesk.project.ledger.records import AccountKey, PeopleDeclared, fold, is_said
from dpdesk.project.looks import letters_alone, likeness

_LEAST_WORD = 4
"""Letters of a word in which one other letter is taken for a slip of the keyboard."""


@dataclass(frozen=True)
class PeopleRecord:
    """A declaration as the ledger has it: entry, when and by whom, what it says."""

    n: int
    time: str
    who: str
    content: PeopleDeclared


@dataclass
class People:
    """All declarations of a ledger; of two about the same names the later one holds."""

    declared: dict[frozenset[str], PeopleRecord] = field(default_factory=dict)

    def copy(self) -> People:
        """The same, to which declarations may be added apart."""
        return People(dict(self.declared))

    def take(self, record: PeopleRecord) -> None:
        """Add a declaration. Raises ValueError for one that contradicts those that hold."""
        names = frozenset((fold(record.content.one), fold(record.content.other)))
        if len(names) < 2 or "" in names:
            raise ValueError("two names of populations were to be declared")
        after = {**self.declared, names: record}
        if _contradiction(after) is not None:
            raise ValueError("a declaration contradicts an earlier one")
        self.declared = after

    def same(self, name: str) -> frozenset[str]:
        """The folded names that mean the same people as this one, itself included."""
        return _joined(self.declared, fold(name))

    def settled(self, one: str, other: str) -> bool:
        """Whether it was declared if two names mean the same people."""
        first, second = self.same(one), self.same(other)
        return first == second or any(
            not record.content.same and len(names & first) == 1 and len(names & second) == 1
            for names, record in self.declared.items()
        )

    def about(self, name: str) -> tuple[PeopleRecord, ...]:
        """Every declaration that holds and names these people, oldest first."""
        own = self.same(name)
        found = [record for names, record in self.declared.items() if names & own]
        return tuple(sorted(found, key=lambda record: record.n))


def _joined(declared: dict[frozenset[str], PeopleRecord], name: str) -> frozenset[str]:
    found, more = {name}, [name]
    same = [names for names, record in declared.items() if record.content.same]
    while more:
        last = more.pop()
        near = {one for names in same if last in names for one in names} - found
        found |= near
        more += near
    return frozenset(found)


def _contradiction(declared: dict[frozenset[str], PeopleRecord]) -> PeopleRecord | None:
    """A declaration of different people who are the same ones by others; None without."""
    for names, record in declared.items():
        if not record.content.same and names <= _joined(declared, min(names)):
            return record
    return None


def check_people(people: People, one: str, other: str, same: bool, reason: str, path: Path) -> None:
    """Raise InputError ``ledger.reason``, ``ledger.people`` where this cannot be declared."""
    if not is_said(reason):
        raise InputError(
            "ledger.reason",
            msg(
                "{path}: declaring who “{one}” and “{other}” are needs a reason.",
                path=path,
                one=one,
                other=other,
            ),
            hint="Say how it is known, for the ledger and the audit log: `--reason TEXT`.",
            details={"key": "reason"},
        )
    names = frozenset((fold(one), fold(other)))
    if len(names) < 2 or "" in names:
        raise InputError(
            "ledger.people",
            msg(
                (
                    "{path}: “{one}” and “{other}” are one name, expected the names of two "
                    "populations."
                ),
                path=path,
                one=one,
                other=other,
            ),
        )
    record = PeopleRecord(0, "", "", PeopleDeclared(one, other, same, reason))
    found = _contradiction({**people.declared, names: record})
    if found is not None:
        near = [held for held in people.about(one) if held.content.same is not same]
        held = (found if found is not record else near[0]).content
        sentence = msg(
            "{path}: “{one}” and “{other}” were declared to be the same people, which "
            "contradicts this.",
            path=path,
            one=held.one,
            other=held.other,
        )
        if not held.same:
            sentence = msg(
                "{path}: “{one}” and “{other}” were declared to be different people, which "
                "contradicts this.",
                path=path,
                one=held.one,
                other=held.other,
            )
        raise InputError(
            "ledger.people",
            sentence,
            hint="Declare those two again first, with a reason.",
        )


def alike(one: str, other: str) -> bool:
    """Whether two names differ only in signs, accents, the order of words or one letter of one."""
    if likeness(one) == likeness(other):
        return True
    first, second = _words(one), _words(other)
    if sorted(first) == sorted(second):
        return True
    apart = [(a, b) for a, b in zip(first, second, strict=False) if a != b]
    return len(first) == len(second) and len(apart) == 1 and _slip(*apart[0])


def _words(name: str) -> list[str]:
    """The words of a name, of letters without accents, and its numbers."""
    return re.findall(r"[^\W\d_]+|\d+", letters_alone(fold(name)))


def _slip(one: str, other: str) -> bool:
    """Whether one letter was typed wrong, left out, put in or changed places with the next."""
    if not (one.isalpha() and other.isalpha()) or min(len(one), len(other)) < _LEAST_WORD:
        return False
    short, long = sorted((one, other), key=len)
    at = next((i for i, sign in enumerate(short) if sign != long[i]), len(short))
    if len(short) < len(long):
        return short[at:] == long[at + 1 :]
    swapped = long[at + 1 : at + 2] + long[at : at + 1] + long[at + 2 :]
    return short[at + 1 :] == long[at + 1 :] or short[at:] == swapped


@dataclass(frozen=True)
class Versions:
    """Data that are about the same people: hashes of files, prints of their rows."""

    sources: frozenset[str]
    prints: frozenset[str]

    @classmethod
    def of(cls, requests: Iterable[DebitRequest]) -> Versions:
        """The data of some debits."""
        found = list(requests)
        return cls(
            frozenset(one.source for one in found),
            frozenset(part for one in found for part in one.content),
        )

    def hold(self, request: DebitRequest) -> bool:
        """Whether a debit is on data of these, in whatever format or order of rows."""
        return request.source in self.sources or not self.prints.isdisjoint(request.content)


@dataclass(frozen=True)
class Doubt:
    """People of whom it was not declared whether they are those of an account.

    ``same_data``: data of that account were debited to them; else the names are alike.
    """

    other: AccountKey
    same_data: bool


def undeclared(
    doubts: Sequence[Doubt], key: AccountKey, amounts: tuple[str, str, str], whose: str, where: str
) -> RefusedError:
    """It was not declared whether two names mean the same people, and a limit depends on it.

    ``amounts``: what these would have spent together, what is asked, and the limit; ``whose`` set
    it.
    """
    others, (spent, asked, limit) = names_of(one.other for one in doubts), amounts
    sentence = msg(
        "{where}: the same data were debited to {others}: if these are the people of {key}, the "
        "limit {limit} ({whose}) does not allow it: spent {spent}, requested {asked}.",
        where=where,
        others=others,
        key=key,
        limit=limit,
        whose=whose,
        spent=spent,
        asked=asked,
    )
    if not any(one.same_data for one in doubts):
        sentence = msg(
            "{where}: the names of {others} and {key} are almost alike: if these are the same "
            "people, the limit {limit} ({whose}) does not allow it: spent {spent}, requested "
            "{asked}.",
            where=where,
            others=others,
            key=key,
            limit=limit,
            whose=whose,
            spent=spent,
            asked=asked,
        )
    return RefusedError(
        "ledger.people-unknown",
        sentence,
        hint="Use one name; or declare with a reason that they are the same people or different "
        "ones (`dpdesk ledger people`, or View › Budget ledger).",
        details={"population": key.population, "other": doubts[0].other.population},
    )


def names_of(keys: Iterable[AccountKey]) -> str:
    """Up to three accounts in words, and how many more."""
    return listed(list(dict.fromkeys(map(str, keys))), 3)
