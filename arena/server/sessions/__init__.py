"""A bot's conversation with the server: admission, rate limits, messages."""
