"""Background work of the window.

``JobHub``      submits work, delivers exactly one outcome per job in the main thread
``JobChannel``  one request at a time per channel: a new one supersedes the old
``JobState``    what a job says of itself while it runs: step, n of N, time left
``GcKeeper``    keeps garbage collection in the main thread
``SpareTime``   small pieces of work in the main thread, one at a time
"""

from dpdesk.ui.jobs.hub import (
    GcKeeper,
    JobCancelled,
    JobChannel,
    JobDone,
    JobFailed,
    JobHub,
    JobOutcome,
    JobState,
    SpareTime,
)

__all__ = [
    "GcKeeper",
    "JobCancelled",
    "JobChannel",
    "JobDone",
    "JobFailed",
    "JobHub",
    "JobOutcome",
    "JobState",
    "SpareTime",
]
