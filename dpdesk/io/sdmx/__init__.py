"""Tables of a cube as SDMX 3.0: identifiers, structure message, SDMX-CSV 2.0 data."""
