"""Limits on the resources that peers use: connections, memory and processor time."""
