"""Drawing in a terminal: tables, plots, frames, signals."""
