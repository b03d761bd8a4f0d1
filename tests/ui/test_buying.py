"""Tables are bought in the browser: both costs first, then two steps, then one more release."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from dpdesk.app.context import AppContext
from dpdesk.app.opening import open_path, open_work
from dpdesk.app.shops import AtHand
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.ui.browsing import BrowseWindow
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.theme import ThemeManager
from tests.helpers.a11y import findings
from tests.helpers.asking import ScriptedAsker
from tests.helpers.cubes import people, release, write_plan, write_register
from tests.helpers.debits import open_here
from tests.helpers.forging import canonical, manifest_of, seal_again

pytestmark = pytest.mark.cheap_prints


class Agency:
    """Whoever holds a register, its plan, its ledger and a release, at the browser's window."""

    def __init__(
        self, qtbot: QtBot, folder: Path, context: AppContext, hub: JobHub, theme: ThemeManager
    ) -> None:
        self.qtbot, self.folder, self.context, self.hub = qtbot, folder, context, hub
        self.source = write_register(folder / "data", people(60))
        self.plan = self.write_plan()
        self.asker = ScriptedAsker()
        self.at_hand: AtHand | None = None
        self.window = BrowseWindow(context, hub, theme, self.asker, lambda: self.at_hand)
        self.card = self.window.purchase.card
        qtbot.addWidget(self.window)

    def write_plan(
        self, name: str = "plan.toml", budget: str = "limit = 2.0", **keys: object
    ) -> Path:
        return write_plan(self.source, name, budget, **({"publish": {"max_dimensions": 1}} | keys))

    def load(self, plan: Path | None = None) -> None:
        """Open the plan with its data, as the main window does."""
        self.close_data()
        work = open_path(plan or self.plan).work
        assert work is not None
        self.at_hand = AtHand(work, open_work(self.context, work, CancelToken(), silent))

    def close_data(self) -> None:
        if self.at_hand is not None:
            self.at_hand.data.close()
        self.at_hand = None

    def quiet(self, condition: Callable[[], bool] = lambda: True) -> None:
        def calm() -> bool:
            return condition() and not self.hub.busy and not self.window.purchase.waits

        self.qtbot.waitUntil(calm)

    def browse(self, name: str = "first", plan: Path | None = None) -> Path:
        out = self.folder / name
        release(self.context, plan or self.plan, out)
        self.window.open(out)
        self.quiet(lambda: self.window.seen is not None)
        return out

    def cross(self) -> None:
        """Ask for sex by region, which no release has."""
        self.qtbot.keyClick(self.window.side.chip("region"), Qt.Key.Key_C)
        self.quiet()

    def spend(self, text: str) -> None:
        self.card.amount.setText(text)
        self.quiet()

    def add(self, name: str) -> None:
        self.asker.answer = self.folder / name
        self.window.ask_piece()
        self.quiet()

    def warnings(self) -> tuple[str, ...]:
        seen = self.window.seen
        assert seen is not None
        return seen.pivot.grid.warnings

    def spent(self) -> str:
        path = self.context.home / "ledger.sqlite"
        with open_here(path, create=False) as ledger:
            (account,) = ledger.book.accounts()
            return str(ledger.book.spending(account).pure)

    def texts(self) -> str:
        card = self.card
        shown = (card.question, card.free, card.cost, card.advice, card.problem, card.confirm)
        return "\n".join(one.text() for one in shown if one.isVisible())


@pytest.fixture
def agency(qtbot: QtBot, tmp_path: Path, hub: JobHub, theme: ThemeManager) -> Iterator[Agency]:
    with AppContext.open(tmp_path / "home") as context:
        made = Agency(qtbot, tmp_path, context, hub, theme)
        made.load()
        yield made
        made.window.close()
        made.quiet()
        made.close_data()


def test_exact_numbers_of_another_release_are_told_before_the_debit(agency: Agency) -> None:
    exact = agency.write_plan("exact.toml", exact=[["region"]], epsilon=0.25)
    release(agency.context, exact, agency.folder / "exact")
    agency.browse()
    agency.cross()
    agency.spend("0.1")
    assert "△ An earlier release about the same people has numbers" in agency.texts()
    agency.qtbot.keyClick(agency.card.amount, Qt.Key.Key_Return)
    assert agency.card.asks
    assert "without protection: region, published exactly" in agency.texts()


def test_a_table_that_nothing_has_is_offered_bought_in_two_steps_and_read_with_the_rest(
    agency: Agency,
) -> None:
    first = agency.browse()
    agency.cross()
    assert "no table contains sex × region together" in agency.texts()
    assert "For example, bought for ε = 1: ± " in agency.texts()
    assert not agency.card.next.isEnabled()
    agency.spend("1/8")
    assert "Bought for ε = 0.125: ± " in agency.texts()
    assert "It leaves ε = 0.875 of ε = 2" in agency.texts()
    agency.qtbot.keyClick(agency.card.amount, Qt.Key.Key_Return)
    assert "ε = 0.125 is taken from the budget of “register”" in agency.texts()
    assert agency.card.back.hasFocus()
    assert agency.spent() == "1"
    assert agency.card.debit.accessibleName() == "Debit ε = 0.125 and buy"
    assert not findings(agency.window)
    agency.card.debit.click()
    agency.quiet(lambda: agency.window.seen is not None)
    assert agency.spent() == "9/8"
    piece = agency.folder / "first-sex-region"
    manifest = json.loads((piece / "public/manifest.json").read_bytes())
    assert manifest["result"]["cuboids"][0]["dimensions"] == ["sex", "region"]
    claim = agency.window.claim.text()
    assert "The losses of these 2 releases are added up." in claim
    assert "change by at most ×3.09 (ε = 1.125)" in claim
    assert "Combined from 2 releases: first, first-sex-region" in agency.window.pieces.text()
    seen = agency.window.seen
    assert seen is not None
    assert seen.pivot.grid.axes == ("sex", "region")
    assert seen.pivot.grid.warnings == ()
    assert agency.card.isHidden()
    assert (first / "internal").is_dir()


def test_a_typed_amount_is_exact_and_what_is_none_is_told_at_once(agency: Agency) -> None:
    agency.browse()
    agency.cross()
    for text in ("0", "-1", "abc", "1/3", "1/0", "1e999999"):
        agency.spend(text)
        assert f"ε is “{text}”, expected a number above 0" in agency.texts()
        assert not agency.card.next.isEnabled()
    agency.card.close_button.click()
    agency.quiet(lambda: agency.window.seen is not None)
    agency.cross()
    agency.spend("0.0625")
    assert "ε = 0.0625" in agency.texts()
    agency.qtbot.keyClick(agency.card.amount, Qt.Key.Key_Return)
    agency.card.amount.setText("0.0626")
    assert not agency.card.asks
    agency.quiet()


@pytest.mark.parametrize("text", ["1.5", "1.0001"])
def test_what_the_budget_cannot_pay_is_refused_before_the_second_step(
    agency: Agency, text: str
) -> None:
    agency.browse()
    agency.cross()
    agency.spend(text)
    assert "more than is left: ε = 1 of ε = 2 is spent" in agency.texts()
    assert not agency.card.next.isEnabled()
    assert agency.card.problem.isVisible()


def test_who_lacks_the_source_or_has_another_is_told_why_nothing_is_sold(agency: Agency) -> None:
    agency.close_data()
    agency.browse()
    agency.cross()
    assert "register.csv is not open" in agency.texts()
    write_register(agency.folder / "data", people(61))
    agency.load()
    agency.window.purchase.offer()
    agency.quiet()
    assert "register.csv is not the file that first was made from" in agency.texts()
    assert not agency.card.next.isEnabled()


def _change(release: Path, change: Callable[[dict[str, Any]], object], texts: object) -> None:
    place = release / "internal/evidence.json"
    evidence = json.loads(place.read_text("utf-8"))
    change(evidence)
    place.write_bytes(canonical(evidence))
    seal_again(release, manifest_of(release) | ({} if texts is None else {"texts": texts}))


@pytest.mark.parametrize("texts", [None, {"language": "en", "sha256": "0" * 64}])
def test_nothing_is_sold_by_a_plan_that_somebody_changed_in_the_evidence(
    agency: Agency, texts: object
) -> None:
    def other_people(evidence: dict[str, Any]) -> None:
        evidence["plan"]["budget"]["population"] = "quite other people"
        if texts is not None:
            evidence["budget"]["population"] = "quite other people"
            for key in ("record", "head", "elsewhere"):
                del evidence["budget"][key]

    made = release(agency.context, agency.plan, agency.folder / "first").out
    _change(made, other_people, texts)
    agency.window.open(made)
    agency.quiet(lambda: agency.window.seen is not None)
    agency.cross()
    told = "fails verification" if texts is None else "for other people than those that the plan"
    assert told in agency.texts()
    assert not agency.card.next.isEnabled()


@pytest.mark.parametrize("size", [100, 125, 200])
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_both_steps_have_names_and_room_in_every_look(
    agency: Agency, theme: ThemeManager, mode: str, size: int
) -> None:
    theme.set_mode(mode)
    theme.set_text_size(size)
    agency.browse()
    agency.cross()
    agency.spend("0.25")
    assert findings(agency.window) == []
    agency.card.next.click()
    assert findings(agency.window) == []


def test_the_public_part_alone_offers_nothing(agency: Agency) -> None:
    first = agency.browse()
    agency.window.open(first / "public")
    agency.quiet(lambda: agency.window.seen is not None)
    agency.cross()
    assert "No published table has sex × region" in agency.window.band.text.replace(
        "region × sex", "sex × region"
    )
    assert agency.card.isHidden()
    assert not agency.window.buy.isEnabled()


def test_marginals_that_are_not_sold_one_by_one_are_browsed_without_an_offer(
    agency: Agency,
) -> None:
    agency.load()
    made = agency.browse(plan=agency.write_plan("views.toml", method="priview", publish=None))
    assert agency.window.seen is not None
    assert agency.window.buy.isHidden()
    assert agency.window.add.isHidden()
    agency.window.ask_offer()
    agency.asker.answer = made
    agency.window.ask_piece()
    agency.quiet()
    assert agency.card.isHidden()
    assert agency.window.cube is not None
    assert agency.window.cube.pieces == (made,)


def test_nothing_is_sold_beside_exact_tables(agency: Agency) -> None:
    agency.browse(plan=agency.write_plan("exact.toml", exact=[["sex"]]))
    agency.window.ask_offer()
    agency.quiet()
    assert "noise that was not made alongside them protects too little" in agency.texts()


def test_another_ledger_than_that_of_the_release_sells_nothing(agency: Agency) -> None:
    plan = agency.write_plan("own.toml", budget='limit = 2.0\nledger = "own.sqlite"')
    agency.browse(plan=plan)
    (agency.folder / "elsewhere").mkdir()
    assert agency.at_hand is not None
    work = agency.at_hand.work.based_on(agency.folder / "elsewhere")
    agency.at_hand = AtHand(work, agency.at_hand.data)
    agency.cross()
    assert "own.sqlite: this ledger does not contain the debit" in agency.texts()


def test_a_cube_that_is_only_planned_is_bought_table_by_table(agency: Agency) -> None:
    agency.window.open_plan()
    agency.quiet()
    assert "Put dimensions on rows and columns" in agency.window.band.text
    agency.asker.answer = agency.folder
    agency.qtbot.keyClick(agency.window.side.chip("sex"), Qt.Key.Key_R)
    agency.quiet()
    agency.card.place.click()
    agency.quiet()
    agency.spend("0.5")
    agency.card.next.click()
    agency.card.debit.click()
    agency.quiet(lambda: agency.window.seen is not None)
    assert (agency.folder / "Register tables-sex" / "public").is_dir()
    agency.cross()
    assert "no table contains sex × region together" in agency.texts()
    agency.spend("0.25")
    agency.card.next.click()
    agency.card.debit.click()
    agency.quiet(lambda: agency.window.seen is not None)
    assert agency.spent() == "3/4"
    assert "Combined from 2 releases" in agency.window.pieces.text()


def test_where_most_cells_are_doubtful_the_offer_opens_by_itself_until_it_is_declined(
    agency: Agency,
) -> None:
    agency.browse(plan=agency.write_plan("poor.toml", epsilon=0.01))
    assert "From what is released (sex): ± " in agency.texts()
    agency.qtbot.keyClick(agency.card.amount, Qt.Key.Key_Escape)
    assert agency.card.isHidden()
    agency.window.step("exchange", agency.window.state.turned())  # type: ignore[union-attr]
    agency.quiet()
    assert agency.card.isHidden()
    agency.window.ask_offer()
    agency.quiet()
    agency.spend("0.0001")
    assert "not worth buying" in agency.texts()


def test_no_offer_opens_by_itself_where_the_data_are_not_open(agency: Agency) -> None:
    agency.close_data()
    agency.browse(plan=agency.write_plan("poor.toml", epsilon=0.01))
    assert agency.card.isHidden()
    agency.window.ask_offer()
    agency.quiet()
    assert "is not open" in agency.texts()


def test_a_purchase_is_stopped_by_its_own_button_and_what_was_debited_is_told(
    agency: Agency,
) -> None:
    agency.browse()
    agency.cross()
    agency.spend("0.5")
    agency.card.next.click()
    agency.card.debit.click()
    job = agency.card.progress.job
    assert job
    agency.hub.cancel(job)
    agency.quiet()
    stopped = "stays spent" in agency.texts()
    assert stopped is not (agency.folder / "first-sex-region").exists()


def test_a_release_bought_before_is_added_once_and_strangers_are_told_of(agency: Agency) -> None:
    first = agency.browse()
    agency.cross()
    agency.spend("0.5")
    agency.card.next.click()
    agency.card.debit.click()
    agency.quiet(lambda: agency.window.seen is not None)
    release(
        agency.context, agency.write_plan("none.toml", "", epsilon=0.5), agency.folder / "other"
    )
    agency.window.open(first)
    agency.quiet(lambda: agency.window.seen is not None)
    agency.add("first-sex-region")
    assert "Combined from 2 releases" in agency.window.pieces.text()
    assert agency.warnings() == ()
    agency.add("first-sex-region")
    assert "named twice" in agency.window.band.text
    assert "Combined from 2 releases" in agency.window.pieces.text()
    agency.add("other")
    assert "Combined from 3 releases" in agency.window.pieces.text()
    assert "do not name each other" in agency.warnings()[-1]


def test_another_cube_opened_meanwhile_does_not_get_the_table(agency: Agency) -> None:
    first = agency.browse()
    release(agency.context, agency.write_plan("small.toml", epsilon=0.25), agency.folder / "second")
    agency.cross()
    agency.spend("0.5")
    agency.card.next.click()
    agency.card.debit.click()
    agency.window.open(agency.folder / "second")
    agency.quiet(lambda: agency.window.seen is not None)
    assert (first.parent / "first-sex-region").is_dir()
    assert agency.window.title.text() == "Register tables"
    assert agency.window.pieces.isHidden()
    assert agency.card.isHidden()
    assert "first-sex-region" in agency.window.band.text


def test_the_total_alone_is_offered_as_well(agency: Agency) -> None:
    agency.browse()
    agency.qtbot.keyClick(agency.window.side.chip("sex"), Qt.Key.Key_Delete)
    agency.quiet()
    agency.window.ask_offer()
    agency.quiet()
    assert "Where should the total come from?" in agency.texts()
    assert "From what is released (the total)" in agency.texts()
    assert "bought for ε = 1" in agency.texts()
