"""Hiding, renaming, deleting and parking bots, and banning owners."""
