"""Measurements that the pages on luck, endings and house bots quote: `python -m bench.studies.luck`."""
