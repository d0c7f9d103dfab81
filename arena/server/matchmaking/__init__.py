"""The queue of waiting bots for each game, and the matchmaker that seats them at tables."""
