"""Four bots to read, to beat and to begin from: `random_bot`, `rule_bot` and `counter_bot`, weakest first."""
