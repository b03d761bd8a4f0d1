"""Every key of the evidence, and on what its value rests: one place that decides for all of them.

Three kinds: *compared* with the manifest, the public files or the plan, whatever is at hand;
compared with the *source* where that is given; *recorded*, which nobody can repeat, for the reason
that stands here. A key that is not listed fails. The report shows what is recorded under a sentence
that says so, and ``dpdesk verify`` names it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from dpdesk.app.evidence import ASKED, PACKAGES
from dpdesk.core.messages import TABLE, msg

NOISE_PAID, RECORDED_NOTES, PRINTED_TOO = "noise_paid", "recorded_notes", "printed"
_ANY = "*"


class Basis(Enum):
    """On what a value of the evidence rests."""

    COMPARED = "compared"
    SOURCE = "compared with the source"
    RECORDED = "as recorded"


class Releases(Enum):
    """Which releases have a key."""

    ALL = "all"
    ROWS = "rows"
    PAID = "paid from a budget"


@dataclass(frozen=True)
class Key:
    """A key, or all below it: its path with ``*`` for any name or place in a list.

    ``why`` says of a recorded one why nobody can repeat it. Such a path ends at a single value.
    ``always``: no release of this version is without it.
    """

    path: str
    basis: Basis = Basis.COMPARED
    why: str = ""
    of: Releases = Releases.ALL
    always: bool = True

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the path."""
        return tuple(self.path.split("/"))

    def covers(self, place: tuple[str, ...]) -> bool:
        """Whether a value at this place is meant."""
        parts = self.parts
        if len(parts) > len(place) or (self.basis is Basis.RECORDED and len(parts) != len(place)):
            return False
        return all(part in (_ANY, name) for part, name in zip(parts, place, strict=False))


def _compared(*names: str) -> tuple[Key, ...]:
    return tuple(Key(name) for name in names)


def _source(*names: str) -> tuple[Key, ...]:
    return tuple(Key(name, Basis.SOURCE) for name in names)


_TIME = "a time that has passed"
_SEARCH = "a search, which would have to be made again"
_MACHINE = "a computer that is not at hand"
_NAME = "a name of a file, which may have another name today"
_LEDGER = "the ledger, which only the computer that holds it can show"

KEYS = (
    *_compared("format", "dpdesk", "method", "guarantee", "parameters", "roles"),
    *_compared("commitment_key", f"source/{ASKED}", PRINTED_TOO),
    Key(TABLE, always=False),
    Key("created", Basis.RECORDED, _TIME),
    Key("title", Basis.RECORDED, "people who chose it"),
    Key("plan_name", Basis.RECORDED, _NAME),
    Key("source/name", Basis.RECORDED, _NAME),
    Key("plan/title", Basis.RECORDED, "people who chose it", always=False),
    Key("plan/source/path", Basis.RECORDED, _NAME),
    Key("plan/source/metadata", Basis.RECORDED, _NAME, always=False),
    Key("plan/source/catalog", Basis.RECORDED, _NAME, always=False),
    Key("plan/attributes/*/hierarchy", Basis.RECORDED, _NAME, always=False),
    Key("plan/budget/ledger", Basis.RECORDED, _NAME, always=False),
    Key("plan/budget/limit", Basis.RECORDED, _LEDGER, always=False),
    *_compared("plan"),
    *_source("source/sha256", "source/rows", "source/columns", "source/reading"),
    # Of texts alone: other formats have no lines.
    Key("source/unreadable_lines", Basis.SOURCE, of=Releases.PAID, always=False),
    Key("source/unreadable_values", Basis.SOURCE, of=Releases.PAID),
    Key("result/seconds", Basis.RECORDED, _TIME, always=False),
    Key("result/bound", Basis.RECORDED, _SEARCH, always=False),
    *_source("hierarchies", "result", "risk", "utility", "figures", "charts", "recoded"),
    *_source("checks", "notes"),
    Key("pseudonyms", Basis.SOURCE, of=Releases.ROWS, always=False),
    Key(f"{NOISE_PAID}/*", Basis.RECORDED, _LEDGER, Releases.ROWS, always=False),
    Key(f"{RECORDED_NOTES}/*", Basis.RECORDED, "files and a computer that are not at hand"),
    Key("environment/dpdesk"),
    Key("environment/python", Basis.RECORDED, _MACHINE),
    Key("environment/system", Basis.RECORDED, _MACHINE),
    *(Key(f"environment/packages/{name}", Basis.RECORDED, _MACHINE) for name in PACKAGES),
    Key("timings/*", Basis.RECORDED, _TIME),
    *(Key(f"budget/{n}", of=Releases.PAID) for n in ("debit", "entry", "cost", "population")),
    Key("budget/ledger", Basis.RECORDED, _NAME, Releases.PAID),
    Key("budget/time", of=Releases.PAID),
    Key("budget/record", of=Releases.PAID),
    Key("budget/head/ledger", of=Releases.PAID),
    Key("budget/head/entries", Basis.RECORDED, _LEDGER, Releases.PAID),
    Key("budget/head/hash", Basis.RECORDED, _LEDGER, Releases.PAID),
    Key("budget/elsewhere/*/ledger", Basis.RECORDED, _LEDGER, Releases.PAID, always=False),
    Key("budget/elsewhere/*/cost", Basis.RECORDED, _LEDGER, Releases.PAID, always=False),
)
"""All of them; of several that cover a place, the first counts."""


def key_at(place: tuple[str, ...]) -> Key | None:
    """The key that a value at this place belongs to; None when there is none."""
    return next((key for key in KEYS if key.covers(place)), None)


def key_faults(evidence: Mapping[str, object], *, paid: bool, complete: bool) -> Iterator[str]:
    """Keys that are not those of such evidence, and recorded values of another kind.

    ``complete``: this very program made the release, so that none may be missing.
    """
    fitting = (Releases.ALL, Releases.PAID if paid else Releases.ROWS)
    unknown = set()
    for place, value in _values(evidence):
        key = key_at(place)
        if key is None or key.of not in fitting:
            unknown.add(_shown(place))
        elif key.basis is Basis.RECORDED and not _single(place, value):
            yield msg("`{key}` is not a value as a run records it", key=_shown(place))
    yield from (msg("`{key}` is not a key of evidence", key=name) for name in sorted(unknown))
    if complete:
        for key in KEYS:
            if key.always and key.of in fitting and not _is_there(evidence, key.parts):
                name = ", ".join(part for part in key.parts if part != _ANY)
                yield msg("the key `{key}` is missing", key=name)


def recorded_in(evidence: Mapping[str, object]) -> tuple[str, ...]:
    """What of this evidence rests on the record of the run alone: keys, sorted, each once."""
    found = set()
    for place, _ in _values(evidence):
        key = key_at(place)
        if key is not None and key.basis is Basis.RECORDED:
            found.add(" ".join(place) if place[0] == "result" else place[0])
    return tuple(sorted(found))


def _values(value: object, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    """Single values with their places, as deep as keys tell them apart; empty tables too."""
    decided = key_at(place) if place else None
    if decided is not None and decided.basis is not Basis.RECORDED and not _deeper(place):
        yield place, value
    elif isinstance(value, Mapping) and value:
        for name, inner in value.items():
            yield from _values(inner, (*place, str(name)))
    elif isinstance(value, list | tuple) and value:
        for inner in value:
            yield from _values(inner, (*place, _ANY))
    elif place and not (value in ({}, [], ()) and _deeper(place)):
        yield place, value


def _deeper(place: tuple[str, ...]) -> bool:
    """Whether keys tell apart what is below a place."""
    return any(
        len(key.parts) > len(place)
        and all(part in (_ANY, name) for part, name in zip(key.parts, place, strict=False))
        for key in KEYS
    )


def _is_there(value: object, parts: tuple[str, ...]) -> bool:
    if not parts or parts[0] == _ANY:
        return isinstance(value, Mapping | list | tuple) if parts else True
    return (
        isinstance(value, Mapping) and parts[0] in value and _is_there(value[parts[0]], parts[1:])
    )


def _single(place: tuple[str, ...], value: object) -> bool:
    """Whether a recorded value is one of its kind: seconds, a bound, a count, or a text."""
    if "timings" in place or place[-1] in ("seconds", "bound"):
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number and 0 <= float(str(value)) < float("inf")
    if place[-1] in ("entries", "limit"):
        return isinstance(value, int | float | str) and not isinstance(value, bool)
    return isinstance(value, str)


def _shown(place: tuple[str, ...]) -> str:
    return ", ".join(name[:60] for name in place if name != _ANY)
