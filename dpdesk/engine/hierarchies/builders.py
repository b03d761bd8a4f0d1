"""Hierarchies made from options: intervals, masks, ordered groups, dates, trees."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from dpdesk.core.hierarchy import BuilderForm, Hierarchy
from dpdesk.core.messages import msg
from dpdesk.core.parameters import parameters_without_effect, parse_parameters
from dpdesk.core.plan import HierarchyBuilder
from dpdesk.engine.hierarchies import dates, intervals, masks, orders, trees
from dpdesk.engine.hierarchies.options import APART, ROOT, Options, Rows, option_error, texts

_BuildRows = Callable[[Sequence[str], Options, str], Rows]


@dataclass(frozen=True)
class _Kind:
    form: BuilderForm
    rows: _BuildRows


_KINDS: Mapping[str, _Kind] = MappingProxyType(
    {
        "intervals": _Kind(
            BuilderForm(
                "Intervals",
                "Numbers into wider and wider intervals, such as ages into intervals "
                "of 5 and 10 years.",
                intervals.PARAMETERS,
            ),
            intervals.build_rows,
        ),
        "mask": _Kind(
            BuilderForm(
                "Masking",
                "Codes lose one character after the other, such as postcodes.",
                masks.PARAMETERS,
            ),
            masks.build_rows,
        ),
        "order": _Kind(
            BuilderForm(
                "Groups",
                "Ordered categories; neighbours or named groups are merged.",
                orders.PARAMETERS,
            ),
            orders.build_rows,
        ),
        "dates": _Kind(
            BuilderForm(
                "Dates", "Days into months, quarters, years and decades.", dates.PARAMETERS
            ),
            dates.build_rows,
        ),
        "tree": _Kind(
            BuilderForm("Tree by hand", "Groups within groups, as you set them.", trees.PARAMETERS),
            trees.build_rows,
        ),
    }
)


def builder_forms() -> Mapping[str, BuilderForm]:
    """Title, summary and typed options of every builder, by kind, in the order of offer."""
    return {kind: entry.form for kind, entry in _KINDS.items()}


def build_hierarchy(
    attribute: str,
    builder: HierarchyBuilder,
    values: Sequence[str],
    missing: Collection[str] = (),
    where: str = "",
    decimal: str = "",
) -> Hierarchy:
    """The hierarchy that ``builder`` makes for ``values`` (distinct values of the column).

    Values that are in ``missing``, or that the options keep apart, are not built: they stay
    themselves below the top. Where the source has the mark ``decimal``, numbers in which the other
    one can only separate thousands are not taken for small ones.

    Raises
    ------
    InputError
        ``plan.unknown-key`` and ``parameter.invalid`` for options; ``hierarchy.options`` when
        options do not go together; ``hierarchy.value`` for a value that is no number or date;
        ``hierarchy.missing-leaf`` for a value that a list or tree by hand lacks; and what
        :meth:`Hierarchy.from_rows` raises. Sentences start with ``where`` and name the attribute.
    """
    place = msg("hierarchy of `{attribute}` ({kind})", attribute=attribute, kind=builder.kind)
    place = msg("{where}, {place}", where=where, place=place) if where else place
    kind = _KINDS.get(builder.kind)
    if kind is None:
        known = ", ".join(_KINDS)
        raise option_error(place, msg("unknown builder, expected one of {known}.", known=known))
    options = parse_parameters(kind.form.parameters, _normalised(builder.options), place)
    tokens = {*missing, *(texts(options, APART.key) or ())}
    distinct = list(dict.fromkeys(values))
    built = [value for value in distinct if value not in tokens]
    untouched = [value for value in distinct if value in tokens]
    if decimal and builder.kind == "intervals":
        intervals.refuse_thousands(built, decimal, place)
    rows = kind.rows(built, options, place)
    if not rows:
        return Hierarchy.from_rows(attribute, [(value, ROOT) for value in untouched], place)
    return Hierarchy.from_rows(attribute, rows, place).with_untouched_leaves(untouched)


def idle_options(builder: HierarchyBuilder) -> tuple[tuple[str, str], ...]:
    """Options that are given and do not matter beside another one, each with that other one.

    Raises InputError for options of a known builder that cannot be read.
    """
    kind = _KINDS.get(builder.kind)
    if kind is None:
        return ()
    given = _normalised(builder.options)
    options = parse_parameters(
        kind.form.parameters, given, msg("hierarchy ({kind})", kind=builder.kind)
    )
    found = parameters_without_effect(kind.form.parameters, options)
    return tuple((key, by) for key, by in found if key in given)


def _normalised(options: Mapping[str, object]) -> Mapping[str, object]:
    """``format = "yyyy"`` stands for a list of one, ``steps = 2`` for every two characters."""
    plain = dict(options)
    if isinstance(plain.get("format"), str):
        plain["format"] = [plain["format"]]
    if isinstance(plain.get("steps"), int) and "every" not in plain:
        plain["every"] = plain.pop("steps")
    return plain
