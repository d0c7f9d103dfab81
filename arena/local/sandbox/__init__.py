"""Sandboxes for untrusted commands, created by bubblewrap: visible files, allowed system calls, limits."""
