"""Studies: measurements made once for a decision, each repeatable by a command such as `python -m studies.luck`."""
