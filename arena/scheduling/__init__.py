"""Match scheduling: pure arithmetic over availability, ladder figures and given randomness. No clock, no I/O."""
