"""Requests before they reach a page: whose they are, and how many one address may make."""
