"""Boxes for commands that nobody vouches for, made by bubblewrap: what they see, may call and may use up."""
