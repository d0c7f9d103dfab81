"""Events: a winner by a rule that anybody can recompute, from the seed, the nonces and the results."""
