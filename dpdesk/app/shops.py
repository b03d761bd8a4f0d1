"""Where one more table of a cube is bought: the plan of the cube, its ledger, and the data.

A shop is made from a plan file, from the work that is open in the window, or from the evidence of a
release together with the data that are open. Only whoever has the data and the ledger has a shop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.app.page_checks import recorded_hierarchies
from dpdesk.app.planning import PlacedPlan
from dpdesk.app.prepared import PreparedTables
from dpdesk.app.private.preparing import prepare_tables
from dpdesk.app.querying import told, verified
from dpdesk.core.capabilities import Use
from dpdesk.core.errors import RefusedError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.messages import msg
from dpdesk.core.plan import Plan
from dpdesk.project.work import WorkState

if TYPE_CHECKING:
    from dpdesk.app.context import AppContext
    from dpdesk.core.release import ReleaseFacts
    from dpdesk.io.store import DataStore


@dataclass(frozen=True)
class AtHand:
    """The work that is open, and its data as they were loaded."""

    work: WorkState
    data: DataStore = field(repr=False)


@dataclass(frozen=True)
class Shop:
    """The plan of a cube with what it needs to be run.

    ``base`` is the folder of the plan's paths, ``where`` how messages call the plan. ``data`` None:
    the plan's source is opened for each purchase. ``hand_made`` hierarchies were edited beside the
    data, ``recorded`` ones come from the evidence of a release.
    """

    plan: Plan
    base: Path
    where: str
    data: DataStore | None = field(default=None, repr=False)
    hand_made: Mapping[str, Hierarchy] = field(default_factory=dict, repr=False)
    recorded: Mapping[str, Hierarchy] = field(default_factory=dict, repr=False)

    @property
    def budget_key(self) -> str:
        """The key of the plan in whose unit is paid: ``epsilon`` or ``rho``."""
        given = self.plan.protection.parameters
        gaussian = given.get("noise") == "discrete-gaussian" and given.get("epsilon") is None
        return "rho" if given.get("rho") is not None or gaussian else "epsilon"

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The dimensions of the cube, as the plan names them."""
        given = self.plan.protection.parameters.get("dimensions")
        return tuple(map(str, given)) if isinstance(given, list | tuple) else ()

    def prepare(
        self,
        context: AppContext,
        plan: Plan,
        token: CancelToken,
        report: Report,
        *,
        spending: bool = False,
    ) -> PreparedTables:
        """Another plan of this shop, made ready: see :func:`prepare_tables`."""
        given = PlacedPlan(plan, self.base, self.where, self.hand_made)
        return prepare_tables(
            context, given, token, report, self.data, self.recorded, spending=spending
        )


def shop_of_file(plan: Path) -> Shop:
    """The shop of a plan file; raises what reading the plan raises."""
    from dpdesk.io.planfile import read_plan

    return Shop(read_plan(plan), plan.absolute().parent, plan.name)


def shop_of_work(context: AppContext, at_hand: AtHand, where: str) -> Shop:
    """The shop of the work that is open; RefusedError ``buy.no-plan`` when it plans no cube."""
    work = at_hand.work
    bought = context.registry.about(work.method).allows(Use.BOUGHT)
    if not bought or not work.parameters.get("dimensions"):
        raise RefusedError(
            "buy.no-plan",
            msg("{where}: tables are bought for a data cube, and none is planned.", where=where),
            hint="Choose the data cube in Protect and name its dimensions.",
        )
    return Shop(work.to_plan(), work.base, where, at_hand.data, work.hand_made())


def shop_of_release(
    context: AppContext, folder: Path, at_hand: AtHand | None, token: CancelToken
) -> Shop:
    """The shop of a released cube, for anyone who has its data open and its ledger.

    The plan in its evidence is what is paid for, so the whole release is verified before. Raises
    RefusedError ``buy.no-evidence``, ``buy.no-source``, ``buy.other-source``, ``buy.other-ledger``,
    ``buy.other-people``, ``release.not-verified``; InputError ``release.*``; StorageError;
    Cancelled.
    """
    from dpdesk.io.release_check import read_release

    facts = read_release(folder)
    if facts.internal is None:
        raise RefusedError(
            "buy.no-evidence",
            msg(
                "{name}: only someone who has the whole release can buy more of it; its "
                "internal part is not here.",
                name=folder.name,
            ),
            hint="Open the whole release folder, not its public part.",
        )
    with told(folder):
        name = facts.evidence.source.name
        if at_hand is None:
            raise RefusedError(
                "buy.no-source",
                msg(
                    "{name} is not open: buying a table counts again in the file that the "
                    "release was made from.",
                    name=name,
                ),
                hint="Open that file, or the plan of the release, in the main window.",
            )
        check_same_source(at_hand.data, [folder])
        verified(context, folder, folder, token)
        plan = Plan.from_plain(facts.evidence.plan, "the plan in the evidence")
        recorded = recorded_hierarchies(facts.evidence.hierarchies)
        shop = Shop(plan, at_hand.work.base, "the plan", at_hand.data, recorded=recorded)
        _check_ledger(context, shop, facts, token)
    return shop


def check_same_source(data: DataStore, releases: Sequence[Path]) -> None:
    """Raise RefusedError ``buy.other-source`` when a release was made of other data than these.

    Releases of which only the public part is at hand do not tell.
    """
    from dpdesk.io.release_check import read_release

    for folder in releases:
        facts = read_release(folder)
        if facts.internal is None:
            continue
        with told(folder):
            source = facts.evidence.source
            if source.sha256 != data.sha256:
                raise RefusedError(
                    "buy.other-source",
                    msg(
                        "{name} is not the file that {release} was made from, or has changed "
                        "since: its SHA-256 is different.",
                        name=data.name,
                        release=folder.name,
                    ),
                    hint=msg(
                        (
                            "Open {source} as it was then; tables of different data cannot be "
                            "combined."
                        ),
                        source=source.name,
                    ),
                )


def _check_ledger(context: AppContext, shop: Shop, facts: ReleaseFacts, token: CancelToken) -> None:
    """Refuse a ledger without the debit of the release: it would forget what is spent."""
    from dpdesk.app.ledgers import open_ledger
    from dpdesk.project.ledger import Ledger
    from dpdesk.project.ledger.records import Debited, one_line

    path = open_ledger(context, shop.base, shop.plan.budget).path
    paid, held = facts.evidence.budget, None
    if paid is not None and path.exists():
        with closing(Ledger.open(path, create=False, token=token)) as ledger:
            held = next((each for each in ledger.entries() if each.hash == paid.entry), None)
    if held is None or not isinstance(held.content, Debited):
        raise RefusedError(
            "buy.other-ledger",
            msg(
                "{path}: this ledger does not contain the debit of the release, so it cannot "
                "say what is left.",
                path=path,
            ),
            hint="Open the plan of the release from its own folder.",
        )
    people = one_line(str((shop.plan.budget or {}).get("population") or ""))
    if held.content.request.population != people:
        raise RefusedError(
            "buy.other-people",
            msg(
                "{path}: the debit of the release is for other people than those that the plan "
                "in its evidence names.",
                path=path,
            ),
            hint="The evidence has been changed since: do not use it.",
        )
