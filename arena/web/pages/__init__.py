"""The handlers of pages, one module for each kind."""
