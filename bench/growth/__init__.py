"""Growth of costs with the numbers of playing bots and stored matches."""
