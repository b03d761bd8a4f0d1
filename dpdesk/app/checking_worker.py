"""What the process that checks releases does; see :mod:`dpdesk.app.self_check`.

Everything is imported when it starts, while the asker still makes the release.
"""

from __future__ import annotations

import os
import shutil
from functools import cache
from pathlib import Path

import pyarrow.compute
import pyarrow.csv  # noqa: F401 - made ready

import dpdesk.verifiers.anatomy
import dpdesk.verifiers.anonymity.source_verification
import dpdesk.verifiers.choices
import dpdesk.verifiers.cubes.verification
import dpdesk.verifiers.diverted
import dpdesk.verifiers.graphs
import dpdesk.verifiers.itemsets
import dpdesk.verifiers.randomised
import dpdesk.verifiers.views  # noqa: F401 - made ready
from dpdesk.app.self_check import (
    CellsQuestion,
    CountsNeeded,
    Fault,
    NotHandedError,
    RowsQuestion,
    TablesQuestion,
)
from dpdesk.core.errors import DpdeskError
from dpdesk.core.graver import use_tool
from dpdesk.core.jobs import CancelToken
from dpdesk.core.release import ClaimCheck, Manifest
from dpdesk.engine.registry import cells_of, noise_of, rows_of
from dpdesk.io.canonical import read_canonical
from dpdesk.io.csvgrammar import UnreadableTableError
from dpdesk.io.cuboid_files import read_tables
from dpdesk.io.four_ti_two import NAMES, VARIABLE, FourTiTwo
from dpdesk.io.published import PublishedCsv
from dpdesk.io.release_folder import MANIFEST, MICRODATA
from dpdesk.io.workspace import Workspace

Manifest.make_ready()


def answer(question: object) -> tuple[ClaimCheck, ...] | Fault | CountsNeeded:
    """The checks of a release, what is wrong with its files, or what has to be counted first."""
    try:
        if isinstance(question, RowsQuestion):
            return _rows(question)
        if isinstance(question, TablesQuestion):
            return _tables(question)
        if isinstance(question, CellsQuestion):
            return _cells(question)
    except NotHandedError as error:
        return CountsNeeded(error.columns)
    except (UnreadableTableError, DpdeskError) as error:
        return Fault(error.sentence.rstrip("."))
    raise TypeError("no such question")


def _rows(question: RowsQuestion) -> tuple[ClaimCheck, ...]:
    token, given = CancelToken(), question.given
    manifest = Manifest.from_json(read_canonical(question.public / MANIFEST))
    published = PublishedCsv(question.public / MICRODATA, token)
    method = rows_of(question.method)
    if method is None:
        raise TypeError("the method releases no rows")
    return method.verify_with_source(manifest, published, given, question.difference, token)


def _tables(question: TablesQuestion) -> tuple[ClaimCheck, ...]:
    token, method = CancelToken(), noise_of(question.method)
    if method is None:
        raise TypeError("a method releases tables")
    if os.environ.get(VARIABLE) or any(map(shutil.which, NAMES)):
        use_tool(answer, FourTiTwo(_workspace(question.home)))
    manifest = Manifest.from_json(read_canonical(question.public / MANIFEST))
    return method.verify(manifest, read_tables(manifest, question.public, token), token)


def _cells(question: CellsQuestion) -> tuple[ClaimCheck, ...]:
    from dpdesk.app.cells import both_tables  # brings what releases of other kinds need not load

    token, method = CancelToken(), cells_of(question.method)
    if method is None:
        raise TypeError("the method releases no protected tables")
    manifest = Manifest.from_json(read_canonical(question.public / MANIFEST))
    published, kept = both_tables(manifest, question.public, question.internal, token)
    return method.verify(manifest, published, kept, None, token)


@cache
def _workspace(home: Path) -> Workspace:
    """Where a program that computes minimal changes may write."""
    return Workspace.open(home)
