"""Past decisions as questions for a bot."""
