"""The pages: ladder, bots, matches, replays, rules in a browser. They read public data and change nothing."""
