"""The project file: one SQLite database that keeps a whole work, saved as it changes.

``ProjectFile``    an open project; changes go in, a thread of its own saves them
``OpeningHelpers``            how to open one (private folder, cancel token, report)
``write_project``  write a whole file: a new project, a copy
``rescue``         what can still be read of a damaged one
"""

from dpdesk.project.file.locking import LockHolder
from dpdesk.project.file.opening import SUFFIX, OpeningHelpers
from dpdesk.project.file.parts import (
    DATA,
    HIERARCHY,
    DecisionRecord,
    ProjectContents,
    ProjectUpdate,
    ReadOnly,
    ReleaseRecord,
    SaveState,
    SourceRecord,
)
from dpdesk.project.file.project_file import ProjectFile, new_contents, rescue, write_project
from dpdesk.project.file.sources import FoundSource, Lost, SourceStatus, files_of

__all__ = [
    "DATA",
    "HIERARCHY",
    "SUFFIX",
    "DecisionRecord",
    "FoundSource",
    "LockHolder",
    "Lost",
    "OpeningHelpers",
    "ProjectContents",
    "ProjectFile",
    "ProjectUpdate",
    "ReadOnly",
    "ReleaseRecord",
    "SaveState",
    "SourceRecord",
    "SourceStatus",
    "files_of",
    "new_contents",
    "rescue",
    "write_project",
]
