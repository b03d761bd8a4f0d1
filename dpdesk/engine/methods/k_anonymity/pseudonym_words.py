"""What pseudonyms do to a guarantee of k-anonymity, in words and as figures of the guarantee.

A pseudonym is unique to a person or a group. It joins rows: within the release always, with other
releases where a linkage domain says so, and with the identifiers themselves for anyone who has the
key. k counts rows that are alike on the quasi-identifiers, and none of these joins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dpdesk.core.messages import listed, msg
from dpdesk.core.pseudonyms import Linkage

DOMAINS, GROUPS = "pseudonym_domains", "pseudonyms_of_groups"
"""Parameters of the guarantee: the linkage domain by column, and the columns of groups."""


def stated(linkages: Mapping[str, Linkage]) -> dict[str, object]:
    """What the parameters of a guarantee say of pseudonyms; empty ones are left out."""
    domains = {name: each.domain for name, each in linkages.items() if each.domain}
    groups = [name for name, each in linkages.items() if each.groups]
    found: dict[str, object] = {}
    if domains:
        found[DOMAINS] = domains
    if groups:
        found[GROUPS] = groups
    return found


def linkages_from(parameters: Mapping[str, object], names: Sequence[str]) -> dict[str, Linkage]:
    """The inverse of :func:`stated` for the columns ``names``. ValueError when it is not of that
    shape.
    """
    domains, groups = parameters.get(DOMAINS, {}), parameters.get(GROUPS, [])
    if not isinstance(domains, Mapping) or not set(domains) <= set(names):
        raise ValueError(DOMAINS)
    if not all(isinstance(text, str) and text.strip() for text in domains.values()):
        raise ValueError(DOMAINS)
    if not isinstance(groups, list | tuple) or not set(groups) <= set(names):
        raise ValueError(GROUPS)
    return {name: Linkage(name in groups, str(domains.get(name, ""))) for name in names}


def of_persons(linkages: Mapping[str, Linkage]) -> tuple[str, ...]:
    """The columns whose pseudonyms stand for persons."""
    return tuple(name for name, each in linkages.items() if not each.groups)


def persons_claim(k: int, linkages: Mapping[str, Linkage]) -> str:
    """One more sentence of the claim: rows that are alike are those of k persons or more."""
    names = of_persons(linkages)
    if not names:
        return ""
    return msg(
        " Rows that are alike have at least {k:,} different pseudonyms of {columns}, so they are "
        "not those of fewer persons.",
        k=k,
        columns=listed(names),
    )


def assumptions(linkages: Mapping[str, Linkage]) -> tuple[str, ...]:
    """Whom pseudonyms protect from, and what they count."""
    if not linkages:
        return ()
    names, persons = tuple(linkages), of_persons(linkages)
    counted = (
        msg(
            "Each person has one identifier for {columns}, always written the same way: one "
            "that is written in two ways counts as two persons.",
            columns=listed(persons),
        ),
    )
    return (
        *(counted if persons else ()),
        msg(
            "The key of the pseudonyms ({columns}) stays secret. Anyone who has it can compute "
            "the pseudonym of every conceivable identifier, and by trying all of them trace every "
            "pseudonym back, even without the source: for them the rows are as good as named.",
            columns=listed(names),
        ),
    )


def limits(k: int, linkages: Mapping[str, Linkage]) -> tuple[str, ...]:
    """What k does not count because rows are joined."""
    if not linkages:
        return ()
    found = []
    if names := of_persons(linkages):
        found.append(
            msg(
                "Several rows of one person: {columns} shows which rows belong to the same "
                "person, so anyone who knows what two of them have in common may find a "
                "combination that fewer than {k:,} persons have.",
                columns=listed(names),
                k=k,
            )
        )
    if names := tuple(name for name, each in linkages.items() if each.groups):
        found.append(
            msg(
                "Groups: {columns} shows which rows belong to the same group, so anyone who "
                "recognises one member, or knows how the group is made up, may find the others.",
                columns=listed(names),
            )
        )
    for name, each in linkages.items():
        if each.domain:
            found.append(
                msg(
                    "Joined releases: {column} is the same in every release with this key and the "
                    "linkage domain “{domain}”, so two of them can be joined row by row; what "
                    "both reveal about a person together may be shared with fewer than {k:,} "
                    "others.",
                    column=name,
                    domain=each.domain,
                    k=k,
                )
            )
    if names := tuple(name for name, each in linkages.items() if not each.domain):
        found.append(
            msg(
                "Later use of the key: {columns} was made for this release only and cannot be "
                "joined with others by anyone who does not have the key; anyone who has it can.",
                columns=listed(names),
            )
        )
    return tuple(found)
