"""Checks of a k-anonymous release from its published files, or against its source.

Nothing here comes from the search, the metrics kernels or the risk figures: classes are counted
from the text of the released rows, and the manifest is taken for a claim, never for a fact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.pseudonyms import Linkage
from dpdesk.core.release import CheckStatus, ClaimCheck, GroupSizes, PublishedTable
from dpdesk.core.schema import Role
from dpdesk.core.shapes import as_list, as_table
from dpdesk.verifiers.anonymity.remaking import POPULATION, asked_of
from dpdesk.verifiers.anonymity.requirements import (
    ANY,
    CATEGORY,
    NONE,
    WHOLE,
    Held,
    Required,
    marked,
    matches,
    number_rows,
    passing,
    required_of,
)
from dpdesk.verifiers.anonymity.shapes import allowed_rows, node_forms, pseudonym_forms
from dpdesk.verifiers.promises import Sentences, first_difference, miscounted, parameter_fault
from dpdesk.verifiers.reading import texts

TABLE = "microdata.csv"
MANIFEST = "manifest.json"

RELEASED_ROLES = (
    *(Role.SENSITIVE, Role.INSENSITIVE, Role.WEIGHT, Role.CLUSTER),
    Role.PSEUDONYM,
)
"""Roles of released columns that are no quasi-identifiers."""

Linkages = Mapping[str, Linkage]
Stated = Mapping[str, object]
Worded = Callable[
    [int, int, int, Mapping[str, Role], Linkages, Sequence[Stated], Stated], Sentences
]
"""Words a guarantee for k, the smallest class, suppressed rows, roles, what pseudonyms join, what
is required of classes besides k, and how missing values count."""

_CONFIRMED = CheckStatus.CONFIRMED
_FAILED = CheckStatus.FAILED
_NEEDS_SOURCE = CheckStatus.NEEDS_SOURCE
_NOT_CHECKABLE = CheckStatus.NOT_CHECKABLE

_TOLERANCE = 1e-9
CELLED = ("mondrian", "k-optimize", "top-down", "AG_CS", "CG", "CS", "AS")
"""Algorithms and models whose releases have no level for each quasi-identifier."""
NONE_MISSING = "no released row misses a quasi-identifier below the top of its hierarchy"
DROP, PSEUDONYM, KEEP = "drop", "pseudonym", "keep"
MISSING_VALUES = "values that mean a missing one"
GENERALISES = "every released row generalises its original"
"""The claim on releases without a level for each quasi-identifier."""


@dataclass(frozen=True)
class Claimed:
    """The claim at the heart of a manifest: k over these columns, and what is ``required``.

    ``stated`` are the requirements as the guarantee writes them; ``missing`` are the labels that
    are said to mean a missing value, where that matches anything.
    """

    k: int
    quasi_identifiers: tuple[str, ...]
    stated: tuple[Mapping[str, object], ...] = ()
    required: tuple[Required, ...] = ()
    missing_as: str = CATEGORY
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    whole_households: bool = False
    population: Mapping[str, object] = field(default_factory=dict)

    @property
    def semantics(self) -> dict[str, object]:
        """How missing values, households and a population count, as the guarantee states it."""
        found: dict[str, object] = {"households": WHOLE} if self.whole_households else {}
        found |= self.population
        if self.missing_as == CATEGORY:
            return found
        labels = {name: list(texts) for name, texts in self.missing.items()}
        found["missing_as"] = self.missing_as
        return found | ({"missing": labels} if self.missing_as == ANY else {})


def verify_public(
    manifest: Mapping[str, object],
    published: PublishedTable,
    worded: Worded,
    token: CancelToken,
) -> tuple[ClaimCheck, ...]:
    """Check every claim of ``manifest`` that the published table can confirm or refute.

    ``worded`` words the guarantee again from what is counted here.
    A manifest that is malformed gives failed checks that say what was expected; nothing is raised
    but what reading the table raises.
    """
    claimed = _claimed(manifest, published)
    if isinstance(claimed, ClaimCheck):
        return (claimed,)
    sizes = published.group_sizes(claimed.quasi_identifiers, token)
    token.check()
    fewest = sizes.smallest
    if claimed.missing_as == ANY:
        matched = _match_check(claimed, published, token)
        checks, fewest = [matched[0]], matched[1]
        said = "that those which the guarantee names mean a missing value is in the plan"
        checks.append(ClaimCheck(MISSING_VALUES, _NEEDS_SOURCE, said, MANIFEST))
    else:
        checks = [_k_check(claimed, sizes), *_none_missing(claimed, published, token)]
    checks.append(_words_check(manifest, claimed, published, fewest, worded))
    checks += _person_checks(manifest, claimed, published, token)
    checks += _household_checks(manifest, claimed, published, token)
    if asked := asked_of(claimed.population):
        found = "the population file is not public"
        checks.append(ClaimCheck(asked.claim, _NEEDS_SOURCE, found, TABLE))
    checks += required_checks(claimed, published, token)
    checks += _parameter_checks(manifest, claimed)
    checks.append(_knowledge_check(claimed, published))
    result = manifest.get("result")
    if not isinstance(result, Mapping):
        checks.append(_bad("result", result, "a table of figures"))
        return tuple(checks)
    checks += _count_checks(result, sizes)
    checks += _suppression_checks(manifest, result, sizes)
    checks += _node_checks(result, claimed, manifest.get("parameters"))
    checks += _metric_checks(result, claimed, sizes)
    checks.append(_optimal_check(result, manifest.get("parameters")))
    return tuple(checks)


def claim_of(manifest: Mapping[str, object], published: PublishedTable) -> Claimed | None:
    """The claim of a well-formed manifest whose columns the table has, else None."""
    claimed = _claimed(manifest, published)
    return None if isinstance(claimed, ClaimCheck) else claimed


def whole_number(value: object) -> int | None:
    """``value`` when it is a whole number of JSON and not negative, else None."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        return None
    return value


def same_number(claimed: object, found: float) -> bool:
    """Whether a JSON number equals what was recomputed: counts exactly, others up to rounding."""
    if isinstance(claimed, bool) or not isinstance(claimed, int | float):
        return False
    if isinstance(found, int):
        return isinstance(claimed, int) and claimed == found
    try:
        return math.isclose(claimed, found, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
    except OverflowError:
        return False


def compare(claim: str, claimed: object, found: float) -> ClaimCheck:
    """A check that is confirmed when the manifest's number is the recomputed one."""
    if same_number(claimed, found):
        return ClaimCheck(claim, _CONFIRMED, msg("recomputed as {n}", n=number_text(found)), TABLE)
    return ClaimCheck(
        claim,
        _FAILED,
        msg(
            "the manifest says {n}, but the table gives {m}", n=shown(claimed), m=number_text(found)
        ),
        TABLE,
    )


def number_text(value: float) -> str:
    """A recomputed number as a reader compares it: whole numbers grouped, others to 10 digits."""
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.10g}"


def shown(value: object) -> str:
    """A value of a manifest in a sentence, cut when long."""
    if value is None:
        return "nothing"
    if whole_number(value) is not None and isinstance(value, int) and value < 10**18:
        return f"{value:,}"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def _bad(claim: str, found: object, expected: str) -> ClaimCheck:
    return ClaimCheck(
        claim,
        _FAILED,
        msg("found {shown}, expected {expected}", shown=shown(found), expected=expected),
        MANIFEST,
    )


def _claimed(manifest: Mapping[str, object], published: PublishedTable) -> Claimed | ClaimCheck:
    guarantee = manifest.get("guarantee")
    parameters = guarantee.get("parameters") if isinstance(guarantee, Mapping) else None
    if not isinstance(guarantee, Mapping) or not isinstance(parameters, Mapping):
        return _bad("guarantee", guarantee, "a table with `model`, `parameters` and `claim`")
    if guarantee.get("model") != "k-anonymity":
        return _bad("guarantee, model", guarantee.get("model"), '"k-anonymity"')
    k = whole_number(parameters.get("k"))
    if k is None or k < 2:
        return _bad("guarantee, k", parameters.get("k"), "a whole number of 2 or more")
    names = parameters.get("quasi_identifiers")
    if not isinstance(names, list | tuple) or not names:
        return _bad("guarantee, quasi_identifiers", names, "a list of column names")
    for name in names:
        if not isinstance(name, str):
            return _bad("guarantee, quasi_identifiers", name, "a column name")
        if name not in published.columns:
            return ClaimCheck(
                "guarantee, quasi_identifiers",
                _FAILED,
                msg("the table has no column `{column}`", column=name),
                TABLE,
            )
    if len(set(names)) != len(names):
        return _bad("guarantee, quasi_identifiers", names, "each column once")
    listed = parameters.get("require", ())
    try:
        required = required_of(listed)
        stated = tuple(as_table(each) for each in as_list(listed))
    except (TypeError, ValueError, KeyError):
        return _bad("guarantee, require", listed, "a list of requirements")
    for each in required:
        if each.attribute not in parameters.get("sensitive", ()):
            return _bad("guarantee, require", each.attribute, "a sensitive column")
    how, labels = parameters.get("missing_as", CATEGORY), parameters.get("missing", {})
    if how not in (CATEGORY, ANY, NONE):
        return _bad("guarantee, missing_as", how, '"category", "any" or "none"')
    if not isinstance(labels, Mapping) or (labels and how != ANY) or not set(labels) <= {*names}:
        return _bad("guarantee, missing", labels, "labels of quasi-identifiers")
    try:
        missing = {name: tuple(texts(listed)) for name, listed in labels.items()}
    except TypeError:
        return _bad("guarantee, missing", labels, "labels of quasi-identifiers")
    if how == ANY and required:
        return _bad("guarantee, missing_as", how, "a way that goes with requirements")
    if how != CATEGORY and not has_levels(manifest.get("parameters")):
        return _bad("guarantee, missing_as", how, "a category, where tuples have their own values")
    houses = parameters.get("households")
    if houses not in (None, WHOLE):
        return _bad("guarantee, households", houses, '"whole", or nothing')
    if houses and (required or how != CATEGORY or not has_levels(manifest.get("parameters"))):
        return _bad("guarantee, households", houses, "nothing, beside what else is required")
    of = {key: parameters[key] for key in POPULATION if key in parameters}
    if wrong := _population_fault(of, how, levels=has_levels(manifest.get("parameters"))):
        return _bad("guarantee, population", of, wrong)
    return Claimed(k, tuple(names), stated, required, how, missing, houses == WHOLE, of)


def _population_fault(of: Mapping[str, object], how: object, *, levels: bool) -> str:
    """What was expected of a population instead; cells of their own know no shares of one."""
    try:
        asked = asked_of(of)
    except (TypeError, ValueError):
        return "numbers of rows and shares"
    apart = how != CATEGORY or not (levels or asked.shares is None)
    return "nothing, beside what else is asked" if asked and apart else ""


def _match_check(
    claimed: Claimed, published: PublishedTable, token: CancelToken
) -> tuple[ClaimCheck, int]:
    """Every row matches k rows, missing values matching anything; and the fewest matches."""
    names = claimed.quasi_identifiers
    claim = msg(
        "each row matches k = {k:,} rows over {columns}", k=claimed.k, columns=", ".join(names)
    )
    counted = published.combinations(names, token)
    held = [set(texts) for texts in counted.texts]
    for name, labels in claimed.missing.items():
        if not labels or not set(labels) <= held[names.index(name)]:
            found = msg("no released value of `{column}` is a missing one", column=name)
            return ClaimCheck(claim, _FAILED, found, TABLE), 0
    lost = [frozenset(claimed.missing.get(name, ())) for name in names]
    missing = marked(counted.codes, counted.texts, lost)
    fewest = int(matches(counted.codes, missing, counted.rows).min(initial=2**62))
    if not counted.rows.sum():
        return ClaimCheck(claim, _FAILED, "the table has no rows", TABLE), 0
    status = _CONFIRMED if fewest >= claimed.k else _FAILED
    found = msg("counted; the row with the fewest matches {n:,}", n=fewest)
    return ClaimCheck(claim, status, found, TABLE), fewest


def _none_missing(
    claimed: Claimed, published: PublishedTable, token: CancelToken
) -> list[ClaimCheck]:
    """Where missing values match nothing, no row has one; other marks than "" need the source."""
    if claimed.missing_as != NONE:
        return []
    claim = NONE_MISSING
    for name in claimed.quasi_identifiers:
        empty = published.value_counts(name, token).get("", 0)
        if empty:
            found = msg("{n:,} rows have no value of `{column}`", n=empty, column=name)
            return [ClaimCheck(claim, _FAILED, found, TABLE)]
    found = "no field is empty; which other values mean a missing one is in the plan"
    return [ClaimCheck(claim, _NEEDS_SOURCE, found, TABLE)]


def _k_check(claimed: Claimed, sizes: GroupSizes) -> ClaimCheck:
    claim = msg(
        "k = {k:,} over {columns}", k=claimed.k, columns=", ".join(claimed.quasi_identifiers)
    )
    if sizes.rows == 0:
        return ClaimCheck(claim, _FAILED, "the table has no rows", TABLE)
    if sizes.smallest < claimed.k:
        return ClaimCheck(
            claim,
            _FAILED,
            msg(
                "a combination covers only {least:,} of the rows, expected {k:,} or more",
                least=sizes.smallest,
                k=claimed.k,
            ),
            TABLE,
        )
    return ClaimCheck(
        claim,
        _CONFIRMED,
        msg(
            "counted {n:,} combinations in {rows:,} rows; the smallest covers {least:,}",
            n=sizes.groups,
            rows=sizes.rows,
            least=sizes.smallest,
        ),
        TABLE,
    )


def _words_check(
    manifest: Mapping[str, object],
    claimed: Claimed,
    published: PublishedTable,
    fewest: int,
    worded: Worded,
) -> ClaimCheck:
    """The words must be those that the counted numbers and the columns' roles give, to the letter.

    Changed words over unchanged numbers would otherwise promise what nobody checked, or keep quiet
    about what is not covered.
    """
    claim = "the words of the guarantee"
    guarantee, result = manifest["guarantee"], manifest.get("result")
    suppressed = whole_number(result.get("rows_suppressed")) if isinstance(result, Mapping) else 0
    roles = _claimed_roles(guarantee, claimed, published)
    if isinstance(roles, ClaimCheck):
        return roles
    if fewest < claimed.k:
        return ClaimCheck(claim, _FAILED, "they promise what the table does not keep", MANIFEST)
    linkages = _claimed_linkages(guarantee, roles)
    if linkages is None:
        return ClaimCheck(
            claim, _FAILED, "they say something about pseudonyms that cannot be read", MANIFEST
        )
    stated = guarantee if isinstance(guarantee, Mapping) else {}
    facts = _facts(claimed, roles, linkages) | _asked(manifest, claimed)
    wrong = parameter_fault(stated["parameters"], facts)
    if wrong:
        found = msg(
            "`{wrong}` of its parameters is not what the table and the columns give", wrong=wrong
        )
        return ClaimCheck(claim, _FAILED, found, MANIFEST)
    if claimed.missing_as != ANY and miscounted(stated.get("claim"), claimed.k, fewest):
        found = "`claim` has other numbers than the table gives"
        return ClaimCheck(claim, _FAILED, found, MANIFEST)
    told = suppressed or 0
    words = worded(*(claimed.k, fewest, told, roles, linkages, claimed.stated, claimed.semantics))
    differing = first_difference(manifest, words)
    if differing is not None:
        found = msg("`{key}` is not what the counted numbers and the columns give", key=differing)
        other = words.differs_in_words(stated)
        return ClaimCheck(claim, _FAILED, found, MANIFEST, words=other)
    return ClaimCheck(claim, _CONFIRMED, "they are what the counted numbers give", MANIFEST)


def _claimed_roles(
    guarantee: object, claimed: Claimed, published: PublishedTable
) -> dict[str, Role] | ClaimCheck:
    """The role of every published column, in file order; each must have exactly one."""
    parameters = guarantee.get("parameters") if isinstance(guarantee, Mapping) else {}
    given = {Role.QUASI_IDENTIFIER: list(claimed.quasi_identifiers)}
    for role in RELEASED_ROLES:
        names = parameters.get(role.value, []) if isinstance(parameters, Mapping) else []
        if not isinstance(names, list | tuple):
            return _bad(msg("guarantee, {key}", key=role.value), names, "a list of column names")
        given[role] = list(names)
    listed = [name for names in given.values() for name in names]
    found = {
        column: role for column in published.columns for role in given if column in given[role]
    }
    claim = "every column of the table has one role"
    for column in published.columns:
        if listed.count(column) != 1:
            text = msg(
                "the guarantee gives `{column}` {count} roles",
                column=column,
                count=listed.count(column),
            )
            return ClaimCheck(claim, _FAILED, text, TABLE)
    if len(listed) != len(found):
        return ClaimCheck(claim, _FAILED, "the guarantee names columns it does not have", TABLE)
    return found


def _facts(claimed: Claimed, roles: Mapping[str, Role], linkages: Linkages) -> dict[str, object]:
    """The parameters of the guarantee, from k, the columns and what their pseudonyms join."""
    found: dict[str, object] = {
        "k": claimed.k,
        "quasi_identifiers": [n for n, role in roles.items() if role is Role.QUASI_IDENTIFIER],
    }
    for role in RELEASED_ROLES:
        if names := [name for name, given in roles.items() if given is role]:
            found[role.value] = names
    if domains := {name: each.domain for name, each in linkages.items() if each.domain}:
        found["pseudonym_domains"] = domains
    if groups := [name for name, each in linkages.items() if each.groups]:
        found["pseudonyms_of_groups"] = groups
    return found


def _asked(manifest: Mapping[str, object], claimed: Claimed) -> dict[str, object]:
    """The requirements of the guarantee, from the settings; the order of distances is its own."""
    parameters = manifest.get("parameters")
    given = parameters if isinstance(parameters, Mapping) else {}
    how, listed = given.get("missing_as", CATEGORY), given.get("require")
    settings = {key: given[key] for key in POPULATION if given.get(key) is not None}
    if "delta_max" in settings or "delta_min" in settings:
        settings = {"delta_min": 0, "delta_max": 1, **settings}
    elif "k_map" not in settings and claimed.population:
        settings = {"k_map": claimed.k}  # without another number it is k
    whole = given.get("households") == WHOLE
    semantics = replace(claimed, whole_households=whole, population=settings).semantics
    semantics = semantics if how == claimed.missing_as else {**semantics, "missing_as": how}
    if listed is None:
        return semantics
    try:
        asked = [dict(as_table(each)) for each in as_list(listed)]
    except TypeError:
        return {"require": repr(listed)}
    for each, stated in zip(asked, claimed.stated, strict=False):
        if each.get("variant") == "ordered":
            each["order"] = stated.get("order", "values")
            each.update({key: stated[key] for key in ("decimal",) if key in stated})
    return {"require": asked, **semantics}


def required_checks(
    claimed: Claimed, published: PublishedTable, token: CancelToken
) -> list[ClaimCheck]:
    """Each requirement, counted again in the table; along a hierarchy it needs the source."""
    checks = []
    for each in claimed.required:
        token.check()
        claim = required_claim(each)
        if each.by_hierarchy:
            found = "its hierarchy is not public"
            checks.append(ClaimCheck(claim, _NEEDS_SOURCE, found, TABLE))
            continue
        names = (*claimed.quasi_identifiers, each.attribute)
        counted = published.combinations(names, token)
        classes = number_rows(counted.codes[:, :-1])
        held = Held.of(
            classes, counted.codes[:, -1], counted.rows, counted.texts[-1], None, each.decimal
        )
        checks.append(required_check(each, held, claim))
    return checks


def required_claim(each: Required) -> str:
    """How the check of a requirement is called."""
    variant = f" ({each.variant})" if each.variant else ""
    return msg(
        "{model}{variant} of {column} in every class",
        model=each.model,
        variant=variant,
        column=each.attribute,
    )


def required_check(each: Required, held: Held, claim: str) -> ClaimCheck:
    """One requirement over all classes in ``held``."""
    classes = int(held.classes.max(initial=-1)) + 1
    failing = int((~passing(each, held, classes)).sum())
    if failing:
        found = msg("{n:,} of {all:,} classes fail it", n=failing, all=classes)
        return ClaimCheck(claim, _FAILED, found, TABLE)
    found = msg("counted again; each of {n:,} classes passes", n=classes)
    return ClaimCheck(claim, _CONFIRMED, found, TABLE)


def _claimed_linkages(guarantee: object, roles: Mapping[str, Role]) -> dict[str, Linkage] | None:
    """What the guarantee says that pseudonyms join; None when it cannot be read."""
    parameters = guarantee.get("parameters") if isinstance(guarantee, Mapping) else None
    given = parameters if isinstance(parameters, Mapping) else {}
    names = [name for name, role in roles.items() if role is Role.PSEUDONYM]
    domains, groups = given.get("pseudonym_domains", {}), given.get("pseudonyms_of_groups", [])
    try:
        listed = texts(groups)
    except TypeError:
        return None
    if not isinstance(domains, Mapping) or not {*domains, *listed} <= {*names}:
        return None
    if not all(isinstance(text, str) and text.strip() for text in domains.values()):
        return None
    return {name: Linkage(name in listed, str(domains.get(name, ""))) for name in names}


def _persons(linkages: Linkages) -> list[str]:
    """The columns whose pseudonyms stand for persons."""
    return [name for name, each in linkages.items() if not each.groups]


def _person_checks(
    manifest: Mapping[str, object],
    claimed: Claimed,
    published: PublishedTable,
    token: CancelToken,
) -> list[ClaimCheck]:
    """Rows that are alike have pseudonyms of k persons or more; missing ones count as one."""
    roles = _claimed_roles(manifest["guarantee"], claimed, published)
    if isinstance(roles, ClaimCheck):
        return []
    linkages = _claimed_linkages(manifest["guarantee"], roles) or {}
    checks = pseudonym_forms(published, linkages, token)
    for name in _persons(linkages):
        token.check()
        fewest = published.fewest_values(claimed.quasi_identifiers, name, token)
        claim = msg(
            "at least {k:,} different pseudonyms of {column} in every class",
            k=claimed.k,
            column=name,
        )
        status = _CONFIRMED if fewest >= claimed.k else _FAILED
        found = msg("counted; the class with the fewest has {n:,}", n=fewest)
        checks.append(ClaimCheck(claim, status, found, TABLE))
    return checks


def _household_checks(
    manifest: Mapping[str, object],
    claimed: Claimed,
    published: PublishedTable,
    token: CancelToken,
) -> list[ClaimCheck]:
    """Every class has rows of k households: counted where their column is released."""
    if not claimed.whole_households:
        return []
    claim = household_claim(claimed)
    roles = _claimed_roles(manifest["guarantee"], claimed, published)
    parameters = manifest.get("parameters")
    handling = parameters.get("household_id", DROP) if isinstance(parameters, Mapping) else None
    if isinstance(roles, ClaimCheck) or handling not in (DROP, PSEUDONYM, KEEP):
        return [_bad("parameters, household_id", handling, '"drop", "pseudonym" or "keep"')]
    wanted = {DROP: (), PSEUDONYM: (Role.PSEUDONYM,), KEEP: (Role.CLUSTER,)}[handling]
    linkages = _claimed_linkages(manifest["guarantee"], roles) or {}
    names = [name for name, role in roles.items() if role in wanted]
    names = [name for name in names if name not in linkages or linkages[name].groups]
    kept = [name for name, role in roles.items() if role is Role.CLUSTER]
    if handling != KEEP and kept:
        found = msg("the table still has {columns}", columns=", ".join(kept))
        return [ClaimCheck(claim, _FAILED, found, TABLE)]
    if handling == DROP:
        found = "the column of households is left out"
        return [ClaimCheck(claim, _NEEDS_SOURCE, found, TABLE)]
    if len(names) != 1:
        return [ClaimCheck(claim, _FAILED, "no released column names households", TABLE)]
    fewest = published.fewest_values(claimed.quasi_identifiers, names[0], token)
    status = _CONFIRMED if fewest >= claimed.k else _FAILED
    found = msg("counted; the class with the fewest has {n:,}", n=fewest)
    return [ClaimCheck(claim, status, found, TABLE)]


def household_column(manifest: Mapping[str, object], roles: Mapping[str, Role]) -> str:
    """The column of the source that names households; InputError where it is not one column."""
    parameters = manifest.get("parameters")
    handling = parameters.get("household_id", DROP) if isinstance(parameters, Mapping) else None
    wanted = Role.PSEUDONYM if handling == PSEUDONYM else Role.CLUSTER
    names = [name for name, role in roles.items() if role is wanted]
    guarantee = manifest.get("guarantee")
    given = guarantee.get("parameters") if isinstance(guarantee, Mapping) else None
    if handling == PSEUDONYM and isinstance(given, Mapping):
        groups = given.get("pseudonyms_of_groups", ())
        names = [n for n in names if isinstance(groups, list | tuple) and n in groups]
    if len(names) != 1:
        raise InputError("verify.households", "The plan does not name one column of households.")
    return names[0]


def household_claim(claimed: Claimed) -> str:
    """How the check on households is called."""
    return msg("rows of at least {k:,} households in every class", k=claimed.k)


def _parameter_checks(manifest: Mapping[str, object], claimed: Claimed) -> list[ClaimCheck]:
    checks = []
    if manifest.get("method") != "k-anonymity":
        checks.append(_bad("method", manifest.get("method"), '"k-anonymity"'))
    parameters = manifest.get("parameters")
    if not isinstance(parameters, Mapping):
        return [*checks, _bad("parameters", parameters, "a table of settings")]
    if whole_number(parameters.get("k")) != claimed.k:
        wanted = msg("{k:,} as in the guarantee", k=claimed.k)
        checks.append(_bad("parameters, k", parameters.get("k"), wanted))
    return checks


def _knowledge_check(claimed: Claimed, published: PublishedTable) -> ClaimCheck:
    """Whether others know more than the named columns is a judgement; say which ones count."""
    others = [name for name in published.columns if name not in claimed.quasi_identifiers]
    found = (
        msg("released with them, and not counted as known: {others}", others=", ".join(others))
        if others
        else "no other column is released"
    )
    claim = msg(
        "no one knows more about a person than {names}", names=", ".join(claimed.quasi_identifiers)
    )
    return ClaimCheck(claim, _NOT_CHECKABLE, found, TABLE)


def _count_checks(result: Mapping[str, object], sizes: GroupSizes) -> list[ClaimCheck]:
    return [
        compare("rows_out", result.get("rows_out"), sizes.rows),
        compare("classes", result.get("classes"), sizes.groups),
        compare("smallest_class", result.get("smallest_class"), sizes.smallest),
    ]


def _suppression_checks(
    manifest: Mapping[str, object], result: Mapping[str, object], sizes: GroupSizes
) -> list[ClaimCheck]:
    suppressed = whole_number(result.get("rows_suppressed"))
    if suppressed is None:
        return [_bad("rows_suppressed", result.get("rows_suppressed"), "a number of rows")]
    counted = ClaimCheck(
        "rows_suppressed",
        _NEEDS_SOURCE,
        msg("the manifest says {n:,} rows", n=suppressed),
        MANIFEST,
    )
    return [counted, _limit_check(manifest, suppressed, suppressed + sizes.rows)]


def _limit_check(manifest: Mapping[str, object], suppressed: int, rows: int) -> ClaimCheck:
    claim, settings = "suppression within max_suppression", manifest.get("parameters")
    allowed = allowed_rows(settings, rows)
    if allowed is None:
        share = settings.get("max_suppression") if isinstance(settings, Mapping) else None
        return _bad(claim, share, "a share from 0 to 1")
    if suppressed > allowed:
        return ClaimCheck(
            claim,
            _FAILED,
            msg(
                "{n:,} of {rows:,} rows are suppressed, at most {allowed:,} were allowed",
                n=suppressed,
                rows=rows,
                allowed=allowed,
            ),
            MANIFEST,
        )
    found = msg(
        "{n:,} of {rows:,} rows by the manifest's count, {allowed:,} allowed",
        n=suppressed,
        rows=rows,
        allowed=allowed,
    )
    return ClaimCheck(claim, _NEEDS_SOURCE, found, MANIFEST)


def has_levels(parameters: object) -> bool:
    """Whether these settings give every quasi-identifier one level."""
    given = parameters if isinstance(parameters, Mapping) else {}
    if given.get("local") is True or given.get("model") in CELLED:
        return False
    return "levels" in given or given.get("algorithm") not in CELLED


def _node_checks(
    result: Mapping[str, object], claimed: Claimed, parameters: object
) -> list[ClaimCheck]:
    node = result.get("node")
    if not has_levels(parameters):
        if node is not None:
            return [_bad("node", node, "nothing: with these settings tuples have their own values")]
        found = "each row shows what its own class needed; with the source this is checked"
        return [ClaimCheck(GENERALISES, _NEEDS_SOURCE, found, TABLE)]
    if (
        not isinstance(node, Mapping)
        or set(node) != set(claimed.quasi_identifiers)
        or any(whole_number(level) is None for level in node.values())
    ):
        return [_bad("node", node, "a level for each quasi-identifier")]
    text = ", ".join(f"{name} {level}" for name, level in node.items())
    found = msg("the manifest says {text}", text=text)
    return [ClaimCheck("node", _NEEDS_SOURCE, found, MANIFEST), *node_forms(parameters, node)]


def _metric_checks(
    result: Mapping[str, object], claimed: Claimed, sizes: GroupSizes
) -> list[ClaimCheck]:
    metrics = result.get("metrics")
    if not isinstance(metrics, Mapping):
        return [_bad("metrics", metrics, "a table of figures")]
    checks = [_discernibility_check(metrics, result, sizes)]
    average = sizes.rows / sizes.groups / claimed.k if sizes.groups else math.nan
    checks.append(
        compare("metrics, average_class_size", metrics.get("average_class_size"), average)
    )
    checks.extend(
        _range_check(msg("metrics, {key}", key=key), metrics.get(key), 1.0)
        for key in ("loss", "precision")
    )
    if "entropy" in metrics:  # releases of earlier versions
        checks.append(_range_check("metrics, entropy", metrics["entropy"], math.inf))
    return checks


def _discernibility_check(
    metrics: Mapping[str, object], result: Mapping[str, object], sizes: GroupSizes
) -> ClaimCheck:
    """Σ size² + suppressed · N needs the source for the suppressed rows alone."""
    claim = "metrics, discernibility"
    suppressed = whole_number(result.get("rows_suppressed"))
    value = whole_number(metrics.get("discernibility"))
    if suppressed is None or value is None:
        return _bad(claim, metrics.get("discernibility"), "a whole number")
    found = sizes.sum_of_squares + suppressed * (suppressed + sizes.rows)
    if value != found:
        return compare(claim, value, found)
    text = msg(
        "recomputed as {n:,}, taking the number of suppressed rows from the manifest", n=found
    )
    return ClaimCheck(claim, _NEEDS_SOURCE, text, TABLE)


def _range_check(claim: str, value: object, highest: float) -> ClaimCheck:
    fits = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= highest
    if not fits or value == math.inf:
        expected = "a number from 0 to 1" if highest == 1 else "a number of 0 or more"
        return _bad(claim, value, expected)
    return ClaimCheck(claim, _NEEDS_SOURCE, msg("the manifest says {text}", text=value), MANIFEST)


def _optimal_check(result: Mapping[str, object], parameters: object) -> ClaimCheck:
    """``proven_optimal``: of all levels by the objective, or of all heights, as was searched."""
    value = result.get("proven_optimal")
    if not isinstance(value, bool):
        return _bad("proven_optimal", value, "true or false")
    if not value:
        return ClaimCheck("proven_optimal", _NOT_CHECKABLE, "no optimum is claimed", MANIFEST)
    given = parameters if isinstance(parameters, Mapping) else {}
    claims = {
        "optimal": "no other levels within the limit are better by the objective",
        "incognito": "of all levels below which none stays within the limit, none is preferred",
        "samarati": "no levels of a lower height (fewer steps in all) stay within the limit",
    }
    claim = claims.get(str(given.get("algorithm")), "the search found its optimum")
    if given.get("model") == "TS":
        claim = "rows are left out only where fewer than k have their combination"
    if not has_levels(parameters):
        claim = "no other release of this kind loses less"
    found = msg(
        "the claim is: {claim}; running the plan again on the source repeats the search",
        claim=claim,
    )
    return ClaimCheck("proven_optimal", _NEEDS_SOURCE, found, MANIFEST)


def merged(first: Sequence[ClaimCheck], second: Sequence[ClaimCheck]) -> tuple[ClaimCheck, ...]:
    """``first`` with the checks that ``second`` settles in their place, the others after them.

    A failed check is never replaced by a confirmed one.
    """
    settled = {check.claim: check for check in second}
    result = []
    for check in first:
        other = settled.pop(check.claim, None)
        keep = other is None or (check.status is _FAILED and other.status is not _FAILED)
        result.append(check if keep or other is None else replace(other))
    return (*result, *settled.values())
