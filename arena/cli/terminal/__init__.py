"""Output in a terminal: tables, plots, frames, progress."""
