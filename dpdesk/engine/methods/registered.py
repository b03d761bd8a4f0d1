"""The methods that this version offers."""

from __future__ import annotations

from dpdesk.engine.methods.anatomy.method import Anatomy
from dpdesk.engine.methods.dp_choice.method import DpChoice
from dpdesk.engine.methods.dp_cube.method import DpCube
from dpdesk.engine.methods.dp_graph.method import DpGraph
from dpdesk.engine.methods.itemsets.method import Itemsets
from dpdesk.engine.methods.k_anonymity.method import KAnonymity
from dpdesk.engine.methods.l_diverted.method import LDiverted
from dpdesk.engine.methods.priview.method import PriView
from dpdesk.engine.methods.randomised_response.method import RandomisedResponse
from dpdesk.engine.methods.table.method import ProtectedTables
from dpdesk.engine.registry import Registry


def default_registry() -> Registry:
    """A fresh registry with every method of this version, in the order in which to offer them."""
    return Registry(
        (
            *(KAnonymity(), Anatomy(), LDiverted(), RandomisedResponse()),
            *(DpCube(), DpGraph(), PriView(), Itemsets(), DpChoice()),
            ProtectedTables(),
        )
    )
