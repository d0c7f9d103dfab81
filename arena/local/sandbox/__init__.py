"""Boxes for untrusted commands, made by bubblewrap: visible files, allowed system calls, limits."""
