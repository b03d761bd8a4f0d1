"""Getting slow imports out of the way before they make the window stutter.

Importing holds the interpreter for tens of milliseconds at a time, and starting the compiler for
half a second. So a window has it done on a thread: the database and the columns while the user
looks at the first screen (:data:`LIBRARIES`), the compiler, its kernels and everything that is
built on them (:data:`MODULES`) when the first work begins, since they hold 130 MB that an idle
window does not need.

Nothing here may import the window's toolkit: it makes its classes when they are first asked for,
and two threads that ask for the same one at the same time crash the process.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence

from dpdesk.core.errors import DpdeskError
from dpdesk.core.jobs import CancelToken, Report

LIBRARIES = (
    "duckdb",
    "numpy",
    "pyarrow.compute",
    "pyarrow.acero",
    "pyarrow.csv",
    "dpdesk.app.opening",
)
MODULES = (
    "dpdesk.core.compiled",
    "dpdesk.io.scan",
    "dpdesk.io.collecting",
    "dpdesk.io.profile",
    "dpdesk.io.hierarchyfile",
    "dpdesk.io.counting",
    "dpdesk.engine.hierarchies.preview",
    "dpdesk.engine.methods.k_anonymity.exploration",
    "dpdesk.engine.methods.k_anonymity.search",
    "dpdesk.engine.methods.k_anonymity.kernels",
    "dpdesk.engine.methods.k_anonymity.samarati",
    "dpdesk.app.running",
    "dpdesk.io.recode",
    "dpdesk.verifiers.anonymity.verification",
    "dpdesk.verifiers.anonymity.source_verification",
    "dpdesk.engine.methods.dp_cube.exploration",
    "dpdesk.engine.cubes.optimal.planner",
    "dpdesk.engine.cubes.planners",
    "dpdesk.engine.methods.dp_cube.design",
    "dpdesk.engine.noise.kernels",
    "dpdesk.app.browsing",
    "dpdesk.engine.cubes.olap.grids",
    "dpdesk.io.release_content",
    "dpdesk.engine.methods.l_diverted.judging",
    "dpdesk.engine.methods.l_diverted.combined",
    "dpdesk.engine.decoys.kernels",
    "dpdesk.io.rewrite",
    "dpdesk.io.line_kernels",
    "dpdesk.engine.disclosure",
    "dpdesk.report.about",
    "dpdesk.report.review",
    "dpdesk.app.checklists",
    "pyarrow.parquet",
    "xlsxwriter",
)


def load_libraries(token: CancelToken, report: Report) -> int:
    """Import what reading any file needs; returns how many modules came in."""
    return warm_up(token, report, LIBRARIES, (_arrow,))


def warm_up(
    token: CancelToken,
    report: Report,
    modules: Sequence[str] = (*LIBRARIES, *MODULES),
    starts: Sequence[Callable[[], object]] | None = None,
) -> int:
    """Import what the first real work would wait for; returns how many modules came in.

    ``starts`` are called afterwards: parts of libraries that are made ready by their first use. A
    module that cannot be imported is left to the work that needs it, which can say so better.
    """
    found = 0
    for name in modules:
        token.check()
        try:
            importlib.import_module(name)
        except (ImportError, OSError, RuntimeError, DpdeskError):
            continue
        found += 1
    for start in (_arrow, _compiler, _noise, _values) if starts is None else starts:
        token.check()
        try:
            start()
        except (ImportError, OSError, RuntimeError, DpdeskError):
            continue
    return found


def _arrow() -> None:
    """The first array that is made from Python values looks for pandas, and imports it."""
    import pyarrow

    pyarrow.array([0])


def _compiler() -> None:
    """The first kernel that is loaded starts the compiler."""
    from dpdesk.core.compiled import start

    start()


def _noise() -> None:
    """The kernels that draw noise, compiled or read on their first use, draw a little and forget.

    What is drawn is used for nothing and counts nothing.
    """
    from dpdesk.engine.methods.dp_cube.method import warm_kernels

    warm_kernels()


def _values() -> None:
    """The kernels that draw values draw a few of nobody's and forget them."""
    from dpdesk.engine.methods.l_diverted.method import warm_kernels

    warm_kernels()
