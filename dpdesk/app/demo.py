"""Real releases from the bundled sample, made and verified."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.resources import as_file
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.errors import RefusedError, StorageError
from dpdesk.core.jobs import CancelToken, Report, StepStarted
from dpdesk.core.messages import msg
from dpdesk.core.release import ReleaseSummary, VerifyReport

if TYPE_CHECKING:
    from dpdesk.app.context import AppContext

_SAMPLE = "sample"


@dataclass(frozen=True)
class DemoRelease:
    """One release of the demo: its plan's title, what was made and what checking it showed."""

    title: str
    summary: ReleaseSummary
    verified: VerifyReport


@contextmanager
def sample_folder() -> Iterator[Path]:
    """The bundled sample as a folder on the disk. Raises StorageError when it is missing."""
    from dpdesk.core.resources import resource

    with ExitStack() as stack:
        yield stack.enter_context(as_file(resource(_SAMPLE)))


def sample_plans(sample: Path) -> tuple[Path, ...]:
    """The plans of the sample, by name. Raises StorageError when there is none."""
    plans = tuple(sorted((sample / "plans").glob("*.toml")))
    if not plans:
        raise StorageError(
            "resources.missing",
            "The plans of the bundled sample are missing from this installation.",
            hint="Install DPDesk again.",
        )
    return plans


def make_demo(
    context: AppContext, out: Path, token: CancelToken, report: Report
) -> tuple[DemoRelease, ...]:
    """Make one release per plan of the sample in sub-folders of ``out``, and verify each.

    ``out`` must be absent or empty; all releases appear in it together or none does. Raises
    RefusedError ``demo.not-verified`` when a release does not stand its check.
    """
    from dpdesk.core.systems import put_in_place
    from dpdesk.io.release_folder import check_out
    from dpdesk.io.safewrite import remove_partial, told_of

    target = check_out(out)
    with told_of(out, target):
        partial = context.workspace.partial_beside(target)
    try:
        with told_of(out, partial):
            folder = partial / target.name
            folder.mkdir()
            with sample_folder() as sample:
                releases = _make_all(context, sample_plans(sample), folder, token, report)
            token.check()
            with context.workspace.placing(target):
                put_in_place(folder, target)
    finally:
        remove_partial(partial, context.workspace)
    return tuple(_moved(release, target) for release in releases)


def _make_all(
    context: AppContext,
    plans: tuple[Path, ...],
    folder: Path,
    token: CancelToken,
    report: Report,
) -> list[DemoRelease]:
    made: list[DemoRelease] = []
    for number, plan in enumerate(plans, start=1):
        report(StepStarted(f"Demo release “{plan.stem}”", number, len(plans)))
        made.append(_make_one(context, plan, folder / plan.stem, token, report))
    return made


def _make_one(
    context: AppContext, plan: Path, out: Path, token: CancelToken, report: Report
) -> DemoRelease:
    from dpdesk.app.running import run_plan
    from dpdesk.app.verifying import verify_release
    from dpdesk.io.planfile import read_plan

    title = read_plan(plan).title or plan.stem
    summary = run_plan(context, plan, out, token, report)
    verified = verify_release(out, context.registry, token, report)
    if not verified.ok:
        reason = next(
            (
                msg("{file}: {note}", file=failure.path, note=failure.reason)
                for failure in verified.failures
            ),
            "unknown",
        )
        raise RefusedError(
            "demo.not-verified",
            msg(
                "The demo release `{name}` does not verify: {reason}.",
                name=plan.stem,
                reason=reason,
            ),
        )
    return DemoRelease(title, summary, verified)


def _moved(release: DemoRelease, target: Path) -> DemoRelease:
    summary = release.summary
    moved = ReleaseSummary(
        target / summary.out.name, summary.method, summary.guarantee, summary.result
    )
    return DemoRelease(release.title, moved, release.verified)
