"""What a k-anonymous release promises, in words filled from the checked result."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from dpdesk.core.messages import counted, joined, listed, msg
from dpdesk.core.parameters import exact_number, plain_number
from dpdesk.core.plain import number_text
from dpdesk.core.pseudonyms import Linkage
from dpdesk.core.release import Guarantee
from dpdesk.core.schema import Role
from dpdesk.engine.methods.k_anonymity.required import required_claim, required_limits
from dpdesk.engine.methods.k_anonymity.settings import Settings

MODEL = "k-anonymity"
UNCHANGED_ROLES = (Role.SENSITIVE, Role.INSENSITIVE, Role.WEIGHT, Role.CLUSTER)
"""Roles of columns that a release shows as they are in the source."""

RELEASED_ROLES = (*UNCHANGED_ROLES, Role.PSEUDONYM)
"""Roles of released columns that are no quasi-identifiers."""

SEARCH_LIMITS = (
    "Knowledge of the search: someone who knows how the levels were chosen may conclude something "
    "about the rows that made a generalisation necessary (minimality attack).",
    "Published labels: levels that were made from the data may show a range, a length or a form "
    "that only values of suppressed rows have; someone who knows nearly all rows can test guesses "
    "about the others.",
)
"""What levels that a search chose, over all rows, tell of the rows."""

_MOST_NAMES = 12


def stated_besides(settings: Settings) -> dict[str, object]:
    """How households count, and what a population asks, as a guarantee states it."""
    found: dict[str, object] = {"households": "whole"} if settings.whole_households else {}
    if settings.k_map:
        found["k_map"] = settings.k_map
    if settings.delta is not None:
        low, high = settings.delta
        found |= {"delta_min": plain_number(low), "delta_max": plain_number(high)}
    return found


_NO_LINKAGES: Mapping[str, Linkage] = {}
_NO_SEMANTICS: Mapping[str, object] = {}


def k_guarantee(
    k: int,
    smallest_class: int,
    rows_suppressed: int,
    roles: Mapping[str, Role],
    linkages: Mapping[str, Linkage] = _NO_LINKAGES,
    required: Sequence[Mapping[str, object]] = (),
    semantics: Mapping[str, object] = _NO_SEMANTICS,
) -> Guarantee:
    """The guarantee of a release whose smallest class was counted to be ``smallest_class`` rows.

    ``roles`` holds the columns in source order; identifiers may be among them and are never named,
    the quasi-identifiers make the claim. The parameters of the guarantee give every released column
    under its role, so that a verifier can write the same words again from the public files alone.
    The sentence is that of Samarati and Sweeney's k-anonymity under the prosecutor's view: the
    attacker knows that the person is in the data, knows the quasi-identifiers only, and cannot tell
    the rows of a class apart by the other columns. It begins with that assumption, for columns that
    depend on each other are the rule.
    ``linkages`` holds what the pseudonyms of each column with that role join; see
    :mod:`~dpdesk.engine.methods.k_anonymity.guarantee`.

    ``required`` is what every class passed besides, see
    :func:`~dpdesk.engine.methods.k_anonymity.required.stated`.

    ``semantics`` says how missing values were counted, where not as a category: ``missing_as``, and
    under ``any`` the released labels that mean a missing value as ``missing``; ``smallest_class``
    is then the fewest rows that a row matches. And that whole households count, as ``households``.

    ValueError when ``smallest_class`` is below ``k``: no text is made for a broken promise.
    """
    if smallest_class < k:
        raise ValueError(f"a class of {smallest_class} rows does not satisfy k = {k}")
    quasi = [name for name, role in roles.items() if role is Role.QUASI_IDENTIFIER]
    return Guarantee(
        model=MODEL,
        parameters={"k": k, "quasi_identifiers": quasi}
        | _released(roles)
        | stated(linkages)
        | ({"require": list(required)} if required else {})
        | dict(semantics),
        claim=joined(
            [
                _claim(k, smallest_class, quasi, _named(roles, *UNCHANGED_ROLES), semantics)
                + persons_claim(k, linkages),
                *([_NONE_MISSING] if semantics.get("missing_as") == "none" else []),
                *_household_claim(k, semantics),
                *_population_claim(semantics),
                *map(required_claim, required),
            ],
            " ",
        ),
        assumes=_assumptions(quasi, _named(roles, *UNCHANGED_ROLES)) + assumptions(linkages),
        does_not_cover=limits(k, linkages)
        + _limits(k, roles, _diverse(required))
        + (absence(_reasons(linkages, required, semantics)) if rows_suppressed else ())
        + SEARCH_LIMITS
        + required_limits(required)
        + _missing_limits(k, semantics)
        + _household_limits(roles, linkages, semantics)
        + _population_limits(semantics),
    )


_NONE_MISSING = (
    "Missing values match nothing: no released row has one of these missing below the top of its "
    "hierarchy."
)


def _missing_limits(k: int, semantics: Mapping[str, object]) -> tuple[str, ...]:
    """What is not covered where missing values match anything."""
    if semantics.get("missing_as") != "any":
        return ()
    return (
        msg(
            "Knowledge of what is missing: someone who knows whether a value of a person is "
            "missing in the data can tell rows apart that match only because missing values match "
            "anything; fewer than {k:,} rows may then be left.",
            k=k,
        ),
    )


def _household_claim(k: int, semantics: Mapping[str, object]) -> list[str]:
    """That k counts households, and that these leave whole."""
    if semantics.get("households") != "whole":
        return []
    return [
        msg(
            "Every such combination covers rows of at least {k:,} households, and a household is "
            "released with all its rows or not at all.",
            k=k,
        )
    ]


def _population_claim(semantics: Mapping[str, object]) -> list[str]:
    """What a released combination matches in the population."""
    found = []
    if isinstance(k_map := semantics.get("k_map"), int):
        found.append(
            msg(
                "Every such combination matches at least {k_map:,} rows of the population file "
                "that the agency used.",
                k_map=k_map,
            )
        )
    if "delta_max" in semantics:
        found.append(
            msg(
                "Of the rows of that population with a combination, a share from {low} to {high} "
                "is released.",
                low=_share(semantics["delta_min"]),
                high=_share(semantics["delta_max"]),
            )
        )
    return found


def _share(value: object) -> str:
    number = exact_number(value)
    return str(value) if number is None else number_text(number)


def _population_limits(semantics: Mapping[str, object]) -> tuple[str, ...]:
    """What is not covered where a population counts."""
    if "k_map" not in semantics and "delta_max" not in semantics:
        return ()
    return (
        "A different population: who is in the population file was not checked; where persons "
        "are missing from it, where it has a different reference date, or where others know who "
        "of them took part, the numbers of matches in it say less.",
    )


def _household_limits(
    roles: Mapping[str, Role], linkages: Mapping[str, Linkage], semantics: Mapping[str, object]
) -> tuple[str, ...]:
    """What is not covered where households count."""
    if semantics.get("households") != "whole":
        return ()
    joined_by = _named(roles, Role.CLUSTER) or [n for n, each in linkages.items() if each.groups]
    chance = (
        "Households of different size: a combination covers rows of several households, but not "
        "equally many of each, so that a household with many of its rows is matched more often "
        "than once in k."
    )
    if joined_by:
        return (chance,)
    return (
        chance,
        "Rows of a household: they are not marked, but where the released columns fit together "
        "(an address, a couple's year of marriage) someone may join them, and know more about a "
        "household than about each person in it.",
    )


def _diverse(required: Sequence[Mapping[str, object]]) -> set[str]:
    """Columns of which no class may hold one single value."""
    found = set()
    for each in required:
        bound = each.get("l", each.get("alpha"))
        if isinstance(bound, int | float) and (bound > 1 if "l" in each else bound < 1):
            found.add(str(each["attribute"]))
    return found


def name_list(names: Sequence[str], most: int = _MOST_NAMES) -> str:
    """Names in a sentence: ``age, sex and region``; beyond ``most`` it says how many more."""
    return listed(names, most)


def _claim(
    k: int,
    smallest: int,
    quasi: Sequence[str],
    others: Sequence[str],
    semantics: Mapping[str, object],
) -> str:
    known = name_list(quasi, len(quasi))
    each = "combination of these" if len(quasi) > 1 else "value of it"
    further = ", and to whom the other released columns reveal nothing more" if others else ""
    if semantics.get("missing_as") == "any":
        return msg(
            "Someone who knows only {known} of a person{further}, and for whom a missing value "
            "may stand for any value, cannot narrow a released row down to fewer than {k:,}: each "
            "matches at least {k:,} released rows, itself among them, in all values that are "
            "missing in neither (the one with the fewest matches {smallest:,}).",
            known=known,
            further=further,
            k=k,
            smallest=smallest,
        )
    return msg(
        "For someone who knows only {known} of a person{further}, a match is "
        "right with a chance of at most 1 in {k:,}: every released {each} covers "
        "at least {k:,} rows (the smallest covers {smallest:,}).",
        known=known,
        further=further,
        k=k,
        each=each,
        smallest=smallest,
    )


def _released(roles: Mapping[str, Role]) -> dict[str, list[str]]:
    """The released columns by role; a role without columns has no key."""
    found = {role.value: _named(roles, role) for role in RELEASED_ROLES}
    return {role: names for role, names in found.items() if names}


def _named(roles: Mapping[str, Role], *wanted: Role) -> list[str]:
    return [name for name, role in roles.items() if role in wanted]


def _assumptions(quasi: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    these = (
        "these quasi-identifiers" if len(quasi) > 1 else msg("the value of {quasi}", quasi=quasi[0])
    )
    known = msg(
        "Anyone who looks for a person knows nothing about them beyond {these}", these=these
    )
    if others:
        known += msg(", in particular not {others}", others=name_list(others))
    return (
        known + ".",
        "Each person has one row; anyone with several rows is protected less.",
        "This is the only release about these people; several releases can be combined.",
    )


def absence(reasons: Sequence[str]) -> tuple[str, ...]:
    """What it tells that a person's row is not released, where rows were suppressed.

    ``reasons`` say why else than for a rare combination: each one could be that of a row, and which
    one it is may follow from how many people are known to have the combination.
    """
    if not reasons:
        return (
            "Absence: suppressed rows had rare combinations, so someone who is known to be in "
            "the data and matches no released row is known to be one of them.",
        )
    return (
        msg(
            "Absence: someone who is known to be in the data and matches no released row is known "
            "to be one of those suppressed, so that one of these is true: {reasons}.",
            reasons=joined(["their combination is rare", *reasons], "; "),
        ),
    )


def _reasons(
    linkages: Mapping[str, Linkage],
    required: Sequence[Mapping[str, object]],
    semantics: Mapping[str, object],
) -> list[str]:
    """Why rows may have been suppressed whose combination many have."""
    found = []
    if any(not each.groups for each in linkages.values()):
        found.append("the rows with it are of too few persons")
    if names := list(dict.fromkeys(str(each["attribute"]) for each in required)):
        found.append(
            msg(
                "the values of {names} of those who have it failed what is required (where it is "
                "known not to be rare, this is certain: all of them may have one value, which each "
                "of them then learns of the others)",
                names=listed(names),
            )
        )
    if "k_map" in semantics:
        found.append("too few rows of the population match it")
    if "delta_max" in semantics:
        found.append("too many of the rows of the population that match it are in the data")
    if semantics.get("missing_as") == "none":
        found.append("one of their quasi-identifiers is missing")
    if semantics.get("households") == "whole":
        found.append("someone in their household has such a combination")
    return found


def _limits(k: int, roles: Mapping[str, Role], diverse: Collection[str]) -> tuple[str, ...]:
    sensitive = _named(roles, Role.SENSITIVE) or _named(roles, Role.INSENSITIVE)
    shared = [name for name in sensitive if name not in diverse]
    limits = []
    if shared or not sensitive:
        limits.append(
            msg(
                "What a whole class shares: when all its rows hold the same value{of}, that value "
                "is learned about each of them without any link.",
                of=msg(" of {columns}", columns=name_list(shared)) if shared else "",
            )
        )
    if others := _named(roles, *UNCHANGED_ROLES):
        limits.append(
            counted(
                "What columns reveal about each other: where the released columns go together "
                "(an industry with an occupation), someone may conclude from what they know "
                "about a person what {others} holds for that person, and tell the rows of a "
                "class apart by it; a match is then right more often than once in {k:,}.",
                "What columns reveal about each other: where the released columns go together "
                "(an industry with an occupation), someone may conclude from what they know "
                "about a person what {others} hold for that person, and tell the rows of a "
                "class apart by it; a match is then right more often than once in {k:,}.",
                n=len(others),
                others=name_list(others),
                k=k,
            )
        )
    return (*limits, *_column_limits(roles))


def _column_limits(roles: Mapping[str, Role]) -> list[str]:
    limits = []
    if insensitive := _named(roles, Role.INSENSITIVE):
        limits.append(
            counted(
                "Knowledge of other columns: {insensitive} is released unchanged, and "
                "anyone who knows such a value of a person may tell the rows of a class "
                "apart and find the person's row.",
                "Knowledge of other columns: {insensitive} are released unchanged, and "
                "anyone who knows such a value of a person may tell the rows of a class "
                "apart and find the person's row.",
                n=len(insensitive),
                insensitive=name_list(insensitive),
            )
        )
    if clusters := _named(roles, Role.CLUSTER):
        limits.append(
            msg(
                "Households and other groups: {columns} links rows, so anyone who recognises one "
                "member, or knows how the group is made up, may find the others.",
                columns=name_list(clusters),
            )
        )
    if weights := _named(roles, Role.WEIGHT):
        limits.append(
            counted(
                "Weights: {weights} is released unchanged; a weight can reveal the region or "
                "stratum of a row, or a rare case.",
                "Weights: {weights} are released unchanged; a weight can reveal the region or "
                "stratum of a row, or a rare case.",
                n=len(weights),
                weights=name_list(weights),
            )
        )
    return limits


# What pseudonyms do to a guarantee of k-anonymity, in words and as figures of the guarantee.
#
# A pseudonym is unique to a person or a group. It joins rows: within the release always, with
# other releases where a linkage domain says so, and with the identifiers themselves for anyone
# who has the key. k counts rows that are alike on the quasi-identifiers, and none of these
# joins.


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
