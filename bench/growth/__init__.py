"""Growth of costs with the number of playing bots and of stored matches."""
