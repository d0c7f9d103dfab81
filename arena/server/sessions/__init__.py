"""A bot's conversation with the server: who may come in, how much it may say, what it is sent."""
