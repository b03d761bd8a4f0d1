"""Looking through a released cube: a window of its own."""

from dpdesk.ui.browsing.window import BrowseWindow

__all__ = ["BrowseWindow"]
