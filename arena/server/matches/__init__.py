"""The course of one match, from its announcement to its record: ready check, driver, persistence."""
