"""The method ``dp-cube``: tables with noise, over the library :mod:`dpdesk.engine.cubes`."""
