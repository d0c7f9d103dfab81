"""The verbs of a bot's author: new, check, play, match."""
