"""Past decisions that a bot answers again."""
