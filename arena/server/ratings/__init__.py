"""Ladders fitted in a process of their own and published."""
