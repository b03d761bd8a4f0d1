"""Charts of the window: one description (``dpdesk.core.charts``), drawn in theme colours.

``ChartView``   title (the question), answer, picture, Chart|Table switch, export

``table_csv``   the twin as CSV text

What draws needs numpy, so it is imported when the first chart is shown, not before.
"""

from dpdesk.ui.charts.export import table_csv
from dpdesk.ui.charts.view import ChartView

__all__ = ["ChartView", "table_csv"]
