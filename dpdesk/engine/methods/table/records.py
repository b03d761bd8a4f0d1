"""What rules, measures, tables, ready cells and what is known are made of, as forms show them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from dpdesk.core.cube_parameters import PartParameter
from dpdesk.core.parameters import (
    Among,
    ColumnParameter,
    FlagParameter,
    IntegerParameter,
    Parameter,
    Records,
    TextListParameter,
    TextParameter,
    Variant,
    exact_number,
)
from dpdesk.core.table_parameters import (
    BY,
    COUNT,
    DECIMALS,
    DOMINANCE,
    MEAN,
    MOST_DECIMALS,
    P_PERCENT,
    PQ,
    RATIO,
    SUM,
    THRESHOLD,
    TypedParameter,
    is_table_measure,
)

_CLOSE = "No one may estimate another's contribution more closely than this"
_CLOSER = PartParameter("p", "Closer than", _CLOSE, required=True, whole=100)

RULES = Records(
    (
        Variant(
            "Too few contributors",
            (
                IntegerParameter(
                    "n",
                    "Contributors at least",
                    "A cell needs at least this number of contributors",
                    required=True,
                    minimum=1,
                ),
                PartParameter(
                    "range",
                    "Protection range",
                    "Share of its value by which an unsafe cell is protected on either side",
                    default=Fraction(1, 10),
                ),
                FlagParameter(
                    "full",
                    "Groups as well",
                    "Cells that hold all contributors of their group are unsafe as well",
                ),
            ),
            {"rule": THRESHOLD},
        ),
        Variant(
            "Dominance of the largest",
            (
                IntegerParameter(
                    "n",
                    "The largest",
                    "How many of the largest contributions are added up",
                    required=True,
                    minimum=1,
                ),
                PartParameter(
                    "k",
                    "At most",
                    "The share of the cell that they may make up, in percent",
                    required=True,
                    whole=100,
                ),
            ),
            {"rule": DOMINANCE},
        ),
        Variant("p-percent rule", (_CLOSER,), {"rule": P_PERCENT}),
        Variant(
            "p/q rule",
            (
                _CLOSER,
                PartParameter(
                    "q",
                    "Known to",
                    "How closely everyone knows a contribution beforehand, in percent",
                    required=True,
                    whole=100,
                ),
            ),
            {"rule": PQ},
        ),
    ),
    "Kind of rule",
    more=("Add a rule", "Cells that break any of the rules are unsafe"),
    remove=("Remove this rule", "Judge cells only by the other rules"),
    least=0,
    alone=False,
    proposed=({"rule": THRESHOLD, "n": 3}, {"rule": P_PERCENT}),
)

_WEIGHT = ColumnParameter(
    "weight",
    "Column of weights",
    "Each row counts as many times as this column says",
    among=Among.ALL,
)
_ADDED = "Column whose values are added up"
_MEASURES = (
    Variant("Number of rows", bare=COUNT),
    Variant(
        "Sum of a column",
        (ColumnParameter(SUM, "Column", _ADDED, required=True, among=Among.ALL), _WEIGHT),
    ),
    Variant(
        "Mean of a column",
        (
            ColumnParameter(
                MEAN,
                "Column",
                "Column whose values are averaged",
                required=True,
                among=Among.ALL,
            ),
            _WEIGHT,
        ),
    ),
)
MEASURE = Records(_MEASURES, "What a cell holds", most=1)
_RATIO = Variant(
    "Ratio of two tables",
    (
        TextParameter(
            RATIO,
            "Sums of the table",
            "Name of the table whose cells are divided; it has the same rows and columns",
            required=True,
        ),
        TextParameter(
            BY,
            "By those of the table",
            "Name of the table by whose cells they are divided",
            required=True,
        ),
        IntegerParameter(
            DECIMALS,
            "Decimals",
            "To how many decimals ratios are rounded; if empty: not at all",
            minimum=0,
            maximum=MOST_DECIMALS,
        ),
    ),
)
_OTHER_MEASURE = Records(
    (*_MEASURES, _RATIO),
    "What a cell holds",
    more=("Measure something else in this table", "Without it, cells hold what all tables do"),
    remove=("Measure as in all tables", "Cells hold what those of the other tables do"),
    least=0,
    most=1,
    proposed=({SUM: ""},),
)


def _has_dimensions(record: Mapping[str, object]) -> str:
    return "" if record.get("rows") or record.get("columns") else "A table needs rows or columns."


TABLES = Records(
    (
        Variant(
            entries=(
                TextParameter("name", "Name", "What the table is called", required=True),
                TextListParameter("rows", "Rows", "Columns at the side of the table"),
                TextListParameter("columns", "Columns", "Columns at the head of the table"),
                TypedParameter(
                    "measure",
                    "In each cell",
                    "What the cells of this table hold, where it is something else",
                    fits=is_table_measure,
                    records=_OTHER_MEASURE,
                ),
            ),
            check=_has_dimensions,
        ),
    ),
    more=("Add a table", "Another table that is protected together with these"),
    remove=("Remove this table", "Protect only the other tables"),
    least=0,
    alone=False,
)


def _column(key: str, label: str, help: str, *, required: bool = False) -> Parameter:
    return ColumnParameter(key, label, help, required=required, among=Among.ALL)


READY = Records(
    (
        Variant(
            entries=(
                _column("value", "Value", "Column with the value of the cell", required=True),
                _column("frequency", "Contributors", "Column with the number of contributors"),
                _column("status", "Status", "Column that says which cells are unsafe"),
                _column("cost", "Cost", "Column that says what suppressing a cell costs"),
                TextListParameter(
                    "top",
                    "Largest contributions",
                    "Columns with the largest contributions, the largest first",
                ),
                TextListParameter(
                    "levels",
                    "Protection levels",
                    "Columns that say how far a cell whose status is U must be protected "
                    "downwards and upwards, and perhaps how wide",
                ),
            ),
        ),
    ),
    more=("The source contains ready cells", "Each row of the source is a cell of the table"),
    remove=("Count the rows instead", "Each row of the source is a person or a company"),
    least=0,
    most=1,
)


def _known_bounds(record: Mapping[str, object]) -> str:
    lower = exact_number(record.get("lower", 0))
    upper = exact_number(record.get("upper", 1))
    if lower is not None and not 0 <= lower <= 1:
        return "The lower share must be between 0 and 100 %."
    return "" if upper is None or upper >= 1 else "The upper share must be 100 % or more."


ATTACKER = Records(
    (
        Variant(
            entries=(
                PartParameter(
                    "lower",
                    "At least this share of it",
                    "Everyone knows that a cell is at least this share of its true value",
                    default=Fraction(0),
                ),
                PartParameter(
                    "upper",
                    "At most this share of it",
                    "Everyone knows that a cell is at most this share of its true "
                    "value; if empty: no upper bound",
                ),
                FlagParameter(
                    "present",
                    "That no suppressed cell is empty",
                    "Readers can tell it from the empty cells that are published",
                ),
            ),
            check=_known_bounds,
        ),
    ),
    most=1,
)

SWAP = Records(
    (
        Variant(
            entries=(
                TextListParameter(
                    "columns",
                    "Columns exchanged",
                    "Columns that say the place: matched households exchange their values",
                    required=True,
                ),
                TextListParameter(
                    "match", "Equal in", "Columns in which two households must agree to be matched"
                ),
                PartParameter(
                    "share",
                    "Share of households",
                    "The share of all households that changes places, such as 5 %",
                    required=True,
                ),
            ),
        ),
    ),
    more=("Swap households", "Exchange places between matched households before counting"),
    remove=("Swap nothing", "Count the rows where they are"),
    least=0,
    most=1,
)

_VALUES = TextListParameter(
    "values", "Values", "Values of the column that say so", required=True, values=True
)
REQUEST = Records(
    (
        Variant(
            entries=(
                _column("column", "Column", "Column that says who asks", required=True),
                _VALUES,
                PartParameter(
                    "k",
                    "More than",
                    "A cell is unsafe where one who asks contributed more of it, in percent",
                    default=Fraction(0),
                    whole=100,
                ),
            ),
        ),
    ),
    more=("Contributors may ask for protection", "Name the column that says who does"),
    remove=("No one may ask", "Judge cells by the rules alone"),
    least=0,
    most=1,
)
WAIVER = Records(
    (
        Variant(
            entries=(
                _column("column", "Column", "Column that says who agrees", required=True),
                _VALUES,
            ),
        ),
    ),
    more=("Contributors may agree to be seen", "Name the column that says who does"),
    remove=("No one may agree", "Judge cells by the rules alone"),
    least=0,
    most=1,
)
