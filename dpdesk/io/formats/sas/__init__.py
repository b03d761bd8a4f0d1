"""SAS files, catalogues and transport files."""
