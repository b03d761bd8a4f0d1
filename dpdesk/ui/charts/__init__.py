"""Charts of the window: one description (``dpdesk.core.charts``), drawn in theme colours.

``ChartView``   title (the question), answer, picture, Chart|Table switch, export

``table_csv``   the twin as CSV text

``load_plots``  import the plotting library: half a second, in the main thread alone, because it
makes classes of the toolkit, and two threads that do so at the same time crash the process

Without it, the plotting library is imported when the first chart is shown.
"""

from dpdesk.ui.charts.view import ChartView, load_plots, table_csv

__all__ = ["ChartView", "load_plots", "table_csv"]
