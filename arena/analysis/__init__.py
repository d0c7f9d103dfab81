"""Analyses of a replay: timeline, blame, costly choices, proofs. They do not use the store."""
