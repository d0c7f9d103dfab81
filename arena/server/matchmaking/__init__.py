"""From waiting bots to tables: a queue for each game, and the matchmaker that empties them."""
