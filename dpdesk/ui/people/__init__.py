"""People and keys: the own signing keys, and whose signatures count on this computer."""

from dpdesk.ui.people.window import PeopleWindow

__all__ = ["PeopleWindow"]
