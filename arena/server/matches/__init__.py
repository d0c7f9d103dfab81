"""One match from its announcement to its record: ready check, driver, persistence."""
