"""Match scheduling: choosing opponents from available bots, ladder figures and randomness, without clock or I/O."""
