"""What the window shows of each method before a release: nothing of it stays English."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dpdesk.app import exploring
from dpdesk.app.context import AppContext
from dpdesk.app.demo import sample_folder
from dpdesk.app.opening import open_path, open_work
from dpdesk.core.charts import Chart
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.language import listening, speaking
from dpdesk.core.language.speaker import voice

with sample_folder() as SAMPLE:
    PLANS = sorted(path.name for path in (SAMPLE / "plans").glob("*.toml"))


@pytest.fixture(scope="module")
def context(module_home: Path) -> Iterator[AppContext]:
    with AppContext.open(module_home) as opened:
        yield opened


def texts_of(chart: Chart) -> list[str]:
    return [chart.question, chart.answer, chart.short]


@pytest.mark.parametrize("plan", PLANS)
def test_answers_notes_and_figures_of_a_plan_are_said_in_german(
    context: AppContext, plan: str
) -> None:
    token = CancelToken()
    with sample_folder() as sample:
        work = open_path(sample / "plans" / plan).work
        assert work is not None
        data = open_work(context, work, token, silent)
        try:
            explored = exploring.explore(context, data, work, token, silent)
            view = explored.view(work.parameters)
        finally:
            data.close()
    shown = [view.sentence, view.remedy_label, *(note.sentence for note in view.notes)]
    shown += [text for chart in view.charts for text in texts_of(chart)]
    shown += [text for each in view.figures for text in (each.label, each.help, each.unit)]
    assert view.sentence
    with speaking("de"), listening() as english:
        for text in filter(None, shown):
            voice().say(text)
    assert english == []
