"""The keys of a plan's ``[protection]`` for a data cube."""

from __future__ import annotations

from dpdesk.core.cube_parameters import (
    AVERAGE,
    COUNT,
    SUM,
    CuboidNumbersParameter,
    CuboidsParameter,
    ExactParameter,
    HashesParameter,
    MeasureParameter,
    PositiveParameter,
    PublishParameter,
)
from dpdesk.core.parameters import (
    Among,
    Choice,
    ChoiceParameter,
    ColumnParameter,
    Condition,
    FlagParameter,
    LevelsParameter,
    NestedParameter,
    Parameter,
    Records,
    TextListParameter,
    Variant,
    bounds,
    in_order,
)
from dpdesk.engine.private.kinds import Noise
from dpdesk.engine.private.origins import ORIGINS_PARAMETER
from dpdesk.engine.private.settings import (
    delta_parameter,
    epsilon_parameter,
    neighbours_parameter,
    rho_parameter,
    rows_parameter,
)

_CLIPPED = bounds(
    "Smallest value; anything smaller counts as this value. To be declared without "
    "looking at the data.",
    "Largest value; anything larger counts as this value. To be declared without "
    "looking at the data.",
    "Values are rounded to multiples of this. To be declared without looking at the data.",
)


def _clipped(key: str, label: str) -> Variant:
    """The sum or average of a column between bounds."""
    help_ = "Column whose values are added up or averaged"
    summed = ColumnParameter(key, "Column", help_, required=True, among=Among.ALL)
    return Variant(label, (summed, *_CLIPPED), check=in_order)


MEASURES = Records(
    (
        Variant("Number of persons", bare=COUNT),
        _clipped(SUM, "Sum of a column"),
        _clipped(AVERAGE, "Average of a column"),
    ),
    "What a cell holds",
    more=("Measure something else as well", "Another count, sum or average; the budget is shared"),
    remove=("Remove this measure", "Measure only the others"),
    proposed=(COUNT, {SUM: ""}),
)

LAPLACE, GAUSSIAN = Noise.LAPLACE.value, Noise.GAUSSIAN.value
SOURCE_LABELS = "source"

PARAMETERS: tuple[Parameter, ...] = (
    TextListParameter(
        "dimensions",
        "Dimensions",
        "The columns that span the cube; each needs declared categories.",
        required=True,
    ),
    LevelsParameter(
        "levels", "Levels", "Level of its hierarchy at which a dimension is published; otherwise 0."
    ),
    NestedParameter(
        "domains",
        "Declared categories",
        "Categories of a dimension, in the order of the release; to be declared without looking at "
        "the data.",
        example='{ sex = ["female", "male"] }',
    ),
    ORIGINS_PARAMETER,
    NestedParameter(
        "outside",
        "Everything else",
        "The declared category for texts outside the domain; without one, and without a category "
        "`other`, their rows are left out.",
        example='{ region = "abroad" }',
    ),
    TextListParameter(
        "counted_by",
        "Rows count by",
        "All columns whose declared categories decide which rows count, including the dimensions; "
        "if empty, the dimensions. In this way, tables that are bought one by one count the same "
        "rows.",
    ),
    PublishParameter("publish", "Tables to publish", "Which cuboids the release holds."),
    CuboidsParameter(
        "forbid",
        "Forbidden tables",
        "Cuboids that are neither published nor get noise of their own; the others are planned "
        "without them.",
    ),
    ExactParameter(
        "exact",
        "Tables without noise",
        "Cuboids, or single cells, that are released exactly: nothing protects them, and all "
        "other tables get more noise, so that they protect as much alongside them.",
        example='[["sex", "region"], { cuboid = ["age"], cells = [["20-29"]] }]',
    ),
    ChoiceParameter(
        "planner",
        "Planner",
        "How to choose which cuboids get noise of their own.",
        choices=(
            Choice(
                "bmax",
                "BMax: a small largest error",
                "Greedy choice of cuboids with equal noise, so that the largest error is small.",
            ),
            Choice(
                "pmost",
                "PMost: as many accurate cuboids as possible",
                "Greedy choice that brings most cuboids below the error `theta`.",
            ),
            Choice("all", "All: noise in every cuboid", "Each published cuboid is measured."),
            Choice(
                "base", "Base: noise in the finest cuboid", "Everything else is summed up from it."
            ),
            Choice(
                "exact",
                "Exact: the smallest largest error with equal noise",
                "Like BMax, by integer programs, with a proof where the time allows.",
            ),
            Choice(
                "optimal",
                "Optimal: unequal budgets",
                "Shares of the budget chosen by the error after consistency.",
            ),
        ),
        default="bmax",
    ),
    PositiveParameter(
        "theta",
        "Error that counts as accurate",
        "Variance of a cell up to which PMost counts a cuboid as accurate.",
        unit="squared people",
        applies=Condition("planner", ("pmost",)),
    ),
    ChoiceParameter(
        "objective",
        "Minimise",
        "Which error the optimal planner minimises.",
        choices=(
            Choice("maximum", "The largest variance of a cell"),
            Choice("average", "The average over cuboids of a cell's variance"),
            Choice("total", "The sum of the variances of all cells"),
            Choice("targets", "The largest variance as a multiple of its target"),
        ),
        default="maximum",
        applies=Condition("planner", ("optimal",)),
    ),
    CuboidNumbersParameter(
        "weights",
        "Weights",
        "How much the error of a table counts; 1 if nothing is given.",
        applies=Condition("planner", ("pmost", "optimal")),
    ),
    CuboidNumbersParameter(
        "targets",
        "Target variances",
        "Variances of a cell that tables should have; those of other tables hardly matter.",
        applies=Condition("objective", ("targets",)),
        number="variance",
    ),
    ChoiceParameter(
        "basis",
        "Measured parts",
        "What gets noise: cuboids, or what each cuboid adds to smaller ones.",
        choices=(
            Choice("cuboids", "Cuboids"),
            Choice(
                "residuals",
                "Residuals",
                "What each cuboid adds to smaller ones; Gaussian noise only, less error.",
            ),
        ),
        default="cuboids",
        applies=Condition("planner", ("optimal",)),
    ),
    epsilon_parameter(
        "The change that is covered, such as one person more or less, makes no output more likely "
        "by a factor of more than e^ε.",
    ),
    rho_parameter(
        "The budget for Gaussian noise, in zero-concentrated differential privacy.",
    ),
    delta_parameter(),
    ChoiceParameter(
        "noise",
        "Noise",
        "Integer noise from an exact sampler; if nothing is given, `rho` means Gaussian noise.",
        choices=(
            Choice(LAPLACE, "Discrete Laplace", "For a budget in ε."),
            Choice(GAUSSIAN, "Discrete Gaussian", "For a budget in ρ (zCDP)."),
        ),
    ),
    neighbours_parameter(
        "The two tables that no one should be able to distinguish.",
        added="Presence itself is protected.",
    ),
    ChoiceParameter(
        "consistency",
        "Make the tables agree",
        "How tables that overlap are made to agree; this adds nothing to ε or ρ.",
        choices=(
            Choice("l2", "Least squares", "Unbiased, and the least error."),
            Choice("none", "Not at all", "Each table is summed up from its best noisy cuboid."),
            Choice("l1", "Smallest absolute change", "A linear program, for small cubes."),
            Choice("linf", "Smallest maximum change", "A linear program, for small cubes."),
        ),
        default="l2",
    ),
    FlagParameter(
        "nonnegative",
        "No negative numbers",
        "Move the tables to the nearest ones without negative cells: small cells become too large.",
    ),
    FlagParameter(
        "integral",
        "Whole numbers",
        "Round so that all tables still add up.",
    ),
    MeasureParameter(
        "measure",
        "Measure",
        "What a cell holds: persons, a sum or an average.",
        records=MEASURES,
    ),
    rows_parameter(
        "Rows per person, at most",
        "With a cluster column, further rows of a person are left out; without one, the plan "
        "vouches for it.",
    ),
    ChoiceParameter(
        "labels",
        "Labels of the file",
        "Whether labels of the declared categories are published; a code list must not come from "
        "the data.",
        choices=(
            Choice("none", "Are left out", "Readers see only the categories of the plan."),
            Choice(
                SOURCE_LABELS,
                "Are published",
                "The code list of the file was fixed before the data: you vouch for it.",
            ),
        ),
        default="none",
    ),
    HashesParameter(
        "follows",
        "Earlier releases that this one adds to",
        "SHA-256 codes of their manifest.json: readers may combine the numbers of all of them.",
    ),
)
