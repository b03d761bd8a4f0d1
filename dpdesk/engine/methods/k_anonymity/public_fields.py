"""What a k-anonymous release may show, and what it tells of the rows that were suppressed."""

from __future__ import annotations

from dpdesk.core.public_fields import PublicField, Tells, fields_of, settings

_COUNTED = "Counted from the released rows alone; anyone who has the table can count it again."
_COLUMNS = "Names of released columns under the roles that the plan gives them."

ROWS_SUPPRESSED = PublicField(
    "result.rows_suppressed",
    Tells.COUNT,
    "How many rows were suppressed, so how many the source had. Of each of them it tells what its "
    "absence tells: that fewer than k rows had its combination at the released levels, or that one "
    "of the other reasons holds for which the plan suppresses rows; the guarantee lists them "
    "(`Absence`). Where the plan requires something of sensitive columns, that is of their values.",
)
NODE = PublicField(
    "result.node.*",
    Tells.CHOICE,
    "The levels that were chosen, by a search over all rows or by hand. A reader who knows nearly "
    "all rows may conclude that others would have been chosen if a suppressed row had been "
    "different (minimality attack); the guarantee says so, and how much that is in small tables is "
    "counted above. Levels by hand tell nothing. Labels of levels that are made from the data may "
    "show a range, a length or a form that only a suppressed row has: where the plan would make "
    "others of the released rows alone, a warning and the checklist name the column.",
)
ROLES: tuple[PublicField, ...] = fields_of(
    Tells.NOTHING,
    _COLUMNS,
    "guarantee.parameters.quasi_identifiers[]",
    "guarantee.parameters.sensitive[]",
    "guarantee.parameters.insensitive[]",
    "guarantee.parameters.weight[]",
    "guarantee.parameters.cluster[]",
)
PUBLIC_FIELDS: tuple[PublicField, ...] = (
    *settings(
        *("k", "max_suppression", "model", "algorithm", "objective", "prefer", "strict", "values"),
        *("local", "condition", "missing_as", "households", "household_id"),
        *("k_map", "delta_min", "delta_max"),
        "levels.*",
        *("importance.*", "min_level.*", "max_level.*", "max_suppression_of.*", "max_cells.*"),
        "require[].*",
    ),
    PublicField(
        "guarantee.parameters.require[].*",
        Tells.NOTHING,
        "What the plan requires of sensitive columns, and whether distances follow a hierarchy.",
    ),
    PublicField(
        "guarantee.parameters.missing_as",
        Tells.NOTHING,
        "What the plan counts missing values as.",
    ),
    PublicField(
        "guarantee.parameters.missing.*[]",
        Tells.NOTHING,
        "Which values of the released rows are missing ones.",
    ),
    PublicField(
        "guarantee.parameters.households",
        Tells.NOTHING,
        "Whether whole households are suppressed together, and k counts them, as the plan says.",
    ),
    *fields_of(
        Tells.NOTHING,
        "What the plan asks of the population file; no number of its rows, and not its name.",
        "guarantee.parameters.k_map",
        "guarantee.parameters.delta_min",
        "guarantee.parameters.delta_max",
    ),
    PublicField("guarantee.parameters.k", Tells.NOTHING, "The k of the plan."),
    *ROLES,
    PublicField("guarantee.parameters.pseudonym[]", Tells.NOTHING, _COLUMNS),
    *fields_of(
        Tells.NOTHING,
        "What the pseudonyms of a column join, as the plan says; no pseudonym and no key.",
        "guarantee.parameters.pseudonym_domains.*",
        "guarantee.parameters.pseudonyms_of_groups[]",
    ),
    NODE,
    ROWS_SUPPRESSED,
    *fields_of(
        Tells.NOTHING, _COUNTED, "result.rows_out", "result.classes", "result.smallest_class"
    ),
    PublicField(
        "result.proven_optimal",
        Tells.CHOICE,
        "Whether the search was finished. With `node` it tells that no other levels are better by "
        "the objective, which is computed over all rows: see `result.node.*`.",
    ),
    PublicField(
        "result.metrics.average_class_size",
        Tells.NOTHING,
        "Released rows per class, divided by k: counted from the released rows alone.",
    ),
    PublicField(
        "result.metrics.discernibility",
        Tells.COUNT,
        "The sum of the squared sizes of the released classes, plus the number of suppressed rows "
        "times that of all rows: a function of the released rows and of `result.rows_suppressed`. "
        "The sizes of suppressed classes do not enter.",
    ),
    PublicField(
        "result.metrics.loss",
        Tells.COUNT,
        "Every suppressed cell counts 1, whatever it held, so this is a function of the released "
        "rows, of `result.rows_suppressed`, and of how many values each level covers. Where the "
        "plan leaves levels to be made from the data, these are the different values that the "
        "released rows had, in cells too that are suppressed by themselves, and how many there are "
        "below the labels can follow; values that only suppressed rows have do not count; a "
        "missing value without a leaf counts as one only where a released row has it.",
    ),
    PublicField(
        "result.metrics.precision",
        Tells.COUNT,
        "Every suppressed cell counts as at the top, whatever it held, so this is a function of "
        "the levels, of the heights of the hierarchies and of `result.rows_suppressed`. Where the "
        "plan leaves levels to be made from the data, the height is that of what it makes of the "
        "released rows alone.",
    ),
    PublicField(
        "result.metrics.entropy",
        Tells.CHOICE,
        "Computed from the original values of all rows at full precision.",
        withdrawn="it is computed from the original values of all rows, so that values of "
        "suppressed rows can be computed back from it",
    ),
)
