"""Other ways to release a sensitive column, measured on the same queries; internal."""
