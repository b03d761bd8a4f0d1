"""Choosing a table of a PostgreSQL server in the window; a real one, which asks for a password."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pyarrow as pa
import pytest
from pyarrow import parquet
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from dpdesk.app.context import AppContext
from dpdesk.app.databases import Address
from dpdesk.app.exploring import release_work
from dpdesk.app.opening import preview
from dpdesk.app.types import SetRoles
from dpdesk.app.verifying import verify_release
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import SourceSpec
from dpdesk.core.schema import Role
from dpdesk.core.source_spec import POSTGRESQL, SPARK
from dpdesk.io.formats.databases import hosts
from dpdesk.ui.desk import Desk
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.windows.database import FILES, QUERY, TABLE, THERE, DatabaseWindow
from tests.helpers.a11y import findings
from tests.helpers.memory_settings import MemorySettings
from tests.helpers.postgres import postgres_server
from tests.helpers.spark import MASTER, need_spark

SECRET = "zq secret & more"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgres_server(SECRET) as address:
        with psycopg.connect(address, password=SECRET) as con:
            con.execute("CREATE TABLE people AS SELECT 'f' AS sex, g AS age FROM "
                        "generate_series(1, 500) AS g")  # fmt: skip
            con.execute('CREATE SCHEMA census; CREATE TABLE census."my.town" (zip TEXT)')
            con.execute("CREATE VIEW old AS SELECT * FROM people WHERE age > 400")
            con.execute("INSERT INTO census.\"my.town\" VALUES ('00123')")
            con.commit()
            con.execute("ANALYZE people")
        yield address


@pytest.fixture(autouse=True)
def _no_password_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosts, "_kept", {})
    for name in ("PGPASSWORD", "PGUSER", "PGHOST", "PGDATABASE", "PGSERVICE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PGPASSFILE", "/dev/null")


@pytest.fixture
def window(
    qtbot: QtBot, context: AppContext, hub: JobHub, theme: ThemeManager, server: str
) -> DatabaseWindow:
    made = DatabaseWindow(context, hub, theme)
    qtbot.addWidget(made)
    made.present(SourceSpec(server, table="people"))
    return made


def listed(qtbot: QtBot, window: DatabaseWindow) -> None:
    window.form.password.setText(SECRET)
    qtbot.keyClick(window.form.password, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.choice.lines.lines.rowCount() > 0)


def test_tables_and_views_are_listed_and_one_is_chosen(
    qtbot: QtBot, window: DatabaseWindow, server: str
) -> None:
    assert not window.open_button.isEnabled()
    listed(qtbot, window)
    shown = [window.choice.lines.lines.row(j) for j in range(3)]
    assert shown == [
        ("old", "view", "unknown"),
        ("people", "table", 500),
        ('census."my.town"', "table", "unknown"),
    ]
    assert findings(window) == []
    window.choice.filter.setText("TOWN")
    assert window.open_button.text() == '&Open census."my.town"'
    with qtbot.waitSignal(window.chosen) as told:
        window.open_button.click()
    assert told.args == [SourceSpec(server, table='census."my.town"')]
    assert SECRET not in repr(told.args)
    assert window.form.password.text() == ""
    assert hosts.password_of(server) == SECRET


def test_what_is_wrong_stands_in_the_window(qtbot: QtBot, window: DatabaseWindow) -> None:
    for password, said in (("", "asked for a password"), ("no", "does not accept this user")):
        window.form.password.setText(password)
        window.form.connect_button.click()
        qtbot.waitUntil(lambda said=said: said in window.band.text)
        assert not window.open_button.isEnabled()
    window.form.port.setText("many")
    window.form.connect_button.click()
    assert "found “many”, expected a number from 1 to 65535" in window.band.text
    window.form.port.clear()
    window.form.host.setText("/nowhere")
    window.form.connect_button.click()
    qtbot.waitUntil(lambda: "cannot be reached" in window.band.text)


def test_another_address_forgets_the_tables_of_the_one_before(
    qtbot: QtBot, window: DatabaseWindow
) -> None:
    listed(qtbot, window)
    qtbot.keyClicks(window.form.database, "x")
    assert window.choice.lines.lines.rowCount() == 0
    assert not window.open_button.isEnabled()


def test_a_query_is_opened_in_the_window_and_the_password_is_nowhere(
    qtbot: QtBot, hub: JobHub, theme: ThemeManager, tmp_path: Path, server: str
) -> None:
    settings = MemorySettings()
    with AppContext.open(tmp_path / "home") as context:
        desk = Desk(context, hub, theme, settings, None)  # type: ignore[arg-type]
        qtbot.addWidget(desk.window)
        desk.data.start.zone.database_button.click()
        window = desk.beside.database
        assert window is not None
        window.form.set_address(Address.of(server))
        listed(qtbot, window)
        window.choice.set_statement("SELECT sex, age FROM people WHERE age <= 50")
        window.open_button.click()
        bench = desk.workbench
        qtbot.waitUntil(lambda: bench.data is not None and not hub.busy)
        assert bench.data is not None
        assert (bench.data.rows, bench.data.columns) == (50, ("sex", "age"))
        assert settings.current.recent == ()
        bench.save_plan(tmp_path / "plan.toml")
        qtbot.waitUntil(lambda: (tmp_path / "plan.toml").exists() and not hub.busy)
        text = (tmp_path / "plan.toml").read_text("utf-8")
        assert "SELECT sex, age" in text
        for path in tmp_path.rglob("*"):
            assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path
        desk.let_go()


def test_a_table_that_the_server_refuses_is_told_with_a_way_back(
    qtbot: QtBot, hub: JobHub, theme: ThemeManager, tmp_path: Path, server: str
) -> None:
    with AppContext.open(tmp_path / "home") as context:
        desk = Desk(context, hub, theme, MemorySettings(), None)  # type: ignore[arg-type]
        qtbot.addWidget(desk.window)
        desk.window.show()
        desk.beside.sourceAsked.emit(SourceSpec(server, table="people"))
        qtbot.waitUntil(lambda: "asked for a password" in desk.data.band.text)
        desk.data.band.triggered.emit("data.connect")
        window = desk.beside.database
        assert window is not None
        assert window.form.address() == Address.of(server)
        desk.let_go()


@pytest.mark.parametrize(
    "address",
    [
        Address("db.example.org", "5433", "register of people", "ä/b"),
        Address("/var/run/postgresql", "5433", "register", "me"),
        Address(service="census"),
        Address("::1", "", "a"),
        Address(),
    ],
)
def test_an_address_survives_being_a_plan_entry(address: Address) -> None:
    assert Address.of(address.url) == address


def test_a_table_that_stays_in_postgresql_is_released_from_the_window(
    qtbot: QtBot, hub: JobHub, theme: ThemeManager, tmp_path: Path, server: str
) -> None:
    pytest.importorskip("ibis", reason="the optional part `engines` is not installed")
    with AppContext.open(tmp_path / "home") as context:
        desk = Desk(context, hub, theme, MemorySettings(), None)  # type: ignore[arg-type]
        qtbot.addWidget(desk.window)
        desk.window.show()
        desk.data.start.zone.database_button.click()
        window, bench = desk.beside.database, desk.workbench
        assert window is not None
        window.form.set_address(Address.of(server))
        listed(qtbot, window)
        window.choice.counted.button(THERE).click()
        assert "The table stays in PostgreSQL." in window.choice.stays.text()
        assert findings(window) == []
        window.choice.filter.setText("people")
        window.open_button.click()
        qtbot.waitUntil(lambda: bench.profile is not None and not hub.busy)
        assert bench.data is not None
        assert (bench.data.engine, bench.data.rows) == ("PostgreSQL", 500)
        assert desk.data.table.model.rowCount() == 500
        assert not desk.data.table.rows_button.isVisible()
        desk.data.table.readingAsked.emit()
        qtbot.waitUntil(lambda: desk.data.reading.previewed is not None and not hub.busy)
        previewed = desk.data.reading.previewed
        assert previewed is not None
        assert previewed.preview.problem is None
        assert previewed.preview.columns == ("sex", "age")
        assert not desk.data.reading.form.rows.isVisible()
        desk.data.reading.left.emit()
        bench.apply(SetRoles({"age": Role.QUASI_IDENTIFIER, "sex": Role.QUASI_IDENTIFIER}))
        desk.window.show_panel("hierarchies")
        desk.window.show_panel("protect")
        qtbot.waitUntil(lambda: not hub.busy and not desk.protect.busy)
        bench.save_plan(tmp_path / "plan.toml")
        qtbot.waitUntil(lambda: (tmp_path / "plan.toml").exists() and not hub.busy)
        assert 'engine = "postgresql"' in (tmp_path / "plan.toml").read_text("utf-8")
        made = release_work(
            context, bench.data, bench.work, tmp_path / "out", CancelToken(), silent
        )
        found = verify_release(made.out, context.registry, CancelToken(), silent)
        assert found.failures == ()
        bench.open_path(made.out)
        qtbot.waitUntil(lambda: bench.verified is not None and not hub.busy)
        desk.review.check_with_source()
        qtbot.waitUntil(lambda: bench.verified_with == server and not hub.busy)
        assert bench.verified is not None
        assert bench.verified.failures == ()
        for path in tmp_path.rglob("*"):
            assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path
        desk.let_go()


def test_a_cluster_has_other_fields_and_its_tables_stay_there(
    qtbot: QtBot, window: DatabaseWindow, server: str
) -> None:
    listed(qtbot, window)
    window.form.kinds.button(SPARK).click()
    assert window.choice.lines.lines.rowCount() == 0
    assert window.form.cluster.isVisible()
    assert not window.form.host.isVisible()
    assert not window.form.password.isVisible()
    assert window.choice.kinds.keys == (TABLE, FILES)
    assert window.choice.engine == SPARK
    assert "The table stays in Spark." in window.choice.stays.text()
    assert findings(window) == []
    for typed in ("", "db.example.org", "spark://me:secret@db.example.org:7077"):
        window.form.cluster.setText(typed)
        window.form.connect_button.click()
        assert "Cluster: found" in window.band.text
        assert "secret" not in window.band.text
    window.form.kinds.button(POSTGRESQL).click()
    assert window.form.host.isVisible()
    assert window.choice.kinds.keys == (TABLE, QUERY)
    assert window.choice.engine is None


def test_a_cluster_that_does_not_answer_is_one_sentence(
    qtbot: QtBot, window: DatabaseWindow
) -> None:
    need_spark()
    window.present(SourceSpec("spark://127.0.0.1:1", table="/data/people", engine=SPARK))
    assert window.choice.table == "/data/people"
    window.form.connect_button.click()
    qtbot.waitUntil(lambda: "no cluster of Spark answers there" in window.band.text)
    assert not window.open_button.isEnabled()


def test_parquet_data_that_a_cluster_sees_are_opened(
    qtbot: QtBot, hub: JobHub, theme: ThemeManager, tmp_path: Path
) -> None:
    need_spark()
    from dpdesk.io.engines import spark

    parquet.write_table(pa.table({"sex": ["f", "m"] * 30, "age": [*range(60)]}), tmp_path / "p")
    with AppContext.open(tmp_path / "home") as context:
        desk = Desk(context, hub, theme, MemorySettings(), None)  # type: ignore[arg-type]
        qtbot.addWidget(desk.window)
        desk.window.show()
        desk.beside.show_database()
        window, bench = desk.beside.database, desk.workbench
        window.form.kinds.button(SPARK).click()
        window.form.cluster.setText(MASTER)
        window.form.connect_button.click()
        waits = {"timeout": 120_000}
        qtbot.waitUntil(lambda: "has no table" in window.choice.state.text(), **waits)
        window.choice.set_files(str(tmp_path / "p"))
        assert window.open_button.text() == "&Open p"
        window.open_button.click()
        qtbot.waitUntil(lambda: bench.profile is not None and not hub.busy, **waits)
        assert bench.data is not None
        assert (bench.data.engine, bench.data.rows, bench.data.name) == ("Spark", 60, "p")
        assert bench.work.source == SourceSpec(MASTER, table=str(tmp_path / "p"), engine=SPARK)
        found = preview(bench.work.source, tmp_path, CancelToken())
        assert found.problem is None
        assert sorted(found.rows) == sorted(bench.data.page(0, 100))
        desk.let_go()
    spark.stop()
