"""Requests before they reach a page: the reader's address, its limits, and the sites that may do more than read."""
