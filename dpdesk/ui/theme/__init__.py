"""How the window looks: palette tokens, sizes, icons, and the switch between light and dark.

``ThemeManager`` (one per application) holds the current :class:`Theme`, follows the system, and
emits ``changed(Theme)``. Widgets that only use style sheets need not listen; what paints itself
(charts, icons) takes the manager by constructor and connects a bound method.

Style properties that panels may set on plain widgets (``set_look(widget, "answer")``):
labels ``headline``, ``section``, ``answer``, ``note``, ``fail``, ``caution``, ``ok``, ``mono``;
frames ``card``, ``sunken``, ``band-*``; buttons ``primary``, ``quiet``, ``link``.
"""

from dpdesk.ui.theme.manager import (
    DARK,
    ICON_NAMES,
    LIGHT,
    SPACE,
    Theme,
    ThemeManager,
    Tokens,
    icon,
    look_colour,
    mix,
    pixmap,
    set_look,
)

__all__ = [
    "DARK",
    "ICON_NAMES",
    "LIGHT",
    "SPACE",
    "Theme",
    "ThemeManager",
    "Tokens",
    "icon",
    "look_colour",
    "mix",
    "pixmap",
    "set_look",
]
