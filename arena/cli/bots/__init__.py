"""The verbs that list, challenge and moderate bots."""
