"""Events, whose winner anybody can recompute from the seed, the nonces and the results."""
