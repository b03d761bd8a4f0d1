"""Domains that a plan declares: which categories a dimension has, and where a text belongs.

A private release must not learn its domain from the data, so a category list comes from the plan
itself, from a hierarchy in a file, or from a builder whose options alone settle every category. A
text that belongs nowhere goes to a declared category, or its row is dropped: never an error.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.cuboid import Domain
from dpdesk.core.errors import InputError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.messages import msg
from dpdesk.core.parameters import nearest
from dpdesk.core.plain import quoted
from dpdesk.core.plan import HierarchyBuilder
from dpdesk.core.schema import form, same_forms, shown_form

Levels = tuple[tuple[str, ...], ...]


def levels_above(hierarchy: Hierarchy, level: int) -> Levels:
    """Labels of the values of ``level`` at each level above it."""
    codes = list(range(len(hierarchy.labels[level])))
    found: list[tuple[str, ...]] = []
    for step in range(level, len(hierarchy.labels) - 1):
        codes = [int(hierarchy.parents[step][code]) for code in codes]
        found.append(tuple(hierarchy.labels[step + 1][code] for code in codes))
    return _joining(hierarchy.labels[level], found)


def intervals_above(
    levels: Sequence[tuple[tuple[Fraction, ...], tuple[str, ...]]], level: int
) -> Levels:
    """The same for intervals by cut points; ``level`` counts from 1."""
    cuts, labels = levels[level - 1]
    found = [
        tuple(wide[0 if place == 0 else bisect_right(ends, cuts[place - 1])] for place in range(n))
        for ends, wide in levels[level:]
        for n in (len(labels),)
    ]
    return _joining(labels, found)


def restricted(levels: Levels, categories: Sequence[str], listed: Sequence[str]) -> Levels:
    """The levels of some categories in another order; a category of its own stays itself."""
    found = [
        tuple(level[categories.index(text)] if text in categories else text for text in listed)
        for level in levels
    ]
    return _joining(listed, found)


def _joining(base: Sequence[str], levels: Sequence[tuple[str, ...]]) -> Levels:
    found: list[tuple[str, ...]] = []
    for level in levels:
        below = found[-1] if found else base
        if 1 < len(set(level)) < len(set(below)) and len(
            set(zip(below, level, strict=True))
        ) == len(set(below)):
            found.append(level)
    return tuple(found)


OTHER = "other"
_DROPPED = -1
_MOST_CATEGORIES = 1_000_000
_NO_TEXT = frozenset("\0\U0010ffff")
"""No file of a release may hold the first; a source has the second for what cannot be read."""

HierarchyGiven = Hierarchy | HierarchyBuilder | None


@dataclass(frozen=True)
class DeclaredDimension:
    """A dimension: its categories, and the place of each text among them.

    ``known`` maps texts to places, those with blanks around them and in other Unicode forms (NFC,
    NFD) as well; what it lacks is asked of
    ``rule`` (for numbers that mean no missing value: 99 for "refused" is no age) and goes to the
    place ``outside`` otherwise (None: the row is dropped).
    ``above`` holds the labels of the categories at coarser levels of the declared hierarchy.
    """

    name: str
    categories: tuple[str, ...]
    known: Mapping[str, int] = field(repr=False)
    rule: Callable[[str], int | None] | None = field(default=None, repr=False)
    outside: int | None = None
    above: Levels = field(default=(), repr=False)

    def codes(self, texts: Sequence[str], missing: Collection[int] = ()) -> NDArray[np.int32]:
        """Place of each text, shape (texts,); -1 where the row is to be dropped.

        ``missing`` are the positions of the texts that mean a missing value.
        """
        lost = _DROPPED if self.outside is None else self.outside
        places = np.full(len(texts), lost, dtype=np.int32)
        for position, text in enumerate(texts):
            place = self._place(text, position in missing)
            if place is not None:
                places[position] = place
        return places

    @cached_property
    def _by_form(self) -> Mapping[str, int]:
        """Places by the one form in which texts meet that differ only as Unicode stores them."""
        places: dict[str, int] = {}
        for text, place in self.known.items():
            places.setdefault(form(text), place)
        return places

    def _place(self, text: str, missing: bool) -> int | None:
        place = self.known.get(text)
        if place is None:
            place = self.known.get(text.strip())
        if place is None and not text.isascii():
            place = self._by_form.get(form(text.strip()))
        asked = place is None and not missing
        return self.rule(text) if asked and self.rule is not None else place

    def belongs(self, texts: Sequence[str], missing: Collection[int] = ()) -> NDArray[np.bool_]:
        """Which texts have a place of their own, shape (texts,); ``missing`` as for codes."""
        found = [self._place(text, at in missing) is not None for at, text in enumerate(texts)]
        return np.array(found, dtype=bool)


@dataclass(frozen=True)
class DeclaredDomain:
    """All dimensions of a cube, in the order of the plan."""

    dimensions: tuple[DeclaredDimension, ...]

    @property
    def domain(self) -> Domain:
        """Names and categories alone."""
        return Domain(
            tuple(each.name for each in self.dimensions),
            tuple(each.categories for each in self.dimensions),
        )

    def elsewhere(self) -> dict[str, str]:
        """By dimension, the category that takes every text without one of its own."""
        return {
            each.name: each.categories[each.outside]
            for each in self.dimensions
            if each.outside is not None
        }

    def rollups(self) -> dict[str, list[list[str]]]:
        """By dimension, what its categories can be rolled up to, where something is declared."""
        return {
            each.name: [list(level) for level in each.above]
            for each in self.dimensions
            if each.above
        }


def ordered(names: Sequence[str], *parts: DeclaredDomain) -> DeclaredDomain:
    """The dimensions of several domains in the order of these names."""
    found = {each.name: each for part in parts for each in part.dimensions}
    return DeclaredDomain(tuple(found[name] for name in names))


def stated_rows(extra: DeclaredDomain) -> dict[str, object]:
    """What a result says of columns that decide which rows count and are no dimensions."""
    if not extra.dimensions:
        return {}
    return {"counted_by": {"domains": extra.domain.as_json(), "outside": extra.elsewhere()}}


def declare(
    name: str,
    listed: Sequence[str] | None,
    hierarchy: HierarchyGiven,
    level: int,
    outside: str | None,
    where: str,
) -> DeclaredDimension:
    """The dimension ``name`` as the plan declares it.

    ``listed`` are the categories that the plan lists (None: those of the hierarchy's ``level``),
    ``outside`` the category for all other texts (None: the category `other` where there is one,
    else such rows are dropped). ``where`` begins every message.

    Raises
    ------
    InputError
        ``cube.no-domain`` when nothing declares the categories, ``cube.level``,
        ``cube.domain`` (empty, twice, unknown), ``cube.outside``.
    """
    place = msg("{where}, dimension `{name}`", where=where, name=name)
    if isinstance(hierarchy, HierarchyBuilder) and (level > 0 or listed is None):
        declared = _from_builder(name, hierarchy, level, place)
    elif isinstance(hierarchy, Hierarchy):
        declared = _from_hierarchy(name, hierarchy, level, place)
    elif level > 0:
        raise InputError(
            "cube.level",
            msg(
                "{place}: level {level} is asked for, but it has no hierarchy.",
                place=place,
                level=level,
            ),
            hint=msg(
                "Give `hierarchy` under [attributes.{name}], or leave the level out.", name=name
            ),
            details={"key": "levels"},
        )
    elif listed is None:
        raise _no_domain(name, place, "the plan lists no categories and names no hierarchy")
    else:
        declared = _from_list(name, listed, place)
    if listed is not None and declared.categories != tuple(listed):
        declared = _restricted(declared, listed, kept_apart(hierarchy), place)
    return _with_outside(declared, outside, place)


def _from_list(name: str, listed: Sequence[str], place: str) -> DeclaredDimension:
    _check_categories(listed, place)
    return DeclaredDimension(name, tuple(listed), {text: i for i, text in enumerate(listed)})


def _from_hierarchy(name: str, hierarchy: Hierarchy, level: int, place: str) -> DeclaredDimension:
    if level >= len(hierarchy.labels):
        raise _level(place, level, len(hierarchy.labels) - 1)
    categories = hierarchy.labels[level]
    _check_categories(categories, place)
    ancestors = hierarchy.ancestors(level)
    known = {leaf: int(ancestors[i]) for i, leaf in enumerate(hierarchy.leaves)}
    return DeclaredDimension(name, categories, known, above=levels_above(hierarchy, level))


def _from_builder(
    name: str, builder: HierarchyBuilder, level: int, place: str
) -> DeclaredDimension:
    from dpdesk.engine.hierarchies.declared import declared_intervals, declared_tree

    if builder.kind == "intervals" and level > 0:
        levels = declared_intervals(builder, place)
        if levels is not None:
            if level > len(levels):
                raise _level(place, level, len(levels))
            cuts, labels = levels[level - 1]
            _check_categories(labels, place)
            above = intervals_above(levels, level)
            rule = _interval_rule(cuts, frozenset(kept_apart(builder)))
            return DeclaredDimension(name, labels, {}, rule=rule, above=above)
    if builder.kind == "tree":
        return _from_hierarchy(name, declared_tree(name, builder, place), level, place)
    raise _no_domain(
        name, place, msg("its hierarchy ({kind}) takes its values from the data", kind=builder.kind)
    )


def kept_apart(hierarchy: HierarchyGiven) -> tuple[str, ...]:
    """The texts that a builder of intervals keeps apart: none of them is in an interval."""
    if not isinstance(hierarchy, HierarchyBuilder) or hierarchy.kind != "intervals":
        return ()
    from dpdesk.engine.hierarchies.declared import apart_of

    return apart_of(hierarchy)


def _interval_rule(cuts: Sequence[Fraction], apart: frozenset[str]) -> Callable[[str], int | None]:
    from dpdesk.engine.hierarchies.intervals import parse_number

    def place(text: str) -> int | None:
        number = None if text.strip() in apart else parse_number(text)
        return None if number is None else bisect_right(cuts, number)

    return place


def _restricted(
    declared: DeclaredDimension, listed: Sequence[str], apart: Sequence[str], place: str
) -> DeclaredDimension:
    """Only the listed categories, in their order; texts of the others belong nowhere.

    A category that the hierarchy lacks has the texts that are called so: those that it keeps
    ``apart``, and one more.
    """
    _check_categories(listed, place)
    own = [text for text in listed if text not in declared.categories and text in apart]
    lacking = [text for text in listed if text not in declared.categories and text not in own]
    free = [text for text in lacking if text not in declared.known]
    if len(lacking) > len(free) or len(free) > 1:
        near = nearest(lacking[0], declared.categories)
        raise InputError(
            "cube.domain",
            msg(
                "{place}: the category {lacking} is listed in `domains`, but its "
                "hierarchy has no such value at this level.",
                place=place,
                lacking=quoted(lacking[0]),
            ),
            hint=msg("Did you mean {near}?", near=quoted(near)) if near else "",
            details={"key": "domains"},
        )
    new = {text: i for i, text in enumerate(listed)}
    moved = [new.get(text) for text in declared.categories]
    known = {text: target for text, i in declared.known.items() if (target := moved[i]) is not None}
    known |= {text: new[text] for text in (*own, *free)}
    rule, above = declared.rule, restricted(declared.above, declared.categories, listed)
    if rule is None:
        return DeclaredDimension(declared.name, tuple(listed), known, above=above)

    def moved_rule(text: str) -> int | None:
        found = rule(text)
        return None if found is None else moved[found]

    return DeclaredDimension(declared.name, tuple(listed), known, rule=moved_rule, above=above)


def _with_outside(
    declared: DeclaredDimension, outside: str | None, place: str
) -> DeclaredDimension:
    if outside is None:
        outside = next((text for text in declared.categories if text.lower() == OTHER), None)
        if outside is None:
            return declared
    elif outside not in declared.categories:
        raise InputError(
            "cube.outside",
            msg(
                "{place}: values outside the domain are to go to {outside}, which is not one "
                "of its categories.",
                place=place,
                outside=quoted(outside),
            ),
            hint="Add it to `domains`.",
            details={"key": "outside"},
        )
    return replace(declared, outside=declared.categories.index(outside))


def _check_categories(categories: Sequence[str], place: str) -> None:
    if not categories:
        raise _domain(place, "has no category, expected one or more")
    if len(categories) > _MOST_CATEGORIES:
        raise _domain(
            place,
            msg(
                "has {categories:,} categories, at most {most_categories:,}",
                categories=len(categories),
                most_categories=_MOST_CATEGORIES,
            ),
        )
    seen: set[str] = set()
    for text in categories:
        if text in seen:
            raise _domain(place, msg("lists the category {text} twice", text=quoted(text)))
        if not _NO_TEXT.isdisjoint(text):
            raise _domain(
                place,
                msg(
                    "lists the category {text}, which no text can be (NUL, U+10FFFF)",
                    text=quoted(text),
                ),
            )
        seen.add(text)
    both = same_forms(categories)
    if both is not None:
        first, second = (quoted(shown_form(text)) for text in both)
        raise _domain(
            place,
            msg(
                "lists one category in two Unicode forms, {first} and {second}",
                first=first,
                second=second,
            ),
        )


def _domain(place: str, what: str) -> InputError:
    return InputError(
        "cube.domain", msg("{path}: {reason}.", path=place, reason=what), details={"key": "domains"}
    )


def _level(place: str, level: int, highest: int) -> InputError:
    return InputError(
        "cube.level",
        msg(
            "{place}: level {level} is asked for, but its hierarchy ends at level {highest}.",
            place=place,
            level=level,
            highest=highest,
        ),
        details={"key": "levels"},
    )


def made_beside_data(name: str, where: str) -> InputError:
    """The error for a hierarchy that was edited beside the data and so declares nothing."""
    why = "its hierarchy was made by looking at the data"
    return _no_domain(name, msg("{where}, dimension `{name}`", where=where, name=name), why)


def _no_domain(name: str, place: str, why: str) -> InputError:
    return InputError(
        "cube.no-domain",
        msg(
            "{place}: its categories are not declared ({why}); a differentially private release "
            "must not take them from the data.",
            place=place,
            why=why,
        ),
        hint=msg(
            'List them: domains = {{ {name} = ["…", "…"] }}, or give a hierarchy file that '
            "was not made from the data.",
            name=name,
        ),
        details={"key": "domains", "dimension": name},
    )
