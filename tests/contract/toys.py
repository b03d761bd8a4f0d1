"""Methods of every kind that say all of themselves, under names that only tests know; and rooms in
which they say less.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from dpdesk.app.context import AppContext
from dpdesk.core.capabilities import Capabilities, Content, Protection, RowOrder, Spending
from dpdesk.core.errors import DpdeskError
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.public_fields import Tells, fields_of, settings
from dpdesk.core.release import ClaimCheck, Manifest, PublishedTable, RowDifference
from dpdesk.engine.method import Method, MethodInput, Outcome
from dpdesk.engine.methods.dp_cube.method import DpCube
from dpdesk.engine.methods.dp_graph.method import DpGraph
from dpdesk.engine.methods.l_diverted.method import LDiverted
from dpdesk.engine.methods.registered import default_registry
from dpdesk.engine.private.method import Design, PrivateInput
from dpdesk.engine.registry import Registry
from tests.contract.toy import CommonValues
from tests.helpers.pinned import pin

PLAIN = frozenset({"csv", "parquet"})
ROWS = Capabilities(
    Content.ROWS,
    Protection.CLASSES,
    Spending.NOTHING,
    RowOrder.SORTED,
    exports=PLAIN,
    uses=frozenset(),
)
SAID: dict[str, Capabilities] = {
    "rows": ROWS,
    "drawn": replace(LDiverted.capabilities, exports=PLAIN),
    "tables": DpCube.capabilities,
    "graph": DpGraph.capabilities,
}
PLANS = {
    "rows": "least = 1\n",
    "drawn": "l = 2\n",
    "tables": 'dimensions = ["sex", "town"]\nepsilon = 50\n[protection.domains]\n'
    'sex = ["f", "m"]\ntown = ["n", "s", "w"]\n',
    "graph": 'ends = ["sex", "town"]\nnodes = ["f", "m", "n", "s", "w"]\nepsilon = 50\n',
}
KINDS = list(SAID)
NEEDED = {
    kind: ["content", "spending", "order" if kind in ("rows", "drawn") else "folders"]
    for kind in KINDS
}


class Rows(CommonValues):
    id: ClassVar[str] = "toy-rows"


class Drawn(LDiverted):
    """Diverted values under another name; the claims are those of the method it stands for."""

    id: ClassVar[str] = "toy-drawn"

    def verify(
        self, manifest: Manifest, published: PublishedTable, token: CancelToken
    ) -> tuple[ClaimCheck, ...]:
        return super().verify(replace(manifest, method="l-diverted"), published, token)

    def verify_with_source(
        self,
        manifest: Manifest,
        published: PublishedTable,
        given: MethodInput,
        difference: RowDifference | None,
        token: CancelToken,
    ) -> tuple[ClaimCheck, ...]:
        said = replace(manifest, method="l-diverted")
        return super().verify_with_source(said, published, given, difference, token)


class Tables(DpCube):
    id: ClassVar[str] = "toy-tables"


class Graph(DpGraph):
    id: ClassVar[str] = "toy-graph"


TOYS: dict[str, type[Method]] = {"rows": Rows, "drawn": Drawn, "tables": Tables, "graph": Graph}


def toy(kind: str, said: Capabilities) -> Method:
    """The method of a kind, under a name of its own, that says this of itself."""
    made = TOYS[kind]()
    vars(made)["capabilities"] = said
    return made


def saying(context: AppContext, kind: str, said: Capabilities) -> AppContext:
    return replace(context, registry=Registry((*default_registry(), toy(kind, said))))


def write_plan(folder: Path, kind: str) -> Path:
    draw = random.Random(7)
    people = (f"{draw.choice('fm')},{draw.choice('nsw')},i{draw.randrange(4)}" for _ in range(200))
    lines = ["sex,town,illness", *people]
    (folder / "people.csv").write_text("\n".join(lines) + "\n", "utf-8")
    plan = folder / "plan.toml"
    plan.write_text(
        'version = 1\n[source]\npath = "people.csv"\n[attributes]\n'
        'sex = { role = "quasi-identifier" }\ntown = { role = "quasi-identifier" }\n'
        f'illness = {{ role = "sensitive" }}\n[protection]\nmethod = "toy-{kind}"\n{PLANS[kind]}',
        "utf-8",
    )
    return pin(plan) if kind in ("tables", "graph") else plan


def refused(act: Callable[[], object]) -> str:
    """The code with which something is refused; empty when it is not."""
    try:
        act()
    except DpdeskError as error:
        return error.code
    return ""


class Promising(CommonValues):
    """Rows, and a privacy loss that nothing pays for: it says that it spends nothing."""

    id: ClassVar[str] = "toy-promising"
    public_fields = (
        *CommonValues.public_fields,
        *settings("epsilon"),
        *fields_of(Tells.NOTHING, "A constant.", "guarantee.parameters.epsilon"),
    )

    def decide(self, given: MethodInput, token: CancelToken, report: Report) -> Outcome:
        made = super().decide(given, token, report)
        said = replace(made.guarantee, parameters={**made.guarantee.parameters, "epsilon": 50})
        return replace(made, guarantee=said)


class Bare(DpCube):
    """Tables whose result says less than the pages on tables want to tell."""

    id: ClassVar[str] = "toy-bare"

    def design(self, given: PrivateInput, token: CancelToken, report: Report) -> Design:
        made = super().design(given, token, report)
        kept = {key: made.result[key] for key in ("cuboids", "domains")}
        vars(made)["result"] = kept
        return made
