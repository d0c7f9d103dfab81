"""The web pages with ladder, bots, matches, replays and rules. They read public data and change nothing."""
