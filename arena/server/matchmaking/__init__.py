"""The queue of waiting bots for each ladder, and the matchmaker that seats them at tables."""
