"""The verbs that show the ladder and the matches."""
