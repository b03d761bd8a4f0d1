"""The item about pseudonyms: what rows they join, and what only people can say of their key."""

from __future__ import annotations

from collections.abc import Mapping

from dpdesk.core.disclosure import ColumnFacts, TableFacts
from dpdesk.core.plain import quoted
from dpdesk.core.schema import Role
from dpdesk.project.review.item_words import counted
from dpdesk.project.review.questions import Answer, Basis, Case, TableQuestion
from dpdesk.project.review.votes import ItemStatus as Status

_ADVICE = (
    "Ask who needs the link, who has the key and its backups, and who gets other releases with "
    "the same pseudonyms; leave the identifier out where nobody needs it."
)


def _pseudonyms(case: Case, table: TableFacts) -> Answer | None:
    columns = table.with_role(Role.PSEUDONYM)
    if not columns:
        return None
    guarantee = case.facts.release.section("guarantee").get("parameters")
    stated = guarantee if isinstance(guarantee, Mapping) else {}
    text = " ".join(_words(each, stated, table) for each in columns[:3])
    return Answer(Status.REVIEW, text, Basis.TABLE, _ADVICE)


def _words(column: ColumnFacts, stated: Mapping[str, object], table: TableFacts) -> str:
    domains, groups = stated.get("pseudonym_domains"), stated.get("pseudonyms_of_groups")
    domain = domains.get(column.name) if isinstance(domains, Mapping) else None
    of = "groups" if isinstance(groups, list) and column.name in groups else "persons"
    several = table.rows - column.missing - column.unique
    text = (
        f"{quoted(column.name)} holds {counted(column.distinct, 'different pseudonym')} of {of}; "
    )
    if several > 0:
        text += f"{several:,} of {table.rows:,} rows share theirs with another row, so whoever "
        text += "knows what such rows have in common may find them. "
    else:
        text += "no two rows share one. "
    if domain:
        return text + f"By the linkage domain {quoted(str(domain))} it joins other releases too."
    return text + "It was made for this release alone."


PSEUDONYM_ITEM = TableQuestion(
    "pseudonyms", "May identifiers be linked by pseudonyms?", _pseudonyms, always=False
)
"""The question about pseudonyms."""
