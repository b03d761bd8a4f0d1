"""What the panels share: the work being edited, the loaded data, and everything made from them.

``Workbench``  one per window; panels read its properties, call its methods and listen to
               ``changed(Changes)``, which says which aspects are new
``Aspect``     what can change
``Changes``    a frozen set of aspects
``ProjectKeeper``  hands every change over to the open project and tells how saving goes

A panel never keeps a copy of the work: it reads ``workbench.work`` when it is told of a change, and
edits it with ``workbench.apply(command)`` only, so that every edit can be undone.
"""

from dpdesk.ui.workbench.keeper import ProjectKeeper
from dpdesk.ui.workbench.state import Aspect, Changes, OpenProblem, compare
from dpdesk.ui.workbench.workbench import Workbench

__all__ = ["Aspect", "Changes", "OpenProblem", "ProjectKeeper", "Workbench", "compare"]
