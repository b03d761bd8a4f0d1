"""The attacks that were tried on a release: what the attacker knows, and what came of it.

They are the questions of the checklist that play an attacker, answered from the published table,
and what rows that pseudonyms join tell together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from dpdesk.core.jobs import CancelToken
from dpdesk.report.pack import AttackLine

if TYPE_CHECKING:
    from dpdesk.app.review.looking import ReviewPicture
    from dpdesk.core.release import ReleaseFacts

# Of each item: the attack, and what the attacker knows.
_ATTACKS: Mapping[str, tuple[str, str]] = {
    "smallest-class": (
        "Finding a person's row by the quasi-identifiers",
        "that the person is in the data, and all their quasi-identifiers",
    ),
    "homogeneous": (
        "Reading a value that a whole class shares",
        "the quasi-identifiers of a person",
    ),
    "own-values": (
        "Finding a person's row by one unchanged column",
        "the person's value of one column that is released unchanged",
    ),
    "one-column-more": (
        "Finding a person's row by one more column",
        "the quasi-identifiers and one insensitive, weight or cluster column",
    ),
    "extremes": (
        "Recognising somebody by an extreme value",
        "that the person's value is far above all others",
    ),
    "groups": (
        "Finding the other members of a household or group",
        "one row of the group",
    ),
    "pseudonyms": (
        "Joining the rows of one pseudonym",
        "what several rows of a person have in common",
    ),
    "drawn-values": (
        "Guessing a drawn value",
        "the person's row, and how often each value occurs",
    ),
    "known-others": (
        "Guessing a drawn value by knowing the others'",
        "the true values of nearly everybody else",
    ),
    "linkage": (
        "Finding a person's row among drawn values",
        "columns that are released unchanged",
    ),
    "privacy-loss": (
        "Becoming surer about a person from noisy tables",
        "whatever there is to know of everybody else",
    ),
    "exact-tables": (
        "Averaging the noise away with exact totals",
        "all tables of the release, exact ones too",
    ),
}


def attack_lines(picture: ReviewPicture, token: CancelToken) -> Iterator[AttackLine]:
    """One line for each attack that was tried on this release. Raises Cancelled."""
    from dpdesk.project.review.votes import ItemStatus

    for item in picture.checked.checklist.items:
        words = _ATTACKS.get(item.id)
        if words is None or item.status is ItemStatus.NOT_APPLICABLE:
            continue
        yield AttackLine(*words, item.evidence)
    yield from _history_lines(picture.checked.facts.release, token)


def _history_lines(facts: ReleaseFacts, token: CancelToken) -> Iterator[AttackLine]:
    """What somebody finds who knows all rows of a person, counted from the published table."""
    from dpdesk.app.pseudonyms import linkage_risk
    from dpdesk.io.csvgrammar import UnreadableTableError
    from dpdesk.io.published import PublishedCsv
    from dpdesk.io.release_folder import MICRODATA

    parameters = facts.section("guarantee").get("parameters")
    if not isinstance(parameters, Mapping) or not parameters.get("pseudonym"):
        return
    try:
        found = linkage_risk(PublishedCsv(facts.public / MICRODATA, token), parameters, token)
    except (UnreadableTableError, OSError, KeyError, TypeError, ValueError):
        return  # what is wrong with the table stands among the faults
    for name, each in found.items():
        yield AttackLine(
            "Finding a person by all their rows together",
            "the quasi-identifiers of all rows of a person",
            f"Of {each['pseudonyms']:,} pseudonyms of {name}, {each['alone']:,} have rows that "
            f"nobody else has together, and {each['few']:,} have rows that fewer than k have "
            "together (counted now from the published table).",
        )
