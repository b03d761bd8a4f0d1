"""The keys of a plan's ``[protection]`` for itemsets, and the settings read from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from dpdesk.core.budget import amount
from dpdesk.core.messages import msg
from dpdesk.core.parameters import (
    Choice,
    ChoiceParameter,
    Condition,
    IntegerParameter,
    Nested,
    NestedParameter,
    Parameter,
    ParameterValue,
    TextListParameter,
    parse_parameters,
)
from dpdesk.core.release import Guarantee, Manifest
from dpdesk.core.schema import Role
from dpdesk.engine.cubes.guarantee import cube_guarantee
from dpdesk.engine.cubes.parameters import GAUSSIAN
from dpdesk.engine.methods.itemsets.bases import LARGEST, MOST_ITEMS, SHARES, sets_of
from dpdesk.engine.private.guarantee_words import origin_words, person_guarantee, stated
from dpdesk.engine.private.kinds import Noise
from dpdesk.engine.private.origins import recorded_origins
from dpdesk.engine.private.settings import (
    NOT_SPANNING,
    REPLACE,
    PrivateSettings,
    check_clusters,
    check_each_counts_once,
    check_named,
    epsilon_parameter,
    misfit,
    neighbours_parameter,
    rows_parameter,
    stated_cluster,
    texts_of,
)
from dpdesk.engine.views.settings import PARAMETERS as VIEW_PARAMETERS
from dpdesk.engine.views.settings import ViewSettings

BASIS, VIEWS = "basis", "views"
MOST_TOP, LONGEST = 1000, 6
_MINED = Condition("mine", (VIEWS,))
_OF_VIEWS = {parameter.key: parameter for parameter in VIEW_PARAMETERS}
_SHARED = (
    *("dimensions", "domains", "origins", "view_size", "cover", "views", "reconstruct"),
    *("epsilon", "rho", "delta", "noise", "neighbours", "rows_per_person"),
)
"""What the plan says of views, in the words of the method that releases them alone."""

PARAMETERS: tuple[Parameter, ...] = (
    TextListParameter(
        "dimensions",
        "Items",
        "One column for each item; each has two declared categories, of which the second means "
        "that the row holds the item.",
        required=True,
    ),
    NestedParameter(
        "domains",
        "Declared categories",
        "The two categories of each item, such as no and yes; the second means that the row holds "
        "it. To be declared without looking at the data. Rows with any other value are left out.",
        example='{ bread = ["0", "1"] }',
    ),
    _OF_VIEWS["origins"],
    epsilon_parameter(
        "One person more or less makes no output more likely by a factor of more than e^ε.",
    ),
    IntegerParameter(
        "top",
        "Sets to release",
        "How many of the most frequent sets of items are released, with their noisy counts; all "
        "that there are, if these are fewer.",
        unit="sets",
        minimum=1,
        maximum=MOST_TOP,
        suggested=50,
        required=True,
    ),
    IntegerParameter(
        "longest",
        "Items in a set, at most",
        "Sets of more items are not looked for.",
        unit="items",
        minimum=1,
        maximum=LONGEST,
        default=3,
    ),
    ChoiceParameter(
        "mine",
        "How sets are found",
        "From which counts with noise the sets are read.",
        choices=(
            Choice(
                BASIS,
                "From bases",
                "A part of ε chooses frequent items and pairs, in groups that are counted whole.",
            ),
            Choice(
                VIEWS,
                "From views",
                "All of ε measures tables in which every two items occur together; sets are read "
                "from them.",
            ),
        ),
        default=BASIS,
    ),
    replace(_OF_VIEWS["view_size"], applies=_MINED, replaces=()),
    *(
        replace(_OF_VIEWS[key], applies=_MINED)
        for key in ("cover", "views", "reconstruct", "rho", "delta", "noise")
    ),
    neighbours_parameter(),
    rows_parameter(
        "Rows per person, at most",
        "Rows of one person that the noise hides together. With a cluster column, further rows of "
        "a person are left out; without one, the plan vouches for it.",
    ),
)


@dataclass(frozen=True)
class ItemsetSettings(PrivateSettings):
    """All settings with their types; ``domains`` are the listed categories by item.

    ``views`` are the settings of the views that sets are read from, None without views.
    ``top`` is at most the number of all sets; ``origins`` says where categories come from, as far
    as the plan knows it.
    """

    dimensions: tuple[str, ...]
    domains: Mapping[str, tuple[str, ...]]
    top: int
    longest: int
    views: ViewSettings | None
    origins: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_parameters(cls, values: Mapping[str, ParameterValue], where: str) -> ItemsetSettings:
        """Read checked parameters; InputError ``itemsets.*`` where they do not go together."""
        dimensions = texts_of(values["dimensions"])
        if len(set(dimensions)) < max(2, len(dimensions)):
            sentence = "`dimensions` names a column twice, or fewer than two"
            raise misfit("itemsets.dimensions", where, sentence, "dimensions")
        views = _views(values, where) if values["mine"] == VIEWS else None
        if values["epsilon"] is None and views is None:
            raise misfit("itemsets.budget", where, "`epsilon` is missing", "epsilon")
        if views is None and (values["rho"] is not None or values["noise"] == GAUSSIAN):
            sentence = '`rho` and Gaussian noise go only with `mine = "views"`'
            raise misfit("itemsets.budget", where, sentence, "mine")
        longest = int(str(values["longest"]))
        settings = cls(
            dimensions=dimensions,
            domains=_domains(values["domains"], dimensions, where),
            top=min(int(str(values["top"])), sets_of(len(dimensions), longest)),
            longest=longest,
            views=views,
            origins=recorded_origins(values["origins"], dimensions, where),
            noise=views.cube.noise if views else Noise.LAPLACE,
            budget=views.cube.budget if views else amount(values["epsilon"], "epsilon"),
            delta=views.cube.delta if views else Fraction(0),
            replace=values["neighbours"] == REPLACE,
            rows_per_person=int(str(values["rows_per_person"])),
        )
        _check_top(settings, where)
        return settings

    @property
    def width(self) -> int:
        """By how much a person changes the difference of two counts, and the cells of a basis in
        sum: once for each row, or twice where another person takes the place.
        """
        return self.rows_per_person * (2 if self.replace else 1)

    @property
    def chooses(self) -> bool:
        """Whether items are chosen; few enough of them make one basis."""
        return self.views is None and len(self.dimensions) > LARGEST

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """The parts of ε: for how many items, for which ones and their pairs, for counting."""
        return SHARES if self.chooses else (Fraction(1),)


def _views(values: Mapping[str, ParameterValue], where: str) -> ViewSettings:
    own = {key: each.default_value() for key, each in _OF_VIEWS.items()}
    return ViewSettings.from_parameters({**own, **{key: values[key] for key in _SHARED}}, where)


def _domains(
    raw: ParameterValue, dimensions: Sequence[str], where: str
) -> dict[str, tuple[str, ...]]:
    plain = raw.plain if isinstance(raw, Nested) else {}
    found: dict[str, tuple[str, ...]] = {}
    for name, listed in plain.items() if isinstance(plain, Mapping) else ():
        if name not in dimensions:
            sentence = msg("`domains` names `{name}`, which is not in `dimensions`", name=name)
            raise misfit("itemsets.domain", where, sentence, "domains")
        texts = tuple(map(str, listed)) if isinstance(listed, tuple) else ()
        if len(set(texts)) != 2 or len(texts) != 2:
            sentence = msg(
                "`domains` gives `{name}` {n} categories, expected two different ones",
                name=name,
                n=len(texts),
            )
            raise misfit("itemsets.domain", where, sentence, "domains")
        found[name] = texts
    return found


def _check_top(settings: ItemsetSettings, where: str) -> None:
    """Refuse more sets than the items have among which bases are chosen."""
    most = sets_of(min(len(settings.dimensions), MOST_ITEMS), settings.longest)
    if settings.views is None and settings.top > most:
        sentence = msg(
            "`top` is {top:,}, but the items among which bases are chosen have {most:,} sets",
            top=settings.top,
            most=most,
        )
        raise misfit("itemsets.top", where, sentence, "top")


def check_columns(
    settings: ItemsetSettings, columns: Sequence[str], roles: Mapping[str, Role], where: str
) -> None:
    """Check names and roles; raises InputError ``plan.unknown-column``, ``itemsets.role``."""
    for name in settings.dimensions:
        check_named(name, columns, "dimensions", where)
        reason = NOT_SPANNING.get(roles[name])
        if reason is not None:
            sentence = msg("`{name}` {reason}, so it is not an item", name=name, reason=reason)
            raise misfit("itemsets.role", where, sentence, "dimensions")
    check_each_counts_once(roles, "itemsets.role", where, "dimensions")
    check_clusters(roles, "itemsets.role", "dimensions", where)


# The guarantee of itemsets in words, and what a manifest says worded again.


def itemset_guarantee(settings: ItemsetSettings, cluster: str | None) -> Guarantee:
    """Claim, assumptions and limits; from the settings alone."""
    said = origin_words(settings.dimensions, settings.domains, settings.origins)
    return person_guarantee(settings, cluster, stated(settings, cluster, None), said)


def guarantee_again(manifest: Manifest) -> Guarantee:
    """The guarantee that the settings of a manifest give. Raises InputError, TypeError."""
    values = parse_parameters(PARAMETERS, manifest.parameters, "the manifest")
    settings = ItemsetSettings.from_parameters(values, "the manifest")
    cluster = stated_cluster(manifest)
    if settings.views:
        return cube_guarantee(settings.views.cube, cluster)
    return itemset_guarantee(settings, cluster)
