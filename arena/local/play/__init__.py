"""One game on one's own machine: who sits at a table, and the referee."""
