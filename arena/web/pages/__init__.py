"""Handlers of pages: a module for each kind."""
