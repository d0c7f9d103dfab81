"""Answers that a replay gives: timeline, blame, costly choices, proofs. Knows no store."""
