"""The style sheet, made from tokens and font metrics."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from dpdesk.ui.theme.look import Theme
from dpdesk.ui.theme.tokens import SPACE

_LOOK = "look"
_ARROWS = Path(__file__).parent / "arrows"


def set_look(widget: QWidget, look: str) -> None:
    """Give a widget one of the looks of the style sheet; repaints when it changes."""
    if widget.property(_LOOK) == look:
        return
    widget.setProperty(_LOOK, look)
    if not widget.testAttribute(Qt.WidgetAttribute.WA_WState_Polished):
        return  # it will be fitted to the sheet when it is first shown
    style = widget.style()
    style.unpolish(widget)
    style.polish(widget)


def style_sheet(theme: Theme) -> str:
    """The style sheet of the whole application."""
    parts = (_text, _buttons, _fields, _tables, _frames, _navigation, _menus, _small)
    return "\n".join(part(theme) for part in parts)


def _points(theme: Theme, role: str) -> str:
    return f"{theme.font(role).pointSizeF():g}pt"


def _text(theme: Theme) -> str:
    t = theme.tokens
    return f"""
QWidget {{ color: {t.text}; }}
QMainWindow, QDialog {{ background: {t.window}; }}
QLabel {{ background: transparent; qproperty-textFormat: PlainText; }}
QLabel[look="headline"] {{ font-size: {_points(theme, "headline")}; font-weight: 600; }}
QLabel[look="section"] {{ font-size: {_points(theme, "section")}; font-weight: 600; }}
QLabel[look="answer"] {{ font-size: {_points(theme, "body")}; }}
QLabel[look="strong"] {{ font-weight: 600; }}
QLabel[look="figure"] {{ font-size: {_points(theme, "headline")}; font-weight: 600; }}
QLabel[look="note"] {{ font-size: {_points(theme, "note")}; color: {t.muted}; }}
QLabel[look="fail"] {{ font-size: {_points(theme, "note")}; color: {t.fail}; }}
QLabel[look="caution"] {{ font-size: {_points(theme, "note")}; color: {t.caution}; }}
QLabel[look="ok"] {{ font-size: {_points(theme, "note")}; color: {t.accent}; }}
QLabel[look="mono"] {{ font-family: "DejaVu Sans Mono", monospace; }}
QLabel[look="badge"] {{ font-size: {_points(theme, "note")}; font-weight: 700; color: {t.caution};
  background: {t.wash(t.caution)}; border: 1px solid {t.caution}; border-radius: 3px;
  padding: 1px 6px; }}
QLabel[look="key"] {{ font-size: {_points(theme, "note")}; color: {t.muted};
  background: {t.sunken}; border: 1px solid {t.hairline}; border-radius: 3px; padding: 1px 5px; }}
QLabel:disabled {{ color: {t.disabled}; }}
QToolTip {{ background: {t.surface}; color: {t.text}; border: 1px solid {t.border};
  padding: 4px 6px; qproperty-textFormat: PlainText; }}
"""


def _buttons(theme: Theme) -> str:
    t, height = theme.tokens, theme.target - 2
    return f"""
QPushButton, QToolButton {{ background: {t.surface}; border: 1px solid {t.border};
  border-radius: 4px; padding: 0 {SPACE.m}px; min-height: {height}px; outline: 0; }}
QToolButton {{ padding: 0 {SPACE.s}px; }}
QPushButton:hover, QToolButton:hover {{ background: {t.hover}; border-color: {t.accent}; }}
QPushButton:pressed, QToolButton:pressed {{ background: {t.selection}; }}
QPushButton:checked, QToolButton:checked {{ background: {t.selection}; border-color: {t.accent};
  font-weight: 600; }}
QPushButton:focus, QToolButton:focus {{ border: 2px solid {t.accent};
  padding: 0 {SPACE.m - 1}px; min-height: {height - 2}px; }}
QToolButton:focus {{ padding: 0 {SPACE.s - 1}px; }}
QPushButton:disabled, QToolButton:disabled {{ color: {t.disabled}; background: {t.window};
  border-color: {t.hairline}; }}
QPushButton[look="primary"] {{ background: {t.accent}; color: {t.on_accent};
  border-color: {t.accent}; font-weight: 600; }}
QPushButton[look="primary"]:hover {{ background: {_stronger(theme)}; }}
QPushButton[look="primary"]:focus {{ border: 2px solid {t.text}; }}
QPushButton[look="primary"]:disabled {{ background: {t.sunken}; color: {t.disabled};
  border-color: {t.hairline}; }}
QPushButton[look="quiet"], QToolButton[look="quiet"] {{ background: transparent;
  border-color: transparent; }}
QPushButton[look="quiet"]:hover, QToolButton[look="quiet"]:hover {{ background: {t.hover}; }}
QPushButton[look="quiet"]:focus, QToolButton[look="quiet"]:focus {{
  border: 2px solid {t.accent}; }}
QToolButton[look="segment-first"] {{ border-top-right-radius: 0; border-bottom-right-radius: 0; }}
QToolButton[look="segment-last"] {{ border-top-left-radius: 0; border-bottom-left-radius: 0;
  border-left: none; }}
QToolButton[look="segment-last"]:focus {{ border: 2px solid {t.accent}; }}
QToolButton[look="choice"] {{ font-size: {_points(theme, "note")}; padding: 0 {SPACE.xs}px; }}
QToolButton[look="choice"]:focus {{ padding: 0 {SPACE.xs - 1}px; }}
QToolButton[look="choice"]:checked {{ font-weight: 400; border: 2px solid {t.accent};
  padding: 0 {SPACE.xs - 1}px; }}
QPushButton[look="tight"] {{ padding: 0 6px; }}
QPushButton[look="tight"]:focus {{ padding: 0 5px; }}
QToolButton::menu-indicator {{ image: none; width: 0; }}
{_boxes(theme)}"""


def _boxes(theme: Theme) -> str:
    """Boxes to tick and to choose by."""
    t, height = theme.tokens, theme.target - 2
    dot = theme.icon * 4 // 5 // 2 * 2
    return f"""
QCheckBox, QRadioButton {{ spacing: {SPACE.s}px; min-height: {height}px; }}
QCheckBox:focus, QRadioButton:focus {{ outline: 2px solid {t.accent}; }}
QCheckBox:disabled, QRadioButton:disabled {{ color: {t.disabled}; }}
QRadioButton::indicator {{ width: {dot}px; height: {dot}px; border-radius: {dot // 2 + 1}px;
  border: 1px solid {t.border}; background: {t.surface}; }}
QRadioButton::indicator:checked {{ width: {dot - 8}px; height: {dot - 8}px;
  border: 5px solid {t.accent}; }}
QRadioButton::indicator:disabled {{ border-color: {t.hairline}; }}
QCheckBox::indicator, QListView::indicator {{
  width: {dot}px; height: {dot}px; border-radius: 3px;
  border: 1px solid {t.border}; background: {t.surface}; }}
QCheckBox::indicator:checked, QListView::indicator:checked {{
  background: {t.accent}; border-color: {t.accent};
  image: url("{(_ARROWS / f"check-{t.name}.svg").as_posix()}"); }}
QCheckBox::indicator:disabled, QListView::indicator:disabled {{
  background: {t.window}; border-color: {t.hairline}; }}
"""


def _stronger(theme: Theme) -> str:
    from dpdesk.ui.theme.tokens import mix

    return mix(theme.tokens.accent, theme.tokens.text, 0.18)


def _fields(theme: Theme) -> str:
    t, height = theme.tokens, theme.target - 2
    kinds = ("QLineEdit", "QAbstractSpinBox", "QComboBox", "QPlainTextEdit", "QTextEdit")
    each = ", ".join(kinds)
    focus = ", ".join(f"{kind}:focus" for kind in kinds)
    off = ", ".join(f"{kind}:disabled" for kind in kinds)
    return f"""
{each} {{ background: {t.surface}; border: 1px solid {t.border}; border-radius: 4px;
  padding: 0 {SPACE.s}px; selection-background-color: {t.selection};
  selection-color: {t.text}; }}
QLineEdit, QAbstractSpinBox, QComboBox {{ min-height: {height}px; }}
QAbstractSpinBox QLineEdit, QComboBox QLineEdit {{ border: none; min-height: 0;
  padding: 0 0 0 6px; }}
{focus} {{ border: 2px solid {t.accent}; padding: 0 {SPACE.s - 1}px; }}
QLineEdit:focus, QAbstractSpinBox:focus, QComboBox:focus {{ min-height: {height - 2}px; }}
QAbstractSpinBox QLineEdit:focus {{ border: none; padding: 0 0 0 5px; min-height: 0; }}
{off} {{ background: {t.window}; color: {t.disabled}; border-color: {t.hairline}; }}
QLineEdit[invalid="true"], QAbstractSpinBox[invalid="true"] {{ border: 2px solid {t.fail}; }}
{_arrows(theme)}
QComboBox QAbstractItemView {{ background: {t.surface}; border: 1px solid {t.border};
  selection-background-color: {t.selection}; selection-color: {t.text}; outline: 0; }}
QComboBox QAbstractItemView::item {{ min-height: {height}px; }}
QSlider {{ min-height: {height}px; }}
QSlider::groove:horizontal {{ height: 4px; background: {t.hairline}; border-radius: 2px; }}
QSlider::sub-page:horizontal {{ height: 4px; background: {t.accent}; border-radius: 2px; }}
QSlider::handle:horizontal {{ width: 16px; height: 16px; margin: -7px 0; border-radius: 9px;
  background: {t.surface}; border: 2px solid {t.accent}; }}
QSlider::handle:horizontal:focus {{ background: {t.accent}; border: 3px solid {t.text}; }}
QSlider::handle:horizontal:disabled {{ border-color: {t.hairline}; }}
QSlider::sub-page:horizontal:disabled {{ background: {t.hairline}; }}
"""


def _arrows(theme: Theme) -> str:
    """Arrows of spin and combo boxes; styled boxes lose those of the platform."""
    up, down = ((_ARROWS / f"{way}-{theme.tokens.name}.svg").as_posix() for way in ("up", "down"))
    wide, arrow = theme.icon + 2, round(theme.icon * 0.6)
    return f"""
QAbstractSpinBox {{ padding-right: {wide}px; }}
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button {{ border: none; width: {wide}px;
  background: transparent; subcontrol-origin: border; }}
QAbstractSpinBox::up-button {{ subcontrol-position: top right; margin-top: 2px; }}
QAbstractSpinBox::down-button {{ subcontrol-position: bottom right; margin-bottom: 2px; }}
QAbstractSpinBox::up-button:hover, QAbstractSpinBox::down-button:hover {{
  background: {theme.tokens.hover}; }}
QAbstractSpinBox::up-arrow {{ image: url("{up}"); width: {arrow}px; height: {arrow}px; }}
QAbstractSpinBox::down-arrow {{ image: url("{down}"); width: {arrow}px; height: {arrow}px; }}
QComboBox::drop-down {{ border: none; width: {wide}px; subcontrol-origin: border;
  subcontrol-position: center right; }}
QComboBox::down-arrow {{ image: url("{down}"); width: {arrow}px; height: {arrow}px; }}
"""


def _tables(theme: Theme) -> str:
    t = theme.tokens
    return f"""
QAbstractItemView {{ background: {t.surface}; border: 1px solid {t.hairline};
  alternate-background-color: {t.window}; selection-background-color: {t.selection};
  selection-color: {t.text}; outline: 0; }}
QAbstractItemView:focus {{ border: 2px solid {t.accent}; }}
QGraphicsView {{ border: 2px solid transparent; background: transparent; }}
QGraphicsView:focus {{ border: 2px solid {t.accent}; }}
QTableView {{ gridline-color: {t.hairline}; }}
QTableView::item, QTreeView::item {{ padding: 0 {SPACE.s}px; }}
QTableView::item:focus {{ border: 2px solid {t.accent}; padding: 0 {SPACE.s - 2}px; }}
QTreeView::item {{ min-height: {theme.row}px; }}
QTreeView::item:selected, QListView::item:selected {{ background: {t.selection};
  color: {t.text}; }}
QHeaderView {{ background: {t.window}; border: none; }}
QHeaderView::section {{ background: {t.window}; color: {t.text}; border: none;
  border-right: 1px solid {t.hairline}; border-bottom: 1px solid {t.border};
  padding: 4px {SPACE.s}px; font-weight: 600; }}
QHeaderView::section:vertical {{ font-weight: 400; color: {t.muted};
  border-bottom: 1px solid {t.hairline}; }}
QListView::item {{ min-height: {theme.row}px; padding: 0 {SPACE.s}px; }}
QTableCornerButton::section {{ background: {t.window}; border: none;
  border-bottom: 1px solid {t.border}; }}
"""


def _frames(theme: Theme) -> str:
    t = theme.tokens
    bands = "\n".join(
        f"""QFrame[look="band-{kind}"] {{ background: {t.wash(colour)}; border: 1px solid {colour};
  border-left: 4px solid {colour}; border-radius: 4px; }}"""
        for kind, colour in (
            ("info", t.reference),
            ("ok", t.accent),
            ("caution", t.caution),
            ("fail", t.fail),
        )
    )
    return f"""
QFrame[look="card"] {{ background: {t.surface}; border: 1px solid {t.hairline};
  border-radius: 6px; }}
QFrame[look="choice"] {{ background: {t.surface}; border: 1px solid {t.border};
  border-radius: 6px; }}
QFrame[look="chosen"] {{ background: {t.selection}; border: 2px solid {t.accent};
  border-radius: 6px; }}
QFrame[look="sunken"] {{ background: {t.sunken}; border: none; border-radius: 6px; }}
QFrame[look="drop"] {{ background: {t.surface}; border: 2px dashed {t.border};
  border-radius: 8px; }}
QFrame[look="rule"] {{ background: {t.hairline}; border: none; max-height: 1px;
  min-height: 1px; }}
{bands}
QSplitter::handle {{ background: {t.hairline}; }}
QSplitter[look="plain"]::handle {{ background: transparent; }}
QSplitter::handle:hover {{ background: {t.accent}; }}
QSplitter::handle:horizontal {{ margin: 0 3px; width: 1px; }}
QSplitter::handle:vertical {{ margin: 3px 0; height: 1px; }}
QScrollArea {{ background: transparent; border: none; }}
QScrollArea > QWidget > QWidget {{ background: transparent; }}
QScrollArea:focus {{ border: 2px solid {t.accent}; }}
QGroupBox {{ border: 1px solid {t.hairline}; border-radius: 6px; margin-top: {SPACE.l}px;
  padding-top: {SPACE.s}px; font-weight: 600; }}
QGroupBox::title {{ subcontrol-origin: margin; left: {SPACE.s}px; padding: 0 4px; }}
"""


def _navigation(theme: Theme) -> str:
    t = theme.tokens
    return f"""
QListWidget[look="navigation"], QListWidget[look="navigation"]:focus {{
  background: {t.window}; border: none; padding: {SPACE.s}px 0; }}
QWidget[look="panel"] {{ background: {t.window}; }}
QStatusBar {{ background: {t.sunken}; border-top: 1px solid {t.hairline}; }}
QStatusBar::item {{ border: none; }}
QStatusBar QPushButton {{ font-size: {_points(theme, "note")}; }}
QStatusBar QLabel {{ font-size: {_points(theme, "note")}; padding: 0 {SPACE.s}px; }}
QToolBar {{ background: {t.window}; border: none; border-bottom: 1px solid {t.hairline};
  spacing: {SPACE.xs}px; padding: {SPACE.xs}px {SPACE.s}px; }}
"""


def _menus(theme: Theme) -> str:
    t, height = theme.tokens, theme.target - 8
    return f"""
QMenuBar {{ background: {t.window}; border-bottom: 1px solid {t.hairline}; padding: 2px; }}
QMenuBar::item {{ padding: 4px {SPACE.s}px; background: transparent; border-radius: 4px; }}
QMenuBar::item:selected {{ background: {t.selection}; }}
QMenu {{ background: {t.surface}; border: 1px solid {t.border}; padding: 4px; }}
QMenu::item {{ padding: 4px {SPACE.xl}px 4px {SPACE.xl}px; min-height: {height}px;
  border-radius: 4px; }}
QMenu::item:selected {{ background: {t.selection}; }}
QMenu::item:disabled {{ color: {t.disabled}; }}
QMenu::separator {{ height: 1px; background: {t.hairline}; margin: 4px {SPACE.s}px; }}
QTabBar::tab {{ background: transparent; border: none; border-bottom: 2px solid transparent;
  padding: 4px {SPACE.m}px; min-height: {height}px; }}
QTabBar::tab:selected {{ border-bottom: 2px solid {t.accent}; font-weight: 600; }}
QTabBar::tab:focus {{ border: 2px solid {t.accent}; }}
QTabWidget::pane {{ border: none; border-top: 1px solid {t.hairline}; }}
"""


def _small(theme: Theme) -> str:
    t = theme.tokens
    return f"""
QProgressBar {{ background: {t.hairline}; border: none; border-radius: 3px; max-height: 6px;
  min-height: 6px; }}
QProgressBar::chunk {{ background: {t.accent}; border-radius: 3px; }}
QScrollBar:vertical {{ background: transparent; width: 14px; margin: 0; }}
QScrollBar:horizontal {{ background: transparent; height: 14px; margin: 0; }}
QScrollBar::handle {{ background: {t.border}; border-radius: 4px; margin: 3px; }}
QScrollBar::handle:vertical {{ min-height: 32px; }}
QScrollBar::handle:horizontal {{ min-width: 32px; }}
QScrollBar::handle:hover {{ background: {t.accent}; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
"""
