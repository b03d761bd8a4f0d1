from __future__ import annotations

from pathlib import Path

from dpdesk.app import exploring, hierarchies, opening, projects, running
from dpdesk.app.types import AppContext, SetHierarchy, SetMethod, SetRoles
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.schema import ColumnType, Role

TOKEN = CancelToken()


def test_the_work_and_its_saved_plan_give_the_same_bytes(tmp_path: Path) -> None:
    lines = ["age,sex,illness"]
    lines += [f"{20 + number % 37},{'fm'[number % 2]},{number % 5}" for number in range(400)]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    work = opening.open_path(tmp_path / "people.csv").work
    assert work is not None
    work = SetRoles({"age": Role.QUASI_IDENTIFIER, "sex": Role.QUASI_IDENTIFIER}).apply(work)
    work = SetMethod("k-anonymity", {"k": 12, "max_suppression": 0.1}).apply(work)
    with AppContext.open() as context:
        data = opening.open_work(context, work, TOKEN, silent)
        builder = hierarchies.suggest(data, "age", ColumnType.INTEGER, TOKEN).builder
        edited = hierarchies.build(data, "age", builder, TOKEN)
        work = SetHierarchy("age", edited).apply(work)
        clicked = exploring.release_work(context, data, work, tmp_path / "clicked", TOKEN, silent)
        data.close()
        plan = tmp_path / "plans" / "plan.toml"
        plan.parent.mkdir()
        projects.save_work(work, plan, context.workspace)
        typed = running.run_plan(context, plan, tmp_path / "typed", TOKEN, silent)
    assert clicked.result == typed.result
    one, other = (
        (folder / "public" / "microdata.csv").read_bytes() for folder in (clicked.out, typed.out)
    )
    assert one == other
    assert one.count(b"\n") > 100
