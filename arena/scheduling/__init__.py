"""Match scheduling: choosing opponents by availability, ladder figures and random numbers, without clock or I/O."""
