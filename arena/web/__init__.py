"""The pages: ladder, bots, matches, replays, rules in a browser. They read what everybody may, and change nothing."""
