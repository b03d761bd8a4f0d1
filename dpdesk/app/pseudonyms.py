"""Pseudonyms in a release: keys found, columns replaced, what is recorded and said of them.

A release records the id of each key and the salt of its scope, in its internal part; with the key
at hand both are enough to make the same pseudonyms again. Neither tells anything of the key.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.jobs import CancelToken, Note, Report
from dpdesk.core.logged import Logged
from dpdesk.core.messages import counted, msg
from dpdesk.core.pseudonyms import NUMBER, RELEASE, PseudonymSpec, domain_frame

if TYPE_CHECKING:
    from dpdesk.app.context import AppContext
    from dpdesk.core.plan import Plan
    from dpdesk.io.pseudonyms import Replacement
    from dpdesk.io.published import PublishedCsv
    from dpdesk.io.store import DataStore
    from dpdesk.project.pseudonym_keys import (
        PseudonymKey,
        PseudonymKeys,
        StoredPseudonymKey,
    )

_NO_KEY = (
    "a key of the pseudonyms is not on this computer, so it was not checked that they were made "
    "with it; all other columns are what the source gives, and so are the links between rows, as "
    "far as rows can be distinguished"
)
_OTHER_KEY = (
    "this computer has a key with the name in the plan, but not the one that the evidence names, "
    "so it was not checked that the pseudonyms were made with it; all other columns are what the "
    "source gives, and so are the links between rows, as far as rows can be distinguished"
)
_RECORDED = frozenset({"key_id", "salt", "identifiers", "alike"})
_SALT = 16
_MANY = 20


@dataclass(frozen=True, eq=False)
class Pseudonyms:
    """What a release records of its pseudonyms, and the texts that replace identifiers.

    ``recorded`` is for the evidence: by column the key's id, the salt, counts of identifiers.
    """

    recorded: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    replaced: Mapping[str, Replacement] = field(repr=False, default_factory=dict)


def check_keys(home: Path, plan: Plan) -> None:
    """Every key that a plan names is on this computer. Raises what opening a key raises."""
    store = _store_of(home)
    for spec in plan.pseudonyms.values():
        store.open(spec.key)


def check_place(home: Path, plan: Plan, base: Path, out: Path) -> None:
    """The keys lie neither in the folder of the plan, which is passed on, nor where a release goes.

    A plan may lie in a folder that holds all that the user has. Raises InputError
    ``pseudonym-key.place``.
    """
    if not plan.pseudonyms:
        return
    keys, user = _store_of(home).folder.resolve(), Path.home().resolve()
    for folder in (base.resolve(), out.resolve()):
        if keys.is_relative_to(folder) and not user.is_relative_to(folder):
            raise InputError(
                "pseudonym-key.place",
                msg(
                    "{keys}: the pseudonym keys are in {folder}, the folder of the plan or the "
                    "release, expected a place that is never passed on with them.",
                    keys=keys,
                    folder=folder,
                ),
                hint="Set DPDESK_HOME to a folder elsewhere, and move the keys there.",
            )


def fresh_pseudonyms(
    home: Path, plan: Plan, data: DataStore, token: CancelToken, report: Report
) -> Pseudonyms:
    """Pseudonyms of a new release; those of one release alone get a fresh salt.

    Raises what opening keys raises, InputError ``pseudonym.not-number``, RefusedError
    ``pseudonym.collision``, Cancelled.
    """
    recorded: dict[str, dict[str, object]] = {}
    replaced: dict[str, Replacement] = {}
    salt = secrets.token_hex(_SALT)
    for name in data.columns:
        spec = plan.pseudonyms.get(name)
        if spec is None:
            continue
        key, used = _store_of(home).open(spec.key), salt if spec.scope == RELEASE else ""
        found = _replacement(key, spec, name, used, data, token, report)
        replaced[name] = found
        recorded[name] = {
            "key_id": key.id,
            "salt": used,
            "identifiers": found.values,
            "alike": found.alike,
        }
    return Pseudonyms(recorded, replaced)


@dataclass(frozen=True, eq=False)
class Remade:
    """Pseudonyms of a source made again for a release.

    ``absent`` says why they are made with keys drawn for the purpose, so that only who is linked
    with whom can be compared; ``another`` marks that this computer has another key of the name.
    """

    replaced: Mapping[str, Replacement] = field(repr=False, default_factory=dict)
    absent: str = ""
    another: bool = False


def made_again(
    home: Path,
    plan: Plan,
    recorded: Mapping[str, object],
    data: DataStore,
    token: CancelToken,
    report: Report,
) -> Remade:
    """The pseudonyms of a release once more; with other keys where one is not on this computer.

    Raises KeyError, TypeError or ValueError when the record is not one of this plan.
    """
    if set(recorded) != set(plan.pseudonyms):
        raise ValueError("pseudonyms of other columns")
    store, absent, another = _store_of(home), "", False
    keys: dict[str, PseudonymKey] = {}
    replaced = {}
    for name, spec in plan.pseudonyms.items():
        entry = recorded[name]
        if not isinstance(entry, Mapping) or set(entry) != _RECORDED:
            raise TypeError("no record of a pseudonym")
        key = store.with_id(str(entry["key_id"]))
        if key is None:
            here = store.keys()
            same = any(one.name == spec.key for one in here)
            absent, another = absent or (_OTHER_KEY if same else _NO_KEY), another or same
            key = keys.setdefault(spec.key, store.drawn(spec.key))
        elif key.name != spec.key:
            raise ValueError("the key has another name")
        found = _replacement(key, spec, name, str(entry["salt"]), data, token, report)
        if (found.values, found.alike) != (entry["identifiers"], entry["alike"]):
            raise ValueError("other identifiers")
        replaced[name] = found
    return Remade(replaced, absent, another)


def _replacement(
    key: PseudonymKey,
    spec: PseudonymSpec,
    column: str,
    salt: str,
    data: DataStore,
    token: CancelToken,
    report: Report,
) -> Replacement:
    domain = key.domain_key(domain_frame(spec, column, salt))
    numbers = spec.values == NUMBER
    return data.pseudonyms(column, domain, spec.length, token, report, numbers=numbers)


def check_persons(
    published: PublishedCsv,
    guarantee: Mapping[str, object],
    plan: Plan,
    token: CancelToken,
) -> None:
    """Rows that are alike belong to k persons or more by each pseudonym that stands for persons.

    Raises RefusedError ``pseudonym.few-persons``.
    """
    names, k = guarantee.get("quasi_identifiers"), guarantee.get("k")
    if not isinstance(names, list) or not isinstance(k, int):
        return
    for column, spec in plan.pseudonyms.items():
        if spec.linkage.groups:
            continue
        fewest = published.fewest_values(names, column, token)
        if fewest >= k:
            continue
        raise RefusedError(
            "pseudonym.few-persons",
            counted(
                "The pseudonyms of `{column}` show that rows with the same quasi-identifiers may "
                "belong to only {n:,} person, expected {k:,} or more; rows without an identifier "
                "count as one person.",
                "The pseudonyms of `{column}` show that rows with the same quasi-identifiers may "
                "belong to only {n:,} persons, expected {k:,} or more; rows without an "
                "identifier count as one person.",
                n=fewest,
                column=column,
                k=k,
            ),
            hint="Raise k, choose coarser levels, leave the identifier out, or say "
            '`of = "group"` if one identifier stands for a group such as a household.',
            details={"column": column, "persons": fewest, "k": k},
        )


def linkage_risk(
    published: PublishedCsv, guarantee: Mapping[str, object], token: CancelToken
) -> dict[str, dict[str, int]]:
    """Figures of the histories that pseudonyms show, by column; see :func:`histories`.

    ``guarantee`` are its parameters; empty where they name no pseudonyms.
    """
    from dpdesk.io.published_content import histories

    quasi, k = guarantee.get("quasi_identifiers"), guarantee.get("k")
    names = guarantee.get("pseudonym", [])
    if not isinstance(quasi, list) or not isinstance(k, int) or not isinstance(names, list):
        return {}
    return {
        name: histories(published, quasi, name, k, token).as_json()
        for name in names
        if name in published.columns
    }


def notes_of(
    recorded: Mapping[str, Mapping[str, object]],
    published: PublishedCsv,
    linkage: Mapping[str, Mapping[str, int]],
    token: CancelToken,
) -> list[Note]:
    """What a reviewer should know of the pseudonyms of a table, and of columns next to them.

    ``recorded`` is what the evidence holds of them, ``linkage`` its figures of histories.
    """
    from dpdesk.report.about import EXAMPLES

    notes = []
    tops = published.top_values(EXAMPLES, token)
    for name, entry in recorded.items():
        if entry["alike"]:
            notes.append(_alike(name, int(str(entry["alike"]))))
        top = tops[name]
        shown = linkage.get(name, {})
        if shown.get("several"):
            sentence = msg(
                "{n:,} of {m:,} pseudonyms of `{column}` have several rows, at most {o:,} each. "
                "Anyone who knows all rows of a person can find {p:,} of them for certain: no one "
                "else has the same combinations of quasi-identifiers; {q:,} share theirs with "
                "fewer than k pseudonyms.",
                n=shown["several"],
                m=shown["pseudonyms"],
                column=name,
                o=shown["most"],
                p=shown["alone"],
                q=shown["few"],
            )
            notes.append(Note("pseudonym.several-rows", sentence))
        for other, column in tops.items():
            if other in recorded or not _MANY <= column.distinct == top.distinct:
                continue
            token.check()
            if published.group_sizes([name, other], token).groups == top.distinct:
                notes.append(_same(name, other))
    return notes


def _alike(name: str, count: int) -> Note:
    return Note(
        "pseudonym.alike",
        counted(
            "{n:,} text of `{name}` differs from others only by spaces, by the way letters with "
            "accents are stored, or by zeros, and has the same pseudonym as these.",
            "{n:,} texts of `{name}` differ from others only by spaces, by the way letters with "
            "accents are stored, or by zeros, and have the same pseudonym as these.",
            n=count,
            name=name,
        ),
    )


def _same(name: str, other: str) -> Note:
    return Note(
        "pseudonym.same-column",
        msg(
            "`{other}` is released and corresponds one to one to the pseudonyms of `{column}`: "
            "anyone who knows a person's value of it needs no key. Is it the same identifier "
            "under another name?",
            other=other,
            column=name,
        ),
    )


# ---- keys ----------------------------------------------------------------------------------------


def list_keys(context: AppContext) -> tuple[StoredPseudonymKey, ...]:
    """The keys of this computer by name; damaged ones with their problem."""
    return _store(context).keys()


def make_key(context: AppContext, name: str, report: Report) -> StoredPseudonymKey:
    """Make a key. Raises InputError ``pseudonym-key.name``, ``pseudonym-key.exists``."""
    made = _store(context).create(name)
    _mention(context, "a key of pseudonyms was made", made, report)
    return made


def export_key(
    context: AppContext, name: str, passphrase: str, out: Path, report: Report
) -> StoredPseudonymKey:
    """Write a sealed backup of a key; see :meth:`PseudonymKeys.export`."""
    found = _store(context).export(name, passphrase, out)
    _mention(context, "a key of pseudonyms was exported", found, report)
    return found


def import_key(
    context: AppContext, path: Path, passphrase: str, report: Report
) -> StoredPseudonymKey:
    """Take a key from a backup; see :meth:`PseudonymKeys.take`."""
    found = _store(context).take(path, passphrase)
    _mention(context, "a key of pseudonyms was imported", found, report)
    return found


def delete_key(context: AppContext, name: str, key_id: str, report: Report) -> StoredPseudonymKey:
    """Take a key away for good; see :meth:`PseudonymKeys.delete`."""
    found = _store(context).delete(name, key_id)
    _mention(context, "a key of pseudonyms was deleted", found, report)
    return found


def _store(context: AppContext) -> PseudonymKeys:
    from dpdesk.project.pseudonym_keys import PseudonymKeys

    return PseudonymKeys(context.home, context.workspace)


def _store_of(home: Path) -> PseudonymKeys:
    from dpdesk.project.pseudonym_keys import PseudonymKeys

    return PseudonymKeys(home)


def _mention(context: AppContext, what: str, key: StoredPseudonymKey, report: Report) -> None:
    from dpdesk.app.auditing import mention

    mention(context, Logged.CHANGED, key.name, report, {"what": what, "key_id": key.id})
