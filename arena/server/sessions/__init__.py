"""Bots' conversations with the server: admission, rate limits, messages."""
