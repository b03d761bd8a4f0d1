"""Charts of the window: one description (``dpdesk.core.charts``), drawn in theme colours.

``ChartView``   title (the question), answer, picture, Chart|Table switch, export

``table_csv``   the twin as CSV text

``plot_pieces``  import the plotting library, with pauses, in the main thread alone

Without it, the plotting library is imported when the first chart is shown.
"""

from dpdesk.ui.charts.loading import plot_pieces
from dpdesk.ui.charts.view import ChartView, table_csv

__all__ = ["ChartView", "plot_pieces", "table_csv"]
