"""What changes while it is looked at: the server followed once, boards rendered once for all who look."""
