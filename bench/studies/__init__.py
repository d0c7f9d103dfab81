"""Measurements quoted by the documentation on luck, endings and house bots: `python -m bench.studies.luck`."""
